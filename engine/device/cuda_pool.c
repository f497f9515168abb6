/* Small blocks of device memory that were freed and are kept for later allocations, because cudaMalloc and cudaFree
 * wait for the device and take 0.1 ms: for a program that makes many small runs. */
#include "engine/device/cuda_parts.h"

#include "engine/device/calls.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

enum { KEPT_MAX = 16, LENT_MAX = 64 };
static const size_t kept_most = (size_t)16 << 20; /* bytes of a block */

typedef struct cuda_block {
  void *data; /* NULL: an empty place */
  size_t bytes;
} cuda_block;

static struct {
  bool on;
  pthread_mutex_t lock;
  cuda_block kept[KEPT_MAX], lent[LENT_MAX]; /* lent: blocks in use, as far as there is room to note them */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sim_cuda_keep_memory(void) { pool.on = true; }

/* Moves a block to an empty place among to[count]; false if there is none. */
static bool move_block(cuda_block *from, cuda_block *to, int count) {
  int i = 0;
  while (i < count && to[i].data != NULL) i++;
  if (i == count) return false;
  to[i] = *from;
  *from = (cuda_block){0};
  return true;
}

void *sim_cuda_pool_take(size_t bytes) {
  const size_t most = bytes < (size_t)1 << 14 ? (size_t)1 << 16 : 4 * bytes;
  cuda_block *best = NULL;
  if (!pool.on) return NULL;
  pthread_mutex_lock(&pool.lock);
  for (int i = 0; i < KEPT_MAX; i++) {
    cuda_block *b = &pool.kept[i];
    if (b->data == NULL || b->bytes < bytes || b->bytes > most) continue;
    if (best == NULL || b->bytes < best->bytes) best = b;
  }
  void *data = best != NULL ? best->data : NULL;
  if (best != NULL && !move_block(best, pool.lent, LENT_MAX)) data = NULL;
  pthread_mutex_unlock(&pool.lock);
  return data;
}

void sim_cuda_pool_note(void *data, size_t bytes) {
  if (!pool.on || bytes > kept_most) return;
  pthread_mutex_lock(&pool.lock);
  (void)move_block(&(cuda_block){data, bytes}, pool.lent, LENT_MAX);
  pthread_mutex_unlock(&pool.lock);
}

bool sim_cuda_pool_keep(void *data) {
  bool kept = false;
  if (!pool.on) return false;
  pthread_mutex_lock(&pool.lock);
  for (int i = 0; i < LENT_MAX; i++) {
    if (pool.lent[i].data != data) continue;
    kept = move_block(&pool.lent[i], pool.kept, KEPT_MAX);
    if (!kept) pool.lent[i] = (cuda_block){0};
    break;
  }
  pthread_mutex_unlock(&pool.lock);
  return kept;
}

bool sim_cuda_pool_release(void) {
  bool any = false;
  pthread_mutex_lock(&pool.lock);
  for (int i = 0; i < KEPT_MAX; i++) {
    if (pool.kept[i].data == NULL) continue;
    any = true;
    sim_cuda_call_begin(SIM_CALL_WAITS, "cudaFree");
    if (cudaFree(pool.kept[i].data) != cudaSuccess) (void)cudaGetLastError();
    sim_call_end();
    pool.kept[i] = (cuda_block){0};
  }
  pthread_mutex_unlock(&pool.lock);
  return any;
}

size_t sim_cuda_pool_bytes(void) {
  size_t sum = 0;
  pthread_mutex_lock(&pool.lock);
  for (int i = 0; i < KEPT_MAX; i++) sum += pool.kept[i].bytes;
  pthread_mutex_unlock(&pool.lock);
  return sum;
}
