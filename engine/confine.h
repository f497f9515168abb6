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
/* Processor time of the calling process in seconds. */
double sim_confined_seconds(void);
/* In a confined process: SIGPROF follows `seconds` of processor time (and a little) from now on, as after sim_confine.
 * SIGXCPU counts from the beginning of the process, 1 s at least after such a time where the process had used less than
 * a second. */
void sim_confine_again(double seconds);

#endif
