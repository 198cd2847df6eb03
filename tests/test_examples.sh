#!/bin/sh
# test_examples.sh - runs the examples in $TEST_BUILD; test_pages.sh has the programs of the pages.
# shares the GPU: rows, files and what is printed are looked at, no times
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

build=${TEST_BUILD:-build/cpu}
case $build in /*) ;; *) build=$PWD/$build ;; esac
# shellcheck disable=SC2034 # for examples.sh
backend=$(basename "$build")
. tests/examples.sh

found=0
for source in examples/*.cu examples/*.c; do
    case $source in *'*'* | *_kernels.cu | *_nvrtc.cu) continue ;; esac # that: test_nvrtc.sh
    found=1
    name=$(basename "${source%.c*}")
    cat "$source" "examples/${name}_kernels.cu" >"$tmp/example.cu" 2>/dev/null
    if [ -x "$build/$name" ]; then
        run "$name" "$tmp/example.cu" "$build/$name"
    else
        check "$name: is not built in $build" false
    fi
done
[ $found -eq 1 ] || skip "nothing in examples"

finish
