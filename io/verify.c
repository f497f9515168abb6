/* Whether the files of a run are whole, and belong to it. */
#include "io/checkpoint/checkpoint.h"
#include "io/hdf5/h5.h"
#include "io/seal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct verification {
  const char *folder;
  const io_expected *expected;
  char run[33]; /* "": not known */
  bool held;    /* a run is writing: files may be replaced or removed at any time */
  io_fault *each;
  void *context;
  io_verified *count;
} verification;

/* Reports the last error as a fault of a file; lack of memory ends the verification. */
static sim_status report(verification *v, sim_status status) {
  if (status == SIM_OK || status == SIM_ERR_NO_MEMORY) return status;
  v->count->faults++;
  v->each(v->context, sim_error_last()->message);
  sim_error_clear();
  return SIM_OK;
}

static sim_status check_run(const verification *v, const char *path, const char *run) {
  if (!*v->run || !*run || strcmp(run, v->run) == 0) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: belongs to another run than the folder, whose run is named in run.id",
                  path);
}

/* The run that a snapshot, a table or an index names, and the step of a snapshot. step -1: none. */
static sim_status check_content(const verification *v, const io_h5_source *source, hid_t root, int64_t step) {
  char run[33] = "", name[32];
  hid_t group;
  SIM_TRY(io_h5_open(source, root, "provenance", &group));
  sim_status status = SIM_OK;
  if (H5Aexists(group, "run") > 0) status = io_h5_get_text(source, group, "run", run, sizeof run);
  io_h5_drop(group);
  SIM_TRY(status);
  SIM_TRY(check_run(v, source->path, run));
  if (step < 0) return SIM_OK;
  snprintf(name, sizeof name, "%lld", (long long)step);
  SIM_TRY(io_h5_open(source, root, "data", &group));
  const bool found = io_h5_has(group, name);
  io_h5_drop(group);
  return found ? SIM_OK : sim_fail(SIM_ERR_INCOMPATIBLE, "%s: does not hold the step of its name", source->path);
}

static sim_status check_sealed(const verification *v, int fd, off_t size, const char *path, int64_t step) {
  const io_h5_source source = {path, SIM_ERR_INCOMPATIBLE};
  SIM_TRY(io_seal_check(fd, size, path));
  io_vfd *vfd = NULL;
  hid_t root = io_vfd_open(fd, path, &vfd);
  sim_status status = root >= 0 ? check_content(v, &source, root, step)
                      : vfd     ? io_h5_refuse(&source, "HDF5", "cannot open it")
                                : sim_no_memory("%s", path);
  (void)io_vfd_close(root, &vfd);
  return status;
}

/* The state of a finished run is that of its last checkpoint, if that is of the last step. */
static sim_status check_digest(const verification *v, const io_checkpoint *saved) {
  const io_expected *expected = v->expected;
  char digest[33];
  if (saved->frame.clock.step != expected->step || !*expected->digest) return SIM_OK;
  sim_frame_digest(&saved->frame, digest);
  if (strcmp(digest, expected->digest) == 0) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: its state has the digest %s, and status.json says %s", saved->path, digest,
                  expected->digest);
}

/* Reads a checkpoint as a restart does. */
static sim_status check_checkpoint(const verification *v, const char *path, int64_t step) {
  io_checkpoint *saved = malloc(sizeof *saved);
  if (!saved) return sim_no_memory("%s", path);
  sim_status status = io_checkpoint_read(path, saved);
  if (status == SIM_OK) {
    if (saved->frame.clock.step != step)
      status = sim_fail(SIM_ERR_INCOMPATIBLE, "%s: holds step %lld, not the one of its name", path,
                        (long long)saved->frame.clock.step);
    if (status == SIM_OK) status = check_run(v, path, saved->run);
    if (status == SIM_OK) status = check_digest(v, saved);
    io_checkpoint_free(saved);
  }
  free(saved);
  return status;
}

typedef enum kind { OTHER, SNAPSHOT, CHECKPOINT, SEALED } kind;

/* Checks one file; a file that a run has removed since it was listed does not count. */
static sim_status check_file(verification *v, const char *path, kind what, int64_t step) {
  int fd;
  off_t size;
  if (v->held && access(path, F_OK) != 0 && errno == ENOENT) return SIM_OK;
  v->count->files++;
  if (what == CHECKPOINT) return report(v, check_checkpoint(v, path, step));
  sim_status status = io_file_open(AT_FDCWD, path, path, &fd, &size);
  if (status == SIM_OK) {
    status = check_sealed(v, fd, size, path, step);
    (void)close(fd);
  }
  return report(v, status);
}

static kind kind_of(const char *name, int64_t *step) {
  const char *dot = strrchr(name, '.');
  *step = io_name_step(name, "snap_");
  if (*step >= 0) return SNAPSHOT;
  *step = io_name_step(name, "ck_");
  if (*step >= 0) return CHECKPOINT;
  return *name != '.' && dot && (strcmp(dot, ".hdf") == 0 || strcmp(name, "tables.h5") == 0) ? SEALED : OTHER;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* Checks the files in a folder of the run, in the order of their names; `below` "": the folder itself. With `folders`
 * checks the files of each folder in it. A folder that does not exist has no files. */
static sim_status check_folder(verification *v, const char *below, bool folders) {
  char path[4096 + 64], inner[sizeof path], name[sizeof path + 300];
  struct dirent **entries;
  snprintf(path, sizeof path, "%s%s%s", v->folder, *below ? "/" : "", below);
  const int count = scandir(path, &entries, NULL, by_name);
  if (count < 0 && errno == ENOENT) return SIM_OK;
  if (count < 0) return report(v, sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(errno)));
  sim_status status = SIM_OK;
  for (int i = 0; i < count; i++) {
    int64_t step;
    const char *entry = entries[i]->d_name;
    const kind what = kind_of(entry, &step);
    snprintf(name, sizeof name, "%s/%s", path, entry);
    if (status == SIM_OK && folders && *entry != '.') {
      if ((size_t)snprintf(inner, sizeof inner, "%s/%s", below, entry) < sizeof inner)
        status = check_folder(v, inner, false);
    } else if (status == SIM_OK && !folders && what != OTHER) {
      status = check_file(v, name, what, step);
    }
    free(entries[i]);
  }
  free(entries);
  return status;
}

/* run.id, and the newest checkpoint that status.json names. */
static sim_status check_names(verification *v) {
  char path[4096 + 64];
  const io_run_id found = io_folder_run(v->folder, v->run);
  if (found != IO_RUN_ID_GOOD)
    SIM_TRY(report(v, sim_fail(SIM_ERR_INCOMPATIBLE, "%s/run.id: %s", v->folder,
                               found == IO_RUN_ID_MISSING ? "is missing" : "is not the name of a run")));
  if (v->expected->checkpoint_step < 0 || v->held) return SIM_OK;
  snprintf(path, sizeof path, "%s/ckpt/" IO_CHECKPOINT_NAME, v->folder, (long long)v->expected->checkpoint_step);
  if (access(path, F_OK) == 0) return SIM_OK;
  return report(v,
                sim_fail(SIM_ERR_INCOMPATIBLE, "%s: is missing: status.json names it as the newest checkpoint", path));
}

sim_status io_verify(const char *folder, const io_expected *expected, io_fault *each, void *context,
                     io_verified *count) {
  *count = (io_verified){0};
  if (strlen(folder) >= 4000) return sim_fail(SIM_ERR_NO_INPUT, "the name of the output folder is too long");
  verification v = {.folder = folder, .expected = expected, .each = each, .context = context, .count = count};
  v.held = io_folder_held(folder);
  SIM_TRY(check_names(&v));
  SIM_TRY(check_folder(&v, "", false));
  SIM_TRY(check_folder(&v, "ckpt", false));
  SIM_TRY(check_folder(&v, "snap", false));
  return check_folder(&v, "slices", true);
}
