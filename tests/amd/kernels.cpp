/* kernels.cpp - the kernels of gpumb.h as AMD machine code, against references computed apart.
 *
 *     kernels OBJECT LISTING SEED [FAMILY]...
 *
 * OBJECT is a code object, LISTING what llvm-objdump makes of it; see tests/test_amd.sh.
 */
#include "machine.h"
#include "../check.h"

using Host = std::vector<double>;

static Machine machine;


template <class T> struct Naming;
template <> struct Naming<float> { static constexpr const char *letter = "f"; };
template <> struct Naming<double> { static constexpr const char *letter = "d"; };
template <> struct Naming<int> { static constexpr const char *letter = "i"; };
template <> struct Naming<unsigned> { static constexpr const char *letter = "j"; };

enum { SUM, MIN, MAX };
enum { TWO_LAUNCHES, ATOMIC_FINISH, LAST_BLOCK, STORE_FINISH = 16 };

template <class T> T reduced(const T *x, size_t n, int operation, double neutral, double *tolerance)
{
    long double sum = 0, size = 0;
    T best = static_cast<T>(neutral);
    u32 wrapped = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        size += std::fabs(static_cast<long double>(x[i]));
        best = operation == MIN ? std::min(best, x[i]) : std::max(best, x[i]);
        if (std::is_integral<T>::value)
            wrapped += static_cast<u32>(x[i]);
    }
    *tolerance = 0;
    if (operation != SUM)
        return best;
    if (std::is_integral<T>::value)
        return static_cast<T>(wrapped);
    *tolerance = static_cast<double>(size) * 200 * std::numeric_limits<T>::epsilon();
    return static_cast<T>(sum);
}

template <class T> void fill(Buffer &b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        b.as<T>()[i] = std::is_integral<T>::value ? static_cast<T>(randomly())
                                                  : static_cast<T>(static_cast<double>(below(2000001)) / 1e6 - 1);
}

template <class T> double identity(int operation)
{
    using L = std::numeric_limits<T>;
    if (operation == SUM)
        return 0;
    if (std::is_integral<T>::value)
        return static_cast<double>(operation == MIN ? L::max() : L::lowest());
    return operation == MIN ? HUGE_VAL : -HUGE_VAL;
}

template <class T> void naive(int operation, size_t n, int block, int blocks, int combine, int finish, int each)
{
    char name[80];
    snprintf(name, sizeof name, "13gpumbi_reduceI%sLi%dE", Naming<T>::letter, operation);
    Buffer &in = machine.buffer(n * sizeof(T)), &out = machine.buffer(sizeof(T));
    Buffer &partials = machine.buffer(blocks * sizeof(T)), &ticket = machine.buffer(4);
    const double neutral = identity<T>(operation);
    fill<T>(in, n);
    *ticket.as<u32>() = 0;
    if (finish == ATOMIC_FINISH)
        *out.as<T>() = static_cast<T>(neutral);
    const u32 lds = block * sizeof(T);
    for (int launch = 0; launch < 2; launch++) {
        if (finish == TWO_LAUNCHES) {
            machine.launch(name, blocks, 1, block, lds, &in, static_cast<u64>(n), &partials, &partials, &ticket, neutral, combine, int(STORE_FINISH), each);
            machine.launch(name, 1, 1, block, lds, &partials, static_cast<u64>(blocks), &out, &partials, &ticket, neutral, combine, int(STORE_FINISH), each);
        } else
            machine.launch(name, blocks, 1, block, lds, &in, static_cast<u64>(n), &out, &partials, &ticket, neutral, combine, finish, each);
        if (finish == ATOMIC_FINISH)
            break;
    }
    double tolerance;
    const T right = reduced(in.as<T>(), n, operation, neutral, &tolerance);
    if (!CHECK_NEAR(*out.as<T>(), right, tolerance)) printf("%s n %zu block %d blocks %d combine %d finish %d each %d weak %d\n", name, n, block, blocks, combine, finish, each, machine.weak);
    CHECK(finish != LAST_BLOCK || *ticket.as<u32>() == 0);
    machine.buffers.clear();
}

int main(int count, char **argument)
{
    try {
        machine.load(argument[1], argument[2]);
        printf("%zu kernels, %zu mnemonics\n", machine.kernels.size(), machine.mnemonics.size());
        for (int weak = 0; weak < 2; weak++) {
            machine.weak = weak;
            for (int combine = 0; combine < 4; combine++)
                for (int finish = 0; finish < 3; finish++)
                for (size_t n : {0, 1, 63, 64, 65, 1000, 4097}) {
                    naive<float>(SUM, n, 1 + below(300), 1 + below(7), combine, finish, 1 + below(5));
                    naive<int>(MAX, n, 1 + below(300), 1 + below(7), combine, finish, 1 + below(5));
                    naive<double>(MIN, n, 1 + below(300), 1 + below(7), combine, finish, 1 + below(5));
                }
        }
    } catch (const std::exception &e) {
        printf("%s\n", e.what());
        CHECK(0);
    }
    printf("%llu instructions executed\n", (unsigned long long)machine.executed);
    return CHECK_SUMMARY();
}
