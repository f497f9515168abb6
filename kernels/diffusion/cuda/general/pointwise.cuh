/* Pointwise kernels: rates of real fields, and sums of products of coefficients. Device code for NVRTC, with `real`
 * and `pair` (re, im). */
#ifndef DIFFUSION_CUDA_POINTWISE_CUH
#define DIFFUSION_CUDA_POINTWISE_CUH

#include "kernels/diffusion/cuda/layout.cuh"
#include "kernels/diffusion/cuda/general/sums.cuh"

/* ---- rates ---- */

/* Stands in where the scenario has no rates. */
struct no_rates {
  enum { FIELDS = 1, SLOPES = 0, FLUXES = 0 };
  __device__ static constexpr unsigned long long turned(int) { return 0; }
  __device__ static __forceinline__ void of(real *, real, real, real, real, real, real * = nullptr) {}
};

__device__ inline double layout_centre(const diffusion_layout &p, int i, long long cell) {
  return ((double)cell + 0.5) * p.size[i] / (double)(i == 2 ? p.all : p.n[i]);
}

/* Thread blocks are (threads of a row) x (rows), with a grid-stride loop over both. With few fields a thread computes
 * four cells at a time. Derivatives have the layout of the fields, and fluxes replace them. A derivative along an axis
 * with walls has the other kind of series there. */
template <typename Rates>
__device__ __forceinline__ void rates_of(real *fields, real *derivatives, const diffusion_layout &p, double t, double h,
                                         int times) {
  constexpr int FIELDS = Rates::FIELDS, SLOPES = Rates::SLOPES, FLUXES = Rates::FLUXES;
  constexpr int MORE = SLOPES > FLUXES ? SLOPES : FLUXES, FLIGHT = FIELDS + MORE <= 2 ? 4 : 1;
  const long long rows = p.n[1] * p.n[2], step = (long long)gridDim.y * blockDim.x;
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < rows;
       row += (long long)gridDim.x * blockDim.y) {
    const long long b = layout_cell(p.kind[1], p.n[1], row % p.n[1]), c = layout_cell(p.kind[2], p.n[2], row / p.n[1]);
    const bool turned = layout_negated(p.kind[1], b) != layout_negated(p.kind[2], c);
    const double cy = layout_centre(p, 1, b), cz = layout_centre(p, 2, p.first + c);
    real *from = fields + row * p.row;
    real *slopes = derivatives + row * p.row;
    for (long long first = blockIdx.y * (long long)blockDim.x + threadIdx.x; first < p.n[0]; first += FLIGHT * step) {
      real u[FLIGHT][FIELDS], d[FLIGHT][MORE > 0 ? MORE : 1];
#pragma unroll
      for (int q = 0; q < FLIGHT; q++)
#pragma unroll
        for (int f = 0; f < FIELDS; f++)
          if (first + q * step < p.n[0]) u[q][f] = from[first + q * step + f * p.field];
#pragma unroll
      for (int q = 0; q < FLIGHT; q++)
#pragma unroll
        for (int g = 0; g < SLOPES; g++)
          if (first + q * step < p.n[0]) d[q][g] = slopes[first + q * step + g * p.field];
#pragma unroll
      for (int q = 0; q < FLIGHT; q++) {
        const long long at = first + q * step, a = layout_cell(p.kind[0], p.n[0], at);
        if (at >= p.n[0]) break;
        const real sign = turned != layout_negated(p.kind[0], a) ? -1 : 1;
        const double centres[3] = {layout_centre(p, 0, a), cy, cz};
        double x[3] = {0, 0, 0};
#pragma unroll
        for (int i = 0; i < 3; i++)
#pragma unroll
          for (int k = 0; k < 3; k++)
            if (p.axis[i] == k) x[k] = centres[i];
#pragma unroll
        for (int f = 0; f < FIELDS; f++) u[q][f] *= sign;
#pragma unroll
        for (int g = 0; g < SLOPES; g++) {
          const bool other = (Rates::turned(0) >> g & 1 && a % 2 != 0) || (Rates::turned(1) >> g & 1 && b % 2 != 0) ||
                             (Rates::turned(2) >> g & 1 && c % 2 != 0);
          d[q][g] *= other ? -sign : sign;
        }
        for (int i = 0; i < times; i++)
          Rates::of(u[q], (real)x[0], (real)x[1], (real)x[2], (real)(t + i * h), (real)h, d[q]);
#pragma unroll
        for (int f = 0; f < FIELDS; f++) from[at + f * p.field] = sign * u[q][f];
#pragma unroll
        for (int f = 0; f < FLUXES; f++) slopes[at + f * p.field] = sign * d[q][f];
      }
    }
  }
}

/* ---- sums ---- */

template <typename T> __device__ inline T *at_of(void *data) { return (T *)data; }
template <typename T> __device__ inline const T *at_of(const void *data) { return (const T *)data; }

__device__ inline void added(pair &sum, real c, pair a) {
  sum.x += c * a.x;
  sum.y += c * a.y;
}
__device__ inline pair by_alike(pair a, const real *table, long long k) {
  const real w = table[k];
  return pair{a.x * w, a.y * w};
}
__device__ inline pair by_each(pair a, const real *table, long long k) {
  const pair w = ((const pair *)table)[k];
  return pair{a.x * w.x, a.y * w.y};
}
__device__ inline pair by_complex(pair a, const real *table, long long k) {
  const pair w = ((const pair *)table)[k];
  return pair{a.x * w.x - a.y * w.y, a.x * w.y + a.y * w.x};
}

/* Table entry of wavenumber k; unsigned tables have one entry for k and -k. */
__device__ inline long long table_entry(long long k, long long n, long long entries) { return k < entries ? k : n - k; }

template <typename Visit> __device__ __forceinline__ void visit(diffusion_sums s) {
#pragma unroll
  for (int a = 0; a < 6; a++) s.array[a] = (pair *)s.array[a] + blockIdx.z * s.field;
#pragma unroll
  for (int t = 0; t < 7; t++) s.table[t] = (const real *)s.table[t] + blockIdx.z * s.tables;
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < s.rows;
       row += (long long)gridDim.x * blockDim.y) {
    const long long line = row / s.wide, block = line / s.n[2]; /* as layout_wave */
    const long long b = table_entry(s.begin + block * s.wide + row % s.wide, s.n[1], s.table_n[1]);
    const long long c = table_entry(line % s.n[2], s.n[2], s.table_n[2]);
    const long long k = (c * s.table_n[1] + b) * s.table_n[0];
    for (long long a = blockIdx.y * (long long)blockDim.x + threadIdx.x; a < s.n[0];
         a += (long long)gridDim.y * blockDim.x)
      Visit::at(s, row * s.n[0] + a, k + a);
  }
}

#endif
