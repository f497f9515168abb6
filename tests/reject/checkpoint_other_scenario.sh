#!/usr/bin/env bash
# expect: 78 another scenario
. "${BASH_SOURCE[0]%/*}/small.bash"
# Another scenario does not go on from here.
make_run
sed -i "s/n = 16/n = 17/" s.lua
exec "$SIM" run s.lua --resume
