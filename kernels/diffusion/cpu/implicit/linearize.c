/* The derivatives of rates and fluxes in each cell. */
#include "kernels/diffusion/cpu/implicit/linearize.h"

#include "engine/reduce.h"

#include <stdlib.h>
#include <string.h>

#define real float
#define NAME(word) word##_single
#include "kernels/diffusion/cpu/implicit/linearize.inc"
#define real double
#define NAME(word) word##_double
#include "kernels/diffusion/cpu/implicit/linearize.inc"

enum { RESULTS = DIFFUSION_FIELDS + DIFFUSION_FLUXES };

static size_t number_size(const diffusion_entries *e) { return e->single ? sizeof(float) : sizeof(double); }

/* Returns the pieces of ranks 0 to `rank`. */
static int64_t pieces_to(const diffusion_entries *e, const grid_shape *grid, const sim_comm *comm, int rank) {
  const int64_t end = diffusion_slab_of(grid, e->single, comm, rank).end;
  return grid->rank == 3 ? end * e->in_plane : (end + e->lanes - 1) / e->lanes;
}

/* A piece has 128 bytes for each cell along x: some rows of a plane beside each other. */
static void set_sizes(const diffusion_parameters *p, const sim_comm *comm, diffusion_entries *e) {
  const grid_shape grid = diffusion_grid_of(p);
  e->comm = comm;
  e->grid = grid;
  e->single = diffusion_single(p);
  e->lanes = (int)(128 / number_size(e));
  e->piece_numbers = grid.n[0] * e->lanes;
  e->rows = grid.rank > 1 ? grid.n[1] : 1;
  e->in_plane = (e->rows + e->lanes - 1) / e->lanes;
  e->all = e->in_plane * (grid.rank > 2 ? grid.n[2] : 1);
  e->first = comm->rank > 0 ? pieces_to(e, &grid, comm, comm->rank - 1) : 0;
  e->pieces = pieces_to(e, &grid, comm, comm->rank) - e->first;
}

double diffusion_entries_bytes(const diffusion_parameters *p, const sim_comm *comm, int count) {
  diffusion_entries e = {0};
  set_sizes(p, comm, &e);
  return (double)count * (double)(e.pieces * e.piece_numbers) * (double)number_size(&e) +
         (double)(count + 2) * (double)e.all * sizeof(double);
}

sim_status diffusion_entries_create(const diffusion_parameters *p, const sim_setup *setup, diffusion_rates *rates,
                                    diffusion_linearized *of, const sim_expr *entries, diffusion_entries *e) {
  const size_t count = (size_t)of->jacobian.count;
  *e = (diffusion_entries){.of = of, .rates = rates, .fields = (int)p->fields.count};
  e->results = e->fields + diffusion_gradients_of(p).fluxes;
  set_sizes(p, setup->comm, e);
  if (!entries) return SIM_OK;
  e->values = calloc((size_t)e->pieces * count + 1, (size_t)e->piece_numbers * number_size(e));
  e->sums = calloc((size_t)e->all * (count + 1), sizeof(double));
  e->sum = calloc((size_t)e->all, sizeof(double));
  if (!e->values || !e->sums || !e->sum) return sim_no_memory("the derivatives of rates and fluxes");
  return diffusion_rates_compile(p, entries, setup->isa, setup->threads, &e->function);
}

void diffusion_entries_destroy(diffusion_entries *e) {
  diffusion_rates_destroy(&e->function);
  free(e->values);
  free(e->sums);
  free(e->sum);
  *e = (diffusion_entries){0};
}

int64_t diffusion_entries_piece(const diffusion_entries *e, const diffusion_piece *piece) {
  return piece->z * e->in_plane + piece->row / e->lanes - e->first;
}

int64_t diffusion_entries_rows(const diffusion_entries *e, int64_t piece) {
  const int64_t left = e->rows - (e->first + piece) % e->in_plane * e->lanes;
  return left < e->lanes ? left : e->lanes;
}

void *diffusion_entries_values(const diffusion_entries *e, int64_t piece, int entry) {
  const int64_t before = piece * e->of->jacobian.count + entry;
  return (char *)e->values + (size_t)(before * e->piece_numbers) * number_size(e);
}

void diffusion_entries_compute(void *opaque, const diffusion_piece *piece) {
  const diffusion_entries *e = opaque;
  void *of[DIFFUSION_ENTRIES];
  const int64_t number = diffusion_entries_piece(e, piece);
  double *sums = e->sums ? e->sums + (e->first + number) * (e->of->jacobian.count + 1) : NULL, most = 0;
  for (int i = 0; i < e->of->jacobian.count; i++) of[i] = diffusion_entries_values(e, number, i);
  if (e->function) diffusion_rates_evaluate(e->function, piece, of);
  for (int i = 0; i < e->of->jacobian.count; i++)
    sums[i] = e->single ? total_single(of[i], e->piece_numbers, e->lanes, piece->rows)
                        : total_double(of[i], e->piece_numbers, e->lanes, piece->rows);
  for (int i = 0; i < e->of->jacobian.count; i++)
    if (e->of->jacobian.of[i].result == e->of->jacobian.of[i].input)
      most = e->single ? greatest_single(of[i], e->piece_numbers, e->lanes, piece->rows, most)
                       : greatest_double(of[i], e->piece_numbers, e->lanes, piece->rows, most);
  if (sums) sums[e->of->jacobian.count] = most;
  diffusion_rates_apply(e->rates, piece);
}

sim_status diffusion_entries_average(diffusion_entries *e, double *growth) {
  const int64_t stride = e->of->jacobian.count + 1;
  const grid_shape *grid = &e->grid;
  *growth = 0;
  if (!e->sums) return SIM_OK;
  if (e->comm->size > 1) {
    size_t ends[SIM_RANKS_MAX];
    for (int r = 0; r < e->comm->size; r++)
      ends[r] = (size_t)(pieces_to(e, grid, e->comm, r) * stride) * sizeof(double);
    SIM_TRY(sim_comm_gather_parts(e->comm, e->sums, ends));
  }
  for (int i = 0; i < e->of->jacobian.count; i++) {
    for (int64_t piece = 0; piece < e->all; piece++) e->sum[piece] = e->sums[piece * stride + i];
    e->of->means[i] = sim_reduce_tree(e->sum, (size_t)e->all) / grid_cells_wanted(grid);
  }
  for (int64_t piece = 0; piece < e->all; piece++) {
    const double most = e->sums[piece * stride + stride - 1];
    *growth = most > *growth ? most : *growth;
  }
  return SIM_OK;
}

/* Computes the products, with the means of the entries that are even where `means`. */
static void apply(const diffusion_entries *e, const diffusion_piece *piece, bool means) {
  bool set[RESULTS] = {false};
  const int64_t number = diffusion_entries_piece(e, piece);
  for (int i = 0; i < e->of->jacobian.count; i++) {
    const int result = e->of->jacobian.of[i].result;
    void *out = piece->spare[result];
    const void *in = piece->columns[e->of->jacobian.of[i].input],
               *values = means ? NULL : diffusion_entries_values(e, number, i);
    if (means && !e->of->even[i]) continue;
    if (e->single)
      product_single(out, values, e->of->means[i], in, piece->count, set[result]);
    else
      product_double(out, values, e->of->means[i], in, piece->count, set[result]);
    set[result] = true;
  }
  for (int r = 0; r < e->results; r++)
    if (!set[r]) memset(piece->spare[r], 0, (size_t)piece->count * number_size(e));
  for (int f = 0; f < e->fields; f++) {
    void *product = piece->spare[f];
    piece->spare[f] = piece->columns[f];
    piece->columns[f] = product;
  }
}

void diffusion_entries_apply(void *entries, const diffusion_piece *piece) { apply(entries, piece, false); }
void diffusion_entries_apply_means(void *entries, const diffusion_piece *piece) { apply(entries, piece, true); }
