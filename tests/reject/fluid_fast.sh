#!/usr/bin/env bash
# expect: 80 Mach number 0.502, in cell {0, 0, 0}, at x = 0.5, y = 0.5, z = 0, step 29, t = 29
cat >s.lua <<'LUA'
return sim.fluid {
  grid = { n = {32, 8}, size = {32, 8} }, viscosity = 0.1, speed = 0.1, acceleration = {0.01, 0},
  integrate = { dt = 1, t_end = 1000 } }
LUA
exec "$SIM" s.lua
