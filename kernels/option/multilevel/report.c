/* What a multilevel run says about its levels at the end. */
#include "kernels/option/multilevel/levels.h"

#include <math.h>
#include <stdio.h>

void option_levels_report(const option_levels *levels, const option_parameters *p, sim_bytes *out) {
  const option_level_sums *s = option_levels_sums(levels);
  const char *whose = s->payoffs > 1 ? " of payoff 1" : "";
  double done, bias = 0;
  if (s->levels < 2) return;
  const bool random = s->tail > 0 && s->levels > s->tail;
  const double least = option_level_least_work(s, p->sampling.standard_error, &done);
  for (int k = 0; k < s->payoffs; k++) bias = fmax(bias, option_level_bias(s, k));
  sim_bytes_format(out, "%-6s %-8s %-14s mean and deviation of the difference%s\n", "level", "steps", "paths", whose);
  for (int l = 0; l < s->levels; l++) {
    char level[16];
    snprintf(level, sizeof level, "%d", l);
    if (random && l == s->tail) snprintf(level, sizeof level, "%d-%d", l, s->finest);
    sim_bytes_format(out, "%-6s %-8.0f %-14.0f %-+14.6g %.3g\n", level, (double)p->nodes * exp2(l),
                     s->count[l] * (p->sampling.antithetic ? 2 : 1), s->mean[l * s->width],
                     sqrt(option_level_variance(s, l, 0)));
  }
  if (random)
    sim_bytes_format(out, "levels %d to %d: drawn at random, so that their sum has no bias\n", s->tail, s->finest);
  sim_bytes_format(out, "bias of the finest steps%s: at most about %.2g, in the standard error\n",
                   random ? " that are possible" : "", bias);
  sim_bytes_format(out, "work: %.3g path-steps", done);
  if (isfinite(least))
    sim_bytes_format(out, ", %.2f times that of the best levels and paths for standard_error = %.3g", done / least,
                     p->sampling.standard_error);
  sim_bytes_text(out, "\n");
}
