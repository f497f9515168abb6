#!/usr/bin/env bash
# expect: 64 --frobnicate
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --frobnicate
