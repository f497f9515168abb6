#include "engine/frame.h"

#include "engine/device/backend.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double sim_clock_step(const sim_clock *clock, double dt, double *after) {
  /* t is a rounded multiple of dt, or the end of an earlier run */
  const double t = clock->t, end = clock->t_end, whole = floor(t / dt * (1 + 0x1p-50) + 1e-9);
  const double next = (whole + 1) * dt;
  const bool last = whole + 1 >= ceil(end / dt * (1 - 1e-12));
  *after = last ? end : next;
  if (last && fabs(next - end) > 1e-11 * end) return end - t;
  return t - whole * dt <= 1e-9 * dt ? dt : next - t;
}

double sim_clock_free_step(const sim_clock *clock, double dt, double *after) {
  const bool last = clock->t + dt * (1 + 1e-9) >= clock->t_end;
  *after = last ? clock->t_end : clock->t + dt;
  return last ? clock->t_end - clock->t : dt;
}

bool sim_clock_is_hopeless(const sim_clock *clock, int64_t after) {
  return clock->step >= after && clock->t < (double)clock->step * 0x1p-53 * clock->t_end;
}

const sim_array *sim_frame_array(const sim_frame *frame, const char *name) {
  for (size_t i = 0; i < frame->array_count; i++)
    if (strcmp(frame->arrays[i].field->name, name) == 0) return &frame->arrays[i];
  return NULL;
}

static size_t element_count(const sim_array *array) {
  size_t count = 1;
  for (int i = 0; i < array->rank; i++) count *= (size_t)array->shape[i];
  return count;
}

size_t sim_array_bytes(const sim_array *array) { return element_count(array) * sim_dtype_size(array->dtype); }

void sim_array_of(const sim_field *field, const sim_buffer *buffer, sim_array *out) {
  *out = (sim_array){
      .field = field, .dtype = buffer->dtype, .rank = buffer->rank, .data = buffer->data, .space = buffer->space};
  memcpy(out->shape, buffer->shape, sizeof out->shape);
  memcpy(out->global, buffer->shape, sizeof out->global);
}

sim_status sim_frame_find(const sim_frame *saved, const sim_array *to, const sim_array **array) {
  const sim_array *from = *array = sim_frame_array(saved, to->field->name);
  bool same = from && from->dtype == to->dtype && from->rank == to->rank;
  for (int i = 0; i < to->rank && same; i++) same = from->shape[i] == to->shape[i];
  if (same) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE,
                  "the checkpoint's %s is missing or has another type or shape: the checkpoint is of another scenario, "
                  "or of another version of sim",
                  to->field->name);
}

sim_status sim_frame_restore(const sim_frame *saved, const sim_backend *backend, const sim_array *to) {
  const sim_array *from;
  SIM_TRY(sim_frame_find(saved, to, &from));
  if (to->space == SIM_SPACE_DEVICE) return backend->copy(to->data, from->data, sim_array_bytes(from));
  memcpy(to->data, from->data, sim_array_bytes(from));
  return SIM_OK;
}

/* Finds NaN and infinity by integer arithmetic: adding one to an exponent of all ones overflows. The loop runs over the
 * whole block, so that compilers vectorize it. */
enum { FINITE_BLOCK = 4096 };
static bool is_finite_f32(const void *data, size_t count) {
  const uint32_t *x = data;
  uint32_t over = 0;
  for (size_t i = 0; i < count; i++) over |= (x[i] & UINT32_C(0x7f800000)) + UINT32_C(0x00800000);
  return !(over >> 31);
}
static bool is_finite_f64(const void *data, size_t count) {
  const uint64_t *x = data;
  uint64_t over = 0;
  for (size_t i = 0; i < count; i++) over |= (x[i] & UINT64_C(0x7ff0000000000000)) + UINT64_C(0x0010000000000000);
  return !(over >> 63);
}

/* Returns the first index of [first, end) whose element is not finite, or `end`. */
static size_t first_of_range(const sim_array *array, size_t first, size_t end) {
  const size_t size = sim_dtype_size(array->dtype);
  bool (*const is_finite)(const void *, size_t) = array->dtype == SIM_F64 ? is_finite_f64 : is_finite_f32;
  for (size_t i = first; i < end; i += FINITE_BLOCK) {
    const char *block = (const char *)array->data + i * size;
    const size_t here = end - i < FINITE_BLOCK ? end - i : FINITE_BLOCK;
    if (is_finite(block, here)) continue;
    for (size_t k = 0; k < here; k++)
      if (!is_finite(block + k * size, 1)) return i + k;
  }
  return end;
}

/* The same of all elements; all threads look at a large array. */
static size_t first_not_finite(const sim_array *array, size_t count) {
  enum { PARTS = 64 };
  const size_t parts = count < (size_t)1 << 20 ? 1 : PARTS;
  size_t found[PARTS];
  if (array->dtype != SIM_F64 && array->dtype != SIM_F32) return count;
#pragma omp parallel for if (parts > 1)
  for (size_t k = 0; k < parts; k++)
    found[k] = first_of_range(array, count / parts * k, k + 1 < parts ? count / parts * (k + 1) : count);
  for (size_t k = 0; k + 1 < parts; k++)
    if (found[k] < count / parts * (k + 1)) return found[k];
  return found[parts - 1];
}

/* Writes which entity an element belongs to: the name that the field gives, the particle's id, or its index in the
 * array. */
static void name_element(const sim_frame *frame, const sim_array *array, size_t i, char *out, size_t capacity) {
  const size_t entities = array->rank ? (size_t)array->shape[array->rank - 1] : 1, at = entities ? i % entities : i;
  const sim_array *id = sim_frame_array(frame, "id");
  const char *const *names = array->field->choices;
  size_t named = 0;
  while (names && names[named]) named++;
  if (at < named)
    snprintf(out, capacity, " (%s)", names[at]);
  else if (frame->species_count > 0 && id && id->dtype == SIM_U64 && element_count(id) == entities)
    snprintf(out, capacity, " of the particle with id %llu", (unsigned long long)((const uint64_t *)id->data)[at]);
  else
    snprintf(out, capacity, "[%zu]", at);
}

static bool is_part(const sim_array *array) {
  bool part = false;
  for (int i = 0; i < array->rank; i++) part |= array->shape[i] != array->global[i];
  return part;
}

sim_status sim_frame_check_finite(const sim_frame *frame) {
  for (size_t a = 0; a < frame->array_count; a++) {
    const sim_array *array = &frame->arrays[a];
    if (frame->divided && is_part(array)) continue; /* rank 0 checks the whole array */
    const size_t count = element_count(array), i = first_not_finite(array, count);
    char name[128];
    if (i == count) continue;
    name_element(frame, array, i, name, sizeof name);
    return sim_fail(SIM_ERR_DIVERGED, "%s%s is not finite at step %lld, t = %.9g", array->field->name, name,
                    (long long)frame->clock.step, frame->clock.t);
  }
  return SIM_OK;
}

size_t sim_species_find(sim_species species[SIM_SPECIES_MAX], size_t *count, const char *name) {
  size_t s = 0;
  while (s < *count && strcmp(species[s].name, name) != 0) s++;
  if (s == SIM_SPECIES_MAX) return SIZE_MAX;
  if (s == *count) {
    species[(*count)++] = (sim_species){0};
    snprintf(species[s].name, sizeof species[s].name, "%s", name);
  }
  return s;
}

sim_status sim_frame_check_species(const sim_frame *saved, int64_t *count) {
  const sim_array *id = sim_frame_array(saved, "id");
  int64_t next = 0;
  if (id == NULL || id->dtype != SIM_U64 || id->rank != 1)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has no list of particles");
  *count = id->shape[0];
  for (size_t s = 0; s < saved->species_count; s++) {
    const sim_species *species = &saved->species[s];
    if (s == SIM_SPECIES_MAX || species->first != next || species->count < 0 || species->count > *count - next)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's species do not fit its particles");
    next += species->count;
    const uint64_t *ids = id->data;
    for (int64_t i = species->first + 1; i < next; i++)
      if (ids[i] <= ids[i - 1])
        return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's id[%lld] is not above the one before it", (long long)i);
  }
  if (next != *count) return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's species do not fit its particles");
  return SIM_OK;
}
