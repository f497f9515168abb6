#!/usr/bin/env bash
# expect: 64 sim run does not take --at
. "${BASH_SOURCE[0]%/*}/function.bash"
exec "$SIM" run s.lua --at x=1,y=1
