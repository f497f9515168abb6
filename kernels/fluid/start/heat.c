/* Temperature: its numbers in units of the lattice, and the field of the start. */
#include "kernels/fluid/heat.h"
#include "kernels/fluid/scenario/rules.h"

#include <math.h>
#include <stdlib.h>

fluid_side_kind fluid_side_kind_of(const fluid_parameters *p, int s) {
  const fluid_side *side = &p->sides[s];
  if (!side->given) return FLUID_SIDE_KEEPS;
  if (!isnan(side->pressure)) return FLUID_SIDE_OPEN;
  return fluid_side_passes(side, s) ? FLUID_SIDE_GIVEN : FLUID_SIDE_KEEPS;
}

bool fluid_tells_side(const fluid_parameters *p, int s) {
  return !isnan(p->heat.side[s]) || !isnan(p->heat.flux[s]) || fluid_side_kind_of(p, s) != FLUID_SIDE_KEEPS;
}

bool fluid_is_passed(const fluid_parameters *p) {
  bool out = false;
  for (int s = 0; s < FLUID_SIDES; s++) out = out || fluid_side_kind_of(p, s) != FLUID_SIDE_KEEPS;
  return out;
}

double fluid_heat_far(const fluid_parameters *p, double *low, double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (int i = 0; i < FLUID_SIDES + (int)p->bodies.count; i++) {
    const double T = i < FLUID_SIDES ? p->heat.side[i] : fluid_body_of(p, i - FLUID_SIDES)->temperature;
    *low = fmin(*low, T); /* NaN is ignored */
    *high = fmax(*high, T);
  }
  if (!fluid_is_passed(p) || !(*high > *low)) return 0;
  return fmax(0, fmax(*low - p->heat.reference, p->heat.reference - *high)) / (*high - *low);
}

bool fluid_has_nusselt(const fluid_parameters *p, int axis) {
  const double *side = p->heat.side + (size_t)2 * (size_t)axis;
  return !isnan(side[0]) && !isnan(side[1]) && side[0] != side[1] &&
         fluid_side_kind_of(p, 2 * axis) == FLUID_SIDE_KEEPS && fluid_side_kind_of(p, 2 * axis + 1) == FLUID_SIDE_KEEPS;
}

double fluid_body_length(const fluid_parameters *p, int body, double *area) {
  static const double pi = 3.14159265358979323846;
  const fluid_body *b = fluid_body_of(p, body);
  const grid_shape g = fluid_grid_of(p);
  const fluid_shape shape = fluid_body_shape(p, NULL, body, NULL);
  const bool cylinder = shape.wall.shape == GEOMETRY_CYLINDER;
  double low[3], high[3];
  *area = 0;
  if (isnan(b->temperature) || b->temperature == p->heat.reference || shape.wall.shape == GEOMETRY_BLOCK ||
      shape.wall.shape == GEOMETRY_MESH)
    return 0;
  if (fluid_body_tilted(&shape.wall)) return 0;
  *area = g.rank == 2 ? 2 * pi * b->radius : 4 * pi * b->radius * b->radius;
  fluid_body_extent(&shape, low, high);
  for (int a = 0; a < g.rank; a++) {
    if (cylinder && g.rank == 3 && isinf(high[a])) {
      *area = 2 * pi * b->radius * g.size[a];
      continue;
    }
    const bool fits = grid_is_periodic(&g, a) ? high[a] - low[a] <= g.size[a] : low[a] >= 0 && high[a] <= g.size[a];
    if (!fits) return 0;
  }
  return 2 * b->radius;
}

double fluid_heat_numbers(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  const fluid_rows rows = fluid_rows_of(p);
  return (double)g.n[1] * (double)g.n[2] * (1 + g.rank) * (double)rows.pitch + 2 * FLUID_PAD;
}

double fluid_heat_rate(const grid_shape *grid, int threads) { return (grid->rank == 2 ? 1e8 : 4e7) * threads; }

/* Widens the range of temperatures by those of rows of the start, but for solid cells; `solid` may be NULL. */
static void widen(int64_t cells, const bool *solid, const double *T, double *low, double *high) {
  for (int64_t i = 0; i < cells; i++) {
    if (solid && solid[i]) continue;
    *low = fmin(*low, T[i]); /* NaN is ignored */
    *high = fmax(*high, T[i]);
  }
}

/* Bounds of temperatures: as far again below and above those of the start, sides and bodies as these are apart. Where
 * the fluid passes a side heat is counted from `reference`, and solid cells have that number: it is within bounds. */
static sim_status find_bounds(const fluid_parameters *p, double low, double high, double *least, double *most) {
  const double room = high - low + 1e-6 * fmax(fabs(low), fabs(high)) + 1e-300, reference = p->heat.reference;
  *least = low - room;
  *most = high + room;
  if (!fluid_is_passed(p) || (reference >= *least && reference <= *most)) return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO,
                  "heat.reference: is %.6g, far from the temperatures of the start, sides and bodies, %.6g to %.6g: "
                  "where the fluid passes a side, compression changes temperatures by parts of what they are from "
                  "there: expected one of these, such as %.6g",
                  reference, low, high, reference < low ? low : high);
}

/* The least and the greatest temperature of the start, on all ranks. */
static sim_status find_first_range(const fluid_machine *m, fluid_warmth *w) {
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t first = rows.first * m->grid.n[0], cells = rows.end * m->grid.n[0] - first;
  double own[2] = {INFINITY, -INFINITY}, all[SIM_RANKS_MAX][2];
  widen(cells, m->walls.solid ? m->walls.solid + first : NULL, w->shown + first, &own[0], &own[1]);
  SIM_TRY(m->part.comm->ops->gather(m->part.comm, own, sizeof own, all));
  w->low = INFINITY;
  w->high = -INFINITY;
  for (int r = 0; r < m->part.comm->size; r++) {
    w->low = fmin(w->low, all[r][0]);
    w->high = fmax(w->high, all[r][1]);
  }
  return SIM_OK;
}

/* Temperatures of the start, sides and bodies, `w->shown` for the first, become those above the shift. */
static sim_status set_range(const fluid_parameters *p, const fluid_machine *m, fluid_warmth *w) {
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0];
  const bool *solid = m->walls.solid;
  SIM_TRY(find_first_range(m, w));
  widen(FLUID_SIDES, NULL, w->side, &w->low, &w->high);
  widen(FLUID_BODIES, NULL, w->body, &w->low, &w->high);
  SIM_TRY(find_bounds(p, w->low, w->high, &w->law.least, &w->law.most));
  double rise, fall;
  fluid_flux_room(p, &rise, &fall);
  w->shift = fluid_is_passed(p) ? p->heat.reference : w->low + (w->high - w->low) / 2;
  w->low -= w->shift + fall;
  w->high -= w->shift - rise;
  w->law.least -= w->shift + 2 * (rise + fall);
  w->law.most -= w->shift - 2 * (rise + fall);
  w->law.reference = p->heat.reference - w->shift;
  for (int s = 0; s < FLUID_SIDES; s++) w->side[s] -= w->shift;
  for (int b = 0; b < FLUID_BODIES; b++) w->body[b] -= w->shift;
  for (int64_t i = rows.first * nx; w->heat[0] && i < rows.end * nx; i++)
    if (!(solid && solid[i]))
      w->heat[0][FLUID_PAD + i / nx * (1 + m->grid.rank) * m->rows.pitch + i % nx] = w->shown[i] - w->shift;
  return SIM_OK;
}

int64_t fluid_heat_rows(const grid_shape *g) {
  const int64_t rows = g->n[1] * g->n[2], few = ((int64_t)1 << 18) / g->n[0];
  return few < 1 ? 1 : few < rows ? few : rows;
}

sim_status fluid_heat_fill(const fluid_parameters *p, grid_range rows, const sim_setup *setup, int threads,
                           double *out) {
  static const grid_file none = {0};
  const grid_shape g = fluid_grid_of(p);
  const int64_t cells = (rows.end - rows.first) * g.n[0];
  const grid_start start = {.path = "heat", .name = "temperature", .initial = p->heat.initial, .file = &none};
  for (int64_t i = 0; i < cells; i++) out[i] = p->heat.reference;
  if (p->heat.initial) SIM_TRY(grid_fill(&g, rows, &start, false, 0, setup->isa, threads, out));
  for (int64_t i = 0; i < cells; i++)
    if (!(fabs(out[i]) <= FLUID_HEAT_MOST))
      return sim_fail(SIM_ERR_SCENARIO, "heat.initial: a temperature is %.6g: expected one from %g to %g", out[i],
                      -FLUID_HEAT_MOST, FLUID_HEAT_MOST);
  return SIM_OK;
}

sim_status fluid_heat_check(const fluid_parameters *p, const fluid_numbers *k, const fluid_walls *walls,
                            const sim_setup *setup) {
  const grid_shape g = fluid_grid_of(p);
  const grid_range all = grid_all_rows(&g);
  if (!p->heat.given) return SIM_OK;
  const int64_t each = fluid_heat_rows(&g);
  double *T = malloc((size_t)(each * g.n[0]) * sizeof *T), low, high, least, most;
  if (!T) return sim_no_memory("the temperature");
  sim_status status = SIM_OK;
  (void)fluid_heat_far(p, &low, &high);
  for (int64_t i = 0; status == SIM_OK && i < all.end; i += each) {
    const grid_range rows = {i, i + each < all.end ? i + each : all.end};
    status = fluid_heat_fill(p, rows, setup, setup->threads, T);
    if (status != SIM_OK) break;
    widen((rows.end - i) * g.n[0], walls->solid ? walls->solid + i * g.n[0] : NULL, T, &low, &high);
  }
  free(T);
  if (status == SIM_OK) status = find_bounds(p, low, high, &least, &most);
  fluid_levels levels = {.n = 0};
  if (status == SIM_OK) status = fluid_levels_create(p, walls->solid, NULL, all, &sim_comm_alone, setup, &levels);
  if (status == SIM_OK) fluid_tell_buoyancy(p, &levels);
  if (status == SIM_OK) status = fluid_check_levels(p, k, &levels);
  fluid_levels_destroy(&levels);
  return status;
}

static void set_law(const fluid_parameters *p, const fluid_machine *m, const fluid_numbers *k, fluid_warmth *w) {
  w->law = (fluid_heat_law){.lattice = m->populations ? m->lattice : NULL,
                            .omega = 1 / k->heat_tau,
                            .share = 1,
                            .flow_tau = k->tau,
                            .eddies = p->turbulence.given ? m->collision.tell : 0,
                            .force = (int)m->rows.force};
  if (p->turbulence.given) w->law.conduct = 4 / (3 * p->turbulence.prandtl);
  for (int a = 0; a < 3; a++) {
    const double gravity = (size_t)a < p->heat.gravity.rows ? p->heat.gravity.data[a] : 0;
    w->law.g[a] = m->collision.g[a];
    w->law.push[a] = p->heat.expansion * gravity * k->dt * k->dt / k->dx;
    w->law.pushes = w->law.pushes || w->law.push[a] != 0;
  }
  for (int s = 0; s < FLUID_SIDES; s++) {
    const sim_doubles *u = &p->sides[s].velocity;
    const size_t axis = (size_t)s / 2;
    w->side[s] = p->heat.side[s];
    w->kind[s] = fluid_side_kind_of(p, s);
    w->velocity[s] = p->sides[s].given && axis < u->rows ? (s % 2 ? -1 : 1) * u->data[axis] : 0;
  }
  for (int b = 0; b < FLUID_BODIES; b++) w->body[b] = b < (int)p->bodies.count ? fluid_body_of(p, b)->temperature : NAN;
}

/* Room for the two states. */
static sim_status allocate(const fluid_machine *m, const sim_setup *setup, fluid_warmth *out) {
  const size_t plane = (size_t)(m->part.rows * (1 + m->grid.rank) * m->rows.pitch) * sizeof(double);
  SIM_TRY(fluid_room_create(&m->part, 2, (size_t)out->numbers * sizeof(double), FLUID_BEFORE * sizeof(double), plane,
                            &out->common));
  for (int i = 0; i < 2; i++) {
    out->heat[i] = (double *)(void *)(out->common.memory + (size_t)i * out->common.each);
    if (out->common.memory) continue;
    SIM_TRY(sim_buffer_create(setup->backend, SIM_F64, 1, (int64_t[]){out->numbers}, &out->room[i]));
    out->heat[i] = out->room[i].data;
  }
  return SIM_OK;
}

sim_status fluid_heat_create(const fluid_parameters *p, const fluid_machine *m, const fluid_numbers *k,
                             const sim_setup *setup, fluid_warmth *out) {
  const double numbers = fluid_heat_numbers(p);
  const bool here = setup->backend->space == SIM_SPACE_HOST;
  *out = (fluid_warmth){.kernels = fluid_heat_kernels_of(m->single, setup->isa)};
  if (!(numbers < 0x1p58)) return sim_no_memory("the temperature");
  out->numbers = (int64_t)numbers;
  if (here) SIM_TRY(allocate(m, setup, out));
  out->shown = calloc((size_t)grid_cells(&m->grid), sizeof *out->shown);
  out->sums = calloc((size_t)(m->grid.n[0] + m->grid.n[1] * m->grid.n[2]), sizeof *out->sums);
  if (!out->shown || !out->sums) return sim_no_memory("the temperature");
  set_law(p, m, k, out);
  SIM_TRY(fluid_flux_create(p, m, k, out));
  const grid_range rows = fluid_part_rows(&m->part);
  SIM_TRY(fluid_heat_fill(p, rows, setup, setup->threads, out->shown + rows.first * m->grid.n[0]));
  SIM_TRY(set_range(p, m, out));
  return fluid_levels_create(p, m->walls.solid, out->shown, rows, m->part.comm, setup, &out->levels);
}

void fluid_heat_destroy(fluid_warmth *w) {
  for (int i = 0; i < 2; i++) sim_buffer_destroy(&w->room[i]);
  fluid_room_destroy(&w->common);
  free(w->shown);
  free(w->sums);
  free(w->share);
  fluid_levels_destroy(&w->levels);
  *w = (fluid_warmth){0};
}

sim_status fluid_heat_fail(const fluid_machine *m, int64_t step, int64_t row, int64_t x, double T) {
  const fluid_warmth *w = m->warmth;
  return sim_fail(SIM_ERR_DIVERGED,
                  "the temperature is %.6g in cell {%lld, %lld, %lld}, step %lld, far from those of the start, of "
                  "sides and bodies: the run is unstable: take more cells or a higher diffusivity%s",
                  w->shift + T, (long long)x, (long long)(row % m->grid.n[1]), (long long)(row / m->grid.n[1]),
                  (long long)step, w->law.pushes ? ", or a higher `speed` if buoyancy drives a faster flow" : "");
}

double fluid_heat_beyond(const fluid_warmth *w, const fluid_heat_sums *sums) {
  return w->high > w->low ? fmax(w->low - sums->least, sums->most - w->high) / (w->high - w->low) : 0;
}

void fluid_heat_row_of(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                       const fluid_heat_sums *sums, double *values) {
  const fluid_warmth *w = m->warmth;
  const int rank = m->grid.rank;
  const double unit = pow(k->dx, rank) / k->dt;
  *values++ = w->shift + sums->sum / (double)m->walls.fluid;
  *values++ = w->shift + sums->least;
  *values++ = w->shift + sums->most;
  for (int side = 0; side < 2 * rank; side++) {
    if (!fluid_tells_side(p, side)) continue;
    const double flux = sums->side[side] * unit, height = m->grid.size[side / 2];
    *values++ = flux;
    if (!isnan(p->heat.flux[side])) *values++ = w->shift + sums->side_warm[side] / sums->side_area[side];
    if (!fluid_has_nusselt(p, side / 2)) continue;
    double area = 1;
    for (int a = 0; a < rank; a++) area *= a == side / 2 ? 1 : m->grid.size[a];
    *values++ = flux / (p->heat.diffusivity * area * (w->side[side] - w->side[side ^ 1]) / height);
  }
  for (int b = 0; b < (int)p->bodies.count; b++) {
    double area;
    const double length = fluid_body_length(p, b, &area), apart = fluid_body_of(p, b)->temperature - p->heat.reference;
    const bool flux = !isnan(fluid_body_of(p, b)->flux);
    if (isnan(w->body[b]) && !flux) continue;
    *values++ = sums->body[b] * unit;
    if (flux)
      *values++ = sums->body_area[b] > 0 ? w->shift + sums->body_warm[b] / sums->body_area[b] : p->heat.reference;
    if (length > 0) *values++ = sums->body[b] * unit / (p->heat.diffusivity * area * apart / length);
  }
}
