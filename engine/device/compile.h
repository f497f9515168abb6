/* CUDA source text made into kernels while the program runs. NVRTC, the compiler, is loaded when it is first needed:
 * $SIM_NVRTC, else libnvrtc.so of the toolkit that built the program, of LD_LIBRARY_PATH, or of the usual folders.
 *
 * What was compiled once is found again on disk, in $SIM_CACHE, else $XDG_CACHE_HOME/sim, else $HOME/.cache/sim: one
 * file for each source, options, architecture and NVRTC, with a checksum, written under another name and renamed. A
 * file that is damaged, or that the driver refuses, is compiled and written anew. At most 64 MiB in 256 files stay
 * there, those that were used last. Without such a folder, or where it cannot be written, or where another user may
 * write to it or to a file, everything is compiled each time. */
#ifndef SIM_ENGINE_COMPILE_H
#define SIM_ENGINE_COMPILE_H

#include "engine/bytes.h"
#include "engine/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What #include "name" finds; a list ends with a NULL name. */
typedef struct sim_source_file {
  const char *name, *text;
} sim_source_file;

typedef struct sim_source {
  const char *name; /* letters, digits, _: for messages, and for the file that a failure leaves */
  const char *text;
  const sim_source_file *files; /* NULL: it includes nothing */
  bool contract;                /* multiply-adds may become one operation */
  bool approximate;             /* fp32 division and square root within 2 units in the last place */
} sim_source;

/* Machine code for a compute capability (90), or PTX with its NUL where NVRTC does not know it yet; from the cache or
 * from NVRTC. Needs no GPU. SIM_ERR_NO_DEVICE without NVRTC; SIM_ERR_INTERNAL where the text does not compile: the
 * source is kept in a file that the message names. */
sim_status sim_compile(const sim_source *source, int capability, sim_bytes *out) SIM_MUST_CHECK;
/* From the cache alone: whether it is there. */
bool sim_compile_kept(const sim_source *source, int capability, sim_bytes *out);
/* From NVRTC, whatever the cache has; it is put there. */
sim_status sim_compile_anew(const sim_source *source, int capability, sim_bytes *out) SIM_MUST_CHECK;
/* How often this process had NVRTC compile something. */
long sim_compile_count(void);

/* Where a library of the toolkit is, which is loaded only when it is needed: what the environment variable names, else
 * the first of the names (NULL-terminated) in the folders that NVRTC is looked for in. False: nowhere. */
bool sim_cuda_library(const char *variable, const char *const *names, char *out, size_t capacity);

/* Kernels on the process's GPU. */
typedef struct sim_module sim_module;
sim_status sim_module_create(const sim_source *source, sim_module **out) SIM_MUST_CHECK;
/* The same of several sources, which are compiled beside each other and beside what the caller does until
 * sim_module_end, whose failures are theirs. Their texts stay until then. A module that has begun is freed, whatever
 * happened. */
sim_status sim_module_begin(const sim_source *sources, int count, sim_module **out) SIM_MUST_CHECK;
sim_status sim_module_end(sim_module *module) SIM_MUST_CHECK;
void sim_module_free(sim_module **module);
/* An extern "C" __global__ function, loaded: a cudaKernel_t, which launches take like a function. */
sim_status sim_module_kernel(const sim_module *module, const char *name, void **out) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
