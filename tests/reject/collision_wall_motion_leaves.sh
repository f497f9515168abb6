#!/usr/bin/env bash
# expect: 65 walls[1]: `motion` has moved the wall by -0.28
cat >s.lua <<'LUA'
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "periodic" },
  grains    = { { radius = 0.02, position = {0.1, 0.1, 0.1} } },
  walls     = { sim.block { low = {0.3, 0.3, 0.3}, high = {0.5, 0.5, 0.5}, motion = function(t) return -0.29, 0, 0 end } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 1 },
}
LUA
exec "$SIM" run s.lua -o out --device cpu
