/* Launches of the kernels, and the choice among their forms. */
#ifndef COLLISION_GENERAL_CUDA_QUEUE_CUH
#define COLLISION_GENERAL_CUDA_QUEUE_CUH

#include "kernels/collision/general/cuda/bodies.cuh"
#include "kernels/collision/general/cuda/forms/forms.cuh"
#include "kernels/collision/general/cuda/lists.cuh"
#include "kernels/collision/general/cuda/observe.cuh"
#include "kernels/collision/general/cuda/step.cuh"
#include "kernels/collision/general/cuda/work.cuh"

#include <string.h>

/* Returns the number of thread blocks for this many items. */
static inline unsigned grid_of(uint64_t work) {
  const uint64_t most = 16 * (uint64_t)sim_cuda_multiprocessors(),
                 blocks = (work + GENERAL_THREADS - 1) / GENERAL_THREADS;
  return (unsigned)(blocks < most ? blocks : most);
}

static const sim_kernel search_launch = {"collision_general_search", "search", SIM_LIMIT_BYTES};
static const sim_kernel drift_launch = {"collision_general_drift", "move", SIM_LIMIT_BYTES};
static const sim_kernel contacts_launch = {"collision_general_contacts", "contacts", SIM_LIMIT_BYTES};
static const sim_kernel external_launch = {"collision_law_acceleration", "contacts", SIM_LIMIT_BYTES};
static const sim_kernel bodies_launch = {"collision_general_bodies", "move", SIM_LIMIT_BYTES};
static const sim_kernel predict_launch = {"collision_general_predict", "self-gravity", SIM_LIMIT_BYTES};
static const sim_kernel observe_launch = {"collision_general_observe", "observe", SIM_LIMIT_BYTES};

/* Launches a kernel whose thread blocks wait for each other. */
template <typename real, typename... Parameters, typename... Arguments>
static void launch_cooperative(const general_work<real> *w, const sim_kernel *kernel, void (*function)(Parameters...),
                               Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(w->blocks);
  config.blockDim = dim3(GENERAL_THREADS);
  config.stream = (cudaStream_t)sim_cuda_stream();
  config.attrs = &attribute;
  config.numAttrs = 1;
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernelEx(&config, function, (Parameters)arguments...), "cudaLaunchKernelEx", kernel->name);
  sim_cuda_end(kernel, 0);
}

template <typename real> static general_poses poses_of(const general_work<real> *w) {
  general_poses poses = {};
  if (w->state.pose != NULL) memcpy(poses.pose, w->state.pose, (size_t)w->options.walls * sizeof *poses.pose);
  return poses;
}

/* Types of kernels in laws.h; of contacts and sums: forms.cuh. */
template <typename real> using acceleration_kernel = void(general_arrays<real>, unsigned, double);
template <typename real> using energy_kernel = void(general_arrays<real>, unsigned, double, double *);

/* Features that kernels need: GENERAL_BARE ... GENERAL_CLUMP_MESHES. */
template <typename real> static int features_of(const general_work<real> *w) {
  const collision_options *o = &w->options;
  for (int k = 0; k < o->walls; k++)
    if (o->wall[k].shape == GEOMETRY_MESH) return o->clumps ? GENERAL_CLUMP_MESHES : GENERAL_MESHES;
  if (o->clumps) return GENERAL_CLUMPS;
  if (o->gates > 0 || o->shear != 0 || o->hill || o->attracted || o->external != NULL || o->force == COLLISION_CUSTOM ||
      o->restitution != NULL)
    return GENERAL_EXTRAS;
  return o->worked || w->arrays.typical.materials ? GENERAL_WORK : o->walls > 0 ? GENERAL_WALLS : GENERAL_BARE;
}

/* Contacts with the laws of models.inc: by a form of these laws alone, or by one that chooses among all. */
template <typename real> static contacts_kernel<real> *named_contacts_of(const collision_options *o, int features) {
  const collision_models *m = &o->models;
  if constexpr (sizeof(real) == 4) {
    const bool simple = m->tangential == COLLISION_CONSERVING && m->twisting == COLLISION_NO_TURNING && !o->heated &&
                        features <= GENERAL_WALLS && o->force != COLLISION_CUSTOM;
    const bool hertz = o->force == COLLISION_HERTZ;
    const int rolling = m->rolling, cohesion = m->cohesion;
    if (simple && rolling == COLLISION_SDS && cohesion == COLLISION_NO_COHESION && o->springs == 7)
      return hertz ? collision_contacts_form<real, 7, hertz_sds_law>(features)
                   : collision_contacts_form<real, 7, linear_sds_law>(features);
    if (simple && rolling == COLLISION_NO_TURNING && o->springs == 4) {
      if (cohesion == COLLISION_JKR && hertz) return collision_contacts_form<real, 4, hertz_jkr_law>(features);
      if (cohesion == COLLISION_SQUARE_WELL)
        return hertz ? collision_contacts_form<real, 4, hertz_well_law>(features)
                     : collision_contacts_form<real, 4, linear_well_law>(features);
      if (cohesion == COLLISION_BRIDGE)
        return hertz ? collision_contacts_form<real, 4, hertz_bridge_law>(features)
                     : collision_contacts_form<real, 4, linear_bridge_law>(features);
    }
  }
  return o->springs == 4   ? collision_contacts_form<real, 4, named_law>(features)
         : o->springs == 7 ? collision_contacts_form<real, 7, named_law>(features)
                           : collision_contacts_form<real, 8, named_law>(features);
}

/* Springs of the kernel of contacts beside the tangential one: TURNS_ROLLING or TURNS_TWISTING where a kernel has code
 * for one of them alone. Needs arrays.typical.materials. */
template <typename real> static int turns_of(const general_work<real> *w) {
  const collision_options *o = &w->options;
  const collision_law *law = &o->law[0][0];
  if (sizeof(real) > 4 || o->springs != 7 || o->named || features_of(w) > GENERAL_WALLS) return TURNS_ANY;
  return law->twisting > 0 ? (law->rolling > 0 ? TURNS_ANY : TURNS_TWISTING) : TURNS_ROLLING;
}

template <typename real> static contacts_kernel<real> *contacts_of(const general_work<real> *w) {
  const int s = w->options.springs, features = features_of(w);
  if (w->laws.contacts != NULL) return (contacts_kernel<real> *)w->laws.contacts;
  if (w->options.named) return named_contacts_of<real>(&w->options, features);
  if (s == 0) return collision_contacts_form<real, 0, any_law>(features);
  const bool hertz = w->options.force == COLLISION_HERTZ && (features < GENERAL_EXTRAS || features == GENERAL_CLUMPS);
  if constexpr (sizeof(real) == 4) {
    const int turns = turns_of(w);
    if (turns == TURNS_ROLLING)
      return hertz ? collision_contacts_form<real, 7, hertz_rolling_law>(features)
                   : collision_contacts_form<real, 7, linear_rolling_law>(features);
    if (turns == TURNS_TWISTING)
      return hertz ? collision_contacts_form<real, 7, hertz_twisting_law>(features)
                   : collision_contacts_form<real, 7, linear_twisting_law>(features);
  }
  if (s == 7)
    return hertz ? collision_contacts_form<real, 7, hertz_law>(features)
                 : collision_contacts_form<real, 7, linear_law>(features);
  return hertz ? collision_contacts_form<real, 3, hertz_law>(features)
               : collision_contacts_form<real, 3, linear_law>(features);
}

template <typename real> static sums_kernel<real> *sums_of(const general_work<real> *w) {
  const int s = w->options.springs, features = features_of(w);
  if (w->laws.sums != NULL) return (sums_kernel<real> *)w->laws.sums;
  if (w->options.named)
    return s == 4   ? collision_sums_form<real, 4, named_law>(features)
           : s == 7 ? collision_sums_form<real, 7, named_law>(features)
                    : collision_sums_form<real, 8, named_law>(features);
  return s == 0   ? collision_sums_form<real, 0, any_law>(features)
         : s == 3 ? collision_sums_form<real, 3, any_law>(features)
                  : collision_sums_form<real, 7, any_law>(features);
}

template <typename real> static void launch_external(const general_work<real> *w) {
  const general_numbers *b = &w->numbers;
  if (w->laws.acceleration != NULL)
    device_launch(&external_launch, (double)b->n * 2 * sizeof(vec4<real>), b->blocks, GENERAL_THREADS,
                  (acceleration_kernel<real> *)w->laws.acceleration, w->arrays, w->launch, w->time);
}

/* Enqueues the contacts of a step of length dt; next > 0: also the move of the next step, of this length. */
template <typename real> static void launch_contacts(general_work<real> *w, double dt, double next) {
  const uint32_t threads = w->arrays.own.threads;
  launch_external(w);
  device_launch(&contacts_launch, (double)threads * 14 * sizeof(vec4<real>), threads / CONTACT_THREADS + 1,
                CONTACT_THREADS, contacts_of(w), w->arrays, w->poses, (real)dt, (real)next, w->launch++, w->shift);
}

template <typename real> static void launch_drift(general_work<real> *w, double dt) {
  const int features = features_of(w);
  device_launch(&drift_launch, (double)w->numbers.n * 10 * sizeof(vec4<real>), grid_of(w->numbers.n), GENERAL_THREADS,
                general_clumps(features)     ? drift<GENERAL_CLUMPS, real>
                : features >= GENERAL_EXTRAS ? drift<GENERAL_EXTRAS, real>
                : features == GENERAL_WORK   ? drift<GENERAL_WORK, real>
                                             : drift<GENERAL_BARE, real>,
                w->arrays, (real)w->ended, (real)dt, w->launch++, w->shift);
}

/* Enqueues the launch that rebuilds the lists where they are no longer valid, in a step of length dt or before the
 * first. */
template <typename real> static void launch_search(general_work<real> *w, double dt) {
  launch_cooperative(w, &search_launch, w->options.shear != 0 ? search<true, real> : search<false, real>, w->arrays,
                     (real)dt, w->launch++, w->shift.offset);
}

/* Enqueues a kernel of bodies.cuh with a thread for each clump. */
template <typename real, typename... Parameters, typename... Arguments>
static void launch_bodies(general_work<real> *w, void (*function)(Parameters...), Arguments... arguments) {
  const uint32_t blocks = (w->arrays.bodies.count + BODIES_THREADS - 1) / BODIES_THREADS;
  device_launch(&bodies_launch, (double)w->arrays.bodies.count * sizeof(collision_body), blocks, BODIES_THREADS,
                function, w->arrays, w->launch, arguments...);
}

template <typename real> static void launch_step_bodies(general_work<real> *w, double ended, double dt) {
  const uint32_t blocks = (w->arrays.bodies.count + BODIES_BLOCK - 1) / BODIES_BLOCK;
  device_launch(&bodies_launch, (double)w->arrays.bodies.count * sizeof(collision_body), blocks, BODIES_STEP_THREADS,
                step_bodies<real>, w->arrays, w->launch, ended, dt);
}

/* In ranks.cuh. */
template <typename real> static sim_status follow_decision(general_work<real> *w);
template <typename real> static sim_status exchange_halo(general_work<real> *w);
template <typename real> static void share_forces(general_work<real> *w, bool other);

/* The contacts of the last step, with accelerations in place of the next step's move. */
template <typename real> static void launch_last_contacts(general_work<real> *w) {
  launch_contacts(w, w->due, 0);
  share_forces(w, false);
  if (w->arrays.bodies.count > 0) launch_bodies(w, push_bodies<real>, (double)(real)w->due);
  w->ended = w->due;
  w->due = 0;
}

static inline sim_status lists_are_full() {
  return sim_fail(SIM_ERR_DIVERGED, "more grains are near to each other than fit the lists on a GPU: they are pressed "
                                    "into each other, or run with --device cpu");
}

/* Completes the queued steps, computes the index of each id, and returns errors of the device. All ranks. */
template <typename real> static sim_status complete_steps(general_work<real> *w) {
  int fault = 0;
  SIM_TRY(follow_decision(w));
  if (w->due > 0 || w->ended > 0) w->domain.known = false;
  if (w->due > 0) launch_last_contacts(w);
  if (w->ended > 0) {
    device_launch(&drift_launch, 0, grid_of(w->numbers.n), GENERAL_THREADS, finish_step<real>, w->arrays,
                  (real)w->ended, w->launch);
    w->ended = 0;
    if (w->domain.comm->size > 1) {
      sim_turn_begin(w->domain.turn); /* all ranks have computed their contacts */
      SIM_TRY(exchange_halo(w));
    }
  }
  device_launch(&observe_launch, 0, grid_of(w->numbers.n), GENERAL_THREADS, invert_ids<real>, w->arrays, w->launch);
  SIM_TRY(sim_backend_cuda.copy(&fault, w->arrays.fault, sizeof fault));
  if (fault & GENERAL_DIVERGED)
    return sim_fail(SIM_ERR_DIVERGED, "a grain's velocity is not finite, or it passes a side of a periodic "
                                      "box in a step");
  return fault & GENERAL_LIST_FULL ? lists_are_full() : SIM_OK;
}

#endif
