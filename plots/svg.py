"""Draws a figure of families.py as SVG to stand in an HTML page: small, without a font or a
library, each mark with its values in a <title>, which browsers show."""

import math
import textwrap
from html import escape

from families import (
    BAND,
    CELLS_MAX,
    DOUBTS,
    FLAGGED,
    axis_label,
    bar_label,
    count,
    grouped,
    rate,
    rounded,
    stretches,
    styles_of,
    tick_label,
    value_label,
    viridis,
)
from rows import references

# In the units of the picture; OVER is for the last name along x, which reaches over the axis.
WIDE, OVER, LEFT, GAP, BELOW, LANE, FONT = 1018, 22, 58, 16, 46, 17, 12
RULER = {"peak_gbps": "", "ceiling_gbps": ' stroke-dasharray="6 4"'}


class Scale:
    """Values to places between two ends: evenly, or by one of some functions."""

    def __init__(self, kind, low, high, start, end):
        self.of = {
            "linear": lambda v: v,
            "log": lambda v: math.log(v),
            "powers": lambda v: v if abs(v) <= 1 else math.copysign(1 + math.log2(abs(v)), v),
            "error": lambda v: v if abs(v) <= 10 else math.copysign(math.log10(abs(v)) * 10, v),
        }[kind]
        low, high = self.of(low), self.of(high)
        self.low, self.start = low, start
        self.slope = (end - start) / ((high - low) or 1)

    def __call__(self, v):
        return self.start + (self.of(v) - self.low) * self.slope


def steps(low, high, most):
    """Round numbers between two ends, at most so many."""
    unit = 10 ** math.floor(math.log10((high - low) / most or 1))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m * most >= high - low)
    return [step * i for i in range(math.ceil(low / step - 1e-9), int(high / step + 1e-9) + 1)]


def decades(low, high):
    """Powers of ten between two ends; with twice and five times, where these are few."""
    tens = [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    some = tens if high > 300 * low else [m * t for t in tens for m in (1, 2, 5)]
    return [t for t in some if 0.999 * low <= t <= 1.001 * high]


def thinned(values, most):
    return values[:: math.ceil(len(values) / most)] if values else []


def text(x, y, words, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{escape(words)}</text>'


def said(family, p, place=()):
    """What a mark stands for: its place, its value with the interval, its flags."""
    x = f"{axis_label(family.x)} {value_label(family.x, p.x)}".replace("\n", " ")
    unit = rate(family.y)[2].split(" in ")[-1]
    y = f"{p.y:.4g}" + f" ({p.lo:.4g} \u2026 {p.hi:.4g})" * (p.lo <= p.hi)
    parts = [*place, x, f"{y} {unit}", *filter(None, [p.row["flags"].replace(";", ", ")])]
    return escape("\n".join(parts))


def places(family, panel, series):
    """What each mark of a series says of its panel and series."""
    named = ((family.panel, panel), (family.series, series))
    return [
        f"{axis_label(c)} {value_label(c, v)}".replace("\n", " ").strip()
        if not isinstance(v, str)
        else v
        for c, v in named
        if c and v != "" and c != family.x
    ]


def labels_of(family, series):
    """The labels along x of bars."""
    return [bar_label(family, x, group) for x, group in grouped(series).items()]


def turned(names, room):
    """By how many degrees, so that they do not lie upon each other; room is for each."""
    return 0 if max(map(len, names)) * 6.5 <= room else 35 if room > 24 else 90


class Panel:
    def __init__(self, family, series, left, top, right, bottom, ys):
        self.family, self.series = family, series
        self.left, self.top, self.right, self.bottom = left, top, right, bottom
        kind = "error" if family.y == "error_pct" else "log" if family.log_y else "linear"
        self.y = Scale(kind, *ys, bottom, top)

    def frame(self, ticks, labels):
        """Lines across, named at the left of the first panel of a row."""
        out = []
        for t in ticks:
            y = self.y(t)
            out.append(f'<path class="g" d="M{self.left:.1f} {y:.1f}H{self.right:.1f}"/>')
            if labels:
                out.append(text(self.left - 6, y + 4, labels(t), ' text-anchor="end"'))
        out.append(f'<path class="a" d="M{self.left:.1f} {self.bottom:.1f}H{self.right:.1f}"/>')
        return out

    def names(self, at, angle=0):
        """The labels below: [(place, text)]."""
        y = self.bottom + 16
        if not angle:
            return [text(x, y, t, ' text-anchor="middle"') for x, t in at]
        y -= 4
        end = f' text-anchor="end" transform="rotate(-{angle} %.1f {y:.1f})"'
        return [text(x, y, t, end % x) for x, t in at]

    def error(self, x, p):
        """An interval, from its lower end to its upper one, which may be missing."""
        hi = p.y if math.isnan(p.hi) else p.hi
        if math.isnan(p.lo) or not hi > p.lo or (self.family.log_y and p.lo <= 0):
            return ""
        return f"M{x:.1f} {self.y(p.lo):.1f}V{self.y(hi):.1f}"

    def curves(self, style, panel, x):
        out = []
        for value, points in self.series.items():
            at = [(x(p.x), self.y(p.y), p) for p in points]
            line = "L".join(f"{a:.1f} {b:.1f}" for a, b, _ in at)
            ends = "".join(self.error(a, p) for a, _, p in at)
            out.append(f'<g style="color:{style[value].color}"><path class="l" d="M{line}"/>')
            out.append(f'<path class="e" d="{ends}"/>' if ends else "")
            model = [f"{x(p.x):.1f} {self.y(p.model):.1f}" for p in points if p.model > 0]
            out.append(f'<path class="m" d="M{"L".join(model)}"/>' if len(model) > 1 else "")
            place = places(self.family, panel, value)
            doubts = self.family.y == "error_pct"
            for a, b, p in at:
                hollow = ' class="h"' if doubts and DOUBTS & set(p.row["flags"].split(";")) else ""
                out.append(
                    f'<circle{hollow} cx="{a:.1f}" cy="{b:.1f}" r="3">'
                    f"<title>{said(self.family, p, place)}</title></circle>"
                )
            out.append("</g>")
        return out

    def lines(self, style, panel):
        family = self.family
        points = [p for own in self.series.values() for p in own]
        xs = sorted({p.x for p in points})
        named = stretches(family, self.series) if family.bands else {}
        edges = [e for own in named.values() for first, last, _ in own for e in (first, last)]
        low, high = min(xs + edges), max(xs + edges)
        kind = "log" if family.log2 else "linear" if family.linear else "powers"
        x = Scale(kind, low, high, self.left + 8, self.right - 8)
        if family.log2:
            first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
            ticks = [2.0**e for e in range(first, last + 1)] or xs
        elif family.linear:
            ticks = steps(low, high, 6) if high > low else xs
        else:
            ticks = [t for t in [0] + [4**e for e in range(16)] if low <= t <= high]
        ticks = thinned(ticks, max(2, int((self.right - self.left) / 58)))
        out = self.names([(x(t), tick_label(family, t)) for t in ticks])
        below = []
        if family.y == "error_pct":
            top, bottom = self.y(5), self.y(-5)
            below.append(
                f'<rect class="band" x="{self.left:.1f}" y="{top:.1f}" '
                f'width="{self.right - self.left:.1f}" height="{bottom - top:.1f}"/>'
            )
        for line, (value, own) in enumerate(reversed(named.items())):
            y = self.top - 5 - LANE * line
            color = "#444" if value is None else style[value].color
            for n, (first, last, name) in enumerate(own):
                a, b = x(first), x(last)
                if name and value is None:
                    below.append(
                        f'<rect class="s{n % 2}" x="{a:.1f}" y="{self.top:.1f}" '
                        f'width="{b - a:.1f}" height="{self.bottom - self.top:.1f}"/>'
                    )
                elif name:
                    out.append(
                        f'<path d="M{a + 1:.1f} {y + 3:.1f}H{b - 1:.1f}" stroke="{color}" '
                        'stroke-width="2"/>'
                    )
                if name and b - a > 6.2 * len(name):
                    style_of = f' text-anchor="middle" style="fill:{color}"'
                    out.append(text((a + b) / 2, y, name, style_of))
        shown = family.published.get(panel, ())
        for y, device, *at in shown if points[0].row["backend"] != "cpu" else ():
            place = (at or [xs[-1]])[0]
            if low <= place <= high and self.y(y) > self.top:
                out.append(
                    f'<text class="star" x="{x(place):.1f}" y="{self.y(y) + 5:.1f}">\u2605'
                    f"<title>{escape(device)}: {y:g}, published</title></text>"
                )
        return below, self.curves(style, panel, x) + out

    def clusters(self, style, panel):
        """Lines over a few neighbouring x around each of some marks."""
        groups, at, spots = {}, 0, {}
        for own in self.series.values():
            for p in own:
                groups.setdefault(float(p.row[self.family.group]), set()).add(p.x)
        marks = []
        for _, xs in sorted(groups.items()):
            xs = sorted(xs)
            spots.update((v, at + i) for i, v in enumerate(xs))
            marks.append(xs[len(xs) // 2])
            at += len(xs) + 1.5
        x = Scale("linear", -0.5, at - 1, self.left, self.right)
        below = [
            f'<path class="g" d="M{x(spots[m]):.1f} {self.top:.1f}V{self.bottom:.1f}"/>'
            for m in marks
        ]
        out = self.names([(x(spots[m]), value_label(self.family.x, m)) for m in marks])
        apart = {}
        for value, own in self.series.items():
            for p in own:
                group = float(p.row[self.family.group])
                apart.setdefault((value, group), []).append(p)
        series = self.series
        for (value, _), own in apart.items():
            self.series = {value: own}
            out += self.curves(style, panel, lambda v: x(spots[v]))
        self.series = series
        return below, out

    def bars(self, style, panel):
        groups = grouped(self.series)
        widest = max(map(len, groups.values()))
        x = Scale("linear", -0.5, len(groups) - 0.5, self.left, self.right)
        wide = min(abs(x.slope) * 0.8 / widest, 90)
        out, labels = [], labels_of(self.family, self.series)
        for place, group in enumerate(groups.values()):
            for i, (value, p) in enumerate(group):
                a = x(place) + (i - len(group) / 2) * wide
                y = self.y(p.y)
                out.append(
                    f'<rect class="b" style="color:{style[value].color}" x="{a + wide * 0.04:.1f}" '
                    f'y="{y:.1f}" width="{wide * 0.92:.1f}" '
                    f'height="{max(self.bottom - y, 0):.1f}">'
                    f"<title>{said(self.family, p, places(self.family, panel, value))}</title>"
                    "</rect>"
                )
                ends = self.error(a + wide / 2, p)
                out.append(f'<path class="e" d="{ends}"/>' if ends else "")
                if p.model > 0:
                    out.append(f'<path class="m" d="M{a:.1f} {self.y(p.model):.1f}h{wide:.1f}"/>')
                words = rounded(p.y)
                if wide > 7.7 * len(words):
                    half = 3.8 * len(words) + 2
                    out.append(
                        f'<rect class="v" x="{a + wide / 2 - half:.1f}" y="{self.bottom - 19:.1f}" '
                        f'width="{2 * half:.1f}" height="15"/>'
                    )
                    own = ' text-anchor="middle"'
                    out.append(text(a + wide / 2, self.bottom - 8, words, own))
        at = [(x(place), label) for place, label in enumerate(labels)]
        return [], out + self.names(at, turned(labels, x.slope))

    def heat(self, style, panel, top):
        family = self.family
        xs = sorted({p.x for own in self.series.values() for p in own})
        ys = [v for v in style if v != ""]
        x = Scale("linear", -0.5, len(xs) - 0.5, self.left, self.right)
        y = Scale("linear", -0.5, len(ys) - 0.5, self.bottom, self.top)
        wide, high = x.slope, -y.slope
        out = []
        for value, own in self.series.items():
            for p in own:
                a, b, part = x(xs.index(p.x)), y(ys.index(value)), p.y / top
                out.append(
                    f'<rect x="{a - wide / 2:.1f}" y="{b - high / 2:.1f}" width="{wide:.1f}" '
                    f'height="{high:.1f}" fill="{viridis(min(part, 1))}"><title>'
                    f"{said(family, p, places(family, panel, value))}</title></rect>"
                )
                if len(xs) * len(ys) <= CELLS_MAX and wide > 28:
                    dark = "fill:#fff" if part < 0.6 else "fill:#000"
                    extra = f' text-anchor="middle" style="{dark};pointer-events:none"'
                    out.append(text(a, b + 4, rounded(p.y), extra))
        named = thinned(xs, max(2, int((self.right - self.left) / 44)))
        out += self.names([(x(xs.index(v)), value_label(family.x, v)) for v in named])
        if self.left < LEFT + 1:
            for v in thinned(ys, max(2, int((self.bottom - self.top) / 14))):
                words = value_label(family.series, v)
                at = y(ys.index(v)) + 4
                out.append(text(self.left - 6, at, words, ' text-anchor="end"'))
        return [], out


def extent(family, points, across):
    """The ends of the axis of the rates."""
    low = [p.lo if p.lo > 0 or family.y == "error_pct" else p.y for p in points]
    high = [p.hi if math.isfinite(p.hi) else p.y for p in points]
    models = [p.model for p in points if p.model > 0] + [at for *_, at in across]
    if points[0].row["backend"] != "cpu":
        models += [y for stars in family.published.values() for y, *_ in stars]
    if family.y == "error_pct":
        return min(-10, *low), max(10, *high)
    if family.log_y:
        low = [v for v in (*low, *models, *(p.y for p in points)) if v > 0] or [1]
        return min(low) / 1.15, max(*high, *models, 1.01 * min(low)) * 1.15
    return 0, max([*high, *models, *(p.y for p in points)]) * 1.06 or 1


def figure(family, panels):
    """The legend, [(colour, label, dash)], and the picture."""
    points = [p for series in panels.values() for own in series.values() for p in own]
    style = styles_of(family, panels)
    across = references(family, points)
    ys = extent(family, points, across)
    columns = min(len(panels), 5 if len(panels) <= 5 else 4)
    while columns > 1 and (WIDE - LEFT) / columns < 190:
        columns -= 1
    lines = math.ceil(len(panels) / columns)
    lanes = max(
        (len(stretches(family, series)) for series in panels.values()) if family.bands else [0]
    )
    high = 300 if lines == 1 else 190
    left = LEFT
    wide = (WIDE - left + GAP) / columns - GAP
    titles = {  # those that are wider than their panel, on several lines
        p: textwrap.wrap(family.panel_title.format(value_label(family.panel, p)), int(wide / 7.5))
        for p in panels
        if p != ""
    }
    title = 6 + 14 * max(map(len, titles.values()), default=0)
    head = title + LANE * lanes + 6
    foot = BELOW
    if family.draw == "bars":  # names that do not fit are slanted, and want as much more below
        names = [labels_of(family, series) for series in panels.values()]
        foot += max(
            max(map(len, own)) * {0: 0, 35: 3.6, 90: 6.5}[turned(own, wide / len(own))]
            for own in names
        )
    if family.draw == "heat":
        ticks, label = [], None
    elif family.y == "error_pct":
        ticks = [t for t in (-100, -10, -5, 0, 5, 10, 100, 1000) if ys[0] <= t <= ys[1]]
        label = lambda v: f"{v:+.0f}" if v else "0"  # noqa: E731
    else:
        ticks, label = (decades if family.log_y else lambda a, b: steps(a, b, 6))(*ys), count
    below, above = [], []
    for i, (value, series) in enumerate(panels.items()):
        at = left + (i % columns) * (wide + GAP)
        top = (i // columns) * (head + high + foot) + head
        panel = Panel(family, series, at, top, at + wide, top + high, ys)
        below += panel.frame(ticks, label if i % columns == 0 else None)
        draw = getattr(panel, family.draw)
        extra = [max(p.y for p in points)] if family.draw == "heat" else []
        under, over = draw(style, value, *extra)
        below, above = below + under, above + over
        for column, _, y in across:
            y = panel.y(y)
            below.append(
                f'<path class="r"{RULER[column]} d="M{at:.1f} {y:.1f}H{at + wide:.1f}"/>'
            )
        for line, name in enumerate(titles.get(value, ())):
            middle = ' class="p" text-anchor="middle"'
            above.append(text(at + wide / 2, top - head + 14 * (line + 1), name, middle))
        if i + columns >= len(panels):
            name = axis_label(family.x).replace("\n", " ")
            above.append(text(at + wide / 2, top + high + foot - 10, name, ' text-anchor="middle"'))
    tall = lines * (head + high + foot)
    legend = [(s.color, s.label, "") for s in style.values() if s.label]
    if family.draw == "heat":
        top = max(p.y for p in points)
        legend = [(viridis(f), rounded(f * top), "") for f in (0, 0.25, 0.5, 0.75, 1)]
    if family.draw != "heat" and any(p.model > 0 for p in points):
        legend.append(("#606060", family.model.replace("\n", " "), "2 2"))
    if family.y == "error_pct":
        legend += [("#009E73", BAND, ""), ("#606060", FLAGGED, "")]
    legend += [
        ("#000", f"{name} {rounded(y)} GB/s", "6 4" if RULER[column] else "")
        for column, name, y in across
    ]
    if not any(len(series) for series in panels.values()):
        legend = []
    picture = (
        f'<svg viewBox="0 0 {WIDE + OVER} {tall:.0f}" role="img" font-size="{FONT}">'
        + "".join(below + above)
        + "</svg>"
    )
    return legend, picture
