#!/usr/bin/env bash
# N-body on ranks: digest, tables, snapshots and checkpoints are the same for every number of ranks, with each
# integrator, precision, law and box, with individual and adaptive steps, and over restarts with other numbers. `long`:
# each of them with more numbers.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive

cat >bodies.lua <<'LUA'
local n      = sim.param("n", 2200, "bodies")
local scheme = sim.param("scheme", "leapfrog", "integrator")
local kind   = sim.param("kind", "double", "precision")
local step   = sim.param("step", "fixed", "fixed, adaptive or individual")
local law    = sim.param("law", "gravity", "gravity, pair, none or box")
local soft   = sim.param("soft", 0.05, "softening")
local steps  = sim.param("steps", 4, "steps of 1/64")
local integrate = { scheme = scheme, dt = 1/64, t_end = steps/64 }
-- Few steps: which rows of a table a checkpoint holds depends on the time that a long run takes.
if step == "adaptive" then integrate.dt, integrate.t_end = "adaptive", steps / (scheme == "hermite4" and 8192 or 64) end
if step == "individual" then integrate.steps, integrate.dt, integrate.levels = "individual", 1/32, 5 end
local scenario = {
  -- a light and a heavy group, and a body without mass
  bodies    = { sim.plummer { n = n // 2, mass = 1e-9, radius = 0.3, position = {3, 5, 5} },
                sim.plummer { n = n - n // 2, mass = 1, radius = 1, position = {5, 5, 5} },
                { mass = 0, position = {1, 2, 3} } },
  integrate = integrate, precision = kind,
  observe   = { moved = function(body) return body.mass * body.vx end },
  output    = { snapshots = "every 2 steps", tables = "every 1 steps", checkpoint = "every 1 steps" },
}
if law == "pair" then
  scenario.pair = function(r2) return -1 / sim.sqrt(r2 + 0.01) end
elseif law == "none" then
  scenario.pair_force = function(r2) return 0 end
  scenario.external = function(x, y, z, t) return 0.05 * ((x - 5)^2 + (y - 5)^2 + (z - 5)^2) * (1 + 0.5 * math.sin(t)) end
else
  scenario.gravity = { G = 1, softening = soft, solver = sim.param("solver", "direct", "solver") }
end
if law == "box" then scenario.box = { size = 10 } end
return sim.nbody(scenario)
LUA
run=("$SIM" run bodies.lua --threads 1 --force)

# ---- every number of ranks ----

all="2 3 4 7"
some=("7" "3" "4" "2" "3") # of ranks
if [ "${1:-short}" = long ]; then some=("$all" "3 4" "3 7" "2 3" "3 4"); fi
for kind in double mixed single; do
  divided "${some[0]}" kind=$kind
  divided "${some[1]}" kind=$kind scheme=hermite4 step=adaptive
  divided "${some[2]}" kind=$kind step=individual
  divided "${some[3]}" kind=$kind law=pair
  divided "${some[4]}" kind=$kind law=box n=400
done
divided "4 7" n=4096 kind=single
divided "$all" scheme=hermite4 # every number once
divided "2 7" scheme=hermite4 soft=0 step=adaptive
divided "4 7" scheme=yoshida4
divided "2 3" scheme=ias15 step=adaptive n=40 # a plain loop on each rank
divided "3" scheme=ias15 step=adaptive n=700 steps=1
divided "3" step=adaptive
divided "3 4" law=pair scheme=hermite4 step=adaptive
divided "3 7" law=box step=individual n=400
divided "2" law=none
divided "7 40" n=5 # fewer bodies than ranks
divided "7" n=60   # of one block
divided "3 7" n=2 law=pair
divided "7" n=5 law=box
divided "13 40" n=4500 steps=1 # more ranks than the rounds are divided for
for set in kind=double "scheme=hermite4 --set step=adaptive" step=individual "law=box --set n=400"; do
  # shellcheck disable=SC2086 # several words
  expect 0 "" "${run[@]}" -o one --set $set
  # shellcheck disable=SC2086
  SIM_COMM_DELAY=1000 expect 0 "" "${run[@]}" -o many --ranks 3 --set $set
  equal one many "$set with delayed ranks"
done
expect 0 "" "${run[@]}" -o one
expect 0 "" "$SIM" run bodies.lua --force -o many --ranks 3 --threads 2
equal one many "ranks of 2 threads"
expect 0 "" "${run[@]}" -o many --ranks 2 --isa plain
same one many "ranks of another instruction set"

# ---- restart with another number of ranks ----

for set in kind=single "scheme=hermite4 --set step=adaptive" step=individual law=box; do
  # shellcheck disable=SC2086
  expect 0 "" "${run[@]}" -o whole --set steps=8 --set $set
  # shellcheck disable=SC2086
  expect 0 "" "${run[@]}" -o chain --set steps=8 --set $set --ranks 4
  for ranks in 3 1; do
    rm -- $(checkpoints chain | tail -n 2) # the last three are kept
    expect 0 "continues from checkpoint" "$SIM" resume chain --threads 1 --ranks $ranks
    same whole chain "$set: 4 ranks, then $ranks"
    "$COMPARE" whole/tables.h5 chain/tables.h5 >output 2>&1 || fail "$set: 4 ranks, then $ranks: tables differ"
  done
done

# ---- check ----

expect 0 "the work can be divided among 4" "$SIM" check bodies.lua --ranks 8
expect 0 "the work can be divided among 1" "$SIM" check bodies.lua --ranks 2 --set n=100
