#!/bin/sh
# test_report.sh - the HTML report, its structure and, where there is a Chromium, how it runs there.
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null && exec python3 -B tests/report.py
echo "test_report.sh: skipped: no python3"
echo "0 passed, 0 failed, 1 skipped"
