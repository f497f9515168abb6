#!/usr/bin/env bash
# expect: 80 energy.angular_momentum_z exceeds the range of double precision at step 0, t = 0
cat >s.lua <<'LUA'
return sim.nbody {
  bodies    = { { mass = 1, position = {1e300, 0, 0}, velocity = {0, 1e10, 0} }, { mass = 1 } },
  integrate = { dt = 1e-3, t_end = 1e-2 },
}
LUA
exec "$SIM" run s.lua
