#!/usr/bin/env bash
# expect: 73 snap
. "${BASH_SOURCE[0]%/*}/small.bash"
mkdir s.out
echo mine >s.out/snap
exec "$SIM" run s.lua --force
