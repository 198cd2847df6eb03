"""What is drawn: every figure is one entry of FAMILIES, at the end of this file.

A further figure is one more entry. How each kind is drawn is in svg.py.
"""

import colorsys
import itertools
import math
import re
import statistics
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Callable

# lo and hi are nan where no interval is known, model where nothing was expected
Point = namedtuple("Point", "x y lo hi model row")
Style = namedtuple("Style", "color marker label")  # label is None where the legend leaves it out

# Okabe & Ito's seven, then what differs most from these, also for who sees no red or no green.
COLORS = """
    0072B2 D55E00 009E73 CC79A7 E69F00 56B4E9 000000 332288 882255 999933 F00048 7860F0 484800
""".split()
MARKERS = "osD^vP*X<>pd|-/\\"  # as many as numbers have names in a legend
ALONE = "#4F6D8F"  # bars that are named along x
MODEL = "as the model expects"
BOUND = "bound by issue of instructions"
LOADS = "bound by loads or arithmetic"
FLAGGED = "hollow: flagged"
BAND = "within 5 %"
DOUBTS = {"launch-bound", "resolution", "noisy"}  # a row says by these that its span may be off
SUPERSCRIPT = str.maketrans(
    "0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)
CONTROL = re.compile(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Kinds of drawing: Family.draw.
lines, bars, heat, clusters = "lines", "bars", "heat", "clusters"
REFERENCES = {  # name, how its line differs
    "peak_gbps": ("theoretical peak", ""),
    "ceiling_gbps": ("measured copy", ' stroke-dasharray="6 4"'),
    "link": ("link\u2019s peak, one way", ' stroke-dasharray="1.5 3"'),
    "links": ("link\u2019s peak, both ways", ' stroke-dasharray="8 3 1.5 3"'),
    "mix_gflops": ("issue of a plain form\u2019s mix, measured:", ' stroke-dasharray="6 4"'),
}
# The ends and nine values between of the scale viridis, as matplotlib 3.6 prints them.
VIRIDIS = """
    440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725
""".split()
CELLS_MAX = 200  # of more cells than this a heat map shows the colours alone
LABEL_MAX = 32  # of longer names along an axis the end is left out
LEGEND_MAX = 16  # of more numbers than this the legend names every second, third ...


def count(v):
    return f"{v:,.0f}".replace(",", "\u2009") if v == int(v) else f"{v:g}"


def rounded(v):
    return count(round(v)) if v >= 100 else f"{v:.1f}" if v >= 1 else f"{v:.2g}"


def size(v):
    power = max(0, min(3, int(math.log2(max(v, 1)) // 10)))
    return f"{v / 1024 ** power:.4g} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def power(v):
    e = round(math.log2(max(v, 1)))
    return "2" + str(e).translate(SUPERSCRIPT) if 2**e == v and e >= 6 else count(v)


def part(v):
    return f"1/{count(1 / v)}" if 0 < v < 1 and 1 / v == int(1 / v) else count(v)


# What axes are called where their column does not say it, and how their numbers are written.
LABELS = {
    "elem": "Element size", "block": "Threads per block", "blocks": "Number of blocks",
    "blocks_per_sm": "Blocks per multiprocessor", "n": "Problem size n",
    "flop_per_byte": "FLOP for each byte",
    "value_type": "Type", "combine": "Threads combine by", "finish": "Blocks combine by",
    "launch": "Timed in or by", "warps": "Warps per block", "stride": "Stride in elements",
    "offset": "Offset in elements", "subdomains": "Sub-domains per block",
    "lanes": "Threads per sub-domain", "where": "Moved", "geometry": "Block, blocks, element",
    "bodies": "Bodies per thread", "unroll": "Unrolled by",
    "pairs": "Bodies per thread x unrolling", "splits": "Splits of a walk",
    "stream": "Instructions", "span_us": "Span in \u00b5s",
    "launches": "Launches one after the other", "argument_bytes": "Bytes of arguments",
    "us": "Length of a node in \u00b5s", "shape": "Launched as", "loading": "Modules are loaded",
    "over_range": "Of a range", "element": "Type", "each": "Elements of a thread", "path": "Copy",
    "pages": "Pages are", "touched": "Words that the host has touched", "memory": "Words are in",
    "words": "Number of words", "adders": "Threads that add", "apart_bytes": "Bytes apart",
    "stride_bytes": "One line in each", "way": "Moved by", "piece_bytes": "Size of a piece",
    "chunk_bytes": "Size of a chunk", "from": "From device", "to": "To device",
    "what": "Waits for", "@source": "Device or file", "@series": "", "size": "Size of a copy",
    "rows_each": "Rows of a thread", "on_device": "Device",
    # of one program, or of one benchmark
    "nbody/n": "Number of bodies n", "reduction/n": "Number of elements n",
    "histogram/n": "Number of bytes n", "matmul/n": "Side of the matrices n, in elements",
    "transpose/side": "Side of the matrix, in words",
    "scan/n": "Number of elements n", "stream/n": "Number of elements n",
    "stencil/n": "Side of the grid n, in points", "stencil/sweeps": "Sweeps of a launch",
    "pipeline/results": "Results of a block", "launch/interval/way": "Launched in",
    "group/threads": "Threads of a block", "group/range/access": "Elements of a thread are",
    "group/vote": "Vote", "latency/lines/access": "Access", "peers/access": "Peer access",
    "02_short_kernels/way": "Timed as", "09_host_memory/way": "Host memory",
    "floor/us": "Length of the spin in \u00b5s", "floor/trial": "Trial",
    "in_flight/kib": "In flight in KiB", "12_roofline/k": "Multiply-adds for each value",
    "03_occupancy/shared_kib": "Shared memory of a block in KiB",
    "15_matrix_product/each": "Side of a thread\u2019s square, in elements",
    "17_registers/blocks": "Blocks per multiprocessor", "17_registers/chains": "Values of a thread",
    "18_overlap/way": "Way", "20_async_copies/kib": "Bytes on their way, in KiB",
    "20_async_copies/way": "Read by", "21_libraries/way": "Added by",
    "23_clusters/cluster": "Blocks of a cluster", "24_two_devices/way": "Way",
    "24_two_devices/part": "Share of the second device in %",
    "24_two_devices/times": "Times that words are used",
    "clusters/cluster": "Blocks of a cluster",
    "clusters/distance": "Blocks from a block to the other",
    "clusters/rank": "Rank of the other block",
}  # fmt: skip
ENDS = {  # of a column's name, which is its unit
    "us": "\u00b5s", "ns": "ns", "ms": "ms", "s": "s", "kib": "KiB", "mib": "MiB", "gib": "GiB",
    "bytes": "bytes", "mhz": "MHz", "gbps": "GB/s", "gflops": "GFLOP/s", "pct": "%", "w": "W",
    "c": "\u00b0C", "j": "J",
}  # fmt: skip
WRITTEN = {
    **dict.fromkeys(
        ("elem", "footprint", "size", "distance", "stride_bytes", "chunk_bytes", "piece_bytes"),
        size,
    ),
    "n": power,
    "flop_per_byte": part,
    "splits": lambda v: count(v) if v else "as many as fill the device",
    "24_two_devices/words": power,
    "clusters/distance": count,
}
# Column drawn: the column of the work it is a rate of ("": it is a time), the divisor to its unit,
# its label.
RATES = {
    "gbps": ("bytes", 1e9, "Rate, read + written, in GB/s"),
    "moved_gbps": ("bytes", 1e9, "Rate in GB/s"),  # once through a link, of no memory's peak
    "copied_gbps": ("bytes", 1e9, "Rate in GB/s, on the device read + written"),
    "gflops": ("flop", 1e9, "Rate of arithmetic in GFLOP/s"),
    "issued": ("flop", 1e9, "Instructions of threads, 10\u2079 a second"),
    "operated": ("flop", 1e9, "Operations, 10\u2079 a second"),  # of integers, too
    "median_s": ("", 1e-6, "Median time in \u00b5s"),
    "median_ns": ("", 1e-9, "Median time in ns"),
    "median_ms": ("", 1e-3, "Median time in ms"),
    "latency_ns": ("", 1e-9, "Latency in ns"),
    "each_us": ("", 1e-6, "Time for each in \u00b5s"),  # of the row's elements
    "each_ns": ("", 1e-9, "Time for each in ns"),
    "elements_per_ns": ("elements", 1e9, "Additions per ns"),
    "error_pct": ("", 1, "Error of the median in %"),  # against span_us
    "ratio": ("", 1, "Ratio of the times"),
}
# Those that are drawn from another column: a rate, in seconds, or for each second.
COLUMNS = {
    "moved_gbps": "gbps",
    "copied_gbps": "gbps",
    "issued": "gflops",
    "operated": "gflops",
    "median_ns": "median_s",
    "median_ms": "median_s",
    "each_us": "median_s",
    "each_ns": "median_s",
    "latency_ns": "median_s",
    "elements_per_ns": "elements_per_s",
}
# The ends of intervals, where these are not the times'.
INTERVALS = {"ratio": ("ratio_lo", "ratio_hi")}


def rate(y):
    """The entry of RATES; of any other column, one that draws it as it is."""
    return RATES.get(y, ("", 1, axis_label(y)))


def visible(words):
    """Text of a file without control characters, which XML cannot have and terminals obey."""
    return CONTROL.sub("\ufffd", str(words))


def file_name(text):
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")


def known_of(table, column, bench):
    """What a table has of a column in a benchmark, in its program, or wherever it is."""
    places = f"{bench}/", f"{bench.split('/')[0]}/", ""
    return next((table[place + column] for place in places if place + column in table), None)


def axis_label(column, bench=""):
    """What a column is called."""
    known = known_of(LABELS, column, bench)
    if known is not None:
        return known
    name, _, end = column.rpartition("_")
    words = f"{name} in {ENDS[end]}" if name and end in ENDS else column
    if len(words) == 1:
        return words  # k, not K
    return words.replace("_", " ")[:1].upper() + words.replace("_", " ")[1:]


def value_label(column, value, bench=""):
    return value if isinstance(value, str) else (known_of(WRITTEN, column, bench) or count)(value)


def clipped(label):
    return label if len(label) <= LABEL_MAX else label[: LABEL_MAX - 1] + "\u2026"


def tick_label(family, x):
    """A number along x; powers of two are none where the axis is even."""
    even = family.linear and WRITTEN.get(family.x) is power
    return count(x) if even else family.label(family.x, x)


def order(value):
    """Key to sort by: numbers first; names stay in the order of the file."""
    return (1, 0) if isinstance(value, str) else (0, value)


def viridis(at):
    """A colour of the scale, 0 ... 1."""
    i = min(int(at * (len(VIRIDIS) - 1)), len(VIRIDIS) - 2)
    part = at * (len(VIRIDIS) - 1) - i
    ends = ([int(v[c : c + 2], 16) for c in (0, 2, 4)] for v in VIRIDIS[i : i + 2])
    return "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in zip(*ends))


def named_by_axis(family):
    """Bars with a series of which each name stands along x: one colour, and no legend."""
    return family.draw == bars and family.series == family.x


def colors():
    """COLORS, and where these end ever more, by turns dark and light."""
    yield from ("#" + c for c in COLORS)
    for i in itertools.count():
        own = colorsys.hls_to_rgb((0.11 + 0.618034 * i) % 1, (0.3, 0.55, 0.42)[i % 3], 0.75)
        yield "#" + "".join(f"{round(255 * v):02x}" for v in own)


def ranks_of(drawn):
    """{name: rank of its colour}: one name has one on all of a page, and another name of the same
    figure another; of the same program too, as long as there are colours."""
    figures, programs = {}, {}
    for family, panels in drawn:
        names = {s for series in panels.values() for s in series if isinstance(s, str) and s}
        own = programs.setdefault(family.bench.split("/")[0], {})
        for name in dict.fromkeys(s for series in panels.values() for s in series if s in names):
            if not named_by_axis(family):
                figures.setdefault(name, set()).update(names - {name})
                own[name] = None
    ranks = {}
    for name, others in figures.items():
        near = {n for own in programs.values() if name in own for n in own}
        taken, far = ({ranks.get(n) for n in of} for of in (others, near | others))
        free = [i for i in range(len(COLORS)) if i not in far] or itertools.count()
        ranks[name] = next(i for i in free if i not in taken)
    return ranks


def page_styles(drawn):
    """A dictionary of styles, {value of the series: Style}, for each of a page's figures, (family,
    panels): what has one name, or is one number of a column, has one colour in all of them."""
    ranks, numbers = ranks_of(drawn), {}
    for family, panels in drawn:
        own = numbers.setdefault(family.series, set())
        own.update(s for series in panels.values() for s in series if not isinstance(s, str))
    palette = list(itertools.islice(colors(), 1 + max(ranks.values(), default=0)))
    return [styles(f, panels, ranks, sorted(numbers[f.series]), palette) for f, panels in drawn]


def styles(family, panels, ranks, numbers, palette):
    """Names have colours of their own, numbers steps of one scale."""
    values = sorted(dict.fromkeys(s for series in panels.values() for s in series), key=order)
    if named_by_axis(family):
        return dict.fromkeys(values, Style(ALONE, "o", None))
    own = [v for v in values if not isinstance(v, str)]
    step, result = math.ceil(len(own) / LEGEND_MAX), {}
    free = list(MARKERS)
    for v in values:
        name = isinstance(v, str)
        at = ranks.get(v, 0) if name else numbers.index(v)
        if not name and own.index(v) % step:
            mark = named = None  # a dot
        else:
            mark = MARKERS[at % len(MARKERS)]
            mark = mark if mark in free or not free else free[0]
            free = [m for m in free if m != mark]
            named = v if name else family.label(family.series, v)
        color = palette[at] if name else viridis(0.83 * at / max(1, len(numbers) - 1))
        result[v] = Style(color, mark, named) if v != "" else Style("#808080", "o", None)
    return result


def roofs_of(family, points):
    """[(name, GB/s or GFLOP/s, whether measured)] of one device's memory, and of the arithmetic of
    its types."""
    memory, arithmetic, rows = [], {}, [p.row for p in points]
    if len({r["device"] for r in rows}) > 1:
        return [], []
    for column, measured in (("peak_gbps", False), ("ceiling_gbps", True)):
        known = [v for v in (quantity(r, column) for r in rows) if v > 0]
        if family.roofs and known:
            memory.append(("memory", statistics.median(known), measured))
    for p in points if family.roofs else ():
        name, peak = p.row.get("type", ""), quantity(p.row, "type_peak_gflops")
        if name and peak > 0:
            arithmetic[name, False] = peak
        if name and not p.row.get("placed"):
            arithmetic[name, True] = max(p.y, arithmetic.get((name, True), 0))
    return memory, [(name, v, measured) for (name, measured), v in arithmetic.items()]


def grouped(series):
    """The bars of a panel, {x: [(series, point)]}: numbers in order, names in that of the file."""
    bars_of = [(value, p) for value, points in series.items() for p in points]
    bars_of.sort(key=lambda vp: vp[1].row["@line"])
    if all(not isinstance(p.x, str) for _, p in bars_of):
        bars_of.sort(key=lambda vp: vp[1].x)
    groups = {}
    for value, p in bars_of:
        groups.setdefault(p.x, []).append((value, p))
    return {x: sorted(group, key=lambda vp: order(vp[0])) for x, group in groups.items()}


def bar_label(family, x, group):
    """What a group of bars is called; by its kernel where it has nothing along x."""
    return clipped(family.label(family.x, x) or group[0][1].row["kernel"])


def quantity(row, column):
    """The number in a column, nan where there is none."""
    try:
        found = float(row.get(column) or "nan")
    except ValueError:
        return math.nan
    return found if math.isfinite(found) else math.nan


def level(row):
    """The innermost cache that serves the row: what is read past a GPU's L1, or moved once, since
    it is empty when a kernel starts, comes from the L2."""
    once = quantity(row, "bytes") < 2 * quantity(row, "footprint_bytes")
    past = "past L1" in row["kernel"] or once
    return "L2" if row["cache"] == "L1" and row["backend"] != "cpu" and past else row["cache"]


def stretches(family, series):
    """{series: [(first x, last x, name)]}, where along x the rows have the same value of
    family.bands, between the powers of two; {None: ...} where all series agree."""
    name = level if family.bands == "cache" else lambda row: row[family.bands]
    named = {v: {p.x: name(p.row) for p in points} for v, points in series.items()}
    named = {v: own for v, own in named.items() if any(own.values())}
    together = {x: name for own in named.values() for x, name in own.items()}
    if named and all(own.items() <= together.items() for own in named.values()):
        named = {None: together}
    result = {}
    for v, own in named.items():
        xs, names = zip(*sorted(own.items()))
        starts = [i for i in range(len(xs)) if i == 0 or names[i] != names[i - 1]]
        edges = [math.sqrt(xs[i - 1] * xs[i]) if i else xs[0] / 2**0.5 for i in starts]
        edges.append(xs[-1] * 2**0.5)
        result[v] = [(*edges[n : n + 2], names[i]) for n, i in enumerate(starts)]
    return result


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
        elems = {quantity(p.row, "elem") for p in points}
        for elem in sorted(e for e in elems if e > 0):
            own = [p for p in points if quantity(p.row, "elem") == elem and p.model > 0]
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


def emulated(row):
    """Whether a CPU has run a device's kernels; host's programs are the CPU's own."""
    return row["backend"] == "cpu" and not row["bench"].startswith("host/")


def title_of(family, rows):
    return family.title + (" (CPU, emulated)" if all(map(emulated, rows)) else "")


@dataclass(frozen=True)
class Family:
    bench: str  # the rows: this bench ...
    title: str
    x: str  # the axis along x
    series: str  # one line or colour for each value of this axis
    panel: str = ""  # one panel for each value of this axis
    name: str = ""  # of the figure's file, where it is not the bench's
    where: dict = field(default_factory=dict)  # ... with these values of these axes
    over: str = ""  # of the rows at one point that differ in this axis, the fastest is drawn
    bands: str = ""  # shades and names the stretches of x where this column keeps its value
    draw: str = lines
    log2: bool = None  # x in powers of two, without zero; None: of lines
    linear: bool = False  # without log2: evenly, not by powers of two with zero
    log_y: bool = False
    y: str = "gbps"  # a column of RATES
    group: str = ""  # x that have the same value of this axis are drawn side by side; clusters()
    published: dict = field(default_factory=dict)  # {panel: ((y, device[, x]), ...)}; largest x
    model: str = MODEL  # what the legend calls what the rows expect
    panel_title: str = "{}"  # of a panel, with its value
    says: Callable = None  # what the points show, as sentences for the caption
    roofs: bool = False  # draws what memory and arithmetic can do; x is FLOP for each byte

    def __post_init__(self):
        object.__setattr__(self, "name", self.name or file_name(self.bench))
        if self.log2 is None:
            object.__setattr__(self, "log2", self.draw == lines)

    def label(self, column, value):
        return value_label(column, value, self.bench)


# Bench, title, axis along x, series, panel where there is one.
FAMILIES = [
    Family("copy/block", "Copy: rate over block size", "block", "elem"),
    Family("copy/grid", "Copy: rate over number of blocks", "blocks", "elem"),
    Family("copy/fastest", "Copy: forms compared, interleaved", "elem", "kernel", draw=bars),
    Family("zcopy/geometry", "Grid-stride copy, 16 B elements: rate over blocks and block size",
           "blocks_per_sm", "block", "mode", name="zcopy-geometry-block", where={"elem": 16}),
    Family("zcopy/geometry", "Grid-stride copy: rate over blocks and element size, best block size",
           "blocks_per_sm", "elem", "mode", name="zcopy-geometry-elem", over="block"),
    Family("zcopy/best", "Grid-stride copy: forms compared, interleaved", "mode", "kernel",
           draw=bars),
    Family("zcopy/working_set", "Rate over footprint", "footprint", "kernel", bands="cache"),
    Family("strided/memory", "Strided copy: rate of useful bytes over the stride", "stride", "elem",
           log_y=True, says=say_strided),
    Family("strided/original", "Strided copy: the published geometries", "stride", "geometry"),
    Family("offset/subdomains_l4", "Copy in sub-domains of 4 threads, 16 B elements", "iterations",
           "subdomains", draw=heat),
    Family("offset/subdomains_l8", "Copy in sub-domains of 8 threads, 16 B elements", "iterations",
           "subdomains", draw=heat),
    Family("offset/lanes", "Copy in sub-domains, up to 128 a block of up to 1024 threads",
           "iterations", "lanes", "elem", draw=heat),
    Family("offset/misaligned", "Misaligned copy: rate over the offset of input, output or both",
           "offset", "elem", "where", log2=False, says=say_misaligned),
    Family("reduction/geometry", "Naive reduction: rate over blocks and block size",
           "blocks_per_sm", "block"),
    Family("reduction/size", "Reduction: rate over n", "n", "kernel", "type", name="reduction-rate",
           where={"launch": "graph"}, bands="cache",
           published={"u32": ((177.6, "K20x, CUDA"), (433.0, "Vega 64, HIP"))}),
    Family("reduction/size",
           "Reduction of integers: time over n, in a stream, in a graph, by an event pair", "n",
           "kernel", "launch", name="reduction-time-u32", where={"type": "u32"}, log_y=True,
           y="median_s"),
    Family("reduction/size",
           "Reduction of floats: time over n, in a stream, in a graph, by an event pair", "n",
           "kernel", "launch", name="reduction-time-f32", where={"type": "f32"}, log_y=True,
           y="median_s"),
    Family("reduction/variants", "Naive reduction: time of all launches over n and ways to combine",
           "n", "combine", "finish", log_y=True, y="median_s"),
    Family("reduction/elements", "Naive reduction: rate over elements per warp and warps per block",
           "warps", "elements_per_warp", draw=heat),
    Family("reduction/blocks",
           "Naive reduction: rate around multiples of the number of multiprocessors", "blocks",
           "kernel", draw=clusters, group="multiple"),
    Family("reduction/types", "Fastest reduction: types and operations", "operation", "value_type",
           draw=bars),
    Family("scan/size", "Scan in one launch: rate over n, intervals in a graph", "n", "kernel",
           "type", name="scan-rate", where={"kind": "inclusive"}, bands="cache"),
    Family("scan/size", "Scan in one launch: time over n, intervals in a graph", "n", "kernel",
           "type", name="scan-time", where={"kind": "inclusive"}, log_y=True, y="median_s"),
    Family("scan/form", "Scan: time of its forms over n", "n", "form", log_y=True, y="median_s"),
    Family("roofline/roofs",
           "Roofline: multiply-adds for each byte read and written, and kernels placed on it",
           "flop_per_byte", "kernel", name="roofline", log_y=True, y="gflops", roofs=True),
    Family("12_roofline", "Roofline: multiply-adds for each byte read and written",
           "flop_per_byte", "kernel", log_y=True, y="gflops", roofs=True),
    Family("19_number_formats", "Number formats: additions per ns over values of a thread", "each",
           "format", y="elements_per_ns"),
    Family("stencil/jacobi", "Jacobi, a sweep: rate over the grid's side, by mapping", "n",
           "kernel", "type"),
    Family("stencil/cg", "Conjugate gradients: 50 iterations, by where their scalars are", "n",
           "scalars", log_y=True, y="median_s"),
    Family("stencil/solve", "A known solution: time until it is reached, over the grid's side", "n",
           "kernel", log_y=True, y="median_s"),
    Family("stream/kernels", "STREAM's kernels: BabelStream's form, the fastest, Memcpy",
           "operation", "kernel", "type", over="n", draw=bars),
    Family("stream/gather", "Random gather: rate over the footprint, by the element's size",
           "footprint", "elem"),
    Family("stream/shared", "Shared memory: rate over the stride of neighbouring threads", "stride",
           "elem", y="moved_gbps"),  # not memory's: its peak is no limit here
    Family("transpose/side", "Transpose: rate over the matrix's side, against a copy", "side",
           "kernel", bands="cache"),
    Family("histogram/data", "Histogram of 256 bins: rate over n, against reading alone", "n",
           "kernel", "data", bands="cache"),
    Family("matmul/steps", "A product of matrices in eight steps, and the vendor's library",
           "kernel", "n", draw=bars, y="gflops", log_y=True, model=LOADS),
    Family("matmul/size", "A product of matrices: rate over n, against the vendor's library", "n",
           "kernel", "type", y="gflops", log_y=True, model=LOADS),
    Family("matmul/ahead", "A product in fp32: rate over how tiles are shared out", "plan", "n",
           draw=bars, y="gflops"),
    Family("matmul/staged", "A product in bf16 by tensor cores: rate over how tiles are shared out",
           "plan", "n", draw=bars, y="gflops"),
    Family("tensor/mma", "Tensor cores by mma.sync: rate over the type, of zeros and random values",
           "type", "data", draw=bars, y="operated", log_y=True),
    Family("tensor/wgmma", "Tensor cores by wgmma: rate over the type, of zeros and random values",
           "type", "data", draw=bars, y="operated", log_y=True),
    Family("units/chain", "Integers and special functions in registers: rate over the operation",
           "operation", "operation", draw=bars, y="operated", log_y=True),
    Family("in_flight/memory",
           "Reading memory: rate over the bytes that a multiprocessor has in flight", "kib", "way",
           name="in-flight-memory"),
    Family("in_flight/l2",
           "Reading the L2: rate over the bytes that a multiprocessor has in flight", "kib", "way",
           name="in-flight-l2", y="moved_gbps"),
    Family("clusters/latency", "Shared memory of a cluster's blocks: latency over the block's rank",
           "rank", "kernel", "cluster", log2=False, linear=True, y="latency_ns",
           panel_title="blocks of a cluster: {}"),
    Family("clusters/rate", "Reading the shared memory of a cluster's blocks: rate over distance",
           "distance", "cluster", log2=False, linear=True, y="moved_gbps"),
    Family("nbody/size", "n-body: rate over the number of bodies", "n", "form", where={"splits": 0},
           log_y=True, y="gflops",
           model=BOUND,
           published={"": ((1832, "K20x, CUDA (HIP: 1830)", 2**19), (549, "Vega 64, HIP", 2**11),
                           (5580, "Vega 64, HIP", 2**19))}),
    Family("nbody/size",
           "n-body: small numbers of bodies, a body's walk shared among blocks or not", "n", "form",
           "splits", name="nbody-splits", log_y=True, y="gflops", model=BOUND,
           panel_title="splits: {}"),
    Family("nbody/best", "n-body: forms compared, interleaved", "n", "kernel", draw=bars,
           y="gflops", model=BOUND),
    Family("nbody/tile", "n-body: rate over block size, which is the tile's", "block", "form",
           y="gflops", model=BOUND,
           published={"": ((498, "K20x, CUDA", 32), (1712, "K20x, CUDA", 64))}),
    Family("nbody/unroll", "n-body: rate over unrolling, approximate root", "unroll", "bodies",
           y="gflops", model=BOUND,
           published={"": ((1248, "K20x, CUDA", 1), (1819, "K20x, CUDA", 2),
                           (5646, "Vega 64, HIP, best unrolling"))}),
    Family("nbody/root",
           "n-body: rate over unrolling for kinds of root, one and four bodies a thread", "unroll",
           "root", "bodies", y="gflops", model=BOUND, panel_title="bodies per thread: {}"),
    Family("nbody/pairs", "n-body, each pair once: rate over block size", "block", "pairs",
           y="gflops", model=BOUND),
    Family("nbody/steps", "n-body: ten leapfrog steps with the integrator", "n", "form", log_y=True,
           y="gflops", model=BOUND),
    Family("nbody/issue", "Instructions issued, and how many there can be", "stream", "stream",
           draw=bars, y="issued", model=BOUND),
    Family("floor/span", "A spin of known length, timed in each way: error of the median",
           "span_us", "kernel", "blocks", where={"block": 256}, y="error_pct",
           panel_title="blocks: {}"),
    Family("floor/compare", "Kernels that take turns: ratio of the times to the first, by trial",
           "trial", "kernel", log2=False, linear=True, y="ratio"),
    Family("launch/process", "A fresh process: context, module and launches", "kernel", "loading",
           draw=bars, log_y=True, y="median_s"),
    Family("launch/interval",
           "Launches one after the other: time of each, in a stream and in a graph", "launches",
           "argument_bytes", "way", log_y=True, y="each_us"),
    Family("launch/diamond", "A before B and C before D: time of the four, over their length", "us",
           "shape", draw=bars, y="median_s"),
    Family("latency/chase",
           "A dependent load: latency over footprint, of one line in so many bytes", "footprint",
           "stride_bytes", bands="level", log_y=True, y="latency_ns"),
    Family("latency/levels", "A dependent load: the plateaus of its latency", "level", "level",
           draw=bars, y="latency_ns"),
    Family("latency/place",
           "A dependent load from shared memory and from the host's: latency over footprint",
           "footprint", "place", log_y=True, y="latency_ns"),
    Family("latency/lines", "Lines of the L2, each by itself: median latency", "footprint",
           "access", draw=bars, y="latency_ns"),
    Family("latency/tlb",
           "A dependent load past the L1, one line in so many bytes: what its address takes",
           "footprint", "stride_bytes", y="latency_ns"),
    Family("latency/atomic", "An atomic addition that waits for the one before", "apart_bytes",
           "adders", "memory", draw=bars, y="latency_ns"),
    Family("latency/atomic_rate", "Atomic additions by all threads: rate over the number of words",
           "words", "apart_bytes", "memory", log_y=True, y="elements_per_ns"),
    Family("host/copy", "Copy on the host: rate over threads", "threads", "kernel"),
    Family("host/sum", "Sum on the host: rate over threads", "threads", "kernel"),
    Family("host/jacobi", "Jacobi sweep, fp64, on the host: rate over threads", "threads",
           "kernel"),
    Family("host/nbody", "n-body on the host: rate over threads", "threads", "kernel", y="gflops"),
    Family("transfer/size",
           "Memcpy: rate over size, host memory pinned or pageable, and on the device", "size",
           "path", name="transfer-rate", log_y=True, y="copied_gbps"),
    Family("transfer/size",
           "Memcpy: time over size, host memory pinned or pageable, and on the device", "size",
           "path", name="transfer-time", log_y=True, y="median_s"),
    Family("memory_kinds/zero_copy",
           "A kernel on pinned host memory, 4 bytes a thread: rate over blocks", "blocks", "block",
           "mode", name="memory-kinds-zero-copy-4", where={"elem": 4}, y="moved_gbps"),
    Family("memory_kinds/zero_copy",
           "A kernel on pinned host memory, 16 bytes a thread: rate over blocks", "blocks", "block",
           "mode", name="memory-kinds-zero-copy-16", where={"elem": 16}, y="moved_gbps"),
    Family("peers/matrix", "Copies from one device to another, 256 MiB: rate", "to", "from", "way",
           where={"at_once": "one way"}, draw=heat, y="moved_gbps"),
    Family("peers/size", "From one device to another: rate over size", "size", "way", "access",
           y="moved_gbps", panel_title="peer access: {}"),
    Family("peers/form", "A kernel that writes or reads another device's memory: rate over blocks",
           "blocks", "form", "way", y="moved_gbps"),
    Family("peers/packet", "Pieces of lines in another device's memory: rate over their size",
           "piece_bytes", "apart_bytes", "way", y="moved_gbps"),
    Family("peers/latency",
           "What a thread of one device waits for another's memory, or for its answer", "to",
           "from", "what", draw=heat, y="latency_ns"),
    Family("pipeline/chunk",
           "A producer and a consumer on two devices, 132 blocks: time over the size of a chunk",
           "chunk_bytes", "kernel", where={"blocks": 132}, log_y=True, y="median_s"),
    Family("pipeline/geometry",
           "A producer and a consumer on two devices: time over results of a block, 256 threads",
           "results", "kernel", "blocks", where={"threads": 256}, log_y=True, y="median_s",
           panel_title="blocks: {}"),
    Family("memory_kinds/managed",
           "Managed memory: rate over blocks of 256 threads, for where its pages are before the "
           "run",
           "blocks", "pages", "mode", log_y=True),
    Family("memory_kinds/migration",
           "Words that the host has touched: time for each until a kernel has them", "touched",
           "distance", log_y=True, y="each_us"),
    *(
        Family(f"group/{scope}",
               f"Values of the threads of a {scope}, {type_}: time of one operation", "threads",
               "kernel", "algorithm", name=f"group-{scope}-{name}", where={"type": type_},
               y="latency_ns")
        for scope in ("block", "warp")
        for name, type_ in (("int32", "int32"), ("fp32", "fp32"), ("4-fp32", "4 x fp32"))
    ),
    Family("mistakes", "A copy and a short kernel, timed in wrong ways and in the right one",
           "kernel", "kernel", draw=bars, log_y=True),
    Family("group/vote", "Votes of the threads of a block: time of one", "threads", "kernel",
           "vote", where={"scope": "block"}, y="latency_ns"),
    Family("group/range", "A range of fp32 in memory, by a block of 1024 threads: time over access",
           "access", "kernel", "over_range", where={"element": "fp32", "threads": 1024, "each": 8},
           draw=bars, y="latency_ns"),
]
