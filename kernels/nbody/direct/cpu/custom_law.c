#include "kernels/nbody/direct/cpu/custom_law.h"

#include <math.h>

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

static sim_status create_program(const sim_expr *pair, int first, int count, bool single, sim_isa isa,
                                 sim_expr_program **out) {
  sim_expr *part;
  SIM_TRY(nbody_laws_pick(pair, first, count, &part));
  sim_status status = sim_expr_program_create(part, &(sim_expr_target){.single = single, .isa = isa}, out);
  sim_expr_free(&part);
  return status;
}

sim_status nbody_custom_law_create(const nbody_options *options, nbody_custom_law *out) {
  const sim_expr *pair = options->laws.pair;
  const int forces = options->jerk ? 2 : 1;
  *out = (nbody_custom_law){.single = options->single_pairs, .threads = options->threads};
  sim_status status = create_program(pair, 0, forces, options->single_pairs, options->isa, &out->force);
  if (status == SIM_OK) status = create_program(pair, forces, 1, false, options->isa, &out->potential);
  if (status == SIM_OK) {
    const size_t one = sim_expr_program_scratch(out->force), other = sim_expr_program_scratch(out->potential);
    void *scratch;
    out->columns = aligned(one > other ? one : other);
    out->stride = out->columns + NBODY_CUSTOM_COLUMNS * NBODY_CUSTOM_PAIRS * sizeof(double);
    status = sim_backend_cpu.alloc((size_t)out->threads * out->stride, &scratch);
    if (status == SIM_OK) out->scratch = scratch;
  }
  if (status != SIM_OK) nbody_custom_law_destroy(out);
  return status;
}

void nbody_custom_law_destroy(nbody_custom_law *law) {
  sim_expr_program_free(&law->force);
  sim_expr_program_free(&law->potential);
  sim_backend_cpu.free(law->scratch);
  *law = (nbody_custom_law){0};
}

double nbody_custom_law_bytes(const nbody_custom_law *law) {
  return (double)law->threads * (double)law->stride + (double)sim_expr_program_bytes(law->force) +
         (double)sim_expr_program_bytes(law->potential);
}

static double element(sim_dtype dtype, const void *data, int64_t i) {
  return dtype == SIM_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static void store(bool single, void *column, int64_t k, double value) {
  if (single)
    ((float *)column)[k] = (float)value;
  else
    ((double *)column)[k] = value;
}

double nbody_custom_law_start_time(const nbody_custom_law *law, const nbody_state *state, const sim_comm *comm) {
  const void *mass = state->mass, *position = state->position;
  const int64_t n = state->n;
  const sim_dtype dtype = state->dtype;
  const size_t size = NBODY_CUSTOM_PAIRS * sizeof(double);
  const sim_dtype pairs = law->single ? SIM_F32 : SIM_F64;
  void *r2 = law->scratch + law->columns, *force = (char *)r2 + size, *rate = (char *)force + size;
  double most = 0;
  for (int64_t i = comm->rank; i < n; i += comm->size) {
    for (int64_t first = 0; first < i; first += NBODY_CUSTOM_PAIRS) {
      const int64_t count = i - first < NBODY_CUSTOM_PAIRS ? i - first : NBODY_CUSTOM_PAIRS;
      for (int64_t k = 0; k < count; k++) {
        double square = 0;
        for (int c = 0; c < 3; c++) {
          const double d = element(dtype, position, c * n + i) - element(dtype, position, c * n + first + k);
          square += d * d;
        }
        store(law->single, r2, k, square);
      }
      sim_expr_program_run(law->force, (size_t)count, (const void *const[]){r2}, (void *const[]){force, rate},
                           law->scratch);
      for (int64_t k = 0; k < count; k++) {
        const double stiff = fabs(element(pairs, force, k)) + 2 * element(pairs, r2, k) * fabs(element(pairs, rate, k));
        most = fmax(most, stiff * (element(dtype, mass, i) + element(dtype, mass, first + k)));
      }
    }
  }
  return 1 / sqrt(most);
}
