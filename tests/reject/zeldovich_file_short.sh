#!/usr/bin/env bash
# expect: 65 power.txt:3: expected 2 finite numbers, column 2 is none
. "${BASH_SOURCE[0]%/*}/small.bash"
printf 'k,P\n0.01 1\n0.1\n' >power.txt
cat >f.lua <<'LUA'
return sim.nbody {
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8, power = "power.txt" } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
LUA
exec "$SIM" run f.lua
