/* Grains of any kind on an NVIDIA GPU, for one precision: what its device code shares. What includes nothing else of
 * the program is compiled by NVRTC too, with a law of the scenario.
 *
 * As on the CPU (cpu.c): grains stand in the order of their cells, and a thread gathers the contacts of its grain in
 * the order of the neighbours' ids, then the walls. So no bit depends on cells, on lists or on the device. Cells go up
 * in columns, so that grains that stand together in memory are near to each other in space too.
 *
 * A step is two launches: contacts of the step before, which also take the velocities' step and move grains into the
 * other set; lists are made anew, if they no longer hold, by one launch that decides that by itself and whose thread
 * blocks wait for each other. Contacts of the last step wait for the next step, or for a look. */
#ifndef COLLISION_GENERAL_CUDA_SHARED_CUH
#define COLLISION_GENERAL_CUDA_SHARED_CUH

#include "kernels/collision/general/physics.inc"
#include "kernels/collision/walls/wall_touch.h"
#include "kernels/common/device.cuh"

/* What a kernel has code for; each has what is before it. More: gates, a sheared box and what a scenario adds to the
 * acceleration. All: meshes. */
enum { GENERAL_BARE, GENERAL_WALLS, GENERAL_WORK, GENERAL_EXTRAS, GENERAL_MESHES };

enum { GENERAL_LEVELS = 6, GENERAL_THREADS = 256 };

template <typename real> struct alignas(4 * sizeof(real)) vec4 { real x, y, z, w; };

/* What a step changes, in the cells' order; two sets. What contacts see of one and accelerations of the other share
 * their memory: those are used up when the other set is written. */
template <typename real> struct general_grains {
  vec4<real> *position; /* and radius */
  vec4<real> *velocity; /* and mass */
  vec4<real> *spin, *acceleration, *angular_acceleration;
  vec4<real> *v_pred, *w_pred; /* velocities that contacts see; mass in seen.w */
};

/* What only sorting moves; two sets, with their lists. */
template <typename real> struct general_records {
  double *dissipated, *virial, *work; /* work: NULL unless numbers.worked */
  uint32_t *collisions, *id, *material;
  real *wall_spring; /* [wall_numbers][n] */
  int32_t *crossed;  /* [gates][n] */
};

/* Rows in slices of 32 grains, as long as the longest of a slice: entry k of grain i is base[i/32] + 32 k + i%32. */
template <typename real> struct general_list {
  uint32_t *base;
  uint16_t *count;
  uint32_t *neighbour; /* [room], in the order of ids */
  real *spring;        /* [springs][room] */
};

/* Grains of radii within a factor of two have cells of their own. */
struct general_level {
  uint32_t first_cell, cells[3];
  double width[3], radius;
};

enum general_fault { GENERAL_LIST_FULL = 1, GENERAL_DIVERGED = 2 };

/* Written by each launch for the next; two, taken in turns. */
struct general_control {
  double moved, step, cutoff; /* how much nearer two may have come since the list; in the last step; gap up to which */
  int order, home, listed;    /* set of grains; set of what is kept and of lists; whether there are lists */
};

struct general_numbers {
  uint32_t n, room, cells, slices;
  int levels, springs, form, materials, walls, wall_numbers, gates, meshes;
  bool periodic[3], damped, worked, external;
  uint32_t blocks; /* of 256 ids */
  double low[3], size[3], gravity[3], skin, shear;
  general_level level[GENERAL_LEVELS];
};

/* What steps read of bed_numbers. Half of a side without images is infinite. */
template <typename real> struct general_box {
  real size[3], half[3], low[3], high[3], gravity[3];
  bool periodic[3], damped;
  uint32_t room;
};

/* Numbers that need no division where both grains of a pair are like this one. */
template <typename real> struct general_typical_pair {
  real radius, mass, reduced_radius, reduced_mass, root_mass, both, inverse_both;
  contact_law<real> law; /* of the first material */
  bool materials;        /* more than one */
};

template <typename real> struct general_arrays {
  general_box<real> box;
  general_typical_pair<real> typical;
  general_grains<real> grains[2];
  general_records<real> records[2];
  general_list<real> list[2];
  uint32_t *cell, *cell_of, *rank, *order; /* cell [cells + 1] */
  uint32_t *slot;                          /* of an id, when looked at; cell_of while lists are made */
  uint32_t *partial;                       /* of a scan: [blocks] */
  unsigned *barrier;                       /* thread blocks that came, ever */
  general_control *control;                /* [2] */
  unsigned long long *motion;              /* [4]: greatest square of a speed of the last launches, as bits */
  int *fault;
  const general_numbers *numbers;
  const contact_law<real> *law; /* [COLLISION_MATERIALS_MAX]^2 */
  const collision_wall *wall;
  const collision_gate *gate;
  const vec4<real> *external_acceleration; /* [n]: what a scenario adds to the acceleration */
  collision_near *near;                    /* [n][meshes], by id */
};

struct general_poses {
  collision_pose pose[COLLISION_WALLS_MAX];
};

/* Images above in y of a sheared box: how far they are along x as contacts see them, and after the next step; and how
 * much faster. */
template <typename real> struct general_shear { real offset, after, jump; };

#endif
