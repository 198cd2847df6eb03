# shellcheck shell=sh
# checks.sh - what the test scripts share; sourced by tests/test_NAME.sh from the top of the tree.
# $tmp is a folder of the script's own, gone when it ends.
set -u
LC_ALL=C
export LC_ALL
passed=0 failed=0 skipped=0 parsed=0
script=$(basename "$0")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

pass() { passed=$((passed + 1)); }

# fail TEXT [FILE]: the file's end explains it
fail() {
    failed=$((failed + 1))
    echo "$script: failed: $1"
    [ $# -eq 1 ] || tail -n 20 "$2" | sed 's/^/    /'
}

skip() {
    skipped=$((skipped + 1))
    echo "$script: skipped: $1"
}

# check TEXT COMMAND...: the command is to succeed
check() {
    what=$1
    shift
    if "$@" >"$tmp/check" 2>&1; then
        pass
    else
        fail "$what" "$tmp/check"
        return 1
    fi
}

python3=$(command -v python3)

# one that the Python module and the judge know
has_python() { python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; }

# parse ARGUMENT...: parse_back.py reads these files back, as they are now: in finish, all at once,
# for Python takes longer to start than to do so
parse() {
    parsed=$((parsed + 1))
    copies=$tmp/parse/$parsed
    mkdir -p "$copies"
    for argument; do
        shift
        if [ -f "$argument" ]; then
            set -- "$@" "$copies/${argument##*/}"
            cp "$argument" "$copies"
        else
            set -- "$@" "$argument"
        fi
    done
    { [ $# -eq 0 ] || printf '%s\t' "$@"; echo; } >>"$tmp/parse/list"
}

# The fixed columns of the CSV, a line each.
columns() { sed -n '/define GPUMBI_ROW_FIELDS/,/^$/s/^ *X(\([a-z0-9_]*\),.*/\1/p' gpumb.h; }

not() { ! "$@"; }
has() { grep -qE -e "$1" "$2"; } # PATTERN FILE

# count TEXT COMMAND...: adds the counts in the last line of what the command, a test, writes
count() {
    what=$1
    shift
    "$@" >"$tmp/check" 2>&1
    status=$?
    read -r p f s <<END
$(sed -En '$ s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$tmp/check")
END
    passed=$((passed + ${p:-0})) skipped=$((skipped + ${s:-0}))
    if [ "$status,${f:-1}" != 0,0 ]; then
        fail "$what" "$tmp/check"
        [ "${f:-0}" -le 1 ] || failed=$((failed + f - 1))
    fi
}

finish() {
    if [ $parsed -eq 0 ]; then
        :
    elif [ "$python3" ]; then
        count "parse_back.py" "$python3" tests/parse_back.py --list "$tmp/parse/list"
    else
        skip "no python3 to read files back"
    fi
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}
