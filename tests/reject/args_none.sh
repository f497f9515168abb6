#!/usr/bin/env bash
# expect: 64 scenario
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM"
