#include "io/checkpoint/checkpoint.h"

#include "engine/log.h"
#include "engine/wall_clock.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/image.h"
#include "io/hosts.h"
#include "io/seal.h"
#include "io/table/table.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Most bytes of checkpoints that are written at one time; a larger checkpoint is written alone. */
static const int64_t under_way_most = (int64_t)256 << 20;

typedef struct writer {
  io_folder *folder;
  const io_provenance *provenance;
  const sim_sink *tables;
  io_later_result result;
  int64_t added; /* step of the last file passed to io_later */
  int64_t bytes; /* approximate size of a file */

  /* protected by the lock */
  pthread_mutex_t lock;
  sim_saved saved;
  int under_way;

  /* used by the thread that makes files durable */
  int64_t good[2 * IO_CHECKPOINTS_KEPT]; /* steps of files known to be undamaged, latest first */
  size_t good_count;
  int64_t parent; /* step from which the run continued, until its first checkpoint is durable; else -1 */
} writer;

static sim_status write_array(io_image *image, hid_t group, const sim_array *array) {
  hsize_t shape[SIM_RANK_MAX], rank = (hsize_t)array->rank;
  hid_t dataset;
  int piece;
  for (int i = 0; i < array->rank; i++) shape[i] = (hsize_t)array->shape[i];
  SIM_TRY(io_image_dataset(image, group, array->field->name, io_h5_file_type(array->dtype), array->rank, shape, &piece,
                           &dataset));
  if (piece >= 0) image->pieces[piece].data = array->data;
  sim_status status = io_h5_attr_text(dataset, "description", array->field->doc);
  if (status == SIM_OK && rank > 0)
    status = io_h5_attr(dataset, "global", H5T_STD_I64LE, H5T_NATIVE_INT64, rank, array->global);
  if (status == SIM_OK && rank > 0)
    status = io_h5_attr(dataset, "offset", H5T_STD_I64LE, H5T_NATIVE_INT64, rank, array->offset);
  H5Dclose(dataset);
  return status;
}

static sim_status write_state(io_image *image, const sim_frame *frame) {
  hid_t group;
  sim_status status = SIM_OK;
  SIM_TRY(io_h5_group(image->file, "state", &group));
  for (size_t i = 0; status == SIM_OK && i < frame->array_count; i++)
    if (!(frame->arrays[i].field->flags & SIM_NO_CHECKPOINT)) status = write_array(image, group, &frame->arrays[i]);
  H5Gclose(group);
  return status;
}

/* Opens a new group <parent>/<index> with the attribute `name`. */
static sim_status begin_entry(hid_t parent, size_t index, const char *name, hid_t *out) {
  char number[24];
  snprintf(number, sizeof number, "%zu", index);
  SIM_TRY(io_h5_group(parent, number, out));
  sim_status status = io_h5_attr_text(*out, "name", name);
  if (status != SIM_OK) H5Gclose(*out);
  return status;
}

static sim_status write_species(hid_t parent, size_t index, const sim_species *species) {
  hid_t group;
  SIM_TRY(begin_entry(parent, index, species->name, &group));
  sim_status status = io_h5_attr_i64(group, "first", species->first);
  if (status == SIM_OK) status = io_h5_attr_i64(group, "count", species->count);
  H5Gclose(group);
  return status;
}

static sim_status write_table(hid_t parent, size_t index, const sim_sink *tables) {
  double *tail;
  int64_t rows, width;
  hid_t group;
  SIM_TRY(io_table_tail(tables, index, &tail, &rows, &width));
  const hsize_t shape[2] = {(hsize_t)rows, (hsize_t)width};
  sim_status status = begin_entry(parent, index, io_table_name(tables, index), &group);
  if (status == SIM_OK) {
    status = io_h5_attr_i64(group, "rows", io_table_rows(tables, index));
    if (status == SIM_OK && tail)
      status = io_h5_dataset(group, "tail", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, shape, NULL, tail, NULL);
    H5Gclose(group);
  }
  free(tail);
  return status;
}

static sim_status write_lists(hid_t root, const writer *self, const sim_frame *frame) {
  hid_t group;
  sim_status status = SIM_OK;
  SIM_TRY(io_h5_group(root, "species", &group));
  for (size_t i = 0; status == SIM_OK && i < frame->species_count; i++)
    status = write_species(group, i, &frame->species[i]);
  H5Gclose(group);
  if (status != SIM_OK) return status;
  SIM_TRY(io_h5_group(root, "tables", &group));
  for (size_t i = 0; status == SIM_OK && self->tables && i < io_table_count(self->tables); i++)
    status = write_table(group, i, self->tables);
  H5Gclose(group);
  return status;
}

static sim_status write_bytes(hid_t root, const char *name, const void *data, size_t size) {
  hsize_t shape[1] = {size};
  return io_h5_dataset(root, name, H5T_STD_U8LE, H5T_NATIVE_UINT8, 1, shape, NULL, data, NULL);
}

static sim_status write_all(io_image *image, const writer *self, const sim_frame *frame) {
  const hid_t root = image->file;
  const io_provenance *from = self->provenance;
  const sim_clock *clock = &frame->clock;
  const char *path = from->scenario_path ? from->scenario_path : "";
  SIM_TRY(io_h5_attr_text(root, "kind", "sim checkpoint"));
  SIM_TRY(io_h5_attr_i64(root, "schema_version", IO_CHECKPOINT_SCHEMA));
  SIM_TRY(io_h5_attr_i64(root, "step", clock->step));
  SIM_TRY(io_h5_attr_f64(root, "t", clock->t));
  SIM_TRY(io_h5_attr_f64(root, "dt", clock->dt));
  SIM_TRY(io_h5_attr_f64(root, "t_end", clock->t_end));
  SIM_TRY(io_h5_attr_u64(root, "seed", from->seed));
  SIM_TRY(io_h5_attr_text(root, "model", from->model));
  SIM_TRY(io_h5_attr_text(root, "run", from->run));
  SIM_TRY(io_h5_attr_text(root, "version", from->version));
  SIM_TRY(io_h5_attr_text(root, "backend", from->backend));
  SIM_TRY(io_h5_attr_text(root, "precision", from->precision));
  SIM_TRY(io_h5_attr_text(root, "isa", from->isa));
  SIM_TRY(io_h5_attr_i64(root, "species", (int64_t)frame->species_count));
  SIM_TRY(io_h5_attr_i64(root, "tables", self->tables ? (int64_t)io_table_count(self->tables) : 0));
  SIM_TRY(write_bytes(root, "parameters", from->parameters_blob, from->parameters_blob_size));
  SIM_TRY(write_bytes(root, "scenario", from->scenario_text, from->scenario_size));
  SIM_TRY(write_bytes(root, "scenario_path", path, strlen(path)));
  SIM_TRY(write_lists(root, self, frame));
  SIM_TRY(write_state(image, frame));
  return io_provenance_write(root, from);
}

static bool is_known(const writer *self, int64_t step) {
  for (size_t i = 0; i < self->good_count; i++)
    if (self->good[i] == step) return true;
  return false;
}

static void remember(writer *self, int64_t step) {
  size_t most = sizeof self->good / sizeof *self->good;
  if (is_known(self, step)) return;
  if (self->good_count < most) self->good_count++;
  memmove(self->good + 1, self->good, (self->good_count - 1) * sizeof *self->good);
  self->good[0] = step;
}

/* Whether the file of this step is undamaged: known since it was written, or verified by its seal. */
static bool is_good(writer *self, const char *name, int64_t step) {
  if (is_known(self, step)) return true;
  char path[4300];
  int fd;
  off_t size;
  snprintf(path, sizeof path, "%s/%s", self->folder->ckpt_path, name);
  if (io_file_open(self->folder->ckpt, name, path, &fd, &size) != SIM_OK) return false;
  bool good = io_seal_check(fd, size, path) == SIM_OK;
  (void)close(fd);
  if (good) remember(self, step);
  return good;
}

static void remove_file(const io_folder *folder, const char *name) {
  if (unlinkat(folder->ckpt, name, 0) != 0 && errno != ENOENT)
    sim_log(SIM_LOG_WARN, "%s/%s: cannot remove: %s", folder->ckpt_path, name, strerror(errno));
}

void io_checkpoint_disown(const io_folder *folder, int64_t step) {
  int64_t *steps;
  size_t count;
  if (io_list_steps(folder->ckpt, folder->ckpt_path, "ck_", &steps, &count) != SIM_OK) {
    sim_log(SIM_LOG_WARN, "cannot look for checkpoints: %s", sim_error_last()->message);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    char name[64];
    snprintf(name, sizeof name, IO_CHECKPOINT_NAME, (long long)steps[i]);
    if (steps[i] > step) remove_file(folder, name);
  }
  free(steps);
}

/* Removes older files except the last good ones; the one just written is durable and counts as good. If the run
 * continued from an earlier checkpoint on purpose (or because later ones were damaged), the later files belong to an
 * abandoned continuation, and no run may continue from them. Steps of a run only increase; files that became durable
 * together with the run's first one are known by is_known. */
static void prune(writer *self, int64_t written) {
  const int64_t parent = self->parent;
  int64_t *steps;
  size_t count;
  self->parent = -1;
  if (io_list_steps(self->folder->ckpt, self->folder->ckpt_path, "ck_", &steps, &count) != SIM_OK) {
    sim_log(SIM_LOG_WARN, "cannot look for old checkpoints: %s", sim_error_last()->message);
    return;
  }
  int good = 1;
  for (size_t i = 0; i < count; i++) {
    char name[64];
    if (steps[i] == written) continue;
    snprintf(name, sizeof name, IO_CHECKPOINT_NAME, (long long)steps[i]);
    if (steps[i] > written || (parent >= 0 && steps[i] > parent && !is_known(self, steps[i]))) {
      sim_log(SIM_LOG_INFO, "%s: removed: the run continued from an earlier checkpoint", name);
      remove_file(self->folder, name);
    } else if (good >= IO_CHECKPOINTS_KEPT) {
      remove_file(self->folder, name);
    } else if (is_good(self, name, steps[i])) {
      good++;
    }
  }
  free(steps);
}

/* A checkpoint being written. */
typedef struct ticket {
  writer *self;
  int64_t step;
  double t, begin;
} ticket;

static void ended(void *context, io_later_end end) {
  const ticket t = *(const ticket *)context;
  free(context);
  pthread_mutex_lock(&t.self->lock);
  sim_saved *saved = &t.self->saved;
  saved->under_way = --t.self->under_way > 0;
  if (end != IO_LATER_DROPPED) saved->failed = end == IO_LATER_FAILED;
  if (end == IO_LATER_DURABLE || end == IO_LATER_NEWEST)
    saved->seconds = fmax(saved->seconds, sim_wall_clock() - t.begin);
  if (end == IO_LATER_NEWEST) {
    saved->step = t.step;
    saved->t = t.t;
  }
  pthread_mutex_unlock(&t.self->lock);
  if (end == IO_LATER_DURABLE || end == IO_LATER_NEWEST) remember(t.self, t.step);
  if (end == IO_LATER_NEWEST) prune(t.self, t.step);
}

static sim_status write_file(writer *self, const sim_frame *frame, io_hosts *hosts, io_file *file) {
  char name[64];
  io_image image;
  snprintf(name, sizeof name, IO_CHECKPOINT_NAME, (long long)frame->clock.step);
  SIM_TRY(io_image_begin(true, &image));
  SIM_TRY(io_image_end(&image, write_all(&image, self, frame)));
  sim_status status = io_file_create(self->folder->ckpt, self->folder->ckpt_path, name, file);
  if (status == SIM_OK) status = io_hosts_write(hosts, &image, file);
  self->bytes = (int64_t)image.pages.size;
  io_image_free(&image);
  return status;
}

static sim_status settle(writer *self) {
  io_later_wait_for(self->folder->later, &self->result);
  return self->result.failed ? sim_fail(SIM_ERR_IO, "%s", self->result.why) : SIM_OK;
}

/* Writes the file, which becomes durable later, after all files written before, on which it depends. After a failure
 * each checkpoint is waited for, until one is durable. */
static sim_status write_checkpoint(writer *self, const sim_frame *frame, io_hosts *hosts) {
  io_later *later = self->folder->later;
  const double begin = sim_wall_clock();
  io_file file;
  if (!frame->finite) SIM_TRY(sim_frame_check_finite(frame));
  if (self->tables) io_table_shorten(self->tables);
  io_later_wait_below(later, &self->result, self->bytes, under_way_most);
  if (self->added == frame->clock.step) io_later_wait_for(later, &self->result); /* its temporary name is the same */
  ticket *t = malloc(sizeof *t);
  if (!t) return sim_no_memory("a checkpoint");
  *t = (ticket){self, frame->clock.step, frame->clock.t, begin};
  sim_status status = write_file(self, frame, hosts, &file);
  if (status != SIM_OK) {
    free(t);
    return status;
  }
  self->added = frame->clock.step;
  pthread_mutex_lock(&self->lock);
  const bool wait = self->saved.failed;
  self->saved.under_way = true;
  self->under_way++;
  pthread_mutex_unlock(&self->lock);
  io_later_add_checkpoint(later, &file, "checkpoint", &self->result, IO_CHECKPOINTS_KEPT, ended, t);
  return wait ? settle(self) : SIM_OK;
}

static sim_status checkpoint_write(void *opaque, const sim_frame *frame) {
  writer *self = opaque;
  io_hosts hosts = io_hosts_begin(self->folder->comm, frame);
  return io_hosts_end(&hosts, write_checkpoint(self, frame, &hosts));
}

static bool checkpoint_together(const void *opaque, const sim_frame *frame) {
  const writer *self = opaque;
  return io_hosts_share(self->folder->comm, frame);
}

static sim_status checkpoint_flush(void *opaque) { return settle(opaque); }

static void checkpoint_saved(void *opaque, sim_saved *out) {
  writer *self = opaque;
  pthread_mutex_lock(&self->lock);
  *out = self->saved;
  pthread_mutex_unlock(&self->lock);
}

static void checkpoint_destroy(void **opaque) {
  writer *self = *opaque;
  if (self) {
    io_later_wait_for(self->folder->later, &self->result);
    pthread_mutex_destroy(&self->lock);
  }
  free(self);
  *opaque = NULL;
}

sim_status io_checkpoint_sink(io_folder *folder, const io_provenance *provenance, const sim_sink *table_sink,
                              sim_cadence cadence, sim_sink *out) {
  writer *self = calloc(1, sizeof *self);
  if (!self) return sim_no_memory("the writer of checkpoints");
  self->folder = folder;
  self->provenance = provenance;
  self->tables = table_sink;
  self->added = self->saved.step = -1;
  pthread_mutex_init(&self->lock, NULL);
  self->parent = io_name_step(provenance->parent_checkpoint, "ck_");
  *out = (sim_sink){.name = "checkpoint",
                    .kind = SIM_SINK_CHECKPOINT,
                    .cadence = cadence,
                    .self = self,
                    .write = checkpoint_write,
                    .together = checkpoint_together,
                    .flush = checkpoint_flush,
                    .saved = checkpoint_saved,
                    .destroy = checkpoint_destroy};
  return SIM_OK;
}
