/* Turns the functions of a scenario into forces, their time derivatives and potentials. */
#include "kernels/nbody/scenario/laws.h"

#include <math.h>

typedef sim_status maker(sim_expr_builder *builder, const void *context, sim_expr **out);

static sim_status with_builder(maker *make, const void *context, sim_expr **out) {
  sim_expr_builder *builder;
  *out = NULL;
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = make(builder, context, out);
  sim_expr_builder_free(&builder);
  return status;
}

static sim_status declare(sim_expr_builder *builder, const char *const *names, int count, sim_expr_ref *out) {
  for (int i = 0; i < count; i++) SIM_TRY(sim_expr_builder_input(builder, names[i], &out[i]));
  return SIM_OK;
}

/* *sum += a b; leaves out terms that are 0 everywhere. */
static sim_status add_product(sim_expr_builder *builder, sim_expr_ref a, sim_expr_ref b, sim_expr_ref *sum) {
  double value;
  sim_expr_ref product;
  if (sim_expr_builder_constant(builder, a, &value) && value == 0) return SIM_OK;
  SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_MUL, (const sim_expr_ref[]){a, b}, &product));
  if (sim_expr_builder_constant(builder, *sum, &value) && value == 0)
    *sum = product;
  else
    SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_ADD, (const sim_expr_ref[]){*sum, product}, sum));
  return SIM_OK;
}

typedef struct choice {
  const sim_expr *expr;
  int first, count;
} choice;

static sim_status make_choice(sim_expr_builder *builder, const void *context, sim_expr **out) {
  const choice *c = context;
  sim_expr_ref in[SIM_EXPR_INPUTS_MAX], results[SIM_EXPR_OUTPUTS_MAX];
  const char *names[SIM_EXPR_OUTPUTS_MAX];
  for (int i = 0; i < sim_expr_input_count(c->expr); i++)
    SIM_TRY(sim_expr_builder_input(builder, sim_expr_input_name(c->expr, i), &in[i]));
  SIM_TRY(sim_expr_builder_insert(builder, c->expr, in, results));
  for (int i = 0; i < c->count; i++) names[i] = sim_expr_output_name(c->expr, c->first + i);
  return sim_expr_builder_finish(builder, results + c->first, names, c->count, out);
}

sim_status nbody_laws_pick(const sim_expr *expr, int first, int count, sim_expr **out) {
  return with_builder(make_choice, &(choice){expr, first, count}, out);
}

sim_status nbody_laws_work(const sim_expr *expr, int count, double *out) {
  sim_expr *part;
  *out = 0;
  if (expr == NULL) return SIM_OK;
  SIM_TRY(nbody_laws_pick(expr, 0, count, &part));
  *out = sim_expr_work(part);
  sim_expr_free(&part);
  return SIM_OK;
}

/* ---- external ---- */

enum { T = 3, PLACE = 4 }; /* inputs x y z t; PLACE: their number */
static const char *const position_names[] = {"x", "y", "z", "t"};

/* Inputs of the scenario's function: x y z vx vy vz t. */
enum { GIVEN_V = 3, GIVEN_T = 6, GIVEN = 7 };
static const char *const given_names[] = {"x", "y", "z", "vx", "vy", "vz", "t"};

bool nbody_laws_need_velocity(const sim_expr *external) {
  for (int i = 0; external != NULL && i < sim_expr_output_count(external); i++)
    for (int c = 0; c < 3; c++)
      if (sim_expr_depends(external, i, GIVEN_V + c)) return true;
  return false;
}

/* Makes the scenario's function without its unused velocities: x y z t. */
static sim_status make_at_rest(sim_expr_builder *builder, const void *context, sim_expr **out) {
  sim_expr_ref in[PLACE], given[GIVEN], results[3];
  const char *const names[] = {"first", "second", "third"};
  SIM_TRY(declare(builder, position_names, PLACE, in));
  for (int c = 0; c < 3; c++) {
    given[c] = in[c];
    SIM_TRY(sim_expr_builder_number(builder, 0, &given[GIVEN_V + c]));
  }
  given[GIVEN_T] = in[T];
  SIM_TRY(sim_expr_builder_insert(builder, context, given, results));
  return sim_expr_builder_finish(builder, results, names, sim_expr_output_count(context), out);
}

/* Makes x y z vx vy vz t -> an acceleration that depends on the velocity, and an unknown potential (NaN). */
static sim_status make_moving(sim_expr_builder *builder, const void *context, sim_expr **out) {
  sim_expr_ref in[GIVEN], results[4];
  SIM_TRY(declare(builder, given_names, GIVEN, in));
  SIM_TRY(sim_expr_builder_insert(builder, context, in, results));
  SIM_TRY(sim_expr_builder_number(builder, NAN, &results[3]));
  return sim_expr_builder_finish(builder, results, (const char *const[]){"ax", "ay", "az", "potential"}, 4, out);
}

/* Makes minus the gradient of a potential: x y z t -> ax ay az. */
static sim_status make_acceleration(sim_expr_builder *builder, const void *context, sim_expr **out) {
  sim_expr *gradient;
  sim_expr_ref in[PLACE], by[PLACE], a[3];
  SIM_TRY(declare(builder, position_names, PLACE, in));
  SIM_TRY(sim_expr_gradient(context, 0, &gradient));
  sim_status status = sim_expr_builder_insert(builder, gradient, in, by);
  for (int c = 0; c < 3 && status == SIM_OK; c++) status = sim_expr_builder_call(builder, SIM_EXPR_NEG, &by[c], &a[c]);
  if (status == SIM_OK) status = sim_expr_builder_finish(builder, a, (const char *const[]){"ax", "ay", "az"}, 3, out);
  sim_expr_free(&gradient);
  return status;
}

typedef struct external {
  const sim_expr *given, *acceleration;
  bool jerk;
} external;

/* Adds j = da/dt + vx da/dx + vy da/dy + vz da/dz. */
static sim_status add_jerk(sim_expr_builder *builder, const sim_expr *acceleration, const sim_expr_ref *in,
                           const sim_expr_ref *v, sim_expr_ref *jerk) {
  for (int k = 0; k < PLACE; k++) {
    sim_expr *derivative;
    sim_expr_ref by[3], one;
    SIM_TRY(sim_expr_derivative(acceleration, k, &derivative));
    sim_status status = sim_expr_builder_insert(builder, derivative, in, by);
    sim_expr_free(&derivative);
    if (status != SIM_OK) return status;
    SIM_TRY(sim_expr_builder_number(builder, 1, &one));
    for (int c = 0; c < 3; c++) SIM_TRY(add_product(builder, by[c], k == T ? one : v[k], &jerk[c]));
  }
  return SIM_OK;
}

static sim_status make_external(sim_expr_builder *builder, const void *context, sim_expr **out) {
  const external *e = context;
  static const char *const speeds[] = {"vx", "vy", "vz"};
  static const char *const names[] = {"ax", "ay", "az", "jx", "jy", "jz"};
  const char *result[7];
  sim_expr_ref in[PLACE], v[3], given[3], results[7];
  int count = 3;
  SIM_TRY(declare(builder, position_names, 3, in));
  if (e->jerk) SIM_TRY(declare(builder, speeds, 3, v));
  SIM_TRY(sim_expr_builder_input(builder, position_names[T], &in[T]));
  SIM_TRY(sim_expr_builder_insert(builder, e->acceleration, in, results));
  if (e->jerk) {
    for (int c = 0; c < 3; c++) SIM_TRY(sim_expr_builder_number(builder, 0, &results[3 + c]));
    SIM_TRY(add_jerk(builder, e->acceleration, in, v, results + 3));
    count = 6;
  }
  for (int i = 0; i < count; i++) result[i] = names[i];
  result[count] = "potential";
  if (sim_expr_output_count(e->given) == 1) {
    SIM_TRY(sim_expr_builder_insert(builder, e->given, in, given));
    results[count] = given[0];
  } else {
    SIM_TRY(sim_expr_builder_number(builder, NAN, &results[count]));
  }
  return sim_expr_builder_finish(builder, results, result, count + 1, out);
}

/* Creates the external force from a function of the position alone: x y z t. */
static sim_status create_at_rest(const sim_expr *given, bool jerk, nbody_laws *out) {
  const bool potential = sim_expr_output_count(given) == 1;
  sim_expr *acceleration = NULL;
  if (potential) SIM_TRY(with_builder(make_acceleration, given, &acceleration));
  const external e = {given, potential ? acceleration : given, jerk};
  sim_status status = with_builder(make_external, &e, &out->external);
  sim_expr_free(&acceleration);
  return status;
}

static sim_status create_external(const sim_expr *given, bool jerk, nbody_laws *out) {
  const bool potential = sim_expr_output_count(given) == 1;
  sim_expr *at_rest = NULL;
  out->velocity_dependent = nbody_laws_need_velocity(given);
  sim_status status = out->velocity_dependent ? with_builder(make_moving, given, &out->external)
                                              : with_builder(make_at_rest, given, &at_rest);
  if (status == SIM_OK && at_rest != NULL) status = create_at_rest(at_rest, jerk, out);
  sim_expr_free(&at_rest);
  if (status != SIM_OK) return status;
  const int time = sim_expr_input_find(out->external, "t");
  for (int i = 0; i < sim_expr_output_count(out->external); i++)
    if (sim_expr_depends(out->external, i, time)) out->time_dependent = true;
  if (!potential) out->potential_known = false;
  return SIM_OK;
}

/* Makes the derivative of the jerk: ds/dt = dj/dt + v . dj/dx + a . dj/dv. */
static sim_status make_snap(sim_expr_builder *builder, const void *context, sim_expr **out) {
  const nbody_laws *laws = context;
  static const char *const names[] = {"x", "y", "z", "vx", "vy", "vz", "ax", "ay", "az", "t"};
  enum { V = 3, A = 6, TIME = 9, INPUTS = 10, LAW_INPUTS = 7 };
  sim_expr_ref in[INPUTS], of_law[LAW_INPUTS], by[7], snap[3], one;
  SIM_TRY(declare(builder, names, INPUTS, in));
  for (int i = 0; i < LAW_INPUTS; i++) of_law[i] = in[i < 6 ? i : TIME];
  SIM_TRY(sim_expr_builder_number(builder, 1, &one));
  for (int c = 0; c < 3; c++) SIM_TRY(sim_expr_builder_number(builder, 0, &snap[c]));
  for (int i = 0; i < LAW_INPUTS; i++) {
    sim_expr *derivative;
    SIM_TRY(sim_expr_derivative(laws->external, i, &derivative));
    sim_status status = sim_expr_builder_insert(builder, derivative, of_law, by);
    sim_expr_free(&derivative);
    if (status != SIM_OK) return status;
    const sim_expr_ref factor = i < V ? in[V + i] : i < A ? in[A + i - V] : one;
    for (int c = 0; c < 3; c++) SIM_TRY(add_product(builder, by[3 + c], factor, &snap[c]));
  }
  return sim_expr_builder_finish(builder, snap, (const char *const[]){"sx", "sy", "sz"}, 3, out);
}

sim_status nbody_laws_snap(const nbody_laws *laws, sim_expr **out) { return with_builder(make_snap, laws, out); }

/* ---- pair ---- */

/* Makes force = 2 dphi/dr2. */
static sim_status make_force(sim_expr_builder *builder, const void *context, sim_expr **out) {
  sim_expr *derivative;
  sim_expr_ref r2, by, two, force;
  SIM_TRY(sim_expr_builder_input(builder, "r2", &r2));
  SIM_TRY(sim_expr_derivative(context, 0, &derivative));
  sim_status status = sim_expr_builder_insert(builder, derivative, &r2, &by);
  sim_expr_free(&derivative);
  if (status != SIM_OK) return status;
  SIM_TRY(sim_expr_builder_number(builder, 2, &two));
  SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_MUL, (const sim_expr_ref[]){two, by}, &force));
  return sim_expr_builder_finish(builder, &force, (const char *const[]){"force"}, 1, out);
}

typedef struct pair {
  const sim_expr *potential, *force; /* potential NULL: unknown */
  bool jerk;
} pair;

static sim_status make_pair(sim_expr_builder *builder, const void *context, sim_expr **out) {
  const pair *p = context;
  sim_expr_ref r2, results[3];
  int count = 1;
  SIM_TRY(sim_expr_builder_input(builder, "r2", &r2));
  SIM_TRY(sim_expr_builder_insert(builder, p->force, &r2, results));
  if (p->jerk) {
    sim_expr *rate;
    SIM_TRY(sim_expr_derivative(p->force, 0, &rate));
    sim_status status = sim_expr_builder_insert(builder, rate, &r2, &results[count++]);
    sim_expr_free(&rate);
    if (status != SIM_OK) return status;
  }
  if (p->potential != NULL)
    SIM_TRY(sim_expr_builder_insert(builder, p->potential, &r2, &results[count++]));
  else
    SIM_TRY(sim_expr_builder_number(builder, NAN, &results[count++]));
  static const char *const with_rate[] = {"force", "rate", "potential"}, *const without[] = {"force", "potential"};
  return sim_expr_builder_finish(builder, results, p->jerk ? with_rate : without, count, out);
}

static sim_status create_pair(const sim_expr *potential, const sim_expr *force, bool jerk, nbody_laws *out) {
  sim_expr *derived = NULL;
  if (force == NULL) SIM_TRY(with_builder(make_force, potential, &derived));
  const pair p = {potential, force != NULL ? force : derived, jerk};
  sim_status status = with_builder(make_pair, &p, &out->pair);
  sim_expr_free(&derived);
  if (potential == NULL) out->potential_known = false;
  return status;
}

/* ---- both ---- */

sim_status nbody_laws_create(const nbody_parameters *p, nbody_laws *out) {
  const bool jerk = p->integrate.scheme == NBODY_HERMITE4;
  sim_status status = SIM_OK;
  *out = (nbody_laws){.potential_known = true};
  out->no_pairs = p->pair != NULL && sim_expr_always_zero(p->pair, 0);
  if (p->external != NULL) status = create_external(p->external, jerk, out);
  if (status == SIM_OK && (p->pair != NULL || p->pair_force != NULL))
    status = create_pair(p->pair, p->pair_force, jerk, out);
  if (status != SIM_OK) nbody_laws_free(out);
  return status;
}

void nbody_laws_free(nbody_laws *laws) {
  sim_expr_free(&laws->external);
  sim_expr_free(&laws->pair);
}
