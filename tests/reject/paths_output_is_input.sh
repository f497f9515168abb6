#!/usr/bin/env bash
# expect: 73 s.lua
. "${BASH_SOURCE[0]%/*}/small.bash"
cp s.lua before
"$SIM" run s.lua -o s.lua --force
code=$?
cmp s.lua before || exit 97
exit "$code"
