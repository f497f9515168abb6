/* Derived fields, derivatives of every kind, vectors without divergence and fluxes on the GPU against the CPU. */
#include "tests/parity/diffusion_sides.h"

/* Rounding of four transforms in each of five steps, below log2(n) u each, times wavenumbers up to 30 and their squares
 * in steps of 0.002: dt k^2 = 2. The fields stay below 4. In single precision u = 6e-8: 5 x 4 x 5 u x 4 = 2.4e-5 if all
 * errors had one sign; in double 4e-14. */
static double bound_of(bool single) { return single ? 2.4e-5 : 1e-12; }

#define WAVES                                                                                                          \
  "{{ name = 'u', D = 0.02, initial = function(x, y, z) return math.cos(x + 2*y - z) + 0.3*math.sin(x) end },"         \
  " { name = 'v', D = 0.02, initial = function(x, y, z) return math.sin(2*x - y + z) end }}"
#define VELOCITY(more)                                                                                                 \
  "{{ name = 'u', D = 0.05, " more " initial = function(x, y, z) return math.sin(x)*math.cos(y)*math.cos(z) +"         \
  " 0.3*math.sin(2*y + z) + 0.1*math.cos(2*x) end },"                                                                  \
  "{ name = 'v', D = 0.05, " more " initial = function(x, y, z) return -math.cos(x)*math.sin(y)*math.cos(z) +"         \
  " 0.2*math.cos(x - 2*z + y) end },"                                                                                  \
  "{ name = 'w', D = 0.05, " more " initial = function(x, y) return 0.2*math.sin(x + 2*y) end }},"
#define CURL                                                                                                           \
  "derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end,"                                                  \
  " b = function(kx, kz, u, w) return 0, kz*u - kx*w end, c = function(kx, ky, u, v) return 0, kx*v - ky*u end },"     \
  "rates = function(u, v, w, a, b, c) return v*c - w*b, w*a - u*c, u*b - v*a end,"
#define CUBE(n) "grid = { n = {" n "}, size = {2*math.pi, 2*math.pi, 2*math.pi} },"

static const char *const texts[] = {
    /* second derivatives, the Laplacian and potentials: odd and even lengths, one cell, one axis */
    CUBE("10, 7, 9") "fields = " WAVES ", derived = { p = function(k2, u, v) return -(u - 0.5*v)/k2 end },"
                     "rates = function(u, v, u_xx, u_yz, lap_v, p, p_x, p_xy, lap_p) return 0.1*u_xx + v*u_yz + p, "
                     "lap_v*0.1 + p_x*u +"
                     " p_xy - lap_p end,",
    CUBE("8, 12, 6") "fields = " WAVES
                     ", derived = { p = function(kx, ky, kz, u, v) return u/(1 + kx^2 + 0.3*kx*ky), ky*v end },"
                     "rates = function(u, v, u_yy, v_xz, p_z, p) return 0.1*u_yy - p_z, 0.1*v*v_xz + p end,",
    CUBE("16, 1, 6") "fields = " WAVES ", derived = { p = function(kx, ky, u) return 0, kx*u + ky*u end },"
                     "rates = function(u, v, u_yy, v_xx, p, p_z) return 0.1*u_yy - p, 0.1*v_xx + p_z end,",
    "grid = { n = {33}, size = {6} }, fields = " WAVES ", derived = { g = function(k2, u) return math.sqrt(k2)*u end },"
    "rates = function(u, v, g, g_x, v_xx) return -g + g_x*v, v_xx*0.1 end,",
    /* members */
    "members = 3, grid = { n = {12, 10}, size = {6, 5} }, fields = " WAVES ","
    "derived = { p = function(kx, ky, u, member) return -member*u/(kx^2 + ky^2) end },"
    "rates = function(u, v, p_x, p_y, u_x, u_y, u_xy) return p_y*u_x - p_x*u_y, 0.1*u_xy*v end,",
    /* walls along the fast axis or others, with first derivatives between them and values at them */
    "grid = { n = {12, 9}, size = {3, 2}, boundary = 'no_flux' }, fields = " WAVES ","
    "derived = { p = function(kx, ky, u) return -u/(kx^2 + ky^2) end },"
    "rates = function(u, v, u_x, u_y, p_x, p_y, p_xx, lap_v) return p_y*u_x - p_x*u_y, 0.05*lap_v + p_xx end,",
    "grid = { n = {12, 10}, size = {3, 2}, boundary = 'fixed' }, fields = " WAVES ","
    "derived = { p = function(kx, ky, u) return -u/(kx^2 + ky^2) end },"
    "rates = function(u, v, u_x, u_y, p_x, p_y, v_yy) return p_y*u_x - p_x*u_y, 0.05*v_yy + p_x end,",
    "grid = { n = {10, 7, 8}, size = {3, 2, 4}, y = 'fixed', x = 'no_flux' }, fields = " WAVES ","
    "derived = { p = function(kx, ky, kz, u) return -u/(kx^2 + ky^2 + kz^2) end },"
    "rates = function(u, v, u_x, u_y, u_z, p_x, p_y, p_z, v_y) return p_y*u_x - p_x*u_y + p_z*u_z, 0.1*v_y*u end,",
    "grid = { n = {1, 9, 6}, size = {1, 2, 3}, boundary = 'fixed' }, fields = " WAVES ","
    "rates = function(u, v, u_x, u_y, v_z, u_zz) return u_x + u_y*v, 0.1*v_z + 0.05*u_zz end,",
    "grid = { n = {16, 12}, size = {2*math.pi, 1}, y = 'fixed' }, fields = {"
    "{ name = 'w', D = 1, initial = function(x, y) return 2*math.sin(x)*math.sin(math.pi*y) end },"
    "{ name = 'T', D = 1, walls = {1, 0}, initial = function(x, y) return 1 - y + 0.1*math.cos(x)*math.sin(math.pi*y)"
    " end }}, derived = { psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end },"
    "rates = function(w, T, w_x, w_y, T_x, T_y, psi_x, psi_y)"
    " return psi_y*w_x - psi_x*w_y + 20*T_x, psi_y*T_x - psi_x*T_y end,",
    /* vectors without divergence, at the start, of rates and of noise */
    CUBE("12, 9, 10") "solenoidal = 'u, v, w', fields = " VELOCITY("") CURL,
    CUBE("8, 12, 7") "solenoidal = 'u, v, w', fields = " VELOCITY("fluctuation = 0.05,") CURL,
    "grid = { n = {18, 14}, size = {2*math.pi, 2*math.pi} }, solenoidal = 'v, u', fields = " WAVES ","
    "rates = function(u, v, u_x, u_y, v_x, v_y) return -v*u_x - u*u_y, -v*v_x - u*v_y end,",
    "members = 2, grid = { n = {10, 9}, size = {2*math.pi, 2*math.pi} }, solenoidal = 'u, v', fields = " WAVES ","
    "rates = function(u, v, u_x, u_y, v_x, v_y, member) return -u*u_x - v*u_y, member - u*v_x - v*v_y end,",
    /* fluxes */
    CUBE("8, 9, 10") "solenoidal = 'u, v, w', fields = " VELOCITY(
        "") "flux = function(u, v, w) return u*u, u*v, u*w, v*u, v*v, v*w, w*u, w*v, w*w end,",
    "grid = { n = {16, 15}, size = {6, 5} }, fields = " WAVES ","
    "flux = function(u, v, u_x, u_y, x, y) return -0.1*u_x*(1 + u^2), -0.1*u_y + x, u*v, v^2 end,"
    "rates = function(v, u_x) return u_x*v, 0.3 + 0*v end,",
    "grid = { n = {33}, size = {6} }, fields = " WAVES ", flux = function(u, v, u_x) return u^2/2, 0.1*v*u_x end,",
};

/* Fields with series of their own between walls: values and slopes that differ from end to end and from field to field,
 * quarter waves, lifts that grow, vectors, fluxes and mixed derivatives. */
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
    "grid = { n = {8, 9, 10}, size = {3, 2, 2}, y = 'fixed', x = 'no_flux' }, fields = " WAVES ","
    "flux = function(u, v, u_x, v_z) return -0.1*u_x, u*v, u^2, v, v*u, 0.1*v_z end,",
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
      compare_sides(parameters_of(text), "cuFFT", bound_of(single));
    }
}

/* Rates of the fields alone: split schemes, the exact solution, and steps by their errors. */
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
    compare_sides(parameters_of(text), NULL, bound_of(single) * (single ? 1 : 10));
  }
}

/* Grids whose fields are transformed one by one, where some are read by their derivatives alone. 2048^2 cells: the
 * rounding of sums over longer lines is larger by log2(2048)/log2(16) = 3. */
static void test_large(void **state) {
  static const char *const large[] = {
      "grid = { n = {2048, 2048}, size = {6, 5} }, fields = " WAVES ","
      "derived = { p = function(kx, ky, u) return -u/(1 + kx^2 + ky^2) end },"
      "rates = function(v, u_x, u_y, p_x, p_y, p) return p_y*u_x - p_x*u_y, p*v end,",
      "grid = { n = {160, 164, 162}, size = {2*math.pi, 2*math.pi, 2*math.pi} }, solenoidal = 'u, v, w',"
      "fields = " VELOCITY("") CURL,
      "grid = { n = {2048, 2050}, size = {6, 5} }, fields = " WAVES ", flux = function(u, v, u_x, v_y)"
      " return -1e-4*u_x, 0.1*u*v, 0.1*v^2, -1e-4*v_y end, rates = function(v) return v, 0 end,"};
  (void)state;
  for (size_t c = 0; c < sizeof large / sizeof *large; c++) {
    char text[4096];
    if (!is_mine()) continue;
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = 'single', %s integrate = { scheme = 'etd1', dt = 0.0005,"
             " t_end = 0.0015, dealias = true } }",
             large[c]);
    compare_sides(parameters_of(text), "cuFFT", 3 * bound_of(true));
  }
}

static void test_flows(void **state) {
  static const char *const some[] = {"lie", "etdrk4", "etd1", "etdrk2"};
  (void)state;
  for (size_t c = 0; c < sizeof texts / sizeof *texts; c++)
    for (int i = 0; i < 4; i++) {
      const bool single = ((int)c + i) % 2, noise = strstr(texts[c], "members") || strstr(texts[c], "fluctuation");
      char text[4096];
      if (!is_mine()) continue;
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', seed = 9, %s integrate = { scheme = '%s', dt = 0.002,"
               " t_end = 0.01, dealias = %s } }",
               single ? "single" : "double", texts[c], some[i],
               noise || (i > 1 && !strstr(texts[c], "n = {1, ")) ? "true" : "false");
      compare_sides(parameters_of(text), "cuFFT", bound_of(single));
    }
}

/* The device decides the same steps. */
static void test_adaptive(void **state) {
  static const char *const steps[] = {"rtol = 1e-5", "rtol = 1e-5", "rtol = 1e-5", "courant = 0.05, dt_max = 1",
                                      "courant = 0.05, velocity = 'u, v'"};
  static const int of[] = {10, 9, 15, 10, 15};
  (void)state;
  for (int i = 0; i < 5; i++) {
    char text[4096];
    if (!is_mine()) continue;
    snprintf(text, sizeof text,
             "return sim.diffusion { %s integrate = { scheme = '%s', dt = 'auto', %s, t_end = 0.1 } }", texts[of[i]],
             i == 1 ? "etdrk2" : "etdrk4", steps[i]);
    compare_sides(parameters_of(text), "cuFFT", 1e-11);
  }
}

/* A run from a checkpoint goes on with the same bits. */
static void test_restart(void **state) {
  (void)state;
  const char *const of[] = {texts[9], texts[12], texts[15], walls[0], walls[2], walls[6]};
  for (size_t c = 0; c < sizeof of / sizeof *of; c++) {
    char text[4096];
    system_run one, two;
    if (!is_mine()) continue;
    snprintf(text, sizeof text,
             "return sim.diffusion { %s integrate = { scheme = 'etdrk4', dt = 0.002, t_end = 0.02 } }", of[c]);
    diffusion_parameters *p = parameters_of(text);
    begin(&one, p, &sim_backend_cuda, NULL);
    run_to(&one, 3);
    look(&one);
    sim_array saved = one.arrays[0];
    saved.data = on_host(&one, 0);
    saved.space = SIM_SPACE_HOST;
    sim_frame frame = {.clock = one.clock, .arrays = &saved, .array_count = 1};
    begin(&two, p, &sim_backend_cuda, &frame);
    run_to(&one, INT64_MAX), run_to(&two, INT64_MAX);
    look(&one), look(&two);
    for (int f = 0; f < (int)p->fields.count; f++) {
      void *a = on_host(&one, 1 + f), *b = on_host(&two, 1 + f);
      if (memcmp(a, b, sim_array_bytes(&one.arrays[1 + f])) != 0) fail_msg("%s: a restart changes bits", text);
      free(a), free(b);
    }
    free((void *)(uintptr_t)saved.data);
    end(&one), end(&two);
    release(p);
  }
}

/* A derived field that is not finite at a wavenumber other than those that are tested before the run. */
static void test_not_finite(void **state) {
  static const char *const grids[] = {"", "boundary = 'fixed'", "boundary = 'no_flux'"};
  static const char *const waves[] = {"2*math.pi*9", "math.pi*13", "math.pi*12.5"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    char text[2048];
    system_run s = {
        .setup = {
            .backend = &sim_backend_cuda, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 2, .folder = ""}};
    snprintf(
        text, sizeof text,
        "local k = %s return sim.diffusion { grid = { n = {48, 40}, size = {1, 1}, %s }, fields = {{ name = 'u', %s }},"
        "derived = { p = function(kx, ky, u) return u/((kx - k)*(kx + k)) end }, rates = function(p) return p end,"
        "integrate = { scheme = 'etd1', dt = 0.1, t_end = 1 } }",
        waves[i], grids[i], i == 2 ? "sides = { x_low = { value = 0 } }" : "");
    if (!is_mine()) continue;
    diffusion_parameters *p = parameters_of(text);
    const sim_status status = diffusion_model.create(p, &s.setup, &s.clock, &s.self);
    if (status != SIM_ERR_SCENARIO || !strstr(sim_error_last()->message, "derived.p"))
      fail_msg("%s: status %d", text, (int)status);
    release(p);
  }
}

int main(int argc, char **argv) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  if (argc == 1) return run_shared(argv[0]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_large),     cmocka_unit_test(test_flows),
                                     cmocka_unit_test(test_walls),     cmocka_unit_test(test_sides),
                                     cmocka_unit_test(test_adaptive),  cmocka_unit_test(test_restart),
                                     cmocka_unit_test(test_not_finite)};
  set_share(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
