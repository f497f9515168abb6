/* Shared by the files of the GPU's operations: build.c (what the walls are in device memory), ops.c (the operations),
 * kernels.cu (launches). Pointers are to device memory where nothing else is said. */
#ifndef FLUID_CUDA_WORK_H
#define FLUID_CUDA_WORK_H

#include "kernels/common/integers.h"
#include "kernels/fluid/gate_sums.h"

#ifndef __CUDACC_RTC__
#include <stddef.h>
#endif

/* A state: [nz][ny][groups][numbers][32]: the cells of a row in groups of 32, the last one filled up. The numbers of a
 * cell are its moments, and with heat behind them the temperature and its flux (heat.cuh). */
enum { FLUID_GROUP = 32 };
typedef struct fluid_layout {
  int n[3], groups, numbers;
  int first, own; /* planes along the last axis that this rank makes; beside them are those of other ranks (ranks.c) */
} fluid_layout;

/* ---- guards ---- */

/* What the guards have seen first, and in which step; of the cells of that step the one with the greatest key. */
enum { FLUID_TOLD_FAST, FLUID_TOLD_FASTEST, FLUID_TOLD_DENSE, FLUID_TOLD_HOT, FLUID_TOLD };
typedef struct fluid_guard {
  unsigned long long step[FLUID_TOLD]; /* UINT64_MAX: none */
  unsigned long long key[FLUID_TOLD];  /* squared speed as a float's bits, ~cell; DENSE, HOT:
                                        ~cell, bits of density - 1 or of the temperature */
} fluid_guard;

/* What functions of the scenario have done first: cells whose force is not found, or whose relaxation time is out of
 * range. The keys are those of the cell with the lowest number: ~cell, and bits of its velocity along an axis, or of
 * its relaxation time, as a float. */
typedef struct fluid_law_guard {
  unsigned long long push_step, tau_step; /* UINT64_MAX: none */
  unsigned long long push_key[3], tau_key;
} fluid_law_guard;
/* Kernels that are compiled with functions of the scenario: cudaKernel_t; NULL: there is no such function. (laws.c) */
typedef struct fluid_laws {
  struct sim_module *module;
  void *push, *push_start;
  void *cells, *links, *begin; /* in place of step_cells, step_links and begin_cells; they store rates of relaxation */
} fluid_laws;
enum { FLUID_PUSH_ROWS = 8, FLUID_PUSH_THREADS = FLUID_GROUP * FLUID_PUSH_ROWS }; /* of a block of these kernels */

/* ---- links ---- */

/* fluid_link, in both precisions */
typedef struct fluid_edge_single {
  float weight, constant;
  int8_t kind, arriving, second, towards;
} fluid_edge_single;
typedef struct fluid_edge_double {
  double weight, constant;
  int8_t kind, arriving, second, towards;
} fluid_edge_double;
/* fluid_cell */
typedef struct fluid_edge_cell {
  int32_t at[3], first, count;
} fluid_edge_cell;

/* FLUID_SEGMENT members of a patch at most, for one block. */
enum { FLUID_SEGMENT = 256 };
typedef struct fluid_segment {
  int32_t first, count;                /* members of this segment */
  int32_t patch_first, patch_segments; /* the segments of its patch */
  int32_t patch_members;
} fluid_segment;

/* What a body gets by a link; arms from the body's point to the surface, in cells. */
typedef struct fluid_pull {
  double arm[3], q, speed[3]; /* q - 1/2 is fluid_link_room times half of the directions; speed: of the surface, in
                                 units of the lattice */
  double push[3];             /* what counts of the momentum that arrives: -1; 1 where the link is mirrored at a slip
                                 side of this axis; else of a fluid_edge_term */
  int32_t cell, edge;
} fluid_pull;
/* A cell that a body has covered or left. */
typedef struct fluid_changed {
  int32_t at[3], solid; /* now */
  uint32_t from;        /* of one that is fluid now: bits of the directions whose neighbours were and are fluid */
  double u[3];          /* velocity of the surface, in units of the lattice */
} fluid_changed;
/* Links of one body, FLUID_SEGMENT at most. */
typedef struct fluid_pull_block {
  int32_t first, count;
} fluid_pull_block;

/* ---- heat ---- */

/* How a population p = T + 4 c.Q of the temperature arrives by a link along an axis: p_c = constant + sent p_d + own
 * p_c + beyond p_d(cell + c), d opposite to `arriving` c, and with `open` p_c where no fluid comes in. (cpu/heat.c) */
typedef struct fluid_warm_edge {
  double constant, sent, own, beyond;
  int32_t open;
} fluid_warm_edge;
/* A link along an axis: what it belongs to has the entries of a block of its own. Where the heat flux is given, `share`
 * is the area of the surface in faces of cells, whose temperature is that of the cell + rise/diffusivity; else 0. */
typedef struct fluid_warm_pull {
  double share, rise;
  int32_t cell, edge;
} fluid_warm_pull;
/* Of the start: what is beside a cell in a direction along an axis. far 0: a cell of the fluid; below 0: an adiabatic
 * surface; else a surface, that many cells away, of temperature T, or `above`: of that of the cell + T. */
typedef struct fluid_warm_surface {
  double T, far;
  int32_t above;
} fluid_warm_surface;
/* fluid_heat_law, with temperatures above `shift` in units of `scale`. */
typedef struct fluid_warm_law {
  double omega, push[3], reference, least, most, flow_tau, conduct;
} fluid_warm_law;
/* Owners of links: sides and bodies. */
enum { FLUID_WARM_OWNERS = 16 };
/* Sums of blocks in fluid_device.sum. */
enum { FLUID_WARM_SUM, FLUID_WARM_LEAST, FLUID_WARM_MOST, FLUID_WARM_SUMS };
typedef struct fluid_warm {
  fluid_warm_law law;
  double shift, scale;
  double *shown;         /* [cells]; solid cells keep the temperatures of bodies */
  fluid_warm_edge *edge; /* [links]; of those along axes */
  fluid_warm_pull *pull; /* by owner */
  fluid_pull_block *pull_block;
  double *pull_sum;  /* [2][blocks]: heat that enters; share times temperature of the surface */
  double *terms;     /* [pulls][2]: what each gives to these sums; NULL: one rank */
  int64_t *pull_row; /* [pulls], in host memory: rows of their cells; NULL: one rank */
  int pulls, pull_blocks, owner_blocks[FLUID_WARM_OWNERS + 1];
  double area[FLUID_WARM_OWNERS]; /* sums of shares */
} fluid_warm;

/* ---- sides that change with time ---- */

/* Links whose constants change, and axis links by which heat comes in, of whose edges this decides. which, warm_which:
 * their numbers. */
typedef struct fluid_timed_edges {
  int32_t *which, *warm_which; /* [count], [warm_count] */
  void *constant;              /* [count]: on their way, in the precision of the run */
  fluid_warm_edge *warm;       /* [warm_count] */
  void *host[2];               /* the same two in pinned memory of the host, of an even and an odd step */
  fluid_warm_edge *warm_host[2];
  int32_t *warm_cell, *warm_link; /* in host memory: cell and link of each */
  int count, warm_count;
} fluid_timed_edges;

/* ---- sponges ---- */

/* fluid_layer. The cells of a plane are summed in blocks of cells that ranks do not divide: a plane across the last
 * axis in the order of its cells, of others line by line along that axis, each of `parts` blocks. A rank sums and damps
 * its own planes [first, end), or in all planes its own lines. */
typedef struct fluid_damped {
  int side, planes, blocks; /* blocks of a plane */
  int across, parts;        /* across: the last axis */
  int first, end, from;     /* from: plane k of the last axis is plane k - from here */
  int last, high, wide;  /* the last axis; last plane of the box along the layer's; cells along the first other one */
  long long cells, line; /* of a plane; of a line */
  double *flow, *dense;  /* running means */
  const double *share, *open; /* open: cells of a plane that are fluid */
  double follow;
} fluid_damped;
/* What becomes of the means of the flow through planes: they follow it, begin with it, or, with heat, lose what half a
 * step's force has added to it since they began (fluid_sponge_delay). */
typedef enum fluid_damping { FLUID_DAMP_STEP, FLUID_DAMP_BEGIN, FLUID_DAMP_DELAY } fluid_damping;

/* ---- grains ---- */

/* A grain in cells and steps; radius: of the sphere that covers cells; room: where its parts of cells begin. */
typedef struct fluid_ball {
  double centre[3], radius, velocity[3], spin[3];
  int64_t room;
} fluid_ball;
typedef struct fluid_balls {
  const fluid_ball *ball; /* [count] */
  /* Grains that may cover cells of grain i, rising: near[first[i]] to near[first[i + 1] - 1]. */
  const int32_t *first, *near;
  double *given;     /* [count][6]: momentum and angular momentum that the fluid gives to each in a step */
  double *parts;     /* of the cells of a box around each grain: what it covers of them */
  uint32_t *covered; /* [rows][groups]: bits of the cells that grains cover */
  uint32_t *walls;   /* those of the cells with links; NULL: none */
  int count, periodic[3];
} fluid_balls;
typedef struct fluid_ball_rooms fluid_ball_rooms; /* memory of grains.c */

/* ---- gates ---- */

/* One of the two planes of cells beside a gate, and its part; parts of the cells along the first and behind them along
 * the second of the other axes. */
typedef struct fluid_gate_plane {
  int axis, plane; /* plane -1: of another rank */
  double part;
  const double *parts;
} fluid_gate_plane;
typedef struct fluid_gate_planes {
  fluid_gate_plane *plane; /* [planes]: two of each gate */
  double *parts, *sum;     /* sum: [planes][blocks][FLUID_GATE_SUMS] */
  int planes, blocks;
} fluid_gate_planes;

/* ---- derivatives ---- */

/* What lies beside cells: sides of the box and surfaces of bodies. */
enum { FLUID_BESIDE_CELL, FLUID_BESIDE_VELOCITY, FLUID_BESIDE_PROFILE, FLUID_BESIDE_OPEN, FLUID_BESIDE_MIRROR };
typedef struct fluid_cut {
  unsigned long long key; /* 6 cell + 2 axis + (sign > 0), rising */
  double far, velocity[3];
} fluid_cut;
typedef struct fluid_beside {
  int side[6];
  double velocity[6][3];
  const double *profile[6]; /* [cells of the side][3] */
  const uint32_t *solid;    /* [rows][groups]: bits of solid cells; NULL: none */
  const fluid_cut *cut;
  int cuts;
  int low, high; /* planes here of the ends of the box along the last axis, or of ends that are not here */
} fluid_beside;

/* Cells of a plane that a block of sum_flow adds, and its sums: mass above that at rest, kinetic energy, enstrophy,
 * greatest squared speed, momentum. */
enum { FLUID_SUMMED = 4096, FLUID_SUMS = 7, FLUID_SUM_SPEED = 3 };

#ifndef __cplusplus
#include "engine/device/compile.h"
#include "kernels/fluid/heat.h"
#include "kernels/fluid/ops.h"
#else
struct fluid_work;
typedef struct fluid_work fluid_work;
#endif

/* What the kernels need of a run. */
typedef struct fluid_device {
  fluid_layout l;
  int rank;
  bool full; /* D3Q27 */
  bool single, march, force, eddies, heat;
  bool straight; /* some side is */
  /* Behind the cells there are one number for each member, what rounding keeps of its mass, and with heat and eddies
   * one for each listed cell: the rate of relaxation of the flow. */
  void *state[2];
  void *fields;   /* [rank + 1][cells] */
  size_t numbers; /* of the cells of a state */
  int now;        /* the present state */
  int from;       /* plane l.first + from of the grid is plane l.first here (fluid_cuda_plane) */
  bool wide;      /* which of two tiles the marching kernel has */
  int chunk;      /* planes that one of its blocks makes */
  /* of the collision: fluid_collision; and the unit of what rounding takes from J */
  double omega, g[3], smagorinsky, unit, fast, fastest;
  double dx, dt, density, tau;
  fluid_guard *guard;
  fluid_laws laws;
  fluid_law_guard *told;              /* NULL: no functions */
  size_t push;                        /* where the force [rank][cells] begins in a state; 0: none that is a function */
  size_t rates;                       /* the same of rates of relaxation [cells]; 0: they are not stored */
  double size[3];                     /* of the box, in the scenario's units */
  int box[3];                         /* its cells */
  double per_stress, scale, rounding; /* fluid_rheology */
  unsigned long long *step;           /* [2]: number of the last step, by its state */
  uint32_t *skip; /* [rows][groups]: bits of cells that are solid, listed or covered by grains; NULL: none */
  /* [listed]: the cells with links, and behind them, with heat, the other ones of sponges: their temperature makes its
   * step after the flow has been damped */
  fluid_edge_cell *cell;
  void *edge;
  int8_t *edge_body; /* -1: a side of the box */
  double *lost;
  int cells, listed, members; /* cells: with links */
  /* Listed cells are those of the whole grid; this rank makes [first_cell, end_cell) of those with links and
   * [first_damped, end_damped) of those of sponges. */
  int first_cell, end_cell, first_damped, end_damped;
  double *packed;    /* [members]: what the members of all ranks lose; NULL: one rank */
  double *terms;     /* [links to bodies][6]: what each gives to its body; NULL: one rank */
  int64_t *pull_row; /* [pulls], in host memory: rows of their cells; NULL: one rank */
  int pulls;         /* links to bodies */
  fluid_segment *segment;
  int32_t *member;
  double *segment_sum;
  int segments;
  fluid_pull *pull;
  fluid_pull_block *pull_block;
  double *pull_sum;                 /* [blocks][6] */
  int pull_blocks, body_blocks[11]; /* blocks of body b: from body_blocks[b] to body_blocks[b + 1] */
  fluid_beside beside;
  double *sum;    /* [FLUID_SUMS][sum_blocks] */
  int sum_blocks; /* of the planes that this rank makes, each of whole blocks */
  fluid_warm warm;
  fluid_damped damped[6];
  int layers;
  fluid_balls balls;
  fluid_ball_rooms *ball_rooms; /* of the host; NULL: no grains */
  fluid_timed_edges timed;
  fluid_gate_planes gates;
  double *mean, *share,
      *through; /* of sponges: means, shares and open cells, and sums of blocks: [planes][blocks][2] of a layer */
  int through_numbers; /* of `through`: those of the layer that has most, and of several ranks what they exchange */
  long long *probe;    /* cells */
  double *probed;
  int probes;
  /* of populations (slots.cuh), whose one state is state[0]; `now` is the parity of the last step */
  bool populations, half;
  int pitch;    /* words of a row */
  size_t words; /* of a slot */
  double omega_odd;
  unsigned long long seed;
  void *arrived, *drag; /* [links]: g that arrives by each; [cells]: resistance by a step, or NULL */
  void *remembered;     /* [rank][cells]: velocities before a step, in units of the lattice; NULL: not wanted */
  /* [2][rank][cells of a plane], of several ranks: velocities, in units of the lattice, of the planes 0 and 1 here,
   * which are those of others; and of this rank's last and first plane, on their way there. */
  double *end_velocity, *own_velocity;
  void *staged; /* [rank + 1][staged_planes][cells of a plane]: fields on their way */
  int staged_planes;
} fluid_device;

#ifndef __CUDACC_RTC__
#ifdef __cplusplus
extern "C" {
#endif

/* ---- kernels.cu: each enqueues work ---- */

void fluid_cuda_step(const fluid_device *d); /* from the present state to the other one */
/* Parts of fluid_cuda_step, of several ranks: links and the masses that they lose, packed; what the patches get back of
 * them, when they are those of all ranks; the cells without links of the planes at both ends, and of the other ones. */
void fluid_cuda_step_links(const fluid_device *d);
void fluid_cuda_give_back(const fluid_device *d);
void fluid_cuda_step_ends(const fluid_device *d);
void fluid_cuda_step_inner(const fluid_device *d);
void fluid_cuda_pull_terms(const fluid_device *d);   /* terms, of the links of this rank */
void fluid_cuda_sum_terms(const fluid_device *d);    /* pull_sum, of the terms of all ranks */
void fluid_cuda_push(const fluid_device *d);         /* the force that is a function, to the other state; or nothing */
void fluid_cuda_start_push(const fluid_device *d);   /* half of it, to the present state; before the temperatures */
void fluid_cuda_pushed_links(const fluid_device *d); /* part of fluid_cuda_step where there is such a force */
/* Parts of fluid_cuda_step and fluid_cuda_begin where the viscosity is a function. */
void fluid_cuda_law_cells(const fluid_device *d);
void fluid_cuda_law_links(const fluid_device *d);
void fluid_cuda_law_begin(const fluid_device *d);
/* Cells that a body has covered or left have no rate of relaxation in the other state. */
void fluid_cuda_clear_rates(const fluid_device *d, const fluid_changed *changed, int count);
/* A layer of a sponge: the other state is damped, the present one begins the means, or delays them
 * (fluid_sponge_delay). sum_layer: what passes its planes, `through`, of this rank's cells; damp_layer: the rest, when
 * `through` is that of all ranks. */
void fluid_cuda_sum_layer(const fluid_device *d, int layer, fluid_damping what);
void fluid_cuda_damp_layer(const fluid_device *d, int layer, fluid_damping what);
void fluid_cuda_warm(const fluid_device *d);       /* the temperature of listed cells, after the flow has been damped */
void fluid_cuda_mark_balls(const fluid_device *d); /* covered, and skip: before a step */
void fluid_cuda_balls(const fluid_device *d);      /* the cells that grains cover, to the other state; `given` */
void fluid_cuda_begin_balls(const fluid_device *d); /* these cells of the first state */
/* Moments A of the cells of d->member in the other state: mass[members], read or set. */
void fluid_cuda_get_mass(const fluid_device *d, double *mass);
void fluid_cuda_set_mass(const fluid_device *d, const double *mass);
/* Fills or clears cells of the other state; mass[count]: above that at rest, which they take from the fluid, or leave.
 */
void fluid_cuda_cover(const fluid_device *d, const fluid_changed *changed, int count, double *mass);
void fluid_cuda_show(const fluid_device *d);  /* fields */
void fluid_cuda_begin(const fluid_device *d); /* the present state, from the fields */
void fluid_cuda_flow(const fluid_device *d);  /* sums; fields are shown */
void fluid_cuda_pull(const fluid_device *d);
void fluid_cuda_probe(const fluid_device *d);
void fluid_cuda_sample_cells(const fluid_device *d, double n, double *means); /* as of fluid_ops.sample */
void fluid_cuda_sum_gates(const fluid_device *d);                             /* gates.sum */
/* sum: [sum_blocks] squared changes of the velocity from the other state to the present one, then of the temperature.
 */
void fluid_cuda_find_change(const fluid_device *d);
void fluid_cuda_find_wall_velocities(const fluid_device *d, double *out); /* out[cells with links][3] */
/* Copies timed.host[which] and timed.warm_host[which] to the device, and from there to the links; also of populations.
 */
void fluid_cuda_set_edges(const fluid_device *d, int which);
/* Sets `march`, `wide`, `chunk` by lattice, precision, heat and box: enough blocks for all multiprocessors. The plain
 * kernel makes the steps of narrow grids, and where a block has too little shared memory. */
void fluid_cuda_choose_tile(fluid_device *d);
/* From the temperatures in warm.shown; surface[cells with links][2 rank]; walls: bits of these cells and of solid ones,
 * NULL: none. */
void fluid_cuda_begin_heat(const fluid_device *d, const fluid_warm_surface *surface, const uint32_t *walls);
void fluid_cuda_show_heat(const fluid_device *d);
void fluid_cuda_sum_heat(const fluid_device *d);       /* sum, and warm.pull_sum; of several ranks warm.terms */
void fluid_cuda_sum_warm_terms(const fluid_device *d); /* warm.pull_sum, of the terms of all ranks */
/* Adds a gain (fluid_sponge_gain) to the flow through planes of a layer. */
void fluid_cuda_shift_sponge(const fluid_device *d, int layer, double gain);

/* ---- trt.cu: the same of populations ---- */

void fluid_trt_step(const fluid_device *d); /* in place; d->now is the parity before it */
/* Its parts, of several ranks: what arrives at walls, and the masses that bodies take, packed; cells, and what the
 * patches get back of the masses of all ranks. */
void fluid_trt_step_links(const fluid_device *d);
void fluid_trt_step_cells(const fluid_device *d);
void fluid_trt_find_ends(const fluid_device *d); /* own_velocity */
/* Populations of `count` planes along the last axis from `first` on, of the first state, from the fields of
 * window[1] planes from window[0] on, around the box, in d->staged. */
void fluid_trt_begin(const fluid_device *d, const int window[2], int first, int count);
void fluid_trt_show(const fluid_device *d, int first, int count); /* fields of these planes, in d->staged */
void fluid_trt_flow(const fluid_device *d);                       /* sums, of the populations */
void fluid_trt_pull(const fluid_device *d);
void fluid_trt_pull_terms(const fluid_device *d);
void fluid_trt_probe(const fluid_device *d);
void fluid_trt_sample(const fluid_device *d, double n, double *means);
void fluid_trt_gates(const fluid_device *d);
void fluid_trt_remember(const fluid_device *d); /* remembered */
void fluid_trt_change(const fluid_device *d);   /* sum: from the remembered velocities */
void fluid_trt_wall_velocities(const fluid_device *d, double *out);

#ifdef __cplusplus
}
#endif
#endif

#ifndef __cplusplus
/* ---- ranks.c ---- */

/* As of fluid_ops. */
int64_t fluid_cuda_first_plane(const fluid_work *work);
int64_t fluid_cuda_plane_of(const fluid_work *work, int64_t k);
sim_status fluid_cuda_divide(fluid_work *work, bool read, sim_array *array) SIM_MUST_CHECK;
sim_status fluid_cuda_restore(fluid_work *work, const sim_array *whole, const sim_array *own) SIM_MUST_CHECK;

/* ---- ops.c ---- */

fluid_device *fluid_cuda_device(fluid_work *work); /* for tests */

/* ---- build.c ---- */

sim_status fluid_cuda_build(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                            fluid_device *out) SIM_MUST_CHECK;
void fluid_cuda_free(fluid_device *d); /* what build has made */
/* *out: a copy in device memory, zeros for NULL; NULL for no bytes. _away: `data` is freed; NULL: no memory. */
sim_status fluid_cuda_send(const void *data, size_t bytes, void **out) SIM_MUST_CHECK;
sim_status fluid_cuda_send_away(void *data, size_t bytes, void **out) SIM_MUST_CHECK;
void fluid_cuda_release(void *at); /* frees `*at`, in device memory, and sets it to NULL */

/* Copies the velocities of a side with a profile, of the planes that are here. */
sim_status fluid_cuda_copy_profile(const fluid_machine *m, const fluid_device *d, int side, void *to) SIM_MUST_CHECK;

/* Cells of sponges that have no links and are not solid, with heat; 0 without. */
int64_t fluid_cuda_damped_cells(const fluid_machine *m);
void fluid_cuda_damped_rows(const fluid_machine *m, int64_t *rows); /* rows[cells] of each, in the order of the list */
/* A bound on them. */
double fluid_cuda_damped_bound(const fluid_parameters *p);
/* *out: bits of the solid cells, and with WALLS of those with links, with LISTED of all that are listed; NULL: none. */
typedef enum fluid_mask { FLUID_MASK_SOLID, FLUID_MASK_WALLS, FLUID_MASK_LISTED } fluid_mask;
sim_status fluid_cuda_send_mask(const fluid_machine *m, const fluid_device *d, fluid_mask which,
                                uint32_t **out) SIM_MUST_CHECK;
/* What changes with walls that move, after a move; and what rows of `flow` and `bodies` need of it. */
sim_status fluid_cuda_build_walls(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                                  fluid_device *out) SIM_MUST_CHECK;
sim_status fluid_cuda_build_pulls(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                                  fluid_device *out) SIM_MUST_CHECK; /* pulls.c, as the two below */
void fluid_cuda_free_pulls(fluid_device *d);
/* out[bodies][6]: momentum and torque, in units of the lattice, that a step gives to the fluid between the surfaces of
 * bodies that move and the halves of links, which goes with them: fluid_cuda_pull has more by as much. */
void fluid_cuda_find_held(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k, double out[][6]);
sim_status fluid_cuda_build_cuts(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                                 fluid_device *out) SIM_MUST_CHECK;

/* ---- timed.c ---- */

/* After the walls. Nothing where no side changes with time. */
sim_status fluid_cuda_build_timed(const fluid_machine *m, const fluid_parameters *p, fluid_device *out) SIM_MUST_CHECK;
void fluid_cuda_free_timed(fluid_device *d);

/* ---- outputs.c ---- */

/* Nothing where there are no gates. */
sim_status fluid_cuda_build_gates(const fluid_machine *m, const fluid_parameters *p, fluid_device *out) SIM_MUST_CHECK;
void fluid_cuda_free_gates(fluid_device *d);
double fluid_cuda_gates_bytes(const fluid_parameters *p);

/* ---- laws.c, laws_text.c ---- */

/* Whether a state has the rate of relaxation of each cell: of a viscosity that is a function, and of eddies where a
 * force that is a function pushes a flow with heat. */
bool fluid_cuda_stores_rates(const fluid_parameters *p);
/* Compiles the kernels with functions of the scenario; nothing where there are none. */
sim_status fluid_cuda_compile(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                              fluid_device *d) SIM_MUST_CHECK;
void fluid_cuda_free_laws(fluid_device *d);
sim_status fluid_cuda_reset_laws(const fluid_device *d) SIM_MUST_CHECK; /* no function has failed yet */
/* *end: what ends the run; a viscosity out of range where that comes first. SIM_ERR_DIVERGED: a force was not found
 * before that, in steps up to `step`. */
sim_status fluid_cuda_check_laws(const fluid_machine *m, const fluid_numbers *k, const fluid_device *d, int64_t step,
                                 fluid_seen *end) SIM_MUST_CHECK;
/* Sources of the kernels with the force, and with the viscosity. */
sim_status fluid_cuda_write_push(const fluid_parameters *p, sim_bytes *text) SIM_MUST_CHECK;
sim_status fluid_cuda_write_viscosity(const fluid_parameters *p, sim_bytes *text) SIM_MUST_CHECK;
sim_source fluid_cuda_law_source(const char *name, const sim_bytes *text);
extern const sim_source_file fluid_cuda_files[]; /* headers that these sources include */

/* ---- moving.c ---- */

/* After step number `step` has made the other state: gives back the mass that links have lost, moves the bodies, and
 * fills and clears cells. */
sim_status fluid_cuda_move(fluid_work *work, int64_t step) SIM_MUST_CHECK;

/* ---- grains.c ---- */

/* After the walls. Nothing where there are no grains. */
sim_status fluid_cuda_build_grains(const fluid_machine *m, fluid_device *d) SIM_MUST_CHECK;
void fluid_cuda_free_grains(fluid_device *d);
/* Before a step: sends the grains, and marks the cells that they cover. */
sim_status fluid_cuda_place_grains(const fluid_machine *m, fluid_device *d) SIM_MUST_CHECK;
/* After fluid_cuda_balls: moves the grains. */
sim_status fluid_cuda_move_grains(const fluid_machine *m, const fluid_device *d) SIM_MUST_CHECK;
double fluid_cuda_mask_bytes(const fluid_parameters *p); /* of the cells that grains cover */

/* ---- heat.c ---- */

/* The law, links, and temperatures that are shown: m->warmth->shown, which is freed. */
sim_status fluid_cuda_build_heat(const fluid_machine *m, const fluid_parameters *p, fluid_device *out) SIM_MUST_CHECK;
/* The first state's temperatures. */
sim_status fluid_cuda_start_heat(const fluid_machine *m, const fluid_device *d) SIM_MUST_CHECK;
void fluid_cuda_free_heat(fluid_device *d);
/* How a population of the temperature arrives by an axis link of a cell, at the time that the sides are set to. */
fluid_warm_edge fluid_cuda_warm_edge(const fluid_machine *m, const fluid_device *d, const fluid_cell *cell,
                                     const fluid_link *link);
double fluid_cuda_heat_bytes(const fluid_parameters *p, const fluid_meshes *meshes);
double fluid_cuda_wall_bytes(const fluid_parameters *p, const fluid_meshes *meshes); /* of it, a bound */
#endif

#endif
