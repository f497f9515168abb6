/* Potential energy, in fp64 always. Bodies are cut into blocks; block I meets itself and the next half of all blocks on
 * the circle, so that every pair comes once. */
#include "kernels/nbody/cuda/pair.cuh"
#include "kernels/nbody/cuda/reduce.cuh"

enum { THREADS = NBODY_PARTIAL_BODIES, FILL = 2048 /* thread blocks, for few bodies */ };

/* partial[part][I] = sum over i in block I, and over the j of the blocks that are this part's, of m_i m_j / s. */
template <typename Real>
static __global__ void __launch_bounds__(THREADS)
    potential(const bodies<Real> b, int blocks, double softening2, double *partial) {
  __shared__ wide staged[THREADS];
  __shared__ double shared[32];
  const double3 rest = {0, 0, 0};
  const int me = blockIdx.x, i = me * THREADS + threadIdx.x;
  const int reach = (blocks - 1) / 2 + (blocks % 2 == 0 && me < blocks / 2);
  const wide mine = load_body<double>(b, rest, i);
  double sum = 0;
  for (int k = blockIdx.y; k <= reach; k += gridDim.y) {
    const int other = (me + k) % blocks;
    __syncthreads();
    staged[threadIdx.x] = load_body<double>(b, rest, other * THREADS + threadIdx.x);
    __syncthreads();
    const int first = k == 0 ? threadIdx.x + 1 : 0, last = min(THREADS, b.n - other * THREADS);
#pragma unroll 4
    for (int j = first; j < last; j++) {
      const wide q = staged[j];
      const double dx = q.x - mine.x, dy = q.y - mine.y, dz = q.z - mine.z;
      sum = fused(q.w, inverse_root(fused(dz, dz, fused(dy, dy, fused(dx, dx, softening2)))), sum);
    }
  }
  sum = over_block<add>(i < b.n ? mine.w * sum : 0, shared);
  if (threadIdx.x == 0) partial[blockIdx.y * blocks + me] = sum;
}

template <typename Real> void nbody_cuda_potential(nbody_work *w) {
  static const sim_cuda_kernel kernel = {"nbody_potential", "observe", SIM_LIMIT_FP64};
  const int blocks = nbody_partials(w->options.n), wanted = FILL / blocks;
  const int parts = wanted < 1 ? 1 : wanted > NBODY_QUANTITIES ? NBODY_QUANTITIES : wanted;
  const double n = (double)w->options.n;
  bodies<Real> b = bodies_of<Real>(w);
  b.scale = b.scale_mass = 1;
  sim_cuda_begin(&kernel);
  potential<Real><<<dim3((unsigned)blocks, (unsigned)parts), THREADS, 0, (cudaStream_t)sim_cuda_stream()>>>(
      b, blocks, w->options.softening * w->options.softening, w->partial);
  sim_cuda_end(&kernel, 6 * n * n); /* 12 instructions a pair */
  nbody_reduce_partials<add>(w, NBODY_POTENTIAL, 1, parts * blocks);
}
template void nbody_cuda_potential<float>(nbody_work *w);
template void nbody_cuda_potential<double>(nbody_work *w);
