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

/* Digest of a file's last `most` bytes. 0 where it cannot be read: what reads it tells the reason. */
static uint64_t digest_of(const char *path, off_t most) {
  struct stat info;
  XXH3_state_t *hash = XXH3_createState();
  char *block = malloc(BLOCK);
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  bool good = hash && block && fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  uint64_t word = 0;
  if (good) {
    (void)XXH3_64bits_reset(hash);
    ssize_t got = 0;
    for (off_t at = info.st_size > most ? info.st_size - most : 0; (got = pread(fd, block, BLOCK, at)) > 0; at += got)
      (void)XXH3_64bits_update(hash, block, (size_t)got);
    if (got == 0) word = XXH3_64bits_digest(hash);
  }
  if (fd >= 0) close(fd);
  free(block);
  (void)XXH3_freeState(hash);
  return word;
}

/* " on HOST" for a rank of a launcher. */
static void on_host(const sim_comm *all, int rank, char *out, size_t capacity) {
  snprintf(out, capacity, "%s%s", sim_mpi_is(all) ? " on " : "", sim_mpi_is(all) ? sim_mpi_host(all, rank) : "");
}

sim_status cli_ranks_share_checkpoint(cli_job *job) {
  const sim_comm *all = job->setup.comm;
  struct {
    char path[sizeof job->saved.path];
    uint64_t digest;
  } own = {0}, *first;
  if (all->size == 1) return SIM_OK;
  if (job->has_saved) { /* the seal, at a file's end, has the digest of all of it */
    memcpy(own.path, job->saved.path, sizeof own.path);
    own.digest = digest_of(own.path, IO_SEAL_SIZE);
  }
  if (!(first = malloc((size_t)all->size * sizeof own))) return sim_no_memory("the ranks");
  const sim_status status = all->ops->gather(all, &own, sizeof own, first);
  memcpy(&own, first, sizeof own);
  free(first);
  if (status != SIM_OK || all->rank == 0 || !*own.path) return status;
  job->has_saved = true;
  SIM_TRY(io_checkpoint_read(own.path, &job->saved));
  if (digest_of(own.path, IO_SEAL_SIZE) == own.digest) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE,
                  "%s: is not the checkpoint that rank 0 has under this path: all hosts must see "
                  "the run's folder",
                  own.path);
}

/* Compares the files that the scenario names. All ranks call it, and fail alike. */
static sim_status check_files(const cli_job *job) {
  const sim_comm *all = job->setup.comm;
  const sim_bytes *paths = &job->inputs;
  uint64_t own[2] = {0}, *words;
  if (paths->failed) return sim_no_memory("the files of the scenario");
  for (size_t at = 0; at < paths->size; at += strlen((char *)paths->data + at) + 1) own[0]++;
  words = malloc((own[0] + 2 * (size_t)all->size) * sizeof *words);
  if (!words) return sim_no_memory("the files of the scenario");
  uint64_t *digests = words + 2 * all->size;
  for (size_t at = 0, i = 0; at < paths->size; at += strlen((char *)paths->data + at) + 1)
    digests[i++] = digest_of((char *)paths->data + at, INT64_MAX);
  own[1] = XXH3_64bits(digests, own[0] * sizeof *digests);
  sim_status status = all->ops->gather(all, own, sizeof own, words);
  bool counts = true, same = true;
  for (int r = 0; r < all->size && status == SIM_OK; r++) {
    counts &= words[2 * r] == words[0];
    same &= words[2 * r + 1] == words[1];
  }
  if (status == SIM_OK && !counts) status = sim_fail(SIM_ERR_INTERNAL, "the ranks read different numbers of files");
  const char *path = (char *)paths->data;
  for (uint64_t i = 0; i < own[0] && status == SIM_OK && !same; i++, path += strlen(path) + 1) {
    uint64_t *here = words; /* [ranks] */
    char host[80];
    if ((status = all->ops->gather(all, &digests[i], sizeof *digests, here)) != SIM_OK) break;
    int r = 1;
    while (r < all->size && here[r] == here[0]) r++;
    if (r == all->size) continue;
    on_host(all, r, host, sizeof host);
    status = sim_fail(SIM_ERR_SCENARIO, "%s: rank %d%s reads other contents than rank 0: give all hosts the same file",
                      path, r, host);
  }
  free(words);
  return cli_of_scenario(job, status);
}

sim_status cli_ranks_check_start(const cli_job *job) {
  const int64_t step = job->has_saved ? job->saved.frame.clock.step : -1;
  bool same;
  if (job->setup.comm->size == 1) return SIM_OK;
  const uint64_t word = XXH3_64bits_withSeed(job->blob.data, job->blob.size, (XXH64_hash_t)step);
  SIM_TRY(sim_comm_same(job->setup.comm, word, &same));
  if (same) return check_files(job);
  return sim_fail(
      SIM_ERR_SCENARIO,
      "%s: the ranks have different scenarios: give all the same file, curves, --set, --seed and --precision, and do "
      "not change the file at the start",
      job->options->target);
}
