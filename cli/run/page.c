/* The page of a run. Its standard input is the read end of a pipe; the page ends when the write end, which only this
 * process has, is closed. */
#include "cli/run/page.h"

#include "engine/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pid_t page;
static int life = -1; /* the write end of the pipe */

/* Starts the page in its own process group, so that Ctrl-C reaches only the run. 0 or an errno. */
static int spawn_page(const char *folder, int input) {
  char *const words[] = {"simview", "watch", "--until-eof", "--", (char *)folder, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGTERM);
  sigaddset(&defaults, SIGPIPE);
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = posix_spawnattr_init(&attributes);
  if (error != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
  if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &defaults);
  if (error == 0)
    error =
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (error == 0) error = posix_spawnp(&page, words[0], &actions, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

void cli_page_begin(const char *folder) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    sim_log(SIM_LOG_WARN, "--watch: no page: %s", strerror(errno));
    return;
  }
  const int error = spawn_page(folder, ends[0]);
  close(ends[0]);
  if (error == 0) {
    life = ends[1];
    return;
  }
  page = 0;
  close(ends[1]);
  if (error == ENOENT)
    sim_log(SIM_LOG_WARN,
            "--watch: no page: there is no program simview in PATH (docs/viewing.md says how to install it)");
  else
    sim_log(SIM_LOG_WARN, "--watch: no page: simview: %s", strerror(error));
}

void cli_page_end(void) {
  if (life < 0) return;
  close(life);
  life = -1;
  /* not waited for: the page ends at once, except while it draws */
  (void)waitpid(page, NULL, WNOHANG);
}
