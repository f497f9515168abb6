/* Radii over 1:150: the neighbours from cells of several levels are those of all pairs, in the order of ids, however
 * classes of radii are combined into levels. */
typedef double real;
#include "kernels/collision/general/cpu/search.inc"
#include "tests/collision/driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { N = 1500 };

static double uniform(uint64_t *bits) {
  *bits = *bits * 6364136223846793005u + 1442695040888963407u;
  return (double)(*bits >> 11) * 0x1p-53;
}

/* Radii of grains: two, a continuous range of logarithms, a continuous range, and a few large among many small grains,
 * which have more than 64 neighbours. */
static double radius_of(int kind, int i, double u) {
  const double least = 0.001, ratio = 150;
  if (kind == 0) return i % 50 == 0 ? least * ratio : least;
  if (kind == 1) return least * pow(ratio, u);
  if (kind == 2) return least * (1 + (ratio - 1) * u);
  return i < 3 ? least * ratio : 2 * least;
}

static void all_neighbours(void **state) {
  (void)state;
  static position_radius p[N], sorted[N];
  static uint32_t id[N];
  int longest = 0;
  for (int which = 0; which < 16; which++) {
    const int kind = which / 4;
    const bool periodic = which % 2, halved = which / 2 % 2;
    collision_options o = {.n = N, .threads = 2, .size = {1, 1.5, 0.8}, .periodic = {periodic, true, periodic}};
    collision_search s;
    uint64_t bits = 77;
    double least = INFINITY, most = 0;
    for (int i = 0; i < N; i++) {
      for (int c = 0; c < 3; c++) p[i].x[c] = o.size[c] * uniform(&bits);
      p[i].r = radius_of(kind, i, uniform(&bits));
      least = fmin(least, p[i].r);
      most = fmax(most, p[i].r);
    }
    driver_must(collision_search_create(&o, least, most, &s), "a search");
    s.cutoff = 0.3 * least;
    s.halved = halved;
    driver_must(sort_cells(&s, p), "cells");
    for (int i = 0; i < N; i++) {
      id[i] = s.order[i];
      sorted[i] = p[id[i]];
    }
    driver_must(list_neighbours(&s, sorted, id), "neighbours");
    if (!halved && kind == 0) assert_int_equal(s.levels, 2);
    const periodic_box box = periodic_box_of(&s);
    for (int i = 0; i < N; i++) {
      int64_t e = s.first[i];
      for (uint32_t j = 0; j < N; j++) {
        double d[3];
        (void)minimum_image(&box, &sorted[i], &p[j], d);
        const double reach = sorted[i].r + p[j].r + s.cutoff;
        if (j == id[i] || !(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < reach * reach)) continue;
        assert_true(e < s.first[i + 1] && id[s.neighbour[e]] == j);
        e++;
      }
      assert_true(e == s.first[i + 1]);
      if (e - s.first[i] > longest) longest = (int)(e - s.first[i]);
    }
    collision_search_destroy(&s);
  }
  assert_true(longest > 64); /* there are rows that a heap sorts */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_neighbours)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
