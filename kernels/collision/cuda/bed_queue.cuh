/* The queue of launches. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_QUEUE_CUH
#define COLLISION_CUDA_BED_QUEUE_CUH

#include "kernels/collision/cuda/bed_memory.cuh"

static unsigned grid_of(uint64_t work) {
  const uint64_t most = 16 * (uint64_t)sim_cuda_multiprocessors(), blocks = (work + BED_THREADS - 1) / BED_THREADS;
  return (unsigned)(blocks < most ? blocks : most);
}

static const sim_cuda_kernel searching = {"collision_bed_search", "search", SIM_LIMIT_BYTES};
static const sim_cuda_kernel drifting = {"collision_bed_drift", "move", SIM_LIMIT_BYTES};
static const sim_cuda_kernel touching = {"collision_bed_contacts", "contacts", SIM_LIMIT_BYTES};
static const sim_cuda_kernel observing = {"collision_bed_observe", "observe", SIM_LIMIT_BYTES};

template <typename... Parameters, typename... Arguments>
static void launch_together(const bed_work *w, const sim_cuda_kernel *kernel, void (*function)(Parameters...),
                            Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(w->blocks);
  config.blockDim = dim3(BED_THREADS);
  config.stream = (cudaStream_t)sim_cuda_stream();
  config.attrs = &attribute;
  config.numAttrs = 1;
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernelEx(&config, function, (Parameters)arguments...), "cudaLaunchKernelEx", kernel->name);
  sim_cuda_end(kernel, 0);
}

static bed_poses poses_of(const bed_work *w) {
  bed_poses poses = {};
  if (w->state.pose != NULL) memcpy(poses.pose, w->state.pose, (size_t)w->options.walls * sizeof *poses.pose);
  return poses;
}

typedef void bed_contacts(bed_arrays, bed_poses, real, real, unsigned);

static bed_contacts *contacts_of(const bed_work *w) {
  static bed_contacts *const of[][2] = {{contacts<0, -1, false>, contacts<0, -1, true>},
                                        {contacts<3, COLLISION_LINEAR, false>, contacts<3, COLLISION_LINEAR, true>},
                                        {contacts<3, COLLISION_HERTZ, false>, contacts<3, COLLISION_HERTZ, true>},
                                        {contacts<7, -1, false>, contacts<7, -1, true>}};
  const int s = w->options.springs, row = s == 0 ? 0 : s == 7 ? 3 : w->options.force == COLLISION_HERTZ ? 2 : 1;
  return of[row][w->options.walls > 0];
}

/* Of a step of dt; `next` > 0: and the step after it. */
static void touch(bed_work *w, double dt, double next) {
  const bed_numbers *b = &w->numbers;
  collision_launch(&touching, (double)b->n * 14 * sizeof(four), (b->n + BED_THREADS - 1) / BED_THREADS, BED_THREADS,
                   contacts_of(w), w->arrays, w->poses, (real)dt, (real)next, w->launch++);
}

static void drift_alone(bed_work *w, double dt) {
  collision_launch(&drifting, (double)w->numbers.n * 10 * sizeof(four), grid_of(w->numbers.n), BED_THREADS, drift,
                   w->arrays, (real)w->ended, (real)dt, w->launch++);
}

/* All that was queued, as the state is to show it. */
static sim_status settle(bed_work *w) {
  int fault = 0;
  if (w->due > 0) {
    touch(w, w->due, 0);
    w->ended = w->due;
    w->due = 0;
  }
  if (w->ended > 0)
    collision_launch(&drifting, 0, grid_of(w->numbers.n), BED_THREADS, finish, w->arrays, (real)w->ended, w->launch);
  w->ended = 0;
  collision_launch(&observing, 0, grid_of(w->numbers.n), BED_THREADS, invert, w->arrays, w->launch);
  SIM_TRY(sim_backend_cuda.copy(&fault, w->arrays.fault, sizeof fault));
  if (fault & BED_WILD) return sim_fail(SIM_ERR_DIVERGED, "a grain's velocity is not finite");
  if (fault & BED_CROWDED)
    return sim_fail(SIM_ERR_DIVERGED,
                    "more grains are near to each other than fit the lists on a GPU: they are pressed "
                    "into each other, or run with --device cpu");
  return SIM_OK;
}

#endif
