/* What a run is doing before its first step, for whoever waits for it. */
#ifndef SIM_ENGINE_STARTUP_H
#define SIM_ENGINE_STARTUP_H

/* Says which phase has begun, or how far it is: `done` of `all` parts (all 0: not known). `what` is a string literal
 * such as "placing grains". So cheap that loops call it in every pass. From one thread at a time. */
void sim_startup(const char *what, double done, double all);

/* The phase, for another thread; NULL: none was named. *share: done over all, NaN where it is not known. */
const char *sim_startup_phase(double *share);

#endif
