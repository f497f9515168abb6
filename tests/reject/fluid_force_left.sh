#!/usr/bin/env bash
# expect: 80 force: is not finite, or jumps with the velocity so that a step has no solution, at x = 0.5
cat >s.lua <<'LUA'
return sim.fluid {
  grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 0.1,
  force = function(t) return 1e-7 * math.sqrt((t - 100)^2 - 0.5), 0 end,
  integrate = { dt = 1, t_end = 1000 } }
LUA
exec "$SIM" s.lua
