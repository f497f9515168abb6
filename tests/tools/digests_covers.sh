#!/usr/bin/env bash
# digests.sh covers every scenario, and its lines are digests.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
script=$(cd -- "$OLDPWD" && cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/digests.sh
bash "$script" "$SIM" --check >output 2>&1 || fail "a scenario that digests.sh cannot ask"
bash "$script" "$SIM" kepler fisher drum european >lines || fail "digests.sh"
[ "$(wc -l <lines)" = 12 ] || fail "not a line for each precision: $(cat lines)"
! grep -vE '^[a-z_]+ +(single|mixed|double) +([0-9a-f]{32}|refused)$' lines || fail "a line is no digest"
for name in kepler fisher drum european; do
  grep -qE "^$name .* double +[0-9a-f]{32}$" lines || fail "no digest of $name"
done
