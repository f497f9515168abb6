/* Steps of rows of the temperature: once for each instruction set and precision of the flow. Every operation rounds
 * once, so that the bits are the same everywhere. */
#include "kernels/fluid/cpu/heat_rows.h"

#include <stddef.h>

#if FLUID_SINGLE
typedef float real;
#else
typedef double real;
#endif

#define FLUID_INLINE static inline __attribute__((always_inline))

#if FLUID_ISA == 2
#define LANES 8
#elif FLUID_ISA == 1
#define LANES 4
#else
#define LANES 2
#endif
typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
typedef double vector_anywhere __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));
typedef int64_t vint __attribute__((vector_size(LANES * sizeof(double))));
typedef real flows __attribute__((vector_size(LANES * sizeof(real))));
typedef real flows_anywhere __attribute__((vector_size(LANES * sizeof(real)), aligned(sizeof(real)), may_alias));

static bool any(vint a) {
  bool out = false;
  for (size_t i = 0; i < LANES; i++) out = out || a[i] != 0;
  return out;
}

#define value vector
#define stored flows
#define outside vint
#define WIDTH LANES
#define NAME(function) function##_vector
#define LOAD(from) (*(const vector_anywhere *)(from))
#define STORE(to, from) (*(vector_anywhere *)(to) = (from))
#define FLOW(from) __builtin_convertvector(*(const flows_anywhere *)(from), vector)
#define ROUND(a) __builtin_convertvector(a, flows)
#define WIDEN(a) __builtin_convertvector(a, vector)
#define SET_FLOW(to, from) (*(flows_anywhere *)(to) = (from))
#define OUTSIDE(a, low, high) ~((a >= low) & (a <= high))
#define ANY(a) any(a)
#include "kernels/fluid/cpu/heat_row.inc"
#undef value
#undef stored
#undef outside
#undef WIDTH
#undef NAME
#undef LOAD
#undef STORE
#undef FLOW
#undef ROUND
#undef WIDEN
#undef SET_FLOW
#undef OUTSIDE
#undef ANY
#define value double
#define stored real
#define outside int
#define WIDTH 1
#define NAME(function) function##_scalar
#define LOAD(from) (*(from))
#define STORE(to, from) (*(to) = (from))
#define FLOW(from) ((double)*(from))
#define ROUND(a) ((real)(a))
#define WIDEN(a) ((double)(a))
#define SET_FLOW(to, from) (*(to) = (from))
#define OUTSIDE(a, low, high) !(a >= low && a <= high)
#define ANY(a) ((a) != 0)
#include "kernels/fluid/cpu/heat_row.inc"

static void arrive(int rank, const fluid_heat_row *r) {
  if (rank == 2)
    (void)arrive_scalar(2, r, arrive_vector(2, r, 0));
  else
    (void)arrive_scalar(3, r, arrive_vector(3, r, 0));
}

/* Of the whole row, for a flow of moments (l NULL) or of populations. */
FLUID_INLINE bool collide_row(const fluid_lattice *l, int rank, int directions, const fluid_heat_law *law,
                              const fluid_heat_row *r) {
  bool wrong = false;
  const int64_t done = collide_vector(l, rank, directions, law, r, 0, &wrong);
  (void)collide_scalar(l, rank, directions, law, r, done, &wrong);
  return wrong;
}

static bool collide(int rank, const fluid_heat_law *law, const fluid_heat_row *r) {
  if (!law->lattice) return rank == 2 ? collide_row(NULL, 2, 0, law, r) : collide_row(NULL, 3, 0, law, r);
  return rank == 2                        ? collide_row(&fluid_d2q9, 2, 9, law, r)
         : law->lattice->directions == 19 ? collide_row(&fluid_d3q19, 3, 19, law, r)
                                          : collide_row(&fluid_d3q27, 3, 27, law, r);
}

/* At the start alone. */
static void push(int rank, const fluid_heat_law *law, const fluid_heat_row *r) {
  const int directions = law->lattice ? law->lattice->directions : 0;
  (void)push_scalar(law->lattice, rank, directions, law, r, push_vector(law->lattice, rank, directions, law, r, 0));
}

FLUID_INLINE void velocity_of(const fluid_lattice *l, int rank, int directions, const fluid_heat_law *law,
                              const void *flow, int64_t stride, int64_t n, double *const u[3]) {
  const int64_t done = velocity_vector(l, rank, directions, law, flow, stride, n, u, 0);
  (void)velocity_scalar(l, rank, directions, law, flow, stride, n, u, done);
}

static void velocity(int rank, const fluid_heat_law *law, const void *flow, int64_t stride, int64_t n,
                     double *const u[3]) {
  const fluid_lattice *l = law->lattice;
  if (!l && rank == 2) velocity_of(NULL, 2, 0, law, flow, stride, n, u);
  if (!l && rank == 3) velocity_of(NULL, 3, 0, law, flow, stride, n, u);
  if (l) velocity_of(l, rank, l->directions, law, flow, stride, n, u);
}

FLUID_INLINE void add_to(const fluid_lattice *l, int rank, int directions, const fluid_heat_law *law, void *flow,
                         int64_t stride, int64_t n, const double *const g[3]) {
  const int64_t done = add_vector(l, rank, directions, law, flow, stride, n, g, 0);
  (void)add_scalar(l, rank, directions, law, flow, stride, n, g, done);
}

static void add(int rank, const fluid_heat_law *law, void *flow, int64_t stride, int64_t n, const double *const g[3]) {
  const fluid_lattice *l = law->lattice;
  if (!l && rank == 2) add_to(NULL, 2, 0, law, flow, stride, n, g);
  if (!l && rank == 3) add_to(NULL, 3, 0, law, flow, stride, n, g);
  if (l) add_to(l, rank, l->directions, law, flow, stride, n, g);
}

extern const fluid_heat_kernels FLUID_HEAT_KERNELS;
const fluid_heat_kernels FLUID_HEAT_KERNELS = {arrive, collide, push, velocity, add};
