/* Fields that are made of velocity and pressure: derived ones, running means, and Reynolds stresses. */
#include "kernels/fluid/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DERIVED_VORTICITY, DERIVED_Q, DERIVED_SHEAR, DERIVED_NAMES };
static const char *const derived_names[DERIVED_NAMES] = {"vorticity", "q", "shear"};
enum { MASK = 6 };   /* number of the mask among fluid_derived_fields */
enum { MEANS = 11 }; /* fluid_mean_fields before those of checkpoints */

static bool wants(const fluid_parameters *p, int derived) {
  return sim_output_has_field(&p->common.output, derived_names[derived]);
}

int fluid_derived_names(const void *parameters, const char *names[SIM_DERIVED_MAX]) {
  (void)parameters;
  memcpy(names, derived_names, sizeof derived_names);
  return DERIVED_NAMES;
}

int fluid_derived_count(const fluid_parameters *p) {
  const int rank = fluid_grid_of(p).rank;
  return (wants(p, DERIVED_VORTICITY) ? (rank == 2 ? 1 : 3) : 0) + wants(p, DERIVED_Q) + wants(p, DERIVED_SHEAR);
}

int fluid_means_count(const fluid_parameters *p) {
  const int rank = fluid_grid_of(p).rank;
  return p->average.given ? rank + 1 + rank * (rank + 1) / 2 + p->heat.given : 0;
}

double fluid_velocity_bytes(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  const bool wanted = fluid_derived_count(p) > 0 || p->spectrum > 0;
  return wanted ? g.rank * grid_cells_wanted(&g) * (fluid_single(p) ? sizeof(float) : sizeof(double)) : 0;
}

/* Whether a device has some planes alone. */
static bool has_planes(const fluid_run *run) {
  return run->backend->space == SIM_SPACE_DEVICE && run->machine.part.comm->size > 1;
}

/* Cells of a mean, where it is; before there is a state a bound. */
static int64_t cells_of(const fluid_run *run) {
  return has_planes(run) ? run->ops->fields(run->work)->shape[1] : grid_cells(&run->machine.grid);
}
static int64_t most_cells(const fluid_run *run) {
  const fluid_part *part = &run->machine.part;
  return has_planes(run) ? (part->end - part->first + 2) * part->rows * run->machine.grid.n[0]
                         : grid_cells(&run->machine.grid);
}

/* Whether velocity and pressure are shown in memory of a device. */
static bool is_shown_there(const fluid_run *run) {
  return run->backend->space == SIM_SPACE_DEVICE && !run->ops->tables_of_state;
}

static size_t plane_bytes(const fluid_run *run) {
  const fluid_machine *m = &run->machine;
  return (size_t)(m->part.rows * m->grid.n[0]) * (m->single ? sizeof(float) : sizeof(double));
}

/* The planes of the velocity that a rank has on its device, to their places on the host. */
static sim_status copy_planes(fluid_run *run, const sim_buffer *shown) {
  const size_t plane = plane_bytes(run), each = (size_t)shown->shape[1] * sim_dtype_size(shown->dtype);
  const int64_t planes = (int64_t)(each / plane);
  for (int a = 0; a < run->machine.grid.rank; a++)
    for (int64_t k = 0; k < planes; k++) {
      const size_t to = (size_t)a * (size_t)run->machine.part.planes + (size_t)run->ops->plane(run->work, k);
      SIM_TRY(run->backend->copy((char *)run->velocity + to * plane,
                                 (const char *)shown->data + (size_t)a * each + (size_t)k * plane, plane));
    }
  return SIM_OK;
}

sim_status fluid_velocity_here(fluid_run *run, const void *out[3]) {
  const sim_buffer *shown = run->ops->fields(run->work);
  const size_t bytes = (size_t)shown->shape[1] * sim_dtype_size(shown->dtype), rank = (size_t)run->machine.grid.rank;
  const char *first = run->velocity ? run->velocity : shown->data;
  const bool divided = run->velocity && has_planes(run);
  const size_t whole = divided ? plane_bytes(run) * (size_t)run->machine.part.planes : bytes;
  for (size_t a = 0; a < 3; a++) out[a] = a < rank ? first + a * whole : NULL;
  if (divided) SIM_TRY(copy_planes(run, shown));
  for (size_t a = 0; a < rank && divided && run->ops->tables_of_state; a++) /* those of others are not shown */
    SIM_TRY(fluid_swap_planes(&run->machine.part, &(fluid_room){.memory = NULL}, (char *)run->velocity + a * whole,
                              plane_bytes(run)));
  if (divided) return SIM_OK;
  return run->velocity ? run->backend->copy(run->velocity, shown->data, rank * bytes) : SIM_OK;
}

/* On the host each rank touches what it has of them alone. */
static sim_status create_means(fluid_run *run, size_t bytes) {
  void *made = NULL;
  if (run->backend->space == SIM_SPACE_HOST)
    made = calloc(1, bytes);
  else
    SIM_TRY(run->backend->alloc(bytes, &made));
  run->means = made;
  return made ? SIM_OK : sim_no_memory("means");
}

sim_status fluid_fields_create(fluid_run *run) {
  const size_t cells = (size_t)grid_cells(&run->machine.grid),
               size = run->machine.single ? sizeof(float) : sizeof(double);
  const size_t derived = (size_t)fluid_derived_count(run->p), means = (size_t)fluid_means_count(run->p);
  if (derived > 0 && !(run->derived = calloc(cells, derived * size))) return sim_no_memory("derived fields");
  if (means > 0) SIM_TRY(create_means(run, (size_t)most_cells(run) * means * sizeof *run->means));
  const size_t velocity = (size_t)fluid_velocity_bytes(run->p);
  if (velocity == 0 || !(is_shown_there(run) || has_planes(run))) return SIM_OK;
  if (run->machine.part.comm->size == 1) return run->backend->alloc_host(velocity, &run->velocity);
  run->velocity = calloc(1, velocity); /* a rank touches the planes that it has */
  return run->velocity ? SIM_OK : sim_no_memory("the velocity on the host");
}

void fluid_fields_destroy(fluid_run *run) {
  if (run->velocity && run->machine.part.comm->size > 1)
    free(run->velocity);
  else if (run->velocity)
    run->backend->free_host(run->velocity);
  free(run->derived);
  if (run->backend->space == SIM_SPACE_HOST)
    free(run->means);
  else
    run->backend->free(run->means);
}

/* ---- derived fields ---- */

/* Values of a cell from the derivatives of its velocity, in the order of the arrays; returns their number. */
static int derive(const fluid_parameters *p, int rank, double grad[3][3], double out[5]) {
  double strain = 0, rotation = 0;
  int count = 0;
  for (int a = 0; a < rank; a++)
    for (int b = 0; b < rank; b++) {
      strain += (grad[a][b] + grad[b][a]) * (grad[a][b] + grad[b][a]) / 4;
      rotation += (grad[a][b] - grad[b][a]) * (grad[a][b] - grad[b][a]) / 4;
    }
  for (int a = rank == 2 ? 2 : 0; a < 3 && wants(p, DERIVED_VORTICITY); a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    out[count++] = grad[c][b] - grad[b][c];
  }
  if (wants(p, DERIVED_Q)) out[count++] = (rotation - strain) / 2;
  if (wants(p, DERIVED_SHEAR)) out[count++] = sqrt(2 * strain);
  return count;
}

static sim_status derive_rows(fluid_run *run) {
  const fluid_machine *m = &run->machine;
  const grid_range rows = fluid_part_rows(&m->part);
  const void *fields[3];
  SIM_TRY(fluid_velocity_here(run, fields));
  const int64_t *n = m->grid.n, cells = grid_cells(&m->grid);
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++)
    for (int64_t x = 0; x < n[0]; x++) {
      double grad[3][3] = {{0}}, values[5];
      const int64_t cell = row * n[0] + x;
      if (!m->walls.solid || !m->walls.solid[cell])
        fluid_gradient(m, run->p, run->numbers.dx, fields, (int64_t[]){x, row % n[1], row / n[1]}, grad);
      const int count = derive(run->p, m->grid.rank, grad, values);
      for (int i = 0; i < count; i++) grid_set_number(run->derived, m->single, i * cells + cell, values[i]);
    }
  return SIM_OK;
}

/* The numbers, among fluid_derived_fields, of the arrays of a scenario. */
static int derived_numbers(const fluid_parameters *p, int rank, int out[5]) {
  int count = 0;
  for (int i = rank == 2 ? 0 : 1; i < (rank == 2 ? 1 : 4) && wants(p, DERIVED_VORTICITY); i++) out[count++] = i;
  if (wants(p, DERIVED_Q)) out[count++] = 4;
  if (wants(p, DERIVED_SHEAR)) out[count++] = 5;
  return count;
}

/* ---- means ---- */

/* The numbers, among fluid_mean_fields, of the arrays of a scenario. */
static int mean_numbers(const fluid_parameters *p, int rank, int out[MEANS]) {
  static const int flat[] = {0, 1, 3, 4, 5, 7};
  int count = rank == 2 ? 6 : 10;
  for (int i = 0; i < count; i++) out[i] = rank == 2 ? flat[i] : i;
  if (p->heat.given) out[count++] = 10;
  return count;
}

/* The number of the array of a mean in checkpoints, where names of records have no components. */
static int kept_number(int number) { return number < 3 ? MEANS + number : number; }

/* How many samples there are with that of a step. */
static int64_t samples(const fluid_run *run, int64_t step) {
  const fluid_average *a = &run->p->average;
  const double first = fmax(ceil(ceil(a->from / run->numbers.dt * (1 - 1e-12)) / (double)a->every), 0);
  return step / a->every - (int64_t)first + 1;
}

/* Adds sample number n of a cell to its means, [count] apart by `cells` (Welford, Technometrics 4 (1962) 419): the
 * stress is C/n, C += (u_a - mean_a before)(u_b - mean_b after). */
static void add_sample(double *mean, int64_t cells, int rank, int64_t n, const double u[3], double pressure) {
  static const int pair[2][6][2] = {{{0, 0}, {1, 1}, {0, 1}}, {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};
  double before[3], after[3];
  const int pairs = rank * (rank + 1) / 2;
  for (int a = 0; a < rank; a++) {
    before[a] = u[a] - mean[a * cells];
    mean[a * cells] += before[a] / (double)n;
    after[a] = u[a] - mean[a * cells];
  }
  mean[rank * cells] += (pressure - mean[rank * cells]) / (double)n;
  for (int i = 0; i < pairs; i++) {
    double *stress = &mean[(rank + 1 + i) * cells];
    const int *ab = pair[rank - 2][i];
    /* The same product for either order of the two but for rounding. */
    *stress += (before[ab[0]] * after[ab[1]] - *stress) / (double)n;
  }
}

sim_status fluid_take_sample(fluid_run *run, const sim_clock *clock) {
  const fluid_machine *m = &run->machine;
  const fluid_numbers *k = &run->numbers;
  const sim_buffer *state = run->ops->state(run->work);
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0], cells = grid_cells(&m->grid);
  const int64_t n = clock->step % run->p->average.every == 0 ? samples(run, clock->step) : 0;
  const double speed = k->dx / k->dt, pressure = run->p->density * speed * speed / 3;
  double *warm = m->warmth ? run->means + (fluid_means_count(run->p) - 1) * cells : NULL;
  if (n < 1) return SIM_OK;
  if (run->ops->sample) return run->ops->sample(run->work, n, run->means);
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++)
    for (int64_t x = 0; x < nx; x++) {
      double u[3];
      if (m->walls.solid && m->walls.solid[row * nx + x]) continue;
      const double rho1 = fluid_cell_velocity(m, state, row, x, u);
      for (int a = 0; a < m->grid.rank; a++) u[a] *= speed;
      add_sample(run->means + row * nx + x, cells, m->grid.rank, n, u, pressure * rho1);
      if (!warm) continue;
      const double here = m->warmth->shift + m->warmth->heat[0][fluid_heat_at(m, row, x)];
      warm[row * nx + x] += (here - warm[row * nx + x]) / (double)n;
    }
  return SIM_OK;
}

/* ---- arrays ---- */

bool fluid_has_mask(const fluid_parameters *p) { return p->bodies.count > 0 || p->solid.given; }

/* The cells that are solid as the state has them: a body that moves is where it has cleared cells. */
static sim_array mask_of(const fluid_run *run) {
  const fluid_machine *m = &run->machine;
  sim_array out = grid_view(&m->grid, &run->mesh, &fluid_derived_fields[MASK], SIM_U8, m->walls.solid, SIM_SPACE_HOST);
  out.once = !m->motion;
  return out;
}

static sim_array mean_array(const fluid_run *run, int number, int at) {
  const int64_t cells = cells_of(run);
  return grid_view(&run->machine.grid, &run->mesh, &fluid_mean_fields[number], SIM_F64, run->means + at * cells,
                   run->backend->space);
}

/* Cells in bodies have the mean temperature that they are shown with; bodies do not move where there are means. */
static sim_status fill_bodies(fluid_run *run) {
  if (run->ops->sample) return run->ops->sample(run->work, 0, run->means);
  const fluid_machine *m = &run->machine;
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0];
  double *warm = run->means + (fluid_means_count(run->p) - 1) * grid_cells(&m->grid);
  for (int64_t at = rows.first * nx; at < rows.end * nx && m->walls.solid; at++)
    if (m->walls.solid[at]) warm[at] = m->warmth->shown[at];
  return SIM_OK;
}

sim_status fluid_add_fields(fluid_run *run, sim_array *arrays, sim_frame *frame) {
  const grid_shape *g = &run->machine.grid;
  const sim_dtype type = run->machine.single ? SIM_F32 : SIM_F64;
  const size_t bytes = (size_t)grid_cells(g) * sim_dtype_size(type);
  int numbers[MEANS];
  if (run->derived) SIM_TRY(derive_rows(run));
  if (run->means && run->machine.warmth) SIM_TRY(fill_bodies(run));
  for (int i = 0, count = derived_numbers(run->p, g->rank, numbers); i < count; i++)
    arrays[frame->array_count++] = grid_view(g, &run->mesh, &fluid_derived_fields[numbers[i]], type,
                                             (char *)run->derived + (size_t)i * bytes, SIM_SPACE_HOST);
  if (run->machine.walls.solid) arrays[frame->array_count++] = mask_of(run);
  for (int i = 0, count = run->means ? mean_numbers(run->p, g->rank, numbers) : 0; i < count; i++)
    arrays[frame->array_count++] = mean_array(run, numbers[i], i);
  for (int a = 0; a < g->rank && run->means; a++) arrays[frame->array_count++] = mean_array(run, kept_number(a), a);
  return SIM_OK;
}

sim_status fluid_restore_means(fluid_run *run, const sim_setup *setup) {
  const fluid_part *part = &run->machine.part;
  const size_t plane = (size_t)(part->rows * run->machine.grid.n[0]);
  int numbers[MEANS];
  for (int i = 0, count = run->means ? mean_numbers(run->p, run->machine.grid.rank, numbers) : 0; i < count; i++) {
    const sim_array to = mean_array(run, kept_number(numbers[i]), i), *from;
    const int64_t first = has_planes(run) ? run->ops->first_plane(run->work) : part->first;
    SIM_TRY(sim_frame_find(setup->saved, &to, &from));
    SIM_TRY(run->backend->copy((double *)to.data + (size_t)first * plane,
                               (const double *)from->data + (size_t)part->first * plane,
                               (size_t)(part->end - part->first) * plane * sizeof(double)));
  }
  return SIM_OK;
}
