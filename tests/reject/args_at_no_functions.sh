#!/usr/bin/env bash
# expect: 64 --at: the scenario has no functions
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" check s.lua --at x=1
