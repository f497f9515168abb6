/* Steps of a whole grid, by threads. No result depends on how rows are dealt out. */
#include "kernels/fluid/cpu/push.h"
#include "kernels/fluid/cpu/rheology.h"

#include "engine/reduce.h"

#include <stddef.h>
#include <string.h>

const fluid_kernels *fluid_kernels_of(bool single, bool populations, sim_isa isa) {
  if (populations) switch (isa) {
#if FLUID_X86
    case SIM_ISA_AVX512: return single ? &fluid_trt_kernels_single_avx512 : &fluid_trt_kernels_double_avx512;
    case SIM_ISA_AVX2: return single ? &fluid_trt_kernels_single_avx2 : &fluid_trt_kernels_double_avx2;
#endif
    default: return single ? &fluid_trt_kernels_single_plain : &fluid_trt_kernels_double_plain;
    }
  switch (isa) {
#if FLUID_X86
  case SIM_ISA_AVX512: return single ? &fluid_kernels_single_avx512 : &fluid_kernels_double_avx512;
  case SIM_ISA_AVX2: return single ? &fluid_kernels_single_avx2 : &fluid_kernels_double_avx2;
#endif
  default: return single ? &fluid_kernels_single_plain : &fluid_kernels_double_plain;
  }
}

fluid_rows fluid_rows_of(const fluid_parameters *p) {
  const grid_shape grid = fluid_grid_of(p);
  fluid_rows rows = {.pitch = (grid.n[0] + 2 + FLUID_PAD - 1) / FLUID_PAD * FLUID_PAD,
                     .numbers = fluid_lattice_for(p)->moments + (fluid_single(p) ? grid.rank : 0) + fluid_has_rates(p)};
  memcpy(rows.n, grid.n, sizeof rows.n);
  if (p->collision == FLUID_TRT) {
    /* an odd number of lines of a cache, so that the populations of a cell lie in different sets of it */
    rows.numbers = fluid_lattice_for(p)->directions;
    rows.group = grid.rank == 3 ? grid.n[1] : 1;
    rows.width = (grid.n[0] + FLUID_PAD - 1) / FLUID_PAD * FLUID_PAD;
    const int64_t lines = rows.group * rows.width / FLUID_PAD;
    rows.stride = (lines + 1 + lines % 2) * FLUID_PAD;
  } else {
    rows.group = 1;
    rows.width = rows.stride = rows.pitch;
    rows.copies = true;
  }
  if (p->force) {
    rows.force = rows.numbers;
    rows.numbers += grid.rank;
  }
  return rows;
}

double fluid_state_numbers(const fluid_rows *rows) {
  const double groups = (double)rows->n[1] * (double)rows->n[2] / (double)rows->group;
  return groups * (double)rows->numbers * (double)rows->stride + 2 * FLUID_PAD;
}

void fluid_copy_ends(const fluid_machine *m, char *row, size_t size) {
  const size_t nx = (size_t)m->grid.n[0];
  if (!m->rows.copies || !grid_is_periodic(&m->grid, 0)) return;
  for (int k = 0; k < m->lattice->moments; k++, row += (size_t)m->rows.stride * size) {
    memcpy(row - size, row + (nx - 1) * size, size);
    memcpy(row + nx * size, row, size);
  }
}

/* Whether two states, of numbers of `number` bytes, exceed the caches of a processor. */
static bool large_states(const fluid_machine *m, size_t number) {
  const double caches = 64 << 20;
  return 2 * fluid_state_numbers(&m->rows) * (double)number > caches;
}

/* Rows y0 <= y < y1 of a plane. */
static bool sweep_rows(const fluid_machine *m, const sim_buffer *from, const sim_buffer *to, int64_t z, int64_t y0,
                       int64_t y1) {
  const int64_t ny = m->grid.n[1], nz = m->grid.n[2];
  enum { LINES = 16 }; /* of a cache, by which each population of a plane is fetched ahead */
  const size_t number = sim_dtype_size(from->dtype);
  const int64_t line = 64 / (int64_t)number, next = m->rows.numbers * m->rows.stride;
  const char *old = fluid_first(from);
  char *new = fluid_first(to);
  const bool large = large_states(m, number) && !m->push; /* its force is read and written again */
  bool wrong = false;
  for (int64_t y = y0; y < y1; y++) {
    fluid_row row = {.n = m->rows.n[0],
                     .stride = m->rows.stride,
                     .numbers = m->rows.numbers,
                     .ahead = m->rows.group > 1 ? LINES * line : next,
                     .to = new + (size_t)fluid_row_at(&m->rows, z * ny + y) * number,
                     .periodic = grid_is_periodic(&m->grid, 0),
                     .large = large,
                     .drag = m->drag ? m->drag + (z * ny + y) * m->rows.n[0] : NULL};
    for (int64_t dz = -1; dz <= 1; dz++)
      for (int64_t dy = -1; dy <= 1; dy++)
        row.from[3 * (dz + 1) + dy + 1] =
            old + (size_t)fluid_row_at(&m->rows, (z + dz + nz) % nz * ny + (y + dy + ny) % ny) * number;
    wrong |= m->rheology ? fluid_rheology_row(m, &row, z * ny + y) : m->kernels->row(m->lattice, &m->collision, &row);
  }
  return wrong;
}

/* Planes z0 <= z < z1, or their rows y0 <= y < y1: moments by blocks of rows whose three planes stay in the
 * second-level cache. Each population is read once. */
static bool sweep_part(const fluid_machine *m, const sim_buffer *from, const sim_buffer *to, const int64_t z[2],
                       const int64_t y[2]) {
  enum { CACHE = 512 * 1024, LEAST = 4 };
  const double row = (double)m->rows.numbers * (double)m->rows.stride * (double)sim_dtype_size(from->dtype);
  const int64_t fits = (int64_t)(CACHE / (3 * row)) - 2;
  const int64_t block = m->populations ? y[1] - y[0] : fits > LEAST ? fits : LEAST;
  bool wrong = false;
  for (int64_t first = y[0]; first < y[1]; first += block)
    for (int64_t plane = z[0]; plane < z[1]; plane++)
      wrong |= sweep_rows(m, from, to, plane, first, first + block < y[1] ? first + block : y[1]);
#if FLUID_X86
  __builtin_ia32_sfence(); /* what was stored past the caches is there before other threads and ranks read it */
#endif
  return wrong;
}

/* Solid cells are at rest. (Rows are apart: no two spans write one number.) */
void fluid_clear_solid(const fluid_machine *m, const sim_buffer *state) {
  const fluid_walls *w = &m->walls;
  const grid_range own =
      fluid_items_of_rows(w->span, sizeof *w->span, offsetof(fluid_span, row), w->spans, fluid_part_rows(&m->part));
  const size_t size = sim_dtype_size(state->dtype);
  const int64_t nx = m->grid.n[0];
  char *first = fluid_first(state);
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t i = own.first; i < own.end; i++) {
    const fluid_span *span = &w->span[i];
    for (int k = 0; k < m->rows.numbers; k++) {
      char *row = first + (size_t)(fluid_row_at(&m->rows, span->row) + k * m->rows.stride) * size;
      memset(row + (size_t)span->x * size, 0, (size_t)span->count * size);
      if (!m->rows.copies) continue;
      if (span->x == 0) memset(row + (size_t)nx * size, 0, size); /* the copies beyond the ends */
      if (span->x + span->count == nx) memset(row - size, 0, size);
    }
  }
}

void fluid_finish_rows(const fluid_machine *m, const sim_buffer *state) {
  const size_t size = sim_dtype_size(state->dtype);
  const grid_range rows = fluid_part_rows(&m->part);
  fluid_clear_solid(m, state);
  for (int64_t i = rows.first; i < rows.end; i++)
    fluid_copy_ends(m, (char *)fluid_first(state) + (size_t)fluid_row_at(&m->rows, i) * size, size);
}

/* By any thread. */
static void set_flag(int *flag) {
#pragma omp atomic write
  *flag = 1;
}

double fluid_set_moment(const fluid_machine *m, void *first, int64_t at, int64_t x, double value) {
  const int64_t nx = m->grid.n[0];
  grid_set_number(first, m->single, at, value);
  const double stored = grid_number(first, m->single, at);
  if (!m->rows.copies) return value - stored;
  if (x == 0) grid_set_number(first, m->single, at + nx, stored);
  if (x == nx - 1) grid_set_number(first, m->single, at - nx, stored);
  return value - stored;
}

/* Numbers of a cell that hold its mass: moment A, or the populations. */
static int mass_numbers(const fluid_machine *m) { return m->populations ? m->lattice->directions : 1; }

/* Place of the first of them in a state. */
static int64_t mass_at(const fluid_machine *m, const fluid_cell *cell) {
  return fluid_row_at(&m->rows, cell->row) + cell->x;
}

/* A state whose cells get mass: mass[members][1 + mass_numbers] as of find_masses. */
typedef struct giving {
  const fluid_machine *m;
  const sim_buffer *state;
  const double *mass;
} giving;

/* To the fluid at rest of a cell, where the cell is this rank's: a fluid_add_mass. */
static double add_mass(void *context, int64_t member, double mass) {
  const giving *to = context;
  const fluid_machine *m = to->m;
  const fluid_cell *cell = &m->walls.cell[m->walls.member[member]];
  const double *old = to->mass + member * (1 + mass_numbers(m)) + 1;
  double added = 0;
  for (int c = 0; c < mass_numbers(m); c++) {
    const double new = m->single ? (double)(float)(old[c] + mass) : old[c] + mass;
    if (fluid_part_has_row(&m->part, cell->row))
      (void)fluid_set_moment(m, fluid_first(to->state), mass_at(m, cell) + c * m->rows.stride, cell->x, new);
    added += (m->populations ? fluid_weight(m->lattice, c) : 1) * (new - old[c]);
  }
  return added;
}

double fluid_pushed(const fluid_machine *m, const fluid_cell *cell) {
  double out = 0;
  for (int i = cell->first; m->walls.speed && i < cell->first + cell->count; i++) {
    const int8_t *c = m->lattice->c[m->walls.link[i].arriving];
    double along = 0;
    for (int a = 0; a < 3; a++) along += (m->walls.link[i].mirror & 1 << a ? -c[a] : c[a]) * m->walls.speed[i][a];
    out += 6 * fluid_weight(m->lattice, m->walls.link[i].arriving) * along;
  }
  return out;
}

sim_status fluid_find_links(const fluid_machine *m, const sim_buffer *state, fluid_links *out) {
  const fluid_walls *w = &m->walls;
  const bool warm = m->warmth && m->warmth->law.pushes;
  *out = (fluid_links){w->cell, w->link, NULL};
  if (!m->push && !warm) return SIM_OK;
  double(*push)[3] = fluid_scratch_of(&m->part, FLUID_SCRATCH_PUSH, (size_t)w->cells * sizeof *push + 1);
  if (!push) return sim_no_memory("the force at walls");
  const grid_range cells =
      fluid_items_of_rows(w->cell, sizeof *w->cell, offsetof(fluid_cell, row), w->cells, fluid_part_rows(&m->part));
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t i = cells.first; i < cells.end; i++) {
    const fluid_cell *cell = &w->cell[i];
    double lift[3] = {0};
    fluid_push_of(m, state, cell->row, cell->x, push[i]);
    if (warm) fluid_buoyancy(m->warmth, m->warmth->heat[0][fluid_heat_at(m, cell->row, cell->x)], lift);
    for (int a = 0; a < m->lattice->rank; a++) push[i][a] += lift[a];
  }
  out->push = (const double(*)[3])push;
  return SIM_OK;
}

/* Mass that interpolation at bodies takes from this rank's cells. */
static void find_lost(const fluid_machine *m, const fluid_links *links, const sim_buffer *from) {
  const fluid_walls *w = &m->walls;
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t i = 0; i < w->members; i++) {
    const fluid_cell *cell = &w->cell[w->member[i]];
    if (fluid_part_has_row(&m->part, cell->row))
      w->lost[i] =
          m->kernels->lost(m->lattice, &m->rows, links, w->member[i], fluid_first(from)) + fluid_pushed(m, cell);
  }
}

/* mass[members][1 + mass_numbers] of the cells of all ranks that touch bodies: walls.lost, and what holds their mass.
 * row[members]: scratch. */
static sim_status find_masses(const fluid_machine *m, const sim_buffer *state, int64_t *row, double *mass) {
  const fluid_walls *w = &m->walls;
  const int numbers = mass_numbers(m), each = 1 + numbers;
  for (int64_t i = 0; i < w->members; i++) {
    const fluid_cell *cell = &w->cell[w->member[i]];
    row[i] = cell->row;
    if (!fluid_part_has_row(&m->part, cell->row)) continue;
    mass[i * each] = w->lost[i];
    for (int c = 0; c < numbers; c++)
      mass[i * each + 1 + c] = grid_number(fluid_first(state), m->single, mass_at(m, cell) + c * m->rows.stride);
  }
  SIM_TRY(fluid_gather_items(&m->part, row, w->members, (size_t)each * sizeof *mass, mass));
  for (int64_t i = 0; i < w->members; i++) w->lost[i] = mass[i * each];
  return SIM_OK;
}

void fluid_share_mass(const fluid_walls *w, fluid_add_mass *add, void *context) {
  for (int64_t patch = 0; patch < w->patches; patch++) {
    const int64_t first = w->patch[patch], count = w->patch[patch + 1] - first;
    const double part = sim_reduce_tree(w->lost + first, (size_t)count) / (double)count;
    double rest = 0;
    for (int64_t i = first; i < first + count; i++) {
      rest += part;
      rest -= add(context, i, rest);
    }
  }
}

sim_status fluid_return_mass(const fluid_machine *m, const sim_buffer *to) {
  const fluid_walls *w = &m->walls;
  const int each = 1 + mass_numbers(m);
  if (w->members == 0) return SIM_OK;
  const size_t bytes = sizeof(int64_t) + (size_t)each * sizeof(double);
  int64_t *row = fluid_scratch_of(&m->part, FLUID_SCRATCH_MASSES, (size_t)w->members * bytes);
  if (!row) return sim_no_memory("cells at bodies");
  double *mass = (double *)(row + w->members);
  SIM_TRY(find_masses(m, to, row, mass));
  fluid_share_mass(w, add_mass, &(giving){m, to, mass});
  return SIM_OK;
}

sim_status fluid_sweep(const fluid_machine *m, const sim_buffer *from, const sim_buffer *to, bool *wrong) {
  const fluid_part *p = &m->part;
  const fluid_walls *w = &m->walls;
  const int threads = m->threads;
  const int64_t own = p->end - p->first;
  const bool flat = m->grid.rank == 2, planes = flat || own >= threads; /* threads share planes, or rows of all */
  int told = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    const int64_t part[2] = {p->first + own * t / threads, p->first + own * (t + 1) / threads};
    const int64_t all[2] = {p->first, p->end}, rows[2] = {p->rows * t / threads, p->rows * (t + 1) / threads};
    const int64_t whole[2] = {0, flat ? 1 : p->rows};
    const bool left = flat     ? sweep_part(m, from, to, whole, part)
                      : planes ? sweep_part(m, from, to, part, whole)
                               : sweep_part(m, from, to, all, rows);
    if (left) set_flag(&told);
  }
  fluid_clear_solid(m, to);
  fluid_links links;
  SIM_TRY(fluid_find_links(m, from, &links));
  const grid_range cells =
      fluid_items_of_rows(w->cell, sizeof *w->cell, offsetof(fluid_cell, row), w->cells, fluid_part_rows(p));
  const int64_t count = cells.end - cells.first;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    const grid_range some = {cells.first + count * t / threads, cells.first + count * (t + 1) / threads};
    const bool left = m->rheology ? fluid_rheology_cells(m, &links, some, from, to)
                                  : m->kernels->cells(m->lattice, &m->collision, &m->rows, &links, some.first, some.end,
                                                      fluid_first(from), fluid_first(to));
    if (left) set_flag(&told);
  }
  *wrong = told != 0;
  find_lost(m, &links, from);
  return fluid_return_mass(m, to);
}
