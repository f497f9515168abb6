/* The check of a state before it is saved: it finds the first number that is not finite, in any array. And the state's
 * digest, which depends on every byte and can be computed in parts. */
#include "engine/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 2 * 4096 + 5 }; /* two blocks and a remainder */
static float narrow[COUNT];
static double wide[COUNT];

static const sim_field field = {.name = "u"};

static sim_status check(sim_dtype dtype) {
  sim_array array = {.field = &field, .dtype = dtype, .rank = 1, .shape = {COUNT}};
  array.data = dtype == SIM_F32 ? (void *)narrow : (void *)wide;
  const sim_frame frame = {.arrays = &array, .array_count = 1, .clock = {.step = 7}};
  return sim_frame_check_finite(&frame);
}

static void test_finite(void **state) {
  (void)state;
  static const double values[] = {0, -0.0, 1, -1, FLT_MAX, -FLT_MAX, FLT_MIN, FLT_TRUE_MIN};
  for (int i = 0; i < COUNT; i++) {
    narrow[i] = (float)values[i % 8];
    wide[i] = i % 2 ? DBL_MAX : i % 3 ? -DBL_TRUE_MIN : values[i % 8];
  }
  assert_int_equal(check(SIM_F32), SIM_OK);
  assert_int_equal(check(SIM_F64), SIM_OK);
}

static void test_not_finite(void **state) {
  (void)state;
  static const int places[] = {0, 1, 4095, 4096, 8191, 8192, COUNT - 1};
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 7; i++)
    for (int k = 0; k < 3; k++)
      for (int single = 0; single < 2; single++) {
        char text[32];
        memset(narrow, 0, sizeof narrow);
        memset(wide, 0, sizeof wide);
        narrow[places[i]] = narrow[COUNT - 1] = (float)bad[k]; /* the first of them counts */
        wide[places[i]] = wide[COUNT - 1] = bad[k];
        assert_int_equal(check(single ? SIM_F32 : SIM_F64), SIM_ERR_DIVERGED);
        snprintf(text, sizeof text, "u[%d] is not finite", places[i]);
        assert_non_null(strstr(sim_error_last()->message, text));
      }
}

/* An array at which several threads look in parts: the first number counts, wherever the others are. */
static void test_large(void **state) {
  (void)state;
  enum { LARGE = (1 << 20) + 77, PART = (1 << 20) / 64 };
  static const int places[] = {0, 5000, PART, PART + 1, 63 * PART + 4, LARGE - 1};
  float *numbers = calloc(LARGE, sizeof *numbers);
  assert_non_null(numbers);
  const int64_t length = LARGE;
  sim_array array = {.field = &field, .dtype = SIM_F32, .rank = 1, .shape = {length}, .data = numbers};
  const sim_frame frame = {.arrays = &array, .array_count = 1};
  assert_int_equal(sim_frame_check_finite(&frame), SIM_OK);
  for (int i = 5; i >= 0; i--) { /* all places behind it too */
    char text[32];
    numbers[places[i]] = NAN;
    assert_int_equal(sim_frame_check_finite(&frame), SIM_ERR_DIVERGED);
    snprintf(text, sizeof text, "u[%d] is not finite", places[i]);
    assert_non_null(strstr(sim_error_last()->message, text));
  }
  free(numbers);
}

/* Computes the digest by its definition: hashes of blocks of a MiB. */
static void test_digest(void **state) {
  (void)state;
  enum { MEBIBYTE = 1 << 20, BYTES = 2 * MEBIBYTE + 24 };
  static unsigned char data[BYTES];
  char out[33], expected[33], changed[33];
  for (size_t i = 0; i < BYTES; i++) data[i] = (unsigned char)(i * i / 5);
  const sim_array array = {.field = &field, .dtype = SIM_U64, .rank = 1, .shape = {BYTES / 8}, .data = data};
  const sim_frame frame = {.clock = {.step = 3, .t = 0.5, .dt = 0.25}, .arrays = &array, .array_count = 1};
  unsigned char list[8 + 8 + 8 + 2 + 3 * 16];
  memcpy(list, &frame.clock.step, 8);
  memcpy(list + 8, &frame.clock.t, 8);
  memcpy(list + 16, &frame.clock.dt, 8);
  memcpy(list + 24, "u", 2);
  for (size_t k = 0; k < 3; k++) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data + k * MEBIBYTE, k < 2 ? MEBIBYTE : 24));
    memcpy(list + 26 + 16 * k, canonical.digest, 16);
  }
  const XXH128_hash_t hash = XXH3_128bits(list, sizeof list);
  snprintf(expected, sizeof expected, "%016llx%016llx", (unsigned long long)hash.high64,
           (unsigned long long)hash.low64);
  sim_frame_digest(&frame, out);
  assert_string_equal(out, expected);
  for (size_t at = 0; at < BYTES; at += 299993) {
    data[at] ^= 1;
    sim_frame_digest(&frame, changed);
    assert_string_not_equal(out, changed);
    data[at] ^= 1;
  }
}

/* The digests of blocks are those of the definition, computed from a copy, from the array, or with the state. */
static void test_blocks(void **state) {
  (void)state;
  enum { MEBIBYTE = 1 << 20, MOST = 70 * MEBIBYTE + 8 };
  unsigned char *data = malloc(MOST), *copy = malloc(MOST);
  assert_true(data && copy);
  for (size_t i = 0; i < MOST; i++) data[i] = (unsigned char)(i * i / 7);
  const size_t sizes[] = {0, 8, MEBIBYTE - 8, MEBIBYTE, MEBIBYTE + 8, MOST};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const size_t bytes = sizes[s], count = sim_digest_blocks(bytes);
    sim_block_digest blocks[80], again[80];
    char whole[33], parts[33];
    assert_int_equal(count, (bytes + MEBIBYTE - 1) / MEBIBYTE);
    memset(copy, 0x55, MOST);
    sim_digest_copy(copy, data, bytes, blocks);
    assert_memory_equal(copy, data, bytes);
    assert_true(bytes == MOST || copy[bytes] == 0x55);
    sim_digest_array(data, bytes, again);
    assert_memory_equal(blocks, again, count * sizeof *blocks);
    for (size_t k = 0; k < count; k++) {
      const size_t here = bytes - k * MEBIBYTE < MEBIBYTE ? bytes - k * MEBIBYTE : MEBIBYTE;
      XXH128_canonical_t canonical;
      XXH128_canonicalFromHash(&canonical, XXH3_128bits(data + k * MEBIBYTE, here));
      assert_memory_equal(blocks[k].bytes, canonical.digest, sizeof blocks[k].bytes);
    }
    const sim_array array = {
        .field = &field, .dtype = SIM_U64, .rank = 1, .shape = {(int64_t)(bytes / 8)}, .data = data};
    const sim_frame frame = {.clock = {.step = 1}, .arrays = &array, .array_count = 1};
    sim_frame_digest(&frame, whole);
    sim_frame_digest_of(&frame, (const sim_block_digest *const[]){blocks}, parts);
    assert_string_equal(whole, parts);
  }
  free(data), free(copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_finite), cmocka_unit_test(test_not_finite),
                                     cmocka_unit_test(test_large), cmocka_unit_test(test_digest),
                                     cmocka_unit_test(test_blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
