// test_device_state.cpp - the device: peaks of its data sheet, launches that are larger than it
// takes, and its state in a row, by scripted sensors: clocks, power, temperature, throttling, other
// processes; also of regions that are measured in turn.
#include "watched.h"
#include "printed.h"
#include <math.h>
#include <vector>

// ---- what the device can do ----

// Data sheets: what the clocks that runtimes report come to.
static void test_peaks()
{
    static const struct {
        const char *arch;
        double sm_mhz, memory_mhz;
        int multiprocessors, width, integrated;
        double gbps, tflops; // 0: unknown
    } known[] = {
        {"sm_90", 1980, 3201, 132, 6144, 0, 4916.7, 66.9},   // H200
        {"sm_70", 1530, 877, 80, 4096, 0, 898.0, 15.67},     // V100
        {"sm_87", 918, 918, 8, 64, 1, 0, 1.88},              // Orin NX: 102 GB/s, told otherwise
        {"gfx906", 1725, 1000, 60, 4096, 0, 1024, 13.25},    // Radeon VII
        {"gfx90a", 1700, 1600, 110, 4096, 0, 1638.4, 47.87}, // a die of MI250X, packed fp32
        {"gfx942", 2100, 1300, 304, 8192, 0, 5324.8, 163.4}, // MI300X
        {"gfx950", 2400, 2000, 256, 8192, 0, 0, 157.3},      // MI355X
        {"gfx1030", 2250, 1000, 40, 256, 0, 512, 23.04},     // RX 6900 XT: 80 units
        {"gfx1100", 2500, 1250, 48, 384, 0, 960, 61.44},     // RX 7900 XTX
        {"gfx1201", 2970, 1258, 32, 256, 0, 644.1, 48.66},   // RX 9070 XT
        {"gfx90c", 2000, 1600, 8, 128, 1, 0, 2.05},          // in a processor
        {"gfx803", 1266, 2000, 36, 256, 0, 0, 5.83},         // RX 580: GDDR5
        {"xyz", 1000, 1000, 10, 256, 0, 0, 0},
    };
    for (const auto &k : known) {
        gpumb_device d = {};
        snprintf(d.arch, sizeof d.arch, "%s", k.arch);
        d.sm_clock_hz = k.sm_mhz * 1e6;
        d.memory_clock_hz = k.memory_mhz * 1e6;
        d.multiprocessors = k.multiprocessors;
        d.bus_width_bits = k.width;
        gpumbi_peaks(&d, k.integrated);
        const bool right = CHECK_NEAR(d.peak_bytes_per_s / 1e9, k.gbps, 1e-3 * k.gbps) &
                           CHECK_NEAR(d.peak_flop_per_s / 1e12, k.tflops, 5e-3 * k.tflops);
        if (!right)
            printf("    %s\n", k.arch);
    }
}

// What a launch asks for in one dimension, against what AMD's queues and others take.
static void test_many_threads()
{
    static const struct {
        const char *arch;
        uint64_t grid;
        unsigned block;
        bool refused;
    } launches[] = {{"gfx90a", 1u << 24, 256, true},  {"gfx90a", (1u << 24) - 1, 256, false},
                    {"gfx1100", 4194304, 1024, true}, {"gfx1100", 4194303, 1024, false},
                    {"gfx942", 0x7fffffff, 1, false}, {"gfx942", 0x7fffffff, 2, false},
                    {"gfx942", 0x7fffffff, 3, true},  {"sm_90", 0x7fffffff, 1024, false}};
    for (const auto &l : launches) {
        const gpumb_settings s = settings();
        reset();
        fake_arch = l.arch;
        gpumb *g = gpumb_open_settings("watched", &s);
        const gpumbi_shape shape = {"many", {l.grid, 1, 1}, {l.block, 1, 1}, 0, 0};
        GPUMB_MEASURE(g, "many") {
            if (gpumbi_launch_begin(&shape, NULL))
                fake_run(1e-3);
        }
        const gpumb_result *row = gpumb_last_result(g);
        if (CHECK(row != NULL)) {
            CHECK_INT(row->status, l.refused ? GPUMB_STATUS_SKIPPED : GPUMB_STATUS_OK);
            CHECK(!l.refused || strstr(row->reason, "launch of many refused: grid.x is"));
        }
        close(g, l.refused ? GPUMB_EXIT_FAILED : 0);
    }
}

// ---- its state, by sensors ----

static const char *const state_columns[] = {"sm_clock_before_mhz",
                                            "sm_clock_mhz",
                                            "mem_clock_before_mhz",
                                            "mem_clock_mhz",
                                            "temp_before_c",
                                            "temp_c",
                                            "power_w",
                                            "energy_j",
                                            "gb_per_j",
                                            "throttle",
                                            "others"};

static gpumb_settings lasting(double seconds) // samples, all of them
{
    gpumb_settings s = settings();
    s.warmup_s = -1;
    s.precision = 1e-9;
    s.budget_s = seconds;
    s.min_samples = 6;
    s.max_samples = 100000;
    return s;
}

static gpumb *open_sensing(const gpumb_settings &s)
{
    reset();
    fake_sensors = 1;
    return open_after_reset(s);
}

static void test_sensors()
{
    // before and after
    gpumb *g = open_sensing(lasting(0.5));
    fake_temperature = 41;
    int runs = 0;
    GPUMB_MEASURE(g, "state") {
        if (++runs == 20) {
            fake_temperature = 63;
            fake_memory_clock = 1.5e9;
        }
        fake_run(drawn(5e-3));
    }
    gpumb_set_bytes(g, 3e9);
    GPUMB_MEASURE(g, "power") {
        fake_run(drawn(5e-3));
    }
    close(g, 0);
    CHECK_STR(column("temp_before_c").c_str(), "41");
    CHECK_STR(column("temp_c").c_str(), "63");
    CHECK_STR(column("temp_before_c", 1).c_str(), "63");
    CHECK_STR(column("sm_clock_before_mhz").c_str(), "1000");
    CHECK_STR(column("sm_clock_mhz").c_str(), "1000");
    CHECK_STR(column("mem_clock_before_mhz").c_str(), "2000");
    CHECK_STR(column("mem_clock_mhz").c_str(), "1500");
    CHECK_STR(column("mem_clock_before_mhz", 1).c_str(), "1500");
    CHECK_STR(column("throttle").c_str(), "none");
    CHECK_STR(column("others").c_str(), "0");
    CHECK_STR(column("power_w").c_str(), "300");
    CHECK_NEAR(number("energy_j"), 1.5, 0.05);
    CHECK_STR(column("gb_per_j").c_str(), ""); // no bytes
    CHECK_NEAR(number("energy_j", 1), 1.5, 0.05);
    CHECK_NEAR(number("gb_per_j", 1), 3 / number("energy_j", 1), 1e-6);

    // another process counts whether it was there before the samples or after them
    for (int before = 0; before < 2; before++) {
        g = open_sensing(brief());
        fake_others = before ? 2 : 0;
        int run = 0;
        GPUMB_MEASURE(g, "shared") {
            if (++run == 5)
                fake_others = 2 - fake_others;
            fake_run(5e-3);
        }
        close(g, 0);
        CHECK_STR(column("others").c_str(), "2");
        CHECK(flagged("shared"));
    }

    // what decides on power: how long sampling takes, and how much of it the device is busy
    static const struct {
        double sampling_s, idle_s; // idle before each run of 5 ms
        bool known;
    } cases[] = {{0.1, 0, false},  {0.19, 0, false}, {0.25, 0, true},     {1, 0.2e-3, true},
                 {1, 1e-3, false}, {1, 5e-3, false}, {0.25, 1e-3, false}, {2, 0, true}};
    for (const auto &c : cases) {
        g = open_sensing(lasting(c.sampling_s));
        gpumb_set_bytes(g, 1e9);
        double idle_s = c.idle_s;
        gpumb_set_reset(
            g,
            [](gpumb *, void *seconds) {
                fake_now = std::max(fake_now, fake_busy) + *(double *)seconds;
            },
            &idle_s);
        GPUMB_MEASURE(g, "power") {
            fake_run(drawn(5e-3, 0.1));
        }
        close(g, 0);
        for (const char *name : {"power_w", "energy_j", "gb_per_j"})
            CHECK_CASE((column(name) != "") == c.known, "%s of %g s, %g s idle: \"%s\"", name,
                       c.sampling_s, c.idle_s, column(name).c_str());
        if (c.known) {
            CHECK_NEAR(number("power_w"), 300, 1e-6);
            CHECK(number("energy_j") > 1.45 && number("energy_j") < 1.5 / 0.9 * 1.02);
        }
        CHECK_STR(column("temp_c").c_str(), "40");
    }

    // of one run, however many are in a sample; power as the mean of what it was
    g = open_sensing(lasting(0.6));
    GPUMB_MEASURE(g, "batch") {
        fake_run(drawn(20e-6));
    }
    on_graph = [](const fake_graph *) { fake_graph_cost = drawn(10e-6, 1); };
    GPUMB_MEASURE(g, "graph") {
        known_run(100e-6);
    }
    on_graph = nullptr;
    double began = -1;
    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
    GPUMB_MEASURE(g, "mean") {
        began = began < 0 ? fake_now : began;
        fake_power = fake_now - began < 0.4 ? 200 : 400;
        fake_run(drawn(2e-3));
    }
    close(g, 0);
    CHECK_STR(column("timing", 0).c_str(), "batch");
    CHECK_NEAR(number("energy_j", 0), 300 * 20e-6, 300 * 2e-6);
    CHECK_STR(column("timing", 1).c_str(), "graph");
    CHECK_NEAR(number("energy_j", 1), 300 * 100.5e-6, 300 * 5e-6);
    CHECK_NEAR(number("power_w", 2), 300, 12); // 0.2 ... 0.4 s, 0.4 ... 0.6 s

    // a reading every 20 ms, from 0.2 s on
    gpumbi_power readings = {};
    CHECK(!gpumbi_power_due(&readings, 1, 1.19) && gpumbi_power_due(&readings, 1, 1.21));
    gpumbi_power_add(&readings, 1.21, 100);
    CHECK(!gpumbi_power_due(&readings, 1, 1.229) && gpumbi_power_due(&readings, 1, 1.231));

    // readings that fail now and then are none of 0 W
    g = open_sensing(lasting(0.6));
    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
    GPUMB_MEASURE(g, "state") {
        fake_power = fake_runs % 3 ? 200 : 0;
        fake_run(drawn(2e-3));
    }
    close(g, 0);
    CHECK_NEAR(number("power_w", 0), 200, 1e-6);

    // unknown to the sensors; none there
    for (int sensors = 0; sensors < 2; sensors++) {
        gpumb_settings s = lasting(0.5);
        std::string table;
        s.quiet = 0;
        for (int known = 0; known < 2; known++) {
            reset();
            fake_sensors = sensors;
            if (!known) {
                fake_power = fake_temperature = 0;
                fake_throttle = fake_others = -1;
            }
            table = printed([&] {
                g = open_after_reset(s);
                gpumb_set_bytes(g, 1e9);
                GPUMB_MEASURE(g, "state") {
                    fake_run(drawn(5e-3));
                }
                gpumb_close(g);
            });
            for (const char *name : state_columns)
                CHECK_CASE(
                    (column(name) != "") == (sensors && (known || strstr(name, "clock") != NULL)),
                    "%s: \"%s\", sensors %d, known %d", name, column(name).c_str(), sensors, known);
        }
        int lines = 0;
        for (size_t at = 0, end; (end = table.find('\n', at)) != std::string::npos; at = end + 1)
            lines += table.substr(at, end - at).find("sensor") != std::string::npos;
        CHECK_INT(lines, !sensors);
    }

    // in words
    static const struct {
        int bits;
        const char *text;
    } reasons[] = {{0, "none"},
                   {GPUMB_THROTTLE_POWER, "power"},
                   {GPUMB_THROTTLE_THERMAL, "thermal"},
                   {GPUMB_THROTTLE_HARDWARE, "hardware"},
                   {GPUMB_THROTTLE_OTHER, "other"},
                   {GPUMB_THROTTLE_POWER | GPUMB_THROTTLE_THERMAL, "power;thermal"},
                   {15, "power;thermal;hardware;other"},
                   {-1, ""}};
    g = open_sensing(brief());
    for (const auto &reason : reasons) {
        fake_throttle = reason.bits;
        fake_others = reason.bits;
        GPUMB_MEASURE(g, "throttle") {
            fake_run(1e-3);
        }
    }
    // before sampling, and gone: not while sampling; while sampling, and gone
    fake_throttle = fake_others = 0;
    latched = GPUMB_THROTTLE_POWER;
    GPUMB_MEASURE(g, "before") {
        fake_run(1e-3);
    }
    runs = 0;
    GPUMB_MEASURE(g, "meanwhile") {
        latched |= ++runs == 5 ? GPUMB_THROTTLE_THERMAL : 0;
        fake_run(1e-3);
    }
    close(g, 0);
    for (int row = 0; row < 8; row++) {
        CHECK_STR(column("throttle", row).c_str(), reasons[row].text);
        CHECK_STR(column("others", row).c_str(),
                  reasons[row].bits < 0 ? "" : std::to_string(reasons[row].bits).c_str());
        CHECK_INT(flagged("throttled", row), reasons[row].bits > 0);
        CHECK_INT(flagged("shared", row), reasons[row].bits > 0);
    }
    CHECK_STR(column("throttle", 8).c_str(), "none");
    CHECK_STR(column("throttle", 9).c_str(), "thermal");
}

// Regions in turn were sampled in one stretch: what was then, was so for all; but whose power?
static void test_sensors_in_turn()
{
    gpumb_settings s = settings();
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 200;
    gpumb *g = open_sensing(s);
    int runs = 0;
    GPUMB_INTERLEAVE(g) {
        for (const char *name : {"one", "two", "three"}) {
            gpumb_set_bytes(g, 1e9);
            GPUMB_MEASURE(g, name) {
                latched |= ++runs == 100 ? GPUMB_THROTTLE_POWER : 0;
                fake_temperature = runs < 300 ? 40 : 70;
                fake_run(drawn(5e-3));
            }
        }
    }
    GPUMB_INTERLEAVE(g) { // also where one of them has almost all of the time
        gpumb_set_bytes(g, 1e9);
        GPUMB_MEASURE(g, "long") {
            fake_run(drawn(5e-3));
        }
        GPUMB_MEASURE(g, "short") {
            fake_run(drawn(50e-6));
        }
    }
    close(g, 0);
    CHECK_INT(rows(), 5);
    for (const char *name : {"power_w", "energy_j", "gb_per_j"})
        CHECK_STR(column(name, 3).c_str(), "");
    for (int row = 0; row < 3; row++) {
        for (const char *name : {"power_w", "energy_j", "gb_per_j"})
            CHECK_STR(column(name, row).c_str(), "");
        CHECK_STR(column("temp_before_c", row).c_str(), "40");
        CHECK_STR(column("temp_c", row).c_str(), "70");
        CHECK_STR(column("others", row).c_str(), "0");
        CHECK_CASE(column("throttle", row) == "power" && flagged("throttled", row),
                   "row %d of 3, sampled while throttled: \"%s\"", row,
                   column("throttle", row).c_str());
    }
}

int main()
{
    test_peaks();
    test_many_threads();
    test_sensors();
    test_sensors_in_turn();
    remove_file(csv_path);
    return CHECK_SUMMARY();
}
