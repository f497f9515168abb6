/* Walls that have no effect. */
#include "kernels/diffusion/diffusion.h"

#include "engine/log.h"

/* Whether a function reads a derivative of a field. */
static bool reads_slopes(const diffusion_parameters *p, const sim_expr *function, int field) {
  bool any = false;
  for (int kind = 0; kind < DIFFUSION_KINDS && function; kind++)
    any = any || (diffusion_has_kind(p, field, kind) && diffusion_takes(function, diffusion_input(p, field, kind)));
  return any;
}

/* Whether a field's walls along an axis make any difference: its linear part or a flux spreads it there, its series is
 * cut, forced or written, or something reads its derivatives or a derived field of it. */
static bool matters(const diffusion_parameters *p, int field, int axis) {
  const diffusion_field *s = diffusion_field_of(p, field);
  bool any =
      s->hyper != 0 || s->linear || p->flux || (s->D != 0 && s->axes[axis] != 0) || (p->solenoidal && p->solenoidal[0]);
  for (int i = 0; i < (int)s->cross.rows; i++) any = any || (s->cross.data[i] != 0 && s->axes[axis] != 0);
  any = any || (p->rates && diffusion_dealias(&p->integrate) > 0) || diffusion_forced(p) >> field & 1 ||
        p->spectrum > 0 || p->transfer > 0 || reads_slopes(p, p->rates, field);
  for (size_t i = 0; i < p->observe.count; i++) any = any || reads_slopes(p, p->observe.items[i].expr, field);
  for (int d = 0; d < (int)p->derived.count; d++)
    any = any || diffusion_symbol_parts(p->derived.items[d].expr, field) != DIFFUSION_ABSENT;
  return any;
}

/* Whether rates, fluxes or `observe` take a derived field or its derivatives, or output.fields names it. */
static bool is_taken(const diffusion_parameters *p, int derived) {
  const int source = (int)p->fields.count + derived;
  bool any = diffusion_is_drawn(p, derived) || reads_slopes(p, p->rates, source) || reads_slopes(p, p->flux, source);
  for (size_t i = 0; i < p->observe.count; i++) any = any || reads_slopes(p, p->observe.items[i].expr, source);
  return any;
}

void diffusion_say_idle(const diffusion_parameters *p) {
  for (int d = 0; d < (int)p->derived.count; d++)
    if (!is_taken(p, d))
      sim_log(SIM_LOG_WARN,
              "derived.%s has no effect: neither rates nor flux nor observe take it, and output.fields lacks it",
              p->derived.items[d].name);
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
