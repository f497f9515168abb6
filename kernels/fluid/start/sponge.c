/* Absorbing layers before open sides: their planes, and how much they damp. */
#include "kernels/fluid/fluid.h"
#include "kernels/fluid/machine.h"

#include <math.h>
#include <stdlib.h>

static bool has_sponge(const fluid_side *side) { return side->given && !isnan(side->sponge); }

bool fluid_has_sponge(const fluid_parameters *p) {
  bool out = false;
  for (int s = 0; s < FLUID_SIDES; s++) out = out || has_sponge(&p->sides[s]);
  return out;
}

/* A layer without its shares; means behind those of the layers before it. */
static fluid_layer layer_of(const fluid_parameters *p, const grid_shape *g, int side, int64_t first) {
  const int64_t n = g->n[side / 2], planes = (int64_t)ceil(p->sides[side].sponge * (double)g->n[0] / g->size[0] - 0.5);
  int open = 0;
  for (int s = 0; s < 2 * g->rank; s++) open += p->sides[s].given && !isnan(p->sides[s].pressure);
  return (fluid_layer){.side = side,
                       .alone = open == 1 && !isnan(p->sides[side].pressure),
                       .planes = planes < n ? planes : n,
                       .cells = grid_cells(g) / g->n[side / 2],
                       .first = first};
}

int64_t fluid_layer_cell(const grid_shape *g, const fluid_layer *layer, int64_t plane, int64_t i) {
  const int axis = layer->side / 2;
  const int64_t across = g->n[axis == 0 ? 1 : 0], first = i % across, second = i / across;
  const int64_t along = layer->side % 2 ? g->n[axis] - 1 - plane : plane;
  const int64_t at[3] = {axis == 0 ? along : first,
                         axis == 1   ? along
                         : axis == 0 ? first
                                     : second,
                         axis == 2 ? along : second};
  return (at[2] * g->n[1] + at[1]) * g->n[0] + at[0];
}

static sim_status count_open(const grid_shape *g, const bool *solid, fluid_layer *layer) {
  layer->open = malloc((size_t)(layer->planes + 1) * sizeof *layer->open);
  if (!layer->open) return sim_no_memory("sponges");
  for (int64_t plane = 0; plane < layer->planes; plane++) {
    int64_t closed = 0;
    for (int64_t i = 0; solid && i < layer->cells; i++) closed += solid[fluid_layer_cell(g, layer, plane, i)];
    layer->open[plane] = (double)(layer->cells - closed);
  }
  return SIM_OK;
}

/* The damping rate grows linearly towards the side, to 2 FLUID_SPONGE_DEPTH c/width. */
static sim_status set_shares(const fluid_parameters *p, const grid_shape *g, fluid_layer *layer) {
  const double sound = 1 / sqrt(3), width = p->sides[layer->side].sponge * (double)g->n[0] / g->size[0];
  layer->follow = sound / (FLUID_SPONGE_MEMORY * width);
  layer->share = malloc((size_t)(layer->planes + 1) * sizeof *layer->share);
  if (!layer->share) return sim_no_memory("sponges");
  for (int64_t i = 0; i < layer->planes; i++)
    layer->share[i] = 1 - exp(-2 * FLUID_SPONGE_DEPTH * sound / width * (1 - ((double)i + 0.5) / width));
  return SIM_OK;
}

sim_status fluid_sponge_create(const fluid_parameters *p, const bool *solid, fluid_sponge *out) {
  const grid_shape g = fluid_grid_of(p);
  *out = (fluid_sponge){0};
  for (int s = 0; s < 2 * g.rank; s++) {
    if (!has_sponge(&p->sides[s])) continue;
    fluid_layer *layer = &out->layer[out->layers++];
    *layer = layer_of(p, &g, s, out->means);
    SIM_TRY(set_shares(p, &g, layer));
    SIM_TRY(count_open(&g, solid, layer));
    out->means += layer->planes * (1 + layer->cells);
  }
  if (out->means > 0) out->mean = calloc((size_t)out->means, sizeof *out->mean);
  return out->means == 0 || out->mean ? SIM_OK : sim_no_memory("sponges");
}

void fluid_sponge_destroy(fluid_sponge *sponge) {
  for (int i = 0; i < sponge->layers; i++) {
    free(sponge->layer[i].share);
    free(sponge->layer[i].open);
  }
  free(sponge->mean);
  *sponge = (fluid_sponge){0};
}

double fluid_sponge_gain(const fluid_layer *layer, const double more[FLUID_SIDES]) {
  double in = layer->alone ? 0 : more[layer->side];
  for (int s = 0; s < FLUID_SIDES && layer->alone; s++) in -= more[s];
  return layer->side % 2 ? -in : in;
}

double fluid_sponge_bytes(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  double out = 0;
  for (int s = 0; s < 2 * g.rank; s++) {
    if (!has_sponge(&p->sides[s])) continue;
    const fluid_layer layer = layer_of(p, &g, s, 0);
    out += (double)layer.planes * (3 + (double)layer.cells) * sizeof(double);
  }
  return out;
}
