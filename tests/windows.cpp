// windows.cpp - what the section PLATFORM does on Windows. Run by tests/test_windows.sh, with
// wine where there is no Windows; what it should do comes from the C runtime and from Windows.

#define GPUMB_CPU_DEVICES 4
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "check.h"

#include <algorithm>
#include <string>

static std::string folder;     // of this run
static std::string last_lines; // of a program that was run again

static std::string at(const char *name)
{
    return folder + "\\" + name;
}

static std::string read_file(const std::string &name)
{
    std::string text;
    FILE *file = fopen(name.c_str(), "rb");
    for (int c; file && (c = fgetc(file)) != EOF;)
        text += static_cast<char>(c);
    if (file)
        fclose(file);
    return text;
}

static void write_file(const std::string &name, const char *text)
{
    FILE *file = fopen(name.c_str(), "wb");
    if (CHECK(file != nullptr)) {
        fputs(text, file);
        fclose(file);
    }
}

static gpumb *opened(const char *csv)
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.budget_s = 0.001;
    s.warmup_s = -1;
    s.max_samples = s.min_samples = 6;
    s.csv = csv;
    return gpumb_open_settings("C:\\folder\\windows.exe", &s);
}

static void measure(gpumb *g, const char *name)
{
    volatile double sum = 0;
    gpumb_set_bytes(g, 5e9); // more than a long holds
    GPUMB_MEASURE(g, name)
        sum = sum + 1;
}

// A file that was there is replaced, lines end without a carriage return, and numbers are whole.
static void test_files()
{
    const std::string csv = at("rows.csv"), part = csv + ".part";
    write_file(csv, "before");
    gpumb *g = opened(csv.c_str());
    measure(g, "one");
    CHECK(read_file(part).find(",one,") != std::string::npos); // others may read what is locked
    CHECK_STR(read_file(csv).c_str(), "before");

    gpumb *other = opened(csv.c_str());
    CHECK_INT(gpumb_close(other), GPUMB_EXIT_ERROR); // the first one holds it

    GPUMB_SWEEP_LIST(g, n, 1, 2) // widens the header: the part is renewed while it is open
        measure(g, n == 1 ? "two" : "three");
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
    const std::string rows = read_file(csv);
    for (const char *name : {",windows,one,", ",windows,two,", ",windows,three,", ",5000000000,"})
        CHECK(rows.find(name) != std::string::npos);
    CHECK(rows.find('\r') == std::string::npos);
    for (const std::string &left : {part, part + ".1", part + ".old"})
        CHECK(GetFileAttributesA(left.c_str()) == INVALID_FILE_ATTRIBUTES);

    // What a dead run has left is kept.
    write_file(part, "left");
    g = opened(csv.c_str());
    measure(g, "again");
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
    CHECK_STR(read_file(part + ".1").c_str(), "left");
    CHECK(read_file(csv).find(",again,") != std::string::npos);

    SetFileAttributesA(csv.c_str(), FILE_ATTRIBUTE_READONLY);
    CHECK_INT(gpumb_close(opened(csv.c_str())), GPUMB_EXIT_USAGE);
    SetFileAttributesA(csv.c_str(), FILE_ATTRIBUTE_NORMAL);
    CHECK_INT(gpumb_close(opened(at("none\\rows.csv").c_str())), GPUMB_EXIT_USAGE);
    CHECK_INT(gpumb_close(opened(folder.c_str())), GPUMB_EXIT_USAGE);

    g = opened("NUL");
    measure(g, "nowhere");
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
    DeleteFileA(csv.c_str());
    DeleteFileA((part + ".1").c_str());
}

// A name without a folder and one with slashes are in the same place.
static void test_names()
{
    char before[MAX_PATH];
    GetCurrentDirectoryA(sizeof before, before);
    if (!CHECK(SetCurrentDirectoryA(folder.c_str())))
        return;
    std::string slashes = at("b.csv");
    for (char &c : slashes)
        c = c == '\\' ? '/' : c;
    for (const std::string &name : {std::string("a.csv"), slashes}) {
        gpumb *g = opened(name.c_str());
        measure(g, "here");
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
    }
    SetCurrentDirectoryA(before);
    for (const char *name : {"a.csv", "b.csv"}) {
        CHECK(read_file(at(name)).find(",here,") != std::string::npos);
        DeleteFileA(at(name).c_str());
    }
}

static void test_temporary()
{
    FILE *file = gpumbi_temporary();
    char text[8] = "";
    if (!CHECK(file != nullptr))
        return;
    fputs("a\nb", file);
    rewind(file);
    CHECK_INT(fread(text, 1, sizeof text, file), 3);
    CHECK_STR(text, "a\nb");
    fclose(file);
}

static void test_host()
{
    MEMORYSTATUSEX memory;
    memory.dwLength = sizeof memory;
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    gpumb *g = opened(nullptr);
    const gpumb_device *d = gpumb_get_device(g);
    if (CHECK(GlobalMemoryStatusEx(&memory) && d != nullptr)) {
        CHECK_INT(d->memory_bytes, memory.ullTotalPhys);
        CHECK(strlen(d->name) > 3);
    }
    CHECK_INT(gpumb_cpu_workers(), system.dwNumberOfProcessors);
    for (const uint64_t bytes : {uint64_t(100), uint64_t(5) << 20}) {
        gpumb_buffer *x = gpumb_alloc(g, bytes);
        CHECK_INT(reinterpret_cast<uintptr_t>(gpumb_data(x)) % 256, 0);
    }
    measure(g, "region");
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);

    const double before = gpumbi_now();
    Sleep(20);
    CHECK(gpumbi_now() - before > 0.01);
    CHECK_INT(gpumbi_terminal(1), 0); // a file or a pipe
}

static int heard;
static void hear(int number)
{
    heard = number;
}

// The first Ctrl-C ends the measurement, and the program has its own handler again.
static void test_signals()
{
    signal(SIGINT, hear);
    gpumb_settings s = gpumb_settings_default();
    s.warmup_s = -1;
    s.budget_s = 60;
    gpumb *g = gpumb_open_settings("signals", &s);
    int runs = 0;
    GPUMB_MEASURE(g, "interrupted")
        if (++runs == 20)
            raise(SIGINT);
    CHECK(runs >= 20);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_INTERRUPTED);
    CHECK_INT(heard, 0);
    raise(SIGINT);
    CHECK_INT(heard, SIGINT);
    signal(SIGINT, SIG_DFL);
}

// Switching between stacks keeps what the ABI says a callee keeps: as many values live across each
// barrier as there are such registers. A thread's stack is the one that Windows knows.
static __global__ void mix(double *out, int *outside)
{
    const NT_TIB *tib = reinterpret_cast<const NT_TIB *>(NtCurrentTeb());
    char here;
    double a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6,
           h = a + 7, i = a + 8, j = a + 9;
    for (int round = 0; round < 20; round++) {
        __syncthreads();
        a += b, b += c, c += d, d += e, e += f, f += g, g += h, h += i, i += j, j += 1;
    }
    if (&here < static_cast<char *>(tib->StackLimit) ||
        &here >= static_cast<char *>(tib->StackBase) ||
        static_cast<char *>(tib->StackBase) - static_cast<char *>(tib->StackLimit) > 1 << 17)
        atomicAdd(outside, 1);
    const double sum = a + b + c + d + e + f + g + h + i + j;
    out[threadIdx.x] = sum + __shfl_xor_sync(~0ull, static_cast<double>(threadIdx.x), 1);
}

static void test_fibers()
{
    gpumb *g = opened(nullptr);
    double out[256] = {};
    int outside = 0, wrong = 0;
    gpumb_result r;
    GPUMB_TIME_IN(g, &r)
    GPUMB_LAUNCH_BARRIER(mix, 1, 256, 0, out, &outside);
    for (int t = 0; t < 256; t++) {
        double x[11] = {}, sum = t ^ 1;
        for (int i = 0; i < 10; i++)
            x[i] = t + i;
        x[10] = 1;
        for (int i = 0; i < 200; i++)
            x[i % 10] += x[i % 10 + 1];
        for (int i = 0; i < 10; i++)
            sum += x[i];
        wrong += out[t] != sum; // small integers: no rounding
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(outside, 0);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
}

// ---- this program once more ----

static __global__ void crash(int *p, int waits)
{
    if (waits)
        __syncthreads();
    if (threadIdx.x == 3)
        p[threadIdx.x] = 1;
}

static LONG CALLBACK end(EXCEPTION_POINTERS *what)
{
    if (what->ExceptionRecord->ExceptionCode == EXCEPTION_ACCESS_VIOLATION)
        TerminateProcess(GetCurrentProcess(), 99);
    return EXCEPTION_CONTINUE_SEARCH;
}

// Appends to a file that other processes append to; in turn, since two of them at once would write
// to one place under wine 8.
static void note(const char *name, const std::string &text)
{
    HANDLE turn = CreateMutexA(nullptr, FALSE, "Local\\gpumb.windows.cpp.turn");
    WaitForSingleObject(turn, INFINITE);
    FILE *file = fopen(name, "ab");
    fputs(text.c_str(), file);
    fclose(file);
    ReleaseMutex(turn);
    CloseHandle(turn);
}

static const char event_name[] = "Local\\gpumb.windows.cpp"; // set once the last process runs

// Three rows, on up to four devices; the second one comes to an end on device 1 (-1: on all).
static int others(const char *what, const char *file, int device)
{
    const std::string does = what;
    gpumb_settings s = gpumb_settings_default();
    s.budget_s = 0.001;
    s.warmup_s = -1;
    s.max_samples = s.min_samples = 6;
    s.json = "-";
    if (does == "processes" || does == "fails" || does == "hangs")
        s.processes = 3;
    else
        s.devices = "all";
    s.together = does == "together" || does == "together_dies";
    puts("printed");
    fflush(stdout);
    gpumb *g = gpumb_open_settings(what, &s);
    const int on = gpumb_get_device(g)->ordinal;
    GPUMB_SWEEP_LIST(g, n, 1, 2, 3) {
        int met = 0;
        GPUMB_MEASURE(g, "region") {
            if (!met++ && does != "hangs")
                note(file, std::to_string(n));
            if (n == 2 && on == device && (does == "dies" || does == "together_dies"))
                TerminateProcess(GetCurrentProcess(), EXCEPTION_ACCESS_VIOLATION);
            if (n == 2 && does == "fails")
                ExitProcess(7);
            if (n == 2 && does == "hangs") {
                note(file, std::to_string(GetCurrentProcessId()));
                SetEvent(OpenEventA(EVENT_MODIFY_STATE, FALSE, event_name));
                Sleep(INFINITE);
            }
        }
    }
    return gpumb_close(g);
}

static int child(int argc, char **argv)
{
    const char *what = argv[1];
    AddVectoredExceptionHandler(0, end); // behind the library's; without, wine starts a debugger
    if (argc == 3)
        return others(what, argv[2], 1);
    gpumb_settings s = gpumb_settings_default();
    s.budget_s = 0.001;
    gpumb *g = gpumb_open_settings(what, &s);
    if (!strcmp(what, "plain"))
        GPUMB_MEASURE(g, "crash")
            GPUMB_LAUNCH(crash, 1, 4, 0, nullptr, 0);
    else if (!strcmp(what, "barrier"))
        GPUMB_MEASURE(g, "crash")
            GPUMB_LAUNCH_BARRIER(crash, 1, 4, 0, nullptr, 1);
    else
        measure(g, "region");
    return gpumb_close(g);
}

// Starts it; its output is in a file. Returns its handle.
static HANDLE started(const char *program, const char *arguments)
{
    char line[2 * MAX_PATH + 64];
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, nullptr, TRUE};
    HANDLE file = CreateFileA(at("output").c_str(), GENERIC_WRITE, FILE_SHARE_READ, &inherited,
                              CREATE_ALWAYS, 0, nullptr);
    STARTUPINFOA start;
    PROCESS_INFORMATION process;
    memset(&start, 0, sizeof start);
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = start.hStdError = file;
    snprintf(line, sizeof line, "\"%s\" %s", program, arguments);
    const int runs = CreateProcessA(nullptr, line, nullptr, nullptr, TRUE, 0, nullptr, nullptr,
                                    &start, &process);
    CloseHandle(file);
    if (!CHECK(runs))
        return nullptr;
    CloseHandle(process.hThread);
    return process.hProcess;
}

static int again(const char *program, const char *arguments)
{
    DWORD code = 0;
    HANDLE process = started(program, arguments);
    WaitForSingleObject(process, INFINITE);
    GetExitCodeProcess(process, &code);
    CloseHandle(process);
    last_lines = read_file(at("output"));
    DeleteFileA(at("output").c_str());
    return static_cast<int>(code);
}

static int says(const char *text)
{
    return last_lines.find(text) != std::string::npos;
}

static void test_programs(const char *program)
{
    CHECK_INT(again(program, "region"), GPUMB_EXIT_OK);
    CHECK(says("\nregion ") && says("1 row: 1 ok") && !says("\r") && !says("\x1b"));

    CHECK_INT(again(program, "plain"), 99);
    CHECK(says("gpumb: kernel crash, block (0,0,0), thread (") && says("access violation"));
    CHECK_INT(again(program, "barrier"), 99);
    CHECK(says("gpumb: kernel crash, block (0,0,0), thread (3,0,0): access violation"));
}

static int count_of(const char *what)
{
    int count = 0;
    for (size_t i = 0; (i = last_lines.find(what, i)) != std::string::npos; i++)
        count++;
    return count;
}

// Processes of this program write their rows to it and no word to its output, go in step where they
// are to, are named when they come to an end, and end with it.
static void test_others(const char *program)
{
    const std::string log = at("a log"), name = " \"" + log + "\"";
    const auto run = [&](const char *what, const char *order) {
        const int code = again(program, (what + name).c_str());
        CHECK_STR(read_file(log).c_str(), order);
        DeleteFileA(log.c_str());
        return code;
    };
    CHECK_INT(run("processes", "123123123"), GPUMB_EXIT_OK);
    CHECK_INT(count_of("\"processes\": 3, \"process_lo_s\": "), 3);
    const size_t medians = last_lines.find("\"process_medians_s\": \"");
    const std::string list = last_lines.substr(medians, last_lines.find("\",", medians) - medians);
    CHECK_INT(std::count(list.begin(), list.end(), ';'), 2);
    CHECK_INT(count_of("printed"), 1);
    CHECK_INT(run("devices", "123123123123"), GPUMB_EXIT_OK);
    CHECK_INT(run("together", "111122223333"), GPUMB_EXIT_OK);
    for (const char *device : {"0", "1", "2", "3"})
        CHECK_INT(count_of(("\"on_device\": \"" + std::string(device)).c_str()), 3);
    CHECK_INT(count_of("printed"), 1);

    CHECK_INT(run("dies", "12312"), GPUMB_EXIT_ERROR);
    CHECK(says("device 1: its process was ended by exception 0xC0000005; run with --device 1 "));
    again(program, ("together_dies" + name).c_str());
    CHECK(says("device 1: its process was ended by exception 0xC0000005; run with --device 1 "));
    DeleteFileA(log.c_str());
    CHECK_INT(run("fails", "12"), GPUMB_EXIT_ERROR);
    CHECK(says("process 1 of 3 ended with exit code 7; run without --processes to see more"));

    // One that hangs ends with the one that has started it, which has no time to do anything.
    HANDLE event = CreateEventA(nullptr, FALSE, FALSE, event_name);
    HANDLE parent = started(program, ("hangs" + name).c_str());
    CHECK_INT(WaitForSingleObject(event, 60000), WAIT_OBJECT_0);
    const std::string id = read_file(log);
    HANDLE hangs = OpenProcess(SYNCHRONIZE | PROCESS_TERMINATE, FALSE,
                               static_cast<DWORD>(strtoul(id.c_str(), nullptr, 10)));
    CHECK(hangs != nullptr && WaitForSingleObject(hangs, 0) == WAIT_TIMEOUT);
    TerminateProcess(parent, 1);
    CHECK_INT(WaitForSingleObject(hangs, 60000), WAIT_OBJECT_0);
    TerminateProcess(hangs, 1);
    for (HANDLE handle : {event, parent, hangs})
        CloseHandle(handle);
    DeleteFileA(log.c_str());
    DeleteFileA(at("output").c_str());

    // What names a process that has been started is not believed.
    HANDLE token[2];
    DWORD length;
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, nullptr, TRUE};
    CreatePipe(&token[0], &token[1], &inherited, 0);
    WriteFile(token[1], "other", 5, &length, nullptr);
    const std::string other = std::to_string(reinterpret_cast<intptr_t>(token[0]));
    SetEnvironmentVariableA("GPUMB_PROCESS", ("1:" + other + ":" + other + ":-1:0").c_str());
    CHECK_INT(again(program, "region"), GPUMB_EXIT_OK);
    CHECK(says("GPUMB_PROCESS is set, and not by gpumb") && says("1 row: 1 ok"));
    SetEnvironmentVariableA("GPUMB_PROCESS", "1:2:0:-1:0");
    CHECK_INT(again(program, "region"), GPUMB_EXIT_ERROR);
    CHECK(says("GPUMB_PROCESS is set, and its pipe is closed"));
    SetEnvironmentVariableA("GPUMB_PROCESS", nullptr);
    CloseHandle(token[0]);
    CloseHandle(token[1]);
}

int main(int argc, char **argv)
{
    char temporary[MAX_PATH + 1];
    if (argc > 1)
        return child(argc, argv);
    GetTempPathA(sizeof temporary, temporary);
    folder = std::string(temporary) + "gpumb." + std::to_string(GetCurrentProcessId()) + "." +
             std::to_string(GetTickCount64());
    if (!CHECK(CreateDirectoryA(folder.c_str(), nullptr)))
        return CHECK_SUMMARY();
    test_files();
    test_names();
    test_temporary();
    test_host();
    test_signals();
    test_fibers();
    test_programs(argv[0]);
    test_others(argv[0]);
    CHECK(RemoveDirectoryA(folder.c_str()));
    return CHECK_SUMMARY();
}
