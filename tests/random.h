/* random.h - random numbers with a seed (xorshift64*, Vigna 2016). */
#ifndef RANDOM_H
#define RANDOM_H

#include <math.h>
#include <stdint.h>

static uint64_t random_state = 1;

static inline uint64_t random_bits(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717u;
}

static inline double random_uniform(void) /* in (0, 1) */
{
    return ((double)(random_bits() >> 11) + 0.5) / 9007199254740992.0;
}

static inline double random_normal(void) /* Box & Muller 1958 */
{
    const double radius = sqrt(-2 * log(random_uniform()));
    return radius * cos(6.283185307179586 * random_uniform());
}

#endif
