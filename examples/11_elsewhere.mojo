# Prints an addition for 11_elsewhere.cu, as PTX: mojo run 11_elsewhere.mojo >mojo.ptx, and then
# mojo.ptx:256:256 (Mojo 0.25.7).
from compile import compile_info
from gpu import global_idx
from gpu.host import get_gpu_target
from memory import UnsafePointer

alias Floats = UnsafePointer[Float32, MutAnyOrigin]


fn mojo_add(x: Floats, y: Floats, sum: Floats, n: Int32):
    var i = Int(global_idx.x)
    if i < Int(n):
        sum[i] = x[i] + y[i]


def main():
    print(compile_info[mojo_add, emission_kind="asm", target=get_gpu_target["sm_90"]()]())
