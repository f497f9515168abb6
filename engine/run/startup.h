/* Progress of a run before its first step. */
#ifndef SIM_ENGINE_STARTUP_H
#define SIM_ENGINE_STARTUP_H

/* Reports a phase of the start and its progress: `done` of `all` parts (all 0: unknown). `what` is a string literal
 * such as "placing grains". Cheap enough for every iteration of a loop. One thread at a time. */
void sim_startup(const char *what, double done, double all);

/* Returns the current phase, on any thread; NULL: none. *share: done / all, NaN if unknown. */
const char *sim_startup_phase(double *share);

#endif
