/* Compiles CUDA source at run time. NVRTC, the compiler, is loaded when first needed: from $SIM_NVRTC, else libnvrtc.so
 * in the toolkit that built the program, in LD_LIBRARY_PATH, or in the usual folders.
 *
 * Compiled code is cached on disk, in $SIM_CACHE, else $XDG_CACHE_HOME/sim, else $HOME/.cache/sim: one file for each
 * combination of source, options, architecture and NVRTC, with a checksum, written under a temporary name and renamed.
 * A file that is damaged, or that the driver refuses, is compiled and written again. The most recently used files are
 * kept: at most 256 files and 64 MiB. Everything is compiled each time if there is no such folder, if it cannot be
 * written, or if another user may write to it. */
#ifndef SIM_ENGINE_COMPILE_H
#define SIM_ENGINE_COMPILE_H

#include "engine/memory/bytes.h"
#include "engine/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A header for #include "name"; a list of them ends with a NULL name. */
typedef struct sim_source_file {
  const char *name, *text;
} sim_source_file;

typedef struct sim_source {
  const char *name; /* letters, digits, _: for messages, and for the name of the file with a source that fails */
  const char *text;
  const sim_source_file *files; /* NULL: no headers */
  bool contract;                /* multiply-adds may be fused */
  bool approximate;             /* fp32 division and square root within 2 units in the last place */
} sim_source;

/* Appends machine code for a compute capability (90) to `out`, or NUL-terminated PTX if NVRTC does not know the
 * capability yet; from the cache or by NVRTC. Needs no GPU. SIM_ERR_NO_DEVICE without NVRTC; SIM_ERR_INTERNAL if the
 * source does not compile: the message names a file with the source. */
sim_status sim_compile(const sim_source *source, int capability, sim_bytes *out) SIM_MUST_CHECK;
/* Reads the compiled code from the cache; returns false if it is not there. */
bool sim_compile_kept(const sim_source *source, int capability, sim_bytes *out);
/* Compiles with NVRTC regardless of the cache, and stores the result there. */
sim_status sim_compile_anew(const sim_source *source, int capability, sim_bytes *out) SIM_MUST_CHECK;
/* Number of compilations that NVRTC has made in this process. */
long sim_compile_count(void);

/* Finds a library of the toolkit to load at run time: the file that the environment variable names, else the first of
 * the names (NULL-terminated) in the folders that are searched for NVRTC. False: not found. */
bool sim_cuda_library(const char *variable, const char *const *names, char *out, size_t capacity);

/* Compiled kernels on the process's GPU. */
typedef struct sim_module sim_module;
sim_status sim_module_create(const sim_source *source, sim_module **out) SIM_MUST_CHECK;
/* The same for several sources, which are compiled in parallel with each other and with the caller until
 * sim_module_end, which returns their errors. Sources and texts must live until then. The caller frees the module, also
 * after an error. */
sim_status sim_module_begin(const sim_source *sources, int count, sim_module **out) SIM_MUST_CHECK;
sim_status sim_module_end(sim_module *module) SIM_MUST_CHECK;
void sim_module_free(sim_module **module);
/* From now on sim_module_free leaves code on the device, of the 16 sources last freed, and the same source takes it
 * from there: for a process that makes one run after another. Sources are the same where their texts, options and lists
 * of headers (by address) are. For one thread. */
void sim_modules_keep(void);
/* Finds and loads an extern "C" __global__ function; *out: a cudaKernel_t, which can be launched like a function. */
sim_status sim_module_kernel(const sim_module *module, const char *name, void **out) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
