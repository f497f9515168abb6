/* Rates and fluxes linearized about a state: their derivatives in each cell, in host memory. On several ranks each has
 * the cells of its slab; means and growth are those of all cells. */
#ifndef DIFFUSION_LINEARIZE_H
#define DIFFUSION_LINEARIZE_H

#include "kernels/diffusion/implicit/parts.h"

typedef struct diffusion_entries {
  diffusion_linearized *of;  /* borrowed: the Jacobian and the means */
  diffusion_rates *function; /* the entries; NULL: there are none */
  diffusion_rates *rates;    /* borrowed */
  const sim_comm *comm;
  grid_shape grid;
  int fields, results, lanes;      /* lanes: numbers of a piece for each cell along x */
  int64_t piece_numbers, in_plane; /* numbers of a piece; pieces of a plane */
  int64_t pieces, rows;            /* pieces of this rank; rows of a plane */
  int64_t first, all;              /* pieces of the ranks before this one, and of all */
  bool single;
  void *values; /* [pieces][entries][piece_numbers] */
  double *sums; /* [all][entries + 1]: sums, then the greatest derivative of a field's rate by that field, or 0 */
  double *sum;  /* [all]: work space */
} diffusion_entries;

sim_status diffusion_entries_create(const diffusion_parameters *p, const sim_setup *setup, diffusion_rates *rates,
                                    diffusion_linearized *of, const sim_expr *entries,
                                    diffusion_entries *out) SIM_MUST_CHECK;
void diffusion_entries_destroy(diffusion_entries *entries);
/* Returns the bytes of this number of entries. */
double diffusion_entries_bytes(const diffusion_parameters *p, const sim_comm *comm, int count);
/* Return the number of a piece of this rank, its rows, and the numbers of an entry in it. */
int64_t diffusion_entries_piece(const diffusion_entries *entries, const diffusion_piece *piece);
int64_t diffusion_entries_rows(const diffusion_entries *entries, int64_t piece);
void *diffusion_entries_values(const diffusion_entries *entries, int64_t piece, int entry);
/* Pointwise work (diffusion_pointwise): computes the entries of a piece, then replaces its fields by their rates, as
 * diffusion_rates_apply does. */
void diffusion_entries_compute(void *entries, const diffusion_piece *piece);
/* Computes the means over all cells and *growth, as diffusion_linear_ops.average. */
sim_status diffusion_entries_average(diffusion_entries *entries, double *growth) SIM_MUST_CHECK;
/* Pointwise work: replaces fields by the products of entries with fields and derivatives; and the same with means. */
void diffusion_entries_apply(void *entries, const diffusion_piece *piece);
void diffusion_entries_apply_means(void *entries, const diffusion_piece *piece);

#endif
