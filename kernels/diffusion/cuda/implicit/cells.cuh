/* Pointwise kernels of implicit steps: the entries of the Jacobian, and their products. Device code for NVRTC, with
 * `real`. */
#ifndef DIFFUSION_CUDA_CELLS_CUH
#define DIFFUSION_CUDA_CELLS_CUH

#include "kernels/diffusion/cuda/general/pointwise.cuh"

/* Calls work(u, d, x, number) for each cell with its fields, derivatives and position, as rates_of does for rates. With
 * CHANGES the fields and fluxes that it leaves in u and d replace them. number: of the cell in a field. */
template <typename Rates, bool CHANGES, typename Work>
__device__ __forceinline__ void each_cell(real *fields, real *derivatives, const diffusion_layout &p, Work work) {
  constexpr int FIELDS = Rates::FIELDS, SLOPES = Rates::SLOPES, FLUXES = Rates::FLUXES;
  constexpr int MORE = SLOPES > FLUXES ? SLOPES : FLUXES;
  const long long rows = p.n[1] * p.n[2];
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < rows;
       row += (long long)gridDim.x * blockDim.y) {
    const long long b = layout_cell(p.kind[1], p.n[1], row % p.n[1]), c = layout_cell(p.kind[2], p.n[2], row / p.n[1]);
    const bool turned = layout_negated(p.kind[1], b) != layout_negated(p.kind[2], c);
    const double cy = layout_centre(p, 1, b), cz = layout_centre(p, 2, p.first + c);
    for (long long at = blockIdx.y * (long long)blockDim.x + threadIdx.x; at < p.n[0];
         at += (long long)gridDim.y * blockDim.x) {
      const long long number = row * p.row + at, a = layout_cell(p.kind[0], p.n[0], at);
      const real sign = turned != layout_negated(p.kind[0], a) ? -1 : 1;
      const double centres[3] = {layout_centre(p, 0, a), cy, cz};
      double x[3] = {0, 0, 0};
      real u[FIELDS], d[MORE > 0 ? MORE : 1];
#pragma unroll
      for (int i = 0; i < 3; i++)
#pragma unroll
        for (int k = 0; k < 3; k++)
          if (p.axis[i] == k) x[k] = centres[i];
#pragma unroll
      for (int f = 0; f < FIELDS; f++) u[f] = sign * fields[number + f * p.field];
#pragma unroll
      for (int g = 0; g < SLOPES; g++) {
        const bool other = (Rates::turned(0) >> g & 1 && a % 2 != 0) || (Rates::turned(1) >> g & 1 && b % 2 != 0) ||
                           (Rates::turned(2) >> g & 1 && c % 2 != 0);
        d[g] = (other ? -sign : sign) * derivatives[number + g * p.field];
      }
      work(u, d, x, number);
      if (!CHANGES) continue;
#pragma unroll
      for (int f = 0; f < FIELDS; f++) fields[number + f * p.field] = sign * u[f];
#pragma unroll
      for (int f = 0; f < FLUXES; f++) derivatives[number + f * p.field] = sign * d[f];
    }
  }
}

#endif
