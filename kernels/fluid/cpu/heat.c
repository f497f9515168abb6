/* Temperature: steps, buoyancy and sums. No result depends on how rows are dealt out to threads.
 *
 * A cell has populations h_c on the neighbours along the axes and itself, w = 1/8 and w_0 = 1 - 2 rank/8, with the
 * squared speed of sound 1/4 (D2Q5, D3Q7). Of them temperature T = sum h_c and flux Q = sum c h_c after collision are
 * kept, the other moments relax at once: h_c = w (T + 4 c.Q), h_0 = w_0 T. A collision makes
 *   Q -> (1 - omega) Q + omega u T + (1 - omega/2) (u T - (u T of the step before)),
 * whose last term takes away the error d(u T)/dt of the flux (Chopard, Falcone and Latt, Eur. Phys. J. Spec. Top. 171
 * (2009) 245). The diffusivity is (1/omega - 1/2)/4. At a side with a temperature h_c = 2 w T_side - h_opposite, half a
 * cell from the centre (Ginzburg, Adv. Water Resour. 28 (2005) 1196); at others h_c = h_opposite. */
#include "kernels/fluid/fluid.h"

#include "engine/reduce.h"

#include <math.h>

#define WEIGHT 0.125

static double *moment(const fluid_warmth *w, double *heat, int which) {
  return heat + (size_t)which * (size_t)w->cells;
}

void fluid_buoyancy(const fluid_warmth *w, double temperature, double out[3]) {
  for (int a = 0; a < 3; a++) out[a] = -w->push[a] * (temperature - w->reference);
}

/* Adds a share of the force g by mass of a step, 1 or 1/2, to a cell of density rho and velocity u after collision: as
 * of Guo's force (kernels.h), to the first order in g. */
static void push_cell(const fluid_machine *m, void *first, int64_t row, int64_t x, double rho, const double u[3],
                      const double g[3], double share) {
  const int rank = m->lattice->rank;
  const int64_t pitch = m->rows.pitch, at = row * m->rows.numbers * pitch + x;
  double trace = 0;
  for (int a = 0; a < rank; a++) {
    const int64_t j = at + (1 + a) * pitch, rest = at + (m->lattice->moments + a) * pitch;
    const double old = m->single ? grid_number(first, true, rest) : 0;
    const double left =
        fluid_set_moment(m, first, j, x, grid_number(first, m->single, j) + 3 * rho * g[a] * share + old);
    if (m->single) grid_set_number(first, true, rest, left);
    for (int b = a; b < rank; b++) {
      const int64_t s = at + (a == b ? 1 + rank + a : 1 + 2 * rank + a + b - 1) * pitch;
      const double more = (a == b ? 4.5 : 9) * share * rho * (u[a] * g[b] + u[b] * g[a]);
      const double before = grid_number(first, m->single, s);
      (void)fluid_set_moment(m, first, s, x, before + more);
      if (a == b) trace += grid_number(first, m->single, s) - before;
    }
  }
  (void)fluid_set_moment(m, first, at, x, grid_number(first, m->single, at) - trace / 3);
}

/* What arrives at a cell from the neighbour at -sign along an axis. */
static double arriving(const fluid_machine *m, double *heat, const int64_t at[3], int64_t cell, int axis, int sign) {
  const fluid_warmth *w = m->warmth;
  const int64_t n = m->grid.n[axis], stride = axis == 0 ? 1 : axis == 1 ? m->grid.n[0] : m->grid.n[0] * m->grid.n[1];
  const double *T = heat, *Q = moment(w, heat, 1 + axis);
  const int64_t to = at[axis] - sign;
  if (to < 0 || to >= n) {
    if (!grid_is_periodic(&m->grid, axis)) {
      const double side = w->side[2 * axis + (sign < 0)], leaves = WEIGHT * (T[cell] - sign * 4 * Q[cell]);
      return isnan(side) ? leaves : 2 * WEIGHT * side - leaves;
    }
    cell += sign * (n - 1) * stride;
  } else {
    cell -= sign * stride;
  }
  return WEIGHT * (T[cell] + sign * 4 * Q[cell]);
}

/* Returns whether the temperature of some cell is out of bounds. */
static bool step_row(const fluid_machine *m, const sim_buffer *state, int64_t row) {
  const fluid_warmth *w = m->warmth;
  const int rank = m->lattice->rank;
  double *old = w->heat[0], *new = w->heat[1];
  void *first = fluid_first(state);
  bool wrong = false;
  for (int64_t x = 0; x < m->grid.n[0]; x++) {
    const int64_t at[3] = {x, row % m->grid.n[1], row / m->grid.n[1]}, cell = row * m->grid.n[0] + x;
    double T = (1 - 2 * WEIGHT * rank) * old[cell], Q[3], u[3], g[3];
    for (int a = 0; a < rank; a++) {
      const double up = arriving(m, old, at, cell, a, 1), down = arriving(m, old, at, cell, a, -1);
      T += up + down;
      Q[a] = up - down;
    }
    fluid_buoyancy(w, T, g);
    const double rho = 1 + fluid_cell_bare(m, state, row, x, u);
    for (int a = 0; a < rank; a++) u[a] += g[a] / 2;
    if (w->pushes) push_cell(m, first, row, x, rho, u, g, 1);
    new[cell] = T;
    for (int a = 0; a < rank; a++) {
      const double flow = u[a] * T, before = moment(w, old, 1 + rank + a)[cell];
      moment(w, new, 1 + rank + a)[cell] = flow;
      moment(w, new, 1 + a)[cell] = Q[a] + w->omega * (flow - Q[a]) + (1 - w->omega / 2) * (flow - before);
    }
    wrong = wrong || !(T >= w->least && T <= w->most);
  }
  return wrong;
}

sim_status fluid_heat_step(const fluid_machine *m, int64_t step, const sim_buffer *state) {
  fluid_warmth *w = m->warmth;
  const int64_t rows = m->grid.n[1] * m->grid.n[2], nx = m->grid.n[0];
  int wrong = 0;
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = 0; row < rows; row++)
    if (step_row(m, state, row)) {
#pragma omp atomic write
      wrong = 1;
    }
  double *old = w->heat[0];
  w->heat[0] = w->heat[1];
  w->heat[1] = old;
  for (int64_t cell = 0; wrong && cell < rows * nx; cell++) {
    const double T = w->heat[0][cell];
    if (T >= w->least && T <= w->most) continue;
    return sim_fail(SIM_ERR_DIVERGED,
                    "the temperature is %.6g in cell {%lld, %lld, %lld}, step %lld, far from those of the start and of "
                    "the sides: the run is unstable: take more cells or a higher diffusivity%s",
                    w->shift + T, (long long)(cell % nx), (long long)(cell / nx % m->grid.n[1]),
                    (long long)(cell / nx / m->grid.n[1]), (long long)step,
                    w->pushes ? ", or a higher `speed` if buoyancy drives a faster flow" : "");
  }
  return SIM_OK;
}

/* Derivative of the temperature along an axis, by cell. */
static double slope(const fluid_machine *m, const int64_t at[3], int64_t cell, int axis) {
  const fluid_warmth *w = m->warmth;
  const int64_t n = m->grid.n[axis], stride = axis == 0 ? 1 : axis == 1 ? m->grid.n[0] : m->grid.n[0] * m->grid.n[1];
  const double *T = w->heat[0];
  double value[2], far[2] = {1, 1};
  for (int i = 0; i < 2; i++) {
    const int sign = i ? 1 : -1;
    const int64_t to = at[axis] + sign;
    const bool beyond = to < 0 || to >= n, wall = beyond && !grid_is_periodic(&m->grid, axis);
    const double side = w->side[2 * axis + i];
    value[i] = !beyond       ? T[cell + sign * stride]
               : !wall       ? T[cell - sign * (n - 1) * stride]
               : isnan(side) ? T[cell]
                             : side;
    if (wall && !isnan(side)) far[i] = 0.5;
  }
  return (value[1] - value[0]) / (far[0] + far[1]);
}

void fluid_heat_start(const fluid_machine *m, const sim_buffer *state) {
  const fluid_warmth *w = m->warmth;
  const int rank = m->lattice->rank;
  const int64_t rows = m->grid.n[1] * m->grid.n[2], nx = m->grid.n[0];
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = 0; row < rows; row++)
    for (int64_t x = 0; x < nx; x++) {
      const int64_t at[3] = {x, row % m->grid.n[1], row / m->grid.n[1]}, cell = row * nx + x;
      double u[3], g[3];
      const double T = w->heat[0][cell], rho = 1 + fluid_cell_bare(m, state, row, x, u);
      fluid_buoyancy(w, T, g);
      for (int a = 0; a < rank; a++) {
        moment(w, w->heat[0], 1 + rank + a)[cell] = u[a] * T;
        moment(w, w->heat[0], 1 + a)[cell] = u[a] * T - (1 / w->omega - 1) / 4 * slope(m, at, cell, a);
      }
      if (w->pushes) push_cell(m, fluid_first(state), row, x, rho, u, g, 0.5);
    }
}

/* Heat that enters the fluid through a side in the step that begins now, in units of the lattice; 0: adiabatic. */
static double entering(const fluid_machine *m, int side, double *sums) {
  const fluid_warmth *w = m->warmth;
  const int axis = side / 2, b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2;
  const int64_t *n = m->grid.n, across = n[b] * n[c];
  const double *T = w->heat[0], *Q = moment(w, w->heat[0], 1 + axis);
  for (int64_t i = 0; i < across; i++) {
    int64_t at[3];
    at[axis] = side % 2 ? n[axis] - 1 : 0;
    at[b] = i % n[b];
    at[c] = i / n[b];
    const int64_t cell = (at[2] * n[1] + at[1]) * n[0] + at[0];
    sums[i] = 2 * WEIGHT * (w->side[side] - T[cell] - (side % 2 ? 4 : -4) * Q[cell]);
  }
  return sim_reduce_tree(sums, (size_t)across);
}

void fluid_heat_row(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k, double *values) {
  const fluid_warmth *w = m->warmth;
  const double *T = w->heat[0];
  double *sums = w->heat[1]; /* scratch between steps */
  double least = INFINITY, most = -INFINITY;
  for (int64_t i = 0; i < w->cells; i++) {
    least = fmin(least, T[i]);
    most = fmax(most, T[i]);
    sums[i] = T[i];
  }
  *values++ = w->shift + sim_reduce_tree(sums, (size_t)w->cells) / (double)w->cells;
  *values++ = w->shift + least;
  *values++ = w->shift + most;
  for (int side = 0; side < 2 * m->grid.rank; side++) {
    if (isnan(w->side[side])) continue;
    const int axis = side / 2;
    const double flux = entering(m, side, sums) * pow(k->dx, m->grid.rank) / k->dt;
    *values++ = flux;
    if (!fluid_has_nusselt(p, axis)) continue;
    const double area = pow(k->dx, m->grid.rank - 1) * (double)w->cells / (double)m->grid.n[axis];
    const double conducted = p->heat.diffusivity * area * (w->side[side] - w->side[side ^ 1]) / m->grid.size[axis];
    *values++ = flux / conducted;
  }
}
