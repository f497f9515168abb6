/* Bodies that move. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* Mean of a column of `bodies` over steps [from, to). */
static void means(const char *text, int from, int to, int count, const char *const *columns, double *out) {
  flow f;
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  for (int i = 0; i < count; i++) out[i] = 0;
  flow_steps(&f, from);
  for (int step = from; step < to; step++) {
    for (int i = 0; i < count; i++) out[i] += flow_value(&f, "bodies", columns[i]) / (to - from);
    flow_steps(&f, 1);
  }
  flow_close(&f);
}

static void frame(int rank, double drag[2][3], double *mass) {
  static const char *const columns[] = {"body_fx", "body_fy", "body_tz"};
  char text[2048];
  for (int moves = 0; moves < 2; moves++) {
    snprintf(text, sizeof text,
             "local three, moves, U = %s, %s, 0.05\n"
             "return sim.fluid { grid = three and { n = {40, 24, 24}, size = {40, 24, 24} }\n"
             "    or { n = {80, 48}, size = {80, 48} }, viscosity = 0.04, speed = 0.1,\n"
             "  initial = function(x, y, z)\n"
             "    local u = moves and 0 or U\n"
             "    if three then return u, 0, 0 end\n"
             "    return u, 0 end,\n"
             "  bodies = { sim.ball { name = 'body', point = {20.3, 12.2, three and 11.9 or 0},\n"
             "    radius = three and 5 or 8, spin = 0.002, velocity = {moves and -U or 0, 0, 0} } },\n"
             "  integrate = { dt = 1, t_end = 10000 } }",
             rank == 3 ? "true" : "false", moves ? "true" : "false");
    means(text, 200, 500, 3, columns, drag[moves]);
  }
  (void)mass;
}

int main(void) {
  near_to(pi, pi, 1, "");
  for (int r = 2; r < 4; r++) {
    double d[2][3];
    frame(r, d, NULL);
    for (int k = 0; k < 2; k++) printf("%d: %.6g %.6g %.6g\n", k, d[k][0], d[k][1], d[k][2]);
  }
}
