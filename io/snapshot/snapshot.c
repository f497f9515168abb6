/* The sinks of snapshots and slices: openPMD files (io/snapshot/openpmd.c), made durable in the background
 * (io/later.h), and their index. */
#include "io/snapshot/snapshot.h"

#include "engine/log.h"
#include "io/snapshot/index.h"
#include "io/snapshot/openpmd.h"
#include "io/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct writer {
  io_folder *folder;
  io_openpmd file;
  io_later_result result, description;
  int64_t added; /* step of the last file being written */
  int64_t whole; /* step of the file with the arrays that snapshots have once; -1: none */
  int failures;  /* failures of `result` when it was written */
  io_index *index;
  bool described;    /* run.pmd exists, or is being written */
  bool index_failed; /* the last writing of the index has failed; reported once */
  int slice_folder;
  char slice_path[4200];
} writer;

/* Whether the next file has all arrays: there is no good one that has them yet, or it is this one, written again. */
static bool is_whole(const writer *self, const sim_frame *frame) {
  return self->whole < 0 || self->whole == frame->clock.step || self->result.failures > self->failures;
}

/* Without the arrays that snapshots have once. */
static sim_frame without_once(const sim_frame *frame, sim_array arrays[SIM_ARRAYS_MAX]) {
  sim_frame out = *frame;
  out.arrays = arrays;
  out.array_count = 0;
  for (size_t i = 0; i < frame->array_count; i++)
    if (!frame->arrays[i].once) arrays[out.array_count++] = frame->arrays[i];
  return out;
}

static sim_status write_file(writer *self, const sim_frame *frame, int folder, const char *path, io_hosts *hosts) {
  char name[64];
  io_file file;
  sim_array arrays[SIM_ARRAYS_MAX];
  const sim_frame part = without_once(frame, arrays);
  if (self->whole < 0 && part.array_count < frame->array_count)
    SIM_TRY(io_index_find_once(self->index, frame, &self->whole));
  const bool whole = is_whole(self, frame);
  if (self->added == frame->clock.step)
    io_later_wait_for(self->folder->later, &self->result); /* the file in progress has the same temporary name */
  self->added = frame->clock.step;
  snprintf(name, sizeof name, IO_SNAPSHOT_NAME, (long long)frame->clock.step);
  SIM_TRY(io_file_create(folder, path, name, &file));
  SIM_TRY(io_openpmd_write(&self->file, whole ? frame : &part, hosts, &file));
  if (whole) self->whole = frame->clock.step, self->failures = self->result.failures;
  io_later_add(self->folder->later, &file, self->file.slice ? "slice" : "snapshots", &self->result);
  return io_index_add(self->index, frame, whole);
}

/* Writes run.pmd, which lists the snapshots for ParaView. `what`: see io_later_add. */
static sim_status write_description(writer *self, const char *what) {
  static const char pattern[] = IO_SNAPSHOTS_PATTERN;
  io_file file;
  if (self->described) return SIM_OK;
  SIM_TRY(io_file_create(self->folder->root, self->folder->path, "run.pmd", &file));
  const int error = io_sys_write(file.fd, pattern, sizeof pattern - 1, 0);
  if (error) return io_file_fail(&file, error);
  io_later_add(self->folder->later, &file, what, &self->description);
  self->described = true;
  return SIM_OK;
}

static sim_status snapshot_write(void *opaque, const sim_frame *frame) {
  writer *self = opaque;
  io_hosts hosts = io_hosts_begin(self->folder->comm, frame);
  sim_status status = write_description(self, "run.pmd");
  if (status == SIM_OK) status = write_file(self, frame, self->folder->snap, self->folder->snap_path, &hosts);
  return io_hosts_end(&hosts, status);
}

static bool snapshot_together(const void *opaque, const sim_frame *frame) {
  const writer *self = opaque;
  return io_hosts_share(self->folder->comm, frame);
}

/* Reports a failure of an index. Indexes are not essential: writing is tried again, and delays no checkpoint. */
static void say_index(writer *self, sim_status status) {
  const bool failed = status != SIM_OK;
  if (failed && !self->index_failed)
    sim_log(SIM_LOG_WARN, "index of the snapshots not written: %s; the run continues and tries again",
            sim_error_last()->message);
  self->index_failed = failed;
}

static void write_index(writer *self, bool last) {
  const sim_status begun = io_index_write(self->index, last), waited = io_index_wait(self->index);
  say_index(self, begun != SIM_OK ? begun : waited);
}

/* Makes all files durable; fails if the last file failed. */
static sim_status snapshot_flush(void *opaque) {
  writer *self = opaque;
  write_index(self, false);
  io_later_wait_for(self->folder->later, &self->description);
  io_later_wait_for(self->folder->later, &self->result);
  if (self->described && self->description.failed) { /* the failure has been logged; tries again */
    self->described = false;
    SIM_TRY(write_description(self, NULL));
    io_later_wait_for(self->folder->later, &self->description);
    if (self->description.failed) return sim_fail(SIM_ERR_IO, "%s", self->description.why);
  }
  return self->result.failed ? sim_fail(SIM_ERR_IO, "%s", self->result.why) : SIM_OK;
}

static int64_t snapshot_failures(void *opaque) { return ((const writer *)opaque)->result.failures; }

static sim_status snapshot_finish(void *opaque) {
  writer *self = opaque;
  const sim_status status = io_index_write(self->index, true);
  if (status != SIM_OK) say_index(self, status);
  return SIM_OK;
}

static void snapshot_destroy(void **opaque) {
  writer *self = *opaque;
  const sim_error cause = *sim_error_last(); /* keeps the error that ends the run */
  if (self) {
    write_index(self, true);
    io_later_wait(self->folder->later);
    io_openpmd_free(&self->file);
    io_index_destroy(&self->index);
  }
  if (cause.status != SIM_OK) sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
  free(self);
  *opaque = NULL;
}

sim_status io_snapshot_sink(io_folder *folder, const io_provenance *provenance, sim_cadence cadence, sim_sink *out) {
  writer *self = calloc(1, sizeof *self);
  if (!self) return sim_no_memory("the writer of snapshots");
  self->folder = folder;
  self->added = self->whole = -1;
  self->file.provenance = provenance;
  self->index = io_index_create(&(io_index_place){.folder = folder->root,
                                                  .snaps = folder->snap,
                                                  .later = folder->later,
                                                  .folder_path = folder->path,
                                                  .snaps_path = folder->snap_path,
                                                  .below = "snap/"},
                                provenance);
  if (!self->index) {
    free(self);
    return sim_no_memory("the index of snapshots");
  }
  *out = (sim_sink){.name = "snapshots",
                    .kind = SIM_SINK_SNAPSHOT,
                    .cadence = cadence,
                    .self = self,
                    .write = snapshot_write,
                    .together = snapshot_together,
                    .flush = snapshot_flush,
                    .finish = snapshot_finish,
                    .failures = snapshot_failures,
                    .destroy = snapshot_destroy};
  return SIM_OK;
}

/* ---- slices ---- */

static sim_status slice_write(void *opaque, const sim_frame *frame) {
  writer *self = opaque;
  sim_frame part = *frame;
  part.species_count = 0;
  return write_file(self, &part, self->slice_folder, self->slice_path, &(io_hosts){.frame = frame});
}

static void slice_destroy(void **opaque) {
  writer *self = *opaque;
  const int slice_folder = self ? self->slice_folder : -1;
  snapshot_destroy(opaque);
  if (slice_folder >= 0) (void)close(slice_folder);
}

sim_status io_slice_sink(io_folder *folder, const io_provenance *provenance, const sim_slice *slice, sim_sink *out) {
  writer *self = calloc(1, sizeof *self);
  if (!self) return sim_no_memory("the writer of a slice");
  self->folder = folder;
  self->added = self->whole = -1;
  self->file = (io_openpmd){.provenance = provenance, .slice = slice};
  sim_status status =
      io_folder_slice(folder, slice->name, self->slice_path, sizeof self->slice_path, &self->slice_folder);
  if (status == SIM_OK) {
    self->index = io_index_create(&(io_index_place){.folder = self->slice_folder,
                                                    .snaps = self->slice_folder,
                                                    .later = folder->later,
                                                    .folder_path = self->slice_path,
                                                    .snaps_path = self->slice_path,
                                                    .below = "",
                                                    .slice = slice},
                                  provenance);
    if (!self->index) {
      (void)close(self->slice_folder);
      status = sim_no_memory("the index of a slice");
    }
  }
  if (status != SIM_OK) {
    free(self);
    return status;
  }
  *out = (sim_sink){.name = "slice",
                    .kind = SIM_SINK_SNAPSHOT,
                    .cadence = slice->when,
                    .self = self,
                    .write = slice_write,
                    .flush = snapshot_flush,
                    .finish = snapshot_finish,
                    .failures = snapshot_failures,
                    .destroy = slice_destroy};
  return SIM_OK;
}
