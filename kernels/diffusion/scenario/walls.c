/* Walls of fields: the kind of each end of each axis, the lifts that carry values and slopes at walls, and the rules of
 * both. */
#include "kernels/diffusion/diffusion.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOW, HIGH };

const char *const diffusion_side_names[6] = {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"};

static const diffusion_side *side_of(const diffusion_field *s, int axis, int end) { return &s->sides[2 * axis + end]; }

static bool has_sides(const diffusion_field *s) {
  for (int i = 0; i < 6; i++)
    if (s->sides[i].given) return true;
  return false;
}

/* ---- kinds ---- */

static bool is_fixed(const grid_shape *grid, const diffusion_field *s, int axis, int end) {
  const diffusion_side *side = side_of(s, axis, end);
  return side->given ? !isnan(side->value) : grid->boundary[axis] == GRID_FIXED;
}

static bool is_mixed(const diffusion_field *s, int axis, int end) {
  return side_of(s, axis, end)->given && side_of(s, axis, end)->robin.given;
}

/* Whether the wall says something about the field's value: it holds the value, or mixes value and slope. */
static bool is_held(const grid_shape *grid, const diffusion_field *s, int axis, int end) {
  return is_mixed(s, axis, end) || is_fixed(grid, s, axis, end);
}

/* Returns h of du/dn + h u = 0. */
static double mix_of(const grid_shape *grid, const diffusion_field *s, int axis, int end) {
  const diffusion_mix *robin = &side_of(s, axis, end)->robin;
  return is_mixed(s, axis, end) ? robin->a / robin->b : is_fixed(grid, s, axis, end) ? INFINITY : 0;
}

grid_shape diffusion_shape_of(const diffusion_parameters *p, int field) {
  grid_shape shape = diffusion_grid_of(p);
  const diffusion_field *s = diffusion_field_of(p, field);
  for (int axis = 0; axis < shape.rank; axis++) {
    if (grid_is_periodic(&shape, axis) || grid_is_member_axis(&shape, axis)) continue;
    const bool low = is_fixed(&shape, s, axis, LOW), high = is_fixed(&shape, s, axis, HIGH);
    if (is_mixed(s, axis, LOW) || is_mixed(s, axis, HIGH)) {
      for (int end = LOW; end <= HIGH; end++) shape.mix[axis][end] = mix_of(&shape, s, axis, end);
      shape.boundary[axis] = GRID_ROBIN;
      continue;
    }
    shape.boundary[axis] = low ? (high ? GRID_FIXED : GRID_FIXED_LOW) : high ? GRID_FIXED_HIGH : GRID_NO_FLUX;
  }
  return shape;
}

/* Whether some field's walls are of other kinds than the grid's. */
static bool is_uneven(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  for (int f = 0; f < (int)p->fields.count; f++) {
    const grid_shape own = diffusion_shape_of(p, f);
    for (int axis = 0; axis < grid.rank; axis++)
      if (own.boundary[axis] != grid.boundary[axis]) return true;
  }
  return false;
}

bool diffusion_aligned(const diffusion_parameters *p, const diffusion_gradients *read) {
  const grid_shape grid = diffusion_grid_of(p);
  bool walls[3] = {false, false, false};
  for (int axis = 0; axis < grid.rank; axis++)
    walls[axis] = !grid_is_periodic(&grid, axis) && !grid_is_member_axis(&grid, axis);
  if (read->fluxes > 0 && (walls[0] || walls[1] || walls[2])) return true;
  for (int g = 0; g < read->count; g++) {
    const int kind = read->of[g].kind;
    if ((kind == DIFFUSION_XY && (walls[0] || walls[1])) || (kind == DIFFUSION_XZ && (walls[0] || walls[2])) ||
        (kind == DIFFUSION_YZ && (walls[1] || walls[2])))
      return true;
  }
  return is_uneven(p);
}

const diffusion_series *diffusion_series_of(const diffusion_parameters *p, const diffusion_gradients *read,
                                            diffusion_series *out) {
  if (!diffusion_aligned(p, read)) return NULL;
  diffusion_all_series(p, out);
  return out;
}

void diffusion_all_series(const diffusion_parameters *p, diffusion_series *out) {
  const int fields = (int)p->fields.count;
  memset(out, 0, sizeof *out);
  for (int f = 0; f < fields; f++) {
    const diffusion_series own = diffusion_own_series(p, f);
    memcpy(out->of[f], own.of[0], sizeof own.of[0]);
    memcpy(out->mix[f], own.mix[0], sizeof own.mix[0]);
  }
  for (int d = 0; d < (int)p->derived.count; d++) /* a field on which it depends: all of them have the same walls */
    for (int f = fields - 1; f >= 0; f--) {
      if (!diffusion_symbol_parts(p->derived.items[d].expr, f)) continue;
      memcpy(out->of[fields + d], out->of[f], sizeof out->of[f]);
      memcpy(out->mix[fields + d], out->mix[f], sizeof out->mix[f]);
    }
}

diffusion_series diffusion_own_series(const diffusion_parameters *p, int field) {
  const grid_shape own = diffusion_shape_of(p, field);
  diffusion_series out = {.of = {{own.boundary[0], own.boundary[1], own.boundary[2]}}};
  memcpy(out.mix[0], own.mix, sizeof own.mix);
  return out;
}

bool diffusion_same_walls(const diffusion_parameters *p, int a, int b) {
  const diffusion_series x = diffusion_own_series(p, a), y = diffusion_own_series(p, b);
  bool same = true;
  for (int axis = 0; axis < 3; axis++)
    same = same && x.of[0][axis] == y.of[0][axis] && x.mix[0][axis][LOW] == y.mix[0][axis][LOW] &&
           x.mix[0][axis][HIGH] == y.mix[0][axis][HIGH];
  return same;
}

bool diffusion_mixes(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++)
    for (int i = 0; i < 6; i++)
      if (is_mixed(diffusion_field_of(p, f), i / 2, i % 2)) return true;
  return false;
}

/* ---- lifts ---- */

/* Returns the value at a fixed end, g/a at an end that mixes value and slope, or the slope at another end; 0 where the
 * scenario gives none. */
static double number_at(const diffusion_field *s, int axis, int end) {
  const diffusion_side *side = side_of(s, axis, end);
  if (is_mixed(s, axis, end)) return side->robin.g / side->robin.a;
  return !side->given ? 0 : isnan(side->value) ? side->slope : side->value;
}

static bool has_fixed_end(const grid_shape *shape, int axis) {
  return shape->boundary[axis] != GRID_PERIODIC && shape->boundary[axis] != GRID_NO_FLUX;
}

/* Adds the line A + B x with du/dn + h (u - number) = 0 at both ends. */
static void lift_mixed(const double mix[2], double low, double high, double size, int axis, diffusion_lift *out) {
  double slope = 0, begin;
  if (mix[LOW] == 0)
    slope = low;
  else if (mix[HIGH] == 0)
    slope = high;
  else
    slope = (high - low) / (size + 1 / mix[LOW] + 1 / mix[HIGH]);
  begin = mix[LOW] > 0 ? low + slope / mix[LOW] : high - slope * (size + 1 / mix[HIGH]);
  out->low += begin;
  out->slopes[axis] = slope;
}

/* Adds the polynomial along one axis that has the given values and slopes at its ends. */
static void lift_along(const grid_shape *shape, const diffusion_field *s, int axis, diffusion_lift *out) {
  const double low = number_at(s, axis, LOW), high = number_at(s, axis, HIGH), size = shape->size[axis];
  switch (shape->boundary[axis]) {
  case GRID_FIXED:
    out->low += low;
    out->slopes[axis] = (high - low) / size;
    break;
  case GRID_FIXED_LOW:
    out->low += low;
    out->slopes[axis] = high;
    break;
  case GRID_FIXED_HIGH:
    out->low += high - low * size;
    out->slopes[axis] = low;
    break;
  case GRID_ROBIN: lift_mixed(shape->mix[axis], low, high, size, axis, out); break;
  default: out->slopes[axis] = low; out->curves[axis] = (high - low) / (2 * size);
  }
}

/* Returns the lift without its growth. */
static diffusion_lift shape_of_lift(const diffusion_parameters *p, int field) {
  const diffusion_field *s = diffusion_field_of(p, field);
  const double *walls = s->walls;
  const grid_shape grid = diffusion_grid_of(p), own = diffusion_shape_of(p, field);
  diffusion_lift lift = {.axis = -1};
  for (int axis = 0; axis < grid.rank && (walls[0] != 0 || walls[1] != 0); axis++)
    if (grid.boundary[axis] == GRID_FIXED) {
      lift = (diffusion_lift){.axis = axis, .low = walls[0]};
      lift.slopes[axis] = (walls[1] - walls[0]) / grid.size[axis];
      return lift;
    }
  int fixed = -1; /* values at the ends of several axes are the same number */
  for (int axis = grid.rank - 1; axis >= 0; axis--)
    if (has_fixed_end(&own, axis) && !grid_is_member_axis(&grid, axis)) fixed = axis;
  for (int axis = 0; axis < grid.rank; axis++)
    if (!grid_is_periodic(&grid, axis) && !grid_is_member_axis(&grid, axis) && (fixed < 0 || axis == fixed))
      lift_along(&own, s, axis, &lift);
  for (int axis = 2; axis >= 0; axis--)
    if (lift.slopes[axis] != 0 || lift.curves[axis] != 0 || (lift.low != 0 && axis == fixed)) lift.axis = axis;
  return lift;
}

/* Applies the coefficients c(k) of a derived field to the lifts of its fields. Of a polynomial of second order only
 * c(0) and the second derivatives at 0 remain: c(-i d/dx) x^2 = c(0) x^2 - c''(0). */
static diffusion_lift derived_lift(const diffusion_parameters *p, int derived) {
  diffusion_lift out = {.axis = -1};
  for (int f = 0; f < (int)p->fields.count; f++) {
    const double *origin = p->origin[derived][f];
    if (origin[0] == 0 && origin[1] == 0 && origin[2] == 0 && origin[3] == 0) continue;
    const diffusion_lift lift = diffusion_lift_of(p, f);
    if (out.axis < 0 || lift.axis < out.axis) out.axis = lift.axis;
    out.low += origin[0] * lift.low;
    out.growth += origin[0] * lift.growth;
    for (int axis = 0; axis < 3; axis++) {
      out.slopes[axis] += origin[0] * lift.slopes[axis];
      out.curves[axis] += origin[0] * lift.curves[axis];
      out.low -= 2 * origin[1 + axis] * lift.curves[axis];
    }
  }
  return out;
}

diffusion_lift diffusion_lift_of(const diffusion_parameters *p, int source) {
  if (source >= (int)p->fields.count) return derived_lift(p, source - (int)p->fields.count);
  const diffusion_field *s = diffusion_field_of(p, source);
  diffusion_lift lift = shape_of_lift(p, source);
  for (int axis = 0; axis < 3; axis++) lift.growth += 2 * lift.curves[axis] * s->axes[axis] * s->D;
  for (int j = 0; j < (int)s->cross.rows && j < (int)p->fields.count; j++) {
    const diffusion_lift other = s->cross.data[j] != 0 ? shape_of_lift(p, j) : (diffusion_lift){.axis = -1};
    for (int axis = 0; axis < 3; axis++) lift.growth += 2 * other.curves[axis] * s->axes[axis] * s->cross.data[j];
  }
  if (lift.growth != 0 && lift.axis < 0) lift.axis = 0;
  return lift;
}

double diffusion_lift_at(const diffusion_lift *lift, const double x[3], double t) {
  double sum = lift->low;
  for (int axis = 0; axis < 3; axis++)
    if (lift->slopes[axis] != 0) sum += lift->slopes[axis] * x[axis];
  for (int axis = 0; axis < 3; axis++)
    if (lift->curves[axis] != 0) sum += lift->curves[axis] * x[axis] * x[axis];
  return lift->growth != 0 ? sum + lift->growth * t : sum;
}

double diffusion_lift_slope(const diffusion_lift *lift, int kind, double x) {
  switch (kind) {
  case DIFFUSION_X:
  case DIFFUSION_Y:
  case DIFFUSION_Z: return lift->slopes[kind] + 2 * lift->curves[kind] * x;
  case DIFFUSION_XX:
  case DIFFUSION_YY:
  case DIFFUSION_ZZ: return 2 * lift->curves[kind - DIFFUSION_XX];
  case DIFFUSION_LAPLACIAN: return 2 * (lift->curves[0] + lift->curves[1] + lift->curves[2]);
  default: return 0;
  }
}

/* ---- rules ---- */

static void check_walls(const grid_shape *grid, const diffusion_field *s, sim_faults *faults, int line, int f) {
  char path[64];
  int fixed = 0;
  snprintf(path, sizeof path, "fields[%d].walls", f + 1);
  if (s->walls[0] == 0 && s->walls[1] == 0) return;
  for (int axis = 0; axis < grid->rank; axis++) fixed += grid->boundary[axis] == GRID_FIXED;
  if (fixed != 1) sim_faults_add(faults, line, path, "expected {0, 0}, because %d axes are fixed, not one", fixed);
  if (has_sides(s)) sim_faults_add(faults, line, path, "expected {0, 0} beside sides, which take values too");
}

/* Adds a fault of a wall that mixes value and slope. Returns false if there is one. */
static bool check_mix(const grid_shape *grid, const diffusion_side *side, int axis, sim_faults *faults, int line,
                      const char *path) {
  const diffusion_mix *robin = &side->robin;
  if (!robin->given) return true;
  if (robin->a < 0 || robin->b < 0) {
    sim_faults_add(faults, line, path,
                   "robin: expected a and b above 0, got %g and %g: where the wall feeds the field, modes would grow",
                   robin->a, robin->b);
    return false;
  }
  if (robin->a == 0 || robin->b == 0) {
    sim_faults_add(faults, line, path, "robin: expected a and b above 0, got %s = 0: then %s says the same",
                   robin->a == 0 ? "a" : "b", robin->a == 0 ? "slope" : "value");
    return false;
  }
  const double h = robin->a / robin->b * grid->size[axis];
  if (!(h > 1e-12 && h < 1e12)) {
    sim_faults_add(faults, line, path,
                   "robin: expected a/b times the length of the axis from 1e-12 to 1e12, got %g: slope or value says "
                   "the same",
                   h);
    return false;
  }
  if (grid->n[axis] <= DIFFUSION_ROBIN_MOST) return true;
  sim_faults_add(faults, line, path, "robin: expected at most %d cells along %c, whose transform is a matrix, got %lld",
                 DIFFUSION_ROBIN_MOST, "xyz"[axis], (long long)grid -> n[axis]);
  return false;
}

/* Adds faults of each field's sides alone. Returns false if there are any. */
static bool check_sides(const grid_shape *grid, const diffusion_field *s, sim_faults *faults, int line, int f) {
  bool good = true;
  for (int i = 0; i < 6; i++) {
    const diffusion_side *side = &s->sides[i];
    char path[64];
    if (!side->given) continue;
    snprintf(path, sizeof path, "fields[%d].sides.%s", f + 1, diffusion_side_names[i]);
    good = false;
    if (i / 2 >= grid->rank || grid_is_member_axis(grid, i / 2))
      sim_faults_add(faults, line, path, "%c is no axis of the grid", "xyz"[i / 2]);
    else if (grid_is_periodic(grid, i / 2))
      sim_faults_add(faults, line, path, "%c is a periodic axis, which has no sides: grid.%c = \"no_flux\" makes walls",
                     "xyz"[i / 2], "xyz"[i / 2]);
    else if (isnan(side->value) && isnan(side->slope) && !side->robin.given)
      sim_faults_add(faults, line, path, "expected value, slope or robin");
    else if (!isnan(side->value) + !isnan(side->slope) + side->robin.given > 1)
      sim_faults_add(faults, line, path,
                     "expected one of value, slope and robin, got several: robin = { a, b, g } mixes value and slope");
    else
      good = check_mix(grid, side, i / 2, faults, line, path);
    if (!good) break;
  }
  return good;
}

/* Adds a fault where values and slopes at walls of several axes do not fit together in the corners. A wall that mixes
 * both, with a u + b du/dn = g, counts as one with the value g/a: a field of that value everywhere obeys it. */
static void check_corners(const grid_shape *own, const grid_shape *grid, const diffusion_field *s, sim_faults *faults,
                          int line, int f) {
  char path[64];
  double value = NAN; /* at all ends that are held */
  int fixed = 0, slopes = 0, sloped = -1;
  bool same = true;
  snprintf(path, sizeof path, "fields[%d].sides", f + 1);
  for (int axis = 0; axis < own->rank; axis++) {
    bool any = false;
    for (int end = LOW; end <= HIGH && !grid_is_periodic(own, axis) && !grid_is_member_axis(own, axis); end++) {
      const double number = number_at(s, axis, end);
      if (is_held(grid, s, axis, end)) {
        same = same && (isnan(value) || number == value);
        value = number;
        any = true;
      } else if (number != 0) {
        slopes |= 1 << axis;
        sloped = axis;
      }
    }
    fixed |= any << axis;
  }
  const bool several = (fixed & (fixed - 1)) != 0;
  bool any_mixed = false;
  for (int i = 0; i < 6; i++) any_mixed = any_mixed || is_mixed(s, i / 2, i % 2);
  const char *mixed = any_mixed ? " (g/a of robin)" : "";
  if (several && !same)
    sim_faults_add(faults, line, path,
                   "expected the same value at all walls%s, because walls with values meet in a corner", mixed);
  else if (slopes != 0 && fixed != 0 && (several || slopes != fixed))
    sim_faults_add(faults, line, path,
                   "expected slope = 0 along %c, because these walls meet others that hold %s at a value",
                   "xyz"[sloped], s -> name ? s -> name : "the field");
}

/* Adds a fault where a field has both a lift and a linear term such as decay: the lift solves the equation only without
 * them. */
static void check_lift(const diffusion_parameters *p, const diffusion_field *s, sim_faults *faults, int line, int f) {
  char path[64];
  if (diffusion_lift_of(p, f).axis < 0 || !(s->decay != 0 || s->linear || s->conserved)) return;
  snprintf(path, sizeof path, "fields[%d].%s", f + 1, has_sides(s) ? "sides" : "walls");
  sim_faults_add(faults, line, path, "expected %s beside %s, which must be part of the rates",
                 has_sides(s) ? "value = 0, slope = 0 and g = 0" : "{0, 0}",
                 s->decay != 0 ? "decay"
                 : s->linear   ? "linear"
                               : "conserved");
}

void diffusion_check_walls(const diffusion_parameters *p, sim_faults *faults) {
  const grid_shape grid = diffusion_grid_of(p);
  bool good = true;
  for (int f = 0; f < (int)p->fields.count; f++) {
    const diffusion_field *s = diffusion_field_of(p, f);
    const int line = p->fields.items[f].line;
    const size_t before = faults->count;
    check_walls(&grid, s, faults, line, f);
    if (check_sides(&grid, s, faults, line, f)) {
      const grid_shape own = diffusion_shape_of(p, f);
      check_corners(&own, &grid, s, faults, line, f);
    }
    if (faults->count == before) check_lift(p, s, faults, line, f);
    good = good && faults->count == before;
  }
  bool even = true;
  for (int f = 1; f < (int)p->fields.count; f++) even = even && diffusion_same_walls(p, 0, f);
  if (good && diffusion_crossed(p) && !even)
    sim_faults_add(faults, 0, "fields",
                   "expected the same kinds of walls for all fields, because there is cross "
                   "diffusion");
}

bool diffusion_wall_lets(const diffusion_parameters *p, int field, int axis, int end, double *slope) {
  const diffusion_field *s = diffusion_field_of(p, field);
  const grid_shape grid = diffusion_grid_of(p);
  if (grid_is_periodic(&grid, axis) || grid_is_member_axis(&grid, axis) || is_held(&grid, s, axis, end)) return false;
  *slope = number_at(s, axis, end);
  return true;
}

void diffusion_say_walls(const diffusion_parameters *p) {
  const int fields = (int)p->fields.count;
  for (int f = 0; p->transfer > 0 && p->spectrum > 0 && f < fields; f++)
    if (diffusion_lift_of(p, f).axis >= 0)
      sim_log(
          SIM_LOG_WARN,
          "transfer: `transfer` and `dissipation` are of %s less what the values at its walls fix, which `spectrum` "
          "has: their difference is not half the change of its bins",
          diffusion_field_of(p, f)->name);
}
