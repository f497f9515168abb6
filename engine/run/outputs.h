/* Queue of outputs between the time loop and the sinks. The loop copies the state at steps with outputs; the writer
 * thread calls the sinks in the order of the steps while later steps run. */
#ifndef SIM_ENGINE_OUTPUTS_H
#define SIM_ENGINE_OUTPUTS_H

#include "engine/run/run.h"

/* Most sinks of a run, and most steps whose outputs wait for the writer (with a state: the number of stages). The loop
 * waits while the queue is full. */
enum { SIM_SINKS_MAX = 32, SIM_OUTPUTS_WAITING = 256 };

typedef struct sim_outputs sim_outputs;

/* Allocates the queue and starts the writer. run->self and run->clock must be set. */
sim_status sim_outputs_create(sim_run *run, sim_outputs **out) SIM_MUST_CHECK;
void sim_outputs_destroy(sim_outputs **outputs);

/* Enqueues this step's outputs for the sinks in `due` (bit i: run->sinks[i], no checkpoints) and, with `save`, for all
 * checkpoint sinks. Sets run->last.health. Fails if the state is not finite, with `save` if the ranks have different
 * states, if memory is lacking, or a second checkpoint in a row could not be written, and returns the writer's first
 * error. Other failures of sinks go to the log. */
sim_status sim_outputs_enqueue(sim_outputs *outputs, uint32_t due, bool save) SIM_MUST_CHECK;

/* Computes the rows of this step and evaluates run->stop_when on them; this step's outputs use the same rows. */
sim_status sim_outputs_check_stop(sim_outputs *outputs, bool *stops) SIM_MUST_CHECK;

/* Flushes written tables from time to time; now: sim_wall_clock(). */
void sim_outputs_tick(sim_outputs *outputs, double now);

/* Polls the writer thread: sets run->checkpoint_step and run->checkpoint_t, returns its first error. */
sim_status sim_outputs_poll(sim_outputs *outputs) SIM_MUST_CHECK;

/* Waits at most `seconds` until all outputs are written, then sets run->checkpoint_step and run->checkpoint_t. Call it
 * from another thread, while the loop enqueues nothing. */
void sim_outputs_wait(sim_outputs *outputs, double seconds);

/* Waits until all outputs are written and ends the writer thread; later outputs are written by the caller's thread.
 * Errors as sim_outputs_poll. */
sim_status sim_outputs_end(sim_outputs *outputs) SIM_MUST_CHECK;

/* *out: all arrays of this step's state in host memory, checked to be finite; valid until the next step. */
sim_status sim_outputs_state(sim_outputs *outputs, const sim_frame **out) SIM_MUST_CHECK;

/* Fails with SIM_ERR_INTERNAL, and sets run->differ, if the ranks have different states in host memory: `state` is that
 * of sim_outputs_state, or of a checkpoint. Of a state that ranks divide, the arrays that every rank has whole are
 * compared. All ranks call it. */
sim_status sim_outputs_compare(sim_outputs *outputs, const sim_frame *state) SIM_MUST_CHECK;

/* After sim_outputs_end: writes a checkpoint of this step unless a durable one exists. Errors as
 * sim_outputs_enqueue. */
sim_status sim_outputs_save(sim_outputs *outputs) SIM_MUST_CHECK;

/* After sim_outputs_end: finishes all sinks and flushes their files. Failures are kept in the sinks. Errors as
 * sim_outputs_poll. */
sim_status sim_outputs_flush(sim_outputs *outputs) SIM_MUST_CHECK;

#endif
