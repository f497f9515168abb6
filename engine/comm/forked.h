/* Transport between ranks of one host that one process has started; uses shared memory and futexes, no library. The
 * starting process creates the shared block, starts the ranks with its descriptor, and records in it which rank died.
 *
 * Every rank gives a sign of life each second (engine/comm/heartbeat.h), which the starting process checks.
 *
 * For tests: with SIM_COMM_DELAY=N in the environment a rank sleeps a random time below N microseconds before it
 * contributes to an exchange, and overwrites what it is to receive by NaN before it waits; with SIM_COMM_HOSTS=N the
 * ranks report that they are on N hosts. */
#ifndef SIM_ENGINE_COMM_FORKED_H
#define SIM_ENGINE_COMM_FORKED_H

#include "engine/comm/comm.h"

typedef struct sim_forked sim_forked;

/* Creates the shared block for `size` ranks. Its descriptor survives exec. SIM_ERR_NO_MEMORY. */
sim_status sim_forked_create(int size, sim_forked **out) SIM_MUST_CHECK;
int sim_forked_descriptor(const sim_forked *forked);
void sim_forked_destroy(sim_forked **forked);

/* In a rank: maps the block, closes the descriptor, and fills *comm, which sim_forked_detach releases. SIM_ERR_USAGE if
 * the descriptor is not the block of a run that has this rank. */
sim_status sim_forked_attach(int descriptor, int rank, sim_comm *comm) SIM_MUST_CHECK;
void sim_forked_detach(sim_comm *comm);

/* Records that a rank has failed or died: from now on the calls of all other ranks fail. The first failure counts. */
void sim_forked_fail(sim_forked *forked, int rank, sim_status status, const char *message);
/* Returns the first failure, with the message "rank N on HOST: ..."; SIM_OK without one. */
sim_status sim_forked_failure(const sim_forked *forked);
/* In a rank: records that the run has ended here, so that the end of this process is no failure. Does nothing for
 * another transport. */
void sim_forked_end(const sim_comm *comm);
/* In the starting process: whether the rank has called sim_forked_end. */
bool sim_forked_ended(const sim_forked *forked, int rank);
/* Writes the signs of life of all ranks, for sim_heartbeat_look: words[size]. */
void sim_forked_words(const sim_forked *forked, uint64_t *words);

#endif
