/* Counts the lists of the fast multipole method without its arithmetic: builds the tree of fmm.h and walks it, on one
 * thread and in fp64. */
#include "kernels/nbody/fmm/fmm.h"

#include "engine/status.h"

#include <math.h>
#include <stdlib.h>

typedef struct body {
  uint64_t key;
  int64_t number;
} body;

typedef struct cell {
  int64_t first, count; /* bodies in the sorted order */
  int64_t child;        /* first child */
  int children, level;
  double centre[3], radius; /* in lengths of the frame */
} cell;

/* Source in a list: a cell and the code of its shift. */
typedef struct entry {
  int64_t cell;
  int code;
} entry;

typedef struct counter {
  const nbody_fmm_settings *settings;
  const double *const *position, *mass;
  int64_t n;
  double box, low[3], edge; /* frame */
  int dense_level;
  body *bodies;
  cell *cells;
  int64_t cell_count, cell_room;
  entry *entries; /* stack of open lists and of the queue on top of them */
  size_t entry_room;
  double far, near;
  int depth;
} counter;

/* ---- tree ---- */

static void set_frame(counter *w) {
  double length = 0;
  w->edge = w->box;
  for (int c = 0; c < 3; c++) {
    double high = w->low[c] = w->box > 0 ? 0 : w->position[c][0];
    for (int64_t i = 0; i < w->n; i++) {
      if (w->box == 0) w->low[c] = fmin(w->low[c], w->position[c][i]);
      high = fmax(high, w->position[c][i]);
    }
    length = fmax(length, high - w->low[c]);
  }
  int exponent = 0;
  if (length > 0 && isfinite(length)) (void)frexp(length, &exponent);
  if (w->box == 0) w->edge = ldexp(1, exponent);
  for (double bodies = w->settings->leaf; bodies < (double)w->n; bodies *= 8) w->dense_level++;
}

/* Returns coordinate c of a body, in lengths of the frame. */
static double place_of(const counter *w, int c, int64_t number) {
  return (w->position[c][number] - w->low[c]) / w->edge;
}

static uint64_t key_of(const counter *w, int64_t number) {
  uint64_t key = 0;
  for (int c = 0; c < 3; c++) {
    const uint64_t digits = (uint64_t)fmax(0, fmin(place_of(w, c, number) * 0x1p21, 0x1p21 - 1));
    for (int bit = 0; bit < 21; bit++) key |= (digits >> bit & 1) << (3 * bit + 2 - c);
  }
  return key;
}

static int by_key(const void *a, const void *b) {
  const body *x = a, *y = b;
  if (x->key != y->key) return x->key > y->key ? 1 : -1;
  return (x->number > y->number) - (x->number < y->number);
}

/* Appends the children of a cell to the cells, if it splits. SIM_ERR_NO_MEMORY. */
static sim_status split(counter *w, int64_t parent) {
  const cell me = w->cells[parent];
  if (me.count <= 1 || me.level >= NBODY_FMM_LEVEL_MAX) return SIM_OK;
  if (me.count <= w->settings->leaf && me.level >= w->dense_level) return SIM_OK;
  if (w->cell_count + 8 > w->cell_room) {
    const int64_t room = 2 * w->cell_room + 64;
    cell *const more = realloc(w->cells, (size_t)room * sizeof *more);
    if (more == NULL) return sim_no_memory("cells of %lld bodies", (long long)w->n);
    w->cells = more;
    w->cell_room = room;
  }
  w->cells[parent].child = w->cell_count;
  const int shift = 3 * (NBODY_FMM_LEVEL_MAX - me.level);
  for (int64_t from = me.first, end = me.first + me.count, to; from < end; from = to) {
    const uint64_t octant = w->bodies[from].key >> shift & 7;
    for (to = from + 1; to < end && (w->bodies[to].key >> shift & 7) == octant;) to++;
    w->cells[w->cell_count++] = (cell){.first = from, .count = to - from, .level = me.level + 1};
    w->cells[parent].children++;
    if (me.level + 1 > w->depth) w->depth = me.level + 1;
  }
  return SIM_OK;
}

static void set_sphere_of_leaf(const counter *w, cell *c) {
  double mass = 0, sum[3] = {0, 0, 0}, r2 = 0;
  for (int64_t k = c->first; k < c->first + c->count; k++) {
    const int64_t i = w->bodies[k].number;
    mass += w->mass[i];
    for (int a = 0; a < 3; a++) sum[a] += w->mass[i] * place_of(w, a, i);
  }
  for (int a = 0; a < 3; a++) c->centre[a] = mass != 0 ? sum[a] / mass : place_of(w, a, w->bodies[c->first].number);
  for (int64_t k = c->first; k < c->first + c->count; k++) {
    double d2 = 0;
    for (int a = 0; a < 3; a++) d2 += pow(place_of(w, a, w->bodies[k].number) - c->centre[a], 2);
    r2 = fmax(r2, d2);
  }
  c->radius = sqrt(r2);
}

static double mass_of(const counter *w, const cell *c) {
  double mass = 0;
  for (int64_t k = c->first; k < c->first + c->count; k++) mass += w->mass[w->bodies[k].number];
  return mass;
}

static void set_sphere(const counter *w, cell *c) {
  if (c->children == 0) {
    set_sphere_of_leaf(w, c);
  } else {
    double mass = 0, sum[3] = {0, 0, 0};
    for (const cell *k = w->cells + c->child; k < w->cells + c->child + c->children; k++) {
      const double of = mass_of(w, k);
      mass += of;
      for (int a = 0; a < 3; a++) sum[a] += of * k->centre[a];
    }
    for (int a = 0; a < 3; a++) c->centre[a] = mass != 0 ? sum[a] / mass : w->cells[c->child].centre[a];
    for (const cell *k = w->cells + c->child; k < w->cells + c->child + c->children; k++) {
      double d2 = 0;
      for (int a = 0; a < 3; a++) d2 += pow(k->centre[a] - c->centre[a], 2);
      c->radius = fmax(c->radius, sqrt(d2) + k->radius);
    }
  }
  c->radius = fmax(c->radius, ldexp(1, -c->level) / 32);
}

static sim_status make_tree(counter *w) {
  set_frame(w);
  for (int64_t i = 0; i < w->n; i++) w->bodies[i] = (body){key_of(w, i), i};
  qsort(w->bodies, (size_t)w->n, sizeof *w->bodies, by_key);
  w->cells[w->cell_count++] = (cell){.count = w->n};
  for (int64_t c = 0; c < w->cell_count; c++) SIM_TRY(split(w, c));
  for (int64_t c = w->cell_count - 1; c >= 0; c--) set_sphere(w, &w->cells[c]);
  return SIM_OK;
}

/* ---- lists ---- */

static bool accepts(const counter *w, const cell *target, entry source) {
  static const int shift[3] = {0, 1, -1};
  const cell *s = &w->cells[source.cell];
  const int at[3] = {source.code % 3, source.code / 3 % 3, source.code / 9};
  double d2 = 0;
  for (int a = 0; a < 3; a++) d2 += pow(target->centre[a] - s->centre[a] - shift[at[a]], 2);
  const double reach = w->settings->weight * target->radius + s->radius;
  return reach * reach < w->settings->theta * w->settings->theta * d2;
}

static sim_status push(counter *w, size_t *top, entry e) {
  if (*top == w->entry_room) {
    const size_t room = 2 * w->entry_room;
    entry *const more = realloc(w->entries, room * sizeof *more);
    if (more == NULL) return sim_no_memory("lists of %lld bodies", (long long)w->n);
    w->entries = more;
    w->entry_room = room;
  }
  w->entries[(*top)++] = e;
  return SIM_OK;
}

/* Pushes the children of an entry, or the entry itself where it is a leaf. SIM_ERR_NO_MEMORY. */
static sim_status push_parts(counter *w, size_t *top, entry e) {
  const cell c = w->cells[e.cell];
  if (c.children == 0) return push(w, top, e);
  for (int k = 0; k < c.children; k++) SIM_TRY(push(w, top, (entry){c.child + k, e.code}));
  return SIM_OK;
}

/* Counts the lists of a cell and of all cells below it. Entries begin ... end - 1 are the open list of its parent; for
 * the root they are its queue. SIM_ERR_NO_MEMORY. */
static sim_status walk(counter *w, int64_t target, size_t begin, size_t end) {
  const cell me = w->cells[target];
  size_t open = end, top; /* end ... open - 1: open list of this cell; open ... top - 1: queue, taken from its end */
  for (size_t k = begin; k < end; k++) {
    top = open;
    if (target == 0)
      SIM_TRY(push(w, &top, w->entries[k]));
    else
      SIM_TRY(push_parts(w, &top, w->entries[k]));
    for (size_t first = open; top > first;) {
      const entry source = w->entries[--top];
      const cell other = w->cells[source.cell];
      if (accepts(w, &me, source)) {
        w->far++;
      } else if (me.children > 0) { /* is left open: moves before the queue, whose first entry takes its place */
        const entry moved = w->entries[first];
        w->entries[first++] = source;
        if (top >= first) w->entries[top] = moved, top++;
        open = first;
      } else if (other.children > 0)
        SIM_TRY(push_parts(w, &top, source));
      else
        w->near += (double)me.count * (double)other.count;
    }
  }
  for (int k = 0; k < me.children; k++) SIM_TRY(walk(w, me.child + k, end, open));
  return SIM_OK;
}

sim_status nbody_fmm_count(const double *const position[3], const double *mass, int64_t n, double box,
                           const nbody_fmm_settings *settings, double *far, double *near, int *depth) {
  enum { ENTRIES = 4096 };
  counter w = {.settings = settings, .position = position, .mass = mass, .n = n, .box = box, .entry_room = ENTRIES};
  w.cell_room = n / 4 + 64;
  w.bodies = malloc((size_t)n * sizeof *w.bodies);
  w.cells = malloc((size_t)w.cell_room * sizeof *w.cells);
  w.entries = malloc(ENTRIES * sizeof *w.entries);
  sim_status status = SIM_OK;
  if (w.bodies == NULL || w.cells == NULL || w.entries == NULL)
    status = sim_no_memory("lists of %lld bodies", (long long)n);
  size_t top = 0;
  if (status == SIM_OK) status = make_tree(&w);
  for (int code = 0; status == SIM_OK && code < (box > 0 ? NBODY_FMM_SHIFTS : 1); code++)
    status = push(&w, &top, (entry){0, code});
  if (status == SIM_OK) status = walk(&w, 0, 0, top);
  *far = w.far / (double)n;
  *near = w.near / (double)n;
  *depth = w.depth;
  free(w.bodies), free(w.cells), free(w.entries);
  return status;
}
