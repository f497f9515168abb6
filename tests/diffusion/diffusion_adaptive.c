/* Steps as long as their error or their Courant number allows. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static const char *const boundary[] = {"periodic", "no_flux", "fixed"};

/* A wave that is fast at the start and slow later; two fields, in every boundary and number of axes. */
static void run_with(system_run *s, int rank, int b, const char *scheme, const char *steps) {
  static const char *const n[] = {"18", "18, 9", "10, 9, 8"}, *const size[] = {"3", "3, 2", "3, 2, 2"};
  whole(s,
        "return sim.diffusion { grid = { n = {%s}, size = {%s}, boundary = '%s' }, fields = {"
        "{ name = 'u', D = 0.1, initial = function(x) return math.sin(math.pi*x/3)^2 end },"
        "{ name = 'v', D = 0.05, decay = 0.2, initial = function(x) return 0.5*math.sin(math.pi*x/3)^2 end }},"
        "rates = function(u, v, t) return 20*math.exp(-4*t)*u*(1 - u) - u*v, u*v - 0.3*v^2 end,"
        "integrate = { scheme = '%s', %s, t_end = 2 } }",
        n[rank - 1], size[rank - 1], boundary[b], scheme, steps);
}

/* The errors of steps add up and are damped. At the end they stay below the error of one step, for both tolerances.
 * With a hundredth of the tolerance ETDRK4 takes 100^(1/4) = 3.2 times as many steps, and ETDRK2 and Strang's
 * splitting, whose estimates are of order 2, 10 times; powers of two may change this by a factor of 2. Steps grow as
 * the rates fall: 256 of the shortest steps would not reach the end. */
static void test_tolerance(void **state) {
  static const char *const schemes[] = {"strang", "etdrk2", "etdrk4"};
  (void)state;
  for (int rank = 1; rank <= 3; rank++)
    for (int b = 0; b < 3; b++) {
      system_run exact;
      run_with(&exact, rank, b, "etdrk4", "dt = 1/128");
      for (int i = 0; i < 3; i++) {
        double error[2];
        int64_t steps[2];
        for (int strict = 0; strict < 2; strict++) {
          system_run s;
          char text[80];
          const double rtol = strict ? 1e-6 : 1e-4;
          snprintf(text, sizeof text, "dt = 'auto', rtol = %g, atol = %g, dt_max = 2", rtol, 1e-3 * rtol);
          run_with(&s, rank, b, schemes[i], text);
          assert_true(s.clock.t == 2);
          error[strict] = distance(&s, &exact);
          steps[strict] = s.clock.step;
          shut(&s);
        }
        const double more = (double)steps[1] / (double)steps[0], want = i == 2 ? 3.2 : 10;
        if (!(error[0] < 1e-4) || !(error[1] < 1e-6) || !(more > want / 2 && more < 2 * want) ||
            (i == 2 && steps[0] > 32))
          fail_msg("%s, %s, %d axes: errors %.2g %.2g in %lld and %lld steps", schemes[i], boundary[b], rank, error[0],
                   error[1], (long long)steps[0], (long long)steps[1]);
      }
      shut(&exact);
    }
}

/* Two fields with rates of x and t against SciPy's Radau and DOP853, which agree in 12 digits (rtol = 1e-13, Fourier
 * derivatives in NumPy), at the centres of cells 0, 5 and 12. As above, the error at the end is below the tolerance. */
static void test_peer(void **state) {
  static const char *const schemes[] = {"strang", "etdrk2", "etdrk4"};
  static const double exact[2][3] = {{0.726232078093, 0.529416935733, 0.338773276671},
                                     {0.267795814699, 0.532983334766, 0.754649026417}};
  static const int at[] = {0, 5, 12};
  (void)state;
  for (int c = 0; c < 12; c++) {
    const double rtol = pow(10, -4 - c / 3 % 3);
    const char *precision = c < 9 ? "double" : "single";
    double worst = 0;
    system_run s;
    whole(&s,
          "return sim.diffusion { precision = '%s', grid = { n = {24}, size = {3} }, fields = {"
          "{ name = 'u', D = 0.1, initial = function(x) return math.sin(math.pi*x/3)^2 end },"
          "{ name = 'v', D = 0.05, decay = 0.2, initial = function(x) return 0.5*math.sin(math.pi*x/3)^2 end }},"
          "rates = function(u, v, x, t) return 20*math.exp(-4*t)*u*(1 - u) - u*v + 0.3*math.sin(5*t)*"
          "math.cos(2*math.pi*x/3), u*v - 0.3*v^2 end,"
          "integrate = { scheme = '%s', dt = 'auto', rtol = %g, atol = %g, dt_max = 2, t_end = 2 } }",
          precision, schemes[c % 3], rtol, 1e-3 * rtol);
    for (int f = 0; f < 2; f++)
      for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(value(&s, f, at[i]) - exact[f][i]));
    if (!(worst < rtol)) fail_msg("%s, %s, rtol = %g: error %.2g", precision, schemes[c % 3], rtol, worst);
    shut(&s);
  }
}

/* A rate of t alone whose period is the time between the two halves of the first step of 2^-10: u = sin(4096 pi
 * t)/(4096 pi). Where the times of a step see a constant rate, u ends at -1. */
static void test_periodic_rate(void **state) {
  static const char *const schemes[] = {"strang", "etdrk2", "etdrk4"};
  (void)state;
  for (int c = 0; c < 3; c++) {
    system_run s;
    whole(
        &s,
        "return sim.diffusion { grid = { n = {4}, size = {1} }, fields = {{ name = 'u' }}, rates = function(t) return "
        "math.cos(4096*math.pi*t) end, integrate = { scheme = '%s', rtol = 0, atol = 1e-6, t_end = 1 } }",
        schemes[c]);
    if (!(fabs(value(&s, 0, 0)) < 1e-4)) fail_msg("%s: %.3g", schemes[c], value(&s, 0, 0));
    shut(&s);
  }
}

/* Any number of threads, any instruction set, outputs at any step, and restarts give the same bits. Derivatives and
 * conserved fields too. The first step is 4096 times too long. */
static void test_same_bits(void **state) {
  static const char *const schemes[] = {"etdrk2", "etdrk4", "strang"};
  (void)state;
  for (int i = 0; i < 6; i++) {
    char text[1024], first[33], other[33];
    const int scheme = i % 3;
    const char *single = i / 3 ? "single" : "double", *rtol = scheme == 1 ? "1e-5" : "1e-3";
    system_run s, again;
    snprintf(text, sizeof text,
             "return sim.diffusion { seed = 5, precision = '%s', grid = { n = {24, 20, 12}, size = {1, 1, 0.5}, y = "
             "'periodic', z = 'no_flux' }, fields = {{ name = 'u', D = 1e-3, initial = 1, noise = 0.1 },"
             "{ name = 'v', D = 2e-3, %sinitial = 0.5, noise = 0.1 }}, rates = function(u, v, %s, y, t) "
             "return 200*(t + 1)^-2*u*(1 - u)*v + 0.1*y*%s, 1e-4*(u - v) end,"
             "integrate = { scheme = '%s', dt = 'auto', rtol = %s, t_end = 64 } }",
             single, scheme < 2 ? "conserved = true, " : "", scheme < 2 ? "u_x" : "x", scheme < 2 ? "u_x" : "x",
             schemes[scheme], rtol);
    open_with(&s, text, sim_isa_best(), 1, NULL);
    const double begin = s.clock.dt;
    run_to(&s, 8);
    assert_true(s.clock.dt < begin || s.clock.dt > begin);
    look(&s);
    must(sim_frame_check_finite(&s.frame), "state");
    sim_frame_digest(&s.frame, first);
    const int64_t end = s.clock.step;
    shut(&s);
    open_with(&s, text, i / 3 ? sim_isa_best() : SIM_ISA_PLAIN, 3, NULL);
    for (int64_t step = 1; step <= end / 2; step++) {
      run_to(&s, step);
      look(&s);
    }
    open_with(&again, text, sim_isa_best(), 2, &s.frame);
    shut(&s);
    for (int64_t step = end / 2 + 1; step <= end; step++) { /* a chain of restarts */
      run_to(&again, step);
      look(&again);
      open_with(&s, text, sim_isa_best(), 2, &again.frame);
      shut(&again);
      again = s;
    }
    look(&again);
    sim_frame_digest(&again.frame, other);
    assert_string_equal(first, other);
    shut(&again);
  }
}

/* One step serves all members, and its error is the root mean square over all of them: the error of one member is at
 * most sqrt(4) times as much. Each member ends where it does alone with short steps; 1e-6 as above. Restarts have the
 * same bits. */
static void test_members(void **state) {
  static const char *const grids[] = {"n = {18}, size = {3}, boundary = 'fixed'",
                                      "n = {16, 9}, size = {3, 2}, y = 'no_flux'"};
  static const char *const schemes[] = {"etdrk4", "etdrk4", "strang", "strang"};
  enum { MEMBERS = 4 };
  (void)state;
  for (int i = 0; i < 4; i++) {
    const double rtol = i < 2 ? 1e-6 : 1e-5;
    char text[2048], first[33], other[33];
    system_run all, again;
    for (int m = 0; m <= MEMBERS; m++) {
      char local[64] = "", members[64] = "", steps[64] = "1/256";
      if (m > 0) snprintf(local, sizeof local, "local member = %d\n", m);
      if (m == 0) snprintf(members, sizeof members, "members = %d,", (int)MEMBERS);
      if (m == 0) snprintf(steps, sizeof steps, "'auto', rtol = %g, atol = %g", rtol, 1e-3 * rtol);
      snprintf(text, sizeof text,
               "%sreturn sim.diffusion { %s grid = { %s }, fields = {{ name = 'u', D = 0.1, initial = function(x%s) "
               "return math.sin(math.pi*x/3)*member/4 end }},"
               "rates = function(u, t%s) return 5*member*math.exp(-4*t)*u*(1 - u) end,"
               "integrate = { scheme = '%s', dt = %s, t_end = 1 } }",
               local, members, grids[i % 2], m ? "" : ", member", m ? "" : ", member", m ? "etdrk4" : schemes[i],
               steps);
      if (m == 0) {
        open_with(&all, text, sim_isa_best(), 1, NULL);
        run_to(&all, 5);
        look(&all);
        open_with(&again, text, sim_isa_best(), 3, &all.frame);
        run_to(&all, INT64_MAX), run_to(&again, INT64_MAX);
        look(&all), look(&again);
        assert_true(all.clock.step > 8 && all.clock.step < (i < 2 ? 128 : 2048));
        sim_frame_digest(&all.frame, first), sim_frame_digest(&again.frame, other);
        assert_string_equal(first, other);
        shut(&again);
        continue;
      }
      whole(&again, "%s", text);
      for (int64_t c = 0; c < cells(&again); c++) {
        const double a = value(&again, 0, c), b = value(&all, 0, (m - 1) * cells(&again) + c);
        if (!(fabs(a - b) < 2 * rtol))
          fail_msg("%s, %s, member %d: %.12g, alone %.12g", schemes[i], grids[i % 2], m, b, a);
      }
      shut(&again);
    }
    shut(&all);
  }
}

/* Values of a file (simulated here), adaptive steps, and probes: the same bits, and the same row, after a restart,
 * which reads no file. */
static int files_read;
static sim_status made_up(const sim_grid_source *source, double *values) {
  const int64_t count = source->n[0] * source->n[1] * source->n[2];
  for (int64_t i = 0; values && i < count; i++) values[i] = (double)(i * 7 % 11) / 10;
  files_read++;
  return SIM_OK;
}

static void test_file_and_probes(void **state) {
  static const char *const grids[] = {"n = {20, 9}, size = {2, 1}, y = 'fixed'", "n = {32, 6, 8}, size = {2, 1, 1}"};
  (void)state;
  for (int number = 0; number < 4; number++) {
    const int i = number % 2;
    char text[1024], first[33], other[33];
    double rows[2][8];
    system_run s = {0}, again;
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { %s }, fields = {{ name = 'u', D = 0.01, %s"
             "file = { path = 'values.h5', range = {0, 0.5} }, initial = function(file, x) return file + 0.1*x end },"
             "{ name = 'v', D = 0.02, initial = 0.3 }}, rates = function(u, v) return u*(1 - u) - u*v, u*v - v end,"
             "probes = {{0.3, 0.2%s}, {1.7, 0.6%s}}, integrate = { scheme = '%s', dt = 'auto', t_end = 2 } }",
             grids[i], i ? "cross = {0, 0.005}," : "", i ? ", 0.4" : ", 0", i ? ", 0.9" : ", 0",
             number / 2 ? "strang" : "etdrk4");
    assert_true(decode(&s, text, NULL));
    s.setup = (sim_setup){.backend = &sim_backend_cpu,
                          .comm = &sim_comm_alone,
                          .isa = sim_isa_best(),
                          .threads = 2,
                          .folder = "",
                          .read_grid = made_up};
    must(diffusion_model.create(s.p, &s.setup, &s.clock, &s.self), "create");
    look(&s);
    for (int64_t c = 0; c < cells(&s); c++) /* (i + 0.5)/n of 2, a tenth of it; rounding of a transform and back */
      assert_true(fabs(value(&s, 0, c) - 0.05 * (double)(c * 7 % 11) -
                       0.2 * ((double)(c % (i ? 32 : 20)) + 0.5) / (i ? 32 : 20)) < 1e-14);
    run_to(&s, 3);
    look(&s);
    const int before = files_read;
    open_with(&again, text, sim_isa_best(), 1, &s.frame);
    assert_true(before > 0 && files_read == before);
    run_to(&s, INT64_MAX), run_to(&again, INT64_MAX);
    look(&s), look(&again);
    sim_frame_digest(&s.frame, first), sim_frame_digest(&again.frame, other);
    assert_string_equal(first, other);
    assert_true(s.clock.step > 4);
    must(diffusion_model.observe(s.self, &s.clock, 1, rows[0]), "observe");
    must(diffusion_model.observe(again.self, &again.clock, 1, rows[1]), "observe");
    assert_memory_equal(rows[0], rows[1], 4 * sizeof(double));
    assert_true(rows[0][0] == value(&s, 0, i ? (3 * 6 + 1) * 32 + 4 : 1 * 20 + 3));
    shut(&s), shut(&again);
  }
}

/* The array's name tells the order of its numbers. Older versions had another order and another name, which is refused.
 */
static void test_older_state(void **state) {
  static const sim_field older = {.name = "spectrum"};
  static const char text[] =
      "return sim.diffusion { grid = { n = {32, 8, 8}, size = {1, 1, 1} }, fields = {{ name = 'u', "
      "D = 1, initial = 1 }}, integrate = { t_end = 1 } }";
  (void)state;
  system_run s, again = {0};
  open_with(&s, text, sim_isa_best(), 1, NULL);
  look(&s);
  s.arrays[0].field = &older;
  assert_true(decode(&again, text, NULL));
  again.setup = s.setup;
  again.setup.saved = &s.frame;
  assert_int_equal(diffusion_model.create(again.p, &again.setup, &again.clock, &again.self), SIM_ERR_INCOMPATIBLE);
  assert_non_null(strstr(sim_error_last()->message, "another version"));
  shut(&s), shut(&again);
}

/* u_t = u^2 from 1 ends at t = 1: no step is short enough there. */
static void test_end_of_time(void **state) {
  (void)state;
  system_run s;
  sim_status status = SIM_OK;
  open_with(&s,
            "return sim.diffusion { grid = { n = {4}, size = {1} }, fields = {{ name = 'u', initial = 1 }},"
            "rates = function(u) return u^2 end, integrate = { scheme = 'etdrk4', dt = 'auto', t_end = 2 } }",
            sim_isa_best(), 1, NULL);
  for (int i = 0; i < 10000 && status == SIM_OK; i++) status = diffusion_model.step(s.self, &s.clock);
  assert_int_equal(status, SIM_ERR_DIVERGED);
  assert_true(fabs(s.clock.t - 1) < 1e-4);
  shut(&s);
}

/* Each step is the longest power of two within the Courant number, dt sum max |v|/cell, that does not pass dt_max or
 * the end. The flow loses its speed, and steps become longer. Zero velocity gives the longest step, after short ones: a
 * flow that is driven from rest never has more than three times the number within a step. */
static void test_courant(void **state) {
  static const char *const schemes[] = {"lie", "etd1", "etdrk2", "etdrk4"};
  (void)state;
  for (int c = 0; c < 8; c++) {
    system_run s;
    char text[1024];
    int lengths = 0;
    double before = 0;
    const double courant = 0.05 * (1 + c % 3);
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = '%s', grid = { n = {20, 18}, size = {2*math.pi, 3} }, fields = {"
             "{ name = 'v', D = 0.5, initial = function(y) return 0.1 + math.cos(2*math.pi/3*y) end },"
             "{ name = 'c', D = 0, initial = function(x) return math.sin(x) end },"
             "{ name = 'u', D = 0.5, initial = function(x) return -2*math.sin(x) end }},"
             "rates = function(u, v, c_x, c_y) return 0, -u*c_x - v*c_y, 0 end,"
             "integrate = { scheme = '%s', courant = %g, velocity = 'u, v', dt_max = 0.0625, t_end = 2.7 } }",
             c / 4 ? "single" : "double", schemes[c % 4], courant);
    open_with(&s, text, sim_isa_best(), 2, NULL);
    while (s.clock.t < s.clock.t_end) {
      double most[2] = {0, 0};
      const double t = s.clock.t;
      look(&s);
      for (int64_t i = 0; i < cells(&s); i++) {
        most[0] = fmax(most[0], fabs(value(&s, 2, i)));
        most[1] = fmax(most[1], fabs(value(&s, 0, i)));
      }
      const double rate = most[0] * 20 / (2 * pi) + most[1] * 18 / 3;
      run_to(&s, s.clock.step + 1);
      if (s.clock.t < s.clock.t_end) {
        assert_true(s.clock.dt * rate <= courant * (1 + 1e-14));
        assert_true(s.clock.dt == 0.0625 || 2 * s.clock.dt * rate > courant * (1 - 1e-14));
      }
      assert_true(fabs(t + s.clock.dt - s.clock.t) < 1e-15 * 4);
      lengths += s.clock.dt > before;
      before = s.clock.dt;
    }
    assert_true(lengths > 2);
    shut(&s);
  }
  system_run s;
  whole(&s, "return sim.diffusion { grid = { n = {16}, size = {1} }, fields = { { name = 'u', D = 0.1 } },"
            "rates = function(u, u_x) return -u*u_x end,"
            "integrate = { scheme = 'etdrk2', courant = 0.5, velocity = 'u', t_end = 1 } }");
  assert_int_equal(s.clock.step, 68); /* 2^-10 to 2^-7 first */
  shut(&s);
  open_with(&s,
            "return sim.diffusion { grid = { n = {128}, size = {1} }, fields = {{ name = 'u', D = 0.001 }},"
            "rates = function() return 10 end,"
            "integrate = { scheme = 'etdrk4', courant = 0.5, velocity = 'u', dt_max = 0.25, t_end = 1 } }",
            sim_isa_best(), 1, NULL);
  while (s.clock.t < s.clock.t_end) {
    run_to(&s, s.clock.step + 1);
    assert_true(s.clock.dt * 10 * s.clock.t * 128 <= 1.5); /* u = 10 t */
  }
  shut(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tolerance),   cmocka_unit_test(test_peer),        cmocka_unit_test(test_periodic_rate),
      cmocka_unit_test(test_same_bits),   cmocka_unit_test(test_members),     cmocka_unit_test(test_file_and_probes),
      cmocka_unit_test(test_older_state), cmocka_unit_test(test_end_of_time), cmocka_unit_test(test_courant)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
