#!/usr/bin/env bash
# expect: 80 the density is
cat >s.lua <<'LUA'
return sim.fluid {
  grid      = { n = {20, 14}, size = {2.0, 1.4}, y = "wall" },
  viscosity = 0.05, speed = 1, acceleration = {1e300, 0},
  integrate = { t_end = 0.3 },
}
LUA
exec "$SIM" run s.lua
