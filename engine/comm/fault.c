#include "engine/comm/fault.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const names[SIM_PLANTED_COUNT] = {
    [SIM_PLANTED_GHOST] = "ghost", [SIM_PLANTED_SHORT] = "short", [SIM_PLANTED_EARLY] = "early"};

const char *sim_comm_planted_name(sim_planted fault) { return names[fault]; }

sim_planted sim_comm_planted(const sim_comm *comm) {
  static int known = -1;
  const char *text = known < 0 ? getenv("SIM_COMM_FAULT") : NULL;
  if (known < 0) known = SIM_PLANTED_NONE;
  for (int fault = SIM_PLANTED_NONE + 1; text && fault < SIM_PLANTED_COUNT; fault++)
    if (strcmp(text, names[fault]) == 0) known = fault;
  return comm->size > 1 && comm->rank == comm->size - 1 ? (sim_planted)known : SIM_PLANTED_NONE;
}

void sim_comm_planted_pause(void) { (void)nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); }
