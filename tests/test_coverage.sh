#!/bin/sh
# test_coverage.sh - the demands of bench/coverage.c: intervals, classes and verdicts on synthetic
# series.
cd "$(dirname "$0")/.." || exit 1
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
trap 'kill $!; exit 1' HUP INT TERM
build/cpu/coverage >"$out" &
wait $!
status=$?
read -r met all <<END
$(sed -n 's/^\([0-9]*\) of \([0-9]*\) demands met$/\1 \2/p' "$out")
END
failed=$((${all:-1} - ${met:-0}))
[ $failed -gt 0 ] || [ $status -eq 0 ] || failed=1
[ $failed -eq 0 ] || grep -n 'NOT MET' "$out"
echo "${met:-0} passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
