/* The man page sim(1), printed from the tables of commands and options. */
#include "cli/option_table.h"

#include "build_info.h"

#include <stdio.h>
#include <string.h>

/* ---- man page ---- */

/* Prints text for troff, which must not change hyphens, quotes and backslashes, nor take a line for a request. */
static void troff(const char *text) {
  bool first = true;
  for (; *text; text++) {
    if (first && (*text == '.' || *text == '\'')) printf("\\&");
    first = *text == '\n';
    switch (*text) {
    case '\\': printf("\\e"); break;
    case '-': printf("\\-"); break;
    case '\'': printf("\\(aq"); break;
    case '^': printf("\\(ha"); break;
    case '~': printf("\\(ti"); break;
    case '`': printf("\\(ga"); break;
    default: putchar(*text);
    }
  }
}

static void man_option(const cli_option_row *row, const cli_option_help *help) {
  printf(".TP\n.B ");
  if (row->letter) {
    troff(row->letter);
    printf(", ");
  }
  troff(row->name);
  printf("\\fR");
  troff(help->form);
  puts("");
  troff(help->text);
  puts("");
}

static void man_command(const cli_command_row *row) {
  printf(".SS sim %s%s%s\n", row->name, *row->usage ? " " : "", row->usage);
  troff(row->purpose);
  puts(".");
  if (row->more) {
    puts(".PP\n.nf");
    troff(row->more);
    puts(".fi");
  }
  for (int i = 0; i < CLI_OPTIONS; i++) {
    if (cli_option_commands((cli_option_id)i) == ON_EVERY) continue;
    for (int k = 0; k < CLI_HELPS; k++)
      if (cli_options_known[i].help[k].commands & 1 << row->command)
        man_option(&cli_options_known[i], &cli_options_known[i].help[k]);
  }
  puts(".PP\nExample:\n.PP\n.nf\n.RS");
  troff(row->example);
  puts(".RE\n.fi");
}

void cli_manual(void) {
  printf(".TH SIM 1 \"%s\" \"sim %s\" \"User Commands\"\n", SIM_DATE, cli_version_text);
  puts(".SH NAME\nsim \\- simulations of particles, grids and random paths, from a Lua scenario\n.SH SYNOPSIS\n.nf");
  for (int c = 0; c < CLI_COMMAND_ROWS; c++) {
    printf("\\fBsim %s\\fR%s", cli_commands[c].name, *cli_commands[c].usage ? " " : "");
    troff(cli_commands[c].usage);
    puts("");
  }
  puts(".fi\n.SH DESCRIPTION\n.B sim\nreads a scenario, a Lua file that returns a table of parameters, runs it, and "
       "writes "
       "snapshots, tables and checkpoints as HDF5 files into a folder.\n.PP\nOptions of every command:");
  for (int i = 0; i < CLI_OPTIONS; i++)
    if (cli_option_commands((cli_option_id)i) == ON_EVERY)
      man_option(&cli_options_known[i], &cli_options_known[i].help[0]);
  puts(".SH COMMANDS");
  for (int c = 0; c < CLI_COMMAND_ROWS; c++) man_command(&cli_commands[c]);
  puts(".SH EXIT STATUS");
  for (sim_status status = SIM_OK; status < SIM_STATUS_COUNT; status++) {
    printf(".TP\n.B %d\n", sim_status_exit_code(status));
    troff(sim_status_meaning(status));
    puts("");
  }
  puts(".SH SEE ALSO\n.B sim describe\nMODEL prints the parameters of a model.");
}
