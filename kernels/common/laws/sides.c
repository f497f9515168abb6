#include "kernels/common/laws/sides.h"

#include "engine/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of a side, in rows of EACH. */
enum { EACH = 4, POINTS = EACH * EACH };

/* Two sides count as equal within this share of the largest value on them: rounding of sines of whole turns. */
#define ROUNDING 1e-9

/* Returns the largest difference of the potential between the sides of an axis; *most: its largest value so far. */
static double step_of(const sim_expr *external, const sim_expr_program *program, void *scratch, const double low[3],
                      const double size[3], int axis, double t, double *most) {
  static const char *const name[] = {"x", "y", "z", "t"};
  double in[4][2 * POINTS], none[2 * POINTS] = {0}, out[2 * POINTS], step = 0;
  const void *from[SIM_EXPR_INPUTS_MAX];
  for (int i = 0; i < 2 * POINTS; i++) {
    const int place[2] = {i / 2 % EACH, i / 2 / EACH};
    for (int c = 0; c < 3; c++) {
      const double share = c == axis ? i % 2 : (0.5 + place[(c + 3 - axis) % 3 - 1]) / EACH;
      in[c][i] = low[c] + share * size[c];
    }
    in[3][i] = t;
  }
  for (int i = 0; i < sim_expr_input_count(external); i++) {
    from[i] = none;
    for (int k = 0; k < 4; k++)
      if (strcmp(sim_expr_input_name(external, i), name[k]) == 0) from[i] = in[k];
  }
  sim_expr_program_run(program, 2 * POINTS, from, (void *const[]){out}, scratch);
  for (int i = 0; i < 2 * POINTS; i++) {
    *most = fmax(*most, fabs(out[i]));
    step = fmax(step, fabs(out[i] - out[i ^ 1]));
  }
  return step;
}

sim_status laws_check_sides(const sim_expr *external, const double low[3], const double size[3], const bool periodic[3],
                            double t) {
  sim_expr_program *program;
  if (external == NULL || sim_expr_output_count(external) != 1 || !(periodic[0] || periodic[1] || periodic[2]))
    return SIM_OK;
  SIM_TRY(sim_expr_program_create(external, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, &program));
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 127) / 64 * 64);
  double most = 0, step[3] = {0};
  for (int axis = 0; axis < 3 && scratch != NULL; axis++)
    step[axis] = step_of(external, program, scratch, low, size, axis, t, &most);
  for (int axis = 0; axis < 3; axis++)
    if (periodic[axis] && step[axis] > ROUNDING * most)
      sim_log(
          SIM_LOG_WARN,
          "external: the potential differs by up to %.3g between the two sides of %c, along which the box is periodic: "
          "the energy changes by as much of a mass that passes; where the force alone is periodic give its "
          "components, without a potential",
          step[axis], "xyz"[axis]);
  free(scratch);
  sim_expr_program_free(&program);
  return scratch != NULL ? SIM_OK : sim_no_memory("the external field");
}
