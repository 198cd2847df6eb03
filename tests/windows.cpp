// windows.cpp - what the section PLATFORM does on Windows. Run by tests/test_windows.sh, with
// wine where there is no Windows; what it should do comes from the C runtime and from Windows.

#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "check.h"

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

static int child(const char *what)
{
    AddVectoredExceptionHandler(0, end); // behind the library's; without, wine starts a debugger
    gpumb_settings s = gpumb_settings_default();
    s.budget_s = 0.001;
    s.processes = !strcmp(what, "processes") ? 2 : 1;
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

static int again(const char *program, const char *what)
{
    char line[MAX_PATH + 64];
    const std::string output = at("output");
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, nullptr, TRUE};
    HANDLE file = CreateFileA(output.c_str(), GENERIC_WRITE, FILE_SHARE_READ, &inherited,
                              CREATE_ALWAYS, 0, nullptr);
    STARTUPINFOA start;
    PROCESS_INFORMATION process;
    DWORD code = 0;
    memset(&start, 0, sizeof start);
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = start.hStdError = file;
    snprintf(line, sizeof line, "\"%s\" %s", program, what);
    if (CHECK(CreateProcessA(nullptr, line, nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start,
                             &process))) {
        WaitForSingleObject(process.hProcess, INFINITE);
        GetExitCodeProcess(process.hProcess, &code);
        CloseHandle(process.hProcess);
        CloseHandle(process.hThread);
    }
    CloseHandle(file);
    last_lines = read_file(output);
    DeleteFileA(output.c_str());
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

    CHECK_INT(again(program, "processes"), GPUMB_EXIT_ERROR);
    CHECK(says("process 1 of 2: can't be started: "));
}

int main(int argc, char **argv)
{
    char temporary[MAX_PATH + 1];
    if (argc > 1)
        return child(argv[1]);
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
    CHECK(RemoveDirectoryA(folder.c_str()));
    return CHECK_SUMMARY();
}
