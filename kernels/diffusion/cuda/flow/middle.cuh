/* The passes along y of a flow on three axes: inverse, from columns to rows, and forward, from rows to columns. A
 * thread block has the lines of one tile of kx in the planes of a slab: blocks are (slabs) x (tiles) x (fields), so
 * that those that run at a time read and write neighbouring z of the order by columns. */
#ifndef DIFFUSION_CUDA_FLOW_MIDDLE_CUH
#define DIFFUSION_CUDA_FLOW_MIDDLE_CUH

#include "kernels/diffusion/cuda/flat/lines.cuh"
#include "kernels/diffusion/cuda/flow/flow.cuh"

/* Of n wavenumbers `low` are kept from 0 on, and their mirror images. Whether any, or all, of first ... last are. */
__device__ constexpr bool flow_any_kept(int n, int low, int first, int last) { return first < low || last > n - low; }
__device__ constexpr bool flow_all_kept(int n, int low, int first, int last) { return last < low || first > n - low; }
/* Whether k, one of first ... last, is kept; those are known to the compiler, which then tests few wavenumbers. */
__device__ __forceinline__ bool flow_kept(int n, int low, int first, int last, int k) {
  return flow_any_kept(n, low, first, last) && (flow_all_kept(n, low, first, last) || flow_any_kept(n, low, k, k));
}

/* Number of wavenumber k of a line, from the first number of a tile of kx on. */
template <typename S> __device__ __forceinline__ int flow_column_at(int k) {
  const int q = k < S::KY_LOW ? k : k - (S::NY - S::KY);
  return q / S::DEEP * (S::NZ * S::DEEP * S::WIDE) + q % S::DEEP * S::WIDE;
}

template <typename S, bool FORWARD>
__device__ __forceinline__ void flow_middle_of(const diffusion_flow &g, const float2 *from, float2 *to) {
  enum { L = S::WIDE * S::SLAB };
  typedef flat_line<S::NY, L> lines;
  constexpr int C = lines::C, T = lines::T;
  extern __shared__ float4 shared[];
  after_previous();
  const int own = threadIdx.x % L, j = threadIdx.x / L, slab = blockIdx.x, tile = blockIdx.y;
  const int kx = own % S::WIDE, z = g.plane + slab * S::SLAB + own / S::WIDE;
  const long long row = blockIdx.z * g.rowed + ((long long)slab * S::TX + tile) * (S::NY * L) + own;
  const long long column = blockIdx.z * g.deep + ((long long)tile * S::TY * S::NZ + z) * (S::DEEP * S::WIDE) + kx;
  const bool there = tile * S::WIDE + kx < S::KX;
  float2 *const line = (float2 *)shared + own * lines::PITCH;
  const float2 *turns = (const float2 *)g.turns[1];
  float2 v[16];
  from += FORWARD ? row : column;
  to += FORWARD ? column : row;
#pragma unroll
  for (int m = 0; m < 16; m++) {
    const int k = j + T * m;
    v[m] = float2{0, 0};
    if (FORWARD) {
      if (there) v[m] = from[k * L];
    } else if (there && flow_kept(S::NY, S::KY_LOW, T * m, T * m + T - 1, k)) {
      v[m] = __ldcs(from + flow_column_at<S>(k));
    }
  }
  flat_out<lines, FORWARD ? -1 : 1>(v, line, j, line, j, turns);
#pragma unroll
  for (int i = 0; i < 16; i++) {
    const int first = 16 * C * (i / C) + 256 * (i % C), k = j / C + 16 * (j % C) + first;
    if (!there) continue;
    if (!FORWARD)
      to[k * L] = v[i];
    else if (flow_kept(S::NY, S::KY_LOW, first, first + 16 * C - 1, k))
      __stcs(to + flow_column_at<S>(k), v[i]);
  }
}

#endif
