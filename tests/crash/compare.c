/* compare FILE FILE: whether two HDF5 files hold the same objects, datasets and attributes. What says when and how a
 * run was made is passed over: /provenance, and the date of an openPMD file. Exit 1 names the first difference. */
#include <hdf5.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *different; /* where; NULL: nowhere yet */
static char place[1024];

static void differs(const char *object, const char *what) {
  if (different) return;
  snprintf(place, sizeof place, "%s: %s", object, what);
  different = place;
}

/* Bytes of a dataset or an attribute, in the file's own type; NULL where there are none. */
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

static bool same_values(hid_t a, hid_t b, bool attribute) {
  size_t sizes[2];
  unsigned char *values[2] = {read_values(a, attribute, &sizes[0]), read_values(b, attribute, &sizes[1])};
  const bool same = sizes[0] == sizes[1] && sizes[0] != SIZE_MAX && memcmp(values[0], values[1], sizes[0]) == 0;
  free(values[0]);
  free(values[1]);
  return same;
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
  if (strcmp(name, "date") == 0) return 0;
  hid_t a = H5Aopen(p->a, name, H5P_DEFAULT), b = H5Aexists(p->b, name) > 0 ? H5Aopen(p->b, name, H5P_DEFAULT) : -1;
  if (b < 0 || !same_values(a, b, true)) differs(p->object, name);
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
  w->objects++;
  if (strncmp(name, "provenance", 10) == 0) return 0;
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
  else if (info->type == H5O_TYPE_DATASET && !same_values(p.a, p.b, false))
    differs(name, "values");
  H5Aiterate2(p.a, H5_INDEX_NAME, H5_ITER_INC, NULL, compare_attribute, &p);
  H5Aiterate2(p.b, H5_INDEX_NAME, H5_ITER_INC, NULL, count_attribute, &attributes);
  if (attributes != p.count) differs(name, "attributes");
  H5Oclose(p.a);
  H5Oclose(p.b);
  return 0;
}

static herr_t count_object(hid_t root, const char *name, const H5O_info_t *info, void *opaque) {
  (void)root, (void)name, (void)info;
  ++*(int *)opaque;
  return 0;
}

int main(int count, char **files) {
  if (count < 3 || count % 2 == 0) return fprintf(stderr, "compare FILE FILE...\n"), 2;
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
