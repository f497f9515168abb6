#!/usr/bin/env bash
# expect: 73 there/out
. "${BASH_SOURCE[0]%/*}/small.bash"
echo mine >there
exec "$SIM" run s.lua -o there/out
