/* Direct sums over all pairs of bodies on the CPU: acceleration, acceleration with jerk, potential energy.
 *
 *   a_i =  G sum_j m_j d_ij / (d_ij^2 + eps^2)^(3/2),   d_ij = x_j - x_i            (Plummer softening)
 *   j_i =  G sum_j m_j [ w_ij / s^3 - 3 (d_ij . w_ij) d_ij / s^5 ],   w_ij = v_j - v_i, s^2 = d_ij^2 + eps^2
 *   U   = -G sum_{i<j} m_i m_j / s
 *
 * or by a law of the scenario's own in place of gravity (nbody_laws.pair).
 * The same bits for any number of threads; with fp64 pair terms also for any instruction set. */
#ifndef NBODY_PAIR_H
#define NBODY_PAIR_H

#include "engine/device/backend.h"
#include "engine/buffer.h"
#include "engine/expr/expr.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct nbody_pair nbody_pair;

typedef struct nbody_pair_options {
  int64_t n;   /* bodies */
  bool single; /* fp32 pair terms; sums over blocks are fp64 all the same */
  bool jerk;   /* nbody_pair_jerk will be called */
  sim_isa isa;
  int threads;
  double G, softening;
  const sim_expr *law; /* nbody_laws.pair, in place of gravity; NULL: none. Read by create alone */
  bool plain;          /* the plain twin, whatever n: for tests */
} nbody_pair_options;

/* Takes all its memory here. */
sim_status nbody_pair_create(const nbody_pair_options *options, nbody_pair **out) SIM_MUST_CHECK;
void nbody_pair_destroy(nbody_pair **pair);
/* What create will take. */
double nbody_pair_bytes(const nbody_pair_options *options);
/* Short, for the run's header: "Newton's third law, blocks of 256" or "plain loop". */
const char *nbody_pair_name(const nbody_pair *pair);

/* mass[n], position[3][n], velocity[3][n] of `dtype` (SIM_F32 or SIM_F64; mass of it too);
 * acceleration[3][n], jerk[3][n] always double. Coincident bodies without softening give infinities or NaN. */
void nbody_pair_acceleration(nbody_pair *pair, sim_dtype dtype, const void *mass, const void *position,
                             double *acceleration);
void nbody_pair_jerk(nbody_pair *pair, sim_dtype dtype, const void *mass, const void *position, const void *velocity,
                     double *acceleration, double *jerk);
/* With a law alone: see nbody_law_start. */
double nbody_pair_start(const nbody_pair *pair, sim_dtype dtype, const void *mass, const void *position);
/* In fp64 whatever `single` says. */
double nbody_pair_potential(nbody_pair *pair, sim_dtype dtype, const void *mass, const void *position);

#endif
