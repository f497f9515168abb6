#include "cli/cli.h"

#include <sys/prctl.h>

int main(int argc, char **argv) {
  (void)prctl(PR_SET_NAME, "sim"); /* a process that has started itself again is called "exe" */
  return cli_main(argc, argv);
}
