#!/bin/sh
# test_windows.sh - tests of the CPU backend on Windows: compiled by mingw-w64 and run by wine, each
# in a few seconds; and the search for the vendors' libraries, with one that says what it is told.
# MINGW: the compilers' prefix, WINE: the emulator.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
mingw=${MINGW:-x86_64-w64-mingw32}
for wine in "${WINE:-wine64}" /usr/lib/wine/wine64 wine; do # the second: Debian, without a script
    ! command -v "$wine" >/dev/null || break
done
for needed in "$mingw-g++" "$mingw-gcc" "$wine"; do
    if ! command -v "$needed" >/dev/null; then
        skip "no $needed"
        finish
    fi
done

dir=build/windows
mkdir -p $dir
WINEPREFIX=$PWD/$dir/prefix WINEDEBUG=-all # made by the first program, in some 10 s
WINEDLLOVERRIDES=mscoree,mshtml=d          # asks for no downloads
export WINEPREFIX WINEDEBUG WINEDLLOVERRIDES

# What opens libraries is no part of the CPU backend: see test_sensors.sh.
{
    sed -n '/^\/\* Vendors. libraries by/,/^#endif/ { /^#endif/d; p; }' gpumb.h
    sed -n '/^\/\* ---- libraries --/,/^\/\* ---- profiler --/p' gpumb.h | sed '$d'
} >$dir/sensors.h
nvsmi="$dir/files/NVIDIA Corporation/NVSMI" # one of the two places that the manual tells
cupti=$dir/files/extras/CUPTI/lib64
mkdir -p "$nvsmi" "$cupti"
"$mingw-gcc" -O1 -shared tests/fake_nvml.c -o "$nvsmi/nvml.dll" # if not, sensors.c says so
cp "$nvsmi/nvml.dll" "$cupti/cupti64_2025.9.9.dll"

warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
for source in windows.cpp test_regions.cpp test_sweeps.cpp test_table.cpp test_default_forms.cu \
    test_fit.c 'sensors.c absent' 'sensors.c all'; do
    argument=${source#* } source=${source% *}
    program=$dir/${source%.*}.exe files=
    case $source in
    *.c) set -- "$mingw-gcc" -std=c99 -Wno-float-conversion ;; # its isfinite() converts
    *) set -- "$mingw-g++" -std=c++17 ;;
    esac
    case $source in
    windows.cpp) set -- "$@" -O2 -Wno-array-bounds ;; # NtCurrentTeb() reads at an offset of nothing
    sensors.c) set -- "$@" -O0 -Wno-unused-function "-DSENSORS=\"$dir/sensors.h\"" ;;
    *.cu) set -- "$@" -O1 -DGPUMB_IMPLEMENTATION -x c++ ;;
    *) set -- "$@" -O0 ;;
    esac
    case $argument in
    all) files="Z:$PWD/$dir/files" ;;
    absent) ;;
    *) argument= ;;
    esac
    # shellcheck disable=SC2086 # lists of options, or nothing
    "$@" $warnings -I. "tests/$source" -x none -o "$program" -static -pthread -lm \
        >$dir/output 2>&1 &&
        FAKE_FILES=$files timeout 120 "$wine" "$program" $argument </dev/null >$dir/output 2>&1
    status=$?
    line=$(sed -En 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped.?$/\1 \2 \3/p' \
        $dir/output | tail -n 1)
    read -r p f s <<END
${line:-0 0 0}
END
    if [ "$status,${line:+$f}" != 0,0 ]; then
        echo "test_windows.sh: failed: $source $argument, status $status"
        sed 's/^/    /' $dir/output | head -n 30
        [ "$f" -gt 0 ] || f=1
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
finish
