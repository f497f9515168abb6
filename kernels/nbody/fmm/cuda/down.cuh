/* L2L: a thread computes a cell, after its parent. Also tells the host that the lists are made. Device code. */
#ifndef NBODY_FMM_CUDA_DOWN_CUH
#define NBODY_FMM_CUDA_DOWN_CUH

#include "kernels/nbody/fmm/cuda/launch.cuh"
#include "kernels/nbody/fmm/cuda/operators.cuh"
#include "kernels/nbody/fmm/cuda/stages.cuh"

enum { FMM_DOWN_THREADS = 128 };

template <typename real, int P>
static __global__ void __launch_bounds__(FMM_DOWN_THREADS) fmm_down(const nbody_fmm_tree<real> t) {
  constexpr int FIELDS = NBODY_FMM_FIELD(P), STRIDE = fmm_row<real, P>::field_stride;
  after_previous();
  const unsigned cells = t.counters->level_begin[NBODY_FMM_LEVEL_MAX + 1], lane = fmm_lane();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    if (!fmm_is_finite(t)) fmm_fail(t, NBODY_FMM_NOT_FINITE);
    *(volatile unsigned long long *)t.told = (unsigned long long)t.counters->failed << 32 | t.counters->forces;
  }
  for (;;) {
    unsigned taken = 0;
    if (lane == 0) taken = atomicAdd(&t.counters->ticket[FMM_TICKET_DOWN], 32u);
    taken = warp_read(taken, 0);
    if (taken >= cells) return;
    const unsigned c = taken + lane, parent = c < cells ? t.cell[c].w : 0;
    bool waits = c > 0 && c < cells && fmm_is_walked(t, c);
    if (c == 0) *(volatile unsigned *)t.stage = FMM_STAGE_FIELD;
    while (warp_any(waits)) { /* some of these cells may be children of others of them */
      if (!waits || fmm_stage_of(t.stage, parent) < FMM_STAGE_FIELD) continue;
      __threadfence();
      real above[FIELDS], given[FIELDS], own[FIELDS];
      const typename nbody_fmm_tree<real>::body_type here = t.sphere[c], there = t.sphere[parent];
      const real per_edge = fmm_power<real>(t.level[parent]);
      const real at[3] = {(here.x - there.x) * per_edge, (here.y - there.y) * per_edge, (here.z - there.z) * per_edge};
      fmm_read_row<fmm_written>(t.field + (size_t)parent * STRIDE, above);
      fmm_read_row<fmm_written>(t.field + (size_t)c * STRIDE, own);
      fmm_device::fmm_l2l(P, above, at, given);
#pragma unroll
      for (int k = 0; k < FIELDS; k++) own[k] = given[k] + own[k];
      fmm_write_row(t.field + (size_t)c * STRIDE, own);
      __threadfence();
      *(volatile unsigned *)(t.stage + c) = FMM_STAGE_FIELD;
      waits = false;
    }
  }
}

template <typename real, int P> void nbody_fmm_queue_down(const nbody_fmm_tree<real> *t) {
  static const sim_kernel kernel = {"nbody_fmm_down", "down", SIM_LIMIT_BYTES};
  nbody_fmm_launch(&kernel, fmm_down<real, P>, FMM_DOWN_THREADS / 32, 0, *t);
}

#endif
