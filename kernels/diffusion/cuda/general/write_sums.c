/* Writes the sums of products of a scheme's stages as source. A coefficient of 0 stands for the transforms' scale; NaN
 * stands for the forcing's factor. */
#include "kernels/diffusion/cuda/work.h"

#include <math.h>
#include <stdio.h>

static const char *const factors[] = {
    [DIFFUSION_ALIKE] = "by_alike", [DIFFUSION_EACH] = "by_each", [DIFFUSION_COMPLEX] = "by_complex"};

/* apart: arrays and tables have been read into `in` before. */
static void add_set(const diffusion_set *set, diffusion_factor factor, bool apart, unsigned *loaded, unsigned *written,
                    sim_bytes *text) {
  for (int t = 0; t < set->terms; t++) {
    const int source = set->term[t].source;
    if (!(*loaded >> source & 1))
      sim_bytes_format(text, apart ? "  pair a%d = in.a%d;\n" : "  pair a%d = at_of<pair>(s.array[%d])[i];\n", source,
                       source);
    *loaded |= 1u << source;
  }
  sim_bytes_text(text, "  sum = pair{0, 0};\n");
  for (int t = 0; t < set->terms; t++) {
    const diffusion_term *term = &set->term[t];
    if (term->coefficient == 0)
      sim_bytes_text(text, "  added(sum, (real)s.scale, ");
    else if (isnan(term->coefficient))
      sim_bytes_text(text, "  added(sum, (real)s.force[0], ");
    else
      sim_bytes_format(text, "  added(sum, (real)%a, ", term->coefficient);
    if (term->table >= 0 && apart)
      sim_bytes_format(text, "by_alike(a%d, &in.t%d, 0));\n", term->source, term->table);
    else if (term->table >= 0)
      sim_bytes_format(text, "%s(a%d, at_of<real>(s.table[%d]), k));\n", factors[factor], term->source, term->table);
    else
      sim_bytes_format(text, "a%d);\n", term->source);
  }
  sim_bytes_format(text, "  %sa%d = sum;\n", *loaded >> set->target & 1 ? "" : "pair ", set->target);
  *loaded |= 1u << set->target;
  *written |= 1u << set->target;
}

static void add_sets(const diffusion_stage *stage, diffusion_factor factor, bool apart, unsigned held, unsigned dropped,
                     sim_bytes *text) {
  unsigned loaded = held, written = 0;
  sim_bytes_text(text, "  pair sum;\n");
  for (int set = 0; set < stage->sets; set++) add_set(&stage->set[set], factor, apart, &loaded, &written, text);
  for (int a = 0; a < DIFFUSION_ARRAYS; a++)
    if ((written & ~dropped) >> a & 1) sim_bytes_format(text, "  at_of<pair>(s.array[%d])[i] = a%d;\n", a, a);
}

void diffusion_cuda_write_sums(const diffusion_stage *stage, diffusion_factor factor, unsigned held, unsigned dropped,
                               sim_bytes *text) {
  add_sets(stage, factor, false, held, dropped, text);
}

/* Arrays and tables that a stage reads, where array [0] is in a register. */
static void find_inputs(const diffusion_stage *stage, unsigned *arrays, unsigned *tables) {
  unsigned known = 1;
  *arrays = *tables = 0;
  for (int i = 0; i < stage->sets; i++) {
    const diffusion_set *set = &stage->set[i];
    for (int t = 0; t < set->terms; t++) {
      if (!(known >> set->term[t].source & 1)) *arrays |= 1u << set->term[t].source;
      if (set->term[t].table >= 0) *tables |= 1u << set->term[t].table;
    }
    known |= 1u << set->target;
  }
}

void diffusion_cuda_write_split_sums(const diffusion_stage *stage, unsigned dropped, sim_bytes *text) {
  unsigned arrays, tables;
  find_inputs(stage, &arrays, &tables);
  sim_bytes_text(text, "  struct inputs {\n");
  for (int a = 0; a < DIFFUSION_ARRAYS; a++)
    if (arrays >> a & 1) sim_bytes_format(text, "  pair a%d;\n", a);
  for (int t = 0; t < DIFFUSION_TABLES; t++)
    if (tables >> t & 1) sim_bytes_format(text, "  real t%d;\n", t);
  sim_bytes_text(text, "  __device__ __forceinline__ void read(const diffusion_sums &s, long long i, long long k) {\n");
  for (int a = 0; a < DIFFUSION_ARRAYS; a++)
    if (arrays >> a & 1) sim_bytes_format(text, "  a%d = at_of<pair>(s.array[%d])[i];\n", a, a);
  for (int t = 0; t < DIFFUSION_TABLES; t++)
    if (tables >> t & 1) sim_bytes_format(text, "  t%d = at_of<real>(s.table[%d])[k];\n", t, t);
  sim_bytes_text(text, "  }\n  };\n"
                       "  __device__ static __forceinline__ void at(const diffusion_sums &s, pair &a0, long long i,\n"
                       "                                            const inputs &in) {\n");
  add_sets(stage, DIFFUSION_ALIKE, true, 1, 1 | dropped, text);
  sim_bytes_text(text, "  }\n");
}

static void add_crossed_set(const diffusion_set *set, diffusion_factor factor, int fields, unsigned *loaded,
                            unsigned *written, sim_bytes *text) {
  for (int t = 0; t < set->terms; t++) {
    const int source = set->term[t].source;
    for (int f = 0; f < fields && !(*loaded >> source & 1); f++)
      sim_bytes_format(text, "  pair a%d_%d = at_of<pair>(s.array[%d])[i + %d * s.field];\n", source, f, source, f);
    *loaded |= 1u << source;
  }
  for (int f = 0; f < fields; f++) {
    sim_bytes_format(text, "  sum[%d] = pair{0, 0};\n", f);
    for (int t = 0; t < set->terms; t++) {
      const diffusion_term *term = &set->term[t];
      char by[40] = "(real)s.scale";
      if (term->coefficient != 0) snprintf(by, sizeof by, "(real)%a", term->coefficient);
      if (term->table < 0)
        sim_bytes_format(text, "  added(sum[%d], %s, a%d_%d);\n", f, by, term->source, f);
      else
        for (int g = 0; g < fields; g++)
          sim_bytes_format(text, "  added(sum[%d], %s, %s(a%d_%d, at_of<real>(s.table[%d]) + %d * s.tables, k));\n", f,
                           by, factors[factor], term->source, g, term->table, f * fields + g);
    }
  }
  for (int f = 0; f < fields; f++)
    sim_bytes_format(text, "  %sa%d_%d = sum[%d];\n", *loaded >> set->target & 1 ? "" : "pair ", set->target, f, f);
  *loaded |= 1u << set->target;
  *written |= 1u << set->target;
}

void diffusion_cuda_write_crossed_sums(const diffusion_stage *stage, diffusion_factor factor, int fields,
                                       sim_bytes *text) {
  unsigned loaded = 0, written = 0;
  sim_bytes_format(text, "  pair sum[%d];\n", fields);
  for (int set = 0; set < stage->sets; set++)
    add_crossed_set(&stage->set[set], factor, fields, &loaded, &written, text);
  for (int a = 0; a < DIFFUSION_ARRAYS; a++)
    for (int f = 0; f < fields && written >> a & 1; f++)
      sim_bytes_format(text, "  at_of<pair>(s.array[%d])[i + %d * s.field] = a%d_%d;\n", a, f, a, f);
}

diffusion_stage diffusion_cuda_load_stage(int state) {
  diffusion_stage stage = {1, 1, 1, {{state, 1, {{0, -1, 0}}}}};
  if (state) stage.set[stage.sets++] = (diffusion_set){0, 1, {{1, -1, state}}};
  return stage;
}

diffusion_stage diffusion_cuda_resume_stage(int state) {
  return (diffusion_stage){0, 1, 1, {{0, 1, {{1, -1, state}}}}};
}
