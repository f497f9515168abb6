#!/usr/bin/env bash
# expect: 80 bodies.c_cd exceeds the range of double precision at t = 
cat >s.lua <<'LUA'
return sim.fluid {
  grid         = { n = {16, 12}, size = {1.6, 1.2} }, viscosity = 0.05, speed = 1,
  acceleration = {0.5, 0},
  bodies       = { sim.cylinder { name = "c", point = {0.8, 0.6, 0}, radius = 0.2, reference = { area = 0.4, length = 0.3, speed = 1e-300 } } },
  integrate    = { t_end = 0.2 }, output = { tables = "every 0.1" },
}
LUA
exec "$SIM" run s.lua --device cpu
