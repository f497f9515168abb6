#!/usr/bin/env bash
# expect: 66 folder
. "${BASH_SOURCE[0]%/*}/small.bash"
mkdir there
cat >f.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.from_file { path = "there" } },
  integrate = { dt = 1/64, t_end = 1/8 },
}
LUA
exec "$SIM" run f.lua
