/* Bias of a price or Greek by the time steps: twice the difference between the numbers of the run's steps and of steps
 * half as long, on the same random numbers. This is the whole bias where the error is of weak order 1: Andersen's
 * scheme for Heston's variance, Euler's for a local volatility. Of rough assets, more than twice: option_bias_factor.
 */
#include "kernels/option/result/bias.h"

#include "kernels/option/cpu/sampler.h"
#include "kernels/option/models/rough.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { CHUNKS_LEAST = 16, CHUNKS_MOST = 256 };

struct option_bias {
  option_sampler *sampler[2]; /* [0]: the run's steps, [1]: half as long */
  int quantities;
  double factor; /* of differences */
  double *means; /* [CHUNKS_MOST + ranks][quantities + 1]; the last: 1 for a chunk whose local volatilities are valid */
};

int option_bias_chunks(double n) { return (int)fmin(fmax(ceil(4 * n / OPTION_BLOCK), CHUNKS_LEAST), CHUNKS_MOST); }

/* The scenario from pseudo-random numbers without variance reduction. */
static option_parameters plain(const option_parameters *p) {
  option_parameters q = *p;
  q.common.precision = SIM_DOUBLE;
  q.sampling.sequence = OPTION_PHILOX;
  q.sampling.generator = OPTION_PHILOX4X32;
  q.sampling.moment_matching = false;
  q.sampling.control = OPTION_NO_CONTROL;
  return q;
}

double option_bias_bytes(const option_parameters *p, const sim_setup *setup) {
  if (!option_has_bias(p)) return 0;
  const option_parameters q = plain(p);
  return 3 * option_ops_cpu.bytes(&q, setup);
}

double option_bias_work(const option_parameters *p) {
  const double pair = p->sampling.antithetic ? 2 : 1;
  return 3 * (double)option_bias_chunks(p->sampling.paths / pair) * OPTION_CHUNK * pair;
}

sim_status option_bias_create(const option_parameters *p, const sim_setup *setup, option_bias **out) {
  const option_parameters q = plain(p);
  option_bias *b = *out = calloc(1, sizeof *b);
  if (b == NULL) return sim_no_memory("the model");
  b->quantities = option_quantities(p, NULL);
  b->factor = option_bias_factor(p);
  b->means = calloc(((size_t)b->quantities + 1) * (CHUNKS_MOST + (size_t)setup->comm->size), sizeof(double));
  if (b->means == NULL) return sim_no_memory("the model");
  const sim_setup host = option_host_setup(setup);
  return option_sampler_pair(&q, &host, 2, b->sampler);
}

void option_bias_destroy(option_bias **bias) {
  option_bias *b = *bias;
  if (b == NULL) return;
  option_ops_cpu.destroy(&b->sampler[1]);
  option_ops_cpu.destroy(&b->sampler[0]);
  free(b->means);
  free(b);
  *bias = NULL;
}

/* Sum over the chunk's paths of an output in a market, with the run's steps less with those half as long. */
static double difference(const option_bias *b, const option_term *term, int thread) {
  double sum = 0;
  for (int sign = 0; sign < b->sampler[0]->estimate.signs; sign++) {
    const double *out[2];
    for (int k = 0; k < 2; k++) {
      const option_estimate *e = &b->sampler[k]->estimate;
      const int variant = term->market * e->signs + sign;
      out[k] = b->sampler[k]->workspaces[thread].outputs[variant * e->graph.outputs + term->output];
    }
    for (int i = 0; i < OPTION_CHUNK; i++) sum += out[0][i] - out[1][i];
  }
  return sum;
}

/* Mean difference of every quantity over a chunk, and whether its local volatilities are valid: out[quantities + 1]. */
static void sample_chunk(const option_bias *b, int chunk, int thread, double *out) {
  bool valid = true;
  for (int k = 0; k < 2; k++)
    valid &= option_simulate(b->sampler[k], &b->sampler[k]->workspaces[thread], (uint64_t)chunk * OPTION_CHUNK,
                             OPTION_CHUNK);
  const option_estimate *e = &b->sampler[0]->estimate;
  for (int q = 0; q < b->quantities; q++) {
    const option_combination *c = &e->combination[q];
    out[q] = 0;
    for (int t = 0; t < c->terms; t++)
      out[q] += b->factor * c->term[t].factor * difference(b, &c->term[t], thread) / (OPTION_CHUNK * e->signs);
  }
  out[b->quantities] = valid;
}

sim_status option_bias_sample(option_bias *b, int first, int last, double *mean, double *squares) {
  const sim_comm *comm = b->sampler[0]->comm;
  const size_t row = (size_t)b->quantities + 1, count = (size_t)(last - first),
               sent = sim_comm_share(comm, count) * row;
  size_t end;
  const int own = (int)sim_comm_first(comm, count, &end);
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->sampler[0]->threads)
  for (int c = own; c < (int)end; c++) sample_chunk(b, first + c, omp_get_thread_num(), b->means + (size_t)c * row);
  SIM_TRY(comm->ops->gather(comm, b->means + (size_t)comm->rank * sent, sent * sizeof(double), b->means));
  bool valid = true;
  for (size_t c = 0; c < count; c++) valid &= b->means[c * row + row - 1] == 1;
  for (int c = first; c < last; c++)
    for (int k = 0; k < b->quantities; k++) {
      const double d = b->means[(size_t)(c - first) * row + (size_t)k] - mean[k];
      if (squares[k] < 0) continue;
      mean[k] += d / (c + 1);
      squares[k] += d * d * c / (c + 1);
    }
  for (int k = 0; k < b->quantities; k++)
    if (!valid || !isfinite(squares[k])) { /* only the finer steps are invalid: the run itself reports its own paths */
      mean[k] = 0;
      squares[k] = -1;
    }
  return SIM_OK;
}
