/* Writes the operators of the fast multipole method as straight-line C to the standard output; run by the build, which
 * keeps the text as fmm_operators.inc. operators.h says what each function does and what the text needs.
 *
 * A coefficient has a multi-index k = (kx, ky, kz) of rank |k| = kx + ky + kz. Coefficients are stored rank by rank,
 * and within a rank by kx, then ky, from the greatest down: 1 | x y z | xx xy xz yy yz zz | ... Moments of rank 1 are
 * zero about the centre of mass and are not stored. */
#include "kernels/nbody/fmm/fmm.h"

#include <stdbool.h>
#include <stdio.h>

enum { INDICES = NBODY_FMM_FIELD(NBODY_FMM_ORDER_MAX), RANKS = NBODY_FMM_ORDER_MAX + 1 };

typedef struct multi_index {
  int of[3];
} multi_index;

static multi_index indices[INDICES];

static int rank_of(multi_index k) { return k.of[0] + k.of[1] + k.of[2]; }

/* Position among all coefficients. */
static int position(multi_index k) {
  const int rank = rank_of(k), rest = rank - k.of[0];
  return rank * (rank + 1) * (rank + 2) / 6 + rest * (rest + 1) / 2 + k.of[2];
}

/* Position among the moments; -1 for rank 1. */
static int moment(multi_index k) {
  const int rank = rank_of(k);
  return rank == 1 ? -1 : rank == 0 ? 0 : position(k) - 3;
}

static int count(int rank) { return (rank + 1) * (rank + 2) * (rank + 3) / 6; } /* of ranks 0 ... rank */

static multi_index sum(multi_index a, multi_index b) {
  return (multi_index){{a.of[0] + b.of[0], a.of[1] + b.of[1], a.of[2] + b.of[2]}};
}

static bool contains(multi_index k, multi_index part) {
  return k.of[0] >= part.of[0] && k.of[1] >= part.of[1] && k.of[2] >= part.of[2];
}

static multi_index difference(multi_index k, multi_index part) {
  return (multi_index){{k.of[0] - part.of[0], k.of[1] - part.of[1], k.of[2] - part.of[2]}};
}

static multi_index lowered(multi_index k, int axis, int by) {
  k.of[axis] -= by;
  return k;
}

/* The axis of the least exponent that is not 0. */
static int least_axis(multi_index k) {
  int axis = -1;
  for (int c = 0; c < 3; c++)
    if (k.of[c] > 0 && (axis < 0 || k.of[c] < k.of[axis])) axis = c;
  return axis;
}

static void fill_indices(void) {
  for (int x = 0; x < RANKS; x++)
    for (int y = 0; x + y < RANKS; y++)
      for (int z = 0; x + y + z < RANKS; z++) {
        const multi_index k = {{x, y, z}};
        indices[position(k)] = k;
      }
}

/* q[k] = t^k / k! as variables q<position>, for ranks 1 to `rank`. */
static void write_monomials(int rank) {
  for (int d = 2; d <= rank; d++)
    for (int c = 0; c < 3; c++) printf("  const vreal t%d_%d = v_mul(t[%d], v_set((real)(1.0 / %d)));\n", c, d, c, d);
  for (int i = 1; i < count(rank); i++) {
    const multi_index k = indices[i];
    const int axis = least_axis(k), power = k.of[axis];
    char factor[16];
    if (power == 1)
      snprintf(factor, sizeof factor, "t[%d]", axis);
    else
      snprintf(factor, sizeof factor, "t%d_%d", axis, power);
    if (rank_of(k) == 1)
      printf("  const vreal q%d = %s;\n", i, factor);
    else
      printf("  const vreal q%d = v_mul(q%d, %s);\n", i, position(lowered(k, axis, 1)), factor);
  }
}

static void write_p2m(int P) {
  printf("FMM_FUNCTION void fmm_p2m_%d(vreal mass, const vreal t[3], vreal *moments) {\n", P);
  write_monomials(P - 1);
  printf("  moments[0] = v_add(moments[0], mass);\n");
  for (int i = 4; i < count(P - 1); i++)
    printf("  moments[%d] = v_fma(mass, q%d, moments[%d]);\n", moment(indices[i]), i, moment(indices[i]));
  printf("}\n\n");
}

static void write_m2m(int P) {
  printf("FMM_FUNCTION void fmm_m2m_%d(const vreal *child, const vreal t[3], vreal *moments) {\n", P);
  write_monomials(P - 1);
  for (int i = 4; i < count(P - 1); i++)
    printf("  const vreal c%d = v_mul(child[%d], v_set((real)%a));\n", i, moment(indices[i]),
           1.0 / (1 << rank_of(indices[i])));
  printf("  moments[0] = v_add(moments[0], child[0]);\n");
  for (int i = 4; i < count(P - 1); i++) {
    const multi_index k = indices[i];
    const int to = moment(k);
    printf("  moments[%d] = v_add(moments[%d], c%d);\n", to, to, i);
    for (int j = 1; j <= i; j++) {
      if (!contains(k, indices[j])) continue;
      const multi_index of = difference(k, indices[j]);
      if (rank_of(of) == 0)
        printf("  moments[%d] = v_fma(child[0], q%d, moments[%d]);\n", to, j, to);
      else if (rank_of(of) > 1)
        printf("  moments[%d] = v_fma(c%d, q%d, moments[%d]);\n", to, position(of), j, to);
    }
  }
  printf("}\n\n");
}

/* Marks R^m(k) and all that it is made of. */
static void need(bool needed[RANKS][INDICES], int m, multi_index k) {
  if (needed[m][position(k)]) return;
  needed[m][position(k)] = true;
  const int axis = least_axis(k);
  if (axis < 0) return;
  need(needed, m + 1, lowered(k, axis, 1));
  if (k.of[axis] > 1) need(needed, m + 1, lowered(k, axis, 2));
}

/* R^m(k) = x_i R^(m+1)(k - e_i) + (k_i - 1) R^(m+1)(k - 2 e_i), from R^m(0) on. */
static void write_tensor(int P) {
  bool needed[RANKS][INDICES] = {{false}};
  for (int i = 0; i < count(P); i++) need(needed, 0, indices[i]);
  printf("FMM_FUNCTION void fmm_tensor_%d(const vreal x[3], vreal h2, vreal *tensor) {\n", P);
  printf("  const vreal s2 = v_fma(x[2], x[2], v_fma(x[1], x[1], v_fma(x[0], x[0], h2)));\n");
  printf("  const vreal r0_0 = v_inverse_root(s2);\n  const vreal y2 = v_mul(r0_0, r0_0);\n");
  for (int m = 1; m <= P; m++)
    printf("  const vreal r%d_0 = v_mul(v_mul(r%d_0, y2), v_set((real)-%d));\n", m, m - 1, 2 * m - 1);
  for (int m = P - 1; m >= 0; m--)
    for (int i = 1; i < count(P - m); i++) {
      if (!needed[m][i]) continue;
      const multi_index k = indices[i];
      const int axis = least_axis(k), power = k.of[axis], once = position(lowered(k, axis, 1));
      printf("  const vreal r%d_%d = ", m, i);
      if (power == 1) {
        printf("v_mul(x[%d], r%d_%d);\n", axis, m + 1, once);
        continue;
      }
      const int twice = position(lowered(k, axis, 2));
      if (power == 2)
        printf("v_fma(x[%d], r%d_%d, r%d_%d);\n", axis, m + 1, once, m + 1, twice);
      else
        printf("v_fma(x[%d], r%d_%d, v_mul(v_set((real)%d), r%d_%d));\n", axis, m + 1, once, power - 1, m + 1, twice);
    }
  for (int i = 0; i < count(P); i++) printf("  tensor[%d] = r0_%d;\n", i, i);
  printf("}\n\n");
}

static void write_term(int field, int source) {
  printf("  field[%d] = v_fma(moments[%d], tensor[%d], field[%d]);\n", field, moment(indices[source]),
         position(sum(indices[field], indices[source])), field);
}

static bool is_term(int P, int field, int source) {
  return rank_of(indices[source]) != 1 && rank_of(indices[field]) + rank_of(indices[source]) <= P;
}

static void write_contraction(int P) {
  printf("FMM_FUNCTION void fmm_contract_%d(const vreal *moments, const vreal *tensor, vreal *field, "
         "bool with_potential) {\n",
         P);
  for (int i = 0; i < count(P); i++) {
    if (i == 0) printf("  if (with_potential) {\n");
    for (int j = 0; j < count(P - 1); j++)
      if (is_term(P, i, j)) write_term(i, j);
    if (i == 0) printf("  }\n");
  }
  printf("}\n\n");
}

/* The same sums, each in the same order, but several beside each other: a processor then need not wait for the last
 * term of a sum. Ranks 1 and 2 together: 9 sums. Terms of the highest rank of the moments can be left out. */
static void write_contraction_abreast(int P) {
  printf("FMM_FUNCTION void fmm_contract_abreast_%d(const vreal *moments, const vreal *tensor, vreal *field, "
         "bool with_potential, bool with_highest) {\n",
         P);
  for (int first = 1, rank = 2; rank <= P; first = count(rank++))
    for (int j = 0; j < count(P - 1); j++) {
      const bool highest = rank_of(indices[j]) == P - 1;
      if (highest) printf("  if (with_highest) {\n");
      if (first == 1 && is_term(P, 0, j)) {
        printf("  if (with_potential)");
        write_term(0, j);
      }
      for (int i = first; i < count(rank); i++)
        if (is_term(P, i, j)) write_term(i, j);
      if (highest) printf("  }\n");
    }
  printf("}\n\n");
}

static void write_scaling(int P) {
  printf("FMM_FUNCTION void fmm_scale_moments_%d(vreal ratio, vreal *moments) {\n  const vreal p1 = ratio;\n", P);
  for (int d = 2; d < P; d++) printf("  const vreal p%d = v_mul(p%d, ratio);\n", d, d - 1);
  for (int i = 4; i < count(P - 1); i++) {
    const int to = moment(indices[i]);
    printf("  moments[%d] = v_mul(moments[%d], p%d);\n", to, to, rank_of(indices[i]));
  }
  printf("}\n\nFMM_FUNCTION void fmm_scale_tensor_%d(vreal ratio, vreal *tensor) {\n  const vreal p1 = ratio;\n", P);
  for (int d = 2; d <= P + 1; d++) printf("  const vreal p%d = v_mul(p%d, ratio);\n", d, d - 1);
  for (int i = 0; i < count(P); i++) printf("  tensor[%d] = v_mul(tensor[%d], p%d);\n", i, i, rank_of(indices[i]) + 1);
  printf("}\n\n");
}

/* Value `name` = sum over j of field[m + j] t^j / j!, from j = 0 on. */
static void write_shifted(int P, const char *name, multi_index m) {
  printf("  vreal %s = field[%d];\n", name, position(m));
  for (int j = 1; j < count(P - rank_of(m)); j++)
    printf("  %s = v_fma(field[%d], q%d, %s);\n", name, position(sum(m, indices[j])), j, name);
}

static void write_l2l(int P) {
  printf("FMM_FUNCTION void fmm_l2l_%d(const vreal *field, const vreal t[3], vreal *child) {\n", P);
  write_monomials(P);
  for (int i = 0; i < count(P); i++) {
    char name[16];
    snprintf(name, sizeof name, "f%d", i);
    write_shifted(P, name, indices[i]);
    printf("  child[%d] = v_mul(%s, v_set((real)%a));\n", i, name, 0.5 / (1 << rank_of(indices[i])));
  }
  printf("}\n\n");
}

static void write_l2p(int P) {
  printf("FMM_FUNCTION void fmm_l2p_%d(const vreal *field, const vreal t[3], vreal acceleration[3]) {\n", P);
  write_monomials(P - 1);
  for (int c = 0; c < 3; c++) {
    char name[16];
    multi_index k = {{0}};
    k.of[c] = 1;
    snprintf(name, sizeof name, "a%d", c);
    write_shifted(P, name, k);
    printf("  acceleration[%d] = %s;\n", c, name);
  }
  printf("}\n\nFMM_FUNCTION vreal fmm_l2p_potential_%d(const vreal *field, const vreal t[3]) {\n", P);
  write_monomials(P);
  write_shifted(P, "potential", (multi_index){{0}});
  printf("  return potential;\n}\n\n");
}

int main(void) {
  fill_indices();
  printf("/* Made by cmake/fmm_operators.c; see kernels/nbody/fmm/operators.h. */\n\n");
  for (int P = NBODY_FMM_ORDER_MIN; P <= NBODY_FMM_ORDER_MAX; P++) {
    write_p2m(P);
    write_m2m(P);
    write_tensor(P);
    write_contraction(P);
    write_contraction_abreast(P);
    write_scaling(P);
    write_l2l(P);
    write_l2p(P);
  }
  return 0;
}
