#!/bin/sh
# test_others.sh - bench/others.sh says what it can't do; its table sets both figures beside each
# other, and names what has only one; the pages say what the stored rows do. OTHERS: checkouts of
# what it measures, to build it all.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

sh bench/others.sh >"$tmp/out" 2>"$tmp/err"
check "no checkout: exit code" test $? -eq 2
check "no checkout: no usage" has '^Usage: bench/others.sh ' "$tmp/err"
NVCC=/nonexistent sh bench/others.sh "$tmp" >"$tmp/out" 2>"$tmp/err"
check "no nvcc: exit code" test $? -eq 3
NVCC=$(command -v sed) sh bench/others.sh "$tmp" >"$tmp/out" 2>"$tmp/err"
check "a folder of something else: exit code" test $? -eq 2
check "a folder of something else: what it is not" has 'none of the three' "$tmp/err"

if command -v python3 >/dev/null; then
    mkdir -p "$tmp/work/one" "$tmp/work/two"
    touch "$tmp/work/one/arguments" "$tmp/work/two/arguments"
    columns=kernel,status,reason,timing,meaning,median_s,ci_lo_s,ci_hi_s,flags,nodes,device
    {
        echo $columns
        echo 'copy,ok,,graph,span,2e-06,1.9e-06,2.1e-06,,"k<<<1, 2>>>; memset",H'
        echo 'sum,failed,"wrong, by far",,,,,,,,H'
    } >"$tmp/work/one/gpumb.csv"
    printf '%s\n' 'copy,9,first' 'copy,5e-06,host clock' 'sum,1,host clock' >"$tmp/work/one/own.csv"
    head -n 2 "$tmp/work/one/gpumb.csv" >"$tmp/work/two/gpumb.csv"
    python3 bench/others.py "$tmp/work" >"$tmp/table" 2>"$tmp/err"
    check "a row of gpumb's alone: exit code" test $? -eq 1
    check "a row of gpumb's alone: its name" has 'two: copy$' "$tmp/err"
    rm -r "$tmp/work/two"
    python3 bench/others.py "$tmp/work" >"$tmp/table" 2>"$tmp/err"
    check "exit code" test $? -eq 0
    check "no ratio of the last figure" has \
        '^one,copy,5e-06,2e-06,1.9e-06,2.1e-06,2.500,host clock,graph,span,' "$tmp/table"
    check "a region that failed: no reason, or a ratio" has \
        '^one,sum,1,,,,,host clock,,,,"wrong, by far",' "$tmp/table"
    echo 'alone,1,host clock' >>"$tmp/work/one/own.csv"
    check "a figure of theirs alone" not python3 bench/others.py "$tmp/work"
    count "figures of bench/others.md, bench/h200-products.md" python3 tests/bench_figures.py
else
    skip "no python3"
fi

if [ -n "${OTHERS:-}" ]; then
    # shellcheck disable=SC2086 # folders
    check "not all build" sh bench/others.sh --build $OTHERS
fi
finish
