/* Numbers of MRG32k3a: L'Ecuyer's published numbers, and skips ahead. */
#include "kernels/option/random/mrg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static option_mrg *mrg;

static int make(void **state) {
  (void)state;
  mrg = malloc(sizeof *mrg);
  return mrg == NULL;
}

static int release(void **state) {
  (void)state;
  free(mrg);
  return 0;
}

/* Number n of the seed's sequence: of group n / 4. */
static uint32_t number(uint32_t n) {
  uint32_t w[4][OPTION_MRG_LANES];
  option_mrg_bits(mrg, 0, 1, n / 4, 0, w);
  return w[n % 4][0];
}

static uint32_t scaled(uint32_t z) { return (uint32_t)((double)z * 1.000000048662); }

/* Seed 0 is 12345 in all six places, for which the RngStreams of L'Ecuyer, Simard, Chen and Kelton (Operations Research
 * 50 (2002) 1073) have these results (file test2RngStream.res): after 35 numbers the state is (1040577685, 3747037609,
 * 277208355), (1712706441, 627445683, 2408037141), and the next number 0.07941673614985. The state gives the last three
 * numbers too: (s1 - s2) mod m1. */
static void test_published(void **state) {
  (void)state;
  static const uint32_t first[3] = {1040577685u, 3747037609u, 277208355u},
                        second[3] = {1712706441u, 627445683u, 2408037141u};
  option_mrg_make(0, mrg);
  for (uint32_t k = 0; k < 3; k++)
    assert_int_equal(number(32 + k),
                     scaled(first[k] > second[k] ? first[k] - second[k] : first[k] + (4294967087u - second[k])));
  /* times m1 + 1, to the 14 digits given: 4.3e-5 */
  assert_true(abs((int)(number(35) - scaled((uint32_t)(0.07941673614985 * 4294967088.0 + 0.5)))) == 0);
}

/* A skip by 2^76 subsequences' first numbers is compared with cuRAND in tests/gpu/mrg.cu; here: bytes of a path and of
 * an offset add up, lanes are paths, and draws are 2^40 numbers apart. */
static void test_skips(void **state) {
  (void)state;
  static const uint64_t first[] = {0, 240, 0x123456789a0, UINT64_C(1) << 62, UINT64_C(3) << 61};
  uint32_t lanes[4][OPTION_MRG_LANES], one[4][OPTION_MRG_LANES];
  option_mrg_make(0x123456789abcdef, mrg);
  for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
    option_mrg_bits(mrg, first[i], OPTION_MRG_LANES, 70000, 257, lanes);
    for (uint64_t lane = 0; lane < OPTION_MRG_LANES; lane++) {
      option_mrg_bits(mrg, first[i] + lane, 1, 70000, 257, one);
      for (int k = 0; k < 4; k++) assert_int_equal(one[k][0], lanes[k][lane]);
    }
  }
  assert_int_not_equal(option_mrg_subsequence(UINT64_C(1) << 62), option_mrg_subsequence(UINT64_C(3) << 61));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_published), cmocka_unit_test(test_skips)};
  return cmocka_run_group_tests(tests, make, release);
}
