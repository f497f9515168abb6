#!/usr/bin/env bash
# Every example is a valid scenario, and begins to run on one thread: a tenth of a second of it, or all. Those whose first
# step takes seconds run with fewer paths, also of rules, bodies, grains or shares; they are checked as they are.
. "${BASH_SOURCE[0]%/*}/lib.sh"
cp -r -- "${ROOT:?the source tree}/scenarios" "$ROOT/data" .
[ -f scenarios/galaxy.lua ] || fail "no scenarios"
for file in scenarios/*.lua; do
  name=$(basename "$file" .lua)
  expect 0 "no faults" "$SIM" check "$file"
  sed -E '/particles/! s/2\^(1[3-9]|2[0-9])\>/2^11/g; /fit_paths/! s/sim\.american \{/& fit_paths = 2^11,/; s/"n", 32, "bodies/"n", 12, "bodies/;
    s/"n", 1000000, "grains/"n", 10000, "grains/; s/"assets", 3, "shares/"assets", 2, "shares/; s/"steps", 60,/"steps", 12,/' \
    "$file" >"scenarios/$name.short"
  code=0
  brief "$SIM" run "scenarios/$name.short" -o "$name" --threads 1 || code=$?
  [ "$code" = 0 ] || [ "$code" = 75 ] || fail "$file: exit $code"
  ! grep -q "does not resolve" output || fail "$file: its grid is too coarse"
  [[ $(digest "$name") =~ ^[0-9a-f]{32}$ ]] || fail "$file: no digest"
done
