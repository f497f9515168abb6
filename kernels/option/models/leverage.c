#include "kernels/option/models/leverage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REACH 5.0      /* nodes on both sides of the mean of x, in deviations */
#define BANDWIDTH 2.6  /* of the quartic kernel, in deviations at n = 1: Silverman's 1.06 times 2.62, a bit less */
#define ENOUGH 200.0   /* particles within a bandwidth */
#define OUTERMOST 32.0 /* particles beyond the first and the last node that counts */

option_leverage_nodes option_leverage_nodes_of(double mean, double deviation) {
  const bool spread = deviation > 1e-9;
  return (option_leverage_nodes){.first = spread ? mean - REACH * deviation : mean,
                                 .spacing = spread ? 2 * REACH * deviation / (OPTION_LEVERAGE_NODES - 1) : 0};
}

/* Estimate at x with a bandwidth; *weight: particles within, by their kernels. */
static double estimate_at(const option_bins *b, double x, double bandwidth, double *weight) {
  const int first = (int)fmax(ceil((x - bandwidth - b->first) / b->spacing), 0),
            last = (int)fmin(floor((x + bandwidth - b->first) / b->spacing), OPTION_BINS - 1);
  double s0 = 0, s1 = 0, s2 = 0, t0 = 0, t1 = 0;
  *weight = 0;
  for (int i = first; i <= last; i++) {
    const double d = b->first + i * b->spacing - x, u = d / bandwidth, k = (1 - u * u) * (1 - u * u);
    *weight += b->weight[i];
    s0 += k * b->weight[i];
    s1 += k * b->weight[i] * d;
    s2 += k * b->weight[i] * d * d;
    t0 += k * b->sum[i];
    t1 += k * b->sum[i] * d;
  }
  if (!(s0 > 0)) return NAN;
  const double mean = t0 / s0, spread = s0 * s2 - s1 * s1;
  const double line = spread > 1e-9 * s0 * s2 ? (s2 * t0 - s1 * t1) / spread : mean;
  return line > mean / 4 && line < 4 * mean ? line : mean;
}

void option_leverage_regress(const option_bins *b, double particles, double deviation,
                             const option_leverage_nodes *nodes, double *out, int *from, int *to) {
  double weight, sum = 0, all = 0, low = b->first, high = b->first + (OPTION_BINS - 1) * b->spacing;
  for (int i = 0; i < OPTION_BINS && sum < OUTERMOST; i++) {
    sum += b->weight[i];
    low = b->first + i * b->spacing;
  }
  for (int i = OPTION_BINS - 1; i >= 0 && all < OUTERMOST; i--) {
    all += b->weight[i];
    high = b->first + i * b->spacing;
  }
  *from = (int)fmin(fmax(ceil((low - nodes->first) / nodes->spacing), 0), OPTION_LEVERAGE_NODES - 1);
  *to = (int)fmax(fmin(floor((high - nodes->first) / nodes->spacing), OPTION_LEVERAGE_NODES - 1), *from);
  for (int k = *from; k <= *to; k++) {
    double h = BANDWIDTH * deviation * pow(particles, -0.2);
    out[k] = estimate_at(b, nodes->first + k * nodes->spacing, h, &weight);
    while (weight < ENOUGH && h < 4 * REACH * deviation) {
      h *= 1.5;
      out[k] = estimate_at(b, nodes->first + k * nodes->spacing, h, &weight);
    }
  }
  for (int k = 0; k < *from; k++) out[k] = out[*from];
  for (int k = *to + 1; k < OPTION_LEVERAGE_NODES; k++) out[k] = out[*to];
}

sim_status option_leverage_invalid(int asset, double price, double t, double sigma) {
  return sim_fail(SIM_ERR_DIVERGED,
                  "assets[%d].leverage: the local volatility at S = %.9g, t = %.9g is %.9g: expected a number >= 0",
                  asset + 1, price, t, sigma);
}

/* ---- the local volatility's own calls ---- */

enum { POINTS = 801, HALF = POINTS / 2, PIECES = 400 /* time steps of the equation, at least */ };

/* Calls of the strikes forward e^k, as shares of the forward, on equidistant k: dc/dt = sigma^2/2 (c_kk - c_k) (B.
 * Dupire, Risk, January 1994). */
typedef struct forward_equation {
  const option_asset *asset;
  int number;
  double width; /* of k on either side */
  double k[POINTS], c[POINTS], price[POINTS], sigma[POINTS];
} forward_equation;

static double spacing_of(const forward_equation *e) { return e->width / HALF; }

static double forward_at(const option_market *m, int asset, int step) {
  return m->spot[asset] * (step > 0 ? exp(m->growth[(step - 1) * m->assets + asset]) : 1);
}

/* Volatilities of the equation's strikes at one time. Far out, where the function may be invalid, the next ones. */
static sim_status set_sigma(forward_equation *e, double forward, double t, double shift) {
  for (int i = 0; i < POINTS; i++) e->price[i] = forward * exp(e->k[i]);
  SIM_TRY(option_surface(e->asset, e->price, POINTS, t, e->sigma));
  for (int i = 0; i <= HALF; i++)
    for (int side = -1; side <= 1; side += 2) {
      double *s = &e->sigma[HALF + side * i];
      if (*s >= 0 && *s <= OPTION_LOCAL_MAX) continue;
      if (i == 0) return option_leverage_invalid(e->number, e->price[HALF], t, *s);
      *s = s[-side];
    }
  for (int i = 0; i < POINTS; i++) e->sigma[i] += shift;
  return SIM_OK;
}

/* One step of the theta scheme: implicit 1, or Crank and Nicolson's with 1/2. */
static void advance_calls(forward_equation *e, double dt, double implicit) {
  const double h = spacing_of(e);
  double upper[POINTS], right[POINTS];
  upper[0] = 0;
  right[0] = -expm1(e->k[0]);
  for (int i = 1; i < POINTS - 1; i++) {
    const double d = 0.5 * e->sigma[i] * e->sigma[i] * dt, below = d * (1 / (h * h) + 0.5 / h),
                 above = d * (1 / (h * h) - 0.5 / h), explicit = 1 - implicit;
    const double known = e->c[i] + explicit * (below * (e->c[i - 1] - e->c[i]) + above * (e->c[i + 1] - e->c[i]));
    const double pivot = 1 + implicit * (below + above) - implicit * below * upper[i - 1];
    upper[i] = implicit * above / pivot;
    right[i] = (known + implicit * below * right[i - 1]) / pivot;
  }
  e->c[POINTS - 1] = 0;
  for (int i = POINTS - 2; i >= 0; i--) e->c[i] = right[i] + upper[i] * e->c[i + 1];
}

/* The payments, as means over the cells. */
static void begin_calls(forward_equation *e) {
  const double h = spacing_of(e);
  for (int i = 0; i < POINTS; i++) {
    e->k[i] = (i - HALF) * h;
    e->c[i] = i < HALF ? -expm1(e->k[i]) : 0;
  }
  e->c[HALF] = 0.5 - (1 - exp(-h / 2)) / h;
}

static double call_at(const forward_equation *e, double k) {
  const double at = (k + e->width) / spacing_of(e);
  const int i = (int)fmin(fmax(floor(at) - 1, 0), POINTS - 4);
  const double x = at - i; /* cubic through four points */
  return e->c[i] * (x - 1) * (x - 2) * (x - 3) / -6 + e->c[i + 1] * x * (x - 2) * (x - 3) / 2 +
         e->c[i + 2] * x * (x - 1) * (x - 3) / -2 + e->c[i + 3] * x * (x - 1) * (x - 2) / 6;
}

static double black_call(double deviation, double k) {
  return option_lognormal_price(-deviation * deviation / 2, deviation, exp(k), OPTION_CALL);
}

/* Deviation w with which Black's call, as a share of the forward, is worth c; NaN where there is none. */
static double implied_deviation(double c, double k) {
  double low = 0, high = 1;
  if (!(c > fmax(-expm1(k), 0) && c < 1)) return NAN;
  while (black_call(high, k) < c && high < 64) high *= 2;
  for (int i = 0; i < 60; i++) {
    const double middle = (low + high) / 2;
    if (black_call(middle, k) < c)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

void option_leverage_set_model(option_quote *q, double mean, double error) {
  const double k = log(q->strike / q->forward), root = sqrt(q->time), w = implied_deviation(mean, k);
  const double d1 = w / 2 - k / w;
  q->model = w / root;
  q->error = error / (exp(-d1 * d1 / 2) * 0.39894228040143267794) / root;
}

/* Solves the equation until the end of step `to`, from that of step `from`. */
static sim_status advance_to(forward_equation *e, const option_market *m, int asset, int from, int to) {
  const int pieces = (int)ceil((double)PIECES / m->steps);
  const double shift = m->dynamics[asset].shift;
  for (int s = from; s < to; s++) {
    const double dt = m->grid.length[s] / pieces, first = forward_at(m, asset, s), last = forward_at(m, asset, s + 1);
    for (int i = 0; i < pieces; i++) {
      const double share = (i + 0.5) / pieces;
      SIM_TRY(set_sigma(e, first * pow(last / first, share), m->grid.time[s] + share * m->grid.length[s], shift));
      const bool damped = s == 0 && i < 2; /* R. Rannacher's start */
      for (int half = 0; half <= damped; half++) advance_calls(e, damped ? dt / 2 : dt, damped ? 1 : 0.5);
    }
  }
  return SIM_OK;
}

/* Width that holds the price until the end: 7 deviations by the volatilities at the forward, twice that at least. */
static sim_status choose_width(forward_equation *e, const option_market *m, int asset) {
  double sum = 0;
  for (int s = 0; s < m->steps; s++) {
    const double forward = forward_at(m, asset, s);
    double sigma;
    SIM_TRY(option_surface(e->asset, &forward, 1, m->grid.time[s], &sigma));
    if (!(sigma >= 0 && sigma <= OPTION_LOCAL_MAX))
      return option_leverage_invalid(asset, forward, m->grid.time[s], sigma);
    sum += sigma * sigma * m->grid.length[s];
  }
  e->width = fmax(8 * sqrt(sum), 1e-6);
  return SIM_OK;
}

static sim_status fill_quotes(forward_equation *e, const option_market *m, int asset, option_quote *out) {
  int before = 0;
  SIM_TRY(choose_width(e, m, asset));
  begin_calls(e);
  for (int t = 0; t < OPTION_MATURITIES; t++) {
    const int step = (int)fmax(ceil(m->steps * exp2(t + 1 - OPTION_MATURITIES)), 1);
    SIM_TRY(advance_to(e, m, asset, before, step));
    before = step;
    const double time = m->grid.time[step], forward = forward_at(m, asset, step),
                 deviation = implied_deviation(e->c[HALF], 0);
    for (int i = 0; i < OPTION_STRIKES; i++) {
      const double k = (i - OPTION_STRIKES / 2) * 0.75 * (isnan(deviation) ? 0 : deviation);
      out[t * OPTION_STRIKES + i] = (option_quote){.step = step,
                                                   .time = time,
                                                   .strike = forward * exp(k),
                                                   .forward = forward,
                                                   .local = implied_deviation(call_at(e, k), k) / sqrt(time),
                                                   .model = NAN,
                                                   .error = NAN};
    }
  }
  return SIM_OK;
}

sim_status option_leverage_quotes(const option_parameters *p, const option_market *market, int asset,
                                  option_quote out[OPTION_QUOTES]) {
  forward_equation *e = calloc(1, sizeof *e);
  if (e == NULL) return sim_no_memory("the leverage function");
  e->asset = option_asset_at(p, asset);
  e->number = asset;
  const sim_status status = fill_quotes(e, market, asset, out);
  free(e);
  return status;
}
