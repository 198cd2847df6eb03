// nvrtc.cpp - for test_nvrtc.sh: what examples/10_nvrtc.cu compiles at run time, without a GPU.
#define main example_main
#include "../examples/10_nvrtc.cu"
#undef main

#include "check.h"

static bool holds(const std::vector<char> &code, const std::string &text)
{
    return std::string(code.begin(), code.end()).find(text + '\0') != std::string::npos;
}

int main(int argc, char **argv)
{
    for (const char *arch : {"sm_80", "sm_90"}) {
        nvrtcProgram program = nullptr;
        CHECK_INT(nvrtcCreateProgram(&program, source, "copy.cu", 0, nullptr, nullptr), 0);
        const std::vector<char> code = compile(program, arch);
        CHECK(code.size() > 1000);
        CHECK(holds(code, "\177ELF") || std::string(code.begin(), code.begin() + 4) == "\177ELF");
        std::string names;
        for (int type = 0; type < 3; type++)
            for (const int64_t each : elements) {
                const char *name = "";
                nvrtcGetLoweredName(program, instance(type, each).c_str(), &name);
                CHECK(holds(code, std::string(".text.") + name));
                CHECK(names.find(name) == std::string::npos); // each has its own
                names += name;
                names += ' ';
            }
        nvrtcDestroyProgram(&program);
    }

    // What can't be compiled: no code, and what NVRTC says.
    for (const char *wrong : {"template <class T, int N> void nothing() {}", "what"}) {
        nvrtcProgram program = nullptr;
        CHECK_INT(nvrtcCreateProgram(&program, wrong, "wrong.cu", 0, nullptr, nullptr), 0);
        CHECK(compile(program, "sm_90").empty());
        nvrtcDestroyProgram(&program);
    }
    if (argc == 1) // no GPU is there
        CHECK_INT(example_main(1, argv), GPUMB_EXIT_NO_DEVICE);
    return CHECK_SUMMARY();
}
