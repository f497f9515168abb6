#include "tests/parity/fluid_compare.h"

#include "kernels/fluid/run/run.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* In units of the lattice: a step rounds j, below 0.3, and each S, below 0.1, a few times to eps = 2^-53 or 2^-24 of
 * them; sums of what arrives are of differences, which are smaller. So j is off by less than eps more after each step,
 * and viscosity only spreads what has been there. In single the GPU keeps 5 bits less of each S (6 in 2-D): 64 eps 0.1,
 * of which a step moves the difference between neighbours into j, times 1/3, the sum of the weights: 2 eps. */
double fluid_bound(bool single, int64_t steps) {
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

/* What a field may differ by, over the bound: a velocity by its unit; a derivative by those of two velocities that are
 * half a cell apart; Q by 2 grad u times that, for each of nine; a stress by 2 u times that of a velocity. */
static double field_scale(const flow *f, const char *name) {
  const fluid_numbers k = fluid_numbers_of(f->p, 0);
  const double unit = k.dx / k.dt, derivative = 4 / k.dt;
  if (strncmp(name, "velocity", 8) == 0 || strncmp(name, "mean_velocity", 13) == 0) return unit;
  if (strstr(name, "pressure")) return f->p->density * unit * unit / 3;
  if (strstr(name, "temperature")) return 4 * range_of(f);
  if (strncmp(name, "vorticity", 9) == 0) return 2 * derivative;
  if (strcmp(name, "shear") == 0) return 6 * derivative;
  if (strcmp(name, "q") == 0) return 18 * derivative / k.dt;
  return strncmp(name, "stress", 6) == 0 ? 2 * unit * unit : 0;
}

void fluid_compare_runs(flow *a, flow *b, bool single, int64_t steps, const char *what) {
  const grid_shape g = fluid_grid_of(a->p);
  double worst = 0;
  flow_look(a);
  flow_look(b);
  for (size_t f = 0; f < a->frame.array_count; f++) {
    const char *name = a->arrays[f].field->name;
    const double whole = a->arrays[f].mesh ? field_scale(a, name) : 0;
    if (whole == 0) continue;
    const bool warm = strstr(name, "temperature");
    for (int64_t row = 0; row < g.n[1] * g.n[2]; row++)
      for (int64_t x = 0; x < g.n[0]; x++) {
        const int64_t y = row % g.n[1], z = row / g.n[1];
        const double value = flow_field(a, name, x, y, z), far = fabs(value - flow_field(b, name, x, y, z));
        /* the shift of temperatures is added to what differs */
        const double off = warm ? fmax(0, far - 2 * DBL_EPSILON * fabs(value)) : far;
        const double share = off / whole / fluid_bound(single, steps);
        if (!(share <= worst)) worst = share;
        if (!(share <= 1))
          fail_msg("%s: %s differs by %.3e of its unit in {%d, %d, %d}", what, name, off / whole, (int)x, (int)y,
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

/* Of a column of `bodies`; force: the largest that there could be. y+ grows as the root of a Reynolds number of a cell,
 * which is off by the bound of the velocity; sure: it is the same. */
static double body_scale(const flow *f, const char *name, double force, double bound) {
  const fluid_numbers k = fluid_numbers_of(f->p, 0);
  const size_t length = strlen(name);
  const double speed = f->p->speed;
  if (length > 5 && strcmp(name + length - 5, "_sure") == 0) return 0;
  if (strstr(name, "_yplus")) return sqrt(2 * k.dx * k.dx / k.dt / f->p->viscosity / bound);
  const bool coefficient = length > 3 && name[length - 3] == '_' && name[length - 2] == 'c';
  return coefficient ? force / (f->p->density * speed * speed / 2 * 0.25) : force; /* areas and lengths of a quarter */
}

/* Rows of tables: sums over cells and links of what differs as above. */
void fluid_compare_tables(flow *a, flow *b, bool single, int64_t steps, const char *what) {
  const sim_table *const *tables = sim_model_tables(&fluid_model, a->p);
  const fluid_numbers k = fluid_numbers_of(a->p, 0);
  const grid_shape g = fluid_grid_of(a->p);
  const double unit = k.dx / k.dt, near = fluid_bound(single, steps);
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
      if (bodies) scale = body_scale(a, tables[t]->columns[c].name, scale, near);
      /* all cells of a plane; energy: half a square, over the width of a bin */
      const double most = fmax(unit, unit * unit) * a->p->density, length = fmax(g.size[0], fmax(g.size[1], g.size[2]));
      if (strcmp(tables[t]->name, "gates") == 0) scale = 2 * most * fmax(1, pow(k.dx * (double)g.n[0], g.rank - 1));
      if (strcmp(tables[t]->name, "spectrum") == 0) scale = unit * unit * length;
      if (strcmp(tables[t]->name, "grains") == 0) scale = grain_scale(a, tables[t]->columns[c].name);
      double drive[3];
      if (strcmp(tables[t]->name, "porous") == 0) /* porosity, mean velocity, permeability */
        scale = c == 0 ? 0 : c <= g.rank ? unit : a->p->viscosity * unit / fmax(fluid_driving(a->p, drive), 1e-300);
      if (strcmp(tables[t]->name, "flow") == 0)
        scale = c == FLUID_MASS        ? mass
                : c == FLUID_KINETIC   ? mass * unit * unit
                : c == FLUID_ENSTROPHY ? mass * 4 / (k.dt * k.dt)
                : c == FLUID_SPEED     ? 2 * unit
                : c == FLUID_MACH      ? 4
                : c < FLUID_MOMENTUM + g.rank
                    ? mass * unit
                    : 4 * fmax(2 * unit / a->p->speed, 8); /* of velocities, and of temperatures over their range */
      if (!(fabs(va[c] - vb[c]) <= near * scale + 1e-14 * fabs(va[c])))
        fail_msg("%s: %s.%s is %.17g on the CPU, %.17g on the GPU", what, tables[t]->name, tables[t]->columns[c].name,
                 va[c], vb[c]);
    }
  }
}

void fluid_compare_devices(const char *text, const sim_backend *device, bool single, int64_t steps, int rounds,
                           sim_grid_reader *reader, const char *what) {
  flow a, b;
  flow_begin(&a, text, &sim_backend_cpu, 2, NULL, reader);
  flow_begin(&b, text, device, 2, NULL, reader);
  fluid_compare_tables(&a, &b, single, steps, what);
  flow_steps(&a, steps);
  flow_steps(&b, steps);
  fluid_compare_runs(&a, &b, single, rounds * steps, what);
  fluid_compare_tables(&a, &b, single, rounds * steps, what);
  flow_close(&a);
  flow_close(&b);
}

void fluid_check_restart(const char *text, const sim_backend *backend, int64_t steps, sim_grid_reader *reader) {
  char straight[33], again[33], resumed[33];
  flow f, g;
  for (int k = 0; k < 2; k++) {
    flow_begin(&f, text, backend, 2, NULL, reader);
    flow_steps(&f, steps);
    flow_digest(&f, k ? again : straight);
    flow_close(&f);
  }
  assert_string_equal(straight, again);
  flow_begin(&f, text, backend, 2, NULL, reader);
  flow_steps(&f, 23);
  flow_look(&f);
  flow_begin(&g, text, backend, 2, &f.frame, reader);
  flow_steps(&g, steps - 23);
  flow_digest(&g, resumed);
  assert_string_equal(straight, resumed);
  flow_close(&f);
  flow_close(&g);
}
