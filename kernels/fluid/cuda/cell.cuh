/* One step of one cell on the GPU: populations, their sums, collision, and the guards. Twin: cpu/row.inc.
 *
 * The state of a cell are the moments of cpu/kernels.h. A cell sends g_c = A + c.J + (what S adds), rounded once for
 * each sum in the order of `population`. A cell sums the differences d_c of what arrives and of what it sends itself
 * in the same direction: differences of neighbours are exact, and what leaves one cell arrives at another, so that mass
 * and momentum change by the rounding of these small sums alone. S of the cell itself is added to the sums by its known
 * moments.
 *
 * Single precision: what rounding takes from J in a step is kept as an integer in units of factors.unit, 10 bits an
 * axis (2-D: 9 bits), in the last bits of S: 5 (6) bits of each. A, and with it the mass, is made from S with these
 * bits. */
#ifndef FLUID_CUDA_CELL_CUH
#define FLUID_CUDA_CELL_CUH

#include "kernels/common/device.cuh"
#include "kernels/fluid/cuda/lattice.cuh"

template <typename real> struct fluid_factors {
  real keep, add, g[3], push[3], tau, tau_square, eddy; /* as in cpu/kernels.c */
  real unit, per_unit;                                  /* of the rests; 1 / (1022 unit), 2-D: 1 / (510 unit) */
  real fast, fastest;                                   /* squares of speeds that the guards know */
};

__device__ __forceinline__ float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ double multiply_add(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ __forceinline__ float square_root(float a) { return __fsqrt_rn(a); }
__device__ __forceinline__ double square_root(double a) { return __dsqrt_rn(a); }

/* 1 / a, for a near 1. */
__device__ __forceinline__ float inverse(float a) {
  const float near = approximate_inverse(a);
  return multiply_add(near, multiply_add(-a, near, 1), near);
}
__device__ __forceinline__ double inverse(double a) { return 1 / a; }

/* ---- populations ---- */

/* Third moments of a cell of D3Q27, and what they add to g of a direction. Twin: cpu/row27.inc. */
template <typename real> struct fluid_thirds { real xxy, xxz, yyx, yyz, zzx, zzy, xyz; };
template <typename real> __device__ __forceinline__ fluid_thirds<real> thirds_of(const real *m) {
  const real light = (real)(1.0 / 3) * inverse(1 + multiply_add((real)(1.0 / 3), m[4] + m[5] + m[6], m[0]));
  const real ux = m[1] * light, uy = m[2] * light, uz = m[3] * light;
  fluid_thirds<real> t;
  t.xxy = 3 * (ux * m[7] + uy * m[4]) - 9 * (m[1] * (ux * uy));
  t.xxz = 3 * (ux * m[8] + uz * m[4]) - 9 * (m[1] * (ux * uz));
  t.yyx = 3 * (uy * m[7] + ux * m[5]) - 9 * (m[2] * (uy * ux));
  t.yyz = 3 * (uy * m[9] + uz * m[5]) - 9 * (m[2] * (uy * uz));
  t.zzx = 3 * (uz * m[8] + ux * m[6]) - 9 * (m[3] * (uz * ux));
  t.zzy = 3 * (uz * m[9] + uy * m[6]) - 9 * (m[3] * (uz * uy));
  t.xyz = 3 * (ux * m[9] + uy * m[8] + uz * m[7]) - 18 * (m[1] * (uy * uz));
  return t;
}
template <int C, typename real> __device__ __forceinline__ real third_part(const fluid_thirds<real> &t) {
  constexpr fluid_way w = fluid_way_of(27, C);
  constexpr real third = (real)(1.0 / 3), rest = (real)(2.0 / 3);
  const real byx = t.yyx, bzx = t.zzx, bxy = t.xxy, bzy = t.zzy, bxz = t.xxz, byz = t.yyz;
  real out = 0;
  if constexpr (w.along(0) != 0)
    out += (real)w.along(0) * ((w.along(1) ? rest : -third) * byx + (w.along(2) ? rest : -third) * bzx);
  if constexpr (w.along(1) != 0)
    out += (real)w.along(1) * ((w.along(0) ? rest : -third) * bxy + (w.along(2) ? rest : -third) * bzy);
  if constexpr (w.along(2) != 0)
    out += (real)w.along(2) * ((w.along(0) ? rest : -third) * bxz + (w.along(1) ? rest : -third) * byz);
  if constexpr (w.axes == 3) out += (real)(w.along(0) * w.along(1) * w.along(2)) * t.xyz;
  return out;
}

/* g of a direction, of a cell with these moments. */
template <int Q, int C, typename real> __device__ __forceinline__ real population(const real *m) {
  constexpr int RANK = fluid_rank(Q);
  constexpr fluid_way w = fluid_way_of(Q, C);
  if constexpr (C == 0) {
    return m[0];
  } else if constexpr (Q == 27) {
    real even = 0, odd = 0;
#pragma unroll
    for (int a = 0; a < 3; a++) {
      if (w.along(a) == 0) continue;
      even += m[4 + a];
      odd += (real)w.along(a) * m[1 + a];
#pragma unroll
      for (int b = a + 1; b < 3; b++)
        if (w.along(b) != 0) even += (real)(w.along(a) * w.along(b)) * m[7 + a + b - 1];
    }
    return m[0] + even + (odd + third_part<C>(thirds_of(m)));
  } else if constexpr (w.axes == 1) {
    const real even = m[0] + m[1 + RANK + w.a];
    return w.sa > 0 ? even + m[1 + w.a] : even - m[1 + w.a];
  } else {
    constexpr int cross = 1 + 2 * RANK + w.a + w.b - 1;
    const real sum = m[0] + (m[1 + RANK + w.a] + m[1 + RANK + w.b]);
    const real even = w.sa == w.sb ? sum + m[cross] : sum - m[cross];
    const real odd = w.sa == w.sb ? m[1 + w.a] + m[1 + w.b] : m[1 + w.a] - m[1 + w.b];
    return w.sa > 0 ? even + odd : even - odd;
  }
}

/* ---- sums of differences d[direction], in units of 1/fluid_shares, the least weight ---- */

template <int RANK, typename real> struct fluid_sums {
  real dense, more[RANK], p[RANK == 2 ? 3 : 6]; /* p: xx, yy, (zz,) xy, (xz, yz) */
};

template <typename real> struct fluid_four { real even, odd, along, across, all; };
template <typename real> __device__ __forceinline__ fluid_four<real> sum_four(const real *d) {
  fluid_four<real> f;
  f.even = d[0] + d[1];
  f.odd = d[2] + d[3];
  f.along = d[0] - d[1];
  f.across = d[2] - d[3];
  f.all = f.even + f.odd;
  return f;
}

/* The corners of D3Q27, behind the sums of D3Q19 with weights of D3Q27. */
template <typename real> __device__ __forceinline__ void sum_corners(const real *d, fluid_sums<3, real> *out) {
  const real e0 = d[19] + d[20], e1 = d[21] + d[22], e2 = d[23] + d[24], e3 = d[25] + d[26];
  const real o0 = d[19] - d[20], o1 = d[21] - d[22], o2 = d[23] - d[24], o3 = d[25] - d[26];
  const real all = (e0 + e1) + (e2 + e3);
  out->dense += all;
#pragma unroll
  for (int a = 0; a < 3; a++) out->p[a] += all;
  out->more[0] += (o0 + o1) + (o2 + o3);
  out->more[1] += (o0 + o1) - (o2 + o3);
  out->more[2] += (o0 - o1) + (o2 - o3);
  out->p[3] += (e0 + e1) - (e2 + e3);
  out->p[4] += (e0 - e1) + (e2 - e3);
  out->p[5] += (e0 - e1) - (e2 - e3);
}

template <int Q, typename real>
__device__ __forceinline__ void sum_directions(const real *d, fluid_sums<fluid_rank(Q), real> *out) {
  constexpr int RANK = fluid_rank(Q);
  const real axis = RANK == 2 ? 4 : Q == 27 ? 4 : 2; /* weight of the axes over that of diagonals */
  const real sx = d[1] + d[2], sy = d[3] + d[4], ax = d[1] - d[2], ay = d[3] - d[4];
  if constexpr (RANK == 2) {
    const fluid_four<real> xy = sum_four(d + 5);
    out->dense = multiply_add(axis, sx + sy, xy.all);
    out->more[0] = multiply_add(axis, ax, xy.along + xy.across);
    out->more[1] = multiply_add(axis, ay, xy.along - xy.across);
    out->p[0] = multiply_add(axis, sx, xy.all);
    out->p[1] = multiply_add(axis, sy, xy.all);
    out->p[2] = xy.even - xy.odd;
  } else {
    const real sz = d[5] + d[6], az = d[5] - d[6];
    const fluid_four<real> xy = sum_four(d + 7), xz = sum_four(d + 11), yz = sum_four(d + 15);
    out->p[0] = multiply_add(axis, sx, xy.all + xz.all);
    out->p[1] = multiply_add(axis, sy, xy.all + yz.all);
    out->p[2] = multiply_add(axis, sz, xz.all + yz.all);
    out->dense = multiply_add(axis, sx + (sy + sz), xy.all + (xz.all + yz.all));
    out->more[0] = multiply_add(axis, ax, (xy.along + xy.across) + (xz.along + xz.across));
    out->more[1] = multiply_add(axis, ay, (xy.along - xy.across) + (yz.along + yz.across));
    out->more[2] = multiply_add(axis, az, (xz.along - xz.across) + (yz.along - yz.across));
    out->p[3] = xy.even - xy.odd;
    out->p[4] = xz.even - xz.odd;
    out->p[5] = yz.even - yz.odd;
    if constexpr (Q == 27) {
      out->dense *= 4;
#pragma unroll
      for (int a = 0; a < 3; a++) out->more[a] *= 4;
#pragma unroll
      for (int i = 0; i < 6; i++) out->p[i] *= 4;
      sum_corners(d, out);
    }
  }
}

/* ---- what rounding takes from J ---- */

template <int BITS> __device__ __forceinline__ float rest_of(unsigned bits, float unit) {
  const float zero = (float)((1 << 23) + (1 << (BITS - 1)));
  return multiply_add(__uint_as_float((bits & ((1u << BITS) - 1)) | 0x4b000000u), unit, -zero * unit);
}
/* From 1 on; 2^(BITS - 1): none. */
template <int BITS> __device__ __forceinline__ unsigned bits_of(float rest, float per_unit) {
  const float part = __saturatef(multiply_add(rest, per_unit, 0.5f));
  return __float_as_uint(multiply_add(part, (float)((1 << BITS) - 2), 8388609.0f));
}
/* `a`, but the bits `of_b` of b. */
__device__ __forceinline__ unsigned merge(unsigned a, unsigned b, unsigned of_b) { return (a & ~of_b) | (b & of_b); }

template <int RANK> struct fluid_rests {
  static constexpr int BITS = RANK == 3 ? 10 : 9;
  __device__ static __forceinline__ void read(const float *s, float unit, float *rest) {
    unsigned w[6];
#pragma unroll
    for (int i = 0; i < RANK * (RANK + 1) / 2; i++) w[i] = __float_as_uint(s[i]);
    if constexpr (RANK == 3) {
#pragma unroll
      for (int a = 0; a < 3; a++) rest[a] = rest_of<BITS>(merge(w[2 * a] << 5, w[2 * a + 1], 31), unit);
    } else {
      rest[0] = rest_of<BITS>(merge(w[2] << 6, w[0], 63), unit);
      rest[1] = rest_of<BITS>(merge((w[2] >> 3) << 6, w[1], 63), unit);
    }
  }
  __device__ static __forceinline__ void write(const float *rest, float per_unit, float *s) {
    unsigned w[6], k[3];
#pragma unroll
    for (int a = 0; a < RANK; a++) k[a] = bits_of<BITS>(rest[a], per_unit);
#pragma unroll
    for (int i = 0; i < RANK * (RANK + 1) / 2; i++) w[i] = __float_as_uint(s[i]);
    if constexpr (RANK == 3) {
#pragma unroll
      for (int a = 0; a < 3; a++) {
        w[2 * a] = merge(w[2 * a], k[a] >> 5, 31);
        w[2 * a + 1] = merge(w[2 * a + 1], k[a], 31);
      }
    } else {
      w[0] = merge(w[0], k[0], 63);
      w[1] = merge(w[1], k[1], 63);
      w[2] = merge(merge(w[2], k[0] >> 6, 7), (k[1] >> 6) << 3, 0x38);
    }
#pragma unroll
    for (int i = 0; i < RANK * (RANK + 1) / 2; i++) s[i] = __uint_as_float(w[i]);
  }
};

/* ---- collision ---- */

/* What heat and flow tell each other in a step. */
template <int RANK, typename real> struct fluid_buoyant {
  real force[RANK];    /* acceleration by the temperature after the step */
  real velocity[RANK]; /* after the step */
};

/* How cells get their rate of relaxation: as all have it, or by eddies. Others (rheology.cuh) have GIVEN, and
 * rate(|Q|/rho) of the cell that of(...) returns. */
struct fluid_no_law {
  static constexpr bool GIVEN = false;
  template <typename step, typename real>
  __device__ __forceinline__ fluid_no_law of(const step &, const real *, int, size_t) const {
    return *this;
  }
};

/* The moments m of a cell after a step, in place, from the sums of what arrived. Sets *rho1, density - 1, and returns
 * the square of the speed. *rate: of relaxation; NULL: not wanted.
 * HEAT: adds the buoyancy to the first order in it, as heat_row.inc does. */
template <int Q, bool FORCE, bool EDDY, bool HEAT, typename real, typename law = fluid_no_law>
__device__ __forceinline__ real collide(const fluid_factors<real> &k, const fluid_sums<fluid_rank(Q), real> &sums,
                                        real *m, real *rho1, real *rate, fluid_buoyant<fluid_rank(Q), real> *warm,
                                        const law &cell = law()) {
  constexpr int RANK = fluid_rank(Q);
  constexpr bool rests = sizeof(real) == 4;
  constexpr int S = 1 + RANK, X = 1 + 2 * RANK;
  const real weight = (real)(1.0 / fluid_shares(Q)), third = (real)(1.0 / 3);
  real trace = m[S] + m[S + 1];
  if constexpr (RANK == 3) trace += m[S + 2];
  const real dense = multiply_add(weight, sums.dense, third * trace);
  *rho1 = m[0] + dense;
  const real rho = 1 + *rho1, light = inverse(rho), mean = third * sums.dense;
  real u[RANK], flow[RANK], pi[RANK], cross[RANK == 2 ? 1 : 3], square = 0, pressure = 0, rest[3] = {0, 0, 0};
  if constexpr (rests) fluid_rests<RANK>::read(m + S, k.unit, rest);
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    const real old = m[1 + a];
    u[a] = multiply_add(weight, sums.more[a], third * old) * light;
    if constexpr (FORCE) u[a] += (real)0.5 * k.g[a];
    flow[a] = rho * u[a];
    square = multiply_add(u[a], u[a], square);
    pi[a] = multiply_add(weight, sums.p[a] - mean, (real)(2.0 / 9) * m[S + a]);
    const real around = FORCE ? u[a] - k.g[a] : u[a];
    pressure += multiply_add(-around, flow[a], pi[a]);
    real added = FORCE ? multiply_add(3 * rho, k.g[a], rest[a]) : rest[a];
    added = multiply_add((real)(3.0 / fluid_shares(Q)), sums.more[a], added);
    if constexpr (HEAT) added = multiply_add(3 * rho, warm->force[a], added);
    const real now = old + added;
    m[1 + a] = now;
    if constexpr (rests) rest[a] = added - (now - old);
  }
#pragma unroll
  for (int i = 0; i < (RANK == 2 ? 1 : 3); i++)
    cross[i] = multiply_add(weight, sums.p[RANK + i], (real)(1.0 / 9) * m[X + i]);
  real add = k.add, keep = k.keep, push[RANK];
#pragma unroll
  for (int a = 0; a < RANK; a++) push[a] = k.push[a];
  if constexpr (EDDY || law::GIVEN) { /* the force's share of Q is that of u g */
    real norm = 0;
#pragma unroll
    for (int a = 0; a < RANK; a++) {
      const real q = multiply_add(-(FORCE ? u[a] - k.g[a] : u[a]), flow[a], pi[a]) - pressure * (real)(1.0 / RANK);
      norm = multiply_add(q, q, norm);
#pragma unroll
      for (int b = a + 1; b < RANK; b++) {
        real off = FORCE ? multiply_add(-flow[a], u[b] - (real)0.5 * k.g[b], cross[a + b - 1])
                         : multiply_add(-flow[a], u[b], cross[a + b - 1]);
        if constexpr (FORCE) off = multiply_add((real)0.5 * k.g[a], flow[b], off);
        norm = multiply_add(2 * off, off, norm);
      }
    }
    if constexpr (law::GIVEN)
      add = cell.rate(square_root(norm) * light);
    else
      add = 2 / (k.tau + square_root(multiply_add(k.eddy, square_root(norm) * light, k.tau_square)));
    keep = 1 - add;
#pragma unroll
    for (int a = 0; a < RANK; a++) push[a] = (2 - add) * k.g[a];
  }
  if (rate) *rate = add;
  pressure *= keep * (real)(1.0 / RANK);
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    const real more = FORCE ? multiply_add(add, u[a], push[a]) : add * u[a];
    m[S + a] = (real)4.5 * multiply_add(more, flow[a], multiply_add(keep, pi[a], -pressure));
  }
#pragma unroll
  for (int a = 0; a < RANK; a++)
#pragma unroll
    for (int b = a + 1; b < RANK; b++) {
      const real more = FORCE ? multiply_add(add, u[b], (real)0.5 * push[b]) : add * u[b];
      real s = multiply_add(more, flow[a], keep * cross[a + b - 1]);
      if constexpr (FORCE) s = multiply_add((real)0.5 * push[a], flow[b], s);
      m[X + a + b - 1] = 9 * s;
    }
  if constexpr (HEAT) {
    square = 0;
#pragma unroll
    for (int a = 0; a < RANK; a++) {
      u[a] = multiply_add((real)0.5, warm->force[a], u[a]);
      flow[a] = 9 * rho * u[a];
      warm->velocity[a] = u[a];
      square = multiply_add(u[a], u[a], square);
    }
#pragma unroll
    for (int a = 0; a < RANK; a++) {
      m[S + a] = multiply_add(flow[a], warm->force[a], m[S + a]);
#pragma unroll
      for (int b = a + 1; b < RANK; b++)
        m[X + a + b - 1] =
            multiply_add(flow[a], warm->force[b], multiply_add(flow[b], warm->force[a], m[X + a + b - 1]));
    }
  }
  if constexpr (rests) fluid_rests<RANK>::write(rest, k.per_unit, m + S);
  trace = m[S] + m[S + 1];
  if constexpr (RANK == 3) trace += m[S + 2];
  m[0] += multiply_add(-third, trace, dense);
  return square;
}

/* ---- guards ---- */

static __device__ __noinline__ void tell(fluid_guard *guard, unsigned long long step, unsigned cell, bool dense,
                                         bool fastest, float rho1, float square) {
  const int last = dense ? FLUID_TOLD_DENSE : fastest ? FLUID_TOLD_FASTEST : FLUID_TOLD_FAST;
  for (int kind = dense ? FLUID_TOLD_DENSE : FLUID_TOLD_FAST; kind <= last; kind++) {
    if (*(volatile unsigned long long *)&guard->step[kind] < step) continue;
    if (atomicMin(&guard->step[kind], step) < step) continue;
    const unsigned high = dense ? ~cell : __float_as_uint(square), low = dense ? __float_as_uint(rho1) : ~cell;
    atomicMax(&guard->key[kind], (unsigned long long)high << 32 | low);
  }
}

/* A temperature that is out of bounds. */
static __device__ __noinline__ void tell_hot(fluid_guard *guard, unsigned long long step, unsigned cell, float T) {
  if (*(volatile unsigned long long *)&guard->step[FLUID_TOLD_HOT] < step) return;
  if (atomicMin(&guard->step[FLUID_TOLD_HOT], step) < step) return;
  atomicMax(&guard->key[FLUID_TOLD_HOT], (unsigned long long)~cell << 32 | __float_as_uint(T));
}

#endif
