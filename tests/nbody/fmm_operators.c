/* The operators of the fast multipole method in fp64: translations against expansions about the new centre, the tensor
 * against differences and its trace, and the error of M2L with L2P as cells move apart. */
#include "kernels/nbody/fmm/fmm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define FMM_FUNCTION static inline
typedef double real, vreal;
static vreal v_set(real a) { return a; }
static vreal v_add(vreal a, vreal b) { return a + b; }
static vreal v_mul(vreal a, vreal b) { return a * b; }
static vreal v_fma(vreal a, vreal b, vreal c) { return fma(a, b, c); }
static vreal v_inverse_root(vreal a) { return 1 / sqrt(a); }
#include "kernels/nbody/fmm/operators.inc"

enum { BODIES = 20, MOMENTS = NBODY_FMM_MOMENTS(NBODY_FMM_ORDER_MAX), FIELD = NBODY_FMM_FIELD(NBODY_FMM_ORDER_MAX) };

static uint64_t state = 1;

/* Uniform in (-1, 1). */
static double draw(void) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(int64_t)state * 0x1p-63;
}

/* Returns the powers of coefficient i, in the order of cmake/fmm_operators.c. */
static void powers(int i, int k[3]) {
  for (int rank = 0;; rank++)
    for (k[0] = rank; k[0] >= 0; k[0]--)
      for (k[1] = rank - k[0]; k[1] >= 0; k[1]--) {
        k[2] = rank - k[0] - k[1];
        if (i-- == 0) return;
      }
}

static int index_of(const int k[3]) {
  int other[3];
  for (int i = 0;; i++) {
    powers(i, other);
    if (memcmp(k, other, sizeof other) == 0) return i;
  }
}

static int rank_of(const int k[3]) { return k[0] + k[1] + k[2]; }

/* t^k / k! */
static double monomial(const double t[3], const int k[3]) {
  double out = 1;
  for (int c = 0; c < 3; c++)
    for (int j = 1; j <= k[c]; j++) out *= t[c] / j;
  return out;
}

typedef struct cluster {
  double mass[BODIES], x[BODIES][3], centre[3];
} cluster;

/* Bodies within `radius` of a point along each axis, about their centre of mass. */
static cluster draw_cluster(const double at[3], double radius) {
  cluster out;
  double mass = 0;
  for (int c = 0; c < 3; c++) out.centre[c] = 0;
  for (int i = 0; i < BODIES; i++) {
    mass += out.mass[i] = 1 + draw();
    for (int c = 0; c < 3; c++) {
      out.x[i][c] = at[c] + radius * draw();
      out.centre[c] += out.mass[i] * out.x[i][c];
    }
  }
  for (int c = 0; c < 3; c++) out.centre[c] /= mass;
  return out;
}

/* Computes moments about a centre, in units of `edge`. */
static void expand(const cluster *b, const double centre[3], double edge, int P, double *moments) {
  memset(moments, 0, MOMENTS * sizeof *moments);
  for (int i = 0; i < BODIES; i++) {
    double t[3];
    for (int c = 0; c < 3; c++) t[c] = (centre[c] - b->x[i][c]) / edge;
    fmm_p2m(P, b->mass[i], t, moments);
  }
}

/* P2M against its definition; M2M of a child of half the edge against P2M about the parent's centre. 20 terms of at
 * most 2 (3^(1/2) / 2)^5 / 2, each with some 10 roundings of 2^-53: below 2e-14 of the sum of absolute terms. */
static void moments_move(void **unused) {
  (void)unused;
  for (int P = NBODY_FMM_ORDER_MIN; P <= NBODY_FMM_ORDER_MAX; P++) {
    const cluster b = draw_cluster((const double[3]){0.2, -0.3, 0.1}, 0.25);
    const double parent[3] = {0.05, 0.02, -0.07};
    double child[MOMENTS], moved[MOMENTS] = {0}, direct[MOMENTS], t[3];
    for (int c = 0; c < 3; c++) t[c] = parent[c] - b.centre[c];
    expand(&b, b.centre, 0.5, P, child);
    expand(&b, parent, 1, P, direct);
    fmm_m2m(P, child, t, moved);
    for (int m = 0; m < NBODY_FMM_MOMENTS(P); m++) {
      int k[3];
      double sum = 0, size = 0;
      powers(m == 0 ? 0 : m + 3, k);
      for (int i = 0; i < BODIES; i++) {
        for (int c = 0; c < 3; c++) t[c] = parent[c] - b.x[i][c];
        sum += b.mass[i] * monomial(t, k);
        size += b.mass[i] * fabs(monomial(t, k));
      }
      assert_true(fabs(direct[m] - sum) <= 1e-14 * size);
      assert_true(fabs(moved[m] - sum) <= 1e-14 * (size + BODIES * 0.1));
    }
  }
}

/* L2L against the derivatives at the new centre of a polynomial field; L2P against the field's gradient and value. */
static void fields_move(void **unused) {
  (void)unused;
  for (int P = NBODY_FMM_ORDER_MIN; P <= NBODY_FMM_ORDER_MAX; P++) {
    const double t[3] = {0.21, -0.17, 0.4};
    double field[FIELD], child[FIELD], a[3];
    for (int i = 0; i < NBODY_FMM_FIELD(P); i++) field[i] = draw();
    fmm_l2l(P, field, t, child);
    fmm_l2p(P, field, t, a);
    for (int i = 0; i < NBODY_FMM_FIELD(P); i++) {
      int k[3];
      double sum = 0, size = 0;
      powers(i, k);
      for (int j = 0; j < NBODY_FMM_FIELD(P - rank_of(k)); j++) {
        int other[3];
        powers(j, other);
        const double q = monomial(t, other);
        for (int c = 0; c < 3; c++) other[c] += k[c];
        sum += field[index_of(other)] * q;
        size += fabs(field[index_of(other)] * q);
      }
      assert_true(fabs(child[i] - ldexp(sum, -1 - rank_of(k))) <= 1e-14 * size);
      if (rank_of(k) == 0) assert_true(fabs(fmm_l2p_potential(P, field, t) - sum) <= 1e-14 * size);
      for (int c = 0; c < 3; c++)
        if (rank_of(k) == 1 && k[c] == 1) assert_true(fabs(a[c] - sum) <= 1e-14 * size);
    }
  }
}

/* Each rank against central differences of the rank before. With step d = 2^-10 the fourth-order formula errs by d^4 /
 * 30 times the fifth derivative, at most 11! / s^12 for P = 6, and rounds by 2^-53 / d: 1e-7 of 10^k covers both at s =
 * 1. The trace of rank 2 is -3 h^2 s^-5. */
static void tensor_is_derivative(void **unused) {
  (void)unused;
  const int P = NBODY_FMM_ORDER_MAX;
  const double d = 0x1p-10;
  const double x[3] = {0.9, -0.6, 0.8};
  for (int soft = 0; soft < 2; soft++) {
    const double h2 = soft ? 0.25 : 0;
    double tensor[FIELD], near[FIELD];
    fmm_tensor(P, x, h2, tensor);
    for (int i = 1; i < NBODY_FMM_FIELD(P); i++) {
      int k[3], axis = 0;
      powers(i, k);
      while (k[axis] == 0) axis++;
      k[axis]--;
      const int lower = index_of(k);
      const double weights[5] = {1, -8, 0, 8, -1};
      double slope = 0;
      for (int step = -2; step <= 2; step++) {
        double moved[3] = {x[0], x[1], x[2]};
        moved[axis] += step * d;
        fmm_tensor(P, moved, h2, near);
        slope += weights[step + 2] * near[lower] / (12 * d);
      }
      assert_true(fabs(slope - tensor[i]) <= 1e-7 * pow(10, rank_of(k)));
    }
    const double s2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + h2, trace = -3 * h2 * pow(s2, -2.5);
    assert_true(fabs(tensor[4] + tensor[7] + tensor[9] - trace) <= 1e-14);
    assert_true(fabs(tensor[0] - pow(s2, -0.5)) <= 1e-15);
  }
}

/* Another unit of length u: tensors have the factor u^(-k-1), moments u^-k. With powers of two the bits are equal. */
static void units_do_not_show(void **unused) {
  (void)unused;
  const double x[3] = {1.4, 0.3, -0.8}, half[3] = {0.7, 0.15, -0.4};
  for (int P = NBODY_FMM_ORDER_MIN; P <= NBODY_FMM_ORDER_MAX; P++) {
    const cluster b = draw_cluster((const double[3]){0, 0, 0}, 1);
    double one[FIELD], two[FIELD];
    fmm_tensor(P, x, 0.04, one);
    fmm_tensor(P, half, 0.01, two);
    fmm_scale_tensor(P, 0.5, two);
    assert_memory_equal(one, two, sizeof(double) * NBODY_FMM_FIELD(P));
    expand(&b, b.centre, 1, P, one);
    expand(&b, b.centre, 2, P, two);
    fmm_scale_moments(P, 2, two);
    assert_memory_equal(one, two, sizeof(double) * NBODY_FMM_MOMENTS(P));
  }
}

/* Returns the root mean square error of the acceleration of bodies about the origin by bodies `distance` away, over its
 * size. */
static double error_at(int P, double distance, double h2, double *of_potential) {
  double square = 0, potential_square = 0;
  enum { SAMPLES = 20 };
  state = 7;
  for (int sample = 0; sample < SAMPLES; sample++) {
    double direction[3] = {draw(), draw(), draw()}, length = 0, at[3], x[3], moments[MOMENTS], tensor[FIELD];
    double field[FIELD] = {0};
    for (int c = 0; c < 3; c++) length += direction[c] * direction[c];
    for (int c = 0; c < 3; c++) at[c] = distance * direction[c] / sqrt(length);
    const cluster from = draw_cluster(at, 0.5), to = draw_cluster((const double[3]){0, 0, 0}, 0.5);
    for (int c = 0; c < 3; c++) x[c] = to.centre[c] - from.centre[c];
    expand(&from, from.centre, 1, P, moments);
    fmm_tensor(P, x, h2, tensor);
    fmm_contract(P, moments, tensor, field, true);
    for (int i = 0; i < BODIES; i++) {
      double t[3], a[3], exact[3] = {0}, potential = 0, error = 0, size = 0;
      for (int c = 0; c < 3; c++) t[c] = to.x[i][c] - to.centre[c];
      fmm_l2p(P, field, t, a);
      for (int j = 0; j < BODIES; j++) {
        double s2 = h2;
        for (int c = 0; c < 3; c++) s2 += pow(from.x[j][c] - to.x[i][c], 2);
        potential += from.mass[j] / sqrt(s2);
        for (int c = 0; c < 3; c++) exact[c] += from.mass[j] * (from.x[j][c] - to.x[i][c]) * pow(s2, -1.5);
      }
      for (int c = 0; c < 3; c++) error += pow(a[c] - exact[c], 2), size += exact[c] * exact[c];
      square += error / size;
      potential_square += pow(fmm_l2p_potential(P, field, t) / potential - 1, 2);
    }
  }
  *of_potential = sqrt(potential_square / (SAMPLES * BODIES));
  return sqrt(square / (SAMPLES * BODIES));
}

/* The first terms left out have P + 1 derivatives of the field. Relative to the first term the acceleration errs as
 * distance^-P, and the potential as distance^-(P+1), or distance^-P where its moments of rank P are left out. Further
 * terms change the slope between 6 and 12 by less than 0.4. Each order is better than the one before by a good part of
 * the opening angle. */
static void error_falls(void **unused) {
  (void)unused;
  for (int soft = 0; soft < 2; soft++) {
    double before = INFINITY;
    for (int P = NBODY_FMM_ORDER_MIN; P <= NBODY_FMM_ORDER_MAX; P++) {
      double near_potential, far_potential;
      const double h2 = soft ? 1 : 0, near = error_at(P, 6, h2, &near_potential),
                   far = error_at(P, 12, h2, &far_potential);
      const double slope = log2(near / far), potential_slope = log2(near_potential / far_potential);
      if (fabs(slope - P) > 0.4 || fabs(potential_slope - P - 0.5) > 0.9 || !(near < before / 2.5))
        fail_msg("order %d, softening^2 %g: error %.3g at 6, %.3g at 12, slopes %.2f and %.2f", P, h2, near, far, slope,
                 potential_slope);
      before = near;
    }
  }
}

/* Without the potential the rest of the field has the same bits, also where sums run in parallel. Moments of the
 * highest rank that are left out act as zeros. */
static void force_alone(void **unused) {
  (void)unused;
  for (int P = NBODY_FMM_ORDER_MIN; P <= NBODY_FMM_ORDER_MAX; P++) {
    double moments[MOMENTS], tensor[FIELD], one[FIELD] = {0}, two[FIELD] = {0}, abreast[2][FIELD] = {{0}};
    for (int i = 0; i < MOMENTS; i++) moments[i] = draw();
    fmm_tensor(P, (const double[3]){1, 2, 3}, 0.5, tensor);
    fmm_contract(P, moments, tensor, one, true);
    fmm_contract(P, moments, tensor, two, false);
    assert_true(two[0] == 0 && one[0] != 0);
    assert_memory_equal(one + 1, two + 1, sizeof(double) * (NBODY_FMM_FIELD(P) - 1));
    fmm_contract_abreast(P, moments, tensor, abreast[0], true, true);
    fmm_contract_abreast(P, moments, tensor, abreast[1], false, true);
    assert_memory_equal(abreast[0], one, sizeof one);
    assert_memory_equal(abreast[1], two, sizeof two);
    for (int i = NBODY_FMM_MOMENTS(P - 1); i < NBODY_FMM_MOMENTS(P); i++) moments[i] = 0;
    memset(one, 0, sizeof one), memset(two, 0, sizeof two);
    fmm_contract(P, moments, tensor, one, true);
    for (int i = NBODY_FMM_MOMENTS(P - 1); i < NBODY_FMM_MOMENTS(P); i++) moments[i] = NAN;
    fmm_contract_abreast(P, moments, tensor, two, true, false);
    assert_memory_equal(one, two, sizeof one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(moments_move),         cmocka_unit_test(fields_move),
                                     cmocka_unit_test(tensor_is_derivative), cmocka_unit_test(units_do_not_show),
                                     cmocka_unit_test(error_falls),          cmocka_unit_test(force_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
