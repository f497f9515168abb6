/* What the operations on moments (ops.c) and on populations (trt.c) share on the host. */
#ifndef FLUID_CUDA_HOST_H
#define FLUID_CUDA_HOST_H

#include "kernels/fluid/cuda/work.h"
#include "kernels/fluid/ops.h"

typedef struct fluid_exchange fluid_exchange; /* ranks.c */

struct fluid_work {
  fluid_device d;
  fluid_exchange *exchange; /* NULL: one rank */
  fluid_machine *m;
  const fluid_parameters *p;
  const fluid_numbers *numbers;
  sim_buffer state[2];      /* trt.c: one */
  int64_t listed;           /* numbers behind the cells of a state: of members and of listed cells; trt.c: of members */
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

/* What walls in device memory are built from, and where they go. (build.c, pulls.c) */
typedef struct fluid_builder {
  const fluid_machine *m;
  const fluid_parameters *p;
  const fluid_numbers *k;
  fluid_device *d; /* NULL: nothing is sent */
} fluid_builder;

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

/* ---- ranks.c: several GPUs ---- */

bool fluid_cuda_divided(const fluid_machine *m);
/* Numbers that ranks add in a step: masses that members lose, or sums of sponges, whichever are more. (build.c) */
int64_t fluid_cuda_exchanged(const fluid_machine *m, const fluid_device *d);
/* The planes that are here: l.n, l.first, l.own, from. */
void fluid_cuda_choose_planes(const fluid_machine *m, fluid_device *d);
/* The plane of the grid that is a plane here. */
int64_t fluid_cuda_plane(const fluid_machine *m, const fluid_device *d, int64_t plane);
/* Bytes of device memory: two states of so many bytes, and the exchange. */
double fluid_cuda_exchange_bytes(const sim_comm *comm, int states, double state, double members);
/* Makes one or two states of [rows][row] numbers, and the exchange between them; leave: releases them. */
sim_status fluid_cuda_join(fluid_work *work, int states, const int64_t shape[2]) SIM_MUST_CHECK;
void fluid_cuda_leave(fluid_work *work);
sim_status fluid_cuda_swap(fluid_work *work) SIM_MUST_CHECK;      /* the planes of the present state that others need */
sim_status fluid_cuda_swap_made(fluid_work *work) SIM_MUST_CHECK; /* the same of the other state */
/* The planes of a force that is a function beside this rank's own, of the present state; or nothing. */
sim_status fluid_cuda_swap_push(fluid_work *work) SIM_MUST_CHECK;
sim_status fluid_cuda_step_divided(fluid_work *work, int64_t number) SIM_MUST_CHECK; /* makes step `number` */
/* Of populations: a step, without its number; what others need of the present state; velocities in the planes beside
 * this rank's own; as of fluid_ops. */
sim_status fluid_cuda_step_slots(fluid_work *work) SIM_MUST_CHECK;
sim_status fluid_cuda_swap_slots(fluid_work *work) SIM_MUST_CHECK;
sim_status fluid_cuda_swap_velocities(fluid_work *work) SIM_MUST_CHECK;
sim_status fluid_cuda_divide_slots(fluid_work *work, bool read, sim_array *array) SIM_MUST_CHECK;
sim_status fluid_cuda_restore_slots(fluid_work *work, const sim_array *whole, const sim_array *own) SIM_MUST_CHECK;
int64_t fluid_cuda_slot_rows(const fluid_work *work); /* of the state of one rank (trt.c) */
/* Fills the fields, of the planes that are here, with those of the start. (ops.c) */
sim_status fluid_cuda_fill_fields(fluid_work *work, const sim_setup *setup) SIM_MUST_CHECK;
/* work->sums[columns][blocks] of all ranks from d.sum. */
sim_status fluid_cuda_gather_sums(fluid_work *work, int columns) SIM_MUST_CHECK;
/* Of all ranks, with numbers of cells of the grid. */
sim_status fluid_cuda_gather_guards(const fluid_work *work, fluid_guard *guard) SIM_MUST_CHECK;
sim_status fluid_cuda_gather_laws(const fluid_machine *m, const fluid_device *d, fluid_law_guard *told) SIM_MUST_CHECK;
/* The other state in sponges, or the means of the present one. */
void fluid_cuda_damp(fluid_work *work, fluid_damping what);
/* warm.pull_sum, when fluid_cuda_sum_heat has made the terms. */
sim_status fluid_cuda_pull_warm_divided(fluid_work *work) SIM_MUST_CHECK;
sim_status fluid_cuda_pull_divided(fluid_work *work) SIM_MUST_CHECK; /* pull_sum */
/* values[probes][rank + 1], of which each rank has those of its planes. */
sim_status fluid_cuda_gather_probes(const fluid_work *work, double *values) SIM_MUST_CHECK;

/* ---- timed.c ---- */

/* Sets the sides to the middle of the step that comes after step number `step`; follow: the means of sponges too, which
 * those of a checkpoint have done. Nothing where no side changes. */
sim_status fluid_cuda_time_sides(fluid_work *work, int64_t step, bool follow) SIM_MUST_CHECK;
/* The velocities of these sides, for derivatives. */
sim_status fluid_cuda_send_profiles(fluid_work *work) SIM_MUST_CHECK;

#endif
