#!/bin/sh
# Makes the targets, one after the other, and adds up their closing lines.
#     tests/check.sh TARGET...
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0 skipped=0 took=
for target; do
    began=$(date +%s)
    echo "==== make $target"
    {
        ${MAKE:-make} --no-print-directory "$target" 2>&1
        echo "exit status $?"
    } | tee "$log" | grep -v '^exit status '
    status=$(sed -n '$ s/^exit status //p' "$log")
    read -r p f s <<END
$(sed -En 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
END
    took="$took${took:+, }$target $(($(date +%s) - began)) s"
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
    # One that fails without a count, for example because something does not build, is one.
    [ "$status" = 0 ] || [ "${f:-0}" -gt 0 ] || failed=$((failed + 1))
done
echo "took: $took"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
