#!/usr/bin/env bash
# expect: 73 link
. "${BASH_SOURCE[0]%/*}/small.bash"
ln -s nowhere link
exec "$SIM" run s.lua -o link
