#!/usr/bin/env bash
# expect: 80 the viscosity is 0.0006
cat >s.lua <<'LUA'
return sim.fluid {
  grid = { n = {16, 64}, size = {16, 64}, boundary = "wall", x = "periodic" }, speed = 0.1,
  viscosity = function(shear) return 0.1 / (1 + (2e3 * shear)^2)^0.4999 end,
  sides = { y_low = { velocity = {-0.1, 0} }, y_high = { velocity = {0.1, 0} } },
  integrate = { dt = 1, t_end = 1000 } }
LUA
exec "$SIM" s.lua
