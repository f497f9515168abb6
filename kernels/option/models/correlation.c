#include "kernels/option/models/correlation.h"

#include "engine/log.h"
#include "kernels/option/models/heston.h"

#include <math.h>

/* *out: the correlation of price and volatility at time 0; 0 where the volatility is not random. */
static sim_status own_correlation(const option_asset *a, double *out) {
  *out = a->rough_bergomi.given ? a->rough_bergomi.rho : a->sabr.given ? a->sabr.rho : 0;
  return a->heston.given ? option_heston_rho(&a->heston, out) : SIM_OK;
}

sim_status option_warn_correlation(const option_parameters *p) {
  const int n = (int)p->assets.count;
  int most[2] = {0, 0};
  double difference = 0.005, asked = 0, prices = 0;
  if (p->correlation.rows == 0) return SIM_OK;
  for (int i = 0; i < n; i++) {
    double r, s;
    SIM_TRY(own_correlation(option_asset_at(p, i), &r));
    for (int j = 0; j < i; j++) {
      const double c = p->correlation.data[i * n + j];
      SIM_TRY(own_correlation(option_asset_at(p, j), &s));
      const double of_prices = c * sqrt((1 - r * r) * (1 - s * s));
      if (fabs(c - of_prices) <= difference) continue;
      difference = fabs(c - of_prices);
      asked = c;
      prices = of_prices;
      most[0] = j + 1;
      most[1] = i + 1;
    }
  }
  if (most[1] > 0)
    sim_log(SIM_LOG_WARN,
            "correlation of assets %d and %d: %.3g is that of what their volatilities do not share; their prices "
            "correlate by %.3g",
            most[0], most[1], asked, prices);
  return SIM_OK;
}
