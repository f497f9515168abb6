/* How threads wait for each other between parallel loops: they spin for a moment, then sleep.
 *
 * OpenMP libraries let a waiting thread spin for milliseconds. On a busy machine the spinning thread uses up time in
 * which the scheduler would have run the thread that it waits for. Each library reads its setting once, from the
 * environment, before main(); so the program changes the environment and starts itself again. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name, *value;
} settings[] = {
    {"GOMP_SPINCOUNT", "1000"}, /* GCC: iterations, about 10 us; overrides OMP_WAIT_POLICY */
    {"KMP_BLOCKTIME", "0"},     /* LLVM: an integer of ms; 1 ms would be longer than most loops */
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
  if (changed) (void)execv("/proc/self/exe", argv); /* if this is not allowed, threads wait as before */
}
