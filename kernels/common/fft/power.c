/* Power spectra of real fields: rows along x, as halves of their coefficients, then columns along the other axes. */
#include "kernels/common/fft/power.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { POINT = 128 }; /* bytes of a point of fft.h */

struct fft_power {
  int rank, threads;
  int64_t n[3], group, points; /* points: of a row of coefficients */
  double wave[3];              /* least wavenumber along each axis */
  fft_plan *plan[3];
  char *data;    /* [last axis][middle axis][points] */
  char *scratch; /* [threads][scratch_bytes]: rows, a column, and work of the transforms */
  size_t rows_bytes, column_bytes, scratch_bytes;
};

static size_t aligned(double bytes) { return ((size_t)bytes + POINT - 1) / POINT * POINT; }

int fft_bin(double k2, double least, int count) {
  const double margin = 1e-9, length = sqrt(k2) / least * (1 + margin);
  return length + 0.5 < count ? (int)(length + 0.5) : count - 1;
}

/* Sizes of the parts of memory; returns the bytes of `data`. */
static double sizes(int rank, const int64_t n[3], size_t *rows, size_t *column) {
  const double group = fft_group(false), points = (double)fft_row_points(n[0], FFT_HALF, false);
  double longest = 0;
  for (int a = 0; a < rank; a++) longest = fmax(longest, (double)n[a]);
  *rows = aligned(2 * group * (double)n[0] * sizeof(double));
  *column = aligned(POINT * longest);
  return POINT * points * (double)n[1] * (rank == 3 ? (double)n[2] : 1);
}

double fft_power_bytes(int rank, const int64_t n[3], int threads) {
  size_t rows, column;
  double bytes = sizes(rank, n, &rows, &column), work = 0;
  for (int a = 0; a < rank; a++) {
    work = fmax(work, fft_work_size(n[a]));
    bytes += fft_plan_bytes(n[a], FFT_PERIODIC, false);
  }
  return bytes + threads * (double)(rows + column + aligned(work));
}

sim_status fft_power_create(int rank, const int64_t n[3], const double size[3], sim_isa isa, int threads,
                            fft_power **out) {
  fft_power *s = *out = calloc(1, sizeof *s);
  void *data = NULL, *scratch = NULL;
  size_t work = 0;
  if (!s) return sim_no_memory("a spectrum");
  *s = (fft_power){.rank = rank, .threads = threads, .group = fft_group(false)};
  s->points = fft_row_points(n[0], FFT_HALF, false);
  const double bytes = sizes(rank, n, &s->rows_bytes, &s->column_bytes);
  sim_status status = SIM_OK;
  for (int a = 0; a < rank && status == SIM_OK; a++) {
    s->n[a] = n[a];
    s->wave[a] = 2 * 3.14159265358979323846 / size[a];
    status = fft_plan_create(n[a], FFT_PERIODIC, false, isa, &s->plan[a]);
    if (status == SIM_OK && fft_work_bytes(s->plan[a]) > work) work = fft_work_bytes(s->plan[a]);
  }
  s->scratch_bytes = s->rows_bytes + s->column_bytes + aligned((double)work);
  if (status == SIM_OK) status = sim_backend_cpu.alloc((size_t)bytes, &data);
  if (status == SIM_OK) status = sim_backend_cpu.alloc((size_t)threads * s->scratch_bytes, &scratch);
  s->data = data;
  s->scratch = scratch;
  if (status != SIM_OK) fft_power_destroy(out);
  return status;
}

void fft_power_destroy(fft_power **power) {
  fft_power *s = *power;
  if (!s) return;
  for (int a = 0; a < 3; a++) fft_plan_destroy(&s->plan[a]);
  sim_backend_cpu.free(s->data);
  sim_backend_cpu.free(s->scratch);
  free(s);
  *power = NULL;
}

double fft_power_least(const fft_power *s) {
  double least = INFINITY;
  for (int a = 0; a < s->rank; a++) least = fmin(least, s->wave[a]);
  return least;
}

static char *scratch_of(const fft_power *s) { return s->scratch + (size_t)omp_get_thread_num() * s->scratch_bytes; }

void *fft_power_data(fft_power *s, size_t *plane) {
  *plane = (size_t)(POINT * s->points * (s->rank == 3 ? s->n[1] : 1));
  return s->data;
}

/* Transforms rows of a field, at most two groups of them, along x. */
static void transform_rows(const fft_power *s, bool single, const void *field, int64_t row, int64_t count) {
  const int64_t nx = s->n[0];
  char *memory = scratch_of(s), *column = memory + s->rows_bytes, *work = column + s->column_bytes;
  double *rows = (double *)(void *)memory;
  for (int64_t i = 0; i < count * nx; i++)
    rows[i] = single ? (double)((const float *)field)[row * nx + i] : ((const double *)field)[row * nx + i];
  fft_rows_load(s->plan[0], rows, nx, count, column);
  fft_forward(s->plan[0], column, 1, column, 1, work, NULL);
  fft_rows_split(s->plan[0], FFT_HALF, column, s->data + row * s->points * POINT, s->points, count);
}

/* Rows that share a column round together: of two axes, where ranks divide rows, each row has a lane of its own. */
void fft_power_planes(fft_power *s, bool single, const void *field, int64_t first, int64_t end) {
  const int64_t each = s->rank == 3 ? 1 : s->group, units = (end - first + each - 1) / each;
#pragma omp parallel for schedule(static) num_threads(s->threads) if (s->threads > 1)
  for (int64_t unit = 0; unit < units; unit++) {
    const int64_t from = first + unit * each, lanes = 2 * s->group, rows = s->n[1];
    if (s->rank == 2) {
      transform_rows(s, single, field, from, end - from < each ? end - from : each);
      continue;
    }
    for (int64_t y = 0; y < rows; y += lanes)
      transform_rows(s, single, field, from * rows + y, rows - y < lanes ? rows - y : lanes);
    char *plane = s->data + from * rows * s->points * POINT;
    for (int64_t g = 0; g < s->points; g++)
      fft_forward(s->plan[1], plane + g * POINT, s->points, plane + g * POINT, s->points,
                  scratch_of(s) + s->rows_bytes + s->column_bytes, NULL);
  }
}

int64_t fft_power_pieces(const fft_power *s) { return s->rank == 3 ? s->n[1] : s->points; }

/* The square of the wavenumber at a position of a transform along an axis. */
static double square_at(const fft_power *s, int axis, int64_t position) {
  const int64_t mode = fft_order(s->plan[axis])[position];
  const double k = s->wave[axis] * (double)(2 * mode > s->n[axis] ? mode - s->n[axis] : mode);
  return k * k;
}

/* Adds the power of the columns of group g along the last axis; k2: of the middle axis. */
static void add_column(const fft_power *s, const char *from, int64_t stride, int64_t g, double k2, int bins,
                       double *sums) {
  const int last = s->rank - 1;
  const double least = fft_power_least(s);
  double cells = 1;
  char *column = scratch_of(s) + s->rows_bytes;
  for (int a = 0; a < s->rank; a++) cells *= (double)s->n[a];
  fft_forward(s->plan[last], from, stride, column, 1, column + s->column_bytes, NULL);
  for (int64_t position = 0; position < s->n[last]; position++) {
    const double *at = (const double *)(const void *)(column + position * POINT);
    const double across = k2 + square_at(s, last, position);
    for (int64_t lane = 0; lane < s->group && 2 * (g * s->group + lane) <= s->n[0]; lane++) {
      const int64_t mode = g * s->group + lane;
      const double re = at[lane] / cells, im = at[s->group + lane] / cells, k = s->wave[0] * (double)mode;
      /* Rows have twice the coefficients, and all but 0 and n/2 stand for two wavenumbers. */
      const double weight = mode == 0 || 2 * mode == s->n[0] ? 0.25 : 0.5;
      sums[fft_bin(across + k * k, least, bins)] += weight * (re * re + im * im);
    }
  }
}

void fft_power_add(fft_power *s, int64_t first, int64_t end, int bins, double *partial) {
#pragma omp parallel for schedule(static) num_threads(s->threads) if (s->threads > 1)
  for (int64_t piece = first; piece < end; piece++) {
    double *sums = partial + piece * bins;
    if (s->rank == 2) add_column(s, s->data + piece * POINT, s->points, piece, 0, bins, sums);
    for (int64_t g = 0; s->rank == 3 && g < s->points; g++)
      add_column(s, s->data + (piece * s->points + g) * POINT, s->n[1] * s->points, g, square_at(s, 1, piece), bins,
                 sums);
  }
}
