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

sim_status fluid_sponge_create(const fluid_parameters *p, fluid_sponge *out) {
  const grid_shape g = fluid_grid_of(p);
  *out = (fluid_sponge){0};
  for (int s = 0; s < 2 * g.rank; s++) {
    if (!has_sponge(&p->sides[s])) continue;
    fluid_layer *layer = &out->layer[out->layers++];
    *layer = layer_of(p, &g, s, out->means);
    SIM_TRY(set_shares(p, &g, layer));
    out->means += layer->planes * (1 + layer->cells);
  }
  if (out->means > 0) out->mean = calloc((size_t)out->means, sizeof *out->mean);
  return out->means == 0 || out->mean ? SIM_OK : sim_no_memory("sponges");
}

void fluid_sponge_destroy(fluid_sponge *sponge) {
  for (int i = 0; i < sponge->layers; i++) free(sponge->layer[i].share);
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
    out += (double)layer.planes * (2 + (double)layer.cells) * sizeof(double);
  }
  return out;
}
