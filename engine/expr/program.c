/* Programs: lists of loops over blocks of entities (lanes). Values are kept in registers (blocks of the thread's
 * scratch), which are reused after the last read. A value that depends only on constants and uniform inputs is computed
 * once per run, as a single value. Results are written directly to their outputs.
 *
 * Operands are numbered slots: inputs, outputs, registers, single values, in this order; a run has a pointer each. */
#include "engine/expr/graph.h"
#include "engine/expr/lanes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  CACHE = 24 * 1024, /* bytes of registers that fit into the first-level cache together with inputs and outputs */
  BLOCK_LEAST = 64,
  BLOCK_MOST = 1024,
  LINE = 64,
  NOWHERE = -1
};

typedef struct instruction {
  sim_expr_kernel *kernel;
  int32_t out, operands[3];
} instruction;

struct sim_expr_program {
  int inputs, outputs, registers, singles;
  size_t block, size; /* number of entities; bytes of a number */
  bool *uniform;      /* [inputs] */
  instruction *code;  /* instructions for single values come first */
  int single_count, code_count;
  void *constants; /* [singles]: constants; 0 for computed values */
};

#if EXPR_X86
static const sim_expr_kernels *const kernels[2][SIM_ISA_COUNT] = {
    {&sim_expr_kernels_double_plain, &sim_expr_kernels_double_avx2, &sim_expr_kernels_double_avx512},
    {&sim_expr_kernels_single_plain, &sim_expr_kernels_single_avx2, &sim_expr_kernels_single_avx512}};
#else
static const sim_expr_kernels *const kernels[2][SIM_ISA_COUNT] = {{&sim_expr_kernels_double_plain},
                                                                  {&sim_expr_kernels_single_plain}};
#endif

/* What is known about each node while a program is planned. */
typedef struct plan {
  const sim_expr *expr;
  sim_expr_program *program;
  const sim_expr_kernels *table;
  bool *single;  /* has one value for all entities */
  int32_t *slot; /* slot that holds the value */
  int32_t *last; /* the last node that reads it */
  int32_t *free; /* unused registers */
  int free_count;
} plan;

static int output_slot(const plan *p, int output) { return p->program->inputs + output; }
/* Preliminary slot numbers of registers and singles, until the number of registers is known. */
enum { REGISTERS = 1 << 20, SINGLES = 1 << 24 };

static bool is_leaf(sim_expr_op op) { return op == SIM_EXPR_INPUT || op == SIM_EXPR_NUMBER || op == SIM_EXPR_TRUTH; }

static void emit_copy(plan *p, int32_t from, bool single, int32_t to) {
  p->program->code[p->program->code_count++] =
      (instruction){(*p->table)[SIM_EXPR_INPUT][single ? 1 : 0], to, {from, from, from}};
}

static void set_constant(plan *p, int32_t single, double value) {
  if (p->program->size == sizeof(float))
    ((float *)p->program->constants)[single] = (float)value;
  else
    ((double *)p->program->constants)[single] = value;
}

/* Assigns slots to inputs and single values; these need no registers. */
static void plan_singles(plan *p, const bool *uniform) {
  for (int i = 0; i < p->expr->node_count; i++) {
    const sim_expr_node *node = &p->expr->nodes[i];
    const int operands = sim_expr_rules[node->op].operands;
    if (node->op == SIM_EXPR_INPUT) {
      p->slot[i] = node->args[0];
      p->single[i] = uniform && uniform[node->args[0]];
      continue;
    }
    bool single = true;
    for (int k = 0; k < operands; k++) single = single && p->single[node->args[k]];
    p->single[i] = single;
    if (!single) continue;
    int32_t number = p->program->singles++;
    p->slot[i] = SINGLES + number;
    if (is_leaf((sim_expr_op)node->op)) {
      set_constant(p, number, node->value);
      continue;
    }
    instruction *in = &p->program->code[p->program->code_count++];
    *in = (instruction){(*p->table)[node->op][0], p->slot[i], {0}};
    for (int k = 0; k < operands; k++) in->operands[k] = p->slot[node->args[k]];
  }
  p->program->single_count = p->program->code_count;
}

static void plan_lanes(plan *p) {
  const sim_expr *expr = p->expr;
  for (int i = 0; i < expr->node_count; i++)
    for (int k = 0; k < sim_expr_rules[expr->nodes[i].op].operands; k++) p->last[expr->nodes[i].args[k]] = i;
  for (int i = 0; i < expr->node_count; i++) {
    const sim_expr_node *node = &expr->nodes[i];
    const int operands = sim_expr_rules[node->op].operands;
    if (p->single[i] || node->op == SIM_EXPR_INPUT) continue;
    if (p->slot[i] == NOWHERE)
      p->slot[i] = REGISTERS + (p->free_count ? p->free[--p->free_count] : p->program->registers++);
    int variant = 0;
    for (int k = 0; k < operands; k++) variant |= p->single[node->args[k]] << k;
    instruction *in = &p->program->code[p->program->code_count++];
    *in = (instruction){(*p->table)[node->op][variant], p->slot[i], {0}};
    for (int k = 0; k < operands; k++) {
      int32_t arg = node->args[k];
      in->operands[k] = p->slot[arg];
      bool again = (k > 0 && arg == node->args[0]) || (k > 1 && arg == node->args[1]);
      if (p->last[arg] == i && !again && p->slot[arg] >= REGISTERS && p->slot[arg] < SINGLES)
        p->free[p->free_count++] = p->slot[arg] - REGISTERS;
    }
    for (int k = operands; k < 3; k++) in->operands[k] = in->operands[0];
  }
}

static void settle(int32_t *slot, int32_t registers, int32_t singles) {
  if (*slot >= SINGLES)
    *slot += singles - SINGLES;
  else if (*slot >= REGISTERS)
    *slot += registers - REGISTERS;
}

static void plan_program(plan *p, const bool *uniform) {
  sim_expr_program *program = p->program;
  const sim_expr *expr = p->expr;
  for (int i = 0; i < expr->node_count; i++) p->slot[i] = p->last[i] = NOWHERE;
  plan_singles(p, uniform);
  /* a node's value is written directly to its first output and copied to further ones */
  for (int i = 0; i < expr->output_count; i++) {
    int32_t node = expr->output_nodes[i];
    if (p->slot[node] == NOWHERE) p->slot[node] = output_slot(p, i);
  }
  plan_lanes(p);
  for (int i = 0; i < expr->output_count; i++) {
    int32_t node = expr->output_nodes[i];
    if (p->slot[node] != output_slot(p, i)) emit_copy(p, p->slot[node], p->single[node], output_slot(p, i));
  }
  int32_t registers = program->inputs + program->outputs, singles = registers + program->registers;
  for (int i = 0; i < program->code_count; i++) {
    settle(&program->code[i].out, registers, singles);
    for (int k = 0; k < 3; k++) settle(&program->code[i].operands[k], registers, singles);
  }
}

sim_status sim_expr_program_create(const sim_expr *expr, const sim_expr_target *target, sim_expr_program **out) {
  *out = NULL;
  size_t nodes = (size_t)expr->node_count + 1;
  sim_expr_program *program = calloc(1, sizeof *program);
  plan p = {.expr = expr, .program = program};
  p.table = kernels[target->single ? 1 : 0][target->isa];
  if (!p.table) p.table = kernels[target->single ? 1 : 0][SIM_ISA_PLAIN];
  p.single = calloc(nodes, sizeof *p.single);
  p.slot = calloc(nodes, sizeof *p.slot);
  p.last = calloc(nodes, sizeof *p.last);
  p.free = calloc(nodes, sizeof *p.free);
  if (program) {
    program->size = target->single ? sizeof(float) : sizeof(double);
    program->inputs = expr->input_count;
    program->outputs = expr->output_count;
    program->uniform = calloc((size_t)expr->input_count + 1, sizeof *program->uniform);
    program->code = calloc(nodes + (size_t)expr->output_count, sizeof *program->code);
    program->constants = calloc(nodes, program->size);
  }
  bool complete =
      program && program->uniform && program->code && program->constants && p.single && p.slot && p.last && p.free;
  if (complete) {
    if (target->uniform && expr->input_count)
      memcpy(program->uniform, target->uniform, (size_t)expr->input_count * sizeof *program->uniform);
    plan_program(&p, target->uniform);
    size_t block = CACHE / program->size / (size_t)(program->registers ? program->registers : 1);
    block = block < BLOCK_LEAST ? BLOCK_LEAST : block > BLOCK_MOST ? BLOCK_MOST : block;
    if (target->block > 0) block = (size_t)target->block;
    program->block = (block + 15) & ~(size_t)15; /* a whole number of cache lines in both precisions */
  }
  free(p.single);
  free(p.slot);
  free(p.last);
  free(p.free);
  if (!complete) {
    sim_expr_program_free(&program);
    return sim_no_memory("a function of %d operations", expr->node_count);
  }
  *out = program;
  return SIM_OK;
}

void sim_expr_program_free(sim_expr_program **program) {
  if (*program) {
    free((*program)->uniform);
    free((*program)->code);
    free((*program)->constants);
    free(*program);
  }
  *program = NULL;
}

static size_t whole_lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }
static size_t slot_count(const sim_expr_program *p) {
  return (size_t)(p->inputs + p->outputs + p->registers + p->singles);
}

size_t sim_expr_program_bytes(const sim_expr_program *p) {
  return sizeof *p + (size_t)p->code_count * sizeof *p->code + (size_t)p->singles * p->size + (size_t)p->inputs;
}

size_t sim_expr_program_scratch(const sim_expr_program *p) {
  return (size_t)p->registers * p->block * p->size + whole_lines((size_t)p->singles * p->size) +
         whole_lines(slot_count(p) * sizeof(void *));
}

static void execute(const instruction *code, int count, size_t n, char *const *slots) {
  for (int i = 0; i < count; i++) {
    const instruction *in = &code[i];
    const void *const operands[3] = {slots[in->operands[0]], slots[in->operands[1]], slots[in->operands[2]]};
    in->kernel(n, slots[in->out], operands);
  }
}

void sim_expr_program_run(const sim_expr_program *p, size_t n, const void *const *inputs, void *const *outputs,
                          void *scratch) {
  char *registers = scratch, *singles = registers + (size_t)p->registers * p->block * p->size;
  char **slots = (char **)(void *)(singles + whole_lines((size_t)p->singles * p->size));
  int at = 0;
  for (int i = 0; i < p->inputs; i++) slots[at++] = (char *)(uintptr_t)inputs[i];
  for (int i = 0; i < p->outputs; i++) slots[at++] = outputs[i];
  for (int i = 0; i < p->registers; i++) slots[at++] = registers + (size_t)i * p->block * p->size;
  for (int i = 0; i < p->singles; i++) slots[at++] = singles + (size_t)i * p->size;
  if (p->singles) memcpy(singles, p->constants, (size_t)p->singles * p->size);
  if (!n) return;
  execute(p->code, p->single_count, 1, slots);
  for (size_t done = 0; done < n; done += p->block) {
    size_t count = n - done < p->block ? n - done : p->block;
    execute(p->code + p->single_count, p->code_count - p->single_count, count, slots);
    for (int i = 0; i < p->inputs; i++)
      if (!p->uniform[i] && slots[i]) slots[i] += p->block * p->size;
    for (int i = 0; i < p->outputs; i++) slots[p->inputs + i] += p->block * p->size;
  }
}
