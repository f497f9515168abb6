/* Limits of a child process that reads untrusted files. */
#ifndef SIM_ENGINE_CONFINE_H
#define SIM_ENGINE_CONFINE_H

#include <stddef.h>

typedef struct sim_confinement {
  double seconds; /* processor time; SIGPROF follows a little later, SIGXCPU at last */
  size_t memory;  /* bytes on top of the process's present memory, and 256 MiB for libraries */
  int keep[2];    /* descriptors that stay open, in increasing order; may be equal */
} sim_confinement;

/* Confines the calling process, which must be a child: it dies with its parent, ignores requests to stop (the parent
 * handles them), and cannot write or open files or gain privileges. Under a sanitizer, memory and standard error stay
 * unlimited. */
void sim_confine(const sim_confinement *limits);

#endif
