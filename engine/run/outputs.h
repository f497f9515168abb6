/* Queue of outputs between the time loop and the sinks. The loop copies the state of a step that has outputs due. The
 * writer thread calls the sinks in the order of the steps, while later steps run. Copies from a device run beside them.
 */
#ifndef SIM_ENGINE_OUTPUTS_H
#define SIM_ENGINE_OUTPUTS_H

#include "engine/run/run.h"

/* Sinks of a run; steps that may wait for the writer, as many with their state as there are stages
 * (engine/run/stage.h). The loop waits beyond. */
enum { SIM_SINKS_MAX = 32, SIM_OUTPUTS_WAITING = 256 };

typedef struct sim_outputs sim_outputs;

/* Takes all memory, and starts the writer. run->self is there and run->clock is set. */
sim_status sim_outputs_create(sim_run *run, sim_outputs **out) SIM_MUST_CHECK;
void sim_outputs_destroy(sim_outputs **outputs);

/* Hands over the state of this step to the sinks in `due` (bit i: run->sinks[i], none of checkpoints) and, with `save`,
 * to all checkpoint sinks. Sets run->last.health. A state that must not be saved ends the run, as do lack of memory
 * and a second checkpoint in a row that could not be written; any other failure of a sink is reported, and is no
 * failure here. Also returns what the writer has failed with. */
sim_status sim_outputs_give(sim_outputs *outputs, uint32_t due, bool save) SIM_MUST_CHECK;

/* Computes the rows of this step, and whether run->stop_when holds there; what is given at this step has these rows. */
sim_status sim_outputs_stops(sim_outputs *outputs, bool *stops) SIM_MUST_CHECK;

/* Now and then makes durable what was written. */
void sim_outputs_tick(sim_outputs *outputs, double now);

/* Sets run->checkpoint_step and run->checkpoint_t; returns what the writer has failed with. */
sim_status sim_outputs_look(sim_outputs *outputs) SIM_MUST_CHECK;

/* From another thread, while the loop hands over nothing: waits, for at most `seconds`, until all is written, and sets
 * run->checkpoint_step and run->checkpoint_t. */
void sim_outputs_settle(sim_outputs *outputs, double seconds);

/* Waits until all is written and ends the writer: what is given later is written at once. Then as sim_outputs_look. */
sim_status sim_outputs_end(sim_outputs *outputs) SIM_MUST_CHECK;

/* The state of this step on the host, whole and checked to be finite; valid until the next step. */
sim_status sim_outputs_state(sim_outputs *outputs, const sim_frame **out) SIM_MUST_CHECK;

/* After sim_outputs_end: a checkpoint of this step, unless there is a durable one. As sim_outputs_give. */
sim_status sim_outputs_save(sim_outputs *outputs) SIM_MUST_CHECK;

/* After sim_outputs_end: finishes all sinks and makes everything durable. What fails is kept in the sinks; returns as
 * sim_outputs_look. */
sim_status sim_outputs_flush(sim_outputs *outputs) SIM_MUST_CHECK;

#endif
