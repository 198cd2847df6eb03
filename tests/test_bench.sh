#!/bin/sh
# test_bench.sh - runs benchmarks of $TEST_BUILD in a tiny configuration, with all their checks, and
# parses the files back.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

build=${TEST_BUILD:-build/cpu}

python3=$(command -v python3) || {
    skip "no python3 to read the files back"
}

# of CPU GPU: the one of this backend
of() { [ "$build" = build/cpu ] && echo "$1" || echo "$2"; }

all_ok() { # or says which rows are not
    grep -qE "^$rows rows?: $rows ok, 0 skipped, 0 failed\$" "$tmp/bench.out" || {
        grep -E '^[0-9]+ rows?: ' "$tmp/bench.out"
        grep -v ',ok,' "$tmp/bench.csv"
        false
    }
}

# bench NAME ROWS AXES NOTES ARGUMENT...: all rows are ok and verified (of floor,
# which computes nothing, only ok); at least so many conclusions
bench() {
    plainly "$@"
    name=$1
    shift 4
    strictly "$name" "$@"
}

# plainly: the same without --strict, where another line has these regions with it
plainly() {
    name=$1 rows=$2 axes=$3 notes=$4
    shift 4
    rm -f "$tmp"/bench.*
    # No row is noisy at this precision, so that conclusions are drawn from all of them.
    # And none has too few samples: their number ends it, however long they take.
    timeout 300 "$build/$name" "$@" --precision 1e6 --budget 100 --warmup 0 --samples 6:6 \
        --csv "$tmp/bench.csv" --json "$tmp/bench.json" --md "$tmp/bench.md" \
        >"$tmp/bench.out" 2>"$tmp/bench.err" </dev/null
    check "$name: exit code $?: $(head -n 3 "$tmp/bench.err")" test $? -eq 0
    check "$name: not all of $rows rows are ok" all_ok
    [ "$name" = floor ] ||
        check "$name: a row is not verified" not grep -q unverified "$tmp/bench.csv"
    found=$(grep -c '^- ' "$tmp/bench.md")
    check "$name: $found conclusions, not $notes and more" test "$found" -ge "$notes"
    check "$name: an unknown figure in a conclusion" not grep -qiE '^- .*\b(nan|inf)\b' \
        "$tmp/bench.md"
    if [ "$python3" ]; then
        check "$name: parse_back.py" python3 tests/parse_back.py --csv "$tmp/bench.csv" \
            --json "$tmp/bench.json" --md "$tmp/bench.md" --rows "$rows" --axes "$axes"
    fi
}

# strictly NAME ARGUMENT...: --strict accepts what is right, or says what it needs. What that
# depends on, what a region declares, does not follow from a number: of several the last one.
strictly() {
    name=$1
    shift
    for argument; do
        shift
        set -- "$@" "$(echo "$argument" | sed -E 's/^([a-z_]+=)([0-9]+,)+([0-9]+)$/\1\3/')"
    done
    timeout 300 "$build/$name" "$@" --strict --precision 1e6 --budget 100 --warmup 0 --samples 1:1 \
        --csv "$tmp/strict.csv" >"$tmp/strict.out" 2>&1 </dev/null
    check "$name --strict: exit code $?" test $? -le 1
    sed 1d "$tmp/strict.csv" >"$tmp/rows"
    check "$name --strict: no rows" test -s "$tmp/rows"
    check "$name --strict rejects what is right" \
        not grep -vE ',(ok|skipped),|,failed,"?--strict: ' "$tmp/rows"
    rm "$tmp/strict.csv"
}

# again NAME ARGUMENT...: what was measured last gives the same conclusions when it is replayed
again() {
    name=$1
    shift
    "$build/$name" "$@" --replay "$tmp/bench.json" 2>"$tmp/bench.err" |
        sed -n 's/^  replayed: /  /p' >"$tmp/bench.again"
    check "$name $*: no conclusions by replay" test -s "$tmp/bench.again"
    check "$name $*: other conclusions by replay" not grep -vxFf "$tmp/bench.out" "$tmp/bench.again"
}

bench strided 8 elem,stride,geometry 2 --axis elem=4,16 --axis stride=1,4
bench offset 14 subdomains,iterations,elem,lanes,where,offset 5 --axis subdomains=32 \
    --axis iterations=1,4 --axis lanes=1,4 --axis elem=16 --axis offset=0,1
# What its conclusions are made of, only NVIDIA's devices count.
bench counters "$(of 15 16)" elem,stride,where,offset,lanes,iterations,mode,footprint,form 0 \
    --axis elem=4 --axis stride=1,4 --axis offset=0,1 --axis lanes=4 --axis iterations=1,4 \
    --axis footprint=16384 --axis "form=4 x 16 approximate"
# Without the library, which is not everywhere, and with as many rows whatever the number of cores.
axes=block,blocks_per_sm,n,type,launch,combine,finish,elements_per_warp,warps,value_type,operation
bench reduction 16 $axes 8 --filter geometry --filter size/naive --filter size/fastest \
    --filter variants --filter elements --filter types --axis block=64 --axis blocks_per_sm=1,4 \
    --axis n=65536 --axis type=u32,f32 --axis launch=stream \
    --axis "combine=shared tree,shuffle-down" --axis elements_per_warp=128 --axis warps=1,4 \
    --axis value_type=i32,f64
bench floor 1 block,blocks,us 2 --filter floor/span/chosen --axis blocks=1 --axis us=1000
again floor --filter floor/span/chosen --axis blocks=1 --axis us=1000
bench floor 1 us 1 --filter floor/result --axis us=1000
again floor --filter floor/result --axis us=1000
bench floor 6 trial 3 --filter floor/compare --axis trial=1
check "floor: not compared with the first of two" test "$(
    grep -cE ',first,([0-9.e+-]+,){3}(undecided|faster|slower|same),' "$tmp/bench.csv")" -eq 3
bench floor 15 trial 5 --filter floor/equal --axis trial=1
bench floor 2 '' 1 --filter floor/idle
bench floor 2 '' 1 --filter floor/cache
bench nbody 6 form,splits,n 1 --filter nbody/size --axis splits=0 --axis n=1024,2048
bench nbody 7 n 3 --filter nbody/best
bench nbody 8 form,block,bodies,unroll 1 --filter nbody/tile --filter nbody/unroll \
    --axis block=32,128 --axis unroll=1,16
bench nbody 3 bodies,unroll,root 2 --filter nbody/root --axis unroll=4
bench nbody 2 pairs,block 2 --filter nbody/pairs --axis 'pairs=8 x 2,4 x 4' --axis block=256
bench nbody 2 form,n 2 --filter nbody/steps --axis n=1024

bench launch 8 way,argument_bytes,launches 1 --filter launch/interval --axis way=stream \
    --axis argument_bytes=0,4,2048,4096 --axis launches=1,13
bench transfer 21 path,size 7 --axis size=1,4097,1000003
bench memory_kinds 8 mode,elem,block,blocks 1 --filter zero_copy --axis elem=4 --axis block=1,33 \
    --axis blocks=1,3
bench memory_kinds 24 mode,pages,blocks 4 --filter managed --axis blocks=1,3
bench memory_kinds 4 distance,touched 1 --filter migration --axis distance=4096 \
    --axis touched=1,2,33,1000
bench launch "$(of 3 5)" loading 2 --filter launch/process --axis loading=lazy
bench launch 2 us,shape 2 --filter launch/diamond --axis us=0,3 --axis 'shape=one stream'

bench stream 44 n,type,operation 6 --filter stream/kernels --axis n=1,1003
bench stream 36 operation,words,block,n 3 --filter stream/geometry --axis n=5,66573 \
    --axis words=1,2,4 --axis block=1,64
bench stream 4 elem,footprint 2 --filter stream/gather --axis elem=4,32 --axis footprint=16384,99999
bench stream 12 elem,stride 0 --filter stream/shared --axis stride=1,2,3,33
# Of forms that are everywhere.
bench group_values 19 algorithm,type,threads 9 --filter block/shared --filter block/shuffles \
    --filter warp/shared --filter warp/shuffles --axis type=int32 --axis threads=64
bench group_votes 20 scope,vote,threads 6 --axis threads=64
bench group_ranges 36 over_range,access,element,each,threads 8 --axis element=int32 \
    --axis each=1,5 --axis threads=256
# A pair of fp16 has 4 FLOP and more.
bench roofline "$(of 13 16)" type,flop_per_word,placed 3 --axis flop_per_word=4,128,1024
bench units 11 operation 0
bench jacobi 42 type,n 4 --filter stencil/jacobi --axis n=3,65,514
bench jacobi "$(of 36 20)" type,n,sweeps,chunk 2 --filter stencil/blocking --axis n=2,101 \
    --axis chunk=7,64
bench jacobi "$(of 16 32)" n,block,rows_each 1 --full --filter stencil/mapping --axis n=2,67
bench gauss_seidel 4 n,layout 1 --filter stencil/gauss_seidel --axis n=3,66
bench conjugate_gradients "$(of 4 6)" n,scalars 2 --filter stencil/cg --axis n=3,33
bench solvers 4 n,method 1 --filter stencil/solve --axis n=9

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

# Without the library, which is not everywhere.
bench scan 30 n,type,kind 2 --filter size/scan --filter size/copy --axis n=1,1003,70001
bench scan 3 n,form 1 --filter scan/form --axis n=20011 --axis form=256x8,256x16,256x32

bench transpose 8 side 1 --axis side=1,63,100,130
bench histogram 18 n,data 3 --axis n=16,10007,65536
# Again without the library, and what is NVIDIA's not on AMD's devices.
bench matmul 10 n 2 --filter steps/naive --filter steps/coalesced --filter steps/tiled \
    --filter steps/registers --filter steps/vectors --axis n=33,128
if [ "$build" != build/hip ]; then
    bench matmul 6 n 2 --filter steps/ahead --filter steps/tensor --filter steps/staged \
        --axis n=33,128
    bench scan 1 n,form 0 --filter scan/form --axis n=200011 --axis form=ring
    bench matmul 2 type,n 2 --filter size/ahead --filter size/staged --axis n=100
    bench tensor 6 type,data 0 --filter tensor/mma --axis data=random
    bench in_flight 6 way,kib 0 --filter in_flight/l2 --axis kib=4,16
    bench clusters "$(of 3 6)" access,cluster,rank,distance 0 --axis cluster="$(of 1 2)"
fi

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
strictly copy --filter copy/grid --axis elem=16 --axis blocks=16
strictly zcopy --filter zcopy/best --axis mode=readwrite
strictly zcopy --filter zcopy/working_set --axis footprint=16384
# Too few rounds for an interval, as on a slow machine: none is made up.
sed 's/,0\.999[0-9]*,1\.001[0-9]*,same,/,,,undecided,/' bench/results/h200-mistakes.csv \
    >"$tmp/few.csv"
"$build/mistakes" --replay "$tmp/few.csv" >"$tmp/bench.out" 2>&1
check "mistakes: an interval of nothing: $(grep 'A, then B: the' "$tmp/bench.out")" \
    grep -q 'as fast as itself. In turn there were too few rounds' "$tmp/bench.out"

# replay NAME ROWS CONCLUSION [CARD]: the stored rows of an H200, or of another card, without one.
# Those of configurations that the full profile no longer has are left out, and counted.
replay()
{
    of=bench/results/${4:-h200}
    "$build/$1" --replay "$of-$1.csv,$of.json" >"$tmp/bench.out" 2>"$tmp/bench.err" </dev/null
    check "$1: replay: exit code $?" test $? -eq 0
    check "$1: replay: not $2 rows" grep -q \
        "^$2 rows: $2 ok, 0 skipped, 0 fail" "$tmp/bench.out"
    left_out=$(sed -n 's/.* \([0-9]*\) rows of the earlier run left out.*/\1/p' "$tmp/bench.err")
    check "$1: replay: $2 rows and ${left_out:-0} left out are not those of the file" \
        test $(($2 + ${left_out:-0} + 1)) -eq "$(wc -l <"$of-$1.csv")"
    check "$1: replay: not all are marked" test "$(grep -c replayed "$tmp/bench.out")" -gt "$2"
    check "$1: replay does not conclude '$3'" grep -qE "^  replayed: $3" "$tmp/bench.out"
    check "$1: replay: an unknown figure" not grep -qiE '^  replayed: .*\b(nan|inf)\b' \
        "$tmp/bench.out"
}
replay scan 144 'exclusive scan of i32, .* 1\.17 at 2\^29\.'
replay reduction 392 'u32, fastest, .* at most 95\.2 %, at 2\^30\.'
replay strided 190 'Farthest below: 16 B at stride 256, .* 8\.31 %'
replay offset 266 'L = 4: best at 32 sub-domains .* 4302 GB/s'
replay transfer 84 'pinned up: 4 B take 3\.712 us'
replay latency 250 'A dependent load, .* L2: 320 KiB'
replay atomics 43 'An atomic addition that waits for the one before: shared memory, 1 thread '
replay roofline 45 'Roofs of f64: 4268 GB/s and 33358 GFLOP/s, 99\.7 %'
replay stream 169 'Shared memory delivers 32889 GB/s'
replay launch 62 'Without arguments a launch in a graph takes 0\.17'
replay nbody 161 'Gain from unrolling: 1 body a thread 1\.23 times'
replay jacobi 90 'Fastest with 8 rows a thread'
replay gauss_seidel 8 'A red-black sweep at n = 8192 '
replay conjugate_gradients 12 'An iteration of conjugate gradients, n = 4096'
replay solvers 8 'To a known solution at n = 128: '
replay floor 513 'Spans of 2 us and more, with the way that is chosen: 30 of 34 within 5 %'
replay tensor 22 'FLOP in a clock .* zeros: f16 2720 [(]66\.4 %[)] at 1799 MHz'
replay transpose 16 'Rate of the transpose over .* 0\.918 at 8192 .* 0\.85 at 32768 '
replay histogram 30 '4 GiB, .* skewed 0\.995 \(4633 GB/s\), one bin 0\.995'
replay matmul 54 'TFLOP/s at n = 4096, .* ahead 43\.2 \(84\.5 %\)'
replay units 11 'Operations in a clock .* add i32 124 at .* sin f32 15\.9 [(]99\.4 %[)] at' h100
replay in_flight 42 'bulk copies, .* 32 KiB 3371 [(]1283 ns[)], 64 KiB 6410' h100
replay clusters 38 'Reading own shared memory .* 3954 GB/s [(]cluster of 2, distance 1[)]' h100
check "clusters: replay: of another program" not grep -q 'another program' "$tmp/bench.err"
replay tensor 22 'FLOP in a clock .* zeros: f16 4052 [(]98\.9 %[)] at 1724 MHz' h100
replay nbody 9 'At the rate of that mix, .* 47713 GFLOP/s; .* has 42909, 89\.9 % of that' h100
# CSV alone knows little of its device: not all fits, but nothing crashes.
for name in counters stream zcopy nbody; do
    "$build/$name" --full --replay "bench/results/h200-$name.csv" >"$tmp/bench.out" \
        2>"$tmp/bench.err" </dev/null
    check "$name: replay of CSV alone: exit code $?" test $? -eq 0
    check "$name: replay of CSV alone: an unknown figure" not grep -qiE \
        '^  replayed: .*\b(nan|inf)\b' "$tmp/bench.out"
done

# Each column is explained, and what the glossary refers to is there.
sed -n '/^## Reading a row/,/^## Glossary/p' bench/README.md >"$tmp/columns"
columns >"$tmp/names"
check "$(wc -l <"$tmp/names") columns in gpumb.h" test "$(wc -l <"$tmp/names")" -gt 80
while read -r name; do
    check "bench/README.md does not explain $name" grep -q "^| [^|]*\`$name\`" "$tmp/columns"
done <"$tmp/names"
# The row that is explained is the stored one.
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    function us(c) { return sprintf("%.1f", 1e6 * $at[c]) }
    $at["bench"] == "scan/size" && $at["kernel"] == "library" && $at["n"] == 268435456 &&
    $at["type"] == "i32" && $at["kind"] == "inclusive" {
        print "| " $at["samples"] ", " $at["batch"] ", " $at["stop"] " |"
        print "| " us("median_s") " µs, " us("ci_lo_s") " … " us("ci_hi_s") " µs |"
        print "| " us("min_s") " … " us("max_s") " µs |"
        print "| " $at["effective_samples"] ", " $at["outliers"] " |"
        printf "| %.0f µs, %g |\n", 1e6 * $at["first_launch_s"], $at["overhead_s"]
        printf "| %.0f, –, %.2e |\n", $at["gbps"], $at["elements_per_s"]
        printf "| %.0f, %.1f |\n", $at["peak_gbps"], $at["pct_peak"]
        printf "| %.0f, %.1f |\n", $at["ceiling_gbps"], $at["pct_ceiling"]
        print "| " $at["temp_before_c"] ", " $at["temp_c"] ", – |"
        printf "| %s, %.3f, %.3f … %.3f, %s, %d |\n", $at["compared_with"], $at["ratio"],
            $at["ratio_lo"], $at["ratio_hi"], $at["verdict"], $at["ratio_rounds"]
    }' bench/results/h200-scan.csv | sed 's/e+\([0-9]\)/e\1/' >"$tmp/cells"
check "the row that is explained: $(wc -l <"$tmp/cells") cells" test "$(wc -l <"$tmp/cells")" -eq 10
while read -r cell; do
    check "bench/README.md explains a row without '$cell'" grep -qF -e "$cell" "$tmp/columns"
done <"$tmp/cells"
# shellcheck disable=SC2016 # what the table quotes
sed -n '/^## Glossary/,$s/^|.*| \(`.*`\) |$/\1/p' bench/README.md | tr -d '`' |
    tr , '\n' | sed 's/^ *//' >"$tmp/names"
check "the glossary has $(wc -l <"$tmp/names") references" test "$(wc -l <"$tmp/names")" -ge 20
while read -r name; do
    check "the glossary's $name is not in gpumb.h" grep -q "$name" gpumb.h
done <"$tmp/names"

# The pages name programs and benchmarks that are there, and all of them.
printf '%s\n' bench/*.cu bench/*.c | sed 's/.*\///; s/\.c.*//' | sort >"$tmp/programs"
# shellcheck disable=SC2016 # what the table quotes
sed -n '/^## The programs/,/^## Reading/s/^| \(`.*\)/\1/p' bench/README.md | cut -d '|' -f 1 |
    tr -d '` ' | tr , '\n' | sort >"$tmp/names"
check "bench/README.md: another list of programs than bench/" diff "$tmp/programs" "$tmp/names"
while read -r name; do
    check "$name is not tried here" grep -qw "$name" tests/test_bench.sh
done <"$tmp/programs"
grep -vE '^(fleet|ranks)$' "$tmp/programs" >"$tmp/names"
check "bench/seconds.csv: other programs than bench/" sh -c \
    "sed '1d; s/,.*//' bench/seconds.csv | sort | diff - '$tmp/names'"
# shellcheck disable=SC2016 # what the text quotes
grep -oE '`[a-z]+/[a-z_0-9]+`' bench/experiments.md | tr -d '`' | sort -u >"$tmp/names"
check "bench/experiments.md names $(wc -l <"$tmp/names") benchmarks" \
    test "$(wc -l <"$tmp/names")" -ge 40
while read -r name; do
    check "bench/experiments.md: no benchmark $name" grep -qF "\"$name\"" bench/*.cu bench/*.c
done <"$tmp/names"
check "a benchmark is described by a number" not grep -nE '"E[0-9]+b?: ' bench/*.cu bench/*.c

# What is not there is not concluded from.
plainly strided 2 elem,stride 0 --filter strided/memory --axis elem=16 --axis stride=2,3
bench reduction 2 multiple,blocks 0 --filter blocks --axis multiple=1 --axis blocks=1000
plainly offset 2 elem,where,offset 0 --filter misaligned --axis elem=16 --axis where=read \
    --axis offset=1,2

# One device is too few for these, which say so in a line; --list needs none.
two_devices() # NAME
{
    check "$1 --list" "$build/$1" --list
    [ "$build" = build/cpu ] || return 0
    "$build/$1" >"$tmp/bench.out" 2>&1
    check "$1: one device: exit code $?, not 3" test $? -eq 3
    check "$1: says no line" test "$(grep -c 'needs two devices' "$tmp/bench.out")" -eq 1
}
for name in peers peer_packets peer_latency pipeline; do
    two_devices $name
done

# The suite: the time is said before, what an interrupt left is done by the next run, and once.
# shellcheck disable=SC2016 # what the program is to expand
printf '#!/bin/sh\necho "$0 $1" >>"%s/ran"\nexit "$(cat "%s/code")"\n' "$tmp" "$tmp" >"$tmp/copy"
cp "$tmp/copy" "$tmp/zcopy"
cp "$tmp/copy" "$tmp/nbody"
printf '#!/bin/sh\nexit 3\n' >"$tmp/peers"
chmod +x "$tmp/copy" "$tmp/zcopy" "$tmp/nbody" "$tmp/peers"
suite() # CODE OF THE PROGRAMS, WANTED, WANTED IN THE OUTPUT
{
    echo "$1" >"$tmp/code"
    sh bench/suite.sh full "$tmp/suite" "$tmp/copy" "$tmp/zcopy" "$tmp/nbody" >"$tmp/said" 2>&1
    check "suite.sh: exit code $?, not $2" test $? -eq "$2"
    check "suite.sh does not say '$3'" grep -q "$3" "$tmp/said"
}
suite 130 130 '^3 programs, .* on an H200$'
suite 1 1 '^3 programs, '
check "suite.sh: a failure ends it" test "$(wc -l <"$tmp/ran")" -eq 4
echo zcopy >"$tmp/suite/.unfinished"
suite 0 0 '^2 programs, .*; 1 are done$'
check "suite.sh: one device fails" sh bench/suite.sh quick "$tmp/one" "$tmp/peers"
# shellcheck disable=SC2046 # several options
check "make passport: its options" "$build/copy" --list \
    $(sed -n "s/.*SUITE_OPTIONS='\([^']*\)'.*/\1/p" Makefile)
check "suite.sh: not the rest alone" test "$(sed -n '5,$p' "$tmp/ran" | grep -c full)" -eq 2
[ -z "$python3" ] || check "passport.py" sh -c '
    python3 plots/passport.py bench/results bench/results |
    grep -E "^  copy +([0-9]+) GB/s +[0-9.]+ % of peak +\\1 "'

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
