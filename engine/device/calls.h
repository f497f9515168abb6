/* The watch over calls of a device's driver: a call that waits for a device which does not finish never returns. Each
 * thread notes where such a call begins and ends; an observer in another thread looks at these notes and ends the
 * process. A long kernel is no hang, so that the limit of a call follows from how long calls like it have lasted. */
#ifndef SIM_ENGINE_CALLS_H
#define SIM_ENGINE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_CALL_THREADS = 16 }; /* threads that are watched; calls of further threads are not */

/* A call that only enqueues work returns before that work is done: it tells nothing of how long a kernel takes. */
typedef enum sim_call_kind { SIM_CALL_ENQUEUES, SIM_CALL_WAITS } sim_call_kind;

/* Call around a call of the driver; nested pairs count as the outermost. `kernel`: the kernel enqueued last, or that is
 * being enqueued; "" before the first one. Both strings stay valid. sim_call_end does not return after
 * sim_call_give_up. */
void sim_call_begin(sim_call_kind kind, const char *name, const char *kernel);
void sim_call_end(void);
/* Calls of this thread move, clear or pin so many bytes of the host from now on; 0: no longer. Their limit grows. */
void sim_calls_move(size_t bytes);

/* CUDA alone, from cuda.c. As sim_call_begin, after the kernel that was enqueued last. */
void sim_cuda_call_begin(sim_call_kind kind, const char *name);
/* Waits for all work of the steps' stream. False after any failure; `what` names this wait in its message. */
bool sim_cuda_wait(const char *what);

/* The device as messages name it: "GPU 1". */
void sim_calls_of(const char *device);
/* While this word is not 0, the device waits for other ranks, and no call is too long for that. At most 16 words. */
void sim_calls_excused_by(const volatile int *word);

/* What an observer knows of the calls so far. */
typedef struct sim_call_watch {
  double shortest, step; /* seconds: see sim_call_watch_begin */
  double fixed;          /* SIM_DEVICE_TIMEOUT; NAN: not given */
  bool misread;          /* SIM_DEVICE_TIMEOUT is no number of seconds, and was ignored */
  uint64_t states[SIM_CALL_THREADS];
  const char *kernels[SIM_CALL_THREADS];
  double held[SIM_CALL_THREADS]; /* seconds for which the call of a thread was seen to last */
} sim_call_watch;

typedef struct sim_call_found {
  int thread;
  uint64_t state;
  char text[192]; /* "GPU 1 has not finished its work for 20 s (cudaStreamSynchronize, last kernel nbody_kick; ...)" */
} sim_call_found;

/* `shortest`: the shortest limit; `step`: expected seconds of a step, 0: unknown. A call may last the longest of
 * `shortest`, ten times a step, and ten times the longest call after the same kernel; ten minutes (or ten steps, if
 * these are longer) where no call after this kernel has returned yet, of those that wait where it waits itself.
 * SIM_DEVICE_TIMEOUT=seconds is the limit of all
 * calls instead, and 0 is none. */
void sim_call_watch_begin(sim_call_watch *watch, double shortest, double step);
/* Call every `passed` seconds. Time is counted in looks, so that a process that was suspended has lost none of it.
 * Returns whether a call has lasted longer than its limit. */
bool sim_call_watch_look(sim_call_watch *watch, double passed, sim_call_found *found);
/* The thread of this call does not go on, should the call return. Returns false if it has returned already. */
bool sim_call_give_up(const sim_call_found *found);

#ifdef __cplusplus
}
#endif

#endif
