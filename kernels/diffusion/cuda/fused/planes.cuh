/* The first of two passes of a step: for 32 rows of a plane, the inverse transform along y of 32 points and along x,
 * the rates, and both forward again. fp32, periodic, NX = 32 QX and NY = 32 QY.
 *
 * Between the passes row y1 + QY k2 of a plane belongs to y = y1 + QY y2 and ky = k2 + 32 k1: it is transformed
 * along x and over y2. A row has NX / 2 complex numbers; the first one holds wavenumbers 0 and NX / 2, whose columns
 * are real before the transforms along y and z. Two rows are transformed as one complex line. */
#ifndef DIFFUSION_CUDA_FUSED_PLANES_CUH
#define DIFFUSION_CUDA_FUSED_PLANES_CUH

#include "kernels/diffusion/cuda/dft.cuh"
#include "kernels/diffusion/cuda/fused/fused.cuh"

enum { PLANES_STEP, PLANES_LOAD, PLANES_STORE };

/* Combines rows 2p and 2p + 1 of wavenumbers k and NX - k in one line. The other function separates them again, which
 * gives twice the coefficients. */
template <int NX> __device__ __forceinline__ void planes_tangle(float2 *lines, int pitch, int c, const float2 *v) {
  const int other = c ? NX - c : NX / 2;
#pragma unroll
  for (int p = 0; p < 16; p++) {
    const float2 a = v[2 * p], b = v[2 * p + 1];
    lines[p * pitch + c] = c ? float2{a.x - b.y, a.y + b.x} : float2{a.x, b.x};
    lines[p * pitch + other] = c ? float2{a.x + b.y, b.x - a.y} : float2{a.y, b.y};
  }
}
template <int NX>
__device__ __forceinline__ void planes_untangle(const float2 *lines, int pitch, int c, float nyquist, float2 *v) {
  const int other = c ? NX - c : NX / 2;
  const float twice = 2 * nyquist;
#pragma unroll
  for (int p = 0; p < 16; p++) {
    const float2 k = lines[p * pitch + c], m = lines[p * pitch + other];
    v[2 * p] = c ? float2{k.x + m.x, k.y - m.y} : float2{2 * k.x, twice * m.x};
    v[2 * p + 1] = c ? float2{k.y + m.y, m.x - k.x} : float2{2 * k.y, twice * m.y};
  }
}

/* One field from mixed rows to real numbers: v[QX i + b] is x = j + QX i + 32 b of row 2p (re) and row 2p + 1 (im). */
template <int NX, int NY>
__device__ __forceinline__ void planes_inverse(float2 *v, const float2 *column, float2 *lines, const float4 *turns) {
  constexpr int QX = NX / 32, QY = NY / 32, PITCH = line_pitch<QX>();
  const int j = threadIdx.x % QX;
  float2 *line = lines + threadIdx.x / QX * PITCH;
#pragma unroll
  for (int k2 = 0; k2 < 32; k2++) v[k2] = column[(long long)QY * k2 * (NX / 2)];
  dft<1, 32>(v);
  planes_tangle<NX>(lines, PITCH, threadIdx.x, v);
  __syncthreads();
#pragma unroll
  for (int m = 0; m < 32; m++) v[m] = line[j + QX * m];
  line_out<QX, 1>(v, line, turns, j);
}

template <int NX, int NY>
__device__ __forceinline__ void planes_forward(float2 *v, float2 *column, float2 *lines, const float4 *turns,
                                               float nyquist) {
  constexpr int QX = NX / 32, QY = NY / 32, PITCH = line_pitch<QX>();
  const int j = threadIdx.x % QX;
  float2 *line = lines + threadIdx.x / QX * PITCH;
  line_back<QX, -1>(v, line, j);
  line_end<QX, -1>(v, turns, j);
  warp_barrier();
#pragma unroll
  for (int m = 0; m < 32; m++) line[j + QX * m] = v[m];
  __syncthreads();
  planes_untangle<NX>(lines, PITCH, threadIdx.x, nyquist, v);
  dft<-1, 32>(v);
#pragma unroll
  for (int k2 = 0; k2 < 32; k2++) column[(long long)QY * k2 * (NX / 2)] = v[k2];
}

/* One thread block: (z, y1), all fields in turn. */
template <typename Rates, int NX, int NY, int MODE, int TIMES>
__device__ __forceinline__ void planes_pass(const diffusion_fused &g, double t, double h) {
  constexpr int QX = NX / 32, QY = NY / 32, FIELDS = MODE == PLANES_STEP ? (int)Rates::FIELDS : 1;
  extern __shared__ float4 shared[];
  float2 *lines = (float2 *)shared;
  const long long z = blockIdx.x / QY;
  const int y1 = blockIdx.x % QY, p = threadIdx.x / QX, j = threadIdx.x % QX;
  float2 *column = (float2 *)g.mixed + (z * NY + y1) * (NX / 2) + threadIdx.x;
  float *row = g.real + (z * NY + y1 + 2 * QY * p) * NX; /* the first of two rows */
  const float4 *turns = (const float4 *)g.turns_x;
  float2 v[FIELDS][32];
  if (MODE != PLANES_LOAD) {
#pragma unroll
    for (int f = 0; f < FIELDS; f++) {
      if (f > 0) __syncthreads();
      planes_inverse<NX, NY>(v[f], column + f * g.field / 2, lines, turns);
    }
  }
  if (MODE == PLANES_STEP) {
    const float cy = (float)(((double)(y1 + 2 * QY * p) + 0.5) * g.size[1] / NY);
    const float dy = (float)(((double)(y1 + 2 * QY * p + QY) + 0.5) * g.size[1] / NY);
    const float cz = (float)(((double)z + 0.5) * g.size[2] / (double)g.nz);
#pragma unroll
    for (int i = 0; i < 32; i++) {
      const int x = j + QX * (i / QX) + 32 * (i % QX);
      const float cx = (float)(((double)x + 0.5) * g.size[0] / NX);
      float a[FIELDS], b[FIELDS];
#pragma unroll
      for (int f = 0; f < FIELDS; f++) a[f] = v[f][i].x, b[f] = v[f][i].y;
#pragma unroll
      for (int time = 0; time < TIMES; time++) {
        const float at = (float)(t + time * h);
        Rates::of(a, cx, cy, cz, at, (float)h);
        Rates::of(b, cx, dy, cz, at, (float)h);
      }
#pragma unroll
      for (int f = 0; f < FIELDS; f++) v[f][i] = float2{a[f], b[f]};
    }
  } else {
#pragma unroll
    for (int i = 0; i < 32; i++) {
      const int x = j + QX * (i / QX) + 32 * (i % QX);
      if (MODE == PLANES_STORE) {
        row[x] = v[0][i].x;
        row[(long long)QY * NX + x] = v[0][i].y;
      } else {
        v[0][i] = float2{row[x], row[(long long)QY * NX + x]};
      }
    }
  }
  if (MODE != PLANES_STORE) {
#pragma unroll
    for (int f = 0; f < FIELDS; f++) {
      if (f > 0) __syncthreads();
      planes_forward<NX, NY>(v[f], column + f * g.field / 2, lines, turns, g.nyquist[f]);
    }
  }
}

#endif
