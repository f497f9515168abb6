#!/usr/bin/env bash
# expect: 64 --threads
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --threads 0
