/* Terms beyond diffusion and reaction at a point: tensors, dispersion, conserved fields, derivatives in rates, noise.
 */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static double at(int64_t i, int64_t n, double size) { return ((double)i + 0.5) * size / (double)n; }

/* Two modes that differ in the sign of ky decay at two rates: exp(-(D_x kx^2 + D_y ky^2 +- 2 D_xy kx ky) t). Tolerances
 * as for eigenmodes. */
static void test_tensor(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++) {
    system_run s;
    whole(
        &s,
        "return sim.diffusion { precision = '%s', grid = { n = {20, 15, 6}, size = {1, 2, 3} }, fields = {{ name = 'u',"
        "D = 0.02, axes = {1, 2, 3}, tensor = {0.015, 0, 0.01}, initial = function(x, y, z)"
        " local a, b, c = 2*math.pi*x*2, 2*math.pi*y/2*3, 2*math.pi*z/3"
        " return math.cos(a + b + c) + 0.5*math.sin(a - b + c) end }}, integrate = { t_end = 0.3 } }",
        single ? "single" : "double");
    const double a = 4 * pi, b = 3 * pi, c = 2 * pi / 3, k2 = 0.02 * (a * a + 2 * b * b + 3 * c * c);
    const double first = exp(-0.3 * (k2 + 2 * (0.015 * a * b + 0.01 * b * c)));
    const double second = exp(-0.3 * (k2 - 2 * (0.015 * a * b + 0.01 * b * c)));
    for (int64_t i = 0; i < cells(&s); i++) {
      const double x = a * at(i % 20, 20, 1), y = b * at(i / 20 % 15, 15, 2), z = c * at(i / 300, 6, 3);
      const double want = first * cos(x + y + z) + 0.5 * second * sin(x - y + z);
      assert_true(fabs(value(&s, 0, i) - want) < (single ? 1e-5 : 1e-12));
    }
    shut(&s);
  }
}

/* linear = -|k|^3/100 between walls, and Airy's u_t = -u_xxx, which moves cos(kx) at the speed -k^2: L = i k^3. */
static void test_linear(void **state) {
  (void)state;
  system_run s;
  whole(&s,
        "return sim.diffusion { grid = { n = {24}, size = {2}, boundary = 'no_flux' }, fields = {{ name = 'u',"
        "linear = function(k2) return -0.01*k2^1.5 end, initial = function(x) return math.cos(3*math.pi*x/2) end }},"
        "integrate = { t_end = 0.5 } }");
  for (int64_t i = 0; i < 24; i++)
    assert_true(fabs(value(&s, 0, i) - exp(-0.005 * pow(1.5 * pi, 3)) * cos(1.5 * pi * at(i, 24, 2))) < 1e-12);
  shut(&s);
  whole(&s, "return sim.diffusion { grid = { n = {24, 5}, size = {2, 1} }, fields = {{ name = 'u',"
            "linear = function(kx) return 0, kx^3 end, initial = function(x) return math.cos(3*math.pi*x) end }},"
            "integrate = { t_end = 0.5 } }");
  /* the phase k^3 t is 419, with an error of 419 * 2^-53 in it */
  for (int64_t i = 0; i < 24 * 5; i++)
    assert_true(fabs(value(&s, 0, i) - cos(3 * pi * at(i % 24, 24, 2) + pow(3 * pi, 3) * 0.5)) < 1e-12 + 419 * 0x1p-52);
  shut(&s);
}

/* Burgers along one axis at an angle: u = -2 nu phi_s/phi, phi = 1 + a exp(-nu k^2 t) cos(k s), s = x + y + z (Cole and
 * Hopf), where u_t = -u u_x + nu/rank lap u, as lap = rank d^2/ds^2. Spectral in space (a = 0.5: harmonics fall by
 * 0.27 each, to 1e-18 at the 32nd of 64 points), order 4 in time. */
static double burgers(double s, double t) {
  const double nu = 0.05, decay = 0.5 * exp(-nu * t);
  return 2 * nu * decay * sin(s) / (1 + decay * cos(s));
}

static void test_burgers(void **state) {
  static const char *const n[] = {"64", "64, 6", "6, 64", "4, 6, 64", "6, 64, 4"};
  static const int rank[] = {1, 2, 2, 3, 3}, axis[] = {0, 0, 1, 2, 1};
  (void)state;
  for (int c = 0; c < 5; c++) {
    double error[2];
    for (int half = 0; half < 2; half++) {
      system_run s;
      char size[64] = "2*math.pi";
      for (int a = 1; a < rank[c]; a++) strcat(size, ", 2*math.pi");
      whole(&s,
            "local nu, a = 0.05, 0.5 return sim.diffusion { grid = { n = {%s}, size = {%s} }, fields = {{ name = 'u', "
            "D = nu,"
            "initial = function(%c) return 2*nu*a*math.sin(%c)/(1 + a*math.cos(%c)) end }},"
            "rates = function(u, u_%c) return -u*u_%c end, integrate = { scheme = 'etdrk4', dt = %g, t_end = 4 } }",
            n[c], size, "xyz"[axis[c]], "xyz"[axis[c]], "xyz"[axis[c]], "xyz"[axis[c]], "xyz"[axis[c]],
            half ? 0.25 : 0.5);
      error[half] = 0;
      const grid_shape g = diffusion_grid_of(s.p);
      for (int64_t i = 0; i < cells(&s); i++) {
        const int64_t place[3] = {i % g.n[0], i / g.n[0] % g.n[1], i / g.n[0] / g.n[1]};
        error[half] = fmax(error[half], fabs(value(&s, 0, i) - burgers(at(place[axis[c]], 64, 2 * pi), 4)));
      }
      shut(&s);
    }
    if (!(error[1] < 1e-7) || !(fabs(log2(error[0] / error[1]) - 4) < 0.4))
      fail_msg("case %d: errors %.3g, %.3g", c, error[0], error[1]);
  }
}

/* The square of a derivative: u_t = (u_x)^2 + 2 u_y + source for u = sin(x + y - t) + 2, in every scheme that takes
 * derivatives. */
static void test_gradient_orders(void **state) {
  static const char *const schemes[] = {"lie", "etd1", "etdrk2", "etdrk4"};
  static const int orders[] = {1, 1, 2, 4};
  (void)state;
  for (int i = 0; i < 4; i++) {
    double error[2];
    for (int half = 0; half < 2; half++) {
      system_run s;
      whole(&s,
            "return sim.diffusion { grid = { n = {18, 16}, size = {2*math.pi, 2*math.pi} }, fields = {{ name = 'u', D "
            "= 0.1,"
            "initial = function(x, y) return math.sin(x + y) + 2 end }},"
            "rates = function(u_x, u_y, x, y, t) local s, c = math.sin(x + y - t), math.cos(x + y - t)"
            " return u_x^2 + 2*u_y - c - c^2 - 2*c + 0.2*s end,"
            "integrate = { scheme = '%s', dt = %g, t_end = 0.5 } }",
            schemes[i], half ? 0.025 : 0.05);
      error[half] = 0;
      for (int64_t c = 0; c < cells(&s); c++)
        error[half] =
            fmax(error[half], fabs(value(&s, 0, c) - 2 - sin(at(c % 18, 18, 2 * pi) + at(c / 18, 16, 2 * pi) - 0.5)));
      shut(&s);
    }
    if (!(fabs(log2(error[0] / error[1]) - orders[i]) < 0.4) || !(error[1] < 0.1))
      fail_msg("%s: errors %.3g, %.3g", schemes[i], error[0], error[1]);
  }
}

/* u_t = lap(u^3 - u - kappa lap u): a small mode grows at k^2 (1 - 3 u0^2) - kappa k^4. The bound is 1e-3 of it. The
 * term of third order in the amplitude 1e-4 e^(0.5) is 1e-8/k^2, and the step's error is (rate h)^4. */
static void test_cahn_hilliard(void **state) {
  (void)state;
  system_run s;
  whole(&s, "return sim.diffusion { grid = { n = {32}, size = {2*math.pi} }, fields = {{ name = 'u', hyper = 0.1,"
            "conserved = true, initial = function(x) return 0.2 + 1e-4*math.cos(2*x) end }},"
            "rates = function(u) return u^3 - u end, integrate = { scheme = 'etdrk4', dt = 0.01, t_end = 0.25 } }");
  double amplitude = 0;
  for (int64_t i = 0; i < 32; i++) amplitude += value(&s, 0, i) * cos(2 * at(i, 32, 2 * pi)) / 16;
  const double want = 4 * (1 - 3 * 0.04) - 0.1 * 16;
  assert_true(fabs(log(amplitude / 1e-4) / 0.25 / want - 1) < 1e-3);
  shut(&s);
  /* From noise: the mass is conserved to 1e-12, and the energy never rises. */
  double energy = INFINITY, first = NAN;
  const char *text =
      "return sim.diffusion { seed = 3, grid = { n = {48, 48}, size = {24, 24} }, fields = {{ name = 'u',"
      "hyper = 1, conserved = true, initial = 0.1, noise = 0.1 }}, rates = function(u) return u^3 - u end,"
      "observe = { e = function(u, u_x, u_y) return (u^2 - 1)^2/4 + (u_x^2 + u_y^2)/2 end },"
      "integrate = { scheme = 'etdrk2', dt = 0.02, t_end = 10 } }";
  open_with(&s, text, sim_isa_best(), 2, NULL);
  for (int step = 0; step <= 500; step += 10) {
    double now, mass = 0;
    run_to(&s, step);
    must(diffusion_model.observe(s.self, &s.clock, 1, &now), "observe");
    look(&s);
    for (int64_t c = 0; c < cells(&s); c++) mass += value(&s, 0, c) / (48 * 48);
    if (step == 0) first = mass;
    assert_true(now < energy && fabs(mass - first) < 1e-12);
    energy = now;
  }
  shut(&s);
}

/* Gray and Scott's uniform state u = (1 - r)/2, v = F (1 + r)/(2 (F + k)), r = sqrt(1 - 4 (F + k)^2/F): a mode along an
 * eigenvector of J - k^2 D grows with its eigenvalue. Within 1e-3: amplitudes of 1e-6 leave terms of 1e-6. */
static void test_gray_scott(void **state) {
  const double F = 0.04, k = 0.055, r = sqrt(1 - 4 * (F + k) * (F + k) / F), q = 2 * pi * 5 / 0.5, t = 4;
  const double u = (1 - r) / 2, v = F * (1 + r) / (2 * (F + k));
  const double a = -v * v - F - q * q * 2e-5, b = -2 * u * v, c = v * v, d = 2 * u * v - F - k - q * q * 1e-5;
  const double middle = (a + d) / 2, half = (a - d) * (a - d) / 4 + b * c;
  (void)state;
  assert_true(half > 0); /* two real eigenvalues */
  for (int sign = -1; sign <= 1; sign += 2) {
    const double rate = middle + sign * sqrt(half), w = (rate - a) / b; /* the eigenvector (1, w) */
    system_run s;
    whole(&s,
          "local F, k, e = 0.04, 0.055, 1e-6 return sim.diffusion { grid = { n = {32}, size = {0.5} }, fields = {"
          "{ name = 'u', D = 2e-5, initial = function(x) return %.17g + e*math.cos(20*math.pi*x) end },"
          "{ name = 'v', D = 1e-5, initial = function(x) return %.17g + e*%.17g*math.cos(20*math.pi*x) end }},"
          "rates = function(u, v) return -u*v^2 + F*(1 - u), u*v^2 - (F + k)*v end,"
          "integrate = { scheme = 'etdrk4', dt = 0.1, t_end = %g } }",
          u, v, w, t);
    double amplitude[2] = {0};
    for (int f = 0; f < 2; f++)
      for (int64_t i = 0; i < 32; i++) amplitude[f] += value(&s, f, i) * cos(q * at(i, 32, 0.5)) / 16;
    assert_true(fabs(log(amplitude[0] / 1e-6) / t - rate) < 1e-3 * fabs(rate));
    assert_true(fabs(amplitude[1] / amplitude[0] - w) < 1e-3 * fabs(w));
    shut(&s);
  }
}

/* u_t = -u + 0.3 white noise, from 0: at t a cell has the variance a^2/V (1 - e^(-2t))/2, for any dt. 4 standard errors
 * of a variance, 4 sqrt(2/N). Cells are independent: neighbours' correlation is 0 within 4/sqrt(N). */
static void test_noise(void **state) {
  enum { N = 64 };
  static const char *const schemes[] = {"etd1", "etdrk2", "etdrk4", "lie", "strang"};
  (void)state;
  for (int i = 0; i < 5; i++) {
    system_run s;
    whole(&s,
          "return sim.diffusion { seed = 11, grid = { n = {%d, %d}, size = {2, 3} }, fields = {{ name = 'v' }, { name "
          "= 'u',"
          "decay = 1, fluctuation = 0.3 }}, rates = function(u, v) return 0*v, 0*u end,"
          "integrate = { scheme = '%s', dt = 0.1, t_end = 1 } }",
          N, N, schemes[i]);
    const double want = 0.09 * N * N / 6.0 * (1 - exp(-2)) / 2;
    double variance = 0, beside = 0;
    for (int64_t c = 0; c < cells(&s); c++) {
      variance += value(&s, 1, c) * value(&s, 1, c) / (N * N);
      beside += value(&s, 1, c) * value(&s, 1, c / N * N + (c + 1) % N) / (N * N);
      assert_true(value(&s, 0, c) == 0);
    }
    if (!(fabs(variance / want - 1) < 4 * sqrt(2.0 / (N * N)))) fail_msg("%s: %g, not %g", schemes[i], variance, want);
    assert_true(fabs(beside) < 4 * variance / N);
    shut(&s);
  }
}

/* A field has the noise of its own amplitude beside one of the same L and another amplitude, and its own linear terms.
 */
static void test_own_terms(void **state) {
  system_run s[2];
  (void)state;
  for (int i = 0; i < 2; i++)
    whole(&s[i],
          "return sim.diffusion { grid = { n = {16}, size = {1} }, fields = { { name = 'u', D = 1, fluctuation = %g },"
          "{ name = 'v', D = 1, fluctuation = 0.6 }, { name = 'a', D = 1, decay = 2, initial = 1 },"
          "{ name = 'b', D = 1, initial = 1 } }, rates = function() return 0, 0, 0, 0 end,"
          "integrate = { scheme = 'etdrk2', dt = 0.125, t_end = 0.5 } }",
          i ? 0.6 : 0.3);
  for (int64_t c = 0; c < 16; c++) {
    assert_true(value(&s[0], 1, c) == value(&s[1], 1, c) && value(&s[0], 1, c) != 0);
    assert_true(fabs(2 * value(&s[0], 0, c) - value(&s[1], 0, c)) < 1e-15);
    assert_true(fabs(value(&s[0], 2, c) - exp(-1)) < 1e-15 && fabs(value(&s[0], 3, c) - 1) < 1e-15);
  }
  shut(&s[0]), shut(&s[1]);
}

/* Between walls at 1 and 3 a wave decays onto the straight line between them, also with rates, which draw the field to
 * that solution and so show every order. Along each axis; tolerances as for eigenmodes. */
static void test_walls(void **state) {
  static const char *const schemes[] = {"exact", "lie", "strang", "etd1", "etdrk2", "etdrk4"};
  static const int orders[] = {0, 1, 2, 1, 2, 4};
  (void)state;
  for (int i = 0; i < 6; i++)
    for (int axis = 0; axis < 3; axis++) {
      double error[2];
      for (int half = 0; half < 2; half++) {
        system_run s;
        const char c = "xyz"[axis];
        char rates[512] = "";
        /* u' = D u_xx + N(u) for u = line + e^-t sin: N = (D k^2 - 1) e^-t sin + (U - u) (1 + (U - u)) */
        if (i > 0)
          snprintf(rates, sizeof rates,
                   "rates = function(u, %c, t) local w = math.exp(-t)*math.sin(math.pi*%c/2)"
                   " local d = 1 + %c + w - u return (0.3*math.pi^2/4 - 1)*w + d*(1 + d) end,",
                   c, c, c);
        whole(&s,
              "return sim.diffusion { grid = { n = {%s}, size = {%s}, %c = 'fixed', %c = 'no_flux' },"
              "fields = {{ name = 'u', D = 0.3, walls = {1, 3}, initial = function(%c)"
              " return 1 + %c + math.sin(math.pi*%c/2) end }}, %s integrate = { scheme = '%s', dt = %g, t_end = 1 } }",
              (const char *const[]){"12, 4, 3", "4, 12, 3", "4, 3, 12"}[axis],
              (const char *const[]){"2, 1, 1", "1, 2, 1", "1, 1, 2"}[axis], c, "yzx"[axis], c, c, c, rates, schemes[i],
              half ? 0.05 : 0.1);
        error[half] = 0;
        const grid_shape g = diffusion_grid_of(s.p);
        for (int64_t cell = 0; cell < cells(&s); cell++) {
          const int64_t place[3] = {cell % g.n[0], cell / g.n[0] % g.n[1], cell / g.n[0] / g.n[1]};
          const double x = at(place[axis], 12, 2), amplitude = exp(i > 0 ? -1 : -0.3 * pi * pi / 4);
          error[half] = fmax(error[half], fabs(value(&s, 0, cell) - (1 + x + amplitude * sin(pi * x / 2))));
        }
        shut(&s);
      }
      if (i == 0 ? !(error[0] < 1e-12) : !(fabs(log2(error[0] / error[1]) - orders[i]) < 0.4) || !(error[1] < 0.05))
        fail_msg("%s along %c: errors %.3g, %.3g", schemes[i], "xyz"[axis], error[0], error[1]);
    }
}

/* exp(L t) exp(L s) = exp(L (t + s)): steps of every scheme without a rate against one jump, for every boundary. A step
 * rounds its two transforms, multiplications and exponentials of |L| dt < 6: 10 of them, 1e-13 each. */
#define FREE(scheme)                                                                                                   \
  "return sim.diffusion { grid = { n = {15, 8, 9}, size = {2, 1, 3}, boundary = '%s' }, fields = {{ name = 'u', D = "  \
  "0.05, hyper = 1e-4, decay = 0.2, noise = 1 }}, " scheme " t_end = 0.5 } }"

static void test_semigroup(void **state) {
  static const char *const schemes[] = {"lie", "strang", "etd1", "etdrk2", "etdrk4"};
  static const char *const boundaries[] = {"periodic", "no_flux", "fixed"};
  (void)state;
  for (int b = 0; b < 3; b++) {
    system_run jump;
    whole(&jump, FREE("integrate = {"), boundaries[b]);
    for (int i = 0; i < 5; i++) {
      system_run steps;
      whole(&steps, FREE("rates = function(u) return 0*u end, integrate = { scheme = '%s', dt = 0.05,"), boundaries[b],
            schemes[i]);
      if (!(distance(&jump, &steps) < 1e-12))
        fail_msg("%s, %s: %.3g", boundaries[b], schemes[i], distance(&jump, &steps));
      shut(&steps);
    }
    shut(&jump);
  }
}

/* Averages, probes and spectra of u = 1 + cos(2x) sin(y) + 0.5 cos(3 z), v = 2, in every kind of boundary that has
 * these modes: each product of two waves has the mean square 1/4, each wave 1/2. */
static void row(system_run *s, int table, double *values) {
  must(diffusion_model.observe(s->self, &s->clock, table, values), "observe");
}

static void test_observe(void **state) {
  static const char *const kinds[] = {"", ", y = 'fixed'", ", z = 'no_flux', x = 'no_flux'"};
  (void)state;
  for (int i = 0; i < 3; i++)
    for (int single = 0; single < 2; single++) {
      system_run s;
      double values[SIM_COLUMNS_MAX], sum = 0, tolerance = single ? 1e-6 : 1e-13;
      /* only sin where y is fixed, whose box is half as long */
      const double mean = i == 1 ? 0 : 1, third = i == 1 ? 0 : 0.5, y = i == 1 ? pi : 2 * pi;
      char text[1024];
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', grid = { n = {20, 18, 22}, size = {2*math.pi, %.17g, "
               "2*math.pi}%s },"
               "fields = {{ name = 'u', initial = function(x, y, z) return %g + math.cos(2*x)*math.sin(y) + "
               "%g*math.cos(3*z) end },"
               "{ name = 'v', initial = 2 }}, integrate = { t_end = 1 }, spectrum = 8, probes = {{0.1, 0.2, 0.3}, {6, "
               "3, 6.2}},"
               "observe = { square = { function(u, v) return u*v end, reduce = 'mean' }, top = { function(u, t) return "
               "u + t end,"
               "reduce = 'max' }, %s volume = function(v) return v end } }",
               single ? "single" : "double", y, kinds[i], mean, third,
               i == 0 ? "slope = { function(u_x, u_z, v_y) return u_x^2 + u_z^2 + v_y end, reduce = 'mean' }," : "");
      open_with(&s, text, sim_isa_best(), 2, NULL);
      look(&s);
      row(&s, 1, values);
      double top = -INFINITY;
      for (int64_t c = 0; c < cells(&s); c++) top = fmax(top, value(&s, 0, c));
      int at_column = 0;
      for (; strcmp(s.p->observe.items[at_column].name, "square") != 0; at_column++) continue;
      assert_true(fabs(values[at_column] - 2 * mean) < tolerance || i == 1);
      for (size_t k = 0; k < s.p->observe.count; k++) {
        const char *name = s.p->observe.items[k].name;
        if (!strcmp(name, "top")) assert_true(fabs(values[k] - top) < tolerance);
        if (!strcmp(name, "volume")) assert_true(fabs(values[k] / (8 * pi * pi * y) - 1) < tolerance);
        /* 4/4 of the product's x derivative, 9/8 of the last one's z */
        if (!strcmp(name, "slope")) assert_true(fabs(values[k] - (1 + 9.0 / 8)) < 10 * tolerance);
      }
      row(&s, 2, values);
      for (int b = 0; b < 8; b++) sum += values[b];
      double square = 0;
      for (int64_t c = 0; c < cells(&s); c++) square += value(&s, 0, c) * value(&s, 0, c) / (double)cells(&s);
      assert_true(fabs(sum - square) < 4 * tolerance); /* Parseval */
      /* in a box from 0 to 2 pi between walls the least k is 1/2 */
      const int least = i == 2 ? 2 : 1;
      const double in[8] = {[0] = mean * mean};
      if (i == 0) assert_true(fabs(values[2] - 0.25) < tolerance && fabs(values[3] - 0.125) < tolerance);
      if (i != 1) assert_true(fabs(values[0] - in[0]) < tolerance);
      if (i == 1) assert_true(fabs(values[2] - 0.25) < tolerance); /* sqrt(4 + 1) rounds to 2 */
      if (i == 2)
        assert_true(fabs(values[2 * least] - 0.25) < tolerance && fabs(values[3 * least] - 0.125) < tolerance);
      row(&s, 3, values);
      assert_true(values[0] == value(&s, 0, (1 * 18 + (int64_t)floor(0.2 * 18 / y)) * 20));
      assert_true(values[1] == value(&s, 0, (21 * 18 + (int64_t)floor(3 * 18 / y)) * 20 + 19));
      assert_true(values[2] == value(&s, 1, (1 * 18 + (int64_t)floor(0.2 * 18 / y)) * 20));
      shut(&s);
    }
}

/* The same bits with any number of threads, and after a restart. */
static void test_same_bits(void **state) {
  static const char text[] =
      "return sim.diffusion { seed = 5, grid = { n = {36, 30, 40}, size = {1, 1, 0.5} },"
      "fields = {{ name = 'u', D = 1e-3, tensor = {5e-4, 0, 0}, initial = 1, noise = 0.1, fluctuation = 1e-3 },"
      "{ name = 'v', conserved = true, hyper = 1e-6, linear = function(k2) return -1e-4*k2 end, initial = 0.5, noise = "
      "0.1 }},"
      "rates = function(u, v, v_y, u_z) return u*(1 - u)*v + 0.01*v_y*u_z, 1e-4*(u^3 - v) end,"
      "integrate = { scheme = 'etdrk2', dt = 0.05, t_end = 0.5 } }";
  char first[33], other[33];
  system_run s, again;
  (void)state;
  open_with(&s, text, sim_isa_best(), 1, NULL);
  run_to(&s, INT64_MAX);
  look(&s);
  must(sim_frame_check_finite(&s.frame), "state");
  sim_frame_digest(&s.frame, first);
  shut(&s);
  open_with(&s, text, SIM_ISA_PLAIN, 3, NULL);
  run_to(&s, 4);
  look(&s);
  open_with(&again, text, sim_isa_best(), 2, &s.frame);
  shut(&s);
  run_to(&again, INT64_MAX);
  look(&again);
  sim_frame_digest(&again.frame, other);
  shut(&again);
  assert_string_equal(first, other);
}

/* Each text's fault, in part. */
static void test_faults(void **state) {
  static const char *const texts[][2] = {
      {"boundary = 'no_flux' }, fields = {{ name = 'u', tensor = {1, 0, 0}, D = 2 }}, integrate = { t_end = 1 } }",
       "fields[1].tensor: expected 0 for xy"},
      {"}, fields = {{ name = 'u', tensor = {1, 0, 0}, D = 0.5 }}, integrate = { t_end = 1 } }", "modes would grow"},
      {"}, fields = {{ name = 'u', linear = function(kx) return kx end }}, integrate = { t_end = 1 } }",
       "the same at k and -k"},
      {"y = 'fixed' }, fields = {{ name = 'u', linear = function(ky) return -ky^2 end }}, integrate = { t_end = 1 } }",
       "depends on ky"},
      {"}, fields = {{ name = 'u' }}, rates = function(u_x) return u_x end, integrate = { scheme = 'strang', dt = 1, "
       "t_end "
       "= 1 } }",
       "because rates have derivatives"},
      {"}, fields = {{ name = 'u', conserved = true }}, rates = function(u) return u end, integrate = { scheme = "
       "'lie', dt = "
       "1, t_end = 1 } }",
       "is conserved"},
      {"}, fields = {{ name = 'u', fluctuation = 1 }}, integrate = { t_end = 1 } }", "fluctuates"},
      {"}, fields = {{ name = 'u', walls = {1, 0} }}, integrate = { t_end = 1 } }", "0 axes are fixed, not one"},
      {"boundary = 'fixed' }, fields = {{ name = 'u', walls = {0, 1} }}, integrate = { t_end = 1 } }",
       "2 axes are fixed, not one"},
      {"x = 'fixed' }, fields = {{ name = 'u', decay = 1, walls = {0, 1} }}, integrate = { t_end = 1 } }",
       "beside decay, which must be part of the rates"},
      {"}, fields = {{ name = 'u' }, { name = 'u_x' }}, integrate = { t_end = 1 } }", "is the derivative of u"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char text[1024], faults[512] = "";
    system_run s = {0};
    snprintf(text, sizeof text, "return sim.diffusion { grid = { n = {8, 8}, size = {1, 1}, %s", texts[i][0]);
    if (decode(&s, text, faults) || !strstr(faults, texts[i][1])) fail_msg("%s: %s", texts[i][0], faults);
    shut(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tensor),          cmocka_unit_test(test_linear),        cmocka_unit_test(test_burgers),
      cmocka_unit_test(test_gradient_orders), cmocka_unit_test(test_cahn_hilliard), cmocka_unit_test(test_gray_scott),
      cmocka_unit_test(test_noise),           cmocka_unit_test(test_own_terms),     cmocka_unit_test(test_walls),
      cmocka_unit_test(test_semigroup),       cmocka_unit_test(test_observe),       cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
