#!/usr/bin/env bash
# expect: 65 thermostat: nose_hoover scales velocities, and all are 0: expected a temperature of the start
cat >s.lua <<'LUA'
return sim.nbody {
  bodies = { sim.lattice { cells = 4 } }, box = { size = 6.8 }, cutoff = 2.5,
  pair = function(r2) return 4 * (1 / r2^6 - 1 / r2^3) end,
  thermostat = { kind = "nose_hoover", temperature = 1, time = 0.5 }, integrate = { dt = 0.005, t_end = 1 },
}
LUA
exec "$SIM" run s.lua
