/* The data structure of a graph. */
#ifndef SIM_EXPR_GRAPH_H
#define SIM_EXPR_GRAPH_H

#include "engine/expr/expr.h"

typedef struct sim_expr_node {
  uint8_t op;      /* sim_expr_op */
  int32_t args[3]; /* indices of earlier nodes; for an INPUT its number; 0: unused */
  double value;    /* for NUMBER and TRUTH */
} sim_expr_node;

typedef char sim_expr_name[SIM_EXPR_NAME_MAX + 1];

struct sim_expr {
  int input_count, output_count, node_count;
  sim_expr_name *inputs, *outputs;
  sim_expr_node *nodes;  /* operands precede their users; no two are equal */
  int32_t *output_nodes; /* [output_count] */
};

/* An operation's entry in the table of operations. */
typedef struct sim_expr_rule {
  const char *name;
  int operands;
  sim_expr_type takes, gives; /* types of its operands and result; the first operand of WHERE is a condition */
} sim_expr_rule;
extern const sim_expr_rule sim_expr_rules[SIM_EXPR_OP_COUNT];
sim_expr_type sim_expr_operand_type(sim_expr_op op, int operand);

/* Allocates an empty graph with these numbers of inputs, outputs and nodes. SIM_ERR_NO_MEMORY. */
sim_status sim_expr_allocate(int inputs, int outputs, int nodes, sim_expr **out);
/* Like sim_expr_builder_insert, but returns the values of all nodes: refs[node count]. */
sim_status sim_expr_builder_insert_all(sim_expr_builder *builder, const sim_expr *expr, const sim_expr_ref *inputs,
                                       sim_expr_ref *refs);
/* Whether the value is a WHERE; returns its operands. */
bool sim_expr_builder_where(const sim_expr_builder *builder, sim_expr_ref ref, sim_expr_ref *condition,
                            sim_expr_ref *first, sim_expr_ref *second);
bool sim_expr_name_valid(const char *name);

#endif
