/* Moment matching over the 1024 paths of a part; each thread draws its normals twice. Twin: cpu/moments.h. Device
 * code. */
#ifndef OPTION_CUDA_MOMENTS_CUH
#define OPTION_CUDA_MOMENTS_CUH

#include "kernels/option/cuda/paths/step.cuh"

template <class S>
__device__ inline void part_moments(const constants<S> &c, const option_keys &keys, const common_bits *kept,
                                    unsigned high, unsigned low, moments<S> &out) {
  typedef typename S::real real;
  enum { WARPS = OPTION_CUDA_THREADS / 32, PATHS = (int)MATCH_M / OPTION_CUDA_THREADS };
  __shared__ double all[WARPS][8];
  const real spread = S::ASSETS == 1 ? c.c[S::C_SPREAD] : (real)-1.3862943611198906;
#pragma unroll 1
  for (int group = 0; group < (S::STEPS + 3) / 4; group++)
#pragma unroll 1
    for (int a = 0; a < S::ASSETS; a++) {
      real sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}; /* sums of each of four steps, then of the squares */
#pragma unroll
      for (int path = 0; path < PATHS; path += S::SHARE) {
        const stream s = begin_stream(high, (S::SHARE > 1 ? 0 : low + path * OPTION_CUDA_THREADS) + threadIdx.x);
        const bits4 w =
            random_bits(prepare(s, keys, a), keys, common_of<S>(s, keys, kept, S::SHARE > 1 ? path / S::SHARE : group));
        real z[4];
        two_normals(w.bits[0], w.bits[1], spread, z);
        two_normals(w.bits[2], w.bits[3], spread, z + 2);
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const int step = S::SHARE > 1 ? i % S::STEPS : i;
          sum[step] += z[i];
          sum[4 + step] = fused(z[i], z[i], sum[4 + step]);
        }
      }
#pragma unroll
      for (int k = 0; k < 8; k++) {
        const double total = warp_sum_all((double)sum[k]);
        if (threadIdx.x % 32 == 0) all[threadIdx.x / 32][k] = total;
      }
      __syncthreads();
      if (threadIdx.x < 4 && 4 * group + threadIdx.x < S::STEPS) {
        double mean = 0, square = 0;
        for (int warp = 0; warp < WARPS; warp++) {
          mean += all[warp][threadIdx.x];
          square += all[warp][4 + threadIdx.x];
        }
        mean /= MATCH_M;
        const int at = (4 * group + (int)threadIdx.x) * S::ASSETS + a;
        out.mean[at] = (real)mean;
        out.scale[at] = (real)(1 / sqrt(square / MATCH_M - mean * mean));
      }
      __syncthreads();
    }
}

#endif
