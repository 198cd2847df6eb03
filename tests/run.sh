#!/bin/sh
# Runs tests from the top of the tree and adds up their closing lines.
#     tests/run.sh PROGRAM|SCRIPT.sh ... -- 'NAME: why it is skipped' ...
passed=0 failed=0 skipped=0
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT

while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
    *.sh) runner="sh" ;;
    *aarch64*) runner=qemu-aarch64 ;;
    *) runner="" ;;
    esac
    # shellcheck disable=SC2086 # no runner, no word
    timeout 300 $runner "$1" </dev/null >"$output" 2>&1
    status=$?
    line=$(sed -En 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$output" |
        tail -n 1)
    read -r p f s <<END
${line:-0 0 0}
END
    case $status,$f in
    0,0) [ -n "$line" ] && why= || why="printed no closing line" ;;
    124,*) why="took more than 300 s" ;;
    *,0) why="exit status $status" ;;
    *) why="$f failed" ;;
    esac
    if [ -n "$why" ]; then
        [ "$f" -gt 0 ] || f=1
        echo "FAILED  $1: $why"
        sed 's/^/    /' "$output"
    else
        echo "ok      $1: $p passed, $s skipped"
        grep 'skipped: ' "$output" | sed 's/^/    /'
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    shift
done

for reason; do
    [ "$reason" = -- ] && continue
    echo "skipped $reason"
    skipped=$((skipped + 1))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
