#!/bin/sh
# test_coverage.sh - the demands of tests/coverage.c: intervals, classes, ramps and verdicts on
# synthetic series; with fewer of them than a full run takes (bench/results/coverage.txt).
cd "$(dirname "$0")/.." || exit 1
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
trap 'kill $!; exit 1' HUP INT TERM
passed=0 failed=0
for part in '0.4 vr' '0.2 kf' '1 w' '0.1 d' '0.1 el'; do
    # shellcheck disable=SC2086 # two words
    build/cpu/coverage $part >"$out" &
    wait $!
    status=$?
    read -r met all <<END
$(sed -n 's/^\([0-9]*\) of \([0-9]*\) demands met$/\1 \2/p' "$out")
END
    missed=$((${all:-1} - ${met:-0}))
    [ $missed -gt 0 ] || [ $status -eq 0 ] || missed=1
    [ $missed -eq 0 ] || grep -n 'NOT MET' "$out"
    passed=$((passed + ${met:-0})) failed=$((failed + missed))
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
