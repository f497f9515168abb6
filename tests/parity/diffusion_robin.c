/* Walls that mix value and slope on the GPU against the CPU. */
#include "tests/parity/diffusion_sides.h"

#define ROBIN(side, a, g) side " = { robin = { a = " a ", g = " g " } },"
#define PAIR(more, one, two)                                                                                           \
  "fields = {{ name = 'u', D = 0.02, " more " sides = {" one                                                           \
  "}, initial = function(x, y, z) return 0.5*math.cos(x + 2*y - z) end }, { name = 'v', D = 0.02, " more               \
  " sides = {" two "}, initial = function(x, y, z) return 0.5*math.sin(2*x - y + z) end }},"
static const char *const texts[] = {
    /* one axis: both walls mixed, beside a value or a slope; lifts; a transform of several tiles */
    "grid = { n = {24}, size = {3}, boundary = 'no_flux' }," PAIR(
        "", ROBIN("x_low", "2", "1") ROBIN("x_high", "0.3", "-0.2"),
        ROBIN("x_low", "50", "10") "x_high = { value = -1 }") "rates = function(u, v, x, t, u_x, v_x, u_xx, lap_v)"
                                                              " return v*u_x + 0.1*lap_v, u*v_x - 0.1*u_xx + 0.1*x*t"
                                                              " end,",
    "grid = { n = {25}, size = {3}, boundary = 'fixed' }," PAIR(
        "", ROBIN("x_high", "0.01", "0") "x_low = { slope = 0.5 }",
        "") "rates = function(u, v, u_x, v_x, v_xx) return u*v + 0.1*v_xx, u*u_x + v_x end,",
    "grid = { n = {100, 6}, size = {3, 2}, boundary = 'no_flux', y = 'periodic' }," PAIR(
        "", ROBIN("x_low", "1", "0"), "x_high = { value = 0 }") "rates = function(u, v, u_x, v_y) return v*u_x, u*v_y"
                                                                " end,",
    /* beside a periodic axis, and on both axes; mixed derivatives, and a function of the wavenumber */
    "grid = { n = {11, 16}, size = {1, 2*math.pi}, x = 'no_flux' }," PAIR(
        "linear = function(k2) return -1e-4*k2^2 end,", ROBIN("x_low", "2", "0"),
        ROBIN("x_low", "2", "0") ROBIN("x_high", "1", "0")) "rates = function(u, v, u_x, u_y, v_xy, u_xy) return v*u_x"
                                                            " + 0.1*v_xy, u*u_y + 0.1*u_xy end,",
    "grid = { n = {9, 70}, size = {3, 2}, boundary = 'no_flux' }," PAIR(
        "", ROBIN("x_low", "2", "1") ROBIN("y_high", "4", "2") "y_low = { value = 0.5 },",
        ROBIN("y_low", "3", "0.3")) "rates = function(u, v, u_x, u_y, v_y, u_xy) return -u*u_x - v*u_y + 0.1*u_xy,"
                                    " v*v_y - u end,",
    /* three axes, all with walls, in single and in all orders of kinds */
    "grid = { n = {8, 7, 6}, size = {3, 2, 2}, boundary = 'no_flux' }," PAIR(
        "", ROBIN("z_low", "2", "0") "x_low = { value = 0 },",
        ROBIN("x_high", "3", "0") ROBIN("y_low", "1", "0")) "rates = function(u, v, u_x, u_z, v_x, v_y, u_xz, v_yz)"
                                                            " return v*u_x + 0.1*u_xz, u*v_y - v_x + 0.1*v_yz + u_z"
                                                            " end,",
    /* white noise: by cosines, with the norms of the series; conserved, with members, and with cross diffusion */
    "grid = { n = {6, 8, 7}, size = {3, 4, 2}, boundary = 'no_flux', y = 'periodic' }," PAIR(
        "fluctuation = 0.05,", ROBIN("x_low", "2", "0") ROBIN("z_high", "1", "0"),
        "z_low = { value = 0 },") "rates = function(u, v, u_x, v_z) return v*u_x, u*v_z end,",
    "members = 3, grid = { n = {17}, size = {2}, boundary = 'no_flux' }," PAIR(
        "fluctuation = 0.05, conserved = true,", ROBIN("x_low", "2", "0") ROBIN("x_high", "0.1", "0"),
        ROBIN("x_low", "1", "0")) "rates = function(u, v, member) return 0.01*u^3, 0.01*member*u*v end,",
    "grid = { n = {12, 10}, size = {3, 2}, y = 'no_flux' }, fields = {"
    "{ name = 'u', D = 0.05, fluctuation = 0.05, cross = {0, 0.02}, sides = { y_high = { robin = { a = 2, g = 1 } } },"
    " initial = function(x, y) return math.cos(2*x) + y end }, { name = 'v', D = 0.04, fluctuation = 0.02, cross = {"
    "0.01, 0}, sides = { y_high = { robin = { a = 4, b = 2, g = 0.6 } } }, initial = function(x, y) return"
    " math.sin(x*y) end }}, rates = function(u, v, u_y) return u*v, u_y end,",
    /* a derived field, whose wavenumbers are those of the series */
    "grid = { n = {10, 12}, size = {1, 2}, boundary = 'no_flux', y = 'periodic' }," PAIR(
        "", ROBIN("x_low", "2", "0"),
        ROBIN("x_low", "2", "0")) "derived = { q = function(kx, ky, u, v) return -(u + 2*v)/(kx^2 + ky^2) end },"
                                  "rates = function(u, v, q, q_x, q_y, v_x) return q_y*v_x, u*q_x + q end,",
    /* forcing of a field beside another one with such walls */
    "grid = { n = {16, 8}, size = {2*math.pi, 2}, y = 'no_flux' }, forcing = { fields = 'v', k = {1, 2.5}, power = 0.1 "
    "}," PAIR("", ROBIN("y_low", "2", "0"), "") "rates = function(u, v, u_x) return -v*u_x, u - v end,",
    /* fluxes of another field along the axis, and of the field along another one */
    "grid = { n = {10, 12}, size = {3, 2}, boundary = 'no_flux', y = 'periodic' }," PAIR(
        "", ROBIN("x_low", "2", "0.5"), "x_high = { value = 0 }") "flux = function(u, v, u_x, v_y) return 0, 0.1*u*v,"
                                                                  " 0.1*v*u_x, u - 0.1*v_y end, rates = function(u, v)"
                                                                  " return v, u*v end,",
    /* one cell between the walls */
    "grid = { n = {8, 1}, size = {2, 1}, y = 'no_flux' }," PAIR(
        "", ROBIN("y_low", "2", "1"), ROBIN("y_high", "1", "0")) "rates = function(u, v, u_y, v_y, v_x) return v + u_y,"
                                                                 " u + v_y + v_x end,",
};

/* As flows_bound, whose transforms have errors of log2(n) < 5 units. A product with a matrix adds n <= 100 numbers, and
 * its error is some sqrt(n) <= 10 units. */
static double bound_of(bool single) { return 2 * flows_bound(single); }

static void test_texts(void **state) {
  static const char *const some[] = {"lie", "etdrk4", "etd1", "etdrk2"};
  (void)state;
  for (size_t c = 0; c < sizeof texts / sizeof *texts; c++)
    for (int i = 0; i < 4; i++)
      if (!(i == 0 && (strstr(texts[c], "forcing") || strstr(texts[c], "conserved"))) && is_mine())
        compare_text(texts[c], some[i], i > 1 && !strstr(texts[c], "1}") ? "true" : "false", ((int)c + i) % 2,
                     bound_of);
}

/* Split schemes, the exact solution, and adaptive steps, whose errors are weighed with the series' norms. With an
 * absolute tolerance of 2.7e-7 there are 207 steps, and with 2.5e-7 twice as many: a common factor of these norms
 * shows. */
static void test_steps(void **state) {
  static const char *const fields = "grid = { n = {16, 9}, size = {3, 2}, boundary = 'no_flux', x = 'periodic' }," PAIR(
      "", ROBIN("y_low", "2", "1") "y_high = { slope = 0.5 }", ROBIN("y_low", "1", "0.5") ROBIN("y_high", "3", "0.2"));
  static const char *const steps[] = {"scheme = 'strang', dt = 0.01",
                                      "scheme = 'lie', dt = 0.01",
                                      "scheme = 'exact'",
                                      "scheme = 'etdrk4', dt = 'auto', rtol = 1e-5",
                                      "scheme = 'etdrk2', dt = 'auto', rtol = 1e-5",
                                      "scheme = 'etdrk2', dt = 'auto', rtol = 1e-12, atol = 2.7e-7, dt_max = 0.1",
                                      "scheme = 'etdrk4', dt = 'auto', courant = 0.05, velocity = 'u, v'"};
  (void)state;
  for (int i = 0; i < 14; i++) {
    const bool single = i >= 7;
    char text[4096];
    if (!is_mine() || (single && strstr(steps[i % 7], "auto"))) continue; /* in single the steps may differ */
    snprintf(text, sizeof text, "return sim.diffusion { precision = '%s', %s %s integrate = { %s, t_end = 0.1 } }",
             single ? "single" : "double", fields,
             strstr(steps[i % 7], "exact") ? "" : "rates = function(u, v, y, t) return u*v + t, u - v*y end,",
             steps[i % 7]);
    compare_sides(parameters_of(text), "cuFFT", bound_of(single) * (single ? 1 : 10));
  }
}

static void test_restart(void **state) {
  (void)state;
  compare_restarts(texts, 8, "false");
}

int main(int argc, char **argv) { return run_sides(argc, argv, test_texts, test_steps, test_restart); }
