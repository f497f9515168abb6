/* The lock of an output folder: one run at a time, also on network file systems.
 *
 * Processes of one machine exclude each other by flock, which the kernel releases when they end for any reason. Between
 * machines flock may have no effect. There the file's content names the holder, from the file's exclusive creation
 * until the content says "ended", and the file's modification time is the holder's sign of life. */
#ifndef SIM_IO_LOCK_H
#define SIM_IO_LOCK_H

#include "engine/status.h"

#include <pthread.h>
#include <stdbool.h>

#define IO_LOCK_NAME ".lock"
enum {
  IO_LOCK_BEAT = 60,   /* seconds between signs of life */
  IO_LOCK_STALE = 300, /* seconds without a sign of life after which a holder on another machine counts as dead */
  IO_LOCK_TAKING = 15  /* the same for a process that is taking over a lock, which takes milliseconds */
};

typedef struct io_lock {
  int fd;                     /* -1: none */
  int root;                   /* descriptor of the folder, borrowed */
  bool made;                  /* this process created the file */
  bool ours;                  /* the file has the format of this program */
  bool named;                 /* the file names this process */
  bool ending;                /* protected by `mutex` */
  bool beats;                 /* the thread that gives signs of life runs */
  char path[4096], line[512]; /* path: folder, for messages; line: content of the lock file */
  struct io_lock *next;       /* list of the locks of this process */
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t end;
} io_lock;

/* Takes the lock of the folder `root`; `path` is the folder's name in messages. SIM_ERR_CANT_CREATE names the holder.
 * Without `create`, takes nothing if there is no lock file. */
sim_status io_lock_take(int root, const char *path, bool create, io_lock *lock) SIM_MUST_CHECK;
/* Writes this process into the file as its holder, and starts a thread that gives signs of life. */
void io_lock_hold(io_lock *lock, int root, const char *path);
/* Call before anything is written or removed in a folder. A holder that gave no sign of life for so long that another
 * process took over the lock (it was suspended, or its network was down) must not write any more: SIM_ERR_CANT_CREATE,
 * permanently, if a lock of this process is gone or names another process. Takes a few microseconds. */
sim_status io_lock_check(void) SIM_MUST_CHECK;
/* Marks the lock as ended, and closes the file. */
void io_lock_release(io_lock *lock);

#endif
