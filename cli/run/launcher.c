#include "cli/run/launcher.h"

#include "engine/comm/nccl.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- launchers ---- */

static int number(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text && *text ? atoi(text) : otherwise;
}

/* A launcher inside a Slurm job starts its helpers by srun, so its processes also have srun's variables: srun is looked
 * for last. The mpirun of MPICH and its descendants sets MPI_LOCALNRANKS; srun --mpi=pmi2 also sets PMI_RANK. The tasks
 * of a Slurm step have SLURM_STEP_NUM_TASKS; a batch script and the shell of salloc do not: they have SLURM_NTASKS (the
 * batch script also SLURM_PROCID = 0), but make one run. */
cli_launcher cli_launcher_find(void) {
  const int tasks = getenv("SLURM_PROCID") ? number("SLURM_STEP_NUM_TASKS", 0) : 0;
  const bool pmi = getenv("PMI_RANK") || getenv("PMI_SIZE"), pmix = getenv("PMIX_RANK") != NULL;
  if (getenv("OMPI_COMM_WORLD_SIZE"))
    return (cli_launcher){"mpirun", "openmpi", number("OMPI_COMM_WORLD_RANK", -1), number("OMPI_COMM_WORLD_SIZE", 1),
                          true};
  if (getenv("MPI_LOCALNRANKS") || (pmi && tasks <= 1))
    return (cli_launcher){"mpirun", "mpich", number("PMI_RANK", -1), number("PMI_SIZE", 1), true};
  if (tasks > 1)
    return (cli_launcher){"srun",
                          pmix  ? "openmpi"
                          : pmi ? "mpich"
                                : NULL,
                          number("SLURM_PROCID", -1), tasks, pmi || pmix};
  if (number("PMIX_RANK", 0) > 0)
    return (cli_launcher){"mpirun", "openmpi", number("PMIX_RANK", -1), number("PMIX_RANK", 0) + 1, true};
  return (cli_launcher){.rank = 0, .size = 1};
}

/* Reads the name of a process and its parent's number; false where there is no such process. */
static bool read_process(long process, char name[32], long *parent) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%ld/stat", process);
  FILE *file = fopen(path, "re");
  const bool read = file && fgets(line, sizeof line, file);
  if (file) fclose(file);
  const char *begin = read ? strchr(line, '(') : NULL, *end = read ? strrchr(line, ')') : NULL;
  if (!begin || !end || sscanf(end, ") %*c %ld", parent) != 1) return false;
  snprintf(name, 32, "%.*s", (int)(end - begin - 1), begin + 1);
  return true;
}

/* "orted", or with more after a mark: "mpirun.openmpi". The kernel keeps 15 characters. */
static bool is_name(const char *name, const char *of) {
  const size_t length = strlen(of);
  const bool begins = strncmp(name, of, length) == 0;
  return begins && (length == 15 || name[length] < 'a' || name[length] > 'z');
}

bool cli_launcher_lives(void) {
  static const char *const names[] = {"mpirun", "mpiexec", "orterun",   "orted",           "prterun",         "prted",
                                      "prun",   "hydra",   "pmi_proxy", "hydra_pmi_proxy", "hydra_bstrap_pr", "srun",
                                      "jsrun",  "jsmd",    "flux",      "slurmstepd",      "palsd",           "aprun",
                                      "apinit", "lrun",    "mpispawn",  "psidforwarder"};
  char name[32];
  long process = (long)getppid();
  for (int depth = 0; depth < 64 && process > 0; depth++) {
    if (!read_process(process, name, &process)) return true; /* hidden: it may be one */
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
      if (is_name(name, names[k])) return true;
  }
  return false;
}

/* Whether the environment of a process says that it is its host's first: of Open MPI, MPICH or Slurm. */
static bool is_first_of_host(long process) {
  static const char *const marks[] = {"OMPI_COMM_WORLD_LOCAL_RANK=0", "MPI_LOCALRANKID=0", "SLURM_LOCALID=0"};
  char path[64], *line = NULL;
  size_t room = 0;
  bool found = false;
  snprintf(path, sizeof path, "/proc/%ld/environ", process);
  FILE *file = fopen(path, "re");
  while (file && !found && getdelim(&line, &room, '\0', file) > 0)
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) found |= strcmp(line, marks[k]) == 0;
  free(line);
  if (file) fclose(file);
  return found;
}

bool cli_launcher_first_of_host(void) { return is_first_of_host((long)getpid()); }

/* The launcher starts all processes of a host from one process. */
bool cli_launcher_fails_alone(const cli_launcher *launcher) {
  const long own = (long)getpid(), parent = (long)getppid();
  char path[96];
  bool alone = launcher->rank > 0 && is_first_of_host(own);
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", parent, parent);
  FILE *file = fopen(path, "re");
  for (long process; file && !alone && fscanf(file, "%ld", &process) == 1;)
    alone = process != own && is_first_of_host(process);
  if (file) fclose(file);
  return alone;
}

/* ---- plugins ---- */

/* Writes the folder of the program, without a slash at its end. */
static void folder(char out[4096]) {
  const ssize_t n = readlink("/proc/self/exe", out, 4095);
  out[n > 0 ? n : 0] = '\0';
  char *slash = strrchr(out, '/');
  if (slash) *slash = '\0';
}

static const char prefix[] = "libsim_mpi_", suffix[] = ".so";

/* Writes NAME of ".../libsim_mpi_NAME.so", or for another name the file name itself. */
static void name_of(const char *path, char out[32]) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const size_t n = strlen(name), around = sizeof prefix + sizeof suffix - 2;
  if (n > around && strncmp(name, prefix, sizeof prefix - 1) == 0)
    snprintf(out, 32, "%.*s", (int)(n - around), name + sizeof prefix - 1);
  else
    snprintf(out, 32, "%.31s", name);
}

int cli_mpi_list(cli_mpi found[CLI_MPI_MAX]) {
  char own[4096], pattern[8192];
  glob_t files;
  int count = 0;
  folder(own);
  snprintf(pattern, sizeof pattern, "%s/%s*%s", own, prefix, suffix);
  if (glob(pattern, 0, NULL, &files) != 0) return 0;
  for (size_t i = 0; i < files.gl_pathc && count < CLI_MPI_MAX; i++) {
    if (strlen(files.gl_pathv[i]) >= sizeof found->path) continue;
    snprintf(found[count].path, sizeof found->path, "%s", files.gl_pathv[i]);
    name_of(found[count].path, found[count].name);
    count++;
  }
  globfree(&files);
  return count;
}

/* Writes the command that builds a plugin, with the folders of this program. */
static void build_text(const char *name, char *out, size_t capacity) {
  static const char *const sources[] = {"/../share/sim/mpi", "/../../../engine/comm"}; /* installed; in build/PRESET */
  char own[4096], source[4200] = "FOLDER_OF_SIM/engine/comm";
  struct stat info;
  folder(own);
  for (int i = 1; i >= 0; i--) {
    char path[4300], real[4096];
    snprintf(path, sizeof path, "%s%s", own, sources[i]);
    if (!realpath(path, real)) continue;
    snprintf(path, sizeof path, "%s/mpi_plugin.c", real);
    if (stat(path, &info) == 0) snprintf(source, sizeof source, "%s", real);
  }
  snprintf(out, capacity, "mpicc -O2 -fPIC -shared -o %.300s/%s%s%s %.300s/mpi_plugin.c", own, prefix, name, suffix,
           source);
}

static const char *title(const char *family) {
  if (family && strcmp(family, "openmpi") == 0) return "Open MPI";
  return family && strcmp(family, "mpich") == 0 ? "MPICH" : "MPI";
}

static sim_status choose_given(const char *given, cli_mpi *chosen) {
  char own[4096];
  struct stat info;
  int n;
  folder(own);
  if (strchr(given, '/'))
    n = snprintf(chosen->path, sizeof chosen->path, "%s", given);
  else
    n = snprintf(chosen->path, sizeof chosen->path, "%s/%s%s%s", own, prefix, given, suffix);
  if (n >= (int)sizeof chosen->path || stat(chosen->path, &info) != 0)
    return sim_fail(SIM_ERR_USAGE, "SIM_MPI = \"%.200s\": no MPI plugin %.600s (sim info lists those that are there)",
                    given, chosen->path);
  name_of(chosen->path, chosen->name);
  return SIM_OK;
}

sim_status cli_mpi_choose(const cli_launcher *launcher, cli_mpi *chosen) {
  static cli_mpi found[CLI_MPI_MAX];
  const char *given = getenv("SIM_MPI");
  char command[1000], names[CLI_MPI_MAX * 34] = "";
  if (given && *given) return choose_given(given, chosen);
  const int count = cli_mpi_list(found);
  build_text(launcher->family ? launcher->family : "NAME", command, sizeof command);
  if (count == 0)
    return sim_fail(SIM_ERR_USAGE, "%s starts %d processes, and there is no MPI plugin to join them; build it: %s",
                    launcher->name, launcher->size, command);
  for (int i = 0; i < count; i++) {
    *chosen = found[i];
    if (launcher->family && strcmp(launcher->family, found[i].name) == 0) return SIM_OK;
  }
  if (count == 1 && (!launcher->family || strcmp(launcher->name, "srun") == 0)) return SIM_OK;
  for (int i = 0; i < count; i++) { /* plugins named by the user: asks each for its family */
    const sim_mpi_plugin *plugin;
    *chosen = found[i];
    if (launcher->family && sim_mpi_load(found[i].path, &plugin) == SIM_OK &&
        strcmp(plugin->family, launcher->family) == 0)
      return SIM_OK;
  }
  for (int i = 0; i < count; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.31s", i ? ", " : "", found[i].name);
  if (!launcher->family)
    return sim_fail(SIM_ERR_USAGE, "which of the MPI plugins %s is to join the %d processes of %s? set SIM_MPI to one",
                    names, launcher->size, launcher->name);
  return sim_fail(SIM_ERR_USAGE, "this %s is of %s, and there is no plugin for it (but %s); build it: %s",
                  launcher->name, title(launcher->family), names, command);
}

/* ---- the world ---- */

static char joined[192];
const char *cli_mpi_joined(void) { return joined; }

/* Writes what to use so that processes of this MPI library find each other. */
static void advice(const cli_launcher *l, const char *family, char *out, size_t capacity) {
  const bool open = strcmp(family, "openmpi") == 0;
  if (strcmp(l->name, "srun") == 0)
    snprintf(out, capacity, "srun --mpi=%s", open ? "pmix" : "pmi2");
  else
    snprintf(out, capacity, "the mpirun of %s", title(family));
}

/* True for Open MPI under the mpirun of MPICH. Its processes find each other through its own mpirun or through PMIx,
 * and MPICH's mpirun offers neither. Each process would then be alone, and Open MPI must not be started in it. All of
 * them use one folder in /tmp. The first to end removes it while another is about to use it, and Open MPI then ends
 * that process with many lines of its own. */
static bool never_joins(const cli_launcher *l, const char *family) {
  return strcmp(l->name, "mpirun") == 0 && l->family && strcmp(l->family, "mpich") == 0 &&
         strcmp(family, "openmpi") == 0 && !getenv("PMIX_RANK");
}

sim_status cli_mpi_join(const cli_launcher *launcher, sim_mpi_on_lost *lost, bool (*stopped)(void), sim_comm *comm) {
  const sim_mpi_plugin *plugin = NULL;
  cli_mpi chosen;
  char how[64] = "", library[128];
  if (launcher->size > SIM_RANKS_MAX)
    return sim_fail(SIM_ERR_USAGE, "%s has started %d processes: a run has at most %d ranks", launcher->name,
                    launcher->size, SIM_RANKS_MAX);
  const sim_status found = cli_mpi_choose(launcher, &chosen);
  if (found == SIM_OK) SIM_TRY(sim_mpi_load(chosen.path, &plugin));
  if (found == SIM_OK) advice(launcher, plugin->family, how, sizeof how);
  if (!launcher->connects)
    return sim_fail(SIM_ERR_USAGE,
                    "%s has started %d processes that cannot find each other: use %s, or --ranks 1 for as many runs of "
                    "their own",
                    launcher->name, launcher->size,
                    found == SIM_OK ? how : "srun --mpi=pmix (Open MPI) or srun --mpi=pmi2 (MPICH)");
  if (found != SIM_OK) return found;
  plugin->library(library, sizeof library);
  snprintf(joined, sizeof joined, "%.100s (plugin %s)", library, chosen.name);
  int size = 1;
  if (!never_joins(launcher, plugin->family)) {
    comm->rank = launcher->rank;
    SIM_TRY(sim_mpi_attach(plugin, lost, stopped, comm));
    if (comm->size == launcher->size) return SIM_OK;
    size = comm->size;
    if (size == 1) SIM_TRY(sim_mpi_detach(comm));
  }
  return sim_fail(
      SIM_ERR_USAGE,
      "%s has started %d processes, and the MPI plugin %s (%s) sees a world of %d: use %s, or set SIM_MPI to "
      "the plugin for this launcher",
      launcher->name, launcher->size, chosen.name, library, size, how);
}

/* ---- sim info ---- */

static void print_nccl(void) {
  const sim_nccl *nccl;
  if (sim_nccl_load(&nccl) == SIM_OK)
    printf("nccl       version %d.%d.%d\n", nccl->version / 10000, nccl->version / 100 % 100, nccl->version % 100);
  else
    printf("nccl       %s\n", sim_error_last()->message);
  sim_error_clear();
}

void cli_mpi_info(void) {
  static cli_mpi found[CLI_MPI_MAX];
  const cli_launcher launcher = cli_launcher_find();
  const int count = cli_mpi_list(found);
  char text[1000], library[128];
  cli_mpi chosen;
  build_text("NAME", text, sizeof text);
  if (count == 0) printf("mpi        no plugin; build it: %s\n", text);
  for (int i = 0; i < count; i++) {
    const sim_mpi_plugin *plugin;
    if (sim_mpi_load(found[i].path, &plugin) != SIM_OK) {
      printf("mpi        %s, not usable: %s\n", found[i].name, sim_error_last()->message);
      sim_error_clear();
      continue;
    }
    plugin->library(library, sizeof library);
    printf("mpi        %s: %s, %s\n", found[i].name, library, plugin->cuda_aware() ? "CUDA-aware" : "not CUDA-aware");
  }
  if (count > 0) printf("           for another MPI: %s\n", text);
  print_nccl();
  if (launcher.size <= 1) {
    puts("ranks      one process here: --ranks N starts N on this host, by shared memory");
  } else if (cli_mpi_choose(&launcher, &chosen) == SIM_OK) {
    printf("ranks      %d by %s, joined by the MPI plugin %s\n", launcher.size, launcher.name, chosen.name);
  } else {
    printf("ranks      none: %s\n", sim_error_last()->message);
    sim_error_clear();
  }
}
