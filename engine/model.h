/* A model is one const descriptor, found by name; everything about the model is in its own folder. */
#ifndef SIM_ENGINE_MODEL_H
#define SIM_ENGINE_MODEL_H

#include "engine/bench.h"
#include "engine/comm/comm.h"
#include "engine/device/backend.h"
#include "engine/frame.h"
#include "engine/run/dataset.h"
#include "engine/schema/schema.h"
#include "engine/run/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* Precisions of a run. `single`: state and all terms in fp32. `mixed`: state and sums in fp64, pair terms or paths in
 * fp32. `double`: all in fp64. `half`: state in fp16, all terms in fp32. A model offers the ones whose results differ.
 */
typedef enum sim_precision { SIM_SINGLE, SIM_MIXED, SIM_DOUBLE, SIM_HALF, SIM_PRECISIONS } sim_precision;
const char *sim_precision_name(sim_precision precision);

/* Whether a model runs on one kind of backend. */
typedef struct sim_model_backend {
  bool runs;
  const char *reason; /* why not, for the user: "its solver has no GPU kernels"; NULL: no reason given */
} sim_model_backend;

typedef struct sim_output {
  sim_cadence snapshots, tables, checkpoint;
  sim_list slices; /* of sim_slice */
  char *fields;    /* names of sim_model.derived that outputs have too, "q, shear"; NULL: none */
} sim_output;

/* First member of every model's parameters; sim_common_schema is the `base` of the models' schemas. */
typedef struct sim_common {
  char *title, *author;
  uint64_t seed;
  int precision; /* sim_precision */
  sim_units units;
  sim_output output;
  /* Condition that ends the run, tested on the last row of each table. Its inputs are step, time and every column in
   * the order of the tables: by the column's name, or as TABLE_COLUMN if two tables have that name. NULL: none. */
  sim_expr *stop_when;
} sim_common;
extern const sim_schema sim_common_schema;

/* A table of observables. `columns` follow step and time; all are double. */
typedef struct sim_table {
  const char *name, *doc;
  const sim_field *columns; /* ends with a NULL name */
} sim_table;

/* Particles of a file, read by a callback so that a model sees no file format. The caller frees the arrays with
 * sim_particles_free. A NULL array is not in the file. */
typedef struct sim_particles {
  int64_t count;
  double *mass;        /* [count] */
  double *position[3]; /* [count] each, in the scenario's units */
  double *velocity[3];
  double *radius, *spin[3]; /* angular velocity */
  double *body;             /* number of the clump to which the particle belongs; 0: none */
  double *temperature;      /* of a grain */
} sim_particles;
void sim_particles_free(sim_particles *particles);
typedef sim_status sim_particle_reader(const char *path, const char *species, const sim_units *units,
                                       sim_particles *out);
/* Counts the particles of a file. */
typedef sim_status sim_particle_counter(const char *path, const char *species, int64_t *count);

/* Values on a grid from a file: an image, or an array in an HDF5 file. */
typedef enum sim_channel { SIM_NO_CHANNEL, SIM_GREY, SIM_RED, SIM_GREEN, SIM_BLUE, SIM_ALPHA } sim_channel;
typedef struct sim_grid_source {
  const char *path;
  const char *dataset; /* HDF5: path, or name of a mesh in the last iteration of an openPMD file; NULL: not given */
  const char *name;    /* default for `dataset` */
  int channel;         /* image: sim_channel; SIM_NO_CHANNEL: not given, which means SIM_GREY */
  int rank;
  int64_t n[3]; /* required cells along x, y, z */
} sim_grid_source;
/* Reads values[nz][ny][nx] into host memory; an image gives 0 to 1, lowest row first. With values NULL it only checks
 * that the data exist. SIM_ERR_SCENARIO if they do not exist or are not finite. */
typedef sim_status sim_grid_reader(const sim_grid_source *source, double *values);

/* Devices, readers and saved state with which a model is created. */
typedef struct sim_setup {
  const sim_backend *backend;
  const sim_comm *comm; /* ranks of the run; never NULL */
  sim_isa isa;
  int threads;        /* threads of this rank */
  const char *folder; /* the scenario's folder, where relative paths start; "" is the current folder */
  sim_particle_reader *read_particles;
  sim_particle_counter *count_particles;
  sim_grid_reader *read_grid;
  sim_bytes *inputs;      /* NULL, or gets each path that sim_setup_path has resolved, once, with its final 0 */
  const sim_frame *saved; /* NULL: a new run; else the state of a checkpoint, checked to be finite */
} sim_setup;

/* Memory, sizes and work of a run, known before step 0. Memory is that of the rank that needs most. */
typedef struct sim_plan {
  sim_space space; /* memory of the run's backend; set before the model plans */
  struct {
    char what[48];
    double bytes; /* double: may exceed 2^63 */
    sim_space space;
  } items[32];
  size_t count;
  double snapshot_bytes; /* of one snapshot */
  double staged_bytes;   /* bytes of a snapshot's arrays that are in device memory */
  double once_bytes;     /* bytes among snapshot_bytes that the first snapshot has alone */
  double checkpoint_bytes;
  struct {
    char name[32];
    double bytes; /* of its numbers */
  } files[8];     /* datasets, written when the run is complete */
  int file_count;
  double unsaved_bytes;   /* bytes of a snapshot's arrays with SIM_NO_CHECKPOINT */
  bool divided;           /* ranks divide the state, and rank 0 gathers it for outputs */
  double first_bytes;     /* bytes of host memory among the items that only rank 0 needs */
  double room_bytes;      /* bytes of host memory among the items that a run usually leaves unused */
  double work_per_step;   /* in work_unit, all ranks together; the least if it depends on the state */
  double work_most;       /* most work of one step if it depends on the state; 0: always work_per_step */
  double work_rate_guess; /* estimated work a second on this backend, all ranks together, for `sim check` */
  double start_seconds;   /* estimated time before the first step if the model computes something there */
  int most_ranks;         /* more ranks than this make the run no faster; 0: not known */
  int parts;              /* number of equal parts of a step's work, each done by one rank; 0: any */
  /* Communication of one step on setup->comm->size ranks; all 0 if nothing is exchanged, as on one rank. */
  double bytes_received; /* by the rank that receives most, from all other ranks */
  double exchanges;      /* calls of gather, swap and agree: each waits for all ranks */
  /* Communication before the first step. */
  double start_received, start_exchanges;
  double beside;    /* fraction of a rank's own computing time, 0 to 1, during which the bytes of a step arrive */
  double undivided; /* fraction of one rank's step, 0 to 1, that every rank computes for itself */
  double steps;     /* NaN with adaptive steps */
  double t_end;
  bool lazy; /* steps compute nothing: `view` computes the state at its time */
} sim_plan;
/* Returns how many times faster `ranks` ranks make a step than one rank, from the largest share of any rank. */
double sim_plan_shares(const sim_plan *plan, int ranks);
void sim_plan_add(sim_plan *plan, const char *what, double bytes);      /* adds memory in plan->space */
void sim_plan_add_host(sim_plan *plan, const char *what, double bytes); /* adds host memory */
void sim_plan_add_file(sim_plan *plan, const char *name, double bytes); /* adds a dataset, "paths.h5"; at most 8 */
double sim_plan_bytes(const sim_plan *plan, sim_space space);           /* sum of all items in `space` */
/* Host memory in bytes of `ranks` ranks, each of which needs `more` bytes beyond the items. */
double sim_plan_host_bytes(const sim_plan *plan, int ranks, double more);

enum { SIM_DERIVED_MAX = 80 };

typedef struct sim_model {
  const char *name, *doc;
  const char *example;            /* a small complete scenario: what `sim new` prints */
  const char *const *references;  /* papers of the physics used, NULL-terminated */
  const sim_schema *parameters;   /* its name is that of the scenario's constructor, its base sim_common_schema */
  const sim_table *const *tables; /* the tables that every run has; NULL-terminated */
  /* Tables that scenarios add, for `sim describe`, with CAPITALS for names from the scenario. NULL: none. */
  const sim_table *const *described;
  const sim_field *state; /* state arrays, ends with a NULL name */
  /* Gives the names that output.fields may have: fields that snapshots may have beside those of the state. They live
   * as long as the decoded parameters. Returns their number. NULL: none. */
  int (*derived)(const void *parameters, const char *names[SIM_DERIVED_MAX]);
  void (*release)(void *parameters); /* frees what `validate` has allocated; NULL: nothing */
  const char *work_unit;             /* "interactions" */
  sim_model_backend backends[SIM_BACKEND_KINDS];
  bool precisions[SIM_PRECISIONS]; /* [sim_precision]: the precisions that a scenario may choose */
  /* Runs on several ranks with the same bits; `plan` and `create` refuse scenarios that cannot. Each step then waits
   * for a contribution of every rank. */
  bool ranks;
  const sim_bench *bench; /* rows of `sim bench`; NULL: none */

  /* Sets parameters that depend on others (G from the units) and checks rules between parameters. May be NULL. */
  sim_status (*validate)(void *parameters, sim_faults *faults);
  /* Whether a kind of `backends` supports everything in the scenario; if not, `lacks` says what is missing: "Sobol
   * points are". "auto" then takes the CPU, and a request for that backend fails. NULL: always. */
  bool (*supports)(const void *parameters, sim_backend_kind backend, char *lacks, size_t capacity);
  /* Returns the tables of one run, if scenarios add some; the model's `tables` come first. They live as long as the
   * validated parameters. NULL: always `tables`. */
  const sim_table *const *(*tables_of)(const void *parameters);
  /* Gives the grid of all fields with SIM_IN_SNAPSHOT, for valid parameters. NULL: no grid, and no slices. */
  void (*extent)(const void *parameters, sim_extent *out);
  sim_status (*plan)(const void *parameters, const sim_setup *setup, sim_plan *plan);
  /* Allocates all memory. Always sets clock->t_end; sets the rest of the clock to the start, or from setup->saved. */
  sim_status (*create)(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self);
  /* Makes one step: advances clock->step, t and dt. With a queue the work is enqueued; else it is complete on
   * return. */
  sim_status (*step)(void *self, sim_clock *clock);
  /* Computes a row of tables[table]: values[columns], complete on return. A state that is not finite must give a
   * value that is not finite. */
  sim_status (*observe)(void *self, const sim_clock *clock, int table, double *values);
  /* Views of the state, valid until the next step: arrays[SIM_ARRAYS_MAX], species[SIM_SPECIES_MAX]; sets their counts
   * in `frame`. Each array is in host memory or the backend's, as its `space` says. Arrays without `room` keep their
   * size. */
  sim_status (*view)(void *self, sim_array *arrays, sim_species *species, sim_frame *frame);
  /* Returns the work of `steps` steps since `create`, in multiples of sim_plan.work_per_step. NULL: `steps`. */
  double (*work_done)(const void *self, double steps);
  /* One line for the header: "16384 bodies, leapfrog, direct sum by Newton's third law". */
  void (*describe)(const void *self, char *out, size_t capacity);
  /* Gives dataset number `index`, from 0 on, at the end of a completed run; after the last one out->name stays NULL.
   * Its data live until the next call or `destroy`. Rank 0 alone calls it, so that it must not exchange. NULL: none. */
  sim_status (*dataset)(void *self, const sim_clock *clock, int index, sim_dataset *out);
  /* Lines for the end of a run, each with '\n': "price 10.4506 +- 0.0012". May be NULL. */
  void (*report)(const void *self, const sim_clock *clock, sim_bytes *out);
  /* One line, without '\n', if a completed run missed a goal of the scenario; else nothing. May be NULL. */
  void (*remark)(const void *self, const sim_clock *clock, sim_bytes *out);
  void (*destroy)(void **self);
} sim_model;

/* All models of this executable, generated by CMake; NULL-terminated. */
extern const sim_model *const sim_models[];
const sim_model *sim_model_find(const char *name);

/* Whether the model runs on a kind of backend in this build; if not, *reason is the reason. `reason` may be NULL. */
bool sim_model_runs(const sim_model *model, sim_backend_kind kind, const char **reason);

/* Resolves a path of a scenario, which is relative to the scenario's folder. SIM_ERR_SCENARIO: too long. */
sim_status sim_setup_path(const sim_setup *setup, const char *path, char out[4096]) SIM_MUST_CHECK;

/* Writes the precisions that the model offers, quoted as in a scenario: "single" or "double". */
void sim_model_precisions(const sim_model *model, char *out, size_t capacity);

/* Whether output.fields names a derived field. */
bool sim_output_has_field(const sim_output *output, const char *name);
/* Adds a fault where output.fields is given and nothing can have them: there are no snapshots and no slices, and no
 * table shows them (`shown`). */
void sim_output_check_fields(const sim_output *output, bool shown, sim_faults *faults);

const sim_table *const *sim_model_tables(const sim_model *model, const void *parameters);

/* Decodes and validates a scenario's table (or a checkpoint's stored parameters) into a new parameter struct. Collects
 * faults in `faults`. The caller releases *out with sim_model_parameters_free in any case. */
sim_status sim_model_decode(const sim_model *model, const sim_value *value, void **out,
                            sim_faults *faults) SIM_MUST_CHECK;
void sim_model_parameters_free(const sim_model *model, void **parameters);

#endif
