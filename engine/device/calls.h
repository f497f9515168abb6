/* The watch over calls of a device's driver: a call that waits for a device which never finishes does not return. Each
 * thread notes where such a call begins and ends; an observer in another thread reads these notes and ends the process.
 * A long kernel is no hang, so that the limit of a call follows from how long similar calls have lasted. */
#ifndef SIM_ENGINE_CALLS_H
#define SIM_ENGINE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_CALL_THREADS = 16 }; /* threads that can be watched; calls of further threads are not */

/* Kinds of calls. A call that only enqueues returns before its work is done, so it tells nothing about a kernel's
 * time. */
typedef enum sim_call_kind { SIM_CALL_ENQUEUES, SIM_CALL_WAITS } sim_call_kind;

/* Call around a call of the driver; of nested pairs the outermost counts. `kernel`: the kernel enqueued last, or being
 * enqueued; "" before the first one. Both strings must stay valid. After sim_call_give_up, sim_call_end does not
 * return. */
void sim_call_begin(sim_call_kind kind, const char *name, const char *kernel);
void sim_call_end(void);
/* From now on calls of this thread move, clear or pin so many bytes of host memory, which extends their limit; 0: no
 * more. */
void sim_calls_move(size_t bytes);

/* For CUDA, in cuda.c: sim_call_begin with the kernel that was enqueued last. */
void sim_cuda_call_begin(sim_call_kind kind, const char *name);
/* Waits for all work in the stream of the steps. False after any failure; `what` names this wait in its message. */
bool sim_cuda_wait(const char *what);

/* Sets the device's name in messages: "GPU 1". The string must stay valid. */
void sim_calls_of(const char *device);
/* While *word is not 0, the device waits for other ranks, and no call is too long. At most 16 words. */
void sim_calls_excused_by(const volatile int *word);

/* What an observer knows of the calls so far. */
typedef struct sim_call_watch {
  double shortest, step; /* seconds: see sim_call_watch_begin */
  double fixed;          /* SIM_DEVICE_TIMEOUT; NAN: not given */
  bool misread;          /* SIM_DEVICE_TIMEOUT is not a number of seconds, and was ignored */
  uint64_t states[SIM_CALL_THREADS];
  const char *kernels[SIM_CALL_THREADS];
  double held[SIM_CALL_THREADS]; /* seconds for which the current call of each thread was seen to last */
} sim_call_watch;

typedef struct sim_call_found {
  int thread;
  uint64_t state;
  char text[192]; /* "GPU 1 has not finished its work for 20 s (cudaStreamSynchronize, last kernel nbody_kick; ...)" */
} sim_call_found;

/* Begins to watch. `shortest`: the shortest limit; `step`: expected seconds of a step, 0: unknown. The limit of a call
 * is the longest of `shortest`, ten times a step, and ten times the longest call after the same kernel. It is ten
 * minutes (or ten steps, if longer) while no call after this kernel has returned yet; for a call that waits, none that
 * waits. The environment's SIM_DEVICE_TIMEOUT=seconds replaces the limit of all calls; 0: no limit. */
void sim_call_watch_begin(sim_call_watch *watch, double shortest, double step);
/* Call every `passed` seconds. Time is counted in such calls, so that time in which the process was suspended does not
 * count. Returns whether a call has lasted longer than its limit. */
bool sim_call_watch_look(sim_call_watch *watch, double passed, sim_call_found *found);
/* Stops the thread of this call from continuing when the call returns. Returns false if the call has already
 * returned. */
bool sim_call_give_up(const sim_call_found *found);

#ifdef __cplusplus
}
#endif

#endif
