/* The order of bodies by distance is that of qsort, for every number of threads. */
#include "kernels/nbody/cpu/distances.h"

#include "tests/must.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40000 };

static int compare(const void *a, const void *b) {
  const nbody_distance *x = a, *y = b;
  if (x->distance2 != y->distance2) return x->distance2 < y->distance2 ? -1 : 1;
  return (x->mass > y->mass) - (x->mass < y->mass);
}

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* Distances over 40 doublings, with few values and ties, all equal, zero and denormal values, and two far apart. */
static double draw(int kind, int64_t i, uint64_t *state) {
  const double u = uniform(state);
  switch (kind) {
  case 0: return exp2(40 * u - 30);
  case 1: return floor(10 * u);
  case 2: return 2;
  case 3: return i % 3 == 0 ? 0 : i % 3 == 1 ? u * 1e-310 : u;
  default: return i == 7 ? 1e300 : u;
  }
}

static void test_order(void **state) {
  (void)state;
  nbody_distance *given = malloc(N * sizeof *given), *sorted = malloc(N * sizeof *sorted),
                 *got = malloc(N * sizeof *got);
  assert_true(given && sorted && got);
  for (int kind = 0; kind < 5; kind++) {
    uint64_t random = 5;
    for (int64_t i = 0; i < N; i++)
      given[i] = (nbody_distance){.distance2 = draw(kind, i, &random), .mass = floor(4 * uniform(&random))};
    for (int64_t n = 0; n <= N; n = n < 3 ? n + 1 : n < 100 ? 100 : n < 8191 ? 8191 : n == 8191 ? 8192 : n + N - 8192) {
      memcpy(sorted, given, (size_t)n * sizeof *sorted);
      qsort(sorted, (size_t)n, sizeof *sorted, compare);
      for (int threads = 1; threads <= 3; threads += 2) {
        memcpy(got, given, (size_t)n * sizeof *got);
        nbody_sort_distances(got, n, threads);
        assert_memory_equal(got, sorted, (size_t)n * sizeof *got);
      }
    }
  }
  free(given);
  free(sorted);
  free(got);
}

/* A state that is not finite is sorted in some order; it is reported later. */
static void test_not_finite(void **state) {
  (void)state;
  nbody_distance *bodies = malloc(N * sizeof *bodies);
  assert_non_null(bodies);
  for (int64_t i = 0; i < N; i++)
    bodies[i] = (nbody_distance){.distance2 = i % 3 == 0 ? NAN : i % 3 == 1 ? -NAN : INFINITY, .mass = NAN};
  nbody_sort_distances(bodies, N, 2);
  free(bodies);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_not_finite)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
