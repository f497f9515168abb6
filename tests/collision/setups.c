#include "tests/collision/setups.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { SIDE = 12 };

void setup_crystal(driver *d, int side, double distance, double speed) {
  static double position[3 * 4 * SIDE * SIDE * SIDE], velocity[3 * 4 * SIDE * SIDE * SIDE];
  static double radius[4 * SIDE * SIDE * SIDE];
  static collision_each each;
  static const int site[4][3] = {{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
  const double edge = distance * sqrt(2);
  const int count = 4 * side * side * side;
  assert_true(side <= SIDE);
  for (int i = 0; i < count; i++) {
    const int cell[3] = {i / 4 % side, i / 4 / side % side, i / 4 / side / side};
    radius[i] = 0.5;
    for (int c = 0; c < 3; c++) {
      position[3 * i + c] = (cell[c] + 0.25 + 0.5 * site[i % 4][c]) * edge;
      velocity[3 * i + c] = speed * sin(12.9898 * i + 78.233 * c + 0.1 * i * c);
    }
  }
  each = (collision_each){.group.density = 6 / 3.14159265358979323846,
                          .radius = {radius, (size_t)count, 1},
                          .position = {position, (size_t)count, 3},
                          .velocity = {velocity, (size_t)count, 3}};
  driver_box(d, side * edge, COLLISION_PERIODIC);
  driver_add(d, &collision_each_schema, &each);
}

driver setup_two_kinds(sim_precision precision, int law) {
  static collision_random_spheres large, small;
  static double low[3] = {0.5, 0.5, 3}, high[3] = {9.5, 9.5, 9};
  driver d = driver_make(precision, NAN, 1e9);
  driver_box(&d, 10, COLLISION_WALL);
  d.parameters.box.sides[0] = d.parameters.box.sides[1] = COLLISION_PERIODIC;
  large = (collision_random_spheres){.group.density = 2, .size.radius = 0.35, .n = 300, .temperature = 0.5};
  small = (collision_random_spheres){
      .group = {.density = 1, .material = "glass"}, .size.radius = 0.12, .n = 1000, .temperature = 0.1};
  large.group.velocity[2] = small.group.velocity[2] = -8;
  large.low = small.low = (sim_doubles){low, 3, 1};
  large.high = small.high = (sim_doubles){high, 3, 1};
  collision_values *v = &d.parameters.contact.values;
  d.parameters.contact.law = law;
  if (law == COLLISION_HERTZ) {
    v->young = 2e4;
    v->poisson = 0.3;
  } else {
    v->stiffness = 2000;
  }
  if (law != COLLISION_CUSTOM) v->restitution = 0.7;
  v->friction = 0.4;
  d.parameters.gravity[2] = -5;
  driver_add(&d, &collision_random_spheres_schema, &large);
  driver_add(&d, &collision_random_spheres_schema, &small);
  return d;
}

double limited_restitution(double e) {
  const double z = -log(e) / sqrt(acos(-1) * acos(-1) + log(e) * log(e));
  return exp(-2 * z * acos(z) / sqrt(1 - z * z));
}

void expect_restart(driver *other, const driver_frame *kept, const char *digest) {
  char own[33];
  driver_restore(other, &kept->frame);
  driver_run(other);
  driver_digest(other, own);
  assert_string_equal(digest, own);
}
