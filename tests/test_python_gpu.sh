#!/bin/sh
# test_python_gpu.sh - the Python module with the frameworks that are here, on a GPU. It looks at
# times, and at the way that was chosen for them, so that it is alone there.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

if [ "${TEST_BUILD:-build/cpu}" = build/cpu ]; then
    skip "no GPU"
elif has_python; then
    # with the library that test_python_build.sh has compiled, where it ran before
    count "tests/python_gpu.py" env PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME="$TEST_BUILD/python" \
        python3 tests/python_gpu.py
else
    skip "no Python 3.9"
fi

finish
