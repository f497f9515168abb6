/* A step of populations by two relaxation times, in place. Twin: cpu/trt.inc. */
#ifndef FLUID_CUDA_TRT_CUH
#define FLUID_CUDA_TRT_CUH

#include "kernels/fluid/cuda/cell.cuh"
#include "kernels/fluid/cuda/slots.cuh"
#include "kernels/fluid/cuda/step.cuh"

/* As `rates` of cpu/trt.c: halves of both rates, 1 - rate/2, and 1/fluid_shares with what rounding takes from it. */
template <typename real> struct fluid_rates {
  real half_even, half_odd, push_even, push_odd, g[3], part, rest, fast, fastest;
};

constexpr int FLUID_PAIRS_MAX = 13;

/* A step of all cells. */
template <typename store> struct fluid_in_place {
  fluid_slots<store> slots;
  /* slots of a pair of directions, in this step: of the cell, and of the cell to which the first direction leads */
  typename store::word *own[FLUID_PAIRS_MAX], *other[FLUID_PAIRS_MAX];
  fluid_rates<typename store::real> k;
  const typename store::real *drag; /* [cells]: resistance by a step; NULL: none */
  const uint32_t *solid;            /* [rows][groups]: bits of solid cells; NULL: none */
  int groups, across_shift;         /* a block has 2^across_shift cells along x */
  int first[2], count[2];           /* rows and planes of words that are made */
  unsigned long long seed;
  fluid_guard *guard;
  const unsigned long long *step; /* number of the last step */
  unsigned long long *next;       /* that of this one */
};

constexpr int FLUID_TRT_THREADS = 128;

/* sum/fluid_shares, where the rounding of its inverse takes nothing from it, which would change mass and momentum in
 * each step. */
template <typename real> __device__ __forceinline__ real part_of(const fluid_rates<real> &k, real sum) {
  return multiply_add(sum, k.part, sum * k.rest);
}

/* c.v of direction C, odd. */
template <int Q, int C, typename real> __device__ __forceinline__ real along_of(const real *v) {
  constexpr fluid_way w = fluid_way_of(Q, C);
  if constexpr (w.axes == 1) return v[w.a];
  if constexpr (w.axes == 3) {
    const real xy = w.sb > 0 ? v[0] + v[1] : v[0] - v[1];
    return w.sz > 0 ? xy + v[2] : xy - v[2];
  }
  return w.sb > 0 ? v[w.a] + v[w.b] : v[w.a] - v[w.b];
}

/* What the pairs of directions relax to. */
template <int RANK, typename real> struct fluid_targets {
  real rest2;      /* twice the equilibrium of the direction at rest */
  real u[RANK];    /* 3/2 of the velocity */
  real flow[RANK]; /* 6 rho u */
  real even[RANK]; /* force: (1 - even/2) 6 rho g */
  real odd[RANK];  /* (1 - odd/2) 3 rho g */
  real work;       /* (1 - even/2) 3 rho u.g */
};

/* Directions C, C + 1 and all after them, in place. */
template <int Q, int C, bool FORCE, typename real>
__device__ __forceinline__ void relax_pairs(const fluid_rates<real> &k, const fluid_targets<fluid_rank(Q), real> &t,
                                            real *f) {
  if constexpr (C < Q) {
    const real sum = f[C] + f[C + 1], difference = f[C] - f[C + 1];
    const real along = along_of<Q, C>(t.u), flow = along_of<Q, C>(t.flow);
    real even = multiply_add(k.half_even, multiply_add(along, flow, t.rest2) - sum, (real)0.5 * sum);
    real odd = multiply_add(k.half_odd, flow - difference, (real)0.5 * difference);
    if constexpr (FORCE) {
      even = multiply_add(along, along_of<Q, C>(t.even), even - t.work);
      odd += along_of<Q, C>(t.odd);
    }
    f[C] = even + odd;
    f[C + 1] = even - odd;
    relax_pairs<Q, C + 2, FORCE>(k, t, f);
  }
}

/* Collides what has arrived at a cell, times `one`, in place, in a medium of this resistance by a step. Sets *rho1,
 * density
 * - 1, and returns the square of the speed. Sums and differences as in cpu/trt.inc, of which each factor is exact: what
 * a rounded one would do to mass and momentum adds up over the steps. */
template <int Q, bool FORCE, bool DRAG, typename real>
__device__ __forceinline__ real collide_pairs(const fluid_rates<real> &k, real one, real drag, real *f, real *rho1) {
  constexpr int RANK = fluid_rank(Q);
  fluid_sums<RANK, real> sums;
  fluid_targets<RANK, real> t;
  sum_directions<Q>(f, &sums);
  const real dense = part_of(k, multiply_add((real)fluid_share(Q, 0), f[0], sums.dense)), rho = one + dense;
  const real light = inverse(rho);
  real square = 0, energy = 0, work = 0;
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    real flow = part_of(k, sums.more[a]), g = k.g[a];
    if constexpr (FORCE) flow = multiply_add((real)0.5 * rho, g, flow);
    if constexpr (DRAG) flow /= 1 + (real)0.5 * drag;
    const real u = flow * light;
    if constexpr (DRAG) g = multiply_add(-drag, u, g);
    square = multiply_add(u, u, square);
    energy = multiply_add(flow, u, energy);
    t.u[a] = (real)1.5 * u;
    t.flow[a] = 6 * flow;
    if constexpr (FORCE) {
      const real push = 3 * (rho * g);
      t.even[a] = 2 * k.push_even * push;
      t.odd[a] = k.push_odd * push;
      work = multiply_add(push, u, work);
    }
  }
  t.rest2 = multiply_add((real)-3, energy, 2 * dense);
  t.work = k.push_even * work;
  real rest = k.half_even * multiply_add((real)-2, f[0], t.rest2);
  if constexpr (FORCE) rest -= t.work;
  f[0] += rest;
  relax_pairs<Q, 1, FORCE>(k, t, f);
  *rho1 = dense / one;
  return square;
}

/* Offsets of a cell's neighbours in a slot; `up`, `down`: those above and below along the last axis have their cells
 * turned. */
struct fluid_around {
  unsigned x[2], y[3], z[3]; /* at x and x + 1; below, at and above */
  bool up, down;
  template <int Q, int C> __device__ __forceinline__ unsigned to() const {
    constexpr fluid_way w = fluid_way_of(Q, C);
    return z[1 + w.along(2)] + y[1 + w.along(1)] + x[w.along(0)];
  }
  template <int Q, int C> __device__ __forceinline__ bool turned() const {
    return fluid_way_of(Q, C).along(fluid_rank(Q) - 1) > 0 ? up : down;
  }
};

/* Whether the neighbour in direction C is above or below along the last axis. */
template <int Q, int C> __host__ __device__ constexpr bool crosses() {
  return fluid_way_of(Q, C).along(fluid_rank(Q) - 1) != 0;
}

template <int Q, typename store>
__device__ __forceinline__ fluid_around find_around(const fluid_slots<store> &s, int x, int y, int z) {
  const int rows = s.depth[0], planes = s.depth[1], last = Q == 9 ? y : z, depth = Q == 9 ? rows : planes;
  const unsigned row = (unsigned)s.pitch, plane = (unsigned)rows * row;
  fluid_around out;
  out.x[0] = (unsigned)x;
  out.x[1] = x + 1 == s.n[0] ? 0 : (unsigned)x + 1;
#pragma unroll
  for (int i = 0; i < 3; i++) {
    out.y[i] = (unsigned)around_box(y + i - 1, rows) * row;
    out.z[i] = (unsigned)around_box(z + i - 1, planes) * plane;
  }
  out.up = last + 1 == depth;
  out.down = last == 0;
  return out;
}

/* f[cells of a word][directions]: what arrives by C, C + 1 and after. */
template <int Q, int C, typename store>
__device__ __forceinline__ void pull_pairs(const fluid_in_place<store> &s, const fluid_around &at,
                                           typename store::real (*f)[Q]) {
  if constexpr (C < Q) {
    typename store::real own[store::cells], other[store::cells];
    store::template get<false>(s.own[C / 2][at.to<Q, 0>()], false, own);
    store::template get<crosses<Q, C>()>(s.other[C / 2][at.to<Q, C>()], at.turned<Q, C>(), other);
#pragma unroll
    for (int i = 0; i < store::cells; i++) {
      f[i][C] = own[i];
      f[i][C + 1] = other[i];
    }
    pull_pairs<Q, C + 2>(s, at, f);
  }
}

/* Writes what leaves by C, C + 1 and after, to where it has been read, in changed places. */
template <int Q, int C, typename store>
__device__ __forceinline__ void push_pairs(const fluid_in_place<store> &s, const fluid_around &at,
                                           typename store::real (*f)[Q], unsigned *bits) {
  if constexpr (C < Q) {
    typename store::real own[store::cells], other[store::cells];
#pragma unroll
    for (int i = 0; i < store::cells; i++) {
      own[i] = f[i][C + 1];
      other[i] = f[i][C];
    }
    s.own[C / 2][at.to<Q, 0>()] = store::template put<false>(own, false, bits);
    s.other[C / 2][at.to<Q, C>()] = store::template put<crosses<Q, C>()>(other, at.turned<Q, C>(), bits);
    push_pairs<Q, C + 2>(s, at, f, bits);
  }
}

/* Makes the step of one cell of a word; *f as of collide_pairs. A solid cell keeps what it has. */
template <int Q, bool FORCE, bool DRAG, bool SKIP, typename store>
__device__ __forceinline__ void step_one(const fluid_in_place<store> &s, unsigned long long step, bool solid, int x,
                                         size_t row, typename store::real *f) {
  typedef typename store::real real;
  const size_t cell = row * (size_t)s.slots.n[0] + (size_t)x;
  if (SKIP && solid) {
#pragma unroll
    for (int c = 1; c < Q; c += 2) {
      const real a = f[c];
      f[c] = f[c + 1];
      f[c + 1] = a;
    }
    return;
  }
  real rho1, drag = 0;
  if constexpr (DRAG) drag = s.drag[cell];
  const real square = collide_pairs < Q, FORCE || DRAG, DRAG > (s.k, store::one, drag, f, &rho1);
  look_at(s.guard, step, (unsigned)cell, s.k.fast, s.k.fastest, rho1, square);
}

template <int Q, bool FORCE, bool DRAG, bool SKIP, typename store>
__global__ void __launch_bounds__(FLUID_TRT_THREADS) step_populations(const fluid_in_place<store> s) {
  typedef typename store::real real;
  after_previous();
  const int across = 1 << s.across_shift, up = FLUID_TRT_THREADS >> s.across_shift;
  const unsigned wide = (unsigned)((s.slots.pitch + across - 1) >> s.across_shift),
                 tall = (unsigned)((s.count[0] + up - 1) / up);
  const unsigned line = blockIdx.x / wide;
  const int x = (int)((blockIdx.x - line * wide) << s.across_shift) + ((int)threadIdx.x & (across - 1));
  const int y = s.first[0] + (int)(line % tall) * up + ((int)threadIdx.x >> s.across_shift),
            z = s.first[1] + (int)(line / tall);
  const unsigned long long step = *s.step + 1;
  if (blockIdx.x == 0 && threadIdx.x == 0) *s.next = step;
  if (x >= s.slots.n[0] || y >= s.first[0] + s.count[0]) return;
  bool solid[store::cells], all = SKIP;
  size_t row[store::cells];
#pragma unroll
  for (int i = 0; i < store::cells; i++) {
    row[i] = Q == 9 ? (size_t)(y + i * s.slots.depth[0])
                    : (size_t)(z + i * s.slots.depth[1]) * (size_t)s.slots.n[1] + (size_t)y;
    solid[i] = SKIP && (s.solid[row[i] * (size_t)s.groups + (size_t)(x / FLUID_GROUP)] >> (x % FLUID_GROUP) & 1);
    all = all && solid[i];
  }
  if (all) return; /* what it has stays where it is: no cell reads it */
  const fluid_around at = find_around<Q>(s.slots, x, y, z);
  real f[store::cells][Q], rest[store::cells];
  const unsigned own = at.to<Q, 0>();
  store::template get<false>(s.slots.state[own], false, rest);
#pragma unroll
  for (int i = 0; i < store::cells; i++) f[i][0] = rest[i];
  pull_pairs<Q, 1>(s, at, f);
#pragma unroll
  for (int i = 0; i < store::cells; i++) {
    step_one<Q, FORCE, DRAG, SKIP>(s, step, solid[i], x, row[i], f[i]);
    rest[i] = f[i][0];
  }
  unsigned bits = cell_bits(step_key(s.seed, step), own);
  s.slots.state[own] = store::template put<false>(rest, false, &bits);
  push_pairs<Q, 1>(s, at, f, &bits);
}

#endif
