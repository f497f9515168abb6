/* Absorbing layers on the GPU. Twin: cpu/sponge.c. All arithmetic is in double; a layer is damped after the one before.
 */
#ifndef FLUID_CUDA_SPONGE_CUH
#define FLUID_CUDA_SPONGE_CUH

#include "kernels/fluid/cuda/measure.cuh"

/* The planes of a layer that this rank sums or damps: blockIdx.y counts them. */
__device__ __forceinline__ int damped_plane(const fluid_damped &d) {
  return (int)blockIdx.y + (d.across ? d.first : 0);
}
/* Its cells of each, [first, end). */
struct fluid_damped_range {
  long long first, end;
};
__device__ __forceinline__ fluid_damped_range damped_range(const fluid_damped &d) {
  if (d.across) return {0, d.cells};
  return {d.first * d.line, d.end * d.line};
}

/* Cell i of a plane. */
template <typename real>
__device__ __forceinline__ void damped_cell(const fluid_view<real> &v, const fluid_damped &d, int plane, long long i,
                                            int *x, size_t *row) {
  const int axis = d.side / 2, across = d.wide;
  const int first = (int)(i % across), second = (int)(i / across);
  int at[3] = {first, axis == 0 ? first : second, second};
  at[axis] = d.side % 2 ? d.high - plane : plane;
  at[d.last] -= d.from;
  *x = at[0];
  *row = (size_t)at[2] * (size_t)v.l.n[1] + (size_t)at[1];
}

/* Momentum of cell i of a plane along the axis of the layer; false: it is solid. */
template <typename real>
__device__ __forceinline__ bool damped_flow(const fluid_view<real> &v, const fluid_damped &d, int plane, long long i,
                                            double *flow) {
  int x;
  size_t row;
  damped_cell(v, d, plane, i, &x, &row);
  if (is_solid(v.beside, v.l, x, row)) return false;
  *flow = (double)v.state[fluid_place(v.l, x, row) + (size_t)((1 + d.side / 2) * FLUID_GROUP)] / 3;
  return true;
}

/* through[planes][blocks][2]: momentum of the cells of a block, and their number. */
template <typename real>
__global__ void __launch_bounds__(256) sum_planes(const fluid_view<real> v, const fluid_damped d, double *through) {
  __shared__ double shared[8];
  after_previous();
  const int plane = damped_plane(d), block = (d.across ? 0 : d.first * d.parts) + (int)blockIdx.x;
  const long long begin = d.across ? 0 : block / d.parts * d.line, width = d.across ? d.cells : d.line;
  const long long first = begin + (long long)(d.across ? block : block % d.parts) * FLUID_SUMMED;
  double sum = 0, count = 0, flow;
  for (long long i = first + threadIdx.x; i < begin + width && i < first + FLUID_SUMMED; i += 256)
    if (damped_flow(v, d, plane, i, &flow)) {
      sum += flow;
      count += 1;
    }
  sum = block_sum<256>(sum, shared);
  count = block_sum<256>(count, shared);
  if (threadIdx.x != 0) return;
  double *out = through + 2 * ((size_t)plane * (size_t)d.blocks + (size_t)block);
  out[0] = sum;
  out[1] = count;
}

/* The same where lines are single cells, as in 2-D: one of them a thread. */
template <typename real>
__global__ void __launch_bounds__(256) sum_cells(const fluid_view<real> v, const fluid_damped d, double *through) {
  after_previous();
  const int plane = damped_plane(d), line = d.first + (int)(blockIdx.x * 256 + threadIdx.x);
  double flow = 0;
  if (line >= d.end) return;
  const bool fluid = damped_flow(v, d, plane, line, &flow);
  double *out = through + 2 * ((size_t)plane * (size_t)d.blocks + (size_t)line);
  out[0] = flow;
  out[1] = fluid ? 1 : 0;
}

/* Mean momentum through a plane, for all threads of a block. */
__device__ inline double mean_through(const fluid_damped &d, int plane, const double *through, double *shared) {
  double sum = 0, count = 0;
  for (int i = (int)threadIdx.x; i < d.blocks; i += 256) {
    sum += through[2 * ((size_t)plane * (size_t)d.blocks + (size_t)i)];
    count += through[2 * ((size_t)plane * (size_t)d.blocks + (size_t)i) + 1];
  }
  sum = block_sum<256>(sum, shared);
  count = block_sum<256>(count, shared);
  __syncthreads();
  if (threadIdx.x == 0) shared[0] = count > 0 ? sum / count : 0;
  __syncthreads();
  return shared[0];
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

/* Damps the cells of planes. START: sets the means of their densities instead. */
template <int RANK, bool START, typename real>
__global__ void __launch_bounds__(256) damp_planes(const fluid_view<real> v, const fluid_factors<real> k,
                                                   const fluid_damped d, const double *through, real *state) {
  __shared__ double shared[8];
  after_previous();
  const int plane = damped_plane(d), axis = d.side / 2;
  const fluid_damped_range own = damped_range(d);
  const long long first = own.first + (long long)blockIdx.x * FLUID_SUMMED;
  const double share = d.share[plane],
               push = START ? 0 : -share * (mean_through(d, plane, through, shared) - d.flow[plane]);
  for (long long i = first + threadIdx.x; i < own.end && i < first + FLUID_SUMMED; i += 256) {
    int x;
    size_t row;
    damped_cell(v, d, plane, i, &x, &row);
    double *dense = d.dense + (size_t)plane * (size_t)d.cells + (size_t)i, rho1 = 0;
    if (!is_solid(v.beside, v.l, x, row)) {
      real *to = state + fluid_place(v.l, x, row);
      rho1 = (double)to[0];
#pragma unroll
      for (int a = 0; a < RANK; a++) rho1 += (double)to[(1 + RANK + a) * FLUID_GROUP] / 3;
      if constexpr (!START) {
        const double more = -share * (rho1 - *dense);
        change_cell<RANK>(k, to, axis, rho1, more, push);
        *dense += d.follow * (rho1 + more - *dense);
      }
    }
    if constexpr (START) *dense = rho1;
  }
}

/* What becomes of the means of the flow through planes; one plane a block. */
static __global__ void __launch_bounds__(256)
    follow_planes(const fluid_damped d, fluid_damping what, const double *through) {
  __shared__ double shared[8];
  after_previous();
  const int plane = (int)blockIdx.x + (d.across ? d.first : 0);
  const double now = mean_through(d, plane, through, shared);
  if (threadIdx.x != 0) return;
  const double flow = d.flow[plane], push = -d.share[plane] * (now - flow);
  d.flow[plane] = what == FLUID_DAMP_BEGIN   ? now
                  : what == FLUID_DAMP_DELAY ? 2 * flow - now
                                             : flow + d.follow * (now + push - flow);
}

/* Adds to the means of the flow: fluid_sponge_follow. */
static __global__ void __launch_bounds__(256) shift_planes(const fluid_damped d, double gain) {
  after_previous();
  const int plane = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (plane < d.planes && d.open[plane] > 0) d.flow[plane] += gain / d.open[plane];
}

#endif
