#!/usr/bin/env bash
# h5dump opens every file of a run.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
command -v h5dump >/dev/null || skip "no h5dump"
scenario s.lua
expect 0 "" "$SIM" run s.lua
[ "$(checkpoints s.out | wc -l)" = 3 ] || fail "not three checkpoints"
for file in s.out/ckpt/*.h5 s.out/snap/*.h5 s.out/tables.h5; do
  expect 0 DATASET h5dump "$file"
  if grep -qi 'unable to' output; then fail "h5dump reads $file only in part"; fi
done
