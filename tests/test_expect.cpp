// test_expect.cpp - --expect: which rows match, all of them or the largest or least, limits in each
// unit and against other rows, undecided ones, exit codes, lines and JSON, on rows that are
// replayed; and what is no expectation.
#include <string>
static std::string heard; // what gpumb.h has said

#define GPUMB_LOG(text) heard += text
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "folder.h"
#include "read_file.h"
#include <vector>

// ---- the rows -----------------------------------------------------------------------------------

static const char head[] =
    "schema,bench,kernel,backend,device,status,reason,samples,median_s,ci_lo_s,ci_hi_s,bytes,flop,"
    "gbps,gflops,pct_peak,pct_ceiling,elements,elements_per_s,compared_with,ratio,ratio_lo,"
    "ratio_hi,verdict,values,n,form\n";

struct row {
    const char *bench, *kernel, *n, *form;
    double median, half; // of the interval, relative; 0: none
    double bytes, flop, elements;
    const char *status, *compared_with;
    double ratio;
};

static const row rows[] = {
    {"demo", "copy", "1024", "naive", 2e-6, 0.01, 1e6, 0, 1000, "ok", "", 0},
    {"demo", "copy", "1024", "fast", 1e-6, 0.01, 1e6, 0, 1000, "ok", "", 0},
    {"demo", "copy", "2048", "naive", 4e-6, 0.01, 2e6, 0, 2000, "ok", "", 0},
    {"demo", "copy", "2048", "fast", 1.6e-6, 0.01, 2e6, 0, 2000, "ok", "", 0},
    {"demo", "mine", "1024", "naive", 1.1e-6, 0.01, 1e6, 0, 1000, "ok", "copy", 0.55},
    {"demo", "mine", "1024", "fast", 1.1e-6, 0.1, 1e6, 0, 1000, "ok", "copy", 1.1},
    {"demo", "mine", "2048", "fast", 1.6e-6, 0.1, 4e6, 0, 2000, "ok", "", 0},
    {"other", "flops", "", "", 1e-3, 0.02, 0, 1e9, 0, "ok", "", 0},
    {"other", "broken", "", "", 0, 0, 0, 0, 0, "failed", "", 0},
    {"other", "few", "", "", 1e-3, 0, 1e6, 0, 0, "ok", "", 0},
    {"other", "1 x 2", "", "", 2e-3, 0.02, 0, 1e9, 0, "ok", "", 0},
    {"other", "thrice", "", "", 1e-3, 0.02, 0, 3e9, 0, "ok", "", 0},
    {"other", "walk", "", "", 1e-3, 0.02, 0, 0, 1000, "ok", "copy", 0.25}, // one of its own
    {"other", "run", "", "", 1e-3, 0.02, 0, 0, 4000, "ok", "", 0},
    {"other", "wrong", "", "", 1e-3, 0.02, 0, 1e9, 0, "failed", "", 0},
    {"tiles", "tile", "", "16", 1e-3, 0.02, 0, 0, 0, "ok", "", 0},
    {"tiles", "tile", "", "16x16", 2e-3, 0.02, 0, 0, 0, "ok", "", 0},
};

static void write_rows()
{
    FILE *file = fopen("rows.csv", "w");
    fputs(head, file);
    for (const row &r : rows) {
        const bool ok = r.median > 0;
        fprintf(file, "4,%s,%s,fake,Fake 9000,%s,%s,%d,", r.bench, r.kernel, r.status,
                r.status[0] == 'o' ? "" : "element 7", ok ? r.half > 0 ? 30 : 3 : 0);
        if (ok)
            fprintf(file, "%.9g", r.median);
        if (r.half > 0)
            fprintf(file, ",%.9g,%.9g,", r.median * (1 - r.half), r.median * (1 + r.half));
        else
            fputs(",,,", file);
        for (const double value :
             {r.bytes, r.flop, ok ? r.bytes / r.median / 1e9 : 0, ok ? r.flop / r.median / 1e9 : 0,
              ok ? r.bytes / r.median / 1e9 / 20 : 0, ok ? r.bytes / r.median / 1e9 / 10 : 0,
              r.elements, ok ? r.elements / r.median : 0})
            fprintf(file, value > 0 ? "%.9g," : ",", value);
        fprintf(file, "%s,", r.compared_with);
        if (r.compared_with[0])
            fprintf(file, "%g,%g,%g,same,", r.ratio, r.ratio * 0.999, r.ratio * 1.001);
        else
            fputs(",,,,", file);
        fprintf(file, ",%s,%s\n", r.n, r.form);
    }
    fclose(file);
}

static void demo(gpumb *g)
{
    GPUMB_SWEEP_POW2(g, n, 1024, 2048)
        GPUMB_SWEEP_NAMES(g, form, "naive", "fast") {
            GPUMB_MEASURE(g, "copy") {
            }
            if (n == 1024 || form)
                GPUMB_MEASURE(g, "mine") {
                }
        }
}

static void other(gpumb *g)
{
    for (const char *name : {"flops", "broken", "few", "1 x 2", "thrice", "walk", "run", "wrong"})
        GPUMB_MEASURE(g, name) {
        }
}

static void tiles(gpumb *g)
{
    GPUMB_SWEEP_NAMES(g, form, "16", "16x16") {
        GPUMB_MEASURE(g, "tile") {
        }
    }
}

static const gpumb_benchmark benchmarks[] = {
    {"demo", "", demo}, {"other", "", other}, {"tiles", "", tiles}};

// ---- runs ---------------------------------------------------------------------------------------

typedef std::vector<std::string> words;

// Returns the exit code; what is said is in `heard`, the JSON in x.json.
static int run(const words &options)
{
    std::vector<char *> argument = {const_cast<char *>("test")};
    for (const std::string &word : options)
        argument.push_back(const_cast<char *>(word.c_str()));
    argument.push_back(NULL);
    fake_reset();
    fake_devices = 0;
    heard = "";
    unlink("x.json");
    fflush(stdout);
    const int out = dup(1);
    dup2(2, 1); // the table, to nowhere
    const int code =
        gpumb_run(gpumb_open((int)argument.size() - 1, argument.data()), benchmarks, 3);
    fflush(stdout);
    dup2(out, 1);
    close(out);
    return code;
}

// Of `broken` there is a row that failed: it is left out, so that expectations alone decide.
static int expect(const std::string &text, const words &more = {})
{
    words options = {"--replay=rows.csv", "--json=x.json", "--expect", text};
    for (const char *name :
         {"copy", "mine", "flops", "few", "1 x 2", "thrice", "walk", "run", "tile"})
        options.push_back(std::string("--filter=") + name);
    options.insert(options.end(), more.begin(), more.end());
    return run(options);
}

// The line of the expectation.
static std::string line()
{
    const std::string json = read_file("x.json");
    const size_t at = json.find("\"replayed: expected ") + 20;
    return at < 20 ? "" : json.substr(at, json.find('\"', at) - at);
}

static const struct {
    const char *text, *verdict; // the line behind the text
} cases[] = {
    // In each unit; all rows have to meet it, and the worst is named.
    {"copy>=450GB/s", "met: 500 (495 ... 505.1) in demo/copy n=1024 form=naive"},
    {"copy >= 500 GB/s", "undecided: 500 (495 ... 505.1) in demo/copy n=1024 form=naive"},
    {"copy>=500GB/s or undecided",
     "undecided, which counts as met: 500 (495 ... 505.1) in demo/co"},
    {"copy>=600GB/s", "not met: 500 (495 ... 505.1) in demo/copy n=1024 form=naive"},
    {"copy>=0.24peak", "met: 0.25 (0.2475 ... 0.2525) in demo/copy n=1024 form=naive"},
    {"copy>=0.49ceiling", "met: 0.5 (0.495 ... 0.5051) in demo/copy n=1024 form=naive"},
    {"copy<=4.1us", "met: 4 (3.96 ... 4.04) in demo/copy n=2048 form=naive"},
    {"copy<=0.0041ms", "met: 0.004 (0.00396 ... 0.00404) in demo/copy n=2048 form=naive"},
    {"copy<=4000ns", "undecided: 4000 (3960 ... 4040) in demo/copy n=2048 form=naive"},
    {"copy<=3e-6s", "not met: 4e-06 (3.96e-06 ... 4.04e-06) in demo/copy n=2048 form=naive"},
    {"copy>=3us", "not met: 1 (0.99 ... 1.01) in demo/copy n=1024 form=fast"},
    {"copy<=1300GB/s", "met: 1250 (1238 ... 1263) in demo/copy n=2048 form=fast"},
    {"flops>=950GFLOP/s", "met: 1000 (980.4 ... 1020) in other/flops"},
    {"copy>=4e8elements/s", "met: 5e+08 (4.95e+08 ... 5.051e+08) in demo/copy n=1024 form=naive"},
    // The largest or least; names and axes.
    {"max(copy)>=1200GB/s", "met: 1250 (1238 ... 1263) in demo/copy n=2048 form=fast"},
    {"min(copy)<=510GB/s", "met: 500 (495 ... 505.1) in demo/copy n=1024 form=naive"},
    {"max(copy)<=3us", "not met: 4 (3.96 ... 4.04) in demo/copy n=2048 form=naive"},
    {"copy[form=fast]>=900GB/s", "met: 1000 (990.1 ... 1010) in demo/copy n=1024 form=fast"},
    {"copy[form=fast,n=2^11]>=1200GB/s", "met: 1250 (1238 ... 1263) in demo/copy n=2048 form=fast"},
    {"max(copy[ n=1Ki ])>=900GB/s", "met: 1000 (990.1 ... 1010) in demo/copy n=1024 form=fast"},
    {"demo/copy>=450GB/s", "met: 500 (495 ... 505.1) in demo/copy n=1024 form=naive"},
    {"max(demo)>=2400GB/s", "undecided: 2500 (2273 ... 2778) in demo/mine n=2048 form=fast"},
    {"copy[form = fast, n = 2048]>=1200GB/s", "met: 1250 (1238 ... 1263) in demo/copy n=2048"},
    {"tile[form=16]<=1.1ms", "met: 1 (0.98 ... 1.02) in tiles/tile form=16"},
    {"tile[form=16x16]>=1.9ms", "met: 2 (1.96 ... 2.04) in tiles/tile form=16x16"},
    {"tile[form=16y]<=1.1ms", "not met: no such row"},
    {"cop>=1GB/s", "not met: no such row"},
    {"copy[m=1]>=1GB/s", "not met: no such row"},
    {"copy[nx1024]>=1GB/s", "not met: no such row"},
    {"mine[n=2048]<=1.8e-6s", "met: 1.6e-06 (1.44e-06 ... 1.76e-06)"},
    {"copy[n=7]>=1GB/s", "not met: no such row"},
    {"few>=0.5GB/s", "undecided: 1 (0 ... 0) in other/few: has no interval"},
    {"flops>=1GB/s", "not met: other/flops: its GB/s is unknown"},
    // What one of four rows has to show is harder than for a single one; what all have isn't.
    {"copy[form=fast,n=2048]>=1237GB/s", "met: 1250 (1238 ... 1263) in demo/copy n=2048 form=fast"},
    {"max(copy)>=1237GB/s", "undecided: 1250 (1238 ... 1263) in demo/copy n=2048 form=fast; of 4 "
                            "rows one has to: 0 met, 1 undecided"},
    {"max(copy)>=1230GB/s",
     "met: 1250 (1238 ... 1263) in demo/copy n=2048 form=fast; of 4 rows one "
     "has to: 1 met, 0 undecided"},
    {"copy[form=naive,n=1024]>=495.5GB/s", "undecided: 500 (495 ... 505.1) in demo/copy"},
    {"copy>=495.5GB/s",
     "met: 500 (495 ... 505.1) in demo/copy n=1024 form=naive; of 4 rows all have "
     "to: 4 met, 0 undecided"},
    {"min(copy)>=495.5GB/s",
     "met: 500 (495 ... 505.1) in demo/copy n=1024 form=naive; of 4 rows all"},
    {"copy[form=naive,n=1024]>=505.5GB/s", "not met: 500 (495 ... 505.1) in demo/copy"},
    {"copy>=505.5GB/s",
     "undecided: 500 (495 ... 505.1) in demo/copy n=1024 form=naive; of 4 rows all"},
    // Of a counterpart that is chosen the same holds.
    {"flops>=0.00195*copy[n=1024,form=naive]", "met: 0.002 (0.00195"},
    {"flops>=0.00195*max(copy[form=naive])", "met: 0.002 (0.00195"},
    // Against other rows with the same axes: rates, so that twice the bytes count. Round by round
    // where that was compared, else by both intervals (of 1.1: hypot(10 %, 1 %)).
    {"mine[n=1024,form=naive]>=1.8*copy",
     "met: 1.818 (1.816 ... 1.82) in demo/mine n=1024 form=na"},
    {"mine[n=1024,form=fast]>=0.9*copy",
     "met: 0.9091 (0.9082 ... 0.91) in demo/mine n=1024 form=f"},
    {"copy[n=1024,form=fast]>=1.09*mine",
     "met: 1.1 (1.099 ... 1.101) in demo/copy n=1024 form=fast"},
    {"mine[n=2048]>=1.7 * copy", "met: 2 (1.8"},
    {"mine[n=2048]>=1.95*copy", "undecided: 2 (1.8"},
    {"mine[n=2048]>=copy", "met: 2 (1.8"},
    {"mine>=0.9*copy", "met: 0.9091 (0.9082 ... 0.91) in demo/mine n=1024 form=fast"},
    {"copy[n=2048,form=fast]>=1.2*copy[n=1024]", "met: 1.25 (1.232"},
    {"copy[n=2048,form=fast]>=2*copy[form=naive]", "met: 2.5 (2.4"},
    {"mine[form=fast]<=2.3*copy[form=naive]", "not met: 5 ("},
    {"mine[n=1024,form=naive]>=0.87*max(copy[form=fast])", "met: 0.9091 (0.8"},
    {"mine[n=1024,form=naive]>=0.87*copy[form=fast,n=2048]", "not met: 0.7273 ("},
    // Of several counterparts the hardest, or the one that is chosen.
    {"flops>=0.0009*copy", "met: 0.001 (0.0009"},
    {"flops<=0.0041*copy", "met: 0.004 (0.0039"},
    {"flops>=0.0035*min(copy)", "met: 0.004 (0.0039"},
    {"flops<=0.0011*max(copy)", "met: 0.001 (0.0009"},
    {"flops>=1.9*1 x 2", "met: 2 (1.9"},
    {"flops>=1 x 2", "met: 2 (1.9"},
    {"thrice>=2.9*flops", "met: 3 (2.9"}, // in the same time: thrice the FLOP, a quarter of
    {"walk<=0.26*run", "met: 0.25 (0.2"}, // the elements
    {"1 x 2<=0.55*flops", "met: 0.5 (0.4"},
    {"walk>=0.0019*demo/copy[n=1024,form=naive]", "met: 0.002 (0.0019"},
    {"copy>=1*copy", "not met: demo/copy n=1024 form=naive: no row to compare with"},
    {"flops>=1*copy[n=3]", "not met: other/flops: no row to compare with"},
};

static void test_verdicts()
{
    for (const auto &c : cases) {
        std::string text = c.text, wanted = c.verdict;
        const int code = expect(text);
        const bool met = wanted.compare(0, 3, "met") == 0 || wanted.find("counts as met") < 99;
        CHECK_INT(code, met ? GPUMB_EXIT_OK : GPUMB_EXIT_FAILED);
        const std::string said = line();
        CHECK_CASE(said.compare(0, text.size() + 2 + wanted.size(), text + ": " + wanted) == 0,
                   "%s, not %s", said.c_str(), wanted.c_str());
    }
}

// Several: each has a line, and the JSON its reasons; one that is missed decides.
static void test_several()
{
    CHECK_INT(expect("copy>=1GB/s", {"--expect=copy>=700GB/s", "--expect", "mine>=0.9*copy"}),
              GPUMB_EXIT_FAILED);
    const std::string json = read_file("x.json");
    const char *const wanted[] = {
        ("\"expectations\": [\n{\"expect\": \"copy>=1GB/s\", \"verdict\": \"met\", \"reason\": "
         "\"demo/copy n=1024 form=naive\", \"limit\": 1, \"value\": "),
        "{\"expect\": \"copy>=700GB/s\", \"verdict\": \"not met\", \"reason\": \"demo/copy n=1024",
        "{\"expect\": \"mine>=0.9*copy\", \"verdict\": \"met\"",
        "}],\n\"notes\": [\"replayed: exp"};
    for (const char *part : wanted)
        CHECK_CASE(json.find(part) != std::string::npos, "%s", part);
    CHECK_INT(expect("copy>=1GB/s", {"--expect=mine>=1GB/s", "--expect=max(demo/mine)>=1GB/s"}),
              GPUMB_EXIT_OK);
    CHECK_INT(expect("few>=0.5GB/s"), GPUMB_EXIT_FAILED);
    CHECK(read_file("x.json").find("\"limit\": 0.5, \"value\": 1, \"lo\": null, \"hi\": null}") !=
          std::string::npos);
    // A row that failed meets nothing, and its reason is said, though it has a time; nor is it
    // what others are to beat.
    for (const char *text : {"wrong>=1GFLOP/s", "wrong>=0.1*flops", "wrong<=1s"}) {
        CHECK_INT(run({"--replay=rows.csv", "--json=x.json", "--expect", text}), GPUMB_EXIT_FAILED);
        CHECK_STR(line().c_str(),
                  (text + std::string(": not met: other/wrong: failed, element 7")).c_str());
    }
    CHECK_INT(run({"--replay=rows.csv", "--json=x.json", "--expect=flops>=0.1*wrong"}),
              GPUMB_EXIT_FAILED);
    CHECK_STR(line().c_str(), "flops>=0.1*wrong: not met: other/flops: no row to compare with");
    CHECK_INT(run({"--replay=rows.csv", "--json=x.json", "--expect=broken>=1GB/s"}),
              GPUMB_EXIT_FAILED);
    CHECK_STR(line().c_str(), "broken>=1GB/s: not met: other/broken: failed, element 7");
    // max() does not overlook it where all have to be small, nor min() where all have to be large;
    // where one row is enough, it is not that one.
    for (const char *text : {"max(other)<=1s", "min(other)>=1ns", "max(broken)<=1s",
                             "min(broken)<=1s", "max(broken)>=1s"}) {
        CHECK_CASE(run({"--replay=rows.csv", "--json=x.json", "--expect", text}) ==
                       GPUMB_EXIT_FAILED,
                   "%s", text);
        CHECK_CASE(line().find("not met: other/broken: failed, element 7") != std::string::npos,
                   "%s", line().c_str());
    }
    run({"--replay=rows.csv", "--json=x.json", "--expect=min(other)<=100GFLOP/s"});
    CHECK_CASE(line().find(": not met: 500 (490.2 ... 510.2) in other/1 x 2; of 8") < 99, "%s",
               line().c_str());
    run({"--replay=rows.csv", "--json=x.json", "--expect=min(other)<=1.1ms"});
    CHECK_CASE(line().find("min(other)<=1.1ms: met: 1 (0.98 ... 1.02) in other/flops; of 8 rows") ==
                   0,
               "%s", line().c_str());
}

// Nothing runs for what is no expectation.
static void test_wrong()
{
    for (const char *text :
         {"", "copy", "copy>5", "copy>=", ">=5us", "copy>=5parsec", "copy>=5", "copy>=0us",
          "copy>=-1us", "copy>=0*mine", "copy[n=1>=1us", "copy[n=1]x>=1us", "[n=1]>=1us",
          "max()>=1us", "copy>=2*", "copy>=infus", "copy>=5us<=9us", "copy<=9us>=5us"}) {
        CHECK_CASE(expect(text) == GPUMB_EXIT_USAGE, "'%s'", text);
        CHECK_CASE(heard.find("--expect") != std::string::npos, "'%s': %s", text, heard.c_str());
    }
    const std::string fill(190, 'f'); // nothing is cut: what is left could be another row
    for (const std::string &text :
         {"copy[form=" + fill + ",n=1024]<=1s", std::string(200, 'k') + "<=1s",
          "copy" + std::string(400, ' ') + "[n=1024]<=1s", "copy<=1.5*" + std::string(200, 'k')})
        CHECK_CASE(expect(text) == GPUMB_EXIT_USAGE, "'%s'", text.c_str());
    words many = {"--replay=rows.csv"};
    for (int i = 0; i < 33; i++)
        many.push_back("--expect=copy>=" + std::to_string(i + 1) + "us");
    CHECK_INT(run(many), GPUMB_EXIT_USAGE);
    CHECK(heard.find("one expectation too many") != std::string::npos);
}

int main()
{
    const std::string folder = make_folder("gpumb-expect");
    if (chdir(folder.c_str()) || !freopen("/dev/null", "w", stderr))
        return 1;
    write_rows();
    test_verdicts();
    test_several();
    test_wrong();
    CHECK(remove_folder(folder));
    return CHECK_SUMMARY();
}
