/* Launchers of MPI (mpirun, srun), and the plugins that join the processes which they start to the ranks of one run. */
#ifndef SIM_CLI_LAUNCHER_H
#define SIM_CLI_LAUNCHER_H

#include "cli/cli.h"
#include "engine/comm/mpi.h"

/* What the environment says about the launcher of this process. */
typedef struct cli_launcher {
  const char *name;   /* "mpirun", "srun"; NULL: none */
  const char *family; /* family of the MPI library for which it starts processes: "openmpi", "mpich"; NULL: unknown */
  int rank, size;     /* size 1: not started by a launcher; rank -1: unknown */
  bool connects;      /* the launcher offers its processes a way to find each other */
} cli_launcher;
cli_launcher cli_launcher_find(void);
/* Whether a process from which this one descends has the name of a launcher, or cannot be seen. Its variables alone may
 * have been left in a shell. */
bool cli_launcher_lives(void);
/* Whether the launcher says that this process is its host's first. */
bool cli_launcher_first_of_host(void);
/* For a process above rank 0 that has failed before it joined the others: whether no other process of this host has
 * told a failure of all, because this is its first process, or because the first one still runs. */
bool cli_launcher_fails_alone(const cli_launcher *launcher);

/* An MPI plugin in the folder of the program. */
typedef struct cli_mpi {
  char name[32], path[4096]; /* libsim_mpi_NAME.so */
} cli_mpi;
enum { CLI_MPI_MAX = 16 };
/* Lists all plugins in the order of their names; returns their number. */
int cli_mpi_list(cli_mpi found[CLI_MPI_MAX]);
/* Chooses the plugin for a launcher: $SIM_MPI (a name or a path), else the launcher's own, else the only one.
 * SIM_ERR_USAGE says which plugins there are and what to do. */
sim_status cli_mpi_choose(const cli_launcher *launcher, cli_mpi *chosen) SIM_MUST_CHECK;

/* Joins the processes of the launcher to a world. SIM_ERR_USAGE unless the world has the launcher's number of
 * processes. */
sim_status cli_mpi_join(const cli_launcher *launcher, sim_mpi_on_lost *lost, bool (*stopped)(void),
                        sim_comm *comm) SIM_MUST_CHECK;
/* Library and plugin of the world that was joined: "Open MPI v4.1.4 (plugin openmpi)". */
const char *cli_mpi_joined(void);

/* Prints the lines of `sim info` about plugins, NCCL and the ranks of a run started here. */
void cli_mpi_info(void);

#endif
