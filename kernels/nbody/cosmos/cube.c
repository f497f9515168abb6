#include "kernels/nbody/cosmos/cube.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t aligned(double bytes) { return ((size_t)bytes + 127) / 128 * 128; }

static double data_bytes(int64_t n) {
  const int64_t lanes = fft_group(false);
  return (double)n * (double)n * (double)((n + lanes - 1) / lanes) * 128;
}

double nbody_cube_bytes(int64_t n, int threads) {
  const double scratch = (double)aligned(128 * (double)n) + (double)aligned(fft_work_size(n));
  return data_bytes(n) + threads * scratch + 16 * (double)n + fft_plan_bytes(n, FFT_PERIODIC, false);
}

sim_status nbody_cube_create(int64_t n, sim_isa isa, int threads, nbody_cube *out) {
  *out = (nbody_cube){.n = n, .lanes = fft_group(false), .threads = threads};
  out->row = (n + out->lanes - 1) / out->lanes;
  void *data = NULL, *scratch = NULL;
  sim_status status = fft_plan_create(n, FFT_PERIODIC, false, isa, &out->plan);
  if (status == SIM_OK) {
    out->scratch_bytes = aligned(128 * (double)n) + aligned((double)fft_work_bytes(out->plan));
    status = sim_backend_cpu.alloc((size_t)data_bytes(n), &data);
  }
  if (status == SIM_OK) status = sim_backend_cpu.alloc((size_t)threads * out->scratch_bytes, &scratch);
  out->data = data;
  out->scratch = scratch;
  out->wave = calloc(2 * (size_t)n, sizeof *out->wave);
  if (status == SIM_OK && out->wave == NULL) status = sim_no_memory("a grid of %lld^3 points", (long long)n);
  if (status != SIM_OK) {
    nbody_cube_destroy(out);
    return status;
  }
  out->position = out->wave + n;
  const int32_t *order = fft_order(out->plan);
  for (int64_t p = 0; p < n; p++) {
    out->wave[p] = 2 * order[p] > n ? order[p] - n : order[p];
    out->position[order[p]] = p;
  }
  nbody_cube_clear(out);
  return SIM_OK;
}

void nbody_cube_destroy(nbody_cube *cube) {
  fft_plan_destroy(&cube->plan);
  sim_backend_cpu.free(cube->data);
  sim_backend_cpu.free(cube->scratch);
  free(cube->wave);
  *cube = (nbody_cube){0};
}

void nbody_cube_clear(nbody_cube *cube) { memset(cube->data, 0, (size_t)data_bytes(cube->n)); }

static void transform(const nbody_cube *c, bool forward, void *points, int64_t stride, void *work) {
  if (forward)
    fft_forward(c->plan, points, stride, points, stride, work, NULL);
  else
    fft_inverse(c->plan, points, stride, points, stride, work, NULL);
}

/* Transforms rows y ... y + lanes - 1 of a plane along x: copies them to a column with one row a lane, and back. */
static void transform_rows(const nbody_cube *c, bool forward, int64_t y, int64_t z, double *column, void *work) {
  const int64_t G = c->lanes, rows = c->n - y < G ? c->n - y : G;
  memset(column, 0, 128 * (size_t)c->n);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t x = 0; x < c->n; x++) {
      const double *from = nbody_cube_at(c, x, y + r, z);
      column[2 * G * x + r] = from[0];
      column[2 * G * x + G + r] = from[G];
    }
  transform(c, forward, column, 1, work);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t x = 0; x < c->n; x++) {
      double *to = nbody_cube_at(c, x, y + r, z);
      to[0] = column[2 * G * x + r];
      to[G] = column[2 * G * x + G + r];
    }
}

/* Transforms along all axes: plane by plane along x and y, then along z. */
static void transform_axes(nbody_cube *c, bool forward) {
  const int64_t n = c->n, plane = n * c->row, room = (int64_t)aligned(128 * (double)n);
#pragma omp parallel for schedule(static) num_threads(c->threads)
  for (int64_t z = 0; z < n; z++) {
    char *scratch = c->scratch + (size_t)omp_get_thread_num() * c->scratch_bytes;
    for (int64_t y = 0; y < n; y += c->lanes)
      transform_rows(c, forward, y, z, (double *)(void *)scratch, scratch + room);
    for (int64_t g = 0; g < c->row; g++)
      transform(c, forward, nbody_cube_at(c, g * c->lanes, 0, z), c->row, scratch + room);
  }
#pragma omp parallel for schedule(static) num_threads(c->threads)
  for (int64_t i = 0; i < plane; i++) {
    char *scratch = c->scratch + (size_t)omp_get_thread_num() * c->scratch_bytes;
    transform(c, forward, nbody_cube_at(c, i % c->row * c->lanes, i / c->row, 0), plane, scratch + room);
  }
}

void nbody_cube_forward(nbody_cube *cube) { transform_axes(cube, true); }
void nbody_cube_inverse(nbody_cube *cube) { transform_axes(cube, false); }
