#!/usr/bin/env bash
# expect: 78 s.out
. "${BASH_SOURCE[0]%/*}/small.bash"
make_run
for file in "${checkpoints[@]}"; do dd if=/dev/zero of="$file" bs=512 seek=4 count=1 conv=notrunc status=none; done
exec "$SIM" resume s.out
