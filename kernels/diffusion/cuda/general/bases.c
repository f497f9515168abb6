/* Series between walls that mix value and slope (cpu/spectral/robin.h), in device memory. */
#include "kernels/diffusion/cuda/work.h"

#include "engine/device/cuda.h"

#include <stdlib.h>
#include <string.h>

/* Returns the number of a series; that of a new one where no source before has it. */
static int number_of(diffusion_bases *b, const grid_shape *grid, int axis, const double mix[2]) {
  int i = 0;
  while (i < b->count && !(b->axis[i] == axis && b->mix[i][0] == mix[0] && b->mix[i][1] == mix[1])) i++;
  if (i < b->count) return i;
  b->axis[i] = axis;
  b->mix[i][0] = mix[0];
  b->mix[i][1] = mix[1];
  b->first[i] = i > 0 ? b->first[i - 1] + 2 * (grid->n[b->axis[i - 1]] + 2) : 0;
  return b->count++;
}

/* Finds the different series of all fields and derived fields. */
static void find(const diffusion_series *series, const grid_shape *grid, diffusion_bases *out) {
  memset(out, 0, sizeof *out);
  for (int source = 0; source < DIFFUSION_SOURCES; source++)
    for (int axis = 0; axis < 3; axis++) {
      const bool there = axis < grid->rank && series->of[source][axis] == GRID_ROBIN;
      out->of[source][axis] = there ? number_of(out, grid, axis, series->mix[source][axis]) : -1;
    }
}

void diffusion_bases_plan(const diffusion_parameters *p, const diffusion_series *series, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  const double number = diffusion_cuda_number_size(p);
  diffusion_bases b;
  double there = 0, host = 0;
  find(series, &grid, &b);
  for (int i = 0; i < b.count; i++) {
    const double n = (double)grid.n[b.axis[i]], making = diffusion_robin_bytes(grid.n[b.axis[i]]) + n * n * number;
    there += 3 * n * n * number + 2 * (n + 2) * sizeof(double);
    host = making > host ? making : host;
  }
  if (b.count == 0) return;
  sim_plan_add(out, "series along walls that mix value and slope", there);
  sim_plan_add_host(out, "making of these series", host);
}

/* Copies an [n][n] matrix in the run's precision. host: memory for it. */
static sim_status upload(const diffusion_work *w, const double *matrix, int64_t numbers, void *host, char *to) {
  const size_t bytes = (size_t)numbers * (size_t)diffusion_cuda_number_size(w->p);
  for (int64_t i = 0; i < numbers; i++) grid_set_number(host, w->single, i, matrix[i]);
  return sim_backend_cuda.copy(to, host, bytes);
}

/* Makes the matrices of a series, and sets its wavenumbers and weights in waves[2][n + 2]. */
static sim_status make(diffusion_work *w, int number, int threads, double *waves) {
  diffusion_bases *b = w->bases;
  const int axis = b->axis[number];
  const int64_t n = w->grid.n[axis], shape[3] = {DIFFUSION_BASIS_PARTS, n, n};
  const size_t bytes = (size_t)(n * n) * (size_t)diffusion_cuda_number_size(w->p);
  sim_buffer *out = &b->matrices[number];
  diffusion_robin made;
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, w->single ? SIM_F32 : SIM_F64, 3, shape, out));
  SIM_TRY(diffusion_robin_begin(n, b->mix[number], w->grid.size[axis], threads, &made));
  const double *const parts[DIFFUSION_BASIS_PARTS] = {[DIFFUSION_BASIS_FORWARD] = made.forward,
                                                      [DIFFUSION_BASIS_INVERSE] = made.inverse,
                                                      [DIFFUSION_BASIS_SLOPE] = made.slope};
  for (int64_t m = 0; m < n; m++) {
    waves[m] = made.waves[m];
    waves[n + 2 + m] = diffusion_robin_weight(b->mix[number], w->grid.size[axis], made.waves[m]);
  }
  void *host = malloc(bytes);
  sim_status status = host ? SIM_OK : sim_no_memory("a transform of %lld points by matrices", (long long)n);
  for (int i = 0; i < DIFFUSION_BASIS_PARTS && status == SIM_OK; i++)
    status = upload(w, parts[i], n * n, host, (char *)out->data + (size_t)i * bytes);
  free(host);
  diffusion_robin_end(&made);
  return status;
}

sim_status diffusion_bases_create(diffusion_work *w, int threads) {
  diffusion_bases *b = w->bases = malloc(sizeof *b);
  if (!b) return sim_no_memory("the series along walls");
  find(&w->series, &w->grid, b);
  if (b->count == 0) return SIM_OK;
  const int last = b->count - 1;
  const int64_t numbers = b->first[last] + 2 * (w->grid.n[b->axis[last]] + 2);
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, SIM_F64, 1, &numbers, &b->waves));
  double *waves = calloc((size_t)numbers, sizeof *waves);
  sim_status status = waves ? SIM_OK : sim_no_memory("the wavenumbers along walls");
  for (int i = 0; i < b->count && status == SIM_OK; i++) status = make(w, i, threads, waves + b->first[i]);
  if (status == SIM_OK) status = sim_backend_cuda.copy(b->waves.data, waves, (size_t)numbers * sizeof *waves);
  free(waves);
  w->layout.waves = b->waves.data;
  return status;
}

void diffusion_bases_destroy(diffusion_bases **bases) {
  diffusion_bases *b = *bases;
  if (!b) return;
  for (int i = 0; i < b->count; i++) sim_buffer_destroy(&b->matrices[i]);
  sim_buffer_destroy(&b->waves);
  free(b);
  *bases = NULL;
}

long long diffusion_bases_waves(const diffusion_work *w, int source, int axis) {
  const int number = w->bases && axis < w->grid.rank ? w->bases->of[source][axis] : -1;
  return number < 0 ? -1 : w->bases->first[number];
}
