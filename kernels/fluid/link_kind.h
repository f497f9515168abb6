/* Kinds of links to sides and bodies. */
#ifndef FLUID_LINK_KIND_H
#define FLUID_LINK_KIND_H

/* How a population arrives at a cell from a side of the box or a body, where d is the direction opposite to `arriving`
 * c, and q the part of the link from the cell along d that is fluid:
 *   BOUNCE  g_c = g_d + constant: as if half-way, weight = 2q
 *   NEAR    g_c = weight g_d + (1 - weight) g_second(cell + towards) + constant, weight = 2q, q < 1/2: d and c, but
 *           for mirror images in slip sides
 *   FAR     g_c = weight g_d + (1 - weight) g_c + constant, weight = 1/(2q)
 *           (Bouzidi, Firdaouss and Lallemand, Phys. Fluids 13 (2001) 3452)
 *           With `entry`, q < 1/2 and behind the cell is a side with the velocity u_s: what comes from there is g_c + 6
 *           d.u_s, so that NEAR becomes g_c = 2q g_d + (1 - 2q) g_c + constant + (1 - 2q) 6 d.u_s.
 *   MIRROR  g_c = g_second(cell + towards)
 *   OPEN    g_c = -g_d + constant + 2 rho_w (9/2 (c.u)^2 - 3/2 u^2), rho_w = 1 + constant/2, u of the cell: a side of
 *           given pressure (Ginzburg, Verhaeghe and d'Humieres, Commun. Comput. Phys. 3 (2008) 427), where no shear
 *           stress acts
 *   STRAIGHT  g_c = -g_second(cell + towards) + constant + 2 rho_w (9/2 (c.u)^2 - 3/2 u^2), u normal to the side, whose
 *           axis is `weight`, the mean of both cells': what is mirrored has the opposite pressure and the opposite
 *           velocity along the side
 * The constant of a moving wall is 6 c.u_w, times the weight where FAR. */
typedef enum fluid_link_kind {
  FLUID_BOUNCE,
  FLUID_NEAR,
  FLUID_FAR,
  FLUID_MIRROR,
  FLUID_OPEN,
  FLUID_STRAIGHT
} fluid_link_kind;

#endif
