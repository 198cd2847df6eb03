# shellcheck shell=sh
# shellcheck disable=SC2154 # $tmp
# benches.sh - runs benchmarks of $TEST_BUILD in a tiny configuration, with all their checks, and
# parses the files back; sourced by test_bench_NAME.sh behind checks.sh.
build=${TEST_BUILD:-build/cpu}

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
    parse --csv "$tmp/bench.csv" --json "$tmp/bench.json" --md "$tmp/bench.md" --rows "$rows" \
        --axes "$axes"
}

# strictly NAME ARGUMENT...: --strict accepts what is right, or says what it needs. What that
# depends on, what a region declares, does not follow from a number: of several the last one.
strictly() {
    name=$1
    shift
    for argument; do
        shift
        case ${argument#*=} in
        "$argument" | *[!0-9,]*) ;;
        *,*) argument=${argument%%=*}=${argument##*,} ;;
        esac
        set -- "$@" "$argument"
    done
    timeout 300 "$build/$name" "$@" --strict --precision 1e6 --budget 100 --warmup 0 \
        --samples "$(of 1:1 3:3)" --csv "$tmp/strict.csv" >"$tmp/strict.out" 2>&1 </dev/null
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
