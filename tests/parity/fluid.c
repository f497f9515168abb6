/* Fluids on the GPU against those on the CPU; the marching kernel against its plain twin; restarts, guards. */
#include "kernels/fluid/cuda/work.h"
#include "kernels/fluid/run/run.h"
#include "tests/fluid/driver.h"
#include "tests/fluid/stl.h"
#include "tests/gpu/gpu.h"
#include "tests/parity/fluid_texts.h"

#include "engine/log.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const sim_backend *gpu;

enum { TEXTS = sizeof texts / sizeof *texts, STEPS = 60 };
/* Those that the marching kernel makes. */
static const int marched[] = {0, 1, 2, 6, 7, 9, 13, 15, 17, 19, 21, 22};

enum { TEXT = 2048 };
static void text_of(int i, bool single, char out[TEXT]) {
  snprintf(out, TEXT, "local kind = '%s' %s", single ? "single" : "double", texts[i]);
}

/* A rock: balls, or in 2-D discs, on a lattice askew to the cells. */
static sim_status rock(const sim_grid_source *source, double *values) {
  const int64_t *n = source->n;
  for (int64_t i = 0; i < n[0] * n[1] * (source->rank == 3 ? n[2] : 1); i++) {
    const double x = (double)(i % n[0]), y = (double)(i / n[0] % n[1]), z = (double)(i / n[0] / n[1]);
    const double wave = sin(0.53 * x + 0.17 * y) * cos(0.61 * y - 0.11 * z) + (source->rank == 3 ? sin(0.7 * z) : 0);
    values[i] = wave > (source->rank == 3 ? 0.8 : -0.3) ? 1 : 0;
  }
  return SIM_OK;
}
static void open_on(flow *f, const char *text, const sim_backend *backend, const sim_frame *saved) {
  flow_begin(f, text, backend, 2, saved, rock);
}

/* In units of the lattice: a step rounds j, below 0.3, and each S, below 0.1, a few times to eps = 2^-53 or 2^-24 of
 * them; sums of what arrives are of differences, which are smaller. So j is off by less than eps more after each step,
 * and viscosity only spreads what has been there. In single the GPU keeps 5 bits less of each S (6 in 2-D): 64 eps 0.1,
 * of which a step moves the difference between neighbours into j, times 1/3, the sum of the weights: 2 eps. */
static double bound(bool single, int64_t steps) {
  return (double)steps * (single ? 3 * FLT_EPSILON / 2 : DBL_EPSILON / 2);
}

/* Of a temperature the bound is four times that of a velocity in units of the lattice, of the greatest distance of
 * temperatures: T and its flux are rounded a few times each, in single on the GPU alone, where the flux has 3 bits
 * (2-D: 4) less; velocities that differ by n eps after n steps, below 0.1 themselves, carry as much. */
static void widen(const double *T, const double *flux, int count, fluid_heat_sums *sums, double *most_flux) {
  for (int i = 0; i < count; i++) {
    sums->most = fmax(sums->most, T[i]); /* NaN is ignored */
    sums->least = fmin(sums->least, T[i]);
    *most_flux = fmax(*most_flux, fabs(flux[i]));
  }
}
static double range_of(const flow *f) {
  fluid_heat_sums sums;
  const fluid_run *run = f->self;
  const fluid_warmth *w = &run->warmth;
  double flux = 0; /* which changes a temperature by flux/diffusivity from cell to cell */
  must(run->ops->heat(run->work, &sums), "heat");
  widen(w->side, w->side_flux, FLUID_SIDES, &sums, &flux);
  widen(w->body, w->body_flux, FLUID_BODIES, &sums, &flux);
  return sums.most - sums.least + flux / ((1 / w->law.omega - 0.5) / 4);
}

static void compare_runs(flow *a, flow *b, bool single, const char *what) {
  const fluid_numbers k = fluid_numbers_of(a->p, 0);
  const grid_shape g = fluid_grid_of(a->p);
  static const char *const names[] = {"velocity/x", "velocity/y", "velocity/z", "pressure", "temperature"};
  const double unit = k.dx / k.dt, pressure = a->p->density * unit * unit / 3;
  double worst = 0;
  flow_look(a);
  flow_look(b);
  for (int f = 0; f < 5; f++) {
    if ((f == 2 && g.rank == 2) || (f == 4 && !a->p->heat.given)) continue;
    const double whole = f < 3 ? unit : f == 3 ? pressure : 4 * range_of(a);
    for (int64_t row = 0; row < g.n[1] * g.n[2]; row++)
      for (int64_t x = 0; x < g.n[0]; x++) {
        const int64_t y = row % g.n[1], z = row / g.n[1];
        const double value = flow_field(a, names[f], x, y, z), far = fabs(value - flow_field(b, names[f], x, y, z));
        /* the shift of temperatures is added to what differs */
        const double off = f == 4 ? fmax(0, far - 2 * DBL_EPSILON * fabs(value)) : far;
        const double share = off / whole / bound(single, STEPS);
        if (!(share <= worst)) worst = share;
        if (!(share <= 1))
          fail_msg("%s: %s differs by %.3e of its unit in {%d, %d, %d}", what, names[f], off / whole, (int)x, (int)y,
                   (int)z);
      }
  }
  printf("%s: at most %.2g of the bound\n", what, worst);
}

/* Of a column of `grains`: positions and velocities differ as those of the fluid do, and overlaps are a cell at most.
 */
static double grain_scale(const flow *f, const char *name) {
  const fluid_grains *g = &((const fluid_run *)f->self)->grains;
  const double unit = g->numbers->dx / g->numbers->dt;
  double mass = 0;
  for (int64_t i = 0; i < g->s.n; i++) mass += g->s.mass[i];
  if (strncmp(name, "momentum", 8) == 0) return mass * unit;
  if (strlen(name) == 1) return g->numbers->dx;
  if (strcmp(name, "speed") == 0 || strncmp(name, "velocity", 8) == 0) return unit;
  if (strncmp(name, "spin", 4) == 0) return 1 / g->numbers->dt;
  return strcmp(name, "contacts") == 0 ? 0 : strcmp(name, "overlap") == 0 ? 1 : mass * unit * unit;
}

/* Rows of tables: sums over cells and links of what differs as above. */
static void compare_tables(flow *a, flow *b, bool single, const char *what) {
  const sim_table *const *tables = sim_model_tables(&fluid_model, a->p);
  const fluid_numbers k = fluid_numbers_of(a->p, 0);
  const grid_shape g = fluid_grid_of(a->p);
  const double unit = k.dx / k.dt, near = bound(single, STEPS);
  for (int t = 0; tables[t]; t++) {
    double va[SIM_COLUMNS_MAX], vb[SIM_COLUMNS_MAX];
    must(fluid_model.observe(a->self, &a->clock, t, va), "observe");
    must(fluid_model.observe(b->self, &b->clock, t, vb), "observe");
    for (int c = 0; tables[t]->columns[c].name; c++) {
      /* the largest that a column of `flow` could be; forces: all populations on a surface of cells; torques: times the
       * box */
      const double mass = a->p->density * grid_cells_wanted(&g) * pow(k.dx, g.rank);
      const double force = a->p->density * pow(k.dx, g.rank - 1) * unit * unit * 6 * pow((double)g.n[0], g.rank - 1);
      const bool bodies = strcmp(tables[t]->name, "bodies") == 0, probes = strcmp(tables[t]->name, "probes") == 0;
      double scale = bodies ? force * fmax(1, g.size[0]) : probes ? fmax(unit, a->p->density * unit * unit) : 0;
      if (strcmp(tables[t]->name, "heat") == 0) { /* fluxes: as much as the sides could give in a step */
        const char *name = tables[t]->columns[c].name;
        const double flux = strncmp(name, "flux", 4) == 0
                                ? pow(k.dx, g.rank) / k.dt * 2 * pow((double)g.n[0], g.rank - 1)
                                : 1 / a->p->heat.diffusivity * g.size[0] * unit;
        scale = 4 * range_of(a) * (c < 3 || strncmp(name, "temperature", 11) == 0 ? 1 : flux);
      }
      if (strcmp(tables[t]->name, "grains") == 0) scale = grain_scale(a, tables[t]->columns[c].name);
      if (strcmp(tables[t]->name, "porous") == 0) scale = unit * fmax(1, 4 * a->p->viscosity / 0.01);
      if (strcmp(tables[t]->name, "flow") == 0)
        scale = c == FLUID_MASS        ? mass
                : c == FLUID_KINETIC   ? mass * unit * unit
                : c == FLUID_ENSTROPHY ? mass * 4 / (k.dt * k.dt)
                : c == FLUID_SPEED     ? 2 * unit
                : c == FLUID_MACH      ? 4
                                       : mass * unit;
      if (!(fabs(va[c] - vb[c]) <= near * scale + 1e-14 * fabs(va[c])))
        fail_msg("%s: %s.%s is %.17g on the CPU, %.17g on the GPU", what, tables[t]->name, tables[t]->columns[c].name,
                 va[c], vb[c]);
    }
  }
}

static void test_cpu(void **state) {
  (void)state;
  for (int i = 0; i < 2 * TEXTS; i++) {
    const bool single = i % 2;
    char text[TEXT], what[64];
    flow a, b;
    text_of(i / 2, single, text);
    snprintf(what, sizeof what, "case %d, %s", i / 2, single ? "single" : "double");
    open_on(&a, text, &sim_backend_cpu, NULL);
    open_on(&b, text, gpu, NULL);
    compare_tables(&a, &b, single, what);
    flow_steps(&a, STEPS);
    flow_steps(&b, STEPS);
    compare_runs(&a, &b, single, what);
    compare_tables(&a, &b, single, what);
    flow_close(&a);
    flow_close(&b);
  }
}

static void test_restart(void **state) {
  (void)state;
  for (int i = 0; i < 2 * TEXTS; i++) {
    char text[TEXT], straight[33], again[33], resumed[33];
    flow f, g;
    text_of(i / 2, i % 2, text);
    for (int k = 0; k < 2; k++) {
      open_on(&f, text, gpu, NULL);
      flow_steps(&f, STEPS);
      flow_digest(&f, k ? again : straight);
      flow_close(&f);
    }
    assert_string_equal(straight, again);
    open_on(&f, text, gpu, NULL);
    flow_steps(&f, 23);
    flow_look(&f);
    open_on(&g, text, gpu, &f.frame);
    flow_steps(&g, STEPS - 23);
    flow_digest(&g, resumed);
    assert_string_equal(straight, resumed);
    flow_close(&f);
    flow_close(&g);
  }
}

/* ---- the marching kernel, and its plain twin ---- */

/* The state after some steps, in host memory, for the caller to free. */
static void *state_after(const flow *f, bool march, int chunk, size_t *bytes) {
  const fluid_numbers k = fluid_numbers_of(f->p, 0);
  fluid_machine m = fluid_machine_of(f->p, &k, &f->setup);
  fluid_work *work;
  fluid_warmth warmth = {0};
  fluid_meshes meshes;
  fluid_grains grains = {0};
  must(fluid_meshes_create(f->p, &f->setup, &meshes), "meshes");
  must(fluid_walls_create(f->p, &k, &meshes, 1, NULL, &m.walls), "walls");
  must(fluid_sponge_create(f->p, &m.sponge), "sponge");
  if (f->p->heat.given) {
    must(fluid_heat_create(f->p, &m, &k, &f->setup, &warmth), "heat");
    m.warmth = &warmth;
  }
  if (f->p->grains.count > 0) {
    must(fluid_grains_create(f->p, &k, &m.grid, &f->setup, &grains), "grains");
    m.grains = &grains;
  }
  must(fluid_ops_cuda.create(&m, f->p, &k, &f->setup, &work), "create");
  fluid_device *d = fluid_cuda_device(work);
  d->march = d->march && march; /* a device with little shared memory has the plain kernel alone */
  if (chunk > 0) d->chunk = chunk;
  must(fluid_ops_cuda.start(work, &f->setup), "start");
  for (int64_t step = 1; step <= 20; step++) must(fluid_ops_cuda.step(work, step), "step");
  const sim_buffer *state = fluid_ops_cuda.state(work);
  *bytes = sim_buffer_bytes(state);
  void *out = malloc(*bytes);
  assert_non_null(out);
  must(gpu->copy(out, state->data, *bytes), "copy");
  fluid_ops_cuda.destroy(&work);
  fluid_walls_destroy(&m.walls);
  fluid_sponge_destroy(&m.sponge);
  fluid_heat_destroy(&warmth);
  fluid_meshes_destroy(&meshes);
  fluid_grains_destroy(&grains);
  return out;
}

static void test_twin(void **state) {
  (void)state;
  for (size_t i = 0; i < 2 * sizeof marched / sizeof *marched; i++) {
    char text[TEXT];
    flow f;
    size_t bytes;
    text_of(marched[i / 2], i % 2, text);
    open_on(&f, text, gpu, NULL);
    void *plain = state_after(&f, false, 0, &bytes);
    for (int chunk = 0; chunk < 12; chunk += 3) {
      void *other = state_after(&f, true, chunk, &bytes);
      if (memcmp(plain, other, bytes) != 0) fail_msg("case %d, chunks of %d planes: other bits", marched[i / 2], chunk);
      free(other);
    }
    free(plain);
    flow_close(&f);
  }
}

/* ---- guards ---- */

/* Warning, failure and remark name the same step, cell and cause as on the CPU, which looks after every step. */
static void test_guards(void **state) {
  (void)state;
  static const char *const flows[] = {
      /* a shear that gains speed: all cells of one y are the fastest, and the first of them is named */
      "return sim.fluid { precision = kind, grid = { n = {40, 8, 8}, size = {40, 8, 8} }, viscosity = 0.002,\n"
      "  speed = 0.1, initial = function(x, y, z) return 0.01 * math.sin(2 * math.pi * (y + 0.3) / 8), 0, 0 end,\n"
      "  acceleration = {0.001, 0, 0}, integrate = { dt = 1, t_end = 1000 } }",
      "return sim.fluid { precision = kind, grid = { n = {32, 32}, size = {1, 1}, boundary = 'wall' },\n"
      "  viscosity = 1.3e-5, speed = 0.1, mach = 0.3, acceleration = {2000, 0}, integrate = { t_end = 100 } }"};
  for (int i = 0; i < 2; i++) {
    flow_heard heards[2] = {0};
    char text[TEXT], message[2][1100];
    snprintf(text, sizeof text, "local kind = 'double' %s", flows[i]);
    for (int k = 0; k < 2; k++) {
      flow f;
      sim_status status = SIM_OK;
      open_on(&f, text, k ? gpu : &sim_backend_cpu, NULL);
      assert_true(sim_log_add(flow_hear, &heards[k]));
      while (status == SIM_OK && f.clock.step < 1000) status = fluid_model.step(f.self, &f.clock);
      sim_log_remove(flow_hear, &heards[k]);
      assert_int_equal(status, SIM_ERR_DIVERGED);
      snprintf(message[k], sizeof message[k], "%s", sim_error_last()->message);
      flow_close(&f);
    }
    /* what follows the cell and the time names numbers of the scenario alone */
    char *cut[2] = {strstr(message[0], "; the mass"), strstr(message[1], "; the mass")};
    for (int k = 0; k < 2; k++)
      if (cut[k]) *cut[k] = 0;
    assert_string_equal(message[0], message[1]);
    assert_string_equal(heards[0].text, heards[1].text);
  }
}

/* A body's interpolated links lose nothing of the mass, as on the CPU: tests/fluid/fluid_same.c. */
static void test_mass(void **state) {
  (void)state;
  enum { LONG = 20000 };
  for (int single = 0; single < 2; single++) {
    flow f;
    char text[TEXT];
    const double eps = single ? 0x1p-24 : 0x1p-53;
    snprintf(text, sizeof text,
             "return sim.fluid { precision = '%s', grid = { n = {20, 12}, size = {20, 12} }, viscosity = 0.02,\n"
             "  speed = 0.1, mach = 0.3, acceleration = {0.0005, 0.0002}, integrate = { t_end = 1e9 }, bodies = {\n"
             "    sim.ball { point = {5.2, 6.1, 0}, radius = 3.3 },\n"
             "    sim.ball { point = {15.3, 6.4, 0}, radius = 2.7, spin = 0.02 } } }",
             single ? "single" : "double");
    open_on(&f, text, gpu, NULL);
    const double before = flow_value(&f, "flow", "mass");
    flow_steps(&f, LONG);
    const double change = flow_value(&f, "flow", "mass") / before - 1;
    if (!(fabs(change) <= LONG * eps / 100))
      fail_msg("%s: the mass is off by %.3e", single ? "single" : "double", change);
    flow_close(&f);
  }
}

int main(int count, char **words) {
  gpu = gpu_or_skip();
  if (!gpu) return 77;
  (void)stl_sphere("parity_fluid.stl", (const double[]){0, 0, 0}, 0.57, 2);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu), cmocka_unit_test(test_restart),
                                     cmocka_unit_test(test_twin), cmocka_unit_test(test_guards),
                                     cmocka_unit_test(test_mass)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
