#!/usr/bin/env bash
# expect: 80 the solution grows by a rate of up to
cat >s.lua <<'LUA'
return sim.diffusion { -- diffusion backwards in time
  grid      = { n = {64}, size = {1} },
  fields    = { { name = "u", noise = 0.01, initial = 1 } },
  flux      = function(u, u_x, x) return (1 + 0.9 * math.sin(2 * math.pi * x)) * u^3 * u_x end,
  integrate = { scheme = "rodas3", dt = 1e-3, t_end = 1 },
}
LUA
exec "$SIM" run s.lua --device cpu
