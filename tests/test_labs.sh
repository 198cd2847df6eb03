#!/bin/sh
# test_labs.sh - walks through the labs as a student without a GPU would: builds each for the CPU,
# runs it, replays the stored rows of a GPU and looks for what the solutions say, grades.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

build=${TEST_BUILD:-build/cpu} # where the benchmarks are whose rows the solutions quote

# As the README says, but sooner.
options='-std=c++17 -O1 -Wall -Wextra -pthread'
# shellcheck disable=SC2086 # several options
check "the implementation does not compile" \
    ${CXX:-c++} $options -x c++ -DGPUMB_IMPLEMENTATION -c gpumb.h -o "$tmp/gpumb.o"

compile() # SOURCE, PROGRAM, OPTION...
{
    source=$1 program=$2
    shift 2
    # shellcheck disable=SC2086 # several options
    ${CXX:-c++} $options "$@" "$tmp/gpumb.o" -x c++ "$source" -o "$program"
}

# What looks into two labs: its result, and its stored rows.
check "blocks does not compile" compile examples/labs/solutions/blocks.cu "$tmp/changed"
"$tmp/changed" --axis block=256 --budget 0.02 --warmup 0 --samples 6:6 >"$tmp/out" 2>&1 </dev/null
check "blocks: $(tail -n 3 "$tmp/out")" grep -qE '^[0-9]+ rows: 5 ok, 0 skipped, 0 failed$' \
    "$tmp/out"
check "blocks: replay" "$tmp/changed" --replay examples/labs/h200/solutions/blocks.json
"$tmp/changed" --replay examples/labs/h200/solutions/blocks.json >"$tmp/blocks" 2>&1 </dev/null
check "blocks: of another program" grep -qE '^  replayed: Source: .*, checksum [0-9a-f]{8}\.$' \
    "$tmp/blocks"

# What the benchmarks say that labs end at: NAME, ROWS, OPTION...
benchmark()
{
    name=$1 rows=$2
    shift 2
    check "$name: replay" "$build/$name" "$@" --replay "$rows,bench/results/h200.json"
    cat "$tmp/check" >>"$tmp/all"
}

tracer=
if command -v g++ >/dev/null && command -v addr2line >/dev/null; then
    tracer=yes
fi
labs=0
for source in examples/labs/*.cu; do
    lab=$(basename "$source" .cu)
    labs=$((labs + 1))
    check "$lab: has more than 90 lines" test "$(wc -l <"$source")" -le 90
    check "$lab: no question, or nothing to change" test "$(grep -cE '^ \* (Question|Change): ' \
        "$source")" -eq 2
    check "$lab: has its answer" not grep -qE '^/\* See: |^ \* See: ' "$source"
    check "$lab: does not compile" compile "$source" "$tmp/lab"
    # Lab 21 wants libraries that are not for the CPU, lab 23 clusters; lab 22 has bugs. The CPU can
    # pretend to have a second device.
    skipped=0 changed_skipped=0 bugs=0
    unset PRETENDED_DEVICES
    case $lab in
    21*) skipped=6 changed_skipped=7 ;; # what cuBLAS leaves on the device has one row more
    22*) bugs=1 ;;
    23*) skipped=12 changed_skipped=24 ;;
    24*) export PRETENDED_DEVICES=2 ;;
    esac
    "$tmp/lab" --budget 0.02 --warmup 0 --samples 6:6 --csv "$tmp/$lab.csv" >"$tmp/out" 2>&1 \
        </dev/null
    check "$lab: exit code $?: $(tail -n 3 "$tmp/out")" test $? -eq $bugs
    check "$lab: not verified" not grep -q 'unverified' "$tmp/out"
    check "$lab: no row" grep -qE "^[0-9]+ rows?: [0-9]+ ok, $skipped skipped, $bugs failed\$" \
        "$tmp/out"
    case $lab in
    23*) check "$lab: skips in silence" test "$(grep -c 'skipped: .* has no clusters' \
        "$tmp/out")" -eq $skipped ;;
    esac

    # What was changed: its result is right, but for the two rows of lab 1 that are to fail.
    changed=examples/labs/solutions/$lab.cu
    check "$lab: the solution does not compile" compile "$changed" "$tmp/changed"
    "$tmp/changed" --budget 0.02 --warmup 0 --samples 6:6 --csv "$tmp/$lab.changed.csv" \
        >"$tmp/out" 2>&1 </dev/null
    wrong=0
    [ "$lab" != 01_first_launch ] || wrong=2
    check "$lab: solution: $(tail -n 3 "$tmp/out")" grep -qE \
        "^[0-9]+ rows?: [1-9][0-9]* ok, $changed_skipped skipped, $wrong failed\$" "$tmp/out"

    # The stored rows of both, and of their counters: each is shown, and is of this very program and
    # of one card: an H200, but for those that the README names.
    device=H200
    case $lab in 18*) device=H100 ;; esac
    : >"$tmp/all"
    for rows in "$lab" "solutions/$lab" "counters/$lab" "counters/solutions/$lab" \
        "counters/bytes/$lab" "counters/bytes/solutions/$lab" "counters/link/$lab" \
        "counters/link/solutions/$lab"; do
        [ -f "examples/labs/h200/$rows.json" ] || continue
        program=$tmp/lab broken=$bugs
        case $rows in *solutions*) program=$tmp/changed broken=$wrong ;; esac
        rm -f "$tmp/csv"
        "$program" --replay "examples/labs/h200/$rows.json" --csv "$tmp/csv" >"$tmp/out" \
            2>"$tmp/err" </dev/null
        check "$rows: replay: exit code $?: $(cat "$tmp/err")" test $? -eq $((broken > 0))
        case $rows in
        # Of some configurations only, or of some that are asked for by --axis.
        counters/*) sed -i -e '/left out$/d' -e '/left out: .* they take --axis /d' "$tmp/err" ;;
        esac
        check "$rows: replay: says $(cat "$tmp/err")" test ! -s "$tmp/err"
        check "$rows: replay: no $device" grep -q "^gpumb .* on NVIDIA ${device}[ (]" "$tmp/out"
        check "$rows: replay: rows" grep -qE \
            "^[0-9]+ rows?: [0-9]+ ok, 0 skipped, $broken failed\$" "$tmp/out"
        check "$rows: replay: a row is unmarked" test "$(grep -c replayed "$tmp/csv")" -eq \
            $(($(wc -l <"$tmp/csv") - 1))
        check "$rows: of another program: $(grep 'Source' "$tmp/out")" grep -qE \
            '^  replayed: Source: .*, checksum [0-9a-f]{8}\.$' "$tmp/out"
        case $rows in
        counters/*) check "$rows: nothing was counted" grep -qE '"values": \{.*": [0-9]' \
            "examples/labs/h200/$rows.json" ;;
        esac
        cat "$tmp/out" >>"$tmp/all"
    done
    # Labs 3 and 6 quote a program that looks into both.
    case $lab in 03* | 06*) cat "$tmp/blocks" >>"$tmp/all" ;; esac
    # The last ones quote the benchmarks that they lead to, too; lab 22 the tracer.
    case $lab in
    15*)
        for rows in bench/results/h200-matmul.csv bench/results/h200-matmul-counters.csv; do
            benchmark matmul $rows --filter steps --axis n=4096
        done
        ;;
    16*)
        benchmark atomics bench/results/h200-atomics.csv
        benchmark histogram bench/results/h200-histogram.csv --full
        ;;
    18*) benchmark transfer bench/results/h200-transfer.csv ;;
    20*)
        benchmark reduction bench/results/h200-reduction.csv --full --filter reduction/types
        ;;
    21*)
        benchmark reduction bench/results/h200-reduction.csv --full --filter reduction/size \
            --axis n=4096,1048576,268435456
        ;;
    22*)
        cat examples/labs/h200/tools/*.txt >>"$tmp/all"
        [ ! "$tracer" ] || make -s trace FILE="examples/labs/$lab.cu" CXX=g++ BACKEND=cpu \
            >>"$tmp/all" 2>&1
        ;;
    23*) benchmark atomics bench/results/h200-atomics.csv ;;
    24*) benchmark peers bench/results/h200-peers.csv --full --filter peers/size ;;
    esac
    # What the solutions quote of the replays is what these show.
    sed -s -n "/^## $lab/,/^## /s/^    //p" examples/labs/solutions/*.md >"$tmp/quotes"
    check "$lab: solutions quote nothing of the replay" test -s "$tmp/quotes"
    # Of a program without rows, its part of the page says so, and of no other.
    sed -s -n "/^## $lab/,/^## /p" examples/labs/solutions/*.md >"$tmp/part"
    for rows in "$lab" "solutions/$lab"; do
        none=0
        [ -s "examples/labs/h200/$rows.json" ] || none=1
        [ $none = 0 ] || skip "$rows: no rows yet: sh examples/labs/measure.sh"
        program='lab'
        case $rows in solutions/*) program='changed program' ;; esac
        check "$rows: the solutions and the stored rows differ on whether there are any" test \
            "$(grep -cF "**The $program has no rows yet.**" "$tmp/part")" -eq $none
    done
    [ "$tracer" ] || [ "$lab" != 22_tools ] || : >"$tmp/quotes"
    while read -r quote; do
        check "$lab: replay does not say '$quote'" grep -qF -e "$quote" "$tmp/all"
    done <"$tmp/quotes"
done
unset PRETENDED_DEVICES
check "lab 24 does not compile" compile examples/labs/24_two_devices.cu "$tmp/lab"
"$tmp/lab" --budget 0.02 --warmup 0 --samples 6:6 >"$tmp/out" 2>&1 </dev/null
check "lab 24 on one device: $(tail -n 1 "$tmp/out")" grep -qE \
    '^36 rows: 8 ok, 28 skipped, 0 failed$' "$tmp/out"
check "lab 24 on one device skips in silence" test "$(grep -c \
    "skipped: needs two devices that reach each other's memory, and there is one" "$tmp/out")" \
    -eq 28
check "README.md: no row for each of $labs labs" test "$(grep -cE '^\| [0-9]{2} ' \
    examples/labs/README.md)" -eq "$labs"
without=$(for source in examples/labs/*.cu; do
    lab=$(basename "$source" .cu)
    [ -s "examples/labs/h200/$lab.json" ] || echo "${lab%%_*}"
done | paste -sd , | sed 's/,/, /g')
cards=$(cd examples/labs/h200 && grep -l '"name": "NVIDIA H100 80GB HBM3"' [0-9]*.json |
    cut -c 1-2 | paste -sd , | sed 's/,/, /g')
for page in README course; do
    tr -s '\n ' '  ' <"examples/labs/$page.md" >"$tmp/page"
    check "$page.md: labs without rows are ${without:-none}" test "$(
        sed -n 's/.*Labs without rows yet: \([0-9, ]*[0-9]\).*/\1/p' "$tmp/page")" = "$without"
    check "$page.md: labs with rows of an H100 are ${cards:-none}" grep -qF \
        "Labs with rows of an H100 (80GB HBM3): ${cards:-none}; all others" "$tmp/page"
done

# Lab 18's model: what is known of it, and the page's table.
cat >"$tmp/model.cu" <<'EOF'
#include "labs/lab.h"

static int off(double found, double right)
{
    return !(fabs(found - right) < 1e-9);
}

int main()
{
    static const double stages[][3] = {{1, 1, 1}, {1, 0.25, 1}, {1, 4, 1}};
    int wrong = 0;
    for (const double *s : stages)
        for (int n = 4; n <= 256; n *= 8) {
            const double sum = s[0] + s[1] + s[2], most = fmax(s[0], s[1]);
            const double in[] = {lab_pipeline(s, n, 1), lab_pipeline(s, n, 2),
                                 lab_pipeline(s, n, 3)};
            printf("| %g, %g, %g | %d | %.2f | %.2f | %.2f |\n", s[0], s[1], s[2], n, in[0], in[1],
                   in[2]);
            wrong += off(in[0], sum) + off(in[2], most + (sum - most) / n);
            wrong += s[0] == s[1] && off(in[1], 1.5 + 1.0 / n);
        }
    return wrong;
}
EOF
check "lab 18's model does not compile" compile "$tmp/model.cu" "$tmp/model" -Iexamples
check "lab 18's model is wrong" "$tmp/model"
"$tmp/model" >"$tmp/lines"

# Lab 19's errors: of any CPU, as it computes them. `each` is 128, 512, 2048.
errors() # CSV: a line for each format
{
    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { cells[$at["format"]] = cells[$at["format"]] sprintf(" %.2g |", $at["error"]) }
        END { for (format in cells) print "| " format " |" cells[format] }' "$1"
}
errors "$tmp/19_number_formats.csv" >>"$tmp/lines"
errors "$tmp/19_number_formats.changed.csv" >>"$tmp/lines"
check "labs 18 and 19: $(wc -l <"$tmp/lines") lines" test "$(wc -l <"$tmp/lines")" -eq 22
while read -r line; do
    check "solutions/fourth.md: no $line" grep -qF "$line" examples/labs/solutions/fourth.md
done <"$tmp/lines"

# Lab 23: KiB of a block, and blocks of 1024 threads on a multiprocessor that has 228 KiB, of which
# each takes one more.
awk 'BEGIN {
    split("10000 50000 200000 400000", bins); split("1 2 4 8", cluster)
    for (b = 1; b <= 4; b++) {
        line = "| " bins[b] " |"
        for (c = 1; c <= 4; c++) {
            kib = 4 * int((bins[b] + cluster[c] - 1) / cluster[c]) / 1024
            fit = int(228 / (kib + 1))
            line = line (fit ? sprintf(" %.1f, %d |", kib, fit < 2 ? fit : 2) : " – |")
        }
        print line
    }
}' >"$tmp/rooms"

# Lab 24: its model, by the rates of stored rows: of reading, and of the link.
column() # CSV, COLUMN, 'COLUMN=VALUE;...': of the first such row
{
    awk -F , -v column="$2" -v wanted="$3" 'NR == 1 {
            for (i = 1; i <= NF; i++) at[$i] = i
            n = split(wanted, each, ";"); next }
        { for (i = 1; i <= n; i++) { split(each[i], is, "="); if ($at[is[1]] != is[2]) next }
          print $at[column]; exit }' "$1"
}
reads=$(column bench/results/h200-reduction.csv gbps \
    'bench=reduction/types;value_type=f32;operation=sum')
sends=$(column bench/results/h200-peers.csv gbps \
    'bench=peers/size;kernel=engine pulls;access=peer;size=1073741824')
cat >"$tmp/gains.cu" <<'EOF'
#include "labs/two.h"

int main(int, char **argv)
{
    const double gib = 1 << 30;
    const double read_s = 1e-9 * gib / atof(argv[1]), send_s = 1e-9 * gib / atof(argv[2]);
    for (int times = 1; times <= 64; times *= 4) {
        const double one_s = times * read_s, best = one_s / (2 * one_s + send_s);
        const double is[] = {lab_gain(LAB_SENT, one_s, times, 0.5, send_s / 2),
                             lab_gain(LAB_REACHED, one_s, times, 0.5, send_s / 2),
                             lab_gain(LAB_SENT, one_s, times, best, send_s * best)};
        printf("| %d | %.2f | %.2f | %.0f %%, %.2f |\n", times, is[0], is[1], 100 * best, is[2]);
        for (double part = 0.01; part < 1; part += 0.01)
            if (lab_gain(LAB_SENT, one_s, times, part, send_s * part) > is[2])
                return printf("%.2f is better\n", part);
    }
    return lab_gain(LAB_SPLIT, 1, 1, 0.5, 1) < 2;
}
EOF
check "lab 24's model does not compile" compile "$tmp/gains.cu" "$tmp/gains" -Iexamples
check "lab 24's model is wrong: $("$tmp/gains" "$reads" "$sends")" "$tmp/gains" "$reads" "$sends"
"$tmp/gains" "$reads" "$sends" >>"$tmp/rooms"
check "labs 23 and 24: $(wc -l <"$tmp/rooms") lines" test "$(wc -l <"$tmp/rooms")" -eq 8
while read -r line; do
    check "solutions/fifth.md: no $line" grep -qF "$line" examples/labs/solutions/fifth.md
done <"$tmp/rooms"

# The last one: as it is, and the solution.
own=examples/labs/14_own_kernel.cu
check "the solution does not compile" compile "$own" "$tmp/lab" \
    "-DMINE=\"solutions/14_mine.h\""
"$tmp/lab" --budget 0.02 --warmup 0 --samples 6:6 >"$tmp/out" 2>&1 </dev/null
check "the solution is wrong: $(grep failed "$tmp/out")" grep -q '2 ok, 0 skipped, 0 failed' \
    "$tmp/out"
check "the solution's grade" "$tmp/lab" --replay examples/labs/h200/solutions/14_own_kernel.json \
    --expect 'mine>=100*naive' --expect 'mine>=0.35peak'
check "a grade for nothing" not "$tmp/lab" --replay examples/labs/h200/14_own_kernel.json \
    --expect 'mine>=100*naive'
sed 's/, 1);/, 2);/' examples/labs/14_mine.h >"$tmp/mine.h"
check "a wrong kernel does not compile" compile "$own" "$tmp/lab" "-DMINE=\"$tmp/mine.h\""
check "a wrong kernel passes" not "$tmp/lab" --budget 0.02 --warmup 0 --samples 6:6

# A lab that was changed does not show the change: its replay says so. Comments and words are none.
own=examples/labs/05_coalescing.cu
sed 's/i \* (uint64_t)stride\]/i * (uint64_t)stride % n]/' "$own" >"$tmp/changed.cu"
check "lab 5, changed, is as it was" not cmp -s "$tmp/changed.cu" "$own"
check "lab 5, changed, does not compile" compile "$tmp/changed.cu" "$tmp/lab" -Iexamples/labs
"$tmp/lab" --replay examples/labs/h200/05_coalescing.json >"$tmp/out" 2>&1 </dev/null
check "lab 5, changed, replays in silence" grep -q 'THESE ROWS ARE OF ANOTHER PROGRAM' "$tmp/out"
{
    echo '// Mine.'
    sed 's/gpumb_note(g, "/&\\"Mine\\": /' "$own"
} >"$tmp/05_coalescing.cu"
check "lab 5, commented, does not compile" \
    compile "$tmp/05_coalescing.cu" "$tmp/lab" -Iexamples/labs
"$tmp/lab" --replay examples/labs/h200/05_coalescing.json >"$tmp/out" 2>&1 </dev/null
check "lab 5, commented, is said to be changed" not grep -q 'OF ANOTHER PROGRAM' "$tmp/out"
check "lab 5 has no note of mine" grep -q '"Mine": ' "$tmp/out"
sed 's/    return lab_close/    (void)argc;\n&/' "$own" >"$tmp/05_coalescing.cu"
check "lab 5, changed at its end, does not compile" \
    compile "$tmp/05_coalescing.cu" "$tmp/lab" -Iexamples/labs
"$tmp/lab" --replay examples/labs/h200/05_coalescing.json >"$tmp/out" 2>&1 </dev/null
check "lab 5, changed at its end, replays in silence" grep -q 'OF ANOTHER PROGRAM' "$tmp/out"

# A solution that was compiled in its folder, as its page says, is the program of its rows.
in_solutions() { (cd examples/labs/solutions && "$@"); }
check "lab 5's solution, in its folder, does not compile" \
    in_solutions compile 05_coalescing.cu "$tmp/changed"
in_solutions "$tmp/changed" --replay ../h200/solutions/05_coalescing.json >"$tmp/out" 2>&1 \
    </dev/null
check "lab 5's solution, in its folder, is said to be changed" grep -qE \
    '^  replayed: Source: 05_coalescing\.cu, checksum [0-9a-f]{8}\.$' "$tmp/out"

# Lab 1, broken in the second way that it asks for.
sed 's/    if (i < n)/    (void)n;/' examples/labs/01_first_launch.cu >"$tmp/broken.cu"
check "lab 1, broken, does not compile" compile "$tmp/broken.cu" "$tmp/lab" -Iexamples/labs
"$tmp/lab" --axis n=1000 --budget 0.02 --warmup 0 --samples 6:6 >"$tmp/out" 2>&1
check "lab 1, broken: $(tail -n 3 "$tmp/out")" grep -q 'wrote past the end' "$tmp/out"

# The tracer's figures that the labs ask for: sectors at stride 8, conflicts of a tile's column.
traces() # LAB, WANTED
{
    [ "$1" = "${traced-}" ] || make -s trace FILE="examples/labs/$1.cu" ARGS=--profile CXX=g++ \
        BACKEND=cpu >"$tmp/out" 2>&1
    traced=$1
    check "$1: the tracer does not find '$2'" grep -qF "$2" "$tmp/out"
}
tr -s '\n ' '  ' <examples/labs/misconceptions.md >"$tmp/believed"
streams=$(sed -n 's/^| 1, 1, 1 | 4 .* \([0-9.]*\) |$/\1/p' "$tmp/lines")
check "misconceptions.md: 3 streams" grep -qF \
    "with 4 chunks and three equal stages 3 streams take $streams times" "$tmp/believed"
lost() # FORMAT: per cent of 2048 values, as the line of the lab says, which comes first
{
    awk -F ' *[|] *' -v format="$1" '$2 == format && !n++ { printf "%.2g %%", 100 * $5 }' \
        "$tmp/lines"
}
check "misconceptions.md: bf16 loses $(lost bf16)" grep -qF \
    "Of 2048 random values, added in bf16, $(lost bf16) are lost" "$tmp/believed"
check "misconceptions.md: bf16 in fp32 loses $(lost 'bf16 in fp32')" grep -qF \
    "Added in fp32 they are $(lost 'bf16 in fp32') off" "$tmp/believed"
if [ "$tracer" ]; then
    sed 's/PAD = 1/PAD = 2/; s,"lab.h","examples/labs/lab.h",' examples/labs/08_transpose.cu \
        >"$tmp/pad2.cu"
    make -s trace FILE="$tmp/pad2.cu" ARGS='--profile --axis form=padded' CXX=g++ BACKEND=cpu \
        >"$tmp/out" 2>&1
    check "lab 8, rows of 34 words: $(grep wavefronts "$tmp/out")" \
        grep -qF '32 lanes take 2 wavefronts at the banks where 1 would do' "$tmp/out"
    traces 05_coalescing '32.00    32.00   4.00   8.00  12.5 %  out[i] = in['
    traces 06_misalignment '32.00     5.00   4.00   2.00  80.0 %  out[i] = in[i];'
    traces 06_misalignment '32.00     4.00   4.00   2.00 100.0 %  out[i] = in[i];'
    traces 07_subdomains '32.00    32.00   4.00  16.00  12.5 %  out[i] = in[i];'
    traces 07_subdomains '32.00     4.00   4.00   2.00 100.0 %  out[i] = in[i];'
    traces 08_transpose '32 lanes take 32 wavefronts at the banks where 1 would do'
    traces solutions/08_transpose '32 lanes take 8 wavefronts at the banks where 1 would do'
    traces solutions/08_transpose '32 lanes take 2 wavefronts at the banks where 1 would do'
    traces solutions/07_subdomains '32.00    16.00  16.00  16.00 100.0 %  own[k] = in['
    traces solutions/07_subdomains '32.00    16.00  16.00   4.00 100.0 %  own[k] = in['
    traces 10_reduction '752   5.43     1.00   1.00                 part[t] += part[t + far];'
    traces 10_reduction '192  21.25     1.00   1.00                 part[t] += part[t + far];'
    traces 15_matrix_product '16384  32.00     1.00   1.00                 sums[i][j] += left['
    traces 15_matrix_product '1024  32.00     2.00   1.00                 right[y][x + LANES * i]'
    # Additions of 128 warps: by as many lanes as have a byte, or by one for all that have the same.
    all='128  32.00     3.16   1.00                 atomicAdd'
    traces solutions/16_warps "$all(&own[in[i]], 1u);"
    for additions in 3836 665 128; do
        traces solutions/16_warps "$(printf '%11d' $additions)   1.00     1.00   1.00  $(
        )               atomicAdd(&bins[byte], (unsigned)__popcll(same));"
        check "the solution of 16_warps without $additions" grep -qF \
            "| 128, 32 | $additions, 1 | 128, " examples/labs/solutions/third.md
    done
    check "misconceptions.md: additions" grep -qF \
        '128 warps add 3836 times with one lane in place of 128 times with all' "$tmp/believed"
    traces solutions/16_warps "$all(&bins[byte], 1u);"
    traces 23_clusters '31.96    31.64   4.00  30.38  12.6 %  atomicAdd(out + bin, 1u);'
    traces 23_clusters '31.96     3.52   1.00                 atomicAdd(own + bin, 1u);'
    traces solutions/16_warps \
        '128   1.00     1.00   1.00                 atomicAdd(&bins[byte], (unsigned)__popcll(all'
else
    skip "no g++ or addr2line to trace with"
fi

# Lab 22's bugs, each alone and not: who finds it on the CPU, and who says nothing.
bugs() # NAME, EXPRESSION: the solution with some of them, as NAME.cu
{
    sed -e 's,"../lab.h","examples/labs/lab.h",' -e "$2" examples/labs/solutions/22_tools.cu \
        >"$tmp/$1.cu"
    check "lab 22: $1 is no bug" not cmp -s "$tmp/$1.cu" examples/labs/solutions/22_tools.cu
}
loads='s/= i < n/= t < n/' waits='/^        __syncthreads/d' told='s/out, blocks);/out, BLOCK);/'
bugs loads "$loads"
bugs waits "$waits"
bugs told "$told"
bugs others "$waits; $told"
for bug in loads waits; do
    check "lab 22, $bug: does not compile" compile "$tmp/$bug.cu" "$tmp/lab" -I.
    "$tmp/lab" --budget 0.02 --warmup 0 --samples 6:6 >"$tmp/out" 2>&1 </dev/null
    check "lab 22, $bug: right" grep -q '^1 row: 0 ok, 0 skipped, 1 failed$' "$tmp/out"
done
sanitized() # NAME, SANITIZER, WANTED: what it says, or that it says nothing
{
    # shellcheck disable=SC2086 # several options
    check "lab 22, $1: -fsanitize=$2 does not compile" clang++ -I. -std=c++17 -g1 -O0 -pthread \
        -fsanitize=$2 -DGPUMB_IMPLEMENTATION -x c++ "$tmp/$1.cu" -o "$tmp/lab"
    "$tmp/lab" --profile >"$tmp/out" 2>&1 </dev/null
    if [ "$3" ]; then
        check "lab 22, $1: ${2%% *} says no '$3'" grep -qE "$3" "$tmp/out"
    else
        check "lab 22, $1: ${2%% *} says $(grep SUMMARY "$tmp/out")" not grep -q SUMMARY "$tmp/out"
    fi
}
if echo 'int main() {}' >"$tmp/empty.cpp" &&
    clang++ -fsanitize=memory "$tmp/empty.cpp" -o "$tmp/empty" 2>/dev/null &&
    clang++ -fsanitize=address "$tmp/empty.cpp" -o "$tmp/empty" 2>/dev/null; then
    origins='memory -fsanitize-memory-track-origins'
    sanitized loads address 'heap-buffer-overflow .*loads.cu:11:.* in add'
    check "lab 22: not thread 80" grep -qF 'block (39,0,0), thread (80,0,0): see' "$tmp/out"
    sanitized others address ''
    sanitized told "$origins" ' in add\(.*told.cu:11:'
    check "lab 22, told: not in the check" grep -qE \
        'SUMMARY: MemorySanitizer: use-of-uninitialized-value .* in lab_check' "$tmp/out"
    sanitized waits "$origins" ''
else
    skip "lab 22: no clang++ with its sanitizers"
fi
if [ "$tracer" ]; then
    make -s trace FILE="$tmp/told.cu" CXX=g++ BACKEND=cpu >"$tmp/out" 2>&1
    check "lab 22, told: the tracer follows nothing" grep -qF 'add <<<(40,1,1)' "$tmp/out"
    check "lab 22, told: the tracer says more" not grep -qE 'race:|out of bounds' "$tmp/out"
fi

# Lab 13: the compiler leaves old_copy()'s second load behind the first store, which may be to it.
order() # KERNEL: its loads and stores
{
    awk -v kernel="$1" '$0 ~ "entry.*" kernel { on = 1 } on && /(ld|st)\.global/ {
        printf "%s ", substr($1, 1, 2) } /^}/ { on = 0 }' "$tmp/13.ptx"
}
loads() # of each of lab 15's kernels: elements, words a multiply-add
{
    awk '/entry/ { match($0, /ILi[0-9]+/); each = substr($0, RSTART + 3, RLENGTH - 3) }
        /ld\.shared/ { words[each] += /v4/ ? 4 : /v2/ ? 2 : 1 } /fma\.rn\.f32/ { sums[each]++ }
        END { for (each in sums) print each, words[each] / sums[each] }' "$tmp/15.ptx" | sort -n |
        tr '\n' ' '
}
additions() # of lab 19's kernels: format, additions of a value, conversions
{
    awk 'function done() {
            if (format != "")
                printf "%s %d %d, ", format, sums / values, converts / values
            format = ""; values = sums = converts = 0 }
        /\.entry/ { done() }
        /\.entry.*3sum/ {
            bytes = /e4m3/ ? 1 : /half|bfloat/ ? 2 : /IddE/ ? 8 : 4
            format = bytes == 1 ? "fp8" : /bfloat/ ? "bf16" : "fp" 8 * bytes
            format = format (/kahan/ ? " Kahan" : /(half|bfloat16|e4m3)fE/ ? " in fp32" : "") }
        /ld\.global/ { values += 16 / bytes }
        /(add|sub)\.(f16|bf16|f32|f64)/ { sums++ }
        /cvt\.(f32|rn\.f16x2)\./ { converts++ }
        END { done() }' "$tmp/19.ptx"
}
compiled() # SOURCE, OPTION...: of each kernel: chains, registers, bytes spilled to, from; its frame
{
    source=$1
    shift
    "$nvcc" -std=c++17 -O3 -arch=sm_90 "$@" -Xptxas -v -c "$source" -o "$tmp/17.o" 2>&1 | awk '
        /Function properties/ { match($0, /ILi[0-9]+/); n = substr($0, RSTART + 3, RLENGTH - 3) }
        /spill/ { spilled = $5 " " $9 " " $1 } /Used/ { print n, $5, spilled }' | sort
}
holds() # SOURCE: of lab 20's kernels: way, KiB, registers, bytes spilled to, from; its frame
{
    "$nvcc" -std=c++17 -O3 -arch=sm_90 -Xptxas -v -c "$1" -o "$tmp/20.o" 2>&1 |
        tee "$tmp/20.ptxas" | awk '
        /Function properties/ { match($0, /readILi[0-9]+ELi[0-9]+/)
            name = substr($0, RSTART + 7, RLENGTH - 7); sub("ELi", " ", name) }
        /spill/ { spilled = $5 " " $9 " " $1 } /Used/ { print name, $5, spilled }' |
        sort -n -k 2 -k 1
}
behind() # by how many bytes the tiles of `bulk` begin behind a multiple of 32 in shared memory
{
    awk '/Function properties/ { bulk = match($0, /readILi2ELi[0-9]+/)
            kib = substr($0, RSTART + 11, RLENGTH - 11) }
        bulk && match($0, /[0-9]+ bytes smem/) { print kib, substr($0, RSTART, RLENGTH) % 32 }' \
        "$tmp/20.ptxas" | sort -n | cut -d ' ' -f 2 | tr '\n' ' '
}
if nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc); then
    check "lab 13 is no PTX" "$nvcc" -std=c++17 -arch=sm_90 -ptx examples/labs/13_comparing.cu \
        -o "$tmp/13.ptx"
    check "old_copy() is $(order old_copy)" test "$(order old_copy)" = 'ld st ld st '
    check "new_copy() is $(order new_copy)" test "$(order new_copy)" = 'ld ld st st '
    # Labs 3 and 4, changed: all loads of a thread come before its first store.
    for lab in 03_occupancy 04_element_size; do
        "$nvcc" -std=c++17 -arch=sm_90 -ptx examples/labs/solutions/$lab.cu -o "$tmp/ahead.ptx"
        ahead=$(grep -oE '\.entry|(ld|st)\.global' "$tmp/ahead.ptx" | uniq -c |
            awk '$2 != ".entry" { print $1, $2 }' | sort -u | paste -sd , -)
        check "lab $lab, changed: $ahead" test "$ahead" = '4 ld.global,4 st.global'
    done
    # Lab 11: the root and the division, and what takes their place.
    for of in '11_nbody rcp.rn.f32,sqrt.rn.f32,' 'solutions/11_nbody rsqrt.approx.f32,'; do
        "$nvcc" -std=c++17 -arch=sm_90 -ptx "examples/labs/${of% *}.cu" -o "$tmp/root.ptx"
        roots=$(grep -oE '(div|rcp|r?sqrt)\.[a-z]+\.f32' "$tmp/root.ptx" | sort -u | tr '\n' ,)
        check "lab 11: ${of% *}: $roots" test "$roots" = "${of#* }"
    done
    # Lab 15: words of shared memory that its kernels load for a multiply-add.
    check "lab 15 is no PTX" "$nvcc" -std=c++17 -arch=sm_90 -ptx \
        examples/labs/solutions/15_matrix_product.cu -o "$tmp/15.ptx"
    check "lab 15 loads: $(loads)" test "$(loads)" = '1 2 2 1 4 0.5 8 0.25 '
    # Lab 21: CUB is there, and has one barrier for a block's sum where the tree has eight.
    check "lab 21 is no PTX" "$nvcc" -std=c++17 -arch=sm_90 -ptx examples/labs/21_libraries.cu \
        -o "$tmp/21.ptx"
    barriers=$(awk '/\.entry/ {
            match($0, /3addILi[0-9]/)
            way = substr($0, RSTART + 7, RLENGTH - 7) }
        way != "" && /bar\.sync|barrier\.sync/ { n[way]++ }
        way != "" && /shfl/ { s[way]++ }
        END { print n[0], n[1], s[0] + 0, s[1] }' "$tmp/21.ptx")
    check "lab 21: barriers and shuffles are $barriers" test "$barriers" = '8 1 0 5'
    check "lab 21 has no CUB" grep -q 'entry .*DeviceReduceKernel' "$tmp/21.ptx"
    # Lab 19: what it does with a value; and its formats round as CUDA's do, on the host, too.
    check "lab 19 is no PTX" "$nvcc" -std=c++17 -arch=sm_90 -ptx \
        examples/labs/19_number_formats.cu -o "$tmp/19.ptx"
    wide='fp64 1 0, fp32 1 0, fp32 Kahan 4 0, '
    narrow='fp16 1 0, fp16 in fp32 1 1, bf16 1 0, bf16 in fp32 1 1, fp8 in fp32 1 2, '
    check "lab 19 adds: $(additions)" test "$(additions)" = "$wide$narrow"
    cat >"$tmp/rounds.cu" <<'EOF'
#include "labs/formats.h"

template <typename ours, typename theirs> static int wrong(float least, float most)
{
    for (float x = least; x < most; x *= 1.0001f)
        if (float(ours(x)) != float(theirs(x)))
            return printf("%.9g is %.9g, not %.9g\n", x, float(ours(x)), float(theirs(x)));
    for (int i = -9999; i < 9999; i++) /* halfway between two of them */
        if (float(ours(float(i) / 512)) != float(theirs(float(i) / 512)))
            return printf("%d / 512 is %.9g\n", i, float(ours(float(i) / 512)));
    return 0;
}

int main()
{
    return wrong<lab_rounded<10, -14>, __half>(1e-8f, 6e4f) ||
           wrong<lab_rounded<7, -126>, __nv_bfloat16>(1e-20f, 1e20f) ||
           wrong<lab_rounded<3, -6>, __nv_fp8_e4m3>(1e-4f, 440);
}
EOF
    check "formats.h does not compile" "$nvcc" -std=c++17 -arch=sm_90 -Iexamples \
        "$tmp/rounds.cu" -o "$tmp/rounds"
    check "formats.h rounds: $("$tmp/rounds")" "$tmp/rounds"
    # Lab 17: what the bound does to its kernels; how many registers, one version has told.
    compiled examples/labs/17_registers.cu >"$tmp/rows"
    compiled examples/labs/solutions/17_registers.cu >"$tmp/bound"
    check "lab 17: $(cat "$tmp/rows")" test "$(cut -d ' ' -f 1,3,4 "$tmp/rows" | tr '\n' ,)" = \
        '1 0 0,16 0 0,4 0 0,64 0 0,'
    # shellcheck disable=SC2016 # awk's
    check "lab 17, bound: $(cat "$tmp/bound")" awk '$1 < 64 && $3 + $4 { exit 1 }
        $1 == 64 && ($2 > 32 || $3 < 200 || $4 < 200) { exit 1 }' "$tmp/bound"
    if "$nvcc" --version | grep -q 'release 13\.0'; then
        join "$tmp/rows" "$tmp/bound" | while read -r n own _ _ _ bound to from _; do
            [ "$to" = 0 ] && spilled=– || spilled="$to and $from bytes"
            echo "| $n | $own | – | $bound | $spilled |"
        done >"$tmp/cells"
        check "lab 17: $(wc -l <"$tmp/cells") kernels" test "$(wc -l <"$tmp/cells")" -eq 4
        while read -r cells; do
            check "lab 17: no row $cells" grep -qF "$cells" examples/labs/solutions/third.md
        done <"$tmp/cells"
        read -r n own _ _ _ bound to from frame <<END
$(join "$tmp/rows" "$tmp/bound" | grep '^64 ')
END
        check "lab 17: a thread has $frame bytes" \
            grep -qF "$frame bytes a thread are" examples/labs/solutions/third.md
        check "misconceptions.md: registers" grep -qF \
            "has $bound registers a thread for $n values, where it took $own: $to bytes are" \
            "$tmp/believed"
        sed 's/const uint64_t first = .*;/const unsigned first = blockIdx.x * BLOCK * chains +\
            threadIdx.x;/; s/"lab.h"/"labs\/lab.h"/' examples/labs/17_registers.cu >"$tmp/17.cu"
        registers=$(compiled "$tmp/17.cu" -Iexamples | sed -n 's/^64 \([0-9]*\) .*/\1/p')
        check "lab 17 with another index: $registers" \
            grep -qF "compiler takes $registers." examples/labs/solutions/third.md
        holds examples/labs/20_async_copies.cu >"$tmp/of256"
        check "lab 20 begins at $(behind)" test "$(behind)" = '16 16 0 0 0 0 '
        holds examples/labs/solutions/20_async_copies.cu >"$tmp/of64"
        check "lab 20, of 64 threads, begins at $(behind)" test "$(behind)" = '0 0 0 0 0 0 '
        for kib in 4 8 16 32 64 128; do
            cells=$(awk -v kib=$kib '$2 == kib { printf " %s |", $3 }' "$tmp/of256" "$tmp/of64")
            check "lab 20: no row | $kib |$cells" grep -qxF "| $kib |$cells" \
                examples/labs/solutions/fifth.md
        done
        check "lab 20 spills: $(cat "$tmp/of256")" test -z "$(grep -v ' 0 0 0$' "$tmp/of256")"
        check "lab 20, of 64 threads, spills: $(cat "$tmp/of64")" test "$(grep -v ' 0 0 0$' \
            "$tmp/of64" | tr '\n' ,)" = '0 64 255 616 584 56,0 128 34 0 0 2048,'
        for said in '616 bytes are spilled, and 584 come back' 'all 2048 bytes of a thread'; do
            check "fifth.md: $said" sh -c \
                "tr '\n' ' ' <examples/labs/solutions/fifth.md | grep -qF '$said'"
        done
        few=$(awk '$2 == 64 && $1 { printf "%s%s", sep, $3; sep = ", in bulk " }' "$tmp/of64")
        few="as copies into shared memory they take $few."
        check "misconceptions.md: lab 20's registers" grep -qF \
            "takes all 255 of a thread and spills 616 bytes; $few" "$tmp/believed"
        # Its instructions, and those of labs 16 and 23, are named where there is what shows them.
        if disassemble=$(command -v nvdisasm || command -v /usr/local/cuda/bin/nvdisasm); then
            for lab in 16_warps 17_registers solutions/20_async_copies 23_clusters; do
                "$nvcc" -std=c++17 -O3 -arch=sm_90 -cubin -o "$tmp/cubin" "examples/labs/$lab.cu"
                "$disassemble" -c "$tmp/cubin" >"$tmp/$(basename "$lab" | cut -c 1-2).sass"
            done
            for of in 16,ATOMS.POPC.INC.32 '17,FFMA R6, R6, R4, R3' \
                '17,FFMA R8, R8, R4.reuse, R3.reuse'; do
                check "no ${of#*,}" grep -qF "${of#*,} " "$tmp/${of%%,*}.sass"
                check "third.md: no ${of#*,}" grep -qF "\`${of#*,}\`" \
                    examples/labs/solutions/third.md
            done
            for of in 20,LDGSTS.E.BYPASS.128 '20,DEPBAR.LE SB0, 0x3f' 20,UBLKCP \
                23,ATOMS.POPC.INC.32 23,ATOM.E.ADD.STRONG.GPU; do
                check "no ${of#*,}" grep -qF " ${of#*,}" "$tmp/${of%%,*}.sass"
                check "fifth.md: no ${of#*,}" grep -qF "\`${of#*,}\`" \
                    examples/labs/solutions/fifth.md
            done
        else
            skip "no nvdisasm to look at the instructions of labs 16, 17, 20 and 23 with"
        fi
    else
        skip "not nvcc 13.0, whose registers labs 17 and 20 tell"
    fi
else
    skip "no nvcc for what labs 13, 15, 17, 19, 20 and 23 compile to"
fi

# The rows and counters of the H200 are what the solutions say of them.
if command -v python3 >/dev/null; then
    count "figures of the solutions" python3 tests/lab_counters.py
else
    skip "no python3 to look into the counters with"
fi

# The notebook, as it is where there is no GPU, or is one; and what it shows of each lab.
if python3 -c 'import ipykernel, nbclient' 2>/dev/null; then
    check "labs.ipynb" env PYTHONDONTWRITEBYTECODE=1 python3 - examples/labs <<'EOF'
import pathlib, sys

import nbclient, nbformat

folder = sys.argv[1]
sys.path.insert(0, folder)
import lab

for source in pathlib.Path(folder).glob("*.cu"):
    text = lab.Lab(source.stem[:2])._repr_markdown_()
    assert text.count("\n**Question:**") == text.count("\n**Change:**") == 1, text

notebook = nbformat.read(f"{folder}/labs.ipynb", 4)
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
assert not any(cell.outputs or cell.execution_count for cell in code)
assert all(len(cell.source.splitlines()) <= 4 for cell in code)
assert sum("*Answer:*" in cell.source for cell in notebook.cells) >= 4

nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
shown = [out for cell in code for out in cell.outputs]
text = "".join(out.get("text", "") for out in shown)
assert sum("image/svg+xml" in out.get("data", {}) for out in shown) == 2, shown
assert "exit code" not in text, text
assert text.count("6 rows: 6 ok, 0 skipped, 0 failed") == 4, text
assert "32.00    32.00   4.00   8.00  12.5 %  out[i] = in[" in text, text
for rows in ("", "solutions/"):
    assert f"replayed from examples/labs/h200/{rows}05_coalescing.json" in text, text
EOF
else
    skip "labs.ipynb: no nbclient and ipykernel for python3"
fi

# It measures where there is nvcc and a GPU that answers, not where one of the two is missing.
if command -v python3 >/dev/null; then
    mkdir "$tmp/gpu" "$tmp/without"
    for program in gpu/nvidia-smi gpu/nvcc without/nvidia-smi without/nvcc; do
        printf '#!/bin/sh\necho %s\n' "$program" |
            sed 's/gpu.nvidia-smi/GPU 0: one/' >"$tmp/$program"
        chmod +x "$tmp/$program"
    done
    for where in gpu without; do
        PATH=$tmp/$where:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=examples/labs python3 -c '
import lab
print(lab.Lab("05").backend, lab.Lab("05").nvcc)' >"$tmp/backend_$where" 2>&1
    done
    check "labs.ipynb with a GPU: $(cat "$tmp/backend_gpu")" \
        grep -qxF "cuda $tmp/gpu/nvcc" "$tmp/backend_gpu"
    check "labs.ipynb without: $(cat "$tmp/backend_without")" \
        grep -qxF 'cpu None' "$tmp/backend_without"
fi

# What is to be measured on a GPU are all rows that are missing, and more of the benchmarks.
mkdir -p "$tmp/stubs/labs/solutions" "$tmp/measured"
# shellcheck disable=SC2016 # what the stub is to expand
printf '#!/bin/sh\necho "$0" "$@" >>"$CALLS"\n%s\n' \
    'for a; do case $last in --json | --csv) echo >"$a" ;; esac; last=$a; done' >"$tmp/stubs/matmul"
chmod +x "$tmp/stubs/matmul"
for stub in histogram transpose $(cd examples && echo labs/*.cu labs/solutions/*.cu); do
    cp "$tmp/stubs/matmul" "$tmp/stubs/${stub%.cu}"
done
check "measure.sh" env BUILD="$tmp/stubs" BENCHMARKS="matmul histogram transpose" \
    CALLS="$tmp/calls" sh examples/labs/measure.sh "$tmp/measured"
for source in examples/labs/*.cu examples/labs/solutions/*.cu; do
    rows=examples/labs/h200${source#examples/labs}
    rows=${rows%.cu}.json
    check "measure.sh: no $rows" test -f "$rows" -o -f "$tmp/measured/$rows"
done
for lab in 12_roofline 15_matrix_product 16_warps 17_registers 18_overlap link/18_overlap \
    19_number_formats 20_async_copies bytes/20_async_copies 21_libraries 23_clusters \
    link/24_two_devices; do
    for rows in "$lab" "$(echo "$lab" | sed 's,[^/]*$,solutions/&,')"; do
        rows=examples/labs/h200/counters/$rows.json
        check "measure.sh: no $rows" test -f "$rows" -o -f "$tmp/measured/$rows"
    done
done
check "measure.sh counts the link's bytes with others" not grep -qE \
    'pcie__.*(instructions|dram)|(instructions|dram).*pcie__' "$tmp/calls"
check "measure.sh counts for too many rows of lab 18" not sh -c \
    "grep '18_overlap.*--counters' '$tmp/calls' | grep -vE 'chunks=16 .*steps=512 '"
rows=examples/labs/h200/counters/solutions/07_subdomains.json
check "measure.sh: no $rows" test -f "$rows" -o -f "$tmp/measured/$rows"
check "measure.sh measures a lab before a later one" sh -c \
    "sed -n 's,.*stubs/labs/\([0-9]*\)_.*,\1,p' '$tmp/calls' | sort -rnc"
for rows in matmul matmul-plans matmul-counters matmul-sizes-counters histogram \
    histogram-counters histogram-sizes-counters transpose transpose-counters; do
    check "measure.sh: no rows of $rows" test -f "$tmp/measured/bench/results/h200-$rows.csv"
done
check "measure.sh measures what no page has" test -z "$(
    cd "$tmp/measured/bench/results" && for rows in *; do
        [ -f "$OLDPWD/bench/results/$rows" ] || echo "$rows"
    done)"

# The term and the misconceptions leave no lab out.
for source in examples/labs/*.cu; do
    n=$(basename "$source" | sed 's/^0*\([0-9]*\)_.*/\1/')
    check "misconceptions.md: no lab $n" grep -qE "[Ll]ab $n\\b" "$tmp/believed"
    check "course.md: no week has lab $n" sh -c \
        "sed -n '/^## A term/,/^## How/p' examples/labs/course.md | cut -d '|' -f 4 | grep -w $n"
done

# What tools.sh keeps of tools differs from run to run in nothing.
mkdir "$tmp/tools"
# shellcheck disable=SC2016 # what the stub is to expand
printf '#!/bin/sh\n%s\n' 'case $1 in profile) exit 0 ;; esac
echo "==PROF== Connected to process $$ ($PWD/lab)
==$$== a line of $1 $2
=========     at add()+0x90 in $PWD/examples/labs/22_tools.cu:21
=========     Access at 0x7f${$}00000a00 is out of bounds
[$$] 08_transpose@127.0.0.1
Processing [/tmp/x.sqlite] with [/opt/x.py]...
kept"' >"$tmp/tools/ncu"
chmod +x "$tmp/tools/ncu"
cp "$tmp/tools/ncu" "$tmp/tools/nsys"
cp "$tmp/tools/ncu" "$tmp/tools/compute-sanitizer"
check "tools.sh" env PATH="$tmp/tools:$PATH" BUILD="$tmp/stubs" sh examples/labs/tools.sh \
    "$tmp/measured"
tools=$tmp/measured/examples/labs/h200/tools
for name in memcheck racecheck initcheck ncu nsys; do
    cp "$tools/$name.txt" "$tmp/$name.txt"
    check "tools.sh: $name" grep -qx 'kept' "$tools/$name.txt"
    case $name in *check)
        check "tools.sh: $name: of another tool" \
            test "$(grep -c "^a line of --tool $name" "$tools/$name.txt")" -eq 2 ;;
    esac
    check "tools.sh: $name: no line of the lab" grep -qF 'in examples/labs/22_tools.cu:21' \
        "$tools/$name.txt"
    check "tools.sh: $name: an address, a path or a process" not grep -E \
        "0x7f|$tmp|$PWD|127\.0|==[0-9]|/opt|process [0-9]" "$tools/$name.txt"
done
check "tools.sh, again" env PATH="$tmp/tools:$PATH" BUILD="$tmp/stubs" sh examples/labs/tools.sh \
    "$tmp/measured"
for name in memcheck racecheck initcheck ncu nsys; do
    check "tools.sh: $name differs" cmp "$tmp/$name.txt" "$tools/$name.txt"
done

# The commands of the hand-outs are those of the Makefile.
for target in labs trace; do
    check "no make $target" grep -q "^$target:" Makefile
done

finish
