#include "kernels/diffusion/cpu/spectral/robin.h"

#include "kernels/diffusion/cpu/spectral/inverse.h"
#include "kernels/diffusion/waves.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static const double pi = DIFFUSION_PI;

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

double diffusion_robin_bytes(int64_t n) {
  return sizeof(double) * (double)n * (1 + 4 * (double)n) + diffusion_inverse_bytes(n);
}

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

/* Computes all but `forward`. copy[n][n]: that of `inverse`. */
static void fill(int64_t n, const double mix[2], double size, int threads, diffusion_robin *out, double *copy) {
  (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && n > 256)
  for (int64_t m = 0; m < n; m++) {
    const double k = out->waves[m] = diffusion_robin_wave(mix, size, m), phase = atan2(mix[0], k);
    for (int64_t j = 0; j < n; j++) {
      const double angle = k * (((double)j + 0.5) * size / (double)n) - phase;
      copy[j * n + m] = out->inverse[j * n + m] = cos(angle);
      out->slope[j * n + m] = sin(angle);
    }
  }
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
  if (good) fill(n, mix, size, threads, out, copy);
  if (good) status = diffusion_inverse(n, copy, out->forward, threads);
  if (status == SIM_OK && !(norm_of(n, out->forward) * norm_of(n, out->inverse) < worst * (double)n))
    status = sim_fail(SIM_ERR_INTERNAL, "the series of %lld cells between walls with h = %g and %g is ill-conditioned",
                      (long long)n, mix[0], mix[1]);
  for (int64_t i = 0; i < n * n && status == SIM_OK; i++) out->forward[i] *= (double)n;
  free(copy);
  if (status != SIM_OK) diffusion_robin_end(out);
  return status;
}

/* ---- bases, which all transforms of the program share ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static diffusion_basis *bases; /* those in use */

static diffusion_basis *find(const diffusion_basis *key) {
  diffusion_basis *b = bases;
  while (b && !(b->n == key->n && b->mix[0] == key->mix[0] && b->mix[1] == key->mix[1] && b->size == key->size &&
                b->single == key->single && b->isa == key->isa))
    b = b->next;
  return b;
}

static void destroy(diffusion_basis *basis) {
  fft_plan_destroy(&basis->plan);
  fft_plan_destroy(&basis->slope);
  free(basis->waves);
  free(basis);
}

static sim_status create(const diffusion_basis *key, const fft_plan *like, int threads, diffusion_basis **out) {
  diffusion_robin made;
  diffusion_basis *b = *out = malloc(sizeof *b);
  if (!b) return sim_no_memory("a transform by matrices");
  *b = *key;
  sim_status status = diffusion_robin_begin(b->n, b->mix, b->size, threads, &made);
  if (status == SIM_OK) {
    b->waves = made.waves;
    made.waves = NULL;
    status = fft_plan_create_dense(like, made.forward, made.inverse, b->isa, &b->plan);
    if (status == SIM_OK) status = fft_plan_create_dense(like, NULL, made.slope, b->isa, &b->slope);
    diffusion_robin_end(&made);
  }
  if (status != SIM_OK) {
    destroy(b);
    *out = NULL;
  }
  return status;
}

sim_status diffusion_basis_open(const grid_shape *shape, int axis, const fft_plan *like, bool single, sim_isa isa,
                                int threads, diffusion_basis **out) {
  const diffusion_basis key = {.n = shape->n[axis],
                               .mix = {shape->mix[axis][0], shape->mix[axis][1]},
                               .size = shape->size[axis],
                               .single = single,
                               .isa = isa};
  sim_status status = SIM_OK;
  pthread_mutex_lock(&lock);
  *out = find(&key);
  if (!*out) {
    status = create(&key, like, threads, out);
    if (status == SIM_OK) {
      (*out)->next = bases;
      bases = *out;
    }
  }
  if (status == SIM_OK) (*out)->users++;
  pthread_mutex_unlock(&lock);
  return status;
}

void diffusion_basis_close(diffusion_basis **basis) {
  diffusion_basis **at = &bases;
  if (!*basis) return;
  pthread_mutex_lock(&lock);
  if (--(*basis)->users == 0) {
    while (*at != *basis) at = &(*at)->next;
    *at = (*basis)->next;
    destroy(*basis);
  }
  pthread_mutex_unlock(&lock);
  *basis = NULL;
}

double diffusion_basis_bytes(int64_t n, bool single) {
  return sizeof(diffusion_basis) + 8.0 * (double)n + fft_dense_bytes(n, 2, single) + fft_dense_bytes(n, 1, single) +
         diffusion_robin_bytes(n);
}
