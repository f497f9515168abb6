#!/usr/bin/env bash
# expect: 66 aaaa
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" run "$(printf "%04096d" 0 | tr 0 a).lua"
