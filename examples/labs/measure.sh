#!/bin/sh
# measure.sh - measures, on a GPU, what has no stored rows yet: labs, their solutions, the counters
# of both, and the benchmarks that they end at. Some minutes. From the top of the clone:
#     sh examples/labs/measure.sh [FOLDER]       # results/measured, if none is named
#     cp -r results/measured/. .                 # stores the rows: files lie there as in the clone
# On an H200, or on the card that DEVICE names: all rows of a lab have to be of one, and README.md
# says which labs have which. Lab 24 needs two of them:
#     DEVICE=H100 LABS=24_two_devices sh examples/labs/measure.sh
# Labs that have rows are left alone, unless LABS names them: LABS='05_coalescing 08_transpose'; so
# are the benchmarks, which have: BENCHMARKS='matmul histogram transpose'.
# The figures in solutions/*.md and bench/h200-products.md are then held against the new rows:
#     sh tests/test_labs.sh && sh tests/test_bench.sh
cd "$(dirname "$0")/../.." || exit 1
out=${1:-results/measured}
build=${BUILD:-build/cuda}
labs=$out/examples/labs/h200 rows=$out/bench/results stored=examples/labs/h200
failed=0

run() # PROGRAM, OPTION...: goes on after one that fails
{
    program=$1
    shift
    "$build/$program" "$@" </dev/null
    code=$?
    case $code,$program in # two have rows that are to fail
    0,* | 1,labs/22_tools | 1,labs/solutions/01_first_launch) ;;
    *)
        echo "measure.sh: exit code $code of $program $*"
        failed=1
        ;;
    esac
}

stall() { echo "smsp__average_warps_issue_stalled_$1_per_issue_active.ratio"; }

# What explains a lab's rows. Of warps: lanes of an instruction are its threads by instructions.
issued=smsp__issue_active.avg.pct_of_peak_sustained_active
shared=smsp__inst_executed_op_shared
waves=l1tex__data_pipe_lsu_wavefronts_mem_shared_op
counters_of() # FOLDER/LAB
{
    case $1 in
    # Which of the two roofs it is: the memory's bytes, the schedulers' clocks.
    counters/12_*) echo "instructions,$issued,achieved_occupancy,dram_read_bytes,dram_write_bytes" \
        "$(stall long_scoreboard),$(stall wait),$(stall math_pipe_throttle)" \
        "$(stall lg_throttle),$(stall mio_throttle),$(stall barrier)" ;;
    counters/15_*) echo "instructions,achieved_occupancy,$issued,${shared}_ld.sum,${waves}_ld.sum" \
        "load_sectors_per_request,$(stall long_scoreboard),$(stall short_scoreboard)" \
        "$(stall barrier)" ;;
    counters/16_*) echo "instructions,$issued,smsp__thread_inst_executed_per_inst_executed.ratio" \
        "shared_bank_conflicts,${waves}_atom.sum,lts__t_sectors_op_red.sum,dram_read_bytes" ;;
    counters/17_*) echo "instructions,achieved_occupancy,$issued,l1_hit_rate" \
        "smsp__inst_executed_op_local_ld.sum,smsp__inst_executed_op_local_st.sum" \
        "$(stall wait),$(stall long_scoreboard)" ;;
    # How much of the time the multiprocessors have work; and the link's bytes, apart: CUPTI refuses
    # to count these with others (CUPTI_ERROR_NOT_SUPPORTED).
    counters/18_*) echo "instructions,dram_read_bytes,dram_write_bytes" \
        "sm__cycles_active.avg.pct_of_peak_sustained_elapsed" ;;
    counters/link/18_*) echo "pcie__read_bytes.sum,pcie__write_bytes.sum" ;;
    # What adds, what converts, and whether the memory or one of these is waited for.
    counters/19_*) echo "instructions,$issued,dram_read_bytes,achieved_occupancy" \
        "smsp__inst_executed_pipe_xu.sum,smsp__sass_thread_inst_executed_op_hadd_pred_on.sum" \
        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum" \
        "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum" \
        "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum" \
        "$(stall long_scoreboard),$(stall wait),$(stall math_pipe_throttle)" ;;
    # What copies and who waits; of loads that have no registers, where their words go.
    counters/20_*) echo "instructions,$issued,dram_read_bytes,achieved_occupancy" \
        "smsp__inst_executed_op_ldgsts.sum,smsp__inst_executed_op_tma_ld.sum" \
        "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum" \
        "smsp__inst_executed_op_local_ld.sum,smsp__inst_executed_op_local_st.sum" \
        "$(stall long_scoreboard),$(stall barrier),$(stall wait)" ;;
    # What copies ask the L2 for, and what they get.
    counters/bytes/20_*) echo "l1tex__m_xbar2l1tex_read_bytes.sum,lts__t_sectors_op_read.sum" \
        "lts__t_requests_srcunit_tex_op_read.sum,dram_read_bytes" ;;
    # What a block's sum costs by a tree and by CUB, and whether anybody waits for it. Of lab 22
    # nothing is to be explained by counters; what tools say of it, tools.sh keeps.
    counters/21_*) echo "instructions,achieved_occupancy,$issued,dram_read_bytes" \
        "${shared}_ld.sum,${waves}_ld.sum,$(stall barrier),$(stall long_scoreboard)" ;;
    # What goes from block to block, to the busiest one, and to global memory.
    counters/23_*) echo "instructions,$issued,achieved_occupancy,dram_read_bytes" \
        "sm__cycles_active.avg.pct_of_peak_sustained_elapsed,${waves}_atom.sum" \
        "l1tex__t_requests_pipe_lsu_mem_dshared_op_atom.sum" \
        "l1tex__m_l1tex2xbar_write_bytes_mem_dshared.sum" \
        "l1tex__m_xbar2l1tex_read_bytes_mem_dshared.sum" \
        "l1tex__m_xbar2l1tex_read_bytes_mem_dshared.max,lts__t_sectors_op_red.sum" \
        "$(stall long_scoreboard),$(stall lg_throttle)" ;;
    # What goes over the first device's links, apart as well.
    counters/link/24_*) echo "nvltx__bytes_data_user.sum,nvlrx__bytes_data_user.sum" ;;
    # What a warp's words ask the L1, the L2 and the memory for.
    counters/07_*) echo "load_sectors_per_request,dram_read_bytes,dram_write_bytes,l2_read_bytes" \
        "l1_hit_rate,l2_hit_rate,smsp__sass_l1tex_tags_mem_global.sum,$issued" \
        "lts__t_requests_srcunit_tex_op_read.sum,lts__t_requests_srcunit_tex_op_write.sum" \
        "$(stall long_scoreboard)" ;;
    esac | tr ' ' ,
}

named() # BENCHMARK, OPTION...
{
    case " ${BENCHMARKS-} " in *" $1 "*) run "$@" ;; esac
}

# The folders that have no rows of a lab and are to have; all, if LABS names it.
missing() # LAB
{
    name=$(basename "$1")
    case $name in 24_*) [ "$devices" -gt 1 ] || return ;; esac
    for folder in . counters counters/bytes counters/link; do
        [ $folder = . ] || [ "$(counters_of "$folder/$name")" ] || continue
        case " ${LABS-} " in
        '  ') [ -f "$stored/$folder/$1.json" ] || echo $folder ;;
        *" $name "*) echo $folder ;;
        esac
    done
}

# Lab 18 has many rows, which take a third of a second each: counters explain some of them. Of lab
# 20's, only those with little on its way ask for other bytes.
count() # LAB, FOLDER
{
    case $1,$2 in
    *18_*) set -- "$1" "$2" --axis chunks=16 --axis steps=512 ;;
    *20_*,*bytes) set -- "$1" "$2" --axis kib=4,8,16 ;;
    *24_*) set -- "$1" "$2" --axis times=4 ;;
    esac
    lab=$1 folder=$2
    shift 2
    run "labs/$lab" --budget 0.02 --warmup 0 "$@" \
        --counters "$(counters_of "$folder/$(basename "$lab")")" --json "$labs/$folder/$lab.json"
}

# The last labs first: they are what has no rows most likely, and time on a GPU may end.
incomplete() # labs and solutions
{
    for folder in examples/labs examples/labs/solutions; do
        printf '%s\n' $folder/*.cu | sort -r
    done | while read -r source; do
        lab=$(echo "$source" | sed 's,examples/labs/,,; s,\.cu$,,')
        [ -z "$(missing "$lab")" ] || echo "$lab"
    done
}

devices=2 # as a test wants it, which names BUILD
[ "${BUILD-}" ] || devices=$(nvidia-smi -L | grep -c "${DEVICE:-H200}")
[ "$devices" -gt 0 ] || {
    echo "measure.sh: no ${DEVICE:-H200}. Your own rows: examples/labs/course.md, For the lecturer"
    exit 1
}
wanted=$(incomplete)
mkdir -p "$labs/solutions" "$labs/counters/solutions" "$labs/counters/bytes/solutions" \
    "$labs/counters/link/solutions" "$rows" || exit 1
targets=$(
    for lab in $wanted; do echo "$build/labs/$lab"; done
    for name in ${BENCHMARKS-}; do echo "$build/$name"; done
)
# shellcheck disable=SC2086 # several targets
[ "${BUILD-}" ] || [ -z "$targets" ] || make BACKEND=cuda $targets || exit 1

for lab in $wanted; do
    for folder in $(missing "$lab"); do
        case $folder in
        .) run "labs/$lab" --budget 0.15 --warmup 0.05 --json "$labs/$lab.json" ;;
        *) count "$lab" "$folder" ;;
        esac
    done
done

named matmul --full --budget 0.15 --warmup 0.1 --filter matmul/steps --filter matmul/size \
    --csv "$rows/h200-matmul.csv"
named matmul --full --budget 0.15 --warmup 0.1 --filter matmul/ahead --filter matmul/staged \
    --csv "$rows/h200-matmul-plans.csv"
named matmul --budget 0.15 --warmup 0.1 --filter matmul/steps --axis n=4096 --counters "$(
    echo "instructions,achieved_occupancy,$issued,${shared}_ld.sum,${waves}_ld.sum" \
        "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed" \
        "load_sectors_per_request,$(stall math_pipe_throttle),$(stall mio_throttle)" \
        "$(stall short_scoreboard),$(stall long_scoreboard),$(stall barrier),$(stall wait)" |
        tr ' ' ,)" --csv "$rows/h200-matmul-counters.csv"
named matmul --full --budget 0.05 --warmup 0.05 --filter matmul/size \
    --axis n=256,512,1000,1024,4095 --counters "$(
        echo "instructions,achieved_occupancy,$issued,$(stall long_scoreboard)" \
            "$(stall barrier),$(stall wait)" | tr ' ' ,)" \
    --csv "$rows/h200-matmul-sizes-counters.csv"
named histogram --full --budget 0.12 --warmup 0.05 --csv "$rows/h200-histogram.csv"
named histogram --budget 0.05 --warmup 0.05 --axis n=1073741824 --counters "$(
    echo "shared_bank_conflicts,$issued,dram_read_bytes" \
        "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed" \
        "$(stall long_scoreboard),$(stall mio_throttle)" | tr ' ' ,)" \
    --csv "$rows/h200-histogram-counters.csv"
named histogram --full --budget 0.05 --warmup 0.05 --axis n=1048576,16777216,268435456 \
    --counters "instructions,$issued,dram_read_bytes,$(stall barrier),$(stall long_scoreboard)" \
    --csv "$rows/h200-histogram-sizes-counters.csv"
named transpose --full --budget 0.12 --warmup 0.05 --csv "$rows/h200-transpose.csv"
named transpose --full --budget 0.05 --warmup 0.05 --axis side=8191,8192,8196,16384,32768 \
    --counters "$(
        echo "dram_read_bytes,dram_write_bytes,l2_hit_rate,lts__t_sectors_op_read.sum" \
            "lts__t_sectors_op_write.sum,$(stall long_scoreboard),$(stall lg_throttle)" |
            tr ' ' ,)" --csv "$rows/h200-transpose-counters.csv"
exit $failed
