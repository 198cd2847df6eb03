"""Compiles additions for 11_elsewhere.cu, by Triton (which needs a GPU) and by Numba, as far as
they are here, and prints what it takes: FILE:THREADS:ELEMENTS for each."""
import contextlib
import pathlib
import sys

folder = pathlib.Path(sys.argv[1] if sys.argv[1:] else ".")

with contextlib.suppress(ImportError):
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def triton_add(x, y, out, n, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)

    if torch.cuda.is_available():
        x = torch.ones(1024, device="cuda")
        made = triton_add[(1,)](x, x, torch.empty_like(x), 1024, 1024)
        (folder / "triton.cubin").write_bytes(made.asm["cubin"])
        print(f"{folder}/triton.cubin:{32 * made.metadata.num_warps}:1024")

with contextlib.suppress(ImportError):
    from numba import cuda, types

    def numba_add(x, y, out, n):
        i = cuda.grid(1)
        if i < n:
            out[i] = x[i] + y[i]

    floats = types.CPointer(types.float32)
    signature = types.void(floats, floats, floats, types.int32)
    try:
        ptx, _ = cuda.compile_ptx(numba_add, signature, cc=(9, 0))
    except AttributeError as error:  # versions of NumPy that it can't work with
        sys.exit(f"11_elsewhere.py: Numba does not work here: {error}")
    (folder / "numba.ptx").write_text(ptx)
    print(f"{folder}/numba.ptx:256:256")
