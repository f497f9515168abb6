/* The passes along x and y of a flow on three axes go over parts of PLANES planes. One launch has the rows of a part,
 * the forward pass along y of the part before, and the inverse one of the part after, so that the arithmetic of rows
 * and the traffic of the others share the time, and what the passes give each other stays in the level 2 cache. Thread
 * blocks of the three kinds alternate. A kind that has no part has no blocks. */
#ifndef DIFFUSION_CUDA_FLOW_PARTS_CUH
#define DIFFUSION_CUDA_FLOW_PARTS_CUH

#include "kernels/diffusion/cuda/flow/middle.cuh"
#include "kernels/diffusion/cuda/flow/rows.cuh"

/* Of `all` blocks, `some` are of one kind, spread evenly. Returns the number of block b among them, or -1 and in *other
 * its number among the others. */
__device__ __forceinline__ int flow_turn_of(int b, int some, int all, int *other) {
  const int before = (int)((long long)b * some / all), after = (int)((long long)(b + 1) * some / all);
  *other = b - before;
  return after > before ? before : -1;
}

/* plane: the first one of the part with rows, or minus PLANES before the first part, or NZ after the last one.
 * `columns`: by columns; rows: three parts by rows, g.part apart; part number p is in place p % 3. */
template <typename S, typename Rates, typename Reads, int FIELDS, int L>
__device__ __forceinline__ void flow_parts_of(const diffusion_flow &g, float2 *columns, float2 *rows, int plane,
                                              double t, double h) {
  constexpr int TILES = S::PLANES / S::SLAB * S::TX, PLACES = 3;
  const int of_rows = plane >= 0 && plane < S::NZ ? S::NY * S::PLANES / L : 0;
  const int inverse = plane + S::PLANES < S::NZ ? TILES * Reads::READS : 0, forward = plane > 0 ? TILES * FIELDS : 0;
  const int part = plane / S::PLANES + PLACES;
  int left, row;
  after_previous();
  const int of_inverse = flow_turn_of(blockIdx.x, inverse, inverse + forward + of_rows, &left);
  if (of_inverse >= 0) {
    flow_middle_of<S, false>(g, columns, rows + (part + 1) % PLACES * g.part, of_inverse, plane + S::PLANES);
    return;
  }
  const int of_forward = flow_turn_of(left, forward, forward + of_rows, &row);
  if (of_forward >= 0) {
    flow_middle_of<S, true>(g, rows + (part - 1) % PLACES * g.part, columns, of_forward, plane - S::PLANES);
    return;
  }
  float2 *own = rows + part % PLACES * g.part;
  flow_rows_of<S, Rates, Reads, FIELDS, L, FLOW_STEP>(g, own, own, t, h, row, plane);
}

#endif
