/* Exchange of device arrays between the ranks of a run, on GPUs, in the queue of the steps. Arrays are [rows][n] of
 * 8-byte values, divided by columns: rank r has the columns from r * share on, the last ranks fewer or none.
 *
 * Three ways; the first that all ranks can go is chosen once for all:
 * - "peer": every rank maps the memory of the others (cudaIpc), so on one host. A rank stores its values into the
 *   others' memory and then raises a flag there; a kernel waits for the flags of all. Nothing waits on the host, and
 *   graphs may contain it. The wait ends when a rank has failed or died (sim_transport.check, looked at 20 times a
 *   second), and after ten minutes by the GPU's clock; both are failures of the queue (sim_queue.status).
 * - "nccl": by NCCL's send and receive, also between hosts. Graphs may contain it. The waits end when a rank has failed
 *   or died.
 * - "staged": through pinned host memory and sim_transport. The host waits in each call, and graphs are not captured.
 *
 * SIM_COMM_PATH=peer, nccl or staged in the environment asks for one of them. With SIM_COMM_DELAY=N a rank waits a
 * random time below N microseconds before it stores: for tests. */
#ifndef SIM_ENGINE_EXCHANGE_H
#define SIM_ENGINE_EXCHANGE_H

#include "engine/comm/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sim_exchange sim_exchange;

typedef struct sim_columns {
  int rows;
  size_t n, share; /* share: columns of a rank, at most */
} sim_columns;

/* Bytes that create allocates in device memory at most; the same on the host if staged. NCCL takes more for itself. */
double sim_exchange_bytes(const sim_comm *comm, const sim_columns *columns);
/* All ranks call it, with the same columns, after the backend "cuda" is open. Tries the way that it takes, and says
 * which in the log. SIM_ERR_NO_DEVICE where SIM_COMM_PATH asks for what is not possible, SIM_ERR_USAGE,
 * SIM_ERR_NO_MEMORY. */
sim_status sim_exchange_create(const sim_comm *comm, const sim_columns *columns, sim_exchange **out) SIM_MUST_CHECK;
/* No rank waits for another. Memory that others may still store into stays until the process ends. */
void sim_exchange_destroy(sim_exchange **exchange);
/* "peer", "nccl" or "staged". */
const char *sim_exchange_path(const sim_exchange *exchange);

/* Both are called by all ranks in the same order; failures are kept by the queue.
 * array[rows][n] in device memory: this rank's columns are there; afterwards all columns, on every rank. */
void sim_exchange_gather(sim_exchange *exchange, void *array);
/* array[rows][n] of int64 in device memory, afterwards the sum of all ranks' arrays, on every rank. */
void sim_exchange_add(sim_exchange *exchange, int64_t *array);

#ifdef __cplusplus
}
#endif

#endif
