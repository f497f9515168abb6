#!/usr/bin/env bash
# expect: 80 grain 0 (id, from 0) has passed a side of the box at t = 
cat >s.lua <<'LUA'
return sim.fluid {
  grid      = { n = {12, 12, 12}, size = {1.2, 1.2, 1.2}, boundary = "wall" },
  viscosity = 0.05, speed = 1, density = 1.5, gravity = {-1e150, 0, -0.5}, 
  grains    = { { radius = 0.31, position = {0.61, 0.59, 0.6}, density = 2.5, velocity = {0.1, 0, 0.2} } },
  contact   = { contact_time = 0.02, restitution = 0.7 },
  integrate = { t_end = 0.05 },
}
LUA
exec "$SIM" run s.lua --device cpu
