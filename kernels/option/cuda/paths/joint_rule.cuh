/* Early exercise by rules on several numbers of a path, and the normal equations of their regression. Twins:
 * `exercise_jointly` of cpu/features.h, cpu/joint_rule.c. Device code.
 *
 * The generated source of a run defines a type J for each payoff (joint_text.c):
 *   J::real                            float or double, of a regression double
 *   J::ASSETS, J::BASES, J::SCALES     assets; functions of the regression; centres and factors that they take
 *   J::INPUTS                          prices [ASSETS], the highest so far [ASSETS] where the payment reads them, the
 *                                      volatilities that the rule sees, and a random rate
 *   J::STATES                          volatilities and rates among them
 *   J::RECORDED                        numbers of a path and date: the inputs, and the deflator of a random rate
 *   J::SCALED                          inputs that have a centre and factor of their own: all prices, or none, and all
 *                                      states
 *   J::functions(input, scale, out)    input [INPUTS], scale [SCALES][2] -> out [1 + BASES]: payment, then functions */
#ifndef OPTION_CUDA_JOINT_RULE_CUH
#define OPTION_CUDA_JOINT_RULE_CUH

#include "kernels/option/cuda/paths/random.cuh"

/* Exercise at a date, of a path that has been paid `paid` (-1: nothing yet); returns what it has been paid then,
 * carried to the payment date, and NaN where the payment is not finite. rule, in the table: spots [ASSETS], scales
 * [SCALES][2], then for each date the growth of money until the payment date and the coefficients [BASES]. deflator: of
 * a random rate at the date, else 1. */
template <class J>
__device__ inline typename J::real settle_jointly(const typename J::real *input, const typename J::real *rule, int date,
                                                  bool last, typename J::real deflator, typename J::real paid) {
  typedef typename J::real real;
  real scale[2 * J::SCALES], out[1 + J::BASES], hold = 0;
#pragma unroll
  for (int k = 0; k < 2 * J::SCALES; k++) scale[k] = __ldg(rule + J::ASSETS + k);
  J::functions(input, scale, out);
  const real *of = rule + J::ASSETS + 2 * J::SCALES + date * (1 + J::BASES);
  if (!last)
#pragma unroll
    for (int k = 0; k < J::BASES; k++) hold = fused(out[1 + k], __ldg(of + 1 + k), hold);
  if (paid < 0 && out[0] > 0 && out[0] > hold) paid = out[0] * (__ldg(of) * deflator);
  if (last && paid < 0) paid = 0;
  return paid + (out[0] - out[0]);
}

/* ---- regression ---- */

/* Inputs [INPUTS] of a path; column i of price[RECORDED][stride]. */
template <class J> __device__ inline void read_inputs(const double *price, size_t stride, size_t i, double *out) {
#pragma unroll
  for (int k = 0; k < J::INPUTS; k++) out[k] = price[k * stride + i];
}

/* Sums over the paths of a chunk and all dates, as option_joint_scale reads them: the first 3 + 2 SCALED numbers of
 * partial[blocks][4 + 2 SCALED]; behind them the number of payments that are not finite. One chunk a thread block. */
template <class J> __device__ inline void joint_scale(const double *price, size_t stride, int dates, double *partial) {
  enum { SUMS = 4 + 2 * J::SCALED, PRICED = J::SCALED - J::STATES, WARPS = OPTION_CUDA_THREADS / 32 };
  __shared__ double all[WARPS][SUMS];
  const double scale[2 * J::SCALES] = {};
  double sum[SUMS] = {};
#pragma unroll 1
  for (int n = threadIdx.x; n < dates * OPTION_CHUNK; n += OPTION_CUDA_THREADS) {
    double at[J::INPUTS], out[1 + J::BASES];
    const size_t path = (size_t)blockIdx.x * OPTION_CHUNK + n % OPTION_CHUNK, date = n / OPTION_CHUNK;
    read_inputs<J>(price + date * J::RECORDED * stride, stride, path, at);
    J::functions(at, scale, out); /* the payment alone is kept */
    if (!isfinite(out[0])) sum[SUMS - 1] += 1;
    if (!(out[0] > 0)) continue;
    sum[0] += 1;
    sum[1] += out[0];
    sum[2] = fused(out[0], out[0], sum[2]);
#pragma unroll
    for (int k = 0; k < J::SCALED; k++) {
      const double x = at[k < PRICED ? k : J::INPUTS - J::SCALED + k];
      sum[3 + 2 * k] += x;
      sum[4 + 2 * k] = fused(x, x, sum[4 + 2 * k]);
    }
  }
#pragma unroll
  for (int k = 0; k < SUMS; k++) {
    const double a = warp_sum_all(sum[k]);
    if (threadIdx.x % 32 == 0) all[threadIdx.x / 32][k] = a;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < SUMS; k += OPTION_CUDA_THREADS) {
    double a = 0;
    for (int warp = 0; warp < WARPS; warp++) a += all[warp][k];
    partial[(size_t)blockIdx.x * SUMS + k] = a;
  }
}

/* How a thread block sums products of the functions, and of functions and cash: COLUMNS numbers a path, in groups of
 * three; a thread adds the nine products of two groups. SETS threads share a pair of groups, each with its own paths.
 * A tile holds the numbers of ROWS paths. */
template <class J> struct joint_shape {
  enum : int {
    COLUMNS = J::BASES + 1,
    GROUPS = (COLUMNS + 2) / 3,
    PAIRS = GROUPS * (GROUPS + 1) / 2,
    SETS = OPTION_CUDA_THREADS / PAIRS,
    WIDTH = (3 * GROUPS) | 1, /* odd: paths lie in different banks */
    FIT = 5120 / WIDTH / 32 * 32,
    ROWS = FIT < 32                    ? 32
           : FIT > OPTION_CUDA_THREADS ? OPTION_CUDA_THREADS
                                       : FIT,
    GATHERED = SETS * PAIRS * 9,
    TILE = ROWS * WIDTH > GATHERED ? ROWS *WIDTH : GATHERED
  };
  static_assert(SETS >= 1, "more functions than a thread block can sum");
};

/* Exercises at the next date, discounts, and lists the paths of the chunk with a positive payment, in order: their
 * numbers in paid[OPTION_CHUNK]; returns how many. counts [OPTION_CHUNK / 32]. */
template <class J>
__device__ inline int go_back(const option_joint_step &f, const double *now, const double *next, size_t stride,
                              double *cash, unsigned short *paid, int *counts) {
  enum { TURNS = OPTION_CHUNK / OPTION_CUDA_THREADS, WARPS = OPTION_CUDA_THREADS / 32 };
  const size_t first = (size_t)blockIdx.x * OPTION_CHUNK + threadIdx.x;
  unsigned votes[TURNS];
#pragma unroll
  for (int turn = 0; turn < TURNS; turn++) {
    const size_t i = first + turn * OPTION_CUDA_THREADS;
    double at[J::INPUTS], out[1 + J::BASES], hold = 0, brings = cash[i];
    read_inputs<J>(next, stride, i, at);
    J::functions(at, &f.scale[0][0], out);
#pragma unroll
    for (int k = 0; k < J::BASES; k++) hold = fused(out[1 + k], f.beta[k], hold);
    if (!f.holds) hold = 0;
    if (out[0] > 0 && out[0] >= hold) brings = out[0];
    if constexpr (J::RECORDED > J::INPUTS) brings *= next[J::INPUTS * stride + i] / now[J::INPUTS * stride + i];
    cash[i] = brings * f.discount;
    read_inputs<J>(now, stride, i, at);
    J::functions(at, &f.scale[0][0], out); /* the payment alone is kept */
    votes[turn] = warp_ballot(out[0] > 0);
    if (threadIdx.x % 32 == 0) counts[turn * WARPS + threadIdx.x / 32] = __popc(votes[turn]);
  }
  __syncthreads();
  int before = 0, at = 0;
#pragma unroll
  for (int turn = 0; turn < TURNS; turn++)
    for (int warp = 0; warp < WARPS; warp++, at++) {
      if (warp == (int)threadIdx.x / 32 && (votes[turn] >> (threadIdx.x & 31) & 1))
        paid[before + __popc(votes[turn] & ((1u << (threadIdx.x & 31)) - 1))] =
            (unsigned short)(turn * OPTION_CUDA_THREADS + threadIdx.x);
      before += counts[at];
    }
  __syncthreads();
  return before;
}

/* Sums of a chunk, one a thread block, as option_joint_solve reads them: partial[blocks][BASES (BASES + 3)/2]. now,
 * next: numbers [RECORDED][stride] at the date and at the one after it. */
template <class J>
__device__ inline void joint_sums(const option_joint_step &f, const double *now, const double *next, size_t stride,
                                  double *cash, double *partial) {
  typedef joint_shape<J> shape;
  __shared__ double tile[shape::TILE];
  __shared__ unsigned short paid[OPTION_CHUNK];
  __shared__ int counts[OPTION_CHUNK / 32];
  const int count = go_back<J>(f, now, next, stride, cash, paid, counts);
  const int pair = (int)threadIdx.x % shape::PAIRS, set = (int)threadIdx.x / shape::PAIRS;
  int row = 0, column = pair;
  while (column > row) column -= ++row;
  double sum[9] = {};
#pragma unroll 1
  for (int first = 0; first < count; first += shape::ROWS) {
    const int rows = min((int)shape::ROWS, count - first);
    for (int r = threadIdx.x; r < rows; r += OPTION_CUDA_THREADS) {
      const size_t i = (size_t)blockIdx.x * OPTION_CHUNK + paid[first + r];
      double at[J::INPUTS], out[1 + J::BASES], *to = tile + r * shape::WIDTH;
      read_inputs<J>(now, stride, i, at);
      J::functions(at, &f.scale[0][0], out);
#pragma unroll
      for (int k = 0; k < J::BASES; k++) to[k] = out[1 + k];
      to[J::BASES] = cash[i];
#pragma unroll
      for (int k = shape::COLUMNS; k < 3 * shape::GROUPS; k++) to[k] = 0;
    }
    __syncthreads();
    for (int r = set; r < rows && set < shape::SETS; r += shape::SETS) {
      const double *a = tile + r * shape::WIDTH + 3 * row, *b = tile + r * shape::WIDTH + 3 * column;
#pragma unroll
      for (int k = 0; k < 9; k++) sum[k] = fused(a[k / 3], b[k % 3], sum[k]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < 9; k++)
    if (set < shape::SETS) tile[(k * shape::SETS + set) * shape::PAIRS + pair] = sum[k];
  __syncthreads();
  if (set > 0) return;
  double *out = partial + (size_t)blockIdx.x * (J::BASES * (J::BASES + 3) / 2);
  for (int k = 0; k < 9; k++) {
    const int i = 3 * row + k / 3, j = 3 * column + k % 3;
    if (j > i || i > J::BASES || j >= J::BASES) continue;
    double a = 0;
    for (int s = 0; s < shape::SETS; s++) a += tile[(k * shape::SETS + s) * shape::PAIRS + pair];
    out[i * (i + 1) / 2 + j] = a;
  }
}

#endif
