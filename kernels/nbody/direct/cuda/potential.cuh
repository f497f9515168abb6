/* Potential energy, in fp64 always. Bodies are cut into blocks; block I meets itself and the next half of all blocks on
 * the circle, so that every pair comes once. Device code, for gravity and for laws of a scenario. */
#ifndef NBODY_CUDA_POTENTIAL_CUH
#define NBODY_CUDA_POTENTIAL_CUH

#include "kernels/nbody/direct/cuda/pair.cuh"
#include "kernels/nbody/cuda/reduce.cuh"

enum { POTENTIAL_THREADS = NBODY_PARTIAL_BODIES };

/* A law says what a pair's sum of squares begins with, and the potential for that sum. */
struct newton {
  double softening2;
  __device__ double start() const { return softening2; }
  __device__ double potential(double s2) const { return inverse_root(s2); }
};

/* partial[part][I] = sum over i in block I, and over the j of the blocks that are this part's, of m_i m_j times the
 * potential. The kernel has __launch_bounds__(POTENTIAL_THREADS). */
template <typename Real, typename Law>
__device__ __forceinline__ void potential_sum(const bodies<Real> &b, const Law &law, int blocks, double *partial) {
  __shared__ wide staged[POTENTIAL_THREADS];
  __shared__ double shared[32];
  const double3 rest = {0, 0, 0};
  const int me = blockIdx.x, i = me * POTENTIAL_THREADS + threadIdx.x;
  const int reach = (blocks - 1) / 2 + (blocks % 2 == 0 && me < blocks / 2);
  const wide mine = load_body<double>(b, rest, i);
  double sum = 0;
  for (int k = blockIdx.y; k <= reach; k += gridDim.y) {
    const int other = (me + k) % blocks;
    __syncthreads();
    staged[threadIdx.x] = load_body<double>(b, rest, other * POTENTIAL_THREADS + threadIdx.x);
    __syncthreads();
    const int first = k == 0 ? threadIdx.x + 1 : 0, last = min(POTENTIAL_THREADS, b.n - other * POTENTIAL_THREADS);
#pragma unroll 4
    for (int j = first; j < last; j++) {
      const wide q = staged[j];
      const double dx = q.x - mine.x, dy = q.y - mine.y, dz = q.z - mine.z;
      sum = fused(q.w, law.potential(fused(dz, dz, fused(dy, dy, fused(dx, dx, law.start())))), sum);
    }
  }
  sum = over_block<add>(i < b.n ? mine.w * sum : 0, shared);
  if (threadIdx.x == 0) partial[blockIdx.y * blocks + me] = sum;
}

#endif
