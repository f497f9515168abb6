/* Velocities in a heat bath. */
#include "kernels/nbody/cuda/bath.cuh"

#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"
#include "kernels/nbody/cuda/partials.cuh"

enum { THREADS = NBODY_PARTIAL_BODIES, DRAW = 0x8000 /* NBODY_DRAW_BATH */ };

/* Philox4x32-10 of engine/rng.h: 128 bits to two numbers in (0, 1). */
__device__ static void draw_uniform(unsigned long long seed, unsigned entity, unsigned long long step, unsigned draw,
                                    double u[2]) {
  uint4 c = make_uint4(entity, 0, (unsigned)step, (unsigned)(step >> 32) << 16 | draw);
  unsigned low = (unsigned)seed, high = (unsigned)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; round++) {
    c = make_uint4(__umulhi(0xCD9E8D57u, c.z) ^ c.y ^ low, 0xCD9E8D57u * c.z, __umulhi(0xD2511F53u, c.x) ^ c.w ^ high,
                   0xD2511F53u * c.x);
    low += 0x9E3779B9u;
    high += 0xBB67AE85u;
  }
  const unsigned long long first = (unsigned long long)c.x << 32 | c.y, second = (unsigned long long)c.z << 32 | c.w;
  u[0] = fmin(((double)(first >> 11) + 0.5) * 0x1p-53, 1 - 0x1p-53);
  u[1] = fmin(((double)(second >> 11) + 0.5) * 0x1p-53, 1 - 0x1p-53);
}

template <typename real>
static __global__ void __launch_bounds__(THREADS)
    bathe(int n, const real *mass, real *velocity, const nbody_bath bath, double *partial) {
  __shared__ double shared[32];
  after_previous();
  const int i = blockIdx.x * THREADS + threadIdx.x;
  double growth = 0;
  if (i < n) {
    const double m = mass[i], each = m > 0 ? bath.noise / sqrt(m) : 0;
    double xi[3] = {0, 0, 0};
    if (each > 0) {
      double u[2], w[2];
      draw_uniform(bath.seed, (unsigned)i, (unsigned long long)bath.step, DRAW, u);
      draw_uniform(bath.seed, (unsigned)i, (unsigned long long)bath.step, DRAW + 1, w);
      const double radius = sqrt(-2 * log(u[0]));
      sincospi(2 * u[1], &xi[1], &xi[0]);
      xi[0] *= radius;
      xi[1] *= radius;
      xi[2] = sqrt(-2 * log(w[0])) * cospi(2 * w[1]);
    }
    for (int c = 0; c < 3; c++) {
      real *const v = &velocity[(size_t)c * n + i];
      const double old = *v;
      const real now = (real)(bath.keep * old + each * xi[c]);
      growth += 0.5 * m * ((double)now * now - old * old);
      *v = now;
    }
  }
  const double sum = over_block<reduce_sum>(growth, shared);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <typename real> double nbody_cuda_bathe(nbody_work *w, const nbody_bath *bath) {
  static const sim_kernel kernel = {"nbody_bathe", "kick and drift", SIM_LIMIT_BYTES};
  const int n = (int)w->state.n, blocks = nbody_partials(n);
  double growth = 0;
  device_launch(&kernel, 7.0 * sizeof(real) * n, (unsigned)blocks, THREADS, bathe<real>, n, (const real *)w->state.mass,
                (real *)w->state.velocity, *bath, w->partial);
  nbody_reduce_partials<reduce_sum>(w->partial, 1, blocks, w->result + NBODY_KINETIC);
  if (sim_backend_cuda.copy(&growth, w->result + NBODY_KINETIC, sizeof growth) != SIM_OK) return 0;
  return growth;
}
template double nbody_cuda_bathe<float>(nbody_work *w, const nbody_bath *bath);
template double nbody_cuda_bathe<double>(nbody_work *w, const nbody_bath *bath);
