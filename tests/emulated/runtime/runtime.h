/* The emulated device (see include/device.h): the CUDA runtime's calls on the host's memory, and the threads of
 * kernels.
 *
 * block.cc     threads of a block as fibers (fibers.h), blocks of a launch
 * copies.cc    what device code copies without waiting: cp.async, bulk copies, tensor maps, other blocks' memory
 * devices.cc   devices and errors
 * kernels.cc   launches, kernels that are found by an address or a name, libraries of kernels
 * memory.cc    arrays, copies, memory of other processes
 * streams.cc   streams, events and graphs
 *
 * SIM_EMULATED_DEVICES: number of devices, 2 if it is not set. CUDA_VISIBLE_DEVICES set to nothing: none.
 * SIM_EMULATED_MULTIPROCESSORS: 2 if it is not set. A cooperative launch has a block for each, and these wait in loops
 * for each other: with more than there are idle cores that takes long. */
#ifndef SIM_EMULATED_RUNTIME_H
#define SIM_EMULATED_RUNTIME_H

#include "include/device.h"

#define EXPORT __attribute__((visibility("default")))

namespace emulated {

constexpr size_t PAGE = 4096;
constexpr size_t SHARED_MOST = 232448; /* bytes of shared memory of a block, as of an H200 */
enum { THREADS_MOST = 1024, POISON = 0xff };

inline size_t rounded(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* Notes an error of this thread for cudaGetLastError and returns it. */
cudaError_t failed(cudaError_t error);
/* For a call that a capture does not take: its error while this thread captures. */
cudaError_t refused_in_capture();

/* Runs all blocks of a launch: each thread of them calls `thread`. */
void run_grid(const shape &how, const std::function<void()> &thread);

/* cuTensorMapEncodeTiled, which the runtime finds by its name. */
void *tensor_map_encoder();

} // namespace emulated

#endif
