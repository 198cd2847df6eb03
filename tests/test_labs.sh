#!/bin/sh
# test_labs.sh - walks through the labs as a student without a GPU would: builds each for the CPU,
# runs it, replays the stored rows of an H200 and looks for what the solutions say, grades.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

# As the README says, but sooner.
options='-std=c++17 -O1 -Wall -Wextra -pthread'
# shellcheck disable=SC2086 # several options
check "the implementation does not compile" \
    ${CXX:-c++} $options -x c++ -DGPUMB_IMPLEMENTATION -c gpumb.h -o "$tmp/gpumb.o"

compile() # SOURCE, PROGRAM, OPTION...
{
    source=$1 program=$2
    shift 2
    # shellcheck disable=SC2086 # several options
    ${CXX:-c++} $options "$@" "$tmp/gpumb.o" -x c++ "$source" -o "$program"
}

labs=0
for source in examples/labs/*.cu; do
    lab=$(basename "$source" .cu)
    labs=$((labs + 1))
    check "$lab: has more than 60 lines" test "$(wc -l <"$source")" -le 60
    check "$lab: no question, or nothing to change" test "$(grep -cE '^ \* (Question|Change): ' \
        "$source")" -eq 2
    check "$lab: has its answer" not grep -qE '^/\* See: |^ \* See: ' "$source"
    check "$lab: does not compile" compile "$source" "$tmp/lab"
    "$tmp/lab" --budget 0.02 --warmup 0 --samples 6:6 >"$tmp/out" 2>&1 </dev/null
    check "$lab: exit code $?: $(tail -n 3 "$tmp/out")" test $? -eq 0
    check "$lab: not verified" not grep -q 'unverified' "$tmp/out"
    check "$lab: no row" grep -qE '^[0-9]+ rows: [0-9]+ ok, 0 skipped, 0 failed$' "$tmp/out"

    # What was changed: its result is right, but for the two rows of lab 1 that are to fail.
    changed=examples/labs/solutions/$lab.cu
    check "$lab: the solution does not compile" compile "$changed" "$tmp/changed"
    "$tmp/changed" --budget 0.02 --warmup 0 --samples 6:6 >"$tmp/out" 2>&1 </dev/null
    wrong=0
    [ "$lab" != 01_first_launch ] || wrong=2
    check "$lab: solution: $(tail -n 3 "$tmp/out")" grep -qE \
        "^[0-9]+ rows: [0-9]+ ok, 0 skipped, $wrong failed\$" "$tmp/out"

    # The stored rows of both, and of their counters: each is shown, and is of this very program.
    : >"$tmp/all"
    for rows in "$lab" "solutions/$lab" "counters/$lab" "counters/solutions/$lab"; do
        [ -f "examples/labs/h200/$rows.json" ] || continue
        program=$tmp/lab broken=0
        case $rows in *solutions*) program=$tmp/changed broken=$wrong ;; esac
        rm -f "$tmp/csv"
        "$program" --replay "examples/labs/h200/$rows.json" --csv "$tmp/csv" >"$tmp/out" \
            2>"$tmp/err" </dev/null
        check "$rows: replay: exit code $?: $(cat "$tmp/err")" test $? -eq $((broken > 0))
        case $rows in
        counters/*) sed -i '/left out$/d' "$tmp/err" ;; # of some configurations only
        esac
        check "$rows: replay: says $(cat "$tmp/err")" test ! -s "$tmp/err"
        check "$rows: replay: no H200" grep -q '^gpumb .* on NVIDIA H200 (cuda' "$tmp/out"
        check "$rows: replay: rows" grep -qE \
            "^[0-9]+ rows: [0-9]+ ok, 0 skipped, $broken failed\$" "$tmp/out"
        check "$rows: replay: a row is unmarked" test "$(grep -c replayed "$tmp/csv")" -eq \
            $(($(wc -l <"$tmp/csv") - 1))
        check "$rows: of another program: $(grep 'Source' "$tmp/out")" grep -qE \
            '^  replayed: Source: .*, checksum [0-9a-f]{8}\.$' "$tmp/out"
        cat "$tmp/out" >>"$tmp/all"
    done
    # What the solutions quote of the replays is what these show.
    sed -n "/^## $lab/,/^## /s/^    //p" examples/labs/solutions/README.md >"$tmp/quotes"
    check "$lab: solutions quote nothing of the replay" test -s "$tmp/quotes"
    check "$lab: no rows of the changed program" test -s "examples/labs/h200/solutions/$lab.json"
    while read -r quote; do
        check "$lab: replay does not say '$quote'" grep -qF -e "$quote" "$tmp/all"
    done <"$tmp/quotes"
done
check "fourteen labs" test "$labs" -eq 14

# The last one: as it is, and the solution.
own=examples/labs/14_own_kernel.cu
check "the solution does not compile" compile "$own" "$tmp/lab" \
    "-DMINE=\"solutions/14_mine.h\""
"$tmp/lab" --budget 0.02 --warmup 0 --samples 6:6 >"$tmp/out" 2>&1 </dev/null
check "the solution is wrong: $(grep failed "$tmp/out")" grep -q '2 ok, 0 skipped, 0 failed' \
    "$tmp/out"
check "the solution's grade" "$tmp/lab" --replay examples/labs/h200/solutions/14_own_kernel.json \
    --expect 'mine>=100*naive' --expect 'mine>=0.35peak'
check "a grade for nothing" not "$tmp/lab" --replay examples/labs/h200/14_own_kernel.json \
    --expect 'mine>=100*naive'
sed 's/, 1);/, 2);/' examples/labs/14_mine.h >"$tmp/mine.h"
check "a wrong kernel does not compile" compile "$own" "$tmp/lab" "-DMINE=\"$tmp/mine.h\""
check "a wrong kernel passes" not "$tmp/lab" --budget 0.02 --warmup 0 --samples 6:6

# A lab that was changed does not show the change: its replay says so. A comment is no change.
own=examples/labs/05_coalescing.cu
sed 's/i \* (uint64_t)stride\]/i * (uint64_t)stride % n]/' "$own" >"$tmp/changed.cu"
check "lab 5, changed, is as it was" not cmp -s "$tmp/changed.cu" "$own"
check "lab 5, changed, does not compile" compile "$tmp/changed.cu" "$tmp/lab" -Iexamples/labs
"$tmp/lab" --replay examples/labs/h200/05_coalescing.json >"$tmp/out" 2>&1 </dev/null
check "lab 5, changed, replays in silence" grep -q 'THESE ROWS ARE OF ANOTHER PROGRAM' "$tmp/out"
{
    echo '// Mine.'
    cat "$own"
} >"$tmp/05_coalescing.cu"
check "lab 5, commented, does not compile" \
    compile "$tmp/05_coalescing.cu" "$tmp/lab" -Iexamples/labs
"$tmp/lab" --replay examples/labs/h200/05_coalescing.json >"$tmp/out" 2>&1 </dev/null
check "lab 5, commented, is said to be changed" not grep -q 'OF ANOTHER PROGRAM' "$tmp/out"

# Lab 1, broken in the second way that it asks for.
sed 's/    if (i < n)/    (void)n;/' examples/labs/01_first_launch.cu >"$tmp/broken.cu"
check "lab 1, broken, does not compile" compile "$tmp/broken.cu" "$tmp/lab" -Iexamples/labs
"$tmp/lab" --axis n=1000 --budget 0.02 --warmup 0 --samples 6:6 >"$tmp/out" 2>&1
check "lab 1, broken: $(tail -n 3 "$tmp/out")" grep -q 'wrote past the end' "$tmp/out"

# The tracer's figures that the labs ask for: sectors at stride 8, conflicts of a tile's column.
traces() # LAB, WANTED
{
    make -s trace FILE="examples/labs/$1.cu" ARGS=--profile CXX=g++ BACKEND=cpu >"$tmp/out" 2>&1
    check "$1: the tracer does not find '$2'" grep -qF "$2" "$tmp/out"
}
if command -v g++ >/dev/null && command -v addr2line >/dev/null; then
    traces 05_coalescing '32.00    32.00   4.00   8.00  12.5 %  out[i] = in['
    traces 06_misalignment '32.00     5.00   4.00   2.00  80.0 %  out[i] = in[i];'
    traces 06_misalignment '32.00     4.00   4.00   2.00 100.0 %  out[i] = in[i];'
    traces 07_subdomains '32.00    32.00   4.00  16.00  12.5 %  out[i] = in[i];'
    traces 07_subdomains '32.00     4.00   4.00   2.00 100.0 %  out[i] = in[i];'
    traces 08_transpose '32 lanes take 32 wavefronts at the banks where 1 would do'
    traces solutions/08_transpose '32 lanes take 8 wavefronts at the banks where 1 would do'
    traces solutions/08_transpose '32 lanes take 2 wavefronts at the banks where 1 would do'
    traces 10_reduction '752   5.43     1.00   1.00                 part[t] += part[t + far];'
    traces 10_reduction '192  21.25     1.00   1.00                 part[t] += part[t + far];'
else
    skip "no g++ or addr2line to trace with"
fi

# The counters of the H200 are what the solutions say of them.
if command -v python3 >/dev/null; then
    count "counters of the labs" python3 tests/lab_counters.py
else
    skip "no python3 to look into the counters with"
fi

# The commands of the hand-outs are those of the Makefile.
for target in labs trace; do
    check "no make $target" grep -q "^$target:" Makefile
done

finish
