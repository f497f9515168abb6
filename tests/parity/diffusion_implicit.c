/* The linearly implicit scheme on the GPU against the CPU: fluxes and rates of all kinds, walls, members, vectors
 * without divergence, levels of stiffness, steps of fixed and adaptive length, and restarts. */
#include "tests/parity/diffusion_sides.h"

#include "kernels/diffusion/run/run.h"

typedef struct implicit_case {
  const char *text; /* without `integrate` */
  double t_end;
} implicit_case;

#define GRID(n, size, more) "grid = { n = {" n "}, size = {" size "}" more " }, "
#define VARIED "(1 + 0.9*math.cos(2*math.pi*x))"

static const implicit_case cases[] = {
    {GRID("24, 20", "1, 1", "") "fields = {{ name = 'u', D = 0.01, drift = {0.5, 0.2, 0}, initial = function(x, y)"
                                " return math.sin(2*math.pi*x)*math.cos(2*math.pi*y) end }}, flux = function(u, u_x,"
                                " u_y, x) return -0.1*" VARIED "*u_x + u^2/4, -0.1*" VARIED "*u_y end,",
     0.2},
    {GRID("12, 10, 16", "1, 1, 1", "") "fields = {{ name = 'u', initial = function(x, y, z) return"
                                       " math.sin(2*math.pi*(x + y))*math.cos(2*math.pi*z) end }},"
                                       " flux = function(u, u_x, u_y, u_z, x, t) return -0.02*(1 + 30*t)*" VARIED
                                       "*u_x,"
                                       " -0.02*(1 + u^2)*u_y, -0.02*u_z end, rates = function(t) return t^2 end,",
     0.5},
    {GRID("33", "1", "") "fields = {{ name = 'u', initial = function(x) return math.sin(2*math.pi*x) end },"
                         " { name = 'v', D = 0.01, initial = function(x) return math.cos(4*math.pi*x) end }},"
                         " flux = function(u_x, v_x, x) return -0.1*" VARIED "*u_x - 0.05*v_x,"
                         " -0.1*v_x - 0.03*" VARIED "*u_x end, rates = function(u, v) return u*v, u - v^2 end,",
     0.4},
    /* walls of one kind along all axes, along the slow one, and with values */
    {GRID("32", "1",
          ", boundary = 'no_flux'") "fields = {{ name = 'u', initial = function(x) return"
                                    " math.cos(math.pi*x) end }}, flux = function(u_x, x) return -0.1*" VARIED
                                    "*u_x end,",
     0.5},
    {GRID("16, 12", "1, 1", ", y = 'no_flux'") "fields = {{ name = 'u', initial = function(x, y) return 1 +"
                                               " math.cos(2*math.pi*x + 1)*math.cos(math.pi*y)/2 end }},"
                                               " flux = function(u, u_x, u_y) return -u^2*u_x/10, -u*u_y/10 end,",
     0.5},
    {GRID("12, 15", "1, 1", ", boundary = 'fixed'") "fields = {{ name = 'u', D = 0.05, initial = function(x, y) return"
                                                    " math.sin(math.pi*x)*math.sin(2*math.pi*y) end }},"
                                                    " rates = function(u, u_xx, u_yy, x) return"
                                                    " 0.2*(1 + u^2)*(u_xx + u_yy) - 20*x*u end,",
     0.2},
    {GRID("32, 16", "1, 1",
          ", x = 'fixed'") "fields = {{ name = 'u', D = 0.05, walls = {0, 1}, initial = function(x, y)"
                           " return x + math.sin(math.pi*x)*math.cos(2*math.pi*y) end }},"
                           " flux = function(u, u_x, u_y) return -0.05*u^2*u_x, -0.1*(1 + u)*u_y end,",
     0.3},
    {GRID("24, 24", "1, 1", ", boundary = 'no_flux'") "fields = {{ name = 'u', D = 0.05, sides = { x_low = {"
                                                      " value = 1 }, x_high = { slope = 0 } }, initial ="
                                                      " function(x) return 1 - x*(2 - x)/2 end },"
                                                      " { name = 'v', initial = function(x, y) return"
                                                      " math.cos(math.pi*y) end }},"
                                                      " flux = function(u_y, v_x, v_y, x, y) return 0, -0.1*" VARIED
                                                      "*u_y, -0.1*v_x, -0.1*" VARIED "*v_y end,"
                                                      " rates = function(u, v) return v, -u*v end,",
     0.4},
    {GRID("24", "1", ", boundary = 'no_flux'") "fields = {{ name = 'u', D = 0.1, sides = { x_low = { robin = { a = 2 }"
                                               " }, x_high = { robin = { a = 1, g = 0.5 } } }, initial = 1 }},"
                                               " rates = function(u, x) return -20*(1 + x)*u + math.cos(3*x) end,",
     0.4},
    {"members = 3, " GRID("32", "1", "") "fields = {{ name = 'u', initial = function(x) return math.sin(2*math.pi*x)"
                                         " end }}, flux = function(u_x, x, member) return -0.05*member*" VARIED
                                         "*u_x end,",
     0.4},
    {"solenoidal = 'u, v', " GRID("24, 24", "1, 1", "") "fields = {{ name = 'u', initial = function(x, y) return"
                                                        " math.sin(2*math.pi*y) end }, { name = 'v', initial ="
                                                        " function(x, y) return math.sin(2*math.pi*x)/2 end }},"
                                                        " flux = function(u, v, u_x, u_y, v_x, v_y, x)"
                                                        " local n = 0.02*" VARIED " return u*u - 2*n*u_x,"
                                                        " u*v - n*(u_y + v_x), u*v - n*(u_y + v_x), v*v - 2*n*v_y end,",
     0.4},
    {GRID("32", "1", "") "fields = {{ name = 'u', hyper = 1e-5, conserved = true, linear = function(kx) return 0, kx/9"
                         " end, initial = function(x) return 0.3*math.sin(2*math.pi*x) end }},"
                         " rates = function(u, x) return 0.02*" VARIED "*u + 0.01*u^3 end,",
     0.3},
    /* Cahn and Hilliard's equation by a derived field */
    {GRID("32, 24", "1, 1",
          "") "fields = {{ name = 'c', initial = function(x, y) return 0.1 + 0.2*math.cos(4*math.pi*x)"
              "*math.cos(2*math.pi*y + 1) end }}, derived = { l = function(k2, c) return -k2*c end },"
              " flux = function(c, c_x, c_y, l_x, l_y) local m = 1 - c^2"
              "  return -m*((3*c^2 - 1)*c_x - 0.0016*l_x), -m*((3*c^2 - 1)*c_y - 0.0016*l_y) end,",
     0.004},
    /* a thousand times as stiff along a line: levels */
    {GRID("48, 40", "1, 1", ", boundary = 'no_flux'") "fields = {{ name = 'p', sides = { x_low = { value = 1 } },"
                                                      " initial = function(x) return 1 - math.sin(math.pi*x/2) end }, "
                                                      "{ name = 'q', initial = function(x, y) return"
                                                      " math.cos(math.pi*x) end }}, flux = function(p_x, p_y, q_x, q_y,"
                                                      " x, y) local D = 0.001 + math.exp(-((y - 0.3 - x/5)/0.05)^2)"
                                                      " return -D*p_x, -D*p_y, -0.2*q_x, -D*q_y end,",
     0.5},
    {GRID("32, 36", "1, 1", "") "fields = {{ name = 'p', initial = function(x, y) return math.sin(2*math.pi*(x + y))"
                                " end }}, flux = function(p_x, p_y, x, y) local D = 0.001 +"
                                " math.exp(-((y - 0.5)/0.08)^2) return -D*p_x, -D*p_y end,",
     0.5},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Whether an axis has an odd number of cells, which padding excludes. */
static bool odd(const char *text) { return strstr(text, "n = {33}") || strstr(text, "n = {12, 15}"); }

static diffusion_solved solved_of(const system_run *s) {
  const diffusion_run *run = s->self;
  diffusion_solved out;
  run->ops->solved(run->work, &out);
  return out;
}

/* Runs both sides to the end. `tolerance`: of a system's residual over the field's size, which is nearly the error of a
 * stage's k. The new state has the sum 2 k_1 + k_3 + k_4, and the second half of the stages start from 2 k_1: an error
 * of 6 tolerances a step and side, with a maximum 5 times its root mean square (a normal number exceeds it once in
 * 2e6). The fields stay below 2. Rounding is that of flows_bound. */
static void compare(const char *text, double tolerance, bool single) {
  diffusion_parameters *p = parameters_of(text);
  system_run cpu, gpu;
  begin(&cpu, p, &sim_backend_cpu, NULL);
  begin(&gpu, p, &sim_backend_cuda, NULL);
  run_to(&cpu, INT64_MAX), run_to(&gpu, INT64_MAX);
  const diffusion_solved a = solved_of(&cpu), b = solved_of(&gpu);
  if (cpu.clock.step != gpu.clock.step || a.systems != b.systems)
    fail_msg("%s: %lld steps on the CPU, %lld on the GPU", current, (long long)cpu.clock.step,
             (long long)gpu.clock.step);
  /* a residual near the tolerance may need an iteration more or less; another choice of P would need many */
  if (llabs((long long)(a.iterations - b.iterations)) > (long long)(a.systems + a.iterations / 8))
    fail_msg("%s: %lld iterations on the CPU, %lld on the GPU", current, (long long)a.iterations,
             (long long)b.iterations);
  expect_near(&cpu, &gpu, p, 2 * 6 * 5 * 2 * tolerance * (double)cpu.clock.step + flows_bound(single));
  end(&cpu), end(&gpu);
  release(p);
}

/* Steps so short that a field changes by at most 1/1000 of its size: the tolerance is 1e-9 of the change, or 64 units
 * of rounding. */
static void test_texts(void **state) {
  static const char *const dealias[] = {"0", "true", "'padding'"};
  (void)state;
  for (int c = 0; c < CASES; c++)
    for (int i = 0; i < 4; i++) {
      const bool single = i == 3;
      char text[4096];
      if (!is_mine()) continue;
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', %s integrate = { scheme = 'rodas3', dt = %.17g, t_end = %.17g,"
               " dealias = %s } }",
               single ? "single" : "double", cases[c].text, cases[c].t_end / 20000, cases[c].t_end / 4000,
               dealias[single                         ? 0
                       : i == 2 && odd(cases[c].text) ? 1
                                                      : i]);
      compare(text, single ? 64 * 1.2e-7 * 1e-3 : 1e-12, single);
    }
}

/* Adaptive steps far above the limits of explicit schemes: the tolerance is at most 1/50 of rtol. */
static void test_steps(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++) {
    char text[4096];
    if (!is_mine()) continue;
    snprintf(text, sizeof text,
             "return sim.diffusion { %s integrate = { scheme = 'rodas3', rtol = 1e-5, atol = 1e-5, t_end = %.17g } }",
             cases[c].text, cases[c].t_end);
    compare(text, 2e-7 * 2, false);
  }
  if (is_mine())
    compare("return sim.diffusion { grid = { n = {24, 16}, size = {1, 1} }, fields = {{ name = 'u', D = 0.01, initial ="
            " function(x, y) return math.sin(2*math.pi*y) end }, { name = 'v', D = 0.01, initial = function(x) return"
            " math.cos(2*math.pi*x) end }}, rates = function(u, v, u_x, v_y) return -u*u_x - 5*u, -v*v_y - 5*v end,"
            " integrate = { scheme = 'rodas3', courant = 0.1, velocity = 'u, v', dt_max = 0.01, t_end = 0.05 } }",
            1e-6, false);
}

/* Adaptive steps, whose level the checkpoint has too. */
static void restart_adaptive(const char *text) {
  sim_array arrays[SAVED_MAX];
  system_run one, two;
  diffusion_parameters *p = parameters_of(text);
  begin(&one, p, &sim_backend_cuda, NULL);
  run_to(&one, 4);
  const sim_frame frame = saved_of(&one, arrays);
  begin(&two, p, &sim_backend_cuda, &frame);
  forget(&frame);
  run_to(&one, INT64_MAX), run_to(&two, INT64_MAX);
  look(&one), look(&two);
  for (int f = 0; f < (int)p->fields.count; f++) {
    void *a = on_host(&one, 1 + f), *b = on_host(&two, 1 + f);
    if (memcmp(a, b, sim_array_bytes(&one.arrays[1 + f])) != 0) fail_msg("%s: a restart changes bits", current);
    free(a), free(b);
  }
  end(&one), end(&two);
  release(p);
}

static void test_restart(void **state) {
  static const char *const steps[] = {"dt = 0.002, t_end = 0.02", "dt = 0.002, t_end = 0.02, dealias = 'padding'",
                                      "rtol = 1e-4, t_end = 0.05"};
  (void)state;
  for (int c = 0; c < CASES; c++) {
    const int i = c % 3 == 1 && odd(cases[c].text) ? 0 : c % 3;
    char text[4096];
    if (!is_mine()) continue;
    snprintf(text, sizeof text, "return sim.diffusion { precision = '%s', %s integrate = { scheme = 'rodas3', %s } }",
             c % 2 ? "double" : "single", cases[c].text, steps[i]);
    if (i == 2)
      restart_adaptive(text);
    else
      compare_restart_of(text);
  }
}

int main(int argc, char **argv) { return run_sides(argc, argv, test_texts, test_steps, test_restart); }
