/* Rules between parameters. */
#include "kernels/diffusion/cpu/matrix.h"
#include "kernels/diffusion/modes.cuh"
#include "kernels/diffusion/observe.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const taken[] = {"x", "y", "z", "t", "h", "coefficients", "level", "begin", "member"};

enum { NAME_LONGEST = SIM_EXPR_NAME_MAX - 10 }; /* leaves room for _variance */

static bool good_name(const char *name) {
  if (!name || !(isalpha((unsigned char)name[0]) || name[0] == '_')) return false;
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (strcmp(name, taken[i]) == 0) return false;
  return strlen(name) <= NAME_LONGEST;
}

/* The kind of an axis that is not periodic, for a message. */
static const char *not_periodic(const grid_shape *grid, int axis) {
  const bool there = axis < grid->rank && !grid_is_member_axis(grid, axis);
  return there ? "is not a periodic axis" : "is no axis of the grid";
}

/* Adds a fault where the tensor of D and `tensor` has a negative eigenvalue, so that a mode would grow. */
static void check_tensor(const grid_shape *grid, const diffusion_field *s, sim_faults *faults, int line, int f) {
  static const int axes[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  char path[64];
  bool pairs = true;
  snprintf(path, sizeof path, "fields[%d].tensor", f + 1);
  for (int i = 0; i < 3; i++) {
    const int a = axes[i][0], b = axes[i][1];
    const double own = s->tensor[i], mean = s->D * sqrt(s->axes[a] * s->axes[b]);
    const char first = "xyz"[a], second = "xyz"[b];
    const int alone = grid_is_periodic(grid, a) ? b : a;
    if (own == 0) continue;
    if (!grid_is_periodic(grid, alone))
      sim_faults_add(faults, line, path, "expected 0 for %c%c: %c %s", first, second, "xyz"[alone],
                     not_periodic(grid, alone));
    else if (fabs(own) > mean)
      sim_faults_add(faults, line, path,
                     "%c%c is %g, above the mean diffusivity sqrt(D_%c%c D_%c%c) = %g: modes would grow", first, second,
                     own, first, first, second, second, mean);
    else
      continue;
    pairs = false;
  }
  const double x = s->D * s->axes[0], y = s->D * s->axes[1], z = s->D * s->axes[2];
  const double xy = s->tensor[0], xz = s->tensor[1], yz = s->tensor[2];
  if (pairs && x * y * z + 2 * xy * xz * yz - x * yz * yz - y * xz * xz - z * xy * xy < -1e-12 * x * y * z)
    sim_faults_add(faults, line, path, "{%g, %g, %g} and D make a tensor with a negative eigenvalue: modes would grow",
                   xy, xz, yz);
}

static void check_axes(const diffusion_parameters *p, const diffusion_field *s, sim_faults *faults, int line, int f) {
  char path[64];
  bool one = true, moves = s->D != 0;
  snprintf(path, sizeof path, "fields[%d].axes", f + 1);
  for (size_t i = 0; i < s->cross.rows; i++) moves = moves || s->cross.data[i] != 0;
  for (int axis = 0; axis < 3; axis++) {
    const char letter = "xyz"[axis];
    if (s->axes[axis] == 1) continue;
    one = false;
    if ((size_t)axis >= p->grid.n.rows)
      sim_faults_add(faults, line, path, "expected 1 for %c, which is no axis of the grid, got %g", letter,
                     s->axes[axis]);
  }
  if (!one && !moves)
    sim_faults_add(faults, line, path, "have no effect: they are factors of D and cross, which are 0");
}

static void check_walls(const grid_shape *grid, const diffusion_field *s, sim_faults *faults, int line, int f) {
  char path[64];
  int fixed = 0;
  snprintf(path, sizeof path, "fields[%d].walls", f + 1);
  if (s->walls[0] == 0 && s->walls[1] == 0) return;
  for (int axis = 0; axis < grid->rank; axis++) fixed += grid->boundary[axis] == GRID_FIXED;
  if (fixed != 1) sim_faults_add(faults, line, path, "expected {0, 0}, because %d axes are fixed, not one", fixed);
  if (s->decay != 0 || s->linear || s->conserved)
    sim_faults_add(faults, line, path, "expected {0, 0} beside %s, which must be part of the rates",
                   s->decay != 0 ? "decay"
                   : s->linear   ? "linear"
                                 : "conserved");
}

/* Adds a fault where L(-k) is not the conjugate of L(k), which keeps a field real; tested at a few k. */
static void check_linear(const grid_shape *grid, const diffusion_field *s, sim_faults *faults, int line, int f) {
  const bool uniform[] = {true, true, true, true, true};
  const double member = 1;
  sim_expr_program *program;
  char path[64];
  _Alignas(64) char scratch[DIFFUSION_SCRATCH];
  snprintf(path, sizeof path, "fields[%d].linear", f + 1);
  for (int axis = 0; axis < 3; axis++)
    if (diffusion_takes(s->linear, 1 + axis) && !grid_is_periodic(grid, axis))
      sim_faults_add(faults, line, path, "depends on k%c, and %c %s: expected a function of k2", "xyz"[axis],
                     "xyz"[axis], not_periodic(grid, axis));
  if (sim_expr_program_create(s->linear, &(sim_expr_target){.uniform = uniform, .block = 1}, &program) != SIM_OK)
    return;
  bool odd = false;
  if (sim_expr_program_scratch(program) > sizeof scratch) sim_faults_add(faults, line, path, "is too long");
  for (int i = 1; i <= 4 && sim_expr_program_scratch(program) <= sizeof scratch; i++) {
    double k[3], back[3], k2 = 0, here[2] = {0}, there[2] = {0};
    for (int a = 0; a < 3; a++) {
      k[a] = a < grid->rank ? (i + a) * 6.283185307179586 / grid->size[a] : 0;
      back[a] = -k[a];
      k2 += k[a] * k[a];
    }
    sim_expr_program_run(program, 1, (const void *const[]){&k2, &k[0], &k[1], &k[2], &member},
                         (void *const[]){&here[0], &here[1]}, scratch);
    sim_expr_program_run(program, 1, (const void *const[]){&k2, &back[0], &back[1], &back[2], &member},
                         (void *const[]){&there[0], &there[1]}, scratch);
    odd = odd || fabs(here[0] - there[0]) > 1e-12 * fabs(here[0]) || fabs(here[1] + there[1]) > 1e-12 * fabs(here[1]);
  }
  sim_expr_program_free(&program);
  if (odd)
    sim_faults_add(faults, line, path,
                   "expected a real part that is the same at k and -k, and an imaginary one that "
                   "changes its sign, as a real field has");
}

static void check_cross(const diffusion_parameters *p, const grid_shape *grid, sim_faults *faults) {
  const int n = (int)p->fields.count;
  char path[64];
  bool damped = true; /* damped by another term */
  for (int f = 0; f < n; f++) {
    const diffusion_field *s = diffusion_field_of(p, f);
    snprintf(path, sizeof path, "fields[%d].cross", f + 1);
    damped = damped && (s->hyper > 0 || s->linear);
    if (s->cross.rows == 0) continue;
    if (s->cross.rows != (size_t)n) {
      sim_faults_add(faults, p->fields.items[f].line, path, "expected a number for each field, %d, got %zu", n,
                     s->cross.rows);
      return;
    }
    if (s->cross.data[f] != 0)
      sim_faults_add(faults, p->fields.items[f].line, path, "expected 0 for the field itself, whose diffusivity is D");
  }
  for (int axis = 0; axis < grid->rank && !damped && diffusion_crossed(p); axis++) {
    diffusion_matrix d = {{{0}}, {{0}}};
    for (int f = 0; f < n; f++) {
      const diffusion_field *s = diffusion_field_of(p, f);
      for (int j = 0; j < n; j++)
        d.re[f][j] = s->axes[axis] * (f == j ? s->D : s->cross.rows > 0 ? s->cross.data[j] : 0);
    }
    if (diffusion_matrix_stable(n, &d)) continue;
    sim_faults_add(
        faults, p->fields.items[0].line, "fields",
        "D and cross make a matrix that has an eigenvalue with a negative real part, or 0 twice: modes would "
        "grow");
    return;
  }
}

static void name_path(const diffusion_parameters *p, int source, char *out, size_t capacity) {
  const int fields = (int)p->fields.count;
  if (source < fields)
    snprintf(out, capacity, "fields[%d].name", source + 1);
  else
    snprintf(out, capacity, "derived.%s", p->derived.items[source - fields].name);
}

/* Adds faults for names of fields and derived fields that are derivatives of others, or of a field. */
static void check_derivative_names(const diffusion_parameters *p, sim_faults *faults) {
  const int fields = (int)p->fields.count, sources = fields + (int)p->derived.count;
  for (int source = 0; source < sources; source++) {
    const char *name = diffusion_source_name(p, source);
    const int line = source < fields ? p->fields.items[source].line : p->derived.items[source - fields].line;
    char path[SIM_EXPR_NAME_MAX + 16], other_name[SIM_EXPR_NAME_MAX];
    name_path(p, source, path, sizeof path);
    for (int other = 0; other < sources; other++)
      for (int kind = 0; kind < DIFFUSION_KINDS; kind++) {
        diffusion_input_name(p, other, kind, other_name);
        if (other == source || strcmp(name, other_name) != 0) continue;
        if (kind != DIFFUSION_VALUE)
          sim_faults_add(faults, line, path, "%s is the derivative of %s", name, diffusion_source_name(p, other));
        else if (other < fields && source >= fields)
          sim_faults_add(faults, line, path, "%s is a field", name);
      }
  }
}

static bool check_names(const diffusion_parameters *p, sim_faults *faults) {
  const size_t before = faults->count;
  char path[64];
  for (int f = 0; f < (int)p->fields.count; f++) {
    const diffusion_field *s = diffusion_field_of(p, f);
    const int line = p->fields.items[f].line;
    snprintf(path, sizeof path, "fields[%d].name", f + 1);
    if (!good_name(s->name))
      sim_faults_add(faults, line, path,
                     "expected a name of at most %d letters, digits and _, no digit first, other than x, y, z, t, h, "
                     "coefficients, level, begin and member, got \"%.60s\"",
                     NAME_LONGEST, s->name ? s->name : "");
    else if (sim_expr_name_reserved(s->name))
      sim_faults_add(faults, line, path,
                     "\"%s\" is a word of Lua, which no parameter of rates can have: expected "
                     "another name, such as \"%s_\"",
                     s->name, s->name);
    for (int other = 0; other < f; other++)
      if (s->name && diffusion_field_of(p, other)->name && !strcmp(s->name, diffusion_field_of(p, other)->name))
        sim_faults_add(faults, line, path, "expected a name of its own, got that of fields[%d]", other + 1);
  }
  for (int d = 0; d < (int)p->derived.count; d++) {
    const sim_named_function *item = &p->derived.items[d];
    snprintf(path, sizeof path, "derived.%s", item->name);
    if (!good_name(item->name))
      sim_faults_add(
          faults, item->line, path,
          "expected a name of at most %d characters, other than x, y, z, t, h, coefficients, level, begin and "
          "member",
          NAME_LONGEST);
  }
  if (faults->count == before && p->derived.count <= DIFFUSION_DERIVED) check_derivative_names(p, faults);
  return faults->count == before;
}

static void check_species(const diffusion_parameters *p, sim_faults *faults) {
  char path[64];
  const grid_shape grid = diffusion_grid_of(p);
  for (int f = 0; f < (int)p->fields.count; f++) {
    const diffusion_field *s = diffusion_field_of(p, f);
    const int line = p->fields.items[f].line;
    snprintf(path, sizeof path, "fields[%d].drift", f + 1);
    for (int axis = 0; axis < 3; axis++)
      if (s->drift[axis] != 0 && !grid_is_periodic(&grid, axis))
        sim_faults_add(faults, line, path, "expected 0 along %c, which %s", "xyz"[axis], not_periodic(&grid, axis));
    snprintf(path, sizeof path, "fields[%d].initial", f + 1);
    if (grid_takes_file(s->initial) && !s->file.given)
      sim_faults_add(faults, line, path, "takes `file`, and the field has none");
    if (s->file.given && !s->file.path[0]) {
      snprintf(path, sizeof path, "fields[%d].file.path", f + 1);
      sim_faults_add(faults, line, path, "expected the name of a file, got \"\"");
    }
    if (s->file.given && s->file.range[0] == s->file.range[1]) {
      snprintf(path, sizeof path, "fields[%d].file.range", f + 1);
      sim_faults_add(faults, line, path, "expected two numbers that differ, got %g twice", s->file.range[0]);
    }
    check_axes(p, s, faults, line, f);
    check_tensor(&grid, s, faults, line, f);
    check_walls(&grid, s, faults, line, f);
    if (s->linear) check_linear(&grid, s, faults, line, f);
  }
}

/* Binds a function of the fields, x, y, z, t, derivatives, the member and derived fields: inputs.c. */
static sim_status bind(const diffusion_parameters *p, sim_expr **expr, int outputs, const char *returns,
                       sim_faults *faults, int line, const char *path) {
  const char *inputs[DIFFUSION_INPUTS + 1];
  char names[DIFFUSION_INPUTS][SIM_EXPR_NAME_MAX];
  const int fields = (int)p->fields.count, sources = fields + (int)p->derived.count;
  int count = diffusion_member_input(fields) + 1;
  for (int f = 0; f < fields; f++) inputs[f] = diffusion_field_of(p, f)->name;
  for (int i = 0; i < 4; i++) inputs[fields + i] = taken[i];
  inputs[diffusion_member_input(fields)] = "member";
  for (int source = 0; source < sources; source++)
    for (int kind = 0; kind < DIFFUSION_KINDS; kind++) {
      if (!diffusion_has_kind(p, source, kind)) continue;
      const int input = diffusion_input(p, source, kind);
      diffusion_input_name(p, source, kind, names[input]);
      inputs[input] = names[input];
      /* functions without second derivatives and derived fields keep the short list */
      if (sim_expr_input_find(*expr, names[input]) >= 0 && input >= count) count = diffusion_input_count(p);
    }
  inputs[count] = NULL;
  const sim_signature signature = {.inputs = inputs, .outputs = {outputs}, .returns = returns};
  return sim_function_bind(expr, &signature, faults, line, path);
}

/* Adds a fault for each derivative along an axis that has none of it. */
static void check_gradients(const diffusion_parameters *p, const diffusion_gradients *g, const char *path,
                            const char *takes, sim_faults *faults) {
  static const int axes[DIFFUSION_LAPLACIAN][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 0}, {1, 1},
                                                   {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  const grid_shape grid = diffusion_grid_of(p);
  for (int i = 0; i < g->count; i++) {
    const int kind = g->of[i].kind;
    char name[SIM_EXPR_NAME_MAX];
    diffusion_input_name(p, g->of[i].field, kind, name);
    for (int k = 0; k < 2 && kind < DIFFUSION_LAPLACIAN; k++) {
      const int axis = axes[kind][k];
      const bool there = axis < grid.rank && !grid_is_member_axis(&grid, axis);
      const bool one = kind < DIFFUSION_XY; /* between walls: a series of the other kind, or of the same */
      if (grid_is_periodic(&grid, axis) || (one && there)) continue;
      sim_faults_add(faults, 0, path, "%s %s, and %c %s", takes, name, "xyz"[axis], not_periodic(&grid, axis));
      break;
    }
  }
}

/* Adds a fault where functions read more than there is memory for. */
static void check_count(const diffusion_gradients *g, const char *path, sim_faults *faults) {
  if (g->count > DIFFUSION_READ)
    sim_faults_add(faults, 0, path, "expected at most %d derivatives and derived fields, got %d", DIFFUSION_READ,
                   g->count);
}

/* Rates that are 0, for a scenario that has fluxes alone. */
static sim_status no_rates(diffusion_parameters *p) {
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
  SIM_TRY(bind(p, &p->flux, axes * (int)p->fields.count, "the flux of each field along each axis", faults, 0, "flux"));
  const grid_shape grid = diffusion_grid_of(p);
  for (int axis = 0; axis < axes && faults->count == before; axis++)
    if (!grid_is_periodic(&grid, axis))
      sim_faults_add(faults, 0, "flux", "expected periodic axes, and %c %s", "xyz"[axis], not_periodic(&grid, axis));
  for (int f = 0; f < (int)p->fields.count; f++)
    if (diffusion_field_of(p, f)->conserved)
      sim_faults_add(faults, p->fields.items[f].line, "flux",
                     "expected no flux beside conserved fields: lap N is minus the divergence of -grad N");
  return SIM_OK;
}

static sim_status check_rates(diffusion_parameters *p, sim_faults *faults) {
  const size_t before = faults->count;
  if (p->rates)
    SIM_TRY(bind(p, &p->rates, (int)p->fields.count, "the rate of each field, in their order", faults, 0, "rates"));
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
    sim_faults_add(faults, 0, "integrate.scheme", "expected lie, etd1, etdrk2 or etdrk4, because %s, got strang",
                   p->flux ? "there are fluxes" : "rates have derivatives");
  return SIM_OK;
}

/* Whether two fields have the same L. */
static bool same_linear(const diffusion_field *a, const diffusion_field *b) {
  sim_bytes x = {0}, y = {0};
  bool same = a->D == b->D && a->hyper == b->hyper && a->decay == b->decay && a->conserved == b->conserved &&
              !a->linear == !b->linear && a->walls[0] == b->walls[0] && a->walls[1] == b->walls[1];
  for (int i = 0; i < 3; i++)
    same = same && a->axes[i] == b->axes[i] && a->tensor[i] == b->tensor[i] && a->drift[i] == b->drift[i];
  if (same && a->linear)
    same = sim_expr_write(a->linear, &x) == SIM_OK && sim_expr_write(b->linear, &y) == SIM_OK && x.size == y.size &&
           memcmp(x.data, y.data, x.size) == 0;
  sim_bytes_free(&x);
  sim_bytes_free(&y);
  return same;
}

static void check_solenoidal(const diffusion_parameters *p, sim_faults *faults) {
  static const char *const path = "solenoidal";
  const grid_shape grid = diffusion_grid_of(p);
  const int axes = (int)p->grid.n.rows;
  int vector[3];
  const int count = diffusion_vector_of(p, vector);
  if (count == 0) return;
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
    if (!grid_is_periodic(&grid, a))
      sim_faults_add(faults, 0, path, "expected periodic axes, and %c %s", "xyz"[a], not_periodic(&grid, a));
    const diffusion_field *s = diffusion_field_of(p, vector[a]), *first = diffusion_field_of(p, vector[0]);
    if (!same_linear(s, first))
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
                   "expected lie, etd1, etdrk2 or etdrk4, because there is a solenoidal vector, got strang");
}

static sim_status check_observed(diffusion_parameters *p, sim_faults *faults) {
  const grid_shape grid = diffusion_grid_of(p);
  const size_t before = faults->count;
  for (size_t i = 0; i < p->observe.count; i++) {
    char path[SIM_EXPR_NAME_MAX + 16];
    sim_named_function *item = &p->observe.items[i];
    snprintf(path, sizeof path, "observe.%s", item->name);
    if (strcmp(item->name, "step") == 0 || strcmp(item->name, "time") == 0)
      sim_faults_add(faults, item->line, path, "this name is taken: every table has a column %s", item->name);
    SIM_TRY(bind(p, &item->expr, 1, "value reduced over the grid", faults, item->line, path));
  }
  if (p->observe.count > SIM_COLUMNS_MAX)
    sim_faults_add(faults, 0, "observe", "expected at most %d functions, got %zu", SIM_COLUMNS_MAX, p->observe.count);
  const diffusion_gradients g = faults->count == before ? diffusion_observed_gradients(p) : (diffusion_gradients){0};
  check_gradients(p, &g, "observe", "takes", faults);
  if (faults->count == before) {
    diffusion_gradients all = {0};
    for (size_t i = 0; i < p->observe.count; i++) diffusion_find_gradients(p, p->observe.items[i].expr, &all);
    check_count(&all, "observe", faults);
  }
  if (p->probes.rows * p->fields.count > SIM_COLUMNS_MAX)
    sim_faults_add(faults, 0, "probes", "expected at most %d values in a row, got %zu points of %zu fields",
                   SIM_COLUMNS_MAX, p->probes.rows, p->fields.count);
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
  return SIM_OK;
}

static void check_steps(diffusion_parameters *p, sim_faults *faults) {
  diffusion_integrate *i = &p->integrate;
  if (diffusion_adaptive(p) && isnan(i->rtol)) i->rtol = 1e-5;
  if (diffusion_adaptive(p) && isnan(i->atol)) i->atol = 1e-8;
  if (p->rates && i->scheme == DIFFUSION_EXACT)
    sim_faults_add(faults, 0, "integrate.scheme",
                   "expected lie, strang, etd1, etdrk2 or etdrk4, because there are rates, got exact");
  if (!p->rates && i->scheme != DIFFUSION_EXACT)
    sim_faults_add(faults, 0, "integrate.scheme", "expected exact, because there are no rates, got %s",
                   diffusion_methods[i->scheme].name);
  if (diffusion_adaptive(p) && i->scheme != DIFFUSION_EXACT && !diffusion_embedded_of(i->scheme))
    sim_faults_add(faults, 0, "integrate.dt", "expected a number, or the scheme etdrk2 or etdrk4, got \"auto\" with %s",
                   diffusion_methods[i->scheme].name);
  if (!p->rates && diffusion_dealias(i) > 0)
    sim_faults_add(faults, 0, "integrate.dealias", "has no effect: there are no rates");
  if (!diffusion_adaptive(p)) {
    const char *why = p->rates ? "dt is a number" : "there are no rates";
    if (!isnan(i->rtol)) sim_faults_add(faults, 0, "integrate.rtol", "has no effect: %s", why);
    if (!isnan(i->atol)) sim_faults_add(faults, 0, "integrate.atol", "has no effect: %s", why);
    if (!isnan(i->dt_max)) sim_faults_add(faults, 0, "integrate.dt_max", "has no effect: %s", why);
    if (i->dt_min != 0) sim_faults_add(faults, 0, "integrate.dt_min", "has no effect: %s", why);
  }
  if (diffusion_adaptive(p) && i->rtol == 0 && i->atol == 0)
    sim_faults_add(faults, 0, "integrate.rtol", "expected rtol or atol above 0");
  if (diffusion_adaptive(p) && !diffusion_any_level(i))
    sim_faults_add(faults, 0, "integrate.dt_min",
                   "expected a power of two between it and dt_max (t_end/64 without), got %g", i->dt_min);
  const grid_shape grid = diffusion_grid_of(p);
  for (int axis = 0; axis < grid.rank; axis++)
    if (grid.boundary[axis] == GRID_FIXED && !diffusion_mode_kept(1, grid.n[axis], 0, diffusion_dealias(i)))
      sim_faults_add(faults, 0, "integrate.dealias", "cuts all wavenumbers along %c, whose walls are fixed: %g of %lld",
                     "xyz"[axis], diffusion_dealias(i), (long long)grid.n[axis]);
  for (int f = 0; f < (int)p->fields.count; f++) {
    const diffusion_field *s = diffusion_field_of(p, f);
    const bool split = i->scheme == DIFFUSION_LIE || i->scheme == DIFFUSION_STRANG;
    char path[64];
    snprintf(path, sizeof path, "fields[%d].conserved", f + 1);
    if (s->conserved && !p->rates)
      sim_faults_add(faults, p->fields.items[f].line, path, "has no effect: there are no rates");
    if (s->conserved && p->rates && split)
      sim_faults_add(faults, p->fields.items[f].line, "integrate.scheme",
                     "expected etd1, etdrk2 or etdrk4, because fields[%d] is conserved, got %s", f + 1,
                     diffusion_methods[i->scheme].name);
    if (s->fluctuation > 0 && diffusion_adaptive(p))
      sim_faults_add(faults, p->fields.items[f].line, "integrate.dt",
                     "expected a number, because fields[%d] fluctuates", f + 1);
    if (s->fluctuation > 0 && !p->rates)
      sim_faults_add(faults, p->fields.items[f].line, "integrate.scheme",
                     "expected rates (0 * %s at least) and lie, strang, etd1, etdrk2 or etdrk4, because fields[%d] "
                     "fluctuates, got %s",
                     s->name ? s->name : "u", f + 1, diffusion_methods[i->scheme].name);
  }
  if (!isnan(i->dt) && !(i->t_end / i->dt < 0x1p53))
    sim_faults_add(faults, 0, "integrate.dt", "expected fewer than 2^53 steps until t_end");
}

sim_status diffusion_validate(void *parameters, sim_faults *faults) {
  diffusion_parameters *p = parameters;
  if (p->fields.count < 1 || p->fields.count > DIFFUSION_FIELDS) {
    sim_faults_add(faults, 0, "fields", "expected 1 to %d fields, got %zu", DIFFUSION_FIELDS, p->fields.count);
    return SIM_OK;
  }
  const bool named = check_names(p, faults);
  bool shaped = grid_check(&p->grid, faults);
  if (p->grid.n.rows == 3 && p->members > 1) {
    sim_faults_add(faults, 0, "members", "expected 1, because the grid has three axes, got %lld",
                   (long long)p->members);
    shaped = false;
  }
  if (!shaped) return SIM_OK;
  if (p->flux && !p->rates && named) SIM_TRY(no_rates(p));
  check_species(p, faults);
  const grid_shape grid = diffusion_grid_of(p);
  check_cross(p, &grid, faults);
  check_steps(p, faults);
  if (faults->count == 0) SIM_TRY(diffusion_check_linear(p, faults));
  if (named) SIM_TRY(diffusion_check_derived_fields(p, faults));
  if (named && p->derived.count > DIFFUSION_DERIVED) return SIM_OK;
  if (named) check_solenoidal(p, faults);
  if (named) SIM_TRY(check_rates(p, faults));
  if (named) SIM_TRY(check_observed(p, faults));
  if (faults->count == 0) diffusion_name_tables(p);
  return SIM_OK;
}
