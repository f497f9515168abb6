/* Direct sums: packing, the order in which blocks of bodies meet, threads.
 *
 *   mass, position (f32 | f64) --pack--> x y z m (fp32 | fp64, scaled) --tiles--> sums (fp64) --x factor--> a, jerk, U
 *
 * Tiles (pair_tile.c) use Newton's third law, so a tile writes to the sums of two blocks. The blocks meet in the rounds
 * of a round-robin tournament: in a round every block is in one tile at most, so its tiles may run on any threads in
 * any order, and every block adds its tiles in the order of the rounds:
 *
 *   round 0: (0,0) (1,1) (2,2) (3,3)    each with itself
 *   round 1: (3,0) (1,2)                block 3 stands still, the others go round (circle method)
 *   round 2: (3,1) (2,0)
 *   round 3: (3,2) (0,1)
 *
 * So the bits do not depend on the number of threads, and nothing is summed by atomics or kept once a thread. The block
 * size depends on n alone. Few bodies take the plain twin (pair_plain.c).
 *
 * Positions lose a common centre, a multiple of the power of two above their extent, which is exact for fp32 input, and
 * are scaled by a power of two so that they span about 1, or 2^40 for fp64 terms, whose start value is a float. Exact
 * then are distances down to 2^-40 of the extent or the softening length (fp32 terms) and 2^-100 (fp64); masses are
 * scaled by the greatest. So SI units are as good as any. */
#include "kernels/nbody/direct/cpu/direct.h"
#include "engine/reduce.h"
#include "kernels/nbody/direct/cpu/law.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
  PLAIN_BELOW = 32,     /* bodies; measured: the tiles win from about here on */
  THREADS_FROM = 512,   /* bodies; below, starting the threads costs more than they save */
  SPAN_DOUBLE = 40,     /* log2 of the packed extent for fp64 terms */
  SPINS = 2000,         /* looks at a block before the processor is offered to others */
  EXPONENT_LIMIT = 1000 /* keeps powers of two finite whatever the input */
};

struct nbody_pair {
  nbody_pair_options options;
  const nbody_tiles *tiles[2]; /* [single] */
  const nbody_plain *twins[2];
  bool plain;
  nbody_packed packed; /* body columns hold fp64 where `single` is not set, or for the potential */
  double *partial;     /* of the reduction of the potential */
  nbody_law law;       /* with options.law */
  atomic_int *played;  /* [blocks]: rounds that are in a block's sums */
  void *memory;        /* all of the above, one piece */
};

static int block_size(int64_t n) { return n < 1024 ? 64 : n < 8192 ? 128 : n < 65536 ? 256 : NBODY_BLOCK_MAX; }

static bool takes_plain(const nbody_pair_options *options) {
  return options->law == NULL && (options->plain || options->n < PLAIN_BELOW);
}

static double padded_size(const nbody_pair_options *options) {
  double block = takes_plain(options) ? 8 : block_size(options->n);
  return ceil((double)options->n / block) * block;
}

/* Columns are taken at fp64 size, since the potential is fp64 always. */
static int column_count(const nbody_pair_options *options) { return options->jerk ? NBODY_COLUMNS + 6 : 4 + 3; }

static double partial_size(double padded) { return ceil((padded / SIM_REDUCE_BLOCK + 1) / 8) * 8; }
static double played_size(double padded) { return ceil((padded / NBODY_BLOCK_MIN + 1) / 8) * 8; }

/* Of the arrays, without the law's. */
static double arrays_size(const nbody_pair_options *options) {
  double padded = padded_size(options);
  return (padded * column_count(options) + partial_size(padded) + played_size(padded)) * (double)sizeof(double);
}

static sim_status create_law(const nbody_pair_options *options, nbody_law *out) {
  return nbody_law_create(options->law, options->single, options->jerk, options->isa, options->threads, out);
}

double nbody_pair_bytes(const nbody_pair_options *options) {
  nbody_law law;
  double bytes = arrays_size(options) + (double)sizeof(nbody_pair);
  if (options->law != NULL && create_law(options, &law) == SIM_OK) {
    bytes += nbody_law_bytes(&law);
    nbody_law_destroy(&law);
  }
  return bytes;
}

static const nbody_tiles *const all_tiles[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&nbody_tiles_double_plain, &nbody_tiles_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {&nbody_tiles_double_avx2, &nbody_tiles_single_avx2},
    [SIM_ISA_AVX512] = {&nbody_tiles_double_avx512, &nbody_tiles_single_avx512},
#endif
};

static const nbody_tiles *const all_law_tiles[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&nbody_law_tiles_double_plain, &nbody_law_tiles_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {&nbody_law_tiles_double_avx2, &nbody_law_tiles_single_avx2},
    [SIM_ISA_AVX512] = {&nbody_law_tiles_double_avx512, &nbody_law_tiles_single_avx512},
#endif
};

sim_status nbody_pair_create(const nbody_pair_options *options, nbody_pair **out) {
  *out = NULL;
  if (options->n < 1 || options->threads < 1)
    return sim_fail(SIM_ERR_INTERNAL, "direct sum: %lld bodies, %d threads", (long long)options->n, options->threads);
  double bytes = arrays_size(options);
  nbody_pair *pair = calloc(1, sizeof *pair);
  if (pair && bytes < (double)(SIZE_MAX / 2)) pair->memory = aligned_alloc(64, ((size_t)bytes + 63) / 64 * 64);
  if (!pair || !pair->memory) {
    free(pair);
    return sim_no_memory("the direct sum of %lld bodies: %.0f MB", (long long)options->n, bytes / 1e6);
  }
  pair->options = *options;
  pair->plain = takes_plain(options);
  int isa = options->isa < sim_isa_best() ? options->isa : sim_isa_best();
  while (!all_tiles[isa][0]) isa--;
  for (int single = 0; single < 2; single++)
    pair->tiles[single] = options->law != NULL ? all_law_tiles[isa][single] : all_tiles[isa][single];
  pair->twins[0] = &nbody_plain_double_plain;
  pair->twins[1] = &nbody_plain_single_plain;

  nbody_packed *packed = &pair->packed;
  packed->n = options->n;
  packed->block = block_size(options->n);
  packed->padded = (int64_t)padded_size(options);
  double *next = pair->memory;
  for (int c = 0; c < (options->jerk ? NBODY_COLUMNS : 4); c++, next += packed->padded) packed->body[c] = next;
  for (int c = 0; c < (options->jerk ? 6 : 3); c++, next += packed->padded) packed->sum[c] = next;
  pair->partial = next;
  pair->played = (atomic_int *)(next + (size_t)partial_size(padded_size(options)));
  if (pair->plain) packed->padded = packed->n;
  *out = pair;
  if (options->law == NULL) return SIM_OK;
  packed->law = &pair->law;
  sim_status status = create_law(options, &pair->law);
  pair->options.law = NULL;
  if (status != SIM_OK) nbody_pair_destroy(out);
  return status;
}

void nbody_pair_destroy(nbody_pair **pair) {
  if (!*pair) return;
  nbody_law_destroy(&(*pair)->law);
  free((*pair)->memory);
  free(*pair);
  *pair = NULL;
}

const char *nbody_pair_name(const nbody_pair *pair) {
  if (pair->plain) return "plain loop";
  switch (pair->packed.block) {
  case 64: return "Newton's third law, blocks of 64";
  case 128: return "Newton's third law, blocks of 128";
  case 256: return "Newton's third law, blocks of 256";
  default: return "Newton's third law, blocks of 512";
  }
}

/* ---- packing ---- */

static inline double element(sim_dtype dtype, const void *data, int64_t i) {
  return dtype == SIM_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static const void *column(sim_dtype dtype, const void *data, int64_t n, int c) {
  return (const char *)data + (size_t)(c * n) * sim_dtype_size(dtype);
}

/* Least e with |a| < 2^e, within limits; 0 for 0 and for what is not finite. */
static int exponent_above(double a) {
  int exponent = 0;
  if (a != 0 && isfinite(a)) (void)frexp(a, &exponent);
  return exponent < -EXPONENT_LIMIT ? -EXPONENT_LIMIT : exponent > EXPONENT_LIMIT ? EXPONENT_LIMIT : exponent;
}

/* Where packed vectors come from: packed = (value - centre) 2^-exponent. */
typedef struct frame {
  double centre[3];
  int exponent;
} frame;

static frame frame_of(const nbody_pair *pair, sim_dtype dtype, const void *vectors, double least) {
  const int64_t n = pair->packed.n;
  double middle[3], extent = least;
  for (int c = 0; c < 3; c++) {
    const void *x = column(dtype, vectors, n, c);
    double low = element(dtype, x, 0), high = low;
    for (int64_t i = 1; i < n; i++) {
      double a = element(dtype, x, i);
      low = a < low ? a : low;
      high = a > high ? a : high;
    }
    middle[c] = low / 2 + high / 2;
    extent = high - low > extent ? high - low : extent;
  }
  frame out = {.exponent = exponent_above(extent)};
  double unit = ldexp(1, out.exponent);
  for (int c = 0; c < 3; c++) out.centre[c] = unit * trunc(middle[c] / unit);
  return out;
}

static void pack_column(nbody_packed *packed, int c, bool single, sim_dtype dtype, const void *in, double centre,
                        double scale) {
  if (single) {
    float *out = packed->body[c];
    for (int64_t i = 0; i < packed->n; i++) out[i] = (float)((element(dtype, in, i) - centre) * scale);
    for (int64_t i = packed->n; i < packed->padded; i++) out[i] = 0;
  } else {
    double *out = packed->body[c];
    for (int64_t i = 0; i < packed->n; i++) out[i] = (element(dtype, in, i) - centre) * scale;
    for (int64_t i = packed->n; i < packed->padded; i++) out[i] = 0;
  }
}

typedef struct scales {
  int position, velocity, mass; /* input = packed x 2^these */
} scales;

/* velocity NULL: none. */
static scales pack(nbody_pair *pair, bool single, sim_dtype dtype, const void *mass, const void *position,
                   const void *velocity) {
  nbody_packed *packed = &pair->packed;
  const int64_t n = packed->n;
  scales out = {0};
  const double softening = pair->options.softening;
  frame x = frame_of(pair, dtype, position, softening);
  const bool scaled = packed->law == NULL;
  if (scaled) out.position = x.exponent - (single ? 0 : SPAN_DOUBLE);
  double scale = ldexp(1, -out.position);
  for (int c = 0; c < 3; c++)
    pack_column(packed, NBODY_X + c, single, dtype, column(dtype, position, n, c), x.centre[c], scale);
  packed->softening2 = (softening * scale) * (softening * scale);

  double greatest = 0;
  for (int64_t i = 0; i < n; i++) {
    double m = element(dtype, mass, i);
    greatest = m > greatest ? m : greatest;
  }
  if (scaled) out.mass = exponent_above(greatest);
  pack_column(packed, NBODY_MASS, single, dtype, mass, 0, ldexp(1, -out.mass));

  if (velocity) {
    frame v = frame_of(pair, dtype, velocity, 0);
    if (scaled) out.velocity = v.exponent;
    for (int c = 0; c < 3; c++)
      pack_column(packed, NBODY_V + c, single, dtype, column(dtype, velocity, n, c), v.centre[c],
                  ldexp(1, -out.velocity));
  }

  /* Bodies that fill the last block: on a line, twice the extent and more away from all others. */
  for (int64_t i = n; i < packed->padded; i++) {
    double far = ldexp((double)(4 + i - n), single ? 0 : SPAN_DOUBLE);
    if (single)
      ((float *)packed->body[NBODY_X])[i] = (float)far;
    else
      ((double *)packed->body[NBODY_X])[i] = far;
  }
  return out;
}

/* ---- all pairs ---- */

/* Until `block` has played `rounds` rounds. The thread that it waits for may have been put aside by the system. */
static void await(const atomic_int *block, int rounds) {
  for (int tries = 0; atomic_load_explicit(block, memory_order_acquire) != rounds; tries++)
    if (tries > SPINS) sched_yield();
}

static void finish(atomic_int *block, int rounds) { atomic_store_explicit(block, rounds, memory_order_release); }

/* Threads take games in order and wait for the two blocks alone: no barriers, so that a thread that the system has put
 * aside holds up no more than the game it is in. What a game waits for was taken before it: no deadlock. */
static void tournament(const nbody_packed *packed, nbody_tile *tile, atomic_int *played, int threads) {
  const int64_t block = packed->block, blocks = packed->padded / block;
  const int64_t seats = blocks + blocks % 2, circle = seats - 1; /* with an odd number one block rests a round */
  const int64_t games = blocks + circle * (seats / 2);
  if (threads > seats / 2) threads = (int)(seats / 2);
  for (int64_t b = 0; b < blocks; b++) atomic_init(&played[b], 0);
  _Atomic int64_t next = 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
  for (int64_t game; (game = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed)) < games;) {
    if (game < blocks) {
      tile(packed, game * block, game * block);
      finish(&played[game], 1);
      continue;
    }
    const int64_t round = (game - blocks) / (seats / 2), k = (game - blocks) % (seats / 2);
    const int64_t i = k == 0 ? circle : (round + k) % circle, j = (round + circle - k) % circle;
    const int before = (int)round + 1;
    if (i < blocks) await(&played[i], before);
    if (j < blocks) await(&played[j], before);
    if (i < blocks && j < blocks) tile(packed, i * block, j * block);
    if (i < blocks) finish(&played[i], before + 1);
    if (j < blocks) finish(&played[j], before + 1);
  }
}

static void add_all(nbody_pair *pair, int sums, void (*twin)(const nbody_packed *), nbody_tile *tile) {
  const nbody_packed *packed = &pair->packed;
  for (int c = 0; c < sums; c++) memset(packed->sum[c], 0, sizeof(double) * (size_t)packed->padded);
  if (pair->plain)
    twin(packed);
  else
    tournament(packed, tile, pair->played, packed->n < THREADS_FROM ? 1 : pair->options.threads);
}

static void unpack(const nbody_packed *packed, int first, double factor, double *out) {
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < packed->n; i++) out[c * packed->n + i] = factor * packed->sum[first + c][i];
}

static double constant(const nbody_pair *pair) { return pair->packed.law != NULL ? 1 : pair->options.G; }

void nbody_pair_acceleration(nbody_pair *pair, sim_dtype dtype, const void *mass, const void *position,
                             double *acceleration) {
  const bool single = pair->options.single;
  scales s = pack(pair, single, dtype, mass, position, NULL);
  add_all(pair, 3, pair->twins[single]->acceleration, pair->tiles[single]->acceleration);
  double cube = pair->plain ? 1 : pair->tiles[single]->cube;
  unpack(&pair->packed, 0, ldexp(constant(pair) * cube, s.mass - 2 * s.position), acceleration);
}

void nbody_pair_jerk(nbody_pair *pair, sim_dtype dtype, const void *mass, const void *position, const void *velocity,
                     double *acceleration, double *jerk) {
  const bool single = pair->options.single;
  scales s = pack(pair, single, dtype, mass, position, velocity);
  add_all(pair, 6, pair->twins[single]->jerk, pair->tiles[single]->jerk);
  double cube = pair->plain ? 1 : pair->tiles[single]->cube;
  unpack(&pair->packed, 0, ldexp(constant(pair) * cube, s.mass - 2 * s.position), acceleration);
  unpack(&pair->packed, 3, ldexp(constant(pair) * cube, s.mass - 3 * s.position + s.velocity), jerk);
}

double nbody_pair_potential(nbody_pair *pair, sim_dtype dtype, const void *mass, const void *position) {
  scales s = pack(pair, false, dtype, mass, position, NULL);
  add_all(pair, 1, pair->twins[0]->potential, pair->tiles[0]->potential);
  double inverse = pair->plain ? 1 : pair->tiles[0]->inverse;
  double sum = sim_reduce_sum(pair->packed.sum[0], (size_t)pair->packed.padded, pair->partial, 1);
  if (pair->packed.law != NULL) return sum;
  return -ldexp(pair->options.G * inverse * sum, 2 * s.mass - s.position);
}

double nbody_pair_start(const nbody_pair *pair, sim_dtype dtype, const void *mass, const void *position) {
  return nbody_law_start(&pair->law, pair->packed.n, dtype, mass, position);
}
