# shellcheck shell=sh
# shellcheck disable=SC2046,SC2086,SC2154 # words in $(options) are meant to split; $tmp, $backend
# examples.sh - what is looked at when a program of the examples or the pages runs; sourced by
# test_examples.sh and test_pages.sh, with $backend.
mkdir "$tmp/cwd"

number='[0-9]+(\.[0-9]+)?'
unit='(ns|us|ms|s)'
has_options='gpumb_open(_args)?\(&?argc|gpumb_main\(argc|GPUMB_MAIN\('
# ?: so few samples, or so skewed, that nothing bounds the median from below
interval="\\+-( >100|$number) %|95 % in (\\?|$number ?$unit) \\.\\.\\. $number ?$unit"

# options SOURCE: what makes it quick, if it has a command line
options() {
    if grep -qE "$has_options" "$1"; then
        echo --quick --budget 100 --warmup 0.01 --samples 6:6
        ! grep -q gpumb_alloc_kind "$1" || echo --axis to=device # of 16 copies of 64 MiB four
    fi
}

# measures SOURCE: it has a region and says what came out
measures() { grep -qE 'GPUMB_(MEASURE|TIME)\(' "$1"; }

# has_files SOURCE: writes its rows into files that are asked for
has_files() { measures "$1" && grep -qE "$has_options" "$1"; }

# run NAME SOURCE PROGRAM: exit code, stdout and its shape. The working directory is an empty one.
run() {
    files= # beside the table, elsewhere
    has_files "$2" && files="--json $tmp/json --raw --gbench $tmp/gb"
    rm -f "$tmp/json" "$tmp/gb"
    (
        cd "$tmp/cwd" || exit
        timeout 120 "$3" $(options "$2") $files >"$tmp/out" 2>"$tmp/err" </dev/null
    )
    code=$?
    check "$1: exit code $code" test $code -eq 0 || tail -n 5 "$tmp/err" | sed 's/^/    /'
    check "$1: left files behind: $(ls -A "$tmp/cwd")" test -z "$(ls -A "$tmp/cwd")"
    rm -rf "$tmp/cwd"
    mkdir "$tmp/cwd"
    check "$1: nothing on standard output" test -s "$tmp/out"
    check "$1: an unknown figure is printed as one" not has '\b(nan|NaN|inf)\b|-nan' "$tmp/out"
    check "$1: colours in a pipe" not grep -q "$(printf '\033')" "$tmp/out"
    if measures "$2"; then
        check "$1: no time with a unit" has "$number ?$unit\\b" "$tmp/out"
        # without options, a busy machine may have been too slow for 6 samples: the row says so
        few=$([ "$(options "$2")" ] || echo '|few-samples')
        check "$1: no interval" has "$interval$few" "$tmp/out"
        if [ "$backend" = cpu ] && grep -q 'GPUMB_MEASURE(' "$2"; then
            check "$1: does not say that it is no GPU's result" has 'emulated' "$tmp/out"
        fi
        check "$1: a row was skipped or failed" not has '\b(failed|skipped): ' "$tmp/out"
    fi
    if grep -qE 'gpumb_set_bytes\(' "$2"; then
        check "$1: bytes, but no rate" has '[GMT]B/s' "$tmp/out"
    fi
    if grep -qE "$has_options" "$2"; then
        check "$1: --help" timeout 20 "$3" --help
        check "$1: takes a wrong option" not timeout 20 "$3" --nosuch
        if grep -q 'gpumb_open_args(' "$2"; then # options of its own, in other processes too
            own=$(sed -nE 's/.*"(--[a-z]+=)".*/\1/p' "$2" | head -n 1)
            timeout 120 "$3" ${own:+"${own}64"} $(options "$2") --processes 2 \
                >"$tmp/out" 2>"$tmp/err"
            check "$1: ${own}64: exit code" test $? -eq 0
            check "$1: ${own}64: not in other processes" not has 'no such option' "$tmp/err"
            timeout 20 "$3" --quick -- --list >"$tmp/out" 2>"$tmp/err"
            check "$1: -- does not end gpumb's part" \
                has '^([^ ]+: )?--list(: no such option| is no )' "$tmp/err"
        fi
        if has_files "$2"; then
            parse --json "$tmp/json" --gbench "$tmp/gb"
            timeout 120 "$3" --profile=2 >"$tmp/out" 2>"$tmp/err" </dev/null
            check "$1: --profile: exit code" test $? -eq 0
            check "$1: --profile: $(cat "$tmp/err")" not grep -qv 'no ranges' "$tmp/err"
            check "$1: --profile: lines" \
                not grep -qvE '^[^ /]+(/[^/]+){1,2}: (2 runs|.*given.*)$|^  ' "$tmp/out"
            check "$1: --profile: no line" has ': 2 runs$' "$tmp/out"
            rows=$(grep -c '^{"schema": .*}},*$' "$tmp/json") # killed as the last one was written
            awk '/^]/ { exit } /^{"schema": .*}}$/ { $0 = substr($0, 1, length - 99) } { print }' \
                "$tmp/json" >"$tmp/json.part"
            timeout 120 "$3" $(options "$2") --csv - --json "$tmp/json" --raw --resume \
                >"$tmp/csv" 2>"$tmp/err" </dev/null
            check "$1: --csv - --resume: exit code" test $? -eq 0
            check "$1: --csv - has no rows" test "$(grep -c ',ok,' "$tmp/csv")" -ge 1
            parse --csv "$tmp/csv" --json "$tmp/json"
            check "$1: --resume keeps not $rows rows less 1: $(cat "$tmp/err")" \
                grep -q "$([ "$rows" -eq 1 ] && echo no run has left ||
                    echo "$((rows - 1)) rows* of an earlier run")" "$tmp/err"
            check "$1: --resume: rows" \
                test "$(grep -c '^{"schema": .*}},*$' "$tmp/json")" -eq "$rows"
        fi
    fi
}
