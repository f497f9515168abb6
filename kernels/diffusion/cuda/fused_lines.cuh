/* Four passes over memory of a step, for grids whose tiles of columns are too large for two: rows [inverse x, rates,
 * forward x], forward y, z [forward, multiplier, inverse], inverse y. fp32, periodic, 1024 cells an axis: a line is
 * that of a warp, or of 32 threads.
 *
 * Between steps a field is transformed along x; rows hold what those of fused_planes.cuh hold. */
#ifndef DIFFUSION_CUDA_FUSED_LINES_CUH
#define DIFFUSION_CUDA_FUSED_LINES_CUH

#include "kernels/diffusion/cuda/dft.cuh"
#include "kernels/diffusion/cuda/fused.cuh"

enum { LINES_STEP, LINES_LOAD, LINES_STORE };
enum { LINES_FORWARD, LINES_BACK, LINES_BOTH };

/* ---- rows ---- */

/* A thread block: LINES_PAIRS pairs of neighbouring rows, a warp each. */
template <typename Rates, int NX, int NY, int MODE, int TIMES>
__device__ __forceinline__ void rows_pass(const diffusion_fused &g, double t, double h) {
  constexpr int Q = NX / 32, THREADS = 32 * LINES_PAIRS, PITCH = line_pitch<Q>();
  static_assert(Q == 32, "a row is a warp's");
  extern __shared__ float4 shared[];
  float2 *lines = (float2 *)shared, *line = lines + threadIdx.x / 32 * PITCH;
  const long long first = (long long)blockIdx.x * 2 * LINES_PAIRS, own = first + threadIdx.x / 32 * 2;
  const int j = threadIdx.x % 32;
  float2 *rows = (float2 *)g.mixed + first * (NX / 2) + threadIdx.x;
  float *real = g.real + own * NX + j;
  const float4 *turns = (const float4 *)g.turns_x;
  float2 v[32];
  if (MODE != LINES_LOAD) {
#pragma unroll
    for (int p = 0; p < LINES_PAIRS; p++)
#pragma unroll
      for (int i = 0; i < NX / 2 / THREADS; i++) {
        const int c = threadIdx.x + THREADS * i, other = c ? NX - c : NX / 2;
        const float2 a = rows[2 * p * (NX / 2) + THREADS * i], b = rows[(2 * p + 1) * (NX / 2) + THREADS * i];
        lines[p * PITCH + c] = c ? float2{a.x - b.y, a.y + b.x} : float2{a.x, b.x};
        lines[p * PITCH + other] = c ? float2{a.x + b.y, b.x - a.y} : float2{a.y, b.y};
      }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < 32; m++) v[m] = line[j + 32 * m];
    line_out<Q, 1>(v, line, turns, j);
  }
  if (MODE == LINES_STEP) {
    const float cy = (float)(((double)(own % NY) + 0.5) * g.size[1] / NY);
    const float dy = (float)(((double)(own % NY) + 1.5) * g.size[1] / NY);
    const float cz = (float)(((double)(own / NY) + 0.5) * g.size[2] / (double)g.nz);
#pragma unroll
    for (int i = 0; i < 32; i++) {
      const float cx = (float)(((double)(j + 32 * i) + 0.5) * g.size[0] / NX);
#pragma unroll
      for (int time = 0; time < TIMES; time++) {
        const float at = (float)(t + time * h);
        Rates::of(&v[i].x, cx, cy, cz, at, (float)h);
        Rates::of(&v[i].y, cx, dy, cz, at, (float)h);
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < 32; i++) {
      if (MODE == LINES_STORE) {
        real[32 * i] = v[i].x;
        real[32 * i + NX] = v[i].y;
      } else {
        v[i] = float2{real[32 * i], real[32 * i + NX]};
      }
    }
  }
  if (MODE != LINES_STORE) {
    line_back<Q, -1>(v, line, j);
    line_end<Q, -1>(v, turns, j);
    __syncwarp();
#pragma unroll
    for (int m = 0; m < 32; m++) line[j + 32 * m] = v[m];
    __syncthreads();
#pragma unroll
    for (int p = 0; p < LINES_PAIRS; p++)
#pragma unroll
      for (int i = 0; i < NX / 2 / THREADS; i++) {
        const int c = threadIdx.x + THREADS * i, other = c ? NX - c : NX / 2;
        const float2 k = lines[p * PITCH + c], m = lines[p * PITCH + other];
        const float twice = 2 * g.nyquist[0];
        rows[2 * p * (NX / 2) + THREADS * i] = c ? float2{k.x + m.x, k.y - m.y} : float2{2 * k.x, twice * m.x};
        rows[(2 * p + 1) * (NX / 2) + THREADS * i] = c ? float2{k.y + m.y, m.x - k.x} : float2{2 * k.y, twice * m.y};
      }
  }
}

/* ---- columns ---- */

/* Lines along y (OF_Z false) or z of LINES_WIDE neighbouring kx, of 32 threads each: blockIdx.y is z, or y. In shared
 * memory they are two numbers more than a multiple of 16 apart, so that neither 8 nor 16 bytes meet in a bank. */
template <int NX, int NY, int NZ, bool OF_Z, int WAY>
__device__ __forceinline__ void lines_pass(const diffusion_fused &g) {
  constexpr int N = OF_Z ? NZ : NY, Q = N / 32, PITCH = LINES_PITCH;
  constexpr long long STRIDE = OF_Z ? (long long)(NX / 2) * NY : NX / 2, STEP = Q * STRIDE;
  static_assert(Q == 32 && LINES_PITCH == line_pitch<Q>() + 2, "a line is that of 32 threads");
  extern __shared__ float4 shared[];
  const int c = threadIdx.x % LINES_WIDE, j = threadIdx.x / LINES_WIDE, kx = blockIdx.x * LINES_WIDE + c;
  float2 *line = (float2 *)shared + c * PITCH;
  const float4 *turns = (const float4 *)(OF_Z ? g.turns_z : g.turns_x);
  float2 *at = (float2 *)g.mixed + (long long)blockIdx.y * (OF_Z ? NX / 2 : (long long)(NX / 2) * NY) + kx + j * STRIDE;
  float2 v[32];
#pragma unroll
  for (int m = 0; m < 32; m++) v[m] = at[m * STEP];
  if (WAY != LINES_BACK) {
    dft<-1, 32>(v);
    line_turn<Q, true>(v, turns, j);
#pragma unroll
    for (int a = 0; a < 32; a++) line[a * (Q + 2) + j] = v[a];
    __syncthreads();
#pragma unroll
    for (int b = 0; b < Q; b += 2) {
      const float4 two = *(const float4 *)&line[j * (Q + 2) + b];
      v[b] = float2{two.x, two.y};
      v[b + 1] = float2{two.z, two.w};
    }
    dft<-1, Q>(v);
  }
  if (WAY == LINES_BOTH) {
    const float exy = g.ex[kx] * g.ey[blockIdx.y];
#pragma unroll
    for (int b = 0; b < 32; b++) {
      const float e = exy * g.ez[j + 32 * b];
      v[b] = float2{v[b].x * e, v[b].y * e};
    }
  }
  if (WAY != LINES_FORWARD) {
    dft<1, Q>(v);
#pragma unroll
    for (int b = 0; b < Q; b += 2) /* where this thread alone has read */
      *(float4 *)&line[j * (Q + 2) + b] = float4{v[b].x, v[b].y, v[b + 1].x, v[b + 1].y};
    __syncthreads();
#pragma unroll
    for (int a = 0; a < 32; a++) v[a] = line[a * (Q + 2) + j];
    line_turn<Q, false>(v, turns, j);
    dft<1, 32>(v);
  }
#pragma unroll
  for (int m = 0; m < 32; m++) at[m * STEP] = v[m];
}

#endif
