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
    check "$lab: does not end with what to see" grep -qE '^/\* See: ' <<END
$(tail -n 3 "$source")
END
    check "$lab: does not compile" compile "$source" "$tmp/lab"
    "$tmp/lab" --budget 0.02 --warmup 0 --samples 6:6 >"$tmp/out" 2>&1 </dev/null
    check "$lab: exit code $?: $(tail -n 3 "$tmp/out")" test $? -eq 0
    check "$lab: not verified" not grep -q 'unverified' "$tmp/out"
    check "$lab: no row" grep -qE '^[0-9]+ rows: [0-9]+ ok, 0 skipped, 0 failed$' "$tmp/out"

    rows=examples/labs/h200/$lab.json
    rm -f "$tmp/csv"
    "$tmp/lab" --replay "$rows" --csv "$tmp/csv" >"$tmp/out" 2>"$tmp/err" </dev/null
    check "$lab: replay: exit code $?: $(cat "$tmp/err")" test $? -eq 0
    check "$lab: replay: says $(cat "$tmp/err")" test ! -s "$tmp/err"
    check "$lab: replay: no H200" grep -q '^gpumb .* on NVIDIA H200 (cuda' "$tmp/out"
    check "$lab: replay: rows" grep -qE '^[0-9]+ rows: [0-9]+ ok, 0 skipped, 0 failed$' "$tmp/out"
    check "$lab: replay: a row is unmarked" test "$(grep -c replayed "$tmp/csv")" -eq \
        $(($(wc -l <"$tmp/csv") - 1))
    # What the solutions quote of the replay is what it shows.
    sed -n "/^## $lab/,/^## /s/^> //p" examples/labs/solutions/README.md >"$tmp/quotes"
    check "$lab: solutions quote nothing of the replay" test -s "$tmp/quotes"
    while read -r quote; do
        check "$lab: replay does not say '$quote'" grep -qF -e "$quote" "$tmp/out"
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
check "the solution's grade" "$tmp/lab" --replay examples/labs/h200/14_solution.json \
    --expect 'mine>=100*naive' --expect 'mine>=0.35peak'
check "a grade for nothing" not "$tmp/lab" --replay examples/labs/h200/14_own_kernel.json \
    --expect 'mine>=100*naive'
sed 's/, 1);/, 2);/' examples/labs/14_mine.h >"$tmp/mine.h"
check "a wrong kernel does not compile" compile "$own" "$tmp/lab" "-DMINE=\"$tmp/mine.h\""
check "a wrong kernel passes" not "$tmp/lab" --budget 0.02 --warmup 0 --samples 6:6

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
    traces 08_transpose '32 lanes take 32 wavefronts at the banks where 1 would do'
else
    skip "no g++ or addr2line to trace with"
fi

# The commands of the hand-outs are those of the Makefile.
for target in labs trace; do
    check "no make $target" grep -q "^$target:" Makefile
done

finish
