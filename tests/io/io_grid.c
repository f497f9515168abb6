/* Values on a grid from PNG images of every form, and from datasets. */
#include "fixture.h"

#include <hdf5.h>
#include <math.h>
#include <zlib.h>

enum { W = 13, H = 7, ROOM = 1 << 16 };

typedef struct image {
  unsigned char file[ROOM];
  size_t size;
  double want[H][W]; /* values of channel `red`, or of the only one */
} image;

static uint32_t word = 1;
static int drawn(int below) {
  word = word * 1664525u + 1013904223u;
  return (int)((word >> 8) % (uint32_t)below);
}

static void put32(unsigned char *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void chunk(image *p, const char *name, const unsigned char *data, size_t size) {
  unsigned char *to = p->file + p->size;
  put32(to, (uint32_t)size);
  for (int i = 0; i < 4; i++) to[4 + i] = (unsigned char)name[i];
  if (size > 0) memcpy(to + 8, data, size);
  put32(to + 8 + size, (uint32_t)crc32(0, to + 4, (uInt)size + 4));
  p->size += size + 12;
}

static int paeth(int a, int b, int c) {
  const int e = a + b - c, da = abs(e - a), db = abs(e - b), dc = abs(e - c);
  return da <= db && da <= dc ? a : db <= dc ? b : c;
}

static bool opaque; /* makes images whose alpha is 1 */

/* Random samples; row y has filter y % 5; the data are in three chunks. */
static void make(image *p, int colour, int depth, unsigned char palette[][3]) {
  static const int per_pixel[] = {1, 0, 3, 1, 2, 0, 4};
  static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  const int samples = per_pixel[colour], pixel = samples * depth < 8 ? 1 : samples * depth / 8;
  const int bytes = (W * samples * depth + 7) / 8;
  unsigned char raw[H * (W * 8 + 1)], packed[2 * sizeof raw], row[W * 8], above[W * 8] = {0}, head[13] = {0};
  size_t used = 0;
  for (int y = 0; y < H; y++) {
    memset(row, 0, sizeof row);
    for (int i = 0; i < W * samples; i++) {
      const bool alpha = colour >= 4 && i % samples == samples - 1;
      const int v = alpha && opaque ? (1 << depth) - 1 : drawn(1 << depth), bit = i * depth;
      if (depth == 16) row[2 * i] = (unsigned char)(v >> 8);
      if (depth == 16) row[2 * i + 1] = (unsigned char)v;
      if (depth < 16) row[bit / 8] |= (unsigned char)(v << (8 - depth - bit % 8));
      const double full = (1 << depth) - 1;
      if (i % samples == 0) p->want[H - 1 - y][i / samples] = colour == 3 ? palette[v][0] / 255.0 : v / full;
    }
    raw[used++] = (unsigned char)(y % 5);
    for (int i = 0; i < bytes; i++) {
      const int a = i >= pixel ? row[i - pixel] : 0, b = above[i], c = i >= pixel ? above[i - pixel] : 0;
      const int from[] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
      raw[used++] = (unsigned char)(row[i] - from[y % 5]);
    }
    memcpy(above, row, sizeof above);
  }
  uLongf size = sizeof packed;
  assert_int_equal(compress(packed, &size, raw, used), Z_OK);
  memcpy(p->file, signature, sizeof signature);
  p->size = sizeof signature;
  put32(head, W);
  put32(head + 4, H);
  head[8] = (unsigned char)depth;
  head[9] = (unsigned char)colour;
  chunk(p, "IHDR", head, sizeof head);
  chunk(p, "tEXt", (const unsigned char *)"a\0b", 3);
  if (palette) chunk(p, "PLTE", palette[0], 3 * ((size_t)1 << depth));
  chunk(p, "IDAT", packed, size / 3);
  chunk(p, "IDAT", packed, 0);
  chunk(p, "IDAT", packed + size / 3, size - size / 3);
  chunk(p, "IEND", NULL, 0);
}

static const char *write_file(const fixture *self, const void *data, size_t size) {
  static char path[160];
  snprintf(path, sizeof path, "%s/image", self->base);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  fclose(file);
  return path;
}

static sim_grid_source source_of(const char *path, int channel) {
  return (sim_grid_source){.path = path, .name = "u", .channel = channel, .rank = 2, .n = {W, H, 1}};
}

static void test_forms(void **state) {
  static const int forms[][2] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                                 {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
  unsigned char palette[256][3];
  double values[H * W];
  static image p;
  for (int i = 0; i < 256; i++)
    for (int s = 0; s < 3; s++) palette[i][s] = (unsigned char)drawn(256);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    make(&p, forms[i][0], forms[i][1], forms[i][0] == 3 ? palette : NULL);
    sim_grid_source source = source_of(write_file(*state, p.file, p.size), forms[i][0] & 2    ? SIM_RED
                                                                           : forms[i][0] == 4 ? SIM_GREY
                                                                                              : SIM_NO_CHANNEL);
    assert_ok(io_read_grid(&source, NULL));
    assert_ok(io_read_grid(&source, values));
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) assert_true(values[y * W + x] == p.want[y][x]);
    source.dataset = "u";
    assert_status(io_read_grid(&source, NULL), SIM_ERR_SCENARIO);
    source.dataset = NULL;
    source.channel = SIM_BLUE;
    assert_status(io_read_grid(&source, NULL), forms[i][0] & 2 ? SIM_OK : SIM_ERR_SCENARIO);
    source.channel = SIM_ALPHA;
    assert_status(io_read_grid(&source, NULL), forms[i][0] == 4 || forms[i][0] == 6 ? SIM_OK : SIM_ERR_SCENARIO);
  }
}

/* What of an image is meant, where it is transparent, has to be said; alpha that is 1 everywhere says nothing. */
static void test_transparent(void **state) {
  static const int forms[][2] = {{4, 8}, {4, 16}, {6, 8}, {6, 16}};
  double values[H * W];
  static image p;
  for (size_t i = 0; i < 8; i++) {
    opaque = i >= 4;
    make(&p, forms[i % 4][0], forms[i % 4][1], NULL);
    sim_grid_source source = source_of(write_file(*state, p.file, p.size), SIM_NO_CHANNEL);
    assert_status(io_read_grid(&source, values), opaque ? SIM_OK : SIM_ERR_SCENARIO);
    if (!opaque) assert_message("some of the image is transparent: give channel");
    source.channel = SIM_GREY;
    assert_ok(io_read_grid(&source, values));
    source.channel = SIM_ALPHA;
    assert_ok(io_read_grid(&source, values));
    for (int k = 0; k < H * W && opaque; k++) assert_true(values[k] == 1);
  }
  opaque = false;
}

/* Every length, and every third bit flipped in turn (a process each): the file is refused, or, where the damage is in
 * parts that are not read, gives the same values. */
static void test_damage(void **state) {
  static image p;
  double values[H * W];
  make(&p, 0, 8, NULL);
  const sim_grid_source source = source_of(write_file(*state, p.file, p.size), SIM_GREY);
  for (size_t i = 0; i + 12 < p.size; i++) { /* the last chunk is empty */
    write_file(*state, p.file, i);
    assert_status(io_read_grid(&source, values), SIM_ERR_SCENARIO);
  }
  int same = 0;
  for (size_t i = 0; i < 8 * p.size; i += 3) {
    p.file[i / 8] ^= (unsigned char)(1 << i % 8);
    write_file(*state, p.file, p.size);
    const sim_status status = io_read_grid(&source, values);
    p.file[i / 8] ^= (unsigned char)(1 << i % 8);
    if (status == SIM_OK) same++;
    for (int y = 0; status == SIM_OK && y < H; y++)
      for (int x = 0; x < W; x++) assert_true(values[y * W + x] == p.want[y][x]);
    if (status != SIM_OK) assert_int_equal(status, SIM_ERR_SCENARIO);
  }
  assert_true(same <= 8 * (12 + 15)); /* bits of the text and of the last chunk */
}

/* Writes datasets behind a user block of `block` bytes. */
static void make_datasets(const char *path, double *values, hsize_t block) {
  const hsize_t shape[] = {H, W};
  for (int i = 0; i < H * W; i++) values[i] = sqrt(i);
  hid_t plist = H5Pcreate(H5P_FILE_CREATE);
  assert_true(H5Pset_userblock(plist, block) >= 0);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, plist, H5P_DEFAULT), space = H5Screate_simple(2, shape, NULL);
  hid_t group = H5Gcreate2(file, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hid_t step = H5Gcreate2(group, "12", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hid_t meshes = H5Gcreate2(step, "meshes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  static const char *const names[] = {"/data/12/meshes/u", "plain", "nan"};
  for (int i = 0; i < 3; i++) {
    hid_t set = H5Dcreate2(file, names[i], i == 1 ? H5T_STD_I16BE : H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    if (i == 2) values[3 * W + 3] = NAN;
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
  }
  values[3 * W + 3] = sqrt(3 * W + 3);
  assert_true(H5Lcreate_soft("/plain", file, "link", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  H5Gclose(meshes), H5Gclose(step), H5Gclose(group), H5Sclose(space), H5Pclose(plist), H5Fclose(file);
}

static void test_datasets(void **state) {
  static const hsize_t blocks[] = {512, 4096, 0};
  const fixture *self = *state;
  char path[160] = "";
  double values[H * W], read[H * W];
  sim_grid_source source = source_of(path, 0);
  snprintf(path, sizeof path, "%s/values.h5", self->base);
  for (int i = 0; i < 3; i++) {
    make_datasets(path, values, blocks[i]);
    assert_ok(io_read_grid(&source, read));
    assert_memory_equal(read, values, sizeof read);
  }
  source.dataset = "/plain";
  assert_ok(io_read_grid(&source, read));
  for (int i = 0; i < H * W; i++) assert_true(read[i] == floor(values[i]));
  static const char *const bad[][2] = {{"v", "v: is missing; there are u"}, {"/link", "soft or external"},
                                       {"/data", "is not a dataset"},       {"/plain/x", "not a group"},
                                       {"/nan", "holds nan at index 42"},   {"//", "empty name"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    source.dataset = bad[i][0];
    assert_status(io_read_grid(&source, read), SIM_ERR_SCENARIO);
    if (!strstr(sim_error_last()->message, bad[i][1])) fail_msg("%s", sim_error_last()->message);
  }
  source = source_of(path, SIM_GREY);
  assert_status(io_read_grid(&source, NULL), SIM_ERR_SCENARIO);
  assert_non_null(strstr(sim_error_last()->message, "a channel is of an image"));
  source = source_of(path, 0);
  source.n[0] = H, source.n[1] = W;
  assert_status(io_read_grid(&source, NULL), SIM_ERR_SCENARIO);
  assert_non_null(strstr(sim_error_last()->message, "expected 13 x 7 values"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_forms), TEST(test_transparent), TEST(test_damage), TEST(test_datasets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
