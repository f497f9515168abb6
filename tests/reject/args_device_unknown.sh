#!/usr/bin/env bash
# expect: 64 99
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --device 99
