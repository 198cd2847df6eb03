#!/bin/sh
# declarations.sh - prints the functions, types and constants of gpumb.h as plain C: for generators
# of bindings that read C without a preprocessor (cffi). What only the macros need is left out. A C
# compiler that is to read it needs stddef.h and stdint.h before.
set -eu
header=$(cd "$(dirname "$0")/../.." && pwd)/gpumb.h
trap 'rm -f "$text"' EXIT
text=$(mktemp)
${CC:-cc} -E -x c -std=c99 -DGPUMB_BACKEND_CPU "$header" >"$text" ||
    { echo "declarations.sh: no C compiler: say CC=..." >&2; exit 1; }
awk '
    function end() # of a statement
    {
        gsub(/ __attribute__\(\(format\([^)]*\)\)\)/, "", statement)
        if (statement !~ /gpumbi_/)
            printf "%s", statement
        statement = ""
    }
    NR == FNR {
        if (/^ \* PUBLIC API$/) first = FNR
        if (/^ \* CPU KERNELS$/) last = FNR
        if (/^#define GPUMB_VERSION /) print "/* gpumb " $3 " */"
        next
    }
    /^# [0-9]+ "/ { line = $2; ours = $0 ~ /gpumb\.h"/; next }
    ours && line++ > first && line < last && NF {
        statement = statement $0 "\n"
        depth += gsub(/{/, "{") - gsub(/}/, "}")
        if (depth == 0 && /;$/)
            end()
    }' "$header" "$text"
