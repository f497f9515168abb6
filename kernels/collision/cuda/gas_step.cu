/* A step of a gas: impulses of contacts and moves of grains, tile by tile.
 *
 * A thread block has three tiles in shared memory: one that it computes, one that comes and one that leaves. Each
 * thread tests a pair; those that touch wait in a list of which few warps compute the contacts, all lanes at work. */
#include "kernels/collision/cuda/gas_stage.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800 /* 1024 threads a multiprocessor */
enum { STEP_BLOCKS = 4 };
#else
enum { STEP_BLOCKS = 5 }; /* a multiprocessor: measured */
#endif

/* ---- rounds ---- */

/* A pair for each thread. Counts are of pairs within a tile, and 2^16 times those with others. What is read ahead is
 * left as it is until it is used: whatever looks at it waits for it. */
struct gas_round {
  uint32_t tile, first, count, following; /* following: the count of the block's next tile */
};
struct gas_entry {
  uint32_t word; /* of a list of pairs within the tile: 16 bits; of the other: a place in the tile and any grain's */
  bool inner, any;
};

template <bool LONG> static __device__ uint32_t count_of(const gas_arrays &a, uint32_t tile) {
  uint32_t count = 0;
  if (tile < a.tiles) count = (LONG ? a.count : a.short_count)[tile];
  return count;
}

template <bool LONG> static __device__ void advance(const gas_arrays &a, gas_round *round) {
  round->first += GAS_TILE;
  if (round->first < (round->count & 0xffff) + (round->count >> 16)) return;
  round->first = 0;
  round->tile += gridDim.x;
  round->count = round->following;
  round->following = count_of<LONG>(a, round->tile + gridDim.x);
}

template <bool LONG> static __device__ gas_entry entry_of(const gas_arrays &a, const gas_round &round) {
  const uint32_t e = round.first + threadIdx.x, inner = round.count & 0xffff, tile = round.tile;
  gas_entry entry = {0, e < inner, e < inner + (round.count >> 16)};
  if (entry.inner)
    entry.word = LONG ? a.inner[tile * a.room[GAS_INNER] + e] : a.short_inner[tile * a.room[GAS_SHORT_INNER] + e];
  else if (entry.any)
    entry.word = LONG ? a.outer[tile * a.room[GAS_OUTER] + e - inner]
                      : a.short_outer[tile * a.room[GAS_SHORT_OUTER] + e - inner];
  return entry;
}

/* What a test needs of a grain of another tile. */
struct gas_partner {
  uint32_t x[3];
  float r, w;
};
static __device__ gas_partner partner_of(const gas_grain *grain, const gas_entry &entry) {
  gas_partner partner;
  if (entry.any && !entry.inner) {
    const uint2 *const at = (const uint2 *)(grain + (entry.word >> 8));
    const uint2 a = at[0];
    partner = {{a.x, a.y, at[1].x}, 0, 1};
  }
  return partner;
}
static __device__ gas_partner partner_of(const gas_mixed_grain *grain, const gas_entry &entry) {
  gas_partner partner;
  if (entry.any && !entry.inner) {
    const uint4 *const at = (const uint4 *)(grain + (entry.word >> 8));
    const uint4 a = at[0];
    const float2 b = ((const float2 *)at)[3];
    partner = {{a.x, a.y, a.z}, b.x, b.y};
  }
  return partner;
}

/* ---- a step ---- */

/* What a thread adds up. */
struct gas_tallies {
  long long virial, lost; /* four times */
};

static __device__ void add_tally(unsigned long long *tally, long long sum) {
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 != 0 || sum == 0) return;
  atomicAdd(tally, (unsigned long long)(sum & 0xffffffff));
  atomicAdd(tally + 1, (unsigned long long)(sum >> 32));
}

template <bool DAMPED, typename Grain>
static __device__ void meet(const gas_arrays &a, const collision_gas_numbers &g, const Grain &p, const Grain &q,
                            const float f[3], float square, float reach, int i, int j, uint32_t *collisions,
                            gas_impulse impulse, gas_tallies *sums) {
  collision_gas_contact m;
  if (!collision_gas_meet(&g, Grain::equal, DAMPED, false, f, square, reach, p.p, q.p, p.w(), q.w(), &m)) return;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const int change = __float2int_rn(m.scale * f[c]);
    atomicAdd(&impulse[c][i], change);
    if (j >= 0) atomicAdd(&impulse[c][j], -change);
  }
  const int both = j >= 0 ? 4 : 2;
  sums->virial += both * __float2ll_rn(m.along * m.distance * g.virial);
  if (DAMPED) sums->lost += both * __float2ll_rn(collision_gas_lost(&g, Grain::equal, p.w() + q.w(), &m));
  if (collision_gas_begun(&g, f, reach, &m)) {
    atomicAdd(&collisions[i], 1u);
    if (j >= 0) atomicAdd(&collisions[j], 1u);
  }
}

template <typename Grain> struct gas_sweep {
  const Grain *from;
  Grain *to;
  uint32_t *collisions;
  float margin;
  gas_tallies sums;
  float most; /* greatest square of a velocity, over that of its share */
  bool fast;
};

/* Puts a pair into the short list. */
template <typename Grain>
static __device__ void keep(const gas_arrays &a, gas_shared<Grain> *shared, uint32_t tile, const gas_entry &entry) {
  const unsigned at = atomicAdd(&shared->listed[!entry.inner], 1u);
  const uint32_t room = a.room[GAS_SHORT_INNER + !entry.inner];
  if (at >= room) return;
  if (entry.inner)
    a.short_inner[tile * room + at] = (uint16_t)entry.word;
  else
    a.short_outer[tile * room + at] = entry.word;
}

template <typename Grain, bool DAMPED>
static __device__ void contact_of(const gas_arrays &a, const collision_gas_numbers &g, gas_shared<Grain> *shared,
                                  const Grain *grain, uint32_t tile, uint32_t pair, gas_sweep<Grain> *sweep) {
  const uint32_t i = pair & 255;
  const bool inside = pair >> 16 == tile;
  const int j = inside ? (int)(pair >> 8 & 255) : -1;
  const Grain own = grain[i], other = inside ? grain[j] : grain_at(sweep->from, pair >> 8);
  float f[3];
  const float square = collision_gas_apart(&g, own.x, other.x, f);
  const float reach = Grain::equal ? 2 * a.radius : own.r(0) + other.r(0);
  meet<DAMPED>(a, g, own, other, f, square, reach, (int)i, j, sweep->collisions + tile * GAS_TILE, shared->impulse,
               &sweep->sums);
}

template <typename Grain>
static __device__ void move(const gas_arrays &a, const collision_gas_numbers &g, gas_shared<Grain> *shared, Grain *at,
                            gas_sweep<Grain> *sweep) {
  Grain own = *at;
  float v[3];
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const int32_t p = own.p[c] + shared->impulse[c][threadIdx.x];
    shared->impulse[c][threadIdx.x] = 0;
    sweep->fast |= (uint32_t)p + COLLISION_GAS_SPEED_MOST > 2u * COLLISION_GAS_SPEED_MOST;
    v[c] = (float)p * own.w();
    own.p[c] = p;
    own.x[c] += (uint32_t)__float2int_rn(v[c] * g.drift[c]);
  }
  *at = own;
  float square = fmaf(v[2], v[2], fmaf(v[1], v[1], v[0] * v[0]));
  if (!Grain::equal) square *= shared->over[gas_class_of(own.w())];
  sweep->most = fmaxf(sweep->most, square);
}

/* All of the block's tiles, by long lists, from which short ones are made, or by short ones. */
template <typename Grain, bool DAMPED, bool LONG>
static __device__ __forceinline__ void sweep_tiles(const gas_arrays &a, const collision_gas_numbers &g,
                                                   gas_shared<Grain> *shared, gas_sweep<Grain> *sweep) {
  const uint32_t t = threadIdx.x;
  const Grain *const from = sweep->from;
  uint32_t tile = blockIdx.x, stage = 0, parity = 0, waiting = 0, turn = 64 * blockIdx.x;
  fetch(shared, 0, from + tile * GAS_TILE);
  __pipeline_commit();
  if (tile + gridDim.x < a.tiles) fetch(shared, 1, from + (tile + gridDim.x) * GAS_TILE);
  __pipeline_commit();
  /* Pairs are read two rounds ahead, their grains one. */
  gas_round ahead = {tile, 0, count_of<LONG>(a, tile), count_of<LONG>(a, tile + gridDim.x)};
  gas_entry entry = entry_of<LONG>(a, ahead);
  advance<LONG>(a, &ahead);
  uint32_t next = ahead.tile;
  gas_entry next_entry = entry_of<LONG>(a, ahead);
  gas_partner partner = partner_of(from, entry);
  bool last = true;
  while (tile < a.tiles) {
    Grain *const grain = shared->stage[stage].grain;
    if (last) await(shared, stage, parity);
    const gas_partner next_partner = partner_of(from, next_entry);
    advance<LONG>(a, &ahead);
    bool met = false;
    if (entry.any) {
      const Grain &own = grain[entry.word & 255];
      if (entry.inner) {
        const Grain &other = grain[entry.word >> 8];
        partner = {{other.x[0], other.x[1], other.x[2]}, other.r(0), other.w()};
      }
      float f[3];
      const float square = collision_gas_apart(&g, own.x, partner.x, f);
      const float reach = Grain::equal ? 2 * a.radius : own.r(0) + partner.r, touch = reach + sweep->margin;
      met = square < touch * touch;
      if (LONG) {
        const float share =
            Grain::equal ? 2 : shared->share[gas_class_of(own.w())] + shared->share[gas_class_of(partner.w)];
        const float listed = reach + shared->half_short * share;
        if (square < listed * listed) keep(a, shared, tile, entry);
      }
      /* All pairs like those of the list with other tiles. */
      if (met) shared->contact[atomicAdd(&shared->contacts, 1u)] = entry.word + (entry.inner ? tile << 16 : 0);
    }
    waiting += (uint32_t)__syncthreads_count(met);
    const gas_entry after = entry_of<LONG>(a, ahead);
    last = next != tile;
    if (last || waiting > GAS_CONTACTS - GAS_TILE) {
      /* Not by the same warp always. */
      for (uint32_t c = (t + turn) & (GAS_TILE - 1); c < waiting; c += GAS_TILE)
        contact_of<Grain, DAMPED>(a, g, shared, grain, tile, shared->contact[c], sweep);
      waiting = 0;
      if (t == 0) shared->contacts = 0;
      __syncthreads();
    }
    if (last) {
      if (LONG && t == 0) {
        const unsigned *const listed = shared->listed;
        gas_needs(a, GAS_SHORT_INNER, listed[0]);
        gas_needs(a, GAS_SHORT_OUTER, listed[1]);
        a.short_count[tile] = min(listed[0], a.room[GAS_SHORT_INNER]) | min(listed[1], a.room[GAS_SHORT_OUTER]) << 16;
        shared->listed[0] = shared->listed[1] = 0;
      }
      if (tile * GAS_TILE + t < a.n) move(a, g, shared, grain + t, sweep);
      written();
      __syncthreads();
      leave(shared, stage, sweep->to + tile * GAS_TILE);
      const uint32_t free = stage == 0 ? GAS_STAGES - 1 : stage - 1;
      if (tile + 2 * gridDim.x < a.tiles) fetch(shared, free, from + (tile + 2 * gridDim.x) * GAS_TILE);
      __pipeline_commit();
      stage = stage == GAS_STAGES - 1 ? 0 : stage + 1;
      parity ^= stage == 0;
      turn += 32;
    }
    tile = next;
    next = ahead.tile;
    entry = next_entry;
    next_entry = after;
    partner = next_partner;
  }
  all_left();
}

template <typename Grain, bool DAMPED>
static __global__ void __launch_bounds__(GAS_TILE, STEP_BLOCKS)
    step(const __grid_constant__ gas_arrays a, const __grid_constant__ collision_gas_numbers g, unsigned k) {
  __shared__ gas_shared<Grain> shared;
  const uint32_t t = threadIdx.x;
  prepare(&shared);
  after_previous();
  gas_control now = gas_now(a, g, k);
  const float margin = DAMPED ? now.step : 0;
  const bool stalled = *a.fault != 0 || !gas_holds(now.moved, margin, now.reach_long);
  const bool prune = !gas_holds(now.moved_short, margin, now.reach_short);
  if (prune) now.reach_short = fminf(GAS_SHORT_STEPS * now.step + margin, 0.5f * now.reach_long);
  gas_sweep<Grain> sweep = {(const Grain *)a.grain[now.buffer],
                            (Grain *)a.grain[now.buffer ^ 1],
                            a.collisions[now.order],
                            margin,
                            {0, 0},
                            0,
                            false};
  if (blockIdx.x == 0 && t == 0) {
    if (prune && !stalled) now.moved_short = 0, now.prunes++;
    if (!stalled) now.buffer ^= 1, now.done++;
    a.control[(k + 1) & 1] = now;
    a.motion[(k + 1) & 3] = 0;
  }
  if (stalled) return;
  if (t == 0) {
    shared.fastest = shared.contacts = shared.listed[0] = shared.listed[1] = 0;
    shared.half_short = 0.5f * now.reach_short;
  }
  if (!Grain::equal && t < GAS_CLASSES) {
    const float share = a.classes->share[t];
    shared.share[t] = share;
    shared.over[t] = 1 / (share * share);
  }
  for (int c = 0; c < 3; c++) shared.impulse[c][t] = 0;
  __syncthreads();
  if (prune)
    sweep_tiles<Grain, DAMPED, true>(a, g, &shared, &sweep);
  else
    sweep_tiles<Grain, DAMPED, false>(a, g, &shared, &sweep);
  if (sweep.fast) atomicOr(a.fault, GAS_FAST);
  float most = sweep.most;
  for (int half = 16; half > 0; half /= 2) most = fmaxf(most, __shfl_down_sync(~0u, most, half));
  if (t % 32 == 0) atomicMax(&shared.fastest, __float_as_uint(most));
  add_tally(a.tally, sweep.sums.virial);
  if (DAMPED) add_tally(a.tally + 2, sweep.sums.lost);
  __syncthreads();
  if (t == 0 && shared.fastest > 0) atomicMax(&a.motion[k & 3], shared.fastest);
}

/* ---- launches ---- */

template <typename Grain, bool DAMPED> static void step_with(gas_work *w) {
  static const sim_cuda_kernel kernel = {"collision_gas_step", "contacts and move", SIM_LIMIT_BYTES};
  const gas_arrays &a = w->arrays;
  const unsigned grid = collision_cuda_grid(STEP_BLOCKS, (uint64_t)a.tiles * GAS_TILE), k = w->launch++;
  const double bytes = 2.0 * a.n * sizeof(Grain);
  collision_launch(&kernel, bytes, grid, GAS_TILE, step<Grain, DAMPED>, a, w->numbers, k);
}

void collision_cuda_step(gas_work *w) {
  if (w->gas.equal && w->gas.damped)
    step_with<gas_grain, true>(w);
  else if (w->gas.equal)
    step_with<gas_grain, false>(w);
  else if (w->gas.damped)
    step_with<gas_mixed_grain, true>(w);
  else
    step_with<gas_mixed_grain, false>(w);
  w->since++;
}
