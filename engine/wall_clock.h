/* Clock of the machine, for measuring durations. */
#ifndef SIM_ENGINE_WALL_CLOCK_H
#define SIM_ENGINE_WALL_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since an arbitrary fixed time; never runs backwards. */
double sim_wall_clock(void);

#ifdef __cplusplus
}
#endif

#endif
