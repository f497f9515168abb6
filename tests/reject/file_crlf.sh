#!/usr/bin/env bash
# expect: 65 s.lua:5: typo: unknown key
# Lines that end as on Windows are accepted, and counted: the fault is farther down.
sed 's/$/\r/' >s.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 1/8, t_end = 1 },
  typo      = 1,
}
LUA
exec "$SIM" s.lua
