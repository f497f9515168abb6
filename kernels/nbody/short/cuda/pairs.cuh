/* Pair forces and sums over lists of neighbours. `Law` is a struct of the scenario's law: force(r2) in pair_real,
 * wide_force(r2) and potential(r2) in fp64. Device code for NVRTC, and types for both compilers.
 *
 * Bodies are in the order of cells (list.cuh). List k of body i is list[k n + i]; each pair is in both lists. The order
 * of sums follows from the lists. */
#ifndef NBODY_CUDA_SHORT_PAIRS_CUH
#define NBODY_CUDA_SHORT_PAIRS_CUH

#include "kernels/nbody/cuda/reduce.cuh"
#include "kernels/nbody/direct/cuda/power.cuh"

/* Position of a body for the pair terms. fp32: the box is 2^32 long, so that differences are between nearest images.
 * fp64: positions without a jump where a body leaves the box. */
template <typename pair_real> struct place;
template <> struct place<float> {
  typedef int4 type; /* w: bits of the mass, a float */
  __device__ static float mass(const int4 &q) { return __int_as_float(q.w); }
  __device__ static float apart(int to, int from, float box) {
    return (float)(int)((unsigned)to - (unsigned)from) * (box * 0x1p-32f);
  }
};
template <> struct place<double> {
  typedef double_quad type;
  __device__ static double mass(const double_quad &q) { return q.w; }
  __device__ static double apart(double to, double from, double box) {
    const double d = to - from;
    return d - box * rint(d / box);
  }
};

/* Lists of neighbours in device memory. */
struct short_lists {
  int n;
  const int *order;  /* number in the state of each body */
  const int *length; /* [n] */
  const int *list;
};

enum { SHORT_THREADS = 128, SHORT_FLUSH = 16 /* terms of a partial sum in the pairs' precision */ };

template <typename Law, typename pair_real>
__device__ __forceinline__ void short_force(const short_lists &lists, const typename place<pair_real>::type *places,
                                            double box, double cutoff2, double *acceleration) {
  typedef place<pair_real> of;
  after_previous();
  const int i = blockIdx.x * SHORT_THREADS + threadIdx.x;
  if (i >= lists.n) return;
  const size_t n = (size_t)lists.n;
  const typename of::type mine = places[i];
  const int length = lists.length[i];
  const pair_real edge = (pair_real)box, limit = (pair_real)cutoff2;
  double total[3] = {0, 0, 0};
  for (int first = 0; first < length; first += SHORT_FLUSH) {
    const int count = min(length - first, (int)SHORT_FLUSH);
    pair_real sum[3] = {0, 0, 0};
#pragma unroll 4
    for (int k = 0; k < count; k++) {
      const typename of::type q = places[lists.list[(size_t)(first + k) * n + i]];
      const pair_real dx = of::apart(q.x, mine.x, edge), dy = of::apart(q.y, mine.y, edge),
                      dz = of::apart(q.z, mine.z, edge);
      const pair_real r2 = fused(dz, dz, fused(dy, dy, dx * dx));
      const pair_real f = r2 < limit ? Law::force(r2) * of::mass(q) : (pair_real)0;
      sum[0] = fused(f, dx, sum[0]);
      sum[1] = fused(f, dy, sum[1]);
      sum[2] = fused(f, dz, sum[2]);
    }
    for (int c = 0; c < 3; c++) total[c] += (double)sum[c];
  }
  const size_t to = (size_t)lists.order[i];
  for (int c = 0; c < 3; c++) acceleration[(size_t)c * n + to] = total[c];
}

enum { SHORT_POTENTIAL, SHORT_VIRIAL, SHORT_WEIGHT, SHORT_DISPLACEMENT, SHORT_SUMS };

/* partial[SHORT_SUMS][blocks] of NBODY_PARTIAL_BODIES bodies; each pair counts half for both bodies. */
template <typename Law, typename real>
__device__ __forceinline__ void short_sums(const short_lists &lists, const real *mass, const real *position,
                                           const double *searched, const double *travelled, double box, double cutoff2,
                                           double *partial) {
  __shared__ double shared[32];
  after_previous();
  const int i = blockIdx.x * NBODY_PARTIAL_BODIES + threadIdx.x;
  const size_t n = (size_t)lists.n;
  double sums[SHORT_SUMS] = {0, 0, 0, 0};
  if (i < lists.n) {
    const size_t own = (size_t)lists.order[i];
    double x[3];
    for (int c = 0; c < 3; c++) {
      x[c] = position[c * n + own];
      const double moved = place<double>::apart(x[c], searched[c * n + own], box), all = travelled[c * n + own] + moved;
      sums[SHORT_DISPLACEMENT] += all * all;
    }
    const int length = lists.length[i];
    for (int k = 0; k < length; k++) {
      const size_t j = (size_t)lists.order[lists.list[(size_t)k * n + i]];
      double r2 = 0;
      for (int c = 0; c < 3; c++) {
        const double d = place<double>::apart(position[c * n + j], x[c], box);
        r2 = fused(d, d, r2);
      }
      if (!(r2 < cutoff2)) continue;
      const double weight = 0.5 * mass[own] * mass[j];
      sums[SHORT_POTENTIAL] += weight * Law::potential(r2);
      sums[SHORT_VIRIAL] -= weight * Law::wide_force(r2) * r2;
      sums[SHORT_WEIGHT] += weight;
    }
  }
  for (int k = 0; k < SHORT_SUMS; k++) {
    const double sum = over_block<reduce_sum>(sums[k], shared);
    if (threadIdx.x == 0) partial[(size_t)k * gridDim.x + blockIdx.x] = sum;
  }
}

#endif
