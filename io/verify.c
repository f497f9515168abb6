/* Checks whether the files of a run are complete and undamaged, and belong to the run. */
#include "io/checkpoint/checkpoint.h"
#include "io/hdf5/h5.h"
#include "io/seal.h"
#include "io/snapshot/snapshot.h"
#include "io/sys.h"

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
  char run[33]; /* name of the run; "": not known */
  bool held;    /* a run is writing: files may be replaced or removed at any time */
  io_fault *each;
  void *context;
  io_verified *count;

  /* from the newest checkpoint that could be read */
  int64_t newest;        /* step of that checkpoint; -1: none */
  sim_value *parameters; /* of the run; NULL: not known */
  char species[SIM_SPECIES_MAX][64];
  size_t species_count;
  struct {
    char name[64];
    int64_t rows;
  } tables[SIM_TABLES_MAX];
  size_t table_count;

  size_t indexes; /* number of indexes of snapshots found so far */
} verification;

typedef enum kind { OTHER, SNAPSHOT, SLICE, CHECKPOINT, TABLES, DATASET, INDEX, PATTERN } kind;

/* Reports the last error as a fault of a file. Only SIM_ERR_NO_MEMORY is returned and ends the verification. */
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

/* Returns the step in the last row of a table; -1: the table has no rows, or another form. *rows: number of rows. */
static int64_t last_step(hid_t dataset, int64_t *rows) {
  int64_t step = -1;
  hsize_t count = 0;
  const hsize_t one = 1;
  hid_t all = H5Dget_space(dataset), row = H5Screate_simple(1, &one, NULL);
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof step);
  if (H5Sget_simple_extent_ndims(all) == 1) H5Sget_simple_extent_dims(all, &count, NULL);
  const hsize_t start = count - 1;
  if (count == 0 || H5Tinsert(type, "step", 0, H5T_NATIVE_INT64) < 0 ||
      H5Sselect_hyperslab(all, H5S_SELECT_SET, &start, NULL, &one, NULL) < 0 ||
      H5Dread(dataset, type, row, all, H5P_DEFAULT, &step) < 0)
    step = -1;
  *rows = (int64_t)count;
  io_h5_drop(type);
  io_h5_drop(row);
  io_h5_drop(all);
  return step;
}

/* Checks that the tables of a finished run hold the rows that its last checkpoint counts, and end with the run. */
static sim_status check_tables(const verification *v, const io_h5_source *source, hid_t root) {
  int64_t end = -1;
  H5G_info_t group;
  if (io_h5_has(root, "VTKHDF") || io_h5_has(root, "data") || H5Gget_info(root, &group) < 0)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: does not hold tables", source->path);
  for (hsize_t i = 0; i < group.nlinks; i++) {
    char name[64];
    int64_t rows;
    hid_t dataset;
    if (H5Lget_name_by_idx(root, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT) <= 0) continue;
    if (strcmp(name, "provenance") == 0) continue;
    SIM_TRY(io_h5_open(source, root, name, &dataset));
    const int64_t step = last_step(dataset, &rows);
    io_h5_drop(dataset);
    if (step > end) end = step;
    for (size_t t = 0; v->expected->done && t < v->table_count; t++)
      if (strcmp(v->tables[t].name, name) == 0 && rows < v->tables[t].rows)
        return sim_fail(SIM_ERR_INCOMPATIBLE,
                        "%s: the table %s has %lld rows, and the checkpoint of step %lld counts %lld", source->path,
                        name, (long long)rows, (long long)v->newest, (long long)v->tables[t].rows);
  }
  if (!v->expected->done || v->held || end == v->expected->step) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: ends with step %lld, and status.json says %lld", source->path,
                  (long long)end, (long long)v->expected->step);
}

/* Checks that the files exist into which an index points: by virtual datasets, with names relative to the index's
 * folder. */
static sim_status check_sources(const io_h5_source *source, hid_t dataset) {
  char path[4096 + 600], name[256];
  size_t count = 0;
  sim_status status = SIM_OK;
  const char *slash = strrchr(source->path, '/');
  const int length = slash ? (int)(slash - source->path) : 0;
  hid_t list = H5Dget_create_plist(dataset);
  if (H5Pget_layout(list) != H5D_VIRTUAL || H5Pget_virtual_count(list, &count) < 0) count = 0;
  for (size_t i = 0; i < count && status == SIM_OK; i++) {
    const ssize_t size = H5Pget_virtual_filename(list, i, name, sizeof name);
    if (size <= 0 || (size_t)size >= sizeof name) continue;
    snprintf(path, sizeof path, "%.*s/%s", length, source->path, name);
    if (access(path, F_OK) != 0 && errno == ENOENT)
      status = sim_fail(SIM_ERR_INCOMPATIBLE, "%s: points into %s, which is missing", source->path, name);
  }
  io_h5_drop(list);
  return status;
}

static sim_status check_index(const verification *v, const io_h5_source *source, hid_t root) {
  H5G_info_t info = {.nlinks = 0};
  hid_t blocks;
  if (!io_h5_has(root, "VTKHDF") || !io_h5_has(root, "blocks"))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: does not hold an index", source->path);
  if (v->held) return SIM_OK;
  SIM_TRY(io_h5_open(source, root, "blocks", &blocks));
  sim_status status = SIM_OK;
  if (H5Gget_info(blocks, &info) < 0) status = io_h5_refuse(source, "blocks", "cannot read it");
  for (hsize_t i = 0; i < info.nlinks && status == SIM_OK; i++) {
    char name[256];
    hid_t dataset;
    if (H5Lget_name_by_idx(blocks, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT) <= 0) continue;
    status = io_h5_open(source, blocks, name, &dataset);
    if (status != SIM_OK) break;
    status = check_sources(source, dataset);
    io_h5_drop(dataset);
  }
  io_h5_drop(blocks);
  return status;
}

/* Whether the first member of meshes/ is a slice of a grid; false without meshes. */
static bool is_cut(hid_t iteration) {
  char name[256];
  bool cut = false;
  hid_t meshes = io_h5_has(iteration, "meshes") ? H5Gopen(iteration, "meshes", H5P_DEFAULT) : -1;
  if (meshes >= 0 && H5Lget_name_by_idx(meshes, ".", H5_INDEX_NAME, H5_ITER_INC, 0, name, sizeof name, H5P_DEFAULT) > 0)
    cut = H5Aexists_by_name(meshes, name, "sliceAxes", H5P_DEFAULT) > 0;
  io_h5_drop(meshes);
  return cut;
}

/* Checks that a snapshot or a slice holds the step in its name. */
static sim_status check_snapshot(const io_h5_source *source, hid_t root, kind what, int64_t step) {
  char name[32];
  hid_t group, iteration;
  if (!io_h5_has(root, "data")) return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: does not hold a snapshot", source->path);
  snprintf(name, sizeof name, "%lld", (long long)step);
  SIM_TRY(io_h5_open(source, root, "data", &group));
  const bool found = io_h5_has(group, name);
  sim_status status = found ? io_h5_open(source, group, name, &iteration)
                            : sim_fail(SIM_ERR_INCOMPATIBLE, "%s: does not hold the step of its name", source->path);
  io_h5_drop(group);
  SIM_TRY(status);
  const bool cut = is_cut(iteration);
  io_h5_drop(iteration);
  return what == SNAPSHOT && cut ? sim_fail(SIM_ERR_INCOMPATIBLE, "%s: holds a slice, not a snapshot", source->path)
                                 : SIM_OK;
}

/* Checks the content of a snapshot, a table, a dataset or an index, and the name of its run. */
static sim_status check_content(const verification *v, const io_h5_source *source, hid_t root, kind what,
                                int64_t step) {
  char run[33] = "";
  hid_t group;
  SIM_TRY(io_h5_open(source, root, "provenance", &group));
  sim_status status = SIM_OK;
  if (H5Aexists(group, "run") > 0) status = io_h5_get_text(source, group, "run", run, sizeof run);
  io_h5_drop(group);
  SIM_TRY(status);
  SIM_TRY(check_run(v, source->path, run));
  switch (what) {
  case TABLES: return check_tables(v, source, root);
  case DATASET: return SIM_OK;
  case INDEX: return check_index(v, source, root);
  default: return check_snapshot(source, root, what, step);
  }
}

/* Checks run.pmd, a text without a seal. */
static sim_status check_pattern(int fd, off_t size, const char *path) {
  static const char pattern[] = IO_SNAPSHOTS_PATTERN;
  char text[sizeof pattern] = "";
  size_t n = 0;
  const int error = io_sys_read(fd, text, sizeof text - 1, 0, &n);
  if (error) return sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(error));
  if (size == sizeof pattern - 1 && memcmp(text, pattern, n) == 0) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: damaged: expected the line %.*s", path, (int)sizeof pattern - 2, pattern);
}

static sim_status check_sealed(const verification *v, int fd, off_t size, const char *path, kind what, int64_t step) {
  const io_h5_source source = {path, SIM_ERR_INCOMPATIBLE};
  SIM_TRY(io_seal_check(fd, size, path));
  io_vfd *vfd = NULL;
  hid_t root = io_vfd_open(fd, path, &vfd);
  sim_status status = root >= 0 ? check_content(v, &source, root, what, step)
                      : vfd     ? io_h5_refuse(&source, "HDF5", "cannot open it")
                                : sim_no_memory("%s", path);
  (void)io_vfd_close(root, &vfd);
  return status;
}

/* Checks the digest of a finished run against that of its last checkpoint, if both are of the same step. */
static sim_status check_digest(const verification *v, const io_checkpoint *saved) {
  const io_expected *expected = v->expected;
  char digest[33];
  if (saved->frame.clock.step != expected->step || !*expected->digest) return SIM_OK;
  sim_frame_digest(&saved->frame, digest);
  if (strcmp(digest, expected->digest) == 0) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: its state has the digest %s, and status.json says %s", saved->path, digest,
                  expected->digest);
}

/* Copies what the newest checkpoint says about the other files. */
static void learn(verification *v, io_checkpoint *saved) {
  if (saved->frame.clock.step <= v->newest) return;
  v->newest = saved->frame.clock.step;
  sim_value_free(&v->parameters);
  v->parameters = saved->parameters;
  saved->parameters = NULL;
  v->species_count = saved->frame.species_count;
  for (size_t i = 0; i < v->species_count; i++)
    snprintf(v->species[i], sizeof v->species[i], "%s", saved->frame.species[i].name);
  v->table_count = saved->table_count;
  for (size_t i = 0; i < v->table_count; i++) {
    memcpy(v->tables[i].name, saved->tables[i].name, sizeof v->tables[i].name);
    v->tables[i].rows = saved->tables[i].rows;
  }
}

/* Reads a checkpoint as a restart does, and checks its step, run and digest. */
static sim_status check_checkpoint(verification *v, const char *path, int64_t step) {
  io_checkpoint *saved = malloc(sizeof *saved);
  if (!saved) return sim_no_memory("%s", path);
  sim_status status = io_checkpoint_read(path, saved);
  if (status == SIM_OK) {
    if (saved->frame.clock.step != step)
      status = sim_fail(SIM_ERR_INCOMPATIBLE, "%s: holds step %lld, not the one of its name", path,
                        (long long)saved->frame.clock.step);
    if (status == SIM_OK) status = check_run(v, path, saved->run);
    if (status == SIM_OK) status = check_digest(v, saved);
    if (status == SIM_OK) learn(v, saved);
    io_checkpoint_free(saved);
  }
  free(saved);
  return status;
}

/* Checks one file. A file that a run in progress has removed since it was listed does not count. */
static sim_status check_file(verification *v, const char *path, kind what, int64_t step) {
  int fd;
  off_t size;
  if (v->held && access(path, F_OK) != 0 && errno == ENOENT) return SIM_OK;
  v->count->files++;
  v->indexes += what == INDEX && strchr(path + strlen(v->folder) + 1, '/') == NULL;
  if (what == CHECKPOINT) return report(v, check_checkpoint(v, path, step));
  sim_status status = io_file_open(AT_FDCWD, path, path, &fd, &size);
  if (status == SIM_OK) {
    status = what == PATTERN ? check_pattern(fd, size, path) : check_sealed(v, fd, size, path, what, step);
    (void)close(fd);
  }
  return report(v, status);
}

/* Whether a file NAME.hdf is an index of a run; it may be a user's own file. */
static bool is_index(const verification *v, const char *name, const char *path) {
  const char *dot = strrchr(name, '.');
  if (*name == '.' || !dot || strcmp(dot, ".hdf") != 0) return false;
  bool own = strcmp(name, "grid.hdf") == 0 || io_seal_is_there(AT_FDCWD, path);
  for (size_t i = 0; i < v->species_count && !own; i++)
    own = strlen(v->species[i]) == (size_t)(dot - name) && strncmp(v->species[i], name, (size_t)(dot - name)) == 0;
  return own;
}

/* Returns the kind of a file by its name; `below`: its folder within the run's folder. */
static kind kind_of(const verification *v, const char *below, const char *name, const char *path, int64_t *step) {
  *step = io_name_step(name, "snap_");
  if (*step >= 0) return strncmp(below, "slices/", 7) == 0 ? SLICE : SNAPSHOT;
  *step = io_name_step(name, "ck_");
  if (*step >= 0) return CHECKPOINT;
  if (strcmp(name, "tables.h5") == 0) return TABLES;
  if (io_name_is_dataset(name)) return DATASET;
  if (strcmp(name, "run.pmd") == 0) return PATTERN;
  return is_index(v, name, path) ? INDEX : OTHER;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* Checks the files in a folder of the run, in the order of their names; `below` "": the run's folder. With `folders`
 * checks the files of each folder in it. A missing folder counts as empty. */
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
    snprintf(name, sizeof name, "%s/%s", path, entry);
    const kind what = kind_of(v, below, entry, name, &step);
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

/* Checks run.id, and that the newest checkpoint in status.json exists. */
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

/* Reports a file of the run that is missing. */
static sim_status check_there(verification *v, const char *name, const char *why) {
  char path[4096 + 400];
  snprintf(path, sizeof path, "%s/%s", v->folder, name);
  if (access(path, F_OK) == 0 || errno != ENOENT) return SIM_OK;
  return report(v, sim_fail(SIM_ERR_INCOMPATIBLE, "%s: is missing: %s", path, why));
}

/* Whether an output must exist at the end: every cadence but "never" includes the last state. */
static bool is_due(const sim_value *table, const char *key) {
  const sim_value *when = table ? sim_value_get(table, key) : NULL;
  return when && when->kind == SIM_VALUE_STRING && strcmp(when->u.string.data, "never") != 0;
}

/* Checks that a finished run has all its files, according to the parameters in its newest checkpoint. */
static sim_status check_complete(verification *v) {
  static const char why[] = "the run is done, and its output says that this is written at the end";
  const sim_value *output = v->parameters ? sim_value_get(v->parameters, "output") : NULL;
  const sim_value *slices = output ? sim_value_get(output, "slices") : NULL;
  const long long end = (long long)v->expected->step;
  char name[400];
  v->count->complete = output && v->expected->done && !v->held;
  if (!v->count->complete) return SIM_OK;
  if (is_due(output, "tables") && v->table_count > 0) SIM_TRY(check_there(v, "tables.h5", why));
  snprintf(name, sizeof name, "snap/" IO_SNAPSHOT_NAME, end);
  if (is_due(output, "snapshots")) {
    SIM_TRY(check_there(v, name, why));
    SIM_TRY(check_there(v, "run.pmd", why));
    if (v->indexes == 0)
      SIM_TRY(
          report(v, sim_fail(SIM_ERR_INCOMPATIBLE, "%s: the index of the snapshots (NAME.hdf) is missing", v->folder)));
  }
  for (size_t i = 0; slices && slices->kind == SIM_VALUE_TABLE && i < slices->u.table.count; i++) {
    const sim_value *slice = slices->u.table.entries[i].value;
    const sim_value *own = slice->kind == SIM_VALUE_TABLE ? sim_value_get(slice, "name") : NULL;
    if (!own || own->kind != SIM_VALUE_STRING || !is_due(slice, "when")) continue;
    snprintf(name, sizeof name, "slices/%.300s/" IO_SNAPSHOT_NAME, own->u.string.data, end);
    SIM_TRY(check_there(v, name, why));
  }
  return SIM_OK;
}

static sim_status check_all(verification *v) {
  SIM_TRY(check_names(v));
  SIM_TRY(check_folder(v, "ckpt", false)); /* checkpoints first: they tell what the other files should hold */
  SIM_TRY(check_folder(v, "", false));
  SIM_TRY(check_folder(v, "snap", false));
  SIM_TRY(check_folder(v, "slices", true));
  return check_complete(v);
}

sim_status io_verify(const char *folder, const io_expected *expected, io_fault *each, void *context,
                     io_verified *count) {
  *count = (io_verified){0};
  if (strlen(folder) >= 4000) return sim_fail(SIM_ERR_NO_INPUT, "the name of the output folder is too long");
  verification v = {
      .folder = folder, .expected = expected, .each = each, .context = context, .count = count, .newest = -1};
  v.held = io_folder_held(folder);
  const sim_status status = check_all(&v);
  sim_value_free(&v.parameters);
  return status;
}
