/* Regression of the exercise rule of a payoff on several assets: least squares for the continuation value, from the
 * last date but one backwards, on paths with a positive payment. */
#include "kernels/option/cpu/exercise.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = OPTION_CHUNK, LANES = 8 };

typedef struct joint {
  option_cpu_regression *f;
  option_rule *rule;
  const sim_expr_program *program;
  int bases;
  size_t scratch;  /* bytes of a program */
  size_t room;     /* bytes of a thread */
  char *rooms;     /* [threads][room]: columns [1 + bases][CHUNK], then scratch */
  bool *not_valid; /* [threads] */
} joint;

static double *columns(const joint *j) { return (double *)(void *)(j->rooms + (size_t)omp_get_thread_num() * j->room); }

/* Evaluates the payment and the functions at a date on the chunk at path `at`: columns [1 + bases][CHUNK]. */
static void evaluate(const joint *j, int date, size_t at, double *column) {
  const option_cpu_regression *f = j->f;
  const size_t row = (size_t)f->share * CHUNK, prices = (size_t)f->prices;
  const void *in[3 * OPTION_ASSETS_MAX + 2];
  void *out[1 + OPTION_BASES_MAX];
  for (size_t a = 0; a < prices; a++) in[a] = f->price + ((size_t)date * prices + a) * row + at;
  for (int k = 0; k <= j->bases; k++) out[k] = column + (size_t)k * CHUNK;
  sim_expr_program_run(j->program, CHUNK, in, out, column + (size_t)(j->bases + 1) * CHUNK);
  for (int i = 0; i < CHUNK; i++)
    if (!isfinite(column[i])) j->not_valid[omp_get_thread_num()] = true;
}

/* Moves the numbers of the paths with a positive payment to the front of the first `count` columns; returns how many.
 * The rest, to a multiple of LANES, is 0. */
static int gather_paid(double *column, int count, const double *cash, double *paid) {
  int kept = 0, place[CHUNK];
  for (int i = 0; i < CHUNK; i++)
    if (column[i] > 0) place[kept++] = i;
  const int end = (kept + LANES - 1) / LANES * LANES;
  for (int k = 0; k < count; k++) {
    double *of = column + (size_t)k * CHUNK;
    for (int i = 0; i < kept; i++) of[i] = of[place[i]];
    for (int i = kept; i < end; i++) of[i] = 0;
  }
  for (int i = 0; i < kept; i++) paid[i] = cash[place[i]];
  for (int i = kept; i < end; i++) paid[i] = 0;
  return kept;
}

double option_cpu_dot(const double *a, const double *b, int count) {
  double part[LANES] = {0}, sum = 0;
  for (int i = 0; i < count; i += LANES)
    for (int k = 0; k < LANES; k++) part[k] += a[i + k] * b[i + k];
  for (int k = 0; k < LANES; k++) sum += part[k];
  return sum;
}

static sim_status check_valid(const joint *j, int number) {
  bool wrong = false;
  for (int t = 0; t < j->f->threads; t++) wrong |= j->not_valid[t];
  return option_joint_check(j->f->comm, wrong, number);
}

static sim_status set_program(joint *j, const sim_expr_program *program, int bases) {
  j->program = program;
  j->bases = bases;
  j->scratch = (sim_expr_program_scratch(program) + 127) / 64 * 64;
  j->room = (size_t)(bases + 1) * CHUNK * sizeof(double) + j->scratch;
  free(j->rooms);
  j->rooms = aligned_alloc(64, j->room * (size_t)j->f->threads);
  return j->rooms != NULL ? SIM_OK : sim_no_memory("early exercise");
}

static sim_status find_scale(joint *j, const option_payoff *o, int number, double (*scale)[2]) {
  option_cpu_regression *f = j->f;
  int input[OPTION_SCALES_MAX];
  const int inputs = option_joint_scaled(f->p, o, input);
  double *sum = calloc((size_t)f->sums_each, sizeof *sum);
  if (sum == NULL) return sim_no_memory("early exercise");
  const size_t row = (size_t)f->share * CHUNK;
#pragma omp parallel for schedule(static) num_threads(f->threads)
  for (int c = f->first; c < f->end; c++) {
    double *column = columns(j), *to = f->sums + (size_t)c * (size_t)f->sums_each;
    const size_t at = (size_t)(c - f->first) * CHUNK;
    for (int d = 0; d < f->rule.dates; d++) {
      evaluate(j, d, at, column);
      for (int i = 0; i < CHUNK; i++) {
        if (!(column[i] > 0)) continue;
        to[0]++;
        to[1] += column[i];
        to[2] += column[i] * column[i];
        for (int k = 0; k < inputs; k++) {
          const double x = f->price[((size_t)d * (size_t)f->prices + (size_t)input[k]) * row + at + (size_t)i];
          to[3 + 2 * k] += x;
          to[4 + 2 * k] += x * x;
        }
      }
    }
  }
  sim_status status = check_valid(j, number);
  if (status == SIM_OK) status = option_cpu_total(f, sum);
  if (status == SIM_OK) option_joint_scale(sum, option_joint_scaled_assets(f->p, o), inputs, scale);
  memset(f->sums, 0, (size_t)f->share * (size_t)f->comm->size * (size_t)f->sums_each * sizeof *f->sums);
  free(sum);
  return status;
}

/* Cash of the paths that exercise at `date`, of the chunk at path `at`. */
static void exercise_chunk(const joint *j, int date, const double *beta, size_t at, double *column) {
  double *cash = j->f->cash + at, hold[CHUNK] = {0};
  evaluate(j, date, at, column);
  for (int k = 0; k < j->bases && beta != NULL; k++)
    for (int i = 0; i < CHUNK; i++) hold[i] += beta[k] * column[(size_t)(k + 1) * CHUNK + (size_t)i];
  for (int i = 0; i < CHUNK; i++)
    if (column[i] > 0 && column[i] >= hold[i]) cash[i] = column[i];
}

/* Discounts the cash of a chunk from the next date to `date`; along the paths, where the rate is random. */
static void discount_chunk(const joint *j, int date, double discount, size_t at) {
  const option_cpu_regression *f = j->f;
  const size_t row = (size_t)f->share * CHUNK, prices = (size_t)f->prices;
  double *cash = f->cash + at;
  for (int i = 0; i < CHUNK; i++) cash[i] *= discount;
  if (f->market->rates == NULL) return;
  const double *now = f->price + ((size_t)date * prices + prices - 1) * row + at, *next = now + prices * row;
  for (int i = 0; i < CHUNK; i++) cash[i] *= next[i] / now[i];
}

/* option_joint_sums of a joint. */
static sim_status sums_at(void *self, int date, const double *beta, double discount, double *sum) {
  const joint *j = self;
  option_cpu_regression *f = j->f;
#pragma omp parallel for schedule(static) num_threads(f->threads)
  for (int c = f->first; c < f->end; c++) {
    double *column = columns(j), paid[CHUNK], *to = f->sums + (size_t)c * (size_t)f->sums_each;
    const size_t at = (size_t)(c - f->first) * CHUNK;
    exercise_chunk(j, date + 1, beta, at, column);
    discount_chunk(j, date, discount, at);
    evaluate(j, date, at, column);
    const int kept = gather_paid(column, j->bases + 1, f->cash + at, paid);
    for (int a = 0; a < j->bases; a++) {
      const double *x = column + (size_t)(a + 1) * CHUNK;
      for (int b = 0; b <= a; b++) *to++ = option_cpu_dot(x, column + (size_t)(b + 1) * CHUNK, kept);
    }
    for (int a = 0; a < j->bases; a++) *to++ = option_cpu_dot(column + (size_t)(a + 1) * CHUNK, paid, kept);
  }
  return option_cpu_total(f, sum);
}

static sim_status find_rule(joint *j, const option_payoff *o, int number, int chunks, option_joint_rule *out) {
  const option_parameters *p = j->f->p;
  double(*scale)[2] = out->scale;
  sim_expr *expr = NULL;
  sim_expr_program *payment = NULL;
  int bases = 0;
  SIM_TRY(option_cpu_simulate(j->f, j->rule, -1, chunks));
  sim_status status = option_joint_graph(p, o, OPTION_JOINT_PAYMENT, NULL, &expr, &bases);
  if (status == SIM_OK) status = sim_expr_program_create(expr, &(sim_expr_target){.isa = j->f->isa}, &payment);
  if (status == SIM_OK) status = set_program(j, payment, 0);
  if (status == SIM_OK) status = find_scale(j, o, number, scale);
  sim_expr_program_free(&payment);
  sim_expr_free(&expr);
  if (status == SIM_OK)
    status = option_joint_graph(p, o, OPTION_JOINT_SCALED, (const double(*)[2])scale, &expr, &bases);
  if (status == SIM_OK) status = sim_expr_program_create(expr, &(sim_expr_target){.isa = j->f->isa}, &out->in_double);
  if (status == SIM_OK)
    status = sim_expr_program_create(expr, &(sim_expr_target){.single = option_is_single(p), .isa = j->f->isa},
                                     &out->program);
  sim_expr_free(&expr);
  const size_t count = (size_t)j->rule->dates * (size_t)bases;
  if (status == SIM_OK) out->beta = calloc(count, sizeof(double) + sizeof(float));
  if (status == SIM_OK && out->beta == NULL) status = sim_no_memory("early exercise");
  if (status == SIM_OK) status = set_program(j, out->in_double, bases);
  if (status != SIM_OK) return status;
  float *single = (float *)(void *)(out->beta + count);
  j->rule->beta = out->beta;
  j->rule->beta_single = single;
  j->rule->program = out->program;
  j->rule->bases = bases;
  SIM_TRY(option_joint_go_back(j->rule, j->f->market->bond, sums_at, j, out->beta));
  SIM_TRY(check_valid(j, number));
  for (size_t k = 0; k < count; k++) single[k] = (float)out->beta[k];
  return SIM_OK;
}

sim_status option_cpu_joint(void *self, const option_payoff *o, int number, int chunks, option_rule *rule,
                            option_joint_rule *out) {
  joint j = {.f = self, .rule = rule};
  const int bases = option_joint_bases(j.f->p, o);
  j.f->sums_each = (int)fmax(bases * (bases + 3) / 2, 3 + 2 * option_joint_scaled(j.f->p, o, NULL));
  j.not_valid = calloc((size_t)j.f->threads, sizeof *j.not_valid);
  const sim_status status =
      j.not_valid != NULL ? find_rule(&j, o, number, chunks, out) : sim_no_memory("early exercise");
  option_cpu_release(j.f);
  free(j.rooms);
  free(j.not_valid);
  return status;
}
