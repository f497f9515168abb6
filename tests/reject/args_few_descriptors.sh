#!/usr/bin/env bash
# expect: 74 open files
. "${BASH_SOURCE[0]%/*}/small.bash"
# One file at a time beside stdin, stdout and stderr: enough to be loaded, not to run.
for inherited in 3 4 5 6 7 8 9; do eval "exec $inherited>&-"; done
ulimit -n 4
exec "$SIM" run s.lua
