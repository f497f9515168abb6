/* Direct sum over every ordered pair: blocks of threads stage bodies in shared memory, each thread has K of its own in
 * registers. Few bodies are split over more blocks of threads, whose sums are added in order later. fp32 sums become
 * fp64 every 1024 bodies at the latest. Serves where fixed point does not: fp64, jerk, no softening, few bodies. */
#include "kernels/nbody/cuda/launch.cuh"
#include "kernels/nbody/cuda/pair.cuh"

enum { THREADS = 128, FLUSH = 1024 / THREADS /* tiles */ };

template <typename Pair, bool JERK> struct staged { typename quad<Pair>::type body[THREADS]; };
template <typename Pair> struct staged<Pair, true> {
  typename quad<Pair>::type body[THREADS];
  typename quad<Pair>::type velocity[THREADS]; /* w unused */
};

/* A thread's bodies. SUMS: 3, or 6 with jerk. */
template <typename Pair, int K, int SUMS> struct thread_bodies {
  typename quad<Pair>::type x[K], v[K];
  Pair sum[K][SUMS];
};

/* a_i += m_j d / s^3 */
template <typename Pair, int K>
__device__ inline void meet(thread_bodies<Pair, K, 3> &mine, const staged<Pair, false> &with, int j, Pair softening2,
                            int k, bool same) {
  const typename quad<Pair>::type q = with.body[j];
  const Pair dx = q.x - mine.x[k].x, dy = q.y - mine.x[k].y, dz = q.z - mine.x[k].z;
  Pair s2 = fused(dz, dz, fused(dy, dy, fused(dx, dx, softening2)));
  if (same) s2 = 1;
  const Pair u = inverse_cube(s2) * q.w;
  mine.sum[k][0] = fused(u, dx, mine.sum[k][0]);
  mine.sum[k][1] = fused(u, dy, mine.sum[k][1]);
  mine.sum[k][2] = fused(u, dz, mine.sum[k][2]);
}

/* and j_i += m_j / s^3 (w - 3 (d . w) / s^2 d) */
template <typename Pair, int K>
__device__ inline void meet(thread_bodies<Pair, K, 6> &mine, const staged<Pair, true> &with, int j, Pair softening2,
                            int k, bool same) {
  const typename quad<Pair>::type q = with.body[j], p = with.velocity[j];
  const Pair dx = q.x - mine.x[k].x, dy = q.y - mine.x[k].y, dz = q.z - mine.x[k].z;
  const Pair wx = p.x - mine.v[k].x, wy = p.y - mine.v[k].y, wz = p.z - mine.v[k].z;
  Pair s2 = fused(dz, dz, fused(dy, dy, fused(dx, dx, softening2)));
  if (same) s2 = 1;
  const Pair dw = fused(dz, wz, fused(dy, wy, dx * wx));
  const Pair inverse = inverse_root(s2), inverse2 = inverse * inverse;
  const Pair u = inverse2 * inverse * q.w, rate = dw * (Pair)-3 * inverse2;
  mine.sum[k][0] = fused(u, dx, mine.sum[k][0]);
  mine.sum[k][1] = fused(u, dy, mine.sum[k][1]);
  mine.sum[k][2] = fused(u, dz, mine.sum[k][2]);
  mine.sum[k][3] = fused(u, fused(rate, dx, wx), mine.sum[k][3]);
  mine.sum[k][4] = fused(u, fused(rate, dy, wy), mine.sum[k][4]);
  mine.sum[k][5] = fused(u, fused(rate, dz, wz), mine.sum[k][5]);
}

/* SELF: a thread's own bodies may be among the staged ones; a body and itself are 1 apart then, and d = 0. */
template <typename Pair, int K, int SUMS, bool SELF>
__device__ inline void meet_all(thread_bodies<Pair, K, SUMS> &mine, const staged<Pair, SUMS == 6> &with,
                                Pair softening2, int count, int own) {
#pragma unroll(SUMS == 6 || sizeof(Pair) == 8 ? 4 : 8)
  for (int j = 0; j < count; j++) {
#pragma unroll
    for (int k = 0; k < K; k++) meet(mine, with, j, softening2, k, SELF && j == own + k * THREADS);
  }
}

template <typename Real, typename Pair, int K, int SUMS>
static __global__ void __launch_bounds__(THREADS)
    tile(const bodies<Real> b, Pair softening2, int per_split, double *acceleration, double *jerk) {
  __shared__ staged<Pair, SUMS == 6> stage[2];
  after_previous();
  const int first = blockIdx.x * THREADS * K, begin = blockIdx.y * per_split, end = min(b.n, begin + per_split);
  const double3 centre = centre_of(b.position, b.n, (Pair)0);
  double3 rest = {0, 0, 0};
  if constexpr (SUMS == 6) rest = centre_of(b.velocity, b.n, (Pair)0);
  thread_bodies<Pair, K, SUMS> mine;
  double total[K][SUMS];
#pragma unroll
  for (int k = 0; k < K; k++) {
    const int i = first + k * THREADS + threadIdx.x;
    mine.x[k] = load_body<Pair>(b, centre, i);
    if constexpr (SUMS == 6) mine.v[k] = load_velocity<Pair>(b, rest, i);
#pragma unroll
    for (int c = 0; c < SUMS; c++) mine.sum[k][c] = 0, total[k][c] = 0;
  }
  int tiles = 0;
  for (int j0 = begin; j0 < end; j0 += THREADS, tiles++) {
    staged<Pair, SUMS == 6> &now = stage[tiles % 2];
    now.body[threadIdx.x] = load_body<Pair>(b, centre, j0 + threadIdx.x);
    if constexpr (SUMS == 6) now.velocity[threadIdx.x] = load_velocity<Pair>(b, rest, j0 + threadIdx.x);
    __syncthreads();
    const int count = min(THREADS, end - j0), own = first - j0 + (int)threadIdx.x;
    if (j0 < first + K * THREADS && first < j0 + THREADS)
      meet_all<Pair, K, SUMS, true>(mine, now, softening2, count, own);
    else if (count == THREADS)
      meet_all<Pair, K, SUMS, false>(mine, now, softening2, THREADS, own);
    else
      meet_all<Pair, K, SUMS, false>(mine, now, softening2, count, own);
    if (sizeof(Pair) == sizeof(float) && tiles % FLUSH == FLUSH - 1) {
#pragma unroll
      for (int k = 0; k < K; k++)
#pragma unroll
        for (int c = 0; c < SUMS; c++) total[k][c] += mine.sum[k][c], mine.sum[k][c] = 0;
    }
  }
  const size_t n = (size_t)b.n;
#pragma unroll
  for (int k = 0; k < K; k++) {
    const int i = first + k * THREADS + threadIdx.x;
    if (i >= b.n) continue;
#pragma unroll
    for (int c = 0; c < SUMS; c++)
      (c < 3 ? acceleration : jerk)[(blockIdx.y * 3 + c % 3) * n + i] = total[k][c] + mine.sum[k][c];
  }
}

template <typename Real, typename Pair, int K, int SUMS> static void launch(nbody_work *w) {
  static const bool narrow = sizeof(Pair) == sizeof(float);
  static const sim_cuda_kernel kernel = {SUMS == 6 ? "nbody_tile_jerk" : "nbody_tile", "force",
                                         narrow ? SIM_LIMIT_FP32 : SIM_LIMIT_FP64};
  const double n = (double)w->options.n, eps = w->options.softening * w->scaling.position;
  const int per = (int)((w->options.n + w->plan.splits - 1) / w->plan.splits), per_split = (per + 31) / 32 * 32;
  const dim3 grid((unsigned)((w->options.n + THREADS * K - 1) / (THREADS * K)), (unsigned)w->plan.splits);
  const double counted = SUMS == 6 ? (narrow ? 28 : 31) : narrow ? 13 : 16;
  nbody_launch(&kernel, counted * n * n, grid, THREADS, tile<Real, Pair, K, SUMS>, bodies_of<Real>(w),
               (Pair)(eps * eps), per_split, w->parts, w->parts_jerk);
}

template <typename Real, typename Pair, int K> static void launch(nbody_work *w) {
  if (w->options.jerk)
    launch<Real, Pair, K, 6>(w);
  else
    launch<Real, Pair, K, 3>(w);
}

template <typename Real, typename Pair> void nbody_cuda_tile(nbody_work *w) {
  switch (w->plan.bodies) {
  case 1: launch<Real, Pair, 1>(w); break;
  case 2: launch<Real, Pair, 2>(w); break;
  default: launch<Real, Pair, 4>(w); break;
  }
}
template void nbody_cuda_tile<float, float>(nbody_work *w);
template void nbody_cuda_tile<double, float>(nbody_work *w);
template void nbody_cuda_tile<double, double>(nbody_work *w);
