# bench_figures.py - holds the figures of bench/h200-products.md and bench/others.md against the
# stored rows: whole rows of their tables, and sentences with the figures in brackets.
import csv
import re
import sys

import quoted

PRODUCTS, OTHERS = "bench/h200-products.md", "bench/others.md"
KERNELS = "bench/h200-kernels.md"
ISSUED = "smsp__issue_active.avg.pct_of_peak_sustained_active"
DELIVERING = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"


def stored(name):
    with open(f"bench/results/h200-{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


MATMUL, COUNTED = stored("matmul"), {row["kernel"]: row for row in stored("matmul-counters")}
TRANSPOSES, HISTOGRAMS = stored("transpose"), stored("histogram")
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
    yield "by [7] % from 8192 to 32768", 100 - 100 * float(
        one(TRANSPOSES, kernel="transpose", side="32768")["gbps"]) / float(
            one(TRANSPOSES, kernel="transpose", side="8192")["gbps"])
    yield "pipe is [53] … [54] % busy", *ends(BUSY)
    yield "takes [1.7] … [3.7] µs longer", *ends(
        [longer(log2, data) for log2 in (20, 24, 28) for data in DATA])


# ---- tensor cores ----------------------------------------------------------------------------


def per_clock(way, kind, data):
    """FLOP of a multiprocessor; nothing: there is no such row."""
    for row in TENSOR:
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


def tensor_rows():
    rates = stated_rates("sm_90")
    for kind, named in (("f16", "fp16, sums in fp32"), ("bf16", "bf16"), ("tf32", "tf32"),
                        ("f64", "fp64"), ("i8", "int8"), ("e4m3", "fp8, e4m3")):
        stated = rates[f"TENSOR_{kind.upper()}"]
        cells = [per_clock(way, kind, data) for way in ("mma", "wgmma")
                 for data in ("zeros", "random")]
        yield f"\n| {named} | {stated} | " + " | ".join(
            "–" if cell is None else f"{cell:.0f} ({100 * cell / stated:.1f} %)"
            for cell in cells) + " |\n"
    simple = {rates[f"UNIT_{unit}"] for unit in ("ADD", "LOGIC", "SHIFT")}
    simple.add(rates["UNIT_MULTIPLY_ADD"] // 2)
    for name, stated in ((name, stated) for stated in simple for name in ("add3", "add")):
        yield f"\n| `{name} i32`" + (", `mad i32`, `and xor i32`, `shift i32`" if "3" in name
                                    else "") + f" | {stated} | "
    yield f"\n| `rcp f32`, `rsqrt f32`, `exp2 f32`, `sin f32` | {rates['UNIT_SPECIAL']} | "


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
    counted = {row["type"]: row for row in stored("tensor-counters")
               if row["bench"] == "tensor/mma"}
    share = "avg.pct_of_peak_sustained_active"
    yield "its pipe is busy in [99.7] %", float(
        counted["f16"][f"sm__pipe_tensor_op_hmma_cycles_active.{share}"])
    yield "an instruction in [91.0] %", float(counted["e4m3"][f"smsp__issue_active.{share}"])


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


def main():
    passed, wrong = 0, []
    for page, rows_of, phrases in ((PRODUCTS, product_rows, product_phrases),
                                   (KERNELS, tensor_rows, tensor_phrases),
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
