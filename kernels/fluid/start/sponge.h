/* Absorbing layers before sides. */
#ifndef FLUID_SPONGE_H
#define FLUID_SPONGE_H

#include "kernels/fluid/fluid.h"

/* An absorbing layer before a side: planes of cells. In a step the density of each cell approaches its running mean by
 * a share of the difference, and the mean flow through each plane its own by the same share. So the layer has the
 * impedance of the fluid for plane waves and reflects none, and what passes it twice is damped by exp(-2
 * FLUID_SPONGE_DEPTH). The running means are those of selective frequency damping (Akervik et al., Phys. Fluids 18
 * (2006) 068102): a steady flow is not changed. When an inlet lets in more than a step before, the means of the flow
 * grow by as much at once, as the flow of a fluid does that cannot be compressed. */
typedef struct fluid_layer {
  int side;
  bool alone;            /* the only side with a pressure */
  int64_t planes, cells; /* cells: of a plane */
  int64_t first;         /* of its means */
  double follow;         /* share of the difference that means take up in a step */
  double *share;         /* [planes], from the side on */
  double *open;          /* [planes]: cells of a plane that are fluid; of use where no body moves */
} fluid_layer;
typedef struct fluid_sponge {
  int layers;
  fluid_layer layer[FLUID_SIDES];
  int64_t means;
  double *mean; /* a layer: [planes] momentum through a plane, by cell; [planes][cells] density - 1; in units of the
                   lattice, after collision */
} fluid_sponge;
#define FLUID_SPONGE_DEPTH 3.5   /* damping of one passage, a power of e */
#define FLUID_SPONGE_MEMORY 30.0 /* time of the running mean: passages of sound through the layer */
enum { FLUID_SPONGE_LEAST = 8 }; /* cells */
bool fluid_has_sponge(const fluid_parameters *p);
/* Without layers where no side has a sponge; the means are not set. solid[cells]: NULL: none is. Destroy with
 * fluid_sponge_destroy, also after a failure. */
sim_status fluid_sponge_create(const fluid_parameters *p, const bool *solid, fluid_sponge *out) SIM_MUST_CHECK;
/* Cell i of a plane of a layer. */
int64_t fluid_layer_cell(const grid_shape *g, const fluid_layer *layer, int64_t plane, int64_t i);
void fluid_sponge_destroy(fluid_sponge *sponge);
double fluid_sponge_bytes(const fluid_parameters *p);

#endif
