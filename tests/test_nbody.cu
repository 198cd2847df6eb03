// test_nbody.cu - forces, orbits and the check of the n-body kernels against sums in fp64 on the
// host, on whatever backend this is built for.
// shares the GPU: results are compared, not times
#define BODIES_1(X) X(1, 1, LIBRARY) X(1, 2, APPROXIMATE) X(1, 4, INTEGER) X(1, 8, LIBRARY)
#define BODIES_2(X) X(2, 1, APPROXIMATE) X(2, 2, INTEGER) X(2, 4, LIBRARY) X(2, 8, APPROXIMATE)
#define BODIES_4(X) X(4, 1, INTEGER) X(4, 2, LIBRARY) X(4, 4, APPROXIMATE) X(4, 8, INTEGER)
#define BODIES_8(X) X(8, 1, LIBRARY) X(8, 2, APPROXIMATE) X(8, 4, INTEGER) X(8, 8, LIBRARY)
#define UNROLL_32(X) X(1, 32, APPROXIMATE) X(2, 32, INTEGER) X(4, 32, LIBRARY) X(8, 32, APPROXIMATE)
#define GPUMB_NBODY_FORMS(X) BODIES_1(X) BODIES_2(X) BODIES_4(X) BODIES_8(X) UNROLL_32(X)
#define GPUMB_NBODY_PAIRS(X) X(4, 2) X(8, 2) X(1, 1) X(2, 4)
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "device.h"
#include "poison.h"
#include "refused.h"
#include <math.h>
#include <stdlib.h>
#include <vector>

enum { PLAIN = 20, PAIRS = 4, BEHIND = 64 };

struct body {
    float x, y, z, w;
};

typedef std::vector<body> bodies;

struct vec3 {
    double x[3];
};

static const double unit = 1.0 / (1 << 24);

static void describe(const gpumb_nbody &how, uint64_t n)
{
    printf("    pairs %d, bodies %d, unroll %d, rsqrt %d, block %d, splits %d, softening %g, "
           "n %llu\n",
           how.pairs, how.bodies, how.unroll, (int)how.rsqrt, how.block, how.splits,
           (double)how.softening, (unsigned long long)n);
}

// ---- drawing parameters: a fixed sequence ----

static uint64_t draws;

static uint64_t draw(uint64_t below)
{
    return gpumb_fill_word(GPUMB_FILL_BITS, 4712, draws++) % below;
}

static float draw_float() // in [-1, 1)
{
    return (float)((double)draw(1 << 24) / (1 << 23) - 1);
}

// ---- systems ----

enum system_kind { UNIFORM, SOME_MASSLESS, COINCIDING, FAR_APART, CLUSTERED, SYSTEMS };

static bodies make_system(system_kind kind, uint64_t n)
{
    bodies all(n);
    for (uint64_t i = 0; i < n; i++) {
        body &b = all[i];
        b.x = draw_float();
        b.y = draw_float();
        b.z = draw_float();
        b.w = 0.5f + 0.5f * fabsf(draw_float());
        if (kind == SOME_MASSLESS && draw(3) == 0)
            b.w = 0;
        if (kind == COINCIDING && i > 0 && draw(2) == 0) { // in one place with another
            const body &other = all[draw(i)];
            b.x = other.x;
            b.y = other.y;
            b.z = other.z;
        }
        if (kind == FAR_APART) {
            b.x *= 1e8f;
            b.y *= 1e8f;
            b.z *= 1e8f;
            b.w *= 1e10f;
        }
        if (kind == CLUSTERED) { // a few dense groups and masses that differ by 10^4
            const float size = i % 4 ? 0.02f : 1.0f;
            b.x = b.x * size + (float)(i % 3);
            b.y *= size;
            b.z *= size;
            b.w *= i % 5 ? 1e-4f : 1.0f;
        }
    }
    return all;
}

// ---- expected results, on the host ----

struct expected {
    std::vector<vec3> a;         // accelerations
    std::vector<vec3> magnitude; // sums of the magnitudes of what adds up to them
};

static expected accelerations_on_host(const bodies &all, double softening)
{
    const size_t n = all.size();
    expected e = {std::vector<vec3>(n, vec3()), std::vector<vec3>(n, vec3())};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const double d[3] = {(double)all[j].x - (double)all[i].x,
                                 (double)all[j].y - (double)all[i].y,
                                 (double)all[j].z - (double)all[i].z};
            const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening * softening;
            const double f = (double)all[j].w / (r2 * sqrt(r2));
            for (int k = 0; k < 3; k++) {
                e.a[i].x[k] += f * d[k];
                e.magnitude[i].x[k] += fabs(f * d[k]);
            }
        }
    return e;
}

// What rounding may do to a sum of n terms of which the magnitudes add up to 1: n additions one
// after the other, taken as independent with 6 standard deviations, up to 20 roundings in a term,
// and three times (it is cubed) the error of the root.
static double tolerance(const gpumb_nbody &how, uint64_t n)
{
    const double root = how.rsqrt == GPUMB_RSQRT_INTEGER && !how.pairs ? 5e-6 : 0;
    return (6 * sqrt((double)n + 64) + 20) * unit + 3 * root;
}

static double component(const body &b, int k)
{
    return (double)(k == 0 ? b.x : k == 1 ? b.y : b.z);
}

// ---- forms ----

static gpumb_nbody plain_form(int bodies_each, int unroll, gpumb_rsqrt rsqrt)
{
    gpumb_nbody how = gpumb_nbody_default();
    how.pairs = 0;
    how.bodies = bodies_each;
    how.unroll = unroll;
    how.rsqrt = rsqrt;
    how.block = 0;
    how.splits = 1;
    return how;
}

static gpumb_nbody pairs_form(int bodies_each, int unroll)
{
    gpumb_nbody how = plain_form(bodies_each, unroll, GPUMB_RSQRT_APPROXIMATE);
    how.pairs = 1;
    return how;
}

// The list at the top again, which is what gpumb_nbody_forms() has to come up with.
static std::vector<gpumb_nbody> all_forms()
{
    std::vector<gpumb_nbody> list;
#define PLAIN_FORM(bodies, unroll, rsqrt)                                                          \
    list.push_back(plain_form(bodies, unroll, GPUMB_RSQRT_##rsqrt));
#define PAIRS_FORM(bodies, unroll) list.push_back(pairs_form(bodies, unroll));
    GPUMB_NBODY_FORMS(PLAIN_FORM)
    GPUMB_NBODY_PAIRS(PAIRS_FORM)
    return list;
}

// Those that a test goes through: with a sanitizer every sixth, in turns.
static std::vector<gpumb_nbody> some_forms()
{
    const std::vector<gpumb_nbody> all = all_forms();
    std::vector<gpumb_nbody> some;
    for (size_t i = SANITIZED ? draw(6) : 0; i < all.size(); i += SANITIZED ? 6 : 1)
        some.push_back(all[i]);
    return some;
}

static bool same_form(const gpumb_nbody &a, const gpumb_nbody &b)
{
    return !a.pairs == !b.pairs && a.bodies == b.bodies && a.unroll == b.unroll &&
           (a.pairs || a.rsqrt == b.rsqrt);
}

static void test_forms()
{
    const std::vector<gpumb_nbody> list = all_forms();
    const gpumb_nbody def = gpumb_nbody_default();
    gpumb_nbody forms[PLAIN + PAIRS + 1];
    CHECK_INT(list.size(), PLAIN + PAIRS);
    CHECK_INT(gpumb_nbody_forms(NULL, 0), PLAIN + PAIRS);
    for (int room = 0; room <= PLAIN + PAIRS + 1; room++) {
        memset(forms, 0xff, sizeof forms);
        CHECK_INT(gpumb_nbody_forms(forms, room), PLAIN + PAIRS);
        const int filled = room < PLAIN + PAIRS ? room : PLAIN + PAIRS;
        for (int i = 0; i <= PLAIN + PAIRS; i++) {
            if (i >= filled) { // left alone
                CHECK_INT(forms[i].bodies, -1);
                continue;
            }
            int found = 0, before = 0;
            for (const gpumb_nbody &form : list)
                found += same_form(form, forms[i]);
            for (int j = 0; j < i; j++)
                before += same_form(forms[j], forms[i]);
            CHECK_INT(found, 1);
            CHECK_INT(before, 0);
            CHECK_INT(forms[i].block, def.block);
            CHECK_INT(forms[i].splits, def.splits);
            CHECK(forms[i].softening == def.softening);
        }
    }
    CHECK_NEAR(def.softening, 0.01, 1e-9);
    CHECK(same_form(list.back(), def)); // the one listed last
}

// ---- accelerations ----

struct workplace {
    gpumb *g;
    bool on_cpu;
    int warp;
};

static bool all_poison(const void *from, uint64_t size)
{
    return is_poison(from, size, 0) == 1;
}

static gpumb_buffer *upload(gpumb *g, const bodies &all)
{
    gpumb_buffer *b = gpumb_alloc(g, all.size() * sizeof(body));
    CHECK_INT(gpumb_write(g, b, 0, all.data(), all.size() * sizeof(body)), 0);
    return b;
}

static bodies download(gpumb *g, const gpumb_buffer *b, uint64_t n)
{
    bodies all(n);
    CHECK_INT(gpumb_read(g, b, 0, all.data(), n * sizeof(body)), 0);
    return all;
}

static bodies poison_of(uint64_t n)
{
    bodies all(n);
    put_poison(all.data(), n * sizeof(body), 0);
    return all;
}

static void append(bodies &to, const bodies &more)
{
    to.insert(to.end(), more.begin(), more.end());
}

// What became of a launch, and the accelerations that it left.
struct outcome {
    int returned, status; // of the launch; of a region behind it, if that was refused
    bodies a;
};

// The accelerations that the device finds in some forms, and whether these left alone what is not
// theirs: `all`, and what is behind the results and behind the workspaces. Everything is in one
// buffer and read back once: on a GPU that others use as well, a wait takes longer than many
// launches. Launches are made `times` times.
static std::vector<outcome> try_to_accelerate(gpumb *g, const std::vector<gpumb_nbody> &forms,
                                              const bodies &all, int times)
{
    const uint64_t n = all.size();
    std::vector<gpumb_buffer *> workspaces; // only their sizes matter
    std::vector<uint64_t> sizes;
    uint64_t bodies_in_all = n;
    for (const gpumb_nbody &how : forms) {
        workspaces.push_back(gpumb_nbody_workspace(g, &how, n));
        const uint64_t size = gpumb_size(workspaces.back());
        CHECK(size > 0 && size % sizeof(body) == 0);
        sizes.push_back(size / sizeof(body));
        bodies_in_all += n + BEHIND + sizes.back() + BEHIND;
    }
    for (gpumb_buffer *workspace : workspaces)
        gpumb_free(g, workspace);
    gpumb_buffer *memory = gpumb_alloc(g, bodies_in_all * sizeof(body));
    gpumb_poison(g, memory); // partial sums have to be set, not added to
    CHECK_INT(gpumb_write(g, memory, 0, all.data(), n * sizeof(body)), 0);
    body *const positions = GPUMB_PTR(body, memory), *out = positions + n;
    std::vector<outcome> outcomes;
    for (size_t i = 0; i < forms.size(); i++) {
        gpumb_buffer *workspace = gpumb_wrap(g, out + n + BEHIND, sizes[i] * sizeof(body));
        outcome o = {0, GPUMB_STATUS_OK, bodies()};
        for (int time = 0; time < times && !o.returned; time++)
            o.returned = gpumb_nbody_accelerations(g, &forms[i], n, positions, out, workspace);
        if (o.returned) {
            gpumb_result r;
            GPUMB_TIME(&r) {
            }
            o.status = (int)r.status;
        }
        outcomes.push_back(o);
        gpumb_free(g, workspace);
        out += n + BEHIND + sizes[i] + BEHIND;
    }
    const bodies after = download(g, memory, bodies_in_all);
    gpumb_free(g, memory);
    CHECK(memcmp(after.data(), all.data(), n * sizeof(body)) == 0);
    const body *found = &after[n];
    for (size_t i = 0; i < forms.size(); i++) {
        outcomes[i].a.assign(found, found + n);
        bool good = CHECK(all_poison(found + n, BEHIND * sizeof(body)));
        found += n + BEHIND + sizes[i];
        good = CHECK(all_poison(found, BEHIND * sizeof(body))) && good;
        found += BEHIND;
        if (!good)
            describe(forms[i], n);
    }
    return outcomes;
}

static std::vector<bodies> accelerate(gpumb *g, const std::vector<gpumb_nbody> &forms,
                                      const bodies &all, int times = 1)
{
    std::vector<bodies> found;
    for (const outcome &o : try_to_accelerate(g, forms, all, times)) {
        if (!CHECK_INT(o.returned, 0))
            describe(forms[found.size()], all.size());
        found.push_back(o.a);
    }
    return found;
}

static void check_accelerations(const gpumb_nbody &how, const bodies &all, const bodies &got,
                                const expected &e)
{
    const uint64_t n = all.size();
    const double relative = tolerance(how, n);
    int wrong = 0, no_zero = 0;
    size_t first = 0;
    double impulse[3] = {0, 0, 0}, allowed[3] = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        bool right = true;
        for (int k = 0; k < 3; k++) {
            const double error = fabs(component(got[i], k) - e.a[i].x[k]);
            right = right && error <= relative * e.magnitude[i].x[k];
            impulse[k] += (double)all[i].w * component(got[i], k);
            allowed[k] += (double)all[i].w * relative * e.magnitude[i].x[k];
        }
        if (!right && !wrong++)
            first = i;
        no_zero += got[i].w != 0;
    }
    bool good = CHECK_INT(wrong, 0);
    good = CHECK_INT(no_zero, 0) && good;
    for (int k = 0; k < 3; k++) // action and reaction; NaN is neither
        good = CHECK(fabs(impulse[k]) <= allowed[k]) && good;
    if (!good) {
        describe(how, n);
        if (wrong)
            printf("    first at body %d: (%g, %g, %g), expected (%g, %g, %g), relative "
                   "tolerance %g\n",
                   (int)first, (double)got[first].x, (double)got[first].y, (double)got[first].z,
                   e.a[first].x[0], e.a[first].x[1], e.a[first].x[2], relative);
    }
}

static const uint64_t counts[] = {1, 2, 31, 32, 33, 100, 257, 1000, 1031, 2049};

static int deal_block(const workplace &w, const gpumb_nbody &how)
{
    static const int usual[] = {0, 32, 64, 128, 256}, odd[] = {96, 160, 512, 1024};
    int block = draw(5) ? usual[draw(5)] : odd[draw(4)];
    if (how.bodies >= 4 && block > 512) // their most
        block = 512;
    if (how.pairs)
        return block % w.warp ? 2 * block : block;
    if (draw(6) == 0) // any multiple of `unroll` will do
        block = how.unroll * (int)(32 / how.unroll + 1 + (int)draw(9));
    return block;
}

static void test_accelerations(const workplace &w)
{
    static const int splits[] = {0, 1, 2, 3, 7};
    static const float softenings[] = {0.01f, 0.1f, 1.0f};
    for (uint64_t n : counts)
        for (int kind = 0; kind < SYSTEMS; kind++) {
            if (w.on_cpu && n > 300 && draw(SYSTEMS))
                continue;
            const bodies all = make_system((system_kind)kind, n);
            const float softening = softenings[draw(3)];
            const expected e = accelerations_on_host(all, (double)softening);
            std::vector<gpumb_nbody> some = some_forms();
            for (gpumb_nbody &how : some) {
                how.softening = softening;
                how.block = deal_block(w, how);
                how.splits = splits[draw(5)];
            }
            const std::vector<bodies> a = accelerate(w.g, some, all);
            for (size_t i = 0; i < some.size(); i++)
                check_accelerations(some[i], all, a[i], e);
        }
}

// Every form with every block and number of splits, on a system small enough for that.
static void test_geometries(const workplace &w)
{
    const bodies all = make_system(UNIFORM, 257);
    const expected e = accelerations_on_host(all, (double)0.05f);
    for (gpumb_nbody how : some_forms()) {
        std::vector<gpumb_nbody> shapes;
        how.softening = 0.05f;
        for (int block : {0, 32, 64, 128, 256})
            for (int splits : {0, 1, 2, 3, 7, 64}) {
                if ((how.pairs && block % w.warp) || (w.on_cpu && draw(4) && splits < 64))
                    continue;
                how.block = block;
                how.splits = splits;
                shapes.push_back(how);
            }
        const std::vector<bodies> a = accelerate(w.g, shapes, all);
        for (size_t i = 0; i < shapes.size(); i++)
            check_accelerations(shapes[i], all, a[i], e);
    }
}

// ---- values that are special ----

static void test_special(const workplace &w)
{
    const body origin = {0, 0, 0, 1};
    const bodies two = {{0, 0, 0, 0}, {2, 0, 0, 8}};
    std::vector<gpumb_nbody> some = some_forms();
    const std::vector<bodies> alone = accelerate(w.g, some, bodies(1, origin)),
                              together = accelerate(w.g, some, bodies(300, origin));
    for (gpumb_nbody &how : some)
        how.softening = 1e-3f;
    const std::vector<bodies> of_two = accelerate(w.g, some, two);
    for (size_t i = 0; i < some.size(); i++) {
        const body &one = alone[i][0];
        CHECK(one.x == 0 && one.y == 0 && one.z == 0 && one.w == 0);
        int wrong = 0;
        for (const body &a : together[i]) // all in one place
            wrong += !(a.x == 0 && a.y == 0 && a.z == 0 && a.w == 0);
        CHECK_INT(wrong, 0);

        // a mass of 0 feels and is not felt
        const bodies &a = of_two[i];
        CHECK_NEAR(a[0].x, 2, 1e-4);
        CHECK(a[1].x == 0 && a[1].y == 0 && a[1].z == 0);
        CHECK(a[0].y == 0 && a[0].z == 0);
    }

    // A small softening is more than 0: its cube's inverse may be infinite, but 0 times that is not
    // what bodies do to themselves.
    for (float softening : {1e-10f, 1e-12f, 1e-14f, 1e-20f, 1e-30f}) {
        for (gpumb_nbody &how : some)
            how.softening = softening;
        const std::vector<outcome> outcomes = try_to_accelerate(w.g, some, two, 1);
        for (size_t i = 0; i < some.size(); i++) {
            const outcome &o = outcomes[i];
            if (!CHECK(o.returned == -1 ? o.status == GPUMB_STATUS_SKIPPED
                                        : fabs((double)o.a[0].x - 2) < 1e-4 && o.a[1].x == 0)) {
                describe(some[i], 2);
                printf("    returned %d, accelerations %g and %g, expected 2 and 0\n", o.returned,
                       (double)o.a[0].x, (double)o.a[1].x);
            }
        }
    }
}

// Two launches in a row leave the same as one: nothing is added to what was there before.
static void test_repeated(const workplace &w)
{
    const bodies all = make_system(UNIFORM, 1031);
    const expected e = accelerations_on_host(all, 0.1f);
    std::vector<gpumb_nbody> some = some_forms();
    for (gpumb_nbody &how : some) {
        how.softening = 0.1f;
        how.splits = how.pairs ? 1 : 3;
    }
    const std::vector<bodies> a = accelerate(w.g, some, all, 2);
    for (size_t i = 0; i < some.size(); i++)
        check_accelerations(some[i], all, a[i], e);
}

// ---- steps ----

struct state {
    bodies r, v, a;
};

// A system on the device for gpumb_nbody_steps(): positions, velocities and accelerations, poison
// behind each, in one buffer. Behind those is room for copies of them, which are read back at the
// end: on a GPU that others use as well, a wait takes longer than many steps.
struct simulation {
    gpumb *g;
    gpumb_nbody how;
    uint64_t n, recorded;
    gpumb_buffer *memory, *workspace;
};

static uint64_t bodies_in(const simulation &s) // a state
{
    return 3 * (s.n + BEHIND);
}

static body *part_of(const simulation &s, uint64_t part)
{
    return GPUMB_PTR(body, s.memory) + part * (s.n + BEHIND);
}

static simulation begin_simulation(gpumb *g, const gpumb_nbody &how, const bodies &r,
                                   const bodies &v, int records = 0)
{
    simulation s = {g, how, r.size(), 0, NULL, NULL};
    bodies first;
    for (const bodies *part : {&r, &v, &r}) {
        append(first, *part);
        append(first, poison_of(BEHIND));
    }
    s.memory = gpumb_alloc(g, (1 + (uint64_t)records) * first.size() * sizeof(body));
    s.workspace = gpumb_nbody_workspace(g, &how, s.n);
    CHECK_INT(gpumb_write(g, s.memory, 0, first.data(), first.size() * sizeof(body)), 0);
    CHECK_INT(gpumb_nbody_accelerations(g, &how, s.n, part_of(s, 0), part_of(s, 2), s.workspace),
              0);
    return s;
}

static void advance(simulation &s, int steps, float dt)
{
    if (!CHECK_INT(gpumb_nbody_steps(s.g, &s.how, s.n, steps, dt, part_of(s, 0), part_of(s, 1),
                                     part_of(s, 2), s.workspace),
                   0))
        describe(s.how, s.n);
}

static void record(simulation &s)
{
    s.recorded++;
    gpumb_memcpy(s.g, part_of(s, 3 * s.recorded), part_of(s, 0), bodies_in(s) * sizeof(body));
}

static bodies take(const simulation &s, const body *from)
{
    CHECK(all_poison(from + s.n, BEHIND * sizeof(body)));
    return bodies(from, from + s.n);
}

// The state of now, or those that were recorded.
static std::vector<state> read_states(const simulation &s, uint64_t first, uint64_t count)
{
    bodies all(count * bodies_in(s));
    std::vector<state> states;
    CHECK_INT(gpumb_read(s.g, s.memory, first * bodies_in(s) * sizeof(body), all.data(),
                         all.size() * sizeof(body)),
              0);
    for (uint64_t i = 0; i < count; i++) {
        const body *from = &all[i * bodies_in(s)];
        states.push_back(
            {take(s, from), take(s, from + s.n + BEHIND), take(s, from + 2 * (s.n + BEHIND))});
    }
    return states;
}

static state look_at(const simulation &s)
{
    return read_states(s, 0, 1)[0];
}

static std::vector<state> look_back(const simulation &s)
{
    return read_states(s, 1, s.recorded);
}

static void end_simulation(simulation &s)
{
    gpumb_free(s.g, s.memory);
    gpumb_free(s.g, s.workspace);
}

static bodies rest(uint64_t n)
{
    const body none = {0, 0, 0, 0};
    return bodies(n, none);
}

static bodies slow(uint64_t n)
{
    bodies v = rest(n);
    for (body &b : v) {
        b.x = 0.1f * draw_float();
        b.y = 0.1f * draw_float();
        b.z = 0.1f * draw_float();
    }
    return v;
}

// A system whose crossing time is about 1: n bodies of mass 1/n, in a cube of side 2.
static bodies light(uint64_t n)
{
    bodies r = make_system(UNIFORM, n);
    for (body &b : r)
        b.w /= (float)n;
    return r;
}

struct precise {
    std::vector<vec3> r, v, a;
};

static void accelerate_precisely(precise &p, const bodies &masses, double softening)
{
    const size_t n = masses.size();
    p.a.assign(n, vec3());
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double d[3], r2 = softening * softening;
            for (int k = 0; k < 3; k++) {
                d[k] = p.r[j].x[k] - p.r[i].x[k];
                r2 += d[k] * d[k];
            }
            for (int k = 0; k < 3; k++)
                p.a[i].x[k] += (double)masses[j].w * d[k] / (r2 * sqrt(r2));
        }
}

// Kick, drift, kick in fp64.
static precise leapfrog(const bodies &r, const bodies &v, double softening, int steps, double dt)
{
    const size_t n = r.size();
    precise p = {std::vector<vec3>(n), std::vector<vec3>(n), std::vector<vec3>(n)};
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            p.r[i].x[k] = component(r[i], k);
            p.v[i].x[k] = component(v[i], k);
        }
    accelerate_precisely(p, r, softening);
    for (int step = 0; step < steps; step++) {
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                p.v[i].x[k] += dt / 2 * p.a[i].x[k];
                p.r[i].x[k] += dt * p.v[i].x[k];
            }
        accelerate_precisely(p, r, softening);
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                p.v[i].x[k] += dt / 2 * p.a[i].x[k];
    }
    return p;
}

static double farthest(const bodies &got, const std::vector<vec3> &right)
{
    double worst = 0;
    for (size_t i = 0; i < got.size(); i++)
        for (int k = 0; k < 3; k++) {
            const double off = fabs(component(got[i], k) - right[i].x[k]);
            if (!(off <= worst))
                worst = off == off ? off : HUGE_VAL;
        }
    return worst;
}

static double farthest(const bodies &got, const bodies &right)
{
    std::vector<vec3> r(right.size());
    for (size_t i = 0; i < right.size(); i++)
        for (int k = 0; k < 3; k++)
            r[i].x[k] = component(right[i], k);
    return farthest(got, r);
}

// Steps against the same in fp64. Each of the steps rounds positions and velocities of up to 1.5 to
// 2^-24 of that, twice, and over a time of 0.6 of a crossing time a deviation does not grow
// tenfold: 20 steps make 20 * 2 * 1.5 * 6e-8 * 10 = 4e-5 at most. A first-order scheme, or a kick
// with the accelerations of before, is off by dt * v * time = 1e-3.
static void test_steps(const workplace &w)
{
    const int steps = 20;
    const float dt = 0.03f;
    for (uint64_t n : {1u, 2u, 33u, 100u}) {
        const bodies r = light(n), v = slow(n);
        const precise right = leapfrog(r, v, (double)0.2f, steps, (double)dt);
        for (gpumb_nbody how : some_forms()) {
            how.softening = 0.2f;
            how.splits = how.pairs ? 1 : (int)draw(4);
            how.block = 64;
            simulation s = begin_simulation(w.g, how, r, v, 3);
            record(s);
            advance(s, 0, dt); // changes nothing
            record(s);
            advance(s, steps, dt);
            record(s);
            const std::vector<state> states = look_back(s);
            const state &before = states[0], &still = states[1], &now = states[2];
            bool good = CHECK(farthest(still.r, before.r) <= 0 && farthest(still.v, before.v) <= 0);
            const double root = tolerance(how, n); // that of a badly approximated one stays
            const double bound = 4e-5 + root;
            good = CHECK(farthest(now.r, right.r) <= bound) && good;
            good = CHECK(farthest(now.v, right.v) <= bound) && good;
            int others = 0;
            for (size_t i = 0; i < n; i++)
                others += now.r[i].w != r[i].w || now.v[i].w != 0 || now.a[i].w != 0;
            good = CHECK_INT(others, 0) && good;
            // the accelerations are those at the new positions
            check_accelerations(how, now.r, now.a, accelerations_on_host(now.r, (double)0.2f));

            // one step at a time takes the same way
            simulation single = begin_simulation(w.g, how, r, v);
            for (int step = 0; step < steps; step++)
                advance(single, 1, dt);
            const state last = look_at(single);
            good =
                CHECK(farthest(last.r, now.r) <= bound && farthest(last.v, now.v) <= bound) && good;
            if (!good) {
                describe(how, n);
                printf("    off by %g in position, %g in velocity, at most %g\n",
                       farthest(now.r, right.r), farthest(now.v, right.v), bound);
            }
            end_simulation(s);
            end_simulation(single);
        }
    }
}

static double energy(const state &s, double softening)
{
    double sum = 0;
    for (size_t i = 0; i < s.r.size(); i++) {
        double v2 = 0;
        for (int k = 0; k < 3; k++)
            v2 += component(s.v[i], k) * component(s.v[i], k);
        sum += (double)s.r[i].w * v2 / 2;
        for (size_t j = 0; j < i; j++) {
            double r2 = softening * softening;
            for (int k = 0; k < 3; k++) {
                const double d = component(s.r[i], k) - component(s.r[j], k);
                r2 += d * d;
            }
            sum -= (double)s.r[i].w * (double)s.r[j].w / sqrt(r2);
        }
    }
    return sum;
}

static vec3 momentum(const state &s)
{
    vec3 p = {{0, 0, 0}};
    for (size_t i = 0; i < s.r.size(); i++)
        for (int k = 0; k < 3; k++)
            p.x[k] += (double)s.r[i].w * component(s.v[i], k);
    return p;
}

// Two bodies on a circle around their common centre, `slower` times as fast.
static void two_bodies(bodies &r, bodies &v, double softening, double slower)
{
    const double force = 1 / pow(1 + softening * softening, 1.5); // masses 1/2, distance 1
    const float speed = (float)(slower * sqrt(force / 2 / 2));
    r = {{0.5f, 0, 0, 0.5f}, {-0.5f, 0, 0, 0.5f}};
    v = {{0, speed, 0, 0}, {0, -speed, 0, 0}};
}

// The largest deviation from the first energy, and from the first momentum, along the way.
static double drift(gpumb *g, gpumb_nbody how, const bodies &r, const bodies &v, int steps,
                    float dt, double *of_momentum)
{
    how.block = 64; // idle threads cost a CPU more than the two bodies do
    simulation s = begin_simulation(g, how, r, v, 1 + steps);
    record(s);
    for (int step = 0; step < steps; step++) {
        advance(s, 1, dt);
        record(s);
    }
    const std::vector<state> states = look_back(s);
    const double e0 = energy(states[0], (double)how.softening);
    const vec3 p0 = momentum(states[0]);
    double worst = 0;
    *of_momentum = 0;
    for (const state &now : states) {
        const double off = fabs(energy(now, (double)how.softening) - e0);
        worst = off <= worst ? worst : off;
        const vec3 p = momentum(now);
        for (int k = 0; k < 3; k++)
            if (!(fabs(p.x[k] - p0.x[k]) <= *of_momentum))
                *of_momentum = fabs(p.x[k] - p0.x[k]);
    }
    end_simulation(s);
    return worst;
}

// An orbit that isn't a circle: the error of the energy is of the second order in dt, and far above
// what rounding makes of it (1e-6).
static void test_order(const workplace &w)
{
    bodies r, v;
    double moved;
    two_bodies(r, v, (double)0.05f, 0.8);
    for (gpumb_nbody how : {plain_form(1, 1, GPUMB_RSQRT_LIBRARY),
                            plain_form(4, 4, GPUMB_RSQRT_APPROXIMATE), pairs_form(8, 2)}) {
        how.softening = 0.05f;
        const double coarse = drift(w.g, how, r, v, 100, 0.04f, &moved);
        const double fine = drift(w.g, how, r, v, 200, 0.02f, &moved);
        if (!CHECK(coarse > 1e-5) || !CHECK(coarse / fine > 3.3 && coarse / fine < 4.8)) {
            describe(how, 2);
            printf("    energy errors %g and, with half of dt, %g\n", coarse, fine);
        }
    }
}

// On a circle of radius 1/2, where omega^2 = 1 / (1 + s^2)^1.5 < 1, the energy deviates by no more
// than (omega dt)^2 / 8 of its kinetic part, 1/8, plus rounding: below (dt^2 + 1e-4) / 8. The
// radius stays within (omega dt)^2, the momentum within the rounding of the two velocities.
static void test_circle(const workplace &w)
{
    bodies r, v;
    const float dt = 0.05f;
    double moved;
    two_bodies(r, v, (double)0.05f, 1);
    for (gpumb_nbody how : some_forms()) {
        if (w.on_cpu && draw(4)) // 400 launches take their time
            continue;
        how.softening = 0.05f;
        how.splits = how.pairs ? 1 : 1 + (int)draw(3);
        const double worst = drift(w.g, how, r, v, 200, dt, &moved);
        how.block = 64;
        simulation s = begin_simulation(w.g, how, r, v);
        advance(s, 200, dt);
        const state end = look_at(s);
        const double radius = hypot((double)end.r[0].x, (double)end.r[0].y);
        bool good = CHECK(worst <= ((double)(dt * dt) + 1e-4) / 8);
        good = CHECK(moved <= 200 * 4 * unit) && good;
        good = CHECK_NEAR(radius, 0.5, 2 * dt * dt) && good;
        good = CHECK(end.r[0].z == 0 && end.r[1].z == 0) && good;
        if (!good) {
            describe(how, 2);
            printf("    energy off by %g, momentum by %g, radius %g\n", worst, moved, radius);
        }
        end_simulation(s);
    }
}

// A cloud at rest that falls in on itself for half of its crossing time, with a softening that
// keeps it smooth. The scheme's error is dt^2 / 24 of changes of the order of the energy (1), and
// the momentum's is the sum of n roundings a step, of sizes at random.
static void test_cloud(const workplace &w)
{
    const uint64_t n = 100;
    const bodies r = light(n), v = slow(n);
    for (gpumb_nbody how :
         {plain_form(1, 1, GPUMB_RSQRT_LIBRARY), plain_form(8, 4, GPUMB_RSQRT_INTEGER),
          plain_form(4, 4, GPUMB_RSQRT_APPROXIMATE), pairs_form(4, 2)}) {
        double moved;
        how.softening = 0.2f;
        const double worst = drift(w.g, how, r, v, w.on_cpu ? 100 : 200, 0.01f, &moved);
        const double root = how.rsqrt == GPUMB_RSQRT_INTEGER ? 1.5e-5 : 0;
        if (!CHECK(worst <= 1e-4) || !CHECK(moved <= 200 * 4 * unit + 2 * root)) {
            describe(how, n);
            printf("    energy off by %g, momentum by %g\n", worst, moved);
        }
    }
}

// Forward, velocities the other way round, and back: the leapfrog is symmetric in time, so that
// only rounding is left, which here grows no more than tenfold (see test_steps).
static void test_reversal(const workplace &w)
{
    const uint64_t n = 100;
    const int steps = 30;
    const float dt = 0.02f;
    const bodies r = light(n), v = slow(n);
    for (gpumb_nbody how :
         {plain_form(1, 1, GPUMB_RSQRT_LIBRARY), plain_form(2, 32, GPUMB_RSQRT_INTEGER),
          plain_form(4, 4, GPUMB_RSQRT_APPROXIMATE), pairs_form(8, 2)}) {
        how.softening = 0.2f;
        simulation s = begin_simulation(w.g, how, r, v);
        advance(s, steps, dt);
        state there = look_at(s);
        CHECK(farthest(there.r, r) > 0.01); // it has gone somewhere
        for (body &b : there.v) {
            b.x = -b.x;
            b.y = -b.y;
            b.z = -b.z;
        }
        CHECK_INT(gpumb_write(w.g, s.memory, (n + BEHIND) * sizeof(body), there.v.data(),
                              n * sizeof(body)),
                  0);
        advance(s, steps, dt);
        const state back = look_at(s);
        if (!CHECK(farthest(back.r, r) <= 1e-4)) {
            describe(how, n);
            printf("    off by %g\n", farthest(back.r, r));
        }
        end_simulation(s);
    }
}

// ---- the check ----

// A system and, behind it, accelerations of it that the check is to judge, all on the device.
struct hearing {
    gpumb *g;
    uint64_t n;
    gpumb_buffer *memory;
};

static hearing begin_hearing(gpumb *g, const bodies &all, const std::vector<bodies> &found)
{
    bodies image = all;
    for (const bodies &a : found)
        append(image, a);
    return {g, all.size(), upload(g, image)};
}

// What the check says of accelerations number `which`.
static int judge(const hearing &h, const gpumb_nbody &how, size_t which, int samples)
{
    body *const all = GPUMB_PTR(body, h.memory);
    gpumb_buffer *positions = gpumb_wrap(h.g, all, h.n * sizeof(body));
    gpumb_buffer *found = gpumb_wrap(h.g, all + (1 + which) * h.n, h.n * sizeof(body));
    gpumb_nbody_check check = {&how, positions, found, h.n, samples};
    const int right = gpumb_check_nbody(h.g, &check);
    gpumb_free(h.g, positions);
    gpumb_free(h.g, found);
    return right;
}

// The exact accelerations, rounded, with `how` as the form that is to have computed them.
static bodies rounded(const bodies &all, double softening)
{
    const expected e = accelerations_on_host(all, softening);
    bodies a = rest(all.size());
    for (size_t i = 0; i < all.size(); i++) {
        a[i].x = (float)e.a[i].x[0];
        a[i].y = (float)e.a[i].x[1];
        a[i].z = (float)e.a[i].x[2];
    }
    return a;
}

static void test_check_accepts(const workplace &w)
{
    for (uint64_t n : {1u, 2u, 63u, 64u, 65u, 1000u})
        for (int kind = 0; kind < SYSTEMS; kind++) {
            const bodies all = make_system((system_kind)kind, n);
            std::vector<gpumb_nbody> some;
            for (gpumb_nbody how : some_forms()) {
                if (w.on_cpu && draw(n == 1000 ? 8 : 2))
                    continue;
                how.splits = how.pairs ? 1 : (int)draw(4);
                some.push_back(how);
            }
            const hearing h = begin_hearing(w.g, all, accelerate(w.g, some, all));
            for (size_t i = 0; i < some.size(); i++)
                for (int samples : {0, 1, 7, (int)n, 5000})
                    if (!CHECK_INT(judge(h, some[i], i, samples), 1))
                        describe(some[i], n);
            gpumb_free(w.g, h.memory);
        }
}

static void test_check_rejects(const workplace &w)
{
    const uint64_t n = 1000;
    const bodies all = make_system(UNIFORM, n);
    const bodies right = rounded(all, (double)0.01f);
    const expected e = accelerations_on_host(all, (double)0.01f);
    std::vector<bodies> wrong;
    for (uint64_t left_out : {(uint64_t)0, n / 2, n - 1}) {
        bodies fewer = all;
        fewer[left_out].w = 0;
        wrong.push_back(rounded(fewer, (double)0.01f));
    }
    bodies twice = all; // one that counts twice, as with a tile done again
    twice[n - 1].w *= 2;
    wrong.push_back(rounded(twice, (double)0.01f));
    wrong.push_back(rounded(all, 0.015));
    wrong.push_back(rounded(all, 0.005));
    for (int k = 0; k < 3; k++) { // a component the other way round
        bodies flipped = right;
        for (body &b : flipped)
            (k == 0 ? b.x : k == 1 ? b.y : b.z) *= -1;
        wrong.push_back(flipped);
    }
    const size_t always = wrong.size();
    const gpumb_nbody fine = plain_form(4, 4, GPUMB_RSQRT_APPROXIMATE),
                      coarse = plain_form(1, 4, GPUMB_RSQRT_INTEGER);
    // of what rounding may do, in each of three components: more, or clearly less
    const double shares[] = {-2.0, -0.5, 0.5, 2.0};
    enum { OFF = 3 * 4 };
    for (const gpumb_nbody &how : {fine, coarse})
        for (int k = 0; k < 3; k++)
            for (double share : shares) {
                bodies off = right;
                for (size_t i = 0; i < n; i++)
                    (k == 0   ? off[i].x
                     : k == 1 ? off[i].y
                              : off[i].z) +=
                        (float)(share * tolerance(how, n) * e.magnitude[i].x[k]);
                wrong.push_back(off);
            }
    wrong.push_back(right);
    hearing h = begin_hearing(w.g, all, wrong);
    for (const gpumb_nbody &how : some_forms()) {
        bool good = CHECK_INT(judge(h, how, wrong.size() - 1, 0), 1);
        for (size_t i = 0; i < always; i++)
            good = CHECK_INT(judge(h, how, i, 0), 0) && good;
        const size_t off = tolerance(how, n) > tolerance(fine, n) ? always + OFF : always;
        for (size_t i = 0; i < OFF; i++)
            good = CHECK_INT(judge(h, how, off + i, 0), fabs(shares[i % 4]) < 1) && good;
        if (!good)
            describe(how, n);
    }
    gpumb_free(w.g, h.memory);

    const bodies poison = poison_of(n);
    std::vector<bodies> alone; // one body, looked at when all are
    for (uint64_t at : {(uint64_t)0, (uint64_t)499, n - 1}) {
        bodies one = right;
        one[at] = poison[at];
        alone.push_back(one);
        one[at] = right[at];
        one[at].z = poison[at].z;
        alone.push_back(one);
        one[at].z = -right[at].z;
        alone.push_back(one);
        one[at] = right[(at + 1) % n];
        alone.push_back(one);
    }
    // an upper half that was not reached; the samples have to lie all over
    bodies half = right;
    for (uint64_t i = n / 2; i < n; i++)
        half[i] = poison[i];
    bodies tile = right; // and the last tile
    for (uint64_t i = n - n % 64; i < n; i++)
        tile[i] = poison[i];
    wrong = {poison, rest(n), half, tile};
    wrong.insert(wrong.end(), alone.begin(), alone.end());
    h = begin_hearing(w.g, all, wrong);
    for (size_t i = 0; i < wrong.size(); i++)
        CHECK_CASE(judge(h, fine, i, i < 4 ? 0 : (int)n) == 0, "accelerations %d", (int)i);
    gpumb_free(w.g, h.memory);
    for (uint64_t m : {1u, 2u}) { // the smallest there are
        const bodies few(all.begin(), all.begin() + (long)m);
        h = begin_hearing(w.g, few, {poison_of(m), rounded(few, (double)0.01f)});
        CHECK_INT(judge(h, fine, 0, 0), 0);
        CHECK_INT(judge(h, fine, 1, 0), 1);
        gpumb_free(w.g, h.memory);
    }
}

// The check in a region, where the row says what it found.
static void test_check_in_rows(const workplace &w)
{
    const uint64_t n = 257;
    const bodies all = make_system(UNIFORM, n);
    gpumb_buffer *positions = upload(w.g, all), *out = gpumb_alloc(w.g, n * sizeof(body));
    for (const gpumb_nbody &how : some_forms()) {
        gpumb_buffer *workspace = gpumb_nbody_workspace(w.g, &how, n);
        for (int broken = 0; broken < 2; broken++) {
            gpumb_nbody checked = how;
            checked.softening = broken ? 0.02f : how.softening;
            gpumb_nbody_check check = {&checked, positions, out, n, 0};
            gpumb_set_output(w.g, out);
            gpumb_set_verify(w.g, gpumb_check_nbody, &check);
            GPUMB_MEASURE(w.g, "n-body") {
                gpumb_nbody_accelerations(w.g, &how, n, gpumb_data(positions), gpumb_data(out),
                                          workspace);
            }
            const gpumb_result *row = gpumb_last_result(w.g);
            bool good = CHECK_INT(row->status, broken ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
            good = CHECK_INT(row->verified, !broken) && good;
            good = CHECK((row->reason[0] != 0) == broken) && good;
            if (!good) {
                describe(how, n);
                printf("    %s\n", row->reason);
            }
        }
        gpumb_free(w.g, workspace);
    }
    gpumb_free(w.g, positions);
    gpumb_free(w.g, out);
}

// ---- arguments that no kernel takes ----

// Positions, velocities and accelerations in one buffer.
struct refusal {
    workplace w;
    uint64_t n;
    bodies before; // positions and velocities
    gpumb_buffer *memory, *a, *workspace;
};

// Both functions refuse, and leave what is there alone. Steps that move before they look could not
// even be tried with more bodies than there are: those come last.
static void expect_refusal(const refusal &f, const gpumb_nbody &how, uint64_t n,
                           gpumb_buffer *workspace, const char *word)
{
    static bool looks_first = true;
    gpumb *g = f.w.g;
    body *const r = GPUMB_PTR(body, f.memory), *v = r + f.n, *a = v + f.n;
    gpumb_poison(g, f.a);
    bool good = CHECK(refused(gpumb_nbody_accelerations(g, &how, n, r, a, workspace), word));
    if (n > f.n && !CHECK(looks_first))
        return;
    good = CHECK(refused(gpumb_nbody_steps(g, &how, n, 2, 0.1f, r, v, a, workspace), word)) && good;
    const bodies after = download(g, f.memory, 3 * f.n);
    good = CHECK(all_poison(&after[2 * f.n], f.n * sizeof(body))) && good;
    const bool still = memcmp(after.data(), f.before.data(), 2 * f.n * sizeof(body)) == 0;
    looks_first = looks_first && still;
    good = CHECK(still) && good;
    if (!still)
        CHECK_INT(gpumb_write(g, f.memory, 0, f.before.data(), 2 * f.n * sizeof(body)), 0);
    if (!good)
        describe(how, n);
}

static void test_refusals(const workplace &w)
{
    const bodies all = make_system(UNIFORM, 200);
    gpumb_nbody most = plain_form(1, 1, GPUMB_RSQRT_LIBRARY);
    most.splits = 64;
    bodies before = all, image;
    append(before, rest(all.size()));
    image = before;
    append(image, poison_of(all.size()));
    gpumb_buffer *memory = upload(w.g, image);
    const refusal f = {
        w,
        all.size(),
        before,
        memory,
        gpumb_wrap(w.g, GPUMB_PTR(body, memory) + 2 * all.size(), all.size() * sizeof(body)),
        gpumb_nbody_workspace(w.g, &most, all.size())};

    for (int change = 0; change < 4; change++) { // forms that are not there
        gpumb_nbody how = plain_form(4, 4, GPUMB_RSQRT_APPROXIMATE);
        how.bodies = change == 0 ? 3 : how.bodies;
        how.unroll = change == 1 ? 16 : how.unroll;
        how.rsqrt = change == 2 ? GPUMB_RSQRT_LIBRARY : how.rsqrt;
        how.bodies = change == 3 ? 0 : how.bodies;
        expect_refusal(f, how, f.n, f.workspace, "GPUMB_NBODY_FORMS");
    }
    expect_refusal(f, pairs_form(2, 2), f.n, f.workspace, "GPUMB_NBODY_PAIRS");
    expect_refusal(f, pairs_form(4, 4), f.n, f.workspace, "GPUMB_NBODY_PAIRS");

    for (gpumb_nbody how : some_forms()) {
        const gpumb_nbody good = how;
        for (int block : {-32, 16, 31, 1025, 2048}) {
            how.block = block;
            expect_refusal(f, how, f.n, f.workspace, "block");
        }
        how = good;
        for (int splits : {-1, 65, 1000}) {
            how.splits = splits;
            if (!how.pairs)
                expect_refusal(f, how, f.n, f.workspace, "splits");
        }
        how = good;
        for (float softening : {0.0f, -0.1f, NAN}) {
            how.softening = softening;
            expect_refusal(f, how, f.n, f.workspace, "softening");
        }
        how = good;
        if (how.unroll > 1) {
            how.block = 64 + how.unroll / 2;
            expect_refusal(f, how, f.n, f.workspace, how.pairs ? "block" : "unroll");
        }
        for (int lanes : {16, w.warp / 2}) { // beyond a whole warp
            how.block = w.warp + lanes;
            if (how.pairs)
                expect_refusal(f, how, f.n, f.workspace, "block");
        }
        how = good;
        how.block = 64;
        how.splits = 3;
        if (!how.pairs) {
            expect_refusal(f, how, f.n, NULL, "workspace");
            gpumb_buffer *workspace = gpumb_nbody_workspace(w.g, &how, f.n);
            gpumb_buffer *small = gpumb_alloc(w.g, gpumb_size(workspace) / 2);
            expect_refusal(f, how, f.n, small, "workspace");
            gpumb_free(w.g, workspace);
            gpumb_free(w.g, small);
        }
    }
    for (const gpumb_nbody &how : some_forms()) {
        expect_refusal(f, how, 1ull << 31, f.workspace, "n");
        expect_refusal(f, how, 1ull << 62, f.workspace, "n");
    }
    gpumb_free(w.g, f.a);
    gpumb_free(w.g, f.memory);
    gpumb_free(w.g, f.workspace);
}

// ---- all of it, in one context ----

int main()
{
    for (int warp : {32, 64}) {
        gpumb_cpu_set_warp_size(warp);
        gpumb *g = open_device("test_nbody");
        if (!g)
            return CHECK_SUMMARY();
        const gpumb_device *device = gpumb_get_device(g);
        const bool on_cpu = !strcmp(device->backend, "cpu");
        const workplace w = {g, on_cpu, on_cpu ? warp : device->warp_size};
        CHECK_INT(device->warp_size, w.warp);
        test_forms();
        test_accelerations(w);
        test_geometries(w);
        test_special(w);
        test_repeated(w);
        test_steps(w);
        test_order(w);
        test_circle(w);
        test_cloud(w);
        test_reversal(w);
        test_check_accepts(w);
        test_check_rejects(w);
        test_check_in_rows(w);
        test_refusals(w);
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED); // there are rows that have to fail
        if (!w.on_cpu)
            break;
    }
    return CHECK_SUMMARY();
}
