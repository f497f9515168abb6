/* Walls that have no effect. */
#include "kernels/diffusion/diffusion.h"

#include "engine/log.h"

/* Whether a field's walls along an axis make any difference: its linear part or a flux spreads it there, or something
 * reads its derivatives or a derived field of it. */
static bool matters(const diffusion_parameters *p, int field, int axis) {
  const diffusion_field *s = diffusion_field_of(p, field);
  bool any =
      s->hyper != 0 || s->linear || p->flux || (s->D != 0 && s->axes[axis] != 0) || (p->solenoidal && p->solenoidal[0]);
  for (int i = 0; i < (int)s->cross.rows; i++) any = any || (s->cross.data[i] != 0 && s->axes[axis] != 0);
  for (int kind = 0; kind < DIFFUSION_KINDS && p->rates; kind++)
    any = any || (diffusion_has_kind(p, field, kind) && diffusion_takes(p->rates, diffusion_input(p, field, kind)));
  for (int d = 0; d < (int)p->derived.count; d++)
    any = any || diffusion_symbol_parts(p->derived.items[d].expr, field) != DIFFUSION_ABSENT;
  return any;
}

void diffusion_say_idle(const diffusion_parameters *p) {
  for (int i = 0; i < 6 * (int)p->fields.count; i++) {
    const int field = i / 6, end = i % 6;
    const diffusion_field *s = diffusion_field_of(p, field);
    const diffusion_side *side = &s->sides[end];
    if (!side->given || side->slope == 0 || matters(p, field, end / 2)) continue;
    sim_log(SIM_LOG_WARN,
            "fields[%d].sides.%s has no effect: nothing spreads %s along %c, because its D, hyper and linear are 0 "
            "there, and no rate takes its derivatives",
            field + 1, diffusion_side_names[end], s->name, "xyz"[end / 2]);
  }
}
