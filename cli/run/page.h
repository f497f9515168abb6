/* The page of `simview watch` beside a run (--watch): a process of its own that reads the run's files. */
#ifndef SIM_CLI_PAGE_H
#define SIM_CLI_PAGE_H

/* Starts the program `simview` of PATH on the folder; it prints its link to stderr. Warns if it cannot be started. */
void cli_page_begin(const char *folder);

/* Ends the page. It also ends by itself once this process has ended, in whatever way. */
void cli_page_end(void);

#endif
