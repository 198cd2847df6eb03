#!/bin/sh
# test_python_build.sh - the Python module compiles its library for the GPU by itself, once; with it
# test_python_gpu.sh, which is alone there, need not wait for the compiler.
# shares the GPU: no time is looked at
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
build=${TEST_BUILD:-build/cpu}

import() # FILE: what it says
{
    env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=examples/python XDG_CACHE_HOME="$build/python" \
        python3 -c 'import gpumb; print(gpumb.time(lambda: None, budget_s=0.05, warmup_s=-1))' \
        >"$1" 2>&1
}

if [ "$build" = build/cpu ]; then
    skip "no GPU"
elif has_python; then
    rm -rf "$build/python"
    check "the library" import "$tmp/first"
    check "no line says that it is compiled" test "$(grep -c 'compiles gpumb.h once, by .*, into ' \
        "$tmp/first")" -eq 1
    check "the library, once more" import "$tmp/second"
    check "it is compiled again" not grep -q compiles "$tmp/second"
else
    skip "no Python 3.9"
fi

finish
