/* Preparation of a run: from a scenario or a checkpoint to checked parameters, device and memory plan. */
#ifndef SIM_CLI_PREPARE_H
#define SIM_CLI_PREPARE_H

#include "cli/cli.h"
#include "cli/batch/scheduler.h"
#include "io/io.h"
#include "lua/scenario.h"

typedef struct cli_job {
  const cli_options *options;
  scenario source;     /* of run and check */
  io_checkpoint saved; /* valid if has_saved */
  bool has_saved;
  double dt; /* replaces integrate.dt of the scenario, in its units; 0: does not */
  const sim_model *model;
  void *parameters;     /* model->parameters->size bytes; begins with a sim_common */
  sim_value *resolved;  /* the same as a tree */
  sim_bytes blob, json; /* of resolved */
  cli_scheduler scheduler;
  sim_setup setup;
  sim_plan plan;
  double resident;   /* bytes in use before the run: program, libraries, a loaded checkpoint */
  char folder[4096]; /* of the scenario, for relative paths */
  char output[4096]; /* of the run */
  char device[256];  /* one line: the device of the run */
} cli_job;

/* Evaluates and decodes options->target. Prints faults and then returns SIM_ERR_SCENARIO with an empty message. */
sim_status cli_prepare_scenario(cli_job *job) SIM_MUST_CHECK;
/* The same from job->saved: its stored parameters, without Lua. */
sim_status cli_prepare_saved(cli_job *job) SIM_MUST_CHECK;
/* SIM_ERR_INCOMPATIBLE, naming what differs, unless job->saved belongs to the prepared scenario. */
sim_status cli_prepare_same(const cli_job *job) SIM_MUST_CHECK;
/* Chooses device, threads and instruction set, and computes the plan, for the ranks of setup.comm (NULL: one).
 * SIM_ERR_USAGE where model or device do not support ranks. */
sim_status cli_prepare_device(cli_job *job) SIM_MUST_CHECK;
/* SIM_ERR_NO_MEMORY with the list if the plan does not fit. */
sim_status cli_prepare_memory(const cli_job *job) SIM_MUST_CHECK;
/* Writes "12.3 MiB of memory"; for a GPU its memory and the host's. */
void cli_memory_text(const cli_job *job, char *out, size_t capacity);
/* Estimated seconds of a step of the least work, by the plan; 0: unknown. A step of more work (individual steps) waits
 * for the device after each part of it, which is no longer than that: the watch over these waits takes it. */
double cli_step_seconds(const cli_job *job);
/* Prepends the scenario's name to the message of a model that refuses it. */
sim_status cli_of_scenario(const cli_job *job, sim_status status);
void cli_prepare_free(cli_job *job);
/* Frees the scenario and the plan, for another cli_prepare_scenario. */
void cli_prepare_again(cli_job *job);
/* Sets job->output: --output, or the scenario's name with this suffix. */
sim_status cli_prepare_output(cli_job *job, const char *suffix) SIM_MUST_CHECK;
/* Number of GPUs that this process sees and may use; makes no context on them. */
int cli_gpus(void);
/* Name of one of them for --device: "cuda:GPU-" and its UUID. False: there are not so many. */
enum { CLI_GPU_NAME = 64 };
bool cli_gpu(int number, char name[CLI_GPU_NAME]);

/* run/values.c: a run of a prepared job whose table rows `write` takes, with `self`, and which writes no files. The
 * caller creates the model. */
void cli_memory_run(const cli_job *job, sim_status (*write)(void *self, const sim_frame *frame), void *self,
                    sim_sink *sink, sim_run *run);
/* functions.c: logs the formula of each function for -v, "fields[1] u.drift: result = ..."; prints values and
 * derivatives for --at. SIM_ERR_USAGE if a name in it is no input of any function. */
void cli_log_functions(const cli_job *job);
sim_status cli_check_point(const cli_job *job) SIM_MUST_CHECK;
/* check.c: the whole of `sim check`. */
sim_status cli_check_job(cli_job *job) SIM_MUST_CHECK;
/* batch.c: number of tasks of a job script, the ranks of its run. */
int cli_script_tasks(const cli_options *options);
/* Prints a job script for a prepared scenario, or for the runs of a sweep of it (0: none). */
sim_status cli_script_print(const cli_job *job, size_t sweep) SIM_MUST_CHECK;
/* sweep.c: the whole of `sim sweep`. */
sim_status cli_sweep_run(cli_job *job) SIM_MUST_CHECK;

/* After a run with --profile: prints the table, and writes trace.json to its folder. Keeps the last error. */
void cli_say_profile(io_folder *folder, const sim_backend *backend);

/* Number of outputs of a cadence in the whole run; NaN: unknown in advance. */
double cli_times_due(const sim_cadence *cadence, const sim_plan *plan);
/* Bytes of all table rows at the end of the run, in memory; about the size of tables.h5. 0: unknown. */
double cli_row_bytes(const cli_job *job);
/* Bytes of the values in one file of slice number `index`, counted from 0. */
double cli_slice_bytes(const cli_job *job, size_t index);

const sim_common *cli_common(const cli_job *job);

#endif
