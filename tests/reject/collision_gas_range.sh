#!/usr/bin/env bash
# expect: 80 gas.pressure exceeds the range of double precision at t = 0: grain 0 (id, from 0) has the mass
cat >s.lua <<'LUA'
return sim.collision {
  box       = { size = {1e-90, 1e-90, 1e-90}, boundary = "open" },
  grains    = { { radius = 1e-91, position = {5e-91, 5e-91, 5e-91}, density = 1e280, velocity = {1e60, 0, 0} },
                { radius = 1e-91, position = {1e-91, 1e-91, 1e-91}, density = 1e280 } },
  contact   = { law = "linear", stiffness = 1e-50 },
  integrate = { dt = 1e-160, t_end = 1e-158 },
}
LUA
exec "$SIM" run s.lua
