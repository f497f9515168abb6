/* Decisions of a run of several ranks that depend on the wall clock or a signal: rank 0 decides, and all ranks act
 * after the same step. Without a decision a step waits for the other ranks at most the `patience` of
 * sim_agreement_look.
 *
 * Rounds of words run beside the steps. In a round each rank posts what it was asked for, and rank 0 its decision. A
 * rank that finds a round with a decision complete posts the number of the step that it is in, and waits after that
 * step until all have posted. All ranks act after the largest of these numbers, which no rank has passed. This cannot
 * deadlock: a rank that waits after a step has contributed all that slower ranks need for it. Words may reach one rank
 * much later than another, while it waits within a step for that other rank: so a thread answers for a rank that is in
 * a step. A rank that is ahead, because steps need no exchange, and is to exchange for an output goes on with rounds
 * until all ranks have come there; and a rank that has made its last step does so until all ranks have. A decision that
 * is found after that acts nowhere: its step does not come. */
#ifndef SIM_ENGINE_AGREEMENT_H
#define SIM_ENGINE_AGREEMENT_H

#include "engine/comm/comm.h"

/* Bits of a word: what a rank was asked for, and what rank 0 decides. Bit 32 + i: outputs of sink i are due. */
enum {
  SIM_ASKED_STOP = 1,
  SIM_ASKED_WARNING = 2,
  SIM_ASKED_CHECKPOINT = 4,
  SIM_ASKED = 7,
  SIM_ENDED = 32, /* this rank has made its last step */
  SIM_MEETS = 64, /* this rank is about to exchange for an output */
  SIM_DECIDED_STOP = 8,
  SIM_DECIDED_CHECKPOINT = 16,
  SIM_DECIDED_SINK = 32 /* number of the first of these bits, not a bit */
};

typedef struct sim_agreement sim_agreement;

/* step: the step after which this rank begins. Ends with sim_agreement_destroy, before the transport. */
sim_status sim_agreement_create(const sim_comm *comm, int64_t step, sim_agreement **out) SIM_MUST_CHECK;
void sim_agreement_destroy(sim_agreement **agreement);

/* Whether a round can begin: none is under way, and no decision waits for its step. */
bool sim_agreement_idle(sim_agreement *agreement);
/* Begins a round after `step`, the last step that this rank has ended. Only rank 0's word may hold a decision. */
sim_status sim_agreement_post(sim_agreement *agreement, int64_t step, uint64_t word) SIM_MUST_CHECK;

/* Whether sim_agreement_look has nothing to find: no round is under way or was since the last call. Costs nothing, for
 * steps of less than a microsecond. */
bool sim_agreement_quiet(const sim_agreement *agreement);
/* Call after each step that does not find the agreement quiet. Waits at most `patience` seconds for a round that was
 * begun after this step. *asked: what all ranks together were asked for in rounds that are complete since the last
 * call, else 0. *decision: what all ranks do now, else 0. Fails as the transport does. */
sim_status sim_agreement_look(sim_agreement *agreement, int64_t step, double patience, uint64_t *asked,
                              uint64_t *decision) SIM_MUST_CHECK;

/* Call before ranks exchange for an output of `step`: takes part in rounds until all ranks are about to. *asked: what
 * the ranks were asked for in these rounds. All ranks call it. Fails as the transport does. */
sim_status sim_agreement_meet(sim_agreement *agreement, int64_t step, uint64_t *asked) SIM_MUST_CHECK;

/* Call after the last step of the run: takes part in rounds until all ranks have made it. Fails as the transport does.
 */
sim_status sim_agreement_end(sim_agreement *agreement, int64_t step) SIM_MUST_CHECK;

#endif
