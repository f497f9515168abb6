/* Transforms of lines of 32 Q points, from transforms in registers: dft<SIGN, N>(v) of v[N], in natural order before
 * and after, which the generated source of a run contains (dft.c). SIGN is the sign of the exponent. Device code for
 * NVRTC, fp32. */
#ifndef DIFFUSION_CUDA_DFT_CUH
#define DIFFUSION_CUDA_DFT_CUH

#include "kernels/common/device.cuh"

__device__ __forceinline__ float2 dft_times(float2 a, float2 w) {
  return float2{fmaf(a.x, w.x, -a.y * w.y), fmaf(a.x, w.y, a.y * w.x)};
}
__device__ __forceinline__ float2 dft_times_conjugate(float2 a, float2 w) {
  return float2{fmaf(a.x, w.x, a.y * w.y), fmaf(a.y, w.x, -a.x * w.y)};
}

/* ---- lines of N = 32 Q points; Q neighbouring threads of a warp hold one line ---- */

/* Numbers that a line takes in shared memory, padded against bank conflicts. */
template <int Q> __device__ constexpr int line_pitch() { return 32 * (Q + 2) + (Q == 8 ? 8 : 0); }

/* Multiplies by twiddle factors. turns[16][Q]: w^(a j), w^((a+1) j) for even a, w = exp(-2 pi i / N). */
template <int Q, bool FORWARD> __device__ __forceinline__ void line_turn(float2 *v, const float4 *turns, int j) {
#pragma unroll
  for (int i = 0; i < 16; i++) {
    const float4 w = turns[i * Q + j];
    v[2 * i] = FORWARD ? dft_times(v[2 * i], float2{w.x, w.y}) : dft_times_conjugate(v[2 * i], float2{w.x, w.y});
    v[2 * i + 1] =
        FORWARD ? dft_times(v[2 * i + 1], float2{w.z, w.w}) : dft_times_conjugate(v[2 * i + 1], float2{w.z, w.w});
  }
}

/* Transforms a line: from v[m], point j + Q m, to v[Q i + b], index (j + Q i) + 32 b on the other side. */
template <int Q, int SIGN>
__device__ __forceinline__ void line_out(float2 *v, float2 *line, const float4 *turns, int j) {
  dft<SIGN, 32>(v);
  line_turn<Q, (SIGN < 0)>(v, turns, j);
  warp_barrier();
#pragma unroll
  for (int a = 0; a < 32; a++) line[a * (Q + 2) + j] = v[a];
  warp_barrier();
#pragma unroll
  for (int i = 0; i < 32 / Q; i++) {
#pragma unroll
    for (int b = 0; b < Q; b += 2) {
      const float4 two = *(const float4 *)&line[(j + Q * i) * (Q + 2) + b];
      v[Q * i + b] = float2{two.x, two.y};
      v[Q * i + b + 1] = float2{two.z, two.w};
    }
    dft<SIGN, Q>(v + Q * i);
  }
}

/* The inverse, in two functions: until the exchange has been read, and the rest. */
template <int Q, int SIGN> __device__ __forceinline__ void line_back(float2 *v, float2 *line, int j) {
#pragma unroll
  for (int i = 0; i < 32 / Q; i++) {
    dft<SIGN, Q>(v + Q * i);
#pragma unroll
    for (int b = 0; b < Q; b += 2)
      *(float4 *)&line[(j + Q * i) * (Q + 2) + b] =
          float4{v[Q * i + b].x, v[Q * i + b].y, v[Q * i + b + 1].x, v[Q * i + b + 1].y};
  }
  warp_barrier();
#pragma unroll
  for (int a = 0; a < 32; a++) v[a] = line[a * (Q + 2) + j];
}
template <int Q, int SIGN> __device__ __forceinline__ void line_end(float2 *v, const float4 *turns, int j) {
  line_turn<Q, (SIGN < 0)>(v, turns, j);
  dft<SIGN, 32>(v);
}

#endif
