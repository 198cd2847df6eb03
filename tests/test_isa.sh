#!/bin/sh
# test_isa.sh - looks at the machine code of the reference kernels, for NVIDIA (PTX, and SASS where
# there is a disassembler) and AMD: accesses of 16 bytes where they are promised, the instructions
# of an n-body interaction, and no spills; and at what the chains of bench/units.cu are made of.
#     ARCH, HIP_ARCHS     what to compile for; sm_90, and "gfx900 gfx90a gfx1030"
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

# find_program NAME PLACE...: prints where it is
find_program() {
    for candidate; do
        if command -v "$candidate" 2>/dev/null; then
            return 0
        fi
    done
    return 1
}

# C empties the caches by memcmp, whose result nobody wants: it is to be called all the same.
printf '#define GPUMB_IMPLEMENTATION\n#include "gpumb.h"\n' >"$tmp/host.c"
if ! ${CC:-cc} -std=c99 -O2 -I. -c "$tmp/host.c" -o "$tmp/host.o" 2>"$tmp/log"; then
    fail "the implementation in C does not compile" "$tmp/log"
elif nm -u "$tmp/host.o" | grep -qw memcmp; then
    pass
else
    fail "--cold reads nothing in C: memcmp is not called"
fi

# All reductions, and the n-body forms at the edges: most and fewest registers, each of the roots.
cat >"$tmp/unit.cu" <<'END_OF_UNIT'
#define GPUMB_REDUCTIONS(X) GPUMB_ALL_REDUCTIONS(X)
#define GPUMB_NBODY_FORMS(X) \
    X(1, 1, LIBRARY) X(1, 1, INTEGER) X(1, 1, APPROXIMATE) X(4, 4, LIBRARY) X(4, 4, INTEGER) \
    X(4, 4, APPROXIMATE) X(8, 8, LIBRARY) X(8, 8, INTEGER) X(8, 32, APPROXIMATE)
#define GPUMB_NBODY_PAIRS(X) X(1, 1) X(4, 2) X(8, 2) X(8, 4)
#define GPUMB_COPY
#define GPUMB_STRIDED
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
END_OF_UNIT
least_kernels=50

# ---- what the kernels have to have: loads and stores of 16 bytes, at least so many ---------------
# More would be well (unrolled). Reading, writing and both may be kernels of their own or one with a
# mode: those are taken together. 32 bytes are two words; the fastest read has four under way.
# Those of 16 and 32 bytes have no smaller accesses; the fastest ones have, for what is left over,
# and those that serve several sizes.
wide="
gpumbi_strided 1 1
gpumbi_subdomains 1 1
gpumbi_copy_16 1 1
gpumbi_copy_32 2 2
gpumbi_copy_fastest 1 1
gpumbi_zcopy_16+gpumbi_zwrite_16+gpumbi_zread_16 2 2
gpumbi_zcopy_32+gpumbi_zwrite_32+gpumbi_zread_32 4 4
gpumbi_zcopy_fastest+gpumbi_zwrite_fastest+gpumbi_zread_fastest 5 2"

# These have none: were they found to, the patterns would match anything.
narrow="gpumbi_copy_4 gpumbi_copy_8 gpumbi_zcopy_4 gpumbi_zcopy_8"

# body NAME+NAME...: the lines of kernels; files have a line "kernel MANGLED" before each. A mangled
# name has the length of the plain one in front and its parameters behind: P, K, j, m ...
body() {
    pattern=
    for name in $(echo "$1" | tr + ' '); do
        pattern="$pattern${pattern:+|}${#name}${name}[A-Zjmv]"
    done
    awk -v pattern="$pattern" '/^kernel / { on = $0 ~ pattern } on' "$listing"
}

count() { # PATTERN: in the lines on standard input
    grep -cE -e "$1"
}

# accesses_right NAMES LOADS STORES
accesses_right() {
    body "$1" >"$tmp/body"
    grep -E -e "$load|$store|$smaller" "$tmp/body" >"$tmp/accesses"
    [ -s "$tmp/body" ] && [ "$(count "$load" <"$tmp/body")" -ge "$2" ] &&
        [ "$(count "$store" <"$tmp/body")" -ge "$3" ] || return 1
    case $1 in *fastest | gpumbi_strided | gpumbi_subdomains) return 0 ;; esac
    [ "$(grep -vE -e "$load|$store" "$tmp/accesses" | count "$smaller")" -eq 0 ]
}

# look WHAT: all kernels in $listing; $load and $store are the accesses of 16 bytes, $smaller others
look() {
    while read -r names loads stores; do
        [ -n "$names" ] || continue
        if accesses_right "$names" "$loads" "$stores"; then
            pass
        else
            fail "$1: $names: not $loads loads and $stores stores of 16 bytes" "$tmp/accesses"
        fi
    done <<END_OF_LIST
$wide
END_OF_LIST
    for name in $narrow; do
        accesses_right "$name" 0 0
        if [ -s "$tmp/accesses" ] && ! grep -qE -e "$load|$store" "$tmp/accesses"; then
            pass
        else
            fail "$1: $name is not there, or seems to access 16 bytes" "$tmp/accesses"
        fi
    done
}

# ---- what loops are made of ----------------------------------------------------------------------

# instance PATTERN: the lines of the kernels whose mangled names have the pattern in them
instance() {
    awk -v pattern="$1" '/^kernel / { on = $0 ~ pattern } on' "$listing"
}

# densest PATTERN: the one block without labels and branches inside, of the lines on standard input,
# that has the most lines with the pattern. A label comes first, a branch last.
densest() {
    pattern=$1 awk '
        BEGIN { pattern = ENVIRON["pattern"] } # with its backslashes
        function flush() { if (hits > best) { best = hits; most = block }; block = ""; hits = 0 }
        /^(\$L|\.L)[A-Za-z0-9_]*:/ { flush() }
        { block = block $0 "\n" }
        $0 ~ pattern { hits++ }
        /[ \t](bra|BRA|s_branch|s_cbranch[a-z0-9_]*)[. \t]/ { flush() }
        END { flush(); printf "%s", most }'
}

# Whether the block on standard input ends with a branch to its own label: SASS has none, there the
# branch has an address.
repeats() {
    awk 'NR == 1 { label = $1; sub(":.*", "", label) }
        match($0, /\/\*[0-9a-f][0-9a-f][0-9a-f][0-9a-f]+\*\//) {
            address = substr($0, RSTART + 2, RLENGTH - 4)
            if (first == "")
                first = address
        }
        { last = $0 }
        END {
            if (label ~ /^[$.]L/)
                exit index(last " ", label) == 0 # with what follows: no label begins another
            if (!match(last, /BRA 0x[0-9a-f]+/))
                exit 1
            target = substr(last, RSTART + 6, RLENGTH - 6)
            while (length(target) < length(first))
                target = "0" target
            exit target < first || target >= address
        }'
}

# together PATTERN: how many loads with the pattern stand before the first use of what one has
# loaded, in the lines on standard input. What is loaded is a load's first register.
together() {
    pattern=$1 awk '
        BEGIN { pattern = ENVIRON["pattern"] }
        {
            is_load = $0 ~ pattern
            gsub(/v\[/, "v_")
            gsub(/:/, "_")
            gsub(/[^A-Za-z0-9_%]/, " ")
            to = ""
            for (i = 1; i <= NF; i++)
                if (is_load && to == "" && $i ~ /^(R[0-9]+|%[a-oq-z][a-z]*[0-9]+|v_?[0-9][0-9_]*)$/)
                    to = $i
                else if ($i in loaded)
                    exit
            if (is_load) {
                loaded[to] = 1
                loads++
            }
        }
        END { print loads + 0 }'
}

# in_flight WHAT NAME PATTERN: 4 such loads of the kernel's densest block wait for none of them
in_flight() {
    instance "$2" | densest "$3" >"$tmp/block"
    loads=$(together "$3" <"$tmp/block")
    if [ "$loads" -ge 4 ]; then
        pass
    else
        fail "$1: $2: $loads loads in flight, not 4" "$tmp/block"
    fi
}

# Reductions: 4 loads in flight; the fastest have a loop with such of 16 bytes, which no condition
# stands before.
look_at_reductions() {
    any="$load|$smaller"
    for type in f d i j; do
        for operation in 0 1 2; do
            name="21gpumbi_reduce_fastestI${type}L[a-z0-9_]*${operation}E"
            in_flight "$1" "$name" "$load"
            loads=$(grep -v '@' "$tmp/block" | count "$load")
            if [ "$loads" -ge 2 ] && repeats <"$tmp/block"; then
                pass
            else
                fail "$1: $name has no loop with loads of 16 bytes" "$tmp/block"
            fi
            in_flight "$1" "13gpumbi_reduceI${type}L[a-z0-9_]*${operation}E" "$any"
        done
    done
    in_flight "$1" 20gpumbi_zcopy_fastestP "$load"
    in_flight "$1" 16gpumbi_nbody_addP "$load"
    # were a loop found here, it would be found anywhere
    instance '14gpumbi_copy_16P' | densest "$load" >"$tmp/block"
    if [ -s "$tmp/block" ] && ! repeats <"$tmp/block"; then
        pass
    else
        fail "$1: gpumbi_copy_16 is not there, or seems to loop" "$tmp/block"
    fi
}

# mix BODIES UNROLL ROOT: how often each of the patterns in $mix stands in the loop over the bodies
# of a tile; roots are 0, 1 and 2 as in gpumb_rsqrt
mix() {
    instance "12gpumbi_nbodyIL[a-z]$1EL[a-z]$2EL[a-z0-9_]*$3E" | densest "$densest" >"$tmp/block"
    for pattern in $mix; do
        count "$pattern" <"$tmp/block"
    done | tr '\n' ' '
}

# look_at_nbody WHAT COUNT...: of each pattern so many an interaction with the approximate root. The
# other two have to show that the patterns see a difference.
look_at_nbody() {
    what=$1
    shift
    expected=
    for each; do
        expected="$expected$((16 * each)) "
    done
    found=$(mix 4 4 1)
    if [ "$found" = "$expected" ]; then
        pass
    else
        echo "$mix" | tr -s ' ' '\n' >"$tmp/mix"
        fail "$what: n-body, 16 interactions: ${found}instead of $expected" "$tmp/mix"
    fi
    for root in $others; do
        found=$(mix 4 4 "$root")
        if [ -s "$tmp/block" ] && [ "$found" != "$expected" ]; then
            pass
        else
            fail "$what: n-body with root $root is not there, or seems to have the approximate one"
        fi
    done
}

# loop: the longest stretch of SASS on standard input that ends with a branch to its beginning.
loop() {
    awk 'match($0, /\/\*[0-9a-f][0-9a-f][0-9a-f][0-9a-f]+\*\//) {
            at[++n] = substr($0, RSTART + 2, RLENGTH - 4)
            line[n] = $0
            if (!match($0, /BRA 0x[0-9a-f]+/))
                next
            target = substr($0, RSTART + 6, RLENGTH - 6)
            while (length(target) < length(at[n]))
                target = "0" target
            for (i = 1; i <= n && at[i] != target; i++)
                ;
            if (n - i > last - first) {
                first = i
                last = n
            }
        }
        END { for (i = first; first && i <= last; i++) print line[i] }'
}

# look_at_chains WHAT: so many of these instructions in a turn of each chain, and at most 5 more of
# any, which count the turns.
look_at_chains() {
    while read -r number name instructions; do
        instance "5chainILi${number}EE" | loop >"$tmp/block"
        all=$(count . <"$tmp/block") wrong=
        for pair in $instructions; do
            found=$(count "[[:space:]](${pair#*:})[.[:space:]]" <"$tmp/block")
            [ "$found" -ge "${pair%%:*}" ] || wrong="$wrong, $found ${pair#*:}"
            all=$((all - ${pair%%:*}))
        done
        if [ -s "$tmp/block" ] && [ -z "$wrong" ] && [ "$all" -le 5 ]; then
            pass
        else
            fail "$1: chain of $name: $all more than $instructions$wrong" "$tmp/block"
        fi
    done <<'END_OF_LIST'
0 fma 128:FFMA
1 add3 128:IADD3
2 add 64:IADD3 64:IMAD\.IADD
3 mad 128:IMAD
4 logic 128:LOP3
5 shift 128:SHF\.L\.W
6 dp4a 128:IDP\.4A\.S8
7 rcp 128:MUFU\.RCP 256:FADD
8 rsqrt 128:MUFU\.RSQ 256:FADD
9 exp2 128:MUFU\.EX2 256:FADD
10 sin 128:MUFU\.SIN 128:FMUL 256:FADD
END_OF_LIST
}

# ---- NVIDIA --------------------------------------------------------------------------------------

# SASS into $tmp/sass, in the form that body() reads. Both tools print the same instructions.
disassemble() {
    if tool=$(find_program cuobjdump /usr/local/cuda/bin/cuobjdump) &&
        "$tool" -sass "$1" >"$tmp/raw" 2>"$tmp/log"; then
        sed -n 's/^[[:space:]]*Function : /kernel /p; /\/\*[0-9a-f]\{4,\}\*\//p' "$tmp/raw"
    elif tool=$(find_program nvdisasm /usr/local/cuda/bin/nvdisasm) &&
        "$tool" -c "$1" >"$tmp/raw" 2>"$tmp/log"; then
        sed -n 's/^\.text\.\([^:]*\):.*/kernel \1/p; /\/\*[0-9a-f]\{4,\}\*\//p' "$tmp/raw"
    else
        return 1
    fi >"$tmp/sass"
    grep -q '^kernel ' "$tmp/sass"
}

nvidia() {
    arch=${ARCH:-sm_90}
    [ "$arch" != native ] || arch=sm_90
    compile="-std=c++17 -O3 -arch=$arch -I."
    # shellcheck disable=SC2086 # words
    if ! "$nvcc" $compile "$tmp/unit.cu" -Xptxas -v -cubin -o "$tmp/unit.cubin" \
        >"$tmp/ptxas" 2>&1; then
        fail "$arch: does not compile" "$tmp/ptxas"
        return
    fi
    kernels=$(count 'Compiling entry function' <"$tmp/ptxas")
    clean=$(count ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' <"$tmp/ptxas")
    if [ "$kernels" -ge "$least_kernels" ] && [ "$clean" -eq "$kernels" ]; then
        pass
    else
        grep -B 1 'bytes stack' "$tmp/ptxas" | grep -v ' 0 bytes spill loads' >"$tmp/spills"
        fail "$arch: $clean of $kernels kernels are without stack and spills" "$tmp/spills"
    fi

    # shellcheck disable=SC2086 # words
    "$nvcc" $compile "$tmp/unit.cu" -ptx -o "$tmp/unit.ptx" >"$tmp/log" 2>&1 ||
        fail "$arch: makes no PTX" "$tmp/log"
    sed 's/^.*\.entry /kernel /' "$tmp/unit.ptx" >"$tmp/ptx"
    listing=$tmp/ptx
    load='ld\.global\.([a-z_:0-9]+\.)*(v4\.[usbf]32|v2\.[usbf]64)'
    store='st\.global\.([a-z_:0-9]+\.)*(v4\.[usbf]32|v2\.[usbf]64)'
    smaller='(ld|st)\.global\.'
    look "$arch, PTX"
    look_at_reductions "$arch, PTX"
    # the last one: any other arithmetic of floats
    densest='fma\.rn(\.ftz)?\.f32'
    mix='rsqrt\.approx\.ftz\.f32 [[:space:]]sub(\.rn|\.ftz)*\.f32 [[:space:]]fma(\.rn|\.ftz)*\.f32
        [[:space:]]mul(\.rn|\.ftz)*\.f32
        [[:space:]](add|neg|abs|min|max|div|rcp|sqrt|setp|selp)\.([a-z]+\.)*f32|rsqrt\.approx\.f32'
    others='0 2'
    look_at_nbody "$arch, PTX" 1 3 6 3 0

    if disassemble "$tmp/unit.cubin"; then
        listing=$tmp/sass
        load='LDG\.E(\.[A-Z0-9_]+)*\.128' store='STG\.E(\.[A-Z0-9_]+)*\.128'
        smaller='LDG|STG|LDL|STL'
        look "$arch, SASS"
        look_at_reductions "$arch, SASS"
        densest='[[:space:]]FFMA'
        mix='MUFU\.RSQ[[:space:]] [[:space:]]FADD[.[:space:]] [[:space:]]FFMA[.[:space:]]
            [[:space:]]FMUL[.[:space:]] [[:space:]](FSETP|FSEL|FMNMX|FCHK|MUFU\.[^R])'
        others='0 2'
        look_at_nbody "$arch, SASS" 1 3 6 3 0
    else
        skip "$arch, SASS: neither cuobjdump nor nvdisasm"
        return
    fi

    # n-body's mix that bench/nbody.cu issues without loads: that of 64 interactions
    printf '#include "gpumb.h"\n#include "bench/issue.h"\n%s\n' \
        'template __global__ void issue<1>(float *, unsigned, float, float);' >"$tmp/issue.cu"
    # shellcheck disable=SC2086 # words
    "$nvcc" $compile "$tmp/issue.cu" -cubin -o "$tmp/issue.cubin" >"$tmp/log" 2>&1 &&
        disassemble "$tmp/issue.cubin"
    instance 5issueILi1EE | loop >"$tmp/block"
    found=$(for pattern in $mix; do count "$pattern" <"$tmp/block"; done | tr '\n' ' ')
    if [ "$found" = "64 192 384 192 0 " ] && [ "$(count . <"$tmp/block")" -le 837 ]; then
        pass
    else
        fail "$arch, SASS: the mix that is issued is $found" "$tmp/block"
    fi

    [ "$arch" = sm_90 ] || return # of others they have not been seen
    # shellcheck disable=SC2086 # words
    if "$nvcc" $compile bench/units.cu -cubin -o "$tmp/units.cubin" >"$tmp/log" 2>&1 &&
        disassemble "$tmp/units.cubin"; then
        look_at_chains "$arch, SASS"
    else
        fail "$arch: bench/units.cu does not compile" "$tmp/log"
    fi
}

if nvcc=$(find_program "${NVCC:-nvcc}" /usr/local/cuda/bin/nvcc); then
    nvidia
else
    skip "NVIDIA: no nvcc"
fi

# ---- AMD -----------------------------------------------------------------------------------------

# amd ARCH: the compiler knows that parameters point to global memory; flat accesses would do too
amd() {
    if ! "$hipcc" -std=c++17 -O3 --offload-arch="$1" --cuda-device-only -S -I. -x hip \
        "$tmp/unit.cu" -o "$tmp/unit.s" >"$tmp/log" 2>&1; then
        fail "$1: does not compile" "$tmp/log"
        return
    fi
    awk '/^_Z[A-Za-z0-9_]*:/ { sub(":.*", ""); print "kernel " $0; next }
        /^\.LBB/ || /^[ \t]+[a-z]/ { print }' "$tmp/unit.s" >"$tmp/gcn"
    listing=$tmp/gcn
    load='(global|flat)_load_(dwordx4|b128)' store='(global|flat)_store_(dwordx4|b128)'
    smaller='(global|flat)_(load|store)_(dword|b32|b64|b96)' # load_ushort is blockDim on some
    look "$1"
    look_at_reductions "$1"
    # the guard compares with the smallest normal number, selects a scale and applies it
    densest='v_(pk_)?(fma|mul|mac|fmac|add)[a-z]*_f32'
    mix='v_rsq_f32 v_cmpx?_[a-z]+_f32|v_cndmask|v_ldexp|v_(sqrt|rcp|div_[a-z]+)_f32'
    others='0 2'
    look_at_nbody "$1" 1 0

    kernels=$(count '^ +\.private_segment_fixed_size:' <"$tmp/unit.s")
    clean=$(count '^ +\.private_segment_fixed_size: +0$' <"$tmp/unit.s")
    scratch=$(count '^; ScratchSize: 0$' <"$tmp/unit.s")
    spills=$(count '^ +\.[sv]gpr_spill_count: +[1-9]' <"$tmp/unit.s")
    if [ "$kernels" -ge "$least_kernels" ] && [ "$clean" -eq "$kernels" ] &&
        [ "$scratch" -eq "$kernels" ] && [ "$spills" -eq 0 ]; then
        pass
    else
        awk '/^_Z[A-Za-z0-9_]*:/ { sub(":.*", ""); name = $0 }
            /^; ScratchSize: [1-9]/ { print name ": " $3 " bytes of scratch memory" }' \
            "$tmp/unit.s" >"$tmp/spills"
        fail "$1: of $kernels kernels $clean are without scratch memory; $spills spill counts" \
            "$tmp/spills"
    fi
    flat=$(count '[[:space:]]flat_(load|store)' <"$tmp/gcn")
    [ "$flat" -eq 0 ] || echo "test_isa.sh: $1: $flat accesses are flat, not global"
}

if hipcc=$(find_program "${HIPCC:-hipcc}" /opt/rocm/bin/hipcc); then
    printf '#include <hip/hip_runtime.h>\n__global__ void probe() {}\n' >"$tmp/probe.hip"
    for arch in ${HIP_ARCHS:-gfx900 gfx90a gfx1030}; do
        if "$hipcc" --offload-arch="$arch" --cuda-device-only -S -x hip "$tmp/probe.hip" \
            -o "$tmp/probe.s" >"$tmp/log" 2>&1; then
            amd "$arch"
        else
            skip "$arch: not known to $hipcc"
        fi
    done
else
    skip "AMD: no hipcc"
fi

finish
