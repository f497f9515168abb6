#!/usr/bin/env bash
# `sim check --device cuda` of each shipped scenario on the stand-in for the runtime: the plan of a run on a GPU is made on
# the host, from any scenario, and is all that a machine without a GPU can see of it.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
export FAKE_DEVICES=1
scenarios=("${BASH_SOURCE[0]%/*}"/../../scenarios/*.lua)
[ ${#scenarios[@]} -gt 50 ] || fail "no scenarios"
for scenario in "${scenarios[@]}"; do
  status=0
  "$SIM" check "$scenario" --device cuda >output 2>&1 || status=$?
  # 69: not on a GPU. A kernel that asks the toolkit's own functions for their memory finds others in the stand-in.
  case $status in
    0) grep -q "^GPU memory" output || fail "$scenario: no plan" ;;
    69) grep -q "not on cuda: use --device cpu" output || fail "$scenario: $(tail -n 1 output)" ;;
    81) grep -q "SortPairs (size): other text" output || fail "$scenario: $(tail -n 1 output)" ;;
    *) fail "$scenario: exit code $status: $(tail -n 1 output)" ;;
  esac
done
