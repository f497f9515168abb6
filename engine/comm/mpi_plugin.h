/* The functions that `sim` needs of an MPI library, in a shared library of its own for each MPI: handles of Open MPI
 * and MPICH differ, so that a program linked with one of them excludes the other. mpi_plugin.c implements them, built
 * by the mpicc of the library; engine/comm/mpi.c loads it. The file includes nothing of `sim`.
 *
 * Calls come from several threads, one at a time (MPI_THREAD_SERIALIZED). Functions that return int return 0, or the
 * code of an MPI error for error_text. No call waits, except start, end and abort. */
#ifndef SIM_ENGINE_COMM_MPI_PLUGIN_H
#define SIM_ENGINE_COMM_MPI_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

/* A change of the struct changes the number. */
#define SIM_MPI_VERSION 1
#define SIM_MPI_SYMBOL "sim_mpi_functions"

/* An operation under way; memory of the caller, which the plugin fills. */
typedef struct sim_mpi_request {
  _Alignas(16) char handle[32];
} sim_mpi_request;

typedef struct sim_mpi_plugin {
  int version;        /* SIM_MPI_VERSION */
  const char *family; /* "openmpi", "mpich", "other": what mpi.h says of itself */
  /* Name and version of the library that was loaded: its first line, up to a comma; also before start. */
  void (*library)(char *text, size_t capacity);
  /* Whether the library says that it takes pointers to GPU memory; before start it may answer for its build only. */
  bool (*cuda_aware)(void);
  /* Joins the world. host_rank, host_size: among the ranks that share memory. */
  int (*start)(int *rank, int *size, int *host_rank, int *host_size);
  /* Leaves the world, after all operations are complete. */
  int (*end)(void);
  /* Ends all processes of the world, and the launcher with this exit code. Does not return. */
  void (*abort)(int exit_code);
  void (*error_text)(int error, char *text, size_t capacity);
  /* Begins to send to a rank, or to receive from a rank (-1: any). */
  int (*send)(const void *data, int bytes, int rank, int tag, sim_mpi_request *request);
  int (*receive)(void *data, int bytes, int rank, int tag, sim_mpi_request *request);
  /* Begins out[size][stride] := `bytes` bytes of every rank, in the order of ranks; the rest of each row is unchanged.
   * in NULL: this rank's bytes are in its place already. All ranks, in the same order. */
  int (*gather)(const void *in, int bytes, void *out, size_t stride, sim_mpi_request *request);
  int (*test)(sim_mpi_request *request, int *complete);
  /* Withdraws a receive that nothing has arrived for. */
  int (*cancel)(sim_mpi_request *request);
} sim_mpi_plugin;

#endif
