#!/usr/bin/env bash
# expect: 64 --at: expected NAME=NUMBER,NAME=NUMBER,..., got 'x'
. "${BASH_SOURCE[0]%/*}/function.bash"
exec "$SIM" check s.lua --at x
