#!/usr/bin/env bash
# expect: 64 cuda:x
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run s.lua --device cuda:x
