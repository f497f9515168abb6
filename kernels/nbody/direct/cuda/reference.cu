/* The plain twin of the direct sums: a thread a body, a loop over the others, root and division as they are. The tests
 * compare the others with it. */
#include "kernels/nbody/direct/cuda/bodies.cuh"

#include "engine/device/cuda.h"

template <typename Real, typename Pair>
static __global__ void reference(const bodies<Real> b, Pair softening2, double *acceleration, double *jerk) {
  const double3 centre = centre_of(b.position, b.n, (Pair)0), rest = centre_of(b.velocity, b.n, (Pair)0);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b.n) return;
  const size_t n = (size_t)b.n;
  const typename quad<Pair>::type mine = load_body<Pair>(b, centre, i);
  double a[3] = {0, 0, 0}, rate[3] = {0, 0, 0};
  for (int j = 0; j < b.n; j++) {
    if (j == i) continue;
    const typename quad<Pair>::type other = load_body<Pair>(b, centre, j);
    const Pair d[3] = {other.x - mine.x, other.y - mine.y, other.z - mine.z};
    const Pair s2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening2;
    const Pair u = other.w / (s2 * sqrt(s2));
    for (int c = 0; c < 3; c++) a[c] += u * d[c];
    if (jerk == nullptr) continue;
    const typename quad<Pair>::type vj = load_velocity<Pair>(b, rest, j), vi = load_velocity<Pair>(b, rest, i);
    const Pair w[3] = {vj.x - vi.x, vj.y - vi.y, vj.z - vi.z};
    const Pair dw = d[0] * w[0] + d[1] * w[1] + d[2] * w[2];
    for (int c = 0; c < 3; c++) rate[c] += u * (w[c] - 3 * dw / s2 * d[c]);
  }
  for (int c = 0; c < 3; c++) {
    acceleration[c * n + i] = a[c];
    if (jerk != nullptr) jerk[c * n + i] = rate[c];
  }
}

template <typename Real, typename Pair> void nbody_cuda_reference(nbody_solver_work *w) {
  static const sim_cuda_kernel kernel = {"nbody_reference", "force", SIM_LIMIT_BYTES};
  const double eps = w->options.softening * w->scaling.position, n = (double)w->options.n;
  sim_cuda_begin(&kernel);
  reference<Real, Pair><<<(unsigned)((w->options.n + 127) / 128), 128, 0, (cudaStream_t)sim_cuda_stream()>>>(
      bodies_of<Real>(w), (Pair)(eps * eps), w->parts, w->parts_jerk);
  sim_cuda_end(&kernel, 4 * sizeof(Real) * n * n);
}
template void nbody_cuda_reference<float, float>(nbody_solver_work *w);
template void nbody_cuda_reference<double, float>(nbody_solver_work *w);
template void nbody_cuda_reference<double, double>(nbody_solver_work *w);
