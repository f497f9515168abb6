/* compare [--near UNITS] FILE FILE: whether two HDF5 files hold the same objects, datasets and attributes. Data on when
 * and how a run was made are ignored: /provenance, the date of an openPMD file, and the random name of the run in a
 * checkpoint. A checkpoint has the tail of each table: the rows that tables.h5 lacked. Its length depends on when the
 * tables were flushed, and it may be absent. So the last rows are compared, as many as both have. With --near the
 * floating-point values of a dataset may differ by UNITS roundings (2^-52, in single 2^-23) of its largest value. With
 * exit code 1 it names the first difference. */
#include <hdf5.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *different; /* first difference; NULL: none */
static char place[1024];

static void differs(const char *object, const char *what) {
  if (different) return;
  snprintf(place, sizeof place, "%s: %s", object, what);
  different = place;
}

/* Returns the bytes of a dataset or an attribute in the file's own type; NULL where there are none. */
static unsigned char *read_values(hid_t id, bool attribute, size_t *bytes) {
  hid_t type = attribute ? H5Aget_type(id) : H5Dget_type(id), space = attribute ? H5Aget_space(id) : H5Dget_space(id);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  *bytes = (size_t)count * H5Tget_size(type);
  unsigned char *out = calloc(1, *bytes + 1);
  if (!out) abort();
  if (count > 0 && (attribute ? H5Aread(id, type, out) : H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out)) < 0)
    *bytes = SIZE_MAX;
  H5Sclose(space);
  H5Tclose(type);
  return out;
}

static double units; /* of --near */

/* Largest value and largest difference of floating-point numbers so far. */
typedef struct distance {
  double most, apart, rounding;
} distance;

/* Compares elements of one type at `offset` of each row of `size` bytes. Returns false where they must be equal and are
 * not. */
static bool measure(hid_t type, size_t offset, size_t size, size_t rows, const unsigned char *a, const unsigned char *b,
                    distance *out) {
  const size_t width = H5Tget_size(type);
  const bool single = width == sizeof(float), real = H5Tget_class(type) == H5T_FLOAT;
  for (size_t i = 0; i < rows; i++) {
    const unsigned char *left = a + i * size + offset, *right = b + i * size + offset;
    double x = 0, y = 0;
    float u = 0, v = 0;
    if (!real && memcmp(left, right, width) != 0) return false;
    if (!real) continue;
    memcpy(single ? (void *)&u : (void *)&x, left, width);
    memcpy(single ? (void *)&v : (void *)&y, right, width);
    if (single) x = (double)u, y = (double)v;
    if (isnan(x) != isnan(y)) return false;
    if (isfinite(x)) out->most = fmax(out->most, fabs(x));
    if (!isnan(x) && x != y) out->apart = fmax(out->apart, fabs(x - y));
  }
  if (real) out->rounding = single ? FLT_EPSILON : DBL_EPSILON;
  return true;
}

/* Bytes of two datasets or attributes. */
typedef struct two_values {
  unsigned char *all[2], *from[2]; /* all: owned; from: where the comparison begins */
  size_t bytes;                    /* bytes to compare; SIZE_MAX: the sizes differ, or a value cannot be read */
} two_values;

static two_values read_both(hid_t a, hid_t b, bool attribute) {
  size_t sizes[2];
  two_values out = {.all = {read_values(a, attribute, &sizes[0]), read_values(b, attribute, &sizes[1])}};
  for (int i = 0; i < 2; i++) out.from[i] = out.all[i];
  out.bytes = sizes[0] == sizes[1] ? sizes[0] : SIZE_MAX;
  return out;
}

/* Reads the last rows of two tails of a table, [rows][columns], as many as both have. */
static two_values read_tails(hid_t a, hid_t b) {
  hsize_t shape[2][2] = {{0}};
  size_t sizes[2], row[2] = {0};
  const hid_t of[2] = {a, b};
  two_values out = {.all = {read_values(a, false, &sizes[0]), read_values(b, false, &sizes[1])}, .bytes = SIZE_MAX};
  for (int i = 0; i < 2; i++) {
    hid_t space = H5Dget_space(of[i]), type = H5Dget_type(of[i]);
    if (H5Sget_simple_extent_ndims(space) == 2) (void)H5Sget_simple_extent_dims(space, shape[i], NULL);
    row[i] = (size_t)shape[i][1] * H5Tget_size(type);
    H5Tclose(type);
    H5Sclose(space);
  }
  if (row[0] == 0 || row[0] != row[1] || sizes[0] == SIZE_MAX || sizes[1] == SIZE_MAX) return out;
  out.bytes = row[0] * (size_t)(shape[0][0] < shape[1][0] ? shape[0][0] : shape[1][0]);
  for (int i = 0; i < 2; i++) out.from[i] = out.all[i] + sizes[i] - out.bytes;
  return out;
}

/* Compares values of datasets of the same type. All columns of a table count as one array, since some are differences
 * of others. */
static bool near_values(hid_t a, hid_t b, const two_values *values) {
  hid_t type = H5Dget_type(a), other = H5Dget_type(b);
  bool near = values->bytes != SIZE_MAX && H5Tequal(type, other) > 0;
  const size_t row = H5Tget_size(type), rows = near ? values->bytes / row : 0;
  const int members = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
  distance found = {0};
  for (int m = 0; near && m < members; m++) {
    hid_t member = H5Tget_member_type(type, (unsigned)m);
    const size_t offset = H5Tget_member_offset(type, (unsigned)m);
    near = measure(member, offset, row, rows, values->from[0], values->from[1], &found);
    H5Tclose(member);
  }
  if (near && members == 0) near = measure(type, 0, row, rows, values->from[0], values->from[1], &found);
  if (found.apart > units * found.rounding * found.most) near = false;
  if (!near) printf("apart by %g, largest value %g\n", found.apart, found.most);
  H5Tclose(type);
  H5Tclose(other);
  return near;
}

/* `tail`: the values are the tail of a table. */
static bool same_values(hid_t a, hid_t b, bool attribute, bool tail) {
  two_values values = tail ? read_tails(a, b) : read_both(a, b, attribute);
  bool same = values.bytes != SIZE_MAX;
  if (units > 0 && !attribute)
    same = near_values(a, b, &values);
  else if (same)
    same = memcmp(values.from[0], values.from[1], values.bytes) == 0;
  for (int i = 0; i < 2; i++) free(values.all[i]);
  return same;
}

static bool is_tail(const char *name) {
  const char *last = strrchr(name, '/');
  return strncmp(name, "tables/", 7) == 0 && last && strcmp(last, "/tail") == 0;
}

typedef struct pair {
  const char *object;
  hid_t a, b;
  int count;
} pair;

static herr_t compare_attribute(hid_t location, const char *name, const H5A_info_t *info, void *opaque) {
  (void)location, (void)info;
  pair *p = opaque;
  p->count++;
  if (strcmp(name, "date") == 0 || strcmp(name, "run") == 0) return 0;
  hid_t a = H5Aopen(p->a, name, H5P_DEFAULT), b = H5Aexists(p->b, name) > 0 ? H5Aopen(p->b, name, H5P_DEFAULT) : -1;
  if (b < 0 || !same_values(a, b, true, false)) differs(p->object, name);
  if (b >= 0) H5Aclose(b);
  H5Aclose(a);
  return 0;
}

static herr_t count_attribute(hid_t location, const char *name, const H5A_info_t *info, void *opaque) {
  (void)location, (void)name, (void)info;
  ++*(int *)opaque;
  return 0;
}

typedef struct walk {
  hid_t other;
  int objects;
} walk;

static herr_t compare_object(hid_t root, const char *name, const H5O_info_t *info, void *opaque) {
  walk *w = opaque;
  int attributes = 0;
  const bool tail = is_tail(name);
  if (!tail) w->objects++;
  if (strncmp(name, "provenance", 10) == 0) return 0;
  if (tail && H5Lexists(w->other, name, H5P_DEFAULT) <= 0) return 0;
  if (strcmp(name, ".") != 0 && H5Lexists(w->other, name, H5P_DEFAULT) <= 0) {
    differs(name, "only in the first");
    return 0;
  }
  pair p = {name, H5Oopen(root, name, H5P_DEFAULT), H5Oopen(w->other, name, H5P_DEFAULT), 0};
  if (p.a < 0 || p.b < 0) {
    differs(name, "cannot be opened");
    return 0;
  }
  if (H5Iget_type(p.a) != H5Iget_type(p.b))
    differs(name, "another kind");
  else if (info->type == H5O_TYPE_DATASET && !same_values(p.a, p.b, false, tail))
    differs(name, "values");
  H5Aiterate2(p.a, H5_INDEX_NAME, H5_ITER_INC, NULL, compare_attribute, &p);
  H5Aiterate2(p.b, H5_INDEX_NAME, H5_ITER_INC, NULL, count_attribute, &attributes);
  if (attributes != p.count) differs(name, "attributes");
  H5Oclose(p.a);
  H5Oclose(p.b);
  return 0;
}

static herr_t count_object(hid_t root, const char *name, const H5O_info_t *info, void *opaque) {
  (void)root, (void)info;
  if (!is_tail(name)) ++*(int *)opaque;
  return 0;
}

int main(int count, char **files) {
  if (count > 2 && strcmp(files[1], "--near") == 0) {
    units = strtod(files[2], NULL);
    files += 2;
    count -= 2;
  }
  if (count < 3 || count % 2 == 0) return fprintf(stderr, "compare [--near UNITS] FILE FILE...\n"), 2;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  for (int i = 1; i < count; i += 2) {
    walk w = {H5Fopen(files[i + 1], H5F_ACC_RDONLY, H5P_DEFAULT), 0};
    hid_t first = H5Fopen(files[i], H5F_ACC_RDONLY, H5P_DEFAULT);
    int objects = 0;
    if (first < 0 || w.other < 0)
      differs(first < 0 ? files[i] : files[i + 1], "cannot be opened");
    else {
      H5Ovisit2(first, H5_INDEX_NAME, H5_ITER_INC, compare_object, &w, H5O_INFO_BASIC);
      H5Ovisit2(w.other, H5_INDEX_NAME, H5_ITER_INC, count_object, &objects, H5O_INFO_BASIC);
      if (objects != w.objects) differs("/", "number of objects");
    }
    if (first >= 0) H5Fclose(first);
    if (w.other >= 0) H5Fclose(w.other);
    if (different) return printf("%s and %s differ: %s\n", files[i], files[i + 1], different), 1;
  }
  return 0;
}
