#!/bin/sh
# test_driver.sh - the functions of NVIDIA's driver that gpumb.h opens at run time have the types,
# and the versions of their names, that cuda.h has. CUDA_H: folders of other versions' cuda.h.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

# The types and the table of functions, as they stand in BACKEND.
sed -n '/^\/\* CUlaunchConfig and /,/^static struct gpumbi_driver {/ { /^static/d; p; }' gpumb.h \
    >"$tmp/driver.h"
check "gpumb.h has no GPUMBI_DRIVER_FUNCTIONS() there" has GPUMBI_DRIVER_FUNCTIONS "$tmp/driver.h"
printf '#include "driver.h"\n#define LINE(member, types, symbol) member symbol\n%s\n' \
    'GPUMBI_DRIVER_FUNCTIONS(LINE)' >"$tmp/lines.cpp"
${CXX:-g++} -E -P -I"$tmp" "$tmp/lines.cpp" | grep -oE '[a-z_]+ "cu[A-Za-z0-9_]+"' |
    tr -d '"' >"$tmp/functions"
check "not the 15 functions" test "$(wc -l <"$tmp/functions")" -eq 15

# Without these there is another way, or less is told; they came with CUDA 12.
newer='cuKernelGetFunction cuFuncGetName cuGraphKernelNodeGetParams_v2'

# agrees FOLDER
agrees() {
    version=$(sed -n 's/^#define CUDA_VERSION //p' "$1/cuda.h")
    : >"$tmp/symbols.h"
    while read -r member symbol; do
        if grep -qE "CUDAAPI $symbol\(|^ *#define +cu[A-Za-z]+ +$symbol\$" "$1/cuda.h"; then
            echo "DRIVER_FUNCTION($member, $symbol)" >>"$tmp/symbols.h"
        else
            check "CUDA $version has no $symbol" expr " $newer " : ".* $symbol "
        fi
    done <"$tmp/functions"
    check "CUDA $version: fewer than 12 functions" test "$(wc -l <"$tmp/symbols.h")" -ge 12
    check "CUDA $version: other types" "${CXX:-g++}" -std=c++17 -fsyntax-only -Wno-unused \
        -I"$tmp" -isystem "$1" -DDRIVER='"driver.h"' -DSYMBOLS='"symbols.h"' tests/driver.cpp &&
        echo "CUDA $version: $(wc -l <"$tmp/symbols.h") functions agree"
}

nvcc=$(command -v "${NVCC:-nvcc}" || command -v /usr/local/cuda/bin/nvcc)
toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
none=1
for folder in "$toolkit/include" ${CUDA_H:-}; do
    [ -f "$folder/cuda.h" ] || continue
    none=
    agrees "$folder"
done
[ -z "$none" ] || skip "no cuda.h: nothing to compare with"
finish
