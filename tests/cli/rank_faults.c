/* Preloaded into the ranks of a run: faults of one rank, FAULT_RANK. FAULT says which:
 *   ahead    its clocks are 10^6 s ahead of those of the others
 *   fast     its clocks run 100 times too fast
 *   stuck    its clocks stand still
 *   exit0, exit75  its process ends with this exit code in one of its exchanges once the file FAULT_FILE exists (with
 *            SIM_COMM_DELAY set)
 *   bits     the last bits of its pow are wrong
 *   thread1, thread2, ...  the first, second, ... thread that `sim` itself starts cannot be created
 *   late     the work after the last step takes 19 s, on rank 0 17 s: on all ranks, if the file FAULT_FILE exists
 *   hang     its main thread hangs in its exchanges once the file FAULT_FILE exists (with SIM_COMM_DELAY set); the
 *            thread that gives signs of life goes on
 *   leave    its process hangs when its libraries are taken down */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *fault = "";
static int late; /* seconds */

/* SIM_RANK=RANK:DESCRIPTOR is there before main, and so are the variables of launchers. */
__attribute__((constructor)) static void find_rank(void) {
  const char *rank = getenv("SIM_RANK"), *faulty = getenv("FAULT_RANK"), *what = getenv("FAULT");
  if (!rank) rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank) rank = getenv("PMI_RANK");
  if (rank && what && strcmp(what, "late") == 0) late = atoi(rank) == 0 ? 17 : 19;
  if (rank && faulty && what && atoi(rank) == atoi(faulty)) fault = what;
}

__attribute__((destructor)) static void hang_at_end(void) {
  while (strcmp(fault, "leave") == 0) (void)sleep(1000);
}

/* The loop joins the thread that writes outputs after the last step. */
__attribute__((visibility("default"))) int pthread_join(pthread_t thread, void **result) {
  static int (*real)(pthread_t, void **);
  const char *file = getenv("FAULT_FILE");
  if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, "pthread_join");
  for (; late > 0 && file && access(file, F_OK) == 0; late--)
    (void)syscall(SYS_nanosleep, &(struct timespec){.tv_sec = 1}, NULL);
  return real(thread, result);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *out) {
  static struct timespec first[2];
  if (syscall(SYS_clock_gettime, clock, out) != 0) return -1;
  if (!*fault || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)) return 0;
  struct timespec *begin = &first[clock == CLOCK_REALTIME];
  if (begin->tv_sec == 0) *begin = *out;
  const double passed = (double)(out->tv_sec - begin->tv_sec) + 1e-9 * (double)(out->tv_nsec - begin->tv_nsec);
  if (strcmp(fault, "ahead") == 0) out->tv_sec += 1000000;
  if (strcmp(fault, "stuck") == 0) *out = *begin;
  if (strcmp(fault, "fast") == 0) out->tv_sec = begin->tv_sec + (time_t)(100 * passed);
  return 0;
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *wanted, struct timespec *left) {
  const char *file = getenv("FAULT_FILE");
  if (strncmp(fault, "exit", 4) == 0 && file && access(file, F_OK) == 0) _exit(atoi(fault + 4));
  const bool main_thread = syscall(SYS_gettid) == getpid();
  while (main_thread && strcmp(fault, "hang") == 0 && file && access(file, F_OK) == 0) (void)sleep(1000);
  return (int)syscall(SYS_nanosleep, wanted, left);
}

__attribute__((visibility("default"))) double pow(double x, double y) {
  static double (*real)(double, double);
  if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, "pow");
  const double value = real(x, y);
  return strcmp(fault, "bits") == 0 ? nextafter(value, INFINITY) : value;
}

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *how,
                                                          void *(*work)(void *), void *context) {
  static create *real;
  static int count;
  Dl_info caller;
  if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, "pthread_create");
  const bool own = strncmp(fault, "thread", 6) == 0 && dladdr(__builtin_return_address(0), &caller) != 0 &&
                   strstr(caller.dli_fname, ".so") == NULL;
  if (own && ++count == atoi(fault + 6)) return EAGAIN;
  return real(thread, how, work, context);
}
