/* The second pass: columns of FLAT_WIDE neighbouring kx. Forward along y, the sums of a stage, and inverse where the
 * stage transforms back. Only this pass uses arrays beside the mixed fields. They are stored in thread order: [kx /
 * FLAT_WIDE][i][thread], v[i] as in flat/lines.cuh. Tables have one entry for ky and -ky: [kx][k / 256][k % 16][k / 16
 * % 16], k = 0 ... ny / 2. */
#ifndef DIFFUSION_CUDA_FLAT_COLUMNS_CUH
#define DIFFUSION_CUDA_FLAT_COLUMNS_CUH

#include "kernels/diffusion/cuda/flat/flat.cuh"
#include "kernels/diffusion/cuda/flat/lines.cuh"
#include "kernels/diffusion/cuda/general/sums.cuh"

template <int NY> __device__ __forceinline__ int flat_entry(int ky) {
  const int k = ky > NY / 2 ? NY - ky : ky;
  return (k & ~255) | (k & 15) << 4 | (k >> 4 & 15);
}

template <typename Visit, int NY, bool FORWARD, bool INVERSE>
__device__ __forceinline__ void columns_of(const diffusion_flat &g, const diffusion_sums &s) {
  typedef flat_line<NY, FLAT_WIDE> line;
  constexpr int C = line::C, T = line::T, THREADS = FLAT_WIDE * T, ENTRIES = (NY / 512 + 1) * 256;
  extern __shared__ float4 shared[];
  const int t = threadIdx.x, own = t / 2 % FLAT_WIDE, j = t / (2 * FLAT_WIDE) * 2 + t % 2, other = t / T, k = t % T;
  float2 *const from = (float2 *)shared + own * line::PITCH, *const to = (float2 *)shared + other * line::PITCH;
  const long long tile = blockIdx.y * g.field + (long long)blockIdx.x * FLAT_WIDE * NY + t;
  const long long table = blockIdx.y * s.tables + (long long)(blockIdx.x * FLAT_WIDE + other) * ENTRIES;
  float2 *mixed = (float2 *)g.mixed + tile;
  float2 v[16];
  if (FORWARD) {
#pragma unroll
    for (int m = 0; m < 16; m++) v[m] = mixed[m * THREADS];
    flat_out<line, -1>(v, from, j, to, k, (const float2 *)g.turns_y);
  }
#pragma unroll
  for (int i = 0; i < 16; i++)
    Visit::at(s, v[i], tile + i * THREADS,
              table + flat_entry<NY>(k / C + 16 * (k % C) + 16 * C * (i / C) + 256 * (i % C)));
  if (!INVERSE) return;
  flat_back<line, 1>(v, from, j, to, k, (const float2 *)g.turns_y);
#pragma unroll
  for (int m = 0; m < 16; m++) mixed[m * THREADS] = v[m];
}

#endif
