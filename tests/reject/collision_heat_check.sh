#!/usr/bin/env bash
# expect: 65 heat.conductivity: grains would give away their heat within a step: integrate.dt of at most 0.000
cat >s.lua <<'LUA'
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5}, density = 1 }, { radius = 0.06, position = {2, 2, 2}, density = 1000 } },
  contact   = { contact_time = 0.1 },
  heat      = { conductivity = 275, capacity = 1 },
  integrate = { dt = 1e-3, t_end = 1 },
}
LUA
exec "$SIM" check s.lua
