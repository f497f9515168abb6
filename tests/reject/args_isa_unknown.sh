#!/usr/bin/env bash
# expect: 64 --isa
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --isa sse9
