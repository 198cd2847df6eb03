#!/bin/sh
# test_grade.sh - examples/grade.py: what a graded process can do to be called met. The programs are
# scripts that play the grader, with the JSON of a real one; the last ones are compiled.
# shellcheck disable=SC2016,SC2086  # $good and $json are for those scripts; words in $quick split
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
command -v python3 >/dev/null 2>&1 || { skip "no python3"; finish; }

# the grader on the fake device's clock, with what it grades in the same file
cat >"$tmp/grader.cu" <<'END'
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "tests/fake.h"
static const int emulated = (fake_reset(), fake_backend = "cpu", 1);
#undef GPUMB_LAUNCH
#define GPUMB_LAUNCH(kernel, ...) \
    (fake_run(1e-3), gpumbi_launch(#kernel, 0, [=]() { return kernel; }, kernel, __VA_ARGS__))
#include "examples/08_grader.cu"
#ifndef OTHERS
#include "examples/08_grader_kernels.cu"
#endif
END
compiler="${CXX:-c++} -x c++ -std=c++11 -O1 -pthread -I. ${CXXFLAGS-}"
quick="--budget 0.2 --warmup 0.01 --samples 6:6"
wanted='mine>=0.9*reference'

# grade PROGRAM OPTION...: its last line in $tmp/verdict
grade() {
    timeout 60 python3 examples/grade.py --seconds "${seconds:-20}" --json "$tmp/got.json" "$@" \
        $quick --expect "$wanted" >"$tmp/verdict" 2>"$tmp/shown"
}

# refused TEXT REASON PROGRAM
refused() {
    check "$1: counts as met" not grade "$3"
    check "$1: $(cat "$tmp/verdict")" has "^grade: not met: .*$2" "$tmp/verdict"
    check "$1: more than the verdict" test "$(wc -l <"$tmp/verdict")" -eq 1
}

check "the grader does not compile" $compiler "$tmp/grader.cu" -o "$tmp/right"
check "what is right is not met" grade "$tmp/right"
check "no line about it: $(cat "$tmp/verdict")" \
    has "^grade: met: mine>=0.9.reference: [0-9.]+, limit 0.9" "$tmp/verdict"
check "its table is not shown" has '^mine .*reference' "$tmp/shown"
check "a limit out of reach is met" not python3 examples/grade.py "$tmp/right" $quick \
    --expect 'mine>=100*reference' >/dev/null 2>&1
cp "$tmp/got.json" "$tmp/good.json"

# plays NAME COMMANDS: a program; $1 is where the JSON goes, $good one that would be met
plays() {
    cat >"$tmp/$1" <<END
#!/bin/sh
good=$tmp/good.json
while [ \$# -gt 1 ]; do [ "\$1" != --json ] || json=\$2; shift; done
[ "\$1" != --json ] || exit 9
$2
END
    chmod +x "$tmp/$1"
}
plays honest 'cat "$good" >"$json"'
check "a script can't play it: $(cat "$tmp/verdict")" grade "$tmp/honest"

line='expected mine>=0.9*reference: met: 1.3 (1.2 ... 1.4) in grader/mine'
plays prints "echo '$line'; cat \"\$good\"; exit 0"
refused "a faked line and JSON on standard output, then exit(0)" 'no JSON' "$tmp/prints"
plays silent 'exit 0'
refused "exit(0)" 'no JSON' "$tmp/silent"
plays half 'head -c 900 "$good" >"$json"'
refused "half a JSON" 'not one complete document' "$tmp/half"
plays twice 'cat "$good" "$good" >"$json"'
refused "two of them" 'not one complete document' "$tmp/twice"
plays tail '(cat "$good"; echo x) >"$json"'
refused "one with a tail" 'not one complete document' "$tmp/tail"
plays code 'cat "$good" >"$json"; exit 1'
refused "a good one, and exit code 1" 'exit code 1' "$tmp/code"
plays crash 'cat "$good" >"$json"; kill -SEGV $$'
refused "a good one, and a crash" 'signal 11' "$tmp/crash"
plays closes 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exit 0'
refused "a closed pipe" 'no JSON' "$tmp/closes"
plays hangs 'cat "$good" >"$json"; sleep 30'
seconds=1 refused "one that never ends" 'not done within 1 s' "$tmp/hangs"
plays leaves '(sleep 30) & exit 0'
refused "one that leaves a process with the pipe" 'no JSON' "$tmp/leaves"
plays settles "setsid sleep 30 & echo \$! >'$tmp/pid'; exit 0"
refused "one that leaves a process in a session of its own" 'no JSON' "$tmp/settles"
check "that process is still there" not kill -0 "$(cat "$tmp/pid")"
plays floods 'yes x'
seconds=1 refused "one that prints for ever" 'not done within 1 s' "$tmp/floods"
check "more of that is shown than a MiB" test "$(wc -c <"$tmp/shown")" -le 1048576
plays deep 'yes "[" | head -n 100000 >"$json"'
refused "a JSON of 100000 brackets" 'not one complete document' "$tmp/deep"
plays long 'yes "" >"$json"'
refused "a JSON without an end" 'too long' "$tmp/long"

# what it can't reach, as a user without rights: the output of the one that judges
plays writes 'echo "grade: met: mine" >>"/proc/$PPID/fd/1"; exit 0'
as_user=
if [ "$(id -u)" -eq 0 ]; then
    as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
    mkdir -m 777 "$tmp/others"
    chmod 755 "$tmp" "$tmp/writes"
fi
if [ ! -d /proc/self/fd ]; then
    skip "a verdict of its own: no /proc"
elif ! $as_user test -r examples/grade.py -a -x "$tmp/writes" 2>/dev/null; then
    skip "a verdict of its own: no setpriv, or no rights for another user here"
else
    writes() { # into a file of that user's
        $as_user sh -c 'exec python3 examples/grade.py "$1" --expect x >>"$2"' sh "$tmp/writes" \
            "$tmp/others/verdict" 2>/dev/null
    }
    mkdir -p "$tmp/others"
    check "a verdict of its own counts" not writes
    check "a verdict of its own is written: $(cat "$tmp/others/verdict")" \
        not has 'grade: met' "$tmp/others/verdict"
    check "it is not refused" has 'not met: .*no JSON' "$tmp/others/verdict"
fi

# edited NAME REASON SED
edited() {
    plays edited "sed '$3' \"\$good\" >\"\$json\""
    check "$1: nothing to edit" not cmp -s "$tmp/good.json" - <<END
$(sed "$3" "$tmp/good.json")
END
    refused "$1" "$2" "$tmp/edited"
}
edited "undecided" 'undecided' '/"expect"/s/"verdict": "met"/"verdict": "undecided"/'
edited "not met" 'not met' '/"expect"/s/"verdict": "met"/"verdict": "not met"/'
edited "a name twice" 'a name twice' '/"expect"/s/"verdict"/"verdict": "not met", "verdict"/'
edited "another limit" 'other expectations' 's/"expect": "mine>=0.9/"expect": "mine>=0.1/'
edited "a lower limit" 'something else' '/"expect"/s/"limit": 0.9/"limit": 99/'
edited "NaN" 'NaN' '/"expect"/s/"lo": [^,]*/"lo": NaN/'
edited "no interval" 'without figures' '/"expect"/s/"lo": [^,]*/"lo": null/'
edited "more than a float holds" 'without figures' \
    "/\"expect\"/s/\"value\": [^,]*/\"value\": $(printf '1%0400d' 0)/"
edited "a line of its own in a reason" 'failed: x[?]grade: met: y' \
    's/"status": "ok", "reason": null/"status": "failed", "reason": "x\\ngrade: met: y"/'
edited "a row that is not there" 'not there' '/"expect"/s/"reason": "[^"]*"/"reason": "x\/y"/'
edited "a failed row" 'failed' 's/"status": "ok"/"status": "failed"/'
edited "a row without a check" 'not verified' 's/"verified": "yes"/"verified": null/'
edited "without --strict" 'strict' 's/"strict": "yes"/"strict": "no"/'
edited "a seed" 'foreseen' 's/"seed": 0/"seed": 7/'
edited "a flag" 'known-seed' 's/"flags": [^,}]*/"flags": "known-seed"/'
edited "no settings" 'lacks' 's/"settings"/"set"/'
edited "no time" 'no time' 's/"median_s": [^,]*/"median_s": 0/'

seed() { grade "$tmp/right" --seed 1; }
check "a grader with --seed is met" not seed
check "and why: $(cat "$tmp/verdict")" has 'not met: .*foreseen' "$tmp/verdict"

# code in the grader's own process: a line of its own and an end, before gpumb's
cat >"$tmp/attack.cu" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern "C" void launch_mine(const float *, float *, uint64_t)
{
    ATTACK;
}
END
check "the grader of others does not compile" $compiler -DOTHERS -c "$tmp/grader.cu" \
    -o "$tmp/grader.o"
attack() { # NAME REASON CODE
    check "$1: does not compile" $compiler "-DATTACK=$3" -c "$tmp/attack.cu" -o "$tmp/attack.o" &&
        check "$1: does not link" ${CXX:-c++} ${CXXFLAGS-} -pthread "$tmp/grader.o" \
            "$tmp/attack.o" -o "$tmp/attack" && refused "$1" "$2" "$tmp/attack"
}
attack "exit(0) after a faked line" '.' "printf(\"$line\\n\"); exit(0)"
attack "_exit(0) after a faked line" 'no JSON' "printf(\"$line\\n\"); fflush(stdout); _exit(0)"
attack "abort()" 'signal 6' 'abort()'
finish
