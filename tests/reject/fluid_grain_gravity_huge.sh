#!/usr/bin/env bash
# expect: 80 grain 0 (id, from 0) is too fast: its velocity is {0, 0, -2.14e+296}
cat >s.lua <<'LUA'
return sim.fluid {
  grid      = { n = {14, 14, 20}, size = {1.4, 1.4, 2.0}, z = "wall" },
  viscosity = 0.05, density = 1, speed = 0.5, gravity = {0, 0, -1e300}, drag = "di_felice",
  grains    = { { radius = 0.05, position = {0.7, 0.7, 0.6}, density = 2.5 } },
  contact   = { contact_time = 0.05, restitution = 0.7 },
  integrate = { t_end = 0.3 },
}
LUA
exec "$SIM" run s.lua
