/* What several GPUs need beside the kernels of one: masses and forces of links, which are sums over cells of all ranks
 * in the order of one rank. */
#ifndef FLUID_CUDA_RANKS_CUH
#define FLUID_CUDA_RANKS_CUH

#include "kernels/fluid/cuda/links.cuh"

/* packed[members]: what the cells of this rank have lost, 0 for those of other ranks. */
static __global__ void __launch_bounds__(256)
    pack_lost(const int32_t *member, int members, int first, int end, const double *lost, double *packed) {
  after_previous();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= members) return;
  const int cell = member[i];
  packed[i] = cell >= first && cell < end ? lost[cell] : 0;
}

/* terms[links][6]: what the links of this rank give to their bodies. */
template <int Q, typename source>
__global__ void __launch_bounds__(FLUID_SEGMENT)
    pull_terms(const source s, const fluid_edges<typename source::number> links, const fluid_pull *pulls,
               const fluid_pull_block *blocks, double g0, double g1, double g2, double *terms) {
  after_previous();
  const fluid_pull_block mine = blocks[blockIdx.x];
  if ((int)threadIdx.x >= mine.count) return;
  const int number = mine.first + (int)threadIdx.x;
  const fluid_pull p = pulls[number];
  double out[6];
  if (p.cell < links.first || p.cell >= links.cells) return;
  pull_of_number<Q>(s, links, p, g0, g1, g2, out);
#pragma unroll
  for (int k = 0; k < 6; k++) terms[6 * (size_t)number + k] = out[k];
}

/* sums[blocks][6] of these terms of all ranks: as `pull` adds them. */
static __global__ void __launch_bounds__(FLUID_SEGMENT)
    sum_terms(const fluid_pull_block *blocks, const double *terms, double *sums) {
  after_previous();
  const fluid_pull_block mine = blocks[blockIdx.x];
  double out[6] = {0, 0, 0, 0, 0, 0};
#pragma unroll
  for (int k = 0; k < 6; k++)
    if ((int)threadIdx.x < mine.count) out[k] = terms[6 * (size_t)(mine.first + (int)threadIdx.x) + k];
  sum_pulls(out, sums + 6 * blockIdx.x);
}

#endif
