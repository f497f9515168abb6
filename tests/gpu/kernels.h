/* See kernels.cu. Pointers are to device memory. */
#ifndef SIM_TESTS_GPU_KERNELS_H
#define SIM_TESTS_GPU_KERNELS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void gpu_test_add(unsigned *x, size_t n, unsigned more);
void gpu_test_wait(long long clocks);
void gpu_test_contract(double *x); /* x[2] = x[0] * x[1] - 1 */
void gpu_test_bad_launch(void);
void gpu_test_bad_address(void);

/* One fault for each tool of compute-sanitizer. Without the tool none of them changes the exit code. */
enum { GPU_TEST_MEMCHECK, GPU_TEST_RACECHECK, GPU_TEST_INITCHECK, GPU_TEST_SYNCCHECK, GPU_TEST_TOOLS };
int gpu_test_planted(int tool); /* not 0: it could not run */

#ifdef __cplusplus
}
#endif

#endif
