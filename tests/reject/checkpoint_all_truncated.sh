#!/usr/bin/env bash
# expect: 78 s.out
. "${BASH_SOURCE[0]%/*}/small.bash"
make_run
for file in "${checkpoints[@]}"; do truncate -s -1 "$file"; done
exec "$SIM" resume s.out
