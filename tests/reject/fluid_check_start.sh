#!/usr/bin/env bash
# expect: 65 bodies[1]: no cell of the fluid touches it
cat >s.lua <<'LUA'
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.ball { point = {3, 0, 0}, radius = 0.2 } } }
LUA
exec "$SIM" check s.lua
