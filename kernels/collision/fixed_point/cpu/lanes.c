/* Fixed-point solver on the CPU: inner loops for one instruction set, FIXED_POINT_ISA 0 plain, 1 AVX2, 2 AVX-512.
 * Impulses equal those of fixed_point.h to the bit: the same operations in the same order, each rounded once. GPU
 * counterparts: the kernels of cuda/step.cu and cuda/lists.cu. */
#include "kernels/collision/fixed_point/cpu/work.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#if FIXED_POINT_ISA > 0
#include "kernels/collision/fixed_point/cpu/simd.inc"
#endif

/* ---- near pairs ---- */

/* Prefetches the part of `ahead` that belongs to `count` pairs from pair `at` on into the second-level cache: a few
 * cache lines at a time, because a core has a limited number of outstanding misses. */
INLINE void fetch(const fixed_slab_pair *sides, size_t at, size_t count) {
  const size_t end = (at + count) * sides->ahead_step;
  for (size_t k = at * sides->ahead_step; k < end; k += 64) __builtin_prefetch(sides->ahead + k, 0, 2);
}

#if FIXED_POINT_ISA > 0
INLINE size_t within_lanes(const fixed_reach *reach, bool equal, const uint32_t *a, const uint32_t *b, size_t at,
                           size_t count, const fixed_slab_pair *sides, uint32_t *out_a, uint32_t *out_b) {
  const vf length[3] = {V(set1_ps)(reach->length[0]), V(set1_ps)(reach->length[1]), V(set1_ps)(reach->length[2])};
  const vf limit = V(set1_ps)(reach->reach), square = V(mul_ps)(limit, limit);
  const uint32_t *xa = sides->xa, *xb = sides->xb;
  size_t found = 0;
  for (size_t k = 0; k < count; k += LANES) {
    fetch(sides, at + k, LANES);
    vf d[4];
    for (int q = 0; q < 4; q++) {
      const vi ra = rows(xa, a + k, q), rb = rows(xb, b + k, q);
      d[q] = V(cvtepi32_ps)(V(sub_epi32)(ra, rb));
      if (!equal) d[q] = fourth_sum(d[q], ra, rb);
    }
    transpose(d, equal ? 3 : 4);
    vf sum = V(setzero_ps)();
    for (int c = 0; c < 3; c++) {
      const vf x = V(mul_ps)(d[c], length[c]);
      sum = V(fmadd_ps)(x, x, sum);
    }
    const vf far = V(add_ps)(d[3], limit);
    lanes near = less(sum, equal ? square : V(mul_ps)(far, far));
    if (count - k < LANES) near = (lanes)(near & ((1u << (count - k)) - 1));
    const vi kept_a = V_LOAD(a + k), kept_b = V_LOAD(b + k);
    const size_t more = keep(near, kept_a, out_a + found);
    (void)keep(near, kept_b, out_b + found);
    found += more;
  }
  return found;
}
#else
INLINE size_t within_lanes(const fixed_reach *reach, bool equal, const uint32_t *a, const uint32_t *b, size_t at,
                           size_t count, const fixed_slab_pair *sides, uint32_t *out_a, uint32_t *out_b) {
  size_t found = 0;
  for (size_t k = 0; k < count; k++) {
    fetch(sides, at + k, 1);
    const uint32_t *xa = sides->xa + a[k], *xb = sides->xb + b[k];
    float sum = 0, radius[2] = {0, 0};
    for (int c = 0; c < 3; c++) {
      const float x = (float)(int32_t)(xa[c] - xb[c]) * reach->length[c];
      sum += x * x;
    }
    if (!equal) {
      memcpy(&radius[0], xa + 3, sizeof *radius);
      memcpy(&radius[1], xb + 3, sizeof *radius);
    }
    const float limit = radius[0] + radius[1] + reach->reach;
    out_a[found] = a[k];
    out_b[found] = b[k];
    found += sum < limit * limit;
  }
  return found;
}
#endif

static void within(const fixed_reach *reach, const fixed_pairs *list, const fixed_slab_pair *sides, fixed_pairs *out) {
  out->count = reach->equal ? within_lanes(reach, true, list->a, list->b, 0, list->count, sides, out->a, out->b)
                            : within_lanes(reach, false, list->a, list->b, 0, list->count, sides, out->a, out->b);
  memset(out->a + out->count, 0, FIXED_GROUP * sizeof *out->a);
  memset(out->b + out->count, 0, FIXED_GROUP * sizeof *out->b);
}

/* ---- contact impulses ---- */

#if FIXED_POINT_ISA > 0
typedef struct fixed_vector_tally {
  fixed_sum virial, dissipated;
} fixed_vector_tally;

/* Computes the impulses of LANES pairs on both sides; only the first `valid` pairs count. */
INLINE void group_impulses(const fixed_rules *r, bool equal, bool damped, const uint32_t *a, const uint32_t *b,
                           lanes valid, const fixed_slab_pair *sides, fixed_impulse *on_a, fixed_impulse *on_b,
                           fixed_vector_tally *tally) {
  const fixed_point_constants *g = &r->numbers;
  vf f[4], u[4];
  for (int q = 0; q < 4; q++) {
    const vi xa = rows(sides->xa, a, q), xb = rows(sides->xb, b, q);
    const vi pa = rows((const uint32_t *)sides->pa, a, q), pb = rows((const uint32_t *)sides->pb, b, q);
    f[q] = V(cvtepi32_ps)(V(sub_epi32)(xa, xb));
    if (equal) {
      u[q] = V(sub_ps)(V(cvtepi32_ps)(pa), V(cvtepi32_ps)(pb));
    } else {
      const vf wa = fourth(pa), wb = fourth(pb);
      f[q] = fourth_sum(f[q], xa, xb);
      u[q] = V(sub_ps)(V(mul_ps)(V(cvtepi32_ps)(pa), wa), V(mul_ps)(V(cvtepi32_ps)(pb), wb));
      u[q] = fourth_sum(u[q], pa, pb);
    }
  }
  transpose(f, equal ? 3 : 4);
  transpose(u, equal ? 3 : 4);
  const vf zero = V(setzero_ps)(), one = V(set1_ps)(1), half = V(set1_ps)(0.5f);
  for (int c = 0; c < 3; c++) f[c] = V(mul_ps)(f[c], V(set1_ps)(g->length[c]));
  const vf square = V(fmadd_ps)(f[2], f[2], V(fmadd_ps)(f[1], f[1], V(mul_ps)(f[0], f[0])));
  const vf reach = equal ? V(set1_ps)(r->reach) : f[3], pair = equal ? V(set1_ps)(2) : u[3];
  const vf distance = V(sqrt_ps)(square), overlap = V(sub_ps)(reach, distance);
  const vf speed = V(div_ps)(V(fmadd_ps)(u[2], f[2], V(fmadd_ps)(u[1], f[1], V(mul_ps)(u[0], f[0]))), distance);
  const vf stiffness =
      equal ? V(set1_ps)(g->stiffness) : V(fmadd_ps)(V(set1_ps)(g->km), V(div_ps)(one, pair), V(set1_ps)(g->k0));
  vf along, dissipated = zero;
  lanes hit = valid & less(zero, distance);
  if (!damped) {
    hit = hit & less(zero, overlap);
    along = V(mul_ps)(stiffness, overlap);
  } else {
    const vf edge = V(mul_ps)(V(set1_ps)(0.5f * g->displacement), absolute(speed));
    const lanes part_of = less(overlap, edge);
    hit = hit & less(V(sub_ps)(zero, edge), overlap);
    const vf some = V(add_ps)(half, V(div_ps)(V(mul_ps)(half, overlap), edge));
    const vf share = pick(part_of, some, one);
    const vf mean = pick(part_of, V(mul_ps)(V(mul_ps)(edge, some), some), overlap);
    const vf damping =
        equal ? V(set1_ps)(g->damping)
              : V(fmadd_ps)(V(set1_ps)(g->gm), V(div_ps)(one, pair),
                            V(fmadd_ps)(V(set1_ps)(g->gh), V(div_ps)(one, V(sqrt_ps)(pair)), V(set1_ps)(g->g0)));
    const vf elastic = V(mul_ps)(stiffness, mean), part = V(mul_ps)(damping, share);
    const vf ahead = r->start ? zero : V(mul_ps)(half, pair);
    vf dashpot =
        V(div_ps)(V(mul_ps)(V(sub_ps)(zero, part), V(fmadd_ps)(ahead, elastic, speed)), V(fmadd_ps)(ahead, part, one));
    vf against = V(div_ps)(dashpot, part); /* speed that the dashpot damps */
    along = V(add_ps)(elastic, dashpot);
    if (g->limited > 0) {
      const lanes cut = less(along, zero);
      along = pick(cut, zero, along);
      dashpot = pick(cut, V(sub_ps)(zero, elastic), dashpot);
      against = pick(cut, V(sub_ps)(zero, speed), against);
    }
    dissipated = pick(hit & less(zero, part), V(mul_ps)(V(mul_ps)(against, dashpot), V(set1_ps)(g->dissipated)), zero);
  }
  const vf scale = V(div_ps)(along, distance);
  vf then = zero;
  vi q[3];
  for (int c = 0; c < 3; c++) {
    const vf before = V(fnmadd_ps)(V(set1_ps)(g->displacement), u[c], f[c]);
    then = c == 0 ? V(mul_ps)(before, before) : V(fmadd_ps)(before, before, then);
    q[c] = V(cvtps_epi32)(pick(hit, V(mul_ps)(scale, f[c]), zero));
  }
  const lanes begun = hit & less(zero, overlap) & less(speed, zero) & not_less(then, V(mul_ps)(reach, reach));
  store_impulses(V_LOAD(a), V_LOAD(b), begun, q, on_a, on_b);
  tally->virial = sum_add(tally->virial, pick(hit, V(mul_ps)(V(mul_ps)(along, distance), V(set1_ps)(g->virial)), zero));
  if (damped) tally->dissipated = sum_add(tally->dissipated, dissipated);
}
#endif

/* Without vectors: one pair at a time, by the functions of fixed_point.h. */
#if FIXED_POINT_ISA == 0
enum { LANES = 1, ALL_LANES = 1 };
typedef unsigned lanes;
typedef int64_t fixed_sum;
typedef fixed_tally fixed_vector_tally;
INLINE fixed_sum sum_zero(void) { return 0; }
INLINE int64_t sum_total(fixed_sum sum) { return sum; }
INLINE void group_impulses(const fixed_rules *r, bool equal, bool damped, const uint32_t *a, const uint32_t *b,
                           lanes valid, const fixed_slab_pair *sides, fixed_impulse *on_a, fixed_impulse *on_b,
                           fixed_vector_tally *tally) {
  const fixed_point_constants *g = &r->numbers;
  const uint32_t *xa = sides->xa + *a, *xb = sides->xb + *b;
  const int32_t *pa = sides->pa + *a, *pb = sides->pb + *b;
  float f[3], reach = r->reach, wa = 1, wb = 1, radius[2];
  if (!equal) {
    memcpy(&wa, pa + 3, sizeof wa);
    memcpy(&wb, pb + 3, sizeof wb);
    memcpy(&radius[0], xa + 3, sizeof *radius);
    memcpy(&radius[1], xb + 3, sizeof *radius);
    reach = radius[0] + radius[1];
  }
  fixed_point_contact m;
  const float square = fixed_point_minimum_image(g, xa, xb, f);
  *on_a = (fixed_impulse){{0, 0, 0}, *a};
  *on_b = (fixed_impulse){{0, 0, 0}, *b};
  if (!valid || !fixed_point_pair_impulse(g, equal, damped, r->start, f, square, reach, pa, pb, wa, wb, &m)) return;
  if (!damped && !(m.overlap > 0)) return;
  for (int c = 0; c < 3; c++) {
    on_a->q[c] = (int32_t)lrintf(m.scale * f[c]);
    on_b->q[c] = -on_a->q[c];
  }
  if (fixed_point_contact_begun(g, f, reach, &m)) {
    on_a->at |= FIXED_BEGUN;
    on_b->at |= FIXED_BEGUN;
  }
  tally->virial += llrintf(m.along * m.distance * g->virial);
  if (damped) tally->dissipated += llrintf(fixed_point_dissipated(g, equal, equal ? 2.0f : wa + wb, &m));
}
#endif

enum { BATCH = 128 }; /* pairs */

INLINE size_t list_impulses(const fixed_rules *r, bool equal, bool damped, const fixed_pairs *list,
                            const fixed_slab_pair *sides, fixed_impulse *on_a, fixed_impulse *on_b,
                            fixed_tally *tally) {
  /* the trial distance includes its own rounding, and contacts that begin in this step */
  fixed_reach reach = {.equal = equal, .reach = r->trial};
  memcpy(reach.length, r->numbers.length, sizeof reach.length);
  uint32_t a[BATCH + 2 * 16], b[BATCH + 2 * 16];
  const size_t count = list->count;
  size_t waiting = 0, impulses = 0;
  fixed_vector_tally sum = {sum_zero(), sum_zero()};
  for (size_t k = 0; k < count; k += BATCH) {
    const size_t here = count - k < BATCH ? count - k : BATCH;
    waiting += within_lanes(&reach, equal, list->a + k, list->b + k, k, here, sides, a + waiting, b + waiting);
    size_t done = 0;
    for (; waiting - done >= LANES; done += LANES, impulses += LANES)
      group_impulses(r, equal, damped, a + done, b + done, (lanes)ALL_LANES, sides, on_a + impulses, on_b + impulses,
                     &sum);
    for (size_t l = done; l < waiting; l++) {
      a[l - done] = a[l];
      b[l - done] = b[l];
    }
    waiting -= done;
  }
  if (waiting > 0) {
    for (size_t l = waiting; l < LANES; l++) a[l] = b[l] = 0;
    group_impulses(r, equal, damped, a, b, (lanes)((1u << waiting) - 1), sides, on_a + impulses, on_b + impulses, &sum);
    impulses += LANES;
  }
  tally->virial += sum_total(sum.virial);
  tally->dissipated += sum_total(sum.dissipated);
  return impulses;
}

static size_t pair_impulses(const fixed_rules *r, const fixed_pairs *list, const fixed_slab_pair *sides,
                            fixed_impulse *on_a, fixed_impulse *on_b, fixed_tally *tally) {
  if (r->equal)
    return r->damped ? list_impulses(r, true, true, list, sides, on_a, on_b, tally)
                     : list_impulses(r, true, false, list, sides, on_a, on_b, tally);
  return r->damped ? list_impulses(r, false, true, list, sides, on_a, on_b, tally)
                   : list_impulses(r, false, false, list, sides, on_a, on_b, tally);
}

/* ---- moves ---- */

static void add_impulses(int32_t *p, uint32_t *collisions, int stride, const fixed_impulse *impulse, size_t count) {
  for (size_t k = 0; k < count; k++) {
    const uint32_t at = impulse[k].at & ~FIXED_BEGUN;
#if FIXED_POINT_ISA > 0
    const __m128i q = _mm_blend_epi32(quad((const uint32_t *)(const void *)&impulse[k]), _mm_setzero_si128(), 8);
    _mm_storeu_si128((__m128i *)(void *)(p + at), _mm_add_epi32(quad((const uint32_t *)p + at), q));
#else
    for (int c = 0; c < 3; c++) p[at + (uint32_t)c] += impulse[k].q[c];
#endif
    if (impulse[k].at & FIXED_BEGUN) collisions[at / (uint32_t)stride]++;
  }
}

#if FIXED_POINT_ISA > 0
/* Moves slots by three vectors at a time: with a stride of 3 the pattern of components repeats after three vectors;
 * with a stride of 4 it is the same in each vector. */
INLINE float move_lanes(const fixed_rules *r, int stride, int64_t count, uint32_t *x, int32_t *p) {
  float pattern[3 * LANES], ours[3 * LANES];
  for (size_t l = 0; l < 3 * LANES; l++) {
    const size_t c = l % (size_t)stride;
    pattern[l] = c < 3 ? r->numbers.drift[c] : 0;
    ours[l] = c < 3;
  }
  vf drift[3], most[3];
  for (int j = 0; j < 3; j++) {
    drift[j] = V(loadu_ps)(pattern + j * LANES);
    most[j] = V(setzero_ps)();
  }
  const vf three = V(loadu_ps)(ours);
  const int64_t words = count * stride, vectors = stride == 3 ? 3 : 1;
  for (int64_t k = 0; k < words; k += vectors * LANES) {
    vf square[3];
    for (int j = 0; j < vectors; j++) {
      const vi now = V_LOAD(p + k + j * LANES);
      vf v = V(cvtepi32_ps)(now);
      if (stride == 4) v = V(mul_ps)(v, fourth(now));
      const vi step = V(cvtps_epi32)(V(mul_ps)(v, drift[j]));
      V_STORE(x + k + j * LANES, V(add_epi32)(V_LOAD(x + k + j * LANES), step));
      if (stride == 4) v = V(mul_ps)(v, three);
      square[j] = V(mul_ps)(v, v);
    }
    if (stride == 4) {
      const vf two = V(add_ps)(square[0], V(permute_ps)(square[0], 0xb1));
      most[0] = V(max_ps)(most[0], V(add_ps)(two, V(permute_ps)(two, 0x4e)));
    } else {
      greatest_speeds(square, most);
    }
  }
  if (stride == 4) return greatest(most[0]);
  return greatest_of_three(most);
}
#else
INLINE float move_lanes(const fixed_rules *r, int stride, int64_t count, uint32_t *x, int32_t *p) {
  float most = 0;
  for (int64_t i = 0; i < count; i++, x += stride, p += stride) {
    float w = 1, square = 0;
    if (stride == 4) memcpy(&w, p + 3, sizeof w);
    for (int c = 0; c < 3; c++) {
      const float v = stride == 4 ? (float)p[c] * w : (float)p[c];
      x[c] += (uint32_t)(int32_t)lrintf(v * r->numbers.drift[c]);
      square += v * v;
    }
    most = square > most ? square : most;
  }
  return most;
}
#endif

static float move(const fixed_rules *r, int64_t count, uint32_t *x, int32_t *p) {
  return r->equal ? move_lanes(r, 3, count, x, p) : move_lanes(r, 4, count, x, p);
}

/* ---- pair search ---- */

/* Appends the pairs of grain `word` at x with entries from ... end - 1 of a row; `own`: radius of the grain plus the
 * reach. */
#if FIXED_POINT_ISA > 0
INLINE void search_row(const fixed_row *row, bool equal, uint32_t word, const float x[3], float own, size_t from,
                       size_t end, fixed_pairs *out) {
  const vf at[3] = {V(set1_ps)(x[0] - row->shift[0]), V(set1_ps)(x[1] - row->shift[1]), V(set1_ps)(x[2])};
  const vf reach = V(set1_ps)(own), square = V(mul_ps)(reach, reach);
  for (size_t k = from; k < end; k += LANES) {
    vf d = V(sub_ps)(at[0], V(loadu_ps)(row->x[0] + k)), sum = V(mul_ps)(d, d);
    for (int c = 1; c < 3; c++) {
      d = V(sub_ps)(at[c], V(loadu_ps)(row->x[c] + k));
      sum = V(fmadd_ps)(d, d, sum);
    }
    lanes near;
    if (equal) {
      near = less(sum, square);
    } else {
      const vf limit = V(add_ps)(reach, V(loadu_ps)(row->x[3] + k));
      near = less(sum, V(mul_ps)(limit, limit));
    }
    if (end - k < LANES) near = (lanes)(near & ((1u << (end - k)) - 1));
    V_STORE(out->a + out->count, V(set1_epi32)((int32_t)word));
    out->count += keep(near, V_LOAD(row->word + k), out->b + out->count);
  }
}
#else
INLINE void search_row(const fixed_row *row, bool equal, uint32_t word, const float x[3], float own, size_t from,
                       size_t end, fixed_pairs *out) {
  const float at[3] = {x[0] - row->shift[0], x[1] - row->shift[1], x[2]};
  for (size_t k = from; k < end; k++) {
    const float limit = equal ? own : own + row->x[3][k];
    float sum = 0;
    for (int c = 0; c < 3; c++) sum += (at[c] - row->x[c][k]) * (at[c] - row->x[c][k]);
    out->a[out->count] = word;
    out->b[out->count] = row->word[k];
    out->count += sum < limit * limit;
  }
}
#endif

INLINE void search_lanes(const fixed_reach *reach, bool equal, const fixed_row row[FIXED_ROWS], uint32_t cells,
                         fixed_pairs out[2]) {
  fixed_pairs own_list = out[0], next_list = out[1];
  const fixed_row *own = &row[0];
  for (uint32_t z = 0; z < cells; z++)
    for (size_t i = own->first[z + 1]; i < own->first[z + 2]; i++) {
      const float x[3] = {own->x[0][i], own->x[1][i], own->x[2][i]};
      const float limit = equal ? reach->reach : reach->reach + own->x[3][i];
      search_row(own, equal, own->word[i], x, limit, i + 1, own->first[z + 3], &own_list);
      for (int k = 1; k < FIXED_ROWS; k++)
        search_row(&row[k], equal, own->word[i], x, limit, row[k].first[z], row[k].first[z + 3],
                   k < FIXED_OWN_ROWS ? &own_list : &next_list);
    }
  out[0].count = own_list.count;
  out[1].count = next_list.count;
}

static void search(const fixed_reach *reach, const fixed_row row[FIXED_ROWS], uint32_t cells, fixed_pairs out[2]) {
  if (reach->equal)
    search_lanes(reach, true, row, cells, out);
  else
    search_lanes(reach, false, row, cells, out);
}

extern const fixed_lanes COLLISION_FIXED_POINT_LANES;
const fixed_lanes COLLISION_FIXED_POINT_LANES = {within, pair_impulses, add_impulses, move, search};
