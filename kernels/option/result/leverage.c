#include "kernels/option/result/leverage.h"

#include "engine/log.h"

#include <math.h>
#include <stdlib.h>

const option_quote *option_leverage_worst(const option_quote *quotes, int count, double *miss) {
  const option_quote *worst = NULL;
  for (int k = 0; k < count; k++) {
    const double d = quotes[k].model - quotes[k].local;
    if (!isfinite(d) || quotes[k].time == 0 || (worst != NULL && fabs(d) <= fabs(*miss))) continue;
    worst = &quotes[k];
    *miss = d;
  }
  return worst;
}

static void warn(const option_run *run, int asset) {
  const double much = 0.002;
  double miss = 0;
  const option_quote *q = option_leverage_worst(run->quotes + asset * OPTION_QUOTES, OPTION_QUOTES, &miss);
  if (q == NULL || !(fabs(miss) > much && fabs(miss) > 3 * q->error)) return;
  sim_log(SIM_LOG_WARN,
          "assets[%d].leverage: the call of strike %.6g at t = %.6g has a volatility of %.4f, by the local volatility "
          "%.4f: expected more steps than %lld, more particles, or a smaller mixing",
          asset + 1, q->strike, q->time, q->model, q->local, (long long)run->parameters->steps);
}

sim_status option_leverage_find(option_run *run, const sim_setup *setup) {
  const option_parameters *p = run->parameters;
  if (!option_any_leverage(p)) return SIM_OK;
  run->quotes = calloc(p->assets.count * OPTION_QUOTES, sizeof *run->quotes);
  if (run->quotes == NULL) return sim_no_memory("the leverage function");
  for (int a = 0; a < (int)p->assets.count; a++) {
    if (!option_asset_at(p, a)->leverage.given) continue;
    SIM_TRY(option_leverage_check(p, setup, a, run->quotes + a * OPTION_QUOTES));
    warn(run, a);
  }
  return SIM_OK;
}

void option_leverage_report(const option_run *run, sim_bytes *out) {
  const option_parameters *p = run->parameters;
  for (int a = 0; run->quotes != NULL && a < (int)p->assets.count; a++) {
    const option_quote *quotes = run->quotes + a * OPTION_QUOTES, *last = quotes + OPTION_QUOTES - 1;
    double miss = 0;
    const option_quote *worst = option_leverage_worst(quotes, OPTION_QUOTES, &miss);
    if (worst == NULL) continue;
    sim_bytes_format(out,
                     "leverage of assets[%d]: %d calls of strikes %.4g to %.4g until t = %.4g have the local "
                     "volatility's within %.4f +- %.4f of volatility\n",
                     a + 1, OPTION_QUOTES, quotes[OPTION_QUOTES - OPTION_STRIKES].strike, last->strike, last->time,
                     fabs(miss), worst->error);
  }
}
