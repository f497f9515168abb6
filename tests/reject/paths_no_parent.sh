#!/usr/bin/env bash
# expect: 73 absent/out
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua -o absent/out
