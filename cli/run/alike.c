/* What the ranks of a launcher must have in common, compared before anything else: the build of the program, the
 * command, how files are written, how GPUs exchange, the functions of the C library and the instruction set. */
#include "cli/run/ranks.h"

#include "cli/run/launcher.h"
#include "engine/device/isa.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variables that decide which exchanges a run makes. Most launchers pass no variables on to other hosts. */
static const char *const shared[] = {"SIM_IO_SHARED_FROM", "SIM_COMM_PATH"};
enum { SHARED = sizeof shared / sizeof *shared };

typedef struct card {
  char build[192], command[512], settings[SHARED][24], library[32];
  uint64_t words;     /* digest of the whole command */
  uint64_t functions; /* digest of what the C library's functions give */
  int32_t isa;        /* the widest set of this processor */
} card;

/* The C library chooses its functions by the processor, and their last bits differ: between versions too. */
static uint64_t digest_of_functions(void) {
  static double (*const functions[])(double) = {exp, exp2, log, log2, sin, cos, tan, atan, cbrt, sinh, tanh, erf};
  enum { FUNCTIONS = sizeof functions / sizeof *functions, POINTS = 2048 };
  XXH64_hash_t word = 0;
  for (int k = 0; k <= FUNCTIONS; k++) {
    double values[POINTS];
    for (int i = 0; i < POINTS; i++) {
      const double x = 0.0071234567 * (i + 1);
      values[i] = k < FUNCTIONS ? functions[k](x) : pow(x, 1.37);
    }
    word = XXH3_64bits_withSeed(values, sizeof values, word);
  }
  return word;
}

/* Skips a word of a command line that is quoted for a shell, and the blank after it. */
static const char *skip_word(const char *at) {
  for (bool quoted = false; *at && (quoted || *at != ' '); at++) {
    if (*at == '\\' && !quoted && at[1])
      at++;
    else if (*at == '\'')
      quoted = !quoted;
  }
  return *at ? at + 1 : at;
}

/* Writes the command line without the program's path and without --threads, in which ranks may differ. */
static void common_words(const char *line, sim_bytes *out) {
  static const char threads[] = "--threads";
  sim_bytes_text(out, "sim");
  for (const char *at = skip_word(line), *end; *at; at = end) {
    end = skip_word(at);
    if (strncmp(at, threads, strlen(threads)) != 0) {
      sim_bytes_text(out, " ");
      sim_bytes_add(out, at, (size_t)(end - at) - (end[-1] == ' '));
    } else if (at[strlen(threads)] != '=') {
      end = skip_word(end);
    }
  }
}

static void fill(const cli_options *o, card *c) {
  sim_bytes words = {0};
  *c = (card){.functions = digest_of_functions(), .isa = (int32_t)sim_isa_best()};
  common_words(o->command_line, &words);
  c->words = XXH3_64bits(words.data, words.size);
  snprintf(c->command, sizeof c->command, "%.*s%s", (int)fmin((double)words.size, 500), (const char *)words.data,
           words.size > 500 ? "..." : "");
  sim_bytes_free(&words);
  for (int i = 0; i < SHARED; i++) {
    const char *text = getenv(shared[i]);
    snprintf(c->settings[i], sizeof c->settings[i], "%s", text ? text : "");
  }
  snprintf(c->build, sizeof c->build, "sim %s (%s, %.100s)", cli_version_text, cli_revision_text, cli_compiler_text);
  snprintf(c->library, sizeof c->library, "%s", gnu_get_libc_version());
}

/* Fails with a line about the first rank that differs from rank 0; all ranks fail alike. */
static sim_status compare(const sim_comm *comm, const card *cards) {
  const card *first = &cards[0];
  for (int r = 1; r < comm->size; r++) {
    const card *c = &cards[r];
    const char *host = sim_mpi_host(comm, r);
    if (strcmp(c->build, first->build) != 0)
      return sim_fail(SIM_ERR_USAGE, "rank %d on %s is %s, and rank 0 on %s is %s: start one build on all hosts", r,
                      host, c->build, sim_mpi_host(comm, 0), first->build);
    if (c->words != first->words)
      return sim_fail(SIM_ERR_USAGE,
                      "rank %d on %s was started as %.300s, and rank 0 on %s as %.300s: give all ranks one command", r,
                      host, c->command, sim_mpi_host(comm, 0), first->command);
    for (int i = 0; i < SHARED; i++)
      if (strcmp(c->settings[i], first->settings[i]) != 0)
        return sim_fail(SIM_ERR_USAGE,
                        "rank %d on %s has %s = \"%s\", and rank 0 on %s \"%s\": give all ranks one (mpirun -x %s, of "
                        "MPICH -genvlist %s)",
                        r, host, shared[i], c->settings[i], sim_mpi_host(comm, 0), first->settings[i], shared[i],
                        shared[i]);
    if (strcmp(c->library, first->library) != 0 || c->functions != first->functions)
      return sim_fail(SIM_ERR_USAGE,
                      "rank %d on %s has functions of its C library (version %s) whose last bits differ from those of "
                      "rank 0 on %s (version %s): use hosts of one kind",
                      r, host, c->library, sim_mpi_host(comm, 0), first->library);
  }
  return SIM_OK;
}

static char isa_text[160];
const char *cli_ranks_isa_text(void) { return isa_text; }

sim_status cli_ranks_compare(const cli_options *options, const sim_comm *comm) {
  card own, *cards = malloc((size_t)comm->size * sizeof own);
  if (!cards) return sim_no_memory("the ranks");
  fill(options, &own);
  sim_status status = comm->ops->gather(comm, &own, sizeof own, cards);
  if (status == SIM_OK) status = compare(comm, cards);
  int least = own.isa, with = comm->rank;
  for (int r = 0; r < comm->size && status == SIM_OK; r++)
    if (cards[r].isa < least) least = cards[with = r].isa;
  free(cards);
  if (status != SIM_OK) return status;
  if (options->isa_given && (int)options->isa > least)
    return sim_fail(SIM_ERR_NO_DEVICE, "--isa %s: the processor of rank %d on %s does not have it",
                    sim_isa_name(options->isa), with, sim_mpi_host(comm, with));
  if (least == own.isa) return SIM_OK;
  sim_isa_limit((sim_isa)least);
  snprintf(isa_text, sizeof isa_text, "all ranks use %s: rank %d on %s has no wider instruction set",
           sim_isa_name((sim_isa)least), with, sim_mpi_host(comm, with));
  return SIM_OK;
}
