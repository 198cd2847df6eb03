#!/bin/sh
# test_bench_caches.sh - the benchmarks of streams, latencies and caches in a tiny configuration:
# see benches.sh.
# shares the GPU: rows, checks and files are looked at; with --strict the shortest of several times
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
. tests/benches.sh

bench stream 48 n,type,operation,elem,footprint 8 --filter stream/kernels --filter stream/gather \
    --axis n=1,1003 --axis elem=4,32 --axis footprint=16384,99999
bench stream 48 operation,words,block,n,elem,stride 3 --filter stream/geometry \
    --filter stream/shared --axis n=5,66573 --axis words=1,2,4 --axis block=1,64 \
    --axis stride=1,2,3,33

bench latency 9 stride_bytes,footprint 3 --filter latency/chase --axis stride_bytes=8,128,4096 \
    --axis footprint=4096,99999,1048577
bench latency 3 stride_bytes,footprint 1 --filter latency/tlb --axis stride_bytes=4096 \
    --axis footprint=4096,40960,100000
bench latency 4 access,footprint 4 --filter latency/lines --axis footprint=131072,1000000
bench latency 4 place,footprint 1 --filter latency/place --axis footprint=128,4100
bench atomics "$(of 20 21)" memory,adders,apart_bytes,words 3 --filter latency/atomic \
    --axis words=1,3,33,1000
# How many plateaus a chase has is the machine's matter.
"$build/latency" --filter latency/chase --filter latency/levels --axis stride_bytes=128 --warmup 0 \
    --axis footprint=1024,2048,4096,8192,8388608 --csv "$tmp/bench.csv" >"$tmp/bench.out" 2>&1
check "latency: plateaus as rows: exit code $?" grep -qE ' 0 skipped, 0 failed$' "$tmp/bench.out"
check "latency: a row is not verified" not grep -q unverified "$tmp/bench.csv"

bench transpose 8 side 1 --axis side=1,63,100,130
if [ "$build" != build/hip ]; then
    bench in_flight 6 way,kib 0 --filter in_flight/l2 --axis kib=4,16
    bench clusters "$(of 3 6)" access,cluster,rank,distance 0 --axis cluster="$(of 1 2)"
fi

finish
