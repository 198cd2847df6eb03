"""One page on a device: what it reaches, each figure with its share of the theoretical one and,
beside it, the stored figures of other runs and devices.

usage: passport.py FOLDER [STORED]      rows of the quick profiles; rows to set beside them
"""

import math
import sys
import textwrap
from collections import namedtuple

from families import visible
from rows import Problem, read_all

# Of the rows of `bench` with these values: the largest of `column`, or the smallest, times `scale`.
# `share`: the columns that say what it is of.
Figure = namedtuple("Figure", "label bench where column scale unit best share")


def most(label, bench, share=("pct_peak",), **where):
    return Figure(label, bench, where, "gbps", 1, "GB/s", max, share)


def flops(label, bench, share=("pct_peak",), **where):
    return Figure(label, bench, where, "gflops", 1e-3, "TFLOP/s", max, share)


def operations(label, operation):
    return Figure(label, "units/chain", {"operation": operation}, "gflops", 1e-3, "TOP/s", max,
                  ("pct_peak",))


def least(label, bench, unit="ns", column="median_s", **where):
    scale = {"ms": 1e3, "us": 1e6, "ns": 1e9, "cycles": 1}[unit]
    return Figure(label, bench, where, column, scale, unit, min, ())


LINK, NONE = ("pct_link",), ()
TYPE_PEAK = ("pct_type_peak",)  # of the type's arithmetic: roofline's rows have it
BLOCK = {"column": "cycles", "type": "fp32", "threads": "256"}

PAGE = {
    "Memory": (
        most("Memcpy, device to device", "copy/fastest", kernel="memcpy"),
        most("copy", "copy/fastest", kernel="fastest"),
        most("writing alone", "zcopy/best", mode="write"),
        most("reading alone", "zcopy/best", mode="read"),
        most("STREAM triad", "stream/kernels", operation="triad"),
        most("misaligned copy, 1 element off", "offset/misaligned", elem="16", offset="1"),
        most("stride 2, 4 B, of useful bytes", "strided/memory", elem="4", stride="2"),
    ),
    "Caches": (
        most("L1, 4 MiB read again", "zcopy/working_set", NONE, kernel="read again",
             footprint="4194304"),
        most("L2, past the L1", "zcopy/working_set", NONE, kernel="read again, past L1",
             footprint="4194304"),
        most("shared memory", "stream/shared", NONE),
    ),
    "Latency": (
        least("a load from the L1", "latency/levels", kernel="L1"),
        least("a load from the L2", "latency/levels", kernel="L2"),
        least("a load from memory", "latency/levels", kernel="memory"),
        least("a load from shared memory", "latency/place", place="shared memory"),
        least("a load from pinned host memory", "latency/place", place="pinned host memory"),
        least("atomic addition, device memory", "latency/atomic", memory="device memory",
              adders="1"),
        least("block-wide sum, fp32, 256", "group/block", "cycles", algorithm="reduce", **BLOCK),
        least("block-wide scan, fp32, 256", "group/block", "cycles", algorithm="inclusive scan",
              **BLOCK),
    ),
    "Launches": (
        least("a process's context", "launch/process", "ms", kernel="context"),
        least("first launch and completion", "launch/process", "us", kernel="first launch"),
        least("later launch and completion", "launch/process", "us", kernel="later launch"),
        least("each of many in a stream", "launch/interval", "us", "each_s", way="stream"),
        least("each of many in a graph", "launch/interval", "us", "each_s", way="graph"),
    ),
    "Transfers": (
        most("pinned memory, up", "transfer/size", LINK, path="pinned up"),
        most("pinned memory, down", "transfer/size", LINK, path="pinned down"),
        most("pinned memory, both at once", "transfer/size", LINK, path="pinned both"),
        most("pageable memory, up", "transfer/size", LINK, path="pageable up"),
        most("pageable memory, down", "transfer/size", LINK, path="pageable down"),
        most("a kernel reads pinned memory", "memory_kinds/zero_copy", LINK, mode="kernel reads"),
        least("4 B of pinned memory, up", "transfer/size", "us", path="pinned up", size="4"),
    ),
    "Arithmetic": (
        flops("n-body, 20 FLOP by convention", "nbody/best"),
        flops("fp32 multiply-adds", "roofline/roofs", TYPE_PEAK, type="f32"),
        flops("fp64 multiply-adds", "roofline/roofs", TYPE_PEAK, type="f64"),
        flops("fp16 multiply-adds", "roofline/roofs", TYPE_PEAK, type="f16"),
        flops("fp64 by tensor cores", "tensor/mma", type="f64"),
        flops("fp16 by tensor cores, a warp", "tensor/mma", type="f16"),
        flops("fp16 by tensor cores, four warps", "tensor/wgmma", type="f16"),
        flops("fp8 by tensor cores, four warps", "tensor/wgmma", type="e4m3"),
        operations("int32 multiply-adds", "mad i32"),
        operations("int32 logic", "and xor i32"),
        operations("4 products of bytes (dp4a)", "dp4a i8"),
        operations("reciprocal roots, fp32", "rsqrt f32"),
        flops("matrix product, fp32", "matmul/size", kernel="ahead"),
        flops("the vendor's library's, fp32", "matmul/size", kernel="library f32"),
        flops("matrix product, bf16", "matmul/size", NONE, kernel="staged"),
        flops("the vendor's library's, bf16", "matmul/size", NONE, kernel="library bf16"),
    ),
    "Reductions, scans, transposes, stencils": (
        most("sum by the fastest kernel", "reduction/size", kernel="fastest"),
        most("the vendor's library's sum", "reduction/size", kernel="library"),
        least("sum of 2^16 in a graph", "reduction/size", "us", kernel="fastest", n="65536",
              launch="graph"),
        most("scan in one launch", "scan/size", kernel="scan"),
        most("transpose, 4-byte words", "transpose/side", kernel="transpose"),
        most("histogram of 256 bins", "histogram/data", kernel="histogram"),
        most("Jacobi sweep, fp64", "stencil/jacobi"),
    ),
}


def number(row, column):
    try:
        if column == "each_s":
            return float(row["median_s"]) / float(row["elements"])
        if column == "pct_type_peak":
            return 100 * float(row["gflops"]) / float(row["type_peak_gflops"] or "nan")
        return float(row[column])
    except (KeyError, ValueError, ZeroDivisionError):
        return math.nan


def by_device(rows, column="device"):
    """The rows that are ok, by device, or what is in another column, and bench."""
    devices = {}
    for row in rows:
        if row["status"] == "ok" and row[column]:
            name = f"{row[column]} ({row['backend']})"
            devices.setdefault(name, {}).setdefault(row["bench"], []).append(row)
    return devices


def value(figure, benches):
    """The figure, and its share of a theoretical one; nan: there is none."""
    of_memory = figure.column == "gbps" and "pct_peak" in figure.share
    found = [
        r
        for r in benches.get(figure.bench, [])
        if all(r.get(k) == v for k, v in figure.where.items())
        and not math.isnan(number(r, figure.column))
        and not (of_memory and "cached" in r["flags"].split(";"))
    ]
    if not found:
        return math.nan, math.nan
    row = figure.best(found, key=lambda r: number(r, figure.column))
    shares = [number(row, s) for s in figure.share]
    return number(row, figure.column) * figure.scale, shares[0] if shares else math.nan


def written(x):
    return "-" if math.isnan(x) else f"{x:.4g}" if x < 1000 else f"{x:.0f}"


def headings(names):
    """How wide columns of these names are, as their longest word or a number, and their lines."""
    wide = [max(10, *map(len, n.split())) for n in names]
    lines = []
    for name, room in zip(names, wide):
        own = textwrap.wrap(name, room)
        lines.append(own)
    deep = max(map(len, lines), default=0)
    lines = [[""] * (deep - len(own)) + own for own in lines]
    return wide, [[own[i] for own in lines] for i in range(deep)]


def page(measured, stored={}):
    if not measured:
        raise SystemExit("passport.py: no rows that are ok: run `make passport`")
    here = max(measured, key=lambda name: (not name.endswith("(cpu)"), len(measured[name])))
    mine = measured[here]
    alike = [name for name in stored if name.endswith("(cpu)") == here.endswith("(cpu)")]
    beside = sorted(alike, key=lambda name: (name != here, name))
    wide, heads = headings(beside)
    print(f"{visible(here)}: what it reaches\n")
    for i, line in enumerate(heads or [[]]):
        own = "here" if i == max(len(heads), 1) - 1 else ""
        cells = "".join(f"  {visible(w):>{n}}" for w, n in zip(line, wide))
        print(f"{'':34}{own:>10} {'':8}{'':14}{cells}".rstrip())
    for section, figures in PAGE.items():
        lines = []
        for f in figures:
            x, share = value(f, mine)
            others = [value(f, stored[name])[0] for name in beside]
            if math.isnan(x) and all(map(math.isnan, others)):
                continue
            of = "link" if f.share == ("pct_link",) else "peak"
            said = "" if math.isnan(share) else f"{share:.1f} % of {of}"
            lines.append(
                f"  {f.label:32}{written(x):>10} {f.unit:8}{said:>14}"
                + "".join(f"  {written(o):>{n}}" for o, n in zip(others, wide))
            )
        if lines:
            print(section, *lines, sep="\n")
    print("\n-: not measured. Beside the figures of here: those that are stored in bench/results.")


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    try:
        page(*(by_device(read_all([f], quiet=True)) for f in sys.argv[1:]))
    except Problem as problem:
        raise SystemExit(f"passport.py: {problem}")


if __name__ == "__main__":
    main()
