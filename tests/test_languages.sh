#!/bin/sh
# test_languages.sh - the declarations that `make api` prints are C, all there, and those of
# gpumb.h; the programs in examples/languages run, say what is wrong, and leave rows.
# shellcheck disable=SC2086  # words in $CC and $CXX are meant to split
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
here=$PWD/examples/languages
cc=${CC:-cc} cxx=${CXX:-c++}

# ---- the declarations ----------------------------------------------------------------------------

check "declarations.sh" sh -c "CC='$cc' sh '$here/declarations.sh' >'$tmp/api.h'"
{
    echo '#include <stddef.h>'
    echo '#include <stdint.h>'
    cat "$tmp/api.h"
} >"$tmp/alone.c"
check "the declarations are not C" \
    $cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$tmp/alone.c"

# They are declared twice where gpumb.h comes first, but types can't be.
grep -E '^extern ' -A 3 "$tmp/api.h" | awk '/^extern /, /;$/' >"$tmp/functions.h"
{
    echo '#include "gpumb.h"'
    cat "$tmp/functions.h"
} >"$tmp/both.c"
check "they differ from the header's" $cc -std=c99 -I. -Werror -fsyntax-only "$tmp/both.c"
names() { grep -oE '\bgpumb_[a-z0-9_]+\(' | sort -u; }
names <"$tmp/functions.h" >"$tmp/declared"
sed '/^ \* CPU KERNELS$/,$d' gpumb.h | awk '/^GPUMB_API /, /;$/' | names >"$tmp/wanted"
check "functions: not those of the header" cmp "$tmp/declared" "$tmp/wanted"
check "fewer than 90 functions" test "$(wc -l <"$tmp/declared")" -ge 90
if python3 -c 'import cffi' 2>/dev/null; then
    check "cffi can't read them" \
        python3 -c 'import cffi, sys; cffi.FFI().cdef(open(sys.argv[1]).read())' "$tmp/api.h"
else
    skip "no cffi for python3"
fi
check "internal names" not grep -E '\b(gpumbi_|__attribute__|static|inline)' "$tmp/api.h"
check "no C compiler: the exit code" not sh -c "CC=/nonexistent sh '$here/declarations.sh'"

# ---- the programs --------------------------------------------------------------------------------

check "gpumb.o" $cxx -std=c++17 -O1 -pthread -I. -x c++ -DGPUMB_IMPLEMENTATION \
    -c gpumb.h -o "$tmp/gpumb.o"

# tries NAME SOURCE COMMAND...: a row that is right, the options, and a result that is wrong
tries() {
    name=$1 source=$2
    shift 2
    check "$name: does not run" "$@" --samples 6:6 --warmup 0.01 --csv "$tmp/$name.csv" || return
    check "$name: no row, or not verified" has ',saxpy,cpu,.*,ok,,yes,' \
        "$tmp/$name.csv"
    check "$name: takes a wrong option" not "$@" --nosuch
    "$@" --nosuch >"$tmp/out" 2>"$tmp/err"
    check "$name: the exit code of a wrong option" test $? -eq 2
    check "$name: what is wrong" has '^gpumb: --nosuch: no such option' "$tmp/err"
    check "$name: more than 40 lines of code" \
        test "$(grep -cvE '^[[:blank:]]*(!|//|\*|/\*|#|""|$)' "$source")" -le 40
}

# wrong NAME COMMAND...: of a program whose result is wrong
wrong() {
    name=$1
    shift
    "$@" --samples 6:6 --warmup 0.01 --csv "$tmp/wrong.csv" >"$tmp/out" 2>"$tmp/err"
    check "$name: a wrong result: exit code" test $? -eq 1
    check "$name: a wrong result: no row" has ',saxpy,cpu,.*,failed,' "$tmp/wrong.csv"
    check "$name: a wrong result passes" not has ',saxpy,cpu,.*,ok,' "$tmp/wrong.csv"
}

if command -v gfortran >/dev/null; then
    fortran() # SOURCE PROGRAM
    {
        check "$1 does not compile" gfortran -O1 -Wall -Wextra -Wno-unused-dummy-argument -Werror \
            -J "$tmp" "$here/gpumb.f90" "$1" "$tmp/gpumb.o" -lstdc++ -lm -pthread -o "$2"
    }
    fortran "$here/saxpy.f90" "$tmp/fortran" &&
        tries fortran "$here/saxpy.f90" "$tmp/fortran"
    sed 's/2 \* x(i)/3 * x(i)/' "$here/saxpy.f90" >"$tmp/wrong.f90"
    fortran "$tmp/wrong.f90" "$tmp/fortran" && wrong fortran "$tmp/fortran"
else
    skip "no gfortran"
fi

if rustc --version >/dev/null 2>&1; then # rustup's is there without a toolchain, too
    rust() # SOURCE PROGRAM
    {
        check "$1 does not compile" rustc --edition 2021 -D warnings -O "$1" \
            -C link-args="$tmp/gpumb.o -lstdc++ -lm" -o "$2"
    }
    rust "$here/saxpy.rs" "$tmp/rust" && tries rust "$here/saxpy.rs" "$tmp/rust"
    sed 's/2\.0 \* x/3.0 * x/' "$here/saxpy.rs" >"$tmp/wrong.rs"
    rust "$tmp/wrong.rs" "$tmp/rust" && wrong rust "$tmp/rust"
else
    skip "no rustc"
fi

# What is for a device is linked by a tool of its own, which may not be installed.
cat >"$tmp/openmp.c" <<'END'
int main(void)
{
    int x = 0;
#pragma omp target map(tofrom : x)
    x = 1;
    return !x;
}
END
if $cc -fopenmp "$tmp/openmp.c" -o "$tmp/openmp" 2>/dev/null; then
    openmp() # SOURCE PROGRAM
    {
        check "$1 does not compile" $cc -std=c99 -O1 -fopenmp -Wall -Wextra -Wconversion -Werror \
            -I. "$1" "$tmp/gpumb.o" -lstdc++ -lm -pthread -o "$2"
    }
    openmp "$here/saxpy.c" "$tmp/openmp" && tries openmp "$here/saxpy.c" "$tmp/openmp"
    sed 's/2 \* x\[i\]/3 * x[i]/' "$here/saxpy.c" >"$tmp/wrong.c"
    openmp "$tmp/wrong.c" "$tmp/openmp" && wrong openmp "$tmp/openmp"
else
    skip "no OpenMP, or no target regions"
fi

finish
