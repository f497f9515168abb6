/* Kernels compiled at run time, on the process's GPU. */
#include "engine/device/compile.h"

#include "engine/log.h"
#include "engine/thread.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#if CUDART_VERSION >= 12080

enum { KERNELS_MAX = 256, STACK_BYTES = 16 << 20, KEPT_MAX = 16 };

/* Compilation of one source. */
typedef struct part {
  sim_source source;
  int capability;
  sim_bytes code;
  bool kept; /* the code came from the cache */
  bool running, loaded;
  pthread_t thread;
  char *text; /* copy of the source's, where code is kept; owned */
  sim_status status;
  sim_error error; /* error of the compiling thread */
  cudaLibrary_t library;
} part;

/* Code that sim_module_free has left on the device; `text` is owned. The newest comes first. */
typedef struct kept_code {
  sim_source source;
  char *text;
  cudaLibrary_t library;
} kept_code;

static struct {
  bool on;
  int count;
  kept_code code[KEPT_MAX];
} kept;

struct sim_module {
  int count;
  part parts[];
};

static sim_status check(cudaError_t error, const char *call, const char *what) {
  if (error == cudaSuccess) return SIM_OK;
  (void)cudaGetLastError();
  return sim_fail(SIM_ERR_DEVICE, "%s (%s): %s (%s)", call, what, cudaGetErrorString(error), cudaGetErrorName(error));
}

static sim_status capability(int *out) {
  int device = 0, major = 0, minor = 0;
  SIM_TRY(check(cudaGetDevice(&device), "cudaGetDevice", "compiling"));
  SIM_TRY(check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute",
                "compiling"));
  SIM_TRY(check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "cudaDeviceGetAttribute",
                "compiling"));
  *out = 10 * major + minor;
  return SIM_OK;
}

/* Lists all kernels of a library. */
static sim_status list_kernels(cudaLibrary_t library, const char *name, cudaKernel_t kernels[KERNELS_MAX],
                               unsigned *count) {
  SIM_TRY(check(cudaLibraryGetKernelCount(count, library), "cudaLibraryGetKernelCount", name));
  if (*count == 0) return sim_fail(SIM_ERR_DEVICE, "%s: no kernels in its code", name);
  if (*count > KERNELS_MAX) return sim_fail(SIM_ERR_INTERNAL, "%s: %u kernels in its code", name, *count);
  return check(cudaLibraryEnumerateKernels(kernels, *count, library), "cudaLibraryEnumerateKernels", name);
}

/* Requests all kernels: some drivers examine code only when a kernel is requested, and a refusal must show here. */
static sim_status try_kernels(cudaLibrary_t library, const char *name) {
  cudaKernel_t kernels[KERNELS_MAX];
  struct cudaFuncAttributes attributes;
  unsigned count;
  SIM_TRY(list_kernels(library, name, kernels, &count));
  for (unsigned i = 0; i < count; i++)
    SIM_TRY(check(cudaFuncGetAttributes(&attributes, (const void *)kernels[i]), "cudaFuncGetAttributes", name));
  return SIM_OK;
}

/* ---- code that stays on the device ---- */

void sim_modules_keep(void) { kept.on = true; }

static void unload(cudaLibrary_t library) {
  if (cudaLibraryUnload(library) != cudaSuccess) (void)cudaGetLastError();
}

/* Takes the code of a source from what is kept; false where it is not there. */
static bool take_kept(part *p) {
  const sim_source *s = &p->source;
  for (int i = 0; i < kept.count; i++) {
    const kept_code *of = &kept.code[i];
    if (of->source.files != s->files || of->source.contract != s->contract ||
        of->source.approximate != s->approximate || strcmp(of->text, s->text) != 0)
      continue;
    p->library = of->library;
    p->text = of->text;
    p->loaded = true;
    kept.count--;
    memmove(&kept.code[i], &kept.code[i + 1], (size_t)(kept.count - i) * sizeof kept.code[0]);
    return true;
  }
  return false;
}

/* Keeps the code of a part, in the place of the oldest where there is no room. */
static void keep(part *p) {
  if (kept.count == KEPT_MAX) {
    kept.count--;
    unload(kept.code[kept.count].library);
    free(kept.code[kept.count].text);
  }
  memmove(&kept.code[1], &kept.code[0], (size_t)kept.count * sizeof kept.code[0]);
  kept.count++;
  kept.code[0] = (kept_code){p->source, p->text, p->library};
  kept.code[0].source.text = p->text;
  p->text = NULL;
}

static sim_status load(part *p) {
  SIM_TRY(check(cudaLibraryLoadData(&p->library, p->code.data, NULL, NULL, 0, NULL, NULL, 0), "cudaLibraryLoadData",
                p->source.name));
  sim_status status = p->kept ? try_kernels(p->library, p->source.name) : SIM_OK;
  p->loaded = status == SIM_OK;
  if (!p->loaded) unload(p->library);
  return status;
}

static void *compile(void *context) {
  part *p = context;
  p->status = sim_compile_anew(&p->source, p->capability, &p->code);
  if (p->status != SIM_OK) p->error = *sim_error_last();
  return NULL;
}

/* Compiles in a thread of its own; if no thread can start, compiles before it returns. */
static void start(part *p) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0) {
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    p->running = sim_thread_create(&p->thread, &attributes, compile, p) == 0;
    (void)pthread_attr_destroy(&attributes);
  }
  if (!p->running) (void)compile(p);
}

static sim_status finish(part *p) {
  if (p->running) {
    (void)pthread_join(p->thread, NULL);
    p->running = false;
  }
  if (p->status != SIM_OK) return sim_fail_at(p->status, p->error.file, p->error.line, "%s", p->error.message);
  sim_status status = load(p);
  if (status == SIM_ERR_DEVICE && p->kept) {
    sim_log(SIM_LOG_DEBUG, "%s, as it was kept, is refused: compiled anew", p->source.name);
    p->kept = false;
    sim_bytes_free(&p->code);
    status = sim_compile_anew(&p->source, p->capability, &p->code);
    if (status == SIM_OK) status = load(p);
  }
  sim_bytes_free(&p->code);
  return status;
}

sim_status sim_module_begin(const sim_source *sources, int count, sim_module **out) {
  int of_device = 0;
  *out = NULL;
  SIM_TRY(capability(&of_device));
  sim_module *module = *out = calloc(1, sizeof *module + (size_t)count * sizeof module->parts[0]);
  if (!module) return sim_no_memory("the kernels of %s", sources->name);
  module->count = count;
  for (int i = 0; i < count; i++) {
    part *p = &module->parts[i];
    p->source = sources[i];
    p->capability = of_device;
    if (kept.on && take_kept(p)) continue;
    if (kept.on) p->text = strdup(p->source.text); /* without memory its code is not kept */
    p->kept = sim_compile_kept(&p->source, of_device, &p->code);
    if (!p->kept) start(p);
  }
  return SIM_OK;
}

sim_status sim_module_end(sim_module *module) {
  for (int i = 0; i < module->count; i++)
    if (!module->parts[i].loaded) SIM_TRY(finish(&module->parts[i]));
  return SIM_OK;
}

sim_status sim_module_create(const sim_source *source, sim_module **out) {
  sim_status status = sim_module_begin(source, 1, out);
  if (status == SIM_OK) status = sim_module_end(*out);
  if (status != SIM_OK) sim_module_free(out);
  return status;
}

void sim_module_free(sim_module **module) {
  for (int i = 0; *module && i < (*module)->count; i++) {
    part *p = &(*module)->parts[i];
    if (p->running) (void)pthread_join(p->thread, NULL);
    if (p->loaded && p->text != NULL)
      keep(p);
    else if (p->loaded)
      unload(p->library);
    free(p->text);
    sim_bytes_free(&p->code);
  }
  free(*module);
  *module = NULL;
}

/* Finds a kernel by comparing names; NULL: not there. To ask a library for a kernel that another one holds is an error
 * that checkers report. */
static sim_status find_kernel(cudaLibrary_t library, const char *name, cudaKernel_t *out) {
  cudaKernel_t kernels[KERNELS_MAX];
  unsigned count;
  SIM_TRY(list_kernels(library, name, kernels, &count));
  for (unsigned k = 0; k < count && *out == NULL; k++) {
    const char *its = "";
    SIM_TRY(check(cudaFuncGetName(&its, (const void *)kernels[k]), "cudaFuncGetName", name));
    if (strcmp(its, name) == 0) *out = kernels[k];
  }
  return SIM_OK;
}

/* Reading the attributes loads the kernel, so that its first launch, which may be inside a capture, loads nothing. */
sim_status sim_module_kernel(const sim_module *module, const char *name, void **out) {
  cudaKernel_t kernel = NULL;
  struct cudaFuncAttributes attributes;
  *out = NULL;
  for (int i = 0; i < module->count && kernel == NULL; i++)
    SIM_TRY(find_kernel(module->parts[i].library, name, &kernel));
  if (kernel == NULL) return sim_fail(SIM_ERR_INTERNAL, "no kernel %s", name);
  SIM_TRY(check(cudaFuncGetAttributes(&attributes, (const void *)kernel), "cudaFuncGetAttributes", name));
  *out = (void *)kernel;
  return SIM_OK;
}

#else

sim_status sim_module_create(const sim_source *source, sim_module **out) { return sim_module_begin(source, 1, out); }
sim_status sim_module_begin(const sim_source *sources, int count, sim_module **out) {
  (void)count;
  *out = NULL;
  return sim_fail(SIM_ERR_NO_DEVICE,
                  "%s: functions of a scenario on a GPU need a program built with CUDA 12.8 or newer, this one has "
                  "%d.%d: use --device cpu",
                  sources->name, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}
sim_status sim_module_end(sim_module *module) {
  (void)module;
  return SIM_OK;
}
void sim_module_free(sim_module **module) { *module = NULL; }
void sim_modules_keep(void) {}
sim_status sim_module_kernel(const sim_module *module, const char *name, void **out) {
  (void)module;
  *out = NULL;
  return sim_fail(SIM_ERR_INTERNAL, "no kernel %s", name);
}

#endif
