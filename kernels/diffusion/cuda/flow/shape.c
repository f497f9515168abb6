#include "kernels/diffusion/cuda/flow/shape.h"

#include "kernels/diffusion/modes.cuh"

enum { PART_BYTES = 18 << 20 }; /* of the numbers of a part of planes; three of them stay in the level 2 cache */
enum { PLACES = 3 };            /* parts at a time (flow/parts.cuh) */

typedef diffusion_flow_shape shape;

/* Returns the number of wavenumbers 0, 1, ... of an axis that dealiasing keeps. */
static int kept_of(const diffusion_parameters *p, int64_t n) {
  int kept = 1;
  while (kept <= n / 2 && diffusion_mode_kept(kept, n, 1, diffusion_dealias(&p->integrate))) kept++;
  return kept;
}

/* The most numbers of a cell between two passes. */
static int most_of(const shape *s) { return s->reads > s->fields ? s->reads : s->fields; }

/* Sets the tiles: as many neighbouring numbers as the registers of a thread block allow. */
static void set_tiles(shape *s) {
  const int last = s->n[s->axes - 1];
  if (s->axes == 2) {
    const bool long_rows = s->n[0] > 2048 && s->lines <= 2;
    s->wide = last <= 1024 ? 4 : last <= 2048 || s->fields <= 2 ? 2 : 1;
    s->deep = s->slab = 1;
    s->rows = (long_rows ? 512 : 256) * 16 / s->n[0];
  } else {
    s->wide = 4;
    s->deep = last <= 256 ? 2 : 1;
    s->slab = s->n[1] <= 512 ? 2 : 1;
    s->rows = s->wide * s->slab * s->n[1] / s->n[0]; /* as many threads as the passes along y */
  }
  s->columns = s->wide * s->deep;
}

/* Returns the planes of a part: the passes along x and y go from part to part, so that what they give each other stays
 * in the level 2 cache. */
static int planes_of(const shape *s) {
  const int64_t plane = 8LL * most_of(s) * s->tx * s->n[1] * s->wide;
  int planes = s->n[2];
  while (planes > 2 && planes * plane > PART_BYTES) planes /= 2;
  return planes;
}

static void set_arrays(shape *s) {
  const int inputs = (s->reads + s->group - 1) / s->group * s->group;
  s->rowed = (int64_t)s->planes * s->tx * s->n[1] * s->wide;
  s->deeped = (int64_t)s->tx * s->ty * s->n[s->axes - 1] * s->columns;
  s->part = most_of(s) * s->rowed;
  s->first = s->axes == 3 ? most_of(s) * s->deeped : (inputs > s->fields ? inputs : s->fields) * s->rowed;
  s->other = s->axes == 3 ? PLACES * s->part : s->fields * s->rowed;
  s->entries = (s->n[s->axes - 1] / 512 + 1) * 256;
  s->table = (int64_t)s->tx * s->ty * s->columns * s->entries;
}

shape diffusion_flow_shape_of(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  shape s = {.axes = grid.rank, .fields = (int)p->fields.count, .ky = 1, .ky_low = 1};
  for (int a = 0; a < 3; a++) s.n[a] = (int)grid.n[a];
  for (int f = 0; f < s.fields; f++)
    if (diffusion_cuda_reads_values(p, f)) s.value[s.values++] = f;
  s.reads = s.values + diffusion_gradients_of(p).count;
  s.group = s.axes == 2 && s.reads > 1 ? 2 : 1;
  s.lines = (most_of(&s) + 1) / 2;
  set_tiles(&s);
  s.kx = kept_of(p, s.n[0]);
  s.low = kept_of(p, s.n[s.axes - 1]);
  if (s.axes == 3) {
    s.ky_low = kept_of(p, s.n[1]);
    s.ky = 2 * s.ky_low > s.n[1] ? s.n[1] : 2 * s.ky_low - 1;
  }
  s.tx = (s.kx + s.wide - 1) / s.wide;
  s.ty = (s.ky + s.deep - 1) / s.deep;
  s.planes = planes_of(&s);
  set_arrays(&s);
  return s;
}
