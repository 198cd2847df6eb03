#!/bin/sh
# test_include_cost.sh - what the header costs the compiler is, within 3 %, what
# bench/results/include-cost.csv has, and at most the limits below; in instructions, with the nvcc
# and the gcc of that file. The CUDA runtime's header alone is theirs, and not counted again.
cd "$(dirname "$0")/.." || exit 1
stored=bench/results/include-cost.csv
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

skip() # WHY
{
    echo "test_include_cost.sh: skipped: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
command -v "$nvcc" >/dev/null || skip "no nvcc"
command -v valgrind >/dev/null || skip "no valgrind"
compilers=$("$nvcc" --version | sed -n 's/.*release [0-9.]*, V//p'),$(${CXX:-g++} -dumpfullversion)
grep -qF ",$compilers," "$stored" || skip "$stored is of another nvcc or gcc than $compilers"

out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
trap 'kill $!; exit 1' HUP INT TERM
UNITS='declarations one_off sweep' bench/include_cost.sh --instructions >"$out" 2>&1 &
wait $! || { cat "$out"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
awk -F, '
    BEGIN { limit["declarations"] = 3.75e9; limit["one_off"] = 7.4e9; limit["sweep"] = 9.6e9 }
    FNR == 1 { next }
    NR == FNR { stored[$1] = $2; next }
    {
        off = $2 / stored[$1] - 1
        right = stored[$1] > 0 && off < 0.03 && off > -0.03 && (!($1 in limit) || $2 <= limit[$1])
        passed += right
        failed += !right
        if (!right)
            printf "failed: %s: %.0f instructions, stored are %.0f, limit %.0f\n", $1, $2,
                stored[$1], limit[$1]
    }
    END {
        failed += passed + failed != 3
        printf "%d passed, %d failed, 0 skipped\n", passed, failed
        exit failed > 0
    }' "$stored" "$out"
