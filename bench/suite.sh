#!/bin/sh
# suite.sh full|quick FOLDER PROGRAM... - runs the benchmarks one after the other, their rows into
# FOLDER. Says before how long it takes; when run again after an interrupt, goes on where it was.
set -u
LC_ALL=C
export LC_ALL
profile=$1 folder=$2
shift 2
mkdir -p "$folder" || exit 1
state=$folder/.unfinished # the programs that are done, until all are
touch "$state" || exit 1

# Seconds of a program on an H200, from seconds.csv; 0: not there.
seconds()
{
    awk -F , -v name="$1" -v profile="$profile" '
        $1 == name { found = profile == "full" ? $3 : $2 }
        END { print found + 0 }' "$(dirname "$0")/seconds.csv"
}

# The rows of $path, with more options.
measure()
{
    # shellcheck disable=SC2086 # options, or none
    "$path" --"$profile" ${SUITE_OPTIONS:-} "$@" --csv "$folder/$name.csv" \
        --json "$folder/$name.json"
    code=$?
}

total=0 left=0
for path; do
    name=$(basename "$path")
    grep -qx "$name" "$state" && continue
    total=$(awk -v a="$total" -v b="$(seconds "$name")" 'BEGIN { print a + b }')
    left=$((left + 1))
done
done_before=$(($# - left))
echo "$left programs, $(awk -v s="$total" 'BEGIN {
    printf s < 100 ? "%.0f s" : "%.0f min", s < 100 ? s : s / 60 }') on an H200$(
    [ "$done_before" -eq 0 ] || echo "; $done_before are done")"
[ "${SUITE_TABLES:-all}" != none ] || exec >/dev/null

status=0
for path; do
    name=$(basename "$path")
    grep -qx "$name" "$state" && continue
    began=$(date +%s)
    code=2
    [ ! -f "$folder/$name.csv.part" ] || measure --resume
    [ "$code" -ne 2 ] || measure # what was left is of another profile
    case $name,$code in peer*,3 | pipeline,3) code=0 ;; esac # need two devices, and say so
    # Interrupted, hung up or terminated: the rest, another time.
    [ "$code" -lt 128 ] || exit "$code"
    [ "$code" -eq 0 ] || status=$code
    echo "$name" >>"$state"
    echo "$name: $(($(date +%s) - began)) s" >&2
done
rm -f "$state"
exit "$status"
