/* Check of the linear part before the first step: whether the scheme's tables are finite. */
#include "kernels/diffusion/diffusion.h"
#include "kernels/diffusion/waves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };

/* A row of wavenumbers along x. */
typedef struct row {
  int64_t modes;
  double *k2, *kx, *re, *im;
  void *scratch;
} row;

/* Number of modes along an axis, from 0 on. */
static int64_t modes_of(const grid_shape *grid, int axis) {
  if (axis >= grid->rank) return 1;
  return grid->boundary[axis] == GRID_PERIODIC ? grid->n[axis] / 2 + 1 : grid->n[axis];
}

/* Returns the lowest mode for a function of this component of k. It is negative, because the function may differ at
 * both signs; it is 0 for functions that do not depend on the component. */
static int64_t least_mode(const grid_shape *grid, const sim_expr *linear, int axis) {
  const bool both = grid->boundary[axis] == GRID_PERIODIC && diffusion_takes(linear, 1 + axis);
  return axis < grid->rank && both ? 1 - modes_of(grid, axis) : 0;
}

/* Returns the wavenumber of mode m. Sine transforms begin with m = 1. */
static double wavenumber(const grid_shape *grid, int axis, int64_t m) {
  if (axis >= grid->rank || (axis > 0 && axis == grid->member_axis)) return 0;
  const grid_boundary b = grid->boundary[axis];
  if (b == GRID_ROBIN) return diffusion_robin_wave(grid->mix[axis], grid->size[axis], m);
  const double more = b == GRID_FIXED ? 1 : b == GRID_FIXED_LOW || b == GRID_FIXED_HIGH ? 0.5 : 0;
  return (b == GRID_PERIODIC ? 2 * DIFFUSION_PI : DIFFUSION_PI) * ((double)m + more) / grid->size[axis];
}

/* Computes one row of L from r->kx, without drift and tensor, whose signs depend on the signs of k. */
static void fill(const diffusion_field *s, const grid_shape *grid, sim_expr_program *linear, int64_t y, int64_t z,
                 const row *r) {
  const double ky = wavenumber(grid, Y, y), kz = wavenumber(grid, Z, z);
  const double member = grid->member_axis ? (double)(grid->member_axis == Y ? y : z) + 1 : 1;
  for (int64_t x = 0; x < r->modes; x++) {
    r->k2[x] = r->kx[x] * r->kx[x] + ky * ky + kz * kz;
    r->re[x] = r->im[x] = 0;
  }
  if (linear)
    sim_expr_program_run(linear, (size_t)r->modes, (const void *const[]){r->k2, r->kx, &ky, &kz, &member},
                         (void *const[]){r->re, r->im}, r->scratch);
  for (int64_t x = 0; x < r->modes; x++)
    r->re[x] -= s->D * (s->axes[X] * r->kx[x] * r->kx[x] + s->axes[Y] * ky * ky + s->axes[Z] * kz * kz) +
                s->hyper * r->k2[x] * r->k2[x] + s->decay;
}

static bool check_row(const diffusion_parameters *p, const grid_shape *grid, int field, int64_t y, int64_t z,
                      const row *r, sim_faults *faults) {
  const double most = 1e90; /* its cube is finite */
  const double h = diffusion_adaptive(p) ? 0 : diffusion_dt(&p->integrate);
  const char *name = diffusion_field_of(p, field)->name;
  char path[64];
  for (int64_t x = 0; x < r->modes; x++) {
    const double re = r->re[x], im = r->im[x];
    const bool grows = p->rates && h * re > 700; /* its exponential would overflow */
    if (fabs(re) < most && fabs(im) < most && !grows) continue;
    const double kx = wavenumber(grid, X, x), ky = wavenumber(grid, Y, y), kz = wavenumber(grid, Z, z);
    snprintf(path, sizeof path, "fields[%d]%s", field + 1,
             diffusion_field_of(p, field)->linear && !grows ? ".linear" : "");
    if (grows)
      sim_faults_add(faults, p->fields.items[field].line, path,
                     "modes of %s at k = {%.6g, %.6g, %.6g} grow by exp(%.3g) in a step of dt = %.3g", name, kx, ky, kz,
                     h * re, h);
    else if (!(fabs(re) < INFINITY && fabs(im) < INFINITY))
      sim_faults_add(faults, p->fields.items[field].line, path, "the linear part of %s is %s at k = {%.6g, %.6g, %.6g}",
                     name, isnan(re) || isnan(im) ? "not a number" : "infinite", kx, ky, kz);
    else
      sim_faults_add(faults, p->fields.items[field].line, path,
                     "the linear part of %s is %g%s at k = {%.6g, %.6g, %.6g}: expected a finite number below 1e90",
                     name, fabs(re) < most ? im : re, fabs(re) < most ? " i" : "", kx, ky, kz);
    return false;
  }
  return true;
}

static sim_status check_field(const diffusion_parameters *p, const grid_shape *grid, int field, const row *r,
                              sim_faults *faults) {
  const diffusion_field *s = diffusion_field_of(p, field);
  const bool uniform[] = {false, false, true, true, true};
  const int64_t ny = modes_of(grid, Y), nz = modes_of(grid, Z);
  sim_expr_program *linear = NULL;
  row own = *r;
  for (int64_t x = 0; x < r->modes; x++) r->kx[x] = wavenumber(grid, X, x);
  if (!s->linear) { /* L decreases from the first row to the last */
    fill(s, grid, NULL, 0, 0, r);
    if (!check_row(p, grid, field, 0, 0, r, faults)) return SIM_OK;
    fill(s, grid, NULL, ny - 1, nz - 1, r);
    check_row(p, grid, field, ny - 1, nz - 1, r, faults);
    return SIM_OK;
  }
  SIM_TRY(sim_expr_program_create(s->linear, &(sim_expr_target){.uniform = uniform}, &linear));
  own.scratch = aligned_alloc(64, (sim_expr_program_scratch(linear) + 64) / 64 * 64);
  bool good = own.scratch != NULL;
  for (int64_t z = least_mode(grid, s->linear, Z); good && z < nz; z++)
    for (int64_t y = least_mode(grid, s->linear, Y); good && y < ny; y++) {
      fill(s, grid, linear, y, z, &own);
      good = check_row(p, grid, field, y, z, &own, faults);
    }
  const bool taken = own.scratch != NULL;
  free(own.scratch);
  sim_expr_program_free(&linear);
  return taken ? SIM_OK : sim_no_memory("the linear terms");
}

sim_status diffusion_check_linear(const diffusion_parameters *p, sim_faults *faults) {
  const grid_shape grid = diffusion_grid_of(p);
  row r = {.modes = modes_of(&grid, X)};
  double *numbers = calloc(4 * (size_t)r.modes, sizeof(double));
  if (!numbers) return sim_no_memory("the linear terms");
  r.kx = numbers;
  r.k2 = numbers + r.modes;
  r.re = numbers + 2 * r.modes;
  r.im = numbers + 3 * r.modes;
  sim_status status = SIM_OK;
  for (int f = 0; status == SIM_OK && f < (int)p->fields.count; f++) {
    const grid_shape own = diffusion_shape_of(p, f);
    status = check_field(p, &own, f, &r, faults);
  }
  free(numbers);
  return status;
}

bool diffusion_same_linear(const diffusion_field *a, const diffusion_field *b) {
  sim_bytes x = {0}, y = {0};
  bool same = a->D == b->D && a->hyper == b->hyper && a->decay == b->decay && a->conserved == b->conserved &&
              !a->linear == !b->linear && a->walls[0] == b->walls[0] && a->walls[1] == b->walls[1];
  for (int i = 0; i < 3; i++)
    same = same && a->axes[i] == b->axes[i] && a->tensor[i] == b->tensor[i] && a->drift[i] == b->drift[i];
  if (same && a->linear)
    same = sim_expr_write(a->linear, &x) == SIM_OK && sim_expr_write(b->linear, &y) == SIM_OK && x.size == y.size &&
           memcmp(x.data, y.data, x.size) == 0;
  sim_bytes_free(&x);
  sim_bytes_free(&y);
  return same;
}
