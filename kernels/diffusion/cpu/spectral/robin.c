#include "kernels/diffusion/cpu/spectral/robin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* k L - m pi - atan(h_low/k) - atan(h_high/k) grows with k. A bisection narrows down its root, and Newton's method,
 * kept within the bounds, gives the last bits. */
double diffusion_robin_wave(const double mix[2], double size, int64_t mode) {
  double low = (double)mode * pi / size, high = ((double)mode + 1) * pi / size, k = (low + high) / 2;
  if (isinf(mix[0]) && isinf(mix[1])) return high;
  for (int i = 0; i < 200; i++) {
    double value = k * size - (double)mode * pi, slope = size;
    for (int end = 0; end < 2; end++) {
      const double h = mix[end];
      value -= atan2(h, k);
      if (h > 0 && isfinite(h)) slope += 1 / (h * (1 + k / h * (k / h)));
    }
    if (value > 0)
      high = k;
    else
      low = k;
    double next = k - value / slope;
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (fabs(next - k) <= 2e-16 * k) return next;
    k = next;
  }
  return k;
}

double diffusion_robin_weight(const double mix[2], double size, double wave) {
  double sum = 1;
  for (int end = 0; end < 2; end++) {
    const double h = mix[end];
    if (h > 0 && isfinite(h)) sum += 1 / (h * (1 + wave / h * (wave / h)) * size); /* h/(h^2 + k^2)/L */
  }
  return sum / 2;
}

double diffusion_robin_bytes(int64_t n) { return sizeof(double) * (double)n * (1 + 4 * (double)n); }

void diffusion_robin_end(diffusion_robin *robin) {
  free(robin->waves);
  free(robin->forward);
  free(robin->inverse);
  free(robin->slope);
  *robin = (diffusion_robin){0};
}

static double norm_of(int64_t n, const double *a) {
  double sum = 0;
  for (int64_t i = 0; i < n * n; i++) sum += a[i] * a[i];
  return sqrt(sum);
}

/* Subtracts multiples of row `pivot` of both matrices from the other rows, so that column `pivot` is 0 there. */
static void clear_column(int64_t n, int64_t pivot, double *a, double *out, int threads) {
  (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && n > 256)
  for (int64_t i = 0; i < n; i++) {
    const double factor = a[i * n + pivot];
    if (i == pivot || factor == 0) continue;
    for (int64_t j = pivot; j < n; j++) a[i * n + j] -= factor * a[pivot * n + j];
    for (int64_t j = 0; j < n; j++) out[i * n + j] -= factor * out[pivot * n + j];
  }
}

static void swap_rows(int64_t n, double *a, int64_t i, int64_t j) {
  for (int64_t c = 0; c < n && i != j; c++) {
    const double t = a[i * n + c];
    a[i * n + c] = a[j * n + c];
    a[j * n + c] = t;
  }
}

/* Inverts a by Gauss and Jordan's method with pivots of columns. a is overwritten. Returns false where a pivot is 0. */
static bool invert(int64_t n, double *a, double *out, int threads) {
  memset(out, 0, (size_t)(n * n) * sizeof *out);
  for (int64_t i = 0; i < n; i++) out[i * n + i] = 1;
  for (int64_t p = 0; p < n; p++) {
    int64_t best = p;
    for (int64_t i = p + 1; i < n; i++)
      if (fabs(a[i * n + p]) > fabs(a[best * n + p])) best = i;
    const double pivot = a[best * n + p];
    if (!(fabs(pivot) > 0)) return false;
    swap_rows(n, a, p, best);
    swap_rows(n, out, p, best);
    for (int64_t j = 0; j < n; j++) {
      a[p * n + j] /= pivot;
      out[p * n + j] /= pivot;
    }
    clear_column(n, p, a, out, threads);
  }
  return true;
}

sim_status diffusion_robin_begin(int64_t n, const double mix[2], double size, int threads, diffusion_robin *out) {
  const size_t bytes = (size_t)(n * n) * sizeof(double);
  /* The Frobenius norms of the matrix and of its inverse, over n, are at most the condition number, and 1 at least.
   * They are below 1.1 for all walls with h >= 0, whose cosines are all but orthogonal at the centres of cells. */
  const double worst = 100;
  *out = (diffusion_robin){.waves = malloc((size_t)n * sizeof(double)),
                           .forward = malloc(bytes),
                           .inverse = malloc(bytes),
                           .slope = malloc(bytes)};
  double *copy = malloc(bytes);
  bool good = copy && out->waves && out->forward && out->inverse && out->slope;
  sim_status status = good ? SIM_OK : sim_no_memory("a transform of %lld points by matrices", (long long)n);
  for (int64_t m = 0; m < n && good; m++) {
    const double k = out->waves[m] = diffusion_robin_wave(mix, size, m), phase = atan2(mix[0], k);
    for (int64_t j = 0; j < n; j++) {
      const double angle = k * (((double)j + 0.5) * size / (double)n) - phase;
      copy[j * n + m] = out->inverse[j * n + m] = cos(angle);
      out->slope[j * n + m] = sin(angle);
    }
  }
  if (good && !(invert(n, copy, out->forward, threads) &&
                norm_of(n, out->forward) * norm_of(n, out->inverse) < worst * (double)n))
    status = sim_fail(SIM_ERR_INTERNAL, "the series of %lld cells between walls with h = %g and %g is ill-conditioned",
                      (long long)n, mix[0], mix[1]);
  for (int64_t i = 0; i < n * n && status == SIM_OK; i++) out->forward[i] *= (double)n;
  free(copy);
  if (status != SIM_OK) diffusion_robin_end(out);
  return status;
}

sim_status diffusion_basis_create(const grid_shape *shape, int axis, const fft_plan *like, sim_isa isa, int threads,
                                  diffusion_basis **out) {
  const double *mix = shape->mix[axis];
  diffusion_robin made;
  diffusion_basis *b = *out = calloc(1, sizeof *b);
  if (!b) return sim_no_memory("a transform by matrices");
  b->n = shape->n[axis];
  b->mix[0] = mix[0];
  b->mix[1] = mix[1];
  sim_status status = diffusion_robin_begin(b->n, mix, shape->size[axis], threads, &made);
  if (status == SIM_OK) {
    b->waves = made.waves;
    made.waves = NULL;
    status = fft_plan_create_dense(like, made.forward, made.inverse, isa, &b->plan);
    if (status == SIM_OK) status = fft_plan_create_dense(like, NULL, made.slope, isa, &b->slope);
    diffusion_robin_end(&made);
  }
  if (status != SIM_OK) diffusion_basis_destroy(out);
  return status;
}

void diffusion_basis_destroy(diffusion_basis **basis) {
  if (!*basis) return;
  fft_plan_destroy(&(*basis)->plan);
  fft_plan_destroy(&(*basis)->slope);
  free((*basis)->waves);
  free(*basis);
  *basis = NULL;
}

double diffusion_basis_bytes(int64_t n, bool single) {
  return sizeof(diffusion_basis) + 8.0 * (double)n + fft_dense_bytes(n, 2, single) + fft_dense_bytes(n, 1, single) +
         diffusion_robin_bytes(n);
}
