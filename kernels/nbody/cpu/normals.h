/* Normal numbers of a thermostat on the CPU. */
#ifndef NBODY_NORMALS_H
#define NBODY_NORMALS_H

#include <stdint.h>

enum { NBODY_NORMALS = 512 };

/* Draws three standard normal numbers for bodies first ... first + count - 1 in a step, count <= NBODY_NORMALS: as
 * sim_rng_normal with the draws NBODY_DRAW_BATH, but with the same bits for every C library. */
void nbody_draw_normals(uint64_t seed, int64_t step, int64_t first, int64_t count, double out[3][NBODY_NORMALS]);

#endif
