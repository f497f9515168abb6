/* A step of all cells without links, each from the moments of its neighbours in memory: for grids that the marching
 * kernel does not make (D2Q9, D3Q27, and those narrower than its tiles), and its plain twin. */
#ifndef FLUID_CUDA_PLAIN_CUH
#define FLUID_CUDA_PLAIN_CUH

#include "kernels/fluid/cuda/step.cuh"

constexpr int FLUID_PLAIN_ROWS = 8; /* a block is 32 cells x as many rows */

/* The cell of a thread. */
template <int Q, bool FORCE, bool EDDY, bool HEAT, typename real, typename laws>
__device__ __forceinline__ void step_plain(const fluid_step<real> &s, const laws &law) {
  after_previous();
  const unsigned group = blockIdx.x % (unsigned)s.l.groups;
  const int x = (int)(group * FLUID_GROUP + threadIdx.x % FLUID_GROUP);
  const unsigned long long step = *s.step + 1;
  if (blockIdx.x == 0 && threadIdx.x == 0) *s.next = step;
  const size_t each = fluid_rank(Q) == 3 ? (size_t)s.l.n[1] : 1; /* rows of a plane */
  const size_t row = (size_t)s.begin * each + (size_t)(blockIdx.x / (unsigned)s.l.groups) * FLUID_PLAIN_ROWS +
                     threadIdx.x / FLUID_GROUP;
  if (x >= s.l.n[0] || row >= (size_t)s.end * each || is_skipped(s, x, row)) return;
  const int y = (int)(row % (size_t)s.l.n[1]), z = (int)(row / (size_t)s.l.n[1]);
  const size_t place = fluid_place(s.l, x, row);
  constexpr int RANK = fluid_rank(Q), numbers = fluid_numbers_of_cell(RANK, HEAT);
  real m[numbers], d[Q], warm[2 * RANK], rho1;
  fluid_sums<RANK, real> sums;
  load_cell<numbers>(s.from + place, m);
  gather<Q, 1>(s.l, s.from, x, y, z, m, d);
  if constexpr (HEAT) gather_warm<RANK, 1>(s.l, s.from, x, y, z, m, warm);
  sum_directions<Q>(d, &sums);
  const real square =
      step_cell<Q, FORCE, EDDY, HEAT>(s.k, s.w, sums, warm, m, &rho1, law.of(s, s.from + place, x, row));
  store_cell<numbers>(s.to + place, m);
  look<HEAT>(s, step, x, row, rho1, square, m[numbers - 1 - RANK]);
}

template <int Q, bool FORCE, bool EDDY, bool HEAT, typename real>
__global__ void __launch_bounds__(32 * FLUID_PLAIN_ROWS) step_cells(const fluid_step<real> s) {
  step_plain<Q, FORCE, EDDY, HEAT>(s, fluid_no_law());
}

#endif
