/* The order of axes and coefficients, and the arrays and tables in this order. */
#include "kernels/diffusion/cuda/work.h"

#include "engine/device/cuda.h"

static int live_kind(const grid_shape *grid, int axis) {
  return grid->n[axis] > 1 && !grid_is_member_axis(grid, axis) ? (int)grid->boundary[axis] : (int)GRID_PERIODIC;
}

/* The first periodic axis with more than one cell, else the first axis with more than one. */
static int fast_axis(const grid_shape *grid) {
  for (int axis = 0; axis < 3; axis++)
    if (grid->n[axis] > 1 && grid->boundary[axis] == GRID_PERIODIC) return axis;
  for (int axis = 0; axis < 3; axis++)
    if (grid->n[axis] > 1 && !grid_is_member_axis(grid, axis)) return axis;
  return 0;
}

diffusion_place diffusion_cuda_place(const grid_shape *grid) {
  diffusion_place place = {.axis = {fast_axis(grid)}};
  for (int axis = 0, i = 1; axis < 3; axis++)
    if (axis != place.axis[0]) place.axis[i++] = axis;
  for (int i = 0; i < 3; i++) {
    place.n[i] = grid->n[place.axis[i]];
    place.kind[i] = live_kind(grid, place.axis[i]);
    place.size[i] = place.axis[i] < grid->rank ? grid->size[place.axis[i]] : 0;
    if (grid_is_member_axis(grid, place.axis[i])) place.apart = i;
  }
  place.row = 2 * (place.n[0] / 2 + 1);
  place.field = place.row * place.n[1] * place.n[2];
  return place;
}

diffusion_place diffusion_cuda_natural(const grid_shape *grid) {
  diffusion_place place = {.row = grid->n[0], .field = grid->n[0] * grid->n[1] * grid->n[2]};
  for (int i = 0; i < 3; i++) {
    place.n[i] = grid->n[i];
    place.axis[i] = i;
    place.size[i] = i < grid->rank ? grid->size[i] : 0;
  }
  return place;
}

diffusion_spectrum diffusion_cuda_spectrum(const diffusion_place *place, bool complex) {
  diffusion_spectrum s = {.n = {place->row / 2, place->n[1], place->n[2]}, .field = place->field / 2};
  s.factor = place->kind[0] != GRID_PERIODIC ? DIFFUSION_EACH : complex ? DIFFUSION_COMPLEX : DIFFUSION_ALIKE;
  s.table[0] = s.n[0];
  for (int i = 1; i < 3; i++)
    s.table[i] = place->kind[i] == GRID_PERIODIC && !complex && i != place->apart ? place->n[i] / 2 + 1 : place->n[i];
  s.tables = s.table[0] * s.table[1] * s.table[2] * (s.factor == DIFFUSION_ALIKE ? 1 : 2);
  return s;
}

double diffusion_cuda_scale(const grid_shape *grid) {
  double scale = 1;
  for (int axis = 0; axis < 3; axis++)
    if (!grid_is_member_axis(grid, axis)) scale /= (double)grid->n[axis];
  return scale;
}

double diffusion_cuda_number_size(const diffusion_parameters *p) {
  return diffusion_single(p) ? sizeof(float) : sizeof(double);
}

int diffusion_cuda_table_parts(const diffusion_work *w) { return w->crossed ? w->fields * w->fields : w->fields; }

sim_status diffusion_cuda_take_tables(diffusion_work *w) {
  const int64_t shape[] = {w->slots * diffusion_cuda_table_parts(w), w->spectrum.tables};
  for (int t = 0; t < w->method.tables; t++)
    SIM_TRY(sim_buffer_create(&sim_backend_cuda, w->single ? SIM_F32 : SIM_F64, 2, shape, &w->table[t]));
  return SIM_OK;
}

void *diffusion_cuda_table(const diffusion_work *w, int table) {
  const size_t bytes = (size_t)w->spectrum.tables * (w->single ? sizeof(float) : sizeof(double));
  return (char *)w->table[table].data + (size_t)(w->slot * diffusion_cuda_table_parts(w)) * bytes;
}

diffusion_sums diffusion_cuda_sums(const diffusion_work *w) {
  const diffusion_spectrum *spectrum = &w->spectrum;
  diffusion_sums s = {.field = spectrum->field, .tables = spectrum->tables, .scale = w->scale};
  for (int a = 0; a < DIFFUSION_ARRAYS; a++) s.array[a] = w->array[a].data;
  for (int t = 0; t < DIFFUSION_TABLES; t++)
    if (w->table[t].data) s.table[t] = diffusion_cuda_table(w, t);
  for (int i = 0; i < 3; i++) s.n[i] = spectrum->n[i], s.table_n[i] = spectrum->table[i];
  return s;
}

bool diffusion_cuda_in_registers(const diffusion_parameters *p, int fields) {
  return (int)p->fields.count <= fields && p->members <= 1 && p->rates && diffusion_single(p) &&
         !diffusion_unfolded(p) && !diffusion_crossed(p) && !diffusion_fluctuates(p) &&
         diffusion_gradients_of(p).count == 0 && sim_cuda_overlaps();
}
