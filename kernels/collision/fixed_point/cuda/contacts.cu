/* A look at a gas: contacts of now, their sums and their impulses. */
#include "kernels/collision/fixed_point/cuda/tile.cuh"

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
    stage.grain[t] = grain_at(grain, tile * GAS_TILE + (uint32_t)t);
    for (int c = 0; c < 3; c++) impulse[c][t] = 0;
    __syncthreads();
    const uint32_t *const ids = id + (size_t)tile * GAS_TILE;
    for (uint32_t e = threadIdx.x; e < a.count[GAS_LONG][tile]; e += GAS_TILE) {
      const uint32_t pair = a.pair[GAS_LONG][tile * a.room[GAS_LONG] + e], j = pair >> 8;
      const int i = pair & 255, inside = pair >> 16 == tile ? (int)(j & 255) : -1;
      const Grain other = inside >= 0 ? stage.grain[inside] : grain_at(grain, j);
      look_at(a, g, damped, start, stage.grain[i], other, min(ids[i], id[j]), i, inside, impulse, &looked);
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

template <typename Grain> static void look_with(gas_work *w, bool start) {
  static const sim_kernel looking = {"collision_gas_look", "observe", SIM_LIMIT_BYTES};
  static const sim_kernel settling = {"collision_gas_settle", "observe", SIM_LIMIT_BYTES};
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
