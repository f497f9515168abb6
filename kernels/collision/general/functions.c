#include "kernels/collision/general/functions.h"

#include "kernels/common/laws/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACCELERATION, POTENTIAL, LAW, RESTITUTION, PROGRAMS };
enum { COLUMNS = 9, NODES = 8 };

struct collision_fields {
  sim_expr_program *program[PROGRAMS]; /* NULL: the scenario has no such function */
  bool downhill;                       /* the program of the acceleration gives the gradient of a potential */
  laws_scratch scratch;                /* columns: COLUMNS arrays of a block */
};

/* Nodes and weights of Gauss-Legendre quadrature on 0 ... 1. */
static const double node[NODES] = {0.01985507175123188, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751,
                                   0.5917173212478249,  0.7627662049581645,  0.8983332387068134, 0.9801449282487681};
static const double weight[NODES] = {0.05061426814518813, 0.11119051722668723, 0.15685332293894363,
                                     0.1813418916891810,  0.1813418916891810,  0.15685332293894363,
                                     0.11119051722668723, 0.05061426814518813};

static sim_status create_programs(const collision_options *o, collision_fields *f) {
  const bool timed[4] = {false, false, false, true};
  const sim_expr_target target = {.isa = o->isa, .uniform = timed}, plain = {.isa = o->isa};
  if (o->external != NULL && sim_expr_output_count(o->external) == 1) {
    f->downhill = true;
    SIM_TRY(sim_expr_program_create(o->gradient, &target, &f->program[ACCELERATION]));
    SIM_TRY(sim_expr_program_create(o->external, &target, &f->program[POTENTIAL]));
  } else if (o->external != NULL) {
    SIM_TRY(sim_expr_program_create(o->external, &target, &f->program[ACCELERATION]));
  }
  if (o->custom != NULL) SIM_TRY(sim_expr_program_create(o->custom, &plain, &f->program[LAW]));
  if (o->restitution != NULL) SIM_TRY(sim_expr_program_create(o->restitution, &plain, &f->program[RESTITUTION]));
  const size_t columns = COLUMNS * COLLISION_FIELD_BLOCK * sizeof(double);
  return laws_scratch_create(f->program, PROGRAMS, columns, o->threads, &f->scratch);
}

sim_status collision_fields_create(const collision_options *options, collision_fields **out) {
  *out = NULL;
  if (options->external == NULL && options->custom == NULL && options->restitution == NULL) return SIM_OK;
  collision_fields *f = *out = calloc(1, sizeof *f);
  if (f == NULL) return sim_no_memory("functions of grains");
  sim_status status = create_programs(options, f);
  if (status != SIM_OK) collision_fields_destroy(out);
  return status;
}

void collision_fields_destroy(collision_fields **fields) {
  collision_fields *f = *fields;
  if (f == NULL) return;
  for (int k = 0; k < PROGRAMS; k++) sim_expr_program_free(&f->program[k]);
  laws_scratch_destroy(&f->scratch);
  free(f);
  *fields = NULL;
}

sim_status collision_fields_check(const collision_options *options, double radius, double mass, double time) {
  const double most = options->overlap_limit, share[4] = {1e-6, 1e-3, 0.2 * most, most};
  collision_fields *f;
  sim_status status = collision_fields_create(options, &f);
  for (int k = 0; k < 12 && status == SIM_OK; k++) {
    const double overlap = share[k / 3] * radius, rate = (k % 3 - 1) * overlap / time;
    double force, still;
    collision_fields_law(f, overlap, rate, radius, mass, &force, &still, NULL);
    if (!isfinite(force))
      status = sim_fail(SIM_ERR_SCENARIO,
                        "contact.force gives %s for overlap = %.6g, rate = %.6g, radius = %.6g, mass = %.6g",
                        isnan(force) ? "nan" : "an infinite force", overlap, rate, radius, mass);
  }
  collision_fields_destroy(&f);
  return status;
}

/* Lowers *least to the duration of a contact of this pair, if shorter. smaller: the smaller radius; deepest: overlap
 * over it. Forces that are not finite are reported by collision_fields_check. */
static void shorten(collision_fields *f, double deepest, double radius, double mass, double smaller,
                    collision_custom_contact *least) {
  enum { DEPTHS = 8 };
  double before = 0, shallow = 0;
  for (int k = 0; k <= DEPTHS; k++) {
    const double overlap = deepest * smaller * (k > 0 ? (double)k / DEPTHS : 1e-6);
    double force, still;
    collision_fields_law(f, overlap, 0, radius, mass, &force, &still, NULL);
    const double w = k > 0 ? sqrt(fabs(still - before) / ((overlap - shallow) * mass)) : 0, speed = overlap * w;
    double time = w > 0 ? COLLISION_PI / w : INFINITY;
    shallow = overlap;
    before = still;
    for (int side = -1; side <= 1 && speed > 0; side += 2) { /* approaching, then parting, at the highest speed */
      collision_fields_law(f, overlap, side * speed, radius, mass, &force, &still, NULL);
      const double g = fabs(force - still) / speed;
      if (g > 0) time = fmin(time, 10 * mass / (3 * g));
    }
    if (time > 0 && time < least->time) *least = (collision_custom_contact){time, radius, mass};
  }
}

sim_status collision_fields_shortest(const collision_options *options, int64_t n, const double *mass,
                                     const double *radius, collision_custom_contact *out) {
  int64_t of[4] = {0}; /* indices of the lightest, heaviest, smallest and largest grain */
  *out = (collision_custom_contact){.time = INFINITY};
  if (options->custom == NULL || n == 0) return SIM_OK;
  for (int64_t i = 1; i < n; i++) {
    if (mass[i] < mass[of[0]]) of[0] = i;
    if (mass[i] > mass[of[1]]) of[1] = i;
    if (radius[i] < radius[of[2]]) of[2] = i;
    if (radius[i] > radius[of[3]]) of[3] = i;
  }
  collision_fields *f;
  sim_status status = collision_fields_create(options, &f);
  for (int k = 0; k < 4 && status == SIM_OK; k++) {
    const double r = radius[of[k]], m = mass[of[k]];
    shorten(f, options->overlap_limit, r, m, r, out);
    for (int l = k; l < 4; l++) {
      const double r2 = radius[of[l]], m2 = mass[of[l]];
      shorten(f, options->overlap_limit, r * r2 / (r + r2), m * m2 / (m + m2), fmin(r, r2), out);
    }
  }
  collision_fields_destroy(&f);
  return status;
}

double collision_fields_bytes(const collision_options *options) {
  collision_fields *f;
  if (collision_fields_create(options, &f) != SIM_OK || f == NULL) return 0;
  const double bytes = (double)sizeof *f + laws_scratch_bytes(&f->scratch);
  collision_fields_destroy(&f);
  return bytes;
}

/* Evaluates a program of x, y, z and t into the calling thread's columns from the fourth on: out[outputs]. */
static void evaluate(const collision_fields *f, const sim_expr_program *program, double *const x[3], int count,
                     double t, int outputs, void **out) {
  double *columns;
  void *scratch = laws_scratch_here(&f->scratch, &columns);
  for (int k = 0; k < outputs; k++) out[k] = columns + (3 + k) * COLLISION_FIELD_BLOCK;
  sim_expr_program_run(program, (size_t)count, (const void *const[]){x[0], x[1], x[2], &t}, out, scratch);
}

void collision_fields_positions(collision_fields *f, double *x[3]) {
  double *columns;
  (void)laws_scratch_here(&f->scratch, &columns);
  for (int c = 0; c < 3; c++) x[c] = columns + c * COLLISION_FIELD_BLOCK;
}

/* A gradient has four outputs, by x, y, z and t; only three are used. */
void collision_fields_external(collision_fields *f, double *const x[3], int count, double t, const double *a[3]) {
  void *out[4];
  evaluate(f, f->program[ACCELERATION], x, count, t, 4, out);
  for (int c = 0; c < 3; c++) {
    double *of = out[c];
    for (int k = 0; k < count && f->downhill; k++) of[k] = -of[k];
    a[c] = of;
  }
}

bool collision_fields_potential(collision_fields *f, double *const x[3], int count, double t,
                                const double **potential) {
  void *out;
  if (f->program[POTENTIAL] == NULL) return false;
  evaluate(f, f->program[POTENTIAL], x, count, t, 1, &out);
  *potential = out;
  return true;
}

void collision_fields_law(collision_fields *f, double overlap, double rate, double radius, double mass, double *force,
                          double *still, double *energy) {
  double in[4][NODES + 2], out[NODES + 2], *columns;
  const int count = energy != NULL ? NODES + 2 : 2;
  for (int k = 0; k < count; k++) {
    in[0][k] = k < 2 ? overlap : overlap * node[k - 2];
    in[1][k] = k == 0 ? rate : 0;
    in[2][k] = radius;
    in[3][k] = mass;
  }
  sim_expr_program_run(f->program[LAW], (size_t)count, (const void *const[]){in[0], in[1], in[2], in[3]},
                       (void *const[]){out}, laws_scratch_here(&f->scratch, &columns));
  *force = out[0];
  *still = out[1];
  if (energy == NULL) return;
  *energy = 0;
  for (int k = 0; k < NODES; k++) *energy += weight[k] * overlap * out[k + 2];
}

static double restitution_at(collision_fields *f, double speed) {
  double e, *columns;
  sim_expr_program_run(f->program[RESTITUTION], 1, (const void *const[]){&speed}, (void *const[]){&e},
                       laws_scratch_here(&f->scratch, &columns));
  return e;
}

/* Linear law: restitution e = exp(-pi zeta / (1 - zeta^2)^(1/2)) is solved for zeta. */
double collision_fields_damping(collision_fields *f, double speed) {
  const double e = restitution_at(f, speed), log_e = log(e), pi = COLLISION_PI;
  return e > 0 && e <= 1 ? -log_e / sqrt(pi * pi + log_e * log_e) : NAN;
}

sim_status collision_fields_check_restitution(const collision_options *options, double most) {
  enum { SPEEDS = 600 };
  collision_fields *f;
  if (options->restitution == NULL) return SIM_OK;
  sim_status status = collision_fields_create(options, &f);
  for (int k = 0; k <= SPEEDS && status == SIM_OK; k++) {
    const double speed = k == 0 ? 0 : most * pow(10, 12.0 * (k - SPEEDS) / SPEEDS), e = restitution_at(f, speed);
    if (!(e > 0 && e <= 1))
      status = sim_fail(
          SIM_ERR_SCENARIO,
          "contact.restitution_law: expected a coefficient above 0 and at most 1, got %.6g for speed = %.6g", e, speed);
  }
  collision_fields_destroy(&f);
  return status;
}
