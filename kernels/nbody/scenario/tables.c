#include "kernels/nbody/scenario/tables.h"

#include "kernels/nbody/cosmos/spectrum.h"
#include "kernels/nbody/ops.h"
#include "kernels/nbody/scenario/molecules.h"
#include "kernels/nbody/scenario/orbits.h"

#include <stdio.h>
#include <string.h>

#define ENERGY                                                                                                         \
  { 2, 1, -2 }
#define COLUMN(text, ...)                                                                                              \
  { .name = #text, .type = SIM_REAL, __VA_ARGS__ }

static const sim_field energy_columns[] = {
    COLUMN(kinetic, .dimension = ENERGY, .doc = "kinetic energy; with expansion of the peculiar velocities, a dx/dt"),
    COLUMN(potential, .dimension = ENERGY,
           .doc =
               "potential energy of pairs (softened, or shifted at the cutoff) and in the external potential; NaN if "
               "unknown; with expansion that of the comoving positions, over a"),
    COLUMN(total, .dimension = ENERGY, .doc = "kinetic + potential"),
    COLUMN(
        error, .flags = SIM_HEALTH, .display = SIM_DISPLAY_ERROR,
        .doc =
            "relative energy error: (total - total at the start)/|total at the start|, in a periodic box, where the "
            "zero of "
            "the potential is arbitrary, over kinetic + |potential|; with a thermostat of what it conserves; NaN if "
            "external depends on t; "
            "with expansion the change of a total + I since the start, over a kinetic + I, where I is the integral of "
            "kinetic over a (Layzer and Irvine)"),
    COLUMN(virial_ratio, .display = SIM_DISPLAY_RATIO,
           .doc = "2 kinetic / |potential|: 1 in virial equilibrium; NaN in a periodic box"),
    COLUMN(momentum_x, .dimension = {1, 1, -1}, .doc = "total momentum, x"),
    COLUMN(momentum_y, .dimension = {1, 1, -1}, .doc = "total momentum, y"),
    COLUMN(momentum_z, .dimension = {1, 1, -1}, .doc = "total momentum, z"),
    COLUMN(angular_momentum_x, .dimension = {2, 1, -1},
           .doc = "total angular momentum about the origin, x; NaN in a periodic box"),
    COLUMN(angular_momentum_y, .dimension = {2, 1, -1}, .doc = "total angular momentum about the origin, y"),
    COLUMN(angular_momentum_z, .dimension = {2, 1, -1}, .doc = "total angular momentum about the origin, z"),
    COLUMN(centre_x, .dimension = {1, 0, 0}, .doc = "centre of mass, x; NaN in a periodic box"),
    COLUMN(centre_y, .dimension = {1, 0, 0}, .doc = "centre of mass, y"),
    COLUMN(centre_z, .dimension = {1, 0, 0}, .doc = "centre of mass, z"),
    {0}};

const double nbody_radius_fractions[NBODY_RADII] = {0.10, 0.25, 0.50, 0.75, 0.90};
static const sim_field lagrangian_columns[] = {
    COLUMN(r10, .display = SIM_DISPLAY_LOG, .dimension = {1, 0, 0},
           .doc = "radius about the centre of mass that contains 10 % of the total mass"),
    COLUMN(r25, .display = SIM_DISPLAY_LOG, .dimension = {1, 0, 0}, .doc = "the same, 25 %"),
    COLUMN(r50, .display = SIM_DISPLAY_LOG, .dimension = {1, 0, 0}, .doc = "the same, 50 %"),
    COLUMN(r75, .display = SIM_DISPLAY_LOG, .dimension = {1, 0, 0}, .doc = "the same, 75 %"),
    COLUMN(r90, .display = SIM_DISPLAY_LOG, .dimension = {1, 0, 0}, .doc = "the same, 90 %"),
    {0}};

static const sim_table energy_table = {"energy", "conserved quantities and virial ratio", energy_columns};
static const sim_table lagrangian_table = {"lagrangian", "Lagrangian radii; NaN in a periodic box", lagrangian_columns};
const sim_table *const nbody_tables[] = {&energy_table, &lagrangian_table, NULL};
static const sim_field observe_columns[] = {
    COLUMN(NAME, .display = SIM_DISPLAY_ALONE, .doc = "the function NAME of `observe`, reduced over all bodies"), {0}};
static const sim_table observe_table = {"observe", "functions of the scenario; with observe", observe_columns};
static const sim_field spectrum_columns[] = {
    COLUMN(shot_noise, .display = SIM_DISPLAY_NUMBER, .dimension = {3, 0, 0},
           .doc = "power of bodies at random, V sum m^2 / (sum m)^2, which P contains"),
    COLUMN(P_NUMBER, .display = SIM_DISPLAY_SPECTRUM, .dimension = {3, 0, 0},
           .doc = "power V <|delta_k|^2> over the waves with |k| L / 2 pi in a shell about NUMBER"),
    COLUMN(linear_NUMBER, .display = SIM_DISPLAY_SPECTRUM, .dimension = {3, 0, 0},
           .doc = "linear theory of sim.zeldovich, over the same waves"),
    {0}};
static const sim_table spectrum_table = {"spectrum", "power spectrum of the density; with spectrum", spectrum_columns};
static const sim_field force_error_columns[] = {
    COLUMN(median, .display = SIM_DISPLAY_ERROR,
           .doc = "|da| / |a| of the acceleration by the other bodies, median of 1000 bodies; NaN: direct sums"),
    COLUMN(tail, .display = SIM_DISPLAY_ERROR, .doc = "the same, of 99.9 % of them"),
    COLUMN(potential, .display = SIM_DISPLAY_ERROR,
           .doc = "|sum of du| / sum of |u| of their potential energies u: about the relative error of `potential` in "
                  "the table energy, which changes slowly; a change of `error` below it may be that of the multipoles"),
    {0}};
const sim_table nbody_force_error_table = {"force_error", "error of fast multipoles; unless solver is direct",
                                           force_error_columns};
static const sim_field level_described[] = {COLUMN(level_L, .doc = "bodies of level L, with steps of dt / 2^L"), {0}};
static const sim_table level_table = {
    "levels", "levels that the bodies have at the beginning of a step; with integrate.steps = \"individual\"",
    level_described};
static const sim_field event_columns[] = {
    COLUMN(mergers, .display = SIM_DISPLAY_ALONE, .doc = "mergers since the start"),
    COLUMN(escapers, .display = SIM_DISPLAY_ALONE, .doc = "escapers since the start"),
    COLUMN(bodies, .display = SIM_DISPLAY_ALONE, .doc = "bodies left"),
    COLUMN(last_time, .display = SIM_DISPLAY_NUMBER, .dimension = {0, 0, 1},
           .doc = "time of the last event; NaN: none yet"),
    COLUMN(last_body, .display = SIM_DISPLAY_NUMBER, .doc = "id of the body that took up another one, or escaped"),
    COLUMN(last_other, .display = SIM_DISPLAY_NUMBER, .doc = "id of the body that was taken up; NaN of an escape"),
    COLUMN(last_speed, .display = SIM_DISPLAY_NUMBER, .dimension = {1, 0, -1},
           .doc = "relative speed at the touch; of an escaper relative to the centre of mass"),
    COLUMN(energy, .dimension = ENERGY,
           .doc = "energy that all events have taken away, by which `error` in the table energy is corrected"),
    {0}};
_Static_assert(sizeof event_columns / sizeof *event_columns == NBODY_EVENT_COLUMNS + 1, "as nbody_observe_events");
const sim_table nbody_events_table = {"events", "bodies that merged or escaped; with merge or escape", event_columns};
const sim_table *const nbody_described_tables[] = {&nbody_force_error_table,
                                                   &level_table,
                                                   &observe_table,
                                                   &spectrum_table,
                                                   &nbody_orbits_described,
                                                   &nbody_events_table,
                                                   &nbody_thermo_table,
                                                   &nbody_rdf_described,
                                                   NULL};

#define LEVEL(number)                                                                                                  \
  { .name = "level_" #number, .type = SIM_REAL, .doc = "bodies of level " #number ", with steps of dt / 2^" #number }
static const sim_field level_columns[NBODY_LEVELS_MAX + 1] = {
    LEVEL(0),  LEVEL(1),  LEVEL(2),  LEVEL(3),  LEVEL(4),  LEVEL(5),  LEVEL(6),
    LEVEL(7),  LEVEL(8),  LEVEL(9),  LEVEL(10), LEVEL(11), LEVEL(12), LEVEL(13),
    LEVEL(14), LEVEL(15), LEVEL(16), LEVEL(17), LEVEL(18), LEVEL(19), LEVEL(20)};

static void make_level_table(nbody_parameters *p) {
  memcpy(p->level_columns, level_columns, ((size_t)p->integrate.levels + 1) * sizeof *level_columns);
  p->level_columns[p->integrate.levels + 1] = (sim_field){0};
  p->level_table = (sim_table){level_table.name, level_table.doc, p->level_columns};
}

int nbody_table_of(const nbody_parameters *p, const sim_table *table) {
  for (int i = 0; p->tables[i] != NULL; i++)
    if (p->tables[i] == table) return i;
  return -1;
}

/* Appends the columns of the shells, for the measured power or for linear theory. */
static void add_shells(nbody_parameters *p, const char *what, const char *doc, size_t *count) {
  nbody_shell shells[NBODY_SHELLS_MAX];
  const int shell_count = nbody_shells(p->spectrum, shells);
  for (int i = 0; i < shell_count; i++, (*count)++) {
    char *const name = p->spectrum_names[*count], *const text = p->spectrum_docs[*count];
    snprintf(name, sizeof p->spectrum_names[0], "%s_%lld", what, (long long)shells[i].number);
    snprintf(text, sizeof p->spectrum_docs[0], "%s, |k| L / 2 pi from %g to %g", doc, shells[i].low, shells[i].high);
    p->spectrum_columns[*count] = (sim_field){
        .name = name, .type = SIM_REAL, .doc = text, .display = SIM_DISPLAY_SPECTRUM, .dimension = {3, 0, 0}};
  }
}

static const sim_table *make_spectrum(nbody_parameters *p) {
  size_t count = 1;
  p->spectrum_columns[0] = spectrum_columns[0];
  add_shells(p, "P", "power V <|delta_k|^2>", &count);
  if (nbody_zeldovich_of(p) != NULL) add_shells(p, "linear", "power by linear theory", &count);
  p->spectrum_columns[count] = (sim_field){0};
  p->spectrum_table = (sim_table){"spectrum", "power spectrum of the density", p->spectrum_columns};
  return &p->spectrum_table;
}

static const sim_table *make_observe(nbody_parameters *p, sim_faults *faults) {
  static const char *const docs[] = {"sum over all bodies", "mean over all bodies", "minimum over all bodies",
                                     "maximum over all bodies"};
  for (size_t i = 0; i < p->observe.count; i++) {
    const sim_named_function *item = &p->observe.items[i];
    char path[SIM_EXPR_NAME_MAX + 16];
    snprintf(path, sizeof path, "observe.%s", item->name);
    if (strcmp(item->name, "step") == 0 || strcmp(item->name, "time") == 0)
      sim_faults_add(faults, item->line, path, "this name is taken: every table has a column %s", item->name);
    p->observe_columns[i] = (sim_field){.name = item->name,
                                        .type = SIM_REAL,
                                        .doc = docs[item->reduce],
                                        .flags = SIM_REPORTED,
                                        .display = SIM_DISPLAY_ALONE};
  }
  p->observe_columns[p->observe.count] = (sim_field){0};
  p->observe_table = (sim_table){"observe", "functions of the scenario", p->observe_columns};
  return &p->observe_table;
}

void nbody_make_tables(nbody_parameters *p, sim_faults *faults) {
  const sim_table **table = p->tables;
  for (const sim_table *const *own = nbody_tables; *own != NULL; own++) *table++ = *own;
  if (p->gravity.solver != NBODY_DIRECT && p->integrate.scheme != NBODY_HERMITE4 &&
      !nbody_scheme_is_few(p->integrate.scheme) && p->pair == NULL && p->pair_force == NULL)
    *table++ = &nbody_force_error_table;
  if (p->integrate.steps == NBODY_INDIVIDUAL) {
    make_level_table(p);
    *table++ = &p->level_table;
  }
  if (p->observe.count > 0 && p->observe.count <= SIM_COLUMNS_FEW) *table++ = make_observe(p, faults);
  if (p->spectrum >= NBODY_SPECTRUM_GRID_MIN && p->spectrum <= NBODY_SPECTRUM_GRID_MAX) *table++ = make_spectrum(p);
  if (p->orbits != NULL) *table++ = nbody_make_orbit_table(p);
  if (p->merge || p->escape.given) *table++ = &nbody_events_table;
  if (p->cutoff > 0 || p->thermostat.given) *table++ = &nbody_thermo_table;
  if (p->rdf.given && p->rdf.bins >= 1 && p->rdf.bins <= SIM_COLUMNS_FEW) *table++ = nbody_make_rdf_table(p);
  *table = NULL;
  if (p->observe.count > SIM_COLUMNS_FEW)
    sim_faults_add(faults, 0, "observe", "expected at most %d functions, got %zu", SIM_COLUMNS_FEW, p->observe.count);
}
