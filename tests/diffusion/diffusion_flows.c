/* Derived fields, second derivatives, vectors without divergence, and fluxes. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

/* Computes a row of a table of one run. */
static void row(system_run *s, int table, double *values) {
  must(diffusion_model.observe(s->self, &s->clock, table, values), "observe");
}

/* ---- against a separate code in NumPy: tests/diffusion/flows.py ---- */

enum { REFERENCE = 512 };

static const char vorticity[] =
    "grid = { n = {16, 16}, size = {2*math.pi, 2*math.pi} },"
    "fields = {{ name = 'w', D = 0.02, initial = function(x, y) return math.sin(x)*math.cos(2*y) +"
    " math.cos(3*x + 1)*math.sin(y) + math.cos(2*x - 3*y) end }},"
    "derived = { psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end },"
    "rates = function(w_x, w_y, psi_x, psi_y) return psi_y*w_x - psi_x*w_y end,";
#define NAVIER_STOKES_START                                                                                            \
  "grid = { n = {8, 8, 8}, size = {2*math.pi, 2*math.pi, 2*math.pi} }, solenoidal = 'u, v, w',"                        \
  "fields = {{ name = 'u', D = 0.05, initial = function(x, y, z) return math.sin(x)*math.cos(y)*math.cos(z) +"         \
  " 0.3*math.sin(2*y + z) + 0.1*math.cos(2*x) end },"                                                                  \
  "{ name = 'v', D = 0.05, initial = function(x, y, z) return -math.cos(x)*math.sin(y)*math.cos(z) +"                  \
  " 0.2*math.cos(x - 2*z + y) end },"                                                                                  \
  "{ name = 'w', D = 0.05, initial = function(x, y) return 0.2*math.sin(x + 2*y) end }},"
static const char convective[] =
    NAVIER_STOKES_START "rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z)"
                        " return -u*u_x - v*u_y - w*u_z, -u*v_x - v*v_y - w*v_z, -u*w_x - v*w_y - w*w_z end,";
#define CURL                                                                                                           \
  "derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end,"                                                  \
  " b = function(kx, kz, u, w) return 0, kz*u - kx*w end, c = function(kx, ky, u, v) return 0, kx*v - ky*u end },"
static const char rotational[] =
    NAVIER_STOKES_START CURL "rates = function(u, v, w, a, b, c) return v*c - w*b, w*a - u*c, u*b - v*a end,";
static const char by_flux[] =
    NAVIER_STOKES_START "flux = function(u, v, w) return u*u, u*v, u*w, v*u, v*v, v*w, w*u, w*v, w*w end,";
static const char porous[] =
    "grid = { n = {12, 12}, size = {2*math.pi, 2*math.pi} },"
    "fields = {{ name = 'u', D = 0.02, initial = function(x, y) return 1 + 0.5*math.sin(x)*math.cos(y + 1) end }},"
    "flux = function(u, u_x, u_y, x, y) return -(0.1 + 0.05*math.sin(x)*math.cos(y))*u_x*(1 + u^2),"
    " -(0.1 + 0.05*math.cos(y))*u_y end,";

/* The order in dt of every scheme, and the fields themselves. The errors of dt and dt/2 differ by 2^order within 20 %:
 * the next power of dt (dt = 1/40 or less, rates up to some 5 for a unit of time) adds a tenth. The last error is below
 * 1e-7. A fault of any term would exceed that by far: products of the fields are of order 1. */
static void test_reference(void **state) {
  static const struct {
    const char *name, *text, *dealias;
    int fields;
  } cases[] = {{"vorticity", vorticity, "true", 1},
               {"navier_stokes", convective, "true", 3},
               {"navier_stokes", rotational, "true", 3},
               {"navier_stokes", by_flux, "true", 3},
               {"porous", porous, "false", 1}};
  static const char *const schemes[] = {"lie", "etd1", "etdrk2", "etdrk4"};
  static const int orders[] = {1, 1, 2, 4};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int scheme = 0; scheme < 4; scheme++) {
      double error[2] = {0, 0};
      for (int half = 0; half < 2; half++) {
        system_run s;
        double want[REFERENCE];
        whole(&s, "return sim.diffusion { %s integrate = { scheme = '%s', dt = %.17g, t_end = 0.5, dealias = %s } }",
              cases[c].text, schemes[scheme], 0.5 / (20 << half), cases[c].dealias);
        for (int f = 0; f < cases[c].fields; f++) {
          read_reference("flows.txt", cases[c].name, f, cells(&s), want);
          for (int64_t i = 0; i < cells(&s); i++) error[half] = fmax(error[half], fabs(value(&s, f, i) - want[i]));
        }
        shut(&s);
      }
      const double order = log2(error[0] / error[1]);
      if (!(fabs(order - orders[scheme]) < 0.26) || !(scheme < 3 || error[1] < 1e-7))
        fail_msg("%s %zu by %s: errors %g and %g, order %.2f", cases[c].name, c, schemes[scheme], error[0], error[1],
                 order);
    }
}

/* Budgets by |k| at the end of runs with dt = "auto", by error estimates and by a Courant number, against the same
 * separate code. They are products of two or three factors that are below 3, with up to three wavenumbers below 7, or
 * four below 3.5 in sums of three terms: where the fields are off by e, budgets are off by less than 1000 e. With e
 * below 1e-9 that is a ninetieth of the greatest value of every table. A restart from the fourth step has the same
 * rows. */
static void test_adaptive_budgets(void **state) {
  static const char *const steps[] = {"rtol = 1e-9, atol = 0", "courant = 0.05, velocity = 'u, v, w', dt_max = 1/32"};
  static const struct {
    const char *name, *text, *tables;
    int fields;
  } cases[] = {{"vorticity", vorticity, "transfer = 5,", 1},
               {"navier_stokes", convective, "transfer = 5, enstrophy = 5, helicity = 5,", 3},
               {"navier_stokes", by_flux, "transfer = 5, enstrophy = 5, helicity = 5,", 3}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int i = 0; i < (c > 0 ? 2 : 1); i++) {
      system_run s, again;
      char text[4096];
      double want[REFERENCE], error = 0;
      int compared = 0;
      snprintf(text, sizeof text,
               "return sim.diffusion { %s %s integrate = { scheme = 'etdrk4', dt = 'auto', %s, t_end = 0.5,"
               " dealias = true } }",
               cases[c].text, cases[c].tables, steps[i]);
      restart_at(4, text, &s, &again);
      if (!(s.clock.step > 8)) fail_msg("%s: %lld steps", text, (long long)s.clock.step);
      for (int f = 0; f < cases[c].fields; f++) {
        read_reference("flows.txt", cases[c].name, f, cells(&s), want);
        for (int64_t k = 0; k < cells(&s); k++) error = fmax(error, fabs(value(&s, f, k) - want[k]));
      }
      if (!(error < 1e-9)) fail_msg("%s: fields are off by %g", text, error);
      for (int t = 0; s.p->tables[t]; t++) {
        double row[2][SIM_COLUMNS_MAX];
        char name[96];
        int columns = 0;
        while (s.p->tables[t]->columns[columns].name) columns++;
        must(diffusion_model.observe(s.self, &s.clock, t, row[0]), "observe");
        must(diffusion_model.observe(again.self, &again.clock, t, row[1]), "observe");
        if (memcmp(row[0], row[1], (size_t)columns * sizeof(double)) != 0)
          fail_msg("%s: a restart changes the table %s", text, s.p->tables[t]->name);
        if (t == 0) continue; /* statistics of the fields */
        snprintf(name, sizeof name, "%s.%s", cases[c].name, s.p->tables[t]->name);
        read_reference("flows.txt", name, 0, columns, want);
        for (int k = 0; k < columns; k++)
          if (!(fabs(row[0][k] - want[k]) < 1000 * error + 1e-13))
            fail_msg("%s, column %d: %.15g, not %.15g; fields are off by %g", name, k, row[0][k], want[k], error);
        compared++;
      }
      assert_int_equal(compared, c > 0 ? 8 : 2);
      shut(&again);
      shut(&s);
    }
}

/* ---- exact solutions ---- */

/* Taylor and Green's vortices decay without change of form. The advection of the vorticity is 0, and that of the
 * velocity is a gradient, which the projection removes. Rounding of some 100 steps of transforms: below 1e-12. */
static void test_taylor_green(void **state) {
  static const char *const schemes[] = {"lie", "etd1", "etdrk2", "etdrk4"};
  const double want = exp(-2 * 0.1 * 1.0);
  (void)state;
  for (int scheme = 0; scheme < 4; scheme++) {
    system_run s;
    whole(&s,
          "return sim.diffusion { grid = { n = {20, 18}, size = {2*math.pi, 2*math.pi} }, fields = {{ name = 'w',"
          "D = 0.1, initial = function(x, y) return 2*math.sin(x)*math.sin(y) end }},"
          "derived = { psi = function(k2, w) return -w/k2 end },"
          "rates = function(w_x, w_y, psi_x, psi_y) return psi_y*w_x - psi_x*w_y end,"
          "integrate = { scheme = '%s', dt = 0.01, t_end = 1 } }",
          schemes[scheme]);
    for (int64_t i = 0; i < cells(&s); i++) {
      const double x = ((double)(i % 20) + 0.5) * pi / 10, y = ((double)(i / 20) + 0.5) * pi / 9;
      assert_true(fabs(value(&s, 0, i) - 2 * want * sin(x) * sin(y)) < 1e-12);
    }
    shut(&s);
    whole(
        &s,
        "return sim.diffusion { grid = { n = {20, 18}, size = {2*math.pi, 2*math.pi} }, solenoidal = 'u, v', fields = {"
        "{ name = 'u', D = 0.1, initial = function(x, y) return math.sin(x)*math.cos(y) end },"
        "{ name = 'v', D = 0.1, initial = function(x, y) return -math.cos(x)*math.sin(y) end }},"
        "rates = function(u, v, u_x, u_y, v_x, v_y) return -u*u_x - v*u_y, -u*v_x - v*v_y end,"
        "integrate = { scheme = '%s', dt = 0.01, t_end = 1 } }",
        schemes[scheme]);
    for (int64_t i = 0; i < cells(&s); i++) {
      const double x = ((double)(i % 20) + 0.5) * pi / 10, y = ((double)(i / 20) + 0.5) * pi / 9;
      assert_true(fabs(value(&s, 0, i) - want * sin(x) * cos(y)) < 1e-12);
      assert_true(fabs(value(&s, 1, i) + want * cos(x) * sin(y)) < 1e-12);
    }
    shut(&s);
  }
}

/* Arnold, Beltrami and Childress: curl u = u, so that (u . grad) u = grad u^2/2, and u decays as exp(-nu t). With odd
 * lengths, and with paired rows (32 cells along x). Three axes leave no axis for members. */
static void test_beltrami(void **state) {
  static const char *const n[] = {"9, 7, 11", "32, 6, 6", "6, 8, 10"};
  (void)state;
  for (int c = 0; c < 3; c++) {
    system_run s;
    double values[2];
    whole(&s,
          "return sim.diffusion { grid = { n = {%s}, size = {2*math.pi, 2*math.pi, 2*math.pi} }, solenoidal = 'u v w',"
          "fields = { { name = 'u', D = 0.1, initial = function(y, z) return math.sin(z) + 0.5*math.cos(y) end },"
          "{ name = 'v', D = 0.1, initial = function(x, z) return 0.7*math.sin(x) + math.cos(z) end },"
          "{ name = 'w', D = 0.1, initial = function(x, y) return 0.5*math.sin(y) + 0.7*math.cos(x) end } }," CURL
          "rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z)"
          " return -u*u_x - v*u_y - w*u_z, -u*v_x - v*v_y - w*v_z, -u*w_x - v*w_y - w*w_z end,"
          "observe = { div = { function(u_x, v_y, w_z) return math.abs(u_x + v_y + w_z) end, reduce = 'max' },"
          "curl = { function(u, v, w, a, b, c) return math.abs(a - u) + math.abs(b - v) + math.abs(c - w) end,"
          " reduce = 'max' } },"
          "integrate = { scheme = 'etdrk4', dt = 0.02, t_end = 1 } }",
          n[c]);
    const grid_shape g = diffusion_grid_of(s.p);
    for (int64_t i = 0; i < cells(&s); i++) {
      const double x = grid_centre(&g, 0, i % g.n[0]), y = grid_centre(&g, 1, i / g.n[0] % g.n[1]);
      const double z = grid_centre(&g, 2, i / g.n[0] / g.n[1]), by = exp(-0.1);
      assert_true(fabs(value(&s, 0, i) - by * (sin(z) + 0.5 * cos(y))) < 1e-12);
      assert_true(fabs(value(&s, 1, i) - by * (0.7 * sin(x) + cos(z))) < 1e-12);
      assert_true(fabs(value(&s, 2, i) - by * (0.5 * sin(y) + 0.7 * cos(x))) < 1e-12);
    }
    row(&s, 1, values);
    assert_true(values[0] < 1e-14 * 4 && values[1] < 1e-13); /* three derivatives of fields of 1.5 */
    shut(&s);
  }
}

/* Each kind of derivative of a plane wave, and of a potential -u/k^2, in observed functions at the start: its factor
 * times the wave, to rounding times k^2 <= 281 of the highest mode (single: the fields themselves are rounded to 6e-8).
 * Also through steps, where u_t = u_xx and so on multiplies the wave by exp(factor t). ETDRK4 with rates h of 6/64 has
 * an error of 0.1^5/120 in each of 4 steps. Modes with kx ky < 0 grow by exp(60/16) = 43 where u_t = u_xy: rounding
 * stays below 1e-5 in single precision. */
static void test_derivatives(void **state) {
  static const char *const kinds[] = {"u_xx", "u_yy", "u_zz", "u_xy", "u_xz", "u_yz", "lap_u", "p", "p_xx", "lap_p"};
  static const double factors[] = {-1, -4, -1, -2, 1, 2, -6, -1.0 / 6, 1.0 / 6, 1};
  (void)state;
  for (int single = 0; single < 2; single++)
    for (int kind = 0; kind < 10; kind++) {
      system_run s;
      char text[1024];
      double values[1];
      snprintf(
          text, sizeof text,
          "return sim.diffusion { precision = '%s', grid = { n = {%s, 9, 6}, size = {2*math.pi, 2*math.pi,"
          " 2*math.pi} }, fields = {{ name = 'u', initial = function(x, y, z) return math.sin(x + 2*y - z) end }},"
          "derived = { p = function(kx, ky, kz, u) return -u/(kx^2 + ky^2 + kz^2) end },"
          "rates = function(%s) return %s end, observe = { gap = { function(u, %s) return math.abs(%s - (%.17g)*u) end,"
          " reduce = 'max' } }, integrate = { scheme = 'etdrk4', dt = 1/64, t_end = 1/16 } }",
          single ? "single" : "double", kind % 2 ? "32" : "7", kinds[kind], kinds[kind], kinds[kind], kinds[kind],
          factors[kind]);
      open_with(&s, text, sim_isa_best(), 2, NULL);
      row(&s, 1, values);
      assert_true(values[0] < (single ? 6e-8 * 281 : 1e-12));
      run_to(&s, INT64_MAX);
      look(&s);
      const grid_shape g = diffusion_grid_of(s.p);
      for (int64_t i = 0; i < cells(&s); i++) {
        const double x = grid_centre(&g, 0, i % g.n[0]), y = grid_centre(&g, 1, i / g.n[0] % g.n[1]);
        const double z = grid_centre(&g, 2, i / g.n[0] / g.n[1]);
        assert_true(fabs(value(&s, 0, i) - exp(factors[kind] / 16) * sin(x + 2 * y - z)) < (single ? 1e-5 : 4e-7));
      }
      shut(&s);
    }
}

/* Between walls: u_xx, the Laplacian and potentials keep the kind of series. */
static void test_walls(void **state) {
  static const char *const kinds[] = {"no_flux", "fixed"};
  (void)state;
  for (int kind = 0; kind < 2; kind++)
    for (int periodic = 0; periodic < 2; periodic++) { /* walls along all axes, or y periodic */
      system_run s;
      double values[2];
      const double k2 = pi * pi * (4.0 + (periodic ? 16 : 9));
      whole(&s,
            "return sim.diffusion { grid = { n = {20, 18}, size = {1, 1}, boundary = '%s', y = '%s' }, fields = {"
            "{ name = 'u', initial = function(x, y) return math.%s(2*math.pi*x)*math.%s(%d*math.pi*y) end }},"
            "derived = { p = function(kx, ky, u) return -u/(kx^2 + ky^2) end },"
            "rates = function(lap_u, p, u_xx, u) return 0.01*lap_u + p + 0.01*u_xx end,"
            "observe = { a = { function(u, u_yy) return math.abs(u_yy + %.17g*u) end, reduce = 'max' },"
            " b = { function(u, p) return math.abs(p*%.17g + u) end, reduce = 'max' } },"
            "integrate = { scheme = 'etdrk4', dt = 0.01, t_end = 0.25 } }",
            kinds[kind], periodic ? "periodic" : kinds[kind], kind ? "sin" : "cos", kind ? "sin" : "cos",
            periodic ? 4 : 3, k2 - 4 * pi * pi, k2);
      const double by = exp(0.25 * (-0.01 * k2 - 1 / k2 - 0.04 * pi * pi));
      for (int64_t i = 0; i < cells(&s); i++) {
        const double x = 2 * pi * ((double)(i % 20) + 0.5) / 20,
                     y = (periodic ? 4 : 3) * pi * ((double)(i / 20) + 0.5) / 18;
        assert_true(fabs(value(&s, 0, i) - by * (kind ? sin(x) * sin(y) : cos(x) * cos(y))) < 1e-8);
      }
      row(&s, 1, values);
      assert_true(values[0] < 1e-11 && values[1] < 1e-12); /* k^2 up to 6000 times rounding */
      shut(&s);
    }
}

/* First derivatives between walls turn cosine series into sine series and back. An observed derivative is exact to
 * rounding, along each axis of grids of 1 to 3 axes, beside periodic axes and walls. So is a step by Lie's scheme
 * without L, u + dt u_a^2. */
static void test_wall_derivatives(void **state) {
  (void)state;
  for (int c = 0; c < 2 * 2 * 2 * 6; c++) {
    static const int rank[] = {1, 2, 2, 3, 3, 3}, axis[] = {0, 0, 1, 0, 1, 2};
    const int r = rank[c % 6], a = axis[c % 6], fixed = c / 6 % 2, walls = c / 12 % 2, single = c / 24;
    static const char *const n[] = {"10", "10, 9", "10, 9, 6"}, *const size[] = {"1", "1, 1", "1, 1, 1"};
    const char letter = "xyz"[a];
    system_run s;
    double values[1];
    whole(&s,
          "return sim.diffusion { precision = '%s', grid = { n = {%s}, size = {%s}, %s %c = '%s' },"
          "fields = {{ name = 'u', initial = function(%c) return math.%s(2*math.pi*%c) end }},"
          "rates = function(u_%c) return u_%c^2 end, observe = { gap = { function(u, u_%c, %c)"
          " return math.abs(u_%c - %s2*math.pi*math.%s(2*math.pi*%c)) end, reduce = 'max' } },"
          "integrate = { scheme = 'lie', dt = 2^-20, t_end = 2^-20 } }",
          single ? "single" : "double", n[r - 1], size[r - 1], walls && r > 1 ? "boundary = 'no_flux'," : "", letter,
          fixed ? "fixed" : "no_flux", letter, fixed ? "sin" : "cos", letter, letter, letter, letter, letter, letter,
          fixed ? "" : "-", fixed ? "cos" : "sin", letter);
    const grid_shape g = diffusion_grid_of(s.p);
    for (int64_t i = 0; i < cells(&s); i++) {
      const int64_t place = a == 0 ? i % g.n[0] : a == 1 ? i / g.n[0] % g.n[1] : i / g.n[0] / g.n[1];
      const double x = 2 * pi * grid_centre(&g, a, place), slope = 2 * pi * (fixed ? cos(x) : -sin(x));
      if (fixed) continue; /* u_a^2 is even there, so its sine series is not exact */
      assert_true(fabs(value(&s, 0, i) - cos(x) - slope * slope * 0x1p-20) < (single ? 1e-6 : 1e-13));
    }
    /* after the step, which adds 4 pi^2 2^-20 to the derivative of a function with derivative 4 pi */
    row(&s, 1, values);
    assert_true(values[0] < 4 * pi * pi * 0x1p-20 * 30);
    shut(&s);
    char text[sizeof current];
    memcpy(text, current, sizeof text);
    open_with(&s, text, sim_isa_best(), 2, NULL);
    row(&s, 1, values);
    assert_true(values[0] < (single ? 3e-5 : 1e-13)); /* rounding of u times the highest wavenumber, 31 */
    shut(&s);
  }
}

/* Convection between free plates at y = 0 and 1. */
#define CONVECTION                                                                                                     \
  "derived = { psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end },"                                               \
  "rates = function(w, T, w_x, w_y, T_x, T_y, psi_x, psi_y)"                                                           \
  " return psi_y*w_x - psi_x*w_y + Ra*T_x, psi_y*T_x - psi_x*T_y end,"

/* Rolls with k = pi/sqrt(2) neither grow nor decay at Ra = 27 pi^4/4 = 657.511. Near it they grow by K/2 (Ra/Ra_c - 1),
 * K = k^2 + pi^2 (Prandtl number 1): at 1e-6 above, by 7.4e-6 for a unit of time. This is measured from t = 1 on, when
 * the other mode has decayed by exp(-2 K). Rolls of 1e-6 change the mean by 1e-12. The bound is 1e-4 of that rate. */
static void test_critical_rayleigh_number(void **state) {
  (void)state;
  system_run s;
  double t_1 = 0, t_2 = 0;
  open_with(&s,
            "local Ra = 27*math.pi^4/4*(1 + 1e-6) local k = math.pi/math.sqrt(2) local K = k^2 + math.pi^2 "
            "return sim.diffusion { grid = { n = {8, 8}, size = {2*math.pi/k, 1}, y = 'fixed' }, fields = {"
            "{ name = 'w', D = 1, initial = function(x, y) return -1e-6*K*math.sin(k*x)*math.sin(math.pi*y) end },"
            "{ name = 'T', D = 1, walls = {1, 0}, initial = function(x, y)"
            " return 1 - y + 1e-6*k/K*math.cos(k*x)*math.sin(math.pi*y) end }}," CONVECTION
            "integrate = { scheme = 'etdrk4', dt = 1/64, t_end = 2 } }",
            sim_isa_best(), 1, NULL);
  run_to(&s, 64);
  look(&s);
  for (int64_t i = 0; i < cells(&s); i++) t_1 += value(&s, 0, i) * value(&s, 0, i);
  run_to(&s, INT64_MAX);
  look(&s);
  for (int64_t i = 0; i < cells(&s); i++) t_2 += value(&s, 0, i) * value(&s, 0, i);
  assert_true(fabs(log(t_2 / t_1) / 2 - 1e-6 * 0.75 * pi * pi) < 1e-4 * 1e-6 * 0.75 * pi * pi);
  shut(&s);
}

/* Convection at Ra = 5000, between walls and in a periodic box of twice the height, where w and T - (1 - y) are odd
 * about the walls. The series are the same, so the fields are the same except for rounding, which the flow stretches.
 * There T' = T - (1 - y), and its rate has the additional term psi_x. */
static void test_free_plates(void **state) {
  static const char *const walls = "y = 'fixed'", *const line = "walls = {1, 0},", *const whole_T = "1 - y + ";
  system_run a, b;
  (void)state;
  for (int twice = 0; twice < 2; twice++)
    whole(twice ? &b : &a,
          "local Ra = 5000 return sim.diffusion { grid = { n = {24, %d}, size = {2, %d}, %s }, fields = {"
          "{ name = 'w', D = 1, initial = function(x, y) return 20*math.sin(math.pi*x)*math.sin(math.pi*y) end },"
          "{ name = 'T', D = 1, %s initial = function(x, y) return %s0.1*math.cos(math.pi*x)*math.sin(math.pi*y) +"
          " 0.05*math.sin(math.pi*x)*math.sin(2*math.pi*y) end }}, %s"
          "integrate = { scheme = 'etdrk4', dt = 1/2048, t_end = 0.125, dealias = true } }",
          twice ? 32 : 16, 1 + twice, twice ? "" : walls, twice ? "" : line, twice ? "" : whole_T,
          twice ? "derived = { psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end },"
                  "rates = function(w, T, w_x, w_y, T_x, T_y, psi_x, psi_y)"
                  " return psi_y*w_x - psi_x*w_y + Ra*T_x, psi_y*T_x - psi_x*T_y + psi_x end,"
                : CONVECTION);
  double most[2] = {0, 0}, moved = 0;
  for (int64_t i = 0; i < cells(&a); i++) {
    const double y = ((double)(i / 24) + 0.5) / 16;
    most[0] = fmax(most[0], fabs(value(&a, 0, i) - value(&b, 0, i)));
    most[1] = fmax(most[1], fabs(value(&a, 1, i) - (1 - y) - value(&b, 1, i)));
    moved = fmax(moved, fabs(value(&a, 1, i) - (1 - y)));
  }
  assert_true(moved > 0.2);                        /* the flow is far from linear */
  assert_true(most[0] < 1e-10 && most[1] < 1e-12); /* w is of order 100 */
  shut(&a);
  shut(&b);
}

/* ---- invariants ---- */

/* Fluxes conserve the mass to rounding, for any flux; rates add exactly what they are. */
static void test_conserved(void **state) {
  (void)state;
  system_run s;
  double before[2 * DIFFUSION_STATISTICS], after[2 * DIFFUSION_STATISTICS];
  open_with(&s,
            "return sim.diffusion { grid = { n = {24, 20}, size = {1, 2} }, fields = { { name = 'u', D = 0.01,"
            " initial = function(x, y) return 1 + 0.3*math.sin(2*math.pi*x)*math.cos(math.pi*y) end },"
            "{ name = 'v', D = 0.01, initial = function(x) return math.cos(2*math.pi*x) end } },"
            "flux = function(u, v, u_x, u_y, x) return -0.01*u*u_x + 0.1*u*v, -0.01*u^2*u_y, 0.1*v^2*math.exp(u), v*u "
            "+ x end,"
            "rates = function(v) return 0, 0.3 + 0*v end, integrate = { scheme = 'etdrk4', dt = 1/256, t_end = 1 } }",
            sim_isa_best(), 2, NULL);
  row(&s, 0, before);
  run_to(&s, INT64_MAX);
  row(&s, 0, after);
  /* 1024 evaluations that each round the mean of u by 2^-53 at most, of either sign */
  assert_true(fabs(after[4] - before[4]) < 2 * 1024 * 0x1p-53 * 2);
  assert_true(fabs(after[9] - before[9] - 0.3 * 2) < 2 * 1024 * 0x1p-53 * 2);
  assert_true(fabs(after[1] - before[1]) > 1e-3);
  shut(&s);
}

/* Threads give the same bits, and a run that continues from a checkpoint too. */
static void test_same_bits(void **state) {
  static const char *const texts[] = {vorticity, rotational, by_flux, porous};
  (void)state;
  for (size_t c = 0; c < 4; c++)
    for (int adaptive = 0; adaptive < 3; adaptive++) {
      static const char *const velocities[] = {"w, w", "", "v, u, w", "u u"};
      char text[4096], steps[128];
      snprintf(steps, sizeof steps, "courant = 0.1, dt_max = 1, velocity = '%s',", velocities[c]);
      snprintf(text, sizeof text, "return sim.diffusion { %s integrate = { scheme = 'etdrk4', %s t_end = 0.125 } }",
               texts[c],
               adaptive == 0   ? "dt = 1/64,"
               : adaptive == 1 ? "rtol = 1e-7,"
                               : steps);
      system_run a, b, d;
      open_with(&a, text, sim_isa_best(), 1, NULL);
      run_to(&a, 4);
      look(&a);
      open_with(&b, text, sim_isa_best(), 3, &a.frame);
      open_with(&d, text, sim_isa_best(), 2, NULL);
      run_to(&a, INT64_MAX);
      run_to(&b, INT64_MAX);
      run_to(&d, INT64_MAX);
      look(&a);
      look(&b);
      look(&d);
      assert_true(a.clock.step == b.clock.step && a.clock.step == d.clock.step);
      assert_true(distance(&a, &b) == 0 && distance(&a, &d) == 0);
      shut(&a);
      shut(&b);
      shut(&d);
    }
}

/* The start without the part that has a divergence. For cos(x + y) in both components that part is everything except
 * the mean. */
static void test_projection(void **state) {
  (void)state;
  system_run s;
  whole(&s, "return sim.diffusion { grid = { n = {16, 12}, size = {2*math.pi, 2*math.pi} }, solenoidal = 'u, v',"
            "fields = { { name = 'u', initial = function(x, y) return 1 + math.cos(x + y) + math.sin(y) end },"
            "{ name = 'v', initial = function(x, y) return math.cos(x + y) end } }, integrate = { t_end = 1 } }");
  for (int64_t i = 0; i < cells(&s); i++) {
    assert_true(fabs(value(&s, 0, i) - 1 - sin(((double)(i / 16) + 0.5) * pi / 6)) < 1e-14);
    assert_true(fabs(value(&s, 1, i)) < 1e-14);
  }
  shut(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reference),
      cmocka_unit_test(test_adaptive_budgets),
      cmocka_unit_test(test_taylor_green),
      cmocka_unit_test(test_beltrami),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_walls),
      cmocka_unit_test(test_conserved),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_projection),
      cmocka_unit_test(test_wall_derivatives),
      cmocka_unit_test(test_critical_rayleigh_number),
      cmocka_unit_test(test_free_plates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
