#!/bin/sh
# others.sh - programs of others, measured by themselves and, in the same run, by gpumb: what their
# timers say of a launch, and what it takes. Their sources stay where they are: copies in
# build/others get a region behind their own measurement, by the edits below, and their launches
# without a stream go to gpumb's while it is measured. As CSV: program, region, both figures, ratio,
# meaning.
# Usage: bench/others.sh [--build] CHECKOUT... | --run
#     CHECKOUT    of UoB-HPC/BabelStream, NVIDIA/cuda-samples or te42kyfo/gpu-benches
#     --build     only builds, for ARCH (default: the GPU's, else sm_90)
#     --run       only runs what was built
# With OTHERS_AS_THEY_ARE=1 in the environment their launches go where they always do, and their own
# checks of errors are in the captured region: how they end is examples/launches.md's.
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")/.." && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
usage() { sed -n 's/^# *\(Usage:.*\)/\1/p' "$0" >&2; exit 2; }

run=1 build=1
case ${1:-} in
--build) run= && shift ;;
--run) build= && shift ;;
esac
[ $# -gt 0 ] || [ -z "$build" ] || usage
[ -z "$build" ] || [ -x "$(command -v "$nvcc")" ] || { echo "others.sh: no nvcc" >&2; exit 3; }
arch=${ARCH:-$(nvidia-smi -L >/dev/null 2>&1 && echo native || echo sm_90)}

# kind CHECKOUT: what it is
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
[ -z "$build" ] || rm -rf "$work"
mkdir -p "$work"

built=0 failed=0
# program NAME FOLDER FILE...: copies them; what follows edits the copies
program()
{
    name=$1 folder=$2
    shift 2
    regions=0
    mkdir -p "$work/$name/source"
    for file; do
        cp "$folder/$file" "$work/$name/source" || return
    done
    cd "$work/$name/source" || exit 1
}

# region FILE WHERE: what is read goes there, by sed's `a` behind or `i` before a line that is so
region()
{
    regions=$((regions + 1))
    cat >"region$regions.inc"
    sed -E -i "$2 #include \"region$regions.inc\"" "$1"
    grep -q "\"region$regions.inc\"" "$1" ||
        echo "others.sh: $name: $1 is not what it was: no region" >&2
    grep -q others_region.h "$1" || sed -i '1i #include "others_region.h"' "$1"
    ! grep -q OTHERS_TIME "region$regions.inc" || grep -q '^#define OTHERS_REGION' "$1" ||
        sed -i '1i #define OTHERS_REGION' "$1"
}

# launches FILE...: those without a stream
launches()
{
    sed -E -i '
        s/<<<(.+), ([^<>,]+), ([^<>,]+)>>>/<<<\1, \2, \3, others_stream()>>>/
        s/<<<([^<>,]+|[^<>,(]+\([^()]*\)[^<>,]*), ([^<>,]+)>>>/<<<\1, \2, 0, others_stream()>>>/
        ' "$@"
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

# ---- BabelStream: the third run of each kernel is followed by a region ----
babelstream()
{
    program babelstream "$1/src" Stream.h StreamModels.h Unit.h benchmark.h main.cpp \
        cuda/CUDAStream.cu cuda/CUDAStream.h || return
    # Only a line that it prints needs NVML.
    sed -E -i '/void nvml_error/,/^\}/d; /nvml/Id; s/int memclock;/int memclock = 0;/
        s/^cudaStream_t stream;/&\nstatic const char *others_name = "init";/
        /^(void|T) CUDAStream<T>::[a-z]+\(\)/ {
            h; s/.*::([a-z]+)\(\)/\1/; s/.*/  others_name = "&";/; x; n; G
        }' CUDAStream.cu
    region CUDAStream.cu '/^  for_each_kernel<<</a' <<'END'
        static int others_runs;
        if (++others_runs == 3)
            OTHERS_TIME(others_name, for_each_kernel<<<blocks, TBSIZE, 0, others_stream()>>>(
                                         array_size, start, f));
END
    region CUDAStream.cu '/^  dot_kernel<<</a' <<'END'
        static int others_runs;
        if (++others_runs == 3)
            OTHERS_TIME(others_name, dot_kernel<<<dot_num_blocks, TBSIZE_DOT, 0, others_stream()>>>(
                                         d_a, d_b, sums, array_size));
END
    region main.cpp '/^    \/\/ Display results/i' <<'END'
        std::string others = bench[i].label;
        for (char &c : others)
            c = (char)tolower(c);
        others_own(others, *minmax.first, "host clock around a launch and a wait: least");
END
    build '' -DCUDA -DGRID_STRIDE --extended-lambda -DOTHERS_THEIR_STREAM=stream \
        '-DOTHERS_THEIR_CHECK=cudaStreamSynchronize(stream)' -- main.cpp CUDAStream.cu
}

# ---- cuda-samples ----
samples()
{
    common="-I$1/Common" examples=$1/Samples

    if program transpose "$examples/6_Performance/transpose" transpose.cu; then
        region transpose.cu '/cudaEventElapsedTime\(&kernelTime/a' <<'END'
            OTHERS_TIME(kernelName, kernel<<<grid, threads, 0, others_stream()>>>(d_odata, d_idata,
                                                                                  size_x, size_y));
            others_own(kernelName, 1e-3 * kernelTime / NUM_REPS, "events around 100 launches");
END
        build '' "$common" -- transpose.cu
    fi

    if program matrixMul "$examples/0_Introduction/matrixMul" matrixMul.cu; then
        region matrixMul.cu '/float +msecPerMatrixMul = /a' <<'END'
            OTHERS_TIME("matrixMul", MatrixMulCUDA<32><<<grid, threads, 0, others_stream()>>>(
                                         d_C, d_A, d_B, dimsA.x, dimsB.x));
            others_own("matrixMul", 1e-3 * msecPerMatrixMul, "events around 300 launches");
END
        build '' "$common" -DOTHERS_THEIR_STREAM=stream -- matrixMul.cu
    fi

    if program simpleStreams "$examples/0_Introduction/simpleStreams" simpleStreams.cu; then
        region simpleStreams.cu '/printf\("memcopy:/a' <<'END'
            OTHERS_TIME("memcopy", cudaMemcpyAsync(hAligned_a, d_a, nbytes, cudaMemcpyDeviceToHost,
                                                   others_stream()));
            others_own("memcopy", 1e-3 * time_memcpy, "events around it in stream 0");
END
        region simpleStreams.cu '/printf\("kernel:/a' <<'END'
            OTHERS_TIME("kernel", init_array<<<blocks, threads, 0, others_stream()>>>(d_a, d_c,
                                                                                      niterations));
            others_own("kernel", 1e-3 * time_kernel, "events around it in stream 0");
END
        region simpleStreams.cu '/bool bResults = correct_data/a' <<'END'
            gpumb_set_streams(others_open(), (void *const *)streams, nstreams);
            OTHERS_TIME("4 streams", for (int i = 0; i < nstreams; i++) {
                const int others_at = i * n / nstreams;
                init_array<<<blocks, threads, 0, streams[i]>>>(d_a + others_at, d_c, niterations);
                cudaMemcpyAsync(hAligned_a + others_at, d_a + others_at, nbytes / nstreams,
                                cudaMemcpyDeviceToHost, streams[i]);
            });
            others_own("4 streams", 1e-3 * elapsed_time / nreps, "events around 100 rounds");
END
        build '' "$common" -- simpleStreams.cu
    fi

    if program histogram "$examples/2_Concepts_and_Techniques/histogram" main.cpp \
        histogram_common.h histogram64.cu histogram256.cu histogram_gold.cpp; then
        for bins in 64 256; do
            region main.cpp "/printf\\(\"histogram$bins, Throughput/i" <<END
                OTHERS_TIME("histogram$bins", histogram$bins(d_Histogram, d_Data, byteCount));
                others_own("histogram$bins", dAvgSecs, "host clock around 16 runs");
END
        done
        launches histogram64.cu histogram256.cu
        build '' "$common" -- main.cpp histogram64.cu histogram256.cu histogram_gold.cpp
    fi

    if program scan "$examples/2_Concepts_and_Techniques/scan" main.cpp scan.cu scan_common.h \
        scan_gold.cpp; then
        for arrays in Short Large; do
            limit=MAX_$(echo $arrays | tr '[:lower:]' '[:upper:]')_ARRAY_SIZE
            region main.cpp "/if \\(arrayLength == $limit\\) \\{/a" <<END
                OTHERS_TIME("$arrays", scanExclusive$arrays(d_Output, d_Input, N / arrayLength,
                                                            arrayLength));
                others_own("$arrays", timerValue, "host clock around 100 runs");
END
        done
        launches scan.cu
        build '' "$common" -- main.cpp scan.cu scan_gold.cpp
    fi

    # Their figure has the second kernel, a copy and two waits in it.
    if program reduction "$examples/2_Concepts_and_Techniques/reduction" reduction.cpp reduction.h \
        reduction_kernel.cu; then
        region reduction.cpp '/checkCudaErrors\(cudaFree\(d_intermediateSums\)\)/i' <<'END'
            OTHERS_TIME("first kernel",
                        reduce<T>(n, numThreads, numBlocks, whichKernel, d_idata, d_odata));
            others_own("first kernel", 1e-3 * sdkGetAverageTimerValue(&timer),
                       "host clock around all stages: a copy and waits");
END
        launches reduction_kernel.cu
        build '' "$common" -- reduction.cpp reduction_kernel.cu
    fi

    # With -benchmark only this one function of OpenGL is called, before main(): the headers of
    # OpenGL and GLUT are needed, their libraries are not.
    if program nbody "$examples/5_Domain_Specific/nbody" bodysystem.h bodysystemcpu.h \
        bodysystemcpu_impl.h bodysystemcuda.cu bodysystemcuda.h bodysystemcuda_impl.h nbody.cpp \
        render_particles.cpp render_particles.h tipsy.h; then
        region nbody.cpp '/printf\("%d bodies, total time for %d iterations/i' <<'END'
            OTHERS_TIME("integrate", m_nbody->update(activeParams.m_timestep));
            others_own("integrate", 1e-3 * milliseconds / iterations,
                       "events around all iterations");
END
        launches bodysystemcuda.cu
        cat >gl.cpp <<'END'
            extern "C" void *glXGetProcAddress(const unsigned char *) { return nullptr; }
END
        build -benchmark "$common" -Xcompiler -fopenmp,-fno-pie,-no-pie \
            -Xlinker --unresolved-symbols=ignore-all -- \
            nbody.cpp bodysystemcuda.cu render_particles.cpp gl.cpp
    fi
}

# ---- gpu-benches: of their lengths and block sizes a few ----
benches()
{
    wait='-DOTHERS_THEIR_CHECK=cudaDeviceSynchronize()' # two don't look before that
    if program gpu-latency "$1" MeasurementSeries.hpp dtime.hpp gpu-clock.cuh gpu-error.h \
        gpu-latency/main.cu; then
        without_nvml
        sed -i 's/"\.\.\//"/; s/LEN = LEN \* 1\.04 + 32/LEN = LEN * 8/' main.cu
        region main.cu '/double dt = times\.minValue\(\)/a' <<'END'
            const std::string others = std::to_string(LEN) + " words";
            OTHERS_TIME(others,
                        pchase<dtype><<<1, 64, 0, others_stream()>>>(buf, dummy_buf, iters));
            others_own(others, dt, "host clock around a launch and a wait: least of 7");
END
        build '' -Xcompiler -fopenmp $wait -- main.cu
    fi

    if program gpu-stream "$1" MeasurementSeries.hpp dtime.hpp gpu-error.h gpu-stream/main.cu; then
        sed -i 's/"\.\.\//"/; s/1024; blockSize += 32/1024; blockSize *= 4/
            ' main.cu
        region main.cu '/cout << fixed << setprecision\(0\)/i' <<'END'
            static const char *const kernels[] = {"init", "read", "scale", "triad", "3pt", "5pt"};
            static int calls;
            const std::string others = std::to_string(blockSize) + " " + kernels[calls++ % 6];
            OTHERS_TIME(others, func<<<max_buffer_size / blockSize + 1, blockSize, 0,
                                       others_stream()>>>(dA, dB, dC, dD, max_buffer_size, false));
            others_own(others, time.median(),
                       "host clock around two launches and a wait: median of 9");
END
        build '' $wait -- main.cu
    fi

    if program gpu-l2-cache "$1" MeasurementSeries.hpp dtime.hpp gpu-error.h gpu-l2-cache/main.cu
    then
        sed -i 's/"\.\.\//"/; /gpu-metrics\.hpp/d; /initMeasureMetric/d; s/max(1\.0, i \* 0\.1)/i/
            ' main.cu
        region main.cu '/^    GPU_ERROR\(cudaFree\(dA\)\);/i' <<'END'
            if (i == 10)
                OTHERS_TIME(std::to_string(blockRun) + " blocks",
                            sumKernel<N, blockSize><<<blockCount, blockSize, 0, others_stream()>>>(
                                dA, dB, blockRun));
END
        region main.cu '/double blockDV = /a' <<'END'
            others_own(std::to_string(blockRun) + " blocks", time.minValue(),
                       "host clock around a launch and a wait: least of 11");
END
        build '' -- main.cu
    fi
}

# gpu-clock.cuh asks NVML for the clock, by which a printed figure is multiplied
without_nvml()
{
    sed -E -i '/nvml\.h/d; /nvmlInit|nvmlDevice/d' gpu-clock.cuh
}

for checkout; do
    checkout=$(cd "$checkout" && pwd)
    case $(kind "$checkout") in
    babelstream) babelstream "$checkout" ;;
    samples) samples "$checkout" ;;
    benches) benches "$checkout" ;;
    esac
done
[ -z "$build" ] || echo "$built built, $failed failed" >&2
[ -n "$run" ] || exit $((failed > 0))

# ---- run: all that was built, in turn ----
for arguments in "$work"/*/arguments; do
    folder=$(dirname "$arguments") name=$(basename "$(dirname "$arguments")")
    echo "runs $name" >&2
    rm -f "$folder"/*.csv
    # shellcheck disable=SC2046 # options, or none
    (cd "$folder" && OTHERS_PROGRAM=$name OTHERS_CSV=$folder/gpumb.csv OTHERS_OWN=$folder/own.csv \
        timeout 600 ./program $(cat arguments)) >"$folder/run.log" 2>&1
    code=$?
    [ $code -eq 0 ] || {
        failed=$((failed + 1))
        echo "others.sh: $name: exit code $code: $(tail -n 1 "$folder/run.log")" >&2
    }
done
python3 "$here/bench/others.py" "$work" || exit
exit $((failed > 0))
