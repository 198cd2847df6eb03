/* A hash that scatters data and places evenly. Include it after gpumb.h. */
#ifndef BENCH_HASH_H
#define BENCH_HASH_H

/* The finalizer of MurmurHash3. */
static __host__ __device__ inline uint32_t mixed(uint32_t h)
{
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

/* Word i of the data of a seed. */
static __host__ __device__ inline uint32_t hash_of(uint64_t i, uint32_t seed)
{
    return mixed((uint32_t)i + 0x9e3779b9u * (seed + 1) + (uint32_t)(i >> 32) * 0x27d4eb2fu);
}

#endif
