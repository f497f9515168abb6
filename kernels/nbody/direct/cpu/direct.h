/* Direct sums over all pairs of bodies on the CPU: acceleration, acceleration with jerk, potential energy.
 *
 *   a_i =  G sum_j m_j d_ij / (d_ij^2 + eps^2)^(3/2),   d_ij = x_j - x_i            (Plummer softening)
 *   j_i =  G sum_j m_j [ w_ij / s^3 - 3 (d_ij . w_ij) d_ij / s^5 ],   w_ij = v_j - v_i, s^2 = d_ij^2 + eps^2
 *   U   = -G sum_{i<j} m_i m_j / s
 *
 * or by a custom law in place of gravity (nbody_laws.pair). Results have the same bits for any number of threads; with
 * fp64 pair terms also for any instruction set. The table is nbody_direct_cpu (solver.h). */
#ifndef NBODY_DIRECT_CPU_H
#define NBODY_DIRECT_CPU_H

#include "kernels/nbody/solver.h"

/* nbody_solver.create. `reference`: use the slow reference form for any n, for tests. SIM_ERR_NO_MEMORY. */
sim_status nbody_direct_cpu_create(const nbody_options *options, const nbody_state *state, bool reference,
                                   nbody_solver_work **out) SIM_MUST_CHECK;

#endif
