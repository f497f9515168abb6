#include "kernels/nbody/cosmos/spectrum.h"
#include "kernels/common/vector.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

int nbody_shells(int64_t m, nbody_shell shells[NBODY_SHELLS_MAX]) {
  const double end = 0.5 * (double)m - 0.5; /* modes at or beyond half the grid's wave number are left out */
  int count = 0;
  for (double low = 0.5; low < end && count < NBODY_SHELLS_MAX; count++) {
    const double high = fmin(low + fmax(1, floor(low / 4)), end);
    shells[count] = (nbody_shell){low, high, (int64_t)floor(0.5 * (low + high))};
    low = high;
  }
  return count;
}

/* Sums over the modes of one plane. */
typedef struct plane_sums {
  double power[NBODY_SHELLS_MAX];
  int64_t modes[NBODY_SHELLS_MAX];
} plane_sums;

struct nbody_spectrum {
  nbody_cube cube;
  double size;
  int shells;
  nbody_shell shell[NBODY_SHELLS_MAX];
  bool with_linear;
  double linear[NBODY_SHELLS_MAX];
  plane_sums *planes;    /* [m] */
  double *window;        /* [m]: inverse of the assignment's transform, by position */
  signed char *shell_of; /* [(m/2 + 1)^2]: shell of a squared wave number; -1: none */
};

static int64_t squares(int64_t m) { return (m / 2 + 1) * (m / 2 + 1); }

double nbody_spectrum_bytes(int64_t m, int threads) {
  return nbody_cube_bytes(m, threads) + (double)m * (sizeof(plane_sums) + sizeof(double)) + (double)squares(m) +
         sizeof(nbody_spectrum);
}

/* Squared wave number at a point of the transformed grid; -1: the point is in no shell. */
static int shell_at(const nbody_spectrum *s, int64_t x, int64_t y, int64_t z) {
  const int64_t *k = s->cube.wave, square = k[x] * k[x] + k[y] * k[y] + k[z] * k[z];
  return square < squares(s->cube.n) ? s->shell_of[square] : -1;
}

/* Averages linear theory over the modes of each shell, from the number of modes of each squared wave number. */
static sim_status average_linear(nbody_spectrum *s, const nbody_power *power) {
  const int64_t m = s->cube.n, count = squares(m);
  int64_t *modes = calloc((size_t)count, sizeof *modes), total[NBODY_SHELLS_MAX] = {0};
  if (modes == NULL) return sim_no_memory("the shells of a spectrum");
  for (int64_t z = -m / 2 + 1; z < m / 2; z++)
    for (int64_t y = -m / 2 + 1; y < m / 2; y++)
      for (int64_t x = -m / 2 + 1; x < m / 2; x++)
        if (x * x + y * y + z * z < count) modes[x * x + y * y + z * z]++;
  for (int64_t square = 1; square < count; square++) {
    const int shell = s->shell_of[square];
    if (shell < 0 || modes[square] == 0) continue;
    s->linear[shell] += (double)modes[square] * nbody_power_at(power, 2 * pi / s->size * sqrt((double)square));
    total[shell] += modes[square];
  }
  for (int i = 0; i < s->shells; i++) s->linear[i] /= (double)total[i];
  s->with_linear = true;
  free(modes);
  return SIM_OK;
}

sim_status nbody_spectrum_create(int64_t m, double size, const nbody_power *power, sim_isa isa, int threads,
                                 nbody_spectrum **out) {
  nbody_spectrum *s = *out = calloc(1, sizeof *s);
  if (s == NULL) return sim_no_memory("a spectrum");
  s->size = size;
  s->shells = nbody_shells(m, s->shell);
  s->planes = calloc((size_t)m, sizeof *s->planes);
  s->window = calloc((size_t)m, sizeof *s->window);
  s->shell_of = calloc((size_t)squares(m), 1);
  sim_status status = SIM_OK;
  if (s->planes == NULL || s->window == NULL || s->shell_of == NULL) status = sim_no_memory("a spectrum");
  if (status == SIM_OK) status = nbody_cube_create(m, isa, threads, &s->cube);
  if (status == SIM_OK) {
    for (int64_t square = 0; square < squares(m); square++) {
      const double k = sqrt((double)square);
      s->shell_of[square] = -1;
      for (int i = 0; i < s->shells; i++)
        if (k >= s->shell[i].low && k < s->shell[i].high) s->shell_of[square] = (signed char)i;
    }
    for (int64_t p = 0; p < m; p++) {
      const double x = pi * (double)s->cube.wave[p] / (double)m;
      s->window[p] = x == 0 ? 1 : (x / sin(x)) * (x / sin(x));
    }
    if (power != NULL) status = average_linear(s, power);
  }
  if (status != SIM_OK) nbody_spectrum_destroy(out);
  return status;
}

void nbody_spectrum_destroy(nbody_spectrum **spectrum) {
  nbody_spectrum *s = *spectrum;
  if (s == NULL) return;
  nbody_cube_destroy(&s->cube);
  free(s->planes);
  free(s->window);
  free(s->shell_of);
  free(s);
  *spectrum = NULL;
}

const double *nbody_spectrum_linear(const nbody_spectrum *s) { return s->with_linear ? s->linear : NULL; }
int nbody_spectrum_shells(const nbody_spectrum *s) { return s->shells; }

/* ---- measurement ---- */

static double number(sim_dtype dtype, const void *values, int64_t i) {
  return dtype == SIM_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* Adds a mass to the eight points around it. `offset`: shift of the position in cells; `imaginary`: offset of the part
 * of the numbers that the mass is added to. */
static void assign(const nbody_cube *cube, const double at[3], double offset, double mass, int64_t imaginary) {
  int64_t point[3][2];
  double share[3][2];
  const int64_t m = cube->n;
  for (int c = 0; c < 3; c++) {
    const double u = at[c] + offset, low = floor(u);
    const int64_t i = (int64_t)low % m;
    point[c][0] = i < 0 ? i + m : i;
    point[c][1] = point[c][0] + 1 == m ? 0 : point[c][0] + 1;
    share[c][1] = u - low;
    share[c][0] = 1 - share[c][1];
  }
  for (int corner = 0; corner < 8; corner++) {
    const int x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
    nbody_cube_at(cube, point[0][x], point[1][y], point[2][z])[imaginary] +=
        mass * share[0][x] * share[1][y] * share[2][z];
  }
}

static double complex value_at(const nbody_cube *cube, int64_t x, int64_t y, int64_t z) {
  const double *v = nbody_cube_at(cube, x, y, z);
  return v[0] + I * v[cube->lanes];
}

/* Contrast delta_k from both grids. The transform of real parts A and imaginary parts B is A_k + i B_k at k, and the
 * conjugate of A_k - i B_k at -k; the displacement of half a cell is a phase. */
static double complex contrast(const nbody_spectrum *s, int64_t x, int64_t y, int64_t z) {
  const nbody_cube *c = &s->cube;
  const int64_t m = c->n;
  const double complex here = value_at(c, x, y, z);
  const double complex there = conj(value_at(c, c->position[(m - c->wave[x]) % m], c->position[(m - c->wave[y]) % m],
                                             c->position[(m - c->wave[z]) % m]));
  const double phase = pi * (double)(c->wave[x] + c->wave[y] + c->wave[z]) / (double)m;
  const double complex A = 0.5 * (here + there), B = -0.5 * I * (here - there);
  return 0.5 * (A + B * (cos(phase) + I * sin(phase))) * (s->window[x] * s->window[y] * s->window[z]);
}

static void sum_plane(const nbody_spectrum *s, int64_t z, plane_sums *out) {
  *out = (plane_sums){0};
  for (int64_t y = 0; y < s->cube.n; y++)
    for (int64_t x = 0; x < s->cube.n; x++) {
      const int shell = shell_at(s, x, y, z);
      if (shell < 0) continue;
      const double complex delta = contrast(s, x, y, z);
      out->power[shell] += creal(delta) * creal(delta) + cimag(delta) * cimag(delta);
      out->modes[shell]++;
    }
}

/* The grids are displaced by 1/4 and 3/4 of a cell, not by 0 and 1/2: a body's share of a point has a bend where the
 * body passes the point, and the bodies of a lattice, on points or midway between them, would all be at a bend. */
void nbody_spectrum_measure(nbody_spectrum *s, sim_dtype dtype, int64_t n, const void *mass, const void *position,
                            double *values) {
  const int64_t m = s->cube.n;
  const double volume = s->size * s->size * s->size, cells = (double)m / s->size;
  double total = 0, of_squares = 0;
  nbody_cube_clear(&s->cube);
  bool finite = true;
  for (int64_t i = 0; i < n && finite; i++) {
    const double own = number(dtype, mass, i);
    double at[3];
    for (int c = 0; c < 3; c++) {
      at[c] = number(dtype, position, c * n + i) * cells;
      finite = finite && fabs(at[c]) < 0x1p52;
    }
    if (!finite) break;
    total += own;
    of_squares += own * own;
    assign(&s->cube, at, 0.25, own, 0);
    assign(&s->cube, at, 0.75, own, s->cube.lanes);
  }
  nbody_cube_forward(&s->cube);
#pragma omp parallel for schedule(static) num_threads(s->cube.threads)
  for (int64_t z = 0; z < m; z++) sum_plane(s, z, &s->planes[z]);
  values[0] = volume * of_squares / (total * total);
  for (int i = 0; i < s->shells; i++) {
    double power = 0;
    int64_t modes = 0;
    for (int64_t z = 0; z < m; z++) {
      power += s->planes[z].power[i];
      modes += s->planes[z].modes[i];
    }
    values[1 + i] = finite ? volume * power / ((double)modes * total * total) : NAN;
  }
}
