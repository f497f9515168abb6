/* Derived fields, derivatives of every kind, vectors without divergence and fluxes on the GPU against the CPU. */
#include "tests/parity/diffusion_sides.h"

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
    /* output.fields: the host computes them from the fields of the device */
    CUBE("12, 9, 10") "solenoidal = 'u, v, w', fields = " VELOCITY("") CURL
    "output = { fields = 'a, c, q' }, observe = { q = { function(u_x, v_y, a) return u_x*v_y + 0.1*a"
    " end, reduce = 'max' } },",
    "grid = { n = {12, 9}, size = {3, 2}, y = 'no_flux' }, fields = " WAVES ", output = { fields = 'p, q' },"
    "derived = { p = function(k2, u) return -u/k2 end }, observe = { q = function(p_x, v_y) return p_x*v_y end },"
    "rates = function(u, v, u_x) return -u*u_x, u*v end,",
    /* derived fields of a field with values, and of one with slopes that differ */
    "grid = { n = {12, 10}, size = {2, 1}, boundary = 'no_flux' }, fields = {"
    "{ name = 'u', D = 0.1, sides = { x_low = { value = 1 }, x_high = { slope = 2 } }, initial = 1 },"
    "{ name = 'v', D = 0.1, sides = { x_low = { slope = 1 }, x_high = { slope = 3 } }, initial = 1 } },"
    "derived = { p = function(k2, u) return u/(1 + k2) end, q = function(k2, v) return v/(1 + 0.2*k2) end },"
    "rates = function(u, v, p, p_x, q, q_xx, q_y) return p - p_x*q_y, 0.1*q*q_xx - v*p end,",
    /* curls in rates, and curl and pressure in outputs */
    CUBE("12, 9, 10") "solenoidal = 'u, v, w', fields = " VELOCITY(
        "") "rates = function(u, v, w, curl_u, curl_v, curl_w)"
            " return v*curl_w - w*curl_v, w*curl_u - u*curl_w, u*curl_v - v*curl_u end,"
            "output = { fields = 'curl_v, pressure' },",
};

/* Grids whose fields are transformed one by one, where of some fields only derivatives are read. 2048^2 cells: the
 * rounding of sums over longer lines is larger by log2(2048)/log2(16) = 3. */
static void test_large(void **state) {
  static const char *const large[] = {
      "grid = { n = {2048, 2044}, size = {6, 5} }, fields = " WAVES ","
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
    compare_sides(parameters_of(text), "cuFFT", 3 * flows_bound(true));
  }
}

/* Flows with transforms in registers: all lengths of axes, one to four fields, an odd and an even number of inputs,
 * every scheme, with and without wavenumbers that are cut. */
#define SQUARE(n) "grid = { n = {" n "}, size = {2*math.pi, 2*math.pi} },"
#define VORTICITY                                                                                                      \
  "fields = {{ name = 'w', D = 0.02, initial = function(x, y) return math.sin(x)*math.cos(2*y) + math.cos(3*x + 1)*"   \
  "math.sin(y) end }}, derived = { psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end },"                           \
  "rates = function(w_x, w_y, psi_x, psi_y, x, t) return psi_y*w_x - psi_x*w_y + 0.1*math.sin(x + t) end,"
#define PLANE                                                                                                          \
  "fields = {{ name = 'u', D = 0.02, initial = function(x, y) return math.cos(x + 2*y) + 0.3*math.sin(x) end },"       \
  " { name = 'v', D = 0.02, initial = function(x, y) return math.sin(2*x - y) end }},"
typedef struct fused {
  const char *text, *scheme;
  bool cut;
} fused;
static const fused planes[] = {
    {SQUARE("256, 256") VORTICITY, "etdrk2", true},
    {SQUARE("4096, 256") VORTICITY, "etd1", true},
    {SQUARE("512, 4096") VORTICITY, "etdrk4", true},
    {SQUARE("1024, 2048") VORTICITY, "etdrk2", false},
    {SQUARE("2048, 512") VORTICITY, "lie", true}, /* reads w too: five inputs */
    {SQUARE("256, 1024") PLANE "solenoidal = 'v, u', rates = function(u, v, u_x, u_y, v_x, v_y)"
                               " return -v*u_x - u*u_y, -v*v_x - u*v_y end,",
     "etdrk4", false},
    {SQUARE("512, 512") PLANE "rates = function(u, u_x, v_yy) return u*u_x, 0.01*v_yy + u end,", "etdrk2", true},
    {SQUARE("256, 512") PLANE "rates = function(lap_v) return 0.001*lap_v, 0.002*lap_v end,", "etdrk2", false},
    {SQUARE("512, 256") PLANE "solenoidal = 'u, v', rates = function(v) return v, v*v end,", "etd1", true},
    {SQUARE("4096, 4096") PLANE "derived = { p = function(k2, u, v) return -(u - 0.5*v)/k2 end },"
                                "rates = function(v, p_xy, u_x, p) return v*u_x, p_xy - p end,",
     "etdrk2", true},
    {SQUARE("256, 4096") "fields = {{ name = 'a', D = 0.1, initial = function(x, y) return math.cos(x + y) end },"
                         "{ name = 'b', initial = function(x, y) return math.sin(x - 2*y) end }, { name = 'c' }},"
                         "rates = function(a, b, c, a_x, b_y) return b*c, a*a_x, a*b_y end,",
     "etdrk4", true},
    {SQUARE("4096, 256") "fields = {{ name = 'a', D = 0.1, initial = function(x, y) return math.cos(x + y) end },"
                         "{ name = 'b', initial = function(x, y) return math.sin(x - 2*y) end }, { name = 'c' },"
                         "{ name = 'd', D = 0.02, decay = 0.1, initial = function(x, y) return math.sin(y) end }},"
                         "rates = function(a, b, c, d, a_x, b_y, d_xy, d_x) return b*c, a*a_x, a*b_y, c - d_xy*d_x"
                         " end,",
     "etdrk2", false},
};
static const fused boxes[] = {
    {CUBE("256, 256, 256") "solenoidal = 'u, v, w', fields = " VELOCITY("") CURL, "etdrk2", true},
    {CUBE("512, 256, 256") "solenoidal = 'u, v, w', fields = " VELOCITY("") CURL, "etdrk4", true},
    {CUBE("256, 512, 256") "fields = " WAVES ", derived = { p = function(kx, ky, kz, u, v) return"
                           " u/(1 + kx^2 + 0.3*kx*ky), ky*v end }, rates = function(u, v_xz, p_z, u_yy) return"
                           " 0.002*u_yy - p_z, 0.01*u*v_xz end,",
     "etd1", false},
    {CUBE("256, 256, 512") "fields = {{ name = 'u', D = 0.02, initial = function(x, y, z) return math.cos(x + 2*y - z)"
                           " end }}, rates = function(u_x, u_z, x, y, z) return u_x*u_z + 0.1*math.sin(x + y - z) end,",
     "lie", false},
    {CUBE("256, 256, 512") "solenoidal = 'u, v, w', fields = " VELOCITY("") CURL, "etd1", true},
    {CUBE("1024, 256, 256") "fields = " WAVES ", rates = function(v, u_x, u_y) return v*u_x, u_y end,", "etd1", true},
    {CUBE("256, 1024, 256") "fields = " WAVES ", rates = function(v, u_x, lap_u) return v*u_x, 0.001*lap_u end,",
     "etd1", false},
};

static void compare_fused(const fused *f, const char *form, int steps) {
  char text[4096];
  if (!is_mine()) return;
  snprintf(text, sizeof text,
           "return sim.diffusion { precision = 'single', %s integrate = { scheme = '%s', dt = 0.0005, t_end = %g,"
           " dealias = %s } }",
           f->text, f->scheme, 0.0005 * steps, f->cut ? "true" : "false");
  compare_sides(parameters_of(text), form, 3 * flows_bound(true));
}

static void test_fused(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof planes / sizeof *planes; c++)
    compare_fused(&planes[c], "two passes a stage of a flow", 4);
  for (size_t c = 0; c < sizeof boxes / sizeof *boxes; c++)
    compare_fused(&boxes[c], "four passes a stage of a flow", 2);
}

/* The same bits from a checkpoint, and in another run; steps by the Courant number; a derived field that is not finite
 * at a wavenumber that is not cut, and one that is. */
static void test_fused_runs(void **state) {
  static const char *const some[] = {SQUARE("512, 256") VORTICITY,
                                     CUBE("256, 256, 256") "solenoidal = 'u, v, w', fields = " VELOCITY("") CURL};
  char text[2048];
  (void)state;
  for (int i = 0; i < 2; i++) {
    snprintf(text, sizeof text, "precision = 'single', %s", some[i]);
    if (is_mine()) compare_restart(text);
  }
  snprintf(text, sizeof text,
           "return sim.diffusion { precision = 'single', " SQUARE("256, 256") PLANE
           "solenoidal = 'u, v', rates = function(u, v, u_x, u_y, v_x, v_y)"
           " return 120*u - u*u_x - v*u_y, 120*v - u*v_x - v*v_y end, integrate = { scheme = 'etdrk4', dt = 'auto',"
           " courant = 0.9, dt_max = 1, t_end = 0.02, dealias = true } }"); /* velocities grow: steps are repeated */
  if (is_mine()) compare_sides(parameters_of(text), "two passes a stage of a flow", 3 * flows_bound(true));
  for (int i = 0; i < 2; i++) {
    system_run s = {
        .setup = {
            .backend = &sim_backend_cuda, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 2, .folder = ""}};
    if (!is_mine()) continue;
    snprintf(text, sizeof text,
             "local k = %d return sim.diffusion { precision = 'single', " SQUARE(
                 "256, 256") "fields = {{ name = 'u' }},"
                             "derived = { p = function(kx, ky, u) return u/((ky - k)*(ky + k)) end },"
                             "rates = function(p) return p end, integrate = { scheme = 'etd1', dt = 0.1, t_end = 1,"
                             " dealias = true } }",
             i == 0 ? 37 : 101);
    diffusion_parameters *p = parameters_of(text);
    const sim_status status = diffusion_model.create(p, &s.setup, &s.clock, &s.self);
    if (status != SIM_ERR_SCENARIO || !strstr(sim_error_last()->message, "derived.p"))
      fail_msg("%s: status %d", text, (int)status);
    release(p);
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
      compare_sides(parameters_of(text), "cuFFT", flows_bound(single));
    }
}

/* Forcing at a fixed power: all kinds of tables (for k and -k, for each, complex ones), axes with walls, several
 * fields. */
static const char *const forced[] = {
    CUBE("12, 9, 10") "solenoidal = 'u, v, w', fields = " VELOCITY("") CURL
    "forcing = { fields = 'u, v, w', k = {1, 2}, power = 0.3 },",
    "grid = { n = {16, 15}, size = {6, 5} }, fields = {{ name = 'w', D = 0.02, drift = {0.1, 0.2, 0}, initial ="
    " function(x, y) return math.cos(x + 2*y) + 0.3*math.sin(x) end }}, rates = function(w, w_x) return w*w_x end,"
    "forcing = { fields = 'w', k = {2, 4}, power = 2 },",
    "grid = { n = {9, 10}, size = {3, 2}, boundary = 'no_flux' }, fields = {{ name = 'u', D = 0.02, sides = {"
    " x_low = { value = 0 } }, initial = function(x, y) return math.sin(x)*math.cos(3*y) end }, { name = 'v' }},"
    "rates = function(u, v, u_x) return v - u*u_x, u end, forcing = { fields = 'u', k = {1, 3}, power = 0.5 },",
    "grid = { n = {24}, size = {3}, boundary = 'fixed' }, fields = {{ name = 'u', D = 0.02, initial = function(x) "
    "return"
    " math.sin(math.pi*x/3) + 0.2*math.sin(math.pi*x) end }}, rates = function(u) return u - u^3 end,"
    "forcing = { fields = 'u', k = {1, 3}, power = 0.5 },",
};

static void test_forcing(void **state) {
  static const char *const some[] = {"etd1", "etdrk2", "etdrk4"};
  (void)state;
  if (is_mine()) /* a grid whose transforms run in registers where nothing is forced */
    compare_sides(
        parameters_of("return sim.diffusion { precision = 'single', grid = { n = {256, 256}, size = {6, 5} },"
                      "fields = {{ name = 'w', D = 0.02, initial = function(x, y) return math.cos(x + 2*y) end "
                      "}}, rates = function(w) return w - w^3 end, forcing = { fields = 'w', k = {2, 4},"
                      " power = 2 }, integrate = { scheme = 'etdrk4', dt = 0.002, t_end = 0.01 } }"),
        "cuFFT", 3 * flows_bound(true));
  for (size_t c = 0; c < sizeof forced / sizeof *forced; c++) {
    for (int i = 0; i < 3; i++) {
      const bool single = ((int)c + i) % 2;
      char text[4096];
      if (!is_mine()) continue;
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', %s integrate = { scheme = '%s', dt = 0.002, t_end = 0.01,"
               " dealias = %s } }",
               single ? "single" : "double", forced[c], some[i], i == 1 ? "true" : "false");
      compare_sides(parameters_of(text), "cuFFT", flows_bound(single));
    }
    if (is_mine()) compare_restart(forced[c]);
  }
}

/* Grids of three axes in slabs: derivatives, derived fields, vectors, fluxes, noise, forcing, walls along y, cross
 * diffusion and drift, by every kind of step. */
static void test_slabs(void **state) {
  static const char *const steps[] = {"'lie', dt = 0.002", "'etdrk4', dt = 0.002", "'etd1', dt = 0.002",
                                      "'etdrk2', dt = 'auto', rtol = 1e-5"};
  static const char *const more[] = {
      "grid = { n = {10, 7, 9}, size = {2, 3, 2.5}, y = 'fixed' }, fields = {{ name = 'u', D = 0.02, noise = 0.5,"
      "cross = {0, -0.01} }, { name = 'v', D = 0.01, noise = 0.1 }}, rates = function(u, v, t) return u - u^3 + t, u*v"
      " end,",
      "grid = { n = {9, 12, 8}, size = {2, 3, 2.5}, x = 'no_flux' }, fields = {{ name = 'u', D = 0.02, drift = {0, 0.3,"
      "-0.2}, initial = function(x, y, z) return math.cos(math.pi*x)*math.sin(2*math.pi*y/3) + 0.1*z end }},"
      "rates = function(u, x, y, z) return u - u^3 + x*y - z end,"};
  static const int of[] = {0, 1, 10, 11, 14};
  enum { TEXTS = sizeof of / sizeof *of, MORE = sizeof more / sizeof *more };
  (void)state;
  for (int c = 0; c < TEXTS + 1 + MORE; c++)
    for (int i = 0; i < 4; i++) {
      const char *own = c < TEXTS ? texts[of[c]] : c == TEXTS ? forced[0] : more[c - TEXTS - 1];
      const bool noise = strstr(own, "fluctuation"), adaptive = i == 3 && !noise && c != TEXTS;
      const bool single = (c + i) % 2 && !adaptive;
      char text[4096];
      if (!is_mine()) continue;
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', seed = 9, %s integrate = { method = 'slabs', scheme = %s,"
               " t_end = 0.01, dealias = %s } }",
               single ? "single" : "double", own, adaptive || (i < 3 && (i > 0 || c != TEXTS)) ? steps[i] : steps[1],
               noise || i > 1 ? "true" : "false");
      compare_sides(parameters_of(text), "cuFFT in slabs", adaptive ? 1e-11 : flows_bound(single));
    }
}

/* Random forcing: draws of wavenumbers in shells with all kinds of storage, of scalars, and of vectors with and without
 * helicity; in slabs; beside a twin. */
static const char *const stirred[] = {
    CUBE("12, 9, 10") "solenoidal = 'u, v, w', fields = " VELOCITY("") CURL
    "forcing = { fields = 'u, v, w', k = {1, 2.5}, power = 0.3, random = true, helicity = 0.5 },",
    CUBE("8, 12, 10") "solenoidal = 'v, w, u', fields = " VELOCITY(
        "") "rates = function(u, v, w) return v*w, 0*u, 0*w end,"
            "forcing = { fields = 'u, v, w', k = {1, 2}, power = 0.3, random = true, helicity = -1 },",
    "grid = { n = {16, 15}, size = {6, 5} }, fields = {{ name = 'w', D = 0.02, drift = {0.1, 0.2, 0}, initial ="
    " function(x, y) return math.cos(x + 2*y) + 0.3*math.sin(x) end }, { name = 'c' }}, rates = function(w, c, w_x)"
    " return w*w_x, w end, forcing = { fields = 'w', k = {2, 4}, power = 2, random = true },",
    "grid = { n = {18, 14}, size = {2*math.pi, 2*math.pi} }, solenoidal = 'v, u', fields = " WAVES ","
    "rates = function(u, v, u_x, u_y, v_x, v_y) return -v*u_x - u*u_y, -v*v_x - u*v_y end,"
    "forcing = { fields = 'u, v', k = {1, 3}, power = 0.4, random = true },",
    "grid = { n = {24}, size = {3} }, fields = {{ name = 'u', D = 0.02 }, { name = 'v', D = 0.1 }},"
    "rates = function(u, v) return u - u^3, u*v end,"
    "forcing = { fields = 'u, v', k = {2, 9}, power = 0.5, random = true },",
    "grid = { n = {1, 12, 10}, size = {1, 3, 2} }, fields = {{ name = 'u', D = 0.02 }}, rates = function(u) return "
    "u - u^3 end, forcing = { fields = 'u', k = {2, 6.2}, power = 0.5, random = true },",
};

static void test_stirred(void **state) {
  static const char *const some[] = {"etdrk4", "etd1", "etdrk2"};
  enum { CASES = sizeof stirred / sizeof *stirred };
  (void)state;
  for (int c = 0; c <= CASES; c++)
    for (int i = 0; i < 3; i++) {
      const bool single = (c + i) % 2, slabs = c == CASES;
      const char *dealias = c == 4 && i == 0 ? "'padding'" : "false";
      char text[4096];
      if (!is_mine()) continue;
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', seed = 9, %s integrate = { %s scheme = '%s', dt = 0.002,"
               " t_end = 0.01, dealias = %s } }",
               single ? "single" : "double", stirred[slabs ? 0 : c], slabs ? "method = 'slabs'," : "", some[i],
               dealias);
      compare_sides(parameters_of(text), slabs ? "cuFFT in slabs" : "cuFFT", flows_bound(single));
      if (i == 0 && dealias[0] != '\'') compare_restart_of(text);
    }
}

/* A shell without energy is refused at the start. */
static void test_no_energy(void **state) {
  system_run s = {
      .setup = {
          .backend = &sim_backend_cuda, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 2, .folder = ""}};
  (void)state;
  if (!is_mine()) return;
  diffusion_parameters *p = parameters_of(
      "return sim.diffusion { grid = { n = {16}, size = {2*math.pi} }, fields = {{ name = 'u' }}, rates = function(u)"
      " return -u^3 end, forcing = { fields = 'u', k = {1, 3}, power = 0.5 },"
      " integrate = { scheme = 'etd1', dt = 0.1, t_end = 1 } }");
  const sim_status status = diffusion_model.create(p, &s.setup, &s.clock, &s.self);
  if (status != SIM_ERR_SCENARIO || !strstr(sim_error_last()->message, "energy of u"))
    fail_msg("status %d", (int)status);
  release(p);
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

/* The columns of the table `lyapunov`. */
static void lyapunov_row(system_run *s, const diffusion_parameters *p, double values[4]) {
  int table = 0;
  while (p->tables[table] && strcmp(p->tables[table]->name, "lyapunov") != 0) table++;
  must(diffusion_model.observe(s->self, &s->clock, table, values), "observe");
}

/* The largest Lyapunov exponent. Fields and twins of root mean square m > 0.1 differ by rounding of 1e-12 at most
 * (flows_bound, for five steps of any run and its twin), which changes a distance of 1e-4 m by 2 x 1e-12/1e-5 = 2e-7
 * of it at most, at both ends of an interval of one step, 0.002: the rate by 2 x 2e-7/0.002 = 2e-4; by two steps half
 * of that. */
static void test_lyapunov(void **state) {
  static const char *const schemes[] = {"etd1", "etdrk2", "etdrk4"};
  static const char *const cross = "grid = { n = {12, 10}, size = {6, 5} }, fields = {{ name = 'u', D = 0.02, cross = "
                                   "{0, -0.01}, noise = 0.5 }, { name = 'v', D = 0.01, noise = 0.3, fluctuation = 0.02 "
                                   "}}, rates = function(u, v) return u - u^3, u*v end,";
  static const char *const slabs = CUBE("10, 7, 9") "solenoidal = 'u, v, w', fields = " VELOCITY("") CURL;
  static const char *const padded = "grid = { n = {32}, size = {6} }, fields = {{ name = 'u', D = 0.02, initial = "
                                    "function(x) return math.sin(2*math.pi*x/6) end }}, rates = function(u, u_x) "
                                    "return -u*u_x end,";
  static const char *const walls = "grid = { n = {12, 9}, size = {3, 2}, x = 'fixed' }, fields = {{ name = 'u', D = "
                                   "0.1, noise = 1 }, { name = 'v', D = 0.05, noise = 1 }}, rates = function(u, v, u_y)"
                                   " return v*u_y, u - v^3 end,";
  static const char *const robin = "grid = { n = {12}, size = {math.pi}, boundary = 'no_flux' }, fields = {{ name = "
                                   "'u', D = 1, initial = function(x) return math.sin(x/2) end, sides = { x_low = {"
                                   " value = 0 } } }}, rates = function(u) return u*(1 - u) end,";
  const char *const of[] = {texts[0], texts[1], texts[10],  texts[14], forced[0], cross,
                            walls,    robin,    stirred[0], padded,    slabs};
  enum { CASES = sizeof of / sizeof *of };
  (void)state;
  for (int c = 0; c < CASES; c++) {
    char text[4096];
    double rows[2][4];
    system_run cpu, gpu;
    if (!is_mine()) continue;
    snprintf(text, sizeof text,
             "return sim.diffusion { seed = 9, %s lyapunov = { size = 1e-4, every = %s, start = 0.004 },"
             " integrate = { %s scheme = '%s', dt = 0.002, t_end = %s, dealias = %s } }",
             of[c], c % 2 ? "0.004" : "0.002", c == CASES - 1 ? "method = 'slabs'," : "", schemes[c % 3],
             c % 2 ? "0.02" : "0.01",
             of[c] == padded ? "'padding'"
             : c % 3 == 1    ? "true"
                             : "false");
    diffusion_parameters *p = parameters_of(text);
    begin(&cpu, p, &sim_backend_cpu, NULL);
    begin(&gpu, p, &sim_backend_cuda, NULL);
    expect_form(&gpu, c == CASES - 1 ? "cuFFT in slabs" : "cuFFT");
    for (int64_t step = 2; step <= (c % 2 ? 10 : 5); step += c % 2 ? 2 : 1) {
      run_to(&cpu, step), run_to(&gpu, step);
      lyapunov_row(&cpu, p, rows[0]), lyapunov_row(&gpu, p, rows[1]);
      for (int i = 0; i < 3; i++)
        if (!(fabs(rows[0][i] - rows[1][i]) <= 2e-4) && !(isnan(rows[0][i]) && isnan(rows[1][i])))
          fail_msg("%s: step %lld, column %d: %.12g on the CPU, %.12g on the GPU", current, (long long)step, i,
                   rows[0][i], rows[1][i]);
      if (rows[0][3] != rows[1][3] || !(rows[1][0] != 0)) fail_msg("%s: intervals, rate %g", current, rows[1][0]);
    }
    print_message("lyapunov %d: %.12g on the CPU, %.12g on the GPU\n", c, rows[0][1], rows[1][1]);
    expect_near(&cpu, &gpu, p, flows_bound(false) * (c % 2 ? 2 : 1));
    end(&cpu), end(&gpu);
    release(p);
    if (of[c] != padded) compare_restart_of(text);
  }
}

/* A run from a checkpoint continues with the same bits. */
static void test_restart(void **state) {
  (void)state;
  for (size_t c = 9; c < 16; c += 3)
    if (is_mine()) compare_restart(texts[c]);
}

/* A derived field that is not finite at a wavenumber that is not among those tested before the run. */
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_large),     cmocka_unit_test(test_fused),    cmocka_unit_test(test_fused_runs),
      cmocka_unit_test(test_flows),     cmocka_unit_test(test_slabs),    cmocka_unit_test(test_forcing),
      cmocka_unit_test(test_no_energy), cmocka_unit_test(test_adaptive), cmocka_unit_test(test_lyapunov),
      cmocka_unit_test(test_stirred),   cmocka_unit_test(test_restart),  cmocka_unit_test(test_not_finite)};
  set_share(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
