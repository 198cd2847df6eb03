"""Tests of examples/judge without a device: expressions, directives, what is read of code objects,
and what a runner or a referee can say, by programs that play them. test_judge.sh runs them."""

import functools
import math
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "judge"))
import compiler  # noqa: E402
import counted  # noqa: E402
import files  # noqa: E402
import judge  # noqa: E402

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
HIPCC = shutil.which("hipcc") or shutil.which("/opt/rocm/bin/hipcc")
TASK = """// task: copy
// size: n = 1000
// also: n = 1, 33
// cpu: n = 100
// input: in float[n] uniform(0, 1)
// output: out float[n]
// bytes: 8 * n
// launch: copy<<<ceil_div(n, 256), 256>>>(in, out, n)
// check: check<<<1, 1>>>(in, out, n, errors)
// points: 4 at 0.5, 10 at 1
"""


class Texts(unittest.TestCase):
    def wrong(self, pattern, function, *args):
        with self.assertRaisesRegex(files.Wrong, pattern):
            function(*args)

    def test_expressions(self):
        sizes = {"n": 1000, "big": (1 << 64) - 1}
        for text, value in (
            ("n", 1000), ("ceil_div(n, 256)", 4), ("ceil_div(1000 , 250) * 4", 16),
            ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("10 - 3 - 2", 5), ("100 / 7 / 2", 7),
            ("17 % 5", 2), ("1 << 2 + 3", 32), ("min(n, 3) + max(n, 3)", 1003),
            ("big", sizes["big"]), ("1 << 63", 1 << 63), ("big - big", 0),
            ("18446744073709551615", sizes["big"]),
        ):
            self.assertEqual(files.evaluate(text, sizes), value, text)
        for text, why in (
            ("big + 1", "more than 64 bits"), ("big * 2", "more than 64 bits"),
            ("1 << 64", "shift"), ("2 << 63", "more than 64 bits"), ("n - 1001", "below zero"),
            ("18446744073709551616", "more than 64 bits"), ("n / (n - 1000)", "division by zero"),
            ("n % 0", "division by zero"), ("ceil_div(n, 0)", "division by zero"),
            ("4294967296 * 4294967296", "more than 64 bits"), ("m", "'m' is no size"),
            ("", "is no size"), ("(n", "missing"), ("n)", "unexpected"), ("n n", "unexpected"),
            ("min(n)", "missing"), ("n +", "no size"), ("-n", "no size"), ("1.5", "unexpected"),
            ("n >> 1", "unexpected"), ("__import__", "no size"), ("\u0661", "no size"),
            ("(" * 900 + "n", "too deep|missing"), ("n" * 1001, "longer"),
        ):
            self.wrong(why, files.evaluate, text, sizes)

    def test_launches(self):
        launch = files.Launch("k <<< {ceil_div(n, 2), min(3, n)}, 1 << 5, 4 * n >>> "
                              "(in, n, int(7))")
        self.assertEqual(launch.extent({"n": 9}), [5, 3, 1, 32, 1, 1, 36])
        self.assertEqual(launch.arguments, ["in", "n", "int(7)"])
        self.assertEqual(files.Launch("k<<<1, 1>>>()").arguments, [])
        for text, value in (
            ("n", ("uint64", 9)), ("int(n)", ("int", 9)), ("uint(4294967295)", ("uint", 2**32 - 1)),
            ("int64(n)", ("int64", 9)), ("float(1.5)", ("float", 0x3FC00000)),
            ("float(-0.5e-3)", ("float", 0xBA03126F)), ("float(n)", ("float", 0x41100000)),
        ):
            self.assertEqual(launch.argument(text, {"n": 9}), value)
        for text in ("int(1 << 31)", "uint(1 << 32)", "int64(1 << 63)", "float(1e39)"):
            self.wrong("more than", launch.argument, text, {})
        for text in ("k", "k<<<1>>>(n)", "k<<<1, 2, 3, 4>>>(n)", "a b<<<1, 2>>>()", "k<<<1, 2>>>(n",
                     "k<<<1, 2>>>(n); system(1)"):
            self.wrong("launch", files.Launch, text)
        self.wrong("extents", files.Launch("k<<<{1, 2, 3, 4}, 1>>>()").extent, {})

    def test_submissions(self):
        found = files.Submission("#include <x>\n  // scratch: s 4 * n\n//launch: k<<<1, 1>>>(s)\n"
                                 "// launch: l<<<1, 2>>>(s)\n// other: remark\n")
        self.assertEqual([launch.name for launch in found.launches], ["k", "l"])
        self.assertEqual(found.scratch, {"s": "4 * n"})
        for text, why in (
            ("", "no line"), ("// lauch: k<<<1, 1>>>()", "no line"),
            ("// launch: k<<<1, 1>>>()\n// scratch: s", "scratch"),
            ("// launch: k<<<1, 1>>>()\n// scratch: s 1\n// scratch: s 2", "each name once"),
            ("// launch: k<<<1, 1>>>()\n" * 17, "more than 16"),
            ("// launch: " + "k" * 512 + "<<<1, 1>>>()", "more than 511"),
            ("// launch: k<<<1, 1>>>()" + " " * 2000 + ";", "more than 2000"),
        ):
            self.wrong(why, files.Submission, text)

    def test_the_largest_file_is_read_soon(self):
        """What takes the square of a line's length would take hours: in the judge, not a child."""
        for line in ("// launch: k" + " " * 500000 + ";" + " " * 500000, "//" + " " * 1000000,
                     "// launch: k<<<1" + ">>>(" * 250000, " " * 1000000,
                     "// launch: k<<<1, 1>>>(" + " " * 1000000 + "n"):
            began = time.process_time()
            self.wrong("no line|more than 2000", files.Submission, line)
            self.assertLess(time.process_time() - began, 60)

    def test_tasks(self):
        task = files.Task(TASK, False)
        self.assertEqual(task.cases, [{"n": 1000}, {"n": 1}, {"n": 33}])
        self.assertEqual(files.Task(TASK, True).cases[0], {"n": 100})
        self.assertEqual([task.points_for(x) for x in (0, 0.49, 0.5, 0.99, 1, 9)],
                         [0, 0, 4, 4, 10, 10])
        for old, new, why in (
            ("// task: copy\n", "", "no line '// task:'"),
            ("// check: check<<<1, 1>>>(in, out, n, errors)\n", "", "no line '// check:'"),
            ("// bytes", "// bites", "'bites:' is no directive"),
            ("n = 1, 33", "m = 1, 33", "different names"),
            ("n = 1, 33", "n = 1, 33, m = 2", "as many"),
            ("n = 1000", "n = 1000, 2000", "one number"),
            ("n = 1000", "n = x", "not NAME = NUMBER"),
            ("uniform(0, 1)", "gauss(0, 1)", "is not uniform"),
            ("in float[n]", "in half[n]", "TYPE"),
            ("out float[n]", "in float[n]", "not NAME"), ("4 at 0.5", "4 for 0.5", "POINTS at"),
            ("// points", "// limits: run 5 h\n// points", "limits"),
        ):
            self.assertIn(old, TASK)
            self.wrong(why, files.Task, TASK.replace(old, new), False)
        for name in ("gelu", "sum", "transpose", "matmul"):
            text = (ROOT / "examples" / "judge" / "tasks" / f"{name}.cu").read_text()
            self.assertLessEqual(text.count("\n"), 60)
            self.assertGreater(len(files.Task(text, False).cases), 3)

    def test_plans(self):
        task = files.Task(TASK, False)

        def plan(text):
            own = files.Submission(text)
            return judge.Plan(task, {judge.BASELINE: (task, ["copy"]),
                                     judge.SUBMISSION: (own, ["k", "k"]),
                                     judge.CHECK: (task, ["check"])})

        made = plan("// launch: k<<<n, 2>>>(in, s)\n// scratch: s 4 * n")
        self.assertEqual(made.most, {"i": 4096, "o": 4096})
        self.assertIn("launch 1 0 k 1000 1 1 2 1 1 0 2 0 0 3 0", made.lines)
        self.assertIn("buffer s byte 1 132 0", made.lines)
        for text, why in (
            ("// launch: k<<<n, 2>>>(errors)", "'errors' is no input, output, scratch"),
            ("// launch: k<<<n - 2, 2>>>(in)", "below zero"),  # at n = 1
            ("// launch: k<<<n, 2>>>(in)\n// scratch: in 4", "name of the task"),
            ("// launch: k<<<n, 2>>>(in)\n// scratch: s 1 << 40", "bytes in all"),
            ("// launch: k<<<n, 2>>>(in)\n// scratch: s n - 1", "bytes in all"),
        ):
            self.wrong(why, plan, text)

    def test_signatures(self):
        for mangled, found in (
            ("_Z4geluPKfPfm", ("gelu", ["P", "P", "m"])),
            ("_Z3addPKfS0_PfiP6float4f", ("add", ["P", "P", "P", "i", "P", "f"])),
            ("_ZN2me2nsEPym", ("ns", ["P", "m"])), ("_Z1kv", ("k", [])),
            ("_Z1k6float4S_", ("k", ["float4", "float4"])), ("_Z2ttILi4EEvPf", ("tt", None)),
            ("_Z1k" + "P" * 2000 + "f", ("k", None)),
            ("_Z" + "9" * 5000, ("9" * 4991, [])),  # more digits than int() takes
            ("plain", ("plain", None)), ("_Z1kDv4_f", ("k", None)), ("_Z1kS9_", ("k", None)),
        ):
            self.assertEqual(files.signature(mangled), found)
        for image in (b"", b"\x7fELF", b"\x7fELF\x02" + b"\xff" * 100, os.urandom(300)):
            self.wrong("ELF", files.Code, image)


KERNELS = """#include <stdint.h>
// launch: twice<<<1, 32>>>(in, out, int(n))
__device__ float kept[100];
__global__ void twice(const float *x, float *y, int n)
{
    if ((int)threadIdx.x < n)
        y[threadIdx.x] = 2 * x[threadIdx.x];
}
extern "C" __global__ void plain(float *x, float f) { x[threadIdx.x] = f + kept[threadIdx.x]; }
struct big { char x[100]; };
extern "C" __global__ void struck(float *x, big b) { x[0] = b.x[threadIdx.x]; }
struct huge { char x[16392]; };
extern "C" __global__ void large(huge h, float *x) { x[0] = h.x[threadIdx.x]; }
namespace LONG { __global__ void deep(float *x) { x[0] = 1; } }
"""


class Objects(unittest.TestCase):
    def compile(self, text, only="cuda", **limits):
        options = types.SimpleNamespace(cpu=False, arch="sm_90" if only == "cuda" else "gfx90a",
                                        build=tempfile.gettempdir())
        which = shutil.which
        try:
            shutil.which = lambda name: None if only == "hip" and "nvcc" in name else which(name)
            built = compiler.Compiler(options)
        finally:
            shutil.which = which
        return built.confined(text, "submission.cu", limits.get("seconds", 60))[0]

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_parameters(self):
        code = files.Code(self.compile(KERNELS.replace("LONG", "long" * 126)))
        self.assertEqual(len(code.kernels()), 5)
        self.assertEqual(code.parameters("struck"), [8, 100])
        self.assertEqual(code.parameters("large"), [16392, 8])  # noted in another way
        self.assertEqual(code.variables(), 400)

        def check(text):
            return files.check_arguments(code, files.Launch(text), ["in", "out"], {"n": 5})

        self.assertEqual(check("twice<<<1, 1>>>(in, out, int(n))"), "_Z5twicePKfPfi")
        self.assertEqual(check("plain<<<1, 1>>>(out, float(1))"), "plain")
        for text, why in (
            ("twice<<<1, 1>>>(in, out, n)", r"argument 3, 'n', is uint64.* int: write int\(n\)"),
            ("twice<<<1, 1>>>(in, out, uint(n))", "argument 3.*is uint, the parameter int"),
            ("twice<<<1, 1>>>(in, n, int(n))", "argument 2, 'n', is uint64, the parameter pointer"),
            ("twice<<<1, 1>>>(in, out, out)", "argument 3, 'out', is pointer, the parameter int"),
            ("twice<<<1, 1>>>(in, out)", "2 arguments, but 3 parameters"),
            ("plain<<<1, 1>>>(out, n)", r"of 4 bytes: write .*float\(n\)"),
            ("plain<<<1, 1>>>(out)", "1 arguments, but 2 parameters"),
            ("struck<<<1, 1>>>(out, n)", "of 100 bytes"),
            ("other<<<1, 1>>>()", "no kernel 'other'"),
            ("large<<<1, 1>>>()", "0 arguments, but 2 parameters"),
            ("large<<<1, 1>>>(n, out)", "of 16392 bytes"),
            ("deep<<<1, 1>>>(out)", "'deep', mangled, has more than 511"),
        ):
            with self.assertRaisesRegex(files.Wrong, why, msg=text):
                check(text)
        for i, (name, head, body) in enumerate(code.sections):  # as if noted in a way to come
            if name == ".nv.info.large":
                code.sections[i] = name, head, body.replace(b"\4\x45\14\0", b"\4\x77\14\0")
        with self.assertRaisesRegex(files.Wrong, "of large's 16400 bytes .* 0 are known"):
            check("large<<<1, 1>>>()")

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_same_machine_code(self):
        other = KERNELS.replace("twice", "doubled").replace("kept", "were").replace("*y", " * z")
        other = other.replace("y[", "z[")
        same, renamed, changed = (files.Code(self.compile(text)).same() for text in (
            KERNELS, other, KERNELS.replace("2 * x", "3 * x")))
        self.assertEqual(same, renamed)
        self.assertNotEqual(same, changed)

    @unittest.skipUnless(HIPCC, "no hipcc")
    def test_amd(self):
        image = self.compile(KERNELS, "hip")
        code = files.Code(image[image.find(b"\x7fELF"):])
        self.assertIn("_Z5twicePKfPfi", code.kernels())
        self.assertEqual(files.check_arguments(code, files.Launch(
            "twice<<<1, 1>>>(in, out, int(n))"), ["in", "out"], {"n": 5}), "_Z5twicePKfPfi")


PLAYED = """#!%s
import os, sys, time
hers, its, who = os.fdopen(int(sys.argv[2])), int(sys.argv[3]), sys.argv[4]
def say(text): os.write(its, (text + "\\n").encode())
def hear(): return hers.readline().strip()
def run(side=1, case=0, checks=True):
    say(f"want {case} {side}")
    hear()
    say("taken")
    time.sleep(0.01)
    if checks:
        say("check")
        return hear()
def row(name, ratio="1 0.9 1.1", ok=1, median=0.01, why="", n=6):
    say(f"row {name} {ok} {ok} {n} {median} {median * 0.9} {median * 1.1} {ratio} |{why}")
if who == "referee":
    say("open")
    for line in hers:
        say("made" if line.startswith("make") else sys.argv[5])
    sys.exit()
say("open cpu played")
exec(sys.argv[5])
"""
HONEST = """
for i in range(6): run(0)
for i in range(6): run(0); run(1); run(0, 0, False); run(1, 0, False)
row("alone", "0 0 0"); row("baseline", "0 0 0"); row("submission")
say("done")
"""


class Sessions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = os.path.join(self.folder.name, "played")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PLAYED % sys.executable)
        os.chmod(self.program, 0o755)

    def play(self, runner, referee="checked 0 0.5", seconds=20):
        session = judge.Session(["n = 7"], 2, (0, 1))
        programs = []
        self.began = time.monotonic()
        try:
            for name, text in (("referee", referee), ("runner", runner)):
                programs.append(judge.Program(name, [self.program, name, text], self.folder.name,
                                              ["plan"], None))
            session.run(programs[1], programs[0], time.monotonic() + seconds)
        finally:
            for program in programs:
                program.close()
        printed = programs[1].printed.decode()
        judge.accept(session, ["alone", "baseline", "submission"], printed)
        judge.host_excess(session)
        return session

    def wrong(self, why, *args, **more):
        with self.assertRaisesRegex(files.Wrong, why):
            self.play(*args, **more)

    def test_honest(self):
        session = self.play(HONEST)
        self.assertEqual(session.checks, {(0, 0): 12, (0, 1): 6})
        self.assertEqual({side: len(seen) for side, seen in session.host.items()}, {0: 6, 1: 6})
        self.assertEqual(judge.ratio(session)[0], 1)

    def test_no_device(self):
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PLAYED.replace("open cpu played", "open  ") % sys.executable)
        with self.assertRaisesRegex(judge.Missing, "no device could be opened"):
            self.play(HONEST)

    def test_what_other_programs_cause_is_repeated(self):
        elsewhere, right, late = ({"name": "submission", "ok": not why, "reason": why} for why in
                                  (judge.ELSEWHERE + " than gpumb_stream()", "", "wrong result"))
        for rows, wrong, disturbed in (([right, elsewhere], [], True), ([right], [], False),
                                       ([elsewhere, late], [], False),
                                       ([elsewhere], [{"case": 0}], False)):
            session = judge.Session(["n = 7"], 2, (0, 1))
            session.rows, session.wrong = rows, wrong
            self.assertEqual(session.disturbed(), disturbed, rows)
        for times in (1, 2):
            one = judge.Judge.__new__(judge.Judge)
            one.options = types.SimpleNamespace(sessions=0)
            one.task = types.SimpleNamespace(cases=[])
            played = []

            def play(found, folder, timed, played=played, times=times):
                del found, folder, timed
                session = judge.Session([], 1, (1,))
                session.rows = [elsewhere] if len(played) < times else [right]
                played.append(session)
                return session
            one.session = play
            # one that is not disturbed goes on to be accepted, or not
            with self.assertRaisesRegex(judge.Missing if times == 2 else judge.Wrong,
                                        "other programs" if times == 2 else "have not come"):
                one.judge({"printed": ""}, self.folder.name)
            self.assertEqual(len(played), 2)

    def test_code_is_loaded_anew_at_random(self):
        for drawn, word in ((0, "take anew"), (1, "take"), (3, "take")):
            judge.secrets = types.SimpleNamespace(randbelow=lambda n, drawn=drawn: drawn % n,
                                                  token_hex=lambda n: "00" * n)
            self.addCleanup(setattr, judge, "secrets", secrets)
            self.wrong(f"exit code 7: {word}$", "say('want 0 1'); print(hear()); sys.exit(7)")

    def test_ratio_is_the_worse(self):
        session = self.play(HONEST.replace('row("alone", "0 0 0")',
                                           'row("alone", "0 0 0", 1, 0.008)'))
        self.assertAlmostEqual(judge.ratio(session)[0], 0.8)
        session = self.play(HONEST.replace('row("submission")', 'row("submission", "2 0 0")'))
        self.assertEqual(judge.ratio(session), (0.5, 0, math.inf))

    def test_faster_is_more_than_a_slowed_baseline(self):
        self.assertEqual([judge.verdict(*ends) for ends in (
            (1.021, 1.03), (1.015, 1.02), (0.995, 1.005), (0.98, 1.005), (0.9, 0.98))],
            ["faster", "undecided", "same", "undecided", "slower"])

    def test_said_when_it_is_not_to_be_said(self):
        for text in ('say("check")', 'run(); say("taken")', 'say("want 1 1")',
                     'say("want 0 2")',
                     'say("want 0 1 1")', 'say("want -1 1")', 'run(); say("check")',
                     'say("right")', 'say("")',
                     'say("want 0 1"); hear(); say("check")', 'os.write(its, b"\\xff\\n")',
                     'say("verdict: met")', 'say("row submission"); say("done")',
                     'run(); say("row submission 1 1 6 nan 1 1 1 1 x |"); say("done")'):
            self.wrong("the runner('s figures| says| wants)", text)
        self.wrong("end", 'say("done")')
        self.wrong("end", 'say("want 0 1"); say("done")')
        self.wrong("end", HONEST.replace('say("done")', 'say("want 0 1"); say("done")'))
        self.wrong("end", 'say("row submission 1 1 6 1 1 1 1 1 1 |"); say("done")')
        self.wrong("end", 'run(); row("submission"); say("done")')
        self.wrong("end", HONEST.replace('row("baseline", "0 0 0")', 'row("alone", "0 0 0")'))
        self.wrong("end", HONEST.replace('say("done")', 'row("submission"); say("done")'))
        self.wrong("contradict", HONEST.replace('row("submission")',
                                                'row("submission", "nan nan nan")'))
        self.wrong("contradict", HONEST.replace('row("submission")', 'row("submission", "1 -1 1")'))

    def test_checks_left_out(self):
        self.wrong("at n = 7: only 0 of its runs were checked",
                   HONEST.replace("run(1)", "run(1, 0, False)"))
        self.wrong("only 6 of its", HONEST.replace('row("submission")', 'row("submission", n=90)'))

    def test_times_against_the_host(self):
        session = self.play(HONEST)
        for late, is_more in ((0, False), (0.0005, False), (0.01, True)):  # blur: 1.05 ms and more
            session.host = {judge.BASELINE: [0.012 + i * 1e-5 for i in range(9)],
                            judge.SUBMISSION: [0.012 + late + i * 1e-5 for i in range(9)]}
            excess, blur = judge.host_excess(session)
            self.assertAlmostEqual(excess, late)
            self.assertEqual(excess > blur, is_more)
        # that it waits in two of five runs, and says otherwise, hides nothing in the others
        session.host[judge.SUBMISSION] = [0.022] * 6 + [0.5] * 4
        excess, blur = judge.host_excess(session)
        self.assertGreater(excess, blur)
        session.host[judge.SUBMISSION], session.host_checked[judge.SUBMISSION] = [0.012] * 3, []
        with self.assertRaisesRegex(files.Wrong, "too few"):
            judge.host_excess(session)
        checked = self.play(HONEST.replace("run(1, 0, False)", ""))  # of both: there are no others
        self.assertEqual((len(checked.host[1]), len(checked.host_checked[1])), (0, 6))
        self.wrong("longer than the host saw", HONEST.replace(
            'row("submission")', 'row("submission", median=3)'))

    def test_wrong_results(self):
        with self.assertRaisesRegex(judge.Missing, "the baseline is wrong in 7"):
            self.play(HONEST, "checked 7 3.5 12 1 2")
        said = "run(); row('submission', ok=0, why='wrong result'); say('done')"
        self.wrong("wrong results", said, "checked 7 3.5 12 1 2")
        self.wrong("it is kept", "run(); row('submission', ok=0, why='it is kept'); say('done')",
                   "checked 7 3.5 12 1 2")
        self.wrong("at n = 7: an address",
                   "run(); row('submission', ok=0, why='an address'); say('done')")
        self.wrong("the baseline is wrong", "run(1, 0, False); run(0)", "checked 7 3.5 12 1 2")

    def test_failed_rows(self):
        self.wrong("illegal address", HONEST.replace(
            'row("submission")', 'row("submission", ok=0, why="an illegal address")'))
        self.wrong("the baseline: spoilt", HONEST.replace(
            'row("baseline", "0 0 0")', 'row("baseline", "0 0 0", ok=0, why="spoilt")'))
        with self.assertRaisesRegex(judge.Missing, "no memory"):
            self.play(HONEST.replace('row("alone", "0 0 0")',
                                     'row("alone", "0 0 0", ok=0, why="no memory")'))

    def test_ends(self):
        self.wrong("exit code 0", "sys.exit(0)")
        self.wrong("exit code 3: oops", "print('oops'); sys.exit(3)")
        self.wrong("exit code 0", "run(); sys.exit(0)")
        self.wrong("signal 11", f"run(); os.kill(os.getpid(), {int(signal.SIGSEGV)})")
        self.wrong("closed its pipe|exit", "os.close(its); time.sleep(30)")
        with self.assertRaisesRegex(judge.Missing, "referee"):
            self.play(HONEST, "nonsense")

    def test_stalls(self):
        self.wrong("limit of time", "time.sleep(30)", seconds=1)
        self.assertLess(time.monotonic() - self.began, 8)
        self.wrong("limit of time", "run(); say('want 0 1'); time.sleep(30)", seconds=1)
        self.wrong("limit of time", "while 1: run()", seconds=1)
        self.wrong("limit of time", "os.write(its, b'want 0'); time.sleep(30)", seconds=1)

    def test_floods(self):
        self.wrong("prints for ever", "while 1: os.write(1, b'x' * 65536)")
        self.wrong("says too much", "while 1: os.write(its, b'x' * 65536)")

    def test_what_it_leaves_is_ended(self):
        self.wrong("exit code", "import subprocess; c = subprocess.Popen(['sleep', '77']); "
                   "print(c.pid, flush=True); sys.exit(0)")
        found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False)
        self.assertNotIn("sleep 77\n", found.stdout)


class Chance(unittest.TestCase):
    def test_what_an_author_who_knows_the_rule_can_gain(self):
        """Of which runs are checked. He sees afterwards which were, leaves out the work where a
        check is least likely, and has to do so in most of the timed runs of each session."""
        runs = judge.SAMPLES
        header = (ROOT / "gpumb.h").read_text()
        self.assertIn("s->strict.next = gpumbi_draw(g) % 3;", header)
        self.assertIn("s->samples.count + 1 + gpumbi_draw(g) % (2 + s->samples.count / 4);", header)

        @functools.lru_cache(None)
        def best(sample, last, cheats):  # the next check is at `sample` ... `last`, all alike
            if cheats > runs // 2 or sample == runs:
                return float(cheats > runs // 2)
            now = 1 / (last - sample + 1)
            unseen = (1 - now) * best(sample + 1, last, cheats + 1) if now < 1 else 0
            honest = (1 - now) * best(sample + 1, last, cheats) if now < 1 else 0
            return max(unseen, honest + now * best(sample + 1, sample + 2 + sample // 4, cheats))

        self.assertLess(best(0, 2, 0) ** 2, 0.0001)  # two sessions; the README says so


class Tables(unittest.TestCase):
    def test_quoted_text_stays_in_its_place(self):
        self.assertEqual(judge.printable("a\x1b[2Jb\rc\x9bd\udcff\u202e\n\u00e9"),
                         "a?[2Jb?c?d??\n\u00e9")

    def test_ranks(self):
        def found(name, ratio, lo, hi, code=None):
            return {"file": name, "accepted": ratio > 0, "points": 1, "reason": "wrong\nmore",
                    "machine_code": code, **({"ratio": ratio, "lo": lo, "hi": hi} if ratio else {})}

        rows = [found("c", 0.8, 0.7, 0.9), found("a", 1.5, 1.4, 1.6, "x"), found("e", 0, 0, 0),
                found("b", 1.3, 1.2, 1.45, "y"), found("d", 0.5, 0.4, 0.6, "x")]
        lines = list(judge.table(rows))
        self.assertEqual([line.split()[0] for line in lines[1:]], ["1", "1", "3", "4", "-"])
        self.assertIn("same machine code as d", lines[1])
        self.assertTrue(lines[-1].endswith("e  wrong"), lines[-1])


if __name__ == "__main__":
    counted.main()
