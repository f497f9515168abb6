/* Particles from a snapshot (of this program or another one that writes openPMD) or from a CSV file. */
#include "io/input/csv.h"
#include "io/input/foreign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const axes[] = {"x", "y", "z"};

/* Opens a group by name. */
static sim_status open_group(const io_h5_source *source, hid_t parent, const char *name, hid_t *out) {
  SIM_TRY(io_h5_open(source, parent, name, out));
  if (H5Iget_type(*out) == H5I_GROUP) return SIM_OK;
  H5Oclose(*out);
  return io_h5_refuse(source, name, "is not a group");
}

/* Finds the name of the only member of a group. */
static sim_status find_only(const io_h5_source *source, hid_t group, char *out, size_t capacity) {
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0) return io_h5_refuse(source, "particles", "cannot be read");
  if (info.nlinks == 0) return io_h5_refuse(source, "particles", "is empty");
  if (info.nlinks > 1) return io_h5_refuse(source, "particles", "holds more than one species: say which is meant");
  const ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, 0, out, capacity, H5P_DEFAULT);
  return length > 0 && (size_t)length < capacity ? SIM_OK : io_h5_refuse(source, "particles", "has too long a name");
}

/* Opens the group of the species in the last iteration; `species` NULL or "": the only one. */
static sim_status open_species(const io_h5_source *source, hid_t root, const char *species, hid_t *out) {
  char iteration[128], only[128];
  hid_t data, step, particles;
  SIM_TRY(open_group(source, root, "data", &data));
  double second;
  sim_status status =
      io_foreign_last(data, iteration, sizeof iteration) < 0 ? io_h5_refuse(source, "data", "is empty") : SIM_OK;
  if (status == SIM_OK) status = open_group(source, data, iteration, &step);
  H5Oclose(data);
  if (status != SIM_OK) return status;
  status = io_foreign_unit(source, step, "timeUnitSI", &second); /* only checked: a wrong unit means a wrong file */
  if (status == SIM_OK) status = open_group(source, step, "particles", &particles);
  H5Oclose(step);
  if (status != SIM_OK) return status;
  if (!species || !species[0]) {
    status = find_only(source, particles, only, sizeof only);
    species = only;
  }
  if (status == SIM_OK) status = open_group(source, particles, species, out);
  H5Oclose(particles);
  return status;
}

/* Reads an attribute that is one number, and converts it to `type`. */
static sim_status get_number(const io_h5_source *source, hid_t object, const char *name, hid_t type, void *out) {
  hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
  hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute), stored = attribute < 0 ? -1 : H5Aget_type(attribute);
  H5T_class_t class = stored < 0 ? H5T_NO_CLASS : H5Tget_class(stored);
  bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && (class == H5T_FLOAT || class == H5T_INTEGER) &&
              H5Aread(attribute, type, out) >= 0;
  const hid_t ids[] = {stored, space, attribute};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) io_h5_drop(ids[i]);
  return good ? SIM_OK : io_h5_refuse(source, name, "is missing or not a number");
}

/* A component of a record: a dataset, or a group for a constant. */
typedef struct component {
  hid_t object;
  bool constant;
  int64_t count;
  double value, unit_si;
} component;

static sim_status examine(const io_h5_source *source, const char *name, component *self) {
  io_h5_shape shape;
  uint64_t count;
  self->constant = H5Iget_type(self->object) == H5I_GROUP;
  SIM_TRY(io_foreign_unit(source, self->object, "unitSI", &self->unit_si));
  if (self->constant) {
    SIM_TRY(get_number(source, self->object, "value", H5T_NATIVE_DOUBLE, &self->value));
    SIM_TRY(get_number(source, self->object, "shape", H5T_NATIVE_UINT64, &count));
    if (count > INT64_MAX) return io_h5_refuse(source, name, "is too large");
    self->count = (int64_t)count;
    return SIM_OK;
  }
  SIM_TRY(io_h5_check(source, self->object, name, true, &shape));
  if (shape.rank != 1 || (shape.type != H5T_FLOAT && shape.type != H5T_INTEGER))
    return io_h5_refuse(source, name, "is not a row of numbers");
  self->count = shape.shape[0];
  return SIM_OK;
}

/* Opens <parent>/<name>, which must have *count values; *count -1: any number, which is then set. */
static sim_status open_component(const io_h5_source *source, hid_t parent, const char *name, int64_t *count,
                                 component *out) {
  SIM_TRY(io_h5_open(source, parent, name, &out->object));
  sim_status status = examine(source, name, out);
  if (status == SIM_OK && *count >= 0 && out->count != *count)
    status = io_h5_refuse(source, name, "has another length than the position");
  if (status == SIM_OK)
    *count = out->count;
  else
    H5Oclose(out->object);
  return status;
}

/* Adds the component's values in multiples of `unit` (0: unscaled) to to[count]. */
static sim_status add_component(const io_h5_source *source, hid_t parent, const char *name, int64_t count, double unit,
                                double *to, double *scratch) {
  component from;
  SIM_TRY(open_component(source, parent, name, &count, &from));
  const double factor = unit > 0 ? from.unit_si / unit : 1;
  sim_status status = SIM_OK;
  if (!from.constant && H5Dread(from.object, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, scratch) < 0)
    status = io_h5_refuse(source, name, "cannot be read");
  for (int64_t i = 0; status == SIM_OK && i < count; i++) {
    to[i] += (from.constant ? from.value : scratch[i]) * factor;
    if (!isfinite(to[i])) status = io_h5_refuse(source, name, "holds a value that is not finite");
  }
  H5Oclose(from.object);
  return status;
}

/* Adds record <species>/<name> to three columns. */
static sim_status add_vector(const io_h5_source *source, hid_t species, const char *name, int64_t count, double unit,
                             double *const to[3], double *scratch) {
  hid_t record;
  SIM_TRY(open_group(source, species, name, &record));
  sim_status status = SIM_OK;
  for (int k = 0; status == SIM_OK && k < 3; k++)
    status = add_component(source, record, axes[k], count, unit, to[k], scratch);
  H5Oclose(record);
  return status;
}

static sim_status count_species(const io_h5_source *source, hid_t species, int64_t *count) {
  hid_t record;
  component x;
  *count = -1;
  SIM_TRY(open_group(source, species, "position", &record));
  sim_status status = open_component(source, record, "x", count, &x);
  if (status == SIM_OK) H5Oclose(x.object);
  H5Oclose(record);
  if (status == SIM_OK && *count == 0) return io_h5_refuse(source, "position", "holds no particles");
  return status;
}

enum { COLUMNS = 13 }; /* arrays of sim_particles */

static sim_status read_species(const io_h5_source *source, hid_t species, const sim_units *units, size_t room,
                               sim_particles *out) {
  const bool given = units && units->given;
  const double length = given ? sim_units_si(units, (sim_dimension){1, 0, 0}) : 0;
  const double mass = given ? sim_units_si(units, (sim_dimension){0, 1, 0}) : 0;
  const double speed = given ? sim_units_si(units, (sim_dimension){1, 0, -1}) : 0;
  const double turns = given ? sim_units_si(units, (sim_dimension){0, 0, -1}) : 0;
  const bool has_mass = io_h5_has(species, "mass"), has_velocity = io_h5_has(species, "velocity");
  const bool has_radius = io_h5_has(species, "radius"), has_spin = io_h5_has(species, "angular_velocity");
  const bool has_body = io_h5_has(species, "body"), has_temperature = io_h5_has(species, "grain_temperature");
  int64_t n;
  SIM_TRY(count_species(source, species, &n));
  if ((double)n * (COLUMNS + 1) * sizeof(double) > (double)room)
    return sim_fail(SIM_ERR_NO_MEMORY, "%s: %lld particles do not fit the memory that its reader may take",
                    source->path, (long long)n);
  const size_t count = (size_t)n;
  double *scratch = malloc(count * sizeof *scratch);
  bool complete = scratch != NULL;
  out->count = n;
  if (has_mass) complete = (out->mass = calloc(count, sizeof *out->mass)) && complete;
  if (has_radius) complete = (out->radius = calloc(count, sizeof *out->radius)) && complete;
  if (has_body) complete = (out->body = calloc(count, sizeof *out->body)) && complete;
  if (has_temperature) complete = (out->temperature = calloc(count, sizeof *out->temperature)) && complete;
  for (int k = 0; k < 3; k++) {
    complete = (out->position[k] = calloc(count, sizeof *scratch)) && complete;
    if (has_velocity) complete = (out->velocity[k] = calloc(count, sizeof *scratch)) && complete;
    if (has_spin) complete = (out->spin[k] = calloc(count, sizeof *scratch)) && complete;
  }
  sim_status status = complete ? SIM_OK : sim_no_memory("the particles of %s", source->path);
  if (status == SIM_OK) status = add_vector(source, species, "position", n, length, out->position, scratch);
  if (status == SIM_OK && io_h5_has(species, "positionOffset"))
    status = add_vector(source, species, "positionOffset", n, length, out->position, scratch);
  if (status == SIM_OK && has_velocity)
    status = add_vector(source, species, "velocity", n, speed, out->velocity, scratch);
  if (status == SIM_OK && has_mass) status = add_component(source, species, "mass", n, mass, out->mass, scratch);
  if (status == SIM_OK && has_radius)
    status = add_component(source, species, "radius", n, length, out->radius, scratch);
  if (status == SIM_OK && has_spin)
    status = add_vector(source, species, "angular_velocity", n, turns, out->spin, scratch);
  if (status == SIM_OK && has_body) status = add_component(source, species, "body", n, 0, out->body, scratch);
  if (status == SIM_OK && has_temperature)
    status = add_component(source, species, "grain_temperature", n, 0, out->temperature, scratch);
  free(scratch);
  if (status != SIM_OK) sim_particles_free(out);
  return status;
}

/* ---- the task of a child ---- */

typedef struct request {
  const char *species;
  const sim_units *units;
  sim_particles *out; /* NULL: only counts the particles */
  int64_t count;
} request;

static sim_status parse(const io_foreign *file, void *opaque) {
  request *self = opaque;
  const io_h5_source source = {file->path, SIM_ERR_SCENARIO};
  io_vfd *vfd;
  hid_t group, root;
  SIM_TRY(io_foreign_hdf5(file, &vfd, &root));
  SIM_TRY(open_species(&source, root, self->species, &group));
  if (!self->out) return count_species(&source, group, &self->count);
  SIM_TRY(read_species(&source, group, self->units, file->room, self->out));
  self->count = self->out->count;
  return SIM_OK;
}

static void columns_of(sim_particles *p, double **columns[COLUMNS]) {
  columns[0] = &p->mass;
  columns[1] = &p->radius;
  for (int k = 0; k < 3; k++) {
    columns[2 + k] = &p->position[k];
    columns[5 + k] = &p->velocity[k];
    columns[8 + k] = &p->spin[k];
  }
  columns[11] = &p->body;
  columns[12] = &p->temperature;
}

static void send(const void *opaque, int pipe) {
  const request *self = opaque;
  double **columns[COLUMNS];
  uint32_t there = 0;
  io_foreign_send(pipe, &self->count, sizeof self->count);
  if (!self->out) return;
  columns_of(self->out, columns);
  for (int k = 0; k < COLUMNS; k++) there |= (uint32_t)(*columns[k] != NULL) << k;
  io_foreign_send(pipe, &there, sizeof there);
  for (int k = 0; k < COLUMNS; k++)
    if (*columns[k]) io_foreign_send(pipe, *columns[k], (size_t)self->count * sizeof(double));
}

/* Reads and checks the child's answer, which is trusted as little as the file. */
static sim_status take(void *opaque, int pipe) {
  request *self = opaque;
  double **columns[COLUMNS];
  uint32_t there;
  SIM_TRY(io_foreign_take(pipe, &self->count, sizeof self->count));
  if (self->count < 1) return sim_fail(SIM_ERR_SCENARIO, "a file holds no particles");
  if (!self->out) return SIM_OK;
  SIM_TRY(io_foreign_take(pipe, &there, sizeof there));
  if ((double)self->count * COLUMNS * sizeof(double) > (double)sim_backend_cpu.memory_free())
    return sim_fail(SIM_ERR_NO_MEMORY, "%lld particles do not fit the memory that is free", (long long)self->count);
  self->out->count = self->count;
  columns_of(self->out, columns);
  for (int k = 0; k < COLUMNS; k++) {
    if (!(there >> k & 1)) continue;
    *columns[k] = malloc((size_t)self->count * sizeof(double));
    if (!*columns[k]) return sim_no_memory("%lld particles", (long long)self->count);
    SIM_TRY(io_foreign_take(pipe, *columns[k], (size_t)self->count * sizeof(double)));
    for (int64_t i = 0; i < self->count; i++)
      if (!isfinite((*columns[k])[i])) return sim_fail(SIM_ERR_SCENARIO, "a value of a file is not finite");
  }
  return SIM_OK;
}

static sim_status read_any(const char *path, request *self) {
  static const io_foreign_task task = {parse, send, take};
  io_foreign file;
  SIM_TRY(io_foreign_open(path, &file));
  const size_t length = strlen(path);
  const bool named = length > 3 && strcmp(path + length - 3, ".h5") == 0;
  sim_status status;
  if (file.form == IO_FORM_HDF5)
    status = io_foreign_run(&file, &task, self);
  else if (named || file.sealed)
    status = sim_fail(SIM_ERR_SCENARIO, "%s: is not an HDF5 file", path);
  else
    status = io_csv_read(file.fd, path, self->out, &self->count);
  io_foreign_close(&file);
  if (status != SIM_OK && self->out) sim_particles_free(self->out);
  return status;
}

sim_status io_read_particles(const char *path, const char *species, const sim_units *units, sim_particles *out) {
  memset(out, 0, sizeof *out);
  return read_any(path, &(request){.species = species, .units = units, .out = out});
}

sim_status io_count_particles(const char *path, const char *species, int64_t *count) {
  request self = {.species = species};
  SIM_TRY(read_any(path, &self));
  *count = self.count;
  return SIM_OK;
}
