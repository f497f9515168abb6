/* Fields with series of their own between walls on the GPU against the CPU, and against a published number. */
#include "tests/parity/diffusion_sides.h"

/* Fields with series of their own between walls: values and slopes that differ between ends and fields, quarter waves,
 * lifts that grow, vectors, fluxes and mixed derivatives. */
#define PAIR(one, two)                                                                                                 \
  "fields = {{ name = 'u', D = 0.02, sides = {" one "}, initial = function(x, y, z) return 0.5*math.cos(x + 2*y - z) " \
  "end }, { name = 'v', D = 0.02, sides = {" two                                                                       \
  "}, initial = function(x, y, z) return 0.5*math.sin(2*x - y + z) end "                                               \
  "}},"
#define FIXED(side) side "_low = { value = 0 }, " side "_high = { value = 0 },"
static const char *const walls[] = {
    /* one axis: two quarter waves; a slope at both ends that makes the lift grow */
    "grid = { n = {24}, size = {3}, boundary = 'no_flux' }," PAIR(
        "x_low = { value = 1 }, x_high = { slope = 0.5 }",
        "x_low = { slope = 0.2 }, x_high = { value = -1 }") "rates = function(u, v, x, t, u_x, v_x, u_xx, lap_v) "
                                                            "return v*u_x + 0.1*lap_v, u*v_x - 0.1*u_xx + 0.1*x*t end,",
    "grid = { n = {25}, size = {3}, boundary = 'fixed' }," PAIR(
        "x_low = { slope = 1 }, x_high = { slope = 0.5 }",
        "") "rates = function(u, v, u_x, v_x, v_xx) return u*v + 0.1*v_xx, u*u_x + v_x end,",
    /* plates: the free-slip flow, its temperature between values, and a potential of it */
    "grid = { n = {16, 11}, size = {2*math.pi, 1}, y = 'no_flux' }, solenoidal = 'u, w', fields = {"
    "{ name = 'u', D = 0.1, initial = function(x, y) return math.sin(x)*math.cos(math.pi*y) end },"
    "{ name = 'w', D = 0.1, sides = {" FIXED(
        "y") "}, initial = function(x, y) return math.cos(2*x)*math.sin(math.pi*y)"
             " end }, { name = 'T', D = 0.1, sides = { y_low = { value = 1 }, y_high = { value = 0 } },"
             " initial = function(x, y) return 1 - y + 0.3*math.sin(x)*math.sin(2*math.pi*y) end }},"
             "derived = { q = function(kx, ky, w) return -w/(kx^2 + ky^2) end },"
             "rates = function(u, w, T, u_x, u_y, w_x, w_y, T_x, T_y, T_xy, q_y) return -u*u_x - w*u_y,"
             " 3*T - u*w_x - w*w_y, -u*T_x - w*T_y + 0.1*T_xy + 0.1*q_y end,",
    /* the same along x, with members */
    "members = 2, grid = { n = {11, 10}, size = {1, 2*math.pi}, x = 'no_flux' }, solenoidal = 'u, w', fields = {"
    "{ name = 'u', D = 0.1, sides = {" FIXED(
        "x") "}, initial = function(x, y) return math.cos(2*y)*math.sin(math.pi*x)"
             " end }, { name = 'w', D = 0.1, initial = function(x, y) return math.sin(y)*math.cos(math.pi*x) end }},"
             "rates = function(u, w, u_x, u_y, w_x, w_y, member) return -u*u_x - w*u_y, member*u - u*w_x - w*w_y end,",
    /* boxes: all axes have walls */
    "grid = { n = {9, 10}, size = {3, 2}, boundary = 'no_flux' }, solenoidal = 'u, v'," PAIR(
        FIXED("x"),
        FIXED("y")) "rates = function(u, v, u_x, u_y, v_x, v_y, u_xy, lap_u) return -u*u_x - v*u_y + 0.1*u_xy,"
                    " -u*v_x - v*v_y + 0.05*lap_u end,",
    "grid = { n = {8, 7, 6}, size = {3, 2, 2}, boundary = 'no_flux' }, solenoidal = 'u, v, w', fields = {"
    "{ name = 'u', D = 0.05, sides = {" FIXED(
        "x") "}, initial = function(x, y, z) return math.sin(x)*math.cos(y + z)"
             " end }, { name = 'v', D = 0.05, sides = {" FIXED(
                 "y") "}, initial = function(x, y, z) return math.sin(y)*math.cos("
                      "2*x - z) end }, { name = 'w', D = 0.05, sides = {" FIXED(
                          "z") "} }},"
                               "rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z) return -u*u_x - "
                               "v*u_y - w*u_z,"
                               " -u*v_x - v*v_y - w*v_z, -u*w_x - v*w_y - w*w_z end,",
    /* a channel of quarter waves, in three axes of which one is periodic, with noise */
    "grid = { n = {6, 8, 7}, size = {3, 4, 2}, boundary = 'no_flux', y = 'periodic' }, solenoidal = 'u, v, w', fields "
    "= {"
    "{ name = 'u', D = 0.05, fluctuation = 0.05, sides = { x_low = { value = 0 }, z_low = { value = 0 } },"
    " initial = function(x, y, z) return math.sin(x)*math.cos(y + z) end },"
    "{ name = 'v', D = 0.05, fluctuation = 0.05, sides = { x_high = { value = 0 }, z_low = { value = 0 } } },"
    "{ name = 'w', D = 0.05, fluctuation = 0.05, sides = { x_high = { value = 0 }, z_high = { value = 0 } } }},"
    "rates = function(u, v, w, u_x, u_y, v_z, w_z) return v*u_y + w, u*v_z, v*w_z - u_x end,",
    /* fluxes: through quarter waves, between walls of the grid's kind, and with lifts along two axes */
    "grid = { n = {12, 9}, size = {3, 2}, boundary = 'no_flux' }," PAIR(
        "x_low = { value = 0.5 }",
        FIXED(
            "y")) "flux = function(u, v, u_x, u_y, v_x, y) return -0.1*u_x*(1 + u^2), -0.1*u_y + v, u*v_x, v^2 + y end,"
                  "rates = function(v, u_x) return u_x*v, 0.3 + 0*v end,",
    "grid = { n = {8, 9, 10}, size = {3, 2, 2}, y = 'fixed', x = 'no_flux' }," PAIR(
        "", "") "flux = function(u, v, u_x, v_z) return -0.1*u_x, u*v, u^2, v, v*u, 0.1*v_z end,",
    "grid = { n = {10, 9}, size = {3, 2}, boundary = 'no_flux' }," PAIR("x_low = { slope = 0.3 }, x_high = { slope = "
                                                                        "-0.4 }, y_low = { slope = 0.1 }, y_high = { "
                                                                        "slope = 0.2 }",
                                                                        "x_low = { value = 0.5 }, x_high = { value = "
                                                                        "0.5 }, y_low = { value = 0.5 }, y_high = { "
                                                                        "value = 0.5 }") "rates = function(u, v, u_x, "
                                                                                         "u_y, v_xy) return v*u_x + "
                                                                                         "u_y, u - v + 0.1*v_xy end,",
    /* one cell along a walled or a periodic axis, and cross diffusion of quarter waves */
    "grid = { n = {1, 9, 6}, size = {1, 2, 3}, y = 'no_flux', z = 'no_flux' }," PAIR(
        "y_low = { value = 0 }",
        "z_high = { value = 0 }") "rates = function(u, v, u_y, v_z, u_x) return v*u_y + u_x, u + v_z end,",
    "grid = { n = {8, 1}, size = {2, 1}, y = 'no_flux' }," PAIR(
        "y_low = { value = 0 }", FIXED("y")) "rates = function(u, v, u_y, v_y, v_x) return v + u_y, u + v_y + v_x end,",
    "grid = { n = {12, 10}, size = {3, 2}, y = 'no_flux' }, fields = {"
    "{ name = 'u', D = 0.05, cross = {0, 0.02}, sides = { y_high = { value = 0 } }, initial = function(x, y) return"
    " math.cos(2*x) + y end }, { name = 'v', D = 0.04, cross = {0.01, 0}, sides = { y_high = { value = 0.3 } },"
    " initial = function(x, y) return math.sin(x*y) end }}, rates = function(u, v, u_y) return u*v, u_y end,",
};

static void test_walls(void **state) {
  static const char *const some[] = {"lie", "etdrk4", "etd1", "etdrk2"};
  (void)state;
  for (size_t c = 0; c < sizeof walls / sizeof *walls; c++)
    for (int i = 0; i < 4; i++) {
      const bool single = ((int)c + i) % 2;
      char text[4096];
      if (!is_mine()) continue;
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', seed = 9, %s integrate = { scheme = '%s', dt = 0.002,"
               " t_end = 0.01, dealias = %s } }",
               single ? "single" : "double", walls[c], some[i], i > 1 && !strstr(walls[c], "1}") ? "true" : "false");
      compare_sides(parameters_of(text), "cuFFT", flows_bound(single));
    }
}

/* Rates of the fields alone: split schemes, the exact solution, and adaptive steps. */
static void test_sides(void **state) {
  static const char *const fields = "grid = { n = {16, 9}, size = {3, 2}, y = 'no_flux' }," PAIR(
      "y_low = { slope = 1 }, y_high = { slope = 0.5 }", "y_low = { value = 0.5 }, y_high = { slope = 0.2 }");
  static const char *const steps[] = {"scheme = 'strang', dt = 0.01",
                                      "scheme = 'lie', dt = 0.01",
                                      "scheme = 'etdrk4', dt = 'auto', rtol = 1e-5",
                                      "scheme = 'etdrk2', dt = 'auto', rtol = 1e-5",
                                      "scheme = 'etdrk4', dt = 'auto', courant = 0.05, velocity = 'u, v'",
                                      "scheme = 'exact'"};
  (void)state;
  for (int i = 0; i < 12; i++) {
    const bool single = i >= 6;
    char text[4096];
    if (!is_mine() || (single && strstr(steps[i % 6], "auto"))) continue; /* in single the steps may differ */
    snprintf(text, sizeof text, "return sim.diffusion { precision = '%s', %s %s integrate = { %s, t_end = 0.1 } }",
             single ? "single" : "double", fields,
             strstr(steps[i % 6], "exact") ? "" : "rates = function(u, v, y, t) return u*v + t, u - v*y end,",
             steps[i % 6]);
    compare_sides(parameters_of(text), NULL, flows_bound(single) * (single ? 1 : 10));
  }
}

/* Free plates by velocities on the GPU. At the critical Rayleigh number 27 pi^4/4 = 657.511 (1 +- 1e-6) of Rayleigh
 * (Phil. Mag. 32, 1916) the flow grows by K/2 (Ra/Ra_c - 1), K = k^2 + pi^2 = 3 pi^2/2, to the second order of 1e-6.
 * Its amplitude 1e-6 K adds 1e-10 of nonlinear terms, and rounding 1e-16/1e-6 in 2 units of time: 1e-4 of the rate. */
static void test_critical_rayleigh_number(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    char text[2048];
    double squares[2];
    system_run s;
    if (!is_mine()) continue;
    snprintf(
        text, sizeof text,
        "local Ra = 27*math.pi^4/4*(1 + %d*1e-6) local k = math.pi/math.sqrt(2) local K = k^2 + math.pi^2 "
        "return sim.diffusion { grid = { n = {8, 8}, size = {2*math.pi/k, 1}, y = 'no_flux' }, solenoidal = 'u, v',"
        "fields = {{ name = 'u', D = 1, initial = function(x, y) return math.pi/k*1e-6*K*math.sin(k*x)*math.cos(math.pi"
        "*y) end }, { name = 'v', D = 1, sides = { y_low = { value = 0 }, y_high = { value = 0 } },"
        " initial = function(x, y) return -1e-6*K*math.cos(k*x)*math.sin(math.pi*y) end },"
        "{ name = 'T', D = 1, sides = { y_low = { value = 1 }, y_high = { value = 0 } },"
        " initial = function(x, y) return 1 - y - 1e-6*math.cos(k*x)*math.sin(math.pi*y) end }},"
        "rates = function(u, v, T, u_x, u_y, v_x, v_y, T_x, T_y)"
        " return -u*u_x - v*u_y, -u*v_x - v*v_y + Ra*T, -u*T_x - v*T_y end,"
        "integrate = { scheme = 'etdrk4', dt = 1/64, t_end = 2 } }",
        sign);
    diffusion_parameters *p = parameters_of(text);
    begin(&s, p, &sim_backend_cuda, NULL);
    for (int i = 0; i < 2; i++) {
      run_to(&s, 64 * (i + 1));
      look(&s);
      double *v = on_host(&s, 2);
      squares[i] = 0;
      for (int c = 0; c < 64; c++) squares[i] += v[c] * v[c];
      free(v);
    }
    const double rate = log(squares[1] / squares[0]) / 2, want = sign * 1e-6 * 0.75 * 9.869604401089358;
    if (!(fabs(rate - want) < 1e-4 * fabs(want))) fail_msg("sign %d: rate %.6g, expected %.6g", sign, rate, want);
    printf("free plates at 657.511 (1 %+d 1e-6): rate %.6g, expected %.6g\n", sign, rate, want);
    end(&s);
    release(p);
  }
}

static void test_restart(void **state) {
  (void)state;
  for (size_t c = 0; c < 7; c += 2)
    if (is_mine()) compare_restart(walls[c]);
}

int main(int argc, char **argv) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  if (argc == 1) return run_shared(argv[0]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_walls), cmocka_unit_test(test_sides),
                                     cmocka_unit_test(test_critical_rayleigh_number), cmocka_unit_test(test_restart)};
  set_share(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
