#!/usr/bin/env bash
# expect: 80 a shorter step (a lower `mach`) if a grain meets a wall
cat >s.lua <<'LUA'
return sim.fluid {
  grid = { n = {24, 24, 16}, size = {24, 24, 16}, z = "wall" }, viscosity = 0.1, speed = 0.15,
  grains = { { radius = 3.3, position = {12.3, 12.1, 4.6}, velocity = {0, 0, -0.14}, density = 8 } },
  contact = { contact_time = 20 }, integrate = { dt = 1, t_end = 30 } }
LUA
exec "$SIM" s.lua
