"""Breaks gpumb.h in small ways, one at a time, and demands that a test of that section fails.

    tests/mutate.py [NUMBER ...]    all mutations, or these
    tests/mutate.py --table         only whether each still has its place in the header

Each replaces one piece of text that stands in the header exactly once: else the header has changed,
and the table below is to follow. What is broken is a copy in build/mutate, and of the tests only
the one that is named is built, with -O1. Each of these also runs on the header as it is.
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
    # ---- platform ----
    ("devices", "<= 0 || strcmp(text, where))", "<= 0)"),
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
    # ---- what is left early ----
    ("regions", "if (g->region.active)\n        GPUMBI_EACH", "if (0)\n        GPUMBI_EACH"),
    ("regions", "gpumbi_next_region(g);\n    gpumbi_leave_sweeps(", "gpumbi_leave_sweeps("),
    ("regions", "g->sweep.left = 1;\n    gpumbi_end", "gpumbi_end"),
    ("sweeps", "g->sweep.left = 1; /*", "/*"),
    ("regions", "g->sweep.left = 0;", ""),
    ("regions", "if (ends && !outer)\n        gpumbi_sweep_end(g);", ""),
    ("closed", "g->region.active || g->region.left ||", ""),
    ("closed", " || g->region.left ||", " ||"),
    ("compare", "while (g->blocks)", "while (0)"),
    (
        "calls",
        "gpumbi_next_region(g);\n    if (!g->region.active &&",
        "if (!g->region.active &&",
    ),
    # ---- contexts ----
    ("contexts", "if (g->launch_fails && g->trouble[0] && !g->done) {", "if (0) {"),
    (
        "regions",
        "gpumbi_interleave_left(g);\n    gpumbi_close_sweeps(g);",
        "gpumbi_close_sweeps(g);",
    ),
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
    ("series_shape", "gpumbi_min(15, 1 + 400 / n)", "gpumbi_min(14, 1 + 400 / n)"),
    ("series_shape", "(time - 1) * sqrt(time) / n", "(time - 1) / n"),
    ("series_shape", "* (1 + short_of), 1.5 * n);", "* (1 + short_of), 2 * n);"),
    ("series_shape", "look + look / 2 + 1", "look + look / 4 + 1"),
    ("series_shape", "GPUMBI_CLASSIFIED = 30", "GPUMBI_CLASSIFIED = 31"),
    ("series_shape", "pairs < 0.1 * squares", "pairs < 0.07 * squares"),
    ("series_shape", "pairs < 0.1 * squares", "pairs < 0.15 * squares"),
    ("series_shape", "tail = count / 20", "tail = count / 21"),
    ("series_shape", "sorted[last - tail] + range);", "sorted[last]);"),
    ("series_shape", "middle - reach * part", "middle - 0.92 * reach * part"),
    ("series_shape", "middle + reach * part", "middle + 1.08 * reach * part"),
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
    ("series_shape", "sure = (2.9 + 120.0 /", "sure = (3.1 + 120.0 /"),
    ("series_shape", "sure = (2.9 + 120.0 /", "sure = (2.7 + 120.0 /"),
    ("series_shape", "sure = (2.9 + 120.0 /", "sure = (2.9 + 180.0 /"),
    ("series_shape", "slope > 1.3 * error ", "slope > 1.5 * error "),
    ("series_shape", "slope > 1.3 * error ", "slope > 1.1 * error "),
    ("series_shape", "least - 2.3 / 2 * error", "least - 3 / 2 * error"),
    ("series_shape", "least - 2.3 / 2 * error", "least - 1.8 / 2 * error"),
    ("compare", "apart += scratch[k] < all.ratio || scratch[k] > all.ratio", "apart++"),
    ("sampling", "!settled && !g->interleave.open &&", "!settled &&"),
    ("sampling", "spent_s + GPUMBI_STILL_S < g->settings.warmup_s &&", ""),
    ("sampling", "s->samples.spent_s >= wanted->least_s)", "1)"),
    ("sampling", "GPUMBI_FIRST_S 450e-3", "GPUMBI_FIRST_S 350e-3"),
    ("sampling", "gpumbi_warmed_device != g->device.ordinal + 1;", "1;"),
    ("sampling", "GPUMBI_REPRODUCIBLE_EVENT 0.004", "GPUMBI_REPRODUCIBLE_EVENT 0.003"),
    ("clock", "hidden > precision ? 1.1 * hidden : precision", "precision"),
    ("sampling", "hidden > precision ? 1.1 * hidden : precision", "1.1 * hidden"),
    ("clock", "why && looks < 3;", "why && looks < 1;"),
    (
        "clock",
        "s->warm_up.fastest_s - g->device.empty_kernel_s",
        "s->warm_up.estimate_s - g->device.empty_kernel_s",
    ),
    ("clock", "s->samples.bad > GPUMBI_FEW + s->samples.count &&", "0 &&"),
    (
        "clock",
        "return s->about.timing == GPUMB_TIMING_AUTO && r->timing == GPUMB_TIMING_GRAPH;",
        "return 0;",
    ),
    ("clock", "GPUMBI_REPRODUCIBLE_BOUND 0.08", "GPUMBI_REPRODUCIBLE_BOUND 0.06"),
    ("clock", "3 * known_s + launches_s)", "3 * known_s)"),
    ("clock", "now.min + s->result.overhead_s < 3 * known_s",
     "now.ci_lo + s->result.overhead_s < 3 * known_s"),
    ("clock", "!gpumbi_waits(s, 1, GPUMBI_LEFT_OVER,", "!gpumbi_waits(s, 0, GPUMBI_LEFT_OVER,"),
    ("clock", "GPUMBI_TOUCHED 2.3", "GPUMBI_TOUCHED 2"),
    ("clock", "touched = gpumbi_waits(s, 0, GPUMBI_TOUCHED, 0);",
     "touched = gpumbi_waits(s, 0, 50, 0);"),
    ("clock", "if (touched && again)", "if (touched)"),
    ("clock", "more = !s->about.reset && ", "more = "),
    ("clock", "!s->about.reset && s->run.launching_s <= GPUMBI_SLOW_S;", "!s->about.reset;"),
    ("clock", "waits.count = 0;\n    s->waits.occupied = 0;", "waits.count = 0;"),
    ("clock", "state.others > 0 && !g->settings.strict", "state.others > 0"),
    ("clock", "state.others > 0 && !g->settings.strict", "!g->settings.strict"),
    ("clock", ": gpumbi_waits(s, 0, GPUMBI_TOUCHED, 10e-6);",
     ": gpumbi_waits(s, 0, GPUMBI_TOUCHED, 0);"),
    ("clock", "GPUMBI_LEFT_S 8e-6", "GPUMBI_LEFT_S 7e-6"),
    ("clock", "GPUMBI_LEFT_S 8e-6", "GPUMBI_LEFT_S 9e-6"),
    ("clock", "occupied && occupied < GPUMBI_MOST_NAPS", "0"),
    ("clock", "if (s->waits.occupied)\n        gpumbi_occupy", "if (0)\n        gpumbi_occupy"),
    ("clock", "GPUMBI_KEPT_RUNS = 16", "GPUMBI_KEPT_RUNS = 8"),
    ("clock", "gpumbi_try_launch(g, gpumbi_dev_wait_all(), \"kernel\");\n    else if (checked",
     "gpumbi_try(g, gpumbi_dev_wait(g->stream), \"wait\");\n    else if (checked"),
    ("clock", "code = 0; /* outside of a capture it may run */", ";"),
    ("clock", "(s->about.capturable && s->capturable)", "s->about.capturable"),
    ("clock", "const int one = run_s", "const int one = 0 * run_s"),
    ("clock", "s->quantum_s = s->result.overhead_s = 0;", "s->quantum_s = 0;"),
    ("clock", "g->region.poll_s = now_s + 0.1;", "g->region.poll_s = now_s + 0.2;"),
    ("interleave", "(1 + moves) * gpumbi_ratio_ahead", "0 * gpumbi_ratio_ahead"),
    ("interleave", "!(moves || (slight", "!((slight"),
    ("interleave", "(!may_settle && gpumbi_decided", "(gpumbi_decided"),
    ("interleave", "decided &= (slight && flags", "decided &= (flags"),
    ("interleave", "gpumbi_min(scratch[k] - middle, reach)", "scratch[k] - middle"),
    ("interleave", "hidden += s->quantum_s", "hidden += 0 * s->quantum_s"),
    ("interleave", "drift = (slope + sure)", "drift = slope"),
    ("flags", "gpumbi_waits(s, 0, 2.5, 0)", "gpumbi_waits(s, 0, 25, 0)"),
    ("regions", "GPUMBI_LEFT_OVER 6", "GPUMBI_LEFT_OVER 2"),
    ("regions", "    gpumbi_rates_use(gpumbi_context(g));\n", ""),
    ("regions", "        gpumbi_rates_use(g);\n    }\n", "    }\n"),
    ("clock", "if (s->waits.told == 2) {\n        gpumbi_dev_state(",
     "if (1) {\n        gpumbi_dev_state("),
    ("regions", "!= NULL && gpumbi_is_of_device(g, stream))", "!= NULL)"),
    ("regions", "i < count && gpumbi_is_of_device(g, streams[i]);", "i < count;"),
    ("clock", "10 * s->waits.waited >= 9 * s->waits.runs", "s->waits.waited > s->waits.runs"),
    ("clock", "gpumbi_order(g, s, 1);\n            gpumbi_order(g, s, 0);", ""),
    ("device_state", "now_s - since_s >= 0.2 &&", "now_s - since_s >= 0.1 &&"),
    ("device_state", "runs * run_s >= 0.9 * seconds", "runs * run_s >= 0.5 * seconds"),
    ("device_state", "state->others > r->others ?", "1 ?"),
    ("given_times", "if (kept < s->samples.count)", "if (0)"),
    ("given_times", "if (!kept && s->result.status", "if (0 && s->result.status"),
    ("given_times", "room = room < s->about.given ? s->about.given : room;", ""),
    # ---- sweeps ----
    ("row_costs", "/ (uint64_t)step >= 1000000)", "/ (uint64_t)step > 1000000)"),
    ("row_costs", "if (step && hi >= lo && a->count +", "if (step && hi >= lo &&"),
    ("row_costs", "steps < 1000001 :", "1 :"),
    ("sweeps", "&& !g->region.reached)", "&& 0)"),
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
    ("clock", "? r->overhead_s / 10 : gap_s / 4", "? 0 : gap_s / 4"),
    ("clock", "if (more >= readings + 1 && readings < most", "if (more >= 2 && readings < 2"),
    ("clock", "else if (more < readings)\n            readings--;", ";"),
    ("clock", "return lower_s + (apart_s < 0.2e-6 ? apart_s / 2", "return lower_s + (1 ? 0"),
    ("clock", "(apart_s < 0.2e-6 ? apart_s / 2 : 0.1e-6)", "apart_s / 2"),
    ("clock", "gpumbi_min(part_s, GPUMBI_LAUNCH_DIFFERS_S)", "part_s"),
    # ---- instruments ----
    ("counters", "c->why[0] && strcmp(c->why, g->instrument.counters_said)", "c->why[0]"),
    (
        "counters",
        "s->about.counters || s->copy_to || gpumbi_parent",
        "s->about.counters || gpumbi_parent",
    ),
    ("counters", "if (gpumbi_dev_counters_stop(c))", "if (gpumbi_dev_counters_stop(c) && 0)"),
    ("counters", "if (!s->about.counters)\n        s->about.counters =", "s->about.counters ="),
    ("counters", "{NULL, gpumbi_instruments_prepare,", "{NULL, NULL,"),
    ("counters", "option ? GPUMB_EXIT_USAGE : GPUMB_EXIT_ERROR", "GPUMB_EXIT_ERROR"),
    ("mangled", "            gpumbi_kept_refuse(g, name, why);", "            ;"),
    ("resume", "g->kept.rows->version ? GPUMBI_JSON : GPUMBI_CSV", "GPUMBI_CSV"),
    ("mangled", "(uint64_t)f->known : value > 0", "(uint64_t)f->known : 0"),
    ("mangled", ">= GPUMBI_IF_BOUNDED : r->time.ci_hi > 0", ">= GPUMBI_IF_BOUNDED : 0"),
    ("profile_option", "*c = *c == '/' ? '.' : '_';", "*c = '_';"),
    ("profile_option", "2 + (name[2][0] != 0)", "3"),
    ("profile_option", "found |= getenv(sign[i]) != NULL", "found = getenv(sign[i]) != NULL"),
    ("profiler", "if (!g->instrument.no_profiler++)", "g->instrument.no_profiler++;"),
    ("profiler", "records < s->kernel.launches ? 0 : seconds", "seconds"),
    ("strict", "s->strict.before = s->strict.now;", ""),
    ("strict", "s->samples.count >= s->strict.next;", "1;"),
    ("strict", "+ 1 + gpumbi_draw(g) % (2 +", "+ 3 + 0 * (2 +"),
    ("strict", "two < 4; two++", "two < 3; two++"),
    ("strict", "block / 32 * 256 + (uint64_t)j * 32", "block / 32 * 256 + (uint64_t)j * 31"),
    ("strict", "        number[i] = gpumbi_draw(g);\n", "        number[i] = 4711;\n"),
    ("strict", "    gpumbi_draw_key(g);\n    const", "    const"),
    ("strict", "gpumbi_poison(g, twin, gpumbi_beside(g));", ""),
    ("strict", "gpumbi_draw(g) % GPUMBI_PLACES * GPUMBI_PLACE_BYTES", "0"),
    ("strict", "    if (keeps)\n", "    if (0)\n"),
    ("strict", "s->result.flags |= GPUMB_FLAG_KNOWN_SEED", "s->result.flags |= 0"),
    ("strict", "differ += b && gpumb_compare(", "differ = b && gpumb_compare("),
    (
        "strict",
        "gpumbi_outputs_differ(g, s) < s->about.outputs",
        "gpumbi_outputs_differ(g, s) == 0",
    ),
    ("strict", "< 3 * known_s", "< 9 * known_s"),
    ("strict", "? 50e-3 : 0", "? 0 : 0"),
    ("strict", "? 50e-3 : 0", "? 1 : 0"),
    ("strict", "b->fill != GPUMB_FILL_ZERO;", "1;"),
    ("strict", "twins &= s->about.output[i]", "twins |= s->about.output[i]"),
    # ---- files ----
    ("records", '",\\"\\r\\n")]', '",\\"\\n")]'),
    ("records", "        if (*text == '\"')\n            fputc('\"', file);\n", ""),
    (
        "records",
        "else if (code < 0x20 || code == GPUMBI_NO",
        "else if (code < 0x1f || code == GPUMBI_NO",
    ),
    ("records", "if (code == '\"' || code == '\\\\')", "if (code == '\"')"),
    ("interleave", 'c->lo > 0 ? gpumbi_write_short(c->lo, 4).text : "?"', '"0.0000"'),
    ("golden", "strchr(special, *c) || ", ""),
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
    ("files", "link[0] == '/' ? \"\" : sink->name", '""'),
    ("files", "sink->replaces ? 0600 : 0666", "0666"),
    (
        "files",
        "gpumbi_sink_has(sink, other) || gpumbi_sink_has(other, sink)",
        "gpumbi_sink_has(sink, other)",
    ),
    ("files", "right = wrote > 0 || errno == EINTR;", "right = wrote > 0;"),
    ("files", "sink->columns = g->columns.count;", ""),
    ("files", "{NULL, NULL, gpumbi_write_rows, NULL}", "GPUMBI_NO_ROWS"),
    ("golden", "i != GPUMBI_COLUMN_flags))", "1))"),
    ("golden", "r->time.count * r->batch)", "r->time.count)"),
    ("order", "(waiting && sink->straight) ||", ""),
    ("order", "sink->rows > g->rows.written,", "0,"),
    ("records", "head->settings.warmup_s = gpumbi_max(g->settings.warmup_s, 0);", ""),
    ("resume", "*text = *text == ',' ? ' ' : *text;", "(void)0;"),
    ("resume", "refused == EWOULDBLOCK && waits < 50", "refused == EWOULDBLOCK && waits < 40"),
    ("resume", "g->done && sink->rows &&", "g->done &&"),
    # ---- records ----
    ("axes", 'text[strspn(text, "-0123456789")] &&', "0 &&"),
    ("compare", "squares - sum * mean", "squares"),
    ("compare", "e.at *= exp(mean);", ""),
    ("compare", "!known || known->benchmarks.by_main ? bench", "1 ? bench"),
    ("compare", "found->matched = 1;", ""),
    ("records", "cell.text[0] ? 2 : 1;", "2;"),
    ("records", "cell[r->axes + r->values++] = kept;", "cell[r->axes + r->values] = kept;"),
    ("records", "t->now.median_count != now->processes", "0"),
    ("records", "t->line = t->lines + 1;", ""),
    ("records", '"0123456789abcdefABCDEF") < 4', '"") < 0'),
    ("records", "t->several |= gpumbi_find", "t->several = gpumbi_find"),
    ("resume", "quoted ^= *c == '\"';", ""),
    ("resume", "there[0] && strcmp(there, here)", "there[0] && !i && strcmp(there, here)"),
    # ---- kept rows ----
    ("devices", "on && s->point.depth < GPUMBI_DEPTH", "0"),
    ("devices", 'on ? "its process had no such row"', '0 ? "its process had no such row"'),
    ("resume", "k < 5 && !wrong[0]", "k < 4 && !wrong[0]"),
    ("resume", "(g->settings.raw && kind == GPUMBI_CSV)", "0"),
    ("resume", "t->count > g->kept.left;", "t->count < g->kept.left;"),
    ("resume", "g->kept.skipped += known && key != g->kept.here;", ""),
    (
        "resume",
        "memcpy(medians, line.medians, sizeof line.medians)",
        "memcpy(medians, line.medians, sizeof *line.medians)",
    ),
    ("resume", "g->settings.replay ? 0 : r->axes", "r->axes"),
    ("resume", "gpumbi_ceiling_known(g, now->ceiling_gbps * 1e9);", ""),
    ("resume", "all &= kept[i] != NULL;", "all = kept[i] != NULL;"),
    (
        "resume",
        "gpumbi_device_known(g, context ? &context->head.device : &t->head.device);",
        "gpumbi_device_known(g, t ? &t->head.device : &context->head.device);",
    ),
    (
        "resume",
        "    if (context || t)\n",
        "    if (context)\n",
    ),
    ("resume", 'strstr(settings, "profile=full")', "0"),
    ("resume", "full ? 1 : -1;\n    if (!csv)", "full ? 1 : -1;\n    if (0)"),
    ("resume", "memcpy(s, &t->head.settings, offsetof(gpumb_settings, device))", "(void)0"),
    ("resume", '"hip") ? 32 : 64', '"hip") ? 32 : 32'),
    ("resume", "if (*rate[k] <= 0)", "if (1)"),
    ("resume", "{gpumbi_resume_end, NULL}", "{NULL, NULL}"),
    # ---- interleave ----
    ("given_times", "given != 1 &&", ""),
    ("given_times", "to->samples.values[k] = 0;", ""),
    ("interleave", "comparisons += s->samples.count > 0;", "comparisons = 1;"),
    ("interleave", "t->time[1][k] / t->time[0][k];", "t->time[0][k] / t->time[1][k];"),
    ("interleave", "s->samples.count = least;", ";"),
    ("order", "= (uint64_t)g->rows.count << 32;", "= 0;"),
    (
        "profiler",
        "gpumbi_interleave_takes, NULL, gpumbi_interleave_free",
        "gpumbi_interleave_takes, NULL, NULL",
    ),
    ("profiler", "profiled |= s->profiled;", "profiled = s->profiled;"),
    # ---- given times ----
    ("given_times", "meaning <= GPUMB_MEANING_LATENCY;", "meaning < GPUMB_MEANING_LATENCY;"),
    ("resume", "!gpumbi_find_kept(g, name, 0))", "1)"),
    # ---- processes ----
    ("axes", "t->next = g->children.rows;", ""),
    ("devices", "parent != (long)gpumbi_process_parent())", "0)"),
    ("devices", "gpumbi_in_step = device[1];", ""),
    ("devices", "s->compare = s->compare_values = NULL;", ""),
    ("devices", "code = ended;", ""),
    ("devices", "at[i].device == o->device", "0"),
    ("devices", "o->device >= there", "o->device > there"),
    ("devices", "waiting == running", "waiting"),
    ("devices", "if (o == g->children.at)", "if (0)"),
    ("records", "median[--first] = r->time.at;", "median[--first] = r->time.hi;"),
    ("records", "now->processes = (int)(most - first);", "now->processes = (int)most;"),
    (
        "records",
        "gpumbi_min(now->process_lo_s, median[i])",
        "gpumbi_max(now->process_lo_s, median[i])",
    ),
    # ---- compare ----
    ("compare", "+ 4.9 / (j * j * j))", ")"),
    ("compare", "(0.42 + 2.4 / j", "(0.42 + 2 / j"),
    ("compare", "(0.42 + 2.4 / j", "(0.46 + 2.4 / j"),
    ("compare", "z * (8 * freedom + 3) / (8 * freedom + 1)", "z"),
    ("compare", "sqrt(-2 * log(0.025 / m))", "sqrt(-2 * log(0.05 / m))"),
    ("records", "now->process_hi_s < now->process_lo_s", "0"),
    ("records", "if (depth == 32)", "if (depth == 31)"),
    ("records", "if (depth == 32)", "if (depth == 33)"),
    ("records", "code >> 10 == 0xd800 >> 10 &&", "code >> 11 == 0xd800 >> 11 &&"),
    ("compare", "gpumbi_min(b, n) < 4 ? z", "gpumbi_min(b, n) < 3 ? z"),
    ("records", "from[1] == '\\n' ? 2 : 1;", "0 ? 2 : 1;"),
    ("mangled", "].samples = t->at - 1;", "].samples = t->at;"),
    ("mangled", "r->samples ? r->sampled != time->count", "r->samples ? 0"),
    ("mangled", "r->ok && t->there[GPUMBI_COLUMN_samples] > 1 && !time->count", "0"),
    ("mangled", "if (!gpumbi_read_number(moved, &number))", "if (0)"),
    ("mangled", "g->settings.raw && s->samples.count ?", "g->settings.raw ?"),
    ("mangled", "(!kept->text[c] || !g->kept", "(!g->kept"),
    ("mangled", "names++ == GPUMBI_OWN_VALUES", "names++ == 99"),
    ("mangled", " || ratio->ratio <= 0)", ")"),
    ("mangled", "limit[0] <= '9' &&", ""),
    ("mangled", "(int)gpumbi_min(strtod(one, NULL), INT_MAX)", "atoi(one)"),
    ("compare", "devices > 3 ? (m + 1) / 2 : m", "m"),
    ("compare", "r->cold == gpumbi_cold(now)", "1"),
    ("compare", "lost += r && r->ok && now->status != GPUMB_STATUS_OK;", ""),
    ("compare", "rest += !r->matched;", ""),
    ("compare", "k > 0 || strtol(there", "strtol(there"),
    (
        "devices",
        "gpumbi_min(r->time.processes, now->processes) < 5",
        "gpumbi_max(r->time.processes, now->processes) < 5",
    ),
    ("devices", "of->slower += count == 2 &&", "of->slower += 0 &&"),
    ("given_times", "g->settings.delta * fabs(base)", "g->settings.delta"),
    ("given_times", "count[differ]++;", "count[0]++;"),
    ("given_times", "!count[GPUMB_VERDICT_SLOWER] && !values[1]", "!count[GPUMB_VERDICT_SLOWER]"),
    # ---- expect ----
    ("expect", "close[1])", "0)"),
    ("expect", "length < size ? to : NULL", "to"),
    ("expect", "!stop || *stop ||", "!stop ||"),
    ("expect", "(!other || at < other)", "(!other || at > other)"),
    ("expect", "length > tail && !strcmp", "length > tail && strcmp"),
    ("expect", "axes += *c == ',';", ""),
    ("expect", "if (*equals == '=')", "if (1)"),
    ("records", "if (!named && text", "if (text"),
    ("sweeps", "gpumbi_copy_line(text, sizeof text, names[i]",
     "gpumbi_copy_text(text, sizeof text, names[i]"),
    ("statistics", "if (base[i] > 0 && ratio > 0 && gpumbi_finite(ratio))", ""),
    ("devices", "g->children.count < 2 && !gpumbi_parent", "!gpumbi_parent"),
    ("resume", "gpumbi_read_line(t->rows, &t->now);", ""),
    ("expect", "|| wanted != is)", ")"),
    ("expect", "!set && of_left[0] && strcmp(of_left, value)", "0"),
    ("expect", "e->unit < GPUMBI_UNIT_SECONDS;", "e->unit <= GPUMBI_UNIT_SECONDS;"),
    ("expect", "row->order == other->order &&", ""),
    ("expect", "&& !strcmp(r->bench, o->bench);", ";"),
    ("expect", "time[0] = 1 / back->ratio;", "time[0] = back->ratio;"),
    ("expect", "? r->flop / o->flop", "? o->flop / r->flop"),
    ("expect", "r->elements / o->elements", "1"),
    (
        "expect",
        "shorter ? time[0] / time[2] : time[1] / time[0]",
        "shorter ? time[1] / time[0] : time[0] / time[2]",
    ),
    ("expect", "ok = r->status == GPUMB_STATUS_OK, unit", "ok = 1, unit"),
    ("expect", "if (o->status != GPUMB_STATUS_OK || other == row ||", "if (other == row ||"),
    ("expect", "other == row ||", ""),
    ("expect", "extreme ? extreme < 0 : !e->at_least", "extreme ? extreme > 0 : !e->at_least"),
    ("expect", "end[0] < limit && end[1] >= limit", "end[0] < limit"),
    ("expect", "extreme ? extreme > 0 : !e->at_least", "!e->at_least"),
    ("expect", "return all ? verdict > verdict_before", "return all ? verdict < verdict_before"),
    ("expect", "value > 0 && gpumbi_finite(value) ?", "1 ?"),
    ("expect", "g->expected.count == GPUMBI_OPTIONS)", "g->expected.count > GPUMBI_OPTIONS)"),
    # ---- command line ----
    ("golden", "most > 10000000)", "most > 100000000)"),
    ("golden", "least < 1 || most < least", "least < 0 || most < least"),
    ("golden", "UINT64_MAX : 100,", "UINT64_MAX : 101,"),
    ("golden", "number < 0 || (number == 0 && !zero)", "number < 0"),
    ("golden", "0, INT_MAX, \"is too large\"", "0, UINT32_MAX, \"is too large\""),
    ("options", "!*end && number >= 0", "number >= 0"),
    ("options", "g->options.filters == GPUMBI_OPTIONS)", "g->options.filters > GPUMBI_OPTIONS)"),
    ("options", "value, name) && strcmp(g->options.axis[i], value))", "value, name))"),
    ("options", "runs > 1000000)", "runs > 10000000)"),
    ("options", "seconds > 0 ? seconds : -1", "seconds"),
    ("options", "g->settings.full && g->settings.full != full", "g->settings.full"),
    ("options", "kind == GPUMBI_VALUE_PERCENT ? 100 : 1", "1"),
    ("options", "*given && strcmp(*given, value)", "*given"),
    ("options", "own[kept++] = argv[i++];", "i++;"),
    ("profile_option", "text || (i == GPUMBI_OPTION_PROCESSES && s->processes > 1)", "text"),
    # ---- program ----
    ("files", "gpumbi_program_closing, gpumbi_program_free", "gpumbi_program_closing, NULL"),
    ("options", "gpumbi_program_closing, gpumbi_program_free", "NULL, gpumbi_program_free"),
    ("strict", "s->seed || s->strict ? s->seed : 1", "s->seed ? s->seed : 1"),
    # ---- coalescing ----
    (
        "coalescing",
        "(address[lane] % size + elem - 1) / size + 1;",
        "(address[lane] % size + elem) / size + 1;",
    ),
    ("coalescing", "block % lanes)", "0)"),
    ("coalescing", "known = p - address[other] / size <=", "known = p - address[other] / size <"),
    ("coalescing", "a / gpumbi_greatest_divisor(a, b) * b", "a"),
    ("coalescing", "both / gpumbi_greatest_divisor(step, both)", "both"),
    (
        "coalescing",
        "step ? gpumbi_alignment_period(step * lanes,",
        "step ? gpumbi_alignment_period(step,",
    ),
    ("coalescing", "offset * (uint64_t)elem +", "0 * offset +"),
    ("coalescing", "block - first < warp ? block - first : warp;", "warp;"),
    # ---- kernel families ----
    ("kernels", "byte = words * 16; byte < bytes;", "byte = words * 16 + 1; byte < bytes;"),
    ("kernels", "mode == GPUMB_READ ? quarter * 16 : n * 4", "n * 4"),
    ("kernels", "sum += from[w];", ";"),
    (
        "kernels",
        "group * (uint64_t)lanes * iterations + lane",
        "group * (uint64_t)lanes * iterations",
    ),
    ("kernels", "i % stride == 0 && i / stride < n", "i % stride == 0"),
    ("nbody", "other.w * r * (r * r)", "other.w * r * r"),
    ("nbody", "l.block = how->unroll;", ""),
    ("nbody", "(groups / 2 + 1) * (uint64_t)bodies", "(groups / 2) * (uint64_t)bodies"),
    ("reductions", "gpumbi_apply<operation>(part[2], part[3])", "part[2]"),
    ("reductions", "load[k].at[i] = neutral;", "load[k].at[i] = (Type)0;"),
    ("reductions", "n % each != 0 && blockIdx.x == 0", "n % each != 0"),
    ("reductions", "gpumbi_put(total, 0ull);", ""),
    ("reductions", "if (high - high == 0)", "if (1)"),
    # ---- misuse, and the macros' loops as functions ----
    ("memory", "if (kind >= 0 && kind < kinds)", "if (kind < kinds)"),
    ("closed", "if (!gpumbi_is_known(g)) {", "if (0) {"),
    ("closed", "return GPUMB_EXIT_ERROR;\n    if (g->closed)", "return 0;\n    if (g->closed)"),
    ("coalescing", "(all - i + period - 1) / period", "all / period"),
    ("coalescing", "both > GPUMBI_MODEL_BYTES ? 0 :", "both > GPUMBI_MODEL_BYTES * 2 ? 0 :"),
    ("calls", "if (ends && !outer)", "if (0)"),
    ("calls", "    all.size = size;\n", "    all.size = sizeof all;\n"),
    ("calls", "memcpy(settings, &all, size < sizeof all ? size : sizeof all)",
     "memcpy(settings, &all, sizeof all)"),
    ("calls", "memcpy(&g->settings, settings, size < sizeof *settings ? size : sizeof *settings)",
     "memcpy(&g->settings, settings, sizeof *settings)"),
    ("calls", "        if (((const char *)settings)[i])\n", "        if (0)\n"),
    ("calls", "memcpy(result, r, size < sizeof *r ? size : sizeof *r)",
     "memcpy(result, r, sizeof *r)"),
    ("calls", "    memset(result, 0, size);\n", ""),
    ("calls", "!s->quiet && !s->no_signals;", "!s->quiet;"),
    ("calls", "        gpumbi_log.write(text, gpumbi_log.user);\n        return;\n",
     "        gpumbi_log.write(text, gpumbi_log.user);\n"),
    ("calls", "return gpumbi_read_number(cell, &value) ? value : NAN;",
     "return gpumbi_read_number(cell, &value) ? value : 0;"),
    ("kernels", "i * 8 : i + words * 7;\n        const uint64_t word",
     "i * 8 : i + words * 6;\n        const uint64_t word"),
    ("kernels", "(uint64_t)(a[at] ^ b[at])", "0"),
    ("resume", "copy_line(name, sizeof name, kernel);\n    const uint64_t key",
     "copy_text(name, sizeof name, kernel);\n    const uint64_t key"),
    # ---- code from elsewhere, what captures hold ----
    ("modules", "s->kernel.loaded = g->code.launched != NULL;", "s->kernel.loaded = 0;"),
    ("modules", "g->code.launched = NULL;", ""),
    ("modules", "gpumbi_dev_unload(m->loaded);", ""),
    ("modules", "optimization);\n        gpumbi_keep_reason(g);", "optimization);"),
    ("modules", "m->names[0] && !strchr(m->names, ',')", "m->names[0]"),
    ("modules", "max_registers < 0 || optimization < -1", "optimization < -1"),
    ("modules", "optimization < -1 || optimization > 4)", "optimization < -1 || optimization > 5)"),
    ("modules", "copy[bytes] = 0;", "copy[bytes ? bytes - 1 : 0] = 0;"),
    ("modules", "(clusters || all.dependent) && (!nvidia || atoi(arch + 3) < 90)",
     "(clusters || all.dependent) && !nvidia"),
    ("modules", "(all.priority && !nvidia)", "0"),
    ("modules", "if (all.dependent && s &&", "if (0 && s &&"),
    ("modules", "all.cluster[i] > 0 ? all.cluster[i] : 1;", "all.cluster[i];"),
    ("modules", "(s->kernel.depth - 1) * g->device.graph_interval_s",
     "s->kernel.depth * g->device.graph_interval_s"),
    ("modules", "    r->registers = nodes->registers;", ""),
    ("modules", "if (at && !*at)", "if (at)"),
    ("modules", "while (m && m != from)\n        m = m->next;", "m = from;"),
]


def compile_and_run(folder, test):
    """Builds a test in the folder with its gpumb.h, and runs it: "passed", "failed" or the
    compiler's words."""
    source = next((ROOT / "tests").glob(f"test_{test}.c*"))
    for name in ("tests", "build"):  # where tests write: two of them may run at a time
        (folder / name).mkdir(parents=True, exist_ok=True)
    for f in [source, *(ROOT / "tests").glob("*.h")]:
        shutil.copy(f, folder / "tests")
    shutil.copytree(ROOT / "tests" / "golden", folder / "tests" / "golden", dirs_exist_ok=True)
    is_c = source.suffix == ".c"
    compiler = os.environ.get("CC", "cc") if is_c else os.environ.get("CXX", "c++")
    command = [compiler, "-O1", "-pthread", f"-I{folder}", "-std=c99" if is_c else "-std=c++17"]
    if source.suffix == ".cu":
        command += ["-x", "c++", "-DGPUMB_IMPLEMENTATION=", "-DGPUMB_COPY=", "-DGPUMB_STRIDED="]
    command += [folder / "tests" / source.name, "-o", folder / f"test_{test}"] + ["-lm"] * is_c
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        return f"does not compile: {built.stderr[:500]}"
    try:
        ran = subprocess.run(
            ["sh", "-c", 'ulimit -t "$1"; exec "$2"', "sh", str(SECONDS), folder / f"test_{test}"],
            cwd=folder,
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
    if sys.argv[1:] == ["--table"]:
        lost = [old for _, old, _ in MUTATIONS if header.count(old) != 1]
        for old in lost:
            print(f"{' '.join(old.split())}: stands in gpumb.h {header.count(old)} times, not once")
        return len(lost) > 0
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
