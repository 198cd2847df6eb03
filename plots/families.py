"""What is drawn: every figure is one entry of FAMILIES, at the end of this file.

A further figure is one more entry; a further kind of drawing is one more function beside lines(),
bars(), heat() and clusters(): series maps a value of the series axis to its points, sorted by x,
style to its colour, marker and label.
"""

import math
import textwrap
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Callable

from matplotlib import colormaps
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

# lo and hi are nan where no interval is known, model where nothing was expected
Point = namedtuple("Point", "x y lo hi model row")
Style = namedtuple("Style", "color marker label")  # label is None where the legend leaves it out

OKABE_ITO = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
MARKERS = "osD^vP*X"
MODEL = "as the model\nexpects"
BOUND = "bound by issue\nof instructions"
FLAGGED = "hollow: flagged"
BAND = "within 5 %"
DOUBTS = {"launch-bound", "resolution", "noisy"}  # a row says by these that its span may be off
SUPERSCRIPT = str.maketrans(
    "0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)
CELLS_MAX = 200  # of more cells than this a heat map shows the colours alone
LEGEND_MAX = 8  # of more numbers than this the legend names every second, third ...


def count(v):
    return f"{v:,.0f}".replace(",", "\u2009") if v == int(v) else f"{v:g}"


def rounded(v):
    return count(round(v)) if v >= 100 else f"{v:.1f}" if v >= 1 else f"{v:.2g}"


def size(v):
    power = max(0, min(3, int(math.log2(max(v, 1)) // 10)))
    return f"{v / 1024 ** power:.4g} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def power(v):
    e = round(math.log2(max(v, 1)))
    return "2" + str(e).translate(SUPERSCRIPT) if 2**e == v else count(v)


# Axis: what it is called, how its numbers are written. Others are called by their column.
AXES = {
    "elem": ("Element size", size),
    "footprint": ("Footprint", size),
    "block": ("Threads per block", count),
    "blocks": ("Number of blocks", count),
    "blocks_per_sm": ("Blocks per multiprocessor", count),
    "n": ("n", power),
    "flop_per_byte": ("FLOP for each byte", rounded),
    "operation": ("Operation", count),
    "scalars": ("Scalars", count),
    "value_type": ("Type", count),
    "combine": ("Threads combine by", count),
    "finish": ("Blocks combine by", count),
    "launch": ("Timed in or by", count),
    "warps": ("Warps per block", count),
    "elements_per_warp": ("Elements per warp", count),
    "stride": ("Stride in elements", count),
    "offset": ("Offset in elements", count),
    "subdomains": ("Sub-domains per block", count),
    "lanes": ("Threads per sub-domain", count),
    "where": ("Moved", count),
    "geometry": ("Block, blocks, element", count),
    "bodies": ("Bodies per thread", count),
    "unroll": ("Unrolled by", count),
    "pairs": ("Bodies per thread\nx unrolling", count),
    "splits": ("Splits of a walk", lambda v: count(v) if v else "as many as fill the device"),
    "stream": ("Instructions", count),
    "span_us": ("Span in \u00b5s", count),
    "launches": ("Launches one after the other", count),
    "argument_bytes": ("Bytes of arguments", count),
    "us": ("Length of a node in \u00b5s", count),
    "shape": ("Launched as", count),
    "loading": ("Modules are loaded", count),
    "threads": ("Threads", count),
    "over_range": ("Of a range", count),
    "element": ("Type", count),
    "each": ("Elements of a thread", count),
    "size": ("Size", size),
    "path": ("Copy", count),
    "pages": ("Pages are", count),
    "distance": ("Distance", size),
    "touched": ("Words that the host has touched", count),
    "memory": ("Words are in", count),
    "words": ("Number of words", count),
    "adders": ("Threads that add", count),
    "apart_bytes": ("Bytes apart", count),
    "stride_bytes": ("One line in each", size),
}
# Column drawn: the column of the work it is a rate of ("": it is a time), the divisor to its unit,
# its label.
RATES = {
    "gbps": ("bytes", 1e9, "Rate, read + written, in GB/s"),
    "gflops": ("flop", 1e9, "Rate of arithmetic in GFLOP/s"),
    "median_s": ("", 1e-6, "Median time in \u00b5s"),
    "latency_ns": ("", 1e-9, "Latency in ns"),
    "each_us": ("", 1e-6, "Time for each in \u00b5s"),  # of the row's elements
    "elements_per_ns": ("elements", 1e9, "Per ns"),
    "error_pct": ("", 1, "Error of the median in %"),  # against span_us
}
# Those that are drawn from another column, in seconds, or for each second.
COLUMNS = {"each_us": "median_s", "latency_ns": "median_s", "elements_per_ns": "elements_per_s"}


def axis_label(column):
    return AXES.get(column, (column.replace("_", " ").capitalize(),))[0]


def value_label(column, value):
    return value if isinstance(value, str) else AXES.get(column, ("", count))[1](value)


def order(value):
    """Key to sort by: numbers first; names stay in the order of the file."""
    return (1, 0) if isinstance(value, str) else (0, value)


def styles(column, values):
    """Numbers get steps of one scale, names colours of their own; both colour-blind-safe."""
    numbers, names = (
        [v for v in values if isinstance(v, str) == kind and v != ""] for kind in (False, True)
    )
    result, step = {"": Style("#808080", "o", None)}, math.ceil(len(numbers) / LEGEND_MAX)
    for i, v in enumerate(numbers):
        color = colormaps["viridis"](0.9 * i / max(1, len(numbers) - 1))
        named = i % step == 0
        result[v] = Style(
            color, MARKERS[i // step] if named else None, value_label(column, v) if named else None
        )
    for i, v in enumerate(names):
        result[v] = Style(OKABE_ITO[i % len(OKABE_ITO)], MARKERS[i % len(MARKERS)], v)
    return result


def errors(points):
    """The intervals as matplotlib wants them: distances down and up, nan where there is none.
    That of a rate has no upper end where that of the time begins at 0: its lower part is drawn."""
    ends = [(p, p.y if math.isnan(p.hi) and not math.isnan(p.lo) else p.hi) for p in points]
    return [[max(p.y - p.lo, 0) for p in points], [max(hi - p.y, 0) for p, hi in ends]]


def lines(ax, family, series, style):
    for value, points in series.items():
        s = style[value]
        ax.errorbar(
            [p.x for p in points],
            [p.y for p in points],
            yerr=errors(points),
            color=s.color,
            label=s.label,
            marker=s.marker,
            markersize=7,
            linewidth=2.2 if s.marker else 1,
            capsize=4,
            elinewidth=1.5,
        )
        expected = [(p.x, p.model) for p in points if p.model > 0]
        if expected:
            ax.plot(
                *zip(*expected), color=s.color, linestyle=(0, (2, 1.5)), linewidth=2.2, zorder=1.9
            )
            ax.plot(
                [], [], color="#606060", linestyle=(0, (2, 1.5)), linewidth=2.2, label=family.model
            )
    if family.log_y:
        ax.set_yscale("log")
    if not family.log2:
        ax.set_xscale("symlog", base=2, linthresh=1)  # powers of two, and zero
        ax.xaxis.set_major_locator(FixedLocator([0] + [4**e for e in range(16)]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: value_label(family.x, v)))
    if family.log2:
        xs = sorted({p.x for points in series.values() for p in points})
        first, last = math.ceil(math.log2(xs[0])), math.floor(math.log2(xs[-1]))
        most = 2 if family.y == "error_pct" else 4 if family.panel else 9
        ticks = [2.0**e for e in range(first, last + 1, (last - first) // most + 1)]
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_locator(FixedLocator(ticks if len(ticks) > 1 else xs))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: value_label(family.x, v)))
    if family.y == "error_pct":
        ax.axhspan(-5, 5, color="#009E73", alpha=0.15, linewidth=0, zorder=0, label=BAND)
        doubtful = [
            (p.x, p.y, style[v].color)
            for v, points in series.items()
            for p in points
            if DOUBTS & set(p.row["flags"].split(";"))
        ]
        for x, y, color in doubtful:
            ax.plot(x, y, "o", color=color, markerfacecolor="white", markersize=7, zorder=4)
        ax.plot([], [], "o", color="#606060", markerfacecolor="white", label=FLAGGED)
    if family.bands:
        bands(ax, family, series, style)


def level(row):
    """The innermost cache that serves the row: what is read past a GPU's L1, or moved once, since
    it is empty when a kernel starts, comes from the L2."""
    once = float(row["bytes"] or 0) < 2 * float(row["footprint_bytes"] or 0)
    past = "past L1" in row["kernel"] or once
    return "L2" if row["cache"] == "L1" and row["backend"] != "cpu" and past else row["cache"]


def bands(ax, family, series, style):
    """Names the stretches of x that are served by the same cache above the axes: of all series
    together, and shaded, or on a line for each where they differ."""
    name = level if family.bands == "cache" else lambda row: row[family.bands]
    named = {v: {p.x: name(p.row) for p in points} for v, points in series.items()}
    named = {v: own for v, own in named.items() if any(own.values())}
    if not named:
        return
    together = {x: name for own in named.values() for x, name in own.items()}
    alike = all(own.items() <= together.items() for own in named.values())
    if alike:
        named = {None: together}
    edges_of_all = []
    for line, (value, own) in enumerate(reversed(named.items())):
        xs, names = zip(*sorted(own.items()))
        starts = [i for i in range(len(xs)) if i == 0 or names[i] != names[i - 1]]
        edges = [math.sqrt(xs[i - 1] * xs[i]) if i else xs[0] / 2**0.5 for i in starts]
        edges.append(xs[-1] * 2**0.5)
        edges_of_all += edges
        for n, i in enumerate(starts):
            if not names[i]:
                continue
            if alike:
                ax.axvspan(*edges[n : n + 2], color="black", alpha=0.10 if n % 2 else 0.03, lw=0)
            else:
                ax.plot(
                    edges[n : n + 2],
                    [1.008 + 0.045 * line] * 2,
                    transform=ax.get_xaxis_transform(),
                    color=style[value].color,
                    alpha=0.4 if n % 2 else 1,
                    linewidth=3,
                    solid_capstyle="butt",
                    clip_on=False,
                )
            ax.text(
                math.sqrt(edges[n] * edges[n + 1]),
                1.01 + 0.045 * line,
                names[i].replace(", ", ",\n"),
                transform=ax.get_xaxis_transform(),
                color="black" if alike else style[value].color,
                ha="center",
                va="bottom",
                fontsize=16 if alike and family.bands == "cache" else 12,
                fontweight="bold",
            )
    xs = [p.x for points in series.values() for p in points]
    ax.set_xlim(
        min(*edges_of_all, min(xs) / 2**0.5), max(*edges_of_all, max(xs) * 2**0.5)
    )


def bars(ax, family, series, style):
    """A group of bars per x, a bar per series; without panels a lone kernel names its group."""
    groups = {}
    for value, p in sorted(
        ((v, p) for v, points in series.items() for p in points), key=lambda vp: vp[1].row["@line"]
    ):
        groups.setdefault(p.x, []).append((value, p))
    top, widest, names = (
        max(p.y for g in groups.values() for _, p in g),
        max(map(len, groups.values())),
        [],
    )
    crowded = widest * len(groups) * (3 if family.panel else 1) > 12
    for place, (x, group) in enumerate(groups.items()):
        group.sort(key=lambda vp: order(vp[0]))
        for i, (value, p) in enumerate(group):
            at, s = place + (i - (len(group) - 1) / 2) * 0.8 / widest, style[value]
            ax.bar(
                at,
                p.y,
                0.74 / widest,
                color=s.color,
                label=s.label,
                yerr=errors([p]),
                ecolor="black",
                capsize=4,
            )
            if p.model > 0:
                ends = [at - 0.4 / widest, at + 0.4 / widest]
                ax.plot(ends, [p.model] * 2, color="#606060", linewidth=2.2, label=family.model)
            ax.text(
                at,
                0.03 * top,
                rounded(p.y),
                ha="center",
                va="bottom",
                rotation=90 if crowded else 0,
                fontsize=11 if crowded else 16,
                bbox=dict(facecolor="white", alpha=0.85, linewidth=0, pad=2),
            )
        kernels = {p.row["kernel"] for _, p in group} - {x, ""}
        names.append(value_label(family.x, x))
        if len(kernels) == 1 and not family.panel:
            names[-1] += "\n" + textwrap.fill(kernels.pop(), 60 // len(groups))
    if family.log_y:
        ax.set_yscale("log")
    slanted = dict(rotation=30, ha="right", rotation_mode="anchor")
    ax.set_xticks(range(len(names)), names, **(slanted if family.panel else {}))
    ax.tick_params(axis="x", length=0)
    ax.grid(False, axis="x")


def heat(ax, family, series, style):
    """A cell per x and series; draw() gives all panels one scale of colours."""
    xs = sorted({p.x for points in series.values() for p in points})
    ys = [value for value in style if value != ""]
    cells = [[math.nan] * len(xs) for _ in ys]
    for value, points in series.items():
        for p in points:
            cells[ys.index(value)][xs.index(p.x)] = p.y
    ax.imshow(cells, aspect="auto", origin="lower", cmap="cividis")
    if len(xs) * len(ys) <= CELLS_MAX:
        for row, line in enumerate(cells):
            for column, y in enumerate(line):
                if not math.isnan(y):
                    ax.text(
                        column,
                        row,
                        rounded(y),
                        ha="center",
                        va="center",
                        fontsize=9 if family.panel else 14,
                        path_effects=[withStroke(linewidth=2.5, foreground="white")],
                    )
    ax.set_xticks(range(len(xs)), [value_label(family.x, x) for x in xs])
    ax.set_yticks(range(len(ys)), [value_label(family.series, y) for y in ys])
    ax.tick_params(length=0)
    ax.grid(False)


def clusters(ax, family, series, style):
    """Lines over a few neighbouring x around each of some marks: those of one value of family.group
    lie side by side, whatever is between them and the next, and the one in the middle is marked.
    """
    groups, places = {}, {}
    for x, group in sorted(
        {(p.x, float(p.row[family.group])) for points in series.values() for p in points}
    ):
        groups.setdefault(group, []).append(x)
    at = 0
    for xs in groups.values():
        places.update((x, at + i) for i, x in enumerate(xs))
        at += len(xs) + 1.5
        ax.axvline(places[xs[len(xs) // 2]], color="#808080", linewidth=1.5, zorder=1)
    for value, points in series.items():
        s = style[value]
        for group, xs in groups.items():
            own = [p for p in points if p.x in xs]
            ax.errorbar(
                [places[p.x] for p in own],
                [p.y for p in own],
                yerr=errors(own),
                color=s.color,
                label=s.label,
                marker=s.marker,
                markersize=6,
                linewidth=2.2,
                capsize=3,
            )
    middles = [xs[len(xs) // 2] for xs in groups.values()]
    ax.set_xticks([places[x] for x in middles], [value_label(family.x, x) for x in middles])
    ax.grid(False, axis="x")


def runs(points, holds):
    """Where along x it holds, as text that is not broken; None for nowhere."""
    xs = sorted(p.x for p in points if holds(p))
    if len(xs) < 2:
        return count(xs[0]) if xs else None
    return f"{count(xs[0])}\u2009\u2026\u2009{count(xs[-1])}"


def apart(points, reasons):
    """Where the measured rate is more than 10 % above what the model expects, and where below, for
    each element size, with the reason for either."""
    said = []
    for (word, far, extreme), reason in zip(
        (("above", lambda r: r > 1.1, max), ("below", lambda r: r < 0.9, min)), reasons
    ):
        parts = []
        for elem in sorted({float(p.row["elem"]) for p in points}):
            own = [p for p in points if float(p.row["elem"]) == elem and p.model > 0]
            at = runs(own, lambda p: far(p.y / p.model))
            if at:
                most = extreme(p.y / p.model for p in own)
                to = f"{'up' if most > 1 else 'down'} to {most:.2g}\u00a0x"
                parts.append(f"{size(elem)} at {at} ({to})")
        if parts:
            said.append(f"More than 10 % {word} the model: {', '.join(parts)}: {reason}")
    return said


def say_strided(points):
    if points[0].row["backend"] == "cpu":
        return []
    return apart(
        points,
        (
            "their rate at stride 1, from which the model starts, is limited by the number of "
            "accesses and not by memory.",
            "sectors that are written in part cost more than their bytes, and once threads are far "
            "apart more than a sector is fetched.",
        ),
    )


def say_misaligned(points):
    if points[0].row["backend"] == "cpu":
        return []
    aligned = {(p.row["elem"], p.row["where"]): p for p in points if p.x == 0}
    measured, expected = [], []
    for p in points:
        base = aligned.get((p.row["elem"], p.row["where"]))
        if base and p.model > 0 and base.model > 0:
            measured.append(p.y / base.y)
            expected.append(p.model / base.model)
    if not measured:
        return []
    said = (
        f"An offset costs at most {100 - 100 * min(measured):.0f} %, where the model expects up to "
        f"{100 - 100 * min(expected):.0f} %"
    )
    if min(measured) > min(expected) + 0.05:
        said += (
            ": it counts the sectors of each warp for itself, but neighbouring warps share those "
            "at their ends, which the caches fetch once"
        )
    return [said + "."]


@dataclass(frozen=True)
class Family:
    name: str  # of the figure's file
    bench: str  # the rows: this bench ...
    title: str
    x: str  # the axis along x
    series: str  # one line or colour for each value of this axis
    panel: str = ""  # one panel for each value of this axis
    where: dict = field(default_factory=dict)  # ... with these values of these axes
    over: str = ""  # of the rows at one point that differ in this axis, the fastest is drawn
    bands: str = ""  # shades and names the stretches of x where this column keeps its value
    draw: Callable = lines
    log2: bool = True  # x in powers of two, without zero
    log_y: bool = False
    y: str = "gbps"  # a column of RATES
    group: str = ""  # x that have the same value of this axis are drawn side by side; clusters()
    published: dict = field(default_factory=dict)  # {panel: ((y, device[, x]), ...)}; largest x
    model: str = MODEL  # what the legend calls what the rows expect
    panel_title: str = "{}"  # of a panel, with its value
    says: Callable = None  # what the points show, as sentences for the caption


FAMILIES = [
    Family("copy-block", "copy/block", "Copy: rate over block size", x="block", series="elem"),
    Family("copy-grid", "copy/grid", "Copy: rate over number of blocks", x="blocks", series="elem"),
    Family(
        "copy-fastest",
        "copy/fastest",
        "Copy: forms compared, interleaved",
        x="elem",
        series="kernel",
        draw=bars,
        log2=False,
    ),
    Family(
        "zcopy-geometry-block",
        "zcopy/geometry",
        "Grid-stride copy, 16 B elements: rate over blocks and block size",
        x="blocks_per_sm",
        series="block",
        panel="mode",
        where={"elem": 16},
    ),
    Family(
        "zcopy-geometry-elem",
        "zcopy/geometry",
        "Grid-stride copy: rate over blocks and element size, best block size",
        x="blocks_per_sm",
        series="elem",
        panel="mode",
        over="block",
    ),
    Family(
        "zcopy-best",
        "zcopy/best",
        "Grid-stride copy: forms compared, interleaved",
        x="mode",
        series="kernel",
        draw=bars,
        log2=False,
    ),
    Family(
        "zcopy-working-set",
        "zcopy/working_set",
        "Rate over footprint",
        x="footprint",
        series="kernel",
        bands="cache",
    ),
    Family(
        "strided-memory",
        "strided/memory",
        "Strided copy: rate of useful bytes over the stride",
        x="stride",
        series="elem",
        log_y=True,
        says=say_strided,
    ),
    Family(
        "strided-original",
        "strided/original",
        "Strided copy: the published geometries",
        x="stride",
        series="geometry",
    ),
    *(
        Family(
            f"offset-subdomains-l{threads}",
            f"offset/subdomains_l{threads}",
            f"Copy in sub-domains of {threads} threads, 16 B elements",
            x="iterations",
            series="subdomains",
            draw=heat,
            log2=False,
        )
        for threads in (4, 8)
    ),
    Family(
        "offset-lanes",
        "offset/lanes",
        "Copy in sub-domains, up to 128 a block of up to 1024 threads",
        x="iterations",
        series="lanes",
        panel="elem",
        draw=heat,
        log2=False,
    ),
    Family(
        "offset-misaligned",
        "offset/misaligned",
        "Misaligned copy: rate over the offset of input, output or both",
        x="offset",
        series="elem",
        panel="where",
        log2=False,
        says=say_misaligned,
    ),
    Family(
        "reduction-geometry",
        "reduction/geometry",
        "Naive reduction: rate over blocks and block size",
        x="blocks_per_sm",
        series="block",
    ),
    Family(
        "reduction-rate",
        "reduction/size",
        "Reduction: rate over n",
        x="n",
        series="kernel",
        panel="type",
        where={"launch": "graph"},
        bands="cache",
        published={"u32": ((177.6, "K20x, CUDA"), (433.0, "Vega 64, HIP"))},
    ),
    Family(
        "reduction-time-u32",
        "reduction/size",
        "Reduction of integers: time over n, in a stream, in a graph, by an event pair",
        x="n",
        series="kernel",
        panel="launch",
        where={"type": "u32"},
        log_y=True,
        y="median_s",
    ),
    Family(
        "reduction-time-f32",
        "reduction/size",
        "Reduction of floats: time over n, in a stream, in a graph, by an event pair",
        x="n",
        series="kernel",
        panel="launch",
        where={"type": "f32"},
        log_y=True,
        y="median_s",
    ),
    Family(
        "reduction-variants",
        "reduction/variants",
        "Naive reduction: time of all launches over n and ways to combine",
        x="n",
        series="combine",
        panel="finish",
        log_y=True,
        y="median_s",
    ),
    Family(
        "reduction-elements",
        "reduction/elements",
        "Naive reduction: rate over elements per warp and warps per block",
        x="warps",
        series="elements_per_warp",
        draw=heat,
    ),
    Family(
        "reduction-blocks",
        "reduction/blocks",
        "Naive reduction: rate around multiples of the number of multiprocessors",
        x="blocks",
        series="kernel",
        draw=clusters,
        group="multiple",
    ),
    Family(
        "reduction-types",
        "reduction/types",
        "Fastest reduction: types and operations",
        x="operation",
        series="value_type",
        draw=bars,
        log2=False,
    ),
    *(
        Family(
            f"scan-{name}",
            "scan/size",
            f"Scan in one launch: {name} over n, intervals in a graph",
            x="n",
            series="kernel",
            panel="type",
            where={"kind": "inclusive"},
            **drawn,
        )
        for name, drawn in (
            ("rate", {"bands": "cache"}),
            ("time", {"log_y": True, "y": "median_s"}),
        )
    ),
    Family(
        "scan-form",
        "scan/form",
        "Scan: time of its forms over n",
        x="n",
        series="form",
        log_y=True,
        y="median_s",
    ),
    Family(
        "roofline",
        "roofline/roofs",
        "Roofline: multiply-adds for each byte read and written, and kernels placed on it",
        x="flop_per_byte",
        series="kernel",
        log_y=True,
        y="gflops",
    ),
    Family(
        "stencil-jacobi",
        "stencil/jacobi",
        "Jacobi, a sweep: rate over the grid's side, by mapping",
        x="n",
        series="kernel",
        panel="type",
    ),
    Family(
        "stencil-cg",
        "stencil/cg",
        "Conjugate gradients: 50 iterations, by where their scalars are",
        x="n",
        series="scalars",
        log_y=True,
        y="median_s",
    ),
    Family(
        "stream-kernels",
        "stream/kernels",
        "STREAM's kernels: BabelStream's form, the fastest, Memcpy",
        x="operation",
        series="kernel",
        panel="type",
        over="n",
        draw=bars,
        log2=False,
    ),
    Family(
        "stream-gather",
        "stream/gather",
        "Random gather: rate over the footprint, by the element's size",
        x="footprint",
        series="elem",
    ),
    Family(
        "stream-shared",
        "stream/shared",
        "Shared memory: rate over the stride of neighbouring threads",
        x="stride",
        series="elem",
        log2=False,
    ),
    Family(
        "nbody-size",
        "nbody/size",
        "n-body: rate over the number of bodies",
        x="n",
        series="form",
        where={"splits": 0},
        log_y=True,
        y="gflops",
        model=BOUND,
        published={
            "": (
                (1832, "K20x, CUDA (HIP: 1830)", 2**19),
                (549, "Vega 64, HIP", 2**11),
                (5580, "Vega 64, HIP", 2**19),
            )
        },
    ),
    Family(
        "nbody-splits",
        "nbody/size",
        "n-body: small numbers of bodies, a body's walk shared among blocks or not",
        x="n",
        series="form",
        panel="splits",
        log_y=True,
        y="gflops",
        model=BOUND,
    ),
    Family(
        "nbody-best",
        "nbody/best",
        "n-body: forms compared, interleaved",
        x="n",
        series="kernel",
        draw=bars,
        log2=False,
        y="gflops",
        model=BOUND,
    ),
    Family(
        "nbody-tile",
        "nbody/tile",
        "n-body: rate over block size, which is the tile's",
        x="block",
        series="form",
        y="gflops",
        model=BOUND,
        published={"": ((498, "K20x, CUDA", 32), (1712, "K20x, CUDA", 64))},
    ),
    Family(
        "nbody-unroll",
        "nbody/unroll",
        "n-body: rate over unrolling, approximate root",
        x="unroll",
        series="bodies",
        y="gflops",
        model=BOUND,
        published={
            "": (
                (1248, "K20x, CUDA", 1),
                (1819, "K20x, CUDA", 2),
                (5646, "Vega 64, HIP, best unrolling"),
            )
        },
    ),
    Family(
        "nbody-root",
        "nbody/root",
        "n-body: rate over unrolling for kinds of root, one and four bodies a thread",
        x="unroll",
        series="root",
        panel="bodies",
        y="gflops",
        model=BOUND,
    ),
    Family(
        "nbody-pairs",
        "nbody/pairs",
        "n-body, each pair once: rate over block size",
        x="block",
        series="pairs",
        y="gflops",
        model=BOUND,
    ),
    Family(
        "nbody-steps",
        "nbody/steps",
        "n-body: ten leapfrog steps with the integrator",
        x="n",
        series="form",
        log_y=True,
        y="gflops",
        model=BOUND,
    ),
    Family(
        "nbody-issue",
        "nbody/issue",
        "Instructions issued: 1e9 a second, shown as GFLOP/s",
        x="stream",
        series="stream",
        draw=bars,
        log2=False,
        y="gflops",
        model=BOUND,
    ),
    Family(
        "floor-span",
        "floor/span",
        "A spin of known length, timed in each way: error of the median",
        x="span_us",
        series="kernel",
        panel="blocks",
        panel_title="blocks: {}",
        where={"block": 256},
        y="error_pct",
    ),
    Family(
        "launch-process",
        "launch/process",
        "A fresh process: context, module and launches",
        x="kernel",
        series="loading",
        draw=bars,
        log2=False,
        log_y=True,
        y="median_s",
    ),
    Family(
        "launch-interval",
        "launch/interval",
        "Launches one after the other: time of each, in a stream and in a graph",
        x="launches",
        series="argument_bytes",
        panel="way",
        log_y=True,
        y="each_us",
    ),
    Family(
        "launch-diamond",
        "launch/diamond",
        "A before B and C before D: time of the four, over their length",
        x="us",
        series="shape",
        draw=bars,
        log2=False,
        y="median_s",
    ),
    Family(
        "latency-chase",
        "latency/chase",
        "A dependent load: latency over footprint, of one line in so many bytes",
        x="footprint",
        series="stride_bytes",
        bands="level",
        log_y=True,
        y="latency_ns",
    ),
    Family(
        "latency-levels",
        "latency/levels",
        "A dependent load: the plateaus of its latency",
        x="level",
        series="level",
        draw=bars,
        log2=False,
        y="latency_ns",
    ),
    Family(
        "latency-place",
        "latency/place",
        "A dependent load from shared memory and from the host's: latency over footprint",
        x="footprint",
        series="place",
        log_y=True,
        y="latency_ns",
    ),
    Family(
        "latency-lines",
        "latency/lines",
        "Lines of the L2, each by itself: median latency",
        x="footprint",
        series="access",
        draw=bars,
        log2=False,
        y="latency_ns",
    ),
    Family(
        "latency-tlb",
        "latency/tlb",
        "A dependent load past the L1, one line in so many bytes: what its address takes",
        x="footprint",
        series="stride_bytes",
        y="latency_ns",
    ),
    Family(
        "latency-atomic",
        "latency/atomic",
        "An atomic addition that waits for the one before",
        x="apart_bytes",
        series="adders",
        panel="memory",
        draw=bars,
        log2=False,
        y="latency_ns",
    ),
    Family(
        "latency-atomic-rate",
        "latency/atomic_rate",
        "Atomic additions by all threads: rate over the number of words",
        x="words",
        series="apart_bytes",
        panel="memory",
        log_y=True,
        y="elements_per_ns",
    ),
    *(
        Family(
            f"host-{name}",
            f"host/{name}",
            f"{title} on the host: rate over threads",
            x="threads",
            series="kernel",
            y=y,
        )
        for name, title, y in (
            ("copy", "Copy", "gbps"),
            ("sum", "Sum", "gbps"),
            ("jacobi", "Jacobi sweep, fp64,", "gbps"),
            ("nbody", "n-body", "gflops"),
        )
    ),
    Family(
        "transfer-rate",
        "transfer/size",
        "Memcpy: rate over size, host memory pinned or pageable, up, down and both at once",
        x="size",
        series="path",
    ),
    Family(
        "transfer-time",
        "transfer/size",
        "Memcpy: time over size, host memory pinned or pageable, up, down and both at once",
        x="size",
        series="path",
        log_y=True,
        y="median_s",
    ),
    *(
        Family(
            f"memory-kinds-zero-copy-{elem}",
            "memory_kinds/zero_copy",
            f"A kernel on pinned host memory, {elem} bytes a thread: rate over blocks",
            x="blocks",
            series="block",
            panel="mode",
            where={"elem": elem},
        )
        for elem in (4, 16)
    ),
    Family(
        "memory-kinds-managed",
        "memory_kinds/managed",
        "Managed memory: rate over blocks of 256 threads, for where its pages are before the run",
        x="blocks",
        series="pages",
        panel="mode",
        log_y=True,
    ),
    Family(
        "memory-kinds-migration",
        "memory_kinds/migration",
        "Words that the host has touched: time for each until a kernel has them",
        x="touched",
        series="distance",
        log_y=True,
        y="each_us",
    ),
    *(
        Family(
            f"group-{scope}-{name}",
            f"group/{scope}",
            f"Values of the threads of a {scope}, {type_}: time of one operation",
            x="threads",
            series="kernel",
            panel="algorithm",
            where={"type": type_},
            y="latency_ns",
        )
        for scope in ("block", "warp")
        for name, type_ in (("int32", "int32"), ("fp32", "fp32"), ("4-fp32", "4 x fp32"))
    ),
    Family(
        "group-vote",
        "group/vote",
        "Votes of the threads of a block: time of one",
        x="threads",
        series="kernel",
        panel="vote",
        where={"scope": "block"},
        y="latency_ns",
    ),
    Family(
        "group-range",
        "group/range",
        "A range of fp32 in memory, by a block of 1024 threads: time over access",
        x="access",
        series="kernel",
        panel="over_range",
        where={"element": "fp32", "threads": 1024, "each": 8},
        draw=bars,
        log2=False,
        y="latency_ns",
    ),
]
