/* Shared by the files of implicit steps: their memory, and what a backend does for them. Vectors are in the backend's
 * memory. */
#ifndef DIFFUSION_IMPLICIT_PARTS_H
#define DIFFUSION_IMPLICIT_PARTS_H

#include "kernels/diffusion/implicit/implicit.h"
#include "kernels/diffusion/implicit/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DIFFUSION_RODAS_STAGES = 4, DIFFUSION_LEVELS = 8 };

/* What a pass does with the mixed fields and derivatives in each cell: replaces them by rates and fluxes; the same, and
 * computes the entries of the Jacobian; by derivatives of rates and fluxes by t; by products of the entries, or of
 * their means, with them. */
typedef enum diffusion_linear_work {
  DIFFUSION_LINEAR_RATES,
  DIFFUSION_LINEAR_ENTRIES,
  DIFFUSION_LINEAR_BY_TIME,
  DIFFUSION_LINEAR_PRODUCTS,
  DIFFUSION_LINEAR_MEANS
} diffusion_linear_work;

/* The scheme's tables. */
enum { DIFFUSION_LINEAR_TABLE, DIFFUSION_FACTOR_TABLE };

/* What else a backend does for the scheme. On a GPU an operation that returns nothing only goes into the queue, as in
 * vectors.h. */
typedef struct diffusion_linear_ops {
  const diffusion_vector_ops *vectors;
  const sim_backend *backend;
  void (*destroy)(diffusion_linearized *l);
  /* Transforms a vector to mixed fields and derivatives. */
  sim_status (*inverse)(diffusion_linearized *l, const void *vector);
  /* Does pointwise work on the mixed fields, and computes out = L vector + the result. vector: NULL for 0. now: time of
   * rates. */
  sim_status (*forward)(diffusion_linearized *l, diffusion_linear_work work, const diffusion_step_context *now,
                        const void *vector, void *out);
  /* out = table * in, or that is added. */
  sim_status (*by_table)(diffusion_linearized *l, int table, bool add, const void *in, void *out);
  /* Calls `visit` for each number of a field's vector, with `at`, `k2` (0 or not) and `imaginary`. */
  void (*each_number)(diffusion_linearized *l, int field, diffusion_visit *visit, void *context);
  /* Computes l->means from the entries, and sets *growth to the greatest derivative of a field's rate by that field in
   * a cell, at least 0. These, and the extremes of stiffness, are of the cells of all ranks. */
  sim_status (*average)(diffusion_linearized *l, double *growth);
  /* Computes the stiffness in the cells of a field: first + sum of factor[i] times entry of[i]; and its extremes. */
  sim_status (*stiffness)(diffusion_linearized *l, int field, double first, int terms, const double *factor,
                          const int *of, double *least, double *greatest);
  /* Replaces the stiffness by the place between levels low, ratio low, ratio^2 low, .... */
  void (*place)(diffusion_linearized *l, int field, double low, double ratio, int levels);
  /* Transforms a vector to fields for `level`. */
  sim_status (*split)(diffusion_linearized *l, const void *vector);
  /* Transforms these fields times their weight in one level to a vector. */
  sim_status (*level)(diffusion_linearized *l, int number, void *out);
} diffusion_linear_ops;

/* P of an operator that differs from place to place.
 *
 * In each cell J is taken for a constant operator: J_mean, whose symbol is s(k), times a factor. The inverse for a few
 * factors (levels), 1/(1/(g h) - factor s(k)), is applied to the cells that have about this factor, and the results are
 * added. A cell between two levels belongs to both, with weights that are linear in the inverse of the factor: that is
 * right for waves that are much longer, and for waves that are much shorter than the length over which a field spreads
 * in a step. */
typedef struct diffusion_levels {
  int count;                                         /* levels of the present step; 1: J_mean alone */
  double factor[DIFFUSION_LEVELS][DIFFUSION_FIELDS]; /* of the symbol of J_mean */
  /* real part of an entry's symbol for its own field, at the stiffest wavenumber; else 0 */
  double symbols[DIFFUSION_ENTRIES];
  double linear[DIFFUSION_FIELDS]; /* L there */
} diffusion_levels;

struct diffusion_linearized {
  const diffusion_linear_ops *on;
  const diffusion_parameters *p;
  diffusion_work *work; /* of the backend, borrowed */
  void *own;            /* memory of the backend */
  /* Ranks that divide vectors (sim_comm_alone: one), and the numbers of a plane of which each rank has some; 0: ranks
   * have whole planes. */
  const sim_comm *comm;
  int64_t plane;
  diffusion_jacobian jacobian;
  bool timed;                      /* rates or fluxes depend on t */
  bool even[DIFFUSION_ENTRIES];    /* whether the entry's mean maps each mode of the series to itself */
  double means[DIFFUSION_ENTRIES]; /* of the entries, over all cells */
  double growth;                   /* greatest derivative of a field's rate by that field in a cell, at least 0 */
  diffusion_vectors vectors;
  diffusion_solver solver;
  diffusion_levels levels;
  bool started;  /* levels.symbols, levels.linear and `levelled` are known */
  bool by_level; /* P has the levels, or J_mean alone */
  /* vectors: u_i, F(u_i), F_t, P times the right-hand side, the symbol of J_mean, the numbers to which levels apply (1,
   * others 0), scratch, and the k_i */
  sim_buffer state, force, forced, right, symbol, levelled, sum, part, stage[DIFFUSION_RODAS_STAGES],
      basis[DIFFUSION_KRYLOV + 1];
  double weight[DIFFUSION_FIELDS];
  double h, tolerance;
  diffusion_solved solved;
};

/* Returns a field of a vector. */
static inline void *linear_part(const diffusion_linearized *l, const void *vector, int field) {
  const size_t size = l->vectors.single ? sizeof(float) : sizeof(double);
  return (char *)(uintptr_t)vector + (size_t)field * (size_t)l->vectors.count * size;
}
/* Returns the same vectors with one field. */
static inline diffusion_vectors linear_one(const diffusion_linearized *l) {
  diffusion_vectors one = l->vectors;
  one.fields = 1;
  return one;
}

/* ---- implicit.c ---- */
/* Begins a backend's creation: sets the ops, the Jacobian and what follows from it, and `comm` to one rank. The caller
 * frees *entries and *timed, as of diffusion_jacobian_graph, and destroys *out, also after an error. */
sim_status diffusion_linearized_begin(const diffusion_parameters *p, const diffusion_linear_ops *on,
                                      diffusion_work *work, diffusion_linearized **out, sim_expr **entries,
                                      sim_expr **timed) SIM_MUST_CHECK;
/* Creates the vectors; l->vectors is set, and `like` is one of them. */
sim_status diffusion_linearized_vectors(diffusion_linearized *l, const sim_buffer *like) SIM_MUST_CHECK;
int diffusion_entry_field(const diffusion_linearized *l, int entry); /* field whose rate or flux it is of */

/* ---- inverse.c ---- */
/* Computes the symbol of J_mean, and chooses levels. */
sim_status diffusion_inverse_make(diffusion_linearized *l) SIM_MUST_CHECK;
/* Replaces a vector by P times it. */
sim_status diffusion_inverse_apply(diffusion_linearized *l, void *vector) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
