# lab_counters.py - holds the figures in the labs' solutions against the stored rows and counters.
import collections
import csv
import functools
import json
import math
import random
import re
import statistics
import sys

import quoted

FOLDER = "examples/labs/h200/"
PAGES = ("examples/labs/solutions/README.md", "examples/labs/solutions/second.md",
         "examples/labs/solutions/third.md", "examples/labs/solutions/fourth.md",
         "examples/labs/solutions/fifth.md", "examples/labs/solutions/sixth.md")
BELIEFS = "examples/labs/misconceptions.md"
DRAM_READ, DRAM_WRITE = "dram_read_bytes", "dram_write_bytes"
SECTORS = "load_sectors_per_request"
ISSUED = "smsp__issue_active.avg.pct_of_peak_sustained_active"
LOADED = "smsp__inst_executed_op_shared_ld.sum"
WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
STORED_WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
LINES = "smsp__sass_l1tex_tags_mem_global.sum"
L2_READS = "lts__t_requests_srcunit_tex_op_read.sum"
L2_WRITES = "lts__t_requests_srcunit_tex_op_write.sum"
DELIVERING = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
ADDING_WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"
ADDED_SECTORS = "lts__t_sectors_op_red.sum"
# Of lab 20's 2^30 bytes: requests of 128, and how many come to the multiprocessors and of memory.
ASKED, READ = (L2_READS, 2**23), (DRAM_READ, 2**30)
FETCHED = "l1tex__m_xbar2l1tex_read_bytes.sum", 2**30
COPIED = "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum", 2**30
LAST_SUMS = 98176  # of ADDED_SECTORS in lab 16, for what blocks add up in the end
CONVERTED = "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum"
LOCAL = ("smsp__inst_executed_op_local_ld.sum", "smsp__inst_executed_op_local_st.sum")
MEAN, BUSIEST = "dram__sectors_read.avg", "dram__sectors_read.max"
QUEUED = ("256", "4096", "65536")  # what lab 2's stream takes as long for, whatever there is to do
WORD = 2**27  # bytes of the words of lab 5
BLOCKS = 2**18  # in lab 10


def stall(reason):
    return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"


# File, configuration, counter, what it is divided by (a number; another configuration of the file,
# whose counter it is; or another counter of the same row), the ratio, and how close that is.
CLAIMS = [
    ("03_occupancy", "64 0", "achieved_occupancy", 1, 0.26, 0.005),
    ("05_coalescing", "1", SECTORS, 1, 4, 0),
    ("05_coalescing", "2", SECTORS, 1, 8, 0),
    ("05_coalescing", "4", SECTORS, 1, 16, 0),
    ("05_coalescing", "8", SECTORS, 1, 32, 0),
    ("05_coalescing", "16", SECTORS, 1, 32, 0),
    ("05_coalescing", "32", SECTORS, 1, 32, 0),
    ("05_coalescing", "8", DRAM_READ, WORD, 8, 0.01),
    ("05_coalescing", "16", DRAM_READ, WORD, 16, 0.01),
    ("05_coalescing", "32", DRAM_READ, WORD, 16, 0.01),
    ("05_coalescing", "64", DRAM_READ, WORD, 16, 0.01),
    ("solutions/05_coalescing", "1", "store_sectors_per_request", 1, 4, 0),
    ("solutions/05_coalescing", "8", "store_sectors_per_request", 1, 32, 0),
    ("solutions/05_coalescing", "2", DRAM_READ, WORD, 3, 0.1),
    ("solutions/05_coalescing", "8", DRAM_READ, WORD, 9, 0.1),
    ("solutions/05_coalescing", "8", DRAM_WRITE, WORD, 8, 0.1),
    ("solutions/05_coalescing", "16", DRAM_READ, WORD, 9, 0.1),
    ("solutions/05_coalescing", "16", DRAM_WRITE, WORD, 8, 0.1),
    ("solutions/05_coalescing", "32", DRAM_READ, WORD, 9, 0.1),
    ("solutions/05_coalescing", "32", DRAM_WRITE, WORD, 8, 0.1),
    ("06_misalignment", "0", SECTORS, 1, 4, 0),
    *(("06_misalignment", offset, SECTORS, 1, 5, 0) for offset in ("1", "4", "7", "31")),
    ("06_misalignment", "8", SECTORS, 1, 4, 0),
    ("06_misalignment", "16", SECTORS, 1, 4, 0),
    ("06_misalignment", "8", "l2_read_bytes", "0", 1, 0),
    ("06_misalignment", "1", DRAM_READ, "0", 1, 0.001),
    ("06_misalignment", "8", DRAM_READ, "0", 1, 0.001),
    *(("06_misalignment", offset, LINES, "0", 1.5, 0)
      for offset in ("1", "4", "7", "8", "16", "31")),
    ("06_misalignment", "32", LINES, "0", 1, 0),
    ("06_misalignment", "32", L2_READS, "0", 1, 0),
    ("06_misalignment", "32", stall("long_scoreboard"), "0", 1, 0.005),
    ("06_misalignment", "64", LINES, "0", 1, 0),
    ("06_misalignment", "64", L2_READS, "0", 1, 0),
    ("solutions/06_misalignment", "copy 1", stall("long_scoreboard"), "copy 0", 1, 0.02),
    ("solutions/06_misalignment", "uint4 8", DRAM_READ, "uint4 0", 1, 0.001),
    ("solutions/06_misalignment", "uint4 8", DRAM_WRITE, "uint4 0", 1, 0.005),
    ("07_subdomains", "1", SECTORS, 1, 32, 0),
    ("07_subdomains", "2", SECTORS, 1, 16, 0),
    ("07_subdomains", "1", DRAM_READ, "32", 1.66, 0.005),
    ("07_subdomains", "1", L2_WRITES, "32", 16, 0.01),
    ("07_subdomains", "8", SECTORS, "16", 1, 0),
    ("07_subdomains", "8", L2_READS, "16", 2, 0),
    ("07_subdomains", "16", L2_READS, "32", 2, 0),
    ("07_subdomains", "8", "l2_hit_rate", 1, 0.67, 0.005),
    ("07_subdomains", "16", "l2_hit_rate", 1, 0.5, 0.005),
    ("07_subdomains", "32", "l2_hit_rate", 1, 0.5, 0.005),
    ("07_subdomains", "8", stall("long_scoreboard"), 1, 163, 0.5),
    ("07_subdomains", "16", stall("long_scoreboard"), 1, 183, 0.5),
    ("07_subdomains", "32", stall("long_scoreboard"), 1, 162, 0.5),
    ("08_transpose", "naive", "store_sectors_per_request", 1, 32, 0),
    ("08_transpose", "naive", DRAM_READ, "padded", 1.2, 0.01),
    ("08_transpose", "naive", DRAM_WRITE, "padded", 1.2, 0.02),
    ("08_transpose", "tiled", WAVES, LOADED, 32, 0.5),
    ("08_transpose", "padded", WAVES, LOADED, 1.04, 0.005),
    ("08_transpose", "swizzled", WAVES, LOADED, 1.04, 0.005),
    ("solutions/08_transpose", "tiled", WAVES, LOADED, 8, 0.5),
    ("solutions/08_transpose", "padded", WAVES, LOADED, 2, 0.2),
    ("solutions/08_transpose", "padded", STORED_WAVES, LOADED, 2, 0.2),
    ("solutions/08_transpose", "padded by 2", WAVES, LOADED, 1, 0.2),
    ("solutions/08_transpose", "padded by 2", STORED_WAVES, LOADED, 2, 0.2),
    ("10_reduction", "first thread", LOADED, BLOCKS, 255, 0),
    ("10_reduction", "interleaved", WAVES, BLOCKS, 97, 0.5),
    ("10_reduction", "sequential", WAVES, BLOCKS, 26, 0.5),
    ("10_reduction", "interleaved", "instructions", "sequential", 1.03, 0.005),
    ("11_nbody", "yes 1", "instructions", "no 1", 1, 0.01),
    ("11_nbody", "no 4", "instructions", "no 1", 1, 0),
    ("11_nbody", "no 1", stall("long_scoreboard"), 1, 4.1, 0.05),
    ("11_nbody", "yes 1", stall("long_scoreboard"), 1, 0.03, 0.005),
    ("11_nbody", "yes 1", stall("short_scoreboard"), 1, 0.8, 0.05),
    ("11_nbody", "no 1", ISSUED, 1, 40, 0.5),
    ("11_nbody", "yes 1", ISSUED, 1, 60, 0.5),
    ("11_nbody", "yes 1", "achieved_occupancy", 1, 0.24, 0.005),
    ("solutions/11_nbody", "two bodies no 1", "instructions", "forces no 1", 0.97, 0.005),
    ("solutions/11_nbody", "two bodies yes 1", "achieved_occupancy", 1, 0.12, 0.005),
    ("solutions/14_own_kernel", "naive", ISSUED, 1, 0.14, 0.005),
    ("solutions/14_own_kernel", "mine", "shared_bank_conflicts", 2**21, 2.3, 0.05),
    *(("bytes/20_async_copies", f"{kib} {way}", *counter, 1, 0.001) for kib in (4, 8, 16)
      for way in ("loads", "copies") for counter in (ASKED, FETCHED, READ)),
    *(("bytes/20_async_copies", f"{kib} bulk", *READ, 1, 0.001) for kib in (4, 8, 16)),
    *(("20_async_copies", f"{kib} bulk", *COPIED, 1, 0.001) for kib in (16, 32, 64, 128)),
    *(("solutions/20_async_copies", f"{kib} bulk", *COPIED, 1, 0.001)
      for kib in (4, 8, 16, 32, 64, 128)),
]


@functools.lru_cache(None)
def rows(name):
    """A file's rows, by their axes; by their kernels, too, where these differ."""
    with open(f"{FOLDER}{name}.json", encoding="utf-8") as file:
        found = json.load(file)["rows"]
    several = len({row["kernel"] for row in found}) > 1
    return {
        " ".join([row["kernel"]] * several + [str(v) for v in row["axes"].values()]): row
        for row in found
    }


@functools.lru_cache(None)
def benchmark(name, **wanted):
    """The one row of bench/results that has these in its columns."""
    with open(f"bench/results/h200-{name}.csv", encoding="utf-8") as file:
        (found,) = (row for row in csv.DictReader(file) if wanted.items() <= row.items())
    return found


def additions(memory, words, apart="4"):
    """Atomic additions a ns, of all threads to words so far apart."""
    row = benchmark("atomics", bench="latency/atomic_rate", memory=memory, apart_bytes=apart,
                    words=words)
    return float(row["elements_per_s"]) / 1e9


def multiply_adds(step, counter):
    """How often the counter counts for a multiply-add of a warp, of the products of 4096."""
    return float(benchmark("matmul-counters", kernel=step)[counter]) / (4096**3 / 32)


def mistake(name):
    """How many times the right rate a mistake in timing sees."""
    return float(benchmark("mistakes", kernel="right")["median_s"]) / float(
        benchmark("mistakes", kernel=name)["median_s"])


def reads_gbps():
    """What reading alone makes."""
    return float(benchmark("reduction", bench="reduction/types", value_type="f32",
                           operation="sum")["gbps"])


def latency_ns():
    """Of memory that has nothing else to do."""
    return 1e9 * float(benchmark("latency", bench="latency/levels", level="memory")["median_s"])


def sends_gbps():
    """What the link between two devices gives one way."""
    return float(benchmark("peers", bench="peers/size", kernel="engine pulls", access="peer",
                           size=str(2**30))["gbps"])


def on_way_ns(row):
    """How long each word of lab 20 is on its way, by Little's law."""
    return 1024 * int(row.split()[0]) * 132 / gbps("20_async_copies", row)


def clustered(row):
    """Blocks that run at once in lab 23."""
    return rows("23_clusters")[row]["values"]["blocks"]


WINNING = ("200000 4", "200000 8", "400000 8")  # where lab 23's clusters make room for bins


def squares(bins, cluster):
    """How many times as long lab 23's squares take as its random words."""
    return (us("solutions/23_clusters", f"{bins} in turn {cluster}")
            / us("23_clusters", f"{bins} {cluster}"))


def linked(way):
    """Bytes that the first device has sent for 2^28 words, which were used 4 times."""
    return rows("counters/link/24_two_devices")[f"sum 268435456 4 {way}"]["values"][
        "nvltx__bytes_data_user.sum"]


def uses_until(gain):
    """How often words have to be used until two devices are so many times as fast as one, if half
    of the words are sent first."""
    one, link = 1 / reads_gbps(), 0.5 / sends_gbps()  # of as many words, in any unit
    return gain * link / (one - gain * one / 2)


def transfer_ms(path, size):
    return 1e3 * float(benchmark("transfer", path=path, size=str(size))["median_s"])


def summed(kernel, launch, n=2**20):
    """How many us a sum of n floats takes."""
    return 1e6 * float(benchmark("reduction", bench="reduction/size", type="f32", kernel=kernel,
                                 launch=launch, n=str(n))["median_s"])


def us(name, row):
    return 1e6 * rows(name)[row]["median_s"]


def gbps(name, row):
    return rows(name)[row]["gbps"]


def longer(name, row, than):
    """By how many per cent a row takes longer than another one, whose time is the same thing."""
    own, other = rows(name)[row], rows(name)[than]
    assert own["meaning"] == other["meaning"], f"{name}: {row} and {than} don't compare"
    return 100 * own["median_s"] / other["median_s"] - 100


def half_width(name, row):
    """Of the interval of the median, in % of it."""
    own = rows(name)[row]
    return 50 * (own["ci_hi_s"] - own["ci_lo_s"]) / own["median_s"]


def of(name, row, counter):
    return rows("counters/" + name)[row]["values"][counter]


def fp32_peak():
    """GFLOP/s of the device of lab 12."""
    return device("12_roofline")["peak_fp32_gflops"]


BEYOND = ("128", "256", "1024")  # lab 12's rows beyond the ridge


def adding(k):
    """Microseconds that lab 12's multiply-adds take at the peak."""
    return 1e-3 * 2 * int(k) * 2**26 / fp32_peak()


def issue_time(k):
    """The same of all its instructions, one a clock of each scheduler."""
    return of("12_roofline", k, "instructions") / (132 * 4 * 1980)


def warps_clocks(k):
    """Clocks of a scheduler's warps for each instruction; it has room for 16."""
    return (16 * of("12_roofline", k, "achieved_occupancy")
            / (of("12_roofline", k, ISSUED) / 100))


def waited(k):
    """Clocks that a warp of lab 12 waits for memory, by the counter."""
    return (of("12_roofline", k, stall("long_scoreboard"))
            * of("12_roofline", k, "instructions") / 2**19)


def in_flight_kb(row_gbps):
    """KB of loads for each multiprocessor, if a copy has such a rate and each load lab 3's time."""
    return row_gbps / 2 * blocks("256 0", "warp_clocks") / 1980 / 132


def for_a_tile(row, reason=None):
    """ns that a tile of lab 20 takes, or in which its warps are stalled for a reason."""
    turns = (2**26 - 5) / (132 * 256)
    if not reason:
        return 1e3 * us("counters/20_async_copies", row) / turns
    return (of("20_async_copies", row, stall(reason)) * of("20_async_copies", row, "instructions")
            / (132 * 8) / turns / 1.98)


def blocks(row, value):
    return rows("solutions/blocks")[row]["values"][value]


def moved(name, row):
    """Bytes that the device's memory moved."""
    return of(name, row, DRAM_READ) + of(name, row, DRAM_WRITE)


def device(name):
    with open(f"{FOLDER}{name}.json", encoding="utf-8") as file:
        return json.load(file)["device"]


def product(each, counter):
    """How often it counts for a multiply-add of a warp in lab 15."""
    return of("solutions/15_matrix_product", str(each), counter) / (4096**3 / 32)


def added(row, counter):
    """How often it counts for a warp's 32 bytes in lab 16."""
    return of("solutions/16_warps", row, counter) / 2**21


@functools.lru_cache(None)
def turns(data, bins=4):
    """The sectors that a warp's additions ask for, with so many bins in each: lanes with the same
    bin take turns, and each turn asks for its sectors. A mean of many warps."""
    random_byte = random.Random(1).getrandbits
    byte = {"uniform": lambda: random_byte(8), "one bin": lambda: 0x9d,
            "skewed": lambda: bin(random_byte(8))[:1:-1].partition("0")[0].count("1")}[data]
    sectors, warps = 0, 4000
    for _ in range(warps):
        turn_of, asked = collections.Counter(), set()
        for found in (byte() for _ in range(32)):
            asked.add((turn_of[found], found // bins))
            turn_of[found] += 1
        sectors += len(asked)
    return sectors / warps


def at_work(row):
    """The share of the time that lab 17's multiprocessors have work: clocks in which a scheduler
    could issue, by all."""
    clocks = of("17_registers", row, "instructions") / (132 * 4 * of("17_registers", row, ISSUED))
    return 100 * clocks / (1980 * us("17_registers", row))


def for_a_local_load(row):
    """Clocks that a warp waits for a load of local memory in lab 17."""
    name = "solutions/17_registers"
    return (of(name, row, stall("long_scoreboard")) * of(name, row, "instructions")
            / of(name, row, LOCAL[0]))


def least_and_most(values):
    return min(values), max(values)


OVERLAPS = [(steps, chunks) for steps in (32, 512, 2048) for chunks in (1, 4, 16, 64, 256)]


def overlap(way, steps=512, chunks=1):
    """Microseconds of lab 18."""
    return us("18_overlap", f"{steps} {way} {chunks}")


def each_more(way, chunks, fewer):
    """Microseconds that each further chunk takes in lab 18: the least and the most of all steps."""
    return least_and_most([
        (overlap(way, steps, chunks) - overlap(way, steps, fewer)) / (chunks - fewer)
        for steps in (32, 512, 2048)])


@functools.lru_cache(None)
def modelled():
    """What lab 18's notes say: us in 1, 2, 3 streams, and by the model, of steps and chunks."""
    with open(FOLDER + "18_overlap.json", encoding="utf-8") as file:
        notes = json.load(file)["notes"]
    found = {}
    for note in notes:
        part = re.match(r"(\d+) steps, (\d+) chunks: 1, 2, 3 streams (.*) us, by the model (.*); ",
                        note)
        if part:
            found[int(part[1]), int(part[2])] = [
                [float(each) for each in times.split(", ")] for times in (part[3], part[4])]
    assert sorted(found) == OVERLAPS
    return found


def beyond_model(chunks, streams, each_steps=(32, 512, 2048)):
    """By how many per cent such rows of lab 18 are longer than the model says."""
    return [100 * modelled()[steps, n][0][s - 1] / modelled()[steps, n][1][s - 1] - 100
            for steps in each_steps for n in chunks for s in streams]


def graph_beyond(*chunks):
    """The same of its graphs, and 3 streams: the least and the most."""
    return least_and_most([100 * overlap("graph", steps, n) / overlap("3 streams", steps, n) - 100
                           for steps in (32, 512, 2048) for n in chunks])


def repeated(at):
    """By how many per cent a row of 3 streams in lab 18 and the changed program's differ."""
    return abs(100 * us("solutions/18_overlap", "{} chunks {}".format(*at))
               / overlap("3 streams", *at) - 100)


def beside(steps, chunks, way):
    """Microseconds of lab 18's changed program."""
    return us("solutions/18_overlap", f"{steps} {way} {chunks}")


def beyond_copied(way, direction):
    """By how many per cent the bytes that go over lab 18's link are more than those copied."""
    return 100 * on_link(way, direction) / 2**26 - 100


def on_link(way, direction):
    return of("link/18_overlap", f"512 {way} 16", f"pcie__{direction}_bytes.sum")


def working(name, way):
    """The share of the time in which lab 18's multiprocessors have work."""
    return of(name, f"512 {way} 16", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed")


def a_value(name, form, counter):
    """How often it counts for a value of lab 19; of instructions, of a warp's."""
    return of(name, f"2048 {form}", counter) / 2**29


def slower(each_of, fp8=False):
    """By how many per cent lab 19's changed program takes longer than the lab."""
    return [100 * us("solutions/19_number_formats", at)
            / us("19_number_formats", at.replace("fp8 in fp16", "fp8 in fp32")) - 100
            for at in rows("solutions/19_number_formats")
            if at.split()[0] in each_of and ("fp8" in at) == fp8]


def issuing(name):
    """In which share of clocks a scheduler issues with lab 19's fp8: the least and the most."""
    return least_and_most([of(name, at, ISSUED) for at in rows(name) if "fp8" in at])


def called(way, n=4096, name="21_libraries"):
    """Microseconds of a call of lab 21, and until its sum is there."""
    return us(name, f"and wait {n} {way}")


def after_first(way):
    """How many times as long as a later call the first one takes in lab 21."""
    return 1e6 * next(row["first_launch_s"] for row in rows("21_libraries").values()
                      if row["axes"]["way"] == way) / called(way)


def summing(way, counter, n=2**20):
    return of("21_libraries", f"sum {n} {way}", counter)


def memcheck_errors():
    """What memcheck says of lab 22."""
    with open(FOLDER + "tools/memcheck.txt", encoding="utf-8") as file:
        return int(re.search(r"ERROR SUMMARY: (\d+) errors$", file.read(), flags=re.M)[1])


def two_warps():
    """Thousands of instructions that each of lab 20's two warps has, by copies."""
    return of("solutions/20_async_copies", "32 copies", "instructions") / (2 * 132) / 1e3


def of_ncu(form, metric):
    """What ncu says first of a metric of lab 8's form."""
    with open(FOLDER + "tools/ncu.txt", encoding="utf-8") as file:
        said_of = file.read().split(f"--axis form={form}\n")[1]
    return float(re.search(rf"^ +{metric} +\S+ +([0-9.]+)$", said_of, flags=re.M)[1])


# A lab, what its part of the page says, with each figure in brackets, and what these are.
SAID = [
    ("01", "loading its code takes the rest, [49] us, in the solution's process [97]",
     1e6 * (rows("01_first_launch")["1000 256"]["first_launch_s"]
            - rows("01_first_launch")["10000 256"]["first_launch_s"]),
     1e6 * (rows("solutions/01_first_launch")["add one 1000 64"]["first_launch_s"]
            - rows("solutions/01_first_launch")["add one 10000 64"]["first_launch_s"])),
    ("01", "middle of the solution take [95] and [39] us, where `add one` takes [23] for as many",
     *(1e6 * rows("solutions/01_first_launch")[f"{kernel} 100000 64"]["first_launch_s"]
       for kernel in ("add two", "past the end", "add one"))),
    ("01", "[1.56] million blocks in [939] us, [1.66] a ns", 1e8 / 64 / 1e6,
     us("solutions/01_first_launch", "add one 100000000 64"),
     1e8 / 64 / us("solutions/01_first_launch", "add one 100000000 64") / 1e3),
    ("01", "At one million it is [3028] GB/s", gbps("01_first_launch", "1000000 256")),
    ("02", "the work takes [0.4] to [0.5] us", us("02_short_kernels", "256 span"),
     us("02_short_kernels", "65536 span")),
    ("02", "`noisy`, of +-[4] %, and the solution's, which are of another day, of +-[2] %, but "
     "[11] to [14] % longer", max(half_width("02_short_kernels", n + " stream") for n in QUEUED),
     max(half_width("solutions/02_short_kernels", n + " stream") for n in QUEUED),
     *least_and_most([100 * us("solutions/02_short_kernels", n + " stream")
                      / us("02_short_kernels", n + " stream") - 100 for n in QUEUED])),
    ("02", "The widest of all rows has +-[9.9] %: a span of [0.41] us, by a clock that ticks every "
     "[32] ns", max(half_width(part + "02_short_kernels", row) for part in ("", "solutions/")
                    for row in rows(part + "02_short_kernels")),
     us("solutions/02_short_kernels", "256 span"),
     1e9 * device("solutions/02_short_kernels")["quantum_s"]),
    ("02", "Up to n = 65536 a graph's take [25] to [31] % of a stream's, at 2^20 [72] %",
     *(100 * us("02_short_kernels", n + " graph") / us("02_short_kernels", n + " stream")
       for n in ("256", "65536", "1048576"))),
    ("02", "where the work is what takes time, it saves [3] %",
     100 - 100 * us("02_short_kernels", "16777216 graph")
     / us("02_short_kernels", "16777216 stream")),
    ("02", "the largest n, [50.5] to [44.0] us, and 2^20, [2.76] to [2.09] us",
     *(us(part + "02_short_kernels", n + " span") for n in ("16777216", "1048576")
       for part in ("", "solutions/"))),
    ("02", "4096 elements take [1.6] in place of [0.5] us",
     us("solutions/02_short_kernels", "4096 span"), us("02_short_kernels", "4096 span")),
    ("03", "Half of the [2642] GB/s are loads, and a warp waits [1055] clocks for its words, "
     "[0.53] us",
     gbps("03_occupancy", "256 0"), blocks("256 0", "warp_clocks"),
     blocks("256 0", "warp_clocks") / 1980),
    ("03", "[5.3] KB of loads are in flight on each multiprocessor, whose [2048] threads, with a "
     "load of 4 bytes each, could have [8.2]", in_flight_kb(gbps("03_occupancy", "256 0")),
     device("03_occupancy")["max_threads"], 4 * device("03_occupancy")["max_threads"] / 1e3),
    ("03", "would take [8.6] KB", in_flight_kb(gbps("04_element_size", "uint4"))),
    ("03", "75 % of the occupancy leaves [78] % of the rate, 50 % leaves [55] %",
     *(100 * gbps("03_occupancy", at) / gbps("03_occupancy", "256 0")
       for at in ("256 32", "256 48"))),
    ("03", "*Blocks of 1024* lose [17] %",
     100 - 100 * gbps("03_occupancy", "1024 0") / gbps("03_occupancy", "256 0")),
    ("03", "in use for [69] % of its block's time, in place of [79] %, and each wait is [6] %",
     *(100 * blocks(at, "warp_clocks") / blocks(at, "block_clocks") for at in ("1024 0", "256 0")),
     100 * blocks("1024 0", "warp_clocks") / blocks("256 0", "warp_clocks") - 100),
    ("03", "[65] % is achieved, of blocks of 256 [72] %",
     *(100 * of("03_occupancy", at, "achieved_occupancy") for at in ("1024 0", "256 0"))),
    ("03", "2^20 blocks in [640] us, [1.64] a ns, are nearly what the device launches when they "
     "are empty: [1.71] a ns", us("03_occupancy", "64 0"), 2**20 / us("03_occupancy", "64 0") / 1e3,
     1e-9 / device("03_occupancy")["block_launch_s"]),
    ("03", "half the occupancy leaves [84] % of [4141] GB/s",
     100 * gbps("solutions/03_occupancy", "256 48") / gbps("solutions/03_occupancy", "256 0"),
     gbps("solutions/03_occupancy", "256 0")),
    ("03", "there is a quarter of them: [1.66] a ns",
     2**18 / us("solutions/03_occupancy", "64 0") / 1e3),
    ("04", "limit, too: [1.59] and [1.48] blocks a ns, of which labs 1 and 3 reach [1.66] at most.",
     *(rows("04_element_size")[each]["elements_per_s"] / 256e9 for each in ("uint8_t", "uint16_t")),
     max(2**18 / us("solutions/03_occupancy", "64 0"), 2**20 / us("03_occupancy", "64 0"),
         1e8 / 64 / us("solutions/01_first_launch", "add one 100000000 64")) / 1e3),
    ("04", "the small ones gain most, [2.9] times",
     us("04_element_size", "uint8_t") / us("solutions/04_element_size", "uint8_t")),
    ("04", "about as many elements are copied in a ns, [335] to [408]",
     *(rows("04_element_size")[each]["elements_per_s"] / 1e9 for each in ("unsigned", "uint8_t"))),
    ("04", "one is issued in [16] % of the clocks", of("03_occupancy", "256 0", ISSUED)),
    ("04", "[88] % of the peak is the memory's rate",
     rows("04_element_size")["uint4"]["pct_peak"]),
    ("05", "moves [1.21] GB in [270] us, [4483] GB/s", moved("05_coalescing", "8") / 1e9,
     us("05_coalescing", "8"), moved("05_coalescing", "8") / us("05_coalescing", "8") / 1e3),
    ("05", "it reads twice as much, [2.15] GB", of("05_coalescing", "16", DRAM_READ) / 1e9),
    ("05", "at the same rate, [4424] GB/s; stride 32 at [3855]",
     *(moved("05_coalescing", at) / us("05_coalescing", at) / 1e3 for at in ("16", "32"))),
    ("05", "(`--axis stride=64`) at [3252]",
     moved("05_coalescing", "64") / us("counters/05_coalescing", "64") / 1e3),
    ("05", "busiest part reads [2] % more than the mean",
     100 * max(of("05_coalescing", at, BUSIEST) / of("05_coalescing", at, MEAN)
               for at in ("16", "32", "64")) - 100),
    ("05", "reads [1.2] GB, of which [0.13] are wanted, and writes [1.07]",
     of("solutions/05_coalescing", "8", DRAM_READ) / 1e9, WORD / 1e9,
     of("solutions/05_coalescing", "8", DRAM_WRITE) / 1e9),
    ("05", "as much, in [1.28] and [2.53] times the time",
     *(us("solutions/05_coalescing", at) / us("solutions/05_coalescing", "8")
       for at in ("16", "32"))),
    ("06", "the L2 is asked for [3.1] % more bytes only, since [10] % hit in the L1",
     100 * of("06_misalignment", "1", "l2_read_bytes")
     / of("06_misalignment", "0", "l2_read_bytes") - 100,
     100 * of("06_misalignment", "1", "l1_hit_rate")),
    ("06", "sends [34] to [41] % more read requests to the L2 ([20] % for offset 31)",
     *(100 * of("06_misalignment", at, L2_READS) / of("06_misalignment", "0", L2_READS) - 100
       for at in ("1", "8", "31"))),
    ("06", "by its own clock [1120] clocks in place of [1055]", blocks("256 8", "warp_clocks"),
     blocks("256 0", "warp_clocks")),
    ("06", "256 bytes [33] clocks apart, others [284]", blocks("256 32", "apart_in_pair"),
     blocks("256 32", "apart_in_two")),
    ("06", "is achieved tells the same: [71.5] % aligned, [70.3] at offset 32",
     *(100 * of("06_misalignment", at, "achieved_occupancy") for at in ("0", "32"))),
    ("06", "[1] % with parts of sectors, [0.3] % at offset 8",
     *(100 * us("solutions/06_misalignment", "copy " + at)
       / us("solutions/06_misalignment", "copy 0") - 100 for at in ("4", "8"))),
    ("06", "gets [1.9] times as many requests to write",
     of("solutions/06_misalignment", "copy 1", L2_WRITES)
     / of("solutions/06_misalignment", "copy 0", L2_WRITES)),
    ("06", "except at offset 32: there it is [1.6] %",
     100 * us("solutions/06_misalignment", "both 32")
     / us("solutions/06_misalignment", "both 0") - 100),
    ("06", "The aligned copy took [199.2] us in the lab's run and [203.3] in the solution's",
     us("06_misalignment", "0"), us("solutions/06_misalignment", "copy 0")),
    ("07", "and yet [8] % longer: they ask the L2 for [23] % fewer bytes, but in [1.53] times",
     100 * us("07_subdomains", "2") / us("07_subdomains", "1") - 100,
     100 - 100 * of("07_subdomains", "2", "l2_read_bytes")
     / of("07_subdomains", "1", "l2_read_bytes"),
     of("07_subdomains", "2", L2_READS) / of("07_subdomains", "1", L2_READS)),
    ("07", "reads [1.66] times the bytes, and the L2 gets [16] times as many writes",
     of("07_subdomains", "1", DRAM_READ) / of("07_subdomains", "32", DRAM_READ),
     of("07_subdomains", "1", L2_WRITES) / of("07_subdomains", "32", L2_WRITES)),
    ("07", "[67] % of what the L2 is asked for hits; with 16 lanes they are one step's, and [50] %",
     *(100 * of("07_subdomains", lanes, "l2_hit_rate") for lanes in ("8", "16"))),
    ("07", "waits for [163], [183], [162] clocks",
     *(of("07_subdomains", lanes, stall("long_scoreboard")) for lanes in ("8", "16", "32"))),
    ("07", "8, 16 and 32 lanes are within [2] % of each other",
     100 * us("solutions/07_subdomains", "loads first 8")
     / us("solutions/07_subdomains", "loads first 16") - 100),
    ("07", "32 bytes side by side reach [2327] GB/s, of 4-byte words [3033]",
     gbps("solutions/07_subdomains", "copy 2"), gbps("07_subdomains", "8")),
    ("08", "moves only [1.2] times the bytes",
     moved("08_transpose", "naive") / moved("08_transpose", "padded")),
    ("08", "over all banks: [1.04] by the counter. That is [86] % of the rate of a copy",
     of("08_transpose", "padded", WAVES) / of("08_transpose", "padded", LOADED),
     100 * gbps("08_transpose", "padded") / gbps("04_element_size", "uint4")),
    ("08", "All three are within [5] % of each other",
     100 * us("solutions/08_transpose", "tiled")
     / us("solutions/08_transpose", "padded by 2") - 100),
    ("09", "A kernel in place takes [7] % longer",
     longer("09_host_memory", f"{2**26} in place", f"{2**26} pinned")),
    ("09", "its time varies with the host: [2] of [4] rows are `noisy`",
     sum("noisy" in row["flags"] for at, row in rows("09_host_memory").items() if "pageable" in at),
     sum("pageable" in at for at in rows("09_host_memory"))),
    ("09", "is [4.1] us there without any work. So the kernel's [6.7] us for 256 KiB, beside the "
     "copy's [7.2],", 1e6 * device("09_host_memory")["launch_interval_s"],
     *(us("09_host_memory", f"{2**18} {way}") for way in ("in place", "pinned"))),
    ("09", "ten times in place, at [51.3] GB/s as before: [9.7] times as long as a copy and",
     10 * 2**26 / us("solutions/09_host_memory", f"10 times {2**26} in place") / 1e3,
     longer("solutions/09_host_memory", f"10 times {2**26} in place", f"10 times {2**26} pinned")
     / 100 + 1),
    ("09", "at [85] % of the link's rate from 4 MiB on, and at [87] % in the end",
     *(rows("09_host_memory")[f"{size} pinned"]["pct_link"] for size in (2**22, 2**26))),
    ("10", "asks the shared memory [255] times, one after the other, and 7 warps have "
     "nothing to do: [2.3] times as long as `sequential`, with [1.8] times the instructions",
     of("10_reduction", "first thread", LOADED) / BLOCKS,
     us("10_reduction", "first thread") / us("10_reduction", "sequential"),
     of("10_reduction", "first thread", "instructions")
     / of("10_reduction", "sequential", "instructions")),
    ("10", "[97] wavefronts of loads a block against [26]",
     *(of("10_reduction", step, WAVES) / BLOCKS for step in ("interleaved", "sequential"))),
    ("10", "All that costs [3] %",
     100 * us("10_reduction", "interleaved") / us("10_reduction", "sequential") - 100),
    ("10", "is [2.6] times as fast; with 8 words a thread it is [3.7] times, with 64 it is at "
     "[95] % of the peak",
     us("10_reduction", "sequential") / us("10_reduction", "several"),
     us("solutions/10_reduction", "sequential") / us("solutions/10_reduction", "several"),
     rows("solutions/10_reduction")["64 words"]["pct_peak"]),
    ("11", "[1.54] times the rate with as many instructions",
     us("11_nbody", "no 1") / us("11_nbody", "yes 1")),
    ("11", "waits [0.03] clocks for memory and [0.8] for the tile, in place of [4.1] clocks, and "
     "[60] % of the clocks issue an instruction in place of [40]",
     of("11_nbody", "yes 1", stall("long_scoreboard")),
     of("11_nbody", "yes 1", stall("short_scoreboard")),
     of("11_nbody", "no 1", stall("long_scoreboard")),
     of("11_nbody", "yes 1", ISSUED), of("11_nbody", "no 1", ISSUED)),
    ("11", "fill the gaps: [24] % of the occupancy",
     100 * of("11_nbody", "yes 1", "achieved_occupancy")),
    ("11", "[47] % fewer instructions",
     100 - 100 * of("solutions/11_nbody", "forces no 1", "instructions")
     / of("11_nbody", "no 1", "instructions")),
    ("11", "it is [2.3] to [2.7] times as fast",
     *least_and_most([us("11_nbody", at) / us("solutions/11_nbody", "forces " + at)
                      for at in rows("11_nbody")])),
    ("11", "Two bodies a thread save [3] % of the instructions",
     100 - 100 * of("solutions/11_nbody", "two bodies no 1", "instructions")
     / of("solutions/11_nbody", "forces no 1", "instructions")),
    ("12", "32 multiply-adds take [1.2] % more time than one",
     100 * us("12_roofline", "32") / us("12_roofline", "1") - 100),
    ("12", "The sloping roof is [89] % of the memory's peak, and all that a copy reaches "
     "([100] % of `ceiling_gbps`)", *(rows("12_roofline")["1"][pct]
                                      for pct in ("pct_peak", "pct_ceiling"))),
    ("12", "the flat one [97] % of the peak for floats",
     rows("12_roofline")["1024"]["gflops"] / 669.0816),
    ("12", "[66.9] TFLOP/s and [4814] GB/s, the ridge is at [13.9] FLOP a byte, or k = [56]",
     fp32_peak() / 1e3, device("12_roofline")["peak_gbps"],
     fp32_peak() / device("12_roofline")["peak_gbps"],
     4 * fp32_peak() / device("12_roofline")["peak_gbps"]),
    *(("12", cells, 1e-3 * moved("12_roofline", k) / us("counters/12_roofline", k)
       / device("12_roofline")["peak_gbps"] * 100, of("12_roofline", k, ISSUED),
       *[of("12_roofline", k, stall("long_scoreboard"))] * (k != "1024"))
      for k, cells in (("1", "| 1 | [88] % | [7] % | [155] |"),
                       ("32", "| 32 | [87] % | [58] % | [16] |"),
                       ("64", "| 64 | [67] % | [83] % | [4.7] |"),
                       ("128", "| 128 | [35] % | [85] % | [2.3] |"),
                       ("256", "| 256 | [19] % | [93] % | [1.1] |"),
                       ("1024", "| 1024 | [5] % | [99] % | |"))),
    ("12", "a warp waits for memory [29] % of its time, and in [17] % of the clocks none has",
     100 * of("12_roofline", "64", stall("long_scoreboard")) / warps_clocks("64"),
     100 - of("12_roofline", "64", ISSUED)),
    ("12", "it takes [63] to [66] us more than the peak for floats would",
     *least_and_most([us("12_roofline", k) - adding(k) for k in BEYOND])),
    ("12", "A warp has [23], [31] and [79] instructions that are no multiply-adds",
     *(of("12_roofline", k, "instructions") / 2**19 - 4 * int(k) for k in BEYOND)),
    ("12", "these take [12], [16] and [40] us. Clocks without an instruction take [47], [42] and "
     "[12]", *(issue_time(k) - adding(k) for k in BEYOND),
     *(issue_time(k) * (100 / of("12_roofline", k, ISSUED) - 1) for k in BEYOND)),
    ("12", "If all of a scheduler's [15] warps wait for memory in them, that is [2.7] clocks of "
     "wait for each instruction with k = 128, and [2.3] are counted",
     16 * of("12_roofline", "128", "achieved_occupancy"),
     warps_clocks("128") * (1 - of("12_roofline", "128", ISSUED) / 100),
     of("12_roofline", "128", stall("long_scoreboard"))),
    ("12", "of [1056] at once: [62] waves, in each of which a load takes [0.63] us, are [39] of "
     "the [47] us", 132 * 8, 2**16 / (132 * 8), waited("128") / 1980,
     2**16 / (132 * 8) * waited("128") / 1980,
     issue_time("128") * (100 / of("12_roofline", "128", ISSUED) - 1)),
    ("12", "says [32] clocks a warp", waited("1024")),
    ("12", "at [1770], [1710] and [1905] MHz after the rows",
     *(rows("solutions/12_roofline")[k]["sm_clock_mhz"] for k in ("32", "64", "128"))),
    ("12", "are `noisy`, of +-[1.5], [9.3], [7.1] and [1.8] %",
     *(half_width("solutions/12_roofline", k) for k, row in rows("solutions/12_roofline").items()
       if "noisy" in row["flags"])),
    ("12", "[67] % and [77] % at 16 FLOP a byte", rows("12_roofline")["64"]["pct_peak"],
     rows("12_roofline")["64"]["gflops"] / 669.0816),
    ("12", "half the arithmetic ([32.8] TFLOP/s",
     rows("solutions/12_roofline")["1024"]["gflops"] / 1e3),
    ("13", "the intervals are [0.2] to [0.3] % to either side",
     *least_and_most([50 * (r["ratio_hi"] - r["ratio_lo"])
                      for at, r in rows("13_comparing").items() if at.startswith("old again")])),
    ("13", "differ by [0.7] % in the first pair",
     100 * us("solutions/13_comparing", "old 16384")
     / us("solutions/13_comparing", "old again 16384") - 100),
    ("14", "gets [71] million sectors to add to for [67] million bytes",
     of("14_own_kernel", "naive", "lts__t_sectors_op_red.sum") / 1e6, 2**26 / 1e6),
    ("14", "an instruction is issued in [0.14] % of the clocks",
     of("solutions/14_own_kernel", "naive", ISSUED)),
    ("14", "[526] times the rate of `naive`",
     us("solutions/14_own_kernel", "naive") / us("solutions/14_own_kernel", "mine")),
    ("14", "conflict at the banks, [2.3] times for each",
     of("solutions/14_own_kernel", "mine", "shared_bank_conflicts") / 2**21),
    ("15", "says, too: [16.5] and [2.5] for a load",
     *(float(benchmark("matmul-counters", kernel=step)[SECTORS])
       for step in ("naive", "coalesced"))),
    ("15", "[33] clocks and 2, in which 4 multiply-adds each could be done: [0.76] % and [12.5] %",
     32 + 1, 100 / 33 / 4, 100 / 2 / 4),
    ("15", "is busy in [99] % of the clocks; of the second a quarter is missing, and it is busy in "
     "[74] %", *(float(benchmark("matmul-counters", kernel=step)[DELIVERING])
                 for step in ("naive", "coalesced"))),
    *(("15", f"| {each} x {each} | [{waves}] | [{left}] % | [{all_of}] | [{issued}] % | "
       f"[{memory}], [{barrier}] |",
       product(each, WAVES), 25 / product(each, WAVES), product(each, "instructions"),
       *(of("solutions/15_matrix_product", str(each), counter)
         for counter in (ISSUED, stall("long_scoreboard"), stall("barrier"))))
      for each, waves, left, all_of, issued, memory, barrier in (
          (1, "1.50", "16.7", "3.04", 37, "14.0", "8.0"),
          (2, "0.75", "33.3", "2.00", 49, "5.6", "5.5"),
          (4, "0.38", "66.7", "1.52", 65, "1.4", "1.6"),
          (8, "0.25", "100.0", "1.43", 76, "0.4", "0.3"))),
    ("15", "delivers words for [73] % of the time",
     rows("solutions/15_matrix_product")["1"]["pct_peak"] * 4 * product(1, WAVES)),
    ("15", "[30] of these are lost to instructions that are none, [17] to waiting",
     100 - 100 / product(8, "instructions"),
     (100 - of("solutions/15_matrix_product", "8", ISSUED)) / product(8, "instructions")),
    ("15", "the other instructions ([1.11] are left)", multiply_adds("vectors", "instructions")),
    ("15", "is issued in [77] % of the clocks, in place of [63]",
     *(float(benchmark("matmul-counters", kernel=step)[ISSUED]) for step in ("ahead", "vectors"))),
    ("16", "a vote makes it [1.38] times as long",
     us("solutions/16_warps", "one bin by vote") / us("solutions/16_warps", "one bin shared")),
    ("16", "at [261] additions a ns, and `shared` makes [634]:",
     additions("shared memory", "1"), gbps("solutions/16_warps", "one bin shared")),
    ("16", "takes [1.01] wavefronts if all bytes are equal", added("one bin shared", ADDING_WAVES)),
    ("16", "Random bytes take [3.19] wavefronts", added("uniform shared", ADDING_WAVES)),
    ("16", "is issued in [20] % of the clocks: each thread",
     of("solutions/16_warps", "uniform shared", ISSUED)),
    ("16", "get one each [0.42] us; the memory's latency alone is [0.33] us",
     132 * 2048 / gbps("solutions/16_warps", "uniform shared") / 1e3,
     float(benchmark("latency", bench="latency/levels", level="memory")["median_s"]) * 1e6),
    ("16", "[95] times the instructions in `agreed` for random bytes, [3.8] times in `by vote`",
     *(of("solutions/16_warps", f"{data} {form}", "instructions")
       / of("solutions/16_warps", f"{data} shared", "instructions")
       for data, form in (("uniform", "agreed"), ("one bin", "by vote")))),
    ("16", "[27] for a warp's random bytes, [17.5] for skewed ones, [32] for equal ones",
     turns("uniform"), turns("skewed"), turns("one bin")),
    *(("16", "The counter says [1.5] times as many each time",
       (of("solutions/16_warps", f"{data} global", ADDED_SECTORS) - LAST_SUMS)
       / 2**21 / turns(data)) for data in ("uniform", "skewed", "one bin")),
    ("16", "([98] thousand for 65536)", LAST_SUMS / 1e3),
    ("16", "the rate of one word, [1.37] a ns", gbps("solutions/16_warps", "one bin global")),
    ("16", "ask for [1.4] sectors a ns",
     turns("skewed") * 2**21 / us("solutions/16_warps", "skewed global") / 1e3),
    ("16", "Random ones ask for [5.3]: their",
     turns("uniform") * 2**21 / us("solutions/16_warps", "uniform global") / 1e3),
    ("16", "16 words in lines of their own all threads add [5.2] times a ns",
     additions("device memory", "16", "128")),
    ("16", "[2.7] sectors a ns, where 8 words get [2.6]",
     turns("uniform", bins=8) * 2**21 / us("14_own_kernel", "naive") / 1e3,
     additions("device memory", "8", "128")),
    ("16", "of +-[19.71] %: of [49] launches half took [3.04] to [3.05] ms, but one [3.43]",
     half_width("16_warps", "uniform agreed"),
     *(1e3 ** (key != "samples") * rows("16_warps")["uniform agreed"][key]
       for key in ("samples", "q1_s", "q3_s", "max_s"))),
    ("17", "waits [3] clocks for the one before", of("17_registers", "1 1", stall("wait"))),
    ("17", "is issued in [49] % of them", of("17_registers", "1 1", ISSUED)),
    ("17", "still it is [50.3] %; a multiply-add then waits [5.8] clocks. With 8 blocks it is "
     "[50.6]",
     of("17_registers", "1 2", ISSUED), of("17_registers", "1 2", stall("wait")),
     of("17_registers", "1 8", ISSUED)),
    ("17", "they have work for [80] % of the time.", 100 * at_work("64 4")),
    ("17", "are the same, within [0.34] %",
     max(abs(100 * us("solutions/17_registers", at) / us("17_registers", at) - 100)
         for at in rows("17_registers") if not at.startswith("64"))),
    ("17", "costs [28] times the time with one block, and [37] times with the eight",
     *(us("solutions/17_registers", at) / us("17_registers", at) for at in ("64 1", "64 8"))),
    ("17", "with [1.08] loads and [1.08] stores of local memory, and [3.1] times as many",
     *(of("solutions/17_registers", "64 1", counter) / (132 * 8 * 2**14)
       for counter in LOCAL), of("solutions/17_registers", "64 1", "instructions")
     / of("17_registers", "64 1", "instructions")),
    ("17", "[97] % of them hit in the L1, and a warp waits [41] clocks for each load",
     100 * of("solutions/17_registers", "64 1", "l1_hit_rate"), for_a_local_load("64 1")),
    ("17", "the L1's latency is [32]: ", float(
        benchmark("latency", bench="latency/levels", level="L1")["cycles"])),
    ("17", "[672] bytes a thread are [1.4] MB, where the L1 has [0.23]: [39] % hit, and it waits "
     "[240]", 672, 672 * 256 * 8 / 1e6, device("17_registers")["l1_bytes"] / 1e6,
     100 * of("solutions/17_registers", "64 8", "l1_hit_rate"), for_a_local_load("64 8")),
    ("17", "reach [84] % of the rate, where one load a thread leaves [55] %",
     *(100 * gbps(part + "03_occupancy", "256 48") / gbps(part + "03_occupancy", "256 0")
       for part in ("solutions/", ""))),
    ("18", "[58] of [105] are `noisy`, and though half of all intervals are within +-[1.2] %, the "
     "widest is +-[48] %", sum("noisy" in row["flags"] for row in rows("18_overlap").values()),
     len(rows("18_overlap")),
     *(way(half_width("18_overlap", at) for at in rows("18_overlap"))
       for way in (statistics.median, max))),
    ("18", "their medians differ by [4.2] % at most", max(map(repeated, OVERLAPS))),
    ("18", "`host-bound` does not tell, and [0] rows have it", sum(
        "host-bound" in row["flags"] for row in rows("18_overlap").values())),
    ("18", "With 1 chunk all ways take what the model says, within [1.1] %",
     max(map(abs, beyond_model([1], (1, 2, 3))))),
    ("18", "1 stream does, within [1.0] % again, and 2 and 3 streams take at most [11] % more",
     max(map(abs, beyond_model([4], [1]))), max(beyond_model([4], (2, 3)))),
    ("18", "up to [83] % longer, but with 2048 steps in 3 streams up to [14] % shorter",
     max(beyond_model((16, 64, 256), (1, 2, 3))), -min(beyond_model((16, 64, 256), [3]))),
    ("18", "3 streams are best with [16] chunks at 32 and 512 steps, with [64] at 2048",
     *(min((overlap("3 streams", steps, n), n) for _, n in OVERLAPS)[1] for steps in (32, 2048))),
    ("18", "3 streams are best with [16] chunks at 32 and 512 steps",
     min((overlap("3 streams", 512, n), n) for _, n in OVERLAPS)[1]),
    ("18", "There they take [26], [37] and [1.2] % more than the longest stage in one go",
     *(100 * overlap("3 streams", steps, n) / overlap(way, steps) - 100
       for steps, n, way in ((32, 16, "up"), (512, 16, "up"), (2048, 64, "work")))),
    ("18", "`up` takes [2.75] to [2.82] us longer for each, and `down` [1.96] to [2.00]",
     *each_more("up", 256, 64), *each_more("down", 256, 64)),
    ("18", "From 16 to 64 they take [1.89] to [2.89] and [1.84] to [2.01]",
     *each_more("up", 64, 16), *each_more("down", 64, 16)),
    ("18", "the bytes of one of 64 chunks take [19] us, those of one of 256 take [5]",
     overlap("up") / 64, overlap("up") / 256),
    ("18", "each chunk takes another [8.0] to [11.4] us", *least_and_most([
        (modelled()[steps, n][0][0] - modelled()[steps, n][1][0]) / n
        for steps, n in OVERLAPS if n >= 16])),
    ("18", "it starts the same [768] things in [3.30] ms for 3 streams, where 1 stream takes "
     "[7.22]",
     3 * 256, overlap("3 streams", 32, 256) / 1e3, overlap("1 stream", 32, 256) / 1e3),
    ("18", "The shortest of all rows is [20] % above that",
     100 * min(overlap(way, *at) for at in OVERLAPS
               for way in ("1 stream", "2 streams", "3 streams", "graph"))
     / 1e3 / transfer_ms("pinned both", 2**26) - 100),
    ("18", "`work` in 64 chunks takes [16] % longer than in one",
     100 * overlap("work", 2048, 64) / overlap("work", 2048) - 100),
    ("18", "its [1024] blocks don't fill the [1056] places", 2**24 / 256 / 64,
     device("18_overlap")["multiprocessors"] * device("18_overlap")["max_threads"] / 256
     * rows("18_overlap")["2048 graph 64"]["occupancy"]),
    ("18", "streams take [3.811] ms with 64 chunks, copies and all, where their kernels in a row "
     "take [4.386]", overlap("3 streams", 2048, 64) / 1e3, overlap("work", 2048, 64) / 1e3),
    ("18", "with 4 and 16 chunks, within [0.2] %, as the model says; with 64 and 256 they take "
     "[8] and [28] % more",
     max(abs(100 * overlap("2 streams", 2048, n) / overlap("3 streams", 2048, n) - 100)
         for n in (4, 16)),
     *(100 * overlap("2 streams", 2048, n) / overlap("3 streams", 2048, n) - 100
       for n in (64, 256))),
    ("18", "at 512 steps, 2 streams take [10], [23], [33] and [29] % more",
     *(100 * overlap("2 streams", 512, n) / overlap("3 streams", 512, n) - 100
       for n in (4, 16, 64, 256))),
    ("18", "a kernel takes [3.7] us there and has work for [0.4]; by the head of the table an "
     "empty one takes [4.8] us in a full queue, but [0.8] in a graph",
     overlap("work", 32, 256) / 256, overlap("work", 32) / 256,
     *(1e6 * device("18_overlap")[each] for each in ("launch_interval_s", "graph_interval_s"))),
    ("18", "starts [768] things, one in [4.3] us", 3 * 256, overlap("3 streams", 32, 256) / 768),
    ("18", "with 1 chunk it takes as long as 3 streams, within [1.2] %, with 4 chunks [5] to [18] "
     "% longer, with 16 to 256 from [1.3] % less to [5.0] % more",
     max(map(abs, graph_beyond(1))), *graph_beyond(4), -graph_beyond(16, 64, 256)[0],
     graph_beyond(16, 64, 256)[1]),
    ("18", "half of all times are from [4.73] to [4.74] ms, [0.32] more than 3 streams take, which "
     "is what a chunk's copy up takes, [0.32]; the shortest is [4.40]",
     *(1e3 * rows("18_overlap")["2048 graph 4"][each] for each in ("q1_s", "q3_s")),
     (overlap("graph", 2048, 4) - overlap("3 streams", 2048, 4)) / 1e3,
     overlap("up", 2048, 4) / 4e3, 1e3 * rows("18_overlap")["2048 graph 4"]["min_s"]),
    ("18", "work for [25] % of the time in 1 stream, [47] in 2, [61] in 3",
     *(working("18_overlap", way) for way in ("1 stream", "2 streams", "3 streams"))),
    ("18", "`down` writes [6.3] % more bytes to it than are copied; `up` reads [4.7] % more, and "
     "writes [6.3] %", beyond_copied("down", "write"), beyond_copied("up", "read"),
     100 + beyond_copied("up", "write")),
    ("18", "headers of [16] bytes make, and of [12] for what comes upon a request",
     256 * beyond_copied("down", "write") / 100, 256 * beyond_copied("up", "read") / 100),
    ("18", "the way to the host has [5.9] % more to carry",
     100 * on_link("1 stream", "write") / on_link("down", "write") - 100),
    ("18", "of [134] MB that kernels and copies read, [53] to [64] come from it", 2 * 2**26 / 1e6,
     *least_and_most([of("18_overlap", f"512 {way} 16", DRAM_READ) / 1e6
                      for way in ("1 stream", "2 streams", "3 streams", "graph")])),
    ("18", "the other, `work` and `down` in a row are [8.81] ms: within [0.2] %",
     (beside(2048, 1, "other") + overlap("work", 2048) + overlap("down", 2048)) / 1e3,
     100 * (beside(2048, 1, "other") + overlap("work", 2048) + overlap("down", 2048))
     / beside(2048, 1, "both") - 100),
    ("18", "still to come, are [2.45] ms, and [1.6] % more is measured",
     (beside(512, 4, "other") + overlap("work", 512, 4) / 4 + overlap("down", 512, 4)) / 1e3,
     100 * beside(512, 4, "both") / (beside(512, 4, "other") + overlap("work", 512, 4) / 4
                                     + overlap("down", 512, 4)) - 100),
    ("18", "the other kernel costs [0.3] %, and with 2048 steps and 1 to 64 chunks it takes [7.56] "
     "to [7.57] ms, where both kernels in one go take [7.57]",
     100 * beside(512, 4, "urgent") / beside(512, 4, "chunks") - 100,
     *least_and_most([beside(2048, n, "urgent") / 1e3 for n in (1, 4, 16, 64)]),
     (beside(2048, 1, "other") + overlap("work", 2048)) / 1e3),
    ("18", "With 256 chunks it takes [11] % longer than chunks alone at 512 steps, and [4] % "
     "longer than both kernels at 2048",
     100 * beside(512, 256, "urgent") / beside(512, 256, "chunks") - 100,
     100 * beside(2048, 256, "urgent") / (beside(2048, 256, "other") + overlap("work", 2048))
     - 100),
    ("18", "have work for [95] % of the time, where not urgent for [77]",
     *(working("solutions/18_overlap", way) for way in ("urgent", "both"))),
    ("19", "fp8 [0.52] to [0.53] of that. All rows but those of fp8 have [90] to [94] % of the "
     "memory's peak, fp8's [87] to [90]; the two lower ones of these are `noisy`",
     *least_and_most([us("19_number_formats", f"{each} fp8 in fp32")
                      / us("19_number_formats", f"{each} fp16") for each in (128, 512, 2048)]),
     *(most for fp8 in (False, True)
       for most in least_and_most([row["pct_peak"] for at, row in rows("19_number_formats").items()
                                   if ("fp8" in at) == fp8]))),
    ("19", "Kahan has its [4.0] additions a value, and [2.6] times the instructions of fp32",
     a_value("19_number_formats", "fp32 Kahan",
             "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"),
     a_value("19_number_formats", "fp32 Kahan", "instructions")
     / a_value("19_number_formats", "fp32", "instructions")),
    ("19", "waits [79] clocks for memory before each of them, in place of [209]",
     *(of("19_number_formats", "2048 " + form, stall("long_scoreboard"))
       for form in ("fp32 Kahan", "fp32"))),
    ("19", "each takes [5.4] instructions",
     32 * a_value("19_number_formats", "fp8 in fp32", "instructions")),
    ("19", "in [71] to [73] % with fp8, in [22] % at most with the others",
     *issuing("19_number_formats"),
     max(of("19_number_formats", at, ISSUED) for at in rows("19_number_formats")
         if "fp8" not in at)),
    ("19", "With 2048 values these take [1.1] to [4.6] % longer than before, with 128 and 512 at "
     "most [1.7] %, but for fp8", *least_and_most(slower(["2048"])), max(slower(["128", "512"]))),
    ("19", "wants [36] to [42] registers, where [32] were enough",
     *least_and_most([row["registers"] for at, row in rows("solutions/19_number_formats").items()
                      if "fp8" not in at]), rows("19_number_formats")["2048 fp32"]["registers"]),
    ("19", "so that [6] blocks or [5] fit on a multiprocessor in place of [8]; and of [1024] "
     "blocks",
     *(8 * rows("solutions/19_number_formats")["2048 " + form]["occupancy"]
       for form in ("fp32", "bf16")), 8 * rows("19_number_formats")["2048 fp32"]["occupancy"],
     2**29 / 2048 / 256),
    ("19", "fp8 in fp16, which has [32] registers, takes [19], [24] and [33] % longer than in fp32",
     rows("solutions/19_number_formats")["2048 fp8 in fp16"]["registers"],
     *slower(["128", "512", "2048"], fp8=True)),
    ("19", "with [1.0] conversion more a value, and [6.9] instructions. A scheduler issues about "
     "as often as before, in [68] to [74] % of all clocks",
     a_value("solutions/19_number_formats", "fp8 in fp16", CONVERTED)
     - a_value("19_number_formats", "fp8 in fp32", CONVERTED),
     32 * a_value("solutions/19_number_formats", "fp8 in fp16", "instructions"),
     *issuing("solutions/19_number_formats")),
    ("19", "(`math_pipe_throttle`) [5.7] and [5.8] clocks an instruction, which were [2.1] and "
     "[1.7]; for memory [5.4] and [5.0], which were [13] and [14]",
     *(of(name, f"{each} {form}", stall(reason))
       for reason in ("math_pipe_throttle", "long_scoreboard")
       for name, form in (("solutions/19_number_formats", "fp8 in fp16"),
                          ("19_number_formats", "fp8 in fp32")) for each in (128, 512))),
    ("19", "[62] % of the warps that fit are there in the mean; with 512 it is [88]",
     *(100 * of("solutions/19_number_formats", each + " fp8 in fp16", "achieved_occupancy")
       for each in ("2048", "512"))),
    ("20", "By the counters `loads` wait for memory [18] clocks an instruction with 64 KiB, where "
     "it was [0.9] with 32, and have [2.4] million stores to local memory, and [2.5] loads",
     *(of("solutions/20_async_copies", at + " loads", stall("long_scoreboard"))
       for at in ("64", "32")),
     *(of("solutions/20_async_copies", "64 loads", what) / 1e6 for what in LOCAL[::-1])),
    ("20", "hardly wait for it, [0.005] clocks: each of two warps has [282] thousand instructions, "
     "and issues one in [3.1] clocks. At 1980 MHz that is [437] of the [438] us",
     of("solutions/20_async_copies", "32 copies", stall("long_scoreboard")), two_warps(),
     100 / of("solutions/20_async_copies", "32 copies", ISSUED),
     1e5 * two_warps() / of("solutions/20_async_copies", "32 copies", ISSUED) / 1980,
     us("solutions/20_async_copies", "32 copies")),
    ("20", "Reading alone makes [4560] GB/s, and one load, where there is no other, takes [0.333] "
     "us", reads_gbps(), latency_ns() / 1e3),
    ("20", "that is [1.52] MB, or [11.2] KiB for each of [132] multiprocessors",
     reads_gbps() * latency_ns() / 1e6, reads_gbps() * latency_ns() / 132 / 1024,
     device("03_occupancy")["multiprocessors"]),
    ("20", "With 4 KiB the place of a load is taken for [423] ns, in [359] of which",
     on_way_ns("4 loads"), for_a_tile("4 loads", "long_scoreboard")),
    ("20", "It takes 32 KiB to come within [10] % of the peak",
     math.ceil(100 - rows("20_async_copies")["32 copies"]["pct_peak"])),
    *(("20", "64 make [98] % of the rate of reading alone, and 128 no more",
       100 * gbps("20_async_copies", f"{kib} copies") / reads_gbps()) for kib in (64, 128)),
    ("20", "half of 8 KiB makes [0.55] of its rate, half of 64 KiB makes [0.97]",
     *(gbps("20_async_copies", f"{kib // 2} copies") / gbps("20_async_copies", f"{kib} copies")
       for kib in (8, 64))),
    ("20", "With 32 KiB they wait for memory [4.7] clocks an instruction, `copies` [3.2]",
     *(of("20_async_copies", "32 " + way, stall("long_scoreboard"))
       for way in ("loads", "copies"))),
    ("20", "twice as many words take [6.2] times as long",
     us("solutions/20_async_copies", "64 loads") / us("solutions/20_async_copies", "32 loads")),
    ("20", "[262] thousand copies in place of [2.1] million",
     of("20_async_copies", "32 bulk", "smsp__inst_executed_op_tma_ld.sum") / 1e3,
     of("20_async_copies", "32 copies", "smsp__inst_executed_op_ldgsts.sum") / 1e6),
    ("20", "wait at them for [26], [35], [50] and [39] ns of the [183], [134], [197] and [159]",
     *(for_a_tile(f"{kib} bulk", reason) for reason in ("barrier", None)
       for kib in (16, 32, 64, 128))),
    ("20", "wait longer for memory than with `copies`, [464] and [195] ns in place of [358] and "
     "[161]; with 16 they don't, [73] in place of [79]",
     *(for_a_tile(f"{kib} {way}", "long_scoreboard") for both in ((4, 8), (16,))
       for way in ("bulk", "copies") for kib in both)),
    *(("20", "With 4 and 8 the L2 is asked [3] times for 128 bytes, and sends [1.25] times the "
       "bytes; with 16 KiB it is asked [2] times, by `loads` and `copies` [1] time, for [1.00] "
       "times",
       *(of("bytes/20_async_copies", at, counter) / whole
         for at, counter, whole in ((f"{kib} bulk", *ASKED), (f"{kib} bulk", *FETCHED),
                                    ("16 bulk", *ASKED), ("16 copies", *ASKED),
                                    ("16 bulk", *FETCHED)))) for kib in (4, 8)),
    *(("20", "which get [1.00] times the bytes with 4 and 8 KiB, too",
       of("solutions/20_async_copies", f"{kib} bulk", COPIED[0]) / 2**30) for kib in (4, 8)),
    *(("20", "and a turn takes [150] ns, with 32 KiB on their way or 128",
       1e3 * us("solutions/20_async_copies", f"{kib} bulk") / (2**26 / 64 / 132))
      for kib in (64, 128)),
    ("20", "it has [41] % more instructions than with 32",
     100 * of("20_async_copies", "64 bulk", "instructions")
     / of("20_async_copies", "32 bulk", "instructions") - 100),
    ("20", "a block of 256 with [154] takes [60] % of all registers", 154,
     100 * 256 * 154 / 65536),
    ("23", "add [99] times a ns; and the memory brings [1140] words a ns",
     additions("device memory", "262144", "128"), reads_gbps() / 4),
    ("23", "take [3.52] wavefronts, with 10000 bins", 3.52),
    ("23", "A wavefront a clock would be [2376] additions a ns", 132 * 1.98 * 32 / 3.52),
    ("23", "has [71], [50] and [35] % of the additions; in turn each has [50], [25] and [12.5]",
     *(100 * (1 / n) ** 0.5 for n in (2, 4, 8)), *(100 / n for n in (2, 4, 8))),
    ("23", "runs would be [1.4], [2.0] and [2.8] times as long", *(n**0.5 for n in (2, 4, 8))),
    ("23", "With 50000 bins they are [1.03], [1.29] and [1.53]",
     *(us("solutions/23_clusters", f"50000 in runs {n}")
       / us("solutions/23_clusters", f"50000 in turn {n}") for n in (2, 4, 8))),
    ("23", "Global memory takes [2.23] and [2.03] times as long for them as for random words",
     *(squares(n, 0) for n in (200000, 400000))),
    *(("23", "asked to add to as many sectors, but for [0.1] %",
       100 - 100 * of("solutions/23_clusters", f"{n} in turn 0", ADDED_SECTORS)
       / of("23_clusters", f"{n} 0", ADDED_SECTORS)) for n in (200000, 400000)),
    ("23", "Clusters take [1.01] to [1.04] times as long, with bins in turn",
     *least_and_most([squares(*at.split()) for at in WINNING])),
    ("23", "and are [1.6] to [2.1] times as fast",
     *least_and_most([us("solutions/23_clusters", at.split()[0] + " in turn 0")
                      / us("solutions/23_clusters", at.replace(" ", " in turn "))
                      for at in WINNING])),
    ("23", "makes room for threads it is [5.5] times as slow",
     us("23_clusters", "50000 2") / us("23_clusters", "50000 1")),
    ("23", "with 10000 bins [80], [56] and [61] a ns",
     *((1 - 1 / n) * gbps("23_clusters", f"10000 {n}") / 4 for n in (2, 4, 8))),
    *(("23", "By the counter each sends [63] bytes",
       of("23_clusters", f"10000 {n}", "l1tex__m_l1tex2xbar_write_bytes_mem_dshared.sum")
       / ((1 - 1 / n) * 2**27)) for n in (2, 4, 8)),
    ("23", "Of 132 multiprocessors [12] have no work where each has room for one block: [120]",
     132 - clustered("200000 4"), clustered("200000 4")),
    ("23", "[120] blocks run at once", clustered("400000 8")),
    ("23", "two, [264] in all, clusters of 4 have [248] blocks at once and of 8 [240]", 2 * 132,
     *(clustered(f"10000 {n}") for n in (4, 8))),
    ("24", "one copy has [385.0] GB/s, and both ways [762.2] together",
     *(gbps("24_two_devices", f"copy 268435456 {way}") for way in ("one way", "both ways"))),
    ("24", "64 launches on one device in [311] us, and 128 on two in [617]: [4.8] us each",
     *(us("24_two_devices", f"sum 65536 64 {way}") for way in ("one", "split")),
     us("24_two_devices", "sum 65536 64 split") / 128),
    ("24", "used 4 times, `sent` sends half of the words [1] time, and `reached` [4] times",
     linked("sent") / (4 * 2**27), linked("reached") / (4 * 2**27)),
    ("21", "2^20 floats take CUB [2.08] times as long in a stream, where calls follow each other, "
     "but [1.16] times", summed("library", "stream") / summed("fastest", "stream"),
     summed("library", "graph") / summed("fastest", "graph")),
    ("21", "2^28 floats both do, within [1] %",
     100 * summed("library", "graph", 2**28) / summed("fastest", "graph", 2**28) - 100),
    ("21", "the device works [0.7] to [1.8] us, and a call that is waited for takes [13] to [36]",
     *least_and_most([us("21_libraries", f"sum 4096 {way}") for way in ("tree", "block", "CUB")]),
     *least_and_most([called(way) for way in ("tree", "block", "CUB", "Thrust", "cuBLAS")])),
    ("21", "Thrust takes [24] us more than CUB, whose kernel it starts, for memory, for the wait "
     "and for the sum's way to the host and back; with 2^20 it is [21], with 2^28 [22]",
     *(called("Thrust", n) - called("CUB", n) for n in (4096, 2**20, 2**28))),
    ("21", "what the memory takes, [92] to [94] % of its peak",
     *least_and_most([rows("21_libraries")[f"sum {2**28} {way}"]["pct_peak"]
                      for way in ("tree", "block", "CUB")])),
    ("21", "has [3.0] times the instructions of CUB",
     of("21_libraries", f"and wait {2**28} cuBLAS", "instructions")
     / summing("CUB", "instructions", 2**28)),
    ("21", "a scheduler issues one in [14] % of all clocks. Though [98.5] % of the warps that fit "
     "are there, and each waits for memory for [104] of [110] clocks an instruction, its kernels "
     "reach [54] % of the peak",
     *(of("21_libraries", f"and wait {2**28} cuBLAS", counter) * unit for counter, unit in (
         (ISSUED, 1), ("achieved_occupancy", 100), (stall("long_scoreboard"), 1))),
     16 * of("21_libraries", f"and wait {2**28} cuBLAS", "achieved_occupancy")  # warps of each one
     / of("21_libraries", f"and wait {2**28} cuBLAS", ISSUED) * 100,
     rows("solutions/21_libraries")[f"sum {2**28} cuBLAS"]["pct_peak"]),
    ("21", "makes the tree [23] % longer: it loads from shared memory [38] times as often, has "
     "[35] % more instructions, and waits [4.2] clocks an instruction at barriers in place of "
     "[2.2]",
     100 * us("21_libraries", f"sum {2**20} tree") / us("21_libraries", f"sum {2**20} block") - 100,
     summing("tree", LOADED) / summing("block", LOADED),
     100 * summing("tree", "instructions") / summing("block", "instructions") - 100,
     *(summing(way, stall("barrier")) for way in ("tree", "block"))),
    ("21", "With 2^28 a warp waits [141] clocks an instruction for memory",
     summing("tree", stall("long_scoreboard"), 2**28)),
    ("21", "That is [2.8], [5.9] and [15] times a later call", *map(
        after_first, ("tree", "CUB", "cuBLAS"))),
    ("21", "is not as fast (here by [10] %)",
     100 - 100 * called("CUB", name="solutions/21_libraries") / called("CUB")),
    ("21", "Thrust takes [16] us more in place of [24], so that memory was a third of it, and "
     "cuBLAS [6] in place of [19], within [1], since its row is `noisy`",
     *(called(way, name=name) - called("CUB", name=name) for way in ("Thrust", "cuBLAS")
       for name in ("solutions/21_libraries", "21_libraries")),
     called("cuBLAS", name="solutions/21_libraries") / 100
     * half_width("solutions/21_libraries", "and wait 4096 cuBLAS")),
    ("21", "[3.3] us are its kernels, which take [3.9] where CUB's takes [0.7]",
     us("solutions/21_libraries", "sum 4096 cuBLAS") - us("solutions/21_libraries", "sum 4096 CUB"),
     *(us("solutions/21_libraries", "sum 4096 " + way) for way in ("cuBLAS", "CUB"))),
    ("22", "is [95] and [94] %, and would have told nothing",
     *(of_ncu(form, "Achieved Occupancy") for form in ("tiled", "padded"))),
    ("22", "ncu sets the clock, here to [1.60] GHz", of_ncu("tiled", "SM Frequency")),
    ("22", "Of the loads of [176] others it has seen [121]", 256 - (10000 % 256 + 256 // 4),
     memcheck_errors()),
    ("22", "and all [216] words of it", 256 - math.ceil(10000 / 256)),
    ("18", "can't be expected below [1.329] ms, [9.3] % above", transfer_ms("pinned both", 2**26),
     100 * transfer_ms("pinned both", 2**26) / transfer_ms("pinned down", 2**26) - 100),
]


# The same of the page of misconceptions, which has no numbered parts.
BELIEVED = [
    ("takes [88.9] us as the host sees the first one, [7.95] us as it sees a later one of 256, "
     "[3.33] us in a stream, [0.82] us in a graph; the device works for [0.40] us",
     1e6 * rows("01_first_launch")["1000 256"]["first_launch_s"],
     *(us("02_short_kernels", f"256 {way}") for way in ("host", "stream", "graph", "span"))),
    ("looks [30.9] times as fast as it is", mistake("not waited for")),
    ("differs by [0.7] %", 100 * us("solutions/13_comparing", "old 16384")
     / us("solutions/13_comparing", "old again 16384") - 100),
    ("Blocks of 256 threads with one word each have [100] %, and reach [2642] GB/s; with 4 words "
     "each and half of the occupancy they reach [3462]",
     100 * rows("03_occupancy")["256 0"]["occupancy"], gbps("03_occupancy", "256 0"),
     gbps("solutions/03_occupancy", "256 48")),
    ("single bytes moves [815] GB/s, of words of 16 bytes [4257]",
     gbps("04_element_size", "uint8_t"), gbps("04_element_size", "uint4")),
    ("both fetch [32] sectors a warp; stride 32 is [2.19] times as slow: the memory reads two "
     "sectors for each, and at [0.86] of the rate",
     of("05_coalescing", "8", SECTORS), us("05_coalescing", "32") / us("05_coalescing", "8"),
     moved("05_coalescing", "32") / us("05_coalescing", "32") * us("05_coalescing", "8")
     / moved("05_coalescing", "8")),
    ("It takes [3.2] % longer, and as much at offset 8",
     100 * us("06_misalignment", "1") / us("06_misalignment", "0") - 100),
    ("It takes [3.2] % longer, and as much at offset 8",
     100 * us("06_misalignment", "8") / us("06_misalignment", "0") - 100),
    ("[0.86] of the best, in place of [0.95]",
     *(min(us("07_subdomains", each) for each in rows("07_subdomains")) / us("07_subdomains", lanes)
       for lanes in ("16", "8"))),
    ("the tile takes [664.8] us; a padding of one word takes it to [294.1]",
     us("08_transpose", "tiled"), us("08_transpose", "padded")),
    ("the [32] wavefronts",
     of("08_transpose", "tiled", WAVES) / of("08_transpose", "tiled", LOADED)),
    ("[51.4] GB/s in place, [55.1] by a copy. Read ten times it takes [9.7] times as long",
     *(gbps("09_host_memory", f"67108864 {kind}") for kind in ("in place", "pinned")),
     us("solutions/09_host_memory", "10 times 67108864 in place")
     / us("solutions/09_host_memory", "10 times 67108864 pinned")),
    # By the step, wavefronts of a block's requests, which the tracer finds, too; and requests.
    ("where thread t works at word 2 s t and not at t, there are: [3.92]",
     (4 * 2 + 2 * 4 + 8 + 8 + 8 + 4 + 2 + 1) / (4 + 2 + 1 + 1 + 1 + 1 + 1 + 1)),
    ("takes [3] % longer than sequential. What helps, [2.6] times,",
     100 * us("10_reduction", "interleaved") / us("10_reduction", "sequential") - 100,
     us("10_reduction", "sequential") / us("10_reduction", "several")),
    ("it is [2.3] to [2.7] times as fast",
     *least_and_most([us("11_nbody", at) / us("solutions/11_nbody", "forces " + at)
                      for at in rows("11_nbody")])),
    ("take [1.2] % more time than one",
     100 * us("12_roofline", "32") / us("12_roofline", "1") - 100),
    ("and [526] times as fast",
     us("solutions/14_own_kernel", "naive") / us("solutions/14_own_kernel", "mine")),
    ("add [1.37] times a ns, to one in each block's shared memory [261] times",
     additions("device memory", "1"), additions("shared memory", "1")),
    ("With one element a thread it reaches [12.2] % of the peak, with 8 × 8 elements [51.3] %",
     *(rows("solutions/15_matrix_product")[each]["pct_peak"] for each in ("1", "8"))),
    ("a vote before makes it [1.38] times as long",
     us("solutions/16_warps", "one bin by vote") / us("solutions/16_warps", "one bin shared")),
    ("(by the tracer), which takes [29] times as long",
     us("solutions/16_warps", "uniform agreed") / us("solutions/16_warps", "uniform shared")),
    ("reach [49.8] % of the peak, however many there are; 256 with four values each, [95.7] %",
     *(rows("17_registers")[at]["pct_peak"] for at in ("1 8", "4 1"))),
    ("By the rows of an H100 it is [1.58] times with 4 chunks, [1.37] with 16 and [2.93] with 256",
     *(overlap("3 streams", 512, n) / overlap("up", 512) for n in (4, 16, 256))),
    ("to copy up writes [6.3] % as much down the other way", 100 + beyond_copied("up", "write")),
    ("values of fp16 take [241.2] us added in fp16, [240.8] in fp32. Floats take [479.8] us, and "
     "[477.7] with Kahan's", *(us("19_number_formats", "2048 " + form)
                               for form in ("fp16", "fp16 in fp32", "fp32", "fp32 Kahan"))),
    ("to add in fp16, takes [19] to [33] % longer",
     *least_and_most(slower(["128", "512", "2048"], fp8=True))),
    ("is [0.69] us of the device, and a call of Thrust [36] us",
     us("21_libraries", "sum 4096 CUB"), called("Thrust")),
    ("64 MiB take [1.21] ms up and [1.22] down, but [1.33] both at once",
     *(transfer_ms("pinned " + way, 2**26) for way in ("up", "down", "both"))),
    ("all threads add [89] times a ns in global memory, [88] in the shared memory of four blocks "
     "and [76] in that of eight. Into 10000 in a block's own they add [1075] times",
     *(gbps("23_clusters", at) / 4 for at in ("200000 0", "200000 4", "200000 8", "10000 1"))),
    ("then it is [40] in global memory, [84] and [75] in clusters",
     *(gbps("solutions/23_clusters", f"200000 in turn {n}") / 4 for n in (0, 4, 8))),
    ("[1.95] times, but [0.47] times for 2^16 words",
     *(us("24_two_devices", f"sum {at} one") / us("24_two_devices", f"sum {at} split")
       for at in ("268435456 64", "65536 1"))),
    ("The link is [11.5] times as slow as the memory", reads_gbps() / sends_gbps()),
    ("makes two devices [0.16] times as fast as one; used 64 times, [1.66] times",
     *(us("24_two_devices", f"sum {2**28} {n} one") / us("24_two_devices", f"sum {2**28} {n} sent")
       for n in (1, 64))),
    ("and 8 blocks take [37] times as long",
     us("solutions/17_registers", "64 8") / us("17_registers", "64 8")),
]


def said():
    """What is wrong with SAID and BELIEVED."""
    parts = []
    for page in PAGES:
        with open(page, encoding="utf-8") as file:
            parts += re.split(r"^## (\d\d)_.*$", file.read(), flags=re.M)[1:]
    texts = {lab: " ".join(text.split()) for lab, text in zip(parts[::2], parts[1::2])}
    with open(BELIEFS, encoding="utf-8") as file:
        texts["of misconceptions"] = " ".join(file.read().split())
    for lab, phrase, *values in SAID + [("of misconceptions", *each) for each in BELIEVED]:
        for what in quoted.wrong(texts[lab], phrase, values):
            yield f"lab {lab} {what}"


def main():
    wrong = list(said())
    for name, row, counter, by, wanted, close in CLAIMS:
        own = {key: each["values"] for key, each in rows("counters/" + name).items()}
        divisor = own[by][counter] if by in own else own[row].get(by, by)
        ratio = own[row][counter] / divisor
        if abs(ratio - wanted) > close:
            wrong.append(f"{name}, {row}: {counter} by {by} is {ratio:.4g}, not {wanted}")
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    all_of = len(SAID) + len(BELIEVED) + len(CLAIMS)
    print(f"{all_of - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
