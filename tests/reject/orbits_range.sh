#!/usr/bin/env bash
# expect: 80 orbits: the elements of p are out of the range of double precision
cat >s.lua <<'LUA'
return sim.nbody {
  bodies    = { { species = "sun", mass = 1.5 }, { species = "p", mass = 0.01, position = {1.25, 0.1, 0.2}, velocity = {0.1, 1, 0.2} } },
  gravity   = { G = 1e-300 },
  orbits    = "sun",
  integrate = { scheme = "yoshida4", dt = 0.01, t_end = 1 },
}
LUA
exec "$SIM" run s.lua --device cpu
