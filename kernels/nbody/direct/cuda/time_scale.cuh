/* Square of the shortest time in which a force changes at the start of a run: the least of |a| / |j| over bodies and of
 * a law's time over pairs. Device code. */
#ifndef NBODY_CUDA_TIME_SCALE_CUH
#define NBODY_CUDA_TIME_SCALE_CUH

#include "kernels/nbody/direct/cuda/pair.cuh"
#include "kernels/nbody/cuda/reduce.cuh"

/* law.square(dx, dy, dz, m_i + m_j). The kernel has __launch_bounds__(NBODY_PARTIAL_BODIES). */
template <typename real, typename Law>
__device__ __forceinline__ void least_time(int n, const real *m, const real *x, const double *a, const double *j,
                                           const Law &law, double *partial) {
  __shared__ double_quad staged[NBODY_PARTIAL_BODIES];
  __shared__ double shared[32];
  const int i = blockIdx.x * NBODY_PARTIAL_BODIES + threadIdx.x;
  double_quad mine = {};
  double value = INFINITY;
  if (i < n) mine.x = x[i], mine.y = x[(size_t)n + i], mine.z = x[2 * (size_t)n + i], mine.w = m[i];
  for (int first = 0; first < n; first += NBODY_PARTIAL_BODIES) {
    const int k = first + threadIdx.x;
    __syncthreads();
    if (k < n)
      staged[threadIdx.x].x = x[k], staged[threadIdx.x].y = x[(size_t)n + k],
      staged[threadIdx.x].z = x[2 * (size_t)n + k], staged[threadIdx.x].w = m[k];
    __syncthreads();
    for (int s = 0; s < min((int)NBODY_PARTIAL_BODIES, n - first); s++)
      if (i < n && first + s != i)
        value = fmin(
            value, law.square(mine.x - staged[s].x, mine.y - staged[s].y, mine.z - staged[s].z, mine.w + staged[s].w));
  }
  if (i < n) {
    const double j2 = square3(j, n, i);
    if (j2 > 0) value = fmin(value, square3(a, n, i) / j2);
  }
  value = over_block<reduce_min>(value, shared);
  if (threadIdx.x == 0) partial[blockIdx.x] = value;
}

#endif
