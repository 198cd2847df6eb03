#!/bin/sh
# test_amd.sh - runs the AMD machine code of the reference kernels, and of the benchmark of matrix
# units, on the CPU, in the executor of tests/amd, and demands that it notices when the header is
# broken.
#     HIPCC         the compiler; hipcc
#     MORE_HIPCC    others, which may know more targets
#     HIP_ARCHS     what to compile for; "gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201"
#     SEEDS         how often, each with another order of events; "1"
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

find_hipcc() { hipcc=$(command -v "$1" || command -v "/opt/rocm/bin/$1"); }

# the disassembler that belongs to the compiler: an older one misses instructions
find_objdump()
{
    "$hipcc" --version >"$tmp/version" 2>/dev/null
    number=$(sed -n 's/.*clang version \([0-9]*\).*/\1/p' "$tmp/version")
    folder=$(sed -n 's/^InstalledDir: //p' "$tmp/version")
    objdump=$(command -v "${hipcc%/*}/llvm-objdump-$number" || command -v "llvm-objdump-$number" ||
        command -v "$folder/llvm-objdump" || command -v llvm-objdump)
}

# compile ARCH UNIT: its code object is $tmp/ARCH
compile()
{
    "$hipcc" -std=c++17 -O3 --offload-arch="$1" --cuda-device-only --no-gpu-bundle-output -c -I. \
        -x hip "$2" -o "$tmp/$1" >"$tmp/log" 2>&1
}

find_hipcc "${HIPCC:-hipcc}" || {
    skip "no hipcc"
    finish
}

# Optimised for vectors of 64 lanes; rounding is to be that of the kernels.
for program in kernels tensor; do
    if ! ${CXX:-c++} -std=c++17 -O1 -ftree-vectorize -ffp-contract=off -Wall -Wextra -I. \
        "tests/amd/$program.cpp" -o "$tmp/$program" >"$tmp/log" 2>&1; then
        fail "the executor does not compile: $program" "$tmp/log"
        finish
    fi
done

# All reductions, and n-body forms with most and fewest registers and each of the roots.
cat >"$tmp/unit.hip" <<'END_OF_UNIT'
#define GPUMB_REDUCTIONS(X) GPUMB_ALL_REDUCTIONS(X)
#define GPUMB_NBODY_FORMS(X) \
    X(1, 1, LIBRARY) X(1, 1, INTEGER) X(1, 1, APPROXIMATE) X(4, 4, LIBRARY) X(4, 4, INTEGER) \
    X(4, 4, APPROXIMATE) X(8, 8, LIBRARY) X(8, 8, INTEGER) X(8, 32, APPROXIMATE)
#define GPUMB_NBODY_PAIRS(X) X(1, 1) X(4, 2) X(8, 2) X(8, 4)
#define GPUMB_COPY
#define GPUMB_STRIDED
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
END_OF_UNIT
echo '__global__ void nothing() {}' >"$tmp/nothing.hip"

archs=${HIP_ARCHS:-gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201} known=
for compiler in "${HIPCC:-hipcc}" ${MORE_HIPCC:-}; do
    if ! find_hipcc "$compiler" || ! find_objdump; then
        skip "no $compiler, or no llvm-objdump of its own"
        continue
    fi
    for arch in $archs; do
        if ! compile "$arch" "$tmp/unit.hip"; then
            cp "$tmp/log" "$tmp/why"
            compile "$arch" "$tmp/nothing.hip" && fail "$arch: does not compile" "$tmp/why"
            continue
        fi
        known="$known $arch "
        "$objdump" -d "$tmp/$arch" >"$tmp/$arch.text"
        for seed in ${SEEDS:-1}; do
            count "$arch, clang $number, seed $seed" "$tmp/kernels" "$tmp/$arch" \
                "$tmp/$arch.text" "$seed"
            sed -n "s/^[0-9]* kernels/$arch, clang $number: &/p
                s/.* \(skipped: \)/$arch, clang $number: \1/p" "$tmp/check"
        done
        case $arch in
        gfx90a | gfx942) # that have mfma
            if compile "$arch" bench/tensor.cu; then
                "$objdump" -d "$tmp/$arch" >"$tmp/$arch.text"
                for seed in ${SEEDS:-1}; do
                    count "$arch, clang $number, seed $seed: chains of products" "$tmp/tensor" \
                        "$tmp/$arch" "$tmp/$arch.text" "$seed"
                done
            else
                fail "$arch: bench/tensor.cu does not compile" "$tmp/log"
            fi
            ;;
        esac
        case $arch in
        gfx90a | gfx1030) continue ;; # some for each, below
        esac
        if command -v python3 >/dev/null; then
            count "$arch: broken headers" python3 tests/amd/broken.py "$hipcc" "$objdump" \
                "$tmp/kernels" "$arch" 1 3 7 9 12 17 20
        fi
    done
done
for arch in $archs; do
    case $known in
    *" $arch "*) ;;
    *) skip "$arch: no compiler here knows it" ;;
    esac
done

find_hipcc "${HIPCC:-hipcc}" && find_objdump
if command -v python3 >/dev/null; then
    count "broken headers" python3 tests/amd/broken.py "$hipcc" "$objdump" "$tmp/kernels"
else
    skip "broken headers: no python3"
fi
finish
