/* Nodes of a graph that are c s^(k/2) of another node s. */
#ifndef SIM_EXPR_POWERS_H
#define SIM_EXPR_POWERS_H

#include "engine/expr/graph.h"

typedef struct sim_expr_power {
  bool is;
  int base; /* node; -1: a constant. A node that is its own base is computed as it is */
  int halves;
  double factor;
} sim_expr_power;

/* All [node count]. */
typedef struct sim_expr_powers {
  sim_expr_power *powers;
  bool *needed; /* by results, where powers are written as powers */
  bool *odd;    /* of a base: some power of it has a root */
  int *used;    /* of a base: number of its powers that are needed */
  int shifted;  /* the node input + constant, the only user of the input; -1: none */
} sim_expr_powers;

/* Finds the powers of an input that is finite and never negative; -1: no powers, only `needed`. */
sim_status sim_expr_powers_find(const sim_expr *expr, int input, sim_expr_powers *out);
void sim_expr_powers_free(sim_expr_powers *powers);

#endif
