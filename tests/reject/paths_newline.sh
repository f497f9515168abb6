#!/usr/bin/env bash
# expect: 73 \x0a
. "${BASH_SOURCE[0]%/*}/small.bash"
# The message stays one line.
touch $'a\nb'
exec "$SIM" run s.lua -o $'a\nb'
