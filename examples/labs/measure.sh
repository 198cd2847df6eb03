#!/bin/sh
# measure.sh - measures, on a GPU, what has no stored rows yet: labs, their solutions, the counters
# of both, and the benchmarks that they end at. Some minutes. From the top of the clone:
#     sh examples/labs/measure.sh [FOLDER]       # results/measured, if none is named
#     cp -r results/measured/. .                 # stores the rows: files lie there as in the clone
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
    "$build/$program" "$@" </dev/null || {
        echo "measure.sh: exit code $? of $program $*"
        failed=1
    }
}

stall() { echo "smsp__average_warps_issue_stalled_$1_per_issue_active.ratio"; }

# What explains a lab's rows. Of warps: lanes of an instruction are its threads by instructions.
issued=smsp__issue_active.avg.pct_of_peak_sustained_active
shared=smsp__inst_executed_op_shared
waves=l1tex__data_pipe_lsu_wavefronts_mem_shared_op
counters_of() # LAB
{
    case $1 in
    15_*) echo "instructions,achieved_occupancy,$issued,${shared}_ld.sum,${waves}_ld.sum" \
        "load_sectors_per_request,$(stall long_scoreboard),$(stall short_scoreboard)" \
        "$(stall barrier)" ;;
    16_*) echo "instructions,$issued,smsp__thread_inst_executed_per_inst_executed.ratio" \
        "shared_bank_conflicts,${waves}_atom.sum,lts__t_sectors_op_red.sum,dram_read_bytes" ;;
    17_*) echo "instructions,achieved_occupancy,$issued,l1_hit_rate" \
        "smsp__inst_executed_op_local_ld.sum,smsp__inst_executed_op_local_st.sum" \
        "$(stall wait),$(stall long_scoreboard)" ;;
    # The link's bytes, and how much of the time the multiprocessors have work.
    18_*) echo "instructions,dram_read_bytes,dram_write_bytes,pcie__read_bytes.sum" \
        "pcie__write_bytes.sum,sm__cycles_active.avg.pct_of_peak_sustained_elapsed" ;;
    # What adds, what converts, and whether the memory or one of these is waited for.
    19_*) echo "instructions,$issued,dram_read_bytes,achieved_occupancy" \
        "smsp__inst_executed_pipe_xu.sum,smsp__sass_thread_inst_executed_op_hadd_pred_on.sum" \
        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum" \
        "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum" \
        "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum" \
        "$(stall long_scoreboard),$(stall wait),$(stall math_pipe_throttle)" ;;
    esac | tr ' ' ,
}

named() # BENCHMARK, OPTION...
{
    case " ${BENCHMARKS-} " in *" $1 "*) run "$@" ;; esac
}

without_rows() # of labs and solutions
{
    for source in examples/labs/*.cu examples/labs/solutions/*.cu; do
        lab=$(echo "$source" | sed 's,examples/labs/,,; s,\.cu$,,')
        case " ${LABS-} " in
        '  ') [ -f "$stored/$lab.json" ] || echo "$lab" ;;
        *" $(basename "$lab") "*) echo "$lab" ;;
        esac
    done
}

[ "${BUILD-}" ] || nvidia-smi -L | grep H200 || {
    echo "measure.sh: no H200. Rows of another device: examples/labs/course.md, For the lecturer"
    exit 1
}
wanted=$(without_rows)
mkdir -p "$labs/solutions" "$labs/counters/solutions" "$rows" || exit 1
targets=$(
    for lab in $wanted; do echo "$build/labs/$lab"; done
    for name in ${BENCHMARKS-}; do echo "$build/$name"; done
)
# shellcheck disable=SC2086 # several targets
[ "${BUILD-}" ] || [ -z "$targets" ] || make BACKEND=cuda $targets || exit 1

for lab in $wanted; do
    run "labs/$lab" --budget 0.15 --warmup 0.05 --json "$labs/$lab.json"
    counters=$(counters_of "$(basename "$lab")")
    [ -z "$counters" ] || run "labs/$lab" --budget 0.02 --warmup 0 --counters "$counters" \
        --json "$labs/counters/$lab.json"
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
named histogram --full --budget 0.12 --warmup 0.05 --csv "$rows/h200-histogram.csv"
named histogram --budget 0.05 --warmup 0.05 --axis n=1073741824 --counters "$(
    echo "shared_bank_conflicts,$issued,dram_read_bytes" \
        "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed" \
        "$(stall long_scoreboard),$(stall mio_throttle)" | tr ' ' ,)" \
    --csv "$rows/h200-histogram-counters.csv"
named transpose --full --budget 0.12 --warmup 0.05 --csv "$rows/h200-transpose.csv"
exit $failed
