#include "kernels/option/starts.h"

#include "kernels/option/cpu/leverage.h"

#include <math.h>
#include <string.h>

int option_starts_count(const option_starts *s, int chunks) {
  const int units = chunks * (OPTION_CHUNK / OPTION_STARTS_UNIT);
  return !s->spread ? 1 : units < OPTION_STARTS ? units : OPTION_STARTS;
}

void option_starts_units(int number, int count, int chunks, int *first, int *end) {
  const int64_t units = (int64_t)chunks * (OPTION_CHUNK / OPTION_STARTS_UNIT);
  *first = (int)(units * number / count);
  *end = (int)(units * (number + 1) / count);
}

/* Point `number` of an additive recurrence in `assets` dimensions: multiples of 1/g, 1/g^2, ... modulo 1, g the root
 * of x^(assets + 1) = x + 1 above 1. Its points are evenly spread (M. Roberts, The unreasonable effectiveness of
 * quasirandom sequences, 2018). out[assets], from -1 to 1. */
static void spread(int number, int assets, double *out) {
  double g = 2, power = 1;
  for (int i = 0; i < 64; i++) g = pow(1 + g, 1.0 / (assets + 1));
  for (int a = 0; a < assets; a++) {
    power /= g;
    out[a] = 2 * fmod(0.5 + (number + 1) * power, 1) - 1;
  }
}

sim_status option_starts_market(const option_starts *s, int number, option_market *out) {
  double factor[OPTION_ASSETS_MAX];
  option_bump bump = s->bump;
  bump.parts = s->market->parts;
  bump.factor = factor;
  spread(number, s->market->assets, factor);
  for (int a = 0; a < s->market->assets; a++) factor[a] = 1 + s->range[a] * factor[a];
  const sim_status status = option_market_create(s->p, &bump, out);
  for (int a = 0; a < s->market->assets && status == SIM_OK; a++) {
    if (!option_asset_at(s->p, a)->leverage.given) continue;
    const option_dynamics *from = &s->market->dynamics[a];
    memcpy((double *)(uintptr_t)out->dynamics[a].row, from->row,
           (size_t)out->steps * (size_t)from->nodes * sizeof *from->row);
  }
  return status;
}
