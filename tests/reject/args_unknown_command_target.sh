#!/usr/bin/env bash
# expect: 64 nearest is 'batch'
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" bacth s.lua
