#!/bin/sh
# test_plots.sh - what plots/ draws; skipped where there is no matplotlib.
cd "$(dirname "$0")/.." || exit 1
for python in python3 /usr/bin/python3 build/venv/bin/python; do
    $python -c 'import matplotlib' 2>/dev/null && exec $python -B tests/plots.py
done
echo "test_plots.sh: skipped: no matplotlib (make plots gets it)"
echo "0 passed, 0 failed, 1 skipped"
