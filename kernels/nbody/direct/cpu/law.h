/* A scenario's own law between pairs of bodies, made ready for the direct sums on the CPU. */
#ifndef NBODY_LAW_H
#define NBODY_LAW_H

#include "engine/buffer.h"
#include "kernels/nbody/direct/cpu/tile.h"

/* From nbody_laws.pair. */
sim_status nbody_law_create(const sim_expr *pair, bool single, bool jerk, sim_isa isa, int threads,
                            nbody_law *out) SIM_MUST_CHECK;
void nbody_law_destroy(nbody_law *law);
double nbody_law_bytes(const nbody_law *law);

/* Shortest time in which a pair moves by its own force: ((|force| + 2 r2 |rate|) (m_i + m_j))^(-1/2). Needs `jerk`. */
double nbody_law_start(const nbody_law *law, int64_t n, sim_dtype dtype, const void *mass, const void *position);

#endif
