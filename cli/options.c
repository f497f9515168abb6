#include "cli/cli.h"
#include "cli/scheduler.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024, JOBS_MAX = 4096 };

const char cli_help_text[] =
    "usage: sim SCENARIO.lua [options]       run a scenario (same as sim run)\n"
    "       sim check SCENARIO.lua           its faults, or memory, output and time estimates; runs nothing\n"
    "       sim resume DIR                   go on from the newest good checkpoint\n"
    "       sim sweep SCENARIO.lua           the same for a grid of parameters, side by side\n"
    "       sim batch SCENARIO.lua           print a job script that brings the run to its end on a cluster\n"
    "       sim status DIR...                how runs stand, a line each\n"
    "       sim list                         the models\n"
    "       sim describe MODEL               a model's parameters, units, defaults and outputs\n"
    "       sim new MODEL                    print a starter scenario\n"
    "       sim info                         this build, its devices and libraries\n"
    "       sim bench [MODEL...]             how fast this machine is, and what the models' kernels reach of it\n"
    "\n"
    "options of run and check\n"
    "  --set NAME=VALUE       value of a sim.param of the scenario; may be repeated\n"
    "  --precision P          single, mixed or double, in place of the scenario's\n"
    "  --seed N               seed, in place of the scenario's\n"
    "  --lua-seconds S        processor time that the scenario script may take (default 1.5)\n"
    "options of check\n"
    "  --at X=1,Y=2,...       value and derivatives of every function of the scenario at this point\n"
    "options of run\n"
    "  -o, --output DIR       output folder (default: the scenario's name with .out)\n"
    "  --force                replace an earlier run in the folder\n"
    "  --resume[=auto|FILE]   go on from the folder's newest good checkpoint (auto: or start anew; FILE: from this "
    "one)\n"
    "options of run and resume\n"
    "  --device D             auto, cpu, cuda, cuda:N or cuda:GPU-UUID (default auto; an explicit device never falls "
    "back)\n"
    "  --threads N            threads on the CPU (default: all that the system gives)\n"
    "  --isa I                auto, avx512, avx2 or plain: instruction set on the CPU (default auto)\n"
    "  --wall HH:MM:SS|auto   checkpoint and stop (exit 75) after this time; also D-HH:MM:SS, MM:SS, or seconds;\n"
    "                         auto: in time before the limit of the batch job\n"
    "  --profile              a table of where the time went, and trace.json for Perfetto; slower on a GPU\n"
    "options of sweep (and those of run that go to every run)\n"
    "  --set NAME=A,B,1..8    each of these values; so too --seed 1..8. A run for each combination\n"
    "  -o, --output DIR       folder of the sweep: a folder a run, sweep.csv (default: the scenario's name with "
    ".sweep)\n"
    "  --jobs N               runs at once (default: by cores, memory and GPUs); --threads N: of each\n"
    "  --only N               run N alone; --yes: more than 1000 runs are meant\n"
    "  --array                print the job array (Slurm) that does the same\n"
    "options of batch\n"
    "  --time HH:MM:SS        of one job; --cpus N, --gpus N (default: by the estimate)\n"
    "  --array A-B            a task for each number, which is its seed\n"
    "  --scheduler S          slurm or pbs\n"
    "options of bench (and --device, --threads, --isa)\n"
    "  --quick                in less than 20 seconds\n"
    "  --json                 as one JSON object\n"
    "  --scaling              time of a step over four decades of sizes, with the exponent\n"
    "of all\n"
    "  -q, -v                 errors only; more\n"
    "  --log-json             messages and progress as one JSON object a line\n"
    "  --no-progress          no progress bar\n"
    "  --help, --version\n"
    "\n"
    "SIGTERM, SIGUSR1, SIGHUP: checkpoint, exit 75. SIGINT: the same, then ends by the signal. SIGUSR2: checkpoint, go "
    "on.\n";

static const struct {
  const char *name;
  cli_command command;
  bool needs_target;
  const char *target;
} commands[] = {
    {"run", CLI_RUN, true, "a scenario file"},
    {"check", CLI_CHECK, true, "a scenario file"},
    {"resume", CLI_RESUME, true, "the output folder of a run"},
    {"sweep", CLI_SWEEP, true, "a scenario file"},
    {"batch", CLI_BATCH, true, "a scenario file"},
    {"status", CLI_STATUS, true, "the output folders of runs"},
    {"list", CLI_LIST, false, ""},
    {"describe", CLI_DESCRIBE, true, "a model (see sim list)"},
    {"info", CLI_INFO, false, ""},
    {"bench", CLI_BENCH, false, "models"},
    {"new", CLI_NEW, true, "a model (see sim list)"},
    {"help", CLI_HELP, false, ""},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* ---- values ---- */

static sim_status parse_count(const char *option, const char *text, int least, int most, int *out) {
  char *end;
  errno = 0;
  long n = strtol(text, &end, 10);
  if (errno || *end || end == text || n < least || n > most)
    return sim_fail(SIM_ERR_USAGE, "%s '%s': expected a whole number from %d to %d", option, text, least, most);
  *out = (int)n;
  return SIM_OK;
}

sim_status cli_parse_seed(const char *text, uint64_t *out) {
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  if (errno || *text < '0' || *text > '9' || *end)
    return sim_fail(SIM_ERR_USAGE, "--seed '%s': expected a whole number from 0 to 2^64 - 1", text);
  *out = n;
  return SIM_OK;
}

static sim_status parse_job_time(const char *text, double *out) {
  *out = cli_parse_time(text);
  if (*out > 0) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE, "--time '%s': expected a time above 0 as HH:MM:SS", text);
}

static sim_status parse_seconds(const char *option, const char *text, double *out) {
  char *end;
  double seconds = strtod(text, &end);
  if (end == text || *end || !(seconds > 0) || !isfinite(seconds))
    return sim_fail(SIM_ERR_USAGE, "%s '%s': expected a number of seconds above 0", option, text);
  *out = seconds;
  return SIM_OK;
}

static sim_status parse_wall(const char *text, cli_options *out) {
  out->wall_auto = strcmp(text, "auto") == 0;
  if (out->wall_auto) return SIM_OK;
  out->wall = cli_parse_time(text);
  if (out->wall > 0) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE, "--wall '%s': expected a time above 0 as HH:MM:SS, or auto", text);
}

static sim_status parse_isa(const char *text, cli_options *out) {
  if (strcmp(text, "auto") == 0) return SIM_OK;
  for (sim_isa isa = 0; isa < SIM_ISA_COUNT; isa++) {
    if (strcmp(text, sim_isa_name(isa)) != 0) continue;
    if (isa > sim_isa_best()) return sim_fail(SIM_ERR_NO_DEVICE, "--isa %s: this processor does not have it", text);
    out->isa = isa;
    out->isa_given = true;
    return SIM_OK;
  }
  return sim_fail(SIM_ERR_USAGE, "--isa '%s': expected auto, avx512, avx2 or plain", text);
}

static sim_status parse_precision(const char *text, const char **out) {
  for (sim_precision precision = SIM_SINGLE; precision <= SIM_DOUBLE; precision++) {
    if (strcmp(text, sim_precision_name(precision)) != 0) continue;
    *out = text;
    return SIM_OK;
  }
  return sim_fail(SIM_ERR_USAGE, "--precision '%s': expected single, mixed or double", text);
}

static sim_status parse_set(const char *text, cli_options *out) {
  size_t count = 0;
  while (out->sets[count]) count++;
  const char *equals = strchr(text, '=');
  if (!equals || equals == text) return sim_fail(SIM_ERR_USAGE, "--set '%s': expected NAME=VALUE", text);
  if (count == CLI_SETS_MAX) return sim_fail(SIM_ERR_USAGE, "more than %d --set", CLI_SETS_MAX);
  out->sets[count] = text;
  return SIM_OK;
}

static void parse_resume(const char *text, cli_options *out) {
  bool automatic = text && strcmp(text, "auto") == 0;
  out->resume = !text ? CLI_RESUME_MUST : automatic ? CLI_RESUME_AUTO : CLI_RESUME_FILE;
  out->resume_file = text;
}

/* ---- options ---- */

/* Kinds of commands, by the options that they take. */
enum { ON_RUN = 1, ON_CHECK = 2, ON_RESUME = 4, ON_SWEEP = 8, ON_BATCH = 16, ON_BENCH = 32, KINDS = 7 };
enum { ON_SCENARIO = ON_RUN | ON_CHECK | ON_SWEEP | ON_BATCH, ON_ALL = ON_SCENARIO | ON_RESUME };

typedef enum option_id {
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
} option_id;

static const struct {
  const char *name, *other;
  option_id id;
  int value; /* 0: none, 1: needed, 2: only after '=', 3: the next word where that begins with a digit */
  int where;
} options[] = {
    {"--set", NULL, OPTION_SET, 1, ON_SCENARIO},
    {"--at", NULL, OPTION_AT, 1, ON_CHECK},
    {"--output", "-o", OPTION_OUTPUT, 1, ON_SCENARIO},
    {"--force", NULL, OPTION_FORCE, 0, ON_RUN},
    {"--resume", NULL, OPTION_RESUME, 2, ON_RUN},
    {"--device", NULL, OPTION_DEVICE, 1, ON_ALL | ON_BENCH},
    {"--precision", NULL, OPTION_PRECISION, 1, ON_SCENARIO},
    {"--threads", NULL, OPTION_THREADS, 1, ON_ALL | ON_BENCH},
    {"--isa", NULL, OPTION_ISA, 1, ON_ALL | ON_BENCH},
    {"--seed", NULL, OPTION_SEED, 1, ON_SCENARIO},
    {"--wall", NULL, OPTION_WALL, 1, ON_RUN | ON_RESUME | ON_SWEEP},
    {"--lua-seconds", NULL, OPTION_LUA_SECONDS, 1, ON_SCENARIO},
    {"--jobs", NULL, OPTION_JOBS, 1, ON_SWEEP},
    {"--only", NULL, OPTION_ONLY, 1, ON_SWEEP},
    {"--yes", NULL, OPTION_YES, 0, ON_SWEEP},
    {"--array", NULL, OPTION_ARRAY, 3, ON_SWEEP | ON_BATCH},
    {"--time", NULL, OPTION_TIME, 1, ON_SWEEP | ON_BATCH},
    {"--cpus", NULL, OPTION_CPUS, 1, ON_SWEEP | ON_BATCH},
    {"--gpus", NULL, OPTION_GPUS, 1, ON_SWEEP | ON_BATCH},
    {"--scheduler", NULL, OPTION_SCHEDULER, 1, ON_SWEEP | ON_BATCH},
    {"--profile", NULL, OPTION_PROFILE, 0, ON_RUN | ON_RESUME},
    {"--quick", NULL, OPTION_QUICK, 0, ON_BENCH},
    {"--json", NULL, OPTION_JSON, 0, ON_BENCH},
    {"--scaling", NULL, OPTION_SCALING, 0, ON_BENCH},
    {"--quiet", "-q", OPTION_QUIET, 0, ON_ALL | ON_BENCH},
    {"--verbose", "-v", OPTION_VERBOSE, 0, ON_ALL | ON_BENCH},
    {"--log-json", NULL, OPTION_LOG_JSON, 0, ON_RUN | ON_RESUME},
    {"--no-progress", NULL, OPTION_NO_PROGRESS, 0, ON_RUN | ON_RESUME},
    {"--help", "-h", OPTION_HELP, 0, ~0},
    {"--version", NULL, OPTION_VERSION, 0, ~0},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static sim_status unknown_option(const char *text, size_t length) {
  const char *names[OPTIONS];
  char name[64];
  for (size_t i = 0; i < OPTIONS; i++) names[i] = options[i].name;
  snprintf(name, sizeof name, "%.*s", (int)length, text);
  const char *nearest = sim_nearest(name, names, OPTIONS);
  if (!nearest) return sim_fail(SIM_ERR_USAGE, "unknown option '%s' (see sim --help)", name);
  return sim_fail(SIM_ERR_USAGE, "unknown option '%s', nearest is '%s'", name, nearest);
}

static sim_status apply(option_id id, const char *value, cli_options *out) {
  switch (id) {
  case OPTION_SET: return parse_set(value, out);
  case OPTION_AT: out->at = value; break;
  case OPTION_OUTPUT: out->output = value; break;
  case OPTION_FORCE: out->force = true; break;
  case OPTION_RESUME: parse_resume(value, out); break;
  case OPTION_DEVICE: out->device = value; break;
  case OPTION_PRECISION: return parse_precision(value, &out->precision);
  case OPTION_THREADS: return parse_count("--threads", value, 1, THREADS_MAX, &out->threads);
  case OPTION_ISA: return parse_isa(value, out);
  case OPTION_SEED:
    out->seed_given = true;
    out->seed_text = value;
    break;
  case OPTION_WALL: out->wall_text = value; return parse_wall(value, out);
  case OPTION_JOBS: return parse_count("--jobs", value, 1, JOBS_MAX, &out->jobs);
  case OPTION_ONLY: return parse_count("--only", value, 1, INT_MAX, &out->only);
  case OPTION_YES: out->yes = true; break;
  case OPTION_ARRAY:
    out->script = true;
    out->array = value;
    break;
  case OPTION_TIME: return parse_job_time(value, &out->time);
  case OPTION_CPUS: return parse_count("--cpus", value, 1, THREADS_MAX, &out->cpus);
  case OPTION_GPUS: return parse_count("--gpus", value, 0, 64, &out->gpus);
  case OPTION_SCHEDULER: out->scheduler = value; break;
  case OPTION_LUA_SECONDS: return parse_seconds("--lua-seconds", value, &out->lua_seconds);
  case OPTION_PROFILE: out->profile = true; break;
  case OPTION_QUICK: out->quick = true; break;
  case OPTION_JSON: out->json = true; break;
  case OPTION_SCALING: out->scaling = true; break;
  case OPTION_QUIET: out->verbosity = -1; break;
  case OPTION_VERBOSE: out->verbosity = 1; break;
  case OPTION_LOG_JSON: out->log_json = true; break;
  case OPTION_NO_PROGRESS: out->no_progress = true; break;
  case OPTION_HELP: out->command = CLI_HELP; break;
  case OPTION_VERSION: out->command = CLI_VERSION; break;
  }
  return SIM_OK;
}

/* One option at argv[*at], with its value; notes its name at the kinds of command that do not take it. */
static sim_status parse_option(int argc, char **argv, int *at, cli_options *out, const char *refused[KINDS]) {
  const char *text = argv[*at], *equals = strchr(text, '=');
  size_t length = equals && text[1] == '-' ? (size_t)(equals - text) : strlen(text);
  for (size_t i = 0; i < OPTIONS; i++) {
    bool full = strlen(options[i].name) == length && strncmp(text, options[i].name, length) == 0;
    if (!full && !(options[i].other && strcmp(text, options[i].other) == 0)) continue;
    const char *value = text[length] == '=' ? text + length + 1 : NULL;
    if (value && options[i].value == 0) return sim_fail(SIM_ERR_USAGE, "%s takes no value", options[i].name);
    if (!value && options[i].value == 1) {
      if (*at + 1 >= argc) return sim_fail(SIM_ERR_USAGE, "%s needs a value", text);
      value = argv[++*at];
    }
    if (!value && options[i].value == 3 && *at + 1 < argc && isdigit((unsigned char)argv[*at + 1][0]))
      value = argv[++*at];
    if (value && !*value) return sim_fail(SIM_ERR_USAGE, "%s needs a value that is not empty", options[i].name);
    for (int c = 0; c < KINDS; c++)
      if (!(options[i].where & 1 << c)) refused[c] = options[i].name;
    return apply(options[i].id, value, out);
  }
  return unknown_option(text, length);
}

/* The command line as a shell would take it; cut where it is longer than the room. */
static void quote(int argc, char **argv, char *out, size_t capacity) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-";
  sim_bytes line = {0};
  for (int i = 0; i < argc; i++) {
    if (i) sim_bytes_text(&line, " ");
    if (*argv[i] && strspn(argv[i], plain) == strlen(argv[i])) {
      sim_bytes_text(&line, argv[i]);
      continue;
    }
    sim_bytes_text(&line, "'");
    for (const char *at = argv[i]; *at; at++)
      if (*at == '\'')
        sim_bytes_text(&line, "'\\''");
      else
        sim_bytes_add(&line, at, 1);
    sim_bytes_text(&line, "'");
  }
  snprintf(out, capacity, "%s", line.data && !line.failed ? line.data : "");
  sim_bytes_free(&line);
}

static const char *nearest_command(const char *word) {
  const char *names[COMMANDS];
  for (size_t i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
  return sim_nearest(word, names, COMMANDS);
}

/* The first word that is no option is a command or a scenario, the next one its target. */
static sim_status parse_words(int argc, char **argv, cli_options *out, const char *refused[KINDS], int *command) {
  bool only_words = false;
  for (int i = 1; i < argc; i++) {
    if (!only_words && strcmp(argv[i], "--") == 0) {
      only_words = true;
    } else if (!only_words && argv[i][0] == '-' && argv[i][1]) {
      SIM_TRY(parse_option(argc, argv, &i, out, refused));
    } else if (*command < 0) {
      for (int c = 0; c < COMMANDS && *command < 0; c++)
        if (strcmp(argv[i], commands[c].name) == 0) *command = c;
      if (*command >= 0) continue;
      *command = 0;
      out->target = argv[i];
    } else if (!out->target) {
      out->target = argv[i];
      out->targets = (const char *const *)&argv[i];
      out->target_count = 1;
    } else if (commands[*command].command == CLI_STATUS) {
      continue;                                           /* one of many folders; no options stand between */
    } else if (commands[*command].command == CLI_BENCH) { /* one of many models; they come to stand side by side */
      const char *const *end = out->targets + out->target_count;
      char *word = argv[i], **to = argv + (end - (const char *const *)argv);
      memmove(to + 1, to, (size_t)(argv + i - to) * sizeof *to);
      *to = word;
      out->target_count++;
    } else {
      return sim_fail(SIM_ERR_USAGE, "one argument too many: '%s' (see sim --help)", argv[i]);
    }
  }
  return SIM_OK;
}

static const cli_command kinds[KINDS - 1] = {CLI_RUN,   CLI_CHECK, CLI_RESUME,
                                             CLI_SWEEP, CLI_BATCH, CLI_BENCH}; /* then the others */

sim_status cli_options_parse(int argc, char **argv, cli_options *out) {
  *out = (cli_options){.command = CLI_RUN,
                       .device = "auto",
                       .isa = sim_isa_best(),
                       .wall = INFINITY,
                       .time = NAN,
                       .gpus = -1,
                       .lua_seconds = 1.5};
  quote(argc, argv, out->command_line, sizeof out->command_line);
  const char *refused[KINDS] = {NULL};
  int command = -1;
  SIM_TRY(parse_words(argc, argv, out, refused, &command));
  if (out->command == CLI_HELP || out->command == CLI_VERSION) return SIM_OK;
  if (command < 0) return sim_fail(SIM_ERR_USAGE, "expected a scenario file or a command (see sim --help)");
  out->command = commands[command].command;
  if (commands[command].needs_target && !out->target)
    return sim_fail(SIM_ERR_USAGE, "sim %s needs %s", commands[command].name, commands[command].target);
  if (!commands[command].needs_target && out->target && out->command != CLI_BENCH)
    return sim_fail(SIM_ERR_USAGE, "sim %s takes no argument: '%s'", commands[command].name, out->target);
  int kind = 0;
  while (kind < KINDS - 1 && out->command != kinds[kind]) kind++;
  if (refused[kind])
    return sim_fail(SIM_ERR_USAGE, "sim %s does not take %s (see sim --help)", commands[command].name, refused[kind]);
  if (out->seed_given && out->command != CLI_SWEEP) SIM_TRY(cli_parse_seed(out->seed_text, &out->seed));
  if (out->script && !out->array && out->command == CLI_BATCH)
    return sim_fail(SIM_ERR_USAGE, "--array needs numbers, as in 0-9");
  if (out->array && out->command == CLI_SWEEP)
    return sim_fail(SIM_ERR_USAGE, "--array of sim sweep takes no numbers: the runs are its tasks");
  if (out->force && out->resume != CLI_RESUME_NO)
    return sim_fail(SIM_ERR_USAGE, "--force starts anew and --resume goes on: give one of them");
  if (out->command == CLI_RUN && !strchr(out->target, '.') && !strchr(out->target, '/')) {
    const char *nearest = nearest_command(out->target);
    if (nearest)
      return sim_fail(SIM_ERR_USAGE, "'%s' is no command, nearest is '%s'; a scenario file is given as ./%s",
                      out->target, nearest, out->target);
  }
  return SIM_OK;
}
