/* Forces from functions of a scenario, as expression graphs of forces, their time derivatives and potentials. */
#ifndef NBODY_LAWS_H
#define NBODY_LAWS_H

#include "kernels/nbody/nbody.h"

/* Owned graphs; NULL: the scenario has no such function. Results in brackets exist for the Hermite scheme only. */
typedef struct nbody_laws {
  /* External force on a body, per unit mass: x y z [vx vy vz] t -> ax ay az [jx jy jz] potential. Evaluated in fp64 in
   * every precision. The potential is NaN where the scenario gives an acceleration alone. The velocity is an input for
   * the Hermite scheme, and where the force depends on it. */
  sim_expr *external;
  /* Custom law between two bodies, instead of gravity: r2 -> force [rate] potential, with a_i = sum_j m_j force(r2) d,
   * d = x_j - x_i, r2 = d.d, rate = dforce/dr2 and U = sum over pairs of m_i m_j potential(r2). Evaluated in the
   * precision of the pair terms, never for a body with itself. An unknown potential is NaN. */
  sim_expr *pair;
  bool no_pairs;           /* force and potential of `pair` are 0 everywhere: no sums over pairs are needed */
  bool time_dependent;     /* external depends on t */
  bool velocity_dependent; /* external depends on vx, vy or vz; never with the Hermite scheme or a potential */
  bool potential_known;    /* all potentials are known */
} nbody_laws;

/* Builds the laws from valid parameters. SIM_ERR_SCENARIO where a derivative becomes too large, SIM_ERR_NO_MEMORY. */
sim_status nbody_laws_create(const nbody_parameters *p, nbody_laws *out) SIM_MUST_CHECK;
void nbody_laws_free(nbody_laws *laws);
/* Whether the scenario's function `external` depends on vx, vy or vz; NULL: false. */
bool nbody_laws_need_velocity(const sim_expr *external);
/* A new graph, owned by the caller, with results first ... first + count - 1 of `expr`, and its inputs. */
sim_status nbody_laws_pick(const sim_expr *expr, int first, int count, sim_expr **out) SIM_MUST_CHECK;
/* *out: sim_expr_work of the first `count` results of `expr`; 0 where expr is NULL. */
sim_status nbody_laws_work(const sim_expr *expr, int count, double *out) SIM_MUST_CHECK;
/* Makes a new graph, owned by the caller, of the second time derivative of the external force along the path of a body:
 * x y z vx vy vz ax ay az t -> sx sy sz. The law must have been created with jerk. */
sim_status nbody_laws_snap(const nbody_laws *laws, sim_expr **out) SIM_MUST_CHECK;

/* Inputs of functions in `observe`, in this order. */
#define NBODY_BODY_INPUTS "mass", "x", "y", "z", "vx", "vy", "vz", "ax", "ay", "az", "t"

#endif
