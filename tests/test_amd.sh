#!/bin/sh
# test_amd.sh - runs the reference kernels' AMD machine code on the CPU, in the executor of
# tests/amd, and demands that it notices when the header is broken.
#     HIP_ARCHS     what to compile for; "gfx90a gfx1030", with waves of 64 and 32
#     SEEDS         how often, each with another order of events; "1"
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

hipcc=$(command -v "${HIPCC:-hipcc}" || command -v /opt/rocm/bin/hipcc) || {
    skip "no hipcc"
    finish
}
# the disassembler that belongs to the compiler: an older one misses instructions
"$hipcc" --version >"$tmp/version" 2>/dev/null
number=$(sed -n 's/.*clang version \([0-9]*\).*/\1/p' "$tmp/version")
folder=$(sed -n 's/^InstalledDir: //p' "$tmp/version")
objdump=$(command -v "llvm-objdump-$number" || command -v "$folder/llvm-objdump" ||
    command -v llvm-objdump) || {
    skip "no llvm-objdump"
    finish
}

# Optimised for vectors of 64 lanes; rounding is to be that of the kernels.
if ! ${CXX:-c++} -std=c++17 -O1 -ftree-vectorize -ffp-contract=off -Wall -Wextra -I. \
    tests/amd/kernels.cpp -o "$tmp/kernels" >"$tmp/log" 2>&1; then
    fail "the executor does not compile" "$tmp/log"
    finish
fi

# All reductions, and n-body forms with most and fewest registers and each of the roots.
cat >"$tmp/unit.hip" <<'END_OF_UNIT'
#define GPUMB_REDUCTIONS(X) GPUMB_ALL_REDUCTIONS(X)
#define GPUMB_NBODY_FORMS(X) \
    X(1, 1, LIBRARY) X(1, 1, INTEGER) X(1, 1, APPROXIMATE) X(4, 4, LIBRARY) X(4, 4, INTEGER) \
    X(4, 4, APPROXIMATE) X(8, 8, LIBRARY) X(8, 8, INTEGER) X(8, 32, APPROXIMATE)
#define GPUMB_NBODY_PAIRS(X) X(1, 1) X(4, 2) X(8, 2) X(8, 4)
#define GPUMB_STRIDED
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
END_OF_UNIT
for arch in ${HIP_ARCHS:-gfx90a gfx1030}; do
    if ! "$hipcc" -std=c++17 -O3 --offload-arch="$arch" --cuda-device-only \
        --no-gpu-bundle-output -c -I. -x hip "$tmp/unit.hip" -o "$tmp/$arch" >"$tmp/log" 2>&1; then
        fail "$arch: does not compile" "$tmp/log"
        continue
    fi
    "$objdump" -d "$tmp/$arch" >"$tmp/$arch.text"
    for seed in ${SEEDS:-1}; do
        count "$arch, seed $seed" "$tmp/kernels" "$tmp/$arch" "$tmp/$arch.text" "$seed"
        sed -n "s/^[0-9]* kernels/$arch: &/p" "$tmp/check"
    done
done

if command -v python3 >/dev/null; then
    count "broken headers" python3 tests/amd/broken.py "$hipcc" "$objdump" "$tmp/kernels"
else
    skip "broken headers: no python3"
fi
finish
