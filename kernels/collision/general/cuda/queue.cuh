/* The queue of launches. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_QUEUE_CUH
#define COLLISION_CUDA_BED_QUEUE_CUH

#include "kernels/collision/general/cuda/memory.cuh"

static unsigned grid_of(uint64_t work) {
  const uint64_t most = 16 * (uint64_t)sim_cuda_multiprocessors(), blocks = (work + BED_THREADS - 1) / BED_THREADS;
  return (unsigned)(blocks < most ? blocks : most);
}

static const sim_kernel searching = {"collision_bed_search", "search", SIM_LIMIT_BYTES};
static const sim_kernel drifting = {"collision_bed_drift", "move", SIM_LIMIT_BYTES};
static const sim_kernel touching = {"collision_bed_contacts", "contacts", SIM_LIMIT_BYTES};
static const sim_kernel pushing = {"collision_law_push", "contacts", SIM_LIMIT_BYTES};
static const sim_kernel observing = {"collision_bed_observe", "observe", SIM_LIMIT_BYTES};

template <typename... Parameters, typename... Arguments>
static void launch_together(const bed_work *w, const sim_kernel *kernel, void (*function)(Parameters...),
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

/* Those of laws.h. */
typedef void field_kernel(bed_arrays, unsigned, double);
typedef void field_sum(bed_arrays, unsigned, double, double *);
typedef void bed_sums(bed_arrays, bed_poses, bed_shift, int, double *, unsigned long long *, unsigned);
typedef void bed_contacts(bed_arrays, bed_poses, real, real, unsigned, bed_shift);

/* What kernels have to have code for. */
static int more_of(const collision_options *o) {
  for (int k = 0; k < o->walls; k++)
    if (o->wall[k].shape == COLLISION_MESH) return BED_ALL;
  if (o->gates > 0 || o->shear != 0 || o->external != NULL || o->force == COLLISION_OWN) return BED_MORE;
  return o->worked ? BED_WORKED : o->walls > 0 || o->materials > 1 ? BED_WALLS : BED_BARE;
}

template <int SPRINGS, int FORM> static bed_contacts *contacts_with(int more) {
  static bed_contacts *const of[] = {contacts<SPRINGS, FORM, BED_BARE>, contacts<SPRINGS, FORM, BED_WALLS>,
                                     contacts<SPRINGS, FORM, BED_WORKED>, contacts<SPRINGS, -1, BED_MORE>,
                                     contacts<SPRINGS, -1, BED_ALL>};
  return of[more];
}

static bed_contacts *contacts_of(const bed_work *w) {
  const int s = w->options.springs, more = more_of(&w->options);
  if (w->laws.contacts != NULL) return (bed_contacts *)w->laws.contacts;
  return s == 0                                ? contacts_with<0, -1>(more)
         : s == 7                              ? contacts_with<7, -1>(more)
         : w->options.force == COLLISION_HERTZ ? contacts_with<3, COLLISION_HERTZ>(more)
                                               : contacts_with<3, COLLISION_LINEAR>(more);
}

static bed_sums *sums_of(const bed_work *w) {
  static bed_sums *const of[][2] = {{sum_blocks<0, BED_WORKED>, sum_blocks<0, BED_ALL>},
                                    {sum_blocks<3, BED_WORKED>, sum_blocks<3, BED_ALL>},
                                    {sum_blocks<7, BED_WORKED>, sum_blocks<7, BED_ALL>}};
  const int s = w->options.springs;
  if (w->laws.sums != NULL) return (bed_sums *)w->laws.sums;
  return of[s == 0 ? 0 : s == 3 ? 1 : 2][more_of(&w->options) >= BED_MORE];
}

/* Of a step of dt; `next` > 0: and the step after it. */
static void touch(bed_work *w, double dt, double next) {
  const bed_numbers *b = &w->numbers;
  if (w->laws.push != NULL)
    collision_launch(&pushing, (double)b->n * 2 * sizeof(four), b->blocks, BED_THREADS, (field_kernel *)w->laws.push,
                     w->arrays, w->launch, w->time);
  collision_launch(&touching, (double)b->n * 14 * sizeof(four), (b->n + BED_THREADS - 1) / BED_THREADS, BED_THREADS,
                   contacts_of(w), w->arrays, w->poses, (real)dt, (real)next, w->launch++, w->shift);
}

static void drift_alone(bed_work *w, double dt) {
  const int more = more_of(&w->options);
  collision_launch(&drifting, (double)w->numbers.n * 10 * sizeof(four), grid_of(w->numbers.n), BED_THREADS,
                   more >= BED_MORE     ? drift<BED_MORE>
                   : more == BED_WORKED ? drift<BED_WORKED>
                                        : drift<BED_BARE>,
                   w->arrays, (real)w->ended, (real)dt, w->launch++, w->shift);
}

/* Lists made anew where they no longer hold, in a step of dt or before the first. */
static void search_near(bed_work *w, double dt) {
  launch_together(w, &searching, w->options.shear != 0 ? search<true> : search<false>, w->arrays, (real)dt, w->launch++,
                  w->shift.offset);
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
