/* Signs of life of the ranks of a run. Each rank changes its word every second, from a thread of its own, and whoever
 * sees the words of all knows a rank that was stopped or hangs in the operating system: a rank that dies may say
 * nothing. A long step is no silence. */
#ifndef SIM_ENGINE_COMM_HEARTBEAT_H
#define SIM_ENGINE_COMM_HEARTBEAT_H

#include "engine/comm/comm.h"

/* Thread that calls `beat` at once, and then every second until the end. All signals are blocked in it. */
typedef struct sim_pulse sim_pulse;
sim_status sim_pulse_begin(void (*beat)(void *context), void *context, sim_pulse **out) SIM_MUST_CHECK;
void sim_pulse_end(sim_pulse **pulse);

/* What an observer knows of the words of `size` ranks. Times are sim_wall_clock(). */
typedef struct sim_heartbeat {
  int size;
  double looked;
  double changed[SIM_RANKS_MAX]; /* time at which the word was last seen to change */
  uint64_t words[SIM_RANKS_MAX]; /* 0: has not begun */
} sim_heartbeat;

void sim_heartbeat_begin(sim_heartbeat *heartbeat, int size, double now);
/* Call about once a second with words[size]. After a gap of some seconds the observer itself was suspended, with or
 * without the ranks: silence then counts from now on. */
void sim_heartbeat_look(sim_heartbeat *heartbeat, const uint64_t *words, double now);
/* Seconds since this rank's word last changed; 0 until two minutes after the beginning for one that has not begun. */
double sim_heartbeat_silence(const sim_heartbeat *heartbeat, int rank);
/* Seconds of silence after which a rank counts as lost: SIM_COMM_PATIENCE, or 30. */
double sim_heartbeat_limit(void);

#endif
