#!/bin/sh
# test_judge.sh - examples/judge on the CPU: what is right is accepted, what is not is refused with
# its reason; what never ends, prints for ever or crashes is ended, and the next is judged; a
# folder's table, JSON, exit codes. judge_rules.py has what needs no kernel.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
has_python || {
    skip "no Python 3.9"
    finish
}
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
count "tests/judge_rules.py" python3 tests/judge_rules.py

mkdir "$tmp/some" "$tmp/denial" "$tmp/bombs"
cat >"$tmp/task.cu" <<'EOF'
// task: twice
// size: n = 1000003
// cpu: n = 1003
// also: n = 1, 33
// input: in float[n] normal(0, 8), wide(1e-44, 1e30)
// output: out float[n]
// bytes: 8 * n
// launch: twice<<<ceil_div(n, 256), 256>>>(in, out, n)
// check: check<<<4, 64>>>(in, out, n, errors)
// points: 1 at 0, 9 at 1000
// limits: compile 60 s, run 60 s, scratch 1 MiB
#include "task.h"
__global__ void twice(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}
__global__ void check(const float *in, const float *out, uint64_t n, judge_errors *errors)
{
    for (uint64_t i = blockIdx.x * 64 + threadIdx.x; i < n; i += 4 * 64)
        judge_compare(errors, i, out[i], 2.0 * in[i], 0);
}
EOF

# submission FOLDER/NAME LAUNCH BODY: of a kernel k(in, out, n), with i
submission() {
    cat >"$tmp/$1.cu" <<EOF
// launch: $2
#include <stdint.h>
#include <stdio.h>
__device__ unsigned runs;
__device__ float kept[2000];
__global__ void k(float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    $3
}
EOF
}
k='k<<<ceil_div(n, 64), 64>>>(in, out, n)'

# judge TASK SUBMISSION OPTION...: its page in $tmp/page, its exit code
judge() {
    timeout 300 python3 "${program-examples/judge/judge.py}" --cpu --samples 6 --sessions 1 \
        --build "$tmp/build" "$@" >"$tmp/page" 2>&1
}

# ---- one folder: honest ones, and such that are not ----
submission some/honest "$k" 'if (i < n) out[i] = 2 * in[i];'
# right only if its scratch memory is poisoned and its code loaded anew; in one block, in order
submission one 'k<<<1, 1024>>>(in, out, n, note)' 'const bool first = runs == 0;
    if (i < n) out[i] = first && *note == 0x7ffd7ffdu ? 2 * in[i] : 0, in[i] = 0;
    if (i == 1023) runs = *note = 1;'
sed -i 's/uint64_t n)/uint64_t n, unsigned *note)/; 1i // scratch: note 4' "$tmp/one.cu"
cat >"$tmp/some/two_launches.cu" <<'EOF'
// scratch: half 4 * n
// launch: copy<<<{ceil_div(n, 64), 1}, {64, 1, 1}>>>(in, half, int(n))
// launch: add<<<ceil_div(n, 64), 64>>>(in, half, out, int(n))
__global__ void copy(const float *from, float *to, int n)
{
    __shared__ float tile[64];
    const int i = (int)(blockIdx.x * 64 + threadIdx.x);
    tile[63 - threadIdx.x] = i < n ? from[i] : 0;
    __syncthreads();
    if (i < n)
        to[i] = tile[63 - threadIdx.x];
}
__global__ void add(const float *a, const float *b, float *sum, int n)
{
    const int i = (int)(blockIdx.x * 64 + threadIdx.x);
    if (i < n)
        sum[i] = a[i] + b[i];
}
EOF
submission some/last_element "$k" 'if (i < n) out[i] = 2 * in[i] + (i == 1002);'
submission some/nan "$k" 'if (i < n) out[i] = 0 * 1e38f * 1e38f * (2 * in[i]);'
submission some/nothing "$k" 'if (i < n && runs > 900) out[i] = 0;'
submission some/keeps "$k" 'if (i < n) out[i] = runs ? kept[i] : (kept[i] = 2 * in[i]);
    if (!i) runs = 1;'
submission some/past_the_end "$k" 'if (i < n + 2) out[i] = 2 * in[i < n ? i : 0];'
submission some/rounds "$k" 'if (i < n) out[i] = 2 * (float)(int)(in[i] * 1024) / 1024;'
submission some/syntax "$k" 'if (i < n) out[i] = 2 * in[i]'
submission some/overflow 'k<<<n << 60, 64>>>(in, out, n)' ''
submission some/empty_grid 'k<<<n / 2, 64>>>(in, out, n)' 'if (i < n) out[i] = 2 * in[i];'
judge "$tmp/task.cu" "$tmp/some" --json "$tmp/some.json"
code=$?
check "exit code $code with wrong ones in the folder" test $code -eq 1
has 'no verdict, and no sandbox' "$tmp/page" || fail "it looks like a verdict" "$tmp/page"
# row NAME PATTERN: its line in the table
row() { check "$1: $(grep " $1.cu" "$tmp/page")" has " $1\.cu  *$2" "$tmp/page"; }
for name in honest two_launches; do
    check "$name: $(grep " $name.cu" "$tmp/page")" has "^ *[0-9]+ .* 1  $name\.cu$" "$tmp/page"
done
row last_element '(wrong results|at n = 1003: in)'
row nan 'wrong results'
row nothing 'at n = 1003: .*(wrong result|writes nothing)'
row keeps '(wrong results|at n = [0-9]+: (in|its|wrong))'
row past_the_end 'at n = 1003: wrote past the end'
row rounds 'wrong result'
row syntax '.*error:'
row overflow '.*more than 64 bits'
row empty_grid '.*grid.x is 0'
check "what the JSON says" python3 - "$tmp/some.json" <<'EOF'
import json, os, sys

document = json.load(open(sys.argv[1]))
assert document["is_verdict"] is False and document["backend"] == "cpu"
of = {os.path.basename(s["file"])[:-3]: s for s in document["submissions"]}
assert len(of) == 11, sorted(of)
assert of["honest"]["accepted"] and of["honest"]["points"] == 1 and of["honest"]["ratio"] > 0
wrong = of["last_element"]["wrong"][0]
assert wrong["at"] == "n = 1003" and wrong["count"] == 1, wrong
assert wrong["some"][0]["element"] == 1002, wrong
assert wrong["some"][0]["is"] != wrong["some"][0]["right"]
assert of["nan"]["wrong"][0]["at"] == "n = 1003"
assert not of["syntax"]["compiled"] and "error" in of["syntax"]["reason"]
assert all(not s["points"] for s in of.values() if not s["accepted"])
assert all(s["machine_code"] is None for s in of.values() if s["compiled"])
EOF

# ---- one by one: pages and exit codes ----
cat >"$tmp/always.py" <<'EOF'
import sys

sys.path.insert(0, "examples/judge")
import judge

judge.secrets.randbelow = lambda n: 0  # code is loaded anew before each run
sys.exit(judge.main())
EOF
program=$tmp/always.py
check "one for which all has to be new" judge "$tmp/task.cu" "$tmp/one.cu"
unset program
check "its page" has '^[0-9.]+ x the baseline.s speed \(' "$tmp/page"
check "its points" has '^points: 1$' "$tmp/page"
code() { # CODE TEXT ARGUMENT...
    want=$1 text=$2
    shift 2
    judge "$@"
    got=$?
    check "$text: exit code $got, not $want" test $got -eq "$want"
}
code 1 "points out of reach" "$tmp/task.cu" "$tmp/one.cu" --points 9 --compile-only
code 2 "no such task" "$tmp/none.cu" "$tmp/one.cu"
code 2 "no such submission" "$tmp/task.cu" "$tmp/none.cu"
code 2 "an option that there is not" "$tmp/task.cu" "$tmp/one.cu" --none
sed 's/out\[i\] = 2/out[i] = 3/' "$tmp/task.cu" >"$tmp/odd.cu"
code 2 "a baseline that is wrong" "$tmp/odd.cu" "$tmp/some/honest.cu"
check "and why: $(cat "$tmp/page")" has 'not judged: the baseline is wrong' "$tmp/page"

# ---- a product without what is small beside the rest: its inputs leave nothing so small ----
code 1 "half a product" examples/judge/tasks/matmul.cu \
    tests/attacks/device/matmul_skips_what_is_small.cu
check "and why: $(cat "$tmp/page")" has 'not accepted: .*wrong result' "$tmp/page"

# ---- what has to be ended; the last is judged all the same ----
submission denial/a_crashes "$k" 'if (i < n) *(volatile float *)8 = in[i];'
submission endless "$k" 'for (volatile int on = 1; on;);'
submission denial/c_prints "$k" 'for (;;) printf("%0999d", 1);'
submission denial/d_honest "$k" 'if (i < n) out[i] = 2 * in[i];'
submission memory "$k" 'if (!i && mmap(0, 1ul << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE |
        MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED) __builtin_trap();
    if (i < n) out[i] = 2 * in[i];'
sed -i '1a #include <sys/mman.h>' "$tmp/memory.cu"
code 0 "memory without a limit" "$tmp/task.cu" "$tmp/memory.cu"
submission denial/e_scratch "$k" ''
sed -i '1s/^/\/\/ scratch: much 1 << 40\n/' "$tmp/denial/e_scratch.cu"
judge "$tmp/task.cu" "$tmp/denial"
row a_crashes '.*signal 11'
row c_prints '.*prints for ever'
check "the next is judged: $(grep d_honest "$tmp/page")" has '^ *1 .*d_honest' "$tmp/page"
row e_scratch '.*bytes in all'
code 1 "one that never ends" "$tmp/task.cu" "$tmp/endless.cu" --run 2
check "and why: $(cat "$tmp/page")" has 'the runner was ended at its limit' "$tmp/page"

# ---- the compiler: time, disk, and what it may read ----
head="// launch: $k
__global__ void k(float *, float *, unsigned long) {}"
cat >"$tmp/time.cu" <<EOF
$head
template <int A, int B> struct g { enum { is = g<A - 1, B * 2>::is + g<A - 1, B * 2 + 1>::is }; };
template <int B> struct g<0, B> { enum { is = B }; };
int much = g<28, 0>::is;
EOF
cat >"$tmp/bombs/disk.cu" <<EOF
$head
char much[2000000000] = {1};
EOF
cat >"$tmp/bombs/reads.cu" <<EOF
$head
#include "/etc/passwd"
EOF
cat >"$tmp/bombs/embeds.cu" <<EOF
$head
asm(".incbin \"$tmp/task.cu\"");
EOF
code 1 "a compilation that never ends" "$tmp/task.cu" "$tmp/time.cu" --compile 2
check "and why: $(cat "$tmp/page")" has 'limit of time' "$tmp/page"
judge "$tmp/task.cu" "$tmp/bombs"
row disk '.*([Ff]ile size|signal|SIGXFSZ|[Kk]illed|No space|ended with)'
if unshare --user --map-root-user --mount --pid --net --fork true 2>/dev/null; then
    row reads '.*No such file'
    row embeds '.*file not found'
else
    skip "files hidden from the compiler: no unshare for users"
    judge "$tmp/task.cu" "$tmp/one.cu"
    check "it does not say so" has 'could read' "$tmp/page"
fi
finish
