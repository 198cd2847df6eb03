#!/bin/sh
# test_attacks.sh - some of the attacks in tests/attacks, by attacks.py: what is said to be caught
# is not accepted, and ends for the reason that its file names; device code is compiled. `make
# attacks` tries them all, many times.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
command -v python3 >/dev/null 2>&1 || { skip "no python3"; finish; }
export CXX="${CXX:-c++}"

for kind in host device; do
    found=$(find tests/attacks/$kind -name '*.cu' | wc -l)
    check "fewer than 20 attacks: $kind" test "$found" -ge 20
done
count "against the grader" python3 tests/attacks.py host --runs 1 exits_early exit_code_zero \
    describes_the_reference kills_the_judge easier_expectation cheap_formula

# It sees what is accepted though its file says something else, and what ends otherwise.
mkdir "$tmp/host"
cp tests/attacks/honest.h "$tmp"
edit() { sed "s|^// strict: .*|// strict: $3|" "tests/attacks/host/$1.cu" >"$tmp/host/$2.cu"; }
edit forged_json accepted 'caught: no JSON'
edit forged_json gains 'prevented: as if it were'
edit throws otherwise 'caught: no JSON'
python3 tests/attacks.py host --folder "$tmp" --runs 1 >"$tmp/said" 2>&1
check "it accepts what is accepted" has '^0 passed, 3 failed, 0 skipped$' "$tmp/said"
check "and does not say so" test "$(grep -c 'WRONG: ACCEPTED' "$tmp/said")" -eq 2
check "any reason will do" has 'WRONG: ended otherwise: .*signal 6' "$tmp/said"

if command -v "${NVCC:-nvcc}" >/dev/null 2>&1; then
    count "device code" python3 tests/attacks.py compile gelu_large_variable gelu_bf16 \
        gelu_waits_for_all_blocks matmul_tf32 transpose_whole_tiles
    for name in thread_behind works_in_a_signal one_core_for_the_reference; do # --gpu compiles all
        check "host code for a GPU: $name" "${NVCC:-nvcc}" -arch=sm_90 -std=c++17 -I. \
            -Werror all-warnings -c tests/attacks/host/$name.cu -o "$tmp/object"
    done
else
    skip "device code: no nvcc"
fi
finish
