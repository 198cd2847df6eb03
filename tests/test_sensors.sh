#!/bin/sh
# test_sensors.sh - the sensors of NVIDIA's and AMD's devices, and NVIDIA's profiler and counters,
# without such a device or library: the code of gpumb.h (BACKEND) against libraries that say what
# the environment tells them, whole and with each function hidden or failing. NVML_H, RSMI_H,
# CUPTI_H: the vendors' headers, to compare with.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

CC=${CC:-cc} CXX=${CXX:-c++}

# ---- the code: the sub-sections of BACKEND that open libraries ----
parts() { # FROM TO: from one headline to another
    sed -n "/^$1/,/^$2/ { /^$2/d; p; }" gpumb.h
}
opens='\/\* What gpumbi_load() opens' # of PLATFORM
{
    parts "$opens" '#endif'
    parts '\/\* ---- libraries --' '\/\* ---- profiler --'
} >"$tmp/sensors.h"
{
    grep '^#define gpumbi_exchange(.* __atomic' gpumb.h
    parts "$opens" '#endif'
    parts '\/\* ---- libraries --' '\/\* ---- sensors --'
    parts '\/\* ---- profiler --' '\/\* ---- counters --'
} >"$tmp/profiler.h"
{
    cat "$tmp/profiler.h"
    parts '\/\* ---- counters --' '\/\* ---- ranges for'
} >"$tmp/counters.h"
for name in open close; do
    check "gpumb.h has no gpumbi_dev_sensors_$name() there" \
        grep -q "^static inline void \*\{0,1\}gpumbi_dev_sensors_$name(" "$tmp/sensors.h"
done
check "gpumb.h has no gpumbi_dev_profiler_attach() there" \
    grep -q "^static inline int gpumbi_dev_profiler_attach(" "$tmp/profiler.h"

# ---- programs: C99 and C++11, each vendor's branch and the CPU's ----
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-unused-function'
sanitize='-g -fsanitize=address,undefined -fno-sanitize-recover=all'
echo 'int main(void) { return 0; }' >"$tmp/probe.c"
# shellcheck disable=SC2086 # lists of options
if ! "$CC" $sanitize "$tmp/probe.c" -o "$tmp/probe" 2>/dev/null || ! "$tmp/probe"; then
    sanitize=
    skip "$CC has no sanitizer runtime"
fi
use="-DSENSORS=\"$tmp/sensors.h\""
build() { # PROGRAM SOURCE OPTION...
    program=$1 source=$2
    shift 2
    # shellcheck disable=SC2086
    check "$program as C99" "$CC" -x c -std=c99 -I. -O0 -pthread $warnings $sanitize "$@" \
        "tests/$source" -o "$tmp/$program-c99" -ldl -lm
    # shellcheck disable=SC2086
    check "$program as C++11" "$CXX" -x c++ -std=c++11 -I. -O0 -pthread $warnings $sanitize "$@" \
        "tests/$source" -o "$tmp/$program-c++11" -ldl
}
build cpu sensors.c
build nvml sensors.c "$use"
build rsmi sensors.c "$use" -DHIP

# library DIRECTORY OPTION...: the fake of $kind in it
library() {
    directory=$tmp/$1
    shift
    mkdir -p "$directory"
    check "fake_$kind.c $*" "$CC" -O1 -fPIC -shared "$@" "tests/fake_$kind.c" -o "$directory/$file"
}

# with DIRECTORY PROGRAM ARGUMENT...
with() {
    directory=$1
    shift
    env LD_LIBRARY_PATH="$directory" "$@"
}

# fails NAME: what has to fail too, so that nothing stands in
fails() {
    case $1 in
    nvmlShutdown | rsmi_shut_down) ;;
    *Processes_v3) echo "$1,nvmlDeviceGetComputeRunningProcesses_v2" ;;
    *EventReasons) echo "$1,nvmlDeviceGetCurrentClocksThrottleReasons" ;;
    *Processes_v2 | *ThrottleReasons) ;; # of older drivers
    *) echo "$1" ;;
    esac
}

mkdir -p "$tmp/none" "$tmp/broken"
for language in c99 c++11; do
    count "CPU, $language" "$tmp/cpu-$language" absent
done
for kind in nvml rsmi; do
    [ $kind = nvml ] && file=libnvidia-ml.so.1 || file=librocm_smi64.so.7 # looked for first
    library $kind
    functions=$(sed -En 's/^int ((nvml|rsmi_)[A-Za-z0-9_]+)\(.*/\1/p' tests/fake_$kind.c)
    for name in $functions; do
        echo "{ global: *; local: $name; };" >"$tmp/map"
        library "$kind-$name" "-Wl,--version-script=$tmp/map"
        check "gpumb.h does not use $name" grep -q "\"$name\"" "$tmp/sensors.h"
    done
    echo "not a library" >"$tmp/broken/$file"
    for language in c99 c++11; do
        program=$tmp/$kind-$language
        if with "$tmp/none" "$program" library; then
            skip "the real library of $kind is there: not tested without one"
        else
            count "$kind, $language, no library" with "$tmp/none" "$program" absent
            count "$kind, $language, a broken library" with "$tmp/broken" "$program" absent
        fi
        count "$kind, $language" with "$tmp/$kind" "$program" all
        for name in $functions; do
            count "$kind, $language, without $name" \
                with "$tmp/$kind-$name" "$program" without "$name"
            failing=$(fails "$name")
            [ -z "$failing" ] || count "$kind, $language, $name fails" \
                with "$tmp/$kind" env FAKE_FAIL="$failing" "$program" without "$name"
        done
    done
done

# ---- the profiler ----
use_profiler="-DPROFILER=\"$tmp/profiler.h\""
kind=cupti file=libcupti.so.13
library cupti
build profiler profiler.c "$use_profiler"
programs='profiler-c99 profiler-c++11'
sanitizers=$sanitize sanitize='-g -fsanitize=thread' # its buffers come on any thread
# shellcheck disable=SC2086
if "$CC" $sanitize "$tmp/probe.c" -o "$tmp/probe" 2>/dev/null && "$tmp/probe"; then
    build threads profiler.c "$use_profiler"
    programs="$programs threads-c99"
else
    skip "$CC has no thread sanitizer"
fi
sanitize=$sanitizers
names=$(sed -n '/gpumbi_profiler_library/,/NULL/s/.*"\(.*libcupti.*\)".*/\1/p' "$tmp/profiler.h")
check "names of the profiler's library" test "$(echo "$names" | wc -l)" -ge 4
echo "not a library" >"$tmp/broken/$file"
for program in $programs; do
    run=$tmp/$program
    count "$program, no library" env FAKE_LIBRARIES="$tmp/none" "$run" absent
    count "$program, a broken library" env FAKE_LIBRARIES="$tmp/broken" "$run" absent
    count "$program" env FAKE_LIBRARIES="$tmp/cupti" "$run" all
    for name in $names; do
        mkdir -p "$tmp/only/$(dirname "$name")"
        mv "$tmp/cupti/$file" "$tmp/only/$name"
        count "$program, $name" env FAKE_LIBRARIES="$tmp/only" "$run" "$name"
        mv "$tmp/only/$name" "$tmp/cupti/$file"
    done
done

# ---- the counters ----
use_counters="-DPROFILER=\"$tmp/counters.h\""
build counters counters.c "$use_counters"
for language in c99 c++11; do
    run=$tmp/counters-$language
    count "counters, $language, no library" env FAKE_LIBRARIES="$tmp/none" "$run" absent
    count "counters, $language, a broken library" env FAKE_LIBRARIES="$tmp/broken" "$run" absent
    ln -sf "$file" "$tmp/cupti/libcuda.so.1"
    count "counters, $language" env FAKE_LIBRARIES="$tmp/cupti" "$run" all
done

# ---- the vendors' headers ----
for kind in nvml rsmi; do
    case $kind in
    nvml) header=${NVML_H:-} options= ;;
    rsmi) header=${RSMI_H:-} options=-DHIP ;;
    esac
    [ "$header" ] || continue
    # shellcheck disable=SC2086
    check "$kind with $header" "$CXX" -x c++ -std=c++11 -I. -pthread "$use" $options \
        "-DHEADERS=\"$header\"" -Wl,--unresolved-symbols=ignore-all tests/sensors.c \
        -o "$tmp/$kind-headers" -ldl
    count "$kind, $header" with "$tmp/$kind" "$tmp/$kind-headers" all
done

header=${CUPTI_H:-/usr/local/cuda/include/cupti.h}
directory=$(dirname "$header")
if [ -f "$header" ]; then
    stamps= # of the newest record of each kind
    for kind in Kernel Memcpy Memset MemcpyPtoP; do
        record=$(grep -oE "^} CUpti_Activity${kind}[0-9]*;" "$directory/cupti_activity.h" |
            sed 's/^} //; s/;$//' | sort -V | tail -n 1)
        check "$header has no CUpti_Activity$kind" test "$record"
        stamps="$stamps STAMPS($record)"
    done
    check "profiler with $header" "$CXX" -x c++ -std=c++11 -I. -isystem "$directory" -pthread \
        "$use_profiler" "-DHEADER=\"$header\"" "-DSTAMPS_OF_ALL=$stamps" \
        -Wl,--unresolved-symbols=ignore-all tests/profiler.c -o "$tmp/profiler-header" -ldl
    count "profiler, $header" env FAKE_LIBRARIES="$tmp/none" "$tmp/profiler-header" absent
    [ -f "$directory/cupti_range_profiler.h" ] && counted=-DHEADERS || counted=
    [ "$counted" ] || skip "no cupti_range_profiler.h: CUDA before 12.6 Update 2"
    # shellcheck disable=SC2086
    check "counters with $header" "$CXX" -x c++ -std=c++11 -I. -isystem "$directory" -pthread \
        "$use_counters" $counted tests/counters.c -o "$tmp/counters-header" -ldl
    count "counters, names" env FAKE_LIBRARIES="$tmp/none" "$tmp/counters-header" names
else
    skip "no $header"
fi
finish
