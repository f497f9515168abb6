#!/usr/bin/env bash
# expect: 80 rings.toomre_q exceeds the range of double precision at t = 0
cat >s.lua <<'LUA'
return sim.collision {
  box          = { size = {2, 2, 2}, origin = {-1, -1, -1}, z_low = "open", z_high = "open" },
  hill         = { omega = 1.5 },
  self_gravity = { G = 5e-324 },
  grains       = { { radius = 0.1, position = {0.1, 0.2, 0.11}, velocity = {0.1, 0, 0} }, { radius = 0.1, position = {0.1, 0.2, 0.35} } },
  contact      = { contact_time = 0.02 },
  integrate    = { dt = 1e-3, t_end = 0.05 },
}
LUA
exec "$SIM" run s.lua --device cpu
