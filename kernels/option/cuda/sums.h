/* Precompiled kernels, as cudaLaunchKernelExC takes them. */
#ifndef OPTION_CUDA_SUMS_H
#define OPTION_CUDA_SUMS_H

#ifdef __cplusplus
extern "C" {
#endif

void *option_cuda_gather(void);
void *option_cuda_regression_sums(void);
void *option_cuda_regression_total(void);

#ifdef __cplusplus
}
#endif

#endif
