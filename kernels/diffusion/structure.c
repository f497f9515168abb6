/* Structure functions of a velocity: moments of its increments over a distance, along it and across it. */
#include "kernels/diffusion/observe.h"

#include "engine/reduce.h"

#include <math.h>

static double power_of(double x, int64_t order) {
  double y = 1;
  for (int64_t i = 0; i < order; i++) y *= x;
  return y;
}

/* Sum over a row of cells of the powers of u(x + shift along the axis) - u(x). */
static double over_row(const grid_shape *grid, const double *u, int axis, int64_t shift, int64_t order, int64_t row) {
  int64_t at[3] = {0, row % grid->n[1], row / grid->n[1]};
  const int64_t n = grid->n[0];
  double lanes[SIM_REDUCE_LANES] = {0};
  if (axis > 0) at[axis] = (at[axis] + shift) % grid->n[axis];
  const double *here = u + row * n, *there = u + (at[2] * grid->n[1] + at[1]) * n;
  for (int64_t i = 0; i < n; i++)
    lanes[i % SIM_REDUCE_LANES] += power_of(there[axis == 0 ? (i + shift) % n : i] - here[i], order);
  return sim_reduce_tree(lanes, SIM_REDUCE_LANES);
}

static double moment(const grid_shape *grid, const double *u, int axis, int64_t shift, int64_t order, int threads,
                     double *partial) {
  const int64_t rows = grid->n[1] * grid->n[2];
  (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && rows * grid->n[0] > 65536)
  for (int64_t row = 0; row < rows; row++) partial[row] = over_row(grid, u, axis, shift, order, row);
  return sim_reduce_tree(partial, (size_t)rows) / (double)(rows * grid->n[0]);
}

void diffusion_structure_row(const diffusion_parameters *p, double *const *real, int threads, double *partial,
                             double *values) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_structure *s = &p->structure;
  int vector[3];
  const int axes = diffusion_velocity_of(p, vector);
  for (int64_t i = 0; i < s->separations; i++) {
    double along = 0, across = 0;
    for (int axis = 0; axis < axes; axis++)
      for (int c = 0; c < axes; c++) {
        const double m = moment(&grid, real[vector[c]], axis, (int64_t)1 << i, s->order, threads, partial);
        *(c == axis ? &along : &across) += m;
      }
    values[i] = along / axes;
    if (axes > 1) values[s->separations + i] = across / (axes * (axes - 1));
  }
}
