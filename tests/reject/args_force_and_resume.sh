#!/usr/bin/env bash
# expect: 64 --force
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --force --resume
