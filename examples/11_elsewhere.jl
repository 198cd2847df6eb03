# Prints an addition for 11_elsewhere.cu, as PTX, by the compiler of CUDA.jl, GPUCompiler.jl, which
# needs no GPU: julia 11_elsewhere.jl >julia.ptx, and then julia.ptx:256:256. Tried with Julia 1.5.3
# (LLVM 9), GPUCompiler 0.8.3, LLVM.jl 3.6.0. From GPUCompiler 0.19 on, a job is made otherwise.
using GPUCompiler

# What GPUCompiler wants to be able to call; this kernel calls none of it.
module Runtime
signal_exception() = return
malloc(bytes) = C_NULL
report_oom(bytes) = return
report_exception(ex) = return
report_exception_name(ex) = return
report_exception_frame(idx, func, file, line) = return
end
struct Params <: AbstractCompilerParams end
GPUCompiler.runtime_module(::CompilerJob{<:Any,Params}) = Runtime

thread() = ccall("llvm.nvvm.read.ptx.sreg.tid.x", llvmcall, Int32, ())
block() = ccall("llvm.nvvm.read.ptx.sreg.ctaid.x", llvmcall, Int32, ())
threads() = ccall("llvm.nvvm.read.ptx.sreg.ntid.x", llvmcall, Int32, ())

# Of global memory, 1. CUDA.jl's own arrays are structs: CUDA.jl 2.3 passes a length and a pointer.
const Floats = Core.LLVMPtr{Float32,1}

function julia_add(x::Floats, y::Floats, sum::Floats, n::Int32)
    i = block() * threads() + thread() + Int32(1)
    if i <= n # Val(4) is the alignment, without which it goes byte by byte
        unsafe_store!(sum, unsafe_load(x, i, Val(4)) + unsafe_load(y, i, Val(4)), i, Val(4))
    end
    return
end

source = FunctionSpec(julia_add, Tuple{Floats,Floats,Floats,Int32}, true)
job = CompilerJob(PTXCompilerTarget(cap = v"7.5"), source, Params())
print(GPUCompiler.compile(:asm, job; strip = true)[1])
