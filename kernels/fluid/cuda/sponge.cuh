/* Absorbing layers on the GPU. Twin: cpu/sponge.c. All arithmetic is in double; a layer is damped after the one
 * before. */
#ifndef FLUID_CUDA_SPONGE_CUH
#define FLUID_CUDA_SPONGE_CUH

#include "kernels/fluid/cuda/measure.cuh"

/* Cell i of a plane along y or z. */
template <typename real>
__device__ __forceinline__ void damped_cell(const fluid_view<real> &v, const fluid_damped &d, int plane, long long i,
                                            int *x, size_t *row) {
  const int axis = d.side / 2, along = d.side % 2 ? v.l.n[axis] - 1 - plane : plane;
  const size_t other = (size_t)(i / v.l.n[0]);
  *x = (int)(i % v.l.n[0]);
  *row = axis == 2 ? (size_t)along * (size_t)v.l.n[1] + other : other * (size_t)v.l.n[1] + (size_t)along;
}

/* through[planes][blocks][2]: momentum of the cells of a block, and their number. */
template <typename real>
__global__ void __launch_bounds__(256) sum_planes(const fluid_view<real> v, const fluid_damped d, double *through) {
  __shared__ double shared[8];
  after_previous();
  const int plane = (int)blockIdx.y, axis = d.side / 2;
  const long long first = (long long)blockIdx.x * FLUID_SUMMED;
  double sum = 0, count = 0;
  for (long long i = first + threadIdx.x; i < d.cells && i < first + FLUID_SUMMED; i += 256) {
    int x;
    size_t row;
    damped_cell(v, d, plane, i, &x, &row);
    if (is_solid(v.beside, v.l, x, row)) continue;
    sum += (double)v.state[fluid_place(v.l, x, row) + (size_t)((1 + axis) * FLUID_GROUP)] / 3;
    count += 1;
  }
  sum = block_sum<256>(sum, shared);
  count = block_sum<256>(count, shared);
  if (threadIdx.x != 0) return;
  double *out = through + 2 * ((size_t)plane * (size_t)d.blocks + blockIdx.x);
  out[0] = sum;
  out[1] = count;
}

/* The same of planes along x: a block adds FLUID_SUMMED_ROWS rows of 32 planes, whose cells are neighbours in memory.
 * Its groups of 32 cells begin at multiples of 32: group blockIdx.y of the layer. */
constexpr int FLUID_ROWS = 8; /* of 32 threads in a block */
template <typename real>
__device__ __forceinline__ int plane_of_lane(const fluid_view<real> &v, const fluid_damped &d, int *x) {
  const int low = d.side % 2 ? v.l.n[0] - d.planes : 0;
  *x = (low / FLUID_GROUP + (int)blockIdx.y) * FLUID_GROUP + (int)threadIdx.x % FLUID_GROUP;
  return d.side % 2 ? v.l.n[0] - 1 - *x : *x; /* which may be none of the layer's */
}
template <typename real>
__global__ void __launch_bounds__(32 * FLUID_ROWS)
    sum_rows(const fluid_view<real> v, const fluid_damped d, double *through) {
  __shared__ double shared[2][FLUID_ROWS][32];
  after_previous();
  const int lane = (int)threadIdx.x % 32, line = (int)threadIdx.x / 32;
  const long long first = (long long)blockIdx.x * FLUID_SUMMED_ROWS;
  int x;
  const int plane = plane_of_lane(v, d, &x);
  const bool mine = plane >= 0 && plane < d.planes;
  double sum = 0, count = 0;
  for (long long i = first + line; mine && i < d.cells && i < first + FLUID_SUMMED_ROWS; i += FLUID_ROWS) {
    if (is_solid(v.beside, v.l, x, (size_t)i)) continue;
    sum += (double)v.state[fluid_place(v.l, x, (size_t)i) + FLUID_GROUP] / 3;
    count += 1;
  }
  shared[0][line][lane] = sum;
  shared[1][line][lane] = count;
  __syncthreads();
  if (line != 0 || !mine) return;
  for (int k = 1; k < FLUID_ROWS; k++) {
    sum += shared[0][k][lane];
    count += shared[1][k][lane];
  }
  double *out = through + 2 * ((size_t)plane * (size_t)d.blocks + blockIdx.x);
  out[0] = sum;
  out[1] = count;
}

/* d.now: mean momentum through the planes, one a block. */
static __global__ void __launch_bounds__(256) mean_planes(const fluid_damped d, const double *through) {
  __shared__ double shared[8];
  after_previous();
  const int plane = (int)blockIdx.x;
  double sum = 0, count = 0;
  for (int i = (int)threadIdx.x; i < d.blocks; i += 256) {
    sum += through[2 * ((size_t)plane * (size_t)d.blocks + (size_t)i)];
    count += through[2 * ((size_t)plane * (size_t)d.blocks + (size_t)i) + 1];
  }
  sum = block_sum<256>(sum, shared);
  count = block_sum<256>(count, shared);
  if (threadIdx.x == 0) d.now[plane] = count > 0 ? sum / count : 0;
}

/* Changes density and momentum of a cell; S follows by the change of j j/rho. */
template <int RANK, typename real>
__device__ __forceinline__ void change_cell(const fluid_factors<real> &k, real *to, int axis, double rho1, double dense,
                                            double push) {
  real m[fluid_moments(RANK)];
  double j[RANK], old[RANK], more[RANK];
  load_cell<fluid_moments(RANK)>(to, m);
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    old[a] = (double)m[1 + a] / 3;
    more[a] = a == axis ? 3 * push : 0;
    j[a] = a == axis ? old[a] + push : old[a];
  }
  const double trace = add_moments<RANK>(
      k, more, [&](int a, int b) { return j[a] * j[b] / (1 + rho1 + dense) - old[a] * old[b] / (1 + rho1); }, m);
  m[0] = (real)((double)m[0] + dense - trace / 3);
  store_cell<fluid_moments(RANK)>(to, m);
}

/* Damps cell i of a plane. START: sets the mean of its density instead. */
template <int RANK, bool START, typename real>
__device__ __forceinline__ void damp_cell(const fluid_view<real> &v, const fluid_factors<real> &k,
                                          const fluid_damped &d, int plane, long long i, int x, size_t row,
                                          real *state) {
  const double share = d.share[plane], push = START ? 0 : -share * (d.now[plane] - d.flow[plane]);
  double *dense = d.dense + (size_t)plane * (size_t)d.cells + (size_t)i, rho1 = 0;
  if (!is_solid(v.beside, v.l, x, row)) {
    real *to = state + fluid_place(v.l, x, row);
    rho1 = (double)to[0];
#pragma unroll
    for (int a = 0; a < RANK; a++) rho1 += (double)to[(1 + RANK + a) * FLUID_GROUP] / 3;
    if constexpr (!START) {
      const double more = -share * (rho1 - *dense);
      change_cell<RANK>(k, to, d.side / 2, rho1, more, push);
      *dense += d.follow * (rho1 + more - *dense);
    }
  }
  if constexpr (START) *dense = rho1;
}

/* Cells of planes along y and z; and along x, by rows as sum_rows. */
template <int RANK, bool START, typename real>
__global__ void __launch_bounds__(256)
    damp_planes(const fluid_view<real> v, const fluid_factors<real> k, const fluid_damped d, real *state) {
  after_previous();
  const int plane = (int)blockIdx.y;
  const long long first = (long long)blockIdx.x * FLUID_SUMMED;
  for (long long i = first + threadIdx.x; i < d.cells && i < first + FLUID_SUMMED; i += 256) {
    int x;
    size_t row;
    damped_cell(v, d, plane, i, &x, &row);
    damp_cell<RANK, START>(v, k, d, plane, i, x, row, state);
  }
}
template <int RANK, bool START, typename real>
__global__ void __launch_bounds__(32 * FLUID_ROWS)
    damp_rows(const fluid_view<real> v, const fluid_factors<real> k, const fluid_damped d, real *state) {
  after_previous();
  int x;
  const int plane = plane_of_lane(v, d, &x);
  const long long i = (long long)blockIdx.x * FLUID_ROWS + (int)threadIdx.x / 32;
  if (plane < 0 || plane >= d.planes || i >= d.cells) return;
  damp_cell<RANK, START>(v, k, d, plane, i, x, (size_t)i, state);
}

/* The means of the flow through planes, one a thread. */
template <bool START> static __global__ void __launch_bounds__(128) follow_planes(const fluid_damped d) {
  after_previous();
  const int plane = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (plane >= d.planes) return;
  const double flow = d.flow[plane], now = d.now[plane], push = -d.share[plane] * (now - flow);
  d.flow[plane] = START ? now : flow + d.follow * (now + push - flow);
}

#endif
