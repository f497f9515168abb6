#!/usr/bin/env bash
# expect: 78 ck_000000000008.h5
. "${BASH_SOURCE[0]%/*}/small.bash"
make_run
truncate -s 1000 "${checkpoints[2]}"
exec "$SIM" run s.lua --resume="${checkpoints[2]}"
