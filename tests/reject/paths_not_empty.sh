#!/usr/bin/env bash
# expect: 73 --force
. "${BASH_SOURCE[0]%/*}/small.bash"
mkdir s.out
echo mine >s.out/mine
exec "$SIM" run s.lua
