/* The page of `simview watch` for a run (--watch): a separate process that reads the run's files. */
#ifndef SIM_CLI_PAGE_H
#define SIM_CLI_PAGE_H

/* Starts the program `simview` of PATH on the folder; it prints its link to stderr. Warns if it cannot be started. */
void cli_page_begin(const char *folder);

/* Ends the page. The page also ends when this process has ended, for any reason. */
void cli_page_end(void);

#endif
