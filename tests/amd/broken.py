"""Breaks gpumb.h in ways that matter on a GPU, one at a time: the executor has to notice each.

    tests/amd/broken.py HIPCC OBJDUMP EXECUTOR [TARGET] [NUMBER ...]
    tests/amd/broken.py --table    only whether each still has its place in the header

All of them, or these; each for its own target, or all for one.

Each replaces pieces of text that stand in the header exactly once, for one target and one family
of kernels (tests/amd/kernels.cpp). What is broken is a copy, in a temporary folder.
"""

import concurrent.futures
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
REDUCTIONS = "#define GPUMB_REDUCTIONS(X) X(F32, SUM)\n"
LEAST = "#define GPUMB_REDUCTIONS(X) X(F32, MIN)\n"
INTEGERS = "#define GPUMB_REDUCTIONS(X) X(I32, SUM)\n"
NBODY = "#define GPUMB_NBODY_FORMS(X) X(4, 4, APPROXIMATE)\n"
PAIRS = "#define GPUMB_NBODY_PAIRS(X) X(4, 2)\n"
STRIDED = "#define GPUMB_STRIDED\n"

GET = ("return *(const volatile Type *)from;", "return *from;")
PUT = ("*(volatile Type *)to = x;", "*to = x;")
FIRST_FENCE = ("__threadfence();\n        last = atomicInc", "last = atomicInc")
SECOND_FENCE = ("_or(last);\n    __threadfence();", "_or(last);")

# what, target, family, what to compile, [(text, what takes its place)]
BROKEN = [
    (
        "a barrier is missing in the tree",
        "gfx90a",
        "naive",
        REDUCTIONS,
        [("apart /= 2) {\n            __syncthreads();", "apart /= 2) {")],
    ),
    (
        "a barrier is missing before the first thread reads",
        "gfx1030",
        "naive",
        REDUCTIONS,
        [("shared[t] = x;\n        __syncthreads();\n        const", "shared[t] = x;\n const")],
    ),
    (
        "a barrier is missing after the warps",
        "gfx1030",
        "naive",
        REDUCTIONS,
        [("shared[warp] = x;\n        __syncthreads();", "shared[warp] = x;")],
    ),
    (
        "a barrier is missing in the fastest reduction",
        "gfx90a",
        "fastest",
        REDUCTIONS,
        [("__syncthreads();\n    if (t == 0) {", "if (t == 0) {")],
    ),
    (
        "a tile is overwritten while others read it",
        "gfx90a",
        "nbody",
        NBODY,
        [("__syncthreads(); /* all are done with the tile before */", "")],
    ),
    (
        "a tile is read before it is whole",
        "gfx1030",
        "nbody",
        NBODY,
        [("tile[threadIdx.x] = mine;\n        __syncthreads();", "tile[threadIdx.x] = mine;")],
    ),
    (
        "no fence between a result and its ticket",
        "gfx90a",
        "naive",
        REDUCTIONS,
        [PUT, FIRST_FENCE],
    ),
    (
        "no fence between a result and its ticket",
        "gfx1030",
        "naive",
        REDUCTIONS,
        [PUT, FIRST_FENCE],
    ),
    (
        "results are read from stale caches",
        "gfx90a",
        "naive",
        REDUCTIONS,
        [GET, SECOND_FENCE],
    ),
    (
        "results are read from stale caches",
        "gfx1030",
        "naive",
        REDUCTIONS,
        [GET, SECOND_FENCE],
    ),
    (
        "the last block does not wait for the others",
        "gfx90a",
        "fastest",
        REDUCTIONS,
        [("} while (GPUMB_ANY(GPUMBI_FIRST(lanes), missing));", "} while (0);")],
    ),
    (
        "a loop waits for what it never reads again",
        "gfx1030",
        "fastest",
        REDUCTIONS,
        [GET],
    ),
    (
        "slots are left full",
        "gfx1030",
        "fastest",
        REDUCTIONS,
        [("gpumbi_put(&slot[first + k * threads + t], empty);", "")],
    ),
    (
        "the ticket wraps around too late",
        "gfx90a",
        "naive",
        REDUCTIONS,
        [("atomicInc(ticket, gridDim.x - 1)", "atomicInc(ticket, gridDim.x)")],
    ),
    (
        "the wrong ticket is the last",
        "gfx1030",
        "fastest",
        INTEGERS,
        [("if ((unsigned)before == last)", "if ((unsigned)before == last - 1)")],
    ),
    (
        "a lane too many in shuffle-down",
        "gfx90a",
        "naive",
        LEAST,
        [("if (lane + step < lanes)", "if (lane + step <= lanes)")],
    ),
    (
        "lanes that are off in shuffle-xor",
        "gfx1030",
        "naive",
        LEAST,
        [("if ((lane ^ step) < lanes)", "if (step)")],
    ),
    (
        "warps of 64 on a device with 32",
        "gfx1030",
        "naive",
        REDUCTIONS,
        [("static_cast<unsigned>(warpSize)", "64u")],
    ),
    (
        "a sum that is no atomic",
        "gfx90a",
        "zcopy",
        "",
        [("atomicAdd(&sums[blockIdx.x % GPUMBI_SUMS], sum);", "sums[blockIdx.x] += sum;")],
    ),
    (
        "a cipher of six rounds",
        "gfx90a",
        "secret",
        "",
        [("for (int two = 0; two < 4; two++)", "for (int two = 0; two < 3; two++)")],
    ),
    (
        "words at any address",
        "gfx90a",
        "fill",
        "",
        [
            (
                "uint64_t seed)\n{\n    const uint64_t words = (uintptr_t)to % 8 ? 0 : bytes / 8;",
                "uint64_t seed)\n{\n    const uint64_t words = bytes / 8;",
            )
        ],
    ),
    (
        "an element too many",
        "gfx1030",
        "strided",
        STRIDED,
        [("if (i >= n)\n        return;\n    switch", "if (i > n) return;\n    switch")],
    ),
    (
        "forces on bodies that do not exist",
        "gfx90a",
        "pairs",
        PAIRS,
        [("if (c >= bodies && i < n)", "if (c >= bodies)")],
    ),
]


def attempt(hipcc, objdump, executor, target, family, unit, header):
    """What the executor makes of it: "passed", "failed" or why it could not tell."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        (at / "gpumb.h").write_text(header)
        source = unit + '#define GPUMB_IMPLEMENTATION\n#include "gpumb.h"\n'
        (at / "unit.hip").write_text(source)
        command = [hipcc, "-std=c++17", "-O3", f"--offload-arch={target}", "--cuda-device-only"]
        command += ["--no-gpu-bundle-output", "-c", "-I.", "-x", "hip", "unit.hip", "-o", "object"]
        built = subprocess.run(command, cwd=at, capture_output=True, text=True)
        if built.returncode:
            return f"does not compile: {built.stderr[:500]}"
        with (at / "listing").open("w") as listing:
            subprocess.run([objdump, "-d", "object"], cwd=at, stdout=listing, check=True)
        for seed in range(1, 101):  # as many as it takes
            command = [executor, at / "object", at / "listing", str(seed), family]
            ran = subprocess.run(command, capture_output=True, text=True)
            counts = ran.stdout.splitlines()[-1:]
            if not counts or " passed, " not in counts[0] or "translate" in ran.stdout:
                return f"crashed: {ran.stdout[-500:]}{ran.stderr[-500:]}"
            if ran.returncode:
                return "failed"
        return "passed"


def break_header(header, edits):
    """The header with these edits, and what does not stand there exactly once."""
    lost = []
    for old, new in edits:
        if header.count(old) != 1:
            lost.append(f"{' '.join(old.split())}: stands in gpumb.h {header.count(old)} times")
        header = header.replace(old, new)
    return header, lost


def main():
    header = (ROOT / "gpumb.h").read_text()
    if sys.argv[1:] == ["--table"]:
        lost = {text for *_, edits in BROKEN for text in break_header(header, edits)[1]}
        for text in sorted(lost):
            print(f"{text}, not once")
        return len(lost) > 0
    hipcc, objdump, executor = sys.argv[1:4]
    others = [a for a in sys.argv[4:] if a.startswith("gfx")]
    wanted = [int(a) for a in sys.argv[4:] if a not in others] or range(1, len(BROKEN) + 1)
    jobs = {}
    failures = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for n in wanted:
            what, target, family, unit, edits = BROKEN[n - 1]
            target = others[0] if others else target
            what = f"{n}: {target}, {family}: {what}"
            broken, lost = break_header(header, edits)
            failures += [f"{what}: {text}, not once" for text in lost]
            job = pool.submit(attempt, hipcc, objdump, executor, target, family, unit, broken)
            jobs[job] = what
        for job in concurrent.futures.as_completed(jobs):
            if job.result() != "failed":
                failures.append(f"{jobs[job]}: {job.result()}")
    for line in sorted(failures):
        print("FAILED ", line)
    print(f"{len(wanted) - len(failures)} passed, {len(failures)} failed, 0 skipped")
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())
