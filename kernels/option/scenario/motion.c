/* Constants of the steps of assets that are not geometric Brownian motions: option_dynamics in motion.h. */
#include "kernels/option/models/heston.h"
#include "kernels/option/models/rough.h"
#include "kernels/option/models/sabr.h"
#include "kernels/option/scenario/motion.h"
#include "kernels/option/scenario/parameters.h"

#include <math.h>
#include <stdlib.h>

static const double ln2 = 0.69314718055994530942;

/* Andersen (2008), with weights 1/2 for the integrated variance I, but for its part in v' - v = kappa theta dt - kappa
 * I
 * + sigma M, which gives the martingale M. There the mean of I given v and v' is theta (dt - 2 g) + g (v + v'), g =
 * tanh(kappa dt/2)/kappa, as in a process with constant noise, and the variance of M given v and v' is (1 - 2 g/dt) I.
 * With g = dt/2 this is Andersen's own form, whose noise grows as kappa dt and leaves no path of any worth at last. */
static void set_heston(const option_heston_step *h, double start, double dt, option_dynamics *m) {
  const double theta = h->theta, kappa = h->kappa, sigma2 = h->sigma * h->sigma, keep = exp(-kappa * dt),
               gone = -expm1(-kappa * dt), share = tanh(kappa * dt / 2); /* kappa g */
  const double part = kappa * dt > 1e-6 ? 2 * share / (kappa * dt) : 1;  /* 2 g/dt */
  m->motion = OPTION_HESTON;
  m->v = start;
  m->keep = keep;
  m->pull = theta * gone;
  m->spread = sigma2 * keep * gone / kappa;
  m->floor = theta * sigma2 * gone * gone / (2 * kappa);
  m->link = (1 + share) * h->rho / h->sigma;
  m->k2 = m->link - dt / 4;
  m->k3 = m->k4 = dt / 2 * (1 - h->rho * h->rho * part);
}

/* Probabilities of more than k jumps, summed from the far end to avoid cancellation. At most 20 jumps are expected a
 * step, so that more than 64 have a probability below 1e-13. */
static void set_jumps(const option_jumps *j, double dt, option_dynamics *m) {
  const double mean = j->rate * dt;
  double chance[OPTION_JUMPS_MAX + 1], sum = 0;
  chance[0] = exp(-mean);
  for (int k = 1; k <= OPTION_JUMPS_MAX; k++) chance[k] = chance[k - 1] * mean / k;
  for (int k = OPTION_JUMPS_MAX; k > 0; k--) m->above[k - 1] = sum += chance[k];
  while (m->jumps < OPTION_JUMPS_MAX && m->above[m->jumps] > 0x1p-33) m->jumps++;
  m->jump_mean = j->mean / ln2;
  m->jump_deviation = j->deviation / ln2;
}

static sim_status evaluate_local(const sim_expr *expr, const double *price, int count, double t, double *out) {
  const bool uniform[] = {false, true};
  sim_expr_program *program;
  SIM_TRY(sim_expr_program_create(expr, &(sim_expr_target){.isa = SIM_ISA_PLAIN, .uniform = uniform}, &program));
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 127) / 64 * 64);
  if (scratch != NULL)
    sim_expr_program_run(program, (size_t)count, (const void *const[]){price, &t}, (void *const[]){out}, scratch);
  free(scratch);
  sim_expr_program_free(&program);
  return scratch != NULL ? SIM_OK : sim_no_memory("the local volatility");
}

sim_status option_local_vol(const sim_expr *expr, double price, double t, double *out) {
  return evaluate_local(expr, &price, 1, t, out);
}

/* The grid's volatilities at time t: out[spots]. */
static void grid_row(const option_vol_grid *g, double t, double *out) {
  const size_t n = g->spots.rows, times = g->times.rows;
  size_t i = 0;
  while (i + 2 < times && g->times.data[i + 1] <= t) i++;
  const double *low = g->vols.data + i * n, *high = times > 1 ? low + n : low;
  const double span = times > 1 ? g->times.data[i + 1] - g->times.data[i] : 1;
  const double share = times > 1 ? fmin(fmax((t - g->times.data[i]) / span, 0), 1) : 0;
  for (size_t k = 0; k < n; k++) out[k] = low[k] + share * (high[k] - low[k]);
}

sim_status option_surface(const option_asset *asset, const double *price, int count, double t, double *out) {
  if (asset->local_vol != NULL) return evaluate_local(asset->local_vol, price, count, t, out);
  const option_vol_grid *g = &asset->vol_grid;
  double row[OPTION_NODES_MAX];
  grid_row(g, t, row);
  for (int i = 0; i < count; i++) {
    out[i] = row[0];
    for (size_t k = 0; k + 1 < g->spots.rows; k++) {
      const double share = (price[i] - g->spots.data[k]) / (g->spots.data[k + 1] - g->spots.data[k]);
      out[i] += fmin(fmax(share, 0), 1) * (row[k + 1] - row[k]);
    }
  }
  return SIM_OK;
}

/* Rows of the grid at the beginning of each step. */
static sim_status set_grid(const option_vol_grid *g, const option_grid *grid, option_dynamics *m) {
  const size_t n = g->spots.rows, steps = (size_t)grid->steps;
  double *numbers = calloc(n * (1 + steps), sizeof *numbers);
  if (numbers == NULL) return sim_no_memory("the local volatility");
  m->motion = OPTION_LOCAL_GRID;
  m->nodes = (int)n;
  for (size_t k = 0; k < n; k++) numbers[k] = g->spots.data[k];
  for (size_t s = 0; s < steps; s++) grid_row(g, grid->time[s], numbers + n * (1 + s));
  m->node = numbers;
  m->row = numbers + n;
  return SIM_OK;
}

bool option_asset_is_gbm(const option_asset *asset) { return asset->vol != NULL && !asset->jumps.given; }

bool option_asset_is_scaled(const option_asset *asset) {
  return asset->local_vol == NULL && !asset->vol_grid.given && !asset->sabr.given;
}

double option_jump_drift(const option_asset *asset) {
  const option_jumps *j = &asset->jumps;
  return j->given ? j->rate * expm1(j->mean + j->deviation * j->deviation / 2) : 0;
}

static sim_status set_hestons(const option_heston *h, int number, const option_grid *grid, double shift, int stride,
                              option_dynamics *out) {
  option_heston_step *each = malloc((size_t)grid->kinds * sizeof *each);
  const double start = sqrt(h->v) + shift;
  if (each == NULL) return sim_no_memory("Heston's parameters");
  const sim_status status = option_heston_steps(h, number, grid, shift, each);
  for (int k = 0; k < grid->kinds && status == SIM_OK; k++)
    set_heston(&each[k], start * start, grid->span[k], &out[k * stride]);
  free(each);
  return status;
}

/* Room for the leverage function. */
static sim_status set_leverage(const option_grid *grid, option_dynamics *m) {
  const size_t row = OPTION_LEVERAGE_NODES + 2;
  double *numbers = calloc(row * (1 + (size_t)grid->steps), sizeof *numbers);
  if (numbers == NULL) return sim_no_memory("the leverage function");
  m->nodes = (int)row;
  m->node = numbers;
  m->row = numbers + row;
  return SIM_OK;
}

sim_status option_dynamics_set(const option_asset *asset, int number, const option_grid *grid, double spot,
                               double shift, int stride, option_dynamics *out) {
  option_dynamics rows = {0};
  const bool mixed = asset->leverage.given;
  if (mixed) SIM_TRY(set_leverage(grid, &rows));
  if (asset->vol_grid.given && !mixed) SIM_TRY(set_grid(&asset->vol_grid, grid, &rows));
  if (asset->rough_bergomi.given) {
    const sim_status status = option_rough_set(&asset->rough_bergomi, number, grid, shift, &rows);
    out->node = rows.node; /* freed with the market */
    SIM_TRY(status);
  }
  for (int k = 0; k < grid->kinds; k++) {
    option_dynamics *m = &out[k * stride];
    *m = rows;
    m->dt = grid->span[k];
    m->shift = shift;
    if (asset->local_vol != NULL) m->motion = OPTION_LOCAL_FUNCTION;
    if (asset->jumps.given) set_jumps(&asset->jumps, m->dt, m);
  }
  if (asset->sabr.given) SIM_TRY(option_sabr_set(&asset->sabr, grid, spot, shift, stride, out));
  if (asset->heston.given) SIM_TRY(set_hestons(&asset->heston, number, grid, mixed ? 0 : shift, stride, out));
  for (int k = 0; k < grid->kinds && mixed; k++) out[k * stride].motion = OPTION_LEVERAGE;
  return SIM_OK;
}

void option_dynamics_free(option_dynamics *dynamics) { free((void *)(uintptr_t)dynamics->node); }
