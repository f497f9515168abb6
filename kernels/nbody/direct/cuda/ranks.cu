#include "kernels/nbody/direct/cuda/ranks.h"

#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 128 };

/* Adds parts[splits][3][n] of the bodies from `first` on, as raw_component does. */
static __global__ void merge(const double *parts, int splits, size_t n, size_t first, size_t count, double *out) {
  after_previous();
  for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < 3 * count; i += (size_t)gridDim.x * THREADS) {
    const size_t at = i / count * n + first + i % count;
    double sum = 0;
#pragma unroll 8
    for (int p = 0; p < splits; p++) sum += parts[(size_t)p * 3 * n + at];
    out[at] = sum;
  }
}

static int blocks_of(int64_t n, int bodies) { return (int)((n + bodies - 1) / bodies); }

static sim_columns columns_of(const sim_comm *comm, int64_t n, int bodies) {
  const size_t blocks = sim_comm_share(comm, (size_t)blocks_of(n, bodies));
  sim_columns columns = {3, (size_t)n, blocks * (size_t)bodies};
  return columns;
}

double nbody_cuda_share_bytes(const sim_comm *comm, int64_t n, int bodies) {
  const sim_columns columns = columns_of(comm, n, bodies);
  return sim_exchange_bytes(comm, &columns);
}

sim_status nbody_cuda_share_create(const sim_comm *comm, int64_t n, int bodies, bool forces, nbody_cuda_share *out) {
  size_t end;
  *out = {};
  out->comm = comm;
  out->n = n;
  out->bodies = bodies;
  out->blocks = blocks_of(n, bodies);
  out->first = (int)sim_comm_first(comm, (size_t)out->blocks, &end);
  out->count = (int)end - out->first;
  if (out->count < 0) out->count = 0;
  if (comm->size == 1 || !forces) return SIM_OK;
  const sim_columns columns = columns_of(comm, n, bodies);
  return sim_exchange_create(comm, &columns, &out->exchange);
}

void nbody_cuda_share_destroy(nbody_cuda_share *share) { sim_exchange_destroy(&share->exchange); }

void nbody_cuda_share_sums(const nbody_cuda_share *s, const double *parts, int splits, double *out) {
  static const sim_kernel kernel = {"nbody_merge", "force", SIM_LIMIT_BYTES};
  const int64_t first = (int64_t)s->first * s->bodies, left = s->n - first, most = (int64_t)s->count * s->bodies;
  const size_t count = (size_t)(left < most ? (left < 0 ? 0 : left) : most), all = 3 * count;
  if (s->exchange == NULL) return;
  if (parts != out && count > 0) {
    const size_t blocks = (all + THREADS - 1) / THREADS, limit = 16 * (size_t)sim_cuda_multiprocessors();
    device_launch(&kernel, 8.0 * (splits + 1) * (double)all, dim3((unsigned)(blocks < limit ? blocks : limit)), THREADS,
                  merge, parts, splits, (size_t)s->n, (size_t)first, count, out);
  }
  sim_exchange_gather(s->exchange, out);
}

void nbody_cuda_share_partials(const nbody_cuda_share *s, double *partial, int parts) {
  const size_t blocks = (size_t)s->blocks, bytes = (size_t)parts * blocks * sizeof(double);
  const size_t share = sim_comm_share(s->comm, blocks);
  if (s->comm->size == 1) return;
  double *all = (double *)malloc(bytes * (size_t)(s->comm->size + 1)),
         *own = all + (size_t)s->comm->size * parts * blocks;
  sim_status status = all == NULL ? sim_no_memory("sums over bodies") : sim_backend_cuda.copy(own, partial, bytes);
  if (status == SIM_OK) status = s->comm->ops->gather(s->comm, own, bytes, all);
  for (size_t i = 0; status == SIM_OK && i < (size_t)parts * blocks; i++)
    own[i] = all[i % blocks / share * parts * blocks + i];
  if (status == SIM_OK) status = sim_backend_cuda.copy(partial, own, bytes);
  if (status != SIM_OK) sim_cuda_failed_by(status, sim_error_last()->message);
  free(all);
}
