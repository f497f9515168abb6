#include "kernels/nbody/scenario/molecules.h"

#include <math.h>
#include <stdio.h>

#define ENERGY                                                                                                         \
  { 2, 1, -2 }
#define LENGTH                                                                                                         \
  { 1, 0, 0 }

/* ---- parameters ---- */

static const char *const thermostat_names[] = {"langevin", "nose_hoover", NULL};

static const sim_field thermostat_fields[] = {
    {SIM_FIELD(nbody_thermostat, kind), .type = SIM_CHOICE, .flags = SIM_REQUIRED, .choices = thermostat_names,
     .doc = "langevin: friction and noise on each body, by BAOAB; nose_hoover: a chain of three variables that slows "
            "and speeds up all bodies alike"},
    {SIM_FIELD(nbody_thermostat, temperature), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .dimension = ENERGY, .doc = "k T, an energy"},
    {SIM_FIELD(nbody_thermostat, friction), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "none", .keyword = "none", .dimension = {0, 0, -1},
     .doc = "langevin: rate at which velocities are forgotten"},
    {SIM_FIELD(nbody_thermostat, time), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "none", .keyword = "none", .dimension = {0, 0, 1},
     .doc = "nose_hoover: time in which the temperature swings about its value; 100 steps and more"},
    {0}};
const sim_schema nbody_thermostat_schema = {
    .name = "thermostat", .doc = "heat bath", .fields = thermostat_fields, .size = sizeof(nbody_thermostat)};

static const sim_field rdf_fields[] = {{SIM_FIELD(nbody_rdf, bins), .type = SIM_INT, .flags = SIM_RANGE, .min = 1,
                                        .max = SIM_COLUMNS_FEW, .initial = "50", .doc = "shells of equal thickness"},
                                       {SIM_FIELD(nbody_rdf, radius), .type = SIM_REAL,
                                        .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY, .initial = "auto",
                                        .keyword = "auto", .dimension = LENGTH,
                                        .doc = "outer radius of the last shell; auto: box.size/2"},
                                       {0}};
const sim_schema nbody_rdf_schema = {
    .name = "rdf", .doc = "radial distribution function", .fields = rdf_fields, .size = sizeof(nbody_rdf)};

static const char *const lattice_names[] = {"fcc", "bcc", "sc", NULL};

static const sim_field lattice_fields[] = {
    {.name = "species",
     .offset = offsetof(nbody_group_fields, species),
     .type = SIM_STRING,
     .initial = "atoms",
     .doc = "name of the bodies' species in files"},
    {SIM_FIELD(nbody_lattice, kind), .type = SIM_CHOICE, .initial = "fcc", .choices = lattice_names,
     .doc = "fcc: face-centred cubic, 4 bodies a cell; bcc: body-centred, 2; sc: simple cubic, 1"},
    {SIM_FIELD(nbody_lattice, cells), .type = SIM_INT, .flags = SIM_REQUIRED | SIM_RANGE, .min = 1, .max = 1024,
     .doc = "cells along a side of the box"},
    {SIM_FIELD(nbody_lattice, mass), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "1", .dimension = {0, 1, 0}, .doc = "mass of a body"},
    {SIM_FIELD(nbody_lattice, temperature), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = ENERGY,
     .doc = "k T of the velocities: Maxwell's distribution without total momentum, scaled to this temperature exactly"},
    {0}};
const sim_schema nbody_lattice_schema = {.name = "lattice",
                                         .doc = "bodies on a lattice that fills the periodic box",
                                         .fields = lattice_fields,
                                         .size = sizeof(nbody_lattice)};

/* ---- rules ---- */

static void check_cutoff(const nbody_parameters *p, sim_faults *faults) {
  const bool no_pairs = p->pair != NULL && sim_expr_always_zero(p->pair, 0);
  const bool law = p->pair != NULL || p->pair_force != NULL;
  if (!(p->cutoff > 0)) {
    if (p->shift != NBODY_SHIFT_POTENTIAL) sim_faults_add(faults, 0, "shift", "has no effect without cutoff");
    return;
  }
  if (!law || no_pairs)
    sim_faults_add(faults, 0, "cutoff",
                   law ? "has no effect: bodies exert no forces"
                       : "has no effect without pair or "
                         "pair_force");
  else if (!p->box.given)
    sim_faults_add(faults, 0, "cutoff", "expected box = { size } beside it, got no box");
  else if (p->cutoff > 0.5 * p->box.size)
    sim_faults_add(faults, 0, "cutoff", "expected at most half of box.size, %.9g, got %.9g", 0.5 * p->box.size,
                   p->cutoff);
  if (p->gravity.solver != NBODY_AUTO)
    sim_faults_add(faults, 0, "gravity.solver", "has no effect with cutoff: pairs within it are found by lists");
  if (p->shift != NBODY_SHIFT_POTENTIAL && p->pair == NULL && p->pair_force != NULL)
    sim_faults_add(faults, 0, "shift", "has no effect with pair_force: the potential is unknown");
}

static void check_thermostat(const nbody_parameters *p, sim_faults *faults) {
  const nbody_thermostat *t = &p->thermostat;
  if (!t->given) return;
  if (t->kind == NBODY_LANGEVIN && isnan(t->friction))
    sim_faults_add(faults, 0, "thermostat.friction", "expected a number with langevin");
  if (t->kind == NBODY_LANGEVIN && !isnan(t->time))
    sim_faults_add(faults, 0, "thermostat.time", "has no effect with langevin: expected nose_hoover");
  if (t->kind == NBODY_NOSE_HOOVER && isnan(t->time))
    sim_faults_add(faults, 0, "thermostat.time", "expected a number with nose_hoover");
  if (t->kind == NBODY_NOSE_HOOVER && t->time < 5 * p->integrate.dt)
    sim_faults_add(faults, 0, "thermostat.time",
                   "expected at least 5 steps of integrate.dt = %.9g (100 and more are smooth), got %.9g",
                   p->integrate.dt, t->time);
  if (t->kind == NBODY_NOSE_HOOVER && !isnan(t->friction))
    sim_faults_add(faults, 0, "thermostat.friction", "has no effect with nose_hoover: expected langevin");
  if (p->integrate.scheme != NBODY_LEAPFROG || p->integrate.steps != NBODY_SHARED)
    sim_faults_add(faults, 0, "thermostat", "is for integrate.scheme = \"leapfrog\" with shared steps");
  if (isnan(p->integrate.dt))
    sim_faults_add(faults, 0, "integrate.dt", "expected a number, got \"adaptive\", with a thermostat");
  if (p->expansion.given) sim_faults_add(faults, 0, "thermostat", "has no meaning in an expanding universe");
}

static void check_rdf(const nbody_parameters *p, sim_faults *faults) {
  if (!p->rdf.given) return;
  if (!p->box.given)
    sim_faults_add(faults, 0, "rdf", "expected box = { size } beside it, got no box");
  else if (p->rdf.radius > 0.5 * p->box.size)
    sim_faults_add(faults, 0, "rdf.radius", "expected at most half of box.size, %.9g, got %.9g", 0.5 * p->box.size,
                   p->rdf.radius);
}

static void check_lattices(const nbody_parameters *p, sim_faults *faults) {
  for (size_t i = 0; i < p->bodies.count; i++) {
    const sim_item *item = &p->bodies.items[i];
    char path[64];
    snprintf(path, sizeof path, "bodies[%zu]", i + 1);
    if (item->schema == &nbody_lattice_schema && !p->box.given)
      sim_faults_add(faults, item->line, path, "sim.lattice fills a periodic box: expected box = { size }, got no box");
    if (item->schema == &nbody_lattice_schema && p->expansion.given)
      sim_faults_add(faults, item->line, path,
                     "sim.lattice has no meaning in an expanding universe: expected "
                     "sim.zeldovich");
  }
}

void nbody_check_molecules(const nbody_parameters *p, sim_faults *faults) {
  check_cutoff(p, faults);
  check_thermostat(p, faults);
  check_rdf(p, faults);
  check_lattices(p, faults);
}

/* ---- tables ---- */

#define COLUMN(text, ...)                                                                                              \
  { .name = #text, .type = SIM_REAL, __VA_ARGS__ }

static const sim_field thermo_columns[] = {
    COLUMN(
        temperature, .display = SIM_DISPLAY_ALONE, .dimension = ENERGY,
        .doc =
            "k T: twice the kinetic energy over the degrees of freedom, 3 a body with a mass, less 3 where the total "
            "momentum is kept; a motion of the centre of mass counts as heat"),
    COLUMN(pressure, .display = SIM_DISPLAY_ALONE, .dimension = {-1, 1, -2},
           .doc = "(2 kinetic + sum over pairs of r.F) / (3 V) of the pairs within cutoff; NaN without cutoff"),
    COLUMN(conserved, .dimension = ENERGY,
           .doc = "what the equations of motion conserve: total, less the heat from a Langevin thermostat, or with the "
                  "energy of the chain; `error` in the table energy is that of this quantity"),
    COLUMN(full_potential, .dimension = ENERGY,
           .doc =
               "potential energy of the law without cutoff and shift, with g(r) = 1 beyond cutoff; NaN where the law "
               "falls too slowly, or without cutoff"),
    COLUMN(full_pressure, .display = SIM_DISPLAY_ALONE, .dimension = {-1, 1, -2},
           .doc = "pressure of the law without cutoff, with g(r) = 1 beyond it"),
    COLUMN(displacement2, .display = SIM_DISPLAY_ALONE, .dimension = {2, 0, 0},
           .doc = "mean square displacement since the start: 6 D t in the long run; NaN without cutoff"),
    {0}};
_Static_assert(sizeof thermo_columns / sizeof *thermo_columns == NBODY_THERMO_COLUMNS + 1, "as the enum");
const sim_table nbody_thermo_table = {"thermo", "temperature and pressure; with cutoff or thermostat", thermo_columns};

static const sim_field rdf_described[] = {
    COLUMN(g_NUMBER, .display = SIM_DISPLAY_PROFILE,
           .doc = "radial distribution function in shell NUMBER of rdf.bins up to rdf.radius, of the bodies in this "
                  "row; with M pairs in the shell the error by counting is g / M^(1/2): take the mean of rows"),
    {0}};
const sim_table nbody_rdf_described = {"rdf", "radial distribution function g(r); with rdf", rdf_described};

const sim_table *nbody_make_rdf_table(nbody_parameters *p) {
  const double radius = isnan(p->rdf.radius) ? 0.5 * p->box.size : p->rdf.radius;
  const double width = radius / (double)p->rdf.bins;
  for (int64_t k = 0; k < p->rdf.bins; k++) {
    snprintf(p->rdf_names[k], sizeof p->rdf_names[k], "g_%lld", (long long)(k + 1));
    snprintf(p->rdf_docs[k], sizeof p->rdf_docs[k], "g(r), r from %.6g to %.6g", (double)k * width,
             (double)(k + 1) * width);
    p->rdf_columns[k] =
        (sim_field){.name = p->rdf_names[k], .type = SIM_REAL, .doc = p->rdf_docs[k], .display = SIM_DISPLAY_PROFILE};
  }
  p->rdf_columns[p->rdf.bins] = (sim_field){0};
  p->rdf_table = (sim_table){"rdf", "radial distribution function g(r)", p->rdf_columns};
  return &p->rdf_table;
}
