"""Draws a figure of families.py as SVG, with Python alone: a file of its own, or a picture to stand
in an HTML page. Each mark says its values in a <title>, which browsers show. Equal rows make equal
bytes."""

import html
import math
import re
from collections import namedtuple
from pathlib import Path

from families import (
    BAND,
    CELLS_MAX,
    DOUBTS,
    FLAGGED,
    REFERENCES,
    axis_label,
    bar_label,
    clipped,
    count,
    grouped,
    named_by_axis,
    rate,
    rounded,
    stretches,
    order,
    page_styles,
    quantity,
    roofs_of,
    tick_label,
    viridis,
    visible,
)
from rows import references

# In the units of the picture, which is WIDE, or NARROW for a small screen, whatever is in it. OVER:
# for the last name along x.
WIDE, NARROW, EDGE, OVER, GAP, LANE, FONT = 760, 360, 12, 24, 24, 18, 13
STYLE = Path(__file__).with_name("svg.css").read_text("utf-8")
# Paths from their middle; what a legend leaves out is a dot.
MARKS = {
    "o": "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
    "s": "m-3-3h6v6h-6z",
    "D": "m0-4l4 4l-4 4l-4-4z",
    "^": "m0-4l4 7h-8z",
    "v": "m0 4l4-7h-8z",
    "P": "m-1.4-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z",
    "X": "m0-1.9l2.1-2.1 1.9 1.9-2.1 2.1 2.1 2.1-1.9 1.9-2.1-2.1-2.1 2.1-1.9-1.9 2.1-2.1"
    "-2.1-2.1 1.9-1.9z",
    "*": "m0-5l1.2 3.4h3.6l-2.9 2.1 1.1 3.5-3-2.1-3 2.1 1.1-3.5-2.9-2.1h3.6z",
    "<": "m-4.5 0l7-4v8z",
    ">": "m4.5 0l-7-4v8z",
    "p": "m0-4l3.8 2.8l-1.5 4.4h-4.6l-1.5-4.4z",
    "d": "m0-5l2.6 5l-2.6 5l-2.6-5z",
    "|": "m-1.3-5h2.6v10h-2.6z",
    "-": "m-5-1.3h10v2.6h-10z",
    "/": "m1.8-4.4h2.8l-6.4 8.8h-2.8z",
    "\\": "m-1.8-4.4h-2.8l6.4 8.8h2.8z",
    None: "m-1.5 0a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0",
}
STAR = "m0-7l1.7 4.8h5.1l-4.1 3 1.6 4.9-4.3-3-4.3 3 1.6-4.9-4.1-3h5.1z"
ROOFS = (("peak", ""), ("measured", ' stroke-dasharray="6 4"'))
GRAY = "#606060"  # of what the legend says of all series

# heading: of the legend, whose entries are (SVG of 26 x 12, text); upwards: what the axis is
Picture = namedtuple("Picture", "heading legend upwards body wide tall colors")


class Scale:
    """Values to places between two ends: evenly, or by one of some functions."""

    def __init__(self, kind, low, high, start, end):
        self.of = {
            "linear": lambda v: v,
            "log": lambda v: math.log(v if v > 0 else low),
            "powers": lambda v: v if abs(v) <= 1 else math.copysign(1 + math.log2(abs(v)), v),
            "error": lambda v: v if abs(v) <= 10 else math.copysign(math.log10(abs(v)) * 10, v),
        }[kind]
        self.low, self.start = self.of(low), start
        self.slope = (end - start) / ((self.of(high) - self.low) or 1)

    def __call__(self, v):
        return self.start + (self.of(v) - self.low) * self.slope


def steps(low, high, most):
    """Round numbers between two ends, at most so many."""
    unit = 10 ** math.floor(math.log10((high - low) / most or 1))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m * most >= high - low)
    return [step * i for i in range(math.ceil(low / step - 1e-9), int(high / step + 1e-9) + 1)]


def decades(low, high):
    """Powers of ten between two ends, and where these are few what lies between them."""
    tens = [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    between = range(1, 10) if high < 5 * low else (1, 2, 5) if high <= 300 * low else (1,)
    found = [m * t for t in tens for m in between if 0.999 * low <= m * t <= 1.001 * high]
    return found if len(found) > 1 else steps(low, high, 5)


def thinned(values, most):
    return values[:: math.ceil(len(values) / max(1, most))] if values else []


def wide(words, size=FONT):
    """How wide a text is at most; fonts differ."""
    narrow, broad = (sum(c in of for c in words) for of in (" ijlIft.,:;'|!()[]/-\u2009", "mwMW%@"))
    return size * (0.65 * len(words) - 0.27 * narrow + 0.32 * broad)


def wrapped(words, room, size=FONT):
    """Lines no wider than there is room for, but for single words."""
    lines = [""]
    for word in words.split(" "):
        longer = f"{lines[-1]} {word}".strip(" ")
        lines[-1 if wide(longer, size) <= room or not lines[-1] else len(lines) :] = [
            longer if wide(longer, size) <= room or not lines[-1] else word
        ]
    return lines


def balanced(words, room, size):
    """As few lines as wrapped() has, of about the same width."""
    lines = wrapped(words, room, size)
    while len(shorter := wrapped(words, room := room - 10, size)) == len(lines) > 1:
        lines = shorter
    return lines


def spread(middles, widths, low, high):
    """Places next to the middles so that nothing of these widths lies upon its neighbour; None
    where there is no room for that."""
    if sum(widths) > high - low:
        return None
    places, end = [], low
    for middle, own in zip(middles, widths):
        places.append(max(middle, end + own / 2))
        end = places[-1] + own / 2
    for i in reversed(range(len(places))):
        places[i] = min(places[i], high - widths[i] / 2)
        high = places[i] - widths[i] / 2
    return places


def escape(words):
    """Text of a file as text of XML or HTML, or as an attribute in quotes."""
    return html.escape(visible(words))


def text(x, y, words, kind="", extra=""):
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}"{extra}>{escape(words)}</text>'


def lightness(color):
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2


def on_dark(color):
    """A colour that is seen on black: the darker, the more white is added."""
    light = lightness(color)
    white = max(0, 0.4 - light) if light else 0.9
    own = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return "#" + "".join(f"{round(255 * (v + white * (1 - v))):02x}" for v in own)


def upon(color):
    """Black or white, whichever is read on this."""
    return "#000" if lightness(color) > 0.18 else "#fff"


def dark(colors):
    """The style that gives series their colours on a dark screen, and numbers in bars theirs."""
    rules = "".join(
        f'[color="{c}"]{{color:{on_dark(c)}}}.v[color="{c}"]{{fill:{upon(on_dark(c))}}}'
        for c in sorted(colors)
    )
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}"


def said(family, p, place=()):
    """What a mark stands for: its place, its value with the interval, its flags."""
    x = f"{axis_label(family.x, family.bench)} {family.label(family.x, p.x)}"
    unit = rate(family.y)[2].split(" in ")[-1]
    y = f"{p.y:.4g}" + f" ({p.lo:.4g} \u2026 {p.hi:.4g})" * (p.lo <= p.hi)
    parts = [*place, x, f"{y} {unit}", *filter(None, [p.row["flags"].replace(";", ", ")])]
    return f"<title>{escape(chr(10).join(parts))}</title>"


def places(family, panel, series):
    """What each mark of a series says of its panel and series."""
    named = ((family.panel, panel), (family.series, series))
    return [
        f"{axis_label(c, family.bench)} {family.label(c, v)}".strip()
        if not isinstance(v, str)
        else v
        for c, v in named
        if c and v != "" and c != family.x
    ]


def below(names, room):
    """How names of bars stand below them: (lines of each, angle, size)."""
    lines = [wrapped(n, room - 4) for n in names]
    parts = [line for own in lines for line in own if len(own) > 1]
    fits = all(wide(line) <= room - 4 for own in lines for line in own)
    if fits and max(map(len, lines)) < 4 and all(len(part) > 2 for part in parts):
        return lines, 0, FONT
    return [[n] for n in names], 35 if room > 27 else 90, min(FONT, room * 0.85)


class Panel:
    """One of a figure's frames. `under` are its ground and lines across, `over` what is drawn."""

    def __init__(self, family, style, value, series, most, wide_all):
        self.family, self.style, self.value, self.series = family, style, value, series
        self.wide = wide_all  # of the picture
        self.most = most  # of the figure's values
        named = family.label(family.panel, value)
        self.title = family.panel_title.format(named) if value != "" else ""
        self.under, self.over = [], []
        self.bands = stretches(family, series) if family.bands else {}
        self.groups = grouped(series) if family.draw == "bars" else {}
        self.labels = [bar_label(family, x, group) for x, group in self.groups.items()]

    def place(self, left, top, right, bottom, ys, begin):
        self.left, self.top, self.right, self.bottom = left, top, right, bottom
        self.begin = begin  # of names along x: where those of the frame to the left end
        self.low, self.high = ys
        last = right + OVER > self.wide - 1
        self.end = self.wide if last else right + GAP / 2 + 4  # of names along x
        kind = "error" if self.family.y == "error_pct" else "log" if self.family.log_y else "linear"
        self.y = Scale(kind, *ys, bottom, top)

    def feet(self, own):
        """How far names of bars reach to the left and below, of a frame of this width."""
        if not self.labels:
            return 0, 20
        room = own / len(self.labels)
        words, angle, size = below(self.labels, room)
        if not angle:
            return 0, 5 + 15 * max(map(len, words))
        turn, widths = math.radians(angle), [wide(own[0], size) for own in words]
        reach = max(w * math.cos(turn) - room * (i + 0.5) for i, w in enumerate(widths))
        return reach, 21 + max(widths) * math.sin(turn)

    def across(self, v, kind="g", extra=""):
        at = f"M{self.left:.1f} {self.y(v):.1f}H{self.right:.1f}"
        self.under.append(f'<path class="{kind}" d="{at}"{extra}/>')

    def upright(self, x, kind="g"):
        self.under.append(f'<path class="{kind}" d="M{x:.1f} {self.top:.1f}V{self.bottom:.1f}"/>')

    def titled(self, words, y, step, kind):
        """Lines in the middle."""
        for n, line in enumerate(words):
            self.over.append(text((self.left + self.right) / 2, y + step * n, line, kind))

    def beside(self, named):
        """Names at the left: [(y, text)]."""
        self.over += [text(self.left - 6, y + 4.5, words, "n") for y, words in named]

    def names(self, at):
        """Names below: [(place, text)]; none where it would lie upon its neighbour's."""
        for x, words in at:
            half = wide(words) / 2
            if x - half > self.begin and x + half < self.end:
                self.over.append(text(x, self.bottom + 17, words, "c"))
                self.begin = x + half + 4

    def interval(self, x, p):
        """From its lower end to its upper one, which may be missing, or beyond the axis, where an
        arrow says so; "" where it is a point."""
        hi = p.y if math.isnan(p.hi) else p.hi
        if math.isnan(p.lo) or not hi > p.lo or (self.family.log_y and p.lo <= 0):
            return ""
        a, b = self.y(max(p.lo, self.low)), self.y(min(hi, self.high))
        below, beyond = p.lo < self.low, hi > self.high
        foot = f"M{x - 3:.1f} {a - 4 * below:.1f}" + ("l3 4l3-4" if below else "h6")
        cap = f"M{x - 3:.1f} {b + 4 * beyond:.1f}" + ("l3-4l3 4" if beyond else "h6")
        cap *= not math.isnan(p.hi)
        return f"{foot}M{x:.1f} {a:.1f}V{b:.1f}{cap}" if a - b >= 1 else ""

    def curve(self, value, points, x):
        s, out = self.style[value], self.over
        at = [(x(p.x), self.y(p.y), p) for p in points]
        line = "L".join(f"{a:.1f} {b:.1f}" for a, b, _ in at)
        out.append(f'<g color="{s.color}"><path class="l" d="M{line}"/>')
        ends = "".join(self.interval(a, p) for a, _, p in at)
        out.append(f'<path class="e" d="{ends}"/>' if ends else "")
        model = [f"{x(p.x):.1f} {self.y(p.model):.1f}" for p in points if p.model > 0]
        out.append(f'<path class="m" d="M{"L".join(model)}"/>' if len(model) > 1 else "")
        place = places(self.family, self.value, value)
        doubts = DOUBTS if self.family.y == "error_pct" else set()
        for a, b, p in at:
            hollow = " h" * bool(doubts & set(p.row["flags"].split(";")))
            out.append(
                f'<path class="k{hollow}" d="M{a:.1f} {b:.1f}{MARKS[s.marker]}">'
                f"{said(self.family, p, place)}</path>"
            )
        out.append("</g>")

    def lines(self):
        family, stars = self.family, self.stars()
        points = [p for own in self.series.values() for p in own]
        xs = sorted({p.x for p in points})
        edges = [e for own in self.bands.values() for first, last, _ in own for e in (first, last)]
        edges += [x for own in stars.values() for x, _ in own if not family.log2 or x > 0]
        low, high = min(xs + edges), max(xs + edges)
        kind = "log" if family.log2 else "linear" if family.linear else "powers"
        x = Scale(kind, low, high, self.left + 8, self.right - 8)
        if family.log2:
            first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
            ticks = [2.0**e for e in range(first, last + 1)] or xs
        elif family.linear:
            ticks = steps(low, high, 6) if high > low else xs
        else:
            ticks = [t for t in [0] + [4**e for e in range(16)] if low <= t <= high] or xs
        room = max(wide(tick_label(family, t)) for t in ticks) + 10
        ticks = thinned(ticks, int((self.right - self.left + 16) / room))
        for t in ticks:
            self.upright(x(t))
        self.names([(x(t), tick_label(family, t)) for t in ticks])
        if family.y == "error_pct":
            top, bottom = self.y(5), self.y(-5)
            self.under.append(
                f'<rect class="band" x="{self.left:.1f}" y="{top:.1f}" '
                f'width="{self.right - self.left:.1f}" height="{bottom - top:.1f}"/>'
            )
        for lane, (value, own) in enumerate(reversed(self.bands.items())):
            self.stretches(value, own, x, self.top - 6 - LANE * lane)
        if family.roofs:
            self.roofs(points, x, low, high)
        for value, points in self.series.items():
            self.curve(value, points, x)
        self.published(stars, x)

    def roofs(self, points, x, low, high):
        """Memory's slopes up to the highest roof of arithmetic, and its roofs from there on: peaks,
        and dashed what was measured."""
        memory, arithmetic = roofs_of(self.family, points)
        right = max((p.x for p in points if not p.row.get("placed")), default=high)
        known = {(name, measured) for name, _, measured in arithmetic}
        right = right if right < high / 8 else low  # names stand between the curves and the kernels
        for (_, rate_of, measured), side in zip(memory, (-7, 17)):
            tops = [(name, v) for name, v, how in arithmetic if how == measured]
            end = min(high, max((v for _, v in tops), default=self.high) / rate_of)
            a, b = max(low, self.low / rate_of), end
            dashes = ROOFS[measured][1]
            ends = [(x(v), self.y(v * rate_of)) for v in (a, b)]
            lines = [f"M{ends[0][0]:.1f} {ends[0][1]:.1f}L{ends[1][0]:.1f} {ends[1][1]:.1f}"]
            for name, v in tops:
                if v / rate_of < high:
                    lines.append(f"M{x(v / rate_of):.1f} {self.y(v):.1f}H{self.right:.1f}")
                    if not measured or (name, False) not in known:
                        middle = (x(max(right, v / rate_of)) + self.right) / 2
                        named = f"{name} {'measured' if measured else 'peak'}"
                        self.over.append(text(middle, self.y(v) - 5, named, "c t"))
            self.under.append(f'<path class="o" d="{"".join(lines)}"{dashes}/>')
            (ax, ay), (bx, by) = ends
            angle = math.degrees(math.atan2(by - ay, bx - ax))
            a, b = (0.55 * first + 0.45 * last for first, last in ((ax, bx), (ay, by)))
            turn = f' transform="rotate({angle:.1f} {a:.1f} {b:.1f})"'
            words = "measured copy" if measured else "peak of memory"
            self.over.append(text(a, b + side, words, "c t", turn))

    def stretches(self, value, own, x, y):
        """Names of stretches of x in a line above: shaded, or with lines of the series' colour."""
        own = [(x(first), x(last), name) for first, last, name in own if name]
        widths = [wide(name, 14) + 6 for _, _, name in own]
        middles = [(a + b) / 2 for a, b, _ in own]
        named = spread(middles, widths, self.left - 20, self.right + 20)
        color = f' color="{self.style[value].color}"' if value is not None else ""
        for i, (a, b, name) in enumerate(own):
            if value is None:
                self.under.append(
                    f'<rect class="s{i % 2}" x="{a:.1f}" y="{self.top:.1f}" '
                    f'width="{b - a:.1f}" height="{self.bottom - self.top:.1f}"/>'
                )
            else:
                line = f"M{a + 1:.1f} {y + 4:.1f}H{b - 1:.1f}"
                self.over.append(f'<path class="l"{color} d="{line}"/>')
            if named:
                self.over.append(text(named[i], y, name, "p", color))

    def stars(self):
        """{device: [(x, rate)]} as published for others, at the last x where they name none."""
        points, devices = [p for own in self.series.values() for p in own], {}
        own = self.family.published.get(self.value, ())
        for y, device, *at in own if points[0].row["backend"] != "cpu" else ():
            x = (at or [max(p.x for p in points)])[0]
            devices.setdefault(device, []).append((x, y))
        return devices

    def published(self, stars, x):
        """Stars with their names beside, which cover no star and no other name; points: nobody has
        said what lies between."""
        spots = [(x(a), self.y(b), f"{device}: {b:g}") for device, own in stars.items()
                 for a, b in own]
        taken = [(at - 8, y - 8, at + 8, y + 8) for at, y, _ in spots]
        middle = (self.left + self.right) / 2
        for at, y, name in sorted(spots, key=lambda spot: abs(spot[0] - middle)):
            self.over.append(f'<g class="star"><path stroke="none" d="M{at:.1f} {y:.1f}{STAR}"/>')
            right = at > middle
            words = wrapped(name, (at - self.left if right else self.right - at) - 10, 11)
            long, high = max(wide(line, 11) for line in words), 13 * len(words) + 1
            begin = at - 10 - long if right else at + 10
            tops = [top for top in range(round(self.top), round(self.bottom - high))
                    if not any(begin < d and a < begin + long and top < e and b < top + high
                               for a, b, d, e in taken)]
            if tops:
                top = min(tops, key=lambda v: abs(v + high / 2 - y))
                taken.append((begin, top, begin + long, top + high))
                for n, line in enumerate(words):
                    self.over.append(text(at + (-10 if right else 10), top + 11 + 13 * n, line,
                                          "t" + " n" * right))
            self.over.append("</g>")

    def clusters(self):
        """Lines over a few neighbouring x around each of some marks: those of one value of
        family.group lie side by side, and the one in the middle is marked."""
        group, spots, at, marks = self.family.group, {}, 0, []
        points = [p for own in self.series.values() for p in own]
        for g in sorted({quantity(p.row, group) for p in points}):
            xs = sorted({p.x for p in points if quantity(p.row, group) == g})
            spots.update({(g, v): at + i for i, v in enumerate(xs)})
            marks.append((at + len(xs) // 2, self.family.label(self.family.x, xs[len(xs) // 2])))
            at += len(xs) + 1.5
        x = Scale("linear", -0.5, at - 1, self.left, self.right)
        for spot, _ in marks:
            self.upright(x(spot), "a")
        self.names([(x(spot), name) for spot, name in marks])
        for value, own in self.series.items():
            for g in sorted({quantity(p.row, group) for p in own}):
                of = [p for p in own if quantity(p.row, group) == g]
                self.curve(value, of, lambda v: x(spots[g, v]))

    def bars(self):
        """A group of bars per x, a bar per series, with its value."""
        groups = self.groups.values()
        x = Scale("linear", -0.5, len(groups) - 0.5, self.left, self.right)
        own = min(x.slope * 0.8 / max(map(len, groups)), 90)
        for spot, group in enumerate(groups):
            for i, (value, p) in enumerate(group):
                a, y = x(spot) + (i - len(group) / 2) * own, self.y(p.y)
                self.over.append(
                    f'<rect class="b" color="{self.style[value].color}" x="{a + own * 0.04:.1f}" '
                    f'y="{y:.1f}" width="{own * 0.92:.1f}" height="{max(self.bottom - y, 0):.1f}">'
                    f"{said(self.family, p, places(self.family, self.value, value))}</rect>"
                )
                middle, ends = a + own / 2, self.interval(a + own / 2, p)
                self.over.append(f'<path class="o" d="{ends}"/>' if ends else "")
                if p.model > 0:
                    line = f"M{a:.1f} {self.y(p.model):.1f}h{own:.1f}"
                    self.over.append(f'<path class="o" stroke-dasharray="4 3" d="{line}"/>')
                top = self.y(min(p.hi, self.high)) if p.hi > p.y else y
                self.number(middle, min(y, top), self.bottom - y, rounded(p.y), own, value)
        lines, angle, size = below(self.labels, x.slope)
        for spot, words in enumerate(lines):
            if angle:
                a, b = x(spot) + size * 0.3, self.bottom + 10
                turn = f' font-size="{size:.1f}" transform="rotate(-{angle} {a:.1f} {b:.1f})"'
                self.over.append(text(a, b, words[0], "n", turn))
            for n, line in enumerate(words if not angle else ()):
                self.over.append(text(x(spot), self.bottom + 17 + 15 * n, line, "c"))

    def number(self, x, top, tall, words, room, value):
        """The value at the foot of a bar, or above where it is lower than this; upright where it is
        narrower."""
        color, size = self.style[value].color, min(12, room)
        kind = "v" + " d" * (upon(color) == "#000")
        own = f' color="{color}" font-size="{size:.1f}"'
        if wide(words, 12) + 5 <= room:
            if tall >= 20:
                self.over.append(text(x, self.bottom - 6, words, "c " + kind, own))
            else:
                self.over.append(text(x, top - 5, words, "c t", ' font-size="12"'))
        elif room >= 7:
            inside = tall >= wide(words, size) + 8
            a, b = x + size * 0.35, (self.bottom if inside else top) - 4
            turn = f' transform="rotate(-90 {a:.1f} {b:.1f})"'
            own = own if inside else f' font-size="{size:.1f}"'
            self.over.append(text(a, b, words, kind if inside else "t", own + turn))

    def heat(self):
        """A cell per x and series, in colours from zero to the figure's largest; returns what
        stands at the left."""
        family = self.family
        xs = sorted(dict.fromkeys(p.x for own in self.series.values() for p in own), key=order)
        ys = [v for v in self.style if v != ""]
        x = Scale("linear", -0.5, len(xs) - 0.5, self.left, self.right)
        y = Scale("linear", -0.5, len(ys) - 0.5, self.bottom, self.top)
        own, high = x.slope, -y.slope
        broadest = max(wide(rounded(p.y), 1) for points in self.series.values() for p in points)
        size = min(FONT, high - 2, (own - 4) / broadest)
        for value, points in self.series.items():
            for p in points:
                a, b, part = x(xs.index(p.x)), y(ys.index(value)), p.y / self.most
                self.over.append(
                    f'<rect class="q" x="{a - own / 2:.1f}" y="{b - high / 2:.1f}" '
                    f'width="{own:.1f}" height="{high:.1f}" fill="{viridis(min(part, 1))}">'
                    f"{said(family, p, places(family, self.value, value))}</rect>"
                )
                if len(xs) * len(ys) <= CELLS_MAX and size >= 6:
                    look = f"fill:{'#fff' if part < 0.6 else '#000'};pointer-events:none"
                    extra = f' style="{look}" font-size="{size:.1f}"'
                    self.over.append(text(a, b + size * 0.36, rounded(p.y), "c", extra))
        self.names([(x(i), family.label(family.x, v)) for i, v in enumerate(xs)])
        names = [clipped(family.label(family.series, v)) for v in ys]
        return [(y(i), name) for i, name in enumerate(names)]


def extent(family, points, across):
    """The ends of the axis of the rates. An interval that is far longer than these goes on beyond
    it."""
    top, least = max(p.y for p in points), min((p.y for p in points if p.y > 0), default=1)
    low = [p.lo if p.lo > 0 or family.y == "error_pct" else p.y for p in points]
    high = [p.hi if math.isfinite(p.hi) else p.y for p in points]
    memory, arithmetic = roofs_of(family, points)
    models = [p.model for p in points if p.model > 0] + [at for *_, at in across]
    models += [v for _, v, _ in arithmetic] if memory else []
    if points[0].row["backend"] != "cpu":
        models += [y for stars in family.published.values() for y, *_ in stars]
    if family.y == "error_pct":
        return min(-10, *low), max(10, *high)
    if family.y == "ratio":
        room = (max(high) - min(low)) * 0.05
        return min(low) - room, max(high) + room or 1
    high = [min(v, (2 if family.log_y else 1.5) * top) for v in high]
    if family.log_y:
        low = [max(v, least / 2) for v in low if v > 0]
        low = [v for v in (*low, *models, *(p.y for p in points)) if v > 0] or [1]
        room = 2 if arithmetic else 1.15  # for names
        return min(low) / 1.15, max(*high, *models, 1.01 * min(low)) * room
    return 0, max([*high, *models, *(p.y for p in points)]) * 1.06 or 1


def scale_of(family, ys, high):
    """What stands at the left of an axis of rates: {value: text}."""
    if family.y == "error_pct":
        ticks = (-100, -10, -5, 0, 5, 10, 100, 1000)
        return {t: f"{t:+.0f}" if t else "0" for t in ticks if ys[0] <= t <= ys[1]}
    return {t: count(t) for t in (decades(*ys) if family.log_y else steps(*ys, high // 34))}


def legend_of(family, style, points, across):
    """[(SVG, text)]: the series, and what else there is."""
    line = '<path class="%s" d="M0 6H26"%s/>'
    box = '<rect class="%s" x="5" width="14" height="12"%s/>'
    if family.draw == "heat":
        top = max(p.y for p in points)
        parts = (0, 0.25, 0.5, 0.75, 1)
        return [(box % ("", f' fill="{viridis(f)}"'), rounded(f * top)) for f in parts]
    entries = []
    for s in style.values():
        mark = f'<path class="k" d="M13 6{MARKS[s.marker]}"/>'
        own = box % ("b", "") if family.draw == "bars" else line % ("l", "") + mark
        entries += [(f'<g color="{s.color}">{own}</g>', s.label)] if s.label else []
    if any(p.model > 0 for p in points):
        dashes = line % ("o" if family.draw == "bars" else "m", ' stroke-dasharray="4 3"')
        entries.append((f'<g color="{GRAY}">{dashes}</g>', family.model))
    if family.y == "error_pct":
        hollow = f'<path class="k h" color="{GRAY}" d="M13 6{MARKS["o"]}"/>'
        entries += [(hollow, FLAGGED), (box % ("band", ""), BAND)]
    memory, arithmetic = roofs_of(family, points)
    for measured, (how, dashes) in enumerate(ROOFS if memory else ()):
        parts = [f"memory {count(round(v))} GB/s" for _, v, of in memory if of == measured]
        own = [f"{name} {rounded(v / 1e3)}" for name, v, of in arithmetic if of == measured]
        said = ", ".join(parts + own) + " TFLOP/s" * bool(own)
        entries += [(line % ("o", dashes), f"{how}: {said}")] * bool(said)
    return entries + [
        (line % ("o", REFERENCES[column][1]),
         f"{name} {rounded(y)} {'GFLOP/s' if column == 'mix_gflops' else 'GB/s'}")
        for column, name, y in across
    ]


def picture(family, panels, style=None, wide_all=WIDE):
    """Of these styles, of a page's figures; or of its own."""
    points = [p for series in panels.values() for own in series.values() for p in own]
    style, across = style or page_styles([(family, panels)])[0], references(family, points)
    ys, most = extent(family, points, across), max(p.y for p in points) or 1
    frames = [
        Panel(family, style, value, series, most, wide_all) for value, series in panels.items()
    ]
    beside = (4 if family.draw == "lines" else 3) if wide_all == WIDE else 1
    beside += wide_all != WIDE and family.draw == "lines" and len(frames) > 2
    lines = math.ceil(len(frames) / beside)
    columns = math.ceil(len(frames) / lines)
    high = (320 if wide_all == WIDE else 260) if lines == 1 else 190
    scale = {} if family.draw == "heat" else scale_of(family, ys, high)
    names = scale.values() or [
        clipped(family.label(family.series, v)) for v in style if v != ""
    ]

    left = EDGE + max(map(wide, names)) + 6
    for _ in range(4):  # the more names reach to the left, the less room there is for each
        own = (wide_all - OVER - left + GAP) / columns - GAP
        feet = [f.feet(own) for f in frames]
        left = max(left, *(reach + 4 for reach, _ in feet))
    label = wrapped(axis_label(family.x, family.bench), own + GAP)
    foot = max(deep for _, deep in feet) + 15 * len(label) + 9
    titles = [wrapped(f.title, own, 15) if f.title else [] for f in frames]
    head = 16 * max(map(len, titles)) + LANE * max(len(f.bands) for f in frames) + 8

    for i, (f, title) in enumerate(zip(frames, titles)):
        at, top = left + (i % columns) * (own + GAP), (i // columns) * (head + high + foot) + head
        f.place(at, top, at + own, top + high, ys, frames[i - 1].begin if i % columns else 0)
        for v in scale:
            f.across(v)
        rows = getattr(f, family.draw)() or [(f.y(v), words) for v, words in scale.items()]
        for column, _, v in across:
            f.across(v, "o", REFERENCES[column][1])
        f.under.append(f'<path class="a" d="M{at:.1f} {top + high:.1f}h{own:.1f}"/>')
        if i % columns == 0:
            f.beside(thinned(rows, int(high / 15)))
        f.titled(title, top - head + 14, 16, "p")
        if i + columns >= len(frames):
            f.titled(label, top + high + foot + 6 - 15 * len(label), 15, "c")

    heading, upwards = axis_label(family.series, family.bench), rate(family.y)[2]
    if family.draw == "heat":
        heading, upwards = upwards, heading
    heading = heading if any(s.label for s in style.values()) and not named_by_axis(family) else ""
    body = "".join([part for f in frames for part in f.under] + [p for f in frames for p in f.over])
    colors = {s.color for s in style.values()} | {GRAY}
    legend = legend_of(family, style, points, across)
    tall = lines * (head + high + foot)
    return Picture(heading, legend, upwards, body, wide_all, tall, colors)


def without_values(text):
    """A figure whose marks do not say what they are."""
    return re.sub("<title>.*?</title>", "", text, flags=re.S).replace("></path>", "/>")


def embedded(p, title):
    """The picture alone, for a page that has svg.css, dark(colors) and its legend."""
    return (
        f'<svg class="{"big" if p.wide == WIDE else "small"}" '
        f'viewBox="0 0 {p.wide} {p.tall:.0f}" role="img" aria-label="{escape(title)}" '
        f'font-size="{FONT}">{p.body}</svg>'
    )


def alone(p, title, caption):
    """A file: the picture with its title, legend and caption, light or dark as the screen is."""
    out, y = [], 6
    for line in balanced(title, WIDE - 2 * EDGE, 19):  # as wide as bold ones of 17
        y += 22
        out.append(text(EDGE, y, line, "", ' font-size="17" font-weight="600"'))
    x, y = EDGE, y + 24
    entries = [("", p.heading)] * bool(p.heading) + p.legend
    for key, words in entries:
        words = wrapped(words, WIDE - 2 * EDGE - 34)
        room = max(map(wide, words)) + 34 * bool(key)
        if x > EDGE and x + room > WIDE - EDGE:
            x, y = EDGE, y + 19
        out.append(f'<g transform="translate({x:.1f} {y - 10:.1f})">{key}</g>' if key else "")
        weight = "" if key else ' font-weight="600"'
        for n, line in enumerate(words):
            out.append(text(x + 32 * bool(key), y + 16 * n, line, "", weight))
        x, y = x + room + 14, y + 16 * (len(words) - 1)
    y += 25 if entries else 0
    for line in wrapped(p.upwards, WIDE - 2 * EDGE):
        out.append(text(EDGE, y, line, "y"))
        y += 16
    out.append(f'<g transform="translate(0 {y - 8:.1f})">{p.body}</g>')
    y += p.tall
    for line in wrapped(caption, WIDE - 2 * EDGE, 11):
        y += 15
        out.append(text(EDGE, y - 4, line, "y", ' font-size="11"'))
    tall, name = math.ceil(y + 8), escape(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{tall}" '
        f'viewBox="0 0 {WIDE} {tall}" role="img" aria-label="{name}" font-size="{FONT}" '
        'font-family="system-ui,\'Segoe UI\',Roboto,\'Helvetica Neue\',Arial,sans-serif">\n'
        f"<style>\n{STYLE}{dark(p.colors)}\n</style>\n"
        f'<rect class="w" width="{WIDE}" height="{tall}"/>\n'
        + "".join(f"{part}\n" for part in out if part)
        + "</svg>\n"
    )
