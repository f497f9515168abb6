/* Kernels of the diffusion model with rates and sums of a scenario, tested without a GPU: every scheme compiles, and
 * NVRTC is given the files of this tree. Every second case; with an argument all. */
#include "kernels/diffusion/cuda/axes/axes.h"
#include "kernels/diffusion/cuda/implicit/implicit.h"
#include "kernels/diffusion/cuda/work.h"
#include "tests/gpu/text/sources.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool all;

static void test_files(void **state) {
  (void)state;
  sources_expect(diffusion_cuda_files, 3);
}

/* u - u^3, and v t + u_x. */
static sim_expr *rates_of(void) {
  static const char *const names[] = {"u", "v", "x", "y", "z", "t", "u_x"};
  sim_expr_builder *b;
  sim_expr_ref in[7], out[2];
  sim_expr *graph;
  must(sim_expr_builder_create(&b));
  for (int i = 0; i < 7; i++) must(sim_expr_builder_input(b, names[i], &in[i]));
  must(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){in[0], in[0]}, &out[0]));
  must(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){out[0], in[0]}, &out[0]));
  must(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){in[0], out[0]}, &out[0]));
  must(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){in[1], in[5]}, &out[1]));
  must(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){out[1], in[6]}, &out[1]));
  must(sim_expr_builder_finish(b, out, (const char *const[]){"u", "v"}, 2, &graph));
  sim_expr_builder_free(&b);
  return graph;
}

/* 0.1 (u - u^3) */
static sim_expr *one_rate(void) {
  static const char *const names[] = {"u", "x", "y", "z", "t"};
  sim_expr_builder *b;
  sim_expr_ref in[5], out, tenth;
  sim_expr *graph;
  must(sim_expr_builder_create(&b));
  for (int i = 0; i < 5; i++) must(sim_expr_builder_input(b, names[i], &in[i]));
  must(sim_expr_builder_number(b, 0.1, &tenth));
  must(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){in[0], in[0]}, &out));
  must(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){out, in[0]}, &out));
  must(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){in[0], out}, &out));
  must(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){tenth, out}, &out));
  must(sim_expr_builder_finish(b, &out, (const char *const[]){"u"}, 1, &graph));
  sim_expr_builder_free(&b);
  return graph;
}

/* Compiles each program of a run. SIM_SHOW prints it; SIM_KEEP writes files of that name with a number. */
static void compile(const diffusion_work *work) {
  diffusion_programs programs;
  must(diffusion_cuda_write(work, &programs));
  assert_true(programs.count > 0 && programs.count <= DIFFUSION_PROGRAMS);
  for (int i = 0; i < programs.count; i++) {
    sim_bytes code = {0};
    const sim_source source = diffusion_programs_source(&programs, i);
    if (getenv("SIM_SHOW")) fputs(source.text, stderr);
    must(sim_compile(&source, 90, &code));
    if (getenv("SIM_KEEP")) {
      char path[256];
      snprintf(path, sizeof path, "%s%d", getenv("SIM_KEEP"), i);
      FILE *out = fopen(path, "wb");
      assert_non_null(out);
      fwrite(code.data, 1, code.size, out);
      fclose(out);
    }
    assert_true(code.size > 1000);
    sim_bytes_free(&code);
  }
  diffusion_programs_free(&programs);
}

enum { SCHEMES = DIFFUSION_RODAS3 }; /* those before it, which have stages of their own */

static void test_schemes(void **state) {
  (void)state;
  diffusion_field species[2] = {{.name = (char[]){"u"}, .D = 1, .axes = {1, 1, 1}},
                                {.name = (char[]){"v"}, .D = 1, .axes = {1, 1, 1}}};
  sim_item items[2] = {{.schema = &diffusion_field_schema, .data = &species[0]},
                       {.schema = &diffusion_field_schema, .data = &species[1]}};
  for (int i = 0; i < SCHEMES + 2; i += all ? 1 : 2) {
    const int scheme = i < SCHEMES ? i : i - SCHEMES + DIFFUSION_ETDRK2; /* then with adaptive steps */
    diffusion_parameters p = {.fields = {items, 2}, .integrate = {.scheme = scheme}};
    if (scheme != i) p.integrate.dt = NAN;
    diffusion_work work = {
        .p = &p, .comm = &sim_comm_alone, .way = &diffusion_way_general, .fields = 2, .single = scheme % 2 == 1};
    species[1].fluctuation = scheme == i && scheme != DIFFUSION_EXACT && scheme != DIFFUSION_ETDRK2;
    if (scheme != DIFFUSION_EXACT) p.rates = rates_of();
    work.method = diffusion_method_with(&p, 0);
    work.gradients = diffusion_gradients_of(&p);
    work.spectrum.factor = (diffusion_factor)(scheme % 3);
    compile(&work);
    sim_expr_free(&p.rates);
  }
}

/* Implicit steps: the entries of the Jacobian, products with them, and derivatives by t. */
static void test_implicit(void **state) {
  (void)state;
  diffusion_field species[2] = {{.name = (char[]){"u"}, .D = 1, .axes = {1, 1, 1}},
                                {.name = (char[]){"v"}, .D = 1, .axes = {1, 1, 1}}};
  sim_item items[2] = {{.schema = &diffusion_field_schema, .data = &species[0]},
                       {.schema = &diffusion_field_schema, .data = &species[1]}};
  for (int i = all ? 0 : 1; i < 3; i++) {
    diffusion_parameters p = {.fields = {items, 2}, .rates = rates_of(), .integrate = {.scheme = DIFFUSION_RODAS3}};
    diffusion_implicit_memory memory = {0};
    diffusion_linearized l = {.own = &memory};
    diffusion_general general = {.linearized = &l};
    diffusion_work work = {.p = &p,
                           .comm = &sim_comm_alone,
                           .way = &diffusion_way_general,
                           .own = {.general = &general},
                           .fields = 2,
                           .single = i == 1};
    must(diffusion_jacobian_graph(&p, &l.jacobian, &memory.entries, &memory.by_time));
    assert_int_equal(l.jacobian.count, 3); /* 1 - 3 u^2, t, and 1 of u_x */
    assert_non_null(memory.by_time);
    work.method = diffusion_method_with(&p, 0);
    work.gradients = diffusion_gradients_of(&p);
    work.spectrum.factor = (diffusion_factor)i;
    compile(&work);
    sim_expr_free(&memory.entries);
    sim_expr_free(&memory.by_time);
    sim_expr_free(&p.rates);
  }
}

/* Fields with cross diffusion, for every kind of factor; some fluctuate. */
static void test_crossed(void **state) {
  (void)state;
  static double other[] = {0, 0.5};
  diffusion_field species[2] = {{.name = (char[]){"u"}, .D = 1, .axes = {1, 1, 1}, .cross = {other, 2, 1}},
                                {.name = (char[]){"v"}, .D = 1, .axes = {1, 1, 1}}};
  sim_item items[2] = {{.schema = &diffusion_field_schema, .data = &species[0]},
                       {.schema = &diffusion_field_schema, .data = &species[1]}};
  for (int i = all ? 0 : 1; i < (all ? 3 : 2); i++) {
    diffusion_parameters p = {
        .fields = {items, 2}, .rates = rates_of(), .integrate = {.scheme = DIFFUSION_ETDRK2 + i % 2}};
    if (i == 2) p.integrate.dt = NAN;
    species[0].fluctuation = i < 2;
    diffusion_work work = {.p = &p,
                           .comm = &sim_comm_alone,
                           .way = &diffusion_way_general,
                           .fields = 2,
                           .single = i == 1,
                           .crossed = true};
    work.method = diffusion_method_with(&p, 0);
    work.gradients = diffusion_gradients_of(&p);
    work.spectrum.factor = (diffusion_factor)i;
    compile(&work);
    sim_expr_free(&p.rates);
  }
}

/* Each form of the two passes. */
static void test_two_passes(void **state) {
  (void)state;
  diffusion_field species = {.name = (char[]){"u"}, .D = 1, .axes = {1, 1, 1}};
  sim_item item = {.schema = &diffusion_field_schema, .data = &species};
  static double sizes[][3] = {{256, 1024, 256}, {512, 512, 512}};
  double side[3] = {1, 1, 1};
  for (int i = all ? 0 : 1; i < 2; i++) {
    diffusion_parameters p = {.fields = {&item, 1}, .rates = one_rate()};
    p.grid = (grid_parameters){
        .n = {sizes[i], 3, 1}, .size = {side, 3, 1}, .along = {GRID_AS_OTHERS, GRID_AS_OTHERS, GRID_AS_OTHERS}};
    p.integrate.scheme = i % 2 ? DIFFUSION_STRANG : DIFFUSION_LIE;
    diffusion_work work = {.p = &p, .comm = &sim_comm_alone, .fields = 1, .single = true, .way = &diffusion_way_fused};
    compile(&work);
    sim_expr_free(&p.rates);
  }
}

/* One pass for each axis: lines of each length, with and without walls, on one rank and on several. */
static void test_axes(void **state) {
  const sim_comm last = {.rank = 2, .size = 3};
  (void)state;
  diffusion_field species = {.name = (char[]){"u"}, .D = 1, .axes = {1, 1, 1}};
  sim_item item = {.schema = &diffusion_field_schema, .data = &species};
  static double sizes[][3] = {{512, 512, 512}, {256, 1024, 256}, {1024, 256, 0}};
  static const int along[][3] = {{1, 1, 1}, {2, 0, 1}, {0, 2, 0}};
  double side[3] = {1, 1, 1};
  for (int i = all ? 0 : 1; i < 3; i++) {
    const size_t rank = i == 2 ? 2 : 3;
    diffusion_parameters p = {.fields = {&item, 1}, .rates = one_rate()};
    p.grid = (grid_parameters){
        .n = {sizes[i], rank, 1}, .size = {side, rank, 1}, .along = {along[i][0], along[i][1], along[i][2]}};
    p.integrate.scheme = i % 2 ? DIFFUSION_STRANG : DIFFUSION_LIE;
    diffusion_axes_work axes = {.direct = i == 1};
    diffusion_work work = {.p = &p,
                           .comm = i == 1 ? &last : &sim_comm_alone,
                           .fields = 1,
                           .single = true,
                           .way = &diffusion_way_axes,
                           .own.axes = &axes};
    compile(&work);
    sim_expr_free(&p.rates);
  }
}

/* Two passes a stage: lengths of axes and schemes. */
static void test_flat(void **state) {
  (void)state;
  diffusion_field species = {.name = (char[]){"u"}, .D = 1, .axes = {1, 1, 1}};
  sim_item item = {.schema = &diffusion_field_schema, .data = &species};
  static double sizes[][2] = {{256, 4096}, {4096, 256}, {512, 256}};
  static const int schemes[] = {DIFFUSION_LIE, DIFFUSION_ETDRK4, DIFFUSION_ETDRK4};
  double side[2] = {1, 1};
  for (int i = all ? 0 : 2; i < 3; i++) {
    diffusion_parameters p = {.fields = {&item, 1}, .rates = one_rate()};
    p.grid = (grid_parameters){
        .n = {sizes[i], 2, 1}, .size = {side, 2, 1}, .along = {GRID_AS_OTHERS, GRID_AS_OTHERS, GRID_AS_OTHERS}};
    p.integrate.scheme = schemes[i];
    p.integrate.dt = i == 2 ? NAN : 1;
    diffusion_work work = {.p = &p, .comm = &sim_comm_alone, .fields = 1, .single = true, .way = &diffusion_way_flat};
    compile(&work);
    sim_expr_free(&p.rates);
  }
}

int main(int argc, char **argv) {
  (void)argv;
  all = argc > 1;
  if (!sources_compile()) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_files),      cmocka_unit_test(test_schemes),
                                     cmocka_unit_test(test_implicit),   cmocka_unit_test(test_crossed),
                                     cmocka_unit_test(test_two_passes), cmocka_unit_test(test_axes),
                                     cmocka_unit_test(test_flat)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
