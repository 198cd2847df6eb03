#!/usr/bin/env python3
"""parse_back.py - reads the CSV, JSON and Markdown that gpumb wrote, with Python's own parsers.

    parse_back.py                                           all of tests/golden
    parse_back.py [--csv F] [--json F] [--md F] [--gbench F] [--axes a,b] [--rows N] [--part]
    parse_back.py --list F          runs, counted as one each: lines of arguments, a tab behind each

Checks the columns, their types, and that figures follow from each other (gbps is bytes over the
median, ...), and that the files of one run say the same, notes included. --rows and --axes say what
is expected.
"""
import argparse
import csv
import io
import json
import os
import re
import sys

COLUMNS = (
    "schema gpumb bench kernel backend device status reason verified timing meaning samples batch "
    "stop median_s ci_lo_s ci_hi_s min_s q1_s q3_s max_s mean_s sd_s mad_s effective_samples "
    "outliers first_launch_s overhead_s bytes flop gbps gflops peak_gbps pct_peak ceiling_gbps "
    "pct_ceiling reference expected_pct measured_pct footprint_bytes cache registers occupancy "
    "sm_clock_before_mhz sm_clock_mhz mem_clock_before_mhz mem_clock_mhz temp_before_c temp_c "
    "power_w energy_j gb_per_j throttle others series compared_with ratio ratio_lo ratio_hi "
    "verdict fill seed processes process_lo_s process_hi_s flags ratio_rounds "
    "to_device_bytes to_host_bytes link link_gbps pct_link process_medians_s "
    "elements elements_per_s sampled_s values settings time_utc kernels between_s nodes"
).split()
SCHEMA = 4
TEXTS = set("gpumb bench kernel backend device status reason verified timing meaning stop cache "
            "throttle series compared_with verdict fill flags link "
            "process_medians_s values settings time_utc nodes".split())
INTEGERS = set("schema samples batch outliers footprint_bytes registers others seed processes "
               "ratio_rounds kernels".split())
TIMES = "median_s ci_lo_s ci_hi_s min_s q1_s q3_s max_s mean_s sd_s mad_s".split()
RATES = "gbps gflops pct_peak pct_ceiling measured_pct".split()
MEANINGS = {"event": "span", "batch": "interval", "graph": "interval", "host": "latency",
            "profiler": "span"}
MEANT = ("span", "interval", "latency")  # any of times that were given
SERIES = {"steady", "warming up", "slowing down", "two levels", "unsteady"}
THROTTLE = {"power", "thermal", "hardware", "other"}
NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?\Z")
INTEGER = re.compile(r"-?\d+\Z")
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
CLOSE = 1e-5  # relative; figures are printed with a limited number of digits

here = os.path.dirname(os.path.abspath(__file__))
passed = failed = skipped = 0


def check(condition, text):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("parse_back.py: failed: " + text)
    return bool(condition)


def close(a, b, tolerance=CLOSE):
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def flag_names():
    """The names in GPUMB_FLAGS of the header."""
    with open(os.path.join(here, "..", "gpumb.h"), encoding="utf-8") as f:
        text = f.read()
    begin = text.index("#define GPUMB_FLAGS(X)")
    end = text.index("\n\n", begin)
    return set(re.findall(r'X\(\w+,\s*"([^"]+)"', text[begin:end]))


FLAGS = flag_names()


def read_csv(name, axes, part):
    """The rows of a CSV file as dictionaries, after checking its form."""
    with open(name, newline="", encoding="utf-8") as f:
        text = f.read()
    check(text.endswith("\n"), name + ": ends in the middle of a line")
    table = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if not check(table, name + ": is empty"):
        return []
    head = table[0]
    check(head[:len(COLUMNS)] == COLUMNS, name + ": the fixed columns are " + ",".join(head))
    if axes is not None:
        at = head.index("values")
        values = {value for row in table[1:] for cell in row[at:at + 1]
                  for value in cell.split(";")}
        found = [column for column in head[len(COLUMNS):] if column not in values]
        check(found == axes, "%s: the axes are %s, not %s" % (name, found, axes))
    check(len(set(head)) == len(head), name + ": a column is there twice")
    for number, row in enumerate(table[1:], 1):
        check(len(row) == len(head),
              "%s: row %d has %d fields, not %d" % (name, number, len(row), len(head)))
        check(all(field == field.strip() for field in row),
              "%s: row %d has blanks at the ends of a field" % (name, number))
    if not part:
        check(len(table) > 1, name + ": has no rows")
    return [typed(dict(zip(head, row)), "%s, row %d" % (name, number))
            for number, row in enumerate(table[1:], 1)]


def typed(row, where):
    """Text, integers and floats for the fields of a CSV row; None where it is empty."""
    out = {}
    for name, field in row.items():
        if field == "":
            out[name] = None
        elif name in INTEGERS:
            check(INTEGER.match(field), "%s: %s is no integer: %s" % (where, name, field))
            out[name] = int(field) if INTEGER.match(field) else None
        elif name in TEXTS:
            out[name] = field
        elif name in COLUMNS:
            check(NUMBER.match(field), "%s: %s is no number: %s" % (where, name, field))
            out[name] = float(field) if NUMBER.match(field) else None
        elif name in row["values"].split(";"):
            check(NUMBER.match(field), "%s: %s is no number: %s" % (where, name, field))
            out[name] = float(field)
        else:  # an axis: an integer, a real or a name
            out[name] = (int(field) if INTEGER.match(field) else
                         float(field) if NUMBER.match(field) else field)
    return out


def check_row(row, where):
    """Types are right; do the figures fit each other?"""
    def have(*names):
        return all(row.get(name) is not None for name in names)

    def both(name, value, tolerance=CLOSE):
        check(close(row[name], value, tolerance),
              "%s: %s is %r, not %r" % (where, name, row[name], value))

    check(DATE.match(row["time_utc"] or ""), where + ": no date and time: %s" % row["time_utc"])
    for name in "schema gpumb bench kernel backend device status timing meaning".split():
        if name in ("timing", "meaning") and row.get("status") != "ok":
            continue
        check(have(name), "%s: %s is empty" % (where, name))
    check(row["schema"] == SCHEMA, "%s: schema %r" % (where, row["schema"]))
    check(row["status"] in ("ok", "skipped", "failed"), "%s: status is %s" % (where, row["status"]))
    flags = (row["flags"] or "").split(";") if row["flags"] else []
    check(set(flags) <= FLAGS, "%s: unknown flags: %s" % (where, row["flags"]))
    check(len(set(flags)) == len(flags), "%s: a flag is there twice: %s" % (where, row["flags"]))
    for name in ("power_w", "temp_before_c", "temp_c", "energy_j", "gb_per_j", "peak_gbps",
                 "ceiling_gbps", "sm_clock_before_mhz", "sm_clock_mhz", "mem_clock_before_mhz",
                 "mem_clock_mhz", "bytes", "flop", "footprint_bytes", "first_launch_s",
                 "reference", "expected_pct", "measured_pct", "effective_samples", "ratio",
                 "ratio_hi"):
        if have(name):
            check(row[name] > 0, "%s: %s is %r: unknown must be empty" % (where, name, row[name]))
    if have("occupancy"):
        check(0 <= row["occupancy"] <= 1, "%s: occupancy is %r" % (where, row["occupancy"]))
    if have("registers"):
        check(row["registers"] >= 0, "%s: registers is %r" % (where, row["registers"]))
    check(have("reference") == have("expected_pct"),
          "%s: of reference %r, %r is expected" % (where, row["reference"], row["expected_pct"]))
    throttle = (row["throttle"] or "").split(";") if row["throttle"] else []
    check(throttle == ["none"] or set(throttle) <= THROTTLE,
          "%s: throttle is %s" % (where, row["throttle"]))
    check(len(set(throttle)) == len(throttle), "%s: throttle is %s" % (where, row["throttle"]))
    if have("others"):
        check(row["others"] >= 0, "%s: others is %r" % (where, row["others"]))
    check(have("verdict") == have("compared_with"),
          "%s: compared with %r, verdict %r" % (where, row["compared_with"], row["verdict"]))

    if row["status"] != "ok":
        check(have("reason"), where + ": no reason for the status " + row["status"])
        for name in RATES:
            check(not have(name), "%s: %s has %s" % (where, row["status"], name))
        if row["status"] == "skipped":
            for name in TIMES:
                check(not have(name), "%s: skipped, and has %s" % (where, name))
        return
    check(not have("reason"), "%s: ok, and has a reason: %s" % (where, row["reason"]))
    given = row["timing"] == "given"
    check(row["timing"] in MEANINGS or given, "%s: timing is %s" % (where, row["timing"]))
    check(have("overhead_s") and row["overhead_s"] >= 0,
          "%s: overhead_s is %r" % (where, row["overhead_s"]))
    # what launching costs is known of graphs, of the profiler, and of a pair behind an eviction
    less = have("overhead_s") and row["overhead_s"] > 0
    way = (row["timing"], row["cache"] == "cold")
    check(not less or way[0] in ("graph", "profiler") or way == ("event", True),
          "%s: less %r, timed by %s" % (where, row["overhead_s"], row["timing"]))
    check(row["meaning"] in MEANT if given else
          row["meaning"] == ("span" if less else MEANINGS.get(row["timing"])),
          "%s: %s, less %r, means %s" % (where, row["timing"], row["overhead_s"], row["meaning"]))
    check(row["stop"] in ("precision", "samples", "budget"),
          "%s: stop is %s" % (where, row["stop"]))
    check(have("samples") and row["samples"] >= 1, where + ": no samples")
    check(have("batch") and row["batch"] >= 1, where + ": no batch")
    # of several runs in a sample; those of a graph are a difference
    ways = ("host",) if row["backend"] == "cpu" else ("batch", "graph")
    check(row["batch"] == 1 or row["timing"] in ways,
          where + ": a batch of %r, timed by %s" % (row["batch"], row["timing"]))
    check(row["timing"] != "graph" or (row["backend"] != "cpu" and row["batch"] > 1),
          where + ": a batch of %r, timed by a graph" % row["batch"])
    check(have(*"median_s min_s q1_s q3_s max_s mean_s mad_s".split()),
          where + ": statistics are missing")
    slack = 1 + CLOSE
    order = [row[name] for name in "min_s q1_s median_s q3_s max_s".split()]
    check(all(a <= b * slack for a, b in zip(order, order[1:])),
          "%s: not in order: %r" % (where, order))
    check(row["min_s"] > 0, where + ": a time of zero or less")
    check(row["min_s"] <= row["mean_s"] * slack and row["mean_s"] <= row["max_s"] * slack,
          where + ": the mean is outside")
    check_outliers(row, where)
    spread = row["sd_s"] or 0  # of one sample there is none
    check(spread >= 0 and row["mad_s"] >= 0, where + ": spread below zero")
    check(spread <= (row["max_s"] - row["min_s"]) + CLOSE * row["max_s"],
          where + ": the deviation is above the range")
    check(have("ci_lo_s") == have("ci_hi_s"), where + ": half an interval")
    check(have("ci_lo_s") == (row["samples"] >= 6),
          "%s: %d samples and interval %r" % (where, row["samples"], row["ci_lo_s"]))
    if have("ci_lo_s", "ci_hi_s"):
        # the interval reaches beyond the values where they are correlated, and on a GPU, where
        # 0.15 % of the median are in it besides; of fewer than 30, by 13 ranks at most; and by what
        # the host's clock does not show, 0.58 quanta of 0.1 us at most
        beyond = (have("effective_samples") and row["effective_samples"] < row["samples"]
                  or row["timing"] != "host")
        reach = (60e-9 / row["batch"] +
                 (13 * (row["max_s"] - row["min_s"]) / (row["samples"] - 1)
                  if row["samples"] < 30 else 0))
        order = [row[name] for name in "ci_lo_s median_s ci_hi_s".split()]
        if not beyond:
            order = [max(row["min_s"] - reach, 0)] + order + [row["max_s"] + reach]
        check(all(a <= b * slack for a, b in zip(order, order[1:])),
              "%s: not in order: %r" % (where, order))
        check(row["ci_lo_s"] >= 0, "%s: an interval from %r on" % (where, row["ci_lo_s"]))
    check(have("effective_samples") == have("ci_lo_s"),
          where + ": effective samples without an interval, or an interval without them")
    if have("effective_samples"):
        check(0 < row["effective_samples"] <= row["samples"] * slack,
              "%s: of %d samples, %r are effective"
              % (where, row["samples"], row["effective_samples"]))
    check_state(row, where, flags, throttle)
    check_comparison(row, where)
    check(("few-samples" in flags) == (row["samples"] < 6),
          "%s: %d samples, flags %s" % (where, row["samples"], flags))
    check("noisy" not in flags or row["stop"] != "precision", where + ": noisy, though precise")
    check(have("processes") == have("process_lo_s") == have("process_hi_s"),
          where + ": half a spread between processes")
    if have("processes", "process_lo_s", "process_hi_s"):
        order = [row[name] for name in "process_lo_s median_s process_hi_s".split()]
        check(row["processes"] >= 1 and all(a <= b * slack for a, b in zip(order, order[1:])),
              "%s: not in order, of %d processes: %r" % (where, row["processes"], order))
        medians = [float(one) for one in (row["process_medians_s"] or "").split(";")]
        check(len(medians) == row["processes"] and medians[-1] == row["median_s"] and
              [min(medians), max(medians)] == [row["process_lo_s"], row["process_hi_s"]],
              "%s: medians of processes: %r" % (where, medians))
    check(row["verified"] in (None, "yes"), "%s: ok, and verified %s" % (where, row["verified"]))
    check(("unverified" in flags) == (row["verified"] is None),
          "%s: verified %r, flags %s" % (where, row["verified"], flags))

    median = row["median_s"]
    check(have("gbps") == have("bytes"), where + ": bytes without a rate, or a rate without bytes")
    check(have("gflops") == have("flop"), where + ": flop without a rate, or a rate without flop")
    if have("bytes", "gbps"):
        both("gbps", row["bytes"] / median / 1e9)
        if have("peak_gbps"):
            share = 100 * row["gbps"] / row["peak_gbps"]
            if row["bench"] != "roofline/roofs" or row["pct_peak"] < share * slack:
                both("pct_peak", share)  # else its arithmetic's share is larger
            check(("above-peak" in flags) == (row["pct_peak"] > 100),
                  "%s: %r %% of peak, flags %s" % (where, row["pct_peak"], flags))
        if have("ceiling_gbps"):
            both("pct_ceiling", 100 * row["gbps"] / row["ceiling_gbps"])
    if have("link_gbps"):
        most = max(row["to_device_bytes"] or 0, row["to_host_bytes"] or 0)
        both("pct_link", 100 * most / median / 1e9 / row["link_gbps"])
        check(row["link"] and not have("peak_gbps") and not have("pct_peak"),
              where + ": a link without a name, or the memory's peak beside it")
    if have("flop", "gflops"):
        both("gflops", row["flop"] / median / 1e9)
    check(have("elements") == have("elements_per_s"), where + ": elements without a rate")
    if have("elements", "elements_per_s"):
        both("elements_per_s", row["elements"] / median)
    rate = row["gbps"] if have("bytes") else row["gflops"]
    check(have("measured_pct") == (have("reference") and rate is not None),
          "%s: %r is measured of the reference %r with a rate of %r"
          % (where, row["measured_pct"], row["reference"], rate))
    if have("reference", "measured_pct") and rate is not None:
        both("measured_pct", 100 * rate / row["reference"])


def check_outliers(row, where):
    """There are some if an end is farther from its quartile than 3 times the quartiles' distance,
    and fewer than half are, for the quartiles are not."""
    count = row["outliers"]
    if not check(count is not None, where + ": outliers is empty"):
        return
    check(0 <= 2 * count <= row["samples"],
          "%s: of %d samples, %r are outliers" % (where, row["samples"], count))
    farthest = max(row["q1_s"] - row["min_s"], row["max_s"] - row["q3_s"])
    beyond = farthest - 3 * (row["q3_s"] - row["q1_s"])
    if row["samples"] <= 4 or beyond < -CLOSE * row["max_s"]:
        check(count == 0, "%s: %r outliers, and nothing is far out" % (where, count))
    elif beyond > CLOSE * row["max_s"]:
        check(count > 0, where + ": no outliers, and an end is far out")


def check_state(row, where, flags, throttle):
    """The series, the device's sensors, and the flags that follow from both."""
    check((row["series"] is not None) == (row["samples"] >= 30),
          "%s: %d samples, series %r" % (where, row["samples"], row["series"]))
    check(row["series"] is None or row["series"] in SERIES,
          "%s: the series is %s" % (where, row["series"]))
    for name in SERIES - {"steady"}:
        check((row["series"] == name) == (name.replace(" ", "-") in flags),
              "%s: the series is %s, flags %s" % (where, row["series"], flags))
    check(("throttled" in flags) == (throttle not in ([], ["none"])),
          "%s: throttle is %s, flags %s" % (where, row["throttle"], flags))
    check(("shared" in flags) == ((row["others"] or 0) > 0),
          "%s: others is %r, flags %s" % (where, row["others"], flags))
    check((row["energy_j"] is None) == (row["power_w"] is None),
          "%s: %r W, and %r J" % (where, row["power_w"], row["energy_j"]))
    known = row["bytes"] is not None and row["energy_j"] is not None
    check((row["gb_per_j"] is not None) == known, "%s: gb_per_j is %r" % (where, row["gb_per_j"]))
    if known and row["gb_per_j"] is not None:
        check(close(row["gb_per_j"], row["bytes"] / 1e9 / row["energy_j"]),
              "%s: gb_per_j is %r" % (where, row["gb_per_j"]))


def check_comparison(row, where):
    """With the first region of the interleave. What delta was is not in the row."""
    ratio, lo, hi, verdict = (row[name] for name in "ratio ratio_lo ratio_hi verdict".split())
    check((ratio is None) == (verdict is None), "%s: ratio %r, %s" % (where, ratio, verdict))
    check((lo is None) == (hi is None), "%s: ratio from %r to %r" % (where, lo, hi))
    if verdict is None:
        check(lo is None, "%s: not compared, and a ratio from %r to %r" % (where, lo, hi))
        return
    check(verdict in ("undecided", "faster", "slower", "same"), "%s: %s" % (where, verdict))
    if lo is None or ratio is None:
        check(verdict == "undecided", "%s: %s without an interval" % (where, verdict))
        return
    check(lo <= ratio * (1 + CLOSE) and ratio <= hi * (1 + CLOSE),
          "%s: a ratio of %r in %r ... %r" % (where, ratio, lo, hi))
    check(verdict != "faster" or hi < 1, "%s: faster by %r ... %r" % (where, lo, hi))
    check(verdict != "slower" or lo > 1, "%s: slower by %r ... %r" % (where, lo, hi))


def check_samples(row, samples, where):
    """All that were taken, of a row that is ok."""
    check(row["status"] == "ok" and len(samples) == row["samples"],
          "%s: %r samples, and %d of them" % (where, row["samples"], len(samples)))
    if samples:
        ordered = sorted(samples)
        half = len(ordered) // 2
        median = (ordered[half] + ordered[-1 - half]) / 2
        found = [ordered[0], median, ordered[-1]]
        check(all(close(a, row[name]) for a, name in zip(found, ("min_s", "median_s", "max_s"))),
              "%s: its samples say %r" % (where, found))


def check_gbench(name, rows, part):
    """Google Benchmark's JSON, as its tools read it, against the rows that are ok."""
    with open(name, encoding="utf-8") as f:
        tree = json.load(f)
    check(tree["context"]["json_schema_version"] == 1, name + ": the version of its schema")
    check("date" in tree["context"], name + ": no date")
    entries = tree["benchmarks"]
    ok = [row for row in rows if row["status"] == "ok"]
    if not check(part or len(entries) == len(ok),
                 "%s has %d entries of %d rows" % (name, len(entries), len(ok))):
        return
    for entry, row in zip(entries, ok):
        where = "%s, %s" % (name, entry["name"])
        check(entry["name"].startswith("%s/%s" % (row["bench"], row["kernel"])) and
              entry["run_name"] == entry["name"], where + ": its name")
        check(entry["run_type"] == "iteration" and entry["threads"] == 1, where + ": no iteration")
        check(entry["iterations"] == row["samples"] * row["batch"], where + ": iterations")
        check(entry["time_unit"] == "ns", where + ": its unit")
        for member, value in (("real_time", 1e9 * row["median_s"]),
                              ("cpu_time", 1e9 * row["median_s"]),
                              ("bytes_per_second", row["gbps"] and 1e9 * row["gbps"]),
                              ("items_per_second", row["elements_per_s"])):
            check((member in entry) == (value is not None) and
                  (value is None or close(entry[member], value)),
                  "%s: %s is %r, not %r" % (where, member, entry.get(member), value))
        for value in (row["values"] or "").split(";"):
            check(not value or entry.get(value) == row[value], "%s: %s" % (where, value))


def settings_of(tree):
    """The column of CSV that says what is not as by default, from the context of JSON."""
    usual = {"precision": 0.01, "budget_s": 2, "least_s": 0.1, "warmup_s": 0.5, "min_samples": 30,
             "max_samples": 10000, "seed": 1, "profile": "quick", "cache": "hot",
             "order": "natural", "delta": 0.01, "peak_gbps": None, "processes": 1, "raw": "no",
             "strict": "no", "arguments": None}
    settings = tree.get("settings", {})
    check(list(settings) == list(usual), "the settings are " + ", ".join(settings))
    text = ";".join(["program=" + tree.get("program", "")] + [
        "%s=%s" % (name, value) for name, value in settings.items() if value != usual.get(name)])
    return text.replace(",", " ")


def read_json(name, axes):
    """The rows of a JSON file, flat, and its notes, after checking its form."""
    def pairs(items):
        check(len(dict(items)) == len(items),
              name + ": a key is there twice: " + ", ".join(k for k, _ in items))
        return dict(items)

    def refuse(text):
        raise ValueError(text + " is not JSON")

    with open(name, encoding="utf-8") as f:
        try:
            tree = json.load(f, object_pairs_hook=pairs, parse_constant=refuse)
        except ValueError as error:
            check(False, "%s: %s" % (name, error))
            return [], []
    for part, key in (("device", "name"), ("device", "backend"), ("settings", "seed")):
        check(key in tree.get(part, {}), "%s: the context has no %s of the %s" % (name, key, part))
    check(tree.get("schema") == SCHEMA, "%s: schema %r" % (name, tree.get("schema")))
    for key, values in (("cache", ("hot", "cold")), ("order", ("natural", "drawn"))):
        check(tree.get("settings", {}).get(key) in values,
              "%s: the settings' %s is missing or wrong" % (name, key))
    for key in ("graph_interval_s", "block_launch_s"):
        check(key in tree.get("device", {}), "%s: the device has no %s" % (name, key))
    notes = tree.get("notes")
    if not check(isinstance(notes, list), name + ": no list of notes"):
        notes = []
    for note in notes:
        check(isinstance(note, str) and note, "%s: a note is no text: %r" % (name, note))
    if not check(isinstance(tree.get("rows"), list), name + ": no rows"):
        return [], notes
    rows = []
    for number, entry in enumerate(tree["rows"], 1):
        where = "%s, row %d" % (name, number)
        row = {key: value for key, value in entry.items()
               if key not in ("axes", "values", "samples_s")}
        if "samples_s" in entry:
            check_samples(row, entry["samples_s"], where)
        values = entry.get("values", {})
        row["values"] = ";".join(values) or None
        row.update(values)
        row["gpumb"] = tree.get("gpumb")
        row["settings"] = settings_of(tree)
        row.update(entry.get("axes", {}))
        if isinstance(row.get("flags"), list):
            row["flags"] = ";".join(row["flags"]) or None
        for key, value in row.items():
            if value is None:
                continue
            if key in TEXTS:
                check(isinstance(value, str), "%s: %s is no text: %r" % (where, key, value))
                row[key] = value or None
            elif key in INTEGERS:
                check(type(value) is int, "%s: %s is no integer: %r" % (where, key, value))
            elif key in COLUMNS or key in values:
                check(type(value) in (int, float), "%s: %s is no number: %r" % (where, key, value))
            elif key not in COLUMNS:
                check(type(value) in (int, float, str), "%s: axis %s is %r" % (where, key, value))
                check(axes is None or key in axes, "%s: unknown key %s" % (where, key))
        rows.append(row)
    return rows, notes


def same(a, b):
    """Two values of a field. Figures have a limited number of digits."""
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and close(a, b)
    return a == b


def compare(name, rows, other, others):
    if not check(len(rows) == len(others),
                 "%s has %d rows, %s has %d" % (name, len(rows), other, len(others))):
        return
    for number, (a, b) in enumerate(zip(rows, others), 1):
        for key in sorted(set(a) | set(b)):
            if key == "schema":
                continue
            check(same(a.get(key), b.get(key)), "row %d: %s is %r in %s and %r in %s"
                  % (number, key, a.get(key), name, b.get(key), other))


def read_markdown(name):
    """The rows of the tables, as lists of cells, and the notes behind them."""
    def cells(line):
        return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]

    with open(name, encoding="utf-8") as f:
        lines = f.read().splitlines()
    rows = []
    notes = []
    columns = 0
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            columns = 0
            if line.startswith("- "):
                notes.append(line[2:])
            continue
        check(not notes, "%s:%d: a table behind the notes" % (name, number + 1))
        check(line.rstrip().endswith("|"), "%s:%d: does not end in |" % (name, number + 1))
        row = cells(line)
        if not columns:  # a head; its rule follows
            columns = len(row)
            rule = cells(lines[number + 1]) if number + 1 < len(lines) else []
            check(len(rule) == columns and all(re.match(r":?-+:?\Z", cell) for cell in rule),
                  "%s:%d: no rule under the head" % (name, number + 1))
            continue
        check(len(row) == columns,
              "%s:%d: %d cells, not %d" % (name, number + 1, len(row), columns))
        if not all(re.match(r":?-+:?\Z", cell) for cell in row):
            rows.append(row)
    return rows, notes


def check_files(csv_name, json_name, md_name, axes=None, count=None, part=False, gbench=None):
    """Checks the files of one run; each may be missing."""
    files = {}
    notes = {}
    if csv_name:
        files[csv_name] = read_csv(csv_name, axes, part)
    if json_name:
        files[json_name], notes[json_name] = read_json(json_name, axes)
    for name, rows in files.items():
        for number, row in enumerate(rows, 1):
            missing = [column for column in COLUMNS if column not in row]
            if name == csv_name:
                check(not missing, "%s, row %d: no %s" % (name, number, ", ".join(missing)))
            row.update((column, None) for column in missing)
            check_row(row, "%s, row %d" % (name, number))
    if csv_name and json_name:
        compare(csv_name, files[csv_name], json_name, files[json_name])
    for rows in list(files.values())[:1 if gbench else 0]:
        check_gbench(gbench, rows, part)
    if md_name:
        files[md_name], notes[md_name] = read_markdown(md_name)
    if json_name and md_name:
        check(notes[json_name] == notes[md_name],
              "the notes are %r in %s and %r in %s"
              % (notes[json_name], json_name, notes[md_name], md_name))
    if count is not None:
        for name, rows in files.items():
            check(len(rows) == count, "%s has %d rows, not %d" % (name, len(rows), count))


def check_run(arguments):
    """The files of one run; without any, all of tests/golden."""
    global skipped
    axes = arguments.axes
    if axes is not None:
        axes = axes.split(",") if axes else []
    if arguments.csv or arguments.json or arguments.md:
        check_files(arguments.csv, arguments.json, arguments.md, axes, arguments.rows,
                    arguments.part, arguments.gbench)
    else:
        golden = os.path.join(here, "golden")
        names = os.listdir(golden) if os.path.isdir(golden) else []
        stems = sorted({os.path.splitext(name)[0] for name in names})
        if not stems:
            skipped += 1
            print("parse_back.py: skipped: nothing in tests/golden")
        for stem in stems:
            names = [os.path.join(golden, stem + end) for end in (".csv", ".json", ".md")]
            gbench = os.path.join(golden, stem + ".gb")
            check_files(*[name if os.path.exists(name) else None for name in names],
                        gbench=gbench if os.path.exists(gbench) else None)


def main():
    global passed, failed
    parser = argparse.ArgumentParser(description="Parses gpumb's files back.")
    parser.add_argument("--csv")
    parser.add_argument("--json")
    parser.add_argument("--md")
    parser.add_argument("--gbench", help="beside --csv or --json")
    parser.add_argument("--axes", help="expected axes, in order")
    parser.add_argument("--rows", type=int, help="expected number of rows")
    parser.add_argument("--part", action="store_true", help="the run was interrupted")
    parser.add_argument("--list", help="a file with arguments")
    arguments = parser.parse_args()
    if arguments.list:
        with open(arguments.list, encoding="utf-8") as f:
            runs = [line.split("\t")[:-1] for line in f.read().splitlines()]
        wrong = 0
        for run in runs:
            before = failed
            try:
                check_run(parser.parse_args(run))
            except (OSError, ValueError, LookupError, TypeError) as error:
                check(False, "%s: %s" % (type(error).__name__, error))
            if failed > before:
                wrong += 1
                print("    of parse_back.py " + " ".join(run))
        passed, failed = len(runs) - wrong, wrong
    else:
        check_run(arguments)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
