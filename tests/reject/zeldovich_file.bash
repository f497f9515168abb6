# Runs a scenario whose spectrum is in power.txt, which the case has written.
# shellcheck shell=bash
. "${BASH_SOURCE[0]%/*}/small.bash"
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
