#!/usr/bin/env bash
# expect: 80 the implicit equations of rodas3 at step
cat >s.lua <<'LUA'
return sim.diffusion { -- a front that moves over several cells in a step
  grid      = { n = {128, 128}, size = {8, 8} },
  fields    = { { name = "u", initial = function(x, y) return sim.max(1 - (x - 4)^2 - (y - 4)^2, 0) end } },
  flux      = function(u, u_x, u_y) return -sim.max(u, 0)*u_x, -sim.max(u, 0)*u_y end,
  integrate = { scheme = "rodas3", dt = 0.05, t_end = 1 },
}
LUA
exec "$SIM" run s.lua --device cpu
