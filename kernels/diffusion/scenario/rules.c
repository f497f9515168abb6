/* Rules between parameters. */
#include "kernels/diffusion/cpu/matrix.h"
#include "kernels/diffusion/modes.cuh"
#include "kernels/diffusion/observe.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const taken[] = {"x",     "y",     "z",      "t",    "h",        "coefficients",
                                    "level", "begin", "member", "twin", "lyapunov", "implicit"};

enum { NAME_LONGEST = SIM_EXPR_NAME_MAX - 10 }; /* leaves room for the suffix _variance */

bool diffusion_good_name(const char *name) {
  if (!name || !(isalpha((unsigned char)name[0]) || name[0] == '_')) return false;
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (strcmp(name, taken[i]) == 0) return false;
  return strlen(name) <= NAME_LONGEST;
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
                     diffusion_not_periodic(grid, alone));
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

/* A field's linear term, the context of evaluate_linear. */
typedef struct linear_term {
  const sim_expr_program *program;
  void *scratch;
} linear_term;

static void evaluate_linear(const void *context, const double k[3], double member, double out[2]) {
  const linear_term *term = context;
  const double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  out[0] = out[1] = 0;
  sim_expr_program_run(term->program, 1, (const void *const[]){&k2, &k[0], &k[1], &k[2], &member},
                       (void *const[]){&out[0], &out[1]}, term->scratch);
}

/* Adds a fault where L(-k) of some member is not the conjugate of L(k), so that the field would not be real.
 * diffusion_check_linear tests whether L is finite. */
static void check_linear(const diffusion_parameters *p, const grid_shape *grid, sim_faults *faults, int f) {
  const bool uniform[] = {true, true, true, true, true};
  const sim_expr *linear = diffusion_field_of(p, f)->linear;
  const int line = p->fields.items[f].line;
  sim_expr_program *program;
  char path[64];
  _Alignas(64) char scratch[DIFFUSION_SCRATCH];
  snprintf(path, sizeof path, "fields[%d].linear", f + 1);
  for (int axis = 0; axis < 3; axis++)
    if (diffusion_takes(linear, 1 + axis) && !grid_is_periodic(grid, axis))
      sim_faults_add(faults, line, path, "depends on k%c, and %c %s: expected a function of k2", "xyz"[axis],
                     "xyz"[axis], diffusion_not_periodic(grid, axis));
  if (sim_expr_program_create(linear, &(sim_expr_target){.uniform = uniform, .block = 1}, &program) != SIM_OK) return;
  const linear_term term = {program, scratch};
  const bool is_long = sim_expr_program_scratch(program) > sizeof scratch;
  const int64_t members = diffusion_takes(linear, 4) ? p->members : 1; /* input 4: member */
  int64_t odd = 0;
  if (is_long) sim_faults_add(faults, line, path, "is too long");
  for (int64_t m = 1; m <= members && !is_long && !odd; m++)
    for (int i = 0; i < DIFFUSION_SYMBOL_SAMPLES; i++) {
      double k[3];
      if (diffusion_symbol_sample(grid, i, k) &&
          diffusion_symbol_parity(grid, evaluate_linear, &term, k, (double)m) == DIFFUSION_SYMBOL_COMPLEX)
        odd = m;
    }
  sim_expr_program_free(&program);
  char whose[40] = "";
  if (odd > 1) snprintf(whose, sizeof whose, " (member %lld)", (long long)odd);
  if (odd)
    sim_faults_add(faults, line, path,
                   "expected a real part that is the same at k and -k, and an imaginary one that "
                   "changes its sign, as a real field has%s",
                   whose);
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
    if (!diffusion_good_name(s->name))
      sim_faults_add(faults, line, path,
                     "expected a name of at most %d letters, digits and _, no digit first, other than x, y, z, t, h, "
                     "coefficients, level, begin, member, twin, lyapunov and implicit, got \"%.60s\"",
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
    if (!diffusion_good_name(item->name))
      sim_faults_add(faults, item->line, path,
                     "expected a name of at most %d characters, other than x, y, z, t, h, coefficients, level, begin, "
                     "member, twin, "
                     "lyapunov and implicit",
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
        sim_faults_add(faults, line, path, "expected 0 along %c, which %s", "xyz"[axis],
                       diffusion_not_periodic(&grid, axis));
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
    if (s->linear) check_linear(p, &grid, faults, f);
  }
}

/* A step takes at least a thousandth of the time to cross a cell. Shorter steps change only the time that the run
 * takes. */
#define LEAST_COURANT 1e-3

static void check_courant(const diffusion_parameters *p, sim_faults *faults) {
  const diffusion_integrate *i = &p->integrate;
  const int axes = (int)p->grid.n.rows;
  int vector[3];
  if (i->courant == 0) {
    if (i->velocity && i->velocity[0] && !p->structure.given)
      sim_faults_add(faults, 0, "integrate.velocity", "has no effect: there is no courant");
    return;
  }
  if (i->courant < LEAST_COURANT)
    sim_faults_add(faults, 0, "integrate.courant", "expected at least %g, or 0 for steps by rtol and atol, got %g",
                   LEAST_COURANT, i->courant);
  if (i->scheme == DIFFUSION_STRANG && diffusion_adaptive(p))
    sim_faults_add(faults, 0, "integrate.scheme",
                   "expected lie, etd1, etdrk2, etdrk4 or rodas3 with courant, got strang");
  const int count = diffusion_velocity_of(p, vector);
  bool known = count == axes;
  for (int a = 0; a < axes && known; a++) known = vector[a] >= 0;
  if (known) return;
  if (count == 0)
    sim_faults_add(faults, 0, "integrate.courant", "expected velocity with it, the names of %d field%s", axes,
                   axes > 1 ? "s" : "");
  else if (i->velocity && i->velocity[0]) /* otherwise `solenoidal` has the fault */
    sim_faults_add(faults, 0, "integrate.velocity",
                   "expected the names of %d field%s, one for each axis, got \"%.60s\"", axes, axes > 1 ? "s" : "",
                   i->velocity);
}

static void check_steps(diffusion_parameters *p, sim_faults *faults) {
  diffusion_integrate *i = &p->integrate;
  check_courant(p, faults);
  if (diffusion_estimates(p) && isnan(i->rtol)) i->rtol = 1e-5;
  if (diffusion_estimates(p) && isnan(i->atol)) i->atol = 1e-8;
  if (p->rates && i->scheme == DIFFUSION_EXACT)
    sim_faults_add(faults, 0, "integrate.scheme",
                   "expected lie, %setd1, etdrk2, etdrk4 or rodas3, because there are %s, got exact",
                   p->flux ? "" : "strang, ", p->flux ? "fluxes" : "rates");
  if (!p->rates && i->scheme != DIFFUSION_EXACT)
    sim_faults_add(faults, 0, "integrate.scheme", "expected exact, because there are no rates, got %s",
                   diffusion_methods[i->scheme].name);
  if (diffusion_estimates(p) && i->scheme != DIFFUSION_EXACT && !diffusion_embedded_of(i->scheme))
    sim_faults_add(faults, 0, "integrate.dt",
                   "expected a number, or the scheme strang, etdrk2, etdrk4 or rodas3, got \"auto\" with "
                   "%s",
                   diffusion_methods[i->scheme].name);
  if (diffusion_estimates(p) && i->scheme == DIFFUSION_STRANG && diffusion_dealias(i) > 0)
    sim_faults_add(faults, 0, "integrate.dt",
                   "expected a number, or the scheme etdrk2 or etdrk4, because strang is of order 1 with dealias");
  if (!p->rates && diffusion_dealias(i) > 0)
    sim_faults_add(faults, 0, "integrate.dealias", "has no effect: there are no rates");
  for (size_t axis = 0; diffusion_padded(p) && axis < p->grid.n.rows && axis < 3; axis++)
    if (fmod(p->grid.n.data[axis], 2) != 0 || 1.5 * p->grid.n.data[axis] > GRID_AXIS_MAX)
      sim_faults_add(faults, 0, "integrate.dealias",
                     "padding: expected an even number of cells along %c, 3/2 of which is below 2^24, got %.0f",
                     "xyz"[axis], p -> grid.n.data[axis]);
  const char *why = !p->rates               ? "there are no rates"
                    : diffusion_adaptive(p) ? "steps are by courant"
                                            : "dt is a number";
  if (!diffusion_estimates(p)) {
    if (!isnan(i->rtol)) sim_faults_add(faults, 0, "integrate.rtol", "has no effect: %s", why);
    if (!isnan(i->atol)) sim_faults_add(faults, 0, "integrate.atol", "has no effect: %s", why);
  }
  if (!diffusion_adaptive(p)) {
    if (i->courant != 0) sim_faults_add(faults, 0, "integrate.courant", "has no effect: %s", why);
    if (!isnan(i->dt_max)) sim_faults_add(faults, 0, "integrate.dt_max", "has no effect: %s", why);
    if (i->dt_min != 0) sim_faults_add(faults, 0, "integrate.dt_min", "has no effect: %s", why);
  }
  if (diffusion_estimates(p) && i->rtol == 0 && i->atol == 0)
    sim_faults_add(faults, 0, "integrate.rtol", "expected rtol or atol above 0");
  if (diffusion_adaptive(p) && !diffusion_any_level(i))
    sim_faults_add(faults, 0, "integrate.dt_min",
                   "expected a power of two between it and dt_max (t_end/64 without), got %g", i->dt_min);
  const grid_shape grid = diffusion_grid_of(p);
  for (int axis = 0; axis < grid.rank; axis++) {
    bool fixed = grid.boundary[axis] == GRID_FIXED; /* some field at some end */
    for (int f = 0; f < (int)p->fields.count; f++) {
      const grid_boundary b = diffusion_shape_of(p, f).boundary[axis];
      fixed = fixed || (b != GRID_PERIODIC && b != GRID_NO_FLUX);
    }
    if (fixed && !diffusion_mode_kept(1, grid.n[axis], 0, diffusion_dealias(i)))
      sim_faults_add(faults, 0, "integrate.dealias", "cuts all wavenumbers along %c, whose walls are fixed: %g of %lld",
                     "xyz"[axis], diffusion_dealias(i), (long long)grid.n[axis]);
  }
  for (int f = 0; f < (int)p->fields.count; f++) {
    const diffusion_field *s = diffusion_field_of(p, f);
    const bool split = i->scheme == DIFFUSION_LIE || i->scheme == DIFFUSION_STRANG;
    char path[64];
    snprintf(path, sizeof path, "fields[%d].conserved", f + 1);
    if (s->conserved && !p->rates)
      sim_faults_add(faults, p->fields.items[f].line, path, "has no effect: there are no rates");
    if (s->conserved && p->rates && split)
      sim_faults_add(faults, p->fields.items[f].line, "integrate.scheme",
                     "expected etd1, etdrk2, etdrk4 or rodas3, because fields[%d] is conserved, got %s", f + 1,
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
  diffusion_name_vector(p);
  bool shaped = grid_check(&p->grid, faults);
  if (p->grid.n.rows == 3 && p->members > 1) {
    sim_faults_add(faults, 0, "members", "expected 1, because the grid has three axes, got %lld",
                   (long long)p->members);
    shaped = false;
  }
  if (!shaped) return SIM_OK;
  if (p->flux && !p->rates && named) SIM_TRY(diffusion_no_rates(p));
  check_species(p, faults);
  diffusion_check_walls(p, faults);
  const grid_shape grid = diffusion_grid_of(p);
  check_cross(p, &grid, faults);
  check_steps(p, faults);
  if (faults->count == 0) SIM_TRY(diffusion_check_linear(p, faults));
  if (named) SIM_TRY(diffusion_check_derived_fields(p, faults));
  if (named && p->derived.count > DIFFUSION_DERIVED) return SIM_OK;
  if (named) diffusion_check_solenoidal(p, faults);
  if (named) diffusion_check_forcing(p, faults);
  diffusion_check_lyapunov(p, faults);
  if (named) SIM_TRY(diffusion_bind_rates(p, faults));
  if (named && faults->count == 0) SIM_TRY(diffusion_check_implicit(p, faults));
  if (named) diffusion_check_drawn(p, faults);
  if (named) SIM_TRY(diffusion_bind_observed(p, faults));
  return faults->count == 0 ? diffusion_name_tables(p) : SIM_OK;
}
