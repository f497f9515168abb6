/* The model's parameters: field tables, and the rules between fields. */
#include "kernels/nbody/cosmos/spectrum.h"
#include "kernels/nbody/scenario/cosmos.h"
#include "kernels/nbody/scenario/few.h"
#include "kernels/nbody/scenario/fields.h"
#include "kernels/nbody/scenario/laws.h"
#include "kernels/nbody/scenario/molecules.h"
#include "kernels/nbody/scenario/orbits.h"
#include "kernels/nbody/scenario/tables.h"

#include <math.h>
#include <string.h>

/* ---- functions ---- */

static const sim_signature external_signature = {.inputs =
                                                     (const char *const[]){"x", "y", "z", "vx", "vy", "vz", "t", NULL},
                                                 .outputs = {1, 3},
                                                 .returns = "potential, or acceleration ax, ay, az"};
static const sim_signature pair_signature = {.inputs = (const char *const[]){"r2", NULL}, .outputs = {1}};
static const sim_signature observe_signature = {
    .inputs = (const char *const[]){NBODY_BODY_INPUTS, NULL}, .record = true, .parameter = "body", .outputs = {1}};

/* ---- fields ---- */

static const char *const solver_names[] = {"auto", "direct", "fmm", NULL};

static const sim_field gravity_fields[] = {
    {SIM_FIELD(nbody_gravity, G), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "auto", .keyword = "auto", .dimension = {3, -1, -2},
     .doc = "gravitational constant; auto: 1, with `units` 6.67430e-11 m^3 kg^-1 s^-2 (CODATA 2018), with `expansion` "
            "43.00917, for Mpc/h, km/s and 10^10 solar masses/h"},
    {SIM_FIELD(nbody_gravity, softening), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = LENGTH, .doc = "Plummer softening: r is replaced by sqrt(r^2 + softening^2)"},
    {SIM_FIELD(nbody_gravity, solver), .type = SIM_CHOICE, .initial = "auto", .choices = solver_names,
     .doc = "direct: sums over all pairs; fmm: fast multipoles, time in proportion to the number of bodies; auto: the "
            "faster one for this number of bodies, error and device"},
    {SIM_FIELD(nbody_gravity, error), .type = SIM_REAL, .flags = SIM_RANGE, .min = 1e-6, .max = 1e-2, .initial = "auto",
     .keyword = "auto",
     .doc = "relative error of the acceleration by fast multipoles that half of the bodies stay below; it sets their "
            "order and opening angle. auto: 1e-4, with expansion 1e-2. Direct sums are exact to rounding"},
    {SIM_FIELD(nbody_gravity, error_tail), .type = SIM_REAL, .flags = SIM_RANGE, .min = 3e-4, .max = 1,
     .initial = "none", .keyword = "none",
     .doc = "the same for 99.9 % of the bodies, usually 10 to 100 times the median; none: only the median is aimed at"},
    {0}};
static const sim_schema gravity_schema = {SIM_SCHEMA(nbody_gravity, "gravity", "law of gravity", gravity_fields)};

static const char *const boundary_names[] = {"periodic", NULL};

static const sim_field box_fields[] = {
    {SIM_FIELD(nbody_box, size), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .dimension = LENGTH, .doc = "edge of the cube, which reaches from {0, 0, 0} to {size, size, size}"},
    {SIM_FIELD(nbody_box, boundary), .type = SIM_CHOICE, .initial = "periodic", .choices = boundary_names,
     .doc = "periodic: bodies that leave enter on the other side, and all images of a body attract; the mean density "
            "does not"},
    {0}};
static const sim_schema box_schema = {
    .name = "box", .doc = "periodic box", .fields = box_fields, .size = sizeof(nbody_box)};

static const sim_field expansion_fields[] = {
    {SIM_FIELD(nbody_expansion, omega_m), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = 10,
     .doc = "density of matter over the critical density, at a = 1"},
    {SIM_FIELD(nbody_expansion, omega_lambda), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE, .max = 10,
     .doc = "the same of the cosmological constant; the rest of 1 is curvature"},
    {SIM_FIELD(nbody_expansion, h), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = 10, .initial = "0.7",
     .doc = "Hubble constant in 100 km/s/Mpc; enters the formula of sim.zeldovich alone"},
    {SIM_FIELD(nbody_expansion, H0), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "100", .dimension = {0, 0, -1},
     .doc = "Hubble constant in the scenario's units; 100 for lengths in Mpc/h and velocities in km/s"},
    {SIM_FIELD(nbody_expansion, a_start), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .doc = "scale factor at the start, 1/(1 + z)"},
    {0}};
static const sim_schema expansion_schema = {.name = "expansion",
                                            .doc = "expanding universe of matter and a cosmological constant",
                                            .fields = expansion_fields,
                                            .size = sizeof(nbody_expansion)};

static const char *const shift_names[] = {"potential", "none", NULL};

static const sim_field fields[] = {
    {SIM_FIELD(nbody_parameters, bodies), .type = SIM_LIST, .flags = SIM_REQUIRED, .variants = nbody_body_variants,
     .doc = "groups of bodies, or single ones as { mass = , position = , velocity = }"},
    {SIM_FIELD(nbody_parameters, recentre), .type = SIM_BOOL, .initial = "false",
     .doc = "whether all bodies are shifted at the start so that their centre of mass rests at the origin"},
    {SIM_FIELD(nbody_parameters, box), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &box_schema,
     .doc = "periodic box; without it space is open"},
    {SIM_FIELD(nbody_parameters, gravity), .type = SIM_STRUCT, .table = &gravity_schema, .doc = "law of gravity"},
    {SIM_FIELD(nbody_parameters, external), .type = SIM_FUNCTION, .signature = &external_signature,
     .doc = "external field: acceleration, or potential whose negative gradient is the acceleration; an acceleration "
            "that depends on vx, vy, vz needs ias15"},
    {SIM_FIELD(nbody_parameters, pair), .type = SIM_FUNCTION, .signature = &pair_signature, .flags = SIM_OR_NUMBER,
     .doc = "pair potential, instead of gravity: of two unit masses as a function of their squared distance; 0: no "
            "forces between bodies"},
    {SIM_FIELD(nbody_parameters, pair_force), .type = SIM_FUNCTION, .signature = &pair_signature,
     .flags = SIM_OR_NUMBER,
     .doc = "pair force f, instead of gravity: a mass m at x' accelerates a body at x by m f(r2) (x' - x); the "
            "potential energy is then unknown"},
    {SIM_FIELD(nbody_parameters, cutoff), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "none", .keyword = "none", .dimension = LENGTH,
     .doc =
         "distance beyond which pair or pair_force is 0, at most half the periodic box: pairs within it are found by "
         "lists, in time in proportion to the number of bodies"},
    {SIM_FIELD(nbody_parameters, shift), .type = SIM_CHOICE, .initial = "potential", .choices = shift_names,
     .doc = "with cutoff: potential: the pair potential is less by its value at the cutoff, so that the energy is that "
            "whose force the bodies feel; none: it jumps there"},
    {SIM_FIELD(nbody_parameters, thermostat), .type = SIM_STRUCT, .flags = SIM_OPTIONAL,
     .table = &nbody_thermostat_schema, .doc = "heat bath (leapfrog with steps of one length)"},
    {SIM_FIELD(nbody_parameters, rdf), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &nbody_rdf_schema,
     .doc = "the table `rdf`: radial distribution function of the bodies in a periodic box"},
    {SIM_FIELD(nbody_parameters, observe), .type = SIM_FUNCTION_MAP, .signature = &observe_signature,
     .doc = "columns of the table `observe`: functions of a body, reduced over all bodies by reduce = \"sum\", "
            "\"mean\", \"min\" or \"max\""},
    {SIM_FIELD(nbody_parameters, expansion), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &expansion_schema,
     .doc = "expanding universe: positions are comoving, `velocity` is a^2 dx/dt and the time is the scale factor a"},
    {SIM_FIELD(nbody_parameters, spectrum), .type = SIM_INT, .flags = SIM_RANGE, .max = NBODY_SPECTRUM_GRID_MAX,
     .initial = "0",
     .doc = "points along a side of the grid on which the table `spectrum` is measured, an even number: power of the "
            "density in shells of wave numbers; 0: no table"},
    {SIM_FIELD(nbody_parameters, orbits), .type = SIM_STRING,
     .doc = "species, the primary, about whose centre of mass the table `orbits` has the osculating elements of each "
            "single body with a species of its own, of 10 at most"},
    {SIM_FIELD(nbody_parameters, merge), .type = SIM_BOOL, .initial = "false",
     .doc = "whether bodies whose radii touch become one, with the mass, momentum and volume of both (ias15)"},
    {SIM_FIELD(nbody_parameters, escape), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &nbody_escape_schema,
     .doc = "bodies that are taken out (ias15)"},
    {SIM_FIELD(nbody_parameters, integrate), .type = SIM_STRUCT, .flags = SIM_REQUIRED,
     .table = &nbody_integrate_schema, .doc = "time stepping"},
    {0}};
const sim_schema nbody_schema = {
    SIM_SCHEMA(nbody_parameters, "nbody", "N-body dynamics: direct sums or fast multipoles", fields),
    .base = &sim_common_schema};

/* Largest softening over the box's edge: forces of softened images are expanded in this ratio. */
#define MOST_SOFTENING 0.125

static void check_box(const nbody_parameters *p, sim_faults *faults) {
  if (!p->box.given) return;
  if (p->recentre)
    sim_faults_add(faults, 0, "recentre", "expected open space: a periodic box has no centre of mass to shift");
  if (p->gravity.softening > MOST_SOFTENING * p->box.size)
    sim_faults_add(faults, 0, "gravity.softening", "expected at most an eighth of box.size, %.9g, got %.9g",
                   MOST_SOFTENING * p->box.size, p->gravity.softening);
  if (p->integrate.scheme == NBODY_HERMITE4)
    sim_faults_add(faults, 0, "integrate.scheme",
                   "hermite4 needs the time derivative of forces, which a periodic box does not give: expected "
                   "\"leapfrog\" or \"yoshida4\"");
}

/* ---- laws and observables of the scenario ---- */

static bool depends_on_place(const sim_expr *potential) {
  for (int i = 0; i < 3; i++)
    if (sim_expr_depends(potential, 0, i)) return true;
  return false;
}

static sim_status check_laws(const nbody_parameters *p, sim_faults *faults) {
  const bool law = p->pair != NULL || p->pair_force != NULL;
  const char *name = p->pair != NULL ? "pair" : "pair_force";
  const size_t before = faults->count;
  if (p->external != NULL && sim_expr_output_count(p->external) == 1 && !depends_on_place(p->external) &&
      !nbody_laws_need_velocity(p->external))
    sim_faults_add(faults, 0, "external", "expected a potential that depends on x, y or z: this one gives no force");
  if (p->pair != NULL && p->pair_force != NULL)
    sim_faults_add(faults, 0, "pair_force", "expected one of pair and pair_force, got both");
  if (law && !isnan(p->gravity.G)) sim_faults_add(faults, 0, "gravity.G", "has no effect: %s replaces gravity", name);
  if (law && p->gravity.softening != 0)
    sim_faults_add(faults, 0, "gravity.softening", "has no effect: %s replaces gravity", name);
  if (law && p->gravity.solver == NBODY_FMM)
    sim_faults_add(faults, 0, "gravity.solver",
                   "\"fmm\" is for gravity, and %s replaces it: expected \"direct\" or \"auto\"", name);
  if (nbody_laws_need_velocity(p->external)) {
    if (sim_expr_output_count(p->external) == 1)
      sim_faults_add(faults, 0, "external", "expected an acceleration where it depends on vx, vy, vz, got a potential");
    if (p->integrate.scheme != NBODY_IAS15)
      sim_faults_add(faults, 0, "external",
                     "depends on vx, vy, vz, which %s does not allow: expected integrate.scheme = \"ias15\"",
                     nbody_scheme_names[p->integrate.scheme]);
  }
  if (faults->count != before) return SIM_OK;

  nbody_laws laws;
  sim_expr *snap = NULL;
  const bool hermite = p->integrate.scheme == NBODY_HERMITE4;
  sim_status status = nbody_laws_create(p, &laws);
  if (status == SIM_OK && hermite && isnan(p->integrate.dt) && p->external != NULL) {
    status = nbody_laws_snap(&laws, &snap);
    sim_expr_free(&snap);
    if (status != SIM_OK) nbody_laws_free(&laws);
  }
  if (status == SIM_ERR_SCENARIO) {
    sim_faults_add(faults, 0, p->external != NULL ? "external" : name, "%s%s",
                   hermite ? "with its time derivatives, which hermite4 needs: " : "", sim_error_last()->message);
    return SIM_OK;
  }
  SIM_TRY(status);
  if (p->pair != NULL && !laws.no_pairs && !sim_expr_depends(p->pair, 0, 0))
    sim_faults_add(faults, 0, "pair", "expected a potential that depends on r2, or 0: this one gives no force");
  if (p->box.given && law && !laws.no_pairs && !(p->cutoff > 0))
    sim_faults_add(faults, 0, name,
                   "in a periodic box bodies attract by gravity, by a law with a cutoff, or not at all (pair = 0)");
  const double limit = p->integrate.max_energy_error;
  if (!isnan(limit) && !laws.potential_known)
    sim_faults_add(faults, 0, "integrate.max_energy_error", "needs potentials: the energy of a force alone is unknown");
  else if (!isnan(limit) && laws.time_dependent)
    sim_faults_add(faults, 0, "integrate.max_energy_error",
                   "has no effect if external depends on t: the energy is not conserved");
  nbody_laws_free(&laws);
  return SIM_OK;
}

/* Adds faults where direct sums, which have no error to choose, stand beside an error. */
static void check_error(const nbody_parameters *p, sim_faults *faults) {
  const char *why = NULL;
  if (p->pair != NULL || p->pair_force != NULL)
    why = p->pair != NULL ? "pair replaces gravity" : "pair_force replaces gravity";
  else if (p->integrate.scheme == NBODY_HERMITE4)
    why = "hermite4 takes direct sums, which are exact to rounding";
  else if (nbody_scheme_is_few(p->integrate.scheme))
    why = "ias15 and whfast take direct sums, which are exact to rounding";
  else if (p->gravity.solver == NBODY_DIRECT)
    why = "direct sums are exact to rounding";
  if (why == NULL) return;
  if (p->gravity.error > 0) sim_faults_add(faults, 0, "gravity.error", "has no effect: %s", why);
  if (p->gravity.error_tail > 0) sim_faults_add(faults, 0, "gravity.error_tail", "has no effect: %s", why);
}

double nbody_gravitational_constant(const nbody_parameters *p) {
  const sim_units *units = &p->common.units;
  if (!isnan(p->gravity.G)) return p->gravity.G;
  /* (GM of the sun, IAU 2015) 10^10 / (Mpc (km/s)^2) */
  if (p->expansion.given) return 1.3271244e20 * 1e10 / (3.0856775814913673e22 * 1e6);
  return units->given ? 6.67430e-11 / sim_units_si(units, (sim_dimension){3, -1, -2}) : 1;
}

sim_status nbody_validate(void *parameters, sim_faults *faults) {
  nbody_parameters *p = parameters;
  const bool law = p->pair != NULL || p->pair_force != NULL;
  check_error(p, faults);
  nbody_check_accuracy(&p->integrate, faults);
  SIM_TRY(check_laws(p, faults));
  nbody_make_tables(p, faults);
  if (!law) p->gravity.G = nbody_gravitational_constant(p);
  nbody_check_bodies(&p->bodies, faults);
  nbody_check_orbits(p, faults);
  nbody_check_encounters(p, faults);
  nbody_check_molecules(p, faults);
  check_box(p, faults);
  nbody_check_expansion(p, faults);
  if (!p->expansion.given) nbody_check_time(&p->integrate, p->gravity.softening, law, faults);
  if (nbody_scheme_is_few(p->integrate.scheme)) nbody_check_few(p, faults);
  if (p->gravity.solver == NBODY_FMM && p->integrate.scheme == NBODY_HERMITE4)
    sim_faults_add(faults, 0, "gravity.solver",
                   "\"fmm\" gives no time derivative of the force, which hermite4 needs: expected \"direct\" or "
                   "\"auto\", or integrate.scheme = \"leapfrog\" or \"yoshida4\"");
  return SIM_OK;
}
