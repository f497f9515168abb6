#!/usr/bin/env bash
# expect: 73 longer
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua -o "$(printf "%04096d" 0 | tr 0 a)"
