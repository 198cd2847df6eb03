#!/bin/sh
# test_launch_errors.sh - the first error that a compiler has for a wrong launch says what to write
# instead, and stands on top of what it prints; right launches that look alike compile. What a
# GPU's header does that comes too late, or beside the implementation, names what to define, and so
# does what is called of a family of kernels that is not compiled.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

warnings='-Wall -Wextra -Wpedantic -Werror'

# program STATEMENT: where it stands, in the CPU backend and in CUDA's
program() {
    cat <<END
#include "gpumb.h"
template <class T, int N> __global__ void two(T *x, int n) { x[0] = static_cast<T>(n + N); }
template <class T> __global__ void first(T *x, int n) { x[0] = static_cast<T>(n); }
__global__ void over(float *x, int n) { x[0] = static_cast<float>(n); }
__global__ void over(double *x, int n) { x[0] = n; }
__global__ void one(float *x, int n) { x[0] = static_cast<float>(n); }
__global__ void bytes(const void *x, int n) { (void)x, (void)n; }
template <class T> void launch(gpumb_buffer *b, T *x, int n, const gpumb_launch_config &how)
{
    (void)b, (void)x, (void)n, (void)how;
    $1
}
template void launch(gpumb_buffer *, float *, int, const gpumb_launch_config &);
END
}

# each WHAT LINES: by each compiler; in which line its first error has come by then, not counting
# source that it quotes. g++, of each version that there is, first says how it got there: which file
# includes the header, which function it is in (a template: one line more), what it instantiates.
# shellcheck disable=SC2086 # words
each() {
    each_what=$1 lines=$2
    for gcc in g++ g++-11 g++-12 g++-13 g++-14 g++-15 g++-16; do
        "$each_what" "$gcc" "$lines" "$gcc" -x c++ -std=c++11 -fsyntax-only $warnings
    done
    "$each_what" clang++ 2 clang++ -x c++ -std=c++17 -fsyntax-only $warnings
    "$each_what" nvcc 1 "${NVCC:-nvcc}" -std=c++17 -arch=sm_90 -cuda -o "$tmp/out.ii" \
        -Werror all-warnings
}

says() {
    compiler=$1 most=$2
    shift 2
    command -v "$1" >/dev/null || return 0
    "$@" -I. "$tmp/wrong.cu" >"$tmp/errors" 2>&1
    line=$(sed '/^ *[0-9]* |/d' "$tmp/errors" | grep -n -m 1 'error')
    case $line in
    *"$remedy"*) pass ;;
    *) fail "$compiler: $statement: its first error does not say \"$remedy\"" "$tmp/errors" ;;
    esac
    [ "${line%%:*}" -le "$most" ] || fail "$compiler: $statement: an error in line ${line%%:*}"
    case $compiler in
    clang++) return ;;
    esac
    [ "$(wc -l <"$tmp/errors")" -le "$all" ] ||
        fail "$compiler: $statement: more than $all lines" "$tmp/errors"
}

compiles() {
    compiler=$1
    shift 2
    command -v "$1" >/dev/null || return 0
    check "$compiler: does not compile" "$@" -I. "$tmp/right.cu"
}

for compiler in g++ clang++ "${NVCC:-nvcc}"; do
    command -v "$compiler" >/dev/null || skip "no $compiler"
done

# wrong REMEDY LINES STATEMENT; ALL: as many lines at most, of nvcc and g++
all=60
wrong() {
    remedy=$1 lines=$2 statement=$3
    program "$3" >"$tmp/wrong.cu"
    each says "$lines"
}
wrong 'put the kernel in parentheses: GPUMB_LAUNCH((kernel<a, b>), ...)' 4 \
    'GPUMB_LAUNCH(two<float, 3>, 1, 32, 0, x, n);'
wrong 'put the kernel in parentheses' 4 'GPUMB_LAUNCH_EX(two<float, 3>, how, x, n);'
one='Say kernel<type>, or cast an overloaded one to its type'
wrong "$one" 5 'GPUMB_LAUNCH(over, 1, 32, 0, x, n);'
wrong "$one" 5 'GPUMB_LAUNCH_BARRIER(first, {1, n}, 32, 0, x, n);'
wrong "$one" 5 'GPUMB_LAUNCH_EX(over, how, x, n);'
buffer='pass GPUMB_PTR(type, buffer) to a kernel, not the buffer'
all=12 # no other error follows
wrong "$buffer" 6 'GPUMB_LAUNCH(one, 1, 32, 0, b, n);'
wrong "$buffer" 6 'GPUMB_LAUNCH(bytes, 1, 32, 0, b, n);'
wrong "$buffer" 6 'const gpumb_buffer *c = b; GPUMB_LAUNCH(bytes, {n, 2}, {32, 2}, 0, c, n);'
wrong "$buffer" 6 'GPUMB_LAUNCH_EX(one, how, b, n);'
wrong 'a launch extent is a dim3 or an integer' 6 'GPUMB_LAUNCH(one, 1.5, 32, 0, x, n);'
wrong 'a launch extent is a dim3 or an integer' 6 'GPUMB_LAUNCH(one, {1, n / 2.0}, 32, 0, x, n);'

# shellcheck disable=SC2016
program 'void (*at)(float *, int) = one, (*both[])(float *, int) = {one, two<float, 3>};
    GPUMB_LAUNCH((two<T, (1 < 2)>), 1, 32, 0, x, n);
    GPUMB_LAUNCH((two<T, 3>), {n, 2}, {32, 2, 1}, 0, x, 2);
    GPUMB_LAUNCH_BARRIER(first<float>, dim3(1), 32u, 0, x, n);
    GPUMB_LAUNCH(static_cast<void (*)(float *, int)>(over), 1, 32, 0, x, n);
    GPUMB_LAUNCH(n < 2 ? one : at, 1, 32, 0, x, n);
    GPUMB_LAUNCH(both[1 < 2], 1, 32, 0, x, n);
    GPUMB_LAUNCH(at, 1, 32, 0, x, [](int i) { return i; }(n)), GPUMB_LAUNCH(one, 1, 32, 0, x, n);
    GPUMB_LAUNCH(&one, 1, 32, 0, nullptr, n);
    n ? GPUMB_LAUNCH(bytes, 1, 32, 0, x, n) : GPUMB_LAUNCH_EX((two<T, 3>), how, x, n);
    GPUMB_LAUNCH_EX(bytes, how, &b, n);' >"$tmp/right.cu"
each compiles 0

# first MACRO OPTION...: what a host compiler says of the first error, notes with it, names MACRO
first() {
    macro=$1
    shift
    for compiler in g++ clang++; do
        command -v "$compiler" >/dev/null || continue
        "$compiler" -std=c++17 -fsyntax-only -I. "$@" >"$tmp/errors" 2>&1
        awk '/error:/ && found++ { exit } found' "$tmp/errors" >"$tmp/first"
        check "$compiler $*: its first error does not say \"$macro\"" has "$macro" "$tmp/first"
    done
}
cuda=$(dirname "$(dirname "$(command -v "${NVCC:-nvcc}" || echo /usr/local/cuda/bin/nvcc)")")
late='-x c++ -include gpumb.h -include'
if [ -f "$cuda/include/cuda_runtime.h" ]; then
    # shellcheck disable=SC2086 # words
    first GPUMB_BACKEND_CUDA -isystem "$cuda/include" $late cuda_runtime.h /dev/null
    first GPUMB_IMPLEMENTATION -isystem "$cuda/include" -x c++ -DGPUMB_IMPLEMENTATION \
        -include cuda_runtime.h -include gpumb.h /dev/null
    for header in cuda_runtime.h vector_types.h; do # cufft.h brings the types alone
        check "after $header" g++ -std=c++17 -fsyntax-only -I. -isystem "$cuda/include" -x c++ \
            -include $header -include gpumb.h /dev/null
    done
    # shellcheck disable=SC2086 # words
    check "with GPUMB_BACKEND_CUDA it may come later" g++ -std=c++17 -fsyntax-only -I. \
        -isystem "$cuda/include" -DGPUMB_BACKEND_CUDA $late cuda_runtime.h /dev/null
else
    skip "no cuda_runtime.h"
fi
if [ -f /usr/include/hip/hip_runtime.h ]; then
    # shellcheck disable=SC2086 # words
    first GPUMB_BACKEND_HIP -D__HIP_PLATFORM_AMD__=1 $late hip/hip_runtime.h /dev/null
    for header in hip_runtime.h hip_complex.h; do
        check "after $header" g++ -std=c++17 -fsyntax-only -I. -D__HIP_PLATFORM_AMD__=1 -x c++ \
            -include hip/$header -include gpumb.h /dev/null
    done
else
    skip "no hip_runtime.h"
fi

# missing NUMBER MATCH OPTION...: so many functions and types are declared, with GPUMB_STATIC, only
# beside a define that matches; without it, a use of each is an error that names it
missing() {
    number=$1 match=$2
    shift 2
    awk -v wanted="$match" '
        /^#if !defined\(GPUMB_STATIC\) \|\| / {
            define = ""
            if (match($0, wanted))
                define = substr($0, RSTART, RLENGTH)
        }
        /^#endif/ { define = "" }
        define == "" { next }
        /^GPUMB_API/ && match($0, /gpumb_[a-z_]+\(/) {
            print substr($0, RSTART, RLENGTH - 1), define
        }
        /^} gpumb_/ { print substr($2, 1, length($2) - 1), define }' gpumb.h >"$tmp/names"
    check "$match: not $number names" test "$(wc -l <"$tmp/names")" -eq "$number"
    { echo '#include "gpumb.h"' && sed 's/\(.*\) .*/int of_\1 = sizeof(\1);/' "$tmp/names"; } \
        >"$tmp/uses.c"
    for compiler in g++ 'clang++ -ferror-limit=0'; do
        command -v "${compiler%% *}" >/dev/null || continue
        # shellcheck disable=SC2086 # words
        $compiler "$@" -fsyntax-only -I. -DGPUMB_IMPLEMENTATION "$tmp/uses.c" >"$tmp/errors" 2>&1
        while read -r name define; do
            if grep -q "error: .*${name}_needs_.*$define" "$tmp/errors"; then
                pass
            else
                fail "$compiler $*: no error of $name names $define" "$tmp/errors"
            fi
        done <"$tmp/names"
    done
}
for mode in -DGPUMB_STATIC -UGPUMB_STATIC; do
    missing 19 'GPUMB_(COPY|STRIDED|REDUCTIONS|NBODY_FORMS)' -x c++ $mode
    missing 4 GPUMB_NO_KERNELS -x c++ -DGPUMB_NO_KERNELS $mode
    missing 4 GPUMB_NO_KERNELS -x c $mode
done
missing 7 'GPUMB_(MODULES|COALESCING)' -x c++ -DGPUMB_STATIC

finish
