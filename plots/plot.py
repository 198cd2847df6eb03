#!/usr/bin/env python3
"""Draws the figures of families.py from the benchmarks' CSV files:
    python3 plots/plot.py results --out results/figures

Writes a set of PNG and SVG per device and backend, and report.md, which shows them with their
captions; with --store NAME,... small PNG of these figures alone. Other tables are skipped. Exit
code 2 where the input cannot be drawn, with one line on stderr that says why and what to do.
"""

import argparse
import csv
import io
import math
import re
import statistics
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path

from PIL import Image  # comes with matplotlib
from matplotlib import pyplot
from matplotlib.ticker import FixedLocator, FuncFormatter

from families import (
    BAND,
    COLUMNS,
    FAMILIES,
    FLAGGED,
    RATES,
    Point,
    axis_label,
    count,
    heat,
    order,
    rounded,
    styles,
    value_label,
)

SCHEMAS = ("1", "2", "3", "4")
FIXED = """
    schema bench kernel backend device status reason verified timing meaning samples batch stop
    median_s ci_lo_s ci_hi_s min_s q1_s q3_s max_s mean_s sd_s mad_s first_launch_s overhead_s
    bytes flop gbps gflops peak_gbps pct_peak ceiling_gbps pct_ceiling footprint_bytes cache
    registers occupancy sm_clock_mhz mem_clock_mhz power_w temp_c energy_j fill seed flags
""".split()
SINCE = """
    gpumb reference expected_pct measured_pct effective_samples outliers sm_clock_before_mhz
    mem_clock_before_mhz temp_before_c gb_per_j throttle others series compared_with ratio ratio_lo
    ratio_hi verdict processes process_lo_s process_hi_s ratio_rounds process_medians_s
    to_device_bytes to_host_bytes link link_gbps pct_link elements elements_per_s values
    settings
""".split()  # fixed columns that older files do not have
SPAN = re.compile(r"(\d+) x (\d+) threads spin (\d+) us: span ([\d.]+) us")  # a note of floor.cu
REFERENCES = {"peak_gbps": ("theoretical peak", "-"), "ceiling_gbps": ("measured ceiling", "--")}
STYLE = {
    "backend": "agg",
    "figure.figsize": (13.33, 7.5),
    "savefig.dpi": 120,
    "font.size": 16,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "gpumb",
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
}


class Problem(Exception):  # the input cannot be drawn; the text names the file and the remedy
    pass


def say(text):
    print(f"plot.py: {text}", file=sys.stderr)


def find(inputs, partial):
    """The files, oldest first, so that the rows of a later run replace those of an earlier one."""
    names = {
        f for i in map(Path, inputs) for f in (i.rglob("*") if i.is_dir() else [i]) if f.is_file()
    }
    parts = {f for f in names if f.name.endswith(".csv.part")}
    files = {f for f in names if f.suffix == ".csv"} | (parts if partial else set())
    if not files:
        hint = (
            "add --partial to draw the interrupted *.csv.part"
            if parts
            else "run the benchmarks first"
        )
        raise Problem(f"{' '.join(inputs)}: no CSV file found: {hint}")
    return sorted(files, key=lambda f: (f.stat().st_mtime, str(f)))


def is_ours(path):
    """Whether it has the header that gpumb writes; other tables may lie beside."""
    with path.open("rb") as f:
        names = f.readline().decode("utf-8", "replace").lstrip("\ufeff").rstrip().split(",")
    ours = {"schema", "bench", "kernel"} <= {n.strip('"') for n in names}
    if not ours:
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
    for number, line in lines:
        row = dict(zip(header, line), **{"@file": path, "@line": number, "@date": date})
        if row.get("schema", SCHEMAS[-1]) not in SCHEMAS:
            raise Problem(
                f"{path}:{number}: schema is {row['schema']}, not {' or '.join(SCHEMAS)}: "
                "use one version of bench/ and plots/"
            )
        if len(line) != len(header):
            raise Problem(
                f"{path}:{number}: {len(line)} fields under {len(header)} columns: "
                "run its benchmark again"
            )
        fixed = {*FIXED, *SINCE, *row.get("values", "").split(";")}
        row["@axes"] = sorted(c for c in set(header) - fixed if row[c])
        rows.append(row)
    need(path, header, FIXED)
    add_spans(path, rows)
    add_levels(rows)
    return rows


def add_spans(path, rows):
    """floor says what the spin's own clock showed in notes: in the JSON file or the terminal's text
    beside the CSV."""
    stem = path.name.removesuffix(".part").removesuffix(".csv")
    notes = (path.with_name(stem + end) for end in (".txt", ".json"))
    text = "".join(f.read_text("utf-8", "replace") for f in notes if f.is_file())
    spans = {m[:3]: m[3] for m in SPAN.findall(text)}
    for r in rows:
        if r["bench"] == "floor/span":
            r["span_us"] = spans.get((r["blocks"], r["block"], r["us"]), "")
    if not spans and any("span_us" in r for r in rows):
        say(
            f"{path}: no {stem}.json or {stem}.txt with the spans beside it: floor/span is not "
            "drawn: run floor with --json too"
        )


def add_levels(rows):
    """The plateaus that latency has found in its chase through all lines: names, by footprint."""
    found = [r for r in rows if r["bench"] == "latency/levels" and r["status"] == "ok"]
    for r in rows:
        if r["bench"] == "latency/chase":
            inside = [
                f["kernel"]
                for f in found
                if r["stride_bytes"] == "128"
                and float(f["from_bytes"]) <= float(r["footprint"]) <= float(f["to_bytes"])
            ]
            r["level"] = inside[0] if inside else ""


def value(text):
    try:
        return float(text)
    except ValueError:  # a name
        return text


def number(row, column):
    """The number in a column, nan where it is empty."""
    v = value(row.get(column) or "nan")
    if isinstance(v, str):
        raise Problem(
            f"{row['@file']}:{row['@line']}: {column} is {v!r}, not a number: "
            "run its benchmark again"
        )
    return v


def point(family, row):
    """The row as a point, None where it cannot be drawn."""
    work, unit, _ = RATES[family.y]
    x = value(row[family.x])
    if family.y == "error_pct":
        if row["status"] != "ok" or not isinstance(x, float):
            return None
        span = number(row, "span_us") * 1e-6
        times = (number(row, c) for c in ("median_s", "ci_lo_s", "ci_hi_s"))
        return Point(x, *(100 * (t / span - 1) for t in times), math.nan, row)
    each = number(row, "elements") if family.y == "each_us" else 1
    y = number(row, COLUMNS.get(family.y, family.y)) / (each or math.nan)
    if (
        row["status"] != "ok"
        or not 0 <= y < math.inf
        or (family.log2 and not (isinstance(x, float) and x > 0))
    ):
        return None
    if work:
        lo, hi = (
            number(row, work) / (number(row, c) or math.nan) / unit for c in ("ci_hi_s", "ci_lo_s")
        )
    else:
        lo, hi = (number(row, c) / each / unit for c in ("ci_lo_s", "ci_hi_s"))
    y /= unit if family.y in COLUMNS or not work else 1
    if lo > y * 1.01 or hi < y * 0.99:
        say(
            f"{row['@file']}:{row['@line']}: {family.y} {y:g} is outside "
            f"{work + ' / ' if work else ''}interval of the time, {lo:g} to {hi:g}"
        )
    model = number(row, "reference") * number(row, "expected_pct") / 100
    return Point(x, y, lo, hi, model, row)


def select(family, rows):
    """The family's rows, of one configuration only the latest; and how many these replace."""
    rows = [r for r in rows if r["bench"] == family.bench]
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
    latest = {(r["kernel"], *((a, r[a]) for a in r["@axes"])): r for r in rows}
    return list(latest.values()), len(rows) - len(latest)


def arrange(family, points):
    """{panel: {series: points}}, numbers in order, names in the order of the file; the fastest
    where several coincide."""
    best, panels, sign = {}, {}, 1 if RATES[family.y][0] else -1  # short times are fast
    for p in points:
        key = value(p.row[family.panel]) if family.panel else "", value(p.row[family.series]), p.x
        if key not in best or sign * p.y > sign * best[key].y:
            best[key] = p
    for panel, series, x in sorted(best, key=lambda k: [order(v) for v in k]):
        panels.setdefault(panel, {}).setdefault(series, []).append(best[panel, series, x])
    return panels, len(points) - len(best)


def caption(family, rows, panels, lost, slower, replaced, date):
    dates = sorted({r["@date"] for r in rows})
    others = [
        a for a in rows[0]["@axes"] if a not in (family.x, family.series, family.panel, family.over)
    ]
    same = {a: rows[0][a] for a in others if all(r.get(a) == rows[0][a] for r in rows)}
    notes = [
        f"{rows[0]['device']}, backend {rows[0]['backend']}"
        + (" (emulated, not a GPU result)" if rows[0]["backend"] == "cpu" else ""),
        date or " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        *(f"{axis_label(a).lower()} {value_label(a, value(v))}" for a, v in same.items()),
        f"{len(rows)} rows, {sum(lost.values())} not drawn"
        + (f" ({', '.join(f'{n} {why}' for why, n in sorted(lost.items()))})" if lost else ""),
    ]
    fastest = f"each point is the fastest over {axis_label(family.over).lower()}"
    notes += [
        fastest if family.over else f"{slower} slower rows at the same points left out"
    ] * bool(slower)
    notes += [f"{replaced} rows of earlier runs replaced"] * bool(replaced)
    notes += ["from an interrupted run"] * any(r["@file"].suffix == ".part" for r in rows)
    if family.draw is not heat:
        notes += ["error bars: interval of the median time"] * any(r["ci_lo_s"] for r in rows)
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


def rates(ax, family):
    """The axis of the rates, from zero where that can be."""
    ax.set_ylabel(RATES[family.y][2])
    if family.y == "error_pct":  # what is within the band is told apart, what is far off fits
        ax.set_yscale("symlog", linthresh=10, linscale=1.5)
        ax.yaxis.set_major_locator(FixedLocator([-100, -10, -5, 0, 5, 10, 100, 1000]))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:+.0f}" if v else "0"))
        return
    if not family.log_y:
        ax.set_ylim(0, None)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: count(v)))
    if family.log_y:  # what lies between powers of ten is named where there are few of these
        low, high = ax.get_ylim()
        few = high < 30 * low
        ax.yaxis.set_minor_formatter(FuncFormatter(lambda v, _: count(v) if few else ""))


def mark(ax, x, published):
    """Published figures of other devices, joined; at one x where they name none."""
    devices = {}
    for y, device, *at in published:
        devices.setdefault(device, []).append(((at or [x])[0], y))
    for points in devices.values():
        ax.plot(
            *zip(*points), marker="*", markersize=13, lw=1, color="#A00000", clip_on=False, zorder=5
        )
    for device, points in devices.items():  # after all of them have made the axes larger
        place = ax.transAxes.inverted().transform(ax.transData.transform(points[-1]))
        right = place[0] > 0.5
        ax.annotate(
            f"{device}: {' to '.join(f'{y:g}' for _, y in points)}",
            points[-1],
            (-10 if right else 10, 0),
            textcoords="offset points",
            ha="right" if right else "left",
            va="center",
            fontsize=11,
            color="#A00000",
        )


def colors(fig, frames, family):
    """One scale of colours, from zero, for the rates in all frames."""
    images = [image for ax in frames for image in ax.images]
    top = max(image.get_array().max() for image in images)
    for image in images:
        image.set_clim(0, top)
    frames[0].set_ylabel(axis_label(family.series))
    bar = fig.colorbar(images[0], ax=list(frames), label=RATES[family.y][2])
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: count(v)))


def title_of(family, rows):
    return family.title + (" (CPU, emulated)" if rows[0]["backend"] == "cpu" else "")


def draw(family, panels, text):
    lines = -(-len(panels) // 5)  # of at most five panels
    fig, grid = pyplot.subplots(
        lines, -(-len(panels) // lines), sharey=True, squeeze=False, constrained_layout=True
    )
    frames = [*grid.flat][: len(panels)]
    for ax in [*grid.flat][len(panels) :]:
        ax.remove()
    rows = [p.row for series in panels.values() for points in series.values() for p in points]
    style = styles(
        family.series,
        sorted(dict.fromkeys(s for series in panels.values() for s in series), key=order),
    )
    handles, references = {}, {}
    for ax, (panel, series) in zip(frames, panels.items()):
        family.draw(ax, family, series, style)
        if panel in family.published and rows[0]["backend"] != "cpu":
            last = max(p.x for points in series.values() for p in points)
            mark(ax, last, family.published[panel])
        handles.update((label, h) for h, label in zip(*ax.get_legend_handles_labels()))
        wanted = family.y == "gbps" and family.draw is not heat
        for column, (name, dash) in REFERENCES.items() if wanted else ():
            at = statistics.median([v for v in (number(r, column) for r in rows) if v > 0] or [0])
            if at:
                references[f"{name}\n{rounded(at)} GB/s"] = ax.axhline(
                    at, color="black", ls=dash, lw=1.8, zorder=1.5
                )
        # above the names of the bands
        title = family.panel_title.format(value_label(family.panel, panel))
        ax.set_title(title, pad=28 if family.bands and panel else None)
    for ax in frames[-grid.shape[1] :]:  # the lowest of each column
        ax.set_xlabel(axis_label(family.x))
    if family.draw is heat:
        colors(fig, frames, family)
    else:
        for ax in grid[:, 0]:
            rates(ax, family)
        known = [s.label for s in style.values()] + [family.model, FLAGGED, BAND]
        named = {label: handles[label] for label in known if label in handles} | references
        grid[0, -1].legend(
            named.values(),
            named.keys(),
            title=axis_label(family.series),
            loc="upper left",
            fontsize=14,
            bbox_to_anchor=(1.02, 1),
            borderaxespad=0,
            frameon=False,
        )
    fig.suptitle(textwrap.fill(title_of(family, rows), 90), fontsize=20)
    fig.supxlabel(
        textwrap.fill(text, 145).replace("$", r"\$"),
        x=0.01,
        ha="left",
        fontsize=12,
        color="#404040",
    )
    return fig


def save_small(figure, path):
    """A quarter of the bytes: fewer pixels, and 64 colours, thin lines' own among them."""
    pixels = io.BytesIO()
    figure.savefig(pixels, format="png", dpi=80)
    image = Image.open(pixels).convert("RGB")
    image = image.quantize(64, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    image.save(path, optimize=True)


def main():
    parser = argparse.ArgumentParser(
        description="Draws figures from the CSV files of the benchmarks."
    )
    parser.add_argument("inputs", nargs="+", help="folders with CSV files, or CSV files")
    parser.add_argument(
        "--out", default="results/figures", type=Path, help="folder for the figures"
    )
    parser.add_argument("--date", help="date for the captions instead of the files' own")
    parser.add_argument(
        "--partial", action="store_true", help="read interrupted files (*.csv.part) too"
    )
    parser.add_argument(
        "--store", metavar="NAME,...", help="small PNG of these figures alone, without report.md"
    )
    args = parser.parse_args()
    names = [f.name for f in FAMILIES]
    wanted = args.store.split(",") if args.store else names
    if not set(wanted) <= set(names):
        raise Problem(
            f"--store: there is no figure {', '.join(sorted(set(wanted) - set(names)))}; "
            f"known are {', '.join(names)}"
        )
    pyplot.rcParams.update(STYLE)
    rows = [row for f in find(args.inputs, args.partial) if is_ours(f) for row in read(f)]
    if not rows:
        raise Problem(
            f"{' '.join(args.inputs)}: the CSV files hold no rows: run the benchmarks first"
        )
    for bench in sorted({r["bench"] for r in rows} - {f.bench for f in FAMILIES}):
        say(f"bench {bench}: families.py has no figure for it")
    args.out.mkdir(parents=True, exist_ok=True)
    report = ["# Figures\n"]
    for machine in sorted({(r["device"], r["backend"]) for r in rows}):
        report.append(f"## {', backend '.join(machine)}\n")
        for family in (f for f in FAMILIES if f.name in wanted):
            own, replaced = select(
                family, [r for r in rows if (r["device"], r["backend"]) == machine]
            )
            points = [point(family, r) for r in own]
            lost = Counter(
                r["status"] if r["status"] != "ok" else "without a rate"
                for r, p in zip(own, points)
                if not p
            )
            panels, slower = arrange(family, [p for p in points if p])
            if not own:
                continue
            if not panels:
                say(
                    f"{family.name}: nothing to draw for {', backend '.join(machine)}: "
                    f"{len(own)} rows, none with a rate"
                )
                continue
            text = caption(family, own, panels, lost, slower, replaced, args.date)
            figure = draw(family, panels, text)
            name = (
                re.sub("[^a-z0-9]+", "-", machine[0].lower()).strip("-")
                + f"-{machine[1]}-{family.name}"
            )
            if args.store:
                save_small(figure, args.out / f"{name}.png")
            else:
                figure.savefig(args.out / f"{name}.png", metadata={"Software": None})
                figure.savefig(args.out / f"{name}.svg", metadata={"Date": None})
            pyplot.close(figure)
            title = title_of(family, own)
            report.append(f"### {title}\n\n![{title}]({name}.png)\n\n{text}\n")
    if not args.store:
        (args.out / "report.md").write_text("\n".join(report), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except (Problem, OSError) as problem:
        say(problem)
        sys.exit(2)
