/* Transport between ranks that a launcher (mpirun, srun) has started on one or more hosts, connected by a plugin for
 * their MPI library (mpi_plugin.h). A thread of each rank watches the others: a rank that dies, or is silent for
 * sim_heartbeat_limit() seconds, ends the run. */
#ifndef SIM_ENGINE_COMM_MPI_H
#define SIM_ENGINE_COMM_MPI_H

#include "engine/comm/comm.h"
#include "engine/comm/mpi_plugin.h"

enum { SIM_MPI_PATIENCE = 20 }; /* seconds after a failure in which the other ranks may stop by themselves */

/* Loads a plugin. It stays loaded. SIM_ERR_USAGE names the file and the reason. */
sim_status sim_mpi_load(const char *path, const sim_mpi_plugin **plugin) SIM_MUST_CHECK;

/* Called on the watching thread before it ends the world because this rank does not stop after a failure: on rank 0, or
 * on rank 1 if rank 0 is the rank that failed. */
typedef void sim_mpi_on_lost(sim_status status, const char *message);

/* Joins the world: once in a process. comm->rank is this process's rank as far as the launcher tells it, else 0. If not
 * all processes of the launcher join within four times sim_heartbeat_limit(), calls `lost` and ends this process with
 * SIM_ERR_RANK's exit code; likewise with SIM_ERR_STOPPED and its code once `stopped` returns true, which is asked
 * every second; rank 0 is the first to do so. SIGALRM must end the process: it is raised if the library does not leave
 * the world in time. *comm is then used from one thread, except abandon; `lost` and `stopped` may be NULL. */
sim_status sim_mpi_attach(const sim_mpi_plugin *plugin, sim_mpi_on_lost *lost, bool (*stopped)(void),
                          sim_comm *comm) SIM_MUST_CHECK;

/* Name of a rank's host, and number of hosts. All three for any transport. */
const char *sim_mpi_host(const sim_comm *comm, int rank);
/* Whether two ranks are on one host: machines of one name differ by their boot, containers of one machine by their
 * names. */
bool sim_mpi_same_host(const sim_comm *comm, int a, int b);
int sim_mpi_hosts(const sim_comm *comm);
/* Whether the MPI library says that it accepts pointers to GPU memory; false for other transports. */
bool sim_mpi_takes_device(const sim_comm *comm);
/* Whether `comm` is a transport by MPI. */
bool sim_mpi_is(const sim_comm *comm);

/* Whether abandon reaches the other ranks: from the end of sim_mpi_attach's introduction on. False for other
 * transports. */
bool sim_mpi_tells(const sim_comm *comm);

/* Whether the other ranks have ended the run, with a message, because this rank was silent. */
bool sim_mpi_given_up(const sim_comm *comm);

/* Waits for all ranks and leaves the world in order; *comm is then sim_comm_alone. After an error (a rank has failed,
 * or MPI) only sim_mpi_abort may follow. SIGALRM ends a wait that lasts longer than sim_heartbeat_limit(). */
sim_status sim_mpi_detach(sim_comm *comm) SIM_MUST_CHECK;
/* After a failure: ends the world, and the launcher with this exit code. Rank 0 ends it at once; the others wait until
 * rank 0 does, at most SIM_MPI_PATIENCE, or 2 s where no thread watches; so does rank 0 if another rank has given it
 * up. Does not return. */
_Noreturn void sim_mpi_abort(sim_comm *comm, int exit_code);

#endif
