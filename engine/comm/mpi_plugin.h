/* The functions that `sim` needs of an MPI library. Each MPI has a shared library of its own with them: handles of Open
 * MPI and MPICH differ, so that a program linked with one of the two excludes the other. mpi_plugin.c implements them,
 * built by the mpicc of the library; engine/comm/mpi.c loads it. This file includes nothing of `sim`.
 *
 * Calls come from several threads, one at a time (MPI_THREAD_SERIALIZED). Functions that return int return 0, or an MPI
 * error code for error_text. No call waits, except start, end and abort. */
#ifndef SIM_ENGINE_COMM_MPI_PLUGIN_H
#define SIM_ENGINE_COMM_MPI_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

/* Increase it with every change of struct sim_mpi_plugin. */
#define SIM_MPI_VERSION 2
#define SIM_MPI_SYMBOL "sim_mpi_functions"

/* An operation under way, in memory of the caller; the plugin fills it. */
typedef struct sim_mpi_request {
  _Alignas(16) char handle[32];
} sim_mpi_request;

typedef struct sim_mpi_plugin {
  int version;        /* SIM_MPI_VERSION */
  const char *family; /* "openmpi", "mpich", "other": the family that mpi.h declares */
  /* Writes name and version of the loaded library: the first line of its text, up to a comma. May be called before
   * start. */
  void (*library)(char *text, size_t capacity);
  /* Whether the library says that it accepts pointers to GPU memory; before start it may answer for its build only. */
  bool (*cuda_aware)(void);
  /* Joins the world. host_rank, host_size: this rank and the number of ranks among those that share memory. */
  int (*start)(int *rank, int *size, int *host_rank, int *host_size);
  /* Leaves the world; all operations must be complete. */
  int (*end)(void);
  /* Ends all processes of the world, and the launcher with this exit code. Does not return. */
  void (*abort)(int exit_code);
  void (*error_text)(int error, char *text, size_t capacity);
  /* Begin to send to a rank, or to receive from a rank (-1: any rank). */
  int (*send)(const void *data, int bytes, int rank, int tag, sim_mpi_request *request);
  int (*receive)(void *data, int bytes, int rank, int tag, sim_mpi_request *request);
  /* Begins to gather `bytes` bytes of every rank into out[size][stride], in the order of ranks; the rest of each row is
   * unchanged. With `in` NULL this rank's bytes are in `out` already. All ranks call it, in the same order. */
  int (*gather)(const void *in, int bytes, void *out, size_t stride, sim_mpi_request *request);
  /* A receive of fewer bytes than it was begun for is an error. */
  int (*test)(sim_mpi_request *request, int *complete);
} sim_mpi_plugin;

#endif
