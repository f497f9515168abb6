/* A pair of bodies in a periodic box: the nearest image, and Ewald's expansions of all others (periodic/lattice.h). The
 * arithmetic of kernels/nbody/direct/cpu/periodic_loop.c. Device code. */
#ifndef NBODY_CUDA_PERIODIC_CUH
#define NBODY_CUDA_PERIODIC_CUH

#include "kernels/nbody/fmm/cuda/operators.cuh"
#include "kernels/nbody/periodic/lattice.h"

/* Lengths in edges of the box. */
template <typename real> struct periodic_pairs {
  const real *table; /* of nbody_lattice_fill_table, on the device */
  real softening2;

  /* The vector from the nearest image of a body d away, negative, and the inverse of its softened length; 0 for the
   * body itself. */
  __device__ __forceinline__ real nearest_image(real (&d)[3], bool same) const {
#pragma unroll
    for (int c = 0; c < 3; c++) d[c] = d[c] - rint(d[c]);
    const real s2 = fused(d[2], d[2], fused(d[1], d[1], fused(d[0], d[0], softening2)));
    return same ? 0 : fmm_device::v_inverse_root(s2);
  }

  __device__ __forceinline__ void look_up(const real (&d)[3], real (&away)[3], real (&row)[NBODY_TABLE_ROW]) const {
    int node[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
      const real at = fabs(d[c]) * (2 * NBODY_TABLE_NODES), rounded = rint(at);
      node[c] = (int)rounded;
      away[c] = (at - rounded) * ((real)0.5 / NBODY_TABLE_NODES);
    }
    const int side = NBODY_TABLE_NODES + 1;
    fmm_read_row<fmm_settled>(table + (size_t)((node[0] * side + node[1]) * side + node[2]) * NBODY_TABLE_ROW, row);
  }

  /* d: source - target. */
  __device__ __forceinline__ void add(real (&d)[3], real mass, bool same, real (&sum)[3]) const {
    real away[3], row[NBODY_TABLE_ROW], gradient[3];
    const real y = nearest_image(d, same), g = (mass * y) * (y * y);
    look_up(d, away, row);
    fmm_device::fmm_l2p(NBODY_TABLE_ORDER, row, away, gradient);
#pragma unroll
    for (int c = 0; c < 3; c++) sum[c] = fused(-mass, copysign((real)1, d[c]) * gradient[c], fused(g, d[c], sum[c]));
  }

  __device__ __forceinline__ real potential(real (&d)[3], bool same) const {
    real away[3], row[NBODY_TABLE_ROW];
    const real y = nearest_image(d, same);
    look_up(d, away, row);
    return y + fmm_device::fmm_l2p_potential(NBODY_TABLE_ORDER, row, away);
  }
};

#endif
