/* What the kernels of a step share. */
#ifndef FLUID_CUDA_STEP_CUH
#define FLUID_CUDA_STEP_CUH

#include "kernels/common/device.cuh"
#include "kernels/fluid/cuda/heat.cuh"

/* A step from one state to another. */
template <typename real> struct fluid_step {
  fluid_layout l;
  /* Planes [begin, end) along the last axis are made. A block of the marching kernel makes `chunk` of them from
   * begin + k stride on. */
  int begin, end, stride, chunk;
  const real *from;
  real *to;
  const uint32_t *skip; /* [rows][groups]: cells that are solid or have links; NULL: none */
  fluid_factors<real> k;
  fluid_warm_factors<real> w;
  fluid_guard *guard;
  const unsigned long long *step; /* number of the last step */
  unsigned long long *next;       /* that of this one, written by the first thread of the first kernel */
};

/* COUNT numbers of a cell. */
template <int COUNT, typename real> __device__ __forceinline__ void load_cell(const real *from, real *m) {
#pragma unroll
  for (int i = 0; i < COUNT; i++) m[i] = from[i * FLUID_GROUP];
}
template <int COUNT, typename real> __device__ __forceinline__ void store_cell(real *to, const real *m) {
#pragma unroll
  for (int i = 0; i < COUNT; i++) to[i * FLUID_GROUP] = m[i];
}

/* A coordinate from -n to 2 n - 1, around the box. */
__device__ __forceinline__ int around(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

/* The place of the cell from which direction C arrives at the cell (x, y, z). */
template <int Q, int C> __device__ __forceinline__ size_t source_place(const fluid_layout &l, int x, int y, int z) {
  constexpr fluid_way w = fluid_way_of(Q, C);
  const size_t row = (size_t)around(z - w.along(2), l.n[2]) * (size_t)l.n[1] + (size_t)around(y - w.along(1), l.n[1]);
  return fluid_place(l, around(x - w.along(0), l.n[0]), row);
}

/* d[C - 1] for C and all directions after it, of a cell without links, from the moments of its neighbours. */
template <int Q, int C, typename real>
__device__ __forceinline__ void gather(const fluid_layout &l, const real *from, int x, int y, int z, const real *here,
                                       real *d) {
  if constexpr (C < Q) {
    real m[fluid_moments(fluid_rank(Q))];
    load_cell<fluid_moments(fluid_rank(Q))>(from + source_place<Q, C>(l, x, y, z),
                                            m); /* the compiler leaves out what C does not need */
    d[C] = population<Q, C>(m) - population<Q, C>(here);
    gather<Q, C + 1>(l, from, x, y, z, here, d);
  }
}

/* The same of the temperature, for the directions along axes. */
template <int RANK, int C, typename real>
__device__ __forceinline__ void gather_warm(const fluid_layout &l, const real *from, int x, int y, int z,
                                            const real *here, real *d) {
  if constexpr (C <= 2 * RANK) {
    const real *there = from + source_place<fluid_directions(RANK), C>(l, x, y, z) + fluid_moments(RANK) * FLUID_GROUP;
    d[C - 1] = warm_population_of<real>(C, there) - warm_population<C>(here + fluid_moments(RANK));
    gather_warm<RANK, C + 1>(l, from, x, y, z, here, d);
  }
}

template <typename real> __device__ __forceinline__ bool is_skipped(const fluid_step<real> &s, int x, size_t row) {
  return fluid_has_bit(s.skip, s.l, x, row);
}

/* Tells the guard of the temperature of a cell. */
template <typename real>
__device__ __forceinline__ void look_hot(const fluid_step<real> &s, unsigned long long step, int x, size_t row,
                                         real T) {
  if (!(T >= s.w.least && T <= s.w.most))
    tell_hot(s.guard, step, (unsigned)(row * (size_t)s.l.n[0] + (size_t)x), (float)T);
}

/* Tells the guards of a cell, whose squared speed may be at most `fast`. */
template <typename real>
__device__ __forceinline__ void look_at(fluid_guard *guard, unsigned long long step, unsigned cell, real fast,
                                        real fastest, real rho1, real square) {
  if (fabs(rho1) < (real)0.5 && square <= fast) return;
  const bool dense = !(fabs(rho1) < (real)0.5) || isnan(square);
  tell(guard, step, cell, dense, square > fastest, (float)rho1, (float)square);
}

/* Tells the guards of a cell after a step; T: its temperature. */
template <bool HEAT, typename real>
__device__ __forceinline__ void look(const fluid_step<real> &s, unsigned long long step, int x, size_t row, real rho1,
                                     real square, real T) {
  if constexpr (HEAT) look_hot(s, step, x, row, T);
  look_at(s.guard, step, (unsigned)(row * (size_t)s.l.n[0] + (size_t)x), s.k.fast, s.k.fastest, rho1, square);
}

#endif
