/* The commands and the options of `sim`: what the command line is read by, and what the help prints. */
#ifndef SIM_CLI_OPTION_TABLE_H
#define SIM_CLI_OPTION_TABLE_H

#include "cli/cli.h"

/* Kinds of commands, by the options that they take. */
enum { ON_RUN = 1, ON_CHECK = 2, ON_RESUME = 4, ON_SWEEP = 8, ON_BATCH = 16, ON_BENCH = 32, CLI_KINDS = 7 };
enum { ON_SCENARIO = ON_RUN | ON_CHECK | ON_SWEEP | ON_BATCH, ON_ALL = ON_SCENARIO | ON_RESUME };

/* Number of the bit of a command; CLI_KINDS - 1: of those that take no options. */
int cli_kind(cli_command command);

typedef struct cli_command_row {
  const char *name;
  cli_command command;
  bool needs_target;
  const char *target;  /* in a message: "sim run needs a scenario file" */
  const char *usage;   /* what stands after the name */
  const char *purpose; /* one line */
  const char *more;    /* of its own help: lines that end with \n; NULL: none */
  const char *example; /* of its own help; the same */
} cli_command_row;

enum { CLI_COMMANDS = 12, CLI_OPTIONS = 32 };
extern const cli_command_row cli_commands[CLI_COMMANDS];

typedef enum cli_option_id {
  OPTION_SET,
  OPTION_AT,
  OPTION_OUTPUT,
  OPTION_FORCE,
  OPTION_RESUME,
  OPTION_DEVICE,
  OPTION_PRECISION,
  OPTION_THREADS,
  OPTION_ISA,
  OPTION_SEED,
  OPTION_WALL,
  OPTION_LUA_SECONDS,
  OPTION_JOBS,
  OPTION_ONLY,
  OPTION_YES,
  OPTION_ARRAY,
  OPTION_TIME,
  OPTION_CPUS,
  OPTION_GPUS,
  OPTION_PARTITION,
  OPTION_ACCOUNT,
  OPTION_SCHEDULER,
  OPTION_PROFILE,
  OPTION_QUICK,
  OPTION_JSON,
  OPTION_SCALING,
  OPTION_QUIET,
  OPTION_VERBOSE,
  OPTION_LOG_JSON,
  OPTION_NO_PROGRESS,
  OPTION_HELP,
  OPTION_VERSION
} cli_option_id;

typedef struct cli_option_row {
  const char *name, *other;
  cli_option_id id;
  int value; /* 0: none, 1: needed, 2: only after '=', 3: the next word where that begins with a digit */
  int where; /* kinds of commands that take it */
} cli_option_row;

extern const cli_option_row cli_option_table[CLI_OPTIONS];

/* What the help says of an option, for the kinds in `where`; an option may mean different things to two of them. */
typedef struct cli_option_help {
  cli_option_id id;
  int where;
  const char *form; /* "--set NAME=VALUE" */
  const char *text; /* lines after the first begin at the same column */
} cli_option_help;

extern const cli_option_help cli_option_helps[];
extern const size_t cli_option_help_count;

#endif
