/* Completions for bash, zsh and fish, from the tables of commands and options. */
#include "cli/option_table.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_BYTES = 1024 };

static bool is(const char *complete, const char *kind) { return complete && strcmp(complete, kind) == 0; }

/* Writes the words of a completion, separated by blanks, and returns `out`; "" for file names and for no completion. */
static const char *words_of(const char *complete, char out[WORDS_BYTES]) {
  size_t used = 0;
  out[0] = '\0';
  if (!complete || is(complete, COMPLETE_FOLDER) || is(complete, COMPLETE_SCENARIO)) return out;
  if (is(complete, COMPLETE_MODEL))
    for (const sim_model *const *model = sim_models; *model && used < WORDS_BYTES; model++)
      used += (size_t)snprintf(out + used, WORDS_BYTES - used, "%s%s", used ? " " : "", (*model)->name);
  else if (is(complete, COMPLETE_COMMAND))
    for (int c = 0; c < CLI_COMMAND_ROWS && used < WORDS_BYTES; c++)
      used += (size_t)snprintf(out + used, WORDS_BYTES - used, "%s%s", used ? " " : "", cli_commands[c].name);
  else
    snprintf(out, WORDS_BYTES, "%s", complete);
  return out;
}

/* Returns the meaning of an option for a command; NULL: the command does not accept it. */
static const cli_option_help *help_for(const cli_option_row *row, cli_command command) {
  for (int k = 0; k < CLI_HELPS; k++)
    if (row->help[k].commands & 1 << command) return &row->help[k];
  return NULL;
}

/* Prints the first line of a text, with a backslash before each of `characters`. */
static void escaped(const char *text, const char *characters) {
  for (; *text && *text != '\n'; text++) {
    if (strchr(characters, *text)) putchar('\\');
    putchar(*text);
  }
}

/* The same inside single quotes of a shell. */
static void quoted(const char *text, const char *characters) {
  for (; *text && *text != '\n'; text++) {
    if (strchr(characters, *text)) putchar('\\');
    if (*text == '\'') printf("'\\'");
    putchar(*text);
  }
}

/* ---- bash ---- */

/* Prints kind='WORDS', DIR, LUA, or NONE for a value that cannot be completed. */
static void bash_kind(const char *complete) {
  char words[WORDS_BYTES];
  words_of(complete, words);
  printf(" kind='%s' ;;\n", *words ? words : complete ? complete : "NONE");
}

static void bash(void) {
  char words[WORDS_BYTES];
  puts("_sim() {\n"
       "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= kind= word\n"
       "  if [ \"$current\" = = ]; then\n"
       "    current= previous+==\n"
       "  elif [ \"$previous\" = = ]; then\n"
       "    previous=${COMP_WORDS[COMP_CWORD - 2]}=\n"
       "  fi\n"
       "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
       "    case $word in -*) ;; *) command=$word && break ;; esac\n"
       "  done\n"
       "  case $command in *.lua) command=run ;; esac\n"
       "  case $previous in");
  for (int i = 0; i < CLI_OPTIONS; i++) {
    const cli_option_row *row = &cli_options_known[i];
    if (row->value != VALUE_NEEDED && row->value != VALUE_AFTER_EQUALS) continue;
    printf("    ");
    if (row->letter) printf("%s | ", row->letter);
    if (row->value == VALUE_NEEDED) printf("%s | ", row->name);
    printf("%s=)", row->name);
    bash_kind(row->complete);
  }
  puts("  esac\n  if [ -z \"$kind\" ] && [[ $current == -* ]]; then\n    case $command in");
  for (int c = 0; c < CLI_COMMAND_ROWS; c++) {
    const char *blank = "";
    printf("      %s) kind='", cli_commands[c].name);
    for (int i = 0; i < CLI_OPTIONS; i++) {
      if (!help_for(&cli_options_known[i], cli_commands[c].command)) continue;
      printf("%s%s", blank, cli_options_known[i].name);
      blank = " ";
    }
    puts("' ;;");
  }
  puts("      *) kind='--help --version' ;;\n    esac\n  elif [ -z \"$kind\" ]; then\n    case $command in");
  for (int c = 0; c < CLI_COMMAND_ROWS; c++) {
    printf("      %s)", cli_commands[c].name);
    bash_kind(cli_commands[c].complete);
  }
  printf("      '') kind='%s' ;;\n    esac\n  fi\n", words_of(COMPLETE_COMMAND, words));
  puts("  case $kind in\n"
       "    NONE) COMPREPLY=() ;;\n"
       "    " COMPLETE_FOLDER ") mapfile -t COMPREPLY < <(compgen -d -- \"$current\") ;;\n"
       "    " COMPLETE_SCENARIO ") mapfile -t COMPREPLY < <(compgen -f -X '!*.lua' -- \"$current\"; compgen -d -- "
       "\"$current\") ;;\n"
       "    *) mapfile -t COMPREPLY < <(compgen -W \"$kind\" -- \"$current\") ;;\n"
       "  esac\n"
       "  if [ -z \"$command\" ] && [[ $current != -* ]]; then\n"
       "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X '!*.lua' -- \"$current\")\n"
       "  fi\n"
       "}\n"
       "complete -o filenames -F _sim sim");
}

/* ---- zsh ---- */

static void zsh_action(const char *complete) {
  char words[WORDS_BYTES];
  if (is(complete, COMPLETE_FOLDER))
    printf("_files -/");
  else if (is(complete, COMPLETE_SCENARIO))
    printf("_files -g \"*.lua\"");
  else if (*words_of(complete, words))
    printf("(%s)", words);
}

/* Prints one argument of _arguments: '--device[text]: D:(auto cpu cuda)'. */
static void zsh_option(const cli_option_row *row, const cli_option_help *help) {
  printf(" \\\n        ");
  if (row->letter)
    printf("'(%s %s)'{%s,%s%s}'[", row->letter, row->name, row->letter, row->name,
           row->value == VALUE_NEEDED ? "+" : "");
  else
    printf("'%s%s[", row->name, row->value == VALUE_NEEDED ? "=" : row->value == VALUE_AFTER_EQUALS ? "=-" : "");
  quoted(help->text, "[]:\\");
  printf("]");
  if (row->value == VALUE_NEEDED || row->value == VALUE_AFTER_EQUALS) {
    printf("%s:%s:", row->value == VALUE_AFTER_EQUALS ? ":" : "", row->name + 2);
    zsh_action(row->complete);
  }
  printf("'");
}

static void zsh(void) {
  puts("#compdef sim\n_sim() {\n  local -a commands=(");
  for (int c = 0; c < CLI_COMMAND_ROWS; c++) {
    printf("    '%s:", cli_commands[c].name);
    quoted(cli_commands[c].purpose, "\\");
    puts("'");
  }
  puts("  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    _files -g '*.lua'\n    return\n  fi\n"
       "  local command=${words[2]}\n  if [[ $command == *.lua ]]; then command=run; else shift words; ((CURRENT--)); "
       "fi\n"
       "  case $command in");
  for (int c = 0; c < CLI_COMMAND_ROWS; c++) {
    printf("    %s)\n      _arguments", cli_commands[c].name);
    for (int i = 0; i < CLI_OPTIONS; i++) {
      const cli_option_help *help = help_for(&cli_options_known[i], cli_commands[c].command);
      if (help) zsh_option(&cli_options_known[i], help);
    }
    printf(" \\\n        '*:%s:", *cli_commands[c].usage ? "argument" : "");
    zsh_action(cli_commands[c].complete);
    puts("'\n      ;;");
  }
  puts("  esac\n}\n_sim \"$@\"");
}

/* ---- fish ---- */

static void fish_words(const char *complete) {
  char words[WORDS_BYTES];
  if (is(complete, COMPLETE_FOLDER))
    printf(" -a '(__fish_complete_directories)'");
  else if (is(complete, COMPLETE_SCENARIO))
    printf(" -k -a '(__fish_complete_suffix .lua)'");
  else if (*words_of(complete, words))
    printf(" -a '%s'", words);
}

static void fish(void) {
  /* `sim FILE.lua` means `sim run FILE.lua` */
  static const char scenario[] = "; or string match -q -- \"*.lua\" (commandline -opc)[2]";
  puts("complete -c sim -f");
  for (int c = 0; c < CLI_COMMAND_ROWS; c++) {
    const cli_command_row *row = &cli_commands[c];
    printf("complete -c sim -n __fish_use_subcommand -a %s -d '", row->name);
    escaped(row->purpose, "'\\");
    puts("'");
    if (row->complete) {
      printf("complete -c sim -n '__fish_seen_subcommand_from %s'", row->name);
      fish_words(row->complete);
      puts("");
    }
    for (int i = 0; i < CLI_OPTIONS; i++) {
      const cli_option_row *option = &cli_options_known[i];
      const cli_option_help *help = help_for(option, row->command);
      if (!help) continue;
      printf("complete -c sim -n '__fish_seen_subcommand_from %s%s' -l %s", row->name,
             row->command == CLI_RUN ? scenario : "", option->name + 2);
      if (option->letter) printf(" -s %s", option->letter + 1);
      if (option->value == VALUE_NEEDED) printf(" -x");
      fish_words(option->complete);
      printf(" -d '");
      escaped(help->text, "'\\");
      puts("'");
    }
  }
  printf("complete -c sim -n __fish_use_subcommand");
  fish_words(COMPLETE_SCENARIO);
  puts("");
}

/* ---- */

static const struct {
  const char *name;
  void (*print)(void);
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

sim_status cli_completion(const char *shell) {
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
    if (strcmp(shell, shells[i].name) != 0) continue;
    if (shells[i].print != zsh) printf("# Completions of sim %s, from: sim completion %s\n", cli_version_text, shell);
    shells[i].print();
    return SIM_OK;
  }
  return sim_fail(SIM_ERR_USAGE, "no completions for '%s': expected bash, zsh or fish", shell);
}
