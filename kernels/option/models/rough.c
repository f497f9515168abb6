#include "kernels/option/models/rough.h"

#include "kernels/option/scenario/integral.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool option_any_rough(const option_parameters *p) {
  bool any = false;
  for (int a = 0; a < (int)p->assets.count; a++) any |= option_asset_at(p, a)->rough_bergomi.given;
  return any;
}

double option_rough_bytes(const option_parameters *p) {
  double assets = 0;
  for (int a = 0; a < (int)p->assets.count; a++) assets += option_asset_at(p, a)->rough_bergomi.given;
  return assets * (double)p->nodes * ((double)p->nodes + 6) / 2 * sizeof(double);
}

static double least_order(const option_parameters *p) {
  double order = 1;
  for (int a = 0; a < (int)p->assets.count; a++)
    if (option_asset_at(p, a)->rough_bergomi.given)
      order = fmin(order, option_asset_at(p, a)->rough_bergomi.hurst + 0.5);
  return order;
}

static double factor_of(double order) { return 1 / (1 - exp2(-order)); }

double option_bias_factor(const option_parameters *p) { return factor_of(least_order(p)); }

/* Measured by tests/option/rough_orders.py from 16 to 256 steps: orders of H + 0.4 to 1. With 8 steps half of the bias,
 * or twice as much, may be left. */
double option_bias_doubt(const option_parameters *p) {
  const double order = least_order(p), factor = factor_of(order);
  double other = 0; /* SABR near 0, where the order is up to 2 */
  for (int a = 0; a < (int)p->assets.count; a++)
    if (option_asset_at(p, a)->sabr.given && option_asset_at(p, a)->sabr.beta < 1) other = 1. / 3;
  if (!option_any_rough(p)) return other;
  return fmax(factor_of(order - 0.1) / factor - 1, 1 - 2 / factor) * fmax(1, 24 / (double)p->nodes);
}

sim_status option_rough_set(const option_rough *r, int asset, const option_grid *grid, double shift,
                            option_dynamics *out) {
  const size_t n = (size_t)grid->steps;
  const double *time = grid->time, *length = grid->length, h = r->hurst, more = h + 0.5;
  const double eta = r->eta * sqrt(2 * h);
  char name[64];
  double *numbers = calloc(3 * n + n * (n - 1) / 2, sizeof *numbers), *xi = calloc(n, sizeof *xi);
  double *level = numbers, *near = numbers + n, *past = near + 2 * n;
  snprintf(name, sizeof name, "assets[%d].rough_bergomi.xi", asset + 1);
  sim_status status = SIM_OK;
  if (numbers == NULL || xi == NULL) status = sim_no_memory("the rough volatility");
  if (status == SIM_OK) status = option_integrate(name, r->xi, OPTION_POSITIVE, grid, xi, NULL);
  for (size_t s = 0; s < n && status == SIM_OK; s++) {
    const double deviation = sqrt(xi[s] / length[s]) + shift;
    double variance = 0; /* of eta Y at the beginning of step s */
    if (s > 0) {
      const double last = pow(length[s - 1], h), joint = last / more;
      double *row = past + (s - 1) * (s - 2) / 2 * (s > 1);
      near[2 * s - 2] = eta * joint;
      near[2 * s - 1] = eta * sqrt(fmax(last * last / (2 * h) - joint * joint, 0));
      variance = near[2 * s - 2] * near[2 * s - 2] + near[2 * s - 1] * near[2 * s - 1];
      for (size_t j = 0; j + 1 < s; j++) {
        const double mean = (pow(time[s] - time[j], more) - pow(time[s] - time[j + 1], more)) / (more * length[j]);
        row[j] = eta * mean * sqrt(length[j]);
        variance += row[j] * row[j];
        row[j] *= 1.4426950408889634074;
      }
      near[2 * s - 2] *= 1.4426950408889634074;
      near[2 * s - 1] *= 1.4426950408889634074;
    }
    level[s] = deviation * deviation * exp(-variance / 2);
  }
  free(xi);
  out->node = numbers;
  out->motion = OPTION_ROUGH_BERGOMI;
  out->v = numbers != NULL ? level[0] : 0;
  out->level = level;
  out->near = near;
  out->past = past;
  out->rho = r->rho;
  out->free = sqrt(1 - r->rho * r->rho);
  return status;
}
