"""Draws what bench/timers.py has stored: how far off the truth each timer is, over the truth.

    python3 plots/timers.py bench/results/timers-h200.csv bench/results/timers-h200.svg
"""

import csv
import math
import sys
from pathlib import Path

import svg
from families import Family
from rows import Point

CACHES = {"hot": "caches as the run before left them", "cold": "caches emptied"}
FAMILY = Family("timers", "", "span_us", "timer", "cache", y="error_pct", log2=True)


def main(source, target):
    with open(source, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    panels = {title: {} for title in CACHES.values()}
    for row in rows:
        row["backend"] = "cuda"
        y = 100 * float(row["error"])
        panel = panels[CACHES["hot" if row["cache"] == "hot" else "cold"]]
        own = panel.setdefault(row["timer"], [])
        own.append(Point(float(row["truth_s"]) * 1e6, y, math.nan, math.nan, math.nan, row))
    for panel in panels.values():
        for own in panel.values():
            own.sort(key=lambda p: p.x)
    devices = ", ".join(sorted({row["device"] for row in rows}))
    title = f"Timers of Python on {devices}: how far off the time by CUPTI"
    picture = svg.without_values(
        svg.alone(svg.picture(FAMILY, panels), title, rows[0]["date_utc"][:10])
    )
    Path(target).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
