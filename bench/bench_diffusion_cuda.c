/* Reaction-diffusion on the GPU: milliseconds a step of the two fused passes, and of one pass an axis, beside cuFFT
 * with separate kernels, in one run, and how far their fields are apart; the start is a rough random field.
 *
 *   bench_diffusion_cuda [--n N]... [--steps STEPS] [--scheme lie|strang|etd1|etdrk2|etdrk4]
 *                        [--boundary periodic|no_flux|fixed] [--file PATH]
 *
 *   bench_diffusion_cuda --gray-scott N [--file PATH]
 *   bench_diffusion_cuda --ensemble MEMBERS --n N
 *
 * u_t = D lap u + 0.1 (u - u^3) in a box of side 2 pi, fp32. --file writes the field after STEPS steps, [n][n][n]
 * floats, of the start that bench/diffusion_cupy.py makes too. */
#include "bench/arguments.h"
#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/work.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(sim_status status) {
  if (status == SIM_OK) return;
  fprintf(stderr, "bench_diffusion_cuda: %s\n", sim_error_last()->message);
  exit(1);
}

static sim_expr_ref call(sim_expr_builder *b, sim_expr_op op, sim_expr_ref x, sim_expr_ref y) {
  sim_expr_ref out;
  must(sim_expr_builder_call(b, op, (sim_expr_ref[]){x, y}, &out));
  return out;
}

/* 0.1 (u - u^3) */
static sim_expr *cubic(void) {
  static const char *const names[] = {"u", "x", "y", "z", "t"};
  sim_expr_builder *b;
  sim_expr_ref in[5], tenth, out;
  sim_expr *graph;
  must(sim_expr_builder_create(&b));
  for (int i = 0; i < 5; i++) must(sim_expr_builder_input(b, names[i], &in[i]));
  must(sim_expr_builder_number(b, 0.1, &tenth));
  out = call(b, SIM_EXPR_MUL, call(b, SIM_EXPR_MUL, in[0], in[0]), in[0]);
  out = call(b, SIM_EXPR_MUL, tenth, call(b, SIM_EXPR_SUB, in[0], out));
  must(sim_expr_builder_finish(b, &out, (const char *const[]){"u"}, 1, &graph));
  sim_expr_builder_free(&b);
  return graph;
}

/* Uniform in (-1, 1), a hash of the cell. */
static float *start(int64_t cells) {
  float *out = malloc((size_t)cells * sizeof *out);
  if (!out) exit(1);
#pragma omp parallel for
  for (int64_t i = 0; i < cells; i++) {
    uint32_t word = (uint32_t)i * 2654435761u;
    word ^= word >> 15;
    word *= 2246822519u;
    word ^= word >> 13;
    out[i] = (float)(word >> 8) * 0x1p-23f - 1;
  }
  return out;
}

static double elapsed(diffusion_work *work, const diffusion_method *method, double h, int steps) {
  const diffusion_ops *ops = &diffusion_ops_cuda;
  cudaEvent_t begin, end;
  float ms = 0;
  (void)cudaEventCreate(&begin);
  (void)cudaEventCreate(&end);
  (void)cudaEventRecord(begin, sim_cuda_stream());
  for (int i = 0; i < steps; i++)
    for (int s = 0; s < method->stages; s++)
      must(ops->stage(work, s, &(diffusion_step_context){.t = i * h, .h = h, .substeps = 1}));
  (void)cudaEventRecord(end, sim_cuda_stream());
  must(sim_queue_cuda.finish());
  (void)cudaEventElapsedTime(&ms, begin, end);
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  return ms / steps;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct options {
  int steps, scheme, boundary;
  const char *file;
} options;

/* Milliseconds a step, the median of 7 batches; `field` is what it comes to after o->steps steps. */
static double time_way(const diffusion_way *way, const diffusion_parameters *p, const float *first, const options *o,
                       float *field) {
  const diffusion_ops *ops = &diffusion_ops_cuda;
  const diffusion_method *method = &diffusion_methods[p->integrate.scheme];
  const double h = diffusion_dt(&p->integrate);
  double times[7];
  diffusion_work *work;
  must(diffusion_cuda_create(p, way, &work));
  const sim_buffer *real = ops->real(work);
  const size_t bytes = sim_buffer_bytes(real);
  must(sim_backend_cuda.copy(real->data, first, bytes));
  must(ops->load(work));
  (void)elapsed(work, method, h, o->steps);
  must(ops->show(work, NULL));
  must(sim_backend_cuda.copy(field, real->data, bytes));
  const int batch = real->shape[1] > 1 << 28 ? 3 : real->shape[1] > 1 << 25 ? 10 : 40;
  for (int i = 0; i < 7; i++) times[i] = elapsed(work, method, h, batch);
  qsort(times, 7, sizeof *times, ascending);
  printf("  %-10s %8.4f ms a step (%.4f to %.4f)\n", ops->name(work), times[3], times[0], times[6]);
  fflush(stdout);
  ops->destroy(&work);
  return times[3];
}

/* A pass reads and writes 8 bytes a cell; 4.31 TB/s is what a copy on an H200 reaches. */
static void compare(const diffusion_way *way, const diffusion_parameters *p, const float *first, const options *o,
                    double plain, double bytes, float *const fields[2]) {
  const grid_shape grid = diffusion_grid_of(p);
  const int64_t count = grid.n[0] * grid.n[1] * grid.n[2];
  const double own = time_way(way, p, first, o, fields[1]);
  double most = 0, square = 0, whole = 0, size = 0;
  for (int64_t i = 0; i < count; i++) {
    const double a = fields[0][i], d = fabs(a - fields[1][i]);
    most = fmax(most, isnan(d) ? INFINITY : d);
    size = fmax(size, fabs(a));
    square += d * d;
    whole += a * a;
  }
  printf("  %.2f x cuFFT with separate kernels; %.0f %% of its passes at 4.31 TB/s; fields differ by %.2g (greatest, "
         "of %.3g), %.2g (L2, relative)\n",
         plain / own, 100 * bytes * (double)count / 4.31e12 / (own * 1e-3), most, size, sqrt(square / whole));
  if (!(sqrt(square / whole) < 1e-5)) exit(1);
}

static void one_size(const options *o, int64_t n) {
  diffusion_field species = {.name = (char[]){"u"}, .D = 0.01, .axes = {1, 1, 1}};
  sim_item item = {.schema = &diffusion_field_schema, .data = &species};
  double side[3] = {6.283185307179586476925, 6.283185307179586476925, 6.283185307179586476925};
  double cells[3] = {(double)n, (double)n, (double)n};
  diffusion_parameters p = {.fields = {&item, 1}, .rates = cubic()};
  const int64_t count = n * n * n;
  p.common.precision = SIM_SINGLE;
  p.grid = (grid_parameters){.n = {cells, 3, 1},
                             .size = {side, 3, 1},
                             .boundary = o->boundary,
                             .along = {GRID_AS_OTHERS, GRID_AS_OTHERS, GRID_AS_OTHERS}};
  p.integrate = (diffusion_integrate){.scheme = o->scheme, .dt = 0.1, .t_end = 100};
  float *first = start(count), *fields[2] = {malloc((size_t)count * 4), malloc((size_t)count * 4)};
  if (!fields[0] || !fields[1]) exit(1);
  printf("%lld^3 %s\n", (long long)n, diffusion_methods[o->scheme].name);
  const double plain = time_way(&diffusion_way_general, &p, first, o, fields[0]);
  memcpy(fields[1], fields[0], (size_t)count * 4);
  if (diffusion_way_axes.supports(&p)) compare(&diffusion_way_axes, &p, first, o, plain, 24, fields);
  if (diffusion_way_fused.supports(&p)) compare(&diffusion_way_fused, &p, first, o, plain, 16, fields);
  FILE *file = o->file ? fopen(o->file, "wb") : NULL;
  if (o->file && (!file || fwrite(fields[1], 4, (size_t)count, file) != (size_t)count || fclose(file))) {
    fprintf(stderr, "bench_diffusion_cuda: cannot write %s\n", o->file);
    exit(1);
  }
  free(first), free(fields[0]), free(fields[1]);
  sim_expr_free(&p.rates);
}

/* -u v^2 + F (1 - u), u v^2 - (F + k) v with F = 0.0367, k = 0.0649 */
static sim_expr *gray_scott_rates(void) {
  static const char *const names[] = {"u", "v", "x", "y", "z", "t"};
  sim_expr_builder *b;
  sim_expr_ref in[6], out[2], feed, loss, one;
  sim_expr *graph;
  must(sim_expr_builder_create(&b));
  for (int i = 0; i < 6; i++) must(sim_expr_builder_input(b, names[i], &in[i]));
  must(sim_expr_builder_number(b, 0.0367, &feed));
  must(sim_expr_builder_number(b, 0.0367 + 0.0649, &loss));
  must(sim_expr_builder_number(b, 1, &one));
  const sim_expr_ref reaction = call(b, SIM_EXPR_MUL, in[0], call(b, SIM_EXPR_MUL, in[1], in[1]));
  out[0] = call(b, SIM_EXPR_SUB, call(b, SIM_EXPR_MUL, feed, call(b, SIM_EXPR_SUB, one, in[0])), reaction);
  out[1] = call(b, SIM_EXPR_SUB, reaction, call(b, SIM_EXPR_MUL, loss, in[1]));
  must(sim_expr_builder_finish(b, out, (const char *const[]){"u", "v"}, 2, &graph));
  sim_expr_builder_free(&b);
  return graph;
}

/* A spot in the middle of a box of side n / 1000; 10 steps of 1 from there on. */
static void gray_scott(const options *o, int64_t n) {
  diffusion_field species[] = {{.name = (char[]){"u"}, .D = 2e-5, .axes = {1, 1, 1}},
                               {.name = (char[]){"v"}, .D = 1e-5, .axes = {1, 1, 1}}};
  sim_item items[] = {{.schema = &diffusion_field_schema, .data = &species[0]},
                      {.schema = &diffusion_field_schema, .data = &species[1]}};
  double side[2] = {(double)n / 1000, (double)n / 1000}, cells[2] = {(double)n, (double)n};
  diffusion_parameters p = {.fields = {items, 2}, .rates = gray_scott_rates()};
  options own = *o;
  own.steps = 10;
  p.common.precision = SIM_SINGLE;
  p.grid = (grid_parameters){
      .n = {cells, 2, 1}, .size = {side, 2, 1}, .along = {GRID_AS_OTHERS, GRID_AS_OTHERS, GRID_AS_OTHERS}};
  p.integrate = (diffusion_integrate){.scheme = DIFFUSION_ETDRK4, .dt = 1, .t_end = 1000};
  float *first = malloc((size_t)(2 * n * n) * 4), *fields = malloc((size_t)(2 * n * n) * 4);
  if (!first || !fields) exit(1);
  for (int64_t i = 0; i < n * n; i++) {
    const double x = ((double)(i % n) + 0.5) / (double)n - 0.5, y = ((double)(i / n) + 0.5) / (double)n - 0.5;
    const double g = exp(-50 * (x * x + y * y));
    first[i] = (float)(1 - 0.5 * g);
    first[n * n + i] = (float)(0.25 * g);
  }
  printf("%lld^2 Gray-Scott etdrk4\n", (long long)n);
  const double plain = time_way(&diffusion_way_general, &p, first, &own, fields);
  if (diffusion_way_flat.supports(&p)) {
    float *others = malloc((size_t)(2 * n * n) * 4);
    double most = 0;
    if (!others) exit(1);
    const double fused = time_way(&diffusion_way_flat, &p, first, &own, others);
    for (int64_t i = 0; i < 2 * n * n; i++) {
      const double d = fabs((double)fields[i] - others[i]);
      most = fmax(most, isnan(d) ? INFINITY : d);
    }
    printf("  %.2f x cuFFT with separate kernels; fields differ by %.2g (greatest)\n", plain / fused, most);
    if (!(most < 2e-5)) exit(1);
    memcpy(fields, others, (size_t)(2 * n * n) * 4);
    free(others);
  }
  FILE *file = o->file ? fopen(o->file, "wb") : NULL;
  if (o->file && (!file || fwrite(fields, 4, (size_t)(2 * n * n), file) != (size_t)(2 * n * n) || fclose(file))) {
    fprintf(stderr, "bench_diffusion_cuda: cannot write %s\n", o->file);
    exit(1);
  }
  free(first), free(fields);
  sim_expr_free(&p.rates);
}

/* So many members of n^2 with Gray and Scott's rates by etdrk2, all in one batch, and one alone. */
static void ensemble(int64_t members, int64_t n) {
  diffusion_field species[] = {{.name = (char[]){"u"}, .D = 2e-5, .axes = {1, 1, 1}},
                               {.name = (char[]){"v"}, .D = 1e-5, .axes = {1, 1, 1}}};
  sim_item items[] = {{.schema = &diffusion_field_schema, .data = &species[0]},
                      {.schema = &diffusion_field_schema, .data = &species[1]}};
  double side[2] = {1.25, 1.25}, cells[2] = {(double)n, (double)n}, times[2];
  printf("%lld^2 Gray-Scott etdrk2, %lld members\n", (long long)n, (long long)members);
  for (int all = 0; all < 2; all++) {
    diffusion_parameters p = {.fields = {items, 2}, .rates = gray_scott_rates(), .members = all ? members : 1};
    const options own = {.steps = 100};
    p.common.precision = SIM_SINGLE;
    p.grid = (grid_parameters){
        .n = {cells, 2, 1}, .size = {side, 2, 1}, .along = {GRID_AS_OTHERS, GRID_AS_OTHERS, GRID_AS_OTHERS}};
    p.integrate = (diffusion_integrate){.scheme = DIFFUSION_ETDRK2, .dt = 1, .t_end = 1000};
    const int64_t numbers = 2 * n * n * p.members;
    float *first = malloc((size_t)numbers * 4), *fields = malloc((size_t)numbers * 4);
    if (!first || !fields) exit(1);
    for (int64_t i = 0; i < numbers; i++) {
      const double x = (double)(i % n) / (double)n - 0.5, y = (double)(i / n % n) / (double)n - 0.5;
      const double g = exp(-50 * (x * x + y * y));
      first[i] = (float)(i < numbers / 2 ? 1 - 0.5 * g : 0.25 * g);
    }
    times[all] = time_way(NULL, &p, first, &own, fields);
    free(first), free(fields);
    sim_expr_free(&p.rates);
  }
  printf("  in one batch %.4f ms a step, one after the other %.4f ms: %.1f x\n", times[1], (double)members * times[0],
         (double)members * times[0] / times[1]);
}

int main(int argc, char **argv) {
  static const char *const schemes[] = {"exact", "lie", "strang", "etd1", "etdrk2", "etdrk4", NULL};
  static const char *const boundaries[] = {"periodic", "no_flux", "fixed", NULL};
  options o = {.scheme = DIFFUSION_LIE};
  double steps = 3, spots = 0, members = 0;
  bench_list sizes = {0};
  const bench_argument known[] = {{"--n", BENCH_LIST, &sizes, 1, NULL},
                                  {"--steps", BENCH_NUMBER, &steps, 1, NULL},
                                  {"--scheme", BENCH_INDEX, &o.scheme, 0, schemes},
                                  {"--boundary", BENCH_INDEX, &o.boundary, 0, boundaries},
                                  {"--gray-scott", BENCH_NUMBER, &spots, 2, NULL},
                                  {"--ensemble", BENCH_NUMBER, &members, 1, NULL},
                                  {"--file", BENCH_TEXT, &o.file, 0, NULL},
                                  {NULL, BENCH_END, NULL, 0, NULL}};
  bench_arguments(argc, argv, known);
  o.steps = (int)steps;
  if (sizes.count == 0 && spots == 0) sizes = (bench_list){2, {256, 512}};
  if (sim_backend_cuda.unavailable()) {
    fprintf(stderr, "bench_diffusion_cuda: %s\n", sim_backend_cuda.unavailable());
    return 77;
  }
  must(sim_backend_cuda.open(NULL));
  for (int i = 0; i < sizes.count; i++) {
    if (members > 0)
      ensemble((int64_t)members, sizes.value[i]);
    else
      one_size(&o, sizes.value[i]);
  }
  if (spots > 0) gray_scott(&o, (int64_t)spots);
  return 0;
}
