#!/usr/bin/env bash
# expect: 64 --at: x is given twice
. "${BASH_SOURCE[0]%/*}/function.bash"
exec "$SIM" check s.lua --at x=1,x=2
