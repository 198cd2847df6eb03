// driver.cpp - for test_driver.sh: the functions of NVIDIA's driver that gpumb.h opens at run time,
// by types of its own, against a cuda.h. DRIVER: that part of gpumb.h; SYMBOLS: a line
// DRIVER_FUNCTION(member, symbol) for each that this cuda.h declares.
#define __CUDA_API_VERSION_INTERNAL // the symbols as they are, without macros that rename them
#include <cuda.h>
#include <stddef.h>
#include <type_traits>

#include DRIVER

// Two types are passed alike: pointers as pointers, else numbers of one size.
template <class Ours, class Theirs> constexpr bool alike()
{
    return sizeof(Ours) == sizeof(Theirs) &&
           std::is_pointer<Ours>::value == std::is_pointer<Theirs>::value &&
           (std::is_pointer<Ours>::value ||
            ((std::is_integral<Ours>::value || std::is_enum<Ours>::value) &&
             (std::is_integral<Theirs>::value || std::is_enum<Theirs>::value)));
}
// Behind a pointer: a pointer to a pointer, or to a number of that size; a struct is opaque.
template <class Ours, class Theirs, bool Value> struct pointed {
    static constexpr bool value = true;
};
template <class Ours, class Theirs> struct pointed<Ours, Theirs, true> {
    static constexpr bool value = alike<Ours, Theirs>();
};
template <class Type> constexpr bool is_value()
{
    return std::is_pointer<Type>::value || std::is_integral<Type>::value ||
           std::is_enum<Type>::value;
}
template <class Ours, class Theirs> constexpr bool parameter()
{
    typedef typename std::remove_pointer<Ours>::type O;
    typedef typename std::remove_pointer<Theirs>::type T;
    return alike<Ours, Theirs>() &&
           (!std::is_pointer<Ours>::value || pointed < O, T,
            is_value<O>() && is_value<T>() && !std::is_same<O, char>::value > ::value);
}
template <class Ours, class Theirs> struct function {
    static constexpr bool value = false; // another number of parameters
};
template <class... Ours, class... Theirs> struct function<int(Ours...), CUresult(Theirs...)> {
    template <bool...> struct all {
    };
    template <class... O> struct of {
        template <class... T>
        static constexpr bool are(typename std::enable_if<sizeof...(O) == sizeof...(T)>::type *)
        {
            return std::is_same<all<true, parameter<O, T>()...>,
                                all<parameter<O, T>()..., true>>::value;
        }
        template <class... T> static constexpr bool are(...)
        {
            return false;
        }
    };
    static constexpr bool value = of<Ours...>::template are<Theirs...>(nullptr);
};

#define DECLARE(member, types, symbol) typedef int member##_type types;
GPUMBI_DRIVER_FUNCTIONS(DECLARE)
#define DRIVER_FUNCTION(member, symbol)                                                            \
    static_assert(function<member##_type, decltype(symbol)>::value, #symbol ": another type");
#include SYMBOLS

// Structures that are passed by their address.
#define SAME(ours, member, theirs, theirs_member)                                                  \
    static_assert(offsetof(ours, member) == offsetof(theirs, theirs_member), #theirs_member);
SAME(gpumbi_driver_launch, grid, CUlaunchConfig, gridDimX)
SAME(gpumbi_driver_launch, block, CUlaunchConfig, blockDimX)
SAME(gpumbi_driver_launch, shared_bytes, CUlaunchConfig, sharedMemBytes)
SAME(gpumbi_driver_launch, stream, CUlaunchConfig, hStream)
SAME(gpumbi_driver_launch, attributes, CUlaunchConfig, attrs)
SAME(gpumbi_driver_launch, count, CUlaunchConfig, numAttrs)
static_assert(sizeof(gpumbi_driver_launch) == sizeof(CUlaunchConfig), "CUlaunchConfig");
#define NODE(node)                                                                                 \
    SAME(gpumbi_driver_node, function, node, func)                                                 \
    SAME(gpumbi_driver_node, grid, node, gridDimX)                                                 \
    SAME(gpumbi_driver_node, block, node, blockDimX)                                               \
    SAME(gpumbi_driver_node, shared_bytes, node, sharedMemBytes)                                   \
    SAME(gpumbi_driver_node, parameters, node, kernelParams)                                       \
    SAME(gpumbi_driver_node, extra, node, extra)                                                   \
    static_assert(sizeof(gpumbi_driver_node) >= sizeof(node), #node);
NODE(CUDA_KERNEL_NODE_PARAMS_v1)
#if CUDA_VERSION >= 12000
NODE(CUDA_KERNEL_NODE_PARAMS_v2)
SAME(gpumbi_driver_node, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern)
#endif

// Numbers that stand in BACKEND without their names.
static_assert(CU_JIT_ERROR_LOG_BUFFER == 5 && CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES == 6 &&
                  CU_JIT_OPTIMIZATION_LEVEL == 7 && CU_JIT_MAX_REGISTERS == 0,
              "options of PTX");
static_assert(CU_FUNC_ATTRIBUTE_NUM_REGS == 4 &&
                  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == 8,
              "attributes of a function");
static_assert(CU_GRAPH_NODE_TYPE_KERNEL == 0 && CU_GRAPH_NODE_TYPE_MEMCPY == 1 &&
                  CU_GRAPH_NODE_TYPE_MEMSET == 2 && CU_GRAPH_NODE_TYPE_HOST == 3 &&
                  CU_GRAPH_NODE_TYPE_GRAPH == 4 && CU_GRAPH_NODE_TYPE_EMPTY == 5 &&
                  CU_GRAPH_NODE_TYPE_WAIT_EVENT == 6 && CU_GRAPH_NODE_TYPE_EVENT_RECORD == 7 &&
                  CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL == 8 &&
                  CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT == 9 && CU_GRAPH_NODE_TYPE_MEM_ALLOC == 10 &&
                  CU_GRAPH_NODE_TYPE_MEM_FREE == 11,
              "types of nodes");
