/* The remark on Sobol's points with heavy tails: the spread of the scrambles' means is that of the largest points. */
#include "kernels/option/payoff/names.h"
#include "kernels/option/result/result.h"

#include <math.h>

/* Where the deviation s of a logarithm is large, the largest of the n points of a scramble, exp(s z) with z near z0,
 * the quantile of 1 - 1/n, follow a power law of index z0/s, because z - z0 is exponential with rate z0. From 3
 * downwards their third moment is infinite: 16 to 64 scrambles tell their spread too small more often than too large.
 */
#define LEAST_INDEX 3
/* What does not grow with the price is carried by a share of all points, n scrambles/kurtosis; what does, at such an
 * index, by fewer than this many times n. */
#define CARRIERS_OF_POINTS 2

/* The normal that is exceeded with a chance of 1/n, n > 2, by bisection. */
static double quantile_of(double n) {
  double low = 0, high = 40;
  for (int k = 0; k < 60; k++) {
    const double z = (low + high) / 2;
    *(erfc(z / sqrt(2)) / 2 > 1 / n ? &low : &high) = z;
  }
  return low;
}

/* Sets heavy[payoffs]: whether a payoff sees a price with heavy tails among n points. */
static sim_status find_heavy(const option_parameters *p, double n, bool *heavy) {
  double deviation[OPTION_PAYOFFS_MAX];
  const double least = quantile_of(n) / LEAST_INDEX;
  for (int a = 0; a < (int)p->assets.count; a++) {
    SIM_TRY(option_deviations(p, a, deviation));
    for (int k = 0; k < option_payoff_count(p); k++)
      heavy[k] |= option_payoff_sees(p, k, a) && isfinite(deviation[k]) && deviation[k] > least;
  }
  return SIM_OK;
}

void option_remark_scrambles(const option_run *run, double n, sim_bytes *out) {
  const option_parameters *p = run->parameters;
  const double points = n / run->groups;
  bool heavy[OPTION_PAYOFFS_MAX] = {false};
  double least = CARRIERS_OF_POINTS * points;
  int worst = -1, count = 0;
  if (run->groups == 1 || run->certain || !(points > 2) || find_heavy(p, points, heavy) != SIM_OK) return;
  for (int q = 0; q < run->quantities; q++) {
    const double carriers = option_carriers(run, n, q);
    if (!heavy[run->quantity[q].payoff] || isnan(option_error(run, n, q)) || carriers < OPTION_CARRIED ||
        !(carriers < CARRIERS_OF_POINTS * points))
      continue;
    count++;
    if (!(carriers < least) || (worst >= 0 && run->quantity[worst].greek < 0 && run->quantity[q].greek >= 0)) continue;
    least = carriers;
    worst = q;
  }
  if (worst < 0) return;
  char name[OPTION_PAYOFF_NAME], what[40];
  option_payoff_name(p, run->quantity[worst].payoff, name, sizeof name);
  option_column_name(p, &run->quantity[worst], what, sizeof what);
  sim_bytes_format(out, "%sfew points of each scramble carry the %s of %s%s", out->size > 0 ? "; " : "", what, name,
                   run->quantity[worst].point > 0 ? " in the ladder" : "");
  if (count > 1) sim_bytes_format(out, " (and %d more number%s)", count - 1, count > 2 ? "s" : "");
  sim_bytes_format(out, ": rarer ones may be worth more, and its error may be too small; expected more paths%s",
                   p->sampling.control == OPTION_NO_CONTROL ? ", or a control" : "");
}
