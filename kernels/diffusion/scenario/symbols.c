/* Whether functions of the wavenumber are coefficients of real fields. */
#include "kernels/diffusion/diffusion.h"
#include "kernels/diffusion/waves.h"

#include <math.h>
#include <string.h>

bool diffusion_symbols_near(const double a[2], const double b[2]) {
  const double most = fmax(hypot(a[0], a[1]), hypot(b[0], b[1]));
  return hypot(a[0] - b[0], a[1] - b[1]) <= 1e-12 * most || most == 0;
}

enum { NEAR = DIFFUSION_SYMBOL_SAMPLES / 3 };

bool diffusion_symbol_sample(const grid_shape *grid, int number, double k[3]) {
  const int i = number % NEAR;
  for (int a = 0; a < 3; a++) {
    const bool there = a < grid->rank && !grid_is_member_axis(grid, a);
    const bool periodic = there && grid->boundary[a] == GRID_PERIODIC;
    const double unit = there ? diffusion_axis_wave(periodic, grid->size[a]) : 0;
    const int64_t most = there ? (periodic ? (grid->n[a] - 1) / 2 : grid->n[a] - 1) : 0;
    int64_t mode = 1 + (i + 2 * a) % 5;
    if (number >= 2 * NEAR)
      mode = most + 1 - mode;
    else if (number >= NEAR)
      mode += most / 2;
    mode = mode < 1 ? 1 : mode > most && number >= NEAR ? most : mode;
    const bool half = there && (grid->boundary[a] == GRID_FIXED_LOW || grid->boundary[a] == GRID_FIXED_HIGH);
    k[a] = (i < 3 && i != a ? 0 : (double)mode - (half ? 0.5 : 0)) * unit;
    if (i > 4 && (i - 4) >> a & 1) k[a] = -k[a];
  }
  return k[0] != 0 || k[1] != 0 || k[2] != 0;
}

int diffusion_symbol_parity(const grid_shape *grid, diffusion_symbol *symbol, const void *context, const double k[3],
                            double member) {
  double back[3] = {-k[0], -k[1], -k[2]}, here[2], there[2];
  symbol(context, k, member, here);
  if (!isfinite(here[0]) || !isfinite(here[1])) return DIFFUSION_SYMBOL_INFINITE;
  symbol(context, back, member, there);
  there[1] = -there[1];
  if (!diffusion_symbols_near(here, there)) return DIFFUSION_SYMBOL_COMPLEX;
  for (int a = 0; a < grid->rank; a++) {
    if (grid_is_periodic(grid, a) || grid_is_member_axis(grid, a)) continue;
    memcpy(back, k, sizeof back);
    back[a] = -k[a];
    symbol(context, back, member, there);
    if (!diffusion_symbols_near(here, there)) return a;
  }
  return DIFFUSION_SYMBOL_GOOD;
}
