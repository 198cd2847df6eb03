#!/bin/sh
# Checks what no compiler does: names, symbols, versions, contents, formatting, layout.
# Each check prints what is wrong; a silent one has passed.
CC=${CC:-cc} CXX=${CXX:-c++}
passed=0 failed=0 skipped=0
rm -rf build/lint
mkdir -p build/lint/tmp
export TMPDIR="$PWD/build/lint/tmp" # Debian's hipcc 5.2 leaves a folder there each time

check() # NAME COMMAND...
{
    name=$1
    shift
    if report=$("$@" 2>&1) && [ -z "$report" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED  %s\n' "$name"
        printf '%s\n' "$report" | head -n 20 | sed 's/^/    /'
    fi
}

check_with() # PROGRAM NAME COMMAND...: skipped without the program
{
    if command -v "$1" >/dev/null; then
        shift
        check "$@"
    else
        skipped=$((skipped + 1))
        printf 'skipped %s: no %s\n' "$2" "$1"
    fi
}

# ---- names of vendors' libraries: in the section BACKEND, in comments and in two #includes ----
vendor_names()
{
    awk '
    /^\/\* =+$/ { ruler = NR }
    NR == ruler + 1 { section = substr($0, 4) }
    {
        code = ""
        for (rest = $0; rest != ""; ) {
            end = index(rest, comment ? "*/" : "/*")
            if (!comment) code = code " " (end ? substr(rest, 1, end - 1) : rest)
            if (!end) break
            rest = substr(rest, end + 2)
            comment = !comment
        }
    }
    section !~ /^BACKEND/ && code !~ /#include <(cuda_runtime|hip\/hip_runtime)\.h>/ &&
        code ~ /(^|[^A-Za-z0-9_])((cuda|hip|nvml|rsmi|amdsmi)[A-Z]|(rsmi|amdsmi)_)/ {
        print FILENAME ":" FNR ": outside BACKEND: " $0
    }' gpumb.h
}

# ---- symbols that an object exports ----
ours='gpumbi?_.*|_Z.*gpumbi?_.*'
library='_ZN?K?St.*|_ZN?K?9__gnu_cxx.*' # inline functions of the standard library
symbols() # ALLOWED COMMAND...
{
    allowed=$1
    shift
    printf '#define GPUMB_IMPLEMENTATION\n#include "gpumb.h"\n' >build/lint/object.c
    "$@" -I. -c build/lint/object.c -o build/lint/object.o || return 1
    nm -g --defined-only -P build/lint/object.o | cut -d ' ' -f 1 | grep -Evx "$library|$allowed"
    return 0
}

# ---- the version: in the macro, the first line of the comment and the README ----
version()
{
    version=$(sed -n 's/^#define GPUMB_VERSION "\(.*\)"$/\1/p' gpumb.h)
    sed -n 2p gpumb.h | grep -qF "v$version " || echo "gpumb.h:2: not v$version"
    grep -qF "$version" README.md || echo "README.md: does not mention $version"
}

# ---- the table of contents against the headings ----
contents()
{
    awk '/^CONTENTS/ { on = 1; next } on && /^[A-Z]/ { exit } on && NF' gpumb.h |
        sed 's/^ *//; s/   .*//' >build/lint/contents
    sed -nE 's/^( \* )?([A-Z][A-Z ]+)$/\2/p' gpumb.h >build/lint/headings
    diff build/lint/contents build/lint/headings
}

# ---- text ----
text() # PATTERN WHAT FILE...: no line may match
{
    pattern=$1 what=$2
    shift 2
    LC_ALL=C grep -HnE "$pattern" "$@" | sed "s/^/$what: /"
    return 0
}

last_lines() # FILE...: each ends with a line break
{
    for file; do
        [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo "unended: $file"
    done
}

long_prose() # but for tables and what is quoted
{
    awk '/^```/ { quoted = !quoted } !quoted && !/^(\||    )/ && length > 100 {
        print "too long: " FILENAME ":" FNR ": " $0 }' "$@"
}

# ---- formatting; clang-format reads a file anew for each of its #if: gpumb.h by its sections ----
formatting() # FILE...: the first is gpumb.h
{
    mkdir build/lint/gpumb.h
    awk '/^\/\* =+$/ { printf "%s", substr(blank, 2) >part; blank = ""; line = NR - 1 }
        { part = "build/lint/gpumb.h/" line + 0 ".h" }
        /^$/ { blank = blank "\n"; next }
        { printf "%s%s\n", blank, $0 >part; blank = "" }
        END { printf "%s", blank >part }' "$1"
    shift
    clang-format --dry-run -Werror build/lint/gpumb.h/*.h "$@" 2>&1 |
        sed -E 's|^build/lint/gpumb\.h/([0-9]+)\.h:|gpumb.h, \1 lines and |'
}

# ---- links between the texts: files and headings that are there ----
anchors() # FILE: of its headings, as on GitHub
{
    awk '/^```/ { quoted = !quoted }
        !quoted && sub(/^#+ /, "") { print tolower($0) }' "$1" | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

links_of() # FILE
{
    awk '/^```/ { quoted = !quoted } !quoted && !/^    /' "$1" | tr '\n' ' ' |
        grep -oE '\]\( *[^): ]+\)' | sed 's/^](\( *\)//; s/)$//'
}

links() # FILE...
{
    for file; do
        links_of "$file" | while read -r link; do
            to=$(dirname "$file")/${link%%#*}
            [ "${link%%#*}" ] || to=$file
            if ! [ -e "$to" ]; then
                echo "$file: $link: no such file"
            elif [ "$link" != "${link#*#}" ] && ! anchors "$to" | grep -qxF -- "${link#*#}"; then
                echo "$file: $link: no such heading"
            fi
        done
    done
}

short_pages() # FILE...: what nobody reads to its end has no reader
{
    for file; do
        lines=$(wc -l <"$file")
        [ "$lines" -le 300 ] || echo "$file: $lines lines, more than 300"
    done
}

# ---- what is listed, against the header: all public names, all options ----
compare() # WHERE ONE FILE, WHERE ANOTHER FILE: both hold the same lines
{
    LC_ALL=C comm -23 "$2" "$4" | sed "s|^|in $1, not in $3: |"
    LC_ALL=C comm -13 "$2" "$4" | sed "s|^|in $3, not in $1: |"
}

public_names() # of standard input
{
    sed 's/gpumb_trace\.c//g' | grep -oE '[A-Za-z0-9_]+' | grep -E '^(gpumb|GPUMB)_.*[A-Za-z0-9]$' |
        grep -vxE 'GPUMB_(H|API)' | LC_ALL=C sort -u
}

listed_names()
{
    awk '/^ \* IMPLEMENTATION$/ { exit } { print }' gpumb.h | public_names >build/lint/names
    public_names <examples/api.md >build/lint/listed_names
    compare gpumb.h build/lint/names examples/api.md build/lint/listed_names
}

listed_options() # test_golden holds its help against --help
{
    sed -nE 's/^  (--[a-z-]+).*/\1/p' tests/golden/help.txt | LC_ALL=C sort >build/lint/options
    sed -nE 's/^\| (`--[^|]*) \|.*/\1/p' examples/options.md | grep -oE -e '--[a-z-]+' |
        LC_ALL=C sort >build/lint/listed_options
    compare --help build/lint/options examples/options.md build/lint/listed_options
}

top_level()
{
    git ls-files | cut -d / -f 1 | sort -u |
        grep -vxE 'gpumb\.h|examples|bench|tests|plots|Makefile|README\.md|LICENSE|\..*'
    return 0
}

sources=$(find gpumb.h examples bench tests plots README.md .ci .clang-format \
    -type f ! -name "*.pyc" ! -path "tests/golden/*" ! -path "bench/[fr]*/*" \
    ! -path "examples/labs/h200/*" ! -name "*.json" ! -name "*.csv" 2>/dev/null)
prose=$(printf '%s\n' "$sources" | grep -E '\.md$')
code=$(printf '%s\n' "$sources" | grep -vE '\.md$')
c_sources=$(printf '%s\n' "$sources" | grep -E '\.(h|c|cpp|cu)$')
shell_sources=$(printf '%s\n' "$sources" | grep -E '\.sh$|^\.ci/run$')
python_sources=$(printf '%s\n' "$sources" | grep -E '\.py$')
tab=$(printf '\t') return=$(printf '\r')
pyflakes=$(command -v pyflakes3 || echo pyflakes)
nvcc=${NVCC:-nvcc} hipcc=${HIPCC:-hipcc}

# shellcheck disable=SC2086 # lists of files
{
    check "vendors' names only in BACKEND" vendor_names
    check "symbols, C" symbols "$ours" "$CC" -x c -std=c99
    check "symbols, C++" symbols "$ours" "$CXX" -x c++ -std=c++11
    check "symbols, C, GPUMB_STATIC" symbols none "$CC" -x c -std=c99 -DGPUMB_STATIC
    check "symbols, C++, GPUMB_STATIC" symbols none "$CXX" -x c++ -std=c++11 -DGPUMB_STATIC
    check_with "$nvcc" "symbols, nvcc" symbols "$ours|DW\\.ref\\..*|_ZN4dim3.*" \
        "$nvcc" -x cu -arch=sm_90
    check_with "$hipcc" "symbols, hipcc" symbols "$ours|__hip_.*|_ZN4dim3.*" \
        "$hipcc" -x hip --offload-arch=gfx90a
    check "version" version
    check_with python3 "layers" python3 tests/layers.py
    check_with python3 "layers, broken" python3 tests/layers.py --breaks
    check_with python3 "mutations" python3 tests/mutate.py --table
    check_with python3 "mutations for AMD" python3 tests/amd/broken.py --table
    check "contents" contents
    check "100 columns" text '.{101}' 'too long' $code Makefile
    check "100 columns of prose" long_prose $prose
    check "no tabs" text "$tab" tab $sources
    check "no trailing blanks" text "[ $tab$return]\$" trailing $sources Makefile
    check "last lines" last_lines $sources Makefile
    check "links" links $prose
    check "300 lines a page" short_pages $prose
    check "examples/api.md" listed_names
    check "examples/options.md" listed_options
    check "ASCII" text '[^ -~]' 'not ASCII' gpumb.h
    check_with git "top level" top_level
    check_with clang-format "clang-format" formatting $c_sources
    check_with shellcheck "shellcheck" shellcheck -x -e SC2317 $shell_sources
    check_with "$pyflakes" "pyflakes" "$pyflakes" $python_sources
}

rm -rf build/lint/tmp
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
