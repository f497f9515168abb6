#!/usr/bin/env bash
# expect: 80 the steps have been
cat >s.lua <<'LUA'
return sim.diffusion {
  grid       = { n = {16, 16}, size = {6.3, 6.2} },
  solenoidal = "u, v",
  fields     = { { name = "u", D = 0.05, noise = 1e150 }, { name = "v", D = 0.05, noise = 0.1 } },
  rates      = function(u, v, u_x, u_y, v_x, v_y) return -u * u_x - v * u_y, -u * v_x - v * v_y end,
  integrate  = { scheme = "etdrk4", dt = "auto", courant = 0.4, velocity = "u, v", t_end = 0.2, dealias = true },
}
LUA
exec "$SIM" run s.lua --device cpu
