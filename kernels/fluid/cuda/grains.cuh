/* Cells that grains cover in part, a block for each grain. Twin: grains/shares.c, `blend` of cpu/kernels.c, and
 * start_cell of grains/couple.c. The grains' own arithmetic is in double.
 *
 * Each grain goes through the cells of a box around it. In a cell that several grains cover, the block of each finds
 * what all of them do there, in the order of grains and so with the same bits; that of the first one stores it. */
#ifndef FLUID_CUDA_GRAINS_CUH
#define FLUID_CUDA_GRAINS_CUH

#include "kernels/fluid/cpu/kernels.h"
#include "kernels/fluid/cuda/links.cuh"
#include "kernels/fluid/grains/covered.h"

constexpr int FLUID_BALL_THREADS = 128;

/* From a grain's centre, around the box, to that of a cell. */
__device__ __forceinline__ void arm_of(const fluid_ball &ball, const fluid_layout &l, const int *periodic,
                                       const int *at, double *arm) {
#pragma unroll
  for (int a = 0; a < 3; a++) {
    arm[a] = at[a] + 0.5 - ball.centre[a];
    if (periodic[a]) arm[a] -= l.n[a] * rint(arm[a] / l.n[a]);
  }
}

/* The part of a cell that a grain covers. */
static __device__ __noinline__ double part_of(const fluid_ball &ball, const fluid_layout &l, const int *periodic,
                                              const int *at) {
  double arm[3];
  arm_of(ball, l, periodic, at, arm);
  const double from[3] = {-arm[0], -arm[1], -arm[2]};
  return fluid_covered(from, ball.radius);
}

/* The cells of a box around a grain, each once, but for those beyond sides. */
struct ball_box {
  int low[3], count[3], cells;
  __device__ ball_box(const fluid_ball &ball, const fluid_layout &l) {
    cells = 1;
#pragma unroll
    for (int a = 0; a < 3; a++) {
      low[a] = (int)floor(ball.centre[a] - ball.radius);
      count[a] = min((int)floor(ball.centre[a] + ball.radius) - low[a] + 1, l.n[a]);
      cells *= count[a];
    }
  }
  /* Cell i; false: beyond a side. */
  __device__ bool cell(int i, const fluid_layout &l, const int *periodic, int *at) const {
    const int in[3] = {i % count[0], i / count[0] % count[1], i / count[0] / count[1]};
    bool inside = true;
#pragma unroll
    for (int a = 0; a < 3; a++) {
      at[a] = low[a] + in[a];
      inside = inside && (periodic[a] || (at[a] >= 0 && at[a] < l.n[a]));
      at[a] = (at[a] % l.n[a] + l.n[a]) % l.n[a];
    }
    return inside;
  }
};

/* Finds the parts of the cells of a box that its grain covers, and marks these cells. */
static __global__ void __launch_bounds__(FLUID_BALL_THREADS) mark_balls(const fluid_layout l, const fluid_balls g) {
  after_previous();
  const fluid_ball ball = g.ball[blockIdx.x];
  const ball_box box(ball, l);
  for (int i = (int)threadIdx.x; i < box.cells; i += FLUID_BALL_THREADS) {
    int at[3];
    const double part = box.cell(i, l, g.periodic, at) ? part_of(ball, l, g.periodic, at) : 0;
    g.parts[ball.room + i] = part;
    if (part > 0)
      atomicOr(&g.covered[fluid_word(l, at[0], (size_t)at[2] * (size_t)l.n[1] + (size_t)at[1])],
               1u << (at[0] % FLUID_GROUP));
  }
}

/* Cells that the steps of the fluid leave out. */
static __global__ void __launch_bounds__(256) join_masks(const fluid_balls g, size_t words, uint32_t *skip) {
  after_previous();
  for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < words; i += (size_t)gridDim.x * 256)
    skip[i] = g.covered[i] | (g.walls ? g.walls[i] : 0u);
}

/* What grains do in a cell. */
struct ball_blend {
  double share, velocity[3];          /* of the solid; mean of the grains */
  double part, own, arm[3], moves[3]; /* of all grains; of this one: its part, arm and velocity there */
  bool first;                         /* no grain before this one covers the cell */
};

/* Adds a grain that covers `part` of the cell. */
static __device__ void add_ball(const fluid_balls &g, const fluid_layout &l, const int *at, int j, double part,
                                bool own, ball_blend *out) {
  if (!(part > 0)) return;
  const fluid_ball ball = g.ball[j];
  double arm[3], velocity[3];
  arm_of(ball, l, g.periodic, at, arm);
#pragma unroll
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    velocity[a] = ball.velocity[a] + (ball.spin[b] * arm[c] - ball.spin[c] * arm[b]);
    out->velocity[a] += part * velocity[a];
    if (!own) continue;
    out->arm[a] = arm[a];
    out->moves[a] = velocity[a];
  }
  if (own) {
    out->first = out->part == 0;
    out->own = part;
  }
  out->part += part;
}

/* Of grain i in a cell of which it covers the part `own`. */
static __device__ ball_blend blend_of(const fluid_balls &g, const fluid_layout &l, const int *at, int i, double own,
                                      double tau) {
  ball_blend out = {};
  bool added = false;
  for (int k = g.first[i]; k < g.first[i + 1]; k++) {
    const int j = g.near[k];
    if (!added && j > i) {
      add_ball(g, l, at, i, own, true, &out);
      added = true;
    }
    add_ball(g, l, at, j, part_of(g.ball[j], l, g.periodic, at), false, &out);
  }
  if (!added) add_ball(g, l, at, i, own, true, &out);
  out.share = fluid_share_of(fmin(out.part, 1.0), tau);
#pragma unroll
  for (int a = 0; a < 3; a++) out.velocity[a] /= out.part;
  return out;
}

/* Its links, if it has some: cells lie in the order of rows. */
template <typename real>
__device__ inline fluid_edge_cell cell_at(const fluid_edges<real> &links, const fluid_balls &g, const fluid_layout &l,
                                          const int *at) {
  fluid_edge_cell out = {{at[0], at[1], at[2]}, 0, 0};
  if (!fluid_has_bit(g.walls, l, at[0], (size_t)at[2] * (size_t)l.n[1] + (size_t)at[1])) return out;
  int low = 0, high = links.cells;
  while (low < high) {
    const int middle = (low + high) / 2;
    const int32_t *to = links.cell[middle].at;
    const bool before = to[2] != at[2] ? to[2] < at[2] : to[1] != at[1] ? to[1] < at[1] : to[0] < at[0];
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  return links.cell[low];
}

/* Gives the solid its share of a cell: `here` its moments before the step, m after a collision of the fluid alone.
 * Returns the square of the speed; *mass and momentum[3]: as of fluid_blend. */
template <int Q, typename real>
__device__ inline double saturate(const fluid_factors<real> &k, const fluid_sums<3, real> &sums, const real *here,
                                  const ball_blend &b, real *m, double *mass, double *momentum) {
  constexpr int S = 4, X = 7;
  const real weight = (real)(1.0 / fluid_shares(Q)), third = (real)(1.0 / 3);
  const real dense = multiply_add(weight, sums.dense, third * (here[S] + here[S + 1] + here[S + 2]));
  const double *v = b.velocity, share = b.share;
  double u[3], e[6], square = 0, trace = 0;
  float rest[3] = {0, 0, 0};
  if constexpr (sizeof(real) == 4) fluid_rests<3>::read(here + S, k.unit, rest);
  *mass = 1 + (double)here[0] + (double)dense;
#pragma unroll
  for (int a = 0; a < 3; a++) {
    const double j = (double)here[1 + a] / 3 + (double)(weight * sums.more[a]), g = (double)k.g[a];
    u[a] = j / *mass + g / 2;
    momentum[a] = j + *mass * g + (double)rest[a] / 3;
    const double now = momentum[a] + share * (*mass * v[a] - momentum[a]);
    m[1 + a] = (real)(3 * now);
    rest[a] = (float)(3 * now - (double)m[1 + a]);
    square += now * now / (*mass * *mass);
    /* deviator of the stress less that of its equilibrium */
    const real pi = multiply_add(weight, sums.p[a] - third * sums.dense, (real)(2.0 / 9) * here[S + a]);
    e[a] = (double)pi - *mass * u[a] * (u[a] - g);
    trace += e[a];
  }
#pragma unroll
  for (int a = 0; a < 3; a++) {
    e[a] -= trace / 3;
    m[S + a] = (real)((1 - share) * (double)m[S + a] + share * 4.5 * (FLUID_SOLID_KEEPS * e[a] + *mass * v[a] * v[a]));
#pragma unroll
    for (int c = a + 1; c < 3; c++) {
      const int i = a + c - 1;
      const real cross = multiply_add(weight, sums.p[3 + i], (real)(1.0 / 9) * here[X + i]);
      e[3 + i] = (double)cross - *mass * (u[a] * u[c] - (u[a] * (double)k.g[c] + (double)k.g[a] * u[c]) / 2);
      m[X + i] =
          (real)((1 - share) * (double)m[X + i] + share * 9 * (FLUID_SOLID_KEEPS * e[3 + i] + *mass * v[a] * v[c]));
    }
  }
  if constexpr (sizeof(real) == 4) fluid_rests<3>::write(rest, k.per_unit, m + S);
  m[0] = (real)((double)here[0] + (double)dense - ((double)m[S] + (double)m[S + 1] + (double)m[S + 2]) / 3);
  return square;
}

/* The step of the cells that grains cover. given[grains][6]: momentum and angular momentum that each grain gets, in
 * units of the lattice. */
template <int Q, typename real>
__global__ void __launch_bounds__(FLUID_BALL_THREADS)
    step_balls(const fluid_step<real> s, const fluid_edges<real> links, const fluid_balls g, double tau) {
  __shared__ double shared[FLUID_BALL_THREADS / 32];
  after_previous();
  const int grain = (int)blockIdx.x;
  const ball_box box(g.ball[grain], s.l);
  double sum[6] = {};
  const double *parts = g.parts + g.ball[grain].room;
  for (int i = (int)threadIdx.x; i < box.cells; i += FLUID_BALL_THREADS) {
    int at[3];
    if (!(parts[i] > 0)) continue;
    (void)box.cell(i, s.l, g.periodic, at);
    const ball_blend b = blend_of(g, s.l, at, grain, parts[i], tau);
    const fluid_edge_cell cell = cell_at(links, g, s.l, at);
    const size_t row = (size_t)at[2] * (size_t)s.l.n[1] + (size_t)at[1], place = fluid_place(s.l, at[0], row);
    real here[10], m[10], d[Q], rho1;
    fluid_sums<3, real> sums;
    double lost = 0, mass, momentum[3], got[3];
    load_cell<10>(s.from + place, here);
    const fluid_moment_cells<Q, real> cells = {s.l, s.from};
    gather_links<Q, 1, false>(cells, links, cell, cell.first, here, d, &lost);
    sum_directions<Q>(d, &sums);
#pragma unroll
    for (int k = 0; k < 10; k++) m[k] = here[k];
    (void)collide<Q, true, false, false>(s.k, sums, m, &rho1, (real *)nullptr, (fluid_buoyant<3, real> *)nullptr);
    const double square = saturate<Q>(s.k, sums, here, b, m, &mass, momentum);
    if (b.first) {
      store_cell<10>(s.to + place, m);
      look<false>(s, *s.step + 1, at[0], row, (real)(mass - 1), (real)square, rho1);
    }
#pragma unroll
    for (int a = 0; a < 3; a++) {
      got[a] = b.share * b.own / b.part * (momentum[a] - mass * b.moves[a]);
      sum[a] += got[a];
    }
#pragma unroll
    for (int a = 0; a < 3; a++)
      sum[3 + a] += b.arm[(a + 1) % 3] * got[(a + 2) % 3] - b.arm[(a + 2) % 3] * got[(a + 1) % 3];
  }
#pragma unroll
  for (int k = 0; k < 6; k++) {
    const double all = block_sum<FLUID_BALL_THREADS>(sum[k], shared);
    if (threadIdx.x == 0) g.given[6 * grain + k] = all;
  }
}

/* Gives cells of the first state the velocities of the grains that cover them, at the same density. */
template <typename real>
__global__ void __launch_bounds__(FLUID_BALL_THREADS)
    begin_balls(const fluid_layout l, const fluid_factors<real> k, const fluid_balls g, double tau, real *state) {
  constexpr int S = 4, X = 7;
  after_previous();
  const int grain = (int)blockIdx.x;
  const ball_box box(g.ball[grain], l);
  const double *parts = g.parts + g.ball[grain].room;
  for (int i = (int)threadIdx.x; i < box.cells; i += FLUID_BALL_THREADS) {
    int at[3];
    double trace = 0;
    if (!(parts[i] > 0)) continue;
    (void)box.cell(i, l, g.periodic, at);
    const ball_blend b = blend_of(g, l, at, grain, parts[i], tau);
    if (!b.first) continue;
    real m[10], *to = state + fluid_place(l, at[0], (size_t)at[2] * (size_t)l.n[1] + (size_t)at[1]);
    load_cell<10>(to, m);
    const double rho1 = excess_of<3>(m), rho = 1 + rho1;
#pragma unroll
    for (int a = 0; a < 3; a++) {
      m[1 + a] = (real)((double)m[1 + a] + b.share * (3 * rho * b.velocity[a] - (double)m[1 + a]));
#pragma unroll
      for (int c = a; c < 3; c++) {
        real *s = &m[a == c ? S + a : X + a + c - 1];
        *s = (real)((double)*s + b.share * ((a == c ? 4.5 : 9) * (rho * b.velocity[a] * b.velocity[c]) - (double)*s));
      }
    }
    if constexpr (sizeof(real) == 4) {
      const float none[3] = {0, 0, 0};
      fluid_rests<3>::write(none, k.per_unit, m + S);
    }
#pragma unroll
    for (int a = 0; a < 3; a++) trace += (double)m[S + a];
    m[0] = (real)(rho1 - trace / 3);
    store_cell<10>(to, m);
  }
}

#endif
