/* Grains of any kind on an NVIDIA GPU, for one precision: what its device code shares. `real` is defined before this is
 * included. What includes nothing else of the program is compiled by NVRTC too, with a law of the scenario.
 *
 * As on the CPU (cpu.c): grains stand in the order of their cells, and a thread gathers the contacts of its grain in
 * the order of the neighbours' ids, then the walls. So no bit depends on cells, on lists or on the device. Cells go up
 * in columns, so that grains that stand together in memory are near to each other in space too.
 *
 * A step is two launches: contacts of the step before, which also take the velocities' step and move grains into the
 * other set; lists are made anew, if they no longer hold, by one launch that decides that by itself and whose thread
 * blocks wait for each other. Contacts of the last step wait for the next step, or for a look. */
#ifndef COLLISION_CUDA_BED_CUH
#define COLLISION_CUDA_BED_CUH

#include "kernels/collision/general/physics.h"
#include "kernels/common/geometry/wall_contact.h"
#include "kernels/common/device.cuh"

/* What a kernel has code for; each has what is before it. More: gates, a sheared box and what a scenario adds to the
 * acceleration. All: meshes. */
enum { BED_BARE, BED_WALLS, BED_WORKED, BED_MORE, BED_ALL };

enum { BED_LEVELS = 6, BED_THREADS = 256 };

/* Of one object file: its kind of real is in them. */
namespace {

struct alignas(4 * sizeof(real)) four {
  real x, y, z, w;
};

/* What a step changes, in the cells' order; two sets. What contacts see of one and accelerations of the other share
 * their memory: those are used up when the other set is written. */
struct bed_grains {
  four *place;    /* and radius */
  four *velocity; /* and mass */
  four *spin, *acceleration, *twirl;
  four *seen, *turned; /* velocities that contacts see; mass in seen.w */
};

/* What only sorting moves; two sets, with their lists. */
struct bed_kept {
  double *dissipated, *virial, *work; /* work: NULL unless numbers.worked */
  uint32_t *collisions, *id, *material;
  real *wall_spring; /* [wall_numbers][n] */
  int32_t *crossed;  /* [gates][n] */
};

/* Rows in slices of 32 grains, as long as the longest of a slice: entry k of grain i is base[i/32] + 32 k + i%32. */
struct bed_list {
  uint32_t *base;
  uint16_t *count;
  uint32_t *neighbour; /* [room], in the order of ids */
  real *spring;        /* [springs][room] */
};

/* Grains of radii within a factor of two have cells of their own. */
struct bed_level {
  uint32_t first_cell, cells[3];
  double width[3], radius;
};

enum bed_fault { BED_CROWDED = 1, BED_WILD = 2 };

/* Written by each launch for the next; two, taken in turns. */
struct bed_control {
  double moved, step, cutoff; /* how much nearer two may have come since the list; in the last step; gap up to which */
  int order, home, listed;    /* set of grains; set of what is kept and of lists; whether there are lists */
};

struct bed_numbers {
  uint32_t n, room, cells, slices;
  int levels, springs, form, materials, walls, wall_numbers, gates, meshes;
  bool periodic[3], damped, worked, external;
  uint32_t blocks; /* of 256 ids */
  double low[3], size[3], gravity[3], skin, shear;
  bed_level level[BED_LEVELS];
};

/* What steps read of bed_numbers. Half of a side without images is infinite. */
struct bed_box {
  real size[3], half[3], low[3], high[3], gravity[3];
  bool periodic[3], damped;
  uint32_t room;
};

/* Numbers that need no division where both grains of a pair are like this one. */
struct bed_usual {
  real radius, mass, reduced_radius, reduced_mass, root_mass, both, inverse_both;
  contact_law law; /* of the first material */
  bool materials;  /* more than one */
};

struct bed_arrays {
  bed_box box;
  bed_usual usual;
  bed_grains grains[2];
  bed_kept kept[2];
  bed_list list[2];
  uint32_t *cell, *cell_of, *rank, *order; /* cell [cells + 1] */
  uint32_t *slot;                          /* of an id, when looked at; cell_of while lists are made */
  uint32_t *partial;                       /* of a scan: [blocks] */
  unsigned *barrier;                       /* thread blocks that came, ever */
  bed_control *control;                    /* [2] */
  unsigned long long *motion;              /* [4]: greatest square of a speed of the last launches, as bits */
  int *fault;
  const bed_numbers *numbers;
  const contact_law *law; /* [COLLISION_MATERIALS_MAX]^2 */
  const geometry_wall *wall;
  const collision_gate *gate;
  const four *outer;         /* [n]: what a scenario adds to the acceleration */
  geometry_mesh_cache *near; /* [n][meshes], by id */
};

struct bed_poses {
  geometry_pose pose[COLLISION_WALLS_MAX];
};

/* Images above in y of a sheared box: how far they are along x as contacts see them, and after the next step; and how
 * much faster. */
struct bed_shift {
  real offset, after, jump;
};

} // namespace

#endif
