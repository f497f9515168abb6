/* A small table of functions for each kind of device. What is not built in is listed with its reason. */
#ifndef SIM_ENGINE_BACKEND_H
#define SIM_ENGINE_BACKEND_H

#include "engine/buffer.h"
#include "engine/status.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sim_backend_kind { SIM_BACKEND_CPU, SIM_BACKEND_CUDA, SIM_BACKEND_KINDS } sim_backend_kind;

/* Work that was queued once and can be queued again as a whole. */
typedef struct sim_graph sim_graph;

/* A device has a queue: what an ops table or `stage` queues runs in that order, while the host goes on. The CPU has
 * none: its work is done on return. Calls are from one thread, but for `left` and `left_at`. */
enum { SIM_MARKS = 32 };
struct sim_backend {
  const char *name; /* "cpu", "cuda" */
  sim_backend_kind kind;
  sim_space space;
  /* NULL: usable; otherwise why not, one line. */
  const char *(*unavailable)(void);
  /* One line on a device, and whether it is usable; false behind the last one. NULL where there is only one. */
  bool (*list)(int device, char *out, size_t capacity);
  /* Makes this device the process's: a number, a UUID or its beginning, or NULL for the first that is usable. Before
   * any call below; NULL where there is nothing to choose. SIM_ERR_NO_DEVICE. */
  sim_status (*open)(const char *which);
  /* One line: "AMD EPYC 9554", "NVIDIA H200 (GPU 0), compute capability 9.0, driver 13.0". */
  void (*describe)(char *out, size_t capacity);
  sim_status (*alloc)(size_t bytes, void **out); /* zeroed, 64-byte aligned */
  void (*free)(void *data);
  /* Copies between this backend's memory and the host, or within; after all that is queued, complete on return. */
  sim_status (*copy)(void *destination, const void *source, size_t bytes);
  size_t (*memory_free)(void); /* what a new run may take */

  /* NULL without a queue, from here on. */
  sim_status (*alloc_host)(size_t bytes, void **out); /* host memory that `leave` is fast into (pinned) */
  void (*free_host)(void *data);
  /* The first failure that any call has met, without looking at the queue: SIM_ERR_DEVICE with call and kernel. From
   * then on every call returns it, but for those that free. */
  sim_status (*failed)(void);
  sim_status (*finish)(void); /* waits for all that is queued; then as `failed` */
  /* Outputs leave beside the steps: `stage` queues a copy within the device, `leave` one from there to memory of
   * alloc_host, which waits for every earlier `stage` but not for later steps. `left` waits for all that leaves. */
  sim_status (*stage)(void *staged, const void *source, size_t bytes);
  sim_status (*leave)(void *host, const void *staged, size_t bytes);
  sim_status (*left)(void); /* from any thread; then as `failed` */
  /* Marks how far `leave` was called; `left_at` waits for that alone, whatever leaves later, from any thread; then as
   * `failed`. Marks are 0 .. SIM_MARKS - 1. */
  sim_status (*mark)(int mark);
  sim_status (*left_at)(int mark);
  /* Waits until the queue has come to where this was called last, and marks where it ends now: called every so often,
   * the host is never further ahead than what it queued since the call before. Then as `failed`. */
  sim_status (*follow)(void);
  /* What is queued between the two calls is kept instead of run. `replay` queues it. While a profile is made it is run
   * instead of kept, and *out is NULL: it is to be queued anew each time. */
  sim_status (*capture)(void);
  sim_status (*captured)(sim_graph **out);
  sim_status (*replay)(sim_graph *graph);
  void (*forget)(sim_graph **graph); /* and nulls it */
};

extern const sim_backend sim_backend_cpu;

/* All that this build knows of, the preferred first; NULL-terminated. */
extern const sim_backend *const sim_backends[];
/* "auto", "cpu", "cuda", "cuda:1", "cuda:GPU-0a1b" (a UUID or its beginning): opens it. An explicit device never falls
 * back: SIM_ERR_NO_DEVICE says why. "auto" does, with a line in the log where there is a GPU that cannot be used. */
sim_status sim_backend_select(const char *device, const sim_backend **out) SIM_MUST_CHECK;

/* Widest instruction set that the CPU and the system offer, and that the run uses. */
typedef enum sim_isa { SIM_ISA_PLAIN, SIM_ISA_AVX2, SIM_ISA_AVX512, SIM_ISA_COUNT } sim_isa;
sim_isa sim_isa_best(void);
const char *sim_isa_name(sim_isa isa); /* "plain", "avx2", "avx512" */

#ifdef __cplusplus
}
#endif

#endif
