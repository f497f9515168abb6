/* Check of rates with derivatives at the initial state, by the code that observes functions of the fields. */
#include "kernels/diffusion/observe.h"
#include "kernels/diffusion/waves.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* rates, fluxes, and how fluxes spread their fields */
enum { RESULTS = DIFFUSION_FIELDS + 2 * DIFFUSION_FLUXES };

/* Builds one result of rates or fluxes alone. */
static sim_status result_of(const sim_expr *rates, int result, sim_expr **out) {
  sim_expr_builder *b;
  sim_expr_ref in[DIFFUSION_INPUTS], results[RESULTS];
  *out = NULL;
  SIM_TRY(sim_expr_builder_create(&b));
  sim_status status = SIM_OK;
  for (int i = 0; status == SIM_OK && i < sim_expr_input_count(rates); i++)
    status = sim_expr_builder_input(b, sim_expr_input_name(rates, i), &in[i]);
  if (status == SIM_OK) status = sim_expr_builder_insert(b, rates, in, results);
  if (status == SIM_OK) status = sim_expr_builder_finish(b, &results[result], (const char *const[]){"rate"}, 1, out);
  sim_expr_builder_free(&b);
  return status;
}

/* Builds the derivative of the flux of a field along an axis by the field's own derivative there; no more than one
 * result of `flux`. *out is NULL where the flux does not take that derivative. */
static void spreading_of(const diffusion_parameters *p, int field, int axis, sim_expr **out) {
  const int input = diffusion_input(p, field, axis), axes = (int)p->grid.n.rows;
  sim_expr *slopes;
  *out = NULL;
  if (!diffusion_has_kind(p, field, axis) || !diffusion_takes(p->flux, input)) return;
  if (sim_expr_derivative(p->flux, input, &slopes) != SIM_OK) return; /* too large: there is no warning */
  if (result_of(slopes, field * axes + axis, out) != SIM_OK) *out = NULL;
  sim_expr_free(&slopes);
}

/* Warns where a flux spreads a field more than D does, which is exact, and steps are too long for that. A step
 * multiplies the shortest wave by a polynomial of the flux's part, which is above 1 beyond `limits`. */
static void warn_of_spreading(const diffusion_parameters *p, int field, int axis, double spread) {
  static const double limits[DIFFUSION_SCHEMES] = {
      [DIFFUSION_LIE] = 2, [DIFFUSION_ETD1] = 2, [DIFFUSION_ETDRK2] = 2, [DIFFUSION_ETDRK4] = 2.785};
  const diffusion_integrate *i = &p->integrate;
  if (diffusion_implicit(p)) return;
  const diffusion_field *s = diffusion_field_of(p, field);
  const double keep = diffusion_dealias(i) > 0 ? diffusion_dealias(i) : 1;
  const double wave = keep * DIFFUSION_PI * p->grid.n.data[axis] / p->grid.size.data[axis], own = s->D * s->axes[axis];
  const double longest = limits[i->scheme] / (spread * wave * wave);
  const double step = !diffusion_adaptive(p) ? diffusion_dt(i) : isnan(i->dt_max) ? i->t_end / 64 : i->dt_max;
  /* where the whole is less than twice D, no wave grows */
  if (!(spread > 1.2 * own && step > longest) || s->hyper != 0 || s->linear || s->conserved) return;
  sim_log(
      SIM_LOG_WARN,
      "flux spreads %s along %c like D = %.3g at the start, and D of fields[%d] is %.3g there: steps above %.3g are "
      "unstable. With D = %.3g, and %.3g * %s_%c added to the flux, D is solved exactly and they are not; nor are "
      "they with scheme = \"rodas3\"",
      s->name, "xyz"[axis], spread, field + 1, own, longest, (own + spread) / 2, (spread - own) / 2, s->name,
      "xyz"[axis]);
}

/* Warns where the flux of a field is not 0 at a wall with a slope or no flux. Its series is 0 there: through the wall
 * goes -D slope in all, and the flux takes the place of a part of the slope. */
static void warn_of_walls(const diffusion_parameters *p, diffusion_observer *observer, int field, int axis) {
  const diffusion_field *s = diffusion_field_of(p, field);
  const int result = (int)p->fields.count + field * (int)p->grid.n.rows + axis;
  for (int end = 0; end < 2; end++) {
    double slope, wall, most;
    char through[64] = "0";
    if (!diffusion_wall_lets(p, field, axis, end, &slope)) continue;
    diffusion_observer_wall(observer, (size_t)result, axis, end, &wall, &most);
    if (!(fabs(wall) > 1e-3 * most)) continue; /* extrapolated values have errors */
    if (slope != 0) snprintf(through, sizeof through, "-D * slope = %.4g", -s->D * s->axes[axis] * slope);
    sim_log(SIM_LOG_WARN,
            "flux: that of %s is %.3g at %s at the start: D and flux together let %s through there, so that %s_%c is "
            "not %.4g, and errors fall as the length of a cell alone. To hold %s_%c, write the term in `rates`, or "
            "take off the flux what is not 0 at the wall, and add what spreads to D",
            s->name, wall, diffusion_side_names[2 * axis + end], through, s->name, "xyz"[axis], slope, s -> name,
            "xyz"[axis]);
  }
}

static sim_status check(const diffusion_parameters *p, sim_isa isa, int threads, const void *const *real_fields) {
  diffusion_observer *observer;
  double sums[RESULTS]; /* and least values */
  sim_status status = diffusion_observer_create(p, isa, threads, &observer);
  if (status == SIM_OK) status = diffusion_observer_row(observer, DIFFUSION_FUNCTIONS, real_fields, 0, sums);
  const int fields = (int)p->fields.count, axes = (int)p->grid.n.rows, results = fields + (p->flux ? fields * axes : 0);
  for (int i = 0; status == SIM_OK && i < results; i++)
    if (!isfinite(sums[i]))
      status = i < fields
                   ? sim_fail(SIM_ERR_SCENARIO, "rates: the rate of %s is %g somewhere at the start",
                              diffusion_field_of(p, i)->name, sums[i])
                   : sim_fail(SIM_ERR_SCENARIO, "flux: the flux of %s along %c is %g somewhere at the start",
                              diffusion_field_of(p, (i - fields) / axes)->name, "xyz"[(i - fields) % axes], sums[i]);
  for (int i = 0; status == SIM_OK && i < results - fields; i++) warn_of_walls(p, observer, i / axes, i % axes);
  for (int i = results; status == SIM_OK && i < (int)p->observe.count; i++) {
    const int flux = p->observe.items[i].line; /* its number */
    warn_of_spreading(p, flux / axes, flux % axes, -sums[i]);
  }
  diffusion_observer_destroy(&observer);
  return status;
}

/* Gathers the whole fields of several ranks in whole[fields]. The caller frees them in any case. */
static sim_status gather(const diffusion_parameters *p, const sim_setup *setup, const void *const *real_fields,
                         void **whole) {
  const grid_shape grid = diffusion_grid_of(p);
  const bool single = diffusion_single(p);
  const size_t row = (size_t)grid.n[0] * (single ? sizeof(float) : sizeof(double));
  const grid_range rows = diffusion_own_rows(&grid, single, setup->comm), all = grid_all_rows(&grid);
  for (int f = 0; f < (int)p->fields.count; f++) {
    if ((whole[f] = malloc((size_t)all.end * row)) == NULL) return sim_no_memory("the initial values");
    memcpy((char *)whole[f] + (size_t)rows.first * row, real_fields[f], (size_t)(rows.end - rows.first) * row);
    SIM_TRY(diffusion_gather_rows(&grid, single, setup->comm, row, whole[f]));
  }
  return SIM_OK;
}

sim_status diffusion_check_derived(const diffusion_parameters *p, const sim_setup *setup,
                                   const void *const *real_fields) {
  const double most = 1 << 22; /* cells: beyond that the check would need memory that the run does not */
  const grid_shape grid = diffusion_grid_of(p);
  sim_named_function items[RESULTS] = {{0}};
  diffusion_parameters rates = *p;
  sim_status status = SIM_OK;
  const int fields = (int)p->fields.count, fluxes = diffusion_gradients_of(p).fluxes;
  if ((diffusion_gradients_of(p).count == 0 && fluxes == 0) || p->members > 1 || grid_cells_wanted(&grid) > most)
    return SIM_OK;
  rates.observe = (sim_function_map){items, (size_t)(fields + fluxes)};
  rates.spectrum = rates.transfer = rates.enstrophy = rates.helicity = 0;
  rates.structure.given = false;
  rates.probes.rows = 0;
  rates.common.output.fields = NULL;
  for (int i = 0; status == SIM_OK && i < fields + fluxes; i++)
    status = result_of(i < fields ? p->rates : p->flux, i < fields ? i : i - fields, &items[i].expr);
  for (int i = 0; status == SIM_OK && i < fluxes; i++) {
    const int axes = (int)p->grid.n.rows;
    sim_expr *spreading;
    spreading_of(p, i / axes, i % axes, &spreading);
    if (spreading)
      items[rates.observe.count++] = (sim_named_function){.expr = spreading, .reduce = SIM_LEAST, .line = i};
  }
  void *whole[DIFFUSION_FIELDS] = {NULL};
  const bool divided = setup->comm->size > 1;
  if (status == SIM_OK && divided) status = gather(p, setup, real_fields, whole);
  if (status == SIM_OK)
    status = check(&rates, setup->isa, setup->threads, divided ? (const void *const *)whole : real_fields);
  for (int f = 0; f < DIFFUSION_FIELDS; f++) free(whole[f]);
  for (int i = 0; i < RESULTS; i++) sim_expr_free(&items[i].expr);
  return status;
}
