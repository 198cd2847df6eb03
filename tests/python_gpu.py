"""Tests of examples/python/gpumb.py with what is installed of PyTorch, Triton, CuPy, Numba,
cuda.core and JAX, on a GPU; test_python_gpu.sh runs them where there is one."""

import contextlib
import importlib
import io
import os
import pathlib
import signal
import sys
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "python"))
import counted  # noqa: E402
import gpumb  # noqa: E402

MORE = {"budget_s": 0.1}


def have(name):
    with contextlib.suppress(ImportError):
        return importlib.import_module(name)
    return None


torch = have("torch")
if torch and not torch.cuda.is_available():
    torch = None
cupy = have("cupy")
triton = have("triton") if torch else None
if triton:
    import triton.language as tl

    @triton.jit
    def triton_add(x, y, out, n, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)

    tuned_add = triton.autotune([triton.Config({"block": b}) for b in (256, 1024)], ["n"])(
        triton_add
    )


@contextlib.contextmanager
def heard():
    """What is said on standard error."""
    text, real = io.StringIO(), sys.stderr
    sys.stderr = text
    try:
        yield text
    finally:
        sys.stderr = real
        real.write(text.getvalue())


def shown(row):
    print(row)
    return row


class Case(unittest.TestCase):
    def times(self, fn, timing="graph", meaning="span", says=(), **about):
        """Times fn, and looks at how that was done."""
        with heard() as text:
            row = shown(gpumb.time(fn, f"{self.id().split('.', 1)[1]}", **{**MORE, **about}))
        self.assertEqual((row["status"], row["reason"]), ("ok", None))
        self.assertEqual((row["timing"], row.meaning), (timing, meaning))
        lines = [line for line in text.getvalue().splitlines() if "compiles" not in line]
        self.assertEqual(len(lines), len(says), lines)
        for line, part in zip(lines, says):
            self.assertIn(part, line)
        return row


@unittest.skipUnless(torch, "needs PyTorch and a GPU")
class Torch(Case):
    def setUp(self):
        self.a, self.b = (torch.rand(1 << 20, device="cuda") for _ in range(2))
        self.out = torch.empty_like(self.a)
        torch.cuda.synchronize()

    def test_out(self):
        row = self.times(
            lambda: torch.add(self.a, self.b, out=self.out),
            bytes=3 * 4 << 20,
            outputs=[self.out],
            check=lambda: torch.equal(self.out, self.a + self.b),
        )
        self.assertEqual(row["verified"], "yes")
        self.assertLess(row.median, 20e-6)

    def test_wrong(self):
        row = gpumb.time(
            lambda: torch.add(self.a[:-1], self.b[:-1], out=self.out[:-1]),
            outputs=[self.out],
            check=lambda: torch.equal(self.out, self.a + self.b),
            **MORE,
        )
        self.assertEqual((row["status"], row["verified"]), ("failed", "no"))

    def test_outputs_of_any_type(self):
        for make in (
            lambda: torch.ones(1001, device="cuda", dtype=torch.bfloat16),
            lambda: torch.ones(1001, device="cuda", requires_grad=True),
            lambda: torch.ones(1001),
        ):
            out = make()
            seen = []
            row = gpumb.time(
                lambda: seen.append(bool((out.detach() == 1).any())) if len(seen) < 1 else None,
                outputs=[out],
                **MORE,
            )
            self.assertEqual(row["status"], "ok")
            self.assertEqual(seen, [False])  # all of it was poisoned before the first run
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            gpumb.time(lambda: None, outputs=[self.out.view(1024, 1024).T])

    def test_allocates(self):
        row = self.times(lambda: (self.a + self.b) * 2)
        self.assertLess(row.median, 30e-6)

    def test_canaries(self):
        """What was freed in a capture is written to by each replay: nobody else may get it."""
        kept = []
        canaries = [torch.full_like(self.a, 7) for _ in range(8)]

        def makes():
            kept[:] = [torch.full_like(self.a, 7)]

        def intact():
            return all(bool((each == 7).all()) for each in [*canaries, *kept])

        with gpumb.open(**MORE) as g:
            rows = g.compare(
                {
                    "temporary": lambda: (self.a + self.b).mul_(3),
                    "kept": {"fn": makes, "check": intact},
                    "other": lambda: (self.a - self.b).mul_(5),
                }
            )
            canaries += [torch.full_like(self.a, 7) for _ in range(8)]
            rows.append(g.measure("behind", lambda: self.a * 9, check=intact))
        self.assertEqual([row["status"] for row in rows], ["ok"] * 4)
        self.assertEqual([row["timing"] for row in rows], ["graph"] * 4)
        self.assertTrue(intact())
        del kept[:], canaries[:]
        before = torch.cuda.memory_reserved()
        torch.cuda.empty_cache()
        self.assertLess(torch.cuda.memory_reserved(), before)

    def test_memory_comes_back(self):
        torch.cuda.empty_cache()
        before = torch.cuda.memory_reserved()
        for _ in range(3):
            gpumb.time(lambda: torch.empty(1 << 28, device="cuda").fill_(1), **MORE)
        torch.cuda.empty_cache()
        self.assertEqual(torch.cuda.memory_reserved(), before)

    def test_random(self):
        row = self.times(
            lambda: torch.nn.functional.dropout(self.a),
            timing="batch",
            meaning="interval",
            says=["timed without a graph: "],
        )
        self.assertLess(row.median, 100e-6)

    def test_waits(self):
        row = self.times(
            lambda: self.a.sum().item(),
            timing="host",
            meaning="latency",
            says=["timed without a graph: "],
        )
        self.assertIn("host-bound", row.flags)

    def test_backward(self):
        weight = torch.rand(512, 512, device="cuda", requires_grad=True)
        x = torch.rand(512, 512, device="cuda")

        def run():
            (weight @ x).relu().sum().backward()

        def forget():
            weight.grad = None

        self.times(run, timing="event", reset=forget)
        self.times(lambda: torch.autograd.grad((weight @ x).relu().sum(), weight))

    def test_compiled(self):
        fn = torch.compile(lambda x, y: (x * y).sin() + 1)
        row = self.times(lambda: fn(self.a, self.b))
        self.assertLess(row.median, 20e-6)

    def test_product(self):
        x, y = (torch.rand(4096, 4096, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        row = self.times(lambda: x @ y, flop=2 * 4096**3)
        self.assertGreater(row["gflops"], 100e3)

    def test_cold(self):
        row = self.times(lambda: torch.add(self.a, self.b, out=self.out), timing="event", cold=True)
        self.assertGreater(row.median, 1e-6)

    def test_other_stream(self):
        """Work that the time would leave out: it fails, or all of it is in the host's time."""
        side = torch.cuda.Stream()

        def run():
            with torch.cuda.stream(side):
                torch.add(self.a, self.b, out=self.out)

        row = shown(gpumb.time(run, "elsewhere", **MORE))
        if row.ok:
            self.assertEqual((row["timing"], row.meaning), ("host", "latency"))
        else:
            self.assertIn("another stream", row["reason"])
        self.a = self.a.repeat(64)  # a millisecond, and so at work when the body's end is looked at
        self.b, self.out = self.b.repeat(64), self.out.repeat(64)

        def both():
            run()
            self.a[:1024].add_(1)

        row = shown(gpumb.time(both, "partly elsewhere", **MORE))
        self.assertEqual(row["status"], "failed")
        self.assertIn("another stream", row["reason"])

    def test_forks_and_joins(self):
        side = torch.cuda.Stream()

        def run():
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                torch.add(self.a, self.b, out=self.out)
            torch.cuda.current_stream().wait_stream(side)

        self.times(run)

    def test_exception_in_a_capture(self):
        def run():
            if torch.cuda.is_current_stream_capturing():
                raise RuntimeError("not here")
            torch.add(self.a, self.b, out=self.out)

        self.times(run, timing="batch", meaning="interval", says=["RuntimeError: not here"])
        self.assertFalse(torch.cuda.is_current_stream_capturing())
        self.assertEqual(float(torch.ones(3, device="cuda").sum()), 3)

    def test_ctrl_c(self):
        for delay in (0.3, 0.7, 1.5):
            threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)).start()
            began = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                gpumb.time(
                    lambda: torch.add(self.a, self.b, out=self.out),
                    precision=1e-9,
                    budget_s=30,
                    least_s=30,
                    max_samples=1 << 22,
                )
            self.assertLess(time.monotonic() - began, delay + 1)
        self.times(lambda: torch.add(self.a, self.b, out=self.out))

    def test_stream_is_given_back(self):
        before = torch.cuda.current_stream()
        with gpumb.open(**MORE) as g:
            inside = []
            g.measure("inside", lambda: inside.append(torch.cuda.current_stream().cuda_stream))
            self.assertEqual(torch.cuda.current_stream(), before)
        self.assertNotEqual(inside[0], before.cuda_stream)

    def test_current_device(self):
        if torch.cuda.device_count() < 2:
            self.skipTest("needs two GPUs")
        torch.cuda.set_device(1)
        try:
            x = torch.rand(1 << 20, device="cuda")
            out = torch.empty_like(x)
            torch.cuda.synchronize()
            row = self.times(
                lambda: torch.add(x, x, out=out),
                outputs=[out],
                check=lambda: torch.equal(out, x + x),
            )
            self.assertLess(row.median, 20e-6)
            self.assertEqual(torch.cuda.current_device(), 1)
        finally:
            torch.cuda.set_device(0)

    def test_interleaved(self):
        rows = gpumb.compare(
            {
                "hot": lambda: torch.add(self.a, self.b, out=self.out),
                "three": lambda: torch.add(self.a, self.b, out=self.out).add_(self.a).add_(self.b),
            },
            **MORE,
        )
        self.assertEqual([shown(row)["timing"] for row in rows], ["graph"] * 2)
        self.assertEqual(rows[1]["verdict"], "slower")
        self.assertGreater(rows[1]["ratio_lo"], 2)


@unittest.skipUnless(triton, "needs Triton and a GPU")
class Triton(Case):
    def setUp(self):
        self.n = 1 << 20
        self.x, self.y = (torch.rand(self.n, device="cuda") for _ in range(2))
        self.out = torch.empty_like(self.x)

    def launch(self):
        triton_add[(self.n // 1024,)](self.x, self.y, self.out, self.n, 1024)

    def right(self):
        return torch.equal(self.out, self.x + self.y)

    def test_kernel(self):
        row = self.times(self.launch, outputs=[self.out], check=self.right)
        self.assertLess(row.median, 10e-6)

    def test_autotuned(self):
        def launch():
            grid = lambda meta: (triton.cdiv(self.n, meta["block"]),)  # noqa: E731
            tuned_add[grid](self.x, self.y, self.out, self.n)

        self.times(launch, outputs=[self.out], check=self.right)

    def test_do_bench(self):
        ours = gpumb.do_bench(self.launch)
        theirs = triton.testing.do_bench(self.launch)
        print(f"do_bench: {1e3 * ours:.2f} us, Triton's own {1e3 * theirs:.2f} us")
        self.assertLess(ours, theirs)
        for quantiles in (None, [0.5], [0.2, 0.5, 0.8]):
            for mode in ("min", "mean", "all"):
                ours = gpumb.do_bench(self.launch, quantiles=quantiles, return_mode=mode, rep=20)
                theirs = triton.testing.do_bench(
                    self.launch, quantiles=quantiles, return_mode=mode, rep=20
                )
                self.assertEqual(type(ours), type(theirs))


@unittest.skipUnless(cupy, "needs CuPy and a GPU")
class CuPy(Case):
    def setUp(self):
        self.a = cupy.random.random(1 << 20, dtype=cupy.float32)
        self.out = cupy.empty_like(self.a)

    def test_out(self):
        self.times(
            lambda: cupy.add(self.a, self.a, out=self.out),
            outputs=[self.out],
            check=lambda: bool((self.out == 2 * self.a).all()),
        )

    def test_allocates(self):
        canaries = [cupy.full_like(self.a, 7) for _ in range(8)]
        self.times(lambda: (self.a + self.a) * 3)
        self.assertTrue(all(bool((each == 7).all()) for each in canaries))

    def test_sum(self):
        row = self.times(lambda: self.a.sum())
        self.assertLess(row.median, 30e-6)

    def test_reads_back(self):
        row = self.times(
            lambda: float(self.a.sum()), timing="host", meaning="latency", says=["without a graph"]
        )
        self.assertIn("host-bound", row.flags)


class Others(Case):
    def test_numba(self):
        cuda = have("numba.cuda")
        if not cuda or not cuda.is_available():
            self.skipTest("needs Numba and a GPU")

        @cuda.jit
        def scale(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] *= 1.5

        x = cuda.to_device([1.0] * (1 << 20))  # a small grid is warned of
        try:
            scale[4096, 256](x)
        except AttributeError as error:  # versions of NumPy that it can't work with
            self.skipTest(f"Numba does not work here: {error}")
        self.times(lambda stream: scale[4096, 256, cuda.external_stream(stream)](x))

    def test_cuda_core(self):
        core = have("cuda.core") or have("cuda.core.experimental")
        if not core or not hasattr(core, "Program"):
            self.skipTest("needs cuda.core")
        device = core.Device()
        device.set_current()
        # 4 MiB: less takes no longer than an empty kernel, which has no span
        source = 'extern "C" __global__ void fill(float *x) { '
        source += 'x[blockIdx.x * 256 + threadIdx.x] = 1; }'
        options = core.ProgramOptions(arch=f"sm_{device.arch}")
        kernel = core.Program(source, "c++", options).compile("cubin").get_kernel("fill")
        memory = device.allocate(4 << 20, stream=device.default_stream)
        config = core.LaunchConfig(grid=4096, block=256)
        self.times(lambda stream: core.launch(device.create_stream(stream), config, kernel, memory))

    def test_jax(self):
        jax = have("jax")
        if not jax or jax.default_backend() != "gpu":
            self.skipTest("needs JAX and a GPU")
        x = jax.numpy.ones(1 << 20)
        fn = jax.jit(lambda x: x * 2 + 1)
        with heard():
            row = shown(gpumb.time(lambda: fn(x).block_until_ready(), "jax", **MORE))
        self.assertEqual((row["status"], row["timing"], row.meaning), ("ok", "host", "latency"))
        with heard():
            row = shown(gpumb.time(lambda: fn(x), "jax that is not waited for", **MORE))
        if row.ok:  # all that the device does is in it
            self.assertEqual((row["timing"], row.meaning), ("host", "latency"))
        else:
            self.assertIn("another stream", row["reason"])


if __name__ == "__main__":
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    counted.main(verbosity=2)
