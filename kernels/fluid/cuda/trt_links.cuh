/* Walls of populations in place: what arrives by links is put into its slots before a step; the mass that interpolation
 * takes at bodies is given back after it; forces. Twin: `cells`, `lost` and `force` of cpu/trt.c. */
#ifndef FLUID_CUDA_TRT_LINKS_CUH
#define FLUID_CUDA_TRT_LINKS_CUH

#include "kernels/fluid/cuda/links.cuh"
#include "kernels/fluid/cuda/trt.cuh"

/* g_c of the neighbour of a cell in direction `towards`. */
template <int RANK, typename store>
__device__ __forceinline__ typename store::real sent_beside(const fluid_slots<store> &s, int c, const int *at,
                                                            int towards) {
  return sent<RANK>(s, c, around_box(at[0] + component<RANK>(towards, 0), s.n[0]),
                    around_box(at[1] + component<RANK>(towards, 1), s.n[1]),
                    around_box(at[2] + component<RANK>(towards, 2), s.n[2]));
}

/* g that arrives through a side of given pressure. */
template <int RANK, typename store>
__device__ __forceinline__ typename store::real arrive_open(const fluid_slots<store> &s, int c,
                                                            typename store::real constant, const int *at) {
  typedef typename store::real real;
  real rho = 1, flow[RANK] = {}, along = 0, square = 0;
  for (int e = 0; e < fluid_directions(RANK); e++) {
    const real f = (real)weight36<RANK>(e) * sent<RANK>(s, e, at[0], at[1], at[2]) / 36;
    rho += f;
#pragma unroll
    for (int a = 0; a < RANK; a++) flow[a] += (real)component<RANK>(e, a) * f;
  }
#pragma unroll
  for (int a = 0; a < RANK; a++) {
    const real u = flow[a] / rho;
    along += (real)component<RANK>(c, a) * u;
    square += u * u;
  }
  return constant - sent<RANK>(s, fluid_opposite_of(c), at[0], at[1], at[2]) +
         (2 + constant) * ((real)4.5 * along * along - (real)1.5 * square);
}

/* g that arrives at a cell by a link. */
template <int RANK, typename store>
__device__ __noinline__ typename store::real arrive_by(const fluid_slots<store> &s, const fluid_edge_cell &cell,
                                                       const fluid_edge<typename store::real> &e) {
  typedef typename store::real real;
  const int *at = cell.at, c = e.arriving, d = fluid_opposite_of(c);
  switch (e.kind) {
  case FLUID_NEAR:
    return e.weight * sent<RANK>(s, d, at[0], at[1], at[2]) +
           (1 - e.weight) * sent_beside<RANK>(s, e.second, at, e.towards) + e.constant;
  case FLUID_FAR:
    return e.weight * sent<RANK>(s, d, at[0], at[1], at[2]) + (1 - e.weight) * sent<RANK>(s, c, at[0], at[1], at[2]) +
           e.constant;
  case FLUID_MIRROR: return sent_beside<RANK>(s, e.second, at, e.towards);
  case FLUID_OPEN: return arrive_open<RANK>(s, c, e.constant, at);
  default: return sent<RANK>(s, d, at[0], at[1], at[2]) + e.constant;
  }
}

/* arrived[links]: g that arrives by each; and the mass that links to bodies take. */
template <int RANK, typename store>
__global__ void __launch_bounds__(128)
    find_arriving(const fluid_slots<store> s, const fluid_edges<typename store::real> links,
                  typename store::real *arrived) {
  after_previous();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= links.cells) return;
  const fluid_edge_cell at = links.cell[i];
  double lost = 0;
  for (int k = at.first; k < at.first + at.count; k++) {
    const fluid_edge<typename store::real> e = links.edge[k];
    arrived[k] = arrive_by<RANK>(s, at, e);
    if (links.lost && links.body[k] >= 0)
      lost += weight36<RANK>(e.arriving) / 36.0 *
              ((double)sent<RANK>(s, fluid_opposite_of(e.arriving), at.at[0], at.at[1], at.at[2]) - (double)arrived[k]);
  }
  if (links.lost) links.lost[i] = lost;
}

/* Puts them to where the step reads them, which is where other cells may have sent into their walls. */
template <int RANK, typename store>
__global__ void __launch_bounds__(128)
    put_arriving(const fluid_in_place<store> s, const fluid_edges<typename store::real> links,
                 const typename store::real *arrived) {
  after_previous();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= links.cells) return;
  const fluid_edge_cell at = links.cell[i];
  unsigned bits = cell_bits(~step_key(s.seed, *s.step + 1), (unsigned)i);
  for (int k = at.first; k < at.first + at.count; k++) {
    const fluid_number_place p = arriving_place<RANK>(s.slots, links.edge[k].arriving, at.at[0], at.at[1], at.at[2]);
    bits = next_bits(bits);
    store::put_one(s.slots.state + p.word, p.cell, store::one * arrived[k], bits);
  }
}

/* As give_mass of links.cuh: what each cell gets is added to all its populations; what rounding keeps of it is in
 * rest[members]. */
template <int RANK, typename store>
__global__ void __launch_bounds__(FLUID_SEGMENT)
    give_population_mass(const fluid_slots<store> s, const fluid_edge_cell *cells, const fluid_patches p,
                         typename store::real *rest) {
  typedef typename store::real real;
  after_previous();
  const fluid_segment mine = p.segment[blockIdx.x];
  const int i = (int)threadIdx.x;
  const double part = patch_part(p, mine);
  double added = 0;
  if (i >= mine.count) return;
  const fluid_edge_cell at = cells[p.member[mine.first + i]];
  const double add = part + (double)rest[mine.first + i];
  for (int c = 0; c < fluid_directions(RANK); c++) {
    const fluid_number_place place = sent_place<RANK>(s, c, at.at[0], at.at[1], at.at[2]);
    const real old = store::get_one(s.state + place.word, place.cell);
    store::put_near(s.state + place.word, place.cell, (real)((double)old + (double)store::one * add));
    added += weight36<RANK>(c) / 36.0 * ((double)store::get_one(s.state + place.word, place.cell) - (double)old) /
             (double)store::one;
  }
  rest[mine.first + i] = (real)(add - added);
}

/* sums[blocks][6], as of `pull`. */
template <int RANK, typename store>
__global__ void __launch_bounds__(FLUID_SEGMENT)
    pull_populations(const fluid_slots<store> s, const fluid_edges<typename store::real> links, const fluid_pull *pulls,
                     const fluid_pull_block *blocks, double g0, double g1, double g2, double *sums) {
  __shared__ double shared[FLUID_SEGMENT / 32];
  after_previous();
  const fluid_pull_block mine = blocks[blockIdx.x];
  double out[6] = {0, 0, 0, 0, 0, 0};
  const double g[3] = {g0, g1, g2};
  if ((int)threadIdx.x < mine.count) {
    const fluid_pull p = pulls[mine.first + (int)threadIdx.x];
    const fluid_edge_cell at = links.cell[p.cell];
    const fluid_edge<typename store::real> e = links.edge[p.edge];
    const double left = (double)sent<RANK>(s, fluid_opposite_of(e.arriving), at.at[0], at.at[1], at.at[2]);
    pull_of_link<RANK>(p, e.arriving, left, (double)arrive_by<RANK>(s, at, e), g, out);
  }
  sum_pulls(out, shared, sums);
}

#endif
