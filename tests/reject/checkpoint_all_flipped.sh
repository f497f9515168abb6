#!/usr/bin/env bash
# expect: 78 s.out
. "${BASH_SOURCE[0]%/*}/small.bash"
make_run
# A byte in the middle becomes another one.
for file in "${checkpoints[@]}"; do
  at=$(($(stat -c %s "$file") / 2))
  byte=$(od -An -tu1 -j "$at" -N 1 "$file")
  overwrite "$file" "$at" "\\x$(printf %02x $((byte ^ 1)))"
done
exec "$SIM" resume s.out
