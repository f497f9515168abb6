#!/usr/bin/env bash
# expect: 71 are free
. "${BASH_SOURCE[0]%/*}/small.bash"
if grep -qa __asan_init "$SIM" || grep -qa __tsan_init "$SIM"; then
  echo "a sanitizer needs more address space than that" >&2
  exit 125
fi
# 100 MB of address space and a state that does not fit.
sed -i "s/n = 16/n = 1000000/" s.lua
ulimit -v 100000
exec "$SIM" run s.lua
