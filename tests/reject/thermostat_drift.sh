#!/usr/bin/env bash
# expect: 65 thermostat: nose_hoover would count the motion of the centre of mass, 1 of the kinetic energy, as heat
cat >s.lua <<'LUA'
return sim.nbody {
  bodies = { sim.each(8, function(i) return { mass = 1, position = { i, i, i }, velocity = { 1, 0, 0 } } end) },
  box = { size = 9 }, cutoff = 2.5, pair = function(r2) return 4 * (1 / r2^6 - 1 / r2^3) end,
  thermostat = { kind = "nose_hoover", temperature = 1, time = 0.5 }, integrate = { dt = 0.005, t_end = 1 },
}
LUA
exec "$SIM" run s.lua
