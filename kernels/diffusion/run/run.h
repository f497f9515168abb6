/* A run of the model, shared by the files of this folder. */
#ifndef DIFFUSION_RUN_H
#define DIFFUSION_RUN_H

#include "kernels/diffusion/cpu/resample.h"
#include "kernels/diffusion/observe.h"

/* History of the distance to the twin, as numbers that a checkpoint stores. */
enum { DIFFUSION_BLOCKS = 32 };
typedef struct diffusion_growth {
  double since, distance; /* time of the last reset, and the distance then */
  double last;            /* exponent of the last interval */
  double sum, time;       /* sums over all intervals since `start`: logarithms of growth, and time */
  double intervals;       /* number of these intervals */
  double blocks, filled;  /* number of complete blocks, and of intervals in the next block */
  double length;          /* intervals in a block */
  double sums[DIFFUSION_BLOCKS], times[DIFFUSION_BLOCKS]; /* sums over each block, as `sum` and `time` */
} diffusion_growth;

typedef struct diffusion_run {
  const diffusion_parameters *p;
  const diffusion_ops *ops;
  diffusion_work *work;
  const sim_backend *backend;
  diffusion_observer *observer;     /* NULL: statistics only */
  diffusion_resolution *resolution; /* NULL: no check */
  /* whole fields on the host, for functions of `observe` on a GPU or on several ranks */
  sim_buffer host;
  sim_buffer drawn; /* [drawn fields][cells] of output.fields, in host memory, of step drawn_at; -1: none */
  int64_t drawn_at;
  const sim_comm *comm;
  diffusion_slab slab; /* of this rank */
  grid_shape grid;
  const diffusion_method *method;
  sim_mesh mesh;
  int64_t cells, shown;            /* shown: step of the fields for outputs; -1: none */
  int64_t checked;                 /* step of the last resolution check */
  diffusion_controller controller; /* adaptive steps */
  double level;                    /* level of the controller, as stored in checkpoints */
  sim_buffer kept;                 /* steps by the Courant number: [fields][numbers], the state before the step */
  double rate;                     /* steps by the Courant number: diffusion_courant_rate of step `rated` */
  int64_t rated;
  double jumped;  /* DIFFUSION_EXACT: time of array [0]; NaN: none */
  int64_t finite; /* last step whose state was finite */
  /* Fixed steps: parameters whose t_end counts from the beginning of the present steps. That is not 0 where a restart
   * has another t_end and so another step. */
  diffusion_parameters rest; /* refined (diffusion_refine): the parameters of the operations */
  double refined[3];         /* cells of its grid */
  /* `dealias = "padding"`: fields on the scenario's grid, in host memory, and the way there; else NULL */
  diffusion_resample *resample;
  sim_buffer coarse, fine; /* whole fields; fine: those of the operations in host memory, to be overwritten */
  int64_t resampled;       /* step of the fields in `coarse`; -1: none */
  double begin[2], h;      /* begin: time and step, as stored in checkpoints */
  int64_t last;
  int fields;
  diffusion_work *twin; /* of the Lyapunov exponent; NULL: none */
  diffusion_growth growth;
  /* implicit steps since the start, and of that before a restart: diffusion_solved, as stored in checkpoints */
  double solved[3], before[3];
} diffusion_run;

/* sim_model.state, by these numbers */
enum { DIFFUSION_COEFFICIENTS, DIFFUSION_LEVEL, DIFFUSION_BEGIN, DIFFUSION_TWIN, DIFFUSION_GROWTH, DIFFUSION_SOLVED };
extern const sim_field diffusion_state[];

/* Return the numbers of a field in an array of all fields, and the first one. */
static inline int64_t run_numbers(const sim_buffer *buffer) {
  int64_t numbers = 1;
  for (int i = 1; i < buffer->rank; i++) numbers *= buffer->shape[i];
  return numbers;
}
static inline void *run_part(const sim_buffer *buffer, int field) {
  return (char *)buffer->data + (size_t)field * (size_t)run_numbers(buffer) * sim_dtype_size(buffer->dtype);
}

/* ---- setup.c ---- */

const diffusion_ops *diffusion_ops_of(const sim_setup *setup);
void diffusion_run_extent(const void *parameters, sim_extent *out);
/* Whether the device and the ranks have all that the run asks for. */
sim_status diffusion_check_device(const diffusion_parameters *p, const sim_setup *setup) SIM_MUST_CHECK;
/* Reports steps whose length differs from the scenario's, for the time that is left from `begin` on. */
void diffusion_say_steps(const diffusion_integrate *left, double t_end, double begin);

/* ---- begin.c ---- */

sim_status diffusion_run_create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self);
void diffusion_run_destroy(void **self);

/* ---- lyapunov.c ---- */

/* Computes the coefficients of the run and of its twin from the initial state. Both the real fields of the run and
 * start[fields] hold that state. */
sim_status diffusion_twin_begin(diffusion_run *run, const sim_setup *setup, void *const *start) SIM_MUST_CHECK;
/* Call after a step of both runs. At the end of an interval it measures and resets the distance. SIM_ERR_DIVERGED where
 * the distance is too small or too large. */
sim_status diffusion_twin_step(diffusion_run *run, const sim_clock *clock) SIM_MUST_CHECK;
void diffusion_twin_row(const diffusion_growth *growth, double *values); /* row of the table `lyapunov` */

/* ---- step.c ---- */

sim_status diffusion_run_step(void *self, sim_clock *clock);
/* Computes the real fields of this step. */
sim_status diffusion_run_show(diffusion_run *run, const sim_clock *clock) SIM_MUST_CHECK;

/* ---- fields.c: real fields on the scenario's grid, which `dealias = "padding"` does not share with the operations
 * ----
 */

/* Creates the memory, and copies the first fields to the operations. */
sim_status diffusion_fields_create(diffusion_run *run, const sim_setup *setup) SIM_MUST_CHECK;
void diffusion_fields_destroy(diffusion_run *run);
double diffusion_fields_bytes(const diffusion_parameters *p, const diffusion_parameters *fine, int threads);
sim_status diffusion_fields_begin(diffusion_run *run) SIM_MUST_CHECK;
/* Computes them for this step, or for the state of time t. */
sim_status diffusion_fields_show(diffusion_run *run, const sim_clock *clock) SIM_MUST_CHECK;
const sim_buffer *diffusion_fields_of(const diffusion_run *run); /* [fields][cells] */
/* Return the cells of this rank's slab: of a field of diffusion_fields_of, and with padding of the same on the grid of
 * the operations, in host memory. */
void *diffusion_fields_own(const diffusion_run *run, int field);
void *diffusion_fields_fine(const diffusion_run *run, int field);
/* diffusion_ops.measure and diffusion_ops.lines of them. */
sim_status diffusion_fields_measure(diffusion_run *run, int field, diffusion_statistics *out) SIM_MUST_CHECK;
sim_status diffusion_fields_lines(diffusion_run *run, int field, int axis, int64_t count, void *out) SIM_MUST_CHECK;

/* ---- outputs.c ---- */

sim_status diffusion_run_observe(void *self, const sim_clock *clock, int table, double *values);
sim_status diffusion_run_view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame);
void diffusion_run_report(const void *self, const sim_clock *clock, sim_bytes *out);
void diffusion_run_describe(const void *self, char *out, size_t capacity);

#endif
