#!/usr/bin/env bash
# expect: 0 ck_000000000008.h5
. "${BASH_SOURCE[0]%/*}/small.bash"
# The one before is taken, and it is said.
make_run
truncate -s -1 "${checkpoints[2]}"
exec "$SIM" resume s.out
