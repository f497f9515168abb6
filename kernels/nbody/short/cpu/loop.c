/* Inner loops for one instruction set and precision: NBODY_ISA, NBODY_SINGLE, NBODY_SHORT. */
#include "kernels/nbody/short/cpu/loop.h"

#include "kernels/nbody/cpu/real.h"

#include <math.h>
#include <string.h>

#if NBODY_ISA == 2
#include <immintrin.h>
#endif

enum { BATCH = NBODY_SHORT_BATCH, GROUP = NBODY_SHORT_GROUP, LANES = NBODY_SHORT_LANES };

#if NBODY_SINGLE
typedef int32_t place;
#else
typedef double place;
#endif

/* Pairs of body i: the entries at ... at + count - 1 of the columns. */
typedef struct segment {
  int64_t i;
  int at, count;
} segment;

typedef struct batch {
  const nbody_short_bodies *bodies;
  real *d[3], *r2, *force, *mass;
  int32_t *j;
  void *program; /* scratch memory of the programs */
  int pairs, segments;
  segment segment[BATCH];
} batch;

/* Room behind the last pair of a batch for whole groups. */
enum { ROOM = BATCH + GROUP };
enum { COLUMNS = 6 };

static size_t columns_bytes(void) { return COLUMNS * ROOM * sizeof(real) + ROOM * sizeof(int32_t); }

static batch begin(const nbody_short_bodies *bodies, void *scratch) {
  real *const columns = scratch;
  return (batch){.bodies = bodies,
                 .d = {columns, columns + ROOM, columns + 2 * ROOM},
                 .r2 = columns + 3 * ROOM,
                 .force = columns + 4 * ROOM,
                 .mass = columns + 5 * ROOM,
                 .j = (int32_t *)(void *)(columns + COLUMNS * ROOM),
                 .program = (char *)scratch + (columns_bytes() + 63) / 64 * 64};
}

/* ---- distances ---- */

/* Columns of a batch that distances are written to. Passed by value, so that a compiler keeps them in registers. */
typedef struct columns {
  const place *position;
  real *d[3], *r2;
  int32_t *j;
  double box, cutoff2;
} columns;

static inline columns columns_of(const batch *b) {
  return (columns){.position = b->bodies->position,
                   .d = {b->d[0], b->d[1], b->d[2]},
                   .r2 = b->r2,
                   .j = b->j,
                   .box = b->bodies->box,
                   .cutoff2 = b->bodies->cutoff2};
}

/* Factor from packed coordinates to lengths. */
static inline real unit_of(const columns *b) { return NBODY_SINGLE ? (real)(b->box * 0x1p-32) : 1; }

#if NBODY_ISA == 2 && !NBODY_SINGLE
/* Loads the coordinates of 8 bodies. */
static inline void load8(const double *x, const int32_t *j, __m512d out[3]) {
  __m512d row[4];
  for (int q = 0; q < 4; q++)
    row[q] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(x + j[q])), _mm256_load_pd(x + j[q + 4]), 1);
  const __m512d low = _mm512_unpacklo_pd(row[0], row[1]), high = _mm512_unpacklo_pd(row[2], row[3]);
  const __m512d y_low = _mm512_unpackhi_pd(row[0], row[1]), y_high = _mm512_unpackhi_pd(row[2], row[3]);
  const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  out[0] = _mm512_permutex2var_pd(low, even, high);
  out[1] = _mm512_permutex2var_pd(y_low, even, y_high);
  out[2] = _mm512_permutex2var_pd(low, odd, high);
}

/* Moves 8 distances to the nearest images. */
static inline __m512d nearest8(__m512d d, double box) {
  const __m512d in_boxes = _mm512_mul_pd(d, _mm512_set1_pd(1 / box));
  const __m512d whole = _mm512_roundscale_pd(in_boxes, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  return _mm512_sub_pd(d, _mm512_mul_pd(_mm512_set1_pd(box), whole));
}

/* Appends pairs within the cutoff, of the 8 bodies j[8] that `mask` selects, from entry `to` on; returns the next free
 * entry. */
static inline int add8(const columns b, int to, const int32_t *j, const __m512d at[3], bool image, __mmask8 mask) {
  __m512d d[3];
  load8(b.position, j, d);
  for (int c = 0; c < 3; c++) {
    d[c] = _mm512_sub_pd(d[c], at[c]);
    if (image) d[c] = nearest8(d[c], b.box);
  }
  const __m512d r2 =
      _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(d[0], d[0]), _mm512_mul_pd(d[1], d[1])), _mm512_mul_pd(d[2], d[2]));
  const __mmask8 hit = _mm512_mask_cmp_pd_mask(mask, r2, _mm512_set1_pd(b.cutoff2), _CMP_LT_OQ);
  for (int c = 0; c < 3; c++) _mm512_storeu_pd(b.d[c] + to, _mm512_maskz_compress_pd(hit, d[c]));
  _mm512_storeu_pd(b.r2 + to, _mm512_maskz_compress_pd(hit, r2));
  _mm256_storeu_si256((__m256i *)(void *)(b.j + to),
                      _mm256_maskz_compress_epi32(hit, _mm256_loadu_si256((const __m256i *)(const void *)j)));
  return to + __builtin_popcount(hit);
}

static inline int add_group(const columns b, int to, int64_t i, const int32_t *j, int count, bool image) {
  const double *x = b.position + 4 * i;
  const __m512d at[3] = {_mm512_set1_pd(x[0]), _mm512_set1_pd(x[1]), _mm512_set1_pd(x[2])};
  to = add8(b, to, j, at, image, (__mmask8)(count >= 8 ? 0xff : (1 << count) - 1));
  if (count > 8) to = add8(b, to, j + 8, at, image, (__mmask8)(count >= 16 ? 0xff : (1 << (count - 8)) - 1));
  return to;
}
#elif NBODY_ISA == 2
static inline int add_group(const columns b, int at, int64_t i, const int32_t *j, int count, bool image) {
  (void)image; /* int32_t coordinates wrap at the box automatically */
  const int32_t *x = b.position;
  __m512i row[4];
  for (int q = 0; q < 4; q++) {
    row[q] = _mm512_castsi128_si512(_mm_load_si128((const __m128i *)(const void *)(x + j[q])));
    row[q] = _mm512_inserti32x4(row[q], _mm_load_si128((const __m128i *)(const void *)(x + j[q + 4])), 1);
    row[q] = _mm512_inserti32x4(row[q], _mm_load_si128((const __m128i *)(const void *)(x + j[q + 8])), 2);
    row[q] = _mm512_inserti32x4(row[q], _mm_load_si128((const __m128i *)(const void *)(x + j[q + 12])), 3);
  }
  const __m512i a = _mm512_unpacklo_epi32(row[0], row[1]), c = _mm512_unpacklo_epi32(row[2], row[3]);
  const __m512i e = _mm512_unpackhi_epi32(row[0], row[1]), f = _mm512_unpackhi_epi32(row[2], row[3]);
  const __m512i to[3] = {_mm512_unpacklo_epi64(a, c), _mm512_unpackhi_epi64(a, c), _mm512_unpacklo_epi64(e, f)};
  const __m512 unit = _mm512_set1_ps(unit_of(&b));
  __m512 d[3];
  for (int k = 0; k < 3; k++)
    d[k] = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(to[k], _mm512_set1_epi32(x[4 * i + k]))), unit);
  const __m512 r2 =
      _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(d[0], d[0]), _mm512_mul_ps(d[1], d[1])), _mm512_mul_ps(d[2], d[2]));
  const __mmask16 mask = (__mmask16)(count >= 16 ? 0xffff : (1 << count) - 1);
  const __mmask16 hit = _mm512_mask_cmp_ps_mask(mask, r2, _mm512_set1_ps((float)b.cutoff2), _CMP_LT_OQ);
  for (int k = 0; k < 3; k++) _mm512_storeu_ps(b.d[k] + at, _mm512_maskz_compress_ps(hit, d[k]));
  _mm512_storeu_ps(b.r2 + at, _mm512_maskz_compress_ps(hit, r2));
  _mm512_storeu_si512(b.j + at, _mm512_maskz_compress_epi32(hit, _mm512_loadu_si512(j)));
  return at + __builtin_popcount(hit);
}
#else
static inline int add_group(const columns b, int next, int64_t i, const int32_t *j, int count, bool image) {
  const place *x = b.position, *at = x + 4 * i;
  const real unit = unit_of(&b), cutoff2 = (real)b.cutoff2;
  for (int k = 0; k < count; k++) {
    const place *to = x + j[k];
    real d[3];
    for (int c = 0; c < 3; c++) {
#if NBODY_SINGLE
      (void)image;
      d[c] = (real)(int32_t)((uint32_t)to[c] - (uint32_t)at[c]) * unit;
#else
      (void)unit;
      d[c] = to[c] - at[c];
      if (image) d[c] -= b.box * rint(d[c] * (1 / b.box));
#endif
    }
    const real r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (int c = 0; c < 3; c++) b.d[c][next] = d[c];
    b.r2[next] = r2;
    b.j[next] = j[k];
    next += r2 < cutoff2;
  }
  return next;
}
#endif

typedef void finish_batch(batch *b, void *to);

/* Calls `finish` for batches of all pairs within the cutoff, in the order of the lists. */
static inline void over_rows(batch *b, const nbody_short_rows *rows, finish_batch *finish, void *to) {
  const columns into = columns_of(b);
  const int32_t *list = rows->list;
  int pairs = 0, segments = 0;
  for (int64_t i = rows->first; i < rows->first + rows->count; i++) {
    const int length = (int)rows->length[i];
    const bool image = rows->image[i] != 0;
    int at = pairs;
    for (int k = 0; k < length; k += GROUP, list += GROUP) {
      if (pairs + GROUP > BATCH) {
        if (pairs > at) b->segment[segments++] = (segment){i, at, pairs - at};
        b->pairs = pairs;
        b->segments = segments;
        finish(b, to);
        at = pairs = segments = 0;
      }
      pairs = add_group(into, pairs, i, list, length - k < GROUP ? length - k : GROUP, image);
    }
    if (pairs > at) b->segment[segments++] = (segment){i, at, pairs - at};
  }
  b->pairs = pairs;
  b->segments = segments;
  if (pairs > 0) finish(b, to);
}

static inline double tree(const double *lane) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Gathers the masses of the second bodies of a batch. */
static void gather_masses(batch *b) {
  const real *mass = b->bodies->mass;
  for (int k = 0; k < b->pairs; k++) b->mass[k] = mass[b->j[k] / 4];
}

/* ---- acceleration ---- */

#if NBODY_ISA == 2
/* Subtracts the first `count` of 8 vectors f from sum[j[8]]. */
static inline void take8(double *sum, const int32_t *j, int count, const __m512d f[3]) {
  const __m512d zero = _mm512_setzero_pd();
  const __m512d xy[2] = {_mm512_unpacklo_pd(f[0], f[1]), _mm512_unpackhi_pd(f[0], f[1])};
  const __m512d z[2] = {_mm512_unpacklo_pd(f[2], zero), _mm512_unpackhi_pd(f[2], zero)};
  const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  /* vectors by pair: two[0], two[2] have the even pairs 0 2 | 4 6, two[1], two[3] the odd pairs 1 3 | 5 7 */
  const __m512d two[4] = {_mm512_permutex2var_pd(xy[0], first, z[0]), _mm512_permutex2var_pd(xy[1], first, z[1]),
                          _mm512_permutex2var_pd(xy[0], second, z[0]), _mm512_permutex2var_pd(xy[1], second, z[1])};
#define TAKE(p, value)                                                                                                 \
  if (count > (p)) {                                                                                                   \
    double *const to = sum + j[p];                                                                                     \
    _mm256_store_pd(to, _mm256_sub_pd(_mm256_load_pd(to), value));                                                     \
  }
  TAKE(0, _mm512_castpd512_pd256(two[0]))
  TAKE(1, _mm512_castpd512_pd256(two[1]))
  TAKE(2, _mm512_extractf64x4_pd(two[0], 1))
  TAKE(3, _mm512_extractf64x4_pd(two[1], 1))
  TAKE(4, _mm512_castpd512_pd256(two[2]))
  TAKE(5, _mm512_castpd512_pd256(two[3]))
  TAKE(6, _mm512_extractf64x4_pd(two[2], 1))
  TAKE(7, _mm512_extractf64x4_pd(two[3], 1))
#undef TAKE
}

/* Eight terms of one component, in fp64: f d, or m f d. */
static inline __m512d terms8(const real *f, const real *d, const real *mass, __mmask8 mask) {
#if NBODY_SINGLE
  const __m256 term = _mm256_mul_ps(_mm256_maskz_loadu_ps(mask, f), _mm256_maskz_loadu_ps(mask, d));
  return _mm512_cvtps_pd(mass == NULL ? term : _mm256_mul_ps(_mm256_maskz_loadu_ps(mask, mass), term));
#else
  const __m512d term = _mm512_mul_pd(_mm512_maskz_loadu_pd(mask, f), _mm512_maskz_loadu_pd(mask, d));
  return mass == NULL ? term : _mm512_mul_pd(_mm512_maskz_loadu_pd(mask, mass), term);
#endif
}

static inline __m512d times8(const real *f, const real *d, real mass, __mmask8 mask) {
#if NBODY_SINGLE
  const __m256 term = _mm256_mul_ps(_mm256_maskz_loadu_ps(mask, f), _mm256_maskz_loadu_ps(mask, d));
  return _mm512_cvtps_pd(_mm256_mul_ps(_mm256_set1_ps(mass), term));
#else
  const __m512d term = _mm512_mul_pd(_mm512_maskz_loadu_pd(mask, f), _mm512_maskz_loadu_pd(mask, d));
  return _mm512_mul_pd(_mm512_set1_pd(mass), term);
#endif
}

static inline void add_segment(const batch *b, const segment *s, bool masses) {
  double *const sum = b->bodies->sum;
  const real mi = masses ? ((const real *)b->bodies->mass)[s->i] : 1;
  __m512d side[3] = {_mm512_setzero_pd(), _mm512_setzero_pd(), _mm512_setzero_pd()};
  for (int k = 0; k < s->count; k += 8) {
    const int at = s->at + k, left = s->count - k;
    const __mmask8 mask = (__mmask8)(left >= 8 ? 0xff : (1 << left) - 1);
    __m512d f[3];
    for (int c = 0; c < 3; c++) {
      f[c] = terms8(b->force + at, b->d[c] + at, masses ? b->mass + at : NULL, mask);
      side[c] = _mm512_add_pd(side[c], f[c]);
      if (masses) f[c] = times8(b->force + at, b->d[c] + at, mi, mask);
    }
    take8(sum, b->j + at, left, f);
  }
  for (int c = 0; c < 3; c++) {
    double lane[LANES];
    _mm512_storeu_pd(lane, side[c]);
    sum[4 * s->i + c] += tree(lane);
  }
}
#else
static inline void add_segment(const batch *b, const segment *s, bool masses) {
  double *const sum = b->bodies->sum;
  const real mi = masses ? ((const real *)b->bodies->mass)[s->i] : 1;
  double side[3][LANES] = {{0}};
  for (int k = 0; k < s->count; k++) {
    const int at = s->at + k;
    double *const to = sum + b->j[at];
    for (int c = 0; c < 3; c++) {
      const real term = b->force[at] * b->d[c][at];
      side[c][k % LANES] += (double)(masses ? b->mass[at] * term : term);
      to[c] -= (double)(masses ? mi * term : term);
    }
  }
  for (int c = 0; c < 3; c++) sum[4 * s->i + c] += tree(side[c]);
}
#endif

static void finish_forces(batch *b, void *to) {
  (void)to;
  sim_expr_program_run(b->bodies->force, (size_t)b->pairs, (const void *const[]){b->r2}, (void *const[]){b->force},
                       b->program);
  const bool masses = b->bodies->mass != NULL;
  if (masses) gather_masses(b);
  for (int k = 0; k < b->segments; k++) {
    if (masses)
      add_segment(b, &b->segment[k], true);
    else
      add_segment(b, &b->segment[k], false);
  }
}

static void accelerate(const nbody_short_bodies *bodies, const nbody_short_rows *rows, void *scratch) {
  batch b = begin(bodies, scratch);
  over_rows(&b, rows, finish_forces, NULL);
}

#if !NBODY_SINGLE
/* ---- sums for tables ---- */

/* Partial sums: lane l adds the pairs l, l + LANES, ... of each segment. */
typedef struct lanes {
  double potential[LANES], virial[LANES], weight[LANES];
} lanes;

static void finish_sums(batch *b, void *to) {
  lanes *const all = to;
  const nbody_short_bodies *bodies = b->bodies;
  double *const potential = b->d[0]; /* d[0] is not needed any more */
  sim_expr_program_run(bodies->force, (size_t)b->pairs, (const void *const[]){b->r2}, (void *const[]){b->force},
                       b->program);
  sim_expr_program_run(bodies->potential, (size_t)b->pairs, (const void *const[]){b->r2}, (void *const[]){potential},
                       b->program);
  if (bodies->mass != NULL) gather_masses(b);
  for (int k = 0; k < b->segments; k++) {
    const segment *s = &b->segment[k];
    const double mi = bodies->mass != NULL ? ((const double *)bodies->mass)[s->i] : 1;
    for (int l = 0; l < s->count; l++) {
      const int at = s->at + l;
      const double weight = bodies->mass != NULL ? mi * b->mass[at] : 1;
      all->potential[l % LANES] += weight * potential[at];
      all->virial[l % LANES] += weight * (b->force[at] * b->r2[at]);
      all->weight[l % LANES] += weight;
    }
  }
}

static void observe(const nbody_short_bodies *bodies, const nbody_short_rows *rows, void *scratch,
                    nbody_short_sums *out) {
  batch b = begin(bodies, scratch);
  lanes all = {.potential = {0}};
  over_rows(&b, rows, finish_sums, &all);
  *out = (nbody_short_sums){tree(all.potential), tree(all.virial), tree(all.weight)};
}

/* ---- search ---- */

#if NBODY_ISA == 2
static int64_t search(const double *const x[3], int64_t first, int64_t end, const double at[3], double reach2,
                      double box, int32_t *list) {
  const __m512d limit = _mm512_set1_pd(reach2);
  const __m512d p[3] = {_mm512_set1_pd(at[0]), _mm512_set1_pd(at[1]), _mm512_set1_pd(at[2])};
  const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  int64_t found = 0;
  for (int64_t j = first; j < end; j += 8) {
    const __mmask8 mask = (__mmask8)(end - j >= 8 ? 0xff : (1 << (end - j)) - 1);
    __m512d d[3];
    for (int c = 0; c < 3; c++) {
      d[c] = _mm512_sub_pd(_mm512_maskz_loadu_pd(mask, x[c] + j), p[c]);
      if (box > 0) d[c] = nearest8(d[c], box);
    }
    const __m512d r2 =
        _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(d[0], d[0]), _mm512_mul_pd(d[1], d[1])), _mm512_mul_pd(d[2], d[2]));
    const __mmask8 hit = _mm512_mask_cmp_pd_mask(mask, r2, limit, _CMP_LE_OQ);
    const __m256i numbers = _mm256_add_epi32(_mm256_set1_epi32((int)j), steps);
    _mm256_storeu_si256((__m256i *)(void *)(list + found), _mm256_maskz_compress_epi32(hit, numbers));
    found += __builtin_popcount(hit);
  }
  return found;
}
#else
static int64_t search(const double *const x[3], int64_t first, int64_t end, const double at[3], double reach2,
                      double box, int32_t *list) {
  int64_t found = 0;
  for (int64_t j = first; j < end; j++) {
    double d[3];
    for (int c = 0; c < 3; c++) {
      d[c] = x[c][j] - at[c];
      if (box > 0) d[c] -= box * rint(d[c] * (1 / box));
    }
    list[found] = (int32_t)j;
    found += d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= reach2;
  }
  return found;
}
#endif
#endif

#if NBODY_ISA == 0 && !NBODY_SINGLE
size_t nbody_short_scratch(size_t program) { return (columns_bytes() + 63) / 64 * 64 + (program + 63) / 64 * 64; }
#endif

#if NBODY_SINGLE
const nbody_short_loops NBODY_SHORT = {.accelerate = accelerate};
#else
const nbody_short_loops NBODY_SHORT = {.accelerate = accelerate, .observe = observe, .search = search};
#endif
