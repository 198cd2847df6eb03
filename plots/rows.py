"""Reads the CSV and JSON files of gpumb's programs, and arranges their rows as the points of a
figure."""

import csv
import functools
import io
import json
import math
import re
import statistics
import sys
import time
from collections import Counter, namedtuple
from dataclasses import replace
from pathlib import Path

from families import (
    COLUMNS,
    FAMILIES,
    RATES,
    INTERVALS,
    REFERENCES,
    Family,
    Point,
    axis_label,
    bars,
    clusters,
    emulated,
    file_name,
    heat,
    lines,
    order,
    page_styles,
    quantity,
    rate,
    visible,
)

HEADER = Path(__file__).resolve().parent.parent / "gpumb.h"
TO_MEASURE = (
    "measure first, for instance by make run (seconds), make bench (all) or PROGRAM --csv "
    "results/PROGRAM.csv, or say where rows are, as in FROM=bench/results"
)
# Columns that all files have; those of one version more, of an older one fewer of the others.
NEEDED = """
    schema bench kernel backend device status median_s ci_lo_s ci_hi_s bytes flop gbps gflops flags
""".split()


class Problem(Exception):  # the input cannot be drawn; the text names the file and the remedy
    pass


def say(text):
    line = " ".join(visible(text).split("\n"))  # it may quote a file
    print(f"{Path(sys.argv[0]).name}: {line}", file=sys.stderr)


@functools.cache
def found_in(header, pattern):
    """What a pattern finds in gpumb.h, which has columns, options and flags in lists."""
    try:
        return re.search(pattern, header.read_text("utf-8"))[1]
    except (OSError, TypeError):
        raise Problem(f"{header}: has no {pattern.split('(')[0]}: plots/ belongs beside gpumb.h")


def listed(name, header=None):
    """The entries of such a list, #define NAME(X) X(...) X(...), each as its arguments, texts
    without their quotes."""
    text = found_in(header or HEADER, rf"{name}\(X\)((?:.*\\\n)+.*)").replace("\\\n", " ")
    text = re.sub(r'"\s+"', "", text)
    entries = re.findall(r'X\(((?:[^()"]|"(?:[^"\\]|\\.)*")*)\)', text)
    parts = (re.findall(r'\s*("(?:[^"\\]|\\.)*"|[^,"]+)(?:,|$)', e) for e in entries)
    return [[p.strip().strip('"').replace('\\"', '"') for p in own] for own in parts]


@functools.cache
def fixed_columns():
    return {name for name, *_ in listed("GPUMBI_ROW_FIELDS")} | {TIME}


TIME = "time_utc"  # when a row was measured, 2026-11-24T07:05:00Z; older files have none
Figure = namedtuple("Figure", "machine name family panels rows caption style")


def find(inputs, partial):
    """The files that may hold rows: of a program's CSV and JSON, which say the same, both."""
    names = {
        f for i in map(Path, inputs) for f in (i.rglob("*") if i.is_dir() else [i]) if f.is_file()
    }
    parts = {f for f in names if f.name.endswith(".csv.part")}
    files = {f for f in names if f.suffix in (".csv", ".json")} | (parts if partial else set())
    if not files:
        found = "no CSV or JSON file found" if names else "no such file, or nothing in it"
        raise Problem(
            f"{' '.join(map(str, inputs))}: {found}: "
            + ("add --partial to draw the interrupted *.csv.part" if parts else TO_MEASURE)
        )
    return sorted(files)


def is_ours(path, quiet=False):
    """Whether it has the header that gpumb writes; other tables may lie beside."""
    with path.open("rb") as f:
        names = f.readline().decode("utf-8", "replace").lstrip("\ufeff").rstrip().split(",")
    ours = {"schema", "bench", "kernel"} <= {n.strip('"') for n in names}
    if not ours and not quiet:
        say(f"{path}: skipped: its header is not that of a gpumb benchmark")
    return ours


def need(path, have, columns):
    missing = [c for c in columns if c and c not in have]
    if missing:
        raise Problem(
            f"{path}: column missing: {', '.join(missing[:5])}: "
            "run its benchmark again with this version"
        )


def read(path):
    """The rows of one file as dictionaries; @file, @line and @date say where each is from, @axes
    what it sets."""
    part = path.suffix == ".part"
    try:
        text = path.read_bytes().decode("utf-8-sig")
        text = (
            text[: text.rfind("\n") + 1] if part else text
        )  # the last line of an interrupted file may be cut
        reader = csv.reader(io.StringIO(text, newline=""), strict=not part)
        (_, header), *lines = [(reader.line_num, line) for line in reader if line] or [(1, [])]
    except (OSError, UnicodeError, csv.Error) as e:
        raise Problem(
            f"{path}: cannot be read ({e}): run its benchmark again or move the file away"
        )
    date, rows = time.strftime("%Y-%m-%d", time.gmtime(path.stat().st_mtime)), []
    for at, line in lines:
        row = {c: v for c, v in zip(header, line) if not c.startswith("@")}  # these are our own
        check_schema(path, at, row.get("schema", "1"))
        row.update(measured(row, date), **{"@file": path, "@line": at})
        if len(line) != len(header):
            raise Problem(
                f"{path}:{at}: {len(line)} fields under {len(header)} columns: "
                "run its benchmark again"
            )
        row["values"] = ";".join(v for v in row.get("values", "").split(";") if v[:1] != "@")
        fixed = fixed_columns() | {*row["values"].split(";")}
        row["@axes"] = sorted(c for c in row.keys() - fixed if c[:1] != "@" and row[c])
        rows.append(row)
    need(path, header, NEEDED)
    return finish(rows)


def check_schema(path, at, schema):
    newest = int(found_in(HEADER, r"GPUMBI_SCHEMA = (\d+)"))
    if str(schema) not in map(str, range(1, newest + 1)):
        raise Problem(
            f"{path}:{at}: schema is {schema!r}, not 1 to {newest}: "
            "use one version of bench/ and plots/"
        )


def measured(row, date):
    """The day on which a row was measured, and whether it says so itself; else that of its file."""
    own = re.fullmatch(r"(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d+)?Z", row.get(TIME) or "")
    return {"@date": own[1] if own else date, "@dated": bool(own)}


@functools.cache
def number_columns():
    kinds = ("NUMBER", "COUNT", "INT", "MEGA")
    return [name for name, kind, *_ in listed("GPUMBI_ROW_FIELDS") if kind in kinds]


def finish(rows, device=None):
    for r in rows:
        for column in number_columns():
            number(r, column)  # or it ends here
        for column in fixed_columns() - r.keys():
            r[column] = ""
    add_intensities(rows, peaks_of(device or {}))
    add_spans(rows)
    add_levels(rows)
    add_mix(rows)
    return rows


def part_of(path, whole, key, kind):
    """What a JSON object has under this key: of this kind, or nothing."""
    found = whole.get(key)
    if found is not None and not isinstance(found, kind):
        raise Problem(f"{path}: {key} is no {'list' if kind is list else 'object'}: run it again")
    return kind() if found is None else found


def read_json(path):
    """The contexts in a JSON file, one or several by name, and its rows as those of a CSV file; of
    a file that is not gpumb's, none."""
    try:
        top = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as e:
        raise Problem(
            f"{path}: cannot be read ({e}): run its benchmark again or move the file away"
        )
    inside = top.values() if isinstance(top, dict) and "device" not in top else [top]
    contexts = [
        c for c in inside if isinstance(c, dict) and {"schema", "device", "program"} <= c.keys()
    ]
    rows = []
    for c in contexts:
        for key, kind in (("device", dict), ("settings", dict), ("notes", list), ("rows", list)):
            c[key] = part_of(path, c, key, kind)
        check_schema(path, "schema", c["schema"])
        c["program"], c["@file"], own_rows = str(c["program"]), path, []
        for at, line in enumerate(c["rows"], 1):
            if not isinstance(line, dict):
                raise Problem(f"{path}: row {at} is no object: run it again")
            axes, values = (part_of(path, line, key, dict) for key in ("axes", "values"))
            own = {"values": ";".join(v for v in values if v[:1] != "@"), **axes, **values}
            own.update((k, v) for k, v in line.items() if k not in ("axes", "values", "samples_s"))
            row = {k: "" if v is None else str(v) for k, v in own.items() if k[:1] != "@"}
            row.update(measured(row, str(c.get("date"))[:10]), **{"@file": path, "@line": at})
            need(path, row, NEEDED)
            row["@axes"] = sorted(a for a, v in axes.items() if v is not None and a[:1] != "@")
            own_rows.append(row)
        rows += finish(own_rows, c["device"])
    return contexts, rows


# Operations of floats in the time of one of doubles: bench/rates.h has the source.
F64_TAKES = {"sm_70": 2, "sm_75": 32, "sm_80": 2, "sm_86": 64, "sm_89": 64, "sm_90": 2}


def peaks_of(device):
    """GFLOP/s by type, as text, of what a file says of its device."""
    f32 = str(device.get("peak_fp32_gflops") or "")
    takes, known = F64_TAKES.get(str(device.get("arch"))), quantity({"f32": f32}, "f32")
    return {"f32": f32, "f64": str(known / takes) if takes and known > 0 else ""}


def add_intensities(rows, peaks):
    """Of a roofline that says none: FLOP for each byte, and the peak of its type, which is that of
    its buffers, where it is known. Where a row is nearer to the peak of its arithmetic than to
    memory's, `pct_peak` tells that peak."""
    for r in rows:
        if r["bench"].endswith("roofline"):
            work, moved = number(r, "flop"), number(r, "bytes")
            r.setdefault("flop_per_byte", str(work / moved) if moved > 0 and work > 0 else "")
            r.setdefault("type", r["fill"])
            r.setdefault("type_peak_gflops", peaks.get(r["type"], ""))
        elif r["bench"] == "roofline/roofs" and "type_peak_gflops" not in r:
            share, peak = number(r, "pct_peak"), number(r, "peak_gbps")
            known = share > (100 * number(r, "gbps") / peak * (1 + 1e-9) if peak > 0 else 0)
            r["type_peak_gflops"] = str(100 * number(r, "gflops") / share) if known else ""


def add_spans(rows):
    """What the spin's own clock showed, in microseconds."""
    for r in rows:
        if r["bench"] == "floor/span":
            own_s = number(r, "span_s")
            r["span_us"] = str(own_s * 1e6) if own_s > 0 else ""


def add_mix(rows):
    """What n-body comes to where nothing but its mix of instructions is issued, as measured."""
    found = {r["device"]: number(r, "gflops") * number(r, "flop_per_instruction") for r in rows
             if r["bench"] == "nbody/issue" and r["status"] == "ok" and "mix" in r["kernel"]}
    for r in rows:
        if r["bench"].startswith("nbody/") and r["bench"] != "nbody/issue":
            mix = found.get(r["device"], math.nan)
            r["mix_gflops"] = str(mix) if mix > 0 else ""


def add_levels(rows):
    """The plateaus that latency has found in its chase through all lines: names, by footprint."""
    found = [r for r in rows if r["bench"] == "latency/levels" and r["status"] == "ok"]
    for r in rows:
        if r["bench"] == "latency/chase":
            inside = [
                f["kernel"]
                for f in found
                if r["stride_bytes"] == "128"
                and number(f, "from_bytes") <= number(r, "footprint") <= number(f, "to_bytes")
            ]
            r["level"] = inside[0] if inside else ""


def load(inputs, partial=False, apart=False, quiet=False):
    """The contexts and the rows of all files, those measured last behind the others, which they
    replace; where a program's CSV and JSON lie beside each other, the rows of the CSV. If the
    inputs are to be told apart, rows have their source."""
    contexts, groups = [], {}
    for i in inputs if apart else [None]:
        files, found = find([i] if apart else inputs, partial), []
        for f in files:
            if f.suffix == ".json":
                own, rows = read_json(f)
                contexts += own
                if not own and not quiet:
                    say(f"{f}: skipped: no JSON of a gpumb benchmark")
                if f.with_suffix(".csv") not in files:
                    found.append((f, rows))
            elif is_ours(f, quiet):
                found.append((f, read(f)))
        found.sort(key=lambda of: age(*of))
        name = Path(i).name.removesuffix(".csv").removesuffix(".json") if apart else ""
        name += f" ({len(groups) + 1})" * (name in groups)
        groups[name] = [row for _, rows in found for row in rows]
        if not groups[name]:
            raise Problem(
                f"{i or ' '.join(map(str, inputs))}: the files hold no rows: {TO_MEASURE}"
            )
    if apart:
        name_sources(groups)
    return contexts, [r for rows in groups.values() for r in rows]


def age(path, rows):
    """Sorts files by when they were measured; before these, by the files' own time, older ones."""
    dated = max((r[TIME] for r in rows if r["@dated"]), default="")
    return dated, path.stat().st_mtime, str(path)


def read_all(inputs, partial=False, apart=False, quiet=False):
    return load(inputs, partial, apart, quiet)[1]


def value(text):
    """The number that a text is, or the text: a name, also one like nan."""
    try:
        return float(text) if math.isfinite(float(text)) else text
    except ValueError:
        return text


def number(row, column):
    """The number in a column, nan where it is empty."""
    text = row.get(column) or "nan"
    try:
        return float(text)
    except ValueError:
        raise Problem(
            f"{row['@file']}:{row['@line']}: {column} is {text!r}, not a number: "
            "run its benchmark again"
        )


def point(family, row):
    """The row as a point, None where it cannot be drawn."""
    work, unit, _ = rate(family.y)
    x = value(row[family.x])
    if family.y == "error_pct":
        if row["status"] != "ok" or not isinstance(x, float):
            return None
        span = number(row, "span_us") * 1e-6
        times = (number(row, c) for c in ("median_s", "ci_lo_s", "ci_hi_s"))
        return Point(x, *(100 * (t / span - 1) for t in times), math.nan, row)
    each = number(row, "elements") if family.y in ("each_us", "each_ns") else 1
    column = COLUMNS.get(family.y, family.y)
    y = number(row, column) / (each or math.nan)
    if (
        row["status"] != "ok"
        or not 0 <= y < math.inf
        or (family.draw in (lines, clusters) and not isinstance(x, float))
        or (family.group and math.isnan(quantity(row, family.group)))
        or (family.log2 and not (isinstance(x, float) and x > 0))
    ):
        return None
    if work:
        lo, hi = (
            number(row, work) / (number(row, c) or math.nan) / unit for c in ("ci_hi_s", "ci_lo_s")
        )
    elif family.y in RATES:
        ends = INTERVALS.get(family.y, ("ci_lo_s", "ci_hi_s"))
        lo, hi = (number(row, c) / each / unit for c in ends)
    else:  # any column, without an interval
        lo = hi = math.nan
    scaled = column in ("gbps", "gflops")  # in the file already
    y /= unit if not scaled and (family.y in COLUMNS or not work) else 1
    if lo > y * 1.01 or hi < y * 0.99:
        say(
            f"{row['@file']}:{row['@line']}: {family.y} {y:g} is outside "
            f"{work + ' / ' if work else ''}interval of the time, {lo:g} to {hi:g}"
        )
    model = number(row, "reference") * number(row, "expected_pct") / 100
    return Point(x, y, lo, hi, model, row)


def select(family, rows):
    """The family's rows, of one configuration only the latest, and how many these replace. Rows for
    NVIDIA's counters, whose names have "__", were measured shortly: they replace no others."""
    rows = [r for r in rows if r["bench"] == family.bench]
    rows.sort(key=lambda r: "__" not in r.get("values", ""))
    for r in rows:
        need(
            r["@file"],
            r,
            (
                *(family.x, family.series, family.panel, family.over),
                *(family.bands, family.group, *family.where),
            ),
        )
    rows = [r for r in rows if all(value(r[a]) == v for a, v in family.where.items())]
    latest, seen = {}, Counter()
    for r in rows:
        key = r.get("@source"), r["kernel"], *((a, r[a]) for a in r["@axes"])
        seen[key, r["@file"]] += 1  # the same twice in a file is no earlier run
        latest[key, seen[key, r["@file"]]] = r
    return list(latest.values()), len(rows) - len(latest)


# Of times that are all shorter, or longer, than a unit makes readable.
SMALLER = {"median_s": "median_ns", "each_us": "each_ns"}
LONGER = {"median_s": "median_ms"}


def in_units(family, rows):
    """The family, and its rows as points, in ns where all is below 0.1 \u00b5s, in ms where all is
    above 1."""
    points = [point(family, r) for r in rows]
    times = [p.y for p in points if p]
    other = None
    if times and max(times) < 0.1:
        other = SMALLER.get(family.y)
    elif times and min(times) >= 1000:
        other = LONGER.get(family.y)
    if not other:
        return family, points
    family = replace(family, y=other)
    return family, [point(family, r) for r in rows]


def dull(family, panels):
    """Why this is no figure: all it would show is one number, or x itself; "" for others."""
    curves = [[p.y for p in own] for series in panels.values() for own in series.values()]
    if family.draw != bars and max(map(len, curves)) > 1:
        spread = 5 if family.x == "trial" else 1  # per cent; trials are there to be alike
        if all(max(own) <= (1 + spread / 100) * min(own) for own in curves):
            return f"each curve's values are the same within {spread} %"
    points = [p for series in panels.values() for own in series.values() for p in own]
    values = [p.y for p in points]
    if len(values) == 1:
        return "there is one value"
    if max(values) <= 1.01 * min(values):
        return "all values are the same within 1 %"
    if family.x == "us" and family.y == "median_s":
        if all(abs(p.y - p.x) < 0.05 * p.x for p in points if not isinstance(p.x, str)):
            return "the times are the lengths that were asked for, within 5 %"
    return ""


def arrange(family, points):
    """{panel: {series: points}}, numbers in order, names in the order of the file; the fastest
    where several coincide."""
    best, panels, sign = {}, {}, 1 if rate(family.y)[0] else -1  # short times are fast
    for p in points:
        key = value(p.row[family.panel]) if family.panel else "", value(p.row[family.series]), p.x
        if key not in best or sign * p.y > sign * best[key].y:
            best[key] = p
    for panel, series, x in sorted(best, key=lambda k: [order(v) for v in k]):
        panels.setdefault(panel, {}).setdefault(series, []).append(best[panel, series, x])
    return panels, len(points) - len(best)


def references(family, points):
    """[(column, name, rate)] of the lines across a figure of rates: what one device's memory could
    do, unless that is so far off that nothing else would be seen."""
    rows = [p.row for p in points]
    if family.draw == heat or len({r["device"] for r in rows}) > 1:
        return []
    found, links = [], {}
    for r in rows if COLUMNS.get(family.y, family.y) == "gbps" else ():
        gbps, share, link = (number(r, c) for c in ("gbps", "pct_link", "link_gbps"))
        if share > 0 and gbps > 0 and link > 0:
            at = 100 * gbps / share
            links.setdefault("links" if at > 1.5 * link else "link", at)
    for column, at in sorted(links.items()):
        found.append((column, REFERENCES[column][0], at))
    for column, (name, _) in REFERENCES.items():
        if (
            column in ("link", "links")
            or family.y not in ("gbps", "copied_gbps", "gflops")
            or (family.y == "gflops") != (column == "mix_gflops")
        ):
            continue
        known = [v for v in (number(r, column) for r in rows) if v > 0]
        at = statistics.median(known) if known else math.inf
        if family.log_y and known or at < 10 * max(p.y for p in points):
            found.append((column, name, at))
    return found


def days(rows, date=None):
    """When rows were measured; those that do not say it, on the date of their file, or on this."""
    found = sorted({r["@date"] if r["@dated"] else date or r["@date"] for r in rows})
    own = sorted(r[TIME][:16].replace("T", " ") for r in rows if r["@dated"])
    if len(own) == len(rows) and len(found) == 1:
        end = "" if own[0] == own[-1] else f" to {own[-1][11:]}"
        return f"{own[0]}{end} UTC"
    return " to ".join(dict.fromkeys((found[0], found[-1])))


def caption(family, rows, panels, lost, slower, replaced, date):
    others = [
        a for a in rows[0]["@axes"] if a not in (family.x, family.series, family.panel, family.over)
    ]
    same = {a: rows[0][a] for a in others if all(r.get(a) == rows[0][a] for r in rows)}
    notes = [
        *dict.fromkeys(
            f"{r['device']}, backend {r['backend']}"
            + (" (emulated, not a GPU result)" if emulated(r) else "")
            for r in rows
        ),
        days(rows, date),
        *(
            f"{axis_label(a, family.bench).lower()} {family.label(a, value(v))}"
            for a, v in same.items()
        ),
        f"{len(rows)} rows, {sum(lost.values())} not drawn"
        + (f" ({', '.join(f'{n} {why}' for why, n in sorted(lost.items()))})" if lost else ""),
    ]
    fastest = f"each point is the fastest over {axis_label(family.over, family.bench).lower()}"
    notes += [
        fastest if family.over else f"{slower} slower rows at the same points left out"
    ] * bool(slower)
    notes += [f"{replaced} rows of other runs replaced"] * bool(replaced)
    notes += ["from an interrupted run"] * any(r["@file"].suffix == ".part" for r in rows)
    if family.draw is not heat:
        of = "interval of the ratio" if family.y == "ratio" else "interval of the median time"
        notes += [f"error bars: {of}"] * any(r["ci_lo_s"] for r in rows)
    if family.y == "error_pct":
        notes += ["error: against the spin's own clock, first block's start to last block's end"]
        notes += ["hollow: flagged as launch-bound, noisy or near the clock's resolution"]
    if family.bands == "level":
        notes += ["above the axes: the plateaus that the program has found for one in each 128 B"]
    elif family.bands:
        notes += ["above the axes: where the data come from, by size and by kind of access"]
    if family.published and rows[0]["backend"] != "cpu":
        notes += ["stars: published figures (J. Stephan, TU Dresden 2019)"]
    drawn = [p for series in panels.values() for points in series.values() for p in points]
    return " ".join(["; ".join(notes) + ".", *(family.says(drawn) if family.says else ())])


# ---- figures ----

PANELS_MAX = 15


def guess(bench, rows, x=None, y=None, series=None, panel=None, log=None):
    """A family for rows that none is known for, by what varies in them; or as it is asked for: the
    names of columns, and log: "x", "y", "xy" or "none"."""
    ok = [r for r in rows if r["status"] == "ok"] or rows
    for option, name in (("x", x), ("y", y), ("series", series), ("panel", panel)):
        if name and not any(r.get(name) for r in ok):
            axes = ", ".join(dict.fromkeys(a for r in ok for a in r["@axes"])) or "none"
            raise Problem(f"--{option} {name}: {bench} has no such column; its axes are {axes}")
    found = {a for r in ok for a in r["@axes"]} | {"kernel"}
    values = {c: list(dict.fromkeys(r.get(c, "") for r in ok)) for c in ok[0] if c in found}
    varies = [c for c in values if len(values[c]) > 1]

    def numbers(column):
        return all(isinstance(value(r.get(column, "")), float) for r in ok)

    def most(columns):
        return max(columns, key=lambda c: len(values[c]), default=None)

    free = [c for c in varies if c not in (series, panel)]
    x = x or most([c for c in free if numbers(c)]) or most(free) or "kernel"
    rest = [c for c in varies if c not in (x, series, panel)]
    if not series:
        series = "kernel" if "kernel" in rest else most(rest) or (x if x == "kernel" else "kernel")
    pairs = {c: {(r.get(series), r.get(c)) for r in ok} for c in (series, *rest)}
    rest = [c for c in rest if len(pairs[c]) > len(pairs[series])]  # not told by the series
    if panel is None:
        few = [c for c in rest if len(values[c]) <= PANELS_MAX]
        panel = min(few, key=lambda c: len(values[c]), default="")
    rest = [c for c in rest if c != panel]

    def drawn(column):
        return [v for v in (number(r, COLUMNS.get(column, column)) for r in ok) if 0 < v < math.inf]

    if not y:
        rates = ("gbps", "gflops", "elements_per_ns")
        y = next((c for c in rates if len(drawn(c)) == len(ok)), "median_s")
        across = ("to_device_bytes", "to_host_bytes")
        if y == "gbps" and all(any(number(r, c) > 0 for c in across) for r in ok):
            y = "moved_gbps"
    lined = numbers(x)
    xs, ys = sorted({value(r[x]) for r in ok}) if lined else [], drawn(y)
    steps = sorted(b / a for a, b in zip(xs, xs[1:]) if a > 0)
    gaps = [b - a for a, b in zip(xs, xs[1:])]
    even = len(gaps) > 1 and max(gaps) < 1.5 * min(gaps)
    far = steps and (steps[len(steps) // 2] >= 1.4 or xs[-1] >= 64 * xs[0])
    log_x = far and xs[0] > 0 and not even
    from_zero = len(xs) > 2 and xs[0] == 0 and xs[1] >= 1 and xs[-1] >= 64 * xs[1] and not even
    log_y = ys and max(ys) >= (100 if rate(y)[0] else 20) * min(ys)
    if log:
        log_x, log_y = "x" in log, "y" in log
    if lined and log_x and xs[0] <= 0:
        raise Problem(f"--log {log}: {bench} has {x} = {xs[0]:g}, which has no logarithm")
    what, named = re.split(", | in ", rate(y)[2])[0], axis_label(x, bench)
    return Family(
        bench,
        f"{bench}: {what.lower()} over {named[0].lower() + named[1:]}",
        x=x,
        series=series,
        panel=panel,
        over=rest[0] if len(rest) == 1 else "",
        draw=lines if lined else bars,
        log2=bool(lined and log_x),
        linear=not (log_x or (from_zero and not log)),
        log_y=bool(log_y),
        y=y,
        panel_title=axis_label(panel, bench).replace("{", "{{").replace("}", "}}") + ": {}"
        if panel
        else "{}",
    )


def families_of(rows, asked):
    """What is drawn of these rows: the known families, a guess for other benches, and for all of
    them where something is asked for. Those of which nothing is known come last."""
    benches = dict.fromkeys(r["bench"] for r in rows)
    known = [] if asked else [f for f in FAMILIES if f.bench in benches]
    for bench in (b for b in benches if b not in {f.bench for f in known}):
        own = [r for r in rows if r["bench"] == bench]
        axes = {a for r in own for a in r["@axes"]}
        for r in own:  # of several files, or sweeps of a JSON, which need not have the same axes
            r.update(dict.fromkeys(axes - r.keys(), ""))
        parts = [] if asked else sweeps_of(own)
        known += map(guess_sweep, parts) if len(parts) > 1 else [guess(bench, own, **asked)]
    return known


def sweeps_of(rows):
    """Rows of one benchmark, apart where it has several sweeps without an axis in common."""
    groups, parts = {}, []
    for r in rows:
        groups.setdefault(tuple(r["@axes"]), []).append(r)
    for axes, own in groups.items():
        near = [part for part in parts if part[0] & {*axes}]
        joined = {*axes}.union(*(part[0] for part in near)), sum((p[1] for p in near), []) + own
        parts = [part for part in parts if part not in near] + [joined]
    if () in groups or len(parts) < 2:
        return [rows]
    for axes, own in parts:
        for r in own:
            r["@sweep"] = ", ".join(sorted(axes))
    return [own for _, own in parts]


def guess_sweep(rows):
    """A family for one of several sweeps of a benchmark, which is called by its kernels."""
    family = guess(rows[0]["bench"], rows)
    kernels = ", ".join(dict.fromkeys(r["kernel"] for r in rows))
    return replace(
        family,
        title=family.title.replace(": ", f", {kernels}: ", 1),
        name=f"{family.name}-{file_name(kernels)}",
        where={"@sweep": rows[0]["@sweep"]},
    )


def name_sources(inputs):
    """Overlaid are the devices of the inputs, lists of rows; where these do not tell them apart,
    the inputs themselves."""
    devices = [{r["device"] for r in rows} for rows in inputs.values()]
    apart = len(set.union(*devices)) == len(devices) == sum(map(len, devices))
    for name, rows in inputs.items():
        for r in rows:
            r["@source"] = r["device"] if apart else name


def name_cards(family, rows):
    """Rows of several equal cards in one file, of --device 0,1, are told apart as sources are; and
    whether there are several."""
    if len({r.get("on_device") for r in rows}) < 2 or "on_device" in (
        *(family.x, family.series, family.panel, family.over),
        *(family.bands, family.group),
    ):
        return rows, False
    cards = [", ".join(r[c] for c in ("@source", "on_device") if r.get(c)) for r in rows]
    return [{**r, "@source": card} for r, card in zip(rows, cards)], True


def overlay(family, rows):
    """The family with its sources as lines or bars beside each other, in a panel for each of what
    its series were; of a heat map, a panel for each source."""
    sources = {r["@source"] for r in rows}
    names = {c: {r[c] for r in rows} for c in (family.series, family.panel) if c}
    series, panels = (len(names.get(c, [""])) for c in (family.series, family.panel))
    if len(sources) < 2:
        return family
    if (series == 1 or family.series == family.x) and family.draw != heat:
        return replace(family, series="@source")
    both = "@source" if family.draw == heat else family.series
    apart = panels * (len(sources) if family.draw == heat else series) <= PANELS_MAX
    for r in rows:
        parts = [family.panel] * bool(family.panel and apart) + [both]
        r["@series"] = ", ".join(
            f"{axis_label(c, family.bench).lower()} {family.label(c, value(r[c]))}"
            if isinstance(value(r[c]), float)
            else r[c]
            for c in parts
        )
    if apart:
        kept = family.series if family.draw == heat else "@source"
        return replace(family, series=kept, panel="@series", panel_title="{}", published={})
    for r in rows:
        r["@series"] += ", " + r["@source"]
    return replace(family, series="@series")


def figures(rows, wanted=None, asked=None, date=None, together=False, without=None):
    """The figures, those of a machine one after the other; of all sources together, where they are
    to be overlaid. `without` takes (benchmark, why) where nothing of one is drawn."""
    machines, found, names = {}, [], Counter()
    for r in rows:
        machines.setdefault(("",) if together else (r["device"], r["backend"]), []).append(r)
    for machine, own_rows in sorted(machines.items()):
        place = ", backend ".join(machine) or "overlaid"
        for family in families_of(own_rows, asked or {}):
            own, replaced = select(family, own_rows)
            if not own:
                continue
            own, several = name_cards(family, own)
            if together or several:
                by = [c for c in (family.panel, family.series) if c]
                own.sort(key=lambda r: [order(value(r[c])) for c in by])
                family = overlay(family, own)
            family, points = in_units(family, own)
            lost = Counter(
                r["status"] if r["status"] != "ok" else "without a value"
                for r, p in zip(own, points)
                if not p
            )
            panels, slower = arrange(family, [p for p in points if p])
            why = f"none of {len(own)} rows has a rate or a time" if not panels else ""
            if panels and not asked and family.bench not in {f.bench for f in FAMILIES}:
                why = dull(family, panels)
            if why:
                if without is not None:
                    without.append((family.bench, why))
                if not panels:
                    say(f"{family.name}: nothing to draw for {place}: {why}")
                continue
            name = file_name(machine[0]) or "overlaid"
            name = "-".join([name, *map(file_name, machine[1:]), family.name])
            name += f"-{1 + names[name]}" * bool(names[name])
            names[name] += 1
            text = caption(family, own, panels, lost, slower, replaced, date)
            found.append(Figure(place, name, family, panels, own, text, None))
    styles = page_styles([(f.family, f.panels) for f in found])
    for figure, style in zip(found, styles):
        if not wanted or {figure.name, figure.family.name} & {*wanted}:
            yield figure._replace(style=style)
