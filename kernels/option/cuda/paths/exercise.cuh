/* Paths of the regression of exercise rules. Twin: `run_paths` in cpu/exercise.c. Device code; the generated source
 * of a run defines the struct `scheme`, in fp64, with S::RECORD. */
#ifndef OPTION_CUDA_EXERCISE_CUH
#define OPTION_CUDA_EXERCISE_CUH

#include "kernels/option/cuda/paths/step.cuh"

/* Stores the prices at the exercise dates, one path a thread. */
template <class S>
__device__ inline void record_path(const constants<S> &c, const option_keys &keys, const typename S::real *table,
                                   unsigned high, unsigned low, const option_recorder &to) {
  const unsigned thread = blockIdx.x * OPTION_CUDA_THREADS + threadIdx.x, number = low + thread;
  const unsigned turn = S::SHARE > 1 ? number / OPTION_SHARE_STRIDE % S::SHARE : 0;
  const stream own = begin_stream(high, number),
               s = S::SHARE > 1 ? begin_stream(high, number % OPTION_SHARE_STRIDE) : own;
  path_state<S> p;
  draws<S> d;
  begin_path(p, c);
  p.record = to;
  p.record.out += thread;
#pragma unroll 1
  for (int i = 0; i < S::STEPS; i++) {
    const unsigned group = S::SHARE > 1 ? number / (OPTION_SHARE_STRIDE * S::SHARE) : i / 4;
    const rows<S> row(table, i / 4);
    if (i % 4 == 0) draw(c, s, prepare(s, keys, 0), keys, common(high, keys, group), d);
    step(p, c, own, keys, d, row, i % 4, (S::STEPS * turn + i) % 4);
  }
}

#endif
