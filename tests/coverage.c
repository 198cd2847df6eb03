/* coverage.c - does gpumb.h keep what its statistics promise? Synthetic series with a fixed seed,
 * of known median, shape and ratio, are measured with the engine's stopping rule; without what the
 * engine adds to intervals on a GPU, since that is about devices. Ramps are measured by the whole
 * engine, on the scripted clock of fake.h.
 *
 *     coverage [SCALE [PARTS]]
 *
 * SCALE multiplies the repetitions (default 1: about ten minutes). PARTS selects some of v(alue),
 * k(ind), w(arm-up), r(atio), f(ile), d(evices), e(xpectation) and l(ine). Exit code 1 if a demand
 * is not met. Shares have a simulation error: one standard error is 0.6 % of 2000 repetitions at
 * 92 %, 1.2 % of 500; a figure close to a limit needs a larger SCALE. bench/results/coverage.txt
 * has the output, that of "coverage 5 d" is in coverage-devices.txt.
 *
 * It runs on the host alone and times nothing: one core, whatever the backend.
 */
#define GPUMB_IMPLEMENTATION
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#include "gpumb.h"

#include "bench/fit.h"
#include "fake.h"

/* ---- random numbers (splitmix64: Steele et al., OOPSLA 2014; Box & Muller 1958) -------------- */

static uint64_t random_state;

static double random_uniform(void) /* in (0, 1) */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static double random_normal(void)
{
    static double spare;
    static int has_spare;
    double radius, angle;
    if (has_spare) {
        has_spare = 0;
        return spare;
    }
    radius = sqrt(-2 * log(random_uniform()));
    angle = 6.283185307179586 * random_uniform();
    spare = radius * sin(angle);
    has_spare = 1;
    return radius * cos(angle);
}

/* ---- steady series: median 1, standard deviation sd ------------------------------------------ */

enum noise { NORMAL, LOG_NORMAL, AR_3, AR_6, AR_9, TIES, SPIKES, AR_97, NOISES };

static const char *const noise_names[] = {"normal",    "log-normal", "AR(1) 0.3",     "AR(1) 0.6",
                                          "AR(1) 0.9", "many ties",  "2 % spikes up", "AR(1) 0.97"};

static double noise_state; /* of AR(1) */

static int is_correlated(enum noise kind)
{
    return (kind >= AR_3 && kind <= AR_9) || kind == AR_97;
}

static double noise_next(enum noise kind, double sd, int first)
{
    static const double phis[NOISES] = {0, 0, 0.3, 0.6, 0.9, 0, 0, 0.97};
    const double phi = phis[kind], fresh = random_normal();
    noise_state = first ? fresh : phi * noise_state + sqrt(1 - phi * phi) * fresh;
    switch (kind) {
    case LOG_NORMAL:
        return exp(sqrt(log(1 + sd * sd)) * noise_state);
    case TIES: /* steps of 1.5 standard deviations, as by an event clock */
        return 1 + 1.5 * sd * floor(noise_state / 1.5 + 0.5);
    case SPIKES: /* 1 in 50 is 10 standard deviations and up to the whole time longer */
        /* the median of the rest and the spikes is where 0.5 / 0.98 of the rest are below */
        if (random_uniform() < 0.02)
            return 1 + sd * 10 + random_uniform();
        return 1 + sd * (noise_state - 0.0255861);
    default:
        return 1 + sd * noise_state;
    }
}

/* ---- demands --------------------------------------------------------------------------------- */

static int demands, met;

static const char *demand(int right)
{
    demands++;
    met += right;
    return right ? "ok" : "NOT MET";
}

enum { MOST = 10000 };
static double series[MOST], scratch[3 * MOST]; /* the room that gpumbi_summarize() wants */
static const double precision = 0.01;
static double scale = 1;

static int repetitions(int usual)
{
    const double wanted = usual * scale;
    return wanted < 100 ? 100 : (int)wanted;
}

static gpumb_stats stats_of(uint64_t count, int stopped)
{
    memcpy(scratch, series, (size_t)count * sizeof *series);
    gpumb_stats s = gpumbi_summarize(scratch, scratch + count, count, 0.95, stopped);
    gpumbi_widen_few(scratch, &s, GPUMBI_FEW_TIMES);
    return s;
}

/* Samples as the engine does. Returns the count. */
static uint64_t sample(enum noise kind, double sd, uint64_t most, gpumb_stats *s)
{
    uint64_t count = 0, look = most < 30 ? GPUMBI_FEW : 30;
    for (;;) {
        look = look < most ? look : most;
        for (; count < look; count++)
            series[count] = noise_next(kind, sd, count == 0);
        *s = stats_of(count, 1);
        if (gpumbi_half_width(s) <= precision)
            return count;
        if (count >= most) {
            *s = stats_of(count, 0);
            return count;
        }
        look = gpumbi_next_look(look);
    }
}

/* ---- coverage -------------------------------------------------------------------------------- */

static void coverage_of(enum noise kind, double sd, uint64_t most, int reps)
{
    int r, held = 0, flagged = 0;
    double samples = 0, effective = 0, width = 0;
    random_state = (uint64_t)kind * 1000 + (uint64_t)(sd * 10000) + most;
    for (r = 0; r < reps; r++) {
        gpumb_stats s;
        const uint64_t count = sample(kind, sd, most, &s);
        held += s.ci_lo <= 1 && 1 <= s.ci_hi;
        samples += (double)count / reps;
        effective += s.effective / reps;
        width += 100 * gpumbi_half_width(&s) / reps;
        flagged += gpumb_classify(series, count, precision) != GPUMB_SERIES_STEADY;
    }
    {
        const double share = 100.0 * held / reps;
        const int bounded = kind != TIES && most >= 30; /* ties make it wider, which is right */
        const int correlated = is_correlated(kind);
        const int asked = kind != AR_97 || most >= 30; /* else it has hardly begun to move */
        printf("%-14s %5.2f %%  %5llu %5d  %8.0f %8.0f  %6.2f %%  %6.1f %%  %s %-8s %6.1f %%",
               noise_names[kind], 100 * sd, (unsigned long long)most, reps, samples, effective,
               width, share, bounded ? correlated ? "92...99" : "92...98" : "92...  ",
               asked ? demand(share >= 92 && (share <= 98 + correlated || !bounded)) : "none",
               100.0 * flagged / reps);
        /* in fewer samples such noise can't be told from a drift */
        if (most < (kind == AR_97 ? 1001u : kind == AR_9 ? 300u : kind == AR_6 ? 100u : 30u))
            printf("  none\n");
        else
            printf("  <=5 %s\n", demand(flagged <= 0.05 * reps));
    }
    fflush(stdout);
}

static void coverage(void)
{
    static const double sds[] = {0.001, 0.005, 0.02, 0.05, 0.2};
    static const uint64_t budgets[] = {30, 50, 100, 300, 1000}, few[] = {6, 8, 12, 16, 20, 24, 29};
    int kind;
    size_t a;
    printf(
        "COVERAGE of the 95 %% interval of the median, stopping at a half-width of 1 %%; and how "
        "many series\nare not classified as steady\n\n"
        "series            sd     most  reps   samples  effective  width  coverage  demand"
        "            flagged\n");
    for (kind = 0; kind < NOISES; kind++)
        for (a = 0; a < sizeof sds / sizeof sds[0]; a++)
            coverage_of((enum noise)kind, sds[a], MOST, repetitions(sds[a] > 0.1 ? 500 : 2000));
    printf("\nThe same out of budget after few samples\n\n");
    for (kind = 0; kind < NOISES; kind++)
        for (a = 0; is_correlated((enum noise)kind) && a < sizeof budgets / sizeof budgets[0]; a++)
            coverage_of((enum noise)kind, 0.05, budgets[a], repetitions(2000));
    printf("\nSlow kernels, of which the budget holds fewer than 30: looked at from 8 on\n\n");
    for (kind = 0; kind < NOISES; kind++)
        for (a = 0; a < sizeof few / sizeof few[0]; a++)
            for (size_t b = 0; b < 4; b++)
                coverage_of((enum noise)kind, sds[b], few[a], repetitions(2000));
}

/* ---- outliers -------------------------------------------------------------------------------- */

/* Of AR(1) series of 2 %, a fixed number of samples with one at 1.2 ... 2.2, anywhere: how often
 * the interval holds the median, and how much wider it is than without that one. */
static void outliers(void)
{
    static const uint64_t counts[] = {8, 16, 20, 30, 46, 75, 300};
    static const double phis[] = {0, 0.6, 0.9, 0.97};
    printf(
        "\nONE OUTLIER, 20 ... 120 %% more, in a fixed number of samples; half of the width in the "
        "mean, and without it\n\n"
        "series       samples  reps   holds  without  demand        width  without  demand\n");
    for (size_t p = 0; p < sizeof phis / sizeof phis[0]; p++)
        for (size_t a = 0; a < sizeof counts / sizeof counts[0]; a++) {
            const int reps = repetitions(2000);
            const uint64_t count = counts[a];
            int held[2] = {0, 0};
            double width[2] = {0, 0};
            random_state = p * 100 + a + 4000;
            for (int r = 0; r < reps; r++) {
                double state = random_normal();
                const uint64_t where = (uint64_t)((double)count * random_uniform());
                for (uint64_t i = 0; i < count; i++) {
                    state = phis[p] * state + sqrt(1 - phis[p] * phis[p]) * random_normal();
                    series[i] = 1 + 0.02 * state;
                }
                for (int far = 0; far < 2; far++) {
                    series[where] += far * (0.2 + random_uniform());
                    const gpumb_stats s = stats_of(count, 0);
                    held[far] += s.ci_lo <= 1 && 1 <= s.ci_hi;
                    width[far] += 100 * gpumbi_half_width(&s) / reps;
                }
            }
            printf("AR(1) %.2f   %7d %5d  %5.1f %%  %5.1f %%", phis[p], (int)count, reps,
                   100.0 * held[1] / reps, 100.0 * held[0] / reps);
            const int asked = phis[p] < 0.95 || count >= 30; /* as above */
            printf("  >=92 %-8s %6.2f %%  %5.2f %%",
                   asked ? demand(held[1] >= 0.92 * reps) : "none", width[1], width[0]);
            if (count < 20) /* one of these may be what the others have not seen yet */
                printf("  none\n");
            else
                printf("  <=2.5 times %s\n", demand(width[1] <= 2.5 * width[0]));
            fflush(stdout);
        }
}

/* ---- what comes back every second, third or fourth time -------------------------------------- */

/* Median 1; `turns` AR(1) series take turns, and so do the levels of a pattern. */
static const struct {
    const char *name;
    double phi, sd;
    int turns, period;
    double pattern[6];
} periodic[] = {
    {"+-5 % on AR(1) 0.9 of 5 %", 0.9, 0.05, 1, 2, {0.05, -0.05}},
    {"+-2 % on AR(1) 0.9 of 2 %", 0.9, 0.02, 1, 2, {0.02, -0.02}},
    {"+-4 % on AR(1) 0.9 of 2 %", 0.9, 0.02, 1, 2, {0.04, -0.04}},
    {"+-3 % on AR(1) 0.6 of 3 %", 0.6, 0.03, 1, 2, {0.03, -0.03}},
    {"+-2 % on normal of 5 %", 0, 0.05, 1, 2, {0.02, -0.02}},
    {"even, odd: AR(1) 0.9 of 5 %", 0.9, 0.05, 2, 1, {0}},
    {"even, odd: AR(1) 0.9 of 2 %", 0.9, 0.02, 2, 1, {0}},
    {"even, odd: AR(1) 0.7 of 2 %", 0.7, 0.02, 2, 1, {0}},
    {"+5, -5, 0 % on AR(1) 0.9 of 5 %", 0.9, 0.05, 1, 3, {0.05, -0.05, 0}},
    {"+5, -5, -5, +5 %, the same", 0.9, 0.05, 1, 4, {0.05, -0.05, -0.05, 0.05}},
    {"+2, -2, 0 % on AR(1) 0.97 of 1 %", 0.97, 0.01, 1, 3, {0.02, -0.02, 0}},
    {"sine of 2 %, period 6, the same", 0.97, 0.01, 1, 6, {0.01, 0.02, 0.01, -0.01, -0.02, -0.01}},
    /* the median lies where 2/3 of the others are below */
    {"1 in 4: +3 % on 0.9 of 0.3 %", 0.9, 0.003, 1, 4, {0.03, -0.00129, -0.00129, -0.00129}},
    {"1 in 4: +50 % on 0.97 of 1 %", 0.97, 0.01, 1, 4, {0.5, -0.00431, -0.00431, -0.00431}},
};

static void periods(void)
{
    static const uint64_t budgets[] = {75, 300, MOST};
    size_t k, a;
    printf("\nSERIES WITH A PERIOD, stopping as above\n\n"
           "series                           most  reps   samples   width  coverage  demand\n");
    for (k = 0; k < sizeof periodic / sizeof periodic[0]; k++)
        for (a = 0; a < sizeof budgets / sizeof budgets[0]; a++) {
            const int white = periodic[k].phi <= 0;
            /* 75 white values come close to the upper limit */
            const int close = white && budgets[a] <= 75;
            const int reps = repetitions(close ? 10000 : budgets[a] > 1000 ? 200 : 1000);
            /* patterns of three and four can't be told from chance in so few */
            const int asked = periodic[k].period < 3 || budgets[a] > 75;
            int r, held = 0;
            double samples = 0, width = 0;
            random_state = k * 1000 + budgets[a];
            for (r = 0; r < reps; r++) {
                double state[2] = {0, 0};
                uint64_t count = 0, look = 30;
                gpumb_stats s;
                for (;;) {
                    look = look < budgets[a] ? look : budgets[a];
                    for (; count < look; count++) {
                        double *now = &state[count % (uint64_t)periodic[k].turns];
                        const double phi =
                            count < (uint64_t)periodic[k].turns ? 0 : periodic[k].phi;
                        *now = phi * *now + sqrt(1 - phi * phi) * random_normal();
                        series[count] =
                            1 + periodic[k].sd * *now +
                            periodic[k]
                                .pattern[(count + (uint64_t)r) % (uint64_t)periodic[k].period];
                    }
                    s = stats_of(count, count < budgets[a]);
                    if (gpumbi_half_width(&s) <= precision || count >= budgets[a])
                        break;
                    look = gpumbi_next_look(look);
                }
                held += s.ci_lo <= 1 && 1 <= s.ci_hi;
                samples += (double)count / reps;
                width += 100 * gpumbi_half_width(&s) / reps;
            }
            printf("%-31s %5llu %5d  %8.0f  %5.2f %%  %6.1f %%  %s\n", periodic[k].name,
                   (unsigned long long)budgets[a], reps, samples, width, 100.0 * held / reps,
                   !asked  ? "none"
                   : white ? demand(held >= 0.92 * reps && held <= 0.98 * reps)
                           : demand(held >= 0.92 * reps));
            fflush(stdout);
        }
}

/* ---- classes --------------------------------------------------------------------------------- */

enum shape {
    FLAT,
    STEP_DOWN,
    STEP_UP,
    EARLY_STEP,
    RAMP_TO_LEVEL,
    RAMP_UP_TO_LEVEL,
    EXPONENTIAL,
    RISING_EXPONENTIAL,
    DRIFT_UP,
    DRIFT_DOWN,
    CYCLE_2,
    CYCLE_7,
    CYCLE_20,
    TO_AND_FRO,
    LATE_STEP,
    SAW_20,
    SAW_3,
    LEVELS_MIXED,
    LEVELS_RUNS,
    LEVELS_SQUARE,
    SHAPES,
    DWELL
};

static const struct {
    const char *name;
    gpumb_series expected;
} shapes[SHAPES] = {
    {"flat", GPUMB_SERIES_STEADY},
    {"step down at 50 %", GPUMB_SERIES_WARMING_UP},
    {"step up at 50 %", GPUMB_SERIES_SLOWING_DOWN},
    {"step down at 20 %", GPUMB_SERIES_WARMING_UP},
    {"ramp down to 40 %, then level", GPUMB_SERIES_WARMING_UP},
    {"ramp up to 40 %, then level", GPUMB_SERIES_SLOWING_DOWN},
    {"falling exponential, length/8", GPUMB_SERIES_WARMING_UP},
    {"rising exponential, length/8", GPUMB_SERIES_SLOWING_DOWN},
    {"drift up to the end", GPUMB_SERIES_UNSTEADY},
    {"drift down to the end", GPUMB_SERIES_UNSTEADY},
    {"sine, period length/2", GPUMB_SERIES_UNSTEADY},
    {"sine, period length/7", GPUMB_SERIES_UNSTEADY},
    {"sine, period 20", GPUMB_SERIES_UNSTEADY},
    {"4 steps to and fro", GPUMB_SERIES_UNSTEADY},
    {"step up at 80 %", GPUMB_SERIES_UNSTEADY},
    {"saw, period 20", GPUMB_SERIES_UNSTEADY},
    {"saw, period length/3", GPUMB_SERIES_UNSTEADY},
    {"two levels, drawn 70 : 30", GPUMB_SERIES_TWO_LEVELS},
    {"two levels, mean stay 10", GPUMB_SERIES_TWO_LEVELS},
    {"two levels, square, period 20", GPUMB_SERIES_TWO_LEVELS},
};

/* The shape's level at sample i of n, 0 ... 1. */
static double shape_at(enum shape kind, uint64_t i, uint64_t n, double phase, int *level)
{
    const double t = ((double)i + 0.5) / (double)n, turn = 6.283185307179586;
    switch (kind) {
    case STEP_DOWN:
        return t < 0.5;
    case STEP_UP:
        return t >= 0.5;
    case EARLY_STEP:
        return t < 0.2;
    case RAMP_TO_LEVEL:
        return t < 0.4 ? 1 - t / 0.4 : 0;
    case RAMP_UP_TO_LEVEL:
        return t < 0.4 ? t / 0.4 : 1;
    case EXPONENTIAL:
        return exp(-8 * t);
    case RISING_EXPONENTIAL:
        return 1 - exp(-8 * t);
    case DRIFT_UP:
        return t;
    case DRIFT_DOWN:
        return 1 - t;
    case CYCLE_2:
        return 0.5 + 0.5 * sin(turn * (2 * t + phase));
    case CYCLE_7:
        return 0.5 + 0.5 * sin(turn * (7 * t + phase));
    case CYCLE_20:
        return 0.5 + 0.5 * sin(turn * ((double)i / 20 + phase));
    case TO_AND_FRO:
        return (int)(5 * t) % 2;
    case LATE_STEP:
        return t >= 0.8;
    case SAW_20:
        return fmod((double)i / 20 + phase, 1);
    case SAW_3:
        return fmod(3 * t + phase, 1);
    case DWELL: /* from anywhere on, a fifth of the length */
        return fmod(t + phase, 1) < 0.2;
    case LEVELS_MIXED:
        return random_uniform() < 0.3;
    case LEVELS_RUNS:
        if (random_uniform() < 0.1)
            *level = !*level;
        return *level;
    case LEVELS_SQUARE:
        return (double)((i / 10) % 2);
    default:
        return 0;
    }
}

static void class_of(enum shape kind, uint64_t n, double amplitude, double sd, int reps)
{
    int r, seen[5] = {0};
    random_state = (uint64_t)kind * 1000 + n;
    for (r = 0; r < reps; r++) {
        const double phase = random_uniform();
        int level = 0;
        uint64_t i;
        for (i = 0; i < n; i++)
            series[i] = 1 + amplitude * shape_at(kind, i, n, phase, &level) + sd * random_normal();
        seen[gpumb_classify(series, n, precision)]++;
    }
    {
        const double right = 100.0 * seen[shapes[kind].expected] / reps;
        const double flagged = 100 - 100.0 * seen[GPUMB_SERIES_STEADY] / reps;
        printf("%-30s %5llu  %5.1f %%  %5.1f  %5d %5d %5d %5d %5d  %6.1f %%  >=95 %-8s",
               shapes[kind].name, (unsigned long long)n, 100 * amplitude, amplitude / sd, seen[0],
               seen[1], seen[2], seen[3], seen[4], right, demand(right >= 95));
        if (kind == FLAT)
            printf("  flagged %5.1f %%  <=5 %s\n", flagged, demand(flagged <= 5));
        else
            printf("  flagged %5.1f %% >=95 %s\n", flagged, demand(flagged >= 95));
    }
    fflush(stdout);
}

static void classes(void)
{
    static const struct {
        uint64_t n;
        double per_sd; /* amplitude over the noise */
    } cases[] = {{75, 12}, {100, 10}, {300, 8}, {1000, 6}, {10000, 6}};
    int kind;
    size_t a;
    printf(
        "\nCLASSES at a precision of 1 %%, in normal noise of 1 %%. Demanded of each shape below: "
        "called by its\nname, and called anything but steady, in 95 %% of all series, if its "
        "height is\n\n"
        "    12 standard deviations of the noise in   75 values (two levels in runs: from 300 "
        "values on)\n"
        "    10                                      100\n"
        "     8                                      300\n"
        "     6                                     1000 and more\n\n"
        "Not demanded: fewer values; lower heights; what is below the precision, which is steady "
        "by definition.\nAutocorrelated noise can't be told from a drift in fewer values than the "
        "table above demands: 100\nfor AR(1) 0.6, 300 for AR(1) 0.9.\n\n"
        "shape                          length  height  /noise steady  warm  slow  two unsteady "
        "right   demand\n");
    for (kind = 0; kind < SHAPES; kind++)
        for (a = 0; a < sizeof cases / sizeof cases[0]; a++) {
            if (kind >= LEVELS_RUNS && cases[a].n < 300) /* visited again and again */
                continue;
            if (cases[a].n < 100 && (kind == SAW_20 || kind == SAW_3))
                continue;
            class_of((enum shape)kind, cases[a].n, kind == FLAT ? 0 : 0.01 * cases[a].per_sd, 0.01,
                     repetitions(cases[a].n > 1000 ? 100 : 400));
        }
}

/* ---- few values, heavy tails ----------------------------------------------------------------- */

static double tail_next(int kind)
{
    const double u = random_uniform(), turn = 3.141592653589793;
    switch (kind) {
    case 0: /* Pareto 1.5 */
        return pow(u, -1 / 1.5);
    case 1: /* Pareto 3 */
        return pow(u, -1 / 3.0);
    case 2: /* log-normal, sigma 1 */
        return exp(random_normal());
    case 3: /* Cauchy */
        return fabs(100 + tan(turn * (u - 0.5)));
    case 4: /* exponential */
        return 1 - 0.05 * log(u);
    default: /* chi squared */
        return 1 + 0.1 * pow(random_normal(), 2);
    }
}

static void few_values(void)
{
    static const char *const names[] = {"Pareto 1.5", "Pareto 3",    "log-normal 1",
                                        "Cauchy",     "exponential", "chi squared"};
    static const uint64_t lengths[] = {30, 46, 70, 106, 300, 1000};
    static const enum shape early[] = {STEP_DOWN, EARLY_STEP, LATE_STEP, DWELL, LEVELS_MIXED};
    static const char *const early_names[] = {"step at 50 %", "step at 20 %", "step at 80 %",
                                              "dwell of 20 %", "drawn 70 : 30"};
    const int reps = repetitions(1000);
    printf("\nFEW VALUES: 30, with shapes of 12 %% in noise of 1 %%, called anything but steady; "
           "and independent\nvalues with heavy tails, called two levels, called anything but "
           "steady\n\n");
    for (size_t k = 0; k < sizeof early / sizeof early[0]; k++) {
        int flagged = 0;
        random_state = k + 900;
        for (int r = 0; r < reps; r++) {
            const double phase = random_uniform();
            int level = 0;
            for (uint64_t i = 0; i < 30; i++)
                series[i] =
                    1 + 0.12 * shape_at(early[k], i, 30, phase, &level) + 0.01 * random_normal();
            flagged += gpumb_classify(series, 30, precision) != GPUMB_SERIES_STEADY;
        }
        printf("%-14s %5d  flagged %5.1f %%  >=95 %s\n", early_names[k], 30, 100.0 * flagged / reps,
               demand(flagged >= 0.95 * reps));
    }
    for (int k = 0; k < 6; k++)
        for (size_t a = 0; a < sizeof lengths / sizeof lengths[0]; a++) {
            int levels = 0, flagged = 0;
            random_state = (uint64_t)k * 100 + a + 700;
            for (int r = 0; r < reps; r++) {
                for (uint64_t i = 0; i < lengths[a]; i++)
                    series[i] = tail_next(k);
                const gpumb_series class_ = gpumb_classify(series, lengths[a], precision);
                levels += class_ == GPUMB_SERIES_TWO_LEVELS;
                flagged += class_ != GPUMB_SERIES_STEADY;
            }
            printf("%-14s %5d  two levels %4.1f %%  <=5 %-8s flagged %4.1f %%  <=5 %s\n", names[k],
                   (int)lengths[a], 100.0 * levels / reps, demand(levels <= 0.05 * reps),
                   100.0 * flagged / reps, demand(flagged <= 0.05 * reps));
        }
    fflush(stdout);
}

/* ---- ramps ----------------------------------------------------------------------------------- */

/* What a run takes falls (height > 0) or rises to 1, in independent or AR(1) noise. */
static struct {
    double height, seconds, sd, phi, state;
    int is_linear;
} ramp;

static double ramp_at(double t)
{
    const double left = ramp.is_linear ? fmax(0, 1 - t / ramp.seconds) : exp(-t / ramp.seconds);
    return 1 + ramp.height * left;
}

static double ramp_now(void)
{
    ramp.state = ramp.phi * ramp.state + sqrt(1 - ramp.phi * ramp.phi) * random_normal();
    return ramp_at(fmax(fake_now, fake_busy) - 100) * (1 + ramp.sd * ramp.state);
}

/* Also when its samples began, and all was done. */
static gpumb_result ramp_result(gpumb *g, double run_s, double *began_s, double *done_s)
{
    gpumb_result r;
    fake_now = fake_busy = 100;
    fake_pace = ramp_now; /* of graphs */
    ramp.state = random_normal();
    gpumb_set_timing(g, run_s < 0.5e-3 ? GPUMB_TIMING_GRAPH : GPUMB_TIMING_AUTO);
    GPUMB_TIME(&r) {
        fake_run(fake_capturing ? run_s : run_s * ramp_now());
    }
    *began_s = g->region.single.samples.began_s - 100;
    *done_s = fake_now - 100;
    return r;
}

/* How often the best test finds this ramp that takes steady series for settled after so many
 * seconds in the mean: it knows the shape and the noise, not the direction, sees all runs, and
 * stops once the ramp is so many times less likely than none, or 100 times more (Wald & Wolfowitz,
 * Ann. Math. Stat. 19, 1948). The projection on the shape is a Brownian motion whose time are the
 * squares of the shape less its mean, over the noise's; looked at every 5 ms. */
static double ramp_found_at_best(double run_s, double seconds)
{
    enum { LOOKS = 200, REPS = 1000 };
    static double evidence[2][REPS][LOOKS];
    const double log_100 = 4.60517, log_2 = 0.693147;
    double time[LOOKS], brownian_time[LOOKS];
    double mean = 0, squares = 0, least = 0, most = 10, found = 0;
    int looks = 0;
    for (int i = 0; looks < LOOKS && i * run_s < 1; i++) {
        const double off = ramp_at(i * run_s) - mean; /* Welford's update */
        mean += off / (i + 1);
        squares += off * (ramp_at(i * run_s) - mean);
        if ((i + 1) * run_s >= 5e-3 * (looks + 1)) {
            brownian_time[looks] = squares / (ramp.sd * ramp.sd);
            time[looks++] = (i + 1) * run_s;
        }
    }
    for (int is_ramp = 0; is_ramp < 2; is_ramp++)
        for (int r = 0; r < REPS; r++) {
            double at = 0, before = 0;
            for (int k = 0; k < looks; k++) {
                const double now = brownian_time[k];
                at += is_ramp * (now - before) + sqrt(now - before) * random_normal();
                before = now;
                evidence[is_ramp][r][k] = fabs(at) + log1p(exp(-2 * fabs(at))) - log_2 - now / 2;
            }
        }
    for (int pass = 0; pass < 20; pass++) { /* by bisection */
        const double doubt = (least + most) / 2;
        double spent = 0;
        found = 0;
        for (int is_ramp = 0; is_ramp < 2; is_ramp++)
            for (int r = 0; r < REPS; r++) {
                const double *const e = evidence[is_ramp][r];
                int k = 0;
                while (k + 1 < looks && e[k] >= -doubt && e[k] <= log_100)
                    k++;
                if (is_ramp)
                    found += (e[k] > log_100) / (double)REPS;
                else
                    spent += time[k] / REPS;
            }
        *(spent > seconds ? &most : &least) = doubt;
    }
    return found;
}

static void ramps(void)
{
    static const double kernels[] = {100e-6, 700e-6, 10e-3}, sds[] = {0.001, 0.0025, 0.005};
    static const double cases[][2] = {{0.02, 0.1}, {0.02, 0.5}, {0.05, 0.1}, {0.05, 0.5}, {0.05, 1},
                                      {0.05, 2},   {0.1, 0.5},  {0.1, 2},    {0.3, 0.1},  {0.3, 2}};
    const unsigned shown = GPUMB_FLAG_UNSETTLED | GPUMB_FLAG_WARMING_UP | GPUMB_FLAG_SLOWING_DOWN |
                           GPUMB_FLAG_UNSTEADY;
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    fake_reset();
    gpumb *g = gpumb_open_settings("ramps", &settings);
    g->outcome.warmed = 1;
    printf(
        "\nRAMPS, falling and rising in equal parts: reported within the precision of 1 %% of the "
        "settled value,\nor flagged. Wanted in 90 %%, or in 0.6 of what the best test finds, if "
        "that is less than 98 %%: it\nknows shape and noise, and takes the time that steady series "
        "take in the mean, with 1 %% of false\nalarms. Steady series begin with their samples at "
        "most 30 ms after three windows of 20 ms (of 30 ms\nfor runs of 10 ms)\n\n");
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        for (size_t a = 0; a < sizeof sds / sizeof sds[0]; a++) {
            const double most_s = 30e-3 + fmax(60e-3, 9 * kernels[k]);
            double began = 0, done = 0, settled = 0, began_s, done_s;
            ramp.height = 0;
            ramp.seconds = 1;
            ramp.sd = sds[a];
            random_state = k * 100 + a;
            for (int correlated = 1; correlated >= 0; correlated--) {
                const int reps = repetitions(500);
                int flagged = 0;
                ramp.phi = correlated * 0.6;
                began = done = settled = 0;
                for (int r = 0; r < reps; r++) {
                    const gpumb_result result = ramp_result(g, kernels[k], &began_s, &done_s);
                    flagged += (result.flags & GPUMB_FLAG_UNSETTLED) != 0;
                    began += began_s / reps;
                    done += done_s / reps;
                    settled += result.time.median / reps;
                }
                printf("runs of %5g us  noise %.2f %%, %-9s %5d  samples from %5.1f ms  ",
                       kernels[k] * 1e6, 100 * sds[a], correlated ? "AR(1) 0.6" : "normal", reps,
                       1e3 * began);
                if (correlated)
                    printf("             ");
                else
                    printf("<=%3.0f %-8s", 1e3 * most_s, demand(began <= most_s));
                printf("flagged %4.1f %%  <=1 %s\n", 100.0 * flagged / reps,
                       demand(flagged <= 0.01 * reps));
            }
            for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
                for (ramp.is_linear = 0; ramp.is_linear < 2; ramp.is_linear++) {
                    const int reps = repetitions(100);
                    int right = 0;
                    ramp.seconds = cases[c][1];
                    for (int r = 0; r < reps; r++) {
                        ramp.height = r % 2 ? -cases[c][0] : cases[c][0];
                        const gpumb_result result = ramp_result(g, kernels[k], &began_s, &done_s);
                        right += fabs(result.time.median / settled - 1) <= precision ||
                                 (result.flags & shown);
                    }
                    /* samples of graphs are few beside the runs before them */
                    const double found =
                        ramp_found_at_best(kernels[k], kernels[k] < 0.5e-3 ? began : done);
                    printf(
                        "  %4.0f %%, %-11s %3.1f s  %5d  right or flagged %5.1f %%  at best %5.1f "
                        "%%  %s\n",
                        100 * cases[c][0], ramp.is_linear ? "linear" : "exponential", ramp.seconds,
                        reps, 100.0 * right / reps, 100 * found,
                        demand(right >= (found < 0.98 ? 0.6 * found : 0.9) * reps));
                    fflush(stdout);
                }
        }
    gpumb_close(g);
}

/* ---- levels that outlast the samples --------------------------------------------------------- */

/* Two levels of a device that it stays in for times of an exponential distribution. */
static struct {
    double next_s, stay_s;
    int upper, changes;
} level;

static double level_now(void)
{
    const double now_s = fmax(fake_now, fake_busy);
    for (; now_s >= level.next_s; level.next_s -= level.stay_s * log(random_uniform())) {
        level.upper = !level.upper;
        level.changes++;
    }
    return (level.upper ? 1.03 : 1) * (1 + 0.002 * random_normal());
}

/* Of rows that never see the other level no statistics can tell: how long is sampled decides. */
static void levels(void)
{
    static const double least[] = {-1, 0.1, 0.2}, stays[] = {20e-3, 50e-3};
    printf("\nLEVELS 3 %% apart, runs of 1 ms: rows that lie wholly in one level, and say nothing: "
           "not more than\nhave no change by chance in the shortest time that any of them "
           "samples\n\n");
    for (size_t a = 0; a < sizeof stays / sizeof stays[0]; a++)
        for (size_t k = 0; k < sizeof least / sizeof least[0]; k++) {
            const int reps = repetitions(400);
            int silent = 0;
            double shortest_s = HUGE_VAL;
            gpumb_settings settings = gpumb_settings_default();
            settings.quiet = 1;
            settings.least_s = least[k];
            fake_reset();
            random_state = 10 * a + k;
            gpumb *g = gpumb_open_settings("levels", &settings);
            g->outcome.warmed = 1;
            fake_pace = level_now;
            for (int r = 0; r < reps; r++) {
                gpumb_result result;
                int before = 0;
                fake_now = fake_busy = 100;
                level.stay_s = stays[a];
                level.next_s = 100;
                level.changes = 0;
                gpumb_set_timing(g, GPUMB_TIMING_EVENT);
                GPUMB_TIME(&result) {
                    if (!g->region.single.samples.count)
                        before = level.changes;
                    fake_run(1e-3 * level_now());
                }
                silent += level.changes == before &&
                          (result.flags | GPUMB_FLAG_UNVERIFIED) == GPUMB_FLAG_UNVERIFIED;
                shortest_s = fmin(shortest_s, result.sampled_s);
            }
            gpumb_close(g);
            const double chance = exp(-shortest_s / stays[a]);
            const double most = chance + 3 * sqrt(chance * (1 - chance) / reps) + 0.01;
            printf("stay %2.0f ms  least %4.0f ms %5d  wholly in one %5.1f %%  by chance %5.1f %%  "
                   "%s\n",
                   1e3 * stays[a], 1e3 * fmax(least[k], 0), reps, 100.0 * silent / reps,
                   100 * chance, demand(silent <= most * reps));
            fflush(stdout);
        }
}

/* ---- the first region of a process ----------------------------------------------------------- */

static int climb_kind;

static double climb_now(void)
{
    const double t = fmax(fake_now, fake_busy) - 100;
    const double height = climb_kind == 0   ? (t < 0.2 ? 0.05 : 0)
                          : climb_kind == 1 ? (t < 0.2 ? -0.05 : 0)
                                            : 0.05 / (1 + exp((t - 0.35) / 0.03));
    return (1 + height) * (1 + 0.002 * random_normal());
}

static void first_regions(void)
{
    static const char *const names[] = {"falls by 5 % after 0.2 s", "rises by 5 % after 0.2 s",
                                        "an S that ends at 0.5 s"};
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    fake_reset();
    gpumb *g = gpumb_open_settings("first", &settings);
    fake_pace = climb_now;
    printf(
        "\nTHE FIRST REGION of a process, clocks that climb late: more than 1 %% off the settled "
        "value, unflagged\n\n");
    for (climb_kind = 0; climb_kind < 3; climb_kind++)
        for (int first = 0; first < 2; first++) {
            const int reps = repetitions(200);
            int missed = 0;
            random_state = 7 + (uint64_t)climb_kind;
            for (int r = 0; r < reps; r++) {
                gpumb_result result;
                fake_now = fake_busy = 100;
                g->outcome.warmed = !first;
                gpumbi_warmed_device = 0;
                gpumb_set_timing(g, GPUMB_TIMING_EVENT);
                GPUMB_TIME(&result) {
                    fake_run(1e-3 * climb_now());
                }
                missed += fabs(result.time.median / 1e-3 - 1) > precision &&
                          !(result.flags & (GPUMB_FLAG_UNSETTLED | GPUMB_FLAG_WARMING_UP |
                                            GPUMB_FLAG_SLOWING_DOWN | GPUMB_FLAG_UNSTEADY));
            }
            printf("%-26s %-8s %5d  missed %5.1f %%", names[climb_kind],
                   first ? "first" : "a later", reps, 100.0 * missed / reps);
            printf(first ? "  <=1 %s\n" : "\n", first ? demand(missed <= 0.01 * reps) : "");
            fflush(stdout);
        }
    gpumb_close(g);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* Times of two regions in rounds, the order alternating, under a load that comes and goes. */
static gpumb_comparison compare(double ratio, enum noise kind, double sd, double load, double stay,
                                double delta, int comparisons, uint64_t look, uint64_t most)
{
    static double base[MOST], state[2];
    uint64_t count = 0;
    int loaded = 0, i;
    for (;;) {
        gpumb_comparison c;
        look = look < most ? look : most;
        for (; count < look; count++) {
            double time[2];
            for (i = 0; i < 2; i++) {
                const int which = (i + (int)(count % 2)) % 2;
                noise_state = state[which];
                time[which] = noise_next(kind, sd, count == 0);
                state[which] = noise_state;
                if (random_uniform() < 0.5 / stay) /* between or within rounds */
                    loaded = !loaded;
                if (loaded)
                    time[which] *= 1 + load;
            }
            base[count] = time[0];
            series[count] = ratio * time[1];
        }
        c = gpumb_compare_rounds(base, series, count, delta, comparisons);
        if (gpumbi_decided(&c, delta) || count >= most)
            return c;
        look = gpumbi_next_look(look);
    }
}

static void comparisons(void)
{
    static const double sds[] = {0.002, 0.01, 0.03};
    static const enum noise kinds[] = {NORMAL, LOG_NORMAL, AR_6, AR_9, TIES, SPIKES};
    static const double ratios[] = {1, 1.005, 1.02, 0.98};
    static const double loads[] = {20, 200};
    const double delta = 0.01;
    size_t k, a, q;
    int r, i;
    printf(
        "\nCOMPARISONS in rounds, delta 1 %%, until decided or 3000 rounds (10000 for AR(1) 0.9 of "
        "3 %%)\n\n"
        "    faster, slower   all of the interval of the ratio is beyond 1 / 1.01 ... 1.01\n"
        "    same             all of it is within\n"
        "    undecided        else\n\n"
        "False alarms: faster or slower, of a code that is as fast, or differs by half of delta "
        "only. Found: a\ndifference of twice delta, called by its sign.\n\n"
        "noise          sd of each  ratio  comparisons   reps  rounds  faster slower  same undec."
        "  interval holds it  demand\n");
    for (k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (a = 0; a < sizeof sds / sizeof sds[0]; a++)
            for (q = 0; q < sizeof ratios / sizeof ratios[0]; q++) {
                const int reps = repetitions(sds[a] > 0.02 || kinds[k] == AR_9 ? 200 : 1000);
                /* such noise leaves too little for a tenth of the 5 %, even of all samples */
                const int noisy = kinds[k] == AR_9 && sds[a] > 0.02;
                const int family = q == 2 && !noisy ? 10 : 1;
                const uint64_t most = noisy ? MOST : 3000;
                int seen[4] = {0}, held = 0, right;
                double rounds = 0;
                random_state = k * 100 + a * 10 + q + 1;
                for (r = 0; r < reps; r++) {
                    const gpumb_comparison c =
                        compare(ratios[q], kinds[k], sds[a], 0, 1, delta, family, 30, most);
                    seen[c.verdict]++;
                    held += c.lo <= ratios[q] && ratios[q] <= c.hi;
                    rounds += (double)c.rounds / reps;
                }
                right = q < 2 ? seen[GPUMB_VERDICT_FASTER] + seen[GPUMB_VERDICT_SLOWER]
                              : seen[q == 2 ? GPUMB_VERDICT_SLOWER : GPUMB_VERDICT_FASTER];
                printf(
                    "%-14s %7.1f %%  %6.3f  %8d %9d  %6.0f  %5.1f  %5.1f  %5.1f  %5.1f  %10.1f %%  "
                    "     %s %s\n",
                    noise_names[kinds[k]], 100 * sds[a], ratios[q], family, reps, rounds,
                    100.0 * seen[1] / reps, 100.0 * seen[2] / reps, 100.0 * seen[3] / reps,
                    100.0 * seen[0] / reps, 100.0 * held / reps,
                    q < 2 ? "alarms <=5" : "found >=95",
                    demand(q < 2 ? right <= 0.05 * reps : right >= 0.95 * reps));
                fflush(stdout);
            }
    printf("\nFamilies of 10 comparisons of one code with itself: families with a false alarm; and "
           "with an\ninterval that misses 1 (what would be an alarm at delta 0)\n\n");
    for (k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const int reps = repetitions(kinds[k] == AR_9 ? 100 : 400);
        int alarms = 0, misses = 0;
        random_state = k + 77;
        for (r = 0; r < reps; r++) {
            int alarm = 0, miss = 0;
            for (i = 0; i < 10; i++) {
                const gpumb_comparison c = compare(1, kinds[k], 0.01, 0, 1, delta, 10, 30, 1000);
                alarm |= c.verdict == GPUMB_VERDICT_FASTER || c.verdict == GPUMB_VERDICT_SLOWER;
                miss |= c.lo > 1 || c.hi < 1;
            }
            alarms += alarm;
            misses += miss;
        }
        printf("%-14s  %5d  alarms %5.1f %%  <=5 %-8s misses %5.1f %%  <=8 %s\n",
               noise_names[kinds[k]], reps, 100.0 * alarms / reps, demand(alarms <= 0.05 * reps),
               100.0 * misses / reps, demand(misses <= 0.08 * reps));
        fflush(stdout);
    }
    printf(
        "\nA load of 30 %% that comes and goes, also within rounds, 200 rounds: shift against the "
        "same noise without it\n\n");
    for (k = 0; k < sizeof loads / sizeof loads[0]; k++)
        for (q = 0; q < sizeof ratios / sizeof ratios[0]; q++) {
            const int reps = repetitions(500);
            double shift = 0, worst = 0;
            int large = 0, alarms = 0;
            for (r = 0; r < reps; r++) {
                gpumb_comparison c[2];
                for (i = 0; i < 2; i++) {
                    random_state = (uint64_t)r * 100 + k * 10 + q + 5;
                    c[i] = compare(ratios[q], NORMAL, 0.01, i * 0.3, loads[k], delta, 1, 200, 200);
                }
                {
                    const double off = c[1].ratio / c[0].ratio - 1;
                    shift += off / reps;
                    worst = fmax(worst, fabs(off));
                    large += fabs(off) >= 0.005;
                }
                alarms +=
                    q < 2 ? c[1].verdict == GPUMB_VERDICT_FASTER ||
                                c[1].verdict == GPUMB_VERDICT_SLOWER
                          : c[1].verdict == (q == 2 ? GPUMB_VERDICT_SLOWER : GPUMB_VERDICT_FASTER);
            }
            printf(
                "mean stay %3.0f rounds  ratio %5.3f  %5d  shift: mean %7.3f %%, worst %5.3f %%, "
                ">= 0.5 %%: %4.1f %%  <=1 %-8s %s %5.1f %% %s\n",
                loads[k], ratios[q], reps, 100 * shift, 100 * worst, 100.0 * large / reps,
                demand(large <= 0.01 * reps), q < 2 ? "alarms" : "found ", 100.0 * alarms / reps,
                demand(q < 2 ? alarms <= 0.05 * reps : alarms >= 0.95 * reps));
        }
}

/* ---- order ----------------------------------------------------------------------------------- */

/* In rounds of two, each first in turn, the second is slower. */
static void order_effects(void)
{
    static const struct {
        const char *name;
        double phi, sd[2], effect;
        int decides; /* it can be, within 3000 rounds */
    } cases[] = {
        {"2 % on AR(1) 0.97 of 1 %, both", 0.97, {0.01, 0.01}, 0.02, 0},
        {"2 % on AR(1) 0.97 of 1 %, one", 0.97, {0, 0.01}, 0.02, 0},
        {"1 % on AR(1) 0.97 of 1 %, one", 0.97, {0, 0.01}, 0.01, 0},
        {"4 % on AR(1) 0.95 of 0.7 %, both", 0.95, {0.007, 0.007}, 0.04, 0},
        {"2 % on AR(1) 0.9 of 0.5 %, both", 0.9, {0.005, 0.005}, 0.02, 1},
        {"2 % on normal of 0.2 %, both", 0, {0.002, 0.002}, 0.02, 1},
        {"2 % on normal of 1 %, both", 0, {0.01, 0.01}, 0.02, 1},
    };
    static const double ratios[] = {1, 1.005, 1.02};
    const double delta = 0.01;
    static double base[MOST];
    size_t k, q;
    printf(
        "\nORDER EFFECTS: whoever is second in a round, in turn, is slower; until decided or 3000 "
        "rounds\n\neffect                            ratio   reps  rounds  faster slower  same "
        "undec.  holds it           verdicts\n");
    for (k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (q = 0; q < sizeof ratios / sizeof ratios[0]; q++) {
            const int reps = repetitions(400);
            int seen[4] = {0}, held = 0, r, i;
            double rounds = 0;
            random_state = k * 10 + q + 1;
            for (r = 0; r < reps; r++) {
                gpumb_comparison c;
                double state[2] = {0, 0};
                uint64_t count = 0, look = 30;
                for (;;) {
                    look = look < 3000 ? look : 3000;
                    for (; count < look; count++) {
                        double time[2];
                        for (i = 0; i < 2; i++) {
                            const double phi = count ? cases[k].phi : 0;
                            const int which = (i + (int)(count % 2)) % 2;
                            state[which] =
                                phi * state[which] + sqrt(1 - phi * phi) * random_normal();
                            time[which] =
                                (1 + cases[k].sd[which] * state[which]) * (1 + i * cases[k].effect);
                        }
                        base[count] = time[0];
                        series[count] = ratios[q] * time[1];
                    }
                    c = gpumb_compare_rounds(base, series, count, delta, 1);
                    if (gpumbi_decided(&c, delta) || count >= 3000)
                        break;
                    look = gpumbi_next_look(look);
                }
                seen[c.verdict]++;
                held += c.lo <= ratios[q] && ratios[q] <= c.hi;
                rounds += (double)count / reps;
            }
            const int wrong = seen[GPUMB_VERDICT_FASTER] +
                              (q < 2 ? seen[GPUMB_VERDICT_SLOWER] : seen[GPUMB_VERDICT_SAME]);
            const int right = q < 2 ? seen[GPUMB_VERDICT_SAME] : seen[GPUMB_VERDICT_SLOWER];
            printf("%-32s  %5.3f  %5d  %6.0f  %5.1f  %5.1f  %5.1f  %5.1f  %5.1f %% >=92 %-8s "
                   "wrong <=5 %s",
                   cases[k].name, ratios[q], reps, rounds, 100.0 * seen[1] / reps,
                   100.0 * seen[2] / reps, 100.0 * seen[3] / reps, 100.0 * seen[0] / reps,
                   100.0 * held / reps, demand(held >= 0.92 * reps), demand(wrong <= 0.05 * reps));
            if (cases[k].decides)
                printf(", right >=95 %s", demand(right >= 0.95 * reps));
            printf("\n");
            fflush(stdout);
        }
}

/* Lanes in the order of GPUMB_INTERLEAVE. One of them slows down whatever runs next, itself
 * included, or every so many-th run takes longer. The last one is `ratio` times as slow as the
 * others, which are alike. */
static void lanes(int lane_count, int who, double effect, int every, double height, double ratio)
{
    enum { LANES = 8, ROUNDS = 3000 };
    static double time[LANES][ROUNDS], ratios[3 * ROUNDS];
    static gpumb g;
    const double delta = 0.01, sd = 0.003;
    const int reps = repetitions(100);
    int seen[4] = {0}, wrong = 0, right = 0, all = 0, r, i;
    double rounds = 0;
    random_state = (uint64_t)(lane_count * 100 + every) + (uint64_t)(ratio * 1000);
    for (r = 0; r < reps; r++) {
        uint64_t count = 0, look = 30, run = random_state % 997;
        int before = -1, decided = 0;
        memset(&g, 0, sizeof g);
        g.settings.seed = (uint64_t)r + 1;
        g.interleave.lanes = lane_count;
        while (!decided && count < ROUNDS) {
            look = look < ROUNDS ? look : ROUNDS;
            for (; count < look; count++)
                for (i = 0; i < lane_count; i++) {
                    g.interleave.turn++;
                    const int lane = gpumbi_whose_turn(&g);
                    time[lane][count] = (lane == lane_count - 1 ? ratio : 1) *
                                            (1 + sd * random_normal()) *
                                            (before == who ? 1 + effect : 1) +
                                        (every && ++run % (uint64_t)every == 0 ? height : 0);
                    before = lane;
                }
            decided = 1;
            for (i = 1; i < lane_count; i++) {
                for (uint64_t k = 0; k < count; k++)
                    ratios[k] = time[i][k] / time[0][k];
                const gpumb_comparison c =
                    gpumbi_compare_ratios(ratios, count, delta, lane_count - 1, 1);
                decided &= gpumbi_decided(&c, delta);
                if (i + 1 == lane_count)
                    look = gpumbi_next_look(look);
            }
        }
        for (i = 1; i < lane_count; i++) {
            const int slower = i == lane_count - 1 && ratio > 1 + delta;
            const gpumb_comparison c =
                gpumb_compare_rounds(time[0], time[i], count, delta, lane_count - 1);
            seen[c.verdict]++;
            wrong += c.verdict == GPUMB_VERDICT_FASTER ||
                     c.verdict == (slower ? GPUMB_VERDICT_SAME : GPUMB_VERDICT_SLOWER);
            right += c.verdict == (slower ? GPUMB_VERDICT_SLOWER : GPUMB_VERDICT_SAME);
            all++;
        }
        rounds += (double)count / reps;
    }
    printf("%5d  ", lane_count);
    if (every)
        printf("1 run in %d takes %2.0f %% more           ", every, 100 * height);
    else
        printf("lane %d slows down the next by %2.0f %%    ", who, 100 * effect);
    printf("%5.3f  %5d  %6.0f  %5.1f  %5.1f  %5.1f  %5.1f  wrong <=5 %-8s", ratio, reps, rounds,
           100.0 * seen[1] / all, 100.0 * seen[2] / all, 100.0 * seen[3] / all,
           100.0 * seen[0] / all, demand(wrong <= 0.05 * all));
    if (every || lane_count > 2) /* of two, the one that slows down the other meets itself less */
        printf(" right >=95 %s", demand(right >= 0.95 * all));
    printf("\n");
    fflush(stdout);
}

static void orders(void)
{
    static const double ratios[] = {1.005, 1.02};
    size_t q;
    int n, every;
    order_effects();
    printf(
        "\nLANES in the order of GPUMB_INTERLEAVE, noise 0.3 %%, until decided or 3000 rounds\n\n"
        "lanes  what disturbs them                   ratio   reps  rounds  faster slower  same "
        "undec.\n");
    for (n = 2; n <= 8; n = n < 4 ? n + 1 : 2 * n)
        for (q = 0; q < sizeof ratios / sizeof ratios[0]; q++) {
            lanes(n, n > 2, 0.02, 0, 0, ratios[q]);
            if (n > 2)
                lanes(n, 0, 0.05, 0, 0, ratios[q]);
            for (every = 3; every <= 9; every += every == 5 ? 4 : 1)
                lanes(n, -1, 0, every, 0.5, ratios[q]);
            lanes(n, -1, 0, 4, 0.03, ratios[q]);
        }
}

/* ---- carry-over ------------------------------------------------------------------------------ */

/* Lanes in the order of GPUMB_INTERLEAVE, of which some take longer after others, not after
 * themselves: what they take then is what counts. `slows[i][j]`: lane i after lane j. */
static const struct {
    const char *name;
    int lanes;
    double slows[3][3];
    int plain; /* nothing to see */
} carries[] = {
    {"nothing", 2, {{0}}, 1},
    {"A 1 % after B", 2, {{0, 0.01}}, 0},
    {"A 2 % after B", 2, {{0, 0.02}}, 0},
    {"A 3 % after B", 2, {{0, 0.03}}, 0},
    {"A 5 % after B", 2, {{0, 0.05}}, 0},
    {"B 2 % after A", 2, {{0}, {0.02}}, 0},
    {"A -2 % after B", 2, {{0, -0.02}}, 0},
    {"A 3 % after B, B 1 % after A", 2, {{0, 0.03}, {0.01}}, 0},
    {"both 3 %", 2, {{0, 0.03}, {0.03}}, 0},
    {"nothing", 3, {{0}}, 1},
    {"A 3 % after B and C", 3, {{0, 0.03, 0.03}}, 0},
    {"A 5 % after C", 3, {{0, 0, 0.05}}, 0},
};

static void carry_over(void)
{
    enum { ROUNDS = 3000 };
    static double time[3][ROUNDS], ratios[3 * ROUNDS];
    static unsigned char before[3][ROUNDS];
    static const double sds[] = {0.002, 0.005, 0.01}, wanted[] = {1, 1.02};
    static gpumb g;
    const double delta = 0.01;
    printf("\nCARRY-OVER: lanes A, B and C, of which some take longer after another than after "
           "themselves, which\nis what B is compared with A by; until decided or 3000 rounds. "
           "Plain rounds: what is needed where\nround by round is all that is looked at\n\n"
           "what disturbs                  lanes    sd  ratio   reps  rounds plain  right  wrong  "
           "seen\n");
    for (size_t k = 0; k < sizeof carries / sizeof carries[0]; k++) {
        double total[2] = {0, 0};
        for (size_t a = 0; a < 3; a++)
            for (size_t q = 0; q < 2; q++) {
                const int reps = repetitions(400), lanes_of = carries[k].lanes;
                const gpumb_verdict truth = q ? GPUMB_VERDICT_SLOWER : GPUMB_VERDICT_SAME;
                int right = 0, wrong = 0, seen = 0;
                double rounds = 0, plain_rounds = 0;
                random_state = k * 100 + a * 10 + q;
                for (int r = 0; r < reps; r++) {
                    uint64_t count = 0, look = 30;
                    int last = 16, carried = 0, plain = 0, done = 0;
                    gpumb_comparison c;
                    memset(&g, 0, sizeof g);
                    memset(&c, 0, sizeof c);
                    g.settings.seed = (uint64_t)r + 1;
                    g.interleave.lanes = lanes_of;
                    while (!done || (carries[k].plain && !plain)) {
                        look = look < ROUNDS ? look : ROUNDS;
                        for (; count < look; count++)
                            for (int i = 0; i < lanes_of; i++) {
                                g.interleave.turn++;
                                const int lane = gpumbi_whose_turn(&g);
                                time[lane][count] =
                                    (lane == 1 ? wanted[q] : 1) * (1 + sds[a] * random_normal()) *
                                    (1 + (last < 3 ? carries[k].slows[lane][last] : 0));
                                before[lane][count] = (unsigned char)last;
                                last = lane;
                            }
                        const int limit = count >= ROUNDS;
                        for (uint64_t i = 0; i < count; i++)
                            ratios[i] = time[1][i] / time[0][i];
                        const gpumb_comparison all =
                            gpumbi_compare_ratios(ratios, count, delta, 1, !limit);
                        if (!plain && (gpumbi_decided(&all, delta) || limit)) {
                            plain = 1;
                            plain_rounds += (double)count / reps;
                        }
                        if (!done) {
                            const gpumbi_turns turns = {
                                {time[0], time[1]}, {before[0], before[1]}, {0, 1}, lanes_of};
                            c = gpumbi_compare_turns(&turns, count, delta, 1, !limit, ratios,
                                                     &carried);
                            done = gpumbi_decided(&c, delta) || limit;
                            rounds += done ? (double)count / reps : 0;
                        }
                        look = gpumbi_next_look(look);
                    }
                    right += c.verdict == truth;
                    wrong += c.verdict != truth && c.verdict != GPUMB_VERDICT_UNDECIDED;
                    seen += carried;
                }
                total[0] += rounds;
                total[1] += plain_rounds;
                printf("%-30s %5d %4.1f %%  %5.3f  %5d  %6.0f", carries[k].name, lanes_of,
                       100 * sds[a], wanted[q], reps, rounds);
                if (carries[k].plain)
                    printf(" %5.0f", plain_rounds);
                else
                    printf("      ");
                printf(
                    "  %5.1f  %5.1f  %4.0f  right >=90 %-8s wrong <=5 %-8s", 100.0 * right / reps,
                    100.0 * wrong / reps, 100.0 * seen / reps, demand(right >= 0.9 * reps),
                    lanes_of < 3 || a < 2 ? demand(wrong <= 0.05 * reps) : "none"); /* up to 12 % */
                if (carries[k].plain)
                    printf(" seen <=1 %s", demand(seen <= 0.01 * reps));
                printf("\n");
                fflush(stdout);
            }
        if (carries[k].plain)
            printf("%-30s rounds %.2f times as many as plain  <=1.10 %s\n", "", total[0] / total[1],
                   demand(total[0] <= 1.1 * total[1]));
    }
}

/* ---- lanes in the engine: what settles, what the order does ---------------------------------- */

/* Regions of 1 in an interleave: the last one takes `ratio` times as long, settles from `height`
 * above or below with a time constant, and whoever is last in a round takes `order` longer. */
typedef struct lane_series {
    int lanes;
    double run_s, sd, ratio, height, seconds, order;
} lane_series;

/* What becomes of so many: verdicts of the last one, how many were unsettled or out of budget,
 * seconds each. */
typedef struct lane_outcome {
    int verdict[4], unsettled, limited;
    double seconds;
} lane_outcome;

static lane_outcome run_lanes(const lane_series *of, int reps)
{
    static const char *const names[] = {"A", "B", "C", "D"};
    lane_outcome all;
    memset(&all, 0, sizeof all);
    for (int r = 0; r < reps; r++) {
        gpumb_settings settings = gpumb_settings_default();
        settings.quiet = 1;
        settings.seed = (uint64_t)r + 1;
        fake_reset();
        gpumb *g = gpumb_open_settings("lanes", &settings);
        g->outcome.warmed = 1;
        fake_now = fake_busy = 100;
        GPUMB_INTERLEAVE(g) {
            for (int i = 0; i < of->lanes; i++)
                GPUMB_MEASURE(g, names[i]) {
                    const int at_end = (g->interleave.turn - 1) % of->lanes == of->lanes - 1;
                    const double left = exp(-(fmax(fake_now, fake_busy) - 100) / of->seconds);
                    const double last = of->ratio * (1 + (r % 2 ? of->height : -of->height) * left);
                    fake_run(of->run_s * (i == of->lanes - 1 ? last : 1) *
                             (1 + of->order * at_end) * (1 + of->sd * random_normal()));
                }
        }
        const gpumb_result *row = gpumb_row(g, (size_t)of->lanes - 1);
        all.verdict[row->comparison.verdict]++;
        all.unsettled +=
            ((row->flags | gpumb_row(g, 0)->flags) & (unsigned)GPUMB_FLAG_UNSETTLED) != 0;
        all.limited += row->stop == GPUMB_STOP_BUDGET;
        all.seconds += (fake_now - 100) / reps;
        gpumb_close(g);
    }
    return all;
}

static void settling_lanes(void)
{
    static const double runs[][2] = {
        /* seconds, noise: that of the first is less than the clock's */
        {0.05e-3, 0.0005},
        {0.2e-3, 0.002},
        {0.2e-3, 0.01},
        {1e-3, 0.002},
        {1e-3, 0.01}};
    static const double cases[][3] = {/* ratio, height, time constant */
                                      {1.02, 0, 1},
                                      {1, 0.03, 1},
                                      {1, 0.05, 1},
                                      {1, 0.1, 0.6},
                                      {1, 0.05, 2}};
    printf("\nLANES THAT SETTLE: two regions of one code, of which the second falls or rises to "
           "what both take;\nwrong: faster or slower. And one that is 2 %% slower, and steady: "
           "what it takes to know\n\n"
           "    run   noise  second                reps  wrong  right  undecided  unsettled  "
           "seconds\n");
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (size_t k = 0; k < sizeof runs / sizeof runs[0]; k++) {
            const int reps = repetitions(200), steady = cases[c][1] <= 0;
            const lane_series of = {2,           runs[k][0],  runs[k][1], cases[c][0],
                                    cases[c][1], cases[c][2], 0};
            random_state = c * 100 + k + 1;
            const lane_outcome all = run_lanes(&of, reps);
            const int slower = all.verdict[GPUMB_VERDICT_SLOWER];
            const int same = all.verdict[GPUMB_VERDICT_SAME];
            const int wrong = all.verdict[GPUMB_VERDICT_FASTER] + (steady ? same : slower);
            const double most = 0.05 + 2.5 * sqrt(0.05 * 0.95 / reps);
            char second[30];
            snprintf(second, sizeof second, steady ? "2 %% slower" : "%.0f %%, %g s",
                     100 * cases[c][1], cases[c][2]);
            printf("%4.2f ms  %4.2f %%  %-20s %5d  %5.1f  %5.1f  %9.1f  %9.1f  %7.2f  ",
                   1e3 * runs[k][0], 100 * runs[k][1], second, reps, 100.0 * wrong / reps,
                   100.0 * (steady ? slower : same) / reps,
                   100.0 * all.verdict[GPUMB_VERDICT_UNDECIDED] / reps,
                   100.0 * all.unsettled / reps, all.seconds);
            if (steady)
                printf("right >=95 %s\n", demand(slower >= 0.95 * reps));
            else if (cases[c][2] > 1)
                printf("none\n");
            else
                printf("wrong <=%.1f %s\n", 100 * most, demand(wrong <= most * reps));
            fflush(stdout);
        }
}

static void order_in_engine(void)
{
    static const double ratios[] = {1, 1.02};
    printf("\nORDER EFFECTS in the engine: whoever is last in a round takes 3 %% longer; runs of 1 "
           "ms, noise 0.2 %%,\nbudget 2 s a region: none uses it up\n\n"
           "lanes  ratio   reps  right  seconds  out of budget\n");
    for (int n = 2; n <= 4; n++)
        for (size_t q = 0; q < 2; q++) {
            const int reps = repetitions(100);
            const lane_series of = {n, 1e-3, 0.002, ratios[q], 0, 1, 0.03};
            random_state = (uint64_t)n * 10 + q;
            const lane_outcome all = run_lanes(&of, reps);
            const int right = all.verdict[q ? GPUMB_VERDICT_SLOWER : GPUMB_VERDICT_SAME];
            printf("%5d  %5.3f  %5d  %5.1f  %7.2f  %5.1f %%  right >=95 %s, out of budget 0 %s\n",
                   n, ratios[q], reps, 100.0 * right / reps, all.seconds,
                   100.0 * all.limited / reps, demand(right >= 0.95 * reps),
                   demand(all.limited == 0));
            fflush(stdout);
        }
}

/* ---- a fixed number of rounds, or of samples ------------------------------------------------- */

/* Ratios of two AR(1) series: how often the interval holds it, and what is found. */
static void fixed_of(double phi, double sd, uint64_t count, double ratio, int reps, int least,
                     int most, int found_least)
{
    static double base[MOST];
    int held = 0, found = 0, wrong = 0;
    random_state = count + (uint64_t)(1000 * phi);
    for (int r = 0; r < reps; r++) {
        double state[2] = {random_normal(), random_normal()};
        for (uint64_t i = 0; i < count; i++)
            for (int j = 0; j < 2; j++) {
                state[j] = phi * state[j] + sqrt(1 - phi * phi) * random_normal();
                *(j ? &series[i] : &base[i]) = (j ? ratio : 1) * (1 + sd * state[j]);
            }
        const gpumb_comparison c = gpumb_compare_rounds(base, series, count, 0.01, 1);
        held += c.lo <= ratio && ratio <= c.hi;
        found += c.verdict == GPUMB_VERDICT_SLOWER;
        wrong += c.verdict == GPUMB_VERDICT_FASTER ||
                 c.verdict == (ratio > 1.01 ? GPUMB_VERDICT_SAME : GPUMB_VERDICT_SLOWER);
    }
    printf("AR(1) %.2f %5.1f %%  %5llu  %5.3f  %5d  holds %5.1f %%", phi, 100 * sd,
           (unsigned long long)count, ratio, reps, 100.0 * held / reps);
    if (least)
        printf(" %d...%-3d %-8s", least, most,
               demand(100.0 * held >= least * reps && 100.0 * held <= most * reps));
    printf(" found %5.1f %%", 100.0 * found / reps);
    if (found_least)
        printf(" >=%d %-8s", found_least, demand(100.0 * found >= found_least * reps));
    printf(" wrong <=5 %s\n", demand(wrong <= 0.05 * reps));
    fflush(stdout);
}

/* The same of two series with 1/f noise of 1 %: AR(1) series of one standard deviation each, whose
 * correlation lasts for 1, 2, 4 ... `longest` rounds. Demanded: 92 % less 2.5 standard errors. */
static void flicker_of(uint64_t count, uint64_t longest, int reps)
{
    enum { OCTAVES = 20 };
    static double base[MOST];
    int held = 0, median_held = 0, found = 0, wrong = 0, octaves = 1;
    while ((uint64_t)1 << octaves <= longest)
        octaves++;
    random_state = count + longest;
    for (int r = 0; r < reps; r++) {
        double state[2][OCTAVES];
        for (uint64_t i = 0; i < count; i++)
            for (int j = 0; j < 2; j++) {
                double sum = 0;
                for (int k = 0; k < octaves; k++) {
                    const double phi = i ? exp(-1 / ldexp(1, k)) : 0;
                    state[j][k] =
                        (i ? phi * state[j][k] : 0) + sqrt(1 - phi * phi) * random_normal();
                    sum += state[j][k] / sqrt(octaves);
                }
                *(j ? &series[i] : &base[i]) = 1 + 0.01 * sum;
            }
        const gpumb_comparison c = gpumb_compare_rounds(base, series, count, 0.01, 1);
        held += c.lo <= 1 && 1 <= c.hi;
        wrong += c.verdict == GPUMB_VERDICT_FASTER || c.verdict == GPUMB_VERDICT_SLOWER;
        found += c.lo * 1.05 > 1.01;
        const gpumb_stats s = stats_of(count, 0);
        median_held += s.ci_lo <= 1 && 1 <= s.ci_hi;
    }
    printf("%6llu  %7llu  %5d  %6.1f  %6.1f  ", (unsigned long long)count,
           (unsigned long long)longest, reps, 100.0 * held / reps, 100.0 * median_held / reps);
    const double least = 0.92 - 2.5 * sqrt(0.92 * 0.08 / reps);
    if (16 * longest <= count)
        printf(">=%.1f %-6s", 100 * least,
               demand(held >= least * reps && median_held >= least * reps));
    else
        printf("none         ");
    printf("  %5.1f  %5.1f  <=5 %s\n", 100.0 * found / reps, 100.0 * wrong / reps,
           demand(wrong <= 0.05 * reps));
    fflush(stdout);
}

static void flicker(void)
{
    static const uint64_t counts[] = {32, 128, 512, 2048};
    printf(
        "\n1/f NOISE of 1 %% in a fixed number of rounds, by what its slowest part lasts for: in "
        "how "
        "many the interval\nof the ratio holds it, and that of the median of one of both series; "
        "ratios of 1.05 that are found. What\noutlasts the rounds does not show in them\n\n"
        "rounds  longest   reps   ratio  median  demand         found  wrong\n");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (uint64_t longest = counts[i] / 16; longest <= 4 * counts[i]; longest *= 4)
            flicker_of(counts[i], longest, repetitions(counts[i] > 1000 ? 250 : 500));
}

static void fixed_numbers(void)
{
    static const uint64_t few[] = {6, 7, 8, 10, 12, 14, 16, 20, 24, 29}, many[] = {100, 500, 2000};
    static const double phis[] = {0.9, 0.95, 0.97};
    printf("\nROUNDS THAT A LIMIT ENDED, ratios of two series\n\n");
    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
        fixed_of(0.9, 0.02, few[i], 1, repetitions(2000), 92, 100, 0);
    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
        fixed_of(0, 0.002, few[i], 1.05, repetitions(1000), 92, 100, 95);
    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) /* what it costs */
        fixed_of(0, 0.01, few[i], 1.05, repetitions(1000), 92, 100, 0);
    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
        fixed_of(0.9, 0.01, few[i], 1.05, repetitions(1000), 0, 0, 0);
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < sizeof many / sizeof many[0]; i++)
            fixed_of(phis[p], 0.01, many[i], 1, repetitions(1000), 92, 99, 0);
    fixed_of(0.97, 0.01, 2000, 1.05, repetitions(1000), 92, 99, 95);
    printf("\nA FIXED NUMBER of samples: as wide as needed; by half a percent more or less by "
           "chance\n\n");
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
            const int reps = repetitions(2000);
            int held = 0;
            random_state = p * 10 + i;
            for (int r = 0; r < reps; r++) {
                double state = random_normal();
                for (uint64_t j = 0; j < many[i]; j++) {
                    state = phis[p] * state + sqrt(1 - phis[p] * phis[p]) * random_normal();
                    series[j] = 1 + 0.002 * state;
                }
                const gpumb_stats s = stats_of(many[i], 0);
                held += s.ci_lo <= 1 && 1 <= s.ci_hi;
            }
            printf("AR(1) %.2f  %5llu  %5d  holds %5.1f %%  95...98 %s\n", phis[p],
                   (unsigned long long)many[i], reps, 100.0 * held / reps,
                   demand(held >= 0.945 * reps && held <= 0.985 * reps));
            fflush(stdout);
        }
}

/* ---- against a file -------------------------------------------------------------------------- */

/* One code in so many processes, whose medians differ by `between`, or, if that is negative, in 30
 * % of the processes by so much; a row has the samples of the last one. */
static gpumbi_estimate times_of(int processes, double between, double sd)
{
    double medians[GPUMBI_PROCESSES];
    gpumb_result r;
    memset(&r, 0, sizeof r);
    for (int i = 0; i < processes; i++) {
        const double process = 1 + (between >= 0             ? between * random_normal()
                                    : random_uniform() < 0.3 ? -between
                                                             : 0);
        for (uint64_t j = 0; j < 100; j++)
            series[j] = process * (1 + sd * random_normal());
        r.time = gpumb_statistics(series, 100);
        medians[i] = r.time.median;
    }
    if (processes > 1) {
        r.processes = processes;
        r.process_medians_s = medians;
    }
    return gpumbi_estimate_of(&r);
}

static void files(void)
{
    static const double betweens[] = {0, 0.005, 0.01, 0.02, -0.05};
    static const int runs[][2] = {{1, 1}, {5, 1}, {1, 5}, {2, 2}, {5, 5}, {10, 10}};
    const gpumb_settings settings = gpumb_settings_default();
    printf("\nAGAINST A FILE: a code with itself, ratio of two medians of 100 samples, noise 2 %%, "
           "delta 1 %%\n\n"
           "between processes  base  new   reps  interval holds 1  demand      alarms  demand\n");
    for (size_t a = 0; a < sizeof betweens / sizeof betweens[0]; a++)
        for (size_t p = 0; p < sizeof runs / sizeof runs[0]; p++) {
            const int reps = repetitions(4000);
            int held = 0, alarms = 0;
            random_state = a * 100 + p;
            for (int r = 0; r < reps; r++) {
                const gpumbi_estimate base = times_of(runs[p][0], betweens[a], 0.02);
                const gpumbi_estimate now = times_of(runs[p][1], betweens[a], 0.02);
                double ratio[3];
                const gpumb_verdict verdict =
                    gpumbi_judge(&base, &now, 1.96, NULL, &settings, ratio);
                held += ratio[1] <= 1 && 1 <= ratio[2];
                alarms += verdict == GPUMB_VERDICT_FASTER || verdict == GPUMB_VERDICT_SLOWER;
            }
            printf("%-6s %8.1f %%  %4d  %3d  %5d  %14.1f %%", betweens[a] < 0 ? "levels" : "sd",
                   100 * fabs(betweens[a]), runs[p][0], runs[p][1], reps, 100.0 * held / reps);
            printf("  >=92 %-8s %5.1f %%  <=5 %s\n", demand(held >= 0.92 * reps),
                   100.0 * alarms / reps, demand(alarms <= 0.05 * reps));
        }
}

/* ---- tables against a file ------------------------------------------------------------------- */

/* How medians spread between processes, in a row: the standard deviation of its logarithms. */
enum spread_kind { ALIKE, DIFFERENT, VERY_DIFFERENT, TWO_KINDS, ONE_WILD, QUIET, T3, TOGETHER };

static const char *const spread_names[] = {"the same in all rows",    "log-normal, 0.5",
                                           "log-normal, 1.0",         "0.1 x and 2 x, in turn",
                                           "3 x in one row",          "none in a fifth",
                                           "t, 3 degrees of freedom", "half of it for all rows"};

static double spread_of(enum spread_kind kind, int row)
{
    switch (kind) {
    case DIFFERENT:
        return exp(0.5 * random_normal());
    case VERY_DIFFERENT:
        return exp(random_normal());
    case TWO_KINDS:
        return row % 2 ? 2 : 0.1;
    case ONE_WILD:
        return row ? 1 : 3;
    case QUIET:
        return row % 5 != 0;
    default:
        return 1;
    }
}

static double random_t(int freedom)
{
    double squares = 0;
    for (int i = 0; i < freedom; i++) {
        const double x = random_normal();
        squares += x * x / freedom;
    }
    return random_normal() / sqrt(squares);
}

/* A code with itself; with `slower` the same, were all rows slower by that. Returns whether a row
 * is faster or slower, and counts those found. */
static int judge_table(enum spread_kind kind, int rows, const int processes[2], double sd,
                       double delta, double slower, int *found)
{
    enum { TABLE = 100 };
    static gpumbi_estimate e[TABLE][2];
    double variance[TABLE], freedom[TABLE] = {0}, common[2][GPUMBI_PROCESSES], ratio[3];
    gpumb_settings settings = gpumb_settings_default();
    gpumbi_spreads spreads = {{0, 0}, {0, 0}};
    int alarm = 0;
    settings.delta = delta;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < processes[side]; i++)
            common[side][i] = random_normal();
    for (int row = 0; row < rows; row++) {
        const double wide = sd * spread_of(kind, row);
        for (int side = 0; side < 2; side++) {
            double medians[GPUMBI_PROCESSES];
            gpumb_result r;
            memset(&r, 0, sizeof r);
            for (int i = 0; i < processes[side]; i++)
                medians[i] =
                    exp(wide * (kind == T3         ? random_t(3)
                                : kind == TOGETHER ? sqrt(0.5) * (common[side][i] + random_normal())
                                                   : random_normal()));
            r.processes = processes[side];
            r.process_medians_s = medians;
            r.time.median = r.time.ci_lo = r.time.ci_hi = medians[processes[side] - 1];
            e[row][side] = gpumbi_estimate_of(&r);
            spreads.mean[side] += e[row][side].variance / rows;
        }
    }
    for (int row = 0; row < rows; row++)
        variance[row] = gpumbi_variance_of(&e[row][0], &e[row][1], spreads.mean, &freedom[row]);
    spreads.prior = gpumbi_share_variances(variance, freedom, (size_t)rows);
    for (int row = 0; row < rows; row++) {
        const double z = gpumbi_family_quantile((uint64_t)rows);
        const gpumb_verdict as_is =
            gpumbi_judge(&e[row][0], &e[row][1], z, &spreads, &settings, ratio);
        alarm |= as_is == GPUMB_VERDICT_SLOWER || as_is == GPUMB_VERDICT_FASTER;
        *found += gpumbi_verdict(ratio[1] * (1 + slower), ratio[2] * (1 + slower), delta) ==
                  GPUMB_VERDICT_SLOWER;
    }
    return alarm;
}

static void tables(void)
{
    static const int sizes[] = {2, 5, 20, 100};
    static const int runs[][2] = {{5, 5}, {10, 10}, {5, 20}};
    static const double deltas[] = {1e-9, 0.01};
    printf(
        "\nTABLES against a file: false ones, in which a row is faster or slower, of a code with "
        "itself; rows\nfound that are 5 and 3 %% slower. Medians of processes spread by 1 %%; "
        "false alarms at delta 0, too\n\n"
        "spread                   base  new  rows   reps  delta  false  demand       "
        "+5 %%    +3 %%\n");
    for (int kind = ALIKE; kind <= TOGETHER; kind++)
        for (size_t p = 0; p < sizeof runs / sizeof runs[0]; p++)
            for (size_t q = 0; q < sizeof sizes / sizeof sizes[0]; q++)
                for (size_t d = 0; d < 2; d++) {
                    const int reps = repetitions(sizes[q] < 20 ? 8000 : 100000 / sizes[q]);
                    const double most = 0.05 + 2.5 * sqrt(0.05 * 0.95 / reps);
                    int alarms = 0, found[2] = {0, 0};
                    random_state = (uint64_t)kind * 1000 + p * 100 + q * 10 + d + 7;
                    for (int r = 0; r < reps; r++) {
                        alarms += judge_table((enum spread_kind)kind, sizes[q], runs[p], 0.01,
                                              deltas[d], 0.05, &found[0]);
                        judge_table((enum spread_kind)kind, sizes[q], runs[p], 0.01, deltas[d],
                                    0.03, &found[1]);
                    }
                    const double all = (double)reps * sizes[q] / 100;
                    printf(
                        "%-23s  %4d  %3d  %4d  %5d  %3.0f %%  %4.1f %%  <=%.1f %-8s %5.1f  %5.1f",
                        spread_names[kind], runs[p][0], runs[p][1], sizes[q], reps, 100 * deltas[d],
                        100.0 * alarms / reps, 100 * most, demand(alarms <= most * reps),
                        found[0] / all, found[1] / all);
                    if (kind == ALIKE && p == 0 && sizes[q] == 20 && d == 1)
                        printf("  >=98, >=42 %s",
                               demand(found[0] >= 98 * all && found[1] >= 42 * all));
                    printf("\n");
                    fflush(stdout);
                }
}

/* ---- expectations of many rows --------------------------------------------------------------- */

/* Rows of normal samples, all `at` times the limit; `all` of them have to meet it, or one. Returns
 * the verdict. */
static int judge_rows(int rows, uint64_t samples, double at, int all)
{
    gpumbi_expectation e;
    const double among[2] = {all ? 1 : rows, all ? rows : 1};
    int verdict = all ? GPUMBI_MET : GPUMBI_NOT_MET;
    memset(&e, 0, sizeof e);
    e.limit = 1;
    for (int row = 0; row < rows; row++) {
        double value[3];
        for (uint64_t i = 0; i < samples; i++)
            series[i] = at * (1 + 0.01 * random_normal());
        const gpumb_stats s = gpumb_statistics(series, samples);
        value[0] = s.median;
        value[1] = s.ci_lo;
        value[2] = s.ci_hi;
        const int v = gpumbi_expect_one(&e, value, (double)samples, among);
        verdict = (all ? v > verdict : v < verdict) ? v : verdict;
    }
    return verdict;
}

static void expectations(void)
{
    static const int sizes[] = {1, 2, 10, 100};
    static const uint64_t counts[] = {30, 75, 150};
    static const double ats[] = {0.98, 0.99, 1, 1.02};
    printf("\nEXPECTATIONS of so many rows, each with a median of normal samples of sd 1 %%, at so "
           "many times the\nlimit: ROWS <= LIMIT, which all have to meet, and min(ROWS) <= LIMIT, "
           "for which one is enough\n\n"
           "        rows  samples     at   reps    met  undecided  not met  false\n");
    for (int all = 1; all >= 0; all--)
        for (size_t q = 0; q < sizeof sizes / sizeof sizes[0]; q++)
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
                for (size_t a = 0; a < sizeof ats / sizeof ats[0]; a++) {
                    const int reps = repetitions(sizes[q] > 10 ? 300 : 1000);
                    const double most = 0.05 + 2.5 * sqrt(0.05 * 0.95 / reps);
                    int seen[3] = {0, 0, 0};
                    random_state = (uint64_t)all * 1000 + q * 100 + c * 10 + a + 77;
                    for (int r = 0; r < reps; r++)
                        seen[judge_rows(sizes[q], counts[c], ats[a], all)]++;
                    /* at the limit both would be false: what is a little off it has either */
                    const int either = seen[0] > seen[2] ? seen[0] : seen[2];
                    const int wrong = ats[a] < 1    ? seen[GPUMBI_NOT_MET]
                                      : ats[a] <= 1 ? either
                                                    : seen[GPUMBI_MET];
                    printf("%-7s %4d  %7d  %5.2f  %5d  %5.1f  %9.1f  %7.1f  <=%.1f %s\n",
                           all ? "all" : "one", sizes[q], (int)counts[c], ats[a], reps,
                           100.0 * seen[0] / reps, 100.0 * seen[1] / reps, 100.0 * seen[2] / reps,
                           100 * most, demand(wrong <= most * reps));
                    fflush(stdout);
                }
}

/* ---- fitted lines ---------------------------------------------------------------------------- */

/* Errors of the times of a line, relative where no unit is given. */
static const struct {
    const char *name;
    double white, alike, by, factor, constant_s, each_s, kink;
} errors[] = {
    {"5 %", 0.05, 0, 0, 0, 0, 0, 0},
    {"0.2 %", 0.002, 0, 0, 0, 0, 0, 0},
    {"0.3 %, and 1 % that all share", 0.003, 0, 0, 0.01, 0, 0, 0},
    {"0.05 %, and 1 % that all share", 0.0005, 0, 0, 0.01, 0, 0, 0},
    {"0.3 %, and 50 ns that all share", 0.003, 0, 0, 0, 50e-9, 0, 0},
    {"0.1 %, and 50 ns each", 0.001, 0, 0, 0, 0, 50e-9, 0},
    {"1 %, neighbours alike by 0.5", 0, 0.5, 0.01, 0, 0, 0, 0},
    {"1 %, neighbours alike by 0.9", 0, 0.9, 0.01, 0, 0, 0, 0},
    {"5 %, neighbours alike by 0.5", 0, 0.5, 0.05, 0, 0, 0, 0},
    {"5 %, neighbours alike by 0.7", 0, 0.7, 0.05, 0, 0, 0, 0},
    {"5 %, neighbours alike by 0.9", 0, 0.9, 0.05, 0, 0, 0, 0},
    {"3 %, by 0.9, and 1 %", 0.01, 0.9, 0.03, 0, 0, 0, 0},
    {"0.3 %, rate 10 % less from 300 KB", 0.003, 0, 0, 0, 0, 0, 0.1},
    {"0.3 %, rate a third less", 0.003, 0, 0, 0, 0, 0, 0.5},
};

static void lines(void)
{
    static const int counts[] = {6, 8, 13, 15, 25};
    const double latency = 3e-6, rate = 50e9, from = 3e5;
    printf(
        "\nLINES of bench/fit.h through times of 3 us + bytes / 50 GB/s, sizes from 4 B to 1 GiB: "
        "intervals that\nhold the truth, of those that there are; in the mean as wide as that, to "
        "either side\n\n"
        "errors                             sizes   reps  lines  latency   rate   half  demand  "
        "       width of the rate\n");
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            const int reps = repetitions(1000);
            const double most = (0.1 + 2.5 * sqrt(0.1 * 0.9 / reps)) * reps;
            int fitted = 0, lost[3] = {0, 0, 0};
            double width = 0;
            random_state = k * 100 + c + 777;
            for (int r = 0; r < reps; r++) {
                double size[25], time[25], near = random_normal();
                const double factor = 1 + errors[k].factor * random_normal();
                const double constant = errors[k].constant_s * random_normal();
                for (int i = 0; i < counts[c]; i++) {
                    const double phi = i ? errors[k].alike : 0;
                    near = phi * near + sqrt(1 - phi * phi) * random_normal();
                    size[i] = 4 * pow(4, 14.0 * i / (counts[c] - 1));
                    time[i] = latency + size[i] / rate +
                              errors[k].kink * gpumbi_max(size[i] - from, 0) / rate;
                    time[i] = (factor * time[i] + constant + errors[k].each_s * random_normal()) *
                              (1 + errors[k].by * near + errors[k].white * random_normal());
                }
                const line_fit f = fit_line(size, time, (size_t)counts[c]);
                if (!f.count)
                    continue;
                const double slow =
                    rate / (1 + errors[k].kink); /* either side of a kink is right */
                fitted++;
                width += (f.rate.hi - f.rate.lo) / 2 / f.rate.value;
                lost[0] += f.latency.lo > latency || f.latency.hi < latency;
                lost[1] += f.rate.lo > rate || f.rate.hi < slow;
                lost[2] += f.half.lo > latency * rate || f.half.hi < latency * slow;
            }
            const double all = fitted ? fitted / 100.0 : 1;
            printf("%-33s  %5d  %5d  %5.1f  %7.1f  %5.1f  %5.1f  >=90 %-8s  %5.1f %%\n",
                   errors[k].name, counts[c], reps, 100.0 * fitted / reps, 100 - lost[0] / all,
                   100 - lost[1] / all, 100 - lost[2] / all,
                   demand(lost[0] <= most && lost[1] <= most && lost[2] <= most), width / all);
            fflush(stdout);
        }
}

/* ---- devices of a host or a fleet ------------------------------------------------------------ */

enum fleet { NORMAL_FLEET, EXPONENTIAL_FLEET, SKEWED, HEAVY, MIXED };

static const char *const fleet_names[] = {"normal", "exponential", "log-normal 0.8", "t, 5 degrees",
                                          "two kinds, 2 % apart"};

static double fleet_next(enum fleet kind)
{
    switch (kind) {
    case EXPONENTIAL_FLEET:
        return -log(random_uniform());
    case SKEWED:
        return exp(0.8 * random_normal());
    case HEAVY:
        return random_t(5);
    default:
        return random_normal();
    }
}

static enum fleet fleet_kind;

/* Rows of so many devices: the logarithms of their times are of the kind, normal with a standard
 * deviation of `sd` in each row, each with an interval of +-0.1 %. The first `slow` of them are
 * slower by `by` in all rows. Counts those of them that are found slower in a row, and the
 * others. */
static void judge_devices(size_t n, int rows, double sd, size_t slow, double by, size_t found[2])
{
    static gpumbi_estimate e[100000];
    static double room[100000];
    static unsigned char is_slower[100000];
    const gpumb_settings settings = gpumb_settings_default();
    const double z = gpumbi_devices_quantile((int)n, (uint64_t)rows * (n - 1));
    memset(is_slower, 0, n);
    for (int row = 0; row < rows; row++) {
        for (size_t i = 0; i < n; i++) {
            const double two = fleet_kind == MIXED && random_uniform() < 0.5 ? 0.02 : 0;
            const double at = exp(sd * fleet_next(fleet_kind) + two + (i < slow ? log(1 + by) : 0));
            const gpumbi_estimate of = {at, at * 0.999, at * 1.001, 1, -1, 0, 0, 0};
            e[i] = of;
        }
        gpumbi_estimate middle = gpumbi_middle(e, room, n);
        middle.process_lo = gpumbi_apart_of(e, room, n, (uint64_t)rows);
        for (size_t i = 0; i < n; i++) {
            double ratio[3];
            is_slower[i] |=
                gpumbi_judge(&middle, &e[i], z, NULL, &settings, ratio) == GPUMB_VERDICT_SLOWER;
        }
    }
    found[0] = found[1] = 0;
    for (size_t i = 0; i < n; i++)
        found[i >= slow] += is_slower[i];
}

/* A false alarm in at most 5 % of such fleets without slow devices, give or take 2.5 standard
 * errors; of the slow ones in others `least` are to be found (0: whatever is). */
static void devices_of(size_t n, int rows, double sd, size_t slow, double by, double least)
{
    const int reps = (int)gpumbi_max(scale * gpumbi_min(2000, 2e6 / ((double)n * rows)), 40);
    int alarms = 0;
    double all = 0;
    random_state = n + (uint64_t)(1e6 * sd) + (uint64_t)rows;
    for (int r = 0; r < reps; r++) {
        size_t found[2];
        judge_devices(n, rows, sd, 0, by, found);
        alarms += found[1] > 0;
        judge_devices(n, rows, sd, slow, by, found);
        all += (double)found[0] / (double)slow;
    }
    const double most = 0.05 + 2.5 * sqrt(0.05 * 0.95 / reps);
    printf("%6lu %5d  %4.1f %%  %5lu x %3.1f %%  %5d  %5.1f %%  <=%-4.1f %-7s  %6.1f %%",
           (unsigned long)n, rows, 100 * sd, (unsigned long)slow, 100 * by, reps,
           100.0 * alarms / reps, 100 * most, demand(alarms <= most * reps), 100 * all / reps);
    if (least > 0)
        printf("  >=%.1f %s", 100 * least, demand(all >= least * reps));
    printf("\n");
    fflush(stdout);
}

static void devices(void)
{
    static const double sds[] = {0.001, 0.002, 0.004, 0.008, 0.016};
    printf("\nDEVICES against their middle, delta 1 %%, 95 %% for all devices and rows of a fleet: "
           "fleets\nwithout slow devices in which one is called slower, and the slow ones found in "
           "fleets with them\n\n"
           "     n  rows      sd   slower by      reps  alarms  demand          found  demand\n");
    for (size_t n = 10; n <= 100000; n *= 10)
        for (size_t q = 0; q < sizeof sds / sizeof sds[0]; q++)
            if (n <= 10000 || q == 2)
                devices_of(n, 1, sds[q], 1, 0.03, q <= 2 ? 0.95 : 0);
    devices_of(4, 1, 0.004, 1, 0.03, 0);
    devices_of(8, 1, 0.004, 1, 0.03, 0.9);
    for (size_t n = 10; n <= 1000; n *= 10) {
        devices_of(n, 10, 0.004, 1, 0.03, 0.95);
        devices_of(n, 1, 0.004, n / 10, 0.05, 0.95);
    }
}

/* Equal devices that are not normal: false alarms are held down where the upper quarter falls off
 * exponentially; of others they are stated. */
static void other_devices(void)
{
    static const size_t sizes[] = {10, 40, 100, 1000, 10000};
    printf(
        "\nEQUAL DEVICES that are not normal, delta 1 %%, sd 0.4 %%: fleets in which one is called "
        "slower, and one that\nis 3 %% slower found\n\n"
        "logarithms                 n  rows   reps  alarms  demand         found\n");
    for (int kind = NORMAL_FLEET; kind <= MIXED; kind++)
        for (size_t q = 0; q < sizeof sizes / sizeof sizes[0]; q++)
            for (int rows = 1; rows <= (sizes[q] < 1000 ? 10 : 1); rows *= 10) {
                const double n = (double)sizes[q];
                const int reps = (int)gpumbi_max(scale * gpumbi_min(2000, 5e5 / (n * rows)), 40);
                const double most = 0.05 + 2.5 * sqrt(0.05 * 0.95 / reps);
                int alarms = 0, hits = 0;
                fleet_kind = (enum fleet)kind;
                random_state = (uint64_t)kind * 100 + sizes[q] + (uint64_t)rows + 7777;
                for (int r = 0; r < reps; r++) {
                    size_t found[2];
                    judge_devices(sizes[q], rows, 0.004, 0, 0, found);
                    alarms += found[1] > 0;
                    judge_devices(sizes[q], rows, 0.004, 1, 0.03, found);
                    hits += found[0] > 0;
                }
                printf("%-21s  %5d  %4d  %5d  %5.1f %%", fleet_names[kind], (int)sizes[q], rows,
                       reps, 100.0 * alarms / reps);
                if (kind == NORMAL_FLEET || (kind == EXPONENTIAL_FLEET && sizes[q] >= 40))
                    printf("  <=%-4.1f %-7s", 100 * most, demand(alarms <= most * reps));
                else
                    printf("  none         ");
                printf("  %5.1f %%", 100.0 * hits / reps);
                if (kind == NORMAL_FLEET)
                    printf("  >=85 %s", demand(hits >= 0.85 * reps));
                printf("\n");
                fflush(stdout);
            }
    fleet_kind = NORMAL_FLEET;
}

int main(int argc, char **argv)
{
    const char *only = argc > 2 ? argv[2] : "vkwrfdel";
    scale = argc > 1 ? atof(argv[1]) : 1;
    if (!(scale > 0))
        return fprintf(stderr, "usage: coverage [SCALE [PARTS, of v, k, w, r, f, d, e, l]]\n"), 2;
    if (strchr(only, 'v')) {
        coverage();
        outliers();
        periods();
    }
    if (strchr(only, 'k'))
        classes(), few_values();
    if (strchr(only, 'w'))
        ramps(), levels(), first_regions();
    if (strchr(only, 'r')) {
        comparisons();
        orders();
        carry_over();
        settling_lanes();
        order_in_engine();
        fixed_numbers();
        flicker();
    }
    if (strchr(only, 'f')) {
        files();
        tables();
    }
    if (strchr(only, 'd')) {
        devices();
        other_devices();
    }
    if (strchr(only, 'e'))
        expectations();
    if (strchr(only, 'l'))
        lines();
    printf("\n%d of %d demands met\n", met, demands);
    return met != demands;
}
