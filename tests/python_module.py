"""Tests of examples/python/gpumb.py; test_python.sh runs them, on a library in GPUMB_LIBRARY."""

import contextlib
import ctypes
import functools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "python"))
import counted  # noqa: E402
import gpumb  # noqa: E402

QUICK = {"min_samples": 6, "max_samples": 6, "warmup_s": -1, "least_s": -1}


def nothing():
    pass


class Rows(unittest.TestCase):
    def test_time(self):
        row = gpumb.time(lambda: time.sleep(0.002), "sleeps", **QUICK)
        self.assertTrue(row.ok)
        self.assertEqual(row["kernel"], "sleeps")
        self.assertGreaterEqual(row.median, 0.002)
        self.assertEqual(row["samples"], 6)
        self.assertEqual(len(row.samples), 6)
        self.assertAlmostEqual(sum(row.samples) / 6, row["mean_s"], delta=1e-9)
        self.assertLessEqual(min(row.samples), row.median)
        self.assertEqual(row.interval, (row["ci_lo_s"] or None, row["ci_hi_s"]))
        self.assertIn("unverified", row.flags)
        line = r"^sleeps: median [0-9.]+ ms, 95 % in .*, 6 samples \(latency\)"
        self.assertRegex(repr(row), line)
        self.assertIsNone(row["gbps"])
        self.assertGreater(len(row), 60)
        self.assertEqual(dict(row)["kernel"], "sleeps")

    def test_name(self):
        self.assertEqual(gpumb.time(nothing, **QUICK)["kernel"], "nothing")

    def test_what_is_stated(self):
        row = gpumb.time(
            lambda: time.sleep(0.001),
            bytes=1e6,
            flop=2e6,
            elements=10,
            values={"mine": 0.5},
            **QUICK,
        )
        self.assertAlmostEqual(row["gbps"] * row.median, 1e-3, delta=1e-8)
        self.assertAlmostEqual(row["gflops"] * row.median, 2e-3, delta=1e-8)
        self.assertAlmostEqual(row["elements_per_s"] * row.median, 10, delta=1e-4)
        self.assertEqual(row["mine"], 0.5)

    def test_html(self):
        page = gpumb.time(nothing, "<b> & co", **QUICK)._repr_html_()
        self.assertIn("&lt;b&gt; &amp; co", page)
        self.assertNotIn("<b>", page)

    def test_html_of_an_unknown_end(self):
        cells = {**gpumb.time(nothing, **QUICK), "ci_lo_s": 0, "ci_hi_s": 0.25}
        self.assertIn("<td>?</td><td>0.25</td>", gpumb.Row(cells, "", [])._repr_html_())

    def test_compare(self):
        fast, slow = gpumb.compare(
            {"fast": nothing, "slow": lambda: time.sleep(0.001)}, check=lambda: True
        )
        self.assertIsNone(fast["ratio"])
        self.assertEqual(slow["compared_with"], "fast")
        self.assertGreater(slow["ratio"], 10)
        self.assertIn(slow["verdict"], ("slower", "undecided"))  # on a busy machine
        self.assertEqual(slow["verified"], "yes")
        self.assertRegex(repr(slow), r" of fast: (slower|undecided)$")

    def test_ends_of_ratios(self):
        for lo, hi, said in ((1.5, 3, " (1.5 ... 3)"), (0, 3, " (? ... 3)"), (None, None, "")):
            cells = {"ratio": 2, "ratio_lo": lo, "ratio_hi": hi}
            row = gpumb.Row({**cells, "compared_with": "one", "verdict": "slower"}, "two", [])
            self.assertEqual(repr(row), f"two, 2{said} of one: slower")

    def test_rows(self):
        rows = gpumb.compare({"one": nothing, "two": nothing}, **QUICK)
        self.assertEqual(repr(rows), f"{rows[0]!r}\n{rows[1]!r}")
        page = rows._repr_html_()
        self.assertEqual([page.count(f"<{tag}>") for tag in ("table", "tr")], [1, 3])
        self.assertEqual(page.count("<td>"), 2 * page.count("<th>"))
        self.assertLess(page.index("<td>one</td>"), page.index("<td>two</td>"))


class Checks(unittest.TestCase):
    def status(self, check):
        row = gpumb.time(nothing, check=check, **QUICK)
        return row["status"], row["verified"], row["reason"]

    def test_right(self):
        for result in (True, None, 1, "yes"):
            self.assertEqual(self.status(lambda: result), ("ok", "yes", None))

    def test_wrong(self):
        for result in (False, 0, ""):
            self.assertEqual(self.status(lambda: result)[:2], ("failed", "no"))

    def test_makes_a_coroutine(self):
        async def wrong():
            return False

        for about in ({"check": wrong}, {"reset": wrong}):
            with self.assertRaisesRegex(TypeError, "only makes a generator or a coroutine"):
                gpumb.time(nothing, **about, **QUICK)

    def test_first_line(self):
        """NumPy's assertions begin with an empty one."""

        def check():
            raise AssertionError("\nNot equal to tolerance\nmore")

        self.assertEqual(self.status(check)[2], "AssertionError: Not equal to tolerance")

    def test_asserts(self):
        def check():
            assert 1 == 2, "one is not two"

        status, verified, reason = self.status(check)
        self.assertEqual((status, verified), ("failed", "no"))
        self.assertIn("one is not two", reason)

    def test_raises(self):
        error = KeyError("lost")

        def check():
            raise error

        with gpumb.open(**QUICK) as g:
            with self.assertRaises(KeyError) as raised:
                g.measure("raises", nothing, check=check)
            self.assertIs(raised.exception, error)
            self.assertEqual(g.row(0)["status"], "failed")
            self.assertEqual(g.row(0)["verified"], "no")

    def test_no_truth(self):
        """What can't say whether it is right is not right."""

        class Array:
            def __bool__(self):
                raise ValueError("ambiguous")

        with gpumb.open(**QUICK) as g:
            with self.assertRaisesRegex(ValueError, "ambiguous"):
                g.measure("array", nothing, check=Array)
            self.assertEqual((g.row(0)["status"], g.row(0)["verified"]), ("failed", "no"))

        def check():
            assert False, "\ud800"

        self.assertEqual(self.status(check)[:2], ("failed", "no"))

    def test_reset(self):
        runs, resets = [], []
        gpumb.time(lambda: runs.append(len(resets)), reset=lambda: resets.append(1), **QUICK)
        self.assertGreaterEqual(len(runs), 6)
        self.assertEqual(runs, list(range(1, len(runs) + 1)))

    def test_reset_raises(self):
        with self.assertRaises(ZeroDivisionError):
            gpumb.time(nothing, reset=lambda: 1 / 0, **QUICK)


class Errors(unittest.TestCase):
    def test_exception_comes_out(self):
        error = ValueError("mine")

        def fails():
            raise error

        with gpumb.open(**QUICK) as g:
            with self.assertRaises(ValueError) as raised:
                g.measure("fails", fails)
            self.assertIs(raised.exception, error)
            row = g.row(0)
            self.assertEqual((row["status"], row["reason"]), ("skipped", "ValueError: mine"))
            self.assertNotEqual(row.median, row.median)
            self.assertTrue(g.measure("behind it", nothing).ok)

    def test_exception_in_a_comparison(self):
        calls = []

        def fails():
            calls.append(1)
            if len(calls) == 4:
                raise ValueError("the fourth")

        with gpumb.open(**QUICK) as g:
            with self.assertRaises(ValueError):
                g.compare({"fine": nothing, "fails": fails})
            self.assertEqual(len(calls), 4)
            self.assertEqual(g.rows(), [])
            row = g.measure("behind it", nothing)
            self.assertTrue(row.ok)
            self.assertIsNone(row["compared_with"])

    def test_ctrl_c(self):
        with gpumb.open(**QUICK) as g:
            with self.assertRaises(KeyboardInterrupt):
                g.measure("ends", lambda: os.kill(os.getpid(), signal.SIGINT) or time.sleep(1))
            self.assertTrue(g.measure("behind it", nothing).ok)

    def test_ctrl_c_at_any_time(self):
        """It often comes within C, where nothing may be raised."""
        with gpumb.open(precision=1e-9, budget_s=60, least_s=60, max_samples=1 << 22) as g:
            for i in range(20):
                timer = threading.Timer(0.01 + 0.003 * i, os.kill, (os.getpid(), signal.SIGINT))
                starts = [timer.start]

                def body(starts=starts):  # however long it takes to come here
                    if starts:
                        starts.pop()()

                began = time.monotonic()
                with self.assertRaises(KeyboardInterrupt):
                    if i % 2:
                        g.measure("interrupted", body)
                    else:
                        g.compare({"one": body, "two": nothing})
                self.assertLess(time.monotonic() - began, 30)  # at once, on a busy machine
                timer.join()
                self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
            for row in g.rows():  # of comparisons nothing is left
                self.assertEqual((row["status"], row["reason"]), ("skipped", "KeyboardInterrupt"))
            self.assertEqual(len(g.rows()), 10)

    def test_not_callable(self):
        with gpumb.open(**QUICK) as g:
            for about in ({"fn": 3}, {"fn": None}, {"fn": nothing, "check": 1}):
                with self.assertRaises(TypeError):
                    g.measure("wrong", bytes=1e6, **about)
            with self.assertRaises(TypeError):
                g.compare({"fine": nothing, "wrong": 3})
            for about in ({"timing": "sundial"}, {"flop": "many"}, {"values": {"x": "y"}}):
                with self.assertRaises(ValueError):
                    g.measure("wrong", nothing, bytes=1e6, **about)
            row = g.measure("behind it", nothing)
            self.assertTrue(row.ok)
            self.assertIsNone(row["bytes"])

    def test_another_thread(self):
        heard = []
        with gpumb.open(**QUICK) as g:

            def other():
                for call in (lambda: g.measure("x", nothing), g.rows, lambda: g.note("x")):
                    try:
                        call()
                    except gpumb.Error as error:
                        heard.append(str(error))

            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            self.assertEqual(g.rows(), [])
        self.assertEqual(heard, ["the context belongs to the thread that has made it"] * 3)

    def test_within(self):
        """A context that measures is not used for more."""
        with gpumb.open(**QUICK) as g:
            uses = (lambda: g.measure("inner", nothing), g.close, lambda: list(g.sweep("n", [1])))
            for use in uses:
                for about in ({"fn": use}, {"fn": nothing, "check": use}):
                    with self.assertRaisesRegex(gpumb.Error, "is measuring"):
                        g.measure("outer", **about)
            self.assertEqual({row["kernel"] for row in g.rows()}, {"outer"})
            self.assertTrue(g.measure("behind it", lambda: gpumb.time(nothing, **QUICK)).ok)

    def test_arguments(self):
        def generator():
            yield

        async def coroutine():
            pass

        with gpumb.open(**QUICK) as g:
            for fn, name in ((generator, "x"), (coroutine, "x"), (nothing, 3), (nothing, "a\0b")):
                with self.assertRaises(TypeError):
                    g.measure(name, fn)
            for name in ("a\0b", 3):
                for use in (
                    lambda name=name: g.note(name),
                    lambda name=name: next(g.sweep(name, [1])),
                    lambda name=name: next(g.sweep("n", [name, "b"])),
                ):
                    with self.assertRaises(TypeError):
                        use()
            with self.assertRaises(TypeError):
                g.measure("x", nothing, values={"a\0b": 1})
            with self.assertRaisesRegex(TypeError, "^x: None can't be called$"):
                g.compare({"x": {"check": nothing}})
            for functions in ({}, [nothing], {str(i): nothing for i in range(17)}):
                with self.assertRaises(TypeError):
                    g.compare(functions)
            with self.assertRaises(TypeError):
                g.measure("x", nothing, outputs=bytearray(3))
            with self.assertRaisesRegex(TypeError, "^byte: is no .* there are bytes, .*, cold$"):
                g.measure("x", nothing, byte=3)
            self.assertEqual(g.rows(), [])
        with self.assertRaises(TypeError):
            gpumb.open("prog --csv x")
        for quantiles in ([1.5], [-0.1]):
            with self.assertRaises(ValueError):
                gpumb.do_bench(nothing, quantiles=quantiles)

    def test_what_ends_a_context(self):
        """What C refuses is an exception, not a row that is missing."""
        column = {"median_s": 1}
        for use in (
            lambda g: g.measure("x", nothing, values=column),
            lambda g: g.compare({"one": nothing, "two": nothing}, values=column),
            lambda g: list(g.sweep("median_s", [1])),
            lambda g: list(g.sweep("n", [float("nan")])),
        ):
            with self.assertRaisesRegex(gpumb.Error, "median_s: that is the name|NaN or infinite"):
                with gpumb.open(**QUICK) as g:
                    use(g)

    def test_swallowed(self):
        def swallows():
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1)
            except BaseException:
                pass

        with self.assertRaises(KeyboardInterrupt):
            gpumb.time(swallows, **QUICK)

    def test_left_open(self):
        text = "import gpumb\ng = gpumb.open(max_samples=6)\ng.measure('a', lambda: None)"
        env = {**os.environ, "PYTHONPATH": str(ROOT / "examples" / "python")}
        self.assertEqual(subprocess.run([sys.executable, "-c", text], env=env).returncode, 0)

    def test_each_thread_its_own(self):
        rows = []
        threads = [
            threading.Thread(target=lambda: rows.append(gpumb.time(nothing, **QUICK)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([row.ok for row in rows], [True] * 4)

    def test_closed(self):
        g = gpumb.open(**QUICK)
        self.assertEqual(g.close(), 0)
        self.assertEqual(g.close(), 0)
        for call in (lambda: g.measure("x", nothing), g.rows, lambda: list(g.sweep("n", [1]))):
            with self.assertRaisesRegex(gpumb.Error, "closed"):
                call()

    def test_settings(self):
        with self.assertRaisesRegex(TypeError, "precission: is no setting; there are precision"):
            gpumb.open(precission=1)
        with self.assertRaises(TypeError):
            gpumb.open([], precision=1)
        for settings in ({"min_samples": -3}, {"seed": 2**64}, {"device": 2**32}):
            with self.assertRaises(OverflowError):
                gpumb.open(**settings)
        with self.assertRaisesRegex(gpumb.Error, "no_such_file"):
            gpumb.open(replay="/no_such_file.csv")
        with self.assertRaises(IndexError):
            gpumb.open(**QUICK).row(0)


class Sweeps(unittest.TestCase):
    def test_axes(self):
        empty = 0
        with gpumb.open(**QUICK) as g:
            for n in g.sweep("n", [3, 1]):
                for kind in g.sweep("kind", ["a", "b"]):
                    for alpha in g.sweep("alpha", [0.5, 2]):
                        self.assertIsInstance(alpha, float)
                        row = g.measure("swept", nothing, elements=n)
                        empty += row is None
            found = [(row["n"], row["kind"], row["alpha"]) for row in g.rows()]
        self.assertEqual(empty, 8)
        self.assertEqual(found, [(n, k, a) for n in (3, 1) for k in "ab" for a in (0.5, 2)])
        self.assertEqual(g.exit_code, 0)

    def test_values_as_they_are(self):
        class Integer:  # as NumPy's
            def __index__(self):
                return 2**53 + 1

        with gpumb.open(**QUICK) as g:
            for n in g.sweep("n", [Integer()]):
                self.assertEqual(n, 2**53 + 1)
            for _ in g.sweep("text", ["02", "1e5"]):
                g.measure("123", nothing)
            self.assertEqual([row["text"] for row in g.rows()], ["02", "1e5"])
            self.assertEqual(g.row(0)["kernel"], "123")

    def test_left(self):
        for leave_at in range(1, 7):
            with gpumb.open(**QUICK) as g:
                reached = 0
                sweep = g.sweep("n", [1, 2, 3])
                for _ in sweep:
                    g.measure("swept", nothing)
                    reached += 1
                    if reached == leave_at:
                        break
                sweep.close()
                self.assertIsNone(g.measure("behind it", nothing)["n"] if leave_at > 3 else None)
            self.assertEqual(g.exit_code, 1)

    def test_exception(self):
        with self.assertRaises(ZeroDivisionError):
            with gpumb.open(**QUICK) as g:
                for n in g.sweep("n", [1, 0]):
                    g.measure("swept", nothing)
                    1 / n
        self.assertEqual(g.exit_code, 1)

    def test_bad_axes(self):
        with gpumb.open(**QUICK) as g:
            wrong = (([2**64], OverflowError), ([None], TypeError), ([1, "a"], TypeError))
            for values, kind in wrong:
                with self.assertRaises(kind):
                    next(g.sweep("n", values))
            with self.assertRaises(ValueError):
                next(g.sweep("", [1]))
            self.assertTrue(g.measure("behind it", nothing).ok)


class Programs(unittest.TestCase):
    """With a command line."""

    def run_program(self, *words):
        text = (
            "import sys, gpumb\n"
            "with gpumb.open(sys.argv) as g:\n"
            "    for n in g.sweep('n', [10, 20]):\n"
            "        g.measure('sum', lambda: sum(range(n)), elements=n)\n"
            "    g.note('done')\n"
            "sys.exit(g.exit_code)\n"
        )
        return subprocess.run(
            [sys.executable, "-c", text, *words],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "examples" / "python")},
            timeout=120,
        )

    def test_options(self):
        with tempfile.TemporaryDirectory() as folder:
            csv = pathlib.Path(folder) / "rows.csv"
            ran = self.run_program("--samples", "6:6", "--csv", str(csv), "--axis", "n=30,40")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("2 rows: 2 ok", ran.stdout)
            self.assertIn("done", ran.stdout)
            self.assertEqual(len(csv.read_text().splitlines()), 3)

    def test_ctrl_c(self):
        """It ends the run with 130, and the rows that are finished stay."""
        with tempfile.TemporaryDirectory() as folder:
            csv = pathlib.Path(folder) / "rows.csv"
            text = (
                "import os, signal, sys, gpumb\n"
                "def run(): n < 2 or os.kill(os.getpid(), signal.SIGINT)\n"
                "with gpumb.open(sys.argv) as g:\n"
                "    for n in g.sweep('n', [1, 2, 3]):\n"
                "        g.measure('x', run)\n"
                "sys.exit(g.exit_code)\n"
            )
            ran = subprocess.run(
                [sys.executable, "-c", text, "--samples", "6:6", "--csv", str(csv)],
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT / "examples" / "python")},
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                timeout=120,
            )
            self.assertEqual(ran.returncode, 130, ran.stderr)
            self.assertIn("interrupted after 1 row", ran.stderr)
            part = pathlib.Path(f"{csv}.part").read_text().splitlines()
            self.assertEqual(len(part), 2)

    def test_wrong_option(self):
        ran = self.run_program("--nosuch")
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(ran.stderr, "gpumb: --nosuch: no such option; see --help\n")

    def test_help(self):
        ran = self.run_program("--help")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("--precision", ran.stdout)


class DoBench(unittest.TestCase):
    def test_modes(self):
        row = gpumb.Row({"status": "ok", "flags": None}, "row", [4e-3, 1e-3, 3e-3, 2e-3])
        real, gpumb.time = gpumb.time, lambda *_, **__: row
        try:
            for mode, result in (("min", 1), ("max", 4), ("mean", 2.5), ("median", 2.5)):
                self.assertAlmostEqual(gpumb.do_bench(nothing, return_mode=mode), result)
            self.assertEqual(gpumb.do_bench(nothing, return_mode="all"), [4, 1, 3, 2])
            self.assertAlmostEqual(gpumb.do_bench(nothing, quantiles=[0.2]), 1.6)
            found = gpumb.do_bench(nothing, quantiles=[0, 0.5, 1])
            for each, expected in zip(found, (1, 2.5, 4)):
                self.assertAlmostEqual(each, expected)
            with self.assertRaises(ValueError):
                gpumb.do_bench(nothing, return_mode="mode")
        finally:
            gpumb.time = real

    def test_run(self):
        tensor = types.SimpleNamespace(grad=None)
        seen = []

        def backward():
            seen.append(tensor.grad)
            tensor.grad = 1
            time.sleep(0.001)

        self.assertGreaterEqual(gpumb.do_bench(backward, grad_to_none=[tensor]), 1)
        self.assertEqual(set(seen), {None})
        with self.assertRaises(ZeroDivisionError):
            gpumb.do_bench(lambda: 1 / 0)


class Streams(unittest.TestCase):
    def test_frameworks(self):
        """Fakes: what is imported gets the context's stream, and has its own back behind it."""
        said = []

        class Entered:
            def __init__(self, *what):
                self.what = what

            def __enter__(self):
                said.append(("enter", *self.what))

            def __exit__(self, *_):
                said.append(("exit", *self.what))

        torch = types.SimpleNamespace(
            cuda=types.SimpleNamespace(
                is_available=lambda: True,
                ExternalStream=lambda stream, device: (stream, device),
                stream=lambda stream: Entered("torch", *stream),
                graph_pool_handle=lambda: "pool",
            ),
            _C=types.SimpleNamespace(
                _cuda_beginAllocateCurrentStreamToPool=lambda *what: said.append(("begin", *what)),
                _cuda_endAllocateToPool=lambda *what: said.append(("end", *what)),
                _cuda_releasePool=lambda *what: said.append(("release", *what)),
            ),
        )
        cupy = types.SimpleNamespace(
            is_available=lambda: True,
            cuda=types.SimpleNamespace(
                Stream=object,  # an older one, without from_external()
                ExternalStream=lambda stream, device_id: Entered("cupy", stream, device_id),
            ),
        )
        real = {name: sys.modules.get(name) for name in ("torch", "cupy")}
        sys.modules.update(torch=torch, cupy=cupy)
        try:
            with contextlib.ExitStack() as stacked:
                captures, pool = gpumb._on_stream(stacked, 0x1234, 1)
                self.assertTrue(captures)
                of_one = pool()
                with of_one:
                    said.append("body")
            with contextlib.ExitStack() as stacked:
                del torch._C._cuda_beginAllocateCurrentStreamToPool
                captures, pool = gpumb._on_stream(stacked, 0x1234, 1)
                self.assertFalse(captures)
                with pool():
                    said.append("body")
        finally:
            for name, module in real.items():
                if module:
                    sys.modules[name] = module
                else:
                    del sys.modules[name]
        enter = [("enter", "cupy", 0x1234, 1), ("enter", "torch", 0x1234, 1)]
        leave = [("exit", "torch", 0x1234, 1), ("exit", "cupy", 0x1234, 1)]
        begin, end, release = [(verb, 1, "pool") for verb in ("begin", "end", "release")]
        pool = [begin, end, begin, "body", end, release, release]
        expected = [*enter, *pool, *leave, *enter, "body", *leave]
        self.assertEqual(said, expected)

    def test_device(self):
        """Without a word it is the one that the program has made its current one."""
        torch = types.SimpleNamespace(
            cuda=types.SimpleNamespace(is_initialized=lambda: True, current_device=lambda: 3)
        )
        cupy = types.SimpleNamespace(
            is_available=lambda: True,
            cuda=types.SimpleNamespace(runtime=types.SimpleNamespace(getDevice=lambda: 2)),
        )
        for modules, backend, device in (
            ({}, "", 0),
            ({"torch": torch, "cupy": cupy}, "", 3),
            ({"cupy": cupy}, "", 2),
            ({"torch": torch}, "cpu", 0),
        ):
            with unittest.mock.patch.dict(sys.modules, modules), unittest.mock.patch.dict(
                os.environ, GPUMB_BACKEND=backend
            ):
                self.assertEqual(gpumb._current_device(), device)
        with unittest.mock.patch.object(gpumb, "_current_device", lambda: 3):
            with self.assertRaisesRegex(gpumb.Error, "--device 3: there are 1"):
                gpumb.open(**QUICK)
            self.assertTrue(gpumb.time(nothing, device=0, **QUICK).ok)

    def test_argument(self):
        given = []
        row = gpumb.time(lambda stream: given.append(stream), **QUICK)
        self.assertTrue(row.ok)
        self.assertEqual({type(stream) for stream in given}, {gpumb.Stream})
        self.assertEqual(gpumb.Stream(7).__cuda_stream__(), (0, 7))
        for fn in (lambda stream=None: given.append(stream), lambda *stream: given.extend(stream)):
            given.clear()
            gpumb.time(fn, **QUICK)
            self.assertLessEqual(set(given), {None})
        with self.assertRaises(TypeError):
            gpumb.time(lambda other: None, **QUICK)


class Outputs(unittest.TestCase):
    def test_poison(self):
        seen, out = [], bytearray(5)

        def fn():
            seen.append(bytes(out))
            out[:] = b"right"

        row = gpumb.time(fn, outputs=[out], check=lambda: out == b"right", **QUICK)
        self.assertEqual((row["status"], row["verified"]), ("ok", "yes"))
        poisoned = [i for i, each in enumerate(seen) if each != b"right"]
        self.assertEqual(poisoned, [0, len(seen) - 1])  # the runs that are checked
        row = gpumb.time(nothing, outputs=[out], check=lambda: out == b"right", **QUICK)
        self.assertEqual((row["status"], row["verified"]), ("failed", "no"))

    def test_arrays(self):
        memory = bytearray(64)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))

        def array(shape, strides=None, typestr="<f4", data=(address, False), cuda=False):
            name = "__cuda_array_interface__" if cuda else "__array_interface__"
            interface = {"shape": shape, "typestr": typestr, "data": data, "strides": strides}
            return types.SimpleNamespace(**{name: interface})

        for cuda in (False, True):
            for shape, strides, size in (
                ((), None, 4),
                ((3,), None, 12),
                ((2, 3), None, 24),
                ((2, 3), (12, 4), 24),
                ((2, 3), (4, 8), 24),  # Fortran's order
                ((2, 1, 3), (12, 99, 4), 24),
                ((0, 3), None, 0),
                ((3,), (4,), 12),
            ):
                found = gpumb._memory(array(shape, strides, cuda=cuda))
                self.assertEqual(found, (address, size))
            apart = (((3,), (8,)), ((2, 3), (16, 4)), ((3, 2), (4, 4)), ((2,), (0,)), ((3,), (-4,)))
            for shape, strides in apart:
                with self.assertRaisesRegex(ValueError, "not contiguous"):
                    gpumb._memory(array(shape, strides, cuda=cuda))
            with self.assertRaisesRegex(ValueError, "can't be written"):
                gpumb._memory(array((3,), data=(address, True), cuda=cuda))
        for typestr, size in (("<U8", 96), ("|b1", 3), ("<M8[ns]", 24), ("<c16", 48)):
            self.assertEqual(gpumb._memory(array((3,), typestr=typestr)), (address, size))
        for typestr in ("|O8", "|V", ""):
            with self.assertRaises(TypeError):
                gpumb._memory(array((3,), typestr=typestr))
        record = array((3,), typestr="|V12")
        record.__array_interface__["descr"] = [("a", "<f4"), ("b", "<i8")]
        self.assertEqual(gpumb._memory(record), (address, 36))
        record.__array_interface__["descr"] = [("a", "<f4"), ("b", [("c", "|O")])]
        with self.assertRaisesRegex(TypeError, "an array of .*'c', '|O'"):  # poison is no object
            gpumb._memory(record)
        tensor = types.SimpleNamespace(
            data_ptr=lambda: address,
            numel=lambda: 5,
            element_size=lambda: 2,
            is_contiguous=lambda: True,
        )
        self.assertEqual(gpumb._memory(tensor), (address, 10))
        tensor.is_contiguous = lambda: False
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            gpumb._memory(tensor)
        self.assertEqual(gpumb._memory(memoryview(memory)[8:24]), (address + 8, 16))
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            gpumb._memory(memoryview(memory)[::2])
        with self.assertRaisesRegex(ValueError, "can't be written"):
            gpumb._memory(b"text")
        with self.assertRaisesRegex(TypeError, "^outputs: a str is no array$"):
            gpumb._memory("text")

    def test_wrong(self):
        with gpumb.open(**QUICK) as g:
            many = [bytearray(1)] * 9
            for outputs, kind in (([b"text"], ValueError), ([3], TypeError), (many, ValueError)):
                with self.assertRaises(kind):
                    g.measure("wrong", nothing, outputs=outputs)
            self.assertEqual(g.rows(), [])
            self.assertTrue(g.measure("empty", nothing, outputs=[bytearray()]).ok)

    def test_each_its_own(self):
        out = {"one": bytearray(8), "two": bytearray(8)}

        def write(name):
            out[name][:] = b"\1" * 8

        rows = gpumb.compare(
            {
                name: {
                    "fn": functools.partial(write, name),
                    "check": lambda name=name: out[name] == b"\1" * 8,
                    "outputs": [out[name]],
                }
                for name in out
            },
            **QUICK,
        )
        found = [(row["kernel"], row["verified"]) for row in rows]
        self.assertEqual(found, [("one", "yes"), ("two", "yes")])


class Library(unittest.TestCase):
    """How it is found and compiled, by a compiler that takes a library for its result."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "a path"
        self.path.mkdir()
        self.compiler("sleep 0.3; shift $(($# - 1)); cp \"$GPUMB_TEST_LIBRARY\" \"$1\"")

    def compiler(self, commands):
        fake = self.path / "fake-c++"
        fake.write_text(
            "#!/bin/sh\n[ \"$1\" != --version ] || exec echo fake 1.0\n"
            f"echo compiled >>'{self.path}/log'\n{commands}\n"
        )
        fake.chmod(0o755)

    def start(self, **env):
        usual = {**os.environ, "GPUMB_TEST_LIBRARY": os.environ["GPUMB_LIBRARY"]}
        del usual["GPUMB_LIBRARY"]
        usual.update(
            PYTHONPATH=str(ROOT / "examples" / "python"),
            XDG_CACHE_HOME=str(self.path / "cache"),
            CXX=str(self.path / "fake-c++"),
            GPUMB_BACKEND="cpu",
        )
        usual.update(env)
        text = "import gpumb\ntry: print(gpumb.time(int).ok)\nexcept gpumb.Error as e: print(e)"
        return subprocess.Popen(
            [sys.executable, "-c", text],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=usual,
        )

    def said(self, **env):
        out, err = self.start(**env).communicate(timeout=120)
        return out.strip(), err.strip()

    def test_compiled_once(self):
        both = [self.start() for _ in range(2)]
        heard = [process.communicate(timeout=120) for process in both]
        self.assertEqual([out for out, _ in heard], ["True\n"] * 2)
        self.assertEqual(sum("gpumb: compiles gpumb.h once" in err for _, err in heard), 1)
        self.assertEqual(self.said(), ("True", ""))
        self.assertEqual((self.path / "log").read_text(), "compiled\n")

    def test_another_compiler(self):
        self.said()
        fake = self.path / "fake-c++"
        fake.write_text(fake.read_text().replace("1.0", "1.1"))
        self.assertIn("compiles", self.said()[1])

    def test_a_compiler_that_fails(self):
        self.compiler("echo no such type >&2; exit 1")
        self.assertRegex(self.said()[0], "(?s)fake-c.. can't compile .*gpumb.h:\nno such type")
        self.assertEqual([*(self.path / "cache" / "gpumb").glob("*.so")], [])

    def test_no_compiler(self):
        out = self.said(CXX="/nonexistent", PATH="/nonexistent")[0]
        self.assertEqual(
            out, "no compiler for cpu: looked for g++, c++ and clang++ (in PATH, or CXX)"
        )
        if not pathlib.Path("/opt/rocm/bin/hipcc").exists():
            out = self.said(GPUMB_BACKEND="hip", PATH="/nonexistent")[0]
            self.assertIn("no compiler for hip: looked for hipcc", out)
            self.assertIn("GPUMB_BACKEND=cpu measures on the CPU", out)

    def test_where_a_gpu_is(self):
        """Never the CPU, whatever it is that shows the GPU."""
        with unittest.mock.patch.dict(os.environ), unittest.mock.patch.object(
            gpumb, "_find", lambda *_: "it"
        ):
            os.environ.pop("GPUMB_BACKEND", None)
            for there, language in (
                ("/dev/nvidiactl", "cu"),
                ("/usr/lib/wsl/lib/libcuda.so.1", "cu"),
                ("/dev/nvhost-gpu", "cu"),
                ("/dev/kfd", "hip"),
            ):
                with unittest.mock.patch("os.path.exists", lambda path, at=there: path == at):
                    self.assertEqual(gpumb._compiler()[-1], language)
            with unittest.mock.patch("os.path.exists", lambda path: False):
                self.assertEqual(gpumb._compiler()[-1], "c++")

    def test_no_cache(self):
        (self.path / "file").touch()
        out = self.said(XDG_CACHE_HOME=str(self.path / "file"))[0]
        self.assertRegex(out, "^no library in .*/file/gpumb: .*: XDG_CACHE_HOME names a folder ")

    def test_library_that_cannot_be_written(self):
        """A cache that was filled before, as an image of a container has it."""
        self.said()
        for lock in (self.path / "cache" / "gpumb").glob("*.lock"):
            lock.unlink()
            lock.mkdir()  # is refused to everybody, root included
        self.assertEqual(self.said(), ("True", ""))

    def test_bad_names(self):
        self.assertEqual(
            self.said(GPUMB_BACKEND="gpu")[0], "GPUMB_BACKEND=gpu: must be cuda, hip or cpu"
        )
        out = self.said(GPUMB_LIBRARY="/nonexistent.so")[0]
        self.assertTrue(out.startswith("/nonexistent.so can't be loaded: "), out)
        import _ctypes

        out = self.said(GPUMB_LIBRARY=_ctypes.__file__)[0]
        self.assertRegex(out, f"^{re.escape(_ctypes.__file__)} can't be loaded: .*gpumb_set_log$")

    def test_settings_are_those_of_the_header(self):
        declared = subprocess.run(
            ["sh", ROOT / "examples" / "languages" / "declarations.sh"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        body = re.search(r"typedef struct gpumb_settings \{(.*?)\}", declared, re.S)[1]
        kinds = {"size_t": "c_ulong", "uint64_t": "c_ulong", "double": "c_double", "int": "c_int"}
        kinds["const char *"] = "c_char_p"
        members = re.findall(r"(size_t|uint64_t|double|int|const char \*) ?(\w+);", body)
        ours = [(kind.__name__, name) for name, kind in gpumb._Settings._fields_]
        self.assertEqual([(kinds[kind], name) for kind, name in members], ours)


if __name__ == "__main__":
    counted.main()
