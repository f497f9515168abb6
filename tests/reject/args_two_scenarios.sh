#!/usr/bin/env bash
# expect: 64 other.lua
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua other.lua
