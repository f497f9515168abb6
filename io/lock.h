/* The lock of an output folder: one run at a time, also where folders are shared over a network.
 *
 * Processes of one machine exclude each other by flock, which the kernel gives back when they end in whatever way.
 * Between machines flock may mean nothing: there the file itself says who has the lock, since its exclusive creation
 * and until "ended" stands in it, and its time is a sign of life. */
#ifndef SIM_IO_LOCK_H
#define SIM_IO_LOCK_H

#include "engine/status.h"

#include <pthread.h>
#include <stdbool.h>

#define IO_LOCK_NAME ".lock"
enum {
  IO_LOCK_BEAT = 60,   /* seconds between signs of life */
  IO_LOCK_STALE = 300, /* without one for so long, a holder on another machine is taken for dead */
  IO_LOCK_TAKING = 15  /* the same of somebody who is taking a lock over, which takes milliseconds */
};

typedef struct io_lock {
  int fd;                     /* -1: none */
  int root;                   /* the folder's, borrowed */
  bool made;                  /* the file is of this process's making */
  bool ours;                  /* the file was one of a run before */
  bool named;                 /* this process stands in the file */
  bool ending;                /* under `mutex` */
  bool beats;                 /* the thread runs */
  char path[4096], line[512]; /* of the folder, for messages; what the file says while this process has it */
  struct io_lock *next;       /* of those that this process holds */
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t end;
} io_lock;

/* Takes the lock of the folder `root`; `path` is its name in messages. SIM_ERR_CANT_CREATE names who has it. Without
 * `create` and where there is no lock file nothing is taken. */
sim_status io_lock_take(int root, const char *path, bool create, io_lock *lock) SIM_MUST_CHECK;
/* From here on the file says that this process has it, and gives signs of life. */
void io_lock_hold(io_lock *lock, int root, const char *path);
/* To be asked before anything is written into a folder, or removed there. A holder that gave no sign of life for so
 * long that another took the lock over (it was suspended, or its network was away) must not write beside that one:
 * SIM_ERR_CANT_CREATE where a lock of this process is gone or names another, once and for all. Costs some microseconds.
 */
sim_status io_lock_check(void) SIM_MUST_CHECK;
/* Says that the holder ended, and closes the file. */
void io_lock_release(io_lock *lock);

#endif
