#!/bin/sh
# test_plots.sh - what plots/ draws.
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null && exec python3 -B tests/plots.py
echo "test_plots.sh: skipped: no python3"
echo "0 passed, 0 failed, 1 skipped"
