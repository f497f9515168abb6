/* A step of a gas: impulses of contacts and moves of grains, tile by tile; and a look at the contacts of now. */
#include "kernels/collision/cuda/gas.cuh"

#include <cuda_pipeline_primitives.h>

enum { STEP_BLOCKS = 4 }; /* a multiprocessor: measured */

template <typename Grain> struct gas_tile { alignas(16) Grain grain[GAS_TILE]; };

/* Reads a tile ahead. */
template <typename Grain> static __device__ void fetch(gas_tile<Grain> *to, const Grain *from) {
  constexpr int pieces = (int)sizeof(gas_tile<Grain>) / 16;
#pragma unroll
  for (int piece = (int)threadIdx.x; piece < pieces; piece += GAS_TILE)
    __pipeline_memcpy_async((uint4 *)to + piece, (const uint4 *)from + piece, 16);
  __pipeline_commit();
}

template <typename Grain> static __device__ void leave(const gas_tile<Grain> *from, Grain *to) {
  constexpr int pieces = (int)sizeof(gas_tile<Grain>) / 16;
#pragma unroll
  for (int piece = (int)threadIdx.x; piece < pieces; piece += GAS_TILE)
    __stcs((uint4 *)to + piece, ((const uint4 *)from)[piece]);
}

static __device__ gas_grain grain_at(const gas_grain *grain, uint32_t j) {
  const uint2 *const at = (const uint2 *)(grain + j);
  const uint2 a = at[0], b = at[1], c = at[2];
  return {{a.x, a.y, b.x}, {(int32_t)b.y, (int32_t)c.x, (int32_t)c.y}};
}
static __device__ gas_mixed_grain grain_at(const gas_mixed_grain *grain, uint32_t j) {
  const uint4 *const at = (const uint4 *)(grain + j);
  const uint4 a = at[0], b = at[1];
  return {{a.x, a.y, a.z}, {(int32_t)a.w, (int32_t)b.x, (int32_t)b.y}, __uint_as_float(b.z), __uint_as_float(b.w)};
}

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

/* Impulses that tiles' grains get. */
typedef int gas_impulse[3][GAS_TILE];

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

/* Squares of the distances from which on pairs concern a step. */
struct gas_reaches {
  float touch, listed;
};

template <bool EQUAL> static __device__ gas_reaches reaches(float reach, float margin, float list) {
  const float touch = reach + margin, listed = reach + list;
  return {touch * touch, listed * listed};
}

template <typename Grain, bool DAMPED>
static __global__ void __launch_bounds__(GAS_TILE, STEP_BLOCKS)
    step(const __grid_constant__ gas_arrays a, const __grid_constant__ collision_gas_numbers g, unsigned k) {
  __shared__ gas_tile<Grain> stage[2];
  __shared__ gas_impulse impulse;
  __shared__ unsigned listed[2], fastest;
  const int t = (int)threadIdx.x;
  after_previous();
  gas_control now = gas_now(a, g, k);
  const float margin = DAMPED ? now.step : 0;
  const bool stalled = *a.fault != 0 || !gas_holds(now.moved, margin, a.reach_long);
  const bool prune = !gas_holds(now.moved_short, margin, now.reach_short);
  if (prune) now.reach_short = fminf(GAS_SHORT_STEPS * now.step + margin, 0.5f * a.reach_long);
  const float reach_short = now.reach_short;
  const Grain *const from = (const Grain *)a.grain[now.buffer];
  Grain *const to = (Grain *)a.grain[now.buffer ^ 1];
  uint32_t *const collisions = a.collisions[now.order];
  if (blockIdx.x == 0 && t == 0) {
    if (prune && !stalled) now.moved_short = 0, now.prunes++;
    if (!stalled) now.buffer ^= 1, now.done++;
    a.control[(k + 1) & 1] = now;
    a.motion[(k + 1) & 3] = 0;
  }
  if (stalled) return;
  if (t == 0) fastest = 0;
  const int2 *const counts = prune ? a.count : a.short_count;
  const uint16_t *const inner = prune ? a.inner : a.short_inner;
  const uint32_t *const outer = prune ? a.outer : a.short_outer;
  const size_t room_inner = prune ? GAS_INNER : GAS_SHORT_INNER, room_outer = prune ? GAS_OUTER : GAS_SHORT_OUTER;
  const float equal_reach = 2 * a.radius;
  gas_reaches near = reaches<true>(equal_reach, margin, reach_short);
  gas_tallies sums = {0, 0};
  float most = 0;
  uint32_t tile = blockIdx.x;
  int2 count = {0, 0};
  uint32_t first_inner = 0, first_outer = 0;
  if (tile < a.tiles) {
    fetch(&stage[0], from + (size_t)tile * GAS_TILE);
    count = counts[tile];
    if (t < count.x) first_inner = inner[tile * room_inner + t];
    if (t < count.y) first_outer = outer[tile * room_outer + t];
  }
  for (int s = 0; tile < a.tiles; tile += gridDim.x, s ^= 1) {
    Grain other = {};
    if (t < count.y) other = grain_at(from, first_outer >> 8);
    for (int c = 0; c < 3; c++) impulse[c][t] = 0;
    if (t < 2) listed[t] = 0;
    const uint32_t next = tile + gridDim.x;
    int2 next_count = {0, 0};
    if (next < a.tiles) next_count = counts[next];
    __pipeline_wait_prior(0);
    __syncthreads();
    if (next < a.tiles) fetch(&stage[s ^ 1], from + (size_t)next * GAS_TILE);
    Grain *const grain = stage[s].grain;
    uint32_t *const collided = collisions + (size_t)tile * GAS_TILE;
#pragma unroll 1
    for (int e = t; e < count.x; e += GAS_TILE) {
      const uint32_t pair = e == t ? first_inner : inner[tile * room_inner + e];
      const int i = pair & 255, j = pair >> 8;
      float f[3], reach = equal_reach;
      const float square = collision_gas_apart(&g, grain[i].x, grain[j].x, f);
      if (!Grain::equal) {
        reach = grain[i].r(0) + grain[j].r(0);
        near = reaches<false>(reach, margin, reach_short);
      }
      if (prune && square < near.listed) {
        const unsigned at = atomicAdd(&listed[0], 1u);
        if (at < GAS_SHORT_INNER) a.short_inner[(size_t)tile * GAS_SHORT_INNER + at] = (uint16_t)pair;
      }
      if (square < near.touch) meet<DAMPED>(a, g, grain[i], grain[j], f, square, reach, i, j, collided, impulse, &sums);
    }
#pragma unroll 1
    for (int e = t; e < count.y; e += GAS_TILE) {
      const uint32_t pair = e == t ? first_outer : outer[tile * room_outer + e];
      if (e != t) other = grain_at(from, pair >> 8);
      const int i = pair & 255;
      float f[3], reach = equal_reach;
      const float square = collision_gas_apart(&g, grain[i].x, other.x, f);
      if (!Grain::equal) {
        reach = grain[i].r(0) + other.r(0);
        near = reaches<false>(reach, margin, reach_short);
      }
      if (prune && square < near.listed) {
        const unsigned at = atomicAdd(&listed[1], 1u);
        if (at < GAS_SHORT_OUTER) a.short_outer[(size_t)tile * GAS_SHORT_OUTER + at] = pair;
      }
      if (square < near.touch) meet<DAMPED>(a, g, grain[i], other, f, square, reach, i, -1, collided, impulse, &sums);
    }
    __syncthreads();
    count = next_count;
    if (t < count.x) first_inner = inner[next * room_inner + t];
    if (t < count.y) first_outer = outer[next * room_outer + t];
    if (prune && t == 0) {
      if (listed[0] > GAS_SHORT_INNER || listed[1] > GAS_SHORT_OUTER) atomicOr(a.fault, GAS_CROWDED);
      a.short_count[tile] = make_int2((int)min(listed[0], GAS_SHORT_INNER), (int)min(listed[1], GAS_SHORT_OUTER));
    }
    if (tile * GAS_TILE + t < a.n) {
      Grain &own = grain[t];
      float v[3];
#pragma unroll
      for (int c = 0; c < 3; c++) {
        const int32_t p = own.p[c] + impulse[c][t];
        if ((uint32_t)p + COLLISION_GAS_SPEED_MOST > 2u * COLLISION_GAS_SPEED_MOST) atomicOr(a.fault, GAS_FAST);
        v[c] = (float)p * own.w();
        own.p[c] = p;
        own.x[c] += (uint32_t)__float2int_rn(v[c] * g.drift[c]);
      }
      most = fmaxf(most, fmaf(v[2], v[2], fmaf(v[1], v[1], v[0] * v[0])));
    }
    __syncthreads();
    leave(&stage[s], to + (size_t)tile * GAS_TILE);
  }
  for (int half = 16; half > 0; half /= 2) most = fmaxf(most, __shfl_down_sync(~0u, most, half));
  if (t % 32 == 0) atomicMax(&fastest, __float_as_uint(most));
  add_tally(a.tally, sums.virial);
  if (DAMPED) add_tally(a.tally + 2, sums.lost);
  __syncthreads();
  if (t == 0 && fastest > 0) atomicMax(&a.motion[k & 3], fastest);
}

/* ---- a look ---- */

struct gas_looked {
  long long sum[GAS_OVERLAP]; /* twice */
  unsigned long long overlap;
};

template <typename Grain>
static __device__ void look_at(const gas_arrays &a, const collision_gas_numbers &g, bool damped, bool start,
                               const Grain &p, const Grain &q, uint32_t id, int i, int j, gas_impulse impulse,
                               gas_looked *looked) {
  float f[3];
  const float reach = Grain::equal ? 2 * a.radius : p.r(0) + q.r(0);
  const float square = collision_gas_apart(&g, p.x, q.x, f);
  const float most = reach + (damped ? 0.5f * reach : 0);
  collision_gas_contact m;
  if (square >= most * most ||
      !collision_gas_meet(&g, Grain::equal, damped, start, f, square, reach, p.p, q.p, p.w(), q.w(), &m) ||
      (!damped && square >= reach * reach))
    return;
  const int both = j >= 0 ? 2 : 1;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const int change = __float2int_rn(m.scale * f[c]);
    atomicAdd(&impulse[c][i], change);
    if (j >= 0) atomicAdd(&impulse[c][j], -change);
  }
  looked->sum[GAS_VIRIAL] += both * __float2ll_rn(m.along * m.distance * g.virial);
  if (damped) looked->sum[GAS_LOST] += both * __float2ll_rn(collision_gas_lost(&g, Grain::equal, p.w() + q.w(), &m));
  if (!(m.overlap > 0)) return;
  const float pair = p.w() + q.w(), depth = m.overlap / (2 * a.radius);
  const float stiffness = Grain::equal ? g.stiffness : fmaf(g.km, 1 / pair, g.k0);
  looked->sum[GAS_ELASTIC] += both * __float2ll_rn(stiffness / g.stiffness * depth * depth * 0x1p40f);
  for (int c = 0; c < 3; c++) {
    const int x = c, y = c == 2 ? 0 : c + 1;
    looked->sum[GAS_STRESS + c] += both * __float2ll_rn(f[c] * (m.scale * f[c]) * g.virial);
    looked->sum[GAS_STRESS + 3 + c] += both * __float2ll_rn(f[x] * (m.scale * f[y]) * g.virial);
  }
  looked->sum[GAS_TOUCHING] += both;
  const float smaller = fminf(p.r(a.radius), q.r(a.radius));
  const unsigned long long here = (unsigned long long)__float_as_uint(m.overlap / smaller) << 32 | (uint32_t)~id;
  looked->overlap = here > looked->overlap ? here : looked->overlap;
}

/* Impulses of a step into `place`; sums into `out`. */
template <typename Grain>
static __global__ void __launch_bounds__(GAS_TILE)
    look(gas_arrays a, collision_gas_numbers g, bool damped, bool start, unsigned k, long long *out) {
  __shared__ gas_tile<Grain> stage;
  __shared__ gas_impulse impulse;
  after_previous();
  const int t = (int)threadIdx.x;
  const gas_control now = a.control[k & 1];
  const Grain *const grain = (const Grain *)a.grain[now.buffer];
  const uint32_t *const id = a.id[now.order];
  gas_looked looked = {};
  for (uint32_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
    fetch(&stage, grain + (size_t)tile * GAS_TILE);
    for (int c = 0; c < 3; c++) impulse[c][t] = 0;
    __pipeline_wait_prior(0);
    __syncthreads();
    const int2 count = a.count[tile];
    const uint32_t *const ids = id + (size_t)tile * GAS_TILE;
    for (int e = t; e < count.x; e += GAS_TILE) {
      const uint32_t pair = a.inner[(size_t)tile * GAS_INNER + e];
      const int i = pair & 255, j = pair >> 8;
      look_at(a, g, damped, start, stage.grain[i], stage.grain[j], min(ids[i], ids[j]), i, j, impulse, &looked);
    }
    for (int e = t; e < count.y; e += GAS_TILE) {
      const uint32_t pair = a.outer[(size_t)tile * GAS_OUTER + e], j = pair >> 8;
      const int i = pair & 255;
      look_at(a, g, damped, start, stage.grain[i], grain_at(grain, j), min(ids[i], id[j]), i, -1, impulse, &looked);
    }
    __syncthreads();
    a.place[(size_t)tile * GAS_TILE + t] =
        make_uint4((uint32_t)impulse[0][t], (uint32_t)impulse[1][t], (uint32_t)impulse[2][t], 0);
    __syncthreads();
  }
  for (int s = 0; s < GAS_OVERLAP; s++) {
    long long sum = looked.sum[s];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (t % 32 == 0 && sum != 0) atomicAdd((unsigned long long *)&out[s], (unsigned long long)sum);
  }
  if (looked.overlap > 0) atomicMax((unsigned long long *)&out[GAS_OVERLAP], looked.overlap);
}

/* The first half step back from a start. Sums over time are trapezoids: half of the first. */
template <typename Grain> static __global__ void settle(gas_arrays a, const long long *looked, unsigned k) {
  after_previous();
  Grain *const grain = (Grain *)a.grain[a.control[k & 1].buffer];
  if (blockIdx.x == 0 && threadIdx.x < 2) {
    const long long first = looked[threadIdx.x == 0 ? GAS_VIRIAL : GAS_LOST];
    a.tally[2 * threadIdx.x] += 0x100000000ull - (unsigned long long)(first & 0xffffffff);
    a.tally[2 * threadIdx.x + 1] -= (unsigned long long)((first >> 32) + 1);
  }
  for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < a.n; i += gridDim.x * 256) {
    const uint4 impulse = a.place[i];
    grain[i].p[0] -= (int32_t)impulse.x >> 1;
    grain[i].p[1] -= (int32_t)impulse.y >> 1;
    grain[i].p[2] -= (int32_t)impulse.z >> 1;
  }
}

/* ---- launches ---- */

void collision_cuda_step(gas_work *w) {
  static const sim_cuda_kernel kernel = {"collision_gas_step", "contacts and move", SIM_LIMIT_BYTES};
  const gas_arrays &a = w->arrays;
  const unsigned grid = collision_cuda_grid(STEP_BLOCKS, (uint64_t)a.tiles * GAS_TILE), k = w->launch++;
  const double bytes = (double)a.n * (w->gas.equal ? 2 * sizeof(gas_grain) : 2 * sizeof(gas_mixed_grain));
  if (w->gas.equal && w->gas.damped)
    collision_launch(&kernel, bytes, grid, GAS_TILE, step<gas_grain, true>, a, w->numbers, k);
  else if (w->gas.equal)
    collision_launch(&kernel, bytes, grid, GAS_TILE, step<gas_grain, false>, a, w->numbers, k);
  else if (w->gas.damped)
    collision_launch(&kernel, bytes, grid, GAS_TILE, step<gas_mixed_grain, true>, a, w->numbers, k);
  else
    collision_launch(&kernel, bytes, grid, GAS_TILE, step<gas_mixed_grain, false>, a, w->numbers, k);
  w->since++;
}

template <typename Grain> static void look_with(gas_work *w, bool start) {
  static const sim_cuda_kernel looking = {"collision_gas_look", "observe", SIM_LIMIT_BYTES};
  static const sim_cuda_kernel settling = {"collision_gas_settle", "observe", SIM_LIMIT_BYTES};
  const gas_arrays &a = w->arrays;
  collision_launch(&looking, 0, collision_cuda_grid(4, (uint64_t)a.tiles * GAS_TILE), GAS_TILE, look<Grain>, a,
                   w->numbers, w->gas.damped, start, w->launch, w->looked);
  if (start) collision_launch(&settling, 0, collision_cuda_grid(8, a.n), 256, settle<Grain>, a, w->looked, w->launch);
}

void collision_cuda_look(gas_work *w, bool start) {
  sim_cuda_failed(cudaMemsetAsync(w->looked, 0, GAS_LOOKS * sizeof *w->looked, (cudaStream_t)sim_cuda_stream()),
                  "cudaMemsetAsync", "sums of contacts");
  if (w->gas.equal)
    look_with<gas_grain>(w, start);
  else
    look_with<gas_mixed_grain>(w, start);
}
