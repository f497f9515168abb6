/* A step of a gas: impulses of contacts and moves of grains, tile by tile.
 *
 * A thread block has four tiles in shared memory: one whose pairs it tests, that before it, whose contacts it computes
 * and which moves, one that comes and one that leaves. Each thread tests a pair; those that touch wait in a list of
 * which few warps compute the contacts, all lanes at work, while others test. */
#include "kernels/collision/fixed_point/cuda/stage.cuh"

/* Thread blocks a multiprocessor: measured. */
template <typename Grain> __host__ __device__ constexpr int step_blocks() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800 /* 1024 threads a multiprocessor */
  return 4;
#else
  return Grain::equal ? 5 : 4;
#endif
}

/* ---- rounds ---- */

/* A pair for each thread. What is read ahead is left as it is until it is used: whatever looks at it waits for it. */
struct gas_round {
  uint32_t tile, first, count, following; /* following: the count of the block's next tile */
};
struct gas_entry {
  uint32_t pair;
  bool any;
};
static __device__ bool within(uint32_t pair, uint32_t tile) { return pair >> 16 == tile; }

template <gas_list LIST> static __device__ uint32_t count_of(const gas_arrays &a, uint32_t tile) {
  uint32_t count = 0;
  if (tile < a.tiles) count = a.count[LIST][tile];
  return count;
}

template <gas_list LIST> static __device__ void advance(const gas_arrays &a, gas_round *round) {
  round->first += GAS_TILE;
  if (round->first < round->count) return;
  round->first = 0;
  round->tile += gridDim.x;
  round->count = round->following;
  round->following = count_of<LIST>(a, round->tile + gridDim.x);
}

template <gas_list LIST>
static __device__ gas_entry entry_of(const gas_arrays &a, const gas_round &round, uint32_t place) {
  const uint32_t e = round.first + place;
  gas_entry entry = {0, e < round.count};
  if (entry.any) entry.pair = a.pair[LIST][round.tile * a.room[LIST] + e];
  return entry;
}

/* What a test needs of a grain of another tile. */
struct gas_partner {
  uint32_t x[3];
  float r, w;
};
static __device__ gas_partner partner_of(const gas_grain *grain, const gas_entry &entry, uint32_t tile) {
  gas_partner partner;
  if (entry.any && !within(entry.pair, tile)) {
    const uint2 *const at = (const uint2 *)(grain + (entry.pair >> 8));
    const uint2 a = at[0];
    partner = {{a.x, a.y, at[1].x}, 0, 1};
  }
  return partner;
}
static __device__ gas_partner partner_of(const gas_mixed_grain *grain, const gas_entry &entry, uint32_t tile) {
  gas_partner partner;
  if (entry.any && !within(entry.pair, tile)) {
    const uint4 *const at = (const uint4 *)(grain + (entry.pair >> 8));
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
  float most;    /* greatest square of a velocity, over that of its share */
  uint32_t fast; /* its upper bit: some momentum is too great */
};

/* Puts a pair into the short list. */
static __device__ void keep(const gas_arrays &a, unsigned *listed, uint32_t tile, uint32_t pair) {
  const unsigned at = atomicAdd(listed, 1u);
  if (at < a.room[GAS_SHORT]) a.pair[GAS_SHORT][tile * a.room[GAS_SHORT] + at] = pair;
}

template <typename Grain, bool DAMPED>
static __device__ void contact_of(const gas_arrays &a, const collision_gas_numbers &g, const Grain *grain,
                                  gas_impulse impulse, uint32_t tile, uint32_t pair, gas_sweep<Grain> *sweep) {
  const uint32_t i = pair & 255;
  const bool inside = within(pair, tile);
  const int j = inside ? (int)(pair >> 8 & 255) : -1;
  const Grain own = grain[i], other = inside ? grain[j] : grain_at(sweep->from, pair >> 8);
  float f[3];
  const float square = collision_gas_apart(&g, own.x, other.x, f);
  const float reach = Grain::equal ? 2 * a.radius : own.r(0) + other.r(0);
  meet<DAMPED>(a, g, own, other, f, square, reach, (int)i, j, sweep->collisions + tile * GAS_TILE, impulse,
               &sweep->sums);
}

template <typename Grain>
static __device__ void move(const gas_arrays &a, const collision_gas_numbers &g, gas_shared<Grain> *shared, Grain *at,
                            gas_impulse impulse, gas_sweep<Grain> *sweep) {
  Grain own = *at;
  float v[3];
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const int32_t p = own.p[c] + impulse[c][threadIdx.x];
    impulse[c][threadIdx.x] = 0;
    sweep->fast |= (uint32_t)p + COLLISION_GAS_SPEED_MOST;
    v[c] = (float)p * own.w();
    own.p[c] = p;
    own.x[c] += (uint32_t)__float2int_rn(v[c] * g.drift[c]);
  }
  *at = own;
  float square = fmaf(v[2], v[2], fmaf(v[1], v[1], v[0] * v[0]));
  if (!Grain::equal) square *= shared->over[gas_class_of(own.w())];
  sweep->most = fmaxf(sweep->most, square);
}

/* What a tile's tests have left: contacts that wait, by the last warps, which have the fewest pairs to test, and then
 * the moves. Between the two and behind them there is a barrier. */
template <typename Grain, bool DAMPED>
static __device__ __forceinline__ void meet_waiting(const gas_arrays &a, const collision_gas_numbers &g,
                                                    gas_shared<Grain> *shared, uint32_t turn, uint32_t tile,
                                                    uint32_t place, uint32_t count, gas_sweep<Grain> *sweep) {
#pragma unroll 1
  for (uint32_t c = GAS_TILE - 1 - place; c < count; c += GAS_TILE)
    contact_of<Grain, DAMPED>(a, g, shared->stage[turn % GAS_STAGES].grain, shared->impulse[turn & 1], tile,
                              shared->contact[turn & 1][c], sweep);
}
template <typename Grain>
static __device__ __forceinline__ void move_tile(const gas_arrays &a, const collision_gas_numbers &g,
                                                 gas_shared<Grain> *shared, uint32_t turn, uint32_t tile,
                                                 gas_sweep<Grain> *sweep) {
  if (threadIdx.x == 0) shared->contacts[turn & 1] = 0;
  if (tile * GAS_TILE + threadIdx.x < a.n)
    move(a, g, shared, shared->stage[turn % GAS_STAGES].grain + threadIdx.x, shared->impulse[turn & 1], sweep);
}

/* All of the block's tiles, by long lists, from which short ones are made, or by short ones. While a tile is tested,
 * the contacts of the one before are computed; then that one moves. `place`: of the thread among those that test. */
template <typename Grain, bool DAMPED, gas_list LIST>
static __device__ __forceinline__ void sweep_tiles(const gas_arrays &a, const collision_gas_numbers &g,
                                                   gas_shared<Grain> *shared, gas_sweep<Grain> *sweep, uint32_t place) {
  const Grain *const from = sweep->from;
  uint32_t tile = blockIdx.x, turn = 0, waiting = 0;
  fetch(shared, 0, from + tile * GAS_TILE);
  asked();
  if (tile + gridDim.x < a.tiles) fetch(shared, 1, from + (tile + gridDim.x) * GAS_TILE);
  asked();
  /* Pairs are read two rounds ahead, their grains one. */
  gas_round ahead = {tile, 0, count_of<LIST>(a, tile), count_of<LIST>(a, tile + gridDim.x)};
  gas_entry entry = entry_of<LIST>(a, ahead, place);
  advance<LIST>(a, &ahead);
  uint32_t next = ahead.tile;
  gas_entry next_entry = entry_of<LIST>(a, ahead, place);
  gas_partner partner = partner_of(from, entry, tile);
  bool last = true;
  while (tile < a.tiles) {
    Grain *const grain = shared->stage[turn % GAS_STAGES].grain;
    if (last) await(shared, turn % GAS_STAGES, turn / GAS_STAGES & 1);
    const gas_partner next_partner = partner_of(from, next_entry, next);
    advance<LIST>(a, &ahead);
    const gas_entry after = entry_of<LIST>(a, ahead, place);
    if (entry.any) {
      const Grain &own = grain[entry.pair & 255];
      if (within(entry.pair, tile)) {
        const Grain &other = grain[entry.pair >> 8 & 255];
        partner = {{other.x[0], other.x[1], other.x[2]}, other.r(0), other.w()};
      }
      float f[3];
      const float square = collision_gas_apart(&g, own.x, partner.x, f);
      const float reach = Grain::equal ? 2 * a.radius : own.r(0) + partner.r, touch = reach + sweep->margin;
      if (LIST == GAS_LONG) {
        const float share =
            Grain::equal ? 2 : shared->share[gas_class_of(own.w())] + shared->share[gas_class_of(partner.w)];
        const float listed = reach + shared->half_short * share;
        if (square < listed * listed) keep(a, &shared->listed, tile, entry.pair);
      }
      if (square < touch * touch) {
        const uint32_t at = atomicAdd(&shared->contacts[turn & 1], 1u);
        if (at < GAS_CONTACTS)
          shared->contact[turn & 1][at] = entry.pair;
        else
          contact_of<Grain, DAMPED>(a, g, grain, shared->impulse[turn & 1], tile, entry.pair, sweep);
      }
    }
    last = next != tile;
    if (last) {
      const uint32_t before = tile - gridDim.x;
      if (turn > 0) meet_waiting<Grain, DAMPED>(a, g, shared, turn - 1, before, place, waiting, sweep);
      __syncthreads();
      waiting = min(shared->contacts[turn & 1], (uint32_t)GAS_CONTACTS);
      if (LIST == GAS_LONG && threadIdx.x == 0) {
        gas_listed(a, GAS_SHORT, tile, shared->listed);
        shared->listed = 0;
      }
      if (turn > 0) move_tile(a, g, shared, turn - 1, before, sweep);
      __syncthreads();
      if (turn > 0) leave(shared, (turn - 1) % GAS_STAGES, sweep->to + before * GAS_TILE);
      if (tile + 2 * gridDim.x < a.tiles)
        fetch(shared, (turn + 2) % GAS_STAGES, from + (tile + 2 * gridDim.x) * GAS_TILE);
      asked();
      turn++;
    }
    tile = next;
    next = ahead.tile;
    entry = next_entry;
    next_entry = after;
    partner = next_partner;
  }
  const uint32_t before = blockIdx.x + (turn - 1) * gridDim.x;
  meet_waiting<Grain, DAMPED>(a, g, shared, turn - 1, before, place, waiting, sweep);
  __syncthreads();
  move_tile(a, g, shared, turn - 1, before, sweep);
  __syncthreads();
  leave(shared, (turn - 1) % GAS_STAGES, sweep->to + before * GAS_TILE);
  all_left();
}

template <typename Grain, bool DAMPED>
static __global__ void __launch_bounds__(GAS_TILE, step_blocks<Grain>())
    step(const __grid_constant__ gas_arrays a, const __grid_constant__ collision_gas_numbers g, unsigned k) {
  __shared__ gas_shared<Grain> shared;
  const uint32_t t = threadIdx.x;
  for (int c = 0; c < 3; c++) shared.impulse[0][c][t] = shared.impulse[1][c][t] = 0;
  if (t == 0) shared.fastest = shared.contacts[0] = shared.contacts[1] = shared.listed = 0;
  prepare(&shared);
  after_previous();
  const int fault = *a.fault;
  gas_control now = gas_now(a, g, k);
  const float margin = DAMPED ? now.step : 0;
  const bool stalled = fault != 0 || !gas_holds(now.moved, margin, now.reach_long);
  const bool prune = !gas_holds(now.moved_short, margin, now.reach_short);
  if (prune) now.reach_short = fminf(GAS_SHORT_STEPS * now.step + margin, 0.5f * now.reach_long);
  gas_sweep<Grain> sweep = {(const Grain *)a.grain[now.buffer],
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
  }
  if (stalled) return;
  if (t == 0) shared.half_short = 0.5f * now.reach_short;
  if (!Grain::equal && t < GAS_CLASSES) {
    const float share = a.classes->share[t];
    shared.share[t] = share;
    shared.over[t] = 1 / (share * share);
  }
  __syncthreads();
  /* Blocks of a multiprocessor give the contacts to different warps. */
  const uint32_t place = (t + 32 * (blockIdx.x * step_blocks<Grain>() / gridDim.x)) & (GAS_TILE - 1);
  if (prune)
    sweep_tiles<Grain, DAMPED, GAS_LONG>(a, g, &shared, &sweep, place);
  else
    sweep_tiles<Grain, DAMPED, GAS_SHORT>(a, g, &shared, &sweep, place);
  if (sweep.fast >> 31) atomicOr(a.fault, GAS_FAST);
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
  static const sim_kernel kernel = {"collision_gas_step", "contacts and move", SIM_LIMIT_BYTES};
  const gas_arrays &a = w->arrays;
  const unsigned grid = collision_cuda_grid(step_blocks<Grain>(), (uint64_t)a.tiles * GAS_TILE), k = w->launch++;
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
