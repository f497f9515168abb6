/* Spectral transforms of fields on a grid, in two passes over memory:
 *
 *   planes:  [inverse y, inverse x, pointwise work, forward x, forward y] of each xy plane
 *   columns: [forward z, sums of products with tables, inverse z] of each column
 *
 * Between the passes a field is called mixed: transformed along x and y, not along z. With two axes, planes are x
 * and columns y; with one axis there are no columns. Memory holds points of kernels/common/fft/fft.h: [z][y][row
 * points], with odd strides of rows and planes, so that columns spread over the sets of the cache. Wavenumber n/2 of
 * rows may be stored in points of its own (pairs.c). Several ranks divide both passes (slabs.h); then fields
 * of planes are those of a slab, and arrays and tables of columns are those of the rank's columns. */
#ifndef DIFFUSION_SPECTRAL_H
#define DIFFUSION_SPECTRAL_H

#include "kernels/common/fft/fft.h"
#include "kernels/common/grid/grid.h"
#include "kernels/diffusion/cpu/spectral/combine.h"
#include "kernels/diffusion/cpu/spectral/slabs.h"

enum { DIFFUSION_FIELDS = 8, DIFFUSION_DERIVED = 8 };
enum { DIFFUSION_READ = 40, DIFFUSION_FLUXES = 3 * DIFFUSION_FIELDS };
enum { DIFFUSION_COLUMNS = (int)DIFFUSION_FIELDS + (int)DIFFUSION_READ + (int)DIFFUSION_FLUXES };

/* Derivatives by x, y, z: first ones, second ones, the Laplacian, and the value itself. */
typedef enum diffusion_kind {
  DIFFUSION_X,
  DIFFUSION_Y,
  DIFFUSION_Z,
  DIFFUSION_XX,
  DIFFUSION_YY,
  DIFFUSION_ZZ,
  DIFFUSION_XY,
  DIFFUSION_XZ,
  DIFFUSION_YZ,
  DIFFUSION_LAPLACIAN,
  DIFFUSION_VALUE,
  DIFFUSION_KINDS
} diffusion_kind;

/* The inputs of the pointwise work beside the fields: derivatives of fields, and derived fields (numbered after the
 * fields) with their derivatives. Further: fluxes, whose divergence changes the rates, and the solenoidal vector, which
 * joins fields at a wavenumber. */
typedef struct diffusion_gradients {
  int count;
  struct {
    int field, kind;
  } of[DIFFUSION_READ];
  /* fields times axes, or 0. The work also writes fluxes, and their divergence is subtracted from the rates */
  int fluxes;
  bool solenoidal; /* the part of the fields vector[axis] with a divergence is removed after a forward transform */
  int vector[3];
} diffusion_gradients;

/* Series of fields and derived fields whose walls differ from the grid's. */
enum { DIFFUSION_SOURCES = (int)DIFFUSION_FIELDS + (int)DIFFUSION_DERIVED };
typedef struct diffusion_series {
  grid_boundary of[DIFFUSION_SOURCES][3]; /* periodic where the grid is, and only there */
  double mix[DIFFUSION_SOURCES][3][2];    /* grid_shape.mix of each */
} diffusion_series;

/* Returns the series of a derivative: sines for cosines, and so on; GRID_ROBIN for GRID_ROBIN. */
static inline grid_boundary diffusion_turned(grid_boundary b) {
  switch (b) {
  case GRID_NO_FLUX: return GRID_FIXED;
  case GRID_FIXED: return GRID_NO_FLUX;
  case GRID_FIXED_LOW: return GRID_FIXED_HIGH;
  case GRID_FIXED_HIGH: return GRID_FIXED_LOW;
  default: return b;
  }
}

typedef struct diffusion_spectral diffusion_spectral;

/* series: NULL where each field has the grid's boundaries. Then the positions of a sine series (along x the series,
 * along y and z the positions) are in reverse order. With series, mode k of each series is at the position of mode k of
 * the cosine series, so that derivatives along walls, projections and fluxes can join them. Mode n of a sine series is
 * at the position of mode 0. */
sim_status diffusion_spectral_create(const grid_shape *grid, const sim_comm *comm, int fields,
                                     const diffusion_gradients *gradients, const diffusion_series *series, bool single,
                                     sim_isa isa, int threads, diffusion_spectral **out) SIM_MUST_CHECK;
void diffusion_spectral_destroy(diffusion_spectral **spectral);
/* Restricts the passes to the wavenumbers that dealiasing with this fraction keeps, on periodic grids of two or three
 * axes; elsewhere it does nothing. Then arrays of coefficients must have zeros at all others, where the passes leave
 * them, and mixed fields have any numbers there. SIM_ERR_NO_MEMORY. */
sim_status diffusion_spectral_keep(diffusion_spectral *spectral, double fraction) SIM_MUST_CHECK;
double diffusion_spectral_bytes(const grid_shape *grid, int fields, int gradients, int fluxes,
                                const diffusion_series *series, bool single, int threads);

/* Pointwise work on a piece of a plane: columns[fields + gradients] of `count` numbers each, [nx][2G rows]. Fields are
 * changed in place, or swapped with spare[fields + fluxes] of the same size. Fluxes are left in spare[fields + i].
 * `rows` rows belong to the grid, from row `row` of plane z on; the rest of the piece repeats the first row. */
typedef struct diffusion_piece {
  void **columns, **spare;
  int64_t count, row, rows, z;
} diffusion_piece;
typedef void diffusion_pointwise(void *context, const diffusion_piece *piece);

/* The pass over planes. fields[fields + gradients + fluxes] are mixed before and after. The gradients are overwritten,
 * and fluxes need not be set before. */
void diffusion_planes(diffusion_spectral *spectral, void *const *fields, diffusion_pointwise *work, void *context);
/* Converts real fields [nz][ny][nx] to or from mixed ones; `work` (may be NULL) changes what is stored.
 * gradients[fields]: numbers of the derivatives that are stored; NULL: fields. */
void diffusion_planes_load(diffusion_spectral *spectral, const void *const *real_fields, void *const *fields);
void diffusion_planes_store(diffusion_spectral *spectral, const void *const *fields, const int *gradients,
                            void *const *real_fields, diffusion_pointwise *work, void *context);

/* Exchanges a field between the ranks: from slab[end - first][plane] to columns[back][stride], and back. All ranks call
 * it. scratch: diffusion_turn_numbers numbers. Does nothing where slab and columns are the same. */
sim_status diffusion_to_columns(diffusion_spectral *spectral, const void *slab, void *columns,
                                void *scratch) SIM_MUST_CHECK;
sim_status diffusion_to_slab(diffusion_spectral *spectral, const void *columns, void *slab,
                             void *scratch) SIM_MUST_CHECK;
double diffusion_turn_numbers(const grid_shape *grid, bool single, const sim_comm *comm);
/* Return the number of exchanges of a turn between all ranks, and the numbers that this rank receives in it from all
 * others. */
double diffusion_turn_rounds(const grid_shape *grid, bool single, const sim_comm *comm);
double diffusion_turn_received(const grid_shape *grid, bool single, const sim_comm *comm);
/* Copies the rank's columns from a whole field of coefficients. */
void diffusion_take_columns(const diffusion_spectral *spectral, const void *field, void *columns);

/* Copies to b the coefficients a of a field of the same box on a grid of other numbers of cells: the wavenumbers of the
 * coarser grid, without the highest one of an even periodic axis; the others are 0. On one rank. SIM_ERR_NO_MEMORY. */
sim_status diffusion_copy_modes(const diffusion_spectral *from, const void *a, const diffusion_spectral *to, void *b,
                                int field) SIM_MUST_CHECK;

/* Coefficients of derived fields: the coefficient of field f in field d at each wavenumber, for the rank's columns. */
typedef enum diffusion_parts { DIFFUSION_ABSENT, DIFFUSION_REAL, DIFFUSION_IMAGINARY, DIFFUSION_BOTH } diffusion_parts;
/* What a table has entries for: each point of each column; each point of one column, which all share; one point of each
 * column, where the coefficient does not depend on the wavenumber along it. */
typedef enum diffusion_extent { DIFFUSION_WHOLE, DIFFUSION_ONE_COLUMN, DIFFUSION_ONE_POINT } diffusion_extent;
typedef struct diffusion_symbols {
  void *table[DIFFUSION_DERIVED][DIFFUSION_FIELDS];
  diffusion_parts parts[DIFFUSION_DERIVED][DIFFUSION_FIELDS];
  diffusion_extent extent[DIFFUSION_DERIVED][DIFFUSION_FIELDS];
} diffusion_symbols;

/* The pass over columns. arrays[field][array]: [0] is mixed, or holds coefficients where the stage does not transform.
 * tables[field][table]. */
typedef struct diffusion_arrays {
  void *array[DIFFUSION_FIELDS][DIFFUSION_ARRAYS];
  void *gradient[DIFFUSION_READ];   /* mixed; written where a stage transforms back */
  void *flux[DIFFUSION_FLUXES];     /* [fields][axes], mixed; read where a stage transforms forward. NULL: none */
  const diffusion_symbols *symbols; /* of derived fields; NULL: none */
  void *table[DIFFUSION_FIELDS][DIFFUSION_TABLES];
  bool complex;
  /* Several ranks: [0] and the derivatives are whole fields in shared memory. The pass reads and writes the rank's
   * columns in place. */
  bool shared;
} diffusion_arrays;
void diffusion_columns(diffusion_spectral *spectral, const diffusion_stage *stage, const diffusion_arrays *arrays);

/* Computes an entry of the tables. k[3]: angular wavenumbers, 0 beyond the rank of the grid, signed for `complex`
 * tables. values[tables][2]: re, im. */
typedef void diffusion_fill(void *context, const double k[3], const int64_t mode[3], double (*values)[2]);
void diffusion_tables(diffusion_spectral *spectral, int field, int tables, void *const *table, bool complex,
                      diffusion_fill *fill, void *context);
/* Fills one table of coefficients of the derived field `source`, with an entry for each of k and -k unless no axis is
 * periodic. values[0][0] is stored, and with DIFFUSION_BOTH values[0][1] too. */
void diffusion_symbol_table(diffusion_spectral *spectral, int source, diffusion_parts parts, void *table,
                            diffusion_fill *fill, void *context);
/* Shortens a table of diffusion_symbol_table that repeats itself at the wavenumbers that dealiasing keeps: if all
 * columns are the same only one stays, and if all points of each column are the same only one point of each. What stays
 * is moved to the head of the table. Returns which, and in *numbers how many numbers stay; DIFFUSION_WHOLE leaves
 * *numbers alone where nothing is cut. */
diffusion_extent diffusion_symbol_shrink(const diffusion_spectral *spectral, diffusion_parts parts, void *table,
                                         double *numbers);
/* One column of a field, or of all fields, in the pass over columns. */
typedef struct diffusion_at {
  int64_t middle, group;
} diffusion_at;
/* One number of a field's coefficients. */
typedef struct diffusion_number {
  int64_t at;        /* its position in an array of the rank's columns */
  double k2, weight; /* k^2, and the weight of the number's square in the mean of the field's square */
  int64_t mode[3];   /* mode of the series along each axis; signed along periodic axes other than x */
  bool imaginary;    /* this is the imaginary part of a coefficient */
  diffusion_at column;
} diffusion_number;
typedef void diffusion_visit(void *context, const diffusion_number *number);
/* Calls `work` for each number of the rank's columns of a field, in their order. */
void diffusion_each_number(const diffusion_spectral *spectral, int field, diffusion_visit *work, void *context);
/* Subtracts from some columns of coefficients the part of the solenoidal vector with a divergence, as a stage does for
 * rates. coefficients[fields]: arrays of the rank's columns; at[count]. */
void diffusion_project_columns(const diffusion_spectral *spectral, void *const *coefficients, int64_t count,
                               const diffusion_at *at);
/* Returns the smallest wavenumber of the longest axis: the width of bins (fft_bin). */
double diffusion_least_wave(const diffusion_spectral *spectral);
/* Computes the power spectrum of a field in bins. Their sum is the mean of the field's square (Parseval). others
 * (may be NULL): coefficients of another field with the same series, for the mean of the product. */
/* Where a wall mixes value and slope, the mean is that of the series over the box, not of the values in the cells. */
void diffusion_power(const diffusion_spectral *spectral, int field, const void *coefficients, const void *others,
                     int bins, double *power);
/* Returns the power of the modes low < |m| <= high along x in row y of a field with two axes. The powers of all modes
 * add up to the mean of the row's square. */
double diffusion_row_power(const diffusion_spectral *spectral, const void *coefficients, int64_t y, double low,
                           double high);
/* Computes root mean squares of fields from their coefficients. */
typedef struct diffusion_norm diffusion_norm;
sim_status diffusion_norm_create(const diffusion_spectral *spectral, diffusion_norm **out) SIM_MUST_CHECK;
void diffusion_norm_destroy(diffusion_norm **norm);
/* coefficients: of a slab, also where columns differ from slabs. All ranks call it and get the same result. */
sim_status diffusion_norm_of(const diffusion_norm *norm, int field, const void *coefficients,
                             double *out) SIM_MUST_CHECK;
/* Checks one number of each plane after a pass over the columns. These numbers depend on every value of the field.
 * Returns false where any value was NaN or infinite. `field`: of the rank's columns, or of its slab. */
bool diffusion_finite(const diffusion_spectral *spectral, const void *field, bool columns);
/* Returns the factor from a forward transform to coefficients. The inverse transform of coefficients is the field. */
double diffusion_scale(const grid_shape *grid);

#endif
