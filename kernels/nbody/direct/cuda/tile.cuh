/* Direct sum over every ordered pair: thread blocks stage bodies in shared memory, and each thread holds K bodies in
 * registers. Few bodies are split over more thread blocks, whose sums are added in order later. fp32 sums are added to
 * fp64 sums every 1024 bodies at the latest. Device code, for gravity and for custom laws. */
#ifndef NBODY_CUDA_TILE_CUH
#define NBODY_CUDA_TILE_CUH

#include "kernels/nbody/direct/cuda/pair.cuh"

enum { TILE_THREADS = 128, TILE_FLUSH = 1024 / TILE_THREADS /* tiles */ };

/* A law has start(), the first term of a pair's sum of squares s2, and force(s2) = f with a_i += m_j f d. With jerk it
 * has u = m_j f and a rate, and add_jerk(sum) with both; dw is d . w. `same`: a body with itself, where d = 0. */
template <typename pair_real> struct gravity {
  pair_real softening2;
  __device__ pair_real start() const { return softening2; }
  __device__ pair_real force(pair_real s2, bool same) const { return inverse_cube(same ? 1 : s2); }
  /* j_i += m_j / s^3 (w - 3 (d . w) / s^2 d) */
  __device__ void force_and_rate(pair_real s2, pair_real mass, pair_real dw, bool same, pair_real &u,
                                 pair_real &rate) const {
    if (same) s2 = 1;
    const pair_real inverse = inverse_root(s2), inverse2 = inverse * inverse;
    u = inverse2 * inverse * mass;
    rate = dw * (pair_real)-3 * inverse2;
  }
  __device__ static pair_real add_jerk(pair_real u, pair_real rate, pair_real d, pair_real w, pair_real sum) {
    return fused(u, fused(rate, d, w), sum);
  }
};

template <typename pair_real, bool JERK> struct staged { typename quad<pair_real>::type body[TILE_THREADS]; };
template <typename pair_real> struct staged<pair_real, true> {
  typename quad<pair_real>::type body[TILE_THREADS];
  typename quad<pair_real>::type velocity[TILE_THREADS]; /* w unused */
};

/* The bodies that a thread holds. SUMS: 3, or 6 with jerk. */
template <typename pair_real, int K, int SUMS> struct thread_bodies {
  typename quad<pair_real>::type x[K], v[K];
  pair_real sum[K][SUMS];
};

template <typename pair_real, int K, typename Law>
__device__ inline void add_pair(thread_bodies<pair_real, K, 3> &mine, const staged<pair_real, false> &with, int j,
                                const Law &law, int k, bool same) {
  const typename quad<pair_real>::type q = with.body[j];
  const pair_real dx = q.x - mine.x[k].x, dy = q.y - mine.x[k].y, dz = q.z - mine.x[k].z;
  const pair_real u = law.force(fused(dz, dz, fused(dy, dy, fused(dx, dx, law.start()))), same) * q.w;
  mine.sum[k][0] = fused(u, dx, mine.sum[k][0]);
  mine.sum[k][1] = fused(u, dy, mine.sum[k][1]);
  mine.sum[k][2] = fused(u, dz, mine.sum[k][2]);
}

/* The same operations with the jerk. */
template <typename pair_real, int K, typename Law>
__device__ inline void add_pair(thread_bodies<pair_real, K, 6> &mine, const staged<pair_real, true> &with, int j,
                                const Law &law, int k, bool same) {
  const typename quad<pair_real>::type q = with.body[j], p = with.velocity[j];
  const pair_real dx = q.x - mine.x[k].x, dy = q.y - mine.x[k].y, dz = q.z - mine.x[k].z;
  const pair_real wx = p.x - mine.v[k].x, wy = p.y - mine.v[k].y, wz = p.z - mine.v[k].z;
  const pair_real s2 = fused(dz, dz, fused(dy, dy, fused(dx, dx, law.start())));
  pair_real u, rate;
  law.force_and_rate(s2, q.w, fused(dz, wz, fused(dy, wy, dx * wx)), same, u, rate);
  mine.sum[k][0] = fused(u, dx, mine.sum[k][0]);
  mine.sum[k][1] = fused(u, dy, mine.sum[k][1]);
  mine.sum[k][2] = fused(u, dz, mine.sum[k][2]);
  mine.sum[k][3] = law.add_jerk(u, rate, dx, wx, mine.sum[k][3]);
  mine.sum[k][4] = law.add_jerk(u, rate, dy, wy, mine.sum[k][4]);
  mine.sum[k][5] = law.add_jerk(u, rate, dz, wz, mine.sum[k][5]);
}

/* SELF: the staged bodies may include the bodies of the thread. */
template <typename pair_real, int K, int SUMS, bool SELF, typename Law>
__device__ inline void add_all_pairs(thread_bodies<pair_real, K, SUMS> &mine, const staged<pair_real, SUMS == 6> &with,
                                     const Law &law, int count, int own) {
#pragma unroll(SUMS == 6 || sizeof(pair_real) == 8 ? 4 : 8)
  for (int j = 0; j < count; j++) {
#pragma unroll
    for (int k = 0; k < K; k++) add_pair(mine, with, j, law, k, SELF && j == own + k * TILE_THREADS);
  }
}

/* Work of one thread block; the kernel has __launch_bounds__(TILE_THREADS). */
template <typename real, typename pair_real, int K, int SUMS, typename Law>
__device__ __forceinline__ void tile_sum(const bodies<real> &b, const Law &law, int per_split, double *acceleration,
                                         double *jerk) {
  __shared__ staged<pair_real, SUMS == 6> stage[2];
  after_previous();
  const int first = (b.begin + blockIdx.x) * TILE_THREADS * K, begin = blockIdx.y * per_split,
            end = min(b.n, begin + per_split);
  const double3 centre = centre_of(b.position, b.n, (pair_real)0);
  double3 rest = {0, 0, 0};
  if constexpr (SUMS == 6) rest = centre_of(b.velocity, b.n, (pair_real)0);
  thread_bodies<pair_real, K, SUMS> mine;
  double total[K][SUMS];
#pragma unroll
  for (int k = 0; k < K; k++) {
    const int i = first + k * TILE_THREADS + threadIdx.x;
    mine.x[k] = load_body<pair_real>(b, centre, i);
    if constexpr (SUMS == 6) mine.v[k] = load_velocity<pair_real>(b, rest, i);
#pragma unroll
    for (int c = 0; c < SUMS; c++) mine.sum[k][c] = 0, total[k][c] = 0;
  }
  int tiles = 0;
  for (int j0 = begin; j0 < end; j0 += TILE_THREADS, tiles++) {
    staged<pair_real, SUMS == 6> &now = stage[tiles % 2];
    now.body[threadIdx.x] = load_body<pair_real>(b, centre, j0 + threadIdx.x);
    if constexpr (SUMS == 6) now.velocity[threadIdx.x] = load_velocity<pair_real>(b, rest, j0 + threadIdx.x);
    __syncthreads();
    const int count = min(TILE_THREADS, end - j0), own = first - j0 + (int)threadIdx.x;
    if (j0 < first + K * TILE_THREADS && first < j0 + TILE_THREADS)
      add_all_pairs<pair_real, K, SUMS, true>(mine, now, law, count, own);
    else if (count == TILE_THREADS)
      add_all_pairs<pair_real, K, SUMS, false>(mine, now, law, TILE_THREADS, own);
    else
      add_all_pairs<pair_real, K, SUMS, false>(mine, now, law, count, own);
    if (sizeof(pair_real) == sizeof(float) && tiles % TILE_FLUSH == TILE_FLUSH - 1) {
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
