/* What is seen of a gas, after a look at its contacts: sums over grains and the state by id. */
#include "kernels/collision/fixed_point/cuda/work.cuh"

struct gas_units {
  double low[3], size[3], quantum, mass; /* mass: of all, where they are equal */
};

static __global__ void invert(gas_arrays a, uint32_t *slot, unsigned k) {
  after_previous();
  const uint32_t *const id = a.id[a.control[k & 1].order];
  for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < a.n; i += gridDim.x * 256) slot[id[i]] = i;
}

/* Over the threads of a block of 256; the result is thread 0's. */
static __device__ double over_block(double value, double *shared) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < 8 ? shared[threadIdx.x] : 0;
  if (threadIdx.x < 32)
    for (int step = 4; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return value;
}

/* Position and velocity of a grain, with half of the impulses of now, in the scenario's units. */
template <typename Grain>
static __device__ void seen(const Grain &grain, const uint4 &impulse, const gas_units &u, double mass, double x[3],
                            double v[3]) {
  const int more[3] = {(int)impulse.x, (int)impulse.y, (int)impulse.z};
  for (int c = 0; c < 3; c++) {
    x[c] = u.low[c] + (double)grain.x[c] * (u.size[c] * 0x1p-32);
    v[c] = ((double)grain.p[c] + 0.5 * (double)more[c]) * (u.quantum / mass);
  }
}

/* Blocks of 256 ids: a sum has one order on all devices. */
template <typename Grain>
static __global__ void __launch_bounds__(256)
    sum_blocks(gas_arrays a, gas_units u, const uint32_t *slot, double *partial, long long *momentum, unsigned k) {
  after_previous();
  __shared__ double shared[8];
  const gas_control now = a.control[k & 1];
  const Grain *const grain = (const Grain *)a.grain[now.buffer];
  const uint32_t blocks = (a.n + 255) / 256;
  long long sum[3] = {0, 0, 0};
  for (uint32_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    double part[GAS_QUANTITIES] = {};
    const uint32_t id = b * 256 + threadIdx.x;
    if (id < a.n) {
      const uint32_t i = slot[id];
      const Grain one = grain[i];
      const uint4 impulse = a.place[i];
      double x[3], v[3];
      const double m = Grain::equal ? u.mass : (double)a.mass[id];
      seen(one, impulse, u, m, x, v);
      part[GAS_MASS] = m;
      part[GAS_COLLISIONS] = a.collisions[now.order][i];
#pragma unroll
      for (int c = 0; c < 3; c++) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        part[GAS_KINETIC] += 0.5 * m * v[c] * v[c];
        part[GAS_ANGULAR + c] = m * (x[d] * v[e] - x[e] * v[d]);
        part[GAS_FLUX + c] = m * v[c] * v[c];
        part[GAS_FLUX + 3 + c] = m * v[c] * v[d];
      }
      sum[0] += 2 * (long long)one.p[0] + (int)impulse.x;
      sum[1] += 2 * (long long)one.p[1] + (int)impulse.y;
      sum[2] += 2 * (long long)one.p[2] + (int)impulse.z;
    }
#pragma unroll
    for (int q = 0; q < GAS_QUANTITIES; q++) {
      const double all = over_block(part[q], shared);
      if (threadIdx.x == 0) partial[(size_t)q * blocks + b] = all;
    }
  }
  for (int c = 0; c < 3; c++) {
    for (int step = 16; step > 0; step /= 2) sum[c] += __shfl_down_sync(~0u, sum[c], step);
    if (threadIdx.x % 32 == 0) atomicAdd((unsigned long long *)&momentum[c], (unsigned long long)sum[c]);
  }
}

static __global__ void __launch_bounds__(256) sum_all(const double *partial, uint32_t blocks, double *out) {
  after_previous();
  __shared__ double shared[8];
  double sum = 0;
  for (uint32_t b = threadIdx.x; b < blocks; b += 256) sum += partial[(size_t)blockIdx.x * blocks + b];
  const double all = over_block(sum, shared);
  if (threadIdx.x == 0) out[blockIdx.x] = all;
}

template <typename Grain>
static __global__ void stage(gas_arrays a, gas_units u, const uint32_t *slot, uint32_t first, uint32_t count,
                             gas_piece *out, unsigned k) {
  after_previous();
  const gas_control now = a.control[k & 1];
  const Grain *const grain = (const Grain *)a.grain[now.buffer];
  for (uint32_t at = blockIdx.x * 256 + threadIdx.x; at < count; at += gridDim.x * 256) {
    const uint32_t i = slot[first + at];
    const Grain one = grain[i];
    const uint4 impulse = a.place[i];
    double x[3], v[3];
    seen(one, impulse, u, Grain::equal ? u.mass : (double)a.mass[first + at], x, v);
    for (int c = 0; c < 3; c++) {
      const float place = (float)x[c];
      out->word[c][at] = (unsigned long long)(uint32_t)one.p[c] << 32 | one.x[c];
      out->position[c][at] = place < (float)(u.low[c] + u.size[c]) ? place : (float)u.low[c];
      out->velocity[c][at] = (float)v[c];
    }
    out->collisions[at] = a.collisions[now.order][i];
  }
}

/* ---- launches ---- */

static gas_units units_of(const gas_work *w) {
  const collision_gas &g = w->gas;
  return {{g.low[0], g.low[1], g.low[2]}, {g.size[0], g.size[1], g.size[2]}, g.quantum, g.mass};
}

static void find_slots(gas_work *w) {
  static const sim_kernel kernel = {"collision_gas_invert", "observe", SIM_LIMIT_BYTES};
  collision_launch(&kernel, 0, collision_cuda_grid(8, w->arrays.n), 256, invert, w->arrays, w->arrays.slot, w->launch);
}

void collision_cuda_sums(gas_work *w) {
  static const sim_kernel summing = {"collision_gas_sums", "observe", SIM_LIMIT_BYTES};
  const gas_arrays &a = w->arrays;
  const uint32_t blocks = (a.n + 255) / 256;
  double *const all = w->partial + (size_t)GAS_QUANTITIES * blocks;
  find_slots(w);
  if (w->gas.equal)
    collision_launch(&summing, 0, collision_cuda_grid(4, a.n), 256, sum_blocks<gas_grain>, a, units_of(w),
                     w->arrays.slot, w->partial, w->looked + GAS_MOMENTUM, w->launch);
  else
    collision_launch(&summing, 0, collision_cuda_grid(4, a.n), 256, sum_blocks<gas_mixed_grain>, a, units_of(w),
                     w->arrays.slot, w->partial, w->looked + GAS_MOMENTUM, w->launch);
  collision_launch(&summing, 0, GAS_QUANTITIES, 256, sum_all, w->partial, blocks, all);
}

void collision_cuda_stage(gas_work *w, int64_t first, int64_t count) {
  static const sim_kernel kernel = {"collision_gas_stage", "output", SIM_LIMIT_BYTES};
  gas_piece *const piece = (gas_piece *)w->staged;
  if (first == 0) find_slots(w);
  const unsigned grid = collision_cuda_grid(8, (uint64_t)count);
  if (w->gas.equal)
    collision_launch(&kernel, 0, grid, 256, stage<gas_grain>, w->arrays, units_of(w), w->arrays.slot, (uint32_t)first,
                     (uint32_t)count, piece, w->launch);
  else
    collision_launch(&kernel, 0, grid, 256, stage<gas_mixed_grain>, w->arrays, units_of(w), w->arrays.slot,
                     (uint32_t)first, (uint32_t)count, piece, w->launch);
}
