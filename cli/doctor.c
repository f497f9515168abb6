/* sim doctor: tells what is installed, what is missing and what to do. */
#include "cli/cli.h"

#include "build_info.h"
#include "cli/batch/scheduler.h"
#include "cli/run/launcher.h"
#include "io/io.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* GOOD: it works. ABSENT: not installed, and nothing that runs here needs it. FAULT: installed or requested, but does
 * not work. */
typedef enum finding { GOOD, ABSENT, FAULT } finding;

static int faults;

static void say(const char *subject, finding found, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void say(const char *subject, finding found, const char *format, ...) {
  static const char *const words[] = {[GOOD] = "ok", [ABSENT] = "none", [FAULT] = "FAULT"};
  char text[2048], line[2048];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  sim_text_escape(line, sizeof line, text, strlen(text));
  printf("%-8s %-5s %s\n", subject, words[found], line);
  if (found == FAULT) faults++;
}

/* Writes the path of a program in PATH; false if there is none. */
static bool find_program(const char *name, char out[4096]) {
  const char *path = getenv("PATH");
  for (size_t length; path && *path; path += length + (path[length] == ':')) {
    length = strcspn(path, ":");
    if ((size_t)snprintf(out, 4096, "%.*s/%s", (int)length, path, name) < 4096 && access(out, X_OK) == 0) return true;
  }
  return false;
}

/* Whether a program answers --version; answer[256]: the first line. */
static bool answers(char *path, char answer[256]) {
  char option[] = "--version";
  const bool good = cli_ask((char *const[]){path, option, NULL}, answer, 256);
  answer[strcspn(answer, "\r\n")] = '\0';
  return good && *answer;
}

static bool is_of_slurm(const char *path) {
  const char *name = strrchr(path, '/') + 1;
  return strcmp(name, "srun") == 0 || strcmp(name, "sbatch") == 0;
}

/* Reports whether a program that was found works. Commands of Slurm are often installed where no Slurm is set up. */
static void say_program(const char *subject, char *path, const char *use) {
  char answer[256];
  if (answers(path, answer))
    say(subject, GOOD, "%s%s", path, use);
  else if (is_of_slurm(path))
    say(subject, ABSENT, "%s --version does not answer: Slurm is installed, and not set up", path);
  else
    say(subject, FAULT, "%s --version does not answer: repair it, or put another one first in PATH", path);
}

/* Whether a version of CMake, "cmake version 3.25.1", is new enough to build the sources. */
static bool is_new_enough(const char *answer) {
  int have[2] = {0}, need[2] = {0};
  (void)sscanf(answer, "cmake version %d.%d", &have[0], &have[1]);
  (void)sscanf(SIM_CMAKE_NEEDED, "%d.%d", &need[0], &need[1]);
  return have[0] > need[0] || (have[0] == need[0] && have[1] >= need[1]);
}

/* ---- program, build ---- */

static void program(void) {
  say("program", GOOD, "sim %s (%s), built by %s, %s", SIM_VERSION, SIM_REVISION, SIM_COMPILER, SIM_BUILD_TYPE);
  say("program", GOOD, "%s", io_library_versions());
}

static void build(void) {
  static const struct {
    const char *names[3], *what;
  } tools[] = {
      {{"cc", "gcc", "clang"}, "C compiler (Debian: build-essential)"},
      {{"cmake"}, "CMake (Debian: cmake)"},
      {{"ninja", "make"}, "Ninja or Make (Debian: ninja-build)"},
  };
  char path[4096], answer[256];
  for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
    bool found = false;
    for (int k = 0; k < 3 && tools[i].names[k] && !found; k++) found = find_program(tools[i].names[k], path);
    if (!found)
      say("build", ABSENT, "no %s in PATH: only a build from the sources needs it", tools[i].what);
    else if (strcmp(tools[i].names[0], "cmake") == 0 && answers(path, answer) && !is_new_enough(answer))
      say("build", FAULT, "%s is '%s': a build from the sources needs CMake " SIM_CMAKE_NEEDED " or later", path,
          answer);
    else
      say_program("build", path, "");
  }
}

/* ---- devices ---- */

/* Whether the machine has an NVIDIA GPU, with or without a driver: a display controller (class 03) of PCI vendor 10de,
 * or a device file of the driver. */
static bool has_nvidia(void) {
  glob_t found;
  bool nvidia = glob("/dev/nvidia[0-9]*", 0, NULL, &found) == 0;
  globfree(&found);
  if (nvidia || glob("/sys/bus/pci/devices/*", 0, NULL, &found) != 0) return nvidia;
  for (size_t i = 0; i < found.gl_pathc && !nvidia; i++) {
    static const char *const names[] = {"vendor", "class"}, *const values[] = {"0x10de", "0x03"};
    int agreeing = 0;
    for (int k = 0; k < 2; k++) {
      char path[4200], text[16] = "";
      snprintf(path, sizeof path, "%s/%s", found.gl_pathv[i], names[k]);
      FILE *file = fopen(path, "re");
      if (file && fgets(text, sizeof text, file)) agreeing += strncmp(text, values[k], strlen(values[k])) == 0;
      if (file) fclose(file);
    }
    nvidia = agreeing == 2;
  }
  globfree(&found);
  return nvidia;
}

static void gpu(void) {
  const sim_backend *cuda = NULL;
  for (const sim_backend *const *backend = sim_backends; *backend; backend++)
    if ((*backend)->kind == SIM_BACKEND_CUDA) cuda = *backend;
  const char *reason = cuda ? cuda->unavailable() : "this program was built without GPU code";
  const cli_scheduler scheduler = cli_scheduler_find();
  char line[768], path[4096];
  if (!reason)
    for (int i = 0; cuda->list && cuda->list(i, line, sizeof line); i++) say("gpu", GOOD, "%s", line);
  else if (scheduler.name && scheduler.gpu)
    say("gpu", FAULT, "%s: the %s job %s was given a GPU; build with the CUDA toolkit on a host with the driver",
        reason, scheduler.name, scheduler.job);
  else if (has_nvidia())
    say("gpu", FAULT,
        "%s, and this machine has an NVIDIA GPU: install its driver (nvidia-smi must work) and the CUDA toolkit, then "
        "build again (docs/gpu.md)",
        reason);
  else
    say("gpu", ABSENT, "%s; no NVIDIA GPU was found in this machine: runs use the CPU", reason);
  char usual[] = "/usr/local/cuda/bin/nvcc";
  if (find_program("nvcc", path))
    say_program("gpu", path, ": ./dev build makes GPU code");
  else if (access(usual, X_OK) == 0)
    say_program("gpu", usual, ": ./dev build makes GPU code");
  else
    say("gpu", ABSENT, "no nvcc (CUDA toolkit): only a build with GPU code needs it");
}

static void cpu(void) {
  char name[256], memory[32];
  sim_backend_cpu.describe(name, sizeof name);
  cli_bytes((double)sim_backend_cpu.memory_free(), memory, sizeof memory);
  say("cpu", GOOD, "%s, %s, %s free", name, sim_isa_name(sim_isa_best()), memory);
  const cli_scheduler scheduler = cli_scheduler_find();
  const char *limit;
  const int cores = cli_scheduler_cores(&scheduler, 0, 1, false, &limit);
  say("cpu", GOOD, "%d core%s for this process%s%s", cores, cores == 1 ? "" : "s", limit ? ", limited by " : "",
      limit ? limit : "");
}

/* ---- several processes ---- */

static void mpi(void) {
  static cli_mpi found[CLI_MPI_MAX];
  static const char *const starters[] = {"mpirun", "mpiexec", "srun"};
  const cli_launcher launcher = cli_launcher_find();
  const int count = cli_mpi_list(found);
  char path[4096], library[128];
  cli_mpi chosen;
  for (int i = 0; i < count; i++) {
    const sim_mpi_plugin *plugin;
    if (sim_mpi_load(found[i].path, &plugin) == SIM_OK) {
      plugin->library(library, sizeof library);
      say("mpi", GOOD, "plugin %s: %s", found[i].name, library);
    } else {
      const char *message = sim_error_last()->message;
      if (strstr(message, "No such file"))
        say("mpi", ABSENT, "the plugin %s does not load, as its MPI is not installed: %s", found[i].name, message);
      else
        say("mpi", FAULT, "the plugin %s does not load: %s", found[i].name, message);
      sim_error_clear();
    }
  }
  if (count == 0) say("mpi", ABSENT, "no plugin: only runs on several hosts need one; sim info prints how to build it");
  bool any = false;
  for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
    if (!find_program(starters[i], path)) continue;
    any = true;
    say_program("mpi", path, "");
  }
  if (!any)
    say("mpi", ABSENT, "no mpirun, mpiexec or srun in PATH: --ranks N starts N processes on this host without them");
  if (launcher.size > 1 && cli_mpi_choose(&launcher, &chosen) != SIM_OK) {
    say("mpi", FAULT, "%s", sim_error_last()->message);
    sim_error_clear();
  }
}

static void slurm(void) {
  const cli_scheduler scheduler = cli_scheduler_find();
  char path[4096], how[128], text[32];
  if (find_program("sbatch", path))
    say_program("slurm", path, ": sim batch writes job scripts for Slurm");
  else if (find_program("qsub", path))
    say("slurm", GOOD, "%s: sim batch writes job scripts for PBS (--scheduler pbs)", path);
  else
    say("slurm", ABSENT, "no sbatch or qsub in PATH: only job scripts (sim batch) need one");
  if (!scheduler.name) return;
  const double left = cli_scheduler_left(&scheduler, how, sizeof how);
  cli_duration(left, text, sizeof text);
  if (isnan(left))
    say("slurm", FAULT, "%s job %s: %s gives no time limit, so --wall auto sets none; give --wall HH:MM:SS",
        scheduler.name, scheduler.job, how);
  else
    say("slurm", GOOD, "%s job %s, %s", scheduler.name, scheduler.job, isfinite(left) ? text : "without a time limit");
}

/* ---- Python ---- */

static void python(void) {
  /* Prints the version, and the modules that cannot be imported or are older than viz/pyproject.toml requires; numpy
   * and h5py alone suffice to read files. A folder in the current path that has the name of a module does not count: it
   * has no version. */
  static char script[] = "import sys\n"
                         "sys.path[:] = [p for p in sys.path if p]\n"
                         "print(sys.version.split()[0])\n"
                         "def numbers(text): return [int(n) if n.isdigit() else 0 for n in text.split('.')[:2]]\n"
                         "def lacks(name, least):\n"
                         "  try:\n"
                         "    module = __import__(name)\n"
                         "    if name == 'simview': module.open_sweep\n" /* PyPI has another program of that name */
                         "    return numbers(module.__version__) < numbers(least)\n"
                         "  except BaseException: return True\n"
                         "needed = dict(numpy='1.24', h5py='3.8', pandas='2.0', xarray='2023.1', matplotlib='3.8', "
                         "PIL='9.4', simview='0.0')\n"
                         "print(*[f'{m}>={v}' if v != '0.0' else m for m, v in needed.items() if lacks(m, v)])";
  char path[4096], answer[512], option[] = "-c";
  if (!find_program("python3", path)) {
    say("python", ABSENT, "no python3 in PATH: only plots and readers need it (Debian: python3 python3-venv)");
    return;
  }
  if (!cli_ask((char *const[]){path, option, script, NULL}, answer, sizeof answer)) {
    say("python", FAULT,
        "%s does not run, or takes too long to import packages: repair it, or put another python3 first in PATH", path);
    return;
  }
  char *missing = strchr(answer, '\n');
  if (missing) *missing++ = '\0';
  if (missing) missing[strcspn(missing, "\n")] = '\0';
  int major = 0, minor = 0;
  if (sscanf(answer, "%d.%d", &major, &minor) == 2 && (major > 3 || (major == 3 && minor >= 10)))
    say("python", GOOD, "%s, version %s", path, answer);
  else
    say("python", ABSENT, "%s is version %s: simview needs 3.10 or later", path, answer);
  if (missing && *missing)
    say("python", ABSENT,
        "cannot be imported: %s; ./dev plot brings them into a folder of its own, or, in the folder of the sources: "
        "pip install ./viz (PyPI's simview is another program)",
        missing);
  else
    say("python", GOOD, "simview and all packages that it needs");
  if (find_program("ffmpeg", path))
    say("python", GOOD, "%s: films are MP4 or WebM", path);
  else
    say("python", ABSENT, "no ffmpeg in PATH: films are made by that of the package imageio-ffmpeg, else as a GIF");
}

/* ---- files ---- */

static void files(void) {
  struct statvfs info;
  char text[32];
  char probe[] = ".sim-doctor.XXXXXX"; /* tried, because permissions do not tell: /proc, a full quota */
  const int file = mkstemp(probe);
  if (file < 0 || unlink(probe) != 0 || close(file) != 0) {
    say("files", FAULT, "the current folder cannot be written (%s): runs need -o DIR elsewhere", strerror(errno));
    return;
  }
  if (statvfs(".", &info) != 0) return;
  cli_bytes((double)info.f_bavail * (double)info.f_frsize, text, sizeof text);
  say("files", GOOD, "the current folder can be written, %s free", text);
}

sim_status cli_doctor(void) {
  program();
  build();
  cpu();
  gpu();
  mpi();
  slurm();
  python();
  files();
  if (faults == 0) return SIM_OK;
  return sim_fail(SIM_ERR_FAULTS, "%d fault%s: see the line%s with FAULT", faults, faults == 1 ? "" : "s",
                  faults == 1 ? "" : "s");
}
