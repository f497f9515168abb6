/* A small table of functions for each kind of device. What is not built in is listed with its reason. */
#ifndef SIM_ENGINE_BACKEND_H
#define SIM_ENGINE_BACKEND_H

#include "engine/buffer.h"
#include "engine/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum sim_backend_kind { SIM_BACKEND_CPU, SIM_BACKEND_CUDA, SIM_BACKEND_KINDS } sim_backend_kind;

struct sim_backend {
  const char *name; /* "cpu", "cuda" */
  sim_backend_kind kind;
  sim_space space;
  /* NULL: usable; otherwise why not, one line. */
  const char *(*unavailable)(void);
  /* One line: "AMD EPYC 9554, 2 threads, AVX-512". */
  void (*describe)(char *out, size_t capacity);
  sim_status (*alloc)(size_t bytes, void **out); /* zeroed, 64-byte aligned */
  void (*free)(void *data);
  /* Copies between this backend's memory and the host, or within; complete on return. */
  sim_status (*copy)(void *destination, const void *source, size_t bytes);
  size_t (*memory_free)(void); /* what a new run may take */
};

extern const sim_backend sim_backend_cpu;

/* All that this build knows of, the preferred first; NULL-terminated. */
extern const sim_backend *const sim_backends[];
/* "auto", "cpu", "cuda[:n]". An explicit device never falls back: SIM_ERR_NO_DEVICE says why. */
sim_status sim_backend_select(const char *device, const sim_backend **out) SIM_MUST_CHECK;

/* Widest instruction set that the CPU and the system offer, and that the run uses. */
typedef enum sim_isa { SIM_ISA_PLAIN, SIM_ISA_AVX2, SIM_ISA_AVX512, SIM_ISA_COUNT } sim_isa;
sim_isa sim_isa_best(void);
const char *sim_isa_name(sim_isa isa); /* "plain", "avx2", "avx512" */

#endif
