/* Potential energy, always in fp64. Bodies are cut into blocks; block I is paired with itself and with the next half
 * of all blocks on a circle, so that every pair is visited once. Device code, for gravity and for custom laws. */
#ifndef NBODY_CUDA_POTENTIAL_CUH
#define NBODY_CUDA_POTENTIAL_CUH

#include "kernels/nbody/direct/cuda/pair.cuh"
#include "kernels/nbody/cuda/reduce.cuh"

enum { POTENTIAL_THREADS = NBODY_PARTIAL_BODIES };

/* A law has start(), the first term of a pair's sum of squares s2, and potential(s2). */
struct gravity_potential {
  double softening2;
  __device__ double start() const { return softening2; }
  __device__ double potential(double s2) const { return inverse_root(s2); }
};

/* partial[part][I] = sum of m_i m_j times the potential, over i in block I and j in the blocks of this part. The kernel
 * has __launch_bounds__(POTENTIAL_THREADS). */
template <typename real, typename Law>
__device__ __forceinline__ void potential_sum(const bodies<real> &b, const Law &law, int blocks, double *partial) {
  __shared__ double_quad staged[POTENTIAL_THREADS];
  __shared__ double shared[32];
  const double3 rest = {0, 0, 0};
  const int me = b.begin + blockIdx.x, i = me * POTENTIAL_THREADS + threadIdx.x;
  const int reach = (blocks - 1) / 2 + (blocks % 2 == 0 && me < blocks / 2);
  const double_quad mine = load_body<double>(b, rest, i);
  double sum = 0;
  for (int k = blockIdx.y; k <= reach; k += gridDim.y) {
    const int other = (me + k) % blocks;
    __syncthreads();
    staged[threadIdx.x] = load_body<double>(b, rest, other * POTENTIAL_THREADS + threadIdx.x);
    __syncthreads();
    const int first = k == 0 ? threadIdx.x + 1 : 0, last = min(POTENTIAL_THREADS, b.n - other * POTENTIAL_THREADS);
#pragma unroll 4
    for (int j = first; j < last; j++) {
      const double_quad q = staged[j];
      const double dx = q.x - mine.x, dy = q.y - mine.y, dz = q.z - mine.z;
      sum = fused(q.w, law.potential(fused(dz, dz, fused(dy, dy, fused(dx, dx, law.start())))), sum);
    }
  }
  sum = over_block<reduce_sum>(i < b.n ? mine.w * sum : 0, shared);
  if (threadIdx.x == 0) partial[blockIdx.y * blocks + me] = sum;
}

#endif
