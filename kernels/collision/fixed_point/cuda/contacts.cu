/* Fixed-point solver on a GPU: impulses at the current positions, and sums over contacts. CPU counterpart: cpu/sums.c.
 */
#include "kernels/collision/fixed_point/cuda/tile.cuh"

struct fixed_pair_sums {
  long long sum[FIXED_OVERLAP]; /* twice the sums */
  unsigned long long overlap;
};

template <typename Grain>
static __device__ void add_contact(const fixed_arrays &a, const fixed_point_constants &g, bool damped, bool start,
                                   const Grain &p, const Grain &q, uint32_t id, int i, int j,
                                   fixed_tile_impulses impulse, fixed_pair_sums *pair_sums) {
  float f[3];
  const float reach = Grain::equal ? 2 * a.radius : p.r(0) + q.r(0);
  const float square = fixed_point_minimum_image(&g, p.x, q.x, f);
  const float most = reach + (damped ? 0.5f * reach : 0);
  fixed_point_contact m;
  if (square >= most * most ||
      !fixed_point_pair_impulse(&g, Grain::equal, damped, start, f, square, reach, p.p, q.p, p.w(), q.w(), &m) ||
      (!damped && square >= reach * reach))
    return;
  const int both = j >= 0 ? 2 : 1;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const int change = __float2int_rn(m.scale * f[c]);
    atomicAdd(&impulse[c][i], change);
    if (j >= 0) atomicAdd(&impulse[c][j], -change);
  }
  pair_sums->sum[FIXED_VIRIAL] += both * __float2ll_rn(m.along * m.distance * g.virial);
  if (damped)
    pair_sums->sum[FIXED_DISSIPATED] +=
        both * __float2ll_rn(fixed_point_dissipated(&g, Grain::equal, p.w() + q.w(), &m));
  if (!(m.overlap > 0)) return;
  const float pair = p.w() + q.w(), depth = m.overlap / (2 * a.radius);
  const float stiffness = Grain::equal ? g.stiffness : fmaf(g.km, 1 / pair, g.k0);
  pair_sums->sum[FIXED_ELASTIC] += both * __float2ll_rn(stiffness / g.stiffness * depth * depth * 0x1p40f);
  for (int c = 0; c < 3; c++) {
    const int x = c, y = c == 2 ? 0 : c + 1;
    pair_sums->sum[FIXED_STRESS + c] += both * __float2ll_rn(f[c] * (m.scale * f[c]) * g.virial);
    pair_sums->sum[FIXED_STRESS + 3 + c] += both * __float2ll_rn(f[x] * (m.scale * f[y]) * g.virial);
  }
  pair_sums->sum[FIXED_TOUCHING] += both;
  const float smaller = fminf(p.r(a.radius), q.r(a.radius));
  const unsigned long long here = (unsigned long long)__float_as_uint(m.overlap / smaller) << 32 | (uint32_t)~id;
  pair_sums->overlap = here > pair_sums->overlap ? here : pair_sums->overlap;
}

/* Impulses into `scratch`; sums into `out`. */
template <typename Grain>
static __global__ void __launch_bounds__(FIXED_TILE)
    sum_contacts(fixed_arrays a, fixed_point_constants g, bool damped, bool start, unsigned k, long long *out) {
  __shared__ fixed_tile<Grain> tile_copy;
  __shared__ fixed_tile_impulses impulse;
  after_previous();
  const int t = (int)threadIdx.x;
  const fixed_control now = a.control[k & 1];
  const Grain *const grain = (const Grain *)a.grain[now.buffer];
  const uint32_t *const id = a.id[now.order];
  const uint32_t tiles = own_tiles(a);
  fixed_pair_sums pair_sums = {};
  for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    tile_copy.grain[t] = grain_at(grain, tile * FIXED_TILE + (uint32_t)t);
    for (int c = 0; c < 3; c++) impulse[c][t] = 0;
    __syncthreads();
    const uint32_t *const ids = id + (size_t)tile * FIXED_TILE;
    for (uint32_t e = threadIdx.x; e < a.count[FIXED_LONG][tile]; e += FIXED_TILE) {
      const uint32_t pair = a.pair[FIXED_LONG][tile * a.room[FIXED_LONG] + e], j = pair >> 8;
      const int i = pair & 255, inside = pair >> 16 == tile ? (int)(j & 255) : -1;
      const Grain other = inside >= 0 ? tile_copy.grain[inside] : grain_at(grain, j);
      add_contact(a, g, damped, start, tile_copy.grain[i], other, min(ids[i], id[j]), i, inside, impulse, &pair_sums);
    }
    __syncthreads();
    a.scratch[(size_t)tile * FIXED_TILE + t] =
        make_uint4((uint32_t)impulse[0][t], (uint32_t)impulse[1][t], (uint32_t)impulse[2][t], 0);
    __syncthreads();
  }
  for (int s = 0; s < FIXED_OVERLAP; s++) {
    const long long sum = warp_sum(pair_sums.sum[s]);
    if (t % 32 == 0 && sum != 0) atomicAdd((unsigned long long *)&out[s], (unsigned long long)sum);
  }
  if (pair_sums.overlap > 0) atomicMax((unsigned long long *)&out[FIXED_OVERLAP], pair_sums.overlap);
}

/* Moves the momenta of the start half a step back. Sums over time are trapezoidal: half of the first step counts. */
template <typename Grain>
static __global__ void half_step_back(fixed_arrays a, const long long *pair_sums, unsigned k) {
  after_previous();
  Grain *const grain = (Grain *)a.grain[a.control[k & 1].buffer];
  const uint32_t n = own_grains(a);
  if (blockIdx.x == 0 && threadIdx.x < 2) {
    const long long first = pair_sums[threadIdx.x == 0 ? FIXED_VIRIAL : FIXED_DISSIPATED];
    a.tally[2 * threadIdx.x] += 0x100000000ull - (unsigned long long)(first & 0xffffffff);
    a.tally[2 * threadIdx.x + 1] -= (unsigned long long)((first >> 32) + 1);
  }
  for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const uint4 impulse = a.scratch[i];
    grain[i].p[0] -= (int32_t)impulse.x >> 1;
    grain[i].p[1] -= (int32_t)impulse.y >> 1;
    grain[i].p[2] -= (int32_t)impulse.z >> 1;
  }
}

/* ---- launches ---- */

template <typename Grain> static void sum_contacts_with(collision_work *w, bool start) {
  static const sim_kernel looking = {"collision_fixed_point_contact_sums", "observe", SIM_LIMIT_BYTES};
  static const sim_kernel settling = {"collision_fixed_point_half_step_back", "observe", SIM_LIMIT_BYTES};
  const fixed_arrays &a = w->arrays;
  device_launch(&looking, 0, collision_cuda_grid(4, (uint64_t)a.tiles * FIXED_TILE), FIXED_TILE, sum_contacts<Grain>, a,
                w->numbers, w->system.damped, start, w->launch, w->pair_sums);
  if (start)
    device_launch(&settling, 0, collision_cuda_grid(8, a.n), 256, half_step_back<Grain>, a, w->pair_sums, w->launch);
}

void collision_fixed_cuda_contact_sums(collision_work *w, bool start) {
  sim_cuda_failed(
      cudaMemsetAsync(w->pair_sums, 0, FIXED_CONTACT_SUMS * sizeof *w->pair_sums, (cudaStream_t)sim_cuda_stream()),
      "cudaMemsetAsync", "sums of contacts");
  if (w->system.equal)
    sum_contacts_with<fixed_grain>(w, start);
  else
    sum_contacts_with<fixed_mixed_grain>(w, start);
}
