/* The cells that grains cover, and how much of each. */
#include "kernels/fluid/grains/covered.h"
#include "kernels/fluid/grains/grains.h"

#include <math.h>

double fluid_cover_radius(const fluid_grains *g, int64_t i) {
  static const double curvature = 0.22;
  const double kept = FLUID_SOLID_KEEPS, t = kept / (1 + sqrt(1 - kept * kept)), r = g->s.radius[i] / g->numbers->dx;
  return r + (1 - t) / (1 + t) * (g->numbers->tau - 0.5) + curvature / r;
}

/* The cells lie in the sphere of radius r + sqrt 3. */
double fluid_share_room(double r) { return ceil(4.19 * pow(r + 1.7321, 3)); }

int64_t fluid_box_cells(double r) {
  const int64_t n = (int64_t)floor(2 * r) + 2;
  return n * n * n;
}

/* The velocity of a grain at an arm from its centre, in cells per step. */
static void velocity_at(const fluid_grains *g, int64_t i, const double arm[3], double out[3]) {
  const int64_t n = g->s.n;
  const double unit = g->numbers->dt / g->numbers->dx, dt = g->numbers->dt;
  const double *v = g->s.velocity, *w = g->s.spin;
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    out[a] = unit * v[a * n + i] + dt * (w[b * n + i] * arm[c] - w[c * n + i] * arm[b]);
  }
}

int64_t fluid_share_planes(const fluid_grains *g, int64_t i, int64_t *count) {
  const double r = fluid_cover_radius(g, i), centre = g->s.position[2 * g->s.n + i] / g->numbers->dx;
  const int64_t low = (int64_t)floor(centre - r), high = (int64_t)floor(centre + r);
  *count = high - low < g->part.planes ? high - low + 1 : g->part.planes;
  return low;
}

/* The shares of one grain in this rank's planes. Cells beyond a side that is not periodic are left out. */
static void find_shares_of(fluid_grains *g, const grid_shape *grid, int64_t i) {
  const int64_t n = g->s.n;
  const double r = fluid_cover_radius(g, i);
  double centre[3];
  int64_t low[3], high[3];
  fluid_share *to = g->share + g->room[i];
  for (int a = 0; a < 3; a++) {
    centre[a] = g->s.position[a * n + i] / g->numbers->dx;
    low[a] = (int64_t)floor(centre[a] - r);
    high[a] = (int64_t)floor(centre[a] + r);
  }
  for (int64_t z = low[2]; z <= high[2]; z++) {
    const int64_t plane = (z % grid->n[2] + grid->n[2]) % grid->n[2];
    if (plane < g->part.first || plane >= g->part.end) continue;
    for (int64_t y = low[1]; y <= high[1]; y++)
      for (int64_t x = low[0]; x <= high[0]; x++) {
        int64_t at[3] = {x, y, z};
        double arm[3], from[3];
        bool beyond = false;
        for (int a = 0; a < 3; a++) {
          arm[a] = (double)at[a] + 0.5 - centre[a];
          from[a] = -arm[a];
          beyond = beyond || (!grid_is_periodic(grid, a) && (at[a] < 0 || at[a] >= grid->n[a]));
          at[a] = (at[a] % grid->n[a] + grid->n[a]) % grid->n[a];
        }
        const double part = beyond ? 0 : fluid_covered(from, r);
        if (!(part > 0)) continue;
        *to = (fluid_share){.cell = (at[2] * grid->n[1] + at[1]) * grid->n[0] + at[0],
                            .grain = (int32_t)i,
                            .next = -1,
                            .part = part,
                            .arm = {arm[0], arm[1], arm[2]}};
        velocity_at(g, i, arm, to->velocity);
        to++;
      }
  }
  g->count[i] = (int32_t)(to - g->share - g->room[i]);
}

/* Mean velocity of the grains in a cell, and their share. */
static void set_blend(const fluid_grains *g, const fluid_machine *m, int64_t number) {
  const int64_t nx = m->grid.n[0];
  fluid_blend *to = &g->blend[number];
  double part = 0, sum[3] = {0};
  for (int32_t k = g->of[number]; k >= 0; k = g->share[k].next) {
    part += g->share[k].part;
    for (int a = 0; a < 3; a++) sum[a] += g->share[k].part * g->share[k].velocity[a];
  }
  const int64_t cell = g->share[g->of[number]].cell;
  const int64_t linked = fluid_cell_of(&m->walls, cell / nx, cell % nx);
  *to = (fluid_blend){.cell = {.row = cell / nx, .x = (int32_t)(cell % nx)}};
  if (linked >= 0) to->cell = m->walls.cell[linked];
  to->share = fluid_share_of(fmin(part, 1), g->numbers->tau);
  for (int a = 0; a < 3; a++) to->velocity[a] = sum[a] / part;
}

/* The first share of a cell of this rank. */
static int32_t *head_of(const fluid_grains *g, const grid_shape *grid, int64_t cell) {
  return &g->head[cell - g->part.first * g->part.rows * grid->n[0]];
}

void fluid_find_shares(fluid_grains *g, const fluid_machine *m) {
#pragma omp parallel for schedule(dynamic) num_threads(m->threads) if (m->threads > 1)
  for (int64_t i = 0; i < g->s.n; i++) find_shares_of(g, &m->grid, i);
  g->blends = 0;
  for (int64_t i = g->s.n - 1; i >= 0; i--) /* backwards, so that a cell's shares are in the order of grains */
    for (int32_t j = 0; j < g->count[i]; j++) {
      fluid_share *share = &g->share[g->room[i] + j];
      int32_t *head = head_of(g, &m->grid, share->cell);
      share->next = *head;
      *head = (int32_t)(g->room[i] + j);
    }
  for (int64_t i = 0; i < g->s.n; i++)
    for (int32_t j = 0; j < g->count[i]; j++) {
      const int32_t number = (int32_t)(g->room[i] + j);
      if (*head_of(g, &m->grid, g->share[number].cell) == number) g->of[g->blends++] = number;
    }
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t b = 0; b < g->blends; b++) set_blend(g, m, b);
}

void fluid_clear_shares(fluid_grains *g, const grid_shape *grid) {
  for (int64_t b = 0; b < g->blends; b++) *head_of(g, grid, g->share[g->of[b]].cell) = -1;
}
