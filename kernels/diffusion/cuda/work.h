/* State of a run on the GPU, shared by all ways (way.h). Pointers are to device memory unless they own a struct. */
#ifndef DIFFUSION_CUDA_WORK_H
#define DIFFUSION_CUDA_WORK_H

#include "engine/comm/cuda/exchange.h"
#include "engine/device/compile.h"
#include "kernels/diffusion/cuda/factors.cuh"
#include "kernels/diffusion/cuda/general/sums.cuh"
#include "kernels/diffusion/cuda/layout.cuh"
#include "kernels/diffusion/cuda/programs.h"
#include "kernels/diffusion/cuda/way.h"
#include "kernels/diffusion/diffusion.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Layout of coefficients: complex, [slow][middle][fast], fast: n/2 + 1. Where all axes have walls, the real part
 * belongs to fast wavenumber k and the imaginary part to n - k; where fields have series of their own, to 2k and 2k +
 * 1. Real tables have one entry for k and -k. */
typedef struct diffusion_spectrum {
  long long n[3];              /* complex numbers along the fast, middle and slow axis */
  long long field;             /* stride of fields, in complex numbers */
  long long table[3], tables;  /* table entries along the axes; numbers of one field's table */
  int column_threads;          /* threads of a column in the order of flat/columns.cuh; 0: another order */
  int wide, across, kept, low; /* tiles of flow/columns.cuh, as in diffusion_making */
  diffusion_factor factor;
} diffusion_spectrum;

/* Parts of the coefficients of a field, which ranks share out: members of an ensemble, or blocks of slabs; else one. A
 * rank has parts first <= i < first + own of `all`, at most `most`. numbers: complex numbers of a part. */
typedef struct diffusion_share {
  long long all, first, own, most, numbers;
} diffusion_share;

/* Series between walls that mix value and slope, one for each pair of walls: matrices of `diffusion_robin`, transformed
 * by series.cu, and for each series its wavenumbers k_m and the mean squares of its functions. */
enum { DIFFUSION_BASIS_FORWARD, DIFFUSION_BASIS_INVERSE, DIFFUSION_BASIS_SLOPE, DIFFUSION_BASIS_PARTS };
enum { DIFFUSION_BASES = 3 * (int)DIFFUSION_FIELDS };
typedef struct diffusion_bases {
  int count, axis[DIFFUSION_BASES],
      of[DIFFUSION_SOURCES][3]; /* of: the number of a source's series; -1: another kind */
  double mix[DIFFUSION_BASES][2];
  sim_buffer matrices[DIFFUSION_BASES]; /* [parts][n][n] in the run's precision */
  sim_buffer waves;                     /* of series i from first[i] on: [2][n + 2], 0 behind the last mode */
  int64_t first[DIFFUSION_BASES];
} diffusion_bases;

struct diffusion_work {
  const diffusion_parameters *p;
  const diffusion_way *way;
  union {
    struct diffusion_general *general;
    struct diffusion_flat_work *flat;
    struct diffusion_fused_work *fused;
    struct diffusion_axes_work *axes;
    struct diffusion_flow_work *flow;
  } own; /* private data of the way */
  const sim_comm *comm;
  sim_exchange *exchange; /* several ranks: exchanges the sums over pieces of the fields; else NULL */
  grid_shape grid;
  /* Layout of transforms, and of outputs. planes: of real fields between transforms; it differs from `layout` where
   * ranks divide the grid, or may divide it (slabs). */
  diffusion_layout layout, natural, planes;
  diffusion_share parts;
  diffusion_spectrum spectrum;
  diffusion_method method;
  double scale;                /* factor from a forward transform to coefficients */
  diffusion_programs programs; /* sources until they are compiled, in the background */
  sim_module *module;
  bool ready;         /* kernels have been found */
  void *rates, *fill; /* cudaKernel_t */
  sim_buffer array[DIFFUSION_ARRAYS], table[DIFFUSION_TABLES], real;
  diffusion_gradients gradients; /* inputs of the rates beside the fields, and their outputs beside the rates */
  diffusion_lift lift[DIFFUSION_FIELDS];
  bool aligned;               /* fields have series of their own: diffusion_cuda_aligned */
  diffusion_series series;    /* the series of the fields and derived fields, if aligned */
  diffusion_bases *bases;     /* of these series, those between walls that mix value and slope; NULL: none */
  double *statistics, *norms; /* device memory; norms: NULL without errors and twin */
  double *force;              /* the factor of the forcing, then the sums of measure.cu; NULL: none */
  void *lines;                /* buffer of the operation `lines` */
  unsigned fluctuating;       /* bit f: field f fluctuates */
  int slot, slots;            /* tables of slot s are for steps of length[s] */
  double length[DIFFUSION_SLOTS];
  int fields, members;  /* members: grids of an ensemble that this rank has */
  bool single, crossed; /* crossed: cross diffusion, tables are matrices */
  bool slabs;           /* integrate.method = "slabs" */
};

/* ---- ops.c ---- */

/* The operation `create`, by a given way that supports the run; NULL: the default way. For tests and benchmarks. */
sim_status diffusion_cuda_create(const diffusion_parameters *p, const sim_comm *comm, int threads,
                                 const diffusion_way *way, diffusion_work **out) SIM_MUST_CHECK;

/* ---- layout.c ---- */
/* Whether each field has series of its own: diffusion_aligned, and in slabs also where the rates read derivatives along
 * walls of the axis whose coefficients ranks share out, because these mix coefficients of two ranks in any other order.
 */
bool diffusion_cuda_aligned(const diffusion_parameters *p, const diffusion_gradients *read);
/* Sets *out to the series of all sources; returns false where fields have no series of their own. */
bool diffusion_cuda_series(const diffusion_parameters *p, const diffusion_gradients *read, diffusion_series *out);
/* Returns the layout of coefficients. Of an ensemble it has the members of this slab; NULL: all members. slabs: the
 * order of axes of slabs. */
diffusion_layout diffusion_cuda_layout(const grid_shape *grid, const diffusion_slab *slab, bool aligned, bool slabs);
/* Returns the layout of the fields for outputs, of this rank's slab of the grid. */
diffusion_layout diffusion_cuda_natural(const grid_shape *grid, const diffusion_slab *slab);
/* Sets the layouts of this rank: of coefficients, and of real fields between transforms. */
void diffusion_cuda_divide(const diffusion_parameters *p, const sim_comm *comm, bool aligned, diffusion_layout *layout,
                           diffusion_layout *planes, diffusion_share *parts);
diffusion_spectrum diffusion_cuda_spectrum(const diffusion_layout *layout, bool complex);
/* Returns the grid_boundary along x, y or z of a field or derived field; and of a column. Columns are numbered: the
 * fields, the inputs of the rates beside the fields, and the fluxes. */
int diffusion_cuda_kind(const diffusion_work *work, int source, int axis);
int diffusion_cuda_column_kind(const diffusion_work *work, int column, int axis);
/* Returns the field or derived field of a column. *turns: whether it is a derivative, or a flux, along the axis. */
int diffusion_cuda_column_source(const diffusion_work *work, int column, int axis, bool *turns);
double diffusion_cuda_scale(const grid_shape *grid); /* scale of transforms that skip the axis of members */
/* Allocates method.tables tables in every slot. */
sim_status diffusion_cuda_take_tables(diffusion_work *work) SIM_MUST_CHECK;
/* number of tables that make one table of the scheme */
int diffusion_cuda_table_parts(const diffusion_work *work);
void *diffusion_cuda_table(const diffusion_work *work, int table); /* the first field's, in the current slot */
diffusion_sums diffusion_cuda_sums(const diffusion_work *work);    /* parameters of a pass over the coefficients */
double diffusion_cuda_number_size(const diffusion_parameters *p);  /* bytes of a number of a field */
/* Whether a way with transforms in registers is possible: at most `fields` fields, single precision, one member, a real
 * L, rates of the fields alone, and a GPU with the needed features. */
bool diffusion_cuda_in_registers(const diffusion_parameters *p, int fields);

/* ---- method.c: the scheme of the ways with transforms in registers, without forcing and noise ---- */
const diffusion_method *diffusion_cuda_method_of(const diffusion_parameters *p);
unsigned diffusion_cuda_dropped(const diffusion_parameters *p, int stage); /* arrays that a stage need not store */

/* ---- flat/lines.c ---- */
/* Returns the stride of `lines` neighbouring lines of n points in shared memory, in complex numbers. */
int diffusion_flat_pitch(int n, int lines);
/* Makes the twiddle factors of lines of n[axes] points, turns[axes] in *memory (device memory, which the caller frees).
 */
sim_status diffusion_flat_turns(int axes, const int64_t *n, void **memory, const void **turns) SIM_MUST_CHECK;

/* ---- tables.c: tables of the scheme, made on the device ---- */
sim_status diffusion_cuda_write_fill(const diffusion_work *work, diffusion_programs *programs) SIM_MUST_CHECK;
void diffusion_cuda_make_tables(diffusion_work *work, double dt);

/* ---- text.c ---- */
/* Writes all sources of the run; the caller frees them, also after an error. */
sim_status diffusion_cuda_write(const diffusion_work *work, diffusion_programs *programs) SIM_MUST_CHECK;
bool diffusion_cuda_has_rates(const diffusion_work *work); /* whether rates have a kernel of their own */

/* ---- general/bases.c ---- */
/* Adds the needs of the series of a run; nothing where no wall mixes value and slope. */
void diffusion_bases_plan(const diffusion_parameters *p, const diffusion_series *series, sim_plan *out);
/* Makes work->bases. SIM_ERR_NO_MEMORY, SIM_ERR_INTERNAL as diffusion_robin_begin. */
sim_status diffusion_bases_create(diffusion_work *work, int threads) SIM_MUST_CHECK;
void diffusion_bases_destroy(diffusion_bases **bases);
/* Returns where the wavenumbers of a source begin in the layout's `waves`; -1: its series is of another kind. */
long long diffusion_bases_waves(const diffusion_work *work, int source, int axis);

/* ---- general/slabs.c ---- */
const char *diffusion_slabs_lack(const diffusion_parameters *p); /* what a run lacks for slabs, for messages; or NULL */

/* ---- general/write_sums.c ---- */
/* Writes the sums of a stage at entry i of the arrays and k of the tables. Arrays in the bit set `held` are in
 * registers a0, a1, ...; arrays in `dropped` are not stored. */
void diffusion_cuda_write_sums(const diffusion_stage *stage, diffusion_factor factor, unsigned held, unsigned dropped,
                               sim_bytes *text);
/* Writes the members of a visit that reads arrays and tables apart from the sums, so that many are read at once:
 * `struct inputs` with read(s, i, k), and at(s, a0, i, inputs). Array [0] is in a register. */
void diffusion_cuda_write_split_sums(const diffusion_stage *stage, unsigned dropped, sim_bytes *text);
/* Does the same for all `fields` in one thread, with tables that are matrices over the fields (cross diffusion). */
void diffusion_cuda_write_crossed_sums(const diffusion_stage *stage, diffusion_factor factor, int fields,
                                       sim_bytes *text);
/* Return the stages beyond the method's: the state (array [state]) from the loaded array [0], and array [0] from the
 * state. */
diffusion_stage diffusion_cuda_load_stage(int state);
diffusion_stage diffusion_cuda_resume_stage(int state);

/* ---- general/flows.c ---- */
/* Writes the kernels for derivatives, derived fields, fluxes and vectors without divergence, where there are any; for
 * ways with transforms in registers the check of derived fields alone. */
sim_status diffusion_cuda_write_flows(const diffusion_work *work, diffusion_programs *programs) SIM_MUST_CHECK;
/* Writes `scenario_flow` for flow/columns.cuh: the inputs of the rates, first the values of values[count] fields, then
 * the derivatives; and the projection. Axes are periodic. */
sim_status diffusion_cuda_write_inputs(const diffusion_work *work, const int *values, int count,
                                       sim_bytes *text) SIM_MUST_CHECK;
/* Whether the rates or fluxes read the values of a field, and not only its derivatives. */
bool diffusion_cuda_reads_values(const diffusion_parameters *p, int field);
bool diffusion_cuda_derives(const diffusion_work *work);         /* whether rates read derived fields */
bool diffusion_cuda_joins(const diffusion_gradients *gradients); /* whether there are fluxes or a solenoidal vector */
/* Checks the coefficients of derived fields at all wavenumbers. SIM_ERR_SCENARIO: names one that is not finite. */
sim_status diffusion_cuda_check_derived(diffusion_work *work) SIM_MUST_CHECK;

/* ---- general/passes.cu ---- */
/* Applies the rates in place to fields[fields] with layout `layout`. derivatives[gradients] (NULL: none) have the same
 * layout; the fluxes replace them. */
void diffusion_cuda_rates(diffusion_work *work, void *fields, void *derivatives, const diffusion_layout *layout,
                          const diffusion_step_context *context);
/* Adds `sign` times the lifts at time t to the real fields. */
void diffusion_cuda_lift(diffusion_work *work, double sign, double t);

/* ---- pieces.c: sums over fields are made of those of pieces, of at most DIFFUSION_PIECE numbers each ---- */
enum { DIFFUSION_PIECE = 65536 };
long long diffusion_cuda_pieces_of(double numbers);
/* Returns the parts of a grid whose pieces have no cells of two parts, so that any rank may have any part: members of
 * an ensemble, and planes where the scenario asks for slabs; else 1. */
long long diffusion_cuda_measured_parts(const diffusion_parameters *p);
/* Return the columns of sums that ranks exchange: of cells; of coefficients, `rows` sums of a piece; and the larger
 * ones of those of cells and of all norms. */
sim_columns diffusion_cuda_measured(const diffusion_parameters *p, const sim_comm *comm);
sim_columns diffusion_cuda_shared(const diffusion_share *share, int rows);
sim_columns diffusion_cuda_pieces(const diffusion_parameters *p, const diffusion_share *share, const sim_comm *comm);
/* Device memory of the statistics, the norms of adaptive steps, and the energy of the forcing. */
double diffusion_cuda_measure_bytes(const diffusion_parameters *p);
double diffusion_cuda_norms_bytes(const diffusion_share *share, double fields);
double diffusion_cuda_force_bytes(const diffusion_share *share, double fields);

/* ---- measure.cu ---- */
sim_status diffusion_cuda_measure(diffusion_work *work, int field, double cell, diffusion_statistics *out);
sim_status diffusion_cuda_lines(diffusion_work *work, int field, int axis, int64_t count, void *out) SIM_MUST_CHECK;
/* Sets *field to the first field whose state is not finite, or to -1. */
sim_status diffusion_cuda_broken(diffusion_work *work, const sim_buffer *state, int *field) SIM_MUST_CHECK;
/* Allocates the memory of the operations `error` and `twin`. */
sim_status diffusion_cuda_norms_create(diffusion_work *work) SIM_MUST_CHECK;
double diffusion_cuda_norms_bytes(const diffusion_share *parts, double fields);
sim_status diffusion_cuda_error(diffusion_work *work, double *errors, double *sizes) SIM_MUST_CHECK;
sim_status diffusion_cuda_twin(diffusion_work *work, diffusion_work *twin, double size, double *distance,
                               double *magnitude) SIM_MUST_CHECK; /* diffusion_ops.twin; of the way `general` */
/* Forcing: allocates its memory; computes the factor P/(2 E) for the coefficients in an array and a step of h, in
 * work->force, NaN where diffusion_force_factor fails; and copies the energy E of that factor to the host. */
sim_status diffusion_cuda_force_create(diffusion_work *work) SIM_MUST_CHECK;
void diffusion_cuda_force(diffusion_work *work, int array, double h);
sim_status diffusion_cuda_force_energy(diffusion_work *work, double *out) SIM_MUST_CHECK;
double diffusion_cuda_force_bytes(const diffusion_share *parts, double fields);

#ifdef __cplusplus
}
#endif

#endif
