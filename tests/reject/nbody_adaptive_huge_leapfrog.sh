#!/usr/bin/env bash
# expect: 80 the adaptive steps have been
cat >s.lua <<'LUA'
return sim.nbody {
  bodies    = { { mass = 1e150 }, { mass = 1, position = {1, 0, 0}, velocity = {0, 1e75, 0} } },
  gravity   = { softening = 0.01 },
  integrate = { scheme = "leapfrog", dt = "adaptive", t_end = 1 },
}
LUA
exec "$SIM" run s.lua --device cpu
