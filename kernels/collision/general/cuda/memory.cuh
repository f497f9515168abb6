/* Device memory, sizes of arrays, cells, and walls of the general solver; on the host. */
#ifndef COLLISION_GENERAL_CUDA_MEMORY_CUH
#define COLLISION_GENERAL_CUDA_MEMORY_CUH

#include "kernels/collision/general/cuda/sums.cuh"
#include "kernels/collision/general/cuda/work.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

template <typename real> static void *reserve(const general_work<real> *w, size_t *at, size_t bytes) {
  void *const out = w->memory != NULL ? (char *)w->memory + *at : NULL;
  *at += (bytes + 255) / 256 * 256;
  return out;
}

template <typename T, typename real>
static void reserve_array(const general_work<real> *w, size_t *at, T **out, uint64_t count) {
  *out = (T *)reserve(w, at, (size_t)count * sizeof(T));
}

/* Returns the entries that a list has room for: a slice is as long as its longest row, and radii make rows uneven.
 * wider: reach of contacts that do not touch, over the smallest radius. */
static inline uint64_t list_room(uint64_t n, double ratio, double wider) {
  const uint64_t room = (ratio < 1.3 ? 11 : ratio < 2.5 ? 20 : 40) * (n + 32) + 4096;
  return wider > 0 ? (uint64_t)((double)room * pow(1 + wider, 3)) : room;
}

/* Before the clumps are known: at most one for each grain. */
template <typename real> static void lay_out_bodies(general_work<real> *w, size_t *at) {
  general_bodies *bodies = &w->arrays.bodies;
  const uint64_t n = w->numbers.n, count = w->state.bodies > 0 ? (uint64_t)w->state.bodies : n;
  if (!w->options.clumps) return;
  bodies->count = (uint32_t)w->state.bodies;
  reserve_array(w, at, &bodies->of, n);
  reserve_array(w, at, &bodies->lever, 3 * n);
  reserve_array(w, at, &bodies->member, 3 * n);
  reserve_array(w, at, &bodies->body, count);
  reserve_array(w, at, &bodies->state, count);
}

/* ---- several ranks ---- */

/* Most grains of a rank. */
static inline uint64_t share_of(uint64_t n, int ranks) { return n / (uint64_t)ranks + GENERAL_LEVELS; }

/* The terms that ranks exchange at a time, see general_terms. */
static inline sim_columns domain_columns(const collision_options *o) {
  const size_t blocks = ((size_t)o->n + GENERAL_THREADS - 1) / GENERAL_THREADS;
  const size_t most = COLLISION_EXCHANGED / (size_t)GENERAL_THREADS;
  const size_t n = (blocks < most ? blocks : most) * GENERAL_THREADS;
  return {SUM_WALL + 3 * o->forces, n, sim_comm_share(o->comm, n)};
}

/* Sizes of messages. Migrants that do not fit go in several messages, also those of one grain with all its contacts. */
template <typename real> static void set_message_sizes(general_work<real> *w) {
  const general_numbers *b = &w->numbers;
  general_domain *d = &w->domain;
  const uint64_t part = b->n / (32 * (uint64_t)d->comm->size);
  d->migrants = (uint32_t)(part < 64 ? 64 : part);
  d->contacts = 16 * d->migrants > UINT16_MAX ? 16 * d->migrants : UINT16_MAX;
  d->slot = d->migrants * migrant_bytes<real>(b->wall_numbers, b->gates) +
            (b->springs > 0 ? d->contacts * contact_bytes<real>(b->springs) : 0);
  d->slot = (d->slot + 255) / 256 * 256;
}

template <typename real> static void lay_out_domain(general_work<real> *w, size_t *at) {
  general_domain *d = &w->domain;
  const uint64_t ranks = (uint64_t)w->options.comm->size;
  const sim_columns columns = domain_columns(&w->options);
  if (ranks == 1) return;
  set_message_sizes(w);
  d->terms_count = (uint32_t)columns.n;
  reserve_array(w, at, &d->terms, (uint64_t)columns.rows * columns.n);
  reserve_array(w, at, &d->words, 2 * ranks);
  reserve_array(w, at, &d->counts, COUNT_RANKS + 2 * ranks);
  reserve_array(w, at, &d->to, ranks);
  reserve_array(w, at, &d->shift, ranks);
  reserve_array(w, at, &d->list, share_of(w->numbers.n, (int)ranks) * (ranks - 1));
  d->sent.grain = d->list;
}

/* Lays out all arrays in w->memory; with no memory yet, only counts. Returns the bytes. */
template <typename real> static size_t lay_out(general_work<real> *w) {
  general_arrays<real> *a = &w->arrays;
  const general_numbers *b = &w->numbers;
  const uint64_t n = b->n;
  size_t at = 0;
  for (int s = 0; s < 2; s++) {
    general_grains<real> *g = &a->grains[s];
    vec4<real> **const vectors[] = {&g->position, &g->velocity, &g->spin, &g->v_pred, &g->w_pred};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) reserve_array(w, &at, vectors[k], n);
    g->temperature = NULL;
    if (b->heated) reserve_array(w, &at, &g->temperature, n);
    a->grains[1 - s].acceleration = g->v_pred;
    a->grains[1 - s].angular_acceleration = g->w_pred;
    general_records<real> *records = &a->records[s];
    reserve_array(w, &at, &records->dissipated, n);
    reserve_array(w, &at, &records->virial, n);
    reserve_array(w, &at, &records->collisions, n);
    reserve_array(w, &at, &records->id, n);
    reserve_array(w, &at, &records->material, n);
    reserve_array(w, &at, &records->wall_spring, n * (uint64_t)b->wall_numbers);
    reserve_array(w, &at, &records->work, b->worked ? n : 0);
    reserve_array(w, &at, &records->wall_heat, b->heated ? n : 0);
    reserve_array(w, &at, &records->crossed, n * (uint64_t)b->gates);
    records->mobility = NULL;
    if (w->options.clumps) reserve_array(w, &at, &records->mobility, n);
    general_list<real> *l = &a->list[s];
    reserve_array(w, &at, &l->base, (uint64_t)b->slices + 1);
    reserve_array(w, &at, &l->count, n);
    reserve_array(w, &at, &l->neighbour, b->room);
    reserve_array(w, &at, &l->spring, (uint64_t)b->room * (uint64_t)b->springs);
  }
  reserve_array(w, &at, &a->cell, (uint64_t)b->cells + 1);
  reserve_array(w, &at, &a->cell_of, n);
  reserve_array(w, &at, &a->rank, n + 1);
  reserve_array(w, &at, &a->order, n);
  a->slot = a->cell_of;
  reserve_array(w, &at, &a->partial, 4096);
  reserve_array(w, &at, &a->barrier, 2);
  reserve_array(w, &at, &a->control, 2);
  reserve_array(w, &at, &a->motion, 4);
  reserve_array(w, &at, &a->fault, 1);
  reserve_array(w, &at, (general_numbers **)&a->numbers, 1);
  reserve_array(w, &at, (contact_law<real> **)&a->law, COLLISION_MATERIALS_MAX * COLLISION_MATERIALS_MAX);
  reserve_array(w, &at, (geometry_wall **)&a->wall, COLLISION_WALLS_MAX);
  reserve_array(w, &at, (collision_gate **)&a->gate, COLLISION_GATES_MAX);
  reserve_array(w, &at, (vec4<real> **)&a->external_acceleration, b->external ? n : 0);
  reserve_array(w, &at, &a->warmed, b->heated ? n : 0);
  a->pull = NULL;
  if (w->options.attracted) reserve_array(w, &at, (double **)&a->pull, 4 * n);
  reserve_array(w, &at, &a->near, n * (uint64_t)b->meshes);
  lay_out_bodies(w, &at);
  lay_out_domain(w, &at);
  reserve_array(w, &at, &w->sums, SUMS);
  reserve_array(w, &at, &w->partial, (uint64_t)(SUM_WALL + 3 * w->options.forces) * b->blocks);
  reserve_array(w, &at, &w->deepest, 2);
  reserve_array(w, &at, &w->any, 1);
  reserve_array(w, &at, &w->moves, w->options.varies ? 3 * n : 0);
  reserve_array(w, &at, &w->start, w->options.varies ? n + 1 : 0);
  return at;
}

template <typename real> static void set_grain_count(general_work<real> *w, int64_t n) {
  general_numbers *b = &w->numbers;
  b->n = (uint32_t)n;
  b->slices = (b->n + 31) / 32;
  b->blocks = (b->n + GENERAL_THREADS - 1) / GENERAL_THREADS;
  if (w->options.comm->size == 1) w->arrays.own = {1, b->n, {{0, 0, b->n}}};
}

template <typename real> static void set_sizes(general_work<real> *w, double smallest, double largest) {
  general_numbers *b = &w->numbers;
  const collision_options *o = &w->options;
  w->domain.comm = o->comm;
  set_grain_count(w, o->n);
  b->worked = o->worked;
  b->heated = o->heated;
  b->gates = o->gates;
  b->external = o->external != NULL;
  b->springs = o->springs;
  b->law_springs = o->law_springs;
  b->walls = o->walls;
  b->meshes = o->meshes;
  b->wall_numbers = o->wall_numbers;
  b->reach = o->reach;
  b->room = (uint32_t)list_room(b->n, largest / smallest, o->reach / smallest);
}

template <typename real> static double bytes(const collision_options *options) {
  general_work<real> w = {};
  w.options = *options;
  const bool known = options->radius_most > 0 && options->radius_least > 0;
  set_sizes(&w, known ? options->radius_least : 1, known ? options->radius_most : 1);
  w.numbers.cells = 2 * w.numbers.n + 4096;
  const sim_comm *comm = options->comm;
  if (comm->size == 1) return (double)lay_out(&w);
  const sim_columns columns = domain_columns(options);
  const size_t whole = lay_out(&w), parts[2] = {whole, w.domain.slot * (size_t)comm->size};
  /* Messages to other ranks lie on the device too, unless the ranks are peers. */
  return sim_turn_bytes(comm, 2, parts) + (double)parts[1] + sim_exchange_bytes(comm, &columns);
}

/* One grid for each class of radii; a cell is at least twice the largest reach of its class. At most about two cells a
 * grain. */
template <typename real> static void lay_cells(general_work<real> *w) {
  general_numbers *b = &w->numbers;
  double top = w->largest;
  b->levels = 0;
  b->cells = 0;
  while (b->levels < GENERAL_LEVELS) {
    b->level[b->levels++].radius = top;
    top /= 2;
    if (top < w->smallest) break;
  }
  for (int l = 0; l < b->levels; l++) {
    general_level *level = &b->level[l];
    const double most = fmax(64, 2.0 * b->n / b->levels);
    double side = 2 * level->radius + b->reach + b->skin, total;
    do {
      total = 1;
      for (int c = 0; c < 3; c++) {
        const double cells = fmax(1, fmin(floor(b->size[c] / side), 2e6));
        level->cells[c] = (uint32_t)cells;
        level->width[c] = b->size[c] / cells;
        total *= cells;
      }
      side *= 1.1;
    } while (total > most);
    level->first_cell = b->cells;
    b->cells += (uint32_t)total;
  }
}

/* ---- walls ---- */

/* Uploads the arrays of a mesh behind each other, from base + *at on (base NULL: only counts bytes); *to: the mesh with
 * device pointers. */
static inline sim_status upload_mesh(const geometry_mesh *from, char *base, size_t *at, geometry_mesh *to) {
  const struct {
    const void *from;
    void **to;
    size_t bytes;
  } parts[] = {
      {from->corner, (void **)&to->corner, (size_t)from->count * 9 * sizeof *from->corner},
      {from->bound, (void **)&to->bound, (size_t)from->count * 4 * sizeof *from->bound},
      {from->vertex, (void **)&to->vertex, (size_t)from->count * 3 * sizeof *from->vertex},
      {from->around, (void **)&to->around, (size_t)from->count * 3 * sizeof *from->around},
      {from->around_first, (void **)&to->around_first, (size_t)(from->vertices + 1) * sizeof *from->around_first},
      {from->box, (void **)&to->box, (size_t)from->groups * 48 * sizeof *from->box}};
  *to = *from;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    if (base != NULL) {
      *parts[k].to = base + *at;
      SIM_TRY(sim_backend_cuda.copy(base + *at, parts[k].from, parts[k].bytes));
    }
    *at += (parts[k].bytes + 255) / 256 * 256;
  }
  return SIM_OK;
}

template <typename real> static sim_status upload_walls(general_work<real> *w) {
  static geometry_wall wall[COLLISION_WALLS_MAX];
  geometry_mesh mesh[COLLISION_WALLS_MAX] = {};
  const collision_options *o = &w->options;
  const size_t head = (sizeof mesh + 255) / 256 * 256;
  memcpy(wall, o->wall, sizeof wall);
  for (int pass = 0; pass < 2; pass++) {
    size_t at = head;
    for (int k = 0; k < o->walls; k++)
      if (o->wall[k].shape == GEOMETRY_MESH) SIM_TRY(upload_mesh(o->wall[k].mesh, (char *)w->meshes, &at, &mesh[k]));
    if (at == head) break;
    if (pass == 0) SIM_TRY(sim_backend_cuda.alloc(at, &w->meshes));
  }
  if (w->meshes != NULL) SIM_TRY(sim_backend_cuda.copy(w->meshes, mesh, sizeof mesh));
  for (int k = 0; k < o->walls; k++)
    if (wall[k].shape == GEOMETRY_MESH) wall[k].mesh = (const geometry_mesh *)w->meshes + k;
  return sim_backend_cuda.copy((void *)w->arrays.wall, wall, sizeof wall);
}

#endif
