/* Spheres that collide, on a GPU: ms a step, and the share of the bandwidth of a copy that their state alone would
 * take.
 *
 *   bench_collision_cuda [--n N] [--ratio R] [--warm STEPS] [--steps STEPS] [--restitution E] [--check]
 *                        [--bed [--shuffled]] [--sizes R] [--packing P]
 *
 * The gas of docs/performance.md: packing 0.3, unit mass and diameter, stiffness 1000, temperature 0.1, dt 0.0014, in a
 * periodic box, from a lattice, with all searching in the time. R: radii uniform within 1 to R, unit mean volume.
 * --sizes: the same gas, but of two sizes, 1 and R, of equal volume each, by the form for any grains (R up to 20).
 * --bed: Hertz-Mindlin with friction and its history, a simple cubic packing pressed together a little, six contacts
 * each, that moves as a whole, so that lists are made anew every 125 steps; --shuffled: grains are numbered in no order
 * of their places, as where a bed has been stirred.
 * --packing: 0.3 unless said; above 0.52 all touch at the start.
 * --check: every contact and move of some steps against a plain loop over cells on the host, bit by bit. */
#include "bench/arguments.h"
#include "engine/device/cuda.h"
#include "kernels/collision/ops_cuda.h"
#include "kernels/collision/fixed_point/fixed_point.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const sim_model *const sim_models[] = {&collision_model, NULL};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(sim_status status) {
  if (status == SIM_OK) return;
  fprintf(stderr, "bench_collision_cuda: %s\n", sim_error_last()->message);
  exit(1);
}

static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*seed >> 11) + 0.5) * 0x1p-53;
}

template <typename T> static T *some(int64_t count) {
  T *out = (T *)calloc((size_t)count, sizeof(T));
  if (out == NULL) exit(1);
  return out;
}

static double packing = 0.3;

typedef struct problem {
  collision_options options;
  collision_state state;
} problem;

static problem make(int64_t n, double ratio, double restitution) {
  problem p = {};
  const double pi = 3.14159265358979323846, side = cbrt((double)n * pi / 6 / packing);
  collision_options *o = &p.options;
  o->n = n;
  o->threads = 2;
  o->dt = o->before = 0.0014;
  o->skin = NAN;
  o->materials = 1;
  o->law[0][0].k0 = 1000;
  if (restitution < 1) {
    const double l = log(restitution), z = -l / sqrt(pi * pi + l * l);
    o->law[0][0].gh = 2 * z * sqrt(1000.0);
    o->damped = true;
  }
  for (int c = 0; c < 3; c++) o->size[c] = side, o->periodic[c] = true;
  collision_state *s = &p.state;
  s->n = n;
  float *radius = some<float>(n), *mass = some<float>(n), *x = some<float>(3 * n), *v = some<float>(3 * n);
  s->radius = radius, s->mass = mass, s->position = x, s->velocity = v;
  s->collisions = some<uint64_t>(n);
  s->quanta = some<uint64_t>(3 * n);
  s->dissipated = some<double>(n), s->virial = some<double>(n);
  const int64_t sites = (int64_t)ceil(cbrt((double)n) - 1e-9);
  uint64_t seed = 1;
  double sum[3] = {0, 0, 0}, volume = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t site = (int64_t)((double)i * ((double)sites * (double)sites * (double)sites) / (double)n);
    const int64_t at[3] = {site / sites / sites, site / sites % sites, site % sites};
    /* Large and small ones by turns, so that none overlap. */
    bool large = (at[0] + at[1] + at[2]) % 2 == 0;
    for (int c = 0; c < 3; c++) large = large && !(sites % 2 == 1 && at[c] == sites - 1);
    radius[i] = (float)(0.5 * (1 + (ratio - 1) * 0.5 * (uniform(&seed) + (large ? 1 : 0))));
    volume += 8 * pow((double)radius[i], 3);
    for (int c = 0; c < 3; c++) {
      const double normal = sqrt(-2 * log(uniform(&seed))) * cos(2 * pi * uniform(&seed));
      x[c * n + i] = (float)(((double)at[c] + 0.5) * side / (double)sites);
      v[c * n + i] = (float)(sqrt(0.1) * normal);
      sum[c] += (double)v[c * n + i] / (double)n;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    radius[i] = ratio > 1 ? (float)((double)radius[i] * cbrt((double)n / volume)) : 0.5f;
    mass[i] = ratio > 1 ? (float)pow(2 * (double)radius[i], 3) : 1;
    for (int c = 0; c < 3; c++) v[c * n + i] = (float)(((double)v[c * n + i] - sum[c]) / sqrt((double)mass[i]));
  }
  return p;
}

/* Large ones on a lattice, small ones on a finer one around them. */
static problem make_sizes(int64_t n, double large) {
  const double pi = 3.14159265358979323846, part = packing / 2;
  const int64_t across = (int64_t)fmax(1, round(cbrt((double)n / (1 + large * large * large))));
  const double spacing = large * cbrt(pi / 6 / part), side = (double)across * spacing;
  const int64_t sites = (int64_t)(side / cbrt(pi / 6 / part * (large > 1 ? 1 - 1.3 * part : 1)));
  double *place = some<double>(3 * (sites * sites * sites + across * across * across));
  int64_t count = 0;
  for (; count < across * across * across; count++) {
    const int64_t at[3] = {count / across / across, count / across % across, count % across};
    for (int c = 0; c < 3; c++) place[3 * count + c] = ((double)at[c] + 0.5) * spacing;
  }
  const int64_t few = count;
  for (int64_t i = 0; i < sites * sites * sites; i++) {
    const int64_t at[3] = {i / sites / sites, i / sites % sites, i % sites};
    double square = 0;
    for (int c = 0; c < 3; c++) {
      const double x = ((double)at[c] + 0.5) * side / (double)sites, away = fmod(x, spacing) - 0.5 * spacing;
      place[3 * count + c] = x;
      square += away * away;
    }
    if (square > 0.26 * (large + 1) * (large + 1)) count++;
  }
  problem p = make(count, 1, 1);
  float *x = (float *)p.state.position, *v = (float *)p.state.velocity;
  for (int c = 0; c < 3; c++) p.options.size[c] = side;
  for (int64_t i = 0; i < count; i++) {
    const double size = i < few ? large : 1;
    ((float *)p.state.radius)[i] = (float)(0.5 * size);
    ((float *)p.state.mass)[i] = (float)(size * size * size);
    for (int c = 0; c < 3; c++) {
      x[c * count + i] = (float)place[3 * i + c];
      v[c * count + i] /= (float)sqrt(size * size * size);
    }
  }
  free(place);
  return p;
}

/* ---- the plain loop ---- */

typedef struct grain {
  uint32_t x[3];
  int32_t p[3], sum[3];
  float r, w;
} grain;

/* One step of all pairs within neighbouring cells; returns contacts. */
static int64_t plain_step(const collision_gas *gas, const collision_gas_numbers *g, grain *a, int64_t n, bool start,
                          bool move) {
  const uint32_t side = (uint32_t)floor(gas->size[0] / (2 * gas->radius[1] * 1.05));
  const uint32_t cells = side < 3 ? 1 : side;
  int64_t *first = some<int64_t>((int64_t)cells * cells * cells + 1), *next = some<int64_t>(n), contacts = 0;
  for (int64_t c = 0; c <= (int64_t)cells * cells * cells; c++) first[c] = -1;
  for (int64_t i = 0; i < n; i++) {
    int64_t cell = 0;
    for (int c = 0; c < 3; c++) cell = cell * cells + (int64_t)(((uint64_t)a[i].x[c] * cells) >> 32);
    next[i] = first[cell];
    first[cell] = i;
    for (int c = 0; c < 3; c++) a[i].sum[c] = 0;
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t at[3];
    for (int c = 0; c < 3; c++) at[c] = (int64_t)(((uint64_t)a[i].x[c] * cells) >> 32);
    for (int k = 0; k < (cells == 1 ? 1 : 27); k++) {
      const int64_t d[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
      int64_t cell = 0;
      for (int c = 0; c < 3; c++) cell = cell * cells + (cells == 1 ? 0 : (at[c] + d[c] + cells) % cells);
      for (int64_t j = first[cell]; j >= 0; j = next[j]) {
        if (j <= i) continue;
        float f[3];
        const float square = collision_gas_apart(g, a[i].x, a[j].x, f), reach = a[i].r + a[j].r;
        if (square >= reach * reach * 1.2f || (!gas->damped && square >= reach * reach)) continue;
        collision_gas_contact m;
        if (!collision_gas_meet(g, gas->equal, gas->damped, start, f, square, reach, a[i].p, a[j].p, a[i].w, a[j].w,
                                &m))
          continue;
        contacts++;
        for (int c = 0; c < 3; c++) {
          const int32_t change = (int32_t)rintf(m.scale * f[c]);
          a[i].sum[c] += change;
          a[j].sum[c] -= change;
        }
      }
    }
  }
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) {
      if (start) a[i].p[c] -= a[i].sum[c] >> 1;
      if (!move) continue;
      a[i].p[c] += a[i].sum[c];
      a[i].x[c] += (uint32_t)(int32_t)rintf((float)a[i].p[c] * a[i].w * g->drift[c]);
    }
  free(first), free(next);
  return contacts;
}

static uint64_t digest(const uint64_t *data, int64_t count) {
  uint64_t hash = 1469598103934665603u;
  for (int64_t k = 0; k < count; k++) hash = (hash ^ data[k]) * 1099511628211u, hash ^= hash >> 29;
  return hash;
}

static void check(int64_t n, double ratio, double restitution, int steps) {
  problem p = make(n, ratio, restitution);
  collision_gas gas;
  const char *lacks =
      collision_gas_fits(&p.options, n, (const float *)p.state.mass, (const float *)p.state.radius, &gas);
  if (lacks != NULL) {
    printf("check: %s\n", lacks);
    return;
  }
  const collision_gas_numbers g = collision_gas_step(&gas, p.options.dt, p.options.dt);
  grain *a = some<grain>(n);
  collision_work *w;
  must(collision_gas_ops_cuda.create(&p.options, &p.state, &w));
  must(collision_gas_ops_cuda.load(w));
  for (int64_t i = 0; i < n; i++) {
    for (int c = 0; c < 3; c++) {
      a[i].x[c] = (uint32_t)p.state.quanta[c * n + i];
      a[i].p[c] = (int32_t)(p.state.quanta[c * n + i] >> 32);
    }
    a[i].r = ((const float *)p.state.radius)[i];
    a[i].w = gas.equal ? 1 : (float)(gas.mass / (double)((const float *)p.state.mass)[i]);
  }
  collision_gas_ops_cuda.begin(w, 0);
  collision_sums s0, s1;
  must(collision_gas_ops_cuda.sums(w, 0, &s0));
  int64_t contacts = plain_step(&gas, &g, a, n, true, false);
  for (int k = 0; k < steps; k++) {
    must(collision_gas_ops_cuda.step(w, (k + 1) * p.options.dt, p.options.dt));
    contacts = plain_step(&gas, &g, a, n, false, true);
  }
  must(collision_gas_ops_cuda.sums(w, steps * p.options.dt, &s1));
  must(collision_gas_ops_cuda.store(w));
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) wrong += p.state.quanta[c * n + i] != ((uint64_t)(uint32_t)a[i].p[c] << 32 | a[i].x[c]);
  printf("check: n %lld ratio %g restitution %g, %d steps: %lld of %lld words differ; %lld contacts in the last step, "
         "looked %.0f; collisions %.0f\n",
         (long long)n, ratio, restitution, steps, (long long)wrong, (long long)(3 * n), (long long)contacts,
         s1.touching / 2, s1.collisions / 2);
  printf("  energy %.9g + %.9g + lost %.9g -> %.9g + %.9g + lost %.9g, change %.3g; momentum change %g %g %g; overlap "
         "%.4f; virial %.9g; T %.5f\n",
         s0.kinetic, s0.elastic, s0.dissipated, s1.kinetic, s1.elastic, s1.dissipated,
         (s1.kinetic + s1.elastic + s1.dissipated) / (s0.kinetic + s0.elastic + s0.dissipated) - 1,
         s1.momentum[0] - s0.momentum[0], s1.momentum[1] - s0.momentum[1], s1.momentum[2] - s0.momentum[2], s1.overlap,
         s1.virial, s1.kinetic * 2 / 3 / (double)n);
  /* Again from the state: the same bits after more steps. */
  collision_work *again;
  must(collision_gas_ops_cuda.create(&p.options, &p.state, &again));
  must(collision_gas_ops_cuda.load(again));
  for (int k = 0; k < 37; k++) {
    must(collision_gas_ops_cuda.step(w, 0, p.options.dt));
    must(collision_gas_ops_cuda.step(again, 0, p.options.dt));
  }
  must(collision_gas_ops_cuda.sums(w, 0, &s0));
  must(collision_gas_ops_cuda.sums(again, 0, &s1));
  must(collision_gas_ops_cuda.store(w));
  const uint64_t one = digest(p.state.quanta, 3 * n) ^ digest(p.state.collisions, n);
  must(collision_gas_ops_cuda.store(again));
  const uint64_t two = digest(p.state.quanta, 3 * n) ^ digest(p.state.collisions, n);
  printf("  restart: %s bits, %s sums\n", one == two ? "same" : "OTHER",
         memcmp(&s0, &s1, sizeof s0) ? "OTHER" : "same");
  collision_gas_ops_cuda.destroy(&w);
  collision_gas_ops_cuda.destroy(&again);
}

/* ---- time ---- */

static double copy_rate(void) {
  const size_t bytes = (size_t)1 << 30;
  void *a, *b;
  must(sim_backend_cuda.alloc(bytes, &a));
  must(sim_backend_cuda.alloc(bytes, &b));
  must(sim_backend_cuda.copy(a, b, bytes));
  const double start = now();
  for (int k = 0; k < 20; k++) cudaMemcpyAsync(a, b, bytes, cudaMemcpyDeviceToDevice, (cudaStream_t)sim_cuda_stream());
  must(sim_queue_cuda.finish());
  const double rate = 40 * (double)bytes / (now() - start);
  sim_backend_cuda.free(a);
  sim_backend_cuda.free(b);
  return rate;
}

static void time_it(int64_t n, double ratio, double restitution, int warm, int steps, double copy) {
  problem p = make(n, ratio, restitution);
  collision_work *w;
  collision_sums s0, s1, s2;
  printf("%.0f bytes a grain; ", collision_gas_ops_cuda.bytes(&p.options) / (double)n);
  must(collision_gas_ops_cuda.create(&p.options, &p.state, &w));
  must(collision_gas_ops_cuda.load(w));
  collision_gas_ops_cuda.begin(w, 0);
  must(collision_gas_ops_cuda.sums(w, 0, &s0));
  for (int k = 0; k < warm; k++) must(collision_gas_ops_cuda.step(w, 0, p.options.dt));
  must(collision_gas_ops_cuda.sums(w, 0, &s1));
  double start = now();
  for (int k = 0; k < steps; k++) must(collision_gas_ops_cuda.step(w, 0, p.options.dt));
  const double queued = now() - start;
  must(sim_queue_cuda.finish());
  const double seconds = now() - start;
  start = now();
  must(collision_gas_ops_cuda.sums(w, 0, &s2));
  const double seen = now() - start;
  const double floor = 2 * (ratio > 1 ? 32 : 24) * (double)n / copy;
  printf("n %lld ratio %g restitution %g: %.4f ms a step (queued in %.4f), %.3g particle-steps/s, %.0f %% of a copy of "
         "the state\n",
         (long long)n, ratio, restitution, 1e3 * seconds / steps, 1e3 * queued / steps, (double)n * steps / seconds,
         100 * floor / (seconds / steps));
  printf("  T %.5f, contacts a particle %.5f, rate %.4f, overlap %.4f, Z-1 %.4f, dE/E %.3g in timed, %.3g in all, sums "
         "%.2f ms, momentum %g\n",
         s2.kinetic * 2 / 3 / (double)n, s2.touching / 2 / (double)n,
         (s2.collisions - s1.collisions) / (double)n / (steps * p.options.dt), s2.overlap,
         (s2.virial - s1.virial) / (steps * p.options.dt) / (2 * s2.kinetic),
         (s2.kinetic + s2.elastic + s2.dissipated) / (s1.kinetic + s1.elastic + s1.dissipated) - 1,
         (s2.kinetic + s2.elastic + s2.dissipated) / (s0.kinetic + s0.elastic + s0.dissipated) - 1, 1e3 * seen,
         s2.momentum[0] - s0.momentum[0]);
  collision_gas_ops_cuda.destroy(&w);
  fflush(stdout);
  const void *arrays[] = {p.state.radius,     p.state.mass,   p.state.position,   p.state.velocity,
                          p.state.collisions, p.state.quanta, p.state.dissipated, p.state.virial};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free((void *)arrays[k]);
}

static void time_bed(int64_t n, bool shuffled, int warm, int steps) {
  problem p = make(n, 1, 1);
  collision_options *o = &p.options;
  collision_state *s = &p.state;
  const int64_t sites = (int64_t)ceil(cbrt((double)n) - 1e-9), room = 8 * n + 64;
  const double side = 0.999 * (double)sites;
  float *x = (float *)s->position, *v = (float *)s->velocity;
  o->force = COLLISION_HERTZ;
  o->springs = 3;
  o->damped = o->turning = true;
  o->dt = o->before = 0.002;
  o->law[0][0] = {};
  o->law[0][0].E = 1e4, o->law[0][0].G = 4e3, o->law[0][0].beta = 0.2, o->law[0][0].friction = 0.5;
  for (int c = 0; c < 3; c++) o->size[c] = side;
  uint32_t *site = some<uint32_t>(n);
  uint64_t seed = 2;
  for (int64_t i = 0; i < n; i++) {
    const int64_t k = shuffled ? (int64_t)(uniform(&seed) * (double)(i + 1)) : i;
    site[i] = site[k];
    site[k] = (uint32_t)i;
  }
  for (int64_t i = 0; i < n; i++) {
    const int64_t at[3] = {site[i] / sites / sites, site[i] / sites % sites, site[i] % sites};
    for (int c = 0; c < 3; c++) {
      x[c * n + i] = (float)(((double)at[c] + 0.5) * side / (double)sites);
      v[c * n + i] = 0.003f * v[c * n + i] + (c == 0 ? 0.2f : 0);
    }
  }
  free(site);
  s->room = room;
  s->spin = some<float>(3 * n), s->acceleration = some<float>(3 * n), s->angular_acceleration = some<float>(3 * n);
  s->material = some<uint64_t>(n);
  s->contact_grain = some<uint64_t>(room), s->contact_partner = some<uint64_t>(room);
  s->contact_spring = some<float>(3 * room);
  for (int64_t k = 0; k < room; k++) s->contact_grain[k] = UINT64_MAX;
  collision_work *w;
  collision_sums s0, s1;
  printf("bed: %.0f bytes a grain\n", collision_ops_cuda_f32.bytes(o) / (double)n);
  must(collision_ops_cuda_f32.create(o, s, &w));
  must(collision_ops_cuda_f32.load(w));
  collision_ops_cuda_f32.begin(w, 0);
  must(collision_ops_cuda_f32.sums(w, 0, &s0));
  for (int k = 0; k < warm; k++) must(collision_ops_cuda_f32.step(w, 0, o->dt));
  must(sim_queue_cuda.finish());
  const double start = now();
  for (int k = 0; k < steps; k++) must(collision_ops_cuda_f32.step(w, 0, o->dt));
  must(sim_queue_cuda.finish());
  const double seconds = now() - start;
  must(collision_ops_cuda_f32.sums(w, 0, &s1));
  printf("bed n %lld: %.4f ms a step, %.3g particle-steps/s, %.3f contacts each, energy %.9g -> %.9g (%.3g lost)\n",
         (long long)n, 1e3 * seconds / steps, (double)n * steps / seconds, s1.touching / (double)n,
         s0.kinetic + s0.rotational + s0.elastic, s1.kinetic + s1.rotational + s1.elastic, s1.dissipated);
  collision_ops_cuda_f32.destroy(&w);
}

static void time_sizes(int64_t n, double large, int warm, int steps) {
  problem p = make_sizes(n, large);
  collision_state *s = &p.state;
  n = s->n;
  s->spin = some<float>(3 * n), s->acceleration = some<float>(3 * n), s->angular_acceleration = some<float>(3 * n);
  s->material = some<uint64_t>(n);
  p.options.n = n;
  collision_work *w;
  collision_sums s0, s1;
  must(collision_ops_cuda_f32.create(&p.options, s, &w));
  must(collision_ops_cuda_f32.load(w));
  collision_ops_cuda_f32.begin(w, 0);
  must(collision_ops_cuda_f32.sums(w, 0, &s0));
  for (int k = 0; k < warm; k++) must(collision_ops_cuda_f32.step(w, 0, p.options.dt));
  must(sim_queue_cuda.finish());
  const double start = now();
  for (int k = 0; k < steps; k++) must(collision_ops_cuda_f32.step(w, 0, p.options.dt));
  must(sim_queue_cuda.finish());
  const double seconds = now() - start;
  must(collision_ops_cuda_f32.sums(w, 0, &s1));
  printf("sizes 1 and %g, n %lld: %.4f ms a step, %.3g particle-steps/s; contacts each %.4f, change of energy %.2g\n",
         large, (long long)n, 1e3 * seconds / steps, (double)n * steps / seconds, s1.touching / 2 / (double)n,
         (s1.kinetic + s1.elastic) / (s0.kinetic + s0.elastic) - 1);
  collision_ops_cuda_f32.destroy(&w);
}

int main(int count, char **arguments) {
  double n = 0, ratio = 1, restitution = 1, warm = 1500, steps = 500, sizes = 0;
  bool checked = false, packed = false, shuffled = false;
  const bench_argument known[] = {{"--check", BENCH_FLAG, &checked, 0, NULL},
                                  {"--bed", BENCH_FLAG, &packed, 0, NULL},
                                  {"--shuffled", BENCH_FLAG, &shuffled, 0, NULL},
                                  {"--n", BENCH_NUMBER, &n, 2, NULL},
                                  {"--ratio", BENCH_NUMBER, &ratio, 1, NULL},
                                  {"--sizes", BENCH_NUMBER, &sizes, 1, NULL},
                                  {"--packing", BENCH_NUMBER, &packing, 0, NULL},
                                  {"--warm", BENCH_NUMBER, &warm, 0, NULL},
                                  {"--steps", BENCH_NUMBER, &steps, 1, NULL},
                                  {"--restitution", BENCH_NUMBER, &restitution, 0, NULL},
                                  {NULL, BENCH_END, NULL, 0, NULL}};
  bench_arguments(count, arguments, known);
  must(sim_backend_cuda.open(NULL));
  if (checked) {
    check(n > 0 ? (int64_t)n : 5000, ratio, restitution, (int)(steps < 300 ? steps : 300));
    return 0;
  }
  if (packed) {
    time_bed(n > 0 ? (int64_t)n : 10077696, shuffled, (int)warm, (int)steps);
    return 0;
  }
  if (sizes >= 1) {
    time_sizes(n > 0 ? (int64_t)n : 1000000, sizes, (int)warm, (int)steps);
    return 0;
  }
  const double copy = copy_rate();
  printf("copy: %.3f TB/s\n", copy / 1e12);
  if (n > 0)
    time_it((int64_t)n, ratio, restitution, (int)warm, (int)steps, copy);
  else
    for (int k = 0; k < 2; k++) time_it(k ? 10000000 : 1000000, ratio, restitution, (int)warm, (int)steps, copy);
  return 0;
}
