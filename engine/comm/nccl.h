/* The functions that `sim` uses of NCCL, which moves bytes between GPUs. The library is loaded at first use; its types
 * and its header are not needed. */
#ifndef SIM_ENGINE_NCCL_H
#define SIM_ENGINE_NCCL_H

#include "engine/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Identifier of a communicator, made by one rank and given to all. */
typedef struct sim_nccl_id {
  char bytes[128];
} sim_nccl_id;

enum { SIM_NCCL_UINT64 = 5 }; /* value of ncclUint64 */

/* Functions of NCCL: they return 0, or an error for GetErrorString. `comm`: a communicator; `stream`: a
 * cudaStream_t. */
typedef struct sim_nccl {
  int (*GetVersion)(int *version);
  const char *(*GetErrorString)(int error);
  int (*GetUniqueId)(sim_nccl_id *id);
  int (*CommInitRank)(void **comm, int ranks, sim_nccl_id id, int rank);
  int (*CommAbort)(void *comm);
  int (*GroupStart)(void);
  int (*GroupEnd)(void);
  int (*Send)(const void *data, size_t count, int type, int rank, void *comm, void *stream);
  int (*Recv)(void *data, size_t count, int type, int rank, void *comm, void *stream);
  int version; /* 21805 is 2.18.5 */
} sim_nccl;

/* Loads libnccl.so.2, or the library at the path in SIM_NCCL. SIM_ERR_NO_DEVICE with the reason. */
sim_status sim_nccl_load(const sim_nccl **out) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
