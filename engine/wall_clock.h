/* Wall clock. */
#ifndef SIM_ENGINE_WALL_CLOCK_H
#define SIM_ENGINE_WALL_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since a fixed time; monotonic. */
double sim_wall_clock(void);

#ifdef __cplusplus
}
#endif

#endif
