#!/usr/bin/env bash
# expect: 74 open files
. "${BASH_SOURCE[0]%/*}/small.bash"
# One file at a time beside stdin, stdout and stderr: enough to be loaded, not to run.
ulimit -n 4
exec "$SIM" run s.lua
