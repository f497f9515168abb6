#!/usr/bin/env bash
# expect: 64 --wall
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --wall -00:00:01
