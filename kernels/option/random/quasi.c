/* Tables of scrambled Sobol points (S. Joe and F. Kuo, SIAM Journal on Scientific Computing 30 (2008) 2635), and the
 * order in which a Brownian bridge uses them. */
#include "engine/device/compile.h"
#include "engine/rng.h"
#include "kernels/option/random/mrg.h"
#include "kernels/option/random/quasi.h"
#include "kernels/option/scenario/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const sim_source_file option_sobol_files[];

enum { BITS = OPTION_SOBOL_BITS };

/* Reads the direction numbers of the first dimensions from the table of Joe and Kuo: out[dimensions][BITS]. */
static sim_status read_directions(int dimensions, uint32_t *out) {
  const char *text = option_sobol_files[0].text;
  for (int k = 0; k < BITS; k++) out[k] = UINT32_C(1) << (31 - k);
  while (*text == '#') text = strchr(text, '\n') + 1;
  for (int d = 1; d < dimensions; d++) {
    char *end;
    uint32_t *v = out + (size_t)d * BITS;
    const unsigned long polynomial = strtoul(text, &end, 16);
    int degree = 0;
    while (polynomial >> (degree + 1)) degree++;
    if (degree < 1 || degree > 18) return sim_fail(SIM_ERR_INTERNAL, "the table of Sobol's numbers is damaged");
    for (int k = 0; k < degree; k++) v[k] = (uint32_t)(2 * strtoul(end, &end, 16) + 1) << (31 - k);
    for (int k = degree; k < BITS; k++) {
      v[k] = v[k - degree] ^ v[k - degree] >> degree;
      for (int j = 1; j < degree; j++)
        if (polynomial >> (degree - j) & 1) v[k] ^= v[k - j];
    }
    text = end + strspn(end, "\r\n ");
  }
  return SIM_OK;
}

/* 128 random bits for one dimension of a scramble. */
static void random_four(const option_mrg *mrg, uint64_t seed, int scramble, int dimension, int draw, uint32_t w[4]) {
  uint32_t each[4][OPTION_MRG_LANES];
  if (mrg == NULL) {
    sim_rng_bits(seed, (uint64_t)dimension, (uint64_t)scramble, (uint32_t)(OPTION_DRAW_SCRAMBLE + draw), w);
    return;
  }
  option_mrg_bits(mrg, OPTION_MRG_SCRAMBLES | (uint64_t)scramble << 32 | (uint64_t)dimension, 1, (uint32_t)draw, 0,
                  each);
  for (int k = 0; k < 4; k++) w[k] = each[k][0];
}

/* Random lower triangular bit matrix with a unit diagonal, by columns, and a random shift. */
static void random_matrix(const option_mrg *mrg, uint64_t seed, int scramble, int dimension, uint32_t *column,
                          uint32_t *shift) {
  uint32_t w[4];
  for (int k = 0; k < BITS; k++) {
    if (k % 4 == 0) random_four(mrg, seed, scramble, dimension, k / 4, w);
    const uint32_t one = UINT32_C(1) << (31 - k);
    column[k] = one | (w[k % 4] & (one - 1));
  }
  random_four(mrg, seed, scramble, dimension, BITS / 4, w);
  *shift = w[0];
}

static void scramble(const option_quasi *q, const option_mrg *mrg, uint64_t seed, const uint32_t *direction,
                     uint32_t *out, uint32_t *shift) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < q->scrambles * q->dimensions; i++) {
    const int r = i / q->dimensions, d = i % q->dimensions;
    uint32_t column[BITS];
    random_matrix(mrg, seed, r, d, column, &shift[i]);
    for (int k = 0; k < BITS; k++) {
      uint32_t sum = 0;
      for (int j = 0; j < BITS; j++)
        if (direction[(size_t)d * BITS + (size_t)k] >> (31 - j) & 1) sum ^= column[j];
      out[(size_t)i * BITS + (size_t)k] = sum;
    }
  }
}

/* Order of a bridge: the end first, then the middle of every gap, the widest first (Moskowitz and Caflisch 1996). */
static void make_bridge(int steps, option_bridge *b) {
  b[0] = (option_bridge){.point = steps, .spread = sqrt(steps)};
  /* Queue of gaps to be halved, in order; both ends of a gap are known points. */
  int made = 1, *gap = (int *)(void *)(b + steps), first = 0, last = 1;
  gap[0] = 0;
  gap[1] = steps;
  while (first < last) {
    const int left = gap[2 * first], right = gap[2 * first + 1], point = (left + right) / 2;
    first++;
    if (right - left < 2) continue;
    const double whole = right - left;
    b[made++] = (option_bridge){point,
                                left,
                                right,
                                (right - point) / whole,
                                (point - left) / whole,
                                sqrt((point - left) * (double)(right - point) / whole)};
    gap[2 * last] = left;
    gap[2 * last + 1] = point;
    gap[2 * last + 2] = point;
    gap[2 * last + 3] = right;
    last += 2;
  }
}

/* Principal components: eigenvectors of the covariance min(i, j), times the square roots of their eigenvalues 1/(2
 * sin(angle/2))^2, the largest first. */
static void make_components(int steps, double *out) {
  for (int k = 0; k < steps; k++) {
    const double angle = (2 * k + 1) * 3.14159265358979323846 / (2 * steps + 1);
    const double scale = 1 / (sqrt(2 * steps + 1) * sin(angle / 2));
    for (int i = 0; i < steps; i++) out[(size_t)k * (size_t)steps + (size_t)i] = scale * sin((i + 1) * angle);
  }
}

int option_quasi_dimensions(const option_parameters *p) {
  int heston = 0;
  for (int a = 0; a < (int)p->assets.count; a++) heston += option_has_variance(option_asset_at(p, a));
  const double all = (double)p->nodes * ((double)p->assets.count + heston);
  return all > OPTION_SOBOL_DIMENSIONS ? OPTION_SOBOL_DIMENSIONS + 1 : (int)all;
}

double option_quasi_bytes(const option_parameters *p) {
  if (p->sampling.sequence != OPTION_SOBOL) return 0;
  const double components = p->sampling.construction == OPTION_PCA ? (double)p->nodes * (double)p->nodes : 0;
  return option_quasi_dimensions(p) * (option_scrambles(p) + 1.0) * (BITS + 1) * sizeof(uint32_t) +
         components * sizeof(double);
}

sim_status option_quasi_create(const option_parameters *p, option_quasi *out) {
  const int steps = (int)p->nodes;
  *out = (option_quasi){.scrambles = option_scrambles(p), .dimensions = option_quasi_dimensions(p)};
  const size_t all = (size_t)out->scrambles * (size_t)out->dimensions;
  for (int a = 0; a < (int)p->assets.count; a++) {
    out->variance[a] = -1;
    if (option_has_variance(option_asset_at(p, a))) out->variance[a] = (int)p->assets.count + out->hestons++;
  }
  out->each = (int)p->assets.count + out->hestons;
  uint32_t *direction = malloc((size_t)out->dimensions * BITS * sizeof *direction);
  uint32_t *numbers = malloc(all * (BITS + 1) * sizeof *numbers);
  /* a bridge of n steps halves n - 1 gaps, so that there are 2 n - 1 gaps in all */
  option_bridge *bridge = malloc((size_t)steps * sizeof *bridge + 4 * (size_t)steps * sizeof(int));
  const bool pca = p->sampling.construction == OPTION_PCA;
  double *component = pca ? malloc((size_t)steps * (size_t)steps * sizeof *component) : NULL;
  out->direction = numbers;
  out->shift = numbers + all * BITS;
  out->bridge = bridge;
  out->component = component;
  sim_status status = SIM_OK;
  option_mrg *mrg = p->sampling.generator == OPTION_MRG32K3A ? malloc(sizeof *mrg) : NULL;
  if (mrg != NULL) option_mrg_make(p->common.seed, mrg);
  if (direction == NULL || (p->sampling.generator == OPTION_MRG32K3A && mrg == NULL) || numbers == NULL ||
      bridge == NULL || (pca && component == NULL))
    status = sim_no_memory("Sobol's numbers");
  if (status == SIM_OK) status = read_directions(out->dimensions, direction);
  if (status == SIM_OK) {
    scramble(out, mrg, p->common.seed, direction, numbers, numbers + all * BITS);
    make_bridge(steps, bridge);
    if (pca) make_components(steps, component);
  }
  free(direction);
  free(mrg);
  if (status != SIM_OK) option_quasi_free(out);
  return status;
}

void option_quasi_free(option_quasi *quasi) {
  free((void *)(uintptr_t)quasi->direction);
  free((void *)(uintptr_t)quasi->bridge);
  free((void *)(uintptr_t)quasi->component);
  *quasi = (option_quasi){0};
}
