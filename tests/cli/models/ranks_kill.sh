#!/usr/bin/env bash
# ranks_kill.sh COUNT: one rank of three, of a field, of a gas and of a bed with friction, is killed at COUNT random
# moments each; kills that come after a run's end are made again. The run ends with exit 82 and leaves no lock; it is resumed on another number of ranks, and then has the
# digest, tables and snapshots of a calm run on one. SEED repeats a sequence.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"
. "${BASH_SOURCE[0]%/*}/grains_lib.sh"
. "${BASH_SOURCE[0]%/*}/../ranks_fail_lib.sh"
count=${1:?how often a rank is killed}
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
echo "seed $seed"
export CUDA_VISIBLE_DEVICES='' OMP_WAIT_POLICY=passive

cat >field.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {24, 20, 14}, size = {1, 2, 1.5}, z = "no_flux" },
  fields    = { { name = "u", D = 0.02, noise = 0.1, initial = function(x, y, z) return math.sin(2 * math.pi * x) end },
                { name = "v", D = 0.01, initial = function(x, y) return 0.1 * math.cos(math.pi * y) end } },
  rates     = function(u, v) return u - u^3 - v, 0.1 * u - v end,
  integrate = { scheme = "etdrk2", dt = 1e-3, t_end = 0.2 },
  output    = { snapshots = "every 50 steps", tables = "every 5 steps", checkpoint = "every 10 steps" },
}
LUA
for scenario in "field.lua" "grains.lua --set case=gas --set n=400 --set steps=300" "grains.lua --set case=bed --set steps=150"; do
  read -ra words <<<"$scenario"
  run=("$SIM" run "${words[@]}" --threads 1 --force)
  rm -rf calm
  expect 0 "" "${run[@]}" -o calm
  begin=$(seconds)
  expect 0 "" "${run[@]}" -o run --ranks 3
  whole=$(awk -v from="$begin" -v to="$(seconds)" 'BEGIN { print to - from }')
  equal calm run "$scenario on 3 ranks"
  met=0 resumed=0
  for ((i = 1; met < count; i++)); do
    ((i <= 10 * count)) || fail "$scenario: $met of $((i - 1)) kills met a run"
    rm -rf run
    wait=$(awk -v r="$RANDOM" -v whole="$whole" 'BEGIN { printf "%.4f", r / 32768 * whole }')
    victim=$((RANDOM % 3)) ranks=$((1 + RANDOM % 4))
    what="$scenario, kill $i of rank $victim after $wait s, then $ranks ranks, seed $seed"
    "${run[@]}" -o run --ranks 3 >output 2>&1 &
    pid=$!
    sleep "$wait"
    rank=$(rank_of "$pid" $victim)
    begin=$(seconds)
    [ -z "$rank" ] || kill -s KILL "$rank" 2>/dev/null || true
    code=0
    wait "$pid" || code=$?
    within 35 "$begin" "$what"
    [ "$code" = 0 ] || [ "$code" = 82 ] || fail "$what: exit $code, not 82"
    no_lock run "$what"
    if [ "$code" = 82 ]; then
      met=$((met + 1))
      if [ -d run ] && has_checkpoint run; then resumed=$((resumed + 1)); fi
      expect 0 "" "$SIM" run "${words[@]}" --threads 1 -o run --ranks $ranks --resume=auto
    fi
    equal calm run "$what"
  done
  echo "$scenario: $met of $((i - 1)) kills met a run, $resumed of them one with a checkpoint"
done
