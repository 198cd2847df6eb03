#!/bin/sh
# test_pages.sh - runs the programs in all pages and the quick start of gpumb.h, compiled for the
# CPU, and looks for the pages' make targets in the Makefile.
# shellcheck disable=SC2046,SC2086  # words in $CXXFLAGS and $(options) are meant to split
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

backend=cpu
. tests/examples.sh
compiler="${CXX:-c++} -x c++ -std=c++11 -O1 -Wall -Wextra -pthread -I. ${CXXFLAGS-}"

# ---- programs in the text ------------------------------------------------------------------------

# compile NAME SOURCE: a complete program is linked, a piece with the implementation is compiled
compile() {
    if grep -qE '\bmain\(|GPUMB_MAIN\(' "$2"; then
        define=
        grep -q 'GPUMB_IMPLEMENTATION' "$2" || define=-DGPUMB_IMPLEMENTATION
        check "$1: does not compile" $compiler $define "$2" \
            -o "$tmp/program" || return 1
        check "$1: warnings" not test -s "$tmp/check" || sed 's/^/    /' "$tmp/check"
        run "$1" "$2" "$tmp/program"
        ! grep -qE 'argc, ?(char|argv)' "$2" || # there are no buffers then
            check "$1: --list" timeout 60 "$tmp/program" --list
    else
        check "$1: does not compile" $compiler -c "$2" -o "$tmp/piece.o"
    fi
}

# the quick start: indented text between two headings
awk '/^QUICK START$/ { on = 1; next } /^HOW IT MEASURES$/ { exit }
    on && /^    / && !/nvcc/ { print substr($0, 5) }
    on && /^$/ { print "" }' gpumb.h >"$tmp/quick_start.cu"
check "no quick start in gpumb.h" has 'int main' "$tmp/quick_start.cu"
check "the quick start has more than 20 lines" test "$(grep -c . "$tmp/quick_start.cu")" -le 20
compile "quick start of gpumb.h" "$tmp/quick_start.cu"

if [ -e README.md ]; then
    # block NUMBER and LANGUAGE of each fence become file names; README.md has the first ones
    pages=$(find README.md examples bench plots tests -name '*.md' | sort)
    awk -v tmp="$tmp" '
        FNR == 1 && open { print page >(tmp "/unclosed"); open = 0 }
        { page = FILENAME }
        /^ *```/ {
            if (open) { open = 0; close(file); next }
            language = $0
            sub(/^ *```/, "", language)
            sub(/[^a-z+].*/, "", language)
            file = sprintf("%s/block%03d.%s", tmp, ++count, language == "" ? "none" : language)
            printf "" >file
            print file, page >(tmp "/pages")
            open = 1
            next
        }
        open { print >file }
        END { if (open) print page >(tmp "/unclosed") }' $pages
    check "a fence is not closed: $(cat "$tmp/unclosed" 2>&1)" not test -e "$tmp/unclosed"
    found=0
    for block in "$tmp"/block*.c "$tmp"/block*.cpp "$tmp"/block*.cu; do
        [ -e "$block" ] || continue
        grep -qE 'GPUMB_IMPLEMENTATION|\bmain\(|GPUMB_MAIN\(' "$block" || continue
        found=$((found + 1))
        page=$(sed -n "s|^$block ||p" "$tmp/pages")
        compile "$page, $(basename "$block") ($(grep . "$block" | head -n 1))" "$block"
    done
    check "$found complete programs in the pages, fewer than 9" test $found -ge 9

    # an object of its own: as README.md says, and programs that only include the header
    check "README.md: no object of its own" has '-DGPUMB_IMPLEMENTATION -c gpumb\.h -o' README.md
    check "gpumb.h as an object" $compiler -DGPUMB_IMPLEMENTATION -c gpumb.h -o "$tmp/gpumb.o"
    check "gpumb.h as an object: warnings" not test -s "$tmp/check" || sed 's/^/    /' "$tmp/check"
    first=$(grep -l 'int main' "$tmp"/block*.cpp | head -n 1)
    grep -vE '^#define GPUMB_(STATIC|IMPLEMENTATION)$' "$first" >"$tmp/includes.cu"
    for page in README.md examples/program.md; do
        check "$page: no program linked with it" \
            has '^    g[+]{2} -O3 gpumb\.o -x c[+]{2} mine\.cu -o mine -pthread' $page
    done
    check "a program that only includes gpumb.h" ${CXX:-c++} "$tmp/gpumb.o" \
        ${compiler#"${CXX:-c++}"} "$tmp/includes.cu" -o "$tmp/program"
    run "README.md, with an object of its own" "$first" "$tmp/program"

    # the grader, of what is right and of the cheat in the text; a launch takes 1 ms of a scripted
    # clock
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
#include MINE
END
    grader="--budget 0.2 --warmup 0.01 --samples 6:6"
    fake="$compiler -Wno-unused-variable"
    $fake -DMINE='"examples/08_grader_kernels.cu"' "$tmp/grader.cu" -o "$tmp/right" &
    check "one cheat for the grader" test -e "$(ls "$tmp"/block*.cuda)"
    check "the cheat does not compile" $fake \
        -DMINE="\"$(ls "$tmp"/block*.cuda)\"" "$tmp/grader.cu" -o "$tmp/cheat"
    wait $!
    check "--strict fails what is right" "$tmp/right" $grader --strict \
        --expect 'mine>=0.9*reference or undecided'
    check "the cheat is caught without --strict" "$tmp/cheat" $grader
    "$tmp/cheat" $grader --strict >"$tmp/out" 2>&1
    check "the cheat passes" test $? -eq 1
    check "the cheat is not named" grep -qF \
        "$(sed -n 's/^    \(mine failed: \)/\1/p' examples/expectations.md)" "$tmp/out"

    # with GPUMB_STATIC, --strict is compiled on request
    printf '#define GPUMB_STATIC\n#define GPUMB_IMPLEMENTATION\n#include "gpumb.h"
int main(int argc, char **argv) { return gpumb_close(gpumb_open(argc, argv)); }\n' >"$tmp/static.cu"
    check "GPUMB_STATIC does not compile" $compiler "$tmp/static.cu" -o "$tmp/static"
    "$tmp/static" --strict >/dev/null 2>"$tmp/err"
    check "GPUMB_STATIC: --strict is not refused" test $? -eq 2
    check "GPUMB_STATIC: --strict, no remedy" has '#define GPUMB_STRICT' "$tmp/err"
    check "GPUMB_STRICT does not compile" $compiler -DGPUMB_STRICT "$tmp/static.cu" -o "$tmp/static"
    "$tmp/static" --strict >/dev/null 2>"$tmp/err"
    check "GPUMB_STRICT: another exit code than for nothing measured" test $? -eq 1

    # the first program on a machine without a device, and as it would be without gpumb_close()
    for closes in yes no; do
        {
            echo '#define GPUMB_BACKEND_CPU'
            echo '#define GPUMB_BACKEND_FAKE'
            if [ $closes = yes ]; then cat "$first"; else
                sed 's/return gpumb_close(NULL);/return 0;/' "$first"
            fi
            echo '#include "tests/fake.h"' # has no device, unless it is told to
        } >"$tmp/no_device.cu"
        check "README.md, without a device: does not compile" $compiler "$tmp/no_device.cu" \
            -o "$tmp/program"
        timeout 20 "$tmp/program" >"$tmp/out" 2>"$tmp/err"
        code=$?
        check "README.md, without a device: no message" has 'gpumb: no device' "$tmp/err"
        if [ $closes = yes ]; then
            check "README.md, without a device: exit code $code" test $code -eq 3
        else
            check "README.md, not closed: exit code $code" test $code -eq 0
            check "README.md, not closed: $(cat "$tmp/err")" \
                has 'without gpumb_close\(\), which returns exit code 3' "$tmp/err"
        fi
    done

    # CMake, for the CPU, as its comment says
    cmake_file=$(find "$tmp" -name 'block*.cmake' | head -n 1)
    check "no CMakeLists.txt" test -n "$cmake_file"
    check "CMakeLists.txt has more than 6 lines" \
        test "$(grep -c . "$cmake_file")" -le 6
    mkdir "$tmp/cmake"
    cp "$first" "$tmp/cmake/scale.cu"
    ln -s "$PWD" "$tmp/cmake/gpumb"
    sed 's/LANGUAGES CUDA/LANGUAGES CXX/; s/cuda_std/cxx_std/; s/^# set/set/' "$cmake_file" \
        >"$tmp/cmake/CMakeLists.txt"
    if ! command -v cmake >/dev/null 2>&1; then
        skip "no cmake"
    else
        check "cmake" cmake -S "$tmp/cmake" -B "$tmp/cmake/build" \
            "-DCMAKE_CXX_COMPILER=${CXX:-c++}" -DCMAKE_CXX_FLAGS=-O1
        check "cmake --build" cmake --build "$tmp/cmake/build"
        run "the first program, built with CMake" "$first" "$tmp/cmake/build/scale"
    fi
    # what the pages tell to make
    # shellcheck disable=SC2016 # a backtick of Markdown
    grep -ohE '(^ *|`)make( [A-Z_]+=[^ `]+)* [a-z]+([^a-z/]|$)' $pages |
        sed 's/[^a-z]$//; s/.* //' | sort -u >"$tmp/targets"
    check "fewer than 10 make targets in the pages" test "$(wc -l <"$tmp/targets")" -ge 10
    while read -r target; do
        check "make $target: no such target" has "^$target:" Makefile
    done <"$tmp/targets"
else
    skip "no README.md"
fi

finish
