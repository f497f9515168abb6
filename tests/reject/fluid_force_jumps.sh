#!/usr/bin/env bash
# expect: 80 force: is not finite, or jumps with the velocity so that a step has no solution, at x = 
cat >s.lua <<'LUA'
return sim.fluid {
  grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 0.1,
  initial = function(x, y) return 0.01 * math.sin(math.pi * y / 8), 0 end,
  force = function(ux, uy) return -1e-3 * sim.sign(ux), 0 end,
  integrate = { dt = 1, t_end = 1000 } }
LUA
exec "$SIM" s.lua
