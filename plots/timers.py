"""Draws what bench/timers.py has stored: how far off the truth each timer is, over the truth.

    python3 plots/timers.py bench/results/timers-h200.csv bench/results/timers-h200.svg

Needs matplotlib.
"""

import csv
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as pyplot  # noqa: E402

LEAST = 1e-4  # errors below this are drawn as this
KINDS = {"hot": "caches as the run before left them", "cold": "caches emptied"}


def main(source, target):
    with open(source, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "gpumb",  # the same file from the same rows
        }
    )
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    for axis, (kind, title) in zip(axes, KINDS.items()):
        own = [row for row in rows if (row["cache"] == "hot") == (kind == "hot")]
        timers = list(dict.fromkeys(row["timer"] for row in own))
        for timer, marker in zip(timers, "osD^vP*X"):
            points = sorted(
                (float(row["truth_s"]) * 1e6, max(abs(float(row["error"])), LEAST) * 100)
                for row in own
                if row["timer"] == timer
            )
            axis.plot(*zip(*points), marker, label=timer, markersize=5)
        for limit in (1, 5):
            axis.axhline(limit, color="0.7", linewidth=0.8, zorder=0)
        axis.set(xscale="log", yscale="log", xlabel="truth, us (CUPTI)", title=title)
        axis.legend(fontsize=8)
    axes[0].set_ylabel("off the truth, %")
    devices = sorted({row["device"] for row in rows})
    figure.suptitle(f"{', '.join(devices)}, {rows[0]['date_utc'][:10]}: lower is better")
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
