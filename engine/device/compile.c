/* Compilation by NVRTC, which is loaded at first use. */
#include "engine/device/compile.h"

#include "engine/device/cache.h"
#include "engine/log.h"
#include "engine/run/startup.h"

#include <dlfcn.h>
#include <errno.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 64, OPTIONS_MAX = 8, LOG_LINES = 3 };

/* The only header of the C library: math.h, reduced to its constants. NVRTC has the functions built in. */
static const char math_name[] = "math.h";
static const char math_text[] = "#define INFINITY __longlong_as_double(0x7ff0000000000000LL)\n"
                                "#define NAN __longlong_as_double(0x7ff8000000000000LL)\n";

/* The functions of NVRTC that are used. */
#define NVRTC_FUNCTIONS(X)                                                                                             \
  X(CreateProgram)                                                                                                     \
  X(DestroyProgram)                                                                                                    \
  X(CompileProgram)                                                                                                    \
  X(GetCUBIN)                                                                                                          \
  X(GetCUBINSize)                                                                                                      \
  X(GetPTX)                                                                                                            \
  X(GetPTXSize)                                                                                                        \
  X(GetProgramLog)                                                                                                     \
  X(GetProgramLogSize)                                                                                                 \
  X(GetNumSupportedArchs)                                                                                              \
  X(GetSupportedArchs)                                                                                                 \
  X(GetErrorString)                                                                                                    \
  X(Version)

static struct {
  pthread_mutex_t lock;
  void *library;
#define NVRTC_MEMBER(name) __typeof__(&nvrtc##name) name;
  NVRTC_FUNCTIONS(NVRTC_MEMBER)
} nvrtc = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_long compiled;

/* ---- location of the library ---- */

/* The build's version comes first: the driver may be too old for machine code of a newer NVRTC. */
static const char *const nvrtc_names[] = {"libnvrtc.so." SIM_CUDA_MAJOR, "libnvrtc.so.13", "libnvrtc.so.12", NULL};

static bool found_in(const char *folder, size_t length, const char *const *names, char *out, size_t capacity) {
  for (; *names; names++) {
    int written = snprintf(out, capacity, "%.*s/%s", (int)length, folder, *names);
    if (written > 0 && (size_t)written < capacity && access(out, R_OK) == 0) return true;
  }
  return false;
}

static bool found_in_list(const char *folders, const char *const *names, char *out, size_t capacity) {
  while (folders && *folders) {
    const size_t length = strcspn(folders, ":");
    if (length > 0 && found_in(folders, length, names, out, capacity)) return true;
    folders += length + (folders[length] == ':');
  }
  return false;
}

bool sim_cuda_library(const char *variable, const char *const *names, char *out, size_t capacity) {
  const char *own = getenv(variable);
  if (own && *own) {
    int length = snprintf(out, capacity, "%s", own);
    return length > 0 && (size_t)length < capacity && access(out, R_OK) == 0;
  }
  return found_in_list(SIM_CUDA_LIBRARIES, names, out, capacity) ||
         found_in_list(getenv("LD_LIBRARY_PATH"), names, out, capacity) ||
         found_in_list("/usr/local/cuda/lib64:/opt/cuda/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
                       "/usr/lib64:/usr/lib",
                       names, out, capacity);
}

/* Finds the library without loading it: loading takes tens of milliseconds and is unnecessary on a cache hit. */
static bool find(char *out, size_t capacity) { return sim_cuda_library("SIM_NVRTC", nvrtc_names, out, capacity); }

static sim_status missing(const char *why) {
  return sim_fail(SIM_ERR_NO_DEVICE,
                  "functions of a scenario need NVRTC to run on a GPU, and %s: install the CUDA toolkit " SIM_CUDA_MAJOR
                  " (libnvrtc.so." SIM_CUDA_MAJOR "), name its path in SIM_NVRTC, or use --device cpu",
                  why);
}

/* Loads NVRTC and its functions, once in a process. */
static sim_status load(const char *path) {
  pthread_mutex_lock(&nvrtc.lock);
  const char *why = NULL;
  if (!nvrtc.library) {
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) why = dlerror();
#define NVRTC_FIND(name)                                                                                               \
  if (library && !why && !(*(void **)&nvrtc.name = dlsym(library, "nvrtc" #name))) why = "it lacks nvrtc" #name;
    NVRTC_FUNCTIONS(NVRTC_FIND)
    if (!why) nvrtc.library = library;
  }
  char text[1024];
  if (why) snprintf(text, sizeof text, "%s cannot be used (%s)", path, why);
  pthread_mutex_unlock(&nvrtc.lock);
  return why ? missing(text) : SIM_OK;
}

/* ---- keys ---- */

typedef struct options {
  int count;
  char text[OPTIONS_MAX][48];
} options;

static void add_option(options *o, const char *text) { snprintf(o->text[o->count++], sizeof o->text[0], "%s", text); }

static options options_of(const sim_source *source) {
  options o = {0};
  add_option(&o, "--std=c++17");
  add_option(&o, source->contract ? "--fmad=true" : "--fmad=false");
  if (source->approximate) {
    add_option(&o, "--prec-div=false");
    add_option(&o, "--prec-sqrt=false");
  }
  return o;
}

/* The key contains size and date of the library and not its version, which is known only after loading. The driver is
 * not part of the key: machine code depends on the architecture, PTX runs on any sufficiently new driver, and code that
 * a driver refuses is compiled again (sim_module_create). */
static sim_status make_key(const sim_source *source, const options *o, int capability, const char *path,
                           sim_cache_key *out) {
  struct stat about;
  sim_cache_hash *hash = sim_cache_hash_begin();
  if (!hash) return sim_no_memory("the compilation of %s", source->name);
  sim_cache_hash_text(hash, math_text);
  sim_cache_hash_text(hash, source->text);
  for (const sim_source_file *file = source->files; file && file->name; file++) {
    sim_cache_hash_text(hash, file->name);
    sim_cache_hash_text(hash, file->text);
  }
  for (int i = 0; i < o->count; i++) sim_cache_hash_text(hash, o->text[i]);
  sim_cache_hash_add(hash, &capability, sizeof capability);
  if (stat(path, &about) == 0) {
    sim_cache_hash_add(hash, &about.st_size, sizeof about.st_size);
    sim_cache_hash_add(hash, &about.st_mtim.tv_sec, sizeof about.st_mtim.tv_sec);
  }
  *out = sim_cache_hash_end(hash);
  return SIM_OK;
}

/* ---- source that does not compile ---- */

/* Writes source and log to a file in TMPDIR or /tmp, for a report. `where`: "; the source is in PATH", or why no file
 * could be written. Returns whether it was. */
static bool keep_source(const sim_source *source, const options *o, const char *log, char *where, size_t capacity) {
  const char *given = getenv("TMPDIR"), *folder = given && *given ? given : P_tmpdir;
  char path[512];
  const bool fits = (size_t)snprintf(path, sizeof path, "%s/sim-%s-XXXXXX.cu", folder, source->name) < sizeof path;
  errno = ENAMETOOLONG;
  const int file = fits ? mkstemps(path, 3) : -1;
  FILE *out = file < 0 ? NULL : fdopen(file, "w");
  if (out) {
    fputs("/*", out);
    for (int i = 0; i < o->count; i++) fprintf(out, " %s", o->text[i]);
    fprintf(out, "\n%s*/\n%s", log, source->text);
    for (const sim_source_file *f = source->files; f && f->name; f++)
      fprintf(out, "\n#if 0 /* %s */\n%s#endif\n", f->name, f->text);
    const bool written = !ferror(out);
    if (fclose(out) == 0 && written) {
      snprintf(where, capacity, "; the source is in %s", path);
      return true;
    }
  }
  const int error = errno;
  snprintf(where, capacity, "; the folder of temporary files, %.200s, does not take the source (%s)", folder,
           strerror(error));
  if (!out && file >= 0) close(file);
  if (file >= 0) (void)unlink(path);
  return false;
}

/* Joins the first lines of a log into one line. */
static void first_lines(const char *log, char *out, size_t capacity) {
  size_t used = 0;
  out[0] = '\0';
  for (int line = 0; line < LOG_LINES && *log; line++) {
    const size_t length = strcspn(log, "\n");
    if (used < capacity)
      used += (size_t)snprintf(out + used, capacity - used, "%s%.*s", line ? " | " : "", (int)length, log);
    log += length + (log[length] == '\n');
  }
}

static sim_status compile_failed(const sim_source *source, const options *o, nvrtcProgram program, nvrtcResult result) {
  size_t size = 0;
  char *log = NULL, where[600], lines[500];
  if (program && nvrtc.GetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 0) log = calloc(size + 1, 1);
  if (log && nvrtc.GetProgramLog(program, log) != NVRTC_SUCCESS) log[0] = '\0';
  const char *text = log && *log ? log : nvrtc.GetErrorString(result);
  const bool kept = keep_source(source, o, text, where, sizeof where);
  first_lines(text, lines, sizeof lines);
  free(log);
  return sim_fail(SIM_ERR_INTERNAL, "%s does not compile for the GPU: %s%s; please report this bug with %s",
                  source->name, lines, where, kept ? "that file" : "the scenario");
}

/* ---- compilation ---- */

/* The capability itself; if NVRTC does not know it, the largest known one below, whose PTX the driver compiles. */
static int known_capability(int capability) {
  int count = 0, best = 0, known[64];
  if (nvrtc.GetNumSupportedArchs(&count) != NVRTC_SUCCESS || count > 64 || nvrtc.GetSupportedArchs(known)) return 0;
  for (int i = 0; i < count; i++)
    if (known[i] <= capability && known[i] > best) best = known[i];
  return best;
}

/* Appends the machine code of a compiled program, or its PTX, to `out`. */
static nvrtcResult fetch(nvrtcProgram program, bool machine, sim_bytes *out) {
  size_t size = 0;
  nvrtcResult result = machine ? nvrtc.GetCUBINSize(program, &size) : nvrtc.GetPTXSize(program, &size);
  char *data = result == NVRTC_SUCCESS ? malloc(size + 1) : NULL;
  if (result == NVRTC_SUCCESS && !data) result = NVRTC_ERROR_OUT_OF_MEMORY;
  if (result == NVRTC_SUCCESS) result = machine ? nvrtc.GetCUBIN(program, data) : nvrtc.GetPTX(program, data);
  if (result == NVRTC_SUCCESS) sim_bytes_add(out, data, size);
  free(data);
  return result;
}

static sim_status compile(const sim_source *source, options *o, int capability, sim_bytes *out) {
  const int known = known_capability(capability);
  if (known == 0)
    return sim_fail(SIM_ERR_NO_DEVICE, "this NVRTC makes no code for a GPU of compute capability %d.%d",
                    capability / 10, capability % 10);
  snprintf(o->text[o->count++], sizeof o->text[0], "--gpu-architecture=%s_%d", known == capability ? "sm" : "compute",
           known);
  int major = 0, minor = 0; /* versions before 13 may not have the option */
  if (nvrtc.Version(&major, &minor) == NVRTC_SUCCESS && major >= 13) add_option(o, "--split-compile=0"); /* all cores */
  const char *headers[FILES_MAX] = {math_text}, *includes[FILES_MAX] = {math_name}, *arguments[OPTIONS_MAX];
  int count = 1;
  for (const sim_source_file *file = source->files; file && file->name; file++) {
    if (count == FILES_MAX)
      return sim_fail(SIM_ERR_INTERNAL, "%s: more than %d files to compile", source->name, FILES_MAX - 1);
    headers[count] = file->text;
    includes[count++] = file->name;
  }
  for (int i = 0; i < o->count; i++) arguments[i] = o->text[i];
  char name[80];
  snprintf(name, sizeof name, "%s.cu", source->name);
  nvrtcProgram program = NULL;
  nvrtcResult result = nvrtc.CreateProgram(&program, source->text, name, count, headers, includes);
  if (result == NVRTC_SUCCESS) result = nvrtc.CompileProgram(program, o->count, arguments);
  if (result == NVRTC_SUCCESS) result = fetch(program, known == capability, out);
  sim_status status = result == NVRTC_ERROR_OUT_OF_MEMORY ? sim_no_memory("the compilation of %s", source->name)
                      : result != NVRTC_SUCCESS           ? compile_failed(source, o, program, result)
                                                          : SIM_OK;
  if (program) (void)nvrtc.DestroyProgram(&program);
  return status;
}

/* Finds NVRTC and computes the cache key of a source. */
static sim_status find_key(const sim_source *source, const options *o, int capability, char *path, size_t capacity,
                           sim_cache_key *key) {
  if (!find(path, capacity)) {
    const char *own = getenv("SIM_NVRTC");
    return missing(own && *own ? "the file that SIM_NVRTC names cannot be read" : "it is not found");
  }
  return make_key(source, o, capability, path, key);
}

bool sim_compile_kept(const sim_source *source, int capability, sim_bytes *out) {
  char path[512];
  sim_cache_key key;
  const options o = options_of(source);
  return find_key(source, &o, capability, path, sizeof path, &key) == SIM_OK && sim_cache_read(&key, out);
}

sim_status sim_compile_anew(const sim_source *source, int capability, sim_bytes *out) {
  sim_startup("compiling kernels", 0, 0);
  char path[512];
  sim_cache_key key;
  options o = options_of(source);
  SIM_TRY(find_key(source, &o, capability, path, sizeof path, &key));
  SIM_TRY(load(path));
  atomic_fetch_add(&compiled, 1);
  sim_log(SIM_LOG_DEBUG, "compiling %s for compute capability %d.%d", source->name, capability / 10, capability % 10);
  const size_t before = out->size;
  SIM_TRY(compile(source, &o, capability, out));
  if (out->failed) return sim_no_memory("the compilation of %s", source->name);
  sim_cache_write(&key, out->data + before, out->size - before);
  return SIM_OK;
}

sim_status sim_compile(const sim_source *source, int capability, sim_bytes *out) {
  return sim_compile_kept(source, capability, out) ? SIM_OK : sim_compile_anew(source, capability, out);
}

long sim_compile_count(void) { return atomic_load(&compiled); }
