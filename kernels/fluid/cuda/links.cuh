/* A step of the cells with links, the mass that interpolation takes at bodies, and forces. Twin: `cells`, `lost` and
 * `force` of cpu/kernels.c. */
#ifndef FLUID_CUDA_LINKS_CUH
#define FLUID_CUDA_LINKS_CUH

#include "kernels/fluid/cuda/step.cuh"
#include "kernels/fluid/link_kind.h"

template <typename real> struct fluid_edge_type;
template <> struct fluid_edge_type<float> { typedef fluid_edge_single type; };
template <> struct fluid_edge_type<double> { typedef fluid_edge_double type; };
template <typename real> using fluid_edge = typename fluid_edge_type<real>::type;

template <typename real> struct fluid_edges {
  const fluid_edge_cell *cell;
  const fluid_edge<real> *edge;
  int first, cells, more, end; /* cells [first, cells) and [more, end) make their step; the latter have no links */
  const fluid_warm_edge *warm; /* [edges]; NULL: no heat */
  real *rate;                  /* [cells]: of relaxation, for heat; NULL: not wanted */
  double *lost;                /* [cells]: mass that links to bodies take; NULL: no body */
  const int8_t *body;          /* [edges]: -1: a side of the box; NULL: no body */
  const uint32_t *covered;     /* bits of cells that grains cover, which are left out; NULL: none */
};

/* Number of the listed cell of a thread; false: there is none. */
template <typename real> __device__ __forceinline__ bool find_listed(const fluid_edges<real> &links, int *i) {
  *i = links.first + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (*i >= links.cells) *i += links.more - links.cells;
  return *i < links.end;
}

/* population<27, c> of direction C or one after it. */
template <int C, typename real> __device__ __forceinline__ real population27_of(int c, const real *m) {
  if constexpr (C == 27) {
    return 0;
  } else {
    return c == C ? population<27, C>(m) : population27_of<C + 1>(c, m);
  }
}

/* population<Q, c>, with the same bits; moments: of the cell, in memory. */
template <int Q, typename real, typename stored>
__device__ __forceinline__ real population_of(int c, const stored *moments) {
  constexpr int RANK = fluid_rank(Q);
  if constexpr (Q == 27) {
    real m[10];
#pragma unroll
    for (int i = 0; i < 10; i++) m[i] = (real)moments[i * FLUID_GROUP];
    return population27_of<0>(c, m);
  }
  const real A = (real)moments[0];
  if (c == 0) return A;
  const int positive = c & 1;
  if (c <= 2 * RANK) {
    const int a = (c - 1) / 2;
    const real even = A + (real)moments[(1 + RANK + a) * FLUID_GROUP], odd = (real)moments[(1 + a) * FLUID_GROUP];
    return positive ? even + odd : even - odd;
  }
  const int plane = (c - 2 * RANK - 1) / 4, equal = (c - 2 * RANK - 1) % 4 < 2, a = plane == 2, b = plane == 0 ? 1 : 2;
  const real sum = A + ((real)moments[(1 + RANK + a) * FLUID_GROUP] + (real)moments[(1 + RANK + b) * FLUID_GROUP]);
  const real cross = (real)moments[(1 + 2 * RANK + a + b - 1) * FLUID_GROUP];
  const real ja = (real)moments[(1 + a) * FLUID_GROUP], jb = (real)moments[(1 + b) * FLUID_GROUP];
  const real even = equal ? sum + cross : sum - cross, odd = equal ? ja + jb : ja - jb;
  return positive ? even + odd : even - odd;
}

__device__ __forceinline__ size_t place_of(const fluid_layout &l, const fluid_edge_cell &at) {
  return fluid_place(l, at.at[0], (size_t)at.at[2] * (size_t)l.n[1] + (size_t)at.at[1]);
}
template <int Q> __device__ __forceinline__ size_t beside(const fluid_layout &l, const fluid_edge_cell &at, int c) {
  const int x = around(at.at[0] + component<Q>(c, 0), l.n[0]), y = around(at.at[1] + component<Q>(c, 1), l.n[1]),
            z = around(at.at[2] + component<Q>(c, 2), l.n[2]);
  return fluid_place(l, x, (size_t)z * (size_t)l.n[1] + (size_t)y);
}

/* What links read of a state of moments: g_c and the velocity of a cell, and of its neighbour in direction `towards`,
 * and the buoyancy of the cell by mass. The state of populations has the same functions (trt_links.cuh). */
template <int Q, typename stored> struct fluid_moment_cells {
  static constexpr int RANK = fluid_rank(Q);
  typedef stored number;
  fluid_layout l;
  const stored *from;
  bool lifts; /* there is buoyancy, -push (T - reference) */
  stored push[3], reference;
  template <typename real> __device__ __forceinline__ real sent(const fluid_edge_cell &at, int c) const {
    return population_of<Q, real>(c, from + place_of(l, at));
  }
  template <typename real>
  __device__ __forceinline__ real sent_beside(const fluid_edge_cell &at, int c, int towards) const {
    return population_of<Q, real>(c, from + beside<Q>(l, at, towards));
  }
  __device__ __forceinline__ bool has_lift() const { return lifts; }
  template <typename real> __device__ __forceinline__ void lift(const fluid_edge_cell &at, real *g) const {
    const real over = (real)from[place_of(l, at) + (size_t)(fluid_moments(RANK) * FLUID_GROUP)] - (real)reference;
#pragma unroll
    for (int a = 0; a < RANK; a++) g[a] = -(real)push[a] * over;
  }
  template <typename real> __device__ __forceinline__ void velocity(const fluid_edge_cell &at, real *u) const {
    velocity_at(place_of(l, at), u);
  }
  template <typename real>
  __device__ __forceinline__ void velocity_beside(const fluid_edge_cell &at, int towards, real *u) const {
    velocity_at(beside<Q>(l, at, towards), u);
  }
  template <typename real> __device__ __forceinline__ void velocity_at(size_t place, real *u) const {
    const stored *here = from + place;
    real rho = 1 + (real)here[0];
#pragma unroll
    for (int a = 0; a < RANK; a++) rho += (real)here[(1 + RANK + a) * FLUID_GROUP] * (real)(1.0 / 3);
#pragma unroll
    for (int a = 0; a < RANK; a++) u[a] = (real)here[(1 + a) * FLUID_GROUP] / (3 * rho);
  }
};

/* The same with a force that is a function: force[RANK][cells], in cells per step^2. */
template <int Q, typename stored> struct fluid_pushed_cells : fluid_moment_cells<Q, stored> {
  const stored *force;
  __device__ __forceinline__ bool has_lift() const { return true; }
  template <typename real> __device__ __forceinline__ void lift(const fluid_edge_cell &at, real *g) const {
    const int *n = this->l.n;
    const size_t cells = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    const size_t cell = ((size_t)at.at[2] * (size_t)n[1] + (size_t)at.at[1]) * (size_t)n[0] + (size_t)at.at[0];
#pragma unroll
    for (int a = 0; a < fluid_rank(Q); a++) g[a] = 0;
    if (this->lifts) fluid_moment_cells<Q, stored>::lift(at, g);
#pragma unroll
    for (int a = 0; a < fluid_rank(Q); a++) g[a] += (real)force[(size_t)a * cells + cell];
  }
};

/* What the buoyancy of a cell, and a force that is a function, add to an interpolated link. Twin: `held` of
 * cpu/vectors.h. */
template <int Q, typename real, typename source>
__device__ __forceinline__ real held(const source &s, const fluid_edge_cell &at,
                                     const fluid_edge<typename source::number> &e) {
  real g[3] = {0, 0, 0}, along = 0;
  if (!s.has_lift()) return 0;
  s.lift(at, g);
#pragma unroll
  for (int a = 0; a < fluid_rank(Q); a++) along += (real)component<Q>(e.arriving, a) * g[a];
  return -3 * (1 - (real)e.weight) * along;
}

/* g that arrives by a link of a side that the fluid passes straight on. */
template <int Q, typename real, typename source>
__device__ __noinline__ real arrive_straight(const source &s, const fluid_edge_cell &at,
                                             const fluid_edge<typename source::number> &e) {
  constexpr int RANK = fluid_rank(Q);
  const real constant = (real)e.constant;
  const int c = e.arriving;
  real u[RANK], other[RANK], along = 0, square = 0;
  s.velocity(at, u);
  s.velocity_beside(at, e.towards, other);
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    const int ca = component<Q>(c, a);
    const real normal = a == (int)e.weight ? (real)0.5 * (u[a] + other[a]) : 0;
    along += (real)ca * normal;
    square += normal * normal;
  }
  return constant - s.template sent_beside<real>(at, e.second, e.towards) +
         (2 + constant) * ((real)4.5 * along * along - (real)1.5 * square);
}

/* g that arrives by a link. STRAIGHT: there are such sides; they take kernels of their own, with more registers. */
template <int Q, typename real, bool STRAIGHT = false, typename source>
__device__ __noinline__ real arrive(const source &s, const fluid_edge_cell &at,
                                    const fluid_edge<typename source::number> &e) {
  constexpr int RANK = fluid_rank(Q);
  const real weight = (real)e.weight, constant = (real)e.constant;
  const int c = e.arriving, d = fluid_opposite_of(c);
  if constexpr (STRAIGHT)
    if (e.kind == FLUID_STRAIGHT) return arrive_straight<Q, real>(s, at, e);
  switch (e.kind) {
  case FLUID_NEAR:
    return weight * s.template sent<real>(at, d) +
           (1 - weight) * s.template sent_beside<real>(at, e.second, e.towards) + constant + held<Q, real>(s, at, e);
  case FLUID_FAR:
    return weight * s.template sent<real>(at, d) + (1 - weight) * s.template sent<real>(at, c) + constant +
           held<Q, real>(s, at, e);
  case FLUID_MIRROR: return s.template sent_beside<real>(at, e.second, e.towards);
  case FLUID_OPEN: {
    real u[RANK], along = 0, square = 0;
    s.velocity(at, u);
#pragma unroll
    for (int a = 0; a < RANK; a++) {
      along += (real)component<Q>(c, a) * u[a];
      square += u[a] * u[a];
    }
    return constant - s.template sent<real>(at, d) + (2 + constant) * ((real)4.5 * along * along - (real)1.5 * square);
  }
  default: return s.template sent<real>(at, d) + constant;
  }
}

/* d of directions C and after of a cell, whose next link is *edge; adds to *lost. */
template <int Q, int C, bool STRAIGHT, typename real, typename source>
__device__ __forceinline__ void gather_links(const source &cells, const fluid_edges<real> &links,
                                             const fluid_edge_cell &at, int edge, const real *here, real *d,
                                             double *lost) {
  if constexpr (C < Q) {
    const real own = population<Q, C>(here);
    if (edge < at.first + at.count && links.edge[edge].arriving == C) {
      const real g = arrive<Q, real, STRAIGHT>(cells, at, links.edge[edge]);
      d[C] = g - own;
      if (links.lost && links.body[edge] >= 0)
        *lost += (double)fluid_share(Q, C) / fluid_shares(Q) *
                 ((double)population<Q, fluid_opposite_of(C)>(here) - (double)g);
      edge++;
    } else {
      d[C] = cells.template sent_beside<real>(at, C, fluid_opposite_of(C)) - own;
    }
    gather_links<Q, C + 1, STRAIGHT>(cells, links, at, edge, here, d, lost);
  }
}

/* p of the temperature that arrives by a link along an axis; *sent: what the cell sends along it. */
template <int RANK, typename real, typename stored>
__device__ __forceinline__ real warm_arrive(const fluid_layout &l, const stored *from, const fluid_edge_cell &at, int c,
                                            const fluid_warm_edge &e, real *sent) {
  const stored *here = from + place_of(l, at), *warm = here + fluid_moments(RANK) * FLUID_GROUP;
  const int d = fluid_opposite_of(c);
  const real own = warm_population_of<real>(c, warm);
  *sent = warm_population_of<real>(d, warm);
  if (e.open) {
    const real in = (real)here[(1 + (c - 1) / 2) * FLUID_GROUP];
    if (!((c % 2 ? in : -in) > 0)) return own;
  }
  real out = (real)e.constant + (real)e.sent * *sent + (real)e.own * own;
  if (e.beyond != 0)
    out += (real)e.beyond * warm_population_of<real>(d, from + beside<fluid_directions(RANK)>(l, at, c) +
                                                            fluid_moments(RANK) * FLUID_GROUP);
  return out;
}

/* d of the temperature of directions C and after of a cell, whose next link is *edge. */
template <int RANK, int C, typename real>
__device__ __forceinline__ void gather_warm_links(const fluid_step<real> &s, const fluid_edges<real> &links,
                                                  const fluid_edge_cell &at, int edge, const real *here, real *d) {
  if constexpr (C <= 2 * RANK) {
    const real own = warm_population<C>(here + fluid_moments(RANK));
    if (edge < at.first + at.count && links.edge[edge].arriving == C) {
      real sent;
      d[C - 1] = warm_arrive<RANK, real>(s.l, s.from, at, C, links.warm[edge], &sent) - own;
      edge++;
    } else {
      const real *there =
          s.from + beside<fluid_directions(RANK)>(s.l, at, fluid_opposite_of(C)) + fluid_moments(RANK) * FLUID_GROUP;
      d[C - 1] = warm_population_of<real>(C, there) - own;
    }
    gather_warm_links<RANK, C + 1>(s, links, at, edge, here, d);
  }
}

/* What links read of the state before a step. */
template <int Q, typename real>
__device__ __forceinline__ fluid_moment_cells<Q, real> link_cells(const fluid_step<real> &s,
                                                                  const fluid_edges<real> &links) {
  return {s.l, s.from, links.warm != nullptr, {s.w.push[0], s.w.push[1], s.w.push[2]}, s.w.reference};
}

/* The flow of a cell with links: that of a thread. */
template <int Q, bool EDDY, bool STRAIGHT, typename real, typename source, typename laws>
__device__ __forceinline__ void step_linked(const fluid_step<real> &s, const fluid_edges<real> &links,
                                            const source &cells, const laws &law) {
  constexpr int RANK = fluid_rank(Q);
  after_previous();
  int i;
  if (!find_listed(links, &i)) return;
  const fluid_edge_cell at = links.cell[i];
  const size_t place = place_of(s.l, at);
  if (fluid_has_bit(links.covered, s.l, at.at[0], (size_t)at.at[2] * (size_t)s.l.n[1] + (size_t)at.at[1])) return;
  real m[fluid_moments(RANK)], d[Q], rho1, rate;
  double lost = 0;
  fluid_sums<RANK, real> sums;
  load_cell<fluid_moments(RANK)>(s.from + place, m);
  gather_links<Q, 1, STRAIGHT>(cells, links, at, at.first, m, d, &lost);
  sum_directions<Q>(d, &sums);
  const real square = collide<Q, true, EDDY, false>(
      s.k, sums, m, &rho1, &rate, (fluid_buoyant<RANK, real> *)nullptr,
      law.of(s, s.from + place, at.at[0], (size_t)at.at[2] * (size_t)s.l.n[1] + (size_t)at.at[1]));
  store_cell<fluid_moments(RANK)>(s.to + place, m);
  if (links.rate) links.rate[i] = rate;
  if (links.lost) links.lost[i] = lost;
  look<false>(s, *s.step + 1, at.at[0], (size_t)at.at[2] * (size_t)s.l.n[1] + (size_t)at.at[1], rho1, square, rho1);
}

template <int Q, bool EDDY, bool STRAIGHT, typename real>
__global__ void __launch_bounds__(128) step_links(const fluid_step<real> s, const fluid_edges<real> links) {
  step_linked<Q, EDDY, STRAIGHT>(s, links, link_cells<Q>(s, links), fluid_no_law());
}

/* The temperature of cells with links, after the mass has been given back: its velocity is that of the flow as it is
 * then. Adds the buoyancy to the flow. */
template <int RANK, bool EDDY, typename real>
__global__ void __launch_bounds__(128) step_warm_links(const fluid_step<real> s, const fluid_edges<real> links) {
  constexpr int N = fluid_moments(RANK);
  after_previous();
  int i;
  if (!find_listed(links, &i)) return;
  const fluid_edge_cell at = links.cell[i];
  const size_t place = place_of(s.l, at);
  real m[N + 1 + RANK], d[2 * RANK];
  fluid_warm_step<RANK, real> step;
  double u[RANK], g[RANK];
  load_cell<N + 1 + RANK>(s.from + place, m);
  gather_warm_links<RANK, 1>(s, links, at, at.first, m, d);
  warm_begin<RANK>(s.k, s.w, m, d, &step);
  load_cell<N>(s.to + place, m);
  const double rho = 1 + excess_of<RANK>(m);
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    g[a] = (double)step.with.force[a];
    u[a] = (double)m[1 + a] / (3 * rho) + (g[a] - (double)s.k.g[a]) / 2;
    step.with.velocity[a] = (real)u[a];
  }
  if constexpr (EDDY) step.rate = links.rate[i];
  add_buoyancy<RANK>(s.k, 1, rho, u, g, m);
  warm_end<RANK, EDDY>(s.w, step, m);
  store_cell<N + 1 + RANK>(s.to + place, m);
  look_hot(s, *s.step + 1, at.at[0], (size_t)at.at[2] * (size_t)s.l.n[1] + (size_t)at.at[1], step.T);
}

/* ---- mass ---- */

/* Interpolation takes mass from a patch of cells, which get it back in equal parts. A part is often less than half a
 * unit in the last place of the moment A: what rounding keeps of it is stored behind the state, one number a cell. A
 * patch is divided into segments, one for a block. */
struct fluid_patches {
  const fluid_segment *segment;
  const int32_t *member; /* numbers of cells with links */
  double *sums;          /* [segments] */
  int segments;
  const double *packed; /* [members]: what the cells of all ranks have lost; NULL: one rank */
};

static __global__ void __launch_bounds__(FLUID_SEGMENT) sum_lost(const fluid_patches p, const double *lost) {
  __shared__ double shared[FLUID_SEGMENT / 32];
  after_previous();
  const fluid_segment mine = p.segment[blockIdx.x];
  const int i = (int)threadIdx.x, member = mine.first + i;
  const double own = i >= mine.count ? 0 : p.packed ? p.packed[member] : lost[p.member[member]];
  const double sum = block_sum<FLUID_SEGMENT>(own, shared);
  if (i == 0) p.sums[blockIdx.x] = sum;
}

/* What each cell of the patch of a segment gets: all threads of a block. */
__device__ __forceinline__ double patch_part(const fluid_patches &p, const fluid_segment &mine) {
  __shared__ double shared[FLUID_SEGMENT / 32], part;
  double sum = 0;
  for (int k = (int)threadIdx.x; k < mine.patch_segments; k += FLUID_SEGMENT) sum += p.sums[mine.patch_first + k];
  sum = block_sum<FLUID_SEGMENT>(sum, shared);
  if (threadIdx.x == 0) part = sum / mine.patch_members;
  __syncthreads();
  return part;
}

/* from_rest, to_rest [members]: see above. */
template <int RANK, typename real>
__global__ void __launch_bounds__(FLUID_SEGMENT)
    give_mass(const fluid_step<real> s, const fluid_edges<real> links, const fluid_patches p, const real *from_rest,
              real *to_rest) {
  after_previous();
  const fluid_segment mine = p.segment[blockIdx.x];
  const int i = (int)threadIdx.x;
  const double part = patch_part(p, mine);
  if (i >= mine.count) return;
  const int cell = p.member[mine.first + i];
  if (cell < links.first || cell >= links.cells) return;
  const fluid_edge_cell at = links.cell[cell];
  real *to = s.to + place_of(s.l, at);
  const double add = part + (double)from_rest[mine.first + i];
  const real old = *to, now = (real)((double)old + add);
  *to = now;
  to_rest[mine.first + i] = (real)(add - ((double)now - (double)old));
}

/* ---- forces ---- */

/* out[6]: momentum and torque that the fluid gives to a body by a link, in units of the lattice; sent, got: g that
 * leaves a cell along it, and that arrives by it. */
template <int Q>
__device__ __forceinline__ void pull_of_link(const fluid_pull &p, int c, double sent, double got, const double *g,
                                             double *out) {
  const double weight = (double)fluid_share(Q, c) / fluid_shares(Q);
#pragma unroll
  for (int a = 0; a < 3; a++) {
    const double push = component<Q>(c, a) * weight * (sent + got);
    out[a] = p.push[a] * push + g[a] * (p.q - 0.5) / (0.5 * (Q - 1)) - p.speed[a] * weight * (sent - got);
  }
#pragma unroll
  for (int a = 0; a < 3; a++)
    out[3 + a] = p.arm[(a + 1) % 3] * out[(a + 2) % 3] - p.arm[(a + 2) % 3] * out[(a + 1) % 3];
}

/* The same of the link number `i`. */
template <int Q, typename source>
__device__ __forceinline__ void pull_of_number(const source &s, const fluid_edges<typename source::number> &links,
                                               const fluid_pull &p, double g0, double g1, double g2, double *out) {
  const fluid_edge_cell at = links.cell[p.cell];
  const fluid_edge<typename source::number> e = links.edge[p.edge];
  const double sent = s.template sent<double>(at, fluid_opposite_of(e.arriving));
  double g[3] = {0, 0, 0};
  if (s.has_lift()) s.lift(at, g);
  g[0] += g0;
  g[1] += g1;
  g[2] += g2;
  pull_of_link<Q>(p, e.arriving, sent, arrive<Q, double, true>(s, at, e), g, out);
}
/* sums[6] of a block, of out[6] of its threads. */
__device__ __forceinline__ void sum_pulls(const double *out, double *sums) {
  __shared__ double shared[FLUID_SEGMENT / 32];
#pragma unroll
  for (int k = 0; k < 6; k++) {
    const double sum = block_sum<FLUID_SEGMENT>(out[k], shared);
    if (threadIdx.x == 0) sums[k] = sum;
  }
}

/* sums[blocks][6]: momentum and torque that the fluid gives by the links of a block. */
template <int Q, typename source>
__global__ void __launch_bounds__(FLUID_SEGMENT)
    pull(const source s, const fluid_edges<typename source::number> links, const fluid_pull *pulls,
         const fluid_pull_block *blocks, double g0, double g1, double g2, double *sums) {
  after_previous();
  const fluid_pull_block mine = blocks[blockIdx.x];
  double out[6] = {0, 0, 0, 0, 0, 0};
  if ((int)threadIdx.x < mine.count) pull_of_number<Q>(s, links, pulls[mine.first + (int)threadIdx.x], g0, g1, g2, out);
  sum_pulls(out, sums + 6 * blockIdx.x);
}

#endif
