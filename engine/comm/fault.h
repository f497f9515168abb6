/* Faults of the exchange, planted for tests: whoever compares results of several ranks must see them. */
#ifndef SIM_COMM_FAULT_H
#define SIM_COMM_FAULT_H

#include "engine/comm/comm.h"

typedef enum sim_planted {
  SIM_PLANTED_NONE,
  SIM_PLANTED_GHOST, /* "ghost": what a rank receives of grains is shifted by the length of the box along x */
  SIM_PLANTED_SHORT, /* "short": a rank does not take the last grain, or the last cell layer, of what it receives */
  SIM_PLANTED_EARLY, /* "early": a rank tells the others that its part is there before it has written it */
  SIM_PLANTED_COUNT
} sim_planted;

/* The fault that SIM_COMM_FAULT in the environment plants on the last of several ranks; none on others. */
sim_planted sim_comm_planted(const sim_comm *comm);
/* Its name in the environment; NULL for none. */
const char *sim_comm_planted_name(sim_planted fault);
/* Time in which the others read what a rank has told of early and not written yet. */
void sim_comm_planted_pause(void);

#endif
