/* Memory shared by all ranks of one host: an unnamed file, which rank 0 creates and the others open through its
 * descriptor. */
#include "engine/comm/comm.h"
#include "engine/log.h"
#include "engine/wall_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* from Linux 5.14 on */
#endif

/* Process and descriptor by which rank 0 has the file. `mark` is at the file's beginning until all ranks have compared
 * it: a rank in another process namespace might open another file. */
typedef struct place {
  long process;
  int descriptor; /* -1: none */
  unsigned char mark[16];
} place;

static void make_mark(unsigned char mark[16]) {
  const double now = sim_wall_clock();
  const long process = (long)getpid();
  memcpy(mark, &now, sizeof now);
  memcpy(mark + 8, &process, sizeof process);
}

static int open_place(const place *at, size_t bytes) {
  struct stat info;
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", at->process, at->descriptor);
  const int descriptor = at->descriptor < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (descriptor >= 0 && fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == (off_t)bytes)
    return descriptor;
  if (descriptor >= 0) (void)close(descriptor);
  return -1;
}

static void *map(int descriptor, size_t bytes) {
  void *memory = descriptor < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return NULL;
  (void)madvise(memory, bytes, MADV_HUGEPAGE); /* where the system has large pages for such files */
  return memory;
}

/* Allocates the pages of bytes [first, end) of each of `count` arrays now. Without that a store to a page for which the
 * system has no memory would end the process. Systems without this call allocate pages at the first store. */
static bool reserve(char *memory, size_t count, size_t each, size_t first, size_t end) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (end > each) end = each;
  for (size_t i = 0; i < count && first < end; i++) {
    const size_t begin = (i * each + first) / page * page;
    if (madvise(memory + begin, i * each + end - begin, MADV_POPULATE_WRITE) != 0) return errno == EINVAL;
  }
  return true;
}

sim_status sim_comm_map(const sim_comm *comm, size_t count, size_t each, size_t first, size_t end, void **out) {
  const size_t bytes = count * each;
  place own = {.descriptor = -1}, *places;
  uint64_t missing;
  *out = NULL;
  if (comm->size == 1 || comm->host_size < comm->size || bytes < sizeof own.mark) return SIM_OK;
  if (comm->rank == 0) {
    own.process = (long)getpid();
    own.descriptor = memfd_create("sim-fields", MFD_CLOEXEC);
    if (own.descriptor >= 0 && ftruncate(own.descriptor, (off_t)bytes) != 0) {
      (void)close(own.descriptor);
      own.descriptor = -1;
    }
    make_mark(own.mark);
  }
  char *memory = map(own.descriptor, bytes);
  if (memory && !reserve(memory, 1, bytes, 0, sizeof own.mark)) {
    sim_comm_unmap(memory, bytes);
    memory = NULL;
  }
  if (memory) memcpy(memory, own.mark, sizeof own.mark);
  places = calloc((size_t)comm->size, sizeof *places);
  sim_status status = places ? comm->ops->gather(comm, &own, sizeof own, places) : sim_no_memory("the ranks");
  if (status == SIM_OK && comm->rank > 0) {
    own.descriptor = open_place(&places[0], bytes);
    memory = map(own.descriptor, bytes);
  }
  const bool good = memory && status == SIM_OK && memcmp(memory, places[0].mark, sizeof own.mark) == 0 &&
                    reserve(memory, count, each, first, end);
  if (status == SIM_OK) status = sim_comm_agree(comm, !good, &missing);
  if (status == SIM_OK && !missing && comm->rank == 0) memset(memory, 0, sizeof own.mark);
  if (status == SIM_OK && !missing) status = sim_comm_agree(comm, 0, &missing); /* cleared before any rank writes */
  if (own.descriptor >= 0) (void)close(own.descriptor);
  free(places);
  if (status == SIM_OK && !missing)
    *out = memory;
  else
    sim_comm_unmap(memory, bytes);
  if (status == SIM_OK && missing && comm->rank == 0)
    sim_log(SIM_LOG_WARN,
            "the ranks have no memory of %.4g MB that all of them see: they exchange its contents instead, which takes "
            "more memory than `sim check` says, and more time",
            1e-6 * (double)bytes);
  return status;
}

void sim_comm_unmap(void *memory, size_t bytes) {
  if (memory) (void)munmap(memory, bytes);
}
