#!/usr/bin/env bash
# expect: 64 --ranks 2: grains in a fluid run on one rank only
cat >s.lua <<'LUA'
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = 0.1, speed = 0.1, contact = { contact_time = 10 },
  grains = { { radius = 3.1, position = {8, 8, 8} } }, integrate = { t_end = 10 } }
LUA
exec "$SIM" s.lua --ranks 2
