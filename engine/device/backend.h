/* Devices: a table of functions for each kind (memory), and one for its queue. A kind that is not built in is listed
 * with its reason. */
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

enum { SIM_MARKS = 32 };

/* The queue of a device: work runs in the order in which it is queued, while the host goes on. The first failure of any
 * call stays: from then on every call returns it (SIM_ERR_DEVICE with call and kernel), except those that free. Calls
 * are from one thread, except wait_copies and wait_mark. */
typedef struct sim_queue {
  sim_status (*status)(void); /* the first failure so far; does not wait */
  sim_status (*finish)(void); /* waits for all queued work */
  /* Outputs are copied beside the steps. `stage` queues a copy within the device; `copy_out` queues a copy from there
   * to memory of alloc_host. It waits for every earlier `stage`, but not for later steps. */
  sim_status (*stage)(void *staged, const void *source, size_t bytes);
  sim_status (*copy_out)(void *host, const void *staged, size_t bytes);
  sim_status (*wait_copies)(void); /* waits for all copies of copy_out; any thread */
  /* mark_copies marks the copies queued so far, and wait_mark waits for these alone; any thread. mark: 0 .. SIM_MARKS -
   * 1. */
  sim_status (*mark_copies)(int mark);
  sim_status (*wait_mark)(int mark);
  /* Waits for the work that was queued before the last call: the host is never more than two calls ahead. */
  sim_status (*throttle)(void);
  /* Work queued between graph_begin and graph_end is kept instead of run; graph_launch queues it. While a profile is
   * made the work runs instead, and *out is NULL: the caller queues it anew each time. */
  sim_status (*graph_begin)(void);
  sim_status (*graph_end)(sim_graph **out);
  sim_status (*graph_launch)(sim_graph *graph);
  void (*graph_destroy)(sim_graph **graph); /* and nulls it */
} sim_queue;

/* A kind of device, its memory and its queue. */
struct sim_backend {
  const char *name; /* "cpu", "cuda" */
  sim_backend_kind kind;
  sim_space space;
  const sim_queue *queue; /* NULL: work is done on return */
  /* NULL: usable; otherwise the reason, one line. */
  const char *(*unavailable)(void);
  /* One line on a device, and whether it is usable; false behind the last one. NULL where there is only one. */
  bool (*list)(int device, char *out, size_t capacity);
  /* Makes this device the process's: a number, a UUID or its beginning, or NULL for the first usable one. Before any
   * call below; NULL where there is nothing to choose. SIM_ERR_NO_DEVICE. */
  sim_status (*open)(const char *which);
  /* One line: "AMD EPYC 9554", "NVIDIA H200 (GPU 0), compute capability 9.0, driver 13.0". */
  void (*describe)(char *out, size_t capacity);
  sim_status (*alloc)(size_t bytes, void **out); /* in `space`; zeroed, 64-byte aligned */
  void (*free)(void *data);
  sim_status (*alloc_host)(size_t bytes, void **out); /* on the host, fast to copy to from `space` (pinned) */
  void (*free_host)(void *data);
  /* Copies between `space` and the host, or within; after all queued work, complete on return. */
  sim_status (*copy)(void *destination, const void *source, size_t bytes);
  size_t (*memory_free)(void); /* bytes that a new run may take */
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
