#include "engine/run/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static size_t aligned(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Whether an array is first copied within the device, so that the steps continue. An array that ranks divide is not:
 * rank 0 would need device memory for the whole array. */
static bool is_staged(const sim_frame *view, const sim_array *array) {
  return !view->divided && array->space == SIM_SPACE_DEVICE && array->field->flags & SIM_IN_SNAPSHOT;
}

int sim_stage_count(double snapshot_bytes, bool snapshots) {
  const double mebibyte = 1 << 20, bytes = fmax(snapshot_bytes, 1);
  if (!snapshots) return 1;
  return 1 +
         (int)fmax(fmin(SIM_STAGES_FIRST - 1, 256 * mebibyte / bytes), fmin(SIM_STAGES_MAX - 1, 64 * mebibyte / bytes));
}

void sim_stage_plan(const sim_backend *backend, const sim_comm *comm, bool snapshots, bool checkpoints,
                    sim_plan *plan) {
  const int more = sim_stage_count(plan->snapshot_bytes, snapshots) - 1;
  const bool device = backend->queue != NULL;
  double first = snapshots ? plan->snapshot_bytes : 0;
  if (checkpoints || device || plan->divided) /* stage 0 holds a whole state */
    first = plan->checkpoint_bytes + plan->unsaved_bytes;
  if (device && !plan->divided) sim_plan_add(plan, "staged for output", plan->staged_bytes * (1 + more));
  if (first + more * plan->snapshot_bytes > 0)
    sim_plan_add_host(plan, device ? "pinned for output" : "staged for output", first + more * plan->snapshot_bytes);
  if (plan->divided) plan->first_bytes += (first + more * plan->snapshot_bytes) * (1 - 1.0 / comm->size);
}

/* The array as this rank stages it: on rank 0 the whole of a divided array. */
static sim_array staged_array(const sim_comm *comm, const sim_frame *view, const sim_array *array) {
  sim_array out = *array;
  if (!view->divided || comm->rank > 0) return out;
  memcpy(out.shape, out.global, sizeof out.shape);
  memset(out.offset, 0, sizeof out.offset);
  return out;
}

/* Counts the bytes that a state needs in device and in host memory; *pinned: a device copies arrays to the host. */
static void count_bytes(const sim_comm *comm, const sim_frame *view, bool whole, size_t *device, size_t *host,
                        bool *pinned) {
  *device = *host = 0;
  *pinned = false;
  for (size_t i = 0; i < view->array_count; i++) {
    const sim_array *array = &view->arrays[i], here = staged_array(comm, view, array);
    const size_t now = sim_array_bytes(&here), bytes = aligned(array->room > now ? array->room : now);
    if (whole || array->field->flags & SIM_IN_SNAPSHOT) *host += bytes;
    if (is_staged(view, array)) *device += bytes;
    *pinned |= array->space == SIM_SPACE_DEVICE;
  }
}

/* Whose memory on the host the stage has. */
static const sim_backend *host_of(const sim_stage *stage) { return stage->pinned ? stage->backend : &sim_backend_cpu; }

sim_status sim_stage_create(const sim_backend *backend, const sim_comm *comm, const sim_frame *view, bool whole,
                            int mark, sim_stage *out) {
  *out = (sim_stage){.backend = backend, .comm = comm, .whole = whole, .mark = mark};
  count_bytes(comm, view, whole, &out->device_bytes, &out->host_bytes, &out->pinned);
  sim_status status = out->device_bytes > 0 ? backend->alloc(out->device_bytes, &out->device) : SIM_OK;
  if (status == SIM_OK) status = host_of(out)->alloc_host(out->host_bytes, &out->host);
  if (status == SIM_OK && whole && comm && comm->size > 1) {
    out->block = malloc((sim_digest_blocks(out->host_bytes) + SIM_ARRAYS_MAX) * sizeof *out->block);
    if (!out->block) status = sim_no_memory("the digests of %zu bytes", out->host_bytes);
  }
  if (status != SIM_OK) sim_stage_destroy(out);
  return status;
}

void sim_stage_destroy(sim_stage *stage) {
  if (stage->device) stage->backend->free(stage->device);
  if (stage->host) host_of(stage)->free_host(stage->host);
  free(stage->block);
  *stage = (sim_stage){0};
}

/* ---- states that ranks divide ---- */

/* Copies bytes of an array, in host or device memory, to host memory. */
static sim_status take_bytes(const sim_backend *backend, const sim_array *array, size_t first, char *to, size_t bytes) {
  const char *from = (const char *)array->data + first;
  if (array->space == SIM_SPACE_DEVICE) return bytes > 0 ? backend->copy(to, from, bytes) : SIM_OK;
  sim_digest_copy(to, from, bytes, NULL);
  return SIM_OK;
}

/* Shape and offset of one rank's part of an array. */
typedef struct extent {
  int64_t shape[SIM_RANK_MAX], offset[SIM_RANK_MAX];
} extent;

/* The axis along which an array is divided; -1: every rank has the whole array. */
static int divided_axis(const sim_array *array, const extent *parts, int ranks) {
  for (int axis = 0; axis < array->rank; axis++)
    for (int r = 0; r < ranks; r++)
      if (parts[r].shape[axis] != array->global[axis]) return axis;
  return -1;
}

/* Gathers an array in host memory. Rank 0 gets all parts in whole[global shape], by one swap for each index before the
 * divided axis (each field, say); the other ranks copy their part to whole[shape]. The part may be in device memory.
 * *undivided: every rank has the whole. */
static sim_status gather_array(const sim_backend *backend, const sim_comm *comm, const sim_array *part, char *whole,
                               bool *undivided) {
  extent own, parts[SIM_RANKS_MAX];
  sim_piece pieces[SIM_RANKS_MAX];
  memcpy(own.shape, part->shape, sizeof own.shape);
  memcpy(own.offset, part->offset, sizeof own.offset);
  SIM_TRY(comm->ops->gather(comm, &own, sizeof own, parts));
  const int axis = divided_axis(part, parts, comm->size);
  *undivided = axis < 0;
  if (comm->rank > 0 || axis < 0) SIM_TRY(take_bytes(backend, part, 0, whole, sim_array_bytes(part)));
  if (axis < 0) return SIM_OK;
  size_t outer = 1, inner = sim_dtype_size(part->dtype);
  for (int i = 0; i < axis; i++) outer *= (size_t)part->global[i];
  for (int i = axis + 1; i < part->rank; i++) inner *= (size_t)part->global[i];
  const size_t row = (size_t)part->global[axis] * inner, bytes = (size_t)part->shape[axis] * inner;
  for (size_t o = 0; o < outer; o++) {
    size_t count = 0;
    if (comm->rank > 0)
      pieces[count++] = (sim_piece){.rank = 0, .in = whole + o * bytes, .in_bytes = bytes};
    else
      SIM_TRY(take_bytes(backend, part, o * bytes, whole + o * row + (size_t)part->offset[axis] * inner, bytes));
    for (int r = 1; r < comm->size && comm->rank == 0; r++)
      pieces[count++] = (sim_piece){.rank = r,
                                    .out = whole + o * row + (size_t)parts[r].offset[axis] * inner,
                                    .out_bytes = (size_t)parts[r].shape[axis] * inner};
    SIM_TRY(comm->ops->swap(comm, pieces, count));
  }
  return SIM_OK;
}

/* Copies an array into the stage's memory, after the preceding arrays. digests: where the digests of its blocks are
 * stored, if every rank has the whole array; NULL: they are not computed. */
static sim_status take_array(sim_stage *stage, const sim_frame *view, const sim_array *from, bool whole, size_t *staged,
                             size_t *mirrored, sim_block_digest *digests) {
  const sim_backend *backend = stage->backend;
  const sim_array here = staged_array(stage->comm, view, from);
  const size_t bytes = sim_array_bytes(&here), size = aligned(bytes);
  char *host = (char *)stage->host + *mirrored, *device = (char *)stage->device + *staged;
  bool *undivided = &stage->undivided[stage->frame.array_count];
  sim_array *to = &stage->arrays[stage->frame.array_count++];
  *undivided = true;
  *to = here;
  to->data = host;
  to->space = SIM_SPACE_HOST;
  *mirrored += size;
  if (is_staged(view, from)) *staged += size;
  if (!view->divided && from->space == SIM_SPACE_HOST) {
    sim_digest_copy(host, from->data, bytes, digests);
    return SIM_OK;
  }
  if (view->divided || whole) {
    SIM_TRY(view->divided ? gather_array(backend, stage->comm, from, host, undivided)
                          : backend->copy(host, from->data, bytes));
    if (digests && *undivided) sim_digest_array(host, bytes, digests);
    return SIM_OK;
  }
  SIM_TRY(backend->queue->stage(device, from->data, bytes));
  return backend->queue->copy_out(host, device, bytes);
}

/* Enlarges a stage if needed. No copy into the old memory is pending: each is waited for before the next begins. */
static sim_status make_room(sim_stage *stage, const sim_frame *view, bool whole) {
  const sim_backend *backend = stage->backend;
  const sim_comm *comm = stage->comm;
  const int mark = stage->mark;
  size_t device, host;
  bool pinned;
  whole |= stage->whole;
  count_bytes(comm, view, whole, &device, &host, &pinned);
  if (device <= stage->device_bytes && host <= stage->host_bytes && pinned <= stage->pinned) return SIM_OK;
  sim_stage_destroy(stage);
  return sim_stage_create(backend, comm, view, whole, mark, stage);
}

sim_status sim_stage_copy(sim_stage *stage, const sim_frame *view, bool whole) {
  size_t staged = 0, mirrored = 0;
  SIM_TRY(make_room(stage, view, whole));
  sim_block_digest *digests = whole ? stage->block : NULL;
  stage->frame = *view;
  stage->frame.arrays = stage->arrays;
  stage->frame.array_count = 0;
  stage->frame.species = stage->species;
  memcpy(stage->species, view->species, view->species_count * sizeof *view->species);
  for (size_t i = 0; i < view->array_count; i++) {
    if (!whole && !(view->arrays[i].field->flags & SIM_IN_SNAPSHOT)) continue;
    const size_t at = stage->frame.array_count;
    sim_block_digest *own = view->arrays[i].field->flags & SIM_NO_CHECKPOINT ? NULL : digests;
    SIM_TRY(take_array(stage, view, &view->arrays[i], whole, &staged, &mirrored, own));
    const bool has = own && stage->undivided[at];
    stage->blocks[at] = has ? digests : NULL;
    if (has) digests += sim_digest_blocks(sim_array_bytes(&stage->arrays[at]));
  }
  return stage->backend->queue && !whole ? stage->backend->queue->mark_copies(stage->mark) : SIM_OK;
}

sim_status sim_stage_wait(const sim_stage *stage) {
  return stage->backend->queue ? stage->backend->queue->wait_mark(stage->mark) : SIM_OK;
}
