/* Derived fields: functions that are linear in the fields, at each wavenumber. */
#include "kernels/diffusion/diffusion.h"
#include "kernels/diffusion/waves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KX, KY, KZ, K2, MEMBER, WAVES };

/* Inputs: the fields, kx, ky, kz, k2, member. */
static void evaluate(const diffusion_parameters *p, const sim_expr_program *program, const double *fields,
                     const double k[3], double member, double out[2]) {
  _Alignas(64) char scratch[DIFFUSION_SCRATCH];
  const int count = (int)p->fields.count;
  const double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  const void *in[DIFFUSION_FIELDS + WAVES];
  for (int f = 0; f < count; f++) in[f] = &fields[f];
  for (int a = 0; a < 3; a++) in[count + a] = &k[a];
  in[count + K2] = &k2;
  in[count + MEMBER] = &member;
  out[0] = out[1] = 0;
  sim_expr_program_run(program, 1, in, (void *const[]){&out[0], &out[1]}, scratch);
}

static sim_status create_program(const sim_expr *expr, sim_expr_program **out) {
  bool uniform[DIFFUSION_FIELDS + WAVES];
  for (int i = 0; i < DIFFUSION_FIELDS + WAVES; i++) uniform[i] = true;
  return sim_expr_program_create(expr, &(sim_expr_target){.uniform = uniform, .block = 1}, out);
}

/* Builds the derivative by the field, not the function of that field alone: the other coefficients times 0 need not be
 * finite at k = 0. */
sim_status diffusion_symbol_program(const diffusion_parameters *p, int derived, int field, sim_expr_program **out) {
  sim_expr *derivative;
  *out = NULL;
  SIM_TRY(sim_expr_derivative(p->derived.items[derived].expr, field, &derivative));
  const sim_status status = create_program(derivative, out);
  sim_expr_free(&derivative);
  return status;
}

diffusion_parts diffusion_symbol_parts(const sim_expr *expr, int field) {
  int parts = DIFFUSION_ABSENT;
  for (int i = 0; i < sim_expr_output_count(expr); i++)
    if (sim_expr_depends(expr, i, field)) parts |= i == 0 ? DIFFUSION_REAL : DIFFUSION_IMAGINARY;
  return (diffusion_parts)parts;
}

bool diffusion_symbol_at(const diffusion_parameters *p, const grid_shape *grid, const sim_expr_program *program,
                         const double k[3], const int64_t mode[3], double out[2]) {
  const double member = grid->member_axis ? (double)mode[grid->member_axis] + 1 : 1;
  const double fields[DIFFUSION_FIELDS] = {0}; /* values on which the coefficient does not depend */
  int own = 0;                                 /* number of axes along which the mode is its own mirror image */
  out[0] = out[1] = 0;
  for (int a = 0; a < grid->rank; a++)
    if (grid_is_periodic(grid, a) && !grid_is_member_axis(grid, a) &&
        2 * (mode[a] < 0 ? -mode[a] : mode[a]) == grid->n[a])
      own |= 1 << a;
  int count = 0;
  for (int signs = 0; signs < 8; signs++) {
    double here[3], c[2];
    if (signs & ~own) continue;
    for (int a = 0; a < 3; a++) here[a] = signs >> a & 1 ? -k[a] : k[a];
    evaluate(p, program, fields, here, member, c);
    out[0] += c[0];
    out[1] += c[1];
    count++;
  }
  out[0] /= count;
  out[1] /= count;
  if (isfinite(out[0]) && isfinite(out[1])) return true;
  out[0] = out[1] = 0;
  return k[0] == 0 && k[1] == 0 && k[2] == 0;
}

sim_status diffusion_symbol_fault(const diffusion_parameters *p, int derived, int field, const double k[3]) {
  return sim_fail(SIM_ERR_SCENARIO,
                  "derived.%s: the coefficient of %s is not finite at k = {%.6g, %.6g, %.6g}: only at k = 0 is it then "
                  "0; give a value there with sim.where",
                  p->derived.items[derived].name, diffusion_field_of(p, field)->name, k[0], k[1], k[2]);
}

/* Whether the derivatives by the fields do not depend on the fields. */
static bool is_linear(const diffusion_parameters *p, const sim_expr *expr) {
  const int fields = (int)p->fields.count;
  bool linear = true;
  for (int f = 0; f < fields && linear; f++) {
    sim_expr *derivative;
    if (sim_expr_derivative(expr, f, &derivative) != SIM_OK) return false;
    for (int i = 0; i < sim_expr_output_count(derivative); i++)
      for (int g = 0; g < fields; g++) linear = linear && !sim_expr_depends(derivative, i, g);
    sim_expr_free(&derivative);
  }
  return linear;
}

/* A coefficient of a derived field, the context of evaluate_coefficient. */
typedef struct coefficient {
  const diffusion_parameters *p;
  const sim_expr_program *program;
} coefficient;

static void evaluate_coefficient(const void *context, const double k[3], double member, double out[2]) {
  const coefficient *c = context;
  const double none[DIFFUSION_FIELDS] = {0};
  evaluate(c->p, c->program, none, k, member, out);
}

/* Adds a fault, and returns false, where the coefficient of a field at k is not finite, or is not the coefficient of a
 * real field. */
static bool check_parity(const coefficient *c, const grid_shape *grid, int field, const double k[3], double member,
                         sim_faults *faults, int line, const char *path) {
  char whose[40] = "";
  if (member > 1) snprintf(whose, sizeof whose, " (member %.0f)", member);
  const int parity = diffusion_symbol_parity(grid, evaluate_coefficient, c, k, member);
  if (parity == DIFFUSION_SYMBOL_GOOD) return true;
  if (parity == DIFFUSION_SYMBOL_INFINITE)
    sim_faults_add(faults, line, path,
                   "the coefficient of %s is not finite at k = {%.6g, %.6g, %.6g}%s: where that is so at k = 0 alone "
                   "it is 0 there; elsewhere sim.where gives a value",
                   diffusion_field_of(c->p, field)->name, k[0], k[1], k[2], whose);
  else if (parity == DIFFUSION_SYMBOL_COMPLEX)
    sim_faults_add(faults, line, path,
                   "expected a first result that is the same at k and -k, and a second one that changes its sign, as "
                   "a real field has%s",
                   whose);
  else
    sim_faults_add(faults, line, path, "expected a function that is even in k%c, because %c is not a periodic axis%s",
                   "xyz"[parity], "xyz"[parity], whose);
  return false;
}

/* Whether the function of one member is linear in the fields at k: 0 without them, and the sum of its coefficients
 * times the fields at small and large values of both signs. Steps such as math.floor have coefficients 0. */
static bool is_linear_at(const diffusion_parameters *p, const sim_expr_program *program,
                         sim_expr_program *const *coefficients, const double k[3], double member) {
  static const double sizes[] = {0, 0.7, -1e6};
  const int fields = (int)p->fields.count;
  bool linear = true;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    double u[DIFFUSION_FIELDS] = {0}, sum[2] = {0, 0}, all[2], here[2];
    for (int f = 0; f < fields; f++) {
      const coefficient c = {p, coefficients[f]};
      u[f] = sizes[i] * (1 + 0.6 * f);
      evaluate_coefficient(&c, k, member, here);
      sum[0] += u[f] * here[0];
      sum[1] += u[f] * here[1];
    }
    evaluate(p, program, u, k, member, all);
    linear = linear && diffusion_symbols_near(all, sum);
  }
  return linear;
}

/* Adds a fault where the function of some member is not linear, or its result is not that of a real field. */
static void check_values(const diffusion_parameters *p, const sim_expr *expr, const sim_expr_program *program,
                         sim_expr_program *const *coefficients, const grid_shape *grid, sim_faults *faults, int line,
                         const char *path) {
  const int fields = (int)p->fields.count;
  const int64_t members = diffusion_takes(expr, fields + MEMBER) ? p->members : 1;
  for (int64_t m = 1; m <= members; m++)
    for (int i = 0; i < DIFFUSION_SYMBOL_SAMPLES; i++) {
      const double member = (double)m;
      double k[3];
      if (!diffusion_symbol_sample(grid, i, k)) continue;
      for (int f = 0; f < fields; f++) {
        const coefficient c = {p, coefficients[f]};
        if (!check_parity(&c, grid, f, k, member, faults, line, path)) return;
      }
      if (is_linear_at(p, program, coefficients, k, member)) continue;
      if (m > 1)
        sim_faults_add(faults, line, path, "expected a function that is linear in the fields (member %.0f)", member);
      else
        sim_faults_add(faults, line, path, "expected a function that is linear in the fields");
      return;
    }
}

/* Computes half the second derivative of a coefficient by the wavenumber along an axis, at k = 0. There k2 has the
 * derivative 0 and the second derivative 2. */
static sim_status find_curve(const diffusion_parameters *p, int derived, int field, int axis, double *out) {
  const int inputs[2][2] = {{(int)p->fields.count + axis, (int)p->fields.count + axis},
                            {(int)p->fields.count + K2, -1}};
  static const double factors[2] = {0.5, 1};
  static const double none[DIFFUSION_FIELDS] = {0}, zero[3] = {0};
  *out = 0;
  for (int i = 0; i < 2; i++) {
    sim_expr *expr = NULL, *next;
    sim_expr_program *program = NULL;
    double value[2];
    sim_status status = sim_expr_derivative(p->derived.items[derived].expr, field, &expr);
    for (int n = 0; n < 2 && status == SIM_OK && inputs[i][n] >= 0; n++) {
      status = sim_expr_derivative(expr, inputs[i][n], &next);
      sim_expr_free(&expr);
      if (status == SIM_OK) expr = next;
    }
    if (status == SIM_OK) status = create_program(expr, &program);
    if (status == SIM_OK && sim_expr_program_scratch(program) <= DIFFUSION_SCRATCH) {
      evaluate(p, program, none, zero, 1, value);
      *out += factors[i] * value[0];
    } else {
      *out = NAN;
    }
    sim_expr_program_free(&program);
    sim_expr_free(&expr);
    if (status != SIM_OK) return status;
  }
  return SIM_OK;
}

/* Fills p->origin for a field with a lift. Adds a fault where the lift has no image: a polynomial has no wavenumber but
 * 0, so that the coefficient must be continuous there, and smooth where the lift has a curve. */
static sim_status find_origin(diffusion_parameters *p, int derived, int field, const coefficient *c, sim_faults *faults,
                              int line, const char *path) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_lift lift = diffusion_lift_of(p, field);
  const char *name = diffusion_field_of(p, field)->name;
  double *origin = p->origin[derived][field], at[2];
  bool good = true, smooth = true;
  evaluate_coefficient(c, (const double[3]){0, 0, 0}, 1, at);
  origin[0] = at[0];
  for (int axis = 0; axis < grid.rank; axis++) {
    if (grid_is_periodic(&grid, axis) || grid_is_member_axis(&grid, axis)) continue;
    double k[3] = {0}, first[2], near[2];
    k[axis] = DIFFUSION_PI / grid.size[axis];
    evaluate_coefficient(c, k, 1, first);
    k[axis] *= 1e-4;
    evaluate_coefficient(c, k, 1, near);
    good = good && isfinite(at[0]) && fabs(near[0] - at[0]) <= 1e-2 * fmax(fabs(at[0]), fabs(first[0]));
    if (lift.curves[axis] == 0 || !good) continue;
    SIM_TRY(find_curve(p, derived, field, axis, &origin[1 + axis]));
    const double curve = origin[1 + axis] * k[axis] * k[axis];
    smooth = smooth && isfinite(curve) && fabs(near[0] - at[0] - curve) <= 1e-3 * fabs(curve) + 1e-12 * fabs(at[0]);
  }
  if (!good)
    sim_faults_add(faults, line, path,
                   "expected a coefficient of %s that is finite and continuous at k = 0, because walls of %s have a "
                   "value or slope that is not 0: what they hold is a line or parabola, whose potential no wall gives",
                   name, name);
  else if (!smooth)
    sim_faults_add(faults, line, path,
                   "expected a coefficient of %s with a second derivative at k = 0, because slopes at walls of %s "
                   "differ: what they hold is a parabola",
                   name, name);
  if (diffusion_takes(p->derived.items[derived].expr, (int)p->fields.count + MEMBER))
    sim_faults_add(faults, line, path,
                   "expected a function without member, because walls of %s have a value or slope that is not 0", name);
  return SIM_OK;
}

static sim_status check_one(diffusion_parameters *p, int derived, sim_faults *faults) {
  const grid_shape grid = diffusion_grid_of(p);
  const size_t before = faults->count;
  sim_named_function *item = &p->derived.items[derived];
  const char *inputs[DIFFUSION_FIELDS + WAVES + 1];
  char path[SIM_EXPR_NAME_MAX + 16];
  int count = 0;
  snprintf(path, sizeof path, "derived.%s", item->name);
  for (; count < (int)p->fields.count; count++) inputs[count] = diffusion_field_of(p, count)->name;
  static const char *const waves[WAVES + 1] = {"kx", "ky", "kz", "k2", "member", NULL};
  memcpy(inputs + count, waves, sizeof waves);
  const sim_signature signature = {
      .inputs = inputs, .outputs = {1, 2}, .returns = "the field, or its real and imaginary parts"};
  if (item->reduce != SIM_SUM) sim_faults_add(faults, item->line, path, "reduce has no effect: it is a field");
  SIM_TRY(sim_function_bind(&item->expr, &signature, faults, item->line, path));
  if (faults->count > before) return SIM_OK;
  if (!is_linear(p, item->expr)) {
    sim_faults_add(faults, item->line, path, "expected a function that is linear in the fields");
    return SIM_OK;
  }
  int used = 0;
  grid_shape own = grid; /* the series of the fields on which it depends */
  for (int f = 0; f < (int)p->fields.count; f++) {
    if (diffusion_symbol_parts(item->expr, f)) own = diffusion_shape_of(p, f);
    used |= diffusion_symbol_parts(item->expr, f);
    for (int other = 0; other < f; other++)
      if (diffusion_symbol_parts(item->expr, f) && diffusion_symbol_parts(item->expr, other) &&
          !diffusion_same_walls(p, f, other))
        sim_faults_add(faults, item->line, path, "depends on %s and %s, whose walls are of different kinds",
                       diffusion_field_of(p, other)->name, diffusion_field_of(p, f)->name);
  }
  if (!used) sim_faults_add(faults, item->line, path, "depends on no field");
  bool periodic = false;
  for (int a = 0; a < grid.rank; a++) periodic = periodic || grid_is_periodic(&grid, a);
  if ((used & DIFFUSION_IMAGINARY) && !periodic)
    sim_faults_add(faults, item->line, path, "has an imaginary part, and no axis is periodic");
  if (faults->count > before) return SIM_OK;
  sim_expr_program *program, *coefficients[DIFFUSION_FIELDS] = {NULL};
  SIM_TRY(create_program(item->expr, &program));
  bool is_long = sim_expr_program_scratch(program) > DIFFUSION_SCRATCH;
  sim_status status = SIM_OK;
  for (int f = 0; status == SIM_OK && f < (int)p->fields.count; f++) {
    status = diffusion_symbol_program(p, derived, f, &coefficients[f]);
    is_long = is_long || (status == SIM_OK && sim_expr_program_scratch(coefficients[f]) > DIFFUSION_SCRATCH);
  }
  if (is_long)
    sim_faults_add(faults, item->line, path, "is too long");
  else if (status == SIM_OK)
    check_values(p, item->expr, program, coefficients, &own, faults, item->line, path);
  for (int f = 0; status == SIM_OK && faults->count == before && f < (int)p->fields.count; f++) {
    const coefficient c = {p, coefficients[f]};
    if (diffusion_symbol_parts(item->expr, f) && diffusion_lift_of(p, f).axis >= 0)
      status = find_origin(p, derived, f, &c, faults, item->line, path);
  }
  for (int f = 0; f < DIFFUSION_FIELDS; f++) sim_expr_program_free(&coefficients[f]);
  sim_expr_program_free(&program);
  return status;
}

sim_status diffusion_check_derived_fields(diffusion_parameters *p, sim_faults *faults) {
  if (p->derived.count > DIFFUSION_DERIVED) {
    sim_faults_add(faults, 0, "derived", "expected at most %d functions, got %zu", DIFFUSION_DERIVED, p->derived.count);
    return SIM_OK;
  }
  for (int d = 0; d < (int)p->derived.count; d++) SIM_TRY(check_one(p, d, faults));
  return SIM_OK;
}
