"""others.py FOLDER - for others.sh: as CSV, what each program says of a region (own.csv), beside
gpumb's row of it (gpumb.csv); a region that lacks one of them is named, and the exit code is 1."""
import csv
import pathlib
import sys


def own_figures(path):
    """The last figure for each region, and what it says."""
    if not path.exists():
        return {}
    with path.open(newline="") as lines:
        return {region: (float(seconds), meaning) for region, seconds, meaning in csv.reader(lines)}


def rows_of(path):
    if not path.exists():
        return {}
    with path.open(newline="") as lines:
        return {row["kernel"]: row for row in csv.DictReader(lines)}


def main(folder):
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["program", "region", "own_s", "gpumb_s", "ci_lo_s", "ci_hi_s", "ratio",
                  "own_meaning", "timing", "meaning", "flags", "reason", "nodes", "device"])
    missing = []
    for program in sorted(path.parent for path in pathlib.Path(folder).glob("*/arguments")):
        own, rows = own_figures(program / "own.csv"), rows_of(program / "gpumb.csv")
        for region in list(rows) + [region for region in own if region not in rows]:
            if region not in rows or region not in own:
                missing.append(f"{program.name}: {region}")
                continue
            (seconds, says), row = own[region], rows[region]
            median = row["median_s"]
            ratio = f"{seconds / float(median):.3f}" if median else ""
            out.writerow([program.name, region, f"{seconds:.9g}", median, row["ci_lo_s"],
                          row["ci_hi_s"], ratio, says, row["timing"], row["meaning"], row["flags"],
                          row["reason"], row["nodes"], row["device"]])
        if not rows:
            missing.append(f"{program.name}: no rows")
    for region in missing:
        print(f"others.py: one figure alone: {region}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
