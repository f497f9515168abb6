/* Preloaded into the ranks of a launcher: on rank FAULT_RANK every allocation of FAULT_BYTES bytes by `sim` itself
 * fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t); /* dlsym itself may allocate */

__attribute__((visibility("default"))) void *malloc(size_t bytes) {
  const char *faulty = getenv("FAULT_RANK"), *size = getenv("FAULT_BYTES"), *rank = getenv("OMPI_COMM_WORLD_RANK");
  Dl_info caller;
  if (!rank) rank = getenv("PMI_RANK");
  if (rank && faulty && size && bytes == (size_t)atol(size) && atoi(rank) == atoi(faulty) &&
      dladdr(__builtin_return_address(0), &caller) != 0 && strstr(caller.dli_fname, ".so") == NULL)
    return NULL;
  return __libc_malloc(bytes);
}
