#!/bin/sh
# What gpumb.h costs the compiler: instructions of all of nvcc's processes (valgrind's cachegrind),
# and seconds, the median of five interleaved rounds; of the CUDA runtime's header alone, of a
# program that only declares, and of the README's first program and its sweep. As CSV.
# Usage: bench/include_cost.sh [--instructions | --seconds] [nvcc options]
# With --instructions UNITS names some of these four.
set -eu
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$(command -v "$nvcc")" ] ||
    { echo "include_cost: nvcc not found: install the CUDA toolkit" >&2; exit 3; }
wanted=both
case ${1:-} in
--instructions | --seconds)
    wanted=${1#--}
    shift
    ;;
esac
[ "$wanted" = seconds ] || command -v valgrind >/dev/null ||
    { echo "include_cost: valgrind not found: install it, or ask for --seconds" >&2; exit 3; }
[ $# -gt 0 ] || set -- -O3 -arch=sm_90 -std=c++17
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

program() # NUMBER: the C++ program of the README that is so many
{
    awk -v wanted="$1" '/^```cpp/ { on = ++n == wanted; next } /^```/ { on = 0 } on' \
        "$here/README.md"
}
echo '#include <cuda_runtime.h>' >"$work/runtime.cu"
echo '#include "gpumb.h"' >"$work/declarations.cu"
program 1 >"$work/one_off.cu"
program 2 >"$work/sweep.cu"
units="runtime declarations one_off sweep"
[ "$wanted" != instructions ] || units=${UNITS:-$units}

compile() # UNIT OPTIONS...: by nvcc, or by what $under names and nvcc
{
    unit=$1
    shift
    # shellcheck disable=SC2086 # words
    $under "$nvcc" "$@" -I "$here" -c "$work/$unit.cu" -o "$work/$unit.o" \
        >"$work/output" 2>&1 || { cat "$work/output" >&2; exit 1; }
}

for unit in $units; do
    [ "$wanted" != seconds ] || continue
    mkdir "$work/counts"
    under="valgrind --quiet --tool=cachegrind --cache-sim=no --trace-children=yes \
        --log-file=/dev/null --cachegrind-out-file=$work/counts/%p"
    compile "$unit" "$@"
    awk '/^summary:/ { sum += $2 } END { printf "%.0f\n", sum }' "$work"/counts/* \
        >"$work/$unit.instructions"
    rm -r "$work/counts"
done
under=''

for round in warm-up 1 2 3 4 5; do
    for unit in $units; do
        [ "$wanted" != instructions ] || continue
        before=$(date +%s%N)
        compile "$unit" "$@"
        after=$(date +%s%N)
        [ "$round" = warm-up ] || echo $(((after - before) / 1000000)) >>"$work/$unit.ms"
    done
done

release=$("$nvcc" --version | sed -n 's/.*release [0-9.]*, V//p')
host=$(${CXX:-g++} -dumpfullversion)
echo "unit,instructions,median_s,over_runtime,nvcc,gcc,options"
for unit in $units; do
    seconds='' ratio=''
    if [ "$wanted" != instructions ]; then
        seconds=$(sort -n "$work/$unit.ms" | sed -n 3p)
        base=$(sort -n "$work/runtime.ms" | sed -n 3p)
        ratio=$(awk -v s="$seconds" -v b="$base" 'BEGIN { printf "%.2f", s / b }')
        seconds=$(awk -v s="$seconds" 'BEGIN { printf "%.3f", s / 1000 }')
    fi
    instructions=$(cat "$work/$unit.instructions" 2>/dev/null || true)
    echo "$unit,$instructions,$seconds,$ratio,$release,$host,$*"
done
