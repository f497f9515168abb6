/* Variance and volatility swaps, and Heston's model with jumps (Bates), by known values. S = 100. An estimate is
 * accepted within 4 of its standard errors; seeds are fixed. */
#include "tests/option/option_driver.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void near_but(const char *what, estimate got, double expected, double bias) {
  print_message("    %-38s %.6f +- %.6f, known %.6f\n", what, got.value, got.error, expected);
  assert_true(got.error > 0);
  if (!(fabs(got.value - expected) <= 4 * got.error + bias))
    fail_msg("%s: %.9g +- %.3g is not %.9g", what, got.value, got.error, expected);
}

static option_payoff *add_swap(pricing *d, bool variance, double strike) {
  option_payoff *o =
      pricing_add(d, variance ? &option_variance_swap_schema : &option_volatility_swap_schema, strike, OPTION_CALL);
  o->cash = 1;
  return o;
}

/* ---- Black and Scholes, Merton ---- */

/* Realised variance in points of independent changes of ln S over `dates`, with this mean and variance per unit of
 * time. */
static double realised(const double *dates, int count, double mean, double variance) {
  double sum = 0;
  for (int i = 0; i < count; i++) {
    const double length = dates[i] - (i > 0 ? dates[i - 1] : 0);
    sum += variance * length + mean * mean * length * length;
  }
  return 1e4 * sum / dates[count - 1];
}

/* The mean of the square of a change is exact for any dates: its variance, and the square of its mean. */
static void test_variance(void **state) {
  (void)state;
  static const double dates[] = {0.1, 0.35, 0.8}, R = 0.15, VOL = 0.25;
  double months[12];
  for (int i = 0; i < 12; i++) months[i] = (i + 1) / 12.;
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, i ? SIM_DOUBLE : SIM_MIXED, VOL, R, 1, 12);
    d.p.sampling.paths = 0x1p18;
    d.p.sampling.antithetic = i;
    add_swap(&d, true, 20);
    add_swap(&d, true, 0)->dates = (sim_doubles){(double *)(uintptr_t)dates, 3, 1};
    option_payoff *o = add_swap(&d, true, 30);
    o->dates = (sim_doubles){(double *)(uintptr_t)dates, 2, 1}, o->maturity = 0.8, o->per_year = 12, o->cash = 3;
    pricing_run(&d);
    const double mean = R - VOL * VOL / 2, own = realised(dates, 2, mean, VOL * VOL) * dates[1];
    near_but("variance, 12 fixings", pricing_price(&d, 0), exp(-R) * (realised(months, 12, mean, VOL * VOL) - 400), 0);
    near_but("variance, unequal dates", pricing_price(&d, 1), exp(-R) * realised(dates, 3, mean, VOL * VOL), 0);
    near_but("variance, 12 fixings a year", pricing_price(&d, 2), exp(-R * 0.8) * 3 * (own * 12 / 2 - 900), 0);
    pricing_free(&d);
  }
  /* Merton: rate 2, mean -0.1, deviation 0.15 of the logarithm. */
  pricing d;
  const double k = exp(-0.1 + 0.15 * 0.15 / 2) - 1;
  pricing_make(&d, SIM_DOUBLE, VOL, R, 1, 12);
  d.assets[0].jumps = (option_jumps){true, 2, -0.1, 0.15};
  d.p.sampling.paths = 0x1p18;
  add_swap(&d, true, 20);
  pricing_run(&d);
  near_but(
      "variance with jumps", pricing_price(&d, 0),
      exp(-R) * (realised(months, 12, R - VOL * VOL / 2 - 2 * k - 0.2, VOL * VOL + 2 * (0.01 + 0.15 * 0.15)) - 400), 0);
  pricing_free(&d);
}

/* Without a drift of ln S the sum of squares of n changes is chi-squared: the mean of its root is known. vega of the
 * variance: by its formula. The spot changes neither. */
static void test_volatility(void **state) {
  (void)state;
  const double VOL = 0.3, R = VOL * VOL / 2, n = 12;
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, i ? SIM_DOUBLE : SIM_MIXED, VOL, R, 1, 12);
    d.p.sampling.paths = 0x1p17;
    for (int g = 0; g < OPTION_SECOND; g++) d.p.greeks.want[g] = g <= OPTION_VEGA;
    if (i) d.p.greeks.method = OPTION_BUMP;
    add_swap(&d, true, 25);
    add_swap(&d, false, 25);
    pricing_run(&d);
    near_but("volatility", pricing_price(&d, 1),
             exp(-R) * (100 * VOL * sqrt(2 / n) * exp(lgamma((n + 1) / 2) - lgamma(n / 2)) - 25), 0);
    near_but("vega of the variance", pricing_greek(&d, "vega"), exp(-R) * 2e4 * VOL, 0);
    const estimate delta = pricing_greek(&d, "delta"), gamma = pricing_greek(&d, "gamma");
    print_message("    delta %g, gamma %g\n", delta.value, gamma.value);
    assert_true(fabs(delta.value) <= 1e-6 && fabs(gamma.value) <= 1e-6); /* 0 but for rounding: variances of 900 */
    pricing_free(&d);
  }
}

/* ---- Heston ---- */

typedef struct heston {
  double v, kappa, theta, sigma, rho;
} heston;

static option_heston as_model(heston h) { return pricing_heston(h.v, h.kappa, h.theta, h.sigma, h.rho); }

typedef struct moments {
  heston h;
  double drift; /* of ln S, without -v/2 */
} moments;

static double mean_v(const moments *m, double t) { return m->h.theta + (m->h.v - m->h.theta) * exp(-m->h.kappa * t); }

/* Variance of v at t (J. Cox, J. Ingersoll and S. Ross, Econometrica 53 (1985) 385). */
static double variance_v(const moments *m, double t) {
  const double e = exp(-m->h.kappa * t), s2 = m->h.sigma * m->h.sigma / m->h.kappa;
  return m->h.v * s2 * (e - e * e) + m->h.theta * s2 / 2 * (1 - e) * (1 - e);
}

/* Mean of the squared change of ln S = drift t - I/2 + M from a to b, I the integral of v and M that of sqrt(v) dW:
 *   (drift (b - a))^2 - drift (b - a) E I + E I^2/4 + E I - E I M,
 * with Cov(v_s, v_t) = exp(-kappa (t - s)) Var v_s for s < t, and Cov(v_s, M) the integral of rho sigma
 * exp(-kappa (s - u)) E v_u over u from a to s. By Simpson's rule. (M. Broadie and A. Jain, International Journal of
 * Theoretical and Applied Finance 11 (2008) 761, have it in closed form.) */
static double squared_change(const moments *m, double a, double b) {
  enum { N = 64 };
  const double step = (b - a) / N, kappa = m->h.kappa;
  double integral = 0, covered = 0, mixed = 0;
  for (int i = 0; i <= N; i++) {
    const double weight = (i == 0 || i == N ? 1 : i % 2 ? 4 : 2) * step / 3, s = a + i * step;
    double later = variance_v(m, s) * -expm1(-kappa * (b - s)) / kappa; /* of v_s and the integral of v from s to b */
    double noise = 0;
    for (int j = 0; j <= N && i > 0; j++) {
      const double u = a + (s - a) * j / N, w = (j == 0 || j == N ? 1 : j % 2 ? 4 : 2) * (s - a) / N / 3;
      noise += w * m->h.rho * m->h.sigma * exp(-kappa * (s - u)) * mean_v(m, u);
    }
    integral += weight * mean_v(m, s);
    covered += 2 * weight * later;
    mixed += weight * noise;
  }
  const double d = m->drift * (b - a);
  return d * d - d * integral + (integral * integral + covered) / 4 + integral - mixed;
}

static double heston_variance(const moments *m, double T, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += squared_change(m, T * i / n, T * (i + 1) / n);
  return 1e4 * sum / T;
}

/* 12 fixings in a year, 4 steps between them. With 2 steps the bias is 0.36 by the run's own estimate, and smaller with
 * 4. The limit of many fixings is the mean of v alone: 9 below. */
static void test_heston(void **state) {
  (void)state;
  const moments m = {{0.09, 2, 0.04, 0.5, -0.7}, 0.05};
  const double T = 1, mean = m.h.theta + (m.h.v - m.h.theta) * -expm1(-m.h.kappa * T) / (m.h.kappa * T);
  print_message("    2^14 fixings %.9g, the limit %.9g\n", heston_variance(&m, T, 1 << 14), 1e4 * mean);
  assert_true(fabs(heston_variance(&m, T, 1 << 14) / (1e4 * mean) - 1) < 1e-4);
  double dates[12];
  for (int i = 0; i < 12; i++) dates[i] = (i + 1) / 12.;
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, i ? SIM_DOUBLE : SIM_MIXED, 0.2, m.drift, T, 48);
    pricing_set_motion(&d, 0);
    d.assets[0].heston = as_model(m.h);
    d.p.sampling.paths = 0x1p18;
    d.p.sampling.antithetic = true;
    add_swap(&d, true, 20)->dates = (sim_doubles){dates, 12, 1};
    pricing_run(&d);
    const double known = heston_variance(&m, T, 12);
    near_but("variance, Heston", pricing_price(&d, 0), exp(-m.drift * T) * (known - 400), 0.4);
    pricing_free(&d);
  }
}

/* ---- Bates ---- */

typedef struct bates {
  heston h;
  option_jumps j;
  double rate, maturity;
} bates;

/* Characteristic function of ln(S_T/S): Heston's (in the form of H. Albrecher, P. Mayer, W. Schoutens and J. Tistaert,
 * Wilmott Magazine (January 2007) 83), times that of the jumps (D. Bates, Review of Financial Studies 9 (1996) 69). */
static double complex characteristic(const bates *b, double complex u) {
  const heston *h = &b->h;
  const double T = b->maturity, s2 = h->sigma * h->sigma, k = expm1(b->j.mean + b->j.deviation * b->j.deviation / 2);
  const double complex iu = I * u, beta = h->kappa - h->rho * h->sigma * iu;
  const double complex d = csqrt(beta * beta + s2 * (iu + u * u)), g = (beta - d) / (beta + d), e = cexp(-d * T);
  const double complex C = h->kappa * h->theta / s2 * ((beta - d) * T - 2 * clog((1 - g * e) / (1 - g)));
  const double complex D = (beta - d) / s2 * (1 - e) / (1 - g * e);
  const double complex jumps = cexp(iu * b->j.mean - u * u * b->j.deviation * b->j.deviation / 2) - 1 - iu * k;
  return cexp(iu * b->rate * T + C + D * h->v + b->j.rate * T * jumps);
}

/* A call (A. Lewis, Option Valuation under Stochastic Volatility (2000)): S - sqrt(S K) exp(-r T/2)/pi times the
 * integral of Re(exp(i u k) phi(u - i/2))/(u^2 + 1/4), k = ln(S/K) + r T, with phi of the forward's logarithm. */
static double bates_call(const bates *b, double strike) {
  enum { N = 20000 };
  const double S = 100, rT = b->rate * b->maturity, k = log(S / strike) + rT, most = 200;
  double sum = 0;
  for (int i = 0; i <= N; i++) {
    const double u = most * i / N, weight = (i == 0 || i == N ? 1 : i % 2 ? 4 : 2) * most / N / 3;
    const double complex z = u - 0.5 * I, phi = characteristic(b, z) * cexp(-I * z * rT);
    sum += weight * creal(cexp(I * u * k) * phi) / (u * u + 0.25);
  }
  return S - sqrt(S * strike) * exp(-rT / 2) / M_PI * sum;
}

/* Heston's model and jumps together, the limits of each alone, and put-call parity by the formula itself. */
static void test_bates(void **state) {
  (void)state;
  const bates b = {{0.04, 2, 0.05, 0.4, -0.6}, {true, 0.8, -0.12, 0.1}, 0.03, 1};
  bates calm = b;
  calm.h = (heston){0.04, 50, 0.04, 1e-3, 0}, calm.j.rate = 0;
  const double s = 0.2, d1 = 0.03 / s + s / 2, cdf1 = erfc(-d1 / sqrt(2)) / 2, cdf2 = erfc(-(d1 - s) / sqrt(2)) / 2;
  const double black = 100 * cdf1 - 100 * exp(-0.03) * cdf2; /* without jumps and noise of v: a volatility of 0.2 */
  print_message("    the formula in the limit %.9g, Black and Scholes %.9g\n", bates_call(&calm, 100), black);
  assert_true(fabs(bates_call(&calm, 100) - black) < 1e-5);
  for (int i = 0; i < 2; i++) {
    pricing d;
    pricing_make(&d, i ? SIM_DOUBLE : SIM_MIXED, 0.2, b.rate, b.maturity, 32);
    pricing_set_motion(&d, 0);
    d.assets[0].heston = as_model(b.h);
    d.assets[0].jumps = b.j;
    d.p.sampling.paths = 0x1p16;
    d.p.sampling.antithetic = i;
    for (int k = 0; k < 3; k++) pricing_add(&d, &option_european_schema, 80 + 20 * k, OPTION_CALL);
    pricing_run(&d);
    /* steps of 1/32: 2e-3 as of Heston's model in option_models.c */
    for (int k = 0; k < 3; k++) near_but("call, Bates", pricing_price(&d, k), bates_call(&b, 80 + 20 * k), 2e-3);
    pricing_free(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_variance), cmocka_unit_test(test_volatility),
                                     cmocka_unit_test(test_heston), cmocka_unit_test(test_bates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
