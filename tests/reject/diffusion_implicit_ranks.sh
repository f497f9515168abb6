#!/usr/bin/env bash
# expect: 64 --ranks 2: integrate.scheme = "rodas3" runs on one rank only, with any number of threads
cat >s.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", noise = 1 } },
  flux      = function(u_x, u_y, x) return -x * u_x, -x * u_y end,
  integrate = { scheme = "rodas3", dt = 0.1, t_end = 1 },
}
LUA
exec "$SIM" run s.lua --device cpu --ranks 2
