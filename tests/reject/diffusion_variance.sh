#!/usr/bin/env bash
# expect: 80 sums or squares of the field u exceed the range of double precision at t = 0: its values lie between
cat >s.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.1, initial = function(x, y) return 1e200 * math.sin(6.28 * x) end } },
  integrate = { dt = 1e-2, t_end = 0.5 },
  output    = { tables = "every 0.1" },
}
LUA
exec "$SIM" run s.lua
