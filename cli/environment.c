/* Variables of the environment that set how ranks exchange: a value that cannot be used is refused before the run. */
#include "cli/cli.h"
#include "engine/comm/fault.h"
#include "engine/device/isa.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const char *name) {
  const char *text = getenv(name);
  return text && *text ? text : NULL;
}

static sim_status check_count(const char *name, long least, long most) {
  const char *text = value_of(name);
  char *end;
  if (!text) return SIM_OK;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (errno == 0 && end != text && *end == '\0' && value >= least && value <= most) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE, "%s = \"%.64s\": expected a whole number from %ld to %ld", name, text, least, most);
}

static sim_status check_patience(void) {
  const char *text = value_of("SIM_COMM_PATIENCE");
  char *end;
  if (!text) return SIM_OK;
  const double value = strtod(text, &end);
  if (end != text && *end == '\0' && value > 0 && isfinite(value)) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE, "SIM_COMM_PATIENCE = \"%.64s\": expected a number of seconds above 0", text);
}

static sim_status check_path(void) {
  static const char *const paths[] = {"peer", "nccl", "mpi", "staged"};
  const char *text = value_of("SIM_COMM_PATH");
  for (size_t i = 0; text && i < sizeof paths / sizeof *paths; i++)
    if (strcmp(text, paths[i]) == 0) return SIM_OK;
  if (!text) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE, "SIM_COMM_PATH = \"%.64s\": expected peer, nccl, mpi or staged", text);
}

static sim_status check_fault(void) {
  const char *text = value_of("SIM_COMM_FAULT");
  for (int fault = SIM_PLANTED_NONE + 1; text && fault < SIM_PLANTED_COUNT; fault++)
    if (strcmp(text, sim_comm_planted_name((sim_planted)fault)) == 0) return SIM_OK;
  if (!text) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE, "SIM_COMM_FAULT = \"%.64s\": expected ghost, short or early", text);
}

static sim_status limit_isa(void) {
  const char *text = value_of("SIM_ISA");
  if (!text) return SIM_OK;
  for (sim_isa isa = 0; isa < SIM_ISA_COUNT; isa++) {
    if (strcmp(text, sim_isa_name(isa)) != 0) continue;
    sim_isa_limit(isa);
    return SIM_OK;
  }
  return sim_fail(SIM_ERR_USAGE, "SIM_ISA = \"%.64s\": expected avx512, avx2 or plain", text);
}

sim_status cli_environment(const cli_options *options) {
  const char *hosts = value_of("SIM_COMM_HOSTS");
  SIM_TRY(check_patience());
  SIM_TRY(check_path());
  SIM_TRY(check_fault());
  SIM_TRY(check_count("SIM_COMM_HOSTS", 1, SIM_RANKS_MAX));
  SIM_TRY(check_count("SIM_COMM_DELAY", 0, 900000));
  SIM_TRY(check_count("SIM_COMM_CHUNK", 0, LONG_MAX));
  SIM_TRY(check_count("SIM_IO_SHARED_FROM", 0, LONG_MAX));
  if (hosts && options->command != CLI_BENCH && options->ranks > 1 && atoi(hosts) > options->ranks)
    return sim_fail(SIM_ERR_USAGE, "SIM_COMM_HOSTS = %s and --ranks %d: a host without a rank", hosts, options->ranks);
  return limit_isa();
}
