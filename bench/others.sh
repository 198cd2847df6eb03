#!/bin/sh
# others.sh - programs of others, measured by themselves and, in the same run, by gpumb: what their
# timers say of a launch, and what it takes. Their sources stay where they are: copies in build/others
# get a region behind their own measurement, by the edits below, and their launches without a stream
# go to gpumb's while it is measured. As CSV: program, region, both figures, ratio, meaning.
# Usage: bench/others.sh [--build] CHECKOUT...
#     CHECKOUT    of UoB-HPC/BabelStream, NVIDIA/cuda-samples or te42kyfo/gpu-benches
#     --build     only builds, for ARCH (default: the GPU's, else sm_90)
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")/.." && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
usage() { sed -n 's/^# *\(Usage:.*\)/\1/p' "$0" >&2; exit 2; }

run=1
[ "${1:-}" != --build ] || { run=; shift; }
[ $# -gt 0 ] || usage
[ -x "$(command -v "$nvcc")" ] || { echo "others.sh: no nvcc" >&2; exit 3; }
arch=${ARCH:-$(nvidia-smi -L >/dev/null 2>&1 && echo native || echo sm_90)}

# kind CHECKOUT: the function that builds what is in it
kind()
{
    if [ -f "$1/src/cuda/CUDAStream.cu" ]; then
        echo babelstream
    elif [ -d "$1/Samples/6_Performance" ]; then
        echo samples
    elif [ -d "$1/gpu-l2-cache" ]; then
        echo benches
    else
        echo "others.sh: $1: none of the three repositories" >&2
        return 1
    fi
}
for checkout; do
    kind "$checkout" >/dev/null || exit 2
done

work=$here/build/others
rm -rf "$work"
mkdir -p "$work"

built=0 failed=0
# program NAME FOLDER FILE...: copies them; what follows edits the copies
program()
{
    name=$1 folder=$2
    shift 2
    mkdir -p "$work/$name/source"
    for file; do
        cp "$folder/$file" "$work/$name/source" || return
    done
    cd "$work/$name/source" || exit 1
}

# region FILE SCRIPT: the region, and what it needs, in this file; gone wrong if sed changes nothing
region()
{
    cp "$1" "$1.theirs"
    sed -E "$2" "$1.theirs" >"$1"
    grep -q OTHERS_TIME "$1" || echo "others.sh: $name: $1 is not what it was: no region" >&2
    sed -i '1i #define OTHERS_REGION\n#include "others_region.h"' "$1"
}

# launches FILE...: those without a stream
launches()
{
    sed -E -i 's/<<<([^<>,]+|[^<>,(]+\([^()]*\)[^<>,]*), ([^<>,]+)>>>/<<<\1, \2, 0, others_stream()>>>/
        s/<<<([^<>,]+), ([^<>,]+), ([^<>,]+)>>>/<<<\1, \2, \3, others_stream()>>>/' "$@"
    sed -i '1i #include "others_region.h"' "$@"
}

# build RUN OPTION... -- FILE...: with nvcc; RUN: the arguments to run it with
build()
{
    arguments=$1
    shift
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # words
    if "$nvcc" -arch="$arch" -std=c++17 -O3 -w -I"$here" -I"$here/bench" $options -x cu "$@" \
        -o ../program >../build.log 2>&1; then
        built=$((built + 1))
        echo "built $name" >&2
        echo "$arguments" >../arguments
    else
        failed=$((failed + 1))
        echo "others.sh: $name does not build: $(grep -m 1 -E 'error|fatal' ../build.log)" >&2
    fi
    cd "$here" || exit 1
}

# ---- BabelStream: the host's clock around a launch and a wait, least of 100 ----
babelstream()
{
    program babelstream "$1/src" Stream.h StreamModels.h Unit.h benchmark.h main.cpp \
        cuda/CUDAStream.cu cuda/CUDAStream.h || return
    # The third run of each kernel is followed by a region. Nothing but a line that it prints
    # depends on NVML.
    region CUDAStream.cu '
        /void nvml_error/,/^\}/d; /nvml/Id
        s/unsigned int memclock;/unsigned int memclock = 0;/
        s/^cudaStream_t stream;/&\nstatic const char *others_region_name = "init";/
        /^(void|T) CUDAStream<T>::(copy|mul|add|triad|nstream|dot)\(\)/ {
            h; s/.*::([a-z]+)\(\)/\1/; s/.*/  others_region_name = "&";/; x; n; G
        }
        /^  for_each_kernel<<</ {
            h
            s/^ *(.*), stream>>>(.*);/  static int others_runs;\n  if (++others_runs == 3)\n    OTHERS_TIME(others_region_name, (\1, others_stream()>>>\2));/
            H; x
        }
        /^  dot_kernel<<</ {
            h
            s/^ *(.*), stream>>>(.*);/  static int others_runs;\n  if (++others_runs == 3)\n    OTHERS_TIME(others_region_name, (\1, others_stream()>>>\2));/
            H; x
        }'
    sed -E -i '1i #include "others_region.h"
        /^    \/\/ Display results/i {\n      std::string label = bench[i].label;\n      for (char \&c : label) c = (char)tolower(c);\n      others_own(label, *minmax.first, "host clock around a launch and a wait: least");\n    }' main.cpp
    build '' -DCUDA -DGRID_STRIDE --extended-lambda -- main.cpp CUDAStream.cu
}

# ---- cuda-samples ----
samples()
{
    common="-I$1/Common"

    program transpose "$1/Samples/6_Performance/transpose" transpose.cu &&
        region transpose.cu '/cudaEventElapsedTime\(&kernelTime/a \
            OTHERS_TIME(kernelName, (kernel<<<grid, threads, 0, others_stream()>>>(d_odata, d_idata, size_x, size_y))); \
            others_own(kernelName, 1e-3 * kernelTime / NUM_REPS, "events around 100 launches");' &&
        build '' "$common" -- transpose.cu

    program matrixMul "$1/Samples/0_Introduction/matrixMul" matrixMul.cu &&
        region matrixMul.cu '/float +msecPerMatrixMul = /a \
            OTHERS_TIME("matrixMul", (MatrixMulCUDA<32><<<grid, threads, 0, others_stream()>>>(d_C, d_A, d_B, dimsA.x, dimsB.x))); \
            others_own("matrixMul", 1e-3 * msecPerMatrixMul, "events around 300 launches");' &&
        build '' "$common" -- matrixMul.cu

    program simpleStreams "$1/Samples/0_Introduction/simpleStreams" simpleStreams.cu &&
        region simpleStreams.cu '
            /printf\("memcopy:/a \
            OTHERS_TIME("memcopy", cudaMemcpyAsync(hAligned_a, d_a, nbytes, cudaMemcpyDeviceToHost, others_stream())); \
            others_own("memcopy", 1e-3 * time_memcpy, "events in stream 0 around a copy in another");
            /printf\("kernel:/a \
            OTHERS_TIME("kernel", (init_array<<<blocks, threads, 0, others_stream()>>>(d_a, d_c, niterations))); \
            others_own("kernel", 1e-3 * time_kernel, "events in stream 0 around a launch in another");
            /bool bResults = correct_data/a \
            gpumb_set_streams(others_open(), (void *const *)streams, nstreams); \
            OTHERS_TIME("4 streams", for (int i = 0; i < nstreams; i++) { init_array<<<blocks, threads, 0, streams[i]>>>(d_a + i * n / nstreams, d_c, niterations); cudaMemcpyAsync(hAligned_a + i * n / nstreams, d_a + i * n / nstreams, nbytes / nstreams, cudaMemcpyDeviceToHost, streams[i]); }); \
            others_own("4 streams", 1e-3 * elapsed_time / nreps, "events around 100 rounds");' &&
        build '' "$common" -- simpleStreams.cu

    program histogram "$1/Samples/2_Concepts_and_Techniques/histogram" main.cpp histogram_common.h \
        histogram64.cu histogram256.cu histogram_gold.cpp &&
        region main.cpp '/histogram(64|256), Throughput/ {
            s/.*histogram(64|256).*/OTHERS_TIME("histogram\1", histogram\1(d_Histogram, d_Data, byteCount)); others_own("histogram\1", dAvgSecs, "host clock around 16 runs");\n&/
        }' && launches histogram64.cu histogram256.cu &&
        build '' "$common" -- main.cpp histogram64.cu histogram256.cu histogram_gold.cpp

    program scan "$1/Samples/2_Concepts_and_Techniques/scan" main.cpp scan.cu scan_common.h \
        scan_gold.cpp &&
        region main.cpp '
            /if \(arrayLength == MAX_(SHORT|LARGE)_ARRAY_SIZE\) \{/ {
                h
                s/.*MAX_SHORT.*/OTHERS_TIME("short", scanExclusiveShort(d_Output, d_Input, N \/ arrayLength, arrayLength)); others_own("short", timerValue, "host clock around 100 runs");/
                s/.*MAX_LARGE.*/OTHERS_TIME("large", scanExclusiveLarge(d_Output, d_Input, N \/ arrayLength, arrayLength)); others_own("large", timerValue, "host clock around 100 runs");/
                H; x
            }' && launches scan.cu && build '' "$common" -- main.cpp scan.cu scan_gold.cpp

    # Their figure has the second kernel, a copy and two waits in it.
    program reduction "$1/Samples/2_Concepts_and_Techniques/reduction" reduction.cpp reduction.h \
        reduction_kernel.cu &&
        region reduction.cpp '/checkCudaErrors\(cudaFree\(d_intermediateSums\)\)/i \
            OTHERS_TIME("first kernel", reduce<T>(n, numThreads, numBlocks, whichKernel, d_idata, d_odata)); \
            others_own("first kernel", 1e-3 * sdkGetAverageTimerValue(\&timer), "host clock around all stages: a copy and waits");' &&
        launches reduction_kernel.cu && build '' "$common" -- reduction.cpp reduction_kernel.cu

    # With -benchmark only this one function of OpenGL is called, before main(): the headers of
    # OpenGL and GLUT are needed, their libraries are not.
    program nbody "$1/Samples/5_Domain_Specific/nbody" bodysystem.h bodysystemcpu.h \
        bodysystemcpu_impl.h bodysystemcuda.cu bodysystemcuda.h bodysystemcuda_impl.h nbody.cpp \
        render_particles.cpp render_particles.h tipsy.h &&
        region nbody.cpp '/printf\("%d bodies, total time for %d iterations/i \
            OTHERS_TIME("integrate", m_nbody->update(activeParams.m_timestep)); \
            others_own("integrate", 1e-3 * milliseconds / iterations, "events around all iterations");' &&
        launches bodysystemcuda.cu &&
        echo 'extern "C" void *glXGetProcAddress(const unsigned char *) { return nullptr; }' >gl.cpp &&
        build -benchmark "$common" -Xcompiler -fopenmp,-fno-pie,-no-pie \
            -Xlinker --unresolved-symbols=ignore-all -- \
            nbody.cpp bodysystemcuda.cu render_particles.cpp gl.cpp
}

# ---- gpu-benches: the host's clock around a launch and a wait ----
benches()
{
    # So many lengths and block sizes as are wanted here.
    program gpu-latency "$1" MeasurementSeries.hpp dtime.hpp gpu-clock.cuh gpu-error.h \
        gpu-latency/main.cu &&
        region main.cu 's/"\.\.\//"/
            s/LEN = LEN \* 1\.04 \+ 32/LEN = LEN * 8/
            /double dt = times\.minValue\(\)/a \
            OTHERS_TIME(std::to_string(LEN) + " words", (pchase<dtype><<<1, 64, 0, others_stream()>>>(buf, dummy_buf, iters))); \
            others_own(std::to_string(LEN) + " words", dt, "host clock around a launch and a wait: least of 7");' &&
        without_nvml && build '' -Xcompiler -fopenmp -- main.cu

    program gpu-stream "$1" MeasurementSeries.hpp dtime.hpp gpu-error.h gpu-stream/main.cu &&
        region main.cu 's/"\.\.\//"/
            s/blockSize <= 1024; blockSize \+= 32/blockSize <= 1024; blockSize *= 4/
            /cout << fixed << setprecision\(0\)/i \
            static const char *const kernels[] = {"init", "read", "scale", "triad", "3pt", "5pt"}; \
            static int calls; \
            const std::string others = std::to_string(blockSize) + " " + kernels[calls++ % 6]; \
            OTHERS_TIME(others, (func<<<max_buffer_size / blockSize + 1, blockSize, 0, others_stream()>>>(dA, dB, dC, dD, max_buffer_size, false))); \
            others_own(others, time.median(), "host clock around two launches and a wait: median of 9");' &&
        build '' -- main.cu

    program gpu-l2-cache "$1" MeasurementSeries.hpp dtime.hpp gpu-error.h gpu-l2-cache/main.cu &&
        region main.cu 's/"\.\.\//"/; /gpu-metrics\.hpp/d; /initMeasureMetric/d
            s/max\(1\.0, i \* 0\.1\)/i/
            /^    GPU_ERROR\(cudaFree\(dA\)\);/i \
            if (i == 10) OTHERS_TIME(std::to_string(blockRun) + " blocks", (sumKernel<N, blockSize><<<blockCount, blockSize, 0, others_stream()>>>(dA, dB, blockRun)));
            /double blockDV = /a \
            others_own(std::to_string(blockRun) + " blocks", time.minValue(), "host clock around a launch and a wait: least of 11");' &&
        build '' -- main.cu
}

# gpu-clock.cuh asks NVML for the clock, by which a printed figure is multiplied
without_nvml()
{
    sed -E -i '/nvml\.h/d; /nvmlInit|nvmlDevice/d' gpu-clock.cuh
}

for checkout; do
    "$(kind "$checkout")" "$(cd "$checkout" && pwd)"
done
echo "$built built, $failed failed" >&2
[ -n "$run" ] || exit $((failed > 0))

# ---- run: all that was built, in turn ----
for arguments in "$work"/*/arguments; do
    folder=$(dirname "$arguments") name=$(basename "$(dirname "$arguments")")
    echo "runs $name" >&2
    # shellcheck disable=SC2046 # options, or none
    (cd "$folder" && OTHERS_PROGRAM=$name OTHERS_CSV=$folder/gpumb.csv OTHERS_OWN=$folder/own.csv \
        timeout 600 ./program $(cat arguments)) >"$folder/run.log" 2>&1 || {
        failed=$((failed + 1))
        echo "others.sh: $name: exit code $?: $(tail -n 1 "$folder/run.log")" >&2
    }
done
python3 "$here/bench/others.py" "$work" || exit
exit $((failed > 0))
