/* The clock on the wall. */
#ifndef SIM_ENGINE_WALL_CLOCK_H
#define SIM_ENGINE_WALL_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since some fixed time; never goes back. */
double sim_wall_clock(void);

#ifdef __cplusplus
}
#endif

#endif
