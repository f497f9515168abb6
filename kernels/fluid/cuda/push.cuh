/* Forces by mass that are functions of place, time, velocity and temperature on the GPU: one pass over the cells after
 * a step, compiled with the scenario's function when a run begins (laws_text.c). Twin: cpu/push.c, whose equations
 * these are. All arithmetic is in double.
 *
 * With heat the pass comes last: the step has added the buoyancy and made the flux of the temperature with velocities
 * that have no half of this force, of which the flux is linear. What it lacks is added here:
 * (1 + omega/2) g/2 T + (1 - omega/2) g_old/2 T_old. */
#ifndef FLUID_CUDA_PUSH_CUH
#define FLUID_CUDA_PUSH_CUH

#include "kernels/fluid/cuda/step.cuh"

template <typename real> struct fluid_push_step {
  fluid_layout l;
  fluid_factors<real> k;
  const uint32_t *solid; /* bits of solid cells; NULL: none */
  const real *from;      /* the state before the step; of the start NULL */
  real *to;              /* the state that gets the force */
  const real *rates;     /* [cells]: rates of relaxation of the flow where eddies carry heat; else NULL */
  const real *old;       /* [rank][cells]: the force of the step before, in cells per step^2; of the start NULL */
  real *force;           /* [rank][cells]: this one */
  const double *shown;   /* [cells]: temperatures of the start; without heat NULL */
  double g[3], size[3], dt, unit; /* size of the box; unit: a cell per step; in the scenario's units */
  int n[3], below;                /* cells of the box; of its planes along the last axis, those below plane 0 here */
  double shift, scale;
  fluid_warm_law warm;
  fluid_law_guard *guard;
  const unsigned long long *step; /* number of the step that is made; of the start NULL: 0 */
};

/* A cell whose force is not found, with its velocity. */
static __device__ __noinline__ void tell_lost(fluid_law_guard *guard, unsigned long long step, unsigned cell,
                                              const double *u) {
  if (*(volatile unsigned long long *)&guard->push_step < step) return;
  if (atomicMin(&guard->push_step, step) < step) return;
  for (int a = 0; a < 3; a++)
    atomicMax(&guard->push_key[a], (unsigned long long)~cell << 32 | __float_as_uint((float)u[a]));
}

/* A step of Newton's method, share times: as `improve` of cpu/push.c, for the velocity u of one cell. Returns whether
 * the velocity is known. */
template <int RANK, typename law>
__device__ inline bool improve(const double *star, double half, double share, const double *f,
                               const double (*slope)[RANK], double *u) {
  double a[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, miss[3] = {0, 0, 0}, minor[3][3], size = 0, change = 0;
#pragma unroll
  for (int k = 0; k < RANK; k++) {
    miss[k] = star[k] + half * f[k] - u[k];
#pragma unroll
    for (int b = 0; b < RANK; b++) a[k][b] -= half * slope[b][k];
  }
  if (miss[0] == 0 && miss[1] == 0 && miss[2] == 0) return true; /* as where no force acts */
#pragma unroll
  for (int k = 0; k < 3; k++)
#pragma unroll
    for (int b = 0; b < 3; b++) {
      const int p = (k + 1) % 3, q = (k + 2) % 3, r = (b + 1) % 3, s = (b + 2) % 3;
      minor[k][b] = a[p][r] * a[q][s] - a[p][s] * a[q][r];
    }
  const double det = a[0][0] * minor[0][0] + a[0][1] * minor[0][1] + a[0][2] * minor[0][2];
  const bool useful = isfinite(det) && fabs(det) > 1e-12;
#pragma unroll
  for (int k = 0; k < RANK; k++) {
    double step = (minor[0][k] * miss[0] + minor[1][k] * miss[1] + minor[2][k] * miss[2]) / det;
    if (!useful) step = miss[k];
    u[k] += share * step;
    size = fmax(size, fabs(star[k]) + fabs(half * f[k]));
    change = isnan(step) ? step : fmax(change, fabs(step));
  }
  return change <= 8e-15 * size || (law::LINEAR && useful && isfinite(change));
}

/* Finds the force f[RANK] at in[8]: x, y, z, t, ux, uy, uz, T, whose velocity has first none of it, as star[RANK], and
 * then half; START: at this velocity. Returns false where there is none. */
template <int RANK, bool START, typename law>
__device__ __forceinline__ bool solve_force(const double *star, double half, double *in, double *f) {
  enum { ROUNDS = 60, WHOLE = 20 }; /* later steps are halved: they may go to and fro */
  if constexpr (START || !law::DEPENDS) {
    law::of(in, f);
    return true;
  } else {
    double *u = in + 4;
    bool known = false;
#pragma unroll 1
    for (int round = 0; round < ROUNDS && !known; round++) {
      double slope[RANK][RANK];
      law::of(in, f);
      law::slopes(in, slope);
      known = improve<RANK, law>(star, half, round < WHOLE ? 1 : 0.5, f, slope, u);
    }
#pragma unroll
    for (int a = 0; a < RANK; a++) f[a] = (u[a] - star[a]) / half;
    return known;
  }
}

/* Adds to the flux of the temperature what the step has left out. m: a cell after the step; from: before it. */
template <int RANK, typename real>
__device__ __forceinline__ void push_flux(const fluid_push_step<real> &s, const real *from, size_t cell, size_t cells,
                                          const double *g, real *m) {
  constexpr int T = fluid_moments(RANK);
  double omega = s.warm.omega;
  if (s.rates) omega = 1 / (1 / omega + s.warm.conduct * (1 / (double)s.rates[cell] - s.warm.flow_tau));
  const double now = (1 + omega / 2) / 2 * (double)m[T], then = (1 - omega / 2) / 2 * (double)from[T * FLUID_GROUP];
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    const real old = m[T + 1 + a],
               sum = (real)((double)old + (now * g[a] + then * (double)s.old[(size_t)a * cells + cell]));
    if constexpr (sizeof(real) == 4) /* its last bits hold what rounding took from T */
      m[T + 1 + a] = __uint_as_float(merge(__float_as_uint(sum), __float_as_uint(old), fluid_warm_rest<RANK>::MASK));
    else
      m[T + 1 + a] = sum;
  }
}

/* Finds the force of a cell at time t, and adds it; START: half of it, to a state that has no temperatures yet. */
template <int RANK, bool HEAT, bool START, typename law, typename real>
__device__ __forceinline__ void push_cell(const fluid_push_step<real> &s, int x, size_t row, double t,
                                          unsigned long long step) {
  constexpr bool WARM = HEAT && !START;
  constexpr int N = fluid_moments(RANK), COUNT = fluid_numbers_of_cell(RANK, WARM);
  const size_t cells = (size_t)s.l.n[0] * (size_t)s.l.n[1] * (size_t)s.l.n[2], cell = row * (size_t)s.l.n[0] + x;
  const size_t place = fluid_place(s.l, x, row);
  const int y = (int)(row % (size_t)s.l.n[1]), z = (int)(row / (size_t)s.l.n[1]);
  real m[COUNT];
  double u[RANK], star[RANK], g[RANK] = {}, in[8] = {}, moved[3] = {};
  load_cell<COUNT>(s.to + place, m);
  const double rho = 1 + excess_of<RANK>(m), light = (1.0 / 3) / rho;
  in[0] = ((double)x + 0.5) * s.size[0] / s.n[0];
  in[1] = ((double)(RANK == 2 ? y + s.below : y) + 0.5) * s.size[1] / s.n[1];
  if constexpr (RANK == 3) in[2] = ((double)(z + s.below) + 0.5) * s.size[2] / s.n[2];
  in[3] = t;
  if constexpr (WARM) in[7] = s.shift + s.scale * (double)m[N];
  if constexpr (HEAT && START) in[7] = s.shown[cell];
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    u[a] = (double)m[1 + a] * light;
    moved[a] = u[a] * s.unit;
    u[a] -= 0.5 * s.g[a];
    if constexpr (WARM) u[a] += 0.5 * s.warm.push[a] * ((double)m[N] - s.warm.reference); /* minus half the buoyancy */
    in[4 + a] = star[a] = u[a] * s.unit;
  }
  bool found = solve_force<RANK, START, law>(star, s.dt / 2, in, g);
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    g[a] *= s.dt / s.unit;
    found = found && isfinite(g[a]);
  }
  if (!found) {
#pragma unroll
    for (int a = 0; a < RANK; a++) s.force[(size_t)a * cells + cell] = (real)nan("");
    tell_lost(s.guard, step, (unsigned)cell, moved);
    return;
  }
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    s.force[(size_t)a * cells + cell] = (real)g[a];
    if constexpr (!START) u[a] += 0.5 * g[a];
  }
  add_buoyancy<RANK>(s.k, START ? 0.5 : 1, rho, u, g, m);
  if constexpr (WARM) push_flux<RANK>(s, s.from + place, cell, cells, g, m);
  store_cell<COUNT>(s.to + place, m);
}

/* The cells of this rank's planes; a block is 32 cells x FLUID_PUSH_ROWS rows. */
template <int RANK, bool HEAT, bool START, typename law, typename real>
__device__ __forceinline__ void push_cells(const fluid_push_step<real> &s) {
  after_previous();
  const unsigned group = blockIdx.x % (unsigned)s.l.groups;
  const int x = (int)(group * FLUID_GROUP + threadIdx.x % FLUID_GROUP);
  const size_t each = RANK == 3 ? (size_t)s.l.n[1] : 1; /* rows of a plane */
  const size_t row = (size_t)s.l.first * each + (size_t)(blockIdx.x / (unsigned)s.l.groups) * FLUID_PUSH_ROWS +
                     threadIdx.x / FLUID_GROUP;
  if (x >= s.l.n[0] || row >= (size_t)(s.l.first + s.l.own) * each) return;
  const unsigned long long step = START ? 0 : *s.step;
  if (fluid_has_bit(s.solid, s.l, x, row)) {
    const size_t cells = (size_t)s.l.n[0] * (size_t)s.l.n[1] * (size_t)s.l.n[2];
    for (int a = 0; a < RANK; a++) s.force[(size_t)a * cells + row * (size_t)s.l.n[0] + (size_t)x] = 0;
    return;
  }
  push_cell<RANK, HEAT, START, law>(s, x, row, (double)step * s.dt, step);
}

#endif
