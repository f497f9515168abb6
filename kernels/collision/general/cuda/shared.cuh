/* The general solver on an NVIDIA GPU: types that its device code shares, as templates on `real`, the type of the state
 * (float or double). Headers that include no header of the engine are compiled by NVRTC too, together with functions of
 * the scenario (laws.c).
 *
 * As on the CPU (cpu/ops.c), grains stand in the order of their cells, and one thread gathers the contacts of its
 * grain: first the neighbours in the order of their ids, then the walls. So no bit depends on cells, on lists or on the
 * device. Cells are numbered in columns, so that grains which are near in memory are near in space too.
 *
 * A step is two launches. The first computes the contacts of the step before, completes its velocities, and moves the
 * grains into the other set. The second rebuilds the lists where they no longer hold: the launch decides that itself,
 * and its thread blocks wait for each other. The contacts of the last step are computed in the next step, or when the
 * state is observed. With clumps there is a launch between them, which moves the clumps (bodies.cuh). */
#ifndef COLLISION_GENERAL_CUDA_SHARED_CUH
#define COLLISION_GENERAL_CUDA_SHARED_CUH

#include "kernels/collision/clumps/rigid.h"
#include "kernels/collision/general/models.inc"
#include "kernels/collision/hill_motion.h"
#include "kernels/common/geometry/wall_contact.h"
#include "kernels/common/device.cuh"

/* Features that a kernel has code for; up to GENERAL_MESHES each includes the ones before it. GENERAL_WORK: grains
 * with different laws, moving walls, and work of gravity along periodic sides. GENERAL_EXTRAS: gates, a sheared box,
 * Hill's equations, self-gravity, functions of the scenario. GENERAL_MESHES: walls of triangles. GENERAL_CLUMPS:
 * GENERAL_WORK and clumps. GENERAL_CLUMP_MESHES: these and walls of triangles. */
enum {
  GENERAL_BARE,
  GENERAL_WALLS,
  GENERAL_WORK,
  GENERAL_EXTRAS,
  GENERAL_MESHES,
  GENERAL_CLUMPS,
  GENERAL_CLUMP_MESHES
};
static __host__ __device__ constexpr bool general_extras(int features) {
  return features == GENERAL_EXTRAS || features == GENERAL_MESHES;
}
static __host__ __device__ constexpr bool general_meshes(int features) {
  return features == GENERAL_MESHES || features == GENERAL_CLUMP_MESHES;
}
static __host__ __device__ constexpr bool general_clumps(int features) { return features >= GENERAL_CLUMPS; }

/* Threads of a block; CONTACT_THREADS: of the launch of contacts. */
enum { GENERAL_LEVELS = 6, GENERAL_THREADS = 256, CONTACT_THREADS = 128 };

template <typename real> struct alignas(4 * sizeof(real)) vec4 { real x, y, z, w; };
template <typename real> struct alignas(2 * sizeof(real)) vec2 { real x, y; };

/* Data that a step changes, in the order of the cells; two sets on the device, each array [n]. The predicted velocities
 * of one set share memory with the accelerations of the other, which are no longer needed when the other set is
 * written. */
template <typename real> struct general_grains {
  vec4<real> *position; /* x, y, z, radius */
  vec4<real> *velocity; /* x, y, z, mass */
  vec4<real> *spin, *acceleration, *angular_acceleration;
  double *temperature;         /* NULL: no heat */
  vec4<real> *v_pred, *w_pred; /* predicted velocity (and mass) and predicted spin, which contacts use */
};

/* How a contact's force moves a sphere of a clump, or a loose grain: its inverse mass along the unit vector n is
 * inverse_mass + n A n. form: A (xx yy zz xy yz zx; 0 for a loose grain), see rigid_mobility. */
struct alignas(16) general_mobility {
  double form[6], inverse_mass;
  uint64_t body; /* number of the clump, from 1; 0: a loose grain */
};

/* Data that move only when grains are sorted; two sets on the device, each array [n]. Each set belongs to one
 * general_list. */
template <typename real> struct general_records {
  double *dissipated, *virial, *work; /* energies; work: NULL unless numbers.worked */
  double *wall_heat;                  /* NULL: no heat */
  uint32_t *collisions, *id, *material;
  real *wall_spring;          /* [wall_numbers][n] */
  int32_t *crossed;           /* [gates][n] */
  general_mobility *mobility; /* NULL: no clumps */
};

/* Neighbour lists, one row a grain, in slices of 32 grains, each as long as its longest row: entry k of grain i is at
 * base[i/32] + 32 k + i%32. */
template <typename real> struct general_list {
  uint32_t *base;
  uint16_t *count;
  uint32_t *neighbour; /* [room], each row in the order of ids */
  real *spring;        /* history of the entries, see spring_at */
};

/* Cells of one class of radii, which differ by less than a factor of two. */
struct general_level {
  uint32_t first_cell, cells[3];
  double width[3], radius;
};

enum general_fault { GENERAL_LIST_FULL = 1, GENERAL_DIVERGED = 2 };

/* State of the lists. Two sets are used alternately: each launch writes the set that the next launch reads. */
struct general_control {
  double moved, step, cutoff; /* distance by which two grains may have approached since the list was built, and in the
                                 last step; gap up to which two grains are neighbours */
  int order, home, listed;    /* which set of grains; which set of records and lists; whether there are lists */
};

struct general_numbers {
  uint32_t n, room, cells, slices;
  int levels, springs, form, materials, walls, wall_numbers, gates, meshes;
  bool periodic[3], damped, worked, external;
  bool twist_first; /* see spring_at */
  uint32_t blocks;  /* of GENERAL_THREADS ids */
  double low[3], size[3], gravity[3], skin, shear;
  double turn;     /* Hill's equations: largest rate at which velocities turn; 0: none */
  int law_springs; /* values of history that are the law's; one more may be the damping of a restitution by speed */
  double reach;    /* gap up to which contacts may last: lists are as much wider than `skin` */
  collision_models models;
  bool heated;
  double conductance, capacity, wall_temperature[COLLISION_WALLS_MAX];
  general_level level[GENERAL_LEVELS];
};

/* Springs of contacts beside the tangential one. */
enum { TURNS_ANY, TURNS_ROLLING, TURNS_TWISTING };

/* Index of number s of an entry's history behind its groups of four: see spring_at. */
static __device__ __forceinline__ size_t rest_at(const general_numbers &b, uint32_t e, int s) {
  const int whole = b.springs / 4 * 4;
  return s < b.springs / 2 * 2 ? (size_t)whole * b.room + 2 * (size_t)e + (size_t)(s - whole) : (size_t)s * b.room + e;
}

/* Index of number s of the history of entry e: groups of four numbers, [springs / 4][room][4], are read and written at
 * once, and so is a pair of the rest, [room][2]; the last of an odd number lies behind, [room]. Where grains twist and
 * do not roll, the twist is in the first group, before the numbers of rolling. */
static __device__ __forceinline__ size_t spring_at(const general_numbers &b, uint32_t e, int s) {
  if (b.twist_first && s >= 3) s = s == 6 ? 3 : s + 1;
  return s < b.springs / 4 * 4 ? 4 * ((size_t)(s / 4) * b.room + e) + (size_t)(s % 4) : rest_at(b, e, s);
}

/* Numbers of general_numbers that steps read, in the state's precision. half: infinite along sides without images. */
template <typename real> struct general_box {
  real size[3], half[3], low[3], high[3], gravity[3];
  bool periodic[3], damped;
  bool turned; /* a sheared box has its images above in x, moved along y; else above in y, moved along x */
  uint32_t room;
};

/* Whether coordinate c of a grain that was taken to its image is still outside the box: it moved by more than a side in
 * a step. The tolerance, 1e-3 of a side, is for rounding; see drift in cpu/ops.c. */
template <typename real> static __device__ __forceinline__ bool is_outside(const general_box<real> &b, int c, real x) {
  return (real)fabs((x - b.low[c]) - b.half[c]) > (real)1.002 * b.half[c];
}

/* Constants of a pair of typical grains (like grain 0), which save divisions where both grains are typical. */
template <typename real> struct general_typical_pair {
  real radius, mass, reduced_radius, reduced_mass, root_mass, both, inverse_both;
  contact_law<real> law; /* of the first material */
  bool materials;        /* whether pairs of grains have different laws */
};

/* Clumps: rigid bodies of spheres. */
struct general_body {
  double inverse[3][3], mass; /* inverse of the tensor of inertia, in the axes of the box */
};
struct general_bodies {
  uint32_t count;
  uint32_t *of;          /* [n], by ids: number of the clump from 1; 0: none */
  double *lever;         /* [n][3], by ids: from the centre of the clump to the sphere */
  double *member;        /* [3][n], by ids: the same along the principal axes */
  general_body *body;    /* [count] */
  collision_body *state; /* [count] */
};

/* The grains that a rank computes: in each class of radii a range of the order of the cells, `first` up to `end` - 1.
 * Ranges begin at the threads `thread` of a launch over them, with whole warps for whole slices of the lists. A single
 * rank has one range, all grains. */
struct general_own {
  uint32_t parts, threads;
  struct {
    uint32_t thread, first, end;
  } part[GENERAL_LEVELS];
};
enum : uint32_t { GENERAL_NONE = UINT32_MAX };

/* Returns the grain of a thread; GENERAL_NONE: none. */
static __device__ __forceinline__ uint32_t own_grain(const general_own &own, uint32_t thread) {
  uint32_t p = 0;
  while (p + 1 < own.parts && thread >= own.part[p + 1].thread) p++;
  const uint32_t i = (own.part[p].first & ~31u) + thread - own.part[p].thread;
  return i >= own.part[p].first && i < own.part[p].end ? i : GENERAL_NONE;
}

/* Whether grain i is among them. */
static __device__ __forceinline__ bool is_own(const general_own &own, uint32_t i) {
  bool is = false;
  for (uint32_t p = 0; p < own.parts; p++) is = is || (i >= own.part[p].first && i < own.part[p].end);
  return is;
}

template <typename real> struct general_arrays {
  general_box<real> box;
  general_typical_pair<real> typical;
  general_grains<real> grains[2];
  general_records<real> records[2];
  general_list<real> list[2];
  uint32_t *cell, *cell_of, *rank, *order; /* cell [cells + 1] */
  uint32_t *slot; /* [n]: position of an id in the cells' order: with clumps since the last sort, else when the state is
                     observed; shares memory with cell_of */
  uint32_t *partial;          /* [blocks]: for sums over thread blocks */
  unsigned *barrier;          /* [2]: how many thread blocks have ever arrived; how many are awaited */
  general_control *control;   /* [2] */
  unsigned long long *motion; /* [4]: greatest squared speed in each of the last launches, as bits of a double */
  int *fault;
  const general_numbers *numbers;
  const contact_law<real> *law; /* [COLLISION_MATERIALS_MAX][COLLISION_MATERIALS_MAX] */
  const geometry_wall *wall;
  const collision_gate *gate;
  double *warmed;                          /* [n]: temperatures after the contacts of a step that moves no grain */
  const vec4<real> *external_acceleration; /* [n]: of the scenario's function */
  const double *pull;                      /* [4][n], by ids: self-gravity, and power of its images; NULL: none */
  geometry_mesh_cache *near;               /* [n][meshes], in the order of ids */
  general_bodies bodies;
  general_own own;
};

struct general_poses {
  geometry_pose pose[COLLISION_WALLS_MAX];
};

/* Terms of the sums, where several ranks observe their own grains: `term` [quantities][count] for ids first ...
 * first + count - 1, which is 0 for other ranks' grains. NULL: one rank. first and count: multiples of
 * GENERAL_THREADS. */
struct general_terms {
  double *term;
  uint32_t first, count;
};

/* Image above of a sheared box: its offset for contacts, the offset after the next step, and its additional velocity;
 * and Hill's equations for the next step (omega 0: none). */
template <typename real> struct general_shear {
  real offset, after, jump;
  double left; /* time for which self-gravity is kept after the middle of the step */
  hill_flow hill;
};

#endif
