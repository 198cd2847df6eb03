#!/bin/sh
# test_module_files.sh - code from elsewhere on a GPU: a kernel compiled apart, as machine code, as
# a bundle of it and as text, loaded, checked and timed: module_files.cu.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

case ${TEST_BUILD:-build/cpu} in
build/cuda)
    cat >"$tmp/scale.cu" <<'CODE'
extern "C" __global__ void scale(float *x, float by, int n)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        x[i] *= by;
}
extern "C" __global__ void other(float *x) { *x = 1; }
CODE
    for kind in cubin fatbin ptx; do
        check "nvcc -$kind" "${NVCC:-nvcc}" -arch=native "-$kind" "$tmp/scale.cu" \
            -o "$tmp/scale.$kind"
    done
    set -- "$tmp/scale.cubin" "$tmp/scale.fatbin" "$tmp/scale.ptx"
    ;;
*)
    skip "modules need a GPU of NVIDIA's"
    ;;
esac
if [ $# -gt 0 ]; then
    "$TEST_BUILD/tests/module_files" "$@" >"$tmp/out" 2>&1
    check "modules: exit code $?: $(cat "$tmp/out")" test $? -eq 0
    sed 's/^/    /' "$tmp/out"
    check "it has not checked anything" has '^[1-9][0-9]* passed, 0 failed' "$tmp/out"
fi

finish
