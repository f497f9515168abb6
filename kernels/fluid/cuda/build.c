/* Walls in device memory: masks of cells, links, patches of cells at bodies, and what lies beside cells. */
#include "kernels/fluid/cuda/host.h"
#include "kernels/fluid/start/start.h"

#include "engine/device/cuda.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

sim_status fluid_cuda_send(const void *data, size_t bytes, void **out) {
  *out = NULL;
  if (bytes == 0) return SIM_OK;
  SIM_TRY(sim_backend_cuda.alloc(bytes, out));
  return data ? sim_backend_cuda.copy(*out, data, bytes) : SIM_OK;
}
sim_status fluid_cuda_send_away(void *data, size_t bytes, void **out) {
  const sim_status status = data || bytes == 0 ? fluid_cuda_send(data, bytes, out) : sim_no_memory("the walls");
  free(data);
  return status;
}

void fluid_cuda_release(void *at) {
  void *data;
  memcpy(&data, at, sizeof data);
  sim_backend_cuda.free(data);
  memset(at, 0, sizeof data);
}

static void free_walls(fluid_device *d) {
  void *const all[] = {&d->skip, &d->beside.solid, &d->cell,   &d->edge,        &d->edge_body,
                       &d->lost, &d->segment,      &d->member, &d->segment_sum, &d->packed};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) fluid_cuda_release(all[i]);
  d->cells = d->listed = d->members = d->segments = 0;
  d->first_cell = d->end_cell = d->first_damped = d->end_damped = 0;
}

static void free_cuts(fluid_device *d) {
  fluid_cuda_release(&d->beside.cut);
  d->beside.cuts = 0;
}

void fluid_cuda_free(fluid_device *d) {
  void *const all[] = {&d->mean, &d->share,  &d->through,    &d->probe,        &d->probed,      &d->arrived,
                       &d->drag, &d->staged, &d->remembered, &d->end_velocity, &d->own_velocity};
  free_walls(d);
  fluid_cuda_free_pulls(d);
  free_cuts(d);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) fluid_cuda_release(all[i]);
  for (int s = 0; s < FLUID_SIDES; s++) fluid_cuda_release(&d->beside.profile[s]);
  fluid_cuda_free_timed(d);
  fluid_cuda_free_gates(d);
  fluid_cuda_free_heat(d);
  fluid_cuda_free_grains(d);
}

static void set_bit(const fluid_layout *l, uint32_t *mask, int64_t row, int64_t x) {
  mask[row * l->groups + x / FLUID_GROUP] |= (uint32_t)1 << (x % FLUID_GROUP);
}

/* ---- cells of sponges whose temperature follows the damped flow ---- */

/* Cells at both ends of a row that are in sponges: *low first ones, and those from *high on. */
static void damped_ends(const fluid_machine *m, int64_t row, int64_t *low, int64_t *high) {
  const int64_t *n = m->grid.n, at[3] = {0, row % n[1], row / n[1]};
  *low = 0;
  *high = n[0];
  for (int i = 0; i < m->sponge.layers; i++) {
    const fluid_layer *layer = &m->sponge.layer[i];
    const int axis = layer->side / 2;
    if (axis == 0 && layer->side % 2)
      *high = n[0] - layer->planes;
    else if (axis == 0)
      *low = layer->planes;
    else if ((layer->side % 2 ? n[axis] - 1 - at[axis] : at[axis]) < layer->planes)
      *high = *low = 0;
    if (*high == 0) return; /* all of them */
  }
}

/* Calls `add`, if it is not NULL, for each cell of sponges without links in the order of rows; returns their number. */
typedef void damped_action(void *context, int64_t row, int64_t x);
static int64_t each_damped(const fluid_machine *m, damped_action *add, void *context) {
  const fluid_walls *w = &m->walls;
  const int64_t *n = m->grid.n;
  int64_t count = 0, next = 0, low, high;
  if (!m->warmth || m->sponge.layers == 0) return 0;
  for (int64_t row = 0; row < n[1] * n[2]; row++) {
    damped_ends(m, row, &low, &high);
    for (int64_t x = 0; x < n[0]; x++) {
      if (x == low && low < high) x = high;
      if (x == n[0]) break;
      while (next < w->cells && (w->cell[next].row < row || (w->cell[next].row == row && w->cell[next].x < x))) next++;
      if (next < w->cells && w->cell[next].row == row && w->cell[next].x == x) continue;
      if (w->solid && w->solid[row * n[0] + x]) continue;
      if (add) add(context, row, x);
      count++;
    }
  }
  return count;
}

int64_t fluid_cuda_damped_cells(const fluid_machine *m) { return each_damped(m, NULL, NULL); }

static void keep_row(void *context, int64_t row, int64_t x) {
  int64_t **to = context;
  (void)x;
  *(*to)++ = row;
}
void fluid_cuda_damped_rows(const fluid_machine *m, int64_t *rows) { (void)each_damped(m, keep_row, &rows); }

double fluid_cuda_damped_bound(const fluid_parameters *p) {
  return p->heat.given ? fluid_sponge_bytes(p) / sizeof(double) : 0;
}

/* The row of the arrays here of a row of this rank's planes; of other rows it is none. */
static int64_t row_here(const fluid_machine *m, const fluid_device *d, int64_t row) {
  return row - d->from * m->part.rows;
}

/* Of this rank's cells: the only ones that it makes. */
typedef struct masking {
  const fluid_machine *m;
  const fluid_device *d;
  uint32_t *mask;
} masking;
static void mask_cell(void *context, int64_t row, int64_t x) {
  const masking *to = context;
  if (fluid_part_has_row(&to->m->part, row)) set_bit(&to->d->l, to->mask, row_here(to->m, to->d, row), x);
}

/* Cells with links of some planes. */
static grid_range cells_of_planes(const fluid_machine *m, int64_t first, int64_t end) {
  const fluid_walls *w = &m->walls;
  return fluid_items_of_rows(w->cell, sizeof *w->cell, offsetof(fluid_cell, row), w->cells,
                             (grid_range){first * m->part.rows, end * m->part.rows});
}

/* Sets the bits of a plane of the grid, whose first row is row `to` of the mask. */
static void mask_plane(const fluid_machine *m, const fluid_layout *l, int64_t plane, int64_t to, bool walls,
                       uint32_t *mask) {
  const fluid_walls *w = &m->walls;
  const int64_t first = plane * m->part.rows;
  const grid_range spans = fluid_items_of_rows(w->span, sizeof *w->span, offsetof(fluid_span, row), w->spans,
                                               (grid_range){first, first + m->part.rows});
  const grid_range cells = cells_of_planes(m, plane, plane + 1);
  for (int64_t i = spans.first; i < spans.end; i++)
    for (int64_t j = 0; j < w->span[i].count; j++) set_bit(l, mask, w->span[i].row - first + to, w->span[i].x + j);
  for (int64_t i = cells.first; walls && i < cells.end; i++)
    set_bit(l, mask, w->cell[i].row - first + to, w->cell[i].x);
}

sim_status fluid_cuda_send_mask(const fluid_machine *m, const fluid_device *d, fluid_mask which, uint32_t **out) {
  const fluid_walls *w = &m->walls;
  const fluid_layout *l = &d->l;
  const size_t words = (size_t)l->n[1] * (size_t)l->n[2] * (size_t)l->groups;
  const bool walls = which != FLUID_MASK_SOLID && w->cells > 0;
  const bool layers = which == FLUID_MASK_LISTED && m->warmth && m->sponge.layers > 0;
  void *there = NULL;
  *out = NULL;
  if (w->spans == 0 && !walls && !layers) return SIM_OK;
  uint32_t *mask = calloc(words, sizeof *mask);
  if (!mask) return sim_no_memory("the walls");
  for (int64_t k = 0; k < l->n[m->grid.rank - 1]; k++)
    mask_plane(m, l, fluid_cuda_plane(m, d, k), k * m->part.rows, walls, mask);
  if (layers) (void)each_damped(m, mask_cell, &(masking){m, d, mask});
  const sim_status status = fluid_cuda_send_away(mask, words * sizeof *mask, &there);
  *out = there;
  return status;
}

static sim_status send_masks(const fluid_builder *m) {
  uint32_t *solid;
  const sim_status status = fluid_cuda_send_mask(m->m, m->d, FLUID_MASK_SOLID, &solid);
  m->d->beside.solid = solid;
  return status == SIM_OK ? fluid_cuda_send_mask(m->m, m->d, FLUID_MASK_LISTED, &m->d->skip) : status;
}

static fluid_edge_cell edge_cell(const fluid_machine *m, const fluid_device *d, int64_t row, int64_t x, int32_t first,
                                 int32_t count) {
  const int64_t y = row % m->grid.n[1], z = row / m->grid.n[1];
  const bool flat = m->grid.rank == 2;
  return (fluid_edge_cell){
      {(int32_t)x, (int32_t)(flat ? y - d->from : y), (int32_t)(flat ? z : z - d->from)}, first, count};
}

/* Lists cells of sponges, and counts those before this rank's own and those up to their end. */
typedef struct listing {
  const fluid_machine *m;
  const fluid_device *d;
  fluid_edge_cell *next;
  int before, until;
} listing;
static void list_cell(void *context, int64_t row, int64_t x) {
  listing *to = context;
  *to->next++ = edge_cell(to->m, to->d, row, x, 0, 0);
  to->before += row < to->m->part.first * to->m->part.rows;
  to->until += row < to->m->part.end * to->m->part.rows;
}

static sim_status send_cells(const fluid_builder *m) {
  const fluid_walls *w = &m->m->walls;
  const int64_t listed = w->cells + fluid_cuda_damped_cells(m->m);
  const size_t links = (size_t)w->links;
  if (listed == 0) return SIM_OK;
  const grid_range own = cells_of_planes(m->m, m->m->part.first, m->m->part.end);
  m->d->cells = (int)w->cells;
  m->d->listed = (int)listed;
  m->d->first_cell = (int)own.first;
  m->d->end_cell = (int)own.end;
  fluid_edge_cell *cell = malloc((size_t)listed * sizeof *cell);
  for (int64_t i = 0; cell && i < w->cells; i++)
    cell[i] = edge_cell(m->m, m->d, w->cell[i].row, w->cell[i].x, w->cell[i].first, w->cell[i].count);
  listing damped = {m->m, m->d, cell ? cell + w->cells : NULL, 0, 0};
  if (cell) (void)each_damped(m->m, list_cell, &damped);
  m->d->first_damped = (int)w->cells + damped.before;
  m->d->end_damped = (int)w->cells + damped.until;
  SIM_TRY(fluid_cuda_send_away(cell, (size_t)listed * sizeof *cell, (void **)&m->d->cell));
  const size_t size = m->d->single ? sizeof(fluid_edge_single) : sizeof(fluid_edge_double);
  void *edges = calloc(links + 1, size); /* one more: there may be none */
  for (int64_t i = 0; edges && i < w->links; i++) {
    const fluid_link *link = &w->link[i];
    if (m->d->single)
      ((fluid_edge_single *)edges)[i] = (fluid_edge_single){(float)link->weight, (float)link->constant, link->kind,
                                                            link->arriving,      link->second,          link->towards};
    else
      ((fluid_edge_double *)edges)[i] =
          (fluid_edge_double){link->weight, link->constant, link->kind, link->arriving, link->second, link->towards};
  }
  if (m->d->populations)
    SIM_TRY(fluid_cuda_send(NULL, links * (m->d->single ? sizeof(float) : sizeof(double)), &m->d->arrived));
  return fluid_cuda_send_away(edges, links * size, &m->d->edge);
}

/* Patches, and for which links the cells count what they lose. */
static sim_status send_patches(const fluid_builder *m) {
  const fluid_walls *w = &m->m->walls;
  int segments = 0, next = 0;
  m->d->members = (int)w->members;
  if (w->members == 0) return SIM_OK;
  SIM_TRY(fluid_cuda_send(w->member, (size_t)w->members * sizeof *w->member, (void **)&m->d->member));
  SIM_TRY(fluid_cuda_send(NULL, (size_t)m->d->listed * sizeof(double), (void **)&m->d->lost));
  if (fluid_cuda_divided(m->m) && !m->m->motion)
    SIM_TRY(fluid_cuda_send(NULL, (size_t)fluid_cuda_exchanged(m->m, m->d) * sizeof(double), (void **)&m->d->packed));
  int8_t *body = malloc((size_t)w->links);
  for (int64_t i = 0; body && i < w->links; i++) body[i] = (int8_t)w->link[i].body;
  SIM_TRY(fluid_cuda_send_away(body, (size_t)w->links, (void **)&m->d->edge_body));
  if (m->m->motion) return SIM_OK; /* moving.c gives the mass back */
  for (int64_t i = 0; i < w->patches; i++)
    segments += (w->patch[i + 1] - w->patch[i] + FLUID_SEGMENT - 1) / FLUID_SEGMENT;
  fluid_segment *segment = malloc((size_t)segments * sizeof *segment);
  if (!segment) return sim_no_memory("the walls");
  for (int64_t i = 0; i < w->patches; i++) {
    const int32_t members = w->patch[i + 1] - w->patch[i], first = next;
    const int32_t count = (members + FLUID_SEGMENT - 1) / FLUID_SEGMENT;
    for (int32_t j = 0; j < members; j += FLUID_SEGMENT)
      segment[next++] = (fluid_segment){w->patch[i] + j, members - j < FLUID_SEGMENT ? members - j : FLUID_SEGMENT,
                                        first, count, members};
  }
  m->d->segments = segments;
  SIM_TRY(fluid_cuda_send_away(segment, (size_t)segments * sizeof *segment, (void **)&m->d->segment));
  return fluid_cuda_send(NULL, (size_t)segments * sizeof(double), (void **)&m->d->segment_sum);
}

static bool touches_body(const fluid_walls *w, const fluid_cell *cell) {
  bool out = false;
  for (int i = 0; i < cell->count; i++) out = out || w->link[cell->first + i].body >= 0;
  return out;
}

/* Surfaces between this rank's cells that touch bodies and their solid neighbours along axes. */
static sim_status send_cuts(const fluid_builder *m) {
  const fluid_machine *machine = m->m;
  const fluid_walls *w = &machine->walls;
  const int64_t *n = machine->grid.n;
  const unsigned long long nx = (unsigned long long)n[0];
  const int sides = 2 * machine->lattice->rank;
  int64_t cuts = 0;
  if (w->members == 0) return SIM_OK;
  fluid_cut *cut = malloc((size_t)(w->members * sides) * sizeof *cut);
  if (!cut) return sim_no_memory("the walls");
  const grid_range own = cells_of_planes(machine, machine->part.first, machine->part.end);
  for (int64_t i = own.first; i < own.end; i++) {
    const fluid_cell *c = &w->cell[i];
    const int64_t at[3] = {c->x, c->row % n[1], c->row / n[1]}, row = row_here(machine, m->d, c->row);
    for (int side = 0; side < sides && touches_body(w, c); side++) {
      const int axis = side / 2, sign = side % 2 ? 1 : -1;
      int64_t to[3] = {at[0], at[1], at[2]};
      to[axis] += sign;
      if ((to[axis] < 0 || to[axis] >= n[axis]) && !grid_is_periodic(&machine->grid, axis)) continue;
      to[axis] = (to[axis] + n[axis]) % n[axis];
      if (!w->solid[(to[2] * n[1] + to[1]) * n[0] + to[0]]) continue;
      cut[cuts++].key = 6 * (unsigned long long)(row * n[0] + c->x) + (unsigned long long)side;
    }
  }
#pragma omp parallel for schedule(static) num_threads(machine->threads) if (machine->threads > 1)
  for (int64_t i = 0; i < cuts; i++) {
    const unsigned long long cell = cut[i].key / 6, side = cut[i].key % 6, row = cell / nx;
    const int64_t whole = (int64_t)row + m->d->from * machine->part.rows;
    const int64_t at[3] = {(int64_t)(cell % nx), whole % n[1], whole / n[1]};
    fluid_find_cut(machine, m->p, at, (int)side / 2, side % 2 ? 1 : -1, &cut[i].far, cut[i].velocity);
  }
  m->d->beside.cuts = (int)cuts;
  void *there = NULL;
  const sim_status status = fluid_cuda_send_away(cut, (size_t)cuts * sizeof *cut, &there);
  m->d->beside.cut = there;
  return status;
}

/* Numbers of the velocities of a side, [3] of each of its cells, in a plane of the last axis; *planes: that are here.
 */
static size_t profile_plane(const grid_shape *g, const fluid_device *d, int side, int64_t *planes) {
  const int last = g->rank - 1;
  *planes = side / 2 == last ? 1 : d->l.n[last];
  return (size_t)(grid_cells(g) / g->n[side / 2] / (side / 2 == last ? 1 : g->n[last])) * 3;
}

sim_status fluid_cuda_copy_profile(const fluid_machine *m, const fluid_device *d, int side, void *to) {
  int64_t planes;
  const size_t bytes = profile_plane(&m->grid, d, side, &planes) * sizeof(double);
  const char *from = (const char *)m->walls.profile[side];
  if (!fluid_cuda_divided(m) || planes == 1) return sim_backend_cuda.copy(to, from, (size_t)planes * bytes);
  for (int64_t k = 0; k < planes; k++)
    SIM_TRY(
        sim_backend_cuda.copy((char *)to + (size_t)k * bytes, from + (size_t)fluid_cuda_plane(m, d, k) * bytes, bytes));
  return SIM_OK;
}

static sim_status send_sides(const fluid_builder *m) {
  const grid_shape *g = &m->m->grid;
  const fluid_part *part = &m->m->part;
  const fluid_layout *l = &m->d->l;
  fluid_beside *b = &m->d->beside;
  b->low = part->first == 0 ? l->first : -2;
  b->high = part->end == part->planes ? l->first + l->own - 1 : l->n[g->rank - 1] + 1;
  for (int s = 0; s < 2 * g->rank; s++) {
    const fluid_side *side = &m->p->sides[s];
    const double *profile = m->m->walls.profile[s];
    if (g->boundary[s / 2] == GRID_NO_FLUX)
      b->side[s] = FLUID_BESIDE_MIRROR;
    else if (grid_is_periodic(g, s / 2))
      b->side[s] = FLUID_BESIDE_CELL;
    else if (profile)
      b->side[s] = FLUID_BESIDE_PROFILE;
    else if (side->given && side->velocity.rows == 0)
      b->side[s] = FLUID_BESIDE_OPEN;
    else
      b->side[s] = FLUID_BESIDE_VELOCITY;
    for (size_t a = 0; b->side[s] == FLUID_BESIDE_VELOCITY && side->given && a < side->velocity.rows; a++)
      b->velocity[s][a] = side->velocity.data[a];
    if (!profile) continue;
    void *there = NULL;
    int64_t planes;
    const size_t bytes = profile_plane(g, m->d, s, &planes) * sizeof *profile;
    SIM_TRY(fluid_cuda_send(NULL, (size_t)planes * bytes, &there));
    b->profile[s] = there;
    SIM_TRY(fluid_cuda_copy_profile(m->m, m->d, s, there));
  }
  return SIM_OK;
}

static sim_status send_probes(const fluid_builder *m) {
  long long cell[FLUID_PROBES];
  m->d->probes = (int)m->p->probes.rows;
  for (int i = 0; i < m->d->probes; i++) {
    const int64_t at = fluid_probe_cell(m->p, (size_t)i), nx = m->m->grid.n[0];
    const bool own = fluid_part_has_row(&m->m->part, at / nx); /* of others: any cell */
    cell[i] = own ? row_here(m->m, m->d, at / nx) * nx + at % nx : 0;
  }
  SIM_TRY(fluid_cuda_send(cell, (size_t)m->d->probes * sizeof *cell, (void **)&m->d->probe));
  return fluid_cuda_send(NULL, (size_t)(m->d->probes * (m->d->rank + 1)) * sizeof(double), (void **)&m->d->probed);
}

/* A layer without its numbers; its planes, or its lines, that this rank has. */
static fluid_damped damped_of(const fluid_machine *m, const fluid_device *d, const fluid_layer *layer) {
  const grid_shape *g = &m->grid;
  const fluid_part *part = &m->part;
  const int axis = layer->side / 2, last = g->rank - 1;
  fluid_damped out = {.side = layer->side,
                      .planes = (int)layer->planes,
                      .across = axis == last,
                      .first = (int)part->first,
                      .end = (int)part->end,
                      .from = d->from,
                      .last = last,
                      .high = (int)g->n[axis] - 1,
                      .wide = (int)g->n[axis == 0 ? 1 : 0],
                      .cells = layer->cells,
                      .line = layer->cells / part->planes,
                      .follow = layer->follow};
  out.parts = (int)((out.line + FLUID_SUMMED - 1) / FLUID_SUMMED);
  out.blocks = out.across ? (int)((out.cells + FLUID_SUMMED - 1) / FLUID_SUMMED) : out.parts * (int)part->planes;
  if (!out.across) return out;
  const int64_t first = layer->side % 2 ? part->planes - part->end : part->first;
  const int64_t end = layer->side % 2 ? part->planes - part->first : part->end;
  out.first = (int)(first < layer->planes ? first : layer->planes);
  out.end = (int)(end < layer->planes ? end : layer->planes);
  return out;
}

/* Numbers of the sums of the layers that ranks exchange, and of all. */
static int64_t through_numbers(const fluid_machine *m, const fluid_device *d, bool exchanged) {
  int64_t most = 0;
  for (int i = 0; i < m->sponge.layers; i++) {
    const fluid_damped layer = damped_of(m, d, &m->sponge.layer[i]);
    const int64_t numbers = exchanged && layer.across ? 0 : 2 * (int64_t)layer.planes * layer.blocks;
    if (numbers > most) most = numbers;
  }
  return most;
}

/* Layers, whose means and shares are behind each other as in m->sponge; open cells are behind all shares. */
static sim_status send_sponges(const fluid_builder *m) {
  const fluid_sponge *sponge = &m->m->sponge;
  fluid_device *d = m->d;
  int64_t planes = 0;
  d->layers = sponge->layers;
  if (sponge->layers == 0) return SIM_OK;
  for (int i = 0; i < sponge->layers; i++) planes += sponge->layer[i].planes;
  const int64_t all = planes;
  double *share = malloc(2 * (size_t)all * sizeof *share);
  planes = 0;
  for (int i = 0; share && i < sponge->layers; i++) {
    const fluid_layer *layer = &sponge->layer[i];
    memcpy(share + planes, layer->share, (size_t)layer->planes * sizeof *share);
    memcpy(share + all + planes, layer->open, (size_t)layer->planes * sizeof *share);
    planes += layer->planes;
  }
  SIM_TRY(fluid_cuda_send_away(share, 2 * (size_t)all * sizeof *share, (void **)&d->share));
  SIM_TRY(fluid_cuda_send(NULL, (size_t)sponge->means * sizeof(double), (void **)&d->mean));
  planes = 0;
  for (int i = 0; i < sponge->layers; i++) {
    const fluid_layer *layer = &sponge->layer[i];
    fluid_damped *to = &d->damped[i];
    *to = damped_of(m->m, d, layer);
    to->flow = d->mean + layer->first;
    to->dense = to->flow + layer->planes;
    to->share = d->share + planes;
    to->open = to->share + all;
    planes += layer->planes;
  }
  int64_t numbers = through_numbers(m->m, d, false);
  if (fluid_cuda_divided(m->m)) {
    d->through_numbers = (int)fluid_cuda_exchanged(m->m, d);
    if (d->through_numbers > numbers) numbers = d->through_numbers;
  }
  return fluid_cuda_send(NULL, (size_t)numbers * sizeof(double), (void **)&d->through);
}

int64_t fluid_cuda_exchanged(const fluid_machine *m, const fluid_device *d) {
  const int64_t members = m->motion ? 0 : m->walls.members, through = through_numbers(m, d, true);
  const int64_t most = members > through ? members : through;
  return most > 0 ? most : 1;
}

sim_status fluid_cuda_build_walls(const fluid_machine *machine, const fluid_parameters *p, const fluid_numbers *k,
                                  fluid_device *out) {
  const fluid_builder m = {machine, p, k, out};
  free_walls(out);
  SIM_TRY(send_masks(&m));
  SIM_TRY(send_cells(&m));
  return send_patches(&m);
}

sim_status fluid_cuda_build_cuts(const fluid_machine *machine, const fluid_parameters *p, const fluid_numbers *k,
                                 fluid_device *out) {
  const fluid_builder m = {machine, p, k, out};
  free_cuts(out);
  return send_cuts(&m);
}

sim_status fluid_cuda_build(const fluid_machine *machine, const fluid_parameters *p, const fluid_numbers *k,
                            fluid_device *out) {
  const fluid_builder m = {machine, p, k, out};
  SIM_TRY(send_sides(&m));
  SIM_TRY(fluid_cuda_build_walls(machine, p, k, out));
  SIM_TRY(fluid_cuda_build_pulls(machine, p, k, out));
  SIM_TRY(fluid_cuda_build_cuts(machine, p, k, out));
  SIM_TRY(send_sponges(&m));
  SIM_TRY(fluid_cuda_build_heat(machine, p, out));
  SIM_TRY(fluid_cuda_build_timed(machine, p, out));
  SIM_TRY(fluid_cuda_build_gates(machine, p, out));
  SIM_TRY(fluid_cuda_build_grains(machine, out));
  return send_probes(&m);
}

/* Counted as fluid_walls_bytes counts, with its bounds. */
double fluid_cuda_wall_bytes(const fluid_parameters *p, const fluid_meshes *meshes) {
  const grid_shape g = fluid_grid_of(p);
  const double cells = grid_cells_wanted(&g), groups = ceil((double)g.n[0] / FLUID_GROUP);
  const double host = fluid_walls_bytes(p, meshes);
  if (!(host > 0)) return 0;
  /* On the host a cell with 5.5 (3.5) links takes 180 bytes and a quarter more for growth. Here it takes 20, a link 24
   * at most; with a body 12 and two cuts of 40, and a link 88. Two masks of bits. */
  return (p->bodies.count > 0 ? 3.3 : 1) * host + 2 * sizeof(uint32_t) * groups * cells / (double)g.n[0];
}
