/* The CPU as a device: instruction sets and memory. */
#include "engine/device/isa.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- instruction sets ---- */

static sim_isa most = SIM_ISA_COUNT;

void sim_isa_limit(sim_isa isa) { most = isa; }

static sim_isa widest(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return SIM_ISA_AVX512;
  if (avx2) return SIM_ISA_AVX2;
#endif
  return SIM_ISA_PLAIN;
}

sim_isa sim_isa_best(void) {
  const sim_isa isa = widest();
  return isa < most ? isa : most;
}

bool sim_cpu_is_intel(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

const char *sim_isa_name(sim_isa isa) {
  static const char *const names[SIM_ISA_COUNT] = {"plain", "avx2", "avx512"};
  return names[isa];
}

/* ---- the CPU ---- */

static const char *cpu_unavailable(void) { return NULL; }

/* The name of the processor, read once. */
static void cpu_describe(char *out, size_t capacity) {
  static char name[128];
  FILE *file = *name ? NULL : fopen("/proc/cpuinfo", "re");
  if (file) {
    char line[256];
    while (fgets(line, sizeof line, file)) {
      char *value = strchr(line, ':');
      if (!value || strncmp(line, "model name", 10) != 0) continue;
      value += value[1] == ' ' ? 2 : 1;
      value[strcspn(value, "\n")] = '\0';
      snprintf(name, sizeof name, "%s", value);
      break;
    }
    fclose(file);
  }
  if (!*name) snprintf(name, sizeof name, "CPU");
  snprintf(out, capacity, "%s", name);
}

/* Clears new memory with all threads: at the first write to a page the system finds and clears it, which would take
 * longer than everything else that the program does with the page at the start. */
static void clear(char *data, size_t bytes) {
  const size_t part = (size_t)1 << 24, parts = (bytes + part - 1) / part;
#pragma omp parallel for if (parts > 1)
  for (size_t i = 0; i < parts; i++) memset(data + i * part, 0, bytes - i * part < part ? bytes - i * part : part);
}

static sim_status cpu_alloc(size_t bytes, void **out) {
  *out = NULL;
  size_t rounded = (bytes + 63) & ~(size_t)63;
  if (rounded < bytes) rounded = SIZE_MAX & ~(size_t)63;
  /* Large arrays start on large pages if the system has them: strided access then needs few entries of the page table.
   * A rest that does not fill a large page stays on small ones, so that no more memory is used than was asked for. */
  enum { LARGE_PAGE = 1 << 21 };
  const bool large = rounded >= 4 * (size_t)LARGE_PAGE;
  void *data = NULL;
  if (posix_memalign(&data, large ? LARGE_PAGE : 64, rounded ? rounded : 64) != 0)
    return sim_no_memory("an array of %zu bytes", bytes);
#ifdef MADV_HUGEPAGE
  if (large) (void)madvise(data, rounded / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#endif
  clear(data, rounded);
  *out = data;
  return SIM_OK;
}

static sim_status cpu_copy(void *destination, const void *source, size_t bytes) {
  if (bytes) memcpy(destination, source, bytes);
  return SIM_OK;
}

/* Reads a number from a small file in /proc or /sys; `otherwise` if it is absent. `key` NULL: the file holds the number
 * alone; else the number follows `key` on a line. */
static double kernel_number(const char *path, const char *key, double otherwise) {
  FILE *file = fopen(path, "re");
  if (!file) return otherwise;
  char line[256];
  double number = otherwise;
  while (fgets(line, sizeof line, file)) {
    const char *at = line;
    if (key) {
      if (strncmp(line, key, strlen(key)) != 0) continue;
      at += strlen(key);
    }
    char *end;
    double value = strtod(at, &end);
    if (end != at) number = value;
    break;
  }
  fclose(file);
  return number;
}

size_t sim_host_memory_free(void) {
  double bytes = kernel_number("/proc/meminfo", "MemAvailable:", 0) * 1024;
  if (bytes <= 0) bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  double group = kernel_number("/sys/fs/cgroup/memory.max", NULL, -1);
  if (group > 0) { /* the system can reclaim file pages that are not in use */
    group -= kernel_number("/sys/fs/cgroup/memory.current", NULL, 0);
    group += kernel_number("/sys/fs/cgroup/memory.stat", "inactive_file ", 0);
    if (group < bytes) bytes = group;
  }
  return bytes > 0 ? (size_t)bytes : 0;
}

/* Bytes that this process can still allocate. */
static size_t cpu_memory_free(void) {
  double bytes = (double)sim_host_memory_free();
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    double mapped = kernel_number("/proc/self/statm", NULL, 0) * (double)sysconf(_SC_PAGESIZE);
    if ((double)limit.rlim_cur - mapped < bytes) bytes = (double)limit.rlim_cur - mapped;
  }
  return bytes > 0 ? (size_t)bytes : 0;
}

const sim_backend sim_backend_cpu = {
    .name = "cpu",
    .kind = SIM_BACKEND_CPU,
    .space = SIM_SPACE_HOST,
    .unavailable = cpu_unavailable,
    .describe = cpu_describe,
    .alloc = cpu_alloc,
    .free = free,
    .alloc_host = cpu_alloc,
    .free_host = free,
    .copy = cpu_copy,
    .memory_free = cpu_memory_free,
};
