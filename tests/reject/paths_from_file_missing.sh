#!/usr/bin/env bash
# expect: 66 absent.csv
. "${BASH_SOURCE[0]%/*}/small.bash"
cat >f.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.from_file { path = "absent.csv" } },
  integrate = { dt = 1/64, t_end = 1/8 },
}
LUA
exec "$SIM" run f.lua
