"""The same addition by Triton, by CUDA C and by PyTorch, compared in one table:

    python3 triton_add.py --precision 0.5%

Needs PyTorch, Triton and CuPy, which compiles the CUDA C, on an NVIDIA GPU.
"""

import sys

import cupy
import gpumb
import torch
import triton
import triton.language as tl


@triton.jit
def by_triton(x, y, out, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


by_cuda = cupy.RawKernel(
    """extern "C" __global__ void add(const float4 *x, const float4 *y, float4 *out, long long n)
    {
        const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
        if (i >= n / 4)
            return;
        const float4 a = x[i], b = y[i];
        out[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }""",
    "add",
)

with gpumb.open(sys.argv) as g:
    for n in g.sweep("n", [1 << 20, 1 << 24, 1 << 28]):
        x, y = (torch.rand(n, device="cuda") for _ in range(2))
        out = torch.empty_like(x)
        arrays = [cupy.asarray(each) for each in (x, y, out)]
        g.compare(
            {
                "torch": lambda: torch.add(x, y, out=out),
                "Triton": lambda: by_triton[(triton.cdiv(n, 1024),)](x, y, out, n, 1024),
                "CUDA C": lambda: by_cuda((n // 4 + 255 >> 8,), (256,), (*arrays, n)),
            },
            bytes=12 * n,
            outputs=[out],
            check=lambda: torch.equal(out, x + y),
        )
sys.exit(g.exit_code)
