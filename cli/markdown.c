/* The reference as Markdown, from the tables of `sim describe` and --help. */
#include "cli/option_table.h"
#include "cli/show.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_MAX_BYTES = 256 };

/* Prints text in a cell of a table, on one line. Words between backquotes are code; other characters that Markdown or
 * HTML would interpret are escaped. Readers disagree on a backslash before `<`. */
static void cell(const char *text) {
  int quotes = 0;
  bool in_code = false;
  for (const char *at = text; *at; at++) quotes += *at == '`';
  for (; *text; text++) {
    if (*text == '`' && quotes % 2 == 0)
      in_code = !in_code;
    else if (*text == '<' && !in_code) {
      printf("&lt;");
      continue;
    } else if (strchr(in_code ? "|" : "|*[]`\\_", *text))
      putchar('\\');
    putchar(*text == '\n' ? ' ' : *text);
  }
}

/* Prints code in a cell. A bar would end the cell even inside code, and readers disagree on how to show a backslash
 * before it. */
static void code(const char *text, const char *more) {
  if (!strchr(text, '|') && !strchr(more, '|')) {
    printf("`%s%s`", text, more);
    return;
  }
  printf("<code>");
  for (const char *part = text; part; part = part == text ? more : NULL)
    for (const char *at = part; *at; at++)
      if (strchr("|<>&", *at))
        printf("&#%d;", *at);
      else
        putchar(*at);
  printf("</code>");
}

static void row_end(void) { puts(" |"); }

/* Level of a page's main heading: 1 if the page is printed alone, 2 in the whole reference. */
static int top = 2;

/* Prints the marks of a heading `below` levels under the page's main heading. */
static void heading(int below) { printf("\n%.*s ", top + below, "######"); }

static void cell_next(const char *text) {
  printf(" | ");
  cell(text);
}

/* ---- commands ---- */

static void print_option(const cli_option_row *row, const cli_option_help *help) {
  printf("| ");
  if (row->letter) printf("`%s`, ", row->letter);
  code(row->name, help->form);
  cell_next(help->text);
  row_end();
}

static void print_command(const cli_command_row *row) {
  heading(1);
  printf("sim %s\n\n```text\nsim %s%s%s\n```\n\n", row->name, row->name, *row->usage ? " " : "", row->usage);
  cell(row->purpose);
  puts(".\n");
  if (row->more) printf("```text\n%s```\n\n", row->more);
  puts("| option | meaning |\n|---|---|");
  for (int i = 0; i < CLI_OPTIONS; i++)
    for (int k = 0; k < CLI_HELPS; k++)
      if (cli_options_known[i].help[k].commands & 1 << row->command)
        print_option(&cli_options_known[i], &cli_options_known[i].help[k]);
  printf("\nFor example:\n\n```text\n%s```\n", row->example);
}

static void print_commands(void) {
  heading(0);
  puts("Commands");
  for (int c = 0; c < CLI_COMMAND_ROWS; c++) print_command(&cli_commands[c]);
  heading(1);
  puts("Exit codes\n\n| code | meaning |\n|---|---|");
  for (sim_status status = SIM_OK; status < SIM_STATUS_COUNT; status++) {
    printf("| %d", sim_status_exit_code(status));
    cell_next(sim_status_meaning(status));
    row_end();
  }
}

void cli_commands_markdown(void) {
  top = 1;
  print_commands();
}

/* ---- models ---- */

/* Writes the path of a key: "gravity.softening". */
static void join(const char *path, const char *name, char out[PATH_MAX_BYTES]) {
  snprintf(out, PATH_MAX_BYTES, "%s%s%s", path, *path ? "." : "", name);
}

/* Prints one row for each key of a schema and of the tables in it. */
static void print_keys(const sim_schema *schema, const char *path) {
  for (; schema; schema = schema->base)
    for (const sim_field *field = schema->fields; field->name; field++) {
      char key[PATH_MAX_BYTES], type[800], need[400];
      join(path, field->name, key);
      cli_type_text(field, type, sizeof type);
      cli_need_text(field, need, sizeof need);
      printf("| `%s`", key);
      cell_next(type);
      cell_next(need);
      cell_next(field->doc);
      row_end();
      if (field->type == SIM_STRUCT) print_keys(field->table, key);
    }
}

static void print_lists(const sim_schema *schema, const char *path);

static void print_variant(const char *key, const sim_schema *variant) {
  const bool named = *variant->name != '\0';
  heading(2);
  printf("`%s`: %s%s { }\n\n", key, named ? "sim." : "a plain table", variant->name);
  cell(variant->doc);
  puts("\n\n| key | accepts | needed | meaning |\n|---|---|---|---|");
  print_keys(variant, "");
  print_lists(variant, key);
}

/* Prints the variants of the items of every list in a schema and in the tables in it. */
static void print_lists(const sim_schema *schema, const char *path) {
  for (; schema; schema = schema->base)
    for (const sim_field *field = schema->fields; field->name; field++) {
      char key[PATH_MAX_BYTES];
      join(path, field->name, key);
      if (field->type == SIM_STRUCT) print_lists(field->table, key);
      if (field->type != SIM_LIST) continue;
      for (const sim_schema *const *variant = field->variants; *variant; variant++) print_variant(key, *variant);
    }
}

static void print_columns(const char *name, const char *doc, const sim_field *fields) {
  heading(2);
  printf("`%s`\n\n", name);
  cell(doc);
  puts("\n\n| name | dimension | meaning |\n|---|---|---|");
  for (const sim_field *field = fields; field->name; field++) {
    char dimension[64];
    cli_dimension_text(field->dimension, dimension, sizeof dimension);
    printf("| `%s`", field->name);
    cell_next(dimension);
    cell_next(field->doc);
    row_end();
  }
}

static void print_model(const sim_model *model) {
  heading(0);
  printf("sim.%s\n\n", model->name);
  cell(model->doc);
  printf("\n\nRuns on:");
  const char *comma = " ";
  for (const sim_backend *const *backend = sim_backends; *backend; backend++) {
    if (!model->backends[(*backend)->kind].runs) continue;
    printf("%s%s", comma, (*backend)->name);
    comma = ", ";
  }
  printf("; on several ranks: %s. Precisions:", model->ranks ? "yes" : "no");
  comma = " ";
  for (int k = 0; k < SIM_PRECISIONS; k++) {
    if (!model->precisions[k]) continue;
    printf("%s%s", comma, sim_precision_name((sim_precision)k));
    comma = ", ";
  }
  printf(".\n\nA small scenario (`sim new %s`):\n\n```lua\n%s```\n", model->name, model->example);
  heading(1);
  puts("Parameters\n\n| key | accepts | needed | meaning |\n|---|---|---|---|");
  print_keys(model->parameters, "");
  print_lists(model->parameters, "");
  heading(1);
  puts("Tables\n\nDatasets of `tables.h5`, each with `step` and `time`.");
  for (const sim_table *const *table = model->tables; *table; table++)
    print_columns((*table)->name, (*table)->doc, (*table)->columns);
  if (model->described) puts("\nTables that a scenario asks for; capitals stand for names of the scenario.");
  for (const sim_table *const *table = model->described; table && *table; table++)
    print_columns((*table)->name, (*table)->doc, (*table)->columns);
  heading(1);
  puts("State\n\nArrays of snapshots and checkpoints.");
  print_columns("arrays", "State arrays.", model->state);
  heading(1);
  puts("References\n");
  for (const char *const *reference = model->references; *reference; reference++) {
    printf("- ");
    cell(*reference);
    puts("");
  }
}

sim_status cli_markdown(const char *name) {
  const sim_model *model = NULL;
  if (name) {
    SIM_TRY(cli_find_model(name, &model));
    top = 1;
    print_model(model);
    return SIM_OK;
  }
  printf("# Reference of sim %s\n\n", cli_version_text);
  print_commands();
  for (const sim_model *const *each = sim_models; *each; each++) print_model(*each);
  return SIM_OK;
}
