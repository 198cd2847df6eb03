"""Breaks gpumb.h in small ways, one at a time, and demands that a test of that section fails.

    tests/mutate.py [NUMBER ...]    all mutations, or these

Each replaces one piece of text that stands in the header exactly once: else the header has changed,
and the table below is to follow. What is broken is a copy in build/mutate, and of the tests only
the one that is named is built, without optimising. Each of these also runs on the header as it is.
"""

import concurrent.futures
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "mutate"
SECONDS = 120  # of a processor, for a test, however busy the machine is; what hangs fails, too
HANGS_S = 900

# test, text, what takes its place
MUTATIONS = [
    # ---- text ----
    ("table", "u < 3 && value >= 999.95", "u < 3 && value >= 1000"),
    ("sweeps", "power < 0 || power > 62", "power < 0 || power > 61"),
    ("sweeps", "sum > INT64_MAX / suffix[s].factor", "sum > INT64_MAX"),
    ("regions", "(from[length] & 0xC0) == 0x80;)", "(from[length] & 0xC0) == 0x40;)"),
    ("files", "{0, 0, 0x80, 0x800, 0x10000}", "{0, 0, 0x80, 0x7ff, 0x10000}"),
    ("files", "{0, 0, 0x80, 0x800, 0x10000}", "{0, 0, 0x80, 0x801, 0x10000}"),
    ("records", "code > 0x7ff ? 2 :", "code > 0x800 ? 2 :"),
    ("files", "value - 0xd800 < 0x800 ||", "value - 0xd800 < 0x7ff ||"),
    ("files", "value > 0x10ffff;", "value >= 0x10ffff;"),
    ("files", "code < 0x20 || code - 0x7f < 0x21", "code < 0x1f || code - 0x7f < 0x21"),
    ("files", "code < 0x20 || code - 0x7f < 0x21", "code < 0x20 || code - 0x7f < 0x20"),
    # ---- emulation ----
    (
        "emulation",
        "if (w->arrived && w->arrived == w->alive_count && !w->elsewhere)",
        "if (w->arrived && w->arrived == w->alive_count && !w->elsewhere && w->barrier->wait < 3)",
    ),
    (
        "emulation",
        "w->elsewhere |= w->barrier != here;",
        "w->elsewhere |= w->barrier->line != here->line;",
    ),
    ("emulation", "w->tally == w->arrived", "w->tally == w->threads"),
    ("emulation", "return x <= at ? lane - x : lane;", "return x < at ? lane - x : lane;"),
    ("emulation", "return x < width - at ? lane + x", "return x <= width - at ? lane + x"),
    ("emulation", "return base + (x & (width - 1));", "return base + x;"),
    ("emulation", "if (!(mask & bit)) {", "if (!mask) {"),
    # ---- buffers ----
    (
        "regions",
        "i < GPUMBI_GUARD; i++)\n            if (guard",
        "i < GPUMBI_GUARD - 1; i++)\n            if (guard",
    ),
    (
        "regions",
        "i < GPUMBI_GUARD; i++)\n            if (guard",
        "i < 1; i++)\n            if (guard",
    ),
    # ---- statistics ----
    ("statistics", "count % 2 ? 2 * p : p;", "2 * p;"),
    ("statistics", "p *= l / (n - l + 1);", "p *= l / (n - l);"),
    ("statistics", "count > 4 ? 3 * (s.q3 - s.q1)", "count > 4 ? 2.9 * (s.q3 - s.q1)"),
    ("statistics", "count % 2 ? last : (previous + last) / 2", "last"),
    ("statistics", "squares / gpumbi_real(count - 1)", "squares / gpumbi_real(count)"),
    ("series_shape", "stopped ? 15 :", "stopped ? 14 :"),
    ("series_shape", "gpumbi_min(15, 2 + 400 / n)", "gpumbi_min(14, 2 + 400 / n)"),
    ("series_shape", "(time - 1) * sqrt(time) / n", "(time - 1) / n"),
    ("series_shape", "* (1 + short_of), 1.5 * n);", "* (1 + short_of), 2 * n);"),
    ("series_shape", "look + look / 2 + 1", "look + look / 4 + 1"),
    ("series_shape", "GPUMBI_CLASSIFIED = 30", "GPUMBI_CLASSIFIED = 31"),
    ("series_shape", "pairs < 0.1 * squares", "pairs < 0.07 * squares"),
    ("series_shape", "pairs < 0.1 * squares", "pairs < 0.15 * squares"),
    ("series_shape", "middle - 13 * part", "middle - 12 * part"),
    ("series_shape", "middle + 13 * part", "middle + 14 * part"),
    ("series_shape", "gpumbi_min((24 - n) / 10, 1)", "gpumbi_min((24 - n) / 8, 1)"),
    ("series_shape", "<= (9 + 50 / gpumbi_real(count))", "<= (10 + 50 / gpumbi_real(count))"),
    ("series_shape", "<= (9 + 50 / gpumbi_real(count))", "<= (8 + 50 / gpumbi_real(count))"),
    ("series_shape", "<= (9 + 50 / gpumbi_real(count))", "<= (9 + 75 / gpumbi_real(count))"),
    ("series_shape", "<= (9 + 50 / gpumbi_real(count))", "<= (9 + 30 / gpumbi_real(count))"),
    ("series_shape", "again > 0.65 + 2.5", "again > 0.75 + 2.5"),
    ("series_shape", "again > 0.65 + 2.5", "again > 0.55 + 2.5"),
    ("series_shape", "again > 0.65 + 2.5", "again > 0.65 + 4"),
    ("series_shape", "again > 0.65 + 2.5", "again > 0.65 + 1.5"),
    ("series_shape", "gpumbi_max(least, 3 * usual)", "gpumbi_max(least, 2.5 * usual)"),
    ("series_shape", "gpumbi_max(least, 3 * usual)", "gpumbi_max(least, 3.5 * usual)"),
    ("series_shape", "drawn - 4 * drawn / sqrt(all)", "drawn - 3 * drawn / sqrt(all)"),
    ("series_shape", "drawn - 4 * drawn / sqrt(all)", "drawn - 5 * drawn / sqrt(all)"),
    ("series_shape", "apart >= 4 * quantum", "apart >= 3 * quantum"),
    ("series_shape", "switches >= 6", "switches >= 7"),
    ("series_shape", "switches >= 6", "switches >= 5"),
    ("series_shape", "2 + sqrt(gpumbi_real(pairs)))", "2 + 1.5 * sqrt(gpumbi_real(pairs)))"),
    ("series_shape", "2 + sqrt(gpumbi_real(pairs)))", "2 + 0.5 * sqrt(gpumbi_real(pairs)))"),
    ("series_shape", "fabs(late) / 2 > 0.125 * range", "fabs(late) / 2 > 0.25 * range"),
    (
        "series_shape",
        "gpumbi_min(rise, fall) > 0.35 * range",
        "gpumbi_min(rise, fall) > 1.35 * range",
    ),
    ("series_shape", "least = 1 / most;", "least = 1 - delta;"),
    ("series_shape", "return lo > most ", "return lo >= 1 "),
    ("series_shape", "delta / 2 : 2 * delta);", "delta / 2 : 4 * delta);"),
    ("series_shape", "delta / 2 : 2 * delta);", "delta : 2 * delta);"),
    ("series_shape", "1 - 0.05 / (comparisons > 1 ? comparisons : 1)", "1 - 0.05"),
    # ---- clock, sampling ----
    ("flags", "free_bytes / 4 < bytes", "free_bytes / 2 < bytes"),
    ("flags", "2 * gpumbi_real(bytes) * copies / median", "gpumbi_real(bytes) * copies / median"),
    ("series_shape", "GPUMBI_REPRODUCIBLE_GAP 0.007", "GPUMBI_REPRODUCIBLE_GAP 0"),
    ("series_shape", "GPUMBI_REPRODUCIBLE 0.0015", "GPUMBI_REPRODUCIBLE 0.001"),
    ("interleave", "GPUMBI_REPRODUCIBLE / 3,", "GPUMBI_REPRODUCIBLE / 4,"),
    ("interleave", "GPUMBI_REPRODUCIBLE_GAP / 2 *", "GPUMBI_REPRODUCIBLE_GAP / 3 *"),
    ("series_shape", "GPUMBI_QUANTA 0.58", "GPUMBI_QUANTA 0.29"),
    ("series_shape", "sure = (2.7 + 120.0 /", "sure = (2.9 + 120.0 /"),
    ("series_shape", "sure = (2.7 + 120.0 /", "sure = (2.5 + 120.0 /"),
    ("series_shape", "sure = (2.7 + 120.0 /", "sure = (2.7 + 180.0 /"),
    ("series_shape", "slope > 1.3 * error ", "slope > 1.5 * error "),
    ("series_shape", "slope > 1.3 * error ", "slope > 1.1 * error "),
    ("series_shape", "least - 2.3 / 2 * error", "least - 3 / 2 * error"),
    ("series_shape", "least - 2.3 / 2 * error", "least - 1.8 / 2 * error"),
    ("sampling", "!settled && !g->interleave.open &&", "!settled &&"),
    ("sampling", "spent_s + GPUMBI_STILL_S < g->settings.warmup_s &&", ""),
    ("device_state", "now_s - since_s >= 0.2 &&", "now_s - since_s >= 0.1 &&"),
    ("device_state", "runs * run_s >= 0.9 * seconds", "runs * run_s >= 0.5 * seconds"),
    # ---- sweeps ----
    ("row_costs", "a->count > 1000000)", "a->count > 1000001)"),
    ("sweeps", "&& !g->region.met)", "&& 0)"),
    ("sweeps", "value > INT64_MAX - step", "value >= INT64_MAX - step"),
    # ---- rows ----
    ("clock", "r->bytes >= 2 * footprint", "r->bytes > 2 * footprint"),
    ("flags", "r->time.median < 20 * d->interval_s", "r->time.median < 10 * d->interval_s"),
    ("flags", "sample_s < 20 * d->empty_kernel_s", "sample_s < 10 * d->empty_kernel_s"),
    ("flags", "sample_s < 100 * d->quantum_s", "sample_s < 50 * d->quantum_s"),
    ("flags", "r->pct_peak > 100 ||", "r->pct_peak > 110 ||"),
    ("flags", "r->pct_ceiling > 500", "r->pct_ceiling > 600"),
    ("flags", "if (r->time.count < 6)", "if (r->time.count < 5)"),
    ("clock", "gpumbi_min(waves / 16, 1)", "gpumbi_min(waves / 8, 1)"),
    ("clock", "s->kernel.block : 1), 32);", "s->kernel.block : 1), 24);"),
    ("clock", "? 2 * r->overhead_s", "? 1.5 * r->overhead_s"),
    # ---- sinks ----
    ("records", '",\\"\\r\\n")]', '",\\"\\n")]'),
    ("records", "        if (*text == '\"')\n            fputc('\"', file);\n", ""),
    (
        "records",
        "else if (code < 0x20 || code == GPUMBI_NO",
        "else if (code < 0x1f || code == GPUMBI_NO",
    ),
    ("records", "if (code == '\"' || code == '\\\\')", "if (code == '\"')"),
    ("interleave", 'c->lo > 0 ? gpumbi_write_short(c->lo, 4).text : "?"', '"0.0000"'),
    ("golden", "*c == '|' || (*c == '\\\\'", "(*c == '\\\\'"),
    ("files", "O_CREAT | O_EXCL,", "O_CREAT,"),
    ("files", "const int there = gpumbi_is_at(fd, part, 0);", "const int there = 1;"),
    ("files", "made && there && refused != EWOULDBLOCK", "made && there"),
    ("files", "&& !about.st_size)", "&& 0)"),
    ("files", "gpumbi_is_at(before.fd, part, 0) &&", ""),
    ("files", "!gpumbi_is_at(fd, from, 0) ||", ""),
    ("files", "gpumbi_lock(sink->fd);", ""),
    ("files", "gpumbi_cut(sink->fd, sink->end)", "0"),
    ("files", "sink->rows += row != NULL;", "sink->rows++;"),
    ("files", "|| g->process != getpid())", ")"),
    ("files", "errno != EINVAL && errno != ENOTSUP; /*", "errno != EINVAL; /*"),
    ("files", "errno != EINVAL && errno != ENOTSUP; /*", "errno != ENOTSUP; /*"),
    ("files", "while (lost && errno == EINTR);", "while (0);"),
    ("files", "rest[5] == '.'", "0"),
    ("files", "now_s > gpumbi_interrupted_s + 0.05", "1"),
    ("files", "before->sa_handler != SIG_IGN", "1"),
    # ---- comparison ----
    ("compare", "+ 4.9 / (j * j * j))", ")"),
    ("compare", "(0.42 + 2.4 / j", "(0.42 + 2 / j"),
    ("compare", "(0.42 + 2.4 / j", "(0.46 + 2.4 / j"),
    ("compare", "z * (8 * freedom + 3) / (8 * freedom + 1)", "z"),
    ("compare", "log(0.025 / gpumbi_max(", "log(0.05 / gpumbi_max("),
    ("records", "now->process_hi_s < now->process_lo_s", "0"),
    ("records", "if (depth == 32)", "if (depth == 31)"),
    ("records", "if (depth == 32)", "if (depth == 33)"),
    ("records", "code >> 10 == 0xd800 >> 10 &&", "code >> 11 == 0xd800 >> 11 &&"),
    ("compare", "gpumbi_min(b, n) < 4 ? z", "gpumbi_min(b, n) < 3 ? z"),
    ("records", "from[1] == '\\n' ? 2 : 1;", "0 ? 2 : 1;"),
    # ---- command line ----
    ("golden", "most > 10000000)", "most > 100000000)"),
    ("golden", "least < 1 || most < least", "least < 0 || most < least"),
    ("golden", "value, 1, 100,", "value, 1, 101,"),
    ("golden", "number < 0 || (number == 0 && !zero)", "number < 0"),
    ("golden", "0, INT_MAX, \"is too large\"", "0, UINT32_MAX, \"is too large\""),
    # ---- coalescing ----
    (
        "coalescing",
        "(address[lane] % size + elem - 1) / size + 1;",
        "(address[lane] % size + elem) / size + 1;",
    ),
    ("coalescing", "block % lanes)", "0)"),
]


def compile_and_run(folder, test):
    """Builds a test in the folder with its gpumb.h, and runs it: "passed", "failed" or the
    compiler's words."""
    source = next((ROOT / "tests").glob(f"test_{test}.c*"))
    (folder / "tests").mkdir(parents=True, exist_ok=True)
    for f in [source, *(ROOT / "tests").glob("*.h")]:
        shutil.copy(f, folder / "tests")
    shutil.copytree(ROOT / "tests" / "golden", folder / "tests" / "golden", dirs_exist_ok=True)
    is_c = source.suffix == ".c"
    compiler = os.environ.get("CC", "cc") if is_c else os.environ.get("CXX", "c++")
    command = [compiler, "-O0", "-pthread", f"-I{folder}", "-std=c99" if is_c else "-std=c++17"]
    if source.suffix == ".cu":
        command += ["-x", "c++", "-DGPUMB_IMPLEMENTATION=", "-DGPUMB_COPY=", "-DGPUMB_STRIDED="]
    command += [folder / "tests" / source.name, "-o", folder / f"test_{test}"] + ["-lm"] * is_c
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        return f"does not compile: {built.stderr[:500]}"
    try:
        ran = subprocess.run(
            ["sh", "-c", f"ulimit -t {SECONDS}; exec {folder}/test_{test}"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=HANGS_S,
            env={**os.environ, "CHECK_STOP": "1"},
        )
    except subprocess.TimeoutExpired:
        return "failed"
    return "failed" if ran.returncode else "passed"


def attempt(name, test, header):
    folder = BUILD / name
    folder.mkdir(parents=True)
    (folder / "gpumb.h").write_text(header)
    outcome = compile_and_run(folder, test)
    shutil.rmtree(folder)
    return outcome


def main():
    header = (ROOT / "gpumb.h").read_text()
    wanted = [int(a) for a in sys.argv[1:]] or range(1, len(MUTATIONS) + 1)
    chosen = [(n, *MUTATIONS[n - 1]) for n in wanted]
    shutil.rmtree(BUILD, ignore_errors=True)
    jobs = {}  # what is to come of it
    failures = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for test in sorted({test for _, test, _, _ in chosen}):
            jobs[pool.submit(attempt, test, test, header)] = f"{test}, unbroken", "passed"
        for n, test, old, new in chosen:
            what = f"{n}: {test}: {' '.join(old.split())} -> {' '.join(new.split())}"
            if header.count(old) != 1:
                failures.append(f"{what}: stands in gpumb.h {header.count(old)} times, not once")
                continue
            broken = header.replace(old, new)
            jobs[pool.submit(attempt, str(n), test, broken)] = what, "failed"
        for job in concurrent.futures.as_completed(jobs):
            what, expected = jobs[job]
            print(f"{what}: {job.result()}", file=sys.stderr, flush=True)
            if job.result() != expected:
                failures.append(f"{what}: {job.result()}")
    for line in sorted(failures):
        print("FAILED ", line)
    total = len(chosen) + len({test for _, test, _, _ in chosen})
    print(f"{total - len(failures)} passed, {len(failures)} failed, 0 skipped")
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())
