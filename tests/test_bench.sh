#!/bin/sh
# test_bench.sh - what the benchmarks of $TEST_BUILD conclude from the stored rows; that the pages
# say what is there; the suite. test_bench_NAME.sh run them.
# shares the GPU: it uses none
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

build=${TEST_BUILD:-build/cpu}

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
replay reduction 356 'u32, fastest, .* at most 95\.2 %, at 2\^30\.'
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
replay floor 411 'Spans of 2 us and more, with the way that is chosen: 30 of 34 within 5 %'
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
    check "$name is not tried here" grep -qw "$name" tests/test_bench*.sh
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
sed -n "s/.*SUITE_OPTIONS='\([^']*\)'.*/\1/p" Makefile >"$tmp/options"
check "Makefile: options of make bench and make passport" test "$(wc -l <"$tmp/options")" -eq 2
while read -r options; do
    # shellcheck disable=SC2086 # several options
    check "Makefile: $options" "$build/copy" --list $options
done <"$tmp/options"
check "suite.sh: not the rest alone" test "$(sed -n '5,$p' "$tmp/ran" | grep -c full)" -eq 2
if [ "$python3" ]; then
    check "passport.py" sh -c 'python3 plots/passport.py bench/results bench/results |
        grep -E "^  copy +([0-9]+) GB/s +[0-9.]+ % of peak +\\1 "'
else
    skip "passport.py: no python3"
fi

finish
