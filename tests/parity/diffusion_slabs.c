/* Grids of three axes with walls, in slabs on the GPU (one rank) against the CPU. */
#include "tests/parity/diffusion_sides.h"

#define TWO(one, two)                                                                                                  \
  "fields = {{ name = 'u', D = 0.02, " one " initial = function(x, y, z) return 0.5*math.cos(x + 2*y - z) end },"      \
  " { name = 'v', D = 0.03, " two " initial = function(x, y, z) return 0.5*math.sin(2*x - y + z) end }},"
#define RATES "rates = function(u, v, x, y, z, t) return u - u^3 + x*y - z + t, u*v - z end,"
#define BOTH(side) side "_low = { value = 0 }, " side "_high = { value = 0 },"
#define VECTOR(u, v, w)                                                                                                \
  "solenoidal = 'u, v, w', fields = {{ name = 'u', D = 0.05, sides = {" u                                              \
  "}, initial = function(x, y, z) return math.sin(x)*math.cos(y + z) end },"                                           \
  "{ name = 'v', D = 0.05, sides = {" v "}, initial = function(x, y, z) return math.sin(y)*math.cos(2*x - z) end },"   \
  "{ name = 'w', D = 0.05, sides = {" w "} }},"                                                                        \
  "rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z) return -u*u_x - v*u_y - w*u_z,"              \
  " -u*v_x - v*v_y - w*v_z, -u*w_x - v*w_y - w*w_z end,"
#define SLOPES                                                                                                         \
  "derived = { p = function(kx, ky, kz, u) return -u/(1 + kx^2 + ky^2 + kz^2) end },"                                  \
  "rates = function(u, v, u_x, u_y, u_z, p_x, p_y, p_z, v_x, v_y, v_z, lap_v, u_zz) return p_y*u_x - p_x*u_y +"        \
  " p_z*u_z*v, 0.1*v_y*u + v_x*v_z + 0.01*lap_v + 0.01*u_zz end,"
#define GRID(n) "grid = { n = {" n "}, size = {3, 2, 2.5},"

static const char *const texts[] = {
    /* walls of one kind for all fields: along z; along z and another axis; along x and y, with z between them; along
     * all; with even and odd numbers of cells */
    GRID("10, 8, 9") "z = 'no_flux' }," TWO("fluctuation = 0.1,", "fluctuation = 0.05,") RATES,
    GRID("9, 12, 8") "z = 'fixed' }," TWO("walls = {0.2, 0.9},", "") RATES,
    GRID("9, 8, 10") "x = 'fixed', z = 'no_flux' }," TWO("cross = {0, -0.01},", "") RATES,
    GRID("8, 9, 7") "y = 'no_flux', z = 'fixed' }," TWO("drift = {0.3, 0, 0},", "") RATES,
    GRID("8, 10, 6") "x = 'no_flux', y = 'fixed' }," TWO("fluctuation = 0.1,", "") RATES,
    GRID("7, 6, 9") "x = 'fixed', y = 'no_flux' }," TWO("drift = {0, 0, 0.4},", "hyper = 1e-4,") RATES,
    GRID("8, 9, 6") "boundary = 'no_flux' }," TWO("fluctuation = 0.05,", "noise = 0.1,") RATES,
    GRID("7, 10, 5") "boundary = 'fixed' }," TWO("", "") RATES,
    /* derivatives and derived fields: between walls along z alone the order of cells serves, along others series */
    GRID("10, 8, 9") "z = 'no_flux' }," TWO("", "") SLOPES,
    GRID("8, 9, 10") "z = 'fixed' }," TWO("", "") SLOPES,
    GRID("10, 7, 8") "y = 'fixed', x = 'no_flux' }," TWO("", "") SLOPES,
    GRID("7, 8, 10") "x = 'fixed', z = 'no_flux' }," TWO("", "") SLOPES,
    GRID("9, 6, 8") "y = 'no_flux' }," TWO("", "") SLOPES,
    GRID("6, 8, 7") "boundary = 'no_flux' }," TWO("", "") SLOPES,
    GRID("8, 10, 6") "x = 'no_flux', y = 'fixed' }," TWO("", "") "rates = function(u, v, u_x, u_z, v_xx, v_z) return"
                                                                 " v*u_x + u_z, 0.1*v_xx + u*v_z end,",
    /* series of each field: walls of kinds of their own along every set of axes, slopes and values, lifts that grow */
    GRID("8, 9, 7") "z = 'no_flux' }," TWO("sides = { z_low = { value = 1 }, z_high = { slope = 0.5 } },",
                                           "sides = {" BOTH("z") "}, fluctuation = 0.05,") RATES,
    GRID("7, 8, 10") "x = 'no_flux' }," TWO("sides = { x_low = { value = 1 } },", "fluctuation = 0.05,") RATES,
    GRID("9, 10, 6") "x = 'no_flux', y = 'no_flux' }," TWO("sides = {" BOTH("x") "}, fluctuation = 0.1,",
                                                           "sides = { y_low = { value = 0.5 } },") RATES,
    GRID("6, 9, 8") "boundary = 'no_flux' }," TWO("sides = { x_high = { value = 0 }, z_low = { value = 0 } },",
                                                  "sides = {" BOTH("y") "},") RATES,
    GRID("8, 7, 9") "z = 'no_flux' }," TWO(
        "sides = { z_low = { slope = 1 }, z_high = { slope = 0.5 } },",
        "sides = { z_low = { value = 0.3 } },") "rates = function(u, v, x, t, u_z, v_z,"
                                                " u_xz, v_zz) return v*u_z +"
                                                " 0.1*u_xz, u*v_z + 0.1*v_zz + x*t"
                                                " end,",
    GRID("6, 8, 7") "x = 'no_flux', y = 'no_flux' }," TWO(
        "sides = { x_low = { value = 0 } },", "sides = {" BOTH("y") "},") "rates = function(u, v, u_x, u_y, u_xy, v_z,"
                                                                          " v_yz) return v*u_x + u_y + 0.1*u_xy,"
                                                                          " u*v_z + 0.1*v_yz end,",
    /* walls that mix value and slope */
    GRID("8, 9, 7") "z = 'no_flux' }," TWO("sides = { z_low = { robin = { a = 1, b = 0.5, g = 0.2 } } },",
                                           "fluctuation = 0.1,") "rates = function(u, v, u_z, v_x) return v*u_z, u +"
                                                                 " v_x end,",
    GRID("7, 8, 6") "x = 'no_flux', y = 'no_flux' }," TWO(
        "sides = { x_high = { robin = { a = 1, b = 0.5, g = 0 } } }, fluctuation = 0.1,",
        "sides = { y_low = { robin = { a = 2, b = 1, g = 0 } }, x_low = { value = 0 } },") RATES,
    /* vectors without divergence: between plates, in a duct, in a box */
    GRID("10, 8, 9") "z = 'no_flux' }," VECTOR("", "", BOTH("z")),
    GRID("8, 10, 7") "x = 'no_flux' }," VECTOR(BOTH("x"), "", ""),
    GRID("7, 8, 10") "x = 'no_flux', y = 'no_flux' }," VECTOR(BOTH("x"), BOTH("y"), ""),
    GRID("6, 8, 7") "boundary = 'no_flux' }," VECTOR(BOTH("x"), BOTH("y"), BOTH("z")),
    /* fluxes through walls of every set of axes */
    GRID("8, 9, 10") "z = 'no_flux' }," TWO("", "") "flux = function(u, v, u_z, v_x) return u*v, 0, -0.1*u_z, v, u,"
                                                    " 0.1*v_x end,",
    GRID("8, 9, 6") "y = 'fixed', x = 'no_flux' }," TWO("", "") "flux = function(u, v, u_x, v_z) return -0.1*u_x, u*v,"
                                                                " u^2, v, v*u, 0.1*v_z end,",
    /* a shell of wavenumbers that is forced */
    GRID("9, 10, 8") "z = 'no_flux' }, fields = {{ name = 'u', D = 0.02, initial = function(x, y, z) return"
                     " math.cos(math.pi*z/2.5)*math.sin(2*math.pi*x/3) end }, { name = 'v' }}, rates = function(u, v)"
                     " return v - u^3, u end, forcing = { fields = 'u', k = {1, 4}, power = 0.5 },",
    GRID("8, 10, 9") "x = 'fixed', y = 'no_flux' }, fields = {{ name = 'u', D = 0.02, initial = function(x, y, z)"
                     " return math.sin(math.pi*x/3)*math.cos(2*math.pi*z/2.5) end }, { name = 'v' }}, rates ="
                     " function(u, v) return v - u^3, u end, forcing = { fields = 'u', k = {1, 4}, power = 0.5 },",
};

static void test_walls(void **state) {
  static const char *const steps[] = {"'lie', dt = 0.002", "'etdrk4', dt = 0.002", "'etd1', dt = 0.002",
                                      "'etdrk2', dt = 'auto', rtol = 1e-5"};
  (void)state;
  for (int c = 0; c < (int)(sizeof texts / sizeof *texts); c++)
    for (int i = 0; i < 4; i++) {
      const bool noise = strstr(texts[c], "fluctuation"), force = strstr(texts[c], "forcing");
      const bool cross = strstr(texts[c], "cross"), adaptive = i == 3 && !noise && !force && !cross;
      const bool single = (c + i) % 2 && !adaptive; /* in single the steps may differ */
      const char *step = steps[(i == 3 && !adaptive) || (i == 0 && force) ? 1 : i];
      char text[4096];
      if (!is_mine()) continue;
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', seed = 9, %s integrate = { method = 'slabs', scheme = %s,"
               " t_end = 0.01, dealias = %s } }",
               single ? "single" : "double", texts[c], step, noise || i > 1 ? "true" : "false");
      compare_sides(parameters_of(text), "cuFFT in slabs", adaptive ? 1e-11 : flows_bound(single));
    }
}

/* The exact solution, whose array has no state beside it. */
static void test_exact(void **state) {
  static const char *const grids[] = {"z = 'no_flux'", "x = 'fixed', y = 'fixed'", "boundary = 'no_flux'",
                                      "z = 'fixed'"};
  (void)state;
  for (int i = 0; i < 8; i++) {
    const bool sides = i >= 4;
    char text[2048];
    if (!is_mine() || (sides && i % 2)) continue;
    snprintf(text, sizeof text,
             "return sim.diffusion { " GRID("9, 8, 10") " %s }," TWO(
                 "%s", "") " integrate = { method = 'slabs', scheme = 'exact', t_end = 0.1, dt = 0.05 } }",
             grids[i % 4], sides ? "sides = { z_low = { value = 0 } }," : "");
    compare_sides(parameters_of(text), "cuFFT in slabs", flows_bound(false));
  }
}

/* A run from a checkpoint continues with the same bits. */
static void test_restart(void **state) {
  (void)state;
  for (int c = 0; c < (int)(sizeof texts / sizeof *texts); c += 3) {
    char text[4096];
    if (!is_mine()) continue;
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = '%s', seed = 9, %s integrate = { method = 'slabs', scheme = 'etdrk2',"
             " dt = 0.002, t_end = 0.01, dealias = true } }",
             c % 2 ? "single" : "double", texts[c]);
    compare_restart_of(text);
  }
}

int main(int argc, char **argv) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  if (argc == 1) return run_shared(argv[0]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_walls),
      cmocka_unit_test(test_exact),
      cmocka_unit_test(test_restart),
  };
  set_share(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
