#!/usr/bin/env bash
# expect: 78 snap_
. "${BASH_SOURCE[0]%/*}/small.bash"
make_run
exec "$SIM" run s.lua --resume="$(find s.out/snap -name "snap_*.h5" | sort | tail -n 1)"
