/* `dealias = "padding"`: the same run on 3/2 as many cells with `dealias = true`, and an independent NumPy code. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns a row of the table with this name. */
static void row(system_run *s, const char *name, double *values) {
  int table = 0;
  while (strcmp(s->p->tables[table]->name, name) != 0) table++;
  must(diffusion_model.observe(s->self, &s->clock, table, values), "observe");
}

/* Texts with #n for the numbers of cells, of the scenario's grid or 3/2 of them, #d for `dealias`, and #c for a Courant
 * number: cells are 2/3 as wide on the finer grid. First values are of the wavenumbers that both grids have. */
static const char *const texts[] = {
    "return sim.diffusion { grid = { n = {#24}, size = {2*math.pi} }, spectrum = 9, fields = {{ name = 'u', D = 0.02,"
    " initial = function(x) return 1 + math.sin(x) + math.cos(2*x + 1)/2 end }}, rates = function(u) return u - u^2"
    " end, integrate = { scheme = 'strang', dt = 0.05, t_end = 1, dealias = #d } }",
    "return sim.diffusion { grid = { n = {#24}, size = {2*math.pi} }, spectrum = 9, fields = {{ name = 'u', D = 0.05,"
    " initial = function(x) return math.sin(x) + math.cos(2*x + 1)/2 end }}, rates = function(u, u_x) return -u*u_x"
    " end, integrate = { scheme = 'lie', dt = 0.02, t_end = 0.5, dealias = #d } }",
    "return sim.diffusion { precision = 'single', grid = { n = {#24}, size = {2*math.pi} }, spectrum = 9, fields = {{"
    " name = 'u', D = 0.05, initial = function(x) return math.sin(x) + math.cos(2*x + 1)/2 end }},"
    " rates = function(u, u_x) return -u*u_x end, integrate = { scheme = 'etd1', dt = 0.02, t_end = 0.5, dealias = #d"
    " } }",
    /* a complex field: dispersion by cross diffusion, with members */
    "return sim.diffusion { members = 3, grid = { n = {#24}, size = {2*math.pi} }, spectrum = 9, fields = {"
    "{ name = 'a', D = 0.05, cross = {0, -0.3}, initial = function(x, member) return 1 + member*math.cos(x)/4 end },"
    "{ name = 'b', D = 0.05, cross = {0.3, 0}, initial = function(x) return math.sin(2*x)/4 end }},"
    "rates = function(a, b) return a - a^2 + a*b/4, a*b/2 - b end, integrate = { scheme = 'etdrk2', dt = 0.02, t_end = "
    "0.5,"
    " dealias = #d } }",
    /* two axes: vorticity, adaptive steps, budgets */
    "return sim.diffusion { grid = { n = {#16, #12}, size = {2*math.pi, 2*math.pi} }, spectrum = 6, transfer = 6, "
    "fields"
    " = {{ name = 'w', D = 0.01, initial = function(x, y) return math.cos(x)*math.sin(2*y) + math.cos(3*x + 1) end }},"
    " derived = { psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end }, rates = function(w_x, w_y, psi_x, psi_y)"
    " return psi_y*w_x - psi_x*w_y end, integrate = { scheme = 'etdrk4', rtol = 1e-6, t_end = 1, dealias = #d } }",
    /* three axes: a solenoidal velocity, steps by the Courant number */
    "return sim.diffusion { grid = { n = {#8, #10, #12}, size = {2*math.pi, 2*math.pi, 2*math.pi} }, spectrum = 5,"
    " enstrophy = 5, helicity = 5, solenoidal = 'u, v, w', fields = {"
    "{ name = 'u', D = 0.02, initial = function(x, y, z) return math.sin(y)*math.cos(z) + math.sin(2*z) end },"
    "{ name = 'v', D = 0.02, initial = function(x, y, z) return math.cos(x - 2*z) end },"
    "{ name = 'w', D = 0.02, initial = function(x, y, z) return math.sin(x + 2*y) end }},"
    "rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z) return -u*u_x - v*u_y - w*u_z,"
    " -u*v_x - v*v_y - w*v_z, -u*w_x - v*w_y - w*w_z end, integrate = { scheme = 'etdrk4', courant = #c, dt_max = 0.1,"
    " t_end = 0.5, dealias = #d } }",
    /* walls of all kinds, values and slopes, mixed derivatives */
    "return sim.diffusion { grid = { n = {#12, #16, #10}, size = {1, 2, 1}, boundary = 'no_flux', z = 'fixed' },"
    " spectrum = 6, fields = {{ name = 'u', D = 0.02, initial = function(x, y, z) return"
    " math.cos(math.pi*x)*math.cos(math.pi*y)*math.sin(2*math.pi*z) end },"
    "{ name = 'v', D = 0.03, sides = { y_low = { value = 1 }, y_high = { slope = 2 }, z_low = { slope = 0 },"
    " z_high = { slope = 0 } }, initial = function(x, y, z) return 1 + 2*y + math.sin(math.pi*0.75*y)*math.cos(math.pi*"
    "z) end }}, rates = function(u, v, u_xy, v_y) return u - u^2 + u_xy/100, u*v_y/10 - u end, observe = { d ="
    " function(v, y) return (v - 1 - 2*y)^2 end }, integrate = { scheme = 'etdrk2', dt = 0.05, t_end = 0.5, dealias = "
    "#d } }",
    /* a wall that mixes value and slope, whose functions are the same on both grids, beside a periodic axis */
    "return sim.diffusion { grid = { n = {#16, #12}, size = {1, 2*math.pi}, boundary = 'no_flux', y = 'periodic' },"
    " spectrum = 6, fields = {{ name = 'u', D = 0.1, sides = { x_high = { robin = { a = 2 } } }, initial ="
    " function(x, y) return math.cos(1.0768739863118036*x)*(1 + math.sin(y + 1)) end }},"
    " rates = function(u, u_y) return u - u^2/4 + u*u_y/10 end, integrate = { scheme = 'etdrk4', dt = 0.05, t_end = "
    "0.5,"
    " dealias = #d } }",
    /* fluxes */
    "return sim.diffusion { grid = { n = {#16, #12}, size = {1, 1}, y = 'no_flux' }, spectrum = 6, fields = {{ name ="
    " 'u', D = 0.01, initial = function(x, y) return 1 + math.cos(2*math.pi*x + 1)*math.cos(math.pi*y)/2 end }},"
    " flux = function(u, u_x, u_y) return -u*u_x/100, -u*u_y/100 end, integrate = { scheme = 'etd1', dt = 0.02, t_end ="
    " 0.5, dealias = #d } }",
    /* random forcing and a Lyapunov exponent: random numbers of wavenumbers, and of cells of the rates' grid */
    "return sim.diffusion { seed = 4, grid = { n = {#16, #16}, size = {2*math.pi, 2*math.pi} }, spectrum = 6, fields = "
    "{"
    "{ name = 'w', D = 0.01, decay = 0.1, initial = function(x, y) return math.cos(x)*math.sin(2*y) end }}, derived = {"
    " psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end }, rates = function(w_x, w_y, psi_x, psi_y) return"
    " psi_y*w_x - psi_x*w_y end, forcing = { fields = 'w', k = {2, 3.5}, power = 1, random = true }, integrate = {"
    " scheme = 'etdrk2', dt = 0.02, t_end = 0.5, dealias = #d } }",
    "return sim.diffusion { grid = { n = {#24}, size = {22} }, spectrum = 6, fields = {{ name = 'u', linear ="
    " function(k2) return k2 - k2^2 end, initial = function(x) return math.cos(2*math.pi*x/22) end }}, rates ="
    " function(u, u_x) return -u*u_x end, lyapunov = { every = 1 }, integrate = { scheme = 'etdrk4', dt = 0.1, t_end ="
    " 5, dealias = #d } }",
};

static void put_text(char *out, const char *text, bool padded) {
  for (; *text; text++) {
    char *end;
    if (*text != '#') {
      *out++ = *text;
    } else if (text[1] == 'd' || text[1] == 'c') {
      out += sprintf(out, "%s", text[1] == 'd' ? padded ? "'padding'" : "true" : padded ? "0.4" : "0.6");
      text++;
    } else {
      const long n = strtol(text + 1, &end, 10);
      out += sprintf(out, "%ld", padded ? n : 3 * n / 2);
      text = end - 1;
    }
  }
  *out = 0;
}

/* Sums over the cells of the scenario's grid and powers of the wavenumbers are the same as with the cut on the finer
 * grid, but for rounding: some 100 steps of transforms whose units are relative to values below 4. */
static void test_cut(void **state) {
  static const char *const tables[] = {"fields",      "spectrum",           "observe",  "transfer",
                                       "dissipation", "enstrophy_transfer", "helicity", "lyapunov"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    system_run s[2];
    for (int cut = 0; cut < 2; cut++) {
      char text[4096];
      put_text(text, texts[i], !cut);
      whole(&s[cut], "%s", text);
    }
    assert_int_equal(s[0].clock.step, s[1].clock.step);
    double seconds[2]; /* of a step, as sim check tells them */
    for (int cut = 0; cut < 2; cut++) {
      sim_plan plan = {0};
      must(diffusion_model.plan(s[cut].p, &s[cut].setup, &plan), "plan");
      seconds[cut] = plan.work_per_step / plan.work_rate_guess;
    }
    assert_true(fabs(seconds[0] / seconds[1] - 1) < 1e-12);
    const bool single = diffusion_single(s[0].p);
    const double bound = single ? 4e-5 : 4e-13;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
      double values[2][SIM_COLUMNS_MAX] = {{0}};
      int number = 0, columns = 0;
      while (s[0].p->tables[number] && strcmp(s[0].p->tables[number]->name, tables[t]) != 0) number++;
      if (!s[0].p->tables[number]) continue;
      while (s[0].p->tables[number]->columns[columns].name) columns++;
      for (int cut = 0; cut < 2; cut++) row(&s[cut], tables[t], values[cut]);
      for (int c = 0; c < columns; c++) {
        /* least and greatest values differ by the places of cells; sums of walls' lines by the cells' widths */
        if (t == 0 && c % 5 != 0 && c % 5 != 1) continue;
        /* the last half step of strang is not cut: on the finer grid it has more wavenumbers, in the last bin */
        if (strstr(texts[i], "strang") && (t == 0 ? c == 1 : c == columns - 1)) continue;
        if (strstr(texts[i], "value = 1") && (t == 0 || (t == 1 && c >= columns / 2))) continue;
        if (t == 0 && strstr(texts[i], "robin")) continue;
        if (isnan(values[0][c]) && isnan(values[1][c])) continue; /* an error of few intervals */
        const double most = t == 7 ? 1e-4 : bound;                /* a distance of 1e-7, of numbers that are rounded */
        if (!(fabs(values[0][c] - values[1][c]) < most * (1 + fabs(values[1][c]))))
          fail_msg("text %zu, %s, column %d: %.17g and %.17g", i, tables[t], c, values[0][c], values[1][c]);
      }
    }
    for (int cut = 0; cut < 2; cut++) shut(&s[cut]);
  }
}

/* Two-dimensional vorticity on 32 x 24 cells, 50 steps of ETDRK2: values in four cells by a NumPy program that pads
 * spectra to 48 x 36 (nothing of it is shared with this code). */
static void test_numpy(void **state) {
  static const double exact[] = {0.718496966808, -0.620810605409, 0.485438732630, -0.001444280671};
  static const int64_t at[] = {0, 100, 400, 767};
  system_run s;
  (void)state;
  whole(&s, "return sim.diffusion { grid = { n = {32, 24}, size = {2*math.pi, 2*math.pi} }, fields = {{ name = 'w', D ="
            " 0.005, initial = function(x, y) return math.cos(x)*math.sin(2*y) + math.cos(3*x + 1) + 0.7*math.sin(4*y +"
            " 2*x) end }}, derived = { psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end }, rates = function(w_x,"
            " w_y, psi_x, psi_y) return psi_y*w_x - psi_x*w_y end, integrate = { scheme = 'etdrk2', dt = 0.02, t_end ="
            " 1, dealias = 'padding' } }");
  look(&s);
  assert_int_equal(cells(&s), 32 * 24);
  for (int i = 0; i < 4; i++)
    if (!(fabs(value(&s, 0, at[i]) - exact[i]) < 1e-11)) /* twelve digits */
      fail_msg("cell %lld: %.12f, not %.12f", (long long)at[i], value(&s, 0, at[i]), exact[i]);
  shut(&s);
}

/* A Lyapunov exponent with padding, against a separate code in NumPy (tests/diffusion/neighbours.py) that draws the
 * same first difference. The distance is 1e-5 of fields of order 1; each of 100 steps adds rounding of some 20 u to
 * both runs, of which an interval has 20 steps: 2 x 20 x 20 x 1.1e-16 / 1e-5 = 1e-8. A restart has the same row. */
static void test_lyapunov(void **state) {
  static const char text[] =
      "return sim.diffusion { seed = 11, grid = { n = {32}, size = {22} }, fields = {{ name = 'u', linear = "
      "function(k2) return k2 - k2^2 end,"
      " initial = function(x) return math.cos(2*math.pi*x/22) + 0.3*math.sin(4*math.pi*x/22) + 0.2 end }},"
      " rates = function(u, u_x) return -u*u_x end, lyapunov = { every = 1, start = 2, size = 1e-5 },"
      " integrate = { scheme = 'etd1', dt = 0.05, t_end = 5, dealias = 'padding' } }";
  system_run s, again;
  double want[2], rows[2][4];
  int table = 0;
  (void)state;
  read_reference("neighbours.txt", "growth", 0, 2, want);
  restart_at(47, text, &s, &again);
  while (s.p->tables[table] && strcmp(s.p->tables[table]->name, "lyapunov") != 0) table++;
  must(diffusion_model.observe(s.self, &s.clock, table, rows[0]), "observe");
  must(diffusion_model.observe(again.self, &again.clock, table, rows[1]), "observe");
  assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
  for (int i = 0; i < 2; i++)
    if (!(fabs(rows[0][i] - want[i]) < 1e-8)) fail_msg("column %d: %.15g, not %.15g", i, rows[0][i], want[i]);
  assert_true(rows[0][3] == 3);
  shut(&again);
  shut(&s);
}

/* Energy and enstrophy of a flow without viscosity change by the scheme's error alone: as with the cut on 36 x 36
 * cells, but for rounding, and of fourth order in dt at least (the energy's error passes through 0 near dt = 0.11).
 * Transfers add up to 0. */
static void test_inviscid(void **state) {
  double change[2][2][2]; /* of dt and dt/2; padded and cut; energy and enstrophy */
  (void)state;
  for (int run = 0; run < 4; run++) {
    const int half = run / 2, cut = run % 2;
    double first[2], last[2], transfer[9], sum = 0;
    system_run s;
    char text[1024];
    snprintf(
        text, sizeof text,
        "return sim.diffusion { grid = { n = {%d, %d}, size = {2*math.pi, 2*math.pi} }, fields = {{ name = 'w',"
        " initial = function(x, y) return math.cos(x)*math.sin(2*y) + math.cos(3*x + 1) + math.sin(4*y + 2*x) end"
        " }}, derived = { psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end }, rates = function(w_x, w_y, psi_x,"
        " psi_y) return psi_y*w_x - psi_x*w_y end, transfer = 9, observe = { e = function(w, psi) return -w*psi/2"
        " end, z = function(w) return w^2/2 end }, integrate = { scheme = 'etdrk4', dt = %g, t_end = 1, dealias ="
        " %s } }",
        cut ? 36 : 24, cut ? 36 : 24, half ? 0.05 : 0.1, cut ? "true" : "'padding'");
    open_with(&s, text, sim_isa_best(), 2, NULL);
    row(&s, "observe", first);
    run_to(&s, half ? 20 : 10);
    row(&s, "observe", last);
    row(&s, "transfer", transfer);
    for (int b = 0; b < 9; b++) sum += transfer[b];
    assert_true(fabs(sum) < 1e-14 && fabs(transfer[3]) > 1e-3);
    for (int i = 0; i < 2; i++) change[half][cut][i] = last[i] / first[i] - 1;
    shut(&s);
  }
  for (int i = 0; i < 2; i++)
    for (int half = 0; half < 2; half++)
      assert_true(fabs(change[half][0][i]) < 2e-7 && fabs(change[half][0][i] - change[half][1][i]) < 1e-13);
  assert_true(log2(change[0][0][1] / change[1][0][1]) > 3.8);
}

/* Threads, instruction sets and a restart change no bit. */
static void test_bits(void **state) {
  char text[4096];
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    system_run a, b, half;
    put_text(text, texts[i], true);
    open_with(&a, text, sim_isa_best(), 1, NULL);
    run_to(&a, 5);
    look(&a);
    open_with(&half, text, sim_isa_best(), 3, NULL);
    run_to(&half, 2);
    look(&half);
    open_with(&b, text, sim_isa_best(), 2, &half.frame);
    run_to(&b, 5);
    look(&b);
    if (distance(&a, &b) != 0) fail_msg("text %zu", i);
    shut(&half);
    shut(&b);
    shut(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cut),      cmocka_unit_test(test_numpy), cmocka_unit_test(test_lyapunov),
      cmocka_unit_test(test_inviscid), cmocka_unit_test(test_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
