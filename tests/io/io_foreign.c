/* Snapshots as input: sealed files are verified, and files of other programs are parsed in a child process that may
 * die. */
#include "fixture.h"

#include "io/input/foreign.h"
#include "tests/sanitized.h"

#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static void write_snapshot(fixture *self, char path[160]) {
  io_folder *folder;
  sim_sink sink;
  assert_ok(io_folder_open(self->run, IO_FOLDER_FORCE, &folder));
  assert_ok(io_snapshot_sink(folder, &self->provenance, (sim_cadence){0}, &sink));
  assert_ok(sink.write(sink.self, &self->frame));
  sink.destroy(&sink.self);
  io_folder_close(&folder);
  snprintf(path, 160, "%s/snap/snap_00000012.h5", self->run);
}

static unsigned char *load(const char *path, size_t *size) {
  struct stat info;
  int fd = open(path, O_RDONLY);
  assert_true(fd >= 0 && fstat(fd, &info) == 0);
  *size = (size_t)info.st_size;
  unsigned char *data = malloc(*size);
  assert_non_null(data);
  assert_int_equal(read(fd, data, *size), *size);
  close(fd);
  return data;
}

static void save(const char *path, const unsigned char *data, size_t size) {
  int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);
  assert_true(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  close(fd);
}

static sim_status read_back(const char *path) {
  sim_particles read;
  sim_status status = io_read_particles(path, "stars", NULL, &read);
  if (status == SIM_OK) sim_particles_free(&read);
  return status;
}

/* One bit in each of 700 positions and in every bit of the seal; blocks of zeros; every hundredth length. */
static void test_sealed(void **state) {
  fixture *self = *state;
  char path[160], damaged[160];
  size_t size;
  write_snapshot(self, path);
  assert_ok(read_back(path));
  unsigned char *data = load(path, &size);
  assert_memory_equal(data, "\x89HDF\r\n\x1a\n", 8); /* at the position where all readers look for it */
  snprintf(damaged, sizeof damaged, "%s/damaged.h5", self->base);
  for (size_t k = 0; k < 700 + 64 * 8; k++) {
    const size_t bit = k < 700 ? k * 8 * size / 700 + k % 8 : 8 * (size - IO_SEAL_SIZE) + k - 700;
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    save(damaged, data, size);
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    if (read_back(damaged) != SIM_ERR_SCENARIO) fail_msg("accepted with bit %zu changed", bit);
  }
  for (size_t at = 0; at < size; at += 512) {
    unsigned char kept[512];
    const size_t some = size - at < 512 ? size - at : 512;
    memcpy(kept, data + at, some);
    memset(data + at, 0, some);
    save(damaged, data, size);
    const bool changed = memcmp(kept, data + at, some) != 0;
    memcpy(data + at, kept, some);
    if (changed && read_back(damaged) != SIM_ERR_SCENARIO) fail_msg("accepted with zeros at %zu", at);
  }
  for (size_t length = 0; length < size; length += 100) {
    save(damaged, data, length);
    assert_status(read_back(damaged), SIM_ERR_SCENARIO);
  }
  save(damaged, data, size - IO_SEAL_SIZE); /* the HDF5 file is complete */
  assert_status(read_back(damaged), SIM_ERR_SCENARIO);
  save(damaged, data, size);
  assert_ok(read_back(damaged));
  free(data);
}

/* Files of earlier versions have the seal as their first block, before the HDF5 file. */
static void test_sealed_in_front(void **state) {
  fixture *self = *state;
  char path[160];
  size_t size;
  write_snapshot(self, path);
  unsigned char *data = load(path, &size), *old = calloc(1, size);
  assert_non_null(old);
  memcpy(old, data + size - IO_SEAL_SIZE, 24); /* magic, version and the length, which is the same */
  old[8] = 1;                                  /* the version of such files */
  memcpy(old + IO_SEAL_SIZE, data, size - IO_SEAL_SIZE);
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(old, size));
  memcpy(old + 24, digest.digest, sizeof digest.digest);
  save(path, old, size);
  assert_ok(read_back(path));
  old[size - 1] ^= 1;
  save(path, old, size);
  assert_status(read_back(path), SIM_ERR_SCENARIO);
  assert_message("damaged: its digest does not match its content");
  free(data);
  free(old);
}

/* The same without a seal, as a file of another program: read, or refused, and this process survives. */
static void test_foreign_flips(void **state) {
  fixture *self = *state;
  char path[160];
  size_t size;
  write_snapshot(self, path);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(H5Adelete(file, "seal") >= 0 && H5Fclose(file) >= 0);
  unsigned char *data = load(path, &size);
  for (size_t k = 0; k < 120; k++) {
    const size_t bit = (k * 8 * size / 120 + 3 * k) % (8 * size);
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    save(path, data, size);
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    const sim_status status = read_back(path);
    if (status != SIM_OK && status != SIM_ERR_SCENARIO && status != SIM_ERR_NO_MEMORY && status != SIM_ERR_IO)
      fail_msg("bit %zu: %s", bit, sim_error_last()->message);
  }
  free(data);
}

/* ---- limits of the child ---- */

static sim_status do_crash(const io_foreign *file, void *context) {
  (void)file, (void)context;
  signal(SIGSEGV, SIG_DFL); /* a sanitizer's own handler would report it */
  raise(SIGSEGV);
  return SIM_OK;
}
static sim_status do_loop(const io_foreign *file, void *context) {
  (void)file, (void)context;
  for (volatile uint64_t k = 0; k < UINT64_MAX; k = k + 1) continue;
  return SIM_OK;
}
/* Takes only address space: 4 GiB where a little over 1 GiB is allowed. */
static sim_status do_fill(const io_foreign *file, void *context) {
  (void)context;
  void *block = mmap(NULL, (size_t)4 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return block == MAP_FAILED ? sim_fail(SIM_ERR_NO_MEMORY, "%s: out of memory", file->path) : SIM_OK;
}
static sim_status do_open(const io_foreign *file, void *context) {
  (void)file, (void)context;
  return open("/dev/null", O_RDONLY) < 0 ? sim_fail(SIM_ERR_PERMISSION, "no file is opened") : SIM_OK;
}
static sim_status do_end(const io_foreign *file, void *context) {
  (void)file, (void)context;
  _exit(3);
}
static sim_status do_nothing(const io_foreign *file, void *context) { return (void)file, (void)context, SIM_OK; }
static void send_nothing(const void *context, int pipe) { (void)context, (void)pipe; }
static void send_half(const void *context, int pipe) { (void)context, io_foreign_send(pipe, "1234", 4); }
static sim_status take_nothing(void *context, int pipe) { return (void)context, (void)pipe, SIM_OK; }
static sim_status take_eight(void *context, int pipe) {
  char eight[8];
  return (void)context, io_foreign_take(pipe, eight, sizeof eight);
}

static void test_limits(void **state) {
  fixture *self = *state;
  char path[160];
  io_foreign file;
  const struct {
    io_foreign_task task;
    sim_status status;
    const char *message;
    bool limit; /* not tested with sanitizers */
  } cases[] = {{{do_nothing, send_nothing, take_nothing}, SIM_OK, "", false},
               {{do_crash, send_nothing, take_nothing}, SIM_ERR_SCENARIO, "was ended by signal 11", false},
               {{do_loop, send_nothing, take_nothing}, SIM_ERR_SCENARIO, "reading takes more than 0.05 s", false},
               {{do_end, send_nothing, take_nothing}, SIM_ERR_SCENARIO, "gave no answer (exit status 3)", false},
               {{do_nothing, send_half, take_eight}, SIM_ERR_SCENARIO, "gave no answer", false},
               {{do_fill, send_nothing, take_nothing}, SIM_ERR_NO_MEMORY, "out of memory", true},
               {{do_open, send_nothing, take_nothing}, SIM_ERR_PERMISSION, "no file is opened", true}};
  write_snapshot(self, path);
  assert_ok(io_foreign_open(path, &file));
  assert_int_equal(file.form, IO_FORM_HDF5);
  file.seconds = 0.05;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (cases[i].limit && TEST_SANITIZED) continue;
    sim_error_clear();
    assert_status(io_foreign_run(&file, &cases[i].task, NULL), cases[i].status);
    assert_message(cases[i].message);
  }
  io_foreign_close(&file);
}

/* ---- units, iterations ---- */

static void set_attribute(const char *path, const char *object_name, const char *name, double value) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), object = H5Oopen(file, object_name, H5P_DEFAULT);
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
  H5Aclose(attribute);
  H5Oclose(object);
  H5Fclose(file);
  fixture_seal(path);
}

static void test_units(void **state) {
  fixture *self = *state;
  static const double bad[] = {0, NAN, -1, INFINITY};
  static const char *const places[][2] = {{"/data/12/particles/stars/position/x", "unitSI"},
                                          {"/data/12/particles/stars/mass", "unitSI"},
                                          {"/data/12/particles/stars/velocity/z", "unitSI"},
                                          {"/data/12", "timeUnitSI"}};
  for (size_t k = 0; k < 4; k++) {
    char path[160];
    write_snapshot(self, path);
    for (size_t i = 0; i < 4; i++) {
      set_attribute(path, places[k][0], places[k][1], bad[i]);
      assert_status(read_back(path), SIM_ERR_SCENARIO);
      assert_message(places[k][1]);
      assert_message("must be a positive number");
    }
    set_attribute(path, places[k][0], places[k][1], 2);
    assert_ok(read_back(path));
  }
}

static double child_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

/* 2000 more iterations take as long as the first 2000. A look-up of each by its number took 30 times that. */
static void test_many_iterations(void **state) {
  fixture *self = *state;
  char path[160];
  double taken[2], begin;
  int64_t count;
  write_snapshot(self, path);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  for (int part = 0; part < 2; part++) {
    for (int k = part ? 2000 : 0; k < (part ? 8000 : 2000); k++) {
      char name[64];
      snprintf(name, sizeof name, "/data/%d", 1000000 - k);
      if (k == 0)
        assert_true(H5Lmove(file, "/data/12", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
      else
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    H5Fclose(file);
    fixture_seal(path);
    begin = child_seconds();
    assert_ok(io_count_particles(path, "stars", &count));
    taken[part] = child_seconds() - begin;
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  }
  H5Fclose(file);
  /* Four times as many; twice that for the resolution of the clock and a busy machine. */
  if (taken[1] > 8 * taken[0] + 0.1) fail_msg("2000 iterations took %g s, 8000 %g s", taken[0], taken[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_sealed), TEST(test_sealed_in_front), TEST(test_foreign_flips),
                                     TEST(test_limits), TEST(test_units),           TEST(test_many_iterations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
