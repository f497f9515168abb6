/* Fields and sums of a state. */
#include "kernels/fluid/cpu/push.h"
#include "kernels/fluid/cpu/rheology.h"
#include "kernels/fluid/heat.h"
#include "kernels/fluid/cpu/measure.h"

#include "engine/reduce.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double fluid_cell_momentum(const fluid_machine *m, const void *first, int64_t at, double j[3]) {
  const int rank = m->lattice->rank;
  double rho1 = 0;
  for (int a = 0; a < 3; a++) j[a] = 0;
  for (int c = 0; m->populations && c < m->lattice->directions; c++) {
    const double f = fluid_weight(m->lattice, c) * grid_number(first, m->single, at + c * m->rows.stride);
    rho1 += f;
    for (int a = 0; a < rank; a++) j[a] += 3 * m->lattice->c[c][a] * f;
  }
  if (m->populations) return rho1;
  rho1 = grid_number(first, m->single, at);
  for (int a = 0; a < rank; a++) {
    rho1 += grid_number(first, m->single, at + (1 + rank + a) * m->rows.stride) / 3;
    j[a] = grid_number(first, m->single, at + (1 + a) * m->rows.stride);
  }
  return rho1;
}

double fluid_cell_velocity(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t x, double u[3]) {
  const int rank = m->lattice->rank;
  const int64_t at = fluid_row_at(&m->rows, row) + x;
  double g[3] = {0}, f[3], j[3];
  const double rho1 = fluid_cell_momentum(m, fluid_first(state), at, j);
  if (m->warmth) fluid_buoyancy(m->warmth, m->warmth->heat[0][fluid_heat_at(m, row, x)], g);
  fluid_push_of(m, state, row, x, f);
  for (int a = 0; a < 3; a++) /* half of the force is in j already */
    u[a] = a < rank ? j[a] / (3 * (1 + rho1)) - (m->collision.g[a] + g[a] + f[a]) / 2 : 0;
  for (int a = 0; a < rank && m->drag; a++) u[a] /= 1 - m->drag[row * m->grid.n[0] + x] / 2; /* the force is -drag u */
  return rho1;
}

/* How bad a cell is: INFINITY where its density has left (1/2, 3/2), as much as a number can be where its viscosity is
 * out of range, else the square of its speed. */
static double badness(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t x, fluid_worst *out) {
  double u[3];
  *out = (fluid_worst){.row = row, .x = x, .rho1 = fluid_cell_velocity(m, state, row, x, u)};
  const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  out->dense = !(out->rho1 < 0.5 && out->rho1 > -0.5) || isnan(square);
  out->speed = sqrt(square);
  if (m->rheology) out->tau = fluid_rheology_beyond(m, state, row, x);
  return out->dense ? INFINITY : out->tau > 0 ? DBL_MAX : square;
}

static bool is_solid(const fluid_machine *m, int64_t cell) { return m->walls.solid && m->walls.solid[cell]; }

void fluid_show(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers,
                const sim_buffer *state, void *const *values) {
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0];
  const double speed = numbers->dx / numbers->dt, pressure = p->density * speed * speed / 3;
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++)
    for (int64_t x = 0; x < nx; x++) {
      double u[3] = {0}, rho1 = 0;
      if (!is_solid(m, row * nx + x)) rho1 = fluid_cell_velocity(m, state, row, x, u);
      for (int a = 0; a < m->lattice->rank; a++) grid_set_number(values[a], m->single, row * nx + x, speed * u[a]);
      grid_set_number(values[m->lattice->rank], m->single, row * nx + x, pressure * rho1);
    }
}

/* The worst cell of a row; returns how bad it is, -1 where all are solid. */
static double worst_of_row(const fluid_machine *m, const sim_buffer *state, int64_t row, fluid_worst *out) {
  double most = -1;
  for (int64_t x = 0; x < m->grid.n[0]; x++) {
    fluid_worst cell;
    if (is_solid(m, row * m->grid.n[0] + x)) continue;
    const double bad = badness(m, state, row, x, &cell);
    if (!(bad > most)) continue;
    most = bad;
    *out = cell;
  }
  return most;
}

/* The worst cell of a rank. */
typedef struct rank_worst {
  double bad; /* as of worst_of_row */
  fluid_worst cell;
} rank_worst;

sim_status fluid_find_worst(const fluid_machine *m, const sim_buffer *state, double *partial, fluid_worst *out) {
  const grid_range rows = fluid_part_rows(&m->part);
  rank_worst own = {.bad = -1}, all[SIM_RANKS_MAX];
  int64_t first = rows.first;
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++) {
    fluid_worst cell;
    partial[row] = worst_of_row(m, state, row, &cell);
  }
  for (int64_t row = first; row < rows.end; row++)
    if (partial[row] > partial[first]) first = row;
  if (first < rows.end) own.bad = worst_of_row(m, state, first, &own.cell);
  SIM_TRY(m->part.comm->ops->gather(m->part.comm, &own, sizeof own, all));
  int worst = 0;
  for (int r = 1; r < m->part.comm->size; r++)
    if (all[r].bad > all[worst].bad) worst = r;
  *out = all[worst].cell;
  return SIM_OK;
}

/* ---- derivatives ---- */

void fluid_find_cut(const fluid_machine *m, const fluid_parameters *p, const int64_t at[3], int axis, int sign,
                    double *far, double velocity[3]) {
  int8_t c[3] = {0};
  int arriving = 0;
  c[axis] = (int8_t)-sign;
  for (int d = 0; d < m->lattice->directions; d++)
    if (memcmp(m->lattice->c[d], c, sizeof c) == 0) arriving = d;
  const fluid_link *link = fluid_link_of(&m->walls, at[2] * m->grid.n[1] + at[1], at[0], arriving);
  *far = 0.5;
  for (int a = 0; a < 3; a++) velocity[a] = 0;
  if (!link || link->body < 0) return;
  *far = fmax(fluid_link_part(link), 0);
  double x[3];
  for (int b = 0; b < 3; b++) x[b] = grid_centre(&m->grid, b, at[b]);
  x[axis] += sign * *far * m->grid.size[axis] / (double)m->grid.n[axis];
  const fluid_shape shape = fluid_body_shape(p, m->walls.meshes, link->body, &m->walls.pose[link->body]);
  (void)fluid_body_distance(&m->grid, &shape, x, velocity);
}

/* The value of u_a at the next point along an axis, and how far that is, in cells: the next cell; a wall at the half
 * of it; the surface of a body; the cell itself where nothing is known. */
static double next(const fluid_machine *m, const fluid_parameters *p, const void *const *fields, const int64_t at[3],
                   int a, int axis, int sign, double *far) {
  int64_t to[3] = {at[0], at[1], at[2]};
  const int64_t *n = m->grid.n;
  to[axis] += sign;
  *far = 1;
  const bool beyond = to[axis] < 0 || to[axis] >= n[axis];
  to[axis] = (to[axis] + n[axis]) % n[axis];
  const int64_t here = (at[2] * n[1] + at[1]) * n[0] + at[0], there = (to[2] * n[1] + to[1]) * n[0] + to[0];
  if (!beyond || grid_is_periodic(&m->grid, axis)) {
    double velocity[3];
    if (!is_solid(m, there)) return grid_number(fields[a], m->single, there);
    fluid_find_cut(m, p, at, axis, sign, far, velocity);
    return velocity[a];
  }
  const fluid_side *side = &p->sides[2 * axis + (sign > 0)];
  *far = 0.5;
  if (m->grid.boundary[axis] == GRID_FIXED && !side->given) return 0;
  if (m->grid.boundary[axis] == GRID_FIXED && side->velocity.rows > 0) return side->velocity.data[a];
  const double *profile = m->walls.profile[2 * axis + (sign > 0)];
  if (profile) return profile[3 * fluid_side_cell(&m->grid, 2 * axis + (sign > 0), at) + a];
  const double own = grid_number(fields[a], m->single, here);
  *far = m->grid.boundary[axis] == GRID_NO_FLUX ? 1 : 0; /* a mirror image */
  return m->grid.boundary[axis] == GRID_NO_FLUX && a == axis ? -own : own;
}

void fluid_gradient(const fluid_machine *m, const fluid_parameters *p, double dx, const void *const *fields,
                    const int64_t at[3], double out[3][3]) {
  for (int a = 0; a < m->lattice->rank; a++)
    for (int b = 0; b < m->lattice->rank; b++) {
      double low, high;
      const double below = next(m, p, fields, at, a, b, -1, &low), above = next(m, p, fields, at, a, b, 1, &high);
      out[a][b] = low + high > 0 ? (above - below) / ((low + high) * dx) : 0;
    }
}

/* ---- the table flow ---- */

/* Sums of a row, and its greatest squared speed in place of FLUID_SPEED; NaN stays. */
static void measure_row(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                        const sim_buffer *state, const void *const *fields, int64_t row, double sums[FLUID_FLOW_SUMS]) {
  const int64_t nx = m->grid.n[0];
  const double speed = k->dx / k->dt;
  for (int i = 0; i < FLUID_FLOW_SUMS; i++) sums[i] = 0;
  for (int64_t x = 0; x < nx; x++) {
    double u[3], grad[3][3], square = 0;
    if (is_solid(m, row * nx + x)) continue;
    const double rho1 = fluid_cell_velocity(m, state, row, x, u);
    for (int a = 0; a < 3; a++) {
      u[a] *= speed;
      square += u[a] * u[a];
      sums[FLUID_MOMENTUM + a] += (1 + rho1) * u[a];
    }
    sums[FLUID_MASS] += rho1;
    sums[FLUID_KINETIC] += (1 + rho1) * square / 2;
    if (!(sums[FLUID_SPEED] >= square)) sums[FLUID_SPEED] = square;
    fluid_gradient(m, p, k->dx, fields, (int64_t[]){x, row % m->grid.n[1], row / m->grid.n[1]}, grad);
    for (int a = 0; a < m->lattice->rank; a++)
      for (int b = 0; b < a; b++) sums[FLUID_ENSTROPHY] += (grad[a][b] - grad[b][a]) * (grad[a][b] - grad[b][a]) / 2;
  }
}

void fluid_flow_row(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                    const double sums[FLUID_FLOW_SUMS], double *values) {
  const double volume = pow(k->dx, m->lattice->rank), mass = p->density * volume;
  values[FLUID_MASS] = mass * ((double)m->walls.fluid + sums[FLUID_MASS]);
  values[FLUID_KINETIC] = mass * sums[FLUID_KINETIC];
  values[FLUID_ENSTROPHY] = volume * sums[FLUID_ENSTROPHY];
  values[FLUID_SPEED] = sqrt(sums[FLUID_SPEED]);
  values[FLUID_MACH] = sqrt(3 * sums[FLUID_SPEED]) * k->dt / k->dx;
  for (int a = 0; a < m->lattice->rank; a++) values[FLUID_MOMENTUM + a] = mass * sums[FLUID_MOMENTUM + a];
}

sim_status fluid_measure(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                         const sim_buffer *state, const void *const *fields, double *partial, double *values) {
  const int64_t rows = m->grid.n[1] * m->grid.n[2];
  const grid_range own = fluid_part_rows(&m->part);
  double total[FLUID_FLOW_SUMS];
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = own.first; row < own.end; row++) {
    double sums[FLUID_FLOW_SUMS];
    measure_row(m, p, k, state, fields, row, sums);
    for (int i = 0; i < FLUID_FLOW_SUMS; i++) partial[i * rows + row] = sums[i];
  }
  for (int i = 0; i < FLUID_FLOW_SUMS; i++)
    SIM_TRY(fluid_gather_planes(&m->part, (size_t)m->part.rows * sizeof *partial, partial + i * rows));
  double most = 0;
  for (int64_t row = 0; row < rows; row++)
    if (!(partial[FLUID_SPEED * rows + row] <= most)) most = partial[FLUID_SPEED * rows + row];
  for (int i = 0; i < FLUID_FLOW_SUMS; i++) total[i] = sim_reduce_tree(partial + i * rows, (size_t)rows);
  total[FLUID_SPEED] = most;
  fluid_flow_row(m, p, k, total, values);
  return SIM_OK;
}
