#!/usr/bin/env bash
# expect: 66 there
. "${BASH_SOURCE[0]%/*}/small.bash"
mkdir there
exec "$SIM" resume there
