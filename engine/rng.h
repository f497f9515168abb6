/* Random numbers as functions of (seed, entity, step, draw): Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel
 * random numbers: as easy as 1, 2, 3", SC11), with the same bits on every device and for any number of threads. Key:
 * seed (low, high 32 bits). Counter: entity (low, high), step bits 0-31, step bits 32-47 << 16 | draw. */
#ifndef SIM_ENGINE_RNG_H
#define SIM_ENGINE_RNG_H

#include <stdint.h>

/* 128 random bits. step < 2^48, draw < 2^16. */
void sim_rng_bits(uint64_t seed, uint64_t entity, uint64_t step, uint32_t draw, uint32_t out[4]);
/* Two doubles in the open interval (0, 1), 53 bits each: (k + 1/2) 2^-53. */
void sim_rng_uniform(uint64_t seed, uint64_t entity, uint64_t step, uint32_t draw, double out[2]);
/* Two independent standard normals, by Box and Muller from sim_rng_uniform. */
void sim_rng_normal(uint64_t seed, uint64_t entity, uint64_t step, uint32_t draw, double out[2]);

#endif
