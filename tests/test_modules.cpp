// test_modules.cpp - code from elsewhere, launches by address with what they ask for, and what
// captures hold, on the fake device.
#define GPUMB_IMPLEMENTATION
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#include "gpumb.h"

#include "fake.h"

#include "check.h"
#include "printed.h"
#include <string>

static const uint64_t grid[3] = {64, 2, 1}, block[3] = {128, 1, 1};

// The emulated empty kernel, by which the library calibrates, shows no gap between kernels.
static gpumb *with_graphs(gpumb *g)
{
    const_cast<gpumb_device *>(gpumb_get_device(g))->graph_interval_s = fake_node_cost;
    return g;
}

static gpumb *open_context()
{
    fake_reset();
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    return with_graphs(gpumb_open_settings("test_modules", &s));
}

static void close_context(gpumb *g, int code)
{
    CHECK_INT(gpumb_close(g), code);
    CHECK(fake_clean());
}

static __global__ void nothing()
{
}

// A region of one launch of a function.
static void launch_now(gpumb *g, const void *function)
{
    gpumb_launch(g, "named", function, grid, block, 16, nullptr);
}

static gpumb_result launch(gpumb *g, const void *function)
{
    gpumb_result r;
    GPUMB_TIME_IN(g, &r) launch_now(g, function);
    return r;
}

// ---- modules ----

static void test_module()
{
    gpumb *g = open_context();
    static const char image[] = "scale add";
    gpumb_module *m = gpumb_load_image(g, image, sizeof image, 64, 3);
    CHECK(m != nullptr);
    CHECK_INT(fake_modules, 1);
    CHECK_INT(fake_module_options[0], 64);
    CHECK_INT(fake_module_options[1], 3);
    const void *add = gpumb_function(g, m, "add");
    CHECK(add != nullptr);
    const gpumb_result r = launch(g, add);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_STR(r.kernel, "named");
    CHECK_INT(r.registers, 24); // those of the module's function
    CHECK_NEAR(r.occupancy, 0.5, 0);
    CHECK_NEAR(r.time.median, 20e-6, 0.1e-6);
    CHECK_STR(fake_launched, "add");
    // one of the program's next to it
    gpumb_result own = launch(g, reinterpret_cast<const void *>(&grid));
    CHECK_INT(own.status, GPUMB_STATUS_OK);
    CHECK_INT(own.registers, 40);
    CHECK_STR(fake_launched, "");
    launch(g, add);
    GPUMB_TIME_IN(g, &own) GPUMB_LAUNCH(nothing, 1, 32, 0);
    CHECK_INT(own.registers, 40);
    close_context(g, GPUMB_EXIT_OK);
}

static void test_missing()
{
    gpumb *g = open_context();
    static const char ptx[] = ".version 8.0\n.visible .entry scale(\n.param .u64 x)\n{}\n"
                              ".visible .entry add_2 (.param .u64 x)\n{}\n";
    gpumb_module *m = gpumb_load_image(g, ptx, sizeof ptx - 1, 0, -1);
    CHECK(m != nullptr);
    CHECK(gpumb_function(g, m, "mul") == nullptr);
    gpumb_result r = launch(g, nullptr);
    CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
    CHECK_STR(r.reason, "no kernel mul in this module, only scale, add_2");
    // machine code of both vendors
    static const char elf[] =
        "\177ELF\0.text.first\0.symtab\0second.kd\0.kd\0.text.\0.text.first\0x";
    m = gpumb_load_image(g, elf, sizeof elf, 0, -1);
    CHECK(gpumb_function(g, m, "third") == nullptr);
    r = launch(g, nullptr);
    CHECK_STR(r.reason, "no kernel third in this module, only first, second");
    // without a name: the only one
    CHECK(gpumb_function(g, m, nullptr) == nullptr);
    r = launch(g, nullptr);
    CHECK_STR(r.reason, "gpumb_function: NULL for a name, and there are first, second");
    static const char single[] = ".visible .entry _Z5scalePfi(\n.param .u64 x)\n{}\n";
    m = gpumb_load_image(g, single, sizeof single - 1, 0, -1);
    const void *only = gpumb_function(g, m, nullptr);
    CHECK_INT(launch(g, only).status, GPUMB_STATUS_OK);
    CHECK(strncmp(fake_launched, "_Z5scalePfi(", 12) == 0);
    // a list that is too long is cut, and one that nobody can read is left out
    std::string many;
    for (int i = 0; i < 100; i++)
        many += ".entry kernel_" + std::to_string(i) + "(\n";
    m = gpumb_load_image(g, many.data(), many.size(), 0, -1);
    CHECK(gpumb_function(g, m, "third") == nullptr);
    r = launch(g, nullptr);
    CHECK(std::string(r.reason).find("only kernel_0, kernel_1,") != std::string::npos);
    CHECK(std::string(r.reason).find(", kernel_13, ...") != std::string::npos); // whole names
    const std::string known(100, 'k'), longer(300, 'l'), asked(70, 'q');        // as Numba's are
    for (const std::string &name : {known, longer}) {
        const std::string two = ".entry " + name + "(\n.entry another_one_that_is_long(\n";
        m = gpumb_load_image(g, two.data(), two.size(), 0, -1);
        CHECK(gpumb_function(g, m, "third") == nullptr);
        r = launch(g, nullptr);
        CHECK(std::string(r.reason).find(", only " + name.substr(0, 100)) != std::string::npos);
        CHECK(gpumb_function(g, m, asked.c_str()) == nullptr);
        r = launch(g, nullptr);
        CHECK(std::string(r.reason).find(", only " + name.substr(0, 90)) != std::string::npos);
        CHECK_STR(r.reason + strlen(r.reason) - 5, ", ...");
    }
    m = gpumb_load_image(g, "\1\2", 2, 0, -1);
    CHECK(gpumb_function(g, m, "third") == nullptr);
    r = launch(g, nullptr);
    CHECK_STR(r.reason, "no kernel third in this module");
    CHECK(gpumb_function(g, m, nullptr) == nullptr);
    r = launch(g, nullptr);
    CHECK_STR(r.reason,
              "gpumb_function: NULL for a name, and the module does not say which it has");
    CHECK(gpumb_function(g, (gpumb_module *)&many, "third") == nullptr); // nothing is read of it
    r = launch(g, nullptr);
    CHECK_STR(r.reason, "gpumb_function: it is no module of this context");
    // each region that launches it says so, in sweeps, too: what comes before them is no region's
    CHECK(gpumb_function(g, m, "fourth") == nullptr);
    GPUMB_SWEEP_RANGE(g, i, 1, 2, 1) {
        GPUMB_MEASURE(g, "once")
            launch_now(g, nullptr);
        GPUMB_MEASURE(g, "again")
            launch_now(g, nullptr);
    }
    CHECK_INT((int)gpumb_row_count(g), 4);
    for (int i = 0; i < 4; i++)
        CHECK_STR(gpumb_row(g, (size_t)i)->reason, "no kernel fourth in this module");
    CHECK(gpumb_function(g, gpumb_load(g, "/nowhere"), "fifth") == nullptr);
    GPUMB_SWEEP_RANGE(g, i, 1, 1, 1)
        GPUMB_MEASURE(g, "swept")
            launch_now(g, nullptr);
    CHECK_STR(gpumb_row(g, 4)->reason, "gpumb_load: /nowhere: No such file or directory");
    m = gpumb_load_image(g, ptx, sizeof ptx - 1, 0, 5);
    const void *none = gpumb_function(g, m, "scale");
    GPUMB_SWEEP_RANGE(g, i, 1, 2, 1)
        GPUMB_MEASURE(g, "swept again")
            launch_now(g, none);
    CHECK_INT((int)gpumb_row_count(g), 7);
    for (int i = 5; i < 7; i++)
        CHECK(strstr(gpumb_row(g, (size_t)i)->reason, "gpumb_load_image: 0 registers, level 5"));
    // the next region is not skipped
    r = launch(g, reinterpret_cast<const void *>(&grid));
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    close_context(g, GPUMB_EXIT_FAILED); // all rows were skipped
}

static void test_refused()
{
    gpumb *g = open_context();
    fake_fail_verb = FAKE_LOAD;
    fake_fail_verb_at = 1;
    CHECK(gpumb_load_image(g, "x", 1, 0, -1) == nullptr);
    gpumb_result r = launch(g, nullptr);
    CHECK_STR(r.reason, "gpumb_load: the fake refuses: line 1; unknown instruction");
    CHECK(gpumb_load_image(g, "x", 1, -1, 0) == nullptr);
    r = launch(g, nullptr);
    CHECK(std::string(r.reason).find("gpumb_load_image: -1 registers, level 0") == 0);
    CHECK(gpumb_load_image(g, "x", 1, 0, 5) == nullptr);
    r = launch(g, nullptr);
    CHECK(std::string(r.reason).find("gpumb_load_image: 0 registers, level 5") == 0);
    CHECK(gpumb_load(g, "/nonexistent/kernel.cubin") == nullptr);
    r = launch(g, nullptr);
    CHECK(std::string(r.reason).find("gpumb_load: /nonexistent/kernel.cubin: No such file") == 0);
    CHECK(gpumb_load(g, "/dev/null") == nullptr);
    r = launch(g, nullptr);
    CHECK_STR(r.reason, "gpumb_load: /dev/null: it is empty");
    r = launch(g, nullptr);
    CHECK_STR(r.reason, "gpumb_load: /dev/null: it is empty");
    // the driver refuses the launch
    fake_fail_verb = FAKE_LAUNCH_BY;
    fake_fail_verb_at = fake_calls[FAKE_LAUNCH_BY] + 1;
    r = launch(g, reinterpret_cast<const void *>(&grid));
    CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
    CHECK(std::string(r.reason).find("the fake refuses") != std::string::npos);
    CHECK((r.flags & GPUMB_FLAG_LAUNCH_FAILED) != 0);
    close_context(g, GPUMB_EXIT_FAILED);
}

static void test_file()
{
    gpumb *g = open_context();
    const char *path = "build/test_modules.image";
    FILE *file = fopen(path, "wb");
    CHECK(file != nullptr);
    fputs("scale", file);
    fclose(file);
    gpumb_module *m = gpumb_load(g, path);
    CHECK(m != nullptr);
    CHECK_INT(fake_module_options[0], 0);
    CHECK_INT(fake_module_options[1], -1);
    CHECK(gpumb_function(g, m, "scale") != nullptr);
    CHECK(gpumb_load(g, path) != nullptr);
    CHECK_INT(fake_modules, 2);
    remove(path);
    close_context(g, GPUMB_EXIT_OK);
    CHECK_INT(fake_modules, 0);
}

// ---- launches with more than a shape ----

static gpumb_result launch_ex(gpumb *g, const gpumb_launch_config *how)
{
    gpumb_result r;
    GPUMB_TIME_IN(g, &r) gpumb_launch_ex(g, "spin", &grid, how, nullptr);
    return r;
}

static void test_attributes()
{
    fake_reset();
    gpumb *g = open_context();
    gpumb_launch_config how = {};
    how.grid[0] = 8;
    how.block[0] = 64;
    CHECK_INT(launch_ex(g, &how).status, GPUMB_STATUS_OK); // a plain one
    CHECK_INT(fake_how.grid[0], 0);
    how.cooperative = 1;
    CHECK_INT(launch_ex(g, &how).status, GPUMB_STATUS_OK);
    CHECK_INT(fake_how.cooperative, 1);
    // what this device, which is none of NVIDIA's, lacks
    gpumb_launch_config lacks[3] = {how, how, how};
    lacks[0].cluster[0] = 2;
    lacks[1].dependent = 1;
    lacks[2].priority = -1;
    static const char *const what[] = {"clusters", "programmatic dependent launches",
                                       "priorities of launches"};
    for (int i = 0; i < 3; i++) {
        const gpumb_result r = launch_ex(g, &lacks[i]);
        CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
        CHECK_STR(r.reason,
                  (std::string("launch of spin refused: fk_90 has no ") + what[i]).c_str());
        CHECK((r.flags & GPUMB_FLAG_LAUNCH_FAILED) != 0);
    }
    close_context(g, GPUMB_EXIT_FAILED);
}

static void test_nvidia()
{
    for (const char *arch : {"sm_90", "sm_80"}) {
        fake_reset();
        gpumb_settings s = gpumb_settings_default();
        s.quiet = 1;
        fake_arch = arch;
        gpumb *g = with_graphs(gpumb_open_settings("test_modules", &s));
        const int hopper = !strcmp(arch, "sm_90");
        gpumb_launch_config how = {};
        how.grid[0] = 8;
        how.block[0] = 64;
        how.cluster[1] = 2;
        CHECK_INT(launch_ex(g, &how).status, hopper ? GPUMB_STATUS_OK : GPUMB_STATUS_SKIPPED);
        if (hopper) {
            CHECK_INT(fake_how.cluster[0], 1);
            CHECK_INT(fake_how.cluster[1], 2);
            CHECK_INT(fake_how.cluster[2], 1);
        }
        how.cluster[1] = 0;
        how.priority = -3;
        CHECK_INT(launch_ex(g, &how).status, GPUMB_STATUS_OK);
        CHECK_INT(fake_how.priority, -3);
        CHECK_INT(fake_how.cluster[0], 0);
        how.priority = 0;
        gpumb_result r = launch_ex(g, &how);
        CHECK_INT(gpumbi_meaning(&r), GPUMB_MEANING_SPAN);
        how.dependent = 1; // overlaps with the launch ahead of it: no span
        r = launch_ex(g, &how);
        CHECK_INT(r.status, hopper ? GPUMB_STATUS_OK : GPUMB_STATUS_SKIPPED);
        if (hopper) {
            CHECK_INT(r.timing, GPUMB_TIMING_GRAPH);
            CHECK_INT(r.meaning, GPUMB_MEANING_INTERVAL);
            CHECK_INT(fake_how.dependent, 1);
        }
        close_context(g, hopper ? GPUMB_EXIT_OK : GPUMB_EXIT_FAILED);
    }
}

// ---- what captures hold ----

static void foreign() // a launch that the library does not see
{
    fake_run(30e-6);
}

static void test_nodes()
{
    gpumb *g = open_context();
    fake_nodes.kernels = 3;
    fake_nodes.depth = 2;
    fake_nodes.registers = 17;
    fake_nodes.occupancy = 0.25;
    snprintf(fake_nodes.name, sizeof fake_nodes.name, "add_kernel");
    snprintf(fake_nodes.text, sizeof fake_nodes.text, "add_kernel<<<4, 32>>> x2; sum<<<1, 32>>>");
    gpumb_result r;
    gpumb_set_capturable(g, 1);
    GPUMB_TIME_IN(g, &r) foreign();
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.kernels, 3);
    CHECK_STR(r.kernel, "add_kernel");
    CHECK_STR(r.nodes, fake_nodes.text);
    CHECK_INT(r.registers, 17);
    CHECK_NEAR(r.occupancy, 0.25, 0);
    CHECK_NEAR(r.between_s, gpumb_get_device(g)->graph_interval_s, 0);
    CHECK(r.between_s > 0);
    char line[GPUMBI_SENTENCE];
    gpumbi_sentence(&r, line);
    CHECK(strstr(line, ", 3 kernels, 500.0 ns of it between them") != nullptr);
    // a launch of its own has its own figures
    r = launch(g, &grid);
    CHECK_STR(r.kernel, "named");
    CHECK_INT(r.registers, 40);
    CHECK_INT(r.kernels, 3);
    // one kernel after the other there is none
    fake_nodes.depth = 1;
    r = launch(g, &grid);
    CHECK_NEAR(r.between_s, 0, 0);
    // where nothing is captured, nothing is known
    GPUMB_TIME_IN(g, &r) foreign();
    CHECK_INT(r.kernels, -1);
    CHECK_STR(r.nodes, "");
    CHECK_INT(r.registers, -1);
    close_context(g, GPUMB_EXIT_OK);
}

// Below their rows, with --explain nodes.
static void test_nodes_shown()
{
    const char *options[] = {"modules", "--explain", "nodes"};
    for (int asked = 0; asked < 2; asked++) {
        const std::string text = printed([&] {
            fake_reset();
            snprintf(fake_nodes.text, sizeof fake_nodes.text, "add_kernel<<<4, 32>>> x2; sum");
            gpumb *g = with_graphs(gpumb_open(asked ? 3 : 1, (char **)options));
            gpumb_set_capturable(g, 1);
            GPUMB_MEASURE(g, "captured")
                foreign();
            GPUMB_MEASURE(g, "not")
                foreign();
            close_context(g, GPUMB_EXIT_OK);
        });
        const size_t captured = text.find("\ncaptured "), not_captured = text.find("\nnot ");
        const size_t nodes = text.find("\n  nodes: add_kernel<<<4, 32>>> x2; sum\nnot ");
        CHECK_INT(nodes != std::string::npos, asked);
        CHECK(!asked || (captured < nodes && nodes < not_captured));
        CHECK_INT(text.find("\n  nodes: unknown, for none of it", not_captured) !=
                      std::string::npos,
                  asked);
    }
}

int main()
{
    test_module();
    test_missing();
    test_refused();
    test_file();
    test_attributes();
    test_nvidia();
    test_nodes();
    test_nodes_shown();
    return CHECK_SUMMARY();
}
