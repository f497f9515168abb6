#include "kernels/common/grid/grid.h"

#include "engine/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const channels[] = {"auto", "grey", "red", "green", "blue", "alpha", NULL};

static const sim_field file_fields[] = {
    {SIM_FIELD(grid_file, path), .type = SIM_STRING, .flags = SIM_REQUIRED,
     .doc = "a PNG image of a pixel for each cell, its lowest row at y = 0, or an HDF5 file; relative to the "
            "scenario's folder"},
    {SIM_FIELD(grid_file, dataset), .type = SIM_STRING,
     .doc = "of HDF5: the path of a dataset of [nz][ny][nx] numbers, or the name of a field in a snapshot; none: the "
            "field's own name"},
    {SIM_FIELD(grid_file, channel), .type = SIM_CHOICE, .initial = "auto", .choices = channels,
     .doc = "of an image; auto: grey"},
    {SIM_FIELD(grid_file, range), .type = SIM_REAL, .components = 2, .initial = "{0, 1}",
     .doc = "values for 0 and 1 in the file (of an image: black and full intensity)"},
    {0}};
const sim_schema grid_file_schema = {.doc = "values from a file", .fields = file_fields, .size = sizeof(grid_file)};

enum { FILE_INPUT = 3 };
const sim_signature grid_initial_signature = {
    .inputs = (const char *const[]){"x", "y", "z", [FILE_INPUT] = "file", "member", NULL},
    .outputs = {1},
    .returns = "the field at the start"};

bool grid_takes_file(const sim_expr *initial) {
  return initial && FILE_INPUT < sim_expr_input_count(initial) && sim_expr_depends(initial, 0, FILE_INPUT);
}

/* ---- files ---- */

/* Reads values[cells of one member]; NULL: only checks that the file can be read. */
static sim_status read_values(const grid_shape *g, const grid_start *start, const sim_setup *setup, double *values) {
  const grid_file *file = start->file;
  char path[4096];
  SIM_TRY(sim_setup_path(setup, file->path, path));
  if (!setup->read_grid) return sim_fail(SIM_ERR_INTERNAL, "nothing that reads %s", path);
  return setup->read_grid(&(sim_grid_source){.path = path,
                                             .dataset = file->dataset,
                                             .name = start->name,
                                             .channel = file->channel,
                                             .rank = g->rank,
                                             .n = {g->n[0], g->n[1], g->n[2]}},
                          values);
}

sim_status grid_read_file(const grid_shape *g, grid_range rows, const grid_start *start, bool single,
                          const sim_setup *setup, void *values) {
  grid_shape one = *g;
  if (!start->file->given) return SIM_OK;
  if (one.member_axis) one.n[--one.rank] = 1;
  const double all = grid_cells_wanted(&one);
  double *read = values && all < 0x1p57 ? malloc((size_t)all * sizeof *read) : NULL;
  if (values && !read) return sim_no_memory("values of a file");
  sim_status status = read_values(&one, start, setup, read);
  if (status != SIM_OK) status = sim_fail_context("%s.file", start->path);
  const double low = start->file->range[0], width = start->file->range[1] - low;
  const int64_t first = rows.first * g->n[0], end = rows.end * g->n[0];
  for (int64_t i = first; status == SIM_OK && read && i < end; i++)
    grid_set_number(values, single, i - first, low + width * read[i % (int64_t)all]);
  free(read);
  return status;
}

/* ---- functions and noise ---- */

typedef struct filling {
  const grid_shape *grid;
  grid_range rows; /* rows that `values` has */
  const grid_start *start;
  bool single;
  uint64_t seed;
  sim_isa isa;
  void *values;
} filling;

static sim_status fill_row(const filling *f, grid_rows *r, int64_t row) {
  const grid_start *s = f->start;
  const grid_shape *g = f->grid;
  const int64_t n = g->n[0], before = f->rows.first * n;
  const bool takes = grid_takes_file(s->initial);
  const double at[2] = {grid_centre(g, 1, row % g->n[1]), grid_centre(g, 2, row / g->n[1])};
  const double member = grid_member(g, row);
  double *of_file = s->initial ? r->buffers + n : NULL;
  for (int64_t x = 0; of_file && s->file->given && x < n; x++)
    of_file[x] = grid_number(f->values, f->single, row * n + x - before);
  if (s->initial)
    sim_expr_program_run(r->program, (size_t)n, (const void *const[]){r->x, &at[0], &at[1], of_file, &member},
                         (void *const[]){r->buffers}, r->scratch);
  for (int64_t x = 0; x < n; x++) {
    const int64_t cell = row * n + x;
    double value = s->initial ? r->buffers[x] : 0;
    if (s->file->given && !takes) value += grid_number(f->values, f->single, cell - before);
    if (s->noise > 0) {
      double normal[2];
      sim_rng_normal(f->seed, (uint64_t)cell, 0, s->draw, normal);
      value += s->noise * normal[0];
    }
    if (!isfinite(value) || (f->single && !isfinite((float)value)))
      return sim_fail(SIM_ERR_SCENARIO, "%s.initial: %s is %g at x = %.6g, y = %.6g, z = %.6g", s->path, s->name, value,
                      grid_centre(g, 0, x), at[0], at[1]);
    grid_set_number(f->values, f->single, cell - before, value);
  }
  return SIM_OK;
}

static sim_status fill_rows(void *context, int64_t first, int64_t end) {
  static const bool uniform[] = {false, true, true, false, true};
  const filling *f = context;
  grid_rows r = {0};
  if (f->start->initial) SIM_TRY(grid_rows_begin(f->grid, f->start->initial, uniform, f->isa, 2, &r));
  sim_status status = SIM_OK;
  for (int64_t row = first; status == SIM_OK && row < end; row++) status = fill_row(f, &r, row);
  grid_rows_end(&r);
  return status;
}

sim_status grid_fill(const grid_shape *g, grid_range rows, const grid_start *start, bool single, uint64_t seed,
                     sim_isa isa, int threads, void *values) {
  filling f = {g, rows, start, single, seed, isa, values};
  return grid_over_rows(g, rows, threads, fill_rows, &f);
}
