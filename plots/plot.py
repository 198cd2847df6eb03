#!/usr/bin/env python3
"""Draws figures from the CSV and JSON files of programs that use gpumb:
    python3 plots/plot.py results --out results/figures

Writes a set of SVG per device and backend, and report.md, which shows them with their captions;
with --store NAME,... these figures alone, small. What families.py does not know is drawn by what
varies in it: see --x, --y, --series, --panel, --log. Tables of other programs are skipped. Exit
code 2 where the input cannot be drawn, with one line on stderr that says why and what to do.
"""

import argparse
import functools
import re
import shutil
import subprocess
import sys
from pathlib import Path

import rows as table
import svg
from families import FAMILIES, title_of, visible
from rows import Problem, say

CONVERTER = "rsvg-convert"  # of SVG into PNG and PDF


def write(path, text):
    """Files that stay the same keep their time."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, encoding="utf-8")


def plain(text):
    """Text of a file as Markdown, on one line, of which nothing becomes markup."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&])", r"\\\1", " ".join(visible(text).split()))


def save(path, text, end):
    if end == "svg":
        return write(path, text)
    command = [CONVERTER, "-w", "1520", "-f", end, "-o", path]
    if subprocess.run(command, input=text.encode()).returncode:
        raise Problem(f"{path}: {CONVERTER} has failed")


@functools.cache
def committed(path):
    """The day of a file's last commit; "" if there is none."""
    log = ["git", "-C", path.parent, "log", "-1", "--format=%cs", "--", path.name]
    return subprocess.run(log, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(
        description="Draws figures from the CSV and JSON files of programs that use gpumb."
    )
    parser.add_argument("inputs", nargs="+", help="folders with CSV and JSON files, or files")
    parser.add_argument(
        "--out", default="results/figures", type=Path, help="folder for the figures"
    )
    parser.add_argument(
        "--date",
        help="of rows that do not say it, instead of the files' own; commit: of a file's last one",
    )
    parser.add_argument(
        "--partial", action="store_true", help="read interrupted files (*.csv.part) too"
    )
    parser.add_argument(
        "--store", metavar="NAME,...", help="these alone, without report.md and values on hover"
    )
    parser.add_argument("--bench", metavar="NAME", help="only benches that have NAME in theirs")
    for option, text in (
        ("x", "along x"),
        ("y", "the rate or time drawn: gbps, gflops, median_s, any column of numbers"),
        ("series", "one line or colour for each of its values"),
        ("panel", "one panel for each of its values"),
    ):
        parser.add_argument(f"--{option}", metavar="COLUMN", help=text)
    parser.add_argument("--log", choices=("none", "x", "y", "xy"), help="logarithmic axes")
    parser.add_argument(
        "--overlay",
        action="store_true",
        help="each input beside the others in one figure: devices, or before and after",
    )
    parser.add_argument("--format", default="svg", help="svg (the default), png, pdf, or several")
    args = parser.parse_args()
    asked = {k: v for k, v in vars(args).items() if k in "x y series panel log".split() and v}
    formats = args.format.split(",")
    if not set(formats) <= {"png", "svg", "pdf"}:
        raise Problem(f"--format {args.format}: must be png, svg or pdf, or several: png,pdf")
    if formats != ["svg"] and not shutil.which(CONVERTER):
        raise Problem(
            f"--format {args.format}: needs {CONVERTER} (Debian: apt-get install librsvg2-bin); "
            "without it --format svg, which browsers show and print"
        )
    known = [f.name for f in FAMILIES]
    wanted = args.store.split(",") if args.store else None
    unknown = [w for w in wanted or () if not any(w == k or w.endswith(f"-{k}") for k in known)]
    if unknown:
        raise Problem(
            f"--store: there is no figure {', '.join(sorted(unknown))}; "
            f"known are {', '.join(known)}"
        )
    rows = table.read_all(args.inputs, args.partial, args.overlay)
    rows = [r for r in rows if (args.bench or "") in r["bench"]]
    if not rows:
        raise Problem(f"--bench {args.bench}: no row is of such a benchmark")
    if args.date == "commit":
        args.date = None
        for r in rows:
            r["@date"] = r["@date"] if r["@dated"] else committed(r["@file"]) or r["@date"]
    args.out.mkdir(parents=True, exist_ok=True)
    report, machine = ["# Figures\n"], None
    without, drawn = [], 0
    for f in table.figures(rows, wanted, asked, args.date, args.overlay, without):
        if machine != f.machine:
            machine = f.machine
            report.append(f"## {plain(machine)}\n")
        title = title_of(f.family, f.rows)
        text = svg.alone(svg.picture(f.family, f.panels, f.style), title, f.caption)
        if args.store:
            text = svg.without_values(text)
        for end in formats:
            save(args.out / f"{f.name}.{end}", text, end)
        drawn += 1
        named = plain(title)
        report.append(
            f"### {named}\n\n![{named}]({f.name}.{formats[0]})\n\n{plain(f.caption)}\n"
        )
    if not args.store:
        for bench, why in without:
            say(f"{visible(bench)}: no figure: {why}")
            report.append(f"{plain(bench)}: no figure: {why}.\n")
    if not machine:
        dull = any(not why.startswith("none of") for _, why in without)
        raise Problem(
            "nothing to draw: "
            + ("--x kernel asks for it all the same" if dull
               else "no row is ok and has a rate or a time")
        )
    if not args.store:
        write(args.out / "report.md", "\n".join(report))
    print(f"{args.out}: {drawn} figure{'s' * (drawn > 1)}")


if __name__ == "__main__":
    try:
        main()
    except (Problem, OSError) as problem:
        say(problem)
        sys.exit(2)
