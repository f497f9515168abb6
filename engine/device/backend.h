/* Devices: one table of functions for each kind (memory), and one for its queue. A kind that is not built in is listed
 * with the reason. */
#ifndef SIM_ENGINE_BACKEND_H
#define SIM_ENGINE_BACKEND_H

#include "engine/memory/buffer.h"
#include "engine/status.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sim_backend_kind { SIM_BACKEND_CPU, SIM_BACKEND_CUDA, SIM_BACKEND_KINDS } sim_backend_kind;

/* Work that was captured once and can be enqueued as a whole many times. */
typedef struct sim_graph sim_graph;

enum { SIM_MARKS = 32 };

/* The queue of a device: work runs in the order in which it is enqueued, asynchronously to the host. The queue keeps
 * the first error of any call: from then on every call except graph_destroy returns it (SIM_ERR_DEVICE, with call and
 * kernel). Call from one thread only, except wait_copies and wait_mark. */
typedef struct sim_queue {
  sim_status (*status)(void); /* returns the first error so far; does not wait */
  sim_status (*finish)(void); /* waits for all enqueued work */
  /* Outputs are copied while steps run. `stage` enqueues a copy within the device; `copy_out` enqueues a copy from
   * there to memory of alloc_host, which waits for every earlier `stage` but not for later steps. */
  sim_status (*stage)(void *staged, const void *source, size_t bytes);
  sim_status (*copy_out)(void *host, const void *staged, size_t bytes);
  sim_status (*wait_copies)(void); /* waits for all copies by copy_out; any thread */
  /* mark_copies marks the copies enqueued so far, and wait_mark, on any thread, waits for these only. mark: 0 ..
   * SIM_MARKS - 1. */
  sim_status (*mark_copies)(int mark);
  sim_status (*wait_mark)(int mark);
  /* Waits for the work enqueued before the previous call, so that the host is never more than two calls ahead. */
  sim_status (*throttle)(void);
  /* Work enqueued between graph_begin and graph_end is captured instead of run; graph_launch enqueues it. During a
   * profile, and if ranks exchange through the host, the work runs instead and *out is NULL: the caller then enqueues
   * it anew each time. */
  sim_status (*graph_begin)(void);
  sim_status (*graph_end)(sim_graph **out);
  sim_status (*graph_launch)(sim_graph *graph);
  void (*graph_destroy)(sim_graph **graph); /* frees it and sets *graph to NULL */
} sim_queue;

/* A kind of device, its memory and its queue. */
struct sim_backend {
  const char *name; /* "cpu", "cuda" */
  sim_backend_kind kind;
  sim_space space;
  const sim_queue *queue; /* NULL: operations are complete on return */
  /* Returns why this kind cannot be used, one line; NULL: it can. */
  const char *(*unavailable)(void);
  /* Writes one line about a device and whether it is usable; returns false after the last device. NULL: there is only
   * one. */
  bool (*list)(int device, char *out, size_t capacity);
  /* Writes the UUID of usable device `number`, counted from 0, for `open`; returns false after the last. Makes no
   * context on a device. NULL: the kind has no numbers. */
  bool (*identity)(int number, char *out, size_t capacity);
  /* Selects the device of this process: a number, a UUID or its beginning, or NULL for the first usable device. Call it
   * before the functions below; NULL: nothing to select. SIM_ERR_NO_DEVICE. */
  sim_status (*open)(const char *which);
  /* Writes one line: "AMD EPYC 9554", "NVIDIA H200 (GPU 0), compute capability 9.0, driver 13.0". */
  void (*describe)(char *out, size_t capacity);
  sim_status (*alloc)(size_t bytes, void **out); /* memory in `space`; zeroed, aligned to 64 bytes */
  void (*free)(void *data);
  sim_status (*alloc_host)(size_t bytes, void **out); /* host memory, pinned for fast copies to and from `space` */
  void (*free_host)(void *data);
  /* Copies between `space` and the host, or within `space`. Waits for all enqueued work; complete on return. */
  sim_status (*copy)(void *destination, const void *source, size_t bytes);
  size_t (*memory_free)(void); /* bytes that a new run can allocate */
};

extern const sim_backend sim_backend_cpu;
/* Bytes of memory that all processes together can still allocate on this host: the less of what the system and the
 * control group leave. A limit of one process's address space counts in sim_backend_cpu.memory_free. */
size_t sim_host_memory_free(void);

/* All kinds of device, in order of preference; NULL-terminated. */
extern const sim_backend *const sim_backends[];
/* Selects and opens "auto", "cpu", "cuda", "cuda:1" or "cuda:GPU-0a1b" (a UUID or its beginning). An explicit device
 * never falls back: SIM_ERR_NO_DEVICE with the reason. "auto" falls back to the CPU, and logs it if there is a GPU that
 * cannot be used. */
sim_status sim_backend_select(const char *device, const sim_backend **out) SIM_MUST_CHECK;

/* Instruction sets of the CPU; sim_isa_best: the widest that both the processor and the system support. */
typedef enum sim_isa { SIM_ISA_PLAIN, SIM_ISA_AVX2, SIM_ISA_AVX512, SIM_ISA_COUNT } sim_isa;
sim_isa sim_isa_best(void);
/* Whether the processor is made by Intel: square roots and divisions then cost more beside multiply-adds than on
 * AMD's. */
bool sim_cpu_is_intel(void);
const char *sim_isa_name(sim_isa isa); /* "plain", "avx2", "avx512" */

#ifdef __cplusplus
}
#endif

#endif
