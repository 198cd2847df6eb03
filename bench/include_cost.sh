#!/bin/sh
# What including gpumb.h costs the compiler: wall time of a unit with it over one with the CUDA
# runtime header alone. Interleaved, five rounds, medians in seconds.
# Usage: bench/include_cost.sh [nvcc options]
set -eu
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "include_cost: nvcc not found: install the CUDA toolkit" >&2; exit 3; }
[ $# -gt 0 ] || set -- -O3 -arch=sm_90 -std=c++17
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

echo '#include <cuda_runtime.h>' > "$work/runtime.cu"
echo '#include "gpumb.h"' > "$work/declarations.cu"
printf '#define GPUMB_IMPLEMENTATION\n#define GPUMB_NO_KERNELS\n#include "gpumb.h"\n' \
    > "$work/no_kernels.cu"
printf '#define GPUMB_IMPLEMENTATION\n#include "gpumb.h"\n' > "$work/implementation.cu"
variants="runtime declarations no_kernels implementation"

for round in warm-up 1 2 3 4 5; do
    for variant in $variants; do
        before=$(date +%s%N)
        "$nvcc" "$@" -I "$here" -c "$work/$variant.cu" -o "$work/$variant.o"
        after=$(date +%s%N)
        [ "$round" = warm-up ] || echo $(( (after - before) / 1000000 )) >> "$work/$variant.ms"
    done
done

median() { sort -n "$1" | sed -n 3p; }
base=$(median "$work/runtime.ms")
echo "variant,median_s,over_runtime_s,target_s"
for variant in $variants; do
    case $variant in
        runtime) target='' ;;
        declarations) target=0.1 ;;
        no_kernels) target=0.3 ;;
        implementation) target=0.5 ;;
    esac
    median "$work/$variant.ms" |
        awk -v v="$variant" -v b="$base" -v t="$target" \
            '{ printf "%s,%.3f,%.3f,%s\n", v, $1 / 1000, ($1 - b) / 1000, t }'
done
