/* Where gates lie. */
#include "kernels/fluid/gates.h"

#include <math.h>

fluid_section fluid_section_of(const grid_shape *g, const fluid_gate *gate) {
  const int64_t n = g->n[gate->axis];
  const double at = gate->at * (double)n / g->size[gate->axis] - 0.5, low = floor(at);
  fluid_section out = {.plane = {(int64_t)low, (int64_t)low + 1}, .part = {1 - (at - low), at - low}};
  for (int i = 0; i < 2; i++) {
    if (grid_is_periodic(g, gate->axis))
      out.plane[i] = (out.plane[i] + n) % n;
    else
      out.plane[i] = out.plane[i] < 0 ? 0 : out.plane[i] >= n ? n - 1 : out.plane[i];
  }
  return out;
}

double fluid_section_part(const grid_shape *g, const fluid_gate *gate, const fluid_section *s, int axis, int64_t i) {
  const sim_doubles *range = &gate->range[axis];
  if (axis >= g->rank) return 1;
  if (axis == gate->axis) return (s->plane[0] == i ? s->part[0] : 0) + (s->plane[1] == i ? s->part[1] : 0);
  if (range->rows == 0) return 1;
  const double cells = (double)g->n[axis] / g->size[axis];
  return fmax(0, fmin((double)i + 1, range->data[1] * cells) - fmax((double)i, range->data[0] * cells));
}

sim_status fluid_check_gates_open(const fluid_parameters *p, const fluid_walls *walls) {
  const grid_shape g = fluid_grid_of(p);
  const int64_t rows = g.n[1] * g.n[2];
  for (int i = 0; i < (int)p->gates.count && walls->solid; i++) {
    const fluid_gate *gate = fluid_gate_of(p, i);
    const fluid_section s = fluid_section_of(&g, gate);
    bool open = false;
    for (int64_t row = 0; row < rows && !open; row++) {
      const double own =
          fluid_section_part(&g, gate, &s, 1, row % g.n[1]) * fluid_section_part(&g, gate, &s, 2, row / g.n[1]);
      for (int64_t x = 0; x < g.n[0] && own > 0 && !open; x++)
        open = fluid_section_part(&g, gate, &s, 0, x) > 0 && !walls->solid[row * g.n[0] + x];
    }
    if (!open)
      return sim_fail(SIM_ERR_SCENARIO, "gates[%d]: expected cells of the fluid in the plane, got bodies alone", i + 1);
  }
  return SIM_OK;
}
