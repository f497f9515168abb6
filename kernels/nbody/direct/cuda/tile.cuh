/* Direct sum over every ordered pair: blocks of threads stage bodies in shared memory, each thread has K of its own in
 * registers. Few bodies are split over more blocks of threads, whose sums are added in order later. fp32 sums become
 * fp64 every 1024 bodies at the latest. Device code, for gravity and for laws of a scenario. */
#ifndef NBODY_CUDA_TILE_CUH
#define NBODY_CUDA_TILE_CUH

#include "kernels/nbody/direct/cuda/pair.cuh"

enum { TILE_THREADS = 128, TILE_FLUSH = 1024 / TILE_THREADS /* tiles */ };

/* A law says what a pair's sum of squares begins with, and for that sum s2 the force f: a_i += m_j f d. For the jerk it
 * gives u = m_j f, and a rate that `turned` adds up with; dw is d . w. `same`: a body and itself, where d = 0. */
template <typename Pair> struct gravity {
  Pair softening2;
  __device__ Pair start() const { return softening2; }
  __device__ Pair force(Pair s2, bool same) const { return inverse_cube(same ? 1 : s2); }
  /* j_i += m_j / s^3 (w - 3 (d . w) / s^2 d) */
  __device__ void force_and_rate(Pair s2, Pair mass, Pair dw, bool same, Pair &u, Pair &rate) const {
    if (same) s2 = 1;
    const Pair inverse = inverse_root(s2), inverse2 = inverse * inverse;
    u = inverse2 * inverse * mass;
    rate = dw * (Pair)-3 * inverse2;
  }
  __device__ static Pair turned(Pair u, Pair rate, Pair d, Pair w, Pair sum) {
    return fused(u, fused(rate, d, w), sum);
  }
};

template <typename Pair, bool JERK> struct staged { typename quad<Pair>::type body[TILE_THREADS]; };
template <typename Pair> struct staged<Pair, true> {
  typename quad<Pair>::type body[TILE_THREADS];
  typename quad<Pair>::type velocity[TILE_THREADS]; /* w unused */
};

/* A thread's bodies. SUMS: 3, or 6 with jerk. */
template <typename Pair, int K, int SUMS> struct thread_bodies {
  typename quad<Pair>::type x[K], v[K];
  Pair sum[K][SUMS];
};

template <typename Pair, int K, typename Law>
__device__ inline void meet(thread_bodies<Pair, K, 3> &mine, const staged<Pair, false> &with, int j, const Law &law,
                            int k, bool same) {
  const typename quad<Pair>::type q = with.body[j];
  const Pair dx = q.x - mine.x[k].x, dy = q.y - mine.x[k].y, dz = q.z - mine.x[k].z;
  const Pair u = law.force(fused(dz, dz, fused(dy, dy, fused(dx, dx, law.start()))), same) * q.w;
  mine.sum[k][0] = fused(u, dx, mine.sum[k][0]);
  mine.sum[k][1] = fused(u, dy, mine.sum[k][1]);
  mine.sum[k][2] = fused(u, dz, mine.sum[k][2]);
}

/* With the jerk. */
template <typename Pair, int K, typename Law>
__device__ inline void meet(thread_bodies<Pair, K, 6> &mine, const staged<Pair, true> &with, int j, const Law &law,
                            int k, bool same) {
  const typename quad<Pair>::type q = with.body[j], p = with.velocity[j];
  const Pair dx = q.x - mine.x[k].x, dy = q.y - mine.x[k].y, dz = q.z - mine.x[k].z;
  const Pair wx = p.x - mine.v[k].x, wy = p.y - mine.v[k].y, wz = p.z - mine.v[k].z;
  const Pair s2 = fused(dz, dz, fused(dy, dy, fused(dx, dx, law.start())));
  Pair u, rate;
  law.force_and_rate(s2, q.w, fused(dz, wz, fused(dy, wy, dx * wx)), same, u, rate);
  mine.sum[k][0] = fused(u, dx, mine.sum[k][0]);
  mine.sum[k][1] = fused(u, dy, mine.sum[k][1]);
  mine.sum[k][2] = fused(u, dz, mine.sum[k][2]);
  mine.sum[k][3] = law.turned(u, rate, dx, wx, mine.sum[k][3]);
  mine.sum[k][4] = law.turned(u, rate, dy, wy, mine.sum[k][4]);
  mine.sum[k][5] = law.turned(u, rate, dz, wz, mine.sum[k][5]);
}

/* SELF: a thread's own bodies may be among the staged ones. */
template <typename Pair, int K, int SUMS, bool SELF, typename Law>
__device__ inline void meet_all(thread_bodies<Pair, K, SUMS> &mine, const staged<Pair, SUMS == 6> &with, const Law &law,
                                int count, int own) {
#pragma unroll(SUMS == 6 || sizeof(Pair) == 8 ? 4 : 8)
  for (int j = 0; j < count; j++) {
#pragma unroll
    for (int k = 0; k < K; k++) meet(mine, with, j, law, k, SELF && j == own + k * TILE_THREADS);
  }
}

/* What a thread block does; the kernel has __launch_bounds__(TILE_THREADS). */
template <typename Real, typename Pair, int K, int SUMS, typename Law>
__device__ __forceinline__ void tile_sum(const bodies<Real> &b, const Law &law, int per_split, double *acceleration,
                                         double *jerk) {
  __shared__ staged<Pair, SUMS == 6> stage[2];
  after_previous();
  const int first = blockIdx.x * TILE_THREADS * K, begin = blockIdx.y * per_split, end = min(b.n, begin + per_split);
  const double3 centre = centre_of(b.position, b.n, (Pair)0);
  double3 rest = {0, 0, 0};
  if constexpr (SUMS == 6) rest = centre_of(b.velocity, b.n, (Pair)0);
  thread_bodies<Pair, K, SUMS> mine;
  double total[K][SUMS];
#pragma unroll
  for (int k = 0; k < K; k++) {
    const int i = first + k * TILE_THREADS + threadIdx.x;
    mine.x[k] = load_body<Pair>(b, centre, i);
    if constexpr (SUMS == 6) mine.v[k] = load_velocity<Pair>(b, rest, i);
#pragma unroll
    for (int c = 0; c < SUMS; c++) mine.sum[k][c] = 0, total[k][c] = 0;
  }
  int tiles = 0;
  for (int j0 = begin; j0 < end; j0 += TILE_THREADS, tiles++) {
    staged<Pair, SUMS == 6> &now = stage[tiles % 2];
    now.body[threadIdx.x] = load_body<Pair>(b, centre, j0 + threadIdx.x);
    if constexpr (SUMS == 6) now.velocity[threadIdx.x] = load_velocity<Pair>(b, rest, j0 + threadIdx.x);
    __syncthreads();
    const int count = min(TILE_THREADS, end - j0), own = first - j0 + (int)threadIdx.x;
    if (j0 < first + K * TILE_THREADS && first < j0 + TILE_THREADS)
      meet_all<Pair, K, SUMS, true>(mine, now, law, count, own);
    else if (count == TILE_THREADS)
      meet_all<Pair, K, SUMS, false>(mine, now, law, TILE_THREADS, own);
    else
      meet_all<Pair, K, SUMS, false>(mine, now, law, count, own);
    if (sizeof(Pair) == sizeof(float) && tiles % TILE_FLUSH == TILE_FLUSH - 1) {
#pragma unroll
      for (int k = 0; k < K; k++)
#pragma unroll
        for (int c = 0; c < SUMS; c++) total[k][c] += mine.sum[k][c], mine.sum[k][c] = 0;
    }
  }
  const size_t n = (size_t)b.n;
#pragma unroll
  for (int k = 0; k < K; k++) {
    const int i = first + k * TILE_THREADS + threadIdx.x;
    if (i >= b.n) continue;
#pragma unroll
    for (int c = 0; c < SUMS; c++)
      (c < 3 ? acceleration : jerk)[(blockIdx.y * 3 + c % 3) * n + i] = total[k][c] + mine.sum[k][c];
  }
}

#endif
