/* A step of u_t = D lap u + u - u^3 on a periodic cube, from its two passes over memory: milliseconds each, the best of
 * many; of one thread, its own processor time beside it, which other programs disturb less. With --write, the field
 * after `steps` steps from a known start goes to a file for a peer to compare.
 *
 *   bench_diffusion [--precision single|double] [--n N]... [--threads T] [--isa plain|avx2|avx512] [--seconds S]
 *                   [--scheme lie|strang|etd1|etdrk2|etdrk4] [--boundary periodic|no_flux|fixed]
 *                   [--write FILE --steps K] */
#include "bench/arguments.h"
#include "engine/wall_clock.h"
#include "kernels/diffusion/diffusion.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const sim_model *const sim_models[] = {&diffusion_model, NULL};

typedef struct options {
  int threads, precision, scheme, boundary, steps;
  sim_isa isa;
  double seconds;
  const char *file;
} options;

static void must(sim_status status) {
  if (status == SIM_OK) return;
  fprintf(stderr, "bench_diffusion: %s\n", sim_error_last()->message);
  exit(1);
}

static sim_expr *cubic(void) {
  sim_expr_builder *b;
  sim_expr_ref u, square, cube, difference;
  sim_expr *out;
  must(sim_expr_builder_create(&b));
  must(sim_expr_builder_input(b, "u", &u));
  for (int i = 0; i < 4; i++) {
    sim_expr_ref place;
    must(sim_expr_builder_input(b, (const char *const[]){"x", "y", "z", "t"}[i], &place));
  }
  must(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){u, u}, &square));
  must(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){square, u}, &cube));
  must(sim_expr_builder_call(b, SIM_EXPR_SUB, (sim_expr_ref[]){u, cube}, &difference));
  must(sim_expr_builder_finish(b, &difference, (const char *const[]){"u"}, 1, &out));
  sim_expr_builder_free(&b);
  return out;
}

/* The start: sin x cos 2y + cos 3z / 2 at the cells' centres of a box of side 2 pi. */
static double start(int64_t n, int64_t x, int64_t y, int64_t z) {
  const double h = 6.283185307179586476925 / (double)n;
  return sin(h * ((double)x + 0.5)) * cos(2 * h * ((double)y + 0.5)) + 0.5 * cos(3 * h * ((double)z + 0.5));
}

typedef struct bench {
  diffusion_parameters p;
  grid_shape grid;
  diffusion_method method;
  diffusion_spectral *spectral;
  diffusion_rates *rates;
  diffusion_arrays arrays;
  void *field[1], *real[1];
  double seconds[2], busy[2]; /* the best of all planes, columns; of the first thread's processor time */
} bench;

static void *take(double bytes) {
  sim_buffer buffer;
  must(sim_buffer_create(&sim_backend_cpu, SIM_F32, 1, (int64_t[]){(int64_t)(bytes / 4)}, &buffer));
  return buffer.data;
}

static void load(bench *b) {
  diffusion_stage stage = {1, 1, 1, {{0, 1, {{diffusion_scale(&b->grid), -1, 0}}}}};
  if (b->method.arrays > 0)
    stage = (diffusion_stage){1, 1, 2, {{1, 1, {{diffusion_scale(&b->grid), -1, 0}}}, {0, 1, {{1, -1, 1}}}}};
  diffusion_planes_load(b->spectral, (const void *const *)b->real, b->field);
  diffusion_columns(b->spectral, &stage, &b->arrays);
}

static double thread_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void step(bench *b, double h) {
  double total[2] = {0, 0}, busy[2] = {0, 0};
  for (int s = 0; s < b->method.stages; s++) {
    diffusion_rates_set(b->rates, &(diffusion_step_context){.h = h, .substeps = 1});
    const double first = sim_wall_clock(), first_busy = thread_time();
    diffusion_planes(b->spectral, b->field, diffusion_rates_apply, b->rates);
    const double second = sim_wall_clock(), second_busy = thread_time();
    diffusion_columns(b->spectral, &b->method.stage[s], &b->arrays);
    total[0] += second - first;
    total[1] += sim_wall_clock() - second;
    busy[0] += second_busy - first_busy;
    busy[1] += thread_time() - second_busy;
  }
  for (int i = 0; i < 2; i++) {
    b->seconds[i] = fmin(b->seconds[i], total[i]);
    b->busy[i] = fmin(b->busy[i], busy[i]);
  }
}

static void one_size(const options *o, int64_t n) {
  static diffusion_field species = {.name = "u", .D = 1, .axes = {1, 1, 1}};
  static sim_item item;
  const bool single = o->precision == SIM_SINGLE;
  const double h = 0.01, size = single ? 4 : 8;
  double side[3] = {6.283185307179586476925, 6.283185307179586476925, 6.283185307179586476925};
  double cells[3] = {(double)n, (double)n, (double)n};
  item = (sim_item){.schema = &diffusion_field_schema, .data = &species};
  species.D = 0.01;
  bench b = {
      .p = {.fields = {&item, 1}, .rates = cubic()}, .seconds = {INFINITY, INFINITY}, .busy = {INFINITY, INFINITY}};
  b.p.common.precision = o->precision;
  b.p.grid = (grid_parameters){.n = {cells, 3, 1},
                               .size = {side, 3, 1},
                               .boundary = o->boundary,
                               .along = {GRID_AS_OTHERS, GRID_AS_OTHERS, GRID_AS_OTHERS}};
  b.p.integrate = (diffusion_integrate){.scheme = o->scheme, .dt = h, .t_end = 1};
  b.grid = diffusion_grid_of(&b.p);
  b.method = diffusion_method_for(o->scheme, diffusion_scale(&b.grid));
  must(diffusion_spectral_create(&b.grid, 1, &(diffusion_gradients){0}, single, o->isa, o->threads, &b.spectral));
  const diffusion_form form = o->scheme == DIFFUSION_LIE      ? DIFFUSION_EULER
                              : o->scheme == DIFFUSION_STRANG ? DIFFUSION_MIDPOINT
                                                              : DIFFUSION_RATE;
  must(diffusion_rates_create(&b.p, form, o->isa, o->threads, &b.rates));
  for (int a = 0; a <= b.method.arrays; a++)
    b.arrays.array[0][a] = take(size * diffusion_field_numbers(&b.grid, single));
  for (int t = 0; t < b.method.tables; t++)
    b.arrays.table[0][t] = take(size * diffusion_table_numbers(&b.grid, single, false));
  diffusion_filling filling;
  must(diffusion_filling_begin(&b.p, 0, h, diffusion_scale(&b.grid), &filling));
  diffusion_tables(b.spectral, b.method.tables, b.arrays.table[0], false, diffusion_method_fill, &filling);
  diffusion_filling_end(&filling);
  b.field[0] = b.arrays.array[0][0];
  b.real[0] = take(size * (double)n * (double)n * (double)n);
  for (int64_t i = 0; i < n * n * n; i++) {
    const double value = start(n, i % n, i / n % n, i / n / n);
    if (single)
      ((float *)b.real[0])[i] = (float)value;
    else
      ((double *)b.real[0])[i] = value;
  }
  load(&b);
  const double begin = sim_wall_clock();
  int steps = 0;
  for (; o->file ? steps < o->steps : steps < 5 || sim_wall_clock() - begin < o->seconds; steps++) step(&b, h);
  const double ms = 1e3 * (b.seconds[0] + b.seconds[1]);
  printf("%lld^3 %s %s %s, %s, %d threads: %.2f ms a step (planes %.2f, columns %.2f), %.0f Mcell/s; "
         "processor %.2f (%.2f, %.2f)\n",
         (long long)n, b.method.name, sim_precision_name((sim_precision)o->precision),
         (const char *const[]){"periodic", "no flux", "fixed"}[o->boundary], sim_isa_name(o->isa), o->threads, ms,
         1e3 * b.seconds[0], 1e3 * b.seconds[1], (double)(n * n * n) / ms / 1e3, 1e3 * (b.busy[0] + b.busy[1]),
         1e3 * b.busy[0], 1e3 * b.busy[1]);
  if (o->file) {
    FILE *file = fopen(o->file, "wb");
    diffusion_planes_store(b.spectral, (const void *const *)b.field, b.real, NULL, NULL);
    if (!file || fwrite(b.real[0], (size_t)size, (size_t)(n * n * n), file) != (size_t)(n * n * n) || fclose(file)) {
      fprintf(stderr, "bench_diffusion: cannot write %s\n", o->file);
      exit(1);
    }
  }
  for (int a = 0; a <= b.method.arrays; a++) sim_backend_cpu.free(b.arrays.array[0][a]);
  for (int t = 0; t < b.method.tables; t++) sim_backend_cpu.free(b.arrays.table[0][t]);
  sim_backend_cpu.free(b.real[0]);
  sim_expr_free(&b.p.rates);
  diffusion_rates_destroy(&b.rates);
  diffusion_spectral_destroy(&b.spectral);
}

int main(int count, char **arguments) {
  static const char *const schemes[] = {"exact", "lie", "strang", "etd1", "etdrk2", "etdrk4", NULL};
  static const char *const boundaries[] = {"periodic", "no_flux", "fixed", NULL};
  const char *sets[SIM_ISA_COUNT + 1] = {NULL};
  for (int isa = 0; isa <= (int)sim_isa_best(); isa++) sets[isa] = sim_isa_name((sim_isa)isa);
  options o = {.scheme = DIFFUSION_LIE};
  int precision = 0, isa = (int)sim_isa_best();
  double threads = omp_get_num_procs(), steps = 1;
  bench_list sizes = {2, {128, 256}}, given = {0};
  o.seconds = 1;
  const bench_argument known[] = {{"--precision", BENCH_INDEX, &precision, 0, bench_precisions},
                                  {"--n", BENCH_LIST, &given, 1, NULL},
                                  {"--threads", BENCH_NUMBER, &threads, 1, NULL},
                                  {"--isa", BENCH_INDEX, &isa, 0, sets},
                                  {"--seconds", BENCH_NUMBER, &o.seconds, 0, NULL},
                                  {"--scheme", BENCH_INDEX, &o.scheme, 0, schemes},
                                  {"--boundary", BENCH_INDEX, &o.boundary, 0, boundaries},
                                  {"--write", BENCH_TEXT, &o.file, 0, NULL},
                                  {"--steps", BENCH_NUMBER, &steps, 1, NULL},
                                  {NULL, BENCH_END, NULL, 0, NULL}};
  bench_arguments(count, arguments, known);
  o.precision = precision ? SIM_DOUBLE : SIM_SINGLE;
  o.isa = (sim_isa)isa;
  o.threads = (int)threads;
  o.steps = (int)steps;
  if (given.count > 0) sizes = given;
  for (int i = 0; i < sizes.count; i++) one_size(&o, sizes.value[i]);
  return 0;
}
