/* --help of the whole program and of each command. */
#include "cli/option_table.h"

#include <stdio.h>
#include <string.h>

enum { FORM_WIDTH = 22 };

static void print_option(const cli_option_row *row, const cli_option_help *help) {
  char form[64];
  snprintf(form, sizeof form, "%s%s%s%s", row->letter ? row->letter : "", row->letter ? ", " : "", row->name,
           help->form);
  printf("  %-*s ", FORM_WIDTH, form);
  if (strlen(form) > FORM_WIDTH) printf("\n%*s", FORM_WIDTH + 3, "");
  for (const char *at = help->text; *at; at++) {
    putchar(*at);
    if (*at == '\n') printf("%*s", FORM_WIDTH + 3, "");
  }
  putchar('\n');
}

static void print_codes(void) {
  puts("\nexit codes:");
  for (sim_status status = SIM_OK; status < SIM_STATUS_COUNT; status++)
    printf("  %-3d %s\n", sim_status_exit_code(status), sim_status_meaning(status));
}

static void help_of_program(void) {
  for (int c = 0; c < CLI_COMMAND_ROWS; c++) {
    char form[64];
    snprintf(form, sizeof form, "sim %s %s", cli_commands[c].name, cli_commands[c].usage);
    char *options = strstr(form, " [options]");
    if (options) *options = '\0';
    printf("%s%-30s %s\n", c == 0 ? "usage: " : "       ", form, cli_commands[c].purpose);
  }
  puts("\nsim COMMAND --help: the options of a command, with units and an example\n");
  puts("options (each command takes its own)");
  for (int i = 0; i < CLI_OPTIONS; i++) print_option(&cli_options_known[i], &cli_options_known[i].help[0]);
  printf("\n%s", cli_commands[0].more);
  print_codes();
}

static void help_of_command(const cli_command_row *row) {
  printf("usage: sim %s%s%s\n\n%s\n%s\noptions\n", row->name, *row->usage ? " " : "", row->usage, row->purpose,
         row->more ? row->more : "");
  for (int i = 0; i < CLI_OPTIONS; i++)
    for (int k = 0; k < CLI_HELPS; k++)
      if (cli_options_known[i].help[k].commands & 1 << row->command)
        print_option(&cli_options_known[i], &cli_options_known[i].help[k]);
  printf("\nexample\n");
  for (const char *at = row->example; *at;) {
    const size_t length = strcspn(at, "\n") + 1;
    printf("  %.*s", (int)length, at);
    at += length;
  }
}

void cli_help(cli_command about) {
  for (int c = 0; c < CLI_COMMAND_ROWS; c++)
    if (cli_commands[c].command == about && about != CLI_HELP) {
      help_of_command(&cli_commands[c]);
      return;
    }
  help_of_program();
}
