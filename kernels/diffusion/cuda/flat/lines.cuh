/* Fourier transforms of lines of N = 256 C points, C = 1 to 16, by N / 16 threads with 16 points each: 16 by 16 by
 * C, with two exchanges through shared memory, the second among C neighbouring threads of a warp. fp32.
 *
 * Before the transform thread j holds points j + T m, T = N / 16, in v[m]; after it thread (a, g) = (s / C, s % C),
 * where s may differ from j, holds points a + 16 (g + C e) + 256 c in v[C e + c]. */
#ifndef DIFFUSION_CUDA_FLAT_LINES_CUH
#define DIFFUSION_CUDA_FLAT_LINES_CUH

#include "kernels/diffusion/cuda/dft.cuh"

/* Layout of a line in shared memory, in 8-byte numbers, without bank conflicts in either exchange. L lines with
 * alternating threads are PITCH apart. */
template <int N, int L> struct flat_line {
  enum { C = N / 256, T = N / 16, PART = C > 1 ? 16 * (C + 1) + C % 16 : 17, PITCH = 16 * PART + 16 / L % 16 };
};

/* Multiplies by w^a, a < 16, from turns[6]: w, w^2, w^3, w^4, w^8 and w^12, `stride` apart. Plain loads: through __ldg
 * the compiler would keep them in registers from one transform to the next. */
template <int SIGN> __device__ __forceinline__ float2 flat_turned(float2 v, float2 w) {
  return SIGN < 0 ? dft_times(v, w) : dft_times_conjugate(v, w);
}
template <int SIGN> __device__ __forceinline__ void flat_turn(float2 *v, const float2 *turns, int stride) {
  const float2 w1 = turns[0], w2 = turns[stride], w3 = turns[2 * stride];
  v[1] = flat_turned<SIGN>(v[1], w1);
  v[2] = flat_turned<SIGN>(v[2], w2);
  v[3] = flat_turned<SIGN>(v[3], w3);
#pragma unroll
  for (int a = 4; a < 16; a += 4) {
    const float2 w = turns[(2 + a / 4) * stride];
    v[a] = flat_turned<SIGN>(v[a], w);
    v[a + 1] = flat_turned<SIGN>(v[a + 1], dft_times(w, w1));
    v[a + 2] = flat_turned<SIGN>(v[a + 2], dft_times(w, w2));
    v[a + 3] = flat_turned<SIGN>(v[a + 3], dft_times(w, w3));
  }
}

/* From points j + T m of line `from` to the points of thread s of line `to`. All threads of the block take part. */
template <typename Line, int SIGN>
__device__ __forceinline__ void flat_out(float2 *v, float2 *from, int j, float2 *to, int s, const float2 *turns) {
  constexpr int C = Line::C, T = Line::T, PART = Line::PART;
  const int p = s % C;
  float2 *part = to + s / C * PART;
  dft<SIGN, 16>(v);
  flat_turn<SIGN>(v, turns + j, T);
#pragma unroll
  for (int a = 0; a < 16; a++) from[a * PART + j] = v[a];
  __syncthreads();
#pragma unroll
  for (int q = 0; q < 16; q++) v[q] = part[p + C * q];
  dft<SIGN, 16>(v);
  if constexpr (C > 1) {
    flat_turn<SIGN>(v, turns + 6 * T + p, C);
    warp_barrier();
#pragma unroll
    for (int b = 0; b < 16; b++) part[b * (C + 1) + p] = v[b];
    warp_barrier();
#pragma unroll
    for (int e = 0; e < 16 / C; e++) {
#pragma unroll
      for (int c = 0; c < C; c++) v[C * e + c] = part[(p + C * e) * (C + 1) + c];
      dft<SIGN, C>(v + C * e);
    }
  }
}

/* The inverse. */
template <typename Line, int SIGN>
__device__ __forceinline__ void flat_back(float2 *v, float2 *from, int j, float2 *to, int s, const float2 *turns) {
  constexpr int C = Line::C, T = Line::T, PART = Line::PART;
  const int p = s % C;
  float2 *part = to + s / C * PART;
  if constexpr (C > 1) {
#pragma unroll
    for (int e = 0; e < 16 / C; e++) {
      dft<SIGN, C>(v + C * e);
#pragma unroll
      for (int c = 0; c < C; c++) part[(p + C * e) * (C + 1) + c] = v[C * e + c];
    }
    warp_barrier();
#pragma unroll
    for (int b = 0; b < 16; b++) v[b] = part[b * (C + 1) + p];
    flat_turn<SIGN>(v, turns + 6 * T + p, C);
    warp_barrier();
  }
  dft<SIGN, 16>(v);
#pragma unroll
  for (int q = 0; q < 16; q++) part[p + C * q] = v[q];
  __syncthreads();
#pragma unroll
  for (int a = 0; a < 16; a++) v[a] = from[a * PART + j];
  flat_turn<SIGN>(v, turns + j, T);
  dft<SIGN, 16>(v);
}

#endif
