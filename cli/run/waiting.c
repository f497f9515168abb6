/* How threads wait for each other between parallel loops: a moment awake, then asleep.
 *
 * OpenMP's libraries let a waiting thread spin for milliseconds. On an idle machine nobody notices; on a busy one the
 * spinning thread uses up the time in which the scheduler would have run the thread that it waits for. Each library
 * reads its setting once, from the environment, before main(): so the program sets it and starts itself again. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name, *value;
} settings[] = {
    {"GOMP_SPINCOUNT", "1000"}, /* GCC: turns, some 10 us; stronger than OMP_WAIT_POLICY */
    {"KMP_BLOCKTIME", "0"},     /* LLVM: ms; 1 ms is longer than most loops, and there is nothing between */
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

void cli_wait_asleep(char **argv) {
  bool changed = false;
  for (int i = 0; i < SETTINGS; i++) {
    const char *now = getenv(settings[i].name);
    if (now && strcmp(now, settings[i].value) == 0) continue;
    if (setenv(settings[i].name, settings[i].value, 1) != 0) return;
    changed = true;
  }
  if (changed) (void)execv("/proc/self/exe", argv); /* where that is not allowed, threads wait as they do */
}
