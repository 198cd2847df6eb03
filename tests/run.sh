#!/bin/sh
# Runs tests from the top of the tree and adds up their closing lines.
#     tests/run.sh PROGRAM|SCRIPT.sh ... -- 'NAME: why it is skipped' ...
# What needs no GPU keeps all cores busy: its clock is scripted, or it checks no times. Of what does
# need one, as scripts that know TEST_BUILD, a line `shares the GPU: why` in the source says that
# its outcome is the same whatever else runs: such run beside these, some at a time. All others run
# after them, each alone on the machine.
#     tests/run.sh --one DIRECTORY TEST     prints the test's counts, seconds, where its report is
limit=1200 # seconds for a test: instructions are counted on a busy machine, too

# ---- one test ----
if [ "$1" = --one ]; then
    name=$2/$$ test=$3
    trap 'kill $!; wait; exit 255' HUP TERM # 255: xargs starts no other
    echo $$ >"$name.pid"
    [ -e "$2/stopped" ] && exit 255

    case $test in
    *.sh) runner="sh" ;;
    *aarch64*) runner=qemu-aarch64 ;;
    *) runner="" ;;
    esac
    # The default since gcc 13 and clang 15. Frames of fibers, in which kernels run, take too long.
    returns=1
    [ -e "tests/$(basename "$test").cu" ] && returns=0
    export ASAN_OPTIONS=detect_stack_use_after_return=$returns
    began=$(date +%s)
    # shellcheck disable=SC2086 # no runner, no word
    TMPDIR=$2 timeout $limit $runner "$test" </dev/null >"$name.output" 2>&1 &
    wait $! 2>>"$name.output" # a shell names a crash there
    status=$?
    line=$(sed -En 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' \
        "$name.output" | tail -n 1)
    read -r p f s <<EOF
${line:-0 0 0}
EOF
    case $status,$f in
    0,0) [ -n "$line" ] && why= || why="printed no closing line" ;;
    124,*) why="took more than $limit s" ;;
    *,0) why="exit status $status" ;;
    *) why="$f failed" ;;
    esac
    seconds=$(($(date +%s) - began))
    if [ -n "$why" ]; then
        [ "$f" -gt 0 ] || f=1
        echo "FAILED  $test: $why"
        sed 's/^/    /' "$name.output"
    else
        echo "ok      $test: $p passed, $s skipped, $seconds s"
        grep 'skipped: ' "$name.output" | sed 's/^/    /'
    fi >"$name.report"
    rm "$name.pid" "$name.output"
    echo "$p $f $s $seconds $test $name.report"
    exit 0
fi

# ---- all of them ---- (BEGAN: when make did, to build them)
built=$(date +%s)
tmp=$(mktemp -d) && chmod 711 "$tmp" || exit 1 # tests that become another user pass through
trap 'rm -rf "$tmp"' EXIT

stop() # STATUS: ends what runs
{
    trap '' HUP INT TERM
    : >"$tmp/stopped"
    cat "$tmp"/*.pid 2>/dev/null | xargs kill 2>/dev/null
    wait
    exit "$1"
}
trap 'stop 129' HUP
trap 'stop 130' INT
trap 'stop 143' TERM

: >"$tmp/counts"
tests=0
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1,${TEST_BUILD:-build/cpu} in
    build/cuda/* | build/hip/*) source=tests/$(basename "$1").cu ;;
    *.sh,build/cpu | build/*) source= ;;
    *) source=$1 && grep -q TEST_BUILD "$1" || source= ;;
    esac
    list=none # that it needs; or the GPU, shared or alone
    [ -z "$source" ] || list=alone
    [ -z "$source" ] || ! grep -qE '^(#|//| \*|/\*) shares the GPU: ' "$source" || list=shared
    echo "$1" >>"$tmp/$list.list"
    tests=$((tests + 1))
    shift
done

# python3 may be a script that looks for it, a tenth of a second each time, as pyenv's is.
python3=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
case $python3 in
"$(command -v python3)") ;;
*/python3*) PATH=${python3%/*}:$PATH ;;
esac

run() # LIST, HOW MANY AT A TIME
{
    [ ! -e "$tmp/$1.list" ] || xargs -P "$2" -n 1 sh "$0" --one "$tmp" <"$tmp/$1.list"
}

# In the background, for a shell that waits hears signals at once.
cores=$(nproc 2>/dev/null || echo 2)
{
    run none $((cores + 2)) & # some of them wait, for a signal or a child
    run shared $(((cores + 1) / 2)) &
    wait
    run alone 1
} | while read -r p f s seconds test report; do
    cat "$report"
    echo "$p $f $s $seconds $test" >>"$tmp/counts"
done &
wait $!

read -r ran passed failed skipped <<END
$(awk '{ p += $1; f += $2; s += $3 } END { print NR, p + 0, f + 0, s + 0 }' "$tmp/counts")
END
if [ "$ran" -ne "$tests" ]; then
    echo "FAILED  $((tests - ran)) tests did not report"
    failed=$((failed + tests - ran))
fi

[ "$ran" -lt 4 ] || echo "longest: $(sort -rnk 4 "$tmp/counts" | head -n 4 |
    awk '{ printf "%s%s %d s", (NR > 1 ? ", " : ""), $5, $4 }')${BEGAN:+; built in $((
    built - BEGAN)) s, run in $(($(date +%s) - built)) s}"
for reason; do
    [ "$reason" = -- ] && continue
    echo "skipped $reason"
    skipped=$((skipped + 1))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
