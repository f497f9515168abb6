/* Preparation of a run: from a scenario or a checkpoint to checked parameters, device and memory plan. */
#ifndef SIM_CLI_PREPARE_H
#define SIM_CLI_PREPARE_H

#include "cli/cli.h"
#include "cli/batch/scheduler.h"
#include "io/io.h"
#include "lua/scenario.h"

typedef struct cli_job {
  const cli_options *options;
  scenario source;     /* the scenario of run and check */
  io_checkpoint saved; /* valid if has_saved */
  bool has_saved;
  double dt; /* replaces the scenario's integrate.dt, in the scenario's units; 0: does not */
  const sim_model *model;
  void *parameters;     /* model->parameters->size bytes; begins with a sim_common */
  sim_value *resolved;  /* the parameters as a tree */
  sim_bytes inputs;     /* sim_setup.inputs, in runs with several ranks */
  sim_bytes rows;       /* paths of the files whose rows are in the parameters (rows.h) */
  sim_bytes blob, json; /* forms of `resolved`: sim_value_write, and JSON */
  cli_scheduler scheduler;
  sim_setup setup;
  sim_plan plan;
  double resident;   /* bytes in use before the run: program, libraries, a loaded checkpoint */
  char folder[4096]; /* folder of the scenario, for relative paths */
  char output[4096]; /* output folder of the run */
  char device[256];  /* one line about the device of the run */
} cli_job;

/* Evaluates and decodes options->target. Prints faults itself and then returns SIM_ERR_SCENARIO with an empty
 * message. */
sim_status cli_prepare_scenario(cli_job *job) SIM_MUST_CHECK;
/* Has processes for later scripts ready: see scenario_prepare. */
void cli_prepare_language(const cli_options *options);
/* The same for job->saved: decodes its stored parameters, without Lua. */
sim_status cli_prepare_saved(cli_job *job) SIM_MUST_CHECK;
/* SIM_ERR_INCOMPATIBLE, with the difference, unless job->saved belongs to the prepared scenario. */
sim_status cli_prepare_same(const cli_job *job) SIM_MUST_CHECK;
/* device.c: chooses device, threads and instruction set, and computes the plan, for the ranks of setup.comm (NULL: one
 * rank). SIM_ERR_USAGE if the model or the device does not support ranks. */
sim_status cli_prepare_device(cli_job *job) SIM_MUST_CHECK;
/* SIM_ERR_SCENARIO for a new run that takes more than a year by the plan's estimate, unless stop_when may end it. */
sim_status cli_prepare_duration(const cli_job *job) SIM_MUST_CHECK;
/* SIM_ERR_NO_MEMORY with the list of items if the plan does not fit. */
sim_status cli_prepare_memory(const cli_job *job) SIM_MUST_CHECK;
/* Writes "12.3 MiB of memory"; on a GPU the memory of the GPU and of the host. */
void cli_memory_text(const cli_job *job, char *out, size_t capacity);
/* Estimated seconds of a step of the least work, from the plan; 0: unknown. A step of more work (individual steps)
 * waits for the device after each of its parts, and no part takes longer: the watch over the device uses this estimate.
 */
double cli_step_seconds(const cli_job *job);
/* Prepends the scenario's path to the message if the model has refused the scenario or misses a file of it; returns
 * `status`. */
sim_status cli_of_scenario(const cli_job *job, sim_status status);
void cli_prepare_free(cli_job *job);
/* Frees the scenario and the plan, so that cli_prepare_scenario can be called again. */
void cli_prepare_again(cli_job *job);
/* Sets job->output: --output, or the scenario's name with this suffix. */
sim_status cli_prepare_output(cli_job *job, const char *suffix) SIM_MUST_CHECK;
/* device.c: number of GPUs that this process may use; makes no context on them. */
int cli_gpus(void);
/* Whether "auto" looks for a GPU: the model runs on one and supports everything in the scenario. Logs a line if only
 * the latter fails. A build without GPU code cannot know this, and reports that no GPU is usable. */
bool cli_gpu_able(const cli_job *job);
/* Writes the name of GPU `number` for --device: "cuda:GPU-" and its UUID. False: there are fewer GPUs. */
enum { CLI_GPU_NAME = 64 };
bool cli_gpu(int number, char name[CLI_GPU_NAME]);

/* run/values.c: fills *run for a run of a prepared job without files; `write`, with `self`, gets the table rows. The
 * caller creates the model. */
void cli_memory_run(const cli_job *job, sim_status (*write)(void *self, const sim_frame *frame), void *self,
                    sim_sink *sink, sim_run *run);
/* functions.c: logs the formula of each function for -v, "fields[1] u.drift: result = ..."; prints values and
 * derivatives for --at. SIM_ERR_USAGE if a name in --at is not an input of any function. */
void cli_log_functions(const cli_job *job);
sim_status cli_check_point(const cli_job *job) SIM_MUST_CHECK;
/* check.c: all work of `sim check`. */
sim_status cli_check_job(cli_job *job) SIM_MUST_CHECK;
/* batch.c: number of tasks of a job script, that is, ranks of its run. */
int cli_script_tasks(const cli_options *options);
/* Prints a job script for a prepared scenario, or for the `sweep` runs of a sweep (0: no sweep). */
sim_status cli_script_print(const cli_job *job, size_t sweep) SIM_MUST_CHECK;
/* sweep.c: all work of `sim sweep`. */
sim_status cli_sweep_run(cli_job *job) SIM_MUST_CHECK;

/* After a run with --profile: prints the table, and writes trace.json into the run's folder. Keeps the last error. */
void cli_say_profile(io_folder *folder, const sim_backend *backend);

/* Number of outputs of a cadence in the whole run; NaN: not known in advance. */
double cli_times_due(const sim_cadence *cadence, const sim_plan *plan);
/* Bytes of all table rows at the end of the run in memory, about the size of tables.h5. 0: unknown. */
double cli_row_bytes(const cli_job *job);
/* Bytes of the values in one file of slice number `index`, counted from 0. */
double cli_slice_bytes(const cli_job *job, size_t index);

const sim_common *cli_common(const cli_job *job);

#endif
