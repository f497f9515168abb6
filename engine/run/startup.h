/* Progress of a run before its first step. */
#ifndef SIM_ENGINE_STARTUP_H
#define SIM_ENGINE_STARTUP_H

/* Reports a phase and its progress: `done` of `all` parts (all 0: not known). `what` is a string literal such as
 * "placing grains". Cheap enough for every pass of a loop. From one thread at a time. */
void sim_startup(const char *what, double done, double all);

/* Returns the phase, for another thread; NULL: none. *share: done / all, NaN where it is not known. */
const char *sim_startup_phase(double *share);

#endif
