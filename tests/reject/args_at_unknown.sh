#!/usr/bin/env bash
# expect: 64 --at: no function takes q, expected x, y
. "${BASH_SOURCE[0]%/*}/function.bash"
exec "$SIM" check s.lua --at x=1,y=2,q=3
