#!/bin/sh
# test_python.sh - the Python module: rows, checks, exceptions, sweeps, programs, and how it finds
# and compiles its library.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

if python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    # shellcheck disable=SC2086  # words in $CXX are meant to split
    check "libgpumb.so" ${CXX:-c++} -std=c++17 -O1 -pthread -fPIC -shared -I. -x c++ \
        -DGPUMB_IMPLEMENTATION gpumb.h -o "$tmp/libgpumb.so"
    GPUMB_LIBRARY=$tmp/libgpumb.so
    export GPUMB_LIBRARY
    PYTHONDONTWRITEBYTECODE=1
    export PYTHONDONTWRITEBYTECODE
    count "tests/python_module.py" python3 tests/python_module.py
else
    skip "no Python 3.9"
fi

finish
