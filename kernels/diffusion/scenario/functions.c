/* Rules of the functions of a scenario, and of the solenoidal vector. */
#include "kernels/diffusion/diffusion.h"
#include "kernels/diffusion/observe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *diffusion_not_periodic(const grid_shape *grid, int axis) {
  const bool there = axis < grid->rank && !grid_is_member_axis(grid, axis);
  return there ? "is not a periodic axis" : "is no axis of the grid";
}

/* axes[kind]: the axes of a derivative */
static const int axes_of_kind[DIFFUSION_LAPLACIAN][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 0}, {1, 1},
                                                         {2, 2}, {0, 1}, {0, 2}, {1, 2}};

/* Returns the axis of a derivative that the grid lacks; -1: it has all. */
static int absent_axis(const grid_shape *grid, int kind) {
  for (int k = 0; k < 2 && kind < DIFFUSION_LAPLACIAN; k++) {
    const int axis = axes_of_kind[kind][k];
    if (axis >= grid->rank || grid_is_member_axis(grid, axis)) return axis;
  }
  return -1;
}

/* Removes from inputs[count] the names that a message about an unknown one need not have: derivatives along axes that
 * the grid lacks, unless the function takes them. Returns whether the function takes an unknown one. */
static bool shorten_list(const diffusion_parameters *p, const sim_expr *expr, const char **inputs, int count) {
  const grid_shape grid = diffusion_grid_of(p);
  const int sources = (int)p->fields.count + (int)p->derived.count;
  bool unknown = false;
  for (int i = 0; i < sim_expr_input_count(expr); i++) {
    const char *name = sim_expr_input_name(expr, i);
    bool found = *name == '_';
    for (int k = 0; k < count && !found; k++) found = strcmp(name, inputs[k]) == 0;
    unknown = unknown || !found;
  }
  if (!unknown) return false;
  for (int source = 0; source < sources; source++)
    for (int kind = 0; kind < DIFFUSION_KINDS; kind++) {
      const int input = diffusion_input(p, source, kind);
      if (diffusion_has_kind(p, source, kind) && absent_axis(&grid, kind) >= 0 &&
          sim_expr_input_find(expr, inputs[input]) < 0)
        inputs[input] = NULL;
    }
  int kept = 0;
  for (int i = 0; i < count; i++)
    if (inputs[i]) inputs[kept++] = inputs[i];
  inputs[kept] = NULL;
  return true;
}

/* Adds a fault where a function takes a name of the solenoidal vector that it cannot have. */
static void check_vector_names(const diffusion_parameters *p, const sim_expr *expr, bool observed, sim_faults *faults,
                               int line, const char *path) {
  const bool given = p->solenoidal && p->solenoidal[0];
  for (int i = 0; i < sim_expr_input_count(expr); i++) {
    const char *name = sim_expr_input_name(expr, i);
    if (p->vector_names[DIFFUSION_PRESSURE][0] && strcmp(name, p->vector_names[DIFFUSION_PRESSURE]) == 0) {
      if (!observed)
        sim_faults_add(faults, line, path,
                       "takes the pressure, which follows from rates: observe and output.fields have it");
    } else if (!given &&
               (strcmp(name, "pressure") == 0 || strcmp(name, "vorticity") == 0 || strncmp(name, "curl_", 5) == 0)) {
      bool own = false;
      for (int s = 0; s < (int)(p->fields.count + p->derived.count); s++)
        own = own || strcmp(diffusion_source_name(p, s), name) == 0;
      if (!own) sim_faults_add(faults, line, path, "%s needs solenoidal, which names a velocity", name);
    }
  }
}

/* Binds a function of the fields, x, y, z, t, derivatives, the member and derived fields (see inputs.c). An observed
 * function may take the pressure too. */
static sim_status bind(const diffusion_parameters *p, sim_expr **expr, bool observed, int outputs, const char *returns,
                       sim_faults *faults, int line, const char *path) {
  static const char *const coordinates[] = {"x", "y", "z", "t"};
  const char *inputs[DIFFUSION_INPUTS + DIFFUSION_VECTOR_NAMES];
  char names[DIFFUSION_INPUTS][SIM_EXPR_NAME_MAX];
  const int fields = (int)p->fields.count, sources = fields + (int)p->derived.count;
  int count = diffusion_member_input(fields) + 1;
  const size_t before = faults->count;
  SIM_TRY(diffusion_spell_out(p, expr));
  check_vector_names(p, *expr, observed, faults, line, path);
  if (faults->count > before) return SIM_OK;
  for (int f = 0; f < fields; f++) inputs[f] = diffusion_field_of(p, f)->name;
  for (int i = 0; i < 4; i++) inputs[fields + i] = coordinates[i];
  inputs[diffusion_member_input(fields)] = "member";
  for (int source = 0; source < sources; source++)
    for (int kind = 0; kind < DIFFUSION_KINDS; kind++) {
      if (!diffusion_has_kind(p, source, kind)) continue;
      const int input = diffusion_input(p, source, kind);
      diffusion_input_name(p, source, kind, names[input]);
      inputs[input] = names[input];
      /* functions without second derivatives and derived fields keep the short list of inputs */
      if (sim_expr_input_find(*expr, names[input]) >= 0 && input >= count) count = diffusion_input_count(p);
    }
  const char *pressure = p->vector_names[DIFFUSION_PRESSURE];
  int all = diffusion_input_count(p);
  if (observed && pressure[0]) {
    if (sim_expr_input_find(*expr, pressure) >= 0) count = all + 1;
    inputs[all++] = pressure;
  }
  if (shorten_list(p, *expr, inputs, all)) { /* a fault: the message tells of curls too */
    for (all = 0; inputs[all];) all++;
    for (int c = 0; c < DIFFUSION_PRESSURE; c++)
      if (p->vector_names[c][0]) inputs[all++] = p->vector_names[c];
    inputs[all] = NULL;
  } else
    inputs[count] = NULL;
  const sim_signature signature = {.inputs = inputs, .outputs = {outputs}, .returns = returns};
  return sim_function_bind(expr, &signature, faults, line, path);
}

/* Adds a fault for each derivative along an axis that has no derivative. */
static void check_gradients(const diffusion_parameters *p, const diffusion_gradients *g, const char *path,
                            const char *takes, sim_faults *faults) {
  const grid_shape grid = diffusion_grid_of(p);
  for (int i = 0; i < g->count; i++) {
    const int kind = g->of[i].kind;
    char name[SIM_EXPR_NAME_MAX];
    diffusion_input_name(p, g->of[i].field, kind, name);
    const int axis = absent_axis(&grid, kind);
    if (axis >= 0)
      sim_faults_add(faults, 0, path, "%s %s, and %c %s", takes, name, "xyz"[axis],
                     diffusion_not_periodic(&grid, axis));
  }
}

/* Adds a fault where functions read more derivatives than there is memory for. */
static void check_count(const diffusion_gradients *g, const char *path, sim_faults *faults) {
  if (g->count > DIFFUSION_READ)
    sim_faults_add(faults, 0, path, "expected at most %d derivatives and derived fields, got %d", DIFFUSION_READ,
                   g->count);
}

sim_status diffusion_no_rates(diffusion_parameters *p) {
  sim_expr_builder *b;
  sim_expr_ref zero[DIFFUSION_FIELDS];
  const char *names[DIFFUSION_FIELDS];
  SIM_TRY(sim_expr_builder_create(&b));
  sim_status status = SIM_OK;
  for (int f = 0; status == SIM_OK && f < (int)p->fields.count; f++) {
    names[f] = diffusion_field_of(p, f)->name;
    status = sim_expr_builder_number(b, 0, &zero[f]);
  }
  if (status == SIM_OK) status = sim_expr_builder_finish(b, zero, names, (int)p->fields.count, &p->rates);
  sim_expr_builder_free(&b);
  return status;
}

static sim_status check_flux(diffusion_parameters *p, sim_faults *faults) {
  const int axes = (int)p->grid.n.rows;
  const size_t before = faults->count;
  SIM_TRY(bind(p, &p->flux, false, axes * (int)p->fields.count, "the flux of each field along each axis", faults, 0,
               "flux"));
  for (int f = 0; f < (int)p->fields.count; f++)
    if (diffusion_field_of(p, f)->conserved)
      sim_faults_add(faults, p->fields.items[f].line, "flux",
                     "expected no flux beside conserved fields: lap N is minus the divergence of -grad N");
  for (int i = 0; i < axes * (int)p->fields.count && faults->count == before; i++)
    if (diffusion_shape_of(p, i / axes).boundary[i % axes] == GRID_ROBIN && !sim_expr_always_zero(p->flux, i))
      sim_faults_add(faults, 0, "flux",
                     "expected the number 0 as the flux of %s along %c, because a wall there has robin: a flux through "
                     "such a wall is not in the field's series",
                     diffusion_field_of(p, i / axes)->name, "xyz"[i % axes]);
  return SIM_OK;
}

sim_status diffusion_bind_rates(diffusion_parameters *p, sim_faults *faults) {
  const size_t before = faults->count;
  if (p->rates)
    SIM_TRY(
        bind(p, &p->rates, false, (int)p->fields.count, "the rate of each field, in their order", faults, 0, "rates"));
  if (p->flux) SIM_TRY(check_flux(p, faults));
  if (faults->count > before || !p->rates) return SIM_OK;
  diffusion_gradients g = {0};
  diffusion_find_gradients(p, p->rates, &g);
  diffusion_find_gradients(p, p->flux, &g);
  check_count(&g, p->flux ? "rates and flux" : "rates", faults);
  g = (diffusion_gradients){0};
  diffusion_find_gradients(p, p->rates, &g);
  if (g.count <= DIFFUSION_READ) check_gradients(p, &g, "rates", "take", faults);
  g = (diffusion_gradients){0};
  diffusion_find_gradients(p, p->flux, &g);
  if (g.count <= DIFFUSION_READ) check_gradients(p, &g, "flux", "takes", faults);
  if ((diffusion_gradients_of(p).count > 0 || p->flux) && p->integrate.scheme == DIFFUSION_STRANG)
    sim_faults_add(faults, 0, "integrate.scheme",
                   "expected lie, etd1, etdrk2, etdrk4 or rodas3, because %s, got strang",
                   p->flux ? "there are fluxes" : "rates have derivatives");
  return SIM_OK;
}

/* Adds faults of the walls of a vector's component a. Between the walls of an axis, one component has the series of the
 * pressure's derivative, and the other components have that of the pressure. */
static void check_component(const diffusion_parameters *p, const grid_shape *grid, const int *vector, int axes, int a,
                            sim_faults *faults) {
  const diffusion_field *s = diffusion_field_of(p, vector[a]);
  const int line = p->fields.items[vector[a]].line;
  if (diffusion_lift_of(p, vector[a]).axis >= 0)
    sim_faults_add(faults, line, "solenoidal", "expected values and slopes of 0 at the walls of %s", s->name);
  for (int axis = 0; axis < axes; axis++) {
    const grid_boundary along = diffusion_shape_of(p, vector[axis]).boundary[axis];
    const grid_boundary own = diffusion_shape_of(p, vector[a]).boundary[axis];
    if (grid_is_periodic(grid, axis) || axis == a) continue;
    if (diffusion_turned(along) == own && own != GRID_ROBIN) continue;
    sim_faults_add(faults, line, "solenoidal",
                   "expected sides along %c where %s has slope = 0 if %s has value = 0, and the other way round",
                   "xyz"[axis], s -> name, diffusion_field_of(p, vector[axis]) -> name);
  }
}

void diffusion_check_solenoidal(const diffusion_parameters *p, sim_faults *faults) {
  static const char *const path = "solenoidal";
  const grid_shape grid = diffusion_grid_of(p);
  const int axes = (int)p->grid.n.rows;
  int vector[3];
  const int count = diffusion_vector_of(p, vector);
  if (!p->solenoidal || !p->solenoidal[0]) return;
  if (axes < 2 || count != axes) {
    sim_faults_add(faults, 0, path, "expected a field for each of two or three axes, got %d for %d", count, axes);
    return;
  }
  for (int a = 0; a < axes; a++) {
    if (vector[a] < 0) {
      sim_faults_add(faults, 0, path, "expected names of fields, got \"%.60s\"", p->solenoidal);
      return;
    }
    for (int b = 0; b < a; b++)
      if (vector[a] == vector[b]) {
        sim_faults_add(faults, 0, path, "expected names of fields that differ, got \"%.60s\"", p->solenoidal);
        return;
      }
    check_component(p, &grid, vector, axes, a, faults);
    const diffusion_field *s = diffusion_field_of(p, vector[a]), *first = diffusion_field_of(p, vector[0]);
    if (!diffusion_same_linear(s, first))
      sim_faults_add(faults, p->fields.items[vector[a]].line, path,
                     "expected the same linear terms of %s and %s, which keep the vector without divergence",
                     first->name, s->name);
    for (size_t j = 0; j < s->cross.rows; j++)
      if (s->cross.data[j] != 0) {
        sim_faults_add(faults, p->fields.items[vector[a]].line, path, "expected %s without cross diffusion", s->name);
        break;
      }
  }
  if (p->integrate.scheme == DIFFUSION_STRANG)
    sim_faults_add(faults, 0, "integrate.scheme",
                   "expected lie, etd1, etdrk2, etdrk4 or rodas3, because there is a solenoidal vector, got strang");
}

/* Checks the rules of one budget by |k|, with `bins` bins and `columns` values in a row. */
static void check_budget(const diffusion_parameters *p, const char *path, int64_t bins, int64_t columns,
                         sim_faults *faults) {
  bool conserved = false;
  if (bins == 0) return;
  if (columns > SIM_COLUMNS_MAX)
    sim_faults_add(faults, 0, path, "expected at most %d values in a row, got %lld bins of %zu fields", SIM_COLUMNS_MAX,
                   (long long)bins, p->fields.count);
  for (int f = 0; f < (int)p->fields.count; f++) conserved = conserved || diffusion_field_of(p, f)->conserved;
  const char *without = diffusion_fluctuates(p) ? "fluctuation"
                        : diffusion_crossed(p)  ? "cross diffusion"
                        : conserved             ? "`conserved`"
                                                : NULL;
  if (!p->rates) sim_faults_add(faults, 0, path, "expected rates or a flux, which transfer");
  if (without) sim_faults_add(faults, 0, path, "expected fields without %s", without);
}

/* Checks that the projection has a potential: outputs and functions that have the pressure need rates. */
static void check_pressure(const diffusion_parameters *p, sim_faults *faults) {
  if (!diffusion_needs_pressure(p)) return;
  if (!p->rates) sim_faults_add(faults, 0, "pressure", "expected rates or a flux: without them the pressure is 0");
  const char *without = NULL;
  for (int f = 0; f < (int)p->fields.count; f++)
    if (diffusion_field_of(p, f)->conserved) without = "`conserved`";
  if (diffusion_fluctuates(p)) without = "fluctuation, whose pressure is as rough as white noise";
  if (diffusion_crossed(p)) without = "cross diffusion";
  if (without) sim_faults_add(faults, 0, "pressure", "expected fields without %s", without);
}

static void check_budgets(const diffusion_parameters *p, sim_faults *faults) {
  const grid_shape grid = diffusion_grid_of(p);
  int vector[3];
  const int axes = diffusion_vector_of(p, vector);
  bool periodic = grid.rank == 3;
  for (int a = 0; a < grid.rank; a++) periodic = periodic && grid_is_periodic(&grid, a);
  check_budget(p, "transfer", p->transfer, p->transfer * (int64_t)p->fields.count, faults);
  check_budget(p, "enstrophy", p->enstrophy, p->enstrophy, faults);
  check_budget(p, "helicity", p->helicity, p->helicity, faults);
  if (p->enstrophy > 0 && axes == 0) sim_faults_add(faults, 0, "enstrophy", "expected a solenoidal vector");
  if (p->helicity > 0 && (axes != 3 || !periodic))
    sim_faults_add(faults, 0, "helicity", "expected a solenoidal vector on three periodic axes");
  if ((p->enstrophy > 0 || p->helicity > 0) && p->members > 1)
    sim_faults_add(faults, 0, "members", "expected 1, because there is %s",
                   p->enstrophy > 0 ? "enstrophy" : "helicity");
}

static void check_structure(const diffusion_parameters *p, sim_faults *faults) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_structure *s = &p->structure;
  int vector[3];
  if (!s->given) return;
  if (p->members > 1) { /* they are an axis of the grid, which the rules below would take for one of space */
    sim_faults_add(faults, 0, "members", "expected 1, because there is structure");
    return;
  }
  const int axes = diffusion_velocity_of(p, vector);
  bool known = axes == grid.rank;
  for (int a = 0; a < axes && a < 3 && known; a++) known = vector[a] >= 0;
  if (!known)
    sim_faults_add(faults, 0, "structure",
                   "expected solenoidal or integrate.velocity, which name a field for each axis");
  const size_t before = faults->count;
  for (int a = 0; a < grid.rank && faults->count == before; a++) {
    const double cell = grid.size[a] / (double)grid.n[a], first = grid.size[0] / (double)grid.n[0];
    if (!grid_is_periodic(&grid, a))
      sim_faults_add(faults, 0, "structure", "expected periodic axes: %c %s", "xyz"[a],
                     diffusion_not_periodic(&grid, a));
    else if (fabs(cell - first) > 1e-9 * first)
      sim_faults_add(faults, 0, "structure", "expected cells of the same length along all axes, got %g along %c and %g",
                     cell, "xyz"[a], first);
    else if (((int64_t)1 << (s->separations - 1)) > grid.n[a] / 2)
      sim_faults_add(faults, 0, "structure.separations",
                     "expected 2^(separations - 1) cells within half of %lld, got %lld", (long long)grid.n[a],
                     (long long)s->separations);
  }
}

sim_status diffusion_bind_observed(diffusion_parameters *p, sim_faults *faults) {
  const grid_shape grid = diffusion_grid_of(p);
  const size_t before = faults->count;
  for (size_t i = 0; i < p->observe.count; i++) {
    char path[SIM_EXPR_NAME_MAX + 16];
    sim_named_function *item = &p->observe.items[i];
    snprintf(path, sizeof path, "observe.%s", item->name);
    if (strcmp(item->name, "step") == 0 || strcmp(item->name, "time") == 0)
      sim_faults_add(faults, item->line, path, "this name is taken: every table has a column %s", item->name);
    SIM_TRY(bind(p, &item->expr, true, 1, "value reduced over the grid", faults, item->line, path));
  }
  if (p->observe.count > SIM_COLUMNS_MAX)
    sim_faults_add(faults, 0, "observe", "expected at most %d functions, got %zu", SIM_COLUMNS_MAX, p->observe.count);
  const diffusion_gradients g = faults->count == before ? diffusion_observed_gradients(p) : (diffusion_gradients){0};
  check_gradients(p, &g, "observe", "takes", faults);
  if (faults->count == before) {
    diffusion_gradients all = {0};
    for (size_t i = 0; i < p->observe.count; i++) diffusion_find_gradients(p, p->observe.items[i].expr, &all);
    diffusion_find_drawn(p, &all);
    check_count(&all, "observe", faults);
  }
  int drawn[DIFFUSION_DRAWN];
  const size_t shown = p->fields.count + (size_t)diffusion_drawn(p, drawn);
  if (p->probes.rows * shown > SIM_COLUMNS_MAX)
    sim_faults_add(faults, 0, "probes", "expected at most %d values in a row, got %zu points of %zu fields",
                   SIM_COLUMNS_MAX, p->probes.rows, shown);
  for (size_t i = 0; i < p->probes.rows; i++)
    for (int axis = 0; axis < 3; axis++) {
      const double at = p->probes.data[3 * i + (size_t)axis], size = axis < grid.rank ? grid.size[axis] : 0;
      if (grid_is_member_axis(&grid, axis)) {
        if (!(at >= 1 && at <= size && at == floor(at)))
          sim_faults_add(faults, 0, "probes", "point %zu: expected the member, 1 to %g, after the coordinates, got %g",
                         i + 1, size, at);
      } else if (axis >= grid.rank && at != 0)
        sim_faults_add(faults, 0, "probes", "point %zu: expected 0 for %c, which is no axis of the grid, got %g", i + 1,
                       "xyz"[axis], at);
      else if (!(at >= 0 && at <= size))
        sim_faults_add(faults, 0, "probes", "point %zu: expected %c from 0 to %g, got %g", i + 1, "xyz"[axis], size,
                       at);
    }
  if (p->spectrum * (int64_t)p->fields.count > SIM_COLUMNS_MAX)
    sim_faults_add(faults, 0, "spectrum", "expected at most %d values in a row, got %lld bins of %zu fields",
                   SIM_COLUMNS_MAX, (long long)p->spectrum, p->fields.count);
  check_budgets(p, faults);
  check_pressure(p, faults);
  check_structure(p, faults);
  return SIM_OK;
}
