#!/bin/sh
# tools.sh - keeps what NVIDIA's tools say of the labs, on a GPU, without what differs from run to
# run in it: paths, addresses, numbers of processes. Some minutes. From the top of the clone:
#     sh examples/labs/tools.sh [FOLDER]       # results/measured, if none is named
#     cp -r results/measured/. .               # stores it: files lie there as in the clone
# compute-sanitizer, ncu and nsys are looked for in PATH and where the toolkit is installed; what is
# missing is skipped, with a line.
cd "$(dirname "$0")/../.." || exit 1
out=${1:-results/measured}
build=${BUILD:-build/tools}
kept=$out/examples/labs/h200/tools
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

find_tool() # NAME: where it is
{
    command -v "$1" && return
    for at in "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")" \
        /usr/local/cuda/bin /opt/nvidia/nsight-*/ /opt/nvidia/nsight-*/*/bin; do
        [ -x "$at/$1" ] && echo "$at/$1" && return
    done
    return 1
}

# What does not differ: of its lines, and within them.
steady()
{
    sed -E -e 's,^==[0-9]+== ,,' -e "s,$PWD/,,g" -e "s,$tmp/,,g" -e "s,$build,build/cuda,g" \
        -e 's/0x[0-9a-f]{6,}/0x.../g' -e 's/(process|PID|pid)( =)? [0-9]+/\1/g' \
        -e 's,^\[[0-9]+\] ([^@]*)@.*,\1,' -e 's/[[:space:]]+$//' \
        -e '/^==PROF== (Target process|Connected|Disconnected)/d' \
        -e '/^(Generating|Processing|Generated|Collecting data|Capture range)/d' \
        -e '/^[[:space:]]*\/.*\.nsys-rep$/d' -e '/^[[:space:]]*[^[:space:]]*\.nsys-rep$/d'
}

say() # NAME, TOOL, OPTION...: runs it, and appends what it says, behind the command, to NAME.txt
{
    name=$1 program=$2 at=$(find_tool "$2")
    shift 2
    {
        echo "\$ $program $*"
        "$at" "$@" </dev/null 2>&1
        echo
    } >"$tmp/said"
    steady <"$tmp/said" >>"$kept/$name.txt"
}

has() # TOOL
{
    find_tool "$1" >/dev/null || ! echo "tools.sh: skipped $1: it is not in PATH, nor beside nvcc"
}

[ "${BUILD-}" ] || nvidia-smi -L | grep GPU || {
    echo "tools.sh: no GPU"
    exit 1
}
# With -lineinfo, so that the tools name lines; apart from what is measured.
labs='22_tools solutions/22_tools 21_libraries 08_transpose'
targets=$(for lab in $labs; do echo "$build/labs/$lab"; done)
# shellcheck disable=SC2086 # several targets
[ "${BUILD-}" ] || make BACKEND=cuda B="$build" NVCCFLAGS=-lineinfo $targets || exit 1
mkdir -p "$kept" && rm -f "$kept"/*.txt || exit 1

# The kernel with three bugs, and without: the first few of what each finds.
if has compute-sanitizer; then
    for tool in memcheck racecheck initcheck; do
        for lab in 22_tools solutions/22_tools; do
            say "$tool" compute-sanitizer --tool "$tool" --print-limit 3 --show-backtrace device \
                "$build/labs/$lab" --profile
        done
    done
fi

# What limits, what warps wait for, and what shared memory makes of it: a tile with conflicts in its
# banks, and one without.
if has ncu; then
    for form in tiled padded; do
        say ncu ncu --profile-from-start off --section SpeedOfLight --section WarpStateStats \
            --section MemoryWorkloadAnalysis_Tables --section Occupancy \
            "$build/labs/08_transpose" --profile --axis form=$form
    done
fi

# What a hundred calls of a library ask of the runtime.
if has nsys; then
    for way in CUB Thrust cuBLAS; do
        at=$(find_tool nsys)
        if "$at" profile -t cuda --capture-range=cudaProfilerApi --capture-range-end=stop \
            --force-overwrite true -o "$tmp/$way" "$build/labs/21_libraries" --profile=100 \
            --filter wait --axis way=$way --axis n=4096 </dev/null >"$tmp/said" 2>&1; then
            say nsys nsys stats --report cuda_api_sum --report cuda_gpu_kern_sum \
                --force-export=true "$tmp/$way.nsys-rep"
        else
            echo "tools.sh: nsys: $(tail -n 1 "$tmp/said")"
        fi
    done
fi
ls -l "$kept"
