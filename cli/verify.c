/* sim verify FOLDER: whether the files of a run are undamaged. */
#include "cli/cli.h"
#include "cli/run/status.h"
#include "io/io.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_fault(void *context, const char *message) {
  char line[4096];
  (void)context;
  sim_text_escape(line, sizeof line, message, strlen(message));
  puts(line);
}

/* Reports a fault of status.json. */
static void status_fault(const char *folder, io_verified *count, const char *what) {
  char line[4300];
  snprintf(line, sizeof line, "%s/status.json: %s", folder, what);
  print_fault(NULL, line);
  count->faults++;
}

/* Checks that status.json does not contradict itself. */
static void check_status(const char *folder, const cli_status *status, io_verified *count) {
  static const char *const states[] = {"running", "lost", "done", "stopped", "failed"};
  const bool done = strcmp(status->state, "done") == 0;
  char what[128];
  bool known = false;
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) known |= strcmp(status->state, states[i]) == 0;
  snprintf(what, sizeof what, "the state is %s: expected running, done, stopped or failed", status->state);
  if (!known) status_fault(folder, count, what);
  if (!done) return;
  if (strlen(status->digest) != 32) status_fault(folder, count, "the run is done, and has no digest of 32 hex digits");
  snprintf(what, sizeof what, "the run is done at step %lld, and its last checkpoint is of step %lld",
           (long long)status->step, (long long)status->checkpoint_step);
  if (status->checkpoint_step >= 0 && status->checkpoint_step != status->step) status_fault(folder, count, what);
}

/* Whether the folder is that of a sweep, with folders run_0001, run_0002, ... */
static bool holds_sweep(const char *folder) {
  glob_t found;
  char pattern[4200];
  if (strpbrk(folder, "*?[\\")) return false;
  snprintf(pattern, sizeof pattern, "%s/run_[0-9]*/run.id", folder);
  const bool is = glob(pattern, 0, NULL, &found) == 0;
  globfree(&found);
  return is;
}

/* Reads status.json of a run. If it is damaged or missing, writes the reason to `fault`, and `out` has no values. */
static sim_status read_status(const char *folder, cli_status *out, char fault[4300]) {
  char path[4200];
  *fault = '\0';
  const sim_status status = cli_status_read(folder, out);
  if (status == SIM_OK) return SIM_OK;
  snprintf(path, sizeof path, "%s/run.id", folder);
  if (access(path, F_OK) == 0) {
    snprintf(path, sizeof path, "%s/status.json", folder);
    if (access(path, F_OK) == 0)
      snprintf(fault, 4300, "%s", sim_error_last()->message);
    else
      snprintf(fault, 4300, "%s: is missing", path);
    *out = (cli_status){.step = -1, .checkpoint_step = -1};
    sim_error_clear();
    return SIM_OK;
  }
  if (!holds_sweep(folder)) return status;
  return sim_fail(SIM_ERR_NO_INPUT, "%s: holds a sweep: name one of its runs, %s/run_NNNN", folder, folder);
}

static sim_status verify_folder(const char *folder) {
  cli_status status;
  io_verified count;
  char fault[4300];
  SIM_TRY(read_status(folder, &status, fault));
  const bool done = strcmp(status.state, "done") == 0, running = strcmp(status.state, "running") == 0;
  const io_expected expected = {.checkpoint_step = status.checkpoint_step,
                                .step = status.step,
                                .digest = done ? status.digest : "",
                                .done = done};
  SIM_TRY(io_verify(folder, &expected, print_fault, NULL, &count));
  if (*fault) {
    print_fault(NULL, fault);
    count.faults++;
  } else {
    check_status(folder, &status, &count);
  }
  printf("%s: %zu file%s, %zu fault%s; the run is %s%s; not looked at: texts (scenario.lua, logs)%s\n", folder,
         count.files, count.files == 1 ? "" : "s", count.faults, count.faults == 1 ? "" : "s",
         *fault ? "in a state that is not known" : status.state,
         running ? ": files that it writes from now on are not verified" : "",
         count.complete ? "" : ", and whether outputs are missing");
  if (count.faults == 0) return SIM_OK;
  return sim_fail(SIM_ERR_FAULTS, "%s: %zu fault%s in %zu files", folder, count.faults, count.faults == 1 ? "" : "s",
                  count.files);
}

sim_status cli_verify(const cli_options *options) {
  struct stat info;
  if (stat(options->target, &info) != 0 || !S_ISDIR(info.st_mode)) return cli_verify_digits(options);
  if (options->sets[0] || options->seed_given || options->threads || strcmp(options->device, "auto") != 0 ||
      options->isa_given)
    return sim_fail(SIM_ERR_USAGE, "%s is a folder: --set, --seed, --device, --threads and --isa are for a scenario",
                    options->target);
  return verify_folder(options->target);
}
