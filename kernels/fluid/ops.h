/* Operations of a backend: cpu/ops.c, cuda/ops.c, cuda/trt.c. */
#ifndef FLUID_OPS_H
#define FLUID_OPS_H

#include "kernels/fluid/cpu/measure.h"

/* Mach numbers of the flow: a run warns above FAST and ends above FASTEST, where compression changes it by a quarter.
 */
#define FLUID_MACH_FAST 0.3
#define FLUID_MACH_FASTEST 0.5
double fluid_speed_of_mach(double mach); /* cells per step */

/* What the guards of all steps have seen first: a Mach number above FAST, and what ends the run. */
typedef enum fluid_warning { FLUID_WARN_FAST, FLUID_WARN_END, FLUID_WARNINGS } fluid_warning;
typedef struct fluid_seen {
  bool seen;
  int64_t step; /* after which the cell was so */
  fluid_worst cell;
} fluid_seen;

/* A run's state in the memory of a backend. */
typedef struct fluid_work fluid_work;
struct fluid_heat_sums; /* heat.h */
typedef struct fluid_ops {
  bool tables_of_state; /* rows of tables are made of the state alone, not of fields that are shown */
  void (*plan)(const fluid_parameters *p, const fluid_meshes *meshes, const sim_setup *setup, sim_plan *out);
  /* `m`, with the walls, p and k live as long as *out; release with `destroy`, also after a failure. */
  sim_status (*create)(fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k, const sim_setup *setup,
                       fluid_work **out);
  void (*destroy)(fluid_work **work);
  const sim_buffer *(*state)(const fluid_work *work);  /* the present one */
  const sim_buffer *(*fields)(const fluid_work *work); /* [rank + 1][cells], filled by `show` */
  /* The first of this rank's planes in the fields, and the plane of the grid that plane k of them is. NULL: they have
   * the planes of the grid. */
  int64_t (*first_plane)(const fluid_work *work);
  int64_t (*plane)(const fluid_work *work, int64_t k);
  /* Of several ranks on a device: makes the array of the present state that of this rank, of the global one; read: its
   * values will be read. restore: from a whole one, up to planes of other ranks. NULL: rows of numbers in host memory.
   */
  sim_status (*divide)(fluid_work *work, bool read, sim_array *array);
  sim_status (*restore)(fluid_work *work, const sim_array *whole, const sim_array *own);
  sim_status (*start)(fluid_work *work, const sim_setup *setup);
  /* After the state of a step has been restored; fast: the Mach number had passed FAST. */
  sim_status (*resume)(fluid_work *work, int64_t step, bool fast);
  sim_status (*step)(fluid_work *work, int64_t step); /* makes step number `step` */
  /* What the guards have seen in all steps up to this one; on a GPU it waits for them. */
  sim_status (*guards)(fluid_work *work, int64_t step, fluid_seen seen[FLUID_WARNINGS]);
  sim_status (*show)(fluid_work *work);
  sim_status (*flow)(fluid_work *work, double *values);   /* a row of `flow`, of fields that are shown */
  sim_status (*bodies)(fluid_work *work, double *values); /* of `bodies` */
  sim_status (*probes)(fluid_work *work, double *values); /* of `probes`, of fields that are shown */
  /* Velocities of the cells with links, out[cells][3] in host memory, in units of the lattice. NULL: the state is
   * there.
   */
  sim_status (*wall_velocities)(fluid_work *work, double *out);
  /* Sums of gates, out[gates][FLUID_GATE_SUMS] (gate_sums.h). NULL: the state is in host memory. */
  sim_status (*gates)(fluid_work *work, double *out);
  /* Adds sample number n of the present state to running means in memory of the device, [count][cells] (run/run.h); n
   * 0: gives solid cells the temperature of bodies. NULL: all are in host memory. */
  sim_status (*sample)(fluid_work *work, int64_t n, double *means);
  /* As of fluid_find_change, of the last step; 1 before there was one. */
  sim_status (*change)(fluid_work *work, double *out);
  /* Called before a step after which `change` is asked for. NULL: not needed. */
  sim_status (*remember)(fluid_work *work);
  /* Sum over the fluid of the density above that at rest, in units of the lattice; for warnings alone. */
  sim_status (*excess)(fluid_work *work, double *out);
  double *(*means)(const fluid_work *work); /* of sponges, in memory of the backend: fluid_sponge.mean */
  /* What a row of `heat` is made of. */
  sim_status (*heat)(fluid_work *work, struct fluid_heat_sums *out);
  /* The field of the temperature in *out, double [cells] in memory of the backend; solid cells have the temperature of
   * the first body that they lie in, or `reference`. */
  sim_status (*temperature)(fluid_work *work, double **out);
} fluid_ops;
extern const fluid_ops fluid_ops_cpu, fluid_ops_cuda, fluid_ops_cuda_trt;

#endif
