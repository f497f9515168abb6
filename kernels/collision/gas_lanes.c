/* The gas's inner loops for one instruction set: GAS_ISA 0 plain, 1 AVX2, 2 AVX-512. Impulses are those of gas.h, to
 * the bit: the same operations in the same order, each rounded once. */
#include "kernels/collision/gas_cpu.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#if GAS_ISA > 0
#include "kernels/collision/gas_simd.h"
#endif

/* ---- which pairs are near ---- */

#if GAS_ISA > 0
INLINE size_t within_lanes(const gas_reach *reach, bool equal, const gas_pair *list, size_t count,
                           const gas_sides *sides, gas_pair *out) {
  const vf length[3] = {V(set1_ps)(reach->length[0]), V(set1_ps)(reach->length[1]), V(set1_ps)(reach->length[2])};
  const vf limit = V(set1_ps)(reach->reach), square = V(mul_ps)(limit, limit);
  size_t found = 0;
  for (size_t k = 0; k < count; k += LANES) {
    gas_pair rest[LANES];
    const size_t left = count - k;
    const gas_pair *at = list + k;
    if (left < LANES) {
      for (size_t l = 0; l < LANES; l++) rest[l] = at[l < left ? l : 0];
      at = rest;
    }
    vf d[4];
    for (int q = 0; q < 4; q++) {
      const vi a = rows(sides->xa, at, q, 0), b = rows(sides->xb, at, q, 1);
      d[q] = V(cvtepi32_ps)(V(sub_epi32)(a, b));
      if (!equal) d[q] = fourth_sum(d[q], a, b);
    }
    turn(d, equal ? 3 : 4);
    vf sum = V(setzero_ps)();
    for (int c = 0; c < 3; c++) {
      const vf x = V(mul_ps)(d[c], length[c]);
      sum = V(fmadd_ps)(x, x, sum);
    }
    const vf far = V(add_ps)(d[3], limit);
    lanes near = less(sum, equal ? square : V(mul_ps)(far, far));
    if (left < LANES) near = near & ((1u << left) - 1);
    found += keep_pairs(near, at, out + found);
  }
  return found;
}
#else
INLINE size_t within_lanes(const gas_reach *reach, bool equal, const gas_pair *list, size_t count,
                           const gas_sides *sides, gas_pair *out) {
  size_t found = 0;
  for (size_t k = 0; k < count; k++) {
    const uint32_t *a = sides->xa + list[k].a, *b = sides->xb + list[k].b;
    float sum = 0, radius[2] = {0, 0};
    for (int c = 0; c < 3; c++) {
      const float x = (float)(int32_t)(a[c] - b[c]) * reach->length[c];
      sum += x * x;
    }
    if (!equal) {
      memcpy(&radius[0], a + 3, sizeof *radius);
      memcpy(&radius[1], b + 3, sizeof *radius);
    }
    const float limit = radius[0] + radius[1] + reach->reach;
    out[found] = list[k];
    found += sum < limit * limit;
  }
  return found;
}
#endif

static size_t within(const gas_reach *reach, const gas_pair *list, size_t count, const gas_sides *sides,
                     gas_pair *out) {
  return reach->equal ? within_lanes(reach, true, list, count, sides, out)
                      : within_lanes(reach, false, list, count, sides, out);
}

/* ---- contacts ---- */

#if GAS_ISA > 0
/* LANES contacts (those of `valid`) into as many events a side. */
INLINE void meet_group(const gas_rules *r, bool equal, bool damped, const gas_pair *at, lanes valid,
                       const gas_sides *sides, gas_event *on_a, gas_event *on_b, gas_tally *tally) {
  const collision_gas_numbers *g = &r->numbers;
  vf f[4], u[4];
  for (int q = 0; q < 4; q++) {
    const vi xa = rows(sides->xa, at, q, 0), xb = rows(sides->xb, at, q, 1);
    const vi pa = rows((const uint32_t *)sides->pa, at, q, 0), pb = rows((const uint32_t *)sides->pb, at, q, 1);
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
  turn(f, equal ? 3 : 4);
  turn(u, equal ? 3 : 4);
  const vf zero = V(setzero_ps)(), one = V(set1_ps)(1), half = V(set1_ps)(0.5f);
  for (int c = 0; c < 3; c++) f[c] = V(mul_ps)(f[c], V(set1_ps)(g->length[c]));
  const vf square = V(fmadd_ps)(f[2], f[2], V(fmadd_ps)(f[1], f[1], V(mul_ps)(f[0], f[0])));
  const vf reach = equal ? V(set1_ps)(r->reach) : f[3], pair = equal ? V(set1_ps)(2) : u[3];
  const vf distance = V(sqrt_ps)(square), overlap = V(sub_ps)(reach, distance);
  const vf speed = V(div_ps)(V(fmadd_ps)(u[2], f[2], V(fmadd_ps)(u[1], f[1], V(mul_ps)(u[0], f[0]))), distance);
  const vf stiffness =
      equal ? V(set1_ps)(g->stiffness) : V(fmadd_ps)(V(set1_ps)(g->km), V(div_ps)(one, pair), V(set1_ps)(g->k0));
  vf along, lost = zero;
  lanes hit = valid & less(zero, distance);
  if (!damped) {
    hit = hit & less(zero, overlap);
    along = V(mul_ps)(stiffness, overlap);
  } else {
    const vf edge = V(mul_ps)(V(set1_ps)(0.5f * g->way), size_of(speed));
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
    const vf dashpot =
        V(div_ps)(V(mul_ps)(V(sub_ps)(zero, part), V(fmadd_ps)(ahead, elastic, speed)), V(fmadd_ps)(ahead, part, one));
    along = V(add_ps)(elastic, dashpot);
    lost = pick(hit & less(zero, part), V(mul_ps)(V(mul_ps)(V(div_ps)(dashpot, part), dashpot), V(set1_ps)(g->lost)),
                zero);
  }
  const vf scale = V(div_ps)(along, distance);
  vf then = zero;
  vi q[3];
  for (int c = 0; c < 3; c++) {
    const vf before = V(fnmadd_ps)(V(set1_ps)(g->way), u[c], f[c]);
    then = c == 0 ? V(mul_ps)(before, before) : V(fmadd_ps)(before, before, then);
    q[c] = V(cvtps_epi32)(pick(hit, V(mul_ps)(scale, f[c]), zero));
  }
  const lanes begun = hit & less(zero, overlap) & less(speed, zero) & not_less(then, V(mul_ps)(reach, reach));
  put_events(at, begun, q, on_a, on_b);
  tally->virial += whole_sum(pick(hit, V(mul_ps)(V(mul_ps)(along, distance), V(set1_ps)(g->virial)), zero));
  if (damped) tally->lost += whole_sum(lost);
}
#endif

/* One at a time, by gas.h itself. */
#if GAS_ISA == 0
enum { LANES = 1, ALL_LANES = 1 };
typedef unsigned lanes;
INLINE void meet_group(const gas_rules *r, bool equal, bool damped, const gas_pair *at, lanes valid,
                       const gas_sides *sides, gas_event *on_a, gas_event *on_b, gas_tally *tally) {
  const collision_gas_numbers *g = &r->numbers;
  const uint32_t *xa = sides->xa + at->a, *xb = sides->xb + at->b;
  const int32_t *pa = sides->pa + at->a, *pb = sides->pb + at->b;
  float f[3], reach = r->reach, wa = 1, wb = 1, radius[2];
  if (!equal) {
    memcpy(&wa, pa + 3, sizeof wa);
    memcpy(&wb, pb + 3, sizeof wb);
    memcpy(&radius[0], xa + 3, sizeof *radius);
    memcpy(&radius[1], xb + 3, sizeof *radius);
    reach = radius[0] + radius[1];
  }
  collision_gas_contact m;
  const float square = collision_gas_apart(g, xa, xb, f);
  *on_a = (gas_event){{0, 0, 0}, at->a};
  *on_b = (gas_event){{0, 0, 0}, at->b};
  if (!valid || !collision_gas_meet(g, equal, damped, r->start, f, square, reach, pa, pb, wa, wb, &m)) return;
  if (!damped && !(m.overlap > 0)) return;
  for (int c = 0; c < 3; c++) {
    on_a->q[c] = (int32_t)lrintf(m.scale * f[c]);
    on_b->q[c] = -on_a->q[c];
  }
  if (collision_gas_begun(g, f, reach, &m)) {
    on_a->at |= GAS_BEGUN;
    on_b->at |= GAS_BEGUN;
  }
  tally->virial += llrintf(m.along * m.distance * g->virial);
  if (damped) tally->lost += llrintf(collision_gas_lost(g, equal, equal ? 2.0f : wa + wb, &m));
}
#endif

enum { TRIED = 128 }; /* pairs at a time */

/* What belongs to these pairs of what will be wanted, into the second cache. */
INLINE void fetch(const gas_sides *sides, size_t from, size_t to, size_t count) {
  const size_t end = sides->ahead_bytes * to / count;
  for (size_t k = sides->ahead_bytes * from / count; k < end; k += 64) __builtin_prefetch(sides->ahead + k, 0, 2);
}

INLINE size_t meet_lanes(const gas_rules *r, bool equal, bool damped, const gas_pair *list, size_t count,
                         const gas_sides *sides, gas_event *on_a, gas_event *on_b, gas_tally *tally) {
  /* Rounding of the trial's own operations, and the reach of contacts that are about to begin. */
  gas_reach reach = {.equal = equal, .reach = r->trial};
  memcpy(reach.length, r->numbers.length, sizeof reach.length);
  gas_pair near[TRIED + 2 * 16];
  size_t waiting = 0, events = 0;
  for (size_t k = 0; k < count; k += TRIED) {
    const size_t here = count - k < TRIED ? count - k : TRIED;
    fetch(sides, k, k + here, count);
    waiting += within_lanes(&reach, equal, list + k, here, sides, near + waiting);
    size_t done = 0;
    for (; waiting - done >= LANES; done += LANES, events += LANES)
      meet_group(r, equal, damped, near + done, (lanes)ALL_LANES, sides, on_a + events, on_b + events, tally);
    for (size_t l = done; l < waiting; l++) near[l - done] = near[l];
    waiting -= done;
  }
  if (waiting > 0) {
    for (size_t l = waiting; l < LANES; l++) near[l] = near[0];
    meet_group(r, equal, damped, near, (lanes)((1u << waiting) - 1), sides, on_a + events, on_b + events, tally);
    events += LANES;
  }
  return events;
}

static size_t meet(const gas_rules *r, const gas_pair *list, size_t count, const gas_sides *sides, gas_event *on_a,
                   gas_event *on_b, gas_tally *tally) {
  gas_tally sum = {0};
  size_t events;
  if (r->equal)
    events = r->damped ? meet_lanes(r, true, true, list, count, sides, on_a, on_b, &sum)
                       : meet_lanes(r, true, false, list, count, sides, on_a, on_b, &sum);
  else
    events = r->damped ? meet_lanes(r, false, true, list, count, sides, on_a, on_b, &sum)
                       : meet_lanes(r, false, false, list, count, sides, on_a, on_b, &sum);
  tally->virial += sum.virial;
  tally->lost += sum.lost;
  return events;
}

/* ---- moving ---- */

static void take(int32_t *p, uint32_t *collisions, int stride, const gas_event *event, size_t count) {
  for (size_t k = 0; k < count; k++) {
    const uint32_t at = event[k].at & ~GAS_BEGUN;
#if GAS_ISA > 0
    const __m128i q = _mm_blend_epi32(quad((const uint32_t *)(const void *)&event[k]), _mm_setzero_si128(), 8);
    _mm_storeu_si128((__m128i *)(void *)(p + at), _mm_add_epi32(quad((const uint32_t *)p + at), q));
#else
    for (int c = 0; c < 3; c++) p[at + (uint32_t)c] += event[k].q[c];
#endif
    if (event[k].at & GAS_BEGUN) collisions[at / (uint32_t)stride]++;
  }
}

INLINE size_t component(int stride, size_t word) { return word % (size_t)stride; }

#if GAS_ISA > 0
/* 3 LANES words at a time: the components recur after each third vector, or in each where the stride is 4. */
INLINE float move_lanes(const gas_rules *r, int stride, int64_t count, uint32_t *x, int32_t *p) {
  float pattern[3 * LANES], ours[3 * LANES];
  for (size_t l = 0; l < 3 * LANES; l++) {
    const size_t c = component(stride, l);
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
INLINE float move_lanes(const gas_rules *r, int stride, int64_t count, uint32_t *x, int32_t *p) {
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

static float move(const gas_rules *r, int64_t count, uint32_t *x, int32_t *p) {
  return r->equal ? move_lanes(r, 3, count, x, p) : move_lanes(r, 4, count, x, p);
}

/* ---- searching ---- */

#if GAS_ISA > 0
INLINE size_t search_lanes(const gas_reach *reach, bool equal, const gas_cell *cell, int stride, gas_pair *out) {
  const vf length[3] = {V(set1_ps)(reach->length[0]), V(set1_ps)(reach->length[1]), V(set1_ps)(reach->length[2])};
  const vi by_lane = V(mullo_epi32)(first_lanes(), V(set1_epi32)(stride));
  size_t found = 0;
  for (int64_t i = cell->from; i < cell->to; i++) {
    vi x[3];
    for (int c = 0; c < 3; c++) x[c] = V(set1_epi32)((int32_t)cell->a[c][i]);
    const vf own = equal ? V(set1_ps)(reach->reach)
                         : V(add_ps)(V(set1_ps)(reach->reach), as_float(V(set1_epi32)((int32_t)cell->a[3][i])));
    for (int range = 0; range < cell->count; range++) {
      const int64_t end = cell->range[range][1];
      for (int64_t k = cell->self && range == 0 ? i + 1 : cell->range[range][0]; k < end; k += LANES) {
        vf sum = V(setzero_ps)();
        for (int c = 0; c < 3; c++) {
          const vf d = V(mul_ps)(V(cvtepi32_ps)(V(sub_epi32)(x[c], V_LOAD(cell->b[c] + k))), length[c]);
          sum = V(fmadd_ps)(d, d, sum);
        }
        const vf limit = equal ? own : V(add_ps)(own, as_float(V_LOAD(cell->b[3] + k)));
        lanes near = less(sum, V(mul_ps)(limit, limit));
        if (end - k < LANES) near = (lanes)(near & ((1u << (end - k)) - 1));
        found += put_pairs(near, (uint32_t)(i * stride), V(add_epi32)(by_lane, V(set1_epi32)((int32_t)(k * stride))),
                           out + found);
      }
    }
  }
  return found;
}
#else
INLINE size_t search_lanes(const gas_reach *reach, bool equal, const gas_cell *cell, int stride, gas_pair *out) {
  size_t found = 0;
  for (int64_t i = cell->from; i < cell->to; i++)
    for (int range = 0; range < cell->count; range++)
      for (int64_t k = cell->self && range == 0 ? i + 1 : cell->range[range][0]; k < cell->range[range][1]; k++) {
        float sum = 0, radius[2] = {0, 0};
        for (int c = 0; c < 3; c++) {
          const float d = (float)(int32_t)(cell->a[c][i] - cell->b[c][k]) * reach->length[c];
          sum += d * d;
        }
        if (!equal) {
          memcpy(&radius[0], cell->a[3] + i, sizeof *radius);
          memcpy(&radius[1], cell->b[3] + k, sizeof *radius);
        }
        const float limit = radius[0] + radius[1] + reach->reach;
        out[found] = (gas_pair){(uint32_t)(i * stride), (uint32_t)(k * stride)};
        found += sum < limit * limit;
      }
  return found;
}
#endif

static size_t search(const gas_reach *reach, const gas_cell *cell, gas_pair *out) {
  return reach->equal ? search_lanes(reach, true, cell, 3, out) : search_lanes(reach, false, cell, 4, out);
}

extern const gas_lanes COLLISION_GAS_LANES;
const gas_lanes COLLISION_GAS_LANES = {within, meet, take, move, search};
