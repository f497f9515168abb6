#!/usr/bin/env bash
# expect: 64 absent
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --set absent=1
