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

# What a GPU cannot take is known before the run, which goes to the CPU where no device is named.
cat >many.lua <<'LUA'
local many, assets = sim.param("many", "paths", "of what there are many"), {}
for i = 1, 10 do assets[i] = { spot = 100, vol = 0.2 } end
local function squares(path)
  local sum = 0
  for k = 1, 250 do sum = sum + path.fixing[1][k]^2 end
  return sum
end
local own = many == "numbers"
return sim.option {
  assets   = own and { assets[1] } or assets, rate = 0.05, maturity = 1, steps = 250, precision = "double",
  payoff   = own and squares or nil,
  payoffs  = not own and { sim.american { on = "basket", strike = 100, every = 50, fit_paths = 2^12 } } or nil,
  greeks   = { gamma = true, cross_gamma = not own, method = "bump" },
  sampling = { paths = 2^12, antithetic = true },
}
LUA
expect 69 "Greeks and ladders by more than 128 paths of the same random numbers are not on cuda" \
  "$SIM" check many.lua --device cuda
expect 0 "on the CPU: Greeks and ladders by more than 128 paths of the same random numbers are not on a GPU" \
  "$SIM" check many.lua
expect 69 "results that together see more than 256 numbers of a path are not on cuda" \
  "$SIM" check many.lua --device cuda --set many=numbers
