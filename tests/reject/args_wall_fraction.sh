#!/usr/bin/env bash
# expect: 64 --wall '0.3': expected a time greater than 0 as HH:MM:SS, D-HH:MM:SS, MM:SS or an integer number of seconds
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --wall 0.3
