#!/usr/bin/env bash
# expect: 80 grain 0 (id, from 0) is too fast: its velocity is {5e+04, 0, 0}
cat >s.lua <<'LUA'
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "periodic" },
  grains    = { { radius = 0.5, position = {2, 5, 5} } },
  gravity   = {1e8, 0, 0},
  contact   = { law = "linear", stiffness = 1000 },
  integrate = { dt = 1e-3, t_end = 1 },
}
LUA
exec "$SIM" run s.lua --device cpu
