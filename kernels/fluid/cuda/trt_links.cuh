/* Walls of populations in place: what arrives by links is put into its slots before a step; the mass that interpolation
 * takes at bodies is given back after it; forces. Twin: `cells`, `lost` and `force` of cpu/trt.c. */
#ifndef FLUID_CUDA_TRT_LINKS_CUH
#define FLUID_CUDA_TRT_LINKS_CUH

#include "kernels/fluid/cuda/links.cuh"
#include "kernels/fluid/cuda/trt.cuh"

/* What links read of populations, as fluid_moment_cells. */
template <int Q, typename store> struct fluid_population_cells {
  static constexpr int RANK = fluid_rank(Q);
  typedef typename store::real number;
  fluid_slots<store> slots;
  template <typename real> __device__ __forceinline__ real sent(const fluid_edge_cell &cell, int c) const {
    return (real)::sent<Q>(slots, c, cell.at[0], cell.at[1], cell.at[2]);
  }
  template <typename real>
  __device__ __forceinline__ real sent_beside(const fluid_edge_cell &cell, int c, int towards) const {
    return (real)::sent<Q>(slots, c, around_box(cell.at[0] + component<Q>(towards, 0), slots.n[0]),
                           around_box(cell.at[1] + component<Q>(towards, 1), slots.n[1]),
                           around_box(cell.at[2] + component<Q>(towards, 2), slots.n[2]));
  }
  template <typename real>
  __device__ __forceinline__ void velocity_beside(const fluid_edge_cell &cell, int towards, real *u) const {
    fluid_edge_cell other = cell;
#pragma unroll
    for (int a = 0; a < 3; a++) other.at[a] = around_box(cell.at[a] + component<Q>(towards, a), slots.n[a]);
    velocity(other, u);
  }
  __device__ __forceinline__ bool has_lift() const { return false; }
  template <typename real> __device__ __forceinline__ void lift(const fluid_edge_cell &, real *) const {}
  template <typename real> __device__ __forceinline__ void velocity(const fluid_edge_cell &cell, real *u) const {
    real rho = 1;
#pragma unroll
    for (int a = 0; a < RANK; a++) u[a] = 0;
    for (int c = 0; c < Q; c++) {
      const real f = (real)fluid_share(Q, c) * sent<real>(cell, c) / fluid_shares(Q);
      rho += f;
#pragma unroll
      for (int a = 0; a < RANK; a++) u[a] += (real)component<Q>(c, a) * f;
    }
#pragma unroll
    for (int a = 0; a < RANK; a++) u[a] /= rho;
  }
};

/* arrived[links]: g that arrives by each; and the mass that links to bodies take. */
template <int Q, bool STRAIGHT, typename store>
__global__ void __launch_bounds__(128)
    find_arriving(const fluid_population_cells<Q, store> s, const fluid_edges<typename store::real> links,
                  typename store::real *arrived) {
  after_previous();
  int i;
  if (!find_listed(links, &i)) return;
  const fluid_edge_cell at = links.cell[i];
  double lost = 0;
  for (int k = at.first; k < at.first + at.count; k++) {
    const fluid_edge<typename store::real> e = links.edge[k];
    arrived[k] = arrive<Q, typename store::real, STRAIGHT>(s, at, e);
    if (links.lost && links.body[k] >= 0)
      lost += fluid_share(Q, e.arriving) / (double)fluid_shares(Q) *
              (s.template sent<double>(at, fluid_opposite_of(e.arriving)) - (double)arrived[k]);
  }
  if (links.lost) links.lost[i] = lost;
}

/* Puts them to where the step reads them, which is where other cells may have sent into their walls. */
template <int Q, typename store>
__global__ void __launch_bounds__(128)
    put_arriving(const fluid_in_place<store> s, const fluid_edges<typename store::real> links,
                 const typename store::real *arrived) {
  after_previous();
  int i;
  if (!find_listed(links, &i)) return;
  const fluid_edge_cell at = links.cell[i];
  unsigned bits = cell_bits(~step_key(s.seed, *s.step + 1), (unsigned)i);
  for (int k = at.first; k < at.first + at.count; k++) {
    const fluid_number_place p = arriving_place<Q>(s.slots, links.edge[k].arriving, at.at[0], at.at[1], at.at[2]);
    bits = next_bits(bits);
    store::put_one(s.slots.state + p.word, p.cell, store::one * arrived[k], bits);
  }
}

/* As give_mass of links.cuh: what each cell gets is added to all its populations; what rounding keeps of it is in
 * rest[members]. */
template <int Q, typename store>
__global__ void __launch_bounds__(FLUID_SEGMENT)
    give_population_mass(const fluid_slots<store> s, const fluid_edges<typename store::real> links,
                         const fluid_patches p, typename store::real *rest) {
  typedef typename store::real real;
  after_previous();
  const fluid_segment mine = p.segment[blockIdx.x];
  const int i = (int)threadIdx.x;
  const double part = patch_part(p, mine);
  double added = 0;
  if (i >= mine.count) return;
  const int cell = p.member[mine.first + i];
  if (cell < links.first || cell >= links.cells) return;
  const fluid_edge_cell at = links.cell[cell];
  const double add = part + (double)rest[mine.first + i];
  for (int c = 0; c < Q; c++) {
    const fluid_number_place place = sent_place<Q>(s, c, at.at[0], at.at[1], at.at[2]);
    const real old = store::get_one(s.state + place.word, place.cell);
    store::put_near(s.state + place.word, place.cell, (real)((double)old + (double)store::one * add));
    added += fluid_share(Q, c) / (double)fluid_shares(Q) *
             ((double)store::get_one(s.state + place.word, place.cell) - (double)old) / (double)store::one;
  }
  rest[mine.first + i] = (real)(add - added);
}

#endif
