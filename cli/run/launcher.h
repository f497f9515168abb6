/* Launchers of MPI (mpirun, srun), and the plugins by which the processes that they start become the ranks of one run.
 */
#ifndef SIM_CLI_LAUNCHER_H
#define SIM_CLI_LAUNCHER_H

#include "cli/cli.h"
#include "engine/comm/mpi.h"

/* What the environment says of the launcher of this process. */
typedef struct cli_launcher {
  const char *name;   /* "mpirun", "srun"; NULL: none */
  const char *family; /* of the MPI library that it serves: "openmpi", "mpich"; NULL: unknown */
  int rank, size;     /* size 1: started alone; rank -1: unknown */
  bool connects;      /* it offers the processes a way to find each other */
} cli_launcher;
cli_launcher cli_launcher_find(void);

/* One plugin beside the program. */
typedef struct cli_mpi {
  char name[32], path[4096]; /* libsim_mpi_NAME.so */
} cli_mpi;
enum { CLI_MPI_MAX = 16 };
/* All of them, in the order of names. */
int cli_mpi_list(cli_mpi found[CLI_MPI_MAX]);
/* The plugin for a launcher: $SIM_MPI (a name or a path), else the launcher's own, else the only one. SIM_ERR_USAGE
 * says what is there and what to do. */
sim_status cli_mpi_choose(const cli_launcher *launcher, cli_mpi *chosen) SIM_MUST_CHECK;

/* Joins the processes of the launcher to a world. SIM_ERR_USAGE unless it is of the size that the launcher says. */
sim_status cli_mpi_join(const cli_launcher *launcher, sim_mpi_on_lost *lost, sim_comm *comm) SIM_MUST_CHECK;
/* "openmpi, Open MPI v4.1.4": the plugin that has joined. */
const char *cli_mpi_joined(void);

/* Lines of `sim info` on plugins, NCCL and what a run here would use. */
void cli_mpi_info(void);

#endif
