#!/usr/bin/env bash
# Digests of every scenario in every precision that it takes, after the first part of its run: what a change of the code
# alone must leave as it is.
#   digests.sh SIM [--device cpu|cuda] [SCENARIO...]      names without .lua; all when none is given
#   digests.sh SIM --check [SCENARIO...]                  runs nothing: whether each scenario can be asked so
# One line each: scenario, precision, digest; "refused" where the model has no such precision. The same for another
# binary, then diff.
set -euo pipefail
sim=$(readlink -f -- "${1:?the sim binary}")
shift
device=cpu check=
if [ "${1:-}" = --check ]; then check=1 && shift; fi
if [ "${1:-}" = --device ]; then device=$2 && shift 2; fi
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r -- "$root/scenarios" "$root/data" "$scratch"
cd -- "$scratch/scenarios"

# part SCENARIO: the part of t_end that is run, and parameters; seconds on one core.
part() {
  case $1 in
    million_spheres) printf '0.002 --set n=20000' ;;
    galaxy | merger) printf '0.005 --set n=400' ;;
    dense_cores) printf '1 --set n=400' ;;
    plummer | cold_collapse) printf '0.03 --set n=1000' ;;
    restricted_three_body | gray_scott | cahn_hilliard | scroll_ring) printf 0.01 ;;
    heat) printf 1 ;;
    convection) printf 0.02 ;;
    lennard_jones | shear | solar_system | ring | ginzburg_landau) printf 0.05 ;;
    pythagorean) printf 0.02 ;;
    multilevel) printf '1 --set error=0.1' ;;
    wake) printf '0.1 --set from=1' ;;
    *) printf 0.1 ;;
  esac
}

if (($# == 0)); then
  set -- *.lua
  set -- "${@%.lua}"
fi
for name; do
  read -r factor rest <<<"$(part "$name")"
  read -r -a set <<<"$rest"
  # options: 2^15 paths
  sed -E -e "/integrate/s/t_end = ([^,}]*[^,} ])( *[,}])/t_end = (\1) * $factor\2/" -e 's/(paths = |"paths", )2\^[0-9]+/\12^15/' \
    -e '/^ *precision *=/d' -e 's/^return sim\.([a-z]+) \{/&\n  precision = sim.param("digest_precision", "double", "of digests.sh"),/' \
    "$name.lua" >"digest_$name.lua"
  if [ "$check" ]; then
    grep -qE 't_end = \(.*\) \* [0-9.]+|(paths = |"paths", )2\^15' "digest_$name.lua" || [ ${#set[@]} -gt 0 ] ||
      { echo "$name: is not shortened" && exit 1; }
    "$sim" check "digest_$name.lua" ${set[@]+"${set[@]}"} --set digest_precision=double >log 2>&1 ||
      { echo "$name: cannot be asked for a precision" && cat log && exit 1; }
    continue
  fi
  for precision in single mixed double; do
    code=0
    "$sim" run "digest_$name.lua" ${set[@]+"${set[@]}"} --set "digest_precision=$precision" --device "$device" -q \
      -o "out_${name}_$precision" >log 2>&1 || code=$?
    case $code in
      0) digest=$(sed -n 's/.*"digest": *"\([0-9a-f]*\)".*/\1/p' "out_${name}_$precision/status.json") ;;
      65) digest=refused ;;
      *)
        cat log >&2
        digest="exit $code"
        ;;
    esac
    printf '%-24s %-6s %s\n' "$name" "$precision" "$digest"
    rm -rf "out_${name}_$precision"
  done
done
