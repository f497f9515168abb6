#include "kernels/nbody/cuda/targets.cuh"

#include "kernels/common/device.cuh"
#include "kernels/common/launch.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    list_targets(int n, const uint8_t *level, int least, int *target, unsigned *count) {
  after_previous();
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += (long long)gridDim.x * THREADS)
    if (level[i] >= least) target[warp_append(count)] = (int)i;
}

void nbody_cuda_list_targets(int n, const nbody_targets *targets, int *target, unsigned *count) {
  static const sim_kernel kernel = {"nbody_list_targets", "force", SIM_LIMIT_BYTES};
  const unsigned all = (unsigned)((n + THREADS - 1) / THREADS), most = 8 * (unsigned)sim_cuda_multiprocessors();
  sim_cuda_failed(cudaMemsetAsync(count, 0, sizeof *count, (cudaStream_t)sim_cuda_stream()), "cudaMemsetAsync",
                  "the targets");
  device_launch(&kernel, n, all < most ? all : most, THREADS, list_targets, n, targets->level, targets->least, target,
                count);
}

static __global__ void __launch_bounds__(THREADS)
    add_parts(int n, const int *target, int count, const double *parts, int splits, double unit, double *acceleration) {
  after_previous();
  const int place = blockIdx.x * THREADS + threadIdx.x;
  if (place >= count) return;
  for (int c = 0; c < 3; c++) {
    double sum = 0;
    for (int s = 0; s < splits; s++) sum += parts[((size_t)s * 3 + c) * (size_t)count + place];
    acceleration[(size_t)c * n + target[place]] = sum * unit;
  }
}

void nbody_cuda_add_target_parts(int n, const int *target, int count, const double *parts, int splits, double unit,
                                 double *acceleration) {
  static const sim_kernel kernel = {"nbody_add_parts", "force", SIM_LIMIT_BYTES};
  device_launch(&kernel, 24.0 * (splits + 1) * count, (unsigned)((count + THREADS - 1) / THREADS), THREADS, add_parts,
                n, target, count, parts, splits, unit, acceleration);
}
