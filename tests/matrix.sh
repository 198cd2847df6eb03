#!/bin/sh
# Compiles the header with every compiler, standard, include order, optimisation and mode, and links
# and runs it as two units. The cases are generated, one command a line, into build/matrix/cases.
# What is not here is skipped by name.
# gcc and clang, in C and in C++: each standard with each mode and each order, for what is declared;
# between the oldest and the newest the other order with the usual mode.
# The oldest C and the newest C++ at -O0, -O2 and -O3, for what the optimiser warns of: as two
# units, which run, as does the oldest C++; in one unit where that has other code. nvcc and hipcc,
# the slowest: one standard with each mode, the others with all kernels and the usual ones, the
# other order once; and device code alone for each kind of card.
#     tests/matrix.sh      runs them all, in parallel
#     tests/matrix.sh N    runs the one in line N
#     MORE_NVCC, MORE_HIPCC    others than nvcc and hipcc: /opt/cuda-12.4/bin/nvcc ...
#     HIP_INCLUDE              HIP's headers, for HIP on NVIDIA
#     LIST=1                   only lists the cases
#     NIGHTLY=1                optimises, and compiles anew, where that repeats another case
dir=build/matrix

# ---- one case; its command writes to $out and may start with `refuses` ----
refuses() # COMMAND: stops at an #error of the header
{
    "$@" >"$out.log" 2>&1 && echo "compiles, and should not" && return 1
    cat "$out.log"
    grep -q '#error "gpumb: \|error: "gpumb: ' "$out.log"
}

if [ $# -gt 0 ]; then
    out=$dir/case$1
    command=$(sed -n "$1p" $dir/cases)
    began=$(date +%s)
    mkdir "$out.tmp" # Debian's hipcc 5.2 leaves a folder there each time
    export TMPDIR="$PWD/$out.tmp"
    if report=$(eval "$command" 2>&1); then
        echo "$1" >>$dir/passed
    else
        printf 'FAILED  %s\n%s\n' "$command" "$report" | sed '1!s/^/    /; 12q'
    fi
    rm -rf "$out" "$out".*
    echo "$(($(date +%s) - began)) $1 $command" >>$dir/seconds
    exit 0
fi

# ---- sources ----
rm -rf $dir
mkdir -p $dir/tmp
export TMPDIR="$PWD/$dir/tmp"

printf '#define GPUMB_IMPLEMENTATION\n#include "gpumb.h"\n' >$dir/implementation.c

cat >$dir/use.c <<'END'
#ifdef SYSTEM_FIRST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#endif
#ifdef ALL_KERNELS
#define GPUMB_COPY
#define GPUMB_STRIDED
#define GPUMB_REDUCTIONS(X) GPUMB_ALL_REDUCTIONS(X)
#define GPUMB_NBODY_FORMS(X) X(1, 1, LIBRARY) X(4, 4, APPROXIMATE) X(2, 2, INTEGER)
#define GPUMB_NBODY_PAIRS(X) X(8, 1)
#endif
#include "gpumb.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef USER /* Every public function. */
typedef void (*any_function)(void);
extern any_function functions[];
any_function functions[] = {
END
awk '
    /^ \* IMPLEMENTATION/ { exit }
    /^\/\* ---- / && (kernels || calls || model) { print "#endif" }
    /^\/\* ---- / { kernels = /reference kernels|reductions|n-body/ }
    /^\/\* ---- / { calls = /without macros/ }
    /^\/\* ---- / { model = /a model of coalescing/ }
    /^\/\* ---- / && kernels { print "#if defined(__cplusplus) && !defined(GPUMB_NO_KERNELS)" }
    /^\/\* ---- / && calls { print "#ifndef GPUMB_STATIC" }
    /^\/\* ---- / && model { print "#if !defined(GPUMB_STATIC) || defined(GPUMB_COALESCING)" }
    /^GPUMB_API/ && match($0, /gpumb_[a-z0-9_]+\(/) {
        name = substr($0, RSTART, RLENGTH - 1)
        asked = name ~ /_(z?copy|subdomains|(check_)?strided|reduc[a-z_]*|nbody[a-z_]*)$/ &&
            name !~ /check_copy|_form$/ || name ~ /check_(reduction|nbody)/
        loads = name ~ /^gpumb_(load|load_image|function)$/
        if (asked) print "#ifdef ALL_KERNELS"
        if (loads) print "#if !defined(GPUMB_STATIC) || defined(GPUMB_MODULES)"
        print "    (any_function)" name ","
        if (asked || loads) print "#endif"
    }' gpumb.h >>$dir/use.c
cat >>$dir/use.c <<'END'
};
#endif

#ifdef GPUMB_LAUNCH
static __global__ void scale(float *x, float a, uint64_t n, int m)
{
    GPUMB_SHARED(float, shared);
    GPUMB_GRID_STRIDE(i, n)
        shared[threadIdx.x] = x[i];
    GPUMB_GRID_STRIDE(k, m)
        x[k] += 1;
    if (GPUMB_ANY(GPUMB_ALL_LANES, m < 0) && !GPUMB_ALL(GPUMB_ALL_LANES, m < 0) &&
        !GPUMB_BALLOT(GPUMB_ALL_LANES, threadIdx.x % GPUMB_WARP == 1)) {
        a = GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, a, 1) + GPUMB_SHUFFLE_XOR(GPUMB_ALL_LANES, a, 1);
        a += GPUMB_SHUFFLE_UP(GPUMB_ALL_LANES, a, 1) + GPUMB_SHUFFLE_DOWN(GPUMB_ALL_LANES, a, 1);
    }
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x] = shared[threadIdx.x] * a;
}
#endif

#ifdef USER
void run(gpumb *g);
void run(gpumb *g)
{
    static const gpumb_benchmark list[] = {{"run", "again", run}};
    gpumb_main(0, nullptr, list, 1);
    gpumb_note(g, "%d", 1);
}
static const gpumb_benchmark benchmarks[] = {{"run", "once", run}};
GPUMB_MAIN(benchmarks)
int other_main(void);
int other_main(void)
#else
int main(void)
#endif
{
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.budget_s = 0.001;
    settings.warmup_s = -1;
    settings.max_samples = settings.min_samples = 6;
    gpumb *g = gpumb_open_settings("matrix", &settings);

    volatile double sum = 0;
    gpumb_result r;
    GPUMB_TIME(&r) { sum = sum + 1; }
    GPUMB_TIME_IN(g, &r) { sum = sum + 1; }

    const int64_t array[] = {1, 2};
    static const char *const names[] = {"one", "two"};
    GPUMB_SWEEP_POW2(g, a, 1, 2)
    GPUMB_SWEEP_FACTOR(g, b, 1, 10, 10)
    GPUMB_SWEEP_RANGE(g, c, 1, 2, 1)
    GPUMB_SWEEP_LIST(g, d, 1, 2)
    GPUMB_SWEEP_ARRAY(g, e, array, 1)
    GPUMB_SWEEP_NAMES(g, f, "one")
    GPUMB_SWEEP_STRINGS(g, h, names, 1)
    {
        GPUMB_MEASURE(g, "sum") { sum = sum + (a + b + c + d + e + f + h > 0); }
    }
    GPUMB_INTERLEAVE(g)
    {
        GPUMB_MEASURE(g, "up") { sum = sum + 1; }
        GPUMB_MEASURE(g, "down") { sum = sum - 1; }
    }
#ifdef GPUMB_LAUNCH
    gpumb_buffer *x = gpumb_alloc(g, sizeof(float) * 1024);
    const uint64_t blocks = 4;
    GPUMB_MEASURE(g, "scale")
        GPUMB_LAUNCH_BARRIER(scale, blocks, 256, 1024, GPUMB_PTR(float, x), 2.0f, blocks * 256, 9);
#endif
    return gpumb_close(g) || r.time.count == 0 || sum < 1;
}
END

# Behind macros that a program may have for itself, or from the headers of others (windows.h, X11,
# sys/sysmacros.h, math.h of old), and behind headers whose names must not be hidden.
{
    printf '#if defined(__CUDACC__)\n#include <cuda_fp16.h>\n#elif defined(__HIP__)\n'
    printf '#include <hip/hip_fp16.h>\n#endif\n#ifdef __cplusplus\n#include <algorithm>\n'
    printf '#include <complex>\n#include <type_traits>\nusing namespace std;\n#endif\n'
    printf '#include <sys/types.h>\n#ifdef __linux__\n#include <sys/sysmacros.h>\n#endif\n'
    for name in A B C D E F G H I J K L M N O P Q R S T U V W X Y Z N_ELEMENTS SIZE COUNT BLOCK \
        BLOCKS BLOCK_SIZE THREADS GRID WARP TILE ITERATIONS RUNS ROUNDS TRIES BATCH BATCHES \
        DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS unix linux None Success Always Status Bool \
        True False Complex ERROR OPTIONAL STRICT DELETE IGNORE INFINITE NO_ERROR VOID CONST EMPTY \
        near far NEAR FAR IN OUT pascal cdecl hyper small interface huge TRUE FALSE PAGE_SIZE; do
        printf '#ifndef %s\n#define %s 1024\n#endif\n' $name $name
    done
    printf '#define %s(a, b) ((a) + (b))\n' min max Yield TEXT ABS SWAP
    printf '#ifndef __CUDACC__\n#define ALL_KERNELS\n#endif\n' # they take nvcc long
    printf '#define GPUMB_IMPLEMENTATION\n#include "use.c"\n'
} >$dir/names.c

# Which backend is chosen, for compilers and platforms that need not be here.
mkdir -p $dir/hip
: >$dir/hip/hip_runtime.h
: >$dir/cuda_runtime.h
for backend in CPU CUDA HIP; do
    printf '#include "gpumb.h"\n#ifndef GPUMB_BACKEND_%s\n#error "another backend"\n#endif\n' \
        $backend >$dir/$backend.c
done

# The quick start of the header, as it stands there; tests/test_pages.sh runs it.
sed -n '/^QUICK START/,/^    nvcc/ s/^    //p' gpumb.h | grep -v '^nvcc' >$dir/quick_start.cu

# ---- cases ----
skipped=0
add()
{
    echo "$*" >>$dir/cases
}

skip()
{
    skipped=$((skipped + 1))
    echo "skipped $*"
    return 1
}

found()
{
    command -v "$1" >/dev/null || skip "$1: not found"
}

# MPI's header, for the two programs that need it, lies in a folder that mpicc tells.
left_out='no program'
if found mpicc; then
    C_INCLUDE_PATH=$(mpicc -show | tr ' ' '\n' | sed -n 's/^-I//p' | paste -s -d : -)
    export C_INCLUDE_PATH CPLUS_INCLUDE_PATH="$C_INCLUDE_PATH"
else
    left_out='bench/fleet.c\|bench/ranks.cu'
fi

warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
fortified='-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2'
for compilers in 'gcc g++' 'clang clang++'; do
    cc=${compilers% *} cxx=${compilers#* }
    { found "$cc" && found "$cxx"; } || continue
    for standard in c99 c11 c17 c++11 c++14 c++17 c++20; do
        case $standard in
        c++*) compile="$cxx -x c++" posix='' ;;
        *) compile="$cc -x c" posix=-D_DEFAULT_SOURCE ;; # strict C hides what the header needs
        esac
        compile="$compile -std=$standard $warnings -I. -pthread"
        for variant in -O2 '-O2 -DSYSTEM_FIRST' -O0 "-O3 $fortified -DSYSTEM_FIRST"; do
            case $standard,$variant in
            c1?,-O[03]* | c++1?,-O[03]*) continue ;;
            *SYSTEM_FIRST) hidden=$posix ;;
            *) hidden= ;;
            esac
            # What is declared follows from standard and order, without the optimiser.
            case $standard,$variant in
            *,'-O2 -DSYSTEM_FIRST' | c1?,* | c++1?,*) only=-fsyntax-only ;;
            *) only= ;;
            esac
            try="$compile $variant -o \$out"
            case $standard,$variant in
            *,'-O2 -DSYSTEM_FIRST' | c1?,* | c++14,* | c++17,*) add "$try $only -c $dir/use.c" ;;
            *) add "$try $dir/implementation.c $dir/use.c -lm && timeout 60 \$out" ;;
            esac
            for mode in '' '-DGPUMB_STATIC -DGPUMB_COALESCING -DGPUMB_MODULES -DGPUMB_STRICT' \
                '-DGPUMB_NO_KERNELS' '-DALL_KERNELS'; do
                case $variant,$mode in -O[03]*,-DGPUMB*) continue ;; esac # all at -O2
                # Between the oldest and the newest, what order does to a mode it does to the usual.
                case ${NIGHTLY:+all}$standard,$variant,$mode in
                c1[17],*SYSTEM_FIRST,-D* | c++1[47],*SYSTEM_FIRST,-D*) continue ;;
                esac
                # The optimiser has seen the two units. There is more where all is static, and in
                # kernels, which C has not; what clang warns of there, it knows without optimising.
                case ${NIGHTLY:+all},$cc,$standard,$variant,$mode in
                all,*) again=$only ;;
                ,gcc,c99,-O2,-DGPUMB_STATIC* | ,gcc,c++20,-O2,-DGPUMB*) again= ;;
                ,*,c++20,-O3*,-DALL_KERNELS) again= ;;
                ,*,-O[03]*) continue ;;
                *) again=-fsyntax-only ;;
                esac
                add "$try $again $hidden -DGPUMB_IMPLEMENTATION $mode -c $dir/use.c"
            done
        done
        compile="$compile -fsyntax-only $dir/use.c"
        [ -z "$posix" ] || add "refuses $compile -DSYSTEM_FIRST -DGPUMB_IMPLEMENTATION"
        add "refuses $compile -DGPUMB_MALLOC=malloc"
        add "refuses $compile -DGPUMB_FREE=free"
        add "$compile -DGPUMB_IMPLEMENTATION -DGPUMB_MALLOC=malloc -DGPUMB_FREE=free"
        add "refuses $compile -DGPUMB_BACKEND_CPU -DGPUMB_BACKEND_CUDA"
        add "refuses $compile -DGPUMB_BACKEND_CPU -DGPUMB_BACKEND_HIP"
    done
    add "$cc -std=c99 -D_DEFAULT_SOURCE $warnings -I. -o \$out -c $dir/names.c"
    add "$cxx -x c++ -std=c++17 $warnings -I. -o \$out -c $dir/names.c"
    # A user's file: what it includes and the macros that it uses, with the user's own warnings.
    user='-DUSER -Wold-style-cast -Wcast-qual -Wundef -Wdouble-promotion'
    user="$user -Wzero-as-null-pointer-constant -Wmissing-declarations -Wformat=2"
    ! $cxx -Werror -Wuseless-cast -x c++ -E /dev/null >/dev/null 2>&1 || user="$user -Wuseless-cast"
    for standard in c++11 c++20; do
        add "$cxx -x c++ -std=$standard $warnings $user -I. -o \$out -c $dir/use.c"
    done
    # Around an implementation that has been optimised above.
    case ${NIGHTLY:+all},$cc in
    all,*) own_code=-O2 ;;
    ,gcc) own_code=-O1 ;;
    *) own_code=-fsyntax-only ;;
    esac
    for program in $(printf '%s\n' examples/*.c bench/*.c tests/coverage.c |
        grep -vx "$left_out"); do
        add "$cc -std=c99 $warnings $own_code -I. -pthread -o \$out -c $program"
    done
    for backend in CPU CUDA:-D__CUDACC__ HIP:-D__HIP__ HIP:-D__CUDACC__,-D__HIPCC__ \
        HIP:-D__CUDACC__,-D__HIP_PLATFORM_NVIDIA__ HIP:-D__CUDACC__,-D__HIP_PLATFORM_NVCC__; do
        macros=$(echo "$backend" | sed 's/^[A-Z]*:*//; s/,/ /g')
        add "$cc -E -o \$out -I. -I$dir $macros $dir/${backend%%:*}.c"
    done
    # One language's implementation, used from the other.
    for units in 'implementation use' 'use implementation'; do
        c=${units% *} cpp=${units#* }
        add "$cc -std=c99 -I. -DGPUMB_NO_KERNELS -c $dir/$c.c -o \$out.o && $cxx -I. -pthread" \
            "-DGPUMB_NO_KERNELS -x c++ $dir/$cpp.c -x none \$out.o -o \$out && timeout 60 \$out"
    done
done

# The CPU backend for other systems, as far as their compilers are here: mingw-w64, whose isfinite()
# of C converts to float, and zig, which may be `python3 -m ziglang`.
elsewhere() # CC CXX FLAGS
{
    for standard in c99 c17 c++11 c++20; do
        case $standard in
        c++*) compile="$2 -x c++" ;;
        *) compile="$1 -x c" ;;
        esac
        compile="$compile -std=$standard $warnings $3 -I. -o \$out -c $dir/use.c"
        for mode in '' '-DGPUMB_STATIC' '-DALL_KERNELS -DSYSTEM_FIRST'; do
            case $standard,$mode in c17,-D* | c++11,-D*) continue ;; esac
            add "$compile -DGPUMB_IMPLEMENTATION $mode"
        done
    done
}
mingw=x86_64-w64-mingw32
! found $mingw-g++ || elsewhere $mingw-gcc $mingw-g++ -Wno-float-conversion
zig=${ZIG:-zig}
if $zig version >/dev/null 2>&1; then
    for target in x86_64-windows-gnu x86_64-macos aarch64-macos; do
        elsewhere "$zig cc -target $target" "$zig c++ -target $target"
    done
else
    skip "zig: not found (ZIG='python3 -m ziglang' after pip install ziglang)"
fi

# Other versions of these that are here, and other targets, each in short: the implementation in C
# and in C++, linked and run, those for other processors by qemu; and the user's file.
in_short() # NAME CC CXX FLAGS RUN [LIBRARY]: without CXX, C alone
{
    name=$1 cc=$2 cxx=$3 flags=$4 run=$5 library=${6:-}
    printf '#include <errno.h>\nint main(void) { return 0; }\n' >$dir/probe.c
    # shellcheck disable=SC2086 # flags, or none
    if ! { command -v "$cc" && { [ -z "$cxx" ] || command -v "$cxx"; } &&
        $cc $flags $dir/probe.c -o $dir/probe && { [ -z "$run" ] || command -v "$run"; }; } \
        >/dev/null 2>&1; then
        skip "$name: not found"
        return
    fi
    sources="$dir/implementation.c $dir/use.c -lm $library && timeout 300 $run \$out"
    add "$cc $flags -x c -std=c99 $warnings -I. -pthread ${NIGHTLY:+-O2} -o \$out $sources"
    [ -n "$cxx" ] || return
    add "$cxx $flags -x c++ -std=c++20 $warnings -I. -pthread -O2 -o \$out $sources"
    add "$cxx $flags -x c++ -std=c++11 $warnings -I. -DALL_KERNELS -DGPUMB_IMPLEMENTATION" \
        "-fsyntax-only $dir/use.c"
    add "$cxx $flags -x c++ -std=c++11 $warnings ${user% -Wuseless-cast} -I. -fsyntax-only" \
        "$dir/use.c"
}
usual=$(readlink -f "$(command -v gcc)" "$(command -v clang)")
for version in gcc-11 gcc-12 gcc-13 gcc-14 gcc-15 gcc-16 clang-14 clang-15 clang-16 clang-17 \
    clang-18 clang-19 clang-20 clang-21 clang-22 clang-23; do
    number=${version#*-}
    case $version in gcc*) cxx=g++-$number ;; *) cxx=clang++-$number ;; esac
    echo "$usual" | grep -qx "$(readlink -f "$(command -v $version)")" ||
        in_short $version $version "$cxx" '' ''
done
in_short musl musl-gcc '' -static ''
i386="-m32 -isystem /usr/include/$(gcc -print-multiarch 2>/dev/null)"
in_short 'gcc -m32' gcc g++ "$i386" ''
# Its words of 64 bits are aligned to 4 bytes: clang asks a library to be atomic there.
in_short 'clang -m32' clang clang++ "$i386 -Wno-atomic-alignment" '' -latomic
in_short riscv64 riscv64-linux-gnu-gcc riscv64-linux-gnu-g++ -static qemu-riscv64
in_short aarch64 aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ -static qemu-aarch64

at_run_time=examples/10_nvrtc.cu # for CUDA, where NVRTC's header is
# Tasks and the referee, which is compiled with one, are test_judge.sh's.
programs="$dir/quick_start.cu
$(find examples bench -name '*.cu' |
    grep -vx "$left_out\|$at_run_time\|examples/judge/referee.cu\|examples/judge/tasks/.*")"
# Examples have the implementation as it is, which use.c is for: here they only include the header.
if [ -z "${NIGHTLY:-}" ]; then
    mkdir $dir/examples
    for program in examples/*.cu; do
        case $program in *sycl* | *nvrtc*) continue ;; esac # others' settings
        grep -qx '#define GPUMB_IMPLEMENTATION' "$program" || continue
        sed -E 's/^#define GPUMB_(IMPLEMENTATION|STATIC)$//' "$program" >"$dir/$program"
        programs=$(echo "$programs" | sed "s|^$program\$|$dir/&|")
    done
fi

# -Wpedantic rejects what nvcc itself generates. Programs are for the first nvcc.
first_nvcc=${NVCC:-nvcc}
printf '#include <hip/hip_runtime.h>\n__global__ void probe() {}\n' >$dir/probe.hip
for nvcc in "$first_nvcc" ${MORE_NVCC:-}; do
    found "$nvcc" || continue
    compile="$nvcc -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Wconversion,-Wshadow"
    compile="$compile -I. -o \$out -c"
    for standard in c++14 c++17 c++20; do
        "$nvcc" --help | grep -q "'$standard'" || skip "$standard: not known to $nvcc" || continue
        try="$compile -std=$standard -x cu $dir/use.c"
        add "$try"
        for mode in '' '-DGPUMB_STATIC' '-DGPUMB_NO_KERNELS' '-DALL_KERNELS'; do
            case $standard,$mode in c++14,-DGPUMB* | c++20,-DGPUMB*) continue ;; esac
            add "$try -DGPUMB_IMPLEMENTATION $mode"
        done
        [ $standard != c++17 ] || add "$try -DGPUMB_IMPLEMENTATION -DSYSTEM_FIRST"
    done
    add "$compile -std=c++17 -x cu $dir/names.c"
    # Benchmarks have many kernels: as far as PTX, and hardly optimised.
    quickly=-arch=compute_90
    ! "$nvcc" --help | grep -q -e -Ofc || quickly="$quickly -Ofc max"
    for program in $programs; do
        [ "$nvcc" = "$first_nvcc" ] || continue
        case ${NIGHTLY:+all}$program in
        bench/*) add "$(echo "$compile" | sed "s/-arch=sm_90/$quickly/") $program" ;;
        *) add "$compile $program" ;;
        esac
    done
    if echo '#include <nvrtc.h>' | "$nvcc" -x cu -E - >/dev/null 2>&1; then
        add "$compile $at_run_time"
    else
        skip "$at_run_time: no nvrtc.h for $nvcc"
    fi
    # All kernels for each kind of card that this nvcc knows, without a warning of ptxas.
    for arch in sm_52 sm_60 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120; do # sm_89: as sm_86
        if "$nvcc" --list-gpu-code | grep -qx $arch; then
            add "$nvcc -arch=$arch -std=c++14 -Wno-deprecated-gpu-targets -Xptxas -Werror -I." \
                "-DGPUMB_IMPLEMENTATION -DALL_KERNELS -cubin -o \$out -x cu $dir/use.c"
            # Programs and tests for the oldest, which lack fp16 arithmetic and atomicAdd(double).
            case $arch in
            sm_52) units=$programs ;;
            sm_60) units=bench/reduction.cu ;;
            *) continue ;;
            esac
            for unit in $units tests/test_*.cu; do
                add "$nvcc -arch=$arch -std=c++17 -Wno-deprecated-gpu-targets -Xptxas -Werror" \
                    "-Werror all-warnings -I. -c -o \$out $unit"
            done
        else
            skip "$arch: not known to $nvcc"
        fi
    done
    # HIP on NVIDIA, where HIP's headers fit this toolkit; their own warnings are theirs.
    hip="$nvcc -arch=sm_90 -D__HIP_PLATFORM_NVIDIA__ ${HIP_INCLUDE:+-isystem $HIP_INCLUDE}"
    hip="$hip -Xcompiler -Wno-deprecated-declarations"
    if $hip -c -x cu $dir/probe.hip -o $dir/probe.o >/dev/null 2>&1; then
        for mode in '' '-DGPUMB_IMPLEMENTATION' '-DGPUMB_IMPLEMENTATION -DALL_KERNELS'; do
            add "$hip -Werror all-warnings -Xcompiler -Wall,-Wextra -I. -c -o \$out" \
                "-x cu $mode $dir/use.c"
        done
        for unit in $programs tests/test_*.cu; do
            add "$hip -std=c++17 -I. -c -o \$out $unit"
        done
    else
        skip "HIP on NVIDIA: no headers that fit $nvcc"
    fi
done
nvcc=$first_nvcc

toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")

# Files of a host compiler that include the GPU's runtime: its declarations, no kernels.
cat >$dir/runtime.c <<'END'
#include <cuda_runtime.h>

#include "gpumb.h"

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    gpumb_buffer *b = gpumb_alloc(g, 1 << 20);
    const uint3 three = {1, 2, 3};
    GPUMB_SWEEP_POW2(g, n, 1, 4)
        GPUMB_MEASURE(g, "memset")
            cudaMemsetAsync(gpumb_data(b), (int)three.x, (size_t)n, (cudaStream_t)gpumb_stream(g));
    return gpumb_close(g);
}
END
if [ -f "$toolkit/include/cuda_runtime.h" ]; then
    for try in 'gcc -std=c99' 'g++ -x c++ -std=c++11' 'clang++ -x c++ -std=c++20'; do
        found "${try%% *}" || continue
        compile="$try $warnings -I. -isystem $toolkit/include -o \$out -c $dir/runtime.c"
        add "$compile"
        add "refuses $compile -DGPUMB_IMPLEMENTATION"
    done
fi

# As MSVC would read it under nvcc, as far as clang can tell: see msvc.h.
if found clang && found $mingw-g++ && [ -f "$toolkit/include/cuda_runtime_api.h" ]; then
    compile="clang --target=x86_64-pc-windows-msvc -fms-compatibility-version=19.40 -fsyntax-only"
    compile="$compile -include tests/msvc.h -I. -isystem $toolkit/include -DGPUMB_BACKEND_CUDA"
    compile="$compile -isystem /usr/$mingw/include -D_UCRT -Wall -Wextra -Werror"
    compile="$compile -Wno-unused-function" # of GPUMB_STATIC, where MSVC has no attribute for it
    for standard in c++14 c++17 c++20; do
        add "$compile -x c++ -std=$standard $dir/use.c"
        for mode in '' '-DGPUMB_STATIC' '-DGPUMB_NO_KERNELS' '-DALL_KERNELS'; do
            add "$compile -x c++ -std=$standard -DGPUMB_IMPLEMENTATION $mode $dir/use.c"
        done
    done
    add "$compile -x c -std=c11 $dir/use.c"
    add "refuses $compile -x c -std=c11 -D_MSVC_TRADITIONAL=1 $dir/use.c"
else
    skip "as MSVC: needs clang, mingw-w64 and CUDA's headers"
fi

# Clang as CUDA compiler: all that know sm_90 and can read this toolkit, with an empty header in the
# place of one that CUDA 13 has no more and Clang 16 includes. Device and host apart: of what joins
# the two, fatbinary, CUDA 13 has changed the options.
clang=
mkdir -p $dir/clang
: >$dir/clang/texture_fetch_functions.h
printf '#include <cuda_runtime.h>\n__global__ void probe() {}\n' >$dir/probe.cu
for version in '' -16 -17 -18 -19 -20 -21 -22 -23; do
    compile="clang++$version -x cuda --cuda-path=$toolkit -Wno-unknown-cuda-version"
    compile="$compile -idirafter $dir/clang"
    $compile --cuda-gpu-arch=sm_90 -fsyntax-only $dir/probe.cu >/dev/null 2>&1 || continue
    clang=clang++$version
    compile="$compile -std=c++17 $warnings -Wno-sign-conversion -I. -DALL_KERNELS"
    compile="$compile -DGPUMB_IMPLEMENTATION -O3 -c -o \$out $dir/use.c"
    add "$compile --cuda-gpu-arch=sm_90 --cuda-host-only"
    for arch in sm_75 sm_90; do
        add "$compile --cuda-gpu-arch=$arch --cuda-device-only"
    done
done
[ -n "$clang" ] || skip "clang as CUDA compiler: none that knows sm_90 and the toolkit in $toolkit"

for hipcc in "${HIPCC:-hipcc}" ${MORE_HIPCC:-}; do
    found "$hipcc" || continue
    compile="$hipcc $warnings -I. -o \$out -c -x hip"
    for arch in gfx900 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1151 gfx1201; do
        if "$hipcc" --offload-arch=$arch -c $dir/probe.hip -o $dir/probe.o >/dev/null 2>&1; then
            compile="$compile --offload-arch=$arch"
        else
            skip "$arch: not known to $hipcc"
        fi
    done
    add "$compile $dir/use.c"
    add "$compile -DUSER -Wold-style-cast $dir/use.c"
    for mode in '' '-DGPUMB_STATIC' '-DGPUMB_NO_KERNELS' '-DALL_KERNELS'; do
        add "$compile -DGPUMB_IMPLEMENTATION $mode $dir/use.c"
    done
    add "$compile -DGPUMB_IMPLEMENTATION -DSYSTEM_FIRST $dir/use.c"
    [ "$hipcc" = "${HIPCC:-hipcc}" ] || continue
    # The device's timer where the builtin of older cards is not: without the libraries of gfx11.
    add "$hipcc -std=c++17 -O1 -nogpulib --cuda-device-only --offload-arch=gfx1100 -S -I." \
        "-o \$out -x hip bench/floor.cu"
    # The programs for one kind of card with waves of 64 and one of 32; labs have nothing of either.
    # In the standard that make builds them in. Benchmarks have many kernels: as they are read.
    compile="$hipcc -std=c++17 $warnings -I. -o \$out -c -x hip"
    both='--offload-arch=gfx90a --offload-arch=gfx1030'
    # What the header and HIP's declare takes most of that time: where clang can keep it, it is read
    # once for each kind of card and once for the host, for programs that define nothing of gpumb's.
    mkdir $dir/kept
    kept="-Xclang -include-pch -Xclang $dir/kept"
    keep="$hipcc -std=c++17 $warnings -Wno-unused-command-line-argument -I. -c -x hip"
    # shellcheck disable=SC2086 # words
    [ "${LIST:-}" ] || {
        for arch in gfx90a gfx1030; do
            $keep --offload-arch=$arch --cuda-device-only -S -Xclang -emit-pch gpumb.h \
                -o $dir/kept/$arch
        done
        $keep --offload-arch=gfx90a --cuda-host-only -Xclang -emit-pch gpumb.h -o $dir/kept/host
        $keep $both $kept bench/copy.cu -o $dir/probe.o
    } >/dev/null 2>&1 || kept=
    for program in $programs; do
        declared=$kept
        ! grep -q '# *define GPUMB_' "$program" || declared=
        case ${NIGHTLY:+all}$program in
        *examples/labs/*) add "$compile --offload-arch=gfx90a $declared $program" ;;
        bench/*) add "$compile $both $declared -fsyntax-only $program" ;;
        *) add "$compile $both $declared $program" ;;
        esac
    done
done

# ---- run ----
cases=$(wc -l <$dir/cases)
: >$dir/passed
[ -z "${LIST:-}" ] || exit 0
# The last ones, of nvcc and hipcc, take longest.
seq "$cases" -1 1 | xargs -P "$(nproc 2>/dev/null || echo 2)" -n 1 sh "$0"
rm -rf "$TMPDIR"
passed=$(wc -l <$dir/passed)
echo "longest: $(sort -rn $dir/seconds | head -n 4 | awk '{
    unit = ""
    for (i = 3; i <= NF; i++) if ($i ~ /\.(c|cu|h)$/) unit = $i
    printf "%s%s %s (case %d) %d s", (NR > 1 ? ", " : ""), $3, unit, $2, $1 }')"
echo "$passed passed, $((cases - passed)) failed, $skipped skipped"
[ "$passed" -eq "$cases" ]
