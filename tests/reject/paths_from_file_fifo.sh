#!/usr/bin/env bash
# expect: 66 regular file
. "${BASH_SOURCE[0]%/*}/small.bash"
mkfifo pipe
cat >f.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.from_file { path = "pipe" } },
  integrate = { dt = 1/64, t_end = 1/8 },
}
LUA
exec "$SIM" run f.lua
