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

elsewhere=$build/11_elsewhere quick='--budget 100 --warmup 0.01 --samples 6:6'
"$elsewhere" nosuch >"$tmp/out" 2>"$tmp/err"
check "11_elsewhere: the exit code of what is no FILE:THREADS:ELEMENTS" test $? -eq 2
check "11_elsewhere: what is wrong" has '^11_elsewhere: nosuch is no FILE:' "$tmp/err"
# shellcheck disable=SC2086 # words
"$elsewhere" "$tmp/nosuch:32:32" $quick >"$tmp/out" 2>"$tmp/err"
check "11_elsewhere: a file that is not there: the others' rows" \
    has '^by hand .*(GB/s|[0-9])' "$tmp/out"
check "11_elsewhere: a file that is not there" \
    has 'nosuch .*skipped: gpumb_load: (.*No such file|the CPU has no code)' "$tmp/out"

finish
