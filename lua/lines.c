/* Line numbers for a tree from Lua, whose tables do not record them. The text is read again to find its table
 * constructors, and tree and constructors are matched as well as possible. Tables that code has built get the line of
 * the key that mentions them. */
#include "lua/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
  DEPTH_MAX = 250,
  ITEMS_MAX = 1 << 18 /* of each kind, about 40 MiB in all; the rest of a longer text gets no line numbers */
};

typedef struct slice {
  const char *text; /* part of the scenario's text, borrowed; NULL: none */
  size_t size;
} slice;

/* Start of an expression: a constructor, or only a name. */
typedef struct head {
  int node; /* index of the constructor; -1: none */
  slice name;
} head;

typedef struct item {
  enum { POSITIONAL, NAMED, COMPUTED } kind;
  slice key;
  int line, next; /* next: the next item of the same constructor; -1 at the end */
  head value;
} item;

typedef struct node {
  slice tag; /* name of the function to which it is passed */
  int line, first, last;
  size_t names, name_count; /* its named items are `sorted` from index `names` on */
} node;

typedef struct binding {
  slice name;
  head value;
} binding;

struct scenario_lines {
  scenario_lexer lexer;
  int depth, return_line;
  bool failed;
  item *items;
  node *nodes;
  int *sorted; /* indices of named items: constructor by constructor, in the order of their keys */
  binding *bindings;
  size_t item_count, item_capacity, node_count, node_capacity, sorted_count, sorted_capacity, binding_count,
      binding_capacity;
  head root;
  scenario_duplicate duplicate;
};

static const head no_head = {-1, {NULL, 0}};

/* Makes room for one more item. False: out of memory or too many items, and reading stops. */
static bool grow(scenario_lines *lines, void *array, size_t count, size_t *capacity, size_t size) {
  void **data = array;
  if (count < *capacity) return true;
  size_t wanted = *capacity ? 2 * *capacity : 64;
  void *grown = count < ITEMS_MAX ? realloc(*data, wanted * size) : NULL;
  if (!grown) {
    lines->failed |= count < ITEMS_MAX;
    lines->lexer.at = lines->lexer.end;
    return false;
  }
  *data = grown;
  *capacity = wanted;
  return true;
}
#define GROW(lines, array, one)                                                                                        \
  grow(lines, &(lines)->array, (lines)->one##_count, &(lines)->one##_capacity, sizeof *(lines)->array)

static int compare_slices(slice a, slice b) { return scenario_compare_text(a.text, a.size, b.text, b.size); }

static bool is_sign(scenario_token token, char sign) {
  return token.kind == SCENARIO_TOKEN_SIGN && token.size == 1 && *token.text == sign;
}

static bool is_word(scenario_token token, const char *word) {
  return token.kind == SCENARIO_TOKEN_NAME && token.size == strlen(word) && memcmp(token.text, word, token.size) == 0;
}

static bool is_any(scenario_token token, const char *const *words) {
  for (; *words; words++)
    if (is_word(token, *words)) return true;
  return false;
}

static scenario_token next(scenario_lines *lines) { return scenario_lexer_next(&lines->lexer); }

/* Consumes the next token if it is this sign; returns whether it was. */
static bool take(scenario_lines *lines, char sign) {
  scenario_lexer before = lines->lexer;
  if (is_sign(next(lines), sign)) return true;
  lines->lexer = before;
  return false;
}

static int read_table(scenario_lines *lines, slice tag, int line);

static void close_parenthesis(scenario_lines *lines) {
  for (int open = 1; open > 0;) {
    scenario_token token = next(lines);
    if (token.kind == SCENARIO_TOKEN_END) return;
    open += is_sign(token, '(') - is_sign(token, ')');
  }
}

/* Reads the start of an expression: a constructor, or a name. */
static head read_head(scenario_lines *lines) {
  static const char *const keywords[] = {"function", "not", "nil", "true", "false", NULL};
  head value = no_head;
  scenario_lexer start = lines->lexer;
  scenario_token first = next(lines), last = first;
  if (is_sign(first, '{')) {
    value.node = read_table(lines, (slice){NULL, 0}, first.line);
    return value;
  }
  if (first.kind != SCENARIO_TOKEN_NAME || is_any(first, keywords)) {
    lines->lexer = start;
    return value;
  }
  while (take(lines, '.')) last = next(lines);
  slice tag = {last.text, last.size};
  scenario_lexer before = lines->lexer;
  bool parenthesis = take(lines, '(');
  if (take(lines, '{')) {
    value.node = read_table(lines, tag, first.line);
    if (parenthesis) close_parenthesis(lines);
  } else if (parenthesis) {
    scenario_token argument = next(lines);
    if (argument.kind == SCENARIO_TOKEN_NAME && take(lines, ')'))
      value.name = (slice){argument.text, argument.size};
    else
      lines->lexer = before;
  } else if (last.text == first.text) {
    value.name = tag;
  }
  return value;
}

static void add_binding(scenario_lines *lines, scenario_token name) {
  head value = read_head(lines);
  if (!GROW(lines, bindings, binding)) return;
  lines->bindings[lines->binding_count++] = (binding){{name.text, name.size}, value};
}

/* Reads "local name <attribute> =" and the start of the value, if there is one. */
static void read_local(scenario_lines *lines) {
  scenario_lexer before = lines->lexer;
  scenario_token name = next(lines);
  if (take(lines, '<')) {
    next(lines);
    take(lines, '>');
  }
  if (name.kind == SCENARIO_TOKEN_NAME && take(lines, '='))
    add_binding(lines, name);
  else
    lines->lexer = before;
}

/* Reads statements up to the end; in a constructor, the rest of an expression up to the separator. */
static void walk(scenario_lines *lines, bool in_table) {
  static const char *const opening[] = {"function", "do", "if", "repeat", NULL};
  static const char *const closing[] = {"end", "until", NULL};
  int parentheses = 0, blocks = 0;
  scenario_token before = {.kind = SCENARIO_TOKEN_END};
  for (;;) {
    scenario_lexer start = lines->lexer;
    scenario_token token = next(lines);
    if (token.kind == SCENARIO_TOKEN_END) return;
    bool outermost = parentheses == 0 && blocks == 0;
    if (in_table && outermost && (is_sign(token, ',') || is_sign(token, ';') || is_sign(token, '}'))) {
      lines->lexer = start;
      return;
    }
    if (is_sign(token, '(') || is_sign(token, '['))
      parentheses++;
    else if (is_sign(token, ')') || is_sign(token, ']'))
      parentheses--;
    else if (is_sign(token, '{'))
      read_table(lines, (slice){NULL, 0}, token.line);
    else if (is_any(token, opening))
      blocks++;
    else if (is_any(token, closing))
      blocks--;
    else if (is_word(token, "local"))
      read_local(lines);
    else if (is_word(token, "return") && outermost && !in_table) {
      lines->return_line = token.line;
      lines->root = read_head(lines);
    } else if (token.kind == SCENARIO_TOKEN_NAME && !is_sign(before, '.') && !is_sign(before, ',') && take(lines, '='))
      add_binding(lines, token);
    before = token;
  }
}

static bool read_key(scenario_lines *lines, item *out) {
  scenario_lexer start = lines->lexer;
  scenario_token token = next(lines);
  out->line = token.line;
  if (token.kind == SCENARIO_TOKEN_NAME && take(lines, '=')) {
    out->kind = NAMED;
    out->key = (slice){token.text, token.size};
    return true;
  }
  if (is_sign(token, '[')) {
    scenario_token key = next(lines);
    bool plain = key.kind == SCENARIO_TOKEN_STRING && !memchr(key.text, '\\', key.size);
    if (plain && take(lines, ']') && take(lines, '=')) {
      out->kind = NAMED;
      out->key = (slice){key.text, key.size};
      return true;
    }
    out->kind = COMPUTED;
  }
  lines->lexer = start;
  return out->kind == POSITIONAL;
}

static int compare_items(const void *left, const void *right, void *items) {
  const int a = *(const int *)left, b = *(const int *)right;
  const item *all = items;
  int order = compare_slices(all[a].key, all[b].key);
  return order ? order : (a > b) - (a < b);
}

/* Sorts the names of a constructor that is complete, and finds duplicates. */
static void close_node(scenario_lines *lines, int index) {
  size_t first = lines->sorted_count;
  for (int i = lines->nodes[index].first; i >= 0; i = lines->items[i].next) {
    if (lines->items[i].kind != NAMED) continue;
    if (!GROW(lines, sorted, sorted)) return;
    lines->sorted[lines->sorted_count++] = i;
  }
  size_t count = lines->sorted_count - first;
  lines->nodes[index].names = first;
  lines->nodes[index].name_count = count;
  if (count < 2) return;
  qsort_r(lines->sorted + first, count, sizeof *lines->sorted, compare_items, lines->items);
  for (size_t k = first + 1; k < first + count; k++) {
    const item *one = &lines->items[lines->sorted[k - 1]], *two = &lines->items[lines->sorted[k]];
    if (compare_slices(one->key, two->key) != 0) continue;
    if (lines->duplicate.key && lines->duplicate.line <= two->line) continue;
    lines->duplicate = (scenario_duplicate){two->key.text, two->key.size, two->line, one->line};
  }
}

/* Reads a constructor after its "{"; returns its index, or -1. */
static int read_table(scenario_lines *lines, slice tag, int line) {
  if (lines->depth == DEPTH_MAX || !GROW(lines, nodes, node)) {
    lines->lexer.at = lines->lexer.end;
    return -1;
  }
  lines->depth++;
  int index = (int)lines->node_count++;
  lines->nodes[index] = (node){.tag = tag, .line = line, .first = -1, .last = -1};
  while (!take(lines, '}')) {
    if (take(lines, ',') || take(lines, ';')) continue;
    scenario_lexer start = lines->lexer;
    if (next(lines).kind == SCENARIO_TOKEN_END) break;
    lines->lexer = start;
    item found = {.kind = POSITIONAL, .next = -1, .value = no_head};
    if (read_key(lines, &found)) found.value = read_head(lines);
    walk(lines, true);
    if (!GROW(lines, items, item)) break;
    int at = (int)lines->item_count++;
    lines->items[at] = found;
    node *self = &lines->nodes[index];
    if (self->last >= 0)
      lines->items[self->last].next = at;
    else
      self->first = at;
    self->last = at;
  }
  close_node(lines, index);
  lines->depth--;
  return index;
}

static int compare_bindings(const void *left, const void *right) {
  return compare_slices(((const binding *)left)->name, ((const binding *)right)->name);
}

scenario_lines *scenario_lines_read(const char *text, size_t size) {
  scenario_lines *lines = calloc(1, sizeof *lines);
  if (!lines) return NULL;
  size_t skip = scenario_bom(text, size);
  lines->lexer = (scenario_lexer){text + skip, text + size, 1};
  lines->root = no_head;
  walk(lines, false);
  if (lines->failed)
    scenario_lines_free(&lines);
  else if (lines->binding_count > 0)
    qsort(lines->bindings, lines->binding_count, sizeof *lines->bindings, compare_bindings);
  return lines;
}

void scenario_lines_free(scenario_lines **lines) {
  if (!*lines) return;
  free((*lines)->items);
  free((*lines)->nodes);
  free((*lines)->sorted);
  free((*lines)->bindings);
  free(*lines);
  *lines = NULL;
}

int scenario_lines_return(const scenario_lines *lines) { return lines->return_line; }

scenario_duplicate scenario_lines_duplicate(const scenario_lines *lines) { return lines->duplicate; }

/* Returns the constructor of an expression; -1: none. A name is resolved if it is assigned only once. */
static int resolve(const scenario_lines *lines, head value) {
  for (int hops = 0; hops < 8 && value.node < 0 && value.name.text && lines->binding_count > 0; hops++) {
    binding wanted = {.name = value.name};
    const binding *found =
        bsearch(&wanted, lines->bindings, lines->binding_count, sizeof *lines->bindings, compare_bindings);
    if (!found) return -1;
    const binding *end = lines->bindings + lines->binding_count;
    if (found > lines->bindings && compare_bindings(found - 1, found) == 0) return -1;
    if (found + 1 < end && compare_bindings(found + 1, found) == 0) return -1;
    value = found->value;
  }
  return value.node;
}

static const item *find_name(const scenario_lines *lines, const node *self, const char *name) {
  slice wanted = {name, strlen(name)};
  size_t low = self->names, high = low + self->name_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const item *at = &lines->items[lines->sorted[middle]];
    int order = compare_slices(at->key, wanted);
    if (order == 0) return at;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

static int compare_entries(const void *left, const void *right) {
  const sim_entry *a = left, *b = right;
  return a->line != b->line ? (a->line > b->line) - (a->line < b->line) : strcmp(a->key, b->key);
}

/* Sets the line of a value and the values in it; `line`: line of the key that mentions the value. */
static void apply(const scenario_lines *lines, sim_value *value, int index, int line) {
  const node *self = index >= 0 ? &lines->nodes[index] : NULL;
  const char *tag = value->kind == SIM_VALUE_TABLE ? value->u.table.tag : NULL;
  bool other = self && self->tag.text && (!tag || compare_slices(self->tag, (slice){tag, strlen(tag)}) != 0);
  if (other && value->kind != SIM_VALUE_BAD) self = NULL;
  if (value->kind != SIM_VALUE_FUNCTION || value->line == 0) value->line = self ? self->line : line;
  if (value->kind != SIM_VALUE_TABLE) return;
  int position = self ? self->first : -1;
  size_t list = 0, count = value->u.table.count;
  for (size_t i = 0; i < count; i++) {
    sim_entry *entry = &value->u.table.entries[i];
    const item *found = NULL;
    if (!entry->key) {
      list++;
      while (position >= 0 && lines->items[position].kind != POSITIONAL) position = lines->items[position].next;
      if (position >= 0) {
        found = &lines->items[position];
        position = found->next;
      }
    } else if (self)
      found = find_name(lines, self, entry->key);
    entry->line = found ? found->line : value->line;
    apply(lines, entry->value, found ? resolve(lines, found->value) : -1, entry->line);
  }
  if (count - list > 1) qsort(value->u.table.entries + list, count - list, sizeof(sim_entry), compare_entries);
}

void scenario_lines_apply(const scenario_lines *lines, sim_value *root) {
  apply(lines, root, resolve(lines, lines->root), lines->return_line);
}
