#!/usr/bin/env bash
# expect: 80 contact.restitution_law: expected a coefficient above 0 and at most 1, got -0
cat >s.lua <<'LUA'
local radius = 1
return sim.collision {
  box       = { size = {100, 100, 100} },
  grains    = { { radius = radius, position = {20, 50, 50}, velocity = {3e4, 0, 0} },
                { radius = radius, position = {60, 50, 50} } },
  contact   = { contact_time = 0.05, restitution_law = function(speed) return 1 - speed / 2e4 end },
  integrate = { dt = 1e-5, t_end = 0.01 },
}
LUA
exec "$SIM" s.lua --device cpu
