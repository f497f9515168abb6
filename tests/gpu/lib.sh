# Sourced by the tests that run the whole program on a GPU. CUDA says whether this build has GPU code.
# shellcheck shell=bash
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"

# Skips where there is no GPU that this build can use.
need_gpu() {
  scenario probe.lua
  local code=0
  "$SIM" check probe.lua --device cuda >output 2>&1 || code=$?
  [ "$code" != 69 ] || skip "$(tail -n 1 output)"
  [ "$code" = 0 ] || fail "exit $code from sim check --device cuda"
}
