/* A custom law between two bodies, ready for the direct sums on the CPU. */
#ifndef NBODY_CUSTOM_LAW_H
#define NBODY_CUSTOM_LAW_H

#include "kernels/nbody/direct/cpu/tile.h"
#include "kernels/nbody/solver.h"

/* Compiles options->laws.pair; borrows nothing. SIM_ERR_NO_MEMORY. */
sim_status nbody_custom_law_create(const nbody_options *options, nbody_custom_law *out) SIM_MUST_CHECK;
void nbody_custom_law_destroy(nbody_custom_law *law);
/* Bytes that nbody_custom_law_create has allocated. */
double nbody_custom_law_bytes(const nbody_custom_law *law);

/* Shortest time in which a pair moves by its own force, ((|force| + 2 r2 |rate|) (m_i + m_j))^(-1/2), over this rank's
 * pairs: every `size`th body with all bodies before it. The law must have been created with jerk. */
double nbody_custom_law_start_time(const nbody_custom_law *law, const nbody_state *state, const sim_comm *comm);

#endif
