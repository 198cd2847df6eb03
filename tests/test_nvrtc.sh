#!/bin/sh
# test_nvrtc.sh - the example that compiles at run time: `make nvrtc` says what is missing; without
# a GPU, what NVRTC makes holds each instance by its lowered name; on a GPU all rows are verified.
# shares the GPU: results are compared, not times
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

build=${TEST_BUILD:-build/cpu}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

check "more than 90 lines" test "$(wc -l <examples/10_nvrtc.cu)" -le 90
make BACKEND=cpu NVCC= nvrtc >"$tmp/out" 2>&1
check "make nvrtc without nvcc: exit code" test $? -eq 0
check "make nvrtc without nvcc: what is missing" has '^skipped nvrtc: .*nvcc' "$tmp/out"

# The flags that make builds it with; none: it can't be had here.
flags=$(make -s BACKEND=cpu NVCC="$nvcc" nvrtc_flags)
if [ -z "$flags" ]; then
    skip "no nvcc, nvrtc.h or libnvrtc"
    finish
fi
gpu=$([ "$build" = build/cuda ] && echo gpu)
# shellcheck disable=SC2086 # words
if check "nvrtc.cpp does not compile" "$nvcc" -arch=sm_90 -std=c++17 -I. -O0 -x cu tests/nvrtc.cpp \
    -o "$tmp/nvrtc" $flags; then
    count "nvrtc.cpp" "$tmp/nvrtc" $gpu
fi

if [ -z "$gpu" ]; then
    skip "running it: no $build for it"
    finish
fi
"$build/10_nvrtc" --budget 0.2 --csv "$tmp/rows.csv" >"$tmp/table" 2>&1
check "exit code $?: $(tail -n 5 "$tmp/table")" test $? -eq 0
check "not 24 verified rows" test "$(grep -cE ',cuda,[^,]*,ok,,yes,' "$tmp/rows.csv")" -eq 24
check "no ratio" has ' [0-9.]+ x nvcc, float4, 4 [(][0-9.]+ ' "$tmp/table"
finish
