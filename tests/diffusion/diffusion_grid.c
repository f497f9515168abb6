/* Limits of a grid: the warning of fields that it does not resolve, the cut of `dealias`, and white noise at every
 * wavenumber, for any step. */
#include "tests/diffusion/diffusion_driver.h"

#include "engine/log.h"
#include "engine/run/stage.h"
#include "kernels/diffusion/modes.cuh"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;
static const char *const boundaries[] = {"periodic", "no_flux", "fixed"};
static const char *const schemes[] = {"lie", "strang", "etd1", "etdrk2", "etdrk4"};

/* ---- resolution ---- */

typedef struct heard {
  int warnings; /* also lines of information */
  char last[512];
} heard;

static void hear(void *context, sim_log_level level, const char *message) {
  heard *h = context;
  if (level > SIM_LOG_INFO) return;
  h->warnings++;
  snprintf(h->last, sizeof h->last, "%s", message);
}

/* Counts the warnings of a run with `rows` rows of its table after the first one. */
static heard run_with_rows(const char *text, int rows) {
  heard h = {0};
  system_run s;
  double values[DIFFUSION_STATISTICS * (int)DIFFUSION_FIELDS];
  assert_true(sim_log_add(hear, &h));
  open_with(&s, text, sim_isa_best(), 2, NULL);
  must(diffusion_model.observe(s.self, &s.clock, 0, values), "observe");
  for (int i = 1; i <= rows && s.clock.t < s.clock.t_end; i++) {
    run_to(&s, (int64_t)((double)i / rows * s.clock.t_end / s.clock.dt));
    must(diffusion_model.observe(s.self, &s.clock, 0, values), "observe");
  }
  run_to(&s, INT64_MAX);
  look(&s);
  shut(&s);
  sim_log_remove(hear, &h);
  return h;
}

/* Burgers from a sine wave: a shock of width D forms at t = 1/(2 pi). 256 cells of 0.004 resolve D = 5e-3, but not
 * 1e-5. With the cut of `dealias` the highest wavenumbers that are kept still show the lack of resolution. */
static void test_burgers(void **state) {
  static const struct {
    const char *D, *dealias;
    bool resolved;
  } cases[] = {{"1e-5", "true", false}, {"1e-5", "0.5", false}, {"5e-3", "true", true}, {"5e-3", "false", true}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {256}, size = {1} }, fields = {{ name = 'u', D = %s, initial = "
             "function(x) return math.sin(2*math.pi*x) end }}, rates = function(u, u_x) return -u*u_x end, integrate = "
             "{ scheme = 'etdrk4', dt = 2e-3, dealias = %s, t_end = 0.3 } }",
             cases[i].D, cases[i].dealias);
    for (int rows = 1; rows <= 6; rows += 5) { /* only at the end, and at rows too */
      const heard h = run_with_rows(text, rows);
      if (h.warnings != !cases[i].resolved) fail_msg("%s: %d warnings: %s", text, h.warnings, h.last);
      if (h.warnings && !strstr(h.last, "does not resolve u: at t = ")) fail_msg("%s", h.last);
    }
  }
}

/* Allen and Cahn: walls of width sqrt(2 D) form between phases, along one axis, at each boundary, in one member of an
 * ensemble. D = 1e-6 with cells of 1/48, or 2e-2. The start has noise at all wavenumbers, which is damped. */
static void test_layers(void **state) {
  (void)state;
  for (int i = 0; i < 3 * 3 * 2 * 2; i++) {
    const int axis = i % 3, b = i / 3 % 3, members = i / 9 % 2 && axis < 2 ? 3 : 1;
    const bool resolved = i / 18;
    char text[1024], shape[64], n[64], expected[64];
    snprintf(shape, sizeof shape, "math.%s(%d*math.pi*%c)", b == 1 ? "cos" : "sin", b == 1 ? 1 : 2, "xyz"[axis]);
    snprintf(n, sizeof n, "%s", (const char *const[]){"48", "5, 48", "4, 5, 48"}[axis]);
    snprintf(
        text, sizeof text,
        "return sim.diffusion { seed = 2, precision = '%s', members = %d, grid = { n = {%s}, size = {%s}, %s "
        "%c = '%s' }, fields = {{ name = 'u', D = 0.02, initial = function(%c) return %s end, noise = "
        "1e-3 }, { name = 'v', D = %s, initial = function(%c) return 0.1*%s end }}, rates = function(u, v, member) "
        "local on = %s return -u, on*(v - v^3) end, integrate = { scheme = 'etdrk4', dt = 0.1, t_end = 8 } }",
        i % 2 ? "single" : "double", members, n, (const char *const[]){"1", "1, 1", "1, 1, 1"}[axis],
        axis > 0 ? "boundary = 'no_flux'," : "", "xyz"[axis], boundaries[b], "xyz"[axis], shape,
        resolved ? "0.02" : "1e-6", "xyz"[axis], shape,
        members > 1 ? "sim.where(sim.lt(math.abs(member - 2), 0.5), 1, 0)" : "1");
    const heard h = run_with_rows(text, 4);
    snprintf(expected, sizeof expected, "does not resolve v%s: at t", members > 1 ? " of member 2" : "");
    if (h.warnings != !resolved || (h.warnings && !strstr(h.last, expected)))
      fail_msg("%s: %d warnings: %s", text, h.warnings, h.last);
    snprintf(expected, sizeof expected, "along %c", "xyz"[axis]);
    if (h.warnings && !strstr(h.last, expected)) fail_msg("%s", h.last);
  }
}

/* No warning for fields that are uniform to rounding, for straight lines between walls that hold values, and for white
 * noise. */
static void test_nothing_to_resolve(void **state) {
  static const char *const texts[] = {
      "return sim.diffusion { precision = 'single', grid = { n = {32, 24}, size = {1, 1} }, fields = {{ name = 'u', "
      "initial = 1/3 }}, rates = function(u) return u*(1 - u) end, integrate = { scheme = 'etdrk2', dt = 0.1, t_end = "
      "2 "
      "} }",
      "return sim.diffusion { grid = { n = {32, 24}, size = {1, 1}, y = 'fixed' }, fields = {{ name = 'u', D = 0.1, "
      "walls = {1, 3}, initial = function(x, y) return 1 + 2*y + 0.1*math.sin(math.pi*y) end }}, rates = function(u) "
      "return 0*u end, integrate = { scheme = 'lie', dt = 0.1, t_end = 2 } }",
      ("return sim.diffusion { grid = { n = {32}, size = {1} }, fields = {{ name = 'u', D = 0.1, fluctuation = 0.1 }}, "
       "rates = function(u) return 0*u end, integrate = { scheme = 'etd1', dt = 0.1, t_end = 2 } }")};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const heard h = run_with_rows(texts[i], 4);
    if (h.warnings) fail_msg("%s: %s", texts[i], h.last);
  }
}

/* Steps that differ from the scenario's are reported. */
static void test_steps(void **state) {
  static const struct {
    const char *dt, *said;
  } cases[] = {{"5", "integrate.dt: 5 is longer than the run, which ends at t_end = 1: one step of 1"},
               {"0.3", "integrate.dt: 0.3 does not divide the run, to t_end = 1: 4 steps of 0.25"},
               {"0.1", NULL},
               {"1", NULL}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int exact = 0; exact < 2; exact++) {
      heard h = {0};
      system_run s = {0};
      char text[512];
      snprintf(text, sizeof text,
               "return sim.diffusion { grid = { n = {8}, size = {1} }, fields = {{ name = 'u', D = 0.1 }}, %s dt = %s, "
               "t_end = 1 } }",
               exact ? "integrate = {" : "rates = function(u) return -u end, integrate = { scheme = 'etd1',",
               cases[i].dt);
      sim_plan plan = {0};
      (void)decode(&s, text, NULL);
      s.setup = (sim_setup){.backend = &sim_backend_cpu, .comm = &sim_comm_alone, .threads = 1, .folder = ""};
      assert_true(sim_log_add(hear, &h));
      must(diffusion_model.plan(s.p, &s.setup, &plan), "plan");
      sim_log_remove(hear, &h);
      if (h.warnings != (cases[i].said != NULL) || (cases[i].said && strcmp(h.last, cases[i].said) != 0))
        fail_msg("dt = %s: %d warnings: %s", cases[i].dt, h.warnings, h.last);
      void *p = s.p;
      sim_model_parameters_free(&diffusion_model, &p);
    }
}

/* ---- memory ---- */

/* A whole state on its way to a checkpoint holds the transformed fields and the fields of snapshots: the plan has both.
 * Each array begins at a multiple of 64 bytes, and an adaptive scheme keeps a few numbers more. */
static void test_stage(void **state) {
  static const char *const more[] = {"precision = 'single', integrate = { dt = 0.1, t_end = 1 }",
                                     "integrate = { dt = 0.1, t_end = 1 }",
                                     "rates = function(u, v) return -u, -v end, "
                                     "integrate = { scheme = 'etdrk4', dt = 'auto', rtol = 1e-4, t_end = 1 }"};
  (void)state;
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
    char text[512];
    system_run s;
    sim_plan plan = {0}, stages = {0};
    sim_stage stage;
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {96, 64}, size = {1, 1} }, "
             "fields = {{ name = 'u', D = 0.1 }, { name = 'v', D = 0.1 }}, %s }",
             more[i]);
    open_with(&s, text, sim_isa_best(), 1, NULL);
    must(diffusion_model.plan(s.p, &s.setup, &plan), "plan");
    stages.checkpoint_bytes = plan.checkpoint_bytes;
    stages.snapshot_bytes = plan.snapshot_bytes;
    stages.unsaved_bytes = plan.unsaved_bytes;
    sim_stage_plan(&sim_backend_cpu, &sim_comm_alone, false, true, &stages);
    look(&s);
    must(sim_stage_create(&sim_backend_cpu, NULL, &s.frame, true, 0, &stage), "stage");
    const double planned = sim_plan_bytes(&stages, SIM_SPACE_HOST);
    if (fabs((double)stage.host_bytes - planned) > 64.0 * (double)s.frame.array_count + 1024)
      fail_msg("%s: a stage of %zu bytes, planned %g", more[i], stage.host_bytes, planned);
    sim_stage_destroy(&stage);
    shut(&s);
  }
}

/* ---- dealias ---- */

/* Returns the power of a wavenumber along x in field 0: the mean over rows of its square. 0: m = 0 and so on. */
static double power_of(const system_run *s, int64_t mode) {
  const grid_shape g = diffusion_grid_of(s->p);
  const int64_t rows = cells(s) / g.n[0];
  double sum = 0;
  for (int64_t row = 0; row < rows; row++) {
    double re = 0, im = 0;
    for (int64_t i = 0; i < g.n[0]; i++) {
      const double x = ((double)i + 0.5) / (double)g.n[0],
                   k = (g.boundary[0] == GRID_PERIODIC ? 2 : 1) * pi * (double)mode;
      re += value(s, 0, row * g.n[0] + i) * cos(k * x) / (double)g.n[0];
      im += value(s, 0, row * g.n[0] + i) * sin(k * x) / (double)g.n[0];
    }
    sum += (g.boundary[0] == GRID_FIXED     ? im * im
            : g.boundary[0] == GRID_NO_FLUX ? re * re
                                            : re * re + im * im) /
           (double)rows;
  }
  return sum;
}

/* A start with all wavenumbers, which all grow by e^2 or more until the end. Wavenumbers at the limit and above are
 * absent at the start and at the end, in every scheme, boundary and precision, in an ensemble, and with cross
 * diffusion. At the end rounding of the transforms, 1e-7 or 1e-16 of each value, appears again. Strang's last half step
 * acts at points, where linear rates move no power. */
static void test_cut(void **state) {
  static const char *const dealias[] = {"true", "0.5"};
  (void)state;
  for (int i = 0; i < 5 * 3 * 2 * 2; i++) {
    const int scheme = i % 5, b = i / 5 % 3, half = i / 15 % 2;
    const bool single = i / 30 % 2, crossed = (i / 2) % 2;
    system_run s;
    char text[1024];
    snprintf(
        text, sizeof text,
        "return sim.diffusion { seed = 4, precision = '%s', members = %d, grid = { n = {24, 18}, size = {1, 2}, x = "
        "'%s', y = '%s' }, fields = {{ name = 'u', decay = -2, noise = 1 %s }, { name = 'v', noise = 1 }}, rates = "
        "function(u, v) return 0.1*u, -v end, integrate = { scheme = '%s', dt = 0.1, t_end = 1, dealias = %s } }",
        single ? "single" : "double", i % 2 ? 2 : 1, boundaries[b], boundaries[(b + i) % 3],
        crossed ? ", cross = {0, 1e-3}, D = 2e-3" : "", schemes[scheme], dealias[half]);
    open_with(&s, text, sim_isa_best(), 2, NULL);
    const int64_t most = b == 0 ? 12 : 24, limit = half ? most / 2 : most * 2 / 3;
    for (int end = 0; end < 2; end++) {
      if (end) run_to(&s, INT64_MAX);
      look(&s);
      for (int64_t m = b == 2; m <= most - (b == 1); m++) {
        const double power = power_of(&s, m), bound = single ? 1e-11 : 1e-28;
        if (m < limit ? !(power > 1e-4) : !(power < bound))
          fail_msg("%s: mode %lld of %lld has %.3g at t = %g", text, (long long)m, (long long)limit, power, s.clock.t);
      }
    }
    shut(&s);
  }
}

/* With a sufficient fraction a run depends only on the modes that are kept, for any number of cells: products are
 * exact. So 24 cells, and 72 with every third one at the same position, agree to the rounding of 10 steps, 1e-12. With
 * a fraction that does not suffice they differ. The sine series of a square of sines does not end; that of a cube does.
 */
static void test_products(void **state) {
  static const char *const starts[] = {
      "0.5*math.sin(2*math.pi*x) + 0.4*math.cos(6*math.pi*x) + 0.3*math.sin(10*math.pi*x)",
      "0.5*math.cos(math.pi*x) + 0.4*math.cos(4*math.pi*x) + 0.3*math.cos(9*math.pi*x)",
      "0.5*math.sin(math.pi*x) + 0.4*math.sin(4*math.pi*x) + 0.3*math.sin(9*math.pi*x)"};
  static const char *const rates[] = {"0.3*u^2 - u", "u - u^3", "u - u^3"};
  static const char *const fractions[][2] = {{"true", "2/9"}, {"0.5", "1/6"}, {"true", "2/9"}}; /* of 24, 72 cells */
  (void)state;
  for (int i = 0; i < 4 * 3 * 3; i++) {
    const int scheme = i % 4 + (i % 4 > 0), b = i / 4 % 3, product = i / 12;
    system_run of[2];
    double most = 0;
    if (b == 2 && product == 0) continue;
    for (int fine = 0; fine < 2; fine++)
      whole(
          &of[fine],
          "return sim.diffusion { grid = { n = {%d}, size = {1}, boundary = '%s' }, fields = {{ name = 'u', D = 1e-4, "
          "initial = function(x) return %s end }}, rates = function(u) return %s end, integrate = { scheme = '%s', dt "
          "= 0.1, t_end = 1, dealias = %s } }",
          fine ? 72 : 24, boundaries[b], starts[b], rates[product], schemes[scheme], fractions[product][fine]);
    for (int64_t c = 0; c < 24; c++) most = fmax(most, fabs(value(&of[0], 0, c) - value(&of[1], 0, 3 * c + 1)));
    if (product < 2 ? !(most < 1e-12) : !(most > 1e-5))
      fail_msg("%s, %s, %s: %.3g", schemes[scheme], boundaries[b], rates[product], most);
    shut(&of[0]), shut(&of[1]);
  }
}

/* ---- white noise ---- */

/* u_t = L u + a white noise from 0. Each mode has the variance a^2/V (1 - e^(-2 |Re L| t))/(2 |Re L|) at every t, for
 * any dt, in a box of volume V; in a conserved field with the factor k^4. Each of N M modes of M members counts once (a
 * complex one twice). The sum of squares over variances is N M within 4 sqrt(2 N M), and the sum for each wavenumber is
 * within 5 of its own errors. Re L dt is 0.3 to 20 or more: the weight of the rates would give 2/(|L| dt) of the
 * variance. */
static void expect_spectrum(const system_run *s, const char *text, double D, double decay, double amplitude,
                            bool conserved, double cut) {
  const grid_shape g = diffusion_grid_of(s->p);
  const int64_t n = g.n[0], members = g.n[1];
  double all = 0, modes = 0;
  for (int64_t m = g.boundary[0] == GRID_FIXED;
       m < (g.boundary[0] == GRID_PERIODIC ? n / 2 + 1 : n + (g.boundary[0] == GRID_FIXED)); m++) {
    const double k = (g.boundary[0] == GRID_PERIODIC ? 2 : 1) * pi * (double)m / g.size[0], rate = D * k * k + decay;
    const bool alone = m == 0 || 2 * m == n; /* also of cosines and sines: the wave of all cells has weight 1 there */
    const double parts = g.boundary[0] == GRID_PERIODIC && !alone ? 2 : 1;
    const double weight = g.boundary[0] == GRID_PERIODIC || (g.boundary[0] == GRID_NO_FLUX ? m == 0 : m == n) ? 1 : 2;
    const double variance = amplitude * amplitude / g.size[0] * (conserved ? pow(k, 4) : 1) *
                            (rate > 0 ? (1 - exp(-2 * rate * s->clock.t)) / (2 * rate) : s->clock.t);
    const double mean = power_of(s, m), want = variance / weight;
    if (cut > 0 && (double)m >= cut) {
      assert_true(mean < 1e-6 * variance);
      continue;
    }
    if (want == 0) {
      assert_true(mean < 1e-12 * amplitude * amplitude);
      continue;
    }
    all += parts * mean / want;
    modes += parts;
    if (!(fabs(mean / want - 1) < 5 * sqrt(2 / (parts * (double)members))))
      fail_msg("%s: mode %lld: %.5g, not %.5g", text, (long long)m, mean, want);
  }
  if (!(fabs(all / modes - 1) < 4 * sqrt(2 / (modes * (double)members)))) fail_msg("%s: %.5g", text, all / modes);
}

static void test_spectrum(void **state) {
  (void)state;
  for (int i = 0; i < 5 * 3 * 2; i++) {
    const int scheme = i % 5, b = i / 5 % 3;
    const bool single = i / 15, drifts = b == 0 && scheme % 2, conserved = scheme > 1 && i % 2, cuts = i % 3 == 0;
    char text[1024];
    system_run s;
    snprintf(
        text, sizeof text,
        "return sim.diffusion { seed = %d, precision = '%s', members = 400, grid = { n = {15}, size = {3}, boundary = "
        "'%s' }, fields = {{ name = 'v' }, { name = 'u', D = 0.3, decay = %g, fluctuation = 0.7, conserved = %s %s }}, "
        "rates = function(v, u) return 0*v, 0*u end, integrate = { scheme = '%s', dt = 0.5, t_end = 1.5, dealias = %s "
        "} }",
        i + 1, single ? "single" : "double", boundaries[b], i % 2 ? 0.6 : 0.0, conserved ? "true" : "false",
        drifts ? ", drift = {0.4, 0, 0}" : "", schemes[scheme], cuts ? "true" : "false");
    whole(&s, "%s", text);
    for (int64_t c = 0; c < cells(&s); c++) assert_true(value(&s, 0, c) == 0);
    sim_array own = s.arrays[1]; /* u in the place of v */
    s.arrays[1] = s.arrays[2];
    expect_spectrum(&s, text, 0.3, i % 2 ? 0.6 : 0, 0.7, conserved, cuts ? (b == 0 ? 5 : 10) : 0);
    s.arrays[1] = own;
    shut(&s);
  }
}

/* Two fields with cross diffusion: only v fluctuates, and u receives the noise by the matrix (-p, r; 0, -q). The
 * weights against the integrals of the matrix exponential, (r (e^-qs - e^-ps)/(p - q))^2 and so on, at steps without
 * doubling and with ten doublings; 1e-12 of the greatest. Then the variance of a run, as above. */
static void test_weights(void **state) {
  static const double steps[] = {0.01, 1, 100};
  (void)state;
  for (int i = 0; i < 3; i++) {
    const double p = 3, q = 0.7, r = 1.3, h = steps[i];
    const double a[8] = {-p * h, 0, r * h, 0, 0, 0, -q * h, 0}, noise[2] = {0.2 * h, 1.1 * h};
    double w[DIFFUSION_NOISE_MATRIX], c[2][2];
    diffusion_noise_matrix(2, a, noise, w);
    for (int k = 0; k < 2; k++)
      for (int j = 0; j < 2; j++) c[k][j] = w[4 * k] * w[4 * j] + w[4 * k + 2] * w[4 * j + 2];
    const double pp = -expm1(-2 * p * h) / (2 * p), qq = -expm1(-2 * q * h) / (2 * q),
                 pq = -expm1(-(p + q) * h) / (p + q);
    const double s = r / (p - q), uu = 0.2 * pp + 1.1 * s * s * (qq - 2 * pq + pp), uv = 1.1 * s * (qq - pq);
    assert_true(fabs(c[0][0] / uu - 1) < 1e-12 && fabs(c[1][1] / (1.1 * qq) - 1) < 1e-12);
    assert_true(fabs(c[0][1] - uv) < 1e-12 * sqrt(uu * 1.1 * qq) && c[0][1] == c[1][0]);
    /* one field: the same as the weight of one field, and two half steps are one step */
    const double one = diffusion_noise_weight(h, -2 * p * h), half = diffusion_noise_weight(h / 2, -p * h);
    assert_true(fabs(one * one / pp - 1) < 1e-14);
    assert_true(fabs(half * half * (1 + exp(-p * h)) / (one * one) - 1) < 1e-14);
  }
  for (int i = 0; i < 5; i++) {
    system_run s;
    char text[1024];
    /* the dispersion of a complex field: rates D k^2 +- i b k^2, both with the variance of D alone */
    snprintf(
        text, sizeof text,
        "return sim.diffusion { seed = 3, members = 400, grid = { n = {16}, size = {3}, boundary = '%s' }, fields = "
        "{{ name = 'u', D = 0.3, cross = {0, -0.5}, decay = 0.2, fluctuation = 0.7 }, { name = 'v', D = 0.3, cross = "
        "{0.5, 0}, decay = 0.2, fluctuation = 0.7 }}, rates = function(u, v) return 0*u, 0*v end, integrate = { "
        "scheme = '%s', dt = 0.5, t_end = 1.5 } }",
        boundaries[i % 3], schemes[i]);
    whole(&s, "%s", text);
    expect_spectrum(&s, text, 0.3, 0.2, 0.7, false, 0);
    shut(&s);
  }
}

/* The same bits with other threads, and after a restart, of every scheme. */
static void test_bits(void **state) {
  (void)state;
  for (int i = 0; i < 10; i++) {
    char text[1024];
    system_run one, two, three;
    snprintf(
        text, sizeof text,
        "return sim.diffusion { precision = '%s', grid = { n = {24, 20}, size = {1, 2}, y = '%s' }, fields = {{ name "
        "= 'u', D = 0.01, noise = 0.1, fluctuation = 0.1 %s }, { name = 'v', D = 0.02, fluctuation = 0.2 }}, rates = "
        "function(u, v) return u - u^3, u - v end, integrate = { scheme = '%s', dt = 0.1, t_end = 1, dealias = %s } }",
        i % 2 ? "single" : "double", boundaries[i % 3], i % 4 == 1 ? ", cross = {0, 0.001}" : "", schemes[i / 2],
        i % 3 ? "true" : "false");
    open_with(&one, text, sim_isa_best(), 1, NULL);
    open_with(&two, text, i % 2 ? sim_isa_best() : SIM_ISA_PLAIN, 3, NULL);
    run_to(&one, INT64_MAX), run_to(&two, 3);
    look(&one), look(&two);
    const sim_frame saved = two.frame;
    open_with(&three, text, sim_isa_best(), 2, &saved);
    run_to(&three, INT64_MAX);
    look(&three);
    if (distance(&one, &three) != 0) fail_msg("%s: %.3g", text, distance(&one, &three));
    shut(&one), shut(&two), shut(&three);
  }
}

/* A uniform velocity that grows within a step: by a pulse, 1000 exp(-1000 (t - 0.6)^2), whose integral is an error
 * function, and by exp(30 t), which doubles in 0.023. With 16 cells the Courant number is at most 2 C = 1 at the end of
 * each step, so that a step of h changes u by 1/(16 h) at most. Steps of 1/32 and more, longer than the pulse, see only
 * its tail, changes of 2, and are wrong by less than a fourth of these: 1 % of 56 in the end. Steps in the pulse, where
 * u is above 6, are below 0.01, half of its deviation, where Simpson's rule is good to 1e-3. Steps of the exponential
 * are below 1/32, a growth of 2.6, where a step of order 4 leaves 1/120 at most. Steps that are not repeated give 89 in
 * place of 56. A restart within the growth, and threads, give the same bits in all schemes. */
static void test_growth(void **state) {
  static const char *const rates[] = {"1000*math.exp(-1000*(t - 0.6)^2)", "30*u"};
  static const char *const by[] = {"etdrk4", "etdrk2", "etd1", "lie"};
  (void)state;
  for (int c = 0; c < 8; c++) {
    const int doubling = c % 2;
    char text[512];
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {16, 8}, size = {1, 1} }, fields = {{ name = 'u', D = 0.1, initial = "
             "%s }, { "
             "name = 'v', D = 0.1, initial = function(x, y) return math.sin(2*math.pi*x) end }}, rates = function(u, "
             "v, t) return "
             "%s, -v end, integrate = { scheme = '%s', courant = 0.5, velocity = 'u, v', dt_max = %s } }",
             doubling ? "0.01" : "0", rates[doubling], by[c / 2], doubling ? "1/32, t_end = 0.25" : "0.25, t_end = 1");
    system_run a, b;
    open_with(&a, text, sim_isa_best(), 1, NULL);
    for (bool saved = false; a.clock.t < a.clock.t_end;) {
      run_to(&a, a.clock.step + 1);
      look(&a);
      double v = 0;
      for (int64_t i = 0; i < cells(&a); i++) v = fmax(v, fabs(value(&a, 1, i)));
      const double number = a.clock.dt * (16 * value(&a, 0, 0) + 8 * v);
      if (!(number <= 1 + 1e-9)) fail_msg("%s: number %g at t = %g", text, number, a.clock.t);
      if (saved || a.clock.t < (doubling ? 0.1 : 0.5)) continue;
      open_with(&b, text, sim_isa_best(), 3, &a.frame);
      saved = true;
    }
    run_to(&b, INT64_MAX);
    look(&b);
    const double known = doubling ? 0.01 * exp(7.5) : sqrt(3.14159265358979 / 1000) * 1000;
    print_message("    %s: %lld steps, %g, known %g\n", by[c / 2], (long long)a.clock.step, value(&a, 0, 0), known);
    if (c < 2) assert_true(fabs(value(&a, 0, 0) / known - 1) < (doubling ? 3e-2 : 1e-2));
    assert_true(a.clock.step == b.clock.step && distance(&a, &b) == 0);
    shut(&a);
    shut(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth), cmocka_unit_test(test_burgers),
                                     cmocka_unit_test(test_layers), cmocka_unit_test(test_nothing_to_resolve),
                                     cmocka_unit_test(test_steps),  cmocka_unit_test(test_stage),
                                     cmocka_unit_test(test_cut),    cmocka_unit_test(test_products),
                                     cmocka_unit_test(test_bits),   cmocka_unit_test(test_spectrum),
                                     cmocka_unit_test(test_weights)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
