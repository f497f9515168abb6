/* Shared by the tests of io: a temporary folder, a provenance, and a frame that holds every kind of array. */
#ifndef SIM_TESTS_IO_FIXTURE_H
#define SIM_TESTS_IO_FIXTURE_H

#include "engine/log.h"
#include "io/io.h"
#include "io/seal.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define assert_ok(expression) assert_status(expression, SIM_OK)
#define assert_status(expression, expected)                                                                            \
  do {                                                                                                                 \
    sim_status found_status = (expression);                                                                            \
    if (found_status != (expected))                                                                                    \
      fail_msg("%s: %s instead of %s: %s", #expression, sim_status_name(found_status), sim_status_name(expected),      \
               sim_error_last()->message);                                                                             \
  } while (0)
#define assert_message(part)                                                                                           \
  do {                                                                                                                 \
    if (!strstr(sim_error_last()->message, (part)))                                                                    \
      fail_msg("\"%s\" does not say \"%s\"", sim_error_last()->message, (part));                                       \
  } while (0)

typedef struct fixture {
  char base[64], run[96]; /* a temporary folder, and the output folder in it */
  io_provenance provenance;
  sim_units units;
  sim_bytes blob;
  sim_array arrays[8];
  sim_species species[2];
  sim_frame frame;
  double position[3][7], mass[7], scalar, cube[2][1][3][2];
  float velocity[3][7];
  uint64_t id[7];
  int64_t counter[5];
} fixture;

static const sim_field fixture_fields[] = {
    {.name = "position", .doc = "where", .dimension = {1, 0, 0}, .flags = SIM_IN_SNAPSHOT},
    {.name = "velocity", .doc = "how fast", .dimension = {1, 0, -1}, .flags = SIM_IN_SNAPSHOT},
    {.name = "mass", .doc = "mass", .dimension = {0, 1, 0}, .flags = SIM_IN_SNAPSHOT},
    {.name = "id", .doc = "name of a body", .flags = SIM_IN_SNAPSHOT},
    {.name = "counter", .doc = "odd size"},
    {.name = "scalar", .doc = "no axis at all"},
    {.name = "nothing", .doc = "no elements"},
    {.name = "cube", .doc = "four axes"},
};

static inline int fixture_unlink(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info, (void)kind, (void)walk;
  return remove(path);
}

static inline void fixture_remove(const char *path) { (void)nftw(path, fixture_unlink, 16, FTW_DEPTH | FTW_PHYS); }

static inline void fixture_array(fixture *self, size_t index, sim_dtype dtype, int rank, const int64_t *shape,
                                 void *data) {
  sim_array *array = &self->arrays[index];
  array->field = &fixture_fields[index];
  array->dtype = dtype;
  array->rank = rank;
  for (int i = 0; i < rank; i++) array->shape[i] = array->global[i] = shape[i];
  array->data = data;
}

static inline int fixture_setup(void **state) {
  static const char text[] = "return sim.nothing{}\n";
  fixture *self = calloc(1, sizeof *self);
  if (!self || io_init() != SIM_OK) return -1;
  *state = self;
  /* in memory where possible, because thousands of files are written and synced */
  snprintf(self->base, sizeof self->base, "%s/sim-io-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (!mkdtemp(self->base)) return -1;
  snprintf(self->run, sizeof self->run, "%s/run.out", self->base);
  self->units = (sim_units){.length = 1, .mass = 1, .time = 1};
  sim_value *parameters = sim_value_table("nothing");
  if (!parameters || sim_value_add(parameters, "answer", 3, sim_value_int(42)) != SIM_OK) return -1;
  sim_value_write(parameters, &self->blob);
  sim_value_free(&parameters);
  self->provenance = (io_provenance){.scenario_path = "nothing.lua",
                                     .scenario_text = text,
                                     .scenario_size = sizeof text - 1,
                                     .parameters_json = "{\"answer\": 42}",
                                     .parameters_blob = self->blob.data,
                                     .parameters_blob_size = self->blob.size,
                                     .model = "nothing",
                                     .title = "a title",
                                     .author = "A. Author",
                                     .command_line = "sim nothing.lua",
                                     .version = "0.1",
                                     .git_revision = "abc",
                                     .compiler = "cc",
                                     .libraries = io_library_versions(),
                                     .device = "cpu",
                                     .backend = "cpu",
                                     .precision = "double",
                                     .isa = "plain",
                                     .seed = UINT64_MAX,
                                     .units = &self->units};
  io_provenance_finish(&self->provenance);
  for (int i = 0; i < 7; i++) {
    for (int k = 0; k < 3; k++) {
      self->position[k][i] = 0.1 * (i + 1) + k;
      self->velocity[k][i] = (float)(i - 10 * k) / 3;
    }
    self->mass[i] = i < 4 ? 0.25 : i;
    self->id[i] = UINT64_MAX - (uint64_t)i;
  }
  for (int i = 0; i < 5; i++) self->counter[i] = INT64_MIN + i;
  self->scalar = -0.0;
  for (int i = 0; i < 12; i++) ((double *)self->cube)[i] = 1.0 / (i + 1);
  fixture_array(self, 0, SIM_F64, 2, (const int64_t[]){3, 7}, self->position);
  fixture_array(self, 1, SIM_F32, 2, (const int64_t[]){3, 7}, self->velocity);
  fixture_array(self, 2, SIM_F64, 1, (const int64_t[]){7}, self->mass);
  fixture_array(self, 3, SIM_U64, 1, (const int64_t[]){7}, self->id);
  fixture_array(self, 4, SIM_I64, 1, (const int64_t[]){5}, self->counter);
  fixture_array(self, 5, SIM_F64, 0, NULL, &self->scalar);
  fixture_array(self, 6, SIM_F64, 2, (const int64_t[]){3, 0}, self->mass);
  fixture_array(self, 7, SIM_F64, 4, (const int64_t[]){2, 1, 3, 2}, self->cube);
  snprintf(self->species[0].name, sizeof self->species[0].name, "stars");
  snprintf(self->species[1].name, sizeof self->species[1].name, "halo");
  self->species[0].count = 4;
  self->species[1].first = 4;
  self->species[1].count = 3;
  self->frame = (sim_frame){.clock = {.step = 12, .t = 0.1, .dt = 1e-3, .t_end = 2},
                            .arrays = self->arrays,
                            .array_count = 8,
                            .species = self->species,
                            .species_count = 2};
  return 0;
}

static inline int fixture_teardown(void **state) {
  fixture *self = *state;
  fixture_remove(self->base);
  sim_bytes_free(&self->blob);
  free(self);
  return 0;
}

/* Opens the output folder, writes checkpoints of these steps, and closes it. */
static inline void fixture_checkpoints(fixture *self, io_folder_mode mode, const int64_t *steps, size_t count) {
  io_folder *folder;
  sim_sink sink;
  assert_ok(io_folder_open(self->run, mode, &folder));
  assert_ok(io_checkpoint_sink(folder, &self->provenance, NULL, (sim_cadence){0}, &sink));
  for (size_t i = 0; i < count; i++) {
    self->frame.clock.step = steps[i];
    assert_ok(sink.write(sink.self, &self->frame));
  }
  sink.destroy(&sink.self);
  io_folder_close(&folder);
}

static inline void fixture_checkpoint_path(const fixture *self, int64_t step, char path[160]) {
  snprintf(path, 160, "%s/ckpt/ck_%012lld.h5", self->run, (long long)step);
}

/* Whether a loaded checkpoint equals the fixture's frame. */
static inline bool fixture_same(const fixture *self, const io_checkpoint *loaded) {
  char wrote[33], read[33];
  sim_frame_digest(&self->frame, wrote);
  sim_frame_digest(&loaded->frame, read);
  return strcmp(wrote, read) == 0 && loaded->frame.clock.t_end == self->frame.clock.t_end &&
         loaded->seed == self->provenance.seed && strcmp(loaded->model, "nothing") == 0 &&
         loaded->scenario_size == self->provenance.scenario_size &&
         strcmp(loaded->scenario_text, self->provenance.scenario_text) == 0;
}

/* Seals a file that HDF5 wrote. Writing by HDF5 cuts off an older seal. */
static inline void fixture_seal(const char *path) {
  io_file file = {.fd = open(path, O_RDWR)};
  assert_true(file.fd >= 0);
  assert_ok(io_seal_write(&file));
  close(file.fd);
}

/* The latest line of the log, kept by a log writer of the test. */
typedef struct fixture_log {
  int warnings;
  char first[1024], last[1024];
} fixture_log;

static inline void fixture_log_writer(void *context, sim_log_level level, const char *message) {
  fixture_log *log = context;
  if (level != SIM_LOG_WARN) return;
  if (log->warnings++ == 0) snprintf(log->first, sizeof log->first, "%s", message);
  snprintf(log->last, sizeof log->last, "%s", message);
}

#endif
