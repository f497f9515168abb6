/* Reference form of the direct sums: one thread a body, a loop over all others, sqrt and division. Tests compare the
 * other methods with it. */
#include "kernels/nbody/direct/cuda/bodies.cuh"

#include "engine/device/cuda.h"

template <typename real, typename pair_real>
static __global__ void reference(const bodies<real> b, pair_real softening2, double *acceleration, double *jerk) {
  const double3 centre = centre_of(b.position, b.n, (pair_real)0), rest = centre_of(b.velocity, b.n, (pair_real)0);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b.n) return;
  const size_t n = (size_t)b.n;
  const typename quad<pair_real>::type mine = load_body<pair_real>(b, centre, i);
  double a[3] = {0, 0, 0}, rate[3] = {0, 0, 0};
  for (int j = 0; j < b.n; j++) {
    if (j == i) continue;
    const typename quad<pair_real>::type other = load_body<pair_real>(b, centre, j);
    const pair_real d[3] = {other.x - mine.x, other.y - mine.y, other.z - mine.z};
    const pair_real s2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening2;
    const pair_real u = other.w / (s2 * sqrt(s2));
    for (int c = 0; c < 3; c++) a[c] += u * d[c];
    if (jerk == nullptr) continue;
    const typename quad<pair_real>::type vj = load_velocity<pair_real>(b, rest, j),
                                         vi = load_velocity<pair_real>(b, rest, i);
    const pair_real w[3] = {vj.x - vi.x, vj.y - vi.y, vj.z - vi.z};
    const pair_real dw = d[0] * w[0] + d[1] * w[1] + d[2] * w[2];
    for (int c = 0; c < 3; c++) rate[c] += u * (w[c] - 3 * dw / s2 * d[c]);
  }
  for (int c = 0; c < 3; c++) {
    acceleration[c * n + i] = a[c];
    if (jerk != nullptr) jerk[c * n + i] = rate[c];
  }
}

template <typename real, typename pair_real> void nbody_cuda_reference(nbody_solver_work *w) {
  static const sim_kernel kernel = {"nbody_reference", "force", SIM_LIMIT_BYTES};
  const double eps = w->options.softening * w->scaling.position, n = (double)w->options.n;
  sim_cuda_begin(&kernel);
  reference<real, pair_real><<<(unsigned)((w->options.n + 127) / 128), 128, 0, (cudaStream_t)sim_cuda_stream()>>>(
      bodies_of<real>(w), (pair_real)(eps * eps), w->parts, w->parts_jerk);
  sim_cuda_end(&kernel, 4 * sizeof(real) * n * n);
}
template void nbody_cuda_reference<float, float>(nbody_solver_work *w);
template void nbody_cuda_reference<double, float>(nbody_solver_work *w);
template void nbody_cuda_reference<double, double>(nbody_solver_work *w);
