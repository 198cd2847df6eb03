"""What plots/ draws, from rows of bench/results and from made ones. test_plots.sh runs it."""

import contextlib
import dataclasses
import io
import itertools
import json
import math
import os
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from plots_check import (
    HOSTILE,
    RESULTS,
    ROOT,
    check,
    counts,
    finish,
    printed,
    rows_of,
    run_program,
    write,
)

import families
import passport
import plot
import rows as table
import svg
import timers

FAMILY = {f.name: f for f in families.FAMILIES}
# How wide DejaVu Sans, one of the widest fonts, has ASCII from the blank on, in hundredths.
WIDTHS = """
    32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53
    100 68 69 70 77 63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 84 50
    50 61 63 55 63 62 35 63 63 28 28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 64 84
""".split()
WIDTHS = {chr(32 + i): int(w) / 100 for i, w in enumerate(WIDTHS)}
WIDTHS.update({"\u2009": 0.2, "\u2026": 1.0, "\u00b9": 0.4, "\u00b2": 0.4, "\u00b3": 0.4})


class Text:
    """A text of a figure, where it lies: the corners of its box, which may be turned."""

    def __init__(self, element, at, color):
        def own(name, other=0.0):
            return float(element.get(name, other))

        self.words, self.kind, self.color = element.text or "", element.get("class", ""), color
        kinds, star = self.kind.split(), color == "star"
        self.size = 11 if star else own("font-size", svg.FONT)
        bold = 1.13 if "p" in kinds or element.get("font-weight") else 1
        self.wide = bold * self.size * sum(WIDTHS.get(c, 0.65) for c in self.words)
        self.x, self.y = own("x") + at[0], own("y") + at[1]
        part = 0.5 if {"c", "p"} & set(kinds) else 1 if "n" in kinds else 0
        turn = re.match(r"rotate\((-?[0-9.]+)", element.get("transform", ""))
        self.angle = float(turn[1]) if turn else 0
        sine, cosine = (f(math.radians(self.angle)) for f in (math.sin, math.cos))
        left, top, bottom = -part * self.wide, -0.75 * self.size, 0.05 * self.size
        corners = ((left, top), (left + self.wide, top), (left + self.wide, bottom), (left, bottom))
        self.box = [(self.x + x * cosine - y * sine, self.y + x * sine + y * cosine)
                    for x, y in corners]

    def upon(self, other):
        """Whether their boxes lie upon each other: no line along a side has them apart."""
        for box in (self.box, other.box):
            for (ax, ay), (bx, by) in zip(box, box[1:]):
                x, y = ay - by, bx - ax
                mine, theirs = ([x * a + y * b for a, b in t.box] for t in (self, other))
                room = math.hypot(x, y)  # of one unit
                if max(mine) - room < min(theirs) or max(theirs) - room < min(mine):
                    return False
        return True


class Drawn:
    """A figure as it is written: its texts, and what else there is by class."""

    def __init__(self, family, panels, rows=None, caption="", style=None, wide=svg.WIDE,
                 inside=False):
        rows = rows or [p.row for s in panels.values() for points in s.values() for p in points]
        self.title, self.wide = families.title_of(family, rows), wide
        self.picture = svg.picture(family, panels, style, wide)
        self.written = svg.alone(self.picture, self.title, caption)
        if wide != svg.WIDE or inside:
            self.written = svg.embedded(self.picture, self.title)
        self.root = ElementTree.fromstring(self.written)
        self.texts, self.parts = [], []
        self.walk(self.root, (0, 0), "")

    def walk(self, element, at, color):
        color = element.get("color", color)
        if element.get("class") == "star":
            color = "star"
        moved = re.match(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
        if moved:
            at = at[0] + float(moved[1]), at[1] + float(moved[2])
        tag = element.tag.split("}")[-1]
        if tag == "text":
            self.texts.append(Text(element, at, color))
        elif tag in ("path", "rect"):
            self.parts.append((tag, element, at, color))
        for inner in element:
            self.walk(inner, at, color)

    def of(self, tag, *kinds):
        """[(element, x, y, color)] of these classes, but for the legend's."""
        found = []
        for kind, e, (left, top), color in self.parts:
            if kind == tag and e.get("class") in kinds and left == 0:
                start = re.match(r"M(\S+) (-?[0-9.]+)", e.get("d", ""))
                x, y = start.groups() if start else (e.get("x"), e.get("y"))
                found.append((e, float(x), float(y) + top, color))
        return found

    def text(self, words):
        """The only one that says this."""
        (found,) = [t for t in self.texts if t.words == words]
        return found

    def legend(self):
        return [words for _, words in self.picture.legend]

    def wrong(self):
        """What lies upon another text, or is cut."""
        high = float(self.root.get("viewBox").split()[3])
        own = [t for t in self.texts if t.words]
        found = [f"cut: {t.words}" for t in own
                 if not all(0 <= x <= self.wide and 0 <= y <= high for x, y in t.box)]
        for a, b in itertools.combinations(own, 2):
            near = max(abs(a.x - b.x), abs(a.y - b.y)) < a.wide + b.wide
            found += [f"{a.words} upon {b.words}"] if near and a.upon(b) else []
        return found


def run(*arguments):
    return run_program(plot, arguments)


def drawn(name, path):
    """The figure of a family from one file, and its points in panels."""
    family = FAMILY[name]
    own, replaced = table.select(family, table.read(path))
    points = [p for p in (table.point(family, r) for r in own) if p]
    panels, slower = table.arrange(family, points)
    text = table.caption(family, own, panels, {}, slower, replaced, None)
    return Drawn(family, panels, own, text), points, text


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
    check(printed.getvalue().endswith("figures: 1 figure\n"), "what was drawn is not said")
    made = [*(tmp / "figures").iterdir()]
    check([f.name for f in made] == ["amd-epyc-cpu-copy-grid.svg"], f"--store: {made}")
    before = made[0].read_bytes(), made[0].stat().st_mtime_ns
    run(tmp, "--out", tmp / "figures", "--store", "copy-grid")
    check(before == (made[0].read_bytes(), made[0].stat().st_mtime_ns), "drawn again: not the same")

    check(run(tmp / "other.csv", "--out", tmp)[0] == 2, "nothing but another table: not an error")
    check(run(tmp, "--out", tmp, "--store", "nosuch")[0] == 2, "--store nosuch: not an error")
    write(tmp / "short.csv", [{k: v for k, v in copy[0].items() if k != "median_s"}])
    code, error = run(tmp, "--out", tmp / "figures")
    check(code == 2 and "median_s" in error, f"a column missing: {code} {error}")


# ---- formats: PNG and PDF by what is there -------------------------------------------------------


def formats(tmp):
    write(tmp / "copy.csv", rows_of("cpu-copy.csv"))
    path, os.environ["PATH"] = os.environ["PATH"], str(tmp)
    code, error = run(tmp / "copy.csv", "--out", tmp / "none", "--format", "svg,png")
    said = "rsvg-convert" in error and "--format svg" in error and "\n" not in error
    check(code == 2 and said, f"PNG without a converter: {code} {error}")
    check(not (tmp / "none").exists(), "written without a converter")
    (tmp / "rsvg-convert").write_text("#!/bin/sh\nexit 1\n")
    (tmp / "rsvg-convert").chmod(0o755)
    code, error = run(tmp / "copy.csv", "--out", tmp / "bad", "--format", "png")
    check(code == 2 and "has failed" in error, f"a converter that fails: {code} {error}")
    os.environ["PATH"] = path
    if not shutil.which(plot.CONVERTER):
        counts["skipped"] += 1
        print(f"plots.py: skipped: PNG and PDF: no {plot.CONVERTER}")
        return
    code, error = run(tmp / "copy.csv", "--out", tmp / "both", "--format", "png,pdf")
    names = sorted(f.name for f in (tmp / "both").iterdir())
    wanted = [f"amd-epyc-cpu-copy-{name}.{end}"
              for name in ("block", "fastest", "grid") for end in ("pdf", "png")]
    check((code, names) == (0, [*wanted, "report.md"]), f"PNG and PDF: {code} {error} {names}")
    starts = [(tmp / "both" / w).read_bytes()[:4] for w in wanted[:2]]
    check(starts == [b"%PDF", b"\x89PNG"], f"PDF and PNG start with {starts}")


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
    at = {t: figure.text(t).y - 4.5 for t in ("-10", "-5", "0", "+5", "+10", "+100")}
    bands = [(y, float(e.get("height"))) for e, _, y, _ in figure.of("rect", "band")]
    near = [abs(y - at["+5"]) + abs(y + high - at["-5"]) < 0.3 for y, high in bands]
    check(near == [True], f"the band: {bands}, +5 and -5 at {at}")
    even, power = at["0"] - at["+5"], at["+10"] - at["+100"]
    check(abs(at["+5"] - at["+10"] - even) < 0.2 and abs(power - 2 * even) < 0.3,
          f"the axis of the error: {at}")
    check("%" in figure.picture.upwards, "the axis of the error is not in %")
    hollow = [(e[0].text, y) for e, _, y, _ in figure.of("path", "k h")]
    check(len(hollow) == 1 and "launch-bound" in hollow[0][0] and "\u00b5s 2\n" in hollow[0][0]
          and abs(hollow[0][1] - at["-5"]) < 0.2, f"hollow: {hollow}")


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
    check("emulated" in figure.text(figure.title).words, f"title of a CPU's: {figure.title}")

    figure, _, text = drawn("offset-misaligned", RESULTS / "h200-offset.csv")
    check("neighbouring warps share" in text, f"misaligned: {text}")
    check("emulated" not in figure.title, "title of a GPU's")


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
    keys = {words: re.search('color="(.*?)"', key) for key, words in figure.picture.legend}
    named = {k: [t.words for t in figure.texts if t.kind == "p" and t.color == color[1]]
             for k, color in keys.items() if color}
    wanted = {
        "read again": ["L1", "L2", "memory"],
        "read again, past L1": ["L2", "memory"],
        "zcopy": ["L2", "memory"],
    }
    check(named == wanted, f"bands: {named}, not {wanted}")
    shaded = figure.of("rect", "s0", "s1")
    check(not shaded, "a band over kernels that it does not hold for")

    write(tmp / "alike.csv", [r for r in made if r["kernel"] == "read again"])
    figure, _, _ = drawn("zcopy-working-set", tmp / "alike.csv")
    names = [t.words for t in figure.texts if t.kind == "p"]
    check(names == wanted["read again"], f"bands of one kernel: {names}")
    check(len(figure.of("rect", "s0", "s1")) == 3, "bands of one kernel are not shaded")


def plateaus(tmp):
    """Named where latency has found them, for the stride that it looks at; with gaps in between."""
    rows = rows_of("h200-latency.csv")
    figure, _, text = drawn("latency-chase", RESULTS / "h200-latency.csv")
    named = [t.words for t in figure.texts if t.kind == "p"]
    check(named == ["L1", "L2", "L2, far part", "memory"], f"plateaus: {named}")
    first, last = figure.text("1 KiB").x, figure.text("2 GiB").x
    shaded = [(x, x + float(e.get("width"))) for e, x, _, _ in figure.of("rect", "s0", "s1")]
    ends = [[2 ** (10 + 21 * (x - first) / (last - first)) for x in own] for own in shaded]
    found = [r for r in rows if r["bench"] == "latency/levels"]
    check(len(ends) == len(found) == 4, f"{len(ends)} bands, {len(found)} plateaus")
    for (low, high), level in zip(ends, found):
        inside = low < float(level["from_bytes"]) and float(level["to_bytes"]) < high
        check(inside and high < 1.5 * float(level["to_bytes"]), f"{level['kernel']}: {low} {high}")
    write(tmp / "none.csv", [r for r in rows if r["bench"] == "latency/chase"])
    figure, points, _ = drawn("latency-chase", tmp / "none.csv")
    bare = not [t for t in figure.texts if t.kind == "p"]
    marks = figure.of("path", "k")
    check(bare and len(points) == len(marks) == 184, "a chase without plateaus")
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
    code, error = run(own, "--out", figures)
    names = sorted(f.name for f in figures.iterdir())
    wanted = ["amd-epyc-cpu-own-sum.svg", "report.md"]
    check((code, error, names) == (0, "", wanted), f"an unknown bench: {code} {error} {names}")
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


def layout(tmp):
    def figure_of(path):
        (found,) = table.figures(table.read_all([path]))
        figure = Drawn(found.family, found.panels, found.rows, found.caption)
        check(not figure.wrong(), f"{path.name}: {figure.wrong()[:5]}")
        return figure, found

    for count in (4, 16, 45):
        names = [f"a kernel of a name as long as {i}" for i in range(count)]
        figure, found = figure_of(made(tmp, "bars.csv", kernel=names))
        upright = sum(t.angle == -90 for t in figure.texts if not {"t", "v"} & set(t.kind.split()))
        check(upright == (count if count == 45 else 0), f"{count} names along x: {upright} upright")
        said = " ".join(t.words for t in figure.texts)
        check(all(n in said for n in names), f"{count} names along x: not all are there")
        values = [t for t in figure.texts if {"t", "v"} & set(t.kind.split())]
        bars = [float(e.get("width")) for e, *_ in figure.of("rect", "b")]
        within = [(t.size if t.angle else t.wide) <= bar + 4 for t, bar in zip(values, bars)]
        check(all(within) and len(values) == len(bars) == count, f"{count}: values wider than bars")
        check(not set(figure.legend()) & set(names), "a legend of the x axis")
    long = [f"there and back, a panel of which much can be said, {i}" for i in range(4)]
    figure, found = figure_of(made(tmp, "panels.csv", n=(1, 2, 4), kernel=("a", "b"), what=long))
    titles = [t for t in figure.texts if t.kind == "p"]
    said = " ".join(t.words for t in titles)
    check(all(f"said, {i}" in said for i in range(4)), f"titles of panels: {said}")
    longest = max(t.wide for t in titles)
    check(0 < longest <= 170, f"a panel's title of {longest:.0f} units")
    figure, _ = figure_of(made(tmp, "rows.csv", n=(1, 2, 4), kernel=("a", "b"), what=[*"abcdefg"]))
    words = [t.words for t in figure.texts]
    check(words.count("Rate, read + written, in GB/s") == 1, f"labels of two rows: {words}")

    # Many columns of a heat map, and stretches named above the last points alone.
    columns = made(tmp, "columns.csv", iterations=range(1, 61), lanes=(1, 2))
    rows = [{**r, "bench": "offset/lanes", "elem": "16"} for r in rows_of(columns)]
    write(columns, rows)
    figure, found = figure_of(columns)
    named = [t.words for t in figure.texts if t.words.isdigit() and 1 < int(t.words) <= 60]
    check(found.family.draw == "heat" and 10 < len(named) < 60, f"names of 60 columns: {named}")
    last = {"4096": "a second level", "8192": "memory"}
    ends = made(tmp, "ends.csv", lambda r: {"cache": last.get(r["footprint"], "L1")},
                footprint=[2**e for e in range(14)])
    write(ends, [{**r, "bench": "zcopy/working_set", "backend": "cuda"} for r in rows_of(ends)])
    figure, _ = figure_of(ends)
    named = [t.words for t in figure.texts if t.kind == "p"]
    check(named == ["L2", "a second level", "memory"], f"stretches of one point: {named}")

    # Names that are longer than there is room for: in the legend, along x, of rows and columns.
    long = [f"{i}, a name that goes on and on, far longer than any that fits on one line, of all "
            "that have ever been given to a kernel or to the way in which it is run" for i in "ab"]
    figure, _ = figure_of(made(tmp, "words.csv", n=(1, 2, 4), way=long))
    said = " ".join(t.words for t in figure.texts)
    check(all(name in said for name in long), "a long name in the legend is cut")
    column = "a_column_whose_name_takes_more_than_the_width_of_one_of_the_panels"
    figure, _ = figure_of(made(tmp, "wide.csv", kernel=("a", "b"), what=[*"abcd"],
                               **{column: (1, 2, 4)}))
    said = " ".join(t.words for t in figure.texts)
    check(families.axis_label(column) in said, "a long name along x is cut")
    write(columns, [{**r, "lanes": long[int(r["lanes"]) - 1]} for r in rows])
    figure_of(columns)

    # Forty kernels in the legend, a long name upwards, numbers along an even axis.
    names = [f"kernel {i}" for i in range(40)]
    figure, _ = figure_of(made(tmp, "many.csv", kernel=names, n=(1, 2, 4)))
    words = [t.words for t in figure.texts]
    check(set(names) <= set(words), "a legend of 40 kernels is cut")
    value = "a_value_of_quite_a_long_name_that_somebody_has_given_it_for_once"
    path = made(tmp, "long.csv", lambda r: {"values": value, value: "1"}, n=(-1, 0, 128))
    family = table.guess("own/sum", table.read_all([path]), y=value)
    points = [table.point(family, r) for r in table.read_all([path])]
    figure = Drawn(family, table.arrange(family, points)[0])
    check(not figure.wrong(), f"a long name upwards: {figure.wrong()[:5]}")
    check(families.tick_label(family, 128) == "128", "powers of two on an even axis")

    # What is far below the memory's rates is drawn without these; numbers along x are in order.
    slow = made(tmp, "slow.csv", lambda r: {"peak_gbps": "1e6", "ceiling_gbps": ""}, n=(64, 128))
    figure, found = figure_of(slow)
    top = max(p.y for s in found.panels.values() for points in s.values() for p in points)
    (points,) = found.panels[""].values()
    across = table.references(found.family, points)
    high = svg.extent(found.family, points, across)[1]
    check(high < 2 * top and not figure.of("path", "o"), "a peak hides the rates")
    check([*families.grouped(figure_of(made(tmp, "order.csv", lambda r: {"kernel": "k"},
        n=(8, 2, 4), way=("a",)))[1].panels[""])] == [2, 4, 8], "bars that are not in order")
    title = families.title_of(FAMILY["host-sum"], rows_of("h200-host.csv"))
    check("emulated" not in title, "the host's own programs are called emulated")


def drawn_of_all_kinds(tmp):
    """Random axes and rates, zero among these, on each kind of axis, as heat maps, too."""
    draw, figures = random.Random(1), 0
    for _ in range(80):
        axes = {}
        for name in draw.sample(["n", "way", "block", "elem", "kernel", "a_longer_name"],
                                draw.randint(1, 3)):
            many, power = draw.choice((1, 2, 5, 9, 20)), draw.randint(-6, 6)
            values = draw.choice((lambda: 2 ** draw.randint(0, 30), lambda: draw.randint(-9, 50),
                                  lambda: draw.random() * 10**power,
                                  lambda: f"what is called {draw.randint(0, 99)}"))
            axes[name] = list(dict.fromkeys(values() for _ in range(many)))
        scale, apart = 10 ** draw.uniform(-3, 9), draw.choice((0, 0.01, 1, 6))
        path = made(tmp, "any.csv", lambda r: {
            "gbps": str(draw.choice((0, *[scale] * 20)) * 10 ** -draw.uniform(0, apart)),
            "ci_lo_s": "", "ci_hi_s": "", "expected_pct": draw.choice(("", "50")),
            "reference": str(scale),
        }, **axes)
        asked = {"y": "gbps", "log": draw.choice(("x", "y"))}
        try:
            found = [*table.figures(table.read_all([path]), asked=asked)]
        except table.Problem:  # a logarithm of what has none
            continue
        for f in found:
            for kind in {f.family.draw, families.heat}:
                for wide in (svg.WIDE, svg.NARROW):
                    family = dataclasses.replace(f.family, draw=kind)
                    figure = Drawn(family, f.panels, wide=wide)
                    shape = {k: len(v) for k, v in axes.items()}
                    check(not figure.wrong(), f"{kind} of {shape}, {wide}: {figure.wrong()[:3]}")
                    figures += 1
    check(figures > 80, f"{figures} figures of random rows")


def contrast(color, ground):
    lights = []
    for c in (color, ground):
        parts = [int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (v / 12.92 if v < 0.04 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        lights.append(0.05 + 0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return max(lights) / min(lights)


def everything(tmp):
    """All figures of all stored rows: marks for all points, colours that are seen on black."""
    check(set(families.MARKERS) < svg.MARKS.keys(), "a marker that svg.py does not know")
    ground, colors = re.search(r"prefers.*?\.w \{ fill: (#\w+)", svg.STYLE, re.S)[1], set()
    meant, without = {}, []
    for f in table.figures(table.read_all([RESULTS], quiet=True), without=without):
        points = sum(len(p) for series in f.panels.values() for p in series.values())
        for wide, inside in ((svg.WIDE, True), (svg.WIDE, False), (svg.NARROW, True)):
            figure = Drawn(f.family, f.panels, f.rows, f.caption, f.style, wide, inside)
            check(not figure.wrong(), f"{f.name}, {wide} wide: {figure.wrong()[:5]}")
            marks = sum(figure.written.count(f'class="{kind}') for kind in ("k", "b\"", "q"))
            keys = sum(key.count('class="k') + key.count('class="b"') for key, _ in
                       figure.picture.legend if not inside)
            check(marks - keys == points, f"{f.name}: {points} points, {marks - keys} marks")
            said = figure.written.count("<title>")
            check(said == points, f"{f.name}: {points} points, {said} of them say what they are")
        colors |= figure.picture.colors
        if f.family.draw != families.heat and not families.named_by_axis(f.family):
            looks = [f.style[s] for s in dict.fromkeys(s for p in f.panels.values() for s in p)]
            for what in ("color", "marker", "label"):
                found = {getattr(look, what) for look in looks}
                check(len(found) == len(looks), f"{f.name}: {len(looks)} series, {what}s: {found}")
            for s, look in f.style.items():
                if isinstance(s, str) and s:
                    meant.setdefault(s, set()).add(look.color)
                    program = meant.setdefault((f.family.bench.split("/")[0], look.color), set())
                    program.add(s)
        shown = " ".join(t.words for t in Drawn(f.family, f.panels, f.rows, f.caption).texts)
        check(not re.search("ceiling|\u03bc|\\bnan\\b", shown), f"{f.name}: {shown[:80]}")
    dim = {c for c in colors if contrast(svg.on_dark(c), ground) < 3}
    check(colors and not dim, f"colours that are not seen on {ground}: {dim}")
    long = {"#000": "#000000", "#fff": "#ffffff"}
    dim = {c for own in colors for c in (own, svg.on_dark(own))
           if contrast(c, long[svg.upon(c)]) < 4}
    check(not dim, f"numbers that are not read on bars of these: {dim}")
    dim = {c for c in colors if contrast(c, "#ffffff") < 1.7}
    check(not dim, f"colours that are not seen on white: {dim}")
    several = {s: c for s, c in meant.items() if isinstance(s, str) and len(c) > 1}
    check(len(meant) > 50 and not several, f"a name in several colours: {several}")
    benches = {b.split("/")[0] for b, _ in filter(lambda of: isinstance(of, tuple), meant)}
    names = {b: {n for of, own in meant.items() if isinstance(of, tuple) and of[0] == b
                 for n in own} for b in benches}
    few = [b for b in benches if len(names[b]) <= len(families.COLORS)]
    shared = {k: s for k, s in meant.items() if k[0] in few and isinstance(k, tuple) and len(s) > 1}
    check(len(few) > 5 and not shared, f"a colour of several names: {shared}")
    check({b for b, _ in without} == {"floor/equal", "floor/idle", "floor/result"},
          f"no figure of {without}")


# ---- roofs, peaks, units, points -----------------------------------------------------------------


def roofs(tmp):
    """Memory's and arithmetic's peaks, and what was measured, where the values are; and named."""
    figure, points, _ = drawn("roofline", RESULTS / "h200-roofline.csv")
    words = [t.words for t in figure.texts]
    names = ["peak of memory", "measured copy", "f64 peak", "f32 peak", "f16 peak"]
    check(all(words.count(n) == 1 for n in names), f"names of the roofs: {words}")
    legend = " ".join(figure.legend())
    for said in ("peak: memory 4\u2009814 GB/s, f64 33.5, f32 66.9, f16 134 TFLOP/s",
                 "measured: memory 4\u2009270 GB/s, f64 33.4, f32 65.0, f16 128 TFLOP/s"):
        check(said in legend, f"{said} is not in the legend: {legend}")
    lines = figure.of("path", "o")
    dashes = [bool(e.get("stroke-dasharray")) for e, *_ in lines]
    check(dashes == [False, True], f"peaks and what was measured: {dashes}")
    def at(kernel, intensity):
        (found,) = [e for e, *_ in figure.of("path", "k")
                    if e[0].text.startswith(f"{kernel}\nFLOP for each byte {intensity}\n")]
        return [float(v) for v in re.match(r"M(\S+) ([0-9.]+)", found.get("d")).groups()]

    way = lines[1][0].get("d")  # what was measured: a slope, and a roof of each type
    for kernel in ("f64", "f32", "f16"):
        y = at(f"multiply-adds, {kernel}", 256)[1]
        near = [abs(float(v) - y) < 0.2 for v in re.findall(r"M\S+ (\S+?)H", way)]
        check(near.count(True) == 1, f"{kernel}: its measured roof is not at {y}: {way}")
    ax, ay, bx, by = (float(v) for v in re.match(r"M(\S+) (\S+)L(\S+) ([0-9.]+)", way).groups())
    x, y = at("multiply-adds, f64", 1)
    off = ay + (by - ay) * (x - ax) / (bx - ax) - y
    check(abs(off) < 1, f"a kernel at the rate of the copy is {off} from its slope")
    # Newer rows have no column of their type's peak: pct_peak is the larger of the two shares.
    newer = []
    for r in rows_of("h200-roofline.csv"):
        own = 100 * float(r["gflops"]) / float(r.pop("type_peak_gflops"))
        newer.append({**r, "pct_peak": str(max(own, float(r["pct_peak"])))})
    write(tmp / "newer.csv", newer)
    again, _, _ = drawn("roofline", tmp / "newer.csv")
    check(again.legend() == figure.legend() and
          [e.get("d") for e, *_ in again.of("path", "o")] == [e.get("d") for e, *_ in lines],
          f"roofs of newer rows: {again.legend()}")
    device = "NVIDIA H200 (cuda)"
    pages = [passport.value(f, passport.by_device(table.read_all([path], quiet=True))[device])
             for path in (RESULTS / "h200-roofline.csv", tmp / "newer.csv")
             for f in passport.PAGE["Arithmetic"] if f.bench == "roofline/roofs"]
    half = len(pages) // 2
    check(half == 3 and all(math.isclose(a, b, rel_tol=1e-9) for old, new in
                            zip(pages[:half], pages[half:]) for a, b in zip(old, new)),
          f"shares of their peaks in the passport: {pages}")
    write(tmp / "cpu.csv", [{**r, "peak_gbps": "", "ceiling_gbps": "", "type_peak_gflops": ""}
                            for r in rows_of("h200-roofline.csv")])
    figure, _, _ = drawn("roofline", tmp / "cpu.csv")
    check(not figure.of("path", "o"), "roofs that are not known")

    both = rows_of("h200-roofline.csv")
    write(tmp / "two.csv", [{**r, "device": "Other", "peak_gbps": "9000"} for r in both])
    found = list(table.figures(table.read_all([RESULTS / "h200-roofline.csv", tmp / "two.csv"],
                                              apart=True), together=True))
    figure = Drawn(found[0].family, found[0].panels, found[0].rows, "", found[0].style)
    check(len(found) == 1 and not [w for w in figure.legend() if "peak" in w] and
          not figure.wrong(), f"one device's roofs in a figure of two: {figure.legend()}")

    lab = ROOT / "examples" / "labs" / "h200" / "12_roofline.json"
    (f,) = table.figures(table.read_all([lab]))
    figure = Drawn(f.family, f.panels, f.rows, f.caption, f.style)
    words = " ".join([*figure.legend(), *(t.words for t in figure.texts)])
    check("peak of memory" in words and "measured: memory" in words, f"lab 12: {words}")
    # Of its doubles; and of a device of which only what was measured is known.
    changed = json.loads((lab.parent / "solutions" / lab.name).read_text())
    for arch, said in (("sm_90", ["f64 33.5 TFLOP/s", "f64 peak"]),
                       ("sm_00", ["GB/s measured:", "f64 measured"])):
        changed["device"]["arch"] = arch
        (tmp / "f64.json").write_text(json.dumps(changed))
        (f,) = table.figures(table.read_all([tmp / "f64.json"]))
        figure = Drawn(f.family, f.panels, f.rows, f.caption, f.style)
        words = " ".join([*figure.legend(), *(t.words for t in figure.texts)])
        check(all(w in words for w in said) and not figure.wrong(), f"f64 on {arch}: {words}")


def labs(tmp):
    """What is drawn of benchmarks that no entry names: a link's rate, offsets from zero on."""
    for lab, y, heading in (("02_short_kernels", "gbps", "Timed as"),
                            ("09_host_memory", "moved_gbps", "Host memory")):
        (f,) = table.figures(table.read_all([ROOT / "examples/labs/h200" / f"{lab}.json"]))
        figure = Drawn(f.family, f.panels, f.rows, f.caption, f.style)
        check(f.family.y == y, f"{lab} is drawn as {f.family.y}")
        check(heading in [t.words for t in figure.texts], f"{lab}: no {heading}")
    (f,) = table.figures(table.read_all([ROOT / "examples/labs/h200/06_misalignment.json"]))
    figure = Drawn(f.family, f.panels, f.rows, f.caption, f.style)
    xs = sorted(x for _, x, _, _ in figure.of("path", "k"))
    gaps = [b - a for a, b in zip(xs, xs[1:])]
    check(len(xs) == 12 and max(gaps) < (xs[-1] - xs[0]) / 4, f"lab 6: points at {xs}")
    # All that is stored of the labs can be drawn; of two sweeps in a file each by itself.
    for path in sorted((ROOT / "examples/labs/h200").rglob("*.json")):
        name, left_out = str(path.relative_to(ROOT)), []
        with contextlib.redirect_stderr(io.StringIO()):
            figures = list(table.figures(table.read_all([path]), without=left_out))
        check(figures or left_out, f"{name}: no figure, and no reason")
        drawn_rows = sum(len(f.rows) for f in figures)
        rows = len(table.read_all([path]))
        check(drawn_rows == rows or left_out, f"{name}: {drawn_rows} of {rows} rows are drawn")
        for f in figures:
            check("left out" not in f.caption and "fastest over" not in f.caption,
                  f"{name}: {f.caption}")
    found = {f.name: f for f in table.figures(
        table.read_all([ROOT / "examples/labs/h200/24_two_devices.json"]))}
    check(sorted(found) == [f"nvidia-h200-cuda-24-two-devices-{k}" for k in ("copy", "sum")] and
          [f.family.title.split(":")[0] for f in found.values()] ==
          [f"24_two_devices, {k}" for k in ("sum", "copy")], f"lab 24: {[*found]}")
    code, error = run(ROOT / "examples/labs/h200", "--out", tmp / "all")  # of other axes each
    check(code == 0 and (tmp / "all" / "nvidia-h200-cuda-24-two-devices-sum.svg").exists(),
          f"all that is stored of the labs: {code} {error}")
    for column, bench, said in (
            ("kib", "20_async_copies", "Bytes on their way, in KiB"),
            ("way", "21_libraries", "Added by"),
            ("blocks", "17_registers", "Blocks per multiprocessor"),
            ("part", "24_two_devices", "Share of the second device in %"),
            ("n", "histogram/data", "Number of bytes n"),
            ("side", "transpose/side", "Side of the matrix, in words"),
            ("n", "matmul/size", "Side of the matrices n, in elements")):
        check(families.axis_label(column, bench) == said, f"{bench}: {column}")
    figures = {f.family.bench: f for f in table.figures(table.read_all(
        [RESULTS / "h100-clusters.csv"], quiet=True))}
    for bench, y, scale in (("clusters/rate", "moved_gbps", ["0", "1", "2", "3", "4"]),
                            ("clusters/latency", "latency_ns", ["20", "100"])):
        f = figures[bench]
        figure = Drawn(f.family, f.panels, f.rows, f.caption, f.style)
        words = [t.words for t in figure.texts]
        check(f.family.y == y and set(scale) <= set(words), f"{bench}: {f.family.y}: {words}")
        check(not [w for w in figure.legend() if "copy" in w or "peak" in w], f"{bench}: roofs")
    check(families.value_label("distance", 65536, "memory_kinds/migration") == "64 KiB",
          "bytes apart are no longer such")


def peaks(tmp):
    """What the link can do, in one way and in both; not in what it is no part of."""
    figure, _, _ = drawn("transfer-rate", RESULTS / "h200-transfer.csv")
    links = [w for w in figure.legend() if "link" in w]
    wanted = [f"link\u2019s peak, {way} GB/s" for way in ("one way 63.0", "both ways 126")]
    check(links == wanted, f"peaks of the link: {figure.legend()}")
    known = ("peak_gbps", "ceiling_gbps", "link", "links")  # all in one figure
    check(len({families.REFERENCES[c][1] for c in known}) == 4, "two lines with the same dashes")
    check(any("measured copy" in w for w in figure.legend()), f"{figure.legend()}")
    # What crosses a link is counted once there, and not read + written.
    for name, label in (("transfer-rate", "Rate in GB/s, on the device read + written"),
                        ("memory-kinds-zero-copy-16", "Rate in GB/s"),
                        ("nbody-issue", "Instructions of threads, 10\u2079 a second")):
        program = name.split("-zero")[0].split("-issue")[0].split("-rate")[0].replace("-", "_")
        labelled, _, _ = drawn(name, RESULTS / f"h200-{program}.csv")
        check(label in [t.words for t in labelled.texts], f"{name}: what its y is")
    labelled, _, _ = drawn("units-chain", RESULTS / "h100-units.csv")
    check("Operations, 10\u2079 a second" in [t.words for t in labelled.texts], "integers: FLOP")
    figure, _, _ = drawn("copy-block", RESULTS / "h200-copy.csv")
    check(not [w for w in figure.legend() if "link" in w], "a link's peak in a copy")


def units(tmp):
    """ns where all is below 0.1 us, ms where all is above 1; the values are the same."""
    for scale, unit, factor in ((1e-9, "ns", 1e9), (1e-6, "\u00b5s", 1e6), (1e-2, "ms", 1e3)):
        path = made(tmp, "time.csv", lambda r: {"gbps": "", "gflops": "", "bytes": "", "flop": "",
                    "median_s": str(scale * float(r["n"])), "ci_lo_s": "", "ci_hi_s": ""},
                    n=(1, 2, 8))
        (f,) = table.figures(table.read_all([path]))
        figure = Drawn(f.family, f.panels, f.rows, f.caption, f.style)
        check(figure.picture.upwards == f"Median time in {unit}", figure.picture.upwards)
        (points,) = f.panels[""].values()
        right = all(math.isclose(p.y, factor * float(p.row["median_s"])) for p in points)
        check(right and len(points) == 3, f"{unit}: {[p.y for p in points]}")
    check(families.axis_label("shared_kib") == "Shared in KiB"
          and families.axis_label("shared_kib", "03_occupancy") == "Shared memory of a block in KiB"
          and families.axis_label("n", "nbody/size") == "Number of bodies n"
          and families.axis_label("k") == "k", "names of axes")
    for value, said in ((0.0625, "1/16"), (0.3, "0.3"), (4, "4")):
        check(families.value_label("flop_per_byte", value) == said, f"{value}: not {said}")


def stars(tmp):
    """Published figures are points, each with its name; no line joins them."""
    figure, _, _ = drawn("nbody-size", RESULTS / "h200-nbody.csv")
    found = [e for e in figure.root.iter() if e.get("class") == "star"]
    tags = [[c.tag.split("}")[1] for c in e] for e in found]
    check(tags == [["path", "text"]] * 3, f"published figures: {tags}")
    said = sorted(e[1].text for e in found)
    wanted = ["K20x, CUDA (HIP: 1830): 1832", "Vega 64, HIP: 549", "Vega 64, HIP: 5580"]
    check(said == wanted, f"names of the published: {said}")
    drawn_of = [e[0].get("d").count("M") for e in found]
    check(drawn_of == [1, 1, 1] and not any("L" in e[0].get("d") for e in found), "joined")
    for name in ("nbody-size", "nbody-tile", "nbody-unroll", "reduction-rate"):
        figure, _, _ = drawn(name, RESULTS / f"h200-{name.split('-')[0]}.csv")
        places = [[a + float(b) for a, b in zip(at, re.match(r"M(\S+) (-?[0-9.]+)",
                                                             e.get("d")).groups())]
                  for _, e, at, color in figure.parts if color == "star"]
        names = [t for t in figure.texts if t.color == "star"]
        check(len(names) == len(places) > 1, f"{name}: {len(places)} stars, {len(names)} names")
        covered = [t.words for t in names for x, y in places
                   if t.box[0][0] - 5 < x < t.box[2][0] + 5
                   and t.box[0][1] - 5 < y < t.box[2][1] + 5]
        check(not covered, f"{name}: names upon stars: {covered}")


def mixes(tmp):
    """What n-body comes to at the rate of its mix of instructions, where that was measured."""
    rows = rows_of("h200-nbody.csv")
    mixed = [{**r, "flop_per_instruction": "1.5" if "mix" in r["kernel"] else ""} for r in rows]
    write(tmp / "mixed.csv", mixed)
    (own,) = [r for r in rows if r["kernel"] == "n-body's mix"]
    said = f"measured: {families.count(round(1.5 * float(own['gflops'])))} GFLOP/s"
    for name in ("nbody-size", "nbody-best", "nbody-unroll"):
        figure, points, _ = drawn(name, tmp / "mixed.csv")
        lines = [e for e, *_ in figure.of("path", "o") if e.get("stroke-dasharray") == "6 4"]
        check(sum(said in w for w in figure.legend()) == 1 and lines, f"{name}: no {said}: "
              f"{figure.legend()}, {len(lines)} lines")
        without, _, _ = drawn(name, RESULTS / "h200-nbody.csv")
        check(not any("mix" in w for w in without.legend()), f"{name}: {without.legend()}")
    write(tmp / "other.csv", [{**r, "device": r["device"] if "issue" in r["bench"] else "Other"}
                              for r in mixed])
    figure, _, _ = drawn("nbody-best", tmp / "other.csv")
    check(not any("mix" in w for w in figure.legend()), f"another's mix: {figure.legend()}")


def counted(tmp):
    """Rows for counters, measured shortly, replace no others; alone they are drawn."""
    name = "h100-in_flight{}.csv"
    rows = table.read_all([RESULTS / name.format(end) for end in ("", "-counters")])
    own, replaced = table.select(FAMILY["in-flight-memory"], rows)
    files = {r["@file"].name for r in own}
    check((len(own), replaced, files) == (21, 9, {name.format("")}), f"{files}, {replaced}")
    alone = table.read(RESULTS / name.format("-counters"))
    check(len(table.select(FAMILY["in-flight-memory"], alone)[0]) == 9, "counters alone")


def dulls(tmp):
    """What would show one number, or x itself, is no figure; and it is said."""
    for name, change, asked, why in (
        ("same.csv", lambda r: {"gbps": "", "bytes": "", "median_s": "1e-5"}, (), "within 1 %"),
        ("self.csv", lambda r: {"gbps": "", "bytes": "",
                                "median_s": str(1e-6 * float(r["us"]))}, (), "asked for"),
        ("other.csv", lambda r: {"gbps": "", "bytes": "",
                                 "median_s": str(2e-6 * float(r["us"]))}, (), ""),
        ("same.csv", lambda r: {"gbps": "", "bytes": "", "median_s": "1e-5"},
         ("--x", "us"), ""),
    ):
        own = made(tmp, name, lambda r: {**change(r), "ci_lo_s": "", "ci_hi_s": "", "gflops": "",
                                         "flop": ""}, us=(1, 5, 20))
        out = tmp / (name + str(len(asked)))
        code, error = run(own, "--out", out, *asked)
        drawn_of = [f.name for f in out.iterdir() if f.suffix == ".svg"] if out.exists() else []
        if why:
            check("own/sum: no figure" in error and why in error and not drawn_of,
                  f"{name}: {code} {error} {drawn_of}")
        else:
            check((code, error, len(drawn_of)) == (0, "", 1), f"{name}: {code} {error} {drawn_of}")
    one = made(tmp, "one.csv", n=(4,))
    for asked, wanted in (((), ["no figure: there is one value", "--x kernel asks for it"]),
                          (("--x", "kernel"), [])):
        code, error = run(one, "--out", tmp / f"one{len(asked)}", *asked)
        check(code == 2 * bool(wanted) and all(w in error for w in wanted) and
              (tmp / f"one{len(asked)}" / "report.md").exists() == (not wanted),
              f"one row: {code} {error}")


def intervals(tmp):
    """One that is far longer than the values goes on beyond the axis, with an arrow."""
    path = made(tmp, "wide.csv", lambda r: {"ci_lo_s": str(float(r["median_s"]) / 50)
                                            if r["n"] == "4" else r["ci_lo_s"]}, n=(1, 2, 4))
    (f,) = table.figures(table.read_all([path]))
    figure = Drawn(f.family, f.panels, f.rows, f.caption, f.style)
    (points,) = f.panels[""].values()
    top, high = max(p.y for p in points), svg.extent(f.family, points, [])[1]
    check(top < high < 2 * top, f"an interval of 50 times the value: the axis goes to {high}")
    ends = "".join(e.get("d") for e, *_ in figure.of("path", "e"))
    check("l3-4l3 4" in ends, f"no arrow: {ends}")
    path = made(tmp, "low.csv", lambda r: {"ci_hi_s": str(float(r["median_s"]) * 50)
                                           if r["n"] == "4" else r["ci_hi_s"]}, n=(1, 2, 4))
    (f,) = table.figures(table.read_all([path]), asked={"log": "y"})
    figure = Drawn(f.family, f.panels, f.rows, f.caption, f.style)
    ends = "".join(e.get("d") for e, *_ in figure.of("path", "e"))
    check("l3 4l3-4" in ends and not figure.wrong(), f"no arrow below: {ends}")


# ---- JSON, dates, hostile text ---------------------------------------------------------------


def json_files(tmp):
    """Rows of a JSON as those of the CSV; both beside each other are read once."""
    both = [RESULTS / f"h200-mistakes.{end}" for end in ("csv", "json")]
    texts = []
    for path in both:
        code, error = run(path, "--out", tmp / path.suffix[1:])
        check((code, error) == (0, ""), f"{path.name}: {code} {error}")
        made_of = [f for f in (tmp / path.suffix[1:]).iterdir() if f.suffix == ".svg"]
        texts.append([re.sub(r"20\d\d-\d\d-\d\d", "", f.read_text()) for f in made_of])
    check(len(texts[0]) == 1 and texts[0] == texts[1], "CSV and JSON are drawn differently")
    (tmp / "two").mkdir()
    for path in both:
        shutil.copy(path, tmp / "two")
    rows = table.read_all([tmp / "two"])
    check(len(rows) == 16 and {r["@file"].suffix for r in rows} == {".csv"}, "rows read twice")
    (tmp / "other.json").write_text('{"benchmarks": []}')
    code, error = run(both[1], tmp / "other.json", "--out", tmp / "figures")
    check(code == 0 and "other.json: skipped" in error, f"another JSON: {code} {error}")
    top = json.loads(both[1].read_text())
    for key, bad in (("device", 7), ("rows", {"a": 1}), ("rows", [3]), ("schema", 999),
                     ("settings", "x"), ("notes", 5)):
        (tmp / "bad.json").write_text(json.dumps({**top, key: bad}))
        code, error = run(tmp / "bad.json", "--out", tmp / "bad")
        check(code == 2 and "bad.json" in error and "\n" not in error, f"{key}: {code} {error}")


def dates(tmp):
    """A row's own time goes before its file's, in captions and in what replaces what."""
    def at(name, times, faster=1):
        own = iter(times)
        return made(tmp, name, lambda r: {"time_utc": next(own), "gbps": str(faster * float(
            r["gbps"])), "ci_lo_s": "", "ci_hi_s": ""}, n=(1, 2, 4))

    def caption_of(*paths, date=None):
        (f,) = table.figures(table.read_all(paths), date=date)
        return f

    new = at("new.csv", [f"2026-03-0{d}T07:05:0{d}Z" for d in (1, 2, 3)], 2)
    check("; 2026-03-01 to 2026-03-03; " in caption_of(new).caption, caption_of(new).caption)
    check("time" not in caption_of(new).family.series, "the time is an axis")
    one = at("one.csv", [f"2026-03-01T0{d}:05:00Z" for d in (7, 8, 9)])
    check("; 2026-03-01 07:05 to 09:05 UTC; " in caption_of(one).caption, caption_of(one).caption)
    quick = at("quick.csv", [f"2026-03-01T07:05:0{s}Z" for s in (1, 2, 3)])
    check("; 2026-03-01 07:05 UTC; " in caption_of(quick).caption, caption_of(quick).caption)
    found = caption_of(one, date="2020-01-01").caption
    check("2026-03-01 07:05" in found, f"--date replaces a time: {found}")
    found = caption_of(new, date="2020-01-01").caption
    check("; 2026-03-01 to 2026-03-03; " in found, f"--date replaces days: {found}")
    old = at("old.csv", ["", "", ""])
    os.utime(old, (2e9, 2e9))
    check("; 2033-05-18; " in caption_of(old).caption, caption_of(old).caption)
    check("; 2020-01-01; " in caption_of(old, date="2020-01-01").caption, "--date for an old file")
    check("20" not in caption_of(at("odd.csv", ["yesterday"] * 3), date="DAY").caption
          .split("; ")[1], "a time that is none")
    if shutil.which("git"):
        check(plot.committed(quick) == "", "a commit of a file that is in no repository")
        repository = ["git", "-C", tmp, "-c", "user.name=a", "-c", "user.email=a"]
        subprocess.run([*repository, "init", "-q"], check=True)
        for name, day in (("old.csv", "2021-02-03"), ("new.csv", "2022-02-03")):
            subprocess.run([*repository, "add", name], check=True)
            subprocess.run([*repository, "commit", "-qm", name], check=True,
                           env={**os.environ, "GIT_COMMITTER_DATE": f"{day}T12:00:00Z"})
        code, error = run(old, "--out", tmp / "committed", "--date", "commit")
        found = (tmp / "committed" / "report.md").read_text("utf-8")
        check(code == 0 and "; 2021-02-03; " in found, f"--date commit: {code} {error} {found}")
    # the file with the later rows replaces the other, whatever the files' own times
    os.utime(one, (3e9, 3e9))
    for paths in ((new, one), (one, new), (old, new), (new, old)):
        found = caption_of(*paths)
        (points,) = found.panels[""].values()
        check({p.row["@file"] for p in points} == {new}, f"{[p.name for p in paths]}: the older")


def hostile(tmp):
    """Text of each column in turn: an SVG that parses, of known elements; one line, or Markdown of
    which nothing is markup; or one line of an error."""
    base = [r for r in rows_of("h200-strided.csv") if r["bench"] == "strided/memory"][:6]
    own = [{**r, "bench": "own/sum", "way": w} for r in base for w in ("a", "b")]
    refused = 0
    for kind, rows in (("known", base), ("own", own)):
        for column in [*rows[0], None]:
            text = HOSTILE
            changed = [{**r, column: text} if column else r for r in rows]
            if column is None:  # the name of a column
                changed = [{**r, text: str(i % 2)} for i, r in enumerate(rows)]
            path, out = tmp / "hostile.csv", tmp / f"{kind}-out"
            shutil.rmtree(out, ignore_errors=True)
            write(path, changed)
            code, error = run(path, "--out", out)
            lines = error.rstrip("\n").split("\n")
            check(code in (0, 2) and len(lines) <= 3 and "\x1b" not in error,
                  f"{kind} {column}: {code} {error}")
            refused += code == 2
            made_of = sorted(out.iterdir()) if code == 0 else []
            for f in made_of:
                inside = f.resolve().parent == out.resolve() and re.fullmatch("[a-z0-9.-]+", f.name)
                check(inside, f"{kind} {column}: a file {f}")
                if f.suffix == ".svg":
                    tags = {e.tag.split("}")[1] for e in ElementTree.parse(f).iter()}
                    extra = tags - {"svg", "style", "rect", "text", "g", "path", "title"}
                    check(not extra, f"{kind} {column}: elements {extra}")
                    names = {a for e in ElementTree.parse(f).iter() for a in e.keys()}
                    check(not [a for a in names if a.startswith("on") or a == "src"],
                          f"{kind} {column}: attributes {names}")
                else:
                    bare = re.sub(r"\\.", "", f.read_text())
                    check("<" not in bare and "\x1b" not in bare and "`" not in bare,
                          f"{kind} {column}: Markdown {bare[:200]}")
    check(refused > 20, f"{refused} columns of numbers that are none were refused")


def make_says():
    """On a fresh clone what to run, before anything is asked for; and FROM."""
    if not shutil.which("make"):
        counts["skipped"] += 1
        print("plots.py: skipped: make plots: no make")
        return
    own = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    for target, program in (("plots", "plot.py"), ("report", "report.py")):
        done = subprocess.run(["make", "-s", target, "FROM=no-such-folder"], cwd=ROOT, env=own,
                              capture_output=True, text=True)
        said = all(w in done.stdout for w in ("no-such-folder", "make bench", "FROM=bench/results"))
        check(done.returncode and said, f"make {target}: {done.stdout} {done.stderr}")
        done = subprocess.run(["make", "-n", target, "FROM=a.csv b.csv"], cwd=ROOT, env=own,
                              capture_output=True, text=True)
        words = ("no $from", "apt-get", f"plots/{program} a.csv b.csv")
        order = [done.stdout.find(w) for w in words]
        check(0 < order[0] < order[1] < order[2], f"make {target}: {order} {done.stdout}")


# ---- the passport ------------------------------------------------------------------------------


def passports():
    """Names of columns are whole, however long, and numbers stand below them."""
    rows = [{**r, "device": name} for name in ("NVIDIA H100 80GB HBM3", "A device of a far longer "
            "name than any that has been sold") for r in rows_of("h200-copy.csv")]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        passport.page(passport.by_device(rows_of("h200-copy.csv")), passport.by_device(rows))
    lines = said.getvalue().split("\n")
    here = next(i for i, line in enumerate(lines) if " here" in line)
    head = [line[67:] for line in lines[2 : here + 1]]
    words = " ".join(w for line in head for w in line.split())
    wanted = sorted(f"{r} (cuda)".split() for r in {r["device"] for r in rows})
    check(sorted(words.split()) == sorted(w for own in wanted for w in own), f"columns: {words}")
    numbers = next(line for line in lines if line.startswith("  copy "))
    last = [m.end() for m in re.finditer(r"\S+", numbers[67:])]
    heads = {m.end() for line in head for m in re.finditer(r"\S+", line)}
    check(len(last) == 2 and set(last) <= heads, f"numbers end at {last}, names at {heads}")
    labels = [f.label for own in passport.PAGE.values() for f in own]
    bare = [n for n in labels if n.split()[0] in ("from", "and", "of")]
    check(not bare and len(set(labels)) == len(labels), f"names of rows that are not whole: {bare}")


def doubles(tmp):
    """Those of devices whose rates bench/rates.h has: the floats of a multiprocessor by them."""
    rates, header = (ROOT / "bench" / "rates.h").read_text(), (ROOT / "gpumb.h").read_text()
    rates = re.findall(r'\{"(sm_\w+)", \{0, (\d+), ', rates)
    peaks = header.partition("static inline void gpumbi_peaks(")[2].partition("for (")[0]
    lanes = re.findall(r'\{"(sm_\w*)", (\d+), ', peaks)
    takes = {arch: 2 * int(next(n for start, n in lanes if arch.startswith(start))) / int(f64)
             for arch, f64 in rates}
    check(len(takes) >= 6 and takes == table.F64_TAKES, f"F64_TAKES: {takes}")


# ---- the stored figures --------------------------------------------------------------------------


def stored(tmp):
    folder = ROOT / "bench" / "figures"
    names = sorted(f.name for f in folder.iterdir())
    known = {f"nvidia-{card}-cuda-{f}.svg" for card in ("h200", "h100-80gb-hbm3") for f in FAMILY}
    check(names and set(names) <= known, f"bench/figures: {names}")
    size = sum((folder / n).stat().st_size for n in names)
    check(size <= 300e3, f"bench/figures: {size} bytes")
    dated = {}  # as they say: a copy need not have the history that --date commit looks at
    for n in names:
        day = re.search("backend cuda; ([0-9-]+( to [0-9-]+)?)", (folder / n).read_text("utf-8"))[1]
        dated.setdefault(day, []).append(n)
    for day, own in dated.items():
        store = ",".join(n.removesuffix(".svg") for n in own)
        code, error = run(RESULTS, "--out", tmp, "--store", store, "--date", day)
        old = [n for n in own if (tmp / n).read_bytes() != (folder / n).read_bytes()]
        check(code == 0 and not old, f"not as bench/results has it: {old}: make figures")
    timers.main(RESULTS / "timers-h200.csv", tmp / "timers.svg")
    own = (tmp / "timers.svg").read_bytes()
    check(own == (RESULTS / "timers-h200.svg").read_bytes(), "timers-h200.svg is of other rows")


with tempfile.TemporaryDirectory() as folder:
    for part in (files, formats, span, captions, bands, plateaus, unknown, overlaid, cards, layout,
                 drawn_of_all_kinds, everything, roofs, labs, peaks, units, stars, mixes, counted,
                 dulls, intervals, json_files, dates, hostile, doubles, stored):
        here = Path(folder) / part.__name__
        here.mkdir()
        part(here)
    make_says()
    passports()
finish()
