#!/usr/bin/env bash
# expect: 64 --set
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --set
