#!/usr/bin/env bash
# expect: 64 quadruple
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --precision quadruple
