#!/bin/sh
# test_pair.sh - the programs for two devices and more, of $TEST_BUILD: all rows, each with its
# check of what has arrived. On the CPU two devices are pretended.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

build=${TEST_BUILD:-build/cpu}
PRETENDED_DEVICES=2
ASAN_OPTIONS=detect_stack_use_after_return=0 # takes too long with fibers, in which kernels run
export PRETENDED_DEVICES ASAN_OPTIONS

# pair NAME ROWS OK: no row fails; on the CPU there are so many, the others skipped
pair() {
    timeout 300 "$build/$1" --budget 100 --samples 6:6 --csv "$tmp/$1.csv" >"$tmp/out" 2>&1 \
        </dev/null
    code=$?
    case $build,$code in build/cuda,3 | build/hip,3)
        skip "$1: one device"
        return
        ;;
    esac
    check "$1: exit code $code: $(tail -n 3 "$tmp/out")" test $code -eq 0
    check "$1: a row failed" has '^[0-9]+ rows: [0-9]+ ok, [0-9]+ skipped, 0 failed$' "$tmp/out"
    check "$1: a row is not verified" not grep -q unverified "$tmp/$1.csv"
    case $build in
    build/cpu*) check "$1: not $2 rows, $3 of them ok" \
        has "^$2 rows: $3 ok, $(($2 - $3)) skipped, 0 failed\$" "$tmp/out" ;;
    esac
}

# replay NAME ROWS CONCLUSION: the stored rows of two H200
replay() {
    "$build/$1" --replay "bench/results/h200-$1.csv,bench/results/h200.json" >"$tmp/out" 2>&1 \
        </dev/null
    check "$1: replay: exit code $?" test $? -eq 0
    check "$1: replay: not $2 rows" has "^$2 rows: $2 ok, 0 skipped, 0 failed\$" "$tmp/out"
    check "$1: replay does not conclude '$3'" has "^  replayed: $3" "$tmp/out"
}

pair peers 66 62 # without bulk copies
pair peer_packets 16 16
pair peer_latency 8 8
pair pipeline 40 40
# shellcheck disable=SC2016 # what awk expands
[ ! -e "$tmp/pipeline.csv" ] || check "pipeline: a time of the host or a share of waits" awk -F , '
    { gsub(/"[^"]*"/, "") }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    !($at["host_us"] > 1e6 * $at["min_s"]) || !($at["consumer_waits_pct"] <= 100) { bad = 1 }
    END { exit bad || NR < 2 }' "$tmp/pipeline.csv"

case $build in build/cpu*)
    replay peers 236 'kernel writes, 8 x 16 B: '
    replay peer_packets 16 'kernel writes, fitted: a piece takes as long as its bytes and 16\.4 '
    replay peer_latency 12 'load from memory, from device 0 to 0: 30'
    replay pipeline 300 '.*word, local, 8 slots'
    ;;
esac

finish
