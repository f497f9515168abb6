/* Checks of symbols that Lua does not report. Lua calls no metamethod for a symbol in `if`, `and`, `or`, `not`, in a
 * comparison with a number by ==, or as a key of a table. So the text of functions is loaded with marks, which check
 * each value in such a position:
 *
 *   if MARK|a and b == 1 then     instead of   if a and b == 1 then
 *
 * MARK is a string, so that Lua calls the string's metamethod, which returns its second operand or refuses it. `|`
 * binds tighter than comparisons, and ^ tighter than `not`: a mark needs no parentheses, and no one has to find the end
 * of the operand. Line numbers do not change. */
#include "lua/internal.h"

#include <lauxlib.h>

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 512 /* DEPTH_MAX: Lua's own limit is 200 */, MARK_SIZE = 5 };

/* Kind of check of the value after a mark. */
typedef enum question {
  IS_TRUE = 't', /* a value tested by if, while, until, and, or, not */
  IS_CHOICE = 'c' /* b in `a and b or c`: must be true, as Lua's idiom requires; any number is */,
  IS_EQUAL = 'e',
  IS_THERE = 'n' /* a value compared with nil. A symbol is never nil, so its name must be that of an input */,
  IS_KEY = 'k' /* a value between the brackets of t[i] and { [i] = v } */
} question;

typedef struct mark {
  const char *at; /* where the mark is inserted */
  char kind, operator;
} mark;

/* An expression that is being read, one for each open bracket or block. */
typedef struct level {
  const char *operand; /* start of the current operand of a comparison, `and` or `or`; NULL: none yet */
  bool marked;         /* the operand has a mark */
  bool compared;       /* there was a comparison since the last `and` or `or`, whose operand then is a boolean */
  bool after_and;      /* the last of these two was `and` */
  bool choice;         /* the operand is `(a and b)` */
  const char *opened;  /* the bracket that opened this level; NULL: none */
  bool key;            /* the bracket encloses a key */
  bool tested, until;  /* tested: after `if` or `while`; until: after `until` */
  bool function;       /* inside a function */
} level;

typedef struct reader {
  mark *marks;
  size_t count, capacity;
  level levels[DEPTH_MAX];
  int depth;
  bool failed;
} reader;

static void add(reader *self, level *at, const char *where, char kind, char operator) {
  if (!at->function || !where) return;
  if (self->count == self->capacity) {
    size_t wanted = self->capacity ? 2 * self->capacity : 256;
    mark *grown = realloc(self->marks, wanted * sizeof *grown);
    if (!grown) {
      self->failed = true;
      return;
    }
    self->marks = grown;
    self->capacity = wanted;
  }
  self->marks[self->count++] = (mark){where, kind, operator};
}

static void add_operand(reader *self, level *at, char kind) {
  if (!at->marked) add(self, at, at->operand, kind, '|');
  at->marked = true;
}

static void begin_operand(level *at) {
  at->operand = NULL;
  at->marked = at->choice = false;
}

static void begin_expression(level *at) {
  begin_operand(at);
  at->compared = at->after_and = at->tested = at->until = false;
}

/* Marks the expression read so far, which is tested for truth. */
static void test(reader *self, level *at, char kind) {
  if (!at->compared) add_operand(self, at, kind);
}

static bool is(scenario_token token, const char *text) {
  bool plain = token.kind == SCENARIO_TOKEN_NAME || token.kind == SCENARIO_TOKEN_SIGN;
  return plain && token.size == strlen(text) && memcmp(token.text, text, token.size) == 0;
}

static bool is_any(scenario_token token, const char *const *texts) {
  for (; *texts; texts++)
    if (is(token, *texts)) return true;
  return false;
}

static level *open_level(reader *self, const char *opened, bool function) {
  level new = {.opened = opened, .function = function || self->levels[self->depth].function};
  if (self->depth + 1 < DEPTH_MAX)
    self->depth++;
  else
    self->failed = true;
  self->levels[self->depth] = new;
  return &self->levels[self->depth];
}

static level *close_level(reader *self) {
  const level *inner = &self->levels[self->depth];
  if (self->depth > 0) self->depth--;
  level *outer = &self->levels[self->depth];
  outer->choice |= inner->after_and && inner->opened && inner->opened == outer->operand;
  return outer;
}

/* Whether an expression can end with the token `last`, before the token `next`. */
static bool ends_before(scenario_token last, scenario_token next) {
  static const char *const open[] = {"and", "or", "not", "until", NULL}, *const joins[] = {"and", "or", NULL};
  bool complete =
      last.kind == SCENARIO_TOKEN_SIGN ? strchr(")]}", *last.text) != NULL || is(last, "...") : !is_any(last, open);
  bool label = is(next, ":") && next.text[1] == ':';
  return complete && (next.kind == SCENARIO_TOKEN_END || is(next, ";") || label ||
                      (next.kind == SCENARIO_TOKEN_NAME && !is_any(next, joins)));
}

/* Marks both operands of == or ~=. `nil` is not a number: a comparison with it is allowed. */
static void compare(reader *self, level *at, scenario_token last, scenario_token next) {
  const char kind = is(last, "nil") || is(next, "nil") ? IS_THERE : IS_EQUAL;
  add_operand(self, at, kind);
  begin_operand(at);
  at->compared = true;
  at->operand = next.start;
  add_operand(self, at, kind);
}

static void take_word(reader *self, scenario_token token, scenario_token next) {
  static const char *const begins[] = {"return", "in", "local", "else", "goto", "break", NULL};
  level *at = &self->levels[self->depth];
  if (is(token, "not")) {
    add(self, at, next.start, IS_TRUE, '^');
  } else if (is(token, "and") || is(token, "or")) {
    bool choice = is(token, "or") && !at->key && (at->after_and || at->choice);
    test(self, at, choice ? IS_CHOICE : IS_TRUE);
    begin_operand(at);
    at->compared = false;
    at->after_and = is(token, "and");
  } else if (is(token, "if") || is(token, "elseif") || is(token, "while")) {
    if (is(token, "if")) at = open_level(self, NULL, false);
    begin_expression(at);
    at->tested = true;
  } else if (is(token, "then") || is(token, "do")) {
    if (at->tested) test(self, at, IS_TRUE);
    begin_expression(at);
    if (is(token, "do")) open_level(self, NULL, false);
  } else if (is(token, "function") || is(token, "repeat")) {
    open_level(self, NULL, is(token, "function"));
  } else if (is(token, "end") || is(token, "until")) {
    at = close_level(self);
    if (is(token, "end")) return;
    begin_expression(at);
    at->until = true;
  } else if (is_any(token, begins)) {
    begin_expression(at);
  }
}

/* Reads one token; `before` and `next` are its neighbours. */
static void take(reader *self, scenario_token before, scenario_token token, scenario_token next) {
  level *at = &self->levels[self->depth];
  if (at->until && ends_before(before, token)) {
    test(self, at, IS_TRUE);
    begin_expression(at);
  }
  if (!at->operand && token.kind != SCENARIO_TOKEN_END) at->operand = token.start;
  if (token.kind == SCENARIO_TOKEN_NAME) {
    take_word(self, token, next);
  } else if (is(token, "(") || is(token, "[") || is(token, "{")) {
    open_level(self, token.text, false)->key = is(token, "[");
  } else if (is(token, ")") || is(token, "]") || is(token, "}")) {
    bool literal =
        before.start == at->operand && (before.kind == SCENARIO_TOKEN_STRING || before.kind == SCENARIO_TOKEN_NUMBER);
    if (at->key && !literal) test(self, at, IS_KEY);
    close_level(self);
  } else if (is(token, "==") || is(token, "~=")) {
    compare(self, at, before, next);
  } else if (is(token, "=") || is(token, ",") || is(token, ";")) {
    begin_expression(at);
  } else if (is(token, "<=") || is(token, ">=") || is(token, "<") || is(token, ">")) {
    const char sign = *token.text; /* twice in a row: a shift */
    bool shift = token.size == 1 &&
                 (token.text[1] == sign || (is(before, sign == '<' ? "<" : ">") && before.text + 1 == token.text));
    if (shift) return;
    begin_operand(at); /* metamethods refuse symbols here */
    at->compared = true;
  }
}

static int compare_marks(const void *left, const void *right) {
  const mark *a = left, *b = right;
  return (a->at > b->at) - (a->at < b->at);
}

static char *join(const reader *self, const char *text, size_t size, size_t *out_size) {
  char *out = malloc(size + self->count * MARK_SIZE + 1), *to = out;
  const char *from = text;
  if (!out) return NULL;
  for (size_t i = 0; i <= self->count; i++) {
    const mark *next = i < self->count ? &self->marks[i] : NULL;
    const char *end = next ? next->at : text + size;
    memcpy(to, from, (size_t)(end - from));
    to += end - from;
    from = end;
    if (!next) break;
    const char mark_text[MARK_SIZE] = {'"', SCENARIO_AT_FILE[0], next->kind, '"', next->operator};
    memcpy(to, mark_text, MARK_SIZE);
    to += MARK_SIZE;
  }
  *out_size = (size_t)(to - out);
  return out;
}

bool scenario_guard_text(const char *text, size_t size, char **out, size_t *out_size) {
  *out = NULL;
  reader *self = calloc(1, sizeof *self);
  if (!self) return false;
  scenario_lexer lexer = {text, text + size, 1};
  scenario_token before = {.kind = SCENARIO_TOKEN_END}, token = scenario_lexer_next(&lexer);
  while (before.kind != SCENARIO_TOKEN_END || !before.text) {
    scenario_token next = scenario_lexer_next(&lexer);
    take(self, before, token, next);
    before = token;
    token = next;
  }
  if (!self->failed && self->count > 0) {
    qsort(self->marks, self->count, sizeof *self->marks, compare_marks);
    *out = join(self, text, size, out_size);
    self->failed = !*out;
  }
  bool good = !self->failed;
  free(self->marks);
  free(self);
  return good;
}

static int guard(lua_State *L) {
  size_t size;
  const char *text = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &size) : NULL;
  if (!text || size != 2 || text[0] != SCENARIO_AT_FILE[0])
    return luaL_error(L, "attempt to perform %s on a string value", lua_tostring(L, lua_upvalueindex(1)));
  lua_settop(L, 2);
  switch (text[1]) {
  case IS_EQUAL: return scenario_symbol_refuse_equal(L, 2);
  case IS_THERE: return scenario_symbol_ask(L, 2);
  case IS_KEY: return scenario_symbol_refuse_key(L, 2);
  }
  return scenario_symbol_refuse_truth(L, 2, text[1] == IS_CHOICE);
}

void scenario_guards_set(lua_State *L) {
  lua_pushliteral(L, "bitwise operation");
  lua_pushcclosure(L, guard, 1);
  lua_setfield(L, -2, "__bor");
  lua_pushliteral(L, "arithmetic");
  lua_pushcclosure(L, guard, 1);
  lua_setfield(L, -2, "__pow");
}
