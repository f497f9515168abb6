#!/usr/bin/env bash
# expect: 66 absent
. "${BASH_SOURCE[0]%/*}/small.bash"
exec "$SIM" resume absent
