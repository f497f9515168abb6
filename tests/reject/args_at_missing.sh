#!/usr/bin/env bash
# expect: 64 --at: values are missing: y for external
. "${BASH_SOURCE[0]%/*}/function.bash"
exec "$SIM" check s.lua --at x=1
