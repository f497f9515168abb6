/* What each rank reads for itself before the run, and must be the same for all: scenario, its files, checkpoint. */
#include "cli/run/ranks.h"

#include "cli/run/launcher.h"
#include "io/seal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

/* Number of bytes at the end of a file that tell all of it: its seal, if it has one there, which whoever reads the file
 * compares with the rest; else the whole file. */
static off_t telling_bytes(int fd, off_t size, const char *path) {
  char start[sizeof IO_SEAL_MAGIC - 1];
  const bool sealed = size >= IO_SEAL_SIZE && pread(fd, start, sizeof start, size - IO_SEAL_SIZE) == sizeof start &&
                      memcmp(start, IO_SEAL_MAGIC, sizeof start) == 0 && io_seal_look(fd, size, path) == SIM_OK;
  return sealed ? IO_SEAL_SIZE : size;
}

/* Digest of a file's contents. 0 where it cannot be read: what reads it tells the reason. */
static sim_status find_digest(const char *path, uint64_t *word) {
  struct stat info;
  XXH3_state_t *hash = XXH3_createState();
  char *block = malloc(BLOCK);
  const bool memory = hash && block;
  const int fd = memory ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
  *word = 0;
  if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    (void)XXH3_64bits_reset(hash);
    ssize_t got = 0;
    for (off_t at = info.st_size - telling_bytes(fd, info.st_size, path); (got = pread(fd, block, BLOCK, at)) > 0;
         at += got)
      (void)XXH3_64bits_update(hash, block, (size_t)got);
    if (got == 0) *word = XXH3_64bits_digest(hash);
  }
  if (fd >= 0) close(fd);
  free(block);
  (void)XXH3_freeState(hash);
  return memory ? SIM_OK : sim_no_memory("the comparison of %s among the ranks", path);
}

/* " on HOST" for a rank of a launcher. */
static void on_host(const sim_comm *all, int rank, char *out, size_t capacity) {
  snprintf(out, capacity, "%s%s", sim_mpi_is(all) ? " on " : "", sim_mpi_is(all) ? sim_mpi_host(all, rank) : "");
}

/* Fails where the ranks of a host that have not read the checkpoint yet need more memory for it than the host has. */
static sim_status check_space(const sim_comm *all, double bytes) {
  const int ranks = all->host_size - (all->rank == 0);
  char each[32], here[32];
  const double available = (double)sim_host_memory_free();
  if (all->host_rank > 0 || bytes * ranks <= available) return SIM_OK;
  cli_bytes(bytes, each, sizeof each);
  cli_bytes(available, here, sizeof here);
  return sim_fail(
      SIM_ERR_NO_MEMORY,
      "each rank reads the whole checkpoint until the first step: %s more for each of %d ranks, %s are free; "
      "resume with fewer ranks",
      each, ranks, here);
}

/* Memory is checked while no other rank reads, and the plan's after all have read. */
sim_status cli_ranks_share_checkpoint(cli_job *job) {
  const sim_comm *all = job->setup.comm;
  struct {
    char path[sizeof job->saved.path];
    uint64_t digest;
    double bytes; /* of the state */
  } own = {0}, *first;
  uint64_t here, most;
  if (all->size == 1) return SIM_OK;
  if (job->has_saved) {
    memcpy(own.path, job->saved.path, sizeof own.path);
    for (size_t i = 0; i < job->saved.frame.array_count; i++)
      own.bytes += (double)sim_array_bytes(&job->saved.frame.arrays[i]);
    SIM_TRY(find_digest(own.path, &own.digest));
  }
  if (!(first = malloc((size_t)all->size * sizeof own))) return sim_no_memory("the ranks");
  sim_status status = all->ops->gather(all, &own, sizeof own, first);
  memcpy(&own, first, sizeof own);
  free(first);
  if (status != SIM_OK || !*own.path) return status;
  SIM_TRY(check_space(all, own.bytes));
  SIM_TRY(sim_comm_agree(all, 0, &most));
  if (all->rank > 0) {
    job->has_saved = true;
    SIM_TRY(io_checkpoint_read(own.path, &job->saved));
    SIM_TRY(find_digest(own.path, &here));
    if (here != own.digest)
      return sim_fail(SIM_ERR_INCOMPATIBLE,
                      "%s: is not the checkpoint that rank 0 has under this path: all hosts must see the run's folder",
                      own.path);
  }
  return sim_comm_agree(all, 0, &most);
}

/* A rank's list of files: their number, and digests of their paths and of their contents. */
typedef struct file_list {
  uint64_t count, paths, contents;
} file_list;

/* Finds the first of the `count` files of which a rank has other contents than rank 0, if any. */
static sim_status name_file(const sim_comm *all, const char *path, const uint64_t *digests, uint64_t count) {
  uint64_t here[SIM_RANKS_MAX];
  char host[80];
  for (uint64_t i = 0; i < count; i++, path += strlen(path) + 1) {
    SIM_TRY(all->ops->gather(all, &digests[i], sizeof *digests, here));
    int r = 1;
    while (r < all->size && here[r] == here[0]) r++;
    if (r == all->size) continue;
    on_host(all, r, host, sizeof host);
    return sim_fail(SIM_ERR_SCENARIO, "%s: rank %d%s reads other contents than rank 0: give all hosts the same file",
                    path, r, host);
  }
  return SIM_OK;
}

/* Compares files, by their paths with final zeros. All ranks call it, and fail alike. *listed: all ranks have the same
 * paths; otherwise contents are not compared. */
static sim_status compare_files(const sim_comm *all, const sim_bytes *paths, bool *listed) {
  const char *const data = (const char *)paths->data;
  file_list own = {0}, lists[SIM_RANKS_MAX];
  if (paths->failed) return sim_no_memory("the files of the scenario");
  for (size_t at = 0; at < paths->size; at += strlen(data + at) + 1) own.count++;
  uint64_t *digests = malloc((own.count + 1) * sizeof *digests);
  sim_status status = digests ? SIM_OK : sim_no_memory("the files of the scenario");
  for (size_t at = 0, i = 0; at < paths->size && status == SIM_OK; at += strlen(data + at) + 1)
    status = find_digest(data + at, &digests[i++]);
  if (status == SIM_OK) {
    own.paths = XXH3_64bits(data, paths->size);
    own.contents = XXH3_64bits(digests, own.count * sizeof *digests);
    status = all->ops->gather(all, &own, sizeof own, lists);
  }
  bool same = *listed = true;
  for (int r = 1; r < all->size && status == SIM_OK; r++) {
    *listed &= lists[r].count == lists[0].count && lists[r].paths == lists[0].paths;
    same &= lists[r].contents == lists[0].contents;
  }
  if (status == SIM_OK && *listed && !same) status = name_file(all, data, digests, own.count);
  free(digests);
  return status;
}

sim_status cli_ranks_check_start(const cli_job *job) {
  const sim_comm *all = job->setup.comm;
  const int64_t step = job->has_saved ? job->saved.frame.clock.step : -1;
  bool same, listed;
  if (all->size == 1) return SIM_OK;
  const uint64_t word = XXH3_64bits_withSeed(job->blob.data, job->blob.size, (XXH64_hash_t)step);
  SIM_TRY(sim_comm_same(all, word, &same));
  SIM_TRY(cli_of_scenario(job, compare_files(all, same ? &job->inputs : &job->rows, &listed)));
  if (same && !listed) return sim_fail(SIM_ERR_INTERNAL, "the ranks read different files");
  if (same) return SIM_OK;
  return sim_fail(
      SIM_ERR_SCENARIO,
      "%s: the ranks have different scenarios: give all the same file, --set, --seed and --precision, and do not "
      "change the file at the start",
      job->options->target);
}
