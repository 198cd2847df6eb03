// test_files.cpp - what gets to files and to the terminal, on the fake device: names that are links
// or taken, two runs at once, runs that are ended in the middle, disks that are full; and texts
// that would drive a terminal.
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include <string>
#include <vector>

static std::vector<std::string> lines; // what was said, without "gpumb: "
#define GPUMB_LOG(text) lines.push_back(std::string(text).substr(7))
#include "../gpumb.h"

#include "check.h"
#include "fake.h"
#include "read_file.h"

#include <fcntl.h>
#include <functional>

// What `body` prints.
static std::string printed(const std::function<void()> &body)
{
    fflush(stdout);
    const int real = dup(1), out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0644);
    dup2(out, 1);
    close(out);
    body();
    fflush(stdout);
    dup2(real, 1);
    close(real);
    const std::string text = read_file("out");
    unlink("out");
    return text;
}

static gpumb_settings settings()
{
    gpumb_settings s = gpumb_settings_default();
    s.warmup_s = -1;
    s.max_samples = 30;
    s.quiet = 1;
    lines.clear();
    return s;
}

// ---- texts ---------------------------------------------------------------------------------------

// All that a terminal may act upon, and what is no UTF-8: each in brackets.
static const struct {
    const char *text, *shown;
} texts[] = {
    {"\033[2J", "?[2J"},
    {"\001\002\a\b\016\017\x1e\x1f", "????????"},
    {"\t\n\v\f\r", "     "},
    {"\x7f", "?"},
    {"\x80\x9b\x9d\x9f", "????"},
    {"\xc2\x80\xc2\x9b\xc2\x9f", "???"},
    {"\xc2\xa0", "\xc2\xa0"},
    {"\xe2\x80\xae\xe2\x80\x8f", "??"}, // direction: override, mark
    {"\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c", "???"},
    {"\xe2\x80\xa8\xe2\x80\xaa", "??"},
    {"\xe2\x80\xad\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa", "?\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"},
    {"\xc0\xaf\xc1\x9b", "????"},                                   // too long for what they are
    {"\xe0\x82\x9b\xf0\x82\x82\x9b", "???????"},                    // the same
    {"\xed\xa0\x80\xed\xbf\xbf\xed\x9f\xbf", "??????\xed\x9f\xbf"}, // a surrogate is no character
    {"\xf4\x90\x80\x80\xf4\x8f\xbf\xbf", "????\xf4\x8f\xbf\xbf"},   // the last one
    {"\xff\xf8\x88\x80\x80\x80", "??????"},                         // never in UTF-8
    {"\xe2\x82", "??"},                                             // cut
    {"\xdf\xbf\xe0\xa0\x80\xef\xbf\xbd\xf0\x9f\x98\x80 ~",
     "\xdf\xbf\xe0\xa0\x80\xef\xbf\xbd\xf0\x9f\x98\x80 ~"},
};

static std::string every(bool shown)
{
    std::string all;
    for (const auto &t : texts)
        all += std::string("[") + (shown ? t.shown : t.text) + "]";
    return all;
}

static int wrong(gpumb *g, void *user)
{
    gpumb_reason(g, "%s", (const char *)user);
    return 0;
}

static void hostile(gpumb *g)
{
    for (const auto &t : texts) {
        const char *const names[] = {t.text};
        GPUMB_SWEEP_STRINGS(g, form, names, 1) {
            gpumb_set_verify(g, wrong, const_cast<char *>(t.text));
            GPUMB_MEASURE(g, t.text) {
                fake_run(1e-3);
            }
        }
    }
    gpumb_note(g, "%s", every(false).c_str());
}

static void test_texts()
{
    for (const auto &t : texts) {
        char text[64];
        strcpy(text, t.text);
        gpumbi_plain(text);
        CHECK_STR(text, t.shown);
    }
    const gpumb_benchmark benchmarks[] = {{"first\033[31m",
                                           "does \x9b"
                                           "2J this",
                                           hostile}};
    const char *arguments[] = {"program\033c", "--csv=x.csv", "--json=x.json",
                               "--md=x.md",    "--list",      "--axis=\033c=1"};
    int code = -1;
    lines.clear();
    for (int count = 4; count <= 6; count++) { // a run, a list, an error
        fake_reset();
        const std::string text = printed(
            [&] { code = gpumb_main(count, const_cast<char **>(arguments), benchmarks, 1); });
        CHECK_INT(code, count == 6   ? GPUMB_EXIT_USAGE
                        : count == 4 ? GPUMB_EXIT_FAILED
                                     : GPUMB_EXIT_OK);
        std::string said = text;
        for (const std::string &line : lines)
            said += line + "\n";
        for (size_t length, i = 0; i < said.size(); i += length) {
            uint32_t character;
            length = gpumbi_character(said.c_str() + i, &character);
            if (!CHECK((character >= ' ' || character == '\n') &&
                       (character < 0x7f || character > 0x9f) && character != GPUMBI_NO_CHARACTER &&
                       character != 0x202e))
                printf("    at %zu of:\n%s\n", i, said.c_str());
        }
        if (count == 5)
            continue; // the list shows a part only
        for (const auto &t : texts) {
            if (count == 4) // the name of a kernel, the value of the axis, the reason
                CHECK(text.find(std::string(t.shown) + " ") != std::string::npos &&
                      text.find(std::string("failed: ") + t.shown) != std::string::npos);
        }
        if (count == 4) {
            CHECK(text.find("  " + every(true) + "\n") != std::string::npos);
            CHECK(text.find("\nfirst?[31m") != std::string::npos);
            CHECK(read_file("x.md").find("- " + every(true) + "\n") != std::string::npos);
        } else {
            CHECK(!lines.empty() && lines.back().find("--axis ?c=1") == 0);
        }
    }
    // files keep what was said; JSON is UTF-8 all the same
    const std::string csv = read_file("x.csv"), json = read_file("x.json");
    for (const auto &t : texts)
        CHECK(csv.find(t.text) != std::string::npos);
    for (const char *part :
         {"\\u001b[2J", "\\u0001\\u0002", "\x7f", "\\ufffd\\ufffd", "\xc2\x9b", "\xe2\x80\xae"})
        CHECK(json.find(part) != std::string::npos);
    for (size_t length, i = 0; i < json.size(); i += length) {
        uint32_t character;
        length = gpumbi_character(json.c_str() + i, &character);
        CHECK(character != GPUMBI_NO_CHARACTER);
    }
}

int main()
{
    char folder[] = "/tmp/gpumb-files-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    settings();
    test_texts();
    return CHECK_SUMMARY();
}
