#!/usr/bin/env bash
# expect: 69 precision = "half" is not on cpu: use --device cuda
cat >s.lua <<'LUA'
return sim.fluid { precision = "half", collision = "trt",
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 } }
LUA
exec "$SIM" s.lua --device cpu
