#!/bin/sh
# test_trace.sh - the access tracer: counts known by hand for tests/traced.cu, what is out of
# bounds, races, and what it prints. All of it with gcc; with clang as far as that goes.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
CC=${CC:-cc} CXX=${CXX:-c++}
tracer=examples/trace/gpumb_trace.c

says() # FILE TEXT: a line with exactly this text in it
{
    grep -qF -- "$2" "$1" && return
    echo "not in $1: $2"
    grep -F -- "${2%%:*}" "$1"
    return 1
}

lacks() # FILE TEXT
{
    ! grep -F -- "$2" "$1"
}

flags=$(sed -n 's/^TRACE := //p' Makefile)
exact=$(sed -n 's/^TRACE_EXACT := \(.*\) #.*/\1/p' Makefile)
# shellcheck disable=SC2086 # flags are words
if "$CXX" $flags $exact -c -x c++ /dev/null -o "$tmp/probe.o" 2>/dev/null; then
    flags="$flags $exact"
else
    exact=
fi
for flag in $flags; do
    [ "$flag" = -Wno-tsan ] || check "the tracer says $flag" says "$tracer" " $flag "
done
printf '#define GPUMB_IMPLEMENTATION\n#include "gpumb.h"\n' >"$tmp/whole.c"
# shellcheck disable=SC2086 # flags are words
if ! "$CXX" $flags -c -x c++ /dev/null -o "$tmp/probe.o" 2>/dev/null; then
    skip "$CXX has no -fsanitize=thread or no -fsanitize-coverage=trace-pc"
    finish
fi
# shellcheck disable=SC2086
check "compiles" "$CXX" -I. $flags -x c++ -c tests/traced.cu -o "$tmp/traced.o"
check "compiles" "$CC" -I. -std=gnu99 -O1 -c "$tracer" -o "$tmp/trace.o"
check "links" "$CXX" "$tmp/traced.o" "$tmp/trace.o" -o "$tmp/traced" -pthread
GPUMB_TRACE_BLOCKS=0 GPUMB_TRACE_CSV=$tmp/all.csv GPUMB_TRACE_SVG=$tmp/all.svg \
    "$tmp/traced" >"$tmp/all.txt" 2>"$tmp/all.err"
check "runs" test $? -eq 0
check "nothing to say" test ! -s "$tmp/all.err"

# ---- counts ----
# kernel memory access size: requests of all blocks; lanes; sectors and lines, or wavefronts, of
# each request. A number after = is the sum over the requests. Two loads in a line are added up.
cat >"$tmp/expected" <<'END'
copied<unsigned char> global load 1 256 32 1 1
copied<unsigned char> global store 1 256 32 1 1
copied<float> global load 4 256 32 4 1
copied<float> global store 4 256 32 4 1
copied<float2> global load 8 256 32 8 2
copied<float2> global store 8 256 32 8 2
copied<float3> global load 4 768 32 12 3
copied<float3> global store 4 768 32 12 3
copied<float4> global load 16 256 32 16 4
copied<float4> global store 16 256 32 16 4
strided<2> global load 4 256 32 8 2
strided<8> global load 4 256 32 32 8
strided<32> global load 4 256 32 32 32
strided<32> global store 4 256 32 4 1
shifted<1> global load 4 256 32 5 2
shifted<8> global load 4 256 32 4 2
reversed global load 4 256 32 4 1
broadcast global load 4 256 32 1 1
same_address<float4> global load 4 256 32 1 1
subdomains global load 4 256 32 4 2
structs global load 4 512 32 16 4
arrays global load 4 512 32 4 1
tail global load 4 256 =8187 4 1
tail global store 4 256 =8187 4 1
transpose_naive global load 4 512 32 4 1
transpose_naive global store 4 512 32 32 32
transpose_tiled<32> global load 4 512 32 4 1
transpose_tiled<32> global store 4 512 32 4 1
transpose_tiled<32> shared store 4 512 32 1
transpose_tiled<32> shared load 4 512 32 32
transpose_tiled<33> shared store 4 512 32 1
transpose_tiled<33> shared load 4 512 32 1
transpose_swizzled shared store 4 512 32 1
transpose_swizzled shared load 4 512 32 1
reduce_interleaved shared load 4 800 =16352 =3040
reduce_interleaved shared store 4 640 =16352 =1760
reduce_sequential shared load 4 800 =16352 =800
reduce_sequential shared store 4 640 =16352 =640
reduce_shuffled shared store 4 256 1 1
reduce_shuffled shared load 4 32 8 1
banks<0> shared load 4 256 32 1
banks<2> shared load 4 256 32 2
banks<3> shared load 4 256 32 1
banks<8> shared load 4 256 32 8
banks<32> shared load 4 256 32 8
bank_bytes shared load 1 256 32 1
wide_banks<float2, 1> shared load 8 256 32 2
wide_banks<float2, 2> shared load 8 256 32 4
wide_banks<float2, 16> shared load 8 256 32 32
wide_banks<float4, 1> shared load 16 256 32 4
wide_banks<float4, 2> shared load 16 256 32 8
wide_banks<float4, 8> shared load 16 256 32 32
wide_banks<float2, 0> shared load 8 256 32 1
wide_banks<float2, -2> shared load 8 256 32 1
wide_banks<float4, 0> shared load 16 256 32 2
wide_banks<float4, -2> shared load 16 256 32 2
wide_banks<float4, -4> shared load 16 256 32 2
wide_pattern<float2, PAIRS_2> shared load 8 256 32 1
wide_pattern<float2, PAIRS_4> shared load 8 256 32 2
wide_pattern<float2, HALVES> shared load 8 256 32 2
wide_pattern<float2, QUARTERS> shared load 8 256 32 2
wide_pattern<float2, SOME_PAIRS> shared load 8 256 32 2
wide_pattern<float2, EVEN> shared load 8 256 16 1
wide_pattern<float2, TWO_IN_FOUR> shared load 8 256 16 1
wide_pattern<float2, ENDS> shared load 8 256 16 2
wide_pattern<float4, PAIRS_2> shared load 16 256 32 2
wide_pattern<float4, HALVES> shared load 16 256 32 4
wide_pattern<float4, LOW_PAIRS> shared load 16 256 32 4
wide_pattern<float4, EVEN> shared load 16 256 16 2
wide_pattern<float4, LOWER_HALF> shared load 16 256 16 2
wide_pattern<float4, ENDS> shared load 16 256 16 2
one_counter global atomic 4 256 32 32 1
histogram_shared global atomic 4 64 32 4 1
halves global load 4 512 16 =1536 1
nested global load 4 1536 24 4 1
alternating global load 4 1024 16 4 1
ragged_plain global store 4 256 32 4 1
two_sites global load 4 512 16 4 1
calling global load 4 1024 16 4 1
gpumbi_zcopy_4 global load 4 256 32 4 1
gpumbi_zcopy_4 global store 4 256 32 4 1
gpumbi_zcopy_8 global load 8 256 32 8 2
gpumbi_zcopy_8 global atomic 4 64 1 1 1
gpumbi_copy_fastest global load 16 64 32 16 4
gpumbi_copy_fastest global store 16 64 32 16 4
END
# The model's sums for addresses that are not regular.
sed -n 's/^model //p' "$tmp/all.txt" | while read -r kernel requests lanes sectors lines; do
    case $kernel in
    gathered) echo "$kernel global load 4 $((2 * requests)) 32 =$((sectors + 4 * requests))" \
        "=$((lines + requests))" ;;
    histogram_global) echo "$kernel global atomic 4 $requests 32 =$sectors =$lines" ;;
    ragged) echo "$kernel global load 4 $((requests + 256)) =$((lanes + 8192))" \
        "=$((sectors + 1024)) =$((lines + 256))" ;;
    esac
done >>"$tmp/expected"

# clang moves structs member by member or unseen, leaves out a load before a store to the same
# address, and may merge the arms of a condition.
[ -n "$exact" ] || sed -i '/^copied<float[234]>/d; /^wide_/d; /^reduce_.*load/d; /^halves/d;
    /^gpumbi_/d' \
    "$tmp/expected"

counts() # CSV: what differs from the expected
{
    awk -F '"' -v expected="$tmp/expected" '
    NR == 1 { next }
    {
        n = split(substr($3, 2), f, ",")
        key = $2 " " f[6] " " f[7] " " f[8]
        requests[key] += f[9]; lanes[key] += f[11]
        a[key] += f[6] == "global" ? f[13] : f[16]
        b[key] += f[15]
    }
    function differs(key, what, sum, want) {
        want = substr(want, 1, 1) == "=" ? substr(want, 2) : want * requests[key]
        if (sum + 0 == want + 0)
            return
        print key ": " what " " sum + 0 ", expected " want
        wrong = 1
    }
    END {
        while ((getline line <expected) > 0) {
            n = split(line, w, " ")
            memory = w[2] == "global" || w[2] == "shared" ? 2 : 3 # a blank in the name
            key = w[1]
            for (i = 2; i <= memory + 2; i++)
                key = key " " w[i]
            differs(key, "requests", requests[key], "=" w[memory + 3])
            differs(key, "lanes", lanes[key], w[memory + 4])
            differs(key, w[memory] == "global" ? "sectors" : "wavefronts", a[key], w[memory + 5])
            if (w[memory] == "global")
                differs(key, "lines", b[key], w[memory + 6])
            compared++
        }
        if (compared < 40) {
            print "compared " compared
            wrong = 1
        }
        exit wrong
    }' "$1"
}
check "counts" counts "$tmp/all.csv"

# What an H200 takes for a broadcast of 16 bytes is the least that there is: nothing to advise.
wasted() # KERNEL: wavefronts above the least of its loads
{
    awk -F '"' -v kernel="$1" '$2 == kernel { split(substr($3, 2), f, ","); if (f[6] == "shared" &&
        f[7] == "load") n += f[16] - f[17] } END { print n + 0 }' "$tmp/all.csv"
}
if [ -n "$exact" ]; then
    check "a broadcast of 16 bytes wastes" test "$(wasted 'wide_banks<float4, 0>')" -eq 0
    check "a conflict does not" test "$(wasted 'wide_banks<float4, 2>')" -eq 1024
fi

approximate() # KERNEL: requests that are marked so
{
    awk -F '"' -v kernel="$1" '$2 == kernel { split($3, f, ","); n += f[11] } END { print n + 0 }' \
        "$tmp/all.csv"
}
check "straight code is exact" test "$(approximate 'transpose_tiled<32>')" -eq 0
check "a loop that ends earlier for some is exact" test "$(approximate ragged)" -eq 0
check "a condition in a loop is lined up" test "$(approximate alternating)" -eq 0
check "two call sites are told apart" test "$(approximate two_sites)" -eq 0
check "inner loops of unequal length are marked" test "$(approximate nested)" -gt 0

# ---- what is printed ----
check "table" says "$tmp/all.txt" \
    "load 4 B           256  32.00    32.00   4.00  32.00  12.5 %  out[thread_index()] = in"
check "advice: distance" says "$tmp/all.txt" "32 lanes want 128 bytes and touch 32 sectors of 32: \
12.5 % used; neighbours are 32 bytes apart: let neighbouring threads take neighbouring elements."
check "advice: misaligned" says "$tmp/all.txt" "32 lanes want 128 bytes and touch 5 sectors of 32: \
80.0 % used; neighbours lie side by side, but the warp starts inside a sector: align it."
check "advice: banks" says "$tmp/all.txt" "32 lanes take 32 wavefronts at the banks where 1 would \
do; lanes 0 and 1 are 128 bytes apart: let them be neighbours, or pad rows by one element."
check "advice: lanes" says "$tmp/all.txt" "16 lanes want 64 bytes and touch 4 sectors of 32: \
50.0 % used; the lanes between do something else: let whole warps go one way."
check "picture: sectors" says "$tmp/all.txt" " +128 |4.......|5.......|6.......|7.......|"
check "picture: banks" says "$tmp/all.txt" "|0       1       2       3       |"
check "SVG" test "$(grep -c '<rect' "$tmp/all.svg")" -gt 1000
if command -v xmllint >/dev/null; then
    check "SVG is XML" xmllint --noout "$tmp/all.svg"
fi

# Some blocks tell the same, where all are alike; other warps; one kernel.
GPUMB_TRACE_CSV=$tmp/some.csv GPUMB_TRACE_KERNEL='strided<8>' "$tmp/traced" >"$tmp/some.txt"
check "sampled blocks" says "$tmp/some.txt" "strided<8> <<<(32,1,1), (256,1,1)>>>: 16 of 32 blocks"
check "sampled blocks" says "$tmp/some.csv" '"strided<8>",32,16,256,traced.cu'
check "one kernel" lacks "$tmp/some.csv" copied
GPUMB_TRACE_WARP=64 GPUMB_TRACE_BLOCKS=1 GPUMB_TRACE_KERNEL='strided<32>' \
    "$tmp/traced" >"$tmp/64.txt"
check "warps of 64" \
    says "$tmp/64.txt" "load 4 B             4  64.00    64.00   8.00  64.00  12.5 %"
GPUMB_TRACE_WARP=16 "$tmp/traced" >/dev/null 2>"$tmp/16.err"
check "other warps are refused" test $? -eq 2
check "other warps are refused" says "$tmp/16.err" "GPUMB_TRACE_WARP: must be 32 or 64"

# ---- out of bounds, and races ----
cat >"$tmp/faults.cu" <<'END'
#include "gpumb.h"

__global__ void past_end(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        out[i] = in[i]; // past
}

__global__ void before(const float *in, float *out)
{
    const int i = threadIdx.x;
    out[i] = in[i - 1]; // before
}

__global__ void shared_past_end(float *out)
{
    __shared__ float tile[64];
    tile[threadIdx.x + 1] = 1; // shared
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void dynamic_past_end(float *out)
{
    GPUMB_SHARED(float, tile);
    tile[threadIdx.x + 1] = 1; // dynamic
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void no_barrier(const float *in, float *out)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];      // stored
    out[threadIdx.x] = tile[63 - threadIdx.x]; // loaded
}

__global__ void with_barrier(const float *in, float *out)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void in_a_warp(const float *in, float *out, int ordered)
{
    __shared__ float tile[64];
    const unsigned lane = threadIdx.x % 32, base = threadIdx.x - lane;
    tile[threadIdx.x] = in[threadIdx.x]; // in a warp
    if (ordered)
        __syncwarp();
    out[threadIdx.x] = tile[base + 31 - lane];
}

__global__ void same_word(unsigned *out)
{
    out[0] = threadIdx.x; // one word
}

__global__ void counted(unsigned *out)
{
    atomicAdd(&out[0], 1u);
    out[1 + threadIdx.x] = 1;
}

__global__ void read_counted(unsigned *out)
{
    atomicAdd(&out[0], 1u);
    out[1 + threadIdx.x] = out[0];
}

__global__ void bytes_apart(unsigned char *out)
{
    out[threadIdx.x] = 1;
}

__global__ void wild(const float *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x + ((size_t)1 << 40)];
}

int main(int argc, char **)
{
    gpumb_buffer *a = gpumb_alloc(NULL, 100 * sizeof(float)),
                 *b = gpumb_alloc(NULL, 100 * sizeof(float));
    float *in = GPUMB_PTR(float, a), *out = GPUMB_PTR(float, b);
    unsigned *words = GPUMB_PTR(unsigned, b);
    GPUMB_LAUNCH(past_end, 4, 32, 0, in, out, 100);
    GPUMB_LAUNCH(before, 1, 64, 0, in, out);
    GPUMB_LAUNCH_BARRIER(shared_past_end, 1, 64, 0, out);
    GPUMB_LAUNCH_BARRIER(dynamic_past_end, 1, 64, 64 * sizeof(float), out);
    GPUMB_LAUNCH_BARRIER(no_barrier, 2, 64, 0, in, out);
    GPUMB_LAUNCH_BARRIER(with_barrier, 1, 64, 0, in, out);
    GPUMB_LAUNCH_BARRIER(in_a_warp, 1, 64, 0, in, out, 0);
    GPUMB_LAUNCH_BARRIER(in_a_warp, 2, 64, 0, in, out, 1);
    GPUMB_LAUNCH(same_word, 1, 64, 0, words);
    GPUMB_LAUNCH(counted, 1, 64, 0, words);
    GPUMB_LAUNCH(read_counted, 1, 64, 0, words);
    GPUMB_LAUNCH(bytes_apart, 1, 64, 0, GPUMB_PTR(unsigned char, b));
    if (argc > 1)
        GPUMB_LAUNCH(wild, 1, 64, 0, in, out);
    return gpumb_close(NULL);
}
END
# Here the implementation is a file of its own.
check "implementation apart" "$CC" -I. -DGPUMB_TRACE -c "$tmp/whole.c" -o "$tmp/whole.o"
# shellcheck disable=SC2086
check "faults" "$CXX" -I. $flags -x c++ -c "$tmp/faults.cu" -o "$tmp/faults.o"
check "faults" "$CXX" "$tmp/faults.o" "$tmp/whole.o" "$tmp/trace.o" -o "$tmp/faults" -pthread
"$tmp/faults" >"$tmp/faults.txt"
check "goes on after what is out of bounds" test $? -eq 0
line() # TEXT: the number of the only line with this comment
{
    grep -nF "// $1" "$tmp/faults.cu" | cut -d : -f 1
}
at="faults.cu:"
check "past the end" says "$tmp/faults.txt" "$at$(line past): kernel past_end, block (3,0,0): out \
of bounds: thread (4,0,0): load of 4 bytes, just past the end of a buffer of 400 bytes"
check "past the end" says "$tmp/faults.txt" "thread (4,0,0): store of 4 bytes, just past the end \
of a buffer of 400 bytes"
check "before" says "$tmp/faults.txt" "$at$(line before): kernel before, block (0,0,0): out of \
bounds: thread (0,0,0): load of 4 bytes, 4 bytes before a buffer of 400 bytes"
[ -n "$exact" ] && check "shared" says "$tmp/faults.txt" "$at$(line shared): kernel \
shared_past_end, block (0,0,0): out of bounds: thread (63,0,0): store of 4 bytes, just past \
the end of tile (256 bytes)"
check "dynamic shared" says "$tmp/faults.txt" "$at$(line dynamic): kernel dynamic_past_end, block \
(0,0,0): out of bounds: thread (63,0,0): store of 4 bytes, just past the end of the dynamic \
shared memory of 256 bytes"
check "race" says "$tmp/faults.txt" "$at$(line stored): kernel no_barrier, block (0,0,0): race: \
thread (32,0,0): store and, in line $(line loaded), thread (31,0,0): load, no barrier between: \
byte 128 of tile (256 bytes); 128 in all"
check "race in a warp" says "$tmp/faults.txt" "$at$(line "in a warp"): kernel in_a_warp, block \
(0,0,0): race: thread (16,0,0): store"
check "race of stores" says "$tmp/faults.txt" "$at$(line "one word"): kernel same_word, block \
(0,0,0): race: thread (0,0,0): store and, in line $(line "one word"), thread (1,0,0): store"
check "race with an atomic" says "$tmp/faults.txt" "kernel read_counted, block (0,0,0): race: \
thread"
check "no more than that" test "$(grep -cE ': (race|out of bounds): ' "$tmp/faults.txt")" \
    -le 9
"$tmp/faults" wild >"$tmp/wild.txt" 2>"$tmp/wild.err"
check "a crash" test $? -ne 0
check "a crash: reported before" says "$tmp/wild.txt" "kernel wild, block (0,0,0): out of bounds: \
thread (0,0,0): load of 4 bytes"
check "a crash: reported before" says "$tmp/wild.err" "the next access is at an address that does \
not exist"

# Blocks that the tracer does not follow overrun their tile as well.
cat >"$tmp/tiled.cu" <<'END'
#include "gpumb.h"

__global__ void tiled(float *out)
{
    __shared__ float tile[32][33];
    float *flat = &tile[0][0];
    for (int k = 0; k < 32; k += 8)
        flat[(threadIdx.y + k) * 34 + threadIdx.x] = 1; // pitch
    __syncthreads();
    for (int k = 0; k < 32; k += 8)
        out[(threadIdx.y + k) * 32 + threadIdx.x] = flat[(threadIdx.y + k) * 33 + threadIdx.x];
}

int main(int argc, char **)
{
    gpumb_buffer *out = gpumb_alloc(NULL, 1024 * sizeof(float));
    for (int i = 0; i < 3; i++)
        GPUMB_LAUNCH_BARRIER(tiled, 20, dim3(32, 8), 0, GPUMB_PTR(float, out));
    if (argc > 1)
        __builtin_abort();
    return gpumb_close(NULL);
}
END
# shellcheck disable=SC2086
check "a tile's pitch" "$CXX" -I. $flags -x c++ -c "$tmp/tiled.cu" -o "$tmp/tiled.o"
check "a tile's pitch" "$CXX" "$tmp/tiled.o" "$tmp/whole.o" "$tmp/trace.o" -o "$tmp/tiled" -pthread
line=$(grep -nF '// pitch' "$tmp/tiled.cu" | cut -d : -f 1)
for how in '' crash; do
    "$tmp/tiled" $how >"$tmp/tiled.txt" 2>"$tmp/tiled.err"
    code=$?
    check "a tile's pitch" says "$tmp/tiled.txt" "tiled.cu:$line: kernel tiled, block (0,0,0): out \
of bounds: thread (2,7,0): store of 4 bytes, just past the end of tile (4224 bytes)"
    [ -n "$how" ] || check "a tile's pitch: not a crash" test "$code" -lt 128
done
check "a crash" test "$code" -gt 128
check "a crash: says so" says "$tmp/tiled.err" "gpumb trace: the program crashes; so far:"

finish
