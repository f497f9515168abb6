/* Bodies from STL files: points inside, and the flow around them compared with that around the scenario's shapes. */
#include "tests/fluid/driver.h"
#include "tests/fluid/stl.h"
#include "kernels/common/geometry/geometry.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

static geometry_mesh *mesh_of(const char *path) {
  geometry_triangles t;
  geometry_mesh *m;
  must(geometry_stl_read(path, &t), path);
  must(geometry_mesh_create(&t, NULL, &m), path);
  free(t.corner);
  return m;
}

/* Points of a lattice that lie exactly on faces, edges and corners of a block: in it or on it, not outside; and the
 * cuts of segments through its faces. */
static void test_block_holds(void **state) {
  (void)state;
  static const double low[3] = {0.25, 0.5, 0.75}, high[3] = {1.25, 2, 1.5};
  static const double step = 0.125;
  stl_block("fluid_stl.stl", low, high, NULL);
  geometry_mesh *m = mesh_of("fluid_stl.stl");
  must(geometry_mesh_check_closed(m), "a block");
  near_to(geometry_mesh_area(m), 2 * (1 * 1.5 + 1.5 * 0.75 + 0.75 * 1), 1e-15 * 10, "area");
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++)
      for (int k = 0; k < 20; k++) {
        const double x[3] = {i * step, j * step, k * step};
        bool in = true;
        double square = 0, inner = INFINITY, point[3], normal[3];
        for (int a = 0; a < 3; a++) {
          const double out = fmax(0, fmax(low[a] - x[a], x[a] - high[a]));
          in = in && x[a] >= low[a] && x[a] <= high[a];
          square += out * out;
          inner = fmin(inner, fmin(fabs(x[a] - low[a]), fabs(x[a] - high[a])));
        }
        if (geometry_mesh_holds(m, x, 0) != in) fail_msg("(%g, %g, %g): expected %d", x[0], x[1], x[2], in);
        near_to(geometry_mesh_nearest(m, x, point, normal), in ? inner : sqrt(square), 1e-15 * 10, "distance");
      }
  for (int a = 0; a < 3; a++) {
    double from[3] = {0.7, 1.1, 1.2}, to[3] = {0.7, 1.1, 1.2};
    from[a] = high[a] + 0.3;
    near_to(geometry_mesh_cut(m, from, to) * (from[a] - to[a]), 0.3, 1e-15 * 10, "cut");
    to[a] = high[a] + 0.1;
    assert_true(isinf(geometry_mesh_cut(m, from, to)));
  }
  geometry_mesh_destroy(&m);
}

/* Two blocks that overlap are one body. A block within the other, turned the other way, is a cavity. The message about
 * an STL file that is open, or has a triangle turned the wrong way, gives the corners. */
static void test_closed(void **state) {
  (void)state;
  static const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1}, extra[2][3] = {{0.5, 0.5, 0.5}, {2, 2, 2}};
  static const double cavity[2][3] = {{0.75, 0.25, 0.25}, {0.25, 0.75, 0.75}}; /* mirrored: turned the other way */
  static const double both[3] = {0.75, 0.75, 0.75}, one[3] = {0.1, 0.1, 0.1}, hole[3] = {0.5, 0.5, 0.5};
  geometry_triangles t;
  stl_block("fluid_stl.stl", low, high, extra);
  geometry_mesh *m = mesh_of("fluid_stl.stl");
  must(geometry_mesh_check_closed(m), "two blocks");
  assert_true(geometry_mesh_holds(m, both, 0) && geometry_mesh_holds(m, one, 0));
  geometry_mesh_destroy(&m);
  stl_block("fluid_stl.stl", low, high, cavity);
  m = mesh_of("fluid_stl.stl");
  must(geometry_mesh_check_closed(m), "a cavity");
  assert_true(geometry_mesh_holds(m, one, 0) && !geometry_mesh_holds(m, hole, 0));
  geometry_mesh_destroy(&m);
  stl_block("fluid_stl.stl", low, high, NULL);
  for (int turned = 0; turned < 2; turned++) {
    must(geometry_stl_read("fluid_stl.stl", &t), "read");
    if (turned) /* exchanges two corners of the last triangle */
      for (int k = 0; k < 3; k++) {
        double *c = t.corner + 9 * (t.count - 1) + k, swap = c[3];
        c[3] = c[6];
        c[6] = swap;
      }
    t.count -= !turned;
    must(geometry_mesh_create(&t, NULL, &m), "mesh");
    assert_int_equal(geometry_mesh_check_closed(m), SIM_ERR_SCENARIO);
    assert_non_null(strstr(sim_error_last()->message, turned ? "turned against each other" : "is not closed"));
    geometry_mesh_destroy(&m);
    free(t.corner);
  }
}

/* Random points beside a sphere of 320 triangles and the ball inside it: within that ball all are held, beyond the
 * sphere none; between them a point is held where it is below the plane of every triangle, as the body is convex. */
static void test_sphere_holds(void **state) {
  (void)state;
  static const double centre[3] = {0.1, -0.2, 0.3};
  const double inner = stl_sphere("fluid_stl.stl", centre, 1, 2);
  geometry_mesh *m = mesh_of("fluid_stl.stl");
  int between = 0;
  must(geometry_mesh_check_closed(m), "a sphere");
  srand(1);
  for (int i = 0; i < 20000; i++) {
    double x[3], square = 0, above = -INFINITY;
    for (int a = 0; a < 3; a++) x[a] = (double)rand() / RAND_MAX * 2 - 1;
    for (int a = 0; a < 3; a++) square += x[a] * x[a];
    const double far = inner + (1 - inner) * (1.5 * (double)rand() / RAND_MAX - 0.25);
    for (int a = 0; a < 3; a++) x[a] = centre[a] + x[a] / sqrt(square) * far;
    for (int64_t k = 0; k < m->count; k++) {
      const double *p = m->corner + 9 * k;
      double n[3], along = 0, length = 0;
      for (int a = 0; a < 3; a++) {
        const int d = (a + 1) % 3, e = (a + 2) % 3;
        n[a] = (p[3 + d] - p[d]) * (p[6 + e] - p[e]) - (p[3 + e] - p[e]) * (p[6 + d] - p[d]);
        along += n[a] * (x[a] - p[a]);
        length += n[a] * n[a];
      }
      above = fmax(above, along / sqrt(length));
    }
    if (fabs(above) < 1e-12) continue;
    between += far > inner && far < 1;
    if (geometry_mesh_holds(m, x, 0) != (above < 0))
      fail_msg("a point %g from the middle, %g above a plane", far, above);
  }
  assert_true(between > 1000);
  geometry_mesh_destroy(&m);
}

/* ---- flows ---- */

static const char *const columns[] = {"body_fx", "body_fy", "body_fz", "body_tx", "body_ty", "body_tz"};

static void loads(double out[6], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void loads(double out[6], const char *format, ...) {
  char text[2048];
  va_list arguments;
  flow f;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  flow_run(&f, "%s", text);
  for (int i = 0; i < 6; i++) out[i] = flow_value(&f, "bodies", columns[i]);
  flow_close(&f);
}

/* A block from a file is the block of the scenario: at rest, with faces through the centres of cells, across a periodic
 * side, at slip sides and as it moves and turns. Cuts differ by roundings of 1e-16 of a cell, which some 100 steps of a
 * stable flow do not raise above 1e4 times that. */
static void test_block(void **state) {
  (void)state;
  static const struct {
    double low[3], high[3];
    const char *motion, *sides;
  } cases[] = {{{6.2, 7.4, 5.3}, {13.1, 12.2, 12.9}, "", "'wall'"},
               {{6.5, 7.5, 5.5}, {12.5, 12.5, 12.5}, "", "'wall'"},
               {{-3, 7.4, 5.3}, {4, 12.2, 12.9}, "", "'wall'"},
               {{6.2, -1, 5.3}, {13.1, 5.2, 12.9}, "", "'slip'"},
               {{6.2, 7.4, 5.3},
                {13.1, 12.2, 12.9},
                "axis = {1, 2, 3}, pivot = {9, 9, 8}, velocity = {0.01, 0, 0}, turning = function(t) return 0.004 end",
                "'wall'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double *l = cases[i].low, *h = cases[i].high;
    double got[2][6], most = 0;
    stl_block("fluid_stl.stl", l, h, NULL);
    for (int file = 0; file < 2; file++) {
      char shape[128] = "sim.stl { path = 'fluid_stl.stl'";
      if (!file)
        snprintf(shape, sizeof shape, "sim.block { low = {%g, %g, %g}, high = {%g, %g, %g}", l[0], l[1], l[2], h[0],
                 h[1], h[2]);
      loads(
          got[file],
          "return sim.fluid { grid = { n = {20, 20, 18}, size = {20, 20, 18}, y = %s, z = 'wall' }, viscosity = 0.1,\n"
          "  speed = 0.1, acceleration = {1e-4, 2e-5, 1e-5}, bodies = { %s, name = 'body', %s } },\n"
          "  integrate = { dt = 1, t_end = 60 } }",
          cases[i].sides, shape, cases[i].motion);
    }
    for (int c = 0; c < 6; c++) most = fmax(most, fabs(got[0][c]));
    for (int c = 0; c < 6; c++)
      if (!(fabs(got[1][c] - got[0][c]) <= 1e-12 * most))
        fail_msg("case %zu, %s: %.15g, not %.15g", i, columns[c], got[1][c], got[0][c]);
  }
}

/* Stokes drag rises with a body that encloses another (Hill and Power, Q. J. Mech. Appl. Math. 9 (1956) 313): that of
 * a sphere of 80 and of 320 triangles is between those of the balls inside and around it, and of 320 triangles, whose
 * middles are a quarter as far below the sphere, less than half as far from that of the ball around it. */
static void test_sphere(void **state) {
  (void)state;
  static const double centre[3] = {8.2, 7.9, 8.1};
  double drag[3], inner, gap[3];
  static const char *const format =
      "return sim.fluid { grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = 1/6, speed = 0.01,\n"
      "  acceleration = {1e-6, 0, 0}, bodies = { %s, name = 'body' } },\n"
      "  integrate = { dt = 1, t_end = 400 } }";
  for (int cuts = 1; cuts <= 2; cuts++) {
    for (int i = 0; i < 3; i++) {
      char shape[128];
      flow f;
      inner = stl_sphere("fluid_stl.stl", centre, 4.2, cuts);
      snprintf(shape, sizeof shape, "sim.ball { point = {8.2, 7.9, 8.1}, radius = %.9g", i == 0 ? inner : 4.2);
      if (i == 1) snprintf(shape, sizeof shape, "sim.stl { path = 'fluid_stl.stl'");
      flow_run(&f, format, shape);
      /* Force over mean velocity: the drag of a cell of the array. */
      drag[i] = flow_value(&f, "bodies", "body_fx") / flow_value(&f, "flow", "momentum_x");
      flow_close(&f);
    }
    if (!(drag[0] < drag[1] && drag[1] < drag[2]))
      fail_msg("%d cuts: %.6g is not between %.6g and %.6g", cuts, drag[1], drag[0], drag[2]);
    gap[cuts] = drag[2] - drag[1];
  }
  if (!(gap[2] < gap[1] / 2)) fail_msg("320 triangles: %.3e below, 80: %.3e", gap[2], gap[1]);
}

/* The lift of a fluid at rest is the weight of the fluid in the body's place: of 320 triangles their volume, by the
 * sums of chords that give that of a ball to 1 %. */
static void test_volume(void **state) {
  (void)state;
  static const double centre[3] = {12.2, 11.1, 12.4};
  double volume = 0;
  flow f;
  (void)stl_sphere("fluid_stl.stl", centre, 5.6, 2);
  geometry_mesh *m = mesh_of("fluid_stl.stl");
  for (int64_t i = 0; i < m->count; i++) {
    const double *p = m->corner + 9 * i, *q = p + 3, *r = p + 6;
    volume +=
        (p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) + p[2] * (q[0] * r[1] - q[1] * r[0])) /
        6;
  }
  geometry_mesh_destroy(&m);
  assert_true(volume < 4 * pi / 3 * 5.6 * 5.6 * 5.6);
  flow_run(&f,
           "return sim.fluid { grid = { n = {24, 24, 24}, size = {24, 24, 24}, boundary = 'wall' }, viscosity = 1/6,\n"
           "  speed = 0.05, density = 2, acceleration = {0, -1e-4, 0},\n"
           "  initial = function(x, y) return 0, 0, 0, -2e-4 * (y - 12) end,\n"
           "  bodies = { sim.stl { name = 'body', path = 'fluid_stl.stl' } }, integrate = { dt = 1, t_end = 100 } }");
  near_to(flow_value(&f, "bodies", "body_fy"), 2e-4 * volume, 0.01 * 2e-4 * volume, "lift");
  flow_close(&f);
}

/* The fluid inside a block from a file, whose faces are half-way between centres, equals that in a box of this size:
 * the same kinetic energy after 40 steps except for roundings of the cuts, 1e-16 of a step. */
static void test_inside(void **state) {
  (void)state;
  static const double low[3] = {2, 3, 4}, high[3] = {14, 13, 12};
  double boxed[2];
  stl_block("fluid_stl.stl", low, high, NULL);
  for (int i = 0; i < 2; i++) {
    flow f;
    flow_run(
        &f, i ? "return sim.fluid { grid = { n = {16, 16, 16}, size = {16, 16, 16}, boundary = 'wall' },\n"
                "  viscosity = 0.1, speed = 0.1, initial = function(x, y, z) return 0.05 * math.sin(y), 0, 0 end,\n"
                "  bodies = { sim.stl { path = 'fluid_stl.stl', inside = true } }, integrate = { dt = 1, t_end = 40 } }"
              : "return sim.fluid { grid = { n = {12, 10, 8}, size = {12, 10, 8}, boundary = 'wall' },\n"
                "  viscosity = 0.1, speed = 0.1, initial = function(x, y, z) return 0.05 * math.sin(y + 3), 0, 0 end,\n"
                "  integrate = { dt = 1, t_end = 40 } }");
    boxed[i] = flow_value(&f, "flow", "kinetic");
    flow_close(&f);
  }
  near_to(boxed[1], boxed[0], 1e-10 * boxed[0], "a box in a box");
}

/* A run continues without its file; a moving body is found again at the same position. */
static void test_restart(void **state) {
  (void)state;
  static const double centre[3] = {8, 8, 8};
  static const char text[] =
      "return sim.fluid { precision = 'single', grid = { n = {24, 16, 16}, size = {24, 16, 16} }, viscosity = 0.1,\n"
      "  speed = 0.1, acceleration = {1e-4, 0, 0}, bodies = { sim.stl { path = 'fluid_stl.stl', axis = {1, 1, 0},\n"
      "    motion = function(t) return 0.05, 0, 0 end, spin = 0.005 } }, integrate = { dt = 1, t_end = 60 } }";
  char straight[33], resumed[33];
  flow f, g;
  (void)stl_sphere("fluid_stl.stl", centre, 4.5, 1);
  flow_open(&f, text, sim_isa_best(), 1, NULL);
  flow_steps(&f, 25);
  flow_look(&f);
  assert_int_equal(unlink("fluid_stl.stl"), 0);
  flow_open(&g, text, sim_isa_best(), 3, &f.frame);
  flow_steps(&f, 35);
  flow_digest(&f, straight);
  flow_steps(&g, 35);
  flow_digest(&g, resumed);
  assert_string_equal(straight, resumed);
  flow_close(&f);
  flow_close(&g);
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_block_holds),  cmocka_unit_test(test_closed),
                                     cmocka_unit_test(test_sphere_holds), cmocka_unit_test(test_block),
                                     cmocka_unit_test(test_sphere),       cmocka_unit_test(test_volume),
                                     cmocka_unit_test(test_inside),       cmocka_unit_test(test_restart)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
