#include "cli/cli.h"

#include "cli/bench/bench.h"
#include "cli/run/launcher.h"
#include "cli/run/ranks.h"
#include "cli/run/status.h"
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Opens missing standard descriptors, so that no file of the program gets one of them. Writing to a closed stdout still
 * fails. */
static bool fill_standard_descriptors(void) {
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) < 0) return false;
  return true;
}

static void print_help(const cli_options *options) {
  if (options->man)
    cli_manual();
  else if (options->markdown)
    cli_commands_markdown();
  else
    cli_help(options->about);
}

static sim_status dispatch(const cli_options *options) {
  switch (options->command) {
  case CLI_RUN: return options->json ? cli_run_json(options) : cli_run(options);
  case CLI_SERVE: return cli_serve(options);
  case CLI_CHECK: return cli_check(options);
  case CLI_RESUME: return cli_resume(options);
  case CLI_SWEEP: return cli_sweep(options);
  case CLI_BATCH: return cli_batch(options);
  case CLI_STATUS: return cli_status_show(options);
  case CLI_LIST: return cli_list();
  case CLI_DESCRIBE: return options->markdown ? cli_markdown(options->target) : cli_describe(options->target);
  case CLI_NEW: return cli_new(options->target);
  case CLI_INFO: return cli_info();
  case CLI_BENCH: return cli_bench(options);
  case CLI_VERIFY: return cli_verify(options);
  case CLI_DOCTOR: return cli_doctor();
  case CLI_COMPLETION: return cli_completion(options->target);
  case CLI_HELP: print_help(options); return SIM_OK;
  case CLI_VERSION: cli_version(); return SIM_OK;
  case CLI_COMMANDS: break;
  }
  return SIM_OK;
}

static void report(sim_status status, const cli_options *options) {
  const sim_error *error = sim_error_last();
  if (status == SIM_ERR_STOPPED || status == SIM_OK || !*error->message) return; /* reported already */
  if (status == SIM_ERR_INTERNAL)
    sim_fail_context("internal error at %s:%d, please report it", error->file, error->line);
  if (cli_terminal_muted() || !cli_ranks_speak()) return;
  cli_report(status, error->message, options->log_json);
  if (options->verbosity > 0) fprintf(stderr, "sim: raised at %s:%d\n", error->file, error->line);
}

/* Whether the printed text is the result; the result of a run or a sweep is its files. */
static bool shows(const cli_options *options) {
  if (options->command == CLI_SWEEP) return options->script;
  return (options->command != CLI_RUN || options->json) && options->command != CLI_RESUME;
}

/* Whether the command runs parallel loops, in this process or in ones that it starts. */
static bool computes(const cli_options *options) {
  return options->command == CLI_RUN || options->command == CLI_RESUME || options->command == CLI_SWEEP ||
         options->command == CLI_BENCH || options->command == CLI_VERIFY || options->command == CLI_SERVE;
}

/* Whether the command makes a run, which may have several ranks. */
static bool runs(const cli_options *options) {
  return options->command == CLI_RUN || options->command == CLI_RESUME ||
         (options->command == CLI_BENCH && options->ranks > 0);
}

/* Gets this process's rank from sim --ranks, or from a launcher of MPI. *done: another process does the command. */
static sim_status find_ranks(const cli_options *options, bool *done) {
  *done = false;
  if (runs(options)) SIM_TRY(cli_ranks_attach());
  return cli_comm()->size == 1 ? cli_ranks_join(options, done) : SIM_OK;
}

int cli_main(int argc, char **argv) {
  if (!fill_standard_descriptors()) return sim_status_exit_code(SIM_ERR_IO);
  static cli_options options;
  sim_status status = cli_options_parse(argc, argv, &options);
  if (status == SIM_OK && computes(&options)) status = cli_environment(&options);
  if (status != SIM_OK && options.ranks == 0 && cli_launcher_find().rank > 0 && cli_launcher_lives())
    cli_terminal_mute(); /* only one process prints */
  if (status == SIM_OK && computes(&options)) cli_wait_asleep(argv);
  cli_signals_install(); /* after the restart of the program, in which requests would be lost */
  bool done = false;
  if (status == SIM_OK) status = find_ranks(&options, &done);
  if (done) return sim_status_exit_code(status);
  if (status == SIM_OK && runs(&options) && !cli_ranks_started()) {
    if (options.command == CLI_BENCH) return cli_bench_launch(&options, argv);
    if (options.ranks > 1) return cli_ranks_launch(&options, argv);
  }
  if (status == SIM_OK) status = io_init();
  if (status == SIM_OK) status = dispatch(&options);
  const int unwritten = cli_stdout_error();
  if (unwritten && shows(&options) && status == SIM_OK) {
    status = sim_fail(SIM_ERR_IO, "cannot write to standard output: %s", strerror(unwritten));
    if (unwritten == EPIPE) sim_error_clear(); /* the reader has closed the pipe */
  }
  report(status, &options);
  cli_ranks_leave(status, options.log_json);
  if (status == SIM_ERR_STOPPED && cli_signals_which() == SIGINT) cli_signals_end_by(SIGINT);
  return sim_status_exit_code(status);
}
