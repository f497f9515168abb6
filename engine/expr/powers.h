/* Finds the nodes of a graph that are c s^(k/2) of another node s. */
#ifndef SIM_EXPR_POWERS_H
#define SIM_EXPR_POWERS_H

#include "engine/expr/graph.h"

typedef struct sim_expr_power {
  bool is;
  int base; /* node s; -1: the node is a constant. A node that is its own base is computed as usual */
  int halves;
  double factor;
} sim_expr_power;

/* All arrays are [node count]. */
typedef struct sim_expr_powers {
  sim_expr_power *powers;
  bool *needed; /* whether results need the node when powers are written as powers */
  bool *odd;    /* for a base: whether one of its powers contains a root */
  int *used;    /* for a base: number of its powers that are needed */
  int shifted;  /* the node input + constant if it is the only user of the input; -1: none */
} sim_expr_powers;

/* Finds the powers of an input that is finite and never negative. input -1: finds no powers, only sets `needed`. */
sim_status sim_expr_powers_find(const sim_expr *expr, int input, sim_expr_powers *out);
void sim_expr_powers_free(sim_expr_powers *powers);

#endif
