/* Tables of the commands and options of `sim`: the parser uses them, and the help prints them. */
#ifndef SIM_CLI_OPTION_TABLE_H
#define SIM_CLI_OPTION_TABLE_H

#include "cli/cli.h"

/* Sets of commands: bit c stands for cli_command c. */
enum {
  ON_RUN = 1 << CLI_RUN,
  ON_CHECK = 1 << CLI_CHECK,
  ON_RESUME = 1 << CLI_RESUME,
  ON_SWEEP = 1 << CLI_SWEEP,
  ON_BATCH = 1 << CLI_BATCH,
  ON_STATUS = 1 << CLI_STATUS,
  ON_BENCH = 1 << CLI_BENCH,
  ON_DESCRIBE = 1 << CLI_DESCRIBE,
  ON_VERIFY = 1 << CLI_VERIFY,
  ON_SERVE = 1 << CLI_SERVE,
  ON_HELP = 1 << CLI_HELP,
  ON_SCENARIO = ON_RUN | ON_CHECK | ON_SWEEP | ON_BATCH,
  ON_MODEL = ON_SCENARIO | ON_RESUME | ON_BENCH | ON_VERIFY,
  ON_EVERY = (1 << CLI_COMMANDS) - 1
};

/* How shells complete a value: by one of these kinds of names, or by a list of words separated by blanks. */
#define COMPLETE_FOLDER "DIR"
#define COMPLETE_SCENARIO "LUA" /* a scenario file, or a folder on the path to one */
#define COMPLETE_MODEL "MODEL"
#define COMPLETE_COMMAND "COMMAND"

typedef struct cli_command_row {
  const char *name;
  cli_command command;
  bool needs_target;
  const char *target;   /* for messages: "sim run needs a scenario file" */
  const char *usage;    /* arguments after the name */
  const char *purpose;  /* one line */
  const char *more;     /* further lines of the command's help, each ended by \n; NULL: none */
  const char *example;  /* command lines, each ended by \n */
  const char *complete; /* how shells complete the arguments; NULL: not at all */
} cli_command_row;

enum { CLI_COMMAND_ROWS = 16 };
extern const cli_command_row cli_commands[CLI_COMMAND_ROWS];

typedef enum cli_option_id {
  OPTION_SET,
  OPTION_SEED,
  OPTION_PRECISION,
  OPTION_AT,
  OPTION_LUA_SECONDS,
  OPTION_OUTPUT,
  OPTION_FORCE,
  OPTION_RESUME,
  OPTION_DEVICE,
  OPTION_THREADS,
  OPTION_RANKS,
  OPTION_OVERSUBSCRIBE,
  OPTION_ISA,
  OPTION_WALL,
  OPTION_PROFILE,
  OPTION_WATCH,
  OPTION_JOBS,
  OPTION_ONLY,
  OPTION_YES,
  OPTION_ARRAY,
  OPTION_TIME,
  OPTION_CPUS,
  OPTION_GPUS,
  OPTION_NODES,
  OPTION_NTASKS,
  OPTION_PARTITION,
  OPTION_ACCOUNT,
  OPTION_SCHEDULER,
  OPTION_QUICK,
  OPTION_JSON,
  OPTION_SCALING,
  OPTION_WARM,
  OPTION_STEPS,
  OPTION_MARKDOWN,
  OPTION_MAN,
  OPTION_VALUE,
  OPTION_QUIET,
  OPTION_VERBOSE,
  OPTION_LOG_JSON,
  OPTION_NO_PROGRESS,
  OPTION_HELP,
  OPTION_VERSION,
  CLI_OPTIONS
} cli_option_id;

typedef enum cli_option_value { VALUE_NONE, VALUE_NEEDED, VALUE_AFTER_EQUALS, VALUE_IF_DIGIT } cli_option_value;

/* Meaning of an option for a set of commands. */
typedef struct cli_option_help {
  int commands;     /* 0: unused entry */
  const char *form; /* text after the name: " NAME=VALUE" */
  const char *text; /* may have several lines */
} cli_option_help;

enum { CLI_HELPS = 3 }; /* most sets of commands with a meaning of their own, per option */
typedef struct cli_option_row {
  const char *name, *letter; /* "--output", "-o"; letter NULL: none */
  cli_option_value value;
  cli_option_help help[CLI_HELPS]; /* the first entry appears in the help of the whole program */
  const char *complete;            /* how shells complete the value; NULL: not at all */
} cli_option_row;

extern const cli_option_row cli_options_known[CLI_OPTIONS]; /* indexed by cli_option_id */

/* Returns the set of the commands that accept an option. */
int cli_option_commands(cli_option_id id);

#endif
