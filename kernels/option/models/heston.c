#include "kernels/option/models/heston.h"

#include "engine/log.h"
#include "kernels/option/scenario/integral.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { KAPPA, THETA, SIGMA, RHO, PARAMETERS };
static const char *const names[PARAMETERS] = {"kappa", "theta", "sigma", "rho"};

static option_range range_of(int k) {
  return k == RHO ? (option_range){.least = -1, .most = 1, .open = true} : OPTION_POSITIVE;
}

static void make_name(int asset, int k, char *out, size_t capacity) {
  snprintf(out, capacity, "assets[%d].heston.%s", asset + 1, names[k]);
}

static void list(const option_heston *h, const sim_expr *out[PARAMETERS]) {
  out[KAPPA] = h->kappa;
  out[THETA] = h->theta;
  out[SIGMA] = h->sigma;
  out[RHO] = h->rho;
}

bool option_heston_varies(const option_heston *h) {
  const sim_expr *of[PARAMETERS];
  list(h, of);
  for (int k = 0; k < PARAMETERS; k++)
    if (of[k] != NULL && sim_expr_depends(of[k], 0, 0)) return true;
  return false;
}

/* Values at `count` times. */
static sim_status evaluate(const sim_expr *expr, const double *t, size_t count, double *out) {
  sim_expr_program *program;
  SIM_TRY(sim_expr_program_create(expr, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, &program));
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 127) / 64 * 64);
  if (scratch != NULL) sim_expr_program_run(program, count, (const void *const[]){t}, (void *const[]){out}, scratch);
  free(scratch);
  sim_expr_program_free(&program);
  return scratch != NULL ? SIM_OK : sim_no_memory("Heston's parameters");
}

/* The function kappa root(theta). */
static sim_status weighted_root(const sim_expr *kappa, const sim_expr *theta, sim_expr **out) {
  sim_expr_builder *builder;
  sim_expr_ref t, of[2];
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = sim_expr_builder_input(builder, "t", &t);
  if (status == SIM_OK) status = sim_expr_builder_insert(builder, kappa, &t, &of[0]);
  if (status == SIM_OK) status = sim_expr_builder_insert(builder, theta, &t, &of[1]);
  if (status == SIM_OK) status = sim_expr_builder_call(builder, SIM_EXPR_SQRT, &of[1], &of[1]);
  if (status == SIM_OK) status = sim_expr_builder_call(builder, SIM_EXPR_MUL, of, &of[0]);
  if (status == SIM_OK) status = sim_expr_builder_finish(builder, of, (const char *const[]){"product"}, 1, out);
  sim_expr_builder_free(&builder);
  return status;
}

static sim_status integrate_product(const sim_expr *a, const sim_expr *b, const option_grid *grid, double *sum) {
  sim_expr *both;
  SIM_TRY(option_product(a, b, &both));
  const sim_status status = option_integrate("heston", both, OPTION_FINITE, grid, sum, NULL);
  sim_expr_free(&both);
  return status;
}

/* Integrals over the steps, [steps] each. */
typedef struct integrals {
  double *kappa, *target, *root, *square, *product; /* of kappa, kappa theta, kappa root(theta), sigma^2, rho sigma */
  double *room;
} integrals;

static sim_status integrate(const option_heston *h, int asset, const option_grid *grid, const integrals *out) {
  const sim_expr *of[PARAMETERS];
  sim_expr *root = NULL;
  list(h, of);
  for (int k = 0; k < PARAMETERS; k++) {
    char name[64];
    make_name(asset, k, name, sizeof name);
    SIM_TRY(option_integrate(name, of[k], range_of(k), grid, k == KAPPA ? out->kappa : out->room,
                             k == SIGMA ? out->square : NULL));
  }
  SIM_TRY(integrate_product(h->kappa, h->theta, grid, out->target));
  SIM_TRY(integrate_product(h->rho, h->sigma, grid, out->product));
  SIM_TRY(weighted_root(h->kappa, h->theta, &root));
  const sim_status status = option_integrate("heston", root, OPTION_FINITE, grid, out->root, NULL);
  sim_expr_free(&root);
  return status;
}

static sim_status constant_steps(const option_heston *h, int asset, double shift, const option_grid *grid,
                                 option_heston_step *out) {
  const sim_expr *of[PARAMETERS];
  double value[PARAMETERS];
  list(h, of);
  for (int k = 0; k < PARAMETERS; k++) {
    char name[64];
    make_name(asset, k, name, sizeof name);
    SIM_TRY(evaluate(of[k], (const double[]){0}, 1, &value[k]));
    SIM_TRY(option_check_range(name, range_of(k), value[k], 0));
  }
  const double root = sqrt(value[THETA]) + shift, sigma = option_heston_mixing(h) * value[SIGMA];
  for (int k = 0; k < grid->kinds; k++) out[k] = (option_heston_step){value[KAPPA], root * root, sigma, value[RHO]};
  return SIM_OK;
}

sim_status option_heston_steps(const option_heston *h, int asset, const option_grid *grid, double shift,
                               option_heston_step *out) {
  if (!option_heston_varies(h)) return constant_steps(h, asset, shift, grid, out);
  const size_t n = (size_t)grid->steps;
  double *room = calloc(6 * n, sizeof *room);
  if (room == NULL) return sim_no_memory("Heston's parameters");
  const integrals of = {room, room + n, room + 2 * n, room + 3 * n, room + 4 * n, room + 5 * n};
  const sim_status status = integrate(h, asset, grid, &of);
  for (int s = 0; s < grid->steps && status == SIM_OK; s++) {
    const double sigma = sqrt(of.square[s] / grid->length[s]);
    const double pull = of.target[s] + shift * (2 * of.root[s] + shift * of.kappa[s]);
    out[grid->kind[s]] = (option_heston_step){of.kappa[s] / grid->length[s], pull / of.kappa[s],
                                              option_heston_mixing(h) * sigma, of.product[s] / grid->length[s] / sigma};
  }
  free(room);
  return status;
}

enum { TIMES = 65 };

sim_status option_heston_rho(const option_heston *h, double *out) {
  const double start = 0;
  return evaluate(h->rho, &start, 1, out);
}

sim_status option_heston_feller(const option_heston *h, double maturity, double *out) {
  double t[TIMES], kappa[TIMES], theta[TIMES], sigma[TIMES];
  for (int i = 0; i < TIMES; i++) t[i] = maturity * i / (TIMES - 1);
  SIM_TRY(evaluate(h->kappa, t, TIMES, kappa));
  SIM_TRY(evaluate(h->theta, t, TIMES, theta));
  SIM_TRY(evaluate(h->sigma, t, TIMES, sigma));
  *out = INFINITY;
  for (int i = 0; i < TIMES; i++) *out = fmin(*out, 2 * kappa[i] * theta[i] / (sigma[i] * sigma[i]));
  return SIM_OK;
}

sim_status option_heston_remark(const option_heston *h, int asset, double maturity) {
  double t[TIMES], kappa[TIMES], theta[TIMES], sigma[TIMES];
  for (int i = 0; i < TIMES; i++) t[i] = maturity * i / (TIMES - 1);
  SIM_TRY(evaluate(h->kappa, t, TIMES, kappa));
  SIM_TRY(evaluate(h->theta, t, TIMES, theta));
  SIM_TRY(evaluate(h->sigma, t, TIMES, sigma));
  for (int i = 0; i < TIMES; i++) {
    sigma[i] *= option_heston_mixing(h);
    char when[40] = "";
    if (!(2 * kappa[i] * theta[i] < sigma[i] * sigma[i] * (1 - 1e-12))) continue; /* 0.16 is not below 0.4^2 */
    if (option_heston_varies(h)) snprintf(when, sizeof when, " at t = %.3g", t[i]);
    sim_log(SIM_LOG_INFO, "assets[%d].heston: 2 kappa theta = %.3g is below sigma^2 = %.3g%s: its variance reaches 0",
            asset + 1, 2 * kappa[i] * theta[i], sigma[i] * sigma[i], when);
    break;
  }
  return SIM_OK;
}
