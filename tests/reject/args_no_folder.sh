#!/usr/bin/env bash
# expect: 64 resume
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" resume
