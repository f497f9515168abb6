#!/usr/bin/env bash
# Planted faults in a kernel: each shows, by another sum or an end of the program, in some order of the threads.
set -euo pipefail
: "${FAULTS:?the program emulated_faults}"
orders=(forward backward 1 2)

# sums CASE: what the program prints in each order; an end by a fault is a line of its own.
sums() {
  local order
  for order in "${orders[@]}"; do
    (SIM_EMULATED_ORDER=$order "$FAULTS" "$1" || echo "ended with $?") 2>/dev/null
  done | sort -u
}

right=$(sums none)
[[ $right == sum\ * && $(wc -l <<<"$right") == 1 ]] || { echo "without a fault: $right" && exit 1; }
for fault in no_barrier beyond unwritten no_wait diverged; do
  seen=$(sums $fault)
  [ "$seen" != "$right" ] || { echo "$fault is not seen" && exit 1; }
  echo "$fault: $(tr '\n' ';' <<<"$seen")"
done
