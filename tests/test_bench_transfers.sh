#!/bin/sh
# test_bench_transfers.sh - the benchmarks of transfers and of kinds of memory in a tiny
# configuration: see benches.sh.
# shares the GPU: rows, checks and files are looked at
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
. tests/benches.sh

bench transfer 21 path,size 7 --axis size=1,4097,1000003
bench memory_kinds 8 mode,elem,block,blocks 1 --filter zero_copy --axis elem=4 --axis block=1,33 \
    --axis blocks=1,3
bench memory_kinds 24 mode,pages,blocks 4 --filter managed --axis blocks=1,3
bench memory_kinds 4 distance,touched 1 --filter migration --axis distance=4096 \
    --axis touched=1,2,33,1000

finish
