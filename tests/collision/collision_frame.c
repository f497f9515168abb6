/* Tables of sheared boxes and of patches with Hill's equations do not depend on where the origin is, and the table
 * `gas` is as its definition. */
#include "tests/collision/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 60 };

static const double rate[2] = {1.2, -1.5}; /* of the shear: a sheared box; Hill's equations with omega = 1 */
static const double size[3] = {6, 11, 6};

typedef struct patch {
  double radius[MANY], position[3 * MANY], velocity[3 * MANY], spin[3 * MANY];
  collision_each each;
} patch;

/* Grains with friction in a box about the origin, shifted by `by`; with `hill` they attract each other. */
static driver make(patch *p, bool hill, const double by[3]) {
  driver d = driver_make(SIM_DOUBLE, NAN, 3);
  d.parameters.box = (collision_box){.size = {size[0], size[1], size[2]}, .origin = {-3, -5.5, -3}, .boundary = 0};
  if (hill) {
    d.parameters.box.sides[4] = d.parameters.box.sides[5] = COLLISION_OPEN;
    d.parameters.hill = (collision_hill){true, 1, 1, 1};
    d.parameters.self_gravity =
        (collision_self_gravity){.G = 1, .softening = 0.1, .error = 0, .step = 0.01, .images = 1};
  } else {
    d.parameters.box.shear_rate = rate[0];
  }
  d.parameters.contact.values.contact_time = 0.05;
  d.parameters.contact.values.restitution = 0.5;
  d.parameters.contact.values.friction = 0.4;
  for (int i = 0; i < MANY; i++) {
    const double to[3] = {(i % 6 + 0.5 + 0.2 * sin(7.7 * i)) - 3, 1.1 * (i / 6 + 0.5 + 0.2 * sin(3.1 * i)) - 5.5,
                          0.5 * sin(1.3 * i)};
    p->radius[i] = 0.35 + 0.1 * sin(2.9 * i);
    for (int c = 0; c < 3; c++) {
      const double x = to[c] + by[c];
      p->position[3 * i + c] = c < 2 ? x - size[c] * rint(x / size[c]) : x;
      p->velocity[3 * i + c] = 0.5 * sin(12.9898 * i + 78.233 * c) + 0.1 * c;
      p->spin[3 * i + c] = sin(4.1 * i + 2 * c);
    }
  }
  p->each = (collision_each){.group.density = 0.5,
                             .radius = {p->radius, MANY, 1},
                             .position = {p->position, MANY, 3},
                             .velocity = {p->velocity, MANY, 3},
                             .angular_velocity = {p->spin, MANY, 3}};
  driver_add(&d, &collision_each_schema, &p->each);
  return d;
}

static bool begins(const char *name, const char *with) { return strncmp(name, with, strlen(with)) == 0; }

/* Whether a column may change by a shift: along the shear by the moment of the momentum alone; across it also the
 * energies and momenta of the frame, in which the flow there is faster. Errors of direct sums are roundings. */
static bool may_change(const char *column, bool across) {
  static const char *const frame[] = {"kinetic", "potential", "total", "work", "balance", "momentum", "viscosity"};
  if (begins(column, "angular") || begins(column, "error")) return true;
  for (size_t k = 0; k < sizeof frame / sizeof *frame && across; k++)
    if (begins(column, frame[k])) return true;
  return false;
}

/* All columns of two runs, within `within` of 1 and their size. Returns how many were compared. */
static int compare(driver *d, driver *e, bool across, double within) {
  int count = 0;
  for (const sim_table *const *table = d->parameters.tables; *table != NULL; table++)
    for (const sim_field *column = (*table)->columns; column->name != NULL; column++) {
      if (may_change(column->name, across)) continue;
      const double a = driver_value(d, (*table)->name, column->name), b = driver_value(e, (*table)->name, column->name);
      if (!(fabs(a - b) <= within * (1 + fabs(a))))
        fail_msg("%s.%s at t = %g: %.17g, shifted %.17g", (*table)->name, column->name, d->clock.t, a, b);
      count++;
    }
  return count;
}

/* The rows at the start, and after each grain has met one or two others. Rounding, 1e-15 of positions, grows by each of
 * these collisions by the free path over the radius: 1e-7 as in collision_hill.c. */
static void shifted(void **state) {
  (void)state;
  static patch p, q;
  for (int hill = 0; hill < 2; hill++)
    for (int across = 0; across < 2; across++) {
      const double by = across == hill ? -4.1 : 2.3; /* along y, and along x */
      const double none[3] = {0}, shift[3] = {across == hill ? 0 : by, across == hill ? by : 0, 0};
      const bool is_across = (shift[hill ? 0 : 1] != 0);
      driver d = make(&p, hill, none), e = make(&q, hill, shift);
      driver_create(&d);
      driver_create(&e);
      assert_true(compare(&d, &e, is_across, 1e-13) > 20);
      driver_run(&d);
      driver_run(&e);
      assert_true(driver_value(&d, "contacts", "collisions") > MANY / 2);
      compare(&d, &e, is_across, 1e-7);
      driver_destroy(&d);
      driver_destroy(&e);
    }
}

/* The table `gas` by its definition: velocities relative to the flow, about their mean; all six components, and
 * stresses where no grains touch. At t = 0.4 the images of a sheared side are displaced. Rounding of 60 terms. */
static void definition(void **state) {
  (void)state;
  static const char *const names[6] = {"xx", "yy", "zz", "xy", "yz", "zx"};
  static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
  static patch p;
  int free = 0;
  for (int hill = 0; hill < 2; hill++) {
    driver d = make(&p, hill, (const double[]){0.7, 0.3, 0});
    driver_create(&d);
    for (double t = 0; t < 0.45; t += 0.05) {
      if (t > 0) driver_until(&d, t);
      const int along = hill ? 1 : 0, by = hill ? 0 : 1;
      double mass = 0, sum[3] = {0}, product[6] = {0}, trace = 0;
      for (int64_t i = 0; i < MANY; i++) {
        double u[3];
        const double m = driver_get(&d, "mass", 0, i);
        for (int c = 0; c < 3; c++) u[c] = driver_get(&d, "velocity", c, i);
        u[along] -= rate[hill] * driver_get(&d, "position", by, i);
        mass += m;
        for (int c = 0; c < 3; c++) sum[c] += m * u[c];
        for (int k = 0; k < 6; k++) product[k] += m * u[pair[k][0]] * u[pair[k][1]];
      }
      const bool apart = driver_value(&d, "contacts", "coordination") == 0;
      free += apart;
      for (int k = 0; k < 6; k++) {
        char name[24];
        const double flux = product[k] - sum[pair[k][0]] * sum[pair[k][1]] / mass;
        snprintf(name, sizeof name, "temperature_%s", names[k]);
        assert_true(fabs(driver_value(&d, "gas", name) - flux / MANY) < 1e-13);
        snprintf(name, sizeof name, "stress_%s", names[k]);
        if (apart) assert_true(fabs(driver_value(&d, "gas", name) - flux / (size[0] * size[1] * size[2])) < 1e-13);
        if (k < 3) trace += flux / MANY / 3;
      }
      assert_true(fabs(driver_value(&d, "gas", "temperature") - trace) < 1e-13);
    }
    driver_destroy(&d);
  }
  assert_true(free > 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shifted), cmocka_unit_test(definition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
