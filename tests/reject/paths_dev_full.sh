#!/usr/bin/env bash
# expect: 73 /dev/full
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua -o /dev/full
