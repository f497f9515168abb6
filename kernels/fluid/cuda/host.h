/* What the operations on moments (ops.c) and on populations (trt.c) share on the host. */
#ifndef FLUID_CUDA_HOST_H
#define FLUID_CUDA_HOST_H

#include "kernels/fluid/cuda/work.h"
#include "kernels/fluid/ops.h"

struct fluid_work {
  fluid_device d;
  fluid_machine *m;
  const fluid_parameters *p;
  const fluid_numbers *numbers;
  sim_buffer state[2];      /* trt.c: one */
  sim_buffer fields;        /* trt.c: in host memory */
  double *sums;             /* of a row of a table, in host memory */
  sim_graph *graph[2];      /* a step from each state; trt.c: from each parity */
  bool fast;                /* FLUID_TOLD_FAST is known */
  bool old_pulls, old_cuts; /* bodies have moved since they were built */
  bool old_profiles;        /* sides have changed since their velocities were sent */
  bool stepped;             /* a step has been made */
  int64_t made, remembered; /* number of the last step; of the one whose velocities are stored, -1: none */
  double change;            /* the last one that was found */
};

/* As of fluid_ops. (ops.c) */
void fluid_cuda_destroy(fluid_work **work);
const sim_buffer *fluid_cuda_fields(const fluid_work *work);
sim_status fluid_cuda_guards(fluid_work *work, int64_t step, fluid_seen seen[FLUID_WARNINGS]) SIM_MUST_CHECK;
sim_status fluid_cuda_flow_row(fluid_work *work, double *values) SIM_MUST_CHECK;
sim_status fluid_cuda_excess(fluid_work *work, double *out) SIM_MUST_CHECK;
sim_status fluid_cuda_bodies(fluid_work *work, double *values) SIM_MUST_CHECK;

/* With what the kernels need of the machine and its numbers, but for memory; release with fluid_cuda_destroy. */
sim_status fluid_cuda_new(fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                          fluid_work **out) SIM_MUST_CHECK;
/* Tells the device the number of the present step. */
sim_status fluid_cuda_set_step(fluid_work *work, int64_t step, bool fast) SIM_MUST_CHECK;
/* Sums of cells, the guards and the number of the step in device memory; sums in host memory, after the walls. */
sim_status fluid_cuda_allocate_guards(fluid_work *work) SIM_MUST_CHECK;
sim_status fluid_cuda_allocate_sums(fluid_work *work) SIM_MUST_CHECK;
double fluid_cuda_sum_blocks(const grid_shape *grid);
/* Links, sums, and what walls take on their way to the device. */
void fluid_cuda_plan_walls(const fluid_parameters *p, const fluid_meshes *meshes, sim_plan *out);

/* ---- outputs.c: as of fluid_ops ---- */

sim_status fluid_cuda_wall_velocities(fluid_work *work, double *out) SIM_MUST_CHECK;
sim_status fluid_cuda_sample(fluid_work *work, int64_t n, double *means) SIM_MUST_CHECK;
sim_status fluid_cuda_gates(fluid_work *work, double *out) SIM_MUST_CHECK;
sim_status fluid_cuda_change(fluid_work *work, double *out) SIM_MUST_CHECK;
sim_status fluid_cuda_remember(fluid_work *work) SIM_MUST_CHECK; /* of populations */
double fluid_cuda_remembered_bytes(const fluid_parameters *p);   /* in device memory, of populations */

/* ---- timed.c ---- */

/* Sets the sides to the middle of the step that comes after step number `step`; follow: the means of sponges too, which
 * those of a checkpoint have done. Nothing where no side changes. */
sim_status fluid_cuda_time_sides(fluid_work *work, int64_t step, bool follow) SIM_MUST_CHECK;
/* The velocities of these sides, for derivatives. */
sim_status fluid_cuda_send_profiles(fluid_work *work) SIM_MUST_CHECK;

#endif
