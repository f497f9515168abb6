/* Launches and random keys, for the sampler and the regression. */
#include "engine/device/cuda.h"
#include "kernels/option/cuda/plan.h"
#include "kernels/option/random/mrg.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

void option_cuda_launch(const sim_kernel *kernel, double amount, void *function, int blocks, int threads, void **args) {
  const struct cudaLaunchConfig_st config = {
      .gridDim = {(unsigned)blocks, 1, 1}, .blockDim = {(unsigned)threads, 1, 1}, .stream = sim_cuda_stream()};
  sim_cuda_begin(kernel);
  sim_cuda_failed((int)cudaLaunchKernelExC(&config, function, args), "cudaLaunchKernelExC", kernel->name);
  sim_cuda_end(kernel, amount);
}

static sim_status fill_mrg(uint64_t seed, const unsigned **out) {
  option_mrg *host = malloc(sizeof *host);
  void *device = NULL;
  if (host == NULL) return sim_no_memory("random numbers");
  option_mrg_make(seed, host);
  sim_status status = sim_backend_cuda.alloc(sizeof *host, &device);
  if (status == SIM_OK) status = sim_backend_cuda.copy(device, host, sizeof *host);
  *out = device;
  free(host);
  return status;
}

sim_status option_cuda_keys(const option_parameters *p, option_keys *out) {
  const uint64_t seed = p->common.seed;
  out->mrg = NULL;
  for (uint32_t round = 0; round < 10; round++) {
    out->key[round][0] = (uint32_t)seed + round * 0x9E3779B9u;
    out->key[round][1] = (uint32_t)(seed >> 32) + round * 0xBB67AE85u;
  }
  return p->sampling.generator == OPTION_MRG32K3A ? fill_mrg(seed, &out->mrg) : SIM_OK;
}
