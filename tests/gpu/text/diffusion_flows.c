/* Kernels of derived fields, derivatives, fluxes and vectors without divergence compile. Compiled for the host, they
 * compute the results of formulas. Each text in one precision and half of the fused programs; with an argument all. */
#include "engine/device/compile.h"
#include "kernels/diffusion/cuda/work.h"
#include "tests/diffusion/diffusion_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool all;

/* With SIM_SHOW the text is printed. */
static void compile(const diffusion_work *work) {
  diffusion_programs programs;
  must(diffusion_cuda_write(work, &programs), "write");
  for (int i = 0; i < programs.count; i++) {
    sim_bytes code = {0};
    const sim_source source = diffusion_programs_source(&programs, i);
    if (getenv("SIM_SHOW")) fputs(source.text, stderr);
    must(sim_compile(&source, 90, &code), "compile");
    assert_true(code.size > 1000);
    sim_bytes_free(&code);
  }
  diffusion_programs_free(&programs);
}

/* Compiles the program with the kernels of flows.cuh for the host, and runs a case of flows_host.cuh with it. */
static void run_on_host(const diffusion_work *work, int number) {
  diffusion_programs programs;
  char folder[] = "/tmp/sim-flows-XXXXXX", command[2048], path[64];
  must(diffusion_cuda_write(work, &programs), "write");
  int i = 0;
  while (i < programs.count && !strstr(programs.text[i].data, "flows.cuh")) i++;
  assert_true(i < programs.count);
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/program.inc", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(programs.text[i].data, file);
  fclose(file);
  snprintf(command, sizeof command,
           "cd %s && %s -std=c++17 -w -x c++ -DCASE=%d '-DPROGRAM=\"program.inc\"' -I. -I%s %s/tests/gpu/text/"
           "flows_host.cuh -o host && ./host; code=$?; rm -rf %s; exit $code",
           folder, SIM_TEST_CXX, number, SIM_SOURCE_DIR, SIM_SOURCE_DIR, folder);
  if (system(command) != 0) fail_msg("%s: case %d on the host", current, number);
  diffusion_programs_free(&programs);
}

/* What a way writes its text from. */
static diffusion_work work_of(system_run *s, const char *text, const diffusion_way *way) {
  (void)decode(s, text, NULL);
  const grid_shape grid = diffusion_grid_of(s->p);
  diffusion_work work = {.p = s->p,
                         .comm = &sim_comm_alone,
                         .way = way,
                         .fields = (int)s->p->fields.count,
                         .members = (int)grid_members(&grid),
                         .single = diffusion_single(s->p),
                         .grid = grid,
                         .method = diffusion_method_with(s->p, 0),
                         .gradients = diffusion_gradients_of(s->p)};
  work.aligned = diffusion_series_of(s->p, &work.gradients, &work.series) != NULL;
  work.layout = work.planes = diffusion_cuda_layout(&grid, NULL, work.aligned, false);
  work.spectrum = diffusion_cuda_spectrum(&work.layout, diffusion_unfolded(s->p));
  return work;
}

/* Functions that join fields at a wavenumber: derived fields, derivatives of every kind, walls, fluxes, and the
 * projection. */
static void test_flows(void **state) {
  static const char *const texts[] = {
      "grid = { n = {8, 9, 6}, size = {1, 1, 1} }, solenoidal = 'u, v, w', fields = {{ name = 'u' }, { name = 'v' },"
      "{ name = 'w' }}, derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end },"
      "rates = function(u, v, a, u_x, a_y, a_xz, lap_u) return v*a, -u*a + u_x, a_y*lap_u + a_xz end,",
      "grid = { n = {8, 6}, size = {1, 1}, y = 'fixed' }, fields = {{ name = 'w' }}, members = 2,"
      "derived = { p = function(kx, ky, w, member) return -member*w/(kx^2 + ky^2) end },"
      "rates = function(w_x, w_y, p_x, p_y, p_yy) return p_y*w_x - p_x*w_y + p_yy end,",
      "grid = { n = {8, 6}, size = {1, 1}, boundary = 'no_flux' }, fields = {{ name = 'w' }},"
      "derived = { p = function(k2, w) return -w/k2 end },"
      "rates = function(w_x, w_y, p_x, p_y, p_xx) return p_y*w_x - p_x*w_y + p_xx end,",
      "grid = { n = {8, 6}, size = {1, 1} }, solenoidal = 'u, v', fields = {{ name = 'u' }, { name = 'v' }},"
      "flux = function(u, v, u_x, v_y, x) return u*u_x, u*v, v_y, x end,",
      /* series of their own: plates, and a box */
      "grid = { n = {8, 6}, size = {1, 1}, y = 'no_flux' }, solenoidal = 'u, w', fields = {{ name = 'u' }, { name = "
      "'w',"
      "sides = { y_low = { value = 0 }, y_high = { value = 0 } } }, { name = 'T', sides = { y_low = { value = 0 } } }},"
      "derived = { p = function(k2, T) return -T/k2 end },"
      "rates = function(u, w, T, u_xy, lap_w, T_y, p_y) return u_xy + lap_w, w*T + p_y, T_y end,"
      "flux = function(u, w, T) return u*u, u*w, u*w, w*w, 0*u, w*T end,",
      "grid = { n = {8, 6}, size = {1, 1}, boundary = 'no_flux' }, solenoidal = 'u, v', fields = {"
      "{ name = 'u', sides = { x_low = { value = 0 }, x_high = { value = 0 } } },"
      "{ name = 'v', sides = { y_low = { value = 0 }, y_high = { value = 0 } } }},"
      "rates = function(u, v, u_x, u_y, v_xy) return u*u_x, v*u_y + v_xy end,"};
  (void)state;
  for (int i = 0; i < 12; i++) {
    if (!all && i % 2 == (i > 1 && i < 8)) continue; /* of some the other precision; cases 2 to 6 run on the host */
    system_run s;
    char text[2048];
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = '%s', %s integrate = { scheme = '%s', dt = 1,"
             " t_end = 1 } }",
             i % 2 ? "single" : "double", texts[i / 2], i % 2 ? "lie" : "etdrk4");
    diffusion_work work = work_of(&s, text, &diffusion_way_general);
    assert_int_equal(work.aligned, i >= 8);
    compile(&work);
    if (i % 2 == 0 && i > 0 && i < 8) run_on_host(&work, i == 4 ? 0 : i == 2 ? 1 : 2);
    void *opaque = s.p;
    sim_model_parameters_free(&diffusion_model, &opaque);
  }
}

/* Every program of the passes in registers: two and three axes, each scheme, with and without wavenumbers that are cut.
 */
static void test_fused(void **state) {
  static const struct {
    const char *text, *scheme, *cut;
  } cases[] = {{"grid = { n = {4096, 4096}, size = {1, 1} }, fields = {{ name = 'w' }},"
                "derived = { psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end },"
                "rates = function(w_x, w_y, psi_x, psi_y, x) return psi_y*w_x - psi_x*w_y + x end,",
                "etdrk2", "true"},
               {"grid = { n = {256, 512}, size = {1, 1} }, solenoidal = 'u, v', fields = {{ name = 'u' },"
                "{ name = 'v' }, { name = 'T' }}, rates = function(u, v, T, u_x, v_y, T_xy, lap_T)"
                " return T*u_x, v*v_y, u*lap_T + T_xy end,",
                "etdrk4", "false"},
               {"grid = { n = {512, 256, 512}, size = {1, 1, 1} }, solenoidal = 'u, v, w', fields = {{ name = 'u' },"
                "{ name = 'v' }, { name = 'w' }}, derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end },"
                "rates = function(u, v, a, u_x) return v*a, -u*a + u_x, v*v end,",
                "etd1", "true"},
               {"grid = { n = {1024, 256, 256}, size = {1, 1, 1} }, fields = {{ name = 'u' }},"
                "rates = function(u_z) return u_z^2 end,",
                "lie", "false"}};
  (void)state;
  for (int i = all ? 0 : 1; i < (all ? 4 : 3); i++) {
    system_run s;
    char text[2048];
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = 'single', %s integrate = { scheme = '%s', dealias = %s, dt = 1,"
             " t_end = 1 } }",
             cases[i].text, cases[i].scheme, cases[i].cut);
    const diffusion_work work = work_of(&s, text, i < 2 ? &diffusion_way_flow_planes : &diffusion_way_flow_boxes);
    compile(&work);
    void *opaque = s.p;
    sim_model_parameters_free(&diffusion_model, &opaque);
  }
}

int main(int argc, char **argv) {
  (void)argv;
  all = argc > 1;
  sim_bytes code = {0};
  const sim_source nothing = {.name = "nothing", .text = "__global__ void f() {}\n"};
  const sim_status status = sim_compile(&nothing, 90, &code);
  sim_bytes_free(&code);
  if (status == SIM_ERR_NO_DEVICE) return 77; /* no NVRTC */
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_flows), cmocka_unit_test(test_fused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
