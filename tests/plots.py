"""What plots/ draws, from rows of bench/results and from made ones. test_plots.sh runs it."""

import itertools
import math
import re
import sys
import tempfile
from pathlib import Path

from plots_check import RESULTS, ROOT, check, finish, rows_of, run_program, write

import families
import draw
import plot
import rows as table
import svg

FAMILY = {f.name: f for f in families.FAMILIES}


def run(*arguments):
    return run_program(plot, arguments)


def drawn(name, path):
    """The figure of a family from one file, and its points in panels."""
    family = FAMILY[name]
    own, replaced = table.select(family, table.read(path))
    points = [p for p in (table.point(family, r) for r in own) if p]
    panels, slower = table.arrange(family, points)
    text = table.caption(family, own, panels, {}, slower, replaced, None)
    return draw.draw(family, panels, text), points, text


def row(base, **changes):
    return {**base, **{k: str(v) for k, v in changes.items()}}


# ---- files of other kinds, and files that are broken ---------------------------------------------


def files(tmp):
    copy = rows_of("cpu-copy.csv")
    write(tmp / "copy.csv", copy)
    (tmp / "other.csv").write_text("variant,median_s\nruntime,0.5\n")
    (tmp / "semicolons.csv").write_bytes("Gr\xf6\xdfe;Zeit\n1;2\n".encode("latin-1"))
    (tmp / "empty.csv").write_text("")
    code, error = run(tmp, "--out", tmp / "figures", "--store", "copy-grid")
    check(code == 0, f"tables of other kinds end it: {error}")
    for name in ("other.csv", "semicolons.csv", "empty.csv"):
        check(f"{name}: skipped" in error, f"{name}: not said to be skipped")
    check("copy.csv: skipped" not in error, "a file of ours is skipped")
    made = [f.name for f in (tmp / "figures").iterdir()]
    check(made == ["amd-epyc-cpu-copy-grid.png"], f"--store: {made}")

    kept = {name: sys.modules.pop(name) for name in ("draw", "matplotlib")}
    sys.modules["matplotlib"] = None
    code, error = run(tmp, "--out", tmp / "figures")
    sys.modules.update(kept)
    check(code == 2 and "no matplotlib" in error, f"without matplotlib: {code} {error}")

    check(run(tmp / "other.csv", "--out", tmp)[0] == 2, "nothing but another table: not an error")
    check(run(tmp, "--out", tmp, "--store", "nosuch")[0] == 2, "--store nosuch: not an error")
    write(tmp / "short.csv", [{k: v for k, v in copy[0].items() if k != "median_s"}])
    code, error = run(tmp, "--out", tmp / "figures")
    check(code == 2 and "median_s" in error, f"a column missing: {code} {error}")


# ---- floor-span: errors in per cent, against the span by the spin's own clock --------------------


def span(tmp):
    base = rows_of("h200-floor.csv")[0]
    made = [
        row(base, us=us, blocks=132, span_s=s, kernel=k, median_s=t, ci_lo_s=t, ci_hi_s=t,
            flags=flags)
        for us, s, k, t, flags in (
            (2, 2e-6, "event", 6e-6, ""),
            (2, 2e-6, "chosen", 1.9e-6, "unverified;launch-bound"),
            (5, 4e-6, "chosen", 5e-6, "unverified"),
            (9, "", "chosen", 9e-6, "unverified"),
        )
    ]
    path = tmp / "floor.csv"
    write(path, made)
    figure, points, _ = drawn("floor-span", path)
    errors = {(p.x, p.row["kernel"]): p.y for p in points}
    wanted = {(2, "event"): 200, (2, "chosen"): -5, (4, "chosen"): 25}
    check(
        errors.keys() == wanted.keys() and all(math.isclose(errors[k], wanted[k]) for k in wanted),
        f"errors {errors}, not {wanted}",
    )
    ax = figure.axes[0]
    bands = [p.get_extents().transformed(ax.transData.inverted()) for p in ax.patches]
    check([(round(b.y0), round(b.y1)) for b in bands] == [(-5, 5)], f"the band: {bands}")
    check(ax.get_yscale() == "symlog" and "%" in ax.get_ylabel(), "the axis of the error")
    white = [l.get_xydata().round(6) for l in ax.lines if l.get_markerfacecolor() == "white"]
    hollow = [tuple(point) for line in white for point in line]
    check(hollow == [(2, -5)], f"hollow: {hollow}")


# ---- captions: where measurement and model part --------------------------------------------------


def captions(tmp):
    base = next(r for r in rows_of("h200-strided.csv") if r["bench"] == "strided/memory")

    def strided(name, **changes):
        made = [
            row(base, elem=e, stride=s, gbps=y, reference=100, expected_pct=m, **changes)
            for e, s, y, m in (
                (1, 1, 100, 100),
                (1, 2, 90, 50),
                (1, 8, 40, 20),
                (16, 1, 100, 100),
                (16, 2, 35, 50),
                (16, 4, 12, 50),
                (16, 64, 50, 50),
            )
        ]
        for r in made:  # an interval that fits the rate
            r["ci_lo_s"] = r["ci_hi_s"] = str(float(r["bytes"]) / float(r["gbps"]) / 1e9)
        write(tmp / name, made)
        return drawn("strided-memory", tmp / name)

    _, _, text = strided("strided.csv")
    above = text.find("above the model: 1 B at 2\u2009\u2026\u20098 (up to 2\u00a0x): ")
    below = text.find("below the model: 16 B at 2\u2009\u2026\u20094 (down to 0.24\u00a0x): ")
    check(0 < above < below, f"strided: {text}")
    check("number of accesses" in text and "written in part" in text, f"no reasons: {text}")
    figure, _, text = strided("cpu.csv", backend="cpu", device="AMD")
    check("the model" not in text, f"reasons of a GPU on a CPU: {text}")
    title = figure._suptitle.get_text()
    check("emulated" in title, f"title of a CPU's: {title}")

    figure, _, text = drawn("offset-misaligned", RESULTS / "h200-offset.csv")
    check("neighbouring warps share" in text, f"misaligned: {text}")
    check("emulated" not in figure._suptitle.get_text(), "title of a GPU's")


# ---- bands: what each kernel's data come from ----------------------------------------------------


def bands(tmp):
    base = next(r for r in rows_of("h200-zcopy.csv") if r["bench"] == "zcopy/working_set")
    made = [
        row(base, kernel=k, footprint=f, footprint_bytes=f, bytes=b, cache=c)
        for f, c in ((1024, "L1"), (4096, "L2"), (65536, "memory"))
        for k, b in (("read again", 8 * f), ("read again, past L1", 8 * f), ("zcopy", f))
    ]
    for r in made:
        r["gbps"] = str(float(r["bytes"]) / float(r["median_s"]) / 1e9)
    write(tmp / "zcopy.csv", made)
    figure, _, _ = drawn("zcopy-working-set", tmp / "zcopy.csv")
    ax = figure.axes[0]
    colors = {h.get_label(): h.lines[0].get_color() for h in ax.containers if hasattr(h, "lines")}
    named = {k: [t.get_text() for t in ax.texts if t.get_color() == c] for k, c in colors.items()}
    wanted = {
        "read again": ["L1", "L2", "memory"],
        "read again, past L1": ["L2", "memory"],
        "zcopy": ["L2", "memory"],
    }
    check(named == wanted, f"bands: {named}, not {wanted}")
    check(not ax.patches, "a band over kernels that it does not hold for")

    write(tmp / "alike.csv", [r for r in made if r["kernel"] == "read again"])
    figure, _, _ = drawn("zcopy-working-set", tmp / "alike.csv")
    ax = figure.axes[0]
    check([t.get_text() for t in ax.texts] == wanted["read again"], "bands of one kernel")
    check(len(ax.patches) == 3, "bands of one kernel are not shaded")


def plateaus(tmp):
    """Named where latency has found them, for the stride that it looks at; with gaps in between."""
    rows = rows_of("h200-latency.csv")
    figure, _, text = drawn("latency-chase", RESULTS / "h200-latency.csv")
    ax = figure.axes[0]
    wanted = ["L1", "L2", "L2,\nfar part", "memory"]
    named = [t.get_text() for t in ax.texts]
    check(named == wanted, f"plateaus: {named}")
    ends = [p.get_extents().transformed(ax.transData.inverted()) for p in ax.patches]
    found = [r for r in rows if r["bench"] == "latency/levels"]
    check(len(ends) == len(found) == 4, f"{len(ends)} bands, {len(found)} plateaus")
    for band, level in zip(ends, found):
        inside = band.x0 < float(level["from_bytes"]) and float(level["to_bytes"]) < band.x1
        check(inside and band.x1 < 1.5 * float(level["to_bytes"]), f"{level['kernel']}: {band}")
    write(tmp / "none.csv", [r for r in rows if r["bench"] == "latency/chase"])
    figure, points, _ = drawn("latency-chase", tmp / "none.csv")
    check(not figure.axes[0].texts and len(points) == 184, "a chase without plateaus")
    check(all(math.isclose(p.y, 1e9 * float(p.row["median_s"])) for p in points), "not in ns")


# ---- benches that families.py does not know ------------------------------------------------------


def made(tmp, name="own.csv", change=lambda r: {}, **axes):
    """Rows of a benchmark of one's own, with all combinations of the axes."""
    base = {k: v for k, v in rows_of("cpu-copy.csv")[0].items() if k not in ("elem", "block")}
    rows = []
    for values in itertools.product(*axes.values()):
        at = dict(zip(axes, values))
        t = 1e-6 * (1 + len(rows))
        new = row(base, bench="own/sum", median_s=t, ci_lo_s=t, ci_hi_s=t, **at)
        new["gbps"] = str(float(new["bytes"]) / t / 1e9)
        rows.append({**new, **change(new)})
    write(tmp / name, rows)
    return tmp / name


def guessed(path, **asked):
    rows = table.read_all([path])
    f = table.guess("own/sum", rows, **asked)
    return f.x, f.series, f.panel, f.draw


def unknown(tmp):
    sizes, ways = (1024, 4096, 16384), ("plain", "fast")
    cases = (
        (dict(n=sizes), ("n", "kernel", "", "lines")),
        (dict(n=sizes, way=ways), ("n", "way", "", "lines")),
        (dict(way=ways), ("way", "kernel", "", "bars")),
        (dict(n=sizes, kernel=("a", "b"), way=ways), ("n", "kernel", "way", "lines")),
        (dict(kernel=("a", "b")), ("kernel", "kernel", "", "bars")),
        (dict(n=("7",)), ("kernel", "kernel", "", "bars")),
        (dict(n=(1, 2, 3, "auto")), ("n", "kernel", "", "bars")),
    )
    for axes, wanted in cases:
        got = guessed(made(tmp, **axes))
        check(got == wanted, f"{axes}: {got}, not {wanted}")
    own = made(tmp, n=sizes, way=ways, block=(32, 64))
    asked = guessed(own, x="block", series="n", panel="way")
    check(asked == ("block", "n", "way", "lines"), f"asked for block, n, way: {asked}")
    scales = [table.guess("own/sum", table.read_all([made(tmp, "scale.csv", n=n)])).log2
              for n in (sizes, (10, 20, 30, 40), (0, 4, 16))]
    check(scales == [True, False, False], f"logarithmic x: {scales}")

    figures = tmp / "figures"
    code, error = run(own, "--out", figures, "--format", "png,pdf")
    names = sorted(f.name for f in figures.iterdir())
    wanted = ["amd-epyc-cpu-own-sum.pdf", "amd-epyc-cpu-own-sum.png", "report.md"]
    check((code, error, names) == (0, "", wanted), f"an unknown bench: {code} {error} {names}")
    check((figures / wanted[0]).read_bytes()[:5] == b"%PDF-", "not a PDF")
    for options, words in (
        (["--x", "nosuch"], "its axes are block, n, way"),
        (["--series", "nosuch"], "no such column"),
        (["--y", "device"], "not a number"),
        (["--bench", "nosuch"], "--bench nosuch"),
        (["--format", "gif"], "must be png, svg or pdf"),
    ):
        code, error = run(own, "--out", figures, *options)
        check(code == 2 and words in error and "\n" not in error, f"{options}: {code} {error}")
    made(tmp, "failed.csv", lambda r: {"status": "failed"}, n=sizes)
    code, error = run(tmp / "failed.csv", "--out", figures)
    check(code == 2 and "no row is ok" in error, f"failed rows alone: {code} {error}")
    write(tmp / "zero.csv", rows_of("cpu-copy.csv"))
    head = (tmp / "zero.csv").read_text().split("\n")[0]
    (tmp / "zero.csv").write_text(head + "\n")
    code, error = run(tmp / "zero.csv", "--out", figures)
    check(code == 2 and "hold no rows" in error, f"a header alone: {code} {error}")


def overlaid(tmp):
    """Devices under their names, runs of one device under the files'; a panel for each series."""
    before = made(tmp, "before.csv", n=(1, 2, 4), way=("a", "b"))
    after = made(tmp, "after.csv", lambda r: {"gbps": str(2 * float(r["gbps"])), "ci_lo_s": "",
                                              "ci_hi_s": ""}, n=(1, 2, 4), way=("a", "b"))
    rows = table.read_all([before, after], apart=True)
    (figure,) = table.figures(rows, together=True)
    shape = {panel: list(series) for panel, series in figure.panels.items()}
    check(shape == {w: ["before", "after"] for w in "ab"}, f"before and after: {shape}")
    doubled = all(
        math.isclose(2 * p.y, q.y)
        for s in figure.panels.values() for p, q in zip(s["before"], s["after"])
    )
    check(doubled, "a file's points are under another's name")
    (tmp / "nan.csv").write_bytes(after.read_bytes())
    (figure,) = table.figures(table.read_all([before, tmp / "nan.csv"], apart=True), together=True)
    check(list(figure.panels["a"]) == ["before", "nan"], "a file called nan.csv")
    other = made(tmp, "other.csv", lambda r: {"device": "Other"}, n=(1, 2, 4), way=("a", "b"))
    (figure,) = table.figures(table.read_all([before, other], apart=True), together=True)
    check(list(figure.panels["a"]) == ["AMD EPYC", "Other"], "devices are not named")
    code, error = run(before, after, "--overlay", "--out", tmp / "figures", "--format", "svg")
    check(code == 0 and (tmp / "figures" / "overlaid-own-sum.svg").exists(), f"overlay: {error}")


def cards(tmp):
    """Equal cards in one file: a line for each, also in figures that are known; what names the card
    already stays."""
    rows = rows_of("h200-copy.csv")
    names = ["0 0000:1b:00.0", "1 0000:2c:00.0"]
    write(tmp / "pair.csv", [{**r, "on_device": card} for card in names for r in rows])
    found = list(table.figures(table.read_all([tmp / "pair.csv"])))
    alone = list(table.figures(table.read_all([RESULTS / "h200-copy.csv"])))
    check([f.name for f in found] == [f.name for f in alone], "other figures for a pair")
    for figure, one in zip(found, alone):
        lines = [(card, s[card]) for s in figure.panels.values() for card in s]
        apart = all(p.row["on_device"] == card for card, points in lines for p in points)
        check({card for card, _ in lines} == set(names) and apart, f"{figure.name}: cards mixed")
        points, single = (sum(len(p) for s in f.panels.values() for p in s.values())
                          for f in (figure, one))
        check(points == 2 * single, f"{figure.name}: {points} points, not 2 x {single}")
    code, error = run(tmp / "pair.csv", "--x", "on_device", "--bench", "copy/fastest", "--out", tmp)
    check(code == 0, f"cards along x: {error}")


# ---- nothing lies upon its neighbour -------------------------------------------------------------


def boxes(texts):
    """The corners of texts as they lie, turned or not; matplotlib's extents stand upright."""
    found = []
    for t in texts:
        if not t.get_text() or not t.get_visible():
            continue
        angle = math.radians(t.get_rotation())
        x, y = t.get_transform().transform(t.get_position())
        copy = t.figure.text(0, 0, t.get_text(), fontsize=t.get_fontsize())
        box = copy.get_window_extent()
        copy.remove()
        found.append((x * math.sin(angle) - y * math.cos(angle), t.get_window_extent(), box.height))
    return found


def apart(texts):
    """Whether names along x do: side by side, or, where they are turned, one below the other."""
    texts = [t for t in texts if t.get_text()]
    own = boxes(texts)
    if not texts or not texts[0].get_rotation():
        return all(a[1].x1 < b[1].x0 for a, b in zip(own, own[1:]))
    return all(abs(b[0] - a[0]) >= 0.95 * a[2] for a, b in zip(own, own[1:]))


def layout(tmp):
    def figure_of(path):
        (found,) = table.figures(table.read_all([path]))
        figure = draw.draw(found.family, found.panels, found.caption)
        figure.draw_without_rendering()
        return figure, found

    for count in (4, 16, 45):
        names = [f"a kernel of a name as long as {i}" for i in range(count)]
        path = made(tmp, "bars.csv", kernel=names)
        figure, found = figure_of(path)
        ax = figure.axes[0]
        check(apart(ax.get_xticklabels()), f"{count} names along x lie upon each other")
        lines = len(svg.figure(found.family, found.panels)[1].split("rotate(-90")) - 1
        check((lines > 0) == (count == 45), f"{count} names in the report: {lines} are upright")
        wide = [
            v.get_window_extent().width <= bar.get_window_extent().width + 4
            for bar, v in zip(ax.patches, ax.texts)
        ]
        check(all(wide) and len(wide) == count or count == 45, f"{count}: values wider than bars")
        check(not ax.get_legend() or len(ax.get_legend().get_texts()) < 3, "a legend of the x axis")
    long = [f"there and back, a panel of which much can be said, {i}" for i in range(4)]
    figure, found = figure_of(made(tmp, "panels.csv", n=(1, 2, 4), kernel=("a", "b"), what=long))
    titles = [ax.title.get_window_extent() for ax in figure.axes]
    check(all(a.x1 < b.x0 for a, b in zip(titles, titles[1:])), "titles of panels overlap")
    picture = svg.figure(found.family, found.panels)[1]
    longest = max(len(t) for t in re.findall(r'class="p"[^>]*>([^<]*)', picture))
    check(0 < longest * 7.5 <= 250, f"a panel's title of {longest} letters in the report")
    rows = [ax for ax in figure_of(made(tmp, "rows.csv", n=(1, 2, 4), kernel=("a", "b"),
                                        what=[*"abcdefg"]))[0].axes]
    words = [ax.get_ylabel() for ax in rows]
    words += [t.get_text() for t in rows[0].figure.texts]
    check(words.count("Rate, read + written, in GB/s") == 1, f"labels of two rows: {words}")

    # Forty kernels in the legend, a long name upwards, numbers along an even axis.
    names = [f"kernel {i}" for i in range(40)]
    ax = figure_of(made(tmp, "many.csv", kernel=names, n=(1, 2, 4)))[0].axes[0]
    legend = ax.get_legend().get_window_extent()
    check(legend.height <= ax.figure.bbox.height, "a legend of 40 kernels is cut")
    value = "a_value_of_quite_a_long_name_that_somebody_has_given_it_for_once"
    path = made(tmp, "long.csv", lambda r: {"values": value, value: "1"}, n=(-1, 0, 128))
    family = table.guess("own/sum", table.read_all([path]), y=value)
    points = [table.point(family, r) for r in table.read_all([path])]
    figure = draw.draw(family, table.arrange(family, points)[0], "")
    figure.draw_without_rendering()
    (ax,) = figure.axes
    name, room = ax.yaxis.label.get_window_extent(), ax.get_window_extent()
    check(name.height <= 1.05 * room.height, "a name upwards is longer than its axis")
    check(families.tick_label(family, 128) == "128", "powers of two on an even axis")

    # What is far below the memory's rates is drawn without these; numbers along x are in order.
    slow = made(tmp, "slow.csv", lambda r: {"peak_gbps": "1e6", "ceiling_gbps": ""}, n=(64, 128))
    figure, found = figure_of(slow)
    top = max(p.y for s in found.panels.values() for points in s.values() for p in points)
    check(figure.axes[0].get_ylim()[1] < 2 * top, "a peak hides the rates")
    (points,) = found.panels[""].values()
    across = table.references(found.family, points)
    high = svg.extent(found.family, points, across)[1]
    check(high < 2 * top, "a peak hides the rates in the report")
    check([*families.grouped(figure_of(made(tmp, "order.csv", lambda r: {"kernel": "k"},
        n=(8, 2, 4), way=("a",)))[1].panels[""])] == [2, 4, 8], "bars that are not in order")
    title = families.title_of(FAMILY["host-sum"], rows_of("h200-host.csv"))
    check("emulated" not in title, "the host's own programs are called emulated")


# ---- the stored figures --------------------------------------------------------------------------


def stored():
    names = sorted(f.name for f in (ROOT / "bench" / "figures").iterdir())
    known = {f"nvidia-h200-cuda-{f}.png" for f in FAMILY}
    check(names and set(names) <= known, f"bench/figures: {names}")
    size = sum((ROOT / "bench" / "figures" / n).stat().st_size for n in names)
    check(size <= 300e3, f"bench/figures: {size} bytes")


with tempfile.TemporaryDirectory() as folder:
    for part in (files, span, captions, bands, plateaus, unknown, overlaid, cards,
             layout):
        here = Path(folder) / part.__name__
        here.mkdir()
        part(here)
stored()
finish()
