/* Exchange of device arrays between the ranks of a run, on GPUs, in the queue of the steps. Arrays are [rows][n] of
 * 8-byte values, divided by columns: rank r has the columns from r * share on, the last ranks fewer or none.
 *
 * There are four ways. sim_exchange_create takes the first one that all ranks can use:
 * - "peer": every rank maps the memory of the others (cudaIpc), so on one host only. A rank stores its values into the
 *   others' memory and then raises a flag there; a kernel waits for the flags of all. The host never waits, and graphs
 *   may contain the exchange. The wait ends when a rank has failed or died (checked 20 times a second), and after ten
 *   minutes by the GPU's clock; both are failures of the queue (sim_queue.status).
 * - "nccl": by NCCL's send and receive, also between hosts. Graphs may contain it. The waits end when a rank has failed
 *   or died.
 * - "mpi": by an MPI library that accepts pointers to GPU memory. The host waits; graphs are not captured.
 * - "staged": through pinned host memory and sim_transport. The host waits in each call; graphs are not captured.
 *
 * SIM_COMM_PATH=peer, nccl, mpi or staged in the environment asks for one of them. For tests: with SIM_COMM_DELAY=N a
 * rank waits a random time below N microseconds before it stores. */
#ifndef SIM_ENGINE_EXCHANGE_H
#define SIM_ENGINE_EXCHANGE_H

#include "engine/comm/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sim_exchange sim_exchange;

typedef struct sim_columns {
  int rows;
  size_t n, share; /* share: most columns of a rank */
} sim_columns;

/* Bytes that create allocates in device memory, at most; about the same on the host if staged. NCCL itself takes
 * more. */
double sim_exchange_bytes(const sim_comm *comm, const sim_columns *columns);
/* Chooses a way, tries it, and logs which one is used. All ranks call it with the same columns, after the backend
 * "cuda" is open. SIM_ERR_NO_DEVICE if SIM_COMM_PATH asks for a way that is not possible, SIM_ERR_USAGE,
 * SIM_ERR_NO_MEMORY. */
sim_status sim_exchange_create(const sim_comm *comm, const sim_columns *columns, sim_exchange **out) SIM_MUST_CHECK;
/* Waits for no other rank. Memory into which other ranks may still store remains allocated until the process ends. */
void sim_exchange_destroy(sim_exchange **exchange);
/* "peer", "nccl", "mpi" or "staged". */
const char *sim_exchange_path(const sim_exchange *exchange);

/* All ranks call gather and add in the same order; the queue keeps failures.
 * gather: array[rows][n] in device memory holds this rank's columns before, and all columns afterwards, on every
 * rank. */
void sim_exchange_gather(sim_exchange *exchange, void *array);
/* The same for other columns, of which a rank has at most as many values, rows * share, as of those of create. */
void sim_exchange_gather_columns(sim_exchange *exchange, const sim_columns *columns, void *array);
/* add: array[rows][n] of int64 in device memory becomes the sum of all ranks' arrays, on every rank. */
void sim_exchange_add(sim_exchange *exchange, int64_t *array);

#ifdef __cplusplus
}
#endif

#endif
