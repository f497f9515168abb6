/* Seals files as the program does, and makes checkpoints that are valid files with a wild content.
 *
 *   reseal seal FILE OUT           OUT is the HDF5 file FILE behind a seal; a seal that FILE has is made anew
 *   reseal count FILE              number of mutations that `mutate` knows for FILE
 *   reseal find FILE OBJECT CHANGE the number of one of them; change 12: all elements of integers are 65536
 *   reseal mutate FILE OUT NUMBER  OUT is FILE with mutation NUMBER, sealed; prints what was changed
 *   reseal flip FILE OUT BIT       OUT is FILE with one bit changed, not sealed
 *
 * A mutation is a place and a change. Places are the datasets and attributes of the file, in the order of their names.
 * Changes of a number: one element, or all, to a wild value; of bytes: some of them to others; of a dataset: another
 * shape or type, or it is removed. The same number always gives the same file. */
#include "io/io.h"
#include "io/seal.h"

#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACES = 1024, VALUES = 12, SHAPES = 8, CHANGES = 2 * VALUES + SHAPES };

typedef struct place {
  char object[160], attribute[64]; /* attribute "": the dataset itself */
} place;

static place places[PLACES];
static int place_count;

static void quit(const char *what) {
  fprintf(stderr, "reseal: %s\n", what);
  exit(2);
}

/* ---- files ---- */

static unsigned char *load(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  struct stat info;
  if (!file || fstat(fileno(file), &info) != 0) quit(path);
  unsigned char *data = malloc((size_t)info.st_size + 1);
  *size = data ? fread(data, 1, (size_t)info.st_size, file) : 0;
  if (*size != (size_t)info.st_size) quit("cannot read");
  fclose(file);
  return data;
}

static void save(const char *path, const unsigned char *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) quit("cannot write");
}

/* Bytes of a file without the seal behind it. */
static size_t unsealed(const unsigned char *data, size_t size) {
  const bool sealed = size >= IO_SEAL_SIZE && memcmp(data + size - IO_SEAL_SIZE, IO_SEAL_MAGIC, 8) == 0;
  return sealed ? size - IO_SEAL_SIZE : size;
}

static void seal(const char *path) {
  io_file file = {.fd = open(path, O_RDWR)};
  if (file.fd < 0 || io_seal_write(&file) != SIM_OK) quit("cannot seal");
  close(file.fd);
}

/* ---- places ---- */

static void add_place(const char *object, const char *attribute) {
  if (place_count == PLACES) quit("too many places");
  snprintf(places[place_count].object, sizeof places->object, "%s", object);
  snprintf(places[place_count++].attribute, sizeof places->attribute, "%s", attribute);
}

static herr_t on_attribute(hid_t object, const char *name, const H5A_info_t *info, void *path) {
  (void)object, (void)info;
  add_place(path, name);
  return 0;
}

static herr_t on_object(hid_t root, const char *name, const H5L_info_t *info, void *unused) {
  (void)info, (void)unused;
  char path[160];
  snprintf(path, sizeof path, "%s", name);
  if (strncmp(name, "provenance", 10) == 0) return 0; /* for human readers: no code reads it */
  hid_t object = H5Oopen(root, name, H5P_DEFAULT);
  if (H5Iget_type(object) == H5I_DATASET) add_place(path, "");
  hsize_t at = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, on_attribute, path);
  H5Oclose(object);
  return 0;
}

/* ---- changes ---- */

static uint64_t state;
static uint64_t draw(void) { /* splitmix64 */
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static const double reals[VALUES] = {1e308, -1e308, 1e30, -1e30, 65536, -1, 0, 5e-324, 0x1p53, -0x1p63, 1e9, 0.5};
static const uint64_t integers[VALUES] = {65536,          UINT64_MAX,        0,  UINT64_C(1) << 63,
                                          INT64_MAX,      UINT32_MAX,        1,  UINT64_C(1) << 32,
                                          UINT64_MAX - 1, UINT64_C(1) << 31, 16, INT64_MAX - 1};

static void put(hid_t type, unsigned char *to, int value, size_t size) {
  if (H5Tget_class(type) == H5T_FLOAT && size == 8) memcpy(to, &reals[value], 8);
  if (H5Tget_class(type) == H5T_FLOAT && size == 4) {
    const float x = reals[value] > 1e38 ? 3e38f : reals[value] < -1e38 ? -3e38f : (float)reals[value];
    memcpy(to, &x, 4);
  }
  if (H5Tget_class(type) == H5T_INTEGER && size == 8) memcpy(to, &integers[value], 8);
  if (size == 1 || H5Tget_class(type) == H5T_STRING) *to = (unsigned char)draw();
}

/* Changes one element, or all; some of the bytes. */
static void change(hid_t type, unsigned char *data, size_t count, int value, bool all) {
  const size_t size = H5Tget_class(type) == H5T_STRING ? 1 : H5Tget_size(type);
  if (size == 1) {
    const size_t times = all ? 1 + count / 8 : 1;
    for (size_t k = 0; count > 0 && k < times; k++) put(type, data + draw() % count, value, 1);
    return;
  }
  const size_t one = count > 0 ? (size_t)(draw() % count) : 0;
  for (size_t i = all ? 0 : one; count > 0 && i < (all ? count : one + 1); i++) put(type, data + i * size, value, size);
}

static size_t elements(hid_t space, hid_t type) {
  const size_t count = (size_t)H5Sget_simple_extent_npoints(space);
  return H5Tget_class(type) == H5T_STRING ? count * H5Tget_size(type) : count;
}

static void set_row(hid_t dataset, const char *name, int rank, const hsize_t *values) {
  const hsize_t count = (hsize_t)rank;
  hid_t space = H5Screate_simple(1, &count, NULL);
  hid_t attribute = H5Acreate2(dataset, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  if (rank > 0) H5Awrite(attribute, H5T_NATIVE_HSIZE, values);
  H5Aclose(attribute);
  H5Sclose(space);
}

/* Replaces a dataset by another one, of zeros and the first of its values. */
static void reshape(hid_t file, const char *path, int how) {
  hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  hsize_t shape[8] = {0}, zeros[8] = {0};
  int rank = H5Sget_simple_extent_ndims(space);
  H5Sget_simple_extent_dims(space, shape, NULL);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Ldelete(file, path, H5P_DEFAULT);
  if (how == 0) {
    H5Tclose(type);
    return;
  }
  const hid_t types[] = {H5T_IEEE_F64LE, H5T_IEEE_F32LE, H5T_STD_I64LE, H5T_STD_U64LE};
  hid_t other = how >= 6 ? types[(H5Tget_class(type) == H5T_FLOAT ? 2 : 0) + how % 2] : type;
  if (how == 1) shape[rank ? rank - 1 : 0] += 1;
  if (how == 2 && rank) shape[rank - 1] = 0;
  if (how == 3 && rank && shape[rank - 1] > 0) shape[rank - 1] -= 1;
  if (how == 4) shape[rank++] = 0;
  if (how == 5 && rank) shape[0] = rank == 1 ? 100000 : 100;
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY);
  space = rank ? H5Screate_simple(rank, shape, NULL) : H5Screate(H5S_SCALAR);
  dataset = H5Dcreate2(file, path, other, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  set_row(dataset, "global", rank, shape);
  set_row(dataset, "offset", rank, zeros);
  H5Pclose(plist);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Tclose(type);
}

static void mutate(hid_t file, int number) {
  const place *at = &places[number % place_count];
  const int what = number / place_count % CHANGES;
  state = (uint64_t)number;
  printf("%s%s%s: change %d\n", at->object, *at->attribute ? " @" : "", at->attribute, what);
  if (what >= 2 * VALUES && !*at->attribute) {
    reshape(file, at->object, what - 2 * VALUES);
    return;
  }
  hid_t object = H5Oopen(file, at->object, H5P_DEFAULT);
  hid_t id = *at->attribute ? H5Aopen(object, at->attribute, H5P_DEFAULT) : object;
  hid_t type = *at->attribute ? H5Aget_type(id) : H5Dget_type(id),
        space = *at->attribute ? H5Aget_space(id) : H5Dget_space(id);
  const size_t count = elements(space, type);
  unsigned char *data = calloc(count + 1, 8);
  if (!data) quit("out of memory");
  if (*at->attribute)
    H5Aread(id, type, data);
  else
    H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  change(type, data, count, what % VALUES, what >= VALUES);
  if (*at->attribute)
    H5Awrite(id, type, data);
  else if (count > 0)
    H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  free(data);
  H5Sclose(space);
  H5Tclose(type);
  if (*at->attribute) H5Aclose(id);
  H5Oclose(object);
}

int main(int argc, char **argv) {
  const char *task = argc > 2 ? argv[1] : "";
  char root[] = ".";
  size_t size;
  if (io_init() != SIM_OK) quit("no HDF5");
  if (strcmp(task, "seal") == 0 && argc == 4) {
    unsigned char *data = load(argv[2], &size);
    save(argv[3], data, unsealed(data, size));
    seal(argv[3]);
    free(data);
    return 0;
  }
  if (strcmp(task, "flip") == 0 && argc == 5) {
    unsigned char *data = load(argv[2], &size);
    const size_t bit = strtoull(argv[4], NULL, 10) % (8 * size);
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    save(argv[3], data, size);
    free(data);
    return 0;
  }
  const bool finds = strcmp(task, "find") == 0 && argc == 5,
             counts = finds || (strcmp(task, "count") == 0 && argc == 3);
  if (!counts && (strcmp(task, "mutate") != 0 || argc != 5))
    quit("seal FILE OUT | count FILE | find FILE OBJECT CHANGE | mutate FILE OUT NUMBER | flip FILE OUT BIT");
  if (!counts) {
    unsigned char *data = load(argv[2], &size);
    save(argv[3], data, size);
    free(data);
  }
  hid_t file = H5Fopen(argv[counts ? 2 : 3], counts ? H5F_ACC_RDONLY : H5F_ACC_RDWR, H5P_DEFAULT);
  if (file < 0) quit("HDF5 cannot open it");
  hsize_t first = 0;
  H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, &first, on_attribute, root);
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, on_object, NULL);
  if (place_count == 0) quit("nothing to change");
  int at = 0;
  while (finds && at < place_count && (strcmp(places[at].object, argv[3]) != 0 || *places[at].attribute)) at++;
  if (at == place_count) quit("no such dataset");
  if (finds)
    printf("%d\n", at + place_count * (atoi(argv[4]) % CHANGES));
  else if (counts)
    printf("%d\n", place_count * CHANGES);
  else
    mutate(file, atoi(argv[4]));
  H5Fclose(file);
  if (!counts) seal(argv[3]);
  return 0;
}
