#!/bin/sh
# test_bench_rest.sh - the other benchmarks in a tiny configuration: how well times are measured,
# launches, grids of points, the host; and the examples with --strict. See benches.sh.
# shares the GPU: rows, checks and files are looked at; with --strict the shortest of several times
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
. tests/benches.sh

bench floor 2 block,blocks,us 3 --filter floor/span/chosen --filter floor/result --axis blocks=1 \
    --axis us=1000
again floor --filter floor/span/chosen --filter floor/result --axis blocks=1 --axis us=1000
bench floor 6 trial 3 --filter floor/compare --axis trial=1
check "floor: not compared with the first of two" test "$(
    grep -cE ',first,([0-9.e+-]+,){3}(undecided|faster|slower|same),' "$tmp/bench.csv")" -eq 3
bench floor 19 trial 7 --filter floor/equal --filter floor/idle --filter floor/cache --axis trial=1
bench launch "$(of 13 15)" loading,way,argument_bytes,launches,us,shape 5 --filter launch/interval \
    --filter launch/process --filter launch/diamond --axis way=stream \
    --axis argument_bytes=0,4,2048,4096 --axis launches=1,13 --axis loading=lazy --axis us=0,3 \
    --axis 'shape=one stream'

bench jacobi 42 type,n 4 --filter stencil/jacobi --axis n=3,65,514
bench jacobi "$(of 36 20)" type,n,sweeps,chunk 2 --filter stencil/blocking --axis n=2,101 \
    --axis chunk=7,64
bench jacobi "$(of 16 32)" n,block,rows_each 1 --full --filter stencil/mapping --axis n=2,67
bench gauss_seidel 4 n,layout 1 --filter stencil/gauss_seidel --axis n=3,66
bench conjugate_gradients "$(of 4 6)" n,scalars 2 --filter stencil/cg --axis n=3,33
bench solvers 4 n,method 1 --filter stencil/solve --axis n=9

timeout 100 "$build/mistakes" --precision 1e6 --budget 100 --warmup 0 --samples 6:6 \
    --json "$tmp/bench.json" >"$tmp/bench.out" 2>"$tmp/bench.err" </dev/null
check "mistakes: exit code $?" test $? -eq 0
again mistakes
check "mistakes: not nine factors and a pair" test "$(grep -c . "$tmp/bench.again")" -ge 10
check "mistakes: a result that is unused is not told by its flag" \
    grep -q 'result unused: [0-9.e+-]* of the right rate; flagged unverified' "$tmp/bench.again"
check "mistakes: another is not checked" test "$(grep -c unverified "$tmp/bench.again")" -eq 1
for name in mistakes 02_sweep 03_own_kernel 04_c_host 06_template 07_trace; do
    strictly $name
done
strictly 05_transfer --axis from=pinned --axis to=device

# On the host, whatever the backend: fewer elements than threads, and all that is no multiple.
build=build/cpu threads=1 twice=1
"$build/host" --filter host/copy --axis n=1 --axis threads=2 | grep -q '1 ok' && threads=1,2 twice=2
bench host $((5 * twice)) n,threads 0 --filter host/copy --axis n=1,2,31,65,1000003 \
    --axis threads=$threads
bench host $((8 * twice)) type,n,threads 0 --filter host/sum --axis n=1,65,16385,1000003 \
    --axis threads=$threads
bench host $((5 * twice)) n,threads 0 --filter host/jacobi --axis n=1,2,3,37,100 \
    --axis threads=$threads
bench host $((5 * twice)) n,threads $((twice - 1)) --filter host/nbody --axis n=1,3,33,100,1001 \
    --axis threads=$threads

finish
