#!/bin/sh
# test_bench_memory.sh - the benchmarks of memory in a tiny configuration: see benches.sh.
# shares the GPU: rows, checks and files are looked at; with --strict the shortest of several times
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
. tests/benches.sh

bench strided 8 elem,stride,geometry 2 --axis elem=4,16 --axis stride=1,4
bench offset 14 subdomains,iterations,elem,lanes,where,offset 5 --axis subdomains=32 \
    --axis iterations=1,4 --axis lanes=1,4 --axis elem=16 --axis offset=0,1
# What its conclusions are made of, only NVIDIA's devices count.
bench counters "$(of 15 16)" elem,stride,where,offset,lanes,iterations,mode,footprint,form 0 \
    --axis elem=4 --axis stride=1,4 --axis offset=0,1 --axis lanes=4 --axis iterations=1,4 \
    --axis footprint=16384 --axis "form=4 x 16 approximate"

strictly copy --filter copy/grid --axis elem=16 --axis blocks=16
strictly zcopy --filter zcopy/best --axis mode=readwrite
strictly zcopy --filter zcopy/working_set --axis footprint=16384

# What is not there is not concluded from.
plainly strided 2 elem,stride 0 --filter strided/memory --axis elem=16 --axis stride=2,3
plainly offset 2 elem,where,offset 0 --filter misaligned --axis elem=16 --axis where=read \
    --axis offset=1,2

finish
