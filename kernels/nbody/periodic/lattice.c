#include "kernels/nbody/periodic/lattice.h"
#include "kernels/common/vector.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SPLIT 3.0     /* a, in inverse edges */
#define ERF_IS_1 40.0 /* erf is 1 where the square of its argument is larger */

enum {
  REACH = 3,      /* images summed one by one along an axis: -3 ... 3 */
  WAVES = 5,      /* waves along an axis: -5 ... 5 */
  WAVES_MOST = 34 /* largest squared wave number: exp(-34 pi^2 / a^2) < 1e-16 */
};

enum { COUNT = NBODY_LATTICE_COUNT(NBODY_LATTICE_ORDER_MAX) };

/* Step of the recurrence to a derivative of higher rank: R^m(to) = x[axis] R^(m+1)(from) + times R^(m+1)(before). */
typedef struct lowering {
  int axis, from, before;
  double times;
} lowering;

/* Lists the steps of all derivatives but the first: step[NBODY_LATTICE_COUNT(order)]. */
static void list_steps(int order, lowering *step) {
  for (int rank = 1, to = 1; rank <= order; rank++)
    for (int i = rank; i >= 0; i--)
      for (int j = rank - i; j >= 0; j--, to++) {
        int k[3] = {i, j, rank - i - j};
        lowering *const s = &step[to];
        s->axis = i > 0 ? 0 : j > 0 ? 1 : 2;
        s->times = --k[s->axis];
        s->from = s->before = nbody_lattice_position(k[0], k[1], k[2]);
        if (k[s->axis]-- > 0) s->before = nbody_lattice_position(k[0], k[1], k[2]);
      }
}

/* Adds to `out` the derivatives of a radial function f at x, from base[m] = ((1/r) d/dr)^m f(r): McMurchie and
 * Davidson's recurrence, as in fmm/operators.inc. */
static void add_radial(const double x[3], const double *base, int order, const lowering *step, double *out) {
  double r[COUNT][NBODY_LATTICE_ORDER_MAX + 1];
  for (int m = 0; m <= order; m++) r[0][m] = base[m];
  out[0] += base[0];
  for (int rank = 1, to = 1; rank <= order; rank++)
    for (; to < NBODY_LATTICE_COUNT(rank); to++) {
      const lowering *const s = &step[to];
      const double *const from = r[s->from] + 1, *const before = r[s->before] + 1;
      for (int m = 0; m <= order - rank; m++) r[to][m] = x[s->axis] * from[m] + s->times * before[m];
      out[to] += r[to][0];
    }
}

/* Adds the terms of sign (r2 + h2)^(-1/2) to base[0 ... order]. */
static void add_inverse(double r2, double h2, int order, double sign, double *base) {
  const double inverse2 = 1 / (r2 + h2);
  double term = sign * sqrt(inverse2);
  for (int m = 0; m <= order; m++, term *= -(2 * m - 1) * inverse2) base[m] += term;
}

/* Adds the terms of -erf(a r) / r to base: -2 a / sqrt(pi) (-2 a^2)^m F_m(a^2 r^2), with Boys' functions F_m by their
 * series and the recurrence to lower m (I. Shavitt, Methods Comput. Phys. 2 (1963) 1). */
static void add_error_function(double r2, int order, double *base) {
  const double t = SPLIT * SPLIT * r2;
  if (t > ERF_IS_1) {
    add_inverse(r2, 0, order, -1, base);
    return;
  }
  double boys[NBODY_LATTICE_ORDER_MAX + 1], term = exp(-t) / (2 * order + 1), sum = 0;
  for (int i = 1; term > 1e-18 * sum; i++) {
    sum += term;
    term *= 2 * t / (2 * (order + i) + 1);
  }
  boys[order] = sum;
  for (int m = order; m > 0; m--) boys[m - 1] = (2 * t * boys[m] + exp(-t)) / (2 * m - 1);
  double factor = -2 * SPLIT / sqrt(pi);
  for (int m = 0; m <= order; m++, factor *= -2 * SPLIT * SPLIT) base[m] += factor * boys[m];
}

/* Adds the sum over waves; each wave counts for itself and its opposite. */
static void add_waves(const double d[3], int order, double *out) {
  for (int p = 0; p <= WAVES; p++)
    for (int q = p > 0 ? -WAVES : 0; q <= WAVES; q++)
      for (int s = p > 0 || q > 0 ? -WAVES : 1; s <= WAVES; s++) {
        const int square = p * p + q * q + s * s;
        if (square > WAVES_MOST) continue;
        const double k[3] = {2 * pi * p, 2 * pi * q, 2 * pi * s}, k2 = 4 * pi * pi * square;
        const double phase = 2 * pi * (p * d[0] + q * d[1] + s * d[2]);
        const double weight = 8 * pi / k2 * exp(-k2 / (4 * SPLIT * SPLIT));
        const double turned[4] = {weight * cos(phase), -weight * sin(phase), -weight * cos(phase), weight * sin(phase)};
        double power[3][NBODY_LATTICE_ORDER_MAX + 1];
        for (int c = 0; c < 3; c++) {
          power[c][0] = 1;
          for (int e = 0; e < order; e++) power[c][e + 1] = power[c][e] * k[c];
        }
        for (int rank = 0, to = 0; rank <= order; rank++)
          for (int i = rank; i >= 0; i--)
            for (int j = rank - i; j >= 0; j--, to++)
              out[to] += turned[rank % 4] * power[0][i] * power[1][j] * power[2][rank - i - j];
      }
}

/* Adds the change by the softening of all farther images, -h^2 / (2 r^3) each, as an integral over space outside the
 * cube of the images summed one by one. By Gauss, with half the cube's edge b: -(d^2 / 2) 3 h^2 / b^2 I, I the integral
 * of (1 + u^2 + v^2)^(-5/2) over |u|, |v| < 1; the constant is left out. */
static void add_outside(const double near[3], double softening, int order, double *out) {
  const double half = REACH + 0.5, integral = 2 * pi / 9 + 4 / (3 * sqrt(3));
  const double rate = 3 * softening * softening / (half * half) * integral;
  for (int c = 0; c < 3; c++) {
    int k[3] = {0, 0, 0};
    out[0] -= rate / 2 * near[c] * near[c];
    k[c] = 1;
    if (order >= 1) out[nbody_lattice_position(k[0], k[1], k[2])] -= rate * near[c];
    k[c] = 2;
    if (order >= 2) out[nbody_lattice_position(k[0], k[1], k[2])] -= rate;
  }
}

void nbody_lattice_tensor(const double d[3], double softening, int order, nbody_lattice_without without, double *out) {
  const double turn[3] = {rint(d[0]), rint(d[1]), rint(d[2])},
               near[3] = {d[0] - turn[0], d[1] - turn[1], d[2] - turn[2]};
  lowering step[COUNT];
  list_steps(order, step);
  memset(out, 0, sizeof *out * (size_t)NBODY_LATTICE_COUNT(order));
  add_waves(d, order, out);
  for (int p = -REACH; p <= REACH; p++)
    for (int q = -REACH; q <= REACH; q++)
      for (int s = -REACH; s <= REACH; s++) {
        const double x[3] = {near[0] + p, near[1] + q, near[2] + s}, r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        const bool within = without == NBODY_LATTICE_27
                                ? fabs(p - turn[0]) <= 1 && fabs(q - turn[1]) <= 1 && fabs(s - turn[2]) <= 1
                                : p == 0 && q == 0 && s == 0;
        if (!within && softening == 0 && SPLIT * SPLIT * r2 > ERF_IS_1) continue; /* the term is 0 */
        double base[NBODY_LATTICE_ORDER_MAX + 1] = {0};
        add_error_function(r2, order, base);
        if (!within) add_inverse(r2, softening * softening, order, 1, base);
        add_radial(x, base, order, step, out);
      }
  out[0] -= pi / (SPLIT * SPLIT);
  add_outside(near, softening, order, out);
}

void nbody_lattice_fill_table(double softening, int threads, double *table) {
  enum { SIDE = NBODY_TABLE_NODES + 1 };
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int row = 0; row < NBODY_TABLE_ROWS; row++) {
    const int node[3] = {row / (SIDE * SIDE), row / SIDE % SIDE, row % SIDE};
    if (node[0] < node[1] || node[1] < node[2]) continue; /* E is symmetric in the axes */
    const double d[3] = {node[0] / (2.0 * NBODY_TABLE_NODES), node[1] / (2.0 * NBODY_TABLE_NODES),
                         node[2] / (2.0 * NBODY_TABLE_NODES)};
    double tensor[NBODY_TABLE_ROW];
    nbody_lattice_tensor(d, softening, NBODY_TABLE_ORDER, NBODY_LATTICE_NEAREST, tensor);
    for (int turn = 0; turn < 6; turn++) {
      static const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
      const int *const axis = axes[turn];
      double *const to =
          table + (size_t)((node[axis[0]] * SIDE + node[axis[1]]) * SIDE + node[axis[2]]) * NBODY_TABLE_ROW;
      for (int rank = 0, k = 0; rank <= NBODY_TABLE_ORDER; rank++)
        for (int i = rank; i >= 0; i--)
          for (int j = rank - i; j >= 0; j--, k++) {
            const int of[3] = {i, j, rank - i - j};
            int from[3];
            bool odd = false; /* E is even: its odd derivatives at 0 vanish */
            for (int c = 0; c < 3; c++) {
              from[axis[c]] = of[c];
              odd = odd || (of[c] % 2 == 1 && node[axis[c]] == 0);
            }
            to[k] = odd ? 0 : tensor[nbody_lattice_position(from[0], from[1], from[2])];
          }
    }
  }
}
