/* STL files as programs write them, and with faults. */
#include "kernels/common/geometry/geometry.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const path = "collision_stl.stl";

static sim_status read_bytes(const void *bytes, size_t size, geometry_triangles *out) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
  return geometry_stl_read(path, out);
}

static void accept_bytes(const void *bytes, size_t size, int64_t count, const char *what) {
  geometry_triangles t;
  if (read_bytes(bytes, size, &t) != SIM_OK) fail_msg("%s: %s", what, sim_error_last()->message);
  if (t.count != count) fail_msg("%s: %d triangles, expected %d", what, (int)t.count, (int)count);
  free(t.corner);
}

static void refuse_bytes(const void *bytes, size_t size, const char *line, const char *what) {
  geometry_triangles t;
  if (read_bytes(bytes, size, &t) != SIM_ERR_SCENARIO) fail_msg("%s: it was read", what);
  if (strstr(sim_error_last()->message, line) == NULL)
    fail_msg("%s: \"%s\" without \"%s\"", what, sim_error_last()->message, line);
  assert_null(strchr(sim_error_last()->message, '\n'));
}

static void accept_text(const char *text, int64_t count) { accept_bytes(text, strlen(text), count, text); }
static void refuse_text(const char *text, const char *line) { refuse_bytes(text, strlen(text), line, text); }

#define CORNERS "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
#define FACET "facet normal 0 0 1\nouter loop\n" CORNERS "endloop\nendfacet\n"

static void test_text(void **state) {
  (void)state;
  accept_text("solid a\n" FACET FACET "endsolid a\n", 2); /* the same twice */
  accept_text(
      "solid a\r\nfacet normal 0 0 1\r\nouter loop\r\nvertex 0 0 0\r\nvertex 1 0 0\r\nvertex 0 1 0\r\nendloop\r\n"
      "endfacet\r\nendsolid a\r\n",
      1);
  accept_text("\xef\xbb\xbf  SOLID\n" FACET "ENDSOLID", 1);
  accept_text("solid a facet with a vertex, endfacet\n" FACET "endsolid facet\n", 1); /* names */
  accept_text("solid a\n" FACET "endsolid a\nsolid b\n" FACET "endsolid b\n", 2);
  accept_text("solid a\nfacet normal nan nan nan\nouter loop\nvertex 0 0 0 vertex 1e-3 0 0 vertex 0 +1.5E0 -0\nendloop "
              "endfacet\nendsolid",
              1);
  /* Triangles without an area: two corners at one position, three in a line. */
  accept_text("solid\n" FACET "facet vertex 1 1 1 vertex 1 1 1 vertex 2 2 3 endfacet\n"
              "facet vertex 0 0 0 vertex 1 2 3 vertex 2 4 6 endfacet endsolid",
              1);
  refuse_text("solid\nfacet vertex 0 0 0 vertex 1 2 3 vertex 2 4 6 endfacet\nendsolid", "holds no triangles");
  refuse_text("solid\nendsolid\n", "holds no triangles");
  refuse_text("solid\n" FACET, "is cut off");
  refuse_text("solid a\n" FACET "endsolid a\nsolid b\n" FACET, "is cut off");
  refuse_text("solid\n" FACET "facet normal 0 0 1\nouter loop\nvertex 1 2", "is cut off");
  refuse_text("solid\nfacet vertex 0 0 0 vertex 1 0 0 endfacet endsolid", "facet 1 has fewer than 3 corners");
  refuse_text("solid\n" FACET "facet " CORNERS "vertex 1 1 0 endfacet endsolid", "facet 2 has more than 3 corners");
  refuse_text("solid\nfacet " CORNERS "facet " CORNERS "endfacet endsolid", "facet 1 does not end");
  refuse_text("solid\n" FACET "vertex 0 0 0 endsolid", "facet 1 has ended before");
  refuse_text("solid\nfacet vertex 0 0,5 0 vertex 1 0 0 vertex 0 1 0 endfacet endsolid", "\"0,5\" is no number");
  refuse_text("solid\nfacet vertex 0 0x5 0 vertex 1 0 0 vertex 0 1 0 endfacet endsolid", "\"0x5\" is no number");
  refuse_text("solid\nfacet vertex 0 0 vertex 1 0 0 vertex 0 1 0 endfacet endsolid", "\"vertex\" is no number");
  refuse_text(
      "solid\nfacet vertex 1 1 1 vertex 1 1 1 vertex 2 2 3 endfacet facet vertex nan 0 0 vertex 1 0 0 vertex 0 1 0 "
      "endfacet endsolid",
      "a corner of triangle 2 is not a finite number");
  refuse_text("solid\nfacet vertex 1e400 0 0 vertex 1 0 0 vertex 0 1 0 endfacet endsolid", "is not a finite number");
  refuse_text("", "is not an STL file");
  refuse_text("local sim = 1", "is not an STL file");
  refuse_text("{\"solid\": true}", "is not an STL file");
}

enum { RECORD = 50 };

/* Writes `header` as the first bytes, then `count` triangles, with `said` as their stated number. */
static size_t binary(unsigned char *out, const char *header, uint32_t said, int count, float first) {
  const float corner[9] = {first, 0, 0, 1, 0, 0, 0, 1, 0};
  memset(out, 0, 84 + RECORD * (size_t)count);
  memcpy(out, header, strlen(header));
  for (int k = 0; k < 4; k++) out[80 + k] = (unsigned char)(said >> (8 * k));
  for (int i = 0; i < count; i++) memcpy(out + 84 + RECORD * i + 12, corner, sizeof corner);
  return 84 + RECORD * (size_t)count;
}

static void test_binary(void **state) {
  (void)state;
  static unsigned char data[84 + RECORD * 4];
  accept_bytes(data, binary(data, "any", 3, 3, 0), 3, "three");
  accept_bytes(data, binary(data, "solid of a program that says so\nfacet", 3, 3, 0), 3, "a header like a text's");
  accept_bytes(data, binary(data, "", 1, 1, 1e-38f), 1, "a small number");
  refuse_bytes(data, binary(data, "", 0, 0, 0), "holds no triangles", "none");
  refuse_bytes(data, binary(data, "", 2, 2, 1), "holds no triangles with an area", "two corners at one place");
  refuse_bytes(data, binary(data, "", 4, 3, 0), "its 4 triangles take 284 bytes, it has 234", "too few");
  refuse_bytes(data, binary(data, "solid", 2, 3, 0), "its 2 triangles take 184 bytes, it has 234", "too many");
  refuse_bytes(data, binary(data, "", 0xffffffffu, 3, 0), "its 4294967295 triangles take", "a wrong count");
  refuse_bytes(data, binary(data, "", 3, 3, 0) - 1, "is cut off", "a byte less");
  refuse_bytes(data, 60, "is not an STL file", "less than a header");
  refuse_bytes(data, binary(data, "", 3, 3, NAN), "a corner of triangle 1 is not a finite number", "no number");
  refuse_bytes(data, binary(data, "", 3, 3, INFINITY), "is not a finite number", "infinity");
  refuse_bytes(data, binary(data, "", 3, 3, 1e31f), "is not a finite number", "more than 1e30");
}

static void test_moved(void **state) {
  (void)state;
  static const double here[3] = {0, 0, 0}, far[3] = {0, 0, 1e20};
  const double corner[9] = {1, 0, 0, 2, 0, 0, 1, 1, 0.5};
  double copy[9];
  geometry_triangles t = {.corner = copy, .count = 1};
  memcpy(copy, corner, sizeof copy);
  assert_int_equal(geometry_triangles_move(&t, 1e-3, (double[]){0.5, 0, -1}), SIM_OK);
  assert_true(copy[0] == 1e-3 + 0.5 && copy[7] == 1e-3 && copy[8] == 0.5e-3 - 1);
  assert_int_equal(geometry_triangles_move(&t, 1e300, here), SIM_ERR_SCENARIO);
  memcpy(copy, corner, sizeof copy);
  assert_int_equal(geometry_triangles_move(&t, 0, here), SIM_ERR_SCENARIO);
  memcpy(copy, corner, sizeof copy);
  assert_int_equal(geometry_triangles_move(&t, 1e-90, far), SIM_ERR_SCENARIO);
  assert_non_null(strstr(sim_error_last()->message, "with this scale and shift triangle 1 of the mesh has no area"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_binary),
                                     cmocka_unit_test(test_moved)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  remove(path);
  return failed;
}
