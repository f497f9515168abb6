/* Numbers and sizes of a scenario's grains, as far as they are known before grains exist. */
#ifndef COLLISION_SIZES_H
#define COLLISION_SIZES_H

#include "kernels/collision/scenario/parameters.h"

/* Largest logarithm of radius over median that a lognormal distribution of this deviation draws. */
double collision_lognormal_most(double deviation);
/* Largest ratio of radii that solvers support: on the CPU; on a GPU. */
enum { COLLISION_RATIO = 200, COLLISION_RATIO_GPU = 20 };
/* Whether radii differ by more than a factor. */
bool collision_radii_apart(double least, double most, int factor);
/* Bounds of the radii of all groups and inlets, as far as these certainly occur; INFINITY and 0: unknown. */
void collision_all_radii(const collision_parameters *p, double *least, double *most);
/* Least and greatest radius of a distribution. */
void collision_radii_bounds(const collision_radii *size, double *least, double *most);
/* Bounds that a group certainly reaches: some grain has a radius <= *least, and some grain a radius >= *most. INFINITY
 * and 0: unknown. */
void collision_sure_radii(const sim_item *item, double *least, double *most);
/* Number of sites along each axis of a simple cubic lattice of n grains in a region with these sides. */
void collision_lattice_sites(const double side[3], int64_t n, int64_t sites[3]);

/* Least and greatest radius, and least mass, of an inlet's grains. */
void collision_inlet_bounds(const collision_inlet *inlet, double *least, double *most, double *mass);
/* Number of grains that an inlet has to insert by time t. */
double collision_inlet_total(const collision_inlet *inlet, double t);
/* Whether grains are inserted or removed during the run. */
bool collision_flow_varies(const collision_parameters *p);
/* Total number of grains: n at the start, and all that inlets insert. */
double collision_flow_total(const collision_parameters *p, double n);
/* Estimated largest number of grains at one time, n at the start; a run allocates more memory where it is too low. */
double collision_flow_estimate(const collision_parameters *p, double n);

#endif
