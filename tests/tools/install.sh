#!/usr/bin/env bash
# An installed tree may be moved, and needs neither the sources nor the build folder.
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd)
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"

expect 0 "" cmake --install "${BUILD:?}" --strip --prefix "$scratch/first" # debugging notes name sources, rightly
mv first second
[ -x second/bin/sim ] || fail "no bin/sim"
ls second/share/sim/scenarios/*.lua >/dev/null || fail "no scenarios"
if command -v readelf >/dev/null && readelf -d second/bin/sim | grep -E 'R(UN)?PATH' | grep -qF "$root"; then
  fail "bin/sim looks for libraries in the source tree"
fi
# A sanitizer names the sources in its reports, and GPU code in its line tables for profilers: rightly.
if ! grep -qaE '__(asan|tsan)_init|nv_fatbin' second/bin/sim && grep -qaF "$root/" second/bin/sim; then
  fail "bin/sim names the source tree"
fi
scenario s.lua
expect 0 "" env -i "$scratch/second/bin/sim" run s.lua
[ "$(key state s.out)" = done ] || fail "state"
