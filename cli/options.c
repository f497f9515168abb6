#include "cli/cli.h"
#include "cli/option_table.h"
#include "cli/batch/scheduler.h"
#include "cli/run/launcher.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024, JOBS_MAX = 4096 };
static const double longest_job = 366.0 * 86400; /* seconds */

/* ---- values ---- */

static sim_status parse_count(const char *option, const char *text, int least, int most, int *out) {
  char *end;
  errno = 0;
  long n = strtol(text, &end, 10);
  if (errno || *end || end == text || n < least || n > most)
    return sim_fail(SIM_ERR_USAGE, "%s '%s': expected an integer from %d to %d", option, text, least, most);
  *out = (int)n;
  return SIM_OK;
}

sim_status cli_parse_seed(const char *text, uint64_t *out) {
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  if (errno || *text < '0' || *text > '9' || *end)
    return sim_fail(SIM_ERR_USAGE, "--seed '%s': expected an integer from 0 to 2^64 - 1", text);
  *out = n;
  return SIM_OK;
}

static sim_status parse_job_time(const char *text, double *out) {
  *out = cli_parse_time(text);
  if (*out > 0 && strpbrk(text, ":-") == NULL) /* qsub and --wall take a bare number as seconds */
    return sim_fail(SIM_ERR_USAGE,
                    "--time %s: a bare number is minutes to sbatch and seconds to qsub; expected HH:MM:SS, "
                    "as in 01:00:00",
                    text);
  if (*out > longest_job) return sim_fail(SIM_ERR_USAGE, "--time %s: longer than a year", text);
  if (*out > 0) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE, "--time '%s': expected a time greater than 0 as HH:MM:SS or D-HH:MM:SS", text);
}

/* Parses a partition, queue or account, which is written into a line of the job script. */
static sim_status parse_name(const char *option, const char *text, const char **out) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,+@:/-";
  if (*text == '-' || strspn(text, plain) != strlen(text))
    return sim_fail(SIM_ERR_USAGE, "%s '%s': expected letters, digits and _.,+@:/-", option, text);
  *out = text;
  return SIM_OK;
}

static sim_status parse_seconds(const char *option, const char *text, double *out) {
  char *end;
  double seconds = strtod(text, &end);
  if (end == text || *end || !(seconds > 0) || !isfinite(seconds))
    return sim_fail(SIM_ERR_USAGE, "%s '%s': expected a number of seconds greater than 0", option, text);
  *out = seconds;
  return SIM_OK;
}

static sim_status parse_wall(const char *text, cli_options *out) {
  out->wall_auto = strcmp(text, "auto") == 0;
  if (out->wall_auto) return SIM_OK;
  out->wall = cli_parse_time(text);
  if (out->wall > 0) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE,
                  "--wall '%s': expected a time greater than 0 as HH:MM:SS, D-HH:MM:SS, MM:SS or an integer number of "
                  "seconds, or auto",
                  text);
}

static sim_status parse_isa(const char *text, cli_options *out) {
  if (strcmp(text, "auto") == 0) return SIM_OK;
  for (sim_isa isa = 0; isa < SIM_ISA_COUNT; isa++) {
    if (strcmp(text, sim_isa_name(isa)) != 0) continue;
    if (isa > sim_isa_best() && cli_launcher_find().size <= 1) /* all ranks together see which one lacks it */
      return sim_fail(SIM_ERR_NO_DEVICE, "--isa %s: this processor does not have it", text);
    out->isa = isa;
    out->isa_given = true;
    return SIM_OK;
  }
  return sim_fail(SIM_ERR_USAGE, "--isa '%s': expected auto, avx512, avx2 or plain", text);
}

static sim_status parse_precision(const char *text, const char **out) {
  for (sim_precision precision = SIM_SINGLE; precision < SIM_PRECISIONS; precision++) {
    if (strcmp(text, sim_precision_name(precision)) != 0) continue;
    *out = text;
    return SIM_OK;
  }
  return sim_fail(SIM_ERR_USAGE, "--precision '%s': expected single, mixed, double or half", text);
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

static sim_status unknown_option(const char *text, size_t length) {
  const char *names[CLI_OPTIONS];
  char name[64];
  for (int i = 0; i < CLI_OPTIONS; i++) names[i] = cli_options_known[i].name;
  snprintf(name, sizeof name, "%.*s", (int)length, text);
  const char *nearest = sim_nearest(name, names, CLI_OPTIONS);
  if (!nearest) return sim_fail(SIM_ERR_USAGE, "unknown option '%s' (see sim --help)", name);
  return sim_fail(SIM_ERR_USAGE, "unknown option '%s', nearest is '%s'", name, nearest);
}

static sim_status apply(cli_option_id id, const char *value, cli_options *out) {
  switch (id) {
  case OPTION_SET: return parse_set(value, out);
  case OPTION_AT: out->at = value; break;
  case OPTION_OUTPUT: out->output = value; break;
  case OPTION_FORCE: out->force = true; break;
  case OPTION_RESUME: parse_resume(value, out); break;
  case OPTION_DEVICE: out->device = value; break;
  case OPTION_PRECISION: return parse_precision(value, &out->precision);
  case OPTION_THREADS: return parse_count("--threads", value, 1, THREADS_MAX, &out->threads);
  case OPTION_RANKS: return parse_count("--ranks", value, 1, SIM_RANKS_MAX, &out->ranks);
  case OPTION_OVERSUBSCRIBE: out->oversubscribe = true; break;
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
  case OPTION_NODES: return parse_count("--nodes", value, 1, SIM_RANKS_MAX, &out->nodes);
  case OPTION_NTASKS: return parse_count("--ntasks", value, 1, SIM_RANKS_MAX, &out->ntasks);
  case OPTION_PARTITION: return parse_name("--partition", value, &out->partition);
  case OPTION_ACCOUNT: return parse_name("--account", value, &out->account);
  case OPTION_SCHEDULER: out->scheduler = value; break;
  case OPTION_LUA_SECONDS: return parse_seconds("--lua-seconds", value, &out->lua_seconds);
  case OPTION_PROFILE: out->profile = true; break;
  case OPTION_WATCH: out->watch = true; break;
  case OPTION_VALUE: out->value = value; break;
  case OPTION_QUICK: out->quick = true; break;
  case OPTION_JSON: out->json = true; break;
  case OPTION_SCALING: out->scaling = true; break;
  case OPTION_WARM: return parse_count("--warm", value, 0, INT_MAX, &out->warm);
  case OPTION_STEPS: return parse_count("--steps", value, 1, INT_MAX, &out->steps);
  case OPTION_MARKDOWN: out->markdown = true; break;
  case OPTION_MAN: out->man = true; break;
  case OPTION_QUIET: out->verbosity = -1; break;
  case OPTION_VERBOSE: out->verbosity = 1; break;
  case OPTION_LOG_JSON: out->log_json = true; break;
  case OPTION_NO_PROGRESS: out->no_progress = true; break;
  case OPTION_HELP: out->command = CLI_HELP; break;
  case OPTION_VERSION: out->command = CLI_VERSION; break;
  case CLI_OPTIONS: break;
  }
  return SIM_OK;
}

/* Whether `text`, whose name has `length` bytes, is this option. */
static bool is_option(const cli_option_row *row, const char *text, size_t length) {
  if (strlen(row->name) == length && strncmp(text, row->name, length) == 0) return true;
  return row->letter && strcmp(text, row->letter) == 0;
}

/* Parses the option at argv[*at] with its value; records its name for each command that does not accept it. */
static sim_status parse_option(int argc, char **argv, int *at, cli_options *out, const char *refused[CLI_COMMANDS]) {
  const char *text = argv[*at], *equals = strchr(text, '=');
  const size_t length = equals && text[1] == '-' ? (size_t)(equals - text) : strlen(text);
  cli_option_id id = 0;
  while (id < CLI_OPTIONS && !is_option(&cli_options_known[id], text, length)) id++;
  if (id == CLI_OPTIONS) return unknown_option(text, length);
  const cli_option_row *row = &cli_options_known[id];
  const char *value = text[length] == '=' ? text + length + 1 : NULL;
  if (value && row->value == VALUE_NONE) return sim_fail(SIM_ERR_USAGE, "%s takes no value", row->name);
  if (!value && row->value == VALUE_NEEDED) {
    if (*at + 1 >= argc) return sim_fail(SIM_ERR_USAGE, "%s needs a value", text);
    value = argv[++*at];
  }
  if (!value && row->value == VALUE_IF_DIGIT && *at + 1 < argc && isdigit((unsigned char)argv[*at + 1][0]))
    value = argv[++*at];
  if (value && !*value) return sim_fail(SIM_ERR_USAGE, "%s needs a value that is not empty", row->name);
  const int commands = cli_option_commands(id);
  for (int c = 0; c < CLI_COMMANDS; c++)
    if (!(commands & 1 << c)) refused[c] = row->name;
  if ((commands == (ON_SWEEP | ON_BATCH) && id != OPTION_ARRAY) || id == OPTION_GPUS) out->for_script = row->name;
  return apply(id, value, out);
}

/* Writes the command line quoted for a shell, cut at the capacity. */
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
  const char *names[CLI_COMMAND_ROWS];
  for (int i = 0; i < CLI_COMMAND_ROWS; i++) names[i] = cli_commands[i].name;
  return sim_nearest(word, names, CLI_COMMAND_ROWS);
}

/* Refuses a scenario whose name is that of an option, or resembles the name of a command. */
static sim_status check_scenario_name(const char *name) {
  for (int i = 0; i < CLI_OPTIONS; i++)
    if (strncmp(cli_options_known[i].name, "--", 2) == 0 && strcmp(cli_options_known[i].name + 2, name) == 0)
      return sim_fail(SIM_ERR_USAGE, "unknown command '%s': the option is --%s; a scenario file is given as ./%s", name,
                      name, name);
  const char *nearest = strchr(name, '.') || strchr(name, '/') ? NULL : nearest_command(name);
  if (!nearest || strcmp(nearest, name) == 0) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE, "unknown command '%s', nearest is '%s'; a scenario file is given as ./%s", name,
                  nearest, name);
}

/* Parses all words. The first word that is not an option is a command or a scenario, the second one its target. */
static sim_status parse_words(int argc, char **argv, cli_options *out, const char *refused[CLI_COMMANDS],
                              int *command) {
  bool only_words = false;
  for (int i = 1; i < argc; i++) {
    if (!only_words && strcmp(argv[i], "--") == 0) {
      only_words = true;
    } else if (!only_words && argv[i][0] == '-' && argv[i][1]) {
      SIM_TRY(parse_option(argc, argv, &i, out, refused));
    } else if (*command < 0) {
      for (int c = 0; c < CLI_COMMAND_ROWS && *command < 0; c++)
        if (strcmp(argv[i], cli_commands[c].name) == 0) *command = c;
      if (*command >= 0) continue;
      *command = 0;
      out->target = argv[i];
    } else if (!out->target) {
      out->target = argv[i];
      out->targets = (const char *const *)&argv[i];
      out->target_count = 1;
    } else if (cli_commands[*command].command == CLI_STATUS || cli_commands[*command].command == CLI_BENCH) {
      /* moves further folders or models next to the first one */
      const char *const *end = out->targets + out->target_count;
      char *word = argv[i], **to = argv + (end - (const char *const *)argv);
      memmove(to + 1, to, (size_t)(argv + i - to) * sizeof *to);
      *to = word;
      out->target_count++;
    } else {
      if (cli_commands[*command].command == CLI_RUN) SIM_TRY(check_scenario_name(out->target));
      return sim_fail(SIM_ERR_USAGE, "one argument too many: '%s' (see sim --help)", argv[i]);
    }
  }
  return SIM_OK;
}

/* Handles sim help COMMAND. */
static sim_status find_topic(cli_options *out) {
  for (int c = 0; c < CLI_COMMAND_ROWS; c++)
    if (strcmp(out->target, cli_commands[c].name) == 0) {
      out->about = cli_commands[c].command;
      return SIM_OK;
    }
  const char *nearest = nearest_command(out->target);
  return sim_fail(SIM_ERR_USAGE, "unknown command '%s'%s%s%s (see sim --help)", out->target,
                  nearest ? ", nearest is '" : "", nearest ? nearest : "", nearest ? "'" : "");
}

/* Checks options of sim sweep and sim batch: each must have an effect, and no two may contradict each other. */
static sim_status check_job_options(const cli_options *o) {
  if (o->command == CLI_SWEEP && !o->script) {
    if (!o->for_script) return SIM_OK;
    return sim_fail(SIM_ERR_USAGE, "%s is for the job script: add --array", o->for_script);
  }
  const char *here = o->only > 0 ? "--only" : o->jobs > 0 ? "--jobs" : o->wall_text ? "--wall" : NULL;
  if (here)
    return sim_fail(SIM_ERR_USAGE,
                    "%s cannot be combined with --array: each task is one run, which stops before the limit of its job",
                    here);
  if (o->threads > 0 && o->cpus > 0 && o->threads != o->cpus)
    return sim_fail(SIM_ERR_USAGE,
                    "--threads %d and --cpus %d: a run uses one thread on each core of its job; give only --cpus",
                    o->threads, o->cpus);
  const bool cuda = strncmp(o->device, "cuda", 4) == 0;
  if (o->gpus > 0 && strcmp(o->device, "cpu") == 0)
    return sim_fail(SIM_ERR_USAGE,
                    "--gpus %d and --device cpu: the GPU of the job would stay idle; give only one of them", o->gpus);
  if (o->gpus == 0 && cuda)
    return sim_fail(SIM_ERR_USAGE, "--gpus 0 and --device %s: the job would have no GPU; give only one of them",
                    o->device);
  return SIM_OK;
}

/* Refuses options with --json of a run that need a folder or several ranks. */
static sim_status check_json(const cli_options *o) {
  const char *other = o->output                    ? "--output"
                      : o->force                   ? "--force"
                      : o->resume != CLI_RESUME_NO ? "--resume"
                      : o->wall_text               ? "--wall"
                      : o->profile                 ? "--profile"
                      : o->watch                   ? "--watch"
                      : o->gpus >= 0               ? "--gpus"
                      : o->ranks > 0               ? "--ranks"
                                                   : NULL;
  if (o->command != CLI_RUN || !o->json || !other) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE, "--json and %s: a run with --json has no folder and one process", other);
}

/* Handles --gpus of a run: as many ranks, on GPUs. */
static sim_status check_gpus(cli_options *o) {
  if (o->gpus < 0) return SIM_OK;
  if (o->gpus == 0) return sim_fail(SIM_ERR_USAGE, "--gpus 0: expected 1 or more; --device cpu runs without a GPU");
  if (o->ranks > 0)
    return sim_fail(SIM_ERR_USAGE, "--gpus %d and --ranks %d: each GPU has one rank; give only one of them", o->gpus,
                    o->ranks);
  if (strcmp(o->device, "auto") != 0 && strcmp(o->device, "cuda") != 0)
    return sim_fail(SIM_ERR_USAGE, "--gpus %d and --device %s: give only one of them", o->gpus, o->device);
  o->ranks = o->gpus;
  o->device = "cuda";
  return SIM_OK;
}

sim_status cli_options_parse(int argc, char **argv, cli_options *out) {
  *out = (cli_options){.command = CLI_RUN,
                       .about = CLI_HELP,
                       .device = "auto",
                       .isa = sim_isa_best(),
                       .wall = INFINITY,
                       .time = NAN,
                       .gpus = -1,
                       .warm = -1,
                       .lua_seconds = 1.5};
  quote(argc, argv, out->command_line, sizeof out->command_line);
  const char *refused[CLI_COMMANDS] = {NULL};
  int command = -1;
  SIM_TRY(parse_words(argc, argv, out, refused, &command));
  if (out->command == CLI_HELP) { /* help of the named command, as in `sim run --help`, or of the program */
    out->about = command >= 0 ? cli_commands[command].command : CLI_HELP;
    return SIM_OK;
  }
  if (out->command == CLI_VERSION) return SIM_OK;
  if (command < 0) return sim_fail(SIM_ERR_USAGE, "expected a scenario file or a command (see sim --help)");
  out->command = cli_commands[command].command;
  if (out->command == CLI_HELP && out->target) {
    if (out->man || out->markdown)
      return sim_fail(SIM_ERR_USAGE, "sim help %s is of all commands: '%s'", out->man ? "--man" : "--markdown",
                      out->target);
    return find_topic(out);
  }
  if (out->command == CLI_HELP && out->man && out->markdown)
    return sim_fail(SIM_ERR_USAGE, "--man and --markdown: give only one of them");
  if (cli_commands[command].needs_target && !out->target && !out->markdown)
    return sim_fail(SIM_ERR_USAGE, "sim %s needs %s", cli_commands[command].name, cli_commands[command].target);
  if (!cli_commands[command].needs_target && out->target && out->command != CLI_BENCH)
    return sim_fail(SIM_ERR_USAGE, "sim %s takes no argument: '%s'", cli_commands[command].name, out->target);
  if (out->command == CLI_RUN) SIM_TRY(check_scenario_name(out->target));
  if (refused[out->command])
    return sim_fail(SIM_ERR_USAGE, "sim %s does not take %s (see sim %s --help)", cli_commands[command].name,
                    refused[out->command], cli_commands[command].name);
  if (out->seed_given && out->command != CLI_SWEEP) SIM_TRY(cli_parse_seed(out->seed_text, &out->seed));
  if (out->script && !out->array && out->command == CLI_BATCH)
    return sim_fail(SIM_ERR_USAGE, "--array needs numbers, as in 0-9");
  if (out->array && out->command == CLI_SWEEP)
    return sim_fail(SIM_ERR_USAGE, "--array of sim sweep takes no numbers: its tasks are the runs");
  if (out->force && out->resume != CLI_RESUME_NO)
    return sim_fail(SIM_ERR_USAGE, "--force starts a new run and --resume continues one: give only one of them");
  SIM_TRY(check_json(out));
  if (out->command == CLI_SWEEP || out->command == CLI_BATCH) return check_job_options(out);
  return check_gpus(out);
}
