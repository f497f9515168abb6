/* Radii of a scenario, and checks of them against the box and the regions before grains are made. */
#include "kernels/collision/scenario/sizes.h"

#include "kernels/collision/clumps/clumps.h"
#include "kernels/collision/scenario/fields.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

double collision_lognormal_most(double deviation) { return fmin(0.5 * log(20), 4 * deviation); }

/* Radii are rounded: to single precision at worst. */
bool collision_radii_apart(double least, double most, int factor) { return most > factor * (1 + 1e-6) * least; }

void collision_radii_bounds(const collision_radii *size, double *least, double *most) {
  *least = *most = size->radius;
  for (size_t i = 0; i < size->radii.rows; i++) {
    if (i == 0 || size->radii.data[i] < *least) *least = size->radii.data[i];
    if (i == 0 || size->radii.data[i] > *most) *most = size->radii.data[i];
  }
  if (size->distribution == COLLISION_LOGNORMAL) {
    const double factor = exp(collision_lognormal_most(size->radii.data[1]));
    *least = size->radii.data[0] / factor;
    *most = size->radii.data[0] * factor;
  }
}

void collision_inlet_bounds(const collision_inlet *inlet, double *least, double *most, double *mass) {
  collision_radii_bounds(&inlet->size, least, most);
  *mass = inlet->group.density * 4 * COLLISION_PI / 3 * *least * *least * *least;
}

void collision_lattice_sites(const double side[3], int64_t n, int64_t sites[3]) {
  const double most = 0x1p30, volume = side[0] * side[1] * side[2];
  const double even = volume >= DBL_MIN && volume <= DBL_MAX
                          ? cbrt(volume / (double)n)
                          : cbrt(side[0]) * cbrt(side[1]) * cbrt(side[2]) / cbrt((double)n);
  for (int c = 0; c < 3; c++) sites[c] = (int64_t)fmin(most, fmax(1, floor(side[c] / even)));
  while (sites[0] * sites[1] * sites[2] < n) { /* adds a layer of sites along the axis with the widest spacing */
    int widest = 0;
    for (int c = 1; c < 3; c++)
      if (side[c] / (double)sites[c] > side[widest] / (double)sites[widest]) widest = c;
    sites[widest]++;
  }
}

static const collision_random_spheres *region_of(const sim_item *item) {
  const bool region = item->schema == &collision_random_spheres_schema || item->schema == &collision_lattice_schema;
  return region ? item->data : NULL; /* a lattice has the same struct */
}

/* Number of radii that are assigned to the grains in turn; 0: radii are drawn. */
static size_t dealt(const collision_random_spheres *group) {
  const collision_radii *size = &group->size;
  const bool drawn = size->distribution == COLLISION_LOGNORMAL || size->distribution == COLLISION_UNIFORM ||
                     (size->distribution == COLLISION_AUTO && size->radii.rows == 2);
  const size_t n = (size_t)group->n;
  return drawn ? 0 : size->radii.rows < n ? size->radii.rows : n;
}

static void bound(double r, double *least, double *most) {
  if (r < *least) *least = r;
  if (r > *most) *most = r;
}

void collision_sure_radii(const sim_item *item, double *least, double *most) {
  const collision_random_spheres *group = region_of(item);
  *least = INFINITY;
  *most = 0;
  if (group != NULL && group->size.radii.rows == 0) {
    bound(group->size.radius, least, most);
  } else if (group != NULL) {
    const size_t count = dealt(group);
    for (size_t i = 0; i < count; i++) bound(group->size.radii.data[i], least, most);
    if (count == 0)
      collision_radii_bounds(&group->size, most, least); /* some grain is at most as large as the upper bound */
  } else if (item->schema == &collision_each_schema) {
    const sim_doubles *radii = &((const collision_each *)item->data)->radius;
    for (size_t i = 0; i < radii->rows; i++) bound(radii->data[i], least, most);
  } else if (collision_rigid_of(item) != NULL) {
    const sim_doubles *spheres = &collision_rigid_of(item)->spheres;
    for (size_t i = 0; i < spheres->rows; i++) bound(spheres->data[4 * i + 3], least, most);
  } else if (item->schema == &collision_from_file_schema) {
    bound(((const collision_from_file *)item->data)->radius, least, most); /* NaN: the radius is in the file */
  } else {
    bound(((const collision_grain *)item->data)->radius, least, most);
  }
}

/* Smallest volume that the group's grains can have. */
static double least_volume(const collision_random_spheres *group) {
  const collision_radii *size = &group->size;
  const size_t count = size->radii.rows > 0 ? dealt(group) : 0;
  double sum = 0, least, most;
  collision_radii_bounds(size, &least, &most);
  if (count == 0) return 4 * COLLISION_PI / 3 * least * least * least * (double)group->n;
  for (size_t i = 0; i < count; i++) {
    const double times = floor(((double)group->n - 1 - (double)i) / (double)count) + 1;
    sum += times * pow(size->radii.data[i], 3);
  }
  return 4 * COLLISION_PI / 3 * sum;
}

static void check_fill(const collision_parameters *p, const collision_random_spheres *group, bool lattice, int line,
                       const char *path, sim_faults *faults) {
  double side[3], least, most, low[3], high[3];
  collision_sure_radii(&(sim_item){.schema = &collision_random_spheres_schema, .data = (void *)(size_t)group}, &least,
                       &most);
  for (int c = 0; c < 3; c++) {
    low[c] = group->low.rows ? group->low.data[c] : p->box.origin[c];
    high[c] = group->high.rows ? group->high.data[c] : p->box.origin[c] + p->box.size[c];
    side[c] = high[c] - low[c];
    if (!(side[c] > 0)) return;
  }
  int64_t sites[3];
  collision_lattice_sites(side, group->n, sites);
  for (int c = 0; c < 3 && lattice; c++)
    if (side[c] / (double)sites[c] < 2 * most) {
      sim_faults_add(faults, line, path, "%lld grains of radius %.9g do not fit: sites are %.9g apart in %c",
                     (long long)group->n, most, side[c] / (double)sites[c], "xyz"[c]);
      return;
    }
  if (lattice) return;
  for (int c = 0; c < 3; c++) {
    const double end = p->box.origin[c] + p->box.size[c];
    const bool round = p->box.sides[2 * c] == COLLISION_PERIODIC && low[c] <= p->box.origin[c] && high[c] >= end;
    if (round || side[c] >= 2 * most) continue;
    sim_faults_add(faults, line, path, "a grain of radius %.9g does not fit the region's %c", most, "xyz"[c]);
    return;
  }
  const double filled = least_volume(group) / (side[0] * side[1] * side[2]);
  if (filled > 0.7)
    sim_faults_add(faults, line, path, "the grains fill %.3g of their region; about 0.63 is possible with equal radii",
                   filled);
}

void collision_all_radii(const collision_parameters *p, double *least, double *most) {
  double smallest, largest, mass;
  *least = INFINITY;
  *most = 0;
  for (size_t i = 0; i < p->grains.count + p->insert.count; i++) {
    if (i < p->grains.count)
      collision_sure_radii(&p->grains.items[i], &smallest, &largest);
    else
      collision_inlet_bounds(p->insert.items[i - p->grains.count].data, &smallest, &largest, &mass);
    *least = fmin(*least, smallest);
    *most = fmax(*most, largest);
  }
}

void collision_check_sizes(const collision_parameters *p, sim_faults *faults) {
  double least = INFINITY, most = 0, smallest, largest, mass;
  for (size_t i = 0; i < p->grains.count; i++) {
    const sim_item *item = &p->grains.items[i];
    const collision_random_spheres *group = region_of(item);
    char path[64];
    snprintf(path, sizeof path, "grains[%zu]", i + 1);
    if (group != NULL) check_fill(p, group, item->schema == &collision_lattice_schema, item->line, path, faults);
    collision_sure_radii(item, &smallest, &largest);
    least = fmin(least, smallest);
    most = fmax(most, largest);
  }
  const double lowest = least, highest = most; /* bounds of the radii of grains at the start */
  for (size_t i = 0; i < p->insert.count; i++) {
    collision_inlet_bounds(p->insert.items[i].data, &smallest, &largest, &mass);
    least = fmin(least, smallest);
    most = fmax(most, largest);
  }
  const bool come = !collision_radii_apart(lowest, highest, COLLISION_RATIO);
  if (collision_radii_apart(least, most, COLLISION_RATIO))
    sim_faults_add(faults, 0, come ? "insert" : "grains",
                   "expected radii within 1:%d of each other%s, got %.9g to %.9g in all", COLLISION_RATIO,
                   come ? " and of those at the start" : "", least, most);
  const double volume = p->box.size[0] * p->box.size[1] * p->box.size[2];
  if (!(volume >= DBL_MIN && volume <= DBL_MAX) && p->box.size[0] > 0 && p->box.size[1] > 0 && p->box.size[2] > 0)
    sim_faults_add(faults, 0, p->pushed ? "grid.size" : "box.size",
                   "the volume is out of the range of double precision: use other units");
  for (int c = 0; c < 3; c++)
    if (p->box.sides[2 * c] == COLLISION_PERIODIC && p->box.size[c] < 5 * most) {
      sim_faults_add(faults, 0, p->pushed ? "grid.size" : "box.size",
                     "%.9g in %c is periodic and less than 5 times the largest radius%s, %.9g", p->box.size[c],
                     "xyz"[c], most > highest ? " of an inlet" : "", most);
      break;
    }
}
