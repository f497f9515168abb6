/* Reads and writes graphs as bytes, little-endian:
 *
 *   "SIMEXPR" 1 | numbers of inputs, outputs, nodes: u32 each | names: u8 length, letters | nodes: u8 op, then
 *   NUMBER: f64, TRUTH: u8, INPUT: u16, else for each operand the distance back to its node, LEB128 |
 *   outputs: u32 node each | FNV-1a checksum of all bytes before it: u64 */
#include "engine/expr/graph.h"

#include <string.h>

enum { HEADER = 20 };
static const char magic[8] = {'S', 'I', 'M', 'E', 'X', 'P', 'R', 1};

static uint64_t checksum(const unsigned char *data, size_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
  return hash;
}

static void put(sim_bytes *out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) {
    unsigned char byte = (unsigned char)(value >> (8 * i));
    sim_bytes_add(out, &byte, 1);
  }
}
static void put_name(sim_bytes *out, const char *name) {
  put(out, strlen(name), 1);
  sim_bytes_text(out, name);
}

sim_status sim_expr_write(const sim_expr *expr, sim_bytes *out) {
  size_t start = out->size;
  sim_bytes_add(out, magic, sizeof magic);
  put(out, (uint64_t)expr->input_count, 4);
  put(out, (uint64_t)expr->output_count, 4);
  put(out, (uint64_t)expr->node_count, 4);
  for (int i = 0; i < expr->input_count; i++) put_name(out, expr->inputs[i]);
  for (int i = 0; i < expr->output_count; i++) put_name(out, expr->outputs[i]);
  for (int i = 0; i < expr->node_count; i++) {
    const sim_expr_node *node = &expr->nodes[i];
    uint64_t bits;
    memcpy(&bits, &node->value, sizeof bits);
    put(out, node->op, 1);
    if (node->op == SIM_EXPR_NUMBER) put(out, bits, 8);
    if (node->op == SIM_EXPR_TRUTH) put(out, node->value != 0, 1);
    if (node->op == SIM_EXPR_INPUT) put(out, (uint64_t)node->args[0], 2);
    for (int k = 0; k < sim_expr_rules[node->op].operands; k++) {
      uint32_t back = (uint32_t)(i - node->args[k]);
      for (; back >= 0x80; back >>= 7) put(out, (back & 0x7f) | 0x80, 1);
      put(out, back, 1);
    }
  }
  for (int i = 0; i < expr->output_count; i++) put(out, (uint64_t)expr->output_nodes[i], 4);
  if (!out->failed) put(out, checksum((const unsigned char *)out->data + start, out->size - start), 8);
  return out->failed ? sim_no_memory("the text of a function") : SIM_OK;
}

typedef struct reader {
  const unsigned char *at, *end;
  bool bad; /* read beyond the end, or found an invalid value */
} reader;

static uint64_t get(reader *r, int bytes) {
  if (r->end - r->at < bytes) r->bad = true;
  if (r->bad) return 0;
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= (uint64_t)r->at[i] << (8 * i);
  r->at += bytes;
  return value;
}
static int get_count(reader *r, int most) {
  uint64_t value = get(r, 4);
  if (value > (uint64_t)most) r->bad = true;
  return r->bad ? 0 : (int)value;
}
static void get_name(reader *r, sim_expr_name name) {
  size_t length = get(r, 1);
  if (length > SIM_EXPR_NAME_MAX || (size_t)(r->end - r->at) < length) r->bad = true;
  if (r->bad) return;
  memcpy(name, r->at, length);
  name[length] = '\0';
  r->at += length;
  if (strlen(name) != length || !sim_expr_name_valid(name)) r->bad = true;
}
static int get_back(reader *r) {
  uint32_t value = 0;
  for (int shift = 0; shift < 28; shift += 7) {
    uint32_t byte = (uint32_t)get(r, 1);
    value |= (byte & 0x7f) << shift;
    if (!(byte & 0x80)) return (int)value;
  }
  r->bad = true;
  return 0;
}

static void get_node(reader *r, const sim_expr *expr, int i) {
  sim_expr_node *node = &expr->nodes[i];
  uint64_t op = get(r, 1);
  if (op >= SIM_EXPR_OP_COUNT) r->bad = true;
  if (r->bad) return;
  node->op = (uint8_t)op;
  if (op == SIM_EXPR_NUMBER) {
    uint64_t bits = get(r, 8);
    memcpy(&node->value, &bits, sizeof bits);
  } else if (op == SIM_EXPR_TRUTH) {
    uint64_t truth = get(r, 1);
    node->value = truth != 0;
    if (truth > 1) r->bad = true;
  } else if (op == SIM_EXPR_INPUT) {
    node->args[0] = (int32_t)get(r, 2);
    if (node->args[0] >= expr->input_count) r->bad = true;
    for (int k = 0; k < i; k++) /* each input may occur only once */
      if (expr->nodes[k].op == SIM_EXPR_INPUT && expr->nodes[k].args[0] == node->args[0]) r->bad = true;
  }
  for (int k = 0; k < sim_expr_rules[op].operands && !r->bad; k++) {
    int back = get_back(r);
    if (back < 1 || back > i) {
      r->bad = true;
      return;
    }
    node->args[k] = i - back;
    if (sim_expr_rules[expr->nodes[i - back].op].gives != sim_expr_operand_type((sim_expr_op)op, k)) r->bad = true;
  }
}

sim_status sim_expr_read(const void *data, size_t size, sim_expr **out) {
  *out = NULL;
  const unsigned char *bytes = data;
  if (size < HEADER + 8 || memcmp(bytes, magic, 7) != 0)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "a stored function is damaged: it does not begin as one");
  if (bytes[7] != (unsigned char)magic[7])
    return sim_fail(SIM_ERR_INCOMPATIBLE, "a stored function is of version %d: this program reads version %d", bytes[7],
                    magic[7]);
  reader tail = {bytes + size - 8, bytes + size, false};
  if (get(&tail, 8) != checksum(bytes, size - 8))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "a stored function is damaged: its checksum is wrong");
  reader r = {bytes + sizeof magic, bytes + size - 8, false};
  int inputs = get_count(&r, SIM_EXPR_INPUTS_MAX), outputs = get_count(&r, SIM_EXPR_OUTPUTS_MAX);
  int nodes = get_count(&r, SIM_EXPR_NODES_MAX);
  sim_expr *expr = NULL;
  if (!r.bad) SIM_TRY(sim_expr_allocate(inputs, outputs, nodes, &expr));
  for (int i = 0; i < inputs && !r.bad; i++) {
    get_name(&r, expr->inputs[i]);
    if (!r.bad && sim_expr_input_find(expr, expr->inputs[i]) < i) r.bad = true;
  }
  for (int i = 0; i < outputs && !r.bad; i++) get_name(&r, expr->outputs[i]);
  for (int i = 0; i < nodes && !r.bad; i++) get_node(&r, expr, i);
  for (int i = 0; i < outputs && !r.bad; i++) {
    uint64_t node = get(&r, 4);
    if (node >= (uint64_t)nodes) r.bad = true;
    if (!r.bad) expr->output_nodes[i] = (int32_t)node;
  }
  if (r.bad || r.at != r.end) {
    sim_expr_free(&expr);
    return sim_fail(SIM_ERR_INCOMPATIBLE, "a stored function is damaged: its contents contradict each other");
  }
  *out = expr;
  return SIM_OK;
}
