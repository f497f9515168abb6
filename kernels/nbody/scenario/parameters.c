/* The model's parameters: field tables, and the rules between fields. */
#include "kernels/nbody/cosmos/spectrum.h"
#include "kernels/nbody/scenario/cosmos.h"
#include "kernels/nbody/scenario/few.h"
#include "kernels/nbody/scenario/laws.h"
#include "kernels/nbody/scenario/molecules.h"
#include "kernels/nbody/scenario/orbits.h"
#include "kernels/nbody/scenario/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- functions ---- */

static const sim_signature field_signature = {
    .inputs = (const char *const[]){"x", "y", "z", NULL}, .outputs = {3}, .returns = "vx, vy, vz"};
static const sim_signature external_signature = {.inputs =
                                                     (const char *const[]){"x", "y", "z", "vx", "vy", "vz", "t", NULL},
                                                 .outputs = {1, 3},
                                                 .returns = "potential, or acceleration ax, ay, az"};
static const sim_signature pair_signature = {.inputs = (const char *const[]){"r2", NULL}, .outputs = {1}};
static const sim_signature observe_signature = {
    .inputs = (const char *const[]){NBODY_BODY_INPUTS, NULL}, .record = true, .parameter = "body", .outputs = {1}};

/* ---- fields ---- */

#define LENGTH                                                                                                         \
  { 1, 0, 0 }
#define MASS                                                                                                           \
  { 0, 1, 0 }
#define TIME                                                                                                           \
  { 0, 0, 1 }
#define SPEED                                                                                                          \
  { 1, 0, -1 }

/* Required numbers: a count >= 1, a mass > 0, a length > 0. */
#define COUNT(T, text)                                                                                                 \
  { SIM_FIELD(T, n), .type = SIM_INT, .doc = text, .flags = SIM_REQUIRED | SIM_RANGE, .min = 1, .max = INFINITY }
#define TOTAL_MASS(T, text)                                                                                            \
  {                                                                                                                    \
    SIM_FIELD(T, mass), .type = SIM_REAL, .doc = text, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,               \
                        .max = INFINITY, .dimension = MASS                                                             \
  }
#define RADIUS(T, text)                                                                                                \
  {                                                                                                                    \
    SIM_FIELD(T, radius), .type = SIM_REAL, .doc = text, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,             \
                          .max = INFINITY, .dimension = LENGTH                                                         \
  }
#define OPTIONAL_LENGTH(T, member, word, text)                                                                         \
  {                                                                                                                    \
    SIM_FIELD(T, member), .type = SIM_REAL, .doc = text, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,           \
                          .initial = word, .keyword = word, .dimension = LENGTH                                        \
  }

#define SPECIES(word)                                                                                                  \
  {                                                                                                                    \
    .name = "species", .offset = offsetof(nbody_group_fields, species), .type = SIM_STRING, .initial = word,           \
    .doc = "name of the bodies' species in files"                                                                      \
  }
#define VELOCITY_FIELD                                                                                                 \
  {                                                                                                                    \
    .name = "velocity_field", .offset = offsetof(nbody_group_fields, velocity_field), .type = SIM_FUNCTION,            \
    .signature = &field_signature, .dimension = SPEED,                                                                 \
    .doc = "velocity added to each body, as a function of its position"                                                \
  }
#define PLACE                                                                                                          \
  {SIM_FIELD(nbody_group_fields, position),                                                                            \
   .type = SIM_REAL,                                                                                                   \
   .components = 3,                                                                                                    \
   .initial = "{0, 0, 0}",                                                                                             \
   .dimension = LENGTH,                                                                                                \
   .doc = "position of the group's centre"},                                                                           \
      {SIM_FIELD(nbody_group_fields, velocity),                                                                        \
       .type = SIM_REAL,                                                                                               \
       .components = 3,                                                                                                \
       .initial = "{0, 0, 0}",                                                                                         \
       .dimension = SPEED,                                                                                             \
       .doc = "velocity of the group"},                                                                                \
  {                                                                                                                    \
    SIM_FIELD(nbody_group_fields, rotation), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",                \
                                             .doc = "rotates the group about this vector by its length in degrees"     \
  }
#define ORBIT                                                                                                          \
  {                                                                                                                    \
    .name = "orbit", .offset = offsetof(nbody_group_fields, orbit), .type = SIM_STRUCT, .flags = SIM_OPTIONAL,         \
    .table = &nbody_orbit_schema, .doc = "orbit of the group's centre, instead of position and velocity"               \
  }
#define GROUP(word)                                                                                                    \
  {                                                                                                                    \
    .name = "group", .doc = "common fields of all groups of bodies",                                                   \
    .fields = (const sim_field[]){SPECIES(word), PLACE, VELOCITY_FIELD, ORBIT, {0}},                                   \
    .size = sizeof(nbody_group_fields)                                                                                 \
  }

static const sim_schema stars_group = GROUP("stars");
static const sim_schema disk_group = GROUP("disk");

static const sim_field body_fields[] = {
    {SIM_FIELD(nbody_body, mass), .type = SIM_REAL, .doc = "mass; 0: a test particle, which exerts no force",
     .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY, .dimension = MASS},
    {SIM_FIELD(nbody_body, radius), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = LENGTH, .doc = "radius, for merge"},
    {0}};
const sim_schema nbody_body_schema = {SIM_SCHEMA(nbody_body, "", "one body", body_fields), .base = &stars_group};

static const sim_field plummer_fields[] = {
    COUNT(nbody_sphere, "bodies"),
    TOTAL_MASS(nbody_sphere, "total mass"),
    RADIUS(nbody_sphere, "scale length a: density ~ (1 + r^2/a^2)^(-5/2)"),
    OPTIONAL_LENGTH(nbody_sphere, cutoff, "none",
                    "largest distance of a body from the centre; below 10 radii the sphere is out of equilibrium"),
    {0}};
const sim_schema nbody_plummer_schema = {SIM_SCHEMA(nbody_sphere, "plummer",
                                                    "Plummer sphere in equilibrium (Aarseth, Henon and Wielen 1974)",
                                                    plummer_fields),
                                         .base = &stars_group};

static const sim_field hernquist_fields[] = {
    COUNT(nbody_sphere, "bodies"),
    TOTAL_MASS(nbody_sphere, "total mass"),
    RADIUS(nbody_sphere, "scale length a: density ~ 1/(r (r + a)^3) (1 - r^2/cutoff^2)^2"),
    OPTIONAL_LENGTH(nbody_sphere, cutoff, "auto", "radius at which the density ends; auto: 30 radii"),
    {0}};
const sim_schema nbody_hernquist_schema = {
    SIM_SCHEMA(nbody_sphere, "hernquist", "Hernquist sphere (1990) in isotropic equilibrium, by Eddington inversion",
               hernquist_fields),
    .base = &stars_group};

static const sim_field uniform_fields[] = {
    COUNT(nbody_uniform_sphere, "bodies"),
    TOTAL_MASS(nbody_uniform_sphere, "total mass"),
    RADIUS(nbody_uniform_sphere, "radius of the sphere"),
    {SIM_FIELD(nbody_uniform_sphere, virial), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .doc = "virial ratio 2K/|W| at the start: 0: cold collapse, 1: virial equilibrium"},
    {0}};
const sim_schema nbody_uniform_sphere_schema = {
    SIM_SCHEMA(nbody_uniform_sphere, "uniform_sphere", "homogeneous sphere", uniform_fields), .base = &stars_group};

static const sim_field halo_fields[] = {
    COUNT(nbody_halo, "bodies of the halo"),
    TOTAL_MASS(nbody_halo, "mass of the halo"),
    RADIUS(nbody_halo, "scale length of the halo, a Hernquist sphere"),
    OPTIONAL_LENGTH(nbody_halo, cutoff, "auto", "radius at which the halo ends; auto: 30 radii"),
    {SIM_FIELD(nbody_halo, species), .type = SIM_STRING, .initial = "halo",
     .doc = "name of the halo's species in files"},
    {0}};
static const sim_schema halo_schema = {SIM_SCHEMA(nbody_halo, "halo", "dark halo of a disk", halo_fields)};

static const sim_field disk_fields[] = {
    COUNT(nbody_exponential_disk, "bodies of the disk"),
    TOTAL_MASS(nbody_exponential_disk, "mass of the disk"),
    RADIUS(nbody_exponential_disk, "scale length Rd: surface density ~ exp(-R/Rd)"),
    OPTIONAL_LENGTH(nbody_exponential_disk, thickness, "auto",
                    "scale height z0: density ~ sech^2(z/z0), at most `radius`; auto: radius/10"),
    {SIM_FIELD(nbody_exponential_disk, Q), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = 4,
     .initial = "1.5", .doc = "Toomre's Q at 2.5 Rd: a disk with Q < 1 fragments; disks with large Q expand at first"},
    OPTIONAL_LENGTH(nbody_exponential_disk, cutoff, "auto",
                    "radius at which the disk ends, at least 2 radii; auto: 8 radii"),
    {SIM_FIELD(nbody_exponential_disk, halo), .type = SIM_STRUCT, .flags = SIM_REQUIRED, .table = &halo_schema,
     .doc = "live halo of the disk"},
    {0}};
const sim_schema nbody_exponential_disk_schema = {
    SIM_SCHEMA(nbody_exponential_disk, "exponential_disk",
               "disk galaxy in equilibrium with a live halo (after Hernquist 1993); rotates counter-clockwise about z",
               disk_fields),
    .base = &disk_group};

static const sim_field file_fields[] = {
    {SIM_FIELD(nbody_from_file, path), .type = SIM_STRING, .flags = SIM_REQUIRED,
     .doc = "openPMD snapshot (its species `species`), or CSV with column names mass, x, y, z, vx, vy, vz in the first "
            "line; relative to the scenario's folder"},
    {0}};
const sim_schema nbody_from_file_schema = {SIM_SCHEMA(nbody_from_file, "from_file", "bodies from a file", file_fields),
                                           .base = &stars_group};

static const sim_field each_fields[] = {SPECIES("stars"),
                                        {SIM_FIELD(nbody_each, mass), .type = SIM_NUMBERS, .components = 1,
                                         .flags = SIM_REQUIRED, .dimension = MASS, .doc = "mass of each body"},
                                        {SIM_FIELD(nbody_each, position), .type = SIM_NUMBERS, .components = 3,
                                         .flags = SIM_REQUIRED, .dimension = LENGTH, .doc = "position of each body"},
                                        {SIM_FIELD(nbody_each, velocity), .type = SIM_NUMBERS, .components = 3,
                                         .dimension = SPEED, .doc = "velocity of each body; none: at rest"},
                                        {SIM_FIELD(nbody_each, radius), .type = SIM_NUMBERS, .components = 1,
                                         .dimension = LENGTH, .doc = "radius of each body, for merge; none: 0"},
                                        VELOCITY_FIELD,
                                        {0}};
const sim_schema nbody_each_schema = {
    SIM_SCHEMA(nbody_each, "each", "bodies from a Lua function of their number", each_fields)};

static const char *const amplitude_names[] = {"random", "fixed", NULL};

static const sim_field zeldovich_fields[] = {
    SPECIES("matter"),
    {SIM_FIELD(nbody_zeldovich, n), .type = SIM_INT, .flags = SIM_REQUIRED | SIM_RANGE, .min = 4, .max = 2048,
     .doc = "bodies along a side of the box"},
    {SIM_FIELD(nbody_zeldovich, power), .type = SIM_NUMBERS, .components = 2, .flags = SIM_OR_FILE,
     .doc = "linear power spectrum at a = 1 as rows { k, P } with rising k, a power law between them, or the path of a "
            "text file with two columns, relative to the scenario's folder; none: k^index "
            "times the square of Eisenstein and Hu's transfer function (1998, without baryon wiggles), which takes "
            "lengths in Mpc/h"},
    {SIM_FIELD(nbody_zeldovich, index), .type = SIM_REAL, .flags = SIM_RANGE, .min = -3, .max = 4, .initial = "auto",
     .keyword = "auto", .doc = "spectral index of the formula; auto: 0.965"},
    {SIM_FIELD(nbody_zeldovich, omega_b), .type = SIM_REAL, .flags = SIM_RANGE, .max = 1, .initial = "auto",
     .keyword = "auto", .doc = "density of baryons in the formula, a part of omega_m; auto: 0.049"},
    {SIM_FIELD(nbody_zeldovich, sigma8), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = 10,
     .initial = "auto", .keyword = "auto",
     .doc = "root mean square density contrast at a = 1 by linear theory, in spheres of radius 8; auto: 0.81, or with "
            "power as its rows are"},
    {SIM_FIELD(nbody_zeldovich, amplitudes), .type = SIM_CHOICE, .initial = "random", .choices = amplitude_names,
     .doc = "random: waves of normally distributed amplitude; fixed: all of the root mean square, with random phases "
            "(Angulo and Pontzen 2016)"},
    {0}};
const sim_schema nbody_zeldovich_schema = {.name = "zeldovich",
                                           .doc = "a periodic cube of matter at expansion.a_start, from a power "
                                                  "spectrum, by the Zel'dovich approximation",
                                           .fields = zeldovich_fields,
                                           .size = sizeof(nbody_zeldovich)};

static const sim_schema *const body_variants[] = {&nbody_body_schema,
                                                  &nbody_plummer_schema,
                                                  &nbody_hernquist_schema,
                                                  &nbody_uniform_sphere_schema,
                                                  &nbody_exponential_disk_schema,
                                                  &nbody_from_file_schema,
                                                  &nbody_each_schema,
                                                  &nbody_zeldovich_schema,
                                                  &nbody_lattice_schema,
                                                  NULL};

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
     .doc = "relative error of the acceleration by fast multipoles, median over the bodies, which sets their order and "
            "opening angle; auto: 1e-4, with expansion 1e-2. Direct sums are exact to rounding"},
    {SIM_FIELD(nbody_gravity, error_tail), .type = SIM_REAL, .flags = SIM_RANGE, .min = 3e-4, .max = 1,
     .initial = "none", .keyword = "none",
     .doc = "the same, at most that of 99.9 % of the bodies; usually 10 to 100 times the median"},
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

const char *const nbody_scheme_names[] = {"leapfrog", "yoshida4", "hermite4", "ias15", "whfast", NULL};

bool nbody_scheme_is_few(int scheme) { return scheme == NBODY_IAS15 || scheme == NBODY_WHFAST; }

static const char *const steps_names[] = {"shared", "individual", NULL};

static const sim_field integrate_fields[] = {
    {SIM_FIELD(nbody_integrate, scheme), .type = SIM_CHOICE, .initial = "leapfrog", .choices = nbody_scheme_names,
     .doc = "leapfrog: order 2, kick-drift-kick; yoshida4: order 4, three force evaluations a step; hermite4: order 4, "
            "two evaluations of forces and their time derivatives; ias15: order 15, to rounding, for few bodies; "
            "whfast: order 2 along Kepler orbits, for planets; the last two on the CPU in double"},
    {SIM_FIELD(nbody_integrate, dt), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .keyword = "adaptive", .dimension = TIME,
     .doc = "time step; adaptive: one step for all bodies, from eta (needs ias15, hermite4, or softening > 0); with "
            "individual "
            "steps the longest one; with expansion da/a of each step"},
    {SIM_FIELD(nbody_integrate, steps), .type = SIM_CHOICE, .initial = "shared", .choices = steps_names,
     .doc = "shared: one step for all bodies; individual: dt, or dt halved up to `levels` times, for each body by its "
            "acceleration, from eta (leapfrog with softening > 0)"},
    {SIM_FIELD(nbody_integrate, levels), .type = SIM_INT, .flags = SIM_RANGE, .min = 0, .max = NBODY_LEVELS_MAX,
     .initial = "auto", .keyword = "auto", .doc = "individual steps: most times that dt is halved; auto: 10"},
    {SIM_FIELD(nbody_integrate, eta), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = 1, .initial = "auto",
     .keyword = "auto",
     .doc = "accuracy of adaptive and of individual steps. hermite4: Aarseth's formula, auto 0.01, below 0.001 in "
            "double precision alone; ias15: relative size of the last term of the series of the acceleration, auto "
            "1e-9; else eta sqrt(softening/|a|), adaptive with the greatest |a|, auto 0.2"},
    {SIM_FIELD(nbody_integrate, dt_max), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "none", .keyword = "none", .dimension = TIME, .doc = "longest adaptive step"},
    {SIM_FIELD(nbody_integrate, t_end), .type = SIM_REAL,
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN | SIM_MAY_CHANGE, .max = INFINITY, .dimension = TIME,
     .doc = "end time; runs start at t = 0; with expansion the scale factor a is the time of the run"},
    {SIM_FIELD(nbody_integrate, max_energy_error), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "none", .keyword = "none",
     .doc = "limit of the relative energy error, above which the run fails; checked at each row of the energy table"},
    {0}};
static const sim_schema integrate_schema = {
    SIM_SCHEMA(nbody_integrate, "integrate", "time stepping", integrate_fields)};

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
    {SIM_FIELD(nbody_parameters, bodies), .type = SIM_LIST, .flags = SIM_REQUIRED, .variants = body_variants,
     .doc = "groups of bodies, or single ones as { mass = , position = , velocity = }"},
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
    {SIM_FIELD(nbody_parameters, integrate), .type = SIM_STRUCT, .flags = SIM_REQUIRED, .table = &integrate_schema,
     .doc = "time stepping"},
    {0}};
const sim_schema nbody_schema = {
    SIM_SCHEMA(nbody_parameters, "nbody", "N-body dynamics: direct sums or fast multipoles", fields),
    .base = &sim_common_schema};

static void check_each(const nbody_each *each, int line, const char *path, sim_faults *faults) {
  if (each->mass.rows == 0) sim_faults_add(faults, line, path, "expected at least one body, got none");
  const bool at_rest = each->velocity.rows == 0;
  if (each->radius.rows > 0 && each->radius.rows != each->mass.rows)
    sim_faults_add(faults, line, path, "expected as many rows of radius as of mass, %zu, got %zu", each->mass.rows,
                   each->radius.rows);
  if (each->position.rows != each->mass.rows || (!at_rest && each->velocity.rows != each->mass.rows))
    sim_faults_add(faults, line, path,
                   "expected equally many rows of mass, position and velocity, got %zu, %zu and %zu", each->mass.rows,
                   each->position.rows, each->velocity.rows);
  for (size_t i = 0; i < each->mass.rows; i++) {
    if (!(each->mass.data[i] >= 0 && isfinite(each->mass.data[i]))) {
      sim_faults_add(faults, line, path, "expected masses >= 0, got %.9g for body %zu", each->mass.data[i], i + 1);
      break;
    }
  }
}

/* Adds faults for a disk that would be far from the equilibrium it is generated in. */
static void check_disk(const nbody_exponential_disk *disk, size_t i, int line, sim_faults *faults) {
  char path[64];
  snprintf(path, sizeof path, "bodies[%zu].cutoff", i + 1);
  if (disk->cutoff < 2 * disk->radius)
    sim_faults_add(faults, line, path, "expected at least 2 radii, %.9g, got %.9g", 2 * disk->radius, disk->cutoff);
  snprintf(path, sizeof path, "bodies[%zu].thickness", i + 1);
  if (disk->thickness > disk->radius)
    sim_faults_add(faults, line, path, "expected at most the radius, %.9g, got %.9g", disk->radius, disk->thickness);
}

static void check_bodies(const sim_list *bodies, sim_faults *faults) {
  if (bodies->count == 0) sim_faults_add(faults, 0, "bodies", "expected at least one group or body, got none");
  double mass = 0; /* NaN: not yet known */
  for (size_t i = 0; i < bodies->count; i++) {
    const sim_item *item = &bodies->items[i];
    char path[64];
    snprintf(path, sizeof path, "bodies[%zu].species", i + 1);
    sim_faults_check_name(faults, item->line, path, ((const nbody_group_fields *)item->data)->species);
    if (item->schema == &nbody_body_schema) mass += ((const nbody_body *)item->data)->mass;
    if (item->schema == &nbody_plummer_schema || item->schema == &nbody_hernquist_schema)
      mass += ((const nbody_sphere *)item->data)->mass;
    if (item->schema == &nbody_uniform_sphere_schema) mass += ((const nbody_uniform_sphere *)item->data)->mass;
    if (item->schema == &nbody_from_file_schema || item->schema == &nbody_zeldovich_schema ||
        item->schema == &nbody_lattice_schema)
      mass = NAN;
    if (item->schema == &nbody_exponential_disk_schema) {
      const nbody_exponential_disk *disk = item->data;
      mass += disk->mass + disk->halo.mass;
      check_disk(disk, i, item->line, faults);
      snprintf(path, sizeof path, "bodies[%zu].halo.species", i + 1);
      sim_faults_check_name(faults, item->line, path, disk->halo.species);
    }
    if (item->schema == &nbody_each_schema) {
      const nbody_each *each = item->data;
      snprintf(path, sizeof path, "bodies[%zu]", i + 1);
      check_each(each, item->line, path, faults);
      for (size_t k = 0; k < each->mass.rows; k++) mass += each->mass.data[k];
    }
  }
  if (bodies->count > 0 && mass == 0) sim_faults_add(faults, 0, "bodies", "expected a body with mass > 0, got none");
}

static void check_individual(const nbody_integrate *integrate, double softening, bool law, sim_faults *faults) {
  if (integrate->scheme != NBODY_LEAPFROG)
    sim_faults_add(faults, 0, "integrate.steps",
                   "expected \"shared\", got \"individual\", which is for leapfrog, not %s",
                   nbody_scheme_names[integrate->scheme]);
  else if (law)
    sim_faults_add(faults, 0, "integrate.steps",
                   "expected \"shared\", got \"individual\", which has no length scale with a pair law");
  else if (!(softening > 0))
    sim_faults_add(faults, 0, "integrate.steps",
                   "expected \"shared\", got \"individual\", which needs gravity.softening > 0");
  if (isnan(integrate->dt))
    sim_faults_add(faults, 0, "integrate.dt",
                   "expected a number, the longest step, with steps = \"individual\", got \"adaptive\"");
  if (!isnan(integrate->dt_max))
    sim_faults_add(faults, 0, "integrate.dt_max", "has no effect with steps = \"individual\": dt is the longest step");
}

/* Faults of keys for adaptive and individual steps that stand beside shared steps of fixed length; else their
 * defaults. */
static void check_accuracy(nbody_integrate *integrate, sim_faults *faults) {
  const bool individual = integrate->steps == NBODY_INDIVIDUAL, adaptive = isnan(integrate->dt);
  if (!individual && integrate->levels != SIM_INT_KEYWORD)
    sim_faults_add(faults, 0, "integrate.levels", "has no effect with steps = \"shared\": expected \"individual\"");
  if (!individual && !adaptive && !isnan(integrate->eta))
    sim_faults_add(faults, 0, "integrate.eta",
                   "has no effect with steps of one fixed length: expected dt = \"adaptive\", or steps = "
                   "\"individual\"");
  if (!individual && !adaptive && !isnan(integrate->dt_max))
    sim_faults_add(faults, 0, "integrate.dt_max", "has no effect with a number for dt: expected dt = \"adaptive\"");
  if (individual && integrate->levels == SIM_INT_KEYWORD) integrate->levels = 10;
  if ((individual || adaptive) && isnan(integrate->eta))
    integrate->eta = integrate->scheme == NBODY_HERMITE4 ? 0.01 : integrate->scheme == NBODY_IAS15 ? 1e-9 : 0.2;
}

static void check_time(const nbody_integrate *integrate, double softening, bool law, sim_faults *faults) {
  const size_t before = faults->count;
  if (integrate->steps == NBODY_INDIVIDUAL) check_individual(integrate, softening, law, faults);
  if (faults->count != before) return;
  if (isnan(integrate->dt)) {
    if (integrate->scheme == NBODY_IAS15) return;
    if (integrate->scheme == NBODY_WHFAST)
      sim_faults_add(faults, 0, "integrate.dt", "expected a number, got \"adaptive\": whfast has steps of one length");
    else if (integrate->scheme != NBODY_HERMITE4 && law)
      sim_faults_add(faults, 0, "integrate.dt",
                     "expected a number, got \"adaptive\": %s has no length scale with a pair law; use hermite4",
                     nbody_scheme_names[integrate->scheme]);
    else if (integrate->scheme != NBODY_HERMITE4 && !(softening > 0))
      sim_faults_add(faults, 0, "integrate.dt",
                     "expected a number, got \"adaptive\": %s then needs gravity.softening > 0; hermite4 does not",
                     nbody_scheme_names[integrate->scheme]);
    return;
  }
  const double steps = integrate->t_end / integrate->dt;
  if (!(steps <= 0x1p62))
    sim_faults_add(faults, 0, "integrate.dt", "expected at most 2^62 steps, got t_end/dt = %.9g", steps);
  else if (integrate->t_end - integrate->dt == integrate->t_end)
    sim_faults_add(faults, 0, "integrate.dt",
                   "expected a step that changes the time, got %.9g, below the rounding of t_end = %.9g", integrate->dt,
                   integrate->t_end);
}

/* Shifts of the softened kernel by an image are expanded in softening / size; a larger one is no gravity of bodies. */
#define MOST_SOFTENING 0.125

static void check_box(const nbody_parameters *p, sim_faults *faults) {
  if (!p->box.given) return;
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
  if (p->external != NULL && sim_expr_output_count(p->external) == 1 && !depends_on_place(p->external))
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

/* Direct sums have no error to ask for. */
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
  check_accuracy(&p->integrate, faults);
  SIM_TRY(check_laws(p, faults));
  nbody_make_tables(p, faults);
  if (!law) p->gravity.G = nbody_gravitational_constant(p);
  check_bodies(&p->bodies, faults);
  nbody_check_orbits(p, faults);
  nbody_check_encounters(p, faults);
  nbody_check_molecules(p, faults);
  check_box(p, faults);
  nbody_check_expansion(p, faults);
  if (!p->expansion.given) check_time(&p->integrate, p->gravity.softening, law, faults);
  if (nbody_scheme_is_few(p->integrate.scheme)) nbody_check_few(p, faults);
  if (p->gravity.solver == NBODY_FMM && p->integrate.scheme == NBODY_HERMITE4)
    sim_faults_add(faults, 0, "gravity.solver",
                   "\"fmm\" gives no time derivative of the force, which hermite4 needs: expected \"direct\" or "
                   "\"auto\", or integrate.scheme = \"leapfrog\" or \"yoshida4\"");
  return SIM_OK;
}
