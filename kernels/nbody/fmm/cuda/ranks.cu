#include "kernels/nbody/fmm/cuda/ranks.cuh"

#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"

#include <stdlib.h>

enum {
  THREADS = 256,
  BINS = NBODY_FMM_BINS,
  WORDS = NBODY_FMM_WORDS,
  COUNTED_EVERY = 7,
  PAIR = 4 /* work of a pair; an M2L is as many pairs as it takes the time of, rounded to a quarter */
};

/* ---- memory ---- */

int nbody_fmm_rank_kinds(const nbody_options *options) { return (options->individual ? options->levels + 1 : 1) + 1; }

typedef struct rank_layout {
  size_t words, work, others, cut, total;
} rank_layout;

static rank_layout layout_of(const nbody_options *options) {
  const size_t ranks = (size_t)options->comm->size, word = sizeof(unsigned long long);
  rank_layout l = {};
  l.work = ranks * WORDS * word;
  l.others = l.work + (size_t)nbody_fmm_rank_kinds(options) * (BINS + 1) * word;
  l.cut = l.others + ranks * sizeof(double *);
  l.total = l.cut + (ranks + 1) * sizeof(unsigned);
  return l;
}

/* In a periodic box forces of outer images are added to the results of the near stage. With more ranks each rank stores
 * more, in less time. */
static size_t window_bytes(const nbody_options *options) {
  enum { MOST_RANKS = 3 };
  if (options->box > 0 || options->comm->size > MOST_RANKS) return 0;
  return 3 * (size_t)options->n * sizeof(double);
}

double nbody_fmm_ranks_bytes(const nbody_options *options) {
  if (options->comm->size == 1) return 0;
  return sim_listing_bytes(options->comm, 3, (size_t)options->n, WORDS) +
         (double)(window_bytes(options) + layout_of(options).total);
}

double nbody_fmm_words_received(const sim_comm *comm) {
  return (double)((size_t)(comm->size - 1) * WORDS * sizeof(unsigned long long));
}

static sim_status take_window(const nbody_options *options, nbody_fmm_ranks *r, double **others) {
  const sim_comm *comm = options->comm;
  void *window[SIM_RANKS_MAX];
  if (window_bytes(options) == 0) return SIM_OK;
  SIM_TRY(sim_listing_window(r->listing, window_bytes(options), window));
  if (window[comm->rank] == NULL) return SIM_OK;
  r->window = (double *)window[comm->rank];
  r->others = others;
  for (int k = comm->rank + 1; k < comm->size; k++) window[k - 1] = window[k];
  return sim_backend_cuda.copy(others, window, (size_t)(comm->size - 1) * sizeof *others);
}

sim_status nbody_fmm_ranks_create(const nbody_options *options, nbody_fmm_ranks *out) {
  const rank_layout l = layout_of(options);
  *out = {};
  out->comm = options->comm;
  if (options->comm->size == 1) return SIM_OK;
  SIM_TRY(sim_listing_create(options->comm, 3, (size_t)options->n, WORDS, &out->listing));
  SIM_TRY(sim_backend_cuda.alloc(l.total, &out->memory));
  char *const at = (char *)out->memory;
  out->words = (unsigned long long *)(at + l.words);
  out->work = (unsigned long long *)(at + l.work);
  out->cut = (unsigned *)(at + l.cut);
  sim_cuda_failed(cudaMemsetAsync(out->memory, 0, l.total, (cudaStream_t)sim_cuda_stream()), "cudaMemsetAsync",
                  "shares of the ranks");
  return take_window(options, out, (double **)(at + l.others));
}

void nbody_fmm_ranks_destroy(nbody_fmm_ranks *r) {
  sim_listing_destroy(&r->listing);
  sim_backend_cuda.free(r->memory);
  *r = {};
}

/* ---- cuts ---- */

/* Returns the sum over the threads up to this one of a block of BINS threads. */
__device__ static unsigned long long sum_up_to(unsigned long long value, unsigned long long *warp_total) {
  value = warp_prefix_sum(value);
  if (threadIdx.x % 32 == 31) warp_total[threadIdx.x / 32] = value;
  __syncthreads();
  for (unsigned w = 0; w < threadIdx.x / 32; w++) value += warp_total[w];
  return value;
}

/* Returns the first body from `body` on that begins a leaf. */
__device__ static unsigned first_of_leaf(const uint4 *cell, unsigned body) {
  unsigned c = 0;
  for (;;) {
    const uint4 me = cell[c];
    if (me.x >= body) return me.x;
    if (me.z == 0 || body >= me.x + me.y) return me.x + me.y;
    unsigned k = (me.z & 7) + 1;
    do { k--; } while (k > 0 && cell[(me.z >> 3) + k].x > body);
    c = (me.z >> 3) + k;
  }
}

/* Cuts the bodies so that ranks have equal work by the last counted force of this kind, or else by that on all bodies;
 * before the first count, equal numbers of bodies. A thread a bin. Sets this rank's words to 0. */
static __global__ void __launch_bounds__(BINS)
    cut_bodies(const uint4 *cell, int n, int shift, int kind, int ranks, const unsigned long long *work, unsigned *cut,
               unsigned long long *own_words) {
  __shared__ unsigned long long warp_total[BINS / 32], up_to[BINS];
  after_previous();
  const unsigned bin = threadIdx.x, bodies = (unsigned)n;
  for (unsigned k = bin; k < WORDS; k += BINS) own_words[k] = 0;
  const unsigned long long *row = work + (size_t)kind * (BINS + 1);
  if (row[BINS] == 0) row = work;
  up_to[bin] = sum_up_to(row[bin], warp_total); /* zeros where none was counted */
  __syncthreads();
  const unsigned long long all = up_to[BINS - 1];
  for (unsigned r = bin; r <= (unsigned)ranks; r += BINS) {
    unsigned long long at = (unsigned long long)bodies * r / ranks;
    if (all > 0) {
      const unsigned long long before = all / ranks * r + all % ranks * r / ranks; /* of all work */
      unsigned b = 0;
      for (unsigned step = BINS / 2; step > 0; step /= 2)
        if (up_to[b + step - 1] <= before) b += step; /* the bin in which it is reached, or the last */
      const unsigned long long begun = b > 0 ? up_to[b - 1] : 0, here = up_to[b] - begun;
      const double share = here > 0 ? (double)(before - begun) / (double)here : 1;
      at = ((unsigned long long)b << shift) + (unsigned long long)(fmin(share, 1.0) * (double)(1ull << shift));
    }
    cut[r] = r == 0 ? 0 : r == (unsigned)ranks || at >= bodies ? bodies : first_of_leaf(cell, (unsigned)at);
  }
}

/* A bin has 2^shift bodies. */
static int bin_shift(int n) {
  int shift = 0;
  while ((unsigned)(n - 1) >> shift >= BINS) shift++;
  return shift;
}

template <typename real>
void nbody_fmm_cut(const nbody_fmm_ranks *r, const nbody_options *options, int kind, nbody_fmm_tree<real> *t) {
  static const sim_kernel kernel = {"nbody_fmm_cut", "tree", SIM_LIMIT_BYTES};
  if (r->listing == NULL) return;
  t->own = r->cut + r->comm->rank;
  t->work = r->words + (size_t)r->comm->rank * WORDS;
  t->bin_shift = bin_shift(t->n);
  nbody_options terms = *options; /* the potential's are in fp64 */
  terms.single_pairs = sizeof(real) == sizeof(float);
  t->m2l_work = (unsigned)((double)PAIR * nbody_fmm_pairs_of_m2l(&terms, SIM_BACKEND_CUDA) + 0.5);
  device_launch(&kernel, 0, 1, BINS, cut_bodies, (const uint4 *)t->cell, t->n, t->bin_shift, kind, r->comm->size,
                (const unsigned long long *)r->work, r->cut, t->work);
}

/* ---- work ---- */

/* Pairs of the near lists of this rank's leaves, a warp a leaf; targets as the near kernel takes them, 8 at a time.
 * Where work of this kind is known, in every few forces only: bodies move little. Levels of individual steps recur
 * after a power of two. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    count_pairs(const nbody_fmm_tree<real> t, const unsigned long long *row) {
  after_previous();
  const bool counts = row[BINS] == 0 || t.counters->forces % COUNTED_EVERY == 0;
  const unsigned cells = t.counters->level_begin[NBODY_FMM_LEVEL_MAX + 1], lane = fmm_lane();
  const unsigned first = (blockIdx.x * THREADS + threadIdx.x) / 32 * 32, stride = gridDim.x * THREADS;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    t.work[NBODY_FMM_WORD_FAILED] = t.counters->failed;
    t.work[NBODY_FMM_WORD_SEGMENTS] = t.counters->segments;
    t.work[NBODY_FMM_WORD_COUNTED] = counts;
  }
  if (!counts || t.counters->failed != 0 || !fmm_is_finite(t)) return; /* the lists may not exist */
  for (unsigned from = first; from < cells; from += stride) {
    const unsigned mine = from + lane;
    unsigned leaves = warp_ballot(mine < cells && t.cell[mine].z == 0 && fmm_is_walked(t, mine));
    for (; leaves != 0; leaves &= leaves - 1) {
      const unsigned c = from + (unsigned)__ffs((int)leaves) - 1;
      const uint4 me = t.cell[c];
      const uint2 list = t.near[c];
      unsigned segment = list.x, targets = 0;
      unsigned long long sources = 0;
      for (unsigned i = 0; i < me.y; i += 32)
        targets += (unsigned)__popc(warp_ballot(i + lane < me.y && fmm_is_target(t, me.x + i + lane)));
      for (unsigned left = list.y; left > 0;) {
        const unsigned count = min(left, (unsigned)FMM_SEGMENT);
        unsigned source = 0;
        if (lane < count) source = t.pool[(size_t)segment * FMM_SEGMENT + lane];
        if (t.box > 0) source &= ~FMM_CODE;
        if (lane < count) sources += t.cell[source].y;
        left -= count;
        if (left > 0) segment = t.next[segment];
      }
      sources = warp_sum_all(sources);
      if (lane == 0) fmm_count_work(t, me.x, PAIR * ((targets + 7) / 8 * 8) * sources);
    }
  }
}

/* Adds up the counts of all ranks, one thread for each bin. */
static __global__ void __launch_bounds__(BINS)
    take_words(const unsigned long long *words, int ranks, unsigned long long *row, nbody_fmm_counters *counters) {
  after_previous();
  const unsigned bin = threadIdx.x;
  unsigned long long sum = 0, failed = 0, segments = 0, counted = 0;
  for (int r = 0; r < ranks; r++) {
    const unsigned long long *const of = words + (size_t)r * WORDS;
    sum += of[bin];
    counted += of[NBODY_FMM_WORD_COUNTED];
    failed |= of[NBODY_FMM_WORD_FAILED];
    segments = max(segments, of[NBODY_FMM_WORD_SEGMENTS]);
  }
  const bool taken = failed == 0 && counted == (unsigned long long)ranks; /* the same on all ranks */
  if (taken) row[bin] = sum;
  if (bin > 0) return;
  if (taken) row[BINS] = 1;
  counters->failed |= (unsigned)failed;
  counters->segments = (unsigned)segments;
}

template <typename real> void nbody_fmm_agree(const nbody_fmm_ranks *r, int kind, const nbody_fmm_tree<real> *t) {
  static const sim_kernel counting = {"nbody_fmm_pairs", "far", SIM_LIMIT_BYTES},
                          taking = {"nbody_fmm_words", "far", SIM_LIMIT_BYTES};
  if (r->listing == NULL) return;
  unsigned long long *const row = r->work + (size_t)kind * (BINS + 1);
  device_launch(&counting, 0, 8 * (unsigned)sim_cuda_multiprocessors(), THREADS, count_pairs<real>, *t,
                (const unsigned long long *)row);
  sim_listing_gather_words(r->listing, r->words);
  device_launch(&taking, 0, 1, BINS, take_words, (const unsigned long long *)r->words, r->comm->size, row, t->counters);
}

/* ---- results ---- */

template <typename real>
double *nbody_fmm_take_window(const nbody_fmm_ranks *r, nbody_fmm_tree<real> *t, double *acceleration) {
  if (r->window == NULL) return acceleration;
  t->others = r->others;
  t->other_count = r->comm->size - 1;
  return r->window;
}

template <typename real>
void nbody_fmm_gather_forces(const nbody_fmm_ranks *r, const nbody_fmm_tree<real> *t, double *acceleration) {
  const sim_listed which = {t->id, r->cut + 1, t->target_level, t->least};
  if (r->listing == NULL) return;
  if (acceleration == r->window)
    sim_listing_meet(r->listing);
  else
    sim_listing_gather(r->listing, acceleration, 3, &which);
}

/* Copies of_cell to the memory of the key of a leaf's first body. `back`: back, for leaves of other ranks. */
static __global__ void __launch_bounds__(THREADS)
    move_potentials(const nbody_fmm_tree<double> t, double *place, double *of_cell, bool back) {
  after_previous();
  const unsigned cells = t.counters->level_begin[NBODY_FMM_LEVEL_MAX + 1], stride = gridDim.x * THREADS;
  for (unsigned c = blockIdx.x * THREADS + threadIdx.x; c < cells; c += stride) {
    const uint4 me = t.cell[c];
    if (me.z != 0 || fmm_is_walked(t, c) == back) continue;
    *(back ? of_cell + c : place + me.x) = *(back ? place + me.x : of_cell + c);
  }
}

void nbody_fmm_gather_potentials(const nbody_fmm_ranks *r, const nbody_fmm_tree<double> *t, double *place,
                                 double *of_cell) {
  static const sim_kernel kernel = {"nbody_fmm_potentials", "exchange", SIM_LIMIT_BYTES};
  const sim_listed which = {NULL, r->cut + 1, NULL, 0};
  if (r->listing == NULL) return;
  sim_listing_gather(r->listing, t->key, 1, &which); /* of each body */
  for (int back = 0; back < 2; back++) {
    if (back) sim_listing_gather(r->listing, place, 1, &which);
    device_launch(&kernel, 0, 8 * (unsigned)sim_cuda_multiprocessors(), THREADS, move_potentials, *t, place, of_cell,
                  back != 0);
  }
}

#define RANKS_OF(real)                                                                                                 \
  template void nbody_fmm_cut<real>(const nbody_fmm_ranks *, const nbody_options *, int, nbody_fmm_tree<real> *);      \
  template void nbody_fmm_agree<real>(const nbody_fmm_ranks *, int, const nbody_fmm_tree<real> *);                     \
  template double *nbody_fmm_take_window<real>(const nbody_fmm_ranks *, nbody_fmm_tree<real> *, double *);             \
  template void nbody_fmm_gather_forces<real>(const nbody_fmm_ranks *, const nbody_fmm_tree<real> *, double *);
RANKS_OF(float)
RANKS_OF(double)
