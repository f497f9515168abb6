/* Forces on bodies where they meet sides of the box. */
#include "kernels/fluid/start/walls.h"

#include "kernels/fluid/start/bodies.h"

#include <math.h>

/* A cell at sides, with the links along each axis that arrive from below and from above; NULL: none. */
typedef struct edge_cell {
  const fluid_lattice *lattice;
  const fluid_walls *walls;
  const fluid_cell *cell;
  grid_shape grid;
  int64_t at[3];
  const fluid_link *straight[3][2];
  bool passes[3][2]; /* the fluid passes the side of such a link with a given velocity */
} edge_cell;

/* Whether a direction arrives from beyond the sides of an axis. */
static bool leaves(const edge_cell *e, const int8_t c[3], int axis) {
  const int64_t source = e->at[axis] - c[axis];
  return c[axis] != 0 && !grid_is_periodic(&e->grid, axis) && (source < 0 || source >= e->grid.n[axis]);
}

static const fluid_link *find_link(const edge_cell *e, const int8_t c[3]) {
  for (int i = 0; i < e->cell->count; i++) {
    const fluid_link *link = &e->walls->link[e->cell->first + i];
    const int8_t *v = e->lattice->c[link->arriving];
    if (v[0] == c[0] && v[1] == c[1] && v[2] == c[2]) return link;
  }
  return NULL;
}

/* False: the cell is not both at a side and at a body. */
static bool look_around(const fluid_parameters *p, const fluid_walls *walls, const fluid_cell *cell, edge_cell *e) {
  bool edge = false, body = false;
  *e = (edge_cell){.lattice = fluid_lattice_for(p), .walls = walls, .cell = cell, .grid = fluid_grid_of(p)};
  const int64_t at[3] = {cell->x, cell->row % e->grid.n[1], cell->row / e->grid.n[1]};
  for (int a = 0; a < 3; a++) e->at[a] = at[a];
  for (int a = 0; a < e->grid.rank; a++)
    edge = edge || (!grid_is_periodic(&e->grid, a) && (at[a] == 0 || at[a] == e->grid.n[a] - 1));
  for (int i = 0; i < cell->count && edge; i++) body = body || walls->link[cell->first + i].body >= 0;
  if (!body) return false;
  for (int a = 0; a < e->grid.rank; a++)
    for (int k = 0; k < 2; k++) {
      int8_t c[3] = {0};
      c[a] = k == 0 ? 1 : -1;
      if (!leaves(e, c, a)) continue;
      e->straight[a][k] = find_link(e, c);
      e->passes[a][k] = p->sides[2 * a + k].given && fluid_side_passes(&p->sides[2 * a + k], 2 * a + k);
    }
  return true;
}

/* The link along an axis through the side that a link crosses; NULL: it crosses none of the axis, or a body covers the
 * side at this cell. */
static const fluid_link *side_of(const edge_cell *e, const fluid_link *link, int axis) {
  const int8_t *c = e->lattice->c[link->arriving];
  const fluid_link *out = leaves(e, c, axis) ? e->straight[axis][c[axis] < 0] : NULL;
  return out && out->body < 0 ? out : NULL;
}

static bool is_open(const fluid_link *link) { return link->kind == FLUID_OPEN || link->kind == FLUID_STRAIGHT; }

/* Whether the fluid passes the side that a link crosses along an axis. */
static bool is_passed(const edge_cell *e, const fluid_link *link, int axis) {
  const fluid_link *straight = side_of(e, link, axis);
  return straight && (is_open(straight) || e->passes[axis][e->lattice->c[link->arriving][axis] < 0]);
}

static fluid_edge_term term_of(const edge_cell *e, const fluid_link *link, int body) {
  return (fluid_edge_term){.link = link - e->walls->link, .body = body};
}

/* The point of a link of this cell at a part of it, in cells; through sides its mirror image in the box. */
static void set_point(const edge_cell *e, const fluid_link *link, double part, fluid_edge_term *term) {
  for (int a = 0; a < 3; a++) {
    const double way = part * e->lattice->c[link->arriving][a], beyond = fmax(0, fabs(way) - 0.5);
    term->point[a] = (double)e->at[a] + 0.5 - way + (side_of(e, link, a) ? copysign(2 * beyond, way) : 0);
  }
}

/* What a side that the fluid passes holds of a link that crosses it at a body's surface: the pressure, by the side's
 * own link. The rest is the shear on half a cell of the body. */
static fluid_edge_term share_of(const edge_cell *e, const fluid_link *link, int axis, const fluid_edge_term *whole) {
  const fluid_link *straight = side_of(e, link, axis);
  fluid_edge_term out = term_of(e, straight, whole->body);
  out.factor[axis] = -fluid_weight(e->lattice, link->arriving) / fluid_weight(e->lattice, straight->arriving);
  for (int a = 0; a < 3; a++) out.point[a] = whole->point[a];
  return out;
}

/* A link to a body through sides: walls hold what crosses them. */
static int split_body(const edge_cell *e, const fluid_link *link, fluid_edge_term *out) {
  int count = 0;
  fluid_edge_term closed = term_of(e, link, link->body);
  bool some = false;
  set_point(e, link, fluid_link_part(link), &closed);
  for (int a = 0; a < 3; a++) {
    if (is_passed(e, link, a)) {
      out[count++] = share_of(e, link, a, &closed);
    } else if (side_of(e, link, a)) {
      closed.factor[a] = -1;
      some = true;
    }
  }
  if (some) out[count++] = closed;
  return count;
}

/* A link to sides, of which a body holds what goes along them where it is beside the cell, and the shear of half a cell
 * where the fluid passes with a given velocity. (A link through an open side has none.) */
static int split_side(const fluid_parameters *p, const fluid_numbers *numbers, const edge_cell *e,
                      const fluid_link *link, fluid_edge_term *out) {
  const int8_t *c = e->lattice->c[link->arriving];
  int8_t along[3], mirror = 0;
  int count = 1;
  for (int a = 0; a < 3; a++) {
    along[a] = leaves(e, c, a) ? 0 : c[a];
    if (along[a] != c[a]) mirror |= (int8_t)(1 << a);
  }
  const fluid_link *beside = find_link(e, along);
  if (!beside || beside->body < 0) return 0;
  const double part = fluid_link_part(beside);
  const fluid_link mirrored = {
      .kind = FLUID_BOUNCE, .arriving = link->arriving, .mirror = mirror, .body = beside->body, .weight = 2 * part};
  *out = term_of(e, link, beside->body);
  set_point(e, link, part, out);
  out->room = fluid_link_room(p, numbers, e->walls, e->cell, &mirrored, out->rate);
  for (int a = 0; a < 3; a++) {
    const bool given = is_passed(e, link, a) && !is_open(side_of(e, link, a));
    out->factor[a] = along[a] != 0 || given;
    if (given) out[count++] = share_of(e, link, a, out);
  }
  return count;
}

/* A link to a body beside sides. A side ends at the surface, not at the half of the link: by the same parts as of
 * fluid_link_room, of which the directions along a side are 2/3. The directions through a side have 1/6 of the weights.
 */
static int add_slivers(const fluid_parameters *p, const fluid_numbers *numbers, const edge_cell *e,
                       const fluid_link *link, fluid_edge_term *out) {
  const int8_t *c = e->lattice->c[link->arriving];
  int count = 0;
  double rate[3], normal[3], along = 0;
  for (int a = 0; a < 3; a++)
    if (side_of(e, link, a)) return 0;
  const double room = fluid_link_room(p, numbers, e->walls, e->cell, link, rate);
  fluid_link_normal(p, numbers, e->walls, e->cell, link, normal);
  for (int a = 0; a < e->lattice->rank; a++) along += c[a] * normal[a];
  for (int i = 0; i < 6; i++) {
    const int a = i / 2;
    const fluid_link *straight = e->straight[a][i % 2];
    const double flat = 1 - normal[a] * normal[a];
    if (c[a] != 0 || !straight || straight->body >= 0 || flat < 1e-6) continue;
    /* A surface that leans is elsewhere at the side, half a cell off: not by more than a cell. */
    const double off = along != 0 ? fmin(0.5 * fabs(normal[a] / along), 1) : 0,
                 weight = fluid_weight(e->lattice, link->arriving);
    const double lean = 6 * weight * along * along * copysign(off, (i % 2 ? normal[a] : -normal[a]) * along);
    if (room + lean == 0) continue;
    out[count] = term_of(e, straight, link->body);
    out[count].factor[a] = -1.5 * (room + lean) / flat / (6 * fluid_weight(e->lattice, straight->arriving));
    set_point(e, link, (0.5 + fluid_link_part(link)) / 2, &out[count]);
    out[count].point[a] += i % 2 ? 0.5 : -0.5;
    count++;
  }
  return count;
}

/* A diagonal link that crosses a side that the fluid passes and a body. The shear in the side between the surface and
 * the centre of the cell is the side's: it is `part` of what this diagonal and that from inside the box differ by.
 * Where the diagonal is that of an open side, which has the pressure alone, half of it is gone. */
static int give_shear(const edge_cell *e, const fluid_link *link, fluid_edge_term *out) {
  const int8_t *c = e->lattice->c[link->arriving];
  int8_t inner[3], along[3];
  int axis = -1, crossed = 0;
  for (int a = 0; a < 3; a++) {
    if (leaves(e, c, a)) crossed++;
    if (is_passed(e, link, a)) axis = a;
    inner[a] = along[a] = c[a];
  }
  if (axis < 0 || crossed > 1) return 0;
  inner[axis] = (int8_t)-c[axis];
  along[axis] = 0;
  const fluid_link *other = find_link(e, inner), *beside = find_link(e, along);
  if (!other || other->body < 0 || (beside ? beside->body : other->body) != other->body) return 0;
  if (link->body < 0 ? !beside : link->body != other->body) return 0;
  const double part = fluid_link_part(link->body < 0 ? beside : link);
  const double give = link->body < 0 && is_open(side_of(e, link, axis)) ? 2 * part - 1 : part;
  for (int k = 0; k < 2; k++) {
    out[k] = term_of(e, k == 0 ? link : other, other->body);
    for (int a = 0; a < 3; a++) out[k].factor[a] = a == axis ? 0 : k == 0 ? -give : give;
    set_point(e, link, part, &out[k]);
  }
  return 2;
}

int fluid_edge_terms(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_walls *walls,
                     const fluid_cell *cell, fluid_edge_term out[FLUID_EDGE_TERMS]) {
  edge_cell e;
  int count = 0;
  if (!look_around(p, walls, cell, &e)) return 0;
  for (int i = 0; i < cell->count; i++) {
    const fluid_link *link = &walls->link[cell->first + i];
    if (link->body >= 0) {
      count += split_body(&e, link, out + count);
      count += add_slivers(p, numbers, &e, link, out + count);
    } else {
      count += split_side(p, numbers, &e, link, out + count);
    }
    count += give_shear(&e, link, out + count);
  }
  return count;
}
