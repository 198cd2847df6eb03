#!/bin/sh
# test_pair_asan.sh - test_pair.sh with programs that are built with sanitizers.
TEST_BUILD=build/cpu-asan
export TEST_BUILD
exec sh "$(dirname "$0")/test_pair.sh"
