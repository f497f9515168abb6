/* Rows of the table `spectrum`: the kinetic energy by wavenumber of a periodic box. */
#include "kernels/fluid/run/run.h"

#include "engine/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double fluid_spectrum_bytes(const fluid_parameters *p, int threads) {
  const grid_shape g = fluid_grid_of(p);
  if (p->spectrum == 0) return 0;
  const double pieces = fmax((double)g.n[1], (double)g.n[0]);
  return fft_power_bytes(g.rank, g.n, threads) + (double)(p->spectrum + 1) * pieces * sizeof(double);
}

sim_status fluid_spectrum_create(fluid_run *run, const sim_setup *setup) {
  const grid_shape *g = &run->machine.grid;
  if (run->p->spectrum == 0) return SIM_OK;
  SIM_TRY(fft_power_create(g->rank, g->n, g->size, setup->isa, run->machine.threads, &run->spectrum));
  const size_t pieces = (size_t)fft_power_pieces(run->spectrum), bins = (size_t)run->p->spectrum;
  run->pieces = calloc(pieces * (bins + 1), sizeof *run->pieces);
  return run->pieces ? SIM_OK : sim_no_memory("a spectrum");
}

void fluid_spectrum_destroy(fluid_run *run) {
  fft_power_destroy(&run->spectrum);
  free(run->pieces);
}

sim_status fluid_spectrum_row(fluid_run *run, double *values) {
  const fluid_machine *m = &run->machine;
  const sim_comm *comm = m->part.comm;
  const void *fields[3];
  const int bins = (int)run->p->spectrum;
  const int64_t pieces = fft_power_pieces(run->spectrum);
  double *column = run->pieces + pieces * bins;
  size_t plane, ends[SIM_RANKS_MAX];
  void *data = fft_power_data(run->spectrum, &plane);
  SIM_TRY(fluid_velocity_here(run, fields));
  memset(run->pieces, 0, (size_t)(pieces * bins) * sizeof *run->pieces);
  for (int a = 0; a < m->grid.rank; a++) {
    fft_power_planes(run->spectrum, m->single, fields[a], m->part.first, m->part.end);
    SIM_TRY(fluid_gather_planes(&m->part, plane, data));
    fft_power_add(run->spectrum, pieces * comm->rank / comm->size, pieces * (comm->rank + 1) / comm->size, bins,
                  run->pieces);
  }
  for (int r = 0; r < comm->size; r++) ends[r] = (size_t)(pieces * (r + 1) / comm->size * bins) * sizeof *run->pieces;
  SIM_TRY(sim_comm_gather_parts(comm, run->pieces, ends));
  for (int b = 0; b < bins; b++) {
    for (int64_t i = 0; i < pieces; i++) column[i] = run->pieces[i * bins + b];
    values[b] = sim_reduce_tree(column, (size_t)pieces) / (2 * fft_power_least(run->spectrum));
  }
  return SIM_OK;
}
