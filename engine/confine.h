/* Limits of a child process that reads untrusted files. */
#ifndef SIM_ENGINE_CONFINE_H
#define SIM_ENGINE_CONFINE_H

#include <stddef.h>

typedef struct sim_confinement {
  double seconds; /* of processor time: SIGPROF a little after, SIGXCPU at last */
  size_t memory;  /* bytes beside what the process has already, and 256 MiB for libraries */
  int keep[2];    /* descriptors that stay open, the lower one first; they may be one */
} sim_confinement;

/* For a child alone, which dies with its parent and ignores requests to stop: those are for the parent. It writes no
 * file, opens none and gains no right. Where a sanitizer is built in, memory and standard error stay as they are. */
void sim_confine(const sim_confinement *limits);

#endif
