/* Fields on the GPU against the CPU: adaptive steps, walls with values, cross diffusion, and fields that become not
 * finite. */
#include "tests/parity/diffusion_sides.h"

static void expect_same(system_run *a, system_run *b, const diffusion_parameters *p, const char *what) {
  look(a), look(b);
  for (int f = 0; f < (int)p->fields.count; f++) {
    void *one = on_host(a, 1 + f), *two = on_host(b, 1 + f);
    if (memcmp(one, two, sim_array_bytes(&a->arrays[1 + f])) != 0) fail_msg("%s: %s changes bits", current, what);
    free(one), free(two);
  }
  if (a->clock.step != b->clock.step) fail_msg("%s: %s changes steps", current, what);
}

/* ---- adaptive steps ---- */

/* Some 30 steps of 14 transforms, five times as many as in parity/diffusion.c: bounds are 1e-12 and 2e-5 there, and
 * that much larger here. Rates move fields of order 1 by at most exp(1). Both take the same steps, unless an error
 * estimate is within rounding (1e-3 of it in single) of the tolerance. */
static double bound_of(bool single) { return single ? 1e-4 : 5e-12; }

static void test_adaptive(void **state) {
  (void)state;
  static const struct {
    const char *grid, *scheme, *precision, *more, *form;
  } cases[] = {
      {"n = {33}, size = {2}", "etdrk4", "double", "", "cuFFT"},
      {"n = {24}, size = {2}, x = 'fixed'", "etdrk2", "double", "", "cuFFT"},
      {"n = {12, 17}, size = {2, 3}, x = 'no_flux'", "etdrk4", "double", "+ 0.1*u_y", "cuFFT"},
      {"n = {16, 10}, size = {2, 3}, x = 'fixed', y = 'no_flux'", "etdrk2", "double", "", "cuFFT"},
      {"n = {10, 7, 9}, size = {2, 3, 2}, y = 'fixed'", "etdrk4", "double", "+ 0.1*u_x", "cuFFT"},
      {"n = {8, 12, 6}, size = {2, 3, 2}, boundary = 'no_flux'", "etdrk4", "single", "", "cuFFT"},
      {"n = {64, 64}, size = {2, 3}", "etdrk4", "single", "", "cuFFT"},
      {"n = {512, 256}, size = {2, 3}", "etdrk4", "single", "", "two passes a stage"},
      {"n = {256, 256}, size = {2, 3}", "etdrk2", "single", "", "two passes a stage"},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[2048];
    system_run cpu, gpu, looked, again;
    sim_array arrays[SAVED_MAX];
    const bool single = strcmp(cases[c].precision, "single") == 0;
    snprintf(
        text, sizeof text,
        "return sim.diffusion { seed = 7, precision = '%s', grid = { %s }, fields = {\n"
        "{ name = 'u', D = 0.02, initial = function(x, y) return math.sin(math.pi*x/2)^2*(1 + 0.1*y) end },\n"
        "{ name = 'v', D = 0.01, decay = 0.2, initial = function(x) return 0.5*math.sin(math.pi*x/2)^2 end }},\n"
        "rates = function(u, v, u_x, u_y, x, t) return 20*math.exp(-8*t)*u*(1 - u) - u*v %s, u*v + math.sin(3*t)*x "
        "end,\nintegrate = { scheme = '%s', dt = 'auto', rtol = %s, t_end = 1 } }",
        cases[c].precision, cases[c].grid, cases[c].more, cases[c].scheme,
        single || strcmp(cases[c].scheme, "etdrk2") == 0 ? "1e-3" : "1e-6");
    diffusion_parameters *p = parameters_of(text);
    begin(&cpu, p, &sim_backend_cpu, NULL);
    begin(&gpu, p, &sim_backend_cuda, NULL);
    begin(&looked, p, &sim_backend_cuda, NULL);
    expect_form(&gpu, cases[c].form);
    run_to(&cpu, 1), run_to(&gpu, 1);
    if (cpu.clock.dt < gpu.clock.dt || cpu.clock.dt > gpu.clock.dt)
      fail_msg("%s: the first step is %g on the CPU, %g on the GPU", current, cpu.clock.dt, gpu.clock.dt);
    expect_near(&cpu, &gpu, p, bound_of(single));
    run_to(&cpu, INT64_MAX), run_to(&gpu, INT64_MAX);
    if (cpu.clock.step != gpu.clock.step || gpu.clock.step < 8 || gpu.clock.step > 500)
      fail_msg("%s: %lld steps on the CPU, %lld on the GPU", current, (long long)cpu.clock.step,
               (long long)gpu.clock.step);
    expect_near(&cpu, &gpu, p, bound_of(single));
    for (int64_t step = 1; step <= gpu.clock.step / 2; step++) {
      run_to(&looked, step);
      look(&looked);
    }
    const sim_frame frame = saved_of(&looked, arrays);
    begin(&again, p, &sim_backend_cuda, &frame);
    forget(&frame);
    run_to(&looked, INT64_MAX), run_to(&again, INT64_MAX);
    expect_same(&gpu, &looked, p, "a look");
    expect_same(&gpu, &again, p, "a restart");
    end(&cpu), end(&gpu), end(&looked), end(&again);
    release(p);
  }
}

/* ---- walls with values ---- */

/* As parity/diffusion.c: 1e-12 and 2e-5; fields are up to 3 here. */
static void test_walls(void **state) {
  (void)state;
  static const struct {
    const char *grid, *scheme, *precision, *form;
  } cases[] = {{"n = {33}, size = {2}, x = 'fixed'", "lie", "double", "cuFFT"},
               {"n = {24}, size = {2}, x = 'fixed'", "exact", "double", "cuFFT"},
               {"n = {12, 17}, size = {2, 3}, y = 'fixed'", "strang", "double", "cuFFT"},
               {"n = {10, 7, 9}, size = {2, 3, 2}, y = 'no_flux', z = 'fixed'", "etdrk4", "double", "cuFFT"},
               {"n = {256, 256}, size = {2, 3}, x = 'fixed'", "strang", "single", "one pass an axis"},
               {"n = {256, 256}, size = {2, 3}, y = 'fixed'", "lie", "single", "one pass an axis"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[2048];
    const bool single = strcmp(cases[c].precision, "single") == 0, exact = strcmp(cases[c].scheme, "exact") == 0;
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = '%s', grid = { %s }, fields = {\n"
             "{ name = 'u', D = 0.02, walls = {1, -0.5}, initial = function(x, y) return 1 - x end },\n"
             "{ name = 'v', D = 0.01, walls = {0, 2} }},\n"
             "%s integrate = { scheme = '%s', dt = 0.02, t_end = 0.1 } }",
             cases[c].precision, cases[c].grid,
             exact ? "" : "rates = function(u, v, x, t) return u - u^3 + x*t, u*v - 0.1*v^2 end,", cases[c].scheme);
    compare_sides(parameters_of(text), cases[c].form, single ? 2e-5 : 1e-12);
  }
}

/* ---- cross-diffusion ---- */

/* Three fields; v's gradient drives u and w. Bounds as in parity/diffusion.c: 1e-12 and 2e-5. Matrices by series and
 * doublings have additional rounding of the norm over the least eigenvalue, 100 here, in components of a field that are
 * smaller by as much. With adaptive steps as above. */
static void test_crossed(void **state) {
  (void)state;
  static const struct {
    const char *grid, *precision, *step;
  } cases[] = {{"n = {33}, size = {2}", "double", "'lie', dt = 0.02"},
               {"n = {24}, size = {2}, x = 'fixed'", "double", "'exact', dt = 0.02"},
               {"n = {256, 256}, size = {2, 3}", "single", "'strang', dt = 0.02"},
               {"n = {12, 17}, size = {2, 3}, y = 'no_flux'", "double", "'etd1', dt = 0.02"},
               {"n = {16, 10}, size = {2, 3}, boundary = 'fixed'", "single", "'etdrk2', dt = 0.02"},
               {"n = {10, 7, 9}, size = {2, 3, 2}, y = 'no_flux'", "double", "'etdrk4', dt = 0.02, dealias = true"},
               {"n = {8, 6, 10}, size = {2, 3, 2}, boundary = 'no_flux'", "double", "'etdrk4', dt = 0.02"},
               {"n = {16, 16}, size = {2, 3}", "double", "'etdrk4', dt = 'auto', rtol = 1e-5"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[2048];
    const bool exact = strstr(cases[c].step, "exact") != NULL;
    const double bound = strcmp(cases[c].precision, "single") == 0 ? 2e-5 : 5e-12;
    snprintf(
        text, sizeof text,
        "return sim.diffusion { precision = '%s', grid = { %s }, fields = {\n"
        "{ name = 'u', D = 0.03, cross = { 0, 0.02, 0 }, initial = function(x) return\n"
        "  math.sin(math.pi*x/2)^2 end }, { name = 'v', D = 0.02, decay = 0.3, initial = function(x) return x*(2 - x) "
        "end },\n{ name = 'w', D = 0.01, cross = { 0.001, -0.015, 0 }, initial = 0.5 }},\n"
        "%s integrate = { scheme = %s, t_end = 0.1 } }",
        cases[c].precision, cases[c].grid,
        exact ? "" : "rates = function(u, v, w, x, t) return u - u*w + x*t, u*v - v^2, 0.5*u - w end,", cases[c].step);
    compare_sides(parameters_of(text), "cuFFT", bound);
  }
}

/* ---- fields that are not finite ---- */

/* v doubles its exponent in a few steps. Both devices name it, the GPU at its next check. */
static void test_broken(void **state) {
  (void)state;
  static const char *const grids[] = {"n = {12, 9}, size = {1, 1}, x = 'fixed'", "n = {256, 256}, size = {1, 1}",
                                      "n = {256, 256}, size = {1, 1}, y = 'no_flux'"};
  for (int i = 0; i < 3; i++) {
    char text[1024];
    system_run gpu;
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = 'single', grid = { %s }, fields = {{ name = 'u', initial = 1 },\n"
             "{ name = 'v', initial = function(x) return 1 + x end }}, rates = function(u, v) return -u, 50*v^2 end,\n"
             "integrate = { scheme = 'lie', dt = 0.5, t_end = 100 } }",
             grids[i]);
    diffusion_parameters *p = parameters_of(text);
    begin(&gpu, p, &sim_backend_cuda, NULL);
    sim_status status = SIM_OK;
    while (status == SIM_OK && gpu.clock.t < gpu.clock.t_end) status = diffusion_model.step(gpu.self, &gpu.clock);
    if (status != SIM_ERR_DIVERGED || !strstr(sim_error_last()->message, "field v")) fail_msg("%s: not found", text);
    end(&gpu);
    release(p);
  }
}

int main(int argc, char **argv) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_adaptive), cmocka_unit_test(test_walls),
                                     cmocka_unit_test(test_crossed), cmocka_unit_test(test_broken)};
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
