/* Inlets: positions for new grains. */
#include "kernels/collision/flow/flow.h"

#include "engine/rng.h"
#include "kernels/collision/scenario/sizes.h"
#include "kernels/collision/start/grains.h"
#include "kernels/common/geometry/geometry.h"

#include <math.h>
#include <string.h>

enum { TRIES = 30 }; /* positions that are tried for a grain */

typedef struct grid {
  double low[3], width[3];
  int cells[3];
} grid;

static int cell_of(const grid *g, const double x[3], int at[3]) {
  for (int c = 0; c < 3; c++) {
    const double k = floor((x[c] - g->low[c]) / g->width[c]);
    at[c] = k < 0 ? 0 : k >= g->cells[c] ? g->cells[c] - 1 : (int)k;
  }
  return (at[0] * g->cells[1] + at[1]) * g->cells[2] + at[2];
}

static bool put_obstacle(collision_flow *f, const grid *g, const double x[3], double r) {
  int at[3];
  collision_obstacle *o = collision_list_more(f->obstacle, f->obstacles, &f->obstacle_room, sizeof *o);
  if (o == NULL || f->obstacles == INT32_MAX) return false;
  f->obstacle = o;
  o += f->obstacles;
  int32_t *head = &f->head[cell_of(g, x, at)];
  *o = (collision_obstacle){{x[0], x[1], x[2]}, r, *head};
  *head = (int32_t)f->obstacles++;
  return true;
}

/* Adds a grain and its periodic images within `reach` of the inlet as obstacles; false: out of memory. */
static bool put_images(collision_run *run, const grid *g, const collision_inlet *inlet, double reach, const double x[3],
                       double r) {
  double at[3][3], y[3];
  int count[3] = {0};
  for (int c = 0; c < 3; c++) {
    for (int way = -1; way <= 1; way++) {
      const double image = x[c] + way * run->options.size[c];
      if ((way == 0 || run->options.periodic[c]) && image > inlet->low[c] - reach && image < inlet->high[c] + reach)
        at[c][count[c]++] = image;
    }
    if (count[c] == 0) return true;
  }
  for (int k = 0; k < count[0] * count[1] * count[2]; k++) {
    y[0] = at[0][k % count[0]];
    y[1] = at[1][k / count[0] % count[1]];
    y[2] = at[2][k / count[0] / count[1]];
    if (!put_obstacle(run->flow, g, y, r)) return false;
  }
  return true;
}

/* Region that contains every grain with an image near the inlet; unbounded along axes in which the inlet is near a
 * periodic side. */
static collision_region about(const collision_run *run, const collision_inlet *inlet, double reach) {
  const collision_options *o = &run->options;
  collision_region out;
  for (int c = 0; c < 3; c++) {
    const double margin = reach + 1e-6 * (inlet->high[c] - inlet->low[c] + reach);
    out.low[c] = inlet->low[c] - margin;
    out.high[c] = inlet->high[c] + margin;
    if (!o->periodic[c] || (out.low[c] > o->low[c] && out.high[c] < o->low[c] + o->size[c])) continue;
    out.low[c] = -INFINITY;
    out.high[c] = INFINITY;
  }
  return out;
}

/* Adds the obstacles of an inlet: grains that remain, and newcomers of this event. */
static sim_status put_obstacles(collision_run *run, const grid *g, const collision_inlet *inlet, double reach) {
  collision_flow *f = run->flow;
  const collision_region region = about(run, inlet, reach);
  int64_t gone = 0;
  bool good = true;
  SIM_TRY(collision_flow_find(run, &region, 1, &f->near));
  memset(f->head, 0xff, sizeof f->head);
  f->obstacles = 0;
  for (int64_t k = 0; k < f->near.count && good; k++) {
    const int64_t i = f->near.at[k];
    while (gone < f->going.count && f->going.at[gone] < i) gone++;
    if (gone < f->going.count && f->going.at[gone] == i) continue;
    double x[3];
    for (int c = 0; c < 3; c++) x[c] = collision_get(run, COLLISION_POSITION, c, i);
    good = put_images(run, g, inlet, reach, x, collision_get(run, COLLISION_RADIUS, 0, i));
  }
  for (int64_t k = 0; k < f->newcomers && good; k++)
    good = put_images(run, g, inlet, reach, f->newcomer[k].x, f->newcomer[k].r);
  return good ? SIM_OK : sim_no_memory("the grains about an inlet");
}

static bool has_room(const collision_run *run, const grid *g, const double x[3], double r) {
  const collision_flow *f = run->flow;
  const geometry_pose *pose = run->array[COLLISION_POSES].data;
  int at[3], cell[3];
  (void)cell_of(g, x, at);
  for (cell[0] = at[0] - 1; cell[0] <= at[0] + 1; cell[0]++)
    for (cell[1] = at[1] - 1; cell[1] <= at[1] + 1; cell[1]++)
      for (cell[2] = at[2] - 1; cell[2] <= at[2] + 1; cell[2]++) {
        bool there = true;
        for (int c = 0; c < 3; c++) there = there && cell[c] >= 0 && cell[c] < g->cells[c];
        if (!there) continue;
        for (int32_t k = f->head[(cell[0] * g->cells[1] + cell[1]) * g->cells[2] + cell[2]]; k >= 0;
             k = f->obstacle[k].next) {
          const collision_obstacle *o = &f->obstacle[k];
          double square = 0;
          for (int c = 0; c < 3; c++) square += (x[c] - o->x[c]) * (x[c] - o->x[c]);
          if (square < (r + o->r) * (r + o->r)) return false;
        }
      }
  for (int b = 0; b < run->options.walls; b++) {
    geometry_contact touch[GEOMETRY_CONTACTS_MAX];
    if (geometry_wall_contacts(&run->options.wall[b], &pose[b], x, r, touch) > 0) return false;
  }
  return true;
}

sim_status collision_inlet_come(collision_run *run, int which, const sim_clock *clock) {
  collision_flow *f = run->flow;
  const collision_inlet *inlet = run->parameters->insert.items[which].data;
  double *controls = run->array[COLLISION_CONTROLLER].data, *brought = &controls[COLLISION_OF_INLET + which];
  const double reach = 2 * run->options.radius_most, due = collision_inlet_total(inlet, clock->t);
  if (!(*brought < due)) return SIM_OK;
  grid g;
  for (int c = 0; c < 3; c++) {
    const double size = inlet->high[c] - inlet->low[c] + 2 * reach;
    g.low[c] = inlet->low[c] - reach;
    g.cells[c] = (int)fmax(1, fmin(COLLISION_INLET_GRID, floor(size / reach)));
    g.width[c] = size / g.cells[c];
  }
  SIM_TRY(put_obstacles(run, &g, inlet, reach));
  while (*brought < due) {
    const uint64_t seed = run->parameters->common.seed, id = (uint64_t)controls[COLLISION_NEXT_ID];
    collision_newcomer *new = collision_list_more(f->newcomer, f->newcomers, &f->newcomer_room, sizeof *new);
    if (new == NULL) return sim_no_memory("the grains of an inlet");
    f->newcomer = new;
    new += f->newcomers;
    *new = (collision_newcomer){.inlet = which, .r = collision_radius_of(&inlet->size, seed, id, (size_t)*brought)};
    bool found = false;
    for (uint32_t k = 0; k < TRIES && !found; k++) {
      double u[4];
      sim_rng_uniform(seed, id, (uint64_t)clock->step, COLLISION_DRAW_INLET_POSITION + 2 * k, u);
      sim_rng_uniform(seed, id, (uint64_t)clock->step, COLLISION_DRAW_INLET_POSITION + 2 * k + 1, u + 2);
      for (int c = 0; c < 3; c++)
        new->x[c] = inlet->low[c] + new->r + u[c] * (inlet->high[c] - inlet->low[c] - 2 * new->r);
      found = has_room(run, &g, new->x, new->r);
    }
    if (!found) return SIM_OK;
    if (!put_images(run, &g, inlet, reach, new->x, new->r)) return sim_no_memory("the grains about an inlet");
    f->newcomers++;
    (*brought)++;
    controls[COLLISION_NEXT_ID]++;
  }
  return SIM_OK;
}
