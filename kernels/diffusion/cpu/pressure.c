/* The pressure of the solenoidal vector: the potential of the part of the rates that the projection removes. */
#include "kernels/diffusion/cpu/work.h"
#include "kernels/diffusion/modes.cuh"
#include "kernels/diffusion/waves.h"

#include <stdlib.h>
#include <string.h>

struct diffusion_pressure {
  diffusion_parameters p;        /* of the run's rates, on their grid, without the projection */
  double refined[3];             /* its numbers of cells, where the run is padded */
  int vector[3], axes, signs[3]; /* signs: of the derivative of a component along its own axis, between walls */
  grid_shape shape;              /* the grid of the rates, with the boundaries of the pressure's series */
  diffusion_work *work;
  diffusion_spectral *rates, *run; /* of the pressure on the grid of the rates, and on the run's where that differs */
  double *coefficients, *coarse;
};

/* Boundaries of the pressure: along each axis a component is its derivative. */
static grid_shape pressure_shape(const diffusion_parameters *p, const int vector[3], int axes) {
  grid_shape shape = diffusion_grid_of(p);
  for (int a = 0; a < axes; a++) shape.boundary[a] = diffusion_turned(diffusion_shape_of(p, vector[a]).boundary[a]);
  return shape;
}

static sim_status create_spectral(const diffusion_parameters *p, const int vector[3], int axes, sim_isa isa,
                                  int threads, diffusion_spectral **spectral, double **coefficients) {
  const grid_shape grid = diffusion_grid_of(p), own = pressure_shape(p, vector, axes);
  const diffusion_gradients none = {0};
  const double numbers = diffusion_field_numbers(&grid, false);
  const diffusion_series series = {.of = {{own.boundary[0], own.boundary[1], own.boundary[2]}}};
  SIM_TRY(diffusion_spectral_create(&grid, &sim_comm_alone, 1, &none, diffusion_aligned(p, &none) ? &series : NULL,
                                    false, isa, threads, spectral));
  const size_t bytes = numbers < 0x1p57 ? ((size_t)numbers * sizeof(double) + 63) / 64 * 64 : 0;
  *coefficients = bytes ? aligned_alloc(64, bytes) : NULL;
  if (!*coefficients) return sim_no_memory("the pressure");
  memset(*coefficients, 0, bytes);
  return SIM_OK;
}

static sim_status create(diffusion_pressure *q, const diffusion_parameters *p, sim_isa isa, int threads) {
  static char nothing[] = "";
  diffusion_parameters coarse = *p;
  q->axes = diffusion_vector_of(p, q->vector);
  for (int a = 0; a < q->axes; a++) {
    const grid_boundary b = diffusion_shape_of(p, q->vector[a]).boundary[a];
    q->signs[a] = b == GRID_PERIODIC ? 0 : b == GRID_FIXED || b == GRID_FIXED_LOW ? 1 : -1;
  }
  diffusion_budget_form(&coarse);
  q->p = coarse;
  q->p.solenoidal = nothing;
  diffusion_refine(&q->p, q->refined);
  q->shape = pressure_shape(&q->p, q->vector, q->axes);
  SIM_TRY(diffusion_budget_create(&q->p, isa, threads, &q->work));
  SIM_TRY(create_spectral(&q->p, q->vector, q->axes, isa, threads, &q->rates, &q->coefficients));
  return diffusion_padded(p) ? create_spectral(&coarse, q->vector, q->axes, isa, threads, &q->run, &q->coarse) : SIM_OK;
}

sim_status diffusion_pressure_create(const diffusion_parameters *p, sim_isa isa, int threads,
                                     diffusion_pressure **out) {
  *out = calloc(1, sizeof **out);
  if (!*out) return sim_no_memory("the pressure");
  const sim_status status = create(*out, p, isa, threads);
  if (status != SIM_OK) diffusion_pressure_destroy(out);
  return status;
}

void diffusion_pressure_destroy(diffusion_pressure **pressure) {
  diffusion_pressure *q = *pressure;
  if (!q) return;
  if (q->work) diffusion_budget_destroy(&q->work);
  diffusion_spectral_destroy(&q->rates);
  diffusion_spectral_destroy(&q->run);
  free(q->coefficients);
  free(q->coarse);
  free(q);
  *pressure = NULL;
}

double diffusion_pressure_bytes(const diffusion_parameters *p, int threads) {
  diffusion_parameters coarse = *p;
  double n[3], bytes = 0;
  diffusion_budget_form(&coarse);
  diffusion_parameters fine = coarse;
  diffusion_refine(&fine, n);
  const diffusion_gradients none = {0};
  diffusion_series series;
  for (int i = 0; i < 1 + diffusion_padded(p); i++) {
    const diffusion_parameters *of = i == 0 ? &fine : &coarse;
    const grid_shape grid = diffusion_grid_of(of);
    bytes += sizeof(double) * diffusion_field_numbers(&grid, false) +
             diffusion_spectral_bytes(&grid, 1, 0, 0, diffusion_series_of(of, &none, &series), false, threads);
  }
  return bytes + diffusion_budget_bytes(&fine, threads);
}

/* Returns the pressure's mode along an axis, of a mode of the first component at the same position. */
static int64_t mode_of(const diffusion_pressure *q, int axis, const diffusion_number *number) {
  const bool cosine = q->shape.boundary[axis] == GRID_NO_FLUX; /* the sine of n half waves lies where the mean does */
  return cosine && number->mode[axis] == q->shape.n[axis] ? 0 : number->mode[axis];
}

/* Returns the wavenumber of a first derivative, which is 0 where the derivative is 0 in all cells. */
static double wave(const diffusion_pressure *q, int axis, int64_t mode) {
  const grid_boundary b = q->shape.boundary[axis];
  const int64_t n = q->shape.n[axis];
  if (b == GRID_PERIODIC ? diffusion_mirrors_itself(mode, n) : mode == n) return 0;
  const double begin = b == GRID_FIXED_LOW || b == GRID_FIXED_HIGH ? 0.5 : 0;
  return diffusion_axis_wave(b == GRID_PERIODIC, q->shape.size[axis]) * ((double)mode + begin);
}

/* Solves -k^2 p = div N at one number. */
static void solve(void *context, const diffusion_number *number) {
  diffusion_pressure *q = context;
  const int64_t other = number->imaginary ? number->at - fft_group(false) : number->at + fft_group(false);
  const double fraction = diffusion_dealias(&q->p.integrate);
  double div = 0, square = 0;
  bool kept = true;
  for (int a = 0; a < q->axes; a++) {
    const double *rate = q->work->arrays.array[q->vector[a]][2], k = wave(q, a, mode_of(q, a, number));
    const bool periodic = q->shape.boundary[a] == GRID_PERIODIC;
    const bool quarter = q->shape.boundary[a] == GRID_FIXED_LOW || q->shape.boundary[a] == GRID_FIXED_HIGH;
    kept = kept && diffusion_mode_kept(mode_of(q, a, number) + quarter, q->shape.n[a], periodic, fraction);
    square += k * k;
    if (k == 0) continue;
    div += !periodic ? q->signs[a] * k * rate[number->at] : number->imaginary ? k * rate[other] : -k * rate[other];
  }
  q->coefficients[number->at] = kept && square > 0 ? -div / square : 0;
}

sim_status diffusion_pressure_of(diffusion_pressure *q, double *const *fields, double t, double *out) {
  const diffusion_stage inverse = {0, 1, 1, {{0, 1, {{1, -1, 1}}}}};
  diffusion_spectral *spectral = q->run ? q->run : q->rates;
  void *coefficients = q->run ? q->coarse : q->coefficients, *real = out;
  SIM_TRY(diffusion_budget_rates(q->work, fields, t));
  memset(q->coefficients, 0,
         (size_t)diffusion_field_numbers(&q->shape, false) * sizeof(double)); /* was changed in place */
  diffusion_each_number(q->work->spectral, q->vector[0], solve, q);
  if (q->run) SIM_TRY(diffusion_copy_modes(q->rates, q->coefficients, q->run, q->coarse, 0));
  diffusion_arrays arrays = {0};
  arrays.array[0][0] = arrays.array[0][1] = coefficients;
  diffusion_columns(spectral, &inverse, &arrays);
  diffusion_planes_store(spectral, (const void *const *)&coefficients, NULL, &real, NULL, NULL);
  return SIM_OK;
}
