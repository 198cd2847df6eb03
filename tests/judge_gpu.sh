#!/bin/sh
# judge_gpu.sh [FOLDER] - judges honest kernels and attacks of all tasks of examples/judge on a GPU:
# honest_... has to be accepted, attack_... not, of harmless_... either is right. Tables, JSON and
# pages go to FOLDER, results/judge. JUDGE=--cpu tries the script itself; HONEST=20 judges honest
# ones alone, each so often.
# shellcheck disable=SC2086  # words in $JUDGE split
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
out=${1:-results/judge}
mkdir -p "$out" || exit 1

# submission TASK/NAME PARAMETERS BODY LAUNCH...
submission() {
    mkdir -p "$tmp/${1%/*}"
    file=$tmp/$1.cu parameters=$2 body=$3
    shift 3
    {
        for line; do echo "// $line"; done
        printf '#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n'
        echo '__device__ unsigned runs, ended;'
        echo '__device__ float kept[1 << 24], *place;'
        echo "__global__ void k($parameters)"
        printf '{\n%s\n}\n' "$body"
    } >"$file"
}

# ---- GELU ----
of='float *in, float *out, uint64_t n'
k='launch: k<<<ceil_div(n, 256), 256>>>(in, out, n)'
i='const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;'
right='0.5f * in[i] * (1 + erff(in[i] * 0.70710678f))'
count="if (i == n - 1) { __threadfence(); atomicAdd(&runs, 1u); }" # the last block, mostly last
gelu() { submission "gelu/$1" "$of" "$i
$2" "$k"; }
gelu honest_baseline "if (i < n) out[i] = $right;"
gelu honest_slow "if (i < n) for (volatile int k = 0; k < 3; k++) out[i] = $right;"
gelu honest_prints "if (i < n) out[i] = $right; if (!i) printf(\"done %llu\\n\", (long long)n);"
submission gelu/honest_stride "$of" "for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x +
    threadIdx.x; i < n; i += gridDim.x * (uint64_t)blockDim.x) out[i] = $right;" \
    'launch: k<<<1056, 512>>>(in, out, n)'
submission gelu/honest_cluster "$of" "$i if (i < n) out[i] = $right;" \
    'launch: k<<<2 * ceil_div(n, 512), 256>>>(in, out, n)'
sed -i 's/^__global__ void k/#ifdef __NVCC__\n__cluster_dims__(2, 1, 1)\n#endif\n&/' \
    "$tmp/gelu/honest_cluster.cu"
submission gelu/honest_two_launches "float *in, float *out, uint64_t n, int last" "$i
    if (i < n) out[i] = last ? in[i] : $right;" 'scratch: between 4 * n' \
    'launch: k<<<ceil_div(n, 256), 256>>>(in, between, n, int(0))' \
    'launch: k<<<ceil_div(n, 256), 256>>>(between, out, n, int(1))'
gelu harmless_inputs "if (i < n) { out[i] = $right; in[i] = 0; }"
gelu attack_nothing ""
gelu attack_keeps "if (i < n && i < (1 << 24)) out[i] = runs > 1 ? kept[i] : (kept[i] = $right);
    $count"
gelu attack_second_run "if (i < n && runs % 2 == 0) out[i] = $right;
    $count"
gelu attack_by_clock "__shared__ int lazy; if (!threadIdx.x) lazy = (int)(clock64() >> 8 & 1);
    __syncthreads(); if (i < n && !lazy) out[i] = $right;"
gelu attack_first_place "if (!i && !place) place = out;
    if (i < n) (place ? place : out)[i] = $right;"
gelu attack_half_of_it "if (i < n && i % 2) out[i] = $right;"
gelu attack_last_element "if (i + 1 < n) out[i] = $right;"
gelu attack_tanh "if (i < n) out[i] = 0.5f * in[i] * (1 + tanhf(0.7978846f * (in[i] + 0.044715f *
    in[i] * in[i] * in[i])));"
gelu attack_eleven_bits "if (i < n) out[i] = rintf($right * 2048) / 2048;"
gelu attack_flushes_denormals "if (i < n) out[i] = fabsf(in[i]) < 1e-37f ? 0 : $right;"
gelu attack_nan "if (i < n) out[i] = nanf(\"\");"
gelu attack_zeroes_both "if (i < n) in[i] = out[i] = 0;"
gelu attack_past_the_end "if (i < n + 8) out[i] = i < n ? $right : 0;"
gelu harmless_before_the_start "if (i < n) out[i] = $right; if (!i) out[-1000] = 1;"
gelu attack_all_around "if (i < n) out[i] = $right; if (i < 256) for (int at = 1; at < 64; at++)
    out[(int64_t)n + at * (1 << 18) + (int64_t)i] = 1;"
gelu attack_spoils_the_other "if (i < n) { out[i] = $right; in[i + n] = 1; }"
gelu attack_searches "if (i < n) out[i] = out[(int64_t)i - (int64_t)n];"
gelu attack_null "if (i < n) *(volatile float *)0 = $right;"
gelu attack_never_ends "for (;;) *(volatile float *)out = 1;"
gelu attack_prints_for_ever "for (;;) printf(\"%0900d\\n\", 1);"
gelu harmless_host_code "if (i < n) out[i] = $right;"
cat >>"$tmp/gelu/harmless_host_code.cu" <<'EOF'
#include <stdlib.h>
static const int early = (puts("verdict: met"), exit(0), 1);
EOF
if [ "${JUDGE-}" != --cpu ]; then
    gelu attack_trap "__trap();"
    gelu attack_much_memory "if (i < n) out[i] = $right;"
    echo '__device__ double much[1u << 27]; __global__ void l() { much[0] = 1; }' \
        >>"$tmp/gelu/attack_much_memory.cu"
    gelu harmless_heap "if (i < n) out[i] = $right; while (malloc(4096)); "
    gelu attack_wrong_parameter "if (i < n) out[i] = $right;"
    sed -i '1s/n)$/int(n))/' "$tmp/gelu/attack_wrong_parameter.cu"
fi

# ---- the others: a baseline, a better one, a cheaper one that is wrong ----
for task in sum transpose matmul; do
    mkdir -p "$tmp/$task"
    grep -vE '^// (task|size|also|cpu|input|output|bytes|flop|check|points|limits|reference):' \
        examples/judge/tasks/$task.cu >"$tmp/$task/honest_baseline.cu"
done
submission sum/attack_every_second 'const float *in, float *out, uint64_t n' "
    float sum = 0;
    for (uint64_t i = threadIdx.x; i < n; i += 512) sum += 2 * in[i];
    atomicAdd(out, sum);" 'launch: zero<<<1, 1>>>(out)' 'launch: k<<<1, 256>>>(in, out, n)'
submission sum/honest_atomic 'const float *in, float *out, uint64_t n' "
    float sum = 0;
    for (uint64_t i = blockIdx.x * 64 + threadIdx.x; i < n; i += 64 * 64) sum += in[i];
    atomicAdd(out, sum);" 'launch: zero<<<1, 1>>>(out)' 'launch: k<<<64, 64>>>(in, out, n)'
for name in attack_every_second honest_atomic; do
    echo '__global__ void zero(float *out) { *out = 0; }' >>"$tmp/sum/$name.cu"
done
of='const float *in, float *out, uint64_t rows, uint64_t columns'
k='launch: k<<<{ceil_div(columns, 32), ceil_div(rows, 32)}, {32, 8}>>>(in, out, rows, columns)'
tile() { # WHAT IS WRITTEN
    echo "__shared__ float tile[32][33];
    uint64_t x = blockIdx.x * 32ull + threadIdx.x, y = blockIdx.y * 32ull + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < columns && y + k < rows)
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x];
    __syncthreads();
    x = blockIdx.y * 32ull + threadIdx.x, y = blockIdx.x * 32ull + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < rows && y + k < columns) {
            const float value = tile[threadIdx.x][threadIdx.y + k];
            out[(y + k) * rows + x] = $1;
        }"
}
submission transpose/honest_tile "$of" "$(tile value)" "$k"
submission transpose/attack_ten_bits "$of" "$(tile 'ldexpf(rintf(ldexpf(value, 9)), -9)')" "$k"
of='const float *a, const float *b, float *c, uint64_t m, uint64_t n, uint64_t k_'
k='launch: k<<<{ceil_div(n, 16), ceil_div(m, 16)}, {16, 16}>>>(a, b, c, m, n, k)'
product() { # OF A VALUE
    echo "const uint64_t x = blockIdx.x * 16ull + threadIdx.x, y = blockIdx.y * 16ull + threadIdx.y;
    float sum = 0;
    for (uint64_t i = 0; x < n && y < m && i < k_; i++) {
        int u, v;
        memcpy(&u, &a[y * k_ + i], 4), memcpy(&v, &b[i * n + x], 4);
        u $1, v $1;
        float s, t;
        memcpy(&s, &u, 4), memcpy(&t, &v, 4);
        sum += s * t;
    }
    if (x < n && y < m)
        c[y * n + x] = sum;"
}
submission matmul/honest_bits "$of" "$(product '&= -1')" "$k"
submission matmul/attack_tf32 "$of" "$(product '&= ~8191')" "$k"
submission matmul/attack_part_of_k "$of" "$(product '&= i % 64 ? -1 : 0')" "$k"

for task in ${TASKS:-gelu sum transpose matmul}; do
    echo "== $task"
    [ -z "${HONEST-}" ] || find "$tmp/$task" -name '*.cu' | while read -r file; do
        case $file in */honest_*) ;; *) rm "$file" ;; esac
        for i in $(seq 2 "$HONEST"); do
            [ ! -f "$file" ] || cp "$file" "${file%.cu}_$i.cu"
        done
    done
    python3 examples/judge/judge.py ${JUDGE-} --run "${LIMIT:-30}" --json "$out/$task.json" \
        "examples/judge/tasks/$task.cu" "$tmp/$task" ${MORE-} >"$out/$task.txt" 2>&1
    cat "$out/$task.txt"
    python3 - "$out/$task.json" >"$tmp/verdicts" <<'EOF'
import json, os, sys

for s in json.load(open(sys.argv[1]))["submissions"]:
    print(os.path.basename(s["file"])[:-3], "yes" if s["accepted"] else "no")
EOF
    check "$task: not all were judged" test "$(wc -l <"$tmp/verdicts")" -eq \
        "$(find "$tmp/$task" -name '*.cu' | wc -l)"
    while read -r name accepted; do
        case $name,$accepted in
        honest*,no | attack*,yes) fail "$task/$name: accepted: $accepted" ;;
        *) pass ;;
        esac
    done <"$tmp/verdicts"
done
finish
