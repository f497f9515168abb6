/* Plans: radices, twiddle factors, orders; and the sequence of sweeps (fft_lanes.c) over a column.
 *
 *   forward: source --radix, twiddles--> work --...--> work --last radix--> target     (decimation in frequency)
 *   inverse: source --first radix--> work --...--> work --twiddles, radix--> target    (the same sweeps backwards)
 *
 * Bluestein: x_j b_j, convolved with conj b by transforms of a smooth length m >= 2n - 1, times b_k, where b_j =
 * exp(-pi i j^2 / n). Cosine and sine: an even-odd permutation, one transform of n points, and a rotation of each
 * pair (k, n-k) (Makhoul, IEEE Trans. ASSP 28, 1980, "A fast cosine transform in one and two dimensions"). Quarter
 * waves: the same at wavenumbers k + 1/2. The permuted column is multiplied by exp(-pi i j / n), and its second half
 * changes its sign, because cos(pi (k + 1/2) (4n - a) / 2n) = -cos(pi (k + 1/2) a / 2n); pairs are (k, n-1-k). Sines
 * are cosines of x_j (-1)^j at n-1-k. */
#include "kernels/common/fft/fft.h"
#include "kernels/common/fft/fft_lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS_MAX = 24 };

struct fft_plan {
  int64_t n;
  fft_kind kind;
  bool single;
  const fft_lanes *lanes;
  int sweeps, radix[SWEEPS_MAX];
  void *twiddles[SWEEPS_MAX];
  int32_t *order;   /* [n]: wavenumber at a position */
  int32_t *at;      /* [n]: position of a transform's index */
  int32_t *shuffle; /* [n]: point of the column at index i of the permutation; cosine and sine */
  void *rotations;  /* [n][2]: exp(-i pi k / 2n); cosine and sine; of k + 1/2 for quarter waves */
  void *shift;      /* [n][2]: exp(-i pi j / n); quarter waves */
  int quarter, alternate, mirrored;
  fft_plan *longer;  /* plan of Bluestein's convolution; NULL: the length has small prime factors alone */
  void *chirp;       /* [n][2]: factors b_j of Bluestein's convolution */
  void *convolution; /* [m][2], in the longer plan's order, times 1/m */
  void *dense[2];    /* [n][n]: FFT_DENSE, forward (or NULL) and inverse */
  uint16_t *kept;    /* of each block of the last radix: bits of the coefficients that are kept; NULL: all */
  int64_t half;      /* wavenumbers of a row that are kept; 0: all */
};

static const int radices[] = {16, 13, 11, 9, 8, 7, 5, 4, 3, 2};

static const fft_lanes *const all_lanes[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&fft_lanes_double_plain, &fft_lanes_single_plain},
#if FFT_X86
    [SIM_ISA_AVX2] = {&fft_lanes_double_avx2, &fft_lanes_single_avx2},
    [SIM_ISA_AVX512] = {&fft_lanes_double_avx512, &fft_lanes_single_avx512},
#endif
};

int fft_group(bool single) { return single ? 16 : 8; }

bool fft_smooth(int64_t n) {
  static const int primes[] = {2, 3, 5, 7, 11, 13};
  for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
    while (n % primes[i] == 0) n /= primes[i];
  return n == 1;
}

/* Length of Bluestein's convolution: the smallest one with factors 2, 3, 5 only. */
static int64_t longer_length(int64_t n) {
  int64_t best = 1;
  while (best < 2 * n - 1) best *= 2;
  for (int64_t fives = 1; fives < 2 * best; fives *= 5)
    for (int64_t threes = fives; threes < 2 * best; threes *= 3) {
      int64_t m = threes;
      while (m < 2 * n - 1) m *= 2;
      if (m < best) best = m;
    }
  return best;
}

/* Chooses the fewest sweeps, then the smallest sum of radices, largest first. */
static void choose_radices(int64_t n, size_t first, int depth, int sum, int *chosen, int *best, int *best_count,
                           int *best_sum) {
  if (n == 1) {
    if (depth < *best_count || (depth == *best_count && sum < *best_sum)) {
      memcpy(best, chosen, sizeof(int) * (size_t)depth);
      *best_count = depth;
      *best_sum = sum;
    }
    return;
  }
  for (size_t i = first; i < sizeof radices / sizeof *radices && depth + 1 <= *best_count && depth < SWEEPS_MAX; i++) {
    if (n % radices[i] != 0) continue;
    chosen[depth] = radices[i];
    choose_radices(n / radices[i], i, depth + 1, sum + radices[i], chosen, best, best_count, best_sum);
  }
}

static void put(const fft_plan *plan, void *array, int64_t i, long double angle, long double scale) {
  const double re = (double)(scale * cosl(angle)), im = (double)(scale * sinl(angle));
  if (plan->single) {
    ((float *)array)[2 * i] = (float)re;
    ((float *)array)[2 * i + 1] = (float)im;
  } else {
    ((double *)array)[2 * i] = re;
    ((double *)array)[2 * i + 1] = im;
  }
}

static void *take(size_t count, size_t size) {
  return count > SIZE_MAX / 2 / size ? NULL : aligned_alloc(64, (count * size + 63) / 64 * 64);
}
static size_t pair_size(bool single) { return single ? 2 * sizeof(float) : 2 * sizeof(double); }

static const long double pi = 3.141592653589793238462643383279502884L;

static bool plan_radices(fft_plan *plan) {
  int chosen[SWEEPS_MAX + 1], sum = 0, count = SWEEPS_MAX + 1, best[SWEEPS_MAX + 1];
  choose_radices(plan->n, 0, 0, 0, chosen, best, &count, &sum);
  plan->sweeps = count;
  for (int i = 0; i < count; i++) plan->radix[i] = best[i];
  int64_t m = plan->n;
  for (int s = 0; s < plan->sweeps; s++) {
    const int64_t R = plan->radix[s], q = m / R;
    if (q > 1) {
      plan->twiddles[s] = take((size_t)(q * (R - 1)), pair_size(plan->single));
      if (!plan->twiddles[s]) return false;
      for (int64_t j = 0; j < q; j++)
        for (int64_t r = 1; r < R; r++)
          put(plan, plan->twiddles[s], j * (R - 1) + r - 1, -2 * pi * (long double)(j * r) / (long double)m, 1);
    }
    m = q;
  }
  for (int64_t p = 0; p < plan->n; p++) {
    int64_t length = plan->n, rest = p, k = 0, weight = 1;
    for (int s = 0; s < plan->sweeps; s++) {
      length /= plan->radix[s];
      k += weight * (rest / length);
      rest %= length;
      weight *= plan->radix[s];
    }
    plan->order[p] = (int32_t)k;
  }
  return true;
}

static void sweep_all(const fft_plan *plan, bool inverse, const void *source, ptrdiff_t source_stride, void *target,
                      ptrdiff_t target_stride, void *work, fft_ahead *ahead);

static bool plan_bluestein(fft_plan *plan, sim_isa isa) {
  const int64_t n = plan->n, m = longer_length(n);
  if (fft_plan_create(m, FFT_PERIODIC, plan->single, isa, &plan->longer) != SIM_OK) return false;
  plan->chirp = take((size_t)n, pair_size(plan->single));
  plan->convolution = take((size_t)m, pair_size(plan->single));
  /* the convolution's factors are computed in fp64, also for fp32 plans */
  fft_plan *exact = NULL;
  if (fft_plan_create(m, FFT_PERIODIC, false, isa, &exact) != SIM_OK) return false;
  double(*points)[2][8] = take((size_t)m, FFT_POINT);
  const bool good = plan->chirp && plan->convolution && points;
  if (good) {
    memset(points, 0, (size_t)m * FFT_POINT);
    for (int64_t j = 0; j < n; j++) {
      const long double angle = pi * (long double)(j * j % (2 * n)) / (long double)n;
      put(plan, plan->chirp, j, -angle, 1);
      points[j][0][0] = points[j ? m - j : 0][0][0] = (double)cosl(angle) / (double)m;
      points[j][1][0] = points[j ? m - j : 0][1][0] = (double)sinl(angle) / (double)m;
    }
    sweep_all(exact, false, points, 1, points, 1, NULL, NULL);
    for (int64_t p = 0; p < m; p++) /* the same radices, so the same order */
      for (int part = 0; part < 2; part++) {
        if (plan->single)
          ((float *)plan->convolution)[2 * p + part] = (float)points[p][part][0];
        else
          ((double *)plan->convolution)[2 * p + part] = points[p][part][0];
      }
  }
  free(points);
  fft_plan_destroy(&exact);
  for (int64_t p = 0; p < n; p++) plan->order[p] = (int32_t)p;
  return good;
}

sim_status fft_plan_create(int64_t n, fft_kind kind, bool single, sim_isa isa, fft_plan **out) {
  *out = NULL;
  if (n < 1 || n > FFT_LENGTH_MAX) return sim_fail(SIM_ERR_INTERNAL, "transform of %lld points", (long long)n);
  fft_plan *plan = calloc(1, sizeof *plan);
  if (!plan) return sim_no_memory("a transform");
  plan->n = n;
  plan->kind = kind;
  plan->single = single;
  plan->quarter = kind == FFT_QUARTER_COSINE || kind == FFT_QUARTER_SINE;
  plan->alternate = kind == FFT_SINE || kind == FFT_SINE_ALIGNED || kind == FFT_QUARTER_COSINE;
  plan->mirrored = kind == FFT_SINE_ALIGNED || kind == FFT_QUARTER_SINE;
  if (isa > sim_isa_best()) isa = sim_isa_best();
  while (!all_lanes[isa][single]) isa--;
  plan->lanes = all_lanes[isa][single];
  plan->order = take((size_t)n, sizeof(int32_t));
  plan->at = take((size_t)n, sizeof(int32_t));
  bool good = plan->order && plan->at && (fft_smooth(n) ? plan_radices(plan) : plan_bluestein(plan, isa));
  for (int64_t p = 0; good && p < n; p++) plan->at[plan->order[p]] = (int32_t)p;
  if (good && kind != FFT_PERIODIC) {
    plan->shuffle = take((size_t)n, sizeof(int32_t));
    plan->rotations = take((size_t)n, pair_size(single));
    if (plan->quarter) plan->shift = take((size_t)n, pair_size(single));
    good = plan->shuffle && plan->rotations && (!plan->quarter || plan->shift);
    for (int64_t i = 0; good && i < n; i++) {
      plan->shuffle[i] = (int32_t)(2 * i < n ? 2 * i : 2 * (n - 1 - i) + 1);
      put(plan, plan->rotations, i, -pi * (long double)(2 * i + plan->quarter) / (4 * (long double)n), 1);
      if (plan->quarter) put(plan, plan->shift, i, -pi * (long double)i / (long double)n, 1);
      if (kind == FFT_SINE) plan->order[i] = (int32_t)n - plan->order[i];
      if (kind == FFT_SINE_ALIGNED && plan->order[i] == 0) plan->order[i] = (int32_t)n;
    }
  }
  *out = plan;
  if (good) return SIM_OK;
  fft_plan_destroy(out);
  return sim_no_memory("a transform of %lld points, which takes %.3g bytes", (long long)n,
                       fft_plan_bytes(n, kind, single) + fft_work_size(n));
}

/* Stores a matrix whose rows (forward) or columns are wavenumbers, in the order of positions. */
static void *permuted(const fft_plan *plan, const double *matrix, bool forward) {
  const int64_t n = plan->n;
  void *out = take((size_t)(n * n), pair_size(plan->single) / 2);
  for (int64_t i = 0; out && i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      const double value = forward ? matrix[plan->order[i] * n + j] : matrix[i * n + plan->order[j]];
      if (plan->single)
        ((float *)out)[i * n + j] = (float)value;
      else
        ((double *)out)[i * n + j] = value;
    }
  return out;
}

sim_status fft_plan_create_dense(const fft_plan *like, const double *forward, const double *inverse, sim_isa isa,
                                 fft_plan **out) {
  const size_t order = (size_t)like->n * sizeof(int32_t);
  fft_plan *plan = *out = calloc(1, sizeof *plan);
  if (!plan) return sim_no_memory("a transform");
  plan->n = like->n;
  plan->kind = FFT_DENSE;
  plan->single = like->single;
  if (isa > sim_isa_best()) isa = sim_isa_best();
  while (!all_lanes[isa][plan->single]) isa--;
  plan->lanes = all_lanes[isa][plan->single];
  plan->order = take((size_t)plan->n, sizeof(int32_t));
  plan->at = take((size_t)plan->n, sizeof(int32_t));
  if (plan->order && plan->at) {
    memcpy(plan->order, like->order, order);
    memcpy(plan->at, like->at, order);
    if (forward) plan->dense[0] = permuted(plan, forward, true);
    plan->dense[1] = permuted(plan, inverse, false);
  }
  if ((plan->dense[0] || !forward) && plan->dense[1]) return SIM_OK;
  fft_plan_destroy(out);
  return sim_no_memory("a transform of %lld points by matrices", (long long)like->n);
}

sim_status fft_plan_keep(fft_plan *plan, const bool *keeps) {
  const int R = plan->radix[plan->sweeps - 1];
  if (!plan->kept) plan->kept = take((size_t)(plan->n / R), sizeof(uint16_t));
  if (!plan->kept) return sim_no_memory("a transform");
  memset(plan->kept, 0, (size_t)(plan->n / R) * sizeof(uint16_t));
  for (int64_t p = 0; p < plan->n; p++)
    if (keeps[p]) plan->kept[p / R] |= (uint16_t)(1U << p % R);
  return SIM_OK;
}

sim_status fft_plan_keep_half(fft_plan *plan, int64_t count) {
  bool *keeps = malloc((size_t)plan->n * sizeof *keeps);
  if (!keeps) return sim_no_memory("a transform");
  if (count > (plan->n + 1) / 2) count = (plan->n + 1) / 2;
  for (int64_t p = 0; p < plan->n; p++) keeps[p] = plan->order[p] < count || plan->n - plan->order[p] < count;
  const sim_status status = fft_plan_keep(plan, keeps);
  plan->half = count;
  free(keeps);
  return status;
}

double fft_dense_bytes(int64_t n, int matrices, bool single) {
  return sizeof(fft_plan) + (double)n * (2 * sizeof(int32_t) + matrices * (double)n * (single ? 4 : 8));
}

void fft_plan_destroy(fft_plan **plan) {
  fft_plan *p = *plan;
  if (!p) return;
  for (int s = 0; s < SWEEPS_MAX; s++) free(p->twiddles[s]);
  fft_plan_destroy(&p->longer);
  void *const arrays[] = {p->order, p->at,          p->shuffle,  p->rotations, p->shift,
                          p->chirp, p->convolution, p->dense[0], p->dense[1],  p->kept};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  free(p);
  *plan = NULL;
}

double fft_plan_bytes(int64_t n, fft_kind kind, bool single) {
  const double pairs = (double)pair_size(single), points = (double)n;
  double bytes = sizeof(fft_plan) + points * (2 * sizeof(int32_t) + (fft_smooth(n) ? 1.2 * pairs : pairs));
  if (kind != FFT_PERIODIC) bytes += points * (sizeof(int32_t) + pairs);
  if (kind == FFT_QUARTER_COSINE || kind == FFT_QUARTER_SINE) bytes += points * pairs;
  if (!fft_smooth(n)) bytes += 2.2 * pairs * (double)longer_length(n);
  return bytes;
}

double fft_work_size(int64_t n) { return (double)FFT_POINT * (double)(fft_smooth(n) ? n : longer_length(n)); }
size_t fft_work_bytes(const fft_plan *plan) { return (size_t)fft_work_size(plan->n); }
const int32_t *fft_order(const fft_plan *plan) { return plan->order; }

/* ---- transforms of a column ---- */

static void copy(const void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    memmove((char *)target + i * target_stride * FFT_POINT, (const char *)source + i * source_stride * FFT_POINT,
            FFT_POINT);
}

/* Where the points stay between sweeps. One column of 256 points stays in the first-level cache and two do not: an
 * inverse transform, which overwrites its source, keeps them at the end where they are closer together, and a forward
 * one, which leaves points that are not kept alone, in the target only if it is in place. */
typedef struct between {
  void *at;
  ptrdiff_t stride;
} between;

static between between_for(bool inverse, const void *source, ptrdiff_t source_stride, void *target,
                           ptrdiff_t target_stride, void *work) {
  if (source == target && source_stride == target_stride) return (between){target, target_stride};
  if (source == target || !inverse) return (between){work, 1};
  return target_stride <= source_stride ? (between){target, target_stride}
                                        : (between){(void *)(uintptr_t)source, source_stride};
}

/* Runs sweeps first ... end - 1; an inverse transform runs them in reverse order. */
static void sweep_some(const fft_plan *plan, bool inverse, int first, int end, const void *source,
                       ptrdiff_t source_stride, void *target, ptrdiff_t target_stride, between middle,
                       fft_ahead *ahead) {
  int64_t blocks = 1, q = plan->n;
  for (int s = 0; s < (inverse ? end : first); s++) blocks *= plan->radix[s], q /= plan->radix[s];
  for (int i = first; i < end; i++) {
    const int s = inverse ? end - 1 - (i - first) : i, R = plan->radix[s];
    if (inverse)
      blocks /= R;
    else
      q /= R;
    const void *from = i == first ? source : middle.at;
    void *to = i == end - 1 ? target : middle.at;
    const ptrdiff_t from_stride = i == first ? source_stride : middle.stride;
    const ptrdiff_t to_stride = i == end - 1 ? target_stride : middle.stride;
    if (plan->kept && s == plan->sweeps - 1)
      (inverse ? plan->lanes->inverse_kept : plan->lanes->forward_kept)[R](from, from_stride, to, to_stride, blocks,
                                                                           plan->kept, ahead);
    else
      (inverse ? plan->lanes->inverse : plan->lanes->forward)[R](from, from_stride, to, to_stride, blocks, q,
                                                                 plan->twiddles[s], ahead);
    if (inverse)
      q *= R;
    else
      blocks *= R;
  }
}

static void sweep_all(const fft_plan *plan, bool inverse, const void *source, ptrdiff_t source_stride, void *target,
                      ptrdiff_t target_stride, void *work, fft_ahead *ahead) {
  if (plan->sweeps == 0) {
    copy(source, source_stride, target, target_stride, 1);
    return;
  }
  sweep_some(plan, inverse, 0, plan->sweeps, source, source_stride, target, target_stride,
             between_for(inverse, source, source_stride, target, target_stride, work), ahead);
}

static void bluestein(const fft_plan *plan, bool inverse, const void *source, ptrdiff_t source_stride, void *target,
                      ptrdiff_t target_stride, void *work, fft_ahead *ahead) {
  const fft_lanes *lanes = plan->lanes;
  const int64_t n = plan->n, m = plan->longer->n;
  lanes->multiply(source, source_stride, work, 1, n, plan->chirp, inverse, 0);
  memset((char *)work + n * FFT_POINT, 0, (size_t)(m - n) * FFT_POINT);
  sweep_all(plan->longer, false, work, 1, work, 1, work, ahead);
  lanes->multiply(work, 1, work, 1, m, plan->convolution, 0, 0);
  sweep_all(plan->longer, true, work, 1, work, 1, work, ahead);
  lanes->multiply(work, 1, target, target_stride, n, plan->chirp, 0, inverse);
}

static void complex_transform(const fft_plan *plan, bool inverse, const void *source, ptrdiff_t source_stride,
                              void *target, ptrdiff_t target_stride, void *work, fft_ahead *ahead) {
  (plan->longer ? bluestein : sweep_all)(plan, inverse, source, source_stride, target, target_stride, work, ahead);
}

static void multiply_dense(const fft_plan *plan, const void *matrix, const void *source, ptrdiff_t source_stride,
                           void *target, ptrdiff_t target_stride, void *work) {
  if (source == target) {
    copy(source, source_stride, work, 1, plan->n);
    source = work;
    source_stride = 1;
  }
  plan->lanes->product(matrix, source, source_stride, target, target_stride, plan->n);
}

void fft_forward(const fft_plan *plan, const void *source, ptrdiff_t source_stride, void *target,
                 ptrdiff_t target_stride, void *work, fft_ahead *ahead) {
  if (plan->kind == FFT_DENSE) {
    multiply_dense(plan, plan->dense[0], source, source_stride, target, target_stride, work);
    return;
  }
  if (plan->kind == FFT_PERIODIC) {
    complex_transform(plan, false, source, source_stride, target, target_stride, work, ahead);
    return;
  }
  plan->lanes->gather(source, source_stride, work, plan->n, plan->shuffle, plan->alternate);
  if (plan->shift) plan->lanes->multiply(work, 1, work, 1, plan->n, plan->shift, 0, 0);
  complex_transform(plan, false, work, 1, target, target_stride, work, ahead);
  plan->lanes->fold(target, target_stride, plan->n, plan->at, plan->rotations, plan->quarter, plan->mirrored);
}

void fft_inverse(const fft_plan *plan, void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride,
                 void *work, fft_ahead *ahead) {
  if (plan->kind == FFT_DENSE) {
    multiply_dense(plan, plan->dense[1], source, source_stride, target, target_stride, work);
    return;
  }
  if (plan->kind == FFT_PERIODIC) {
    complex_transform(plan, true, source, source_stride, target, target_stride, work, ahead);
    return;
  }
  plan->lanes->unfold(source, source_stride, plan->n, plan->at, plan->rotations, plan->quarter, plan->mirrored);
  complex_transform(plan, true, source, source_stride, work, 1, work, ahead);
  if (plan->shift) plan->lanes->multiply(work, 1, work, 1, plan->n, plan->shift, 1, 1); /* by conj(shift) */
  plan->lanes->scatter(work, target, target_stride, plan->n, plan->shuffle, plan->alternate);
}

bool fft_can_filter(const fft_plan *plan) { return plan->kind == FFT_PERIODIC && !plan->longer && plan->sweeps > 0; }

void fft_filter(const fft_plan *plan, const void *source, ptrdiff_t source_stride, void *target,
                ptrdiff_t target_stride, const void *factors, const int32_t *slot, void *work, fft_ahead *ahead) {
  const int last = plan->sweeps - 1, R = plan->radix[last];
  const bool alone = last == 0;
  const between middle = between_for(false, source, source_stride, target, target_stride, work);
  sweep_some(plan, false, 0, last, source, source_stride, middle.at, middle.stride, middle, ahead);
  plan->lanes->turn[R](alone ? source : middle.at, alone ? source_stride : middle.stride, alone ? target : middle.at,
                       alone ? target_stride : middle.stride, plan->n / R, factors, slot, ahead);
  sweep_some(plan, true, 0, last, middle.at, middle.stride, target, target_stride, middle, ahead);
}

/* ---- rows ---- */

void fft_rows_load(const fft_plan *plan, const void *rows, ptrdiff_t row, int64_t count, void *column) {
  plan->lanes->rows_load(rows, row, count, plan->n, column);
}

void fft_rows_store(const fft_plan *plan, const void *column, void *rows, ptrdiff_t row, int64_t count) {
  plan->lanes->rows_store(column, plan->n, rows, row, count);
}

int64_t fft_row_points(int64_t n, fft_packing packing, bool single) {
  const int64_t lanes = fft_group(single) * (packing == FFT_TWO_REAL ? 2 : 1);
  const int64_t length = packing == FFT_HALF ? n / 2 + 1 : packing == FFT_HALF_PAIRED ? n / 2 : n;
  return (length + lanes - 1) / lanes;
}

static int64_t stored_of(const fft_plan *plan, fft_packing packing) {
  return plan->half ? plan->half : plan->n / 2 + (packing == FFT_HALF);
}
static ptrdiff_t reals(const fft_plan *plan) { return 2 * fft_group(plan->single); }

void fft_rows_split(const fft_plan *plan, fft_packing packing, const void *column, void *rows, ptrdiff_t row,
                    int64_t count) {
  if (packing == FFT_HALF || packing == FFT_HALF_PAIRED)
    plan->lanes->half_store(column, plan->n, plan->at, packing == FFT_HALF_PAIRED, stored_of(plan, packing), rows,
                            row * reals(plan), count, plan->half > 0);
  else
    plan->lanes->real_store(column, plan->n, plan->at, packing == FFT_TWO_REAL, rows, row * reals(plan), count);
}

void fft_rows_join(const fft_plan *plan, fft_packing packing, const void *rows, ptrdiff_t row, int64_t count,
                   void *column) {
  if (packing == FFT_HALF || packing == FFT_HALF_PAIRED)
    plan->lanes->half_load(rows, row * reals(plan), count, plan->n, plan->at, packing == FFT_HALF_PAIRED,
                           stored_of(plan, packing), plan->half > 0, column);
  else
    plan->lanes->real_load(rows, row * reals(plan), count, plan->n, plan->at, packing == FFT_TWO_REAL, column);
}
