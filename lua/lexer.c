/* Tokens of a Lua text with their lines. Unknown text becomes tokens of one character. */
#include "lua/internal.h"

#include <ctype.h>
#include <string.h>

bool scenario_is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Advances one character; \r\n and \n\r count as one end of a line, as in Lua. */
static void step(scenario_lexer *lexer) {
  char c = *lexer->at++;
  if (c != '\n' && c != '\r') return;
  lexer->line++;
  if (lexer->at < lexer->end && (*lexer->at == '\n' || *lexer->at == '\r') && *lexer->at != c) lexer->at++;
}

/* Level of a long bracket "[==[" that starts here; -1: there is none. */
static int long_level(const scenario_lexer *lexer) {
  const char *p = lexer->at;
  if (p == lexer->end || *p != '[') return -1;
  int level = 0;
  for (p++; p < lexer->end && *p == '='; p++) level++;
  return p < lexer->end && *p == '[' ? level : -1;
}

/* Skips past the closing long bracket; sets text and size of the token to the content. */
static void skip_long(scenario_lexer *lexer, int level, scenario_token *token) {
  lexer->at += level + 2;
  token->text = lexer->at;
  while (lexer->at < lexer->end) {
    if (*lexer->at == ']' && lexer->end - lexer->at >= level + 2 && lexer->at[level + 1] == ']') {
      int same = 0;
      while (same < level && lexer->at[1 + same] == '=') same++;
      if (same == level) {
        token->size = (size_t)(lexer->at - token->text);
        lexer->at += level + 2;
        return;
      }
    }
    step(lexer);
  }
  token->size = (size_t)(lexer->at - token->text);
}

static void skip_space(scenario_lexer *lexer) {
  while (lexer->at < lexer->end) {
    if (isspace((unsigned char)*lexer->at))
      step(lexer);
    else if (lexer->end - lexer->at >= 2 && lexer->at[0] == '-' && lexer->at[1] == '-') {
      lexer->at += 2;
      int level = long_level(lexer);
      scenario_token comment;
      if (level >= 0)
        skip_long(lexer, level, &comment);
      else
        while (lexer->at < lexer->end && *lexer->at != '\n' && *lexer->at != '\r') lexer->at++;
    } else
      return;
  }
}

static void read_quoted(scenario_lexer *lexer, scenario_token *token) {
  char quote = *lexer->at++;
  token->text = lexer->at;
  while (lexer->at < lexer->end && *lexer->at != quote) {
    if (*lexer->at == '\\' && lexer->at + 1 < lexer->end) lexer->at++;
    step(lexer);
  }
  token->size = (size_t)(lexer->at - token->text);
  if (lexer->at < lexer->end) lexer->at++;
}

static void read_number(scenario_lexer *lexer) {
  while (lexer->at < lexer->end && (scenario_is_name(*lexer->at) || *lexer->at == '.')) {
    char c = *lexer->at++;
    bool exponent = strchr("eEpP", c) != NULL;
    if (exponent && lexer->at < lexer->end && (*lexer->at == '-' || *lexer->at == '+')) lexer->at++;
  }
}

scenario_token scenario_lexer_next(scenario_lexer *lexer) {
  skip_space(lexer);
  scenario_token token = {SCENARIO_TOKEN_END, lexer->at, lexer->at, 0, lexer->line};
  if (lexer->at >= lexer->end) return token;
  char c = *lexer->at, after = lexer->at + 1 < lexer->end ? lexer->at[1] : 0;
  int level = long_level(lexer);
  if (level >= 0) {
    token.kind = SCENARIO_TOKEN_STRING;
    skip_long(lexer, level, &token);
    return token;
  }
  if (c == '"' || c == '\'') {
    token.kind = SCENARIO_TOKEN_STRING;
    read_quoted(lexer, &token);
    return token;
  }
  if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)after))) {
    token.kind = SCENARIO_TOKEN_NUMBER;
    read_number(lexer);
  } else if (scenario_is_name(c)) {
    token.kind = SCENARIO_TOKEN_NAME;
    while (lexer->at < lexer->end && scenario_is_name(*lexer->at)) lexer->at++;
  } else {
    token.kind = SCENARIO_TOKEN_SIGN;
    lexer->at += strchr("=<>~", c) && after == '=' ? 2 : 1;
    if (c == '.') /* ".." and "..." */
      while (lexer->at < lexer->end && lexer->at < token.text + 3 && *lexer->at == '.') lexer->at++;
  }
  token.size = (size_t)(lexer->at - token.text);
  return token;
}
