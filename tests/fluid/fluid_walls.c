/* Solid cells, and links of the cells beside them, which several threads find in parts of the grid. */
#include "kernels/fluid/machine.h"
#include "kernels/fluid/meshes.h"
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NX = 60, NY = 44, NZ = 40, CELLS = NX * NY * NZ }; /* enough rows and cells for parts */

/* Cells 0.05 wide. A ball across the periodic ends of x and y, and a block at the low side of z. */
static const char text[] =
    "return sim.fluid { precision = 'single', grid = { n = {60, 44, 40}, size = {3, 2.2, 2}, z = 'wall' },\n"
    "  viscosity = 0.03, speed = 1, bodies = { sim.ball { point = {0.1, 2.15, 1.03}, radius = 0.412 },\n"
    "    sim.block { low = {1.51, 0.32, 0}, high = {2.04, 1.36, 0.61} } }, integrate = { t_end = 1 } }";

static void make(const flow *f, int threads, fluid_meshes *meshes, fluid_walls *out) {
  const fluid_numbers k = fluid_numbers_of(f->p, 0);
  must(fluid_walls_create(f->p, &k, meshes, threads, NULL, out), "walls");
}

static bool same_links(const fluid_walls *a, const fluid_walls *b) {
  bool same = a->links == b->links;
  for (int64_t i = 0; same && i < a->links; i++) {
    const fluid_link *x = &a->link[i], *y = &b->link[i];
    same = x->kind == y->kind && x->arriving == y->arriving && x->second == y->second && x->towards == y->towards &&
           x->body == y->body && x->mirror == y->mirror && x->entry == y->entry && x->weight == y->weight &&
           x->constant == y->constant;
  }
  return same;
}

static bool same_lists(const fluid_walls *a, const fluid_walls *b) {
  bool same = a->cells == b->cells && a->spans == b->spans && a->fluid == b->fluid;
  for (int64_t i = 0; same && i < a->cells; i++)
    same = a->cell[i].row == b->cell[i].row && a->cell[i].x == b->cell[i].x && a->cell[i].first == b->cell[i].first &&
           a->cell[i].count == b->cell[i].count;
  for (int64_t i = 0; same && i < a->spans; i++)
    same = a->span[i].row == b->span[i].row && a->span[i].x == b->span[i].x && a->span[i].count == b->span[i].count;
  return same;
}

static void test_threads(void **state) {
  (void)state;
  flow f;
  fluid_meshes meshes;
  fluid_walls one, other;
  flow_open(&f, text, SIM_ISA_PLAIN, 1, NULL);
  must(fluid_meshes_create(f.p, &f.setup, &meshes), "meshes");
  make(&f, 1, &meshes, &one);
  for (int threads = 2; threads <= 7; threads += 5) {
    make(&f, threads, &meshes, &other);
    if (!same_links(&one, &other) || !same_lists(&one, &other) || memcmp(one.solid, other.solid, CELLS) != 0)
      fail_msg("%d threads: other walls", threads);
    fluid_walls_destroy(&other);
  }
  fluid_walls_destroy(&one);
  fluid_meshes_destroy(&meshes);
  flow_close(&f);
}

/* Whether a body of `text` has the centre of a cell. */
static bool is_solid(int64_t x, int64_t y, int64_t z) {
  const double at[3] = {0.05 * ((double)x + 0.5), 0.05 * ((double)y + 0.5), 0.05 * ((double)z + 0.5)};
  const double dx = remainder(at[0] - 0.1, 3), dy = remainder(at[1] - 2.15, 2.2), dz = at[2] - 1.03;
  const bool block = at[0] > 1.51 && at[0] < 2.04 && at[1] > 0.32 && at[1] < 1.36 && at[2] < 0.61;
  return block || sqrt(dx * dx + dy * dy + dz * dz) < 0.412;
}

/* Links that arrive at a cell of the fluid from solid cells or through a side, in the order of directions. */
static int links_of(const fluid_lattice *l, int64_t x, int64_t y, int64_t z, int8_t out[FLUID_DIRECTIONS_MAX]) {
  int count = 0;
  for (int c = 1; c < l->directions; c++) {
    const int64_t from[3] = {(x - l->c[c][0] + NX) % NX, (y - l->c[c][1] + NY) % NY, z - l->c[c][2]};
    if (from[2] < 0 || from[2] >= NZ || is_solid(from[0], from[1], from[2])) out[count++] = (int8_t)c;
  }
  return count;
}

/* Every cell and every link that there has to be, and no others. */
static void test_complete(void **state) {
  (void)state;
  flow f;
  fluid_meshes meshes;
  fluid_walls w;
  int64_t cell = 0, link = 0, solid = 0;
  flow_open(&f, text, SIM_ISA_PLAIN, 1, NULL);
  must(fluid_meshes_create(f.p, &f.setup, &meshes), "meshes");
  make(&f, 3, &meshes, &w);
  for (int64_t i = 0; i < CELLS; i++) {
    const int64_t x = i % NX, y = i / NX % NY, z = i / NX / NY;
    int8_t arriving[FLUID_DIRECTIONS_MAX];
    assert_int_equal(w.solid[i], is_solid(x, y, z));
    solid += w.solid[i];
    const int count = w.solid[i] ? 0 : links_of(fluid_lattice_for(f.p), x, y, z, arriving);
    if (count == 0) continue;
    assert_true(cell < w.cells);
    assert_int_equal(w.cell[cell].row, i / NX);
    assert_int_equal(w.cell[cell].x, x);
    assert_int_equal(w.cell[cell].first, link);
    assert_int_equal(w.cell[cell].count, count);
    for (int k = 0; k < count; k++) assert_int_equal(w.link[link + k].arriving, arriving[k]);
    cell++;
    link += count;
  }
  assert_int_equal(w.cells, cell);
  assert_int_equal(w.links, link);
  assert_int_equal(w.fluid, CELLS - solid);
  for (int64_t i = 0; i < w.spans; i++) solid -= w.span[i].count;
  assert_int_equal(solid, 0);
  fluid_walls_destroy(&w);
  fluid_meshes_destroy(&meshes);
  flow_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_complete)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
