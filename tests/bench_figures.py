# bench_figures.py - holds the figures of bench/h100.md, bench/h200-products.md, bench/others.md,
# bench/timers.md and of a part of bench/h200-kernels.md against the stored rows: whole rows of
# their tables, and sentences with the figures in brackets.
import csv
import math
import re
import sys

import quoted

PRODUCTS, OTHERS, TIMERS = "bench/h200-products.md", "bench/others.md", "bench/timers.md"
KERNELS, H100 = "bench/h200-kernels.md", "bench/h100.md"
ISSUED = "smsp__issue_active.avg.pct_of_peak_sustained_active"
DELIVERING = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"


def rows_in(name):
    with open(f"bench/results/{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def stored(name, card="h200"):
    return rows_in(f"{card}-{name}")


MATMUL, COUNTED = stored("matmul"), {row["kernel"]: row for row in stored("matmul-counters")}
OF_SIZES = stored("matmul-sizes-counters")
TRANSPOSES, HISTOGRAMS = stored("transpose"), stored("histogram")
SECTORS = "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum"
MOVED = "dram_read_bytes", "dram_write_bytes"
BARRIER = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"
BUSY = [float(row[DELIVERING]) for row in stored("histogram-counters")
        if row["kernel"] == "histogram"]
BESIDE = stored("others")
TENSOR, MULTIPROCESSORS = stored("tensor"), 132
SIZES = (256, 512, 1000, 1024, 2048, 4095, 4096, 8192)
BYTES = {20: "2²⁰", 24: "2²⁴", 28: "2²⁸", 30: "2³⁰", 32: "2³²"}
DATA = ("uniform", "skewed", "one bin")


def one(table, **wanted):
    (found,) = (row for row in table if wanted.items() <= row.items())
    return found


# ---- products, transposes, histograms --------------------------------------------------------


def tflops(row):
    return float(row["gflops"]) / 1e3


def step(kernel):
    return one(MATMUL, bench="matmul/steps", n="4096", kernel=kernel)


def size(kernel, n):
    return one(MATMUL, bench="matmul/size", n=str(n), kernel=kernel)


def share(n, kind):
    """Of the library's rate, in %, in turns."""
    return 100 * float(size(f"library {kind}", n)["ratio"])


def ratio(table, **wanted):
    return float(one(table, **wanted)["ratio"])


def transposed(side):
    return ratio(TRANSPOSES, kernel="copy", side=str(side))


def counted(log2, data):
    return ratio(HISTOGRAMS, kernel="read", n=str(1 << log2), data=data)


def longer(log2, data):
    """How much longer than reading a histogram takes, in us."""
    times = [float(one(HISTOGRAMS, kernel=kernel, n=str(1 << log2), data=data)["median_s"])
             for kernel in ("histogram", "read")]
    return 1e6 * (times[0] - times[1])


def of_copy(side, *counters):
    """How much a transpose counts, of what a copy does."""
    sums = [sum(float(one(stored("transpose-counters"), kernel=kernel, side=str(side))[counter])
                for counter in counters) for kernel in ("transpose", "copy")]
    return sums[0] / sums[1]


def of_bytes(log2, counter, data="uniform"):
    """What a histogram of so many bytes counts."""
    return float(one(stored("histogram-sizes-counters"), kernel="histogram", n=str(1 << log2),
                     data=data)[counter])


def of_size(kernel, n, counter):
    return float(one(OF_SIZES, kernel=kernel, n=str(n))[counter])


def blocks(kernel, n):
    """Of the first kernel that is launched."""
    grid = re.search(r"<<<([0-9x]+),", one(OF_SIZES, kernel=kernel, n=str(n))["nodes"])[1]
    return math.prod(map(int, grid.split("x")))


def at_size(kernel, n):
    """Instructions of a multiply-add of a warp."""
    return of_size(kernel, n, "instructions") / (n**3 / 32)


def per_multiply_add(kernel, counter):
    return float(COUNTED[kernel][counter]) / (4096**3 / 32)


def waits(kernel, *reasons):
    return [float(COUNTED[kernel][f"smsp__average_warps_issue_stalled_{reason}_per_issue_active"
                                  ".ratio"]) for reason in reasons]


def issued(*kernels):
    return [float(COUNTED[kernel][ISSUED]) for kernel in kernels]


def product_rows():
    """The rows of the tables, or how they end."""
    for kernel in ("naive", "coalesced", "tiled", "registers", "vectors", "ahead", "tensor",
                   "staged"):
        row = step(kernel)
        library = step("library bf16" if kernel in ("tensor", "staged") else "library f32")
        part = 100 * tflops(row) / tflops(library)
        noisy = " †" * ("noisy" in row["flags"])
        yield f" | {tflops(row):.3g}{noisy} | {part:.3g} % |\n"
    for n in SIZES:
        cells = [f"{tflops(size(own, n)):.3g}, {tflops(size(f'library {kind}', n)):.3g}"
                 f" | {share(n, kind):.1f} %" for own, kind in (("ahead", "f32"),
                                                               ("staged", "bf16"))]
        yield f"\n| {n} | {' | '.join(cells)} |\n"
    for row in TRANSPOSES:
        if row["kernel"] == "transpose":
            yield (f"\n| {row['side']} | {float(row['gbps']):.0f} | "
                   f"{transposed(row['side']):.3f} |\n")
    for log2, named in BYTES.items():
        cells = []
        for data in DATA:
            rate = float(one(HISTOGRAMS, kernel="histogram", n=str(1 << log2), data=data)["gbps"])
            cells.append(f"{rate:.0f}, {counted(log2, data):.3f}")
        yield f"\n| {named} | {' | '.join(cells)} |\n"


def ends(values):
    return min(values), max(values)


def product_phrases():
    large, odd = (1024, 2048, 4096, 8192), (1000, 4095)
    side = one(TRANSPOSES, kernel="copy", side="16384")
    big = [counted(log2, data) for log2 in (28, 30, 32) for data in DATA]
    little = [counted(log2, data) for log2 in (20, 24) for data in DATA]
    library = step("library bf16")
    yield "| [84.8] … [90.2] % at n = 1024, 2048, 4096, 8192 |", *ends(
        [share(n, "f32") for n in large])
    yield "| [55.7], [61.5] % at 256, 512; [72.9], [75.5] % at 1000, 4095 |", *(
        share(n, "f32") for n in (256, 512, *odd))
    yield "| [82.8], [68.0] % at n = 256, 512; [216.1] % at 4095 |", *(
        share(n, "bf16") for n in (256, 512, 4095))
    yield "| [46.7] … [51.5] % at 1000, 1024, 2048, 4096, 8192 |", *ends(
        [share(n, "bf16") for n in (1000, *large)])
    yield ("| [0.918] at 8192 | [0.850] at 32768; [0.651], [0.698] at 8191, 8196; neither at "
           "16384: [0.900] ([0.899] … [0.901]) |", *map(transposed, (8192, 32768, 8191, 8196)),
           float(side["ratio"]), float(side["ratio_lo"]), float(side["ratio_hi"]))
    yield "| [0.941] … [0.995] from 2²⁸ bytes on | [0.509] … [0.602] up to 2²⁴", *ends(
        big), *ends(little)
    yield ("cuBLAS in bf16, [675] TFLOP/s ± [14] %", tflops(library),
           50 * (float(library["ci_hi_s"]) - float(library["ci_lo_s"]))
           / float(library["median_s"]))
    yield "`staged` is at [50.2] %.", share(4096, "bf16")
    yield "The counters say [1.50], since", per_multiply_add("tiled", WAVES)
    yield "is busy in [99], [74] and [83] % of the clocks", *(
        float(COUNTED[kernel][DELIVERING]) for kernel in ("naive", "coalesced", "tiled"))
    yield "[0.25] clocks for a multiply-add in `registers`", per_multiply_add("registers", WAVES)
    for kernel in ("vectors", "ahead"):
        yield "and [0.19] in `vectors` and `ahead`", per_multiply_add(kernel, WAVES)
    yield "`registers` executes [1.37] instructions, `vectors` [1.11]", *(
        per_multiply_add(kernel, "instructions") for kernel in ("registers", "vectors"))
    yield "are issued in [69] and [63] % of the clocks", *issued("registers", "vectors")
    reasons = "long_scoreboard", "barrier", "short_scoreboard"
    yield ("([1.0] clocks, `long_scoreboard`), for the others at the barrier ([0.6]) and for "
           "shared memory ([0.5]); with tiles ahead these are [0.04], [0.01] and [0.16].",
           *waits("vectors", *reasons), *waits("ahead", *reasons))
    for kernel in ("ahead", "library f32"):
        yield ("execute [1.1] instructions for each multiply-add and have [8] warps",
               per_multiply_add(kernel, "instructions"),
               64 * float(COUNTED[kernel]["achieved_occupancy"]))
    yield "issue in [90] % of the clocks, these in [77] %", *issued("library f32", "ahead")
    reasons = "long_scoreboard", "short_scoreboard", "barrier"
    yield ("instruction in [19] % of the clocks: it waits for memory ([9.6] clocks an "
           "instruction), for shared memory ([3.0]) and at the barrier ([2.6])", *issued("tensor"),
           *waits("tensor", *reasons))
    yield "take that to [0.1], [0.1] and [0.2].", *waits("staged", *reasons)
    yield ("are [1.9] clocks of the instructions' own fixed latency (`wait`) and [1.2] for the "
           "tensor cores (`math_pipe_throttle`): an instruction is issued in [37] %",
           *waits("staged", "wait", "math_pipe_throttle"), *issued("staged"))
    odd_s, even_s = (float(size("library bf16", n)["median_s"]) for n in (4095, 4096))
    yield "cuBLAS takes [5.5] times as long for 4095", odd_s / even_s
    yield ("At 256 and 512 there are [16] and [64] blocks",
           *(blocks("ahead", n) for n in (256, 512)))
    for n in (256, 512):
        yield "[4] warps on each", 64 * of_size("ahead", n, "achieved_occupancy")
        yield "cuBLAS has four blocks for each tile, [256] in all", blocks("library f32", n)
    yield "issue in [56] and [58] % of the clocks", *(
        of_size("ahead", n, ISSUED) for n in (256, 512))
    yield ("a multiply-add takes [1.49] and [1.20] instructions, in place of [1.33] and [1.15] at "
           "1024 and 4096 (at 1000 tiles beyond the end make that [1.06] times as many), and they "
           "are issued in [69] and [71] % of the clocks, in place of [73] and [77]",
           *(at_size("ahead", n) for n in (1000, 4095, 1024)),
           per_multiply_add("ahead", "instructions"), 1024**2 * 1008 / 1000**3,
           *(of_size("ahead", n, ISSUED) for n in (1000, 4095, 1024)), *issued("ahead"))
    yield "cuBLAS's are [1.31] and [1.13], in [84] and [90] %", *(
        of(n) for of in (lambda n: at_size("library f32", n),
                         lambda n: of_size("library f32", n, ISSUED)) for n in odd)
    for n, name in ((4095, "cutlass_75_tensorop_s1688gem"), (4096, "nvjet_sm90")):
        yield f"`{name}…`" if name in size("library bf16", n)["nodes"] else f"no {name}",
    yield ("with 8196 the L2 reads [1.07] and writes [1.13] times as many sectors, with 8191 "
           "[1.11] and [1.21] times, about what the parts of sectors make; the memory moves "
           "[1.02] and [1.00] times as many bytes. That alone doesn't make these [1.43] and "
           "[1.55] times",
           *(of_copy(side, counter) for side in (8196, 8191) for counter in SECTORS),
           *(of_copy(side, *MOVED) for side in (8196, 8191)),
           *(of_copy(side, "median_s") for side in (8196, 8191)))
    yield "are those of the copy, within [0.1] %", 100 * max(
        abs(of_copy(side, *counters) - 1) for side in (8192, 16384, 32768)
        for counters in (MOVED, *((counter,) for counter in SECTORS)))
    yield "by [7] % from 8192 to 32768", 100 - 100 * float(
        one(TRANSPOSES, kernel="transpose", side="32768")["gbps"]) / float(
            one(TRANSPOSES, kernel="transpose", side="8192")["gbps"])
    yield "pipe is [53] … [54] % busy", *ends(BUSY)
    yield "takes [1.7] … [3.7] µs longer", *ends(
        [longer(log2, data) for log2 in (20, 24, 28) for data in DATA])
    yield "loads 64 KiB before it counts them, which takes [1.1] µs at [29] a clock", (
        2**16 / 29 / 1980), 29
    counts = [of_bytes(log2, "instructions") / 1e6 for log2 in (20, 24, 28)]
    yield ("[0.90] million instructions, whatever the bytes, of [1.00], [2.58] and [27.2] million",
           counts[0] - (counts[1] - counts[0]) / 15, *counts)
    yield "waits for [4.7], [2.3] … [3.2] and [0.6] … [0.7] clocks an instruction", of_bytes(
        20, BARRIER), *(end for log2 in (24, 28)
                        for end in ends([of_bytes(log2, BARRIER, data) for data in DATA]))


# ---- tensor cores ----------------------------------------------------------------------------


def per_clock(table, way, kind, data):
    """FLOP of a multiprocessor; nothing: there is no such row."""
    for row in table:
        if (row["bench"], row["type"], row["data"]) == (f"tensor/{way}", kind, data):
            return 1e3 * float(row["gflops"]) / float(row["kernel_clock_mhz"]) / MULTIPROCESSORS
    return None


def stated_rates(arch):
    """Operations in a clock of a multiprocessor, by unit, of the table in bench/rates.h."""
    with open("bench/rates.h", encoding="utf-8") as file:
        text = file.read()
    names = re.search(r"enum \{(.*?)UNITS,", text, re.S)[1]
    names = re.findall(r"[A-Z]\w+", re.sub(r"/\*.*?\*/", "", names))
    rates = re.search(r'\{"%s", \{([^}]*)\}\}' % arch, text)[1].split(",")
    return dict(zip(names, map(int, rates)))


def tensor_rows(table=TENSOR):
    rates = stated_rates("sm_90")
    for kind, named in (("f16", "fp16, sums in fp32"), ("bf16", "bf16"), ("tf32", "tf32"),
                        ("f64", "fp64"), ("i8", "int8"), ("e4m3", "fp8, e4m3")):
        stated = rates[f"TENSOR_{kind.upper()}"]
        cells = [per_clock(table, way, kind, data) for way in ("mma", "wgmma")
                 for data in ("zeros", "random")]
        yield f"\n| {named} | {stated} | " + " | ".join(
            "–" if cell is None else f"{cell:.0f} ({100 * cell / stated:.1f} %)"
            for cell in cells) + " |\n"


def tensor_phrases():
    rates, amd = stated_rates("sm_90"), [stated_rates(arch) for arch in ("gfx90a", "gfx942")]
    kinds = [f"TENSOR_{kind}" for kind in ("F16", "BF16", "I8", "F64")]
    (gfx90a,) = {amd[0][kind] for kind in kinds[:3]}
    yield ("What is stated there is [1024] a clock and compute unit for fp16, bf16 and int8, and "
           "[256] for fp64; on gfx942 [2048], [2048], [4096] and [256], and [1024] for tf32.",
           gfx90a, amd[0][kinds[3]], *(amd[1][kind] for kind in (*kinds, "TENSOR_TF32")))
    mix = one(stored("nbody"), kernel="n-body's mix")
    made = 1e9 * float(mix["gflops"]) / 13
    clock = 1e6 * float(mix["sm_clock_mhz"]) * MULTIPROCESSORS
    yield "they could make [1.8] times as many", rates["UNIT_SPECIAL"] * clock / made
    clocks = {(row["bench"], row["type"], row["data"]):
              (float(row["kernel_clock_mhz"]), float(row["sm_clock_mhz"])) for row in TENSOR}
    f16, tf32 = (clocks["tensor/wgmma", kind, "zeros"] for kind in ("f16", "tf32"))
    yield ("Of zeros in tf32 it was [1798] MHz by `wgmma` where the driver said [1980]", *tf32)
    yield "By fp64 it stays at [1979]", clocks["tensor/mma", "f64", "zeros"][0]
    yield ("of random fp16 it fell to [1533], of zeros to [1634]",
           clocks["tensor/wgmma", "f16", "random"][0], f16[0])
    yield "makes [98.8] … [98.9] % of zeros", *zeros_pct(OF["tensor"])
    counted = {row["type"]: row for row in stored("tensor-counters")
               if row["bench"] == "tensor/mma"}
    share = "avg.pct_of_peak_sustained_active"
    yield "its pipe is busy in [99.7] %", float(
        counted["f16"][f"sm__pipe_tensor_op_hmma_cycles_active.{share}"])
    yield "an instruction in [91.0] %", float(counted["e4m3"][f"smsp__issue_active.{share}"])


# ---- an H100 ---------------------------------------------------------------------------------

OF = {name: stored(name, "h100") for name in ("units", "tensor", "nbody", "in_flight", "clusters")}
COUNTS_OF = {name: stored(f"{name}-counters", "h100") for name in OF if name != "tensor"}
UNIT_OF = {"fma f32": "F32", "add3 i32": "ADD", "mad i32": "MULTIPLY_ADD", "and xor i32": "LOGIC",
           "shift i32": "SHIFT", **dict.fromkeys(
               ("rcp f32", "rsqrt f32", "exp2 f32", "sin f32"), "SPECIAL")}
WAYS = "loads", "copies", "bulk copies"
SM_HZ = 1.98e9
NETWORK = ("l1tex__m_l1tex2xbar_write_bytes_mem_dshared.sum",
           "l1tex__m_xbar2l1tex_read_bytes_mem_dshared.sum")


def results_a_clock(row):
    return float(row["elements_per_s"]) / float(row["kernel_clock_mhz"]) / 1e6 / MULTIPROCESSORS


def flying(bench, way, kib):
    """GB/s."""
    return float(one(OF["in_flight"], bench=f"in_flight/{bench}", way=way, kib=str(kib))["gbps"])


def takes_ns(bench, way, kib, tile=None):
    """What is in flight, or one tile of that many KiB."""
    return (tile or kib) * 1024 * MULTIPROCESSORS / flying(bench, way, kib)


def zeros_pct(table):
    return ends([100 * per_clock(table, "wgmma", kind, "zeros")
                 / stated_rates("sm_90")[f"TENSOR_{kind.upper()}"]
                 for kind in ("f16", "bf16", "tf32", "i8", "e4m3")])


def cycles(access, own):
    return ends([float(row["cycles"]) for row in OF["clusters"]
                 if row["access"] == access and (row["rank"] == "0") == own])


def peer_rate(cluster, distance):
    """TB/s, bytes in a clock of a multiprocessor, and how many of these there are."""
    row = one(OF["clusters"], bench="clusters/rate", cluster=str(cluster), distance=str(distance))
    blocks = int(re.search(r"<<<(\d+),", row["nodes"])[1])
    return float(row["gbps"]) / 1e3, float(row["gbps"]) * 1e9 / SM_HZ / blocks, blocks


def h100_rows():
    rates = {**stated_rates("sm_90"), "UNIT_F32": 256}  # that of fp32 is in gpumb.h
    for row in OF["units"]:
        counts = one(COUNTS_OF["units"], operation=row["operation"])
        pipes = [100 * float(counts[f"smsp__inst_executed_pipe_{pipe}.sum"])
                 / float(counts["instructions"]) for pipe in ("alu", "fma", "fmaheavy", "xu")]
        unit = UNIT_OF.get(row["operation"])
        products = 2 if unit in ("F32", "MULTIPLY_ADD") else 1
        yield (f"\n| `{row['operation']}` | "
               f"{rates[f'UNIT_{unit}'] // products if unit else '–'} | "
               f"{results_a_clock(row):.1f} | "
               + "".join(f"{share:.1f} % | " for share in (*pipes, float(counts[ISSUED]))))
    yield from tensor_rows(OF["tensor"])
    for kib in (4, 8, 16, 32, 64, 128, 192):
        yield f"\n| {kib} KiB | " + " | ".join(
            f"{flying(bench, way, kib):.0f}" for bench in ("memory", "l2") for way in WAYS) + " |\n"


def unit_phrases():
    units = {row["operation"]: row for row in OF["units"]}
    yield "The kernels have counted [1987] … [2001] MHz", *ends(
        [float(row["kernel_clock_mhz"]) for row in OF["units"]])
    yield "are at [100.3] and [100.2] % of the peak at 1980", *(
        float(units[name]["pct_peak"]) for name in ("mad i32", "sin f32"))
    yield "at 64 a clock `dp4a` makes [510] operations", 8 * results_a_clock(units["dp4a i8"])
    yield "take [38] … [50] % of the issue slots", *ends(
        [float(row[ISSUED]) for row in COUNTS_OF["units"]
         if UNIT_OF.get(row["operation"]) == "SPECIAL"])
    yield "is met**: [98.8] … [98.9] %.", *zeros_pct(OF["tensor"])
    yield "whose rows of one block have [97.2] … [98.2] %.", *zeros_pct(TENSOR)
    yield "leave `wgmma` [1567] … [1761] MHz, zeros [1724] … [1866].", *(
        end for data in ("random", "zeros") for end in ends(
            [float(row["kernel_clock_mhz"]) for row in OF["tensor"]
             if (row["bench"], row["data"]) == ("tensor/wgmma", data)]))


def mix_phrases():
    yield ("fill [99.8] % of the issue slots, the mix of an interaction (12 instructions and a "
           "root) [92.7] %; the counters say [99.8] and [92.8] %.",
           *(float(one(table, kernel=kernel)[column])
             for table, column in ((OF["nbody"], "measured_pct"), (COUNTS_OF["nbody"], ISSUED))
             for kernel in ("multiply-adds", "n-body's mix")))
    made = 1e9 * float(one(OF["nbody"], kernel="n-body's mix")["gflops"]) / 13
    yield "could make these are [57.0] %.", 100 * made / (
        stated_rates("sm_90")["UNIT_SPECIAL"] * SM_HZ * MULTIPROCESSORS)
    plain, pairs = (tflops(one(OF["nbody"], kernel=kernel))
                    for kernel in ("8 x 4 approximate", "pairs 8 x 2"))
    yield "bounds plain forms at [47.7] TFLOP/s", 20 * made / 1e12
    yield "has [42.9], [89.9] % of that", plain, 100 * plain / (20 * made / 1e12)
    yield "not bound by this mix: [60.8].", pairs
    yield "[9] of 213 rows", len(OF["nbody"])
    for name, said in (("units", "[11] rows of each"), ("tensor", "[22] rows, as those"),
                       ("in_flight", "[42] rows. A block"), ("clusters", "[38] rows. One thread")):
        yield said, len(OF[name])
    yield "here the memory's peak is [3352] GB/s", float(OF["in_flight"][0]["peak_gbps"])


def flight_phrases():
    of_memory = [row for row in OF["in_flight"] if row["bench"] == "in_flight/memory"]
    yield ("enough for memory**: [88.9] … [92.5] % of its peak, and never more than [93.5].",
           *ends([float(row["pct_peak"]) for row in of_memory if row["kib"] == "32"]),
           max(float(row["pct_peak"]) for row in of_memory))
    first = takes_ns("memory", "loads", 4)
    yield ("a byte takes [433] ns with 4 KiB of loads in flight, the instructions between two "
           "loads among them. With that [10.7] KiB would do for the peak, but it grows with the "
           "load: [1438] ns with 32 KiB.", first,
           float(of_memory[0]["peak_gbps"]) * first / MULTIPROCESSORS / 1024,
           takes_ns("memory", "loads", 32))
    yield "**The L2** takes [193] ns a byte with 4 KiB", takes_ns("l2", "loads", 4)
    small = 8, 16, 32
    yield "get [3250] … [3371] GB/s from the L2", *ends(
        [flying("l2", "bulk copies", kib) for kib in small])
    yield "takes its block [160] … [166] ns", *ends(
        [takes_ns("l2", "bulk copies", kib, 4) for kib in small])
    yield "One of 8 KiB takes [169] ns", takes_ns("l2", "bulk copies", 64, 8)
    yield "one of 16 KiB [290] ns", takes_ns("l2", "bulk copies", 128, 16)
    counts = COUNTS_OF["in_flight"]
    alone = [row for row in counts if row["way"] != "bulk copies"]
    data, barrier = (f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"
                     for reason in ("long_scoreboard", "barrier"))
    for row in counts:
        yield "all ways move [1.000] times", float(row["dram_read_bytes"]) / float(row["bytes"])
    for row in alone:
        yield "at a barrier [0.00])", float(row[barrier])
    yield "(`long_scoreboard`, [10.9] … [23.8] clocks an instruction", *ends(
        [float(row[data]) for row in alone])
    yield "at the barrier, too: [0.5], [2.0] and [1.0] clocks with 8, 32 and 128 KiB", *(
        float(one(counts, way="bulk copies", kib=kib)[barrier]) for kib in ("8", "32", "128"))


def cluster_phrases():
    (own, _), others = cycles("load", True), cycles("load", False)
    yield "| a load, cycles | [36.65] | [195.2] … [212.7] |", own, *others
    yield ("| an atomic addition, cycles | [55.2] | [201.7] … [220.2] |",
           cycles("atomic addition", True)[0], *cycles("atomic addition", False))
    yield "[5.3] … [5.8] times the latency of one's own", *(other / own for other in others)
    yield "clusters of 2 | [29.7] TB/s | [3.95] TB/s |", *(peer_rate(2, far)[0] for far in (0, 1))
    yield "| of 4, on 120 multiprocessors | [27.0] | [2.41] and [2.71] (1", *(
        peer_rate(4, far)[0] for far in range(3))
    yield "| of 8, on 120 multiprocessors | [26.9] | [2.38], [2.71], [2.31], [2.71] (1", *(
        peer_rate(8, far)[0] for far in range(5))
    for cluster in (4, 8):
        yield "run on [120] multiprocessors at once, not on all [132].", *(
            peer_rate(n, 1)[2] for n in (cluster, 2))
    larger = [peer_rate(*at)[1] for at in ((4, 1), (4, 2), (8, 1), (8, 2), (8, 3), (8, 4))]
    yield ("reads [114] bytes a clock of its own, [15.1] of its neighbour's in a cluster of 2, and "
           "[9.7] … [11.4] in larger ones", peer_rate(2, 0)[1], peer_rate(2, 1)[1], *ends(larger))
    for row in COUNTS_OF["clusters"]:
        for over in (float(row[name]) / float(row["bytes"]) for name in NETWORK):
            yield ("one's own, [0] bytes leave the multiprocessor" if row["distance"] == "0" else
                   "carries [1.031] times the bytes asked for. That is 33/32"), over


def anchor_phrases():
    yield "H100 (1) | [195.2] … [212.7] |", *cycles("load", False)
    yield "114 multiprocessors (2) | [3.95], [2.71] |", peer_rate(2, 1)[0], peer_rate(4, 2)[0]
    l2 = flying("l2", "copies", 64)
    again = one(stored("zcopy"), kernel="read again, past L1", footprint=str(16 << 20))
    yield "bytes a clock (2) | [3843] at 1980 MHz |", l2 * 1e9 / SM_HZ
    yield "9.77, H200 (3) | [7.61]; H200, past the L1: [8.17] (both", l2 / 1e3, float(
        again["gbps"]) / 1e3
    yield "over 95 % (2) | [98.8] … [98.9] % |", *zeros_pct(OF["tensor"])
    for kind in ("f16", "bf16", "tf32", "i8"):
        yield "in the mean (2) | [66.4] % but for fp64", 100 * per_clock(
            OF["tensor"], "mma", kind, "zeros") / stated_rates("sm_90")[f"TENSOR_{kind.upper()}"]
    yield "128, 64 (4) | [123.4], [63.2] … [63.8] |", results_a_clock(
        one(OF["units"], operation="fma f32")), *ends(
            [results_a_clock(one(OF["units"], operation=name))
             for name in ("add3 i32", "mad i32", "and xor i32", "shift i32")])
    levels = {row["kernel"]: float(row["cycles"]) for row in stored("latency")
              if row["bench"] == "latency/levels"}
    yield "H100 PCIe (3) | H200: [32], [281], [512], [659] |", *(
        levels[name] for name in ("L1", "L2", "L2, far part", "memory"))
    yield "nearer than the L2 ([281] cycles on the H200)", levels["L2"]
    place = one(stored("latency"), bench="latency/place", place="shared memory", footprint="4096")
    yield "`ld.shared` takes [23.0] cycles", float(place["cycles"])


def h100_phrases():
    for part in (unit_phrases, mix_phrases, flight_phrases, cluster_phrases, anchor_phrases):
        yield from part()


# ---- programs of others ----------------------------------------------------------------------

# Rows of the page's table: program, which of its regions, what these are called there.
GROUPS = [
    ("babelstream", "copy|mul|add|triad", "copy, mul, add, triad"), ("babelstream", "dot", "dot"),
    ("gpu-stream", "32 .*|128 .*", "6 kernels, blocks of 32, 128"),
    ("gpu-stream", "512 .*", "6 kernels, blocks of 512"),
    ("gpu-l2-cache", r"\d{1,3} blocks", "3 … 768 blocks"),
    ("gpu-l2-cache", r"\d{4} blocks", "1536 … 6144 blocks"),
    ("gpu-latency", ".*", "16 … 6291456 words"), ("nbody", ".*", "a step"),
    ("simpleStreams", "memcopy", "copy to the host"), ("simpleStreams", "kernel", "kernel"),
    ("simpleStreams", "4 streams", "4 streams of both"), ("matrixMul", ".*", "product"),
    ("transpose", "naive", "naive"), ("transpose", "coalesced", "coalesced"),
    ("transpose", "(?!naive|coalesced).*", "the 6 others"),
    ("histogram", "histogram64", "64 bins"), ("histogram", "histogram256", "256 bins"),
    ("scan", "Short", "short arrays"), ("scan", "Large", "large arrays"),
    ("reduction", ".*", "first of two kernels"),
]


def between(values, digits):
    low, high = (digits % value for value in ends(values))
    return low if low == high else f"{low} … {high}"


def in_us(values):
    """In µs, in ms where that is shorter."""
    unit, factor = ("ms", 1e3) if min(values) >= 0.9e-3 else ("µs", 1e6)
    low, high = (f"{factor * value:.4g}" for value in ends(values))
    return f"{low} {unit}" if low == high else f"{low} … {high} {unit}"


def other_rows():
    for program, regions, called in GROUPS:
        group = [row for row in BESIDE
                 if row["program"] == program and re.fullmatch(regions, row["region"])]
        (around,) = {row["own_meaning"] for row in group}
        own, ours = ([float(row[column]) for row in group] for column in ("own_s", "gpumb_s"))
        yield (f"\n| {program} | {called} | {around} | {in_us(own)} | {in_us(ours)} | "
               f"{between([float(row['ratio']) for row in group], '%.3f')} |\n")


def beside(program, region):
    return one(BESIDE, program=program, region=region)


def us_of(program, region, column="gpumb_s"):
    return 1e6 * float(beside(program, region)[column])


def more(program, *regions):
    """How much longer their figures are, in us."""
    return [us_of(program, region, "own_s") - us_of(program, region) for region in regions]


def ratios(program, *regions):
    return [float(beside(program, region)["ratio"]) for region in regions]


def other_phrases():
    short = [row for row in BESIDE if "launch-bound" in row["flags"]]
    long = [row for row in BESIDE if float(row["gpumb_s"]) >= 1.1e-3]
    yield "on an H200: [60]", len(BESIDE)
    yield ("take [1.8] … [2.2] µs are all said to take [4.5] … [5.0], a ratio of [2.18] … "
           "[2.60]",
           *(end for column, factor in (("gpumb_s", 1e6), ("own_s", 1e6), ("ratio", 1))
             for end in ends([factor * float(row[column]) for row in short])))
    yield "`diagonal` looks [1] % faster than `optimized`, and takes [18] % longer", *(
        sign * (100 * us_of("transpose", "diagonal", column)
                / us_of("transpose", "optimized", column) - 100)
        for sign, column in ((-1, "own_s"), (1, "gpumb_s")))
    yield "the gap between two of them, [1.5] … [1.8] µs", *ends(
        more("transpose", "naive", "coalesced") + more("matrixMul", "matrixMul"))
    yield "[31] % of `coalesced`, [10] % of `naive`, [8] % of `matrixMul`", *(
        100 * part - 100 for part in ratios("transpose", "coalesced", "naive")
        + ratios("matrixMul", "matrixMul"))
    yield "says [167.9] µs of a kernel that takes [80.8]", *(
        us_of("simpleStreams", "kernel", column) for column in ("own_s", "gpumb_s"))
    streams = "copy", "mul", "add", "triad"
    yield ("that is [6.0] … [9.5] µs in BabelStream, [4] … [6] %, and [15.3] µs for the dot "
           "product", *ends(more("babelstream", *streams)),
           *(100 * end - 100 for end in ends(ratios("babelstream", *streams))),
           *more("babelstream", "dot"))
    yield ("[3.6] and [4.0] µs for the two kernels of a histogram, [2.4] for the one of a scan of "
           "short arrays, [4.9] for the three of large ones: up to [17] %",
           *more("histogram", "histogram64", "histogram256"), *more("scan", "Short", "Large"),
           100 * max(ratios("scan", "Short", "Large")) - 100)
    near = [abs(100 * float(row["ratio"]) - 100) for row in long]
    yield ("both agree within [0.5] %, whatever the timer, in [29] of [33] rows",
           max(value for value in near if value <= 0.5), sum(value <= 0.5 for value in near),
           len(near))
    most = "3072 blocks", "6144 blocks"
    yield "says [1.2] and [2.6] % more.", *(
        100 * part - 100 for part in ratios("gpu-l2-cache", *most))
    yield "takes [0.3] and [0.6] ms of it", *(1e-3 * late for late in more("gpu-l2-cache", *most))
    yield "the first, takes [11] µs more between two events, [0.9] %", *more(
        "simpleStreams", "memcopy"), 100 * ratios("simpleStreams", "memcopy")[0] - 100
    yield "take less a round, [0.983],", *ratios("simpleStreams", "4 streams")
    yield "at 96 blocks, [0.996].", *ratios("gpu-l2-cache", "96 blocks")


COUNTS = {"unverified": 60, "launch-bound": 6, "few-samples": 4, "other-streams": 2}


# ---- timers of Python ------------------------------------------------------------------------

TIMED = {}
for timed in rows_in("timers-h200"):
    of_case = TIMED.setdefault((timed["case"], timed["bytes"]), {})
    of_case[timed["cache"], timed["timer"]] = timed
HOT = ("gpumb", "do_bench_cudagraph", "torch.utils.benchmark", "cupyx benchmark", "cuda.bench")
DOUBTS = {"launch-bound", "noisy", "resolution"}


def case_name(case, size):
    if case == "copy":
        kib = int(size) // 2 >> 10
        return f"copy {kib} KiB" if kib < 1024 else f"copy {kib >> 10} MiB"
    known = {"mm bf16 4096": "product, bf16, 4096²", "spin 5000 us": "spin 5 ms"}
    return known.get(case, case.replace(" us", " µs"))


def micros(seconds):
    us = 1e6 * float(seconds)
    return f"{us:.2f}" if us < 60 else f"{us:.1f}" if us < 1000 else f"{us:.0f}"


def error(row):
    return 100 * float(row["error"])


def doubted(row):
    return bool(DOUBTS & set(row["flags"].split(";")))


def timer_cell(row):
    off = f" ({error(row):+.1f} %)" if abs(error(row)) < 900 else ""
    return micros(row["median_s"]) + off + "†" * (row["timer"] == "gpumb" and doubted(row))


def timer_rows():
    for (case, size), by in TIMED.items():
        cells = [micros(by["hot", "gpumb"]["truth_s"]), *(timer_cell(by["hot", t]) for t in HOT)]
        yield f"| {case_name(case, size)} | " + " | ".join(cells) + " |\n"
        cells = [micros(by["cold", "gpumb"]["truth_s"]), timer_cell(by["cold", "gpumb"]),
                 timer_cell(by["cold", "gpumb.do_bench"]),
                 micros(by["written", "do_bench"]["truth_s"]),
                 timer_cell(by["written", "do_bench"]), timer_cell(by["written", "cuda.bench"])]
        yield f"| {case_name(case, size)} | " + " | ".join(cells) + " |\n"


def timer_phrases():
    def of(cache, least_s):
        return [by[cache, "gpumb"] for by in TIMED.values()
                if float(by[cache, "gpumb"]["truth_s"]) >= least_s]

    def seconds(*timers):
        return [float(row["point_s"]) for by in TIMED.values() for (cache, timer), row in by.items()
                if timer in timers or (cache, timer) in timers]
    far = [row for cache in ("hot", "cold") for row in of(cache, 2e-6)
           if abs(error(row)) > 5 and not doubted(row)]
    assert [row["case"] for row in far] == ["sum"], far
    yield "but for the cold `sum` ([5.3] %)", -error(far[0])
    yield ("stand on [3] of [10] hot rows and [5] of [12] cold ones",
           *(count for cache in ("hot", "cold")
             for count in (sum(map(doubted, of(cache, 2e-6))), len(of(cache, 2e-6)))))
    far = [error(row) for cache in ("hot", "cold") for row in of(cache, 20e-6)
           if abs(error(row)) > 1 and row["case"] not in ("sum", "mm bf16 4096")]
    yield "[2.0] % off, the `spin` of 5 ms with cold caches [1.2] % without a flag", *far
    closer = sum(abs(error(by["cold", "gpumb"])) - abs(error(by["cold", "gpumb.do_bench"])) > 0.5
                 for by in TIMED.values())
    yield "is for [5] of the [14] cold ones", closer, len(TIMED)
    for name, timers in (("gpumb.do_bench", ["gpumb.do_bench"]),
                         ("do_bench, do_bench_cudagraph", ["do_bench", "do_bench_cudagraph"]),
                         ("torch.utils.benchmark", ["torch.utils.benchmark"])):
        least, most = min(seconds(*timers)), max(seconds(*timers))
        yield f"| {name} | [{least:.2f}] … [{most:.2f}] |", least, most
    for cache, rest in (("hot", 3), ("cold", 1)):  # those that are named apart
        taken = sorted(seconds((cache, "gpumb")))
        yield (f"| gpumb, {cache} | [{taken[0]:.2f}] … [{taken[-1 - rest]:.2f}]",
               taken[0], taken[-1 - rest])


def h100_timer_phrases():
    rows = rows_in("timers-h100")

    def of(timer, least_s=0.0):
        return [r for r in rows if r["timer"] == timer and float(r["truth_s"]) >= least_s]
    short, usual = "gpumb in 0.3 s", "gpumb"
    taken = {t: sorted(float(r["point_s"]) for r in of(t)) for t in (short, usual)}
    yield ("the [28] points take [0.22] … [0.31] s that way", len(taken[short]), taken[short][0],
           taken[short][-1])
    yield "[0.22] … [2.59] by the defaults", taken[usual][0], taken[usual][-1]
    far = [r for t in (short, usual) for r in of(t, 2e-6)
           if abs(error(r)) > 5 and not doubted(r)]
    assert not far, far
    yield ("[10] of [22] have a flag that doubts the time, in place of [7]",
           sum(map(doubted, of(short, 2e-6))), len(of(short, 2e-6)),
           sum(map(doubted, of(usual, 2e-6))))
    spin = one(of(usual), case="spin 5000 us", cache="cold")
    yield ("has [5000.1] µs, of [5000.2]", 1e6 * float(spin["median_s"]),
           1e6 * float(spin["truth_s"]))
    far = [r for r in of(usual, 20e-6)
           if abs(error(r)) > 1 and r["case"] not in ("sum", "mm bf16 4096")]
    assert [r["bytes"] for r in far] == [str(1 << 27)], far
    copy = one(rows_in("timers-h100-graphs"), case="copy", bytes=far[0]["bytes"])
    yield "which takes [1.2] % more than the truth", error(far[0])
    yield ("each copy takes [0.5] % more by CUPTI's",
           100 * (float(copy["graph_s"]) / float(copy["single_s"]) - 1))


def main():
    passed, wrong = 0, []
    for page, rows_of, phrases in ((PRODUCTS, product_rows, product_phrases),
                                   (TIMERS, timer_rows, timer_phrases),
                                   (TIMERS, tuple, h100_timer_phrases),
                                   (KERNELS, tensor_rows, tensor_phrases),
                                   (H100, h100_rows, h100_phrases),
                                   (OTHERS, other_rows, other_phrases)):
        with open(page, encoding="utf-8") as file:
            text = file.read()
        missing = [row.strip() for row in rows_of() if row not in text]
        wrong += [f"{page} has no row {row}" for row in missing]
        flat = " ".join(text.split())
        for phrase, *values in phrases():
            wrong += [f"{page} {what}" for what in quoted.wrong(flat, phrase, values)]
            passed += 1
        passed += sum(1 for _ in rows_of())
    for flag, count in COUNTS.items():
        found = sum(flag in row["flags"].split(";") for row in BESIDE)
        if found != count:
            wrong.append(f"{found} rows of {OTHERS} are {flag}, not {count}")
        passed += 1
    ways = {(row["timing"], row["meaning"]) for row in BESIDE}
    if ways != {("graph", "span")}:
        wrong.append(f"{OTHERS}: not all are spans from graphs: {ways}")
    passed += 1
    covered = sum(bool(re.fullmatch(regions, row["region"])) for row in BESIDE
                  for program, regions, _ in GROUPS if program == row["program"])
    if covered != len(BESIDE):
        wrong.append(f"{OTHERS}: {covered} of {len(BESIDE)} rows are in its table")
    passed += 1
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    print(f"{passed - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
