#include "engine/run/slice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLANE "the cells that hold this plane, as a grid without this axis"

static const sim_field fields[] = {
    {"name", SIM_STRING, "of its folder, slices/NAME", offsetof(sim_slice, name), .flags = SIM_REQUIRED},
    {"x", SIM_REAL, PLANE, offsetof(sim_slice, at[0]), .keyword = "all", .initial = "all", .dimension = {1, 0, 0}},
    {"y", SIM_REAL, PLANE, offsetof(sim_slice, at[1]), .keyword = "all", .initial = "all", .dimension = {1, 0, 0}},
    {"z", SIM_REAL, PLANE, offsetof(sim_slice, at[2]), .keyword = "all", .initial = "all", .dimension = {1, 0, 0}},
    {"stride", SIM_INT, "of the axes that are left, every stride-th cell from the first on",
     offsetof(sim_slice, stride), .flags = SIM_RANGE, .min = 1, .max = 1 << 30, .initial = "1"},
    {"when", SIM_CADENCE, "when it is written", offsetof(sim_slice, when), .flags = SIM_REQUIRED},
    {0}};
const sim_schema sim_slice_schema = {
    .name = "", .doc = "a part of the grid", .fields = fields, .size = sizeof(sim_slice)};

/* ---- position of a slice ---- */

static bool is_name(const char *name) {
  const size_t size = strlen(name);
  return size > 0 && size < 64 &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == size;
}

/* Index of the cell at a position along an axis; on a face the upper cell; -1: outside. A position within 1e-9 cells of
 * a face counts as on the face: 0.3 / 0.1 is below 3. */
static int64_t cell_at(const sim_extent *extent, int axis, double place) {
  const double i =
      (place - extent->mesh.offset[axis]) / extent->mesh.spacing[axis] - extent->mesh.position[axis] + 0.5 + 1e-9;
  const double n = (double)extent->n[axis];
  if (!(i >= 0 && i <= n + 2e-9)) return -1;
  return i < n ? (int64_t)i : extent->n[axis] - 1;
}

static void place_axis(sim_slice *slice, int axis, const sim_extent *extent) {
  slice->first[axis] = 0;
  slice->step[axis] = axis == extent->apart ? 1 : slice->stride;
  slice->count[axis] = (extent->n[axis] + slice->step[axis] - 1) / slice->step[axis];
}

static void place(const sim_item *item, size_t number, const sim_extent *extent, sim_faults *faults) {
  sim_slice *slice = item->data;
  int left = extent->rank;
  char path[64];
  slice->rank = extent->rank;
  for (int k = 0; k < 3; k++) {
    const int axis = extent->rank - 1 - k;
    const bool cut = !isnan(slice->at[k]);
    if (axis >= 0) place_axis(slice, axis, extent);
    if (!cut) continue;
    snprintf(path, sizeof path, "output.slices[%zu].%c", number, "xyz"[k]);
    if (axis < 0) {
      sim_faults_add(faults, item->line, path, "the grid has no axis %c", "xyz"[k]);
      continue;
    }
    const sim_mesh *mesh = &extent->mesh;
    const double low = mesh->offset[axis] + (mesh->position[axis] - 0.5) * mesh->spacing[axis];
    slice->cut[axis] = true;
    slice->first[axis] = cell_at(extent, axis, slice->at[k]);
    slice->step[axis] = slice->count[axis] = 1;
    left--;
    if (slice->first[axis] < 0)
      sim_faults_add(faults, item->line, path, "outside of the grid: expected a place from %.9g to %.9g, got %.9g", low,
                     low + (double)extent->n[axis] * mesh->spacing[axis], slice->at[k]);
  }
  snprintf(path, sizeof path, "output.slices[%zu]", number);
  if (left <= 0) sim_faults_add(faults, item->line, path, "no axis of the grid is left; for points use probes");
}

void sim_slices_place(const sim_list *slices, const char *model, const sim_extent *extent, sim_faults *faults) {
  char path[64];
  if (slices->count == 0) return;
  if (!extent) {
    sim_faults_add(faults, slices->items[0].line, "output.slices", "need a grid, and %s has none", model);
    return;
  }
  if (slices->count > SIM_SLICES_MAX)
    sim_faults_add(faults, slices->items[0].line, "output.slices", "expected at most %d, got %zu", SIM_SLICES_MAX,
                   slices->count);
  for (size_t i = 0; i < slices->count; i++) {
    const sim_slice *slice = slices->items[i].data;
    const int line = slices->items[i].line;
    snprintf(path, sizeof path, "output.slices[%zu].name", i + 1);
    if (!is_name(slice->name)) sim_faults_add(faults, line, path, "expected 1 to 63 letters, digits and _");
    for (size_t j = 0; j < i; j++)
      if (strcmp(((const sim_slice *)slices->items[j].data)->name, slice->name) == 0)
        sim_faults_add(faults, line, path, "'%s' is the name of another slice too", slice->name);
    place(&slices->items[i], i + 1, extent, faults);
  }
}

double sim_slice_share(const sim_slice *slice, const sim_extent *extent) {
  double share = 1;
  for (int axis = 0; axis < extent->rank; axis++) share *= (double)slice->count[axis] / (double)extent->n[axis];
  return share;
}

/* ---- the cells that a slice keeps ---- */

void sim_slice_shape(const sim_slice *slice, const sim_array *from, sim_array *out, sim_mesh *mesh) {
  *out = *from;
  out->rank = 0;
  out->data = NULL;
  out->mesh = mesh;
  for (int axis = 0; axis < slice->rank; axis++) {
    if (slice->cut[axis]) continue;
    const int to = out->rank++;
    /* value i is at offset + (step i + position) spacing */
    mesh->spacing[to] = from->mesh->spacing[axis] * (double)slice->step[axis];
    mesh->offset[to] = from->mesh->offset[axis];
    mesh->position[to] = from->mesh->position[axis] / (double)slice->step[axis];
    out->shape[to] = out->global[to] = slice->count[axis];
    out->offset[to] = 0;
  }
}

void sim_slice_gather(const sim_slice *slice, const sim_array *from, void *data) {
  const size_t size = sim_dtype_size(from->dtype);
  int64_t first[3] = {0}, step[3] = {1, 1, 1}, count[3] = {1, 1, 1}, n[3] = {1, 1, 1};
  for (int axis = 0; axis < slice->rank; axis++) {
    const int to = 3 - slice->rank + axis;
    first[to] = slice->first[axis];
    step[to] = slice->step[axis];
    count[to] = slice->count[axis];
    n[to] = from->shape[axis];
  }
  char *out = data;
  for (int64_t i = 0; i < count[0]; i++)
    for (int64_t j = 0; j < count[1]; j++) {
      const int64_t row = (first[0] + i * step[0]) * n[1] + first[1] + j * step[1];
      const char *in = (const char *)from->data + (size_t)(row * n[2] + first[2]) * size;
      if (step[2] == 1) memcpy(out, in, (size_t)count[2] * size);
      for (int64_t k = 0; step[2] > 1 && k < count[2]; k++)
        memcpy(out + (size_t)k * size, in + (size_t)(k * step[2]) * size, size);
      out += (size_t)count[2] * size;
    }
}
