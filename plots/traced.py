#!/usr/bin/env python3
"""Puts the tracer's counts beside those of a GPU, for tests/traced.cu: a CSV on standard output.

    GPUMB_TRACE_BLOCKS=0 GPUMB_TRACE_CSV=trace.csv ./traced
    ncu --csv --metrics ... ./traced-gpu >ncu.csv       # bench/h200-memory.md has the metrics
    plots/traced.py trace.csv ncu.csv ...

Of all blocks, and summed over the accesses of a kernel of one kind: requests and sectors of global
memory, requests and wavefronts of shared memory; and the lines of all global accesses of a kernel.
Exit code 1 if one differs that is not known to.
"""
import csv
import sys

L1 = "l1tex__%s_pipe_lsu_mem_global_op_%s.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum"
INSTRUCTIONS = "smsp__inst_executed_op_shared_%s.sum"
TAGS = "smsp__sass_l1tex_tags_mem_global.sum"
OPERATIONS = {"load": ["ld"], "store": ["st"], "atomic": ["red", "atom"]}

# Why a kernel's counts differ: by kernel, memory and access.
KNOWN = {
    ("reduce_interleaved", "shared", "load"): "counted: also instructions of which no lane takes "
                                              "part; in the first step nvcc joins the two loads "
                                              "into one of 8 bytes (LDS.64)",
    ("reduce", "shared", ""): "counted: also instructions of which no lane takes part",
    ("histogram_shared", "shared", "store"): "counted: also instructions of which no lane takes "
                                             "part",
    ("one_counter", "global", "atomic"): "nvcc adds up in the warp first, since all lanes have one "
                                         "address: one lane's request",
    ("halves", "global", ""): "nvcc joins the arms of the condition into one access",
    ("two_sites", "global", ""): "nvcc joins the arms of the condition into one access",
    ("ragged", "global", ""): "nvcc unrolls the loop by 4: its rest is a loop of its own; "
                              "ragged_plain is not unrolled",
}


def traced(path):
    """(kernel, memory, access) -> [requests, sectors or wavefronts]; kernel -> lines."""
    sums, lines = {}, {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            kernel, memory = row["kernel"], row["memory"]
            if kernel.startswith("gpumbi_"):
                continue
            pair = sums.setdefault((kernel, memory, row["access"]), [0, 0])
            pair[0] += int(row["requests"])
            pair[1] += int(row["sectors" if memory == "global" else "wavefronts"])
            lines[kernel] = lines.get(kernel, 0) + int(row["lines"])
    return sums, lines


def counted(paths):
    """One dictionary of metrics for each launch; several files are of the same launches."""
    launches = {}
    for path in paths:
        with open(path, newline="") as file:
            quoted = [line for line in file if line.startswith('"')]
        for row in csv.DictReader(quoted):
            value = float(row["Metric Value"].replace(",", ""))
            launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = int(value)
    return [launches[i] for i in sorted(launches)]


def reason(kernel, memory, access):
    for (start, where, how), text in KNOWN.items():
        if kernel.startswith(start) and kernel != "ragged_plain" and where == memory and \
                how in ("", access):
            return text
    return ""


def main():
    (trace, lines), gpu = traced(sys.argv[1]), counted(sys.argv[2:])
    if len(lines) != len(gpu):
        sys.exit(f"traced.py: {len(lines)} kernels traced, {len(gpu)} counted")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["kernel", "memory", "access", "what", "traced", "counted", "difference"])
    unknown = 0

    def write(kernel, memory, access, what, mine, theirs):
        nonlocal unknown
        why = reason(kernel, memory, access) if mine != theirs else ""
        unknown += mine != theirs and not why
        out.writerow([kernel, memory, access, what, mine, theirs,
                      why or ("" if mine == theirs else "not known")])

    for kernel, metrics in zip(lines, gpu):
        for memory in "global", "shared":
            for access, names in OPERATIONS.items():
                mine = trace.get((kernel, memory, access), [0, 0])
                if memory == "global":
                    theirs = [sum(metrics.get(L1 % (what, name), 0) for name in names)
                              for what in ("t_requests", "t_sectors")]
                else:
                    theirs = [metrics.get(INSTRUCTIONS % names[-1], 0),
                              metrics.get(WAVEFRONTS % names[-1], 0)]
                if not any(mine) and not any(theirs):
                    continue
                write(kernel, memory, access, "requests", mine[0], theirs[0])
                write(kernel, memory, access, "sectors" if memory == "global" else "wavefronts",
                      mine[1], theirs[1])
        if TAGS in metrics:
            write(kernel, "global", "", "lines", lines[kernel], metrics[TAGS])
    return unknown > 0


if __name__ == "__main__":
    sys.exit(main())
