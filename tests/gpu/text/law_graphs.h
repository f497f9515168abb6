/* Laws and observables of scenarios, built as graphs. */
#ifndef TESTS_GPU_LAW_GRAPHS_H
#define TESTS_GPU_LAW_GRAPHS_H

#include "kernels/nbody/scenario/laws.h"
#include "tests/must.h"

#include <stdlib.h>
#include <string.h>

#define LAW_G 0.7
#define LAW_SOFTENING2 0.01

static inline sim_expr_ref law_call(sim_expr_builder *b, sim_expr_op op, sim_expr_ref x, sim_expr_ref y,
                                    sim_expr_ref z) {
  sim_expr_ref out;
  must(sim_expr_builder_call(b, op, (const sim_expr_ref[]){x, y, z}, &out));
  return out;
}
static inline sim_expr_ref law_number(sim_expr_builder *b, double value) {
  sim_expr_ref out;
  must(sim_expr_builder_number(b, value, &out));
  return out;
}

#define ADD(x, y) law_call(b, SIM_EXPR_ADD, x, y, 0)
#define SUB(x, y) law_call(b, SIM_EXPR_SUB, x, y, 0)
#define MUL(x, y) law_call(b, SIM_EXPR_MUL, x, y, 0)
#define DIV(x, y) law_call(b, SIM_EXPR_DIV, x, y, 0)
#define POW(x, y) law_call(b, SIM_EXPR_POW, x, law_number(b, y), 0)
#define SQRT(x) law_call(b, SIM_EXPR_SQRT, x, 0, 0)
#define EXP(x) law_call(b, SIM_EXPR_EXP, x, 0, 0)
#define NUMBER(x) law_number(b, x)

enum { LAWS = 6 };
static const char *const law_names[LAWS] = {"gravity", "Lennard-Jones", "Yukawa", "cut off", "spring", "power 0.8"};

/* Potentials of r2. */
static inline sim_expr_ref law_potential(sim_expr_builder *b, int law, sim_expr_ref r2) {
  sim_expr_ref x, r;
  switch (law) {
  case 0: return DIV(NUMBER(-LAW_G), SQRT(ADD(r2, NUMBER(LAW_SOFTENING2))));
  case 1: x = POW(DIV(NUMBER(0.04), ADD(r2, NUMBER(LAW_SOFTENING2))), 3); return MUL(NUMBER(4), SUB(MUL(x, x), x));
  case 2: r = SQRT(ADD(r2, NUMBER(LAW_SOFTENING2))); return DIV(MUL(NUMBER(-2), EXP(MUL(r, NUMBER(-1.5)))), r);
  case 3: /* 0 beyond 1 */
    x = DIV(NUMBER(1), ADD(NUMBER(LAW_SOFTENING2), r2));
    return law_call(b, SIM_EXPR_WHERE, law_call(b, SIM_EXPR_LT, r2, NUMBER(1), 0), x, NUMBER(1 / (1 + LAW_SOFTENING2)));
  case 4: r = SUB(SQRT(ADD(r2, NUMBER(LAW_SOFTENING2))), NUMBER(0.5)); return MUL(MUL(NUMBER(0.5), r), r);
  default: return MUL(NUMBER(-1), POW(ADD(MUL(r2, NUMBER(2)), NUMBER(1)), -0.8));
  }
}

/* r2 -> force [rate] potential */
static inline sim_expr *law_pair(int law, bool jerk) {
  sim_expr_builder *b;
  sim_expr *potential, *first, *second, *out;
  sim_expr_ref r2, p, outputs[3];
  must(sim_expr_builder_create(&b));
  must(sim_expr_builder_input(b, "r2", &r2));
  p = law_potential(b, law, r2);
  must(sim_expr_builder_finish(b, &p, (const char *const[]){"p"}, 1, &potential));
  must(sim_expr_derivative(potential, 0, &first));
  must(sim_expr_derivative(first, 0, &second));
  must(sim_expr_builder_insert(b, first, &r2, &outputs[0]));
  must(sim_expr_builder_insert(b, second, &r2, &outputs[1]));
  outputs[0] = MUL(outputs[0], NUMBER(2));
  outputs[1] = MUL(outputs[1], NUMBER(2));
  outputs[jerk ? 2 : 1] = p;
  must(sim_expr_builder_finish(b, outputs, (const char *const[]){"force", jerk ? "rate" : "potential", "potential2"},
                               jerk ? 3 : 2, &out));
  sim_expr_free(&potential), sim_expr_free(&first), sim_expr_free(&second);
  sim_expr_builder_free(&b);
  return out;
}

/* x y z [vx vy vz] t -> ax ay az [jx jy jz] potential: a rotating trap, (1 + 0.1 t) (x^2 + 2 y^2 + 3 z^2) / 2. */
static inline sim_expr *law_external(bool jerk) {
  static const char *const names[] = {"x", "y", "z", "vx", "vy", "vz"};
  static const char *const results[] = {"ax", "ay", "az", "jx", "jy", "jz", "p"};
  sim_expr_builder *b;
  sim_expr *out;
  sim_expr_ref in[6] = {0}, t, outputs[7], sum = 0;
  const int count = jerk ? 6 : 3;
  must(sim_expr_builder_create(&b));
  for (int k = 0; k < count; k++) must(sim_expr_builder_input(b, names[k], &in[k]));
  must(sim_expr_builder_input(b, "t", &t));
  const sim_expr_ref strength = ADD(NUMBER(1), MUL(NUMBER(0.1), t));
  for (int c = 0; c < 3; c++) {
    const sim_expr_ref k = MUL(NUMBER(-(c + 1)), strength);
    outputs[c] = MUL(k, in[c]);
    if (jerk) outputs[3 + c] = ADD(MUL(k, in[3 + c]), MUL(NUMBER(-0.1 * (c + 1)), in[c]));
    const sim_expr_ref term = MUL(NUMBER(0.5 * (c + 1)), MUL(in[c], in[c]));
    sum = c ? ADD(sum, term) : term;
  }
  outputs[count] = MUL(strength, sum);
  must(sim_expr_builder_finish(b, outputs, results, count + 1, &out));
  sim_expr_builder_free(&b);
  return out;
}

enum { OBSERVABLES = 5 };

/* Sums, a mean, extremes, and an observable that is NaN for some bodies. */
static inline sim_function_map law_observables(void) {
  static const char *const inputs[] = {NBODY_BODY_INPUTS};
  static const int ways[OBSERVABLES] = {SIM_SUM, SIM_MEAN, SIM_LEAST, SIM_GREATEST, SIM_GREATEST};
  sim_function_map map = {calloc(OBSERVABLES, sizeof(sim_named_function)), OBSERVABLES};
  for (int k = 0; k < OBSERVABLES; k++) {
    sim_expr_builder *b;
    sim_expr_ref in[11], y;
    must(sim_expr_builder_create(&b));
    for (int i = 0; i < 11; i++) must(sim_expr_builder_input(b, inputs[i], &in[i]));
    switch (k) {
    case 0: y = MUL(in[0], ADD(MUL(in[4], in[4]), MUL(in[5], in[5]))); break;
    case 1: y = ADD(MUL(in[1], in[7]), in[10]); break;
    case 2: y = SQRT(ADD(MUL(in[1], in[1]), MUL(in[2], in[2]))); break;
    case 3: y = MUL(in[6], in[9]); break;
    default: y = SQRT(in[1]); break;
    }
    must(sim_expr_builder_finish(b, &y, (const char *const[]){"y"}, 1, &map.items[k].expr));
    map.items[k].reduce = ways[k];
    sim_expr_builder_free(&b);
  }
  return map;
}

static inline void law_free_observables(sim_function_map *map) {
  for (size_t k = 0; k < map->count; k++) sim_expr_free(&map->items[k].expr);
  free(map->items);
}

#undef ADD
#undef SUB
#undef MUL
#undef DIV
#undef POW
#undef SQRT
#undef EXP
#undef NUMBER

#endif
