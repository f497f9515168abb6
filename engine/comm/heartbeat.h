/* Signs of life of the ranks of a run. A thread of each rank changes the rank's word every second, also during a long
 * step. An observer of all words thus finds a rank that was stopped or hangs in the operating system, and one that died
 * without a message. */
#ifndef SIM_ENGINE_COMM_HEARTBEAT_H
#define SIM_ENGINE_COMM_HEARTBEAT_H

#include "engine/comm/comm.h"

/* A thread that calls `beat` at once and then every second until sim_pulse_end. All signals are blocked in it. */
typedef struct sim_pulse sim_pulse;
sim_status sim_pulse_begin(void (*beat)(void *context), void *context, sim_pulse **out) SIM_MUST_CHECK;
void sim_pulse_end(sim_pulse **pulse);

/* What an observer knows of the words of `size` ranks. Times are in seconds of sim_wall_clock(). */
typedef struct sim_heartbeat {
  int size;
  double looked;
  double changed[SIM_RANKS_MAX]; /* time at which the word was last seen to change */
  uint64_t words[SIM_RANKS_MAX]; /* 0: the rank has not begun */
} sim_heartbeat;

void sim_heartbeat_begin(sim_heartbeat *heartbeat, int size, double now);
/* Call about once a second with words[size]. A gap of more than 5 s between calls means that the observer itself was
 * suspended, with or without the ranks: silence then counts from now on. */
void sim_heartbeat_look(sim_heartbeat *heartbeat, const uint64_t *words, double now);
/* Seconds since this rank's word last changed. For a rank that has not begun: 0 during the first two minutes. */
double sim_heartbeat_silence(const sim_heartbeat *heartbeat, int rank);
/* Seconds of silence after which a rank counts as lost: SIM_COMM_PATIENCE, or 30. */
double sim_heartbeat_limit(void);

/* Logs that other ranks are late, after one minute, then two, four, ...: the share of one of them is long, or it hangs.
 * *next: seconds of waiting until the next line, at first 60. */
void sim_comm_say_late(double waited, double *next);

#endif
