/* Stored function graphs: bytes that are no graph are refused. */
#include "expr_language.h"

static uint64_t checksum(const unsigned char *data, size_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
  return hash;
}
static void mend(unsigned char *data, size_t size) {
  uint64_t hash = checksum(data, size - 8);
  for (int i = 0; i < 8; i++) data[size - 8 + (size_t)i] = (unsigned char)(hash >> (8 * i));
}

/* A graph that was read is run and shown, so that a sanitizer sees a broken graph. */
static void exercise(const void *data, size_t size, int *read_count) {
  sim_expr *expr;
  sim_status status = sim_expr_read(data, size, &expr);
  if (status != SIM_OK) {
    assert_int_equal(status, SIM_ERR_INCOMPATIBLE);
    assert_null(expr);
    return;
  }
  ++*read_count;
  sim_bytes out = {0};
  assert_ok(sim_expr_text(expr, &out));
  sim_bytes_free(&out);
  sim_expr *derivative;
  if (sim_expr_output_count(expr) && sim_expr_output_type(expr, 0) == SIM_EXPR_N) {
    assert_ok(sim_expr_gradient(expr, 0, &derivative));
    sim_expr_free(&derivative);
  }
  static double in[SIM_EXPR_INPUTS_MAX], results[SIM_EXPR_OUTPUTS_MAX];
  const void *inputs[SIM_EXPR_INPUTS_MAX];
  void *outputs[SIM_EXPR_OUTPUTS_MAX];
  for (int i = 0; i < SIM_EXPR_INPUTS_MAX; i++) inputs[i] = &in[i];
  for (int i = 0; i < SIM_EXPR_OUTPUTS_MAX; i++) outputs[i] = &results[i];
  test_run(expr, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, 1, inputs, outputs);
  sim_expr_free(&expr);
}

static void damaged_bytes(void **state) {
  (void)state;
  sim_expr_ref p = F("lt", a, b), t;
  assert_ok(sim_expr_builder_truth(builder, true, &t));
  sim_expr_ref outputs[] = {F("where", F("and", p, F("ne", c, number(2))), F("pow", a, c), F("sin", F("mul", b, c))), p,
                            F("hypot", a, number(0.1)), t};
  sim_expr *expr;
  assert_ok(sim_expr_builder_finish(builder, outputs, (const char *const[]){"p", "q", "r", "s"}, 4, &expr));
  sim_bytes bytes = {0};
  assert_ok(sim_expr_write(expr, &bytes));
  sim_expr_free(&expr);
  unsigned char *copy = malloc(bytes.size + 8);
  int read_count = 0;
  for (size_t size = 0; size < bytes.size; size++) { /* cut short */
    memcpy(copy, bytes.data, size);
    exercise(copy, size, &read_count);
    if (size < 28) continue;
    mend(copy, size);
    exercise(copy, size, &read_count);
  }
  memcpy(copy, bytes.data, bytes.size);
  memset(copy + bytes.size, 0, 8);
  exercise(copy, bytes.size + 8, &read_count); /* too long */
  mend(copy, bytes.size + 8);
  exercise(copy, bytes.size + 8, &read_count);
  for (size_t i = 0; i < bytes.size * 8; i++) { /* one bit changed */
    memcpy(copy, bytes.data, bytes.size);
    copy[i / 8] ^= (unsigned char)(1u << (i % 8));
    exercise(copy, bytes.size, &read_count);
  }
  assert_int_equal(read_count, 0);
  /* With a right checksum only the structure protects: every byte at every value, then several bytes at random. */
  for (size_t i = 0; i < bytes.size - 8; i++)
    for (int value = 0; value < 256; value++) {
      memcpy(copy, bytes.data, bytes.size);
      copy[i] = (unsigned char)value;
      mend(copy, bytes.size);
      exercise(copy, bytes.size, &read_count);
    }
  uint64_t random = 5;
  for (int round = 0; round < 20000; round++) {
    memcpy(copy, bytes.data, bytes.size);
    for (uint64_t k = 1 + test_random(&random) % 4; k; k--)
      copy[8 + test_random(&random) % (bytes.size - 16)] = (unsigned char)test_random(&random);
    mend(copy, bytes.size);
    exercise(copy, bytes.size, &read_count);
  }
  assert_true(read_count > 1000); /* another constant, or another operation with as many operands, is no damage */
  copy[7] = 2;
  assert_int_equal(sim_expr_read(copy, bytes.size, &expr), SIM_ERR_INCOMPATIBLE);
  assert_string_equal(sim_error_last()->message, "a stored function is of version 2: this program reads version 1");
  free(copy);
  sim_bytes_free(&bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(damaged_bytes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
