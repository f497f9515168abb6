/* The transport between ranks of one host that one process has started: shared memory and futexes, no library. The
 * starting process creates the block, starts the ranks with its descriptor, and tells the block which rank has died.
 *
 * Every rank gives a sign of life each second (engine/comm/heartbeat.h), at which the starting process looks.
 *
 * With SIM_COMM_DELAY=N in the environment a rank sleeps a random time below N microseconds before it contributes to an
 * exchange; with
 * SIM_COMM_HOSTS=N they say that they are on N hosts. Both are for tests. */
#ifndef SIM_ENGINE_COMM_FORKED_H
#define SIM_ENGINE_COMM_FORKED_H

#include "engine/comm/comm.h"

typedef struct sim_forked sim_forked;

/* Creates the shared block of `size` ranks, which a descriptor that survives exec names. SIM_ERR_NO_MEMORY. */
sim_status sim_forked_create(int size, sim_forked **out) SIM_MUST_CHECK;
int sim_forked_descriptor(const sim_forked *forked);
void sim_forked_destroy(sim_forked **forked);

/* Maps the block in a rank, closes the descriptor, and fills *comm, whose `self` sim_forked_detach frees.
 * SIM_ERR_USAGE where the descriptor is no block of a run with this rank. */
sim_status sim_forked_attach(int descriptor, int rank, sim_comm *comm) SIM_MUST_CHECK;
void sim_forked_detach(sim_comm *comm);

/* Records that a rank has failed or died: the calls of all others fail from now on. The first failure counts. */
void sim_forked_fail(sim_forked *forked, int rank, sim_status status, const char *message);
/* The first failure, with the message "rank N on HOST: ..."; SIM_OK without one. */
sim_status sim_forked_failure(const sim_forked *forked);
/* In a rank: the run has ended here, and the end of this process is no failure from now on. Of another transport: does
 * nothing. */
void sim_forked_end(const sim_comm *comm);
/* In the starting process: whether the rank has said so. */
bool sim_forked_ended(const sim_forked *forked, int rank);
/* Signs of life of all ranks, for sim_heartbeat_look: words[size]. */
void sim_forked_words(const sim_forked *forked, uint64_t *words);

#endif
