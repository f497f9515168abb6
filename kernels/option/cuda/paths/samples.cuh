/* Samples of all quantities and their sums. Twin: `sample` in cpu/ops.c. Device code; the generated source of a run
 * defines the struct `payoffs`: groups of quantities as functions of path features.
 *
 * A thread block takes a part of a logical block, S::PART samples: its threads simulate S::OUTER x S::INNER paths
 * each, add INNER of them in the paths' precision and everything else in fp64, in an order that does not depend on
 * the grid. partial[parts][quantities][2]: sums of v - shift and of its square. */
#ifndef OPTION_CUDA_SAMPLES_CUH
#define OPTION_CUDA_SAMPLES_CUH

#include "kernels/option/cuda/paths/path.cuh"
#include "kernels/option/cuda/paths/moments.cuh"

/* Sums of v - shift, and of its square, of a group of quantities. */
template <class P, typename real> struct group_sums { real first[P::COUNT], second[P::COUNT]; };

template <class P, typename real> __device__ inline void clear(group_sums<P, real> &sums) {
#pragma unroll
  for (int k = 0; k < P::COUNT; k++) sums.first[k] = sums.second[k] = 0;
}

template <class S, class P>
__device__ inline void add_path(const constants<S> &c, int group, const typename S::real *views,
                                group_sums<P, typename S::real> &sums) {
  typedef typename S::real real;
  real value[P::COUNT], control[P::COUNT];
  P::of(group, views, c.c + S::C_QUANTITY, value, control);
#pragma unroll
  for (int k = 0; k < P::COUNT; k++) {
    const real *quantity = c.c + S::C_QUANTITY + 2 * (group * OPTION_CUDA_GROUP + k);
    real d = P::SHIFTED ? value[k] : value[k] - quantity[0];
    if (P::CONTROLS) d = fused(-quantity[1], control[k], d);
    if constexpr (S::CHECKED) d += views[S::VIEWS];
    sums.first[k] += d;
    sums.second[k] = fused(d, d, sums.second[k]);
  }
}

/* Adds a warp's sums to the block's in shared memory; eight at a time where there is one group, all at once where
 * there are several. */
template <class P, typename real>
__device__ inline void close_group(int group, const group_sums<P, real> &sums,
                                   double (*all)[P::GROUPS * OPTION_CUDA_GROUP][2]) {
  double each[2 * P::COUNT];
#pragma unroll
  for (int k = 0; k < P::COUNT; k++) {
    each[2 * k] = (double)sums.first[k];
    each[2 * k + 1] = (double)sums.second[k];
  }
#pragma unroll P::GROUPS> 1 ? 2 * P::COUNT : 8
  for (int k = 0; k < 2 * P::COUNT; k++) {
    const double sum = warp_sum_all(each[k]);
    if (threadIdx.x % 32 == 0) all[threadIdx.x / 32][group * OPTION_CUDA_GROUP + k / 2][k % 2] += sum;
  }
}

/* One group of quantities: its sums stay in registers. */
template <class S, class P, bool FULL>
__device__ inline void sample_one(const constants<S> &c, const option_keys &keys, const typename S::real *table,
                                  const common_bits *kept, const option_points *points, const moments<S> *matched,
                                  unsigned high, unsigned low, unsigned left,
                                  double (*all)[P::GROUPS * OPTION_CUDA_GROUP][2]) {
  typedef typename S::real real;
  group_sums<P, double> total;
  own_bits own = prepare(begin_stream(high, threadIdx.x), keys, 0);
#if !OPTION_MRG
  if (S::SHARE > 1) /* kept, not computed anew in each turn */
    keep_in_registers(own.third.low, own.third.high, own.c1, own.c2);
#endif
  clear(total);
#pragma unroll 1
  for (int outer = 0; outer < S::OUTER; outer++) {
    group_sums<P, real> sums;
    clear(sums);
#pragma unroll S::SHARE> 1 ? S::UNROLL : 1
    for (int inner = 0; inner < S::INNER; inner += S::SHARE) {
      const unsigned before = (outer * S::INNER + inner) * OPTION_CUDA_THREADS, number = before + threadIdx.x;
      if (!FULL && number >= left) continue;
      simulate_path(c, keys, table, kept, own, points, matched, high, low + before,
                    (outer * S::INNER + inner) / S::SHARE, [&](int r, const real *views) {
                      if (FULL || number + r * OPTION_CUDA_THREADS < left) add_path<S, P>(c, 0, views, sums);
                    });
    }
#pragma unroll
    for (int k = 0; k < P::COUNT; k++) {
      total.first[k] += (double)sums.first[k];
      total.second[k] += (double)sums.second[k];
    }
  }
  close_group<P>(0, total, all);
}

/* Several groups: the features of INNER paths are kept, and each group reads them all. */
template <class S, class P>
__device__ inline void sample_many(const constants<S> &c, const option_keys &keys, const typename S::real *table,
                                   const common_bits *kept, const option_points *points, const moments<S> *matched,
                                   unsigned high, unsigned low, unsigned left,
                                   double (*all)[P::GROUPS * OPTION_CUDA_GROUP][2]) {
  typedef typename S::real real;
  real views[S::INNER][S::VIEWS + S::CHECKED];
  const own_bits own = prepare(begin_stream(high, threadIdx.x), keys, 0);
#pragma unroll 1
  for (int outer = 0; outer < S::OUTER; outer++) {
    const unsigned before = outer * S::INNER * OPTION_CUDA_THREADS, first = before + threadIdx.x;
#pragma unroll 1
    for (int inner = 0; inner < S::INNER; inner += S::SHARE)
      simulate_path(c, keys, table, kept, own, points, matched, high, low + before + inner * OPTION_CUDA_THREADS,
                    (outer * S::INNER + inner) / S::SHARE, [&](int r, const real *seen) {
                      for (int v = 0; v < S::VIEWS + S::CHECKED; v++) views[inner + r][v] = seen[v];
                    });
#pragma unroll 1
    for (int group = 0; group < P::GROUPS; group++) {
      group_sums<P, real> sums;
      clear(sums);
#pragma unroll 1
      for (int inner = 0; inner < S::INNER; inner++)
        if (first + inner * OPTION_CUDA_THREADS < left) add_path<S, P>(c, group, views[inner], sums);
      close_group<P>(group, sums, all);
    }
  }
}

template <class S, class P>
__device__ inline void sample_part(const constants<S> &c, const option_keys &keys, const typename S::real *table,
                                   const option_range &range, const option_points &tables, double *partial) {
  enum { WARPS = OPTION_CUDA_THREADS / 32, SLOTS = P::GROUPS * OPTION_CUDA_GROUP };
  __shared__ double all[WARPS][SLOTS][2];
  __shared__ common_bits kept[groups<S>::KEPT ? groups<S>::COUNT : 1];
  const unsigned long long before = (unsigned long long)blockIdx.x * S::PART;
  unsigned long long first = range.first + before, rest = range.count - before;
  const option_points *points = nullptr;
  if (S::SOBOL && range.scrambles > 0) {
    const unsigned parts = (range.block + S::PART - 1) / S::PART, part = blockIdx.x % parts * S::PART;
    const unsigned long long block = range.first / range.block + blockIdx.x / parts;
    first = (block % range.scrambles << 40) + block / range.scrambles * range.block + part;
    rest = range.block - part;
    points = &tables;
  }
  const unsigned left = rest < S::PART ? (unsigned)rest : S::PART;
  for (int i = threadIdx.x; i < WARPS * SLOTS * 2; i += OPTION_CUDA_THREADS) (&all[0][0][0])[i] = 0;
  const unsigned high = (unsigned)(first >> 32), low = (unsigned)first;
  const unsigned from = S::SHARE > 1 ? low / (OPTION_CUDA_THREADS * S::SHARE) : 0;
  for (unsigned i = threadIdx.x; groups<S>::KEPT && i < groups<S>::COUNT; i += OPTION_CUDA_THREADS)
    kept[i] = common(high, keys, from + i);
  __syncthreads();
  const moments<S> *matched = nullptr;
  if constexpr (S::MATCHED) {
    __shared__ moments<S> here;
    if (range.matched) {
      part_moments(c, keys, kept, high, low, here);
      matched = &here;
    }
  }
  if constexpr (P::GROUPS > 1)
    sample_many<S, P>(c, keys, table, kept, points, matched, high, low, left, all);
  else if (S::LIGHT && left == S::PART) /* full parts skip the check of the path's number, which costs some per cent */
    sample_one<S, P, true>(c, keys, table, kept, points, matched, high, low, left, all);
  else
    sample_one<S, P, false>(c, keys, table, kept, points, matched, high, low, left, all);
  __syncthreads();
  for (int i = threadIdx.x; i < P::QUANTITIES * 2; i += OPTION_CUDA_THREADS) {
    double sum = 0;
#pragma unroll
    for (int warp = 0; warp < WARPS; warp++) sum += (&all[warp][0][0])[i];
    partial[(size_t)blockIdx.x * P::QUANTITIES * 2 + i] = sum;
  }
}

#endif
