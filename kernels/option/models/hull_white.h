/* Hull and White's short rate over the steps of a run (Review of Financial Studies 3 (1990) 573): r = f(0, t) + V'(t)/2
 * + x, dx = -a x dt + sigma dW, x = 0 at first, V the variance of the integral of x, so that bonds cost at time 0 what
 * the forward rates f = `rate` say. */
#ifndef OPTION_MODELS_HULL_WHITE_H
#define OPTION_MODELS_HULL_WHITE_H

#include "kernels/option/limits.h"
#include "kernels/option/scenario/grid.h"

/* Exact joint steps of x, of its integral J and of the assets' normals: x' = keep x + e, J = reach x + i, with e =
 * sum_a asset[a][0] z_a + own[0] g and i = sum_a asset[a][1] z_a + own[1] g + own[2] h; z_a: the assets' independent
 * normals, before their correlation; g, h: two more. */
typedef struct option_rate_step {
  double keep, reach, own[3];
  double asset[OPTION_ASSETS_MAX][2];
} option_rate_step;

/* Constants of each kind of step, out[grid->kinds], and by how much half of V grows in each step, rise[grid->steps].
 * factor[assets][assets]: lower triangular factor of the assets' correlation. SIM_ERR_SCENARIO where the correlations
 * contradict each other. */
sim_status option_hull_white_steps(const option_parameters *p, const option_grid *grid, const double *factor,
                                   option_rate_step *out, double *rise) SIM_MUST_CHECK;
/* Adds faults: of its own keys, and of all that a random rate is not built for. */
sim_status option_check_hull_white(const option_parameters *p, sim_faults *faults) SIM_MUST_CHECK;

#endif
