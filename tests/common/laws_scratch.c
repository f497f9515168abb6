/* Memory of threads for functions of a scenario, and the least and greatest of their values. */
#include "kernels/common/laws/scratch.h"

#include "engine/reduce.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, COLUMNS = 100 };

/* exp(x) + ... + exp(x / terms) */
static sim_expr_program *program_of(int terms) {
  sim_expr_builder *b;
  sim_expr_ref x, sum, part;
  sim_expr *graph;
  sim_expr_program *out;
  assert_int_equal(sim_expr_builder_create(&b), SIM_OK);
  assert_int_equal(sim_expr_builder_input(b, "x", &x), SIM_OK);
  assert_int_equal(sim_expr_builder_number(b, 0, &sum), SIM_OK);
  for (int k = 1; k <= terms; k++) {
    assert_int_equal(sim_expr_builder_number(b, k, &part), SIM_OK);
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_DIV, (sim_expr_ref[]){x, part}, &part), SIM_OK);
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_EXP, &part, &part), SIM_OK);
    assert_int_equal(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){sum, part}, &sum), SIM_OK);
  }
  assert_int_equal(sim_expr_builder_finish(b, &sum, (const char *const[]){"y"}, 1, &graph), SIM_OK);
  assert_int_equal(sim_expr_program_create(graph, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, &out), SIM_OK);
  sim_expr_free(&graph);
  sim_expr_builder_free(&b);
  return out;
}

/* Each thread fills its memory with its number. No thread may find another number afterwards. */
static void test_threads(void **state) {
  (void)state;
  sim_expr_program *programs[] = {program_of(1), NULL, program_of(9)};
  const size_t most = sim_expr_program_scratch(programs[2]);
  laws_scratch s;
  int wrong = 0, threads = 0;
  assert_true(most > sim_expr_program_scratch(programs[0]));
  assert_int_equal(laws_scratch_create(programs, 3, COLUMNS * sizeof(double), THREADS, &s), SIM_OK);
  assert_true(s.columns >= most && s.stride >= s.columns + COLUMNS * sizeof(double));
  assert_true(s.columns % 64 == 0 && s.stride % 64 == 0);
  assert_true(laws_scratch_bytes(&s) == (double)(THREADS * s.stride));
#pragma omp parallel num_threads(THREADS)
  {
    double *columns;
    unsigned char *scratch = laws_scratch_here(&s, &columns), mine;
#pragma omp critical
    mine = (unsigned char)++threads;
    memset(scratch, mine, s.stride);
#pragma omp barrier
    int other = (unsigned char *)columns != scratch + s.columns;
    for (size_t k = 0; k < s.stride; k++) other += scratch[k] != mine;
#pragma omp critical
    wrong += other;
  }
  assert_int_equal(wrong, 0);
  laws_scratch_destroy(&s);
  assert_null(s.memory);
  for (int k = 0; k < 3; k++) sim_expr_program_free(&programs[k]);
}

static void test_nothing(void **state) {
  (void)state;
  sim_expr_program *none[] = {NULL};
  laws_scratch s;
  assert_int_equal(laws_scratch_create(none, 1, 0, THREADS, &s), SIM_OK);
  assert_null(s.memory);
  assert_true(laws_scratch_bytes(&s) == 0);
  laws_scratch_destroy(&s);
}

static void test_extreme(void **state) {
  (void)state;
  const double x[] = {3, -2, 7, 0}, none[] = {3, NAN, 7}, first[] = {NAN, 1};
  assert_true(sim_reduce_extreme(x, 4, false) == -2 && sim_reduce_extreme(x, 4, true) == 7);
  assert_true(sim_reduce_extreme(x, 1, false) == 3);
  for (int greatest = 0; greatest < 2; greatest++)
    assert_true(isnan(sim_reduce_extreme(none, 3, greatest)) && isnan(sim_reduce_extreme(first, 2, greatest)));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_nothing),
                                     cmocka_unit_test(test_extreme)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
