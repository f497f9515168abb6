/* Forces on the bodies of a target cell, as fmm.h defines them: its lists, M2L of the far list, and for a leaf L2P and
 * the pairs of the near list. Compiled once for each instruction set and precision.
 *
 *   Far list: rows of SIMD_WIDTH cells, transposed to moments[k][lane]; tensor and contraction add to
 *   field[group of strands][k][lane]; strands are closed by halves and added to the field of the cell.
 *   Near list: bodies of 32 leaves are copied to one array of x, y, z, m; each is broadcast to SIMD_WIDTH targets, with
 *   4 strands for each target. */
#include "kernels/nbody/cpu/simd.h"
#include "kernels/nbody/fmm/cpu/kernels.h"

#include <stdlib.h>
#include <string.h>

#define FMM_FUNCTION SIMD_INLINE
#include "kernels/nbody/fmm/operators.inc"

enum {
  MOMENTS = NBODY_FMM_MOMENTS(NBODY_FMM_ORDER_MAX),
  FIELD = NBODY_FMM_FIELD(NBODY_FMM_ORDER_MAX),
  GROUPS = NBODY_FMM_M2L_STRANDS / SIMD_WIDTH, /* vectors that hold a number of each strand */
  CENTRE = 0,                                  /* places in a row of moments, as NBODY_FMM_ROW_ of bounds.h */
  EDGE = 3,
  FIRST = 4
};

static inline const real *row_of(const nbody_fmm_tree *t, uint32_t cell) {
  return (const real *)t->moments + (size_t)cell * t->row;
}

/* ---- lists ---- */

/* Returns the cell of an entry of a list. In a periodic box the bits above the cell are the code of a shift. */
static inline uint32_t cell_of(const nbody_fmm_tree *t, uint32_t entry) {
  return t->box > 0 ? entry & ((UINT32_C(1) << NBODY_FMM_SHIFT_BIT) - 1) : entry;
}

/* Computes the shift of an entry. */
static inline void shift_of(uint32_t entry, real shift[3]) {
  static const real of[3] = {0, 1, -1};
  const uint32_t code = entry >> NBODY_FMM_SHIFT_BIT;
  shift[0] = of[code % 3], shift[1] = of[code / 3 % 3], shift[2] = of[code / 9];
}

/* Appends the children of an entry's cell, with the same shift. SIM_ERR_NO_MEMORY. */
static sim_status extend(nbody_fmm_list *list, const nbody_fmm_tree *t, uint32_t entry) {
  const uint32_t cell = cell_of(t, entry), code = entry - cell;
  SIM_TRY(nbody_fmm_list_reserve(list, 8));
  for (uint32_t k = 0; k < t->children[cell]; k++) list->cell[list->count++] = (t->child[cell] + k) | code;
  return SIM_OK;
}

/* Fills in the queue of a cell from the open list of its parent. SIM_ERR_NO_MEMORY. */
static sim_status begin_queue(const nbody_fmm_job *job, int64_t cell, nbody_fmm_list *queue) {
  const nbody_fmm_tree *t = job->tree;
  queue->count = 0;
  if (cell == 0) {
    const uint32_t images = t->box > 0 ? NBODY_FMM_SHIFTS : 1;
    SIM_TRY(nbody_fmm_list_reserve(queue, images));
    for (uint32_t code = 0; code < images; code++) queue->cell[queue->count++] = code << NBODY_FMM_SHIFT_BIT;
    return SIM_OK;
  }
  const nbody_fmm_open *from = &job->open[t->parent[cell]];
  const uint32_t *open = job->scratch[from->thread].open[(t->level[cell] + 1) % 2].cell + from->first;
  SIM_TRY(nbody_fmm_list_reserve(queue, 8 * (int64_t)from->count));
  uint32_t *next = queue->cell;
  for (uint32_t i = 0; i < from->count; i++) {
    const uint32_t b = cell_of(t, open[i]), code = open[i] - b, children = t->children[b], first = t->child[b] | code;
    if (children == 0) *next++ = open[i];
    for (uint32_t k = 0; k < children; k++) *next++ = first + k;
  }
  queue->count = next - queue->cell;
  return SIM_OK;
}

#ifdef SIMD_SPLITS
/* Tests SIMD_WIDTH candidates in open space, as make_lists does: stores accepted ones in `far` and the others in
 * `left`, which both have room for SIMD_WIDTH entries. Returns the number of accepted ones. of: bounds of the target.
 */
SIMD_INLINE int split_candidates(const real *bounds, const uint32_t *candidate, const real *of, real weight,
                                 real theta2, uint32_t *far, uint32_t *left) {
  const real *rows[SIMD_WIDTH];
  vreal other[4], d[3];
  for (int l = 0; l < SIMD_WIDTH; l++) rows[l] = bounds + 4 * (size_t)candidate[l];
  v_columns(rows, 0, other);
  for (int c = 0; c < 3; c++) d[c] = v_sub(v_set(of[c]), other[c]);
  const vreal d2 = v_fma(d[2], d[2], v_fma(d[1], d[1], v_mul(d[0], d[0])));
  const vreal reach = v_fma(v_set(weight), v_set(of[3]), other[3]);
  const unsigned accepted = v_below(v_mul(reach, reach), v_mul(v_set(theta2), d2));
  v_split(candidate, accepted, far, left);
  return __builtin_popcount(accepted);
}
#endif

/* Moves the inner cells of a list, from entry `from` on, to the queue as their children. SIM_ERR_NO_MEMORY. */
static inline sim_status open_cells(const nbody_fmm_tree *t, nbody_fmm_list *list, int64_t from,
                                    nbody_fmm_list *queue) {
  int64_t kept = from;
  for (int64_t i = from; i < list->count; i++) {
    const uint32_t b = list->cell[i];
    if (t->children[cell_of(t, b)] > 0)
      SIM_TRY(extend(queue, t, b));
    else
      list->cell[kept++] = b;
  }
  list->count = kept;
  return SIM_OK;
}

/* Fills in the far list, and the near list of a leaf or the open list of an inner cell. `periodic` is a constant.
 * SIM_ERR_NO_MEMORY. */
SIMD_INLINE sim_status make_lists(const nbody_fmm_job *job, int64_t cell, int thread, const bool periodic) {
  const nbody_fmm_tree *t = job->tree;
  nbody_fmm_scratch *scratch = &job->scratch[thread];
  nbody_fmm_list *queue = &scratch->queue, *far = &scratch->far;
  const bool leaf = t->children[cell] == 0;
  nbody_fmm_list *left = leaf ? &scratch->near : &scratch->open[t->level[cell] % 2];
  const real *bounds = t->bounds, *of = bounds + 4 * cell;
  const real weight = (real)t->settings.weight, theta = (real)t->settings.theta, theta2 = theta * theta;
  const real x = of[0], y = of[1], z = of[2], radius = of[3];
  SIM_TRY(begin_queue(job, cell, queue));
  far->count = 0;
  if (leaf) left->count = 0;
  const int64_t first = left->count;
  for (int64_t next = 0; next < queue->count;) {
    const int64_t end = queue->count;
    SIM_TRY(nbody_fmm_list_reserve(far, end - next));
    SIM_TRY(nbody_fmm_list_reserve(left, end - next));
    uint32_t *accepted = far->cell + far->count, *kept = left->cell + left->count;
    const uint32_t *candidate = queue->cell;
    const int64_t kept_before = left->count;
#ifdef SIMD_SPLITS
    for (; !periodic && end - next >= SIMD_WIDTH; next += SIMD_WIDTH) {
      const int far_off = split_candidates(bounds, candidate + next, of, weight, theta2, accepted, kept);
      accepted += far_off, kept += SIMD_WIDTH - far_off;
    }
#endif
    for (; next < end; next++) {
      const uint32_t b = candidate[next];
      const real *other = bounds + 4 * (size_t)(periodic ? cell_of(t, b) : b);
      real at[3] = {other[0], other[1], other[2]}, shift[3];
      if (periodic) {
        shift_of(b, shift);
        for (int c = 0; c < 3; c++) at[c] += shift[c];
      }
      const real dx = x - at[0], dy = y - at[1], dz = z - at[2];
#if NBODY_SINGLE && NBODY_ISA == 0
      const real d2 = dz * dz + (dy * dy + dx * dx), reach = weight * radius + other[3];
#elif NBODY_SINGLE
      const real d2 = fmaf(dz, dz, fmaf(dy, dy, dx * dx)), reach = fmaf(weight, radius, other[3]);
#else
      const real d2 = fma(dz, dz, fma(dy, dy, dx * dx)), reach = fma(weight, radius, other[3]);
#endif
      const bool far_off = reach * reach < theta2 * d2;
      *accepted = b, *kept = b;
      accepted += far_off, kept += !far_off;
    }
    far->count = accepted - far->cell;
    left->count = kept - left->cell;
    if (!leaf) break;
    SIM_TRY(open_cells(t, left, kept_before, queue));
  }
  if (!leaf) job->open[cell] = (nbody_fmm_open){first, (uint32_t)(left->count - first), (uint16_t)thread};
  return SIM_OK;
}

static sim_status make_open_lists(const nbody_fmm_job *job, int64_t cell, int thread) {
  return make_lists(job, cell, thread, false);
}
static sim_status make_periodic_lists(const nbody_fmm_job *job, int64_t cell, int thread) {
  return make_lists(job, cell, thread, true);
}

/* ---- far ---- */

typedef struct far_sums {
  vreal field[GROUPS][FIELD];
} far_sums;

/* Finds the rows of `count` cells of a list; the other lanes get a row without mass. */
SIMD_INLINE void find_rows(const nbody_fmm_tree *t, const uint32_t *cell, int count, const real *rows[SIMD_WIDTH]) {
  static const _Alignas(64) real none[FIRST + MOMENTS + 4] = {2, 0, 0, 1}; /* no mass, away from all */
  for (int l = 0; l < SIMD_WIDTH; l++) rows[l] = l < count ? row_of(t, cell_of(t, cell[l])) : none;
}

/* Loads the shifted centres and the edges of these cells, one cell in each lane. */
SIMD_INLINE void load_places(const nbody_fmm_tree *t, const uint32_t *cell, int count,
                             const real *const rows[SIMD_WIDTH], vreal out[FIRST]) {
  for (int k = 0; k < FIRST; k += SIMD_COLUMNS) v_columns(rows, (size_t)k, out + k);
  if (t->box == 0) return;
  _Alignas(64) real shifts[3][SIMD_WIDTH];
  for (int l = 0; l < SIMD_WIDTH; l++) {
    real shift[3] = {0, 0, 0};
    if (l < count) shift_of(cell[l], shift);
    for (int c = 0; c < 3; c++) shifts[c][l] = shift[c];
  }
  for (int c = 0; c < 3; c++) out[CENTRE + c] = v_add(out[CENTRE + c], v_load(shifts[c]));
}

/* Returns the rank of moment k: 0, 2, 3, 4 or 5. */
SIMD_INLINE int rank_of_moment(int k) { return k < 1 ? 0 : k < 7 ? 2 : k < 17 ? 3 : k < 32 ? 4 : 5; }

/* Loads the moments of these cells, one cell in each lane, in a new unit of length; ratio = old unit / new unit.
 * `order` is a constant. */
SIMD_INLINE void load_moments(const real *const rows[SIMD_WIDTH], vreal ratio, vreal *out, const int order) {
  const int count = NBODY_FMM_MOMENTS(order);
  vreal power[NBODY_FMM_ORDER_MAX];
  power[1] = ratio;
  for (int rank = 2; rank < order; rank++) power[rank] = v_mul(power[rank - 1], ratio);
#pragma GCC unroll 64
  for (int k = 0; k < count; k += SIMD_COLUMNS) {
    v_columns(rows, (size_t)(FIRST + k), out + k);
    for (int q = k; q < k + SIMD_COLUMNS; q++)
      if (q > 0 && q < count) out[q] = v_mul(out[q], power[rank_of_moment(q)]);
  }
  __asm__ volatile("" : : "r"(out) : "memory"); /* keeps `out` in memory: there are too few registers */
}

#if NBODY_SINGLE
/* Computes the tensor where some source's edge is more than 8 times the target's: for these sources in units of their
 * own edge, and then scaled. */
static void scaled_tensor(const vreal d[3], vreal edges, real edge, real softening, int P, vreal *tensor) {
  _Alignas(64) real unit[SIMD_WIDTH], per_unit[SIMD_WIDTH], soft2[SIMD_WIDTH], ratio[SIMD_WIDTH];
  vreal x[3];
  v_store(unit, edges);
  for (int l = 0; l < SIMD_WIDTH; l++) {
    if (unit[l] <= 8 * edge) unit[l] = edge;
    per_unit[l] = 1 / unit[l];
    soft2[l] = softening * per_unit[l] * (softening * per_unit[l]);
    ratio[l] = edge * per_unit[l];
  }
  for (int c = 0; c < 3; c++) x[c] = v_mul(d[c], v_load(per_unit));
  fmm_tensor(P, x, v_load(soft2), tensor);
  fmm_scale_tensor(P, v_load(ratio), tensor);
}
#endif

/* Adds the fields of `count` source cells to field[k], in strands. Moments are read while the tensor waits for its
 * root. */
SIMD_INLINE void add_far(const nbody_fmm_tree *t, int64_t cell, const uint32_t *source, int count, vreal *field,
                         const int P, const bool potential) {
  const int order = nbody_fmm_order_of_moments(P, NBODY_SINGLE, potential);
  const real *rows[SIMD_WIDTH];
  vreal place[FIRST], moments[MOMENTS + 4], tensor[FIELD], d[3], x[3];
  const real *bounds = (const real *)t->bounds + 4 * cell;
  const real edge = row_of(t, (uint32_t)cell)[EDGE], per_edge = 1 / edge, softening = (real)t->softening;
  const real scaled = softening * per_edge;
  find_rows(t, source, count, rows);
  load_places(t, source, count, rows, place);
  for (int c = 0; c < 3; c++) {
    d[c] = v_sub(v_set(bounds[c]), place[CENTRE + c]);
    x[c] = v_mul(d[c], v_set(per_edge));
  }
#if NBODY_SINGLE
  if (v_above(place[EDGE], v_set(8 * edge)))
    scaled_tensor(d, place[EDGE], edge, softening, P, tensor);
  else
#endif
    fmm_tensor(P, x, v_set(scaled * scaled), tensor);
  load_moments(rows, v_mul(place[EDGE], v_set(per_edge)), moments, order);
  fmm_contract_abreast(P, moments, tensor, field, potential, order == P);
}

/* Closes the strands by halves and adds them to the field of the cell. */
SIMD_INLINE void close_far(const nbody_fmm_tree *t, int64_t cell, const far_sums *sums, const int P) {
  enum { ROWS = (FIELD + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES };
  _Alignas(64) real rows[ROWS * SIMD_LANES], closed[ROWS];
  const int count = NBODY_FMM_FIELD(P), padded = (count + SIMD_WIDTH - 1) / SIMD_WIDTH * SIMD_WIDTH;
  real *field = (real *)t->field + (size_t)cell * (size_t)count;
  memset(rows + count * SIMD_LANES, 0, sizeof *rows * (size_t)((padded - count) * SIMD_LANES));
  for (int k = 0; k < count; k++) {
    vreal part[GROUPS];
    for (int g = 0; g < GROUPS; g++) part[g] = sums->field[g][k];
    for (int half = GROUPS / 2; half * SIMD_WIDTH >= SIMD_LANES; half /= 2)
      for (int g = 0; g < half; g++) part[g] = v_add(part[g], part[g + half]);
    for (int g = 0; g * SIMD_WIDTH < SIMD_LANES; g++) v_store(rows + k * SIMD_LANES + g * SIMD_WIDTH, part[g]);
  }
  for (int k = 0; k < padded; k += SIMD_WIDTH) v_store(closed + k, v_sums(rows + k * SIMD_LANES));
  for (int k = 0; k < count; k++) field[k] += closed[k];
}

/* M2L of the far list. P and `potential` are constants. */
SIMD_INLINE void far_of_order(const nbody_fmm_job *job, int64_t cell, const nbody_fmm_list *far, const int P,
                              const bool potential) {
  const nbody_fmm_tree *t = job->tree;
  far_sums sums;
  for (int g = 0; g < GROUPS; g++)
    for (int k = 0; k < NBODY_FMM_FIELD(P); k++) sums.field[g][k] = v_set(0);
  for (int64_t i = 0; i < far->count; i += SIMD_WIDTH) {
    const int count = far->count - i < SIMD_WIDTH ? (int)(far->count - i) : SIMD_WIDTH;
    add_far(t, cell, far->cell + i, count, sums.field[i / SIMD_WIDTH % GROUPS], P, potential);
  }
  close_far(t, cell, &sums, P);
}

typedef void far_function(const nbody_fmm_job *job, int64_t cell, const nbody_fmm_list *far);

/* Each order is a function of its own, apart from near pairs. */
#define FAR(name, P, potential)                                                                                        \
  static __attribute__((noinline)) void name##P(const nbody_fmm_job *job, int64_t cell, const nbody_fmm_list *far) {   \
    far_of_order(job, cell, far, P, potential);                                                                        \
  }
FAR(far, 3, false)
FAR(far, 4, false)
FAR(far, 5, false)
FAR(far, 6, false)
FAR(far_potential, 3, true)
FAR(far_potential, 4, true)
FAR(far_potential, 5, true)
FAR(far_potential, 6, true)
#undef FAR

#include "kernels/nbody/fmm/cpu/near.inc"

/* nbody_fmm_downward for the constant order P, with the functions for its far list. */
SIMD_INLINE sim_status down_of_order(const nbody_fmm_job *job, int64_t cell, int thread, far_function *far,
                                     far_function *far_potential, const int P) {
  nbody_fmm_scratch *scratch = &job->scratch[thread];
  SIM_TRY(job->tree->box > 0 ? make_periodic_lists(job, cell, thread) : make_open_lists(job, cell, thread));
  scratch->far_count += scratch->far.count;
  if (scratch->far.count > 0) (job->acceleration != NULL ? far : far_potential)(job, cell, &scratch->far);
  if (job->tree->children[cell] > 0) return SIM_OK;
  if (job->acceleration != NULL) return near_of(job, cell, scratch, FORCE, P);
#if !NBODY_SINGLE
  if (job->tree->softening >= LEAST_QUICK) return near_of(job, cell, scratch, QUICK_POTENTIAL, P);
#endif
  return near_of(job, cell, scratch, POTENTIAL, P);
}

/* Each order is a function of its own. */
static sim_status down3(const nbody_fmm_job *job, int64_t cell, int thread) {
  return down_of_order(job, cell, thread, far3, far_potential3, 3);
}
static sim_status down4(const nbody_fmm_job *job, int64_t cell, int thread) {
  return down_of_order(job, cell, thread, far4, far_potential4, 4);
}
static sim_status down5(const nbody_fmm_job *job, int64_t cell, int thread) {
  return down_of_order(job, cell, thread, far5, far_potential5, 5);
}
static sim_status down6(const nbody_fmm_job *job, int64_t cell, int thread) {
  return down_of_order(job, cell, thread, far6, far_potential6, 6);
}

static sim_status target(const nbody_fmm_job *job, int64_t cell, int thread) {
  switch (job->tree->settings.order) {
  case 3: return down3(job, cell, thread);
  case 4: return down4(job, cell, thread);
  case 5: return down5(job, cell, thread);
  default: return down6(job, cell, thread);
  }
}

#if !NBODY_SINGLE
const nbody_fmm_down NBODY_FMM_DOWN = {target, exact};
#else
const nbody_fmm_down NBODY_FMM_DOWN = {target, NULL};
#endif
