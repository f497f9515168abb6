/* Meshes across the sides of a periodic box, and the triangles that grains remember. */
#include "kernels/common/geometry/geometry.h"
#include "kernels/common/geometry/mesh_cache.h"
#include "tests/collision/driver.h"
#include "tests/collision/near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2 n^2 triangles over [from, to]^2 at the height given by `rise`. */
static geometry_triangles surface(int n, double from, double to, double (*rise)(double, double)) {
  static const int corner[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
  geometry_triangles out = {.corner = malloc((size_t)(2 * n * n) * 9 * sizeof(double)), .count = 2 * n * n};
  assert_non_null(out.corner);
  for (int k = 0; k < 6 * n * n; k++) {
    const int *at = corner[k / 3 % 2][k % 3], a = k / 6 / n + at[0], b = k / 6 % n + at[1];
    double *x = out.corner + 3 * k;
    x[0] = from + (to - from) * a / n;
    x[1] = from + (to - from) * b / n;
    x[2] = rise(x[0], x[1]);
  }
  return out;
}

static double flat(double x, double y) {
  (void)x, (void)y;
  return 0;
}
static double slope(double x, double y) {
  (void)y;
  return 0.1 * x;
}
static double furrows(double x, double y) {
  (void)x;
  return 0.1 * sin(3 * y);
}
static double hills(double x, double y) { return 0.3 * sin(3.14159265358979 * x) * cos(3.14159265358979 * y); }

static const char *const path = "collision_seam.stl";

static void write_stl(const geometry_triangles *t) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "solid seam\r\n");
  for (int64_t k = 0; k < t->count; k++) {
    fprintf(file, "facet normal 0 0 0\r\nouter loop\r\n");
    for (int c = 0; c < 9; c += 3)
      fprintf(file, "vertex %.17g %.17g %.17g\r\n", t->corner[9 * k + c], t->corner[9 * k + c + 1],
              t->corner[9 * k + c + 2]);
    fprintf(file, "endloop\r\nendfacet\r\n");
  }
  fprintf(file, "endsolid seam\r\n");
  fclose(file);
}

static void write_surface(int n, double from, double to, double (*rise)(double, double)) {
  geometry_triangles t = surface(n, from, to, rise);
  write_stl(&t);
  free(t.corner);
}

/* A box of side 2, periodic except in z, and one grain in it. */
typedef struct ending {
  double x[3], v[3], spin[3], energy;
} ending;

static driver make_box(collision_grain *grain) {
  driver d = driver_make(SIM_DOUBLE, NAN, 0.6);
  driver_box(&d, 2, COLLISION_PERIODIC);
  d.parameters.box.origin[2] = -1;
  d.parameters.box.sides[4] = d.parameters.box.sides[5] = COLLISION_OPEN;
  d.parameters.contact.values.stiffness = 1e4;
  d.parameters.contact.values.restitution = 1;
  d.parameters.contact.values.friction = 0.3;
  driver_add(&d, &collision_grain_schema, grain);
  return d;
}

static ending run(driver *d) {
  ending e;
  driver_create(d);
  driver_run(d);
  for (int c = 0; c < 3; c++) {
    e.x[c] = driver_get(d, "position", c, 0);
    e.v[c] = driver_get(d, "velocity", c, 0);
    e.spin[c] = driver_get(d, "angular_velocity", c, 0);
  }
  e.energy = driver_value(d, "energy", "balance");
  driver_destroy(d);
  return e;
}

/* Over the corner where both sides meet, as over a plane: a floor that ends there has no edge. */
static void test_floor(void **state) {
  (void)state;
  const double r = 0.1, m = 240 * 4 / 3.0 * 3.14159265358979 * r * r * r;
  collision_grain grain = {
      .group = {.velocity = {2, 1, 0}, .density = 240}, .radius = r, .position = {1.5, 1.75, r - m * 10 / 1e4}};
  collision_plane plane = {.normal = {0, 0, 1}};
  driver d = make_box(&grain);
  d.parameters.gravity[2] = -10;
  driver_wall(&d, &collision_plane_schema, &plane);
  const ending expected = run(&d);
  if (!(expected.x[0] < 1 && expected.x[1] < 1)) fail_msg("it did not come over the corner");
  for (int n = 1; n <= 16; n *= 4) {
    write_surface(n, 0, 2, flat);
    collision_stl mesh = {.path = (char *)(size_t)path, .scale = 1};
    d = make_box(&grain);
    d.parameters.gravity[2] = -10;
    driver_wall(&d, &collision_stl_schema, &mesh);
    const ending got = run(&d);
    /* As over seams within the box: rounding of normals, 1e-16 / r, at each of 1e4 steps, times 10 for growth. */
    for (int c = 0; c < 3; c++) {
      near_to(got.x[c], expected.x[c], 1e-10, "way over the corner");
      near_to(got.v[c], expected.v[c], 1e-10, "velocity over the corner");
      near_to(got.spin[c], expected.spin[c], 1e-9, "spin over the corner");
    }
    near_to(got.energy, expected.energy, 1e-10, "energy over the corner");
  }
}

/* A pyramid at `middle`, and a grain that comes to it from the side; `speed`: the pyramid comes to the grain. */
static ending strike(double middle, double speed) {
  const double a = middle, s = 0.2;
  const double corner[6][3] = {{a - s, a - s, 0}, {a + s, a - s, 0}, {a + s, a + s, 0}, {a - s, a + s, 0}, {a, a, 0.3}};
  static const int of[6][3] = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}, {0, 2, 1}, {0, 3, 2}};
  geometry_triangles t = {.corner = malloc(6 * 9 * sizeof(double)), .count = 6};
  assert_non_null(t.corner);
  for (int k = 0; k < 18; k++) memcpy(t.corner + 3 * k, corner[of[k / 3][k % 3]], sizeof corner[0]);
  write_stl(&t);
  free(t.corner);
  collision_grain grain = {.group = {.velocity = {speed != 0 ? 0 : -3, speed != 0 ? 0 : -2.9, 0}, .density = 240},
                           .radius = 0.1,
                           .position = {fmod(a + 0.8, 2), fmod(a + 0.75, 2), 0.13}};
  collision_stl mesh = {.path = (char *)(size_t)path, .scale = 1, .closed = true, .velocity = {speed, speed, 0}};
  driver d = make_box(&grain);
  driver_wall(&d, &collision_stl_schema, &mesh);
  const ending e = run(&d);
  ending home = e;
  for (int c = 0; c < 2; c++) home.x[c] = fmod(e.x[c] - a + 4, 2);
  return home;
}

/* A pyramid that is half beyond the sides, and one that moves through them, act as in the middle. Positions differ by
 * roundings of numbers of size 2, 4e-16. A bounce off a corner of radius 0.1 lets them grow about 10 times; times 100
 * steps of contact. */
static void test_pyramid(void **state) {
  (void)state;
  for (int moves = 0; moves < 2; moves++) {
    const double speed = moves ? 5 : 0, places[] = {0.25, 0.05, 0.0, 1.9};
    const ending expected = strike(1.0, speed);
    if (!(fabs(expected.v[2]) > 0.1)) fail_msg("the grain missed the pyramid");
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
      const ending got = strike(places[k], speed);
      for (int c = 0; c < 3; c++) {
        near_to(got.x[c], expected.x[c], 1e-11, "way off a pyramid at the side");
        near_to(got.v[c], expected.v[c], 1e-11, "velocity off a pyramid at the side");
        near_to(got.spin[c], expected.spin[c], 1e-10, "spin off a pyramid at the side");
      }
    }
  }
}

static sim_status place(int n, double from, double to, double (*rise)(double, double), geometry_wall wall) {
  const geometry_box box = {.size = {2, 2, 9}, .periodic = {true, true, false}};
  geometry_mesh *mesh = NULL;
  geometry_triangles t = surface(n, from, to, rise);
  const sim_status status = geometry_mesh_create_periodic(&t, &wall, &box, 0.2, &mesh);
  free(t.corner);
  geometry_mesh_destroy(&mesh);
  return status;
}

/* A mesh longer than the box must be the same on both sides, and remain so. */
static void test_refused(void **state) {
  (void)state;
  const geometry_wall still = {.turn = {0, 0, 1}}, moves = {.velocity = {1, 0, 0}, .turn = {0, 0, 1}},
                      turns = {.spin = 1, .turn = {0, 0, 1}, .pivot = {1, 1, 0}};
  assert_int_equal(place(8, 0, 2, slope, still), SIM_OK);     /* a step at the side */
  assert_int_equal(place(8, 0.3, 2.3, hills, still), SIM_OK); /* as long as the box, wherever it begins */
  assert_int_equal(place(9, -1, 5, flat, still), SIM_OK);
  assert_int_equal(place(12, -2, 4, hills, still), SIM_OK);
  assert_int_equal(place(9, -1, 5, slope, still), SIM_ERR_SCENARIO);
  assert_int_equal(place(9, -1, 5, furrows, still), SIM_ERR_SCENARIO); /* 3 y does not fit the period of the box */
  assert_int_equal(place(9, -0.1, 2.1, flat, still), SIM_ERR_SCENARIO);
  assert_int_equal(place(9, -1, 5, flat, moves), SIM_ERR_SCENARIO);
  assert_int_equal(place(8, 0, 2, hills, moves), SIM_OK);
  assert_int_equal(place(8, 0, 2, hills, turns), SIM_ERR_SCENARIO);
  assert_int_equal(place(8, 0.6, 1.4, hills, turns), SIM_OK); /* a circle of 0.57 about the middle, and grains of 0.2 */
}

/* Compared with all triangles one by one, with and without the remembered ones; large grains and small ones, on paths
 * that also end in other images. */
static void test_near(void **state) {
  (void)state;
  const double period[3] = {2, 2, 0};
  geometry_mesh *mesh;
  geometry_triangles t = surface(24, 0, 2, hills);
  assert_int_equal(geometry_mesh_create(&t, period, &mesh), SIM_OK);
  int touched = 0;
  for (int walk = 0; walk < 60; walk++) {
    const double r = 0.01 * pow(40, chance()), step = r * pow(10, -4 * chance());
    double x[3] = {2 * chance(), 2 * chance(), 0}, way[3];
    geometry_mesh_cache near = {0};
    x[2] = hills(x[0], x[1]) + r * (0.9 + 0.2 * chance());
    for (int c = 0; c < 3; c++) way[c] = step * (2 * chance() - 1);
    for (int k = 0; k < 60; k++) {
      geometry_contact all[GEOMETRY_CONTACTS_MAX], some[GEOMETRY_CONTACTS_MAX], kept[GEOMETRY_CONTACTS_MAX];
      int count = 0;
      for (int u = -1; u <= 1; u++)
        for (int v = -1; v <= 1; v++)
          for (int64_t i = 0; i < mesh->count; i++)
            count = mesh_add_triangle(mesh, i, (double[]){x[0] + 2 * u, x[1] + 2 * v, x[2]}, r, count, all);
      assert_int_equal(mesh_contacts(mesh, x, r, some), count);
      assert_int_equal(mesh_cached_contacts(mesh, x, r, &near, kept), count);
      for (int e = 0; e < count; e++) {
        assert_memory_equal(&some[e].distance, &all[e].distance, 4 * sizeof(double));
        assert_memory_equal(&kept[e].distance, &all[e].distance, 4 * sizeof(double));
      }
      touched += count > 0;
      for (int c = 0; c < 3; c++) x[c] += way[c];
    }
  }
  if (touched < 600) fail_msg("only %d of 3600 touch", touched);
  geometry_mesh_destroy(&mesh);
  free(t.corner);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_floor), cmocka_unit_test(test_pyramid),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_near)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  remove(path);
  return failed;
}
