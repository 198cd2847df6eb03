# lab_counters.py - holds what the labs' solutions say of counters against the stored rows.
import json
import sys

FOLDER = "examples/labs/h200/counters/"
DRAM_READ, DRAM_WRITE = "dram_read_bytes", "dram_write_bytes"
SECTORS = "load_sectors_per_request"
ISSUED = "smsp__issue_active.avg.pct_of_peak_sustained_active"
LOADED = "smsp__inst_executed_op_shared_ld.sum"
WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
STORED_WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
LINES = "smsp__sass_l1tex_tags_mem_global.sum"
L2_READS = "lts__t_requests_srcunit_tex_op_read.sum"
L2_WRITES = "lts__t_requests_srcunit_tex_op_write.sum"
WORD = 2**27  # bytes of the words of lab 5
BLOCKS = 2**18  # in lab 10


def stall(reason):
    return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"


# File, configuration, counter, what it is divided by (a number; another configuration of the file,
# whose counter it is; or another counter of the same row), the ratio, and how close that is.
CLAIMS = [
    ("03_occupancy", "1024 0", "achieved_occupancy", 1, 0.65, 0.005),
    ("03_occupancy", "256 0", "achieved_occupancy", 1, 0.72, 0.005),
    ("03_occupancy", "64 0", "achieved_occupancy", 1, 0.26, 0.005),
    ("03_occupancy", "1024 0", stall("mio_throttle"), 1, 6.6, 0.05),
    ("03_occupancy", "256 0", stall("mio_throttle"), 1, 0.4, 0.05),
    ("05_coalescing", "1", SECTORS, 1, 4, 0),
    ("05_coalescing", "2", SECTORS, 1, 8, 0),
    ("05_coalescing", "4", SECTORS, 1, 16, 0),
    ("05_coalescing", "8", SECTORS, 1, 32, 0),
    ("05_coalescing", "16", SECTORS, 1, 32, 0),
    ("05_coalescing", "32", SECTORS, 1, 32, 0),
    ("05_coalescing", "8", DRAM_READ, WORD, 8, 0.01),
    ("05_coalescing", "16", DRAM_READ, WORD, 16, 0.01),
    ("05_coalescing", "32", DRAM_READ, WORD, 16, 0.01),
    ("solutions/05_coalescing", "2", DRAM_READ, WORD, 3, 0.1),
    ("solutions/05_coalescing", "8", DRAM_READ, WORD, 9, 0.1),
    ("solutions/05_coalescing", "8", DRAM_WRITE, WORD, 8, 0.1),
    ("06_misalignment", "0", SECTORS, 1, 4, 0),
    ("06_misalignment", "1", SECTORS, 1, 5, 0),
    ("06_misalignment", "8", SECTORS, 1, 4, 0),
    ("06_misalignment", "16", SECTORS, 1, 4, 0),
    ("06_misalignment", "1", "l2_read_bytes", "0", 1.031, 0.001),
    ("06_misalignment", "8", "l2_read_bytes", "0", 1, 0),
    ("06_misalignment", "1", "l1_hit_rate", 1, 0.1, 0.005),
    ("06_misalignment", "1", DRAM_READ, "0", 1, 0.001),
    ("06_misalignment", "8", DRAM_READ, "0", 1, 0.001),
    ("06_misalignment", "1", LINES, "0", 1.5, 0),
    ("06_misalignment", "8", LINES, "0", 1.5, 0),
    ("06_misalignment", "32", LINES, "0", 1, 0),
    ("06_misalignment", "1", L2_READS, "0", 1.34, 0.005),
    ("06_misalignment", "8", L2_READS, "0", 1.41, 0.005),
    ("06_misalignment", "31", L2_READS, "0", 1.2, 0.005),
    ("06_misalignment", "32", L2_READS, "0", 1, 0),
    ("06_misalignment", "0", stall("long_scoreboard"), 1, 61, 0.5),
    ("06_misalignment", "8", stall("long_scoreboard"), 1, 65, 0.5),
    ("06_misalignment", "32", stall("long_scoreboard"), "0", 1, 0.005),
    ("06_misalignment", "0", "achieved_occupancy", 1, 0.718, 0.0005),
    ("06_misalignment", "32", "achieved_occupancy", 1, 0.706, 0.0005),
    ("07_subdomains", "1", SECTORS, 1, 32, 0),
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
]


def rows(name):
    """The values of a file's rows, by their axes; by their kernels, too, where these differ."""
    with open(f"{FOLDER}{name}.json", encoding="utf-8") as file:
        found = json.load(file)["rows"]
    several = len({row["kernel"] for row in found}) > 1
    return {
        " ".join([row["kernel"]] * several + [str(v) for v in row["axes"].values()]): row["values"]
        for row in found
    }


def main():
    wrong = 0
    for name, row, counter, by, wanted, close in CLAIMS:
        values = rows(name)
        divisor = by
        if by in values:
            divisor = values[by][counter]
        elif by in values[row]:
            divisor = values[row][by]
        ratio = values[row][counter] / divisor
        if abs(ratio - wanted) > close:
            print(f"{name}, {row}: {counter} by {by} is {ratio:.4g}, not {wanted}")
            wrong += 1
    # rsqrtf() in place of a root and a division.
    before, after = rows("11_nbody")["no 1"], rows("solutions/11_nbody")["forces no 1"]
    if round(100 * (1 - after["instructions"] / before["instructions"])) != 47:
        print("11_nbody: rsqrtf() does not save 47 % of the instructions")
        wrong += 1
    print(f"{len(CLAIMS) + 1 - wrong} passed, {wrong} failed, 0 skipped")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
