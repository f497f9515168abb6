/* Observables that a scenario writes as functions of a body, and runs with functions that are stopped and continued. */
#include "tests/nbody/functions.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char lua[] =
    "px     = function(body) return body.mass * body.vx end,\n"
    "energy = function(body) return body.mass * (body.vx ^ 2 + body.vy ^ 2 + body.vz ^ 2) / 2 end,\n"
    "force  = function(body) return sim.hypot(sim.hypot(body.ax, body.ay), body.az) * math.cos(body.t) end,\n"
    "one    = function(body) return 1 end,\n"
    "root   = function(body) return math.sqrt(body.x) end,\n"
    "wave   = function(x, y, z, t) return 0.1 * math.sin(x - t) + 0.5 * y ^ 2 end,\n"
    "yukawa = function(r2) local r = math.sqrt(r2 + 0.01) return -math.exp(-r) / r end,\n"
    "gauss  = function(r2) return math.exp(-r2) end,\n"
    "drag   = function(x, y, z, t) return -y * math.cos(t), x, -z end,\n";

static void finish(driver *d) {
  driver_destroy(d);
  driver_forget(d);
}

/* ---- values ---- */

/* Returns quantity `which` of a body, in fp64. */
static double term(driver *d, int which, int64_t i, double t) {
  const double m = driver_get(d, "mass", 0, i);
  double v[3], a[3];
  for (int c = 0; c < 3; c++) {
    v[c] = driver_get(d, "velocity", c, i);
    a[c] = driver_get(d, "acceleration", c, i);
  }
  switch (which) {
  case 0: return m * v[0];
  case 1: return m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
  case 2: return hypot(hypot(a[0], a[1]), a[2]) * cos(t);
  default: return 1;
  }
}

static void values(driver_place place) {
  static const char *const names[] = {"px", "energy", "force", "one"};
  static const sim_reduction reductions[] = {SIM_SUM, SIM_MEAN, SIM_LEAST, SIM_GREATEST};
  for (int64_t n = 5; n <= 5000; n = n == 5 ? 200 : n * 25) { /* 5000: two blocks of the sum */
    for (int r = n == 5000 && place.precision != SIM_DOUBLE ? SIM_GREATEST : SIM_SUM; r <= SIM_GREATEST; r++) {
      driver d = driver_make(place, NBODY_LEAPFROG, 1.0 / 64, 1.0 / 64, 0.1);
      nbody_sphere sphere = {.n = n, .mass = 2, .radius = 1, .cutoff = NAN};
      for (int k = 0; k < 4; k++) driver_observe(&d, names[k], reductions[r]);
      driver_add(&d, &nbody_plummer_schema, &sphere);
      driver_create(&d);
      driver_run(&d);
      for (int k = 0; k < 4; k++) {
        double sum = 0, size = 0, least = INFINITY, greatest = -INFINITY;
        for (int64_t i = 0; i < sphere.n; i++) {
          const double value = term(&d, k, i, d.clock.t);
          sum += value;
          size += fabs(value);
          least = fmin(least, value);
          greatest = fmax(greatest, value);
        }
        const double expected[] = {sum, sum / (double)sphere.n, least, greatest};
        /* Each term has up to 8 roundings; a plain sum adds one for each body. */
        const double bound =
            r < 2 ? size * (8 + (double)sphere.n) * 0x1p-53 : 8 * 0x1p-53 * fmax(fabs(least), greatest);
        if (!(fabs(driver_value(&d, "observe", names[k]) - expected[r]) <= bound))
          fail_msg("%s by %s: %.17g, expected %.17g", names[k], sim_reduction_names[r],
                   driver_value(&d, "observe", names[k]), expected[r]);
      }
      if (reductions[r] == SIM_SUM) {
        /* A GPU rounds otherwise: as many terms, whose sizes are below the root of their sum's kinetic energy. */
        const double momentum = driver_value(&d, "energy", "momentum_x"), bound = 2 * 16 * 0x1p-53 * 2;
        assert_true(fabs(driver_value(&d, "observe", "px") - momentum) <= bound);
        assert_true(fabs(driver_value(&d, "observe", "energy") - driver_value(&d, "energy", "kinetic")) <= bound);
        if (place.backend->kind == SIM_BACKEND_CPU) assert_true(driver_value(&d, "observe", "px") == momentum);
      }
      finish(&d);
    }
  }
}

static void test_values(void **state) {
  (void)state;
  driver_everywhere(values);
}

/* A term that is NaN gives the result NaN, at any position. */
static void not_a_number(driver_place place) {
  for (int r = SIM_SUM; r <= SIM_GREATEST; r++) {
    for (int where = 0; where < 3; where++) {
      driver d = driver_make(place, NBODY_LEAPFROG, 0.1, 1, 0.1);
      nbody_body three[3];
      driver_observe(&d, "root", (sim_reduction)r);
      for (int i = 0; i < 3; i++) {
        three[i] = (nbody_body){.group = {.position = {i == where ? -1 : 4 + i, i, 0}}, .mass = 1};
        driver_add(&d, &nbody_body_schema, &three[i]);
      }
      driver_create(&d);
      assert_true(isnan(driver_value(&d, "observe", "root")));
      finish(&d);
    }
  }
}

static void test_not_a_number(void **state) {
  (void)state;
  driver_everywhere(not_a_number);
}

/* ---- the same bits, stopped or not, with any number of threads ---- */

typedef struct situation {
  driver_place place;
  nbody_scheme scheme;
  bool adaptive;
  const char *external, *field, *pair;
  sim_isa isa;
  int64_t n;
} situation;

static nbody_sphere sphere;

static driver make(const situation *s, int threads) {
  driver d = driver_make(s->place, s->scheme, s->adaptive ? NAN : 1.0 / 64, 0.25, 0);
  d.setup.threads = threads;
  d.setup.isa = s->isa;
  driver_law(&d, "external", s->external);
  driver_law(&d, s->field, s->pair);
  driver_observe(&d, "force", SIM_SUM);
  driver_observe(&d, "px", SIM_MEAN);
  sphere = (nbody_sphere){.n = s->n, .mass = 1, .radius = 1, .cutoff = NAN};
  driver_add(&d, &nbody_plummer_schema, &sphere);
  return d;
}

typedef struct outcome {
  char digest[33];
  double seen[3];
} outcome;

static outcome run(const situation *s, int threads, int stops) {
  outcome out;
  driver d = make(s, threads);
  driver_create(&d);
  for (int k = 0; d.clock.t < d.clock.t_end; k++) {
    driver_step(&d);
    if (k >= stops) continue;
    driver_frame kept;
    driver_keep(&d, &kept);
    finish(&d);
    d = make(s, threads);
    d.parameters.common.seed = 77; /* bodies that were generated again would differ */
    driver_restore(&d, &kept.frame);
    driver_frame_free(&kept);
  }
  driver_digest(&d, out.digest);
  out.seen[0] = driver_value(&d, "observe", "force");
  out.seen[1] = driver_value(&d, "observe", "px");
  out.seen[2] = driver_value(&d, "energy", "potential");
  finish(&d);
  return out;
}

static void check_same(const outcome *a, const outcome *b, const char *what) {
  if (strcmp(a->digest, b->digest) != 0 || memcmp(a->seen, b->seen, sizeof a->seen) != 0) fail_msg("%s differs", what);
}

static void same_bits(driver_place place) {
  static const struct {
    const char *external, *field, *pair;
  } laws[] = {{"wave", "pair", "yukawa"}, {"drag", "pair_force", "gauss"}};
  for (int scheme = NBODY_LEAPFROG; scheme <= NBODY_HERMITE4; scheme++) {
    for (int k = 0; k < 2; k++) {
      situation s = {place,         (nbody_scheme)scheme, scheme == NBODY_HERMITE4, laws[k].external,
                     laws[k].field, laws[k].pair,         sim_isa_best(),           k ? 60 : 530};
      const outcome whole = run(&s, 1, 0), split = run(&s, 1, 3), threads = run(&s, 2, 1), more = run(&s, 5, 0);
      check_same(&whole, &split, "a run that was stopped three times");
      check_same(&whole, &threads, "a run with two threads that was stopped");
      check_same(&whole, &more, "a run with five threads");
      if (place.precision != SIM_DOUBLE || place.backend->kind != SIM_BACKEND_CPU) continue;
      for (int isa = SIM_ISA_PLAIN; isa < (int)sim_isa_best(); isa++) {
        s.isa = (sim_isa)isa;
        const outcome other = run(&s, 1, 0);
        check_same(&whole, &other, sim_isa_name(s.isa));
      }
    }
  }
}

static void test_same_bits(void **state) {
  (void)state;
  driver_everywhere(same_bits);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_not_a_number),
                                     cmocka_unit_test(test_same_bits)};
  functions_load(lua);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  functions_free();
  return failed;
}
