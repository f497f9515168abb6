#!/usr/bin/env bash
# gas_ranks.sh PART: gases on several GPUs (on one, which ranks share, where there is one). Digests, tables,
# snapshots and checkpoints have the bytes of one GPU, by peer pointers and through the host.
# PART: peers, staged, clouds (also ranks with nothing), restarts (with another number of ranks), planned.
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/../cli/models/ranks_lib.sh"
part=${1:?which part}
need_gpu
export OMP_WAIT_POLICY=passive
gpus=$("$SIM" info | grep -c '^cuda .* GiB free' || true)

cat >gas.lua <<'LUA'
local n       = sim.param("n", 20000, "grains")
local form    = sim.param("form", "plain", "plain, mixed (radii of 1 to 3), elastic, or cloud (in a thin layer)")
local steps   = sim.param("steps", 300, "steps")
local each    = sim.param("each", 100, "steps between rows and checkpoints")
local drift   = sim.param("drift", 6, "velocity along y")
local flat    = sim.param("flat", 1.0, "height of the box")
local r       = (0.6 * flat / (4 * math.pi * n))^(1/3)
local dt      = math.min((form == "mixed" and 0.7e-3 or 1.5e-3) * r, 5e-5)
local grains  = { n = n, radius = r, density = 1 / (4 / 3 * math.pi * r^3), temperature = 1, velocity = {1, drift, -1} }
if form == "mixed" then grains.radii, grains.radius = { 0.45 * r, 1.35 * r }, nil end
if form == "cloud" then
  grains.n, grains.low, grains.high = math.ceil(n / 8), {0, 0.30, 0}, {1, 0.36, 1}
end
return sim.collision {
  precision = "single",
  box       = { size = {1, flat, 1}, boundary = "periodic" },
  grains    = { sim.random_spheres(grains) },
  contact   = { law = "linear", stiffness = 4e6, restitution = form ~= "elastic" and 0.9 or nil },
  integrate = { dt = dt, t_end = steps * dt },
  output    = { snapshots = "ends", tables = "every " .. each .. " steps", checkpoint = "every " .. each .. " steps" },
}
LUA
run=("$SIM" run gas.lua --force)
alone=(--device cuda)
by=(--oversubscribe --gpus)

case $part in
  peers)
    divided "2 3" steps=300
    grep -qF "exchange by peer pointers" output || fail "ranks on one GPU do not exchange by peer pointers"
    grep -qF "fixed-point solver" output || fail "not the fixed-point solver"
    expect 0 "" "${run[@]}" --device cpu -o host --set steps=300
    snapshot=$(cd many && find . -name 'snap_*300.h5')
    "$COMPARE" "many/$snapshot" "host/$snapshot" >output 2>&1 || fail "the last snapshot is not the CPU's"
    divided "2 5" steps=300 form=mixed
    SIM_COMM_DELAY=300 divided "3" n=3000 form=elastic steps=200
    divided "2" n=300000 steps=60 each=30
    ;;
  staged)
    export SIM_COMM_PATH=staged
    divided "2 3" steps=300
    grep -qF "exchange through host memory" output || fail "not staged"
    divided "3" form=mixed steps=300
    divided "4" form=cloud steps=300
    if ((gpus > 1)); then SIM_COMM_PATH=nccl divided "2" steps=300; fi
    ;;
  clouds) # all grains in one rank, which go to others; ranks with nothing; a box that is too low to be divided
    divided "2 3 7" form=cloud steps=600 each=200
    divided "4" form=cloud steps=600 each=200 drift=-6
    divided "2 3" n=40 steps=100 each=50
    divided "3" n=150 flat=0.5 steps=100 each=50
    ;;
  restarts) # with another number of ranks
    for form in plain mixed; do
      set=(steps=400 each=100 "form=$form")
      expect 0 "" "${run[@]}" "${alone[@]}" -o whole "${set[@]/#/--set=}"
      expect 0 "" "${run[@]}" -o chain "${by[@]}" 2 "${set[@]/#/--set=}"
      equal whole chain "${set[*]}"
      for ranks in 1 3; do
        rm -- "$(checkpoints chain | tail -n 1)" # that of step 300 is left, then of 200
        [ "$ranks" = 1 ] || rm -- "$(checkpoints chain | tail -n 1)"
        expect 0 "continues from checkpoint" "$SIM" resume chain "${by[@]}" $ranks
        equal whole chain "${set[*]}: 2 ranks, then $ranks"
      done
    done
    ;;
  planned) # what a check says, and profiles
    expect 0 "2 ranks, each " "$SIM" check gas.lua --gpus 2
    expect 0 "" "${run[@]}" -o many "${by[@]}" 2 --profile
    ;;
  *) fail "no part $part" ;;
esac
