/* libsim_mpi_NAME.so: the functions of mpi_plugin.h by one MPI library. To build it for another MPI:
 *   mpicc -O2 -fPIC -shared -o libsim_mpi_NAME.so mpi_plugin.c
 * and put the file beside the program `sim`. */
#include "mpi_plugin.h"

#include <mpi.h>
#include <stdint.h>
#include <string.h>
#if defined OPEN_MPI && OPEN_MPI
#include <mpi-ext.h>
#define FAMILY "openmpi"
#elif defined MPICH_VERSION || defined I_MPI_VERSION || defined MVAPICH_VERSION
#define FAMILY "mpich" /* and libraries with the same binary interface */
#else
#define FAMILY "other"
#endif

typedef struct operation {
  MPI_Request handle;
  int bytes; /* to be received; -1: not a receive, or complete */
} operation;
_Static_assert(sizeof(operation) <= sizeof(sim_mpi_request), "a request has room for an operation");

static MPI_Request *begin(sim_mpi_request *request, int bytes) {
  operation *own = (operation *)(void *)request->handle;
  own->bytes = bytes;
  return &own->handle;
}

static void library(char *text, size_t capacity) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (MPI_Get_library_version(version, &length) != MPI_SUCCESS) length = 0;
  size_t n = 0;
  while (n < (size_t)length && version[n] && version[n] != '\n' && version[n] != ',' && n + 1 < capacity) {
    text[n] = version[n] == '\t' ? ' ' : version[n];
    n++;
  }
  text[n] = '\0';
}

static bool cuda_aware(void) {
#if defined MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

static int start(int *rank, int *size, int *host_rank, int *host_size) {
  int provided, error;
  MPI_Comm host;
  if ((error = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided)) != MPI_SUCCESS) return error;
  if ((error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)) != MPI_SUCCESS) return error;
  if (provided < MPI_THREAD_SERIALIZED) return MPI_ERR_OTHER;
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  if ((error = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host)) != MPI_SUCCESS)
    return error;
  MPI_Comm_rank(host, host_rank);
  MPI_Comm_size(host, host_size);
  return MPI_Comm_free(&host);
}

static int end(void) { return MPI_Finalize(); }

/* Aborts the world and not a duplicate: MPICH 4.0 hangs if a duplicate is aborted. */
static void abort_world(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

static void error_text(int error, char *text, size_t capacity) {
  char all[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, all, &length);
  size_t n = strcspn(all, "\n");
  if (n >= capacity) n = capacity - 1;
  memcpy(text, all, n);
  text[n] = '\0';
}

static int send(const void *data, int bytes, int rank, int tag, sim_mpi_request *request) {
  return MPI_Isend(data, bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, begin(request, -1));
}

static int receive(void *data, int bytes, int rank, int tag, sim_mpi_request *request) {
  return MPI_Irecv(data, bytes, MPI_BYTE, rank < 0 ? MPI_ANY_SOURCE : rank, tag, MPI_COMM_WORLD, begin(request, bytes));
}

static int gather(const void *in, int bytes, void *out, size_t stride, sim_mpi_request *request) {
  MPI_Datatype piece, row;
  int error;
  const void *from = in ? in : MPI_IN_PLACE;
  if ((size_t)bytes == stride)
    return MPI_Iallgather(from, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD, begin(request, -1));
  if ((error = MPI_Type_contiguous(bytes, MPI_BYTE, &piece)) != MPI_SUCCESS) return error;
  error = MPI_Type_create_resized(piece, 0, (MPI_Aint)stride, &row);
  MPI_Type_free(&piece);
  if (error != MPI_SUCCESS) return error;
  error = MPI_Type_commit(&row);
  if (error == MPI_SUCCESS)
    error = MPI_Iallgather(from, bytes, MPI_BYTE, out, 1, row, MPI_COMM_WORLD, begin(request, -1));
  MPI_Type_free(&row); /* MPI keeps the type until the operation is complete */
  return error;
}

/* A message that is too long is an error of MPI, one that is too short is none. */
static int test(sim_mpi_request *request, int *complete) {
  operation *own = (operation *)(void *)request->handle;
  MPI_Status status;
  int received = 0;
  int error = MPI_Test(&own->handle, complete, own->bytes < 0 ? MPI_STATUS_IGNORE : &status);
  if (error != MPI_SUCCESS || !*complete || own->bytes < 0) return error;
  error = MPI_Get_count(&status, MPI_BYTE, &received);
  if (error == MPI_SUCCESS && received != own->bytes) error = MPI_ERR_COUNT;
  own->bytes = -1;
  return error;
}

__attribute__((visibility("default"))) extern const sim_mpi_plugin sim_mpi_functions;
const sim_mpi_plugin sim_mpi_functions = {.version = SIM_MPI_VERSION,
                                          .family = FAMILY,
                                          .library = library,
                                          .cuda_aware = cuda_aware,
                                          .start = start,
                                          .end = end,
                                          .abort = abort_world,
                                          .error_text = error_text,
                                          .send = send,
                                          .receive = receive,
                                          .gather = gather,
                                          .test = test};
