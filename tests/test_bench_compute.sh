#!/bin/sh
# test_bench_compute.sh - the benchmarks of algorithms and arithmetic in a tiny configuration: see
# benches.sh.
# shares the GPU: rows, checks and files are looked at; with --strict the shortest of several times
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
. tests/benches.sh

# Without the library, which is not everywhere, and with as many rows whatever the number of cores.
axes=block,blocks_per_sm,n,type,launch,combine,finish,elements_per_warp,warps,multiple,blocks
axes=$axes,value_type,operation
bench reduction 18 $axes 8 --filter geometry --filter size/naive --filter size/fastest \
    --filter variants --filter elements --filter types --axis block=64 --axis blocks_per_sm=1,4 \
    --axis n=65536 --axis type=u32,f32 --axis launch=stream \
    --axis "combine=shared tree,shuffle-down" --axis elements_per_warp=128 --axis warps=1,4 \
    --axis value_type=i32,f64 --filter blocks --axis multiple=1 --axis blocks=1000
bench nbody 10 form,splits,n 2 --filter nbody/size --filter nbody/steps --axis splits=0 \
    --axis n=1024,2048
bench nbody 15 n,form,block,bodies,unroll 3 --filter nbody/best --filter nbody/tile \
    --filter nbody/unroll --axis block=32,128 --axis unroll=1,16
bench nbody 5 bodies,unroll,root,pairs,block 3 --filter nbody/root --filter nbody/pairs \
    --axis unroll=4 --axis 'pairs=8 x 2,4 x 4' --axis block=256

# Of forms that are everywhere.
bench group_values 19 algorithm,type,threads 9 --filter block/shared --filter block/shuffles \
    --filter warp/shared --filter warp/shuffles --axis type=int32 --axis threads=64
bench group_votes 20 scope,vote,threads 6 --axis threads=64
bench group_ranges 36 over_range,access,element,each,threads 8 --axis element=int32 \
    --axis each=1,5 --axis threads=256
# A pair of fp16 has 4 FLOP and more.
bench roofline "$(of 13 16)" type,flop_per_word,placed 3 --axis flop_per_word=4,128,1024
bench units 11 operation 0

# Without the library, which is not everywhere.
bench scan 30 n,type,kind 2 --filter size/scan --filter size/copy --axis n=1,1003,70001
bench scan 3 n,form 1 --filter scan/form --axis n=20011 --axis form=256x8,256x16,256x32
bench histogram 18 n,data 3 --axis n=16,10007,65536
# Again without the library, and what is NVIDIA's not on AMD's devices.
steps=10 more=
[ "$build" = build/hip ] || steps=16 more='--filter steps/ahead --filter steps/tensor
    --filter steps/staged'
# shellcheck disable=SC2086 # several words
bench matmul $steps n 2 --filter steps/naive --filter steps/coalesced --filter steps/tiled \
    --filter steps/registers --filter steps/vectors $more --axis n=33,128
if [ "$build" != build/hip ]; then
    bench scan 1 n,form 0 --filter scan/form --axis n=200011 --axis form=ring
    bench matmul 2 type,n 2 --filter size/ahead --filter size/staged --axis n=100
    bench tensor 6 type,data 0 --filter tensor/mma --axis data=random
fi

finish
