/* What links give to bodies, in device memory: by body, cell and direction. */
#include "kernels/fluid/cuda/host.h"

#include "engine/device/cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* held[3]: the momentum that a step gives to the fluid between the half of the link and the surface, as that goes on.
 */
static fluid_pull pull_of(const fluid_builder *m, int64_t cell, int64_t edge, double held[3]) {
  const fluid_machine *machine = m->m;
  const fluid_link *link = &machine->walls.link[edge];
  const fluid_cell *c = &machine->walls.cell[cell];
  const int64_t at[3] = {c->x, c->row % machine->grid.n[1], c->row / machine->grid.n[1]};
  const int8_t *v = machine->lattice->c[link->arriving];
  fluid_pull out = {.cell = (int32_t)cell, .edge = (int32_t)edge};
  double centre[3];
  if (machine->walls.speed) memcpy(out.speed, machine->walls.speed[edge], sizeof out.speed);
  const double q = fluid_link_part(link);
  fluid_link_centre(m->p, &machine->walls, c, link->arriving, q, link->body, centre);
  const double room = fluid_link_room(m->p, m->k, &machine->walls, c, link, held);
  out.q = 0.5 + room * (machine->lattice->directions - 1) / 2;
  for (int a = 0; a < 3; a++) held[a] *= room;
  for (int a = 0; a < machine->lattice->rank; a++) {
    const bool mirror = link->mirror & 1 << a;
    const double y = (double)at[a] + 0.5 - q * v[a];
    const double inside = !mirror ? y : y < 0 ? -y : fmin(y, 2 * (double)machine->grid.n[a] - y);
    out.push[a] = mirror ? 1 : -1;
    out.arm[a] = inside - centre[a] / m->k->dx;
  }
  return out;
}

/* The same of a term where a body meets sides. */
static fluid_pull pull_of_term(const fluid_builder *m, int64_t cell, const fluid_edge_term *term, double held[3]) {
  const fluid_machine *machine = m->m;
  const fluid_link *link = &machine->walls.link[term->link];
  const fluid_cell *c = &machine->walls.cell[cell];
  fluid_pull out = {.cell = (int32_t)cell, .edge = (int32_t)term->link};
  double centre[3];
  fluid_link_centre(m->p, &machine->walls, c, link->arriving, 0.5, term->body, centre);
  out.q = 0.5 + term->room * (machine->lattice->directions - 1) / 2;
  for (int a = 0; a < machine->lattice->rank; a++) {
    out.push[a] = link->mirror & 1 << a ? term->factor[a] : -term->factor[a];
    out.arm[a] = term->point[a] - centre[a] / m->k->dx;
    if (machine->walls.speed) out.speed[a] = term->factor[a] * machine->walls.speed[term->link][a];
  }
  for (int a = 0; a < 3; a++) held[a] = term->room * term->rate[a];
  return out;
}

/* What the links of a cell give to a body; returns their number. pull[], held[]: NULL: not wanted. */
static int64_t pulls_of_cell(const fluid_builder *m, int64_t cell, int body, fluid_pull *pull, double (*held)[3]) {
  const fluid_walls *w = &m->m->walls;
  fluid_edge_term term[FLUID_EDGE_TERMS];
  double own[3];
  int64_t count = 0;
  for (int64_t j = w->cell[cell].first; j < w->cell[cell].first + w->cell[cell].count; j++) {
    if (w->link[j].body != body) continue;
    if (pull) pull[count] = pull_of(m, cell, j, held ? held[count] : own);
    count++;
  }
  const int terms = fluid_edge_terms(m->p, m->k, w, &w->cell[cell], term);
  for (int j = 0; j < terms; j++) {
    if (term[j].body != body) continue;
    if (pull) pull[count] = pull_of_term(m, cell, &term[j], held ? held[count] : own);
    count++;
  }
  return count;
}

/* Several ranks: room for what each of these links gives to its body, and where they are. */
static sim_status make_terms(const fluid_builder *m, const fluid_pull *pull, int64_t links) {
  int64_t *row = m->d->pull_row = malloc((size_t)links * sizeof *row);
  if (!row) return sim_no_memory("links of ranks");
  for (int64_t i = 0; i < links; i++) row[i] = m->m->walls.cell[pull[i].cell].row;
  return fluid_cuda_send(NULL, (size_t)links * 6 * sizeof(double), (void **)&m->d->terms);
}

/* The number of the first link of each cell to a body, behind `links` before it; returns that behind the last one. */
static int64_t number_pulls(const fluid_builder *m, int body, int64_t links, int64_t *first) {
  const int64_t cells = m->m->walls.cells;
#pragma omp parallel for schedule(static) num_threads(m->m->threads) if (m->m->threads > 1)
  for (int64_t i = 0; i < cells; i++) first[i] = pulls_of_cell(m, i, body, NULL, NULL);
  for (int64_t i = 0; i < cells; i++) {
    const int64_t count = first[i];
    first[i] = links;
    links += count;
  }
  return links;
}

/* Lists the links by body and cell. first[bodies][cells]: of number_pulls. */
static void list_pulls(const fluid_builder *m, const int64_t *first, fluid_pull *pull) {
  const int64_t cells = m->m->walls.cells, all = cells * (int64_t)m->p->bodies.count;
#pragma omp parallel for schedule(dynamic, 1024) num_threads(m->m->threads) if (m->m->threads > 1)
  for (int64_t i = 0; i < all; i++)
    if (first[i + 1] > first[i]) (void)pulls_of_cell(m, i % cells, (int)(i / cells), pull + first[i], NULL);
}

/* Sends links that are listed, in blocks that each belong to one body. */
static sim_status send_listed(const fluid_builder *m, const int64_t *first, fluid_pull *pull) {
  const int64_t cells = m->m->walls.cells;
  const int bodies = (int)m->p->bodies.count, links = m->d->pulls;
  int blocks = 0;
  fluid_pull_block *block = malloc(((size_t)links / FLUID_SEGMENT + FLUID_BODIES) * sizeof *block);
  m->d->body_blocks[0] = 0;
  for (int body = 0; block && body < bodies; body++) {
    const int64_t end = first[(body + 1) * cells];
    for (int64_t i = first[body * cells]; i < end; i += FLUID_SEGMENT)
      block[blocks++] = (fluid_pull_block){(int32_t)i, (int32_t)(end - i < FLUID_SEGMENT ? end - i : FLUID_SEGMENT)};
    m->d->body_blocks[body + 1] = blocks;
  }
  m->d->pull_blocks = blocks;
  SIM_TRY(fluid_cuda_send_away(block, (size_t)blocks * sizeof *block, (void **)&m->d->pull_block));
  SIM_TRY(fluid_cuda_send(pull, (size_t)links * sizeof *pull, (void **)&m->d->pull));
  if (fluid_cuda_divided(m->m)) SIM_TRY(make_terms(m, pull, links));
  return fluid_cuda_send(NULL, (size_t)blocks * 6 * sizeof(double), (void **)&m->d->pull_sum);
}

static sim_status send_pulls(const fluid_builder *m) {
  const int64_t cells = m->m->walls.cells;
  const size_t bodies = m->p->bodies.count;
  int64_t links = 0;
  if (bodies == 0 || cells == 0) return SIM_OK;
  int64_t *first = malloc((bodies * (size_t)cells + 1) * sizeof *first);
  if (!first) return sim_no_memory("the walls");
  for (size_t body = 0; body < bodies; body++) links = number_pulls(m, (int)body, links, first + (int64_t)body * cells);
  first[(int64_t)bodies * cells] = links;
  m->d->pulls = (int)links;
  fluid_pull *pull = malloc((size_t)links * sizeof *pull + 1);
  if (pull) list_pulls(m, first, pull);
  sim_status status = pull ? SIM_OK : sim_no_memory("the walls");
  if (status == SIM_OK && links > 0) status = send_listed(m, first, pull);
  free(pull);
  free(first);
  return status;
}

void fluid_cuda_find_held(const fluid_machine *machine, const fluid_parameters *p, const fluid_numbers *k,
                          double out[][6]) {
  const fluid_builder m = {machine, p, k, NULL};
  const fluid_walls *w = &machine->walls;
  memset(out, 0, p->bodies.count * sizeof *out);
  for (int body = 0; body < (int)p->bodies.count && machine->motion; body++)
    for (int64_t i = 0; i < w->cells; i++) {
      fluid_pull pull[FLUID_DIRECTIONS_MAX + FLUID_EDGE_TERMS];
      double held[FLUID_DIRECTIONS_MAX + FLUID_EDGE_TERMS][3];
      const int64_t count = pulls_of_cell(&m, i, body, pull, held);
      for (int64_t j = 0; j < count; j++)
        for (int a = 0; a < 3; a++) {
          const int b = (a + 1) % 3, c = (a + 2) % 3;
          out[body][a] += held[j][a];
          out[body][3 + a] += pull[j].arm[b] * held[j][c] - pull[j].arm[c] * held[j][b];
        }
    }
}

void fluid_cuda_free_pulls(fluid_device *d) {
  void *const all[] = {&d->pull, &d->pull_block, &d->pull_sum, &d->terms};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) fluid_cuda_release(all[i]);
  free(d->pull_row);
  d->pull_row = NULL;
  d->pulls = d->pull_blocks = 0;
}

sim_status fluid_cuda_build_pulls(const fluid_machine *machine, const fluid_parameters *p, const fluid_numbers *k,
                                  fluid_device *out) {
  const fluid_builder m = {machine, p, k, out};
  fluid_cuda_free_pulls(out);
  return send_pulls(&m);
}
