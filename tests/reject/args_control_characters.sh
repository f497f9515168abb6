#!/usr/bin/env bash
# expect: 66 \x1b
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" $'\e[31mred'
