#!/usr/bin/env python3
"""Draws figures from the CSV files of programs that use gpumb:
    python3 plots/plot.py results --out results/figures

Writes a set of PNG and SVG per device and backend, and report.md, which shows them with their
captions; with --store NAME,... small PNG of these figures alone. What families.py does not know is
drawn by what varies in it: see --x, --y, --series, --panel, --log. Tables of other programs are
skipped. Exit code 2 where the input cannot be drawn, with one line on stderr that says why and what
to do.
"""

import argparse
import sys
from pathlib import Path

import rows as table
from families import FAMILIES, title_of
from rows import Problem, say


def main():
    parser = argparse.ArgumentParser(
        description="Draws figures from the CSV files of programs that use gpumb."
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
    parser.add_argument("--format", default="png,svg", help="png,svg (the default), pdf")
    args = parser.parse_args()
    asked = {k: v for k, v in vars(args).items() if k in "x y series panel log".split() and v}
    formats = args.format.split(",")
    if not set(formats) <= {"png", "svg", "pdf"}:
        raise Problem(f"--format {args.format}: must be png, svg or pdf, or several: png,pdf")
    known = [f.name for f in FAMILIES]
    wanted = args.store.split(",") if args.store else None
    if wanted and not set(wanted) <= set(known):
        raise Problem(
            f"--store: there is no figure {', '.join(sorted(set(wanted) - set(known)))}; "
            f"known are {', '.join(known)}"
        )
    rows = table.read_all(args.inputs, args.partial, args.overlay)
    rows = [r for r in rows if (args.bench or "") in r["bench"]]
    if not rows:
        raise Problem(f"--bench {args.bench}: no row is of such a benchmark")
    try:
        import draw  # needs matplotlib, which what is above does not
    except ImportError as e:
        raise Problem(
            f"no {e.name} in this Python: apt-get install python3-matplotlib, or make plots"
        )

    args.out.mkdir(parents=True, exist_ok=True)
    report, machine = ["# Figures\n"], None
    for f in table.figures(rows, wanted, asked, args.date, args.overlay):
        if machine != f.machine:
            machine = f.machine
            report.append(f"## {machine}\n")
        figure = draw.draw(f.family, f.panels, f.caption)
        if args.store:
            draw.save_small(figure, args.out / f"{f.name}.png")
        else:
            for end in formats:
                stamp = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[end]
                figure.savefig(args.out / f"{f.name}.{end}", metadata={stamp: None})
        draw.pyplot.close(figure)
        title = title_of(f.family, f.rows)
        report.append(f"### {title}\n\n![{title}]({f.name}.{formats[0]})\n\n{f.caption}\n")
    if not machine:
        raise Problem("nothing to draw: no row is ok and has a rate or a time")
    if not args.store:
        (args.out / "report.md").write_text("\n".join(report), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except (Problem, OSError) as problem:
        say(problem)
        sys.exit(2)
