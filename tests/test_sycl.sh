#!/bin/sh
# test_sycl.sh - the example in SYCL: `make sycl` says what is missing; where acpp is, it runs and
# is verified; wrong kernels fail, and on a GPU so do queues that gpumb was
# not told of.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

build=${TEST_BUILD:-build/cpu}
backend=$(basename "$build")
source=examples/09_sycl.cpp
export ACPP_DEBUG_LEVEL=1 # errors alone: without a GPU, it warns that it has no use for one

check "more than 100 lines" test "$(wc -l <$source)" -le 100
make BACKEND=cpu ACPP= sycl >"$tmp/out" 2>&1
check "make sycl without acpp: exit code" test $? -eq 0
check "make sycl without acpp: what is missing" \
    has '^skipped sycl: no acpp in PATH: examples/sycl.md' "$tmp/out"

case $backend in
cpu) target=omp ;;
cuda) target=cuda:sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader |
    sed 's/\.//; q') ;;
*) target= ;;
esac
if ! command -v acpp >/dev/null || [ -z "$target" ]; then
    skip "no acpp, or not for $backend: see examples/sycl.md"
    finish
fi
quickly='--axis n=4096 --budget 0.2 --samples 6:6 --warmup 0.01'

# build NAME SOURCE: a changed program
build()
{
    check "$1: does not compile" acpp --acpp-targets="$target" -std=c++17 -O3 -Wall -Wextra -I. \
        -Iexamples -c "$2" -o "$tmp/$1.o" &&
        check "$1: does not link" acpp --acpp-targets="$target" "$tmp/$1.o" \
            "$build/09_sycl_kernels.o" -pthread -o "$tmp/$1"
}

# rows NAME STATUS FILE: how many there are
rows() { grep -cE "^[0-9]+,[^,]*,[^,]*,\"$1, [^\"]*\",$backend,[^,]*,$2," "$3"; }

# ---- as it is ----
# shellcheck disable=SC2086 # options
"$build/09_sycl" $quickly --csv "$tmp/rows.csv" >"$tmp/table" 2>&1
check "exit code" test $? -eq 0
for name in gpumb SYCL; do
    check "$name: not four verified rows" \
        test "$(rows $name 'ok,,yes' "$tmp/rows.csv")" -eq 4
done
check "no ratio" has ' x gpumb, (gcc|clang|nvcc) [0-9.]+ ' "$tmp/table"
"$build/09_sycl" --nosuch >"$tmp/out" 2>"$tmp/err"
check "a wrong option: exit code" test $? -eq 2

# ---- kernels that are wrong: gpumb's own rows stay, those in SYCL fail ----
mkdir "$tmp/wrong"
cp $source examples/09_sycl_compiler.h "$tmp/wrong"
sed "s/out\[i\] = in\[i\]/out[i] = in[0]/; s/get_group(0)\] = x/& + 1/; s/d\.z()/d.y()/" \
    examples/09_sycl.h >"$tmp/wrong/09_sycl.h"
if build wrong.run "$tmp/wrong/09_sycl.cpp"; then
    # shellcheck disable=SC2086
    "$tmp/wrong.run" $quickly --csv "$tmp/wrong.csv" >"$tmp/out" 2>"$tmp/err"
    check "wrong kernels: exit code" test $? -eq 1
    check "wrong kernels: not four failed rows" test "$(rows SYCL failed "$tmp/wrong.csv")" -eq 4
    check "wrong kernels: rows of gpumb's own" test "$(rows gpumb ok "$tmp/wrong.csv")" -eq 4
fi

# ---- queues that gpumb does not know of ----
# run_changed NAME SED: the example, changed by it
run_changed()
{
    sed "$2" $source >"$tmp/$1.cpp"
    check "$1: nothing changed" not cmp -s $source "$tmp/$1.cpp"
    # shellcheck disable=SC2086
    build "$1" "$tmp/$1.cpp" &&
        "$tmp/$1" $quickly --csv "$tmp/$1.csv" >"$tmp/out" 2>"$tmp/err"
}
# The body waits nowhere, on the CPU neither: what is kept back is missing when it is looked for.
at_once='/if (!stream)/,+1d'
for change in 'out-of-order s/{sycl::property::queue::in_order(),.*/{/' \
    'kept-back s/ACPP_ALLOW_INSTANT_SUBMISSION 1/ACPP_ALLOW_INSTANT_SUBMISSION 0/'; do
    name=${change%% *}
    run_changed "$name" "$at_once; ${change#* }"
    check "$name: exit code" test $? -eq 1
    check "$name: not four rows that say why" test "$(rows SYCL \
        'failed,"it works on another stream than gpumb_stream\(\), or later: see sycl.md"' \
        "$tmp/$name.csv")" -eq 4
    check "$name: rows of gpumb's own" test "$(rows gpumb ok "$tmp/$name.csv")" -eq 4
done
if [ "$backend" != cuda ]; then
    skip "other streams: the CPU has none"
else
    run_changed foreign '/if (stream)/,+1d'
    said=$(grep -c 'it launches nothing there' "$tmp/err")
    grep -vE 'other-streams|host-bound' "$tmp/foreign.csv" >"$tmp/told.csv"
    check "another stream: neither a failed row nor a line" \
        test $((said + $(rows SYCL failed "$tmp/foreign.csv"))) -ge 4
    check "another stream: a row that says nothing" \
        not grep -E ',"SYCL, [^"]*",[^,]*,[^,]*,ok,' "$tmp/told.csv"
    if [ "$(nvidia-smi -L | grep -c '^GPU')" -gt 1 ]; then
        # shellcheck disable=SC2086
        "$build/09_sycl" --device 1 $quickly >"$tmp/out" 2>"$tmp/err"
        check "another device: exit code" test $? -eq 2
        check "another device: no line" \
            has "a stream of device 0 can't be timed on device 1" "$tmp/err"
    else
        skip "a stream of another device needs two"
    fi
fi

finish
