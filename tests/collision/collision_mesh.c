/* Contacts with meshes: one contact with a flat floor, however it is cut into triangles. */
#include "kernels/common/geometry/geometry.h"
#include "kernels/common/geometry/mesh_contact.h"
#include "tests/collision/driver.h"
#include "tests/collision/near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUTS_MOST = 32 };

/* A square of side 2, cut into 2 n^2 triangles. Its vertices are displaced in its plane by up to `shaken` of a side. It
 * is tilted by two orthogonal unit vectors, shifted by `off`, and rounded to single precision or not. */
typedef struct floor_plan {
  int n;
  double shaken, off, along[2][3], normal[3], vertex[CUTS_MOST + 1][CUTS_MOST + 1][3];
  bool rounded;
} floor_plan;

static void place_vertices(floor_plan *f) {
  for (int c = 0; c < 3; c++) {
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    f->normal[c] = f->along[0][a] * f->along[1][b] - f->along[0][b] * f->along[1][a];
  }
  for (int a = 0; a <= f->n; a++)
    for (int b = 0; b <= f->n; b++) {
      const double x = (a + (a > 0 && a < f->n ? f->shaken * (2 * chance() - 1) : 0)) * 2 / f->n - 1,
                   y = (b + (b > 0 && b < f->n ? f->shaken * (2 * chance() - 1) : 0)) * 2 / f->n - 1;
      for (int c = 0; c < 3; c++) {
        const double exact = f->off + x * f->along[0][c] + y * f->along[1][c];
        f->vertex[a][b][c] = f->rounded ? (double)(float)exact : exact;
      }
    }
}

static void cut(const floor_plan *f, geometry_triangles *out) {
  static const int corner[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
  *out = (geometry_triangles){.corner = malloc((size_t)(2 * f->n * f->n) * 9 * sizeof(double))};
  assert_non_null(out->corner);
  for (int k = 0; k < 2 * f->n * f->n; k++) {
    const int a = k / 2 / f->n, b = k / 2 % f->n;
    for (int p = 0; p < 3; p++)
      memcpy(out->corner + 9 * out->count + 3 * p, f->vertex[a + corner[k % 2][p][0]][b + corner[k % 2][p][1]],
             3 * sizeof(double));
    out->count++;
  }
}

/* Tests grains over faces, over vertices and over edges, on both sides. `within`: tolerance of the normal and of the
 * distance over the radius. */
static void stand_on(floor_plan *f, double within) {
  const double r = 0.2;
  geometry_triangles triangles;
  geometry_mesh *mesh;
  place_vertices(f);
  cut(f, &triangles);
  assert_int_equal(geometry_mesh_create(&triangles, NULL, &mesh), SIM_OK);
  for (int k = 0; k < 4000; k++) {
    const int a = (int)(chance() * f->n), b = (int)(chance() * f->n), kind = k % 4;
    const double w = kind == 0 ? 0 : chance(), v = kind == 3 ? chance() : 0, h = r * (0.8 + 0.2 * chance());
    const double side = k & 4 ? 1 : -1, *p = f->vertex[a][b], *q = f->vertex[a + 1][kind == 2 ? b : b + 1];
    double x[3], off = 0;
    for (int c = 0; c < 3; c++)
      x[c] =
          p[c] + w * (q[c] - p[c]) + v * (f->vertex[a + 1][b][c] - p[c] - w * (q[c] - p[c])) + side * h * f->normal[c];
    geometry_contact touch[GEOMETRY_CONTACTS_MAX];
    const int count = mesh_contacts(mesh, x, r, touch);
    if (count != 1) fail_msg("%d contacts with a floor of %d cuts, kind %d", count, f->n, kind);
    for (int c = 0; c < 3; c++) off = fmax(off, fabs(touch->normal[c] - side * f->normal[c]));
    near_to(off, 0, within, "normal of a floor");
    near_to(touch->distance / r, h / r, within, "distance from a floor");
  }
  geometry_mesh_destroy(&mesh);
  free(triangles.corner);
}

/* Tolerances: some roundings of numbers of size 1 at a distance of 0.16; of size 1e4, 1.8e-12 each; of single precision
 * 6e-8, which tilts a triangle of height 2/32 / 2 by a few 2e-6. */
static void test_floor(void **state) {
  (void)state;
  static floor_plan f;
  static const double flat[2][3] = {{1, 0, 0}, {0, 1, 0}}, tilted[2][3] = {{0.8, 0.36, 0.48}, {0, 0.8, -0.6}};
  for (int n = 1; n <= CUTS_MOST; n *= 4)
    for (int k = 0; k < 8; k++) {
      f.n = n == 16 ? CUTS_MOST : n;
      f.shaken = k & 1 ? 0.2 : 0;
      f.off = k & 2 ? 1e4 : 0;
      f.rounded = k >= 4 && f.off == 0;
      memcpy(f.along, k >= 2 ? tilted : flat, sizeof f.along);
      stand_on(&f, f.rounded ? 2e-5 : f.off > 0 ? 1e-9 : 1e-12);
    }
}

/* Writes the floor as text, in which some zeros are 1e-17; see `mesh`. */
static const char *write_floor(int n) {
  static floor_plan f = {.along = {{1, 0, 0}, {0, 1, 0}}};
  static const char *const path = "collision_floor.stl";
  geometry_triangles t;
  f.n = n;
  f.shaken = 0.2;
  place_vertices(&f);
  cut(&f, &t);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "solid floor\n");
  for (int64_t k = 0; k < t.count; k++) {
    fprintf(file, "facet normal 0 0 0\nouter loop\n");
    for (int c = 0; c < 3; c++)
      fprintf(file, "vertex %.17g %.17g %g\n", t.corner[9 * k + 3 * c], t.corner[9 * k + 3 * c + 1],
              k % 3 == c ? 1e-17 : 0);
    fprintf(file, "endloop\nendfacet\n");
  }
  fprintf(file, "endsolid floor\n");
  fclose(file);
  free(t.corner);
  return path;
}

typedef struct ending {
  double x, v, spin, along, energy;
} ending;

/* A grain that begins to slide, with friction, and ends rolling, in contact all the time, over dozens of seams or none.
 */
static ending roll(const sim_schema *schema, void *wall) {
  const double g = 10, stiffness = 1e4, r = 0.1, density = 240, m = density * 4 / 3 * 3.14159265358979 * r * r * r;
  driver d = driver_make(SIM_DOUBLE, NAN, 0.6);
  collision_grain grain = {.group = {.velocity = {2, 0, 0}, .density = density},
                           .radius = r,
                           .position = {-0.7, 0.0123, r - m * g / stiffness}};
  d.parameters.gravity[2] = -g;
  d.parameters.contact.values.stiffness = stiffness;
  d.parameters.contact.values.restitution = 1;
  d.parameters.contact.values.friction = 0.3;
  driver_add(&d, &collision_grain_schema, &grain);
  driver_wall(&d, schema, wall);
  driver_create(&d);
  driver_run(&d);
  const ending e = {.x = driver_get(&d, "position", 0, 0),
                    .v = driver_get(&d, "velocity", 0, 0),
                    .spin = driver_get(&d, "angular_velocity", 1, 0),
                    .along = driver_get(&d, "velocity", 1, 0),
                    .energy = driver_value(&d, "energy", "balance")};
  driver_destroy(&d);
  return e;
}

static void test_rolling(void **state) {
  (void)state;
  collision_plane plane = {.normal = {0, 0, 1}};
  const ending expected = roll(&collision_plane_schema, &plane);
  /* Sliding ends at 5/7 of the velocity, after 2 v / (7 mu g) = 0.19; then the grain rolls. 1e-2: the tangential spring
   * oscillates. */
  near_to(expected.v, 2 * 5 / 7.0, 2e-2, "velocity of rolling");
  for (int n = 1; n <= CUTS_MOST; n *= 4) {
    collision_stl mesh = {.path = (char *)(size_t)write_floor(n), .scale = 1};
    const ending got = roll(&collision_stl_schema, &mesh);
    /* A normal has an error of rounding, 1e-16 / r, at each of 1e4 steps: 1e-11; times 10 for growth. */
    near_to(got.x, expected.x, 1e-10, "way over seams");
    near_to(got.v, expected.v, 1e-10, "velocity over seams");
    near_to(got.spin, expected.spin, 1e-9, "spin over seams");
    near_to(got.along, 0, 1e-10, "push of seams aside");
    near_to(got.energy, expected.energy, 1e-10, "energy over seams");
    remove(mesh.path);
  }
}

static geometry_mesh *make(const double (*corner)[9], int64_t count) {
  geometry_mesh *mesh;
  geometry_triangles t = {.count = count, .corner = (double *)(size_t)corner};
  assert_int_equal(geometry_mesh_create(&t, NULL, &mesh), SIM_OK);
  return mesh;
}

/* Two slopes of 3:4 that join in the line x = z = 0. A ridge has one contact with grains above it, whose normal turns
 * from one face to the other. A valley has two contacts, but one with a grain that reaches only one side. */
static void test_ridge_and_valley(void **state) {
  (void)state;
  for (int up = -1; up <= 1; up += 2) {
    const double h = 3.0 * up;
    const double corner[4][9] = {{0, -9, 0, 4, -9, h, 4, 9, h},
                                 {0, -9, 0, 4, 9, h, 0, 9, 0},
                                 {0, -9, 0, 0, 9, 0, -4, 9, h},
                                 {0, -9, 0, -4, 9, h, -4, -9, h}};
    geometry_mesh *mesh = make(corner, 4);
    geometry_contact touch[GEOMETRY_CONTACTS_MAX];
    if (up < 0) {
      for (int k = -9; k <= 9; k++) {
        const double turn = 0.07 * k; /* less than atan(3/4) = 0.6435 */
        const double x[3] = {0.9 * sin(turn), 0.1 * k, 0.9 * cos(turn)};
        assert_int_equal(mesh_contacts(mesh, x, 1, touch), 1);
        near_to(touch->distance, 0.9, 1e-15 * 8, "distance from a ridge");
        near_to(touch->normal[0], sin(turn), 1e-15 * 8, "normal of a ridge");
      }
    } else {
      assert_int_equal(mesh_contacts(mesh, (double[]){0, 0.1, 1}, 0.9, touch), 2);
      near_to(touch[0].distance, 0.8, 1e-15 * 8, "distance from a valley's side");
      near_to(fabs(touch[1].normal[0]), 0.6, 1e-15 * 8, "normal of a valley's side");
      near_to(touch[0].normal[0] + touch[1].normal[0], 0, 1e-15 * 8, "normals of a valley");
      assert_int_equal(mesh_contacts(mesh, (double[]){1, 0.1, 1.65}, 0.9, touch), 1);
    }
    geometry_mesh_destroy(&mesh);
  }
}

/* The open edge of a sheet has a contact on each side of the sheet. The far face of a thin plate has none. */
static void test_sheet_and_plate(void **state) {
  (void)state;
  const double sheet[1][9] = {{-5, 0, 0, 5, 0, 0, 0, 9, 0}};
  const double plate[2][9] = {{-5, -5, 0, 5, -5, 0, 0, 9, 0}, {-5, -5, -0.01, 0, 9, -0.01, 5, -5, -0.01}};
  geometry_contact touch[GEOMETRY_CONTACTS_MAX];
  geometry_mesh *mesh = make(sheet, 1);
  for (int k = -9; k <= 9; k++) {
    const double turn = 0.15 * k; /* from the direction straight out */
    assert_int_equal(mesh_contacts(mesh, (double[]){0.3, -0.9 * cos(turn), 0.9 * sin(turn)}, 1, touch), 1);
    near_to(touch->normal[2], sin(turn), 1e-15 * 8, "normal of an open edge");
  }
  geometry_mesh_destroy(&mesh);
  mesh = make(plate, 2);
  assert_int_equal(mesh_contacts(mesh, (double[]){0.1, 0.2, 0.9}, 1, touch), 1);
  near_to(touch->distance, 0.9, 1e-15 * 8, "distance from a plate");
  geometry_mesh_destroy(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_floor), cmocka_unit_test(test_rolling),
                                     cmocka_unit_test(test_ridge_and_valley), cmocka_unit_test(test_sheet_and_plate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
