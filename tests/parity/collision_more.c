/* Optional features of grains on a GPU against the CPU, bit by bit. Functions of the scenario are polynomials here,
 * whose operations both round in the same way. */
#include "tests/collision/setups.h"
#include "tests/gpu/gpu.h"
#include "tests/parity/collision_compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;
static const char *const places[] = {"x", "y", "z", "t", NULL}, *const warmth[] = {"x", "y", "z", NULL};

static collision_random_spheres spheres;
static collision_plane slope;

/* Two kinds of grains of unlike radii that fall on a surface just below them: a rising slope, or one that the test
 * sets. */
static driver fall(sim_precision precision, int law, bool sloping) {
  driver d = setup_two_kinds(precision, law);
  slope = (collision_plane){.point = {5, 5, 2.85}, .normal = {0.02, 0, 1}, .velocity = {0, 0, 0.5}};
  if (sloping) driver_wall(&d, &collision_plane_schema, &slope);
  return d;
}

/* A potential 3 z^2, and the acceleration (0, 0, x t). */
static void test_external(void **state) {
  (void)state;
  sim_expr *potential = driver_function(places, SIM_EXPR_MUL, 2, 2, 0, 1);
  sim_expr *acceleration = driver_function(places, SIM_EXPR_MUL, 0, 3, 0, 3);
  for (int precision = 0; precision < 2; precision++)
    for (int kind = 0; kind < 2; kind++) {
      driver d = fall(precision ? SIM_DOUBLE : SIM_SINGLE, COLLISION_HERTZ, true);
      d.parameters.external = kind ? acceleration : potential;
      collision_compare(d, d, false, kind ? "an external acceleration" : "an external potential");
    }
  sim_expr_free(&potential);
  sim_expr_free(&acceleration);
}

/* 2000 overlap + 2 mass rate */
static sim_expr *spring(void) {
  static const char *const inputs[] = {COLLISION_FORCE_INPUTS};
  sim_expr_builder *b;
  sim_expr_ref in[4], number, push, drag, out;
  sim_expr *graph = NULL;
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  for (int k = 0; k < 4; k++) assert_int_equal(sim_expr_builder_input(b, inputs[k], &in[k]), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 2000, &number), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){in[0], number}, &push), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 2, &number), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){in[1], in[3]}, &drag), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){drag, number}, &drag), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){push, drag}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, &out, (const char *const[]){"force"}, 1, &graph), SIM_OK);
  sim_expr_builder_free(&b);
  return graph;
}

static void test_own_law(void **state) {
  (void)state;
  sim_expr *force = spring();
  for (int precision = 0; precision < 2; precision++)
    for (int kind = 0; kind < 3; kind++) {
      driver d = fall(precision ? SIM_DOUBLE : SIM_SINGLE, COLLISION_CUSTOM, true);
      d.parameters.contact.force = force;
      if (kind == 0) d.parameters.contact.values.friction = 0;
      if (kind == 2) d.parameters.contact.values.rolling_friction = 0.05;
      collision_compare(d, d, false, "a law of the scenario's own");
    }
  sim_expr_free(&force);
}

/* A landscape of 2 x 18 x 18 triangles, smaller than the large grains and larger than the small ones. */
static const char *write_hills(void) {
  static const char *const path = "parity_hills.stl";
  enum { SIDE = 18 };
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "solid hills\n");
  for (int k = 0; k < 2 * SIDE * SIDE; k++) {
    static const int corner[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
    fprintf(file, "facet normal 0 0 0\nouter loop\n");
    for (int c = 0; c < 3; c++) {
      const double x = 10.0 / SIDE * (k / 2 / SIDE + corner[k % 2][c][0]);
      const double y = 10.0 / SIDE * (k / 2 % SIDE + corner[k % 2][c][1]);
      fprintf(file, "vertex %.6f %.6f %.6f\n", x, y, 2.3 + 0.6 * sin(2 * x) * cos(1.7 * y));
    }
    fprintf(file, "endloop\nendfacet\n");
  }
  fprintf(file, "endsolid hills\n");
  fclose(file);
  return path;
}

/* At rest, and in motion. */
static void test_mesh(void **state) {
  (void)state;
  for (int precision = 0; precision < 2; precision++)
    for (int kind = 0; kind < 3; kind++) {
      collision_stl hills = {.path = (char *)(size_t)write_hills(), .scale = 1, .point = {5, 5, 2}, .axis = {1, 0, 0}};
      driver d = fall(precision ? SIM_DOUBLE : SIM_SINGLE, kind == 1 ? COLLISION_HERTZ : COLLISION_LINEAR, false);
      if (kind == 0) d.parameters.contact.values.friction = 0;
      if (kind == 2) d.parameters.contact.values.rolling_friction = 0.05;
      if (kind > 0) {
        hills.spin = 0.1;
        hills.velocity[2] = 0.3;
      }
      driver_wall(&d, &collision_stl_schema, &hills);
      collision_compare(d, d, false, kind ? "a mesh that moves" : "a mesh");
    }
  remove("parity_hills.stl");
}

/* Grains that are inserted, removed and pass gates, two of them discs, down a slope. */
static void test_flow(void **state) {
  (void)state;
  static double radii[2] = {0.1, 0.3};
  static collision_region region = {.low = {-1, -1, 3}, .high = {3, 11, 4}};
  static collision_gate gates[3] = {{.point = {5, 5, 5}, .normal = {0, 0, -2}, .radius = NAN},
                                    {.point = {5, 5, 4}, .normal = {0.1, 0, -1}, .radius = 3},
                                    {.point = {10, 5, 4}, .normal = {1, 0, 0}, .radius = 3}}; /* at the seam */
  static collision_inlet inlet = {
      .group = {.species = "rain", .material = "glass", .density = 2, .velocity = {0, 0, -3}},
      .size = {NAN, {radii, 2, 1}, COLLISION_UNIFORM},
      .rate = 3000,
      .low = {0, 1, 9},
      .high = {9.5, 9, 9.9},
      .stop = NAN,
      .limit = NAN};
  static sim_item inlets[1] = {{.data = &inlet}}, regions[1] = {{.data = &region}},
                  passed[3] = {{.data = &gates[0]}, {.data = &gates[1]}, {.data = &gates[2]}};
  for (int precision = 0; precision < 2; precision++)
    for (int kind = 0; kind < 4; kind++) {
      driver d = fall(precision ? SIM_DOUBLE : SIM_SINGLE, kind == 1 ? COLLISION_HERTZ : COLLISION_LINEAR, true);
      if (kind == 2) d.parameters.contact.values.rolling_friction = 0.05;
      if (kind == 3) d.parameters.contact.values.friction = 0;
      d.parameters.integrate.t_end = kind > 0 ? 1 : 0.01; /* room for 30 more */
      d.parameters.insert = (sim_list){inlets, 1};
      d.parameters.remove = (sim_list){regions, 1};
      d.parameters.gates = (sim_list){passed, 3};
      d.parameters.gravity[0] = 6; /* along the periodic side: its work is counted */
      d.parameters.box.sides[2] = COLLISION_OUTLET;
      collision_compare(d, d, false, "grains that come and go");
    }
}

/* Gravity along a periodic side, observed every few steps: the step after an observation drifts alone, and its grains
 * that leave the box count too. Sums of 2000 terms in another order, and work in double from positions of the state's
 * own type. */
static void test_chute(void **state) {
  (void)state;
  for (int precision = 0; precision < 2; precision++) {
    driver here = fall(precision ? SIM_DOUBLE : SIM_SINGLE, COLLISION_LINEAR, true);
    here.parameters.gravity[0] = 60;
    driver there = here;
    collision_on_gpu(&there);
    driver_create(&here);
    driver_create(&there);
    for (int k = 0; k < 200; k++) {
      driver_step(&here);
      driver_step(&there);
      if (k % 4 != 0) continue;
      const double x = driver_value(&here, "energy", "work"), y = driver_value(&there, "energy", "work");
      if (!(fabs(x - y) <= 1e-9 * (1 + fabs(x)))) fail_msg("work at step %d: %.17g and %.17g", k, x, y);
    }
    assert_true(driver_value(&here, "energy", "work") > 0);
    driver_destroy(&here);
    driver_destroy(&there);
  }
}

static void test_shear(void **state) {
  (void)state;
  for (int precision = 0; precision < 2; precision++)
    for (int kind = 0; kind < 2; kind++) {
      driver d = driver_make(precision ? SIM_DOUBLE : SIM_SINGLE, NAN, 1e9);
      driver_box(&d, cbrt(2000 * pi / 6 / 0.4), COLLISION_PERIODIC);
      d.parameters.box.shear_rate = kind ? -3 : 2;
      if (kind) d.parameters.box.sides[4] = d.parameters.box.sides[5] = COLLISION_WALL;
      spheres = (collision_random_spheres){.group.density = 6 / pi, .size.radius = 0.5, .n = 2000, .temperature = 1};
      d.parameters.contact.values.contact_time = 0.1;
      d.parameters.contact.values.restitution = 0.8;
      if (kind) d.parameters.contact.values.friction = 0.5;
      driver_add(&d, &collision_random_spheres_schema, &spheres);
      collision_compare(d, d, false, "a sheared box");
    }
}

/* A flat patch of 2000 grains. */
static driver patch(sim_precision precision) {
  static double low[3] = {-15, -20, -2}, high[3] = {15, 20, 2};
  driver d = driver_make(precision, NAN, 1e9);
  d.parameters.box = (collision_box){.size = {30, 40, 20}, .origin = {-15, -20, -10}};
  d.parameters.box.sides[4] = d.parameters.box.sides[5] = COLLISION_OPEN;
  spheres = (collision_random_spheres){.group.density = 6 / pi,
                                       .size.radius = 0.5,
                                       .n = 2000,
                                       .temperature = 1,
                                       .low = {low, 3, 1},
                                       .high = {high, 3, 1}};
  d.parameters.contact.values.contact_time = 0.1;
  d.parameters.contact.values.restitution = 0.8;
  driver_add(&d, &collision_random_spheres_schema, &spheres);
  return d;
}

/* A patch of a ring: Hill's equations, with friction, without a shear (kappa = 2 omega), and with self-gravity, whose
 * accelerations are kept for some steps. */
static void test_ring(void **state) {
  (void)state;
  for (int precision = 0; precision < 2; precision++)
    for (int kind = 0; kind < 3; kind++) {
      driver d = patch(precision ? SIM_DOUBLE : SIM_SINGLE);
      d.parameters.hill = (collision_hill){true, 1, kind == 1 ? 2 : 1.1, 1.3};
      if (kind == 0) d.parameters.contact.values.friction = 0.5;
      if (kind == 2)
        d.parameters.self_gravity = (collision_self_gravity){.G = 0.1, .error = 1e-2, .step = 0.03, .images = 1};
      collision_compare(d, d, false, kind == 2 ? "a ring with self-gravity" : "a ring");
    }
}

/* A cloud of grains in open space. */
static void test_cloud(void **state) {
  (void)state;
  for (int precision = 0; precision < 2; precision++) {
    driver d = patch(precision ? SIM_DOUBLE : SIM_SINGLE);
    for (int side = 0; side < 4; side++) d.parameters.box.sides[side] = COLLISION_OPEN;
    d.parameters.self_gravity =
        (collision_self_gravity){.G = 0.1, .error = 0.05, .softening = 0.2, .step = 0.03, .images = 1};
    collision_compare(d, d, false, "a cloud with self-gravity");
  }
}

/* The table of self-gravity. Energies have the same bits. Errors are relative to direct sums, whose 2000 terms a GPU
 * adds in another order: to 2000 2^-53 of their absolute values, some 10 to 100 of the sums, below 1e-10. */
static void test_attraction_table(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    driver here = patch(SIM_DOUBLE);
    if (kind == 0) here.parameters.hill = (collision_hill){true, 1, 1.1, 1.3};
    for (int side = 0; side < 4 && kind == 1; side++) here.parameters.box.sides[side] = COLLISION_OPEN;
    here.parameters.self_gravity =
        (collision_self_gravity){.G = 0.1, .error = 1e-3, .softening = 0.2, .step = 0.03, .images = 1};
    driver there = here;
    collision_on_gpu(&there);
    driver_create(&here);
    driver_create(&there);
    for (int k = 0; k <= 20; k++) {
      if (k % 10 == 0) {
        const double energy = driver_value(&here, "self_gravity", "energy");
        assert_true(energy < 0 && driver_value(&there, "self_gravity", "energy") == energy);
        for (int e = 0; e < 2; e++) {
          const char *column = e ? "error_greatest" : "error_median";
          const double x = driver_value(&here, "self_gravity", column);
          const double y = driver_value(&there, "self_gravity", column);
          if (!(x > 0 && fabs(x - y) <= 1e-10)) fail_msg("%s at step %d: %.17g and %.17g", column, k, x, y);
        }
      }
      driver_step(&here);
      driver_step(&there);
    }
    driver_destroy(&here);
    driver_destroy(&there);
  }
}

/* 1 / (1 + speed) */
static sim_expr *softer_by_speed(void) {
  sim_expr_builder *b;
  sim_expr_ref speed, one, sum, out;
  sim_expr *graph = NULL;
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, COLLISION_SPEED_INPUTS, &speed), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 1, &one), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){one, speed}, &sum), SIM_OK);
  assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_DIV, (sim_expr_ref[]){one, sum}, &out), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(b, (sim_expr_ref[]){out}, (const char *const[]){"r1"}, 1, &graph), SIM_OK);
  sim_expr_builder_free(&b);
  return graph;
}

/* Restitution as a function of speed, between grains and on walls, with and without friction. The logarithms of two
 * libraries differ by a bit or two of double precision, and the damping that a contact keeps by a bit of the state's
 * type. Until the first collisions, a grain collides with one or two others. Each collision enlarges a difference by
 * the free path over the radius, less than 10: 100 of the last bits of positions up to 10. */
static void test_restitution(void **state) {
  (void)state;
  sim_expr *law = softer_by_speed();
  for (int precision = 0; precision < 2; precision++)
    for (int kind = 0; kind < 2; kind++) {
      driver here = fall(precision ? SIM_DOUBLE : SIM_SINGLE, COLLISION_LINEAR, true), there;
      here.parameters.contact.values.restitution = NAN;
      if (kind) here.parameters.contact.values.friction = NAN;
      here.parameters.contact.restitution_law = law;
      there = here;
      collision_on_gpu(&there);
      driver_create(&here);
      driver_create(&there);
      for (int k = 0; k < 400 && (k < 100 || driver_value(&here, "contacts", "collisions") < 20); k++) {
        driver_step(&here);
        driver_step(&there);
      }
      const double within = 1000 * (precision ? 0x1p-52 : 0x1p-23);
      for (int64_t i = 0; i < 1300; i++)
        for (int c = 0; c < 3; c++) {
          const double x = driver_get(&here, "position", c, i), y = driver_get(&there, "position", c, i);
          if (!(fabs(x - y) <= within)) fail_msg("position of grain %d: %.17g and %.17g", (int)i, x, y);
        }
      assert_true(driver_value(&here, "contacts", "collisions") > 0);
      const double lost = driver_value(&here, "energy", "dissipated");
      if (!(fabs(driver_value(&there, "energy", "dissipated") - lost) <= within * lost && lost > 0))
        fail_msg("energy dissipated: %.17g, %.17g", lost, driver_value(&there, "energy", "dissipated"));
      driver_destroy(&here);
      driver_destroy(&there);
    }
  sim_expr_free(&law);
}

/* Laws by name, with every number of values that a history may have, in the kernels for walls and for all; some with
 * heat. The last ones have kernels of their own in single precision, for walls at rest. */
static void test_models(void **state) {
  (void)state;
  static const struct {
    int law, tangential, rolling, twisting, cohesion;
    bool along; /* gravity along a periodic side */
    bool warm, rests;
  } runs[] = {{COLLISION_HERTZ, COLLISION_MINDLIN_RESCALE, COLLISION_SDS, COLLISION_NO_TURNING, COLLISION_JKR, false,
               true, false},
              {COLLISION_HERTZ, COLLISION_CONSERVING, COLLISION_NO_TURNING, COLLISION_NO_TURNING, COLLISION_JKR, true,
               false, false},
              {COLLISION_LINEAR, COLLISION_LINEAR_HISTORY, COLLISION_CONSTANT_TORQUE, COLLISION_VISCOUS,
               COLLISION_BRIDGE, false, false, false},
              {COLLISION_LINEAR, COLLISION_CONSERVING, COLLISION_SDS, COLLISION_SPRING_DASHPOT, COLLISION_SQUARE_WELL,
               true, true, false},
              {COLLISION_HERTZ, COLLISION_MINDLIN_FORCE, COLLISION_VISCOUS, COLLISION_MARSHALL, COLLISION_DMT, true,
               false, false},
              {COLLISION_HERTZ, COLLISION_MINDLIN_RESCALE_FORCE, COLLISION_NO_TURNING, COLLISION_NO_TURNING,
               COLLISION_NO_COHESION, false, false, false},
              {COLLISION_HERTZ, COLLISION_MINDLIN, COLLISION_NO_TURNING, COLLISION_CONSTANT_TORQUE, COLLISION_BRIDGE,
               false, true, false},
              {COLLISION_HERTZ, COLLISION_CONSERVING, COLLISION_NO_TURNING, COLLISION_NO_TURNING, COLLISION_JKR, false,
               false, true},
              {COLLISION_LINEAR, COLLISION_CONSERVING, COLLISION_NO_TURNING, COLLISION_NO_TURNING,
               COLLISION_SQUARE_WELL, false, false, true},
              {COLLISION_HERTZ, COLLISION_CONSERVING, COLLISION_NO_TURNING, COLLISION_NO_TURNING, COLLISION_BRIDGE,
               false, false, true},
              {COLLISION_LINEAR, COLLISION_CONSERVING, COLLISION_SDS, COLLISION_NO_TURNING, COLLISION_NO_COHESION,
               false, false, true}};
  for (int precision = 0; precision < 2; precision++)
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
      driver d = fall(precision ? SIM_DOUBLE : SIM_SINGLE, runs[k].law, true);
      collision_values *v = &d.parameters.contact.values;
      collision_cohesion_values *c = &v->cohesion;
      d.parameters.contact.tangential = runs[k].tangential;
      v->rolling.model = runs[k].rolling, v->twisting.model = runs[k].twisting, c->model = runs[k].cohesion;
      if (v->rolling.model) v->rolling.coefficient = 0.05;
      if (v->twisting.model && v->twisting.model != COLLISION_MARSHALL) v->twisting.coefficient = 0.05;
      if (v->rolling.model == COLLISION_SDS) v->rolling.stiffness = 200, v->rolling.damping = 0.1;
      if (c->model == COLLISION_DMT || c->model == COLLISION_JKR) c->surface_energy = 0.5;
      if (c->model == COLLISION_SQUARE_WELL) c->energy = 1e-3, c->range = 0.02, c->edge = 0.01;
      if (c->model == COLLISION_BRIDGE) c->surface_tension = 0.2, c->volume = 1e-5, c->contact_angle = 0.4;
      if (runs[k].rests) slope.velocity[2] = 0;
      if (runs[k].along) d.parameters.gravity[0] = 6;
      sim_expr *warm = runs[k].warm ? driver_function(warmth, SIM_EXPR_MUL, 0, 2, 0, 1) : NULL;
      if (warm != NULL) {
        d.parameters.heat = (collision_heat){.conductivity = 1e-2, .capacity = 1, .temperature = warm};
        slope.temperature = 7;
      }
      char what[32];
      snprintf(what, sizeof what, "laws by name, %zu", k);
      collision_compare(d, d, false, what);
      sim_expr_free(&warm);
    }
}

/* Grains that press against each other: by a floor at rest, or in a crystal without walls. */
static driver press(int law, bool floor) {
  driver d;
  if (floor) {
    d = fall(SIM_SINGLE, law, true);
    slope.velocity[2] = 0;
  } else {
    d = driver_make(SIM_SINGLE, NAN, 1e9);
    d.parameters.contact.law = law;
    collision_values *v = &d.parameters.contact.values;
    if (law == COLLISION_HERTZ)
      v->young = 2e4, v->poisson = 0.3;
    else
      v->stiffness = 2000;
    v->restitution = 0.7;
    v->friction = 0.4;
    setup_crystal(&d, 5, 0.9995, 0.3);
  }
  return d;
}

/* Laws with kernels of their own in single precision, with walls at rest and without walls: springs of rolling or of
 * twisting alone, beside both, and the laws by name. */
static void test_own_kernels(void **state) {
  (void)state;
  enum { ROLLING, TWISTING, BOTH, SDS, JKR, WELL, BRIDGE, KINDS };
  for (int law = 0; law < 2; law++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int floor = 0; floor < 2; floor++) {
        const int form = law ? COLLISION_HERTZ : COLLISION_LINEAR;
        if (kind == JKR && form == COLLISION_LINEAR) continue;
        driver d = press(form, floor);
        collision_values *v = &d.parameters.contact.values;
        collision_cohesion_values *c = &v->cohesion;
        if (kind == ROLLING || kind == BOTH) v->rolling_friction = 0.05;
        if (kind == TWISTING || kind == BOTH) v->twisting_friction = 0.05;
        if (kind == SDS)
          v->rolling =
              (collision_turning_values){.model = COLLISION_SDS, .coefficient = 0.05, .stiffness = 200, .damping = 0.1};
        if (kind == JKR) c->model = COLLISION_JKR, c->surface_energy = 0.05;
        if (kind == WELL) c->model = COLLISION_SQUARE_WELL, c->energy = 1e-3, c->range = 0.02, c->edge = 0.01;
        if (kind == BRIDGE)
          c->model = COLLISION_BRIDGE, c->surface_tension = 0.2, c->volume = 1e-5, c->contact_angle = 0.4;
        char what[48];
        snprintf(what, sizeof what, "own kernel %d, law %d, %s", kind, form, floor ? "floor" : "no walls");
        collision_compare(d, d, false, what);
      }
}

/* Clumps of two kinds among loose grains that fall on a rising slope, with each number of values that a history may
 * have, and gravity along a periodic side; with a law of the scenario's own, and on a mesh. */
static void set_clump_law(driver *d, int kind) {
  collision_values *v = &d->parameters.contact.values;
  d->parameters.gravity[0] = 6;
  if (kind == 2) v->friction = 0;
  if (kind == 3) v->rolling_friction = 0.05;
  if (kind == 4 || kind == 7) {
    v->cohesion.model = COLLISION_JKR, v->cohesion.surface_energy = 0.5;
    v->rolling = (collision_turning_values){.model = COLLISION_SDS, .coefficient = 0.05};
    v->rolling.stiffness = 200, v->rolling.damping = 0.1;
  }
  if (kind == 8) v->cohesion.model = COLLISION_SQUARE_WELL, v->cohesion.energy = 1e-3, v->cohesion.range = 0.02;
  if (kind == 8) v->cohesion.edge = 0.01;
  if (kind == 9) v->cohesion.model = COLLISION_BRIDGE, v->cohesion.surface_tension = 0.2, v->cohesion.volume = 1e-5;
}

/* Kinds 7 to 9: radii of spheres of a clump over 1:10. */
static void test_clumps(void **state) {
  (void)state;
  static double rod[] = {-0.3, 0, 0, 0.3, 0.3, 0, 0, 0.3}, tripod[] = {0, 0, 0, 0.3, 0.3, 0, 0, 0.2, 0, 0.3, 0.1, 0.15};
  static double wide[] = {0, 0, 0, 0.3, 0.3, 0, 0, 0.1, 0, 0.3, 0.1, 0.03};
  static double low[3] = {0.5, 0.5, 3}, high[3] = {9.5, 9.5, 9};
  static collision_clumps clumps[2];
  sim_expr *force = spring();
  for (int precision = 0; precision < 2; precision++)
    for (int kind = 0; kind < 10; kind++) {
      const bool hertz = kind == 1 || kind == 4 || kind == 7;
      const int law = hertz ? COLLISION_HERTZ : kind == 5 ? COLLISION_CUSTOM : COLLISION_LINEAR;
      driver d = fall(precision ? SIM_DOUBLE : SIM_SINGLE, law, kind != 6);
      collision_stl hills = {.scale = 1, .point = {5, 5, 2}, .axis = {1, 0, 0}};
      for (int k = 0; k < 2; k++) {
        double *const parts = k ? rod : kind >= 7 ? wide : tripod;
        clumps[k] = (collision_clumps){.rigid = {.spheres = {parts, k ? 2 : 3, 4}, .mass = NAN},
                                       .n = 60,
                                       .low = {low, 3, 1},
                                       .high = {high, 3, 1},
                                       .temperature = 0.2};
        clumps[k].rigid.group.velocity[2] = -8;
        driver_add(&d, &collision_clumps_schema, &clumps[k]);
      }
      set_clump_law(&d, kind);
      if (kind == 5) d.parameters.contact.force = force;
      if (kind == 6) {
        hills.path = (char *)(size_t)write_hills();
        driver_wall(&d, &collision_stl_schema, &hills);
      }
      char what[32];
      snprintf(what, sizeof what, "clumps, %d", kind);
      collision_compare(d, d, false, what);
    }
  sim_expr_free(&force);
  remove("parity_hills.stl");
}

/* Runs one test where it is named. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_external),    cmocka_unit_test(test_own_law), cmocka_unit_test(test_mesh),
      cmocka_unit_test(test_flow),        cmocka_unit_test(test_chute),   cmocka_unit_test(test_shear),
      cmocka_unit_test(test_ring),        cmocka_unit_test(test_cloud),   cmocka_unit_test(test_attraction_table),
      cmocka_unit_test(test_restitution), cmocka_unit_test(test_clumps),  cmocka_unit_test(test_models),
      cmocka_unit_test(test_own_kernels)};
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  const int missing = gpu_open();
  return missing != 0 ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
