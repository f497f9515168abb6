/* Curves through points as graphs, and the points of such a graph. */
#include "engine/expr/curve.h"

#include <stdlib.h>

/* Builds where(t < t_2, ..., where(t < t_3, ..., where(t_n <= t, last, t))). It compares t directly with the points, so
 * that integrals can be split there. NaN stays NaN. */
sim_status sim_curve_build(const sim_curve_point *point, int count, bool flat, sim_expr_builder *builder,
                           sim_expr_ref t, sim_expr_ref *out) {
  sim_expr_ref end, reached, last;
  SIM_TRY(sim_expr_builder_number(builder, point[count - 1].t, &end));
  SIM_TRY(sim_expr_builder_number(builder, point[count - 1].value, &last));
  SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_LE, (const sim_expr_ref[]){end, t}, &reached));
  SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_WHERE, (const sim_expr_ref[]){reached, last, t}, out));
  for (int i = count - 2; i >= -1; i--) { /* the piece before point i + 1; i = -1: before all points */
    sim_expr_ref at, below, piece, other;
    SIM_TRY(sim_expr_builder_number(builder, point[i < 0 ? 0 : i].value, &piece));
    if (i >= 0 && !flat) {
      SIM_TRY(sim_expr_builder_number(builder, point[i].t, &other));
      SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_SUB, (const sim_expr_ref[]){t, other}, &at));
      SIM_TRY(sim_expr_builder_number(builder, sim_curve_slope(point, i), &other));
      SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_MUL, (const sim_expr_ref[]){at, other}, &at));
      SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_ADD, (const sim_expr_ref[]){piece, at}, &piece));
    }
    SIM_TRY(sim_expr_builder_number(builder, point[i + 1].t, &at));
    SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_LT, (const sim_expr_ref[]){t, at}, &below));
    SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_WHERE, (const sim_expr_ref[]){below, piece, *out}, out));
  }
  return SIM_OK;
}

/* ---- finding ---- */

static int compare(const void *a, const void *b) {
  const double x = ((const sim_curve_point *)a)->t, y = ((const sim_curve_point *)b)->t;
  return (x > y) - (x < y);
}

/* Evaluates the function at the points. */
static sim_status set_values(const sim_expr *expr, sim_curve_point *point, int count) {
  sim_expr_program *program = NULL;
  SIM_TRY(sim_expr_program_create(expr, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, &program));
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 127) / 64 * 64);
  for (int i = 0; i < count && scratch != NULL; i++)
    sim_expr_program_run(program, 1, (const void *const[]){&point[i].t}, (void *const[]){&point[i].value}, scratch);
  const bool good = scratch != NULL;
  free(scratch);
  sim_expr_program_free(&program);
  return good ? SIM_OK : sim_no_memory("a curve");
}

/* Whether the function is the graph of the curve through these points: in one builder equal graphs are the same node.
 */
static sim_status is_curve(const sim_expr *expr, const sim_curve_point *point, int count, bool flat, bool *out) {
  sim_expr_builder *builder;
  sim_expr_ref t, of, made;
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = sim_expr_builder_input(builder, sim_expr_input_name(expr, 0), &t);
  if (status == SIM_OK) status = sim_expr_builder_insert(builder, expr, &t, &of);
  if (status == SIM_OK) status = sim_curve_build(point, count, flat, builder, t, &made);
  *out = status == SIM_OK && of == made;
  sim_expr_builder_free(&builder);
  return status == SIM_ERR_SCENARIO ? SIM_OK : status; /* two graphs may be too large together */
}

sim_status sim_curve_find(const sim_expr *expr, sim_curve_point **out, int *count, bool *flat) {
  double *at = NULL;
  int all = 0, points = 0;
  bool found = false;
  *out = NULL;
  *count = 0;
  *flat = false;
  if (sim_expr_input_count(expr) != 1 || sim_expr_output_count(expr) != 1) return SIM_OK;
  SIM_TRY(sim_expr_breaks(expr, 0, &at, &all));
  sim_curve_point *point = calloc((size_t)all + 1, sizeof *point);
  for (int i = 0; i < all && point != NULL; i++) point[i].t = at[i];
  free(at);
  if (point == NULL) return sim_no_memory("a curve");
  qsort(point, (size_t)all, sizeof *point, compare);
  for (int i = 0; i < all; i++)
    if (points == 0 || point[i].t > point[points - 1].t) point[points++] = point[i];
  sim_status status = SIM_OK;
  if (points > 0 && points <= SIM_CURVE_MOST) status = set_values(expr, point, points);
  for (int k = 0; k < 2 && points > 0 && points <= SIM_CURVE_MOST && status == SIM_OK && !found; k++) {
    *flat = k == 1;
    status = is_curve(expr, point, points, *flat, &found);
  }
  if (status != SIM_OK || !found) {
    free(point);
    *flat = false;
    return status;
  }
  *out = point;
  *count = points;
  return SIM_OK;
}
