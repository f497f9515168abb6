#include "kernels/diffusion/cpu/derivation.h"

#include "kernels/diffusion/cpu/spectral/parts.h"

#include <stdlib.h>
#include <string.h>

struct diffusion_derivation {
  diffusion_symbols symbols;
};

/* What the tables of one derived field are filled from. */
typedef struct filling {
  const diffusion_parameters *p;
  grid_shape grid;
  sim_expr_program *program;
  int derived, field;
  diffusion_parts parts;
  bool bad; /* a coefficient is not finite */
  double k[3];
} filling;

static bool is_read(const diffusion_parameters *p, const diffusion_gradients *read, int derived) {
  for (int g = 0; g < read->count; g++)
    if (read->of[g].field == (int)p->fields.count + derived) return true;
  return false;
}

static void fill(void *context, const double k[3], const int64_t mode[3], double (*values)[2]) {
  filling *f = context;
  double c[2];
  if (!diffusion_symbol_at(f->p, &f->grid, f->program, k, mode, c)) {
#pragma omp critical
    {
      if (!f->bad)
        for (int a = 0; a < 3; a++) f->k[a] = k[a];
      f->bad = true;
    }
  }
  values[0][0] = f->parts == DIFFUSION_IMAGINARY ? c[1] : c[0];
  values[0][1] = c[1];
}

static sim_status make(const diffusion_parameters *p, diffusion_spectral *s, int derived, diffusion_symbols *out) {
  const sim_expr *expr = p->derived.items[derived].expr;
  filling f = {.p = p, .grid = s->grid, .derived = derived};
  sim_status status = SIM_OK;
  for (f.field = 0; status == SIM_OK && f.field < (int)p->fields.count; f.field++) {
    f.parts = out->parts[derived][f.field] = diffusion_symbol_parts(expr, f.field);
    if (f.parts == DIFFUSION_ABSENT) continue;
    const double numbers = diffusion_symbol_numbers(&s->grid, s->single, f.parts == DIFFUSION_BOTH, &s->slab);
    void *table = numbers < 0x1p57 ? aligned_alloc(64, ((size_t)numbers * (s->single ? 4 : 8) + 127) / 64 * 64) : NULL;
    out->table[derived][f.field] = table;
    if (!table) {
      status = sim_no_memory("the derived field %s", p->derived.items[derived].name);
      break;
    }
    SIM_TRY(diffusion_symbol_program(p, derived, f.field, &f.program));
    diffusion_symbol_table(s, (int)p->fields.count + derived, f.parts, table, fill, &f);
    sim_expr_program_free(&f.program);
    if (f.bad) status = diffusion_symbol_fault(p, derived, f.field, f.k);
    double kept;
    out->extent[derived][f.field] = diffusion_symbol_shrink(s, f.parts, table, &kept);
    if (out->extent[derived][f.field] == DIFFUSION_WHOLE) continue;
    void *less = aligned_alloc(64, ((size_t)kept * (s->single ? 4 : 8) + 127) / 64 * 64);
    if (!less) continue;
    memcpy(less, table, (size_t)kept * (s->single ? 4 : 8));
    free(table);
    out->table[derived][f.field] = less;
  }
  return status;
}

sim_status diffusion_derivation_create(const diffusion_parameters *p, const diffusion_gradients *read,
                                       diffusion_spectral *s, diffusion_derivation **out) {
  sim_status status = SIM_OK;
  *out = NULL;
  for (int d = 0; status == SIM_OK && d < (int)p->derived.count; d++) {
    if (!is_read(p, read, d)) continue;
    if (!*out) *out = calloc(1, sizeof **out);
    status = *out ? make(p, s, d, &(*out)->symbols) : sim_no_memory("the derived fields");
  }
  if (status != SIM_OK) diffusion_derivation_destroy(out);
  return status;
}

void diffusion_derivation_destroy(diffusion_derivation **derivation) {
  if (!*derivation) return;
  for (int d = 0; d < DIFFUSION_DERIVED; d++)
    for (int f = 0; f < DIFFUSION_FIELDS; f++) free((*derivation)->symbols.table[d][f]);
  free(*derivation);
  *derivation = NULL;
}

const diffusion_symbols *diffusion_derivation_symbols(const diffusion_derivation *derivation) {
  return derivation ? &derivation->symbols : NULL;
}

double diffusion_derivation_bytes(const diffusion_parameters *p, const diffusion_gradients *read, bool single,
                                  const diffusion_slab *slab) {
  const grid_shape grid = diffusion_grid_of(p);
  double bytes = 0;
  for (int d = 0; d < (int)p->derived.count; d++)
    for (int f = 0; f < (int)p->fields.count && is_read(p, read, d); f++) {
      const diffusion_parts parts = diffusion_symbol_parts(p->derived.items[d].expr, f);
      if (parts == DIFFUSION_ABSENT) continue;
      bytes += 64 + (single ? 4 : 8) * diffusion_symbol_numbers(&grid, single, parts == DIFFUSION_BOTH, slab);
    }
  return bytes;
}
