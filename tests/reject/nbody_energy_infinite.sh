#!/usr/bin/env bash
# expect: 80 the energy is not finite at step 1, t = 0.001: use other units
cat >s.lua <<'LUA'
return sim.nbody {
  gravity   = { G = 1e300, softening = 0.1, solver = "fmm" },
  bodies    = { sim.plummer { n = 2000, mass = 1, radius = 1 } },
  integrate = { dt = 1e-3, t_end = 5e-3 },
  output    = { tables = "every 0.001" },
}
LUA
exec "$SIM" run s.lua
