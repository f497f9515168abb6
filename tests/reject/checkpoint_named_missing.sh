#!/usr/bin/env bash
# expect: 66 absent.h5
. "${BASH_SOURCE[0]%/*}/small.bash"
make_run
exec "$SIM" run s.lua --resume=absent.h5
