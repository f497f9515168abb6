/* Viscosities that are functions of the shear rate and the temperature on the GPU: steps of cells by the plain kernel,
 * compiled with the scenario's function when a run begins (laws_text.c). Twin: cpu/rheology.h, whose equations these
 * are, and rheology.c. Relaxation times are found in double. */
#ifndef FLUID_CUDA_RHEOLOGY_CUH
#define FLUID_CUDA_RHEOLOGY_CUH

#include "kernels/fluid/cuda/links.cuh"
#include "kernels/fluid/cuda/measure.cuh"
#include "kernels/fluid/cuda/plain.cuh"

/* Rates of relaxation [cells]: those of the step before are first guesses. */
template <typename real> struct fluid_rheology_step {
  const real *from;
  real *to;
  const real *push;                   /* [RANK][cells]: a force that is a function, of the state before; or NULL */
  double per_stress, scale, rounding; /* as of fluid_rheology */
  double shift, unit;                 /* of temperatures: shift + unit times the number of a cell */
  fluid_law_guard *guard;
};

/* A cell whose relaxation time is out of range. */
static __device__ __noinline__ void tell_tau(fluid_law_guard *guard, unsigned long long step, unsigned cell,
                                             double tau) {
  if (*(volatile unsigned long long *)&guard->tau_step < step) return;
  if (atomicMin(&guard->tau_step, step) < step) return;
  atomicMax(&guard->tau_key, (unsigned long long)~cell << 32 | __float_as_uint((float)tau));
}

/* tau at a shear rate, within its range; a viscosity that is not a number has the shortest one. */
template <typename law> __device__ __forceinline__ double tau_of(double scale, double shear, double T) {
  const double at = 0.5 + scale * law::viscosity(shear, T);
  return !(at >= FLUID_TAU_LEAST) ? FLUID_TAU_LEAST : fmin(at, FLUID_TAU_MOST);
}

/* The relaxation time of a cell with the stress |Q|/rho; guess: that of the step before, or 0. As `solve` and `advance`
 * of cpu/rheology.c. */
template <typename law>
__device__ __noinline__ double solve_tau(double per_stress, double scale, double rounding, double stress, double T,
                                         double guess) {
  enum { ROUNDS = 240 }; /* 60 of them halve the bounds */
  double low = FLUID_TAU_LEAST, high = FLUID_TAU_MOST, before = 0, last = 0;
  double tau = guess >= FLUID_TAU_LEAST && guess <= FLUID_TAU_MOST ? guess : 1;
#pragma unroll 1
  for (int round = 0; round < ROUNDS; round++) {
    const double here = tau, miss = tau_of<law>(scale, per_stress * stress / here, T) - here;
    if (miss > 0)
      low = here;
    else
      high = here;
    if (fabs(miss) <= rounding * here || high - low <= rounding * here) break;
    double next = before > 0 ? here - miss * (here - before) / (miss - last) : here + miss;
    if (!(next >= low && next <= high) || next == here || round % 4 == 3) next = sqrt(low * high);
    before = here;
    last = miss;
    tau = next;
  }
  return tau;
}

/* The law of one cell, for `collide`. */
template <typename law, typename real> struct fluid_cell_law {
  static constexpr bool GIVEN = true;
  const fluid_rheology_step<real> &r;
  size_t cell;
  double T;
  unsigned long long step;
  __device__ __forceinline__ real rate(real stress) const {
    const real old = r.from[cell];
    const double guess = old > 0 ? 1 / (double)old : 0;
    const real out = (real)(1 / solve_tau<law>(r.per_stress, r.scale, r.rounding, (double)stress, T, guess));
    const double tau = 1 / (double)out, slack = 4 * r.rounding;
    if (!(tau > FLUID_TAU_LEAST * (1 + slack) && tau < FLUID_TAU_MOST * (1 - slack)))
      tell_tau(r.guard, step, (unsigned)cell, tau);
    r.to[cell] = out;
    return out;
  }
};

/* The laws of all cells; HEAT: their temperatures before the step stand behind the moments. */
template <typename law, int RANK, bool HEAT, typename real> struct fluid_cell_laws {
  static constexpr bool GIVEN = true;
  fluid_rheology_step<real> r;
  __device__ __forceinline__ fluid_cell_law<law, real> of(const fluid_step<real> &s, const real *cell, int x,
                                                          size_t row) const {
    const double T = HEAT ? r.shift + r.unit * (double)cell[fluid_moments(RANK) * FLUID_GROUP] : 0;
    return {r, row * (size_t)s.l.n[0] + (size_t)x, T, *s.step + 1};
  }
};

/* The rate of eddies, as `collide` finds it, which is stored: a force that is a function needs it with heat. */
template <typename real> struct fluid_eddy_law {
  static constexpr bool GIVEN = true;
  const fluid_factors<real> &k;
  real *to;
  __device__ __forceinline__ real rate(real stress) const {
    return *to = 2 / (k.tau + square_root(multiply_add(k.eddy, stress, k.tau_square)));
  }
};
template <typename real> struct fluid_eddy_laws {
  static constexpr bool GIVEN = true;
  fluid_rheology_step<real> r;
  __device__ __forceinline__ fluid_eddy_law<real> of(const fluid_step<real> &s, const real *, int x, size_t row) const {
    return {s.k, r.to + row * (size_t)s.l.n[0] + (size_t)x};
  }
};

/* Of the first state. */
template <typename law> struct fluid_law_tau {
  double scale;
  template <typename view> __device__ __forceinline__ double of(const view &v, double shear, int x, size_t row) const {
    return tau_of<law>(scale, shear, v.heat ? v.warm.shown[row * (size_t)v.l.n[0] + (size_t)x] : 0);
  }
};

#endif
