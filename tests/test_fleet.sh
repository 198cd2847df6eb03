#!/bin/sh
# test_fleet.sh - build/fleet with four ranks on this machine: a scripted program with given times,
# one of whose ranks is slow, dies or hangs, and a real one of the CPU backend; and ranks, which
# send messages to each other.
# shares the GPU: several ranks are on it anyway, and no times are looked at
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

if ! command -v mpirun >/dev/null || ! [ -x build/fleet ]; then
    skip "no MPI (Debian: apt-get install openmpi-bin libopenmpi-dev)"
    finish
fi
mpirun="mpirun"
if mpirun --version 2>&1 | grep -qE 'Open (MPI|RTE)'; then
    mpirun="mpirun --oversubscribe"
    [ "$(id -u)" -ne 0 ] || mpirun="$mpirun --allow-run-as-root"
    export OMPI_MCA_plm_rsh_agent=/bin/false # all ranks are here: no ssh
fi

# The rank is known by its device. SLOW, DIES and HANGS name one; LOG: beside the program.
cat >"$tmp/worker" <<'END'
#!/bin/sh
rank=$CUDA_VISIBLE_DEVICES
[ -z "${LOG:-}" ] || echo "+$rank" >>"$0.log"
if [ -n "${MEET:-}" ]; then # until all four have come
    while [ "$(wc -l <"$0.log")" -lt 4 ]; do sleep 0.02; done
fi
[ "${HANGS:-}" != "$rank" ] || sleep 61.25
head=schema,gpumb,bench,kernel,status,reason,meaning,median_s,ci_lo_s,ci_hi_s,block
echo "$head${MIXED:+,device}"
for block in 32 64 128; do
    if [ "$block,${DIES:-}" = "128,$rank" ]; then
        printf '4,0.1.0,giv' # torn
        echo "out of luck" >&2
        kill -9 $$
    fi
    us=$((100000 + 37 * rank % 50 + block))
    [ "${SLOW:-}" != "$rank" ] || us=$((us + ${BY:-3000}))
    model=
    if [ -n "${MIXED:-}" ]; then # the last two ranks are another, slower model
        model=,A$((rank / 2))
        us=$((us + rank / 2 * 20000))
    fi
    times=${us}e-9,$((us - 20))e-9,$((us + 20))e-9
    echo "4,0.1.0,given,times,ok,\"as, given\",span,$times,$block$model"
done
[ -z "${LOG:-}" ] || echo "-$rank" >>"$0.log"
END
chmod +x "$tmp/worker"

or_show() { "$@" || ! tail -n 9 "$tmp/out" "$tmp/err"; } # COMMAND...: where it fails, what was said

# fleet CODE VARIABLES ARGUMENT...: runs it on four ranks; it is to end with CODE
fleet() {
    code=$1 variables=$2
    shift 2
    # shellcheck disable=SC2086 # lists of words
    env $variables timeout 60 $mpirun -n 4 build/fleet "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    check "exit code $? instead of $code: $variables fleet $*" or_show test $? -eq "$code"
}
alone() { # CODE ARGUMENT...: without mpirun
    code=$1
    shift
    timeout 60 build/fleet "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    check "exit code $? instead of $code: fleet $*" or_show test $? -eq "$code"
}
says() { check "\"$1\" is not said" or_show grep -qF -- "$1" "$tmp/out" "$tmp/err"; }
counts() { # N PATTERN FILE
    check "not $1 lines with $2" test "$(grep -cE -- "$2" "$3")" -eq "$1"
}
csv=$tmp/rows.csv host=$(hostname)

fleet 0 A=1 --csv "$csv" -- "$tmp/worker"
says "4 ranks, 0 failed; 12 rows, 0 failed; 0 shown to be slower"
counts 3 ',rank,host,on_device$|,32,0,.*,0$|,128,3,.*,3$' "$csv"
counts 12 "^4,0.1.0,given,times,ok,\"as, given\",.*,[0-3],$host,[0-3]\$" "$csv"
fleet 1 SLOW=2 --fail-on-outlier -- "$tmp/worker"
says "rank 2 on $host, device 2: slower by more than 1 % in 3 of 3 rows"
counts 1 'slower by more than 1 % in' "$tmp/out"
fleet 0 SLOW=2 --fail-on-outlier --delta 4 -- "$tmp/worker"

says "model: in a row, the logarithms of the times of equal ranks are normal"
says "order, in the mean of their rows: +3.01 % rank 2, +0.03 % rank 1, +0.00 % rank 3"
counts 3 ' \+3\.01 %  rank 2 +\+0\.03 %$' "$tmp/out"

# of several models: each is compared with its own if that is asked for
fleet 0 MIXED=1 -- "$tmp/worker"
says "the devices are of several models: --group model"
fleet 0 MIXED=1 --fail-on-outlier --spread 0.1 --group model -- "$tmp/worker"
counts 3 '^given/times block=[0-9]+ on A0 +2 ' "$tmp/out"
counts 3 '^given/times block=[0-9]+ on A1 +2 ' "$tmp/out"
counts 0 'several models' "$tmp/out"
fleet 1 "MIXED=1 SLOW=3" --fail-on-outlier --spread 0.1 --group model -- "$tmp/worker"
says "rank 3 on $host, device 3: slower by more than 1 % in 3 of 3 rows"

fleet 4 "DIES=1 HANGS=0 CUDA_VISIBLE_DEVICES=0,1,7" --csv "$csv" --limit 2 -- "$tmp/worker"
says "rank 0 on $host, device 0: took more than 2 s (--limit)"
says "rank 1 on $host, device 1: was killed by signal 9: out of luck"
says "rank 3 on $host: has no device: number 3 on its node, CUDA_VISIBLE_DEVICES=0,1,7"
says "4 ranks, 3 failed; 5 rows, 0 failed"
counts 2 ",ok,.*,1,$host,1\$" "$csv"
counts 3 ",ok,.*,2,$host,7\$" "$csv"
counts 1 "^4,0.1.0,fleet,worker,failed,was killed by signal 9: out of luck,,,,,,1,$host,1\$" \
    "$csv"
counts 3 ",fleet,worker,failed," "$csv"
check "what hung goes on" not pgrep -f "sleep 61.25"
fleet 4 A=1 --csv "$csv" -- "$tmp/none"
says "rank 3 on $host, device 3: ended with exit code 127: $tmp/none: No such file"
counts 4 ',fleet,none,failed,' "$csv"

for turn in job node; do
    rm -f "$tmp/worker.log"
    fleet 0 LOG=1 --in-turn $turn --place 0 -- "$tmp/worker"
    check "$turn: not one after the other: $(tr '\n' ' ' <"$tmp/worker.log")" \
        test "$(tr -d '\n' <"$tmp/worker.log")" = +0-0+0-0+0-0+0-0
done
rm -f "$tmp/worker.log"
fleet 0 "LOG=1 MEET=1" --limit 30 -- "$tmp/worker"
check "not all at once" test "$(head -n 4 "$tmp/worker.log" | sort | tr -d '\n')" = +0+1+2+3

alone 2 --limit 1
says "which program?"
alone 2 --frist 1 -- "$tmp/worker"
says "--frist: no such option"
alone 2 --group host -- "$tmp/worker"
says "--group host: not a value for it"
alone 2 --in-turn rank -- "$tmp/worker"
says "--in-turn rank: not a value for it"
rm -f "$tmp/worker.log"
export LOG=1
alone 2 --csv "$tmp/no/where.csv" -- "$tmp/worker"
says "--csv $tmp/no/where.csv: there is no such folder"
check "what can't be written is told after the run" not test -e "$tmp/worker.log"
unset LOG

# whole or not: the file that was there stays until the ranks have reported
echo before >"$csv"
HANGS=0 timeout 60 build/fleet --csv "$csv" --limit 50 -- "$tmp/worker" >"$tmp/out" 2>"$tmp/err" \
    </dev/null &
fleet=$!
for _ in $(seq 600); do [ -e "$csv.part" ] || sleep 0.05; done
alone 4 --csv "$csv" -- "$tmp/worker"
says "another run is writing it"
pkill -TERM -P $fleet
wait $fleet
check "a file that was whole is gone" test "$(cat "$csv")" = before
fleet 0 A=1 --csv "$csv" -- "$tmp/worker"
check "a part is left" test "$(ls "$csv"*)" = "$csv"
counts 13 '^' "$csv"

# all on the first device: there may be no other
copy=${TEST_BUILD:-build/cpu}/copy
quick="--filter copy/block --axis block=64 --axis elem=4,16"
quick="$quick --precision 1e6 --warmup 0 --samples 6:6"
# shellcheck disable=SC2086 # a list of words
fleet 0 CUDA_VISIBLE_DEVICES=0,0,0,0 --csv "$csv" -- "$copy" $quick
says "4 ranks, 0 failed; 8 rows, 0 failed"
check "lines of different lengths" python3 -c '
import csv, sys
with open(sys.argv[1], newline="") as file:
    sys.exit(len({len(row) for row in csv.reader(file)}) != 1)' "$csv"
# shellcheck disable=SC2086 # a list of words
check "its rows are not read" "$copy" $quick --compare "$csv"

alone 0 --simulate 1000 --fail-on-outlier
says "1000 ranks, 0 failed; 10000 rows, 0 failed; 0 shown to be slower"

# ---- ranks: messages between two of them ----
ranks=${TEST_BUILD:-build/cpu}/ranks
# shellcheck disable=SC2086 # a list of words
timeout 60 $mpirun -n 2 "$ranks" --budget 0.01 --axis size=4099 --csv "$csv" \
    >"$tmp/out" 2>"$tmp/err" </dev/null
code=$?
if [ $code -ne 0 ] && grep -q '^ranks: not all ranks have a device' "$tmp/err"; then
    skip "ranks: needs two devices"
else
    check "ranks: exit code $code" or_show test $code -eq 0
    ok=$(grep -c ',ok,,yes,given,' "$csv") # the others say what this MPI can't
    all=9
    ! has '^ *nccl  ' "$tmp/out" || all=12
    check "ranks: $ok of $all rows are ok" or_show \
        grep -qE "^$all rows: $ok ok, $((all - ok)) skipped, 0 " "$tmp/out"
    [ "$ranks" != build/cpu/ranks ] || check "ranks: $ok of 9 rows" test "$ok" -eq 9
    counts "$ok" '^4,[^,]*,(there-and-back|one-way|both-ways),(mpi|nccl),.*,ok,,yes,given,' "$csv"
    counts 3 'rank 1 same node device 1,staged,' "$csv"
fi
timeout 60 "$ranks" >"$tmp/out" 2>"$tmp/err" </dev/null
check "ranks alone: exit code $?" or_show test $? -eq 2
says "ranks: needs two ranks and more"

finish
