"""Times the same launches of PyTorch and Triton by gpumb and by the timers of others, in one run.

    python3 bench/timers.py [--csv FILE] [--quick]
    python3 bench/timers.py --graphs FILE

Needs PyTorch and Triton on an NVIDIA GPU; CuPy's benchmark and nvbench's cuda.bench are tried where
they are installed. The truth is what CUPTI's time stamps say by torch.profiler: the median of 50
runs, less that of an empty kernel. Another process takes it: one in which CUPTI has recorded
launches more slowly from then on.
"""

import argparse
import contextlib
import csv
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import globaltimer

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "python"))
import gpumb  # noqa: E402

COLUMNS = (
    "case",
    "bytes",
    "cache",
    "timer",
    "truth_s",
    "median_s",
    "error",
    "point_s",
    "meaning",
    "flags",
    "device",
    "versions",
    "date_utc",
)


@triton.jit
def empty(out):
    pass


@triton.jit
def spin(out, ns):
    began = globaltimer()
    now = began
    while now - began < ns:
        now = globaltimer()
    tl.store(out, now - began)


@triton.jit
def add(x, y, out, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


# ---- what is launched ----------------------------------------------------------------------------


def cases():
    """Names, bytes that are read and written (0: unknown), and what launches."""
    clock = torch.zeros(1, dtype=torch.int64, device="cuda")
    for ns in (2_000, 5_000, 20_000, 200_000, 5_000_000):
        yield f"spin {ns // 1000} us", 0, lambda ns=ns: spin[(1,)](clock, ns)
    for power in range(18, 30, 2):
        x = torch.rand(2**power // 4, device="cuda")
        out = torch.empty_like(x)
        yield "copy", 2 * 2**power, lambda out=out, x=x: out.copy_(x)
    n = 1 << 20
    x, y, out = (torch.rand(n, device="cuda") for _ in range(3))
    yield "Triton add", 12 * n, lambda: add[(n // 1024,)](x, y, out, n, 1024)
    for side in (4096, 1024):
        a, b = (torch.rand(side, side, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        c = torch.empty_like(a)
        yield f"mm bf16 {side}", 0, lambda a=a, b=b, c=c: torch.mm(a, b, out=c)
    z = torch.rand(1 << 24, device="cuda")
    total = torch.empty((), device="cuda")
    yield "sum", 4 << 24, lambda: torch.sum(z, dim=0, out=total)
    of_rows = torch.empty(4096, device="cuda")
    yield "sum of rows", 4 << 24, lambda: torch.sum(z.view(4096, 4096), dim=1, out=of_rows)


# ---- the truth -----------------------------------------------------------------------------------


def spans(work):
    """When all that the device does begins and ends, in seconds, in order."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        work()
        torch.cuda.synchronize()
    events = [e for e in profiler.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    events.sort(key=lambda e: e.time_range.start)
    return [(1e-6 * e.time_range.start, 1e-6 * e.time_range.end) for e in events]


def stamps(launch, cache, runs=50):
    """Seconds of the median run on the device."""
    large = torch.zeros(64 << 20, dtype=torch.int32, device="cuda")
    flush = {"hot": lambda: None, "cold": large.amax, "written": large.zero_}[cache]
    ends = time.monotonic() + 0.3
    while time.monotonic() < ends:  # as warm as within the timers
        launch()
        torch.cuda.synchronize()
    own, found = len(spans(launch)), spans(lambda: [(flush(), launch()) for _ in range(runs)])
    each = len(found) // runs
    if not own or len(found) != each * runs:
        raise RuntimeError(f"CUPTI saw {len(found)} kernels in {runs} runs, {own} in one")
    ends = range(each, len(found) + 1, each)
    return statistics.median(found[i - 1][1] - found[i - own][0] for i in ends)


def chosen_cases(quick):
    return [c for i, c in enumerate(cases()) if not quick or i in (0, 2, 11)]


def write_truths(path, quick):
    """Seconds of each case by kind of cache."""
    out = torch.zeros(1, dtype=torch.int64, device="cuda")
    empty[(1,)](out)  # compiles
    floor_s = {cache: stamps(lambda: empty[(1,)](out), cache) for cache in TIMERS}
    print(f"empty kernel: {floor_s}", file=sys.stderr)
    found = [
        {cache: stamps(launch, cache) - floor_s[cache] for cache in TIMERS}
        for _, _, launch in chosen_cases(quick)
    ]
    pathlib.Path(path).write_text(json.dumps(found), encoding="utf-8")


def truths(quick):
    """What write_truths() finds in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "truths.json")
        command = [sys.executable, __file__, "--truths", path] + ["--quick"] * quick
        subprocess.run(command, check=True)
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


# ---- the timers: each returns seconds, and what else there is to say -----------------------------


def by_gpumb(cold, **limits):
    def timer(launch):
        row = gpumb.time(launch, cold=cold, **limits)
        return row.median, row.meaning, ";".join(f for f in row.flags if f != "unverified")

    return timer


def by_do_bench(launch):
    return triton.testing.do_bench(launch, return_mode="median") * 1e-3, "", ""


def by_gpumb_do_bench(launch):
    return gpumb.do_bench(launch, return_mode="median") * 1e-3, "", ""


def by_cudagraph(launch):
    with torch.cuda.stream(torch.cuda.Stream()):
        return triton.testing.do_bench_cudagraph(launch, return_mode="median") * 1e-3, "", ""


def by_torch(launch):
    import torch.utils.benchmark as benchmark

    timer = benchmark.Timer("launch()", globals={"launch": launch})
    return timer.blocked_autorange(min_run_time=0.2).median, "", ""


def by_cupy(launch):
    import cupyx.profiler

    times = cupyx.profiler.benchmark(launch, n_repeat=100, n_warmup=10)
    return statistics.median(times.gpu_times.ravel().tolist()), "", ""


def by_nvbench(launches):
    """All at once, since it can run only once in a process: seconds by case and cache, and what
    each case took."""
    import cuda.bench as bench

    def measured(launch):
        def benchmark(state):
            def run(at):
                with torch.cuda.stream(torch.cuda.ExternalStream(at.get_stream().addressof())):
                    launch()

            state.exec(run)

        return benchmark

    began = time.monotonic()
    for number, launch in enumerate(launches):
        function = measured(launch)
        function.__name__ = f"case{number}"
        bench.register(function)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.json")
        bench.run_all_benchmarks([sys.argv[0], "--json", path, "--quiet", "--timeout", "3"])
        found = json.loads(pathlib.Path(path).read_text())
    point_s = (time.monotonic() - began) / len(launches)
    rows = []
    for benchmark in found["benchmarks"]:
        summaries = benchmark["states"][0]["summaries"] or []
        value = {
            s["tag"]: float(next(d["value"] for d in s["data"] if d["name"] == "value"))
            for s in summaries
            if "data" in s
        }
        rows.append(
            {
                "hot": value.get("nv/batch/time/gpu/mean"),
                "written": value.get("nv/cold/time/gpu/mean"),
            }
        )
    return rows, point_s


# For a point in 0.3 s, whatever its times do.
SHORT = {"warmup_s": 0.1, "budget_s": 0.15}

# What caches hold before a run: what the run before has left (hot), what was read (cold), or
# written (dirty lines, which the kernel has to wait for).
TIMERS = {
    "hot": {
        "gpumb": by_gpumb(False),
        "gpumb in 0.3 s": by_gpumb(False, **SHORT),
        "do_bench_cudagraph": by_cudagraph,
        "torch.utils.benchmark": by_torch,
        "cupyx benchmark": by_cupy,
    },
    "cold": {
        "gpumb": by_gpumb(True),
        "gpumb in 0.3 s": by_gpumb(True, **SHORT),
        "gpumb.do_bench": by_gpumb_do_bench,
    },
    "written": {"do_bench": by_do_bench},
}


def write_rows(path, columns, rows):
    """The whole file, or none of it."""
    with open(path + ".part", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    os.replace(path + ".part", path)


# ---- the truth in graphs -------------------------------------------------------------------------


def in_graph(launch, runs=20):
    """How long a run takes in a graph of so many, by CUPTI's time stamps, and the next one begins
    how long after it: medians, seconds."""
    with torch.cuda.stream(torch.cuda.Stream()):
        launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(runs):
            launch()
    for _ in range(runs):
        graph.replay()
    torch.cuda.synchronize()
    own = len(spans(launch))
    found = spans(lambda: [graph.replay() for _ in range(5)])
    first = range(0, len(found) - own, own)
    return (
        statistics.median(found[i + own - 1][1] - found[i][0] for i in first),
        statistics.median(found[i + own][0] - found[i][0] for i in first),
    )


def write_graphs(path):
    """A row for each case: one launch by the host, in a graph, and gpumb's interval less its gap;
    spans less those of an empty kernel."""
    out = torch.zeros(1, dtype=torch.int64, device="cuda")
    empty_s = stamps(lambda: empty[(1,)](out), "hot"), in_graph(lambda: empty[(1,)](out))[0]
    rows = []
    for case, size, launch in cases():
        span_s, period_s = in_graph(launch)
        single_s = stamps(launch, "hot") - empty_s[0]
        row = (case, size or "", single_s, span_s - empty_s[1], period_s)
        rows.append((*row, gpumb.time(launch).median, torch.cuda.get_device_name()))
    columns = ("case", "bytes", "single_s", "graph_s", "period_s", "gpumb_s", "device")
    write_rows(path, columns, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", default="timers.csv", help="the file to write")
    parser.add_argument("--quick", action="store_true", help="three cases alone")
    parser.add_argument("--graphs", metavar="FILE", help="write the truth in graphs instead")
    parser.add_argument("--truths", metavar="FILE", help="write the truth alone")
    options = parser.parse_args()
    if options.graphs:
        write_graphs(options.graphs)
        return
    if options.truths:
        write_truths(options.truths, options.quick)
        return
    truth_s = truths(options.quick)
    out = torch.zeros(1, dtype=torch.int64, device="cuda")
    first = gpumb.time(lambda: empty[(1,)](out))  # compiles and warms up
    versions = f"gpumb {first['gpumb']} torch {torch.__version__} triton {triton.__version__}"
    for module in ("cupy", "cuda.bench"):
        with contextlib.suppress(Exception):
            versions += f" {module} {importlib.import_module(module).__version__}"
    rows = []
    chosen = chosen_cases(options.quick)

    def add_row(number, cache, name, median_s, point_s, meaning="", flags=""):
        case, size, _ = chosen[number]
        truth = truth_s[number][cache]
        error = median_s / truth - 1
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        row = (case, size or "", cache, name, truth, median_s, error, point_s, meaning, flags)
        rows.append((*row, torch.cuda.get_device_name(), versions, now))
        print(
            f"{case:14}{size:11} {cache:8}{name:22}{1e6 * truth:10.3f}{1e6 * median_s:10.3f} us"
            f"{100 * error:+8.1f} %{point_s:8.2f} s {meaning} {flags}"
        )

    for number, (case, _, launch) in enumerate(chosen):
        for cache, timers in TIMERS.items():
            for name, timer in timers.items():
                began = time.monotonic()
                try:
                    median_s, *more = timer(launch)
                except Exception as error:  # of others: what is not installed, or refuses
                    print(f"{name}: {case}: {type(error).__name__}: {error}", file=sys.stderr)
                    continue
                add_row(number, cache, name, median_s, time.monotonic() - began, *more)
    try:
        found, point_s = by_nvbench([launch for _, _, launch in chosen])
    except Exception as error:
        print(f"cuda.bench: {type(error).__name__}: {error}", file=sys.stderr)
        found = []
    for number, of_case in enumerate(found):
        for cache, median_s in of_case.items():
            if median_s:
                add_row(number, cache, "cuda.bench", median_s, point_s)
    write_rows(options.csv, COLUMNS, rows)


if __name__ == "__main__":
    main()
