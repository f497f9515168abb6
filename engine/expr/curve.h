/* Curves through points: functions of one input, linear or flat between the points and constant outside. */
#ifndef SIM_ENGINE_EXPR_CURVE_H
#define SIM_ENGINE_EXPR_CURVE_H

#include "engine/expr/expr.h"

enum { SIM_CURVE_MOST = 1024 }; /* most points of a curve */
typedef struct sim_curve_point {
  double t, value;
} sim_curve_point;

/* The slope between point i and the next one. */
static inline double sim_curve_slope(const sim_curve_point *point, int i) {
  return (point[i + 1].value - point[i].value) / (point[i + 1].t - point[i].t);
}

/* Adds the curve through points of increasing t as a node *out of the input `t`. SIM_ERR_NO_MEMORY, SIM_ERR_SCENARIO.
 */
sim_status sim_curve_build(const sim_curve_point *point, int count, bool flat, sim_expr_builder *builder,
                           sim_expr_ref t, sim_expr_ref *out) SIM_MUST_CHECK;
/* Finds the points of a function that sim_curve_build has made: *out[*count], freed by the caller; of any other
 * function NULL and 0. A curve of one point is not flat. SIM_ERR_NO_MEMORY. */
sim_status sim_curve_find(const sim_expr *expr, sim_curve_point **out, int *count, bool *flat) SIM_MUST_CHECK;

#endif
