/* Tables of the SABR step: option_dynamics in scenario/motion.h has the formulas. */
#include "kernels/option/models/sabr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Nodes of the table: FINENESS for each doubling of psi, SPAN doublings. */
enum { FINENESS = 8, SPAN = 14, CELLS = FINENESS * SPAN, NODES = CELLS + 3, PANELS = 256 };

/* ---- one step of df = sigma f^beta dW from f = 1, absorbed at 0; psi = sigma^2 dt ---- */

/* E f'^2 - 1. With mu = 1/(2 (1 - beta)), f^(1/mu) is a squared Bessel process of index -mu that ends at 0, and its
 * density is that of the index mu times f/f'. So E f'^2 is E (f'/f)^2 (f/f') of a noncentral chi-squared number: a sum
 * over Poisson weights of mean z. */
static double spread_of(double psi, double beta) {
  const double mu = 1 / (2 * (1 - beta)), z = 1 / (2 * (1 - beta) * (1 - beta) * psi);
  const double least = 1e-18;
  /* term(j) = exp(-z) z^(j - mu)/j! Gamma(1 + 2 mu + j)/Gamma(1 + mu + j), from its greatest on */
  const double half = (z - 2 - mu) / 2, top = floor(fmax(half + sqrt(half * half + z * (1 + 2 * mu) - 1 - mu), 0));
  const double most = exp(-z + (top - mu) * log(z) - lgamma(top + 1) + lgamma(1 + 2 * mu + top) - lgamma(1 + mu + top));
  double sum = most, term = most;
  for (double j = top; term > least * most; j++) {
    term *= z / (j + 1) * (1 + 2 * mu + j) / (1 + mu + j);
    sum += term;
  }
  term = most;
  for (double j = top; j > 0 && term > least * most; j--) {
    term *= j / z * (mu + j) / (2 * mu + j);
    sum += term;
  }
  return sum - 1;
}

/* Means of x, x^2 and of their derivatives by b, x = max(b + w, 0)^p, w a standard normal: Simpson's rule in the root
 * of the distance from the first w. */
typedef struct means {
  double one, two, slope_one, slope_two;
} means;

static means means_of(double b, double p) {
  const double from = fmax(-b, -9), width = sqrt(14 - from);
  means out = {0};
  for (int k = 0; k <= PANELS; k++) {
    const double r = width * k / PANELS, w = from + r * r, y = b + w;
    if (!(y > 0)) continue;
    const double part = (k == PANELS ? 1 : k % 2 ? 4 : 2) * width / PANELS / 3, pi = 3.14159265358979323846;
    const double weight = part * 2 * r * exp(-w * w / 2) / sqrt(2 * pi), x = pow(y, p);
    out.one += weight * x;
    out.two += weight * x * x;
    out.slope_one += weight * p * x / y;
    out.slope_two += weight * 2 * p * x * x / y;
  }
  return out;
}

/* The b at which the second moment of x is 1 + spread times the square of its mean; log2 of 1/mean in *scale. */
static double fit(double spread, double p, double b, double *scale) {
  for (int i = 0; i < 60; i++) {
    const means m = means_of(b, p);
    const double miss = log(m.two) - 2 * log(m.one) - log1p(spread);
    const double slope = m.slope_two / m.two - 2 * m.slope_one / m.one, move = -miss / slope;
    b += fmax(fmin(move, 0.5 * fmax(b, 1)), -0.5 * fmax(b, 1));
    if (fabs(move) < 1e-12 * fmax(fabs(b), 1)) break;
  }
  *scale = -log2(means_of(b, p).one);
  return b;
}

/* Cubics through four nodes around each cell: out[CELLS][2][4], of b and of log2 of the scale. Far below the first
 * deviation of 1/4 paths have ended in all but 0.1 %: there the last b stays. */
static void fill_table(double beta, double first, double *out) {
  const double p = 1 / (1 - beta), least = -3;
  double node[2][NODES], b = p / sqrt(spread_of(exp2(first - 1.0 / FINENESS), beta));
  for (int k = 0; k < NODES; k++) {
    const bool ended = k > 0 && node[0][k - 1] <= least;
    if (!ended) b = fit(spread_of(exp2(first + (k - 1) / (double)FINENESS), beta), p, b, &node[1][k]);
    node[0][k] = ended ? node[0][k - 1] : b;
    if (ended) node[1][k] = node[1][k - 1];
  }
  for (int c = 0; c < CELLS; c++)
    for (int i = 0; i < 2; i++) {
      const double *y = &node[i][c];
      double *of = out + 8 * c + 4 * i;
      of[0] = y[1];
      of[1] = -y[0] / 3 - y[1] / 2 + y[2] - y[3] / 6;
      of[2] = (y[0] + y[2]) / 2 - y[1];
      of[3] = (y[3] - y[0]) / 6 + (y[1] - y[2]) / 2;
    }
}

/* ---- all steps ---- */

/* Deviation of a step beyond which the displaced lognormal law would leave more than 3e-7 of its mass below 0. */
static double farthest(double beta) { return beta < 1 ? (beta > 0 ? -log1p(-beta) / (5 * beta) : 0.2) : INFINITY; }

static void set_step(const option_sabr *s, double vol, double dt, const double *table, option_dynamics *m) {
  const double h = s->nu * sqrt(dt), mean = h > 0 ? expm1(h * h) / (h * h) : 1, beta = s->beta, most = farthest(beta);
  m->motion = OPTION_SABR;
  m->v = vol;
  m->rho = s->rho;
  m->free = sqrt(1 - s->rho * s->rho);
  m->beta = beta;
  m->noise = h;
  m->mean_square = mean;
  m->spread = mean / (1 + exp(h * h)) * (1 - s->rho * s->rho);
  m->far_from_zero = most * most;
  m->first = beta < 1 ? 2 * log2(most) : 0;
  m->fineness = FINENESS;
  m->cells = beta < 1 ? CELLS : 0;
  m->power = beta < 1 ? 1 / (1 - beta) : 0;
  m->node = table;
}

sim_status option_sabr_set(const option_sabr *s, const option_grid *grid, double spot, double shift, int stride,
                           option_dynamics *out) {
  double *table = NULL;
  if (s->beta < 1) {
    table = malloc(8 * CELLS * sizeof *table);
    if (table == NULL) return sim_no_memory("the SABR model");
    fill_table(s->beta, 2 * log2(farthest(s->beta)), table);
  }
  for (int k = 0; k < grid->kinds; k++)
    set_step(s, s->alpha * pow(spot, s->beta - 1) + shift, grid->span[k], table, &out[k * stride]);
  return SIM_OK;
}

double option_sabr_volatility(const option_asset *asset) {
  return asset->sabr.alpha * pow(asset->spot, asset->sabr.beta - 1);
}

void option_check_sabr(const option_parameters *p, int asset, sim_faults *faults) {
  const option_asset *a = option_asset_at(p, asset);
  const option_sabr *s = &a->sabr;
  const int line = p->assets.items[asset].line;
  const double noise = s->nu * s->nu * p->longest, deviation = option_sabr_volatility(a) * sqrt(p->longest);
  char path[64];
  snprintf(path, sizeof path, "assets[%d].sabr", asset + 1);
  if (!s->given) return;
  if (s->beta < 1 && s->beta > 0 && !(s->beta >= 0.05 && s->beta <= 0.9))
    sim_faults_add(faults, line, path, "beta: expected 0, a number from 0.05 to 0.9, or 1, got %.9g", s->beta);
  if (s->beta == 1 && s->rho > 0 && s->nu > 0)
    sim_faults_add(faults, line, path,
                   "rho: expected at most 0 with beta = 1, got %.9g: the price would be no martingale, and a forward "
                   "worth less than it costs",
                   s->rho);
  if (noise > OPTION_SABR_NOISE)
    sim_faults_add(
        faults, line, path, "steps = %lld are too long: nu^2 dt is %.3g, expected at most %g: steps = %.0f or more",
        (long long)p->steps, noise, OPTION_SABR_NOISE, ceil((double)p->steps * noise / OPTION_SABR_NOISE - 1e-6));
  if (s->beta < 1 && deviation > OPTION_SABR_DEVIATION)
    sim_faults_add(faults, line, path,
                   "steps = %lld are too long: alpha F^(beta - 1) sqrt(dt) is %.3g, expected at most %g: steps = %.0f "
                   "or more",
                   (long long)p->steps, deviation, OPTION_SABR_DEVIATION,
                   ceil((double)p->steps * pow(deviation / OPTION_SABR_DEVIATION, 2) - 1e-6));
  if (a->dividends.rows > 0) sim_faults_add(faults, line, path, "expected no cash dividends, of which F is free");
}
