"""Draws a figure of families.py with matplotlib.

A kind of drawing is a function: series maps a value of the series axis to its points, sorted by x,
style to its colour, marker and label.
"""

import io
import math
import textwrap

from PIL import Image  # comes with matplotlib
from matplotlib import pyplot
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from families import (
    BAND,
    CELLS_MAX,
    DOUBTS,
    FLAGGED,
    REFERENCES,
    axis_label,
    bar_label,
    count,
    grouped,
    rate,
    rounded,
    stretches,
    styles_of,
    tick_label,
    title_of,
    value_label,
)
from rows import references

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
pyplot.rcParams.update(STYLE)


def errors(points):
    """The intervals as matplotlib wants them: distances down and up, nan where there is none.
    That of a rate has no upper end where that of the time begins at 0: its lower part is drawn."""
    if all(math.isnan(p.lo) and math.isnan(p.hi) for p in points):
        return None
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
    if family.linear:
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: tick_label(family, v)))
    elif not family.log2:
        ax.set_xscale("symlog", base=2, linthresh=1)  # powers of two, and zero
        ax.xaxis.set_major_locator(FixedLocator([0] + [4**e for e in range(16)]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: tick_label(family, v)))
    if family.log2:
        xs = sorted({p.x for points in series.values() for p in points})
        first, last = math.ceil(math.log2(xs[0])), math.floor(math.log2(xs[-1]))
        most = 2 if family.y == "error_pct" else 4 if family.panel else 9
        ticks = [2.0**e for e in range(first, last + 1, (last - first) // most + 1)]
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_locator(FixedLocator(ticks if len(ticks) > 1 else xs))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: tick_label(family, v)))
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


def bands(ax, family, series, style):
    """Names the stretches of x that are served by the same cache above the axes: of all series
    together, and shaded, or on a line for each where they differ."""
    named = stretches(family, series)
    alike = None in named
    for line, (value, own) in enumerate(reversed(named.items())):
        for n, (first, last, name) in enumerate(own):
            if not name:
                continue
            if alike:
                ax.axvspan(first, last, color="black", alpha=0.10 if n % 2 else 0.03, lw=0)
            else:
                ax.plot(
                    [first, last],
                    [1.008 + 0.045 * line] * 2,
                    transform=ax.get_xaxis_transform(),
                    color=style[value].color,
                    alpha=0.4 if n % 2 else 1,
                    linewidth=3,
                    solid_capstyle="butt",
                    clip_on=False,
                )
            ax.text(
                math.sqrt(first * last),
                1.01 + 0.045 * line,
                name.replace(", ", ",\n"),
                transform=ax.get_xaxis_transform(),
                color="black" if alike else style[value].color,
                ha="center",
                va="bottom",
                fontsize=16 if alike and family.bands == "cache" else 12,
                fontweight="bold",
            )
    xs = [p.x for points in series.values() for p in points]
    edges = [x for own in named.values() for first, last, _ in own for x in (first, last)]
    if edges:
        ax.set_xlim(
            min(*edges, min(xs) / 2**0.5), max(*edges, max(xs) * 2**0.5)
        )


def bars(ax, family, series, style):
    """A group of bars per x, a bar per series, with its value."""
    groups = grouped(series)
    widest = max(map(len, groups.values()))
    for place, group in enumerate(groups.values()):
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
                0.02,
                rounded(p.y),
                transform=ax.get_xaxis_transform(),
                ha="center",
                va="bottom",
                bbox=dict(facecolor="white", alpha=0.85, linewidth=0, pad=2),
            )
    if family.log_y:
        ax.set_yscale("log")
    ax.set_xticks(
        range(len(groups)), [bar_label(family, x, group) for x, group in groups.items()]
    )
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
                        fontsize=9 if family.panel and len(xs) > 3 else 14,
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


DRAWN = {"lines": lines, "bars": bars, "heat": heat, "clusters": clusters}


def rates(ax, family):
    """The axis of the rates, from zero where that can be."""
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
        named = "123456789" if high < 5 * low else "25" if high < 30 * low else ""
        ax.yaxis.set_minor_formatter(
            FuncFormatter(lambda v, _: count(v) if f"{v:e}"[0] in named else "")
        )


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
    bar = fig.colorbar(images[0], ax=list(frames), label=rate(family.y)[2])
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: count(v)))


def shorten(texts, width):
    """Makes texts no wider than so many pixels: a bit smaller, all of them, or on several lines."""
    wide = {t: t.get_window_extent().width / width for t in texts}
    most = max(wide.values())
    for text, share in wide.items():
        if 1 < most <= 1.2:
            text.set_fontsize(text.get_fontsize() / most)
        elif share > 1:
            words = text.get_text().replace("\n", " ")
            text.set_text(textwrap.fill(words, max(8, int(len(words) / share))))


def fit(fig, frames, family):
    """Breaks, turns and shrinks what would lie upon its neighbour, as seen once it is laid out."""
    fig.draw_without_rendering()
    turned, crowded, size = 0, False, 16
    room = 1.1 * frames[0].get_window_extent().width  # and of what is between the panels
    shorten([ax.title for ax in frames], room)
    shorten([ax.xaxis.label for ax in frames], room)
    for ax in frames:
        if family.draw in ("bars", "heat"):
            names = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
            if any(a.x1 + 4 > b.x0 for a, b in zip(names, names[1:])):
                step, high = room / 1.1 / len(names), max(n.height for n in names)
                turned = max(turned, 30 if step > 2 * high else 90)
                size = min(size, 16 * step / high)
            crowded |= any(
                value.get_window_extent().width > 0.95 * bar.get_window_extent().width
                for bar, value in zip(ax.patches, ax.texts)
            )
    for ax in frames:
        for name in ax.get_xticklabels() if turned else ():
            name.set(rotation=turned, fontsize=size, ha="right", rotation_mode="anchor")
            name.set_va("center" if turned == 90 else "top")
        for value in ax.texts if crowded else ():
            value.set(rotation=90, fontsize=11)
    upwards = frames[0].yaxis.label
    share = upwards.get_window_extent().height / frames[0].get_window_extent().height
    upwards.set_fontsize(upwards.get_fontsize() / max(1, share))


def draw(family, panels, text):
    lines = -(-len(panels) // 5)  # of at most five panels
    fig, grid = pyplot.subplots(
        lines, -(-len(panels) // lines), sharey=True, squeeze=False, constrained_layout=True
    )
    frames = [*grid.flat][: len(panels)]
    for ax in [*grid.flat][len(panels) :]:
        ax.remove()
    rows = [p.row for series in panels.values() for points in series.values() for p in points]
    style, handles, across = styles_of(family, panels), {}, {}
    known = references(family, [p for own in panels.values() for s in own.values() for p in s])
    for ax, (panel, series) in zip(frames, panels.items()):
        DRAWN[family.draw](ax, family, series, style)
        if panel in family.published and rows[0]["backend"] != "cpu":
            last = max(p.x for points in series.values() for p in points)
            mark(ax, last, family.published[panel])
        handles.update((label, h) for h, label in zip(*ax.get_legend_handles_labels()))
        for column, name, at in known:
            across[f"{name}\n{rounded(at)} GB/s"] = ax.axhline(
                at, color="black", ls=REFERENCES[column][1], lw=1.8, zorder=1.5
            )
        # above the names of the bands
        title = family.panel_title.format(value_label(family.panel, panel))
        ax.set_title(title, pad=28 if family.bands and panel else None)
    for ax in frames[-grid.shape[1] :]:  # the lowest of each column
        ax.set_xlabel(axis_label(family.x))
    if family.draw == "heat":
        colors(fig, frames, family)
    else:
        for ax in grid[:, 0]:
            rates(ax, family)
        of_series = [s.label for s in style.values()]
        named = [*of_series, family.model, FLAGGED, BAND]
        named = {label: handles[label] for label in named if label in handles} | across
        high = sum(1 + label.count("\n") for label in named)
        grid[0, -1].legend(
            named.values(),
            named.keys(),
            title=axis_label(family.series) if any(of_series) else None,
            loc="upper left",
            fontsize=14 * min(1, 20 / max(1, high)),
            bbox_to_anchor=(1.02, 1),
            borderaxespad=0,
            frameon=False,
        )
    upwards = axis_label(family.series) if family.draw == "heat" else rate(family.y)[2]
    if lines == 1:
        grid[0, 0].set_ylabel(upwards)
    else:
        fig.supylabel(upwards, fontsize=16)
    fig.suptitle(textwrap.fill(title_of(family, rows), 90), fontsize=20)
    fig.supxlabel(
        textwrap.fill(text, 145).replace("$", r"\$"),
        x=0.01,
        ha="left",
        fontsize=12,
        color="#404040",
    )
    fit(fig, frames, family)
    return fig


def save_small(figure, path):
    """A quarter of the bytes: fewer pixels, and 64 colours, thin lines' own among them."""
    pixels = io.BytesIO()
    figure.savefig(pixels, format="png", dpi=80)
    image = Image.open(pixels).convert("RGB")
    image = image.quantize(64, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    image.save(path, optimize=True)
