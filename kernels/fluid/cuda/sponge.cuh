/* Absorbing layers on the GPU. Twin: cpu/sponge.c. All arithmetic is in double; a layer is damped after the one before.
 */
#ifndef FLUID_CUDA_SPONGE_CUH
#define FLUID_CUDA_SPONGE_CUH

#include "kernels/fluid/cuda/measure.cuh"

/* Cell i of a plane. */
template <typename real>
__device__ __forceinline__ void damped_cell(const fluid_view<real> &v, const fluid_damped &d, int plane, long long i,
                                            int *x, size_t *row) {
  const int axis = d.side / 2, across = v.l.n[axis == 0 ? 1 : 0];
  const int first = (int)(i % across), second = (int)(i / across);
  const int along = d.side % 2 ? v.l.n[axis] - 1 - plane : plane;
  *x = axis == 0 ? along : first;
  *row = (size_t)(axis == 2 ? along : second) * (size_t)v.l.n[1] + (size_t)(axis == 1   ? along
                                                                            : axis == 0 ? first
                                                                                        : second);
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
  const int plane = (int)blockIdx.y, axis = d.side / 2;
  const long long first = (long long)blockIdx.x * FLUID_SUMMED;
  const double share = d.share[plane],
               push = START ? 0 : -share * (mean_through(d, plane, through, shared) - d.flow[plane]);
  for (long long i = first + threadIdx.x; i < d.cells && i < first + FLUID_SUMMED; i += 256) {
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

/* What becomes of the means of the flow through planes: they follow it, begin with it, or, with heat, lose what half a
 * step's force has added to it since they began (fluid_sponge_delay). */
enum fluid_following { FLUID_FOLLOW, FLUID_BEGIN, FLUID_DELAY };
/* One plane a block. */
template <fluid_following WHAT>
static __global__ void __launch_bounds__(256) follow_planes(const fluid_damped d, const double *through) {
  __shared__ double shared[8];
  after_previous();
  const int plane = (int)blockIdx.x;
  const double now = mean_through(d, plane, through, shared);
  if (threadIdx.x != 0) return;
  const double flow = d.flow[plane], push = -d.share[plane] * (now - flow);
  d.flow[plane] = WHAT == FLUID_BEGIN   ? now
                  : WHAT == FLUID_DELAY ? 2 * flow - now
                                        : flow + d.follow * (now + push - flow);
}

/* Adds to the means of the flow: fluid_sponge_follow. */
static __global__ void __launch_bounds__(256) shift_planes(const fluid_damped d, double gain) {
  after_previous();
  const int plane = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (plane < d.planes && d.open[plane] > 0) d.flow[plane] += gain / d.open[plane];
}

#endif
