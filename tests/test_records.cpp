// test_records.cpp - the readers of rows, in CSV and JSON: what is written is read, and what is
// wrong is said; rows of other processes; keys that rows are found by.
#include "hear.h"
#include "allocations.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "random.h"
#include "read_file.h"
#include <algorithm>
#include <fcntl.h>
#include <math.h>
#include <time.h>
#include <vector>

// ---- the readers ----

static const char path[] = "build/records.base";
static gpumb *reader; // a context for allocations

static gpumbi_records *read_text(const std::string &text)
{
    write_file(path, text);
    const int fd = open(path, O_RDONLY);
    gpumbi_records *t = gpumbi_read_records(reader, fd, SIZE_MAX, 0, 0);
    close(fd);
    return t;
}

// What was read, as text; or what is wrong.
static std::string show(const std::string &text)
{
    gpumbi_records *t = read_text(text);
    std::string out = t->wrong;
    char number[200];
    for (size_t i = 0; !t->wrong[0] && i < t->count; i++) {
        const gpumbi_record *r = &t->rows[i];
        snprintf(number, sizeof number, " %d %g [%g %g] %g [%g %g]", r->ok, r->time.at, r->time.lo,
                 r->time.hi, r->time.processes, r->time.process_lo, r->time.process_hi);
        out += std::string(r->text[GPUMBI_COLUMN_bench]) + "/" + r->text[GPUMBI_COLUMN_kernel];
        for (size_t a = 0; a < r->axes; a++)
            out += std::string(" ") + t->axes[r->first_axis + a].name + "=" +
                   t->axes[r->first_axis + a].text;
        out += number;
        out += "\n";
    }
    return out;
}

static const std::string head = "bench,kernel,status,median_s,ci_lo_s,ci_hi_s";

static void test_csv()
{
    const std::string right = "b/k n=1 1 2 [1 3] 1 [0 0]\n";
    CHECK_STR(show(head + ",n\nb,k,ok,2,1,3,1\n").c_str(), right.c_str());
    CHECK_STR(show(head + ",n\nb,k,ok,2,1,3,1").c_str(), right.c_str());
    CHECK_STR(show(head + ",n\r\nb,k,ok,2,1,3,1\r\n").c_str(), right.c_str());
    CHECK_STR(show(head + ",n\rb,k,ok,2,1,3,1\r").c_str(), right.c_str());
    CHECK_STR(show("\xef\xbb\xbf" + head + ",n\n\nb,k,ok,2,1,3,1\n\n,,,,,,\n").c_str(),
              right.c_str());
    CHECK_STR(show("\"n\",\"ci_hi_s\",ci_lo_s,median_s,status,kernel,\"bench\"\n"
                   "1,3,\"1\",2,\"ok\",k,b\n")
                  .c_str(),
              right.c_str());
    // fixed columns that are not needed, empty axes, an axis that is called as one of those
    CHECK_STR(show(head + ",gbps,flags,n,m\nb,k,ok,2,1,3,5,noisy,1,\n").c_str(), right.c_str());
    CHECK_STR(show(head + ",seed,seed\nb,k,ok,2,1,3,7,1\n").c_str(),
              "b/k seed=1 1 2 [1 3] 1 [0 0]\n");
    CHECK_STR(show(head + ",\"a,\"\"b\"\"\nc\"\n\"x,y\",\"k\"\"\",ok,2,,,\"1\n2\"\n").c_str(),
              "x,y/k\" a,\"b\"\nc=1\n2 1 2 [0 0] 1 [0 0]\n");
    CHECK_STR(show(head + ",processes,process_lo_s,process_hi_s\nb,k,ok,2E-06,,,5,1e-6,3e-6\n"
                          "b,k,skipped,,,,,,\n")
                  .c_str(),
              "b/k 1 2e-06 [0 0] 5 [1e-06 3e-06]\nb/k 0 0 [0 0] 1 [0 0]\n");

    static const char *const wrong[][2] = {
        {"", "line 1: there are no rows"},
        {"bench,kernel,status,median_s,ci_lo_s,ci_hi_s\n", "line 1: there are no rows"},
        {"bench,kernel,status,median_s,ci_lo_s\nb,k,ok,2,1\n",
         "line 1: there is no column ci_hi_s"},
        {"bench;kernel;status\nb;k;ok\n", "line 1: there is no column bench"},
        {"hello\n", "line 1: there is no column bench"},
        {"HEAD\nb,k,ok,2,1\n", "line 2: fewer fields than the header has"},
        {"HEAD\nb,k,ok,2,1,3,4\n", "line 2: more fields than the header has"},
        {"HEAD\nb,k,ok,2,1,3\nb,k,ok,x,1,3\n", "line 3: not a number above 0 is median_s"},
        {"HEAD\nb,k,ok,2,-1,3\n", "line 2: not a number above 0 is ci_lo_s"},
        {"HEAD\nb,k,ok,2,1,inf\n", "line 2: not a number above 0 is ci_hi_s"},
        {"HEAD\nb,k,ok,2,1,nan\n", "line 2: not a number above 0 is ci_hi_s"},
        {"HEAD\nb,k,ok,2,1,1e999\n", "line 2: not a number above 0 is ci_hi_s"},
        {"HEAD\nb,k,ok,\"2,5\",1,3\n", "line 2: not a number above 0 is median_s"},
        {"HEAD\nb,k,ok,,,\n", "line 2: median_s is not within ci_lo_s and ci_hi_s"},
        {"HEAD\nb,k,ok,4,1,3\n", "line 2: median_s is not within ci_lo_s and ci_hi_s"},
        {"HEAD\nb,k,ok,2,1,\n", "line 2: median_s is not within ci_lo_s and ci_hi_s"},
        {"HEAD\nb,k,ok,2,,3\n", "line 2: median_s is not within ci_lo_s and ci_hi_s"},
        {"HEAD\nb,k,fine,2,1,3\n", "line 2: neither ok, skipped nor failed is the status fine"},
        {"HEAD\n\"b\n\n\",k,ok,2,1,3\nb,k,,2,1,3\n",
         "line 5: neither ok, skipped nor failed is the status "},
        {"HEAD\nb,k,ok,2,1,3\n\"b,k,ok,2,1,3\n", "line 3: a quote is not closed"},
        {"HEAD\n\"b\"x,k,ok,2,1,3\n", "line 2: text after a closing quote"},
        {"HEAD,processes\nb,k,ok,2,1,3,5\n",
         "line 2: process_lo_s and process_hi_s are not in order"},
        {"HEAD,processes,process_lo_s,process_hi_s\nb,k,ok,2,1,3,5,3,1\n",
         "line 2: process_lo_s and process_hi_s are not in order"},
        {"HEAD,processes,process_lo_s,process_hi_s,process_medians_s\nb,k,ok,2,1,3,2,1,3,1;2;3\n",
         "line 2: processes is not the number of process_medians_s"},
        {"HEAD,process_medians_s\nb,k,ok,2,1,3,1;0\n",
         "line 2: not a number above 0 is process_medians_s"},
        {"HEAD,process_medians_s\nb,k,ok,2,1,3,1;;2\n",
         "line 2: not a number above 0 is process_medians_s"},
        {"HEAD,gbps\nb,k,ok,2,1,3,fast\n", "line 2: not a number above 0 is gbps"},
        // one line end each: LF, CR LF, CR, also within quotes
        {"HEAD\nb,k,ok,2,1,3\nb,k,no,2,1,3\n",
         "line 3: neither ok, skipped nor failed is the status no"},
        {"HEAD\r\nb,k,ok,2,1,3\r\nb,k,no,2,1,3\r\n",
         "line 3: neither ok, skipped nor failed is the status no"},
        {"HEAD\rb,k,ok,2,1,3\rb,k,no,2,1,3\r",
         "line 3: neither ok, skipped nor failed is the status no"},
        {"HEAD\r\n\"b\r\n\",k,ok,2,1,3\r\nb,k,no,2,1,3\r\n",
         "line 4: neither ok, skipped nor failed is the status no"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        std::string text = wrong[i][0];
        if (text.compare(0, 4, "HEAD") == 0)
            text = head + text.substr(4);
        CHECK_STR(show(text).c_str(), wrong[i][1]);
    }
    CHECK_STR(show(head + "\n" + std::string("b,\0,", 4)).c_str(),
              "line 2: not a text: it has a byte 0");
    CHECK_STR(show(std::string(2000, ',') + "\n").c_str(), "line 1: too many columns");

    // integers, as they are and as spreadsheets write them
    static gpumbi_line l;
    const gpumbi_field *seed = &gpumbi_row_fields[GPUMBI_COLUMN_seed];
    CHECK(gpumbi_read_field(seed, &l, "18446744073709551615") && l.result.seed == UINT64_MAX);
    CHECK(gpumbi_read_field(seed, &l, "9007199254740993"));
    CHECK(l.result.seed == 9007199254740993u); // 2^53 + 1 is no double
    CHECK(gpumbi_read_field(seed, &l, "1.5E+10") && l.result.seed == 15000000000u);
    CHECK(gpumbi_read_field(seed, &l, "1e30") && l.result.seed == UINT64_MAX);
    CHECK(!gpumbi_read_field(seed, &l, "-1") && !gpumbi_read_field(seed, &l, "7x"));
}

static const std::string row = "{\"bench\": \"b\", \"kernel\": \"k\", \"status\": \"ok\", "
                               "\"median_s\": 2, \"ci_lo_s\": 1, \"ci_hi_s\": 3";

static std::string json(const std::string &rows)
{
    return "{\"schema\": 1, \"device\": {\"name\": \"x\", \"rows\": [1, {\"a\": [true]}]},\n"
           "\"rows\": [" +
           rows + "\n],\n\"notes\": [\"one\", null, -1.5e3, {}, []]}\n";
}

static void test_json()
{
    const std::string right = "b/k n=1 1 2 [1 3] 1 [0 0]\n";
    const std::string axes = ", \"axes\": {\"n\": 1}}";
    CHECK_STR(show(json(row + axes)).c_str(), right.c_str());
    CHECK_STR(show("\xef\xbb\xbf \r\n\t" + json(row + axes)).c_str(), right.c_str());
    CHECK_STR(show(json(row + ", \"bytes\": null, \"x\": {\"bench\": \"z\"}" + axes)).c_str(),
              right.c_str());
    CHECK_STR(show(json(row + axes + ",\n" + row + ",\"axes\":{}}")).c_str(),
              (right + "b/k 1 2 [1 3] 1 [0 0]\n").c_str());
    CHECK_STR(show(json(row + ", \"axes\": {\"bench\": \"\\\"\\\\\\/\\n\\u000a\\u00e9\\u20ac\", "
                              "\"m\": -5, \"o\": null}}"))
                  .c_str(),
              "b/k bench=\"\\/\n\n\xc3\xa9\xe2\x82\xac m=-5 1 2 [1 3] 1 [0 0]\n");

    // \u escapes at the limits of UTF-8's lengths, in either case, before bytes of all kinds
    static const char *const escaped[][2] = {
        {"\\u0001", "\x01"},
        {"\\u001f", "\x1f"},
        {"\\u007f", "\x7f"},
        {"\\u0080", "\xc2\x80"},
        {"\\u00Aa", "\xc2\xaa"},
        {"\\u07ff", "\xdf\xbf"},
        {"\\u0800", "\xe0\xa0\x80"},
        {"\\ud7ff", "\xed\x9f\xbf"},
        {"\\ue000", "\xee\x80\x80"},
        {"\\uFfFf", "\xef\xbf\xbf"},
        {"\\ud800\\udc00", "\xf0\x90\x80\x80"},
        {"\\ud83d\\uDE00", "\xf0\x9f\x98\x80"},
        {"\\udbff\\udfff", "\xf4\x8f\xbf\xbf"},
        {" \x7f", " \x7f"},
    };
    static const char *const behind[] = {"", "0", "f", "\x80", "\xbf", "\xc3\xa9", "\\u0041"};
    for (size_t i = 0; i < sizeof escaped / sizeof escaped[0]; i++)
        for (size_t b = 0; b < sizeof behind / sizeof behind[0]; b++) {
            const std::string tail = behind[b][0] == '\\' ? "A" : behind[b];
            CHECK_STR(
                show(json(row + ", \"axes\": {\"m\": \"" + escaped[i][0] + behind[b] + "\"}}"))
                    .c_str(),
                ("b/k m=" + std::string(escaped[i][1]) + tail + " 1 2 [1 3] 1 [0 0]\n").c_str());
        }

    static const char *const wrong[][2] = {
        {"{}", "line 1: there are no rows"},
        {"{\"rows\": []}", "line 1: there are no rows"},
        {"{\"rows\":\n[1, 2]}", "line 2: there are no rows"},
        {"{\"rows\":\n[{}]}", "line 2: there is no bench"},
        {"{\"a\" 1}", "line 1: not \"name\": value"},
        {"{\n1: 2}", "line 2: not \"name\": value"},
        {"{\"a\": 1 2}", "line 1: a comma or bracket is missing"},
        {"{\"a\": [1}", "line 1: a comma or bracket is missing"},
        {"{\"a\": 1,}", "line 1: not \"name\": value"},
        {"{\"a\": nul}", "line 1: not a JSON value: nul"},
        {"{\"a\": }", "line 1: not a JSON value: "},
        {"{\"a\": NaN}", "line 1: not a JSON value: NaN"},
        {"{\"a\": \"\n\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\x\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\u00g0\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\u12g4\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\u0000\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\ud83d\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\ud83d\\ud83d\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\ude00\\ud83d\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\udc00\\udc00\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\u00\x10"
         "0\"}",
         "line 1: not a JSON text"},
        {"{\"a\": \"\\u000", "line 1: not a JSON text"},
        {"{\"a\": \"\x1f\"}", "line 1: not a JSON text"},
        {"{\"a\": 1} 2", "line 1: text after the last bracket"},
        {"{", "line 1: the file ends too early"},
        {"{\"a", "line 1: the file ends too early"},
        {"{\"a\"", "line 1: the file ends too early"},
        {"{\"a\":", "line 1: the file ends too early"},
        {"{\"a\": \"\\", "line 1: not a JSON text"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_STR(show(wrong[i][0]).c_str(), wrong[i][1]);
    CHECK_STR(show("{\"a\": " + std::string(100000, '[')).c_str(), "line 1: nested too deeply");
    for (size_t deep : {size_t(31), size_t(32)}) // inside of the first
        CHECK_STR(show("{\"a\": " + std::string(deep, '[') + std::string(deep, ']') + "}").c_str(),
                  deep < 32 ? "line 1: there are no rows" : "line 1: nested too deeply");
    CHECK_STR(show(json(row + axes + ",\n{\"bench\": \"b\"}")).c_str(),
              "line 3: there is no kernel");

    // cut anywhere, or with a byte changed: it is read or refused, and nothing else happens
    const std::string whole = json(row + axes + ", " + row + axes);
    const std::string table = head + ",n\nb,k,ok,2,1,3,1\n\"b\",k,ok,2,1,3,\"1\"\n";
    int read = 0;
    for (size_t i = 0; i + 2 < whole.size(); i++)
        read += show(whole.substr(0, i)).find("line") != 0;
    CHECK_INT(read, 0);
    for (size_t i = 0; i < table.size(); i++)
        show(table.substr(0, i));
    for (int i = 0; i < 4000; i++) {
        std::string text = i % 2 ? whole : table;
        text[(size_t)(random_uniform() * (double)text.size())] =
            "{}[]\",:\\\n\r01x\xff"[(int)(random_uniform() * 14)];
        read += show(text).find("line") != 0;
    }
    CHECK_CASE(read > 10 && read < 4000, "%d of 4000 were read", read);
}

// ---- what is written is read ----

static unsigned names_of(const gpumbi_field *f)
{
    unsigned count = 0;
    while (f->names[count])
        count++;
    return count;
}

// Something for a field, of all its sizes; texts with all that has to be quoted.
static void randomize(const gpumbi_field *f, void *base, double *medians, int processes)
{
    static const char *const piece[] = {"a",  ",",    "\"",   "\n",       "\r",
                                        "\\", "\x1f", "\x01", "\xc3\xa9", "\xe2\x82\xac",
                                        " ",  ";",    "null"};
    char *at = (char *)base + f->at, text[256] = "";
    uint64_t count = random_bits() >> (random_bits() & 63);
    double number = (0.5 + random_uniform()) * exp(60 * (random_uniform() - 0.5));
    int whole = (int)(random_bits() & 0x7fffffff);
    switch (f->kind) {
    case GPUMBI_IS_TEXT:
        for (size_t i = random_bits() % 9; i-- > 0;)
            strcat(text, piece[random_bits() % 13]);
        gpumbi_copy_text(at, f->size, text);
        return;
    case GPUMBI_IS_COUNT:
        memcpy(at, &count, sizeof count);
        return;
    case GPUMBI_IS_LIST:
        for (int i = 0; i < processes; i++)
            medians[i] = (0.5 + random_uniform()) * 1e-6;
        memcpy(at, &medians, sizeof medians);
        return;
    case GPUMBI_IS_MEGA:
    case GPUMBI_IS_GIGA:
        number = floor(random_uniform() * 1e15 / (double)(1 + count % 1000000)); // Hz, byte/s
        memcpy(at, &number, sizeof number);
        return;
    case GPUMBI_IS_NUMBER:
        memcpy(at, &number, sizeof number);
        return;
    case GPUMBI_IS_NAME:
        whole = (int)(random_bits() % names_of(f));
        break;
    case GPUMBI_IS_BITS:
        whole = (int)(random_bits() & ((1u << names_of(f)) - 1));
        break;
    default:
        whole >>= random_bits() % 31;
    }
    whole = f->known == GPUMBI_IF_NOT_NEGATIVE && random_bits() % 4 == 0 ? -1 : whole;
    memcpy(at, &whole, sizeof whole);
}

// As a row of the library: what can't be known is not there, and intervals hold what they should.
static void random_line(gpumbi_line *l, double medians[GPUMBI_PROCESSES])
{
    gpumb_result *r = &l->result;
    const int processes = (int)(random_bits() % (GPUMBI_PROCESSES + 1));
    char text[GPUMBI_CELL];
    memset(l, 0, sizeof *l);
    for (int i = 0; i < GPUMBI_COLUMNS_FIXED; i++)
        randomize(&gpumbi_row_fields[i], l, medians, processes);
    r->time.count = r->status == GPUMB_STATUS_OK ? r->time.count % 40 + 1 : 0;
    r->time.ci_lo = r->time.median * random_uniform();
    r->time.ci_hi = r->time.median / random_uniform();
    r->comparison.lo = r->comparison.ratio * random_uniform();
    r->comparison.hi = r->comparison.ratio / random_uniform();
    r->processes = processes;
    r->process_hi_s = r->process_lo_s * 2;
    if (!processes) {
        r->process_lo_s = r->process_hi_s = 0;
        r->process_medians_s = NULL;
    }
    for (int i = 0; i < GPUMBI_COLUMNS_FIXED; i++) {
        const gpumbi_field *f = &gpumbi_row_fields[i];
        if (!gpumbi_field_text(f, l, r, text)[0] && f->kind != GPUMBI_IS_LIST)
            gpumbi_read_field(f, l, "");
    }
    r->time.effective = r->time.count < 6 ? (double)r->time.count : r->time.effective;
}

// Fields of a row and of a device that are not the same after the way through a file.
static std::string differences(const gpumbi_field *fields, int count, const void *a, const void *b)
{
    std::string names;
    for (int i = 0; i < count; i++) {
        const char *x = (const char *)a + fields[i].at, *y = (const char *)b + fields[i].at;
        const bool same = fields[i].kind == GPUMBI_IS_TEXT   ? !strcmp(x, y)
                          : fields[i].kind == GPUMBI_IS_LIST ? true // behind a pointer
                                                             : !memcmp(x, y, fields[i].size);
        if (!same)
            names += std::string(names.empty() ? "" : " ") + fields[i].name;
    }
    return names;
}

static gpumbi_records *read_back(FILE *file)
{
    fflush(file);
    rewind(file);
    gpumbi_records *t = gpumbi_read_records(reader, fileno(file), SIZE_MAX, 0, 0);
    fclose(file);
    return t;
}

// Of a few samples, whose number is not written: as a replay has it.
static double effective_of(const gpumbi_records *t)
{
    static gpumbi_line line;
    gpumbi_read_line(&t->rows[0], &line);
    return line.result.time.effective;
}

// Named values of a row, known and unknown, behind an axis.
static gpumbi_values random_values(gpumbi_line *l)
{
    static const char *const name[] = {"plain", "a \"b\", c", "\xc3\xa9"};
    gpumbi_values values;
    values.count = 0;
    l->values[0] = 0;
    for (int i = 0; i < 3; i++)
        if (random_bits() % 3) {
            const double value = (random_uniform() - 0.5) * exp(60 * (random_uniform() - 0.5));
            gpumbi_put_value(reader, &values, gpumbi_need_column(reader, name[i], GPUMBI_OWN),
                             random_bits() % 4 ? value : HUGE_VAL);
            gpumbi_list(l->values, sizeof l->values, name[i]);
        }
    return values;
}

// Whether the cells behind the fixed columns are those of the row: the axis, then its values, in
// their order and unknown ones, too.
static bool same_cells(const gpumbi_records *t, const gpumbi_values *values)
{
    const gpumbi_record *r = &t->rows[0];
    const gpumbi_cell *cell = t->axes + r->first_axis;
    bool same = r->axes == 1 && !strcmp(cell->name, "side") && !strcmp(cell->text, "-7") &&
                r->values == (size_t)values->count;
    for (int i = 0; same && i < values->count; i++) {
        const gpumbi_cell *own = &cell[1 + i];
        const double value = strtod(own->text, NULL);
        same = !strcmp(own->name, reader->columns.name[values->at[i].column]) &&
               (isfinite(values->at[i].value) ? !memcmp(&value, &values->at[i].value, sizeof value)
                                              : !own->text[0]);
    }
    return same;
}

static gpumbi_records *through(const gpumbi_line *l, gpumbi_values *values, int as_json)
{
    FILE *file = tmpfile();
    gpumbi_row one;
    memset(&one, 0, sizeof one);
    one.result = l->result;
    one.values = values;
    one.point.depth = 1;
    one.point.at[0].column = gpumbi_need_column(reader, "side", GPUMBI_AXIS);
    one.point.at[0].value = -7;
    reader->sinks.sink[GPUMBI_JSON].entries = 0;
    if (as_json) {
        gpumbi_json_frame(reader, file, 1);
        gpumbi_json_row(reader, file, &one);
        fputs("]}", file);
    } else {
        gpumbi_csv_row(reader, file, NULL);
        gpumbi_csv_row(reader, file, &one);
    }
    return read_back(file);
}

// All bytes of a struct that hold something are those of fields.
template <class T>
static void covered(const char *what, const gpumbi_field *fields, int count, size_t from)
{
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
    std::vector<unsigned char> field(from + sizeof(T) + 4096);
    T probe;
    memset(&probe, 0xff, sizeof probe);
    __builtin_clear_padding(&probe);
    for (int i = 0; i < count; i++)
        memset(&field[fields[i].at], 1, fields[i].size);
    size_t missing = 0;
    for (size_t i = 0; i < sizeof probe; i++)
        missing += ((const unsigned char *)&probe)[i] && !field[from + i];
    CHECK_CASE(missing == 0, "%zu bytes of %s are in no field", missing, what);
#else
    SKIP("which bytes of a struct are padding: needs gcc 11");
    (void)what, (void)fields, (void)count, (void)from;
#endif
}

static void test_round_trip()
{
    covered<gpumb_result>("gpumb_result", gpumbi_row_fields, GPUMBI_COLUMNS_FIXED,
                          offsetof(gpumbi_line, result));
    covered<gpumb_device>("gpumb_device", gpumbi_device_fields, GPUMBI_DEVICE_COUNT,
                          offsetof(gpumbi_head, device));
    static double medians[GPUMBI_PROCESSES];
    static gpumbi_line line;
    const gpumb_device device = reader->device;
    int lists = 0;
    for (int i = 0; i < 400; i++) {
        random_line(&line, medians);
        gpumbi_values values = random_values(&line);
        gpumbi_head written;
        memset(&written, 0, sizeof written);
        for (int f = 0; f < GPUMBI_DEVICE_COUNT; f++)
            randomize(&gpumbi_device_fields[f], &written, NULL, 0);
        written.emulated = 0;
        written.peak_source = 1;
        written.device.memory_clock_hz = 1.5e9; // twice this, by 512 bytes
        written.device.bus_width_bits = 4096;
        written.device.peak_bytes_per_s = 1536e9;
        reader->device = written.device;
        gpumbi_fill_line(reader, &line.result, &line);
        for (int as_json = 0; as_json < 2; as_json++) {
            gpumbi_records *t = through(&line, &values, as_json);
            CHECK_STR(t->wrong, "");
            CHECK(same_cells(t, &values));
            t->now.result.time.effective = effective_of(t);
            CHECK_STR(t->rows[0].text[GPUMBI_COLUMN_gpumb], GPUMB_VERSION);
            CHECK(!strcmp(t->rows[0].text[GPUMBI_COLUMN_settings], reader->sinks.settings));
            gpumbi_copy_text(line.version, sizeof line.version, as_json ? "" : GPUMB_VERSION);
            gpumbi_copy_text(line.settings, sizeof line.settings,
                             as_json ? "" : reader->sinks.settings);
            CHECK_STR(differences(gpumbi_row_fields, GPUMBI_COLUMNS_FIXED, &line, &t->now).c_str(),
                      "");
            for (int k = 0; k < line.result.processes; k++)
                if (t->now.medians[k] < medians[k] || t->now.medians[k] > medians[k])
                    CHECK(false); // a median of a process
            CHECK((t->now.result.process_medians_s != NULL) == (line.result.processes > 0));
            if (as_json)
                CHECK_STR(differences(gpumbi_device_fields, GPUMBI_DEVICE_COUNT, &written, &t->head)
                              .c_str(),
                          "");
            lists += line.result.processes > 1;
        }
    }
    CHECK(lists > 200);

    // a warm-up that is left out, -1 in the settings, is one of 0 s
    random_line(&line, medians);
    reader->settings.warmup_s = -1;
    gpumbi_values empty = random_values(&line);
    gpumbi_records *cold = through(&line, &empty, 1);
    CHECK_STR(cold->wrong, "");
    CHECK(cold->head.settings.warmup_s >= 0 && cold->head.settings.warmup_s <= 0);

    // what is no number is unknown
    random_line(&line, medians);
    line.result.status = GPUMB_STATUS_SKIPPED;
    line.result.gbps = NAN;
    line.result.power_w = HUGE_VAL;
    line.result.occupancy = -HUGE_VAL;
    gpumbi_values none = random_values(&line);
    for (int as_json = 0; as_json < 2; as_json++) {
        gpumbi_records *t = through(&line, &none, as_json);
        CHECK_STR(t->wrong, "");
        CHECK(!(t->now.result.gbps > 0) && !(t->now.result.power_w > 0));
        CHECK_NEAR(t->now.result.occupancy, -1, 0);
    }
    reader->device = device;
}

static int refuse(gpumb *g, void *)
{
    gpumb_reason(g, "no, \"never\"");
    return 0;
}

// Rows as they are measured, in all their kinds.
static void test_real_rows()
{
    static const char csv[] = "build/records.csv";
    std::vector<gpumb_result> rows;
    fake_reset();
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.csv = csv;
    s.max_samples = 40;
    gpumb *g = gpumb_open_settings("rows", &s);
    GPUMB_INTERLEAVE(g) {
        gpumb_set_bytes(g, 1099511627777.0);
        GPUMB_MEASURE(g, "one") {
            fake_run(100e-6 + 1e-9 * (double)(fake_runs * 7 % 11));
        }
        GPUMB_MEASURE(g, "two") {
            fake_run(103e-6 + 1e-9 * (double)(fake_runs * 5 % 13));
        }
    }
    gpumb_set_verify(g, refuse, NULL);
    GPUMB_MEASURE(g, "wrong") {
        fake_run(1e-4);
    }
    gpumb_skip(g, "not now");
    GPUMB_MEASURE(g, "skipped") {
        fake_run(1e-4);
    }
    g->settings.max_samples = 4;
    g->settings.min_samples = 2;
    gpumb_set_timing(g, GPUMB_TIMING_HOST);
    GPUMB_MEASURE(g, "few") {
        fake_run(1e-3 + 1e-7 * (double)(fake_runs * 7 % 11));
    }
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        rows.push_back(*gpumb_row(g, i));
    gpumb_close(g);
    const std::string text = read_file(csv);
    size_t at = text.find('\n') + 1;
    CHECK_INT(rows.size(), 5);
    for (size_t i = 0; i < rows.size(); i++) {
        static gpumbi_line line;
        line.result = rows[i];
        const size_t end = text.find('\n', at) + 1;
        gpumbi_records *t =
            read_text(text.substr(0, text.find('\n') + 1) + text.substr(at, end - at));
        CHECK_STR(t->wrong, "");
        t->now.result.time.effective = effective_of(t);
        for (int f = 0; f < GPUMBI_COLUMNS_FIXED; f++)
            if (gpumbi_row_fields[f].at >= offsetof(gpumbi_line, result))
                CHECK_STR(differences(&gpumbi_row_fields[f], 1, &line, &t->now).c_str(), "");
        at = end;
    }
}

// The medians of other processes, as if they had run, in the order in which they did; that of one
// is missing in the second row.
static void test_other_processes()
{
    static const double medians[] = {3e-4, 2e-4, 4e-4};
    fake_reset();
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    gpumb *g = gpumb_open_settings("others", &s);
    g->settings.processes = 4;
    for (int i = 0; i < 3; i++) {
        const std::string median = std::to_string(medians[i]) + ",,\n";
        gpumbi_records *t = read_text(head + "\nothers,one,ok," + median +
                                      (i == 1 ? "" : "others,two,ok," + median));
        CHECK_STR(t->wrong, "");
        gpumbi_index_records(g, t, NULL);
        t->next = g->children.rows;
        g->children.rows = t;
    }
    GPUMB_MEASURE(g, "one") {
        fake_run(1e-4);
    }
    GPUMB_MEASURE(g, "two") {
        fake_run(1e-4);
    }
    for (size_t row_number = 0; row_number < 2; row_number++) {
        const gpumb_result *r = gpumb_row(g, row_number);
        const int count = row_number ? 3 : 4;
        CHECK_INT(r->processes, count);
        if (!CHECK(r->process_medians_s != NULL))
            continue;
        CHECK_NEAR(r->process_medians_s[0], 3e-4, 0);
        CHECK_NEAR(r->process_medians_s[1], row_number ? 4e-4 : 2e-4, 0);
        CHECK_NEAR(r->process_medians_s[count - 2], 4e-4, 0);
        CHECK_NEAR(r->process_medians_s[count - 1], r->time.median, 0);
        CHECK_NEAR(r->process_lo_s, r->time.median, 0);
        CHECK_NEAR(r->process_hi_s, 4e-4, 0);
    }
    CHECK_INT(gpumb_close(g), 0);
}

// Processor time of reading a text with so many escapes; the least of three, in clock ticks.
static clock_t escapes_take(size_t count)
{
    std::string text;
    clock_t least = 0;
    for (size_t i = 0; i < count; i++)
        text += "\\u00e9";
    text = json(row + ", \"axes\": {\"m\": \"" + text + "\"}}");
    for (int i = 0; i < 3; i++) {
        const clock_t start = clock();
        gpumbi_records *t = read_text(text);
        const clock_t spent = clock() - start;
        CHECK_INT(t->count, 1);
        least = i && least < spent ? least : spent;
    }
    return least;
}

// Eight times the escapes take eight times as long, not 64 times.
static void test_escapes()
{
    const clock_t few = escapes_take(20000), many = escapes_take(160000);
    CHECK_CASE(many < 32 * few + CLOCKS_PER_SEC / 20, "%ld and %ld ticks", (long)few, (long)many);
}

// A hundred thousand rows, all different or all alike: no time that grows with the square.
static void test_many()
{
    std::string rows[2] = {head + ",n\n", head + ",n\n"};
    for (int i = 0; i < 100000; i++) {
        rows[0] += "b,k,ok,2,1,3," + std::to_string(i) + "\n";
        rows[1] += "b,k,ok," + std::to_string(i + 1) + ",,,7\n";
    }
    for (int alike = 0; alike < 2; alike++) {
        gpumbi_records *t = read_text(rows[alike]);
        CHECK_INT(t->count, 100000);
        gpumbi_index_records(reader, t, NULL);
        int found = 0, in_order = 0;
        for (int i = 0; i < 100001; i++) {
            const std::string text = alike ? "7" : std::to_string(100000 - i);
            const gpumbi_cell cell = {"n", text.c_str()};
            const gpumbi_record *r = gpumbi_take(t, gpumbi_key(NULL, 1, "b", &cell, 1), "k");
            found += r != NULL;
            in_order += r && r->time.at > i && r->time.at < i + 2;
        }
        CHECK_INT(found, 100000);
        CHECK_INT(alike ? in_order : 100000, 100000);
        CHECK_INT(t->several, alike);
    }
}

// Keys are sums over the axes, and yet those of a grid are all different, also when values change
// places; the order of the axes does not matter.
static void test_keys()
{
    std::vector<uint64_t> keys;
    char text[2][16];
    for (int a = 0; a < 300; a++)
        for (int b = 0; b < 300; b++) {
            snprintf(text[0], sizeof text[0], "%d", a);
            snprintf(text[1], sizeof text[1], "%d", b);
            const gpumbi_cell there[] = {{"n", text[0]}, {"m", text[1]}};
            const gpumbi_cell back[] = {{"m", text[1]}, {"n", text[0]}};
            keys.push_back(gpumbi_key(NULL, 1, "b", there, 2));
            if (gpumbi_key(NULL, 1, "b", back, 2) != keys.back())
                CHECK(false); // the order of axes
        }
    std::sort(keys.begin(), keys.end());
    CHECK(std::unique(keys.begin(), keys.end()) == keys.end());
    CHECK(gpumbi_key(NULL, 1, "ab", NULL, 0) != gpumbi_key(NULL, 1, "a", NULL, 0));
    // As spreadsheets write numbers; but names are themselves.
    const gpumbi_cell number = {"version", "1.1"}, same = {"version", "1.10"};
    const int column = gpumbi_need_column(reader, "version", GPUMBI_AXIS);
    for (int named = 0; named < 2; named++) {
        reader->columns.named[column] = named;
        CHECK_INT(gpumbi_key(reader, 1, "b", &number, 1) == gpumbi_key(reader, 1, "b", &same, 1),
                  !named);
    }
    const gpumbi_cell whole = {"n", "12"}, parts = {"n1", "2"};
    CHECK(gpumbi_key(NULL, 1, "b", &whole, 1) != gpumbi_key(NULL, 1, "b", &parts, 1));
}

int main()
{
    fake_reset();
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    reader = gpumb_open_settings("test_records", &s);
    reader->benchmarks.by_main = 1;
    test_csv();
    test_json();
    test_round_trip();
    test_real_rows();
    test_escapes();
    test_other_processes();
    test_many();
    test_keys();
    CHECK_INT(gpumb_close(reader), 0);
    CHECK_INT(live_allocations, 0);
    remove(path);
    return CHECK_SUMMARY();
}
