/* Groups of bodies of a scenario: their field tables, and the rules between fields. */
#include "kernels/nbody/scenario/fields.h"
#include "kernels/nbody/scenario/molecules.h"
#include "kernels/nbody/scenario/orbits.h"

#include <math.h>
#include <stdio.h>

static const sim_signature field_signature = {
    .inputs = (const char *const[]){"x", "y", "z", NULL}, .outputs = {3}, .returns = "vx, vy, vz"};

/* Fields of required numbers: a count >= 1, a mass > 0, a length > 0. */
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

const sim_schema *const nbody_body_variants[] = {&nbody_body_schema,
                                                 &nbody_plummer_schema,
                                                 &nbody_hernquist_schema,
                                                 &nbody_uniform_sphere_schema,
                                                 &nbody_exponential_disk_schema,
                                                 &nbody_from_file_schema,
                                                 &nbody_each_schema,
                                                 &nbody_zeldovich_schema,
                                                 &nbody_lattice_schema,
                                                 NULL};

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

/* Adds faults for a disk that is generated far from equilibrium. */
static void check_disk(const nbody_exponential_disk *disk, size_t i, int line, sim_faults *faults) {
  char path[64];
  snprintf(path, sizeof path, "bodies[%zu].cutoff", i + 1);
  if (disk->cutoff < 2 * disk->radius)
    sim_faults_add(faults, line, path, "expected at least 2 radii, %.9g, got %.9g", 2 * disk->radius, disk->cutoff);
  snprintf(path, sizeof path, "bodies[%zu].thickness", i + 1);
  if (disk->thickness > disk->radius)
    sim_faults_add(faults, line, path, "expected at most the radius, %.9g, got %.9g", disk->radius, disk->thickness);
}

void nbody_check_bodies(const sim_list *bodies, sim_faults *faults) {
  if (bodies->count == 0) sim_faults_add(faults, 0, "bodies", "expected at least one group or body, got none");
  double mass = 0; /* NaN: not known yet */
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
