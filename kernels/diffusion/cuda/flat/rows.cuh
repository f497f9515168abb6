/* The first of two passes of a stage on a grid with two axes: inverse transform of rows of all fields from mixed, the
 * rates, and forward transform. Two neighbouring rows, A and B, are transformed as one complex line: W(k) = A + i B,
 * W(nx - k) = conj A + i conj B. The forward result is twice the coefficients; the scale of the columns makes up for
 * that. */
#ifndef DIFFUSION_CUDA_FLAT_ROWS_CUH
#define DIFFUSION_CUDA_FLAT_ROWS_CUH

#include "kernels/diffusion/cuda/flat/flat.cuh"
#include "kernels/diffusion/cuda/flat/lines.cuh"

enum { FLAT_STEP, FLAT_LOAD, FLAT_STORE };

/* L pairs of rows. Mixed numbers A, B of wavenumber j + T m, m < 8, are STEP float4s apart. */
template <int NX, int NY, int L> struct flat_rows {
  typedef flat_line<NX, L> line;
  enum { T = line::T, THREADS = L * T, FIRST = FLAT_WIDE, STEP = T * (NY / 2) };
};

template <int NX, int NY, int L>
__device__ __forceinline__ void flat_rows_in(float2 *v, const float4 *mixed, float2 *from, int j, float2 *to, int s,
                                             const float2 *turns) {
  typedef flat_rows<NX, NY, L> S;
  float2 other[8];
#pragma unroll
  for (int m = 0; m < 8; m++) {
    const float4 two = mixed[(long long)m * S::STEP];
    v[m] = float2{two.x - two.w, two.y + two.z};
    other[m] = float2{two.x + two.w, two.z - two.y};
    if (m == 0 && j == 0) { /* real coefficients */
      const float4 last = mixed[8LL * S::STEP];
      v[0] = float2{two.x, two.z};
      other[0] = float2{last.x, last.z};
    }
  }
#pragma unroll
  for (int m = 0; m < 8; m++) from[m == 0 && j == 0 ? NX / 2 : NX - (j + S::T * m)] = other[m];
  __syncthreads();
#pragma unroll
  for (int m = 8; m < 16; m++) v[m] = from[j + S::T * m];
  __syncthreads();
  flat_out<typename S::line, 1>(v, from, j, to, s, turns);
}

template <int NX, int NY, int L>
__device__ __forceinline__ void flat_rows_out(float2 *v, float4 *mixed, float2 *from, int j, float2 *to, int s,
                                              const float2 *turns) {
  typedef flat_rows<NX, NY, L> S;
  flat_back<typename S::line, -1>(v, from, j, to, s, turns);
  __syncthreads();
#pragma unroll
  for (int m = 8; m < 16; m++) from[j + S::T * m] = v[m];
  __syncthreads();
#pragma unroll
  for (int m = 0; m < 8; m++) {
    const float2 k = v[m], n = m == 0 && j == 0 ? k : from[NX - (j + S::T * m)];
    mixed[(long long)m * S::STEP] = float4{k.x + n.x, k.y - n.y, k.y + n.y, n.x - k.x};
  }
  if (j == 0) mixed[8LL * S::STEP] = float4{2 * v[8].x, 0, 2 * v[8].y, 0};
}

/* One thread block: L pairs of rows, of all fields in turn; in a load or a store of field blockIdx.y. */
template <typename Rates, int NX, int NY, int L, int MODE>
__device__ __forceinline__ void rows_of(const diffusion_flat &g, double t, double h, int times) {
  typedef flat_rows<NX, NY, L> S;
  constexpr int C = S::line::C, T = S::T, FIELDS = MODE == FLAT_STEP ? (int)Rates::FIELDS : 1;
  extern __shared__ float4 shared[];
  float2 *lines = (float2 *)shared;
  const int j = threadIdx.x / L, own = threadIdx.x % L, s = threadIdx.x % T, line = threadIdx.x / T;
  float2 *const from = lines + own * S::line::PITCH, *const to = lines + line * S::line::PITCH;
  float4 *mixed =
      (float4 *)g.mixed + ((long long)(j / FLAT_WIDE) * (NY / 2) + (blockIdx.x * L + own)) * FLAT_WIDE + j % FLAT_WIDE;
  const float2 *turns = (const float2 *)g.turns_x;
  const int y = 2 * (blockIdx.x * L + line), x0 = s / C + 16 * (s % C); /* first row, and x of v[0] */
  float2 v[FIELDS][16];
  if (MODE != FLAT_STEP) mixed += blockIdx.y * (g.field / 2);
  if (MODE != FLAT_LOAD) {
#pragma unroll
    for (int f = 0; f < FIELDS; f++) {
      if (f > 0) __syncthreads();
      flat_rows_in<NX, NY, L>(v[f], mixed + f * (g.field / 2), from, j, to, s, turns);
    }
  }
  if (MODE == FLAT_STEP) {
    const float cy = (float)(((double)y + 0.5) * g.size[1] / NY), dy = (float)(((double)y + 1.5) * g.size[1] / NY);
#pragma unroll
    for (int i = 0; i < 16; i++) {
      const float cx = (float)(((double)(x0 + 16 * C * (i / C) + 256 * (i % C)) + 0.5) * g.size[0] / NX);
      float a[FIELDS], b[FIELDS];
#pragma unroll
      for (int f = 0; f < FIELDS; f++) a[f] = v[f][i].x, b[f] = v[f][i].y;
      for (int time = 0; time < times; time++) {
        const float at = (float)(t + time * h);
        Rates::of(a, cx, cy, 0, at, (float)h);
        Rates::of(b, cx, dy, 0, at, (float)h);
      }
#pragma unroll
      for (int f = 0; f < FIELDS; f++) v[f][i] = float2{a[f], b[f]};
    }
  } else {
    float *real = g.real + blockIdx.y * g.cells + (long long)y * NX + x0;
#pragma unroll
    for (int i = 0; i < 16; i++) {
      const int at = 16 * C * (i / C) + 256 * (i % C);
      if (MODE == FLAT_STORE) {
        real[at] = v[0][i].x;
        real[at + NX] = v[0][i].y;
      } else {
        v[0][i] = float2{real[at], real[at + NX]};
      }
    }
  }
  if (MODE != FLAT_STORE) {
#pragma unroll
    for (int f = 0; f < FIELDS; f++) {
      if (f > 0) __syncthreads();
      flat_rows_out<NX, NY, L>(v[f], mixed + f * (g.field / 2), from, j, to, s, turns);
    }
  }
}

#endif
