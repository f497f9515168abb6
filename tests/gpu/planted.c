/* planted TOOL: runs the fault that this tool of compute-sanitizer must find. */
#include "tests/gpu/kernels.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  static const char *const tools[GPU_TEST_TOOLS] = {"memcheck", "racecheck", "initcheck", "synccheck"};
  for (int tool = 0; argc == 2 && tool < GPU_TEST_TOOLS; tool++)
    if (strcmp(argv[1], tools[tool]) == 0) return gpu_test_planted(tool);
  fputs("usage: planted memcheck|racecheck|initcheck|synccheck\n", stderr);
  return 64;
}
