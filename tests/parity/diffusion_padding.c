/* `dealias = "padding"` on the GPU against the CPU: the operations have 3/2 as many cells along each axis, and outputs
 * are of the scenario's cells. */
#include "tests/parity/diffusion_sides.h"

static const char *const texts[] = {
    "grid = { n = {24}, size = {2*math.pi} }, fields = {{ name = 'u', D = 0.02, initial = function(x) return 1 +"
    " math.sin(x) + math.cos(2*x + 1)/2 end }}, rates = function(u) return u - u^2 end,",
    /* vorticity */
    "grid = { n = {32, 20}, size = {2*math.pi, 2*math.pi} }, fields = {{ name = 'w', D = 0.01, initial = function(x, y)"
    " return math.cos(x)*math.sin(2*y) + math.cos(3*x + 1) end }}, derived = { psi = function(kx, ky, w) return"
    " -w/(kx^2 + ky^2) end }, rates = function(w_x, w_y, psi_x, psi_y) return psi_y*w_x - psi_x*w_y end,",
    /* a forced velocity on three axes */
    "grid = { n = {8, 10, 12}, size = {2*math.pi, 2*math.pi, 2*math.pi} }, solenoidal = 'u, v, w', forcing = { fields ="
    " 'u, v, w', k = {1, 2.5}, power = 0.1 }, fields = {"
    "{ name = 'u', D = 0.02, initial = function(x, y, z) return math.sin(y)*math.cos(z) + math.sin(2*z) end },"
    "{ name = 'v', D = 0.02, initial = function(x, y, z) return math.cos(x - 2*z) end },"
    "{ name = 'w', D = 0.02, initial = function(x, y, z) return math.sin(x + 2*y) end }},"
    "rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z) return -u*u_x - v*u_y - w*u_z,"
    " -u*v_x - v*v_y - w*v_z, -u*w_x - v*w_y - w*w_z end,",
    /* a complex field by cross diffusion, with members and white noise */
    "members = 3, grid = { n = {24}, size = {2*math.pi} }, fields = {{ name = 'a', D = 0.05, cross = {0, -0.3},"
    " fluctuation = 0.05, initial = function(x, member) return 1 + member*math.cos(x)/4 end }, { name = 'b', D = 0.05,"
    " cross = {0.3, 0}, initial = function(x) return math.sin(2*x)/4 end }}, rates = function(a, b) return a - a^2 +"
    " a*b/4, a*b/2 - b end,",
    /* walls of one kind; walls of all kinds with a lift; walls that mix value and slope; and fluxes */
    "grid = { n = {12, 16}, size = {3, 2}, x = 'fixed', y = 'no_flux' }, fields = {{ name = 'u', D = 0.02, initial ="
    " function(x, y) return math.sin(math.pi*x/3)*math.cos(math.pi*y) end }}, rates = function(u, u_y) return u - u^3 +"
    " u_y end,",
    "grid = { n = {12, 16, 10}, size = {1, 2, 1}, boundary = 'no_flux', z = 'fixed' }, fields = {{ name = 'u', D ="
    " 0.02, initial = function(x, y, z) return math.cos(math.pi*x)*math.cos(math.pi*y)*math.sin(2*math.pi*z) end },"
    "{ name = 'v', D = 0.03, sides = { y_low = { value = 1 }, y_high = { slope = 2 }, z_low = { slope = 0 },"
    " z_high = { slope = 0 } }, initial = function(x, y, z) return 1 + 2*y + math.sin(math.pi*0.75*y)*math.cos(math.pi*"
    "z) end }}, rates = function(u, v, u_xy, v_y) return u - u^2 + u_xy/100, u*v_y/10 - u end,",
    "grid = { n = {16, 12}, size = {1, 2*math.pi}, boundary = 'no_flux', y = 'periodic' }, fields = {{ name = 'u', D ="
    " 0.1, sides = { x_high = { robin = { a = 2, g = 1 } } }, initial = function(x, y) return 0.5*math.cos(x)*"
    "(1 + math.sin(y + 1)) end }}, rates = function(u, u_y) return u - u^2/4 + u*u_y/10 end,",
    "grid = { n = {16, 12}, size = {1, 1}, y = 'no_flux' }, fields = {{ name = 'u', D = 0.01, initial = function(x, y)"
    " return 1 + math.cos(2*math.pi*x + 1)*math.cos(math.pi*y)/2 end }}, flux = function(u, u_x, u_y) return"
    " -u*u_x/100, -u*u_y/100 end,",
};

/* flows_bound counts four transforms a stage; outputs take two more here, of 5 units of values below 4. */
static double bound_of(bool single) { return flows_bound(single) + (single ? 2.4e-6 : 5e-15); }

static void test_texts(void **state) {
  static const char *const some[] = {"etdrk4", "etdrk2", "etd1", "lie"};
  (void)state;
  for (size_t c = 0; c < sizeof texts / sizeof *texts; c++)
    for (int i = 0; i < 4; i++)
      if (!(i == 3 && strstr(texts[c], "forcing")) && is_mine())
        compare_text(texts[c], some[i], "'padding'", ((int)c + i) % 2, bound_of);
}

/* Strang's steps, whose outputs have half a step of rates more, and adaptive steps. */
static void test_steps(void **state) {
  static const struct {
    int text;
    const char *steps;
  } cases[] = {{0, "scheme = 'strang', dt = 0.01"},
               {1, "scheme = 'etdrk4', rtol = 1e-6"},
               {4, "scheme = 'etdrk2', rtol = 1e-5"},
               {6, "scheme = 'etdrk4', rtol = 1e-6"},
               {2, "scheme = 'etdrk4', courant = 0.1, dt_max = 0.05"}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[4096];
    if (!is_mine()) continue;
    snprintf(text, sizeof text, "return sim.diffusion { %s integrate = { %s, t_end = 0.2, dealias = 'padding' } }",
             texts[cases[c].text], cases[c].steps);
    compare_sides(parameters_of(text), "cuFFT", 10 * bound_of(false));
  }
}

static void test_restart(void **state) {
  (void)state;
  compare_restarts(texts, sizeof texts / sizeof *texts, "'padding'");
}

int main(int argc, char **argv) { return run_sides(argc, argv, test_texts, test_steps, test_restart); }
