#!/usr/bin/env bash
# Every example is a valid scenario, and begins to run: a third of a second of it, or all.
. "${BASH_SOURCE[0]%/*}/lib.sh"
cp -r -- "${ROOT:?the source tree}/scenarios" "$ROOT/data" .
[ -f scenarios/galaxy.lua ] || fail "no scenarios"
for file in scenarios/*.lua; do
  name=$(basename "$file" .lua)
  expect 0 "no faults" "$SIM" check "$file"
  code=0
  brief "$SIM" run "$file" -o "$name" || code=$?
  [ "$code" = 0 ] || [ "$code" = 75 ] || fail "$file: exit $code"
  ! grep -q "does not resolve" output || fail "$file: its grid is too coarse"
  [[ $(digest "$name") =~ ^[0-9a-f]{32}$ ]] || fail "$file: no digest"
done
