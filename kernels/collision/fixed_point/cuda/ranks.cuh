/* Fixed-point solver on several GPUs: how ranks tell each other. CPU counterpart: cpu/ranks.c.
 *
 * A rank owns consecutive layers of cells along y. Its grains are sorted so that those of the first and the last layers
 * come first; behind its own grains are ghosts: copies of the grains in the nearest layer of either neighbour. A step
 * begins with the first tiles, and writes their new states into the neighbours' memory while it computes the others.
 *
 * Launches are numbered. At its end a launch tells all ranks its number, its greatest velocity and its faults, and the
 * next launch of each rank begins by waiting for all of them. So all ranks decide the same about lists and about steps
 * that cannot be made. A rank writes ghosts of launch k into the array of grains that the other one has read in launch
 * k - 1. While lists are made, ranks wait for each other three times: for grains that change ranks, which come behind
 * the own grains in the old order; for the numbers of grains; and for the ghosts. */
#ifndef COLLISION_FIXED_POINT_RANKS_CUH
#define COLLISION_FIXED_POINT_RANKS_CUH

#include "kernels/collision/fixed_point/cuda/work.cuh"

#include "engine/comm/cuda/exchange.cuh"

#include <cuda/atomic>

/* What all ranks tell of a launch together. */
struct fixed_news {
  unsigned square; /* greatest square of a velocity, as the bits of a float */
  int fault;
};

/* A word of a launch: square << 32 | fault << FIXED_NUMBER_BITS | number. */
enum { FIXED_NUMBER_BITS = 27 };
#define FIXED_NUMBER_MASK ((1u << FIXED_NUMBER_BITS) - 1)

__host__ __device__ inline unsigned long long fixed_word(unsigned square, int fault, unsigned number) {
  return (unsigned long long)square << 32 | (unsigned)fault << FIXED_NUMBER_BITS | (number & FIXED_NUMBER_MASK);
}

/* Number of a meeting, increasing. */
__device__ inline unsigned long long fixed_meeting(int rebuilds, fixed_stage stage) {
  return 3ull * (unsigned)rebuilds + (unsigned)stage;
}

/* Address in another rank's memory. */
template <typename T> static __device__ T *at_rank(const fixed_arrays &a, int rank, T *own) {
  return (T *)(a.ranks.memory[rank] + ((char *)own - a.ranks.memory[a.ranks.rank]));
}

/* ---- waiting ---- */

typedef cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> fixed_flag;

/* For the waits of the first block, which alone looks at the host's memory: hundreds of blocks would wait long for it.
 * *told: the host knows that kernels wait; *since: the time of the first look. Returns whether the wait is to end. */
static __device__ bool gives_up(const fixed_ranks &ranks, unsigned long long *since, bool *told) {
  const unsigned long long now = exchange_now();
  if (*since == 0) *since = now;
  if (!*told) ranks.words->waiting = 1;
  *told = true;
  const bool late = now - *since > ranks.words->patience;
  if (late) ranks.words->late = 1;
  if (!late && !ranks.words->abandoned) return false;
  *(volatile unsigned *)&ranks.mail->abandoned = 1;
  return true;
}

/* Waits until `reached` says so of a word that another rank writes, or until the run is given up. */
template <typename Reached>
static __device__ unsigned long long await_word(const fixed_ranks &ranks, unsigned long long *word, bool *told,
                                                Reached reached) {
  enum { LOOK = 256 /* polls between checks whether the run is given up */ };
  fixed_flag flag(*word);
  unsigned long long since = 0, value;
  for (unsigned polls = 1; !reached(value = flag.load(cuda::memory_order_acquire)); polls++) {
    if (polls % LOOK != 0) continue;
    if (blockIdx.x == 0 ? gives_up(ranks, &since, told) : *(volatile unsigned *)&ranks.mail->abandoned != 0) break;
  }
  return value;
}

/* For one warp, after its waits. */
static __device__ void end_waits(const fixed_ranks &ranks, bool told) {
  if (warp_any(told) && (threadIdx.x & 31) == 0) ranks.words->waiting = 0;
}

/* For one warp: waits for launch k of all ranks. */
static __device__ fixed_news await_launch(const fixed_arrays &a, unsigned k) {
  const auto reached = [=](unsigned long long value) {
    return ((unsigned)value & FIXED_NUMBER_MASK) == (k & FIXED_NUMBER_MASK);
  };
  unsigned square = 0, fault = 0;
  bool told = false;
  for (int r = (int)(threadIdx.x & 31); r < a.ranks.size; r += 32) {
    unsigned long long *const word = &a.ranks.mail->word[k & 3][r];
    const unsigned long long value = a.ranks.peers ? await_word(a.ranks, word, &told, reached) : *word;
    square = max(square, (unsigned)(value >> 32));
    fault |= (unsigned)value >> FIXED_NUMBER_BITS;
  }
  end_waits(a.ranks, told);
  for (int bit = 1; bit <= FIXED_LOST; bit *= 2) fault |= warp_any((fault & (unsigned)bit) != 0) ? (unsigned)bit : 0;
  return {warp_max_all(square), (int)fault};
}

/* For a thread block. */
static __device__ fixed_news await_launch(const fixed_arrays &a, unsigned k, fixed_news *shared) {
  if (threadIdx.x < 32) {
    const fixed_news news = await_launch(a, k);
    if (threadIdx.x == 0) *shared = news;
  }
  __syncthreads();
  return *shared;
}

/* For a thread block: waits until all ranks have come to a meeting. */
static __device__ void await_meeting(const fixed_arrays &a, unsigned long long number) {
  if (!a.ranks.peers) return;
  if (threadIdx.x < 32) {
    bool told = false;
    for (int r = (int)threadIdx.x; r < a.ranks.size; r += 32)
      await_word(a.ranks, &a.ranks.mail->meeting[r], &told, [=](unsigned long long value) { return value >= number; });
    end_waits(a.ranks, told);
  }
  __syncthreads();
}

/* ---- telling ---- */

/* For all threads of a block, at its end. True in one thread of the block that is the last one of the launch: then
 * fences cover the stores of all blocks. */
static __device__ bool last_block(const fixed_arrays &a) {
  __syncthreads();
  if (threadIdx.x != 0) return false;
  __threadfence_system(); /* for the stores of all threads before the barrier */
  if (atomicAdd(&a.ranks.share->ended, 1u) != gridDim.x - 1) return false;
  __threadfence();
  a.ranks.share->ended = 0;
  return true;
}

/* Waits a random time, for tests. */
static __device__ void delay_word(const fixed_ranks &ranks) {
  if (ranks.delay == 0) return;
  const unsigned long long begin = exchange_now(), random = (begin / 32 + 1) * 0x9E3779B97F4A7C15ull;
  while (exchange_now() - begin < (random >> 32) % ranks.delay * 1000) {}
}

/* Writes a word of the mail of each rank that kernels reach, this one too. */
static __device__ void tell_word(const fixed_arrays &a, unsigned long long *own, unsigned long long value) {
  if (!a.ranks.peers) {
    *own = value;
    return;
  }
  delay_word(a.ranks);
  __threadfence_system();
  for (int r = 0; r < a.ranks.size; r++) fixed_flag(*at_rank(a, r, own)).store(value, cuda::memory_order_relaxed);
}

static __device__ void tell_launch(const fixed_arrays &a, unsigned k, unsigned square) {
  tell_word(a, &a.ranks.mail->word[k & 3][a.ranks.rank], fixed_word(square, atomicOr(a.fault, 0), k));
}

static __device__ void tell_meeting(const fixed_arrays &a, unsigned long long number) {
  tell_word(a, &a.ranks.mail->meeting[a.ranks.rank], number);
}

static __device__ void tell_census(const fixed_arrays &a, unsigned long long number) {
  const fixed_share *const share = a.ranks.share;
  fixed_census *const own = &a.ranks.mail->census[a.ranks.rank];
  own->n = *(volatile const uint32_t *)&share->counted[0];
  for (int s = 0; s < FIXED_SIDES; s++) own->edge[s] = *(volatile const uint32_t *)&share->counted[1 + s];
  if (a.classes != NULL)
    for (int c = 0; c < MASS_CLASSES; c++) own->fastest[c] = *(volatile const unsigned *)&a.classes->fastest[c];
  for (int r = 0; a.ranks.peers && r < a.ranks.size; r++)
    if (r != a.ranks.rank) *at_rank(a, r, own) = *own;
  tell_meeting(a, number);
}

__host__ __device__ inline uint32_t tiles_of(uint32_t grains) { return (grains + FIXED_TILE - 1) / FIXED_TILE; }

/* For one thread block: waits for the numbers of all ranks, and finds out what this rank's share is. */
static __device__ void read_census(const fixed_arrays &a, unsigned long long number) {
  await_meeting(a, number);
  const fixed_ranks &ranks = a.ranks;
  const fixed_census *const census = ranks.mail->census;
  fixed_share *const share = ranks.share;
  if (a.classes != NULL && threadIdx.x < MASS_CLASSES)
    for (int r = 0; r < ranks.size; r++)
      a.classes->fastest[threadIdx.x] = max(a.classes->fastest[threadIdx.x], census[r].fastest[threadIdx.x]);
  if (threadIdx.x == 0) {
    unsigned long long all = 0;
    for (int r = 0; r < ranks.size; r++) all += census[r].n;
    if (all != a.n) atomicOr(a.fault, FIXED_LOST);
    share->before = share->n + ranks.mail->arrived;
    ranks.mail->arrived = 0;
    share->n = census[ranks.rank].n;
    share->tiles = tiles_of(share->n);
  }
  if (threadIdx.x == 0 && ranks.divided) {
    const int lower = ranks.neighbour[FIXED_LOWER], upper = ranks.neighbour[FIXED_UPPER];
    share->ghosts[0] = census[upper].edge[FIXED_LOWER];
    share->ghosts[1] = census[lower].edge[FIXED_UPPER];
    share->there[FIXED_LOWER] = census[lower].n;
    share->there[FIXED_UPPER] = census[upper].n;
    share->base[FIXED_LOWER] = ranks.peers ? tiles_of(census[lower].n) * FIXED_TILE : 0;
    share->base[FIXED_UPPER] = ranks.peers
                                   ? tiles_of(census[upper].n) * FIXED_TILE + census[ranks.beyond].edge[FIXED_LOWER]
                                   : census[ranks.rank].edge[FIXED_LOWER];
  }
  __syncthreads();
}

/* ---- cells and spheres ---- */

/* Number of the own layer of x; not below c.layers: of another rank. */
static __device__ uint32_t layer_of(const fixed_cells &c, const uint32_t x[3]) {
  return fixed_cell_of(x[1], c.count[1]) - c.first;
}
/* Where the rows of a layer are that lies `ahead` - 1 cells along y: the upper neighbour's layer follows the own ones,
 * and the lower neighbour's one that. */
static __device__ uint32_t own_layer(const fixed_cells &c, uint32_t ahead) {
  return ahead == c.first ? c.layers + 1 : ahead - 1 - c.first;
}
/* Number of the cell of x where cells are numbered in rows along z. */
static __device__ uint32_t straight_cell_of(const fixed_cells &c, const uint32_t x[3], uint32_t layer) {
  return fixed_cell_of(x[0], c.count[0]) * c.row[0] + layer * c.row[1] + fixed_cell_of(x[2], c.count[2]);
}

/* Position of a grain in fp32, and its radius plus its share of the reach. */
template <typename Grain>
static __device__ float4 sphere_of(const fixed_arrays &a, const fixed_point_constants &g, const Grain &one,
                                   float reach) {
  const float share = Grain::equal ? 1 : a.classes->share[mass_class_of(one.w())];
  return make_float4((float)one.x[0] * g.length[0], (float)one.x[1] * g.length[1], (float)one.x[2] * g.length[2],
                     one.r(a.radius) + 0.5f * reach * share);
}

/* ---- grains for the neighbours ---- */

/* For a grain of an own layer, whose place is `at` in the order of rows: makes its ghost at the neighbour. */
template <typename Grain>
static __device__ void push_ghost(const fixed_arrays &a, const fixed_control &now, const Grain &one, uint32_t id,
                                  uint32_t layer, uint32_t slot, uint32_t at) {
  const fixed_ranks &ranks = a.ranks;
  const uint32_t last = a.cells.layers - 1;
  ranks.send[slot] = FIXED_NOWHERE;
  if (layer > 0 && layer < last) return;
  const int side = layer == 0 ? FIXED_LOWER : FIXED_UPPER, to = ranks.neighbour[side];
  const uint32_t place = ranks.share->base[side] + at - (layer == 0 ? 0 : a.row[last * a.cells.row[1]]);
  ranks.send[slot] = place | (uint32_t)side << 31;
  (ranks.peers ? at_rank(a, to, (Grain *)a.grain[now.buffer]) : (Grain *)ranks.out)[place] = one;
  (ranks.peers ? at_rank(a, to, a.id[now.order]) : ranks.out_id)[place] = id;
}

#endif
