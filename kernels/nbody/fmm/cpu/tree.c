#include "kernels/nbody/fmm/cpu/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  PARALLEL_FROM = 8192, /* number of bodies from which threads and ranks divide the work */
  KEY_BITS = 21,        /* of an axis */
  DIGIT_BITS = 8,       /* of one pass of the sort */
  DIGITS = 1 << DIGIT_BITS,
  SORT_THREADS = 64,
  SAMPLES = 256,         /* keys for each rank, from which the ranks take the limits of their shares of the sort */
  EXPONENT_LIMIT = 1000, /* keeps powers of two finite whatever the input */
  ALIGNMENT = 64
};

/* ---- memory ---- */

static double padded(double bytes) { return ceil(bytes / ALIGNMENT) * ALIGNMENT; }

static size_t row_size(int order) { return ((size_t)NBODY_FMM_MOMENTS(order) + 4 + 3) / 4 * 4; }

/* All arrays have room for fp64. */
static double body_bytes(double n) {
  return 2 * padded(n * sizeof(uint64_t)) + 2 * padded(n * sizeof(uint32_t)) + padded((n + 16) * 4 * sizeof(double));
}

static double cell_bytes(double cells, int order) {
  return 4 * padded(cells * sizeof(uint32_t)) + 2 * padded(cells) +
         padded(cells * (double)(4 + row_size(order)) * sizeof(double)) +
         padded(cells * NBODY_FMM_FIELD(order) * sizeof(double));
}

/* More than a uniform distribution can have: 8/7 x 8 n / leaf. */
double nbody_fmm_tree_usual_cells(double n, int leaf) { return fmin(10 * n / leaf, 3 * n) + 1024; }

double nbody_fmm_tree_bytes(double n, const nbody_fmm_settings *settings) {
  return body_bytes(n) + cell_bytes(nbody_fmm_tree_usual_cells(n, settings->leaf), settings->order);
}

double nbody_fmm_tree_expected_cells(const nbody_options *options) {
  const double n = (double)options->n, leaf = options->fmm.leaf;
  double cells = 1, all = 1;
  if (options->box == 0) return fmin(4.05 * n / leaf, 3 * n); /* counted: 4.02 to 4.12 for 10^5 and 4 10^5 bodies */
  for (double bodies = leaf; bodies < n; bodies *= 8) all += cells *= 8; /* levels whose cells all split */
  const double mean = n / cells, fuller = 0.5 * erfc((leaf + 0.5 - mean) / sqrt(2 * mean));
  return all + 8 * cells * fuller;
}

/* The first tree of a run is in fp64. */
double nbody_fmm_tree_room(const nbody_options *options) {
  const double most = nbody_fmm_tree_usual_cells((double)options->n, options->fmm.leaf);
  return cell_bytes(most, options->fmm.order) - cell_bytes(nbody_fmm_tree_expected_cells(options), options->fmm.order);
}

static bool is_divided(const nbody_options *options) { return options->comm->size > 1 && options->n >= PARALLEL_FROM; }

double nbody_fmm_tree_received(const nbody_options *options, double *exchanges) {
  const double n = (double)options->n, real = options->single_pairs ? sizeof(float) : sizeof(double);
  const double cells = nbody_fmm_tree_expected_cells(options);
  *exchanges = is_divided(options) ? 10 : 0;
  if (!is_divided(options)) return 0;
  const double listed = sizeof(uint64_t) + sizeof(uint32_t), dealt = listed / options->comm->size; /* to sort them */
  return n * (listed + dealt + 4 * real) +
         cells * (double)(4 + row_size(nbody_fmm_order_of_moments(options->fmm.order, options->single_pairs, false))) *
             real;
}

/* Returns the next array of a block of memory. */
static void *carve(char **next, double bytes) {
  void *out = *next;
  *next += (size_t)padded(bytes);
  return out;
}

static sim_status take(double bytes, const char *what, int64_t n, void **out) {
  *out = NULL;
  if (bytes < (double)(SIZE_MAX / 4)) *out = aligned_alloc(ALIGNMENT, (size_t)padded(bytes));
  if (*out == NULL) return sim_no_memory("%s of %lld bodies: %.0f MB", what, (long long)n, bytes / 1e6);
  return SIM_OK;
}

static sim_status take_cells(nbody_fmm_tree *t, int64_t capacity) {
  const int order = t->settings.order;
  const double cells = (double)capacity;
  void *memory;
  if (capacity > (t->box > 0 ? INT64_C(1) << NBODY_FMM_SHIFT_BIT : UINT32_MAX))
    return sim_no_memory("%lld cells of the multipole tree", (long long)capacity);
  SIM_TRY(take(cell_bytes(cells, order), "the cells of the multipole tree", t->n, &memory));
  const nbody_fmm_tree old = *t;
  char *next = memory;
  t->first = carve(&next, cells * sizeof *t->first);
  t->count = carve(&next, cells * sizeof *t->count);
  t->child = carve(&next, cells * sizeof *t->child);
  t->parent = carve(&next, cells * sizeof *t->parent);
  t->children = carve(&next, cells);
  t->level = carve(&next, cells);
  t->moments = carve(&next, cells * (double)(4 + row_size(order)) * sizeof(double));
  t->bounds = (char *)t->moments + (size_t)capacity * row_size(order) * sizeof(double);
  t->field = carve(&next, cells * NBODY_FMM_FIELD(order) * sizeof(double));
  if (old.cells > 0) { /* copies the cells made so far */
    const size_t cells4 = (size_t)old.cells * sizeof(uint32_t);
    memcpy(t->first, old.first, cells4);
    memcpy(t->count, old.count, cells4);
    memcpy(t->child, old.child, cells4);
    memcpy(t->parent, old.parent, cells4);
    memcpy(t->children, old.children, (size_t)old.cells);
    memcpy(t->level, old.level, (size_t)old.cells);
  }
  free(t->cell_memory);
  t->cell_memory = memory;
  t->capacity = capacity;
  return SIM_OK;
}

sim_status nbody_fmm_tree_create(const nbody_options *options, nbody_fmm_tree *out) {
  const nbody_fmm_settings *settings = &options->fmm;
  const int64_t n = options->n;
  *out = (nbody_fmm_tree){.settings = *settings,
                          .n = n,
                          .box = options->box,
                          .threads = options->threads,
                          .comm = options->comm,
                          .divided = is_divided(options)};
  const size_t ranks = (size_t)options->comm->size;
  SIM_TRY(take(body_bytes((double)n), "the multipole tree", n, &out->memory));
  if (out->divided && (out->sent = malloc(ranks * ranks * sizeof *out->sent)) == NULL)
    return sim_no_memory("what %zu ranks exchange", ranks);
  char *next = out->memory;
  out->key = carve(&next, (double)n * sizeof *out->key);
  out->other_key = carve(&next, (double)n * sizeof *out->key);
  out->order = carve(&next, (double)n * sizeof *out->order);
  out->other_order = carve(&next, (double)n * sizeof *out->order);
  out->bodies = next;
  return take_cells(out, (int64_t)nbody_fmm_tree_usual_cells((double)n, settings->leaf));
}

void nbody_fmm_tree_destroy(nbody_fmm_tree *tree) {
  free(tree->memory);
  free(tree->sent);
  free(tree->cell_memory);
  *tree = (nbody_fmm_tree){0};
}

/* ---- frame ---- */

static inline double element(sim_dtype dtype, const void *data, int64_t i) {
  return dtype == SIM_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* Returns the least e with |a| < 2^e, within +-EXPONENT_LIMIT; 0 for a = 0. */
static int exponent_above(double a) {
  int exponent = 0;
  if (a != 0) (void)frexp(a, &exponent);
  return exponent < -EXPONENT_LIMIT ? -EXPONENT_LIMIT : exponent > EXPONENT_LIMIT ? EXPONENT_LIMIT : exponent;
}

typedef struct extremes {
  double low, high;
} extremes;

/* Finds the extremes of data[from + first ... from + end - 1]; NaN where a number is not finite. */
static extremes find_extremes(const nbody_fmm_tree *t, sim_dtype dtype, const void *data, int64_t from, size_t first,
                              size_t end) {
  extremes out = {INFINITY, -INFINITY};
  bool finite = true;
#pragma omp parallel num_threads(t->threads) if (end - first >= PARALLEL_FROM && t->threads > 1)
  {
    extremes mine = {INFINITY, -INFINITY};
    bool all = true;
#pragma omp for schedule(static)
    for (size_t i = first; i < end; i++) {
      const double a = element(dtype, data, from + (int64_t)i);
      mine.low = a < mine.low ? a : mine.low;
      mine.high = a > mine.high ? a : mine.high;
      all = all && isfinite(a);
    }
#pragma omp critical
    {
      out.low = mine.low < out.low ? mine.low : out.low;
      out.high = mine.high > out.high ? mine.high : out.high;
      finite = finite && all;
    }
  }
  return finite ? out : (extremes){NAN, NAN};
}

/* Finds the extremes of the three coordinates and of the masses of all bodies; NaN where a number is not finite. A
 * failure of the ranks. */
static sim_status find_all_extremes(const nbody_fmm_tree *t, const nbody_state *state, extremes out[4]) {
  extremes all[SIM_RANKS_MAX][4];
  const int ranks = t->divided ? t->comm->size : 1;
  size_t first = 0, end = (size_t)t->n;
  if (t->divided) first = sim_comm_first(t->comm, end, &end);
  for (int c = 0; c < 3; c++) out[c] = find_extremes(t, state->dtype, state->position, c * t->n, first, end);
  out[3] = find_extremes(t, state->dtype, state->mass, 0, first, end);
  if (ranks == 1) return SIM_OK;
  SIM_TRY(t->comm->ops->gather(t->comm, out, sizeof *all, all));
  for (int c = 0; c < 4; c++) {
    out[c] = all[0][c];
    for (int r = 1; r < ranks; r++) {
      out[c].low = all[r][c].low < out[c].low ? all[r][c].low : out[c].low;
      out[c].high = all[r][c].high > out[c].high ? all[r][c].high : out[c].high;
    }
    for (int r = 0; r < ranks; r++)
      if (isnan(all[r][c].low)) out[c] = (extremes){NAN, NAN};
  }
  return SIM_OK;
}

static inline double packed(const nbody_fmm_tree *t, int c, double x) {
  const double out = (x - t->origin[c]) * t->scale;
  return t->single ? (double)(float)out : out;
}

static sim_status set_frame(nbody_fmm_tree *t, const nbody_state *state, double softening) {
  extremes x[4];
  double extent = 0x1p-10 * softening;
  SIM_TRY(find_all_extremes(t, state, x));
  for (int c = 0; c < 3; c++) {
    extent = fmax(extent, x[c].high - x[c].low);
    if (!isfinite(x[c].high)) return sim_fail(SIM_ERR_DIVERGED, "a position is not finite");
    if (t->box > 0 && !(x[c].low >= 0 && x[c].high < t->box))
      return sim_fail(SIM_ERR_INTERNAL, "a position is outside the periodic box");
  }
  t->position = t->box > 0 ? 0 : exponent_above(extent);
  t->scale = t->box > 0 ? 1 / t->box : ldexp(1, -t->position);
  const double unit = ldexp(1, t->position);
  for (int c = 0; c < 3 && t->box == 0; c++) {
    t->origin[c] = unit * trunc((x[c].low / 2 + x[c].high / 2) / unit);
    t->low[c] = packed(t, c, x[c].low);
  }
  t->softening = softening * t->scale;
  const double greatest = x[3].high;
  if (!isfinite(greatest)) return sim_fail(SIM_ERR_DIVERGED, "a mass is not finite");
  int above = 0;
  while (ldexp(1, above) < (double)t->n) above++;
  t->mass = exponent_above(greatest) + above;
  return SIM_OK;
}

/* ---- keys and their order ---- */

/* Moves bit b to bit 3 b. */
static inline uint64_t spread(uint64_t a) {
  a = (a | a << 32) & UINT64_C(0x1f00000000ffff);
  a = (a | a << 16) & UINT64_C(0x1f0000ff0000ff);
  a = (a | a << 8) & UINT64_C(0x100f00f00f00f00f);
  a = (a | a << 4) & UINT64_C(0x10c30c30c30c30c3);
  return (a | a << 2) & UINT64_C(0x1249249249249249);
}

static uint64_t key_of(const nbody_fmm_tree *t, const nbody_state *state, int64_t i) {
  const double most = (1 << KEY_BITS) - 1;
  uint64_t key = 0;
  for (int c = 0; c < 3; c++) {
    const double x = packed(t, c, element(state->dtype, state->position, c * t->n + i));
    const double place = 0x1p21 * (x - t->low[c]);
    key |= spread((uint64_t)(place < most ? place : most)) << (2 - c);
  }
  return key;
}

/* Makes the keys of bodies first ... end - 1, in the state's order. */
static void make_keys(nbody_fmm_tree *t, const nbody_state *state, int64_t first, int64_t end) {
#pragma omp parallel for schedule(static) num_threads(t->threads) if (end - first >= PARALLEL_FROM && t->threads > 1)
  for (int64_t i = first; i < end; i++) {
    t->key[i] = key_of(t, state, i);
    t->order[i] = (uint32_t)i;
  }
}

/* One pass of the stable radix sort of entries begin ... begin + n - 1, from `key` and `order` to `other_key` and
 * `other_order`. Returns false, and moves nothing, where all digits are equal. */
static bool sort_pass(nbody_fmm_tree *t, int64_t begin, int64_t n, int shift, int64_t (*offset)[DIGITS], int ranges) {
  const uint64_t *key = t->key + begin;
  memset(offset, 0, sizeof *offset * (size_t)ranges);
#pragma omp parallel for schedule(static, 1) num_threads(ranges) if (ranges > 1)
  for (int r = 0; r < ranges; r++)
    for (int64_t i = n * r / ranges; i < n * (r + 1) / ranges; i++) offset[r][key[i] >> shift & (DIGITS - 1)]++;
  int64_t before = begin;
  for (int d = 0; d < DIGITS; d++) {
    int64_t all = 0;
    for (int r = 0; r < ranges; r++) {
      const int64_t here = offset[r][d];
      offset[r][d] = before + all;
      all += here;
    }
    if (all == n) return false;
    before += all;
  }
#pragma omp parallel for schedule(static, 1) num_threads(ranges) if (ranges > 1)
  for (int r = 0; r < ranges; r++)
    for (int64_t i = n * r / ranges; i < n * (r + 1) / ranges; i++) {
      const int64_t to = offset[r][key[i] >> shift & (DIGITS - 1)]++;
      t->other_key[to] = key[i];
      t->other_order[to] = t->order[begin + i];
    }
  return true;
}

static void swap_arrays(nbody_fmm_tree *t) {
  uint64_t *key = t->key;
  uint32_t *order = t->order;
  t->key = t->other_key, t->other_key = key;
  t->order = t->other_order, t->other_order = order;
}

/* Sorts entries begin ... end - 1 by key; the rest of the arrays is lost. */
static void sort_range(nbody_fmm_tree *t, int64_t begin, int64_t end) {
  int64_t offset[SORT_THREADS][DIGITS];
  int ranges = end - begin >= PARALLEL_FROM ? t->threads : 1;
  if (ranges > SORT_THREADS) ranges = SORT_THREADS;
  for (int shift = 0; shift < 3 * KEY_BITS && end > begin; shift += DIGIT_BITS)
    if (sort_pass(t, begin, end - begin, shift, offset, ranges)) swap_arrays(t);
}

static void pack_range(nbody_fmm_tree *t, const nbody_state *state, int64_t first, int64_t end) {
  const int64_t n = t->n;
  const double mass_scale = ldexp(1, -t->mass);
#pragma omp parallel for schedule(static) num_threads(t->threads) if (end - first >= PARALLEL_FROM && t->threads > 1)
  for (int64_t i = first; i < end; i++) {
    double body[4];
    const int64_t from = t->order[i];
    for (int c = 0; c < 3; c++) body[c] = packed(t, c, element(state->dtype, state->position, c * n + from));
    body[3] = element(state->dtype, state->mass, from) * mass_scale;
    for (int c = 0; c < 4; c++)
      if (t->single)
        ((float *)t->bodies)[4 * i + c] = (float)body[c];
      else
        ((double *)t->bodies)[4 * i + c] = body[c];
  }
}

/* ---- keys and their order, by ranks ----
 *
 * Each rank makes the keys of one slice of the state. Splitters, which are keys of some bodies, assign each key to the
 * rank that sorts it: a rank sorts one range of keys. Slices arrive in the order of ranks, so that bodies of equal keys
 * keep their order. The sorted ranges are gathered. */

static int compare_keys(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Fills in splitters[SIM_RANKS_MAX], the same on all ranks: ranks - 1 ascending keys, then a number above any key.
 * `sample` is scratch for SAMPLES keys of each rank, at most n. */
static void find_splitters(const nbody_fmm_tree *t, const nbody_state *state, uint64_t *sample, uint64_t *splitters) {
  const int64_t ranks = t->comm->size, all = SAMPLES * ranks, count = all < t->n ? all : t->n;
  for (int64_t k = 0; k < count; k++) sample[k] = key_of(t, state, k * t->n / count);
  qsort(sample, (size_t)count, sizeof *sample, compare_keys);
  for (int64_t r = 1; r <= SIM_RANKS_MAX; r++) splitters[r - 1] = r < ranks ? sample[r * count / ranks] : UINT64_MAX;
}

/* Returns the number of splitters that are at most `key`. Without branches, because keys come in any order. */
static inline uint32_t rank_of(uint64_t key, const uint64_t *splitters, uint32_t ranks) {
  uint32_t rank = 0;
  for (uint32_t half = ranks / 2; half > 0; half /= 2) rank += splitters[rank + half - 1] <= key ? half : 0;
  return rank;
}

/* Sends the keys of this rank's slice to the ranks that sort them. A failure of the ranks. */
static sim_status deal_keys(nbody_fmm_tree *t, const nbody_state *state) {
  const sim_comm *comm = t->comm;
  const size_t ranks = (size_t)comm->size, own = (size_t)comm->rank;
  uint64_t splitters[SIM_RANKS_MAX], *const sent = t->sent, *const mine = sent + own * ranks;
  uint32_t *const rank = t->order; /* of each key, until it is sent */
  uint32_t power = 1;
  size_t end, next[SIM_RANKS_MAX];
  const size_t first = sim_comm_first(comm, (size_t)t->n, &end);
  while (power < (uint32_t)comm->size) power *= 2;
  find_splitters(t, state, t->other_key, splitters);
  make_keys(t, state, (int64_t)first, (int64_t)end);
  memset(mine, 0, ranks * sizeof *mine);
  for (size_t i = first; i < end; i++) mine[rank[i] = rank_of(t->key[i], splitters, power)]++;
  SIM_TRY(comm->ops->gather(comm, mine, ranks * sizeof *mine, sent));
  for (size_t r = 0; r < ranks; r++) {
    next[r] = r > 0 ? next[r - 1] + mine[r - 1] : 0;
    t->packed.at[r + 1] = t->packed.at[r];
    for (size_t from = 0; from < ranks; from++) t->packed.at[r + 1] += (int64_t)sent[from * ranks + r];
  }
  for (size_t i = first; i < end; i++) {
    const size_t to = next[rank[i]]++;
    t->other_key[to] = t->key[i];
    t->other_order[to] = (uint32_t)i;
  }
  SIM_TRY(nbody_fmm_deal(t, sizeof *t->key, t->other_key, t->key + t->packed.at[own]));
  return nbody_fmm_deal(t, sizeof *t->order, t->other_order, t->order + t->packed.at[own]);
}

static size_t body_size(const nbody_fmm_tree *t) { return 4 * (t->single ? sizeof(float) : sizeof(double)); }

static sim_status pack_by_ranks(nbody_fmm_tree *t, const nbody_state *state) {
  pack_range(t, state, t->packed.at[t->comm->rank], t->packed.at[t->comm->rank + 1]);
  return nbody_fmm_gather(t->comm, &t->packed, body_size(t), t->bodies);
}

static sim_status sort_by_ranks(nbody_fmm_tree *t, const nbody_state *state) {
  SIM_TRY(deal_keys(t, state));
  sort_range(t, t->packed.at[t->comm->rank], t->packed.at[t->comm->rank + 1]);
  SIM_TRY(nbody_fmm_gather(t->comm, &t->packed, sizeof *t->key, t->key));
  SIM_TRY(nbody_fmm_gather(t->comm, &t->packed, sizeof *t->order, t->order));
  return pack_by_ranks(t, state);
}

/* ---- cells ---- */

/* Returns the first of bodies first ... last - 1 whose octant, the 3 bits of its key from `shift` on, is at least
 * `octant`; `last` where there is none. */
static int64_t find_octant(const uint64_t *key, int64_t first, int64_t last, int shift, uint64_t octant) {
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    if ((key[middle] >> shift & 7) < octant)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

static void add_cell(nbody_fmm_tree *t, int64_t first, int64_t last, int level, int64_t parent) {
  const int64_t cell = t->cells++;
  t->first[cell] = (uint32_t)first;
  t->count[cell] = (uint32_t)(last - first);
  t->child[cell] = 0;
  t->parent[cell] = (uint32_t)parent;
  t->children[cell] = 0;
  t->level[cell] = (uint8_t)level;
}

static void split(nbody_fmm_tree *t, int64_t cell, int level) {
  const int shift = 3 * (KEY_BITS - 1 - level);
  const int64_t end = (int64_t)t->first[cell] + t->count[cell];
  t->child[cell] = (uint32_t)t->cells;
  for (int64_t first = t->first[cell]; first < end;) {
    const int64_t last = find_octant(t->key, first, end, shift, (t->key[first] >> shift & 7) + 1);
    add_cell(t, first, last, level + 1, cell);
    first = last;
  }
  t->children[cell] = (uint8_t)(t->cells - t->child[cell]);
}

static sim_status make_cells(nbody_fmm_tree *t) {
  const int leaf = t->settings.leaf;
  int full = 0; /* l0 of fmm.h: cells of levels 0 ... full - 1 split if they have more than one body */
  while (ldexp(leaf, 3 * full) < (double)t->n) full++;
  t->cells = 0;
  t->greatest_leaf = 0;
  add_cell(t, 0, t->n, 0, 0);
  t->level_first[0] = 0;
  int level = 0;
  for (; t->level_first[level] < t->cells; level++) {
    const int64_t end = t->level_first[level + 1] = t->cells;
    for (int64_t cell = t->level_first[level]; cell < end; cell++) {
      const int64_t count = t->count[cell];
      if (level < NBODY_FMM_LEVEL_MAX && count > (level < full ? 1 : leaf)) {
        if (t->capacity < t->cells + 8) SIM_TRY(take_cells(t, 3 * t->capacity / 2));
        split(t, cell, level);
      } else if (count > t->greatest_leaf)
        t->greatest_leaf = count;
    }
  }
  t->levels = level;
  return SIM_OK;
}

sim_status nbody_fmm_tree_build(nbody_fmm_tree *t, const nbody_state *state, double softening, bool single,
                                bool potential) {
  t->single = single;
  t->moments_of = nbody_fmm_order_of_moments(t->settings.order, single, potential);
  t->row = row_size(t->moments_of);
  SIM_TRY(set_frame(t, state, softening));
  if (t->divided) {
    SIM_TRY(sort_by_ranks(t, state));
    return make_cells(t);
  }
  make_keys(t, state, 0, t->n);
  sort_range(t, 0, t->n);
  pack_range(t, state, 0, t->n);
  return make_cells(t);
}

sim_status nbody_fmm_tree_refit(nbody_fmm_tree *t, const nbody_state *state) {
  if (t->divided) return pack_by_ranks(t, state);
  pack_range(t, state, 0, t->n);
  return SIM_OK;
}

void nbody_fmm_tree_pack(nbody_fmm_tree *t, const nbody_state *state) {
  const int64_t n = t->n;
  t->single = false;
#pragma omp parallel for schedule(static) num_threads(t->threads) if (n >= PARALLEL_FROM && t->threads > 1)
  for (int64_t i = 0; i < n; i++) t->order[i] = (uint32_t)i;
  pack_range(t, state, 0, n);
  for (int64_t i = n; i < n + 4; i++)
    for (int c = 0; c < 4; c++) ((double *)t->bodies)[4 * i + c] = c == 0 ? 4 : 0;
}
