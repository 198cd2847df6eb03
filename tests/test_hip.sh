#!/bin/sh
# test_hip.sh - what gpumb.h makes of AMD's runtime, without a GPU of AMD's: its code for HIP,
# compiled for the host, with a runtime that says what it is told (hip.cpp). HIPCC: the compiler.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

CXX=${CXX:-c++} HIPCC=${HIPCC:-hipcc}
command -v "$HIPCC" >/dev/null || {
    skip "no $HIPCC"
    finish
}
if check "hip.cpp by $HIPCC" "$HIPCC" -x hip --offload-host-only -std=c++14 -O0 -g -I. -Wall \
    -Wextra -Wno-unused-command-line-argument -c tests/hip.cpp -o "$tmp/hip.o"; then
    # the kernels' code is for no device to run: the linker does not find it
    check "hip.o, linked" "$CXX" "$tmp/hip.o" -o "$tmp/hip" -ldl -lm -pthread \
        -Wl,--unresolved-symbols=ignore-all
    count hip.cpp "$tmp/hip"
fi
finish
