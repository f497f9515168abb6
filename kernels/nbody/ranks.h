/* Functions that solvers share for a run on several ranks. Every rank holds the state of all bodies, with the same
 * bits. Each rank computes a share of a force; afterwards all ranks hold the acceleration of all bodies.
 *
 * Targets are bodies whose forces are computed independently of each other. They are divided in units of a fixed
 * size. */
#ifndef NBODY_RANKS_H
#define NBODY_RANKS_H

#include "engine/comm/comm.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Targets of this rank: first <= i < end; `room`: most targets of a rank, the same for all ranks. */
typedef struct nbody_share {
  int64_t first, end, room;
} nbody_share;

/* Divides `count` targets among the ranks, in units of `unit` targets. */
nbody_share nbody_share_of(const sim_comm *comm, int64_t count, int64_t unit);
/* Number of targets that a gathered array has room for: ranks times `room`. */
double nbody_share_total(const sim_comm *comm, double count, int64_t unit);
/* Index of component c of target i in an array that ranks gather: [ranks][3][room]. */
static inline size_t nbody_share_index(const nbody_share *share, int c, int64_t i) {
  return (size_t)((3 * (i / share->room) + c) * share->room + i % share->room);
}

/* Gathers rows[ranks][3][room], in which every rank has filled in its targets: afterwards all ranks have all rows. */
sim_status nbody_share_gather(const sim_comm *comm, const nbody_share *share, double *rows) SIM_MUST_CHECK;

/* First error of a solver since the last check, because forces return no status. Zeroed: none. */
typedef struct nbody_failure {
  sim_status status;
  char message[1024];
} nbody_failure;

/* Stores the last error's message with `status`, unless status is SIM_OK or a failure is stored already. Returns
 * `status`. */
sim_status nbody_failure_keep(nbody_failure *failure, sim_status status);
/* Reports the stored error, and clears it. SIM_OK without one. */
sim_status nbody_failure_report(nbody_failure *failure) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
