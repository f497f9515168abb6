/* Inner loops of the outer images of a periodic box, as fmm.h defines them. In sums of moments a lane is a strand;
 * where fields are evaluated a lane is a body. Compiled once for each instruction set. */
#include "kernels/nbody/fmm/cpu/outer.h"

#include "kernels/nbody/cpu/simd.h"

#include <string.h>

enum {
  P = NBODY_FMM_OUTER_ORDER,
  COUNT = NBODY_FMM_OUTER_COUNT,
  SIDE = NBODY_FMM_OUTER_SIDE,
  CUBES = NBODY_FMM_OUTER_CUBES,
  ROW = NBODY_FMM_OUTER_ROW
};
_Static_assert((int)NBODY_FMM_OUTER_STRANDS == (int)SIMD_LANES, "a lane is a strand");

static inline double coordinate(const nbody_fmm_tree *t, int64_t body, int c) {
  return t->single ? (double)((const float *)t->bodies)[4 * body + c] : ((const double *)t->bodies)[4 * body + c];
}

/* Loads the vectors from the centre of the cube to SIMD_WIDTH bodies, in edges of the cube, and the masses. Lanes from
 * body `end` on are 0. */
SIMD_INLINE void load(const nbody_fmm_tree *t, const int at[3], int64_t body, int64_t end, vreal away[3], vreal *mass) {
  _Alignas(64) double lane[4][SIMD_WIDTH];
  for (int l = 0; l < SIMD_WIDTH; l++) {
    const bool is = body + l < end;
    for (int c = 0; c < 3; c++) lane[c][l] = is ? SIDE * coordinate(t, body + l, c) - (at[c] + 0.5) : 0;
    lane[3][l] = is ? coordinate(t, body + l, 3) : 0;
  }
  for (int c = 0; c < 3; c++) away[c] = v_load(lane[c]);
  *mass = v_load(lane[3]);
}

/* Computes power[c][e] = t[c]^e / e!. */
SIMD_INLINE void list_powers(const vreal t[3], vreal power[3][P + 1]) {
  for (int c = 0; c < 3; c++) {
    power[c][0] = v_set(1);
    for (int e = 1; e <= P; e++) power[c][e] = v_mul(power[c][e - 1], v_mul(t[c], v_set(1.0 / e)));
  }
}

static void moments(const nbody_fmm_tree *t, nbody_fmm_outer *o, int cube) {
  int at[3];
  double sum[COUNT] = {0};
  nbody_fmm_outer_cube(cube, at);
  for (int64_t first = o->first[cube]; first < o->first[cube + 1]; first += NBODY_FMM_OUTER_PIECE) {
    const int64_t rest = o->first[cube + 1] - first;
    const int64_t end = first + (rest < NBODY_FMM_OUTER_PIECE ? rest : NBODY_FMM_OUTER_PIECE);
    _Alignas(64) double strand[COUNT][SIMD_LANES];
    memset(strand, 0, sizeof strand);
    for (int64_t body = first; body < end; body += SIMD_WIDTH) {
      const int lane = (int)((body - first) % SIMD_LANES);
      vreal away[3], mass, power[3][P + 1];
      load(t, at, body, end, away, &mass);
      for (int c = 0; c < 3; c++) away[c] = v_sub(v_set(0), away[c]);
      list_powers(away, power);
      int k = 0;
      for (int i = 0; i <= P; i++)
        for (int j = 0; i + j <= P; j++) {
          const vreal both = v_mul(power[0][i], power[1][j]);
          for (int l = 0; i + j + l <= P; l++, k++) {
            const vreal old = v_load(strand[k] + lane);
            v_store(strand[k] + lane, v_add(old, v_mul(mass, v_mul(both, power[2][l]))));
          }
        }
    }
    for (int k = 0; k < COUNT; k++) {
      for (int half = SIMD_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) strand[k][l] += strand[k][l + half];
      sum[k] += strand[k][0];
    }
  }
  for (int k = 0, place = nbody_fmm_outer_place(cube); k < COUNT; k++) o->moments[CUBES * k + place] = sum[k];
}

static void field(nbody_fmm_outer *o, int cube) {
  int at[3];
  nbody_fmm_outer_cube(cube, at);
  for (int i = 0; i <= P; i++)
    for (int j = 0; i + j <= P; j++)
      for (int l = 0; i + j + l <= P; l++) {
        double sum[CUBES] = {0}; /* one strand for each source cube */
        for (int p = 0; i + j + l + p <= P; p++)
          for (int q = 0; i + j + l + p + q <= P; q++)
            for (int s = 0; i + j + l + p + q + s <= P; s++) {
              const double *moment = o->moments + (size_t)(nbody_fmm_outer_position(p, q) + s) * CUBES;
              const double *tensor =
                  o->tensors + (size_t)(nbody_fmm_outer_position(i + p, j + q) + l + s) * ROW * ROW * ROW;
              for (int z = 0; z < SIDE; z++)
                for (int y = 0; y < SIDE; y++) {
                  const double *m = moment + (z * SIDE + y) * SIDE; /* of the cubes x = 3, 2, 1, 0 */
                  const double *d = tensor + nbody_fmm_outer_difference(at[0] - (SIDE - 1), at[1] - y, at[2] - z);
                  double *strand = sum + (z * SIDE + y) * SIDE;
                  for (int x = 0; x < SIDE; x++) strand[x] += m[x] * d[x];
                }
            }
        for (int half = CUBES / 2; half > 0; half /= 2)
          for (int s = 0; s < half; s++) sum[s] += sum[s + half];
        o->fields[cube][nbody_fmm_outer_position(i, j) + l] = sum[0];
      }
}

/* Whether one of SIMD_WIDTH bodies, in the order of keys, is a target. */
static bool has_target(const nbody_fmm_tree *t, const nbody_targets *targets, int64_t body, int64_t end) {
  bool has = targets == NULL;
  for (int l = 0; !has && l < SIMD_WIDTH && body + l < end; l++)
    has = targets->level[t->order[body + l]] >= targets->least;
  return has;
}

static void accelerate(const nbody_fmm_tree *t, const nbody_fmm_outer *o, int cube, int64_t first, int64_t end,
                       const nbody_targets *targets, double scale, double factor, double *acceleration) {
  int at[3];
  const double *const f = o->fields[cube];
  nbody_fmm_outer_cube(cube, at);
  for (int64_t body = first; body < end; body += SIMD_WIDTH) {
    if (!has_target(t, targets, body, end)) continue;
    vreal away[3], mass, power[3][P + 1], sum[3] = {v_set(0), v_set(0), v_set(0)};
    load(t, at, body, end, away, &mass);
    list_powers(away, power);
    for (int i = 0; i < P; i++)
      for (int j = 0; i + j < P; j++) {
        const vreal both = v_mul(power[0][i], power[1][j]);
        const double *const x = f + nbody_fmm_outer_position(i + 1, j), *const y =
                                                                            f + nbody_fmm_outer_position(i, j + 1);
        const double *const z = f + nbody_fmm_outer_position(i, j) + 1;
        for (int l = 0; i + j + l < P; l++) {
          const vreal all = v_mul(both, power[2][l]);
          sum[0] = v_add(sum[0], v_mul(v_set(x[l]), all));
          sum[1] = v_add(sum[1], v_mul(v_set(y[l]), all));
          sum[2] = v_add(sum[2], v_mul(v_set(z[l]), all));
        }
      }
    for (int c = 0; c < 3; c++) {
      _Alignas(64) double lane[SIMD_WIDTH];
      v_store(lane, sum[c]);
      for (int l = 0; l < SIMD_WIDTH && body + l < end; l++) {
        double *const a = &acceleration[c * t->n + t->order[body + l]];
        *a = (*a + SIDE * lane[l] * scale) * factor;
      }
    }
  }
}

static void potential(const nbody_fmm_tree *t, const nbody_fmm_outer *o, int cube, int64_t first, int64_t end,
                      double *terms) {
  int at[3];
  nbody_fmm_outer_cube(cube, at);
  for (int64_t body = first; body < end; body += SIMD_WIDTH) {
    _Alignas(64) double lane[SIMD_WIDTH];
    vreal away[3], mass, power[3][P + 1], sum = v_set(0);
    const double *f = o->fields[cube];
    load(t, at, body, end, away, &mass);
    list_powers(away, power);
    for (int i = 0; i <= P; i++)
      for (int j = 0; i + j <= P; j++) {
        const vreal both = v_mul(power[0][i], power[1][j]);
        for (int l = 0; i + j + l <= P; l++) sum = v_add(sum, v_mul(v_set(*f++), v_mul(both, power[2][l])));
      }
    v_store(lane, v_mul(mass, sum));
    for (int l = 0; l < SIMD_WIDTH && body + l < end; l++) terms[t->order[body + l]] += lane[l];
  }
}

const nbody_fmm_outer_loops NBODY_FMM_OUTER = {moments, field, accelerate, potential};
