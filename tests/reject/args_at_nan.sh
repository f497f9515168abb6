#!/usr/bin/env bash
# expect: 64 --at: y: expected a finite number, got 'nan'
. "${BASH_SOURCE[0]%/*}/function.bash"
exec "$SIM" check s.lua --at x=1,y=nan
