#include "kernels/diffusion/cuda/product.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/waves.h"

#include <math.h>

static double multiplier(const diffusion_filling *filling, const int64_t mode[3]) {
  double k[3], values[DIFFUSION_TABLES][2] = {{0}};
  for (int a = 0; a < 3; a++)
    k[a] = (filling->grid.boundary[a] == GRID_PERIODIC ? 2 * DIFFUSION_PI : DIFFUSION_PI) * (double)mode[a] /
           filling->grid.size[a];
  diffusion_method_fill((void *)(uintptr_t)filling, k, mode, values);
  return values[0][0];
}

double diffusion_product_whole(const diffusion_filling *filling) { return multiplier(filling, (int64_t[3]){0}); }

double diffusion_product_factor(const diffusion_filling *filling, int axis, int64_t mode) {
  int64_t at[3] = {0};
  at[axis] = mode;
  return multiplier(filling, at) / diffusion_product_whole(filling);
}

sim_status diffusion_product_begin(const diffusion_parameters *p, int field, double dt, diffusion_filling *out) {
  const grid_shape grid = diffusion_grid_of(p);
  return diffusion_filling_begin(p, field, dt, 1 / grid_cells_wanted(&grid), out);
}

/* Tests the product form at wavenumbers of all magnitudes. An L that is no product fails at most of them. */
static bool is_product(const diffusion_filling *filling) {
  const grid_shape *grid = &filling->grid;
  const double whole = diffusion_product_whole(filling);
  uint64_t word = 1;
  if (!(fabs(whole) > 0)) return false;
  for (int i = 0; i < 256; i++) {
    int64_t mode[3];
    double product = whole;
    for (int a = 0; a < 3; a++) {
      const int64_t modes = grid->boundary[a] == GRID_PERIODIC ? grid->n[a] / 2 + 1 : grid->n[a] + 1;
      const int64_t some = modes >> (i / 3 + a + i) % 8;
      word = word * 6364136223846793005u + 1442695040888963407u;
      mode[a] = some > 0 ? (int64_t)(word >> 33) % some : 0;
      product *= diffusion_product_factor(filling, a, mode[a]);
    }
    if (fabs(multiplier(filling, mode) - product) > 1e-9 * fabs(whole)) return false;
  }
  return true;
}

static bool are_products(const diffusion_parameters *p) {
  bool product = true;
  for (int f = 0; product && f < (int)p->fields.count; f++) {
    diffusion_filling filling;
    if (diffusion_product_begin(p, f, diffusion_dt(&p->integrate), &filling) != SIM_OK) return false;
    product = is_product(&filling);
    diffusion_filling_end(&filling);
  }
  return product;
}

bool diffusion_product_supports(const diffusion_parameters *p) {
  enum { MOST_FIELDS = 2 };
  const bool split = p->integrate.scheme == DIFFUSION_LIE || p->integrate.scheme == DIFFUSION_STRANG;
  return split && diffusion_cuda_in_registers(p, MOST_FIELDS) && are_products(p);
}

void diffusion_product_plan(const diffusion_parameters *p, double tables, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  const double field = (double)p->fields.count * grid_cells_wanted(&grid) * sizeof(float);
  sim_plan_add(out, "transformed fields", field);
  sim_plan_add(out, "tables of the scheme", tables);
  out->checkpoint_bytes = field;
  out->work_rate_guess = 1.4e11;
}

sim_status diffusion_product_create(diffusion_work *w, const int64_t shape[4]) {
  w->method = *diffusion_method_of(w->p);
  return sim_buffer_create(&sim_backend_cuda, SIM_F32, 4, shape, &w->array[0]);
}

void diffusion_turn(float *at, int64_t index, int64_t n) {
  const double angle = -2 * DIFFUSION_PI * (double)(index % n) / (double)n;
  at[0] = (float)cos(angle);
  at[1] = (float)sin(angle);
}

void diffusion_line_turns(float *at, int64_t n) {
  const int64_t q = n / 32;
  for (int64_t a = 0; a < 32; a++)
    for (int64_t j = 0; j < q; j++) diffusion_turn(at + 4 * (a / 2 * q + j) + 2 * (a % 2), a * j, n);
}
