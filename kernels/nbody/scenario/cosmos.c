#include "kernels/nbody/scenario/cosmos.h"

#include "kernels/nbody/cosmos/spectrum.h"
#include "kernels/common/vector.h"

#include <math.h>
#include <stdio.h>

double nbody_box_side(const nbody_parameters *p) { return p->box.given ? p->box.size : NAN; }

const nbody_zeldovich *nbody_zeldovich_of(const nbody_parameters *p) {
  for (size_t i = 0; i < p->bodies.count; i++)
    if (p->bodies.items[i].schema == &nbody_zeldovich_schema) return p->bodies.items[i].data;
  return NULL;
}

static void check_universe(const nbody_parameters *p, sim_faults *faults) {
  const nbody_expansion *e = &p->expansion;
  const nbody_integrate *i = &p->integrate;
  if (!(nbody_box_side(p) > 0))
    sim_faults_add(faults, 0, "expansion", "expected box = { size, boundary = \"periodic\" } beside it, got no box");
  if (p->common.units.given)
    sim_faults_add(
        faults, 0, "expansion",
        "expected no `units` beside it: H0 and gravity.G say the units, by default Mpc/h, km/s and 10^10 solar "
        "masses/h");
  if (p->external != NULL) sim_faults_add(faults, 0, "external", "expected gravity alone beside expansion");
  if (p->pair != NULL || p->pair_force != NULL)
    sim_faults_add(faults, 0, p->pair != NULL ? "pair" : "pair_force", "expected gravity alone beside expansion");
  if (i->scheme != NBODY_LEAPFROG)
    sim_faults_add(faults, 0, "integrate.scheme", "expected \"leapfrog\", the only scheme with expansion");
  if (i->steps == NBODY_INDIVIDUAL)
    sim_faults_add(faults, 0, "integrate.steps",
                   "expected \"shared\", got \"individual\", whose steps halve a time, and not da/a as with expansion");
  if (isnan(i->dt) || i->dt > 0.5)
    sim_faults_add(faults, 0, "integrate.dt", "expected da/a of a step, a number up to 0.5, with expansion");
  if (!(i->t_end > e->a_start))
    sim_faults_add(faults, 0, "integrate.t_end", "expected a scale factor above expansion.a_start = %.9g, got %.9g",
                   e->a_start, i->t_end);
  if (!nbody_expansion_lasts(e, fmax(1, i->t_end)))
    sim_faults_add(
        faults, 0, "expansion.omega_lambda",
        "with omega_m = %.9g and omega_lambda = %.9g the universe does not expand at all scale factors from 0 "
        "to %.9g",
        e->omega_m, e->omega_lambda, fmax(1, i->t_end));
}

/* Least share of the variance in spheres of radius 8 that the rows of a spectrum must hold where sigma8 scales it; the
 * rest comes from the power laws at both ends. */
static const double SIGMA8_SHARE = 0.98;

/* Adds faults of the rows {k, P} of a spectrum: positive, k rising, over all waves of the lattice. */
static void check_power(const nbody_zeldovich *z, double size, const char *path, int line, sim_faults *faults) {
  const double *row = z->power.data;
  const size_t rows = z->power.rows;
  const double unit = 2 * pi / size, least = unit, most = unit * sqrt(3) * (double)((z->n - 1) / 2);
  if (rows == 1) sim_faults_add(faults, line, path, "expected at least 2 rows, got 1");
  if (rows < 2) return;
  for (size_t i = 0; i < rows; i++, row += 2)
    if (!(row[0] > 0 && row[1] > 0 && isfinite(row[0]) && isfinite(row[1])) || (i > 0 && !(row[0] > row[-2]))) {
      sim_faults_add(faults, line, path, "expected k > 0 and rising, and P > 0, got { %.9g, %.9g } in row %zu", row[0],
                     row[1], i + 1);
      return;
    }
  if (z->power.data[0] > least || row[-2] < most)
    sim_faults_add(faults, line, path,
                   "expected k from at most %.6g to at least %.6g, the waves of the lattice, got %.6g "
                   "to %.6g",
                   least, most, z->power.data[0], row[-2]);
  const nbody_power power = {.rows = &z->power, .scale = 1};
  const double share = isnan(z->sigma8) ? 1 : nbody_sigma_within(&power, 8);
  if (!(share >= SIGMA8_SHARE))
    sim_faults_add(faults, line, path,
                   "sigma8 expected rows of all waves that it consists of, k of some 0.01 to 3, got %.6g to %.6g with "
                   "%.3g %% of it: add rows, or leave out sigma8 to take P as it is",
                   z->power.data[0], row[-2], 100 * share);
}

static void check_zeldovich(const nbody_parameters *p, size_t i, sim_faults *faults) {
  const sim_item *item = &p->bodies.items[i];
  const nbody_zeldovich *z = item->data;
  char path[64];
  snprintf(path, sizeof path, "bodies[%zu]", i + 1);
  if (!p->expansion.given)
    sim_faults_add(faults, item->line, path, "sim.zeldovich expected expansion = { omega_m, omega_lambda, a_start }");
  if (!(nbody_box_side(p) > 0))
    sim_faults_add(faults, item->line, path,
                   "sim.zeldovich expected box = { size, boundary = \"periodic\" } beside it");
  snprintf(path, sizeof path, "bodies[%zu].omega_b", i + 1);
  if (!isnan(z->omega_b) && z->omega_b > p->expansion.omega_m)
    sim_faults_add(faults, item->line, path, "expected at most omega_m = %.9g, got %.9g", p->expansion.omega_m,
                   z->omega_b);
  snprintf(path, sizeof path, "bodies[%zu]", i + 1);
  if (p->expansion.given && p->expansion.H0 != 100 && (z->power.rows == 0 || !isnan(z->sigma8)))
    sim_faults_add(faults, item->line, path,
                   "the built-in spectrum and sigma8 are for lengths in Mpc/h, with expansion.H0 = 100, got %.9g: give "
                   "`power` without sigma8",
                   p->expansion.H0);
  if (z->power.rows == 0) return;
  if (!isnan(z->omega_b)) sim_faults_add(faults, item->line, path, "has no effect: power is given");
  snprintf(path, sizeof path, "bodies[%zu].index", i + 1);
  if (!isnan(z->index)) sim_faults_add(faults, item->line, path, "has no effect: power is given");
  snprintf(path, sizeof path, "bodies[%zu].power", i + 1);
  if (nbody_box_side(p) > 0) check_power(z, nbody_box_side(p), path, item->line, faults);
}

void nbody_check_expansion(const nbody_parameters *p, sim_faults *faults) {
  if (p->expansion.given) check_universe(p, faults);
  for (size_t i = 0; i < p->bodies.count; i++)
    if (p->bodies.items[i].schema == &nbody_zeldovich_schema) check_zeldovich(p, i, faults);
  if (p->spectrum == 0) return;
  if (p->spectrum < NBODY_SPECTRUM_GRID_MIN || p->spectrum % 2 != 0)
    sim_faults_add(faults, 0, "spectrum", "expected an even number from %d to %d, or 0, got %lld",
                   NBODY_SPECTRUM_GRID_MIN, NBODY_SPECTRUM_GRID_MAX, (long long)p->spectrum);
  if (!(nbody_box_side(p) > 0))
    sim_faults_add(faults, 0, "spectrum", "expected box = { size, boundary = \"periodic\" } beside it");
}

/* A relative error of 1e-6 leaves room for masses that are given in single precision. */
sim_status nbody_check_density(const nbody_parameters *p, const nbody_bodies *bodies) {
  if (!p->expansion.given) return SIM_OK;
  double mass = 0;
  for (int64_t i = 0; i < bodies->n; i++) mass += bodies->mass[i];
  const double density = nbody_mean_density(&p->expansion, nbody_gravitational_constant(p));
  const double expected = density * pow(nbody_box_side(p), 3);
  if (fabs(mass - expected) <= 1e-6 * expected) return SIM_OK;
  return sim_fail(
      SIM_ERR_SCENARIO,
      "bodies: expected a total mass of %.9g, omega_m 3 H0^2/(8 pi G) times the volume of the box, got %.9g", expected,
      mass);
}
