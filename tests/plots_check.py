"""What the tests of plots/ share: checks that are counted, CSV files, a program run in here."""

import contextlib
import csv
import io
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
TEST = Path(sys.argv[0]).name
sys.path.insert(0, str(ROOT / "plots"))
printed = io.StringIO()  # by all of them
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(holds, what):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"{TEST}: failed: {what}")


def rows_of(path):
    """The rows of a CSV file, of bench/results unless it is elsewhere."""
    with (RESULTS / path).open(newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def write(path, rows):
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, rows[0].keys())
        out.writeheader()
        out.writerows(rows)


def run_program(program, arguments):
    """Exit code and standard error of a module's main()."""
    error = io.StringIO()
    sys.argv = [f"{program.__name__}.py", *map(str, arguments)]
    with contextlib.redirect_stderr(error), contextlib.redirect_stdout(printed):
        try:
            program.main()
            return 0, error.getvalue()
        except program.Problem as problem:
            program.say(problem)  # as the program does
            return 2, error.getvalue().removesuffix("\n").partition(": ")[2]


HOSTILE = '"><img src=x onerror=alert(1)></title><script>alert(2)</script>\'&\n\x1b[31m# `x`\u2028'


def finish():
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    sys.exit(counts["failed"] > 0)
