#include "kernels/nbody/fmm/cpu/work.h"

#include "engine/reduce.h"
#include "kernels/nbody/direct/cpu/periodic.h"

#include <stdio.h>
#include <stdlib.h>

static nbody_fmm_leaf *const all_leaf[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {nbody_fmm_leaf_double_plain, nbody_fmm_leaf_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {nbody_fmm_leaf_double_avx2, nbody_fmm_leaf_single_avx2},
    [SIM_ISA_AVX512] = {nbody_fmm_leaf_double_avx512, nbody_fmm_leaf_single_avx512},
#endif
};

static const nbody_fmm_translate *const all_translate[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&nbody_fmm_translate_double_plain, &nbody_fmm_translate_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {&nbody_fmm_translate_double_avx2, &nbody_fmm_translate_single_avx2},
    [SIM_ISA_AVX512] = {&nbody_fmm_translate_double_avx512, &nbody_fmm_translate_single_avx512},
#endif
};

static const nbody_fmm_down *const all_down[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&nbody_fmm_down_double_plain, &nbody_fmm_down_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {&nbody_fmm_down_double_avx2, &nbody_fmm_down_single_avx2},
    [SIM_ISA_AVX512] = {&nbody_fmm_down_double_avx512, &nbody_fmm_down_single_avx512},
#endif
};

static const nbody_fmm_outer_loops *const all_outer[SIM_ISA_COUNT] = {
    [SIM_ISA_PLAIN] = &nbody_fmm_outer_double_plain,
#if NBODY_X86
    [SIM_ISA_AVX2] = &nbody_fmm_outer_double_avx2,
    [SIM_ISA_AVX512] = &nbody_fmm_outer_double_avx512,
#endif
};

sim_status nbody_fmm_list_reserve(nbody_fmm_list *list, int64_t more) {
  if (list->count + more <= list->capacity) return SIM_OK;
  const int64_t capacity = 3 * (list->count + more) / 2 + 1024;
  uint32_t *cell = realloc(list->cell, (size_t)capacity * sizeof *cell);
  if (cell == NULL) return sim_no_memory("a list of %lld cells", (long long)capacity);
  list->cell = cell;
  list->capacity = capacity;
  return SIM_OK;
}

void nbody_fmm_work_destroy(nbody_solver_work **work) {
  nbody_solver_work *w = *work;
  if (w == NULL) return;
  for (int k = 0; w->scratch != NULL && k < w->options.threads; k++) {
    nbody_fmm_scratch *s = &w->scratch[k];
    free(s->queue.cell), free(s->far.cell), free(s->near.cell), free(s->open[0].cell), free(s->open[1].cell);
    free(s->targets.cell), free(s->sources), free(s->sums);
  }
  free(w->scratch);
  free(w->open);
  free(w->outer.tensors), free(w->outer.moments), free(w->outer.fields);
  nbody_direct_periodic_cpu.destroy(&w->direct);
  free(w->walked);
  free(w->terms);
  free(w->work);
  nbody_fmm_tree_destroy(&w->tree);
  free(w);
  *work = NULL;
}

static const size_t outer_moments = (size_t)NBODY_FMM_OUTER_COUNT * NBODY_FMM_OUTER_CUBES;

static nbody_options for_direct(const nbody_options *options) {
  nbody_options out = *options;
  out.single_pairs = out.individual = false;
  return out;
}

static sim_status create_outer(nbody_solver_work *w) {
  nbody_fmm_outer *o = &w->outer;
  const nbody_options direct = for_direct(&w->options);
  o->tensors = malloc(NBODY_FMM_OUTER_TENSORS * sizeof *o->tensors);
  o->moments = malloc(outer_moments * sizeof *o->moments);
  o->fields = malloc(NBODY_FMM_OUTER_CUBES * sizeof *o->fields);
  if (o->tensors == NULL || o->moments == NULL || o->fields == NULL)
    return sim_no_memory("the images of a periodic box");
  nbody_fmm_outer_tensors(w->options.softening / w->options.box, o->tensors);
  return nbody_direct_periodic_cpu.create(&direct, &w->state, &w->direct);
}

sim_status nbody_fmm_work_take_cells(nbody_solver_work *w) {
  const size_t cells = (size_t)w->tree.capacity;
  if (w->open_capacity >= w->tree.capacity) return SIM_OK;
  free(w->open);
  free(w->walked);
  w->open = malloc(cells * sizeof *w->open);
  w->walked = w->options.individual ? malloc(cells) : NULL;
  w->open_capacity = 0;
  if (w->open == NULL || (w->options.individual && w->walked == NULL))
    return sim_no_memory("lists of %lld cells", (long long)w->tree.capacity);
  w->open_capacity = w->tree.capacity;
  return SIM_OK;
}

static size_t term_count(int64_t n) { return (size_t)n + sim_reduce_blocks((size_t)n); }

/* Number of rows of w->work. */
static size_t work_rows(const nbody_options *options) {
  const size_t ranks = (size_t)options->comm->size;
  return ranks > 1 ? NBODY_LEVELS_MAX + 1 + (size_t)options->threads + ranks : 1;
}

sim_status nbody_fmm_work_create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  nbody_solver_work *w = *out = calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the multipole solver");
  w->options = *options;
  w->state = *state;
  int isa = options->isa < sim_isa_best() ? options->isa : sim_isa_best();
  while (all_down[isa][0] == NULL) isa--;
  for (int single = 0; single < 2; single++) {
    w->leaf[single] = all_leaf[isa][single];
    w->translate[single] = all_translate[isa][single];
    w->down[single] = all_down[isa][single];
  }
  w->outer_loops = all_outer[isa];
  sim_status status = nbody_fmm_tree_create(options, &w->tree);
  if (status == SIM_OK) {
    w->scratch = calloc((size_t)options->threads, sizeof *w->scratch);
    w->terms = malloc(term_count(options->n) * sizeof *w->terms);
    w->work = calloc(work_rows(options), sizeof *w->work);
    if (w->scratch == NULL || w->terms == NULL || w->work == NULL)
      status = sim_no_memory("the multipole solver of %lld bodies", (long long)options->n);
    else
      status = nbody_fmm_work_take_cells(w);
  }
  for (int k = 0; status == SIM_OK && k < options->threads && options->comm->size > 1; k++)
    w->scratch[k].work = w->work[NBODY_LEVELS_MAX + 1 + k];
  if (status == SIM_OK && options->box > 0) status = create_outer(w);
  if (status != SIM_OK)
    nbody_fmm_work_destroy(out);
  else
    w->partial = w->terms + options->n;
  if (status == SIM_OK) snprintf(w->text, sizeof w->text, "leaves of %d", options->fmm.leaf);
  return status;
}

/* Returns the bytes of lists, which grow at need; the greatest that is usual. Counted for Plummer and uniform spheres
 * of 2 10^4 and 10^5 bodies: cells left up to 21 entries open at angles from 0.7 on, and 155 at 0.4; the other lists of
 * a thread had up to 18000 entries, and 29000 at 0.4. */
static double list_bytes(const nbody_options *options, double cells) {
  enum { OPEN = 25, OTHERS = 40000 };
  const double wider = 0.8 / options->fmm.theta, leaf = options->fmm.leaf;
  const double sources = NBODY_FMM_P2P_PIECE * leaf * 2 * 4 * sizeof(double);
  return cells * (OPEN * wider * wider * wider * sizeof(uint32_t) + sizeof(nbody_fmm_open) + options->individual) +
         options->threads * (OTHERS * wider * sizeof(uint32_t) + sources);
}

void nbody_fmm_work_bytes(const nbody_options *options, double *host, double *device) {
  const double n = (double)options->n;
  double outer = 0;
  if (options->box > 0) {
    const nbody_options direct = for_direct(options);
    nbody_direct_periodic_cpu.bytes(&direct, &outer, device);
    outer += (double)((NBODY_FMM_OUTER_TENSORS + 2 * outer_moments) * sizeof(double));
  }
  *host = nbody_fmm_tree_bytes(n, &options->fmm) +
          list_bytes(options, nbody_fmm_tree_usual_cells(n, options->fmm.leaf)) +
          (double)(term_count(options->n) * sizeof(double) + sizeof(nbody_solver_work)) + outer;
  const double ranks = options->comm->size;
  *host += ((double)work_rows(options) * NBODY_FMM_BINS + (ranks > 1 ? ranks * ranks : 0)) * sizeof(uint64_t);
  *device = 0;
}

double nbody_fmm_work_room(const nbody_options *options) {
  const double most = nbody_fmm_tree_usual_cells((double)options->n, options->fmm.leaf);
  return nbody_fmm_tree_room(options) + list_bytes(options, most) -
         list_bytes(options, nbody_fmm_tree_expected_cells(options));
}
