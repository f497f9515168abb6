#!/usr/bin/env bash
# expect: 64 sim run does not take --at
cat >s.lua <<'LUA'
return sim.nbody {
  external  = function(x, y) return 0.5*x^2 + y end,
  bodies    = { sim.plummer { n = 10, mass = 1, radius = 1 } },
  integrate = { dt = 1/64, t_end = 1 },
}
LUA
exec "$SIM" run s.lua --at x=1,y=1
