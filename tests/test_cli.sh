#!/bin/sh
# test_cli.sh - drives cli_program.cu as a user would: options and their errors, files, pipes,
# signals. Needs a C++ compiler only; python3 reads the files back and `script` plays a terminal if
# they exist.
# shellcheck disable=SC2086  # words in $quick and $CXXFLAGS are meant to split
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
unset NO_COLOR

program=$tmp/program
quick='--budget 0.02 --warmup 0.001 --samples 6:20 --precision 50'
calm='--samples 100:1000 --precision 1 --spread 0.001'
columns=$(columns | paste -sd , -)
sinks='--csv=x.csv --json=x.json --md=x.md' # beside the wrong option; must not be made
escape=$(printf '\033')
newline='
'

# ---- helpers -------------------------------------------------------------------------------------

# run ARGUMENT...: leaves $tmp/out, $tmp/err and $code
run() {
    timeout 60 "$program" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
}

# with CODE ARGUMENT...: runs and checks the exit code
with() {
    wanted_code=$1
    shift
    run "$@"
    check "exit code $code, not $wanted_code: $*: $(head -n 3 "$tmp/err")" \
        test "$code" -eq "$wanted_code"
}

# with_files NAME CODE ARGUMENT...: and leaves its rows in $tmp/NAME.csv, .json and .md
with_files() {
    file=$tmp/$1
    shift
    with "$@" --csv "$file.csv" --json "$file.json" --md "$file.md"
}

head_line() { sed -n 1p "$1" | tr -d '\r'; }
lines() { wc -l <"$1" | tr -d ' '; }
empty_folder() { test -z "$(ls -A "$1")"; }

# refused CODE PATTERN ARGUMENT...: one line on stderr that matches PATTERN (the option and the
# culprit); nothing on stdout; no file
refused() {
    wanted_code=$1
    pattern=$2
    shift 2
    mkdir "$tmp/cwd"
    (
        cd "$tmp/cwd" || exit
        timeout 20 "$program" $sinks "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    )
    code=$?
    check "exit code $code, not $wanted_code: $*" test "$code" -eq "$wanted_code"
    check "not one line: $*: $(cat "$tmp/err")" test "$(lines "$tmp/err")" -eq 1
    check "line does not match $pattern: $*: $(cat "$tmp/err")" has "$pattern" "$tmp/err"
    check "standard output: $*: $(head -n 3 "$tmp/out")" not test -s "$tmp/out"
    check "left behind: $*: $(ls -A "$tmp/cwd")" empty_folder "$tmp/cwd"
    rm -rf "$tmp/cwd"
}

# example PATTERN: the line of the last `refused` shows what is right
example() {
    check "no example ($1) in: $(cat "$tmp/err")" has "$1" "$tmp/err"
}

parse_files() { # NAME ARGUMENT...
    file=$tmp/$1
    shift
    parse --csv "$file.csv" --json "$file.json" --md "$file.md" "$@"
}

# column NAME FILE: a column of a CSV file without quotes in its rows
column() {
    awk -F, -v name="$1" '
        { sub(/\r$/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print c ? $c : "no column" }' "$2"
}

# all VALUE NAME FILE: every row has this value in this column
first() { column "$1" "$2" | head -n 1; }

all() {
    test "$(column "$2" "$3" | sort -u)" = "$1"
}

# ---- the program ---------------------------------------------------------------------------------

if ! ${CXX:-c++} -x c++ -std=c++11 -O1 -pthread -I. ${CXXFLAGS-} tests/cli_program.cu \
    -o "$program" 2>"$tmp/err"; then
    cat "$tmp/err"
    fail "cli_program.cu does not compile"
    finish
fi
check "warnings: $(head -n 5 "$tmp/err")" not test -s "$tmp/err"

cat >"$tmp/listen.c" <<'END'
/* Runs its arguments with SIGINT as at a terminal: a shell starts background programs deaf to it.
 * And by the machine's clock: they are to last until they are interrupted. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    (void)argc;
    signal(SIGINT, SIG_DFL);
    setenv("REAL_CLOCK", "1", 1);
    execv(argv[1], argv + 1);
    return 127;
}
END
${CXX:-c++} -x c++ "$tmp/listen.c" -o "$tmp/listen" || exit 1

# A FIFO without a writer is waited for 10 s, meanwhile.
mkfifo "$tmp/silent"
(
    timeout 30 "$program" --compare "$tmp/silent" >/dev/null 2>"$tmp/silent.err"
    echo $? >"$tmp/silent.code"
) &
silent=$!

# ---- help, list, version -------------------------------------------------------------------------

with 0 -h
cp "$tmp/out" "$tmp/short"
with 0 --help
check "--help writes to stderr" not test -s "$tmp/err"
check "-h is not --help" cmp -s "$tmp/short" "$tmp/out"
for option in --help --list --profile --filter --axis --device --csv --json --md --precision \
    --budget --samples --warmup --quick --full --seed --peak --no-color --version --compare \
    --delta --processes --spread --fail-on-regression --gbench --raw --compare-values; do
    check "--help does not tell of $option" has "(^|[ ,])$option\\b" "$tmp/out"
done
check "--help has lines beyond 100 columns" not has '.{101}' "$tmp/out"
check "--help has $(lines "$tmp/out") lines, more than 50" test "$(lines "$tmp/out")" -le 50
check "--help has no groups: $(grep -E '^[A-Z].*:$' "$tmp/out")" \
    test "$(grep -cE '^[A-Z][a-z ]+:$' "$tmp/out")" -ge 5
check "--help ends early" \
    grep -q '^error, 129 hung up, 130 interrupted, 143 terminated\.$' "$tmp/out"
sed 1d "$tmp/out" >"$tmp/help" # but for the program's name
check "examples/options.md does not show --help as it is" \
    not grep -vxFf examples/options.md "$tmp/help"

with 0 --version
version=$(sed -n 's/^#define GPUMB_VERSION "\(.*\)"/\1/p' gpumb.h)
check "--version says $(cat "$tmp/out")" grep -qwF "$version" "$tmp/out"
check "--version takes more than one line" test "$(lines "$tmp/out")" -eq 1

with 0 --list
for name in copy zcopy odd; do
    check "--list does not tell of $name" has "^ *$name\\b" "$tmp/out"
done
check "--list has no descriptions" has "one element a thread" "$tmp/out"
check "--list writes to stderr" not test -s "$tmp/err"

with 0 --filter zcopy --list
check "--filter with --list" has '^zcopy  .*grid-stride' "$tmp/out"
check "--filter with --list: axes" has 'axis   form = naive fastest' "$tmp/out"
check "--filter with --list: what is not selected" not has '^copy|^odd|trouble|axis   n|\| with' \
    "$tmp/out"
check "--list has each line once" test -z "$(sort "$tmp/out" | uniq -d)"
with 2 --filter nosuch --list
check "--filter with --list shows something" not test -s "$tmp/out"

# ---- what is wrong -------------------------------------------------------------------------------

refused 2 '--axis.*block.*\b0\b' --axis block=0
example 'block=[0-9]*[1-9]'
refused 2 '--axis.*2\^80' --axis n=2^80
refused 2 '--axis.*nosuch' --axis nosuch=1
example '\b(block|n|form|blocks)\b'
refused 2 '--axis.*block' --axis block=
example 'block=[0-9]'
refused 2 '--axis.*block' --axis block=4:1:+1
example 'block=[0-9]'
refused 2 '--axis.*block' --axis 'block=1:10:*1'
example 'block=[0-9]'
refused 2 '--axis.*block' --axis block=64:256
refused 2 '--axis.*block' --axis block=64:256:+0
refused 2 '--axis.*block' --axis block=64:256:8
refused 2 '--axis.*block' --axis block=64,
refused 2 '--axis.*block' --axis block=64,,128
refused 2 '--axis.*block' --axis block=64x
refused 2 '--axis.*block' --axis block=-64
refused 2 '--axis.*block' --axis block=1.5
refused 2 '--axis.*block.*more than a million' --axis 'block=64:9000000000000000000:+1'
refused 2 '--axis.*block' --axis block
refused 2 '--axis' --axis =64
refused 2 '--axis' --axis ''
refused 2 '--axis.*form.*nosuch' --axis form=nosuch
example 'naive|fastest'
refused 2 '--axis.*trouble.*-1' --axis trouble=-1

refused 2 '--precision.*-1' --precision -1
example '--precision[= ][0-9]*\.?[0-9]*[1-9]'
refused 2 '--precision.*\b0\b' --precision 0
refused 2 '--precision.*x' --precision x
refused 2 '--precision.*nan' --precision nan
refused 2 '--precision.*1 ?%?x' --precision 1x
refused 2 '--precision' --precision=
refused 2 '--budget.*1e400' --budget 1e400
example '--budget[= ][0-9.]*[1-9]'
refused 2 '--budget.*-1' --budget -1
refused 2 '--budget.*inf' --budget inf
refused 2 '--warmup.*x' --warmup x
refused 2 '--samples.*10:5' --samples 10:5
example '--samples[= ][0-9]+:[0-9]+'
refused 2 '--samples.*\b5\b' --samples 5
refused 2 '--samples.*0:5' --samples 0:5
refused 2 '--samples.*1:100000000' --samples 1:100000000
refused 2 '--samples.*1:2:3' --samples 1:2:3
refused 2 "--counters registers: 'registers' .*column" --counters registers
example 'dram_read_bytes'
refused 2 "--counters l2_hit_rate,n: 'n' .*column" --counters l2_hit_rate,n
refused 2 "--counters : '' .*1 to 127" --counters ''
refused 2 '--seed.*-1' --seed -1
example '--seed[= ][0-9]'
refused 2 '--seed.*18446744073709551616' --seed 18446744073709551616
refused 2 '--peak.*\b0\b' --peak 0
example '--peak[= ][0-9]'
refused 2 '--device.*99' --device 99
refused 2 '--device.*-1' --device -1
refused 2 '--device.*4294967296' --device 4294967296
refused 2 '--filter.*nosuch' --filter nosuch
example '\b(copy|zcopy|odd)\b'
refused 2 '\bstray\b' stray
refused 2 '--nosuch' --nosuch
refused 2 '--nosuch' --nosuch=1
refused 2 '(--quick.*--full|--full.*--quick)' --quick --full
refused 2 '(--quick.*--full|--full.*--quick)' --full --quick
refused 2 '--quick' --quick=1
refused 2 '-x\b' -x
refused 2 '--csv.*needs a value' --csv --json
refused 2 'argument|option|empty|""|'"''" ''
refused 2 '--csv b.csv.*--csv x.csv' --csv b.csv
refused 2 '--seed 2.*--seed 1' --seed 1 --quick --seed=2
refused 2 '--device 1.*--device 0' --device 0 --device 1
refused 2 '--samples 6:9.*--samples 6:8' --samples 6:8 --samples 6:9
refused 2 '--axis n=2.*--axis n=1' --axis n=1 --axis n=2
for option in --filter --axis --device --csv --json --md --precision --budget --samples --warmup \
    --seed --peak --compare --delta --processes --spread; do
    refused 2 "$option" $option
    refused 2 "$option" --quick $option
done
# the first of two errors is told, in one line
refused 2 '--seed|--peak' --seed -1 --peak 0
# the same value twice does no harm
with 0 --list --seed 3 --seed 3 --axis n=1000 --axis n=1000
check "an axis that was given twice" has 'axis   n = 1000$' "$tmp/out"
# a line break in an argument stays out of the message
refused 2 '--axis' --axis "bl${newline}ock=1"

sinks=
refused 2 '--csv.*name of a file' --csv=
mkdir "$tmp/folder"
refused 2 "--csv.*$tmp/folder" --csv "$tmp/folder"
example '--csv[= ][^ ]'
refused 2 "--csv.*$tmp/missing/x.csv" --csv "$tmp/missing/x.csv"
refused 2 "--json.*$tmp/missing/x.json" --json "$tmp/missing/x.json"
refused 2 "--md.*$tmp/missing/x.md" --md "$tmp/missing/x.md"
refused 2 '--csv' --csv ''
refused 2 '(--csv.*--json|--json.*--csv)' --csv y --json y
refused 2 '(--csv.*--md|--md.*--csv)' --csv y --md y
refused 2 '(--csv.*--json|--json.*--csv)' --csv - --json -
# the same file by another name
refused 2 '(--csv.*--json|--json.*--csv)' --csv y --json ./y
if [ "$(id -u)" -ne 0 ]; then
    mkdir "$tmp/locked"
    chmod 555 "$tmp/locked"
    refused 2 "--csv.*$tmp/locked" --csv "$tmp/locked/x.csv"
else
    skip "root may write everywhere"
fi
if [ -c /dev/full ]; then
    refused 4 '/dev/full' $quick --csv /dev/full
    refused 4 '/dev/full' $quick --json /dev/full
    refused 4 '/dev/full' $quick --md /dev/full
else
    skip "no /dev/full"
fi

# a failed start leaves the file of an earlier run alone
echo precious >"$tmp/old.csv"
with 2 --csv "$tmp/old.csv" --axis nosuch=1
check "an error in the command line has touched an old file" test "$(cat "$tmp/old.csv")" = precious
check "an error in the command line has left a .part" not test -e "$tmp/old.csv.part"

# ---- what is right -------------------------------------------------------------------------------

with_files a 0 $quick --filter=zcopy --seed 7
check "files: no a.csv" test -s "$tmp/a.csv"
check "files: no a.json" test -s "$tmp/a.json"
check "files: no a.md" test -s "$tmp/a.md"
check "a .part is left" not test -e "$tmp/a.csv.part"
check "a .part is left" not test -e "$tmp/a.json.part"
check "a .part is left" not test -e "$tmp/a.md.part"
check "columns of the CSV" test "$(head_line "$tmp/a.csv")" = "$columns,form,blocks"
check "rows of the CSV" test "$(lines "$tmp/a.csv")" -eq 5
check "bench" all zcopy bench "$tmp/a.csv"
check "kernel" all write kernel "$tmp/a.csv"
check "backend" all cpu backend "$tmp/a.csv"
check "status" all ok status "$tmp/a.csv"
check "bytes" all 65536 bytes "$tmp/a.csv"
check "blocks" test "$(column blocks "$tmp/a.csv" | tr '\n' ' ')" = "2 4 2 4 "
check "form" test "$(column form "$tmp/a.csv" | tr '\n' ' ')" = "naive naive fastest fastest "
check "no words on the emulation in the table" has 'emulated' "$tmp/out"
check "colours without a terminal" not grep -q "$escape" "$tmp/out"
check "colours without a terminal, on stderr" not grep -q "$escape" "$tmp/err"
parse_files a --rows 4

# the union of the axes; empty where a benchmark does not have one
with 0 $quick --filter copy --csv "$tmp/b.csv" --json "$tmp/b.json" --md "$tmp/b.md"
check "columns of the union" test "$(head_line "$tmp/b.csv")" = "$columns,block,n,form,blocks"
check "axes of other benchmarks are empty" \
    test "$(column form "$tmp/b.csv" | tr '\n' ' ')" = "      naive naive fastest fastest "
check "seed, where data were filled" \
    test "$(column seed "$tmp/b.csv" | tr '\n' ' ')" = "1 1 1 1 1 1     "
parse --csv "$tmp/b.csv" --json "$tmp/b.json" --md "$tmp/b.md" --rows 10

# all of them
with 0 $quick --csv "$tmp/b.csv"
parse --csv "$tmp/b.csv" --axes block,n,form,blocks,label,trouble --rows 12

# axes: lists, ranges, suffixes; a name may be given with = or apart
axis() { # BLOCKS ARGUMENT...
    wanted=$1
    shift
    with 0 $quick --filter copy --csv "$tmp/x.csv" --axis n=1000 --axis form=naive \
        --axis blocks=2 "$@"
    values=$(column block "$tmp/x.csv" | grep . | tr '\n' ' ')
    check "$*: $values" test "$values" = "$wanted "
}
axis '96 192' --axis block=96,192
axis '192 96' --axis=block=192,96
axis '32 64' --axis block=32,64
axis '64 96 128' --axis block=64:128:+32
axis '64 96' --axis block=64:127:+32
axis '1 3 9' --axis 'block=1:26:*3'
axis '64' --axis block=64:64:+1
axis '256' --axis block=2^8
axis '64 128' --axis 'block=2^6:2^7:*2'
axis '64 1000 1024' --axis block=64,1k,1Ki
with 0 $quick --filter zcopy --axis blocks=1Ki --axis form=fastest --csv "$tmp/x.csv"
check "1Ki is 1024" all 1024 blocks "$tmp/x.csv"
check "one name of two" all fastest form "$tmp/x.csv"

# settings reach the rows
one='--filter copy --axis block=64 --axis n=1000 --axis form=naive --axis blocks=2'
with 0 $quick $one --seed 18446744073709551615 --peak 0.001 --csv "$tmp/x.csv"
check "seed" test "$(column seed "$tmp/x.csv" | head -n 1)" = 18446744073709551615
check "peak" all 0.001 peak_gbps "$tmp/x.csv"
check "above peak" test "$(column flags "$tmp/x.csv" | grep -c above-peak)" -eq 2
parse --csv "$tmp/x.csv" --rows 2
with 0 $one --warmup 0 --budget 60 --samples 7:7 --precision 0.000001 --csv "$tmp/x.csv"
check "--samples 7:7 takes $(column samples "$tmp/x.csv")" all 7 samples "$tmp/x.csv"
check "stop" all samples stop "$tmp/x.csv"
with 0 $one --warmup 0 --budget 60 --samples=3:3 --csv "$tmp/x.csv"
check "--samples 3:3 takes $(column samples "$tmp/x.csv")" all 3 samples "$tmp/x.csv"
check "interval of 3 samples" all '' ci_lo_s "$tmp/x.csv"
check "flag of 3 samples" test "$(column flags "$tmp/x.csv" | grep -c few-samples)" -eq 2
with 0 $one --warmup 0.2 --budget 60 --samples 30:10000 --precision 50 --csv "$tmp/x.csv"
check "stop" all precision stop "$tmp/x.csv"
with 0 $one --warmup 0 --budget 0.000001 --samples 10:10000000 --precision 0.000001 \
    --csv "$tmp/x.csv"
check "stop" all budget stop "$tmp/x.csv"
check "noisy" test "$(column flags "$tmp/x.csv" | grep -cE 'noisy|few-samples')" -eq 2
with 0 $quick $one --full --csv "$tmp/x.csv"
check "--full" test "$(column bytes "$tmp/x.csv" | head -n 1)" -eq 16000
with 0 $quick $one --quick --device 0 --csv "$tmp/x.csv"
check "--quick" test "$(column bytes "$tmp/x.csv" | head -n 1)" -eq 8000

# ---- rows that go wrong --------------------------------------------------------------------------

trouble() { # CODE TROUBLE STATUS REASON
    with_files x "$1" $quick --filter odd --axis trouble="$2"
    check "trouble $2: no file" test -s "$tmp/x.csv"
    check "trouble $2: no reason on the terminal" grep -qE "$4" "$tmp/out"
    check "trouble $2: no reason in the CSV" grep -qE "$4" "$tmp/x.csv"
    check "trouble $2: status" test "$(grep -c ",$3," "$tmp/x.csv")" -eq 2
    parse_files x --rows 2
}
trouble 1 1 failed 'element 7'
trouble 1 2 skipped 'the author'
trouble 1 3 skipped 'memory|large|fit|alloc'
trouble 1 4 skipped '1048576|block|thread'
trouble 1 5 failed 'element 7'

with_files x 0 $quick --filter odd --axis trouble=0,2 # not all rows are skipped

# the sweep goes on behind them, and the summary counts
with_files x 1 $quick --filter odd --axis trouble=0:5:+1
parse_files x --rows 12
check "failed rows" test "$(grep -c ',failed,' "$tmp/x.csv")" -eq 4
check "skipped rows" test "$(grep -c ',skipped,' "$tmp/x.csv")" -eq 6
check "right rows" test "$(grep -c ',ok,' "$tmp/x.csv")" -eq 2

# names with quotes, commas, line breaks
if command -v python3 >/dev/null 2>&1; then
    with_files x 0 $quick --filter odd
    cat >"$tmp/names.py" <<'END'
import csv, json, sys
kernel = 'a "quoted", name | with a newline and \\'  # one line in all files
labels = ["plain", 'comma, "quote" | bar']
with open(sys.argv[1], newline="") as f:
    rows = list(csv.DictReader(f, strict=True))
assert [row["kernel"] for row in rows] == [kernel] * 2, [row["kernel"] for row in rows]
assert [row["label"] for row in rows] == labels, [row["label"] for row in rows]
with open(sys.argv[2]) as f:
    rows = json.load(f)["rows"]
assert [row["kernel"] for row in rows] == [kernel] * 2, [row["kernel"] for row in rows]
assert [row.get("axes", row)["label"] for row in rows] == labels, rows
END
    check "names with quotes" python3 "$tmp/names.py" "$tmp/x.csv" "$tmp/x.json"
    check "a | in Markdown" grep -q 'comma, .*quote.* \\| bar' "$tmp/x.md"
fi

# ---- standard output, pipes, fifos ---------------------------------------------------------------

for sink in csv json md; do
    with 0 $quick $one --$sink -
    cp "$tmp/out" "$tmp/direct.$sink"
    check "--$sink -: no table on stderr" has 'copy' "$tmp/err"
    parse --$sink "$tmp/direct.$sink" --rows 2
    check "--$sink - made a file" not test -e ./- -o -e ./-.part
    # as /dev/stdout, which a test must not lose: a link, even if it leads to a regular file
    ln -s /proc/self/fd/1 "$tmp/stdout.$sink"
    with 0 $quick $one --$sink "$tmp/stdout.$sink"
    check "--$sink with a link: it was replaced" test -L "$tmp/stdout.$sink"
    check "--$sink with a link: a .part" not test -e "$tmp/stdout.$sink.part"
    timeout 60 "$program" $quick $one --$sink "$tmp/stdout.$sink" 2>"$tmp/err" | cat >"$tmp/out"
    case $sink in
    csv) row='^[0-9]+,[0-9.]+,z?copy,' ;;
    json) row='"bench": *"z?copy"' ;;
    md) row='^\| *z?copy' ;;
    esac
    check "--$sink /dev/stdout in a pipe: rows" test "$(grep -cE "$row" "$tmp/out")" -eq 2

    mkfifo "$tmp/fifo.$sink"
    timeout 60 cat "$tmp/fifo.$sink" >"$tmp/direct.$sink" &
    reader=$!
    with 0 $quick $one --$sink "$tmp/fifo.$sink"
    wait $reader
    parse --$sink "$tmp/direct.$sink" --rows 2
    check "the fifo is gone" test -p "$tmp/fifo.$sink"
    check "a fifo has a .part" not test -e "$tmp/fifo.$sink.part"
done
with 0 $quick $one --csv - --json "$tmp/x.json"
cp "$tmp/out" "$tmp/x.csv"
parse --csv "$tmp/x.csv" --json "$tmp/x.json" --rows 2
with 0 $quick $one --csv /dev/null
check "no table beside --csv /dev/null" has 'copy' "$tmp/out"

# a reader that goes away does not hang the program or leave it running
timeout 60 "$program" $quick --csv - 2>/dev/null | head -n 1 >"$tmp/out"
check "--csv - | head -n 1" test "$(lines "$tmp/out")" -eq 1

# standard output that is full or closed
if [ -c /dev/full ]; then
    timeout 60 "$program" $quick $one >/dev/full 2>"$tmp/err"
    code=$?
    check "standard output on a full disk: exit code $code" test $code -eq 4
    check "standard output on a full disk: no word" test -s "$tmp/err"
    for text in --help --version '--explain noisy'; do
        timeout 60 "$program" $text >/dev/full 2>"$tmp/err"
        code=$?
        check "$text on a full disk: exit code $code" test $code -eq 4
    done
    timeout 60 "$program" $quick $one --csv - >/dev/full 2>"$tmp/err"
    code=$?
    check "--csv - on a full disk: exit code $code" test $code -eq 4
fi
timeout 60 "$program" $quick $one --csv "$tmp/x.csv" >&- 2>"$tmp/err"
code=$?
check "standard output closed: exit code $code" test $code -lt 126
parse --csv "$tmp/x.csv" --rows 2
timeout 60 "$program" $quick $one --json - >&- 2>"$tmp/err"
code=$?
check "--json - on a closed stdout: exit code $code" test $code -eq 2
check "--json - on a closed stdout: no word" grep -q 'standard output is closed' "$tmp/err"
check "help on a closed stdout" sh -c "timeout 20 '$program' --help >&-; test \$? -lt 126"

# a full file system in the middle of a run: the limit of the file's size stands in for it
( # the signal is ignored, so that writing fails instead
    trap '' XFSZ
    ulimit -f 4
    timeout 60 "$program" $quick --csv "$tmp/limit.csv" --axis 'n=1000:1200:+10' --filter copy
) >/dev/null 2>"$tmp/err"
code=$?
check "file too large: exit code $code" test $code -eq 4
check "file too large: no name: $(cat "$tmp/err")" has 'limit\.csv' "$tmp/err"
check "file too large: the file has its name, though not complete" not test -e "$tmp/limit.csv"

# ---- signals -------------------------------------------------------------------------------------

has_rows() { [ -e "$tmp/$1.csv.part" ] && [ "$(lines "$tmp/$1.csv.part")" -ge 4 ]; }

# slow NAME [ARGUMENT...]: starts a long sweep in the background with three files; waits for
# three rows
slow() {
    stem=$1
    shift
    [ $# -gt 0 ] || set -- --axis n=1000:5000:+1
    "$tmp/listen" "$program" --filter copy "$@" --budget 0.05 --warmup 0.001 \
        --samples 10:1000000 --precision 0.000001 --csv "$tmp/$stem.csv" --json "$tmp/$stem.json" \
        --md "$tmp/$stem.md" >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    until_true has_rows "$stem"
    check "$stem: rows appear in $stem.csv.part as they finish" has_rows "$stem"
}

until_true() { # COMMAND...: at most half a minute
    tries=0
    until "$@" || [ $tries -gt 600 ]; do
        tries=$((tries + 1))
        sleep 0.05
    done
}
catches_int() { grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status"; } # bit 1

finished() { # code of $pid, at most 20 s later
    (
        sleep 20
        kill -9 $pid
    ) >/dev/null 2>&1 &
    watchdog=$!
    wait $pid 2>/dev/null
    code=$?
    kill $watchdog 2>/dev/null
    wait $watchdog 2>/dev/null
}

echo precious >"$tmp/int.csv"
slow int
kill -INT $pid
finished
check "Ctrl-C: exit code $code, not 130" test $code -eq 130
rows=$(($(lines "$tmp/int.csv.part") - 1))
check "Ctrl-C: an older file was touched" test "$(cat "$tmp/int.csv")" = precious
check "Ctrl-C: int.json exists" not test -e "$tmp/int.json"
check "Ctrl-C: int.md exists" not test -e "$tmp/int.md"
check "Ctrl-C: how many rows ($rows)? $(cat "$tmp/err")" has "\\b$rows\\b" "$tmp/err"
check "Ctrl-C: where are they? $(cat "$tmp/err")" has 'int\.csv\.part' "$tmp/err"
parse --csv "$tmp/int.csv.part" --json "$tmp/int.json.part" --md "$tmp/int.md.part" \
    --rows $rows --part

# the next run takes the place of the .part
with 0 $quick $one --csv "$tmp/int.csv"
check "the .part of an earlier run is left" not test -e "$tmp/int.csv.part"
parse --csv "$tmp/int.csv" --rows 2

# as a batch system does before the time limit, by way of timeout(1), which sends it twice
slow term
kill -TERM $pid
kill -TERM $pid
finished
check "SIGTERM: exit code $code, not 143" test $code -eq 143
rows=$(($(lines "$tmp/term.csv.part") - 1))
check "SIGTERM: $(cat "$tmp/err")" has "terminated after $rows rows" "$tmp/err"
parse --csv "$tmp/term.csv.part" --json "$tmp/term.json.part" --md "$tmp/term.md.part" \
    --rows $rows --part

slow kill
kill -9 $pid
finished
check "kill -9: exit code $code" test $code -eq 137
check "kill -9: kill.csv exists" not test -e "$tmp/kill.csv"
printf ']}' >>"$tmp/kill.json.part" # as examples/files.md says
parse --csv "$tmp/kill.csv.part" --part
if command -v python3 >/dev/null 2>&1; then
    check "kill -9: JSON" python3 -m json.tool "$tmp/kill.json.part"
fi

# resumed: all but the last line, which is torn
with 0 $quick --filter copy --csv "$tmp/whole.csv"
rows=$(($(lines "$tmp/whole.csv") - 1))
head -c -100 "$tmp/whole.csv" >"$tmp/on.csv.part"
with 2 $quick --csv "$tmp/on.csv" --resume
check "--resume: $(cat "$tmp/err")" has 'on\.csv\.part: .*arguments=--filter copy, here' "$tmp/err"
with 0 $quick --filter copy --csv "$tmp/on.csv" --json "$tmp/on.json" --resume
check "--resume: $(cat "$tmp/err")" has "^gpumb: --resume: $((rows - 1)) rows of an ea" "$tmp/err"
check "--resume: a .part is left" not test -e "$tmp/on.csv.part"
head -n "$rows" "$tmp/whole.csv" >"$tmp/first"
check "--resume: other rows" test "$(head -n "$rows" "$tmp/on.csv")" = "$(cat "$tmp/first")"
parse --csv "$tmp/on.csv" --json "$tmp/on.json" --rows $rows

# in the middle of a long row
"$tmp/listen" "$program" --budget 100 --precision 0.000001 --samples 10:10000000 \
    --csv "$tmp/long.csv" >"$tmp/out" 2>"$tmp/err" &
pid=$!
until_true catches_int
sleep 0.5
kill -INT $pid
finished
check "Ctrl-C in a long row: exit code $code" test $code -eq 130
check "Ctrl-C in a long row: says nothing" has 'interrupted' "$tmp/err"
check "Ctrl-C in a long row: long.csv exists" not test -e "$tmp/long.csv"
# while it waits for the reader of its rows: they come whole, and it ends as interrupted
{
    "$tmp/listen" "$program" ${quick%--warmup*} --warmup 0 --samples 6:20 --precision 50 \
        --filter copy/ --axis n=1000:1400:+1 --csv - \
        2>"$tmp/err" &
    echo $! >"$tmp/pid"
    wait $!
    echo $? >"$tmp/code"
} | {
    read -r header # it runs
    sleep 1
    kill -INT "$(cat "$tmp/pid")"
    printf '%s\n' "$header" >"$tmp/piped.csv"
    cat >>"$tmp/piped.csv"
}
check "Ctrl-C at a full pipe: exit code $(cat "$tmp/code")" test "$(cat "$tmp/code")" -eq 130
check "Ctrl-C at a full pipe: $(cat "$tmp/err")" has 'interrupted after' "$tmp/err"
parse --csv "$tmp/piped.csv" --part
# who is deaf to it, as what a script starts in the background, stays so
REAL_CLOCK=1 "$program" $one --budget 1 --samples 10:10000000 --precision 0.000001 \
    --csv "$tmp/deaf.csv" >"$tmp/out" 2>"$tmp/err" &
pid=$!
until_true test -e "$tmp/deaf.csv.part"
check "deaf to Ctrl-C: has ended already" kill -INT $pid
finished
check "deaf to Ctrl-C: exit code $code" test "$code" -eq 0

# ---- comparing with a file -----------------------------------------------------------------------

with 0 $calm $one --csv "$tmp/base.csv" --json "$tmp/base.json"

# scale_base FACTOR FILE: base.csv with other times
scale_base() {
    awk -F, -v OFS=, -v factor="$1" 'NR > 1 { for (i = 15; i <= 17; i++) $i *= factor } 1' \
        "$tmp/base.csv" >"$2"
}

verdicts() { grep -oE '(faster|slower|same|undecided)$' "$tmp/out" | tr '\n' ' '; }

scale_base 0.000001 "$tmp/fast.csv"
scale_base 1000000 "$tmp/slow.csv"
scale_base 100 "$tmp/near.csv"
with 0 $calm $one --compare "$tmp/fast.csv"
check "a million times slower: $(verdicts)" test "$(verdicts)" = "slower slower "
check "no summary" has '0 faster, 2 slower, 0 same, 0 undecided; 0 rows not compared' \
    "$tmp/out"
with 1 $calm $one --compare "$tmp/fast.csv" --fail-on-regression --csv "$tmp/x.csv"
check "--fail-on-regression: the file is not complete" test -e "$tmp/x.csv"
check "--fail-on-regression: $(cat "$tmp/err")" has '2 rows slower' "$tmp/err"
with 0 $calm $one --compare "$tmp/slow.csv" --fail-on-regression
check "a million times faster: $(verdicts)" test "$(verdicts)" = "faster faster "
with 0 $calm $one --compare "$tmp/near.csv" --delta 1000000
check "within --delta: $(verdicts)" test "$(verdicts)" = "same same "
# an interval from 0 on, as few samples that are correlated have it: read, but it tells nothing
awk -F, -v OFS=, 'NR > 1 { $16 = 0 } 1' "$tmp/base.csv" >"$tmp/zero.csv"
with 0 $calm $one --compare "$tmp/zero.csv"
check "an interval from 0 on: $(verdicts)" test "$(verdicts)" = "undecided undecided "
if command -v python3 >/dev/null 2>&1; then
    python3 - "$tmp/base.json" "$tmp/fast.json" <<'END'
import json, sys
tree = json.load(open(sys.argv[1]))
for row in tree["rows"]:
    for name in ("median_s", "ci_lo_s", "ci_hi_s"):
        row[name] *= 1e-6
json.dump(tree, open(sys.argv[2], "w"), indent=3)
END
    with 1 $calm $one --compare "$tmp/fast.json" --fail-on-regression
    check "a million times slower, JSON: $(verdicts)" test "$(verdicts)" = "slower slower "
fi
# the base may be the file that is to be written; the whole run may go elsewhere than the table
cp "$tmp/fast.csv" "$tmp/x.csv"
with 1 $calm $one --compare "$tmp/x.csv" --csv "$tmp/x.csv" --fail-on-regression
check "the base is written: $(verdicts)" test "$(verdicts)" = "slower slower "
parse --csv "$tmp/x.csv" --rows 2
with 0 $calm $one --compare "$tmp/fast.csv" --csv -
check "--csv -: the comparison is among the rows" not has 'slower$' "$tmp/out"
check "--csv -: no comparison on stderr" has 'slower$' "$tmp/err"
with 0 $calm --filter odd --compare "$tmp/fast.csv"
check "rows of other benchmarks" has 'only in .*fast\.csv$' "$tmp/out"
with 0 --list --compare "$tmp/nosuch.csv"

sinks='--csv=x.csv --json=x.json --md=x.md'
bad() { # PATTERN: what $tmp/bad is refused with
    refused 2 "--compare $tmp/bad: $1" --compare "$tmp/bad"
    example '--compare base.csv'
}
refused 2 "--compare $tmp/missing.csv: No such file" --compare "$tmp/missing.csv"
refused 2 "--compare $tmp/folder: Is a directory" --compare "$tmp/folder"
refused 2 '--compare' --compare ''
: >"$tmp/bad"
bad 'line 1: there are no rows'
head_line "$tmp/base.csv" >"$tmp/bad"
bad 'line 1: there are no rows'
sed 1d "$tmp/base.csv" >"$tmp/bad"
bad 'line 1: there is no column bench'
cut -d, -f 1-13,18- "$tmp/base.csv" >"$tmp/bad"
bad 'line 1: there is no column median_s'
head -c 300000 /dev/urandom >"$tmp/bad"
bad 'line [0-9]+: '
head -c "$(($(wc -c <"$tmp/base.csv") - 200))" "$tmp/base.csv" >"$tmp/bad"
bad 'line 3: fewer fields than the header has'
awk '{ text = text $0 "\n" }
    END { while (match(substr(text, i + 1), /"fill"/)) i += RSTART
          printf "%s", substr(text, 1, i + 3) }' "$tmp/base.json" >"$tmp/bad"
bad 'line [0-9]+: the file ends too early'
tr , ';' <"$tmp/base.csv" >"$tmp/bad"
bad 'line 1: there is no column bench'
printf '{}' >"$tmp/bad"
bad 'line 1: there are no rows'
refused 2 '--fail-on-regression: needs a base' --fail-on-regression
refused 2 '--delta 0:' --delta 0
refused 2 '--delta -1:' --delta -1
refused 2 '--spread 0:' --spread 0
example '--spread 2'
refused 2 '--spread x:' --spread x
# what has no end, or none that comes
refused 2 '--compare /dev/zero: is neither a file nor a pipe' --compare /dev/zero
refused 2 '--compare /dev/null: is neither a file nor a pipe' --compare /dev/null
if dd if=/dev/zero of="$tmp/huge" bs=1 count=1 seek=1073741824 2>"$tmp/check"; then
    refused 2 "--compare $tmp/huge: is more than 1 GiB" --compare "$tmp/huge"
    rm "$tmp/huge"
fi
yes | timeout 60 "$program" --compare /dev/stdin >"$tmp/out" 2>"$tmp/err"
code=$?
check "an endless pipe: exit code $code" test $code -eq 2
check "an endless pipe: $(cat "$tmp/err")" has 'is more than 1 GiB, or 64 MiB from' "$tmp/err"
mkfifo "$tmp/late"
(
    sleep 0.5
    cat "$tmp/base.csv" >"$tmp/late"
) &
with 0 $calm $one --compare "$tmp/late"
check "a pipe with a late writer" has '2 rows|; 0 rows not compared' "$tmp/out"
for number in 0 101 -1 x 2.5 1e2; do
    refused 2 "--processes $number" --processes $number
    example '--processes 5'
done

# ---- several processes ---------------------------------------------------------------------------

children() { # of processes still there that the program has started; ps may mask an umlaut
    ps -e -o stat=,args= | awk -v program="${tmp##*/}/program" '
        !/^Z/ && !/awk/ && index($0, program) { count++ }
        END { print count + 0 }'
}

OWN_LOG=$tmp/own.log
export OWN_LOG
with_files x 0 $quick $one --own=hello --processes 3
check "progress where no terminal is: $(cat "$tmp/err")" not test -s "$tmp/err"
check "processes" all 3 processes "$tmp/x.csv"
check "medians of processes: $(first process_medians_s "$tmp/x.csv")" \
    test "$(column process_medians_s "$tmp/x.csv" | tr ';' '\n' | grep -c .)" -eq 6
check "own arguments" test "$(tr '\n' ' ' <"$tmp/own.log")" = "hello hello hello "
check "its output, more than once" test "$(grep -c '^own: hello$' "$tmp/out")" -eq 1
check "the table, more than once" test "$(grep -c '^gpumb' "$tmp/out")" -eq 1
parse_files x --rows 2
with_files x 0 $quick $one --own=hello
check "processes of one" all '' processes "$tmp/x.csv"
cp "$tmp/x.csv" "$tmp/one.csv"
with 0 $quick $one --processes=2 --compare "$tmp/one.csv" --csv "$tmp/two.csv"
assumed='spread between processes: 2 % assumed \(--spread\); both sides with --processes 5'
check "spread of one side" has "$assumed" "$tmp/out"
with 0 $quick $one --compare "$tmp/one.csv" --spread 1.5
check "no hint at --processes" has 'spread between processes: 1.5 % assumed' "$tmp/out"
with 0 $quick $one --processes 5 --csv "$tmp/five.csv"
with 0 $quick $one --processes 5 --compare "$tmp/five.csv"
check "spread of both sides" has 'spread between processes: measured, in the intervals$' "$tmp/out"
with_files x 1 $quick --processes 2 --filter odd --axis trouble=0,1,2
parse_files x --rows 6
with 0 --list --processes 3
check "--list in processes" not test -s "$tmp/err"

troubled() { # CODE TROUBLE PATTERN
    CHILD_TROUBLE=$2
    export CHILD_TROUBLE
    mkdir "$tmp/cwd"
    : >"$tmp/own.log"
    (cd "$tmp/cwd" && timeout 60 "$program" $quick $one --processes 3 --csv x.csv >"$tmp/out" \
        2>"$tmp/err" </dev/null)
    code=$?
    unset CHILD_TROUBLE
    check "child $2: exit code $code, not $1: $(cat "$tmp/err")" test $code -eq "$1"
    check "child $2: $(cat "$tmp/err")" has "process 1 of 3 $3" "$tmp/err"
    check "child $2: the next one runs" test "$(lines "$tmp/own.log")" -eq 1
    check "child $2: a table" not test -s "$tmp/out"
    check "child $2: left behind" empty_folder "$tmp/cwd"
    check "child $2: still runs" test "$(children)" -eq 0
    rm -rf "$tmp/cwd"
}
troubled 4 exit 'ended with exit code 7'
troubled 4 kill 'was killed by signal 9'
troubled 4 silent 'did not write its rows: line 1: there are no rows'
troubled 4 half 'did not write its rows: line 1: the file ends too early'
refused 2 '--axis nosuch' --axis nosuch=1
with 2 --processes 2 --axis nosuch=1
check "message of a child: $(cat "$tmp/err")" has '^gpumb: --axis nosuch' "$tmp/err"
with 2 --processes 2 --device 99
check "message of a child: $(cat "$tmp/err")" has '^gpumb: --device 99' "$tmp/err"

# Ctrl-C that reaches only the parent, while a child hangs
CHILD_TROUBLE=hang
export CHILD_TROUBLE
"$tmp/listen" "$program" $quick $one --processes 2 --csv "$tmp/hang.csv" >"$tmp/out" 2>"$tmp/err" &
pid=$!
none_runs() { test "$(children)" -eq 0; }
two_run() { test "$(children)" -eq 2; }
until_true two_run
check "no child" two_run
sleep 0.2
kill -INT $pid
finished
unset CHILD_TROUBLE
check "Ctrl-C: exit code $code, not 130: $(cat "$tmp/err")" test $code -eq 130
check "Ctrl-C: nothing said: $(cat "$tmp/err")" has interrupted "$tmp/err"
check "Ctrl-C: a child is left" test "$(children)" -eq 0
check "Ctrl-C: a file" not test -e "$tmp/hang.csv"
# whatever ends the parent, ends a child that hangs, or is in the middle of a row
orphan() { # SIGNAL CODE TROUBLE ARGUMENT...
    signal=$1 wanted_code=$2
    CHILD_TROUBLE=$3
    export CHILD_TROUBLE
    shift 3
    [ -n "$CHILD_TROUBLE" ] || unset CHILD_TROUBLE
    REAL_CLOCK=1 "$program" "$@" --processes 2 --csv "$tmp/hang.csv" >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    until_true two_run
    check "$signal: no child" two_run
    sleep 0.2
    kill -"$signal" $pid
    finished
    check "$signal: exit code $code, not $wanted_code" test $code -eq $wanted_code
    tries=0 # a child ends by itself only after a minute
    until none_runs || [ $tries -gt 100 ]; do
        tries=$((tries + 1))
        sleep 0.05
    done
    check "$signal, ${CHILD_TROUBLE:-measuring}: a child is left" none_runs
    check "$signal: a file" not test -e "$tmp/hang.csv"
    unset CHILD_TROUBLE
}
long='--budget 100 --precision 0.000001 --samples 10:10000000'
if [ "$(uname)" = Linux ]; then
    orphan KILL 137 hang $quick $one
    orphan TERM 143 hang $quick $one
fi
orphan KILL 137 '' $one $long
orphan TERM 143 '' $one $long
# and in the program's own measurement, after the child's
slow own --processes 2 --axis n=1000:1020:+1
kill -INT $pid
finished
check "Ctrl-C after a child: exit code $code, not 130" test $code -eq 130
parse --csv "$tmp/own.csv.part" --part
unset OWN_LOG

# GPUMB_PROCESS that is not from a parent of gpumb's: said, and without an effect
foreign() { # CODE PROCESSES PATTERN: of a run with GPUMB_PROCESS in $where, its pipes 7 and 8
    GPUMB_PROCESS=$where "$program" $quick $one --processes 2 --csv "$tmp/x.csv" \
        >"$tmp/out" 2>"$tmp/err"
    code=$?
    check "GPUMB_PROCESS=$where: exit code $code" test $code -eq "$1"
    check "GPUMB_PROCESS=$where: $(cat "$tmp/err")" has "$3" "$tmp/err"
    [ "$1" -ne 0 ] || check "GPUMB_PROCESS=$where: processes" all "$2" processes "$tmp/x.csv"
    check "GPUMB_PROCESS=$where: written to" not test -s "$tmp/planted"
}
ignored='^gpumb: GPUMB_PROCESS is set, and not by gpumb: it is ignored; unset it$'
: >"$tmp/planted"
for where in 1 '' "$$:7" "1:7:0:0:0" "$$:../..$tmp/planted" "$$:../..$tmp/planted:0:0:0"; do
    foreign 0 2 "$ignored" 7>"$tmp/planted" </dev/null
done
where="$$:7:0:-1:0"
foreign 0 2 "$ignored" 7>"$tmp/planted" </dev/null
mkfifo "$tmp/planted.fifo"
cat "$tmp/planted.fifo" >"$tmp/planted" &
mkfifo "$tmp/token.fifo"
exec 8<>"$tmp/token.fifo"
printf 'something else' >&8
where="$$:7:8:-1:0"
foreign 0 2 "$ignored" 7>"$tmp/planted.fifo" </dev/null
exec 8>&-
wait $!
check "GPUMB_PROCESS with pipes: written to" not test -s "$tmp/planted"
where="$$:77:78:-1:0"
foreign 4 0 'GPUMB_PROCESS is set, and its pipe is closed' </dev/null

# ---- colours -------------------------------------------------------------------------------------

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    terminal() { # COMMAND: its output on a terminal
        TERM=xterm-256color script -qec "$1" /dev/null </dev/null >"$tmp/tty" 2>/dev/null
    }
    terminal "'$program' $quick $one"
    check "no colours on a terminal" grep -q "$escape" "$tmp/tty"
    check "processes without --processes" not has 'process [0-9]+ of' "$tmp/tty"
    terminal "'$program' $quick $one --processes 3"
    check "progress of processes: $(grep process "$tmp/tty")" \
        test "$(grep -c 'process [12] of 3' "$tmp/tty")" -eq 2
    terminal "'$program' $quick $one --no-color"
    check "colours with --no-color" not grep -q "$escape\\[[0-9;]*m" "$tmp/tty"
    NO_COLOR=1
    export NO_COLOR
    terminal "'$program' $quick $one"
    check "colours with NO_COLOR" not grep -q "$escape\\[[0-9;]*m" "$tmp/tty"
    NO_COLOR=
    terminal "'$program' $quick $one"
    check "an empty NO_COLOR is none (no-color.org)" grep -q "$escape\\[[0-9;]*m" "$tmp/tty"
    unset NO_COLOR
    terminal "TERM=dumb '$program' $quick $one"
    check "escapes where the terminal is dumb" not grep -q "$escape" "$tmp/tty"
    check "progress where the terminal is dumb" not grep -qE '^\[[0-9]+/' "$tmp/tty"
    check "line feeds only, where the terminal is dumb" \
        test "$(tr -cd '\r' <"$tmp/tty" | wc -c)" -eq "$(lines "$tmp/tty")"
    terminal "'$program' $quick $one --csv $tmp/x.csv"
    check "colours in the CSV" not grep -q "$escape" "$tmp/x.csv"
    terminal "'$program' --axis nosuch=1 2>'$tmp/err' || true"
    check "colours in a message that is no terminal's" not grep -q "$escape" "$tmp/err"
else
    skip "no script(1) to play a terminal"
fi

# ---- locale --------------------------------------------------------------------------------------

if localedef -i de_DE -f UTF-8 "$tmp/de_DE.UTF-8" >/dev/null 2>&1 &&
    [ "$(LOCPATH=$tmp LC_ALL=de_DE.UTF-8 locale decimal_point 2>/dev/null)" = , ]; then
    LOCPATH=$tmp LC_ALL=de_DE.UTF-8 timeout 60 "$program" \
        ${quick%--precision*} $one --peak 1.5 --precision 2.5 --expect 'copy<=99.5s' \
        --csv "$tmp/x.csv" --json "$tmp/x.json" --md "$tmp/x.md" >"$tmp/out" 2>"$tmp/err"
    code=$?
    check "a decimal comma: exit code $code: $(cat "$tmp/err")" test $code -eq 0
    parse --csv "$tmp/x.csv" --json "$tmp/x.json" --md "$tmp/x.md" --rows 2
    check "peak with a decimal comma" all 1.5 peak_gbps "$tmp/x.csv"
    check "a decimal comma in the table" not has '[0-9],[0-9]' "$tmp/out"
else
    skip "no locale with a decimal comma"
fi

# ---- a FIFO without a writer, as a base ----------------------------------------------------------

wait $silent
check "a FIFO without a writer: exit code $(cat "$tmp/silent.code")" \
    test "$(cat "$tmp/silent.code")" -eq 2
check "a FIFO without a writer: $(cat "$tmp/silent.err")" has 'nothing has come for 10 s' \
    "$tmp/silent.err"

# ---- the goldens, read back ----------------------------------------------------------------------

parse

finish
