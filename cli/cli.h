/* The `sim` command: the only code that depends on all others, prints, and chooses exit codes. */
#ifndef SIM_CLI_CLI_H
#define SIM_CLI_CLI_H

#include "engine/log.h"
#include "engine/run/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int cli_main(int argc, char **argv); /* returns the exit code */
/* Prints one line on stderr, as text or as a JSON object. Scenario faults contain their own file and line. */
void cli_report(sim_status status, const char *message, bool json);

/* ---- options.c ---- */

typedef enum cli_command {
  CLI_RUN,
  CLI_CHECK,
  CLI_RESUME,
  CLI_SERVE,
  CLI_SWEEP,
  CLI_BATCH,
  CLI_STATUS,
  CLI_LIST,
  CLI_DESCRIBE,
  CLI_INFO,
  CLI_BENCH,
  CLI_NEW,
  CLI_VERIFY,
  CLI_DOCTOR,
  CLI_COMPLETION,
  CLI_HELP,
  CLI_VERSION,
  CLI_COMMANDS
} cli_command;

typedef enum cli_resume_mode { CLI_RESUME_NO, CLI_RESUME_MUST, CLI_RESUME_AUTO, CLI_RESUME_FILE } cli_resume_mode;

enum { CLI_SETS_MAX = 256 };

/* The parsed command line. Strings borrow argv. */
typedef struct cli_options {
  cli_command command;
  cli_command about;          /* CLI_HELP: the command whose help is requested; CLI_HELP itself: help of the program */
  const char *target;         /* scenario, folder or model; NULL: none */
  const char *const *targets; /* [target_count]: folders of CLI_STATUS, models of CLI_BENCH or its scenario */
  int target_count;
  const char *value;                  /* CLI_STATUS: a key of status.json; NULL: print the table */
  const char *sets[CLI_SETS_MAX + 1]; /* "name=value", NULL-terminated */
  const char *output, *device, *precision, *resume_file;
  const char *at; /* CLI_CHECK: "x=1,y=2"; NULL: none */
  cli_resume_mode resume;
  sim_isa isa;
  int threads;        /* 0: automatic */
  int ranks;          /* 0: not given; --gpus N of a run sets this and device "cuda" */
  bool oversubscribe; /* several ranks may use one GPU */
  bool isa_given, seed_given;
  uint64_t seed;
  double wall;                       /* seconds; INFINITY: none */
  bool wall_auto;                    /* stop before the time limit of the batch job */
  const char *wall_text, *seed_text; /* as given; NULL: absent */
  const char *array, *scheduler;     /* CLI_BATCH; NULL: no array, slurm */
  const char *partition, *account;   /* CLI_BATCH; NULL: the cluster's default */
  double time;                       /* CLI_BATCH: time limit of the job in seconds; NaN: automatic */
  const char *for_script;            /* name of a given option that is for job scripts only; NULL: none */
  int nodes, ntasks;                 /* CLI_BATCH; 0: not given */
  int cpus, gpus, jobs, only;        /* 0 (gpus: -1): automatic; only: a sweep's run, from 1 on, 0: all */
  bool script, yes;                  /* CLI_SWEEP; script: print the job array; yes: allow many runs */
  double lua_seconds;                /* limit of the scenario script: seconds of processor time */
  int verbosity;                     /* -1: quiet, 0: normal, 1: verbose */
  bool force, log_json, no_progress, profile, watch;
  bool json;               /* CLI_RUN and CLI_BENCH */
  bool quick, scaling;     /* CLI_BENCH */
  int warm, steps;         /* CLI_BENCH; -1 and 0: automatic */
  bool markdown, man;      /* CLI_DESCRIBE and CLI_HELP: form of the text */
  char command_line[4096]; /* quoted for a shell */
} cli_options;

sim_status cli_options_parse(int argc, char **argv, cli_options *out) SIM_MUST_CHECK;
/* environment.c: SIM_ERR_USAGE if a variable of the exchange between ranks has a value that cannot be used. */
sim_status cli_environment(const cli_options *options) SIM_MUST_CHECK;
/* Parses --seed: an integer from 0 to 2^64 - 1, digits only. */
sim_status cli_parse_seed(const char *text, uint64_t *out) SIM_MUST_CHECK;

/* ---- help.c ---- */

/* Prints the help of a command: usage, options with units, an example; for CLI_HELP the help of the program. */
void cli_help(cli_command about);

/* ---- waiting.c ---- */

/* Restarts the program in the same process with settings that make idle threads sleep. Returns if the settings are
 * already there, or if a restart is not possible. Call before any thread is created or file opened. */
void cli_wait_asleep(char **argv);

/* ---- signals.c ---- */

extern sim_requests cli_requests;
void cli_signals_install(void);
int cli_signals_which(void);    /* signal that requested a stop; 0: none */
void cli_signals_end_by(int n); /* ends the process by this signal */

/* ---- terminal.c: messages and progress of a run ---- */

void cli_terminal_start(const cli_options *options);
/* Starts writing to run.log and run.jsonl; cli_terminal_stop closes the descriptors. */
void cli_terminal_files(int text, int json);
void cli_terminal_stop(void);
/* From now on cli_report adds its messages to `lines`, separated by '\n', and prints nothing; NULL: prints again. */
void cli_terminal_capture(sim_bytes *lines);
/* From now on nothing is printed: no messages, no lines of cli_say, no reports. */
void cli_terminal_mute(void);
void cli_terminal_unmute(void);
bool cli_terminal_muted(void);
void cli_terminal_progress(const sim_progress *progress, const char *work_unit);
/* Writes event "start", "done", "stopped" or "failed" for readers of run.jsonl or --log-json. digest "": none. */
void cli_terminal_event(const char *event, const sim_clock *clock, const char *digest);
/* Prints a line on stdout, unless quiet, and writes it to run.log; control characters are escaped. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Flushes stdout. Returns 0, or the errno of its first failed write. */
int cli_stdout_error(void);
/* Writes a line to run.log and run.jsonl only. */
void cli_terminal_note(sim_log_level level, const char *message);
void cli_duration(double seconds, char *out, size_t capacity);            /* "1 h 02 min" */
void cli_bytes(double bytes, char *out, size_t capacity);                 /* "12.3 MiB" */
void cli_rate(double rate, const char *unit, char *out, size_t capacity); /* "1.23e+09 interactions/s" */

/* ---- run/job.c: commands that make or describe one run ---- */

sim_status cli_run(const cli_options *options) SIM_MUST_CHECK;
sim_status cli_check(const cli_options *options) SIM_MUST_CHECK;
sim_status cli_resume(const cli_options *options) SIM_MUST_CHECK;
sim_status cli_batch(const cli_options *options) SIM_MUST_CHECK;
sim_status cli_sweep(const cli_options *options) SIM_MUST_CHECK;

/* run/values.c: a run without a folder, whose last values are printed as JSON; with cli_serve, one for each input
 * line. */
sim_status cli_run_json(const cli_options *options) SIM_MUST_CHECK;
sim_status cli_serve(const cli_options *options) SIM_MUST_CHECK;

sim_status cli_bench(const cli_options *options) SIM_MUST_CHECK;

/* ---- show.c ---- */

sim_status cli_list(void) SIM_MUST_CHECK;
sim_status cli_describe(const char *model) SIM_MUST_CHECK;
sim_status cli_new(const char *model) SIM_MUST_CHECK;
sim_status cli_info(void) SIM_MUST_CHECK;
/* markdown.c: prints the reference of one model; NULL: of everything. */
sim_status cli_markdown(const char *model) SIM_MUST_CHECK;
/* Prints commands, options and exit codes as Markdown. */
void cli_commands_markdown(void);
/* manual.c: prints the man page sim(1). */
void cli_manual(void);
/* completion.c: prints completions for bash, zsh or fish. SIM_ERR_USAGE for another shell. */
sim_status cli_completion(const char *shell) SIM_MUST_CHECK;
/* doctor.c: prints one line for each fact about this machine. SIM_ERR_FAULTS if there is a fault. */
sim_status cli_doctor(void) SIM_MUST_CHECK;
/* verify.c: checks the files of a folder, or the digits of a scenario's observables. SIM_ERR_FAULTS: faults were
 * found. */
sim_status cli_verify(const cli_options *options) SIM_MUST_CHECK;
/* verify_digits.c: prints which digits of a scenario's observables to trust. */
sim_status cli_verify_digits(const cli_options *options) SIM_MUST_CHECK;
void cli_version(void);
extern const char cli_version_text[], cli_revision_text[], cli_compiler_text[];

#endif
