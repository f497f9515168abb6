/* Fixed-point solver on a GPU: one step, impulses of contacts and moves of grains, tile by tile. CPU counterparts:
 * cpu/step.c, cpu/lanes.c.
 *
 * A thread block has four tiles in shared memory: the tile whose pairs are tested; the tile before it, whose impulses
 * are computed and which moves; a tile that arrives and a tile that is written back. Each thread tests one pair. Pairs
 * in touch wait in a list, from which a few warps with all lanes active compute the impulses while others test. */
#include "kernels/collision/fixed_point/cuda/ranks.cuh"
#include "kernels/collision/fixed_point/cuda/tile_pipeline.cuh"

/* Thread blocks a multiprocessor, chosen by measurement. */
template <typename Grain> __host__ __device__ constexpr int step_blocks() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800 /* 1024 threads a multiprocessor */
  return 4;
#else
  return Grain::equal ? 5 : 4;
#endif
}

/* ---- rounds ---- */

/* A round: one pair for each thread. Values that are read ahead stay untouched until they are needed, because the
 * first use waits for them. */
struct fixed_round {
  uint32_t tile, first, count, following; /* following: entries of the block's next tile */
};
struct fixed_entry {
  uint32_t pair;
  bool any;
};
static __device__ bool within(uint32_t pair, uint32_t tile) { return pair >> 16 == tile; }

template <fixed_list LIST> static __device__ uint32_t count_of(const fixed_arrays &a, uint32_t tiles, uint32_t tile) {
  uint32_t count = 0;
  if (tile < tiles) count = a.count[LIST][tile];
  return count;
}

template <fixed_list LIST> static __device__ void advance(const fixed_arrays &a, uint32_t tiles, fixed_round *round) {
  round->first += FIXED_TILE;
  if (round->first < round->count) return;
  round->first = 0;
  round->tile += gridDim.x;
  round->count = round->following;
  round->following = count_of<LIST>(a, tiles, round->tile + gridDim.x);
}

template <fixed_list LIST>
static __device__ fixed_entry entry_of(const fixed_arrays &a, const fixed_round &round, uint32_t lane) {
  const uint32_t e = round.first + lane;
  fixed_entry entry = {0, e < round.count};
  if (entry.any) entry.pair = a.pair[LIST][round.tile * a.room[LIST] + e];
  return entry;
}

/* Data of a grain in another tile for the test of a pair. */
struct fixed_partner {
  uint32_t x[3];
  float r, w;
};
static __device__ fixed_partner partner_of(const fixed_grain *grain, const fixed_entry &entry, uint32_t tile) {
  fixed_partner partner;
  if (entry.any && !within(entry.pair, tile)) {
    const uint2 *const at = (const uint2 *)(grain + (entry.pair >> 8));
    const uint2 a = at[0];
    partner = {{a.x, a.y, at[1].x}, 0, 1};
  }
  return partner;
}
static __device__ fixed_partner partner_of(const fixed_mixed_grain *grain, const fixed_entry &entry, uint32_t tile) {
  fixed_partner partner;
  if (entry.any && !within(entry.pair, tile)) {
    const uint4 *const at = (const uint4 *)(grain + (entry.pair >> 8));
    const uint4 a = at[0];
    const float2 b = ((const float2 *)at)[3];
    partner = {{a.x, a.y, a.z}, b.x, b.y};
  }
  return partner;
}

/* ---- a step ---- */

/* On several ranks: what the threads of a block share. `to`: the array of the new states. */
template <typename Grain>
static __device__ void open_shared(const fixed_arrays &a, Grain *to, fixed_shared<Grain> *shared) {
  const fixed_ranks &ranks = a.ranks;
  shared->n = ranks.share->n;
  shared->tiles = ranks.share->tiles;
  shared->boundary = ranks.divided ? ranks.share->boundary : 0;
  for (int s = 0; s < FIXED_SIDES; s++)
    shared->ghost[s] = ranks.peers ? at_rank(a, ranks.neighbour[s], to) : (Grain *)ranks.out;
}

/* Sums of a thread. */
struct fixed_tallies {
  long long virial, dissipated; /* four times the sums */
};

static __device__ void add_tally(unsigned long long *tally, long long sum) {
  sum = warp_sum(sum);
  if (threadIdx.x % 32 != 0 || sum == 0) return;
  atomicAdd(tally, (unsigned long long)(sum & 0xffffffff));
  atomicAdd(tally + 1, (unsigned long long)(sum >> 32));
}

template <bool DAMPED, typename Grain>
static __device__ void add_impulse(const fixed_arrays &a, const fixed_point_constants &g, const Grain &p,
                                   const Grain &q, const float f[3], float square, float reach, int i, int j,
                                   uint32_t *collisions, fixed_tile_impulses impulse, fixed_tallies *sums) {
  fixed_point_contact m;
  if (!fixed_point_pair_impulse(&g, Grain::equal, DAMPED, false, f, square, reach, p.p, q.p, p.w(), q.w(), &m)) return;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const int change = __float2int_rn(m.scale * f[c]);
    atomicAdd(&impulse[c][i], change);
    if (j >= 0) atomicAdd(&impulse[c][j], -change);
  }
  const int both = j >= 0 ? 4 : 2;
  sums->virial += both * __float2ll_rn(m.along * m.distance * g.virial);
  if (DAMPED) sums->dissipated += both * __float2ll_rn(fixed_point_dissipated(&g, Grain::equal, p.w() + q.w(), &m));
  if (fixed_point_contact_begun(&g, f, reach, &m)) {
    atomicAdd(&collisions[i], 1u);
    if (j >= 0) atomicAdd(&collisions[j], 1u);
  }
}

template <typename Grain> struct fixed_sweep {
  const Grain *from;
  Grain *to;
  uint32_t *collisions;
  float margin;
  fixed_tallies sums;
  float most;    /* greatest squared velocity, over the squared share of its class */
  uint32_t fast; /* upper bit set: some momentum is out of range */
};

static __device__ void add_to_short_list(const fixed_arrays &a, unsigned *listed, uint32_t tile, uint32_t pair) {
  const unsigned at = atomicAdd(listed, 1u);
  if (at < a.room[FIXED_SHORT]) a.pair[FIXED_SHORT][tile * a.room[FIXED_SHORT] + at] = pair;
}

template <typename Grain, bool DAMPED>
static __device__ void contact_impulse(const fixed_arrays &a, const fixed_point_constants &g, const Grain *grain,
                                       fixed_tile_impulses impulse, uint32_t tile, uint32_t pair,
                                       fixed_sweep<Grain> *sweep) {
  const uint32_t i = pair & 255;
  const bool inside = within(pair, tile);
  const int j = inside ? (int)(pair >> 8 & 255) : -1;
  const Grain own = grain[i], other = inside ? grain[j] : grain_at(sweep->from, pair >> 8);
  float f[3];
  const float square = fixed_point_minimum_image(&g, own.x, other.x, f);
  const float reach = Grain::equal ? 2 * a.radius : own.r(0) + other.r(0);
  add_impulse<DAMPED>(a, g, own, other, f, square, reach, (int)i, j, sweep->collisions + tile * FIXED_TILE, impulse,
                      &sweep->sums);
}

template <typename Grain>
static __device__ void move(const fixed_point_constants &g, const fixed_shared<Grain> *shared, Grain *at,
                            fixed_tile_impulses impulse, fixed_sweep<Grain> *sweep) {
  Grain own = *at;
  float v[3];
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const int32_t p = own.p[c] + impulse[c][threadIdx.x];
    impulse[c][threadIdx.x] = 0;
    sweep->fast |= (uint32_t)p + FIXED_POINT_MOMENTUM_MAX;
    v[c] = (float)p * own.w();
    own.p[c] = p;
    own.x[c] += (uint32_t)__float2int_rn(v[c] * g.drift[c]);
  }
  *at = own;
  float square = fmaf(v[2], v[2], fmaf(v[1], v[1], v[0] * v[0]));
  if (!Grain::equal) square *= shared->over[mass_class_of(own.w())];
  sweep->most = fmaxf(sweep->most, square);
}

/* Computes the impulses of the waiting pairs after the tests of a tile, by the last warps, which have the fewest pairs
 * to test; then, after a barrier, makes the moves. */
template <typename Grain, bool DAMPED>
static __device__ __forceinline__ void add_waiting_impulses(const fixed_arrays &a, const fixed_point_constants &g,
                                                            fixed_shared<Grain> *shared, uint32_t turn, uint32_t tile,
                                                            uint32_t lane, uint32_t count, fixed_sweep<Grain> *sweep) {
#pragma unroll 1
  for (uint32_t c = FIXED_TILE - 1 - lane; c < count; c += FIXED_TILE)
    contact_impulse<Grain, DAMPED>(a, g, shared->tile[turn % FIXED_RING].grain, shared->impulse[turn & 1], tile,
                                   shared->contact[turn & 1][c], sweep);
}
template <typename Grain, bool RANKS>
static __device__ __forceinline__ void move_tile(const fixed_arrays &a, const fixed_point_constants &g,
                                                 fixed_shared<Grain> *shared, uint32_t turn, uint32_t tile,
                                                 fixed_sweep<Grain> *sweep) {
  if (threadIdx.x == 0) shared->contacts[turn & 1] = 0;
  if (tile * FIXED_TILE + threadIdx.x < (RANKS ? shared->n : a.n))
    move(g, shared, shared->tile[turn % FIXED_RING].grain + threadIdx.x, shared->impulse[turn & 1], sweep);
}

/* Stores the new states of a tile's grains at the neighbours that have ghosts of them, after a barrier: neighbouring
 * threads store neighbouring words, of which the link passes whole rows. */
template <typename Grain>
static __device__ __forceinline__ void store_ghosts(const fixed_arrays &a, const fixed_shared<Grain> *shared,
                                                    uint32_t turn, uint32_t tile) {
  constexpr uint32_t WORDS = sizeof(Grain) / sizeof(uint2);
  const uint32_t first = tile * FIXED_TILE;
  if (first >= shared->boundary) return;
  const uint2 *const from = (const uint2 *)shared->tile[turn % FIXED_RING].grain;
#pragma unroll 1
  for (uint32_t word = threadIdx.x; word < WORDS * FIXED_TILE; word += FIXED_TILE) {
    const uint32_t slot = first + word / WORDS;
    if (slot >= shared->boundary) break;
    const uint32_t to = a.ranks.send[slot];
    if (to != FIXED_NOWHERE) ((uint2 *)(shared->ghost[to >> 31] + (to & 0x7fffffffu)))[word % WORDS] = from[word];
  }
}

/* Makes the step for all tiles of the block, from short lists, or from long lists, from which it also makes short ones.
 * `lane`: index of the thread among the threads that test. */
template <typename Grain, bool DAMPED, bool RANKS, fixed_list LIST>
static __device__ __forceinline__ void sweep_tiles(const fixed_arrays &a, const fixed_point_constants &g,
                                                   fixed_shared<Grain> *shared, fixed_sweep<Grain> *sweep,
                                                   uint32_t lane) {
  const Grain *const from = sweep->from;
  const uint32_t &tiles = RANKS ? shared->tiles : a.tiles;
  uint32_t tile = blockIdx.x, turn = 0, waiting = 0;
  fetch_tile(shared, 0, from + tile * FIXED_TILE);
  commit_fetches();
  if (tile + gridDim.x < tiles) fetch_tile(shared, 1, from + (tile + gridDim.x) * FIXED_TILE);
  commit_fetches();
  /* Pairs are read two rounds ahead, their grains one round. */
  fixed_round ahead = {tile, 0, count_of<LIST>(a, tiles, tile), count_of<LIST>(a, tiles, tile + gridDim.x)};
  fixed_entry entry = entry_of<LIST>(a, ahead, lane);
  advance<LIST>(a, tiles, &ahead);
  uint32_t next = ahead.tile;
  fixed_entry next_entry = entry_of<LIST>(a, ahead, lane);
  fixed_partner partner = partner_of(from, entry, tile);
  bool last = true;
  while (tile < tiles) {
    Grain *const grain = shared->tile[turn % FIXED_RING].grain;
    if (last) wait_tile(shared, turn % FIXED_RING, turn / FIXED_RING & 1);
    const fixed_partner next_partner = partner_of(from, next_entry, next);
    advance<LIST>(a, tiles, &ahead);
    const fixed_entry after = entry_of<LIST>(a, ahead, lane);
    if (entry.any) {
      const Grain &own = grain[entry.pair & 255];
      if (within(entry.pair, tile)) {
        const Grain &other = grain[entry.pair >> 8 & 255];
        partner = {{other.x[0], other.x[1], other.x[2]}, other.r(0), other.w()};
      }
      float f[3];
      const float square = fixed_point_minimum_image(&g, own.x, partner.x, f);
      const float reach = Grain::equal ? 2 * a.radius : own.r(0) + partner.r, touch = reach + sweep->margin;
      if (LIST == FIXED_LONG) {
        const float share =
            Grain::equal ? 2 : shared->share[mass_class_of(own.w())] + shared->share[mass_class_of(partner.w)];
        const float listed = reach + shared->half_short * share;
        if (square < listed * listed) add_to_short_list(a, &shared->listed, tile, entry.pair);
      }
      if (square < touch * touch) {
        const uint32_t at = atomicAdd(&shared->contacts[turn & 1], 1u);
        if (at < FIXED_CONTACTS)
          shared->contact[turn & 1][at] = entry.pair;
        else
          contact_impulse<Grain, DAMPED>(a, g, grain, shared->impulse[turn & 1], tile, entry.pair, sweep);
      }
    }
    last = next != tile;
    if (last) {
      const uint32_t before = tile - gridDim.x;
      if (turn > 0) add_waiting_impulses<Grain, DAMPED>(a, g, shared, turn - 1, before, lane, waiting, sweep);
      __syncthreads();
      waiting = min(shared->contacts[turn & 1], (uint32_t)FIXED_CONTACTS);
      if (LIST == FIXED_LONG && threadIdx.x == 0) {
        finish_list(a, FIXED_SHORT, tile, shared->listed);
        shared->listed = 0;
      }
      if (turn > 0) move_tile<Grain, RANKS>(a, g, shared, turn - 1, before, sweep);
      __syncthreads();
      if (turn > 0) write_tile(shared, (turn - 1) % FIXED_RING, sweep->to + before * FIXED_TILE);
      if (RANKS && turn > 0) store_ghosts(a, shared, turn - 1, before);
      if (tile + 2 * gridDim.x < tiles)
        fetch_tile(shared, (turn + 2) % FIXED_RING, from + (tile + 2 * gridDim.x) * FIXED_TILE);
      commit_fetches();
      turn++;
    }
    tile = next;
    next = ahead.tile;
    entry = next_entry;
    next_entry = after;
    partner = next_partner;
  }
  const uint32_t before = blockIdx.x + (turn - 1) * gridDim.x;
  add_waiting_impulses<Grain, DAMPED>(a, g, shared, turn - 1, before, lane, waiting, sweep);
  __syncthreads();
  move_tile<Grain, RANKS>(a, g, shared, turn - 1, before, sweep);
  __syncthreads();
  write_tile(shared, (turn - 1) % FIXED_RING, sweep->to + before * FIXED_TILE);
  if (RANKS) store_ghosts(a, shared, turn - 1, before);
  wait_written();
}

template <typename Grain, bool DAMPED, bool RANKS>
static __global__ void __launch_bounds__(FIXED_TILE, step_blocks<Grain>())
    step(const __grid_constant__ fixed_arrays a, const __grid_constant__ fixed_point_constants g, unsigned k) {
  __shared__ fixed_shared<Grain> shared;
  const uint32_t t = threadIdx.x;
  for (int c = 0; c < 3; c++) shared.impulse[0][c][t] = shared.impulse[1][c][t] = 0;
  if (t == 0) shared.fastest = shared.contacts[0] = shared.contacts[1] = shared.listed = 0;
  init_pipeline(&shared);
  after_previous();
  const fixed_news news = RANKS ? await_launch(a, k - 1, &shared.news) : fixed_news{a.motion[(k - 1) & 3], 0};
  const int fault = *a.fault | news.fault;
  fixed_control now = current_control(a, g, k, news.square);
  const float margin = DAMPED ? now.step : 0;
  const bool stalled = fault != 0 || !list_holds(now.moved, margin, now.reach_long);
  const bool prune = !list_holds(now.moved_short, margin, now.reach_short);
  if (prune) now.reach_short = fminf(FIXED_SHORT_STEPS * now.step + margin, 0.5f * now.reach_long);
  fixed_sweep<Grain> sweep = {(const Grain *)a.grain[now.buffer],
                              (Grain *)a.grain[now.buffer ^ 1],
                              a.collisions[now.order],
                              margin,
                              {0, 0},
                              0,
                              0};
  if (blockIdx.x == 0 && t == 0) {
    if (prune && !stalled) now.moved_short = 0, now.prunes++;
    if (!stalled) now.buffer ^= 1, now.done++;
    a.control[(k + 1) & 1] = now;
    a.motion[(k + 1) & 3] = 0;
    if (RANKS && news.fault != 0) atomicOr(a.fault, news.fault);
    if (RANKS && stalled) tell_launch(a, k, 0);
  }
  if (stalled) return;
  if (t == 0) shared.half_short = 0.5f * now.reach_short;
  if (RANKS && t == 0) open_shared(a, sweep.to, &shared);
  if (!Grain::equal && t < MASS_CLASSES) {
    const float share = a.classes->share[t];
    shared.share[t] = share;
    shared.over[t] = 1 / (share * share);
  }
  __syncthreads();
  /* The blocks of a multiprocessor give the waiting pairs to different warps. */
  const uint32_t lane = (t + 32 * (blockIdx.x * step_blocks<Grain>() / gridDim.x)) & (FIXED_TILE - 1);
  if (RANKS && blockIdx.x >= shared.tiles) {
  } else if (prune) {
    sweep_tiles<Grain, DAMPED, RANKS, FIXED_LONG>(a, g, &shared, &sweep, lane);
  } else {
    sweep_tiles<Grain, DAMPED, RANKS, FIXED_SHORT>(a, g, &shared, &sweep, lane);
  }
  if (sweep.fast >> 31) atomicOr(a.fault, FIXED_FAST);
  const float most = warp_max(sweep.most);
  if (t % 32 == 0) atomicMax(&shared.fastest, __float_as_uint(most));
  add_tally(a.tally, sweep.sums.virial);
  if (DAMPED) add_tally(a.tally + 2, sweep.sums.dissipated);
  __syncthreads();
  if (t == 0 && shared.fastest > 0) atomicMax(&a.motion[k & 3], shared.fastest);
  if (RANKS && last_block(a)) tell_launch(a, k, *(volatile unsigned *)&a.motion[k & 3]);
}

/* ---- launches ---- */

template <typename Grain, bool DAMPED> static void step_with(collision_work *w) {
  static const sim_kernel kernel = {"collision_fixed_point_step", "contacts and move", SIM_LIMIT_BYTES};
  const fixed_arrays &a = w->arrays;
  const unsigned grid = collision_cuda_grid(step_blocks<Grain>(), (uint64_t)a.tiles * FIXED_TILE), k = w->launch++;
  const double bytes = 2.0 * a.n * sizeof(Grain) / w->options.comm->size;
  device_launch(&kernel, bytes, grid, FIXED_TILE, w->exchange ? step<Grain, DAMPED, true> : step<Grain, DAMPED, false>,
                a, w->numbers, k);
  if (w->exchange) collision_fixed_cuda_bring(w, FIXED_STEPPED);
}

void collision_fixed_cuda_step(collision_work *w) {
  if (w->system.equal && w->system.damped)
    step_with<fixed_grain, true>(w);
  else if (w->system.equal)
    step_with<fixed_grain, false>(w);
  else if (w->system.damped)
    step_with<fixed_mixed_grain, true>(w);
  else
    step_with<fixed_mixed_grain, false>(w);
  w->undecided++;
}
