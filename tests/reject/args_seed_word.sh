#!/usr/bin/env bash
# expect: 64 --seed
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --seed x
