/* Walls of every shape, moving walls, and functions of the scenario, against known results. */
#include "kernels/common/geometry/geometry.h"
#include "kernels/common/geometry/mesh_contact.h"
#include "tests/collision/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double within, const char *what) {
  if (!(fabs(got - expected) <= within))
    fail_msg("%s: got %.9g, expected %.9g within %.1e", what, got, expected, within);
}

/* A cube of side 2 below z = 0: 12 triangles. */
static const char *write_cube(void) {
  static const char *const path = "collision_cube.stl";
  static const int quad[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "solid cube\n");
  for (int k = 0; k < 12; k++) {
    const int *q = quad[k / 2], corner[3] = {q[0], q[k % 2 ? 2 : 1], q[k % 2 ? 3 : 2]};
    fprintf(file, "facet normal 0 0 0\nouter loop\n");
    for (int c = 0; c < 3; c++)
      fprintf(file, "vertex %d %d %d\n", corner[c] & 4 ? 1 : -1, corner[c] & 2 ? 1 : -1, corner[c] & 1 ? 0 : -2);
    fprintf(file, "endloop\nendfacet\n");
  }
  fprintf(file, "endsolid cube\n");
  fclose(file);
  return path;
}

/* A grain that lies on top of a wall presses on it with its weight, with an overlap of m g/k. It is on the seam of two
 * triangles of the mesh: a contact that counted twice would halve the overlap. 1e-4: the rest of the first bounces,
 * e^30 = 1e-9 of them, and rounding. */
static void lie_on(const sim_schema *schema, void *wall, double top, const char *what) {
  const double g = 10, stiffness = 1e5, m = 4 * pi / 3 * 0.125, depth = m * g / stiffness;
  driver d = driver_make(SIM_DOUBLE, NAN, 3);
  collision_grain grain = {.radius = 0.5, .position = {0, 0, top + 0.5 - depth}};
  d.parameters.gravity[2] = -g;
  d.parameters.contact.values.stiffness = stiffness;
  d.parameters.contact.values.restitution = 0.5;
  d.parameters.contact.values.friction = 0.5;
  driver_add(&d, &collision_grain_schema, &grain);
  driver_wall(&d, schema, wall);
  driver_create(&d);
  driver_until(&d, 0.5);
  near_to(driver_value(&d, "walls", "wall1_force_z"), -m * g, 1e-4 * m * g, what);
  near_to(driver_get(&d, "position", 2, 0), top + 0.5 - depth, 1e-4 * depth, what);
  driver_destroy(&d);
}

static void test_shapes(void **state) {
  (void)state;
  collision_cone disc = {.axis = {0, 0, 1}, .radius = 0, .end_radius = 2};
  collision_ball ball = {.point = {0, 0, -3}, .radius = 3}, bowl = {.point = {0, 0, 3}, .radius = 3, .inside = true};
  collision_block block = {.low = {-1, -1, -1}, .high = {1, 1, 0}};
  collision_block room = {.low = {-2, -2, 0}, .high = {2, 2, 4}, .inside = true};
  collision_stl mesh = {.path = (char *)(size_t)write_cube(), .scale = 1, .closed = true};
  lie_on(&collision_cone_schema, &disc, 0, "a disc");
  lie_on(&collision_ball_schema, &ball, 0, "a ball");
  lie_on(&collision_ball_schema, &bowl, 0, "a bowl");
  lie_on(&collision_block_schema, &block, 0, "a block");
  lie_on(&collision_block_schema, &room, 0, "a room");
  lie_on(&collision_stl_schema, &mesh, 0, "a mesh");
  remove(mesh.path);
}

/* The sheet is a line segment in the half-plane through its axis. Some roundings of numbers near 1. */
static void test_cone_distance(void **state) {
  (void)state;
  const geometry_wall cone = {
      .shape = GEOMETRY_CONE, .axis = {0, 0, 1}, .length = 4, .end_radius = 3, .turn = {0, 0, 1}};
  const geometry_pose still = {0};
  geometry_contact touch[GEOMETRY_CONTACTS_MAX];
  /* 3-4-5: the sheet through (from, along) = (3, 4) s; the point (0, 2) is 2 * 3/5 from it. */
  assert_int_equal(geometry_wall_contacts(&cone, &still, (double[]){0, 0, 2}, 2, touch), 1);
  near_to(touch->distance, 1.2, 1e-15 * 8, "distance from a cone");
  assert_int_equal(geometry_wall_contacts(&cone, &still, (double[]){3, 0, 5}, 2, touch), 1);
  near_to(touch->distance, 1, 1e-15 * 8, "distance from a cone's rim");
  near_to(touch->normal[2], 1, 1e-15 * 8, "normal at a cone's rim");
}

/* The two faces at an edge of a mesh, and the faces at a corner, count once: distance sqrt(2) and sqrt(3) from the
 * cube. */
static void test_edges(void **state) {
  (void)state;
  geometry_triangles triangles;
  geometry_mesh *mesh;
  geometry_contact touch[GEOMETRY_CONTACTS_MAX];
  assert_int_equal(geometry_stl_read(write_cube(), &triangles), SIM_OK);
  assert_int_equal(triangles.count, 12);
  assert_int_equal(geometry_triangles_closed(&triangles), SIM_OK);
  assert_int_equal(geometry_mesh_create(&triangles, NULL, &mesh), SIM_OK);
  assert_int_equal(mesh_contacts(mesh, (double[]){0.3, 0.2, 1}, 1.2, touch), 1);
  near_to(touch->distance, 1, 1e-15 * 8, "above a face");
  assert_int_equal(mesh_contacts(mesh, (double[]){2, 0.1, 1}, 1.5, touch), 1);
  near_to(touch->distance, sqrt(2), 1e-15 * 8, "beside an edge");
  assert_int_equal(mesh_contacts(mesh, (double[]){2, 2, 1}, 1.8, touch), 1);
  near_to(touch->distance, sqrt(3), 1e-15 * 8, "off a corner");
  /* Inside, in a corner: three faces. */
  assert_int_equal(mesh_contacts(mesh, (double[]){0.7, 0.7, -0.3}, 0.4, touch), 3);
  geometry_mesh_destroy(&mesh);
  triangles.count--;
  assert_int_equal(geometry_triangles_closed(&triangles), SIM_ERR_SCENARIO);
  free(triangles.corner);
  remove("collision_cube.stl");
}

/* A floor that rises with velocity 2 t has risen by t^2. Simpson's rule is exact for it, to the rounding of 1000 steps.
 */
static void test_motion(void **state) {
  (void)state;
  sim_expr *speed = driver_function((const char *const[]){"t", NULL}, SIM_EXPR_MUL, 0, -1, 2, 3);
  driver d = driver_make(SIM_DOUBLE, 1e-3, 1);
  collision_plane floor = {.normal = {0, 0, 1}, .motion = speed};
  collision_grain grain = {.radius = 0.5, .position = {0, 0, 1.6}};
  d.parameters.contact.values.stiffness = 1e3;
  d.parameters.contact.values.restitution = 0.5;
  driver_add(&d, &collision_grain_schema, &grain);
  driver_wall(&d, &collision_plane_schema, &floor);
  driver_create(&d);
  driver_run(&d);
  near_to(driver_get(&d, "walls", 0, 2), 1, 1e-12, "the way of a floor"); /* row of the wall: its shift along z */
  near_to(driver_get(&d, "velocity", 2, 0), 0, 1e-12, "a grain that is not met yet");
  driver_destroy(&d);
  sim_expr_free(&speed);
}

/* The linear law without a dashpot as a function of the scenario: the same motion except for the order of its products.
 * After one collision of 50 steps some hundred roundings, 1e-12. */
static void test_own_law(void **state) {
  (void)state;
  static const char *const inputs[] = {COLLISION_FORCE_INPUTS, NULL};
  double speed[2], balance[2], elastic[2] = {0};
  for (int own = 0; own < 2; own++) {
    sim_expr *force = driver_function(inputs, SIM_EXPR_MUL, 0, -1, 1e4, 1);
    driver d = driver_make(SIM_DOUBLE, NAN, 10);
    collision_grain a = {.radius = 1, .position = {-1.001, 0.3, 0}, .group.velocity = {0.1, 0, 0}};
    collision_grain b = {.radius = 1, .position = {1.001, 0, 0}};
    d.parameters.contact.law = own ? COLLISION_CUSTOM : COLLISION_LINEAR;
    d.parameters.contact.force = own ? force : NULL;
    d.parameters.contact.values.stiffness = 1e4;
    driver_add(&d, &collision_grain_schema, &a);
    driver_add(&d, &collision_grain_schema, &b);
    driver_create(&d);
    for (double t = 0.005; t < 0.6; t += 0.005) {
      driver_until(&d, t);
      elastic[own] = fmax(elastic[own], driver_value(&d, "energy", "elastic"));
    }
    speed[own] = driver_get(&d, "velocity", 0, 1);
    balance[own] = driver_value(&d, "energy", "balance");
    assert_true(speed[own] > 0.05);
    driver_destroy(&d);
    sim_expr_free(&force);
  }
  near_to(speed[1], speed[0], 1e-12, "speed by a law of one's own");
  near_to(balance[1], balance[0], 1e-11, "energy balance of a law of one's own");
  near_to(elastic[1] / elastic[0], 1, 1e-11, "energy that a law of one's own holds"); /* its integral by Gauss */
  assert_true(elastic[0] > 0);
}

/* The potential g z is gravity: the same to rounding over some thousand steps. */
static void test_external(void **state) {
  (void)state;
  static const char *const inputs[] = {"x", "y", "z", "t", NULL};
  double height[2], potential[2];
  for (int own = 0; own < 2; own++) {
    sim_expr *phi = driver_function(inputs, SIM_EXPR_MUL, 2, -1, 10, 1);
    driver d = driver_make(SIM_DOUBLE, 1e-3, 1);
    collision_plane floor = {.normal = {0, 0, 1}};
    collision_grain grain = {.radius = 0.5, .position = {0, 0, 2}};
    if (own)
      d.parameters.external = phi;
    else
      d.parameters.gravity[2] = -10;
    d.parameters.contact.values.stiffness = 1e3;
    d.parameters.contact.values.restitution = 0.9;
    driver_add(&d, &collision_grain_schema, &grain);
    driver_wall(&d, &collision_plane_schema, &floor);
    driver_create(&d);
    driver_run(&d);
    height[own] = driver_get(&d, "position", 2, 0);
    potential[own] = driver_value(&d, "energy", "potential");
    driver_destroy(&d);
    sim_expr_free(&phi);
  }
  near_to(height[1], height[0], 1e-11, "height in an external potential");
  near_to(potential[1], potential[0], 1e-10, "potential energy");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes),  cmocka_unit_test(test_cone_distance),
                                     cmocka_unit_test(test_edges),   cmocka_unit_test(test_motion),
                                     cmocka_unit_test(test_own_law), cmocka_unit_test(test_external)};
  return cmocka_run_group_tests_name("walls", tests, NULL, NULL);
}
