#!/usr/bin/env bash
# expect: 66 s.out
. "${BASH_SOURCE[0]%/*}/small.bash"
make_run
rm "${checkpoints[@]}"
exec "$SIM" resume s.out
