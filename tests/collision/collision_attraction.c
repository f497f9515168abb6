/* Self-gravity of grains: the tree against plain sums over images, orbits, and the state kept between updates of the
 * forces. */
#include "kernels/collision/gravity/tree.h"
#include "kernels/collision/scenario/options.h"
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
    fail_msg("%s: got %.17g, expected %.17g within %.1e", what, got, expected, within);
}

enum { N = 400 };

typedef struct points {
  double x[3 * N], m[N];
} points;

/* A flat patch with clumps. */
static void scatter(points *p, const double size[2]) {
  uint64_t bits = 12345;
  for (int i = 0; i < N; i++) {
    double u[3];
    for (int c = 0; c < 3; c++) {
      bits = bits * 6364136223846793005u + 1442695040888963407u;
      u[c] = (double)(bits >> 11) * 0x1p-53;
    }
    if (i % 3 == 0) u[0] = 0.9 + 0.12 * u[0];
    p->x[i] = size[0] * (u[0] - floor(u[0]) - 0.5);
    p->x[N + i] = size[1] * (u[1] - 0.5);
    p->x[2 * N + i] = u[2] - 0.5;
    p->m[i] = 0.5 + u[0];
  }
}

/* Attraction of grain i by all images of each grain that lie within rings + 1/2 sides along x, and along y of the
 * image's column. It tries all images. */
static collision_attraction plain(const points *p, const collision_images *im, double softening, int i) {
  collision_attraction out = {{0}, 0, 0};
  const int far = isinf(im->size[0]) ? 0 : im->rings + 3;
  for (int j = 0; j < N; j++)
    for (int a = -far; a <= far; a++)
      for (int b = -far; b <= far; b++) {
        if (i == j && a == 0 && b == 0) continue;
        double d[3] = {p->x[j] - p->x[i], p->x[N + j] - p->x[N + i], p->x[2 * N + j] - p->x[2 * N + i]};
        if (far > 0) {
          d[0] += a * im->size[0];
          d[1] += b * im->size[1] + a * im->offset;
          if (fabs(d[0]) > (im->rings + 0.5) * im->size[0] || fabs(d[1]) > (im->rings + 0.5) * im->size[1]) continue;
        }
        const double s = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening * softening);
        for (int c = 0; c < 3; c++) out.a[c] += p->m[j] * d[c] / (s * s * s);
        out.potential += p->m[j] / s;
        out.swept += a * p->m[j] * d[1] / (s * s * s);
      }
  return out;
}

static collision_tree *plant(points *p, const double size[2], sim_isa isa) {
  collision_tree *tree;
  scatter(p, size);
  driver_must(collision_tree_create(N, 2, isa, &tree), "a tree");
  driver_must(collision_tree_build(tree, p->x, p->m), "its cells");
  return tree;
}

/* Sums over all grains by the tree with opening 0 are the plain sums: 1e-12 of the greatest, rounding of some 3600
 * terms. With cells at an opening of 0.4 the neglected third moments are at most 0.4^3 = 0.064 of each cell's part;
 * over all cells, with grains spread through them, 0.4 of that. For most grains, whose cells have terms of both signs,
 * it is a tenth of that. */
static void sums_of_images(void **state) {
  (void)state;
  static points p;
  static collision_attraction got[N], cells[N], other[N];
  const double size[2] = {20, 30};
  const collision_images images[] = {
      {{20, 30}, 0, 0}, {{20, 30}, 7.3, 1}, {{20, 30}, -13, 2}, {{INFINITY, INFINITY}, 0, 1}};
  collision_tree *tree = plant(&p, size, sim_isa_best()), *plainly = plant(&p, size, SIM_ISA_PLAIN);
  for (int k = 0; k < 4; k++) {
    double greatest = 0, worst = 0, momentum = 0, exact = 0;
    int above = 0;
    for (int i = 0; i < N; i++) {
      const collision_attraction all = plain(&p, &images[k], 0.3, i);
      exact += pow(all.a[0], 2) + pow(all.a[1], 2) + pow(all.a[2], 2);
    }
    const double rms = sqrt(exact / N);
    collision_tree_attract(tree, &images[k], 0.3, 0, got);
    collision_tree_attract(tree, &images[k], 0.3, 0.4, cells);
    collision_tree_attract(plainly, &images[k], 0.3, 0.4, other);
    assert_memory_equal(cells, other, sizeof cells); /* for any instruction set */
    for (int i = 0; i < N; i++) {
      const collision_attraction all = plain(&p, &images[k], 0.3, i);
      double error = 0;
      for (int c = 0; c < 3; c++) {
        near_to(got[i].a[c], all.a[c], 1e-11, "acceleration");
        greatest = fmax(greatest, fabs(all.a[c]));
        error += pow(cells[i].a[c] - all.a[c], 2);
      }
      near_to(got[i].potential, all.potential, 1e-10, "potential");
      near_to(got[i].swept, all.swept, 1e-10, "its part of moving images");
      near_to(cells[i].potential, all.potential, 0.0064 * all.potential, "potential by cells");
      near_to(cells[i].swept, all.swept, 0.05 * greatest, "part of moving images by cells");
      worst = fmax(worst, sqrt(error));
      above += sqrt(error) > 0.0064 * rms;
      momentum += p.m[i] * got[i].a[0];
    }
    if (!(worst < 0.4 * 0.064 * rms && worst > 0)) fail_msg("worst error of cells: %g", worst / rms);
    assert_true(above < N / 2);
    near_to(momentum, 0, 1e-9, "momentum of direct sums");
  }
  collision_tree_destroy(&tree);
  collision_tree_destroy(&plainly);
}

/* A grain far from eight others, at the largest error. If a cell contained the grain itself, the force would be twice
 * as strong. The others fill a hundredth of the distance, so the force is theirs within (0.01)^2. */
static void lone(void **state) {
  (void)state;
  double x[27] = {0}, m[9];
  collision_attraction out[9];
  collision_tree *tree;
  const collision_images none = {{INFINITY, INFINITY}, 0, 0};
  for (int i = 0; i < 9; i++) {
    for (int c = 0; c < 3; c++) x[9 * c + i] = i < 8 ? 0.01 * ((i >> c & 1) - 0.5) : c == 0;
    m[i] = 1;
  }
  driver_must(collision_tree_create(9, 1, sim_isa_best(), &tree), "a tree");
  driver_must(collision_tree_build(tree, x, m), "its cells");
  collision_tree_attract(tree, &none, 0, collision_gravity_opening(0.1), out);
  near_to(out[8].a[0], -8, 8e-4, "attraction of a lone grain");
  collision_tree_destroy(&tree);
}

/* Grains closer to each other than any cell divides: 30 at one point, and 30 within 1e-9 of another; a leaf holds them
 * all. Against sums over pairs, with a softening that keeps them finite. At an opening of 0.5 the two heaps take each
 * other as wholes: their extent over their distance, 1e-9, squared, is nothing. */
static void heaps(void **state) {
  (void)state;
  enum { HEAP = 30, ALL = 2 * HEAP };
  double x[3 * ALL], m[ALL];
  collision_attraction direct[ALL], cells[ALL];
  collision_tree *tree;
  const collision_images none = {{INFINITY, INFINITY}, 0, 0};
  for (int i = 0; i < ALL; i++) {
    for (int c = 0; c < 3; c++) x[c * ALL + i] = i < HEAP ? 1 : -2 + 1e-10 * ((i * (c + 3)) % 10);
    m[i] = 1 + 0.1 * (i % 4);
  }
  driver_must(collision_tree_create(ALL, 2, sim_isa_best(), &tree), "a tree");
  driver_must(collision_tree_build(tree, x, m), "its cells");
  collision_tree_attract(tree, &none, 0.1, 0, direct);
  collision_tree_attract(tree, &none, 0.1, 0.5, cells);
  for (int i = 0; i < ALL; i++) {
    double a[3] = {0}, potential = 0;
    for (int j = 0; j < ALL; j++) {
      if (i == j) continue;
      double d[3], square = 0.01;
      for (int c = 0; c < 3; c++) {
        d[c] = x[c * ALL + j] - x[c * ALL + i];
        square += d[c] * d[c];
      }
      for (int c = 0; c < 3; c++) a[c] += m[j] * d[c] / pow(square, 1.5);
      potential += m[j] / sqrt(square);
    }
    for (int c = 0; c < 3; c++) {
      near_to(direct[i].a[c], a[c], 1e-12, "attraction in a heap");
      near_to(cells[i].a[c], a[c], 1e-12, "attraction in a heap by cells");
    }
    near_to(direct[i].potential, potential, 1e-10, "potential in a heap");
    near_to(cells[i].potential, potential, 1e-10, "potential in a heap by cells");
  }
  collision_tree_destroy(&tree);
}

/* ---- runs ---- */

/* Two grains on a circle about each other for 10 revolutions, against Kepler's law. A leapfrog of `steps` in a
 * revolution errs in the angle by less than half of (2 pi/steps)^2 of it, and in distance and energy by less than half
 * of (2 pi/steps)^2 without a trend. Returns the error of the angle. */
static double orbit(double steps) {
  const double m1 = 2, m2 = 1, distance = 3, G = 0.5, w = sqrt(G * (m1 + m2) / pow(distance, 3)), period = 2 * pi / w;
  const double order = 0.5 * pow(2 * pi / steps, 2);
  driver d = driver_make(SIM_DOUBLE, period / 2000, 10 * period);
  collision_grain a = {.radius = 0.2}, b = {.radius = 0.2};
  const double volume = 4 * pi / 3 * 0.008;
  double angle = NAN;
  a.group = (collision_group){.density = m1 / volume, .velocity = {0, -w * distance / 3, 0}};
  b.group = (collision_group){.density = m2 / volume, .velocity = {0, w * distance * 2 / 3, 0}};
  a.position[0] = -distance / 3;
  b.position[0] = distance * 2 / 3;
  d.parameters.contact.values.contact_time = period / 20;
  d.parameters.self_gravity = (collision_self_gravity){.G = G, .error = 1e-3, .step = period / steps, .images = 1};
  driver_add(&d, &collision_grain_schema, &a);
  driver_add(&d, &collision_grain_schema, &b);
  driver_create(&d);
  const double energy = driver_value(&d, "energy", "total");
  near_to(driver_value(&d, "self_gravity", "energy"), -G * m1 * m2 / distance, 1e-14, "energy of a pair");
  for (int k = 1; k <= 10; k++) {
    driver_until(&d, k * period);
    const double x = driver_get(&d, "position", 0, 1) - driver_get(&d, "position", 0, 0);
    const double y = driver_get(&d, "position", 1, 1) - driver_get(&d, "position", 1, 0);
    angle = atan2(y, x);
    near_to(hypot(x, y), distance, order * distance, "distance");
    near_to(angle, 0, order * 2 * pi * k, "angle");
    near_to(driver_value(&d, "energy", "total"), energy, order * fabs(energy), "energy");
    near_to(driver_value(&d, "momentum", "momentum_x"), 0, 1e-12, "momentum");
    near_to(driver_value(&d, "momentum", "momentum_y"), 0, 1e-12, "momentum");
  }
  driver_destroy(&d);
  return angle;
}

/* Second order: half the step gives a fourth of the error. The next order's share is (2 pi/100)^2, 0.4 %. */
static void orbits(void **state) {
  (void)state;
  near_to(orbit(100) / orbit(200), 4, 0.04, "errors of the angle, whose order is 2");
}

/* In Hill's frame two grains at rest on the x axis at the distance of the Lagrange points, (G (m1 + m2)/(3
 * omega^2))^(1/3), stay there (G. W. Hill 1878): tide and attraction are equal. The point is unstable, and the step
 * errs by 1e-5 a unit of time. */
static void lagrange(void **state) {
  (void)state;
  const double m = 1, G = 1, radius = cbrt(G * 2 * m / 3), volume = 4 * pi / 3 * 1e-3;
  driver d = driver_make(SIM_DOUBLE, 0.001, 1);
  d.parameters.box = (collision_box){.size = {1000, 1000, 100}, .origin = {-500, -500, -50}};
  d.parameters.box.sides[4] = d.parameters.box.sides[5] = COLLISION_OPEN;
  d.parameters.hill = (collision_hill){true, 1, NAN, NAN};
  d.parameters.self_gravity = (collision_self_gravity){.G = G, .error = 0, .step = NAN, .images = 1};
  d.parameters.contact.values.contact_time = 0.05;
  collision_grain a = {.radius = 0.1}, b = {.radius = 0.1};
  /* relative to the flow, which is -3/2 x */
  a.group = (collision_group){.density = m / volume, .velocity = {0, -0.75 * radius, 0}};
  b.group = (collision_group){.density = m / volume, .velocity = {0, 0.75 * radius, 0}};
  a.position[0] = -0.5 * radius;
  b.position[0] = 0.5 * radius;
  driver_add(&d, &collision_grain_schema, &a);
  driver_add(&d, &collision_grain_schema, &b);
  driver_create(&d);
  driver_run(&d);
  near_to(driver_get(&d, "position", 0, 1) - driver_get(&d, "position", 0, 0), radius, 2e-4 * radius, "x");
  near_to(driver_get(&d, "position", 1, 1) - driver_get(&d, "position", 1, 0), 0, 2e-4 * radius, "y");
  driver_destroy(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_images), cmocka_unit_test(lone), cmocka_unit_test(heaps),
                                     cmocka_unit_test(orbits), cmocka_unit_test(lagrange)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
