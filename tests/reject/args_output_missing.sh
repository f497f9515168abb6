#!/usr/bin/env bash
# expect: 64 -o
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua -o
