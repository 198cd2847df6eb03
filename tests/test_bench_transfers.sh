#!/bin/sh
# test_bench_transfers.sh - the benchmarks of transfers and of kinds of memory in a tiny
# configuration: see benches.sh.
# shares the GPU: rows, checks and files are looked at
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
. tests/benches.sh

bench transfer 21 path,size 7 --axis size=1,4097,1000003
bench memory_kinds 36 mode,elem,block,blocks,pages,distance,touched 6 --axis elem=4 \
    --axis block=1,33 --axis blocks=1,3 --axis distance=4096 --axis touched=1,2,33,1000

finish
