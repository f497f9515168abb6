/* The passes along y of a flow on three axes: inverse, from columns to rows, and forward, from rows to columns. A
 * thread block has the lines of one tile of kx in one plane: blocks are (tiles) x (fields) x (planes). */
#ifndef DIFFUSION_CUDA_FLOW_MIDDLE_CUH
#define DIFFUSION_CUDA_FLOW_MIDDLE_CUH

#include "kernels/diffusion/cuda/flat/lines.cuh"
#include "kernels/diffusion/cuda/flow/flow.cuh"

/* Whether any of the wavenumbers first ... last of n is kept, where `low` of them from 0 on are kept, and their mirror
 * images. */
__device__ constexpr bool flow_any_kept(int n, int low, int first, int last) { return first < low || last > n - low; }

/* Number of wavenumber k of a line, from the first number of a tile of kx on. */
template <typename S> __device__ __forceinline__ int flow_column_at(int k) {
  const int q = k < S::KY_LOW ? k : k - (S::NY - S::KY);
  return q / S::DEEP * (S::NZ * S::DEEP * S::WIDE) + q % S::DEEP * S::WIDE;
}

template <typename S, bool FORWARD>
__device__ __forceinline__ void flow_middle_of(const diffusion_flow &g, const float2 *from, float2 *to) {
  typedef flat_line<S::NY, S::WIDE> lines;
  constexpr int C = lines::C, T = lines::T;
  extern __shared__ float4 shared[];
  const int own = threadIdx.x % S::WIDE, j = threadIdx.x / S::WIDE, tile = blockIdx.x, z = blockIdx.z;
  const long long row = blockIdx.y * g.rowed + ((long long)z * S::TX + tile) * (S::NY * S::WIDE) + own;
  const long long column = blockIdx.y * g.deep + ((long long)tile * S::TY * S::NZ + z) * (S::DEEP * S::WIDE) + own;
  const bool there = tile * S::WIDE + own < S::KX;
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
      if (there) v[m] = from[k * S::WIDE];
    } else if (flow_any_kept(S::NY, S::KY_LOW, T * m, T * m + T - 1)) {
      if (there && flow_any_kept(S::NY, S::KY_LOW, k, k)) v[m] = from[flow_column_at<S>(k)];
    }
  }
  flat_out<lines, FORWARD ? -1 : 1>(v, line, j, line, j, turns);
#pragma unroll
  for (int i = 0; i < 16; i++) {
    const int k = j / C + 16 * (j % C) + 16 * C * (i / C) + 256 * (i % C);
    if (!there) continue;
    if (!FORWARD)
      to[k * S::WIDE] = v[i];
    else if (flow_any_kept(S::NY, S::KY_LOW, k, k))
      to[flow_column_at<S>(k)] = v[i];
  }
}

#endif
