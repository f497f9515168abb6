/* Vectors in host memory. */
#include "kernels/diffusion/cpu/implicit/vectors.h"

#include "engine/reduce.h"
#include "kernels/common/grid/grid.h"

#include <math.h>

#define real float
#define NAME(word) word##_single
#include "kernels/diffusion/cpu/implicit/vectors.inc"
#define real double
#define NAME(word) word##_double
#include "kernels/diffusion/cpu/implicit/vectors.inc"

/* Blocks of whole points, each within one field. */
static int64_t field_blocks(const diffusion_vectors *v) { return (v->count + SIM_REDUCE_BLOCK - 1) / SIM_REDUCE_BLOCK; }
int64_t diffusion_vectors_blocks(const diffusion_vectors *v) { return v->fields * field_blocks(v); }

static void block_at(const diffusion_vectors *v, int64_t block, int64_t *first, int64_t *end) {
  const int64_t in_field = block % field_blocks(v), field = block / field_blocks(v);
  const int64_t last = (in_field + 1) * SIM_REDUCE_BLOCK;
  *first = field * v->count + in_field * SIM_REDUCE_BLOCK;
  *end = field * v->count + (last < v->count ? last : v->count);
}

static int team(const diffusion_vectors *v) { return diffusion_vectors_blocks(v) > 8 ? v->threads : 1; }

static void sum(const diffusion_vectors *v, void *out, int terms, const double *factor, const void *const *of) {
  /* the target goes first, so that it may be one of the terms */
  const void *ordered[DIFFUSION_VECTOR_TERMS];
  double factors[DIFFUSION_VECTOR_TERMS];
  int own = 0;
  for (int t = 0; t < terms; t++)
    if (of[t] == out) own = t;
  for (int t = 0; t < terms; t++) {
    const int from = t == 0 ? own : t <= own ? t - 1 : t;
    ordered[t] = of[from];
    factors[t] = factor[from];
  }
  const int64_t blocks = diffusion_vectors_blocks(v);
#pragma omp parallel for schedule(static) num_threads(team(v)) if (team(v) > 1)
  for (int64_t block = 0; block < blocks; block++) {
    int64_t first, end;
    block_at(v, block, &first, &end);
    if (v->single)
      sum_single(out, first, end, terms, factors, ordered);
    else
      sum_double(out, first, end, terms, factors, ordered);
  }
}

static void resolve(const diffusion_vectors *v, void *out, double first, const double *factor, const void *symbol) {
  const int64_t blocks = diffusion_vectors_blocks(v);
#pragma omp parallel for schedule(static) num_threads(team(v)) if (team(v) > 1)
  for (int64_t block = 0; block < blocks; block++) {
    int64_t from, end;
    block_at(v, block, &from, &end);
    const double own = factor[block / field_blocks(v)];
    if (v->single)
      resolve_single(out, from, end, v->lanes, first, own, symbol);
    else
      resolve_double(out, from, end, v->lanes, first, own, symbol);
  }
}

static void choose(const diffusion_vectors *v, void *out, const void *other, const void *where) {
  const int64_t blocks = diffusion_vectors_blocks(v);
#pragma omp parallel for schedule(static) num_threads(team(v)) if (team(v) > 1)
  for (int64_t block = 0; block < blocks; block++) {
    int64_t first, end;
    block_at(v, block, &first, &end);
    if (v->single)
      choose_single(out, first, end, other, where);
    else
      choose_double(out, first, end, other, where);
  }
}

static sim_status dots(const diffusion_vectors *v, const double *weight, const void *a, int count,
                       const void *const *of, double *out) {
  const int64_t blocks = diffusion_vectors_blocks(v);
#pragma omp parallel for schedule(static) num_threads(team(v)) if (team(v) > 1)
  for (int64_t block = 0; block < blocks; block++) {
    int64_t first, end;
    block_at(v, block, &first, &end);
    const double w = weight[block / field_blocks(v)];
    for (int i = 0; i < count; i++)
      v->partial[i * blocks + block] =
          w * (v->single ? dot_single(a, of[i], first, end) : dot_double(a, of[i], first, end));
  }
  for (int i = 0; i < count; i++) out[i] = sim_reduce_tree(v->partial + i * blocks, (size_t)blocks);
  return SIM_OK;
}

/* Whether a number is a real part. */
static bool is_real(const diffusion_vectors *v, int64_t i) {
  return v->lanes == 0 || i % v->count % (2 * v->lanes) < v->lanes;
}

static void fill(const diffusion_vectors *v, void *out, double re, double im) {
  for (int64_t i = 0; i < v->fields * v->count; i++) grid_set_number(out, v->single, i, is_real(v, i) ? re : im);
}

static sim_status greatest(const diffusion_vectors *v, const void *a, double *most) {
  for (int64_t i = 0; i < v->fields * v->count; i++)
    if (is_real(v, i)) *most = fmax(*most, grid_number(a, v->single, i));
  return SIM_OK;
}

const diffusion_vector_ops diffusion_vectors_cpu = {
    .sum = sum, .resolve = resolve, .choose = choose, .fill = fill, .dots = dots, .greatest = greatest};
