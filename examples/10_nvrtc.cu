/* 10: code made at run time: NVRTC compiles a template for each type and each number of elements a
 * thread, the axes of a sweep, beside one instance that nvcc has compiled: see launches.md. */
#define GPUMB_STATIC
#define GPUMB_MODULES
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include <nvrtc.h>
#include <string>
#include <vector>

#define FOR_BOTH_COMPILERS(...)                                                                    \
    static const char source[] = #__VA_ARGS__;                                                     \
    __VA_ARGS__
FOR_BOTH_COMPILERS(template <class T, int EACH> __global__ void copy(const T *in, T *out) {
    const unsigned first = blockIdx.x * blockDim.x * EACH + threadIdx.x;
    for (unsigned k = 0; k < EACH; k++)
        out[first + k * blockDim.x] = in[first + k * blockDim.x];
})

static const char *const types[] = {"float", "float2", "float4"};
static const int64_t elements[] = {1, 2, 4, 8};
static const uint64_t bytes = 1 << 28, block[3] = {256, 1, 1};

static std::string instance(int64_t type, int64_t each)
{
    return std::string("copy<") + types[type] + ", " + std::to_string(each) + ">";
}

/* All instances, as machine code for `arch` ("sm_90"); empty: an error, which has been printed. */
static std::vector<char> compile(nvrtcProgram program, const std::string &arch)
{
    for (int type = 0; type < 3; type++)
        for (const int64_t each : elements)
            nvrtcAddNameExpression(program, instance(type, each).c_str());
    const char *options[] = {"--gpu-architecture", arch.c_str()};
    size_t size = 0;
    const nvrtcResult result = nvrtcCompileProgram(program, 2, options);
    nvrtcGetProgramLogSize(program, &size);
    std::vector<char> log(size + 1), code;
    nvrtcGetProgramLog(program, log.data());
    if (result != NVRTC_SUCCESS || nvrtcGetCUBINSize(program, &size) != NVRTC_SUCCESS)
        return fprintf(stderr, "%s\n%s\n", nvrtcGetErrorString(result), log.data()), code;
    code.resize(size);
    nvrtcGetCUBIN(program, code.data());
    return code;
}

static void describe(gpumb *g, gpumb_buffer *out, gpumb_copy_check *copied)
{
    gpumb_set_bytes(g, 2.0 * bytes);
    gpumb_set_output(g, out);
    gpumb_set_verify(g, gpumb_check_copy, copied);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    if (!gpumb_ok(g)) /* --help, a wrong option, no device */
        return gpumb_close(g);
    nvrtcProgram program = NULL;
    nvrtcCreateProgram(&program, source, "copy.cu", 0, NULL, NULL);
    const std::vector<char> code = compile(program, gpumb_get_device(g)->arch);
    gpumb_module *module = gpumb_load_image(g, code.data(), code.size(), 0, -1);
    gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, bytes);
    gpumb_fill(g, in, GPUMB_FILL_BITS, 1);
    gpumb_copy_check copied = {in, out, bytes, GPUMB_READ_WRITE};
    GPUMB_SWEEP_STRINGS(g, type, types, 3)
        GPUMB_SWEEP_ARRAY(g, each, elements, 4) {
            const char *name = "";
            nvrtcGetLoweredName(program, instance(type, each).c_str(), &name);
            const void *function = gpumb_function(g, module, name);
            const uint64_t grid[3] = {bytes / ((4u << type) * block[0] * (uint64_t)each), 1, 1};
            GPUMB_INTERLEAVE(g) {
                describe(g, out, &copied);
                GPUMB_MEASURE(g, "nvcc, float4, 4")
                    GPUMB_LAUNCH((copy<float4, 4>), bytes / 16384, 256, 0,
                                 GPUMB_PTR(const float4, in), GPUMB_PTR(float4, out));
                describe(g, out, &copied);
                GPUMB_MEASURE(g, "NVRTC") {
                    void *from = gpumb_data(in), *to = gpumb_data(out);
                    void *parameters[] = {&from, &to};
                    gpumb_launch(g, name, function, grid, block, 0, parameters);
                }
            }
        }
    nvrtcDestroyProgram(&program);
    return gpumb_close(g);
}
