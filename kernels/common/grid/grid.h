/* Regular grid of cells in a box: parameters, coordinates, initial values, extent and views. x is the fastest axis:
 * a field is [nz][ny][nx] numbers in host memory, in the run's precision, at the centres of cells. */
#ifndef GRID_GRID_H
#define GRID_GRID_H

#include "engine/model.h"

/* ---- parameters.c ---- */

typedef enum grid_boundary {
  GRID_PERIODIC,
  GRID_NO_FLUX,
  GRID_FIXED,
  GRID_AS_OTHERS,
  /* for a field that has walls of its own, never for a whole grid: */
  GRID_FIXED_LOW, /* fixed at the low end, no flux at the high one */
  GRID_FIXED_HIGH,
  GRID_ROBIN, /* du/dn + h u = 0 at an end or at both: grid_shape.mix */
  GRID_BOUNDARIES
} grid_boundary;
enum { GRID_AXIS_MAX = 1 << 24 }; /* cells along an axis */

/* Table `grid` of a scenario: cells and lengths of 1 to 3 axes. */
typedef struct grid_parameters {
  sim_doubles n, size;
  int boundary, along[3]; /* along: boundary of each axis; GRID_AS_OTHERS: `boundary` */
} grid_parameters;
extern const sim_schema grid_schema;
/* Adds the faults of these parameters to `faults`; returns false where they define no shape. */
bool grid_check(const grid_parameters *p, sim_faults *faults);

typedef struct grid_shape {
  int rank;
  int64_t n[3];              /* cells along x, y, z; 1 beyond the rank */
  double size[3];            /* lengths of the box: cells are size / n wide */
  grid_boundary boundary[3]; /* never GRID_AS_OTHERS */
  /* GRID_ROBIN: h >= 0 at the low and the high end, in 1/length; 0: no flux there, INFINITY: fixed */
  double mix[3][2];
  int member_axis; /* y or z: numbers the independent grids of an ensemble, member m at position m - 1/2; 0: one grid */
} grid_shape;
/* Shape from valid parameters, of at most two axes where members > 1. */
grid_shape grid_shape_of(const grid_parameters *p, int64_t members);

static inline bool grid_is_member_axis(const grid_shape *g, int axis) { return axis > 0 && axis == g->member_axis; }
static inline bool grid_is_periodic(const grid_shape *g, int axis) {
  return axis < g->rank && g->boundary[axis] == GRID_PERIODIC;
}
static inline int64_t grid_members(const grid_shape *g) { return g->member_axis ? g->n[g->member_axis] : 1; }
/* Cells of all members: as an integer for a grid that fits into memory, as a double for any grid. */
static inline int64_t grid_cells(const grid_shape *g) { return g->n[0] * g->n[1] * g->n[2]; }
static inline double grid_cells_wanted(const grid_shape *g) {
  return (double)g->n[0] * (double)g->n[1] * (double)g->n[2];
}
double grid_cell_volume(const grid_shape *g);
/* Coordinate of the centre of cell i; 0 along an axis beyond the rank. */
static inline double grid_centre(const grid_shape *g, int axis, int64_t i) {
  if (axis >= g->rank || grid_is_member_axis(g, axis)) return 0;
  return ((double)i + 0.5) * g->size[axis] / (double)g->n[axis];
}
/* Number, from 1 on, of the ensemble member that row z ny + y belongs to. */
double grid_member(const grid_shape *g, int64_t row);

/* Fills in *out for sim_model.extent, with openPMD positions. */
void grid_extent(const grid_shape *g, sim_extent *out);
/* View of a field whose values are at `data`; borrows all pointers, which must outlive the view. */
sim_array grid_view(const grid_shape *g, const sim_mesh *mesh, const sim_field *field, sim_dtype dtype, void *data,
                    sim_space space);

/* ---- rows.c: functions of the scenario over rows of cells, in double ---- */

typedef struct grid_rows {
  sim_expr_program *program;
  void *scratch;
  double *x, *buffers; /* [nx]: x of the cells; [count][nx] */
} grid_rows;
/* Compiles expr, and allocates `count` buffers of one row. uniform[inputs of expr]: whether the input has one value for
 * all cells of a row. Free by grid_rows_end. SIM_ERR_NO_MEMORY. */
sim_status grid_rows_begin(const grid_shape *g, const sim_expr *expr, const bool *uniform, sim_isa isa, int count,
                           grid_rows *out) SIM_MUST_CHECK;
void grid_rows_end(grid_rows *rows);

/* Rows first <= row < end of the nz ny rows of a grid. */
typedef struct grid_range {
  int64_t first, end;
} grid_range;
static inline grid_range grid_all_rows(const grid_shape *g) { return (grid_range){0, g->n[1] * g->n[2]}; }

/* Work on rows first <= row < end of the nz ny rows. */
typedef sim_status grid_row_work(void *context, int64_t first, int64_t end);
/* Runs `work` over these rows, with threads where the grid has many cells. Returns the first error in the order of
 * rows. */
sim_status grid_over_rows(const grid_shape *g, grid_range rows, int threads, grid_row_work *work,
                          void *context) SIM_MUST_CHECK;

static inline double grid_number(const void *values, bool single, int64_t i) {
  return single ? (double)((const float *)values)[i] : ((const double *)values)[i];
}
static inline void grid_set_number(void *values, bool single, int64_t i, double value) {
  if (single)
    ((float *)values)[i] = (float)value;
  else
    ((double *)values)[i] = value;
}

/* ---- start.c: initial values, from functions, files and noise ---- */

/* Source of values in a file: 0 in the file becomes range[0], and 1 (white, in an image) becomes range[1]. */
typedef struct grid_file {
  bool given;
  char *path, *dataset;
  int channel; /* sim_channel */
  double range[2];
} grid_file;
extern const sim_schema grid_file_schema;
extern const sim_signature grid_initial_signature; /* of `initial` below */

/* Initial values of a field: initial + noise z, z standard normal; + the file's values, unless `initial` reads them. */
typedef struct grid_start {
  char path[32];           /* of the field in the scenario, for messages: "fields[1]" */
  const char *name;        /* of the field; also the dataset of a file that names none */
  const sim_expr *initial; /* function of x, y, z, the file's value and the member; NULL: 0 */
  const grid_file *file;
  double noise;  /* standard deviation */
  uint32_t draw; /* draw of sim_rng_normal(seed, cell, 0, draw) */
} grid_start;
bool grid_takes_file(const sim_expr *initial); /* whether `initial` depends on the file's value */
/* Reads the file's values, the same for all members, of these rows into values[rows][nx] on the host; values NULL: only
 * checks that the file can be read. Does nothing where no file is given. SIM_ERR_SCENARIO. */
sim_status grid_read_file(const grid_shape *g, grid_range rows, const grid_start *start, bool single,
                          const sim_setup *setup, void *values) SIM_MUST_CHECK;
/* Computes the initial values of these rows: values[rows][nx] on the host, which holds the file's values before the
 * call. SIM_ERR_SCENARIO where a value is not finite. */
sim_status grid_fill(const grid_shape *g, grid_range rows, const grid_start *start, bool single, uint64_t seed,
                     sim_isa isa, int threads, void *values) SIM_MUST_CHECK;

#endif
