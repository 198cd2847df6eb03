/* machine.h - executes AMD machine code without an AMD GPU, for the tests.
 *
 * Reads a code object (the kernels' descriptors) and llvm-objdump's text of it, turns each kernel
 * into a list of functions with their operands, and runs grids of waves on them, one wave at a
 * time: which one is next, and for how long, is random. A mnemonic that isn't in the table below is
 * an error by name. Registers, LDS and new buffers hold garbage; accesses outside a buffer or not
 * aligned to their size are errors.
 *
 * Weak mode: what a wave loads and stores takes place at any time until its s_waitcnt, in any order
 * but for that of one wave's accesses to the same address; plain loads go through caches that know
 * nothing of other blocks' stores and hold, as if others had loaded them, lines as they were when
 * the kernel started. These are the rules of LLVM's AMDGPU memory model (User Guide for AMDGPU
 * Backend, tables of gfx90a, gfx942, gfx10-gfx11 and gfx12), at their worst: in WGP mode each wave
 * has an L0 of its own; on gfx942 each block has an L2 of its own, which keeps plain stores to
 * itself until a write-back.
 *
 * What it can't prove: hazards between instructions and other timing, the order of accesses that
 * real hardware keeps or not, residency, rounding beyond the last bit of v_rcp and v_rsq (which is
 * random here) and of matrices, and modes of rounding and denormals other than the compiler's
 * default. It has neither scratch memory nor textures, buffers and 16-bit arithmetic.
 *
 * Instructions: AMD's "Vega", "Instinct MI200" and "RDNA 2" Instruction Set Architecture manuals;
 * what newer targets add to these has its source beside it, where its name doesn't say all.
 * Start of a wave and descriptors: User Guide for AMDGPU Backend, "Kernel Descriptor", "Initial
 * Kernel Execution State".
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <algorithm>
#include <array>
#include <bitset>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

enum { LANES = 64, SGPRS = 128, VCC = 106, TTMP = 108, M0 = 124, EXEC = 126, LINE = 128, MASK = 0 };
/* A target is a number: GFX90A for gfx90a. */
enum {
    GFX90A = 0x90a,
    GFX942 = 0x942,
    GFX950 = 0x950,
    GFX10 = 0x1000,
    GFX11 = 0x1100,
    GFX12 = 0x1200
};

[[noreturn]] inline void stop(const std::string &why)
{
    throw std::runtime_error(why);
}

template <class To, class From> To bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "of one size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

inline std::mt19937_64 &source()
{
    static std::mt19937_64 all;
    return all;
}

inline void seed(u64 number)
{
    source().seed(number);
}

inline u64 randomly()
{
    return source()();
}

inline u64 below(u64 n)
{
    return randomly() % n;
}

/* ---- instructions ---------------------------------------------------------------------------- */

struct Operand {
    enum { NONE, VECTOR, SCALAR, CONSTANT } kind = NONE;
    int first = 0, count = 0; /* registers */
    bool negative = false, absolute = false;
    int byte = -1;                                /* SDWA */
    bool high = false;                            /* the upper half of a register */
    u64 as_32 = 0, as_integer = 0, as_double = 0; /* a constant */
};

struct Wave;
struct Instruction;
using Run = std::function<void(Wave &, const Instruction &)>;

struct Operation {
    Run run;
    std::vector<int> widths; /* bytes of the operands, or MASK */
    bool permutes = false;   /* knows DPP */
};

enum Access { LOAD, STORE, ATOMIC, WRITE_BACK };
enum Counter { VM = 1, VS = 2, DS = 4, KM = 8, LGKM = DS | KM };

/* Where an access has to reach, of the caches between a wave and memory: see decode_scope(). */
enum Scope { NEAR, GROUP, DEVICE };

struct Instruction {
    std::string text, name;
    u64 address = 0;
    const Operation *operation = nullptr;
    std::vector<Operand> at;
    int target = 0; /* of a branch */
    mutable bool reached = false;
    std::map<std::string, std::string> modifiers;
    int op_sel = 0, op_sel_hi = 7, neg_lo = 0, neg_hi = 0;
    std::vector<std::pair<int, int>> waits; /* counter, accesses that may be left */
    std::string dpp;
    int dpp_by = 0;
    /* memory */
    bool lds = false, flat = false, scalar = false, returns = false;
    int half = -1; /* the half of a register that is loaded or stored: 0, 1; -1: all of it */
    Scope scope = NEAR;
    Access access = LOAD;
    int counters = 0, size = 0, pieces = 1; /* size of a piece in bytes */
    i64 offset[2] = {0, 0};
    Operand base, index, data, to;
    std::function<u64(u64 old, u64 data, u64 compared)> modify;
    std::shared_ptr<Instruction> second; /* of a pair (VOPD); the first's own operation */
    const Operation *alone = nullptr;
};

struct Kernel {
    std::string name;
    u32 group_bytes = 0, kernarg_bytes = 0, rsrc1 = 0, rsrc2 = 0;
    u32 properties = 0;
    int vgprs = 0;
    std::vector<Instruction> code;
};

/* ---- memory ---------------------------------------------------------------------------------- */

struct Buffer {
    u64 address = 0;
    std::vector<u8> bytes;

    template <class T> T *as()
    {
        return reinterpret_cast<T *>(bytes.data());
    }
};

using Snapshot = std::shared_ptr<std::vector<std::vector<u8>>>; /* of all buffers */

/* Lines that it doesn't have may be there all the same: others may have loaded them since it was
 * invalidated, or the kernel started. So they are as in memory now or as they were then. */
struct Cache {
    std::unordered_map<u64, std::array<u8, LINE>> lines;
    Snapshot then;
};

struct Pending {
    const Instruction *what;
    bool done; /* out of turn; it counts until those before it are done */
    u64 mask, low, high;
    u64 address[LANES];
    u64 data[2][2][LANES]; /* of each piece up to 16 bytes */
};

struct Block;

struct Wave {
    Block *block = nullptr;
    int lanes = 64, pc = 0, sleeps = 0;
    bool scc = false, waits = false, ended = false;
    bool arrived = false, passed = false; /* at a barrier; when it has waited there already */
    u32 s[SGPRS];
    std::vector<std::array<u32, LANES>> v;
    std::vector<std::unique_ptr<Pending>> pending;
    Cache l0;

    u64 mask(int first) const
    {
        return lanes == 64 ? s[first] | static_cast<u64>(s[first + 1]) << 32 : s[first];
    }

    void set_mask(int first, u64 value)
    {
        s[first] = static_cast<u32>(value);
        if (lanes == 64)
            s[first + 1] = static_cast<u32>(value >> 32);
    }

    u64 exec() const
    {
        return mask(EXEC);
    }

    u64 every() const
    {
        return lanes == 64 ? ~0ull : ~0u;
    }
};

struct Machine;

/* What was stored and is in no other L2 yet. */
struct Dirty {
    std::array<u8, LINE> bytes;
    std::bitset<LINE> held;
};

struct Block {
    Machine *machine = nullptr;
    std::vector<u8> lds;
    std::vector<std::unique_ptr<Wave>> waves;
    Cache cache; /* gfx9: the L1 of its waves; gfx10 and later: between their L0 and the L2 */
    Cache l2;    /* gfx942, which has more than one */
    std::unordered_map<u64, Dirty> dirty;

    Cache &near(Wave &w);
    Cache &far();
    void show(u64 line, std::array<u8, LINE> &bytes) const;
    void hold(u64 address, const u8 *from, size_t size);
    void write_back(u64 line);
    void write_back_all();
};

struct Machine {
    int target = GFX90A;
    bool weak = false;
    bool in_order = false; /* blocks start in order */
    bool eager = false;    /* accesses are done before they are waited for, too */
    std::map<std::string, Kernel> kernels;
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::set<std::string> mnemonics, executed_kernels;
    std::set<std::string> spilling; /* need scratch memory: left out */
    u64 executed = 0, accesses = 0;
    u64 packet_at = 0, hidden_at = 0; /* a launch's dispatch packet, hidden arguments; 0: none */
    u64 limit = 4 * 1000 * 1000;      /* instructions of a launch */

    void load(const std::string &object, const std::string &listing);
    bool start(char **argument);
    const Kernel *find_kernel(const std::string &part) const;

    int lanes() const
    {
        return target < GFX10 ? 64 : 32;
    }

    bool many_l2() const
    {
        return target == GFX942 || target == GFX950;
    }

    Buffer &buffer(size_t bytes)
    {
        buffers.push_back(std::make_unique<Buffer>());
        Buffer &b = *buffers.back();
        b.address = (0x7100ull + buffers.size()) << 32 | (0xffffffffu - below(1 << 20) / 256 * 256);
        b.address = b.address / 256 * 256; /* across a multiple of 2^32, for most */
        b.bytes.resize(bytes);
        for (u8 &byte : b.bytes)
            byte = static_cast<u8>(randomly());
        return b;
    }

    u8 *find(u64 address, u64 size)
    {
        for (auto &b : buffers)
            if (address >= b->address && address + size <= b->address + b->bytes.size())
                return b->bytes.data() + (address - b->address);
        char where[80] = "no buffer is near";
        for (auto &b : buffers)
            if (address + 65536 >= b->address && address < b->address + b->bytes.size() + 65536)
                snprintf(where, sizeof where, "at %lld of %zu bytes",
                         static_cast<long long>(address - b->address), b->bytes.size());
        stop("outside of all buffers, " + std::string(where));
    }

    Snapshot snapshot() const
    {
        auto all = std::make_shared<std::vector<std::vector<u8>>>();
        for (auto &b : buffers)
            all->push_back(b->bytes);
        return all;
    }

    /* ARGUMENT: what has its own size and alignment, and buffers */
    template <class... Arguments>
    void launch(const std::string &name, u32 blocks, u32 rows, u32 threads, u32 lds,
                Arguments... arguments)
    {
        std::vector<u8> packed;
        (pack(packed, arguments), ...);
        run(name, blocks, rows, threads, lds, packed);
    }

  private:
    template <class T> static void pack(std::vector<u8> &packed, T value)
    {
        packed.resize((packed.size() + alignof(T) - 1) / alignof(T) * alignof(T));
        const u8 *from = reinterpret_cast<const u8 *>(&value);
        packed.insert(packed.end(), from, from + sizeof value);
    }

    static void pack(std::vector<u8> &packed, Buffer *b)
    {
        pack(packed, b->address);
    }

    void decode(const Kernel &kernel, Instruction &i, std::string line);
    void decode_memory(Instruction &i);
    void decode_scope(Instruction &i);
    void run(const std::string &name, u32 blocks, u32 rows, u32 threads, u32 lds,
             const std::vector<u8> &arguments);
    void start(Wave &w, const Kernel &k, u32 x, u32 y, u32 first, u32 threads, u64 packet,
               u64 arguments);
    void step(Wave &w, const Kernel &k);
};

/* ---- operands -------------------------------------------------------------------------------- */

template <class T> T constant(const Operand &o)
{
    if constexpr (sizeof(T) == 8)
        return bits<T>(std::is_same<T, double>::value ? o.as_double : o.as_integer);
    else if constexpr (sizeof(T) == 4)
        return bits<T>(static_cast<u32>(o.as_32));
    else
        return static_cast<T>(o.as_32);
}

template <class T> T from_words(u32 low, u32 high)
{
    if constexpr (sizeof(T) == 8)
        return bits<T>(low | static_cast<u64>(high) << 32);
    else if constexpr (sizeof(T) == 4)
        return bits<T>(low);
    else
        return static_cast<T>(low);
}

template <class T> T modified(const Operand &o, T x)
{
    if constexpr (std::is_floating_point<T>::value) {
        x = o.absolute ? std::fabs(x) : x;
        x = o.negative ? -x : x;
    }
    if constexpr (sizeof(T) == 4 && std::is_integral<T>::value)
        x = o.byte >= 0 ? static_cast<T>(static_cast<u32>(x) >> 8 * o.byte & 0xff) : x;
    return x;
}

template <class T> T scalar(const Wave &w, const Operand &o)
{
    if (o.kind == Operand::CONSTANT)
        return modified(o, constant<T>(o));
    return modified(o, from_words<T>(w.s[o.first], sizeof(T) == 8 ? w.s[o.first + 1] : 0));
}

template <class T> struct Lanes {
    T at[LANES];
};

template <class T> void get(const Wave &w, const Operand &o, Lanes<T> &x)
{
    const int n = w.lanes;
    if (o.kind == Operand::VECTOR) {
        const u32 *low = w.v[o.first].data(), *high = w.v[o.first + (sizeof(T) == 8)].data();
        for (int l = 0; l < n; l++)
            x.at[l] = from_words<T>(sizeof(T) == 2 && o.high ? low[l] >> 16 : low[l], high[l]);
        if (o.negative || o.absolute || o.byte >= 0)
            for (int l = 0; l < n; l++)
                x.at[l] = modified(o, x.at[l]);
    } else {
        const T one = scalar<T>(w, o);
        for (int l = 0; l < n; l++)
            x.at[l] = one;
    }
}

template <class T> void put(Wave &w, const Operand &o, const Lanes<T> &x, u64 active)
{
    u32 *low = w.v[o.first].data(), *high = w.v[o.first + (sizeof(T) == 8)].data();
    for (int l = 0; l < w.lanes; l++) {
        const bool on = active >> l & 1;
        if constexpr (sizeof(T) == 8) {
            const u64 all = bits<u64>(x.at[l]);
            low[l] = on ? static_cast<u32>(all) : low[l];
            high[l] = on ? static_cast<u32>(all >> 32) : high[l];
        } else
            low[l] = on ? bits<u32>(x.at[l]) : low[l];
    }
}

inline void put_mask(Wave &w, const Operand &o, u64 value)
{
    if (o.kind == Operand::SCALAR)
        w.set_mask(o.first, value);
}

/* The lane that DPP takes a value from; -1: none. */
inline int dpp_source(const Instruction &i, int l)
{
    const int row = l / 16 * 16, at = l % 16, n = i.dpp_by;
    if (i.dpp == "row_shl")
        return at + n < 16 ? l + n : -1;
    if (i.dpp == "row_shr")
        return at >= n ? l - n : -1;
    if (i.dpp == "row_ror")
        return row + (at + 16 - n) % 16;
    if (i.dpp == "row_mirror")
        return row + 15 - at;
    if (i.dpp == "row_half_mirror")
        return row + (at ^ 7);
    if (i.dpp == "row_share")
        return row + n;
    if (i.dpp == "row_xmask")
        return row + (at ^ n);
    if (i.dpp == "wave_shl")
        return l < 63 ? l + 1 : -1;
    if (i.dpp == "wave_shr")
        return l - 1;
    if (i.dpp == "row_bcast")
        return l <= n ? -1 : n == 15 ? row - 1 : 31;
    return l / 4 * 4 + (n >> 2 * (l % 4) & 3); /* quad_perm */
}

template <class T> u64 permute(const Wave &w, const Instruction &i, Lanes<T> &x)
{
    const Lanes<T> from = x;
    const u64 exec = w.exec();
    const bool zero = i.modifiers.count("bound_ctrl");
    u64 active = 0;
    for (int l = 0; l < w.lanes; l++) {
        const int source = dpp_source(i, l);
        const bool valid = source >= 0 && source < w.lanes && exec >> source & 1;
        x.at[l] = valid ? from.at[source] : T();
        active |= static_cast<u64>(valid || zero) << l;
    }
    return exec & active;
}

/* ---- the table ------------------------------------------------------------------------------- */

struct Table {
    std::unordered_map<std::string, Operation> of;
    Table();

    /* A result for each lane. */
    template <class F> void vector(const std::string &name, F f)
    {
        vector(name, f, &F::operator());
    }

    template <class F, class R, class... A>
    void vector(const std::string &name, F f, R (F::*)(A...) const)
    {
        of[name] = {[f](Wave &w, const Instruction &i) {
                        lanewise<R, A...>(w, i, f, std::index_sequence_for<A...>());
                    },
                    {std::is_same<R, bool>::value ? MASK : static_cast<int>(sizeof(R)),
                     static_cast<int>(sizeof(A))...},
                    true};
    }

    template <class R, class... A, class F, size_t... I>
    static void lanewise(Wave &w, const Instruction &i, F f, std::index_sequence<I...>)
    {
        std::tuple<Lanes<A>...> x;
        (get(w, i.at[I + 1], std::get<I>(x)), ...);
        const u64 active = i.dpp.empty() ? w.exec() : permute(w, i, std::get<0>(x));
        if constexpr (std::is_same<R, bool>::value) {
            u64 found = 0;
            for (int l = 0; l < w.lanes; l++)
                found |= static_cast<u64>(f(std::get<I>(x).at[l]...)) << l;
            put_mask(w, i.at[0], found & active);
        } else {
            Lanes<R> result;
            for (int l = 0; l < w.lanes; l++)
                result.at[l] = f(std::get<I>(x).at[l]...);
            put(w, i.at[0], result, active);
        }
    }

    /* a + b + carry, in 33 bits. */
    template <class F> void carry(const std::string &name, bool takes, F f)
    {
        of[name] = {[takes, f](Wave &w, const Instruction &i) {
                        Lanes<u32> a, b, sum;
                        get(w, i.at[2], a);
                        get(w, i.at[3], b);
                        const u64 in = takes ? w.mask(i.at[4].first) : 0;
                        u64 out = 0;
                        for (int l = 0; l < w.lanes; l++) {
                            const u64 all = f(a.at[l], b.at[l], in >> l & 1);
                            sum.at[l] = static_cast<u32>(all);
                            out |= (all >> 32 & 1) << l;
                        }
                        put(w, i.at[0], sum, w.exec());
                        put_mask(w, i.at[1], out & w.exec());
                    },
                    takes ? std::vector<int>{4, MASK, 4, 4, MASK}
                          : std::vector<int>{4, MASK, 4, 4}};
    }

    /* One result; the function has SCC first. */
    template <class F> void single(const std::string &name, F f)
    {
        single(name, f, &F::operator());
    }

    template <class F, class R, class... A>
    void single(const std::string &name, F f, R (F::*)(bool &, A...) const)
    {
        constexpr bool has = !std::is_void<R>::value;
        of[name] = {[f](Wave &w, const Instruction &i) {
                        once<R, A...>(w, i, f, std::index_sequence_for<A...>());
                    },
                    {}};
        if constexpr (has)
            of[name].widths = {sizeof(R), static_cast<int>(sizeof(A))...};
        else
            of[name].widths = {static_cast<int>(sizeof(A))...};
    }

    template <class R, class... A, class F, size_t... I>
    static void once(Wave &w, const Instruction &i, F f, std::index_sequence<I...>)
    {
        if constexpr (std::is_void<R>::value)
            f(w.scc, scalar<A>(w, i.at[I])...);
        else {
            const R result = f(w.scc, scalar<A>(w, i.at[I + 1])...);
            const Operand &to = i.at[0];
            if constexpr (sizeof(R) == 8) {
                w.s[to.first] = static_cast<u32>(result);
                w.s[to.first + 1] = static_cast<u32>(static_cast<u64>(result) >> 32);
            } else
                w.s[to.first] = bits<u32>(result);
        }
    }

    void other(const std::string &name, std::vector<int> widths, Run run)
    {
        of[name] = {run, widths};
    }

    template <class T> void compares(const std::string &type)
    {
        const std::string s = "_" + type;
        const bool f = std::is_floating_point<T>::value;
        vector("v_cmp_lt" + s, [](T a, T b) { return a < b; });
        vector("v_cmp_eq" + s, [](T a, T b) { return a == b; });
        vector("v_cmp_le" + s, [](T a, T b) { return a <= b; });
        vector("v_cmp_gt" + s, [](T a, T b) { return a > b; });
        vector("v_cmp_ge" + s, [](T a, T b) { return a >= b; });
        vector(f ? "v_cmp_neq" + s : "v_cmp_ne" + s, [](T a, T b) { return a != b; });
        if (!f)
            return;
        vector("v_cmp_lg" + s, [](T a, T b) { return a < b || a > b; });
        vector("v_cmp_o" + s, [](T a, T b) { return a == a && b == b; });
        vector("v_cmp_u" + s, [](T a, T b) { return a != a || b != b; });
        vector("v_cmp_nlt" + s, [](T a, T b) { return !(a < b); });
        vector("v_cmp_ngt" + s, [](T a, T b) { return !(a > b); });
        vector("v_cmp_nle" + s, [](T a, T b) { return !(a <= b); });
        vector("v_cmp_nge" + s, [](T a, T b) { return !(a >= b); });
    }

    template <class T> void scalar_compares(const std::string &type)
    {
        for (const char *start : {"s_cmp_", "s_cmpk_"}) {
            const std::string s = start;
            single(s + "eq" + type, [](bool &scc, T a, T b) { scc = a == b; });
            single(s + "lg" + type, [](bool &scc, T a, T b) { scc = a != b; });
            single(s + "lt" + type, [](bool &scc, T a, T b) { scc = a < b; });
            single(s + "le" + type, [](bool &scc, T a, T b) { scc = a <= b; });
            single(s + "gt" + type, [](bool &scc, T a, T b) { scc = a > b; });
            single(s + "ge" + type, [](bool &scc, T a, T b) { scc = a >= b; });
        }
    }

    template <class T> void scalar_logic(const std::string &s)
    {
        single("s_and" + s, [](bool &scc, T a, T b) { return a &= b, scc = a != 0, a; });
        single("s_or" + s, [](bool &scc, T a, T b) { return a |= b, scc = a != 0, a; });
        single("s_xor" + s, [](bool &scc, T a, T b) { return a ^= b, scc = a != 0, a; });
        single("s_andn2" + s, [](bool &scc, T a, T b) { return a &= ~b, scc = a != 0, a; });
        single("s_orn2" + s, [](bool &scc, T a, T b) { return a |= ~b, scc = a != 0, a; });
        single("s_bcnt1_i32" + s, [](bool &scc, T a) {
            const u32 ones = static_cast<u32>(__builtin_popcountll(a));
            return scc = ones != 0, ones;
        });
        single("s_ff1_i32" + s, [](bool &, T a) { return a ? __builtin_ctzll(a) : -1; });
        single("s_not" + s, [](bool &scc, T a) { return a = ~a, scc = a != 0, a; });
        single("s_mov" + s, [](bool &, T a) { return a; });
        single("s_cselect" + s, [](bool &scc, T a, T b) { return scc ? a : b; });
        single("s_lshl" + s,
               [](bool &scc, T a, u32 b) { return a <<= b % (8 * sizeof a), scc = a != 0, a; });
        single("s_lshr" + s,
               [](bool &scc, T a, u32 b) { return a >>= b % (8 * sizeof a), scc = a != 0, a; });
        const auto save = [this, s](const std::string &name, std::function<u64(u64, u64)> next) {
            other(name + s, {sizeof(T), sizeof(T)}, [next](Wave &w, const Instruction &i) {
                const u64 old = w.exec(), mask = scalar<T>(w, i.at[1]);
                w.set_mask(i.at[0].first, old);
                w.set_mask(EXEC, next(mask, old));
                w.scc = w.exec() != 0;
            });
        };
        save("s_and_saveexec", [](u64 mask, u64 old) { return mask & old; });
        save("s_andn2_saveexec", [](u64 mask, u64 old) { return mask & ~old; });
        save("s_or_saveexec", [](u64 mask, u64 old) { return mask | old; });
    }
};

/* Either of the floats next to it: the hardware's are less than a unit in the last place off. */
inline float nearly(double x)
{
    const float y = static_cast<float>(x);
    if (y == x || std::isinf(y) || x != x || below(2))
        return y;
    return std::nextafterf(y, y < x ? HUGE_VALF : -HUGE_VALF);
}

inline float flushed(float x)
{
    return std::fabs(x) < 1.17549435e-38f ? std::copysign(0.0f, x) : x;
}

template <class To, class From> To saturated(From x)
{
    const double least = std::numeric_limits<To>::min(), most = std::numeric_limits<To>::max();
    const double y = std::trunc(static_cast<double>(x));
    return y != y      ? 0
           : y < least ? std::numeric_limits<To>::min()
           : y > most  ? std::numeric_limits<To>::max()
                       : static_cast<To>(y);
}

inline u32 reversed(u32 x)
{
    u32 y = 0;
    for (int b = 0; b < 32; b++)
        y |= (x >> b & 1) << (31 - b);
    return y;
}

/* Those of two floats, one in each word of a pair of registers; F takes two of three. */
template <int sources, class F> Run packed(F f)
{
    return [f](Wave &w, const Instruction &i) {
        Lanes<u32> word[3][2], result[2];
        for (int s = 0; s < sources; s++)
            for (int h = 0; h < 2; h++) {
                Operand o = i.at[s + 1];
                o.first += (h ? i.op_sel_hi : i.op_sel) >> s & 1;
                get(w, o, word[s][h]);
                if ((h ? i.neg_hi : i.neg_lo) >> s & 1)
                    for (u32 &x : word[s][h].at)
                        x ^= 0x80000000u;
            }
        for (int h = 0; h < 2; h++) {
            for (int l = 0; l < w.lanes; l++) {
                const float c = sources > 2 ? bits<float>(word[2][h].at[l]) : 0;
                result[h].at[l] =
                    bits<u32>(f(bits<float>(word[0][h].at[l]), bits<float>(word[1][h].at[l]), c));
            }
        }
        Operand to = i.at[0];
        put(w, to, result[0], w.exec());
        to.first++;
        put(w, to, result[1], w.exec());
    };
}

/* An element of a matrix: its kind, and its bits. */
enum { F16_ELEMENT, BF16_ELEMENT, XF32_ELEMENT, F64_ELEMENT, I8_ELEMENT };

inline double element_of(int kind, u64 x)
{
    if (kind == F64_ELEMENT)
        return bits<double>(x);
    if (kind == I8_ELEMENT)
        return static_cast<int8_t>(x);
    if (kind == XF32_ELEMENT) /* 10 bits behind the point */
        return static_cast<double>(bits<float>(static_cast<u32>(x) & ~0x1fffu));
    if (kind == BF16_ELEMENT)
        return static_cast<double>(bits<float>(static_cast<u32>(x) << 16));
    const int exponent = static_cast<int>(x >> 10 & 31), fraction = static_cast<int>(x & 1023);
    const double size =
        exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
    return x & 0x8000 ? -size : size;
}

/* D = A B + C of side x side by k elements, of lanes that are all taken to be on ("Instinct MI200",
 * "Matrix Arithmetic Instructions"). A lane has `each` of A and B one after the other. Of A row i
 * and column k are in lane side * (k / each) + i; of B row k and column j likewise; of D row i and
 * column j in lane 32 * (i / 4) % 64 + j, register 4 * (i / 8) + i % 4, but of doubles in lane 16 *
 * (i % 4) + j, register 2 * (i / 4): AMD's matrix instruction calculator, --detail-instruction. */
template <class Sum> Run matrices(int side, int elements, int kind)
{
    return [=](Wave &w, const Instruction &i) {
        static const int widths[] = {16, 16, 32, 64, 8};
        const int each = elements * side / LANES, wide = widths[kind];
        const int registers = static_cast<int>(sizeof(Sum)) / 4;
        const auto at = [&](const Operand &o, int row, int k) {
            const int lane = side * (k / each) + row, bit = k % each * wide;
            const u32 low = w.v[o.first + bit / 32][lane];
            const u64 high = wide == 64 ? w.v[o.first + 1][lane] : 0;
            return element_of(kind, (low | high << 32) >> bit % 32 & ~0ull >> (64 - wide));
        };
        std::vector<Lanes<Sum>> d(static_cast<size_t>(side * side / LANES));
        for (size_t r = 0; r < d.size(); r++) {
            Operand c = i.at[3];
            if (c.kind == Operand::VECTOR)
                c.first += static_cast<int>(r) * registers;
            get(w, c, d[r]);
        }
        for (int row = 0; row < side; row++)
            for (int column = 0; column < side; column++) {
                const bool twice = kind == F64_ELEMENT;
                const int lane = (twice ? 16 * (row % 4) : 32 * (row / 4) % 64) + column;
                const int r = twice ? row / 4 : 4 * (row / 8) + row % 4;
                Sum &to = d[static_cast<size_t>(r)].at[lane];
                double sum = static_cast<double>(to);
                for (int k = 0; k < elements; k++)
                    sum = std::fma(at(i.at[1], row, k), at(i.at[2], column, k), sum);
                if constexpr (std::is_same<Sum, float>::value)
                    to = nearly(sum);
                else if constexpr (std::is_same<Sum, i32>::value)
                    to = static_cast<i32>(static_cast<u32>(static_cast<i64>(sum)));
                else
                    to = sum;
            }
        for (size_t r = 0; r < d.size(); r++) {
            Operand to = i.at[0];
            to.first += static_cast<int>(r) * registers;
            put(w, to, d[r], ~0ull);
        }
    };
}

void complete_to(Wave &w, int counter, int left);

inline Table::Table()
{
    compares<u16>("u16");
    compares<u32>("u32");
    compares<i32>("i32");
    compares<u64>("u64");
    compares<i64>("i64");
    compares<float>("f32");
    compares<double>("f64");

    /* moves and bits */
    vector("v_mov_b32", [](u32 a) { return a; });
    vector("v_not_b32", [](u32 a) { return ~a; });
    vector("v_mov_b64", [](u64 a) { return a; });
    vector("v_ffbl_b32", [](u32 a) { return a ? __builtin_ctz(a) : -1; });
    vector("v_bfrev_b32", [](u32 a) { return reversed(a); });
    vector("v_and_b32", [](u32 a, u32 b) { return a & b; });
    vector("v_or_b32", [](u32 a, u32 b) { return a | b; });
    vector("v_xor_b32", [](u32 a, u32 b) { return a ^ b; });
    vector("v_lshlrev_b32", [](u32 a, u32 b) { return b << (a & 31); });
    vector("v_lshrrev_b32", [](u32 a, u32 b) { return b >> (a & 31); });
    vector("v_ashrrev_i32", [](u32 a, i32 b) { return b >> (a & 31); });
    vector("v_lshlrev_b64", [](u32 a, u64 b) { return b << (a & 63); });
    vector("v_lshrrev_b64", [](u32 a, u64 b) { return b >> (a & 63); });
    vector("v_ashrrev_i64", [](u32 a, i64 b) { return b >> (a & 63); });
    vector("v_alignbit_b32", [](u32 a, u32 b, u32 c) {
        return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> (c & 31));
    });
    vector("v_bfe_u32", [](u32 a, u32 b, u32 c) { return a >> (b & 31) & ((1u << (c & 31)) - 1); });
    vector("v_bfi_b32", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); });
    vector("v_lshl_add_u32", [](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; });
    vector("v_lshl_add_u64", [](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; });
    vector("v_add_lshl_u32", [](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); });
    vector("v_lshl_or_b32", [](u32 a, u32 b, u32 c) { return a << (b & 31) | c; });
    vector("v_and_or_b32", [](u32 a, u32 b, u32 c) { return (a & b) | c; });
    vector("v_or3_b32", [](u32 a, u32 b, u32 c) { return a | b | c; });
    vector("v_xad_u32", [](u32 a, u32 b, u32 c) { return (a ^ b) + c; });
    vector("v_bcnt_u32_b32",
           [](u32 a, u32 b) { return static_cast<u32>(__builtin_popcount(a)) + b; });

    /* integers */
    vector("v_add_u32", [](u32 a, u32 b) { return a + b; });
    vector("v_sub_u32", [](u32 a, u32 b) { return a - b; });
    vector("v_subrev_u32", [](u32 a, u32 b) { return b - a; });
    vector("v_add_u32 clamp", [](u32 a, u32 b) { return a + b < a ? ~0u : a + b; });
    vector("v_sub_u32 clamp", [](u32 a, u32 b) { return a < b ? 0 : a - b; });
    vector("v_add3_u32", [](u32 a, u32 b, u32 c) { return a + b + c; });
    vector("v_mul_lo_u32", [](u32 a, u32 b) { return a * b; });
    vector("v_mul_hi_u32",
           [](u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(a) * b >> 32); });
    vector("v_mul_u32_u24", [](u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); });
    vector("v_mul_hi_u32_u24", [](u32 a, u32 b) {
        return static_cast<u32>((a & 0xffffffull) * (b & 0xffffffull) >> 32);
    });
    vector("v_mad_u32_u24",
           [](u32 a, u32 b, u32 c) { return (a & 0xffffff) * (b & 0xffffff) + c; });
    vector("v_min_u32", [](u32 a, u32 b) { return std::min(a, b); });
    vector("v_max_u32", [](u32 a, u32 b) { return std::max(a, b); });
    vector("v_min_i32", [](i32 a, i32 b) { return std::min(a, b); });
    vector("v_max_i32", [](i32 a, i32 b) { return std::max(a, b); });
    vector("v_min3_u32", [](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); });
    vector("v_max3_u32", [](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); });
    vector("v_min3_i32", [](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); });
    vector("v_max3_i32", [](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); });
    carry("v_add_co_u32", false, [](u64 a, u64 b, u64 c) { return a + b + c; });
    carry("v_sub_co_u32", false, [](u64 a, u64 b, u64 c) { return a - b - c; });
    carry("v_subrev_co_u32", false, [](u64 a, u64 b, u64 c) { return b - a - c; });
    carry("v_addc_co_u32", true, [](u64 a, u64 b, u64 c) { return a + b + c; });
    carry("v_subb_co_u32", true, [](u64 a, u64 b, u64 c) { return a - b - c; });
    carry("v_subbrev_co_u32", true, [](u64 a, u64 b, u64 c) { return b - a - c; });
    other("v_mad_u64_u32", {8, MASK, 4, 4, 8}, [](Wave &w, const Instruction &i) {
        Lanes<u32> a, b;
        Lanes<u64> c;
        get(w, i.at[2], a);
        get(w, i.at[3], b);
        get(w, i.at[4], c);
        u64 out = 0;
        for (int l = 0; l < w.lanes; l++) {
            const u64 product = static_cast<u64>(a.at[l]) * b.at[l];
            c.at[l] += product;
            out |= static_cast<u64>(c.at[l] < product) << l;
        }
        put(w, i.at[0], c, w.exec());
        put_mask(w, i.at[1], out & w.exec());
    });

    /* floats; the compiler of this file may not contract a * b + c */
    vector("v_add_f32", [](float a, float b) { return a + b; });
    vector("v_sub_f32", [](float a, float b) { return a - b; });
    vector("v_subrev_f32", [](float a, float b) { return b - a; });
    vector("v_mul_f32", [](float a, float b) { return a * b; });
    vector("v_mac_f32", [](float a, float b, float c) { return a * b + c; });
    vector("v_madmk_f32", [](float a, float k, float b) { return flushed(a) * k + flushed(b); });
    vector("v_fmamk_f32", [](float a, float k, float b) { return std::fma(a, k, b); });
    vector("v_fmac_f32", [](float a, float b, float c) { return std::fma(a, b, c); });
    vector("v_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); });
    vector("v_add_f64", [](double a, double b) { return a + b; });
    vector("v_mul_f64", [](double a, double b) { return a * b; });
    vector("v_fma_f64", [](double a, double b, double c) { return std::fma(a, b, c); });
    vector("v_min_f32", [](float a, float b) { return std::fmin(a, b); });
    vector("v_max_f32", [](float a, float b) { return std::fmax(a, b); });
    vector("v_min_f64", [](double a, double b) { return std::fmin(a, b); });
    vector("v_max_f64", [](double a, double b) { return std::fmax(a, b); });
    vector("v_rsq_f32", [](float a) { return nearly(1 / std::sqrt(1.0 * flushed(a))); });
    vector("v_rcp_f32", [](float a) { return nearly(1.0 / flushed(a)); });
    vector("v_rcp_iflag_f32", [](float a) { return nearly(1.0 / flushed(a)); });
    vector("v_trunc_f32", [](float a) { return std::trunc(a); });
    vector("v_cvt_f32_u32", [](u32 a) { return static_cast<float>(a); });
    vector("v_cvt_f32_ubyte0", [](u32 a) { return static_cast<float>(a & 255); });
    vector("v_cvt_f32_i32", [](i32 a) { return static_cast<float>(a); });
    vector("v_cvt_f32_f64", [](double a) { return static_cast<float>(a); });
    vector("v_cvt_f64_f32", [](float a) { return static_cast<double>(a); });
    vector("v_cvt_f64_u32", [](u32 a) { return static_cast<double>(a); });
    vector("v_cvt_f64_i32", [](i32 a) { return static_cast<double>(a); });
    vector("v_cvt_u32_f32", [](float a) { return saturated<u32>(a); });
    vector("v_cvt_i32_f32", [](float a) { return saturated<i32>(a); });
    vector("v_cvt_u32_f64", [](double a) { return saturated<u32>(a); });
    vector("v_cvt_i32_f64", [](double a) { return saturated<i32>(a); });
    other("v_pk_add_f32", {8, 8, 8}, packed<2>([](float a, float b, float) { return a + b; }));
    other("v_pk_mul_f32", {8, 8, 8}, packed<2>([](float a, float b, float) { return a * b; }));
    other("v_pk_fma_f32", {8, 8, 8, 8},
          packed<3>([](float a, float b, float c) { return std::fma(a, b, c); }));
    /* gfx942 has other names for them, and two more */
    for (const char *name : {"v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16"})
        other(name, {64, 8, 8, 64}, matrices<float>(32, 8, F16_ELEMENT));
    for (const char *name : {"v_mfma_f32_32x32x8bf16_1k", "v_mfma_f32_32x32x8_bf16"})
        other(name, {64, 8, 8, 64}, matrices<float>(32, 8, BF16_ELEMENT));
    for (const char *name : {"v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64"})
        other(name, {32, 8, 8, 32}, matrices<double>(16, 4, F64_ELEMENT));
    other("v_mfma_f32_32x32x4_xf32", {64, 8, 8, 64}, matrices<float>(32, 4, XF32_ELEMENT));
    other("v_mfma_i32_32x32x8i8", {64, 4, 4, 64}, matrices<i32>(32, 8, I8_ELEMENT));
    other("v_mfma_i32_32x32x16_i8", {64, 8, 8, 64}, matrices<i32>(32, 16, I8_ELEMENT));
    for (const char *clock : {"s_memtime", "s_memrealtime"})
        other(clock, {8}, [](Wave &w, const Instruction &i) {
            w.s[i.at[0].first] = static_cast<u32>(w.block->machine->executed);
            w.s[i.at[0].first + 1] = static_cast<u32>(w.block->machine->executed >> 32);
        });
    other("v_pk_mov_b32", {8, 8, 8}, [](Wave &w, const Instruction &i) {
        Operand a = i.at[1], b = i.at[2], high = i.at[0];
        a.first += i.op_sel & 1;
        b.first += i.op_sel >> 1 & 1;
        high.first++;
        Lanes<u32> x, y;
        get(w, a, x);
        get(w, b, y);
        put(w, i.at[0], x, w.exec());
        put(w, high, y, w.exec());
    });

    /* bit 4 a + 2 b + c of the immediate is the result for the bits a, b, c: in LLVM's
       AMDGPUISelDAGToDAG.cpp, operands are 0xf0, 0xcc and 0xaa */
    other("v_bitop3_b32", {4, 4, 4, 4}, [](Wave &w, const Instruction &i) {
        Lanes<u32> a, b, c, result = {};
        get(w, i.at[1], a);
        get(w, i.at[2], b);
        get(w, i.at[3], c);
        const auto found = i.modifiers.find("bitop3");
        const int wanted = found == i.modifiers.end() ? 0 : std::stoi(found->second, nullptr, 0);
        for (int l = 0; l < w.lanes; l++)
            for (int k = 0; k < 8; k++)
                if (wanted >> k & 1)
                    result.at[l] |= (k & 4 ? a.at[l] : ~a.at[l]) & (k & 2 ? b.at[l] : ~b.at[l]) &
                                    (k & 1 ? c.at[l] : ~c.at[l]);
        put(w, i.at[0], result, w.exec());
    });

    other("v_lshlrev_b16", {4, 4, 4}, [](Wave &w, const Instruction &i) {
        Lanes<u32> by, x, to;
        get(w, i.at[1], by);
        get(w, i.at[2], x);
        get(w, i.at[0], to);
        /* the upper half: LLVM's GCNSubtarget.h, zeroesHigh16BitsOfDest() */
        const u32 kept = w.block->machine->target < GFX10 ? 0 : 0xffff0000;
        for (int l = 0; l < w.lanes; l++)
            x.at[l] = (to.at[l] & kept) | (x.at[l] << (by.at[l] & 15) & 0xffff);
        put(w, i.at[0], x, w.exec());
    });

    /* across lanes, and with masks */
    other("v_cndmask_b32", {4, 4, 4, MASK}, [](Wave &w, const Instruction &i) {
        Lanes<float> a, b; /* which may be negated */
        get(w, i.at[1], a);
        get(w, i.at[2], b);
        const u64 mask = w.mask(i.at[3].first);
        for (int l = 0; l < w.lanes; l++)
            memcpy(&a.at[l], mask >> l & 1 ? &b.at[l] : &a.at[l], sizeof(float));
        put(w, i.at[0], a, w.exec());
    });
    other("v_readfirstlane_b32", {4, 4}, [](Wave &w, const Instruction &i) {
        w.s[i.at[0].first] = w.v[i.at[1].first][w.exec() ? __builtin_ctzll(w.exec()) : 0];
    });
    other("v_readlane_b32", {4, 4, 4}, [](Wave &w, const Instruction &i) {
        w.s[i.at[0].first] = w.v[i.at[1].first][scalar<u32>(w, i.at[2]) % w.lanes];
    });
    other("v_writelane_b32", {4, 4, 4}, [](Wave &w, const Instruction &i) {
        w.v[i.at[0].first][scalar<u32>(w, i.at[2]) % w.lanes] = scalar<u32>(w, i.at[1]);
    });
    for (const int high : {0, 1})
        other(high ? "v_mbcnt_hi_u32_b32" : "v_mbcnt_lo_u32_b32", {4, 4, 4},
              [high](Wave &w, const Instruction &i) {
                  Lanes<u32> a, b;
                  get(w, i.at[1], a);
                  get(w, i.at[2], b);
                  for (int l = 0; l < w.lanes; l++) {
                      const u64 before = (1ull << l) - 1;
                      const u32 mask = static_cast<u32>(high ? before >> 32 : before);
                      b.at[l] += static_cast<u32>(__builtin_popcount(a.at[l] & mask));
                  }
                  put(w, i.at[0], b, w.exec());
              });
    other("v_permlanex16_b32", {4, 4, 4, 4}, [](Wave &w, const Instruction &i) {
        Lanes<u32> from, to;
        get(w, i.at[1], from);
        get(w, i.at[0], to);
        const u64 select = scalar<u32>(w, i.at[2]) | static_cast<u64>(scalar<u32>(w, i.at[3]))
                                                         << 32;
        for (int l = 0; l < w.lanes; l++) {
            const int source = (l / 16 * 16 ^ 16) + static_cast<int>(select >> 4 * (l % 16) & 15);
            if (i.op_sel & 1 || w.exec() >> source & 1)
                to.at[l] = from.at[source];
            else if (i.op_sel & 2)
                to.at[l] = 0;
        }
        put(w, i.at[0], to, w.exec());
    });

    /* scalars */
    scalar_compares<u32>("_u32");
    scalar_compares<i32>("_i32");
    scalar_compares<u64>("_u64");
    scalar_logic<u32>("_b32");
    scalar_logic<u64>("_b64");
    single("s_add_u32", [](bool &scc, u32 a, u32 b) { return scc = a + b < a, a + b; });
    single("s_sub_u32", [](bool &scc, u32 a, u32 b) { return scc = a < b, a - b; });
    single("s_addc_u32", [](bool &scc, u32 a, u32 b) {
        const u64 sum = static_cast<u64>(a) + b + scc;
        return scc = sum >> 32, static_cast<u32>(sum);
    });
    single("s_subb_u32", [](bool &scc, u32 a, u32 b) {
        const u64 difference = static_cast<u64>(a) - b - scc;
        return scc = difference >> 32 & 1, static_cast<u32>(difference);
    });
    const auto add = [](bool &scc, i32 a, i32 b) {
        i32 sum;
        scc = __builtin_add_overflow(a, b, &sum);
        return sum;
    };
    single("s_add_i32", add);
    single("s_addk_i32", add);
    single("s_sub_i32", [](bool &scc, i32 a, i32 b) {
        i32 difference;
        scc = __builtin_sub_overflow(a, b, &difference);
        return difference;
    });
    single("s_mul_i32", [](bool &, u32 a, u32 b) { return a * b; });
    single("s_mul_hi_u32",
           [](bool &, u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(a) * b >> 32); });
    for (const u32 by : {1, 2, 3, 4})
        single("s_lshl" + std::to_string(by) + "_add_u32", [by](bool &scc, u32 a, u32 b) {
            const u64 sum = (static_cast<u64>(a) << by) + b;
            return scc = sum >> 32, static_cast<u32>(sum);
        });
    single("s_min_u32", [](bool &scc, u32 a, u32 b) { return scc = a < b, std::min(a, b); });
    single("s_max_u32", [](bool &scc, u32 a, u32 b) { return scc = a > b, std::max(a, b); });
    single("s_min_i32", [](bool &scc, i32 a, i32 b) { return scc = a < b, std::min(a, b); });
    single("s_max_i32", [](bool &scc, i32 a, i32 b) { return scc = a > b, std::max(a, b); });
    single("s_abs_i32", [](bool &scc, i32 a) {
        const u32 size = a < 0 ? 0u - static_cast<u32>(a) : static_cast<u32>(a);
        return scc = size != 0, size;
    });
    single("s_ashr_i32", [](bool &scc, i32 a, u32 b) { return a >>= b & 31, scc = a != 0, a; });
    single("s_bfe_i32", [](bool &scc, i32 a, u32 b) {
        const u32 width = std::min(b >> 16 & 127, 32u), offset = b & 31;
        const i64 field = static_cast<i64>(static_cast<u64>(a) >> offset << (64 - width));
        const i32 result = width ? static_cast<i32>(field >> (64 - width)) : 0;
        return scc = result != 0, result;
    });
    single("s_bfe_u32", [](bool &scc, u32 a, u32 b) {
        const u32 width = std::min(b >> 16 & 127, 32u), offset = b & 31;
        const u32 result = static_cast<u32>(a >> offset & ((1ull << width) - 1));
        return scc = result != 0, result;
    });
    single("s_brev_b32", [](bool &, u32 a) { return reversed(a); });
    single("s_add_u64", [](bool &, u64 a, u64 b) { return a + b; }); /* these leave SCC alone */
    single("s_sub_u64", [](bool &, u64 a, u64 b) { return a - b; });
    single("s_mul_u64", [](bool &, u64 a, u64 b) { return a * b; });
    single("s_add_f32", [](bool &, float a, float b) { return a + b; });
    single("s_mul_f32", [](bool &, float a, float b) { return a * b; });
    single("s_fmac_f32", [](bool &, float a, float b, float c) { return std::fma(a, b, c); });
    single("s_trunc_f32", [](bool &, float a) { return std::trunc(a); });
    single("s_cvt_f32_u32", [](bool &, u32 a) { return static_cast<float>(a); });
    single("s_cvt_u32_f32", [](bool &, float a) { return saturated<u32>(a); });
    single("v_s_rcp_f32", [](bool &, float a) { return nearly(1.0 / flushed(a)); });
    single("s_movk_i32", [](bool &, u32 a) { return a; });
    single("s_bitcmp0_b32", [](bool &scc, u32 a, u32 b) { scc = !(a >> (b & 31) & 1); });
    single("s_bitcmp1_b32", [](bool &scc, u32 a, u32 b) { scc = a >> (b & 31) & 1; });

    /* branches */
    const auto branch = [this](const std::string &name, std::function<bool(Wave &)> taken) {
        other(name, {4},
              [taken](Wave &w, const Instruction &i) { w.pc = taken(w) ? i.target : w.pc; });
    };
    branch("s_branch", [](Wave &) { return true; });
    branch("s_cbranch_scc0", [](Wave &w) { return !w.scc; });
    branch("s_cbranch_scc1", [](Wave &w) { return w.scc; });
    branch("s_cbranch_vccz", [](Wave &w) { return w.mask(VCC) == 0; });
    branch("s_cbranch_vccnz", [](Wave &w) { return w.mask(VCC) != 0; });
    branch("s_cbranch_execz", [](Wave &w) { return w.exec() == 0; });
    branch("s_cbranch_execnz", [](Wave &w) { return w.exec() != 0; });

    /* waits */
    for (const char *nothing :
         {"s_nop", "s_clause", "s_inst_prefetch", "s_set_inst_prefetch_distance",
          "s_waitcnt_depctr", "s_wait_alu", "s_delay_alu"})
        other(nothing, {}, [](Wave &, const Instruction &) {});
    other("s_sendmsg", {}, [](Wave &w, const Instruction &i) {
        if (i.text != "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)")
            stop("another message");
        for (auto &r : w.v)
            for (u32 &lane : r)
                lane = static_cast<u32>(randomly());
    });
    for (const char *padding : {"s_code_end", "v_illegal"})
        other(padding, {}, [](Wave &, const Instruction &) { stop("behind the code"); });
    other("s_endpgm", {}, [](Wave &w, const Instruction &) { w.ended = true; });
    other("s_barrier", {}, [](Wave &w, const Instruction &) { w.arrived = w.waits = true; });
    other("s_barrier_signal", {4}, [](Wave &w, const Instruction &i) {
        if (w.arrived || w.passed || scalar<i32>(w, i.at[0]) != -1)
            stop("another barrier, or again before it has waited");
        w.arrived = true;
    });
    other("s_barrier_wait", {4}, [](Wave &w, const Instruction &) {
        if (!w.arrived && !w.passed)
            stop("without a signal");
        w.waits = !w.passed;
        w.passed = false;
    });
    for (const char *wait :
         {"s_waitcnt", "s_waitcnt_vscnt", "s_wait_loadcnt", "s_wait_storecnt", "s_wait_dscnt",
          "s_wait_kmcnt", "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt"})
        other(wait, {}, [](Wave &w, const Instruction &i) {
            for (const auto &counter : i.waits)
                complete_to(w, counter.first, counter.second);
        });
    other("buffer_gl0_inv", {}, [](Wave &w, const Instruction &) { w.l0.lines.clear(); });
    const Run invalidate = [](Wave &w, const Instruction &) {
        if (w.block->machine->weak)
            w.block->cache = {{}, w.block->machine->snapshot()};
    };
    other("buffer_gl1_inv", {}, invalidate);
    other("buffer_wbinvl1_vol", {}, invalidate);
    other("buffer_inv", {}, [](Wave &w, const Instruction &i) {
        if (i.modifiers.count("sc0") || i.modifiers.count("sc1"))
            w.block->cache.lines.clear();
        if (i.modifiers.count("sc1") && w.block->machine->weak)
            w.block->l2 = {{}, w.block->machine->snapshot()};
    });
    other("global_inv", {}, [invalidate](Wave &w, const Instruction &i) {
        if (i.scope >= GROUP)
            w.l0.lines.clear();
        if (i.scope >= DEVICE)
            invalidate(w, i);
    });
    other("buffer_wbl2", {}, [](Wave &w, const Instruction &i) {
        if (!w.block->machine->weak || !i.modifiers.count("sc1"))
            return;
        auto p = std::make_unique<Pending>();
        p->what = &i;
        p->done = false;
        p->mask = p->low = 0;
        p->high = ~0ull; /* after all stores before it */
        w.pending.push_back(std::move(p));
    });
}

/* ---- accesses to memory ---------------------------------------------------------------------- */

inline u64 read_word(const u8 *from, int size)
{
    u64 x = 0;
    memcpy(&x, from, static_cast<size_t>(size));
    return x;
}

/* A line as it is in memory, or was then; what is in no buffer stays garbage. */
inline std::array<u8, LINE> line_at(Machine &m, u64 line, const Snapshot &then)
{
    std::array<u8, LINE> bytes;
    for (size_t k = 0; k < m.buffers.size(); k++) {
        const Buffer &b = *m.buffers[k];
        const u64 first = std::max(line, b.address);
        const u64 end = std::min(line + LINE, b.address + b.bytes.size());
        if (first < end)
            memcpy(bytes.data() + (first - line),
                   (then ? (*then)[k] : b.bytes).data() + (first - b.address), end - first);
    }
    return bytes;
}

inline Cache &Block::near(Wave &w)
{
    return machine->target < GFX10 ? cache : w.l0;
}

inline Cache &Block::far()
{
    return machine->many_l2() ? l2 : cache;
}

/* Lays what this block alone sees over a line. */
inline void Block::show(u64 line, std::array<u8, LINE> &bytes) const
{
    const auto found = dirty.find(line);
    for (size_t b = 0; found != dirty.end() && b < LINE; b++)
        if (found->second.held[b])
            bytes[b] = found->second.bytes[b];
}

inline void Block::hold(u64 address, const u8 *from, size_t size)
{
    for (size_t b = 0; b < size; b++, address++) {
        Dirty &d = dirty[address / LINE * LINE];
        d.bytes[address % LINE] = from[b];
        d.held[address % LINE] = true;
    }
}

inline void Block::write_back(u64 line)
{
    const auto found = dirty.find(line);
    if (found == dirty.end())
        return;
    for (size_t b = 0; b < LINE; b++)
        if (found->second.held[b])
            *machine->find(line + b, 1) = found->second.bytes[b];
    dirty.erase(found);
}

inline void Block::write_back_all()
{
    while (!dirty.empty())
        write_back(dirty.begin()->first);
}

/* What a load sees, within a line: its caches' line, or a new one. */
inline void load_through(Wave &w, const Instruction &i, u64 address, size_t size, u8 *to)
{
    Machine &m = *w.block->machine;
    const u64 line = address / LINE * LINE;
    Cache &near = w.block->near(w), &far = w.block->far();
    const bool past_near = i.scope >= GROUP, past_far = i.scope >= DEVICE;
    std::array<u8, LINE> bytes;
    if (!past_near && near.lines.count(line))
        bytes = near.lines[line];
    else if (!past_far && far.lines.count(line))
        bytes = far.lines[line];
    else {
        bytes = line_at(m, line, !past_far && below(2) ? far.then : nullptr);
        w.block->show(line, bytes);
    }
    if (!past_near)
        near.lines[line] = bytes;
    if (!past_far)
        far.lines[line] = bytes;
    memcpy(to, bytes.data() + address % LINE, size);
}

/* After a store: its own caches have the line as it is. */
inline void refresh(Wave &w, u64 address)
{
    const u64 line = address / LINE * LINE;
    std::array<u8, LINE> bytes = line_at(*w.block->machine, line, nullptr);
    w.block->show(line, bytes);
    w.block->near(w).lines[line] = w.block->far().lines[line] = bytes;
}

inline void complete(Wave &w, Pending &p)
{
    const Instruction &i = *p.what;
    Machine &m = *w.block->machine;
    if (i.access == WRITE_BACK) {
        w.block->write_back_all();
        return;
    }
    if (i.scalar) {
        for (int d = 0; d < i.size / 4; d++)
            w.s[i.to.first + d] =
                static_cast<u32>(read_word(m.find(p.address[0] + 4 * static_cast<u64>(d), 4), 4));
        return;
    }
    for (int l = 0; l < w.lanes; l++) {
        if (!(p.mask >> l & 1))
            continue;
        for (int piece = 0; piece < i.pieces; piece++) {
            const u64 address = p.address[l] + static_cast<u64>(i.offset[piece]);
            const size_t size = static_cast<size_t>(i.size);
            const size_t step = address % 4 && size > 2 ? 1 : size == 12 ? 4 : size;
            u8 bytes[16] = {0};
            u8 *memory = i.lds ? w.block->lds.data() + address : m.find(address, size);
            if (i.access == LOAD) {
                memcpy(bytes, memory, size);
                for (size_t at = 0; m.weak && !i.lds && at < size; at += step)
                    load_through(w, i, address + at, step, bytes + at);
            } else if (i.access == STORE) {
                memcpy(bytes, &p.data[piece][0][l], 8);
                memcpy(bytes + 8, &p.data[piece][1][l], 8);
                if (m.weak && m.many_l2() && !i.lds && i.scope < DEVICE)
                    w.block->hold(address, bytes, size);
                else {
                    w.block->write_back(address / LINE * LINE);
                    memcpy(memory, bytes, size);
                }
            } else {
                w.block->write_back(address / LINE * LINE);
                const u64 old = read_word(memory, i.size);
                const u64 next = i.modify(old, p.data[0][0][l], p.data[0][1][l]);
                memcpy(bytes, &old, 8);
                memcpy(memory, &next, size);
            }
            if (i.access != LOAD && !i.lds && m.weak)
                refresh(w, address);
            if (i.half >= 0 && i.access == LOAD) {
                u32 &to = w.v[i.to.first][l];
                const u32 loaded = static_cast<u32>(read_word(bytes, 2));
                to = i.half ? (to & 0xffff) | loaded << 16 : (to & 0xffff0000) | loaded;
            } else if (i.to.kind == Operand::VECTOR)
                for (int d = 0; d < std::max(i.size / 4, 1); d++)
                    w.v[i.to.first + piece * i.size / 4 + d][l] =
                        static_cast<u32>(read_word(bytes + 4 * d, 4));
        }
    }
}

/* Waits until no more than `left` accesses that count are under way: they are counted in order. */
inline void complete_to(Wave &w, int counter, int left)
{
    const auto counts = [&](const std::unique_ptr<Pending> &p) {
        return (p->what->counters & counter) != 0;
    };
    auto under_way = std::count_if(w.pending.begin(), w.pending.end(), counts);
    for (size_t n = 0; n < w.pending.size() && under_way > left;)
        if (counts(w.pending[n])) {
            if (!w.pending[n]->done)
                complete(w, *w.pending[n]);
            w.pending.erase(w.pending.begin() + static_cast<long>(n));
            under_way--;
        } else
            n++;
}

/* Completes one access out of turn, if none before it may be to the same address. */
inline void complete_any(Wave &w)
{
    const size_t n = below(w.pending.size());
    Pending &p = *w.pending[n];
    for (size_t before = 0; before < n; before++) {
        const Pending &q = *w.pending[before];
        if (!q.done && p.what->lds == q.what->lds &&
            (p.what->lds || (p.low < q.high && q.low < p.high)))
            return;
    }
    if (!p.done)
        complete(w, p);
    p.done = true;
    while (!w.pending.empty() && w.pending[0]->done)
        w.pending.erase(w.pending.begin());
}

inline void issue(Wave &w, const Instruction &i)
{
    auto p = std::make_unique<Pending>();
    Machine &m = *w.block->machine;
    p->what = &i;
    p->done = false;
    p->mask = i.scalar ? 1 : w.exec();
    p->low = ~0ull;
    p->high = 0;
    Lanes<u32> narrow = {}, word;
    Lanes<u64> wide = {};
    if (i.scalar) {
        wide.at[0] = scalar<u64>(w, i.base) + static_cast<u64>(i.offset[0]) +
                     (i.index.kind ? scalar<u32>(w, i.index) : 0);
        wide.at[0] &= ~3ull;
    } else if (i.lds || i.base.kind) {
        get(w, i.index, narrow);
        const u64 base = i.lds ? 0 : scalar<u64>(w, i.base);
        for (int l = 0; l < w.lanes; l++)
            wide.at[l] = base + narrow.at[l];
    } else
        get(w, i.index, wide);
    const int words = i.access == ATOMIC ? i.data.count : (i.size + 3) / 4;
    if (i.access != LOAD)
        for (int piece = 0; piece < i.pieces; piece++)
            for (int d = 0; d < words; d++) {
                Operand o = piece ? i.at[2] : i.data;
                o.first += d;
                get(w, o, word);
                /* 8-byte halves; those of a compare-and-swap are its two operands */
                const int half = i.access == ATOMIC ? d * 4 / i.size : d / 2;
                const int shift = i.access == ATOMIC ? 32 * (d - half * i.size / 4) : 32 * (d % 2);
                for (int l = 0; l < w.lanes; l++) {
                    u64 &to = p->data[piece][half][l];
                    const u32 stored = i.half == 1 ? word.at[l] >> 16 : word.at[l];
                    to = (shift ? to : 0) | static_cast<u64>(stored) << shift;
                }
            }
    for (int l = 0; l < w.lanes; l++) {
        if (!(p->mask >> l & 1))
            continue;
        p->address[l] = wide.at[l];
        for (int piece = 0; piece < i.pieces; piece++) {
            const u64 address = wide.at[l] + static_cast<u64>(i.scalar ? 0 : i.offset[piece]);
            const u64 size = static_cast<u64>(i.size);
            m.accesses++;
            if (i.lds && address + size > w.block->lds.size())
                stop("LDS at " + std::to_string(address) + " of " +
                     std::to_string(w.block->lds.size()) + " bytes");
            if (!i.lds)
                m.find(address, size);
            /* the compiler itself reads two fields of 2 bytes at once, at any multiple of 2 */
            const bool given = address - m.packet_at < 64 || address - m.hidden_at < 256;
            if (address % (given && !i.lds ? 2 : i.scalar || size == 12 ? 4 : size))
                stop("not aligned to its size");
            p->low = std::min(p->low, address);
            p->high = std::max(p->high, address + size);
        }
    }
    if (!m.weak) {
        complete(w, *p);
        return;
    }
    const u32 garbage = i.half < 0 ? ~0u : i.half ? 0xffff0000 : 0xffff;
    if (i.to.kind == Operand::VECTOR) /* until it is there */
        for (int r = i.to.first; r < i.to.first + i.to.count; r++)
            for (int l = 0; l < w.lanes; l++)
                if (p->mask >> l & 1)
                    w.v[r][l] = (static_cast<u32>(randomly()) & garbage) | (w.v[r][l] & ~garbage);
    if (i.scalar)
        for (int r = i.to.first; r < i.to.first + i.to.count; r++)
            w.s[r] = static_cast<u32>(randomly());
    w.pending.push_back(std::move(p));
    if (m.eager && below(2))
        complete_any(w);
}

#include "translate.h"

/* With a program's arguments OBJECT LISTING SEED; or it says why not. */
inline bool Machine::start(char **argument)
{
    try {
        load(argument[1], argument[2]);
    } catch (const std::exception &e) {
        printf("%s\n", e.what());
        return false;
    }
    seed(std::strtoull(argument[3], nullptr, 10));
    return true;
}
#endif
