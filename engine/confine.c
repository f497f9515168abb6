#include "engine/confine.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Sanitizers need address space for shadow memory, and standard error for reports. Macro of GCC, then of Clang. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static void limit(int resource, rlim_t wanted) {
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return;
  if (now.rlim_max == RLIM_INFINITY || now.rlim_max > wanted) now.rlim_max = wanted;
  if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > now.rlim_max) now.rlim_cur = now.rlim_max;
  setrlimit(resource, &now);
}

static void limit_address_space(size_t memory) {
  FILE *file = fopen("/proc/self/statm", "re");
  unsigned long pages = 0;
  const int known = file && fscanf(file, "%lu", &pages) == 1;
  if (file) fclose(file);
  if (known) limit(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + memory + ((rlim_t)256 << 20));
}

/* Sends SIGPROF after the process has used `seconds` of processor time. timer_create is exact; setitimer counts ticks,
 * which on a busy machine may be far off. */
static void start_timer(double seconds) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  struct itimerspec when = {.it_value = {.tv_sec = (time_t)seconds}};
  when.it_value.tv_nsec = (long)((seconds - (double)when.it_value.tv_sec) * 1e9);
  static timer_t timer;
  static bool made;
  if (!made) made = timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0;
  if (made) timer_settime(timer, 0, &when, NULL);
}

double sim_confined_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void sim_confine_again(double seconds) { start_timer(1.2 * seconds + 0.05); }

void sim_confine(const sim_confinement *limits) {
  const unsigned low = (unsigned)limits->keep[0], high = (unsigned)limits->keep[1];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGTSTP};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
  signal(SIGPROF, SIG_DFL);
  signal(SIGXCPU, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);

  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  if (!SANITIZED) {
    limit_address_space(limits->memory);
    if (low > 0) close_range(0, low - 1, 0);
    limit(RLIMIT_NOFILE, 0);
  }
  if (high > low + 1) close_range(low + 1, high - 1, 0);
  close_range(high + 1, ~0U, 0);
  sim_confine_again(limits->seconds);
  limit(RLIMIT_CPU, (rlim_t)limits->seconds + 3);
}
