# gpumb: builds the benchmarks and examples, tests and measures. `make help` lists what it does.

# ---- backend: cuda or hip where compiler and device are there, else cpu ----
find = $(firstword $(foreach c,$(1),$(shell command -v $(c) 2>/dev/null)))

NVCC := $(call find,nvcc /usr/local/cuda/bin/nvcc)
HIPCC := $(call find,hipcc /opt/rocm/bin/hipcc)
MPICC := $(call find,mpicc)
ACPP := $(call find,acpp)
MPICXX := $(call find,mpicxx mpic++)
DEVICE_cuda := $(or $(shell nvidia-smi -L 2>/dev/null | grep '^GPU'),$(wildcard /dev/nvidia0))
# amd or nvidia; there nvcc compiles, with HIP's headers from HIP_INCLUDE.
HIP_PLATFORM ?= amd
HIP_INCLUDE ?= /usr/include
DEVICE_hip := $(if $(filter nvidia,$(HIP_PLATFORM)),$(DEVICE_cuda),$(wildcard /dev/kfd))
DEVICE_cpu := yes

BACKEND ?= $(if $(and $(NVCC),$(DEVICE_cuda)),cuda,$(if $(and $(HIPCC),$(DEVICE_hip)),hip,cpu))
ifneq ($(words $(BACKEND))$(filter-out cuda hip cpu,$(BACKEND)),1)
$(error BACKEND=$(BACKEND): must be cuda, hip or cpu)
endif
ifeq ($(BACKEND)$(NVCC),cuda)
$(error BACKEND=cuda needs nvcc: put it into PATH, or say NVCC=/path/to/nvcc)
endif
ifeq ($(BACKEND)$(HIP_PLATFORM),hipnvidia)
ifeq ($(and $(NVCC),$(wildcard $(HIP_INCLUDE)/hip/nvidia_detail)),)
$(error HIP_PLATFORM=nvidia needs nvcc and HIP's headers for it: say NVCC=/path/to/nvcc and \
    HIP_INCLUDE=/path, where /path/hip/nvidia_detail is)
endif
else ifeq ($(BACKEND)$(HIPCC),hip)
$(error BACKEND=hip needs hipcc: put it into PATH, or say HIPCC=/path/to/hipcc)
endif
DEVICE := $(DEVICE_$(BACKEND))

# ---- compilers: ARCH and HIP_ARCH default to the device that is there ----
ifeq ($(origin CXX),default)
CXX := $(notdir $(call find,g++ clang++ c++))
USUAL := yes
endif
ifeq ($(origin CC),default)
CC := $(notdir $(call find,gcc clang cc))
endif
ARCH ?= $(if $(DEVICE_cuda),native,sm_90)
HIP_ARCH ?= $(if $(DEVICE_hip),$(or $(HIP_DEVICES),native),gfx90a)
HIP_DEVICES = $(filter-out gfx000,$(shell rocm_agent_enumerator 2>/dev/null))

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow
HOST_C = $(CC) -I. -std=c99 -O2 -pthread $(WARNINGS) $(CFLAGS)
# On the CPU kernels are emulated, and programs take longer to compile than to run; but not gpumb.o.
HOST_CXX = $(CXX) -I. -std=c++17 -O1 -pthread $(WARNINGS) $(CXXFLAGS)
SANITIZE := -g1 -O0 -fsanitize=address,undefined -fno-sanitize-recover=all
RACES := -g1 -O1 -fsanitize=thread -Wno-tsan
sanitizes = $(shell mkdir -p build && echo 'int main(void) { return 0; }' | \
              $(1) -x c++ - -o build/probe 2>/dev/null && build/probe && echo yes)
# With sanitizers clang compiles in two thirds of gcc's time; what it makes takes a third longer:
# for what runs shortly. Kernels and what is linked with them are all one compiler's.
ifneq ($(and $(USUAL),$(filter rest build/cpu-asan/%,$(MAKECMDGOALS))),)
BY_CLANG := $(and $(call find,clang),$(call sanitizes,clang++ $(SANITIZE)))
endif
# Tests hand over values that no enum has, as C may; gcc does not look for them.
ASAN_CXX = $(HOST_CXX:$(CXX)%=$(if $(BY_CLANG),clang++,$(CXX))%) $(SANITIZE) \
           $(if $(BY_CLANG),-fno-sanitize=enum)
ASAN_C = $(HOST_C:$(CC)%=$(if $(BY_CLANG),clang,$(CC))%) $(SANITIZE)
# Most tests take longer to compile than to run. Those that take longest to run are optimised, and
# where statistics are what takes long, so is the header's code that it leaves unoptimised.
QUICKLY := -O0
QUICKLY_cpu = $(QUICKLY) $(OPTIMISED)
OF_KERNELS := kernels matmul nbody reductions strict coalescing series_shape statistics graphs \
              emulation memory modules options profiler
OF_STATISTICS := faults interleave sampling
HOST_FLAGS = $(HOST_C) $(HOST_CXX) $(SANITIZE) $(RACES) $(QUICKLY)
TRACE := -g -O1 -DGPUMB_TRACE -fsanitize=thread -fsanitize-coverage=trace-pc
TRACE_EXACT := -fno-tree-sra -fno-reorder-blocks -Wno-tsan # gcc has them, clang does not
AARCH64_CXX := aarch64-linux-gnu-g++

COMPILE_cuda = $(NVCC) -I. -std=c++17 -O3 -arch=$(ARCH) -Xcompiler -Wall,-Wextra $(NVCCFLAGS)
# Debian's hipcc 5.2 leaves a folder in TMPDIR each time.
COMPILE_hip = TMPDIR=$(B)/tmp $(HIPCC) -I. -std=c++17 -O3 $(HIP_ARCH:%=--offload-arch=%) \
              -Wall -Wextra $(HIPCCFLAGS)
COMPILE_cpu = $(HOST_CXX)
LIBRARY_cpu := -O3
COMPILE = $(COMPILE_$(BACKEND))
LANGUAGE_hip := -x hip
ifeq ($(HIP_PLATFORM),nvidia)
COMPILE_hip = $(COMPILE_cuda) -D__HIP_PLATFORM_NVIDIA__ \
                $(addprefix -isystem ,$(filter-out /usr/include,$(HIP_INCLUDE)))
LANGUAGE_hip :=
endif
LANGUAGE_cpu := -x c++
LANGUAGE := $(LANGUAGE_$(BACKEND))

export CC CXX NVCC HIPCC BACKEND
export TEST_BUILD := build/$(BACKEND)

# ---- what there is ----
B := build/$(BACKEND)
OF_RANKS := bench/fleet.c bench/ranks.cu # these need MPI
FLEET := $(if $(MPICC),build/fleet $(B)/ranks)
SYCL := $(if $(and $(ACPP),$(filter cuda cpu,$(BACKEND))),$(B)/09_sycl)
TOOLKIT := $(patsubst %/bin/,%,$(dir $(realpath $(NVCC))))
NVRTC_H := $(firstword $(wildcard $(addsuffix /nvrtc.h,\
             $(TOOLKIT)/include $(TOOLKIT)/targets/*/include /usr/include)))
NVRTC_LIBRARY := $(firstword $(wildcard $(addsuffix /libnvrtc.so,\
                   $(TOOLKIT)/lib64 $(TOOLKIT)/lib $(TOOLKIT)/targets/*/lib /usr/lib/*-linux-gnu)))
HAS_NVRTC := $(and $(NVCC),$(NVRTC_H),$(NVRTC_LIBRARY))
NVRTC := $(if $(and $(HAS_NVRTC),$(filter cuda,$(BACKEND))),$(B)/10_nvrtc)
BENCHES := $(patsubst bench/%.cu,$(B)/%,$(filter-out $(OF_RANKS),$(wildcard bench/*.cu)))
HOST_BENCHES := $(patsubst bench/%.c,build/cpu/%,$(filter-out $(OF_RANKS),$(wildcard bench/*.c)))
EXAMPLES := $(patsubst examples/%,$(B)/%,$(basename $(filter-out %_kernels.cu %_nvrtc.cu,\
              $(wildcard examples/*.cu examples/*.c))))
LABS := $(patsubst examples/%.cu,$(B)/%,$(wildcard examples/labs/*.cu))
SOLUTIONS := $(patsubst examples/%.cu,$(B)/%,$(wildcard examples/labs/solutions/*.cu))
PROGRAMS := $(BENCHES) $(HOST_BENCHES) $(EXAMPLES)
THOROUGH := $(patsubst %,tests/test_%.sh,\
              include_cost labs coverage amd sensors isa plots trace windows)
SCRIPTS := $(filter-out $(THOROUGH) tests/test_pair_asan.sh,$(wildcard tests/test_*.sh))
KERNEL_TESTS := $(patsubst %.cu,$(B)/%,$(wildcard tests/test_*.cu))
HOST_TESTS := $(addprefix build/cpu/,$(basename $(wildcard tests/test_*.c tests/test_*.cpp)))
ASAN_TESTS := $(addprefix build/cpu-asan/,$(basename $(wildcard \
                tests/test_*.c tests/test_*.cpp tests/test_*.cu)))
ASAN_PAIR := $(addprefix build/cpu-asan/,peers peer_packets peer_latency pipeline)
TSAN_TESTS := build/cpu-tsan/tests/test_races build/cpu-tsan/tests/test_contexts
AARCH64_TESTS := $(patsubst %.cpp,build/aarch64/%,$(wildcard tests/test_emulation.cpp))
# For the CPU test_cli.sh and test_trace.sh compile two of these as they need them.
OF_SCRIPTS_cpu := tests/cli_program.cu tests/traced.cu
HELPERS := $(patsubst %.cu,$(B)/%,$(filter-out tests/test_% $(OF_SCRIPTS_$(BACKEND)),\
             $(wildcard tests/*.cu)))
HEADERS := $(wildcard gpumb.h */*.h examples/labs/*.h examples/labs/solutions/*.h)

# The implementation of gpumb.h is an object, and linked with all that does not define
# GPUMB_IMPLEMENTATION: what does has a configuration of its own, and says which.
IMPLEMENTATION := -DGPUMB_IMPLEMENTATION= -DGPUMB_COPY= -DGPUMB_STRIDED=
ALONE := $(basename $(shell grep -l '^.define GPUMB_IMPLEMENTATION' bench/*.cu tests/*.cu))
LINKED := $(filter-out $(ALONE:bench/%=$(B)/%) $(ALONE:%=$(B)/%),\
             $(BENCHES) $(KERNEL_TESTS) $(HELPERS) $(LABS) $(SOLUTIONS))
LINKED_ASAN := $(filter-out $(ALONE:%=build/cpu-asan/%),$(ASAN_PAIR) $(addprefix build/cpu-asan/,\
                 $(basename $(wildcard tests/test_*.cu))))
OBJECT = $(filter %/gpumb.o,$^)

all: $(PROGRAMS) ## builds the benchmarks and examples (the default)

run: $(B)/copy $(B)/zcopy ## measures the copy bandwidth: tables, and CSV and JSON in results/
	@mkdir -p results
	$(B)/copy --quick --budget 0.3 --csv results/copy.csv --json results/copy.json
	$(B)/zcopy --quick --budget 0.3 --csv results/zcopy.csv --json results/zcopy.json

# Both say how long it takes before they start, and go on after an interrupt. 0.2 s of samples are
# enough for a row: of 3062 on an H100 256 took all of 0.5 s, and 183 of these were not within 1 %.
bench: $(BENCHES) $(HOST_BENCHES) ## runs all benchmarks in full, into results/; takes long
	@SUITE_OPTIONS='--budget 0.2' sh bench/suite.sh full results $(BENCHES) $(HOST_BENCHES)

ABOUT_MEASURING := $(B)/floor
passport: $(BENCHES) $(HOST_BENCHES) ## what this device reaches, on one page; minutes, once built
	@SUITE_TABLES=none SUITE_OPTIONS='--budget 0.1 --warmup 0.05' \
	    sh bench/suite.sh quick results/passport \
	    $(filter-out $(ABOUT_MEASURING),$(BENCHES) $(HOST_BENCHES)); code=$$?; \
	    [ $$code -ge 128 ] || python3 plots/passport.py results/passport bench/results | \
	    tee results/passport/passport.txt; exit $$code

coverage: build/cpu/coverage ## tries the statistics on synthetic series, for minutes; no GPU
	@mkdir -p results
	@$< >results/coverage.txt; code=$$?; tail -n 1 results/coverage.txt; exit $$code

labs: $(LABS) ## builds the labs for students: see examples/labs/README.md

JUDGED_cpu := --cpu
JUDGED_cuda = $(addprefix --arch ,$(filter-out native,$(ARCH)))
JUDGED_hip = $(addprefix --arch ,$(filter-out native,$(firstword $(HIP_ARCH))))
judge: $(B)/gpumb.o ## builds what judges kernels of others: see examples/judge/README.md
	@for task in examples/judge/tasks/*.cu; do \
	    python3 examples/judge/judge.py $(JUDGED_$(BACKEND)) $$task || exit; done

fleet: $(FLEET) ## for mpirun or srun: a program on each GPU of a job: see bench/fleet.md
	@test -n '$(FLEET)' || { echo 'make fleet: mpicc is missing' \
	    '(Debian: apt-get install openmpi-bin libopenmpi-dev)'; exit 1; }

sycl: $(SYCL) ## builds the example in SYCL, by AdaptiveCpp's acpp: see examples/sycl.md
	@test -n '$(SYCL)' || echo 'skipped sycl:' '$(if $(ACPP),it is for BACKEND=cuda and cpu,$\
	    no acpp in PATH: examples/sycl.md has the commands)'

nvrtc: $(NVRTC) ## builds the example that compiles kernels at run time: examples/launches.md
	@test -n '$(NVRTC)' || echo 'skipped nvrtc:' '$(if $(HAS_NVRTC),it is for BACKEND=cuda,$\
	    it needs nvcc, nvrtc.h and libnvrtc.so)'

nvrtc_flags: # for tests/test_nvrtc.sh; nothing where it can't be had
	@echo '$(if $(HAS_NVRTC),$(NVRTC_FLAGS))'

# The same kernels on the CPU, with hooks: see gpumb_trace.c.
# Header and tracer once for all that ask for no kernels or settings of their own.
TRACE_CXX = $(CXX) -I. $(TRACE) $(call accepted,$(TRACE_EXACT))
ifneq ($(filter trace,$(MAKECMDGOALS)),)
ASKS := $(shell grep -ls 'define GPUMB_' $$($(CXX) -I. -MM -x c++ '$(FILE)' 2>/dev/null | \
            tr ' \\' '\n\n' | grep -v 'gpumb\.h$$\|:$$') /dev/null)
TRACERS := $(if $(wildcard $(FILE)),build/trace/with/tracer.o \
             $(if $(ASKS),,build/trace/with/gpumb.o))
endif
build/trace/with/flags: always
	@mkdir -p $(@D); echo '$(TRACE_CXX)' | cmp -s - $@ || echo '$(TRACE_CXX)' >$@

build/trace/with/gpumb.o: gpumb.h build/trace/with/flags
	$(TRACE_CXX) $(IMPLEMENTATION) -x c++ -c $< -o $@

build/trace/with/tracer.o: examples/trace/gpumb_trace.c gpumb.h build/trace/with/flags
	$(CXX) -I. -O1 -x c -c $< -o $@

trace: TRACED = build/trace/$(basename $(notdir $(FILE)))
trace: $(TRACERS)
trace: ## FILE=kernel.cu: how each access of its kernels uses memory, bank conflicts, races; no GPU
	@test -f '$(FILE)' || { echo 'make trace FILE=kernel.cu: no such file: $(FILE)'; exit 2; }
	$(TRACE_CXX) $(if $(ASKS),$(IMPLEMENTATION)) -x c++ -c $(FILE) -o $(TRACED).o
	$(CXX) $(TRACED).o $(filter %.o,$^) -o $(TRACED) -pthread
	GPUMB_TRACE_SVG=$(TRACED).svg $(TRACED) $(ARGS)

check: ## runs all checks: test, rest, elsewhere, matrix and lint
	@sh tests/check.sh test rest elsewhere matrix lint

matrix: ## compiles the header with every compiler, standard and mode
	@sh tests/matrix.sh

attacks: ## tries all attacks on the grader, and on the judge, many times; CPU
	@python3 tests/attacks.py host; code=$$?; \
	    python3 tests/attacks.py device --cpu --runs 1 && exit $$code

api: ## prints the declarations of gpumb.h as plain C, for generators of bindings
	@CC='$(CC)' sh examples/languages/declarations.sh

layers: ## prints which section of the header calls which; lint fails where one goes upwards
	@python3 tests/layers.py --matrix

lint: ## checks formatting, names, exported symbols and versions
	@sh tests/lint.sh

mutate: ## breaks the header in many small ways, each of which a test must see
	@command -v python3 >/dev/null && exec python3 tests/mutate.py; \
	    echo 'skipped mutate: no python3'; echo '0 passed, 0 failed, 1 skipped'

clean: ## removes build/
	rm -rf build

help: ## shows this list
	@echo 'make [BACKEND=cuda|hip|cpu] [ARCH=sm_90] [HIP_ARCH=gfx90a] TARGET'
	@echo 'make BACKEND=hip HIP_PLATFORM=nvidia NVCC=nvcc HIP_INCLUDE=/usr/include TARGET'
	@sed -n 's/^\([a-z]*\):.*## /    \1	/p' Makefile

# On all cores. What check runs is made by a make of its own, which sees to that itself.
ifeq ($(filter check mutate,$(MAKECMDGOALS)),)
MAKEFLAGS += --jobs=$(or $(shell nproc 2>/dev/null),2)
endif

.PHONY: all run bench passport report coverage labs judge fleet sycl nvrtc nvrtc_flags trace test
.PHONY: rest elsewhere check plots figures matrix lint layers attacks api mutate clean help always
.DELETE_ON_ERROR:
.SECONDARY:

# ---- programs; flags.* change when a command does, so that another ARCH builds anew ----
$(B)/flags.kernels: always
	@rm -rf $(@D)/tmp; mkdir -p $(@D)/tmp
	@echo '$(COMPILE) $(QUICKLY)' | cmp -s - $@ || echo '$(COMPILE) $(QUICKLY)' > $@

build/cpu/flags.host: always
	@mkdir -p $(@D); echo '$(HOST_FLAGS)' | cmp -s - $@ || echo '$(HOST_FLAGS)' > $@

ifeq ($(HIP_PLATFORM),nvidia)
build/hip/%: override LDFLAGS += -lcuda # HIP's headers ask the driver
endif

KERNEL_NEEDS := $(HEADERS) $(B)/flags.kernels
HOST_NEEDS := $(HEADERS) build/cpu/flags.host

$(LINKED): $(B)/gpumb.o
$(B)/gpumb.o: gpumb.h $(B)/flags.kernels
	$(COMPILE) $(LIBRARY_$(BACKEND)) $(or $(LANGUAGE),-x cu) $(IMPLEMENTATION) -c $< -o $@

$(B)/%: bench/%.cu $(KERNEL_NEEDS)
	$(COMPILE) $(OBJECT) $(LANGUAGE) $< -o $@ $(LDFLAGS)

# For the cores that are here: with OpenMP where the compiler has it.
accepted = $(shell echo 'int main(void) { return 0; }' | $(CC) $(1) -x c - -o /dev/null \
             2>/dev/null && echo $(1))
build/cpu/host: FAST = -O3 -fno-math-errno $(call accepted,-march=native) $(call accepted,-fopenmp)

$(HOST_BENCHES): build/cpu/%: bench/%.c build/cpu/gpumb.o $(HOST_NEEDS)
	$(HOST_C) $(FAST) $(OBJECT) $< -o $@ $(LDFLAGS) $(or $(call accepted,-lstdc++),-lc++) -lm

ifneq ($(B),build/cpu)
build/cpu/gpumb.o: gpumb.h build/cpu/flags.host
	$(HOST_CXX) $(LIBRARY_cpu) -x c++ $(IMPLEMENTATION) -c $< -o $@
endif

build/cpu/coverage: tests/coverage.c $(HOST_NEEDS)
	$(HOST_C) $< -o $@ $(LDFLAGS) -lm

build/fleet: bench/fleet.c $(HOST_NEEDS)
	OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(HOST_C:$(CC)%=$(MPICC)%) $< -o $@ $(LDFLAGS) -lm

MPI_cuda = OMPI_CXX='$(CXX)' MPICH_CXX='$(CXX)' $(COMPILE) -ccbin $(MPICXX) $(NCCL)
MPI_hip = $(if $(filter nvidia,$(HIP_PLATFORM)),$(MPI_cuda),$\
            OMPI_CXX='$(HIPCC)' MPICH_CXX='$(HIPCC)' $(COMPILE:$(HIPCC)%=$(MPICXX)%))
MPI_cpu = OMPI_CXX='$(CXX)' MPICH_CXX='$(CXX)' $(COMPILE:$(CXX)%=$(MPICXX)%)
NCCL ?= $(if $(wildcard /usr/include/nccl.h /usr/local/cuda/include/nccl.h),-DRANKS_NCCL -lnccl)
$(B)/ranks: bench/ranks.cu $(KERNEL_NEEDS)
	$(MPI_$(BACKEND)) $(LANGUAGE) $< -o $@ $(LDFLAGS)

$(B)/labs/%: examples/labs/%.cu $(KERNEL_NEEDS)
	@mkdir -p $(@D)
	$(COMPILE) $(OBJECT) $(LANGUAGE) $< -o $@ $(LDFLAGS)

$(B)/%: examples/%.cu $(KERNEL_NEEDS)
	$(COMPILE) $(LANGUAGE) $< -o $@ $(LDFLAGS)

$(B)/%: $(B)/%.o $(B)/%_kernels.o
	$(COMPILE) $^ -o $@ $(LDFLAGS)

# acpp takes no `native`.
NATIVE = sm_$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
SYCL_TARGET_cuda = cuda:$(if $(filter native,$(ARCH)),$(NATIVE),$(ARCH))
SYCL_TARGET_cpu = omp
SYCL_TARGET = $(SYCL_TARGET_$(BACKEND))
$(B)/09_sycl: $(B)/09_sycl.o $(B)/09_sycl_kernels.o
	$(ACPP) --acpp-targets=$(SYCL_TARGET) $^ -o $@ -pthread $(LDFLAGS)

$(B)/09_sycl.o: examples/09_sycl.cpp $(KERNEL_NEEDS)
	$(ACPP) --acpp-targets=$(SYCL_TARGET) -I. -std=c++17 -O3 -Wall -Wextra -c $< -o $@

NVRTC_FLAGS = -L$(dir $(NVRTC_LIBRARY)) -lnvrtc -Xlinker -rpath=$(dir $(NVRTC_LIBRARY))
$(B)/10_nvrtc: examples/10_nvrtc.cu $(KERNEL_NEEDS)
	$(COMPILE) $< -o $@ $(NVRTC_FLAGS) $(LDFLAGS)

$(B)/08_grader: $(B)/08_grader.o $(B)/08_grader_kernels.o
	$(COMPILE) $^ -o $@ $(LDFLAGS)

$(B)/%.o: examples/%.c $(HOST_NEEDS)
	$(HOST_C) -c $< -o $@

$(B)/%.o: examples/%.cu $(KERNEL_NEEDS)
	$(COMPILE) $(LANGUAGE) -c $< -o $@

test = $(foreach t,$(1),build/cpu/tests/test_$(t) build/cpu-asan/tests/test_$(t))
$(call test,$(OF_KERNELS)): private OPTIMISED := -O1
build/cpu-asan/tests/test_emulation: private OPTIMISED := # it takes long to compile
$(call test,$(OF_STATISTICS)): private OPTIMISED := -O1 -include tests/optimised.h
OF_GCC := clock records $(OF_KERNELS) $(OF_STATISTICS) # test_records tells padding by gcc alone
$(OF_GCC:%=build/cpu-asan/tests/test_%): private BY_CLANG :=

$(B)/tests/%: tests/%.cu $(KERNEL_NEEDS)
	@mkdir -p $(@D)
	$(COMPILE) $(QUICKLY_$(BACKEND)) $(OBJECT) $(LANGUAGE) $< -o $@ $(LDFLAGS)

build/cpu/tests/%: tests/%.cpp $(HOST_NEEDS)
	@mkdir -p $(@D)
	$(HOST_CXX) $(QUICKLY) $(OPTIMISED) $< -o $@ $(LDFLAGS)

build/cpu/tests/%: tests/%.c $(HOST_NEEDS)
	@mkdir -p $(@D)
	$(HOST_C) $(QUICKLY) $(OPTIMISED) $< -o $@ $(LDFLAGS) -lm

$(LINKED_ASAN): build/cpu-asan/gpumb.o
build/cpu-asan/gpumb.o: gpumb.h build/cpu/flags.host
	@mkdir -p $(@D)
	$(HOST_CXX) $(SANITIZE) -x c++ $(IMPLEMENTATION) -c $< -o $@

build/cpu-asan/tests/%: tests/%.cu $(HOST_NEEDS)
	@mkdir -p $(@D)
	$(HOST_CXX) $(SANITIZE) $(OPTIMISED) $(OBJECT) -x c++ $< -o $@

build/cpu-asan/tests/%: tests/%.cpp $(HOST_NEEDS)
	@mkdir -p $(@D)
	$(ASAN_CXX) $(OPTIMISED) $< -o $@

build/cpu-asan/tests/%: tests/%.c $(HOST_NEEDS)
	@mkdir -p $(@D)
	$(ASAN_C) $(OPTIMISED) $< -o $@ -lm

build/cpu-asan/%: bench/%.cu $(HOST_NEEDS)
	@mkdir -p $(@D)
	$(HOST_CXX) $(SANITIZE) $(OBJECT) -x c++ $< -o $@

tests/test_pair_asan.sh: $(ASAN_PAIR)

tests/test_labs.sh: $(addprefix $(B)/,matmul histogram atomics transfer reduction peers)

tests/test_sycl.sh: $(SYCL)

tests/test_nvrtc.sh: $(NVRTC)

build/cpu-tsan/tests/%: tests/%.cu $(HOST_NEEDS)
	@mkdir -p $(@D)
	$(HOST_CXX) $(RACES) -x c++ $< -o $@

build/cpu-tsan/tests/%: tests/%.cpp $(HOST_NEEDS)
	@mkdir -p $(@D)
	$(HOST_CXX) $(RACES) $< -o $@

build/aarch64/tests/%: tests/%.cpp $(HEADERS)
	@mkdir -p $(@D)
	$(AARCH64_CXX) -I. -static -std=c++17 -O2 -pthread $(WARNINGS) $< -o $@

# ---- test and rest: what this machine can't run is named and counted as skipped ----
ifneq ($(filter test rest,$(MAKECMDGOALS)),)
SANITIZER := $(call sanitizes,$(CXX) $(SANITIZE))
RACE_DETECTOR := $(call sanitizes,$(CXX) $(RACES))
EMULATOR := $(and $(call find,$(AARCH64_CXX)),$(call find,qemu-aarch64))
endif

BEGAN := $(shell date +%s)
# Those that take longest first.
first = $(filter $(1),$(2)) $(filter-out $(1),$(2))
test_RUN :=
rest_RUN := $(THOROUGH)
run_if = $(eval $(if $(2),$(1)_RUN += $(3),$(1)_SKIP += $(foreach t,$(3),'$(t): $(4)')))
LONG := $(foreach t,bench_% examples cli pages judge report,tests/test_$(t).sh)
LONGEST := $(foreach t,kernels nbody reductions,$(B)/tests/test_$(t))
$(call run_if,test,$(DEVICE),\
    $(call first,$(LONGEST),$(call first,$(LONG),$(SCRIPTS) $(KERNEL_TESTS))),no $(BACKEND) device)
$(call run_if,test,$(EMULATOR),$(AARCH64_TESTS),needs $(AARCH64_CXX) and qemu-aarch64)
$(call run_if,rest,$(SANITIZER),\
    $(call first,$(addprefix %_,clock $(OF_STATISTICS)),$(ASAN_TESTS)) tests/test_pair_asan.sh,$\
    $(CXX) has no sanitizer runtime)
$(call run_if,rest,$(RACE_DETECTOR),$(TSAN_TESTS),$(CXX) has no ThreadSanitizer)
test_RUN += $(call first,$(OF_STATISTICS:%=build/cpu/tests/test_%),$(HOST_TESTS))

test: $(PROGRAMS) $(FLEET) $(HELPERS) $(KERNEL_TESTS) $(test_RUN) ## builds all, runs the tests
	@BEGAN=$(BEGAN) sh tests/run.sh $(test_RUN) -- $(test_SKIP)

rest: $(HOST_BENCHES) build/cpu/coverage $(rest_RUN) ## sanitizers, coverage, machine code
	@BEGAN=$(BEGAN) sh tests/run.sh $(rest_RUN) -- $(rest_SKIP)

# All that make files and folders of their own, or start programs.
ifneq ($(filter elsewhere,$(MAKECMDGOALS)),)
ELSEWHERE := $(foreach t,cli fleet trace plots,tests/test_$(t).sh) build/cpu/tests/test_order \
             $(patsubst %.cpp,build/cpu/%,$(shell grep -lE '"(folder|start)\.h"' tests/test_*.cpp))
endif
elsewhere: $(FLEET) $(B)/copy $(ELSEWHERE) ## tests in an odd path, as another user, in German
	@sh tests/elsewhere.sh $(ELSEWHERE)

# ---- report and figures: python3 alone ----
HAS_PYTHON = command -v python3 >/dev/null || { \
    echo 'make $@: python3 is missing (Debian: apt-get install python3)'; exit 1; }

# Of one folder or file, or of several set beside each other. Says what to run before it asks for
# something to be installed.
FROM := results
OUT := results/report.html
HAS_ROWS = for from in $(FROM); do [ -e "$$from" ] || { echo "make $@: no $$from: measure first, \
for instance by make run (seconds) or make bench (all), or say where rows are: make $@ \
FROM=bench/results"; exit 1; }; done
BESIDE = $(if $(word 2,$(FROM)),--overlay)
report: ## one HTML file of results/: devices, findings, figures, tables; FROM='before after'
	@$(HAS_ROWS); $(HAS_PYTHON); python3 plots/report.py $(FROM) $(BESIDE) --out $(OUT)

plots: ## draws the figures of results/ into results/figures/; FROM=FOLDER, FROM='before after'
	@$(HAS_ROWS); $(HAS_PYTHON); python3 plots/plot.py $(FROM) $(BESIDE) --out results/figures

# Those in the READMEs. Rows that do not say when they were measured: their file's last commit.
STORED := floor-span,group-block-fp32,latency-chase,roofline,scan-rate,stencil-jacobi
STORED := $(STORED),peers-size,pipeline-chunk,strided-memory,transfer-rate,zcopy-working-set
STORED := $(STORED),in-flight-memory,in-flight-l2,nvidia-h100-80gb-hbm3-cuda-nbody-best
figures: ## draws those of the READMEs from bench/results/ into bench/figures/
	@$(HAS_PYTHON); python3 plots/plot.py bench/results --out bench/figures --store $(STORED) \
	    --date commit
