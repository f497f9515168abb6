#!/usr/bin/env bash
# expect: 65 or its rate, exceeds the range of double precision; the heaviest body is 0 of mass 6.25e+298
cat >s.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1e300, radius = 1e-300 } },
  gravity   = { softening = 0 },
  integrate = { dt = 0.1, t_end = 1 },
}
LUA
exec "$SIM" run s.lua
