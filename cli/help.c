/* --help, of the whole program and of each command. */
#include "cli/option_table.h"

#include <stdio.h>
#include <string.h>

enum { FORM_WIDTH = 22 };

static void print_option(const cli_option_help *help) {
  printf("  %-*s ", FORM_WIDTH, help->form);
  if (strlen(help->form) > FORM_WIDTH) printf("\n%*s", FORM_WIDTH + 3, "");
  for (const char *at = help->text; *at; at++) {
    putchar(*at);
    if (*at == '\n') printf("%*s", FORM_WIDTH + 3, "");
  }
  putchar('\n');
}

static void print_codes(void) {
  puts("exit codes:");
  for (sim_status status = SIM_OK; status < SIM_STATUS_COUNT; status++)
    printf("  %-3d %s\n", sim_status_exit_code(status), sim_status_meaning(status));
}

static void help_of_all(void) {
  for (int c = 0; c < CLI_COMMANDS; c++) {
    char form[64];
    snprintf(form, sizeof form, "sim %s %s", cli_commands[c].name,
             strncmp(cli_commands[c].usage, "SCENARIO", 8) == 0 ? "SCENARIO.lua" : cli_commands[c].usage);
    form[strcspn(form, "[")] = '\0';
    printf("%s%-30s %s\n", c == 0 ? "usage: " : "       ", form, cli_commands[c].purpose);
  }
  puts("\nsim COMMAND --help: its options, with units and an example\n");
  for (size_t i = 0; i < cli_option_help_count; i++) {
    const cli_option_help *help = &cli_option_helps[i];
    if (i == 0) puts("options (each command takes its own)");
    if (help->id == OPTION_SET || help->id == OPTION_SEED || help->id == OPTION_OUTPUT || help->id == OPTION_THREADS ||
        help->id == OPTION_ARRAY)
      if (help->where == ON_SWEEP) continue; /* the same in a sweep, with lists */
    print_option(help);
  }
  printf("  %-*s %s\n", FORM_WIDTH, "-h, --help", "this text, or that of a command");
  printf("  %-*s %s\n\n", FORM_WIDTH, "--version", "version and revision");
  fputs(cli_commands[0].more, stdout);
  putchar('\n');
  print_codes();
}

void cli_help(cli_command about) {
  const cli_command_row *row = NULL;
  for (int c = 0; c < CLI_COMMANDS; c++)
    if (cli_commands[c].command == about) row = &cli_commands[c];
  if (about == CLI_HELP || !row) {
    help_of_all();
    return;
  }
  printf("usage: sim %s%s%s\n\n%s\n", row->name, *row->usage ? " " : "", row->usage, row->purpose);
  if (row->more) printf("%s", row->more);
  bool any = false;
  for (size_t i = 0; i < cli_option_help_count; i++) {
    if (!(cli_option_helps[i].where & 1 << cli_kind(about))) continue;
    if (!any) puts("\noptions");
    any = true;
    print_option(&cli_option_helps[i]);
  }
  printf("\nexample\n");
  for (const char *at = row->example; *at;) {
    const size_t length = strcspn(at, "\n") + 1;
    printf("  %.*s", (int)length, at);
    at += length;
  }
}
